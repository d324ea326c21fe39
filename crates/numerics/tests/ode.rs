//! Integrators on problems with known solutions: orders, accuracy, work, restarts, failures, stop times.

mod common;

use common::*;
use saltus_numerics::EvalError;
use saltus_numerics::ode::{
    IntegrationError, IntegratorOptions, Method, OdeSystem, Replacement, Start, StepFailure, new_integrator,
};
use saltus_testing::Random;

const METHODS: [Method; 6] = [
    Method::Auto,
    Method::Bdf,
    Method::Esdirk43,
    Method::Radau,
    Method::Tsit45,
    Method::Dop853,
];

#[test]
fn every_method_follows_the_oscillator_within_a_multiple_of_the_tolerance() {
    for method in METHODS {
        for rtol in [1e-4, 1e-6, 1e-8] {
            let mut system = oscillator();
            let run = integrate(
                method,
                IntegratorOptions::new(rtol, rtol),
                &mut system,
                &[1.0, 0.0],
                10.0,
            );
            let error = (run.state()[0] - 10f64.cos()).abs();
            let allowed = if method == Method::Bdf { 2000.0 } else { 100.0 };
            assert!(error < allowed * rtol, "{method} at {rtol}: error {error:e}");
        }
    }
}

#[test]
fn errors_shrink_with_the_tolerance() {
    for method in METHODS {
        let error_at = |rtol: f64| {
            let mut system = oscillator();
            let run = integrate(
                method,
                IntegratorOptions::new(rtol, rtol),
                &mut system,
                &[1.0, 0.0],
                20.0,
            );
            (run.state()[0] - 20f64.cos()).abs().max(1e-14)
        };
        let (loose, tight) = (error_at(1e-4), error_at(1e-8));
        assert!(tight < 1e-2 * loose, "{method}: {loose:e} then {tight:e}");
    }
}

/// Order seen from two fixed step sizes, at the end and in the middle of steps.
fn observed_orders(method: Method, h: f64) -> (f64, f64) {
    let errors = |h: f64| {
        let mut system = oscillator();
        let options = IntegratorOptions {
            max_step: h,
            ..IntegratorOptions::new(1e-2, 1e3)
        };
        let mut run = new_integrator(method, options).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0, 0.0]).with_step(h))
            .unwrap();
        let (mut dense, mut y) = (0.0f64, [0.0; 2]);
        while run.time() < 2.0 {
            let step = run.step(&mut system, 2.0).unwrap();
            for theta in [0.25, 0.5, 0.75] {
                let t = step.t_old + theta * (step.t - step.t_old);
                run.interpolate(t, &mut y);
                dense = dense.max((y[0] - t.cos()).abs());
            }
        }
        ((run.state()[0] - 2f64.cos()).abs(), dense)
    };
    let (coarse, fine) = (errors(h), errors(h / 2.0));
    ((coarse.0 / fine.0).log2(), (coarse.1 / fine.1).log2())
}

#[test]
fn fixed_steps_show_the_orders_of_the_methods_and_of_their_dense_output() {
    for (method, h, order, dense_order) in [
        (Method::Tsit45, 0.2, 5.0, 4.0),
        (Method::Dop853, 0.5, 8.0, 7.0),
        (Method::Esdirk43, 0.1, 4.0, 4.0),
        (Method::Radau, 0.2, 5.0, 3.9),
    ] {
        let (end, dense) = observed_orders(method, h);
        assert!(end > order - 0.5, "{method}: order {end:.2}");
        assert!(dense > dense_order - 0.5, "{method}: dense order {dense:.2}");
    }
}

#[test]
fn dense_output_is_as_accurate_as_the_steps() {
    for method in METHODS {
        let rtol = 1e-7;
        let mut system = oscillator();
        let mut run = new_integrator(method, IntegratorOptions::new(rtol, rtol)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0, 0.0])).unwrap();
        let (mut y, mut dy) = ([0.0; 2], [0.0; 2]);
        let (mut value, mut slope) = (0.0f64, 0.0f64);
        while run.time() < 10.0 {
            let step = run.step(&mut system, 10.0).unwrap();
            for k in 0..=10 {
                let t = step.t_old + f64::from(k) / 10.0 * (step.t - step.t_old);
                run.interpolate(t, &mut y);
                run.interpolate_derivative(t, &mut dy);
                value = value.max((y[0] - t.cos()).abs());
                slope = slope.max((dy[0] + t.sin()).abs());
            }
        }
        let allowed = if method == Method::Bdf { 3000.0 } else { 300.0 };
        assert!(value < allowed * rtol, "{method}: values off by {value:e}");
        assert!(slope < 100.0 * allowed * rtol, "{method}: slopes off by {slope:e}");
    }
}

