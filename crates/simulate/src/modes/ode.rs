//! A mode as a system of ordinary differential equations for the integrators.

use saltus_mdae::ExprPool;
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::ode::{JacobianSource, OdeSystem};
use saltus_numerics::roots::{ConditionFunctions, Course, Cut, told_by_three};

use crate::events::condition::Monitor;
use crate::events::resolution::Arguments;
use crate::events::scale::Scales;
use crate::memory::Memory;
use crate::modes::plan::{PlanCode, PlanFailure};
use crate::modes::runtime::Tools;
use crate::run::Cancel;
use crate::run::delay::{DelayError, History};
use crate::run::input::{self, InputSignal};

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

impl OdeFailure {
    fn in_words(&self) -> &'static str {
        match self {
            OdeFailure::Plan(_) => "the equations have no solution there that was found",
            OdeFailure::Delay(_) => "a delayed signal has no value there",
        }
    }
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

    /// What the watched conditions depend on at a point in time.
    pub(crate) fn evaluate_watched(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        self.evaluate_by(t, y, PlanCode::solve_watched)
    }

    /// What shows the course of the rates at a point in time.
    pub(crate) fn evaluate_for_rates(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        self.evaluate_by(t, y, PlanCode::solve_for_rates)
    }

    fn evaluate_by(
        &mut self,
        t: f64,
        y: &[f64],
        solve: fn(&mut PlanCode, &mut Memory) -> Result<(), PlanFailure>,
    ) -> Result<(), EvalError> {
        self.place(t, y);
        self.code.predict_next();
        let (history, code) = (self.history, &mut *self.code);
        let solve = |memory: &mut Memory| solve(code, memory).map_err(OdeFailure::Plan);
        let solved = history.solve_with(t, self.memory, solve);
        solved.map_err(|failure| self.failed(failure))
    }

    fn failed(&mut self, failure: OdeFailure) -> EvalError {
        let error = EvalError::recoverable(failure.in_words());
        self.last_failure = Some(failure);
        error
    }
}

impl OdeSystem for ModeOde<'_> {
    fn dim(&self) -> usize {
        self.code.states.len()
    }

    fn rhs(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        // What is computed for results alone waits for a point that is one; delayed signals may read it.
        let solve = if self.history.is_empty() {
            PlanCode::solve_for_rates_of_stage
        } else {
            PlanCode::solve_for_stage
        };
        self.evaluate_by(t, y, solve)?;
        // A step must not mix two branches of a solution: it ends where the first does.
        if self.code.jumped() {
            return Err(EvalError::recoverable("the solution followed so far ceases to exist"));
        }
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
    pub shifts: Vec<f64>,
    /// The side each function is on.
    pub sides: &'a [bool],
    /// The part of its band beyond which each function is clear of zero.
    pub shares: &'a [f64],
    /// The earliest time seen at which each function was clear of its band on that side.
    pub clear_at: Vec<Option<f64>>,
    /// The size of each function and its terms so far.
    pub sizes: Vec<f64>,
    /// Values known from the step before and from the first look at this one, and those at its end, without shifts.
    pub known: Vec<Sampled>,
    pub end: Option<Sampled>,
    /// Whether functions are followed.
    pub follow: bool,
    /// How often all this was evaluated.
    pub samples: u64,
    pub t_new: f64,
    /// Parts into which steps may still be cut for fast functions.
    pub affordable: &'a mut f64,
    pub cancel: &'a Cancel,
    pub y: Vec<f64>,
    pub scratch: Vec<f64>,
}

/// Functions of conditions and their arguments at a time.
#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    pub t: f64,
    pub values: Vec<f64>,
    tolerances: Vec<f64>,
}

/// What rounding leaves of a condition function, in parts of the size of its terms: iterations of blocks end at 1e-13.
pub(crate) const ROUNDING: f64 = 4e-13;

/// The value of a condition function with its shift. A limited signal reaches its limit exactly and stays there.
pub(crate) fn unless_resting(value: f64, shift: f64, monitor: &Monitor) -> f64 {
    if value == 0.0 && shift == 0.0 && monitor.holds_at_zero {
        f64::MIN_POSITIVE
    } else {
        value + shift
    }
}

impl Watched<'_, '_> {
    /// The earliest time at which a condition that still has a shift was clear of its band.
    pub(crate) fn first_clear(&self, until: f64) -> Option<f64> {
        let shifted = self
            .shifts
            .iter()
            .zip(&self.clear_at)
            .filter(|(shift, _)| **shift != 0.0);
        let times = shifted.filter_map(|(_, &clear)| clear.filter(|&t| t < until));
        times.reduce(f64::min)
    }

