//! The machine that executes bytecode.

use super::bytecode::{Access, Code, Instruction, Program};
use super::kind::is_exact;
use super::routine;
use super::{CallError, DEPTH_LIMIT, DerivativeInput, Direction, FunctionDerivative, Functions, MEMORY_LIMIT, Number};
use crate::index::FunctionId;
use crate::table::{Outside, Table};

/// Elements of an array whose allocation costs as much as a statement.
const ELEMENTS_PER_STATEMENT: u64 = 64;

/// Instructions of a function that cost more than to look for an equal call of it.
const MEMORABLE: usize = 12;

/// Where the code of functions is found.
pub trait Codes: std::fmt::Debug {
    /// The code of a function.
    fn code(&self, function: FunctionId) -> &Code;
    /// Functions that yield its derivative.
    fn derivatives(&self, function: FunctionId) -> &[FunctionDerivative];
    /// A function begins to run.
    fn entered(&self, function: FunctionId) {
        let _ = function;
    }
}

impl Codes for Functions {
    fn code(&self, function: FunctionId) -> &Code {
        self[function].code()
    }
    fn derivatives(&self, function: FunctionId) -> &[FunctionDerivative] {
        &self[function].derivatives
    }
}

/// Executes functions.
#[derive(Debug)]
pub struct Machine<'a, N> {
    functions: &'a dyn Codes,
    /// Frames one after the other; at a call the arguments lie on top.
    stack: Vec<N>,
    /// The arrays of open size of all frames.
    open: Vec<OpenArray<N>>,
    /// Elements that arrays of open size have together.
    open_elements: usize,
    zero: N,
    fuel: u64,
    work: u64,
    depth: u32,
    /// Coefficients of series that are asked for.
    terms: usize,
}

/// An array whose sizes are known only when the function runs.
#[derive(Clone, Debug)]
struct OpenArray<N> {
    sizes: Vec<u32>,
    elements: Vec<N>,
    /// Which elements have a value.
    assigned: Vec<bool>,
}

impl<N> Default for OpenArray<N> {
    fn default() -> Self {
        OpenArray {
            sizes: Vec::new(),
            elements: Vec::new(),
            assigned: Vec::new(),
        }
    }
}

impl<'a, N: Number> Machine<'a, N> {
    /// A machine with arguments on its stack, which may execute so many statements.
    pub fn new(functions: &'a dyn Codes, arguments: Vec<N>, zero: N, fuel: u64) -> Self {
        Machine {
            functions,
            stack: arguments,
            open: Vec::new(),
            open_elements: 0,
            zero,
            fuel,
            work: 0,
            depth: 0,
            terms: 1,
        }
    }

    /// Series are asked for, so many coefficients of them.
    pub fn with_terms(mut self, terms: usize) -> Self {
        self.terms = terms;
        self
    }

    /// Inside of so many calls.
    pub fn at_depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Statements that may still be executed.
    pub fn fuel(&self) -> u64 {
        self.fuel
    }

    /// What is on the stack: after a call its outputs.
    pub fn into_stack(self) -> Vec<N> {
        self.stack
    }

    /// How much has been done, in statements; long ones count more.
    pub fn work(&self) -> u64 {
        self.work
    }

    fn push_args(&mut self, args: impl Iterator<Item = N>) {
        self.stack.extend(args);
    }

