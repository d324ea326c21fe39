//! What a call yields whatever some of its arguments are.
//!
//! A capacitance that only a function computes is zero for a transistor without charges, whatever the voltages are: structure has
//! to know that. The statements are followed with the arguments that are known; what depends on the others is open, unless it is
//! multiplied by zero. Branches that an open condition decides are all followed, and what they agree on is known.

use super::ir::{Body, Function, FunctionExpr, LocalId, Place, Statement};
use super::{Functions, Visit};
use crate::eval::{apply_binary, apply_unary};
use crate::expr::BinaryFunction;
use crate::index::FunctionId;

/// Calls within calls that are followed.
const DEPTH_LIMIT: u32 = 40;
/// Turns of loops and statements that are followed.
const WORK_LIMIT: u32 = 20_000;

/// A number, if it is known.
type Known = Option<f64>;

/// The elements of all variables of a function at a place in it.
type State = Vec<Vec<Known>>;

impl Functions {
    /// The results of a call that are the same whatever the open arguments are.
    pub fn settled_results(&self, function: FunctionId, args: &[Option<f64>]) -> Vec<Option<f64>> {
        let mut followed = Followed {
            functions: self,
            work: WORK_LIMIT,
        };
        followed.call(function, args, 0)
    }
}

/// A call and all calls in it.
struct Followed<'f> {
    functions: &'f Functions,
    /// What may still be done.
    work: u32,
}

/// A function that is followed.
struct Frame<'f> {
    function: &'f Function,
    depth: u32,
    /// What is known where the function or the present loop has been left.
    returned: Option<State>,
    broken: Option<State>,
}

impl Frame<'_> {
    /// Where an element stands; none if its indices are open.
    fn position(&self, place: &Place, indices: &[Known]) -> Option<usize> {
        let local = &self.function.locals[place.local.0 as usize];
        if local.open {
            return None;
        }
        let mut position = 0;
        for (&index, &size) in indices.iter().zip(&local.dims) {
            let index = index.filter(|&i| i >= 1.0 && i <= f64::from(size) && i == i.trunc())?;
            position = position * size as usize + (index as usize - 1);
        }
        Some(position)
    }
}

fn forget(state: &mut State, local: LocalId) {
    state[local.0 as usize].fill(None);
}

/// What both agree on.
fn join(known: &mut Option<State>, other: State) {
    let Some(known) = known else {
        *known = Some(other);
        return;
    };
    for (one, other) in known.iter_mut().flatten().zip(other.into_iter().flatten()) {
        if *one != other {
            *one = None;
        }
    }
}

impl<'f> Followed<'f> {
    fn call(&mut self, id: FunctionId, args: &[Known], depth: u32) -> Vec<Known> {
        let functions = self.functions;
        let function = &functions[id];
        let open = || vec![None; function.output_size()];
        let Body::Algorithm(statements) = &function.body else {
            let values: Option<Vec<f64>> = args.iter().copied().collect();
            let foreign = matches!(function.body, Body::Foreign(_) | Body::Routine(_));
            return match values.filter(|_| !foreign) {
                Some(values) => functions
                    .call_all(id, &[], &values)
                    .map_or_else(|_| open(), |results| results.into_iter().map(Some).collect()),
                None => open(),
            };
        };
        if depth > DEPTH_LIMIT || args.len() != function.input_size() {
            return open();
        }
        let mut state: State = function.locals.iter().map(|local| vec![None; local.size()]).collect();
        let mut left = args.iter().copied();
        for input in &function.inputs {
            for element in &mut state[input.0 as usize] {
                *element = left.next().flatten();
            }
        }
        let mut frame = Frame {
            function,
            depth,
            returned: None,
            broken: None,
        };
        let end = self.list(&mut frame, statements, state);
        let mut outcome = frame.returned;
        for end in [end, frame.broken].into_iter().flatten() {
            join(&mut outcome, end);
        }
        match outcome {
            Some(state) if self.work > 0 => {
                let outputs = function.outputs.iter();
                outputs.flat_map(|output| state[output.0 as usize].clone()).collect()
            }
            _ => open(),
        }
    }

    /// Follows statements; nothing if their end is never reached.
    fn list(&mut self, frame: &mut Frame<'f>, statements: &'f [Statement], state: State) -> Option<State> {
        let mut state = state;
        for statement in statements {
            self.work = self.work.saturating_sub(1);
            if self.work == 0 {
                return None;
            }
            state = self.statement(frame, statement, state)?;
        }
        Some(state)
    }

