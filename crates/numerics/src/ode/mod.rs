//! Integrators for y' = f(t, y) behind one trait.
//!
//! An [`Integrator`] owns its memory and nothing else: the [`OdeSystem`] is passed to every call that needs it,
//! so that integrators can be kept per mode of a model while the functions live elsewhere. It advances by single
//! accepted steps; between `previous_time()` and `time()` the solution is available from its dense output, on
//! which the caller locates events.
//!
//! The methods are our own rather than a wrapped library (`diffsol` was examined): the caller needs a right-hand
//! side that may fail and be retried, a solver that does not borrow its problem, restarts with a chosen step and
//! derivative, and an explicit Jacobian pattern; in the library functions are infallible and take `&self`, and
//! every solver borrows its problem for its whole life.
//!
//! ```
//! use saltus_numerics::ode::{self, Method, OdeSystem, IntegratorOptions, Start};
//! use saltus_numerics::EvalError;
//!
//! struct Decay;
//! impl OdeSystem for Decay {
//!     fn dim(&self) -> usize { 1 }
//!     fn rhs(&mut self, _t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
//!         dy[0] = -y[0];
//!         Ok(())
//!     }
//! }
//!
//! let mut integrator = ode::new_integrator(Method::Auto, IntegratorOptions::new(1e-8, 1e-10))?;
//! integrator.restart(&mut Decay, &Start::at(0.0, &[1.0]))?;
//! while integrator.time() < 1.0 {
//!     integrator.step(&mut Decay, 1.0)?;
//! }
//! assert!((integrator.state()[0] - (-1.0f64).exp()).abs() < 1e-7);
//! # Ok::<(), ode::IntegrationError>(())
//! ```

mod attempts;
mod auto;
mod bdf;
mod control;
mod dop853_tableau;
mod error;
mod esdirk;
mod explicit_rk;
mod iteration;
mod jacobian;
mod options;
mod radau;
mod system;
mod tsit45_tableau;

pub use auto::Auto;
pub use bdf::Bdf;
pub use error::{IntegrationError, StepFailure};
pub use esdirk::Esdirk;
pub use explicit_rk::ExplicitRk;
pub use jacobian::Jacobian;
pub use options::{AbsoluteTolerance, Counters, IntegratorOptions, Method, UnknownMethod};
pub use radau::Radau;
pub use system::{JacobianSource, OdeSystem};

/// Where and how to begin, or begin again.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Time.
    pub t: f64,
    /// State.
    pub y: &'a [f64],
    /// f(t, y) if the caller has it: saves an evaluation.
    pub dy: Option<&'a [f64]>,
    /// First step size to try; chosen from the derivatives if `None`.
    pub step: Option<f64>,
    /// The right-hand side is the same function as before the restart and the state is close, so that the last
    /// Jacobian still serves. (An automatic choice also keeps its verdict on stiffness.)
    pub keep_jacobian: bool,
}

impl<'a> Start<'a> {
    /// At a time and state, everything else unknown.
    pub fn at(t: f64, y: &'a [f64]) -> Self {
        Self {
            t,
            y,
            dy: None,
            step: None,
            keep_jacobian: false,
        }
    }

    /// With the derivative known.
    #[must_use]
    pub fn with_derivative(mut self, dy: &'a [f64]) -> Self {
        self.dy = Some(dy);
        self
    }

    /// With a first step size.
    #[must_use]
    pub fn with_step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }
}

/// An accepted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Beginning.
    pub t_old: f64,
    /// End.
    pub t: f64,
    /// Whether the end is the stop time (then exactly).
    pub at_stop: bool,
}

/// What became of a state handed to [`Integrator::replace_state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The change was below tolerance: step size and history were kept.
    Absorbed,
    /// The change was large: the integrator begins anew at the same time, without history.
    Restarted,
}

/// One way to advance y' = f(t, y).
///
/// Order of calls: [`restart`](Self::restart), then [`step`](Self::step) repeatedly. After any error the
/// integrator must be restarted; [`time`](Self::time) and [`state`](Self::state) still give the last accepted
/// point.
pub trait Integrator: std::fmt::Debug + Send {
    /// A copy that goes on exactly as this one.
    fn boxed_clone(&self) -> Box<dyn Integrator>;

    /// The method in use (for [`Auto`], the one it currently delegates to).
    fn method(&self) -> Method;

    /// Begins at a point. Memory is reused; the dimension may change.
    ///
    /// # Errors
    /// If tolerances do not fit, the start is not finite, or f cannot be evaluated there.
    fn restart(&mut self, system: &mut dyn OdeSystem, start: &Start<'_>) -> Result<(), IntegrationError>;

    /// Takes one accepted step, at most to `stop` (may be infinite), which is hit exactly and beyond which f is
    /// never evaluated.
    ///
    /// # Errors
    /// If no step can be taken; the error says what stood in the way.
    fn step(&mut self, system: &mut dyn OdeSystem, stop: f64) -> Result<Step, IntegrationError>;

    /// End of the last accepted step.
    fn time(&self) -> f64;

    /// State at [`time`](Self::time).
    fn state(&self) -> &[f64];

    /// The solution at a time within the last step (both ends included).
    fn interpolate(&self, t: f64, y: &mut [f64]);

    /// The derivative of the dense output at a time within the last step.
    fn interpolate_derivative(&self, t: f64, dy: &mut [f64]);

    /// Replaces the state at [`time`](Self::time), for instance by its projection onto constraints. The dense
    /// output of the last step stays as it was.
    ///
    /// # Errors
    /// If f cannot be evaluated at the new state.
    fn replace_state(&mut self, system: &mut dyn OdeSystem, y: &[f64]) -> Result<Replacement, IntegrationError>;

    /// The last so many steps have not led far: whoever can goes on in another way, if that leads further.
    fn note_slow(&mut self, steps: usize, duration: f64) {
        let _ = (steps, duration);
    }

    /// The step size that would be tried next: a good hint for a restart nearby.
    fn next_step_size(&self) -> Option<f64>;

    /// Work since construction.
    fn counters(&self) -> Counters;

    /// Options in force.
    fn options(&self) -> &IntegratorOptions;

    /// Replaces the options: tolerances from the next step on, everything else at the next restart.
    ///
    /// # Errors
    /// If they make no sense.
    fn set_options(&mut self, options: IntegratorOptions) -> Result<(), IntegrationError>;
}

impl Clone for Box<dyn Integrator> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// An integrator of the given kind.
///
/// # Errors
/// If the options make no sense.
pub fn new_integrator(method: Method, options: IntegratorOptions) -> Result<Box<dyn Integrator>, IntegrationError> {
    options.validate()?;
    Ok(match method {
        Method::Auto => Box::new(Auto::new(options)),
        Method::Bdf => Box::new(Bdf::new(options)),
        Method::Esdirk43 => Box::new(Esdirk::new(options)),
        Method::Radau => Box::new(Radau::new(options)),
        Method::Tsit45 | Method::Dop853 => Box::new(ExplicitRk::new(method, options)),
    })
}
