//! Conversion between a unit and the unit to show values in, and units as people write them.

/// `shown = factor * stored + offset`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    /// Multiplies the stored value.
    pub factor: f64,
    /// Is added afterwards.
    pub offset: f64,
}

impl Conversion {
    /// Leaves values as they are.
    pub const IDENTITY: Self = Self {
        factor: 1.0,
        offset: 0.0,
    };

    /// The value to show.
    pub fn apply(self, value: f64) -> f64 {
        self.factor * value + self.offset
    }
}

/// One row per unit: name, the unit it is measured in, how many of those it has, and where its zero lies.
type Row = (&'static str, &'static str, f64, f64);

const DEGREE: f64 = std::f64::consts::PI / 180.0;
const REVOLUTION: f64 = 2.0 * std::f64::consts::PI;

#[rustfmt::skip]
const UNITS: &[Row] = &[
    ("rad", "rad", 1.0, 0.0), ("deg", "rad", DEGREE, 0.0), ("mrad", "rad", 1e-3, 0.0), ("rev", "rad", REVOLUTION, 0.0),
    ("rad/s", "rad/s", 1.0, 0.0), ("deg/s", "rad/s", DEGREE, 0.0), ("rpm", "rad/s", REVOLUTION / 60.0, 0.0),
    ("rev/min", "rad/s", REVOLUTION / 60.0, 0.0), ("r/min", "rad/s", REVOLUTION / 60.0, 0.0), ("1/min", "rad/s", REVOLUTION / 60.0, 0.0),
    ("rad/s2", "rad/s2", 1.0, 0.0), ("deg/s2", "rad/s2", DEGREE, 0.0),
    ("K", "K", 1.0, 0.0), ("degC", "K", 1.0, 273.15), ("degF", "K", 5.0 / 9.0, 459.67 * 5.0 / 9.0), ("degRk", "K", 5.0 / 9.0, 0.0),
    ("Pa", "Pa", 1.0, 0.0), ("hPa", "Pa", 1e2, 0.0), ("kPa", "Pa", 1e3, 0.0), ("MPa", "Pa", 1e6, 0.0), ("GPa", "Pa", 1e9, 0.0),
    ("bar", "Pa", 1e5, 0.0), ("mbar", "Pa", 1e2, 0.0), ("atm", "Pa", 101_325.0, 0.0), ("psi", "Pa", 6_894.757_293_168, 0.0),
    ("m", "m", 1.0, 0.0), ("km", "m", 1e3, 0.0), ("dm", "m", 1e-1, 0.0), ("cm", "m", 1e-2, 0.0), ("mm", "m", 1e-3, 0.0),
    ("um", "m", 1e-6, 0.0), ("nm", "m", 1e-9, 0.0), ("in", "m", 0.0254, 0.0), ("ft", "m", 0.3048, 0.0),
    ("m2", "m2", 1.0, 0.0), ("cm2", "m2", 1e-4, 0.0), ("mm2", "m2", 1e-6, 0.0),
    ("m3", "m3", 1.0, 0.0), ("l", "m3", 1e-3, 0.0), ("L", "m3", 1e-3, 0.0), ("ml", "m3", 1e-6, 0.0), ("cm3", "m3", 1e-6, 0.0),
    ("m3/s", "m3/s", 1.0, 0.0), ("l/s", "m3/s", 1e-3, 0.0), ("l/min", "m3/s", 1e-3 / 60.0, 0.0), ("m3/h", "m3/s", 1.0 / 3600.0, 0.0),
    ("m/s", "m/s", 1.0, 0.0), ("km/h", "m/s", 1.0 / 3.6, 0.0), ("mm/s", "m/s", 1e-3, 0.0),
    ("s", "s", 1.0, 0.0), ("ms", "s", 1e-3, 0.0), ("us", "s", 1e-6, 0.0), ("ns", "s", 1e-9, 0.0), ("min", "s", 60.0, 0.0),
    ("h", "s", 3600.0, 0.0), ("d", "s", 86_400.0, 0.0),
    ("kg", "kg", 1.0, 0.0), ("g", "kg", 1e-3, 0.0), ("mg", "kg", 1e-6, 0.0), ("t", "kg", 1e3, 0.0),
    ("kg/s", "kg/s", 1.0, 0.0), ("kg/h", "kg/s", 1.0 / 3600.0, 0.0), ("g/s", "kg/s", 1e-3, 0.0), ("t/h", "kg/s", 1.0 / 3.6, 0.0),
    ("kg/m3", "kg/m3", 1.0, 0.0), ("g/cm3", "kg/m3", 1e3, 0.0),
    ("N", "N", 1.0, 0.0), ("mN", "N", 1e-3, 0.0), ("kN", "N", 1e3, 0.0), ("MN", "N", 1e6, 0.0),
    ("N.m", "N.m", 1.0, 0.0), ("N.mm", "N.m", 1e-3, 0.0), ("kN.m", "N.m", 1e3, 0.0),
    ("J", "J", 1.0, 0.0), ("kJ", "J", 1e3, 0.0), ("MJ", "J", 1e6, 0.0), ("Wh", "J", 3600.0, 0.0), ("W.h", "J", 3600.0, 0.0),
    ("kWh", "J", 3.6e6, 0.0), ("kW.h", "J", 3.6e6, 0.0), ("MWh", "J", 3.6e9, 0.0),
    ("W", "W", 1.0, 0.0), ("mW", "W", 1e-3, 0.0), ("kW", "W", 1e3, 0.0), ("MW", "W", 1e6, 0.0), ("GW", "W", 1e9, 0.0),
    ("A", "A", 1.0, 0.0), ("uA", "A", 1e-6, 0.0), ("mA", "A", 1e-3, 0.0), ("kA", "A", 1e3, 0.0),
    ("V", "V", 1.0, 0.0), ("uV", "V", 1e-6, 0.0), ("mV", "V", 1e-3, 0.0), ("kV", "V", 1e3, 0.0),
    ("Ohm", "Ohm", 1.0, 0.0), ("mOhm", "Ohm", 1e-3, 0.0), ("kOhm", "Ohm", 1e3, 0.0), ("MOhm", "Ohm", 1e6, 0.0),
    ("F", "F", 1.0, 0.0), ("mF", "F", 1e-3, 0.0), ("uF", "F", 1e-6, 0.0), ("nF", "F", 1e-9, 0.0), ("pF", "F", 1e-12, 0.0),
    ("H", "H", 1.0, 0.0), ("mH", "H", 1e-3, 0.0), ("uH", "H", 1e-6, 0.0),
    ("C", "C", 1.0, 0.0), ("A.h", "C", 3600.0, 0.0), ("Ah", "C", 3600.0, 0.0), ("mA.h", "C", 3.6, 0.0),
    ("Hz", "Hz", 1.0, 0.0), ("kHz", "Hz", 1e3, 0.0), ("MHz", "Hz", 1e6, 0.0), ("GHz", "Hz", 1e9, 0.0),
    ("1", "1", 1.0, 0.0), ("%", "1", 1e-2, 0.0),
];

