//! The past of a signal over a step: a polynomial through values at Chebyshev–Lobatto points.

/// Degrees of the polynomials: the points of the lower one are among those of the higher one.
const DEGREES: [usize; 2] = [4, 8];
/// A signal delayed by a varying time has this many derivatives: enough to decide signs at events.
pub(super) const DERIVATIVES: usize = 3;

/// What polynomials may be off, in parts of the tolerance, before that counts as something they miss.
const MISSED: f64 = 10.0;

/// A step of the past.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub start: f64,
    pub end: f64,
    /// Coefficients of the Chebyshev polynomials over the step.
    pub coefficients: Vec<f64>,
}

/// The points of a step at which the expressions are needed for a polynomial of some degree.
fn points(degree: usize, (start, end): (f64, f64)) -> impl Iterator<Item = f64> {
    (0..=degree).map(move |k| match k {
        0 => start,
        k if k == degree => end,
        k => {
            let angle = std::f64::consts::PI * k as f64 / degree as f64;
            0.5 * (start + end) - 0.5 * (end - start) * angle.cos()
        }
    })
}

/// A step on its way into the past: asks for the points it needs one after another.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(super) span: (f64, f64),
    tolerance: f64,
    /// Values of all expressions at the points of the lower degree, and at those that the higher one adds.
    coarse: Vec<Vec<f64>>,
    fine: Vec<Vec<f64>>,
}

impl Recording {
    /// Nothing yet of a step.
    pub(super) fn new(span: (f64, f64), tolerance: f64) -> Self {
        Recording {
            span,
            tolerance,
            coarse: Vec::new(),
            fine: Vec::new(),
        }
    }

    /// The next point at which values are needed.
    pub(crate) fn next_point(&self) -> Option<f64> {
        let [coarse, fine] = DEGREES;
        if self.coarse.len() <= coarse {
            return points(coarse, self.span).nth(self.coarse.len());
        }
        let done = self.fine.len() == fine - coarse || (!self.fine.is_empty() && self.is_enough());
        (!done).then(|| points(fine, self.span).nth(2 * self.fine.len() + 1))?
    }

    /// The values at that point.
    pub(crate) fn push(&mut self, values: Vec<f64>) {
        if self.coarse.len() <= DEGREES[0] {
            self.coarse.push(values)
        } else {
            self.fine.push(values)
        }
    }

    /// Whether the lower degree reproduces the first point that the higher one adds.
    fn is_enough(&self) -> bool {
        let Some(values) = self.fine.first() else { return true };
        let test = points(DEGREES[1], self.span).nth(1).unwrap_or(self.span.0);
        values.iter().enumerate().all(|(at, &value)| {
            let coarse: Vec<f64> = self.coarse.iter().map(|row| row[at]).collect();
            let size = coarse.iter().fold(value.abs(), |size, v| size.max(v.abs()));
            let (start, end) = self.span;
            let polynomial = Segment {
                start,
                end,
                coefficients: coefficients(&coarse),
            };
            (polynomial.series(test)[0] - value).abs() <= 0.1 * self.tolerance * size.max(1e-3)
        })
    }

    /// Whether the polynomials through what was recorded miss the values at a time.
    pub(crate) fn misses(&self, time: f64, values: &[f64]) -> bool {
        let (rows, (start, end)) = (self.rows(), self.span);
        values.iter().enumerate().any(|(at, &value)| {
            let recorded: Vec<f64> = rows.iter().map(|row| row[at]).collect();
            let size = recorded.iter().fold(value.abs(), |size, v| size.max(v.abs()));
            let polynomial = Segment {
                start,
                end,
                coefficients: coefficients(&recorded),
            };
            (polynomial.series(time)[0] - value).abs() > MISSED * self.tolerance * size
        })
    }

    pub(super) fn rows(&self) -> Vec<&[f64]> {
        if self.fine.len() < DEGREES[1] - DEGREES[0] {
            return self.coarse.iter().map(Vec::as_slice).collect();
        }
        let mut rows: Vec<&[f64]> = Vec::new();
        for (at, row) in self.coarse.iter().enumerate() {
            rows.push(row);
            rows.extend(self.fine.get(at).map(Vec::as_slice));
        }
        rows
    }
}

/// Coefficients of a Taylor series.
pub(super) type Series = [f64; DERIVATIVES + 1];

pub(super) fn constant(value: f64) -> Series {
    let mut series = Series::default();
    series[0] = value;
    series
}

/// `outer(inner(h))` for an inner series without constant term, by Horner's rule.
pub(super) fn composed(outer: &Series, inner: &Series) -> Series {
    let mut result = Series::default();
    for &coefficient in outer.iter().rev() {
        let mut product = Series::default();
        for (i, a) in result.iter().enumerate() {
            for (j, b) in inner.iter().enumerate().take(DERIVATIVES + 1 - i) {
                product[i + j] += a * b;
            }
        }
        product[0] += coefficient;
        result = product;
    }
    result
}

