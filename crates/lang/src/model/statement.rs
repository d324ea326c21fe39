//! Algorithm sections of models.

use saltus_source::Span;
use saltus_syntax::ast::{self, ComponentReference, Expr, ExprKind, ForIndex, Statement};

use super::arguments::by_name;
use crate::codes;
use crate::expr::{Context, Index, Iterators, Mode, Resolved};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{
    AssertLevel, BinaryOp, FlatExpr, FlatStatement, LocalId, ProvenanceId, ProvenanceKind, StatementBranch,
    StatementKind, Variability, VariableId,
};
use crate::flattener::{Flattener, Moment};
use crate::function::{Effect, check};
use crate::tensor::{Elem, Tensor, binary};

/// Where a statement stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub initial: bool,
    pub in_when: bool,
    /// In an `if`, a `for` or a `while`.
    pub nested: bool,
    /// In a `for` or a `while`.
    pub in_loop: bool,
}

/// The turns of a loop: the iterator that is given values, those inside it, and what is repeated.
#[derive(Clone, Copy, Debug)]
struct Turns<'a> {
    index: &'a ForIndex,
    rest: &'a [ForIndex],
    body: &'a [Statement],
    place: Place,
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
            self.at_moment(Moment::of(place.initial, place.in_when), |this| {
                this.statement(statement, ctx, place, out)
            })?;
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
                self.assign_variables(vec![(target, value)], provenance, ctx, out)
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
                let mut pairs = Vec::new();
                for (target, result) in targets.iter().zip(results) {
                    match target {
                        Some(Expr {
                            kind: ExprKind::Reference(target),
                            ..
                        }) => pairs.push((target, result)),
                        Some(other) => return fail(codes::E0301, other.span, "this cannot be assigned"),
                        None => {}
                    }
                }
                self.assign_variables(pairs, provenance, ctx, out)
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
        for (position, branch) in branches.iter().enumerate() {
            let condition = self.condition(&branch.condition, ctx)?;
            match condition {
                FlatExpr::Boolean(false) => self.unreached_statements(&branch.body, &[], ctx),
                FlatExpr::Boolean(true) => {
                    for left_out in &branches[position + 1..] {
                        self.unreached_condition(&left_out.condition, ctx);
                        self.unreached_statements(&left_out.body, &[], ctx);
                    }
                    self.unreached_statements(otherwise, &[], ctx);
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
        let turns = Turns {
            index,
            rest,
            body,
            place,
        };
        let values = match self.iterator_values(index, &find, ctx) {
            Ok(values) => values,
            Err(failure) => return self.varying_for(turns, failure, ctx, out),
        };
        if values.dims[0] == 0 {
            self.unreached_statements(body, indices, ctx);
        }
        self.for_each_value(&values, turns, ctx, out)
    }

    /// The turns of a loop one after the other.
    fn for_each_value(
        &mut self,
        values: &Tensor,
        turns: Turns<'_>,
        ctx: &Context<'_>,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let Turns {
            index,
            rest,
            body,
            place,
        } = turns;
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

    /// A loop over values that are not known before the run; `failure` says why they are not.
    fn varying_for(
        &mut self,
        turns: Turns<'_>,
        failure: Failure,
        ctx: &Context<'_>,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let index = turns.index;
        let Some(range) = &index.range else {
            return Err(failure);
        };
        let ExprKind::Range { start, step, stop } = &range.kind else {
            let flat = Context {
                mode: Mode::Flat,
                ..*ctx
            };
            let values = self.expr(range, &flat).map_err(|_| failure)?;
            return self.for_varying_values(&values, turns, ctx, out);
        };
        let (ty, from) = self.scalar(start, ctx)?;
        let step = match step {
            Some(step) => self.scalar(step, ctx)?.1,
            None => FlatExpr::Integer(1),
        };
        let (_, to) = self.scalar(stop, ctx)?;
        let counter = LocalId(self.loop_counters);
        self.loop_counters += 1;
        let value = Tensor::scalar(ty, FlatExpr::Local(counter, Box::default()));
        let iterators = Iterators {
            name: &index.name.name,
            value: &value,
            outer: ctx.iterators,
        };
        let inner = Place {
            nested: true,
            in_loop: true,
            ..turns.place
        };
        let mut statements = Vec::new();
        self.for_statement(
            turns.rest,
            turns.body,
            &ctx.with_iterators(&iterators),
            inner,
            &mut statements,
        )?;
        let kind = StatementKind::For {
            counter,
            from,
            step,
            to,
            body: statements,
        };
        self.push(kind, index.span, ctx, out);
        Ok(())
    }

    /// A loop over the elements of a vector that vary: it has as many turns as there are elements.
    fn for_varying_values(
        &mut self,
        values: &Tensor,
        turns: Turns<'_>,
        ctx: &Context<'_>,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let span = turns.index.span;
        if values.dims.len() != 1 {
            return fail(codes::E0302, span, "the values of an iterator must form a vector");
        }
        let before = out.len();
        self.for_each_value(values, turns, ctx, out)?;
        let mut assigned = rustc_hash::FxHashSet::default();
        crate::flat::collect_assigned(&out[before..], &mut assigned);
        let mut changed = false;
        for expr in values.exprs() {
            expr.walk(&mut |part| changed |= matches!(part, FlatExpr::Variable(id) if assigned.contains(id)));
        }
        if changed {
            return Err(error(
                codes::E0214,
                span,
                "a loop that changes the values it runs over is not supported yet",
            )
            .with_help("copy the vector to another one before the loop")
            .into());
        }
        Ok(())
    }

    /// `target := value` for one or several targets: all values are those before the statement.
    fn assign_variables(
        &mut self,
        pairs: Vec<(&ComponentReference, Tensor)>,
        provenance: ProvenanceId,
        ctx: &Context<'_>,
        out: &mut Vec<FlatStatement>,
    ) -> Fallible<()> {
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        let mut list = Vec::new();
        let mut chosen = Vec::new();
        for (target, value) in pairs {
            let mut selection = match self.resolve(target, &flat)? {
                Resolved::Selection(selection) => selection,
                Resolved::Absent => continue,
                _ => return fail(codes::E0303, target.span, "this cannot be assigned"),
            };
            self.check_unconditional(&selection, target.span)?;
            let array = match selection.last {
                Some(last) => self.components[last].path.to_string(),
                None => String::new(),
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
            let value = value.coerce(places.ty);
            if dynamic.is_empty() {
                self.collect_assignments(&places, &value, target.span, &mut list)?;
            } else {
                chosen.push((places, dynamic, array, value, target.span));
            }
        }
        if chosen.len() + usize::from(!list.is_empty()) > 1 {
            let span = chosen[0].4;
            return fail(
                codes::E0214,
                span,
                "assigning several results, one of them by an index that varies, is not supported yet",
            );
        }
        let mut seen = rustc_hash::FxHashSet::default();
        if let Some((twice, _)) = list.iter().find(|(variable, _)| !seen.insert(*variable)) {
            let span = self.model.provenance(provenance).span;
            let name = &self.model.variables[*twice].name;
            return fail(
                codes::E0311,
                span,
                format!("`{name}` is given two values by one statement"),
            );
        }
        if !list.is_empty() {
            let kind = StatementKind::Assign(list);
            out.push(FlatStatement { kind, provenance });
        }
        for (places, mut dynamic, array, value, span) in chosen {
            // Last dimension first, so that the positions of the others stay.
            dynamic.sort_by_key(|(position, _)| *position);
            let statement = self.assign_by_index(&places, &dynamic, &array, &value, provenance, span)?;
            out.extend(statement);
        }
        Ok(())
    }

    /// `if index == 1 then a[1] := value elseif …`: outside the array nothing can be assigned.
    fn assign_by_index(
        &mut self,
        places: &Tensor,
        dynamic: &[(usize, Index)],
        array: &str,
        value: &Tensor,
        provenance: ProvenanceId,
        span: Span,
    ) -> Fallible<Vec<FlatStatement>> {
        let Some(((position, index), rest)) = dynamic.split_last() else {
            let mut list = Vec::new();
            self.collect_assignments(places, value, span, &mut list)?;
            let kind = StatementKind::Assign(list);
            return Ok(vec![FlatStatement { kind, provenance }]);
        };
        let Index::One(index) = index else {
            return fail(
                codes::E0214,
                span,
                "assigning several elements by indices that vary is not supported yet",
            );
        };
        let size = places.dims[*position];
        let mut branches = Vec::with_capacity(size as usize);
        for k in 1..=size {
            self.spend(super::equation::EQUATION_COST, span)?;
            let place = crate::expr::slice_at(places, *position, k);
            let condition = binary(BinaryOp::Equal, index.clone(), FlatExpr::Integer(i64::from(k)), span);
            let body = self.assign_by_index(&place, rest, array, value, provenance, span)?;
            branches.push(StatementBranch { condition, body });
        }
        let outside = StatementKind::Assert {
            condition: FlatExpr::Boolean(false),
            message: check::said(&check::outside(array, size), index.clone(), span),
            level: AssertLevel::Error,
        };
        let otherwise = vec![FlatStatement {
            kind: outside,
            provenance,
        }];
        let kind = StatementKind::If { branches, otherwise };
        Ok(vec![FlatStatement { kind, provenance }])
    }

    fn collect_assignments(
        &mut self,
        places: &Tensor,
        value: &Tensor,
        span: Span,
        list: &mut Vec<(VariableId, FlatExpr)>,
    ) -> Fallible<()> {
        if places.dims != value.dims {
            return fail(
                codes::E0302,
                span,
                format!("{} is assigned to a variable of {}", value.shape(), places.shape()),
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
                    list.push((*variable, expr.clone()));
                }
                (Elem::Record(a), Elem::Record(b)) => {
                    for ((_, x), (_, y)) in a.iter().zip(b.iter()) {
                        let y = y.clone().coerce(x.ty);
                        self.collect_assignments(x, &y, span, list)?;
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
