//! Units of measurement: strings such as `kg.m2/(s3.A)` as exponents, a factor and an offset, and back into words.
//!
//! The grammar is that of the Language Specification, chapter "Unit Expressions". Symbols that are not in the table below
//! are allowed by it; such a unit is not known here, and nothing is said about it.

use std::f64::consts::PI;
use std::fmt;

/// How many base units there are.
const BASES: usize = 7;
/// The base units in the order in which products of them are written.
const BASE_NAMES: [&str; BASES] = ["kg", "m", "s", "A", "K", "mol", "cd"];
/// Exponents and logarithms that differ by less are equal: they come from few additions of small fractions.
const TOLERANCE: f64 = 1e-6;

/// What a unit is a product of: exponents of the base units, and the natural logarithm of the factor in front of them. The
/// product of two units is the sum of these numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dimension {
    exponents: [f64; BASES],
    logarithm: f64,
}

/// A unit: its dimension with the factor, and where its zero is in base units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unit {
    /// Exponents and factor.
    pub dimension: Dimension,
    /// 273.15 for `degC`, none for most.
    pub offset: f64,
}

/// Why a text is no unit expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// A symbol that is not in the table: allowed, but not known.
    UnknownSymbol,
    /// Not of the form that unit expressions have.
    Malformed,
}

