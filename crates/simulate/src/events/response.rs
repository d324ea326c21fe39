//! How well the variables of a mode are known: their responses to errors of its states.
//!
//! A clearance `s = table - y` is zero at the contact, but it is known no better than table and y are: a solver that keeps y
//! to its tolerance may leave s on the wrong side by that much. What does not depend on the states at all, like the voltage
//! across a closed switch, responds with rounding only, in every derivative. So the mode is solved again at states that are
//! off by their errors, some up and some down, and with every operation on the way off by a few rounding errors; what changes
//! is the error of everything else, whatever its unit.
//!
//! The same with states that are off by rounding only shows what is left of the digits of their rates: the integrator is not
//! asked for more.

use std::sync::Arc;

use saltus_codegen::{Rounding, share_of_error};
use saltus_mdae::{BinaryFunction, Derivative, ExprId, Node};

use crate::engine::{Engine, ModeId};
use crate::events::candidate::Instant;
use crate::kernel::Bound;
use crate::memory::Memory;
use crate::modes::jets::Beyond;
use crate::modes::plan::Need;

/// Ways in which states are off.
const PATTERNS: u64 = 2;

/// How often rounding errors of rates are followed through the states: chains of integrators up to this length.
const NOISE_ORDERS: usize = 4;

/// The part of a tolerance from which on rounding errors are noticed.
const NOTICED: f64 = 1e-3;

/// The mode in memory at states that are off by their errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Responses {
    mode: Option<ModeId>,
    /// For what values have been computed.
    need: Option<Need>,
    /// All values, for each way.
    perturbed: Vec<(Blur, Vec<f64>)>,
    /// By slot, for which round of perturbed values the error of that value is known.
    known: Vec<u64>,
    round: u64,
}

impl Engine {
    /// The values in memory are others.
    pub(crate) fn forget_derivatives(&mut self) {
        self.jet_level = 0;
        self.responses.mode = None;
    }

    /// Finds the errors of derivatives of variables in a mode, whose solution is in memory.
    pub(crate) fn find_errors(&mut self, mode: ModeId, leaves: &[Derivative]) {
        let model = Arc::clone(&self.model);
        let unknown = |leaf: &&Derivative| model.is_unknown(leaf.var);
        if !leaves.iter().any(|leaf| unknown(&leaf)) {
            return;
        }
        let plan = self.modes[mode].plan();
        let needed = |leaf: &Derivative| {
            let order = leaf.order.min(self.memory.orders(leaf.var).saturating_sub(1));
            plan.need_of(self.memory.slot(leaf.var, order))
        };
        // Those of all conditions are mostly asked for in turn.
        let need = leaves.iter().filter(unknown).map(needed).max();
        let need = need.map(|need| need.max(Need::Conditions));
        for &leaf in leaves.iter().filter(unknown) {
            if self.responses.mode != Some(mode) || self.responses.need < need {
                self.perturb(mode, need.unwrap_or(Need::Results));
            }
            let slot = self.memory.slot(leaf.var, leaf.order) as usize;
            if std::mem::replace(&mut self.responses.known[slot], self.responses.round) != self.responses.round {
                self.find_response(mode, leaf);
            }
        }
    }

    /// Finds the errors of the left limits of an instant, once they matter: they are those in the mode before.
    pub(crate) fn find_errors_before(&mut self, mode: ModeId, instant: &Instant) {
        if std::mem::replace(&mut self.event.errors_before_known, true) {
            return;
        }
        let here = std::mem::replace(&mut self.memory.values, instant.saved.clone());
        let truths = std::mem::take(&mut self.truths);
        self.set_truths(&truths);
        self.truths = truths;
        self.forget_derivatives();
        let structure = &self.modes[mode].structure;
        let unknowns = structure.unknowns.iter().zip(&structure.sigma.d);
        let leaves: Vec<Derivative> = unknowns
            .flat_map(|(&var, &highest)| (0..=highest).map(move |order| Derivative { var, order }))
            .collect();
        self.find_errors(mode, &leaves);
        self.scales.keep_left_limits();
        self.forget_derivatives();
        self.memory.values = here;
    }

