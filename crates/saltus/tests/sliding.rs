//! Runs that go on along a switching surface, and at rest where impacts accumulate: families of random models whose motion is
//! known in closed form or by an integration of the reduced equations. `SALTUS_SLIDING=1000` runs so many models of each
//! family instead of a few.

use saltus::simulate::{Chattering, Zeno};
use saltus::{Session, Simulation};
use saltus_testing::Random;

fn count(few: usize) -> usize {
    let given = std::env::var("SALTUS_SLIDING").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// A model that goes on as asked for, or why it does not.
fn simulate(text: &str, stop: f64, tolerance: f64) -> Result<Simulation, String> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().map_err(|d| format!("{d:?}"))?;
    let run = model.run().stop(stop).interval(stop / 50.0).tolerance(tolerance);
    let run = run.chattering(Chattering::Slide).zeno(Zeno::Rest);
    run.simulate().map_err(|failed| {
        let diagnostic = failed.diagnostic();
        diagnostic.map_or_else(|| failed.to_string(), |d| format!("{}: {}", d.code, d.message))
    })
}

/// The value in the last row up to a time.
fn at(simulation: &Simulation, name: &str, time: f64) -> f64 {
    let times = simulation.time();
    let row = (0..times.len()).rev().find(|&row| times[row] <= time * (1.0 + 1e-12));
    simulation.values(name).expect("a variable")[row.expect("a row")]
}

fn labels(simulation: &Simulation) -> Vec<String> {
    let modes = simulation.trajectory.mode_records().values();
    modes.map(|record| record.label.clone()).collect()
}

#[track_caller]
fn close(found: f64, wanted: f64, tolerance: f64, text: &str) {
    let difference = (found - wanted).abs();
    assert!(difference <= tolerance, "{found} instead of {wanted}:\n{text}");
}

/// The earliest zero of a function that is positive at first.
fn first_zero(function: impl Fn(f64) -> f64, until: f64) -> f64 {
    let step = until / 1e4;
    let mut high = step;
    while function(high) > 0.0 && high < until {
        high += step;
    }
    let mut low = high - step;
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if function(middle) > 0.0 {
            low = middle
        } else {
            high = middle
        }
    }
    high
}

/// The ways to write a relay: `p` where x > 0, `q` where x < 0, both as expressions.
fn relay(way: usize, x: &str, p: f64, q: f64) -> (String, String, String) {
    let (declarations, equations, value);
    match way {
        0 => {
            declarations = "Real u;".to_owned();
            equations = format!("u = if {x} > 0 then {p:?} else {q:?};");
            value = "u".to_owned();
        }
        1 => {
            declarations = "Real u;".to_owned();
            equations = format!("if {x} >= 0 then u = {p:?}; else u = {q:?}; end if;");
            value = "u".to_owned();
        }
        2 => {
            declarations = format!("Boolean below = {x} < 0;");
            equations = String::new();
            value = format!("(if below then {q:?} else {p:?})");
        }
        3 => {
            declarations = "Real u;".to_owned();
            equations = format!("u = {:?} + ({:?})*sign({x});", 0.5 * (p + q), 0.5 * (p - q));
            value = "u".to_owned();
        }
        4 => {
            declarations = String::new();
            equations = String::new();
            value = format!("noEvent(if {x} > 0 then {p:?} else {q:?})");
        }
        5 => {
            declarations = format!("discrete Real u(start = {p:?}, fixed = true);");
            equations = format!("when {x} < 0 then u = {q:?}; elsewhen {x} > 0 then u = {p:?}; end when;");
            value = "u".to_owned();
        }
        _ => {
            declarations = "Real u;".to_owned();
            equations = format!("u = if {x} > 0 then {p:?} elseif {x} < 0 then {q:?} else {p:?};");
            value = "u".to_owned();
        }
    }
    (declarations, equations, value)
}