    /// Calls a function with the arguments on top of the stack; all scalar outputs take their place.
    pub fn run(&mut self, function: FunctionId) -> Result<(), CallError> {
        let functions: &'a dyn Codes = self.functions;
        let code = functions.code(function);
        functions.entered(function);
        let first_arg = self.stack.len() - code.inputs.len();
        let derivatives = functions.derivatives(function);
        if !derivatives.is_empty()
            && let Some((derivative, direction)) = self.applicable(derivatives, first_arg)
        {
            return self.differentiated(function, derivative, direction, first_arg);
        }
        let instructions = match &code.program {
            Program::Table(table) => {
                for (at, arg) in self.stack[first_arg..].iter().enumerate() {
                    arg.looked_up(table, at);
                }
                let value = lookup(table, &self.stack[first_arg..]).map_err(|outside| CallError::Extrapolation {
                    table: code.name.clone(),
                    outside,
                })?;
                self.stack.truncate(first_arg);
                self.stack.push(value);
                return Ok(());
            }
            Program::TableTangents { table, varying, lanes } => {
                let args = self.stack.split_off(first_arg);
                let results =
                    look_up_tangents(table, varying, *lanes, &args).map_err(|outside| CallError::Extrapolation {
                        table: code.name.clone(),
                        outside,
                    })?;
                self.stack.extend(results);
                return Ok(());
            }
            Program::Text(operation) => {
                let values: Vec<f64> = self.stack[first_arg..].iter().map(N::value).collect();
                let value = operation.apply(&code.texts, &values).map_err(CallError::Text)?;
                self.stack.truncate(first_arg);
                self.stack.push(self.zero.like(value));
                return Ok(());
            }
            Program::Foreign(call) => {
                let value = call.evaluate(&self.stack[first_arg..], &self.zero, self.terms)?;
                self.stack.truncate(first_arg);
                self.stack.push(value);
                return Ok(());
            }
            Program::ForeignTangents { call, varying, lanes } => {
                let args = self.stack.split_off(first_arg);
                let results = call.tangents(varying, *lanes, &args, &self.zero, self.terms)?;
                self.stack.extend(results);
                return Ok(());
            }
            Program::Routine(call) => {
                self.work += call.work();
                self.spend(call.work(), code)?;
                let args = self.stack.split_off(first_arg);
                let results = routine::results(call, &args, self.terms).map_err(|failure| CallError::Routine {
                    function: code.name.clone(),
                    message: failure.0.into(),
                })?;
                self.stack.extend(results);
                return Ok(());
            }
            Program::Algorithm(instructions) => instructions,
        };
        let memorable = instructions.len() >= MEMORABLE;
        let mut mark = 0;
        if memorable {
            match self.zero.recall(function, &self.stack[first_arg..]) {
                Ok(results) => {
                    self.stack.truncate(first_arg);
                    self.stack.extend(results);
                    return Ok(());
                }
                Err(begun) => mark = begun,
            }
        }
        let room = code.registers as usize;
        if self.depth >= DEPTH_LIMIT {
            return Err(out_of_fuel(code));
        }
        self.check_room(room, code)?;
        self.depth += 1;
        let first_open = self.open.len();
        if !code.open_arrays.is_empty() {
            self.open
                .resize_with(first_open + code.open_arrays.len(), OpenArray::default);
        }
        let base = self.stack.len();
        self.stack.resize(base + room, self.zero.clone());
        for (position, &register) in code.inputs.iter().enumerate() {
            let arg = self.stack[first_arg + position].clone();
            self.stack[base + register as usize] = arg;
        }
        self.execute(code, instructions, base, first_open)?;
        self.depth -= 1;
        let freed: usize = self.open[first_open..].iter().map(|array| array.elements.len()).sum();
        self.open_elements -= freed;
        self.open.truncate(first_open);
        let top = self.stack.len();
        for &register in &code.outputs {
            let output = self.stack[base + register as usize].clone();
            self.stack.push(output);
        }
        if memorable {
            let (args, results) = (&self.stack[first_arg..base], &self.stack[top..]);
            self.zero.remember(mark, function, args, results);
        }
        self.stack.drain(first_arg..top);
        Ok(())
    }

