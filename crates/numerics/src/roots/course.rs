//! The course of a function over a piece of a step, resolved by six samples.
//!
//! Five of them are the Chebyshev–Lobatto points, which carry a polynomial of degree 4; the sixth lies where that
//! polynomial may be off most, and shows by how much it is. The polynomial of degree 5 through all of them then serves:
//! in Bernstein form its coefficients bound it, and their differences bound its slope.

use std::sync::LazyLock;

/// How many samples show the course over a piece.
pub(super) const SAMPLES: usize = 6;
/// Where they lie. The third is the one that checks the others.
pub(super) const NODES: [f64; SAMPLES] = [0.0, 0.146_446_609_406_726_24, 0.3, 0.5, 0.853_553_390_593_273_8, 1.0];
/// The sample that checks the others.
const CHECK: usize = 2;
/// The sample in the middle.
pub(super) const MIDDLE: usize = 3;

/// The error at the check says that of the polynomial through all samples as long as its series converges; twice is what
/// a function that is even about the middle needs.
const OF_CHECK: f64 = 2.0;
/// A check that is met by chance must not hide a term of fourth degree that is large.
const OF_FOURTH: f64 = 1.0 / 16.0;
/// What three samples do not show of a smooth function, in parts of what they show it to bend.
const OF_BEND: f64 = 0.125;
/// Slopes are known this much worse than values (the inequality of Markov for degree 5, in differences of coefficients).
const OF_SLOPE: f64 = 10.0;

/// Bernstein coefficients from samples, and the error at the check.
struct Transform {
    bernstein: [[f64; SAMPLES]; SAMPLES],
    check: [f64; SAMPLES],
    /// The first sample from the others.
    first: [f64; SAMPLES],
}

static TRANSFORM: LazyLock<Transform> = LazyLock::new(Transform::new);

impl Transform {
    fn new() -> Self {
        let mut others = NODES.to_vec();
        others.remove(CHECK);
        let mut check = [0.0; SAMPLES];
        for (k, weight) in check.iter_mut().enumerate() {
            let factors = others.iter().filter(|&&x| x != NODES[k]);
            *weight = match k {
                CHECK => -1.0,
                _ => factors.map(|x| (NODES[CHECK] - x) / (NODES[k] - x)).product(),
            };
        }
        let first = std::array::from_fn(|k| {
            let factors = NODES[1..].iter().filter(|&&x| x != NODES[k]);
            if k == 0 {
                0.0
            } else {
                factors.map(|x| (NODES[0] - x) / (NODES[k] - x)).product()
            }
        });
        Transform {
            bernstein: inverse(NODES.map(basis)),
            check,
            first,
        }
    }
}

/// The Bernstein polynomials of degree 5 at a place.
fn basis(x: f64) -> [f64; SAMPLES] {
    let binomial = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
    std::array::from_fn(|j| binomial[j] * x.powi(j as i32) * (1.0 - x).powi((SAMPLES - 1 - j) as i32))
}

/// Gauss and Jordan; the matrix is known to have good pivots in its columns.
fn inverse(mut a: [[f64; SAMPLES]; SAMPLES]) -> [[f64; SAMPLES]; SAMPLES] {
    let mut b: [[f64; SAMPLES]; SAMPLES] =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for k in 0..SAMPLES {
        let best = (k..SAMPLES).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        let pivot = best.unwrap_or(k);
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in 0..SAMPLES {
            let factor = if i == k { 1.0 - 1.0 / a[k][k] } else { a[i][k] / a[k][k] };
            for j in 0..SAMPLES {
                a[i][j] -= factor * a[k][j];
                b[i][j] -= factor * b[k][j];
            }
        }
    }
    b
}

/// The course of one function over a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// Its values at the samples.
    samples: [f64; SAMPLES],
    coefficients: [f64; SAMPLES],
    /// What the polynomial may be off by.
    margin: f64,
}

impl Course {
    pub(super) fn new(samples: [f64; SAMPLES]) -> Self {
        let transform = &*TRANSFORM;
        let product = |row: &[f64; SAMPLES]| -> f64 { row.iter().zip(&samples).map(|(a, b)| a * b).sum() };
        let [first, second, _, middle, fourth, last] = samples;
        let of_fourth_degree = 0.125 * (0.5 * (first + last) - second - fourth + middle);
        Course {
            samples,
            coefficients: transform.bernstein.each_ref().map(product),
            margin: OF_CHECK * product(&transform.check).abs() + OF_FOURTH * of_fourth_degree.abs(),
        }
    }

    /// As [`Course::new`]. A piece may begin right before the place from which on there is such a function: then its first
    /// value is what the others say.
    pub(super) fn of_argument(mut samples: [f64; SAMPLES]) -> Self {
        if samples[0].is_nan() {
            samples[0] = 0.0;
            let weighted = TRANSFORM.first.iter().zip(&samples);
            samples[0] = weighted.map(|(weight, sample)| weight * sample).sum();
        }
        Self::new(samples)
    }

