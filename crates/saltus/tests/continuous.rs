//! Continuous models against solutions found another way: the physics, not the program, says what is right.
//!
//! More of them, with their references in the headers, are among the examples.

use saltus::{Method, Model, Session, Simulation};

fn compiled(text: &str, settings: &[(&str, &str)]) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().unwrap();
    let settings: Vec<(String, String)> = settings.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect();
    session.compile_with(&name, &settings).into_result().unwrap().0
}

fn last(simulation: &Simulation, name: &str) -> f64 {
    *simulation.values(name).unwrap().last().unwrap()
}

const PENDULUM: &str = include_str!("../../../examples/mechanics/Pendulum.mo");
/// x, y at a time, from elliptic functions with 40 digits: `pendulum_90` of the reference data.
const AT_50: [f64; 2] = [0.9322909986876014, -0.361709128673959];
const AT_1000: [f64; 2] = [-0.683230188552315, -0.730203060422762];

fn pendulum(method: Method, tolerance: f64, stop: f64) -> Simulation {
    let model = compiled(PENDULUM, &[]);
    let run = model
        .run()
        .stop(stop)
        .interval(stop / 200.0)
        .tolerance(tolerance)
        .solver(method);
    run.simulate().unwrap()
}

fn position_error(simulation: &Simulation, expected: [f64; 2]) -> f64 {
    (last(simulation, "x") - expected[0]).hypot(last(simulation, "y") - expected[1])
}

/// The largest violations of the constraint on positions and of the one on velocities.
fn violations(simulation: &Simulation) -> (f64, f64) {
    let [x, y, vx, vy] = ["x", "y", "vx", "vy"].map(|name| simulation.values(name).unwrap());
    let rows = 0..x.len();
    let largest = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).fold(0.0, f64::max);
    (
        largest(&mut rows.clone().map(|k| x[k] * x[k] + y[k] * y[k] - 1.0)),
        largest(&mut rows.map(|k| x[k] * vx[k] + y[k] * vy[k])),
    )
}

/// 21 periods of the pendulum of index 3, through every angle between ±90 degrees.
#[test]
fn a_pendulum_is_where_elliptic_functions_say() {
    let automatic = pendulum(Method::Auto, 1e-8, 50.0);
    assert!(position_error(&automatic, AT_50) < 1e-4);
    assert!(position_error(&pendulum(Method::Bdf, 1e-8, 50.0), AT_50) < 1e-3);
    let errors = [1e-5, 1e-7, 1e-9].map(|tolerance| position_error(&pendulum(Method::Auto, tolerance, 50.0), AT_50));
    assert!(errors[0] > 4.0 * errors[1] && errors[1] > 4.0 * errors[2], "{errors:?}");
    assert!(errors[2] < 1e-5, "{errors:?}");
}

/// The constraint does not drift, whatever the method and however loose the tolerance.
#[test]
fn a_pendulum_stays_on_its_circle() {
    for method in [
        Method::Auto,
        Method::Bdf,
        Method::Radau,
        Method::Esdirk43,
        Method::Tsit45,
    ] {
        let (position, velocity) = violations(&pendulum(method, 1e-5, 30.0));
        assert!(
            position < 1e-9 && velocity < 1e-9,
            "{method}: {position:e}, {velocity:e}"
        );
    }
    let long = pendulum(Method::Auto, 1e-8, 1000.0);
    let (position, velocity) = violations(&long);
    assert!(position < 1e-9 && velocity < 1e-9, "{position:e}, {velocity:e}");
    assert!(position_error(&long, AT_1000) < 1e-2);
    let (vx, vy, y) = (last(&long, "vx"), last(&long, "vy"), last(&long, "y"));
    let energy = 0.5 * (vx * vx + vy * vy) + 9.81 * y;
    assert!(energy.abs() < 1e-4, "the energy was zero and is {energy:e}");
}

/// Exact Jacobians: an implicit method needs no evaluations of the equations for them.
#[test]
fn jacobians_cost_no_evaluations() {
    let chain = "model Chain
        parameter Integer n = 40;
        Real x[n](each start = 1, each fixed = true);
      equation
        der(x[1]) = -x[1]^3;
        for k in 2:n loop
          der(x[k]) = 100*(x[k - 1] - x[k]) - x[k]^3;
        end for;
      end Chain;";
    for dense in [true, false] {
        let model = compiled(chain, &[("n", if dense { "8" } else { "40" })]);
        let simulation = model.run().solver(Method::Radau).tolerance(1e-6).simulate().unwrap();
        let counters = simulation.summary.report.counters;
        // Three stages in each iteration, and three more where a step begins or is estimated again.
        let most = 3 * counters.newton_iterations + 3 * (counters.steps + counters.rejected_steps) + 3;
        assert!(counters.jacobians > 0 && counters.evaluations <= most, "{counters:?}");
        let x = last(&simulation, "x[1]");
        assert!((x - 1.0 / 3.0_f64.sqrt()).abs() < 1e-5, "{x}");
    }
}

