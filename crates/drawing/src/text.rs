//! Text in pictures: escaping and width.

/// Text for XML. Control characters that XML forbids are replaced.
pub fn escape(text: &str) -> String {
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
pub fn width(text: &str, size: f64) -> f64 {
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
pub fn shorten(text: &str, size: f64, limit: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
