//! Transported quantities (`spatialDistribution`): `∂z/∂t + v·∂z/∂y = 0` on 0 ≤ y ≤ 1 with `v = der(x)`.
//!
//! A parcel of the quantity keeps its *mark* y − x, however it moves, so the profile is a function of the mark alone. What
//! lies between the ends is kept as pieces over intervals of marks: straight lines from the start, and what entered in a
//! step of the integrator, as polynomials of the time at which it entered. A value at an end is found by solving
//! `x(τ) = mark` for the time it entered, so it is as exact as the solution itself.
//!
//! Where the profile is not smooth (an event, a reversal, a corner of the initial profile) pieces meet at a *break*. Until a
//! break has reached an end, what arrives there is the smooth continuation of what is before the break: the run locates the
//! instant, and only then takes what is behind it.

use std::collections::VecDeque;

use saltus_codegen::{KernelCache, KernelSpec};
use saltus_mdae::{ExprPool, OriginId, Transport, VarId};

use super::polynomial::{DERIVATIVES, Segment, Series, composed, constant, inverted};
use super::{DelayError, GENERATIONS, WrongProfile};
use crate::error::Failure;
use crate::kernel::Bound;
use crate::memory::Memory;

/// Marks this near to each other, in parts of their size, are one.
const NEAR: f64 = 1e-13;
/// Steps of the search for the time at which something entered.
const SEARCH_STEPS: usize = 100;

/// One of the ends: 0 is the left one, 1 the right one.
type End = usize;

/// A smooth part of the profile.
#[derive(Clone, Debug)]
struct Piece {
    /// Its marks.
    low: f64,
    high: f64,
    content: Content,
    /// Whether the profile is not smooth where the next piece, with greater marks, begins; and how many passages it is away
    /// from an event.
    broken_behind: Option<u32>,
}

#[derive(Clone, Debug)]
enum Content {
    /// A value at the low mark, and a slope.
    Line(f64, f64),
    /// What entered at an end within a time: position and value over the step.
    Entered {
        end: End,
        span: (f64, f64),
        position: Segment,
        value: Segment,
    },
}

impl Piece {
    /// The Taylor series in the mark.
    fn series(&self, mark: f64) -> Series {
        match &self.content {
            Content::Line(value, slope) => {
                let mut series = constant(value + slope * (mark - self.low));
                series[1] = *slope;
                series
            }
            Content::Entered {
                end,
                span,
                position,
                value,
            } => {
                // mark = end − x(τ)
                let time = time_at(position, *span, *end as f64 - mark);
                let mut moved = position.series(time);
                moved[0] = 0.0;
                let values = value.series(time);
                let Some(mut time_of) = inverted(&moved) else {
                    return constant(values[0]);
                };
                // In powers of the change of the mark, which is that of the position with the other sign.
                time_of.iter_mut().skip(1).step_by(2).for_each(|c| *c = -*c);
                composed(&values, &time_of)
            }
        }
    }

    /// The series at a mark; beyond the piece the tangent at its end, which may be steep where the flow came to rest.
    fn continued(&self, mark: f64) -> Series {
        // Marks of a flow that is too large for numbers are none.
        let inside = mark.max(self.low).min(self.high);
        let mut series = self.series(inside);
        if mark != inside {
            let range = (self.series(self.high)[0] - self.series(self.low)[0]).abs();
            let change = series[1] * (mark - inside);
            if change.abs() > range || !change.is_finite() {
                return constant(series[0]);
            }
            series[0] += change;
            series[2..].fill(0.0);
        }
        series
    }
}

/// The time within a part of a step at which a position was reached.
fn time_at(position: &Segment, (start, end): (f64, f64), wanted: f64) -> f64 {
    let value = |time: f64| position.series(time);
    let (mut low, mut high) = (start, end);
    let rises = value(high)[0] >= value(low)[0];
    let mut time = 0.5 * (low + high);
    for _ in 0..SEARCH_STEPS {
        let [here, slope, ..] = value(time);
        let miss = here - wanted;
        if miss == 0.0 {
            break;
        }
        if (miss > 0.0) == rises {
            high = time;
        } else {
            low = time;
        }
        let newton = time - miss / slope;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if (next - time).abs() <= f64::EPSILON * (time.abs() + (end - start)) {
            break;
        }
        time = next;
    }
    time
}