/// Symbol, exponents in the order of [`BASE_NAMES`], factor, offset, whether it takes prefixes.
type Row = (&'static str, [i8; BASES], f64, f64, bool);

#[rustfmt::skip]
const SYMBOLS: &[Row] = &[
    ("rad", [0, 0, 0, 0, 0, 0, 0], 1.0, 0.0, true), ("sr", [0, 0, 0, 0, 0, 0, 0], 1.0, 0.0, true),
    ("deg", [0, 0, 0, 0, 0, 0, 0], PI / 180.0, 0.0, false), ("rev", [0, 0, 0, 0, 0, 0, 0], 2.0 * PI, 0.0, false),
    ("%", [0, 0, 0, 0, 0, 0, 0], 0.01, 0.0, false),
    ("m", [0, 1, 0, 0, 0, 0, 0], 1.0, 0.0, true), ("g", [1, 0, 0, 0, 0, 0, 0], 1e-3, 0.0, true),
    ("t", [1, 0, 0, 0, 0, 0, 0], 1e3, 0.0, true), ("s", [0, 0, 1, 0, 0, 0, 0], 1.0, 0.0, true),
    ("min", [0, 0, 1, 0, 0, 0, 0], 60.0, 0.0, false), ("h", [0, 0, 1, 0, 0, 0, 0], 3600.0, 0.0, false),
    ("d", [0, 0, 1, 0, 0, 0, 0], 86_400.0, 0.0, false), ("A", [0, 0, 0, 1, 0, 0, 0], 1.0, 0.0, true),
    ("K", [0, 0, 0, 0, 1, 0, 0], 1.0, 0.0, true), ("degC", [0, 0, 0, 0, 1, 0, 0], 1.0, 273.15, false),
    ("degF", [0, 0, 0, 0, 1, 0, 0], 5.0 / 9.0, 459.67 * 5.0 / 9.0, false),
    ("degRk", [0, 0, 0, 0, 1, 0, 0], 5.0 / 9.0, 0.0, false),
    ("mol", [0, 0, 0, 0, 0, 1, 0], 1.0, 0.0, true), ("cd", [0, 0, 0, 0, 0, 0, 1], 1.0, 0.0, true),
    ("Hz", [0, 0, -1, 0, 0, 0, 0], 1.0, 0.0, true), ("Bq", [0, 0, -1, 0, 0, 0, 0], 1.0, 0.0, true),
    ("N", [1, 1, -2, 0, 0, 0, 0], 1.0, 0.0, true), ("Pa", [1, -1, -2, 0, 0, 0, 0], 1.0, 0.0, true),
    ("bar", [1, -1, -2, 0, 0, 0, 0], 1e5, 0.0, true), ("J", [1, 2, -2, 0, 0, 0, 0], 1.0, 0.0, true),
    ("eV", [1, 2, -2, 0, 0, 0, 0], 1.602_176_634e-19, 0.0, true), ("W", [1, 2, -3, 0, 0, 0, 0], 1.0, 0.0, true),
    ("var", [1, 2, -3, 0, 0, 0, 0], 1.0, 0.0, true), ("C", [0, 0, 1, 1, 0, 0, 0], 1.0, 0.0, true),
    ("V", [1, 2, -3, -1, 0, 0, 0], 1.0, 0.0, true), ("F", [-1, -2, 4, 2, 0, 0, 0], 1.0, 0.0, true),
    ("Ohm", [1, 2, -3, -2, 0, 0, 0], 1.0, 0.0, true), ("S", [-1, -2, 3, 2, 0, 0, 0], 1.0, 0.0, true),
    ("Wb", [1, 2, -2, -1, 0, 0, 0], 1.0, 0.0, true), ("T", [1, 0, -2, -1, 0, 0, 0], 1.0, 0.0, true),
    ("H", [1, 2, -2, -2, 0, 0, 0], 1.0, 0.0, true), ("lm", [0, 0, 0, 0, 0, 0, 1], 1.0, 0.0, true),
    ("lx", [0, -2, 0, 0, 0, 0, 1], 1.0, 0.0, true), ("Gy", [0, 2, -2, 0, 0, 0, 0], 1.0, 0.0, true),
    ("Sv", [0, 2, -2, 0, 0, 0, 0], 1.0, 0.0, true), ("kat", [0, 0, -1, 0, 0, 1, 0], 1.0, 0.0, true),
    ("l", [0, 3, 0, 0, 0, 0, 0], 1e-3, 0.0, true), ("L", [0, 3, 0, 0, 0, 0, 0], 1e-3, 0.0, true),
    ("ha", [0, 2, 0, 0, 0, 0, 0], 1e4, 0.0, false),
];

/// What results of a calculation are called, where they are one of these or one of these with one other factor.
const PREFERRED: [&str; 12] = ["N", "J", "W", "V", "Ohm", "Pa", "C", "F", "H", "Wb", "T", "S"];

#[rustfmt::skip]
const PREFIXES: &[(&str, f64)] = &[
    ("da", 1e1), ("Q", 1e30), ("R", 1e27), ("Y", 1e24), ("Z", 1e21), ("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9),
    ("M", 1e6), ("k", 1e3), ("h", 1e2), ("d", 1e-1), ("c", 1e-2), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9), ("p", 1e-12),
    ("f", 1e-15), ("a", 1e-18), ("z", 1e-21), ("y", 1e-24), ("r", 1e-27), ("q", 1e-30),
];

impl Dimension {
    /// A number.
    pub const ONE: Dimension = Dimension {
        exponents: [0.0; BASES],
        logarithm: 0.0,
    };

    /// Seconds.
    pub const SECOND: Dimension = Dimension {
        exponents: [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        logarithm: 0.0,
    };

    /// This times a power of another one.
    #[must_use]
    pub fn times(mut self, other: Dimension, power: f64) -> Dimension {
        for (own, more) in self.exponents.iter_mut().zip(other.exponents) {
            *own += power * more;
        }
        self.logarithm += power * other.logarithm;
        self
    }

    /// A power of it.
    #[must_use]
    pub fn power(self, power: f64) -> Dimension {
        Dimension::ONE.times(self, power)
    }

    /// Whether it is a plain number.
    pub fn is_one(self) -> bool {
        self.exponents.iter().all(|exponent| exponent.abs() < TOLERANCE) && self.logarithm.abs() < TOLERANCE
    }

    /// Whether two are the same.
    pub fn is(self, other: Dimension) -> bool {
        self.times(other, -1.0).is_one()
    }

    /// Whether it is a power of seconds.
    pub fn is_of_time(self) -> bool {
        let mut others = self;
        others.exponents[2] = 0.0;
        others.is_one()
    }

    /// The base units that it is a product of, with their exponents.
    pub fn bases(self) -> impl Iterator<Item = (&'static str, f64)> {
        let exponents = BASE_NAMES.into_iter().zip(self.exponents);
        exponents.filter(|(_, exponent)| exponent.abs() > TOLERANCE)
    }

    /// The number in front of them.
    pub fn factor(self) -> f64 {
        let factor = self.logarithm.exp();
        // What was written with few digits has few digits again.
        let short: f64 = format!("{factor:.9e}").parse().unwrap_or(factor);
        if (short / factor - 1.0).abs() < 1e-12 {
            short
        } else {
            factor
        }
    }

    pub(crate) fn is_scaled(self) -> bool {
        self.logarithm.abs() >= TOLERANCE
    }

    /// The name of a derived unit, alone or with a power of one base unit.
    fn named(self) -> Option<String> {
        let derived = |name: &&str| Unit::parse(name).ok().map(|unit| unit.dimension);
        let same = PREFERRED
            .iter()
            .find(|name| derived(name).is_some_and(|unit| unit.is(self)));
        if let Some(name) = same {
            return Some((*name).to_owned());
        }
        // Short products are as well known by their bases: `kg.m/s` rather than `N.s`.
        if self.exponents.iter().map(|exponent| exponent.abs()).sum::<f64>() < 5.0 {
            return None;
        }
        PREFERRED.iter().find_map(|name| {
            let rest = self.times(derived(name)?, -1.0);
            let mut factors = (0..BASES).filter(|&base| rest.exponents[base].abs() > TOLERANCE);
            let (base, None) = (factors.next()?, factors.next()) else {
                return None;
            };
            let exponent = rest.exponents[base];
            let sign = if exponent < 0.0 { '/' } else { '.' };
            let is_plain = exponent.fract() == 0.0 && exponent.abs() < 4.0;
            is_plain.then(|| format!("{name}{sign}{}", factor(BASE_NAMES[base], exponent.abs())))
        })
    }

    /// As a product of base units.
    fn of_bases(self) -> String {
        let part = |sign: f64| -> Vec<String> {
            let exponents = self.exponents.iter().zip(BASE_NAMES);
            let kept = exponents.filter(|(exponent, _)| sign * **exponent > TOLERANCE);
            kept.map(|(exponent, name)| factor(name, exponent.abs())).collect()
        };
        let (above, below) = (part(1.0), part(-1.0));
        let numerator = if above.is_empty() {
            "1".to_owned()
        } else {
            above.join(".")
        };
        match below.len() {
            0 => numerator,
            1 => format!("{numerator}/{}", below[0]),
            _ => format!("{numerator}/({})", below.join(".")),
        }
    }
}

/// `m`, `m2`, `m(1/2)`
fn factor(name: &str, exponent: f64) -> String {
    if (exponent - 1.0).abs() < TOLERANCE {
        return name.to_owned();
    }
    let denominator =
        (1..=12).find(|&d| ((exponent * f64::from(d)).round() - exponent * f64::from(d)).abs() < TOLERANCE);
    match denominator {
        Some(1) => format!("{name}{}", exponent.round()),
        Some(d) => format!("{name}({}/{d})", (exponent * f64::from(d)).round()),
        None => format!("{name}({exponent})"),
    }
}

/// In words: a named unit where there is one, else base units; a factor in front.
impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = Dimension {
            logarithm: 0.0,
            ..*self
        };
        if self.is_scaled() {
            let digits = format!("{:.6e}", self.logarithm.exp());
            let shown: f64 = digits.parse().unwrap_or(f64::NAN);
            if plain.is_one() {
                return write!(f, "{shown}");
            }
            write!(f, "{shown} ")?;
        }
        f.write_str(&plain.named().unwrap_or_else(|| plain.of_bases()))
    }
}

