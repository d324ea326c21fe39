//! Delayed signals: what an expression was some time ago.
//!
//! The past is kept as one polynomial per step of the integrator, through values at Chebyshev–Lobatto points of its
//! dense output: five of them, or nine where five do not reproduce a further value within the tolerance. A delayed
//! signal is therefore as exact as the solution itself, and has derivatives: signs at events are decided by them. Where the past has a jump or a kink (the start, an event) the
//! signal has one a delay later; the run does not step across such a *break*. Each break smooths the solution by one
//! order and makes the next one; [`GENERATIONS`] of them are enough for the orders of the integrators.
//!
//! Quantities that are transported ([`transport`]) are recorded in the same way.
//!
//! Where the delay depends on unknowns, signals and unknowns are found in turn until they agree.

mod agreement;
mod explicit;
mod polynomial;
mod transport;

use std::collections::VecDeque;

use saltus_codegen::{KernelCache, KernelSpec};
use saltus_mdae::{Derivative, ExprId, ExprPool, Mdae, Node, OriginId, Role, VarId};

use crate::error::{Failure, FailureKind};
use crate::kernel::Bound;
use crate::memory::Memory;
pub(crate) use agreement::Agreement;
use polynomial::{DERIVATIVES, Recording, Segment, Series, coefficients, composed, constant};
use transport::Profile;

/// Breaks followed after the event that made the first one.
const GENERATIONS: u32 = 8;
/// Segments before the oldest that can still be asked for are forgotten in pieces of this size.
const FORGOTTEN_TOGETHER: usize = 256;

/// Passes until delays that depend on unknowns and these unknowns agree.
const PASSES: usize = 50;

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
    /// The expression and its derivatives, if it is a smooth function of time alone: its past need not be recorded, and a delay
    /// may be as short as it likes.
    of_time: Option<Bound>,
    /// Whether the expression changes at events only.
    held: bool,
    /// What it is since the last one, then.
    present: f64,
    origin: OriginId,
    /// The time and the value at the start.
    begin: f64,
    first: f64,
    segments: VecDeque<Segment>,
}

/// Why delayed values are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DelayError {
    /// The delay is shorter than the step under way.
    TooNear(OriginId),
    /// A delay that cannot be.
    OutOfRange(WrongDelay),
    /// Signals and the unknowns that their delays depend on do not settle.
    NoAgreement(Vec<OriginId>),
}