/// The series of the inverse function, for a series without constant term; none where it does not begin at first order.
pub(super) fn inverted(series: &Series) -> Option<Series> {
    let [_, a, b, c] = *series;
    let inverse = [0.0, 1.0 / a, -b / a.powi(3), (2.0 * b * b - a * c) / a.powi(5)];
    inverse.iter().all(|value| value.is_finite()).then_some(inverse)
}

impl Segment {
    /// The Taylor series of the polynomial at a time.
    pub(super) fn series(&self, time: f64) -> Series {
        let length = self.end - self.start;
        let x = (2.0 * time - self.start - self.end) / length;
        let mut series = Series::default();
        let mut coefficients = self.coefficients.clone();
        let mut scale = 1.0;
        for (order, value) in series.iter_mut().enumerate() {
            *value = scale * clenshaw(&coefficients, x);
            scale *= 2.0 / (length * (order + 1) as f64);
            coefficients = differentiated(&coefficients);
        }
        series
    }
}

/// Chebyshev coefficients of the polynomial through values at Chebyshev–Lobatto points, ascending in time.
pub(super) fn coefficients(values: &[f64]) -> Vec<f64> {
    let degree = values.len() - 1;
    let halved = |k: usize| if k == 0 || k == degree { 0.5 } else { 1.0 };
    let cosine = |j: usize, k: usize| (std::f64::consts::PI * (j * k) as f64 / degree as f64).cos();
    let coefficient = |k: usize| {
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        let terms = values
            .iter()
            .enumerate()
            .map(|(j, value)| halved(j) * value * cosine(j, k));
        sign * halved(k) * 2.0 / degree as f64 * terms.sum::<f64>()
    };
    (0..=degree).map(coefficient).collect()
}

/// The value of a sum of Chebyshev polynomials.
fn clenshaw(coefficients: &[f64], x: f64) -> f64 {
    let (mut next, mut after) = (0.0, 0.0);
    for &coefficient in coefficients.iter().skip(1).rev() {
        (next, after) = (2.0 * x * next - after + coefficient, next);
    }
    x * next - after + coefficients.first().copied().unwrap_or(0.0)
}

/// The coefficients of the derivative: `c'ₖ₋₁ = c'ₖ₊₁ + 2k·cₖ`, the first halved.
fn differentiated(coefficients: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; coefficients.len() + 1];
    for k in (1..coefficients.len()).rev() {
        result[k - 1] = result[k + 1] + 2.0 * k as f64 * coefficients[k];
    }
    result[0] *= 0.5;
    result.truncate(coefficients.len().saturating_sub(1));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_of_the_degree_are_exact() {
        for degree in DEGREES {
            let p = |t: f64| (0..=degree).map(|k| (k as f64 + 1.0) * t.powi(k as i32)).sum::<f64>();
            let slope = |t: f64| {
                (1..=degree)
                    .map(|k| ((k + 1) * k) as f64 * t.powi(k as i32 - 1))
                    .sum::<f64>()
            };
            let values: Vec<f64> = points(degree, (0.5, 1.5)).map(p).collect();
            let segment = Segment {
                start: 0.5,
                end: 1.5,
                coefficients: coefficients(&values),
            };
            for t in [0.5, 0.6, 0.77, 1.0, 1.4999, 1.5] {
                let series = segment.series(t);
                assert!((series[0] - p(t)).abs() < 1e-12 * p(t), "{degree}: {t}");
                assert!((series[1] - slope(t)).abs() < 1e-10 * slope(t), "{degree}: {t}");
            }
        }
    }

    #[test]
    fn series_compose() {
        // sin(h + h²) = h + h² − h³/6 + …
        let found = composed(&[0.0, 1.0, 0.0, -1.0 / 6.0], &[0.0, 1.0, 1.0, 0.0]);
        for (found, expected) in found.iter().zip([0.0, 1.0, 1.0, -1.0 / 6.0]) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn series_are_inverted() {
        let series = [0.0, 2.0, 0.5, -0.3];
        let both = composed(&series, &inverted(&series).expect("it begins at first order"));
        for (found, expected) in both.iter().zip([0.0, 1.0, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert!(inverted(&[0.0, 0.0, 1.0, 0.0]).is_none());
    }

    #[test]
    fn the_coarse_points_are_among_the_fine_ones() {
        let fine: Vec<f64> = points(DEGREES[1], (1.0, 3.0)).collect();
        for (k, point) in points(DEGREES[0], (1.0, 3.0)).enumerate() {
            assert!((point - fine[2 * k]).abs() < 1e-15);
        }
    }
}