impl Unit {
    /// The unit that a text stands for.
    pub fn parse(text: &str) -> Result<Unit, UnitError> {
        let mut parser = Parser {
            text: text.as_bytes(),
            at: 0,
            unknown: false,
            depth: 0,
        };
        let unit = parser.expression()?;
        match (parser.at == text.len(), parser.unknown) {
            (false, _) => Err(UnitError::Malformed),
            (true, true) => Err(UnitError::UnknownSymbol),
            (true, false) => Ok(unit),
        }
    }

    fn plain(dimension: Dimension) -> Unit {
        Unit { dimension, offset: 0.0 }
    }

    /// A symbol with or without a prefix. Symbols come first: `min` is no milli-inch, `cd` no centi-day.
    fn symbol(name: &str) -> Option<Unit> {
        let of = |&(_, exponents, scale, offset, _): &Row, prefix: f64| Unit {
            dimension: Dimension {
                exponents: exponents.map(f64::from),
                logarithm: (scale * prefix).ln(),
            },
            offset,
        };
        if let Some(row) = SYMBOLS.iter().find(|row| row.0 == name) {
            return Some(of(row, 1.0));
        }
        PREFIXES.iter().find_map(|(prefix, factor)| {
            let rest = name.strip_prefix(prefix)?;
            let row = SYMBOLS.iter().find(|row| row.0 == rest && row.4)?;
            Some(of(row, *factor))
        })
    }
}

