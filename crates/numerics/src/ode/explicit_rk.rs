//! Explicit embedded Runge–Kutta methods: Tsitouras 5(4) and Dormand–Prince 8(5,3).
//!
//! Step control is the proportional-integral one of Hairer's DOPRI5 and DOP853 (*Solving Ordinary Differential
//! Equations I*, II.4, and II, IV.2), as is the detection of stiffness: the last two stages lie at the same time,
//! so the quotient of the differences of their slopes and states estimates the largest eigenvalue of the Jacobian;
//! a step size that sits at the border of the stability region again and again means stiffness.

use super::attempts::{Attempt, Stepper, integrate_by_steps, shrinking};
use super::control::{Point, TrialStep, evaluate, hermite, hermite_derivative};
use super::{
    Counters, IntegrationError, Integrator, IntegratorOptions, Method, OdeSystem, Replacement, Start, Step,
    StepFailure, dop853_tableau as dop853, tsit45_tableau as tsit45,
};
use crate::EvalError;

/// Steps at the border of the stability region that make a problem stiff, and steps inside that clear the count.
/// (Hairer's DOPRI5 waits for 15, but it can only stop; here another method takes over.) Where steps are expensive fewer
/// have to do.
const STIFF_AFTER: usize = 5;
const STIFF_AFTER_IF_LARGE: usize = 3;
const LARGE: usize = 400;
const NONSTIFF_AFTER: usize = 6;
const SAFETY: f64 = 0.9;

/// Constants of one of the two pairs.
#[derive(Clone, Copy, Debug)]
struct Pair {
    method: Method,
    a: &'static [&'static [f64]],
    c: &'static [f64],
    /// Stages before the one at the end of the step.
    stages: usize,
    stages_with_dense: usize,
    /// 1 / (order of the error estimate + 1).
    exponent: f64,
    /// Weight of the previous error in the controller.
    beta: f64,
    min_factor: f64,
    max_factor: f64,
    /// Extent of the stability region along the negative real axis.
    stability: f64,
}

const TSIT45: Pair = Pair {
    method: Method::Tsit45,
    a: &tsit45::A,
    c: &tsit45::C,
    stages: tsit45::STAGES - 1,
    stages_with_dense: tsit45::STAGES,
    exponent: 1.0 / 5.0,
    beta: 0.04,
    min_factor: 0.2,
    max_factor: 10.0,
    stability: 3.25,
};

const DOP853: Pair = Pair {
    method: Method::Dop853,
    a: &dop853::A,
    c: &dop853::C,
    stages: dop853::STAGES,
    stages_with_dense: dop853::EXTENDED_STAGES,
    exponent: 1.0 / 8.0,
    beta: 0.0,
    min_factor: 1.0 / 3.0,
    max_factor: 6.0,
    stability: 6.1,
};

/// An explicit Runge–Kutta integrator.
#[derive(Clone, Debug)]
pub struct ExplicitRk {
    pair: Pair,
    point: Point,
    /// Slopes; `stages[0]` is the one at the beginning of the last step.
    slopes: Vec<Vec<f64>>,
    y_old: Vec<f64>,
    y_new: Vec<f64>,
    /// State of the last stage before the end.
    y_last_stage: Vec<f64>,
    error: Vec<f64>,
    /// Coefficients of the dense output beyond those of the cubic (DOP853).
    dense: Vec<Vec<f64>>,
    dense_is_full: bool,
    previous_error: f64,
    stiff_steps: usize,
    nonstiff_steps: usize,
    /// The last step in parts of the shortest time constant that its stages met; 0 where they met none.
    time_constants: f64,
}

impl ExplicitRk {
    /// Either [`Method::Tsit45`] or [`Method::Dop853`]; anything else means the former.
    pub fn new(method: Method, options: IntegratorOptions) -> Self {
        Self {
            pair: if method == Method::Dop853 { DOP853 } else { TSIT45 },
            point: Point::new(options),
            slopes: Vec::new(),
            y_old: Vec::new(),
            y_new: Vec::new(),
            y_last_stage: Vec::new(),
            error: Vec::new(),
            dense: Vec::new(),
            dense_is_full: false,
            previous_error: 1e-4,
            stiff_steps: 0,
            nonstiff_steps: 0,
            time_constants: 0.0,
        }
    }