/// x' = d(t) + (p or q), y' = r or s: on the surface x = 0 the share of the side above is (q + d)/(q - p).
#[test]
fn a_relay_slides_with_the_equivalent_control() {
    let mut random = Random(1);
    for number in 0..count(28) {
        let (x_unit, t_unit) = (random.power(-6.0, 6.0), random.power(-4.0, 4.0));
        let (a, b, w) = (
            random.between(0.0, 0.5),
            random.between(-0.4, 0.4),
            random.between(0.5, 4.0),
        );
        let (p, q) = (-random.between(1.0, 4.0), random.between(1.0, 4.0));
        let (r, s) = (random.between(-3.0, 3.0), random.between(-3.0, 3.0));
        let x0 = random.between(0.2, 2.0);
        let way = number % 7;
        let rate = x_unit / t_unit;
        let (declarations, equations, u) = relay(way, "x", p, q);
        let text = format!(
            "model M
               Real x(start = {:?}, fixed = true, nominal = {x_unit:?}), y(start = 0, fixed = true);
               {declarations}
             equation
               {equations}
               der(x) = {rate:?}*({b:?} + {a:?}*sin({:?}*time) + {u});
               der(y) = ({r:?} + ({:?})*({u}))/{t_unit:?};
             end M;",
            x0 * x_unit,
            w / t_unit,
            s,
        );
        // In units of x and t.
        let course = |t: f64| x0 + (b + p) * t + a / w * (1.0 - (w * t).cos());
        let met = first_zero(course, 10.0);
        let stop = met + 3.0;
        let simulation = simulate(&text, stop * t_unit, 1e-7).unwrap_or_else(|e| panic!("{e}\n{text}"));
        // Along the surface u = -d.
        let drift = b * (stop - met) + a / w * ((w * met).cos() - (w * stop).cos());
        let y = (r + s * p) * met + r * (stop - met) - s * drift;
        let end = stop * t_unit;
        close(at(&simulation, "x", end), 0.0, 1e-6 * x_unit, &text);
        // Discrete variables keep the value they had: what depends on them is combined all the same.
        close(at(&simulation, "y", end), y, 2e-5 * (1.0 + y.abs()), &text);
        if matches!(way, 0 | 1 | 3 | 6) {
            close(at(&simulation, "u", end), -b - a * (w * stop).sin(), 1e-5, &text);
        }
        assert!(
            labels(&simulation).iter().any(|l| l.starts_with("sliding on ")),
            "{text}"
        );
    }
}

/// x' = A x + b u with u = ∓U at s = c·x: on the surface x' = (1 - b c/(c·b)) A x.
#[test]
fn linear_systems_follow_their_reduced_equations() {
    let mut random = Random(2);
    let mut done = 0;
    while done < count(12) {
        let n = 2 + random.below(3);
        let a: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| random.between(-1.0, 1.0) - if i == j { 1.5 } else { 0.0 })
                    .collect()
            })
            .collect();
        let (b, c): (Vec<f64>, Vec<f64>) = (0..n)
            .map(|_| (random.between(0.2, 1.0), random.between(0.2, 1.0)))
            .unzip();
        let gain: f64 = b.iter().zip(&c).map(|(b, c)| b * c).sum();
        let mut start: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let rest: f64 = (1..n).map(|i| c[i] * start[i]).sum();
        start[0] = -rest / c[0];
        let field = |x: &[f64]| -> (Vec<f64>, f64) {
            let ax: Vec<f64> = a
                .iter()
                .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
                .collect();
            let u = -c.iter().zip(&ax).map(|(c, ax)| c * ax).sum::<f64>() / gain;
            (ax.iter().zip(&b).map(|(ax, b)| ax + b * u).collect(), u)
        };
        let power = 6.0;
        let (end, largest) = integrate(&field, &start, 2.0, 4000);
        if largest > 0.8 * power {
            continue;
        }
        done += 1;
        let way = [0, 1, 2, 3, 4, 6][random.below(6)];
        let (declarations, equations, u) = relay(way, "s", -power, power);
        let mut text = format!("model M {declarations} Real s;");
        for (i, x) in start.iter().enumerate() {
            text += &format!("Real x{i}(start = {x:?}, fixed = true);");
        }
        let sum = |row: &[f64]| -> String {
            let terms: Vec<String> = row.iter().enumerate().map(|(j, a)| format!("({a:?})*x{j}")).collect();
            terms.join(" + ")
        };
        text += &format!("equation {equations} s = {};", sum(&c));
        for i in 0..n {
            text += &format!("der(x{i}) = {} + {:?}*{u};", sum(&a[i]), b[i]);
        }
        text += " end M;";
        let simulation = simulate(&text, 2.0, 1e-8).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for (i, &x) in end.iter().enumerate() {
            close(at(&simulation, &format!("x{i}"), 2.0), x, 1e-5, &text);
        }
    }
}

