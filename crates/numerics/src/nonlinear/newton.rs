//! Damped Newton with row and column scaling.
//!
//! Unknowns are measured in their nominal values, residuals in nominal values or, where none are given, in what
//! the Jacobian rows amount to at nominal changes of the unknowns. A step is accepted when it reduces the scaled
//! residual sufficiently (Armijo); halving also answers points where F fails.

use super::report::largest;
use super::{FailureReason, Iteration, IterationKind, NonlinearSystem, SolveFailure, SolveReport, runs_away};
use crate::EvalError;
use crate::error::check_finite;
use crate::linalg::{Colouring, Factorisation, MatrixStructure};

/// Accuracy, limits and scales.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Converged when a full Newton step is below this, relative to |x| + nominal.
    pub step_tolerance: f64,
    /// Converged when the scaled residual is below this whatever the step.
    pub residual_tolerance: f64,
    /// Limit on iterations of each kind.
    pub max_iterations: usize,
    /// Typical magnitudes of the unknowns; ones if `None`.
    pub nominal: Option<Vec<f64>>,
    /// Typical magnitudes of the residuals; from the Jacobian if `None`.
    pub residual_nominal: Option<Vec<f64>>,
    /// Hints where the unknowns lie (min, max): iterates are kept inside while that works.
    pub bounds: Option<Vec<(f64, f64)>>,
    /// Whether to try the trust region after damped Newton failed.
    pub dogleg: bool,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self {
            step_tolerance: 1e-10,
            residual_tolerance: 1e-14,
            max_iterations: 60,
            nominal: None,
            residual_nominal: None,
            bounds: None,
            dogleg: true,
        }
    }
}

/// Memory for solving systems of one structure again and again.
#[derive(Clone, Debug)]
pub struct NewtonSolver {
    n: usize,
    pub(super) factorisation: Factorisation,
    groups: Vec<Vec<usize>>,
    pub(super) values: Vec<f64>,
    pub(super) residual: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) trial_residual: Vec<f64>,
    pub(super) direction: Vec<f64>,
    pub(super) nominal: Vec<f64>,
    pub(super) row_scale: Vec<f64>,
    start: Vec<f64>,
    best: Vec<f64>,
    best_norm: f64,
    pub(super) history: Vec<Iteration>,
    pub(super) report: SolveReport,
}

impl NewtonSolver {
    /// Prepares for systems with the structure of this one.
    pub fn new(system: &dyn NonlinearSystem) -> Self {
        let n = system.dim();
        let structure = match system.jacobian_pattern() {
            Some(pattern) => MatrixStructure::Sparse(pattern.clone()),
            None => MatrixStructure::Dense { n },
        };
        Self {
            n,
            values: vec![0.0; structure.len()],
            factorisation: Factorisation::new(structure),
            groups: Vec::new(),
            residual: vec![0.0; n],
            trial: vec![0.0; n],
            trial_residual: vec![0.0; n],
            direction: vec![0.0; n],
            nominal: vec![1.0; n],
            row_scale: vec![1.0; n],
            start: vec![0.0; n],
            best: vec![0.0; n],
            best_norm: f64::INFINITY,
            history: Vec::new(),
            report: SolveReport::default(),
        }
    }

    /// Solves F(x) = 0 from the start value in `x`, which holds the solution afterwards. After a failure `x` is as
    /// it was; the best point found is in the error.
    ///
    /// # Errors
    /// If no solution was found.
    pub fn solve(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        options: &NewtonOptions,
    ) -> Result<SolveReport, Box<SolveFailure>> {
        if let Err(what) = self.begin(system, x, options) {
            return Err(self.failure(FailureReason::BadInput(what)));
        }
        if self.n == 0 {
            return Ok(self.report);
        }
        let bounds = options.bounds.as_deref();
        let mut reason = match self.damped_newton(system, x, options, bounds) {
            Ok(()) => return Ok(self.report),
            Err(reason) => reason,
        };
        if options.dogleg && is_worth_retrying(&reason) {
            self.report.used_dogleg = true;
            x.copy_from_slice(&self.start);
            reason = match self.dogleg(system, x, options, bounds) {
                Ok(()) => return Ok(self.report),
                Err(reason) => reason,
            };
            if let Some(bounds) = bounds.filter(|_| is_worth_retrying(&reason)) {
                reason = match self.retry_with_bounds(system, x, options, bounds) {
                    Ok(()) => return Ok(self.report),
                    Err(reason) => reason,
                };
            }
        }
        x.copy_from_slice(&self.start);
        let failure = self.failure(reason);
        Err(self.with_culprits(failure, system))
    }

