//! Loops in algorithm sections whose length is not known before the run. Such a loop becomes a function: the variables
//! it assigns are its results, everything it reads its arguments.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_lang::flat::{self, Builtin, FlatExpr, FlatStatement, StatementKind, VariableId, collect_assigned};
use saltus_mdae::function::{Body, Function, FunctionExpr, Local, LocalId, Place, Statement};
use saltus_mdae::{ExprId, FunctionId, OriginId, Role, Type, VarId};
use saltus_source::{Diagnostic, codes};

use crate::algorithm::Values;
use crate::function::Inside;
use crate::loop_slice::discrete_slice;
use crate::variables::type_of;
use crate::{Lowering, Meaning};

/// The model as a loop sees it.
pub(crate) struct Outside {
    locals: Vec<Local>,
    /// Variables that the loop assigns.
    assigned: FxHashMap<VariableId, LocalId>,
    /// Variables of loops, by their number in the section.
    counters: FxHashMap<flat::LocalId, LocalId>,
    /// What the loop reads, by the value before it.
    arguments: Vec<(LocalId, ExprId)>,
    known: FxHashMap<ExprId, LocalId>,
    /// Values of variables where the loop begins.
    values: Values,
    origin: OriginId,
}

impl Outside {
    fn local(&mut self, name: &str, ty: Type) -> LocalId {
        self.locals.push(Local::new(name, ty, Vec::new()));
        LocalId(self.locals.len() as u32 - 1)
    }
}

