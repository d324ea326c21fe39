//! Radau IIA of order 5 (three stages), stiffly accurate and L-stable.
//!
//! E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, section IV.8. The 3n-dimensional Newton
//! system is transformed so that one real and one complex system of dimension n remain, sparse if the Jacobian
//! is. Dense output is the collocation polynomial.

use super::attempts::{Attempt, Stepper, integrate_by_steps, shrinking};
use super::control::{Point, TrialStep, evaluate};
use super::iteration::{EXACT_RATE, JacobianCache, ShiftedMatrix, newton_tolerance};
use super::{
    Counters, IntegrationError, Integrator, IntegratorOptions, Method, OdeSystem, Replacement, Start, Step, StepFailure,
};
use crate::linalg::MatrixStructure;
use num_complex::Complex64;

const S6: f64 = 2.449_489_742_783_178;
const C: [f64; 3] = [(4.0 - S6) / 10.0, (4.0 + S6) / 10.0, 1.0];
/// Weights of the error estimate (8.18): multiples of the real eigenvalue of A⁻¹.
const ERROR: [f64; 3] = [(-13.0 - 7.0 * S6) / 3.0, (-13.0 + 7.0 * S6) / 3.0, -1.0 / 3.0];
/// Eigenvalues of A⁻¹: 3 + 3^(2/3) − 3^(1/3), and the complex pair.
const MU_REAL: f64 = 3.637_834_252_744_496;
const MU_COMPLEX: Complex64 = Complex64::new(2.681_082_873_627_752, -3.050_430_199_247_411);
/// Eigenvectors of A⁻¹ (real and imaginary parts of the pair) and their inverse.
const T: [[f64; 3]; 3] = [
    [
        0.094_438_762_488_975_24,
        -0.141_255_295_020_954_2,
        0.030_029_194_105_147_42,
    ],
    [
        0.250_213_122_965_333_3,
        0.204_129_352_293_799_94,
        -0.382_942_112_757_261_9,
    ],
    [1.0, 1.0, 0.0],
];
const T_INVERSE: [[f64; 3]; 3] = [
    [4.178_718_591_551_904, 0.327_682_820_761_062_37, 0.523_376_445_499_449_5],
    [
        -4.178_718_591_551_904,
        -0.327_682_820_761_062_37,
        0.476_623_554_500_550_44,
    ],
    [0.502_872_634_945_786_8, -2.571_926_949_855_605, 0.596_039_204_828_224_9],
];
/// Collocation polynomial: coefficient of θ^(j+1) is Σ_i P[i][j]·Z_i.
const P: [[f64; 3]; 3] = [
    [
        13.0 / 3.0 + 7.0 * S6 / 3.0,
        -23.0 / 3.0 - 22.0 * S6 / 3.0,
        10.0 / 3.0 + 5.0 * S6,
    ],
    [
        13.0 / 3.0 - 7.0 * S6 / 3.0,
        -23.0 / 3.0 + 22.0 * S6 / 3.0,
        10.0 / 3.0 - 5.0 * S6,
    ],
    [1.0 / 3.0, -8.0 / 3.0, 10.0 / 3.0],
];
const NEWTON_ITERATIONS: usize = 7;
const NEWTON_KAPPA: f64 = 1e-3;
const MIN_FACTOR: f64 = 0.2;
const MAX_FACTOR: f64 = 8.0;
/// Convergence faster than this keeps the Jacobian.
const FAST_RATE: f64 = 1e-3;

/// A Radau IIA integrator.
#[derive(Clone, Debug)]
pub struct Radau {
    point: Point,
    cache: JacobianCache,
    real: ShiftedMatrix,
    complex: ShiftedMatrix<Complex64>,
    factored_h: Option<f64>,
    /// Stage increments Y_i − y, transformed increments, and slopes.
    z: [Vec<f64>; 3],
    w: [Vec<f64>; 3],
    f: [Vec<f64>; 3],
    complex_rhs: Vec<Complex64>,
    /// Coefficients of the collocation polynomial of the last step.
    polynomial: [Vec<f64>; 3],
    has_polynomial: bool,
    /// Whether the solution continues smoothly from the last step.
    continues: bool,
    y_old: Vec<f64>,
    y_new: Vec<f64>,
    error: Vec<f64>,
    scratch: Vec<f64>,
    /// Step size and error norm of the last accepted step, for the predictive controller.
    previous: Option<(f64, f64)>,
}

