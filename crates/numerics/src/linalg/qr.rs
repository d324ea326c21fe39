//! Numeric rank, choice of columns and least squares for small dense matrices.

use super::{DenseMatrix, norm2};

/// Householder QR with column pivoting, `A P = Q R`, completed to an orthogonal decomposition for
/// minimum-norm solutions (G. H. Golub, C. F. Van Loan, *Matrix Computations*, 5.4 and 5.5).
#[derive(Clone, Debug)]
pub struct PivotedQr {
    /// R above the diagonal, Householder vectors below it.
    factors: DenseMatrix,
    /// First components and scales of the Householder vectors.
    heads: Vec<(f64, f64)>,
    columns: Vec<usize>,
    rank: usize,
}

impl PivotedQr {
    /// Factorises. Diagonal entries of R below `tolerance` times the first count as zero; `max(m,n)·ε` if `None`.
    pub fn new(matrix: &DenseMatrix, tolerance: Option<f64>) -> Self {
        let (m, n) = (matrix.rows(), matrix.columns());
        let tolerance = tolerance.unwrap_or(m.max(n) as f64 * f64::EPSILON);
        let mut qr = Self {
            factors: matrix.clone(),
            heads: Vec::new(),
            columns: (0..n).collect(),
            rank: 0,
        };
        let mut first = 0.0;
        for k in 0..m.min(n) {
            let Some(size) = qr.bring_largest_column(k) else {
                break;
            };
            if k == 0 {
                first = size;
            }
            // Written so that NaN ends the factorisation as well.
            if !(size > tolerance * first) {
                break;
            }
            qr.reflect(k, size);
            qr.rank += 1;
        }
        qr
    }

    /// Swaps the remaining column of largest norm into place; its norm, or nothing if not finite.
    fn bring_largest_column(&mut self, k: usize) -> Option<f64> {
        let n = self.factors.columns();
        let (mut best, mut size) = (k, -1.0);
        for c in k..n {
            // Norms are recomputed rather than downdated: the matrices are small and this is exact.
            let norm = norm2(&self.factors.column(c)[k..]);
            if norm > size * (1.0 + 1e-12) {
                (best, size) = (c, norm);
            }
        }
        if best != k {
            self.columns.swap(k, best);
            for r in 0..self.factors.rows() {
                let t = self.factors[(r, k)];
                self.factors[(r, k)] = self.factors[(r, best)];
                self.factors[(r, best)] = t;
            }
        }
        (size.is_finite() && size >= 0.0).then_some(size)
    }

    fn reflect(&mut self, k: usize, size: f64) {
        let alpha = self.factors[(k, k)];
        let beta = if alpha >= 0.0 { -size } else { size };
        let head = alpha - beta;
        let tail2: f64 = self.factors.column(k)[k + 1..].iter().map(|v| v * v).sum();
        let scale = 2.0 / (head * head + tail2);
        let v: Vec<f64> = self.factors.column(k)[k + 1..].to_vec();
        for c in k + 1..self.factors.columns() {
            apply_reflection(head, scale, &v, &mut self.factors.column_mut(c)[k..]);
        }
        self.factors[(k, k)] = beta;
        self.heads.push((head, scale));
    }

    /// Numeric rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The columns in pivot order: the first [`rank`](Self::rank) ones are independent and well conditioned.
    pub fn column_order(&self) -> &[usize] {
        &self.columns
    }

    /// Estimate of the condition number of the chosen columns: ratio of the extreme diagonal entries of R.
    pub fn condition_estimate(&self) -> f64 {
        if self.rank == 0 {
            return 1.0;
        }
        (self.factors[(0, 0)] / self.factors[(self.rank - 1, self.rank - 1)]).abs()
    }

    /// `Qᵀ b` in place.
    pub fn apply_q_transposed(&self, b: &mut [f64]) {
        for (k, &(head, scale)) in self.heads.iter().enumerate() {
            let v = &self.factors.column(k)[k + 1..];
            apply_reflection(head, scale, v, &mut b[k..]);
        }
    }

    /// The least-squares solution that uses the chosen columns only; the others are zero.
    pub fn basic_solution(&self, b: &[f64]) -> Vec<f64> {
        let mut c = b.to_vec();
        self.apply_q_transposed(&mut c);
        for k in (0..self.rank).rev() {
            let sum: f64 = (k + 1..self.rank).map(|j| self.factors[(k, j)] * c[j]).sum();
            c[k] = (c[k] - sum) / self.factors[(k, k)];
        }
        let mut x = vec![0.0; self.columns.len()];
        for k in 0..self.rank {
            x[self.columns[k]] = c[k];
        }
        x
    }

    /// The least-squares solution of smallest Euclidean norm.
    pub fn minimum_norm_solution(&self, b: &[f64]) -> Vec<f64> {
        let n = self.columns.len();
        let r = self.rank;
        if r == n || r == 0 {
            return self.basic_solution(b);
        }
        let mut c = b.to_vec();
        self.apply_q_transposed(&mut c);
        // R = [R1 R2] has full row rank; with [R1 R2]ᵀ = Q₂ R₂ the solution is P Q₂ R₂⁻ᵀ c.
        let transposed = DenseMatrix::from_fn(n, r, |i, j| if j <= i { self.factors[(j, i)] } else { 0.0 });
        let second = UnpivotedQr::new(transposed);
        let z = second.solve_transposed_minimum_norm(&c[..r]);
        let mut x = vec![0.0; n];
        for (k, &column) in self.columns.iter().enumerate() {
            x[column] = z[k];
        }
        x
    }
}