/// One transported quantity.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub outputs: [VarId; 2],
    inputs: [Bound; 2],
    /// The position and its derivatives.
    position: Bound,
    initial: Vec<(Bound, Bound)>,
    pub origin: OriginId,
    /// In the order of their marks.
    pieces: VecDeque<Piece>,
    /// Whether what enters next at each end does not go on smoothly.
    interrupted: [Option<u32>; 2],
}

impl Profile {
    pub(super) fn new(
        transport: &Transport,
        pool: &ExprPool,
        cache: &KernelCache,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let bind = |expr| Bound::of_value(cache, pool, expr, memory);
        let derivatives = KernelSpec::matrix(&[transport.position], 0..=DERIVATIVES as u16, &[]);
        let mut initial = Vec::new();
        for (&point, &value) in transport.points.iter().zip(&transport.values) {
            initial.push((bind(point)?, bind(value)?));
        }
        Ok(Profile {
            outputs: transport.outputs,
            inputs: [bind(transport.inputs[0])?, bind(transport.inputs[1])?],
            position: Bound::new(cache, pool, &derivatives, memory)?,
            initial,
            origin: transport.origin,
            pieces: VecDeque::new(),
            interrupted: [None; 2],
        })
    }

    /// The position and its derivatives.
    fn positions(&self, memory: &Memory) -> [f64; DERIVATIVES + 1] {
        let mut positions = [0.0; DERIVATIVES + 1];
        self.position.evaluate(memory, &mut positions);
        positions
    }

    /// What enters at the ends, and the position: what a step must remember.
    pub(super) fn recorded(&self, memory: &Memory) -> [f64; 3] {
        let [left, right] = &self.inputs;
        [left.value(memory), right.value(memory), self.positions(memory)[0]]
    }

    /// Before the start the ends have the values of the initial profile.
    pub(super) fn guess(&self, memory: &mut Memory) {
        let ends = [self.initial.first(), self.initial.last()];
        for (output, end) in self.outputs.into_iter().zip(ends) {
            let value = end.map_or(0.0, |(_, value)| value.value(memory));
            memory.set(output, 0, value);
        }
    }

    /// Sets up the profile of the start.
    pub(super) fn begin(&mut self, memory: &Memory) -> Result<(), WrongProfile> {
        let given: Vec<(f64, f64)> = self
            .initial
            .iter()
            .map(|(point, value)| (point.value(memory), value.value(memory)))
            .collect();
        let ascending = given.windows(2).all(|pair| pair[0].0 <= pair[1].0);
        let ends = given.first().map(|p| p.0) == Some(0.0) && given.last().map(|p| p.0) == Some(1.0);
        if !ascending || !ends {
            return Err(WrongProfile { origin: self.origin });
        }
        let position = self.positions(memory)[0];
        self.pieces.clear();
        for pair in given.windows(2) {
            let [(low, first), (high, last)] = [pair[0], pair[1]];
            if high > low {
                self.pieces.push_back(Piece {
                    low: low - position,
                    high: high - position,
                    content: Content::Line(first, (last - first) / (high - low)),
                    broken_behind: Some(0),
                });
            }
        }
        self.interrupt(0);
        Ok(())
    }

    /// What enters from now on may not go on smoothly.
    pub(super) fn interrupt(&mut self, generation: u32) {
        for known in &mut self.interrupted {
            *known = Some(known.map_or(generation, |known| known.min(generation)));
        }
    }

    /// A step becomes part of the profile, or parts of it where the flow turned.
    pub(super) fn store(&mut self, inputs: [Segment; 2], position: &Segment) {
        let [left, right] = inputs;
        for (start, end_time) in monotonic_parts(position) {
            let (before, after) = (position.series(start)[0], position.series(end_time)[0]);
            let size = before.abs().max(after.abs()).max(1.0);
            if (after - before).abs() <= NEAR * size {
                // Nothing has moved; what enters next need not be like what entered last.
                self.interrupt(0);
                continue;
            }
            let content = |end: End, value: &Segment| Content::Entered {
                end,
                span: (start, end_time),
                position: position.clone(),
                value: value.clone(),
            };
            if after > before {
                self.enter_left([before, after], content(0, &left));
            } else {
                self.enter_right([before, after], content(1, &right));
            }
        }
    }

