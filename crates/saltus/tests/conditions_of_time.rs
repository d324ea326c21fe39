//! Conditions that read time alone are looked at ahead of the run, others from step to step. Both find the same crossings, and
//! those that are known in closed form. `SALTUS_OF_TIME=1000` runs so many models instead of a few.

use std::f64::consts::{PI, TAU};

use saltus::results::RowKind;
use saltus::{Method, Session};
use saltus_testing::Random;

fn many(few: usize) -> usize {
    let asked = std::env::var("SALTUS_OF_TIME").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(few)
}

/// A condition on time, with the times at which it changes.
struct Condition {
    /// In terms of `#T`.
    text: String,
    crossings: Vec<f64>,
    holds_at_first: bool,
}

impl Condition {
    fn wave(random: &mut Random, stop: f64) -> Self {
        let frequency = TAU * random.between(0.3, 12.0) / stop;
        let (phase, level) = (random.between(0.1, 6.0), random.between(-0.95, 0.95));
        let first: f64 = level.asin();
        let angles = [first, PI - first];
        let mut crossings: Vec<f64> = (-2..40)
            .flat_map(|turn| angles.map(|angle| (angle + TAU * f64::from(turn) - phase) / frequency))
            .filter(|&time| time > 0.0 && time < stop)
            .collect();
        crossings.sort_by(f64::total_cmp);
        Condition {
            text: format!("sin({frequency:?}*#T + {phase:?}) > {level:?}"),
            crossings,
            holds_at_first: phase.sin() > level,
        }
    }

    fn polynomial(random: &mut Random, stop: f64) -> Self {
        let mut zeros: Vec<f64> = (0..1 + random.below(3))
            .map(|_| stop * random.between(0.02, 0.98))
            .collect();
        zeros.sort_by(f64::total_cmp);
        let factors: Vec<String> = zeros.iter().map(|zero| format!("(#T - {zero:?})/{stop:?}")).collect();
        let holds_at_first = zeros.len().is_multiple_of(2);
        Condition {
            text: format!("{} + 0*sin(#T/{stop:?}) > 0", factors.join("*")),
            crossings: zeros,
            holds_at_first,
        }
    }

    fn pulse(random: &mut Random, stop: f64) -> Self {
        let (place, width) = (stop * random.between(0.1, 0.9), stop * random.power(-4.0, -1.5));
        let level: f64 = random.between(0.1, 0.9);
        let half = width * (-level.ln()).sqrt();
        Condition {
            text: format!("exp(-((#T - {place:?})/{width:?})^2) > {level:?}"),
            crossings: vec![place - half, place + half],
            holds_at_first: false,
        }
    }

    fn any(random: &mut Random, stop: f64) -> Self {
        match random.below(3) {
            0 => Self::wave(random, stop),
            1 => Self::polynomial(random, stop),
            _ => Self::pulse(random, stop),
        }
    }

    /// How long it holds until the stop time.
    fn duration(&self, stop: f64) -> f64 {
        let (mut holds, mut since, mut sum) = (self.holds_at_first, 0.0, 0.0);
        for &time in self.crossings.iter().chain([&stop]) {
            sum += if holds { time - since } else { 0.0 };
            (holds, since) = (!holds, time);
        }
        sum
    }
}

/// Clocks that run by themselves or with a state, and what each condition switches.
fn model(conditions: &[Condition], moving: &str) -> String {
    let equations: Vec<String> = conditions
        .iter()
        .enumerate()
        .map(|(at, condition)| {
            let truth = condition.text.replace("#T", moving);
            format!("b[{0}] = {truth}; der(x[{0}]) = if b[{0}] then 1 else 0;", at + 1)
        })
        .collect();
    format!(
        "model M Real x[{0}](each start = 0, each fixed = true); Boolean b[{0}]; \
         Real s(start = 0, fixed = true); equation der(s) = 1; {1} end M;",
        conditions.len(),
        equations.join(" ")
    )
}

struct Found {
    events: Vec<f64>,
    durations: Vec<f64>,
}

fn run(text: &str, count: usize, stop: f64, solver: Method) -> Found {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().expect(text);
    let run = model.run().stop(stop).interval(stop).solver(solver).tolerance(1e-8);
    let simulation = run.simulate().unwrap_or_else(|failed| panic!("{failed:?}\n{text}"));
    let trajectory = &simulation.trajectory;
    let rows = trajectory.time().iter().zip(trajectory.kinds());
    let events = rows.filter(|(_, kind)| **kind == RowKind::EventRight);
    Found {
        events: events.map(|(time, _)| *time).collect(),
        durations: (1..=count)
            .map(|at| {
                simulation
                    .values(&format!("x[{at}]"))
                    .and_then(|x| x.last().copied())
                    .expect("a row")
            })
            .collect(),
    }
}

#[test]
fn crossings_are_found_ahead_as_they_are_step_by_step() {
    let mut random = Random(23);
    for _ in 0..many(25) {
        let stop = random.power(-3.0, 3.0);
        let conditions: Vec<Condition> = (0..1 + random.below(4))
            .map(|_| Condition::any(&mut random, stop))
            .collect();
        let solver = [Method::Auto, Method::Dop853, Method::Bdf][random.below(3)];
        let mut expected: Vec<f64> = conditions.iter().flat_map(|one| one.crossings.clone()).collect();
        expected.sort_by(f64::total_cmp);
        for moving in ["time", "s"] {
            let text = model(&conditions, moving);
            let found = run(&text, conditions.len(), stop, solver);
            // A state follows time to its tolerance only.
            let error = if moving == "time" { 1e-11 } else { 1e-6 } * stop;
            for &time in &expected {
                let near = found.events.iter().any(|event| (event - time).abs() < error);
                assert!(near, "no event at {time} in {:?} of\n{text}", found.events);
            }
            for (condition, duration) in conditions.iter().zip(&found.durations) {
                let wanted = condition.duration(stop);
                let text = &condition.text;
                assert!(
                    (duration - wanted).abs() < 1e-5 * stop,
                    "{duration} instead of {wanted}: {text}"
                );
            }
        }
    }
}

#[test]
fn equal_conditions_turn_together() {
    let mut random = Random(24);
    for _ in 0..many(10) {
        let stop = random.power(-2.0, 2.0);
        let wave = Condition::wave(&mut random, stop);
        let text = wave.text.replace("#T", "time");
        let (left, right) = text.split_once(" > ").expect("a relation");
        let model = format!(
            "model M Boolean a, b; Integer n(start = 0, fixed = true); equation a = {text}; b = {right} < {left}; \
             when a <> b then n = pre(n) + 1; end when; end M;"
        );
        let session = Session::new();
        session.add_text("M.mo", &model);
        let compiled = session.compile("M").into_result().expect(&model);
        let simulation = compiled.run().stop(stop).interval(stop).simulate().expect(&model);
        let differed = simulation.values("n").and_then(|n| n.last().copied());
        assert_eq!(differed, Some(0.0), "{model}");
    }
}
