//! Going on along a switching surface.
//!
//! Where both sides of a surface g = 0 drive to it, the run would switch to and fro without end. With
//! `--chattering=slide` it goes on along the surface (Filippov): with f⁺ where g > 0 and f⁻ where g < 0,
//!
//! ```text
//! y' = α f⁺ + (1 - α) f⁻,    α = ġ⁻ / (ġ⁻ - ġ⁺),    so that dg/dt = α ġ⁺ + (1 - α) ġ⁻ = 0
//! ```
//!
//! where ġ⁺ and ġ⁻ are the rates of g on the two sides. This is the limit of switching to and fro ever faster, and where the
//! model is linear in what is switched, α stands for the equivalent control. All other unknowns are the same combination of
//! their values on both sides; discrete variables are those of the side from which the surface was reached. It ends where α
//! leaves [0, 1]: an event, at which one of the sides no longer drives to the surface.
//!
//! Where events of a condition accumulate because every impact takes a part of the speed, `--zeno=rest` goes on from the
//! point of accumulation at rest on the surface: g = ġ = 0 are held by a reaction λ in the direction r in which the impacts
//! changed the states,
//!
//! ```text
//! y' = f + λ r,    λ = - L_f² g / (∇ġ · r),    so that d²g/dt² = 0
//! ```
//!
//! until the motion without reaction would leave the surface by itself.
//!
//! A side is everything that decides the motion there: mode, truth values and discrete values. The two sides are found by
//! crossing the surface to and fro with the conditions on it pinned, so that what when-clauses remember (relays) belongs to
//! the side; where a variable does not come back, it counts the crossings, and there is no limit to go on with. Switches
//! without events (`sign`, `noEvent`) are told apart by looking at points a little beside the surface.

mod begin;
mod flow;
mod phase;
mod rest;
mod side;

use std::sync::Arc;

use saltus_mdae::{ConditionId, OriginId};
use saltus_results::ModeRecord;

use super::Run;
use crate::engine::{Engine, ModeId};
use crate::events::condition::Monitor;
use crate::events::refused::in_words;
pub(super) use rest::Impact;
pub(super) use side::Side;

/// The surface that a run goes on along.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    monitor: Arc<Monitor>,
    /// The conditions that are zero on it.
    conditions: Vec<ConditionId>,
    text: Arc<str>,
    origins: Vec<OriginId>,
}

/// How it is kept to.
#[derive(Clone, Debug)]
enum Motion {
    /// By both sides: below, where the function is negative, and above.
    Sliding,
    /// By a reaction. `outward` is the sign of the function on the side where the motion is free.
    Resting { reaction: Vec<f64>, outward: f64 },
}

/// A run on a surface.
#[derive(Clone, Debug)]
pub(super) struct Slide {
    surface: Surface,
    motion: Motion,
    sides: Vec<Side>,
    /// The side whose discrete values are shown.
    shown: usize,
    /// The side to which the motion leaves the surface, once that is found.
    exit: Option<usize>,
    /// The conditions that were crossed on the way, with the sides on which they were.
    crossed: Vec<(usize, ConditionId)>,
    /// How far beside the surface the sides are looked at.
    beside: f64,
}

/// Why a run cannot go on along a surface, in words.
pub(super) type Obstacle = String;

/// The next thing to do on a surface after something has changed.
enum Decision {
    Stay,
    Leave(usize),
}

impl Slide {
    fn new(surface: Surface, motion: Motion, sides: Vec<Side>, shown: usize) -> Self {
        Slide {
            surface,
            motion,
            sides,
            shown,
            exit: None,
            crossed: Vec::new(),
            beside: 0.0,
        }
    }

    /// Puts all sides to a point on the surface.
    fn place(&mut self, engine: &Engine, y: &[f64]) {
        for side in &mut self.sides {
            if let Some(mode) = side.mode() {
                let mut point = y.to_vec();
                point.iter_mut().zip(&side.offset).for_each(|(y, offset)| *y += offset);
                engine.modes[mode].plan().write_states(&point, &mut side.memory);
            }
        }
    }

    /// What results call it: the surface, and what else says the mode.
    fn label(&self, engine: &mut Engine) -> (String, Vec<(String, bool)>) {
        let verb = match self.motion {
            Motion::Sliding => "sliding",
            Motion::Resting { .. } => "at rest",
        };
        let labels: Vec<Vec<(String, bool)>> = self
            .sides
            .iter()
            .map(|side| engine.compiled.guard_atoms(&side.memory))
            .collect();
        let differs = |atom: &&(String, bool)| labels.iter().all(|label| label.contains(atom));
        let common: Vec<(String, bool)> = match self.motion {
            Motion::Sliding => labels[0].iter().filter(differs).cloned().collect(),
            Motion::Resting { .. } => labels[0].clone(),
        };
        let others: Vec<(String, bool)> = common
            .iter()
            .filter(|(text, _)| **text != *self.surface.text)
            .cloned()
            .collect();
        let mut label = format!("{verb} on {}", self.surface.text);
        if !others.is_empty() {
            label = format!("{label}, {}", in_words(&others));
        }
        (label, common)
    }
}

impl Run {
    /// The number and words under which results show a way to go on, the same for the same words.
    fn record_of(&mut self, slide: &Slide) -> ModeRecord {
        let (label, valuation) = slide.label(&mut self.engine);
        if let Some(known) = self.slide_records.iter().find(|record| record.label == label) {
            return known.clone();
        }
        let ModeId(mode) = self.engine.modes.reserve();
        let record = ModeRecord {
            mode,
            label,
            valuation,
            since: None,
            structure: None,
        };
        self.slide_records.push(record.clone());
        record
    }
}
