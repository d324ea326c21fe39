//! Lemke's method against enumeration of all complementary bases.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use saltus_numerics::complementarity::{LcpError, solve_lcp};
use saltus_numerics::linalg::{DenseLu, DenseMatrix};

fn check<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, rng).run(&strategy, test).unwrap();
}

/// All solutions, one candidate for each choice of which z are basic.
fn enumerate(m: &DenseMatrix, q: &[f64]) -> Vec<Vec<f64>> {
    let n = q.len();
    let mut solutions = Vec::new();
    for subset in 0..1usize << n {
        let basic: Vec<usize> = (0..n).filter(|i| subset >> i & 1 == 1).collect();
        let k = basic.len();
        let block = DenseMatrix::from_fn(k, k, |i, j| m[(basic[i], basic[j])]);
        let mut lu = DenseLu::new(k);
        if lu.factor(block.values()).is_err() {
            continue;
        }
        let mut x: Vec<f64> = basic.iter().map(|&i| -q[i]).collect();
        lu.solve(&mut x);
        let mut z = vec![0.0; n];
        basic.iter().zip(&x).for_each(|(&i, &v)| z[i] = v);
        let w: Vec<f64> = m.multiply(&z).iter().zip(q).map(|(a, b)| a + b).collect();
        if z.iter().chain(&w).all(|&v| v >= -1e-9) {
            solutions.push(z);
        }
    }
    solutions
}

fn assert_solves(m: &DenseMatrix, q: &[f64], z: &[f64]) -> Result<(), TestCaseError> {
    let w: Vec<f64> = m.multiply(z).iter().zip(q).map(|(a, b)| a + b).collect();
    let scale = 1.0 + z.iter().fold(0.0, |s: f64, v| s.max(v.abs()));
    for (z, w) in z.iter().zip(&w) {
        prop_assert!(
            *z >= -1e-8 && *w >= -1e-7 * scale && (z.abs().min(w.abs())) < 1e-6 * scale,
            "{z} ⟂ {w}"
        );
    }
    Ok(())
}

fn problem(values: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = (usize, Vec<f64>, Vec<f64>)> {
    (1..6usize).prop_flat_map(move |n| {
        (
            Just(n),
            prop::collection::vec(values.clone(), n * n),
            prop::collection::vec(values.clone(), n),
        )
    })
}

/// BᵀB + skew: positive semidefinite; definite with the shift.
fn monotone(n: usize, values: &[f64], shift: f64) -> DenseMatrix {
    DenseMatrix::from_fn(n, n, |i, j| {
        let gram: f64 = (0..n).map(|k| values[k * n + i] * values[k * n + j]).sum();
        gram + values[i * n + j] - values[j * n + i] + if i == j { shift } else { 0.0 }
    })
}

#[test]
fn lemke_finds_the_unique_solution_of_definite_problems() {
    check(300, problem(-1.0..1.0f64), |(n, values, q)| {
        let m = monotone(n, &values, 0.1);
        let solution = solve_lcp(&m, &q, None).unwrap();
        assert_solves(&m, &q, &solution.z)?;
        let all = enumerate(&m, &q);
        prop_assert!(!all.is_empty());
        for other in all {
            for (a, b) in other.iter().zip(&solution.z) {
                prop_assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{a} against {b}");
            }
        }
        Ok(())
    });
}

#[test]
fn lemke_decides_degenerate_semidefinite_problems() {
    // Small integers: ties in the ratio test, singular matrices, problems without solution.
    let small = prop_oneof![Just(-1.0), Just(0.0), Just(1.0)];
    check(500, problem(small), |(n, values, q)| {
        let m = monotone(n, &values, 0.0);
        match solve_lcp(&m, &q, None) {
            Ok(solution) => assert_solves(&m, &q, &solution.z)?,
            // Copositive-plus: a ray proves that there is no solution.
            Err(LcpError::Ray { .. }) => prop_assert!(enumerate(&m, &q).is_empty(), "{m:?} {q:?}"),
            Err(other) => return Err(TestCaseError::fail(format!("{other}"))),
        }
        Ok(())
    });
}

#[test]
fn lemke_ends_on_any_matrix() {
    let small = prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -1.0..1.0f64];
    check(500, problem(small), |(n, values, q)| {
        let m = DenseMatrix::from_rows(n, n, &values);
        match solve_lcp(&m, &q, None) {
            Ok(solution) => assert_solves(&m, &q, &solution.z),
            Err(LcpError::Ray { .. }) => Ok(()),
            Err(other) => Err(TestCaseError::fail(format!("{other}"))),
        }
    });
    let bad = DenseMatrix::from_rows(1, 1, &[f64::NAN]);
    assert_eq!(solve_lcp(&bad, &[1.0], None), Err(LcpError::BadInput));
    assert!(solve_lcp(&DenseMatrix::zeros(0, 0), &[], None).unwrap().z.is_empty());
}
