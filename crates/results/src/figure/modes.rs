//! Stretches of time in which something is constant: modes, Booleans, enumerations.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{SignalId, SignalKind, Trajectory};

use super::Strip;
use super::curves::Scale;

/// Narrower stretches are merged when there are more than this.
const MOST_STRETCHES: usize = 300;

/// A stretch of time in one mode.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeBand {
    /// Start.
    pub start: f64,
    /// End.
    pub stop: f64,
    /// The mode.
    pub mode: u32,
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
    let held = merge_narrow(held, range, resolution);
    let mut colors: BTreeMap<u32, usize> = BTreeMap::new();
    let bands: Vec<ModeBand> = held
        .into_iter()
        .map(|(start, stop, mode)| {
            let mode = mode as u32;
            let next = colors.len();
            let color = *colors.entry(mode).or_insert(next);
            ModeBand {
                start,
                stop,
                mode,
                label: label(trajectory, mode),
                color,
            }
        })
        .collect();
    if colors.len() > 1 { bands } else { Vec::new() }
}

fn label(trajectory: &Trajectory, mode: u32) -> String {
    match trajectory.mode_records().get(&mode) {
        Some(record) if !record.label.is_empty() => record.label.clone(),
        _ => format!("mode {mode}"),
    }
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
    let stretches = merge_narrow(held, scale.time_range, scale.resolution);
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

/// With very many stretches, each column of pixels shows the value that holds longest in it.
fn merge_narrow(stretches: Vec<(f64, f64, f64)>, (start, stop): (f64, f64), resolution: usize) -> Vec<(f64, f64, f64)> {
    if stretches.len() <= MOST_STRETCHES {
        return stretches;
    }
    let bins = resolution.clamp(1, MOST_STRETCHES);
    let width = (stop - start) / bins as f64;
    let mut shares: Vec<BTreeMap<u64, f64>> = vec![BTreeMap::new(); bins];
    for &(from, to, value) in &stretches {
        let first = (((from - start) / width) as usize).min(bins - 1);
        let last = (((to - start) / width) as usize).min(bins - 1);
        for (bin, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
            let left = start + bin as f64 * width;
            let overlap = to.min(left + width) - from.max(left);
            *share.entry(value.to_bits()).or_insert(0.0) += overlap;
        }
    }
    let mut result: Vec<(f64, f64, f64)> = Vec::new();
    for (bin, share) in shares.iter().enumerate() {
        let Some((&bits, _)) = share.iter().max_by(|a, b| a.1.total_cmp(b.1)) else {
            continue;
        };
        let (value, left) = (f64::from_bits(bits), start + bin as f64 * width);
        match result.last_mut() {
            Some(last) if last.2 == value && left - last.1 < 0.5 * width => last.1 = left + width,
            _ => result.push((left, left + width, value)),
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
    fn chatter_becomes_what_prevails() {
        let quick: Vec<(f64, f64, f64)> = (0..10_000)
            .map(|k| {
                let (from, value) = (f64::from(k) * 1e-4, f64::from(k % 2));
                (from, from + 1e-4, value)
            })
            .collect();
        assert!(merge_narrow(quick, (0.0, 1.0), 800).len() <= 300);
    }
}
