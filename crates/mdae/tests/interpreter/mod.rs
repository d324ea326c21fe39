//! An interpreter of functions that walks their statements: slow, obviously right, the oracle of the machine.

use std::collections::HashMap;

use saltus_mdae::function::{
    Body, CallError, DEPTH_LIMIT, Function, FunctionExpr, Functions, LocalId, Place, STATEMENT_LIMIT, Statement,
};
use saltus_mdae::{BinaryFunction, FunctionId, UnaryFunction, dual};

/// All results of a call, differentiated by the arguments in `partials`.
pub(crate) fn interpret(
    functions: &Functions,
    function: FunctionId,
    partials: &[u32],
    args: &[f64],
) -> Result<Vec<f64>, CallError> {
    let order = partials.len();
    let mut duals: Vec<Dual> = args.iter().map(|&x| Dual::constant(x, order)).collect();
    for (direction, &position) in partials.iter().enumerate() {
        duals[position as usize].0[1 << direction] = 1.0;
    }
    let mut interpreter = Interpreter {
        functions,
        fuel: STATEMENT_LIMIT,
        depth: 0,
        order,
    };
    let outputs = interpreter.run(function, duals)?;
    Ok(outputs.iter().map(|output| output.0[output.0.len() - 1]).collect())
}

#[derive(Clone)]
struct Dual(Vec<f64>);

impl Dual {
    fn constant(value: f64, order: usize) -> Self {
        let mut coefficients = vec![0.0; 1 << order];
        coefficients[0] = value;
        Dual(coefficients)
    }
    fn value(&self) -> f64 {
        self.0[0]
    }
    fn unary(&self, op: UnaryFunction) -> Dual {
        let mut out = vec![0.0; self.0.len()];
        dual::unary(op, &self.0, &mut out);
        Dual(out)
    }
    fn binary(op: BinaryFunction, a: &Dual, b: &Dual) -> Dual {
        let mut out = vec![0.0; a.0.len()];
        dual::binary(op, &a.0, &b.0, &mut out);
        Dual(out)
    }
}

enum Flow {
    Next,
    Break,
    Return,
}

struct Interpreter<'f> {
    functions: &'f Functions,
    fuel: u64,
    depth: u32,
    order: usize,
}

struct Frame<'f> {
    function: &'f Function,
    offsets: Vec<usize>,
    slots: Vec<Dual>,
    /// Sizes and elements of arrays of open size.
    open: HashMap<LocalId, (Vec<u32>, Vec<Option<Dual>>)>,
}

impl<'f> Interpreter<'f> {
    fn run(&mut self, id: FunctionId, args: Vec<Dual>) -> Result<Vec<Dual>, CallError> {
        let function = &self.functions[id];
        if self.depth >= DEPTH_LIMIT {
            return Err(CallError::Fuel {
                function: function.name.clone(),
            });
        }
        let statements = match &function.body {
            Body::Algorithm(statements) => statements,
            other => panic!("not interpreted: {other:?}"),
        };
        self.depth += 1;
        let mut frame = self.frame(function);
        let mut args = args.into_iter();
        for input in &function.inputs {
            let start = frame.offsets[input.0 as usize];
            for slot in &mut frame.slots[start..start + function.locals[input.0 as usize].size()] {
                *slot = args.next().expect("one argument per scalar input");
            }
        }
        self.block(statements, &mut frame)?;
        self.depth -= 1;
        let mut results = Vec::with_capacity(function.output_size());
        for output in &function.outputs {
            let start = frame.offsets[output.0 as usize];
            results.extend_from_slice(&frame.slots[start..start + function.locals[output.0 as usize].size()]);
        }
        Ok(results)
    }

