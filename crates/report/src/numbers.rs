//! Numbers in tables.

/// Up to seven digits, as few as it takes.
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "–".to_owned()
        } else {
            value.to_string()
        };
    }
    let size = value.abs();
    if value == 0.0 || (1e-4..1e7).contains(&size) {
        let decimals = if value == 0.0 {
            0
        } else {
            (6 - size.log10().floor() as i32).max(0) as usize
        };
        let text = format!("{value:.decimals$}");
        return trimmed(&text).to_owned();
    }
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
        None => text,
    }
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_few_digits_as_it_takes() {
        let texts = [0.0, 2.0, -0.25, 1.0 / 3.0, 123456.789, 1e7, 1.5e-9, f64::NAN].map(short);
        assert_eq!(
            texts,
            ["0", "2", "-0.25", "0.3333333", "123456.8", "1e7", "1.5e-9", "–"]
        );
    }
}
