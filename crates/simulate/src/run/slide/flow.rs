//! The motion along a surface, as a system for the integrators and for the location of events.

use std::sync::Arc;

use saltus_mdae::{ConditionId, Derivative, Idx};
use saltus_numerics::EvalError;
use saltus_numerics::ode::{Integrator, OdeSystem};
use saltus_numerics::roots::{ConditionFunctions, Course, Cut};

use super::{Motion, Slide};
use crate::engine::Engine;
use crate::error::Failure;
use crate::events::condition::Monitor;
use crate::run::Cancel;
use crate::run::delay::History;

/// What rounding leaves of a function, in parts of the size of its terms.
const ROUNDING: f64 = 4e-13;
/// The part of the size of a state by which it is moved to find how a rate responds.
const PROBE: f64 = 1e-4;

/// The motion at a point of the surface.
#[derive(Debug)]
pub(super) struct Flow {
    pub dy: Vec<f64>,
    /// The share of the side above.
    pub share: f64,
    /// Positive as long as each side drives to the surface; zero where it is left.
    pub exits: Vec<f64>,
    /// The sizes of the terms of these.
    pub sizes: Vec<f64>,
    /// By how much the function of the surface differs between the sides.
    pub gap: f64,
    /// The function of the surface, and the way along which it becomes less by one: that along which it is crossed to and
    /// fro. Empty if there is none.
    pub distance: f64,
    pub way: Vec<f64>,
    /// The speed at which it leaves the surface, where that has to be zero too, and the way back.
    pub speed: Option<(f64, Vec<f64>)>,
}

/// Why there is no motion at a point.
pub(super) type FlowFailure = Box<(EvalError, Option<Failure>)>;

/// A failure that no equation is to blame for.
pub(super) fn unexplained(error: EvalError) -> FlowFailure {
    Box::new((error, None))
}

impl Flow {
    /// From a point that is off by a value of the function back to the surface.
    pub(super) fn back(&self, y: &mut [f64], value: f64) {
        y.iter_mut().zip(&self.way).for_each(|(y, way)| *y += value * way);
    }
}

impl Slide {
    /// The motion at a point. Values on each side are left in its memory.
    pub(super) fn flow(
        &mut self,
        engine: &mut Engine,
        history: &History,
        (t, y): (f64, &[f64]),
    ) -> Result<Flow, FlowFailure> {
        match &self.motion {
            Motion::Sliding => self.sliding(engine, history, (t, y)),
            Motion::Resting { reaction, outward } => {
                let (reaction, outward) = (reaction.clone(), *outward);
                self.resting(engine, history, (t, y), &reaction, outward)
            }
        }
    }

    fn sliding(&mut self, engine: &mut Engine, history: &History, (t, y): (f64, &[f64])) -> Result<Flow, FlowFailure> {
        let monitor = self.surface.monitor.clone();
        let below = self.sides[0].flow(engine, history, (&monitor, 1), (t, y))?;
        let above = self.sides[1].flow(engine, history, (&monitor, 1), (t, y))?;
        let turn = below.course[1] - above.course[1];
        if turn.is_nan() || turn.abs() <= f64::MIN_POSITIVE {
            return Err(unexplained(EvalError::recoverable(
                "both sides of the surface move alike",
            )));
        }
        let share = below.course[1] / turn;
        let pairs = || above.dy.iter().zip(&below.dy);
        let distance = 0.5 * (below.course[0] + above.course[0]);
        let size = below.course[1].abs() + above.course[1].abs();
        Ok(Flow {
            dy: pairs().map(|(&above, &below)| mixed(share, above, below)).collect(),
            share,
            exits: vec![-above.course[1], below.course[1]],
            sizes: vec![size; 2],
            gap: above.course[0] - below.course[0] - 2.0 * self.beside,
            distance,
            way: pairs().map(|(above, below)| (above - below) / turn).collect(),
            speed: None,
        })
    }

    fn resting(
        &mut self,
        engine: &mut Engine,
        history: &History,
        (t, y): (f64, &[f64]),
        reaction: &[f64],
        outward: f64,
    ) -> Result<Flow, FlowFailure> {
        let monitor = self.surface.monitor.clone();
        let probe = self.probe(engine, y, reaction);
        let moved = |share: f64| -> Vec<f64> { y.iter().zip(reaction).map(|(y, r)| y + share * probe * r).collect() };
        let side = &mut self.sides[0];
        let ahead = side.flow(engine, history, (&monitor, 1), (t, &moved(1.0)))?;
        let behind = side.flow(engine, history, (&monitor, 1), (t, &moved(-1.0)))?;
        let mut free = side.flow(engine, history, (&monitor, 2), (t, y))?;
        let response = (ahead.course[1] - behind.course[1]) / (2.0 * probe);
        let force = -free.course[2] / response;
        if !force.is_finite() {
            return Err(unexplained(EvalError::recoverable("impacts do not change the speed")));
        }
        free.dy.iter_mut().zip(reaction).for_each(|(dy, r)| *dy += force * r);
        let speed = free.course[1];
        let back = reaction.iter().map(|r| -speed / response * r).collect();
        Ok(Flow {
            dy: free.dy,
            share: 0.0,
            exits: vec![-outward * free.course[2]],
            sizes: vec![free.course[2].abs()],
            gap: 0.0,
            distance: free.course[0],
            way: Vec::new(),
            speed: Some((speed, back)),
        })
    }

