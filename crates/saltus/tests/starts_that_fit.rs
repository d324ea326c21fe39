//! Start values that are not fixed, and with which one mode is consistent: that mode is found, and nothing is moved. Bodies in a
//! row, with walls, ropes and contacts between them that are open, and with dry friction in the direction of their motion. (Modes
//! that drew bodies onto a stop were taken, with a warning that start values contradict each other, or none was found.)

use saltus::Session;
use saltus_testing::Random;

struct Bodies {
    size: f64,
    places: Vec<f64>,
    speeds: Vec<f64>,
    elements: Vec<String>,
    equations: Vec<String>,
}

impl Bodies {
    fn random(random: &mut Random) -> Self {
        let (count, size) = (2 + random.below(4), random.power(-3.0, 3.0));
        let mut place = 0.0;
        let places: Vec<f64> = (0..count)
            .map(|_| {
                place += size * random.between(0.2, 1.0);
                place
            })
            .collect();
        let sign = |random: &mut Random| if random.chance(50) { 1.0 } else { -1.0 };
        let speeds: Vec<f64> = (0..count)
            .map(|_| sign(random) * size * random.between(0.1, 2.0))
            .collect();
        let mut bodies = Bodies {
            size,
            places,
            speeds,
            elements: Vec::new(),
            equations: Vec::new(),
        };
        let mut forces = vec![String::new(); count];
        bodies.add_stops(random, &mut forces);
        bodies.add_friction(random, &mut forces);
        for (body, force) in forces.iter().enumerate() {
            let mass = random.between(0.3, 3.0);
            bodies.equations.push(format!("der(x{body}) = v{body};"));
            bodies.equations.push(format!("{mass:?}*der(v{body}) = 0{force};"));
        }
        random.shuffle(&mut bodies.equations);
        random.shuffle(&mut bodies.elements);
        bodies
    }

    /// Contacts and ropes with the neighbour on the left or a wall, all of them open.
    fn add_stops(&mut self, random: &mut Random, forces: &mut [String]) {
        for body in 0..self.places.len() {
            if random.chance(30) {
                continue;
            }
            let (left, distance) = match body {
                0 => (String::new(), self.places[0]),
                _ => (format!(" - x{}", body - 1), self.places[body] - self.places[body - 1]),
            };
            // How far it is open, and the force on the body.
            let (gap, push) = if random.chance(50) {
                (format!("(x{body}{left})"), "+")
            } else {
                (format!("({:?} - (x{body}{left}))", 1.5 * distance), "-")
            };
            forces[body] += &format!(" {push} f{body}");
            if body > 0 {
                let other = if push == "+" { "-" } else { "+" };
                forces[body - 1] += &format!(" {other} f{body}");
            }
            self.elements.push(format!("Real f{body}, s{body}; Boolean c{body};"));
            self.equations.push(match random.below(3) {
                0 => format!(
                    "c{body} = s{body} > 0; f{body} = if c{body} then s{body} else 0; \
                     {gap} = if c{body} then 0 else -s{body};"
                ),
                1 => format!(
                    "c{body} = not s{body} <= 0; \
                     if c{body} then {gap} = 0; f{body} = s{body}; else f{body} = 0; s{body} = -{gap}; end if;"
                ),
                _ => format!(
                    "c{body} = s{body} >= 0; s{body} = if c{body} then f{body} else -{gap}; \
                     if c{body} then {gap} = 0; else f{body} = 0; end if;"
                ),
            });
        }
    }

    fn add_friction(&mut self, random: &mut Random, forces: &mut [String]) {
        for (body, force) in forces.iter_mut().enumerate() {
            if random.chance(40) {
                continue;
            }
            let most = self.size * random.between(0.1, 1.0);
            *force += &format!(" - r{body}");
            self.elements.push(format!(
                "Real r{body}, p{body}; Boolean fw{body}(start = false), bw{body}(start = false);"
            ));
            self.equations.push(format!(
                "fw{body} = p{body} > 1; bw{body} = p{body} < -1; \
                 if fw{body} then v{body} = (p{body} - 1)*{size:?}; r{body} = {most:?}; \
                 elseif bw{body} then v{body} = (p{body} + 1)*{size:?}; r{body} = -{most:?}; \
                 else v{body} = 0; r{body} = {most:?}*p{body}; end if;",
                size = self.size
            ));
        }
    }

    fn text(&self) -> String {
        let states = self.places.iter().zip(&self.speeds).enumerate();
        let states = states.map(|(body, (x, v))| format!("Real x{body}(start = {x:?}), v{body}(start = {v:?});"));
        format!(
            "model M\n{}\n{}\nequation\n{}\nend M;",
            states.collect::<Vec<_>>().join("\n"),
            self.elements.join("\n"),
            self.equations.join("\n")
        )
    }
}

#[test]
fn start_values_that_fit_a_mode_are_kept() {
    let mut random = Random::named("starts that fit");
    for number in 0..150 {
        let bodies = Bodies::random(&mut random);
        let text = bodies.text();
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}\n{text}"));
        let run = model.run().stop(1e-6).simulate();
        let run = run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{text}", failed.diagnostic()));
        let warnings = &run.summary.report.warnings;
        assert!(warnings.is_empty(), "{number}: {warnings:?}\n{text}");
        for (body, wanted) in bodies.places.iter().zip(&bodies.speeds).enumerate() {
            let first = |name: String| run.values(&name).and_then(|values| values.first().copied());
            let found = (first(format!("x{body}")), first(format!("v{body}")));
            assert_eq!(
                found,
                (Some(*wanted.0), Some(*wanted.1)),
                "{number}, body {body}\n{text}"
            );
        }
    }
}