#[test]
fn dense_output_joins_the_steps() {
    for method in METHODS {
        let mut system = van_der_pol(5.0);
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-8)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[2.0, 0.0])).unwrap();
        let mut previous = run.state().to_vec();
        let mut y = [0.0; 2];
        for _ in 0..200 {
            let step = run.step(&mut system, 1e3).unwrap();
            run.interpolate(step.t_old, &mut y);
            assert!((y[0] - previous[0]).abs() < 1e-8, "{method}");
            run.interpolate(step.t, &mut y);
            assert!((y[0] - run.state()[0]).abs() < 1e-10, "{method}");
            previous.copy_from_slice(run.state());
        }
    }
}

#[test]
fn stiff_reaction_kinetics_agree_with_the_reference() {
    // Robertson at t = 4e4·0.01 = 400: values computed with Radau IIA at 1e-14 in the literature.
    let reference = [4.505_186_6e-1, 3.222_964e-6, 5.494_781e-1];
    for method in [Method::Bdf, Method::Esdirk43, Method::Radau, Method::Auto] {
        let mut system = robertson();
        let options = IntegratorOptions::new(1e-7, vec![1e-10, 1e-13, 1e-10]);
        let run = integrate(method, options, &mut system, &[1.0, 0.0, 0.0], 400.0);
        for (y, expected) in run.state().iter().zip(reference) {
            assert!(
                (y - expected).abs() < 2e-5 * expected,
                "{method}: {y} instead of {expected}"
            );
        }
    }
}

#[test]
fn automatic_choice_detects_stiffness_and_its_end() {
    let mut system = van_der_pol(1000.0);
    let run = integrate(
        Method::Auto,
        IntegratorOptions::new(1e-6, 1e-8),
        &mut system,
        &[2.0, 0.0],
        1500.0,
    );
    assert!(run.counters().method_switches >= 1);
    assert_eq!(run.method(), Method::Radau);
    assert!(run.counters().steps < 2000, "{:?}", run.counters());

    let mut fading = fading_stiffness();
    let run = integrate(
        Method::Auto,
        IntegratorOptions::new(1e-6, 1e-8),
        &mut fading,
        &[1.0],
        200.0,
    );
    assert_eq!(run.counters().method_switches, 2);
    assert_eq!(run.method(), Method::Tsit45);
    assert!((run.state()[0] - 200f64.cos()).abs() < 1e-4);

    let mut mild = oscillator();
    let run = integrate(
        Method::Auto,
        IntegratorOptions::new(1e-6, 1e-8),
        &mut mild,
        &[1.0, 0.0],
        100.0,
    );
    assert_eq!(run.counters().method_switches, 0);
    assert_eq!(run.method(), Method::Tsit45);
}

/// At tight tolerances the error of a fast source limits steps before stability does, again and again; between its pulses an
/// implicit method gets much further. Where it does not, trials are in vain and leave no trace.
#[test]
fn automatic_choice_tries_where_steps_linger() {
    let mut random = Random(5);
    for _ in 0..20 {
        let (rate, part) = (random.power(3.0, 5.0), random.between(0.1, 0.4));
        // A fast decay that is stirred now and then, beside a slow motion.
        let mut stirred = Closure::new(2, move |t: f64, y: &[f64], dy: &mut [f64]| {
            let source = 1.0 + 1e-3 * (part * rate * t).sin().powi(8);
            dy[0] = -rate * (y[0] - source * y[1].cos());
            dy[1] = 1.0;
            Ok(())
        });
        let options = IntegratorOptions::new(1e-6, 1e-9);
        let auto = integrate(Method::Auto, options.clone(), &mut stirred, &[1.0, 0.0], 1.0);
        let explicit = integrate(Method::Tsit45, options, &mut stirred, &[1.0, 0.0], 1.0);
        assert!((auto.state()[0] - explicit.state()[0]).abs() < 1e-3, "{rate} {part}");
        let (tried, plain) = (auto.counters().rhs, explicit.counters().rhs);
        assert!(
            tried as f64 <= 1.1 * plain as f64,
            "{rate} {part}: {tried} against {plain}"
        );
    }
}

