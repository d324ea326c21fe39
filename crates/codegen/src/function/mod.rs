//! User functions that stay calls. Those that are called with plain numbers, functions and variants of them that yield first
//! derivatives, become machine code when they are hot; the machine of [`saltus_mdae::function`] executes them before, and
//! nested duals (mixed partial derivatives by arguments) and power series of these (total derivatives) always. Results of
//! long ones are remembered.

mod memo;
mod variants;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use saltus_mdae::FunctionId;
use saltus_mdae::function::{
    CallError, Code, Codes, FunctionDerivative, Functions, Machine, Number, STATEMENT_LIMIT, Variant,
};

use crate::native;
use crate::number::{Coefficients, Dual, PowerSeries};
use crate::rounding::Rounded;

pub(crate) use variants::{Hotness, Variants};

thread_local! {
    static STACK: Cell<Vec<Dual<1>>> = const { Cell::new(Vec::new()) };
}

static NEXT_LIBRARY: AtomicU64 = AtomicU64::new(0);

/// Numbers up to which a stack is kept for the next call.
const KEPT_NUMBERS: usize = 1 << 16;

/// Directions of differentiation that one call may have.
pub(crate) const DIRECTION_LIMIT: usize = 5;

/// Calls after which a function gets machine code.
const HOT_CALLS: u32 = 96;

/// The functions of a model.
#[derive(Debug)]
pub(crate) struct Library {
    /// No other library has it.
    number: u64,
    variants: Variants,
    /// Calls that did not end. A solver tries again and again what fails, so each of them makes the next ones shorter.
    endless: AtomicU32,
}

impl Library {
    pub(crate) fn new(functions: Arc<Functions>) -> Self {
        let number = NEXT_LIBRARY.fetch_add(1, Ordering::Relaxed);
        Library {
            number,
            variants: Variants::new(functions),
            endless: AtomicU32::new(0),
        }
    }

    /// Statements that a call may execute.
    pub(crate) fn fuel(&self) -> u64 {
        STATEMENT_LIMIT >> (2 * self.endless.load(Ordering::Relaxed)).min(STATEMENT_LIMIT.ilog2())
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.variants.functions()
    }

    /// The number of a variant of a function, if there is one.
    pub(crate) fn variant(&self, variant: Variant) -> Option<FunctionId> {
        self.variants.number(variant)
    }

    pub(crate) fn hotness(&self, function: FunctionId) -> &Hotness {
        self.variants.hotness(function)
    }

    /// Makes machine code of a function, and of what it calls, if it is hot by now.
    pub(crate) fn heat(&self, function: FunctionId) {
        let hotness = self.hotness(function);
        if hotness.native.get().is_none() && hotness.calls() >= HOT_CALLS {
            native::compile_functions(self, &[function], 1);
        }
    }

    /// Makes machine code of all functions and variants.
    pub(crate) fn compile_all(&self) {
        native::compile_functions(self, &self.variants.all(), 0);
    }

