//! Compares two results: is one inside a tube around the other?
//!
//! A point (t, v) lies in the tube around a curve if the curve comes within the time tolerance τ and the value
//! tolerance δ of it. A curve between jumps is connected, and jumps are joined by vertical lines, so that within
//! [t−τ, t+τ] it takes every value between its lowest and its highest: the test is
//! min − δ ≤ v ≤ max + δ over that window. Events may so be shifted by τ, and nothing else is forgiven but pulses without width:
//! what a step signal is for less than a thousandth of τ is left out. Where several conditions turn at an event, tools differ in
//! whether intermediate values show, and how far apart in time they set them.

use std::collections::VecDeque;

use crate::{ResultError, Selection, SignalId, Trajectory};

/// Pulses of step signals shorter than this part of the time tolerance have no width.
const PULSE: f64 = 1e-3;

/// Half-widths of the tube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Of a variable's range in the reference (or of a thousandth of its magnitude, whichever is more).
    pub relative: f64,
    /// Added to it, in the variable's unit.
    pub absolute: f64,
    /// Of the duration of the reference.
    pub time_relative: f64,
    /// Added to it, in seconds.
    pub time_absolute: f64,
    /// Also ask that the reference lies in a tube around the candidate, so that no pulse is missed.
    pub both_ways: bool,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self {
            relative: 2e-3,
            absolute: 1e-9,
            time_relative: 1e-4,
            time_absolute: 0.0,
            both_ways: true,
        }
    }
}

/// What was found about a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The same numbers in the same rows.
    Identical,
    /// Inside the tube.
    Within,
    /// Outside the tube somewhere.
    Outside,
}

/// One variable of both results.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableReport {
    /// Its name.
    pub name: String,
    /// What was found.
    pub verdict: Agreement,
    /// Largest difference at the same time.
    pub max_difference: f64,
    /// The same over the variable's largest magnitude in the reference; infinite if that is zero.
    pub max_relative_difference: f64,
    /// When: the point farthest outside the tube, or else that of the largest difference.
    pub worst_time: f64,
    /// The reference at that time.
    pub reference: f64,
    /// The candidate at that time.
    pub candidate: f64,
    /// How far outside the tube, in half-widths; 0 inside, infinite where only one of the two is dead.
    pub excess: f64,
    /// Half-width of the tube in the variable's unit.
    pub half_width: f64,
    /// How many points are outside.
    pub points_outside: usize,
}

/// The comparison of two results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Variables of both, in the order of the reference.
    pub variables: Vec<VariableReport>,
    /// Variables of the reference that the candidate lacks.
    pub missing: Vec<String>,
    /// Variables that only the candidate has.
    pub extra: Vec<String>,
    /// First and last time of reference and candidate, if they differ by more than the time tolerance.
    pub time_ranges: Option<[(f64, f64); 2]>,
}

impl Report {
    /// Whether the candidate has all variables of the reference over the same time, inside the tube.
    pub fn passed(&self) -> bool {
        self.missing.is_empty() && self.time_ranges.is_none() && self.outside().next().is_none()
    }

    /// The variables outside the tube.
    pub fn outside(&self) -> impl Iterator<Item = &VariableReport> {
        self.variables
            .iter()
            .filter(|variable| variable.verdict == Agreement::Outside)
    }

    /// The variable farthest outside.
    pub fn worst(&self) -> Option<&VariableReport> {
        self.outside().max_by(|a, b| a.excess.total_cmp(&b.excess))
    }
}

/// Compares all variables of a candidate with a reference.
pub fn compare(reference: &Trajectory, candidate: &Trajectory, tolerances: &Tolerances) -> Report {
    let ids: Vec<SignalId> = reference.schema().ids().collect();
    let mut report = compare_ids(reference, candidate, &ids, tolerances);
    let known = |name: &str| reference.schema().find(name).is_some();
    let names = candidate.schema().signals().iter().map(|signal| signal.name.clone());
    report.extra = names.filter(|name| !known(name)).collect();
    report
}

/// Compares some variables of a candidate with a reference.
pub fn compare_selected(
    reference: &Trajectory,
    candidate: &Trajectory,
    selection: &Selection,
    tolerances: &Tolerances,
) -> Result<Report, ResultError> {
    let ids = selection.resolve(reference.schema())?;
    Ok(compare_ids(reference, candidate, &ids, tolerances))
}

