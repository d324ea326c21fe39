//! Linear algebra against naive dense computations.

use num_complex::Complex64;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use saltus_numerics::linalg::{
    Colouring, DenseLu, DenseMatrix, FactorKind, Factorisation, FullPivotLu, MatrixStructure, PivotedQr, SparseLu,
    SparsityPattern,
};

/// Cases are the same in every run.
fn check<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, rng).run(&strategy, test).unwrap();
}

fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![3 => -1.0..1.0f64, 1 => (-1.0..1.0f64, -6..6i32).prop_map(|(m, e)| m * 10f64.powi(e))]
}

fn matrix(n: std::ops::Range<usize>) -> impl Strategy<Value = (usize, Vec<f64>, Vec<f64>)> {
    n.prop_flat_map(|n| {
        (
            Just(n),
            prop::collection::vec(entry(), n * n),
            prop::collection::vec(-1.0..1.0f64, n),
        )
    })
}

fn residual(a: &DenseMatrix, x: &[f64], b: &[f64]) -> f64 {
    let ax = a.multiply(x);
    let size = |r: usize| (0..x.len()).map(|c| (a[(r, c)] * x[c]).abs()).sum::<f64>() + b[r].abs();
    (0..b.len())
        .map(|r| (ax[r] - b[r]).abs() / size(r).max(1e-300))
        .fold(0.0, f64::max)
}

#[test]
fn dense_lu_solves_backward_stably() {
    check(300, matrix(1..30), |(n, values, b)| {
        let a = DenseMatrix::from_rows(n, n, &values);
        let mut lu = DenseLu::new(n);
        prop_assume!(lu.factor(a.values()).is_ok());
        let mut x = b.clone();
        lu.solve(&mut x);
        prop_assert!(residual(&a, &x, &b) < 1e-10, "residual {:e}", residual(&a, &x, &b));
        Ok(())
    });
}

