//! Dense matrices (column major) and their LU factorisation.

use super::{Scalar, SingularMatrix};

/// A dense matrix, column major.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseMatrix<S = f64> {
    rows: usize,
    columns: usize,
    data: Vec<S>,
}

impl<S: Scalar> DenseMatrix<S> {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            data: vec![S::ZERO; rows * columns],
        }
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        let mut m = Self::zeros(n, n);
        for i in 0..n {
            m[(i, i)] = S::ONE;
        }
        m
    }

    /// From a function of row and column.
    pub fn from_fn(rows: usize, columns: usize, mut f: impl FnMut(usize, usize) -> S) -> Self {
        let mut m = Self::zeros(rows, columns);
        for c in 0..columns {
            for r in 0..rows {
                m[(r, c)] = f(r, c);
            }
        }
        m
    }

    /// From rows given one after the other.
    ///
    /// # Panics
    /// If `data` does not have `rows * columns` values.
    pub fn from_rows(rows: usize, columns: usize, data: &[S]) -> Self {
        assert_eq!(data.len(), rows * columns, "number of values");
        Self::from_fn(rows, columns, |r, c| data[r * columns + c])
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A column.
    pub fn column(&self, c: usize) -> &[S] {
        &self.data[c * self.rows..(c + 1) * self.rows]
    }

    /// A column, to be changed.
    pub fn column_mut(&mut self, c: usize) -> &mut [S] {
        &mut self.data[c * self.rows..(c + 1) * self.rows]
    }

    /// All values, column by column.
    pub fn values(&self) -> &[S] {
        &self.data
    }

    /// `A v`.
    pub fn multiply(&self, v: &[S]) -> Vec<S> {
        let mut out = vec![S::ZERO; self.rows];
        for (c, &vc) in v.iter().enumerate() {
            for (o, &a) in out.iter_mut().zip(self.column(c)) {
                *o = *o + a * vc;
            }
        }
        out
    }
}

impl<S> std::ops::Index<(usize, usize)> for DenseMatrix<S> {
    type Output = S;
    fn index(&self, (r, c): (usize, usize)) -> &S {
        debug_assert!(r < self.rows && c < self.columns);
        &self.data[c * self.rows + r]
    }
}

impl<S> std::ops::IndexMut<(usize, usize)> for DenseMatrix<S> {
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut S {
        debug_assert!(r < self.rows && c < self.columns);
        &mut self.data[c * self.rows + r]
    }
}

/// LU factorisation with row equilibration and partial pivoting, `P R A = L U`.
///
/// Buffers are kept, so factorising again and solving allocate nothing.
#[derive(Clone, Debug)]
pub struct DenseLu<S = f64> {
    n: usize,
    lu: Vec<S>,
    pivots: Vec<usize>,
    row_scale: Vec<f64>,
    /// Of the pivots, for dimensions that the compiler knows.
    inverses: Vec<S>,
}

/// Below this relative size a pivot is rounding noise.
pub(super) const SINGULAR_PIVOT: f64 = 4.0 * f64::EPSILON;