    fn perturb(&mut self, mode: ModeId, need: Need) {
        let mut responses = std::mem::take(&mut self.responses);
        responses.mode = Some(mode);
        responses.need = Some(need);
        responses.round += 1;
        responses.known.resize(self.memory.values.len(), 0);
        responses.perturbed.clear();
        let states = self.modes[mode].plan().states.clone();
        let base = self.memory.values.clone();
        for pattern in 0..PATTERNS {
            let blur = Blur(pattern);
            for (at, &Derivative { var, order }) in states.iter().enumerate() {
                let slot = self.memory.slot(var, order) as usize;
                let error = self.scales.state_error(&self.memory, var, order);
                self.memory.values[slot] += blur.share(at as u64 + 1) * error;
            }
            let time = self.memory.time();
            self.memory
                .set_time(time + blur.share(0) * self.scales.time_error(time));
            // Where the equations have no solution nearby nothing is learnt.
            let plan = self.modes[mode].plan_mut();
            if plan.solve_blurred(&mut self.memory, blur, need).is_ok() {
                responses.perturbed.push((blur, self.memory.values.clone()));
            }
            self.memory.values.copy_from_slice(&base);
        }
        self.responses = responses;
    }

    /// Rounding errors of the rates of the states of a mode, whose solution is in memory: the larger of the deviations that
    /// were found, with its sign. Where they show after a step of the given size, also how the rates follow them.
    pub(crate) fn noise_of_rates(&mut self, mode: ModeId, step: f64) -> Vec<Vec<f64>> {
        let plan = self.modes[mode].plan();
        let (states, slots) = (plan.states.clone(), plan.derivative_slots.clone());
        let base = self.memory.values.clone();
        let mut noise = vec![0.0f64; slots.len()];
        let switches = self.silent_switches(mode);
        let sides: Vec<f64> = switches.iter().map(|switch| switch.value(&self.memory)).collect();
        for pattern in 0..PATTERNS {
            let blur = Blur(pattern);
            for &Derivative { var, order } in &states {
                let slot = self.memory.slot(var, order);
                self.memory.values[slot as usize] *= 1.0 + blur.rounding(u64::from(slot));
            }
            let plan = self.modes[mode].plan_mut();
            let solved = plan.solve_blurred(&mut self.memory, blur, Need::Rates).is_ok();
            // What switches is no rounding error: the rates jump by as much as they are.
            let switched = switches
                .iter()
                .zip(&sides)
                .any(|(switch, side)| switch.value(&self.memory) != *side);
            if solved && !switched {
                for (noise, &slot) in noise.iter_mut().zip(&slots) {
                    let change = self.memory.values[slot as usize] - base[slot as usize];
                    if change.abs() > noise.abs() && change.is_finite() {
                        *noise = change;
                    }
                }
            }
            self.memory.values.copy_from_slice(&base);
        }
        let mut all = vec![noise];
        while all.len() < NOISE_ORDERS && self.is_noticed(&states, &all, step) {
            let Some(next) = self.following_rates(mode, &all, step) else {
                break;
            };
            all.push(next);
        }
        all
    }

    /// The values in the equations of a mode that switch without an event: relations, signs.
    fn silent_switches(&mut self, mode: ModeId) -> Arc<[Bound]> {
        if let Some(known) = self.modes.silent_switches.get(&mode) {
            return known.clone();
        }
        let equations = self.modes[mode].structure.equations.iter();
        let mut switches: Vec<ExprId> = equations
            .flat_map(|&equation| self.compiled.silent_switches(equation))
            .copied()
            .filter(|&expression| {
                // Those have values between their jumps.
                !matches!(
                    self.model.pool.node(expression),
                    Node::Call { .. } | Node::Binary(BinaryFunction::Mod | BinaryFunction::Rem, ..)
                )
            })
            .collect();
        if switches.is_empty() {
            return Arc::default();
        }
        switches.sort_unstable();
        switches.dedup();
        let bound = |expression| Bound::of_value(&self.cache, &self.pool, expression, &self.memory).ok();
        let found: Arc<[Bound]> = switches.into_iter().filter_map(bound).collect();
        self.modes.silent_switches.insert(mode, found.clone());
        found
    }

