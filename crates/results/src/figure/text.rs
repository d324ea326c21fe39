//! Text in figures: escaping, width, numbers.

/// Text for XML. Control characters that XML forbids are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => result.push('\u{fffd}'),
            c => result.push(c),
        }
    }
    result
}

/// Width of a text in a usual sans-serif font, a little generous.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.32,
            'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.40,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
            'A'..='Z' => 0.72,
            c if c.is_ascii() => 0.62,
            '\u{2000}'..='\u{2fff}' | '°' | '·' | '²' | '³' | '¹' => 0.5,
            c if (c as u32) < 0x1100 => 0.66,
            _ => 1.0,
        })
        .sum();
    em * size
}

/// A text no wider than `limit`: the beginning and the end are kept, which tell names apart.
pub(super) fn shorten(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let mut kept = chars.len();
    while kept > 2 {
        kept -= 1;
        let head = kept / 3;
        let tail = kept - head;
        let short: String = chars[..head]
            .iter()
            .chain(&['…'])
            .chain(&chars[chars.len() - tail..])
            .collect();
        if width(&short, size) <= limit {
            return short;
        }
    }
    "…".to_owned()
}

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

    #[test]
    fn names_keep_both_ends() {
        let short = shorten("machine.gearbox.shaft[12].flange.tau", 10.0, 100.0);
        assert!(
            short.starts_with("mac") && short.ends_with(".tau") && short.contains('…'),
            "{short}"
        );
        assert!(width(&short, 10.0) <= 100.0);
        assert_eq!(escape("a<b>&\"c\u{1}"), "a&lt;b&gt;&amp;&quot;c\u{fffd}");
    }
}
