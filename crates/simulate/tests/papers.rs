//! Systems of the papers, stated through the builder, against reference values.

use saltus_mdae::{Builder, Mdae};
use saltus_results::Trajectory;
use saltus_simulate::{Compiled, Options, Request, RunReport, Unobserved, simulate};

fn run(model: Mdae, options: &Options) -> (Trajectory, RunReport) {
    let compiled = Compiled::new(model).unwrap();
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