    fn frame(&self, function: &'f Function) -> Frame<'f> {
        let mut offsets = Vec::with_capacity(function.locals.len());
        let mut total = 0;
        for local in &function.locals {
            offsets.push(total);
            total += local.size();
        }
        Frame {
            function,
            offsets,
            slots: vec![Dual::constant(0.0, self.order); total],
            open: HashMap::new(),
        }
    }

    fn block(&mut self, statements: &[Statement], frame: &mut Frame<'f>) -> Result<Flow, CallError> {
        for statement in statements {
            match self.statement(statement, frame)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn spend(&mut self, frame: &Frame<'f>) -> Result<(), CallError> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| CallError::Fuel {
            function: frame.function.name.clone(),
        })?;
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, frame: &mut Frame<'f>) -> Result<Flow, CallError> {
        self.spend(frame)?;
        match statement {
            Statement::Assign(place, value) => {
                let value = self.expr(value, frame)?;
                self.store(place, value, frame)?;
            }
            Statement::Allocate { local, sizes } => {
                let mut whole = Vec::new();
                for size in sizes {
                    let size = self.expr(size, frame)?.value();
                    if !(size >= 0.0 && size == size.trunc()) {
                        return Err(CallError::Size {
                            function: frame.function.name.clone(),
                            array: frame.function.locals[local.0 as usize].name.clone(),
                            size,
                        });
                    }
                    whole.push(size as u32);
                }
                let count = whole.iter().map(|&size| size as usize).product();
                frame.open.insert(*local, (whole, vec![None; count]));
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                let args = args
                    .iter()
                    .map(|arg| self.expr(arg, frame))
                    .collect::<Result<Vec<_>, _>>()?;
                let results = self.run(*function, args)?;
                for (output, place) in targets {
                    self.store(place, results[*output as usize].clone(), frame)?;
                }
            }
            Statement::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.expr(condition, frame)?.value() != 0.0 {
                        return self.block(body, frame);
                    }
                }
                return self.block(otherwise, frame);
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let (from, step, to) = (
                    self.expr(from, frame)?.value(),
                    self.expr(step, frame)?.value(),
                    self.expr(to, frame)?.value(),
                );
                let count = if step == 0.0 {
                    0.0
                } else {
                    ((to - from) / step + 1e-9).floor() + 1.0
                };
                let mut k = 0.0;
                while k < count {
                    self.spend(frame)?;
                    let slot = frame.offsets[counter.0 as usize];
                    frame.slots[slot] = Dual::constant(from + k * step, self.order);
                    match self.block(body, frame)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                    k += 1.0;
                }
            }
            Statement::While(condition, body) => {
                while self.expr(condition, frame)?.value() != 0.0 {
                    self.spend(frame)?;
                    match self.block(body, frame)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                }
            }
            Statement::Break => return Ok(Flow::Break),
            Statement::Return => return Ok(Flow::Return),
            Statement::Warn(..) => {}
            Statement::Assert(condition, message) => {
                if self.expr(condition, frame)?.value() == 0.0 {
                    let message = self.expr(message, frame)?.value();
                    return Err(CallError::Assertion {
                        function: frame.function.name.clone(),
                        message: frame.function.texts.text(message),
                    });
                }
            }
        }
        Ok(Flow::Next)
    }

    fn store(&mut self, place: &Place, value: Dual, frame: &mut Frame<'f>) -> Result<(), CallError> {
        let slot = self.slot(place, frame)?;
        match frame.open.get_mut(&place.local) {
            Some((_, elements)) => elements[slot] = Some(value),
            None => frame.slots[slot] = value,
        }
        Ok(())
    }

    fn load(&mut self, place: &Place, frame: &Frame<'f>) -> Result<Dual, CallError> {
        let slot = self.slot(place, frame)?;
        match frame.open.get(&place.local) {
            Some((_, elements)) => elements[slot].clone().ok_or_else(|| CallError::Unassigned {
                function: frame.function.name.clone(),
                array: frame.function.locals[place.local.0 as usize].name.clone(),
            }),
            None => Ok(frame.slots[slot].clone()),
        }
    }

    fn slot(&mut self, place: &Place, frame: &Frame<'f>) -> Result<usize, CallError> {
        let local = &frame.function.locals[place.local.0 as usize];
        let open = frame.open.get(&place.local);
        let dims = open.map_or(&local.dims, |(sizes, _)| sizes);
        let mut position = 0usize;
        for (index, &size) in place.indices.iter().zip(dims) {
            let value = self.expr(index, frame)?.value();
            if !(value >= 1.0 && value <= f64::from(size) && value == value.trunc()) {
                return Err(CallError::Index {
                    function: frame.function.name.clone(),
                    array: local.name.clone(),
                    index: value,
                    size,
                });
            }
            position = position * size as usize + (value as usize - 1);
        }
        let offset = frame.offsets[place.local.0 as usize];
        Ok(if local.open { position } else { offset + position })
    }

    fn expr(&mut self, expr: &FunctionExpr, frame: &Frame<'f>) -> Result<Dual, CallError> {
        Ok(match expr {
            FunctionExpr::Constant(value) => Dual::constant(*value, self.order),
            FunctionExpr::Read(place) => self.load(place, frame)?,
            FunctionExpr::Unary(op, a) => self.expr(a, frame)?.unary(*op),
            FunctionExpr::Binary(op, a, b) => {
                let a = self.expr(a, frame)?;
                let b = self.expr(b, frame)?;
                Dual::binary(*op, &a, &b)
            }
            FunctionExpr::If(c, a, b) => {
                if self.expr(c, frame)?.value() != 0.0 {
                    self.expr(a, frame)?
                } else {
                    self.expr(b, frame)?
                }
            }
            FunctionExpr::Call { function, output, args } => {
                self.spend(frame)?;
                let args = args
                    .iter()
                    .map(|arg| self.expr(arg, frame))
                    .collect::<Result<Vec<_>, _>>()?;
                self.run(*function, args)?.swap_remove(*output as usize)
            }
        })
    }
}