impl<S: Scalar> DenseLu<S> {
    /// Room for matrices of dimension `n`.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            lu: vec![S::ZERO; n * n],
            pivots: vec![0; n],
            row_scale: vec![1.0; n],
            inverses: vec![S::ONE; n],
        }
    }

    /// Dimension.
    pub fn dim(&self) -> usize {
        self.n
    }

    /// The values that the next [`factor_in_place`](Self::factor_in_place) works on, column major.
    pub fn values_mut(&mut self) -> &mut [S] {
        &mut self.lu
    }

    /// Factorises a matrix given column by column.
    ///
    /// # Errors
    /// If it is singular to working precision; the factorisation is then unusable.
    ///
    /// # Panics
    /// If the number of values is not `n²`.
    pub fn factor(&mut self, values: &[S]) -> Result<(), SingularMatrix> {
        self.lu.copy_from_slice(values);
        self.factor_in_place()
    }

    /// Factorises what was written to [`values_mut`](Self::values_mut).
    ///
    /// # Errors
    /// If the matrix is singular to working precision.
    pub fn factor_in_place(&mut self) -> Result<(), SingularMatrix> {
        let failure = match self.n {
            0 => None,
            1 => self.factor_tiny::<1>(),
            2 => self.factor_tiny::<2>(),
            3 => self.factor_tiny::<3>(),
            4 => self.factor_tiny::<4>(),
            5 => self.factor_tiny::<5>(),
            6 => self.factor_tiny::<6>(),
            7 => self.factor_tiny::<7>(),
            8 => self.factor_tiny::<8>(),
            _ => self.factor_any(),
        };
        match failure {
            None => Ok(()),
            Some((column, relative_pivot)) => Err(SingularMatrix {
                column,
                row: self.original_row(column),
                rank_so_far: column,
                relative_pivot,
            }),
        }
    }

    /// The column without a pivot and the relative size of the largest candidate, if there is one.
    fn factor_any(&mut self) -> Option<(usize, f64)> {
        let n = self.n;
        self.equilibrate();
        // Row identities are needed only to name the row in an error, so they are recovered from `pivots`.
        for k in 0..n {
            let (left, right) = self.lu.split_at_mut((k + 1) * n);
            let column = &mut left[k * n..];
            let column_max = column.iter().fold(0.0, |m: f64, v| m.max(v.magnitude()));
            let (mut p, mut best) = (k, column[k].magnitude());
            for (i, v) in column.iter().enumerate().skip(k + 1) {
                if v.magnitude() > best {
                    (p, best) = (i, v.magnitude());
                }
            }
            // Written so that NaN counts as singular.
            if !(best > SINGULAR_PIVOT * column_max && best.is_finite()) {
                return Some((k, best / column_max));
            }
            self.pivots[k] = p;
            column.swap(k, p);
            let inverse = S::ONE / column[k];
            for v in &mut column[k + 1..] {
                *v = *v * inverse;
            }
            let l = &column[k + 1..];
            for other in right.chunks_exact_mut(n) {
                other.swap(k, p);
                let factor = other[k];
                if factor != S::ZERO {
                    for (o, &lik) in other[k + 1..].iter_mut().zip(l) {
                        *o -= lik * factor;
                    }
                }
            }
        }
        None
    }

    /// The same operations for a dimension that the compiler knows: loops without bounds and checks. The inner solver of
    /// small blocks spends most of its time here.
    fn factor_tiny<const N: usize>(&mut self) -> Option<(usize, f64)> {
        let (Some((a, _)), Some((scale, _))) = (
            self.lu.as_chunks_mut::<N>().0.split_first_chunk_mut::<N>(),
            self.row_scale.split_first_chunk_mut::<N>(),
        ) else {
            return Some((0, 0.0));
        };
        let mut largest = [0.0f64; N];
        for column in a.iter() {
            for (s, v) in largest.iter_mut().zip(column) {
                *s = s.max(v.magnitude());
            }
        }
        *scale = largest.map(inverse_power_of_two);
        for column in a.iter_mut() {
            for (v, &s) in column.iter_mut().zip(scale.iter()) {
                *v = v.scale(s);
            }
        }
        for k in 0..N {
            let sizes = a[k].map(Scalar::magnitude);
            let column_max = sizes.iter().fold(0.0f64, |m, &v| m.max(v));
            let (mut p, mut best) = (k, sizes[k]);
            for (i, &size) in sizes.iter().enumerate().skip(k + 1) {
                if size > best {
                    (p, best) = (i, size);
                }
            }
            if !(best > SINGULAR_PIVOT * column_max && best.is_finite()) {
                return Some((k, best / column_max));
            }
            self.pivots[k] = p;
            a[k].swap(k, p);
            let inverse = S::ONE / a[k][k];
            self.inverses[k] = inverse;
            for v in &mut a[k][k + 1..] {
                *v = *v * inverse;
            }
            let l = a[k];
            for other in &mut a[k + 1..] {
                other.swap(k, p);
                let factor = other[k];
                for i in k + 1..N {
                    other[i] -= l[i] * factor;
                }
            }
        }
        None
    }

    /// Scales every row to maximum norm one (by a power of two, so that no rounding is added).
    fn equilibrate(&mut self) {
        let n = self.n;
        self.row_scale.fill(0.0);
        for column in self.lu.chunks_exact(n.max(1)) {
            for (s, v) in self.row_scale.iter_mut().zip(column) {
                *s = s.max(v.magnitude());
            }
        }
        for s in &mut self.row_scale {
            *s = inverse_power_of_two(*s);
        }
        for column in self.lu.chunks_exact_mut(n.max(1)) {
            for (v, &s) in column.iter_mut().zip(&self.row_scale) {
                *v = v.scale(s);
            }
        }
    }

    fn original_row(&self, k: usize) -> usize {
        let mut rows: Vec<usize> = (0..self.n).collect();
        for j in 0..k {
            rows.swap(j, self.pivots[j]);
        }
        rows[k]
    }

    /// Solves `A x = b` in place.
    pub fn solve(&self, b: &mut [S]) {
        match self.n {
            1 => self.solve_tiny::<1>(b),
            2 => self.solve_tiny::<2>(b),
            3 => self.solve_tiny::<3>(b),
            4 => self.solve_tiny::<4>(b),
            5 => self.solve_tiny::<5>(b),
            6 => self.solve_tiny::<6>(b),
            7 => self.solve_tiny::<7>(b),
            8 => self.solve_tiny::<8>(b),
            _ => self.solve_any(b),
        }
    }

    fn solve_any(&self, b: &mut [S]) {
        let n = self.n;
        debug_assert_eq!(b.len(), n);
        for (v, &s) in b.iter_mut().zip(&self.row_scale) {
            *v = v.scale(s);
        }
        for k in 0..n {
            b.swap(k, self.pivots[k]);
            let bk = b[k];
            if bk != S::ZERO {
                let l = &self.lu[k * n + k + 1..(k + 1) * n];
                for (v, &lik) in b[k + 1..].iter_mut().zip(l) {
                    *v -= lik * bk;
                }
            }
        }
        for k in (0..n).rev() {
            let u = &self.lu[k * n..k * n + k + 1];
            let xk = b[k] / u[k];
            b[k] = xk;
            for (v, &uik) in b[..k].iter_mut().zip(u) {
                *v -= uik * xk;
            }
        }
    }

    fn solve_tiny<const N: usize>(&self, b: &mut [S]) {
        let (Some(a), Some(scale), Some(inverses), Some(b)) = (
            self.lu.as_chunks::<N>().0.first_chunk::<N>(),
            self.row_scale.first_chunk::<N>(),
            self.inverses.first_chunk::<N>(),
            b.first_chunk_mut::<N>(),
        ) else {
            return;
        };
        for (v, &s) in b.iter_mut().zip(scale) {
            *v = v.scale(s);
        }
        for k in 0..N {
            b.swap(k, self.pivots[k]);
            for i in k + 1..N {
                b[i] -= a[k][i] * b[k];
            }
        }
        for k in (0..N).rev() {
            b[k] = b[k] * inverses[k];
            for i in 0..k {
                b[i] -= a[k][i] * b[k];
            }
        }
    }
}

/// The power of two next to 1/x in magnitude; one where that makes no sense.
#[inline]
pub(super) fn inverse_power_of_two(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return 1.0;
    }
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    // Keeps the factor a normal number for denormal and huge x.
    let e = (-exponent).clamp(-1020, 1020);
    f64::from_bits(((e + 1023) as u64) << 52)
}