fn compare_ids(reference: &Trajectory, candidate: &Trajectory, ids: &[SignalId], tolerances: &Tolerances) -> Report {
    let ranges = [reference, candidate].map(time_range);
    let duration = ranges[0].1 - ranges[0].0;
    let shift = tolerances.time_absolute + tolerances.time_relative * duration;
    // Rounding alone must not make two ends differ.
    let slack = shift + 1e-12 * (ranges[0].0.abs() + ranges[0].1.abs());
    let same_ends = (ranges[0].0 - ranges[1].0).abs() <= slack
        && (ranges[0].1 - ranges[1].1).abs() <= slack
        && (reference.rows() == 0) == (candidate.rows() == 0);
    let mut report = Report {
        time_ranges: (!same_ends).then_some(ranges),
        ..Report::default()
    };
    for &id in ids {
        let name = &reference.schema().signal(id).name;
        match candidate.schema().find(name) {
            Some(other) => {
                let pair = Pair::new(reference, candidate, id, other, shift, tolerances);
                report.variables.push(pair.report(name, tolerances.both_ways));
            }
            None => report.missing.push(name.clone()),
        }
    }
    report
}

fn time_range(trajectory: &Trajectory) -> (f64, f64) {
    match trajectory.time() {
        [] => (0.0, 0.0),
        [first, .., last] => (*first, *last),
        [only] => (*only, *only),
    }
}

/// The values of one variable over time.
struct Samples<'a> {
    time: &'a [f64],
    values: std::borrow::Cow<'a, [f64]>,
    step: bool,
}

/// Which limit to take at an event.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

impl Samples<'_> {
    /// The row whose value holds just before or from `time` on, and the next one.
    fn around(&self, time: f64, side: Side) -> (Option<usize>, usize) {
        let next = match side {
            Side::Left => self.time.partition_point(|&t| t < time),
            Side::Right => self.time.partition_point(|&t| t <= time),
        };
        (next.checked_sub(1), next)
    }

    /// The value at any time; `None` outside.
    fn at(&self, time: f64, side: Side) -> Option<f64> {
        let (before, next) = self.around(time, side);
        let exactly = |row: usize| (self.time.get(row) == Some(&time)).then(|| self.values[row]);
        match (before, side) {
            (_, Side::Left) if exactly(next).is_some() => return exactly(next),
            (Some(row), _) if exactly(row).is_some() => return exactly(row),
            _ => {}
        }
        let before = before?;
        let (left, right) = (self.values[before], *self.values.get(next)?);
        if self.step {
            return Some(left);
        }
        let fraction = (time - self.time[before]) / (self.time[next] - self.time[before]);
        Some(left + fraction * (right - left))
    }

    /// Whether a row is the left limit of an event.
    fn side_of(&self, row: usize) -> Side {
        let at_event = self.time.get(row + 1) == Some(&self.time[row]);
        if at_event { Side::Left } else { Side::Right }
    }

    /// Whether this is a step signal that has the value of a row for a shorter time.
    fn is_brief(&self, row: usize, duration: f64) -> bool {
        let (time, value) = (self.time, self.values[row]);
        let near = |other: usize| (time[other] - time[row]).abs() < duration;
        let same = |other: usize| self.values[other] == value || (self.values[other].is_nan() && value.is_nan());
        let first = (0..row).rev().take_while(|&other| near(other) && same(other)).last();
        let last = (row..time.len()).take_while(|&other| near(other) && same(other)).last();
        let end = last.map_or(row, |last| (last + 1).min(time.len() - 1));
        self.step && time[end] - time[first.unwrap_or(row)] < duration
    }

    fn extent(&self) -> Option<(f64, f64)> {
        let finite = self.values.iter().copied().filter(|value| value.is_finite());
        finite.fold(None, |extent: Option<(f64, f64)>, value| {
            let (low, high) = extent.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        })
    }
}

/// Lowest and highest value over a window that moves forward, and whether the curve is dead somewhere in it.
struct Window<'a> {
    samples: &'a Samples<'a>,
    shift: f64,
    next: usize,
    lowest: VecDeque<usize>,
    highest: VecDeque<usize>,
    dead: VecDeque<usize>,
}

impl<'a> Window<'a> {
    fn new(samples: &'a Samples<'a>, shift: f64) -> Self {
        let empty = VecDeque::new;
        Self {
            samples,
            shift,
            next: 0,
            lowest: empty(),
            highest: empty(),
            dead: empty(),
        }
    }

    fn enter(&mut self, row: usize) {
        let values = &self.samples.values;
        if !values[row].is_finite() {
            return self.dead.push_back(row);
        }
        while self.lowest.back().is_some_and(|&last| values[last] >= values[row]) {
            self.lowest.pop_back();
        }
        while self.highest.back().is_some_and(|&last| values[last] <= values[row]) {
            self.highest.pop_back();
        }
        self.lowest.push_back(row);
        self.highest.push_back(row);
    }

