//! One side of a surface.

use saltus_mdae::{ConditionId, Derivative, VarId};
use saltus_numerics::EvalError;

use super::flow::{FlowFailure, unexplained};
use crate::engine::{Engine, ModeId};
use crate::events::condition::Monitor;
use crate::events::iteration::{Truths, same};
use crate::memory::Memory;
use crate::run::delay::History;

/// Everything that decides the motion on one side of a surface.
#[derive(Clone, Debug)]
pub(in crate::run) struct Side {
    pub memory: Memory,
    truths: Truths,
    mode: Option<ModeId>,
    when_before: Vec<bool>,
    /// From the surface to the point at which this side is looked at; empty where conditions tell the sides apart.
    pub offset: Vec<f64>,
}

/// The motion on a side at a point: the derivatives of the states, and the function of the surface with its derivatives.
#[derive(Debug)]
pub(super) struct SideFlow {
    pub dy: Vec<f64>,
    pub course: Vec<f64>,
}

impl Side {
    /// The present of a run.
    pub(crate) fn present(engine: &Engine) -> Self {
        Side {
            memory: engine.memory.clone(),
            truths: engine.truths.clone(),
            mode: engine.mode,
            when_before: engine.when_before.clone(),
            offset: Vec::new(),
        }
    }

    /// Changes places with the present.
    pub(crate) fn swap(&mut self, engine: &mut Engine) {
        std::mem::swap(&mut self.memory, &mut engine.memory);
        std::mem::swap(&mut self.truths, &mut engine.truths);
        std::mem::swap(&mut self.mode, &mut engine.mode);
        std::mem::swap(&mut self.when_before, &mut engine.when_before);
        engine.forget_derivatives();
    }

    /// Becomes the present.
    pub(crate) fn enter(mut self, engine: &mut Engine) {
        self.swap(engine);
    }

    pub(crate) fn truth(&self, id: ConditionId) -> bool {
        self.truths[id]
    }

    pub(crate) fn mode(&self) -> Option<ModeId> {
        self.mode
    }

    /// The states, in the order of the plan of the mode.
    pub(crate) fn states<'e>(&self, engine: &'e Engine) -> &'e [Derivative] {
        self.mode.map_or(&[], |mode| &engine.modes[mode].plan().states)
    }

    /// The values of the states on the surface.
    pub(crate) fn point(&self, engine: &Engine) -> Vec<f64> {
        let mut y = Vec::new();
        if let Some(mode) = self.mode {
            engine.modes[mode].plan().read_states(&self.memory, &mut y);
        }
        y.iter_mut().zip(&self.offset).for_each(|(y, offset)| *y -= offset);
        y
    }

    /// The mode may have been let go while another was looked for. False if it cannot be made again.
    pub(crate) fn make_mode(&mut self, engine: &mut Engine) -> bool {
        self.swap(engine);
        let valuation = engine.evaluate_guards();
        let made = engine.mode_of(&valuation).ok();
        let known = made.is_some() && made == engine.mode;
        self.swap(engine);
        known
    }

    /// A discrete variable that is not the same on another side.
    pub(crate) fn other_discrete(&self, other: &Side, engine: &Engine) -> Option<VarId> {
        let differs = |var: &VarId| !same(self.memory.get(*var, 0), other.memory.get(*var, 0));
        engine.discrete.variables.iter().copied().find(differs)
    }

    /// The motion at a point of the surface, with the derivatives of its function up to an order. Values are left in the
    /// memory of the side.
    pub(super) fn flow(
        &mut self,
        engine: &mut Engine,
        history: &History,
        surface: (&Monitor, u16),
        (t, y): (f64, &[f64]),
    ) -> Result<SideFlow, FlowFailure> {
        let mut point = y.to_vec();
        point.iter_mut().zip(&self.offset).for_each(|(y, offset)| *y += offset);
        self.swap(engine);
        let outcome = flow_here(engine, history, surface, t, &point);
        self.swap(engine);
        outcome
    }
}

/// The same in the present.
fn flow_here(
    engine: &mut Engine,
    history: &History,
    (monitor, orders): (&Monitor, u16),
    t: f64,
    y: &[f64],
) -> Result<SideFlow, FlowFailure> {
    let Some(mode) = engine.mode else {
        return Err(unexplained(EvalError::fatal("no mode is in force")));
    };
    let mut ode = engine.ode(mode, history);
    let outcome = ode.evaluate(t, y);
    let blamed = ode.last_failure.take();
    let slots = ode.code.derivative_slots.iter();
    let dy: Vec<f64> = slots.map(|&slot| ode.memory.values[slot as usize]).collect();
    if let Err(error) = outcome {
        let failure = blamed.map(|blamed| engine.explain_evaluation(mode, &blamed));
        return Err(Box::new((error, failure)));
    }
    engine.forget_derivatives();
    let mut course = Vec::new();
    for order in 0..=orders {
        match engine.derivative(monitor, mode, order) {
            Some(reading) => course.push(reading.value),
            None => return Err(unexplained(EvalError::recoverable("the surface has no rate here"))),
        }
    }
    Ok(SideFlow { dy, course })
}
