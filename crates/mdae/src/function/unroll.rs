//! Short loops over constant ranges, written out.
//!
//! Formulas of media are sums over tables of coefficients, `for k in 1:51 loop s := s + n[k]*d^i[k]; end for`. With k a number the
//! coefficients are numbers, too, and powers with whole exponents products; with k a variable each of them is a choice among all
//! elements, each time.

use super::Visit;
use super::bytecode::Compiled;
use super::ir::{Body, Function, FunctionExpr, LocalId, Place, Statement};
use super::kind::is_exact;
use crate::eval::{apply_binary, apply_unary};
use crate::expr::{BinaryFunction, UnaryFunction};

/// Loops with more turns stay loops.
const MOST_TURNS: f64 = 64.0;
/// Parts of expressions that the loops of one function may be written out to.
const MOST_PARTS: u32 = 6000;

impl Function {
    /// Writes out its short loops.
    pub fn unroll_loops(&mut self) {
        if let Body::Algorithm(statements) = &mut self.body {
            let mut writer = Writer {
                parts: MOST_PARTS,
                values: Vec::new(),
            };
            *statements = writer.list(statements);
            self.compiled = Compiled::default();
        }
    }
}

/// Statements as they are written out.
struct Writer {
    /// Parts that may still be written.
    parts: u32,
    /// Counters of the loops around, with the values that they have.
    values: Vec<(LocalId, f64)>,
}

impl Writer {
    fn list(&mut self, statements: &[Statement]) -> Vec<Statement> {
        let mut out = Vec::with_capacity(statements.len());
        for statement in statements {
            self.statement(statement, &mut out);
        }
        out
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<Statement>) {
        let written = match statement {
            Statement::Assign(place, value) => Statement::Assign(self.place(place), self.expr(value)),
            Statement::CallAssign {
                function,
                args,
                targets,
            } => Statement::CallAssign {
                function: *function,
                args: self.exprs(args),
                targets: targets
                    .iter()
                    .map(|(output, place)| (*output, self.place(place)))
                    .collect(),
            },
            Statement::Allocate { local, sizes } => Statement::Allocate {
                local: *local,
                sizes: self.exprs(sizes),
            },
            Statement::If(branches, otherwise) => {
                self.branches(branches, otherwise, out);
                return;
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let [from, step, to] = [from, step, to].map(|bound| self.expr(bound));
                if !leaves(body)
                    && keeps(*counter, body)
                    && let Some(turns) = turns(&from, &step, &to)
                    && self.turns(*counter, &turns, body, out)
                {
                    return;
                }
                Statement::For {
                    counter: *counter,
                    from,
                    step,
                    to,
                    body: self.list(body),
                }
            }
            Statement::While(condition, body) => Statement::While(self.expr(condition), self.list(body)),
            Statement::Assert(condition, message) => Statement::Assert(self.expr(condition), self.expr(message)),
            Statement::Warn(condition, message) => Statement::Warn(self.expr(condition), self.expr(message)),
            Statement::Break => Statement::Break,
            Statement::Return => Statement::Return,
        };
        if !self.values.is_empty() {
            let mut parts = 1;
            written.for_each_expr(|expr| parts += expr.size());
            self.parts = self.parts.saturating_sub(parts);
        }
        out.push(written);
    }

    /// The turns of a loop one after the other; nothing is written if they are too long.
    fn turns(&mut self, counter: LocalId, turns: &[f64], body: &[Statement], out: &mut Vec<Statement>) -> bool {
        let (length, parts) = (out.len(), self.parts);
        for &value in turns {
            self.values.push((counter, value));
            for statement in body {
                self.statement(statement, out);
            }
            self.values.pop();
            if self.parts == 0 {
                out.truncate(length);
                self.parts = parts;
                return false;
            }
        }
        if let Some(&last) = turns.last() {
            out.push(Statement::Assign(Place::scalar(counter), FunctionExpr::Constant(last)));
        }
        true
    }

    fn branches(
        &mut self,
        branches: &[(FunctionExpr, Vec<Statement>)],
        otherwise: &[Statement],
        out: &mut Vec<Statement>,
    ) {
        let mut left: Vec<(FunctionExpr, Vec<Statement>)> = Vec::new();
        let mut last = None;
        for (condition, body) in branches {
            let condition = self.expr(condition);
            match condition {
                FunctionExpr::Constant(0.0) => {}
                FunctionExpr::Constant(_) => {
                    last = Some(self.list(body));
                    break;
                }
                condition => left.push((condition, self.list(body))),
            }
        }
        let mut last = last.unwrap_or_else(|| self.list(otherwise));
        if left.is_empty() {
            out.append(&mut last);
        } else {
            out.push(Statement::If(left, last));
        }
    }

