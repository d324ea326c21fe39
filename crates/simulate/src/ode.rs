//! A mode as a system of ordinary differential equations for the integrators.

use saltus_mdae::ExprPool;
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::ode::{JacobianSource, OdeSystem};
use saltus_numerics::roots::ConditionFunctions;

use crate::condition::{Monitor, Scales};
use crate::delay::{DelayError, History};
use crate::input::{self, InputSignal};
use crate::memory::Memory;
use crate::mode::Tools;
use crate::plan::{PlanCode, PlanFailure};

/// y' = f(t, y): states into memory, blocks solved, derivatives out.
pub(crate) struct ModeOde<'a> {
    pub memory: &'a mut Memory,
    pub code: &'a mut PlanCode,
    pub tools: Tools<'a>,
    pub pool: &'a ExprPool,
    pub scales: &'a Scales,
    pub signals: &'a [InputSignal],
    /// The time whose pieces of the signals hold.
    pub inputs_from: f64,
    pub history: &'a History,
    pub last_failure: Option<OdeFailure>,
}

/// Why the equations of a mode have no values at a point.
#[derive(Clone, Debug)]
pub(crate) enum OdeFailure {
    Plan(PlanFailure),
    Delay(DelayError),
}

impl From<DelayError> for OdeFailure {
    fn from(error: DelayError) -> Self {
        OdeFailure::Delay(error)
    }
}

impl ModeOde<'_> {
    /// Time, inputs and states at a point in time; nothing else is computed.
    fn place(&mut self, t: f64, y: &[f64]) {
        self.memory.set_time(t);
        input::apply(self.signals, self.inputs_from, t, self.memory);
        self.code.write_states(y, self.memory);
    }

    /// What is known at a point in time without solving equations.
    pub(crate) fn place_known(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        self.place(t, y);
        let applied = self.history.apply(t, self.memory);
        applied.map_err(|error| self.failed(error.into()))
    }

    /// Everything at a point in time.
    pub(crate) fn evaluate(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        self.evaluate_by(t, y, PlanCode::solve)
    }

    fn evaluate_by(
        &mut self,
        t: f64,
        y: &[f64],
        solve: fn(&mut PlanCode, &mut Memory) -> Result<(), PlanFailure>,
    ) -> Result<(), EvalError> {
        self.place(t, y);
        let (history, code) = (self.history, &mut *self.code);
        let solve = |memory: &mut Memory| solve(code, memory).map_err(OdeFailure::Plan);
        let solved = history.solve_with(t, self.memory, solve);
        solved.map_err(|failure| self.failed(failure))
    }

    fn failed(&mut self, failure: OdeFailure) -> EvalError {
        let error = EvalError::recoverable(format!("{failure:?}"));
        self.last_failure = Some(failure);
        error
    }
}

impl OdeSystem for ModeOde<'_> {
    fn dim(&self) -> usize {
        self.code.states.len()
    }

    fn rhs(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        self.evaluate_by(t, y, PlanCode::solve_for_stage)?;
        for (dy, &slot) in dy.iter_mut().zip(&self.code.derivative_slots) {
            *dy = self.memory.values[slot as usize];
        }
        Ok(())
    }

    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        self.code.pattern(self.tools, self.pool, self.memory)
    }

    fn jacobian_source(&self) -> JacobianSource {
        JacobianSource::Values
    }

    fn jacobian_is_constant(&self) -> bool {
        self.code.has_constant_jacobian()
    }

    fn jacobian(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        self.evaluate(t, y)?;
        self.code.jacobian(self.tools, self.pool, self.memory, values)
    }
}

/// The watched conditions along the dense output of a step.
pub(crate) struct Watched<'a, 'b> {
    pub ode: &'a mut ModeOde<'b>,
    pub integrator: &'a dyn saltus_numerics::ode::Integrator,
    pub monitors: &'a [&'a Monitor],
    /// Whether the functions read more than states, so that the equations have to be solved for them.
    pub solve: bool,
    /// Added to each function: zero once it has been clear of its band, the band before.
    pub shifts: &'a [f64],
    /// The side each function is on.
    pub sides: &'a [bool],
    /// The part of its band beyond which each function is clear of zero.
    pub shares: &'a [f64],
    /// The earliest time seen at which each function was clear of its band on that side.
    pub clear_at: Vec<Option<f64>>,
    /// The latest band of each function.
    pub bands: Vec<f64>,
    pub y: Vec<f64>,
    pub scratch: Vec<f64>,
}

impl ConditionFunctions for Watched<'_, '_> {
    fn count(&self) -> usize {
        self.monitors.len()
    }

    fn evaluate(&mut self, t: f64, values: &mut [f64]) -> Result<(), EvalError> {
        if !self.y.is_empty() {
            self.integrator.interpolate(t, &mut self.y);
        }
        if self.solve {
            self.ode.evaluate(t, &self.y)?;
        } else {
            self.ode.place_known(t, &self.y)?;
        }
        for (at, monitor) in self.monitors.iter().enumerate() {
            let reading = monitor.watch(self.ode.memory, self.ode.scales, &mut self.scratch);
            values[at] = reading.value + self.shifts[at];
            self.bands[at] = reading.tolerance;
            let clear =
                (reading.value > 0.0) == self.sides[at] && reading.value.abs() > self.shares[at] * reading.tolerance;
            if clear && self.clear_at[at].is_none_or(|first| t < first) {
                self.clear_at[at] = Some(t);
            }
        }
        Ok(())
    }
    fn noise(&self, i: usize) -> f64 {
        self.bands[i]
    }
}