    /// Moves on to the window around `time`.
    fn around(&mut self, time: f64) -> (Option<(f64, f64)>, bool) {
        let Self { samples, shift, .. } = *self;
        let (from, to) = (time - shift, time + shift);
        while self.next < samples.time.len() && samples.time[self.next] <= to {
            self.enter(self.next);
            self.next += 1;
        }
        for queue in [&mut self.lowest, &mut self.highest, &mut self.dead] {
            while queue.front().is_some_and(|&row| samples.time[row] < from) {
                queue.pop_front();
            }
        }
        let ends = [samples.at(from, Side::Left), samples.at(to, Side::Right)];
        let dead = !self.dead.is_empty() || ends.iter().flatten().any(|value| !value.is_finite());
        let inner = self.lowest.front().zip(self.highest.front());
        let inner = inner.map(|(&low, &high)| (samples.values[low], samples.values[high]));
        let mut extent = inner;
        for value in ends.into_iter().flatten().filter(|value| value.is_finite()) {
            let (low, high) = extent.unwrap_or((value, value));
            extent = Some((low.min(value), high.max(value)));
        }
        (extent, dead)
    }
}

/// Both curves of a variable.
struct Pair<'a> {
    reference: Samples<'a>,
    candidate: Samples<'a>,
    half_width: f64,
    magnitude: f64,
    shift: f64,
}

/// The point farthest outside a tube.
#[derive(Clone, Copy, Default)]
struct Violations {
    excess: f64,
    time: Option<f64>,
    side: Option<Side>,
    count: usize,
}