fn find(unit: &str) -> Option<&'static Row> {
    UNITS.iter().find(|row| row.0 == unit)
}

/// How to show values of `unit` in `shown`; `None` if the two do not measure the same thing or are not known.
pub fn conversion(unit: &str, shown: &str) -> Option<Conversion> {
    if unit == shown {
        return Some(Conversion::IDENTITY);
    }
    let (from, to) = (find(unit)?, find(shown)?);
    let same = from.1 == to.1;
    same.then(|| Conversion {
        factor: from.2 / to.2,
        offset: (from.3 - to.3) / to.2,
    })
}

/// A unit as people write it: `m/s2` as `m/s²`, `N.m` as `N·m`, `degC` as `°C`; nothing for `1`.
pub fn pretty(unit: &str) -> String {
    if unit == "1" {
        return String::new();
    }
    let mut result = String::new();
    let mut word = String::new();
    let mut after_word = false;
    for c in unit.chars() {
        if c.is_alphabetic() || c == '%' {
            word.push(c);
            continue;
        }
        after_word |= !word.is_empty();
        result.push_str(pretty_symbol(&word));
        word.clear();
        match c {
            '0'..='9' if after_word => result.push(superscript(c)),
            '-' if after_word => result.push('⁻'),
            '.' | '*' => result.push('·'),
            '^' => {}
            _ => result.push(c),
        }
        after_word &= c.is_ascii_digit() || matches!(c, '-' | '^');
    }
    result.push_str(pretty_symbol(&word));
    result
}