impl Radau {
    /// With options; to be restarted before use.
    pub fn new(options: IntegratorOptions) -> Self {
        let empty = MatrixStructure::Dense { n: 0 };
        Self {
            point: Point::new(options),
            cache: JacobianCache::default(),
            real: ShiftedMatrix::new(&empty),
            complex: ShiftedMatrix::new(&empty),
            factored_h: None,
            z: Default::default(),
            w: Default::default(),
            f: Default::default(),
            complex_rhs: Vec::new(),
            polynomial: Default::default(),
            has_polynomial: false,
            continues: false,
            y_old: Vec::new(),
            y_new: Vec::new(),
            error: Vec::new(),
            scratch: Vec::new(),
            previous: None,
        }
    }

    fn refresh(&mut self, system: &mut dyn OdeSystem) -> Result<(), StepFailure> {
        self.factored_h = None;
        let result = self.cache.refresh(system, &mut self.point, true);
        result.map_err(StepFailure::Evaluation)
    }

    fn factor(&mut self, h: f64) -> Result<(), StepFailure> {
        if self.factored_h == Some(h) {
            return Ok(());
        }
        self.factored_h = None;
        self.point.counters.factorisations += 2;
        let jacobian = self.cache.values();
        self.real.factor(MU_REAL / h, jacobian).map_err(StepFailure::Singular)?;
        self.complex
            .factor(MU_COMPLEX / h, jacobian)
            .map_err(StepFailure::Singular)?;
        self.factored_h = Some(h);
        Ok(())
    }

    /// The estimate is of order 3 and the solution of order 5, which would make the method far more accurate than
    /// asked for: RADAU5 uses 0.1·rtol^(2/3) instead of rtol. Dense output is of order 3 as well, hence the cap.
    fn leniency(&self) -> f64 {
        let rtol = self.point.options.effective_rtol();
        (0.1 * rtol.powf(2.0 / 3.0) / rtol).clamp(1.0, 10.0)
    }

    /// Start values for the stages: the previous collocation polynomial continued.
    fn predict(&mut self, h: f64) {
        let h_old = self.point.t - self.point.t_old;
        for (s, c) in C.iter().enumerate() {
            let theta = 1.0 + c * h / h_old;
            for i in 0..self.point.dim() {
                self.z[s][i] = if self.continues {
                    self.y_old[i] + self.polynomial_at(i, theta) - self.y_new[i]
                } else {
                    c * h * self.point.f[i]
                };
            }
        }
        transform(&T_INVERSE, &self.z, &mut self.w);
    }

    fn polynomial_at(&self, i: usize, theta: f64) -> f64 {
        let [a, b, c] = &self.polynomial;
        theta * (a[i] + theta * (b[i] + theta * c[i]))
    }