/// Stiff until t = 1, then not.
fn fading_stiffness() -> impl OdeSystem {
    Closure::new(1, |t: f64, y: &[f64], dy: &mut [f64]| {
        let rate = if t < 1.0 { 1e4 } else { 0.1 };
        dy[0] = -rate * (y[0] - t.cos()) - t.sin();
        Ok(())
    })
}

#[test]
fn a_jacobian_that_has_become_far_too_large_is_noticed() {
    for method in METHODS {
        let mut system = fading_stiffness();
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-8)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0])).unwrap();
        while run.time() < 20.0 {
            run.step(&mut system, 20.0).unwrap();
            let error = (run.state()[0] - run.time().cos()).abs();
            // The step across the jump itself is judged by the stiff side; without the check the error is of order one.
            assert!(error < 2e-3, "{method} at {}: {error:e}", run.time());
        }
    }
}

#[test]
fn stop_time_is_hit_exactly_and_never_passed() {
    for method in METHODS {
        let stop = 0.1 + 0.2;
        let mut latest = f64::NEG_INFINITY;
        let mut system = Closure::new(1, |t: f64, y: &[f64], dy: &mut [f64]| {
            latest = latest.max(t);
            dy[0] = -y[0];
            Ok(())
        });
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-9)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0])).unwrap();
        loop {
            let step = run.step(&mut system, stop).unwrap();
            if step.at_stop {
                break;
            }
        }
        assert_eq!(run.time(), stop);
        let error = run.step(&mut system, stop).unwrap_err();
        assert!(matches!(error, IntegrationError::AtStop { .. }));
        // Going on afterwards needs no restart.
        run.step(&mut system, 2.0 * stop).unwrap();
        assert!(latest <= 2.0 * stop, "{method} evaluated at {latest}");
    }
}

#[test]
fn a_step_far_below_the_stop_time_does_not_overshoot_it() {
    for method in METHODS {
        let stop = 1e-9;
        let mut system = Closure::new(1, move |t: f64, _: &[f64], dy: &mut [f64]| {
            assert!(t <= stop);
            dy[0] = 1.0;
            Ok(())
        });
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-9)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0]).with_step(1.0))
            .unwrap();
        let step = run.step(&mut system, stop).unwrap();
        assert!(step.at_stop && step.t == stop);
    }
}

#[test]
fn a_right_hand_side_that_fails_beyond_a_border_only_shortens_steps() {
    // y' = −√y reaches zero at t = 2; negative trial points fail.
    for method in METHODS {
        for says_so in [true, false] {
            let mut system = Closure::new(1, move |_t: f64, y: &[f64], dy: &mut [f64]| {
                if says_so && y[0] < 0.0 {
                    return Err(EvalError::recoverable("square root of a negative number").at(0));
                }
                dy[0] = -y[0].sqrt();
                Ok(())
            });
            let run = integrate(method, IntegratorOptions::new(1e-6, 1e-9), &mut system, &[1.0], 1.99);
            let exact = (1.0f64 - 0.5 * 1.99).powi(2);
            assert!((run.state()[0] - exact).abs() < 1e-5, "{method}: {}", run.state()[0]);
        }
    }
}

#[test]
fn purely_absolute_and_purely_relative_tolerances_work() {
    for method in METHODS {
        for (rtol, atol) in [(0.0, 1e-6), (1e-6, 0.0)] {
            let mut system = Closure::new(1, |_t: f64, y: &[f64], dy: &mut [f64]| {
                dy[0] = -y[0];
                Ok(())
            });
            let run = integrate(method, IntegratorOptions::new(rtol, atol), &mut system, &[1.0], 5.0);
            assert!(
                (run.state()[0] - (-5f64).exp()).abs() < 1e-4,
                "{method}: {}",
                run.state()[0]
            );
        }
    }
}

#[test]
fn nothing_happening_for_ever_keeps_time_finite() {
    for method in METHODS {
        let mut system = Closure::new(1, |_: f64, _: &[f64], dy: &mut [f64]| {
            dy[0] = 0.0;
            Ok(())
        });
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-6)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0])).unwrap();
        for _ in 0..500 {
            run.step(&mut system, f64::INFINITY).unwrap();
        }
        assert!(run.time().is_finite() && run.state()[0] == 1.0, "{method}");
    }
}

