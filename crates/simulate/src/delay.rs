//! Delayed signals: what an expression was some time ago.
//!
//! The past is kept as one polynomial per step of the integrator, through values at Chebyshev–Lobatto points of its
//! dense output: five of them, or nine where five do not reproduce a further value within the tolerance. A delayed
//! signal is therefore as exact as the solution itself. Where the past has a jump or a kink (the start, an event) the
//! signal has one a delay later; the run does not step across such a *break*. Each break smooths the solution by one
//! order and makes the next one; [`GENERATIONS`] of them are enough for the orders of the integrators.

use std::collections::VecDeque;

use saltus_codegen::KernelCache;
use saltus_mdae::{ExprPool, Mdae, VarId};

use crate::error::Failure;
use crate::kernel::Bound;
use crate::memory::Memory;

/// Breaks followed after the event that made the first one.
const GENERATIONS: u32 = 8;
/// Degrees of the polynomials: the points of the lower one are among those of the higher one.
const DEGREES: [usize; 2] = [4, 8];
/// Segments before the oldest that can still be asked for are forgotten in pieces of this size.
const FORGOTTEN_TOGETHER: usize = 256;

/// A step of the past.
#[derive(Clone, Debug)]
struct Segment {
    start: f64,
    end: f64,
    /// Values at the Chebyshev–Lobatto points, ascending in time.
    values: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Line {
    output: VarId,
    expression: Bound,
    delay: Bound,
    max_delay: Bound,
    /// The value at the start.
    first: f64,
    segments: VecDeque<Segment>,
}

/// A time at which the past is not smooth, and how many delays it is away from an event.
#[derive(Copy, Clone, Debug)]
struct Break {
    time: f64,
    generation: u32,
}

/// The past of all delayed expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    lines: Vec<Line>,
    breaks: Vec<Break>,
    started: bool,
    /// Where the present phase ends: at that time signals have their left limits.
    horizon: f64,
}

/// The points of a step at which the expressions are needed for a polynomial of some degree.
fn points(degree: usize, (start, end): (f64, f64)) -> impl Iterator<Item = f64> {
    (0..=degree).map(move |k| match k {
        0 => start,
        k if k == degree => end,
        k => {
            let angle = std::f64::consts::PI * k as f64 / degree as f64;
            0.5 * (start + end) - 0.5 * (end - start) * angle.cos()
        }
    })
}

