//! Families around the edges of what equations say: levels that run empty, functions with jumps inside, values that were once
//! huge, and surfaces at which integer functions drive back.

use saltus::{FailedRun, Session, Simulation};
use saltus_testing::Random;

fn run(text: &str, stop: f64, tolerance: f64) -> Result<Simulation, Box<FailedRun>> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().unwrap();
    model.run().stop(stop).tolerance(tolerance).simulate()
}

fn last(simulation: &Simulation, name: &str) -> f64 {
    *simulation.values(name).unwrap().last().unwrap()
}

/// A square root whose argument ends at an event is not looked at beyond it: Torricelli's tank, and a quarter of a circle.
#[test]
fn levels_run_empty() {
    let mut random = Random(1);
    for turn in 0..25 {
        let (h, k) = (random.power(-6.0, 4.0), random.power(-3.0, 2.0));
        let empty = 2.0 * f64::sqrt(h) / k;
        let tolerance = random.power(-9.0, -5.0);
        let text = format!(
            "model M
               Real h(start = {h}, fixed = true), out(start = 0, fixed = true);
             equation
               der(h) = if h > 0 then -{k}*sqrt(h) else 0;
               der(out) = -der(h);
             end M;"
        );
        let tank = run(&text, empty * random.between(1.1, 3.0), tolerance);
        let tank = tank.unwrap_or_else(|failed| panic!("{turn}: {:?}\n{text}", failed.simulation.summary.failure));
        assert!(last(&tank, "h").abs() <= 1e-3 * h, "{turn}: {text}");
        assert!((last(&tank, "out") - h).abs() <= 1e-3 * h, "{turn}: {text}");

        let (at, speed) = (random.power(-2.0, 2.0), random.power(-2.0, 2.0));
        let text = format!(
            "model M
               Real x(start = 0, fixed = true), area(start = 0, fixed = true);
               Real y = if x < {at} then sqrt({at} - x) else 0;
             equation
               der(x) = {speed};
               der(area) = y;
             end M;"
        );
        let root = run(&text, 1.5 * at / speed, 1e-8);
        let root = root.unwrap_or_else(|failed| panic!("{turn}: {:?}\n{text}", failed.simulation.summary.failure));
        let area = 2.0 / 3.0 * at.powf(1.5) / speed;
        assert!((last(&root, "area") - area).abs() <= 1e-4 * area, "{turn}: {text}");
    }
}

/// Functions have no events: their jumps in time are seen by the error of steps that are short enough, also at rest.
#[test]
fn pulses_inside_functions_are_integrated() {
    let mut random = Random(2);
    for turn in 0..20 {
        let (stop, height) = (random.power(-3.0, 3.0), random.power(-2.0, 2.0));
        let from = random.between(0.1, 0.6) * stop;
        let width = random.between(0.02, 0.3) * stop;
        let to = from + width;
        let text = format!(
            "model M
               function pulse
                 input Real t;
                 output Real y;
               algorithm
                 y := if t < {from} then 0 elseif t < {to} then {height} else 0;
               end pulse;
               Real v(start = 0, fixed = true);
             equation
               der(v) = pulse(time);
             end M;"
        );
        let pulse = run(&text, stop, 1e-6).unwrap();
        let expected = height * width;
        assert!(
            (last(&pulse, "v") - expected).abs() <= 2e-3 * expected,
            "{turn}: {} {text}",
            last(&pulse, "v")
        );
    }
}

/// What was large in another mode, or at a pole, does not blur what is compared later.
#[test]
fn once_huge_is_not_huge_for_ever() {
    let mut random = Random(3);
    for turn in 0..20 {
        let huge = random.power(9.0, 18.0);
        let (switch, cross) = (random.between(0.2, 0.5), random.between(0.6, 0.9));
        let text = format!(
            "model M
               Real x(start = 0, fixed = true);
               Real y = if time < {switch} then {huge} else 1 + {cross} - x;
               Boolean b = y > 1;
               Real t_off(start = -1, fixed = true);
             equation
               der(x) = 1;
               when not b then
                 t_off = time;
               end when;
             end M;"
        );
        let found = last(&run(&text, 1.0, 1e-6).unwrap(), "t_off");
        assert!((found - cross).abs() < 1e-5, "{turn}: {found} {text}");

        let (pole, level) = (random.between(0.2, 0.6), random.between(5.0, 50.0));
        let text = format!(
            "model M
               Real x(start = 0, fixed = true);
               Real y = 1/(x - {pole});
               Boolean b = y > {level};
               Integer n(start = 0, fixed = true);
             equation
               der(x) = 1;
               when not b then
                 n = pre(n) + 1;
               end when;
             end M;"
        );
        let found = run(&text, 1.0, 1e-6).unwrap();
        assert_eq!((last(&found, "n"), last(&found, "b")), (1.0, 0.0), "{turn}: {text}");
    }
}

/// Where `mod` and `floor` jump and both sides drive back, the run ends with the surface named, at any tolerance.
#[test]
fn integer_functions_that_drive_back_are_chattering() {
    let mut random = Random(4);
    for turn in 0..12 {
        let tolerance = random.power(-9.0, -4.0);
        let (period, share) = (random.power(-1.0, 1.0), random.between(0.3, 0.7));
        let equation = match random.below(2) {
            0 => format!("der(v) = mod(v, {period}) - {share}*v"),
            _ => format!("der(v) = {period}*(1 - {share} - floor(v/{period}))"),
        };
        let text = format!(
            "model M Real v(start = {}, fixed = true); equation {equation}; end M;",
            0.8 * period
        );
        let failed = run(&text, 10.0, tolerance).expect_err(&text);
        let failure = failed.simulation.summary.failure.as_ref().unwrap();
        assert_eq!(
            failure.code.to_string(),
            "E0603",
            "{turn}: {tolerance} {text} {failure:?}"
        );
        assert!(
            failed.simulation.summary.report.counters.events < 5_000,
            "{turn}: {text}"
        );
    }
}
