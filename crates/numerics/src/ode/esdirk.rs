//! ESDIRK4(3)6L\[2\]SA: six stages, order 4 with an embedded formula of order 3, L-stable, stiffly accurate.
//!
//! C. A. Kennedy, M. H. Carpenter, *Additive Runge–Kutta schemes for convection–diffusion–reaction equations*,
//! Applied Numerical Mathematics 44 (2003) 139–181 (the implicit part of ARK4(3)6L\[2\]SA). One-step methods start
//! again after an event at full order, which makes them the choice for stiff models with many events. The error
//! estimate is filtered by (I − γhJ)⁻¹ so that stiff components do not dominate it. Dense output is the cubic
//! through values and slopes at both ends.

use super::attempts::{Attempt, Stepper, integrate_by_steps, shrinking};
use super::control::{Point, TrialStep, hermite, hermite_derivative};
use super::iteration::StageSolver;
use super::{
    Counters, IntegrationError, Integrator, IntegratorOptions, Method, OdeSystem, Replacement, Start, Step, StepFailure,
};

const STAGES: usize = 6;
const GAMMA: f64 = 0.25;
const C: [f64; STAGES] = [0.0, 0.5, 83.0 / 250.0, 31.0 / 50.0, 17.0 / 20.0, 1.0];
/// Strictly lower part; the diagonal is γ except for the explicit first stage.
const A: [&[f64]; STAGES] = [
    &[],
    &[0.25],
    &[8611.0 / 62500.0, -1743.0 / 31250.0],
    &[5012029.0 / 34652500.0, -654441.0 / 2922500.0, 174375.0 / 388108.0],
    &[
        15267082809.0 / 155376265600.0,
        -71443401.0 / 120774400.0,
        730878875.0 / 902184768.0,
        2285395.0 / 8070912.0,
    ],
    &[
        82889.0 / 524892.0,
        0.0,
        15625.0 / 83664.0,
        69875.0 / 102672.0,
        -2260.0 / 8211.0,
    ],
];
/// Weights of the embedded formula of order 3.
const EMBEDDED: [f64; STAGES] = [
    4586570599.0 / 29645900160.0,
    0.0,
    178811875.0 / 945068544.0,
    814220225.0 / 1159782912.0,
    -3700637.0 / 11593932.0,
    61727.0 / 225920.0,
];
const NEWTON_ITERATIONS: usize = 6;
const NEWTON_KAPPA: f64 = 5e-3;
/// Slopes of a stage guessed from those of earlier ones (Lagrange polynomials in c): (stage, weight).
const GUESS: [&[(usize, f64)]; STAGES] = [
    &[],
    &[(0, 1.0)],
    &[(0, 1.0 - 0.664), (1, 0.664)],
    &GUESS_3,
    &GUESS_4,
    &GUESS_5,
];
const GUESS_3: [(usize, f64); 3] = lagrange([0, 2, 1], 3);
const GUESS_4: [(usize, f64); 3] = lagrange([2, 1, 3], 4);
const GUESS_5: [(usize, f64); 3] = lagrange([1, 3, 4], 5);

/// Weights of the quadratic through three stages at the time of another.
const fn lagrange(nodes: [usize; 3], target: usize) -> [(usize, f64); 3] {
    let [p, q, r] = nodes;
    let t = C[target];
    [
        (p, (t - C[q]) * (t - C[r]) / ((C[p] - C[q]) * (C[p] - C[r]))),
        (q, (t - C[p]) * (t - C[r]) / ((C[q] - C[p]) * (C[q] - C[r]))),
        (r, (t - C[p]) * (t - C[q]) / ((C[r] - C[p]) * (C[r] - C[q]))),
    ]
}

const MIN_FACTOR: f64 = 0.2;
const MAX_FACTOR: f64 = 5.0;
/// Convergence slower than this asks for a new Jacobian at the next step.
const SLOW_RATE: f64 = 0.3;

/// A singly diagonally implicit Runge–Kutta integrator.
#[derive(Clone, Debug)]
pub struct Esdirk {
    point: Point,
    solver: StageSolver,
    slopes: Vec<Vec<f64>>,
    y_old: Vec<f64>,
    y_new: Vec<f64>,
    constant: Vec<f64>,
    moved: Vec<f64>,
    error: Vec<f64>,
}

impl Esdirk {
    /// With options; to be restarted before use.
    pub fn new(options: IntegratorOptions) -> Self {
        Self {
            point: Point::new(options),
            solver: StageSolver::new(NEWTON_ITERATIONS, NEWTON_KAPPA),
            slopes: vec![Vec::new(); STAGES],
            y_old: Vec::new(),
            y_new: Vec::new(),
            constant: Vec::new(),
            moved: Vec::new(),
            error: Vec::new(),
        }
    }

