//! Coordinates that are driven, with a load that depends on their rates: one function yields place and rate of each as one
//! record, from the coordinate and its rate. The drives are constraints on coordinates alone; the same mechanism with
//! everything written as equations tells what comes out.

use saltus::{Session, Simulation};
use saltus_testing::Random;

/// Ways to compute place and rate in one call; `P(phi)` and `W(phi, w)` stand for what they are.
const BODIES: [&str; 5] = [
    "  m.place := P(phi);\n  m.rate := W(phi, w);\n",
    "  m := Motion(P(phi), W(phi, w));\n",
    "  if phi > 0.2 then\n    m.place := P(phi);\n  else\n    m.place := P(phi);\n  end if;\n  m.rate := w;\n  m.rate := W(phi, w);\n",
    "  m.place := 0;\n  for k in 1:4 loop\n    m.place := m.place + P(phi)/4;\n  end for;\n  parts := {w, phi};\n  m.rate := W(parts[2], parts[1]);\n",
    "  m := inner(w, phi);\n  m := Motion(m.place, m.rate);\n",
];
const PLACES: [&str; 3] = ["sin(phi)", "(phi + phi^3/3)", "(1 - 2/(1 + exp(2*phi)))"];
const RATES: [&str; 3] = ["w", "(1 + phi^2)*w", "3*w/(2 + cos(phi))"];

struct Coordinate {
    body: usize,
    place: &'static str,
    rate: &'static str,
    load: f64,
    amplitude: f64,
    frequency: f64,
}

struct Mechanism(Vec<Coordinate>);

impl Mechanism {
    fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(3);
        let coordinate = |random: &mut Random| Coordinate {
            body: random.below(BODIES.len()),
            place: PLACES[random.below(PLACES.len())],
            rate: RATES[random.below(RATES.len())],
            load: random.between(0.5, 2.0),
            amplitude: random.between(0.2, 0.7),
            frequency: random.between(0.5, 3.0),
        };
        Mechanism((0..count).map(|_| coordinate(random)).collect())
    }

    /// The model, with calls or with equations.
    fn text(&self, calls: bool) -> String {
        let (mut declared, mut equations) = (String::new(), String::new());
        for (k, coordinate) in self.0.iter().enumerate() {
            let (place, rate) = (coordinate.place, coordinate.rate);
            declared.push_str(&format!("  Real phi{k}(start = 0.05), place{k}, rate{k}, load{k};\n"));
            if calls {
                let body = BODIES[coordinate.body].replace(
                    "W(parts[2], parts[1])",
                    &format!("({})", rate.replace("phi", "parts[2]").replace('w', "parts[1]")),
                );
                let body = body.replace("P(phi)", place).replace("W(phi, w)", rate);
                declared.push_str(&format!(
                    "  function inner{k}\n    input Real w, phi;\n    output Motion m;\n  algorithm\n    m := Motion({place}, {rate});\n  end inner{k};\n  \
                     function motion{k}\n    input Real phi, w;\n    output Motion m;\n  protected\n    Real parts[2];\n  algorithm\n{}  end motion{k};\n  Motion m{k};\n",
                    body.replace("inner(", &format!("inner{k}("))
                ));
                equations.push_str(&format!(
                    "  m{k} = motion{k}(phi{k}, der(phi{k}));\n  place{k} = m{k}.place;\n  rate{k} = m{k}.rate;\n"
                ));
            } else {
                let (own, speed) = (format!("phi{k}"), format!("der(phi{k})"));
                let rate = rate.replace("phi", "@").replace('w', &speed).replace('@', &own);
                equations.push_str(&format!(
                    "  place{k} = {};\n  rate{k} = {rate};\n",
                    place.replace("phi", &own)
                ));
            }
            let (amplitude, frequency) = (coordinate.amplitude, coordinate.frequency);
            equations.push_str(&format!(
                "  place{k} = {amplitude}*sin({frequency}*time);\n  {}*der(rate{k}) = load{k};\n",
                coordinate.load
            ));
        }
        format!(
            "model M\n  record Motion\n    Real place, rate;\n  end Motion;\n{declared}equation\n{equations}end M;\n"
        )
    }
}

fn simulated(text: &str) -> Simulation {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session
        .compile("M")
        .into_result()
        .unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    let run = model.run().stop(2.0).interval(0.1).tolerance(1e-9);
    run.simulate().unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

#[test]
fn places_of_calls_are_constraints_on_coordinates() {
    let mut random = Random(5);
    for _ in 0..20 {
        let mechanism = Mechanism::random(&mut random);
        let text = mechanism.text(true);
        let (found, expected) = (simulated(&text), simulated(&mechanism.text(false)));
        for k in 0..mechanism.0.len() {
            for name in [format!("phi{k}"), format!("rate{k}"), format!("load{k}")] {
                let values = |run: &Simulation| run.values(&name).unwrap().to_vec();
                for (found, expected) in values(&found).into_iter().zip(values(&expected)) {
                    assert!(
                        (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                        "{name}: {found} instead of {expected}\n{text}"
                    );
                }
            }
        }
    }
}
