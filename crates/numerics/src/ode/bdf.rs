//! Numerical differentiation formulas of orders 1 to 5 with quasi-constant step size.
//!
//! L. F. Shampine, M. W. Reichelt, *The MATLAB ODE suite*, SIAM J. Sci. Comput. 18 (1997) 1–22, section 2; the
//! representation by backward differences and the change of step size follow G. D. Byrne and A. C. Hindmarsh,
//! *A polyalgorithm for the numerical solution of ordinary differential equations*, 1975. Dense output is the
//! interpolating polynomial of the differences, of the order of the method.

use super::attempts::{Attempt, Stepper, integrate_by_steps, shrinking};
use super::control::{Point, TrialStep};
use super::iteration::StageSolver;
use super::{
    Counters, IntegrationError, Integrator, IntegratorOptions, Method, OdeSystem, Replacement, Start, Step, StepFailure,
};

const MAX_ORDER: usize = 5;
const NEWTON_ITERATIONS: usize = 4;
/// Errors of the iteration enter all later differences, hence tighter than for one-step methods.
const NEWTON_KAPPA: f64 = 1e-3;
/// Steps between iterations that must show their rate of convergence.
const RATE_CHECK: usize = 4;
const MIN_FACTOR: f64 = 0.2;
const MAX_FACTOR: f64 = 10.0;
/// κ of (11) in the paper: trades a little stability for accuracy.
const KAPPA: [f64; MAX_ORDER + 1] = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0];

/// γ_k = Σ_{j≤k} 1/j.
fn gamma(k: usize) -> f64 {
    (1..=k).map(|j| 1.0 / j as f64).sum()
}

/// Leading coefficient (1 − κ_k)·γ_k.
fn alpha(k: usize) -> f64 {
    (1.0 - KAPPA[k]) * gamma(k)
}

/// Coefficient of the difference of order k+1 in the local error.
fn error_constant(k: usize) -> f64 {
    KAPPA[k] * gamma(k) + 1.0 / (k as f64 + 1.0)
}

/// A BDF integrator.
#[derive(Clone, Debug)]
pub struct Bdf {
    point: Point,
    solver: StageSolver,
    /// Backward differences of the solution at spacing `spacing`.
    differences: Vec<Vec<f64>>,
    spacing: f64,
    order: usize,
    equal_steps: usize,
    /// Order for the next step, applied when it begins so that dense output stays valid until then.
    next_order: usize,
    predicted: Vec<f64>,
    constant: Vec<f64>,
    y_new: Vec<f64>,
    correction: Vec<f64>,
    error: Vec<f64>,
    has_history: bool,
}

impl Bdf {
    /// With options; to be restarted before use.
    pub fn new(options: IntegratorOptions) -> Self {
        Self {
            point: Point::new(options),
            solver: StageSolver::new(NEWTON_ITERATIONS, NEWTON_KAPPA),
            differences: vec![Vec::new(); MAX_ORDER + 3],
            spacing: 0.0,
            order: 1,
            equal_steps: 0,
            next_order: 1,
            predicted: Vec::new(),
            constant: Vec::new(),
            y_new: Vec::new(),
            correction: Vec::new(),
            error: Vec::new(),
            has_history: false,
        }
    }

    /// Changes the spacing of the differences: the polynomial stays, its representation changes.
    fn change_spacing(&mut self, h: f64) {
        let factor = h / self.spacing;
        if factor == 1.0 {
            return;
        }
        let k = self.order;
        let (r, u) = (spacing_matrix(k, factor), spacing_matrix(k, 1.0));
        let mut product = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
        for (i, row) in product.iter_mut().enumerate().take(k + 1) {
            for (j, p) in row.iter_mut().enumerate().take(k + 1) {
                *p = (0..=k).map(|m| r[i][m] * u[m][j]).sum();
            }
        }
        for i in 0..self.point.dim() {
            let mut old = [0.0; MAX_ORDER + 1];
            for (o, d) in old.iter_mut().zip(&self.differences).take(k + 1) {
                *o = d[i];
            }
            for j in 1..=k {
                self.differences[j][i] = (0..=k).map(|m| product[m][j] * old[m]).sum();
            }
        }
        self.spacing = h;
        self.equal_steps = 0;
    }

