//! Which arguments a result depends on.
//!
//! A function that yields an orientation from angles and their rates as one record computes the matrix from the angles alone. To
//! structure a call is a black box in which everything depends on everything: it would take a constraint on the matrix for
//! one on the rates, and differentiate it once too little. Here the statements are looked at, in any order: what is assigned
//! depends on what is read in it, and on the conditions under which it is assigned. What decides whether a call fails
//! matters to all results.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Functions;
use super::ir::{Body, Function, FunctionExpr, LocalId, Place, Statement};
use super::kind::Kind;
use crate::index::FunctionId;

/// Inputs of a function, by their positions.
type Inputs = u128;

/// Functions of more inputs are not looked into.
const MOST_INPUTS: usize = Inputs::BITS as usize;

/// What is known of functions so far.
#[derive(Debug)]
pub struct Influences<'f> {
    functions: &'f Functions,
    /// `None` while a function is looked at: it calls itself.
    known: FxHashMap<FunctionId, Option<Rc<Influence>>>,
}

/// What the results of a function depend on.
#[derive(Debug)]
struct Influence {
    /// For each scalar output the inputs that matter.
    outputs: Vec<Inputs>,
    /// For each scalar argument the input it belongs to.
    arguments: Vec<u32>,
    /// What decides whether a call fails; `None` if none does.
    failure: Option<Inputs>,
}

impl Functions {
    /// Looks at functions when they are asked for.
    pub fn influences(&self) -> Influences<'_> {
        Influences {
            functions: self,
            known: FxHashMap::default(),
        }
    }
}

impl Influences<'_> {
    /// For each scalar argument whether a scalar output may depend on it.
    pub fn of(&mut self, function: FunctionId, output: u32) -> Vec<bool> {
        let influence = self.influence(function);
        let matter = influence.outputs[output as usize] | influence.failure.unwrap_or(0);
        let arguments = influence.arguments.iter();
        arguments.map(|&input| matter & bit(input) != 0).collect()
    }

    fn influence(&mut self, id: FunctionId) -> Rc<Influence> {
        let function = &self.functions[id];
        match self.known.get(&id) {
            Some(Some(known)) => return Rc::clone(known),
            Some(None) => return Rc::new(everything(function)),
            None => {}
        }
        self.known.insert(id, None);
        let found = Rc::new(match &function.body {
            // A function that yields its derivative may look at more than it does itself.
            Body::Algorithm(statements) if function.derivatives.is_empty() && function.inputs.len() <= MOST_INPUTS => {
                self.look_at(function, statements)
            }
            _ => everything(function),
        });
        self.known.insert(id, Some(Rc::clone(&found)));
        found
    }

    fn look_at(&mut self, function: &Function, statements: &[Statement]) -> Influence {
        let mut reads = vec![0; function.locals.len()];
        for (input, local) in (0..).zip(&function.inputs) {
            reads[local.0 as usize] = bit(input);
        }
        let mut look = Look {
            influences: self,
            function,
            reads,
            failure: None,
            left: 0,
            control: 0,
            changed: true,
        };
        while std::mem::take(&mut look.changed) {
            look.list(statements);
        }
        let Look {
            reads, failure, left, ..
        } = look;
        let scalars = |local: &LocalId| {
            let size = function.locals[local.0 as usize].size();
            std::iter::repeat_n(reads[local.0 as usize], size)
        };
        Influence {
            outputs: function.outputs.iter().flat_map(scalars).collect(),
            arguments: arguments(function),
            failure: failure.map(|failure| failure | left),
        }
    }
}

fn bit(input: u32) -> Inputs {
    1 << (input as usize % MOST_INPUTS)
}

/// The input that each scalar argument belongs to.
fn arguments(function: &Function) -> Vec<u32> {
    let inputs = (0..).zip(&function.inputs);
    let scalars =
        inputs.flat_map(|(input, local)| std::iter::repeat_n(input, function.locals[local.0 as usize].size()));
    scalars.collect()
}

/// All inputs matter to everything.
fn everything(function: &Function) -> Influence {
    Influence {
        outputs: vec![Inputs::MAX; function.output_size()],
        arguments: arguments(function),
        failure: Some(Inputs::MAX),
    }
}

/// A function that is looked at.
struct Look<'a, 'f> {
    influences: &'a mut Influences<'f>,
    function: &'a Function,
    /// For each variable the inputs that its values depend on.
    reads: Vec<Inputs>,
    failure: Option<Inputs>,
    /// What decides where the function or a loop is left.
    left: Inputs,
    /// What decides whether the present place is reached.
    control: Inputs,
    changed: bool,
}

