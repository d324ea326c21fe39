//! Interpolation in tables, for any kind of number. The rules are those of [`saltus_mdae::table`].

use saltus_mdae::table::{Extrapolation, Smoothness, Table};

use crate::number::Number;

/// The value of a table at its argument(s).
pub(crate) fn lookup<N: Number>(table: &Table, args: &[N]) -> N {
    let u = &args[0];
    if table.y.is_empty() {
        return interpolate(&table.x, &|i| u.like(table.values[i]), u, table);
    }
    let v = &args[1];
    let columns = table.y.len();
    let row = |i: usize| interpolate(&table.y, &|j| v.like(table.values[i * columns + j]), v, table);
    interpolate(&table.x, &row, u, table)
}

/// The interval [x_i, x_{i+1}) that holds `u`; the last one for points at or past the end.
fn interval(x: &[f64], u: f64) -> usize {
    let last = x.len().saturating_sub(2);
    x.partition_point(|&point| point <= u).saturating_sub(1).min(last)
}

fn interpolate<N: Number>(x: &[f64], value: &dyn Fn(usize) -> N, u: &N, table: &Table) -> N {
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
                u = u.sub(&u.like(turns * period));
            }
            Extrapolation::Tangent => {}
        }
    }
    let i = interval(x, u.value());
    match table.smoothness {
        Smoothness::Constant => value(if u.value() >= last { n - 1 } else { i }),
        Smoothness::Linear => line(x, value, i, &u),
        Smoothness::ContinuousDerivative if n == 2 => line(x, value, i, &u),
        Smoothness::ContinuousDerivative => {
            let tangent = outside && table.extrapolation == Extrapolation::Tangent;
            akima(x, value, i, &u, tangent)
        }
    }
}

fn line<N: Number>(x: &[f64], value: &dyn Fn(usize) -> N, i: usize, u: &N) -> N {
    let width = x[i + 1] - x[i];
    if width == 0.0 {
        return value(i + 1);
    }
    let slope = value(i + 1).sub(&value(i)).scale(1.0 / width);
    let offset = u.sub(&u.like(x[i]));
    value(i).add(&slope.mul(&offset))
}

/// Akima's spline: the slope at a point is a mean of the neighbouring chords weighted by how much the chords beyond
/// them change.
fn akima<N: Number>(x: &[f64], value: &dyn Fn(usize) -> N, i: usize, u: &N, tangent: bool) -> N {
    let n = x.len() as isize;
    let chord = |j: isize| -> N {
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
    let slope = |k: isize| -> N {
        let (m1, m2, m3, m4) = (chord(k - 2), chord(k - 1), chord(k), chord(k + 1));
        let (w1, w2) = ((m4.value() - m3.value()).abs(), (m2.value() - m1.value()).abs());
        if w1 + w2 == 0.0 {
            m2.add(&m3).scale(0.5)
        } else {
            m2.scale(w1).add(&m3.scale(w2)).scale(1.0 / (w1 + w2))
        }
    };
    if tangent {
        let end = if u.value() < x[0] { 0 } else { x.len() - 1 };
        return value(end).add(&slope(end as isize).mul(&u.sub(&u.like(x[end]))));
    }
    let width = x[i + 1] - x[i];
    let (s0, s1, m) = (slope(i as isize), slope(i as isize + 1), chord(i as isize));
    let t = u.sub(&u.like(x[i]));
    // value + t·(s0 + t·(c2 + t·c3))
    let c2 = m.scale(3.0).sub(&s0.scale(2.0)).sub(&s1).scale(1.0 / width);
    let c3 = s0.add(&s1).sub(&m.scale(2.0)).scale(1.0 / (width * width));
    value(i).add(&t.mul(&s0.add(&t.mul(&c2.add(&t.mul(&c3))))))
}
