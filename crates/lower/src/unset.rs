//! Fields of records that functions leave without a value. A function may assign only some fields of a record that it
//! yields, and others may pass the record on; what has no value is no number. Whoever computes with a field asserts that it
//! is one.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::function::{Body, Function, FunctionExpr, Functions, LocalId, Place, Statement};
use saltus_mdae::{BinaryOp, FunctionId, Idx, Type, UnaryOp};

use crate::assigned::{and, scalar_numbers};

/// Scalar outputs without a certain value, by function.
pub(crate) type Open = FxHashMap<FunctionId, FxHashSet<u32>>;

/// Guards the reads of fields that functions may have left without a value; returns all outputs that may have none.
pub(crate) fn guard_fields(functions: &mut Functions, fields: Vec<FxHashSet<LocalId>>, mut open: Open) -> Open {
    let ids: Vec<FunctionId> = (0..fields.len() as u32).map(FunctionId).collect();
    let mut doubtful: Vec<FxHashSet<LocalId>> = vec![FxHashSet::default(); fields.len()];
    loop {
        let mut changed = false;
        for (&id, own) in ids.iter().zip(&fields) {
            let found = doubtful_fields(&functions[id], own, &open);
            let passed_on = scalar_numbers(&functions[id], &functions[id].outputs, &found);
            for number in passed_on {
                changed |= open.entry(id).or_default().insert(number);
            }
            doubtful[id.index()] = found;
        }
        if !changed {
            break;
        }
    }
    let taken: Vec<Vec<bool>> = ids
        .iter()
        .map(|&id| {
            let function = &functions[id];
            let fields = scalar_numbers(function, &function.inputs, &fields[id.index()]);
            (0..function.input_size() as u32)
                .map(|at| fields.contains(&at))
                .collect()
        })
        .collect();
    for (id, doubtful) in ids.into_iter().zip(doubtful) {
        let guard = Guard {
            names: functions[id]
                .locals
                .iter()
                .map(|local| local.name.to_string())
                .collect(),
            texts: functions[id].texts.clone(),
            doubtful,
            open: &open,
            taken: &taken,
        };
        if let Body::Algorithm(statements) = &mut functions[id].body {
            *statements = guard.block(std::mem::take(statements));
        }
    }
    open
}

/// Whether an expression is an output of a call that may have no value.
fn is_open_call(expr: &FunctionExpr, open: &Open) -> bool {
    matches!(expr, FunctionExpr::Call { function, output, .. }
        if open.get(function).is_some_and(|numbers| numbers.contains(output)))
}

/// Fields that come in, or from a call that may leave them open, and copies of these.
fn doubtful_fields(function: &Function, fields: &FxHashSet<LocalId>, open: &Open) -> FxHashSet<LocalId> {
    let is_real = |id: &LocalId| function.locals[id.0 as usize].ty == Type::Real;
    let inputs = function.inputs.iter().copied();
    let mut found: FxHashSet<LocalId> = inputs.filter(|id| fields.contains(id) && is_real(id)).collect();
    let Body::Algorithm(statements) = &function.body else {
        return FxHashSet::default();
    };
    loop {
        let before = found.len();
        statements
            .iter()
            .for_each(|statement| spread(statement, open, &mut found));
        if found.len() == before {
            return found;
        }
    }
}

fn spread(statement: &Statement, open: &Open, found: &mut FxHashSet<LocalId>) {
    match statement {
        Statement::Assign(target, FunctionExpr::Read(from)) if found.contains(&from.local) => {
            found.insert(target.local);
        }
        Statement::Assign(target, value) if is_open_call(value, open) => {
            found.insert(target.local);
        }
        Statement::CallAssign { function, targets, .. } => {
            if let Some(numbers) = open.get(function) {
                let left = targets.iter().filter(|(number, _)| numbers.contains(number));
                found.extend(left.map(|(_, place)| place.local));
            }
        }
        Statement::If(branches, otherwise) => {
            let bodies = branches.iter().map(|(_, body)| body).chain([otherwise]);
            bodies.flatten().for_each(|inner| spread(inner, open, found));
        }
        Statement::For { body, .. } | Statement::While(_, body) => {
            body.iter().for_each(|inner| spread(inner, open, found));
        }
        _ => {}
    }
}

struct Guard<'g> {
    names: Vec<String>,
    texts: std::sync::Arc<saltus_mdae::text::Texts>,
    doubtful: FxHashSet<LocalId>,
    open: &'g Open,
    /// Which arguments of each function are fields: it looks at them itself.
    taken: &'g [Vec<bool>],
}

