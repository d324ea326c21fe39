//! Algorithm sections of models.

use saltus_source::Span;
use saltus_syntax::ast::{self, ComponentReference, Expr, ExprKind, ForIndex, Statement};

use super::arguments::by_name;
use crate::codes;
use crate::expr::{Context, Iterators, Mode, Resolved};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{
    AssertLevel, BinaryOp, FlatExpr, FlatStatement, ProvenanceId, ProvenanceKind, StatementBranch, StatementKind,
    Variability, VariableId,
};
use crate::flattener::Flattener;
use crate::function::Effect;
use crate::tensor::{Elem, Tensor, Ty, binary};

/// Where a statement stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub in_when: bool,
    /// In an `if`, a `for` or a `while`.
    pub nested: bool,
    /// In a `for` or a `while`.
    pub in_loop: bool,
}

impl Flattener<'_> {
    pub(super) fn statements(
        &mut self,
        statements: &[Statement],
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        for statement in statements {
            self.spend(super::equation::EQUATION_COST, statement.span)?;
            self.statement(statement, ctx, place, out)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        statement: &Statement,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let span = statement.span;
        match &statement.kind {
            ast::StatementKind::Assign { target, value } => {
                let value = self.expr(value, ctx)?;
                let provenance = self.place_of(span, ctx, ProvenanceKind::Statement);
                self.assign_variable(target, value, provenance, ctx, out)
            }
            ast::StatementKind::MultiAssign { targets, value } => {
                let ExprKind::Call(call) = &value.kind else {
                    return fail(codes::E0301, span, "several results need a function call on the right");
                };
                let results = self.call_results(call, value.span, ctx)?;
                if targets.len() > results.len() {
                    return fail(
                        codes::E0212,
                        span,
                        format!(
                            "{} values are wanted, but the call has {} results",
                            targets.len(),
                            results.len()
                        ),
                    );
                }
                let provenance = self.place_of(span, ctx, ProvenanceKind::Statement);
                for (target, result) in targets.iter().zip(results) {
                    match target {
                        Some(Expr {
                            kind: ExprKind::Reference(target),
                            ..
                        }) => {
                            self.assign_variable(target, result, provenance, ctx, out)?;
                        }
                        Some(other) => return fail(codes::E0301, other.span, "this cannot be assigned"),
                        None => {}
                    }
                }
                Ok(())
            }
            ast::StatementKind::Call(expr) => self.call_statement(expr, ctx, out),
            ast::StatementKind::If { branches, otherwise } => {
                self.if_statement(branches, otherwise.as_deref().unwrap_or(&[]), span, ctx, place, out)
            }
            ast::StatementKind::For { indices, body } => self.for_statement(indices, body, ctx, place, out),
            ast::StatementKind::While { condition, body } => {
                let test = self.condition(condition, ctx)?;
                let mut inner = Vec::new();
                self.statements(
                    body,
                    ctx,
                    Place {
                        nested: true,
                        in_loop: true,
                        ..place
                    },
                    &mut inner,
                )?;
                self.push(StatementKind::While(test, inner), span, ctx, out);
                Ok(())
            }
            ast::StatementKind::When { branches } => {
                if place.in_when || place.nested {
                    return fail(
                        codes::E0311,
                        span,
                        "`when` cannot stand inside `when`, `if`, `for` or `while` here",
                    );
                }
                let mut result = Vec::new();
                for branch in branches {
                    let conditions = self.when_conditions(&branch.condition, ctx)?;
                    let mut body = Vec::new();
                    let inner = Place {
                        in_when: true,
                        nested: true,
                        ..place
                    };
                    self.statements(&branch.body, ctx, inner, &mut body)?;
                    result.push((conditions, body));
                }
                self.push(StatementKind::When { branches: result }, span, ctx, out);
                Ok(())
            }
            ast::StatementKind::Break if !place.in_loop => {
                fail(codes::E0311, span, "`break` can only be used in loops")
            }
            ast::StatementKind::Break => {
                self.push(StatementKind::Break, span, ctx, out);
                Ok(())
            }
            ast::StatementKind::Return => fail(codes::E0311, span, "`return` can only be used in functions"),
            ast::StatementKind::Error => Err(Failure::Reported),
        }
    }

    fn push(&mut self, kind: StatementKind, span: Span, ctx: &Context<'_>, out: &mut Vec<FlatStatement>) {
        let provenance = self.place_of(span, ctx, ProvenanceKind::Statement);
        out.push(FlatStatement { kind, provenance });
    }

    fn if_statement(
        &mut self,
        branches: &[ast::StatementBranch],
        otherwise: &[Statement],
        span: Span,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let inner = Place { nested: true, ..place };
        let mut kept = Vec::new();
        for branch in branches {
            let condition = self.condition(&branch.condition, ctx)?;
            match condition {
                FlatExpr::Boolean(false) => {}
                FlatExpr::Boolean(true) => {
                    let mut body = Vec::new();
                    self.statements(&branch.body, ctx, inner, &mut body)?;
                    return self.finish_if_statement(kept, body, span, ctx, out);
                }
                condition => {
                    let mut body = Vec::new();
                    self.statements(&branch.body, ctx, inner, &mut body)?;
                    kept.push(StatementBranch { condition, body });
                }
            }
        }
        let mut body = Vec::new();
        self.statements(otherwise, ctx, inner, &mut body)?;
        self.finish_if_statement(kept, body, span, ctx, out)
    }

    fn finish_if_statement(
        &mut self,
        branches: Vec<StatementBranch>,
        mut otherwise: Vec<FlatStatement>,
        span: Span,
        ctx: &Context<'_>,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        if branches.is_empty() {
            out.append(&mut otherwise);
        } else {
            self.push(StatementKind::If { branches, otherwise }, span, ctx, out);
        }
        Ok(())
    }

    fn for_statement(
        &mut self,
        indices: &[ForIndex],
        body: &[Statement],
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let Some((index, rest)) = indices.split_first() else {
            return self.statements(
                body,
                ctx,
                Place {
                    nested: true,
                    in_loop: true,
                    ..place
                },
                out,
            );
        };
        let find = |name: &str| super::implicit::in_statements(body, name);
        let values = self.iterator_values(index, &find, ctx)?;
        let mut iterations = Vec::new();
        for k in 1..=values.dims[0] {
            self.spend(1, index.span)?;
            let Some(value) = values.at(k) else { break };
            let iterators = Iterators {
                name: &index.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            let mut inner = Vec::new();
            self.for_statement(rest, body, &ctx.with_iterators(&iterators), place, &mut inner)?;
            iterations.push(inner);
        }
        if !iterations.iter().any(|iteration| breaks(iteration)) {
            out.extend(iterations.into_iter().flatten());
            return Ok(());
        }
        // What follows a `break` runs only where the loop goes on.
        let mut remaining = Vec::new();
        for iteration in iterations.into_iter().rev() {
            remaining = continue_with(iteration, remaining);
        }
        out.append(&mut remaining);
        Ok(())
    }

    fn call_statement(&mut self, expr: &Expr, ctx: &Context<'_>, out: &mut Vec<FlatStatement>) -> Fallible<()> {
        let ExprKind::Call(call) = &expr.kind else {
            return Err(Failure::Reported);
        };
        let span = expr.span;
        match call.function.as_simple_name().map(|n| n.as_str()) {
            Some("assert") => {
                let assertion = self.assertion(call, span, ctx)?;
                let kind = StatementKind::Assert {
                    condition: assertion.condition,
                    message: assertion.message,
                    level: assertion.level,
                };
                self.push(kind, span, ctx, out);
            }
            Some("terminate") => {
                let arguments = by_name(call, &["message"], 1, span)?;
                if let Some(message) = arguments[0] {
                    let message = self.message(message, ctx)?;
                    self.push(StatementKind::Terminate(message), span, ctx, out);
                }
            }
            Some("reinit") => {
                return Err(error(codes::E0311, span, "`reinit` in an algorithm section")
                    .with_help("write the `when` with its `reinit` in an equation section")
                    .into());
            }
            _ => {
                for effect in self.effects_of(call, span, ctx)? {
                    let kind = match effect {
                        Effect::Call(call) => StatementKind::NoReturnCall(FlatExpr::Call(Box::new(call))),
                        Effect::Error(message) => StatementKind::Assert {
                            condition: FlatExpr::Boolean(false),
                            message,
                            level: AssertLevel::Error,
                        },
                    };
                    self.push(kind, span, ctx, out);
                }
            }
        }
        Ok(())
    }

    fn assign_variable(
        &mut self,
        target: &ComponentReference,
        value: Tensor,
        provenance: ProvenanceId,
        ctx: &Context<'_>,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        let mut selection = match self.resolve(target, &flat)? {
            Resolved::Selection(selection) => selection,
            Resolved::Absent => return Ok(()),
            _ => return fail(codes::E0303, target.span, "this cannot be assigned"),
        };
        let dynamic = std::mem::take(&mut selection.dynamic);
        let places = self.selection_value(selection, target.span, Mode::Flat)?;
        if !places.ty.accepts(value.ty) && !value.elems.is_empty() {
            return fail(
                codes::E0301,
                target.span,
                format!("{} is assigned to a variable of {}", value.shape(), places.shape()),
            );
        }
        if dynamic.is_empty() {
            if places.dims != value.dims {
                return fail(
                    codes::E0302,
                    target.span,
                    format!("{} is assigned to a variable of {}", value.shape(), places.shape()),
                );
            }
            let value = value.coerce(places.ty);
            return self.assign_all(&places, &value, provenance, target.span, out);
        }
        let [(position, index)] = &dynamic[..] else {
            return fail(
                codes::E0214,
                target.span,
                "assigning with several indices that vary is not supported yet",
            );
        };
        // Every element is assigned: the new value where the index points, its own elsewhere.
        let value = value.coerce(places.ty);
        for k in 1..=places.dims[*position] {
            let place = crate::expr::slice_at(&places, *position, k);
            let test = binary(
                BinaryOp::Equal,
                index.clone(),
                FlatExpr::Integer(i64::from(k)),
                target.span,
            );
            let joined = self.join_branches(&test, value.clone(), place.clone(), target.span)?;
            self.assign_all(&place, &joined, provenance, target.span, out)?;
        }
        Ok(())
    }

    fn assign_all(
        &mut self,
        places: &Tensor,
        value: &Tensor,
        provenance: ProvenanceId,
        span: Span,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        // `x := A*x`: all values are those before the statement.
        let targets: Vec<VariableId> = places
            .exprs()
            .filter_map(|e| if let FlatExpr::Variable(v) = e { Some(*v) } else { None })
            .collect();
        if targets.len() > 1 && self.reads_earlier_target(&targets, value) {
            return fail(
                codes::E0214,
                span,
                "assigning an array from its own elements is not supported yet in algorithm sections",
            );
        }
        for (place, elem) in places.elems.iter().zip(&value.elems) {
            match (place, elem) {
                (Elem::Expr(FlatExpr::Variable(variable)), Elem::Expr(expr)) => {
                    let data = &self.model.variables[*variable];
                    if data.variability < Variability::Discrete && !self.in_initial(*variable) {
                        return fail(
                            codes::E0303,
                            span,
                            format!("`{}` is a parameter or constant and cannot be assigned", data.name),
                        );
                    }
                    let kind = StatementKind::Assign(*variable, expr.clone());
                    out.push(FlatStatement { kind, provenance });
                }
                (Elem::Record(a), Elem::Record(b)) => {
                    for ((_, x), (_, y)) in a.iter().zip(b.iter()) {
                        self.assign_all(x, y, provenance, span, out)?;
                    }
                }
                _ => return fail(codes::E0303, span, "this cannot be assigned"),
            }
        }
        Ok(())
    }

    /// A parameter with `fixed = false` may be assigned in initial sections.
    fn in_initial(&self, variable: VariableId) -> bool {
        let data = &self.model.variables[variable];
        data.variability == Variability::Parameter && data.fixed == Some(false)
    }

    fn reads_earlier_target(&self, targets: &[VariableId], value: &Tensor) -> bool {
        if matches!(value.ty, Ty::Record(_)) {
            return false;
        }
        value.exprs().enumerate().any(|(position, expr)| {
            let mut found = false;
            expr.walk(&mut |e| {
                found |= matches!(e, FlatExpr::Variable(v) if targets[..position.min(targets.len())].contains(v));
            });
            found
        })
    }
}

