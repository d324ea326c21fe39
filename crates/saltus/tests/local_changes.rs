//! Changes of mode that stay local give what the analysis of whole modes gives, whatever the order in which equations are
//! written; and they look at what they change, not at the rest of the model. `SALTUS_LOCAL=1000` runs so many models.

use saltus::results::ModeRecord;
use saltus::{Model, Session, Simulation};
use saltus_testing::Random;

fn many(few: usize) -> usize {
    let asked = std::env::var("SALTUS_LOCAL").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(few)
}

/// Declarations and equations of a model.
#[derive(Default)]
struct Text {
    declarations: Vec<String>,
    starts: Vec<String>,
    equations: Vec<String>,
}

impl Text {
    fn model(mut self, random: &mut Random) -> String {
        for lines in [&mut self.declarations, &mut self.starts, &mut self.equations] {
            for at in (1..lines.len()).rev() {
                lines.swap(at, random.below(at + 1));
            }
        }
        format!(
            "model M\n  {}\ninitial equation\n  {}\nequation\n  {}\nend M;\n",
            self.declarations.join("\n  "),
            self.starts.join("\n  "),
            self.equations.join("\n  ")
        )
    }
}

/// A condition on time that does not hold at the start: speeds are given there.
fn condition(random: &mut Random) -> String {
    match random.below(4) {
        0 => format!("time > {:?}", random.between(0.1, 4.0)),
        1 => format!("time*time > {:?}", random.between(0.1, 16.0)),
        _ => {
            let (frequency, level) = (random.between(0.5, 5.0), random.between(0.05, 0.8));
            format!("sin({frequency:?}*time) > {level:?}")
        }
    }
}

/// Bodies in a tree of clutches with gears, and springs; some are driven, one can be braked.
fn network(random: &mut Random) -> String {
    let mut text = Text::default();
    let count = 3 + random.below(10);
    let mut torques: Vec<Vec<String>> = vec![Vec::new(); count];
    for body in 0..count {
        text.declarations.push(format!("Real w{body};"));
        text.declarations
            .push(format!("parameter Real J{body} = {:?};", random.power(-1.0, 1.0)));
        text.starts.push(format!("w{body} = {:?};", random.between(-5.0, 5.0)));
    }
    for body in 1..count {
        let other = random.below(body);
        let ratio = if random.below(2) == 0 {
            1.0
        } else {
            random.between(0.3, 3.0)
        };
        text.declarations.push(format!("Real f{body};"));
        torques[body].push(format!("f{body}"));
        torques[other].push(format!("-{ratio:?}*f{body}"));
        if random.below(5) == 0 {
            text.declarations.push(format!("Real phi{body};"));
            text.starts.push(format!("phi{body} = 0;"));
            text.equations
                .push(format!("der(phi{body}) = w{body} - {ratio:?}*w{other};"));
            text.equations.push(format!(
                "f{body} = -{:?}*phi{body} - {:?}*(w{body} - {ratio:?}*w{other});",
                random.between(1.0, 9.0),
                random.between(0.1, 1.0)
            ));
            continue;
        }
        text.declarations.push(format!("Boolean e{body};"));
        text.equations.push(format!("e{body} = {};", condition(random)));
        let guard = match random.below(3) {
            0 if body > 1 => format!("e{body} and not {}", condition(random)),
            _ => format!("e{body}"),
        };
        text.equations.push(format!(
            "if {guard} then w{body} = {ratio:?}*w{other}; else f{body} = 0; end if;"
        ));
    }
    if random.below(2) == 0 {
        text.declarations.push("Real b;".into());
        torques[0].push("b".into());
        let speed = if random.below(2) == 0 {
            0.0
        } else {
            random.between(-2.0, 2.0)
        };
        text.equations.push(format!(
            "if {} then w0 = {speed:?}; else b = 0; end if;",
            condition(random)
        ));
    }
    for (body, torques) in torques.iter().enumerate() {
        let drive = match random.below(4) {
            0 => format!(
                "{:?}*cos({:?}*time)",
                random.between(-3.0, 3.0),
                random.between(0.3, 4.0)
            ),
            1 => format!("(if {} then 1.5 else -0.5)", condition(random)),
            _ => format!("(-{:?}*w{body})", random.between(0.0, 0.5)),
        };
        let sum: Vec<String> = torques.iter().map(|torque| format!(" + ({torque})")).collect();
        text.equations
            .push(format!("J{body}*der(w{body}) = {drive}{};", sum.concat()));
    }
    text.model(random)
}

fn compile(text: &str) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().expect("a model");
    session.compile(&name).into_result().expect(text)
}

fn run(model: &Model, whole: bool) -> Result<Simulation, String> {
    let run = model.run().stop(5.0).interval(0.1).tolerance(1e-9);
    let run = run.options(|options| options.local_from = if whole { usize::MAX } else { 0 });
    run.simulate().map_err(|failed| format!("{:?}", failed.diagnostic()))
}

