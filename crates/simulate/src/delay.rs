//! Delayed signals: what an expression was some time ago.
//!
//! The past is kept as one polynomial per step of the integrator, through values at Chebyshev–Lobatto points of its
//! dense output: five of them, or nine where five do not reproduce a further value within the tolerance. A delayed
//! signal is therefore as exact as the solution itself, and has derivatives: signs at events are decided by them. Where the past has a jump or a kink (the start, an event) the
//! signal has one a delay later; the run does not step across such a *break*. Each break smooths the solution by one
//! order and makes the next one; [`GENERATIONS`] of them are enough for the orders of the integrators.
//!
//! Where the delay depends on unknowns, signals and unknowns are found in turn until they agree.

use std::collections::VecDeque;

use saltus_codegen::{KernelCache, KernelSpec};
use saltus_mdae::{ExprId, ExprPool, Mdae, Node, OriginId, VarId};

use crate::error::{Failure, FailureKind};
use crate::kernel::Bound;
use crate::memory::Memory;

/// Breaks followed after the event that made the first one.
const GENERATIONS: u32 = 8;
/// Degrees of the polynomials: the points of the lower one are among those of the higher one.
const DEGREES: [usize; 2] = [4, 8];
/// Segments before the oldest that can still be asked for are forgotten in pieces of this size.
const FORGOTTEN_TOGETHER: usize = 256;

/// A signal delayed by a varying time has this many derivatives: enough to decide signs at events.
const DERIVATIVES: usize = 3;
/// Passes until delays that depend on unknowns and these unknowns agree.
const PASSES: usize = 50;

/// A step of the past.
#[derive(Clone, Debug)]
struct Segment {
    start: f64,
    end: f64,
    /// Coefficients of the Chebyshev polynomials over the step.
    coefficients: Vec<f64>,
}

/// What a delay depends on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Varying {
    /// Parameters and discrete variables: it is the same until the next event.
    AtEvents,
    /// Time only.
    WithTime,
    /// States or other unknowns: known only once the equations are solved.
    WithUnknowns,
}

#[derive(Clone, Debug)]
struct Line {
    output: VarId,
    expression: Bound,
    /// The delay and its derivatives.
    delay: Bound,
    orders: usize,
    varying: Varying,
    max_delay: Bound,
    origin: OriginId,
    /// The value at the start.
    first: f64,
    segments: VecDeque<Segment>,
}

/// Why delayed values are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DelayError {
    /// The delay is shorter than the step under way.
    TooNear,
    /// A delay that cannot be.
    OutOfRange(WrongDelay),
    /// Signals and the unknowns that their delays depend on do not settle.
    NoAgreement,
}

impl From<DelayError> for Failure {
    fn from(error: DelayError) -> Self {
        let integration = |reason: &str| FailureKind::Integration {
            reason: reason.to_string(),
            variables: Vec::new(),
        };
        Failure::new(match error {
            DelayError::TooNear => integration("a delay becomes shorter than the shortest step"),
            DelayError::NoAgreement => {
                integration("a delay depends on the signal that it delays, and no values agree with both")
            }
            DelayError::OutOfRange(wrong) => FailureKind::Domain {
                message: format!(
                    "a delay of {} is not between 0 and its bound {}",
                    wrong.delay, wrong.bound
                ),
                origins: vec![wrong.origin],
            },
        })
    }
}

