//! Automatic choice: explicit until stiffness shows, implicit until it has gone.
//!
//! Decisions follow from the numbers of the steps taken (Hairer's test, see [`super::ExplicitRk`]) and from the
//! norm of the Jacobian, never from clocks. Hairer's test sees steps that are as long as stability allows. At tight
//! tolerances the error of what is fast already limits steps to half of that, again and again; so steps that stay about
//! as long as the shortest time constant are reason enough to try how far an implicit method would get, from the same
//! point and for a few steps. What it finds is thrown away unless it gets much further. Every second trial is one of BDF: where
//! the solution comes to rest at a slope without bound (a tank that has run empty through a root), methods of many stages go to
//! and fro as the explicit ones do, and this one stays.

use super::{
    Bdf, Counters, Esdirk, ExplicitRk, IntegrationError, Integrator, IntegratorOptions, Method, OdeSystem, Radau,
    Replacement, Start, Step, StepFailure,
};

/// Below this tolerance the explicit method is DOP853 rather than Tsit45. (Models with zero crossings are integrated with
/// half the tolerance asked for; at the usual 1e-6 their steps end at events more often than at errors.)
const TIGHT_EXPLICIT: f64 = 4e-7;
/// The part of a tight tolerance that a step of DOP853 may use: who asks for it means the result, and over the hundreds of
/// periods that such runs have, errors of steps add up to far more. At order eight it takes less than twice the time.
const TIGHT_SHARE: f64 = 5e-3;
/// Below this rounding decides.
const LEAST_TOLERANCE: f64 = 1e-13;
/// Below this tolerance the implicit method is Radau rather than ESDIRK.
const TIGHT_IMPLICIT: f64 = 1e-4;
/// Above this dimension the implicit method is BDF: one factorisation per several steps, real ones only.
const LARGE: usize = 400;
/// Down to this tolerance it is ESDIRK where f is affine: each stage takes a single iteration, and a few long steps take
/// fewer factorisations than the many growing ones of a multistep method.
const LOOSE_AFFINE: f64 = 1e-6;
/// Implicit steps in a row that an explicit method could have taken as well before going back to it; doubled at
/// every return so that a problem at the border does not switch for ever.
const EASY_STEPS: usize = 30;
/// h·‖J‖ at which the explicit methods are safely inside their stability region.
const EASY_STEP: f64 = 1.0;

/// Explicit steps in a row about as long as the shortest time constant before an implicit method is tried, doubled at every
/// trial in vain; and what counts as that long.
const LINGERING_STEPS: usize = 100;
const LINGERING: f64 = 1.0;
/// Steps of a trial, and how much longer than the explicit ones they have to be.
const TRIAL_STEPS: usize = 12;
const WORTHWHILE: f64 = 8.0;

/// Decay within the longest step allowed, in time constants, from which a large affine system is stiff from the outset: the
/// explicit methods are stable for about three of them per step.
const FAST_DECAY: f64 = 200.0;

/// An implicit method that can say how stiff it found the problem.
pub(super) trait ImplicitMethod: Integrator {
    /// A bound on the eigenvalues of the last Jacobian.
    fn jacobian_norm(&self) -> f64;

    /// A copy that goes on exactly as this one.
    fn boxed_implicit_clone(&self) -> Box<dyn ImplicitMethod>;
}

impl Clone for Box<dyn ImplicitMethod> {
    fn clone(&self) -> Self {
        self.boxed_implicit_clone()
    }
}

/// Switches between an explicit and an implicit method.
#[derive(Clone, Debug)]
pub struct Auto {
    options: IntegratorOptions,
    explicit: ExplicitRk,
    implicit: Option<Box<dyn ImplicitMethod>>,
    /// Counters of implicit methods no longer in use.
    retired: Counters,
    is_implicit: bool,
    /// Switch to be made when the next step begins, so that dense output stays valid until then.
    switch: bool,
    easy_steps: usize,
    returns: u32,
    switches: usize,
    /// Explicit steps in a row as long as a time constant, how long they took together, and trials in vain.
    lingering: usize,
    /// Whether a trial was asked for.
    is_slow: bool,
    lingering_for: f64,
    vain_trials: u32,
    trials: usize,
    dim: usize,
}

impl Auto {
    /// With options; to be restarted before use.
    pub fn new(options: IntegratorOptions) -> Self {
        Self {
            explicit: explicit_for(&options),
            options,
            implicit: None,
            retired: Counters::default(),
            is_implicit: false,
            switch: false,
            easy_steps: 0,
            returns: 0,
            switches: 0,
            lingering: 0,
            is_slow: false,
            lingering_for: 0.0,
            vain_trials: 0,
            trials: 0,
            dim: 0,
        }
    }

    fn active(&self) -> &dyn Integrator {
        match &self.implicit {
            Some(implicit) if self.is_implicit => implicit.as_ref(),
            _ => &self.explicit,
        }
    }

