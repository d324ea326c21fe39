//! Rates that grow beyond all bounds.
//!
//! On the way to a pole of the rates steps become as short as the distance to it, down to the rounding of time; there a step
//! may land on the other side, and integration would go on with what is no solution. Where such a step is hardly longer than
//! time is known, the rate has grown over it, and moves a state by more than its error all the same, the solution ends.
//! (A rate that jumps makes one step short, and those behind it become longer; towards a pole each is shorter than the one before.)

use saltus_mdae::Derivative;

use super::Run;
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};

/// Steps of so many units in the last place of time are hardly longer than time is known.
const SHORT: f64 = 256.0;
/// By how much a rate grows over a step towards a pole, at the least.
const GROWTH: f64 = 1.2;
/// So many steps in a row that become shorter are an approach.
const APPROACH: usize = 6;

/// How the lengths of the last steps went.
#[derive(Clone, Debug, Default)]
pub(super) struct Approach {
    last: f64,
    shorter: usize,
}

impl Approach {
    fn note(&mut self, length: f64) {
        self.shorter = if length < self.last { self.shorter + 1 } else { 0 };
        self.last = length;
    }
}

impl Run {
    /// Fails where the last step was one towards, or across, a pole of the rates.
    pub(super) fn unless_at_pole(&mut self, mode: ModeId, (from, to): (f64, f64)) -> Result<(), Failure> {
        self.approach.note(to - from);
        let is_long = to - from > SHORT * f64::EPSILON * from.abs().max(to.abs());
        if is_long || self.approach.shorter < APPROACH {
            return Ok(());
        }
        let states = self.engine.modes[mode].plan().states.clone();
        let mut slopes = [vec![0.0; states.len()], vec![0.0; states.len()]];
        self.integrator.interpolate_derivative(from, &mut slopes[0]);
        self.integrator.interpolate_derivative(to, &mut slopes[1]);
        let [first, last] = slopes;
        let growing = states
            .iter()
            .zip(first.iter().zip(&last))
            .find(|(state, (first, last))| {
                let size = self.engine.scales.size(state.var, state.order);
                let error =
                    self.engine.options.tolerance * size.max(self.engine.memory.get(state.var, state.order).abs());
                last.abs() > GROWTH * first.abs() && last.abs() * (to - from) > error
            });
        match growing {
            Some((&Derivative { var, order }, _)) => Err(Failure::new(FailureKind::Integration {
                reason: "a rate grows beyond all bounds: the solution ends here".to_owned(),
                variables: vec![self.engine.name(var, order)],
                origins: vec![self.engine.model.variables[var].origin],
            })
            .at(to)),
            None => Ok(()),
        }
    }
}