    fn machine<N: Number>(&self, arguments: Vec<N>, zero: N) -> Machine<'_, N> {
        Machine::new(self, arguments, zero, self.fuel())
    }

    /// Calls a function, see [`Library::execute`]. Equations that take one output each of the same call are evaluated one
    /// after the other, so the results of long functions are remembered: functions have no side effects.
    pub(crate) fn call(
        &self,
        function: FunctionId,
        order: u16,
        directions: &[u32],
        args: &[f64],
        results: &mut [f64],
    ) -> Result<(), CallError> {
        if !self.code(function).is_long() {
            return self.execute(function, order, directions, args, results);
        }
        let question = memo::Question {
            library: self.number,
            function,
            order,
            directions,
            args,
        };
        if memo::recall(&question, results) {
            return Ok(());
        }
        let outcome = self.execute(function, order, directions, args, results);
        match outcome {
            Ok(()) => memo::remember(&question, results),
            Err(CallError::Fuel { .. }) => {
                self.endless.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => {}
        }
        outcome
    }

    /// Calls a function, see [`Library::execute`], without machine code: the oracle of tests.
    pub(crate) fn interpret(
        &self,
        function: FunctionId,
        order: u16,
        directions: &[u32],
        args: &[f64],
        results: &mut [f64],
    ) -> Result<(), CallError> {
        if order == 0 && directions.is_empty() {
            return self.interpret_plain(function, args, results);
        }
        self.execute(function, order, directions, args, results)
    }

    /// Calls a function with arguments in power series of the given order (`order + 1` coefficients each),
    /// differentiated by the arguments in `directions`. Result `((output << k) + set)·(order + 1) + i` is
    /// coefficient `i` of the derivative of an output by the set of directions, `k` being their number.
    fn execute(
        &self,
        function: FunctionId,
        order: u16,
        directions: &[u32],
        args: &[f64],
        results: &mut [f64],
    ) -> Result<(), CallError> {
        if order == 0 {
            return match directions.len() {
                0 => self.call_plain(function, args, results),
                1 => self.call_duals::<2>(function, directions, args, results),
                2 => self.call_duals::<4>(function, directions, args, results),
                3 => self.call_duals::<8>(function, directions, args, results),
                4 => self.call_duals::<16>(function, directions, args, results),
                _ => self.call_duals::<32>(function, directions, args, results),
            };
        }
        let len = usize::from(order) + 1;
        match directions.len() {
            0 => self.call_series::<1>(function, len, directions, args, results),
            1 => self.call_series::<2>(function, len, directions, args, results),
            2 => self.call_series::<4>(function, len, directions, args, results),
            3 => self.call_series::<8>(function, len, directions, args, results),
            4 => self.call_series::<16>(function, len, directions, args, results),
            _ => self.call_series::<32>(function, len, directions, args, results),
        }
    }

    /// With plain numbers, the most frequent case. Machine code says only that it failed: the machine says how.
    fn call_plain(&self, function: FunctionId, args: &[f64], results: &mut [f64]) -> Result<(), CallError> {
        self.heat(function);
        match self.hotness(function).native.get() {
            Some(Some(native)) if native.call(self, self.fuel(), args, results) => Ok(()),
            _ => self.interpret_plain(function, args, results),
        }
    }

    /// The stack is kept from call to call.
    fn interpret_plain(&self, function: FunctionId, args: &[f64], results: &mut [f64]) -> Result<(), CallError> {
        let mut stack = STACK.take();
        stack.clear();
        stack.extend(args.iter().map(|&value| Dual::constant(value)));
        let mut machine = self.machine(stack, Dual::<1>::constant(0.0));
        let outcome = machine.run(function);
        let stack = machine.into_stack();
        if outcome.is_ok() {
            results
                .iter_mut()
                .zip(&stack)
                .for_each(|(result, number)| *result = number.value());
        }
        if stack.capacity() <= KEPT_NUMBERS {
            STACK.set(stack);
        }
        outcome
    }

    /// With rounding errors.
    pub(crate) fn call_rounded(
        &self,
        function: FunctionId,
        args: &[Rounded],
        zero: &Rounded,
        results: &mut [Rounded],
    ) -> Result<(), CallError> {
        let mut machine = self.machine(args.to_vec(), *zero);
        machine.run(function)?;
        results
            .iter_mut()
            .zip(machine.into_stack())
            .for_each(|(result, number)| *result = number);
        Ok(())
    }

    fn call_duals<const W: usize>(
        &self,
        function: FunctionId,
        directions: &[u32],
        args: &[f64],
        results: &mut [f64],
    ) -> Result<(), CallError> {
        let args = args.iter().enumerate().map(|(position, &value)| {
            let mut arg = Dual::constant(value);
            seed(&mut arg, position, directions);
            arg
        });
        let machine = self.machine(args.collect(), Dual::<W>::constant(0.0));
        finish(machine, function, W, results)
    }

    fn call_series<const W: usize>(
        &self,
        function: FunctionId,
        len: usize,
        directions: &[u32],
        args: &[f64],
        results: &mut [f64],
    ) -> Result<(), CallError> {
        let zero = PowerSeries(vec![Dual::<W>::constant(0.0); len]);
        let args = args.chunks(len).enumerate().map(|(position, coefficients)| {
            let mut arg: Vec<Dual<W>> = coefficients.iter().map(|&c| Dual::constant(c)).collect();
            seed(&mut arg[0], position, directions);
            PowerSeries(arg)
        });
        let machine = self.machine(args.collect(), zero).with_terms(len);
        finish(machine, function, W * len, results)
    }
}

impl Codes for Library {
    fn code(&self, function: FunctionId) -> &Code {
        self.variants.code(function)
    }
    fn derivatives(&self, function: FunctionId) -> &[FunctionDerivative] {
        if self.variants.is_function(function) {
            &self.functions()[function].derivatives
        } else {
            &[]
        }
    }
    fn entered(&self, function: FunctionId) {
        self.hotness(function).count();
    }
}

fn seed<const W: usize>(arg: &mut Dual<W>, position: usize, directions: &[u32]) {
    for (bit, &direction) in directions.iter().enumerate() {
        if direction as usize == position {
            arg.0[1 << bit] = 1.0;
        }
    }
}

fn finish<N: Number + Coefficients>(
    mut machine: Machine<'_, N>,
    function: FunctionId,
    width: usize,
    results: &mut [f64],
) -> Result<(), CallError> {
    machine.run(function)?;
    for (number, chunk) in machine.into_stack().iter().zip(results.chunks_mut(width)) {
        number.write(chunk);
    }
    Ok(())
}
