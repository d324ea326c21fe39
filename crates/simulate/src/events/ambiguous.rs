//! Starts at which two modes fit: `s = if s > 0 then 2 else -2`. Which one is taken is a choice, and is reported.

use saltus_mdae::ConditionId;

use crate::engine::Engine;
use crate::events::candidate::{Accepted, CandidateVerdict, Instant};
use crate::events::condition::{Decided, Monitor};
use crate::events::refused::in_words;

/// Models with more conditions that select equations, or with more equations, are not looked at: each condition costs a mode.
const MOST_CONDITIONS: usize = 4;
const MOST_EQUATIONS: usize = 500;

/// A condition function of so many tolerances is clear of zero.
const CLEAR: f64 = 1e3;

impl Engine {
    /// Warns if the mode that was found at the start fits no better than the one with a condition the other way round. What is
    /// tried is tried on a copy: the run goes on as if nobody had looked.
    pub(crate) fn tell_other_fit(&mut self, accepted: &Accepted, instant: &Instant) {
        let choices = self.free_choices(instant);
        if !self.options.tell_choices
            || choices.is_empty()
            || choices.len() > MOST_CONDITIONS
            || self.model.equations.len() > MOST_EQUATIONS
        {
            return;
        }
        let Some(mode) = accepted.mode else { return };
        let moved = self.moved_starts_in(mode).len();
        for id in choices {
            if !self.is_clear_of_zero(id) {
                continue;
            }
            let mut other = self.clone();
            other.memory.values.clone_from(&instant.saved);
            other.forget_derivatives();
            let mut truths = accepted.truths.clone();
            truths[id] = !truths[id];
            let mut anew = instant.afresh();
            let Ok(CandidateVerdict::Accepted(fit)) = other.try_candidate(&truths, &mut anew) else {
                continue;
            };
            let another = fit.mode.is_some_and(|other_mode| {
                let valuation = |engine: &Engine, mode| engine.modes[mode].structure.valuation.clone();
                valuation(&other, other_mode) != valuation(self, mode)
                    && other.moved_starts_in(other_mode).len() <= moved
            });
            if another && fit.truths == truths && !fit.transient && other.is_clear_of_zero(id) {
                let taken = self.condition_text(id, accepted.truths[id]);
                let left = self.condition_text(id, truths[id]);
                self.reported.warnings.push(format!(
                    "at the start both `{taken}` and `{left}` fit the equations; `{taken}` is taken. A start value of what the \
                     condition reads chooses"
                ));
            }
        }
    }

    /// Conditions that select equations and that the search is free to choose.
    fn free_choices(&self, instant: &Instant) -> Vec<ConditionId> {
        let free = |id: &ConditionId, monitor: &Monitor| {
            monitor.switches_equations && monitor.decided == Decided::ByCandidate && instant.held[*id].is_none()
        };
        let monitors = self.monitors.iter_enumerated();
        let found = monitors.filter(|(id, monitor)| monitor.as_ref().is_some_and(|monitor| free(id, monitor)));
        found.map(|(id, _)| id).collect()
    }

    fn is_clear_of_zero(&mut self, id: ConditionId) -> bool {
        let Some(monitor) = self.monitors[id].clone() else {
            return false;
        };
        let reading = monitor.read(0, true, &self.memory, &self.scales, &mut self.scratch);
        reading.value.abs() > CLEAR * reading.tolerance
    }

    fn condition_text(&self, id: ConditionId, holds: bool) -> String {
        in_words(&[(self.model.conditions[id].text.to_string(), holds)])
    }
}
