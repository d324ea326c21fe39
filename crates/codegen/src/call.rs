//! Calls of user functions that stay calls.

use std::collections::BTreeMap;

use saltus_mdae::FunctionId;

use crate::function::DIRECTION_LIMIT;
use crate::jet::{Jet, Series};
use crate::series::SeriesAlgebra;
use crate::tape::{CallSite, TapeBuilder, Value};

/// A call with what is known of its arguments.
pub(crate) struct Call<'a> {
    pub(crate) function: FunctionId,
    /// The number of scalar outputs of the function.
    pub(crate) outputs: usize,
    /// Arguments it is differentiated by.
    pub(crate) partials: &'a [u32],
    pub(crate) args: &'a [Jet],
    /// Made only if this is not zero.
    pub(crate) guard: Option<Value>,
}

impl TapeBuilder {
    /// One output of a call: its series, and its tangents as (∂f/∂argument)·(tangent of the argument).
    pub(crate) fn call_jet(&mut self, call: &Call<'_>, output: u32, len: usize) -> Jet {
        // The function machine has a limited number of directions, one of which tangents need.
        self.exhausted |= call.partials.len() >= DIRECTION_LIMIT;
        let varies = call.args.iter().any(|arg| !self.is_constant_series(&arg.series));
        let series = self.call_series(call, output, call.partials.to_vec(), varies, len);
        let mut tangents = BTreeMap::new();
        for (position, arg) in call.args.iter().enumerate() {
            let Some(longest) = arg.tangents.values().map(Vec::len).max() else {
                continue;
            };
            let mut directions = call.partials.to_vec();
            directions.push(position as u32);
            let outer = self.call_series(call, output, directions, varies, longest);
            let term = self.scale_tangents(&outer, arg.tangents.clone());
            tangents = self.add_tangents(tangents, term);
        }
        Jet { series, tangents }
    }

    /// The series of an output differentiated by some arguments; of one coefficient if no argument varies.
    fn call_series(&mut self, call: &Call<'_>, output: u32, directions: Vec<u32>, varies: bool, len: usize) -> Series {
        let computed = if varies { len } else { 1 };
        // Of the sets of directions, the last holds them all.
        let first = (((output as usize + 1) << directions.len()) - 1) * computed;
        let results = call.outputs.saturating_mul(computed << directions.len());
        let args = call.args.iter().flat_map(|arg| &arg.series[..computed]);
        let site = CallSite {
            function: call.function,
            order: computed as u16 - 1,
            args: args.copied().collect(),
            guard: call.guard,
            results: u32::try_from(results).unwrap_or(u32::MAX),
            directions,
        };
        let value = self.call(site);
        let mut series: Series = (0..computed)
            .map(|k| self.call_result(value, (first + k) as u32))
            .collect();
        let zero = self.zero();
        series.resize(len, zero);
        series
    }
}
