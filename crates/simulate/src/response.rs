//! How well the variables of a mode are known: their responses to errors of its states.
//!
//! A clearance `s = table - y` is zero at the contact, but it is known no better than table and y are: a solver that keeps y
//! to its tolerance may leave s on the wrong side by that much. What does not depend on the states at all, like the voltage
//! across a closed switch, responds with rounding only, in every derivative. So the mode is solved again at states that are
//! off by their errors, some up and some down, and with every value on the way off by a few rounding errors; what changes is
//! the error of everything else, whatever its unit.

use rustc_hash::FxHashSet;
use saltus_mdae::VarId;

use crate::engine::{Engine, ModeId};

/// Ways in which states are off.
const PATTERNS: u64 = 2;

/// The mode in memory at states that are off by their errors.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    mode: Option<ModeId>,
    /// All values, for each way.
    perturbed: Vec<(Blur, Vec<f64>)>,
    /// Leaves whose errors are known.
    known: FxHashSet<(VarId, u16)>,
}

impl Engine<'_> {
    /// The values in memory are others.
    pub(crate) fn forget_derivatives(&mut self) {
        self.jet_level = 0;
        self.responses.mode = None;
    }

    /// Finds the errors of derivatives of variables in a mode, whose solution is in memory.
    pub(crate) fn find_errors(&mut self, mode: ModeId, leaves: &[(VarId, u16)]) {
        if self.responses.mode != Some(mode) {
            self.perturb(mode);
        }
        let model = self.model;
        let unknown = |leaf: &&(VarId, u16)| model.is_unknown(leaf.0);
        for &leaf in leaves.iter().filter(unknown) {
            if self.responses.known.insert(leaf) {
                self.find_response(mode, leaf);
            }
        }
    }

    /// Finds the errors of the left limits in memory.
    pub(crate) fn find_errors_before(&mut self) {
        let Some(mode) = self.mode else { return };
        let structure = &self.modes[mode].structure;
        let unknowns = structure.unknowns.iter().zip(&structure.sigma.d);
        let leaves: Vec<(VarId, u16)> = unknowns
            .flat_map(|(&var, &highest)| (0..=highest).map(move |order| (var, order)))
            .collect();
        self.find_errors(mode, &leaves);
        self.scales.keep_left_limits();
    }

    fn perturb(&mut self, mode: ModeId) {
        let mut responses = std::mem::take(&mut self.responses);
        responses.mode = Some(mode);
        responses.known.clear();
        responses.perturbed.clear();
        let states = self.modes[mode].plan().states.clone();
        let base = self.memory.values.clone();
        for pattern in 0..PATTERNS {
            let blur = Blur(pattern);
            for (at, &(var, order)) in states.iter().enumerate() {
                let slot = self.memory.slot(var, order) as usize;
                let error = self.scales.state_error(&self.memory, var, order);
                self.memory.values[slot] += blur.share(at as u64 + 1) * error;
            }
            let time = self.memory.time();
            self.memory
                .set_time(time + blur.share(0) * self.scales.time_error(time));
            // Where the equations have no solution nearby nothing is learnt.
            let plan = self.modes[mode].plan_mut();
            if plan.solve_blurred(&mut self.memory, blur).is_ok() {
                responses.perturbed.push((blur, self.memory.values.clone()));
            }
            self.memory.values.copy_from_slice(&base);
        }
        self.responses = responses;
    }

    fn find_response(&mut self, mode: ModeId, (var, order): (VarId, u16)) {
        let slot = self.memory.slot(var, order);
        if self.modes[mode].plan().states.contains(&(var, order)) {
            let error = self.scales.state_error(&self.memory, var, order);
            self.scales.set_response(slot, error);
            return;
        }
        let beyond = order.saturating_sub(self.highest_order(mode, var));
        let value = self.memory.values[slot as usize];
        let mut perturbed = std::mem::take(&mut self.responses.perturbed);
        let mut response = 0.0f64;
        for (blur, values) in &mut perturbed {
            std::mem::swap(&mut self.memory.values, values);
            let known = beyond == 0 || self.extend_blurred(mode, &[(var, beyond)], Some(*blur));
            let change = (self.memory.values[slot as usize] - value).abs();
            if known && change.is_finite() {
                response = response.max(change);
            }
            std::mem::swap(&mut self.memory.values, values);
        }
        self.responses.perturbed = perturbed;
        self.scales.set_response(slot, response);
    }
}

/// Rounding errors of a value, in units of the last place.
const ROUNDING_ULPS: f64 = 4.0;

/// One way in which values are off.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Blur(u64);

impl Blur {
    /// By what part of its error a value is off: between half and all of it, up or down, differently for each.
    fn share(self, at: u64) -> f64 {
        let mut z = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (self.0 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let size = 0.5 + 0.5 * (z >> 11) as f64 / (1u64 << 53) as f64;
        if z & 1 == 0 { size } else { -size }
    }

    /// A few rounding errors, in parts of a value.
    pub(crate) fn rounding(self, at: u64) -> f64 {
        ROUNDING_ULPS * f64::EPSILON * self.share(at)
    }
}
