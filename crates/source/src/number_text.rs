//! Numbers as text: what `String(…)` of Modelica makes of them, which is what `printf` of C does.

use serde::{Deserialize, Serialize};

/// The options of `String(…)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TextFormat {
    /// `significantDigits`; 6 if not given.
    pub significant: Option<u32>,
    /// `minimumLength`
    pub minimum_length: u32,
    /// `leftJustified = false`
    pub right: bool,
    /// `format`: a conversion of `printf` without the percent sign.
    pub conversion: Option<Conversion>,
}

/// A conversion of `printf`: flags, width, precision and kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Conversion {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    /// `#`: with the prefix of its base.
    prefixed: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

/// Widths and precisions beyond these are of no use to anyone.
const WIDTH_LIMIT: usize = 1000;
const PRECISION_LIMIT: usize = 340;

impl Conversion {
    /// Reads `8.3f` and the like; `None` if it is no conversion of a number.
    pub fn parse(text: &str) -> Option<Conversion> {
        let spec = text.strip_prefix('%').unwrap_or(text);
        let kind = spec.chars().last()?;
        if !"feEgGFdiouxXc".contains(kind) {
            return None;
        }
        let body = &spec[..spec.len() - 1];
        let numbers = body.trim_start_matches(['-', '+', ' ', '0', '#']);
        let flags = &body[..body.len() - numbers.len()];
        let (width, precision) = match numbers.split_once('.') {
            Some((width, precision)) => (width, Some(precision)),
            None => (numbers, None),
        };
        let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse().ok() };
        let precision = match precision {
            Some(text) => Some(number(text)?.min(PRECISION_LIMIT)),
            None => None,
        };
        Some(Conversion {
            left: flags.contains('-'),
            zeros: flags.contains('0') && !flags.contains('-'),
            plus: flags.contains('+'),
            space: flags.contains(' '),
            prefixed: flags.contains('#'),
            width: number(width)?.min(WIDTH_LIMIT),
            precision,
            kind,
        })
    }

    /// Whether it is one for integers.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, 'd' | 'i' | 'o' | 'u' | 'x' | 'X' | 'c')
    }

    /// An Integer as text; those without a sign are taken as C does, as a number of 32 bits.
    fn apply_to_integer(&self, value: i64) -> String {
        let bits = value as u32;
        let base = match self.kind {
            'o' => format!("{bits:o}"),
            'u' => bits.to_string(),
            'x' => format!("{bits:x}"),
            'X' => format!("{bits:X}"),
            'c' => return self.fill("", (bits as u8 as char).to_string(), false),
            'd' | 'i' => value.unsigned_abs().to_string(),
            _ => return self.apply(value as f64),
        };
        let least = self.precision.unwrap_or(1);
        let digits = format!("{}{base}", "0".repeat(least.saturating_sub(base.len())));
        let signed = matches!(self.kind, 'd' | 'i');
        let sign = match self.kind {
            _ if signed => self.sign(value < 0),
            'x' if self.prefixed && bits != 0 => "0x",
            'X' if self.prefixed && bits != 0 => "0X",
            'o' if self.prefixed && !digits.starts_with('0') => "0",
            _ => "",
        };
        // A precision says how many digits there are; zeros do not fill the width then.
        self.fill(sign, digits, self.zeros && self.precision.is_none())
    }

    fn sign(&self, negative: bool) -> &'static str {
        match negative {
            true => "-",
            false if self.plus => "+",
            false if self.space => " ",
            false => "",
        }
    }

    /// At its width.
    fn fill(&self, sign: &str, digits: String, zeros: bool) -> String {
        let missing = self.width.saturating_sub(sign.len() + digits.chars().count());
        match (self.left, zeros) {
            (true, _) => format!("{sign}{digits}{}", " ".repeat(missing)),
            (false, true) => format!("{sign}{}{digits}", "0".repeat(missing)),
            (false, false) => format!("{}{sign}{digits}", " ".repeat(missing)),
        }
    }

    /// The number as text.
    fn apply(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let digits = match self.kind {
            _ if !value.is_finite() => not_finite(value.abs()),
            'f' | 'F' => format!("{:.precision$}", value.abs()),
            'e' | 'E' => exponential(value.abs(), precision),
            _ => general(value.abs(), precision.max(1)),
        };
        let digits = if self.kind.is_ascii_uppercase() {
            digits.to_uppercase()
        } else {
            digits
        };
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        self.fill(sign, digits, self.zeros && value.is_finite())
    }
}