    fn statement(&mut self, frame: &mut Frame<'f>, statement: &'f Statement, mut state: State) -> Option<State> {
        match statement {
            Statement::Assign(place, value) => {
                let value = self.expr(frame, value, &state);
                self.assign(frame, &mut state, place, value);
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                let args: Vec<Known> = args.iter().map(|arg| self.expr(frame, arg, &state)).collect();
                let results = self.call(*function, &args, frame.depth + 1);
                for (output, place) in targets {
                    let value = results.get(*output as usize).copied().flatten();
                    self.assign(frame, &mut state, place, value);
                }
            }
            Statement::Allocate { .. } | Statement::Assert(..) | Statement::Warn(..) => {}
            Statement::If(branches, otherwise) => return self.branches(frame, branches, otherwise, state),
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let bounds = [from, step, to].map(|bound| self.expr(frame, bound, &state));
                return self.counted(frame, *counter, bounds, body, state);
            }
            Statement::While(condition, body) => return self.repeated(frame, condition, body, state),
            Statement::Break => {
                join(&mut frame.broken, state);
                return None;
            }
            Statement::Return => {
                join(&mut frame.returned, state);
                return None;
            }
        }
        Some(state)
    }

    fn assign(&mut self, frame: &mut Frame<'f>, state: &mut State, place: &'f Place, value: Known) {
        let indices: Vec<Known> = place
            .indices
            .iter()
            .map(|index| self.expr(frame, index, state))
            .collect();
        match frame.position(place, &indices) {
            Some(position) => state[place.local.0 as usize][position] = value,
            None => forget(state, place.local),
        }
    }

    fn branches(
        &mut self,
        frame: &mut Frame<'f>,
        branches: &'f [(FunctionExpr, Vec<Statement>)],
        otherwise: &'f [Statement],
        state: State,
    ) -> Option<State> {
        let mut end = None;
        for (condition, body) in branches {
            let truth = self.expr(frame, condition, &state);
            if truth == Some(0.0) {
                continue;
            }
            if let Some(reached) = self.list(frame, body, state.clone()) {
                join(&mut end, reached);
            }
            if truth.is_some() {
                return end;
            }
        }
        if let Some(reached) = self.list(frame, otherwise, state) {
            join(&mut end, reached);
        }
        end
    }

    fn counted(
        &mut self,
        frame: &mut Frame<'f>,
        counter: LocalId,
        bounds: [Known; 3],
        body: &'f [Statement],
        mut state: State,
    ) -> Option<State> {
        let outside = frame.broken.take();
        let [Some(from), Some(step), Some(to)] = bounds else {
            forget(&mut state, counter);
            return self.any_number_of_turns(frame, body, state, outside);
        };
        let count = ((to - from) / step + 1e-9).floor() + 1.0;
        let mut turn = 0.0;
        let mut end = Some(state);
        while turn < count {
            self.work = self.work.saturating_sub(1);
            let Some(mut state) = end.take() else { break };
            if self.work == 0 {
                return None;
            }
            state[counter.0 as usize] = vec![Some(from + turn * step)];
            end = self.list(frame, body, state);
            turn += 1.0;
        }
        if let Some(broken) = std::mem::replace(&mut frame.broken, outside) {
            join(&mut end, broken);
        }
        end
    }

    fn repeated(
        &mut self,
        frame: &mut Frame<'f>,
        condition: &'f FunctionExpr,
        body: &'f [Statement],
        mut state: State,
    ) -> Option<State> {
        let outside = frame.broken.take();
        loop {
            self.work = self.work.saturating_sub(1);
            let truth = self.expr(frame, condition, &state);
            match truth {
                _ if self.work == 0 => return None,
                // A turn that may have left the loop makes the following ones open, too.
                None => return self.any_number_of_turns(frame, body, state, outside),
                Some(0.0) => break,
                Some(_) => match self.list(frame, body, state) {
                    Some(next) => state = next,
                    None => return std::mem::replace(&mut frame.broken, outside),
                },
            }
        }
        let mut end = Some(state);
        if let Some(broken) = std::mem::replace(&mut frame.broken, outside) {
            join(&mut end, broken);
        }
        end
    }

    /// A loop of which it is open how often it turns: what it assigns is open.
    fn any_number_of_turns(
        &mut self,
        frame: &mut Frame<'f>,
        body: &'f [Statement],
        mut state: State,
        outside: Option<State>,
    ) -> Option<State> {
        body.for_each_statement(&mut |statement| {
            statement.for_each_target(|place| forget(&mut state, place.local));
            if let Statement::For { counter, .. } = statement {
                forget(&mut state, *counter);
            }
        });
        // For what returns from within.
        let _ = self.list(frame, body, state.clone());
        let mut end = Some(state);
        if let Some(broken) = std::mem::replace(&mut frame.broken, outside) {
            join(&mut end, broken);
        }
        end
    }

    fn expr(&mut self, frame: &Frame<'f>, expr: &'f FunctionExpr, state: &State) -> Known {
        match expr {
            FunctionExpr::Constant(value) => Some(*value),
            FunctionExpr::Read(place) => {
                let indices: Vec<Known> = place
                    .indices
                    .iter()
                    .map(|index| self.expr(frame, index, state))
                    .collect();
                let position = frame.position(place, &indices)?;
                state[place.local.0 as usize].get(position).copied().flatten()
            }
            FunctionExpr::Unary(op, a) => self.expr(frame, a, state).map(|a| apply_unary(*op, a)),
            FunctionExpr::Binary(op, a, b) => {
                let operands = (self.expr(frame, a, state), self.expr(frame, b, state));
                binary(*op, operands)
            }
            FunctionExpr::If(condition, a, b) => match self.expr(frame, condition, state) {
                Some(0.0) => self.expr(frame, b, state),
                Some(_) => self.expr(frame, a, state),
                None => {
                    let (a, b) = (self.expr(frame, a, state), self.expr(frame, b, state));
                    a.filter(|_| a == b)
                }
            },
            FunctionExpr::Call { function, output, args } => {
                let args: Vec<Known> = args.iter().map(|arg| self.expr(frame, arg, state)).collect();
                let results = self.call(*function, &args, frame.depth + 1);
                results.get(*output as usize).copied().flatten()
            }
        }
    }
}

/// An operation on what is known.
fn binary(op: BinaryFunction, operands: (Known, Known)) -> Known {
    use BinaryFunction::{And, Div, Mul, Or};
    match (op, operands) {
        (_, (Some(a), Some(b))) => Some(apply_binary(op, a, b)),
        (Mul | And, (Some(0.0), None) | (None, Some(0.0))) => Some(0.0),
        (Div, (Some(0.0), None)) => Some(0.0),
        (Or, (Some(known), None) | (None, Some(known))) if known != 0.0 => Some(1.0),
        _ => None,
    }
}
