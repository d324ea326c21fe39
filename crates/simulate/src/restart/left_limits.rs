//! Left limits that the mode before does not have by itself.

use saltus_graph::Row;
use saltus_structure::restart::levels_beyond;

use crate::engine::{Engine, ModeId};
use crate::events::candidate::Instant;

impl Engine {
    /// Variables that were dead have their last value as left limit.
    pub(super) fn restore_left_limits(&mut self, from: Option<ModeId>, new: ModeId) {
        let Some(from) = from else { return };
        for at in 0..self.modes[from].structure.dead.len() {
            let var = self.modes[from].structure.dead[at];
            if self.modes[new].highest_order(var).is_some()
                && let Some(&last) = self.last_values.get(&var)
            {
                self.memory.set_left(var, 0, last);
            }
        }
    }

    /// Left limits of the derivatives that only the new mode needs, from the equations of the mode before.
    pub(super) fn extend_left_limits(&mut self, from: Option<ModeId>, new: ModeId, instant: &Instant) {
        let Some(from) = from else { return };
        let (modes, levels) = (&self.modes, &mut self.restarts.levels);
        let level = levels
            .entry((from, new))
            .or_insert_with(|| levels_beyond(&modes[from].system, &modes[new].system));
        let level = *level;
        if level == 0 {
            return;
        }
        let here = std::mem::replace(&mut self.memory.values, instant.saved.clone());
        let truths = self.truths.clone();
        self.set_truths(&truths);
        self.forget_derivatives();
        let extended = self.extend_jets(from, level);
        self.forget_derivatives();
        let before = std::mem::replace(&mut self.memory.values, here);
        for &var in &self.sets.unknowns {
            let Some(leading) = self.modes[from].highest_order(var) else {
                continue;
            };
            for order in leading + 1..(leading + level + 1).min(self.memory.orders(var)) {
                let value = before[self.memory.slot(var, order) as usize];
                self.memory
                    .set_left(var, order, if extended { value } else { f64::NAN });
            }
        }
    }

    /// The equations that hold in every mode; of those to be differentiated only the ones that the start values meet.
    /// (Two inertias joined by a shaft that start at different speeds: the joint acts from now on.)
    pub(super) fn unguarded_rows(&self, mode: ModeId) -> Vec<Row> {
        let structure = &self.modes[mode].structure;
        let holds = |row: usize| {
            let residual = self.model.equations[structure.equations[row]].residual;
            structure.sigma.c[row] == 0 || self.holds_at_start(residual)
        };
        let unguarded = |row: &usize| self.model.is_unguarded(structure.equations[*row]) && holds(*row);
        (0..structure.equations.len())
            .filter(unguarded)
            .map(Row::from_index)
            .collect()
    }
}