    /// All stages; the slowest convergence rate.
    fn attempt(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<f64, StepFailure> {
        if self.solver.cache.is_stale {
            self.solver.refresh(system, &mut self.point, false)?;
        }
        loop {
            self.solver.prepare(GAMMA * trial.h, &mut self.point)?;
            match self.stages(system, trial) {
                // What is constant can only have failed for want of the right factors.
                Err(StepFailure::Newton { .. })
                    if self.solver.cache.is_constant && self.solver.forget_other_factors(GAMMA * trial.h) => {}
                Err(StepFailure::Newton { .. } | StepFailure::Evaluation(_)) if !self.solver.cache.is_current => {
                    self.solver.refresh(system, &mut self.point, false)?;
                }
                other => return other,
            }
        }
    }

    fn stages(&mut self, system: &mut dyn OdeSystem, trial: &TrialStep) -> Result<f64, StepFailure> {
        let h = trial.h;
        let c = GAMMA * h;
        let mut slowest: f64 = 0.0;
        self.solver.forget_rate();
        self.slopes[0].copy_from_slice(&self.point.f);
        for s in 1..STAGES {
            self.constant.copy_from_slice(&self.point.y);
            for (&a, k) in A[s].iter().zip(&self.slopes) {
                self.constant.iter_mut().zip(k).for_each(|(r, k)| *r += h * a * k);
            }
            self.y_new.copy_from_slice(&self.constant);
            for &(stage, weight) in GUESS[s] {
                let k = &self.slopes[stage];
                self.y_new.iter_mut().zip(k).for_each(|(y, k)| *y += c * weight * k);
            }
            let t = if C[s] == 1.0 {
                trial.t_new
            } else {
                self.point.t + C[s] * h
            };
            let converged = self.solver.solve(
                system,
                &mut self.point,
                (t, &self.constant, c),
                &mut self.y_new,
                &mut self.moved,
            )?;
            slowest = slowest.max(converged.rate);
            // The slope that the stage equation implies: smooth even where f amplifies rounding.
            for ((k, y), r) in self.slopes[s].iter_mut().zip(&self.y_new).zip(&self.constant) {
                *k = (y - r) / c;
            }
        }
        Ok(slowest)
    }

    fn error_estimate(&mut self, h: f64) -> f64 {
        self.error.fill(0.0);
        for (s, k) in self.slopes.iter().enumerate() {
            let weight = if s + 1 == STAGES { GAMMA } else { A[STAGES - 1][s] } - EMBEDDED[s];
            self.error.iter_mut().zip(k).for_each(|(e, k)| *e += h * weight * k);
        }
        self.solver.filter(&mut self.error);
        self.point.error_norm(&self.error, &self.y_new)
    }
}

impl Stepper for Esdirk {
    fn point(&mut self) -> &mut Point {
        &mut self.point
    }

    fn begin(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<f64, IntegrationError> {
        self.point.first_step(system, 4, stop)
    }

    fn try_step(
        &mut self,
        system: &mut dyn OdeSystem,
        trial: &TrialStep,
        wanted: f64,
        failed: usize,
    ) -> Result<Attempt, StepFailure> {
        let rate = self.attempt(system, trial)?;
        let error = self.error_estimate(trial.h);
        let factor = 0.9 * error.max(1e-10).powf(-0.25);
        // Written so that NaN is a rejection.
        if !(error <= 1.0) {
            return Ok(Attempt::Rejected {
                error,
                factor: shrinking(factor, MIN_FACTOR),
                component: self.point.worst_component(&self.error),
            });
        }
        let largest = if failed > 0 { 1.0 } else { MAX_FACTOR };
        let next = trial.h * factor.clamp(MIN_FACTOR, largest);
        self.solver.cache.accepted();
        self.solver.cache.is_stale |= rate > SLOW_RATE && !self.solver.cache.is_constant;
        std::mem::swap(&mut self.y_old, &mut self.point.y);
        self.point.y.copy_from_slice(&self.y_new);
        self.point.f.copy_from_slice(&self.slopes[STAGES - 1]);
        self.point.h = Some(if trial.at_stop { next.max(wanted) } else { next });
        Ok(Attempt::Accepted(self.point.accept(trial)))
    }
}

impl Integrator for Esdirk {
    fn boxed_clone(&self) -> Box<dyn Integrator> {
        Box::new(self.clone())
    }

    fn method(&self) -> Method {
        Method::Esdirk43
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError> {
        self.point.restart(system, start)?;
        self.solver.restart(system, start.keep_jacobian);
        let n = start.y.len();
        let vectors = [
            &mut self.y_old,
            &mut self.y_new,
            &mut self.constant,
            &mut self.moved,
            &mut self.error,
        ];
        let all = vectors.into_iter().chain(&mut self.slopes);
        all.for_each(|v| v.resize(n, 0.0));
        Ok(())
    }

    integrate_by_steps!();

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        let h = self.point.t - self.point.t_old;
        if h <= 0.0 {
            y.copy_from_slice(&self.point.y);
            return;
        }
        let end = (&self.y_new[..], &self.slopes[STAGES - 1][..]);
        hermite(self.point.fraction(t), h, (&self.y_old, &self.slopes[0]), end, y);
    }

    fn interpolate_derivative(&self, t: f64, dy: &mut [f64]) {
        let h = self.point.t - self.point.t_old;
        if h <= 0.0 {
            dy.copy_from_slice(&self.point.f);
            return;
        }
        let end = (&self.y_new[..], &self.slopes[STAGES - 1][..]);
        hermite_derivative(self.point.fraction(t), h, (&self.y_old, &self.slopes[0]), end, dy);
    }

    fn replace_state(&mut self, system: &mut dyn OdeSystem, y: &[f64]) -> Result<Replacement, IntegrationError> {
        self.point.replace(system, y)
    }
}

impl super::auto::ImplicitMethod for Esdirk {
    fn boxed_implicit_clone(&self) -> Box<dyn super::auto::ImplicitMethod> {
        Box::new(self.clone())
    }

    fn jacobian_norm(&self) -> f64 {
        self.solver.cache.norm()
    }
}