    fn enter_left(&mut self, [before, after]: [f64; 2], content: Content) {
        // What has been pushed out at the left is gone.
        while self.pieces.front().is_some_and(|piece| piece.high <= -before) {
            self.pieces.pop_front();
        }
        if let Some(front) = self.pieces.front_mut() {
            front.cut_below(-before);
        }
        self.pieces.push_front(Piece {
            low: -after,
            high: -before,
            content,
            broken_behind: self.interrupted[0].take(),
        });
    }

    fn enter_right(&mut self, [before, after]: [f64; 2], content: Content) {
        while self.pieces.back().is_some_and(|piece| piece.low >= 1.0 - before) {
            self.pieces.pop_back();
        }
        if let Some(back) = self.pieces.back_mut() {
            back.high = back.high.min(1.0 - before);
            back.broken_behind = self.interrupted[1].take();
        }
        self.pieces.push_back(Piece {
            low: 1.0 - before,
            high: 1.0 - after,
            content,
            broken_behind: None,
        });
    }

    /// Forgets what has left long ago; the piece at each end stays.
    pub(super) fn forget(&mut self, memory: &Memory) {
        let position = self.positions(memory)[0];
        let (left, right) = (-position, 1.0 - position);
        while self.pieces.len() > 1 && self.pieces[1].low < left && self.pieces[0].broken_behind.is_none() {
            self.pieces.pop_front();
        }
        let beyond = |pieces: &VecDeque<Piece>| {
            let last = pieces.len() - 2;
            pieces[last].high > right && pieces[last].broken_behind.is_none()
        };
        while self.pieces.len() > 1 && beyond(&self.pieces) {
            self.pieces.pop_back();
        }
    }

    /// The smooth part at an end, in the order in which it leaves: up to the first break.
    fn at_end(&self, end: End) -> usize {
        let count = self.pieces.len();
        match end {
            0 => (0..count)
                .find(|&at| self.pieces[at].broken_behind.is_some())
                .map_or(count, |at| at + 1),
            _ => (1..count)
                .rev()
                .find(|&at| self.pieces[at - 1].broken_behind.is_some())
                .map_or(count, |at| count - at),
        }
    }

    /// The series in the mark of what arrives at an end, of the smooth part there.
    fn arriving(&self, end: End, mark: f64) -> Series {
        let smooth = self.at_end(end);
        let count = self.pieces.len();
        let piece = match end {
            0 => self.pieces.iter().take(smooth).find(|piece| mark <= piece.high),
            _ => self
                .pieces
                .range(count - smooth..)
                .rev()
                .find(|piece| mark >= piece.low),
        };
        let last = match end {
            0 => self.pieces.get(smooth.saturating_sub(1)),
            _ => self.pieces.get(count - smooth),
        };
        piece.or(last).map_or(Series::default(), |piece| piece.continued(mark))
    }

    /// Writes what arrives at the ends, with derivatives in time, into memory. What entered in the step under way is not
    /// known yet.
    pub(super) fn apply(&self, memory: &mut Memory) -> Result<(), DelayError> {
        if self.pieces.is_empty() {
            return Ok(());
        }
        let positions = self.positions(memory);
        let moves: Series = std::array::from_fn(|order| match order {
            0 => 0.0,
            order => -positions[order] / (1..=order).product::<usize>() as f64,
        });
        for (end, &output) in self.outputs.iter().enumerate() {
            let series = composed(&self.arriving(end, end as f64 - positions[0]), &moves);
            let orders = (memory.orders(output) as usize).min(series.len());
            let mut factorial = 1.0;
            for (order, coefficient) in series.iter().enumerate().take(orders) {
                factorial *= order.max(1) as f64;
                memory.set(output, order as u16, coefficient * factorial);
            }
        }
        let known = (self.pieces.front(), self.pieces.back());
        if let (Some(front), Some(back)) = known {
            let near = NEAR * (1.0 + positions[0].abs());
            let beyond = 1.0 - positions[0] < front.low - near || -positions[0] > back.high + near;
            if beyond {
                return Err(DelayError::TooNear(self.origin));
            }
        }
        Ok(())
    }

