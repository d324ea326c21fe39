//! Delayed signals: what an expression was some time ago.

use saltus_codegen::KernelCache;
use saltus_mdae::{ExprPool, Mdae, VarId};

use crate::error::Failure;
use crate::kernel::Bound;
use crate::memory::Memory;

#[derive(Clone, Debug)]
struct Line {
    output: VarId,
    expression: Bound,
    delay: Bound,
    max_delay: Bound,
    /// Times, ascending; two entries at one time are a jump.
    times: Vec<f64>,
    values: Vec<f64>,
}

/// The past of all delayed expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    lines: Vec<Line>,
}

impl History {
    pub(crate) fn new(model: &Mdae, pool: &ExprPool, cache: &KernelCache, memory: &Memory) -> Result<Self, Failure> {
        let mut lines = Vec::new();
        for delay in &model.delays {
            let bind = |expr| Bound::of_value(cache, pool, expr, memory);
            lines.push(Line {
                output: delay.output,
                expression: bind(delay.expression)?,
                delay: bind(delay.delay)?,
                max_delay: bind(delay.max_delay)?,
                times: Vec::new(),
                values: Vec::new(),
            });
        }
        Ok(History { lines })
    }

    /// The present values become part of the past.
    pub(crate) fn record(&mut self, memory: &Memory) {
        let time = memory.time();
        for line in &mut self.lines {
            line.times.push(time);
            line.values.push(line.expression.value(memory));
            let oldest = time - line.max_delay.value(memory);
            let drop = line.times.partition_point(|&t| t < oldest).saturating_sub(2);
            // Forget in large pieces, so that the cost per step stays constant.
            if drop > 1024 {
                line.times.drain(..drop);
                line.values.drain(..drop);
            }
        }
    }

    /// Writes the delayed values at a time into memory. Before anything is known it is the first value.
    pub(crate) fn apply(&self, time: f64, memory: &mut Memory) {
        for line in &self.lines {
            let value = match line.times.first() {
                None => line.expression.value(memory),
                Some(_) => line.at(time - line.delay.value(memory)),
            };
            memory.set(line.output, 0, value);
        }
    }

    /// A step may not be longer than the shortest delay, so that the past is always known.
    pub(crate) fn max_step(&self, memory: &Memory) -> f64 {
        let delays = self
            .lines
            .iter()
            .map(|line| line.delay.value(memory))
            .filter(|&d| d > 0.0);
        delays.fold(f64::INFINITY, f64::min)
    }
}

impl Line {
    fn at(&self, time: f64) -> f64 {
        let after = self.times.partition_point(|&t| t <= time);
        match after {
            0 => self.values[0],
            n if n == self.times.len() => self.values[n - 1],
            n => {
                let (t0, t1) = (self.times[n - 1], self.times[n]);
                self.values[n - 1] + (self.values[n] - self.values[n - 1]) * (time - t0) / (t1 - t0)
            }
        }
    }
}
