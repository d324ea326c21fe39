//! How a run changes with parameters: derivatives that are right across events and changes of mode.
//!
//! ```text
//! within a mode       x' = f(t, x, p)        S' = f_x S + f_p               S = dx/dp, exact partial derivatives
//! at an event         g(t*, x⁻, p) = 0       dt*/dp = −(g_x S⁻ + g_p)/ġ      ġ = g_t + g_x f⁻
//! its right limits    x⁺ = R(t*, x⁻, p)      S⁺ = R'(dt*, S⁻ + f⁻ dt*, dp) − f⁺ dt*
//! ```
//!
//! R is all that happens at the event: discrete equations, `reinit`, the search for the mode, the restart system and its
//! impulses, one instant after the other. Its derivative along a direction is a difference of fourth order of that map alone:
//! no step of an integrator is in it, and restarts are solved to rounding. So is the derivative of the values at the start.
//!
//! There is no derivative where two events coincide whose times depend on a parameter in different ways, where a function only
//! touches zero, or where an event comes out otherwise nearby: that is said instead.

mod course;
mod event;
mod flow;
mod start;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_codegen::Leaf;
use saltus_mdae::{Role, Type, VarId};
use saltus_results::{AliasSign, SignalId};

use super::{Request, Run, Stepper};
use crate::compiled::Compiled;
use crate::error::Failure;
use crate::events::sample::Ticks;
use crate::options::Options;

/// What derivatives are asked for.
#[derive(Clone, Debug)]
pub struct SensitivityRequest {
    /// The parameters.
    pub parameters: Vec<VarId>,
    /// The variables.
    pub outputs: Vec<SignalId>,
    /// The times, ascending.
    pub times: Vec<f64>,
}

/// Why there is no derivative with respect to a parameter from some time on.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityProblem {
    /// From when on.
    pub time: f64,
    /// Why.
    pub reason: String,
}

/// Derivatives of variables at times, and of the times of events, with respect to parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sensitivities {
    /// The times that the run has reached.
    pub times: Vec<f64>,
    /// Values: by time, then by output.
    pub values: Vec<f64>,
    /// Derivatives: by time, then by output, then by parameter; NaN where there is none.
    pub derivatives: Vec<f64>,
    /// The times of the events.
    pub event_times: Vec<f64>,
    /// Their derivatives: by event, then by parameter; NaN where there is none.
    pub event_derivatives: Vec<f64>,
    /// Why derivatives are missing, by parameter.
    pub problems: Vec<Option<SensitivityProblem>>,
    /// The time at which the run ended.
    pub end: f64,
}

/// How everything in memory changes with one parameter.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    /// The size of the parameter: what steps of differences are measured by.
    scale: f64,
    /// By place in memory.
    slots: Vec<f64>,
    /// Of the last values of variables that are dead.
    last_values: BTreeMap<VarId, f64>,
    /// Of the times of ticks, in the order of the clocks.
    ticks: Vec<Ticks>,
    /// Why there is no derivative any more.
    problem: Option<SensitivityProblem>,
}

impl Direction {
    fn give_up(&mut self, time: f64, reason: String) {
        if self.problem.is_none() {
            self.problem = Some(SensitivityProblem { time, reason });
        }
    }
}

/// Runs a model and follows how it changes with parameters.
pub fn sensitivities(
    compiled: &Arc<Compiled>,
    request: &Request,
    options: &Options,
    asked: &SensitivityRequest,
) -> Result<Sensitivities, Failure> {
    // Derivatives are those of the equations of whole modes.
    let options = &Options {
        local_from: usize::MAX,
        ..options.clone()
    };
    let stepper = Stepper::new(compiled, request.clone(), options)?;
    let mut variation = Variation::new(stepper, asked);
    variation.begin(compiled, request, options)?;
    variation.follow()?;
    Ok(variation.found)
}

/// A run together with its derivatives.
struct Variation<'a> {
    asked: &'a SensitivityRequest,
    names: Vec<String>,
    stepper: Stepper,
    directions: Vec<Direction>,
    /// Times asked for at which there is no derivative, since an event is just there, by direction.
    at_events: Vec<Option<SensitivityProblem>>,
    /// Where the outputs are.
    outputs: Vec<Output>,
    /// Times asked for that have been passed.
    passed: usize,
    found: Sensitivities,
}

/// Where an output is in memory.
#[derive(Copy, Clone, Debug)]
enum Output {
    Slot { slot: u32, sign: AliasSign },
    Constant(f64),
}

impl<'a> Variation<'a> {
    fn new(stepper: Stepper, asked: &'a SensitivityRequest) -> Self {
        let run = &stepper.run;
        let model = &run.engine.model;
        let parameters: FxHashMap<&str, VarId> = (model.variables.iter_enumerated())
            .filter(|(_, variable)| variable.role == Role::Parameter)
            .map(|(id, variable)| (&*variable.name, id))
            .collect();
        let memory = &run.engine.memory;
        let output = |&id: &SignalId| match run.layout.place(id) {
            Ok((place, sign)) => Output::Slot {
                slot: memory.slot(place.var, place.order),
                sign,
            },
            Err(value) => match parameters.get(&*run.layout.schema.signal(id).name) {
                Some(&var) => Output::Slot {
                    slot: memory.slot(var, 0),
                    sign: AliasSign::Same,
                },
                None => Output::Constant(value),
            },
        };
        let outputs = asked.outputs.iter().map(output).collect();
        let name = |&var: &VarId| model.variables[var].name.to_string();
        let names = asked.parameters.iter().map(name).collect();
        Variation {
            asked,
            names,
            outputs,
            stepper,
            directions: Vec::new(),
            at_events: vec![None; asked.parameters.len()],
            passed: 0,
            found: Sensitivities::default(),
        }
    }
}

/// What stays as it is between events but may depend on parameters, with places in memory: parameters, discrete values, left
/// limits.
fn held_leaves(run: &Run) -> impl Iterator<Item = (Leaf, u32)> + '_ {
    let (model, memory) = (&run.engine.model, &run.engine.memory);
    let reals = model
        .variables
        .ids()
        .filter(|&var| model.variables[var].ty == Type::Real);
    reals.flat_map(move |var| {
        let own = matches!(model.variables[var].role, Role::Parameter | Role::Discrete);
        let current = own.then(|| (Leaf::var(var, 0), memory.slot(var, 0)));
        let left = (0..memory.orders(var)).map(move |order| (Leaf::Pre { var, order }, memory.left_slot(var, order)));
        current.into_iter().chain(left)
    })
}