    fn active_mut(&mut self) -> &mut dyn Integrator {
        match &mut self.implicit {
            Some(implicit) if self.is_implicit => implicit.as_mut(),
            _ => &mut self.explicit,
        }
    }

    /// The implicit method for the present dimension, made at first use.
    fn prepare_implicit(&mut self, system: &dyn OdeSystem) {
        let wanted = if self.vain_trials % 2 == 1 {
            Method::Bdf
        } else {
            implicit_for(&self.options, system)
        };
        if self.implicit.as_ref().is_some_and(|i| i.method() == wanted) {
            return;
        }
        if let Some(old) = self.implicit.take() {
            self.retired = self.retired + old.counters();
        }
        let options = self.options.clone();
        self.implicit = Some(match wanted {
            Method::Bdf => Box::new(Bdf::new(options)),
            Method::Radau => Box::new(Radau::new(options)),
            _ => Box::new(Esdirk::new(options)),
        });
    }

    fn make_switch(&mut self, system: &mut dyn OdeSystem) -> Result<(), IntegrationError> {
        self.switch = false;
        self.switches += 1;
        self.easy_steps = 0;
        self.forget_lingering();
        let (t, y, h) = (self.time(), self.state().to_vec(), self.next_step_size());
        let dy = (!self.is_implicit).then(|| self.explicit.derivative().to_vec());
        if self.is_implicit {
            self.returns += 1;
        }
        self.is_implicit = !self.is_implicit;
        self.prepare_implicit(system);
        let start = Start {
            t,
            y: &y,
            dy: dy.as_deref(),
            step: h,
            keep_jacobian: false,
        };
        self.active_mut().restart(system, &start)
    }

    fn observe(&mut self, step: &Step) {
        let Some(implicit) = self.implicit.as_ref().filter(|_| self.is_implicit) else {
            self.switch = self.explicit.is_stiff();
            self.observe_lingering(step);
            return;
        };
        if (step.t - step.t_old) * implicit.jacobian_norm() < EASY_STEP {
            self.easy_steps += 1;
        } else {
            self.easy_steps = 0;
        }
        self.switch = self.easy_steps >= EASY_STEPS << self.returns.min(8);
    }

    fn observe_lingering(&mut self, step: &Step) {
        if self.is_slow {
            return;
        }
        if self.explicit.time_constants_per_step() < LINGERING {
            self.forget_lingering();
        } else {
            self.lingering += 1;
            self.lingering_for += step.t - step.t_old;
        }
    }

    fn forget_lingering(&mut self) {
        (self.lingering, self.lingering_for, self.is_slow) = (0, 0.0, false);
    }

    fn lingers(&self) -> bool {
        let enough = LINGERING_STEPS << self.vain_trials.min(6);
        !self.is_implicit && (self.is_slow || self.lingering >= enough)
    }

    /// Tries the implicit method from the present point on, for a few steps or until `stop`: whether it gets so much
    /// further with each that it is worth going on with. The explicit method stays where it is.
    fn implicit_strides(&mut self, system: &mut dyn OdeSystem, stop: f64) -> bool {
        let explicit_step = self.lingering_for / self.lingering as f64;
        self.forget_lingering();
        self.prepare_implicit(system);
        let Some(implicit) = self.implicit.as_mut() else {
            return false;
        };
        self.trials += 1;
        let start = Start {
            t: self.explicit.time(),
            y: self.explicit.state(),
            dy: Some(self.explicit.derivative()),
            step: self.explicit.next_step_size(),
            keep_jacobian: false,
        };
        let mut steps = 0;
        let mut result = implicit.restart(system, &start);
        while result.is_ok() && steps < TRIAL_STEPS && implicit.time() < stop {
            result = implicit.step(system, stop).map(|_| ());
            steps += 1;
        }
        let strides = result.is_ok() && implicit.time() - start.t > WORTHWHILE * explicit_step * steps as f64;
        self.vain_trials += u32::from(!strides);
        strides
    }
}

fn explicit_for(options: &IntegratorOptions) -> ExplicitRk {
    let tight = options.rtol < TIGHT_EXPLICIT;
    let method = if tight { Method::Dop853 } else { Method::Tsit45 };
    ExplicitRk::new(method, explicit_options(options))
}

fn explicit_options(options: &IntegratorOptions) -> IntegratorOptions {
    let mut options = options.clone();
    if options.rtol < TIGHT_EXPLICIT {
        options.rtol = (TIGHT_SHARE * options.rtol).max(options.rtol.min(LEAST_TOLERANCE));
    }
    options
}

fn implicit_for(options: &IntegratorOptions, system: &dyn OdeSystem) -> Method {
    let large = system.dim() > LARGE;
    // Asked for its pattern a system knows whether its Jacobian is constant.
    let affine = || system.jacobian_pattern().is_some() && system.jacobian_is_constant();
    if large && options.rtol >= LOOSE_AFFINE && affine() {
        Method::Esdirk43
    } else if large {
        Method::Bdf
    } else if options.rtol < TIGHT_IMPLICIT {
        Method::Radau
    } else {
        Method::Esdirk43
    }
}