impl std::fmt::Display for Conversion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let flags = [
            (self.left, "-"),
            (self.zeros, "0"),
            (self.plus, "+"),
            (self.space, " "),
            (self.prefixed, "#"),
        ];
        flags
            .iter()
            .filter(|(set, _)| *set)
            .try_for_each(|(_, flag)| f.write_str(flag))?;
        if self.width > 0 {
            write!(f, "{}", self.width)?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        write!(f, "{}", self.kind)
    }
}

impl TextFormat {
    /// Whether its lengths are within the limits of [`Conversion::parse`].
    pub fn is_reasonable(&self) -> bool {
        self.conversion.as_ref().is_none_or(|conversion| {
            let precision = conversion.precision.unwrap_or(0);
            conversion.width <= WIDTH_LIMIT && precision <= PRECISION_LIMIT
        })
    }

    /// `String(x, …)` of a Real.
    pub fn real(&self, value: f64) -> String {
        match &self.conversion {
            Some(conversion) => conversion.apply(value),
            None => self.padded(real_text(value, self.significant.unwrap_or(6).clamp(1, 300) as usize)),
        }
    }

    /// `String(i, …)` of an Integer.
    pub fn integer(&self, value: i64) -> String {
        match &self.conversion {
            Some(conversion) => conversion.apply_to_integer(value),
            None => self.padded(value.to_string()),
        }
    }

    /// A text at its minimum length.
    pub fn padded(&self, text: String) -> String {
        let width = (self.minimum_length as usize).min(WIDTH_LIMIT);
        if self.right {
            format!("{text:>width$}")
        } else {
            format!("{text:<width$}")
        }
    }
}

/// As `%.<digits>g` of C.
pub fn real_text(value: f64, digits: usize) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    if value.is_finite() {
        format!("{sign}{}", general(value.abs(), digits))
    } else {
        format!("{sign}{}", not_finite(value.abs()))
    }
}

fn not_finite(value: f64) -> String {
    if value.is_nan() { "nan" } else { "inf" }.to_owned()
}

/// `d.ddde±dd`
fn exponential(value: f64, precision: usize) -> String {
    let (mantissa, exponent) = parts(value, precision);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn parts(value: f64, precision: usize) -> (String, i32) {
    let scientific = format!("{value:.precision$e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

fn general(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let (mantissa, exponent) = parts(value, digits - 1);
    let trim = |text: &str| -> String {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(&mantissa), exponent.abs());
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_print_as_in_c() {
        assert_eq!(real_text(1.0, 6), "1");
        assert_eq!(real_text(0.1, 6), "0.1");
        assert_eq!(real_text(1234567.0, 6), "1.23457e+06");
        assert_eq!(real_text(0.00001, 6), "1e-05");
        assert_eq!(real_text(-123.456, 6), "-123.456");
        assert_eq!(real_text(f64::NEG_INFINITY, 6), "-inf");
    }

    #[test]
    fn conversions_are_those_of_printf() {
        let print = |format: &str, value: f64| Conversion::parse(format).map(|c| c.apply(value));
        assert_eq!(print("8.3f", 5.1416).as_deref(), Some("   5.142"));
        assert_eq!(print("-8.3f", -5.1416).as_deref(), Some("-5.142  "));
        assert_eq!(print(".2e", 12345.678).as_deref(), Some("1.23e+04"));
        assert_eq!(print("08.3E", 0.00012).as_deref(), Some("1.200E-04"));
        assert_eq!(print("%.3g", 1234.5).as_deref(), Some("1.23e+03"));
        assert_eq!(print("q", 1.0), None);
        let print = |format: &str, value: i64| Conversion::parse(format).map(|c| c.apply_to_integer(value));
        for (format, value, text) in [
            ("05d", 42, "00042"),
            ("+d", 42, "+42"),
            ("d", -7, "-7"),
            (".4d", -7, "-0007"),
            ("x", 255, "ff"),
            ("#X", 255, "0XFF"),
            ("o", 8, "10"),
            ("#o", 8, "010"),
            ("6u", 42, "    42"),
            ("-4x|", 0, ""),
            ("x", -1, "ffffffff"),
            ("c", 65, "A"),
            ("3c", 65, "  A"),
            (".2f", 3, "3.00"),
            ("d", 9_007_199_254_740_993, "9007199254740993"),
        ] {
            let expected = (!text.is_empty()).then_some(text);
            assert_eq!(print(format, value).as_deref(), expected, "{format} {value}");
        }
    }
}
