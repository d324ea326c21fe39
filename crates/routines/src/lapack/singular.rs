//! Singular values by one-sided rotations (Hestenes, Jacobi): simple, and accurate for small ones, too.

use super::Matrix;
use super::qr::Reflectors;

/// A = U·Σ·Vᵀ with square U and V; singular values descend.
#[derive(Clone, Debug)]
pub(crate) struct Singular {
    pub left: Matrix,
    pub values: Vec<f64>,
    pub right: Matrix,
}

/// Rotations of all pairs of columns until they are orthogonal; none is needed after fewer than this many rounds.
const MOST_ROUNDS: usize = 60;

pub(crate) fn singular_values(a: &Matrix) -> Singular {
    if a.rows < a.columns {
        let turned = singular_values(&a.transposed());
        return Singular {
            left: turned.right,
            values: turned.values,
            right: turned.left,
        };
    }
    let n = a.columns;
    let (mut u, mut v) = (a.clone(), Matrix::identity(n));
    for _ in 0..MOST_ROUNDS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                rotated |= orthogonalise(&mut u, &mut v, p, q);
            }
        }
        if !rotated {
            break;
        }
    }
    sorted(&u, &v)
}

/// Makes two columns orthogonal; whether they were not.
fn orthogonalise(u: &mut Matrix, v: &mut Matrix, p: usize, q: usize) -> bool {
    let dot = |a: usize, b: usize| -> f64 { u.column(a).iter().zip(u.column(b)).map(|(x, y)| x * y).sum() };
    let (alpha, beta, gamma) = (dot(p, p), dot(q, q), dot(p, q));
    if gamma == 0.0 || gamma.abs() <= f64::EPSILON * (alpha * beta).sqrt() {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * gamma);
    let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = c * t;
    for matrix in [u, v] {
        for i in 0..matrix.rows {
            let (a, b) = (matrix[(i, p)], matrix[(i, q)]);
            matrix[(i, p)] = c * a - s * b;
            matrix[(i, q)] = s * a + c * b;
        }
    }
    true
}

/// Columns by descending length, scaled to 1 and completed to an orthogonal matrix.
fn sorted(u: &Matrix, v: &Matrix) -> Singular {
    let (m, n) = (u.rows, u.columns);
    let lengths: Vec<f64> = (0..n)
        .map(|j| u.column(j).iter().fold(0.0, |s: f64, x| s.hypot(*x)))
        .collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]).then(a.cmp(&b)));
    let values: Vec<f64> = order.iter().map(|&j| lengths[j]).collect();
    let floor = values.first().copied().unwrap_or(0.0) * f64::EPSILON * m as f64;
    let rank = values.iter().take_while(|&&s| s > floor && s > 0.0).count();
    let known = Matrix::from_fn(m, rank, |i, j| u[(i, order[j])] / values[j]);
    // Q of the known columns is orthogonal; its first columns are theirs up to signs.
    let mut left = Reflectors::new(known.clone()).orthogonal(m);
    for j in 0..rank {
        for i in 0..m {
            left[(i, j)] = known[(i, j)];
        }
    }
    Singular {
        left,
        values,
        right: Matrix::from_fn(n, n, |i, j| v[(i, order[j])]),
    }
}