impl Guard<'_> {
    fn block(&self, statements: Vec<Statement>) -> Vec<Statement> {
        let mut out = Vec::new();
        for statement in statements {
            self.statement(statement, &mut out);
        }
        out
    }

    fn statement(&self, statement: Statement, out: &mut Vec<Statement>) {
        match statement {
            Statement::Assign(place, value) => {
                self.check(&place.indices, out);
                if !self.is_copy(&value) {
                    self.check([&value], out);
                }
                out.push(Statement::Assign(place, value));
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                self.check(self.looked_at(function, &args), out);
                targets.iter().for_each(|(_, place)| self.check(&place.indices, out));
                out.push(Statement::CallAssign {
                    function,
                    args,
                    targets,
                });
            }
            Statement::If(branches, otherwise) => {
                // A later condition is evaluated only if those before it are false.
                let mut earlier: Vec<FunctionExpr> = Vec::new();
                for (condition, _) in &branches {
                    if let Some(check) = self.are_numbers(condition) {
                        let check = earlier.iter().rev().fold(check, |check, before| {
                            let fine = Box::new(FunctionExpr::Constant(1.0));
                            FunctionExpr::If(Box::new(before.clone()), fine, Box::new(check))
                        });
                        out.push(self.assertion(check, condition));
                    }
                    earlier.push(condition.clone());
                }
                let branches = branches.into_iter().map(|(c, body)| (c, self.block(body))).collect();
                out.push(Statement::If(branches, self.block(otherwise)));
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                self.check([&from, &step, &to], out);
                out.push(Statement::For {
                    counter,
                    from,
                    step,
                    to,
                    body: self.block(body),
                });
            }
            Statement::While(condition, body) => {
                self.check([&condition], out);
                let mut body = self.block(body);
                self.check([&condition], &mut body);
                out.push(Statement::While(condition, body));
            }
            Statement::Assert(condition, message) => {
                self.check([&condition], out);
                out.push(Statement::Assert(condition, message));
            }
            Statement::Warn(condition, message) => {
                self.check([&condition], out);
                out.push(Statement::Warn(condition, message));
            }
            other @ (Statement::Break | Statement::Return) => out.push(other),
        }
    }

    fn is_copy(&self, value: &FunctionExpr) -> bool {
        matches!(value, FunctionExpr::Read(place) if self.doubtful.contains(&place.local))
            || is_open_call(value, self.open)
    }

    /// The arguments of a call that are used for it, not only passed on.
    fn looked_at<'e>(&self, function: FunctionId, args: &'e [FunctionExpr]) -> Vec<&'e FunctionExpr> {
        let taken = self.taken.get(function.index());
        let passed = |at: usize| taken.and_then(|taken| taken.get(at)) == Some(&true);
        let all = args.iter().enumerate();
        all.filter(|(at, arg)| !(passed(*at) && self.is_copy(arg)))
            .map(|(_, arg)| arg)
            .collect()
    }

    fn check<'e>(&self, exprs: impl IntoIterator<Item = &'e FunctionExpr>, out: &mut Vec<Statement>) {
        for expr in exprs {
            if let Some(check) = self.are_numbers(expr) {
                out.push(self.assertion(check, expr));
            }
        }
    }

    fn assertion(&self, check: FunctionExpr, expr: &FunctionExpr) -> Statement {
        let mut names = Vec::new();
        self.names_in(expr, &mut names);
        let message = format!(
            "{} is used, but the call that should give it a value did not",
            names.join(" or ")
        );
        let message = self.texts.number(&message).unwrap_or(0.0);
        Statement::Assert(check, FunctionExpr::Constant(message))
    }

    fn names_in(&self, expr: &FunctionExpr, names: &mut Vec<String>) {
        match expr {
            FunctionExpr::Constant(_) => {}
            FunctionExpr::Read(Place { local, indices }) => {
                let name = format!("`{}`", self.names[local.0 as usize]);
                if self.doubtful.contains(local) && !names.contains(&name) {
                    names.push(name);
                }
                indices.iter().for_each(|index| self.names_in(index, names));
            }
            FunctionExpr::Unary(_, a) => self.names_in(a, names),
            FunctionExpr::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.names_in(part, names)),
            FunctionExpr::If(c, a, b) => [c, a, b].into_iter().for_each(|part| self.names_in(part, names)),
            FunctionExpr::Call { args, .. } => args.iter().for_each(|arg| self.names_in(arg, names)),
        }
    }

    /// Whether the doubtful fields that an expression reads are numbers; `None` if it reads none.
    fn are_numbers(&self, expr: &FunctionExpr) -> Option<FunctionExpr> {
        let of = |expr: &FunctionExpr| self.are_numbers(expr);
        match expr {
            FunctionExpr::Constant(_) => None,
            FunctionExpr::Read(place) => {
                let own = self.doubtful.contains(&place.local).then(|| is_number(expr));
                place.indices.iter().filter_map(of).chain(own).reduce(and)
            }
            FunctionExpr::Unary(_, a) => of(a),
            FunctionExpr::Binary(_, a, b) => of(a).into_iter().chain(of(b)).reduce(and),
            FunctionExpr::If(c, a, b) => {
                let fine = || FunctionExpr::Constant(1.0);
                let chosen = match (of(a), of(b)) {
                    (None, None) => None,
                    (a, b) => {
                        let (a, b) = (a.unwrap_or_else(fine), b.unwrap_or_else(fine));
                        Some(FunctionExpr::If(c.clone(), Box::new(a), Box::new(b)))
                    }
                };
                of(c).into_iter().chain(chosen).reduce(and)
            }
            FunctionExpr::Call { function, args, .. } => {
                let looked_at = self.looked_at(*function, args);
                let own = is_open_call(expr, self.open).then(|| is_number(expr));
                looked_at.into_iter().filter_map(of).chain(own).reduce(and)
            }
        }
    }
}

fn is_number(expr: &FunctionExpr) -> FunctionExpr {
    let size = FunctionExpr::Unary(UnaryOp::Abs, Box::new(expr.clone()));
    let bound = FunctionExpr::Constant(f64::INFINITY);
    FunctionExpr::Binary(BinaryOp::Le, Box::new(size), Box::new(bound))
}
