//! Numbers in figures.

/// A number with three significant digits.
pub(super) fn short_number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}").replace('-', "−");
    }
    let exponent = value.abs().log10().floor() as i32;
    let text = match exponent {
        -3..=3 => format!("{value:.*}", (2 - exponent).max(0) as usize),
        _ => {
            let (mantissa, power) = (value / 10f64.powi(exponent), power_of_ten(exponent));
            return format!("{}·{power}", trim_zeros(&format!("{mantissa:.2}"))).replace('-', "−");
        }
    };
    trim_zeros(&text).replace('-', "−")
}

pub(super) fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// `10³`
pub(super) fn power_of_ten(exponent: i32) -> String {
    let digits: String = exponent.to_string().chars().map(crate::units::superscript).collect();
    format!("10{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(short_number(0.0), "0");
        assert_eq!(short_number(-0.5), "−0.5");
        assert_eq!(short_number(2.34567), "2.35");
        assert_eq!(short_number(1234.0), "1234");
        assert_eq!(short_number(1.5e-7), "1.5·10⁻⁷");
        assert_eq!(short_number(-2e9), "−2·10⁹");
    }
}
