//! Calls of functions by whoever needs a few values.

use super::{CallError, Functions, Machine, STATEMENT_LIMIT};
use crate::dual::Dual;
use crate::index::FunctionId;

impl Functions {
    /// Calls a function: its scalar result `output`, differentiated by the arguments in `partials`.
    pub fn call(&self, function: FunctionId, output: u32, partials: &[u32], args: &[f64]) -> Result<f64, CallError> {
        self.call_counted(function, output, partials, args).0
    }

    /// As [`Functions::call`], with how much work it was, in statements.
    pub fn call_counted(
        &self,
        function: FunctionId,
        output: u32,
        partials: &[u32],
        args: &[f64],
    ) -> (Result<f64, CallError>, u64) {
        let (outputs, work) = self.call_all_counted(function, partials, args);
        (outputs.map(|outputs| outputs[output as usize]), work)
    }

    /// Calls a function: all its scalar results, differentiated by the arguments in `partials`.
    pub fn call_all(&self, function: FunctionId, partials: &[u32], args: &[f64]) -> Result<Vec<f64>, CallError> {
        self.call_all_counted(function, partials, args).0
    }

    /// As [`Functions::call_all`], with how much work it was, in statements.
    pub fn call_all_counted(
        &self,
        function: FunctionId,
        partials: &[u32],
        args: &[f64],
    ) -> (Result<Vec<f64>, CallError>, u64) {
        let (outputs, work) = self.outputs(function, partials, args);
        (outputs.map(|outputs| outputs.iter().map(Dual::highest).collect()), work)
    }

    fn outputs(&self, function: FunctionId, partials: &[u32], args: &[f64]) -> (Result<Vec<Dual>, CallError>, u64) {
        let order = partials.len();
        let mut duals: Vec<Dual> = args.iter().map(|&x| Dual::constant(x, order)).collect();
        for (direction, &position) in partials.iter().enumerate() {
            duals[position as usize].seed(direction);
        }
        let mut machine = Machine::new(self, duals, Dual::constant(0.0, order), STATEMENT_LIMIT);
        let outcome = machine.run(function);
        let work = machine.work();
        (outcome.map(|()| machine.into_stack()), work)
    }
}
