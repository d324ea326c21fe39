//! Derivatives with respect to parameters across events and changes of mode, against closed forms and differences of runs.

use saltus::{Model, Sensitivities, Session};
use saltus_testing::Random;

fn compiled(text: &str) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().unwrap();
    session.compile(&name).into_result().unwrap()
}

fn found(
    model: &Model,
    set: &[(&str, f64)],
    names: &[&str],
    outputs: &[&str],
    times: &[f64],
    stop: f64,
) -> Sensitivities {
    let mut run = model.run().stop(stop).tolerance(1e-10);
    for (name, value) in set {
        run = run.set(name, &value.to_string()).unwrap();
    }
    run.sensitivities(names, outputs, times)
        .unwrap_or_else(|diagnostic| panic!("{diagnostic:?}"))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let allowed = tolerance * expected.abs().max(1.0);
    assert!(
        (found - expected).abs() <= allowed,
        "{what}: {found} instead of {expected}"
    );
}

fn scale(random: &mut Random, low: f64, high: f64) -> f64 {
    random.power(low.log10(), high.log10())
}

#[test]
fn a_bouncing_ball() {
    let model = compiled(
        "model Ball
          parameter Real g = 9.81, e = 0.8, h0 = 1;
          Real h(start = h0, fixed = true), v(start = 0, fixed = true);
        equation
          der(h) = v;
          der(v) = -g;
          when h <= 0 then
            reinit(v, -e*pre(v));
          end when;
        end Ball;",
    );
    let mut random = Random(1);
    for _ in 0..10 {
        let (g, e, h0) = (
            scale(&mut random, 0.5, 50.0),
            random.between(0.5, 0.95),
            scale(&mut random, 0.1, 10.0),
        );
        // After n impacts: t_n = t0 (1 + 2 (e + … + e^n)) with t0 = sqrt(2 h0/g), flying up at e^n v0.
        let height = |g: f64, e: f64, h0: f64, t: f64| {
            let (mut last, mut v) = ((2.0 * h0 / g).sqrt(), (2.0 * h0 * g).sqrt());
            if t < last {
                return h0 - 0.5 * g * t * t;
            }
            loop {
                v *= e;
                if t < last + 2.0 * v / g {
                    let s = t - last;
                    return v * s - 0.5 * g * s * s;
                }
                last += 2.0 * v / g;
            }
        };
        let t0 = (2.0 * h0 / g).sqrt();
        let stop = t0 * (1.0 + 2.0 * e + 2.0 * e * e + 0.3 * e * e * e);
        let times = [0.5 * t0, t0 * (1.0 + 0.4 * e), t0 * (1.0 + 2.0 * e + 0.7 * e * e), stop];
        let set = [("g", g), ("e", e), ("h0", h0)];
        let result = found(&model, &set, &["g", "e", "h0"], &["h"], &times, stop);
        assert_eq!(result.problems, [None, None, None]);
        for (at, &t) in times.iter().enumerate() {
            let d = |at: usize| {
                let mut p = [g, e, h0];
                let step = 1e-5 * p[at];
                p[at] += step;
                let up = height(p[0], p[1], p[2], t);
                p[at] -= 2.0 * step;
                (up - height(p[0], p[1], p[2], t)) / (2.0 * step)
            };
            for parameter in 0..3 {
                near(
                    result.derivative(at, 0, parameter),
                    d(parameter),
                    2e-7,
                    &format!("t = {t}, {parameter}, {set:?}"),
                );
            }
        }
        // t_1 = sqrt(2 h0/g), t_2 = t_1 (1 + 2 e).
        near(result.event_derivative(1, 0), -0.5 * t0 / g, 1e-8, "dt1/dg");
        near(result.event_derivative(1, 2), 0.5 * t0 / h0, 1e-8, "dt1/dh0");
        near(result.event_derivative(2, 1), 2.0 * t0, 1e-8, "dt2/de");
    }
}

