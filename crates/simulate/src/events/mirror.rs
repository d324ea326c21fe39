//! The mirror image of a solution that lies on the wrong side of a condition.
//!
//! `dp = r*q^2` has two solutions, and the branch that holds for `q > 0` means one of them. Where nothing has gone before, iterations
//! may find the other one. Its mirror image at the surface of the condition is a guess for the right one.

use saltus_mdae::{ConditionId, Derivative, Idx};

use crate::engine::Engine;

impl Engine {
    /// Values to begin with: as before, but with the unknowns of iterations mirrored, from the solution in memory, at the surfaces of
    /// conditions that this contradicts. None if these read no such unknown.
    pub(crate) fn mirrored(&mut self, contradicted: &[ConditionId], before: &[f64]) -> Option<Vec<f64>> {
        let valuation = self.evaluate_guards();
        let mode = self.mode_of(&valuation).ok()?;
        let open: Vec<u32> = self.modes[mode].plan().iterated_slots().collect();
        let mut mirrored = before.to_vec();
        let mut moves = false;
        for &id in contradicted {
            let Some(monitor) = self.monitors[id].clone() else {
                continue;
            };
            let value = monitor
                .read(0, true, &self.memory, &self.scales, &mut self.scratch)
                .value;
            let gradient = monitor.gradient(&self.memory).into_iter();
            // In units of the sizes of the unknowns.
            let slopes: Vec<(u32, f64, f64)> = gradient
                .map(|(Derivative { var, order }, slope)| {
                    (self.memory.slot(var, order), slope, self.nominal[var.index()])
                })
                .filter(|(slot, _, _)| open.contains(slot))
                .collect();
            let length: f64 = slopes.iter().map(|(_, slope, size)| (slope * size).powi(2)).sum();
            if !(length > 0.0 && length.is_finite() && value.is_finite()) {
                continue;
            }
            for (slot, slope, size) in slopes {
                let slot = slot as usize;
                mirrored[slot] = self.memory.values[slot] - 2.0 * value * slope * size * size / length;
                moves = true;
            }
        }
        self.event.contradicted |= moves;
        moves.then_some(mirrored)
    }
}
