//! What the routines of dense linear algebra promise, on random matrices of all shapes and scales.

use proptest::prelude::*;
use saltus_routines::lapack::Matrix;
use saltus_routines::{Buffer, Routine};

fn numbers(values: &[f64]) -> Buffer {
    Buffer::Numbers(values.to_vec())
}

fn size(n: usize) -> Buffer {
    numbers(&[n as f64])
}

fn text(word: &str) -> Buffer {
    Buffer::Text(word.into())
}

fn values(buffer: &Buffer) -> Vec<f64> {
    match buffer {
        Buffer::Numbers(values) => values.clone(),
        _ => panic!("a text"),
    }
}

fn matrix(rows: usize, columns: usize, buffer: &Buffer) -> Matrix {
    Matrix {
        rows,
        columns,
        elements: values(buffer),
    }
}

fn call(routine: Routine, buffers: &mut [Buffer]) {
    routine
        .call(buffers)
        .unwrap_or_else(|_| panic!("{} cannot be called", routine.name()));
}

fn drawn(rows: usize, columns: usize) -> impl Strategy<Value = Matrix> {
    let elements = proptest::collection::vec(-1.0..1.0f64, rows * columns);
    (elements, -3..4i32).prop_map(move |(elements, scale)| Matrix {
        rows,
        columns,
        elements: elements.iter().map(|x| x * 10f64.powi(scale)).collect(),
    })
}

fn square() -> impl Strategy<Value = Matrix> {
    (1usize..8).prop_flat_map(|n| drawn(n, n))
}

fn any_shape() -> impl Strategy<Value = Matrix> {
    (1usize..7, 1usize..7).prop_flat_map(|(m, n)| drawn(m, n))
}

fn distance(a: &Matrix, b: &Matrix) -> f64 {
    a.elements
        .iter()
        .zip(&b.elements)
        .fold(0.0, |most, (x, y)| f64::max(most, (x - y).abs()))
}

fn largest(a: &Matrix) -> f64 {
    a.elements.iter().fold(1e-300, |most, x| f64::max(most, x.abs()))
}

fn is_orthogonal(q: &Matrix) -> bool {
    distance(&q.transposed().times(q), &Matrix::identity(q.columns)) < 1e-12
}

/// Schur form and vectors.
fn schur(a: &Matrix) -> (Matrix, Matrix, Vec<f64>, Vec<f64>) {
    let n = a.rows;
    let mut buffers = vec![
        text("V"),
        text("N"),
        size(0),
        size(n),
        numbers(&a.elements),
        size(n),
        size(0),
        numbers(&vec![0.0; n]),
        numbers(&vec![0.0; n]),
        numbers(&vec![0.0; n * n]),
        size(n),
        size(1),
        size(1),
        size(1),
        size(9),
    ];
    call(Routine::Dgees, &mut buffers);
    assert_eq!(values(&buffers[14]), [0.0]);
    (
        matrix(n, n, &buffers[4]),
        matrix(n, n, &buffers[9]),
        values(&buffers[7]),
        values(&buffers[8]),
    )
}

