//! Newton, dogleg, continuation and projection.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::nonlinear::{
    ConstraintSystem, FailureReason, IterationKind, NewtonOptions, NewtonSolver, NonlinearSystem, ProjectionOptions,
    project, solve_newton,
};

struct Closure<F> {
    n: usize,
    f: F,
}

impl<F: FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>> NonlinearSystem for Closure<F> {
    fn dim(&self) -> usize {
        self.n
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        (self.f)(x, r)
    }
}

fn closure<F: FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>>(n: usize, f: F) -> Closure<F> {
    Closure { n, f }
}

#[test]
fn quadratic_convergence_on_a_smooth_problem() {
    let mut system = closure(2, |x, r| {
        r[0] = x[0] * x[0] + x[1] * x[1] - 4.0;
        r[1] = x[0] - x[1];
        Ok(())
    });
    let mut x = [1.0, 2.0];
    let report = solve_newton(&mut system, &mut x, &NewtonOptions::default()).unwrap();
    assert!((x[0] - 2f64.sqrt()).abs() < 1e-12);
    assert!(report.iterations <= 6 && !report.used_dogleg, "{report:?}");
}

#[test]
fn badly_scaled_unknowns_are_solved_with_nominal_values() {
    // Pressures of 1e5 and flows of 1e-6 in one system.
    let mut system = closure(2, |x, r| {
        r[0] = x[0] - 1e5 - 1e10 * x[1];
        r[1] = x[1] * x[1] * 1e12 + x[1] * 1e6 - 2.0 + (x[0] - 1e5) * 1e-9;
        Ok(())
    });
    let options = NewtonOptions {
        nominal: Some(vec![1e5, 1e-6]),
        ..NewtonOptions::default()
    };
    let mut x = [0.0, 0.0];
    solve_newton(&mut system, &mut x, &options).unwrap();
    let mut r = [0.0; 2];
    system.residual(&x, &mut r).unwrap();
    assert!(r[0].abs() < 1e-6 && r[1].abs() < 1e-12, "{r:?}");
    assert!(x[1] > 0.0);
}

#[test]
fn points_outside_the_domain_shorten_steps() {
    let mut system = closure(1, |x, r| {
        if x[0] <= 0.0 {
            return Err(EvalError::recoverable("logarithm of a number that is not positive").at(0));
        }
        r[0] = x[0].ln() + 3.0;
        Ok(())
    });
    let mut x = [5.0];
    solve_newton(&mut system, &mut x, &NewtonOptions::default()).unwrap();
    assert!((x[0] - (-3f64).exp()).abs() < 1e-12);
}

#[test]
fn bounds_lead_to_the_root_inside_and_are_only_hints() {
    let mut system = closure(1, |x, r| {
        r[0] = x[0] * x[0] - 1.0;
        Ok(())
    });
    let bounded = |lower, upper| NewtonOptions {
        bounds: Some(vec![(lower, upper)]),
        ..NewtonOptions::default()
    };
    let mut x = [-0.5];
    solve_newton(&mut system, &mut x, &bounded(-0.5, 10.0)).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-12, "{x:?}");
    let mut x = [3.0];
    solve_newton(&mut system, &mut x, &bounded(2.0, 10.0)).unwrap();
    assert!(
        (x[0].abs() - 1.0).abs() < 1e-12,
        "the root outside the bounds is found all the same"
    );
}

#[test]
fn the_trust_region_rescues_newton() {
    // Powell's badly scaled problem and the Freudenstein–Roth function's root from the usual starts.
    let mut freudenstein = closure(2, |x, r| {
        r[0] = -13.0 + x[0] + ((5.0 - x[1]) * x[1] - 2.0) * x[1];
        r[1] = -29.0 + x[0] + ((x[1] + 1.0) * x[1] - 14.0) * x[1];
        Ok(())
    });
    let mut x = [15.0, 3.0];
    solve_newton(&mut freudenstein, &mut x, &NewtonOptions::default()).unwrap();
    assert!((x[0] - 5.0).abs() < 1e-9 && (x[1] - 4.0).abs() < 1e-9, "{x:?}");
    // A start where the Jacobian is singular.
    let mut system = closure(2, |x, r| {
        r[0] = x[0] * x[0] - 1.0;
        r[1] = x[1] - 2.0 * x[0];
        Ok(())
    });
    let mut x = [0.0, 1.0];
    let report = solve_newton(&mut system, &mut x, &NewtonOptions::default()).unwrap();
    assert!(report.used_dogleg && (x[0].abs() - 1.0).abs() < 1e-10, "{x:?}");
}

