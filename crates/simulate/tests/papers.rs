//! Systems of the papers, stated through the builder, against reference values.

use saltus_mdae::{Builder, Ex, Mdae, UnaryFunction};
use saltus_results::Trajectory;
use saltus_simulate::{Compiled, Options, Request, RunReport, Unobserved, simulate};

fn run(model: Mdae, options: &Options) -> (Trajectory, RunReport) {
    let compiled = Compiled::new(saltus_structure::prepare::prepare(model).model).unwrap();
    let mut trajectory = Trajectory::new();
    let report = simulate(&compiled, Request::default(), options, &mut trajectory, &mut Unobserved);
    (trajectory, report)
}

fn options(stop: f64) -> Options {
    Options {
        stop,
        interval: stop / 100.0,
        tolerance: 1e-10,
        absolute_tolerance: 1e-13,
        ..Options::default()
    }
}

fn completed(report: &RunReport) {
    if let Err(failure) = &report.outcome {
        panic!("{failure}\nwarnings: {:?}", report.warnings);
    }
}

/// LNCS section 4.4, equations (21): motor with capacitor, clutch and load.
fn motor_and_load() -> Mdae {
    let m = Builder::new("MotorAndLoad");
    let (w1, w2, u) = (m.guess("w1", 0.0), m.guess("w2", 10.0), m.guess("u", 0.0));
    let (i1, i2, t1, t2) = (m.unknown("i1"), m.unknown("i2"), m.unknown("tau1"), m.unknown("tau2"));
    let (k, c, r, j1, j2, u0) = (0.25, 2.0, 10.0, 0.1, 0.4, 10.0);
    let time = m.time();
    let engaged = time.lt(&m.real(100.0)).or(&time.ge(&m.real(300.0)));
    m.equation("loop", r * (&i1 + &i2) + &u - u0);
    m.equation("capacitor", c * u.der() - &i1);
    m.equation("emf", k * &w1 - &u);
    m.equation("torque", &t1 - k * &i2);
    m.equation("inertia1", j1 * w1.der() - &t1 + &t2);
    m.equation("inertia2", j2 * w2.der() - &t2);
    m.equation_if(&engaged, "engaged", &w1 - &w2);
    m.equation_if(&!&engaged, "released", t2.clone());
    m.finish().unwrap()
}

#[test]
fn motor_and_load_restarts_as_in_the_paper() {
    let (trajectory, report) = run(motor_and_load(), &options(500.0));
    completed(&report);
    let w1 = trajectory.signal("w1").unwrap();
    let at = |t: f64, last: bool| {
        let times = trajectory.time();
        let i = if last {
            times.iter().rposition(|&x| x == t)
        } else {
            times.iter().position(|&x| x == t)
        };
        w1.values[i.unwrap()]
    };
    assert!((at(0.0, true) - 6.4).abs() < 1e-9, "{}", at(0.0, true));
    assert!(
        (at(100.0, false) - 27.63925077663954).abs() < 1e-6,
        "{}",
        at(100.0, false)
    );
    assert!(
        (at(300.0, false) - 39.95221433063844).abs() < 1e-6,
        "{}",
        at(300.0, false)
    );
    assert!(
        (at(300.0, true) - 32.07191765607914).abs() < 1e-6,
        "{}",
        at(300.0, true)
    );
    assert!((at(500.0, true) - 38.927050730).abs() < 1e-6, "{}", at(500.0, true));
}

fn last(trajectory: &Trajectory, name: &str) -> f64 {
    *trajectory
        .signal(name)
        .unwrap_or_else(|| panic!("no {name}"))
        .values
        .last()
        .unwrap()
}

/// An ideal diode in parametric form: conducting while s > 0; s is the current when on, the forward voltage when off.
fn diode(m: &Builder, name: &str, voltage: &Ex, current: &Ex) {
    let s = m.unknown(&format!("s_{name}"));
    let on = s.gt(&m.real(0.0));
    m.equation_if(&on, &format!("{name}_s1"), &s - current);
    m.equation_if(&!&on, &format!("{name}_s0"), &s - voltage);
    m.equation_if(&on, &format!("{name}_k1"), voltage.clone());
    m.equation_if(&!&on, &format!("{name}_k0"), current.clone());
}

