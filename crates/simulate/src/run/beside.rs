//! Instants at which the equations of a mode are not defined, though they are right beside.
//!
//! `y = if x > 0 then sin(x)/x else 1` with x = time is 1 at zero and sin(x)/x behind it; the first value of that mode is the limit
//! from the right, and the last value of a mode that ends in such a point the limit from the left. A condition of time is
//! crossed exactly, so both are met. (What a state decides is located only beyond the rounding of the state.) The limit
//! is taken from a point so near that nothing else changes on the way; a mode that is not defined there either fails.

use saltus_mdae::ConditionId;

use super::Run;
use super::slide::Side;
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};
use crate::report::EventReport;

/// How far beside the point, in parts of the run.
const BESIDE: f64 = 1e-13;
/// How much values at one and two such distances may differ, in parts of them.
const NEARLY: f64 = 1e-2;

impl Run {
    /// What happens at an event; where the mode that follows is not defined at its very instant, right behind it.
    pub(super) fn event_or_behind(&mut self, triggers: &[ConditionId]) -> Result<EventReport, Failure> {
        let by_time = self.event_is_of_time(triggers);
        let before = by_time.then(|| Side::present(&self.engine));
        let failure = match self.engine.event(triggers, false) {
            Err(failure) if is_undefined(&failure) => failure,
            found => return found,
        };
        let Some(before) = before else { return Err(failure) };
        let time = before.memory.time();
        let failed = self.engine.event.failed_event.take();
        let step = self.step_aside();
        // Twice as far first: what differs has no limit.
        let farther = self.event_behind(&before, triggers, time + 2.0 * step).is_ok();
        let there = farther.then(|| self.what_is_shown());
        match (there, self.event_behind(&before, triggers, time + step)) {
            (Some(there), Ok(mut report)) if is_limit(&self.what_is_shown(), &there) => {
                report.time = time;
                self.enter_behind(time);
                Ok(report)
            }
            _ => {
                before.enter(&mut self.engine);
                self.engine.event.failed_event = failed;
                Err(failure)
            }
        }
    }

    /// The same event a little later.
    fn event_behind(&mut self, before: &Side, triggers: &[ConditionId], time: f64) -> Result<EventReport, Failure> {
        before.clone().enter(&mut self.engine);
        self.engine.memory.set_time(time);
        // What a mode change does not touch keeps its value: it has to be that of this time.
        if let Some(mode) = self.engine.mode {
            self.engine.solve_mode(mode)?;
        }
        self.engine.event(triggers, false)
    }

    /// Values at the start, which are those right behind it where the equations are not defined there.
    pub(super) fn initialise_behind(&mut self, failure: Failure) -> Result<Vec<EventReport>, Failure> {
        if !is_undefined(&failure) {
            return Err(failure);
        }
        let start = self.engine.options.start;
        let step = self.step_aside();
        self.engine.memory.set_time(start + 2.0 * step);
        let there = self.initialise_with_delays().is_ok().then(|| self.what_is_shown());
        self.engine.memory.set_time(start + step);
        match (there, self.initialise_with_delays()) {
            (Some(there), Ok(mut reports)) if is_limit(&self.what_is_shown(), &there) => {
                reports.iter_mut().for_each(|report| report.time = start);
                self.enter_behind(start);
                Ok(reports)
            }
            _ => {
                self.engine.memory.set_time(start);
                Err(failure)
            }
        }
    }

    /// Moves to the end of what a mode integrates; where it is not defined there, the values are those right before it.
    pub(super) fn move_to_end(&mut self, mode: ModeId, begin: f64, end: f64) -> Result<(), Failure> {
        let failure = match self.move_to(mode, end) {
            Err(failure) if is_undefined(&failure) => failure,
            done => return done,
        };
        // A crossing is located a little behind it: where the argument of a logarithm has passed zero already.
        for aside in [self.step_aside(), ASIDE * self.location_width] {
            let before = end - aside;
            if before > begin && self.move_to(mode, before).is_ok() {
                self.engine.memory.set_time(end);
                return Ok(());
            }
        }
        Err(failure)
    }

    /// Integration begins behind the instant that is shown.
    fn enter_behind(&mut self, shown: f64) {
        self.behind = Some(self.engine.memory.time());
        self.engine.memory.set_time(shown);
    }

    pub(super) fn go_behind(&mut self) {
        if let Some(time) = self.behind.take() {
            self.engine.memory.set_time(time);
        }
    }

    /// Variables and rates of states.
    fn what_is_shown(&self) -> Vec<f64> {
        let engine = &self.engine;
        let values = engine.model.variables.ids().map(|var| engine.memory.get(var, 0));
        let plan = engine.mode.map(|mode| engine.modes[mode].plan());
        let rates = plan.into_iter().flat_map(|plan| &plan.derivative_slots);
        values
            .chain(rates.map(|&slot| engine.memory.values[slot as usize]))
            .collect()
    }

    fn event_is_of_time(&self, triggers: &[ConditionId]) -> bool {
        let is_affine = |id: ConditionId| {
            self.engine.monitors[id]
                .as_ref()
                .is_some_and(|monitor| monitor.affine_in_time)
        };
        triggers
            .iter()
            .any(|&id| self.lookahead.is_of_time(id) || is_affine(id))
    }

    /// Where the time of an event is so near that no step leads there because the mode is not defined at its very end.
    pub(super) fn is_nearly_at(&self, time: f64) -> bool {
        time - self.integrator.time() <= self.step_aside()
    }

    fn step_aside(&self) -> f64 {
        let options = &self.engine.options;
        let rounding = 16.0 * self.engine.scales.time_error(self.engine.memory.time());
        rounding.max(BESIDE * (options.stop - options.start))
    }
}

/// How far to step aside from a crossing, in parts of the width to which it is located.
const ASIDE: f64 = 4.0;

/// Whether values near a point are those of a limit: near a pole they differ from those twice as far.
fn is_limit(near: &[f64], far: &[f64]) -> bool {
    let same = |(near, far): (&f64, &f64)| {
        let differ = (near - far).abs() > NEARLY * near.abs().max(far.abs()).max(1.0);
        !differ && near.is_finite() == far.is_finite()
    };
    near.len() == far.len() && near.iter().zip(far).all(same)
}

/// Whether a point is one at which equations are not defined.
fn is_undefined(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Domain { .. })
}