/// Where f has no derivative an implicit method still finds its way: a tank that runs empty by a square root.
#[test]
fn a_derivative_that_is_infinite_does_not_stop_a_run() {
    let model = compiled(
        "model Tank
           Real h(start = 0, fixed = true);
         equation
           der(h) = 1 - sqrt(h);
         end Tank;",
        &[],
    );
    for method in [Method::Radau, Method::Bdf, Method::Esdirk43, Method::Auto] {
        let simulation = model.run().stop(3.0).solver(method).tolerance(1e-7).simulate().unwrap();
        // With s = √h: t = −2·s − 2·ln(1 − s).
        let s = last(&simulation, "h").sqrt();
        let time = -2.0 * s - 2.0 * (1.0 - s).ln();
        assert!((time - 3.0).abs() < 1e-4, "{method}: {time}");
    }
}

/// x' = −a·x(t − 1) with x = 1 before the start: by steps x(t) = Σ (−a)^k·(t − k + 1)^k/k! over k ≤ t + 1.
fn delayed_decay(a: f64, t: f64) -> f64 {
    let mut sum = 1.0;
    let (mut power, mut factorial) = (1.0, 1.0);
    let mut k = 1.0;
    while k <= t + 1.0 {
        power *= -a;
        factorial *= k;
        sum += power * (t - k + 1.0_f64).powi(k as i32) / factorial;
        k += 1.0;
    }
    sum
}

#[test]
fn delays_are_as_exact_as_the_tolerance() {
    let model = compiled(
        "model Delayed
           parameter Real a = 1.3;
           Real x(start = 1, fixed = true);
         equation
           der(x) = -a*delay(x, 1);
         end Delayed;",
        &[],
    );
    for method in [Method::Auto, Method::Radau, Method::Bdf] {
        for tolerance in [1e-4, 1e-7, 1e-9] {
            let run = model.run().stop(7.3).interval(0.1).solver(method).tolerance(tolerance);
            let simulation = run.simulate().unwrap();
            let (time, x) = (simulation.time(), simulation.values("x").unwrap());
            let errors = time.iter().zip(&*x).map(|(&t, x)| (x - delayed_decay(1.3, t)).abs());
            let worst = errors.fold(0.0, f64::max);
            // Errors of the past are carried on and grow with the oscillation.
            let allowed = if method == Method::Bdf { 1e3 } else { 100.0 } * tolerance;
            assert!(worst < allowed, "{method} {tolerance:e}: {worst:e}");
        }
    }
}

#[test]
fn delayed_signals_of_every_kind() {
    let model = compiled(
        "model Signals
           Real wave = delay(sin(10*time), 0.3);
           Real step = delay(if time >= 0.25 then 2.0 else 0.0, 0.5);
           Real area(start = 0, fixed = true);
           Real late(start = 0, fixed = true);
         equation
           der(area) = step;
           der(late) = delay(area, 0.1);
         end Signals;",
        &[],
    );
    let simulation = model.run().stop(1.5).interval(0.01).tolerance(1e-8).simulate().unwrap();
    let (time, wave) = (simulation.time(), simulation.values("wave").unwrap());
    for (&t, wave) in time.iter().zip(&*wave) {
        let expected = if t > 0.3 { (10.0 * (t - 0.3)).sin() } else { 0.0 };
        assert!((wave - expected).abs() < 1e-7, "{t}: {wave} {expected}");
    }
    // The jump arrives at 0.75, with a row before and a row after it.
    let step = simulation.values("step").unwrap();
    let at: Vec<f64> = (0..time.len())
        .filter(|&k| (time[k] - 0.75).abs() < 1e-12)
        .map(|k| step[k])
        .collect();
    assert_eq!(at, [0.0, 2.0]);
    assert!((last(&simulation, "area") - 1.5).abs() < 1e-7);
    assert!((last(&simulation, "late") - 0.65 * 0.65).abs() < 1e-7);
}

/// Twelve differentiations of a given signal: (D + 1)^12 sin t = −64·sin t.
#[test]
fn derivatives_of_any_order_have_room() {
    let model = compiled(
        "model High
           Real x[13];
         equation
           x[1] = sin(time);
           for k in 1:12 loop
             x[k + 1] = der(x[k]) + x[k];
           end for;
         end High;",
        &[],
    );
    let simulation = model.run().stop(1.0).interval(0.1).simulate().unwrap();
    let (time, x) = (simulation.time(), simulation.values("x[13]").unwrap());
    for (&t, x) in time.iter().zip(&*x) {
        assert!((x + 64.0 * t.sin()).abs() < 1e-9, "{t}: {x}");
    }
}

/// Parameters found by initial equations are in the results.
#[test]
fn solved_parameters_have_their_values() {
    let model = compiled(
        "model P
           parameter Real k(fixed = false, start = 1);
           Real x(start = 2, fixed = true);
         initial equation
           der(x) = -6;
         equation
           der(x) = -k*x;
         end P;",
        &[],
    );
    let simulation = model.run().stop(0.1).simulate().unwrap();
    assert!((last(&simulation, "k") - 3.0).abs() < 1e-9);
}