    /// How far to move along the reaction, so that no state moves by more than a small part of its size.
    fn probe(&self, engine: &Engine, y: &[f64], reaction: &[f64]) -> f64 {
        let states = self.sides[0].states(engine).iter().zip(y).zip(reaction);
        let moves = states.filter(|&(_, &r)| r != 0.0);
        let parts = moves.map(|((&Derivative { var, order }, y), r)| {
            let size = engine.scales.size(var, order).max(y.abs());
            let size = if size > 0.0 { size } else { engine.nominal[var.index()] };
            PROBE * size / r.abs()
        });
        parts.fold(f64::INFINITY, f64::min)
    }

    /// Makes the values on both sides, combined, the present.
    pub(super) fn show(&self, engine: &mut Engine, flow: &Flow, y: &[f64]) {
        let shown = &self.sides[self.shown];
        engine.memory.values.copy_from_slice(&shown.memory.values);
        if let Motion::Sliding = self.motion {
            let (below, above) = (&self.sides[0].memory, &self.sides[1].memory);
            for &var in &engine.sets.unknowns {
                let first = engine.memory.slot(var, 0) as usize;
                for slot in first..first + usize::from(engine.memory.orders(var)) {
                    engine.memory.values[slot] = mixed(flow.share, above.values[slot], below.values[slot]);
                }
            }
        }
        if let Some(mode) = shown.mode() {
            let plan = engine.modes[mode].plan();
            plan.write_states(y, &mut engine.memory);
            for (&slot, &dy) in plan.derivative_slots.iter().zip(&flow.dy) {
                engine.memory.values[slot as usize] = dy;
            }
        }
        engine.forget_derivatives();
    }
}

/// A combination of two numbers; what is the same on both sides is so on the surface.
fn mixed(share: f64, above: f64, below: f64) -> f64 {
    if above == below {
        above
    } else {
        share * above + (1.0 - share) * below
    }
}

/// The motion along a surface for the integrators.
pub(super) struct SlideOde<'a> {
    pub slide: &'a mut Slide,
    pub engine: &'a mut Engine,
    pub history: &'a History,
    pub dim: usize,
    /// Why it could not be evaluated last.
    pub blamed: Option<Failure>,
}

impl SlideOde<'_> {
    pub(super) fn flow(&mut self, t: f64, y: &[f64]) -> Result<Flow, EvalError> {
        self.slide.flow(self.engine, self.history, (t, y)).map_err(|failure| {
            let (error, blamed) = *failure;
            self.blamed = blamed;
            error
        })
    }
}

impl OdeSystem for SlideOde<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn rhs(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        let flow = self.flow(t, y)?;
        dy.copy_from_slice(&flow.dy);
        Ok(())
    }
}

/// A condition that is watched on a side.
#[derive(Clone, Debug)]
pub(super) struct SideCondition {
    pub side: usize,
    pub id: ConditionId,
    pub monitor: Arc<Monitor>,
}

/// What ends the motion along a surface, on the dense output of a step: the exits, then the other conditions on each side.
pub(super) struct SlideFunctions<'a> {
    pub ode: SlideOde<'a>,
    pub integrator: &'a dyn Integrator,
    pub exits: usize,
    pub conditions: &'a [SideCondition],
    /// Added to each function: zero once it has been clear of its band.
    pub shifts: Vec<f64>,
    pub sizes: Vec<f64>,
    pub affordable: &'a mut f64,
    pub cancel: &'a Cancel,
}

impl SlideFunctions<'_> {
    fn arguments(&self) -> Option<&crate::events::resolution::Arguments> {
        let mode = self.ode.slide.sides[0].mode()?;
        self.ode.engine.modes[mode].plan().arguments()
    }
}

impl ConditionFunctions for SlideFunctions<'_> {
    fn count(&self) -> usize {
        self.exits + self.conditions.len()
    }

    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        if self.cancel.is_cancelled() {
            return Err(EvalError::fatal("the run is cancelled"));
        }
        let mut y = vec![0.0; self.ode.dim];
        if !y.is_empty() {
            self.integrator.interpolate(t, &mut y);
        }
        let flow = self.ode.flow(t, &y)?;
        values.clone_from(&flow.exits);
        values.resize(self.count(), 0.0);
        self.sizes[..self.exits].copy_from_slice(&flow.sizes);
        let engine = &mut *self.ode.engine;
        for (at, condition) in self.conditions.iter().enumerate() {
            let memory = &self.ode.slide.sides[condition.side].memory;
            let reading = condition.monitor.watch(memory, &engine.scales, &mut engine.scratch);
            let at = self.exits + at;
            values[at] = reading.value + self.shifts[at];
            self.sizes[at] = self.sizes[at].max(reading.magnitude);
        }
        let side = &self.ode.slide.sides[0];
        if let Some(mode) = side.mode()
            && let Some(watching) = engine.modes[mode].plan_mut().watching()
        {
            watching
                .arguments
                .evaluate(&engine.model.functions, &side.memory, values);
        }
        Ok(())
    }

    fn cut(&self, argument: usize, course: &Course) -> Cut {
        self.arguments()
            .map_or(Cut::Nowhere, |arguments| arguments.cut(argument, course))
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