#[test]
fn failures_name_the_culprits_and_leave_the_start_untouched() {
    let mut system = closure(3, |x, r| {
        r[0] = x[0] - 1.0;
        r[1] = x[1] * x[1] + 1.0;
        r[2] = x[2] + x[0];
        Ok(())
    });
    let start = [0.3, 2.0, 0.1];
    let mut x = start;
    let failure = solve_newton(&mut system, &mut x, &NewtonOptions::default()).unwrap_err();
    assert_eq!(x, start);
    assert_eq!(failure.largest_residuals[0].0, 1);
    assert_eq!(failure.most_moved[0].0, 1);
    assert!(failure.history.iter().any(|i| i.kind == IterationKind::Dogleg));
    assert!(failure.to_string().contains("equation 1"), "{failure}");
    let mut fatal = closure(1, |_, _| Err(EvalError::fatal("stop")));
    let failure = solve_newton(&mut fatal, &mut [0.0], &NewtonOptions::default()).unwrap_err();
    assert_eq!(failure.reason, FailureReason::Evaluation(EvalError::fatal("stop")));
    let mut x = [f64::NAN, 0.0, 0.0];
    assert!(matches!(
        solve_newton(&mut system, &mut x, &NewtonOptions::default())
            .unwrap_err()
            .reason,
        FailureReason::BadInput(_)
    ));
}

#[test]
fn random_small_systems_are_solved_from_random_starts() {
    // Polynomials with a planted root: most starts must succeed, and every success is a root.
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let config = Config {
        cases: 200,
        failure_persistence: None,
        ..Config::default()
    };
    let solved = std::cell::Cell::new(0);
    let strategy = (
        prop::collection::vec(-1.0..1.0f64, 27 + 9),
        prop::collection::vec(-2.0..2.0f64, 3),
        prop::collection::vec(-2.0..2.0f64, 3),
    );
    TestRunner::new_with_rng(config, rng)
        .run(&strategy, |(c, root, start)| {
            let value = |x: &[f64], i: usize| -> f64 {
                let linear: f64 = (0..3).map(|j| c[27 + 3 * i + j] * x[j]).sum();
                let pairs = (0..9).map(|k| c[9 * i + k] * x[k / 3] * x[k % 3]);
                linear + pairs.sum::<f64>() + x[i].sin()
            };
            let target: Vec<f64> = (0..3).map(|i| value(&root, i)).collect();
            let mut system = closure(3, |x, r| {
                (0..3).for_each(|i| r[i] = value(x, i) - target[i]);
                Ok(())
            });
            let mut x = start.clone();
            if solve_newton(&mut system, &mut x, &NewtonOptions::default()).is_ok() {
                solved.set(solved.get() + 1);
                let mut r = [0.0; 3];
                system.residual(&x, &mut r).unwrap();
                prop_assert!(r.iter().all(|v| v.abs() < 1e-6), "{r:?} at {x:?}");
            }
            Ok(())
        })
        .unwrap();
    assert!(solved.get() >= 150, "{} of 200 solved", solved.get());
}

#[test]
fn sparse_systems_are_solved_with_colours() {
    let n = 200;
    let evaluations = std::cell::Cell::new(0);
    struct Chain<'a> {
        n: usize,
        pattern: SparsityPattern,
        evaluations: &'a std::cell::Cell<usize>,
    }
    impl NonlinearSystem for Chain<'_> {
        fn dim(&self) -> usize {
            self.n
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            self.evaluations.set(self.evaluations.get() + 1);
            for i in 0..self.n {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i + 1 < self.n { x[i + 1] } else { 0.0 };
                r[i] = (3.0 - 2.0 * x[i]) * x[i] - left - 2.0 * right + 1.0;
            }
            Ok(())
        }
        fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
            Some(&self.pattern)
        }
    }
    let entries = (0..n).flat_map(|c: usize| (c.saturating_sub(1)..(c + 2).min(n)).map(move |r| (r, c)));
    let mut system = Chain {
        n,
        pattern: SparsityPattern::from_entries(n, n, entries),
        evaluations: &evaluations,
    };
    let mut solver = NewtonSolver::new(&system);
    let mut x = vec![-1.0; n];
    let report = solver.solve(&mut system, &mut x, &NewtonOptions::default()).unwrap();
    assert!(report.residual_norm < 1e-12);
    assert_eq!(evaluations.get(), report.residual_evaluations);
    assert!(
        evaluations.get() <= 4 * report.iterations + 1 + report.iterations,
        "{report:?}"
    );
}

