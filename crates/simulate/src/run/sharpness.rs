//! Crossings that are errors of the integrator.
//!
//! A condition may read the small difference of large quantities, of which one follows the other within a time far below
//! the steps: the current `(u - v)/1e-5` through a diode into a capacitor that hangs on a source. v is kept to a millionth,
//! and the current has the sign of its error. Such a crossing is contradicted by the rates: at the very point where it is
//! located they drive the function back, within a step by more than it is known. So the step is taken again with a sharper
//! tolerance, which the mode keeps for its next visits. (An implicit method follows what is fast as closely as its equations
//! are solved, whatever its steps are; so this costs little.)
//!
//! What is left where rounding ends this is no reason to give up: a crossing that the rates do not confirm has not happened
//! until the function is clear of its error on the other side. Before that, it is none if no mode follows.

use saltus_mdae::{ConditionId, Idx};

use super::slide::Side;
use super::step::Resumption;
use super::{PhaseState, Run};
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};

/// How much smaller the tolerance becomes each time.
const SHARPER: f64 = 1e-2;

/// What is known of the crossing of a condition function.
struct Course {
    /// Whether the function is as small as its error.
    is_zero: bool,
    /// How fast the rates drive it to the side that its truth value says: less than zero where they confirm the crossing.
    back: f64,
    /// The errors of the function and of its rate.
    errors: [f64; 2],
}

impl Run {
    /// A phase begins in a mode.
    pub(super) fn begin_sharpness(&mut self, mode: ModeId) {
        let sharpened = self.visits.get(&mode).map_or(0, |visit| visit.sharpened);
        self.engine.scales.set_sharpness(SHARPER.powi(sharpened));
    }

    /// Goes back to the beginning of a step whose crossings the rates contradict, if the tolerance can be sharper.
    pub(super) fn take_back_crossing(
        &mut self,
        phase: &PhaseState,
        step: (f64, f64),
        (time, triggers): &(f64, Vec<ConditionId>),
    ) -> Result<bool, Failure> {
        let mode = phase.mode;
        if self.is_as_sharp_as_can_be() {
            return Ok(false);
        }
        self.move_to_end(mode, step.0, *time)?;
        let span = step.1 - step.0;
        let contradicted = |course: Course| course.is_zero && course.back * span > course.errors[0];
        let all = triggers
            .iter()
            .all(|&id| self.course(mode, id).is_some_and(contradicted));
        if !all {
            return Ok(false);
        }
        self.visits.entry(mode).or_default().sharpened += 1;
        self.begin_sharpness(mode);
        self.move_to(mode, step.0)?;
        self.sampled = None;
        self.rates_told = None;
        self.restart_integrator(mode, Resumption::Break)?;
        Ok(true)
    }

    /// Whether nothing but the error of the integrator says that these conditions cross zero.
    pub(super) fn is_doubtful_crossing(&mut self, triggers: &[ConditionId]) -> bool {
        let Some(mode) = self.engine.mode.filter(|_| self.engine.scales.sharpness() < 1.0) else {
            return false;
        };
        let doubtful = |course: Course| course.is_zero && course.back >= -course.errors[1];
        let all = triggers
            .iter()
            .all(|&id| self.watches[id.index()].is_armed() && self.course(mode, id).is_some_and(doubtful));
        all && !triggers.is_empty()
    }

    /// Whether an event was none, because nothing follows a crossing that is doubtful.
    pub(super) fn pass_over(&mut self, before: Option<Side>, failure: Option<&Failure>) -> bool {
        let nothing_follows = |failure: &Failure| {
            matches!(
                failure.kind,
                FailureKind::Chattering { .. } | FailureKind::NoConsistentMode { .. }
            )
        };
        match before {
            Some(before) if failure.is_some_and(nothing_follows) => {
                before.enter(&mut self.engine);
                self.engine.event.failed_event = None;
                self.engine.event.clear.fill(false);
                true
            }
            _ => false,
        }
    }

    pub(super) fn is_as_sharp_as_can_be(&self) -> bool {
        let sharpness = self.engine.scales.sharpness();
        self.tolerance_at(SHARPER * sharpness) >= self.tolerance_at(sharpness)
    }

    /// The course of a condition function at the point in memory; `None` where it is not known.
    fn course(&mut self, mode: ModeId, id: ConditionId) -> Option<Course> {
        let engine = &mut self.engine;
        let monitor = engine.monitor_in(id, mode)?;
        let rate = engine.derivative(&monitor, mode, 1)?;
        let back = if engine.truths[id] { rate.value } else { -rate.value };
        if back < 0.0 && engine.scales.sharpness() == 1.0 {
            return None;
        }
        engine.find_errors(mode, monitor.reads(0));
        engine.find_errors(mode, monitor.reads(1));
        let value = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
        let rate = engine.derivative(&monitor, mode, 1)?;
        Some(Course {
            is_zero: value.value.abs() <= value.tolerance,
            back,
            errors: [value.tolerance, rate.tolerance],
        })
    }
}