proptest! {
    #[test]
    fn solutions_solve(a in square(), seed in 0u32..100) {
        let n = a.rows;
        let b: Vec<f64> = (0..n).map(|k| f64::from((seed + 7 * k as u32) % 13) - 6.0).collect();
        let mut buffers = vec![size(n), size(1), numbers(&a.elements), size(n), numbers(&vec![0.0; n]), numbers(&b), size(n), size(9)];
        call(Routine::Dgesv, &mut buffers);
        prop_assert_eq!(values(&buffers[7]), [0.0]);
        let x = matrix(n, 1, &buffers[5]);
        let rest = distance(&a.times(&x), &Matrix { rows: n, columns: 1, elements: b });
        prop_assert!(rest <= 1e-10 * (1.0 + largest(&a) * largest(&x)));
    }

    #[test]
    fn inverse_of_factors(a in square()) {
        let n = a.rows;
        let mut factors = vec![size(n), size(n), numbers(&a.elements), size(n), numbers(&vec![0.0; n]), size(9)];
        call(Routine::Dgetrf, &mut factors);
        let mut inverse = vec![size(n), factors[2].clone(), size(n), factors[4].clone(), numbers(&[0.0]), size(1), size(9)];
        call(Routine::Dgetri, &mut inverse);
        prop_assert_eq!(values(&inverse[6]), [0.0]);
        let inverse = matrix(n, n, &inverse[1]);
        let product = a.times(&inverse);
        prop_assert!(distance(&product, &Matrix::identity(n)) < 1e-9 * (1.0 + largest(&a) * largest(&inverse)));
    }

    /// A·P = Q·R with orthogonal Q, and |diagonal of R| descending.
    #[test]
    fn factors_with_exchanged_columns(a in any_shape()) {
        let (m, n) = (a.rows, a.columns);
        let k = m.min(n);
        let mut buffers = vec![size(m), size(n), numbers(&a.elements), size(m), numbers(&vec![0.0; n]), numbers(&vec![0.0; k]), size(1), size(1), size(9)];
        call(Routine::Dgeqp3, &mut buffers);
        let qr = matrix(m, n, &buffers[2]);
        let order = values(&buffers[4]);
        let mut q = vec![size(m), size(k), size(k), numbers(&qr.elements[..m * k]), size(m), buffers[5].clone(), size(1), size(1), size(9)];
        call(Routine::Dorgqr, &mut q);
        let q = matrix(m, k, &q[3]);
        prop_assert!(is_orthogonal(&q));
        let r = Matrix::from_fn(k, n, |i, j| if i <= j { qr[(i, j)] } else { 0.0 });
        let permuted = Matrix::from_fn(m, n, |i, j| a[(i, order[j] as usize - 1)]);
        prop_assert!(distance(&q.times(&r), &permuted) < 1e-12 * largest(&a));
        for i in 1..k {
            prop_assert!(r[(i, i)].abs() <= r[(i - 1, i - 1)].abs() * (1.0 + 1e-12));
        }
    }

    /// The residual of least squares is orthogonal to the columns, and a solution of what is not determined is the shortest: it
    /// lies in the row space. Matrices of less than full rank are products of thin ones.
    #[test]
    fn least_squares(thin in (1usize..6, 1usize..4, 1usize..6).prop_flat_map(|(m, r, n)| (drawn(m, r.min(m).min(n)), drawn(r.min(m).min(n), n)))) {
        let a = thin.0.times(&thin.1);
        let (m, n) = (a.rows, a.columns);
        let longer = m.max(n);
        let b: Vec<f64> = (0..longer).map(|k| if k < m { k as f64 - 1.5 } else { 0.0 }).collect();
        let mut buffers = vec![
            size(m), size(n), size(1), numbers(&a.elements), size(m), numbers(&b), size(longer), numbers(&vec![0.0; n]),
            numbers(&[1e-10]), size(0), size(1), size(1), size(9),
        ];
        call(Routine::Dgelsy, &mut buffers);
        let rank = values(&buffers[9])[0] as usize;
        prop_assume!(rank == thin.0.columns);
        let x = Matrix { rows: n, columns: 1, elements: values(&buffers[5])[..n].to_vec() };
        let b = Matrix { rows: m, columns: 1, elements: b[..m].to_vec() };
        let residual = Matrix::from_fn(m, 1, |i, _| a.times(&x)[(i, 0)] - b[(i, 0)]);
        let scale = largest(&a) * (largest(&a) * largest(&x) + 10.0);
        prop_assert!(largest(&a.transposed().times(&residual)) < 1e-8 * scale.max(1e-8));
        // x = Aᵀ·w for some w.
        let mut buffers = vec![
            size(n), size(m), size(1), numbers(&a.transposed().elements), size(n), numbers(&{ let mut v = x.elements.clone(); v.resize(longer, 0.0); v }),
            size(longer), numbers(&vec![0.0; m]), numbers(&[1e-10]), size(0), size(1), size(1), size(9),
        ];
        call(Routine::Dgelsy, &mut buffers);
        let w = Matrix { rows: m, columns: 1, elements: values(&buffers[5])[..m].to_vec() };
        prop_assert!(distance(&a.transposed().times(&w), &x) < 1e-7 * largest(&x));
    }

    #[test]
    fn schur_form_is_similar(a in square()) {
        let n = a.rows;
        let (t, z, real, imaginary) = schur(&a);
        prop_assert!(is_orthogonal(&z));
        prop_assert!(distance(&z.times(&t).times(&z.transposed()), &a) < 1e-11 * largest(&a));
        for j in 0..n {
            for i in j + 2..n {
                prop_assert_eq!(t[(i, j)], 0.0);
            }
        }
        let trace: f64 = (0..n).map(|k| a[(k, k)]).sum();
        prop_assert!((real.iter().sum::<f64>() - trace).abs() < 1e-11 * largest(&a));
        prop_assert!(imaginary.iter().sum::<f64>().abs() < 1e-11 * largest(&a));
    }

    /// A·v = λ·v for all right eigenvectors.
    #[test]
    fn eigenvectors(a in square()) {
        let n = a.rows;
        let mut buffers = vec![
            text("N"), text("V"), size(n), numbers(&a.elements), size(n), numbers(&vec![0.0; n]), numbers(&vec![0.0; n]),
            numbers(&[0.0]), size(1), numbers(&vec![0.0; n * n]), size(n), size(1), size(1), size(9),
        ];
        call(Routine::Dgeev, &mut buffers);
        prop_assert_eq!(values(&buffers[13]), [0.0]);
        let (real, imaginary, v) = (values(&buffers[5]), values(&buffers[6]), matrix(n, n, &buffers[9]));
        let av = a.times(&v);
        let mut k = 0;
        while k < n {
            let pair = imaginary[k] != 0.0;
            for i in 0..n {
                let (x, y) = (v[(i, k)], if pair { v[(i, k + 1)] } else { 0.0 });
                prop_assert!((av[(i, k)] - real[k] * x + imaginary[k] * y).abs() < 1e-9 * largest(&a));
                if pair {
                    prop_assert!((av[(i, k + 1)] - real[k] * y - imaginary[k] * x).abs() < 1e-9 * largest(&a));
                }
            }
            k += if pair { 2 } else { 1 };
        }
    }

    #[test]
    fn singular_values(a in any_shape()) {
        let (m, n) = (a.rows, a.columns);
        let k = m.min(n);
        let mut buffers = vec![
            text("A"), text("A"), size(m), size(n), numbers(&a.elements), size(m), numbers(&vec![0.0; k]),
            numbers(&vec![0.0; m * m]), size(m), numbers(&vec![0.0; n * n]), size(n), size(1), size(1), size(9),
        ];
        call(Routine::Dgesvd, &mut buffers);
        prop_assert_eq!(values(&buffers[13]), [0.0]);
        let (s, u, vt) = (values(&buffers[6]), matrix(m, m, &buffers[7]), matrix(n, n, &buffers[9]));
        prop_assert!(is_orthogonal(&u) && is_orthogonal(&vt));
        prop_assert!(s.windows(2).all(|w| w[0] >= w[1]));
        let sigma = Matrix::from_fn(m, n, |i, j| if i == j { s[i] } else { 0.0 });
        prop_assert!(distance(&u.times(&sigma).times(&vt), &a) < 1e-12 * largest(&a));
    }

    #[test]
    fn cholesky_and_triangles(b in square()) {
        let n = b.rows;
        let scale = largest(&b);
        let a = b.transposed().times(&b);
        let a = Matrix::from_fn(n, n, |i, j| a[(i, j)] + if i == j { scale * scale } else { 0.0 });
        for upper in [true, false] {
            let mut buffers = vec![text(if upper { "U" } else { "L" }), size(n), numbers(&a.elements), size(n), size(9)];
            call(Routine::Dpotrf, &mut buffers);
            prop_assert_eq!(values(&buffers[4]), [0.0]);
            let f = matrix(n, n, &buffers[2]);
            let f = Matrix::from_fn(n, n, |i, j| if (i <= j) == upper || i == j { f[(i, j)] } else { 0.0 });
            let product = if upper { f.transposed().times(&f) } else { f.times(&f.transposed()) };
            prop_assert!(distance(&product, &a) < 1e-12 * largest(&a));
            for (side, trans) in [("L", "N"), ("L", "T"), ("R", "N"), ("R", "T")] {
                let mut buffers = vec![
                    text(side), text(if upper { "U" } else { "L" }), text(trans), text("N"), size(n), size(n), numbers(&[1.0]),
                    numbers(&f.elements), size(n), numbers(&b.elements), size(n),
                ];
                call(Routine::Dtrsm, &mut buffers);
                let x = matrix(n, n, &buffers[9]);
                let op = if trans == "T" { f.transposed() } else { f.clone() };
                let back = if side == "L" { op.times(&x) } else { x.times(&op) };
                prop_assert!(distance(&back, &b) < 1e-10 * scale);
            }
        }
    }
}

/// What cannot be done is said by `info`, and buffers that are too small are refused.
#[test]
fn failures_are_answers() {
    let mut singular = vec![
        size(2),
        size(1),
        numbers(&[1.0, 2.0, 2.0, 4.0]),
        size(2),
        numbers(&[0.0, 0.0]),
        numbers(&[1.0, 1.0]),
        size(2),
        size(0),
    ];
    call(Routine::Dgesv, &mut singular);
    assert_eq!(values(&singular[7]), [2.0]);
    let mut small = vec![
        size(3),
        size(1),
        numbers(&[1.0]),
        size(3),
        numbers(&[0.0]),
        numbers(&[1.0]),
        size(3),
        size(0),
    ];
    assert!(Routine::Dgesv.call(&mut small).is_err());
    assert!(Routine::Dgesv.call(&mut []).is_err());
    let mut indefinite = vec![text("U"), size(2), numbers(&[1.0, 2.0, 2.0, 1.0]), size(2), size(0)];
    call(Routine::Dpotrf, &mut indefinite);
    assert_eq!(values(&indefinite[4]), [2.0]);
}