/// A delay that cannot be: negative, or above its bound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrongDelay {
    pub origin: OriginId,
    pub delay: f64,
    pub bound: f64,
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
            let varying = varying(model, pool, delay.delay);
            let orders = if varying == Varying::AtEvents { 0 } else { DERIVATIVES };
            let derivatives = KernelSpec::matrix(&[delay.delay], 0..=orders as u16, &[]);
            lines.push(Line {
                output: delay.output,
                expression: bind(delay.expression)?,
                delay: Bound::new(cache, pool, &derivatives, memory)?,
                orders,
                varying,
                max_delay: bind(delay.max_delay)?,
                origin: delay.origin,
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

    /// Before the start a delayed signal is the expression itself: its values for the unknowns in memory; whether
    /// those in memory were others.
    pub(crate) fn guess(&self, memory: &mut Memory) -> bool {
        let before: Vec<f64> = self.signals(memory).collect();
        for line in &self.lines {
            memory.set(line.output, 0, line.expression.value(memory));
        }
        let same = |(a, b): (&f64, f64)| (a - b).abs() <= 1e-12 * (1e-3 + a.abs().max(b.abs()));
        !before.iter().zip(self.signals(memory)).all(same)
    }

    /// The values at the start become the past before it.
    pub(crate) fn begin(&mut self, memory: &Memory) {
        for line in &mut self.lines {
            line.first = line.expression.value(memory);
        }
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
                coefficients: coefficients(&rows.iter().map(|row| row[at]).collect::<Vec<f64>>()),
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
                let last = &line.segments[old - 1];
                line.first = last.series(last.end)[0];
                line.segments.drain(..old);
            }
        }
    }

    /// Writes the delayed values and their derivatives at a time into memory. Before the start it is the value then.
    /// Says what lies too near: a value within the step under way, which is not known yet.
    pub(crate) fn apply(&self, time: f64, memory: &mut Memory) -> Result<(), DelayError> {
        let left = time >= self.horizon - 1e-12 * (1.0 + time.abs());
        let mut outcome = Ok(());
        for line in &self.lines {
            let delays = line.delays(memory);
            outcome = outcome.and(line.checked(delays[0], time, memory));
            let series = line.delayed(time, &delays, left, memory);
            let orders = (memory.orders(line.output) as usize).min(series.len());
            let mut factorial = 1.0;
            for (order, coefficient) in series.iter().enumerate().take(orders) {
                factorial *= order.max(1) as f64;
                memory.set(line.output, order as u16, coefficient * factorial);
            }
        }
        outcome
    }

    /// Whether delays are known only once the equations are solved.
    pub(crate) fn depends_on_unknowns(&self) -> bool {
        self.lines.iter().any(|line| line.varying == Varying::WithUnknowns)
    }

    /// Signals and unknowns in turn until they agree: `solve` computes the unknowns for the signals in memory.
    pub(crate) fn solve_with<E: From<DelayError>>(
        &self,
        time: f64,
        memory: &mut Memory,
        mut solve: impl FnMut(&mut Memory) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self.apply(time, memory);
        let near = 1e-9 * (1.0 + time.abs());
        let without_delay = self.lines.iter().any(|line| line.delays(memory)[0] <= near);
        if !self.depends_on_unknowns() && !without_delay {
            first?;
            return solve(memory);
        }
        for _ in 0..PASSES {
            solve(memory)?;
            let before: Vec<f64> = self.signals(memory).collect();
            let applied = self.apply(time, memory);
            if agree(&before, self.signals(memory)) {
                return applied.map_err(E::from);
            }
        }
        Err(DelayError::NoAgreement.into())
    }

    fn signals<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = f64> + 'a {
        self.lines.iter().map(|line| memory.get(line.output, 0))
    }

    /// The signals for the delays in memory; whether they differ from those that the values in memory were computed for.
    pub(crate) fn renew(&self, memory: &mut Memory) -> bool {
        let before: Vec<f64> = self.signals(memory).collect();
        // A delay that is out of its range is reported by the step that follows.
        let _ = self.apply(memory.time(), memory);
        !agree(&before, self.signals(memory))
    }

    /// A step may not be longer than the shortest delay, so that the past is always known.
    pub(crate) fn max_step(&self, memory: &Memory) -> f64 {
        let near = 1e-9 * (1.0 + memory.time().abs());
        let delays = self.lines.iter().map(|line| line.delays(memory)[0]);
        delays.filter(|&delay| delay > near).fold(f64::INFINITY, f64::min)
    }

    /// The next time at which a delayed signal is not smooth; the phase that begins now ends there.
    pub(crate) fn next_break(&mut self, memory: &Memory) -> f64 {
        let now = memory.time();
        let later = |time: f64| time > now + 1e-12 * (1.0 + now.abs());
        // Where t − delay(t) reaches a break, to first order in time.
        let reached = |line: &Line, b: &Break| {
            let [delay, slope, ..] = line.delays(memory);
            now + (b.time - (now - delay)) / (1.0 - slope).max(1e-3)
        };
        let times = self
            .lines
            .iter()
            .flat_map(|line| self.breaks.iter().map(move |b| reached(line, b)));
        self.horizon = times.filter(|&time| later(time)).fold(f64::INFINITY, f64::min);
        self.horizon
    }

    /// Whether a signal jumps at this time, where memory has the left limits.
    pub(crate) fn jumps(&self, memory: &Memory) -> bool {
        let time = memory.time();
        self.lines.iter().any(|line| {
            let right = line.delayed(time, &line.delays(memory), false, memory)[0];
            let left = memory.get(line.output, 0);
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
            let delay = line.delays(memory)[0];
            longest = longest.max(line.max_delay.value(memory)).max(delay);
            let causes = self.breaks.iter().filter(|b| (b.time + delay - time).abs() <= near);
            generation = causes.map(|b| b.generation + 1).fold(generation, u32::min);
        }
        self.breaks.retain(|b| b.time + longest > time + near);
        if generation < GENERATIONS {
            self.breaks.push(Break { time, generation });
        }
        self.horizon = f64::INFINITY;
        self.renew(memory);
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
            let (start, end) = self.span;
            let polynomial = Segment {
                start,
                end,
                coefficients: coefficients(&coarse),
            };
            (polynomial.series(test)[0] - value).abs() <= 0.1 * self.tolerance * size.max(1e-3)
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
    /// The delay and its derivatives.
    fn delays(&self, memory: &Memory) -> [f64; DERIVATIVES + 1] {
        let mut delays = [0.0; DERIVATIVES + 1];
        self.delay.evaluate(memory, &mut delays[..=self.orders]);
        delays
    }

    fn checked(&self, delay: f64, time: f64, memory: &Memory) -> Result<(), DelayError> {
        let bound = self.max_delay.value(memory);
        let near = 1e-9 * (1.0 + time.abs());
        if !(delay >= -near && delay <= bound + near) {
            return Err(DelayError::OutOfRange(WrongDelay {
                origin: self.origin,
                delay,
                bound,
            }));
        }
        let known = self.segments.back().map_or(f64::INFINITY, |last| last.end);
        if delay > near && time - delay > known + near {
            Err(DelayError::TooNear)
        } else {
            Ok(())
        }
    }

    /// Coefficients of the Taylor series of the signal: that of the past composed with that of `t − delay(t)`.
    fn delayed(&self, time: f64, delays: &[f64; DERIVATIVES + 1], left: bool, memory: &Memory) -> Series {
        if delays[0] <= 1e-9 * (1.0 + time.abs()) {
            let mut now = Series::default();
            now[0] = self.expression.value(memory);
            return now;
        }
        let outer = self.at(time - delays[0], left);
        let inner: Series = std::array::from_fn(|order| match order {
            0 => 0.0,
            1 => 1.0 - delays[1],
            order => -delays[order] / (2..=order).product::<usize>() as f64,
        });
        composed(&outer, &inner)
    }

    /// The series at a time; at a jump the one before or after it.
    fn at(&self, time: f64, left: bool) -> Series {
        let near = 1e-12 * (1.0 + time.abs());
        let after = match left {
            true => self.segments.partition_point(|segment| segment.start < time - near),
            false => self.segments.partition_point(|segment| segment.start <= time + near),
        };
        match after.checked_sub(1) {
            None => constant(self.first),
            Some(at) => {
                let segment = &self.segments[at];
                segment.series(time.clamp(segment.start, segment.end))
            }
        }
    }
}

/// Coefficients of a Taylor series.
type Series = [f64; DERIVATIVES + 1];

fn constant(value: f64) -> Series {
    let mut series = Series::default();
    series[0] = value;
    series
}

/// `outer(inner(h))` for an inner series without constant term, by Horner's rule.
fn composed(outer: &Series, inner: &Series) -> Series {
    let mut result = Series::default();
    for &coefficient in outer.iter().rev() {
        let mut product = Series::default();
        for (i, a) in result.iter().enumerate() {
            for (j, b) in inner.iter().enumerate().take(DERIVATIVES + 1 - i) {
                product[i + j] += a * b;
            }
        }
        product[0] += coefficient;
        result = product;
    }
    result
}

impl Segment {
    /// The Taylor series of the polynomial at a time.
    fn series(&self, time: f64) -> Series {
        let length = self.end - self.start;
        let x = (2.0 * time - self.start - self.end) / length;
        let mut series = Series::default();
        let mut coefficients = self.coefficients.clone();
        let mut scale = 1.0;
        for (order, value) in series.iter_mut().enumerate() {
            *value = scale * clenshaw(&coefficients, x);
            scale *= 2.0 / (length * (order + 1) as f64);
            coefficients = differentiated(&coefficients);
        }
        series
    }
}

/// Chebyshev coefficients of the polynomial through values at Chebyshev–Lobatto points, ascending in time.
fn coefficients(values: &[f64]) -> Vec<f64> {
    let degree = values.len() - 1;
    let halved = |k: usize| if k == 0 || k == degree { 0.5 } else { 1.0 };
    let cosine = |j: usize, k: usize| (std::f64::consts::PI * (j * k) as f64 / degree as f64).cos();
    let coefficient = |k: usize| {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        let terms = values
            .iter()
            .enumerate()
            .map(|(j, value)| halved(j) * value * cosine(j, k));
        sign * halved(k) * 2.0 / degree as f64 * terms.sum::<f64>()
    };
    (0..=degree).map(coefficient).collect()
}

/// The value of a sum of Chebyshev polynomials.
fn clenshaw(coefficients: &[f64], x: f64) -> f64 {
    let (mut next, mut after) = (0.0, 0.0);
    for &coefficient in coefficients.iter().skip(1).rev() {
        (next, after) = (2.0 * x * next - after + coefficient, next);
    }
    x * next - after + coefficients.first().copied().unwrap_or(0.0)
}

/// The coefficients of the derivative: `c'ₖ₋₁ = c'ₖ₊₁ + 2k·cₖ`, the first halved.
fn differentiated(coefficients: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; coefficients.len() + 1];
    for k in (1..coefficients.len()).rev() {
        result[k - 1] = result[k + 1] + 2.0 * k as f64 * coefficients[k];
    }
    result[0] *= 0.5;
    result.truncate(coefficients.len().saturating_sub(1));
    result
}