    fn attempt(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<usize, StepFailure> {
        let k = self.order;
        let a = alpha(k);
        let c = trial.h / a;
        self.predicted.copy_from_slice(&self.differences[0]);
        self.error.fill(0.0);
        for (j, d) in self.differences.iter().enumerate().take(k + 1).skip(1) {
            let weight = gamma(j) / a;
            let sums = self.predicted.iter_mut().zip(&mut self.error).zip(d);
            sums.for_each(|((p, psi), d)| {
                *p += d;
                *psi += weight * d;
            });
        }
        let constants = self.constant.iter_mut().zip(&self.predicted).zip(&self.error);
        constants.for_each(|((r, p), psi)| *r = p - psi);
        if self.solver.cache.is_stale {
            self.solver.refresh(system, &mut self.point, false)?;
        }
        if self.equal_steps.is_multiple_of(RATE_CHECK) {
            self.solver.forget_rate();
        }
        loop {
            self.solver.prepare(c, &mut self.point)?;
            self.y_new.copy_from_slice(&self.predicted);
            let stage = (trial.t_new, &self.constant[..], c);
            let result = self
                .solver
                .solve(system, &mut self.point, stage, &mut self.y_new, &mut self.correction);
            match result {
                Ok(converged) => return Ok(converged.iterations),
                // What is constant can only have failed for want of the right factors.
                Err(StepFailure::Newton { .. })
                    if self.solver.cache.is_constant && self.solver.forget_other_factors(c) => {}
                Err(StepFailure::Newton { .. } | StepFailure::Evaluation(_)) if !self.solver.cache.is_current => {
                    self.solver.refresh(system, &mut self.point, false)?;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Error norm at an order, from the difference one above it.
    fn scaled_error(&mut self, order: usize, difference: usize) -> f64 {
        let constant = error_constant(order);
        for (e, d) in self.error.iter_mut().zip(&self.differences[difference]) {
            *e = constant * d;
        }
        self.point.error_norm(&self.error, &self.y_new)
    }

    fn update_differences(&mut self) {
        let k = self.order;
        // D[k+2] = d − D[k+1], D[k+1] = d, then D[j] += D[j+1] downwards.
        let (low, high) = self.differences.split_at_mut(k + 2);
        let top = high[0].iter_mut().zip(&mut low[k + 1]).zip(&self.correction);
        top.for_each(|((above, this), d)| {
            *above = d - *this;
            *this = *d;
        });
        for j in (1..=k).rev() {
            let (low, high) = self.differences.split_at_mut(j + 1);
            low[j].iter_mut().zip(&high[0]).for_each(|(d, above)| *d += above);
        }
        // The corrected value itself, without the rounding of the sums.
        self.differences[0].copy_from_slice(&self.y_new);
    }

    /// Chooses order and step size once enough equal steps have made the differences trustworthy.
    fn choose_order(&mut self, error: f64, safety: f64) {
        self.equal_steps += 1;
        let k = self.order;
        if self.equal_steps < k + 1 {
            return;
        }
        let factor = |error: f64, order: usize| error.max(1e-10).powf(-1.0 / (order as f64 + 1.0));
        let mut best = (k, factor(error, k));
        if k > 1 {
            let lower = factor(self.scaled_error(k - 1, k), k - 1);
            if lower > best.1 {
                best = (k - 1, lower);
            }
        }
        if k < MAX_ORDER {
            let higher = factor(self.scaled_error(k + 1, k + 2), k + 1);
            if higher > best.1 {
                best = (k + 1, higher);
            }
        }
        self.next_order = best.0;
        let growth = (safety * best.1).clamp(MIN_FACTOR, MAX_FACTOR);
        // A slightly different step would cost a factorisation and k+1 steps at fixed order for nothing.
        if best.0 != k || !(0.95..1.2).contains(&growth) {
            self.point.h = Some(self.spacing * growth);
            self.equal_steps = 0;
        }
    }
}

/// R(k, factor) of Byrne and Hindmarsh: entry (i, j) is Π_{m≤i} (m − 1 − factor·j)/m.
fn spacing_matrix(k: usize, factor: f64) -> [[f64; MAX_ORDER + 1]; MAX_ORDER + 1] {
    let mut m = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
    m[0].fill(1.0);
    for i in 1..=k {
        for j in 1..=k {
            m[i][j] = m[i - 1][j] * (i as f64 - 1.0 - factor * j as f64) / i as f64;
        }
    }
    m
}

impl Stepper for Bdf {
    fn point(&mut self) -> &mut Point {
        &mut self.point
    }

    fn begin(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<f64, IntegrationError> {
        if !self.has_history {
            let h = self.point.first_step(system, 1, stop)?;
            self.differences.iter_mut().for_each(|d| d.fill(0.0));
            for (d, f) in self.differences[1].iter_mut().zip(&self.point.f) {
                *d = h * f;
            }
            (self.spacing, self.order, self.next_order) = (h, 1, 1);
            self.equal_steps = 0;
            self.has_history = true;
        }
        self.order = self.next_order;
        // The state may have been replaced since the last step.
        self.differences[0].copy_from_slice(&self.point.y);
        Ok(self.point.h.unwrap_or(self.spacing))
    }

    fn try_step(
        &mut self,
        system: &mut dyn OdeSystem,
        trial: &TrialStep,
        wanted: f64,
        _failed: usize,
    ) -> Result<Attempt, StepFailure> {
        self.change_spacing(trial.h);
        let iterations = self.attempt(system, trial)?;
        let safety = 0.9 * (2 * NEWTON_ITERATIONS + 1) as f64 / (2 * NEWTON_ITERATIONS + iterations) as f64;
        let constant = error_constant(self.order);
        for (e, d) in self.error.iter_mut().zip(&self.correction) {
            *e = constant * d;
        }
        let error = self.point.error_norm(&self.error, &self.y_new);
        // Written so that NaN is a rejection.
        if !(error <= 1.0) {
            let factor = safety * error.powf(-1.0 / (self.order as f64 + 1.0));
            return Ok(Attempt::Rejected {
                error,
                factor: shrinking(factor, MIN_FACTOR),
                component: self.point.worst_component(&self.error),
            });
        }
        self.update_differences();
        self.point.h = Some(if trial.at_stop {
            wanted.min(MAX_FACTOR * trial.h)
        } else {
            trial.h
        });
        self.choose_order(error, safety);
        self.point.y.copy_from_slice(&self.y_new);
        self.solver.cache.accepted();
        Ok(Attempt::Accepted(self.point.accept(trial)))
    }
}

impl Integrator for Bdf {
    fn boxed_clone(&self) -> Box<dyn Integrator> {
        Box::new(self.clone())
    }

    fn method(&self) -> Method {
        Method::Bdf
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError> {
        self.point.restart(system, start)?;
        self.solver.restart(system, start.keep_jacobian);
        let n = start.y.len();
        let vectors = [
            &mut self.predicted,
            &mut self.constant,
            &mut self.y_new,
            &mut self.correction,
            &mut self.error,
        ];
        let all = vectors.into_iter().chain(&mut self.differences);
        all.for_each(|v| v.resize(n, 0.0));
        self.differences[0].copy_from_slice(start.y);
        self.has_history = false;
        Ok(())
    }

    integrate_by_steps!();

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        y.copy_from_slice(&self.differences[0]);
        if self.point.t <= self.point.t_old {
            return;
        }
        let mut product = 1.0;
        for j in 1..=self.order {
            let node = self.point.t - (j - 1) as f64 * self.spacing;
            product *= (t - node) / (self.spacing * j as f64);
            let d = &self.differences[j];
            y.iter_mut().zip(d).for_each(|(y, d)| *y += product * d);
        }
    }

    fn interpolate_derivative(&self, t: f64, dy: &mut [f64]) {
        if self.point.t <= self.point.t_old {
            dy.copy_from_slice(&self.point.f);
            return;
        }
        dy.fill(0.0);
        let (mut product, mut slope) = (1.0, 0.0);
        for j in 1..=self.order {
            let node = self.point.t - (j - 1) as f64 * self.spacing;
            let width = self.spacing * j as f64;
            slope = slope * (t - node) / width + product / width;
            product *= (t - node) / width;
            let d = &self.differences[j];
            dy.iter_mut().zip(d).for_each(|(y, d)| *y += slope * d);
        }
    }

    fn replace_state(&mut self, system: &mut dyn OdeSystem, y: &[f64]) -> Result<Replacement, IntegrationError> {
        self.point.check_state(y)?;
        let small = self.point.is_small_change(y);
        self.point.y.copy_from_slice(y);
        if small && self.has_history {
            return Ok(Replacement::Absorbed);
        }
        self.point.evaluate_here(system)?;
        self.has_history = false;
        // The step size of a high order is far too large for the first order to begin with.
        self.point.h = None;
        Ok(Replacement::Restarted)
    }
}

impl super::auto::ImplicitMethod for Bdf {
    fn boxed_implicit_clone(&self) -> Box<dyn super::auto::ImplicitMethod> {
        Box::new(self.clone())
    }

    fn jacobian_norm(&self) -> f64 {
        self.solver.cache.norm()
    }
}