#[test]
fn singular_matrices_are_named_never_panicked_on() {
    let a = DenseMatrix::from_rows(3, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let error = DenseLu::new(3).factor(a.values()).unwrap_err();
    assert_eq!(error.rank_so_far, 2);
    assert_eq!(error.column, 2);
    let mut sparse = SparseLu::new(SparsityPattern::dense(3, 3));
    assert_eq!(sparse.factor(a.values()).unwrap_err().rank_so_far, 2);
    // Structurally singular: column 1 is empty, row 2 is empty.
    let mut sparse = SparseLu::new(SparsityPattern::from_entries(3, 3, [(0, 0), (1, 2), (0, 2)]));
    let error = sparse.factor(&[1.0, 1.0, 1.0]).unwrap_err();
    assert_eq!((error.column, error.row), (1, 2));
    for bad in [f64::NAN, f64::INFINITY, 0.0] {
        assert!(DenseLu::new(1).factor(&[bad]).is_err());
        let mut sparse = SparseLu::new(SparsityPattern::dense(2, 2));
        assert!(sparse.factor(&[1.0, bad, bad, bad]).is_err());
    }
    let mut empty = SparseLu::<f64>::new(SparsityPattern::dense(0, 0));
    assert!(empty.factor(&[]).is_ok());
    empty.solve(&mut []);
}

/// Random sparse matrices with a permuted diagonal, so that they are mostly regular.
fn sparse_matrix() -> impl Strategy<Value = (SparsityPattern, Vec<f64>, Vec<f64>, Vec<f64>)> {
    (1..40usize)
        .prop_flat_map(|n| {
            let extra = prop::collection::vec((0..n, 0..n), 0..3 * n);
            (Just(n), extra, Just((0..n).collect::<Vec<_>>()).prop_shuffle())
        })
        .prop_flat_map(|(n, extra, order)| {
            let diagonal = order.into_iter().enumerate();
            let pattern = SparsityPattern::from_entries(n, n, extra.into_iter().chain(diagonal));
            let m = pattern.len();
            let values = || prop::collection::vec(entry(), m);
            (
                Just(pattern),
                values(),
                values(),
                prop::collection::vec(-1.0..1.0f64, n),
            )
        })
}

fn to_dense(pattern: &SparsityPattern, values: &[f64]) -> DenseMatrix {
    let mut dense = DenseMatrix::zeros(pattern.rows(), pattern.columns());
    for ((r, c), &v) in pattern.entries().zip(values) {
        dense[(r, c)] = v;
    }
    dense
}

#[test]
fn sparse_lu_and_its_refactorisation_agree_with_dense() {
    check(400, sparse_matrix(), |(pattern, first, second, b)| {
        let mut lu = SparseLu::new(pattern.clone());
        for values in [&first, &second, &first] {
            let dense = to_dense(&pattern, values);
            let singular = FullPivotLu::new(&dense, None).rank() < b.len();
            match lu.factor(values) {
                Ok(_) => {
                    let mut x = b.clone();
                    lu.solve(&mut x);
                    // Row by row relative to the largest entry: what pivoting by columns guarantees.
                    let largest = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                    for (r, (ax, b)) in dense.multiply(&x).iter().zip(&b).enumerate() {
                        let row = (0..x.len()).fold(0.0, |m: f64, c| m.max(dense[(r, c)].abs()));
                        let error = (ax - b).abs() / (row * largest + b.abs());
                        prop_assert!(error < 1e-10, "row {r}: residual {error:e}");
                    }
                }
                // Threshold pivoting may call a matrix singular that complete pivoting barely does not.
                Err(_) => prop_assert!(singular || FullPivotLu::new(&dense, None).condition_estimate() > 1e9),
            }
        }
        Ok(())
    });
}

/// Capacitors in parallel: u_1' = u_j', C_j·u_j' = i_j, Σ i_j = i. Its coefficients are 1 and as small as capacitances are.
fn parallel_capacitors(capacitances: &[f64]) -> Vec<(usize, usize, f64)> {
    let m = capacitances.len();
    let mut entries = Vec::new();
    for (j, &capacitance) in capacitances.iter().enumerate() {
        if j > 0 {
            entries.extend([(j, 0, 1.0), (j, j, -1.0)]);
        }
        entries.extend([(m + j, j, capacitance), (m + j, m + j, -1.0)]);
        entries.push((0, m + j, 1.0));
    }
    entries
}

/// What is singular is so in all units, and what is not is solved in all units.
#[test]
fn small_coefficients_are_no_singularity() {
    for count in [2, 3, 4, 5, 9, 40, 120] {
        let n = 2 * count;
        for exponent in [0, -12, -16, -25, 16, 25] {
            let unit = 10f64.powi(exponent);
            let regular: Vec<f64> = (0..count).map(|j| (1.0 + (j % 7) as f64) * unit).collect();
            let mut cancelling = regular.clone();
            let rest: f64 = (1..count).map(|j| 1.0 + (j % 7) as f64).sum();
            cancelling[0] = -rest * unit;
            for (capacitances, solvable) in [(regular, true), (cancelling, false)] {
                // What cancels in a long sum leaves more than a few units of the last place.
                if !solvable && count > 5 {
                    continue;
                }
                let entries = parallel_capacitors(&capacitances);
                let pattern = SparsityPattern::from_entries(n, n, entries.iter().map(|&(r, c, _)| (r, c)));
                let mut values = vec![0.0; pattern.len()];
                for (r, c, value) in entries {
                    values[pattern.position(r, c).unwrap()] = value;
                }
                let mut factorisation = Factorisation::new(MatrixStructure::Sparse(pattern));
                let outcome = factorisation.factor(&values);
                assert_eq!(outcome.is_ok(), solvable, "{count} capacitors of {unit:e}: {outcome:?}");
                if solvable {
                    let mut x = vec![0.0; n];
                    x[0] = 1.0;
                    factorisation.solve(&mut x);
                    let exact = 1.0 / capacitances.iter().sum::<f64>();
                    assert!(
                        x[..count].iter().all(|rate| (rate / exact - 1.0).abs() < 1e-12),
                        "{count} capacitors of {unit:e}: {x:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn refactorisation_keeps_good_pivots_and_drops_bad_ones() {
    let n = 50;
    let entries = (0..n).flat_map(|c: usize| (c.saturating_sub(1)..(c + 2).min(n)).map(move |r| (r, c)));
    let pattern = SparsityPattern::from_entries(n, n, entries);
    let tridiagonal = |d: f64| -> Vec<f64> { pattern.entries().map(|(r, c)| if r == c { d } else { -1.0 }).collect() };
    let mut lu = SparseLu::new(pattern.clone());
    assert_eq!(lu.factor(&tridiagonal(4.0)), Ok(FactorKind::Full));
    // The ordering of a tridiagonal matrix causes no fill at all.
    assert_eq!(lu.fill(), pattern.len());
    assert_eq!(lu.factor(&tridiagonal(3.0)), Ok(FactorKind::Refactored));
    assert_eq!(lu.factor(&tridiagonal(1e-9)), Ok(FactorKind::Full));
    let mut x = vec![1.0; n];
    lu.solve(&mut x);
    assert!(residual(&to_dense(&pattern, &tridiagonal(1e-9)), &x, &vec![1.0; n]) < 1e-10);
}

#[test]
fn complex_factorisations_solve_shifted_systems() {
    let n = 40;
    let entries = (0..n).flat_map(|c: usize| (c.saturating_sub(1)..(c + 2).min(n)).map(move |r| (r, c)));
    let pattern = SparsityPattern::from_entries(n, n, entries);
    let values: Vec<Complex64> = pattern
        .entries()
        .map(|(r, c)| {
            if r == c {
                Complex64::new(2.0, 1.5)
            } else {
                Complex64::new(-1.0, 0.0)
            }
        })
        .collect();
    let expected: Vec<Complex64> = (0..n).map(|i| Complex64::new(i as f64, -1.0)).collect();
    let mut b = vec![Complex64::new(0.0, 0.0); n];
    for ((r, c), v) in pattern.entries().zip(&values) {
        b[r] += v * expected[c];
    }
    let mut lu = Factorisation::new(MatrixStructure::Sparse(pattern));
    assert!(lu.is_sparse());
    lu.factor(&values).unwrap();
    lu.solve(&mut b);
    assert!(b.iter().zip(&expected).all(|(x, e)| (x - e).norm() < 1e-12));
}

#[test]
fn orderings_keep_fill_low_on_a_grid() {
    let side = 20;
    let n = side * side;
    let index = |i: usize, j: usize| i * side + j;
    let mut entries = Vec::new();
    for i in 0..side {
        for j in 0..side {
            entries.push((index(i, j), index(i, j)));
            if i + 1 < side {
                entries.extend([(index(i, j), index(i + 1, j)), (index(i + 1, j), index(i, j))]);
            }
            if j + 1 < side {
                entries.extend([(index(i, j), index(i, j + 1)), (index(i, j + 1), index(i, j))]);
            }
        }
    }
    let pattern = SparsityPattern::from_entries(n, n, entries);
    let values: Vec<f64> = pattern
        .entries()
        .map(|(r, c)| if r == c { 4.1 } else { -1.0 })
        .collect();
    let mut lu = SparseLu::new(pattern);
    lu.factor(&values).unwrap();
    // Natural order fills about 2·n·side = 16000.
    assert!(lu.fill() < 8800, "fill {}", lu.fill());
}

#[test]
fn rank_and_least_squares_of_products() {
    let strategy = (1..7usize, 1..7usize, 1..5usize).prop_flat_map(|(m, n, r)| {
        (
            Just((m, n, r)),
            prop::collection::vec(-1.0..1.0f64, m * r),
            prop::collection::vec(-1.0..1.0f64, r * n),
            prop::collection::vec(-1.0..1.0f64, m),
        )
    });
    check(300, strategy, |((m, n, r), left, right, b)| {
        let a = DenseMatrix::from_fn(m, n, |i, j| (0..r).map(|k| left[i * r + k] * right[k * n + j]).sum());
        let qr = PivotedQr::new(&a, Some(1e-9));
        let lu = FullPivotLu::new(&a, Some(1e-9));
        prop_assume!(qr.condition_estimate() < 1e6 && lu.condition_estimate() < 1e6);
        prop_assert_eq!(qr.rank(), r.min(m).min(n));
        prop_assert_eq!(lu.rank(), qr.rank());
        let x = qr.minimum_norm_solution(&b);
        // Normal equations: Aᵀ(Ax − b) = 0; minimum norm: x is in the row space, i.e. orthogonal to the kernel.
        let ax = a.multiply(&x);
        for c in 0..n {
            let g: f64 = (0..m).map(|i| a[(i, c)] * (ax[i] - b[i])).sum();
            prop_assert!(g.abs() < 1e-8, "gradient {g:e}");
        }
        let basic = qr.basic_solution(&b);
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        prop_assert!(norm(&x) <= norm(&basic) * (1.0 + 1e-9) + 1e-12);
        let kernel: Vec<f64> = basic.iter().zip(&x).map(|(a, b)| a - b).collect();
        let inner: f64 = kernel.iter().zip(&x).map(|(k, x)| k * x).sum();
        prop_assert!(inner.abs() < 1e-7 * (1.0 + norm(&basic)), "not orthogonal: {inner:e}");
        Ok(())
    });
}

#[test]
fn the_columns_chosen_as_dependent_are_the_well_conditioned_ones() {
    // Constraint gradient of a pendulum, (2x, 2y): the larger component is chosen to be solved for.
    for (x, y, chosen) in [(0.1, -0.99, 1), (0.99, 0.1, 0)] {
        let qr = PivotedQr::new(&DenseMatrix::from_rows(1, 2, &[2.0 * x, 2.0 * y]), None);
        assert_eq!(qr.column_order()[0], chosen);
    }
    let nan = DenseMatrix::from_rows(2, 2, &[f64::NAN, 1.0, 1.0, 1.0]);
    assert!(PivotedQr::new(&nan, None).rank() < 2);
}

#[test]
fn colours_separate_columns_that_share_a_row() {
    check(200, sparse_matrix(), |(pattern, ..)| {
        let colouring = Colouring::new(&pattern);
        let mut seen = vec![0; pattern.columns()];
        for group in colouring.groups() {
            let mut rows = vec![false; pattern.rows()];
            for &c in group {
                seen[c] += 1;
                for &r in pattern.column(c) {
                    prop_assert!(!std::mem::replace(&mut rows[r], true));
                }
            }
        }
        prop_assert!(seen.iter().all(|&s| s == 1));
        Ok(())
    });
}

#[test]
fn patterns_are_validated() {
    assert!(SparsityPattern::new(2, vec![0, 1, 2], vec![0, 1]).is_ok());
    assert!(SparsityPattern::new(2, vec![0, 2, 1], vec![0, 1]).is_err());
    assert!(SparsityPattern::new(2, vec![0, 2, 2], vec![1, 0]).is_err());
    assert!(SparsityPattern::new(2, vec![0, 1, 1], vec![2]).is_err());
    assert!(SparsityPattern::new(0, vec![], vec![]).is_err());
    let pattern = SparsityPattern::from_entries(2, 3, [(1, 2), (0, 0), (1, 2), (5, 5)]);
    assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (1, 2)]);
    assert_eq!(pattern.transposed().entries().collect::<Vec<_>>(), [(0, 0), (2, 1)]);
    assert_eq!(pattern.position(1, 2), Some(1));
}

#[test]
fn orderings_of_large_and_awkward_patterns_end_quickly() {
    // An arrow: a full row and column, which must be eliminated last.
    let n = 3000;
    let arrow = (0..n).flat_map(|i| [(i, i), (0, i), (i, 0)]);
    let pattern = SparsityPattern::from_entries(n, n, arrow);
    let values: Vec<f64> = pattern
        .entries()
        .map(|(r, c)| if r == c { 4.0 } else { 1e-3 })
        .collect();
    let mut lu = SparseLu::new(pattern.clone());
    lu.factor(&values).unwrap();
    assert_eq!(lu.fill(), pattern.len());
    // A permuted band: no diagonal, so columns are ordered on AᵀA.
    let band = (0..n).flat_map(|i| (0..4).map(move |k| ((i * 7 + 13 * k) % n, i)));
    let pattern = SparsityPattern::from_entries(n, n, band);
    let values: Vec<f64> = (0..pattern.len()).map(|k| 1.0 + ((k * 37) % 11) as f64).collect();
    let mut lu = SparseLu::new(pattern);
    assert!(lu.factor(&values).is_ok());
    // No entries at all.
    assert!(
        SparseLu::new(SparsityPattern::from_entries(5, 5, []))
            .factor(&[] as &[f64])
            .is_err()
    );
}