/// The classical method of order four; where it ends, and the largest control on the way.
fn integrate(field: &impl Fn(&[f64]) -> (Vec<f64>, f64), start: &[f64], stop: f64, steps: usize) -> (Vec<f64>, f64) {
    let h = stop / steps as f64;
    let mut x = start.to_vec();
    let mut largest: f64 = 0.0;
    let moved = |x: &[f64], k: &[f64], h: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
    for _ in 0..steps {
        let (k1, u) = field(&x);
        largest = largest.max(u.abs());
        let (k2, _) = field(&moved(&x, &k1, 0.5 * h));
        let (k3, _) = field(&moved(&x, &k2, 0.5 * h));
        let (k4, _) = field(&moved(&x, &k3, h));
        for i in 0..x.len() {
            x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    (x, largest)
}

/// A block slides, sticks while a growing force cannot move it, and slips again.
#[test]
fn dry_friction_sticks_until_the_force_is_too_large() {
    let mut random = Random(3);
    for number in 0..count(14) {
        let unit = random.power(-3.0, 3.0);
        let (friction, growth) = (random.between(2.0, 5.0), random.between(0.5, 1.0));
        let v0 = random.between(0.3, 1.0);
        let way = [0, 1, 2, 3, 4, 6, 0][number % 7];
        let (declarations, equations, u) = relay(way, "v", friction, -friction);
        let text = format!(
            "model M
               Real v(start = {:?}, fixed = true), s(start = 0, fixed = true);
               {declarations}
             equation
               {equations}
               der(s) = v;
               der(v) = {unit:?}*({growth:?}*time - {u});
             end M;",
            v0 * unit
        );
        let speed = |t: f64| v0 - friction * t + 0.5 * growth * t * t;
        let stops = first_zero(speed, 10.0);
        let slips = friction / growth;
        let end = slips + 2.0;
        let simulation = simulate(&text, end, 1e-8).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let way = |t: f64| v0 * t - 0.5 * friction * t * t + growth * t.powi(3) / 6.0;
        close(at(&simulation, "v", 0.5 * (stops + slips)), 0.0, 1e-9 * unit, &text);
        close(
            at(&simulation, "s", 0.5 * (stops + slips)),
            way(stops) * unit,
            1e-6 * unit,
            &text,
        );
        close(at(&simulation, "v", end), 0.5 * growth * 4.0 * unit, 1e-5 * unit, &text);
        close(
            at(&simulation, "s", end),
            (way(stops) + growth * 8.0 / 6.0) * unit,
            1e-5 * unit,
            &text,
        );
    }
}

/// A ball bounces on a table that rises and sinks evenly, comes to rest on it, and is pulled off later.
#[test]
fn a_bouncing_ball_comes_to_rest_at_the_limit_of_its_impacts() {
    let mut random = Random(4);
    for number in 0..count(20) {
        let unit = random.power(-4.0, 4.0);
        let (g, e) = (random.between(2.0, 20.0), random.between(0.0, 0.9));
        let e = if number % 7 == 6 { 0.0 } else { e };
        let (h0, v0, climb) = (
            random.between(0.2, 3.0),
            random.between(-2.0, 4.0),
            random.between(-0.5, 0.5),
        );
        let pull = g * random.between(1.5, 3.0);
        // Seen from the table.
        let v = v0 - climb;
        let impact = (v + (v * v + 2.0 * g * h0).sqrt()) / g;
        let rest = impact + 2.0 * e * (g * impact - v) / (g * (1.0 - e));
        let (lift, end) = (rest + 1.0, rest + 2.0);
        let condition = ["h <= table", "h < table", "table >= h", "h - table < 0"][number % 4];
        let text = format!(
            "model M
               Real h(start = {:?}, fixed = true), v(start = {:?}, fixed = true), x(start = 0, fixed = true);
               Real table = {:?}*time;
             equation
               der(h) = v;
               der(v) = if time < {lift:?} then {:?} else {:?};
               der(x) = 3;
               when {condition} then
                 reinit(v, {:?} - ({e:?})*(pre(v) - ({:?})));
               end when;
             end M;",
            h0 * unit,
            v0 * unit,
            climb * unit,
            -g * unit,
            (pull - g) * unit,
            climb * unit,
            climb * unit,
        );
        let simulation = simulate(&text, end, 1e-8).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let rests = simulation
            .trajectory
            .mode_records()
            .values()
            .find(|record| record.label.starts_with("at rest on"));
        let rests = rests.unwrap_or_else(|| panic!("never at rest:\n{text}")).mode;
        let entered = simulation
            .trajectory
            .events()
            .iter()
            .find(|event| event.to_mode == rests);
        close(entered.expect("an event").time, rest, 1e-6 * (1.0 + rest), &text);
        close(at(&simulation, "h", lift), climb * lift * unit, 1e-7 * unit, &text);
        close(
            at(&simulation, "v", 0.5 * (rest + lift)),
            climb * unit,
            1e-7 * unit,
            &text,
        );
        close(at(&simulation, "x", end), 3.0 * end, 1e-6 * end, &text);
        let height = climb * end + 0.5 * (pull - g) * (end - lift).powi(2);
        close(
            at(&simulation, "h", end),
            height * unit,
            1e-6 * unit * (1.0 + height.abs()),
            &text,
        );
    }
}

/// Tanks that run empty together, whatever the order of the branches and the tolerance: never silently below empty.
#[test]
fn tanks_never_pass_the_point_at_which_they_are_empty() {
    let mut random = Random(5);
    for _ in 0..count(40) {
        let n = 2 + random.below(4);
        let outflows: Vec<f64> = (0..n).map(|_| random.between(0.2, 1.0)).collect();
        let sum: f64 = outflows.iter().sum();
        let largest = outflows.iter().copied().fold(0.0, f64::max);
        let inflow = random.between((1.05 * largest).min(0.95 * sum), 0.97 * sum);
        let levels: Vec<f64> = (0..n).map(|_| random.between(0.3, 3.0)).collect();
        let empty = levels.iter().sum::<f64>() / (sum - inflow);
        let tolerance = [1e-4, 1e-5, 1e-6, 1e-8, 1e-10][random.below(5)];
        let mut text = "model M Integer k(start = 0, fixed = true);".to_owned();
        for (i, level) in levels.iter().enumerate() {
            text += &format!("Real x{i}(start = {level:?}, fixed = true);");
        }
        text += " equation ";
        for (i, outflow) in outflows.iter().enumerate() {
            text += &format!("der(x{i}) = (if k == {i} then {inflow:?} else 0) - {outflow:?};");
        }
        let first = random.below(n);
        for step in 0..n {
            let i = (first + step) % n;
            let when = if step == 0 { "when" } else { "elsewhen" };
            text += &format!(" {when} x{i} <= 0 then k = {i};");
        }
        text += " end when; end M;";
        let found = simulate(&text, 1.3 * empty, tolerance);
        let told = found
            .as_ref()
            .err()
            .is_some_and(|e| e.contains("E0604") || e.contains("E0603"));
        assert!(told, "{:?} with tolerance {tolerance}:\n{text}", found.err());
    }
}

/// What counts crossings has no limit, and two surfaces at once are refused.
#[test]
fn what_has_no_limit_is_told() {
    let counted = "model M
        Real x(start = 1, fixed = true); Integer n(start = 0, fixed = true);
      equation
        der(x) = if x > 0 then -1 else 1;
        when x > 0 then n = pre(n) + 1; end when;
      end M;";
    let told = simulate(counted, 3.0, 1e-6).err().unwrap_or_default();
    assert!(
        told.contains("E0603") && told.contains("`n` changes every time"),
        "{told}"
    );
    let jumping = "model M
        Real x(start = 1, fixed = true), y(start = 0, fixed = true);
      equation
        der(x) = if x > 0 then -1 else 1;
        der(y) = 0;
        when x < 0 then reinit(y, pre(y) + 1); end when;
      end M;";
    let told = simulate(jumping, 3.0, 1e-6).err().unwrap_or_default();
    assert!(told.contains("E0603") && told.contains("states jump"), "{told}");
}

/// The output interval influences nothing.
#[test]
fn output_points_make_no_difference() {
    let text = "model M
        Real x(start = 1, fixed = true), y(start = 0, fixed = true);
        Real r = x^2 + y^2;
      equation
        der(x) = -y + (if r > 0.5 then -x else x);
        der(y) = x + (if r > 0.5 then -y else y);
      end M;";
    let end = |interval: f64| {
        let session = Session::new();
        session.add_text("M.mo", text);
        let model = session.compile("M").into_result().expect("a model");
        let run = model.run().stop(4.0).interval(interval).chattering(Chattering::Slide);
        let simulation = run.simulate().expect("a run");
        (at(&simulation, "x", 4.0), at(&simulation, "y", 4.0))
    };
    let (coarse, fine) = (end(4.0), end(0.001));
    assert_eq!(coarse, fine);
    let radius = coarse.0.hypot(coarse.1);
    close(radius, 0.5f64.sqrt(), 1e-6, text);
}
