//! What all methods share: the current point, error norms, step limits and the first step size.

use super::{
    AbsoluteTolerance, Counters, IntegrationError, IntegratorOptions, OdeSystem, Replacement, Start, Step, StepFailure,
};
use crate::EvalError;
use crate::error::check_finite;
use crate::linalg::root_mean_square;

/// Evaluates f and counts; a value that is not finite is a recoverable failure.
pub(super) fn evaluate(
    system: &mut dyn OdeSystem,
    t: f64,
    y: &[f64],
    dy: &mut [f64],
    counters: &mut Counters,
) -> Result<(), EvalError> {
    counters.rhs += 1;
    let result = system.rhs(t, y, dy).and_then(|()| check_finite(dy));
    if result.is_err() {
        counters.rhs_failures += 1;
    }
    result
}

/// Keeps times finite where nothing changes and nothing else limits the step.
const LARGEST_STEP: f64 = 1e100;

/// What a step may miss of the solution, in parts of what rounding errors of f leave of it: they add up over its stages, and
/// differences of high order enlarge them.
const NOISE_MARGIN: f64 = 4.0;

/// The part of a tolerance that rounding errors may add to it.
const NEGLIGIBLE_NOISE: f64 = 0.1;

/// The current point of an integration.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub options: IntegratorOptions,
    pub t_old: f64,
    pub t: f64,
    pub y: Vec<f64>,
    /// f(t, y).
    pub f: Vec<f64>,
    /// Step size to try next.
    pub h: Option<f64>,
    pub counters: Counters,
    pub started: bool,
    /// What rounding errors of f leave of the step that is tried.
    noise: Vec<f64>,
    /// The size of that step.
    trial: f64,
}