#[test]
fn a_persistent_failure_is_carried_in_the_error() {
    for method in METHODS {
        let mut system = Closure::new(1, |t: f64, _: &[f64], dy: &mut [f64]| {
            if t > 0.5 {
                return Err(EvalError::recoverable("past the end of the table").at(0));
            }
            dy[0] = 1.0;
            Ok(())
        });
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-9)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[0.0])).unwrap();
        let error = loop {
            if let Err(error) = run.step(&mut system, 1.0) {
                break error;
            }
        };
        match error {
            IntegrationError::StepTooSmall {
                t,
                cause: StepFailure::Evaluation(e),
                ..
            } => {
                assert!((t - 0.5).abs() < 1e-9, "{method} stopped at {t}");
                assert_eq!(e.message, "past the end of the table");
            }
            other => panic!("{method}: {other}"),
        }
        // A fatal failure ends at once.
        let mut fatal = Closure::new(1, |_: f64, _: &[f64], _: &mut [f64]| Err(EvalError::fatal("no")));
        let error = run.restart(&mut fatal, &Start::at(0.0, &[0.0])).unwrap_err();
        assert!(matches!(error, IntegrationError::Evaluation { .. }));
    }
}

#[test]
fn blow_up_ends_with_an_error_not_a_hang() {
    for method in METHODS {
        let mut system = Closure::new(1, |_t: f64, y: &[f64], dy: &mut [f64]| {
            dy[0] = y[0] * y[0];
            Ok(())
        });
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-9)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0])).unwrap();
        let mut steps = 0;
        while run.step(&mut system, 2.0).is_ok() && run.time() < 2.0 {
            steps += 1;
            assert!(steps < 20_000, "{method} does not end");
        }
        assert!((run.time() - 1.0).abs() < 1e-2, "{method} stopped at {}", run.time());
    }
}

#[test]
fn restart_with_step_and_derivative_costs_no_evaluation() {
    for method in METHODS {
        let mut system = oscillator();
        let mut run = integrate(
            method,
            IntegratorOptions::new(1e-6, 1e-8),
            &mut system,
            &[1.0, 0.0],
            1.0,
        );
        let before = run.counters();
        let y = [0.3, -0.2];
        let start = Start {
            keep_jacobian: true,
            ..Start::at(1.0, &y).with_derivative(&[-0.2, -0.3]).with_step(1e-3)
        };
        run.restart(&mut system, &start).unwrap();
        assert_eq!(run.counters().rhs, before.rhs, "{method}");
        run.step(&mut system, 2.0).unwrap();
        assert_eq!(run.counters().jacobians, before.jacobians, "{method}");
        assert!(run.counters().rhs - before.rhs <= 16, "{method}: {:?}", run.counters());
    }
}

#[test]
fn small_replacements_are_absorbed_and_large_ones_restart() {
    for method in METHODS {
        let mut system = oscillator();
        let mut run = new_integrator(method, IntegratorOptions::new(1e-6, 1e-6)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0, 0.0])).unwrap();
        let mut y = [0.0; 2];
        while run.time() < 10.0 {
            run.step(&mut system, 10.0).unwrap();
            let radius = run.state().iter().map(|v| v * v).sum::<f64>().sqrt();
            y.iter_mut().zip(run.state()).for_each(|(y, s)| *y = s / radius);
            run.replace_state(&mut system, &y).unwrap();
        }
        // Projected onto the circle, only the phase is in error.
        assert!((run.state()[0].hypot(run.state()[1]) - 1.0).abs() < 1e-12);
        assert!(
            (run.state()[0] - 10f64.cos()).abs() < 2e-3,
            "{method}: {}",
            run.state()[0]
        );
        let far = [5.0, 5.0];
        assert_eq!(run.replace_state(&mut system, &far).unwrap(), Replacement::Restarted);
        run.step(&mut system, 11.0).unwrap();
    }
}

