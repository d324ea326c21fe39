//! Signals given from outside: piecewise linear or constant functions of time with jumps.

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
    /// Whether a value holds until the next point, as that of a Boolean does, instead of changing linearly.
    pub held: bool,
}

/// The signals given from outside.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pub signals: Vec<InputSignal>,
    /// The time whose pieces of the signals hold.
    pub from: f64,
}

impl Default for Inputs {
    fn default() -> Self {
        Inputs {
            signals: Vec::new(),
            from: f64::NEG_INFINITY,
        }
    }
}

impl InputSignal {
    /// Value and slope at a time, continued constantly outside the points; at a jump the right limit.
    pub fn at(&self, time: f64) -> (f64, f64) {
        self.at_from(time, time)
    }

    /// Value and slope on the piece that begins at the last point not after `from`: at its end the left limit.
    pub(crate) fn at_from(&self, from: f64, time: f64) -> (f64, f64) {
        let after = self.times.partition_point(|&t| t <= from);
        let Some(left) = after.checked_sub(1) else {
            return (self.values.first().copied().unwrap_or(0.0), 0.0);
        };
        match self.times.get(after) {
            Some(&end) if !self.held => {
                let slope = (self.values[after] - self.values[left]) / (end - self.times[left]);
                (self.values[left] + slope * (time - self.times[left]), slope)
            }
            _ => (self.values[left], 0.0),
        }
    }

    /// The first point behind a time: slope or value may jump there.
    pub fn next_point(&self, time: f64) -> Option<f64> {
        self.times.get(self.times.partition_point(|&t| t <= time)).copied()
    }
}

impl Engine {
    /// Writes the right limits of the inputs at a time into memory. Until the next call they stay on the pieces that
    /// begin here: the left limits at the next point belong to the mode before it.
    pub(crate) fn apply_inputs(&mut self, time: f64) {
        self.inputs.from = time + self.scales.time_error(time);
        apply(&self.inputs.signals, self.inputs.from, time, &mut self.memory);
    }
}

pub(crate) fn apply(signals: &[InputSignal], from: f64, time: f64, memory: &mut crate::memory::Memory) {
    for signal in signals {
        let (value, slope) = signal.at_from(from, time);
        memory.set(signal.var, 0, value);
        if memory.orders(signal.var) > 1 {
            memory.set(signal.var, 1, slope);
        }
    }
}