/// Parentheses are not nested deeper by anybody.
const DEEPEST: u32 = 32;

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether a symbol was not known.
    unknown: bool,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// `numerator [/ denominator]`
    fn expression(&mut self) -> Result<Unit, UnitError> {
        let numerator = self.numerator()?;
        if !self.eat(b'/') {
            return Ok(numerator);
        }
        let denominator = if self.peek() == Some(b'(') {
            self.parenthesised()?
        } else {
            self.factor()?
        };
        Ok(Unit::plain(numerator.dimension.times(denominator.dimension, -1.0)))
    }

    /// `1`, factors with `.` between them, or parentheses; the last also as one of the factors.
    fn numerator(&mut self) -> Result<Unit, UnitError> {
        if self.eat(b'1') {
            return Ok(Unit::default());
        }
        let mut product = self.operand()?;
        while self.eat(b'.') {
            product = Unit::plain(product.dimension.times(self.operand()?.dimension, 1.0));
        }
        Ok(product)
    }

    fn operand(&mut self) -> Result<Unit, UnitError> {
        if self.peek() == Some(b'(') {
            self.parenthesised()
        } else {
            self.factor()
        }
    }

    fn parenthesised(&mut self) -> Result<Unit, UnitError> {
        self.depth += 1;
        if self.depth > DEEPEST || !self.eat(b'(') {
            return Err(UnitError::Malformed);
        }
        let inner = self.expression()?;
        self.depth -= 1;
        if self.eat(b')') {
            Ok(inner)
        } else {
            Err(UnitError::Malformed)
        }
    }

    /// A symbol and its exponent.
    fn factor(&mut self) -> Result<Unit, UnitError> {
        let start = self.at;
        let is_symbol =
            |byte: u8| byte.is_ascii_alphabetic() || byte >= 0x80 || matches!(byte, b'%' | b'_' | b'\'' | b'"');
        while self.peek().is_some_and(is_symbol) {
            self.at += 1;
        }
        // What is between such bytes are whole characters.
        let name = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if name.is_empty() {
            return Err(UnitError::Malformed);
        }
        let unit = Unit::symbol(name);
        self.unknown |= unit.is_none();
        let unit = unit.unwrap_or_default();
        Ok(match self.exponent()? {
            Some(power) => Unit::plain(unit.dimension.power(power)),
            None => unit,
        })
    }

    /// `2`, `-1`, `(1/2)`
    fn exponent(&mut self) -> Result<Option<f64>, UnitError> {
        let fraction = self.peek() == Some(b'(') && self.at > 0;
        if fraction {
            self.at += 1;
        }
        let negative = self.eat(b'-');
        let signed = negative || self.eat(b'+');
        let Some(mut value) = self.integer() else {
            return if signed || fraction {
                Err(UnitError::Malformed)
            } else {
                Ok(None)
            };
        };
        if fraction {
            if self.eat(b'/') {
                match self.integer() {
                    Some(divisor) if divisor > 0.0 => value /= divisor,
                    _ => return Err(UnitError::Malformed),
                }
            }
            if !self.eat(b')') {
                return Err(UnitError::Malformed);
            }
        }
        Ok(Some(if negative { -value } else { value }))
    }

    fn integer(&mut self) -> Option<f64> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(text: &str) -> Dimension {
        Unit::parse(text)
            .unwrap_or_else(|why| panic!("{text}: {why:?}"))
            .dimension
    }

    #[test]
    fn equal_units_are_equal() {
        for (a, b) in [
            ("N", "kg.m/s2"),
            ("J", "N.m"),
            ("W", "V.A"),
            ("rad/s", "1/s"),
            ("Hz", "s-1"),
            ("J/(kg.K)", "m2/(s2.K)"),
            ("Ohm", "V/A"),
            ("l", "dm3"),
            ("km/h", "km/h"),
            ("m3.kg-1.K-1", "m3/(kg.K)"),
            ("(J/kg)/(kg/m3)", "J.m3/kg2"),
            ("(Pa.s2)/m6", "Pa.s2/m6"),
            ("m(1/2).m(1/2)", "m"),
            ("kW.h", "kW.h"),
            ("MPa", "N/mm2"),
            ("1", "rad"),
        ] {
            assert!(dimension(a).is(dimension(b)), "{a} and {b}");
        }
    }

    #[test]
    fn different_units_differ() {
        for (a, b) in [
            ("m", "s"),
            ("kW", "W"),
            ("deg", "rad"),
            ("V", "A"),
            ("mm", "Mm"),
            ("min", "m"),
            ("m(1/2)", "m"),
            ("degF", "K"),
        ] {
            assert!(!dimension(a).is(dimension(b)), "{a} and {b}");
        }
        assert_eq!(Unit::parse("degC").map(|unit| unit.offset), Ok(273.15));
    }

    #[test]
    fn what_is_no_unit_is_said() {
        for text in ["foo", "kg.bit", "EUR/kg", "µm"] {
            assert_eq!(Unit::parse(text), Err(UnitError::UnknownSymbol), "{text}");
        }
        for text in [
            "", "m^2", "m/s/s", "kg*m", "m.", "/s", "(m", "m)", "m(1/0)", "m s", "2", "m+", "m(1/2",
        ] {
            assert_eq!(Unit::parse(text), Err(UnitError::Malformed), "{text}");
        }
        assert_eq!(Unit::parse(&"(".repeat(100_000)), Err(UnitError::Malformed));
    }

    #[test]
    fn products_of_base_units_are_told() {
        for (text, factor, bases) in [
            ("N.m/rad", 1.0, vec![("kg", 1.0), ("m", 2.0), ("s", -2.0)]),
            ("bar", 1e5, vec![("kg", 1.0), ("m", -1.0), ("s", -2.0)]),
            ("km/h", 1.0 / 3.6, vec![("m", 1.0), ("s", -1.0)]),
            ("mA.h", 3.6, vec![("s", 1.0), ("A", 1.0)]),
            ("m(1/2)", 1.0, vec![("m", 0.5)]),
            ("%", 0.01, vec![]),
        ] {
            let found = dimension(text);
            assert_eq!(found.bases().collect::<Vec<_>>(), bases, "{text}");
            assert!((found.factor() / factor - 1.0).abs() < 1e-14, "{text}");
        }
        assert_eq!(dimension("bar").factor(), 1e5);
        assert!((dimension("deg").factor() - PI / 180.0).abs() < 1e-16);
    }

    #[test]
    fn words_are_units_again() {
        for (text, words) in [
            ("kg.m/s", "kg.m/s"),
            ("kg.m/s2", "N"),
            ("V/A", "Ohm"),
            ("W/K", "W/K"),
            ("W/(m2.K)", "kg/(s3.K)"),
            ("Pa.s", "kg/(m.s)"),
            ("rad/s", "1/s"),
            ("m", "m"),
            ("m(1/2)", "m(1/2)"),
            ("N/m", "kg/s2"),
            ("1", "1"),
        ] {
            assert_eq!(dimension(text).to_string(), words, "{text}");
            assert!(dimension(words).is(dimension(text)), "{text}");
        }
        assert_eq!(dimension("kW").to_string(), "1000 W");
        assert_eq!(dimension("deg").to_string(), "0.01745329");
    }
}
