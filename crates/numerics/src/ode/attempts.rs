//! The loop that all methods share: a step is tried, and made smaller until it is accepted.

use super::control::{Point, TrialStep};
use super::{IntegrationError, OdeSystem, Step, StepFailure};

/// What became of a trial step whose error could be estimated.
pub(super) enum Attempt {
    /// It is taken; the step size for the next one is noted.
    Accepted(Step),
    /// Its error is too large.
    Rejected {
        /// In units of the tolerance.
        error: f64,
        /// How much smaller the next trial should be.
        factor: f64,
        /// The component with the largest error.
        component: usize,
    },
}

/// A method, as this loop sees it.
pub(super) trait Stepper {
    /// Where it is.
    fn point(&mut self) -> &mut Point;

    /// The step size to try first.
    fn begin(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<f64, IntegrationError>;

    /// Tries a step. `wanted` is its size before it was cut to the stop time, `failed` the number of trials before it.
    fn try_step(
        &mut self,
        system: &mut dyn OdeSystem,
        trial: &TrialStep,
        wanted: f64,
        failed: usize,
    ) -> Result<Attempt, StepFailure>;
}

/// One accepted step.
pub(super) fn advance(
    method: &mut impl Stepper,
    system: &mut dyn OdeSystem,
    stop: f64,
) -> Result<Step, IntegrationError> {
    method.point().check_step(stop)?;
    let mut h = method.begin(system, stop)?;
    let mut failed = 0;
    loop {
        let trial = method.point().limit(h, stop);
        // Written so that NaN is refused.
        if !(trial.t_new > method.point().t) {
            return Err(method.point().give_up(h, StepFailure::Resolution));
        }
        method.point().begin_trial(trial.h);
        let cause = match method.try_step(system, &trial, h, failed) {
            Ok(Attempt::Accepted(step)) => return Ok(step),
            Ok(Attempt::Rejected {
                error,
                factor,
                component,
            }) => {
                method.point().counters.rejected += 1;
                h = trial.h * factor;
                StepFailure::Accuracy {
                    component,
                    ratio: error,
                }
            }
            Err(StepFailure::Evaluation(error)) => {
                h = 0.25 * trial.h;
                StepFailure::Evaluation(method.point().recoverable(trial.t_new, error)?)
            }
            Err(failure) => {
                h = 0.5 * trial.h;
                failure
            }
        };
        failed += 1;
        let point = method.point();
        if h < point.smallest_step() || failed >= point.options.max_attempts {
            return Err(point.give_up(h, cause));
        }
    }
}

/// The factor for a rejected step; an error that is not a number gives the smallest one.
pub(super) fn shrinking(factor: f64, smallest: f64) -> f64 {
    if factor >= smallest { factor.min(0.95) } else { smallest }
}

/// The part of [`super::Integrator`] that is the same for every [`Stepper`].
macro_rules! integrate_by_steps {
    () => {
        fn step(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<Step, IntegrationError> {
            $crate::ode::attempts::advance(self, system, stop)
        }

        fn time(&self) -> f64 {
            self.point.t
        }

        fn state(&self) -> &[f64] {
            &self.point.y
        }

        fn next_step_size(&self) -> Option<f64> {
            self.point.h
        }

        fn counters(&self) -> Counters {
            self.point.counters
        }

        fn options(&self) -> &IntegratorOptions {
            &self.point.options
        }

        fn set_options(&mut self, options: IntegratorOptions) -> Result<(), IntegrationError> {
            options.validate()?;
            self.point.options = options;
            Ok(())
        }
    };
}
pub(super) use integrate_by_steps;