#[test]
fn an_ideal_clutch_with_an_impulse() {
    let model = compiled(
        "model Clutch
          parameter Real J1 = 1, J2 = 2, drive = 3, t0 = 1, w10 = 10;
          Real w1(start = w10, fixed = true), w2(start = 0, fixed = true), tau;
          Boolean engaged;
        equation
          engaged = time >= t0;
          J1*der(w1) = drive - tau;
          J2*der(w2) = tau;
          if engaged then
            w1 = w2;
          else
            tau = 0;
          end if;
        end Clutch;",
    );
    let mut random = Random(2);
    for _ in 0..20 {
        let (j1, j2, drive) = (
            scale(&mut random, 1e-3, 1e3),
            scale(&mut random, 1e-3, 1e3),
            random.between(-5.0, 5.0),
        );
        let (t0, w10) = (random.between(0.2, 1.8), random.between(-20.0, 20.0));
        let set = [("J1", j1), ("J2", j2), ("drive", drive), ("t0", t0), ("w10", w10)];
        let names = ["J1", "J2", "drive", "t0", "w10"];
        let result = found(&model, &set, &names, &["w1", "w2", "tau"], &[2.0], 2.0);
        // J1 (w10 + drive t0/J1) is shared by both, and drives on: w(t) = (J1 w10 + drive t)/(J1 + J2).
        let sum = j1 + j2;
        let w = (j1 * w10 + drive * 2.0) / sum;
        let expected = [(w10 - w) / sum, -w / sum, 2.0 / sum, 0.0, j1 / sum];
        for (at, expected) in expected.into_iter().enumerate() {
            for output in 0..2 {
                near(
                    result.derivative(0, output, at),
                    expected,
                    1e-7,
                    &format!("{} {set:?}", names[at]),
                );
            }
        }
        // tau = drive J2/(J1 + J2).
        let tau = [-drive * j2 / (sum * sum), drive * j1 / (sum * sum), j2 / sum, 0.0, 0.0];
        for (at, expected) in tau.into_iter().enumerate() {
            near(
                result.derivative(0, 2, at),
                expected,
                1e-7,
                &format!("tau by {} {set:?}", names[at]),
            );
        }
        near(result.event_derivative(1, 3), 1.0, 1e-9, "the time of the event is t0");
    }
}

#[test]
fn a_slipping_clutch_locks_later() {
    let model = compiled(
        "model Slipping
          parameter Real J1 = 1, J2 = 2, torque = 3, w0 = 10;
          Real w1(start = w0, fixed = true), w2(start = 0, fixed = true), heat(start = 0, fixed = true), tau;
          Boolean locked(start = false, fixed = true);
        equation
          locked = pre(locked) or w1 <= w2;
          J1*der(w1) = -tau;
          J2*der(w2) = tau;
          der(heat) = tau*(w1 - w2);
          if locked then
            w1 = w2;
          else
            tau = torque;
          end if;
        end Slipping;",
    );
    let mut random = Random(3);
    for _ in 0..10 {
        let (j1, j2, w0) = (
            scale(&mut random, 0.1, 10.0),
            scale(&mut random, 0.1, 10.0),
            random.between(5.0, 15.0),
        );
        let t_lock = random.between(0.5, 1.5);
        let torque = w0 / t_lock / (1.0 / j1 + 1.0 / j2);
        let set = [("J1", j1), ("J2", j2), ("torque", torque), ("w0", w0)];
        let names = ["J1", "J2", "torque", "w0"];
        let result = found(&model, &set, &names, &["w1", "heat"], &[2.0], 2.0);
        // The start, and locking.
        assert_eq!(result.event_times.len(), 2);
        let sum = j1 + j2;
        let w = [w0 * j2 / (sum * sum), -w0 * j1 / (sum * sum), 0.0, j1 / sum];
        // heat = w0²/2 J1 J2/(J1 + J2), whatever the torque.
        let half = 0.5 * w0 * w0;
        let heat = [
            half * (j2 / sum).powi(2),
            half * (j1 / sum).powi(2),
            0.0,
            w0 * j1 * j2 / sum,
        ];
        let t = [
            w0 / torque * (j2 / sum).powi(2),
            w0 / torque * (j1 / sum).powi(2),
            -t_lock / torque,
            t_lock / w0,
        ];
        for (at, name) in names.iter().enumerate() {
            near(result.derivative(0, 0, at), w[at], 1e-7, &format!("w by {name}"));
            near(result.derivative(0, 1, at), heat[at], 1e-6, &format!("heat by {name}"));
            near(result.event_derivative(1, at), t[at], 1e-7, &format!("t by {name}"));
        }
    }
}

