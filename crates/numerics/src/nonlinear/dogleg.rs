//! Powell's dogleg trust region for scaled least squares, exact at the root.
//!
//! M. J. D. Powell, *A hybrid method for nonlinear equations*, 1970; J. Nocedal, S. J. Wright, *Numerical
//! Optimization*, 4.1 and 11.2. Unknowns are scaled by nominal values, residuals as in the Newton iteration.

use super::newton::{NewtonOptions, NewtonSolver, clip};
use super::{FailureReason, Iteration, IterationKind, NonlinearSystem, runs_away};
use crate::linalg::{DenseMatrix, PivotedQr, dot, norm2};

/// A singular Jacobian is solved in the least-squares sense up to this dimension.
const DENSE_RESCUE: usize = 300;

impl NewtonSolver {
    pub(super) fn dogleg(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        options: &NewtonOptions,
        bounds: Option<&[(f64, f64)]>,
    ) -> Result<(), FailureReason> {
        let n = x.len();
        clip(x, bounds);
        self.evaluate(system, x, false).map_err(FailureReason::Evaluation)?;
        let mut radius = f64::NAN;
        let (mut gradient, mut cauchy, mut step, mut image) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut has_scale = false;
        for _ in 0..4 * options.max_iterations {
            self.evaluate_jacobian(system, x).map_err(FailureReason::Evaluation)?;
            if !has_scale {
                self.scale_rows(options);
                has_scale = true;
            }
            self.scale_jacobian();
            let scaled: Vec<f64> = self.residual.iter().zip(&self.row_scale).map(|(r, s)| r * s).collect();
            let squares = dot(&scaled, &scaled);
            let structure = self.factorisation.structure().clone();
            structure.multiply_transposed(&self.values, &scaled, &mut gradient);
            let slope = norm2(&gradient);
            if slope <= 1e-14 * squares.sqrt() && squares.sqrt() > options.residual_tolerance {
                return Err(FailureReason::Stagnation);
            }
            structure.multiply(&self.values, &gradient, &mut image);
            let curvature = dot(&image, &image).max(f64::MIN_POSITIVE);
            for (c, g) in cauchy.iter_mut().zip(&gradient) {
                *c = -g * (slope * slope / curvature);
            }
            let newton = self.newton_direction(&scaled, &cauchy);
            if radius.is_nan() {
                let size: Vec<f64> = x.iter().zip(&self.nominal).map(|(x, n)| x / n).collect();
                radius = norm2(&size).max(1.0);
            }
            loop {
                combine(&cauchy, &newton, radius, &mut step);
                for i in 0..n {
                    self.trial[i] = x[i] + step[i] * self.nominal[i];
                }
                let clipped = clip(&mut self.trial, bounds);
                for i in 0..n {
                    step[i] = (self.trial[i] - x[i]) / self.nominal[i];
                }
                let length = norm2(&step);
                structure.multiply(&self.values, &step, &mut image);
                let predicted = squares - image.iter().zip(&scaled).map(|(a, b)| (a + b) * (a + b)).sum::<f64>();
                let trial = std::mem::take(&mut self.trial);
                let outcome = self.evaluate(system, &trial, true);
                self.trial = trial;
                let ratio = match outcome {
                    Ok(()) => {
                        let (_, reduced) = self.scaled_norms(&self.trial_residual);
                        (squares - reduced) / predicted.max(f64::MIN_POSITIVE)
                    }
                    Err(error) if !error.recoverable => return Err(FailureReason::Evaluation(error)),
                    Err(_) => f64::NEG_INFINITY,
                };
                let tiny = self.step_is_tiny(&step, x, options);
                if ratio > 1e-4 || (tiny && ratio > f64::NEG_INFINITY && squares.sqrt() < 1e-9) {
                    let is_newton = !clipped && length <= norm2(&newton) * (1.0 + 1e-12) && step == newton;
                    x.copy_from_slice(&self.trial);
                    std::mem::swap(&mut self.residual, &mut self.trial_residual);
                    if ratio > 0.75 {
                        radius = radius.max(2.0 * length);
                    } else if ratio < 0.25 {
                        radius = 0.5 * length;
                    }
                    let (norm, _) = self.scaled_norms(&self.residual);
                    let record = Iteration {
                        kind: IterationKind::Dogleg,
                        residual_norm: norm,
                        step_norm: length,
                        damping: radius,
                    };
                    self.note(record, x);
                    let unscaled = |r: usize, c: usize, slope: f64| slope / (self.row_scale[r] * self.nominal[c]);
                    let balanced = norm <= options.residual_tolerance && self.is_balanced(x, options, unscaled);
                    let settled = balanced || (is_newton && tiny && norm < 1e-6);
                    let mut moved = x.iter().zip(&step).zip(&self.nominal);
                    if settled && !moved.any(|((&x, &step), &nominal)| runs_away(x, step * nominal)) {
                        return Ok(());
                    }
                    break;
                }
                // Written so that a step that is not a number also shrinks the region.
                radius = if length > 0.0 {
                    0.25 * length.min(radius)
                } else {
                    0.25 * radius
                };
                if !(radius > 1e-15) || (tiny && radius < options.step_tolerance) {
                    return Err(FailureReason::Stagnation);
                }
            }
        }
        Err(FailureReason::IterationLimit)
    }

