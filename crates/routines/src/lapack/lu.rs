//! Elimination: factors, solutions, inverses, condition; triangular, tridiagonal and positive definite matrices.

use super::Matrix;

/// A·P = L·U by rows: P as the exchanges of LAPACK (row k with row `pivots[k]`, from 0).
#[derive(Clone, Debug)]
pub struct Lu {
    /// L below the diagonal (of ones), U above.
    pub factors: Matrix,
    /// Exchanged rows.
    pub pivots: Vec<usize>,
    /// The first pivot that is zero, from 1.
    pub singular: Option<usize>,
}

impl Lu {
    /// The factors of a matrix, which need not be square.
    pub fn new(mut a: Matrix) -> Self {
        let steps = a.rows.min(a.columns);
        let mut pivots = Vec::with_capacity(steps);
        let mut singular = None;
        for k in 0..steps {
            let best = (k..a.rows).fold(k, |best, i| if a[(i, k)].abs() > a[(best, k)].abs() { i } else { best });
            pivots.push(best);
            a.swap_rows(k, best);
            let pivot = a[(k, k)];
            if pivot == 0.0 {
                singular.get_or_insert(k + 1);
                continue;
            }
            for i in k + 1..a.rows {
                a[(i, k)] /= pivot;
            }
            for j in k + 1..a.columns {
                let factor = a[(k, j)];
                if factor != 0.0 {
                    for i in k + 1..a.rows {
                        a[(i, j)] -= a[(i, k)] * factor;
                    }
                }
            }
        }
        Lu {
            factors: a,
            pivots,
            singular,
        }
    }

    /// The solution of A·X = B, or of Aᵀ·X = B.
    pub fn solve(&self, mut b: Matrix, transposed: bool) -> Matrix {
        let n = self.factors.rows;
        let f = &self.factors;
        if !transposed {
            for (k, &p) in self.pivots.iter().enumerate() {
                b.swap_rows(k, p);
            }
        }
        for j in 0..b.columns {
            let x = &mut b.elements[j * n..(j + 1) * n];
            if transposed {
                for i in 0..n {
                    x[i] = (x[i] - (0..i).map(|k| f[(k, i)] * x[k]).sum::<f64>()) / f[(i, i)];
                }
                for i in (0..n).rev() {
                    x[i] -= (i + 1..n).map(|k| f[(k, i)] * x[k]).sum::<f64>();
                }
            } else {
                for i in 0..n {
                    x[i] -= (0..i).map(|k| f[(i, k)] * x[k]).sum::<f64>();
                }
                for i in (0..n).rev() {
                    x[i] = (x[i] - (i + 1..n).map(|k| f[(i, k)] * x[k]).sum::<f64>()) / f[(i, i)];
                }
            }
        }
        if transposed {
            for (k, &p) in self.pivots.iter().enumerate().rev() {
                b.swap_rows(k, p);
            }
        }
        b
    }
}

/// Solves A·X = B over any kind of number, `a` and `b` by columns, with exchanges by the sizes of values; the solution takes
/// the place of `b`. The answer is the first pivot that is zero, from 1, if there is one.
pub fn eliminate<N: Clone>(
    n: usize,
    a: &mut [N],
    b: &mut [N],
    value: impl Fn(&N) -> f64,
    minus_product: impl Fn(&N, &N, &N) -> N,
    quotient: impl Fn(&N, &N) -> N,
) -> Option<usize> {
    let columns = b.len() / n.max(1);
    for k in 0..n {
        let size = |i: usize, a: &[N]| value(&a[k * n + i]).abs();
        let best = (k..n).fold(k, |best, i| if size(i, a) > size(best, a) { i } else { best });
        (0..n).for_each(|j| a.swap(j * n + k, j * n + best));
        (0..columns).for_each(|j| b.swap(j * n + k, j * n + best));
        let pivot = a[k * n + k].clone();
        if value(&pivot) == 0.0 {
            return Some(k + 1);
        }
        for i in k + 1..n {
            let factor = quotient(&a[k * n + i], &pivot);
            for j in k + 1..n {
                a[j * n + i] = minus_product(&a[j * n + i], &factor, &a[j * n + k]);
            }
            for j in 0..columns {
                b[j * n + i] = minus_product(&b[j * n + i], &factor, &b[j * n + k]);
            }
        }
    }
    for j in 0..columns {
        for i in (0..n).rev() {
            let sum = (i + 1..n).fold(b[j * n + i].clone(), |sum, k| {
                minus_product(&sum, &a[k * n + i], &b[j * n + k])
            });
            b[j * n + i] = quotient(&sum, &a[i * n + i]);
        }
    }
    None
}