fn apply_reflection(head: f64, scale: f64, tail: &[f64], x: &mut [f64]) {
    let sum = head * x[0] + tail.iter().zip(&x[1..]).map(|(v, x)| v * x).sum::<f64>();
    let factor = scale * sum;
    x[0] -= factor * head;
    for (x, v) in x[1..].iter_mut().zip(tail) {
        *x -= factor * v;
    }
}

/// QR of a tall matrix of full column rank, columns in place.
struct UnpivotedQr {
    qr: PivotedQr,
}

impl UnpivotedQr {
    fn new(matrix: DenseMatrix) -> Self {
        let n = matrix.columns();
        let mut qr = PivotedQr {
            factors: matrix,
            heads: Vec::new(),
            columns: (0..n).collect(),
            rank: n,
        };
        for k in 0..n {
            let size = norm2(&qr.factors.column(k)[k..]);
            qr.reflect(k, size);
        }
        Self { qr }
    }

    /// Minimum-norm z with `Aᵀ z = c`.
    fn solve_transposed_minimum_norm(&self, c: &[f64]) -> Vec<f64> {
        let factors = &self.qr.factors;
        let r = c.len();
        let mut z = vec![0.0; factors.rows()];
        for k in 0..r {
            let sum: f64 = (0..k).map(|j| factors[(j, k)] * z[j]).sum();
            z[k] = (c[k] - sum) / factors[(k, k)];
        }
        for (k, &(head, scale)) in self.qr.heads.iter().enumerate().rev() {
            let v = &factors.column(k)[k + 1..];
            apply_reflection(head, scale, v, &mut z[k..]);
        }
        z
    }
}

/// LU with complete pivoting: rank with the independent rows *and* columns named.
#[derive(Clone, Debug)]
pub struct FullPivotLu {
    rows: Vec<usize>,
    columns: Vec<usize>,
    rank: usize,
    extreme_pivots: (f64, f64),
}

impl FullPivotLu {
    /// Factorises after balancing rows and columns. What is left of terms that cancel counts as zero below `tolerance` times
    /// these terms; `max(m,n)·ε` if `None`. What is small by itself does not: a conductance beside one that is 1e12 times as
    /// large.
    pub fn new(matrix: &DenseMatrix, tolerance: Option<f64>) -> Self {
        let (m, n) = (matrix.rows(), matrix.columns());
        let tolerance = tolerance.unwrap_or(m.max(n) as f64 * f64::EPSILON);
        let entries: Vec<(usize, usize, f64)> = (0..n)
            .flat_map(|c| (0..m).map(move |r| (r, c, matrix[(r, c)])))
            .collect();
        let (by_row, by_column) = super::balance(m, n, &entries);
        let mut a = DenseMatrix::from_fn(m, n, |r, c| matrix[(r, c)] * by_row[r] * by_column[c]);
        let mut terms = DenseMatrix::from_fn(m, n, |r, c| a[(r, c)].abs());
        let mut lu = Self {
            rows: (0..m).collect(),
            columns: (0..n).collect(),
            rank: 0,
            extreme_pivots: (0.0, 0.0),
        };
        for k in 0..m.min(n) {
            let (r, c, size) = largest_entry(&a, k);
            if k == 0 {
                lu.extreme_pivots.0 = size;
            }
            // Written so that NaN ends the factorisation as well.
            if !(size > 0.0) {
                break;
            }
            lu.extreme_pivots.1 = size;
            lu.rank += 1;
            for matrix in [&mut a, &mut terms] {
                swap_rows(matrix, k, r);
                swap_columns(matrix, k, c);
            }
            lu.rows.swap(k, r);
            lu.columns.swap(k, c);
            for c in k + 1..n {
                let factor = a[(k, c)] / a[(k, k)];
                for r in k + 1..m {
                    let taken = factor * a[(r, k)];
                    a[(r, c)] -= taken;
                    terms[(r, c)] += taken.abs();
                    if a[(r, c)].abs() <= tolerance * terms[(r, c)] {
                        a[(r, c)] = 0.0;
                    }
                }
            }
        }
        lu
    }

    /// Numeric rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Rows in pivot order; those from [`rank`](Self::rank) on depend on the ones before.
    pub fn row_order(&self) -> &[usize] {
        &self.rows
    }

    /// Columns in pivot order; those from [`rank`](Self::rank) on depend on the ones before.
    pub fn column_order(&self) -> &[usize] {
        &self.columns
    }

    /// Ratio of the largest to the smallest accepted pivot.
    pub fn condition_estimate(&self) -> f64 {
        if self.rank == 0 {
            1.0
        } else {
            self.extreme_pivots.0 / self.extreme_pivots.1
        }
    }
}

fn largest_entry(a: &DenseMatrix, k: usize) -> (usize, usize, f64) {
    let mut best = (k, k, 0.0);
    for c in k..a.columns() {
        for r in k..a.rows() {
            let size = a[(r, c)].abs();
            if size > best.2 * (1.0 + 1e-12) {
                best = (r, c, size);
            }
        }
    }
    best
}

fn swap_rows(a: &mut DenseMatrix, i: usize, j: usize) {
    for c in 0..a.columns() {
        let t = a[(i, c)];
        a[(i, c)] = a[(j, c)];
        a[(j, c)] = t;
    }
}

fn swap_columns(a: &mut DenseMatrix, i: usize, j: usize) {
    for r in 0..a.rows() {
        let t = a[(r, i)];
        a[(r, i)] = a[(r, j)];
        a[(r, j)] = t;
    }
}
