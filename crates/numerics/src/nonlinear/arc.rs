//! Continuation along the arc of the residual: from a point where F(x0) = f0 to one where F(x) = 0.
//!
//! The family F(x) = f0 - mu*b, b = f0/|f0|, is followed in (x, mu) by arc length, so the path may turn back: where the
//! solution that was near has ceased to exist (the output of a Schmitt trigger at its threshold), the path leads over the
//! fold to the one that is left. The sense of the tangent is kept by the sign of the determinant of the extended
//! Jacobian, which does not change along a path, also over the kinks of piecewise smooth systems (Allgower and Georg,
//! *Introduction to Numerical Continuation Methods*, chapters 2 and 15).

use super::NonlinearSystem;
use crate::linalg::norm2;

/// Steps along the arc before it is given up.
const STEP_LIMIT: usize = 400;
/// Corrections of one predicted point.
const CORRECTION_LIMIT: usize = 8;
/// First, and smallest, step in units of the scales.
const FIRST_STEP: f64 = 1e-2;
const SMALLEST_STEP: f64 = 1e-11;
/// Longest step across the end.
const LAST_STEP: f64 = 1e-3;
/// A correction this small, relative to the scales, is the last one.
const CORRECTION_TOLERANCE: f64 = 1e-9;

/// Moves `x` along the arc to where the residual vanishes, up to a last local iteration by the caller. `scales` are
/// typical sizes of the unknowns. `false` if the arc leads there in neither direction; `x` is then of no use.
pub fn follow_arc(system: &mut dyn NonlinearSystem, x: &mut [f64], scales: &[f64]) -> bool {
    Arc::new(system, x, scales).is_some_and(|mut arc| arc.follow(x, 1.0) || arc.follow(x, -1.0))
}

struct Arc<'s> {
    system: &'s mut dyn NonlinearSystem,
    origin: Vec<f64>,
    scales: Vec<f64>,
    f0: Vec<f64>,
    /// |f0|: the value of mu at which the residual vanishes.
    target: f64,
    /// The sign of the determinant of the extended Jacobian with the tangent as its last row.
    sense: f64,
}

impl<'s> Arc<'s> {
    fn new(system: &'s mut dyn NonlinearSystem, x: &[f64], scales: &[f64]) -> Option<Self> {
        let mut f0 = vec![0.0; x.len()];
        system.residual(x, &mut f0).ok()?;
        let target = norm2(&f0);
        (target.is_finite() && target > 0.0).then(|| Arc {
            system,
            origin: x.to_vec(),
            scales: scales.to_vec(),
            f0,
            target,
            sense: 1.0,
        })
    }

    /// Follows the arc with the residual falling at first, or rising (`direction` -1).
    fn follow(&mut self, x: &mut [f64], direction: f64) -> bool {
        let n = x.len();
        let mut z = vec![0.0; n + 1];
        let mut along = vec![0.0; n + 1];
        along[n] = direction;
        let Some((mut tangent, sign)) = self.tangent(&z, &along) else {
            return false;
        };
        self.sense = sign;
        let mut step = FIRST_STEP;
        for _ in 0..STEP_LIMIT {
            let Some(next) = self.advance(&z, &tangent, step) else {
                step *= 0.25;
                if step < SMALLEST_STEP {
                    return false;
                }
                continue;
            };
            if (z[n] < self.target) != (next[n] < self.target) {
                // The end is looked for between points so close that no fold is skipped.
                if step > LAST_STEP {
                    step = (0.25 * step).max(LAST_STEP);
                    continue;
                }
                let share = (self.target - z[n]) / (next[n] - z[n]);
                let on_way: Vec<f64> = z.iter().zip(&next).map(|(a, b)| a + share * (b - a)).collect();
                x.copy_from_slice(&self.place(&on_way));
                return true;
            }
            let Some(new_tangent) = self.oriented_tangent(&next, &tangent) else {
                return false;
            };
            z = next;
            tangent = new_tangent;
            step *= 2.0;
        }
        false
    }