impl From<DelayError> for Failure {
    fn from(error: DelayError) -> Self {
        let integration = |reason: &str, origins: Vec<OriginId>| FailureKind::Integration {
            reason: reason.to_string(),
            variables: Vec::new(),
            origins,
        };
        Failure::new(match error {
            DelayError::TooNear(origin) => integration("a delay becomes shorter than the shortest step", vec![origin]),
            DelayError::NoAgreement(origins) => integration(
                "a delay depends on the signal that it delays, and no values agree with both",
                origins,
            ),
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

/// A profile at the start whose points do not ascend from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrongProfile {
    pub origin: OriginId,
}

impl From<WrongProfile> for Failure {
    fn from(wrong: WrongProfile) -> Self {
        Failure::new(FailureKind::Domain {
            message: "the initial points of `spatialDistribution` must ascend from 0 to 1".to_string(),
            origins: vec![wrong.origin],
        })
    }
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
    profiles: Vec<Profile>,
    breaks: Vec<Break>,
    /// Whether positions of transported quantities are known only once the equations are solved.
    moved_by_unknowns: bool,
    /// Where the present phase ends: at that time signals have their left limits.
    horizon: f64,
}

impl History {
    pub(crate) fn new(model: &Mdae, pool: &ExprPool, cache: &KernelCache, memory: &Memory) -> Result<Self, Failure> {
        let mut lines = Vec::new();
        let delayed: Vec<ExprId> = model.delays.iter().map(|delay| delay.expression).collect();
        let held = explicit::held(model, pool, &delayed);
        for delay in &model.delays {
            let bind = |expr| Bound::of_value(cache, pool, expr, memory);
            let varying = varying(model, pool, delay.delay);
            let orders = if varying == Varying::AtEvents { 0 } else { DERIVATIVES };
            let derivatives = KernelSpec::matrix(&[delay.delay], 0..=orders as u16, &[]);
            let course = KernelSpec::matrix(&[delay.expression], 0..=DERIVATIVES as u16, &[]);
            let of_time = is_of_time(model, pool, delay.expression)
                .then(|| Bound::new(cache, pool, &course, memory))
                .transpose()?;
            lines.push(Line {
                output: delay.output,
                expression: bind(delay.expression)?,
                delay: Bound::new(cache, pool, &derivatives, memory)?,
                orders,
                varying,
                max_delay: bind(delay.max_delay)?,
                of_time,
                held: explicit::is_held(model, pool, &held, delay.expression),
                present: 0.0,
                origin: delay.origin,
                begin: f64::INFINITY,
                first: 0.0,
                segments: VecDeque::new(),
            });
        }
        let mut profiles = Vec::new();
        for transport in &model.transports {
            profiles.push(Profile::new(transport, pool, cache, memory)?);
        }
        let unknown = |expr| varying(model, pool, expr) == Varying::WithUnknowns;
        Ok(History {
            lines,
            profiles,
            moved_by_unknowns: model.transports.iter().any(|t| unknown(t.position)),
            horizon: f64::INFINITY,
            ..History::default()
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.profiles.is_empty()
    }

    /// Gives the unknowns behind delayed signals the values that explicit equations say, so that the first guess of a signal is
    /// not where what is computed of it has no value.
    pub(crate) fn prepare(
        &self,
        model: &Mdae,
        pool: &ExprPool,
        cache: &KernelCache,
        memory: &mut Memory,
    ) -> Result<(), Failure> {
        let delayed: Vec<ExprId> = model.delays.iter().map(|delay| delay.expression).collect();
        explicit::assign(model, pool, cache, &delayed, memory)
    }

    /// Before the start a delayed signal is the expression itself: its values for the unknowns in memory, or others that are
    /// nearer to agreement; whether those in memory were others.
    pub(crate) fn guess_again(&self, memory: &mut Memory, agreement: &mut Agreement) -> bool {
        let before: Vec<f64> = self.signals(memory).collect();
        self.guess(memory);
        let found: Vec<f64> = self.signals(memory).collect();
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1e-3 + a.abs().max(b.abs()));
        if before.iter().zip(&found).all(same) {
            return false;
        }
        for (output, value) in self.outputs().zip(agreement.next(before, found)) {
            memory.set(output, 0, value);
        }
        true
    }

    /// Sets delayed signals to what the expressions are for the unknowns in memory.
    pub(crate) fn guess(&self, memory: &mut Memory) {
        for line in &self.lines {
            memory.set(line.output, 0, line.expression.value(memory));
        }
        for profile in &self.profiles {
            profile.guess(memory);
        }
    }

    /// The values at the start become the past before it.
    pub(crate) fn begin(&mut self, memory: &Memory) -> Result<(), WrongProfile> {
        for line in &mut self.lines {
            line.begin = memory.time();
            line.first = line.expression.value(memory);
        }
        for profile in &mut self.profiles {
            profile.begin(memory)?;
        }
        self.interrupted(memory);
        Ok(())
    }

    /// At an event, to the right of which memory is, the past may have a jump or a kink.
    pub(crate) fn interrupted(&mut self, memory: &Memory) {
        let time = memory.time();
        for line in &mut self.lines {
            line.present = line.expression.value(memory);
        }
        self.profiles.iter_mut().for_each(|profile| profile.interrupt(0));
        if !self.lines.is_empty() {
            self.breaks.retain(|known| known.time != time);
            self.breaks.push(Break { time, generation: 0 });
        }
    }

    /// What is delayed was found to be narrow: the run does not step across the ends of these pieces either when they come out.
    pub(crate) fn divided(&mut self, pieces: &[f64]) {
        let breaks = pieces.iter().map(|&time| Break {
            time,
            generation: GENERATIONS - 2,
        });
        self.breaks.extend(breaks);
    }

    /// Begins to record a step, with values as exact as a relative tolerance asks for.
    pub(crate) fn recording(&self, span: (f64, f64), tolerance: f64) -> Recording {
        Recording::new(span, tolerance)
    }

    /// The delayed expressions at the values in memory.
    pub(crate) fn expressions(&self, memory: &Memory) -> Vec<f64> {
        let delayed = self.lines.iter().map(|line| line.expression.value(memory));
        let transported = self.profiles.iter().flat_map(|profile| profile.recorded(memory));
        delayed.chain(transported).collect()
    }

    /// A recorded step becomes the past.
    pub(crate) fn store(&mut self, recording: Recording) {
        let rows = recording.rows();
        let (start, end) = recording.span;
        let segment = |coefficients: Vec<f64>| Segment {
            start,
            end,
            coefficients,
        };
        let course = |at: usize| coefficients(&rows.iter().map(|row| row[at]).collect::<Vec<f64>>());
        let first = self.lines.len();
        for (at, line) in self.lines.iter_mut().enumerate() {
            // What is a whole number must not become one less by rounding.
            let held = rows.last().filter(|_| line.held).map(|row| vec![row[at]]);
            line.segments.push_back(segment(held.unwrap_or_else(|| course(at))));
        }
        for (at, profile) in self.profiles.iter_mut().enumerate() {
            let [left, right, position] = [0, 1, 2].map(|k| segment(course(first + 3 * at + k)));
            profile.store([left, right], &position);
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
        self.profiles.iter_mut().for_each(|profile| profile.forget(memory));
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
        for profile in &self.profiles {
            outcome = outcome.and(profile.apply(memory));
        }
        outcome
    }

    /// Where delays and transports are written.
    pub(crate) fn origins(&self) -> Vec<OriginId> {
        let transported = self.profiles.iter().map(|profile| profile.origin);
        self.lines.iter().map(|line| line.origin).chain(transported).collect()
    }

    /// Whether delays are known only once the equations are solved.
    pub(crate) fn depends_on_unknowns(&self) -> bool {
        self.moved_by_unknowns || self.lines.iter().any(|line| line.varying == Varying::WithUnknowns)
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
        Err(DelayError::NoAgreement(self.origins()).into())
    }

    fn outputs(&self) -> impl Iterator<Item = VarId> + '_ {
        let transported = self.profiles.iter().flat_map(|profile| profile.outputs);
        self.lines.iter().map(|line| line.output).chain(transported)
    }

    fn signals<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = f64> + 'a {
        self.outputs().map(|output| memory.get(output, 0))
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
        let recorded = self.lines.iter().filter(|line| line.must_be_recorded());
        let delays = recorded.map(|line| line.delays(memory)[0]);
        let transits = self.profiles.iter().map(|profile| profile.transit_time(memory));
        let times = delays.chain(transits);
        times.filter(|&time| time > near).fold(f64::INFINITY, f64::min)
    }

    /// How far the nearest break of a transported quantity is from the end where it leaves; not positive once it is there.
    pub(crate) fn distance_of_break(&self, memory: &Memory) -> f64 {
        let distances = self.profiles.iter().map(|profile| profile.distance(memory));
        distances.fold(f64::INFINITY, f64::min)
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
    pub(crate) fn jumps(&self, memory: &mut Memory) -> bool {
        let time = memory.time();
        self.profiles.iter().any(|profile| profile.jumps(memory))
            || self.lines.iter().any(|line| {
                let delays = line.delays(memory);
                let right = line.delayed(time, &delays, false, memory)[0];
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
        self.profiles.iter_mut().for_each(|profile| profile.pass(memory));
        self.renew(memory);
    }
}

impl Line {
    /// The delay and its derivatives.
    fn delays(&self, memory: &Memory) -> [f64; DERIVATIVES + 1] {
        let mut delays = [0.0; DERIVATIVES + 1];
        self.delay.evaluate(memory, &mut delays[..=self.orders]);
        delays
    }

    /// Whether the expression is known at no time but those that were recorded.
    fn must_be_recorded(&self) -> bool {
        self.of_time.is_none() && !self.held
    }

    /// The end of what was recorded, or another time if nothing was.
    fn recorded_until(&self, otherwise: f64) -> f64 {
        self.segments.back().map_or(otherwise, |last| last.end)
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
        if self.must_be_recorded() && delay > near && time - delay > self.recorded_until(f64::INFINITY) + near {
            Err(DelayError::TooNear(self.origin))
        } else {
            Ok(())
        }
    }

    /// Coefficients of the Taylor series of the signal: that of the past composed with that of `t − delay(t)`.
    fn delayed(&self, time: f64, delays: &[f64; DERIVATIVES + 1], left: bool, memory: &mut Memory) -> Series {
        let then = time - delays[0];
        let outer = match &self.of_time {
            Some(course) if then >= self.begin => series_at(course, then, memory),
            None if delays[0] <= 1e-9 * (1.0 + time.abs()) => {
                let mut now = Series::default();
                now[0] = self.expression.value(memory);
                return now;
            }
            _ if self.held && then > self.recorded_until(self.begin) => constant(self.present),
            _ => self.at(then, left),
        };
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
        let after = if left {
            self.segments.partition_point(|segment| segment.start < time - near)
        } else {
            self.segments.partition_point(|segment| segment.start <= time + near)
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

/// The series of a function of time at a time.
fn series_at(course: &Bound, time: f64, memory: &mut Memory) -> Series {
    let now = memory.time();
    let mut derivatives = [0.0; DERIVATIVES + 1];
    memory.set_time(time);
    course.evaluate(memory, &mut derivatives);
    memory.set_time(now);
    std::array::from_fn(|order| derivatives[order] / (2..=order).product::<usize>() as f64)
}

/// Whether an expression is made of time and parameters, and has neither events nor bends.
fn is_of_time(model: &Mdae, pool: &ExprPool, expression: ExprId) -> bool {
    let is_fixed = |one: &Derivative| model.variables[one.var].role == Role::Parameter;
    pool.occurrences(expression).iter().all(is_fixed)
        && pool.conditions_in(expression).is_empty()
        && pool.left_limit_occurrences(expression).is_empty()
        && crate::events::condition::is_smooth(pool, expression)
}

fn agree(before: &[f64], now: impl Iterator<Item = f64>) -> bool {
    let same =
        |(a, b): (&f64, f64)| (a - b).abs() <= 1e-14 * (1e-3 + a.abs().max(b.abs())) || a.to_bits() == b.to_bits();
    before.iter().zip(now).all(same)
}

fn varying(model: &Mdae, pool: &ExprPool, delay: ExprId) -> Varying {
    let leaves = pool.occurrences(delay);
    if leaves.iter().any(|&Derivative { var, .. }| model.is_unknown(var)) {
        Varying::WithUnknowns
    } else if pool
        .reachable(&[delay])
        .into_iter()
        .any(|id| pool.node(id) == Node::Time)
        || leaves
            .iter()
            .any(|&Derivative { var, .. }| pool.variable_traits(var).continuous)
    {
        Varying::WithTime
    } else {
        Varying::AtEvents
    }
}