    fn attempt(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<(usize, f64), StepFailure> {
        if self.cache.is_stale {
            self.refresh(system)?;
        }
        loop {
            self.factor(trial.h)?;
            let real = &mut self.real;
            self.point.damp_noise(|noise| {
                noise.iter_mut().for_each(|noise| *noise *= MU_REAL / trial.h);
                real.solve(noise);
            });
            self.predict(trial.h);
            match self.newton(system, trial) {
                Err(StepFailure::Newton { .. } | StepFailure::Evaluation(_)) if !self.cache.is_current => {
                    self.refresh(system)?
                }
                other => return other,
            }
        }
    }

    fn newton(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<(usize, f64), StepFailure> {
        let noise = self.point.rounding_noise();
        let tolerance = self.leniency() * newton_tolerance(noise, NEWTON_KAPPA);
        let mut eta = if self.cache.is_constant {
            EXACT_RATE
        } else {
            f64::INFINITY
        };
        let mut previous = f64::NAN;
        let mut rate = 0.0;
        for iteration in 1..=NEWTON_ITERATIONS {
            self.point.counters.newton_iterations += 1;
            self.evaluate_stages(system, trial)?;
            let norm = self.correct(trial.h);
            if iteration > 1 && norm > noise {
                rate = norm / previous;
                let left = (NEWTON_ITERATIONS - iteration) as i32;
                if !(rate < 1.0) || rate.powi(left) / (1.0 - rate) * norm > tolerance {
                    break;
                }
                eta = rate / (1.0 - rate);
            }
            if !norm.is_finite() {
                break;
            }
            for (w, dw) in self.w.iter_mut().zip(&self.f) {
                w.iter_mut().zip(dw).for_each(|(w, d)| *w += d);
            }
            transform(&T, &self.w, &mut self.z);
            if norm <= noise || eta * norm < tolerance {
                return Ok((iteration, rate));
            }
            previous = norm;
        }
        self.point.counters.newton_failures += 1;
        Err(StepFailure::Newton {
            component: self.point.worst_component(&self.f[0]),
        })
    }

    fn evaluate_stages(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<(), StepFailure> {
        for s in 0..3 {
            for ((y, base), z) in self.scratch.iter_mut().zip(&self.point.y).zip(&self.z[s]) {
                *y = base + z;
            }
            let t = if s == 2 {
                trial.t_new
            } else {
                self.point.t + C[s] * trial.h
            };
            evaluate(system, t, &self.scratch, &mut self.f[s], &mut self.point.counters)
                .map_err(StepFailure::Evaluation)?;
        }
        Ok(())
    }

    /// Replaces the slopes by the corrections of W; their norm.
    fn correct(&mut self, h: f64) -> f64 {
        let (m_real, m_complex) = (MU_REAL / h, MU_COMPLEX / h);
        for i in 0..self.point.dim() {
            let f = [self.f[0][i], self.f[1][i], self.f[2][i]];
            let row = |r: usize| (0..3).map(|s| T_INVERSE[r][s] * f[s]).sum::<f64>();
            self.scratch[i] = row(0) - m_real * self.w[0][i];
            self.complex_rhs[i] =
                Complex64::new(row(1), row(2)) - m_complex * Complex64::new(self.w[1][i], self.w[2][i]);
        }
        self.real.solve(&mut self.scratch);
        self.complex.solve(&mut self.complex_rhs);
        for i in 0..self.point.dim() {
            self.f[0][i] = self.scratch[i];
            self.f[1][i] = self.complex_rhs[i].re;
            self.f[2][i] = self.complex_rhs[i].im;
        }
        let squares = self.f.iter().map(|d| self.point.error_norm(d, &self.point.y).powi(2));
        (squares.sum::<f64>() / 3.0).sqrt()
    }

    /// (8.20): the filtered difference to an embedded formula, with f evaluated again after a rejection.
    fn error_estimate(&mut self, system: &mut dyn OdeSystem, h: f64, first: bool) -> Result<f64, StepFailure> {
        for i in 0..self.point.dim() {
            self.y_new[i] = self.point.y[i] + self.z[2][i];
            let weighted: f64 = (0..3).map(|s| ERROR[s] * self.z[s][i]).sum();
            self.scratch[i] = weighted / h;
            self.error[i] = self.point.f[i] + self.scratch[i];
        }
        self.real.solve(&mut self.error);
        let norm = self.point.error_norm(&self.error, &self.y_new);
        if norm < self.leniency() || !first {
            return Ok(norm);
        }
        for (e, y) in self.error.iter_mut().zip(&self.point.y) {
            *e += y;
        }
        let f = &mut self.f[0];
        evaluate(system, self.point.t, &self.error, f, &mut self.point.counters).map_err(StepFailure::Evaluation)?;
        for ((e, f), s) in self.error.iter_mut().zip(&self.f[0]).zip(&self.scratch) {
            *e = f + s;
        }
        self.real.solve(&mut self.error);
        Ok(self.point.error_norm(&self.error, &self.y_new))
    }

    /// Gustafsson's predictive controller (8.25).
    fn growth(&self, h: f64, error: f64, safety: f64) -> f64 {
        let error = error.max(1e-10);
        let prediction = match self.previous {
            Some((h_old, error_old)) => (h / h_old * (error_old / error).powf(0.25)).min(1.0),
            None => 1.0,
        };
        safety * prediction * error.powf(-0.25)
    }

    /// Moves to the end of the step, where f must be known; a failure there rejects the step.
    fn accept(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<Step, StepFailure> {
        evaluate(
            system,
            trial.t_new,
            &self.y_new,
            &mut self.f[0],
            &mut self.point.counters,
        )
        .map_err(StepFailure::Evaluation)?;
        std::mem::swap(&mut self.point.f, &mut self.f[0]);
        for j in 0..3 {
            for i in 0..self.point.dim() {
                self.polynomial[j][i] = (0..3).map(|s| P[s][j] * self.z[s][i]).sum();
            }
        }
        self.has_polynomial = true;
        self.continues = true;
        std::mem::swap(&mut self.y_old, &mut self.point.y);
        self.point.y.copy_from_slice(&self.y_new);
        self.cache.accepted();
        Ok(self.point.accept(trial))
    }
}

fn transform(matrix: &[[f64; 3]; 3], from: &[Vec<f64>; 3], to: &mut [Vec<f64>; 3]) {
    for (row, out) in matrix.iter().zip(to) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = row[0] * from[0][i] + row[1] * from[1][i] + row[2] * from[2][i];
        }
    }
}

impl Stepper for Radau {
    fn point(&mut self) -> &mut Point {
        &mut self.point
    }

    fn begin(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<f64, IntegrationError> {
        self.point.first_step(system, 3, stop)
    }

    fn try_step(
        &mut self,
        system: &mut dyn OdeSystem,
        trial: &TrialStep,
        wanted: f64,
        failed: usize,
    ) -> Result<Attempt, StepFailure> {
        let (iterations, rate) = self.attempt(system, trial)?;
        let estimate_again = failed > 0 || self.previous.is_none();
        let error = self.error_estimate(system, trial.h, estimate_again)? / self.leniency();
        let safety = 0.9 * (2 * NEWTON_ITERATIONS + 1) as f64 / (2 * NEWTON_ITERATIONS + iterations) as f64;
        let factor = self.growth(trial.h, error, safety);
        // Written so that NaN is a rejection.
        if !(error <= 1.0) {
            return Ok(Attempt::Rejected {
                error,
                factor: shrinking(factor, MIN_FACTOR),
                component: self.point.worst_component(&self.error),
            });
        }
        let step = self.accept(system, trial)?;
        self.previous = Some((trial.h, error.max(1e-2)));
        self.cache.is_stale |= iterations > 2 && rate > FAST_RATE && !self.cache.is_constant;
        let largest = if failed > 0 { 1.0 } else { MAX_FACTOR };
        let factor = factor.clamp(MIN_FACTOR, largest);
        // Keeping the step keeps the factorisations, unless the Jacobian goes anyway.
        let keep = (1.0..1.2).contains(&factor) && !self.cache.is_stale;
        let next = if keep { trial.h } else { trial.h * factor };
        self.point.h = Some(if trial.at_stop { next.max(wanted) } else { next });
        Ok(Attempt::Accepted(step))
    }
}

impl Integrator for Radau {
    fn boxed_clone(&self) -> Box<dyn Integrator> {
        Box::new(self.clone())
    }

    fn method(&self) -> Method {
        Method::Radau
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError> {
        self.point.restart(system, start)?;
        if self.cache.restart(system, start.keep_jacobian) {
            let structure = self.cache.structure();
            self.real = ShiftedMatrix::new(&structure);
            self.complex = ShiftedMatrix::new(&structure);
            self.factored_h = None;
        }
        let n = start.y.len();
        let arrays = [&mut self.z, &mut self.w, &mut self.f, &mut self.polynomial];
        let vectors = [&mut self.y_old, &mut self.y_new, &mut self.error, &mut self.scratch];
        let all = arrays.into_iter().flatten().chain(vectors);
        all.for_each(|v| v.resize(n, 0.0));
        self.complex_rhs.resize(n, Complex64::new(0.0, 0.0));
        self.has_polynomial = false;
        self.continues = false;
        self.previous = None;
        Ok(())
    }

    integrate_by_steps!();

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        if !self.has_polynomial {
            y.copy_from_slice(&self.point.y);
            return;
        }
        let theta = self.point.fraction(t);
        for (i, out) in y.iter_mut().enumerate() {
            *out = self.y_old[i] + self.polynomial_at(i, theta);
        }
    }

    fn interpolate_derivative(&self, t: f64, dy: &mut [f64]) {
        let h = self.point.t - self.point.t_old;
        if !self.has_polynomial || h <= 0.0 {
            dy.copy_from_slice(&self.point.f);
            return;
        }
        let theta = self.point.fraction(t);
        let [a, b, c] = &self.polynomial;
        for (i, out) in dy.iter_mut().enumerate() {
            *out = (a[i] + theta * (2.0 * b[i] + theta * 3.0 * c[i])) / h;
        }
    }

    fn replace_state(&mut self, system: &mut dyn OdeSystem, y: &[f64]) -> Result<Replacement, IntegrationError> {
        let replacement = self.point.replace(system, y)?;
        if replacement == Replacement::Restarted {
            self.previous = None;
            self.continues = false;
        }
        Ok(replacement)
    }
}

impl super::auto::ImplicitMethod for Radau {
    fn boxed_implicit_clone(&self) -> Box<dyn super::auto::ImplicitMethod> {
        Box::new(self.clone())
    }

    fn jacobian_norm(&self) -> f64 {
        self.cache.norm()
    }
}