#[test]
fn projection_leaves_the_work_of_bdf_as_it_was() {
    let steps = |project: bool| {
        let mut system = oscillator();
        let mut run = new_integrator(Method::Bdf, IntegratorOptions::new(1e-6, 1e-6)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0, 0.0])).unwrap();
        while run.time() < 10.0 {
            run.step(&mut system, 10.0).unwrap();
            if project {
                let radius = run.state()[0].hypot(run.state()[1]);
                let y = [run.state()[0] / radius, run.state()[1] / radius];
                run.replace_state(&mut system, &y).unwrap();
            }
        }
        run.counters().steps
    };
    let (plain, projected) = (steps(false), steps(true));
    assert!(projected < plain + plain / 2, "{plain} steps become {projected}");
}

#[test]
fn sparse_and_dense_jacobians_and_all_sources_agree() {
    let n = 60;
    let reference = {
        let mut system = HeatEquation::new(n, Source::Values);
        let y = system.start();
        let run = integrate(Method::Radau, IntegratorOptions::new(1e-9, 1e-11), &mut system, &y, 0.1);
        run.state().to_vec()
    };
    for method in [Method::Bdf, Method::Esdirk43, Method::Radau, Method::Auto] {
        for source in [Source::Values, Source::Differences, Source::DenseDifferences] {
            let mut system = HeatEquation::new(n, source);
            let y = system.start();
            let run = integrate(method, IntegratorOptions::new(1e-6, 1e-8), &mut system, &y, 0.1);
            let error = largest_difference(run.state(), &reference);
            assert!(error < 1e-4, "{method} {source:?}: {error:e}");
            if source == Source::Differences && method == Method::Bdf {
                // Three colours for a tridiagonal matrix, and one evaluation at the point itself.
                let c = run.counters();
                assert!(c.rhs <= c.newton_iterations + 4 * c.jacobians + 3, "{c:?}");
            }
        }
    }
}

#[test]
fn work_is_pinned() {
    let work = |method| {
        let mut system = van_der_pol(100.0);
        let run = integrate(
            method,
            IntegratorOptions::new(1e-6, 1e-8),
            &mut system,
            &[2.0, 0.0],
            100.0,
        );
        let c = run.counters();
        (c.steps, c.rejected, c.rhs, c.jacobians, c.factorisations)
    };
    let measured = [Method::Bdf, Method::Esdirk43, Method::Radau].map(work);
    assert_eq!(
        measured,
        [
            (480, 13, 1384, 56, 129),
            (160, 30, 3219, 44, 146),
            (200, 0, 1809, 55, 306)
        ]
    );
}