impl Lowering<'_> {
    /// Executes a loop: the variables it assigns get the results of a call. One that assigns nothing is there for its
    /// assertions: the call is returned.
    pub(crate) fn loop_statement(
        &mut self,
        statement: &FlatStatement,
        values: &mut Values,
        origin: OriginId,
    ) -> Option<ExprId> {
        let mut assigned = FxHashSet::default();
        collect_assigned(std::slice::from_ref(statement), &mut assigned);
        let is_discrete = |id: &VariableId| match self.meanings[*id] {
            Meaning::Variable(var) => self.model.variables[var].role == Role::Discrete,
            _ => false,
        };
        let discrete = assigned.iter().copied().filter(is_discrete).collect();
        let slice = discrete_slice(statement, &assigned, discrete);
        let before = values.clone();
        let check = self.loop_call(statement, assigned, &before, values, origin);
        if let Some((alone, part)) = slice {
            self.loop_call(&part, alone, &before, values, origin);
        }
        check
    }

    /// One call for all variables that a loop assigns.
    fn loop_call(
        &mut self,
        statement: &FlatStatement,
        assigned: FxHashSet<VariableId>,
        before: &Values,
        values: &mut Values,
        origin: OriginId,
    ) -> Option<ExprId> {
        let mut assigned: Vec<VariableId> = assigned.into_iter().collect();
        assigned.sort_unstable();
        let mut outside = Outside {
            locals: Vec::new(),
            assigned: FxHashMap::default(),
            counters: FxHashMap::default(),
            arguments: Vec::new(),
            known: FxHashMap::default(),
            values: before.clone(),
            origin,
        };
        let mut targets: Vec<(VarId, LocalId)> = Vec::new();
        for id in assigned {
            let Meaning::Variable(var) = self.meanings[id] else {
                continue;
            };
            let variable = &self.model.variables[var];
            let local = outside.local(&variable.name.clone(), variable.ty);
            let first = before.get(&var).copied().unwrap_or_else(|| self.model.pool.var(var));
            outside.assigned.insert(id, local);
            outside.arguments.push((local, first));
            targets.push((var, local));
        }
        let mut inside = Inside {
            name: "".into(),
            span: Some(self.span_of(origin)),
            types: Vec::new(),
            outside: Some(&mut outside),
        };
        let mut body = self.loop_body(std::slice::from_ref(statement), &mut inside);
        let mut outputs: Vec<LocalId> = targets.iter().map(|&(_, local)| local).collect();
        if outputs.is_empty() {
            let done = outside.local("done", Type::Integer);
            body.insert(0, Statement::Assign(Place::scalar(done), FunctionExpr::Constant(1.0)));
            outputs.push(done);
        }
        let function = self.loop_function(&outside, outputs, body);
        let args: Vec<ExprId> = outside.arguments.iter().map(|&(_, value)| value).collect();
        for (output, (var, _)) in targets.iter().enumerate() {
            let value = self.model.pool.call(function, output as u32, &args);
            values.insert(*var, value);
        }
        targets.is_empty().then(|| self.model.pool.call(function, 0, &args))
    }

    fn loop_function(&mut self, outside: &Outside, outputs: Vec<LocalId>, body: Vec<Statement>) -> FunctionId {
        let function = Function {
            name: "".into(),
            locals: outside.locals.clone(),
            inputs: outside.arguments.iter().map(|&(local, _)| local).collect(),
            outputs,
            body: Body::Algorithm(body),
            derivatives: Vec::new(),
            inverses: Vec::new(),
            texts: self.model.texts.clone(),
            origin: outside.origin,
            compiled: Default::default(),
        };
        self.add_function(function)
    }

    fn loop_body(&mut self, statements: &[FlatStatement], inside: &mut Inside<'_>) -> Vec<Statement> {
        let mut out = Vec::new();
        for statement in statements {
            self.loop_part(statement, inside, &mut out);
        }
        out
    }

    fn loop_part(&mut self, statement: &FlatStatement, inside: &mut Inside<'_>, out: &mut Vec<Statement>) {
        match &statement.kind {
            StatementKind::Assign(list) => self.loop_assignment(list, inside, out),
            StatementKind::If { branches, otherwise } => {
                let branches = branches
                    .iter()
                    .map(|branch| {
                        let condition = self.function_expr(&branch.condition, inside);
                        (condition, self.loop_body(&branch.body, inside))
                    })
                    .collect();
                let otherwise = self.loop_body(otherwise, inside);
                out.push(Statement::If(branches, otherwise));
            }
            StatementKind::While(condition, body) => {
                let condition = self.function_expr(condition, inside);
                let body = self.loop_body(body, inside);
                out.push(Statement::While(condition, body));
            }
            StatementKind::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let bounds = [from, step, to].map(|bound| self.function_expr(bound, inside));
                let Some(outside) = &mut inside.outside else { return };
                let local = outside.local("counter", Type::Real);
                outside.counters.insert(*counter, local);
                let body = self.loop_body(body, inside);
                out.push(self.for_loop(local, bounds, body));
            }
            StatementKind::Assert {
                condition,
                message,
                level,
            } => {
                let condition = self.function_expr(condition, inside);
                let message = self.function_expr(message, inside);
                let check = match level {
                    flat::AssertLevel::Error => Statement::Assert,
                    flat::AssertLevel::Warning => Statement::Warn,
                };
                out.push(check(condition, message));
            }
            StatementKind::NoReturnCall(FlatExpr::Call(call)) => {
                let args = call.arguments.iter().map(|arg| self.function_expr(arg, inside));
                out.push(Statement::CallAssign {
                    function: FunctionId(call.function.0),
                    args: args.collect(),
                    targets: Vec::new(),
                });
            }
            StatementKind::Break => out.push(Statement::Break),
            StatementKind::Return => out.push(Statement::Return),
            StatementKind::NoReturnCall(_) | StatementKind::When { .. } | StatementKind::Terminate(_) => {
                let origin = self.origin(statement.provenance);
                let span = self.span_of(origin);
                self.report(
                    Diagnostic::error(
                        codes::E0507,
                        span,
                        "`terminate` and `when` cannot stand in a loop whose length is not known before the run",
                    )
                    .with_help("let the loop compute a variable, and act on it behind the loop"),
                );
            }
        }
    }

    /// Of several values all are computed before any is stored.
    fn loop_assignment(&mut self, list: &[(VariableId, FlatExpr)], inside: &mut Inside<'_>, out: &mut Vec<Statement>) {
        let mut stores = Vec::new();
        for (id, value) in list {
            let value = self.function_expr(value, inside);
            let Some(outside) = &mut inside.outside else { return };
            let Some(&target) = outside.assigned.get(id) else {
                continue;
            };
            if list.len() == 1 {
                out.push(Statement::Assign(Place::scalar(target), value));
                return;
            }
            let ty = outside.locals[target.0 as usize].ty;
            let copy = outside.local("temporary", ty);
            out.push(Statement::Assign(Place::scalar(copy), value));
            stores.push(Statement::Assign(Place::scalar(target), FunctionExpr::read(copy)));
        }
        out.append(&mut stores);
    }

    /// What a loop takes from outside: variables it does not assign, what only the model knows, and whatever causes
    /// events and does not depend on the loop. `None` for anything else.
    pub(crate) fn argument(&mut self, expr: &FlatExpr, inside: &mut Inside<'_>) -> Option<FunctionExpr> {
        let outside = inside.outside.as_deref_mut()?;
        match expr {
            FlatExpr::Local(counter, _) => {
                return outside.counters.get(counter).map(|&local| FunctionExpr::read(local));
            }
            FlatExpr::Variable(id) => {
                if let Some(&local) = outside.assigned.get(id) {
                    return Some(FunctionExpr::read(local));
                }
            }
            FlatExpr::Time => {}
            FlatExpr::Builtin(builtin, ..) if is_of_model(*builtin) => {}
            FlatExpr::Builtin(builtin, ..) if causes_events(*builtin) && is_invariant(expr, outside) => {}
            FlatExpr::Binary(op, ..) if op.is_relation() && is_invariant(expr, outside) => {}
            _ => return None,
        }
        let substitution = self.substitution.replace(outside.values.clone());
        let value = self.expr(expr);
        self.substitution = substitution;
        if let Some(constant) = self.model.pool.constant(value) {
            return Some(FunctionExpr::Constant(constant));
        }
        if let Some(&local) = outside.known.get(&value) {
            return Some(FunctionExpr::read(local));
        }
        let ty = type_of(expr.scalar_type(self.flat));
        let local = outside.local("argument", ty);
        outside.known.insert(value, local);
        outside.arguments.push((local, value));
        Some(FunctionExpr::read(local))
    }
}

/// Operators that only the model can evaluate.
fn is_of_model(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Der
            | Builtin::Pre
            | Builtin::Edge
            | Builtin::Change
            | Builtin::Sample
            | Builtin::Initial
            | Builtin::Terminal
            | Builtin::Delay
            | Builtin::TransportedLeft
            | Builtin::TransportedRight
    )
}

fn causes_events(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::Ceil | Builtin::Floor | Builtin::Integer
    )
}

/// Whether nothing in an expression changes in the loop.
fn is_invariant(expr: &FlatExpr, outside: &Outside) -> bool {
    let mut invariant = true;
    expr.walk(&mut |part| match part {
        FlatExpr::Local(..) => invariant = false,
        FlatExpr::Variable(id) => invariant &= !outside.assigned.contains_key(id),
        _ => {}
    });
    invariant
}