/// The first difference between two runs of a model.
fn difference(local: &Simulation, whole: &Simulation) -> Option<String> {
    let (a, b) = (&local.trajectory, &whole.trajectory);
    if a.modes() != b.modes() {
        return Some("other modes".into());
    }
    let impulses = |run: &Simulation| -> Vec<(String, f64)> {
        let events = run.trajectory.events().iter();
        // Whole modes also tell impulses that could be and are not.
        let all = events.flat_map(|event| event.impulses.clone());
        let all = all.filter(|impulse| impulse.weight.abs() > 1e-12);
        all.map(|impulse| (impulse.variable, impulse.weight)).collect()
    };
    let (of_local, of_whole) = (impulses(local), impulses(whole));
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()));
    let alike = |(a, b): (&(String, f64), &(String, f64))| a.0 == b.0 && near(a.1, b.1);
    if of_local.len() != of_whole.len() || !of_local.iter().zip(&of_whole).all(alike) {
        return Some(format!("impulses {of_local:?} instead of {of_whole:?}"));
    }
    for signal in a.schema().signals() {
        let (Some(x), Some(y)) = (local.values(&signal.name), whole.values(&signal.name)) else {
            continue;
        };
        if let Some(at) = (0..x.len()).find(|&at| !near(x[at], y[at])) {
            return Some(format!(
                "{} = {} instead of {} at {}",
                signal.name,
                x[at],
                y[at],
                a.time()[at]
            ));
        }
    }
    for (mode, record) in a.mode_records() {
        let other = &b.mode_records()[mode];
        let shape = |record: &ModeRecord| record.structure.as_ref().map(|shape| (shape.index, shape.states));
        if (&record.label, shape(record)) != (&other.label, shape(other)) {
            return Some(format!("{record:?} instead of {other:?}"));
        }
    }
    None
}

#[test]
fn local_changes_give_what_whole_modes_give() {
    let (mut changes, mut local_changes) = (0, 0);
    for seed in 0..many(60) as u64 {
        let text = network(&mut Random(seed + 1));
        let model = compile(&text);
        match (run(&model, false), run(&model, true)) {
            (Ok(local), Ok(whole)) => {
                let found = difference(&local, &whole);
                assert!(found.is_none(), "seed {seed}: {}\n{text}", found.unwrap_or_default());
                let counters = local.summary.report.counters;
                changes += counters.mode_changes;
                local_changes += counters.local_changes;
            }
            (Err(local), Err(whole)) => assert_eq!(local, whole, "seed {seed}\n{text}"),
            (local, whole) => panic!("seed {seed}: {:?} {:?}\n{text}", local.err(), whole.err()),
        }
    }
    assert!(10 * local_changes > 9 * changes, "{local_changes} of {changes} changes");
}

/// Whoever steps through a run may ask for any value, in modes that were entered as wholes and in those that were not: derivatives
/// too, and the rates of states.
#[test]
fn values_between_changes_are_those_of_whole_modes() {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs())) || a.is_nan() && b.is_nan();
    let mut asked = 0;
    for seed in 0..many(20) as u64 {
        let text = network(&mut Random(seed + 1));
        let model = compile(&text);
        let stepper = |from: usize| {
            let run = model
                .run()
                .stop(5.0)
                .tolerance(1e-9)
                .options(|options| options.local_from = from);
            run.stepper().expect("a run")
        };
        let (mut local, mut whole) = (stepper(0), stepper(usize::MAX));
        if local.run_to(0.0).is_err() || whole.run_to(0.0).is_err() {
            continue;
        }
        let signals = whole.results().schema().signals();
        let names: Vec<String> = signals.iter().map(|signal| signal.name.to_string()).collect();
        for point in 1..40 {
            // No time of an event.
            let time = 0.1237 * f64::from(point);
            let (of_local, of_whole) = (local.run_to(time), whole.run_to(time));
            assert_eq!(of_local.is_ok(), of_whole.is_ok(), "seed {seed}\n{text}");
            if of_local.is_err() {
                break;
            }
            for name in &names {
                let (a, b) = (local.value(name).expect(name), whole.value(name).expect(name));
                assert!(near(a, b), "seed {seed}: {name} = {a} instead of {b} at {time}\n{text}");
                asked += usize::from(name.starts_with("der("));
            }
            if point % 8 == 0 {
                let (a, b) = (local.rates().expect("rates"), whole.rates().expect("rates"));
                assert_eq!(a.len(), b.len(), "seed {seed}\n{text}");
            }
        }
    }
    assert!(asked > 1000, "{asked} derivatives");
}

/// Rows of three bodies beside each other, in each of them one clutch.
fn rows(count: usize) -> String {
    let part = |at: usize| {
        format!(
            "Real a{at}(start = 1, fixed = true); Real b{at}(start = 2, fixed = true); Real f{at};
             equation
               der(a{at}) = -f{at} - 0.1*a{at}; der(b{at}) = f{at};
               if sin({:?}*time + 3) > 0.5 then a{at} = b{at}; else f{at} = 0; end if;
             public",
            1.0 + at as f64 / count as f64
        )
    };
    let parts: Vec<String> = (0..count).map(part).collect();
    format!("model M\n{}\nReal t = time;\nend M;", parts.join("\n"))
}

#[test]
fn a_change_looks_at_its_own_part() {
    let touched = |count: usize| {
        let model = compile(&rows(count));
        let local = run(&model, false).expect("a run");
        let counters = local.summary.report.counters;
        assert!(counters.local_changes > count as u64 && counters.local_changes == counters.mode_changes);
        counters.touched_equations as f64 / counters.local_changes as f64
    };
    let (few, more) = (touched(4), touched(40));
    assert!(few <= 3.0 && more <= 3.0, "{few} and {more} equations by change");
}

#[test]
fn runs_begun_again_are_the_same() {
    for seed in 0..4 {
        let text = network(&mut Random(100 + seed));
        let model = compile(&text);
        if let (Ok(first), Ok(second)) = (run(&model, false), run(&model, false)) {
            assert_eq!(first.trajectory, second.trajectory);
        }
    }
}