#[test]
fn runs_are_reproducible_to_the_bit() {
    for method in METHODS {
        let run = || {
            let mut system = van_der_pol(50.0);
            let run = integrate(
                method,
                IntegratorOptions::new(1e-5, 1e-7),
                &mut system,
                &[2.0, 0.0],
                20.0,
            );
            (
                run.state().iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
                run.counters(),
            )
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn the_pendulum_keeps_its_phase_over_twenty_periods() {
    // φ'' = −9.81 sin φ from 60 degrees; the period from the arithmetic-geometric mean.
    let amplitude = 60f64.to_radians();
    let period = {
        let (mut a, mut b) = (1.0, (amplitude / 2.0).cos());
        for _ in 0..10 {
            (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
        }
        2.0 * std::f64::consts::PI * (1.0 / 9.81f64).sqrt() / a
    };
    for (method, allowed) in [
        (Method::Auto, 1e-5),
        (Method::Radau, 1e-4),
        (Method::Esdirk43, 1e-4),
        (Method::Bdf, 1e-3),
    ] {
        let mut system = Closure::new(2, |_t: f64, y: &[f64], dy: &mut [f64]| {
            dy[0] = y[1];
            dy[1] = -9.81 * y[0].sin();
            Ok(())
        });
        let run = integrate(
            method,
            IntegratorOptions::new(1e-8, 1e-8),
            &mut system,
            &[amplitude, 0.0],
            20.0 * period,
        );
        let error = (run.state()[0].sin() - amplitude.sin()).abs();
        let position = error.max((run.state()[0].cos() - amplitude.cos()).abs());
        // At the turning point the position is second order in the phase, so the velocity is tested as well.
        assert!(
            position < allowed && run.state()[1].abs() < 10.0 * allowed,
            "{method}: {position:e} {:e}",
            run.state()[1]
        );
    }
}

#[test]
fn bad_input_is_refused() {
    assert!(new_integrator(Method::Bdf, IntegratorOptions::new(f64::NAN, 1e-6)).is_err());
    assert!(new_integrator(Method::Bdf, IntegratorOptions::new(1e-3, -1.0)).is_err());
    let no_step = IntegratorOptions {
        max_step: 0.0,
        ..IntegratorOptions::new(1e-3, 1e-3)
    };
    assert!(new_integrator(Method::Bdf, no_step).is_err());
    let mut system = oscillator();
    for method in METHODS {
        let mut run = new_integrator(method, IntegratorOptions::new(1e-3, vec![1e-3])).unwrap();
        assert!(matches!(run.step(&mut system, 1.0), Err(IntegrationError::NotStarted)));
        let error = run.restart(&mut system, &Start::at(0.0, &[1.0, 0.0])).unwrap_err();
        assert!(matches!(error, IntegrationError::WrongLength { .. }));
        let mut run = new_integrator(method, IntegratorOptions::new(1e-3, 1e-3)).unwrap();
        assert!(run.restart(&mut system, &Start::at(0.0, &[1.0])).is_err());
        assert!(run.restart(&mut system, &Start::at(f64::NAN, &[1.0, 0.0])).is_err());
        assert!(
            run.restart(&mut system, &Start::at(0.0, &[1.0, f64::INFINITY]))
                .is_err()
        );
    }
    assert_eq!("DASSL".parse(), Ok(Method::Bdf));
    assert!("magic".parse::<Method>().unwrap_err().to_string().contains("dop853"));
}

#[test]
fn a_system_without_states_advances_to_the_stop_time() {
    for method in METHODS {
        let mut system = Closure::new(0, |_: f64, _: &[f64], _: &mut [f64]| Ok(()));
        let run = integrate(method, IntegratorOptions::new(1e-6, 1e-8), &mut system, &[], 1.0);
        assert_eq!(run.time(), 1.0);
        assert!(run.counters().steps < 100, "{method}");
    }
}

#[test]
fn dimensions_may_change_at_a_restart() {
    for method in METHODS {
        let mut small = oscillator();
        let mut run = integrate(method, IntegratorOptions::new(1e-6, 1e-8), &mut small, &[1.0, 0.0], 1.0);
        let mut large = robertson();
        run.restart(&mut large, &Start::at(1.0, &[1.0, 0.0, 0.0])).unwrap();
        for _ in 0..5 {
            run.step(&mut large, 2.0).unwrap();
        }
        assert_eq!(run.state().len(), 3);
        assert!((run.state().iter().sum::<f64>() - 1.0).abs() < 1e-6);
        run.restart(&mut small, &Start::at(0.0, &[1.0, 0.0])).unwrap();
        run.step(&mut small, 2.0).unwrap();
        let _: &dyn OdeSystem = &small;
    }
}

#[test]
fn random_linear_systems_agree_among_all_methods() {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]);
    let config = Config {
        cases: 25,
        failure_persistence: None,
        ..Config::default()
    };
    // A stable matrix with time constants from 1 down to 1e-4.
    let strategy = (
        prop::collection::vec(-1.0..1.0f64, 9),
        prop::collection::vec(0.0..4.0f64, 3),
    );
    TestRunner::new_with_rng(config, rng)
        .run(&strategy, |(a, rates)| {
            let f = |t: f64, y: &[f64], dy: &mut [f64]| {
                for i in 0..3 {
                    let coupling: f64 = (0..3).map(|j| a[3 * i + j] * y[j]).sum();
                    dy[i] = 0.5 * coupling - 10f64.powf(rates[i]) * (y[i] - (t * (i + 1) as f64).sin());
                }
                Ok(())
            };
            let start = [1.0, -1.0, 0.5];
            let reference = integrate(
                Method::Radau,
                IntegratorOptions::new(1e-11, 1e-11),
                &mut Closure::new(3, f),
                &start,
                2.0,
            );
            for method in METHODS {
                let rtol = 1e-6;
                let run = integrate(
                    method,
                    IntegratorOptions::new(rtol, rtol),
                    &mut Closure::new(3, f),
                    &start,
                    2.0,
                );
                let error = largest_difference(run.state(), reference.state());
                prop_assert!(error < 300.0 * rtol, "{method}: {error:e}");
            }
            Ok(())
        })
        .unwrap();
}
