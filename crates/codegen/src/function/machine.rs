//! The machine that executes bytecode.

use saltus_mdae::FunctionId;
use saltus_mdae::function::{CallError, DEPTH_LIMIT, DerivativeInput, FunctionDerivative};

use crate::function::Library;
use crate::function::bytecode::{Access, Code, Instruction, Program};
use crate::number::{Direction, Number};
use crate::table::lookup;

/// Registers all frames together may have; only runaway recursion with large arrays comes near.
const REGISTER_LIMIT: usize = 50_000_000;

pub(crate) struct Machine<'a, N> {
    library: &'a Library,
    /// Frames one after the other; at a call the arguments lie on top.
    stack: Vec<N>,
    zero: N,
    fuel: u64,
    depth: u32,
    /// Coefficients of series that are asked for.
    terms: usize,
}

impl<'a, N: Number> Machine<'a, N> {
    /// A machine on the given memory, which must be empty.
    pub(crate) fn new(library: &'a Library, stack: Vec<N>, zero: N, terms: usize) -> Self {
        Machine {
            library,
            stack,
            zero,
            fuel: library.fuel(),
            depth: 0,
            terms,
        }
    }

    /// What is on the stack: after a call its outputs.
    pub(crate) fn into_stack(self) -> Vec<N> {
        self.stack
    }

    pub(crate) fn push_args(&mut self, args: impl Iterator<Item = N>) {
        self.stack.extend(args);
    }

    /// Calls a function with the arguments on top of the stack; all scalar outputs take their place.
    pub(crate) fn run(&mut self, function: FunctionId) -> Result<(), CallError> {
        let code = self.library.code(function);
        let first_arg = self.stack.len() - code.inputs.len();
        let derivatives = &self.library.functions()[function].derivatives;
        if !derivatives.is_empty()
            && let Some((derivative, direction)) = self.applicable(derivatives, first_arg)
        {
            return self.differentiated(function, derivative, direction, first_arg);
        }
        let instructions = match &code.program {
            Program::Table(table) => {
                let value = lookup(table, &self.stack[first_arg..]).map_err(|outside| CallError::Extrapolation {
                    table: code.name.clone(),
                    outside,
                })?;
                self.stack.truncate(first_arg);
                self.stack.push(value);
                return Ok(());
            }
            Program::Text(operation) => {
                let values: Vec<f64> = self.stack[first_arg..].iter().map(N::value).collect();
                let texts = &self.library.functions()[function].texts;
                let value = operation.apply(texts, &values).map_err(CallError::Text)?;
                self.stack.truncate(first_arg);
                self.stack.push(self.zero.like(value));
                return Ok(());
            }
            Program::Algorithm(instructions) => instructions,
        };
        let room = code.registers as usize;
        if self.depth >= DEPTH_LIMIT || self.stack.len() + room > REGISTER_LIMIT {
            return Err(out_of_fuel(code));
        }
        self.depth += 1;
        let base = self.stack.len();
        self.stack.resize(base + room, self.zero.clone());
        for (position, &register) in code.inputs.iter().enumerate() {
            let arg = self.stack[first_arg + position].clone();
            self.stack[base + register as usize] = arg;
        }
        self.execute(code, instructions, base)?;
        self.depth -= 1;
        let top = self.stack.len();
        for &register in &code.outputs {
            let output = self.stack[base + register as usize].clone();
            self.stack.push(output);
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

    fn execute(&mut self, code: &Code, instructions: &[Instruction], base: usize) -> Result<(), CallError> {
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
                Instruction::Spend => self.spend(code)?,
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
                        self.spend(code)?;
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

    fn spend(&mut self, code: &Code) -> Result<(), CallError> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| out_of_fuel(code))?;
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
        let value = frame[register as usize].value();
        if !(value >= 1.0 && value <= f64::from(size) && value == value.trunc()) {
            return Err(CallError::Index {
                function: code.name.clone(),
                array: access.array.clone(),
                index: value,
                size,
            });
        }
        position = position * size as usize + (value as usize - 1);
    }
    Ok(access.base as usize + position)
}