/// The unit of the integral of a quantity over time, so many times: what the weight of an impulse is measured in. `N.s` for a
/// force, `N.s/m` for a stiffness, `m` for a velocity.
///
/// ```
/// use saltus_results::units::integral;
/// assert_eq!(integral("N/m", 1), "N.s/m");
/// assert_eq!(integral("m/s2", 1), "m/s");
/// assert_eq!(integral("rad/s", 1), "rad");
/// assert_eq!(integral("V", 2), "V.s2");
/// ```
pub fn integral(unit: &str, order: u32) -> String {
    let (numerator, denominator) = match unit.split_once('/') {
        Some((numerator, denominator)) if is_plain(numerator) => (numerator, denominator),
        _ if is_plain(unit) => (unit, ""),
        // Too involved to be taken apart.
        _ => return format!("({unit}).{}", seconds(order)),
    };
    let inner = denominator.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    let inner = inner.unwrap_or(denominator);
    if !inner.is_empty() && !is_plain(inner) {
        return format!("({unit}).{}", seconds(order));
    }
    let below: Vec<&str> = inner.split('.').filter(|factor| !factor.is_empty()).collect();
    let power = |factor: &&str| match factor.strip_prefix('s') {
        Some("") => Some(1),
        Some(digits) => digits.parse::<u32>().ok(),
        None => None,
    };
    let divided = below.iter().find_map(power).unwrap_or(0);
    let mut above: Vec<String> = numerator
        .split('.')
        .filter(|f| !f.is_empty() && *f != "1")
        .map(str::to_owned)
        .collect();
    let mut rest: Vec<String> = below
        .iter()
        .filter(|factor| power(factor).is_none())
        .map(|f| f.to_string())
        .collect();
    if order > divided {
        above.push(seconds(order - divided));
    } else if divided > order {
        rest.push(seconds(divided - order));
    }
    let above = if above.is_empty() {
        "1".to_owned()
    } else {
        above.join(".")
    };
    match rest.len() {
        0 => above,
        1 => format!("{above}/{}", rest[0]),
        _ => format!("{above}/({})", rest.join(".")),
    }
}

/// `s`, `s2`, …
fn seconds(power: u32) -> String {
    if power == 1 {
        "s".to_owned()
    } else {
        format!("s{power}")
    }
}

/// Factors and their exponents only.
fn is_plain(unit: &str) -> bool {
    !unit.contains(['/', '(', ')', '*', '^', '-', ' '])
}

fn pretty_symbol(symbol: &str) -> &str {
    match symbol {
        "degC" => "°C",
        "degF" => "°F",
        "Ohm" => "Ω",
        "kOhm" => "kΩ",
        "MOhm" => "MΩ",
        "mOhm" => "mΩ",
        "um" => "µm",
        "us" => "µs",
        "uA" => "µA",
        "uV" => "µV",
        "uF" => "µF",
        "uH" => "µH",
        other => other,
    }
}

/// A digit as an exponent.
pub(crate) fn superscript(digit: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match digit.to_digit(10) {
        Some(value) => DIGITS[value as usize],
        None if digit == '-' => '⁻',
        None => digit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions() {
        let shown = |value, unit, to| conversion(unit, to).unwrap().apply(value);
        assert!((shown(std::f64::consts::PI, "rad", "deg") - 180.0).abs() < 1e-12);
        assert!((shown(REVOLUTION, "rad/s", "rpm") - 60.0).abs() < 1e-12);
        assert!((shown(300.0, "K", "degC") - 26.85).abs() < 1e-9);
        assert!((shown(273.15, "K", "degF") - 32.0).abs() < 1e-9);
        assert!((shown(1e5, "Pa", "bar") - 1.0).abs() < 1e-12);
        assert_eq!(conversion("furlong", "furlong"), Some(Conversion::IDENTITY));
        assert_eq!(conversion("m", "s"), None);
        assert_eq!(conversion("m", "furlong"), None);
    }

    #[test]
    fn every_unit_converts_to_its_base_and_back() {
        for &(name, base, ..) in UNITS {
            let (there, back) = (conversion(name, base).unwrap(), conversion(base, name).unwrap());
            let value = back.apply(there.apply(3.0));
            assert!((value - 3.0).abs() < 1e-9, "{name}: {value}");
        }
    }

    #[test]
    fn integrals_over_time() {
        let units = [
            "", "1", "N", "N.m", "N/m", "m/s", "rad/s", "m/s2", "kg/s", "W/(m2.K)", "J/(kg.s)", "1/s", "1/(s.m)",
        ];
        let found = units.map(|unit| integral(unit, 1));
        let expected = [
            "s",
            "s",
            "N.s",
            "N.m.s",
            "N.s/m",
            "m",
            "rad",
            "m/s",
            "kg",
            "W.s/(m2.K)",
            "J/kg",
            "1",
            "1/m",
        ];
        assert_eq!(found, expected);
        assert_eq!(integral("m/s", 2), "m.s");
        assert_eq!(integral("s-1", 1), "(s-1).s");
        assert_eq!(pretty(&integral("N.m", 2)), "N·m·s²");
    }

    #[test]
    fn pretty_units() {
        assert_eq!(pretty("m/s2"), "m/s²");
        assert_eq!(pretty("N.m"), "N·m");
        assert_eq!(pretty("degC"), "°C");
        assert_eq!(pretty("W/(m2.K)"), "W/(m²·K)");
        assert_eq!(pretty("s-1"), "s⁻¹");
        assert_eq!(pretty("1/s"), "1/s");
        assert_eq!(pretty("1"), "");
        assert_eq!(pretty("kg.m2"), "kg·m²");
    }
}