#[test]
fn a_rectifier() {
    // A diode charges a capacitor from a sine; while it conducts v = A sin(w t), when the current is zero it decays.
    let model = compiled(
        "model Rectifier
          parameter Real A = 10, R = 50, C = 1e-3;
          constant Real w = 100;
          Real v(start = 0, fixed = true), i, u, s;
        equation
          u = A*sin(w*time);
          C*der(v) = i - v/R;
          if s >= 0 then
            u = v;
            i = s;
          else
            i = 0;
            u - v = s;
          end if;
        end Rectifier;",
    );
    let (a, r, c, w) = (10.0f64, 50.0f64, 1e-3f64, 100.0f64);
    let result = found(&model, &[], &["A", "R", "C"], &["v"], &[0.01, 0.03], 0.03);
    assert_eq!(result.problems, [None, None, None]);
    // The current C w A cos(w t) + A sin(w t)/R ends at tan(w t) = -w R C; v decays from there.
    let v = |a: f64, r: f64, c: f64, t: f64| {
        let off = (std::f64::consts::PI - (w * r * c).atan()) / w;
        if t < off {
            a * (w * t).sin()
        } else {
            a * (w * off).sin() * (-(t - off) / (r * c)).exp()
        }
    };
    for (at, t) in [0.01, 0.03].into_iter().enumerate() {
        let step = 1e-5;
        let expected = [
            (v(a * (1.0 + step), r, c, t) - v(a * (1.0 - step), r, c, t)) / (2.0 * step * a),
            (v(a, r * (1.0 + step), c, t) - v(a, r * (1.0 - step), c, t)) / (2.0 * step * r),
            (v(a, r, c * (1.0 + step), t) - v(a, r, c * (1.0 - step), t)) / (2.0 * step * c),
        ];
        for (parameter, expected) in expected.into_iter().enumerate() {
            near(
                result.derivative(at, 0, parameter),
                expected,
                1e-6,
                &format!("t = {t}, {parameter}"),
            );
        }
    }
}

#[test]
fn sampled_controllers_and_discrete_values() {
    // Every T the input is held: x' = u with u = -k x at ticks, so that x(n T) = (1 - k T)^n.
    let model = compiled(
        "model Sampled
          parameter Real k = 0.5, T = 0.3;
          Real x(start = 1, fixed = true);
          discrete Real u(start = 0, fixed = true);
        equation
          der(x) = u;
          when sample(0, T) then
            u = -k*x;
          end when;
        end Sampled;",
    );
    let mut random = Random(4);
    for _ in 0..5 {
        let (k, period) = (random.between(0.2, 1.5), random.between(0.2, 0.4));
        let result = found(
            &model,
            &[("k", k), ("T", period)],
            &["k", "T"],
            &["x", "u"],
            &[1.0],
            1.0,
        );
        let n = (1.0 / period).floor();
        let (q, rest) = (1.0 - k * period, 1.0 - n * period);
        // x(1) = q^n (1 - k rest).
        let by_k = -n * period * q.powf(n - 1.0) * (1.0 - k * rest) - q.powf(n) * rest;
        let by_t = -n * k * q.powf(n - 1.0) * (1.0 - k * rest) + q.powf(n) * k * n;
        near(result.derivative(0, 0, 0), by_k, 1e-8, "x by k");
        near(result.derivative(0, 0, 1), by_t, 1e-8, "x by T");
        near(
            result.derivative(0, 1, 0),
            -q.powf(n) + k * n * period * q.powf(n - 1.0),
            1e-8,
            "u by k",
        );
    }
}