    /// The derivative function to be used for the arguments on top of the stack.
    fn applicable(
        &self,
        derivatives: &'a [FunctionDerivative],
        first_arg: usize,
    ) -> Option<(&'a FunctionDerivative, Direction)> {
        let args = &self.stack[first_arg..];
        let direction = args.iter().filter_map(|arg| arg.last_direction(self.terms)).max()?;
        let split = |position: u32| args[position as usize].split(direction, self.terms);
        let applies = |derivative: &&FunctionDerivative| {
            derivative.constant.iter().all(|&position| split(position).1.is_zero())
                && derivative
                    .linked
                    .iter()
                    .all(|&(base, next)| split(base).1.same(&split(next).0))
        };
        Some((derivatives.iter().find(applies)?, direction))
    }

    /// f(x + ε·ẋ) = f(x) + ε·f_der(x, ẋ), and for series f(x(t))' = f_der(x(t), x'(t)). What is asked of the series of
    /// the derivative is one coefficient less, so derivatives of derivatives come to an end.
    fn differentiated(
        &mut self,
        function: FunctionId,
        derivative: &FunctionDerivative,
        direction: Direction,
        first_arg: usize,
    ) -> Result<(), CallError> {
        let args = self.stack.split_off(first_arg);
        let (values, slopes): (Vec<N>, Vec<N>) = args.iter().map(|arg| arg.split(direction, self.terms)).unzip();
        self.push_args(derivative.inputs.iter().map(|input| match *input {
            DerivativeInput::Value(position) => values[position as usize].clone(),
            DerivativeInput::Derivative(position) => slopes[position as usize].clone(),
        }));
        let terms = self.terms;
        if direction == Direction::Series {
            self.terms -= 1;
        }
        self.depth += 1;
        self.run(derivative.function)?;
        self.depth -= 1;
        self.terms = terms;
        let results = self.stack.split_off(first_arg);
        self.push_args(args.iter().map(|arg| arg.base(direction)));
        self.run(function)?;
        for (output, slope) in self.stack[first_arg..].iter_mut().zip(&derivative.outputs) {
            if let Some(slope) = slope {
                *output = N::join(output, &results[*slope as usize], direction);
            }
        }
        Ok(())
    }

    /// Whether there is room for more numbers.
    fn check_room(&self, more: usize, code: &Code) -> Result<(), CallError> {
        let numbers = self.stack.len().saturating_add(self.open_elements).saturating_add(more);
        if numbers.saturating_mul(self.zero.width()) > MEMORY_LIMIT {
            return Err(CallError::Memory {
                function: code.name.clone(),
            });
        }
        Ok(())
    }

    /// Gives an array of open size its sizes.
    fn allocate(&mut self, code: &Code, number: usize, sizes: &[f64], place: usize) -> Result<(), CallError> {
        let mut whole = Vec::with_capacity(sizes.len());
        let mut count = 1usize;
        for &size in sizes {
            if !(size >= 0.0 && size <= f64::from(u32::MAX) && size == size.trunc()) {
                return Err(CallError::Size {
                    function: code.name.clone(),
                    array: code.open_arrays[number].clone(),
                    size,
                });
            }
            whole.push(size as u32);
            count = count.saturating_mul(size as usize);
        }
        self.open_elements -= self.open[place].elements.len();
        self.open[place] = OpenArray::default();
        self.check_room(count, code)?;
        let cost = count as u64 / ELEMENTS_PER_STATEMENT;
        self.fuel = self.fuel.checked_sub(cost).ok_or_else(|| out_of_fuel(code))?;
        self.open_elements += count;
        self.open[place] = OpenArray {
            sizes: whole,
            elements: vec![self.zero.clone(); count],
            assigned: vec![false; count],
        };
        Ok(())
    }

