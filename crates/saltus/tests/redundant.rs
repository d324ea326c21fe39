//! Modes whose constraints follow from each other: what is unique is computed, the rest shared by minimum norm.

use saltus::simulate::Redundant;
use saltus::{Session, Simulation};
use saltus_testing::Random;

fn simulate(text: &str, redundant: Redundant) -> Result<Simulation, String> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().map_err(|d| format!("{d:?}"))?;
    let run = model.run().stop(4.0).interval(0.5).tolerance(1e-9).redundant(redundant);
    run.simulate().map_err(|failed| format!("{:?}", failed.diagnostic()))
}

fn at(simulation: &Simulation, name: &str, time: f64) -> f64 {
    let row = (0..simulation.time().len())
        .rev()
        .find(|&row| simulation.time()[row] <= time + 1e-9);
    simulation.values(name).expect("a variable")[row.expect("a row")]
}

fn close(found: f64, wanted: f64, what: &str) {
    assert!(
        (found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0),
        "{what}: {found} instead of {wanted}"
    );
}

/// Clutches between shafts, each engaged for some phases of one second.
struct Shafts {
    inertias: Vec<f64>,
    speeds: Vec<f64>,
    clutches: Vec<(usize, usize, [bool; 4])>,
}

impl Shafts {
    fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let clutch = |random: &mut Random| {
            let a = random.below(count);
            let b = (a + 1 + random.below(count - 1)) % count;
            (a, b, std::array::from_fn(|_| random.chance(60)))
        };
        Shafts {
            inertias: (0..count).map(|_| random.between(0.5, 3.5)).collect(),
            speeds: (0..count).map(|_| random.between(-10.0, 10.0)).collect(),
            clutches: (0..4).map(|_| clutch(random)).collect(),
        }
    }

    fn text(&self) -> String {
        let mut declarations = String::new();
        let mut equations = String::new();
        for (shaft, (inertia, speed)) in self.inertias.iter().zip(&self.speeds).enumerate() {
            declarations += &format!("Real w{shaft}(start = {speed:?}, fixed = true);");
            let torque = |(number, &(a, b, _)): (usize, &(usize, usize, [bool; 4]))| match shaft {
                _ if a == shaft => format!(" - t{number}"),
                _ if b == shaft => format!(" + t{number}"),
                _ => String::new(),
            };
            let torques: String = self.clutches.iter().enumerate().map(torque).collect();
            equations += &format!("{inertia:?}*der(w{shaft}) = 0{torques};");
        }
        for (number, (a, b, phases)) in self.clutches.iter().enumerate() {
            let phase = |(phase, engaged): (usize, &bool)| match phase {
                // Nothing is engaged at the start.
                _ if !engaged => None,
                _ => Some(format!(
                    "time >= {} and time < {}",
                    phase as f64 + 0.25,
                    phase as f64 + 1.25
                )),
            };
            let phases: Vec<String> = phases.iter().enumerate().filter_map(phase).collect();
            let engaged = if phases.is_empty() {
                "false".to_owned()
            } else {
                phases.join(" or ")
            };
            declarations += &format!("Real t{number}; Boolean on{number} = {engaged};");
            equations += &format!("if on{number} then w{a} = w{b}; else t{number} = 0; end if;");
        }
        format!("model M {declarations} equation {equations} end M;")
    }

    /// The speeds after each phase has begun: shafts that are joined have the speed that conserves their momentum.
    fn expected(&self) -> Vec<Vec<f64>> {
        let mut speeds = self.speeds.clone();
        let mut found = Vec::new();
        for phase in 0..4 {
            let mut group: Vec<usize> = (0..speeds.len()).collect();
            for _ in 0..speeds.len() {
                for &(a, b, phases) in &self.clutches {
                    if phases[phase] {
                        let least = group[a].min(group[b]);
                        (group[a], group[b]) = (least, least);
                    }
                }
            }
            let joined = |shaft: usize| {
                let members = (0..speeds.len()).filter(|&other| group[other] == group[shaft]);
                let (momentum, inertia) = members.fold((0.0, 0.0), |(p, j), other| {
                    (p + self.inertias[other] * speeds[other], j + self.inertias[other])
                });
                momentum / inertia
            };
            speeds = (0..speeds.len()).map(joined).collect();
            found.push(speeds.clone());
        }
        found
    }
}

#[test]
fn clutches_in_parallel_and_in_rings_conserve_momentum() {
    let mut random = Random(5);
    let mut shared = 0;
    for case in 0..40 {
        let shafts = Shafts::random(&mut random);
        let text = shafts.text();
        let simulation = simulate(&text, Redundant::Share).unwrap_or_else(|e| panic!("case {case}: {text}: {e}"));
        let warnings = &simulation.summary.report.warnings;
        shared += usize::from(warnings.iter().any(|warning| warning.contains("minimum norm")));
        for (phase, speeds) in shafts.expected().iter().enumerate() {
            for (shaft, &speed) in speeds.iter().enumerate() {
                let what = format!("case {case}, phase {phase}, shaft {shaft}: {text}");
                close(at(&simulation, &format!("w{shaft}"), phase as f64 + 1.0), speed, &what);
            }
        }
        if !warnings.is_empty() {
            let refused = simulate(&text, Redundant::Refuse).expect_err("refused");
            assert!(refused.contains("constraints"), "{refused}");
        }
    }
    assert!(shared >= 20, "only {shared} networks were redundant");
}

