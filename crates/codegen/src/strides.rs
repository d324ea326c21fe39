//! Runs of instances whose slots and destinations advance by constant strides.

use std::sync::Arc;
use std::sync::OnceLock;

use crate::code::Code;
use crate::entry::Native;

/// Instances from which machine code of its own pays for a run.
const SHORTEST_RUN: usize = 64;
/// Strides beyond this are not worth the trouble.
const LONGEST_STRIDE: i64 = 1 << 20;

/// By how much each slot and each destination advances from instance to instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Strides {
    pub(crate) slots: Vec<i64>,
    pub(crate) destinations: Vec<i64>,
}

impl Strides {
    /// A stride in bytes.
    pub(crate) fn bytes(stride: i64) -> i32 {
        // In range because of `LONGEST_STRIDE`.
        8 * stride as i32
    }
}

/// Machine code of a tape for given strides.
#[derive(Debug)]
pub(crate) struct StridedCode {
    pub(crate) code: Arc<Code>,
    pub(crate) strides: Strides,
    /// Machine code, or the failure to make any.
    pub(crate) native: OnceLock<Option<Native>>,
}

/// Consecutive instances; with strides if there are many with the same.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) count: usize,
    pub(crate) strides: Option<Strides>,
}

/// Cuts instances into runs; `leaves` and `outputs` are the numbers of slots and destinations of an instance.
pub(crate) fn runs(count: usize, slots: &[u32], leaves: usize, destinations: &[u32], outputs: usize) -> Vec<Run> {
    let step = |instance: usize| -> Option<Strides> {
        (instance + 1 < count).then_some(())?;
        Some(Strides {
            slots: differences(slots, leaves, instance)?,
            destinations: differences(destinations, outputs, instance)?,
        })
    };
    let mut runs: Vec<Run> = Vec::new();
    let mut start = 0;
    while start < count {
        let strides = step(start);
        let mut end = start + 1;
        while strides.is_some() && end < count && step(end - 1) == strides {
            end += 1;
        }
        if end - start >= SHORTEST_RUN {
            runs.push(Run {
                start,
                count: end - start,
                strides,
            });
            start = end;
        } else {
            // The last of a short run may be the first of a longer one.
            let single = if end - start > 1 { end - 1 } else { end };
            extend_plain(&mut runs, start, single - start);
            start = single;
        }
    }
    runs
}

fn extend_plain(runs: &mut Vec<Run>, start: usize, count: usize) {
    match runs.last_mut() {
        Some(last) if last.strides.is_none() => last.count += count,
        _ => runs.push(Run {
            start,
            count,
            strides: None,
        }),
    }
}

fn differences(places: &[u32], width: usize, instance: usize) -> Option<Vec<i64>> {
    (0..width)
        .map(|k| {
            let here = i64::from(places[instance * width + k]);
            let there = i64::from(places[(instance + 1) * width + k]);
            let stride = there - here;
            (stride.abs() <= LONGEST_STRIDE).then_some(stride)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_all_instances_once_and_have_their_strides() {
        // Slots: 10 irregular, 100 with strides (1, 0), 3 irregular, 70 with strides (−2, 5).
        let mut slots: Vec<u32> = (0..10u32).flat_map(|k| [k * k * 7 % 31, k * k]).collect();
        slots.extend((0..100u32).flat_map(|k| [500 + k, 3]));
        slots.extend([1, 1, 90, 2, 4, 77]);
        slots.extend((0..70u32).flat_map(|k| [900 - 2 * k, 5 * k]));
        let count = slots.len() / 2;
        let destinations: Vec<u32> = (0..count as u32).collect();
        let runs = runs(count, &slots, 2, &destinations, 1);
        let mut next = 0;
        for run in &runs {
            assert_eq!(run.start, next);
            next += run.count;
            if let Some(strides) = &run.strides {
                for instance in run.start..run.start + run.count - 1 {
                    assert_eq!(differences(&slots, 2, instance).as_ref(), Some(&strides.slots));
                }
            }
        }
        assert_eq!(next, count);
        let strided: Vec<usize> = runs
            .iter()
            .filter(|run| run.strides.is_some())
            .map(|run| run.count)
            .collect();
        assert_eq!(strided, [100, 70]);
    }
}