#[test]
fn where_the_order_of_events_changes_there_is_no_derivative() {
    let model = compiled(
        "model Two
          parameter Real p = 1, q = 1;
          Real x(start = 0, fixed = true), y(start = 1, fixed = true);
        equation
          der(x) = 1;
          der(y) = 0;
          when x >= p then
            reinit(y, 2*pre(y));
          elsewhen x >= 2 - q then
            reinit(y, pre(y) + 1);
          end when;
        end Two;",
    );
    let result = found(&model, &[], &["p", "q"], &["y", "x"], &[0.5, 2.0], 2.0);
    for problem in &result.problems {
        let problem = problem.as_ref().expect("both events are at t = 1");
        assert!(problem.contains("which comes first depends on"), "{problem}");
    }
    // Before they meet all is well.
    assert_eq!(result.derivative(0, 0, 0), 0.0);
    assert!(result.derivative(1, 0, 0).is_nan());
    // Apart from each other they have an order.
    let result = found(&model, &[("p", 0.7)], &["p", "q"], &["y"], &[2.0], 2.0);
    assert_eq!(result.problems, [None, None]);
    assert_eq!(result.derivative(0, 0, 0), 0.0);
}

#[test]
fn at_the_time_of_an_event_what_jumps_has_no_derivative() {
    let model = compiled(
        "model Reset
          parameter Real p = 1;
          Real u(start = 0, fixed = true), w(start = 0, fixed = true);
        equation
          der(u) = 1;
          der(w) = 1;
          when u >= p then
            reinit(u, 0);
          end when;
        end Reset;",
    );
    let at_end = found(&model, &[], &["p"], &["u"], &[0.5, 1.0], 1.0);
    assert_eq!(at_end.derivative(0, 0, 0), 0.0);
    assert!(at_end.derivative(1, 0, 0).is_nan());
    assert!(at_end.problems[0].as_ref().unwrap().contains("no derivative"));
    let result = found(&model, &[], &["p"], &["u", "w"], &[0.5, 1.0, 1.5], 1.75);
    assert!(result.derivative(1, 0, 0).is_nan());
    assert!(result.problems[0].as_ref().unwrap().contains("there is an event"));
    near(result.derivative(1, 1, 0), 0.0, 1e-9, "what does not jump has one");
    near(result.derivative(2, 0, 0), -1.0, 1e-9, "u(1.5) = 1.5 - p");
}

#[test]
fn states_that_are_chosen_anew_on_the_way() {
    // A pendulum in Cartesian coordinates goes round; the angle is the same in polar ones.
    let cartesian = compiled(
        "model Cartesian
          parameter Real L = 1, g = 9.81, w0 = 8;
          Real x(start = 0, fixed = true), y(start = -L), vx(start = w0*L, fixed = true), vy, F;
        equation
          der(x) = vx;
          der(y) = vy;
          der(vx) = -F*x;
          der(vy) = -F*y - g;
          x^2 + y^2 = L^2;
        end Cartesian;",
    );
    let polar = compiled(
        "model Polar
          parameter Real L = 1, g = 9.81, w0 = 8;
          Real phi(start = 0, fixed = true), w(start = w0, fixed = true), x = L*sin(phi);
        equation
          der(phi) = w;
          der(w) = -g/L*sin(phi);
        end Polar;",
    );
    let times = [0.3, 0.7, 1.1, 2.0];
    let names = ["L", "g", "w0"];
    let a = found(&cartesian, &[], &names, &["x"], &times, 2.0);
    let b = found(&polar, &[], &names, &["x"], &times, 2.0);
    for (at, time) in times.iter().enumerate() {
        for (parameter, name) in names.iter().enumerate() {
            let (a, b) = (a.derivative(at, 0, parameter), b.derivative(at, 0, parameter));
            near(a, b, 1e-6, &format!("t = {time}, {name}"));
        }
    }
}

