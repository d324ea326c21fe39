//! Going through functions: looking at statements and expressions, and putting statements between statements.

use super::ir::{FunctionExpr, LocalId, Place, Statement};
use crate::expr::BinaryFunction;
use crate::index::FunctionId;

impl FunctionExpr {
    /// The value of a variable without dimensions.
    pub fn read(local: LocalId) -> Self {
        FunctionExpr::Read(Place::scalar(local))
    }

    /// An operator with two operands.
    pub fn binary(op: BinaryFunction, a: FunctionExpr, b: FunctionExpr) -> Self {
        FunctionExpr::Binary(op, Box::new(a), Box::new(b))
    }

    /// Calls `visit` with the parts it is made of.
    pub fn for_each_operand<'e>(&'e self, mut visit: impl FnMut(&'e FunctionExpr)) {
        match self {
            FunctionExpr::Constant(_) => {}
            FunctionExpr::Read(place) => place.indices.iter().for_each(visit),
            FunctionExpr::Unary(_, a) => visit(a),
            FunctionExpr::Binary(_, a, b) => {
                visit(a);
                visit(b);
            }
            FunctionExpr::If(c, a, b) => [c, a, b].into_iter().for_each(|part| visit(part)),
            FunctionExpr::Call { args, .. } => args.iter().for_each(visit),
        }
    }

    /// Calls `visit` with it and everything in it.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e FunctionExpr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            visit(expr);
            let first = stack.len();
            expr.for_each_operand(|operand| stack.push(operand));
            stack[first..].reverse();
        }
    }

    /// The number of its parts, itself included.
    pub fn size(&self) -> u32 {
        let mut size = 0;
        self.walk(&mut |_| size += 1);
        size
    }

    /// Calls `visit` with every function called in it, and which of its results is used.
    pub(super) fn for_each_call(&self, visit: &mut impl FnMut(FunctionId, u32)) {
        self.walk(&mut |expr| {
            if let FunctionExpr::Call { function, output, .. } = expr {
                visit(*function, *output);
            }
        });
    }
}

impl Statement {
    /// Calls `visit` with the expressions that the statement itself evaluates, in their order; not with those of
    /// statements in it.
    pub fn for_each_expr<'e>(&'e self, mut visit: impl FnMut(&'e FunctionExpr)) {
        match self {
            Statement::Assign(place, value) => {
                visit(value);
                place.indices.iter().for_each(visit);
            }
            Statement::CallAssign { args, targets, .. } => {
                args.iter().for_each(&mut visit);
                targets.iter().flat_map(|(_, place)| &place.indices).for_each(visit);
            }
            Statement::Allocate { sizes, .. } => sizes.iter().for_each(visit),
            Statement::If(branches, _) => branches.iter().for_each(|(condition, _)| visit(condition)),
            Statement::For { from, step, to, .. } => [from, step, to].into_iter().for_each(visit),
            Statement::While(condition, _) => visit(condition),
            Statement::Assert(condition, message) | Statement::Warn(condition, message) => {
                visit(condition);
                visit(message);
            }
            Statement::Break | Statement::Return => {}
        }
    }

    /// The places it assigns itself; loop counters are none.
    pub fn for_each_target<'e>(&'e self, mut visit: impl FnMut(&'e Place)) {
        match self {
            Statement::Assign(place, _) => visit(place),
            Statement::CallAssign { targets, .. } => targets.iter().for_each(|(_, place)| visit(place)),
            _ => {}
        }
    }

    /// The lists of statements in it.
    pub fn bodies(&self) -> impl Iterator<Item = &Vec<Statement>> {
        let (branches, body) = match self {
            Statement::If(branches, otherwise) => (&branches[..], Some(otherwise)),
            Statement::For { body, .. } | Statement::While(_, body) => (&[][..], Some(body)),
            _ => (&[][..], None),
        };
        branches.iter().map(|(_, body)| body).chain(body)
    }

    /// The lists of statements in it, to be changed.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Vec<Statement>> {
        let (branches, body) = match self {
            Statement::If(branches, otherwise) => (&mut branches[..], Some(otherwise)),
            Statement::For { body, .. } | Statement::While(_, body) => (&mut [][..], Some(body)),
            _ => (&mut [][..], None),
        };
        branches.iter_mut().map(|(_, body)| body).chain(body)
    }
}

/// Looking at everything in a list of statements.
pub trait Visit {
    /// Calls `visit` with every statement, those inside others behind them.
    fn for_each_statement<'e>(&'e self, visit: &mut dyn FnMut(&'e Statement));

    /// Calls `visit` with every expression and everything in it.
    fn for_each_part<'e>(&'e self, visit: &mut dyn FnMut(&'e FunctionExpr)) {
        self.for_each_statement(&mut |statement| statement.for_each_expr(|expr| expr.walk(visit)));
    }
}

impl Visit for [Statement] {
    fn for_each_statement<'e>(&'e self, visit: &mut dyn FnMut(&'e Statement)) {
        for statement in self {
            visit(statement);
            statement.bodies().for_each(|body| body.for_each_statement(visit));
        }
    }
}

/// Statements that are put between others.
pub trait Rewrite {
    /// Writes what is to be executed in place of a statement without statements in it.
    fn simple(&mut self, statement: Statement, out: &mut Vec<Statement>);

    /// Writes what is to be executed before the conditions or bounds of a statement are evaluated, each time they are.
    fn before(&mut self, exprs: &[&FunctionExpr], out: &mut Vec<Statement>);
}

/// Rewrites statements, those inside others included.
pub fn rewrite(statements: Vec<Statement>, how: &mut dyn Rewrite) -> Vec<Statement> {
    let mut out = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::If(branches, otherwise) => rewrite_branches(branches, otherwise, how, &mut out),
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                how.before(&[&from, &step, &to], &mut out);
                out.push(Statement::For {
                    counter,
                    from,
                    step,
                    to,
                    body: rewrite(body, how),
                });
            }
            Statement::While(condition, body) => {
                how.before(&[&condition], &mut out);
                let mut body = rewrite(body, how);
                how.before(&[&condition], &mut body);
                out.push(Statement::While(condition, body));
            }
            simple => how.simple(simple, &mut out),
        }
    }
    out
}

/// A later condition is evaluated only if those before it are false: what has to be done before it stands there.
fn rewrite_branches(
    branches: Vec<(FunctionExpr, Vec<Statement>)>,
    otherwise: Vec<Statement>,
    how: &mut dyn Rewrite,
    out: &mut Vec<Statement>,
) {
    let mut chain: Vec<(Vec<Statement>, FunctionExpr, Vec<Statement>)> = Vec::with_capacity(branches.len());
    for (condition, body) in branches {
        let mut first = Vec::new();
        how.before(&[&condition], &mut first);
        chain.push((first, condition, rewrite(body, how)));
    }
    let mut rest = rewrite(otherwise, how);
    let mut joined: Vec<(FunctionExpr, Vec<Statement>)> = Vec::new();
    for (first, condition, body) in chain.into_iter().rev() {
        joined.insert(0, (condition, body));
        if !first.is_empty() {
            let whole = Statement::If(std::mem::take(&mut joined), std::mem::take(&mut rest));
            rest = first;
            rest.push(whole);
        }
    }
    if joined.is_empty() {
        out.append(&mut rest);
    } else {
        out.push(Statement::If(joined, rest));
    }
}