    /// What three samples show, at the beginning, in the middle and at the end: the parabola through them, and a part of its
    /// bend as the margin.
    pub(super) fn of_three([first, middle, last]: [f64; 3]) -> Self {
        let bend = first - 2.0 * middle + last;
        let parabola = NODES.map(|x| first + x * (last - first) - 2.0 * x * (1.0 - x) * bend);
        Course {
            margin: OF_BEND * bend.abs(),
            ..Self::new(parabola)
        }
    }

    /// The least and the greatest value that the function may have on the piece.
    pub fn range(&self) -> (f64, f64) {
        let least = self.coefficients.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self.coefficients.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least - self.margin, greatest + self.margin)
    }

    /// Its values at the samples.
    pub fn samples(&self) -> &[f64] {
        &self.samples
    }

    /// The least and the greatest value at the samples.
    pub fn sampled(&self) -> (f64, f64) {
        let least = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least, greatest)
    }

    /// The places strictly inside the piece at which it passes a value, from 0 to 1, one for each pair of neighbouring samples that
    /// lie on both sides.
    pub fn places_of(&self, value: f64) -> impl Iterator<Item = f64> + '_ {
        let off = move |k: usize| self.samples[k] - value;
        let passes = move |k: &usize| off(k - 1) * off(*k) < 0.0 || (off(*k) == 0.0 && *k < SAMPLES - 1);
        let place = move |after: usize| {
            let (mut left, mut right) = (NODES[after - 1], NODES[after]);
            if off(after) == 0.0 {
                return right;
            }
            for _ in 0..60 {
                let middle = 0.5 * (left + right);
                let same = (self.polynomial(middle) > value) == (off(after - 1) > 0.0);
                if same { left = middle } else { right = middle }
            }
            0.5 * (left + right)
        };
        let inside = |place: &f64| *place > 0.0 && *place < 1.0;
        (1..SAMPLES).filter(passes).map(place).filter(inside)
    }

    fn polynomial(&self, x: f64) -> f64 {
        basis(x).iter().zip(&self.coefficients).map(|(b, c)| b * c).sum()
    }

    /// What the function may be off the polynomial through its samples.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// Whether the function is a number, and not too large for sums of it, at all samples.
    pub fn is_finite(&self) -> bool {
        self.margin.is_finite() && self.coefficients.iter().all(|c| c.is_finite())
    }

    /// The size of the function on the piece.
    pub(super) fn size(&self) -> f64 {
        self.coefficients.iter().fold(0.0, |size, c| c.abs().max(size))
    }

    /// Whether it stays on one side of zero: positive, or not positive.
    pub(super) fn stays(&self, positive: bool) -> bool {
        if positive {
            self.coefficients.iter().all(|&c| c > self.margin)
        } else {
            self.coefficients.iter().all(|&c| c <= -self.margin)
        }
    }

    /// Whether it rises, or falls, throughout.
    pub(super) fn is_monotone(&self) -> bool {
        let least = OF_SLOPE * self.margin;
        let steps = self.coefficients.windows(2).map(|pair| pair[1] - pair[0]);
        steps.clone().all(|step| step > least) || steps.clone().all(|step| step < -least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(f: impl Fn(f64) -> f64) -> Course {
        Course::new(NODES.map(f))
    }

    #[test]
    fn polynomials_up_to_fifth_degree_are_bounded_and_quartics_are_met() {
        let quartic = course(|x| 3.0 - x + 2.0 * x.powi(3) - x.powi(4));
        // What is left is the share of the term of fourth degree: 1/128 of it.
        assert!(quartic.margin < 1e-3, "{quartic:?}");
        assert!(quartic.stays(true) && !quartic.stays(false));
        let quintic = |x: f64| (x - 0.2).powi(5) + 0.3 * x;
        let (least, greatest) = course(quintic).range();
        for k in 0..=100 {
            let value = quintic(f64::from(k) / 100.0);
            assert!(least <= value && value <= greatest);
        }
        assert!(course(|x| x * x + x).is_monotone() && course(|x| -x).is_monotone());
        assert!(!course(|x| (x - 0.5) * (x - 0.5)).is_monotone());
    }

    #[test]
    fn three_samples_tell_a_parabola() {
        let parabola = |x: f64| 3.0 * x * x - 2.0 * x + 1.0;
        let course = Course::of_three([0.0, 0.5, 1.0].map(parabola));
        for (found, wanted) in course.samples().iter().zip(NODES.map(parabola)) {
            assert!((found - wanted).abs() < 1e-14);
        }
        assert!(course.margin() > 0.1 && course.range().0 < 2.0 / 3.0);
        assert_eq!(Course::of_three([1.0, 2.0, 3.0]).margin(), 0.0);
    }

    #[test]
    fn the_margin_covers_what_waves_are_off_by() {
        for phase in 0..200 {
            for width in [0.3, 1.0, 2.0, 2.5] {
                let wave = |x: f64| (f64::from(phase) * 0.0314 + width * x).sin();
                let (least, greatest) = course(wave).range();
                for k in 0..=50 {
                    let value = wave(f64::from(k) / 50.0);
                    assert!(least <= value && value <= greatest, "{phase} {width}");
                }
            }
        }
    }
}
