//! Rates that hide something between the points at which the integrator looks at them.
//!
//! An integrator sees the rates of states at a few points of a step. What is narrower than their distance (a peak of
//! `exp(-((time - t0)/w)^2)`, a branch of a function that is taken for a short while) may lie between them, and the step looks
//! smooth. As with conditions, the arguments of such functions tell ([`crate::events::resolution`]): where they say that
//! samples do not show the course of the rates, the step is cut into pieces on which they do, and what the rates are there is
//! compared with what the integrator took them for. If the difference would move a state by more than its tolerance, the step is
//! taken back, and the pieces are integrated one by one. The same for delayed expressions: the past is kept as one polynomial a
//! step, and what that misses has to be recorded piece by piece.

use saltus_numerics::EvalError;
use saltus_numerics::ode::Integrator;
use saltus_numerics::roots::{ConditionFunctions, Course, Cut, ScanOptions, told_by_three, told_pieces};

use super::{Cancel, PhaseState, Resumption, Run};
use crate::engine::ModeId;
use crate::error::Failure;
use crate::modes::ode::ModeOde;

/// Values of arguments that may be computed to look for fast rates in steps that three samples do not show; what turns more often
/// is left to the error control. Transistors have thousands of arguments, so it is values that are counted, not pieces.
pub(super) const MOST_VALUES: f64 = 3e7;
/// What following a statement of a function costs, in values.
const VALUES_PER_STATEMENT: f64 = 10.0;
/// Samples that each step adds to what may be computed: a run of many steps spends about as much as its steps do.
const SAMPLES_PER_STEP: f64 = 8.0;
/// Parts into which a piece is cut where it has to be recorded.
const PARTS_OF_PAST: u32 = 4;
/// Errors of a step that are no sign of something hidden, in parts of the tolerance.
const OF_TOLERANCE: f64 = 10.0;

/// The arguments that show the course of the rates, along the dense output of a step.
struct Rates<'a, 'b> {
    ode: &'a mut ModeOde<'b>,
    integrator: &'a dyn Integrator,
    affordable: &'a mut f64,
    cancel: &'a Cancel,
    y: Vec<f64>,
}

impl Rates<'_, '_> {
    /// The arguments at a time.
    fn sample(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        if self.cancel.is_cancelled() {
            return Err(EvalError::fatal("the run is cancelled"));
        }
        self.integrator.interpolate(t, &mut self.y);
        self.ode.evaluate_for_rates(t, &self.y)?;
        values.clear();
        if let Some(rates) = self.ode.code.rates() {
            let functions = &self.ode.tools.model.functions;
            let work = rates.arguments.evaluate(functions, self.ode.memory, values);
            *self.affordable -= VALUES_PER_STATEMENT * work as f64;
        }
        Ok(())
    }
}

impl ConditionFunctions for Rates<'_, '_> {
    fn count(&self) -> usize {
        0
    }

    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        self.sample(t, values)?;
        *self.affordable -= values.len() as f64;
        self.afford(0.0)
    }

    fn cut(&self, argument: usize, course: &Course) -> Cut {
        let arguments = self.ode.code.rate_arguments();
        arguments.map_or(Cut::Nowhere, |arguments| arguments.cut(argument, course))
    }

    fn afford(&mut self, parts: f64) -> Result<(), EvalError> {
        if parts > *self.affordable {
            Err(EvalError::recoverable("too many values"))
        } else {
            Ok(())
        }
    }
}

/// Each piece in equal parts: samples show a course long before a polynomial has all its digits.
fn divided(begin: f64, pieces: &[f64]) -> Vec<f64> {
    let lefts = std::iter::once(begin).chain(pieces.iter().copied());
    let spans = lefts.zip(pieces);
    spans
        .flat_map(|(left, &right)| {
            let part = move |k: u32| left + (right - left) * f64::from(k) / f64::from(PARTS_OF_PAST);
            (1..PARTS_OF_PAST).map(part).chain(std::iter::once(right))
        })
        .collect()
}

impl Run {
    /// Takes a step back in which the rates hide something: whether it did.
    pub(super) fn take_back(&mut self, phase: &mut PhaseState, step: (f64, f64)) -> Result<bool, Failure> {
        if step.1 <= phase.resolved_until {
            return Ok(false);
        }
        let affordable = self.affordable_values;
        let Some(mut pieces) = self.pieces_of_rates(phase.mode, step) else {
            return Ok(false);
        };
        let hides_past = self.hides_past(phase.mode, step, &pieces);
        let hides = hides_past || self.hides_rates(phase.mode, step.0, &pieces);
        if hides {
            // It was worth its cost.
            self.affordable_values = affordable;
        }
        self.move_to(phase.mode, if hides { step.0 } else { step.1 })?;
        if !hides {
            return Ok(false);
        }
        if hides_past {
            pieces = divided(step.0, &pieces);
            self.history.divided(&pieces);
        }
        phase.resolved_until = step.1;
        pieces.reverse();
        phase.pieces = pieces;
        self.aim(phase);
        self.sampled = None;
        self.restart_integrator(phase.mode, Resumption::Break)?;
        Ok(true)
    }