impl<'a> Pair<'a> {
    fn new(
        reference: &'a Trajectory,
        candidate: &'a Trajectory,
        id: SignalId,
        other: SignalId,
        shift: f64,
        tolerances: &Tolerances,
    ) -> Self {
        // Files of other tools do not say which variables are steps: one side that knows is enough.
        let step = reference.schema().signal(id).kind.is_step() || candidate.schema().signal(other).kind.is_step();
        let samples = |trajectory: &'a Trajectory, id: SignalId| Samples {
            time: trajectory.time(),
            values: trajectory.values(id),
            step,
        };
        let (reference, candidate) = (samples(reference, id), samples(candidate, other));
        let (low, high) = reference.extent().unwrap_or((0.0, 0.0));
        let magnitude = low.abs().max(high.abs());
        // A constant with some noise has no range to speak of.
        let size = (high - low).max(1e-3 * magnitude);
        let half_width = tolerances.absolute + tolerances.relative * size;
        Self {
            reference,
            candidate,
            half_width,
            magnitude,
            shift,
        }
    }

    fn report(&self, name: &str, both_ways: bool) -> VariableReport {
        let (max_difference, difference_time, difference_side) = self.largest_difference();
        let mut worst = self.violations(&self.reference, &self.candidate);
        if both_ways {
            let back = self.violations(&self.candidate, &self.reference);
            let count = worst.count + back.count;
            worst = Violations {
                count,
                ..if back.excess > worst.excess { back } else { worst }
            };
        }
        let time = worst.time.unwrap_or(difference_time);
        let side = worst.side.unwrap_or(difference_side);
        let verdict = match worst.count {
            0 if self.is_identical() => Agreement::Identical,
            0 => Agreement::Within,
            _ => Agreement::Outside,
        };
        VariableReport {
            name: name.to_owned(),
            verdict,
            max_difference,
            max_relative_difference: if max_difference == 0.0 {
                0.0
            } else {
                max_difference / self.magnitude
            },
            worst_time: time,
            reference: self.reference.at(time, side).unwrap_or(f64::NAN),
            candidate: self.candidate.at(time, side).unwrap_or(f64::NAN),
            excess: worst.excess,
            half_width: self.half_width,
            points_outside: worst.count,
        }
    }

    fn is_identical(&self) -> bool {
        let same = |a: &f64, b: &f64| a == b || (a.is_nan() && b.is_nan());
        self.reference.time == self.candidate.time
            && self
                .reference
                .values
                .iter()
                .zip(self.candidate.values.iter())
                .all(|(a, b)| same(a, b))
    }

    fn largest_difference(&self) -> (f64, f64, Side) {
        let mut largest = (0.0, self.candidate.time.first().copied().unwrap_or(0.0), Side::Right);
        for (row, &time) in self.candidate.time.iter().enumerate() {
            let side = self.candidate.side_of(row);
            let Some(expected) = self.reference.at(time, side) else {
                continue;
            };
            let difference = (self.candidate.values[row] - expected).abs();
            if difference > largest.0 {
                largest = (difference, time, side);
            }
        }
        largest
    }

    /// Points of `curve` outside the tube around `center`. Times that `center` does not cover are left out: they
    /// are reported once for the whole result.
    fn violations(&self, center: &Samples<'_>, curve: &Samples<'_>) -> Violations {
        let mut window = Window::new(center, self.shift);
        let mut worst = Violations::default();
        for (row, (&time, &value)) in curve.time.iter().zip(curve.values.iter()).enumerate() {
            let (extent, dead) = window.around(time);
            let distance = match (value.is_finite(), extent) {
                (false, _) if dead => 0.0,
                (false, Some(_)) => f64::INFINITY,
                (false, None) => continue,
                (true, Some((low, high))) => (low - value).max(value - high).max(0.0),
                (true, None) if dead => f64::INFINITY,
                (true, None) => continue,
            };
            if distance <= self.half_width || curve.is_brief(row, PULSE * self.shift) {
                continue;
            }
            worst.count += 1;
            let excess = distance / self.half_width - 1.0;
            if worst.time.is_none() || excess > worst.excess {
                let (time, side) = (Some(time), Some(curve.side_of(row)));
                worst = Violations {
                    excess,
                    time,
                    side,
                    ..worst
                };
            }
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Schema, Signal, SignalKind};

    fn sampled(points: &[(f64, f64)], kind: SignalKind) -> Trajectory {
        let schema = Schema::new(vec![Signal::new("x").with_kind(kind)]).unwrap();
        let (time, values): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let modes = vec![0; time.len()];
        Trajectory::from_columns(schema, time, modes, vec![values]).unwrap()
    }

    fn wave(count: usize, f: impl Fn(f64) -> f64) -> Trajectory {
        let points: Vec<(f64, f64)> = (0..=count)
            .map(|k| k as f64 / count as f64 * 10.0)
            .map(|t| (t, f(t)))
            .collect();
        sampled(&points, SignalKind::Continuous)
    }

    fn verdict(a: &Trajectory, b: &Trajectory, tolerances: &Tolerances) -> VariableReport {
        compare(a, b, tolerances).variables.remove(0)
    }

    #[test]
    fn the_same_curve_with_other_points() {
        let (a, b) = (wave(1000, f64::sin), wave(730, f64::sin));
        assert_eq!(verdict(&a, &a, &Tolerances::default()).verdict, Agreement::Identical);
        let found = verdict(&a, &b, &Tolerances::default());
        assert_eq!(found.verdict, Agreement::Within);
        assert!(found.max_difference < 1e-4);
        assert!(compare(&a, &b, &Tolerances::default()).passed());
    }

    #[test]
    fn an_error_is_found_where_it_is() {
        let bump = |t: f64| t.sin() + 0.05 * (-50.0 * (t - 7.0) * (t - 7.0)).exp();
        let found = verdict(&wave(1000, f64::sin), &wave(1000, bump), &Tolerances::default());
        assert_eq!(found.verdict, Agreement::Outside);
        assert!((found.worst_time - 7.0).abs() < 0.1, "{found:?}");
        assert!((found.max_difference - 0.05).abs() < 1e-3);
        let lax = Tolerances {
            relative: 0.03,
            ..Tolerances::default()
        };
        assert_eq!(
            verdict(&wave(1000, f64::sin), &wave(1000, bump), &lax).verdict,
            Agreement::Within
        );
    }

    #[test]
    fn the_edge_of_the_tube_is_where_it_should_be() {
        // Range 2, so that the half-width is 0.02; no time tolerance.
        let tolerances = Tolerances {
            relative: 0.01,
            absolute: 0.0,
            time_relative: 0.0,
            ..Tolerances::default()
        };
        let a = wave(1000, |t| if t < 5.0 { -1.0 } else { 1.0 });
        for (offset, expected) in [(0.0199, Agreement::Within), (0.0201, Agreement::Outside)] {
            let b = wave(1000, |t| offset + if t < 5.0 { -1.0 } else { 1.0 });
            assert_eq!(verdict(&a, &b, &tolerances).verdict, expected);
        }
    }

    #[test]
    fn pulses_of_step_signals_without_width_do_not_count() {
        let pulse = |width: f64, kind| {
            let points = [
                (0.0, 0.0),
                (5.0, 0.0),
                (5.0, 1.0),
                (5.0 + width, 1.0),
                (5.0 + width, 0.0),
                (10.0, 0.0),
            ];
            sampled(&points, kind)
        };
        let (step, none) = (|| SignalKind::Discrete, [(0.0, 0.0), (10.0, 0.0)]);
        for (width, expected) in [
            (0.0, Agreement::Within),
            (1e-8, Agreement::Within),
            (1e-4, Agreement::Outside),
        ] {
            let (with, without) = (pulse(width, step()), sampled(&none, step()));
            assert_eq!(
                verdict(&with, &without, &Tolerances::default()).verdict,
                expected,
                "{width}"
            );
            assert_eq!(
                verdict(&without, &with, &Tolerances::default()).verdict,
                expected,
                "{width}"
            );
        }
        let found = verdict(
            &pulse(1e-8, SignalKind::Continuous),
            &sampled(&none, SignalKind::Continuous),
            &Tolerances::default(),
        );
        assert_eq!(found.verdict, Agreement::Outside);
        // Nor does what an event at the very end sets.
        let last = sampled(&[(0.0, 0.0), (10.0, 0.0), (10.0, 1.0)], step());
        let found = verdict(&sampled(&none, step()), &last, &Tolerances::default());
        assert_eq!(found.verdict, Agreement::Within);
    }

    #[test]
    fn events_may_shift_by_the_time_tolerance() {
        let jump = |at: f64| sampled(&[(0.0, 0.0), (at, 0.0), (at, 1.0), (10.0, 1.0)], SignalKind::Continuous);
        let tolerances = Tolerances {
            time_relative: 0.0,
            time_absolute: 0.01,
            ..Tolerances::default()
        };
        assert_eq!(
            verdict(&jump(5.0), &jump(5.009), &tolerances).verdict,
            Agreement::Within
        );
        let late = verdict(&jump(5.0), &jump(5.02), &tolerances);
        assert_eq!((late.verdict, late.worst_time), (Agreement::Outside, 5.02));
    }

    #[test]
    fn step_signals_hold_their_value() {
        let steps = |points: &[(f64, f64)]| sampled(points, SignalKind::Discrete);
        let a = steps(&[(0.0, 1.0), (5.0, 1.0), (5.0, 2.0), (10.0, 2.0)]);
        let same = steps(&[(0.0, 1.0), (4.0, 1.0), (5.0, 2.0), (10.0, 2.0)]);
        assert_eq!(verdict(&a, &same, &Tolerances::default()).verdict, Agreement::Within);
    }

    #[test]
    fn a_missed_pulse_is_seen_from_the_other_side() {
        let pulse = sampled(
            &[(0.0, 0.0), (4.9, 0.0), (5.0, 1.0), (5.1, 0.0), (10.0, 0.0)],
            SignalKind::Continuous,
        );
        let flat = sampled(&[(0.0, 0.0), (10.0, 0.0)], SignalKind::Continuous);
        assert_eq!(
            verdict(&pulse, &flat, &Tolerances::default()).verdict,
            Agreement::Outside
        );
        let one_way = Tolerances {
            both_ways: false,
            ..Tolerances::default()
        };
        assert_eq!(verdict(&pulse, &flat, &one_way).verdict, Agreement::Within);
    }

    #[test]
    fn dead_must_be_dead() {
        let alive = wave(100, f64::sin);
        let dead = wave(100, |t| if t > 5.0 { f64::NAN } else { t.sin() });
        assert_eq!(
            verdict(&dead, &dead, &Tolerances::default()).verdict,
            Agreement::Identical
        );
        for (a, b) in [(&alive, &dead), (&dead, &alive)] {
            let found = verdict(a, b, &Tolerances::default());
            assert_eq!((found.verdict, found.excess), (Agreement::Outside, f64::INFINITY));
        }
    }

    #[test]
    fn missing_variables_and_short_runs_fail() {
        let a = wave(100, f64::sin);
        let none = Trajectory::from_columns(Schema::default(), a.time().to_vec(), a.modes().to_vec(), vec![]).unwrap();
        let report = compare(&a, &none, &Tolerances::default());
        assert_eq!(report.missing, ["x"]);
        assert!(!report.passed());
        assert_eq!(compare(&none, &a, &Tolerances::default()).extra, ["x"]);
        let short = sampled(&[(0.0, 0.0), (0.1, f64::sin(0.1))], SignalKind::Continuous);
        let report = compare(&a, &short, &Tolerances::default());
        assert_eq!(report.time_ranges, Some([(0.0, 10.0), (0.0, 0.1)]));
        assert!(!report.passed());
        assert!(!compare(&a, &sampled(&[], SignalKind::Continuous), &Tolerances::default()).passed());
    }
}