    fn exprs(&self, exprs: &[FunctionExpr]) -> Vec<FunctionExpr> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn place(&self, place: &Place) -> Place {
        Place {
            local: place.local,
            indices: self.exprs(&place.indices),
        }
    }

    fn expr(&self, expr: &FunctionExpr) -> FunctionExpr {
        match expr {
            FunctionExpr::Constant(value) => FunctionExpr::Constant(*value),
            FunctionExpr::Read(place) => {
                let known = self.values.iter().rev().find(|(counter, _)| *counter == place.local);
                match known {
                    Some(&(_, value)) => FunctionExpr::Constant(value),
                    None => FunctionExpr::Read(self.place(place)),
                }
            }
            FunctionExpr::Unary(op, a) => unary(*op, self.expr(a)),
            FunctionExpr::Binary(op, a, b) => binary(*op, self.expr(a), self.expr(b)),
            FunctionExpr::If(condition, a, b) => match self.expr(condition) {
                FunctionExpr::Constant(0.0) => self.expr(b),
                FunctionExpr::Constant(_) => self.expr(a),
                condition => FunctionExpr::If(Box::new(condition), Box::new(self.expr(a)), Box::new(self.expr(b))),
            },
            FunctionExpr::Call { function, output, args } => FunctionExpr::Call {
                function: *function,
                output: *output,
                args: self.exprs(args),
            },
        }
    }
}

/// An operation, as a number where it is one.
fn unary(op: UnaryFunction, a: FunctionExpr) -> FunctionExpr {
    if let FunctionExpr::Constant(a) = a {
        let value = apply_unary(op, a);
        let kept = matches!(op, UnaryFunction::Neg | UnaryFunction::Abs | UnaryFunction::Not);
        if value.is_finite() && (kept || value != value.trunc()) {
            return FunctionExpr::Constant(value);
        }
    }
    FunctionExpr::Unary(op, Box::new(a))
}

/// The same of two operands. Whole numbers that are too large are an error at run time; and a quotient that happens to be whole is
/// still no Integer.
fn binary(op: BinaryFunction, a: FunctionExpr, b: FunctionExpr) -> FunctionExpr {
    if let (&FunctionExpr::Constant(a), &FunctionExpr::Constant(b)) = (&a, &b) {
        let value = apply_binary(op, a, b);
        let real = matches!(op, BinaryFunction::Div | BinaryFunction::Pow | BinaryFunction::Atan2);
        if is_exact(value) && !(real && value == value.trunc()) {
            return FunctionExpr::Constant(value);
        }
    }
    FunctionExpr::binary(op, a, b)
}

/// The values of the counter of a loop, if they are known and not too many.
fn turns(from: &FunctionExpr, step: &FunctionExpr, to: &FunctionExpr) -> Option<Vec<f64>> {
    let (&FunctionExpr::Constant(from), &FunctionExpr::Constant(step), &FunctionExpr::Constant(to)) = (from, step, to)
    else {
        return None;
    };
    let whole = |x: f64| x == x.trunc();
    if step == 0.0 || ![from, step, to].into_iter().all(whole) {
        return None;
    }
    let count = ((to - from) / step).floor() + 1.0;
    let turn = |turn: u32| from + f64::from(turn) * step;
    (count <= MOST_TURNS).then(|| (0..count.max(0.0) as u32).map(turn).collect())
}

/// Whether the body of a loop leaves its counter alone.
fn keeps(counter: LocalId, body: &[Statement]) -> bool {
    let mut kept = true;
    body.for_each_statement(&mut |statement| {
        statement.for_each_target(|place| kept &= place.local != counter);
        if let Statement::For { counter: inner, .. } = statement {
            kept &= *inner != counter;
        }
    });
    kept
}

/// Whether statements may leave the loop that they are the body of.
fn leaves(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Break => true,
        Statement::If(branches, otherwise) => branches.iter().any(|(_, body)| leaves(body)) || leaves(otherwise),
        _ => false,
    })
}
