//! How the values at the start change with parameters.

use std::sync::Arc;

use saltus_mdae::{Role, VarId};

use super::{Direction, Variation};
use crate::compiled::Compiled;
use crate::error::Failure;
use crate::events::sample::Ticks;
use crate::options::Options;
use crate::run::{Request, Run};

/// Steps of differences in parts of the size of the parameter; the next is taken where the first leads to another mode.
const STEPS: [f64; 2] = [1e-3, 1e-5];

/// Multiples of the step with their weights: everything up to the fourth power cancels.
pub(super) const STENCIL: [(f64, f64); 4] = [
    (1.0, 8.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (2.0, -1.0 / 12.0),
    (-2.0, 1.0 / 12.0),
];

impl Variation<'_> {
    /// Derivatives of the values at the start.
    pub(super) fn begin(
        &mut self,
        compiled: &Arc<Compiled>,
        request: &Request,
        options: &Options,
    ) -> Result<(), Failure> {
        for at in 0..self.asked.parameters.len() {
            let var = self.asked.parameters[at];
            let direction = self.direction_at_start(compiled, request, options, var)?;
            self.directions.push(direction);
        }
        Ok(())
    }

    fn direction_at_start(
        &self,
        compiled: &Arc<Compiled>,
        request: &Request,
        options: &Options,
        var: VarId,
    ) -> Result<Direction, Failure> {
        let run = &self.stepper.run;
        let engine = &run.engine;
        let value = engine.memory.get(var, 0);
        let nominal = engine.nominal[saltus_mdae::Idx::index(var)];
        let scale = if value == 0.0 { nominal } else { value.abs() };
        let name = &engine.model.variables[var].name;
        let time = engine.memory.time();
        let mut direction = Direction {
            scale,
            slots: vec![0.0; engine.memory.values.len()],
            last_values: Default::default(),
            ticks: vec![Ticks::default(); engine.samples.len()],
            problem: None,
        };
        debug_assert!(engine.model.variables[var].role == Role::Parameter);
        let mut reason = String::new();
        for step in STEPS {
            let h = step * scale;
            let moved =
                STENCIL.map(|(multiple, _)| moved_start(compiled, request, options, (var, value + multiple * h)));
            let mut runs = Vec::new();
            for moved in moved {
                match moved {
                    Ok(moved) if is_alike(&moved, run) => runs.push(moved),
                    Ok(_) => reason = format!("the run begins in another mode for nearby values of `{name}`"),
                    Err(failure) => reason = format!("a run for a nearby value of `{name}` does not begin: {failure}"),
                }
            }
            if runs.len() == STENCIL.len() {
                difference(&mut direction, &runs, h);
                direction.slots[engine.memory.slot(var, 0) as usize] = 1.0;
                return Ok(direction);
            }
        }
        direction.give_up(time, reason);
        Ok(direction)
    }
}

fn moved_start(
    compiled: &Arc<Compiled>,
    request: &Request,
    options: &Options,
    (var, value): (VarId, f64),
) -> Result<Run, Failure> {
    let mut request = request.clone();
    request.parameters.retain(|(known, _)| *known != var);
    request.parameters.push((var, value));
    let (run, begun) = Run::begin(compiled, request, options)?;
    begun.map(|_| run)
}

/// Whether two runs are in the same mode, for the same reasons.
pub(super) fn is_alike(a: &Run, b: &Run) -> bool {
    let mode = |run: &Run| {
        let engine = &run.engine;
        engine.mode.map(|mode| engine.modes[mode].structure.valuation.clone())
    };
    a.engine.truths == b.engine.truths
        && mode(a) == mode(b)
        && a.engine.memory.values.len() == b.engine.memory.values.len()
        && a.engine.samples.len() == b.engine.samples.len()
        && a.slide.is_some() == b.slide.is_some()
}

/// Derivatives of everything in memory along a line of runs.
pub(super) fn difference(direction: &mut Direction, runs: &[Run], h: f64) {
    let weighted = |value: &dyn Fn(&Run) -> f64| -> f64 {
        // Pairs first, so that what does not change gives exactly zero.
        let near = value(&runs[0]) - value(&runs[1]);
        let far = value(&runs[2]) - value(&runs[3]);
        let slope = (STENCIL[0].1 * near + STENCIL[2].1 * far) / h;
        if slope.is_finite() { slope } else { 0.0 }
    };
    for slot in 0..direction.slots.len() {
        direction.slots[slot] = weighted(&|run| run.engine.memory.values[slot]);
    }
    let known = &runs[0].engine;
    for var in known.model.variables.ids() {
        if known.last_values.contains_key(&var) {
            let slope = weighted(&|run| run.engine.last_values.get(&var).copied().unwrap_or(f64::NAN));
            direction.last_values.insert(var, slope);
        }
    }
    for (at, ticks) in direction.ticks.iter_mut().enumerate() {
        *ticks = Ticks {
            start: weighted(&|run| run.engine.samples[at].ticks().start),
            interval: weighted(&|run| run.engine.samples[at].ticks().interval),
        };
    }
}
