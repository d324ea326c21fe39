//! What happens between two steps, right after the start or right beside another event is not lost.
//!
//! Rates of states with narrow peaks, and branches of functions that are taken for a short while, are integrated; assertions
//! are violated between steps; ticks of `sample` that fall a rounding error beside another event happen; conditions on time
//! that are zero at the start turn right after it. What is expected is known in closed form.
//! `SALTUS_BETWEEN=1000` runs so many models of each family instead of a few.

mod run_support;

use run_support::{SOLVERS, last};
use saltus::{Method, Session};
use saltus_testing::Random;

fn many(few: usize) -> usize {
    let asked = std::env::var("SALTUS_BETWEEN")
        .ok()
        .and_then(|count| count.parse().ok());
    asked.unwrap_or(few)
}

#[test]
fn narrow_peaks_of_rates_are_integrated() {
    // #T the place, #W the width; the integral of each peak is its second entry.
    let peaks = [
        ("exp(-((#X - #T)/#W)^2)/#W", std::f64::consts::PI.sqrt()),
        ("1/(#W*(1 + ((#X - #T)/#W)^2)^2)", std::f64::consts::FRAC_PI_2),
        ("(1 - tanh((#X - #T)/#W)^2)/#W", 2.0),
        ("noEvent(if abs(#X - #T) < #W then 1/#W else 0)", 2.0),
        ("noEvent(max(0, 1 - abs(#X - #T)/#W))/#W", 1.0),
        ("bump(#X, #T, #W)", 2.0),
        ("nested(#X, #T, #W)", 2.0),
    ];
    let functions = "\
        function bump input Real x; input Real t; input Real w; output Real y; algorithm \
          y := 0; if x > t - w then if x < t + w then y := 1/w; end if; end if; end bump; \
        function nested input Real x; input Real t; input Real w; output Real y; protected Real d; algorithm \
          d := (x - t)/w; y := if d*d < 1 then 1/w else 0; end nested;";
    let mut random = Random(11);
    let mut wrong = Vec::new();
    for _ in 0..many(60) {
        let (peak, area) = random.of(&peaks);
        let stop = random.power(-3.0, 3.0);
        let (place, width) = (stop * random.between(0.1, 0.9), stop * random.power(-6.0, -2.0));
        // By time, by a state that goes along with it, or by what is computed of one.
        let (moving, equation) = random.of(&[
            ("time", ""),
            ("z", "der(z) = 1; u = 0;"),
            ("u", "der(z) = 2; u = 0.5*z;"),
        ]);
        let declared = if equation.is_empty() {
            ""
        } else {
            "Real z(start = 0, fixed = true), u;"
        };
        let rate = peak
            .replace("#X", moving)
            .replace("#T", &format!("{place:?}"))
            .replace("#W", &format!("{width:?}"));
        let text = format!(
            "model M {functions} Real y(start = 0, fixed = true); {declared} equation der(y) = {rate}; {equation} end M;"
        );
        let solver = random.of(&SOLVERS);
        let found = last(&text, "y", stop, solver, 1e-6);
        let is_right = found.as_ref().is_ok_and(|found| (found - area).abs() < 1e-3 * area);
        if !is_right {
            wrong.push(format!(
                "{found:?} instead of {area} with {solver:?} for {rate} until {stop}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn narrow_peaks_come_out_of_a_delay_as_they_went_in() {
    // #T the place, #W the width; the integral of each peak, and how long it is above one half, in widths.
    let peaks = [
        (
            "exp(-((#X - #T)/#W)^2)",
            std::f64::consts::PI.sqrt(),
            2.0 * 2f64.ln().sqrt(),
        ),
        ("1/(1 + ((#X - #T)/#W)^2)^2", std::f64::consts::FRAC_PI_2, {
            2.0 * (2f64.sqrt() - 1.0).sqrt()
        }),
        ("1 - tanh((#X - #T)/#W)^2", 2.0, 2.0 * (0.5f64.sqrt()).atanh()),
    ];
    let mut random = Random(14);
    let mut wrong = Vec::new();
    for _ in 0..many(24) {
        let (peak, area, duration) = random.of(&peaks);
        let stop = random.power(-2.0, 2.0);
        let (place, width) = (stop * random.between(0.1, 0.5), stop * random.power(-5.0, -2.0));
        let delay = stop * random.between(0.05, 0.3);
        let (moving, equation) = random.of(&[("x", "der(x) = 1;"), ("0.5*x", "der(x) = 2;")]);
        let (rate, wanted) = random.of(&[("d", area), ("if d > 0.5 then 1 else 0", duration)]);
        let signal = peak
            .replace("#X", moving)
            .replace("#T", &format!("{place:?}"))
            .replace("#W", &format!("{width:?}"));
        let text = format!(
            "model M Real x(start = 0, fixed = true), y(start = 0, fixed = true), d = delay({signal}, {delay:?}); \
             equation {equation} der(y) = ({rate})/{width:?}; end M;"
        );
        let solver = random.of(&SOLVERS);
        let found = last(&text, "y", stop, solver, 1e-6);
        let is_right = found.as_ref().is_ok_and(|found| (found - wanted).abs() < 3e-3 * wanted);
        if !is_right {
            wrong.push(format!(
                "{found:?} instead of {wanted} with {solver:?} until {stop}: {text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn assertions_that_are_violated_for_a_short_while() {
    let mut random = Random(12);
    for _ in 0..many(24) {
        let excess = random.power(-9.0, -3.0);
        let (place, width) = (random.between(1.0, 9.0), random.power(-6.0, -2.0));
        let (signal, limit) = random.of(&[("sin(time)", 1.0), ("exp(-((time - #T)/#W)^2)", 1.0), ("x", 1.0)]);
        let signal = signal
            .replace("#T", &format!("{place:?}"))
            .replace("#W", &format!("{width:?}"));
        for (factor, holds) in [(1.0 - excess, false), (1.0 + excess, true)] {
            let text = format!(
                "model M Real x(start = 0, fixed = true), v(start = 1, fixed = true), y(start = 0, fixed = true), u = {signal}; \
                 equation der(x) = v; der(v) = -x; der(y) = 1; assert(u < {:?}, \"too much\"); end M;",
                limit * factor
            );
            let found = last(&text, "y", 10.0, Method::Auto, 1e-11);
            assert_eq!(found.is_ok(), holds, "{found:?}: {text}");
        }
    }
}

#[test]
fn ticks_beside_other_events_happen() {
    let mut random = Random(13);
    for _ in 0..many(8) {
        let interval = random.of(&[0.1, 0.05, 0.2, 0.3, 0.7]);
        let level = random.of(&[0.1, 0.5, 1.0]);
        let stop = 100.0 + random.between(0.0, 100.0);
        let ticks = (stop / interval).floor() + 1.0;
        let text = format!(
            "model M Integer n(start = 0, fixed = true), k(start = 0, fixed = true); Real x(start = 0, fixed = true); \
             equation der(x) = 1; when sample(0, {interval}) then n = pre(n) + 1; end when; \
             when x >= {level}*(pre(k) + 1) then k = pre(k) + 1; end when; end M;"
        );
        let solver = random.of(&SOLVERS);
        assert_eq!(
            last(&text, "n", stop, solver, 1e-8),
            Ok(ticks),
            "{solver:?} {stop} {text}"
        );
    }
}

#[test]
fn conditions_on_time_that_are_zero_at_the_start_turn_right_after_it() {
    let conditions = [
        ("time > #0", 1.0),
        ("not time <= #0", 1.0),
        ("2*(time - #0) > 0", 1.0),
        ("#0 - time < 0", 1.0),
        ("time > p", 1.0),
        ("time^2 > #0^2", 1.0),
        ("sin(time - #0) > 0", 1.0),
        ("time >= #0", 0.0),
        ("time < #0", 0.0),
        ("time <= #0", 0.0),
    ];
    let uses = [
        "when #C then n = pre(n) + 1; end when;",
        "when b then n = pre(n) + 1; end when;",
        "n = if pre(b) then 1 else pre(n);",
        "der(x) = if b then 1 else 5; when #C then n = pre(n) + 1; end when;",
    ];
    for start in [0.0, 3.5, -2.0] {
        for (condition, count) in conditions {
            // The square of a negative time falls.
            if condition.contains('^') && start < 0.0 {
                continue;
            }
            let condition = condition.replace("#0", &format!("({start:?})"));
            for (at, equation) in uses.iter().enumerate() {
                if at == 2 && count == 0.0 {
                    continue;
                }
                let state = if at == 3 {
                    "Real x(start = 0, fixed = true);"
                } else {
                    ""
                };
                let text = format!(
                    "model M parameter Real p = {start:?}; Integer n(start = 0, fixed = true); Boolean b = {condition}; {state} \
                     equation {} end M;",
                    equation.replace("#C", &condition)
                );
                let session = Session::new();
                session.add_text("M.mo", &text);
                let model = session.compile("M").into_result().expect("a model");
                let simulation = model.run().start(start).stop(start + 1.0).simulate().expect("a run");
                let values = simulation.values("n").expect("n");
                assert_eq!(values.last(), Some(&count), "{text}");
            }
        }
    }
}
