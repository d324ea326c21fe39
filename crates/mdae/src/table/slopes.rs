//! Derivatives at the points of a table, from which its splines are made.

use super::Smoothness;

/// Slopes at the points of a table of one argument (at least three points, all different).
pub(super) fn along(x: &[f64], values: &[f64], smoothness: Smoothness) -> Vec<f64> {
    let chords: Vec<f64> = (0..x.len() - 1)
        .map(|i| (values[i + 1] - values[i]) / (x[i + 1] - x[i]))
        .collect();
    let widths: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
    (0..x.len())
        .map(|point| match smoothness {
            Smoothness::FritschButland => monotone(&chords, &widths, point, fritsch_butland),
            Smoothness::Steffen => monotone(&chords, &widths, point, steffen),
            Smoothness::ModifiedAkima => modified_akima(neighbours(&chords, point)),
            _ => akima(neighbours(&chords, point)),
        })
        .collect()
}

/// The two chords before and the two after a point; two are added at each end by linear extrapolation.
fn neighbours(chords: &[f64], point: usize) -> [f64; 4] {
    let n = chords.len() as isize;
    std::array::from_fn(|k| {
        let j = point as isize + k as isize - 2;
        if j < 0 {
            let (d0, d1) = (chords[0], chords[1]);
            d0 + (d0 - d1) * (-j) as f64
        } else if j >= n {
            let (d0, d1) = (chords[chords.len() - 1], chords[chords.len() - 2]);
            d0 + (d0 - d1) * (j - n + 1) as f64
        } else {
            chords[j as usize]
        }
    })
}

/// Akima: a mean of the neighbouring chords, each weighted by how much the chords on the other side change.
fn akima([d1, d2, d3, d4]: [f64; 4]) -> f64 {
    weighted((d4 - d3).abs(), (d2 - d1).abs(), d2, d3).unwrap_or(0.5 * d2 + 0.5 * d3)
}

/// The weights are increased where the chords are steep; flat data stay flat.
fn modified_akima([d1, d2, d3, d4]: [f64; 4]) -> f64 {
    let left = (d4 - d3).abs() + 0.5 * (d4 + d3).abs();
    let right = (d2 - d1).abs() + 0.5 * (d2 + d1).abs();
    weighted(left, right, d2, d3).unwrap_or(0.0)
}

fn weighted(w2: f64, w3: f64, d2: f64, d3: f64) -> Option<f64> {
    (w2 + w3 > 0.0).then(|| (w2 * d2 + w3 * d3) / (w2 + w3))
}

/// At the ends the slope of the chord; 0 at a local extremum; else by a formula of the chords before and after and the
/// widths before and after.
fn monotone(chords: &[f64], widths: &[f64], point: usize, inner: fn([f64; 2], [f64; 2]) -> f64) -> f64 {
    if point == 0 {
        return chords[0];
    }
    let Some(&after) = chords.get(point) else {
        return chords[point - 1];
    };
    let before = chords[point - 1];
    let same_sign = before > 0.0 && after > 0.0 || before < 0.0 && after < 0.0;
    if !same_sign {
        return 0.0;
    }
    inner([before, after], [widths[point - 1], widths[point]])
}

/// A weighted harmonic mean of the chords.
fn fritsch_butland([d0, d1]: [f64; 2], [h0, h1]: [f64; 2]) -> f64 {
    3.0 * (h0 + h1) / ((h0 + 2.0 * h1) / d0 + (h1 + 2.0 * h0) / d1)
}

/// The slope of the parabola through the three points, limited to twice the flatter chord.
fn steffen([d0, d1]: [f64; 2], [h0, h1]: [f64; 2]) -> f64 {
    let parabola = (d0 * h1 + d1 * h0) / (h0 + h1);
    parabola.abs().min(2.0 * d0.abs().min(d1.abs())).copysign(d0)
}

/// Derivatives by x, by y and by both at the points of a table of two arguments (Akima 1974).
pub(super) fn surface(x: &[f64], y: &[f64], values: &[f64]) -> [Vec<f64>; 3] {
    let none = || vec![0.0; values.len()];
    if x.len() == 1 {
        return [none(), along(y, values, Smoothness::Akima), none()];
    }
    if y.len() == 1 {
        return [along(x, values, Smoothness::Akima), none(), none()];
    }
    let grid = Extended::new(x, y, values);
    let mut slopes = [none(), none(), none()];
    for i in 0..x.len() {
        for j in 0..y.len() {
            let at = grid.derivatives(i + 2, j + 2);
            for (list, derivative) in slopes.iter_mut().zip(at) {
                list[i * y.len() + j] = derivative;
            }
        }
    }
    slopes
}

