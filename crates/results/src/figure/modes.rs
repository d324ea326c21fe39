//! Stretches of time in which something is constant: modes, Booleans, enumerations.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{SignalId, SignalKind, Trajectory};

use super::Strip;
use super::curves::Scale;
use super::labels::mode_labels;

/// A stretch of fewer pixels cannot show its colour.
const NARROW: f64 = 5.0;

/// A stretch of time in one mode.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeBand {
    /// Start.
    pub start: f64,
    /// End.
    pub stop: f64,
    /// The mode; the first one of a band that stands for several.
    pub mode: u32,
    /// How many stretches it stands for that are each too short to show a colour; 0 for a mode that shows its own.
    pub quick: usize,
    /// What it is called.
    pub label: String,
    /// Position in the palette: modes are numbered in order of appearance.
    pub color: usize,
}

/// The rows to draw: those in the range and one more on either side.
pub(super) fn window(time: &[f64], (start, stop): (f64, f64)) -> Range<usize> {
    let first = time.partition_point(|&t| t < start).saturating_sub(1);
    let last = (time.partition_point(|&t| t <= stop) + 1).min(time.len());
    first.min(last)..last
}

/// The modes over time; empty if there is one only.
pub(super) fn bands(
    trajectory: &Trajectory,
    range: (f64, f64),
    window: &Range<usize>,
    resolution: usize,
) -> Vec<ModeBand> {
    let modes = trajectory.modes();
    let held = stretches(trajectory.time(), window, range, |row| f64::from(modes[row]));
    let mut colors: BTreeMap<u32, usize> = BTreeMap::new();
    let labels = mode_labels(trajectory);
    for &(_, _, mode) in &held {
        let next = colors.len();
        colors.entry(mode as u32).or_insert(next);
    }
    let bands: Vec<ModeBand> = visible(held, range, resolution)
        .into_iter()
        .map(
            |Stretch {
                 start,
                 stop,
                 value,
                 quick,
             }| {
                let mode = value as u32;
                ModeBand {
                    start,
                    stop,
                    mode,
                    quick,
                    label: labels.get(&mode).cloned().unwrap_or_else(|| format!("mode {mode}")),
                    color: colors.get(&mode).copied().unwrap_or(0),
                }
            },
        )
        .collect();
    if colors.len() > 1 { bands } else { Vec::new() }
}

/// A Boolean or enumeration as a strip.
pub(super) fn strip(trajectory: &Trajectory, id: SignalId, scale: &Scale, color: usize) -> Strip {
    let signal = trajectory.schema().signal(id);
    let values = trajectory.values(id);
    let held = stretches(trajectory.time(), &scale.window, scale.time_range, |row| values[row]);
    let literals = match &signal.kind {
        SignalKind::Enumeration(literals) => literals.clone(),
        _ => Vec::new(),
    };
    let stretches = visible(held, scale.time_range, scale.resolution);
    Strip {
        name: signal.name.clone(),
        color,
        stretches,
        literals,
    }
}

/// Stretches of equal value (from, to, value), each from its first row to the first row of the next. Dead values
/// make gaps.
fn stretches(
    time: &[f64],
    window: &Range<usize>,
    (start, stop): (f64, f64),
    value: impl Fn(usize) -> f64,
) -> Vec<(f64, f64, f64)> {
    let mut result: Vec<(f64, f64, f64)> = Vec::new();
    let mut open: Option<(f64, f64)> = None;
    let mut close = |from: f64, to: f64, value: f64| {
        let (from, to) = (from.max(start), to.min(stop));
        if to > from {
            result.push((from, to, value));
        }
    };
    let mut end = start;
    for row in window.clone() {
        let here = value(row);
        match open {
            Some((_, held)) if held == here => {}
            _ => {
                if let Some((from, held)) = open.take() {
                    close(from, time[row], held);
                }
                open = (!here.is_nan()).then_some((time[row], here));
            }
        }
        end = time[row];
    }
    if let Some((from, held)) = open {
        close(from, end, held);
    }
    result
}

/// A stretch of time as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Start.
    pub start: f64,
    /// End.
    pub stop: f64,
    /// The value held; the first one of a stretch that stands for several.
    pub value: f64,
    /// How many stretches it stands for that are each too short to be seen; 0 for one that is seen.
    pub quick: usize,
}

/// Neighbours that are each too short to be seen become one stretch that says how many they are: none is left out.
fn visible(stretches: Vec<(f64, f64, f64)>, (start, stop): (f64, f64), resolution: usize) -> Vec<Stretch> {
    let narrow = NARROW * (stop - start) / resolution.max(1) as f64;
    let mut result: Vec<Stretch> = Vec::new();
    for (from, to, value) in stretches {
        let quick = usize::from(to - from < narrow);
        match result.last_mut() {
            Some(last) if quick == 1 && last.quick > 0 && from - last.stop < narrow => {
                last.stop = to;
                last.quick += 1;
            }
            _ => result.push(Stretch {
                start: from,
                stop: to,
                value,
                quick,
            }),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_end_where_the_next_begins() {
        let time = [0.0, 1.0, 2.0, 2.0, 3.0, 4.0];
        let values = [1.0, 1.0, 1.0, 0.0, f64::NAN, 1.0];
        let found = stretches(&time, &(0..6), (0.5, 10.0), |row| values[row]);
        assert_eq!(found, [(0.5, 2.0, 1.0), (2.0, 3.0, 0.0)]);
    }

    #[test]
    fn chatter_is_one_stretch_that_counts() {
        let quick = (0..10_000).map(|k| {
            let (from, value) = (f64::from(k) * 1e-4, f64::from(k % 2));
            (from, from + 1e-4, value)
        });
        let all: Vec<(f64, f64, f64)> = quick.chain([(1.0, 2.0, 7.0), (2.0, 2.0001, 3.0)]).collect();
        let shown = visible(all, (0.0, 3.0), 800);
        assert_eq!(shown.iter().map(|s| s.quick).collect::<Vec<_>>(), [10_000, 0, 1]);
        assert_eq!((shown[0].start, shown[1].value), (0.0, 7.0));
    }
}