    /// Whether the steps taken show that stability, not accuracy, limits the step size.
    pub fn is_stiff(&self) -> bool {
        let enough = if self.point.dim() > LARGE {
            STIFF_AFTER_IF_LARGE
        } else {
            STIFF_AFTER
        };
        self.stiff_steps >= enough
    }

    /// How long the last step was, in the shortest time constants (or periods by 2π) that its stages met.
    pub(super) fn time_constants_per_step(&self) -> f64 {
        self.time_constants
    }

    /// Slope at the current point.
    pub(super) fn derivative(&self) -> &[f64] {
        &self.point.f
    }

    fn resize(&mut self, n: usize) {
        self.slopes.resize_with(self.pair.stages_with_dense, Vec::new);
        self.dense.resize_with(4, Vec::new);
        let vectors = [
            &mut self.y_old,
            &mut self.y_new,
            &mut self.y_last_stage,
            &mut self.error,
        ];
        let all = vectors.into_iter().chain(&mut self.slopes).chain(&mut self.dense);
        all.for_each(|v| v.resize(n, 0.0));
        self.y_old.copy_from_slice(&self.point.y);
        self.dense_is_full = false;
    }

    /// State of stage `s` into `y_new`.
    fn stage_state(&mut self, s: usize, h: f64) {
        self.y_new.copy_from_slice(&self.point.y);
        for (&a, k) in self.pair.a[s].iter().zip(&self.slopes) {
            if a != 0.0 {
                let ha = h * a;
                self.y_new.iter_mut().zip(k).for_each(|(y, k)| *y += ha * k);
            }
        }
    }

