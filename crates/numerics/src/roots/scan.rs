//! Scanning a step for the earliest event.

use super::bracket::{Narrowing, RootError, TimeTolerance};
use crate::EvalError;

/// The condition functions of a mode, evaluated together on dense output.
pub trait ConditionFunctions {
    /// How many.
    fn count(&self) -> usize;

    /// Their values at a time within the step.
    ///
    /// # Errors
    /// If one cannot be evaluated there.
    fn evaluate(&mut self, t: f64, values: &mut [f64]) -> Result<(), EvalError>;

    /// What a value of function `i` may be off by: smaller features of it are not looked for.
    fn noise(&self, i: usize) -> f64 {
        let _ = i;
        0.0
    }
}

/// Where samples are taken inside a step: of many triples tried, the one that misses fewest oscillations of up to 25 periods
/// per step (1 in 800 of those tried; evenly spaced samples miss 1 in 10).
const SHARES: [f64; 3] = [0.1466, 0.2998, 0.7054];
/// A sample missed by this share of the largest value is not told by the others …
const UNRESOLVED: f64 = 0.02;
/// … if that is also this share of the smallest: otherwise g is too far from zero for it to matter.
const NEAR_ZERO: f64 = 0.1;

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanOptions {
    /// How often a step is halved where the samples do not show the course of a function: what depends on time directly
    /// is nothing that the step size follows.
    pub halvings: usize,
    /// Whether to search for minima of |g| between samples: finds pairs of crossings within one sample interval.
    pub find_double_roots: bool,
    /// Evaluations spent on one such search.
    pub extremum_evaluations: usize,
    /// A minimum is searched where a parabola through three samples predicts |g| below this share of its
    /// largest value there.
    pub suspicious_share: f64,
    /// Width of the final bracket.
    pub tolerance: TimeTolerance,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            halvings: 6,
            find_double_roots: true,
            extremum_evaluations: 24,
            suspicious_share: 0.25,
            tolerance: TimeTolerance::default(),
        }
    }
}

/// The earliest event of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct EventInstant {
    /// No function has changed side here.
    pub left: f64,
    /// Some have changed here; at most the tolerance later.
    pub right: f64,
    /// The functions that have changed side at `right`, ascending: simultaneous within the bracket.
    pub changed: Vec<usize>,
    /// All values at `left`.
    pub left_values: Vec<f64>,
    /// All values at `right`.
    pub right_values: Vec<f64>,
}

/// Finds the earliest change of side within a step.
///
/// `sides` tells for every function whether it counts as positive at `t_old` (g may be zero there). A function
/// that is on the other side right at `t_old` by more than its being zero changes in the first bracket.
///
/// # Errors
/// If a function fails where it has to be evaluated.
pub fn first_event(
    functions: &mut dyn ConditionFunctions,
    (t_old, t_new): (f64, f64),
    sides: &[bool],
    options: &ScanOptions,
) -> Result<Option<EventInstant>, RootError> {
    let count = functions.count();
    assert_eq!(sides.len(), count, "one side for every function");
    if count == 0 || !(t_new > t_old) {
        return Ok(None);
    }
    let mut scan = Scan {
        functions,
        sides,
        options,
        end: t_new,
    };
    let start = scan.sample(t_old)?;
    scan.interval(start, t_new, options.halvings)
}

#[derive(Clone, Debug)]
struct Sample {
    t: f64,
    values: Vec<f64>,
}

struct Scan<'a> {
    functions: &'a mut dyn ConditionFunctions,
    sides: &'a [bool],
    options: &'a ScanOptions,
    end: f64,
}