    /// A point of the path at a distance from z: along the tangent at z or, beyond a kink, along the one over there.
    fn advance(&mut self, z: &[f64], tangent: &[f64], step: f64) -> Option<Vec<f64>> {
        let predicted = moved(z, tangent, step);
        if let Some(found) = self.corrected(&predicted, tangent) {
            return Some(found);
        }
        let beyond = self.oriented_tangent(&predicted, tangent)?;
        self.corrected(&moved(z, &beyond, step), &beyond)
    }

    /// Newton's method for the path in the plane through a point across a direction.
    fn corrected(&mut self, predicted: &[f64], across: &[f64]) -> Option<Vec<f64>> {
        let n = self.origin.len();
        let mut z = predicted.to_vec();
        let mut before = f64::INFINITY;
        for _ in 0..CORRECTION_LIMIT {
            let (mut matrix, residual) = self.extended(&z)?;
            let mut step: Vec<f64> = residual.iter().map(|r| -r).collect();
            matrix.push(across.to_vec());
            step.push(-(0..=n).map(|i| across[i] * (z[i] - predicted[i])).sum::<f64>());
            eliminate(&mut matrix, &mut step)?;
            let size = norm2(&step);
            if !size.is_finite() || size > 2.0 * before {
                return None;
            }
            z.iter_mut().zip(&step).for_each(|(z, s)| *z += s);
            if size <= CORRECTION_TOLERANCE * (1.0 + norm2(&z)) {
                return Some(z);
            }
            before = size;
        }
        None
    }

    fn oriented_tangent(&mut self, z: &[f64], along: &[f64]) -> Option<Vec<f64>> {
        let (mut tangent, sign) = self.tangent(z, along)?;
        if sign * self.sense < 0.0 {
            tangent.iter_mut().for_each(|t| *t = -*t);
        }
        Some(tangent)
    }

    /// The unit tangent with a positive component along a direction, and the sign of the determinant that goes with it.
    fn tangent(&mut self, z: &[f64], along: &[f64]) -> Option<(Vec<f64>, f64)> {
        let (mut matrix, residual) = self.extended(z)?;
        let mut tangent = vec![0.0; residual.len()];
        matrix.push(along.to_vec());
        tangent.push(1.0);
        let sign = eliminate(&mut matrix, &mut tangent)?;
        let length = norm2(&tangent);
        tangent.iter_mut().for_each(|t| *t /= length);
        length.is_finite().then_some((tangent, sign))
    }

    fn place(&self, z: &[f64]) -> Vec<f64> {
        let scaled = z.iter().zip(&self.scales).zip(&self.origin);
        scaled.map(|((z, scale), origin)| origin + scale * z).collect()
    }

    /// Rows of the Jacobian with respect to the scaled unknowns and mu, and the residual F - f0 + mu*b.
    fn extended(&mut self, z: &[f64]) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
        let n = self.origin.len();
        let x = self.place(z);
        let mut residual = vec![0.0; n];
        self.system.residual(&x, &mut residual).ok()?;
        let pattern = self.system.jacobian_pattern()?.clone();
        let mut values = vec![0.0; pattern.len()];
        if !self.system.jacobian(&x, &mut values).ok()? {
            return None;
        }
        let mut rows = vec![vec![0.0; n + 1]; n];
        for column in 0..n {
            for at in pattern.column_starts()[column]..pattern.column_starts()[column + 1] {
                rows[pattern.row_indices()[at]][column] = values[at] * self.scales[column];
            }
        }
        for (row, f0) in rows.iter_mut().zip(&self.f0) {
            row[n] = f0 / self.target;
        }
        for (residual, f0) in residual.iter_mut().zip(&self.f0) {
            *residual += f0 * (z[n] / self.target - 1.0);
        }
        residual.iter().all(|r| r.is_finite()).then_some((rows, residual))
    }
}

fn moved(z: &[f64], direction: &[f64], step: f64) -> Vec<f64> {
    z.iter().zip(direction).map(|(z, d)| z + step * d).collect()
}