    fn execute(
        &mut self,
        code: &Code,
        instructions: &[Instruction],
        base: usize,
        first_open: usize,
    ) -> Result<(), CallError> {
        let mut at = 0;
        loop {
            let frame = &mut self.stack[base..];
            match &instructions[at] {
                Instruction::Constant { to, value } => frame[*to as usize] = self.zero.like(*value),
                Instruction::Copy { to, from } => frame[*to as usize] = frame[*from as usize].clone(),
                Instruction::Unary { op, to, a } => frame[*to as usize] = frame[*a as usize].unary(*op),
                Instruction::Binary { op, to, a, b } => {
                    frame[*to as usize] = N::binary(*op, &frame[*a as usize], &frame[*b as usize]);
                }
                Instruction::Whole { op, to, a, b } => {
                    let result = N::binary(*op, &frame[*a as usize], &frame[*b as usize]);
                    if !is_exact(result.value()) {
                        return Err(CallError::Integer {
                            function: code.name.clone(),
                            value: result.value(),
                        });
                    }
                    frame[*to as usize] = result;
                }
                Instruction::Select { to, condition, a, b } => {
                    let chosen = if frame[*condition as usize].value() != 0.0 {
                        *a
                    } else {
                        *b
                    };
                    frame[*to as usize] = frame[chosen as usize].clone();
                }
                Instruction::Along { to, slope, tangent } => {
                    let (slope, tangent) = (&frame[*slope as usize], &frame[*tangent as usize]);
                    frame[*to as usize] = if tangent.value() == 0.0 {
                        self.zero.clone()
                    } else {
                        slope.mul(tangent)
                    };
                }
                Instruction::Allocate { array, sizes } => {
                    let sizes: Vec<f64> = sizes.iter().map(|&size| frame[size as usize].value()).collect();
                    let number = *array as usize;
                    self.allocate(code, number, &sizes, first_open + number)?;
                }
                Instruction::LoadOpen { to, access } => {
                    let access = &code.accesses[*access as usize];
                    let array = &self.open[first_open + access.base as usize];
                    let at = position(code, access, &array.sizes, frame)?;
                    if !array.assigned[at] {
                        return Err(CallError::Unassigned {
                            function: code.name.clone(),
                            array: access.array.clone(),
                        });
                    }
                    frame[*to as usize] = array.elements[at].clone();
                }
                Instruction::StoreOpen { access, from } => {
                    let access = &code.accesses[*access as usize];
                    let array = &mut self.open[first_open + access.base as usize];
                    let at = position(code, access, &array.sizes, frame)?;
                    array.elements[at] = frame[*from as usize].clone();
                    array.assigned[at] = true;
                }
                Instruction::Load { to, access } => {
                    let from = element(code, &code.accesses[*access as usize], frame)?;
                    frame[*to as usize] = frame[from].clone();
                }
                Instruction::Store { access, from } => {
                    let to = element(code, &code.accesses[*access as usize], frame)?;
                    frame[to] = frame[*from as usize].clone();
                }
                Instruction::Jump(to) => {
                    at = *to as usize;
                    continue;
                }
                Instruction::JumpIfZero(condition, to) => {
                    if frame[*condition as usize].value() == 0.0 {
                        at = *to as usize;
                        continue;
                    }
                }
                Instruction::Spend { work } => {
                    self.work += u64::from(*work);
                    self.spend(u64::from(*work), code)?;
                }
                Instruction::ForStart { loop_registers, to } => {
                    let first = *loop_registers as usize;
                    let (from, step) = (frame[first + 2].value(), frame[first + 3].value());
                    let to = frame[*to as usize].value();
                    let count = if step == 0.0 {
                        0.0
                    } else {
                        ((to - from) / step + 1e-9).floor() + 1.0
                    };
                    frame[first] = self.zero.like(count);
                    frame[first + 1] = self.zero.clone();
                }
                Instruction::ForNext {
                    loop_registers,
                    counter,
                    exit,
                } => {
                    let first = *loop_registers as usize;
                    let (count, turn) = (frame[first].value(), frame[first + 1].value());
                    // Written so that a count that is not a number ends the loop.
                    if turn < count {
                        let value = frame[first + 2].value() + turn * frame[first + 3].value();
                        frame[*counter as usize] = self.zero.like(value);
                        frame[first + 1] = self.zero.like(turn + 1.0);
                        self.spend(1, code)?;
                    } else {
                        at = *exit as usize;
                        continue;
                    }
                }
                Instruction::Call {
                    function,
                    args,
                    results,
                    used,
                } => {
                    for &arg in args {
                        let arg = self.stack[base + arg as usize].clone();
                        self.stack.push(arg);
                    }
                    self.run(*function)?;
                    let top = base + code.registers as usize;
                    for offset in 0..*used as usize {
                        let output = self.stack[top + offset].clone();
                        self.stack[base + *results as usize + offset] = output;
                    }
                    self.stack.truncate(top);
                }
                Instruction::Fail(message) => {
                    return Err(CallError::Assertion {
                        function: code.name.clone(),
                        message: code.texts.text(frame[*message as usize].value()),
                    });
                }
                Instruction::Return => return Ok(()),
            }
            at += 1;
        }
    }