    /// The shortest time in which all is replaced at the present velocity.
    pub(super) fn transit_time(&self, memory: &Memory) -> f64 {
        1.0 / self.positions(memory)[1].abs()
    }

    /// How far the nearest break is from each end, in positions; not positive once it is there.
    fn distances(&self, memory: &Memory) -> [f64; 2] {
        let position = self.positions(memory)[0];
        let count = self.pieces.len();
        [0, 1].map(|end| {
            let smooth = self.at_end(end);
            let last = match end {
                0 if self
                    .pieces
                    .get(smooth.wrapping_sub(1))
                    .is_some_and(|p| p.broken_behind.is_some()) =>
                {
                    smooth - 1
                }
                1 if smooth < count => count - smooth,
                _ => return f64::INFINITY,
            };
            // The outermost break belongs to what enters next.
            if smooth == count {
                return f64::INFINITY;
            }
            let distance = match end {
                0 => self.pieces[last].high + position,
                _ => 1.0 - position - self.pieces[last].low,
            };
            distance - NEAR * (1.0 + position.abs())
        })
    }

    /// The smaller of these distances.
    pub(super) fn distance(&self, memory: &Memory) -> f64 {
        let [left, right] = self.distances(memory);
        left.min(right)
    }

    fn is_leaving(&self, memory: &Memory) -> [bool; 2] {
        self.distances(memory).map(|distance| distance <= 0.0)
    }

    /// Whether what arrives jumps where a break leaves now.
    pub(super) fn jumps(&self, memory: &Memory) -> bool {
        let mut behind = self.clone();
        behind.pass(memory);
        let position = self.positions(memory)[0];
        (0..2).any(|end| {
            let mark = end as f64 - position;
            let (before, after) = (self.arriving(end, mark)[0], behind.arriving(end, mark)[0]);
            (before - after).abs() > 1e-9 * (1.0 + before.abs().max(after.abs()))
        })
    }

    /// Lets go of what is before a break that leaves now.
    pub(super) fn pass(&mut self, memory: &Memory) {
        while let Some(end) = self.is_leaving(memory).iter().position(|&leaves| leaves) {
            let smooth = self.at_end(end);
            let count = self.pieces.len();
            let broken = match end {
                0 => self.pieces.drain(..smooth).next_back(),
                _ => {
                    self.pieces.truncate(count - smooth);
                    self.pieces.back().cloned()
                }
            };
            let generation = broken.and_then(|piece| piece.broken_behind).unwrap_or(0) + 1;
            if end == 1
                && let Some(back) = self.pieces.back_mut()
            {
                back.broken_behind = None;
            }
            if generation < GENERATIONS {
                self.interrupt(generation);
            }
        }
    }
}

impl Piece {
    /// Forgets what is below a mark.
    fn cut_below(&mut self, mark: f64) {
        if let Content::Line(value, slope) = &mut self.content {
            *value += *slope * (mark - self.low).max(0.0);
        }
        self.low = self.low.max(mark);
    }
}

/// The parts of a step in which a position moves one way.
fn monotonic_parts(position: &Segment) -> Vec<(f64, f64)> {
    const SAMPLES: usize = 16;
    let (start, end) = (position.start, position.end);
    let time = |k: usize| start + (end - start) * k as f64 / SAMPLES as f64;
    let slope = |time: f64| position.series(time)[1];
    let size = (0..=SAMPLES).map(|k| slope(time(k)).abs()).fold(0.0, f64::max);
    let mut parts = vec![start];
    let mut before = 0.0;
    for k in 0..=SAMPLES {
        let here = slope(time(k));
        if here.abs() <= 1e-9 * size {
            continue;
        }
        if before * here < 0.0 {
            let (mut low, mut high) = (time(k - 1), time(k));
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if slope(middle) * here > 0.0 {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            parts.push(high);
        }
        before = here;
    }
    parts.push(end);
    parts.windows(2).map(|pair| (pair[0], pair[1])).collect()
}
