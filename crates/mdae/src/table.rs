//! Interpolation tables: the data behind one- and two-dimensional table blocks.

use crate::dual::Dual;

/// How values between the points are found.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Smoothness {
    /// Linear between neighbouring points.
    Linear,
    /// Continuous first derivative (Akima).
    ContinuousDerivative,
    /// The value of the point at or before.
    Constant,
}

/// What happens outside the points.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Extrapolation {
    /// The value of the nearest point.
    Hold,
    /// Along the tangent at the end.
    Tangent,
    /// The table repeats.
    Periodic,
}

/// A table of one or two arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// First abscissae, ascending (equal neighbours mark a jump).
    pub x: Vec<f64>,
    /// Second abscissae; empty for a table of one argument.
    pub y: Vec<f64>,
    /// One value per `x`, or row-major `x` by `y`.
    pub values: Vec<f64>,
    /// Interpolation.
    pub smoothness: Smoothness,
    /// Extrapolation.
    pub extrapolation: Extrapolation,
}

impl Table {
    /// The value at the argument(s).
    pub fn interpolate(&self, args: &[f64]) -> f64 {
        let duals: Vec<Dual> = args.iter().map(|&x| Dual::constant(x, 0)).collect();
        self.interpolate_dual(&duals)[0].value()
    }

    pub(crate) fn interpolate_dual(&self, args: &[Dual]) -> Vec<Dual> {
        let value = if self.y.is_empty() {
            self.one(&args[0], &|i| self.values[i])
        } else {
            self.two(&args[0], &args[1])
        };
        vec![value]
    }

    fn two(&self, u: &Dual, v: &Dual) -> Dual {
        // Interpolate along y in the rows around u, then between the rows (bilinear for linear tables; for smooth
        // tables Akima along each direction, from the rows its stencil needs).
        let columns = self.y.len();
        let rows: Vec<Dual> = (0..self.x.len())
            .map(|row| {
                interpolate(
                    &self.y,
                    &|j| Dual::constant(self.values[row * columns + j], v.log_len()),
                    v,
                    self,
                )
            })
            .collect();
        interpolate(&self.x, &|i| rows[i].clone(), u, self)
    }

    fn one(&self, u: &Dual, value: &dyn Fn(usize) -> f64) -> Dual {
        interpolate(&self.x, &|i| Dual::constant(value(i), u.log_len()), u, self)
    }
}

/// The interval [x_i, x_{i+1}) that holds `u`; the last one for points at or past the end.
fn interval(x: &[f64], u: f64) -> usize {
    let last = x.len().saturating_sub(2);
    x.partition_point(|&point| point <= u).saturating_sub(1).min(last)
}

fn interpolate(x: &[f64], value: &dyn Fn(usize) -> Dual, u: &Dual, table: &Table) -> Dual {
    let n = x.len();
    if n == 1 {
        return value(0);
    }
    let mut u = u.clone();
    let (first, last) = (x[0], x[n - 1]);
    let outside = u.value() < first || u.value() > last;
    if outside {
        match table.extrapolation {
            Extrapolation::Hold => return value(if u.value() < first { 0 } else { n - 1 }),
            Extrapolation::Periodic => {
                let period = last - first;
                let turns = ((u.value() - first) / period).floor();
                u = u.sub(&Dual::constant(turns * period, u.log_len()));
            }
            Extrapolation::Tangent => {}
        }
    }
    let i = interval(x, u.value());
    match table.smoothness {
        Smoothness::Constant => value(if u.value() >= last { n - 1 } else { i }),
        Smoothness::Linear => line(x, value, i, &u),
        Smoothness::ContinuousDerivative if n == 2 => line(x, value, i, &u),
        Smoothness::ContinuousDerivative => akima(
            x,
            value,
            i,
            &u,
            outside && table.extrapolation == Extrapolation::Tangent,
        ),
    }
}

fn line(x: &[f64], value: &dyn Fn(usize) -> Dual, i: usize, u: &Dual) -> Dual {
    let width = x[i + 1] - x[i];
    if width == 0.0 {
        return value(i + 1);
    }
    let slope = value(i + 1).sub(&value(i)).scale(1.0 / width);
    let offset = u.sub(&Dual::constant(x[i], u.log_len()));
    value(i).add(&slope.mul(&offset))
}

/// Akima's spline: the slope at a point is a mean of the neighbouring chords weighted by how much the chords beyond
/// them change.
fn akima(x: &[f64], value: &dyn Fn(usize) -> Dual, i: usize, u: &Dual, tangent: bool) -> Dual {
    let n = x.len() as isize;
    let chord = |j: isize| -> Dual {
        let at = |j: isize| {
            let j = j as usize;
            value(j + 1).sub(&value(j)).scale(1.0 / (x[j + 1] - x[j]))
        };
        // Two chords are added at each end by linear extrapolation.
        if j < 0 {
            let (d0, d1) = (at(0), at(1.min(n - 2)));
            d0.add(&d0.sub(&d1).scale((-j) as f64))
        } else if j > n - 2 {
            let (d0, d1) = (at(n - 2), at((n - 3).max(0)));
            d0.add(&d0.sub(&d1).scale((j - (n - 2)) as f64))
        } else {
            at(j)
        }
    };
    let slope = |k: isize| -> Dual {
        let (m1, m2, m3, m4) = (chord(k - 2), chord(k - 1), chord(k), chord(k + 1));
        let (w1, w2) = ((m4.value() - m3.value()).abs(), (m2.value() - m1.value()).abs());
        if w1 + w2 == 0.0 {
            m2.add(&m3).scale(0.5)
        } else {
            m2.scale(w1).add(&m3.scale(w2)).scale(1.0 / (w1 + w2))
        }
    };
    let constant = |value: f64| Dual::constant(value, u.log_len());
    if tangent {
        let end = if u.value() < x[0] { 0 } else { x.len() - 1 };
        return value(end).add(&slope(end as isize).mul(&u.sub(&constant(x[end]))));
    }
    let width = x[i + 1] - x[i];
    let (s0, s1, m) = (slope(i as isize), slope(i as isize + 1), chord(i as isize));
    let t = u.sub(&constant(x[i]));
    // value + t·(s0 + t·(c2 + t·c3))
    let c2 = m.scale(3.0).sub(&s0.scale(2.0)).sub(&s1).scale(1.0 / width);
    let c3 = s0.add(&s1).sub(&m.scale(2.0)).scale(1.0 / (width * width));
    value(i).add(&t.mul(&s0.add(&t.mul(&c2.add(&t.mul(&c3))))))
}