struct Circle {
    redundant: bool,
}

impl ConstraintSystem for Circle {
    fn unknowns(&self) -> usize {
        2
    }
    fn constraints(&self) -> usize {
        1 + usize::from(self.redundant)
    }
    fn residual(&mut self, x: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
        let value = x[0] * x[0] + x[1] * x[1] - 1.0;
        g[0] = value;
        if self.redundant {
            g[1] = 3.0 * value;
        }
        Ok(())
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        let m = self.constraints();
        for c in 0..2 {
            values[c * m] = 2.0 * x[c];
            if self.redundant {
                values[c * m + 1] = 6.0 * x[c];
            }
        }
        Ok(())
    }
}

#[test]
fn projection_moves_along_the_normal_and_accepts_redundant_constraints() {
    for redundant in [false, true] {
        let mut x = [0.6 * 1.01, 0.8 * 1.01];
        let report = project(&mut Circle { redundant }, &mut x, &ProjectionOptions::default()).unwrap();
        assert!((x[0] - 0.6).abs() < 1e-13 && (x[1] - 0.8).abs() < 1e-13, "{x:?}");
        assert!((report.change - 0.01).abs() < 1e-9);
        assert_eq!(report.rank, 1);
        assert!(report.iterations <= 4);
    }
}

#[test]
fn weights_say_who_moves() {
    let mut x = [0.6, 0.9];
    let options = ProjectionOptions {
        weights: Some(vec![0.0, 1.0]),
        ..ProjectionOptions::default()
    };
    project(&mut Circle { redundant: false }, &mut x, &options).unwrap();
    assert_eq!(x[0], 0.6);
    assert!((x[1] - 0.8).abs() < 1e-13);
}

#[test]
fn projection_onto_nothing_fails_with_its_history() {
    struct Empty;
    impl ConstraintSystem for Empty {
        fn unknowns(&self) -> usize {
            1
        }
        fn constraints(&self) -> usize {
            1
        }
        fn residual(&mut self, x: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
            g[0] = x[0] * x[0] + 1.0;
            Ok(())
        }
        fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
            values[0] = 2.0 * x[0];
            Ok(())
        }
    }
    let mut x = [0.7];
    let failure = project(&mut Empty, &mut x, &ProjectionOptions::default()).unwrap_err();
    assert_eq!(x, [0.7]);
    assert!(failure.history.len() > 1);
    assert_eq!(failure.largest_residuals[0].0, 0);
}

#[test]
fn large_sparse_constraints_are_projected_onto() {
    // A chain of n rods of length one in the plane.
    struct Chain {
        n: usize,
        pattern: SparsityPattern,
    }
    impl ConstraintSystem for Chain {
        fn unknowns(&self) -> usize {
            2 * (self.n + 1)
        }
        fn constraints(&self) -> usize {
            self.n
        }
        fn residual(&mut self, x: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
            for i in 0..self.n {
                let (dx, dy) = (x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]);
                g[i] = dx * dx + dy * dy - 1.0;
            }
            Ok(())
        }
        fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
            Some(&self.pattern)
        }
        fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
            for (v, (r, c)) in values.iter_mut().zip(self.pattern.entries()) {
                let axis = c % 2;
                let d = x[2 * r + 2 + axis] - x[2 * r + axis];
                *v = if c >= 2 * r + 2 { 2.0 * d } else { -2.0 * d };
            }
            Ok(())
        }
    }
    let n = 100;
    let entries = (0..n).flat_map(|r| (2 * r..2 * r + 4).map(move |c| (r, c)));
    let pattern = SparsityPattern::from_entries(n, 2 * n + 2, entries);
    let mut chain = Chain { n, pattern };
    let mut x: Vec<f64> = (0..=n)
        .flat_map(|i| [i as f64 * 1.001, 0.01 * (i as f64).sin()])
        .collect();
    project(&mut chain, &mut x, &ProjectionOptions::default()).unwrap();
    let mut g = vec![0.0; n];
    chain.residual(&x, &mut g).unwrap();
    assert!(g.iter().all(|v| v.abs() < 1e-11));
}
