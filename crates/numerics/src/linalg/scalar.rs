//! The two number types that matrices are made of.

use num_complex::Complex64;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub, SubAssign};

/// Real or complex double precision numbers.
pub trait Scalar:
    Copy
    + Debug
    + PartialEq
    + Send
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + SubAssign
    + 'static
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// From a real number.
    fn from_real(value: f64) -> Self;
    /// A cheap norm for pivoting: |re| + |im|.
    fn magnitude(self) -> f64;
    /// Multiplication by a real number.
    fn scale(self, factor: f64) -> Self;
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline]
    fn from_real(value: f64) -> Self {
        value
    }
    #[inline]
    fn magnitude(self) -> f64 {
        self.abs()
    }
    #[inline]
    fn scale(self, factor: f64) -> Self {
        self * factor
    }
}

impl Scalar for Complex64 {
    const ZERO: Self = Complex64::new(0.0, 0.0);
    const ONE: Self = Complex64::new(1.0, 0.0);
    #[inline]
    fn from_real(value: f64) -> Self {
        Complex64::new(value, 0.0)
    }
    #[inline]
    fn magnitude(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
    #[inline]
    fn scale(self, factor: f64) -> Self {
        self * factor
    }
}
