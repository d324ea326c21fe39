//! Signals given from outside: piecewise linear functions of time with jumps.

use saltus_mdae::VarId;

use crate::engine::Engine;

/// An input as points in time; two points at the same time are a jump.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSignal {
    /// The input variable.
    pub var: VarId,
    /// Times, ascending.
    pub times: Vec<f64>,
    /// Values.
    pub values: Vec<f64>,
}

impl InputSignal {
    /// Value and slope at a time, continued constantly outside the points; at a jump the right limit.
    pub fn at(&self, time: f64) -> (f64, f64) {
        let after = self.times.partition_point(|&t| t <= time);
        match (after.checked_sub(1), self.times.get(after)) {
            (None, _) => (self.values.first().copied().unwrap_or(0.0), 0.0),
            (Some(last), None) => (self.values[last], 0.0),
            (Some(left), Some(&end)) => {
                let slope = (self.values[after] - self.values[left]) / (end - self.times[left]);
                (self.values[left] + slope * (time - self.times[left]), slope)
            }
        }
    }

    /// The first point behind a time: slope or value may jump there.
    pub fn next_point(&self, time: f64) -> Option<f64> {
        self.times
            .iter()
            .copied()
            .find(|&t| t > time + 1e-12 * (1.0 + time.abs()))
    }
}

impl Engine<'_> {
    /// Writes the inputs at a time into memory.
    pub(crate) fn apply_inputs(&mut self, time: f64) {
        apply(&self.signals, time, &mut self.memory);
    }
}

pub(crate) fn apply(signals: &[InputSignal], time: f64, memory: &mut crate::memory::Memory) {
    for signal in signals {
        let (value, slope) = signal.at(time);
        memory.set(signal.var, 0, value);
        if memory.orders(signal.var) > 1 {
            memory.set(signal.var, 1, slope);
        }
    }
}