impl Scan<'_> {
    /// The earliest event between a sample before any change and a time.
    fn interval(&mut self, start: Sample, t_new: f64, halvings: usize) -> Result<Option<EventInstant>, RootError> {
        let times = self.sample_times(start.t, t_new);
        let mut samples: Vec<Sample> = vec![start];
        let mut flipped = false;
        for t in times {
            let sample = self.sample(t)?;
            // The start counts as on the given sides whatever the rounding of g.
            flipped = self.any_flipped(&sample.values);
            samples.push(sample);
            if flipped {
                break;
            }
        }
        if !flipped && halvings > 0 && samples.len() == SHARES.len() + 4 && !self.is_resolved(&samples) {
            let first = samples.swap_remove(0);
            let middle = first.t + 0.5 * (t_new - first.t);
            if let Some(event) = self.interval(first, middle, halvings - 1)? {
                return Ok(Some(event));
            }
            let middle = self.sample(middle)?;
            return self.interval(middle, t_new, halvings - 1);
        }
        self.earliest(samples)
    }

    /// After the start: three samples inside at odd places, so that no period divides their distances; and one close to
    /// each end, which shows which way g is heading there.
    fn sample_times(&self, t_old: f64, t_new: f64) -> Vec<f64> {
        let h = t_new - t_old;
        let mut times = vec![t_old + h / 64.0];
        times.extend(SHARES.iter().map(|share| t_old + h * share));
        times.push(t_new - h / 64.0);
        times.push(t_new);
        times.dedup_by(|b, a| *b <= *a);
        times.retain(|&t| t > t_old);
        times
    }

    /// Whether the cubic through the others tells each of the inner samples of every function, or misses it by so little
    /// that no crossing can hide between the samples.
    fn is_resolved(&self, samples: &[Sample]) -> bool {
        (2..samples.len() - 2).all(|left_out| self.is_told_by_others(samples, left_out))
    }

    fn is_told_by_others(&self, samples: &[Sample], left_out: usize) -> bool {
        let others: Vec<usize> = (1..samples.len() - 1).filter(|&k| k != left_out).collect();
        let t = samples[left_out].t;
        let weight = |k: usize| -> f64 {
            let factors = others.iter().filter(|&&j| j != k);
            factors
                .map(|&j| (t - samples[j].t) / (samples[k].t - samples[j].t))
                .product()
        };
        let weights: Vec<f64> = others.iter().map(|&k| weight(k)).collect();
        (0..self.sides.len()).all(|i| {
            let predicted: f64 = others
                .iter()
                .zip(&weights)
                .map(|(&k, w)| w * samples[k].values[i])
                .sum();
            let missed = (predicted - samples[left_out].values[i]).abs();
            let sizes = samples[1..].iter().map(|sample| sample.values[i].abs());
            let (least, most) = sizes.fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
            !(missed > UNRESOLVED * most && missed > NEAR_ZERO * least && missed > 10.0 * self.functions.noise(i))
        })
    }

    fn sample(&mut self, t: f64) -> Result<Sample, RootError> {
        let mut values = vec![0.0; self.sides.len()];
        self.functions
            .evaluate(t, &mut values)
            .map_err(|error| RootError::Evaluation { t, error })?;
        Ok(Sample { t, values })
    }

    fn is_flipped(&self, i: usize, value: f64) -> bool {
        (value > 0.0) != self.sides[i]
    }

    fn any_flipped(&self, values: &[f64]) -> bool {
        (0..values.len()).any(|i| self.is_flipped(i, values[i]))
    }

    /// Samples are unflipped except perhaps the last one; looks for pairs of crossings in between first.
    fn earliest(&mut self, samples: Vec<Sample>) -> Result<Option<EventInstant>, RootError> {
        if self.options.find_double_roots {
            for k in 1..samples.len().saturating_sub(1) {
                if let Some(hidden) = self.hidden_crossing(&samples[k - 1..=k + 1])? {
                    let left = samples[..=k].iter().rposition(|s| s.t < hidden.t).unwrap_or(0);
                    return self.narrow(samples[left].clone(), hidden).map(Some);
                }
            }
        }
        let Some((last, before)) = samples.split_last() else {
            return Ok(None);
        };
        match before.last() {
            Some(left) if self.any_flipped(&last.values) => self.narrow(left.clone(), last.clone()).map(Some),
            _ => Ok(None),
        }
    }

    /// The earliest point, if any, near a local minimum of |g| at which a function is on the other side.
    fn hidden_crossing(&mut self, triple: &[Sample]) -> Result<Option<Sample>, RootError> {
        let mut earliest: Option<Sample> = None;
        for i in 0..self.sides.len() {
            let g = [triple[0].values[i], triple[1].values[i], triple[2].values[i]];
            // Zero at the start belongs to the given side; it is no minimum to be searched.
            if self.is_flipped(i, g[2]) || self.is_flipped(i, g[1]) || !self.is_suspicious(triple, g) {
                continue;
            }
            if let Some(found) = self.search_minimum(i, triple)?
                && earliest.as_ref().is_none_or(|e| found.t < e.t)
            {
                earliest = Some(found);
            }
        }
        Ok(earliest)
    }

    fn is_suspicious(&self, triple: &[Sample], g: [f64; 3]) -> bool {
        let [a, m, b] = g.map(f64::abs);
        if !(m <= a && m <= b && a.is_finite() && b.is_finite()) {
            return false;
        }
        let (x, y) = (triple[0].t - triple[1].t, triple[2].t - triple[1].t);
        // Parabola m + p·s + q·s² through the three points.
        let (da, db) = ((a - m) / x, (b - m) / y);
        let q = (da - db) / (x - y);
        let p = da - q * x;
        let lowest = if q > 0.0 { m - 0.25 * p * p / q } else { m };
        lowest <= self.options.suspicious_share * a.max(b)
    }

    /// Golden section on |g|; stops as soon as the function is on the other side.
    fn search_minimum(&mut self, i: usize, triple: &[Sample]) -> Result<Option<Sample>, RootError> {
        const GOLDEN: f64 = 0.381_966_011_250_105_1;
        let (mut a, mut b) = (triple[0].t, triple[2].t);
        let (mut m, mut value) = (triple[1].t, triple[1].values[i].abs());
        let resolution = self.options.tolerance.at(b);
        for _ in 0..self.options.extremum_evaluations {
            if b - a <= resolution {
                break;
            }
            let t = if m - a > b - m {
                m - GOLDEN * (m - a)
            } else {
                m + GOLDEN * (b - m)
            };
            let sample = self.sample(t)?;
            if self.is_flipped(i, sample.values[i]) {
                return Ok(Some(sample));
            }
            let size = sample.values[i].abs();
            if size < value {
                if t < m {
                    b = m;
                } else {
                    a = m;
                }
                (m, value) = (t, size);
            } else if t < m {
                a = t;
            } else {
                b = t;
            }
        }
        Ok(None)
    }

    fn narrow(&mut self, left: Sample, right: Sample) -> Result<EventInstant, RootError> {
        let mut narrowing = Narrowing {
            left: left.t,
            right: right.t,
            left_values: left.values,
            right_values: right.values,
            sides: self.sides,
        };
        let functions = &mut *self.functions;
        // Half the tolerance is left for functions that change right after the first one.
        let half = TimeTolerance {
            ulps: 0.5 * self.options.tolerance.ulps,
            relative: 0.5 * self.options.tolerance.relative,
        };
        narrowing.run(half, |t, values| {
            functions
                .evaluate(t, values)
                .map_err(|error| RootError::Evaluation { t, error })
        })?;
        if self.sides.len() > 1 {
            self.widen(&mut narrowing)?;
        }
        Ok(EventInstant {
            left: narrowing.left,
            right: narrowing.right,
            changed: narrowing.flipped(),
            left_values: narrowing.left_values,
            right_values: narrowing.right_values,
        })
    }

    /// Moves the right end to the full tolerance where more functions have changed there: they are simultaneous,
    /// also if one of them is exactly zero at the end found first.
    fn widen(&mut self, narrowing: &mut Narrowing<'_>) -> Result<(), RootError> {
        let right = (narrowing.left + self.options.tolerance.at(narrowing.left)).min(self.end);
        if right <= narrowing.right {
            return Ok(());
        }
        let probe = self.sample(right)?;
        let changed = narrowing.flipped();
        let stay = changed.iter().all(|&i| self.is_flipped(i, probe.values[i]));
        let count = (0..probe.values.len())
            .filter(|&i| self.is_flipped(i, probe.values[i]))
            .count();
        if stay && count > changed.len() {
            narrowing.right = right;
            narrowing.right_values = probe.values;
        }
        Ok(())
    }
}
