//! Fields of records that functions leave without a value. A function may assign only some fields of a record that it
//! yields, and others may pass the record on; what has no value is no number. Whoever computes with a field asserts that it
//! is one.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::function::{Body, Function, FunctionExpr, Functions, LocalId, Rewrite, Statement, Visit, rewrite};
use saltus_mdae::{BinaryFunction, FunctionId, Idx, Type, UnaryFunction};

use crate::assigned::scalar_numbers;
use crate::required::required;

/// Scalar outputs without a certain value, by function.
pub(crate) type Open = FxHashMap<FunctionId, FxHashSet<u32>>;

/// What is known of fields without a value.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// Outputs that may have none.
    pub open: Open,
    /// Which arguments of each function are fields: it looks itself at those that it uses.
    pub taken: Vec<Vec<bool>>,
}

impl Fields {
    /// Whether an output may be left without a value.
    pub(crate) fn may_be_open(&self, function: FunctionId, output: u32) -> bool {
        self.open
            .get(&function)
            .is_some_and(|numbers| numbers.contains(&output))
    }

    /// Whether a function is given a field at this place.
    pub(crate) fn takes_field(&self, function: FunctionId, argument: usize) -> bool {
        self.taken.get(function.index()).and_then(|taken| taken.get(argument)) == Some(&true)
    }
}

/// Guards the reads of fields that functions may have left without a value.
pub(crate) fn guard_fields(functions: &mut Functions, fields: Vec<FxHashSet<LocalId>>, mut open: Open) -> Fields {
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
        let mut guard = Guard {
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
            *statements = rewrite(std::mem::take(statements), &mut guard);
        }
    }
    Fields { open, taken }
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
        statements.for_each_statement(&mut |statement| spread(statement, open, &mut found));
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
    fn is_copy(&self, value: &FunctionExpr) -> bool {
        matches!(value, FunctionExpr::Read(place) if self.doubtful.contains(&place.local))
            || is_open_call(value, self.open)
    }

    /// Whether an argument of a call is used for it, not only passed on.
    fn looks_at(&self, function: FunctionId, at: usize, arg: &FunctionExpr) -> bool {
        let taken = self.taken.get(function.index()).and_then(|taken| taken.get(at));
        taken != Some(&true) || !self.is_copy(arg)
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
        expr.walk(&mut |part| {
            let FunctionExpr::Read(place) = part else { return };
            let name = format!("`{}`", self.names[place.local.0 as usize]);
            if self.doubtful.contains(&place.local) && !names.contains(&name) {
                names.push(name);
            }
        });
    }

    /// Whether the doubtful fields that an expression reads are numbers; `None` if it reads none.
    fn are_numbers(&self, expr: &FunctionExpr) -> Option<FunctionExpr> {
        let own = |expr: &FunctionExpr| self.is_copy(expr).then(|| is_number(expr));
        let looked_at = |(call, at): (&FunctionExpr, usize)| match call {
            FunctionExpr::Call { function, args, .. } => self.looks_at(*function, at, &args[at]),
            _ => true,
        };
        required(expr, &own, &looked_at)
    }
}

impl Rewrite for Guard<'_> {
    fn simple(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match &statement {
            Statement::Assign(place, value) => {
                self.check(&place.indices, out);
                if !self.is_copy(value) {
                    self.check([value], out);
                }
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                let used = args.iter().enumerate();
                let used = used.filter(|(at, arg)| self.looks_at(*function, *at, arg));
                self.check(used.map(|(_, arg)| arg), out);
                targets.iter().for_each(|(_, place)| self.check(&place.indices, out));
            }
            // A message is evaluated only if it is needed.
            Statement::Assert(condition, _) | Statement::Warn(condition, _) => self.check([condition], out),
            other => other.for_each_expr(|expr| self.check([expr], out)),
        }
        out.push(statement);
    }

    fn before(&mut self, exprs: &[&FunctionExpr], out: &mut Vec<Statement>) {
        self.check(exprs.iter().copied(), out);
    }
}

fn is_number(expr: &FunctionExpr) -> FunctionExpr {
    let size = FunctionExpr::Unary(UnaryFunction::Abs, Box::new(expr.clone()));
    let bound = FunctionExpr::Constant(f64::INFINITY);
    FunctionExpr::binary(BinaryFunction::Le, size, bound)
}
