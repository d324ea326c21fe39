//! Finding numbers, identifiers and texts at a place of a text. Places are counted in bytes from 1; what is not there is
//! answered with the place where it was looked for as the next one.

/// Where to go on, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scanned<T> {
    /// The place behind it; the place of the start if it is not there.
    pub next: usize,
    pub value: T,
}

/// The place of the first character that is no white space, from 1.
pub(crate) fn skip_white_space(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start.max(1) - 1;
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at + 1
}

fn digits(bytes: &[u8], from: usize) -> usize {
    bytes[from.min(bytes.len())..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count()
}

/// `[sign] digits [. digits] [e [sign] digits]`
pub(crate) fn real(text: &str, start: usize, unsigned: bool) -> Scanned<f64> {
    let nothing = Scanned {
        next: start,
        value: 0.0,
    };
    let bytes = text.as_bytes();
    let first = skip_white_space(text, start) - 1;
    let mut at = first;
    if matches!(bytes.get(at), Some(b'+' | b'-')) {
        if unsigned {
            return nothing;
        }
        at += 1;
    }
    let whole = digits(bytes, at);
    at += whole;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        fraction = digits(bytes, at + 1);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return nothing;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(bytes, at + 1 + sign);
        if exponent == 0 {
            return nothing;
        }
        at += 1 + sign + exponent;
    }
    match text.get(first..at).and_then(|number| number.parse().ok()) {
        Some(value) => Scanned { next: at + 1, value },
        None => nothing,
    }
}

/// `[sign] digits`; what goes on as a Real is none.
pub(crate) fn integer(text: &str, start: usize, unsigned: bool) -> Scanned<i64> {
    let nothing = Scanned { next: start, value: 0 };
    let bytes = text.as_bytes();
    let first = skip_white_space(text, start) - 1;
    let sign = usize::from(matches!(bytes.get(first), Some(b'+' | b'-')));
    let count = digits(bytes, first + sign);
    let end = first + sign + count;
    if unsigned && sign == 1 || count == 0 || matches!(bytes.get(end), Some(b'.' | b'e' | b'E')) {
        return nothing;
    }
    match text.get(first..end).and_then(|number| number.parse().ok()) {
        Some(value) => Scanned { next: end + 1, value },
        None => nothing,
    }
}

/// A text in quotation marks that is not empty; `\"` does not end it.
pub(crate) fn string(text: &str, start: usize) -> Scanned<String> {
    let nothing = Scanned {
        next: start,
        value: String::new(),
    };
    let bytes = text.as_bytes();
    let first = skip_white_space(text, start) - 1;
    if bytes.get(first) != Some(&b'"') {
        return nothing;
    }
    let mut at = first + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' if at == first + 1 => return nothing,
            b'"' => {
                let value = text.get(first + 1..at).unwrap_or("").to_owned();
                return Scanned { next: at + 2, value };
            }
            b'\\' if bytes.get(at + 1) == Some(&b'"') => at += 2,
            _ => at += 1,
        }
    }
    nothing
}

/// A letter, then letters, digits and underscores.
pub(crate) fn identifier(text: &str, start: usize) -> Scanned<String> {
    let first = skip_white_space(text, start) - 1;
    let rest = text.as_bytes().get(first..).unwrap_or(&[]);
    if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
        return Scanned {
            next: start,
            value: String::new(),
        };
    }
    let length = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    Scanned {
        next: first + length + 1,
        value: text.get(first..first + length).unwrap_or("").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_at_separators() {
        assert_eq!(
            real("  -1.5e-3;", 1, false),
            Scanned {
                next: 10,
                value: -1.5e-3
            }
        );
        assert_eq!(real("1.2.3", 1, false), Scanned { next: 4, value: 1.2 });
        assert_eq!(real("1e", 1, false).next, 1);
        assert_eq!(real("-1", 1, true).next, 1);
        assert_eq!(real(".5 ", 1, false), Scanned { next: 3, value: 0.5 });
        assert_eq!(real(".", 1, false).next, 1);
        assert_eq!(integer("x 42)", 2, false), Scanned { next: 5, value: 42 });
        assert_eq!(integer("42.0", 1, false).next, 1);
        assert_eq!(integer("99999999999999999999", 1, false).next, 1);
        assert_eq!(integer("", 7, false).next, 7);
    }

    #[test]
    fn words_and_texts() {
        assert_eq!(
            identifier(" ab_1-c", 1),
            Scanned {
                next: 6,
                value: "ab_1".into()
            }
        );
        assert_eq!(
            string("x \"a\\\"b\" y", 2),
            Scanned {
                next: 9,
                value: "a\\\"b".into()
            }
        );
        assert_eq!(string("\"open", 1).next, 1);
        assert_eq!(string("\"\"", 1).next, 1);
        assert_eq!(identifier("", 3).next, 3);
    }
}