fn sine(x: &Ex) -> Ex {
    x.apply(UnaryFunction::Sin)
}

#[test]
fn an_interrupted_inductor_has_an_impulsive_voltage() {
    let m = Builder::new("InductorCut");
    let (i, v) = (m.state("i", 0.0), m.unknown("v"));
    let on = m.time().lt(&m.real(1.0));
    m.equation("L", 0.1 * i.der() + 2.0 * &i + &v - 10.0);
    m.equation_if(&on, "k1", v.clone());
    m.equation_if(&!&on, "k0", i.clone());
    let (trajectory, report) = run(m.finish().unwrap(), &options(2.0));
    completed(&report);
    assert_eq!(last(&trajectory, "i"), 0.0);
    let before = 5.0 * (1.0 - (-20.0f64).exp());
    let impulse = &trajectory.events().last().unwrap().impulses;
    let voltage = impulse.iter().find(|i| i.variable == "v").unwrap();
    assert!((voltage.weight - 0.1 * before).abs() < 1e-9, "{voltage:?}");
}

#[test]
fn a_ball_comes_to_rest_on_the_floor() {
    let m = Builder::new("BallFloor");
    let (h, v, f, s) = (m.state("h", 1.0), m.state("v", 0.0), m.unknown("f"), m.unknown("s"));
    let contact = s.le(&m.real(0.0));
    m.equation("dh", h.der() - &v);
    m.equation("m", v.der() + 9.81 - &f);
    m.equation_if(&contact, "k1", h.clone());
    m.equation_if(&!&contact, "k0", f.clone());
    m.equation_if(&contact, "s1", &s + &f);
    m.equation_if(&!&contact, "s0", &s - &h);
    let (trajectory, report) = run(m.finish().unwrap(), &options(1.0));
    completed(&report);
    assert!(last(&trajectory, "h").abs() < 1e-9);
    assert!((last(&trajectory, "f") - 9.81).abs() < 1e-9);
}

#[test]
fn a_one_way_clutch_locks_and_runs_free() {
    let m = Builder::new("OneWayClutch");
    let (w1, w2, tau, s) = (m.state("w1", 0.0), m.state("w2", 1.0), m.unknown("tau"), m.unknown("s"));
    let lock = s.gt(&m.real(0.0));
    m.equation("a", w1.der() - 3.0 * m.time().apply(UnaryFunction::Cos) + &tau);
    m.equation("b", 2.0 * w2.der() + 0.5 * &w2 - &tau);
    m.equation_if(&lock, "k1", &w1 - &w2);
    m.equation_if(&!&lock, "k0", tau.clone());
    m.equation_if(&lock, "s1", &s - &tau);
    m.equation_if(&!&lock, "s0", &s - (&w1 - &w2));
    let (trajectory, report) = run(m.finish().unwrap(), &options(10.0));
    completed(&report);
    assert!(
        (last(&trajectory, "w1") + 4.029098236).abs() < 1e-6,
        "{}",
        last(&trajectory, "w1")
    );
}

#[test]
fn commutation_between_two_inductors_overlaps() {
    let m = Builder::new("TwoInductorCommutation");
    let w = 2.0 * std::f64::consts::PI * 50.0;
    let (i1, i2, il) = (m.state("i1", 0.0), m.state("i2", 0.0), m.state("iL", 0.0));
    let (va1, va2, vp) = (m.unknown("va1"), m.unknown("va2"), m.unknown("vp"));
    diode(&m, "d1", &(&va1 - &vp), &i1);
    diode(&m, "d2", &(&va2 - &vp), &i2);
    let t = m.time();
    m.equation("L1", 1e-3 * i1.der() - 100.0 * sine(&(w * &t)) + &va1);
    m.equation(
        "L2",
        1e-3 * i2.der() - 100.0 * sine(&(w * &t + std::f64::consts::PI)) + &va2,
    );
    m.equation("kcl", &i1 + &i2 - &il);
    m.equation("load", 0.1 * il.der() + 5.0 * &il - &vp);
    let (trajectory, report) = run(m.finish().unwrap(), &options(0.045));
    completed(&report);
    assert!(
        (last(&trajectory, "i1") - 11.251143084).abs() < 1e-5,
        "{}",
        last(&trajectory, "i1")
    );
}

