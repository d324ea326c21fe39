//! Orthogonal factors by reflections, and least squares.

use super::Matrix;
use super::lu::{Triangle, triangular_solve};

/// Reflections I − τ·v·vᵀ: v below the diagonal of the matrix (first element 1), R on and above it.
#[derive(Clone, Debug)]
pub(crate) struct Reflectors {
    pub matrix: Matrix,
    pub tau: Vec<f64>,
}

impl Reflectors {
    /// Q·R = A.
    pub(crate) fn new(mut a: Matrix) -> Self {
        let steps = a.rows.min(a.columns);
        let tau = (0..steps).map(|k| reflect_column(&mut a, k, k)).collect();
        Reflectors { matrix: a, tau }
    }

    /// Q·R = A·P with columns in the order of what is left of them; the order, from 0.
    pub(crate) fn with_pivots(mut a: Matrix) -> (Self, Vec<usize>) {
        let steps = a.rows.min(a.columns);
        let mut order: Vec<usize> = (0..a.columns).collect();
        let mut tau = Vec::with_capacity(steps);
        for k in 0..steps {
            let left = |j: usize| a.column(j)[k..].iter().fold(0.0, |norm: f64, x| norm.hypot(*x));
            let best = (k + 1..a.columns).fold((k, left(k)), |best, j| {
                let norm = left(j);
                if norm > best.1 { (j, norm) } else { best }
            });
            a.swap_columns(k, best.0);
            order.swap(k, best.0);
            tau.push(reflect_column(&mut a, k, k));
        }
        (Reflectors { matrix: a, tau }, order)
    }

    /// Q·C or Qᵀ·C; the reflections begin `offset` rows below the diagonal.
    pub(crate) fn apply(&self, c: &mut Matrix, transposed: bool, offset: usize) {
        let count = self.tau.len();
        for step in 0..count {
            let k = if transposed { step } else { count - 1 - step };
            for j in 0..c.columns {
                let first = k + offset;
                let v = |i: usize| if i == first { 1.0 } else { self.matrix[(i, k)] };
                let product: f64 = (first..c.rows).map(|i| v(i) * c[(i, j)]).sum();
                let scaled = self.tau[k] * product;
                for i in first..c.rows {
                    c[(i, j)] -= v(i) * scaled;
                }
            }
        }
    }

    /// The first columns of Q.
    pub(crate) fn orthogonal(&self, columns: usize) -> Matrix {
        let mut q = Matrix::from_fn(self.matrix.rows, columns, |i, j| if i == j { 1.0 } else { 0.0 });
        self.apply(&mut q, false, 0);
        q
    }
}

/// Reflects a column, from a row on, to a multiple of the unit vector of that row, and the columns behind it with it.
pub(super) fn reflect_column(a: &mut Matrix, row: usize, column: usize) -> f64 {
    let alpha = a[(row, column)];
    let rest = a.column(column)[row + 1..]
        .iter()
        .fold(0.0, |norm: f64, x| norm.hypot(*x));
    if rest == 0.0 {
        return 0.0;
    }
    let beta = -alpha.hypot(rest).copysign(alpha);
    let tau = (beta - alpha) / beta;
    for i in row + 1..a.rows {
        a[(i, column)] /= alpha - beta;
    }
    a[(row, column)] = beta;
    for j in column + 1..a.columns {
        let product = a[(row, j)] + (row + 1..a.rows).map(|i| a[(i, column)] * a[(i, j)]).sum::<f64>();
        let scaled = tau * product;
        a[(row, j)] -= scaled;
        for i in row + 1..a.rows {
            let v = a[(i, column)];
            a[(i, j)] -= v * scaled;
        }
    }
    tau
}

/// The shortest X of those for which ‖A·X − B‖ is least, and the rank of A: the number of columns of R, by descending
/// diagonal, that are above `tolerance` times the first.
pub(crate) fn least_squares(a: Matrix, b: &Matrix, tolerance: f64) -> (Matrix, usize) {
    let (rows, columns) = (a.rows, a.columns);
    let (qr, order) = Reflectors::with_pivots(a);
    let first = if rows.min(columns) > 0 {
        qr.matrix[(0, 0)].abs()
    } else {
        0.0
    };
    let tolerance = tolerance.max(f64::EPSILON * rows.max(columns) as f64 / 16.0);
    let rank = (0..rows.min(columns))
        .take_while(|&k| first > 0.0 && qr.matrix[(k, k)].abs() > tolerance * first)
        .count();
    let mut c = Matrix::from_fn(rows, b.columns, |i, j| b[(i, j)]);
    qr.apply(&mut c, true, 0);
    // R₁·y = c₁ with R₁ of full row rank: R₁ᵀ = Q₂·R₂, so y = Q₂·R₂⁻ᵀ·c₁ is the shortest.
    let transposed = Matrix::from_fn(columns, rank, |i, j| if j <= i { qr.matrix[(j, i)] } else { 0.0 });
    let second = Reflectors::new(transposed);
    let triangle = Triangle {
        upper: true,
        transposed: true,
        unit: false,
    };
    let square = Matrix::from_fn(rank, rank, |i, j| second.matrix[(i, j)]);
    let inner = triangular_solve(
        &square,
        &Matrix::from_fn(rank, b.columns, |i, j| c[(i, j)]),
        triangle,
        false,
    );
    let mut y = Matrix::from_fn(columns, b.columns, |i, j| if i < rank { inner[(i, j)] } else { 0.0 });
    second.apply(&mut y, false, 0);
    let mut x = Matrix::zeros(columns, b.columns);
    for (place, &column) in order.iter().enumerate() {
        for j in 0..b.columns {
            x[(column, j)] = y[(place, j)];
        }
    }
    (x, rank)
}

/// x with B·x = d for which ‖A·x − c‖ is least.
pub(crate) fn constrained_least_squares(a: &Matrix, c: &[f64], b: &Matrix, d: &[f64]) -> Vec<f64> {
    let n = a.columns;
    let vector = |list: &[f64]| Matrix {
        rows: list.len(),
        columns: 1,
        elements: list.to_vec(),
    };
    let (particular, rank) = least_squares(b.clone(), &vector(d), 0.0);
    // What B does not see: the columns of Q behind its rank, Bᵀ·P = Q·R.
    let (qr, _) = Reflectors::with_pivots(b.transposed());
    let q = qr.orthogonal(n);
    let free = Matrix::from_fn(n, n - rank, |i, j| q[(i, rank + j)]);
    let reached = a.times(&particular);
    let rest: Vec<f64> = c.iter().zip(&reached.elements).map(|(c, r)| c - r).collect();
    let (weights, _) = least_squares(a.times(&free), &vector(&rest), 0.0);
    let moved = free.times(&weights);
    particular
        .elements
        .iter()
        .zip(&moved.elements)
        .map(|(x, m)| x + m)
        .collect()
}