fn agree(before: &[f64], now: impl Iterator<Item = f64>) -> bool {
    let same =
        |(a, b): (&f64, f64)| (a - b).abs() <= 1e-14 * (1e-3 + a.abs().max(b.abs())) || a.to_bits() == b.to_bits();
    before.iter().zip(now).all(same)
}

fn varying(model: &Mdae, pool: &ExprPool, delay: ExprId) -> Varying {
    let leaves = pool.occurrences(delay);
    if leaves.iter().any(|&(var, _)| model.is_unknown(var)) {
        Varying::WithUnknowns
    } else if pool
        .reachable(&[delay])
        .into_iter()
        .any(|id| pool.node(id) == Node::Time)
        || leaves.iter().any(|&(var, _)| pool.variable_traits(var).continuous)
    {
        Varying::WithTime
    } else {
        Varying::AtEvents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_of_the_degree_are_exact() {
        for degree in DEGREES {
            let p = |t: f64| (0..=degree).map(|k| (k as f64 + 1.0) * t.powi(k as i32)).sum::<f64>();
            let slope = |t: f64| {
                (1..=degree)
                    .map(|k| ((k + 1) * k) as f64 * t.powi(k as i32 - 1))
                    .sum::<f64>()
            };
            let values: Vec<f64> = points(degree, (0.5, 1.5)).map(p).collect();
            let segment = Segment {
                start: 0.5,
                end: 1.5,
                coefficients: coefficients(&values),
            };
            for t in [0.5, 0.6, 0.77, 1.0, 1.4999, 1.5] {
                let series = segment.series(t);
                assert!((series[0] - p(t)).abs() < 1e-12 * p(t), "{degree}: {t}");
                assert!((series[1] - slope(t)).abs() < 1e-10 * slope(t), "{degree}: {t}");
            }
        }
    }

    #[test]
    fn series_compose() {
        // sin(h + h²) = h + h² − h³/6 + …
        let found = composed(&[0.0, 1.0, 0.0, -1.0 / 6.0], &[0.0, 1.0, 1.0, 0.0]);
        for (found, expected) in found.iter().zip([0.0, 1.0, 1.0, -1.0 / 6.0]) {
            assert!((found - expected).abs() < 1e-15);
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