    /// Computes all slopes of a step, the one at its end included.
    fn attempt(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<(), EvalError> {
        self.slopes[0].copy_from_slice(&self.point.f);
        for s in 1..=self.pair.stages {
            self.stage_state(s, trial.h);
            if s + 1 == self.pair.stages {
                self.y_last_stage.copy_from_slice(&self.y_new);
            }
            let c = self.pair.c[s];
            let t = if c == 1.0 {
                trial.t_new
            } else {
                self.point.t + c * trial.h
            };
            evaluate(system, t, &self.y_new, &mut self.slopes[s], &mut self.point.counters)?;
        }
        Ok(())
    }

    fn combine(&mut self, weights: &[f64], h: f64) {
        self.error.fill(0.0);
        for (&w, k) in weights.iter().zip(&self.slopes) {
            if w != 0.0 {
                self.error.iter_mut().zip(k).for_each(|(e, k)| *e += h * w * k);
            }
        }
    }

    fn error_estimate(&mut self, h: f64) -> f64 {
        if self.pair.method == Method::Tsit45 {
            self.combine(&tsit45::ERROR, h);
            return self.point.error_norm(&self.error, &self.y_new);
        }
        // (10.17) of Hairer, Nørsett, Wanner: both embedded formulas combined.
        self.combine(&dop853::ERROR_3, h);
        let third = self.point.error_norm(&self.error, &self.y_new);
        self.combine(&dop853::ERROR_5, h);
        let fifth = self.point.error_norm(&self.error, &self.y_new);
        let denominator = (fifth * fifth + 0.01 * third * third).sqrt();
        if denominator > 0.0 {
            fifth * fifth / denominator
        } else {
            fifth
        }
    }

    /// Counts towards stiffness after an accepted step.
    fn observe_stiffness(&mut self, h: f64) {
        let end = self.pair.stages;
        let mut slope_difference = 0.0;
        let mut state_difference = 0.0;
        for i in 0..self.point.dim() {
            slope_difference += (self.slopes[end][i] - self.slopes[end - 1][i]).powi(2);
            state_difference += (self.y_new[i] - self.y_last_stage[i]).powi(2);
        }
        self.time_constants = if state_difference > 0.0 {
            h * (slope_difference / state_difference).sqrt()
        } else {
            0.0
        };
        if self.time_constants > self.pair.stability {
            self.nonstiff_steps = 0;
            self.stiff_steps += 1;
        } else {
            self.nonstiff_steps += 1;
            if self.nonstiff_steps >= NONSTIFF_AFTER {
                self.stiff_steps = 0;
            }
        }
    }

    /// Extra stages of DOP853 and the coefficients made of them; falls back to the cubic where f fails.
    fn prepare_dense(&mut self, system: &mut dyn OdeSystem, h: f64) -> Result<(), EvalError> {
        self.dense_is_full = self.pair.method == Method::Tsit45;
        if self.dense_is_full || !self.point.options.dense_output {
            return Ok(());
        }
        // `point` still stands at the beginning of the step; `y_new` is needed afterwards.
        let y_end = std::mem::take(&mut self.y_new);
        self.y_new.resize(y_end.len(), 0.0);
        let mut result = Ok(());
        for s in self.pair.stages + 1..self.pair.stages_with_dense {
            self.stage_state(s, h);
            let t = self.point.t + self.pair.c[s] * h;
            result = evaluate(system, t, &self.y_new, &mut self.slopes[s], &mut self.point.counters);
            if result.is_err() {
                break;
            }
        }
        self.y_new = y_end;
        match result {
            Ok(()) => self.dense_is_full = true,
            Err(error) if !error.recoverable => return Err(error),
            Err(_) => return Ok(()),
        }
        for (coefficient, weights) in self.dense.iter_mut().zip(&dop853::D) {
            coefficient.fill(0.0);
            for (&w, k) in weights.iter().zip(&self.slopes) {
                if w != 0.0 {
                    coefficient.iter_mut().zip(k).for_each(|(c, k)| *c += h * w * k);
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self, trial: &TrialStep) -> Step {
        std::mem::swap(&mut self.y_old, &mut self.point.y);
        self.point.y.copy_from_slice(&self.y_new);
        self.point.f.copy_from_slice(&self.slopes[self.pair.stages]);
        self.point.accept(trial)
    }
}

impl Stepper for ExplicitRk {
    fn point(&mut self) -> &mut Point {
        &mut self.point
    }

    fn begin(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<f64, IntegrationError> {
        let order = if self.pair.method == Method::Tsit45 { 5 } else { 8 };
        self.point.first_step(system, order, stop)
    }

    fn try_step(
        &mut self,
        system: &mut dyn OdeSystem,
        trial: &TrialStep,
        wanted: f64,
        failed: usize,
    ) -> Result<Attempt, StepFailure> {
        self.attempt(system, trial).map_err(StepFailure::Evaluation)?;
        let error = self.error_estimate(trial.h);
        // Written so that NaN is a rejection.
        if !(error <= 1.0) {
            let factor = SAFETY * error.powf(-self.pair.exponent);
            return Ok(Attempt::Rejected {
                error,
                factor: shrinking(factor, self.pair.min_factor),
                component: self.point.worst_component(&self.error),
            });
        }
        let factor = SAFETY
            * error.max(1e-10).powf(-(self.pair.exponent - 0.75 * self.pair.beta))
            * self.previous_error.powf(self.pair.beta);
        let largest = if failed > 0 { 1.0 } else { self.pair.max_factor };
        self.previous_error = error.max(1e-4);
        self.observe_stiffness(trial.h);
        // Only a fatal failure comes back from here.
        self.prepare_dense(system, trial.h).map_err(StepFailure::Evaluation)?;
        let step = self.accept(trial);
        let next = trial.h * factor.clamp(self.pair.min_factor, largest);
        // A step cut short by the stop time says little about the next one.
        self.point.h = Some(if trial.at_stop { next.max(wanted) } else { next });
        Ok(Attempt::Accepted(step))
    }
}

impl Integrator for ExplicitRk {
    fn boxed_clone(&self) -> Box<dyn Integrator> {
        Box::new(self.clone())
    }

    fn method(&self) -> Method {
        self.pair.method
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError> {
        self.point.restart(system, start)?;
        self.resize(start.y.len());
        self.previous_error = 1e-4;
        // The count survives: a model with frequent events may be stiff all the same.
        if !start.keep_jacobian {
            (self.stiff_steps, self.nonstiff_steps) = (0, 0);
        }
        Ok(())
    }

    integrate_by_steps!();

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        let h = self.point.t - self.point.t_old;
        let theta = self.point.fraction(t);
        if h <= 0.0 || theta == 1.0 {
            y.copy_from_slice(self.y_new_or_current());
            return;
        }
        if !self.dense_is_full {
            let end = &self.slopes[self.pair.stages];
            hermite(theta, h, (&self.y_old, &self.slopes[0]), (&self.y_new, end), y);
        } else if self.pair.method == Method::Tsit45 {
            y.copy_from_slice(&self.y_old);
            for (d, k) in tsit45::D.iter().zip(&self.slopes) {
                let w = h * theta * (d[0] + theta * (d[1] + theta * (d[2] + theta * d[3])));
                y.iter_mut().zip(k).for_each(|(y, k)| *y += w * k);
            }
        } else {
            self.interpolate_dop853(theta, h, y);
        }
    }

    fn interpolate_derivative(&self, t: f64, dy: &mut [f64]) {
        let h = self.point.t - self.point.t_old;
        let theta = self.point.fraction(t);
        if h <= 0.0 {
            dy.copy_from_slice(&self.point.f);
        } else if !self.dense_is_full {
            let end = &self.slopes[self.pair.stages];
            hermite_derivative(theta, h, (&self.y_old, &self.slopes[0]), (&self.y_new, end), dy);
        } else if self.pair.method == Method::Tsit45 {
            dy.fill(0.0);
            for (d, k) in tsit45::D.iter().zip(&self.slopes) {
                let w = d[0] + theta * (2.0 * d[1] + theta * (3.0 * d[2] + theta * 4.0 * d[3]));
                dy.iter_mut().zip(k).for_each(|(y, k)| *y += w * k);
            }
        } else {
            self.differentiate_dop853(theta, h, dy);
        }
    }

    fn replace_state(&mut self, system: &mut dyn OdeSystem, y: &[f64]) -> Result<Replacement, IntegrationError> {
        self.point.replace(system, y)
    }
}

impl ExplicitRk {
    /// End of the dense output: the state before any replacement.
    fn y_new_or_current(&self) -> &[f64] {
        if self.point.t > self.point.t_old {
            &self.y_new
        } else {
            &self.point.y
        }
    }

    /// (6.14) of Hairer, Nørsett, Wanner: nested in θ and 1−θ.
    fn interpolate_dop853(&self, theta: f64, h: f64, y: &mut [f64]) {
        let s = 1.0 - theta;
        let end = &self.slopes[self.pair.stages];
        for (i, out) in y.iter_mut().enumerate() {
            let c = self.dop853_coefficients(i, h, end[i]);
            let inner = c[3] + theta * (c[4] + s * (c[5] + theta * c[6]));
            *out = self.y_old[i] + theta * (c[0] + s * (c[1] + theta * (c[2] + s * inner)));
        }
    }

    fn dop853_coefficients(&self, i: usize, h: f64, slope_end: f64) -> [f64; 7] {
        let difference = self.y_new[i] - self.y_old[i];
        let bend = h * self.slopes[0][i] - difference;
        let twist = difference - h * slope_end - bend;
        let d = &self.dense;
        [difference, bend, twist, d[0][i], d[1][i], d[2][i], d[3][i]]
    }

    fn differentiate_dop853(&self, theta: f64, h: f64, dy: &mut [f64]) {
        let s = 1.0 - theta;
        let end = &self.slopes[self.pair.stages];
        for (i, out) in dy.iter_mut().enumerate() {
            let c = self.dop853_coefficients(i, h, end[i]);
            // Horner's scheme with derivative; factors alternate between θ (derivative 1) and 1−θ (−1).
            let (mut value, mut slope) = (c[6], 0.0);
            for (k, &coefficient) in c.iter().enumerate().take(6).rev() {
                let (factor, sign) = if k % 2 == 0 { (s, -1.0) } else { (theta, 1.0) };
                slope = sign * value + factor * slope;
                value = coefficient + factor * value;
            }
            *out = (value + theta * slope) / h;
        }
    }
}
