//! Linear algebra: sparse patterns, LU factorisations, rank and least squares.

mod balance;
mod band;
mod dense;
mod factor;
mod ordering;
mod pattern;
mod qr;
mod row_space;
mod scalar;
mod sparse_lu;

pub use balance::{balance, balance_pencil};
pub use band::{BandLu, BandMatrix};
pub use dense::{DenseLu, DenseMatrix};
pub use factor::{Factorisation, MatrixStructure};
pub use pattern::{Colouring, PatternError, SparsityPattern};
pub use qr::{FullPivotLu, PivotedQr};
pub use row_space::{Remainder, RowSpace};
pub use scalar::Scalar;
pub use sparse_lu::{FactorKind, SparseLu};

use std::fmt;

/// A matrix without a usable pivot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingularMatrix {
    /// The column (unknown) that depends on columns eliminated before it.
    pub column: usize,
    /// A row (equation) left without a pivot.
    pub row: usize,
    /// Number of pivots found before.
    pub rank_so_far: usize,
    /// The best pivot available, relative to the largest entry of its column; NaN if the matrix contains one.
    pub relative_pivot: f64,
}

impl fmt::Display for SingularMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "matrix is singular: no pivot for column {} (row {} is left over; relative pivot {:e})",
            self.column, self.row, self.relative_pivot
        )
    }
}

impl std::error::Error for SingularMatrix {}

/// Euclidean norm, also where the squares overflow or vanish.
pub(crate) fn norm2(v: &[f64]) -> f64 {
    root_mean_square(v.iter().copied(), 1.0)
}

/// The root of the sum of squares divided by `count`. The numbers are gone through a second time, divided by the largest,
/// if their squares are out of range.
pub(crate) fn root_mean_square(values: impl Iterator<Item = f64> + Clone, count: f64) -> f64 {
    let squares: f64 = values.clone().map(|x| x * x).sum();
    if squares.is_normal() {
        return (squares / count).sqrt();
    }
    let largest = values.clone().fold(0.0_f64, |largest, x| match x.is_nan() {
        true => f64::NAN,
        false if largest.is_nan() => largest,
        false => largest.max(x.abs()),
    });
    // Zero, infinity and not-a-number are their own norms.
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let squares: f64 = values.map(|x| (x / largest) * (x / largest)).sum();
    largest * (squares / count).sqrt()
}

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