/// Whether a large system with a constant Jacobian decays so fast that finding its stiffness by steps costs more than it
/// says: by the diagonal, which is where the decay of diffusion shows and where waves have nothing.
fn decays_fast(options: &IntegratorOptions, system: &mut dyn OdeSystem, start: &Start<'_>) -> bool {
    let dim = system.dim();
    if dim <= LARGE || system.jacobian_pattern().is_none() || !system.jacobian_is_constant() {
        return false;
    }
    let pattern = system.jacobian_pattern();
    let diagonal: Vec<Option<usize>> = (0..dim).map(|row| pattern?.position(row, row)).collect();
    let mut values = vec![0.0; pattern.map_or(0, |pattern| pattern.len())];
    if system.jacobian(start.t, start.y, &mut values).is_err() {
        return false;
    }
    let decay = diagonal.iter().flatten().map(|&at| -values[at]).fold(0.0, f64::max);
    options.max_step.is_finite() && decay * options.max_step > FAST_DECAY
}

impl Integrator for Auto {
    fn boxed_clone(&self) -> Box<dyn Integrator> {
        Box::new(self.clone())
    }

    fn method(&self) -> Method {
        self.active().method()
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError> {
        self.switch = false;
        let dim = system.dim();
        // After an event the function is another one, but mostly as stiff as before: the verdict stays until steps
        // speak against it.
        if !start.keep_jacobian || dim != self.dim {
            self.easy_steps = 0;
            self.returns = 0;
        }
        self.dim = dim;
        self.is_implicit |= decays_fast(&self.options, system, start);
        if self.is_implicit {
            self.prepare_implicit(system);
        }
        self.active_mut().restart(system, start)
    }

    fn step(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<Step, IntegrationError> {
        if self.switch || self.lingers() && self.implicit_strides(system, stop) {
            self.make_switch(system)?;
        }
        let result = match self.active_mut().step(system, stop) {
            // Stiffness beyond what the test sees: very fast transients drive the explicit step to nothing, or its
            // stages to where the function is not defined.
            Err(IntegrationError::StepTooSmall {
                cause: StepFailure::Accuracy { .. } | StepFailure::Evaluation(_),
                ..
            }) if !self.is_implicit => {
                self.make_switch(system)?;
                self.active_mut().step(system, stop)
            }
            // The other way round: where f jumps or bends the iteration finds nothing, however short the step.
            Err(IntegrationError::StepTooSmall {
                cause: StepFailure::Newton { .. } | StepFailure::Singular(_),
                ..
            }) if self.is_implicit => {
                self.make_switch(system)?;
                self.active_mut().step(system, stop)
            }
            other => other,
        };
        let step = result?;
        self.observe(&step);
        Ok(step)
    }

    fn note_slow(&mut self, steps: usize, duration: f64) {
        if !self.is_implicit && steps > 0 {
            (self.lingering, self.lingering_for, self.is_slow) = (steps, duration, true);
        }
    }

    fn time(&self) -> f64 {
        self.active().time()
    }

    fn state(&self) -> &[f64] {
        self.active().state()
    }

    fn interpolate(&self, t: f64, y: &mut [f64]) {
        self.active().interpolate(t, y);
    }

    fn interpolate_derivative(&self, t: f64, dy: &mut [f64]) {
        self.active().interpolate_derivative(t, dy);
    }

    fn replace_state(&mut self, system: &mut dyn OdeSystem, y: &[f64]) -> Result<Replacement, IntegrationError> {
        self.active_mut().replace_state(system, y)
    }

    fn next_step_size(&self) -> Option<f64> {
        self.active().next_step_size()
    }

    fn counters(&self) -> Counters {
        let implicit = self.implicit.as_ref().map(|i| i.counters()).unwrap_or_default();
        let mut sum = self.explicit.counters() + implicit + self.retired;
        // Restarts made for a switch or a trial are not the caller's.
        sum.restarts -= (self.switches + self.trials).min(sum.restarts);
        sum.method_switches = self.switches;
        sum
    }

    fn options(&self) -> &IntegratorOptions {
        &self.options
    }

    fn set_options(&mut self, options: IntegratorOptions) -> Result<(), IntegrationError> {
        options.validate()?;
        if explicit_for(&options).method() != self.explicit.method() {
            self.retired = self.retired + self.explicit.counters();
            self.explicit = explicit_for(&options);
            self.is_implicit = false;
        } else {
            self.explicit.set_options(explicit_options(&options))?;
        }
        if let Some(implicit) = &mut self.implicit {
            implicit.set_options(options.clone())?;
        }
        self.options = options;
        Ok(())
    }
}