#[test]
fn balls_in_a_row_pass_the_impact_on() {
    let m = Builder::new("Cradle");
    let n = 3;
    let x: Vec<Ex> = (0..n)
        .map(|i| m.state(&format!("x{}", i + 1), f64::from(i) + if i == 0 { -0.5 } else { 0.0 }))
        .collect();
    let v: Vec<Ex> = (0..n)
        .map(|i| m.state(&format!("v{}", i + 1), if i == 0 { 1.0 } else { 0.0 }))
        .collect();
    let f: Vec<Ex> = (1..n).map(|i| m.unknown(&format!("f{i}"))).collect();
    for i in 0..n as usize {
        m.equation(&format!("d{i}"), x[i].der() - &v[i]);
        let mut force = m.real(0.0);
        if i > 0 {
            force = force + &f[i - 1];
        }
        if i + 1 < n as usize {
            force = force - &f[i];
        }
        m.equation(&format!("m{i}"), v[i].der() - force);
    }
    for i in 0..n as usize - 1 {
        let contact = (&x[i] + 1.0).gt(&x[i + 1]);
        m.equation_if(&!&contact, &format!("nf{i}"), f[i].clone());
        m.restart_when(
            &contact,
            &format!("law{i}"),
            &v[i + 1] - &v[i] + 1.0 * (v[i + 1].pre() - v[i].pre()),
        );
    }
    let (trajectory, report) = run(m.finish().unwrap(), &options(1.0));
    completed(&report);
    for (name, expected) in [("v1", 0.0), ("v2", 0.0), ("v3", 1.0)] {
        assert!(
            (last(&trajectory, name) - expected).abs() < 1e-9,
            "{name} {}",
            last(&trajectory, name)
        );
    }
}

#[test]
fn a_bouncing_ball_ends_with_a_zeno_report() {
    let m = Builder::new("BouncingBall");
    let (h, v) = (m.state("h", 1.0), m.state("v", 0.0));
    m.equation("dh", h.der() - &v);
    m.equation("dv", v.der() + 9.81);
    let down = h.le(&m.real(0.0));
    m.reinit_when(&down, &v, &(-0.7 * v.pre()));
    let (trajectory, report) = run(m.finish().unwrap(), &options(3.0));
    let failure = report.outcome.unwrap_err();
    assert!(
        matches!(failure.kind, saltus_simulate::FailureKind::Zeno { .. }),
        "{failure}"
    );
    let first = (2.0f64 / 9.81).sqrt();
    let zeno = first * (1.0 + 2.0 * 0.7 / 0.3);
    assert!(
        (failure.time.unwrap() - zeno).abs() < 1e-5,
        "{} {zeno}",
        failure.time.unwrap()
    );
    assert!(trajectory.signal("h").unwrap().values.iter().all(|&h| h > -1e-9));
    assert!((trajectory.events()[1].time - first).abs() < 1e-9);
}

#[test]
fn a_pendulum_keeps_its_length_through_every_angle() {
    let m = Builder::new("Pendulum");
    let (x, y) = (m.state("x", 1.0), m.guess("y", 0.0));
    let (vx, vy, lambda) = (m.guess("vx", 0.0), m.state("vy", 0.0), m.unknown("lambda"));
    m.equation("dx", x.der() - &vx);
    m.equation("dy", y.der() - &vy);
    m.equation("ax", vx.der() - &lambda * &x);
    m.equation("ay", vy.der() - &lambda * &y + 9.81);
    m.equation("rod", &x * &x + &y * &y - 1.0);
    let (trajectory, report) = run(m.finish().unwrap(), &options(20.0));
    completed(&report);
    let get = |name: &str| trajectory.signal(name).unwrap().values.to_vec();
    let (xs, ys, vxs, vys) = (get("x"), get("y"), get("vx"), get("vy"));
    for i in 0..xs.len() {
        assert!((xs[i] * xs[i] + ys[i] * ys[i] - 1.0).abs() < 1e-9);
        assert!((0.5 * (vxs[i] * vxs[i] + vys[i] * vys[i]) + 9.81 * ys[i]).abs() < 1e-5);
    }
}

