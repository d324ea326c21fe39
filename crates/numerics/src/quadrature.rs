//! Adaptive quadrature of vectors over the unit interval.

/// Positive nodes of the 15-point Kronrod rule on [−1, 1] with their weights; every second one, from the second on, is a
/// node of the 7-point Gauss rule. (R. Piessens et al., *QUADPACK*, 1983, routine QK15.)
const KRONROD: [(f64, f64); 8] = [
    (0.991_455_371_120_812_6, 0.022_935_322_010_529_224),
    (0.949_107_912_342_758_5, 0.063_092_092_629_978_56),
    (0.864_864_423_359_769_1, 0.104_790_010_322_250_18),
    (0.741_531_185_599_394_4, 0.140_653_259_715_525_92),
    (0.586_087_235_467_691_1, 0.169_004_726_639_267_9),
    (0.405_845_151_377_397_2, 0.190_350_578_064_785_4),
    (0.207_784_955_007_898_47, 0.204_432_940_075_298_89),
    (0.0, 0.209_482_141_084_727_82),
];
/// Weights of the Gauss rule at the second, fourth, … node.
const GAUSS: [f64; 4] = [
    0.129_484_966_168_869_7,
    0.279_705_391_489_276_64,
    0.381_830_050_505_118_9,
    0.417_959_183_673_469_4,
];
/// Intervals that one integral may be divided into.
const INTERVALS: usize = 400;

struct Interval {
    from: f64,
    to: f64,
    value: Vec<f64>,
    error: Vec<f64>,
}

/// The integral of each component of `f` over [0, 1]; the first component is found to the relative tolerance, the others
/// on the intervals that this takes. An error below `rounding` is none. `None` if a value is not finite, or the tolerance is not
/// reached.
pub fn integrate_over_unit(mut f: impl FnMut(f64) -> Vec<f64>, tolerance: f64, rounding: f64) -> Option<Vec<f64>> {
    let mut intervals = vec![panel(&mut f, 0.0, 1.0)?];
    while intervals.len() < INTERVALS {
        let size: f64 = intervals.iter().map(|interval| interval.value[0].abs()).sum();
        let error: f64 = intervals.iter().map(|interval| interval.error[0]).sum();
        if error <= (tolerance * size).max(rounding) {
            let count = intervals[0].value.len();
            let total = |i: usize| intervals.iter().map(|interval| interval.value[i]).sum();
            return Some((0..count).map(total).collect());
        }
        let worst = (0..intervals.len()).max_by(|&a, &b| intervals[a].error[0].total_cmp(&intervals[b].error[0]))?;
        let Interval { from, to, .. } = intervals.swap_remove(worst);
        let middle = 0.5 * (from + to);
        intervals.push(panel(&mut f, from, middle)?);
        intervals.push(panel(&mut f, middle, to)?);
    }
    None
}

/// The rule on one interval, with the difference between both rules as error.
fn panel(f: &mut impl FnMut(f64) -> Vec<f64>, from: f64, to: f64) -> Option<Interval> {
    let (centre, half) = (0.5 * (from + to), 0.5 * (to - from));
    let (mut kronrod, mut gauss): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut size = 0.0;
    for (number, (node, weight)) in KRONROD.into_iter().enumerate() {
        let sides: &[f64] = if node == 0.0 { &[0.0] } else { &[-1.0, 1.0] };
        for side in sides {
            let values = f(centre + side * node * half);
            if values.iter().any(|value| !value.is_finite()) {
                return None;
            }
            kronrod.resize(values.len(), 0.0);
            gauss.resize(values.len(), 0.0);
            size += half * weight * values[0].abs();
            for (i, value) in values.iter().enumerate() {
                kronrod[i] += half * weight * value;
                if number % 2 == 1 {
                    gauss[i] += half * GAUSS[number / 2] * value;
                }
            }
        }
    }
    let rounding = 50.0 * f64::EPSILON * size;
    let differences = kronrod.iter().zip(&gauss).map(|(k, g)| (k - g).abs());
    // The difference is the error of the lower rule; that of the higher one is much smaller where it converges.
    let estimate = |difference: f64| {
        let ratio = if size > 0.0 { difference / size } else { 0.0 };
        let sharpened = size * (200.0 * ratio).powf(1.5);
        if difference.min(sharpened) <= rounding {
            0.0
        } else {
            difference.min(sharpened)
        }
    };
    Some(Interval {
        from,
        to,
        error: differences.map(estimate).collect(),
        value: kronrod,
    })
}

#[cfg(test)]
mod tests {
    use super::integrate_over_unit;

    fn integral(f: impl Fn(f64) -> f64) -> f64 {
        integrate_over_unit(|x| vec![f(x)], 1e-13, 0.0).expect("a value")[0]
    }

    #[test]
    fn integrals_with_closed_forms() {
        let close =
            |found: f64, wanted: f64| assert!((found - wanted).abs() <= 1e-12 * wanted.abs(), "{found} {wanted}");
        close(integral(|x| 3.0 * x * x), 1.0);
        close(integral(f64::exp), 1f64.exp() - 1.0);
        close(integral(|x| (40.0 * x).exp()), (40f64.exp() - 1.0) / 40.0);
        // A narrow peak in the middle, a kink, a root.
        close(
            integral(|x| 1.0 / (1.0 + (200.0 * (x - 0.45)).powi(2))),
            (110f64.atan() + 90f64.atan()) / 200.0,
        );
        close(integral(|x| (x - 0.3).abs()), 0.5 * (0.09 + 0.49));
        close(integral(f64::sqrt), 2.0 / 3.0);
    }

    #[test]
    fn what_has_no_integral_is_none() {
        assert!(integrate_over_unit(|x| vec![1.0 / (x - 0.5)], 1e-12, 0.0).is_none());
        assert!(integrate_over_unit(|x| vec![(x - 0.5).ln()], 1e-12, 0.0).is_none());
    }

    #[test]
    fn rounding_errors_of_terms_that_cancel_have_an_integral() {
        let noise = |x: f64| vec![(1e3 + x).sin() - 1e3f64.sin() * x.cos() - 1e3f64.cos() * x.sin()];
        assert!(integrate_over_unit(noise, 1e-13, 0.0).is_none());
        let found = integrate_over_unit(noise, 1e-13, 1e-12).expect("a value");
        assert!(found[0].abs() < 1e-12);
    }

    #[test]
    fn a_jump_takes_many_intervals_and_ends() {
        let found = integrate_over_unit(|x| vec![if x < 0.3 { 1.0 } else { 2.0 }], 1e-12, 0.0).expect("a value");
        assert!((found[0] - 1.7).abs() < 1e-11);
    }
}