/// A grid with two more rows and columns at each end.
struct Extended {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<Vec<f64>>,
}

impl Extended {
    fn new(x: &[f64], y: &[f64], values: &[f64]) -> Self {
        let (wide_x, wide_y) = (extend_abscissae(x), extend_abscissae(y));
        let rows: Vec<Vec<f64>> = values.chunks(y.len()).map(|row| extend(&wide_y, row)).collect();
        let mut z = vec![vec![0.0; wide_y.len()]; wide_x.len()];
        for j in 0..wide_y.len() {
            let column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
            for (row, value) in z.iter_mut().zip(extend(&wide_x, &column)) {
                row[j] = value;
            }
        }
        Extended {
            x: wide_x,
            y: wide_y,
            z,
        }
    }

    fn derivatives(&self, i: usize, j: usize) -> [f64; 3] {
        let along_x = |i: usize, j: usize| (self.z[i + 1][j] - self.z[i][j]) / (self.x[i + 1] - self.x[i]);
        let along_y = |i: usize, j: usize| (self.z[i][j + 1] - self.z[i][j]) / (self.y[j + 1] - self.y[j]);
        let cross = |i: usize, j: usize| (along_y(i + 1, j) - along_y(i, j)) / (self.x[i + 1] - self.x[i]);
        let [x1, x2, x3, x4] = std::array::from_fn(|k| along_x(i + k - 2, j));
        let [y1, y2, y3, y4] = std::array::from_fn(|k| along_y(i, j + k - 2));
        let weights = |d1: f64, d2: f64, d3: f64, d4: f64| match ((d4 - d3).abs(), (d2 - d1).abs()) {
            (0.0, 0.0) => (1.0, 1.0),
            other => other,
        };
        let (wx2, wx3) = weights(x1, x2, x3, x4);
        let (wy2, wy3) = weights(y1, y2, y3, y4);
        let left = wy2 * cross(i - 1, j - 1) + wy3 * cross(i - 1, j);
        let right = wy2 * cross(i, j - 1) + wy3 * cross(i, j);
        [
            (wx2 * x2 + wx3 * x3) / (wx2 + wx3),
            (wy2 * y2 + wy3 * y3) / (wy2 + wy3),
            (wx2 * left + wx3 * right) / ((wx2 + wx3) * (wy2 + wy3)),
        ]
    }
}

fn extend_abscissae(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let (a, b, y, z) = (x[0], x[1], x[n - 2], x[n - 1]);
    let (before, after) = if n == 2 {
        ([3.0 * a - 2.0 * b, 2.0 * a - b], [2.0 * b - a, 3.0 * b - 2.0 * a])
    } else {
        let (c, w) = (x[2], x[n - 3]);
        ([2.0 * a - c, a + b - c], [z + y - w, 2.0 * z - w])
    };
    before.into_iter().chain(x.iter().copied()).chain(after).collect()
}

/// Values at the added abscissae: the chords go on changing as they do at the end.
fn extend(x: &[f64], values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let outward = |x: [f64; 5], v: [f64; 3]| {
        // From the third point in to the two outside: x and v are counted from the inside.
        let (inner, outer) = ((v[1] - v[0]) / (x[1] - x[0]), (v[2] - v[1]) / (x[2] - x[1]));
        let near = v[2] + (x[3] - x[2]) * (2.0 * outer - inner);
        let far = near + (x[4] - x[3]) * ((near - v[2]) / (x[3] - x[2]) + outer - inner);
        [near, far]
    };
    let ([near_left, far_left], [near_right, far_right]) = if n == 2 {
        let (a, b) = (values[0], values[1]);
        ([2.0 * a - b, 3.0 * a - 2.0 * b], [2.0 * b - a, 3.0 * b - 2.0 * a])
    } else {
        (
            outward([x[4], x[3], x[2], x[1], x[0]], [values[2], values[1], values[0]]),
            outward(
                [x[n - 1], x[n], x[n + 1], x[n + 2], x[n + 3]],
                [values[n - 3], values[n - 2], values[n - 1]],
            ),
        )
    };
    [far_left, near_left]
        .into_iter()
        .chain(values.iter().copied())
        .chain([near_right, far_right])
        .collect()
}