    /// Sets where the next steps have to end.
    pub(super) fn aim(&mut self, phase: &mut PhaseState) {
        let now = self.engine.memory.time();
        while phase.pieces.last().is_some_and(|&end| end <= now) {
            phase.pieces.pop();
        }
        let piece = phase.pieces.last().copied().unwrap_or(f64::INFINITY);
        let next_break = self.history.next_break(&self.engine.memory);
        let stop = self.engine.options.stop;
        phase.target = phase.time_event.min(stop).min(next_break).min(piece);
    }

    /// The ends of the pieces of a step on which samples show the course of the rates; `None` if that is the whole step.
    fn pieces_of_rates(&mut self, mode: ModeId, step: (f64, f64)) -> Option<Vec<f64>> {
        let mut ode = self.engine.ode(mode, &self.history);
        if ode.code.states.is_empty() || !ode.code.watch_rates(ode.tools, ode.pool, ode.memory) {
            return None;
        }
        if !ode.code.rates().is_none_or(|rates| rates.arguments.begin_search()) {
            self.rates_told = None;
        }
        let y = vec![0.0; ode.code.states.len()];
        let mut rates = Rates {
            ode: &mut ode,
            integrator: &*self.integrator,
            affordable: &mut self.affordable_values,
            cancel: &self.request.cancel,
            y,
        };
        // Most steps are resolved by their ends and their middle; the first is the end of the step before.
        let known = self.rates_told.take().filter(|(time, _)| *time == step.0);
        let times = [step.0, 0.5 * (step.0 + step.1), step.1];
        let mut samples: [Vec<f64>; 3] = std::array::from_fn(|_| Vec::new());
        for (at, (time, sample)) in times.into_iter().zip(&mut samples).enumerate() {
            match &known {
                Some((_, known)) if at == 0 => sample.clone_from(known),
                _ => rates.sample(time, sample).ok()?,
            }
        }
        *rates.affordable += SAMPLES_PER_STEP * samples[2].len() as f64;
        if told_by_three(&rates, samples.each_ref().map(Vec::as_slice)) {
            let [.., last] = samples;
            self.rates_told = Some((step.1, last));
            return None;
        }
        let pieces = told_pieces(&mut rates, step, &ScanOptions::default());
        pieces.ok().filter(|pieces| pieces.len() > 1)
    }

    /// Whether what will be recorded of a step for delays misses what the delayed expressions are in the middle of pieces.
    fn hides_past(&mut self, mode: ModeId, step: (f64, f64), pieces: &[f64]) -> bool {
        if self.history.is_empty() {
            return false;
        }
        let mut recording = self.history.recording(step, self.engine.options.tolerance);
        let mut ode = self.engine.ode(mode, &self.history);
        let mut y = vec![0.0; ode.code.states.len()];
        let mut values = |time: f64| {
            self.integrator.interpolate(time, &mut y);
            let known = ode.evaluate(time, &y).is_ok();
            known.then(|| self.history.expressions(ode.memory))
        };
        while let Some(time) = recording.next_point() {
            let Some(values) = values(time) else { return false };
            recording.push(values);
        }
        let mut left = step.0;
        pieces.iter().any(|&right| {
            let middle = 0.5 * (left + right);
            left = right;
            values(middle).is_some_and(|values| recording.misses(middle, &values))
        })
    }

    /// Whether the rates in the middle of pieces differ from what the integrator took them for by more than a tolerance.
    fn hides_rates(&mut self, mode: ModeId, begin: f64, pieces: &[f64]) -> bool {
        let mut ode = self.engine.ode(mode, &self.history);
        let count = ode.code.states.len();
        let (mut y, mut assumed, mut moved) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        let mut left = begin;
        for &right in pieces {
            let middle = 0.5 * (left + right);
            self.integrator.interpolate(middle, &mut y);
            self.integrator.interpolate_derivative(middle, &mut assumed);
            if ode.evaluate(middle, &y).is_err() {
                return false;
            }
            for (at, &slot) in ode.code.derivative_slots.iter().enumerate() {
                moved[at] += (right - left) * (ode.memory.values[slot as usize] - assumed[at]).abs();
            }
            left = right;
        }
        let options = self.integrator.options();
        let tolerance = |at: usize| options.atol.get(at) + options.rtol * y[at].abs();
        moved
            .iter()
            .enumerate()
            .any(|(at, moved)| *moved > OF_TOLERANCE * tolerance(at))
    }
}
