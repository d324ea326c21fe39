//! Round numbers along an axis.

use super::text::power_of_ten;

/// The ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ticks {
    /// Where they are.
    pub values: Vec<f64>,
    /// What they say.
    pub labels: Vec<String>,
    /// What labels leave out: `×10³` or `+ 101325`; may be empty.
    pub note: String,
}

/// About `count` ticks from `low` to `high`, three at least where that is possible.
pub(super) fn ticks(low: f64, high: f64, count: usize) -> Ticks {
    let mut step = nice_step((high - low) / count.max(1) as f64);
    if !(step.is_finite() && step > 0.0 && high.is_finite() && low.is_finite()) {
        return Ticks {
            values: Vec::new(),
            labels: Vec::new(),
            note: String::new(),
        };
    }
    let mut values = multiples(low, high, step, count);
    while values.len() < 3 && step > 1e-12 * high.abs().max(low.abs()) {
        step = nice_step(0.4 * step);
        values = multiples(low, high, step, count);
    }
    let (labels, note) = labels(&values, step);
    Ticks { values, labels, note }
}

/// Ticks of a logarithmic axis between two exponents: powers of ten, and twice and five times those where there are few.
pub(super) fn logarithmic_ticks(low: f64, high: f64, count: usize) -> Ticks {
    let none = Ticks {
        values: Vec::new(),
        labels: Vec::new(),
        note: String::new(),
    };
    if !(low.is_finite() && high.is_finite() && high > low) {
        return none;
    }
    let decades = (high - low).ceil().max(1.0);
    let step = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
    let digits: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let exponents = (first..=last).filter(|exponent| exponent % step == 0);
    let all = exponents.flat_map(|exponent| digits.iter().map(move |digit| (exponent, *digit)));
    let mut ticks = none;
    for (exponent, digit) in all {
        let value = f64::from(exponent) + digit.log10();
        if (low - 1e-9..=high + 1e-9).contains(&value) {
            ticks.values.push(value);
            ticks.labels.push(match (exponent, digit) {
                (-2..=3, _) => super::text::short_number(digit * 10f64.powi(exponent)),
                (_, 1.0) => power_of_ten(exponent),
                _ => format!("{digit}·{}", power_of_ten(exponent)),
            });
        }
    }
    ticks
}

fn multiples(low: f64, high: f64, step: f64, count: usize) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    if last < first {
        return Vec::new();
    }
    // Rounding may leave a great many steps when they are tiny against the values.
    let steps = ((last - first) as usize).min(4 * count + 4);
    (0..=steps).map(|k| (first + k as f64) * step).collect()
}

/// 1, 2 or 5 times a power of ten, not below the given size.
fn nice_step(size: f64) -> f64 {
    let power = 10f64.powf(size.log10().floor());
    let fraction = size / power;
    let digit = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|d| fraction <= d * (1.0 + 1e-9))
        .unwrap_or(10.0);
    digit * power
}

fn labels(values: &[f64], step: f64) -> (Vec<String>, String) {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if values.is_empty() || largest == 0.0 {
        return (values.iter().map(|_| "0".to_owned()).collect(), String::new());
    }
    // More digits than can be read: say the common part once.
    if step < 1e-5 * largest {
        let range = values[values.len() - 1] - values[0] + step;
        let power = range.log10().ceil() as i32;
        let unit = 10f64.powi(power);
        let common = (values[values.len() / 2] / unit).round() * unit;
        let rest: Vec<f64> = values.iter().map(|v| v - common).collect();
        let (labels, note) = labels(&rest, step);
        let sign = if common < 0.0 { '−' } else { '+' };
        let decimals = (-power).max(0) as usize;
        let common = format!("{:.decimals$}", common.abs());
        let common = super::text::trim_zeros(&common);
        return (labels, format!("{note} {sign} {common}").trim().to_owned());
    }
    let magnitude = largest.log10().floor() as i32;
    let exponent = match magnitude {
        -3..=4 => 0,
        _ => magnitude.div_euclid(3) * 3,
    };
    let unit = 10f64.powi(exponent);
    let decimals = (-((step / unit).log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
    let label = |value: &f64| {
        let text = format!("{:.decimals$}", value / unit);
        let zero = text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.'));
        if zero { "0".to_owned() } else { text.replace('-', "−") }
    };
    let note = if exponent == 0 {
        String::new()
    } else {
        format!("×{}", power_of_ten(exponent))
    };
    (values.iter().map(label).collect(), note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers() {
        assert_eq!(ticks(0.0, 10.0, 5).labels, ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(ticks(-1.06, 1.06, 4).labels, ["−1", "0", "1"]);
        assert_eq!(ticks(-4.9, 3.9, 2).labels, ["−4", "−2", "0", "2"]);
        let large = ticks(0.0, 3e6, 3);
        assert_eq!(
            (large.labels, large.note.as_str()),
            (vec!["0".into(), "1".into(), "2".into(), "3".into()], "×10⁶")
        );
    }

    #[test]
    fn small_changes_of_a_large_value() {
        let t = ticks(101_325.0, 101_325.004, 4);
        assert!(t.note.contains("+ 101325"), "{t:?}");
        assert!(t.labels.iter().all(|label| label.len() < 8), "{t:?}");
    }

    #[test]
    fn powers_of_ten() {
        assert_eq!(
            logarithmic_ticks(-1.0, 4.2, 8).labels,
            ["0.1", "1", "10", "100", "1000", "10⁴"]
        );
        assert_eq!(logarithmic_ticks(0.0, 1.0, 8).labels, ["1", "2", "5", "10"]);
        assert!(logarithmic_ticks(-300.0, 300.0, 6).labels.len() <= 7);
        assert!(logarithmic_ticks(f64::NAN, 1.0, 6).labels.is_empty());
    }

    #[test]
    fn impossible_axes_have_no_ticks() {
        assert!(ticks(0.0, f64::INFINITY, 5).values.is_empty());
        assert!(ticks(f64::NAN, 1.0, 5).values.is_empty());
        assert!(ticks(1e300, 1.0000000000001e300, 5).values.len() < 30);
    }
}
