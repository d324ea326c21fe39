//! Exact ratios, of which clocks are made.

use serde::{Deserialize, Serialize};

/// A ratio of integers in lowest terms; the denominator is positive.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "(i64, i64)", into = "(i64, i64)")]
pub struct Rational {
    numerator: i64,
    denominator: i64,
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Rational {
    /// 0
    pub const ZERO: Rational = Rational::whole(0);
    /// 1
    pub const ONE: Rational = Rational::whole(1);

    /// An integer.
    pub const fn whole(value: i64) -> Self {
        Rational {
            numerator: value,
            denominator: 1,
        }
    }

    /// `numerator / denominator`; `None` if that is no number, or beyond 64 bits in lowest terms.
    pub fn new(numerator: i64, denominator: i64) -> Option<Self> {
        Self::reduced(i128::from(numerator), i128::from(denominator))
    }

    fn reduced(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs());
        let divisor = i128::try_from(divisor).ok()? * denominator.signum();
        Some(Rational {
            numerator: i64::try_from(numerator / divisor).ok()?,
            denominator: i64::try_from(denominator / divisor).ok()?,
        })
    }

    /// The ratio that a decimal number is written as: 0.1 is 1/10, though no binary number is. `None` beyond 64 bits.
    pub fn from_decimal(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e')?;
        let exponent: i32 = exponent.parse().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len() as i32);
        let mantissa: i128 = digits.replace('.', "").parse().ok()?;
        let power = 10i128.checked_pow((exponent - decimals).unsigned_abs())?;
        if exponent >= decimals {
            Self::reduced(mantissa.checked_mul(power)?, 1)
        } else {
            Self::reduced(mantissa, power)
        }
    }

    /// The numerator in lowest terms.
    pub fn numerator(self) -> i64 {
        self.numerator
    }

    /// The denominator in lowest terms, which is positive.
    pub fn denominator(self) -> i64 {
        self.denominator
    }

    /// The nearest floating-point number, where both parts are exact as such.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Whether it is an integer.
    pub fn is_whole(self) -> bool {
        self.denominator == 1
    }

    /// Whether it is above zero.
    pub fn is_positive(self) -> bool {
        self.numerator > 0
    }

    fn parts(self) -> (i128, i128) {
        (i128::from(self.numerator), i128::from(self.denominator))
    }

    /// The sum; `None` beyond 64 bits.
    pub fn plus(self, other: Self) -> Option<Self> {
        let ((a, b), (c, d)) = (self.parts(), other.parts());
        Self::reduced((a * d).checked_add(c * b)?, b * d)
    }

    /// The difference; `None` beyond 64 bits.
    pub fn minus(self, other: Self) -> Option<Self> {
        let ((a, b), (c, d)) = (self.parts(), other.parts());
        Self::reduced((a * d).checked_sub(c * b)?, b * d)
    }

    /// The product; `None` beyond 64 bits.
    pub fn times(self, other: Self) -> Option<Self> {
        let ((a, b), (c, d)) = (self.parts(), other.parts());
        Self::reduced(a * c, b * d)
    }

    /// The quotient; `None` beyond 64 bits, or by zero.
    pub fn over(self, other: Self) -> Option<Self> {
        let ((a, b), (c, d)) = (self.parts(), other.parts());
        Self::reduced(a * d, b * c)
    }
}

impl TryFrom<(i64, i64)> for Rational {
    type Error = &'static str;
    fn try_from((numerator, denominator): (i64, i64)) -> Result<Self, Self::Error> {
        Rational::new(numerator, denominator).ok_or("no ratio")
    }
}

impl From<Rational> for (i64, i64) {
    fn from(ratio: Rational) -> Self {
        (ratio.numerator, ratio.denominator)
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let ((a, b), (c, d)) = (self.parts(), other.parts());
        (a * d).cmp(&(c * b))
    }
}

impl std::fmt::Display for Rational {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rational;

    #[test]
    fn decimals_are_what_is_written() {
        let ratio = |value| Rational::from_decimal(value).expect("fits");
        assert_eq!(ratio(0.1), Rational::new(1, 10).expect("fits"));
        assert_eq!(ratio(0.02), Rational::new(1, 50).expect("fits"));
        assert_eq!(ratio(2.5), Rational::new(5, 2).expect("fits"));
        assert_eq!(ratio(3e5), Rational::whole(300_000));
        assert_eq!(ratio(1e-9), Rational::new(1, 1_000_000_000).expect("fits"));
        assert_eq!(Rational::from_decimal(1e300), None);
        assert_eq!(Rational::from_decimal(f64::NAN), None);
    }

    #[test]
    fn what_does_not_fit_is_none() {
        let large = Rational::whole(i64::MAX);
        assert_eq!(large.plus(Rational::ONE), None);
        assert_eq!(large.times(Rational::whole(2)), None);
        assert_eq!(large.over(Rational::whole(i64::MAX)), Some(Rational::ONE));
        assert_eq!(Rational::new(1, 0), None);
        assert_eq!(Rational::new(i64::MIN, -1), None);
    }
}