impl Look<'_, '_> {
    fn list(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    /// Something under a condition.
    fn under<T>(&mut self, condition: Inputs, what: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.control;
        self.control |= condition;
        let result = what(self);
        self.control = around;
        result
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign(place, value) => {
                let value = self.expr(value).0;
                self.assign(place, value);
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                let args: Vec<Inputs> = args.iter().map(|arg| self.expr(arg).0).collect();
                let callee = self.call(*function, &args);
                for (output, place) in targets {
                    let value = through(&callee, callee.outputs[*output as usize], &args);
                    self.assign(place, value);
                }
            }
            Statement::Allocate { local, sizes } => {
                let sizes = sizes.iter().map(|size| self.expr(size).0).fold(0, |all, one| all | one);
                self.fails(sizes);
                self.set(*local, sizes);
            }
            Statement::If(branches, otherwise) => {
                let around = self.control;
                for (condition, body) in branches {
                    let condition = self.expr(condition).0;
                    self.control |= condition;
                    self.list(body);
                }
                self.list(otherwise);
                self.control = around;
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let bounds = [from, step, to].map(|bound| self.expr(bound).0);
                let bounds = bounds.into_iter().fold(0, |all, one| all | one);
                // How many turns are too many.
                if bounds != 0 {
                    self.fails(bounds);
                }
                self.set(*counter, bounds);
                self.under(bounds, |this| this.list(body));
            }
            Statement::While(condition, body) => {
                let condition = self.expr(condition).0;
                self.fails(condition);
                self.under(condition, |this| this.list(body));
            }
            Statement::Break | Statement::Return => {
                let left = self.left | self.control;
                self.changed |= left != self.left;
                self.left = left;
            }
            Statement::Assert(condition, _) => {
                let condition = self.expr(condition).0;
                self.fails(condition);
            }
            Statement::Warn(..) => {}
        }
    }

    /// The present place may fail, which depends on these.
    fn fails(&mut self, inputs: Inputs) {
        let failure = Some(self.failure.unwrap_or(0) | inputs | self.control);
        self.changed |= failure != self.failure;
        self.failure = failure;
    }

    fn set(&mut self, local: LocalId, value: Inputs) {
        let known = &mut self.reads[local.0 as usize];
        let all = *known | value | self.control | self.left;
        self.changed |= all != *known;
        *known = all;
    }

    fn assign(&mut self, place: &Place, value: Inputs) {
        let indices = self.indices(place);
        self.set(place.local, value | indices);
        // Reading an element of an open array that was not written fails.
        if self.function.locals[place.local.0 as usize].open {
            self.fails(indices);
        }
    }

    /// What the indices of an element depend on; they may be out of range.
    fn indices(&mut self, place: &Place) -> Inputs {
        let mut indices = 0;
        for index in &place.indices {
            indices |= self.expr(index).0;
        }
        let local = &self.function.locals[place.local.0 as usize];
        let lies_within = |(index, &size): (&FunctionExpr, &u32)| matches!(index, FunctionExpr::Constant(k) if *k >= 1.0 && *k <= f64::from(size));
        if local.open || !place.indices.iter().zip(&local.dims).all(lies_within) {
            self.fails(indices);
        }
        indices
    }

    /// What an expression depends on, and what kind of number it is.
    fn expr(&mut self, expr: &FunctionExpr) -> (Inputs, Kind) {
        match expr {
            FunctionExpr::Constant(value) => (0, Kind::of_constant(*value)),
            FunctionExpr::Read(place) => {
                let indices = self.indices(place);
                let local = place.local.0 as usize;
                let kind = Kind::of_type(self.function.locals[local].ty);
                (self.reads[local] | indices, kind)
            }
            FunctionExpr::Unary(op, a) => {
                let (a, kind) = self.expr(a);
                (a, Kind::unary(*op, kind))
            }
            FunctionExpr::Binary(op, a, b) => {
                let ((a, of_a), (b, of_b)) = (self.expr(a), self.expr(b));
                let kind = Kind::binary(*op, of_a, of_b);
                if kind.may_grow(*op) {
                    self.fails(a | b);
                }
                (a | b, kind)
            }
            FunctionExpr::If(condition, a, b) => {
                let condition = self.expr(condition).0;
                let ((a, of_a), (b, of_b)) = self.under(condition, |this| (this.expr(a), this.expr(b)));
                (condition | a | b, of_a.or(of_b))
            }
            FunctionExpr::Call { function, output, args } => {
                let args: Vec<Inputs> = args.iter().map(|arg| self.expr(arg).0).collect();
                let callee = self.call(*function, &args);
                (through(&callee, callee.outputs[*output as usize], &args), Kind::Other)
            }
        }
    }

    fn call(&mut self, function: FunctionId, args: &[Inputs]) -> Rc<Influence> {
        let callee = self.influences.influence(function);
        if let Some(failure) = callee.failure {
            self.fails(through(&callee, failure, args));
        }
        callee
    }
}

/// What inputs of a function that is called depend on.
fn through(callee: &Influence, inputs: Inputs, args: &[Inputs]) -> Inputs {
    let matters = |&(&input, _): &(&u32, &Inputs)| inputs & bit(input) != 0;
    let arguments = callee.arguments.iter().zip(args).filter(matters);
    arguments.fold(0, |all, (_, &arg)| all | arg)
}
