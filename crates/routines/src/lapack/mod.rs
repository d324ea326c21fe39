//! Dense linear algebra with the interfaces of LAPACK: matrices by columns, `info` for what cannot be done.
//!
//! | room | routines |
//! |---|---|
//! | `lu` | `dgesv`, `dgetrf`, `dgetri`, `dgetrs`, `dgecon`, `dgtsv`, `dpotrf`, `dtrsm`, `dlange` |
//! | `qr` | `dgeqrf`, `dgeqp3`, `dorgqr`, `dormqr`, `dgelsy`, `dgels`, `dgglse` |
//! | `schur` | `dgehrd`, `dorghr`, `dhseqr`, `dgees`, `dgeev`, `dgeevx`, `dtrsyl` |
//! | `singular` | `dgesvd`, `dgesdd` |

mod lu;
mod qr;
mod schur;
mod singular;

pub use lu::{Lu, eliminate};
pub(crate) use lu::{Triangle, cholesky, norm, reciprocal_condition, triangular_solve, tridiagonal};
pub(crate) use qr::{Reflectors, constrained_least_squares, least_squares};
pub(crate) use schur::{Eigen, hessenberg, schur_of_hessenberg, sylvester};
pub(crate) use singular::singular_values;

/// A matrix by columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Its elements, column by column.
    pub elements: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Matrix {
            rows,
            columns,
            elements: vec![0.0; rows * columns],
        }
    }

    /// Ones in the diagonal.
    pub fn identity(n: usize) -> Self {
        Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// The matrix with these elements.
    pub fn from_fn(rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> Self {
        let elements = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
        Matrix {
            rows,
            columns,
            elements: elements.map(|(i, j)| element(i, j)).collect(),
        }
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Self {
        Matrix::from_fn(self.columns, self.rows, |i, j| self[(j, i)])
    }

    /// The product with another one.
    pub fn times(&self, other: &Matrix) -> Self {
        Matrix::from_fn(self.rows, other.columns, |i, j| {
            (0..self.columns).map(|k| self[(i, k)] * other[(k, j)]).sum()
        })
    }

    /// A column.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.elements[j * self.rows..(j + 1) * self.rows]
    }

    pub(crate) fn swap_rows(&mut self, a: usize, b: usize) {
        for j in 0..self.columns {
            self.elements.swap(j * self.rows + a, j * self.rows + b);
        }
    }

    pub(crate) fn swap_columns(&mut self, a: usize, b: usize) {
        for i in 0..self.rows {
            self.elements.swap(a * self.rows + i, b * self.rows + i);
        }
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.elements[j * self.rows + i]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.elements[j * self.rows + i]
    }
}