    fn step_is_tiny(&self, step: &[f64], x: &[f64], options: &NewtonOptions) -> bool {
        let sizes = step.iter().zip(x).zip(&self.nominal);
        sizes
            .map(|((s, x), n)| (s * n).abs() / (n + x.abs()))
            .fold(0.0, f64::max)
            <= options.step_tolerance
    }

    /// Rows by the residual weights, columns by the nominal values.
    fn scale_jacobian(&mut self) {
        let Self {
            factorisation,
            values,
            row_scale,
            nominal,
            ..
        } = self;
        factorisation
            .structure()
            .for_each(|r, c, k| values[k] *= row_scale[r] * nominal[c]);
    }

    /// Newton direction of the scaled system; least squares where the matrix is singular, the Cauchy point for want
    /// of anything better.
    fn newton_direction(&mut self, residual: &[f64], cauchy: &[f64]) -> Vec<f64> {
        let mut direction: Vec<f64> = residual.iter().map(|r| -r).collect();
        if self.factorisation.factor(&self.values).is_ok() {
            self.factorisation.solve(&mut direction);
            if direction.iter().all(|d| d.is_finite()) {
                return direction;
            }
        }
        let n = residual.len();
        if n > DENSE_RESCUE {
            return cauchy.to_vec();
        }
        let mut dense = DenseMatrix::zeros(n, n);
        let values = &self.values;
        self.factorisation
            .structure()
            .for_each(|r, c, k| dense[(r, c)] = values[k]);
        let negative: Vec<f64> = residual.iter().map(|r| -r).collect();
        PivotedQr::new(&dense, Some(1e-10)).minimum_norm_solution(&negative)
    }
}

/// The dogleg path from the origin over the Cauchy point to the Newton point, cut at the radius.
fn combine(cauchy: &[f64], newton: &[f64], radius: f64, step: &mut [f64]) {
    if norm2(newton) <= radius {
        step.copy_from_slice(newton);
        return;
    }
    let length = norm2(cauchy);
    if length >= radius {
        for (s, c) in step.iter_mut().zip(cauchy) {
            *s = c * (radius / length);
        }
        return;
    }
    let difference: Vec<f64> = newton.iter().zip(cauchy).map(|(n, c)| n - c).collect();
    let (a, b) = (dot(&difference, &difference), dot(cauchy, &difference));
    let c = length * length - radius * radius;
    let discriminant = (b * b - a * c).max(0.0).sqrt();
    // The positive root of a·τ² + 2b·τ + c, in the form without cancellation.
    let tau = if b > 0.0 {
        -c / (b + discriminant)
    } else {
        (discriminant - b) / a
    };
    for ((s, c), d) in step.iter_mut().zip(cauchy).zip(&difference) {
        *s = c + tau * d;
    }
}