#[test]
fn closed_switches_share_current_equally() {
    for count in 2..=4 {
        let (mut declarations, mut equations, mut sum) = (String::new(), String::new(), String::new());
        for switch in 0..count {
            declarations += &format!("Real i{switch}; Boolean on{switch} = time >= {switch}.5;");
            equations += &format!("if on{switch} then v = 0; else i{switch} = 0; end if;");
            sum += &format!(" + i{switch}");
        }
        let text = format!("model M Real v, i; {declarations} equation 12 = 2*i + v; i = v/4{sum}; {equations} end M;");
        let simulation = simulate(&text, Redundant::Share).unwrap_or_else(|e| panic!("{text}: {e}"));
        close(at(&simulation, "v", 0.0), 8.0, &text);
        for closed in 1..=count.min(3) {
            let time = f64::from(closed);
            close(at(&simulation, "v", time), 0.0, &text);
            for switch in 0..count {
                let share = if switch < closed { 6.0 / f64::from(closed) } else { 0.0 };
                close(at(&simulation, &format!("i{switch}"), time), share, &text);
            }
        }
    }
}

#[test]
fn impulses_and_torques_are_shared() {
    let text = "model M Real w(start = 6, fixed = true), a, b; Boolean p = time >= 1 and time < 3, q = time >= 1; \
                equation 2*der(w) = 4 - a - b; if p then w = 0; else a = 0; end if; if q then w = 0; else b = 0; end if; end M;";
    let simulation = simulate(text, Redundant::Share).expect("runs");
    close(at(&simulation, "w", 2.0), 0.0, "the shaft is held");
    close(at(&simulation, "a", 2.0), 2.0, "half of the torque");
    close(at(&simulation, "b", 2.0), 2.0, "half of the torque");
    close(at(&simulation, "b", 3.5), 4.0, "all of the torque");
    let weights: Vec<f64> = simulation
        .trajectory
        .events()
        .iter()
        .flat_map(|event| event.impulses.iter().filter(|i| i.variable == "a" || i.variable == "b"))
        .map(|impulse| impulse.weight)
        .collect();
    assert_eq!(weights.len(), 2);
    // w = 6 + 2*1 just before.
    weights
        .iter()
        .for_each(|&weight| close(weight, 8.0, "half of the impulse"));
}

#[test]
fn what_contradicts_is_refused() {
    let two = |first: &str, second: &str| {
        format!(
            "model M parameter Real e = 4, f = 5; Real v, i, a, b; Boolean p = time >= 1, q = time >= 2; \
             equation 10 = 2*i + v; i = a + b + v; if p then v = {first}; else a = 0; end if; \
             if q then v = {second}; else b = 0; end if; end M;"
        )
    };
    assert!(simulate(&two("0", "1"), Redundant::Share).is_err());
    assert!(simulate(&two("e", "f"), Redundant::Share).is_err());
    assert!(simulate(&two("sin(time)", "cos(time)"), Redundant::Share).is_err());
    let same = simulate(&two("sin(time)", "1*sin(time)"), Redundant::Share).expect("runs");
    close(at(&same, "v", 3.0), 3.0_f64.sin(), "the same source twice");
    let equal = two("e", "f").replace("f = 5", "f = 4");
    let same = simulate(&equal, Redundant::Share).expect("runs");
    close(at(&same, "a", 3.0), -0.5, "half of the current");
}

#[test]
fn equal_parameters_may_be_set_apart() {
    let text = "model M parameter Real e = 4, f = 4; Real v, i, a, b; Boolean p = time >= 1, q = time >= 2; \
                equation 10 = 2*i + v; i = a + b + v; if p then v = e; else a = 0; end if; \
                if q then v = f; else b = 0; end if; end M;";
    let session = Session::new();
    session.add_text("M.mo", text);
    let settings = [("f".to_owned(), "5".to_owned())];
    let (model, rest) = session.compile_with("M", &settings).into_result().expect("compiles");
    let run = rest.iter().fold(model.run().stop(4.0), |run, (name, value)| {
        run.set(name, value).expect("a parameter")
    });
    assert!(run.simulate().is_err(), "4 V and 5 V in parallel");
}

#[test]
fn a_floating_capacitor_keeps_its_charge() {
    let text = "model M Real v(start = 3, fixed = true), i, p, n; Boolean a = time >= 1 and time < 3, b = time >= 2 and time < 2.5; \
                equation v = p - n; 2*der(v) = i; if a then i = 0; else p = 1; end if; if b then i = 0; else n = -2; end if; end M;";
    let simulation = simulate(text, Redundant::Share).expect("runs");
    for time in [1.5, 2.0, 2.5, 3.5] {
        close(at(&simulation, "v", time), 3.0, "the voltage");
    }
    close(at(&simulation, "p", 2.0), 1.5, "its potential");
}