/// The largest sum of a column (`1`), of a row (`I`), the root of squares (`F`), the largest element.
pub(crate) fn norm(a: &Matrix, kind: &str) -> f64 {
    let sum = |list: &mut dyn Iterator<Item = f64>| list.map(f64::abs).sum::<f64>();
    match kind.chars().next() {
        Some('1' | 'O' | 'o') => {
            (0..a.columns).fold(0.0, |most: f64, j| most.max(sum(&mut a.column(j).iter().copied())))
        }
        Some('I' | 'i') => (0..a.rows).fold(0.0, |most: f64, i| {
            most.max(sum(&mut (0..a.columns).map(|j| a[(i, j)])))
        }),
        Some('F' | 'f' | 'E' | 'e') => a.elements.iter().fold(0.0, |norm: f64, x| norm.hypot(*x)),
        _ => a.elements.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
    }
}

/// 1 / (‖A‖·‖A⁻¹‖), where the norm of A is known. The inverse is computed: it is exact, and these matrices are small.
pub(crate) fn reciprocal_condition(lu: &Lu, norm_of_a: f64, kind: &str) -> f64 {
    let n = lu.factors.rows;
    if n == 0 {
        return 1.0;
    }
    if lu.singular.is_some() || norm_of_a == 0.0 {
        return 0.0;
    }
    let inverse = lu.solve(Matrix::identity(n), false);
    let product = norm(&inverse, kind) * norm_of_a;
    if product.is_finite() { 1.0 / product } else { 0.0 }
}

/// A = Uᵀ·U or L·Lᵀ in the triangle named, which is replaced; the order of the first minor that is not positive, if one is not.
pub(crate) fn cholesky(a: &mut Matrix, upper: bool) -> Option<usize> {
    let n = a.rows;
    let at = |i: usize, j: usize| if upper { (j, i) } else { (i, j) };
    for j in 0..n {
        let diagonal = a[(j, j)] - (0..j).map(|k| a[at(j, k)].powi(2)).sum::<f64>();
        if diagonal.is_nan() || diagonal <= 0.0 {
            return Some(j + 1);
        }
        let diagonal = diagonal.sqrt();
        a[(j, j)] = diagonal;
        for i in j + 1..n {
            let rest = a[at(i, j)] - (0..j).map(|k| a[at(i, k)] * a[at(j, k)]).sum::<f64>();
            a[at(i, j)] = rest / diagonal;
        }
    }
    None
}

/// Solves with a triangle of a square matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    /// Of the two triangles, the upper one.
    pub upper: bool,
    pub transposed: bool,
    /// The diagonal is taken to be ones.
    pub unit: bool,
}

/// X of op(A)·X = B, or of X·op(A) = B if it stands `right`.
pub(crate) fn triangular_solve(a: &Matrix, b: &Matrix, triangle: Triangle, right: bool) -> Matrix {
    if right {
        let turned = Triangle {
            transposed: !triangle.transposed,
            ..triangle
        };
        return triangular_solve(a, &b.transposed(), turned, false).transposed();
    }
    let n = a.rows;
    let element = |i: usize, j: usize| if triangle.transposed { a[(j, i)] } else { a[(i, j)] };
    let forward = triangle.upper == triangle.transposed;
    let mut x = b.clone();
    for column in 0..x.columns {
        for step in 0..n {
            let i = if forward { step } else { n - 1 - step };
            let others = if forward { 0..i } else { i + 1..n };
            let sum: f64 = others.map(|k| element(i, k) * x[(k, column)]).sum();
            let rest = x[(i, column)] - sum;
            x[(i, column)] = if triangle.unit { rest } else { rest / element(i, i) };
        }
    }
    x
}

/// Solves with a tridiagonal matrix, as a dense one; the first pivot that is zero, from 1, if there is one.
pub(crate) fn tridiagonal(lower: &[f64], diagonal: &[f64], upper: &[f64], b: Matrix) -> (Matrix, Option<usize>) {
    let n = diagonal.len();
    let a = Matrix::from_fn(n, n, |i, j| match (i, j) {
        _ if i == j => diagonal[i],
        _ if i == j + 1 => lower[j],
        _ if j == i + 1 => upper[i],
        _ => 0.0,
    });
    let lu = Lu::new(a);
    match lu.singular {
        None => (lu.solve(b, false), None),
        singular => (b, singular),
    }
}