/// Whether statements may leave the loop around them.
fn breaks(statements: &[FlatStatement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If { branches, otherwise } => branches.iter().any(|b| breaks(&b.body)) || breaks(otherwise),
        _ => false,
    })
}

/// The statements with `next` behind them, except where they leave the loop.
fn continue_with(statements: Vec<FlatStatement>, next: Vec<FlatStatement>) -> Vec<FlatStatement> {
    let mut out = Vec::with_capacity(statements.len());
    let mut statements = statements.into_iter();
    while let Some(statement) = statements.next() {
        match statement.kind {
            StatementKind::Break => return out,
            StatementKind::If { branches, otherwise }
                if branches.iter().any(|b| breaks(&b.body)) || breaks(&otherwise) =>
            {
                let behind = continue_with(statements.collect(), next);
                let branches = branches
                    .into_iter()
                    .map(|branch| StatementBranch {
                        condition: branch.condition,
                        body: continue_with(branch.body, behind.clone()),
                    })
                    .collect();
                let otherwise = continue_with(otherwise, behind);
                out.push(FlatStatement {
                    kind: StatementKind::If { branches, otherwise },
                    provenance: statement.provenance,
                });
                return out;
            }
            _ => out.push(statement),
        }
    }
    out.extend(next);
    out
}