impl History {
    pub(crate) fn new(model: &Mdae, pool: &ExprPool, cache: &KernelCache, memory: &Memory) -> Result<Self, Failure> {
        let mut lines = Vec::new();
        for delay in &model.delays {
            let bind = |expr| Bound::of_value(cache, pool, expr, memory);
            lines.push(Line {
                output: delay.output,
                expression: bind(delay.expression)?,
                delay: bind(delay.delay)?,
                max_delay: bind(delay.max_delay)?,
                first: 0.0,
                segments: VecDeque::new(),
            });
        }
        Ok(History {
            lines,
            horizon: f64::INFINITY,
            ..History::default()
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The values at the start become the past before it.
    pub(crate) fn begin(&mut self, memory: &Memory) {
        for line in &mut self.lines {
            line.first = line.expression.value(memory);
        }
        self.started = true;
        self.interrupted(memory.time());
    }

    /// At an event the past may have a jump or a kink.
    pub(crate) fn interrupted(&mut self, time: f64) {
        if !self.lines.is_empty() {
            self.breaks.retain(|known| known.time != time);
            self.breaks.push(Break { time, generation: 0 });
        }
    }

    /// Begins to record a step, with values as exact as a relative tolerance asks for.
    pub(crate) fn recording(&self, span: (f64, f64), tolerance: f64) -> Recording {
        Recording {
            span,
            tolerance,
            coarse: Vec::new(),
            fine: Vec::new(),
        }
    }

    /// The delayed expressions at the values in memory.
    pub(crate) fn expressions(&self, memory: &Memory) -> Vec<f64> {
        self.lines.iter().map(|line| line.expression.value(memory)).collect()
    }

    /// A recorded step becomes the past.
    pub(crate) fn store(&mut self, recording: Recording) {
        let rows = recording.rows();
        let (start, end) = recording.span;
        for (at, line) in self.lines.iter_mut().enumerate() {
            line.segments.push_back(Segment {
                start,
                end,
                values: rows.iter().map(|row| row[at]).collect(),
            });
        }
    }

    /// Forgets what no delay can reach any more.
    pub(crate) fn forget(&mut self, memory: &Memory) {
        let now = memory.time();
        for line in &mut self.lines {
            let oldest = now - line.max_delay.value(memory);
            let old = line.segments.partition_point(|segment| segment.end < oldest);
            if old > FORGOTTEN_TOGETHER {
                line.first = line.segments[old - 1].values.last().copied().unwrap_or(line.first);
                line.segments.drain(..old);
            }
        }
    }

    /// Writes the delayed values at a time into memory. Before the start it is the value then.
    pub(crate) fn apply(&self, time: f64, memory: &mut Memory) {
        let left = time >= self.horizon - 1e-12 * (1.0 + time.abs());
        for line in &self.lines {
            let value = match self.started {
                false => line.expression.value(memory),
                true => line.at(time - line.delay.value(memory), left),
            };
            memory.set(line.output, 0, value);
        }
    }

    /// A step may not be longer than the shortest delay, so that the past is always known.
    pub(crate) fn max_step(&self, memory: &Memory) -> f64 {
        let delays = self
            .lines
            .iter()
            .map(|line| line.delay.value(memory))
            .filter(|&d| d > 0.0);
        delays.fold(f64::INFINITY, f64::min)
    }

    /// The next time at which a delayed signal is not smooth; the phase that begins now ends there.
    pub(crate) fn next_break(&mut self, memory: &Memory) -> f64 {
        let now = memory.time();
        let later = |time: f64| time > now + 1e-12 * (1.0 + now.abs());
        let delays = self.lines.iter().map(|line| line.delay.value(memory));
        let times = delays.flat_map(|delay| self.breaks.iter().map(move |b| b.time + delay));
        self.horizon = times.filter(|&time| later(time)).fold(f64::INFINITY, f64::min);
        self.horizon
    }

    /// Whether a signal jumps at this time, where memory has the left limits.
    pub(crate) fn jumps(&self, memory: &Memory) -> bool {
        let time = memory.time();
        self.lines.iter().any(|line| {
            let (left, right) = (
                memory.get(line.output, 0),
                line.at(time - line.delay.value(memory), false),
            );
            (left - right).abs() > 1e-9 * (1.0 + left.abs().max(right.abs()))
        })
    }

    /// From now on signals have their right limits at this time.
    pub(crate) fn pass_break(&mut self, memory: &mut Memory) {
        let time = memory.time();
        let near = 1e-12 * (1.0 + time.abs());
        let mut generation = GENERATIONS;
        let mut longest: f64 = 0.0;
        for line in &self.lines {
            let delay = line.delay.value(memory);
            longest = longest.max(line.max_delay.value(memory)).max(delay);
            let causes = self.breaks.iter().filter(|b| (b.time + delay - time).abs() <= near);
            generation = causes.map(|b| b.generation + 1).fold(generation, u32::min);
        }
        self.breaks.retain(|b| b.time + longest > time + near);
        if generation < GENERATIONS {
            self.breaks.push(Break { time, generation });
        }
        self.horizon = f64::INFINITY;
        self.apply(time, memory);
    }
}

/// A step on its way into the past: asks for the points it needs one after another.
#[derive(Debug)]
pub(crate) struct Recording {
    span: (f64, f64),
    tolerance: f64,
    /// Values of all expressions at the points of the lower degree, and at those that the higher one adds.
    coarse: Vec<Vec<f64>>,
    fine: Vec<Vec<f64>>,
}

impl Recording {
    /// The next point at which values are needed.
    pub(crate) fn next_point(&self) -> Option<f64> {
        let [coarse, fine] = DEGREES;
        if self.coarse.len() <= coarse {
            return points(coarse, self.span).nth(self.coarse.len());
        }
        let done = self.fine.len() == fine - coarse || (!self.fine.is_empty() && self.is_enough());
        (!done).then(|| points(fine, self.span).nth(2 * self.fine.len() + 1))?
    }

    /// The values at that point.
    pub(crate) fn push(&mut self, values: Vec<f64>) {
        match self.coarse.len() <= DEGREES[0] {
            true => self.coarse.push(values),
            false => self.fine.push(values),
        }
    }

    /// Whether the lower degree reproduces the first point that the higher one adds.
    fn is_enough(&self) -> bool {
        let Some(values) = self.fine.first() else { return true };
        let test = points(DEGREES[1], self.span).nth(1).unwrap_or(self.span.0);
        values.iter().enumerate().all(|(at, &value)| {
            let coarse: Vec<f64> = self.coarse.iter().map(|row| row[at]).collect();
            let size = coarse.iter().fold(value.abs(), |size, v| size.max(v.abs()));
            (interpolate(&coarse, self.span, test) - value).abs() <= 0.1 * self.tolerance * size.max(1e-3)
        })
    }

    fn rows(&self) -> Vec<&[f64]> {
        if self.fine.len() < DEGREES[1] - DEGREES[0] {
            return self.coarse.iter().map(Vec::as_slice).collect();
        }
        let mut rows: Vec<&[f64]> = Vec::new();
        for (at, row) in self.coarse.iter().enumerate() {
            rows.push(row);
            rows.extend(self.fine.get(at).map(Vec::as_slice));
        }
        rows
    }
}

impl Line {
    /// The value at a time; at a jump the one before or after it.
    fn at(&self, time: f64, left: bool) -> f64 {
        let near = 1e-12 * (1.0 + time.abs());
        let after = match left {
            true => self.segments.partition_point(|segment| segment.start < time - near),
            false => self.segments.partition_point(|segment| segment.start <= time + near),
        };
        match after.checked_sub(1) {
            None => self.first,
            Some(at) => {
                let segment = &self.segments[at];
                let within = time.clamp(segment.start, segment.end);
                interpolate(&segment.values, (segment.start, segment.end), within)
            }
        }
    }
}

/// The polynomial through values at Chebyshev–Lobatto points, by the barycentric formula: weights are alternating
/// ones, halved at the ends.
fn interpolate(values: &[f64], (start, end): (f64, f64), time: f64) -> f64 {
    let degree = values.len() - 1;
    let (mut above, mut below) = (0.0, 0.0);
    for ((k, point), value) in points(degree, (start, end)).enumerate().zip(values) {
        let distance = time - point;
        if distance == 0.0 {
            return *value;
        }
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        let weight = if k == 0 || k == degree { 0.5 * sign } else { sign } / distance;
        above += weight * value;
        below += weight;
    }
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_of_the_degree_are_exact() {
        for degree in DEGREES {
            let p = |t: f64| (0..=degree).map(|k| (k as f64 + 1.0) * t.powi(k as i32)).sum::<f64>();
            let values: Vec<f64> = points(degree, (0.5, 1.5)).map(p).collect();
            for t in [0.5, 0.6, 0.77, 1.0, 1.4999, 1.5] {
                let found = interpolate(&values, (0.5, 1.5), t);
                assert!((found - p(t)).abs() < 1e-12 * p(t), "{degree}: {t}");
            }
        }
    }

    #[test]
    fn the_coarse_points_are_among_the_fine_ones() {
        let fine: Vec<f64> = points(DEGREES[1], (1.0, 3.0)).collect();
        for (k, point) in points(DEGREES[0], (1.0, 3.0)).enumerate() {
            assert!((point - fine[2 * k]).abs() < 1e-15);
        }
    }
}
