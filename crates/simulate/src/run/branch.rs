//! Constraints that hold on several branches.
//!
//! Of two ends of a rod, one coordinate follows from the others: there are two places at the same distance, and both satisfy all
//! equations. Steps that are long against the distance of the two could go on with the wrong one, and nothing else would tell.
//! While coordinates stay the same, the determinant by which dummies follow from states keeps its sign along a motion. So a
//! step at whose end it has another one is taken back, and shorter ones come near enough to the point where the branches meet
//! for other states to be chosen.

use super::step::Resumption;
use super::{PhaseState, Run};
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};

/// Signs of determinants; none where there is no choice, or no sign.
pub(super) type Orientation = Vec<Option<bool>>;

impl Run {
    /// On which branches the point in memory is.
    pub(super) fn orientation(&self, mode: ModeId) -> Orientation {
        let runtime = &self.engine.modes[mode];
        if runtime.chooses_states() {
            runtime.orientation(&self.engine.memory)
        } else {
            Vec::new()
        }
    }

    /// Goes back to the beginning of a step that ends on another branch.
    pub(super) fn take_back_flip(&mut self, phase: &mut PhaseState, step: (f64, f64)) -> Result<bool, Failure> {
        let mode = phase.mode;
        if phase.orientation.is_empty() || self.move_to(mode, step.1).is_err() {
            return Ok(false);
        }
        let now = self.orientation(mode);
        let flipped = |(before, now): (&Option<bool>, &Option<bool>)| matches!((before, now), (Some(before), Some(now)) if before != now);
        if !phase.orientation.iter().zip(&now).any(flipped) {
            phase.orientation = now;
            return Ok(false);
        }
        self.move_to(mode, step.0)?;
        let middle = step.0 + 0.5 * (step.1 - step.0);
        if middle <= step.0 || middle >= step.1 {
            return Err(Failure::new(FailureKind::Integration {
                reason: "the constraints have several solutions, and which of them goes on is not decided here"
                    .to_owned(),
                variables: Vec::new(),
                origins: self.fastest_states(),
            })
            .at(step.0));
        }
        phase.pieces.push(middle);
        self.aim(phase);
        self.sampled = None;
        self.rates_told = None;
        self.restart_integrator(mode, Resumption::Break)?;
        Ok(true)
    }
}