    fn spend(&mut self, work: u64, code: &Code) -> Result<(), CallError> {
        self.fuel = self.fuel.checked_sub(work).ok_or_else(|| out_of_fuel(code))?;
        Ok(())
    }
}

fn out_of_fuel(code: &Code) -> CallError {
    CallError::Fuel {
        function: code.name.clone(),
    }
}

/// The register of an element with computed indices.
fn element<N: Number>(code: &Code, access: &Access, frame: &[N]) -> Result<usize, CallError> {
    let mut position = 0usize;
    for &(register, size) in &access.indices {
        position = position * size as usize + index(code, access, frame[register as usize].value(), size)?;
    }
    Ok(access.base as usize + position)
}

/// The position of an element in an array of these sizes.
fn position<N: Number>(code: &Code, access: &Access, sizes: &[u32], frame: &[N]) -> Result<usize, CallError> {
    let mut position = 0usize;
    for (at, &(register, _)) in access.indices.iter().enumerate() {
        // An array that has not been given its sizes has no elements.
        let size = sizes.get(at).copied().unwrap_or(0);
        position = position * size as usize + index(code, access, frame[register as usize].value(), size)?;
    }
    Ok(position)
}

/// An index, from 0.
fn index(code: &Code, access: &Access, value: f64, size: u32) -> Result<usize, CallError> {
    if value >= 1.0 && value <= f64::from(size) && value == value.trunc() {
        return Ok(value as usize - 1);
    }
    Err(CallError::Index {
        function: code.name.clone(),
        array: access.array.clone(),
        index: value,
        size,
    })
}

/// The value of a table at its argument(s).
fn lookup<N: Number>(table: &Table, args: &[N]) -> Result<N, Outside> {
    let first = args[0].value();
    let piece = table.piece(&[first, args.get(1).map_or(0.0, N::value)])?;
    Ok(piece.evaluate(args, |value| args[0].like(value), N::add, N::mul))
}

/// The value of a table and its derivatives along some directions, see [`Program::TableTangents`].
pub(super) fn look_up_tangents<N: Number>(
    table: &Table,
    varying: &[u32],
    lanes: u32,
    args: &[N],
) -> Result<Vec<N>, Outside> {
    let (values, tangents) = args.split_at(table.arguments());
    let mut results = vec![lookup(table, values)?];
    for lane in tangents.chunks(varying.len().max(1)).take(lanes as usize) {
        let mut pairs: Vec<(N, N)> = values.iter().map(|value| (value.clone(), value.like(0.0))).collect();
        for (&position, tangent) in varying.iter().zip(lane) {
            pairs[position as usize].1 = tangent.clone();
        }
        let piece = table.piece(&[values[0].value(), values.get(1).map_or(0.0, N::value)])?;
        let add = |a: &(N, N), b: &(N, N)| (a.0.add(&b.0), a.1.add(&b.1));
        let mul = |a: &(N, N), b: &(N, N)| (a.0.mul(&b.0), a.0.mul(&b.1).add(&a.1.mul(&b.0)));
        let like = |value: f64| (values[0].like(value), values[0].like(0.0));
        results.push(piece.evaluate(&pairs, like, add, mul).1);
    }
    Ok(results)
}