    /// Whether the last of these rates, integrated over a step, is more than a small part of the tolerance of any state.
    fn is_noticed(&self, states: &[Derivative], rates: &[Vec<f64>], step: f64) -> bool {
        let moved = step.powi(rates.len() as i32);
        let noticed = |(&Derivative { var, order }, rate): (&Derivative, &f64)| {
            let relative = self.options.tolerance * self.memory.get(var, order).abs();
            let tolerance = relative + self.scales.state_tolerance(&self.memory, var, order);
            (moved * rate).abs() > NOTICED * tolerance
        };
        rates.last().is_some_and(|last| states.iter().zip(last).any(noticed))
    }

    /// How the rates of the states change where these have followed the last of the given ones for a step.
    fn following_rates(&mut self, mode: ModeId, rates: &[Vec<f64>], step: f64) -> Option<Vec<f64>> {
        let plan = self.modes[mode].plan();
        let (states, slots) = (plan.states.clone(), plan.derivative_slots.clone());
        let base = self.memory.values.clone();
        let moved = step.powi(rates.len() as i32);
        for (&Derivative { var, order }, rate) in states.iter().zip(rates.last()?) {
            let slot = self.memory.slot(var, order);
            self.memory.values[slot as usize] += moved * rate;
        }
        let solved = self.modes[mode].plan_mut().solve_rates(&mut self.memory).is_ok();
        let change = |&slot: &u32| (self.memory.values[slot as usize] - base[slot as usize]) / moved;
        let found: Vec<f64> = slots.iter().map(change).collect();
        self.memory.values.copy_from_slice(&base);
        (solved && found.iter().all(|rate| rate.is_finite())).then_some(found)
    }

    fn find_response(&mut self, mode: ModeId, Derivative { var, order }: Derivative) {
        let slot = self.memory.slot(var, order);
        if self.modes[mode].plan().is_state(Derivative { var, order }) {
            let error = self.scales.state_error(&self.memory, var, order);
            self.scales.set_response(var, order, error);
            return;
        }
        let beyond = order.saturating_sub(self.highest_order(mode, var));
        let value = self.memory.values[slot as usize];
        let mut perturbed = std::mem::take(&mut self.responses.perturbed);
        let mut response = 0.0f64;
        for (blur, values) in &mut perturbed {
            std::mem::swap(&mut self.memory.values, values);
            let known = beyond == 0 || self.extend_blurred(mode, &[Beyond { var, level: beyond }], Some(*blur));
            let change = (self.memory.values[slot as usize] - value).abs();
            if known && change.is_finite() {
                response = response.max(change);
            }
            std::mem::swap(&mut self.memory.values, values);
        }
        self.responses.perturbed = perturbed;
        self.scales.set_response(var, order, response);
    }
}

/// Rounding errors of a value, in units of the last place.
const ROUNDING_ULPS: f64 = 4.0;

/// One way in which values are off.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Blur(u64);

impl Blur {
    /// By what part of its error a value is off.
    fn share(self, at: u64) -> f64 {
        share_of_error(self.0, at)
    }

    /// A few rounding errors, in parts of a value.
    fn rounding(self, at: u64) -> f64 {
        ROUNDING_ULPS * f64::EPSILON * self.share(at)
    }

    /// How operations on the values in memory round.
    pub(crate) fn of_operations(self, memory: &Memory) -> Rounding<'_> {
        Rounding {
            pattern: self.0,
            relative: ROUNDING_ULPS * f64::EPSILON,
            varies: memory.varies(),
        }
    }
}