impl Point {
    pub(super) fn new(options: IntegratorOptions) -> Self {
        Self {
            options,
            t_old: 0.0,
            t: 0.0,
            y: Vec::new(),
            f: Vec::new(),
            h: None,
            counters: Counters::default(),
            started: false,
            noise: Vec::new(),
            trial: 0.0,
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.y.len()
    }

    pub(super) fn restart(&mut self, system: &mut dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError> {
        self.started = false;
        self.check(system, start)?;
        self.counters.restarts += 1;
        let n = start.y.len();
        self.noise.clear();
        self.noise.resize(n, 0.0);
        self.t_old = start.t;
        self.t = start.t;
        self.y.clear();
        self.y.extend_from_slice(start.y);
        self.h = start.step.filter(|h| h.is_finite() && *h > 0.0);
        match start.dy {
            Some(dy) => {
                self.f.clear();
                self.f.extend_from_slice(dy);
            }
            None => {
                self.f.resize(n, 0.0);
                self.evaluate_here(system)?;
            }
        }
        self.started = true;
        Ok(())
    }

    fn check(&self, system: &dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError> {
        self.options.validate()?;
        let n = system.dim();
        let wrong = |what, found| {
            Err(IntegrationError::WrongLength {
                what,
                expected: n,
                found,
            })
        };
        if start.y.len() != n {
            return wrong("start state", start.y.len());
        }
        if let Some(dy) = start.dy {
            if dy.len() != n {
                return wrong("start derivative", dy.len());
            }
            if let Some(i) = dy.iter().position(|v| !v.is_finite()) {
                return Err(IntegrationError::Evaluation {
                    t: start.t,
                    error: EvalError::not_finite(i, dy[i]),
                });
            }
        }
        if let AbsoluteTolerance::Vector(v) = &self.options.atol
            && v.len() != n
        {
            return wrong("absolute tolerance", v.len());
        }
        if let Some(noise) = self.options.noise.iter().find(|noise| noise.len() != n) {
            return wrong("rounding errors", noise.len());
        }
        if !start.t.is_finite() {
            return Err(IntegrationError::NotFinite { component: None });
        }
        match start.y.iter().position(|v| !v.is_finite()) {
            Some(i) => Err(IntegrationError::NotFinite { component: Some(i) }),
            None => Ok(()),
        }
    }

    /// Recomputes f at the current point.
    pub(super) fn evaluate_here(&mut self, system: &mut dyn OdeSystem) -> Result<(), IntegrationError> {
        let result = evaluate(system, self.t, &self.y, &mut self.f, &mut self.counters);
        result.map_err(|error| IntegrationError::Evaluation { t: self.t, error })
    }

    /// Checks that a step can begin at all.
    pub(super) fn check_step(&self, stop: f64) -> Result<(), IntegrationError> {
        if !self.started {
            return Err(IntegrationError::NotStarted);
        }
        // Written so that NaN is refused.
        if !(stop > self.t) {
            return Err(IntegrationError::AtStop { t: self.t, stop });
        }
        Ok(())
    }

    /// Limits a step by the largest step and the stop time.
    pub(super) fn limit(&self, h: f64, stop: f64) -> TrialStep {
        let h = h.min(self.options.max_step).min(LARGEST_STEP);
        let remaining = stop - self.t;
        // Stretching by one percent avoids a last step of rounding size.
        if h * 1.01 >= remaining && remaining <= self.options.max_step {
            return TrialStep {
                h: remaining,
                t_new: stop,
                at_stop: true,
            };
        }
        // Two equal steps instead of a long and a very short one.
        let h = if 2.0 * h > remaining && remaining.is_finite() {
            h.min(0.5 * remaining * 1.02)
        } else {
            h
        };
        TrialStep {
            h,
            t_new: self.t + h,
            at_stop: false,
        }
    }

    /// The smallest step that still moves time reliably.
    pub(super) fn smallest_step(&self) -> f64 {
        16.0 * f64::EPSILON * self.t.abs().max(f64::MIN_POSITIVE / f64::EPSILON)
    }

    /// Begins a trial step: rounding errors of f are integrated over it. What follows from them by the equations may grow
    /// without bound over a step that is too long, and counts for no more than was asked for.
    pub(super) fn begin_trial(&mut self, h: f64) {
        self.trial = h;
        self.noise.fill(0.0);
        let mut power = h;
        for rates in &self.options.noise {
            for (noise, rate) in self.noise.iter_mut().zip(rates) {
                *noise += (power * rate).abs();
            }
            power *= h;
        }
        self.limit_noise();
    }

    /// Of rounding errors no more counts than what they are over a step, or what was asked for; of those that follow from others no more
    /// than these are, in units of what was asked for. (What is integrated twice, a position say, is known no better than the
    /// rates of its velocity.)
    fn limit_noise(&mut self) {
        let Some(rates) = self.options.noise.first() else {
            return;
        };
        let own = |i: usize| (self.trial * rates[i]).abs();
        let in_tolerances = (0..rates.len()).map(|i| own(i) / self.tolerance(i).max(f64::MIN_POSITIVE));
        let largest = in_tolerances.fold(1.0 / NOISE_MARGIN, f64::max);
        for i in 0..rates.len() {
            let most = (self.trial * self.options.noise[0][i])
                .abs()
                .max(largest * self.tolerance(i));
            self.noise[i] = self.noise[i].abs().min(most);
        }
    }

    /// An implicit method damps rounding errors of f as it does everything that decays fast.
    pub(super) fn damp_noise(&mut self, filter: impl FnOnce(&mut [f64])) {
        self.begin_trial(self.trial);
        let matters = |i: usize| NOISE_MARGIN * self.noise[i] > NEGLIGIBLE_NOISE * self.tolerance(i);
        let Some(rates) = self.options.noise.first() else {
            return;
        };
        if !(0..self.dim()).any(matters) {
            return;
        }
        for (noise, rate) in self.noise.iter_mut().zip(rates) {
            *noise = self.trial * rate;
        }
        filter(&mut self.noise);
        if self.noise.iter().any(|noise| !noise.is_finite()) {
            self.begin_trial(self.trial);
        }
        self.limit_noise();
    }

    /// Weighted root-mean-square of an error, relative to the larger of the two states.
    pub(super) fn error_norm(&self, error: &[f64], y_new: &[f64]) -> f64 {
        let n = error.len().max(1) as f64;
        let rtol = self.options.rtol;
        let scaled = |(((e, a), b), noise): (((&f64, &f64), &f64), &f64), atol: f64| {
            let tolerance = atol + rtol * a.abs().max(b.abs()) + NOISE_MARGIN * noise.abs();
            let weight = tolerance.max(f64::MIN_POSITIVE);
            // A state that is not finite has no tolerance.
            if weight.is_finite() { e / weight } else { f64::INFINITY }
        };
        let states = error.iter().zip(&self.y).zip(y_new).zip(&self.noise);
        match &self.options.atol {
            AbsoluteTolerance::Scalar(atol) => root_mean_square(states.map(|state| scaled(state, *atol)), n),
            AbsoluteTolerance::Vector(atol) => {
                root_mean_square(states.zip(atol).map(|(state, atol)| scaled(state, *atol)), n)
            }
        }
    }

    /// Size of rounding errors of the state and of f, in units of the tolerance: smaller corrections mean nothing.
    pub(super) fn rounding_noise(&self) -> f64 {
        let rtol = self.options.rtol;
        let of_state = if rtol >= 1e-10 {
            4.0 * f64::EPSILON / rtol
        } else {
            4.0 * f64::EPSILON * self.error_norm(&self.y, &self.y)
        };
        of_state.max(self.error_norm(&self.noise, &self.y))
    }

    /// The component with the largest weighted value.
    pub(super) fn worst_component(&self, error: &[f64]) -> usize {
        let mut worst = (0, -1.0);
        for (i, e) in error.iter().enumerate() {
            let scaled = (e / self.weight(i)).abs();
            if scaled > worst.1 || scaled.is_nan() {
                worst = (i, scaled);
            }
        }
        worst.0
    }

    /// Tolerance of a component at the current state, as asked for.
    fn tolerance(&self, i: usize) -> f64 {
        self.options.atol.get(i) + self.options.rtol * self.y[i].abs()
    }

    /// Tolerance of a component at the current state, never less than rounding allows.
    pub(super) fn weight(&self, i: usize) -> f64 {
        (self.tolerance(i) + NOISE_MARGIN * self.noise[i].abs()).max(f64::MIN_POSITIVE)
    }

    /// A first step size for a method of given order (Hairer, Nørsett, Wanner, section II.4), never beyond stop.
    pub(super) fn first_step(
        &mut self,
        system: &mut dyn OdeSystem,
        order: usize,
        stop: f64,
    ) -> Result<f64, IntegrationError> {
        if let Some(h) = self.h {
            return Ok(h);
        }
        let n = self.dim();
        let zero = vec![0.0; n];
        let d0 = self.error_norm(&self.y.clone(), &zero);
        let d1 = self.error_norm(&self.f.clone(), &zero);
        let limit = (stop - self.t).min(self.options.max_step);
        // Nothing is known of the time scale: a small part of what lies ahead.
        let small = if limit.is_finite() { 1e-7 * limit } else { 1e-6 };
        let mut h0 = if d0 < 1e-5 || d1 < 1e-5 { small } else { 0.01 * d0 / d1 };
        h0 = h0.min(limit);
        let (mut y1, mut f1) = (vec![0.0; n], vec![0.0; n]);
        for _ in 0..8 {
            self.begin_trial(h0);
            for ((y1, y), f) in y1.iter_mut().zip(&self.y).zip(&self.f) {
                *y1 = y + h0 * f;
            }
            match evaluate(system, self.t + h0, &y1, &mut f1, &mut self.counters) {
                Ok(()) => {
                    for (a, b) in f1.iter_mut().zip(&self.f) {
                        *a -= b;
                    }
                    let d2 = self.error_norm(&f1, &zero) / h0;
                    let largest = d1.max(d2);
                    let h1 = if largest <= 1e-15 {
                        (h0 * 1e-3).max(small)
                    } else {
                        (0.01 / largest).powf(1.0 / (order as f64 + 1.0))
                    };
                    return Ok((100.0 * h0).min(h1).max(self.smallest_step()).min(limit));
                }
                Err(error) if !error.recoverable => {
                    return Err(IntegrationError::Evaluation { t: self.t, error });
                }
                Err(_) => h0 *= 0.1,
            }
        }
        Ok(h0)
    }

    /// Moves to the end of a step.
    pub(super) fn accept(&mut self, trial: &TrialStep) -> Step {
        self.t_old = self.t;
        self.t = trial.t_new;
        self.counters.steps += 1;
        Step {
            t_old: self.t_old,
            t: self.t,
            at_stop: trial.at_stop,
        }
    }

    /// Position of a time within the last step, from 0 to 1.
    pub(super) fn fraction(&self, t: f64) -> f64 {
        let h = self.t - self.t_old;
        if h > 0.0 { (t - self.t_old) / h } else { 1.0 }
    }

    /// The error for a step that cannot be made smaller.
    pub(super) fn give_up(&mut self, step: f64, cause: StepFailure) -> IntegrationError {
        self.started = false;
        IntegrationError::StepTooSmall { t: self.t, step, cause }
    }

    /// Turns a fatal failure into an error, passes a recoverable one on.
    pub(super) fn recoverable(&mut self, t: f64, error: EvalError) -> Result<EvalError, IntegrationError> {
        if error.recoverable {
            return Ok(error);
        }
        self.started = false;
        Err(IntegrationError::Evaluation { t, error })
    }

    /// Whether a new state is within tolerance of the present one.
    pub(super) fn is_small_change(&self, y: &[f64]) -> bool {
        let change: Vec<f64> = y.iter().zip(&self.y).map(|(a, b)| a - b).collect();
        self.error_norm(&change, y) <= 1.0
    }

    /// Replaces the state by another one and evaluates f there.
    pub(super) fn replace(&mut self, system: &mut dyn OdeSystem, y: &[f64]) -> Result<Replacement, IntegrationError> {
        self.check_state(y)?;
        let small = self.is_small_change(y);
        self.y.copy_from_slice(y);
        self.evaluate_here(system)?;
        Ok(if small {
            Replacement::Absorbed
        } else {
            Replacement::Restarted
        })
    }

    /// Checks a replacement state.
    pub(super) fn check_state(&self, y: &[f64]) -> Result<(), IntegrationError> {
        if !self.started {
            return Err(IntegrationError::NotStarted);
        }
        if y.len() != self.dim() {
            return Err(IntegrationError::WrongLength {
                what: "replacement state",
                expected: self.dim(),
                found: y.len(),
            });
        }
        match y.iter().position(|v| !v.is_finite()) {
            Some(i) => Err(IntegrationError::NotFinite { component: Some(i) }),
            None => Ok(()),
        }
    }
}

/// A step about to be tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialStep {
    pub h: f64,
    pub t_new: f64,
    pub at_stop: bool,
}

/// Cubic through values and slopes at both ends (θ from 0 to 1).
pub(super) fn hermite(theta: f64, h: f64, (y0, f0): (&[f64], &[f64]), (y1, f1): (&[f64], &[f64]), y: &mut [f64]) {
    let s = 1.0 - theta;
    for (i, out) in y.iter_mut().enumerate() {
        let d = y1[i] - y0[i];
        *out = s * y0[i] + theta * y1[i] + theta * s * ((2.0 * theta - 1.0) * d + h * (s * f0[i] - theta * f1[i]));
    }
}

/// Derivative of [`hermite`] with respect to time.
pub(super) fn hermite_derivative(
    theta: f64,
    h: f64,
    (y0, f0): (&[f64], &[f64]),
    (y1, f1): (&[f64], &[f64]),
    dy: &mut [f64],
) {
    for (i, out) in dy.iter_mut().enumerate() {
        let slope = (y1[i] - y0[i]) / h;
        *out = 6.0 * theta * (1.0 - theta) * slope
            + (1.0 - theta) * (1.0 - 3.0 * theta) * f0[i]
            + theta * (3.0 * theta - 2.0) * f1[i];
    }
}