#[test]
fn delays_are_refused_in_words() {
    let model = compiled(
        "model Late parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*delay(x, 0.1); end Late;",
    );
    let refused = model.run().sensitivities(&["k"], &["x"], &[0.5]).unwrap_err();
    assert!(
        refused.message.contains("no derivatives are kept"),
        "{}",
        refused.message
    );
    let unknown = model.run().sensitivities(&["q"], &["x"], &[0.5]).unwrap_err();
    assert!(unknown.message.contains("no parameter `q`"), "{}", unknown.message);
    let outside = model.run().sensitivities(&["k"], &["x"], &[7.0]).unwrap_err();
    assert!(outside.message.contains("outside the run"), "{}", outside.message);
}

/// Examples with many kinds of events, against differences of whole runs.
#[test]
fn examples_agree_with_differences() {
    let cases: [(&str, &[&str], &[&str]); 4] = [
        ("mechanics/CupAndBall.mo", &["L"], &["x", "y"]),
        ("mechanics/SlippingClutch.mo", &["J1", "J2", "torque"], &["w1", "heat"]),
        ("mechanics/TwoBlocks.mo", &[], &[]),
        ("electrical/BuckConverter.mo", &[], &[]),
    ];
    for (path, names, outputs) in cases {
        let session = Session::new();
        let folder = saltus_testing::repository().join("examples");
        session.add_file(folder.join(path));
        let name = session.find_model(None).into_result().unwrap();
        let model = session.compile(&name).into_result().unwrap();
        let (start, stop) = model.run().span();
        let parameters = model.parameters().unwrap();
        let real = |parameter: &&saltus::Parameter| {
            parameter.by_run
                && parameter.values == saltus::ParameterValues::Real
                && parameter.value.is_some_and(|v| v != 0.0)
        };
        let all: Vec<saltus::Parameter> = parameters.iter().filter(real).cloned().collect();
        let names: Vec<&str> = match names {
            [] => all.iter().take(3).map(|parameter| &*parameter.name).collect(),
            names => names
                .iter()
                .copied()
                .filter(|n| all.iter().any(|p| p.name == *n))
                .collect(),
        };
        let end = start + 0.37 * (stop - start);
        let tight = || model.run().stop(end).tolerance(1e-10);
        let whole = tight().simulate().unwrap();
        let outputs: Vec<String> = match outputs {
            [] => {
                let schema = whole.trajectory.schema();
                let states = schema
                    .ids()
                    .filter(|&id| schema.signal(id).role == saltus::results::Role::State);
                states.map(|id| schema.signal(id).name.clone()).collect()
            }
            outputs => outputs.iter().map(|&output| output.to_owned()).collect(),
        };
        let shown: Vec<&str> = outputs.iter().map(|output| &**output).collect();
        let result = tight().sensitivities(&names, &shown, &[end]);
        let result = result.unwrap_or_else(|diagnostic| panic!("{path}: {diagnostic:?}"));
        for (parameter, name) in names.iter().enumerate() {
            assert_eq!(result.problems[parameter], None, "{path}, {name}");
            let value = all.iter().find(|of| of.name == *name).and_then(|of| of.value).unwrap();
            let h = 1e-5 * value.abs();
            let at = |value: f64| tight().set(name, &value.to_string()).unwrap().simulate().unwrap();
            let (up, down) = (at(value + h), at(value - h));
            for (output, of) in shown.iter().enumerate() {
                let last = |run: &saltus::Simulation| *run.values(of).unwrap().last().unwrap();
                let expected = (last(&up) - last(&down)) / (2.0 * h);
                let size = whole
                    .values(of)
                    .unwrap()
                    .iter()
                    .fold(0.0f64, |size, v| size.max(v.abs()))
                    / value.abs();
                let found = result.derivative(0, output, parameter);
                let allowed = 1e-4 * size.max(expected.abs()) + 1e-9;
                assert!(
                    (found - expected).abs() <= allowed,
                    "{path}: d {of}/d {name} is {found}, not {expected}"
                );
            }
        }
    }
}