/// Solves a square system in place by elimination with scaled partial pivoting; returns the sign of the determinant.
fn eliminate(rows: &mut [Vec<f64>], rhs: &mut [f64]) -> Option<f64> {
    let n = rhs.len();
    let mut sign = 1.0;
    for (row, b) in rows.iter_mut().zip(rhs.iter_mut()) {
        let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        row.iter_mut().for_each(|v| *v /= largest);
        *b /= largest;
    }
    for at in 0..n {
        let pivot = (at..n).max_by(|&a, &b| rows[a][at].abs().total_cmp(&rows[b][at].abs()))?;
        if rows[pivot][at].abs() < 1e-14 {
            return None;
        }
        if pivot != at {
            rows.swap(pivot, at);
            rhs.swap(pivot, at);
            sign = -sign;
        }
        sign *= rows[at][at].signum();
        for below in at + 1..n {
            let factor = rows[below][at] / rows[at][at];
            if factor != 0.0 {
                let (upper, lower) = rows.split_at_mut(below);
                for column in at..n {
                    lower[0][column] -= factor * upper[at][column];
                }
                rhs[below] -= factor * rhs[at];
            }
        }
    }
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|column| rows[at][column] * rhs[column]).sum();
        rhs[at] = (rhs[at] - known) / rows[at][at];
    }
    Some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EvalError;
    use crate::linalg::SparsityPattern;

    /// One unknown with its derivative.
    struct Scalar<F: Fn(f64) -> (f64, f64)> {
        function: F,
        pattern: SparsityPattern,
    }

    impl<F: Fn(f64) -> (f64, f64)> NonlinearSystem for Scalar<F> {
        fn dim(&self) -> usize {
            1
        }
        fn residual(&mut self, x: &[f64], residual: &mut [f64]) -> Result<(), EvalError> {
            residual[0] = (self.function)(x[0]).0;
            Ok(())
        }
        fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
            Some(&self.pattern)
        }
        fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
            values[0] = (self.function)(x[0]).1;
            Ok(true)
        }
    }

    fn arrive(function: impl Fn(f64) -> (f64, f64), from: f64, scale: f64) -> Option<f64> {
        let mut system = Scalar {
            function,
            pattern: SparsityPattern::dense(1, 1),
        };
        let mut x = [from];
        follow_arc(&mut system, &mut x, &[scale]).then_some(x[0])
    }

    #[test]
    fn a_smooth_fold_leads_to_the_other_branch() {
        // x^3 - 3x + u: for u < 2 there is a solution near 1, for u > 2 only one below -2.
        let function = |x: f64| (x * x * x - 3.0 * x + 2.1, 3.0 * x * x - 3.0);
        let x = arrive(function, 1.05, 1.0).expect("the arc leads there");
        assert!((function(x).0).abs() < 1e-2 && x < -1.9, "{x}");
    }

    #[test]
    fn a_sharp_fold_leads_to_the_other_branch() {
        // A comparator with positive feedback: x = limit(15000 (x/2 - u)) to ±15, from the upper branch with u = 7.6.
        let function = |x: f64| {
            let drive = 15000.0 * (0.5 * x - 7.6);
            if drive > 15.0 {
                (x - 15.0, 1.0)
            } else if drive < -15.0 {
                (x + 15.0, 1.0)
            } else {
                (x - drive, 1.0 - 7500.0)
            }
        };
        let x = arrive(function, 15.21, 15.0).expect("the arc leads there");
        assert!((x + 15.0).abs() < 1e-3, "{x}");
    }

    #[test]
    fn from_an_unstable_branch_the_other_direction_is_tried() {
        // Between the folds of the same comparator, on the falling branch near its upper end.
        let function = |x: f64| {
            let drive = 15000.0 * (0.5 * x - 7.6);
            if drive > 15.0 {
                (x - 15.0, 1.0)
            } else if drive < -15.0 {
                (x + 15.0, 1.0)
            } else {
                (x - drive, 1.0 - 7500.0)
            }
        };
        let x = arrive(function, 15.2005, 15.0).expect("the arc leads there");
        assert!((x + 15.0).abs() < 1e-3, "{x}");
    }

    #[test]
    fn without_a_solution_there_is_no_end() {
        assert_eq!(arrive(|x: f64| (x * x + 1.0, 2.0 * x), 1.0, 1.0), None);
    }
}