#[test]
fn a_gear_shift_conserves_momentum() {
    let m = Builder::new("GearShift");
    let (j1, j2) = (1.0, 2.0);
    let (w1, w2, t1, t2) = (m.guess("w1", 2.0), m.guess("w2", 1.0), m.unknown("t1"), m.unknown("t2"));
    let g = m.discrete("g", saltus_mdae::Type::Boolean, 0.0);
    m.define(&g, &m.time().gt(&m.real(1.0)));
    let ratio = g.if_else(&m.real(3.0), &m.real(2.0));
    m.equation("a", j1 * w1.der() + &t1);
    m.equation("b", j2 * w2.der() - &t2);
    m.equation("r", &w1 - &ratio * &w2);
    m.equation("t", &t2 - &ratio * &t1);
    let (trajectory, report) = run(m.finish().unwrap(), &options(2.0));
    completed(&report);
    // j1 (w1⁺ − 2) = −P, j2 (w2⁺ − 1) = 3 P, w1⁺ = 3 w2⁺
    let p = -1.0 / 5.5;
    assert!(
        (last(&trajectory, "w1") - (2.0 - p)).abs() < 1e-9,
        "{}",
        last(&trajectory, "w1")
    );
    assert!(
        (last(&trajectory, "w2") - (1.0 + 1.5 * p)).abs() < 1e-9,
        "{}",
        last(&trajectory, "w2")
    );
}

#[test]
fn a_gear_shift_with_a_named_ratio_uses_the_new_ratio() {
    let m = Builder::new("NamedRatio");
    let (w1, w2, tau) = (m.guess("w1", 9.0), m.guess("w2", 3.0), m.unknown("tau"));
    let ratio = m.unknown("ratio");
    let second = m.time().ge(&m.real(1.0));
    m.equation("ratio", &ratio - second.if_else(&m.real(2.0), &m.real(3.0)));
    m.equation("a", 1.0 * w1.der() + &tau);
    m.equation("b", 5.0 * w2.der() - &ratio * &tau);
    m.equation("r", &w1 - &ratio * &w2);
    let (trajectory, report) = run(m.finish().unwrap(), &options(2.0));
    completed(&report);
    // w1⁺ − 9 = −P, 5 (w2⁺ − 3) = 2 P, w1⁺ = 2 w2⁺
    let p = 15.0 / 9.0;
    assert!(
        (last(&trajectory, "w1") - (9.0 - p)).abs() < 1e-9,
        "{}",
        last(&trajectory, "w1")
    );
    assert!(
        (last(&trajectory, "w2") - (9.0 - p) / 2.0).abs() < 1e-9,
        "{}",
        last(&trajectory, "w2")
    );
}

#[test]
fn a_surface_that_attracts_from_both_sides_is_called_chattering() {
    let m = Builder::new("Chattering");
    let x = m.state("x", 1.0);
    let positive = x.gt(&m.real(0.0));
    m.equation("dx", x.der() - positive.if_else(&m.real(-1.0), &m.real(1.0)));
    let (_, report) = run(m.finish().unwrap(), &options(2.0));
    let failure = report.outcome.unwrap_err();
    assert!(
        matches!(failure.kind, saltus_simulate::FailureKind::Chattering { .. }),
        "{failure}"
    );
    assert!((failure.time.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn sampled_control_acts_at_every_tick() {
    let m = Builder::new("Sampled");
    let x = m.state("x", 0.0);
    let n = m.discrete("n", saltus_mdae::Type::Integer, 0.0);
    m.equation("dx", x.der() - 1.0);
    let tick = m.discrete("tick", saltus_mdae::Type::Boolean, 0.0);
    m.define(&tick, &m.sample(0.0, 0.25));
    m.assign_when(&tick, &n, &(n.pre() + 1.0));
    let (trajectory, report) = run(m.finish().unwrap(), &options(1.0));
    completed(&report);
    assert_eq!(last(&trajectory, "n"), 5.0);
}