    /// A start on a bound may point outwards although the root lies inside: starts again from within. After that,
    /// bounds being hints, the solution may lie outside.
    fn retry_with_bounds(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        options: &NewtonOptions,
        bounds: &[(f64, f64)],
    ) -> Result<(), FailureReason> {
        x.copy_from_slice(&self.start);
        clip(x, Some(bounds));
        let mut inside = false;
        for (i, &(lower, upper)) in bounds.iter().enumerate() {
            let middle = 0.5 * lower + 0.5 * upper;
            let moved = match (x[i] <= lower, x[i] >= upper) {
                (true, false) => (x[i] + self.nominal[i]).min(middle),
                (false, true) => (x[i] - self.nominal[i]).max(middle),
                _ => continue,
            };
            inside = true;
            x[i] = moved;
        }
        if inside && self.dogleg(system, x, options, Some(bounds)).is_ok() {
            return Ok(());
        }
        x.copy_from_slice(&self.start);
        self.dogleg(system, x, options, None)
    }

    fn begin(&mut self, system: &dyn NonlinearSystem, x: &[f64], options: &NewtonOptions) -> Result<(), &'static str> {
        self.history.clear();
        self.report = SolveReport::default();
        self.best_norm = f64::INFINITY;
        if system.dim() != self.n || x.len() != self.n {
            return Err("the number of unknowns differs from what the solver was made for");
        }
        if x.iter().any(|v| !v.is_finite()) {
            return Err("a start value is not a finite number");
        }
        let wrong = |v: &Option<Vec<f64>>| v.as_ref().is_some_and(|v| v.len() != self.n);
        let wrong_bounds = options.bounds.as_ref().is_some_and(|b| b.len() != self.n);
        if wrong(&options.nominal) || wrong(&options.residual_nominal) || wrong_bounds {
            return Err("nominal values or bounds have the wrong length");
        }
        self.start.copy_from_slice(x);
        self.best.copy_from_slice(x);
        match &options.nominal {
            Some(nominal) => {
                for (own, given) in self.nominal.iter_mut().zip(nominal) {
                    *own = if *given != 0.0 && given.is_finite() {
                        given.abs()
                    } else {
                        1.0
                    };
                }
            }
            None => self.nominal.fill(1.0),
        }
        Ok(())
    }

    fn failure(&self, reason: FailureReason) -> Box<SolveFailure> {
        let moved = (self.best.iter().zip(&self.start).zip(&self.nominal)).map(|((b, s), n)| (b - s) / n);
        Box::new(SolveFailure {
            reason,
            history: self.history.clone(),
            x: self.best.clone(),
            largest_residuals: Vec::new(),
            most_moved: largest(moved),
        })
    }

    fn with_culprits(&mut self, mut failure: Box<SolveFailure>, system: &mut dyn NonlinearSystem) -> Box<SolveFailure> {
        if system.residual(&failure.x, &mut self.residual).is_ok() {
            let scaled = self.residual.iter().zip(&self.row_scale).map(|(r, s)| r * s);
            failure.largest_residuals = largest(scaled);
        }
        failure
    }

    pub(super) fn evaluate(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &[f64],
        at_trial: bool,
    ) -> Result<(), EvalError> {
        self.report.residual_evaluations += 1;
        let target = if at_trial {
            &mut self.trial_residual
        } else {
            &mut self.residual
        };
        system.residual(x, target)?;
        check_finite(target)
    }

    /// The Jacobian at a point where the residual is known.
    pub(super) fn evaluate_jacobian(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), EvalError> {
        self.report.jacobians += 1;
        if !system.jacobian(x, &mut self.values)? {
            self.difference_quotients(system, x)?;
        }
        check_finite(&self.values)
    }

    fn difference_quotients(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), EvalError> {
        let structure = self.factorisation.structure().clone();
        if self.groups.is_empty() {
            self.groups = match &structure {
                MatrixStructure::Dense { n } => (0..*n).map(|c| vec![c]).collect(),
                MatrixStructure::Sparse(pattern) => Colouring::new(pattern).groups().to_vec(),
            };
        }
        let mut increments = vec![0.0; self.n];
        for g in 0..self.groups.len() {
            let mut result = Ok(());
            for sign in [1.0, -1.0] {
                self.trial.copy_from_slice(x);
                for &c in &self.groups[g] {
                    let size = x[c].abs().max(self.nominal[c] * 1e-3);
                    self.trial[c] = x[c] + sign * f64::EPSILON.sqrt() * size;
                    increments[c] = self.trial[c] - x[c];
                }
                self.report.residual_evaluations += 1;
                result = system
                    .residual(&self.trial, &mut self.trial_residual)
                    .and_then(|()| check_finite(&self.trial_residual));
                if !result.as_ref().is_err_and(|e| e.recoverable) {
                    break;
                }
            }
            result?;
            for &c in &self.groups[g] {
                let quotient = |r: usize| (self.trial_residual[r] - self.residual[r]) / increments[c];
                match &structure {
                    MatrixStructure::Dense { n } => {
                        (0..*n).for_each(|r| self.values[c * n + r] = quotient(r));
                    }
                    MatrixStructure::Sparse(pattern) => {
                        for k in pattern.range(c) {
                            self.values[k] = quotient(pattern.row_indices()[k]);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Weights of the residuals, from the first Jacobian unless given.
    pub(super) fn scale_rows(&mut self, options: &NewtonOptions) {
        if let Some(nominal) = &options.residual_nominal {
            for (s, n) in self.row_scale.iter_mut().zip(nominal) {
                *s = if *n != 0.0 && n.is_finite() { 1.0 / n.abs() } else { 1.0 };
            }
            return;
        }
        self.row_scale.fill(0.0);
        let Self {
            factorisation,
            row_scale,
            values,
            nominal,
            start,
            ..
        } = self;
        factorisation.structure().for_each(|r, c, k| {
            row_scale[r] += values[k].abs() * nominal[c].max(start[c].abs());
        });
        for s in row_scale {
            *s = if *s > 0.0 && s.is_finite() { 1.0 / *s } else { 1.0 };
        }
    }

    pub(super) fn scaled_norms(&self, residual: &[f64]) -> (f64, f64) {
        let (mut largest, mut squares) = (0.0f64, 0.0);
        for (r, s) in residual.iter().zip(&self.row_scale) {
            largest = largest.max((r * s).abs());
            squares += (r * s) * (r * s);
        }
        (largest, squares)
    }

    pub(super) fn scaled_step(&self, step: &[f64], x: &[f64]) -> f64 {
        let scaled = step
            .iter()
            .zip(x)
            .zip(&self.nominal)
            .map(|((d, x), n)| d.abs() / (n + x.abs()));
        scaled.fold(0.0, f64::max)
    }

    pub(super) fn note(&mut self, iteration: Iteration, x: &[f64]) {
        self.report.iterations += 1;
        self.report.residual_norm = iteration.residual_norm;
        if iteration.residual_norm < self.best_norm {
            self.best_norm = iteration.residual_norm;
            self.best.copy_from_slice(x);
        }
        self.history.push(iteration);
    }

    fn damped_newton(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        options: &NewtonOptions,
        bounds: Option<&[(f64, f64)]>,
    ) -> Result<(), FailureReason> {
        self.evaluate(system, x, false).map_err(FailureReason::Evaluation)?;
        for iteration in 0..options.max_iterations {
            self.evaluate_jacobian(system, x).map_err(FailureReason::Evaluation)?;
            if iteration == 0 {
                self.scale_rows(options);
                self.best_norm = self.scaled_norms(&self.residual).0;
            }
            self.factorisation
                .factor(&self.values)
                .map_err(FailureReason::Singular)?;
            for (d, r) in self.direction.iter_mut().zip(&self.residual) {
                *d = -r;
            }
            let mut direction = std::mem::take(&mut self.direction);
            self.factorisation.solve(&mut direction);
            self.direction = direction;
            let full_step = self.scaled_step(&self.direction, x);
            let damping = self.line_search(system, x, bounds)?;
            x.copy_from_slice(&self.trial);
            std::mem::swap(&mut self.residual, &mut self.trial_residual);
            let (norm, _) = self.scaled_norms(&self.residual);
            let record = Iteration {
                kind: IterationKind::Newton,
                residual_norm: norm,
                step_norm: damping * full_step,
                damping,
            };
            self.note(record, x);
            let converged = damping == 1.0 && full_step <= options.step_tolerance;
            let balanced = norm <= options.residual_tolerance && self.is_balanced(x, options, |_, _, slope| slope);
            if (converged || balanced) && !self.runs_away(x) {
                return Ok(());
            }
        }
        Err(FailureReason::IterationLimit)
    }

    /// Whether residuals are small against what the present Jacobian says of their rows. Far from the solution, where rows were given their
    /// scales, it may have been larger by many powers of ten. `slope` makes slopes of the entries of the matrix that is kept.
    pub(super) fn is_balanced(
        &self,
        x: &[f64],
        options: &NewtonOptions,
        slope: impl Fn(usize, usize, f64) -> f64,
    ) -> bool {
        if options.residual_nominal.is_some() {
            return true;
        }
        let mut sizes = vec![0.0; self.n];
        self.factorisation.structure().for_each(|r, c, k| {
            sizes[r] += slope(r, c, self.values[k]).abs() * self.nominal[c].max(x[c].abs());
        });
        let mut residuals = self.residual.iter().zip(sizes);
        residuals.all(|(residual, size)| residual.abs() <= options.residual_tolerance * size)
    }

    /// Whether the last Newton direction leads an unknown away from zero.
    fn runs_away(&self, x: &[f64]) -> bool {
        x.iter().zip(&self.direction).any(|(&x, &step)| runs_away(x, step))
    }

    /// Halves the step until the residual decreases; leaves the trial point and residual behind.
    fn line_search(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &[f64],
        bounds: Option<&[(f64, f64)]>,
    ) -> Result<f64, FailureReason> {
        let (norm, squares) = self.scaled_norms(&self.residual);
        // Near the solution rounding decides, not descent.
        let noise = norm < 1e-12;
        let mut damping = 1.0;
        let mut last_error = None;
        for _ in 0..14 {
            for (i, t) in self.trial.iter_mut().enumerate() {
                *t = x[i] + damping * self.direction[i];
            }
            let clipped = clip(&mut self.trial, bounds);
            let trial = std::mem::take(&mut self.trial);
            let result = self.evaluate(system, &trial, true);
            self.trial = trial;
            match result {
                Ok(()) => {
                    last_error = None;
                    let (_, reduced) = self.scaled_norms(&self.trial_residual);
                    if noise || reduced <= (1.0 - 2e-4 * damping) * squares {
                        // A step cut by a bound is no full step: convergence must not be read from it.
                        return Ok(if clipped { damping.min(0.999) } else { damping });
                    }
                }
                Err(error) if !error.recoverable => return Err(FailureReason::Evaluation(error)),
                Err(error) => last_error = Some(error),
            }
            damping *= 0.5;
        }
        Err(last_error.map_or(FailureReason::Stagnation, FailureReason::Evaluation))
    }
}

fn is_worth_retrying(reason: &FailureReason) -> bool {
    match reason {
        FailureReason::IterationLimit | FailureReason::Stagnation | FailureReason::Singular(_) => true,
        FailureReason::Evaluation(error) => error.recoverable,
        FailureReason::BadInput(_) => false,
    }
}

/// Moves a point into the bounds; whether that changed it.
pub(super) fn clip(x: &mut [f64], bounds: Option<&[(f64, f64)]>) -> bool {
    let mut changed = false;
    for (v, &(lo, hi)) in x.iter_mut().zip(bounds.unwrap_or(&[])) {
        // `max` and `min` ignore NaN bounds; a reversed pair ends at the upper one.
        let inside = v.max(lo).min(hi);
        changed |= inside != *v;
        *v = inside;
    }
    changed
}

/// Solves F(x) = 0 once; see [`NewtonSolver::solve`].
///
/// # Errors
/// If no solution was found.
pub fn solve_newton(
    system: &mut dyn NonlinearSystem,
    x: &mut [f64],
    options: &NewtonOptions,
) -> Result<SolveReport, Box<SolveFailure>> {
    NewtonSolver::new(system).solve(system, x, options)
}