    /// Conditions that are clear of their bands at a time have no shift any more.
    pub(crate) fn arm(&mut self, time: f64) {
        for (shift, clear) in self.shifts.iter_mut().zip(&self.clear_at) {
            if clear.is_some_and(|t| t <= time) {
                *shift = 0.0;
            }
        }
    }

    /// How many of the values that are known from before are asked for.
    fn wanted_of(&self, known: &Sampled) -> usize {
        if self.follow {
            return known.values.len();
        }
        let outside = self.ode.code.arguments().map_or(0, Arguments::count);
        known.values.len().min(self.monitors.len() + outside)
    }

    /// Gives functions their shifts, and notes which of them are clear of their bands.
    fn shift(&mut self, t: f64, tolerances: &[f64], values: &mut [f64]) {
        for (at, (&tolerance, given)) in tolerances.iter().zip(values).enumerate() {
            let value = *given;
            *given = unless_resting(value, self.shifts[at], self.monitors[at]);
            let clear = (value > 0.0) == self.sides[at] && value.abs() > self.shares[at] * tolerance;
            if clear && self.clear_at[at].is_none_or(|first| t < first) {
                self.clear_at[at] = Some(t);
            }
        }
    }

    /// Most steps are resolved by their ends and their middle. Where the arguments inside of functions are, these need not be
    /// followed again.
    pub(crate) fn look(&mut self, (t_old, t_new): (f64, f64)) -> Result<(), EvalError> {
        let middle = t_old + (t_new - t_old) * 0.5;
        let mut samples = Vec::with_capacity(3);
        for t in [t_old, middle.min(t_new), t_new] {
            samples.push(self.sampled(t)?);
        }
        let count = self.monitors.len();
        let told = {
            let [first, middle, last] = [0, 1, 2].map(|at: usize| &samples[at].values[count..]);
            told_by_three(self, [first, middle, last])
        };
        self.follow = !told;
        self.end = samples.last().cloned();
        self.known = samples;
        Ok(())
    }

    /// All functions, their tolerances and the arguments at a time.
    fn sampled(&mut self, t: f64) -> Result<Sampled, EvalError> {
        if let Some(known) = self.known.iter().find(|known| known.t == t) {
            let mut sampled = known.clone();
            let wanted = self.wanted_of(known);
            sampled.values.truncate(wanted);
            return Ok(sampled);
        }
        if self.cancel.is_cancelled() {
            return Err(EvalError::fatal("the run is cancelled"));
        }
        self.samples += 1;
        if !self.y.is_empty() {
            self.integrator.interpolate(t, &mut self.y);
        }
        if self.solve {
            self.ode.evaluate_watched(t, &self.y)?;
        } else {
            self.ode.place_known(t, &self.y)?;
        }
        let count = self.monitors.len();
        let mut sampled = Sampled {
            t,
            values: vec![0.0; count],
            tolerances: vec![0.0; count],
        };
        for (at, monitor) in self.monitors.iter().enumerate() {
            let reading = monitor.watch(self.ode.memory, self.ode.scales, &mut self.scratch);
            sampled.values[at] = reading.value;
            sampled.tolerances[at] = reading.tolerance;
            self.sizes[at] = self.sizes[at].max(reading.magnitude);
        }
        if let Some(watching) = self.ode.code.watching() {
            let (arguments, memory) = (&mut watching.arguments, &*self.ode.memory);
            if self.follow {
                arguments.evaluate(&self.ode.tools.model.functions, memory, &mut sampled.values);
            } else {
                arguments.evaluate_outside(memory, &mut sampled.values);
            }
        }
        if t == self.t_new {
            self.end = Some(sampled.clone());
        }
        Ok(sampled)
    }
}

impl ConditionFunctions for Watched<'_, '_> {
    fn count(&self) -> usize {
        self.monitors.len()
    }

    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        if let Some(at) = self.known.iter().position(|known| known.t == t) {
            let all = std::mem::take(&mut self.known);
            let known = &all[at];
            values.clear();
            values.extend_from_slice(&known.values[..self.wanted_of(known)]);
            self.shift(t, &known.tolerances, values);
            self.known = all;
            return Ok(());
        }
        let sampled = self.sampled(t)?;
        *values = sampled.values;
        self.shift(t, &sampled.tolerances, values);
        Ok(())
    }

    fn cut(&self, argument: usize, course: &Course) -> Cut {
        let arguments = self.ode.code.arguments();
        arguments.map_or(Cut::Nowhere, |arguments| arguments.cut(argument, course))
    }

    fn afford(&mut self, parts: f64) -> Result<(), EvalError> {
        *self.affordable -= parts;
        if *self.affordable < 0.0 {
            Err(EvalError::fatal("a condition oscillates too fast"))
        } else {
            Ok(())
        }
    }

    fn rounding(&self, i: usize, _: &[f64]) -> f64 {
        ROUNDING * self.sizes[i]
    }
}
