//! Statements of functions that are lowered.

use std::sync::Arc;

use super::Effect;
use super::lower::Builder;
use crate::codes;
use crate::expr::{Context, Iterators};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{AssertLevel, BinaryOp, FlatExpr, FunctionStatement, Local, LocalId, ScalarType};
use crate::flattener::Flattener;
use crate::tensor::Tensor;
use saltus_syntax::ast::{Expr, ExprKind, ForIndex, Statement, StatementKind};

impl Flattener<'_> {
    pub(super) fn lower_statements(
        &mut self,
        statements: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        for statement in statements {
            self.spend(25, statement.span)?;
            self.lower_statement(statement, builder, ctx)?;
        }
        Ok(())
    }

    fn lower_block(
        &mut self,
        statements: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<FunctionStatement>> {
        self.block(builder, |this, builder| this.lower_statements(statements, builder, ctx))
    }

    /// The statements that something writes, apart.
    fn block(
        &mut self,
        builder: &mut Builder,
        write: impl FnOnce(&mut Self, &mut Builder) -> Fallible<()>,
    ) -> Fallible<Vec<FunctionStatement>> {
        let outer = std::mem::take(&mut builder.body);
        let result = write(self, builder);
        let inner = std::mem::replace(&mut builder.body, outer);
        result.map(|()| inner)
    }

    fn lower_statement(&mut self, statement: &Statement, builder: &mut Builder, ctx: &Context<'_>) -> Fallible<()> {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let before = builder.body.len();
                let known = self
                    .emitting(builder, |this| this.expr(value, ctx))
                    .and_then(|value| self.lower_assign(target, value, builder, ctx));
                match known {
                    Err(failure) if self.functions.may_open && super::open::is_too_early(&failure) => {
                        builder.body.truncate(before);
                        let looped = self.lower_open_assign(target, value, builder, ctx);
                        looped.map_err(|other| super::open::rather(failure, other))
                    }
                    known => known,
                }
            }
            StatementKind::MultiAssign { targets, value } => {
                let ExprKind::Call(call) = &value.kind else {
                    return Err(Failure::Reported);
                };
                let results = self.emitting(builder, |this| this.call_results(call, value.span, ctx))?;
                if targets.len() > results.len() {
                    return fail(
                        codes::E0212,
                        statement.span,
                        format!(
                            "{} values are wanted, but the call has {} results",
                            targets.len(),
                            results.len()
                        ),
                    );
                }
                self.lower_multi_assign(targets, results, builder, ctx)
            }
            StatementKind::Call(expr) => {
                let mut called = self.emitting(builder, |this| this.lower_call(expr, ctx))?;
                builder.body.append(&mut called);
                Ok(())
            }
            StatementKind::If { branches, otherwise } => {
                let mut lowered = Vec::new();
                for branch in branches {
                    // Later conditions are evaluated only if those before them are false.
                    let condition = if lowered.is_empty() {
                        self.emitting(builder, |this| this.condition(&branch.condition, ctx))?
                    } else {
                        self.condition(&branch.condition, ctx)?
                    };
                    match condition {
                        FlatExpr::Boolean(false) => continue,
                        FlatExpr::Boolean(true) => {
                            let body = self.lower_block(&branch.body, builder, ctx)?;
                            push_if(lowered, body, &mut builder.body);
                            return Ok(());
                        }
                        condition => {
                            let body = self.lower_block(&branch.body, builder, ctx)?;
                            lowered.push((condition, body));
                        }
                    }
                }
                let last = self.lower_block(otherwise.as_deref().unwrap_or(&[]), builder, ctx)?;
                push_if(lowered, last, &mut builder.body);
                Ok(())
            }
            StatementKind::For { indices, body } => self.lower_for(indices, body, builder, ctx),
            StatementKind::While { condition, body } => {
                let condition = self.condition(condition, ctx)?;
                let inner = self.lower_block(body, builder, ctx)?;
                builder.body.push(FunctionStatement::While(condition, inner));
                Ok(())
            }
            StatementKind::When { .. } => fail(codes::E0311, statement.span, "`when` cannot be used in a function"),
            StatementKind::Break => {
                builder.body.push(FunctionStatement::Break);
                Ok(())
            }
            StatementKind::Return => {
                builder.body.push(FunctionStatement::Return);
                Ok(())
            }
            StatementKind::Error => Err(Failure::Reported),
        }
    }

    pub(super) fn lower_for(
        &mut self,
        indices: &[ForIndex],
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Some((index, rest)) = indices.split_first() else {
            return self.lower_statements(body, builder, ctx);
        };
        if let Some(Expr {
            kind: ExprKind::Range { start, step, stop },
            ..
        }) = &index.range
        {
            let before = builder.body.len();
            match self.lower_loop((start, step.as_deref(), stop), (index, rest), body, builder, ctx) {
                Ok(()) => return Ok(()),
                // Sizes or slices that depend on the counter: the loop is written out instead.
                Err(failure) => {
                    builder.body.truncate(before);
                    let find = |name: &str| crate::model::implicit::in_statements(body, name);
                    if contains_break(body) || self.iterator_values(index, &find, ctx).is_err() {
                        return Err(failure);
                    }
                }
            }
        }
        let find = |name: &str| crate::model::implicit::in_statements(body, name);
        let known = self.iterator_values(index, &find, ctx);
        let values = match (self.or_varying_values(known, index, ctx), &index.range) {
            (Err(failure), Some(range)) if self.functions.may_open && super::open::is_too_early(&failure) => {
                return self.lower_open_loop(range, (index, rest), body, builder, ctx);
            }
            (values, _) => values?,
        };
        if values.exprs().any(|value| !value.is_literal()) {
            return self.lower_vector_loop(values, (index, rest), body, builder, ctx);
        }
        for k in 1..=values.dims[0] {
            self.spend(1, index.span)?;
            let Some(value) = values.at(k) else { break };
            let iterators = Iterators {
                name: &index.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            self.lower_for(rest, body, builder, &ctx.with_iterators(&iterators))?;
        }
        Ok(())
    }

    /// A loop over a vector whose size is known when the function runs only.
    fn lower_open_loop(
        &mut self,
        range: &Expr,
        (index, rest): (&ForIndex, &[ForIndex]),
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let (value, counter, size) = self.open_iterator(range, builder, ctx)?;
        self.lower_counted_loop((counter, size), &value, (index, rest), body, builder, ctx)
    }

    /// A loop whose iterator is `value` of a counter from 1 to a size.
    fn lower_counted_loop(
        &mut self,
        (counter, size): (LocalId, FlatExpr),
        value: &Tensor,
        (index, rest): (&ForIndex, &[ForIndex]),
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let iterators = Iterators {
            name: &index.name.name,
            value,
            outer: ctx.iterators,
        };
        let inner = ctx.with_iterators(&iterators);
        let inner = self.block(builder, |this, builder| this.lower_for(rest, body, builder, &inner))?;
        builder.body.push(FunctionStatement::For {
            counter,
            from: FlatExpr::Integer(1),
            step: FlatExpr::Integer(1),
            to: size,
            body: inner,
        });
        Ok(())
    }

    /// A loop over the elements of a vector, as it is before the loop.
    fn lower_vector_loop(
        &mut self,
        values: Tensor,
        (index, rest): (&ForIndex, &[ForIndex]),
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let (ty, size) = (values.ty, values.dims[0]);
        let Some(scalar) = ty.scalar() else {
            return Err(Failure::Reported);
        };
        let copy = builder.locals.push(Local::new("temporary", scalar, vec![size]));
        let places = (1..=size).map(|k| vec![FlatExpr::Integer(i64::from(k))]).collect();
        self.store_places((copy, scalar), places, values, builder);
        let counter = builder
            .locals
            .push(Local::new("counter", ScalarType::Integer, Vec::new()));
        let at = FlatExpr::Local(counter, Box::default());
        let value = Tensor::scalar(ty, FlatExpr::Local(copy, Box::new([at])));
        let size = FlatExpr::Integer(i64::from(size));
        self.lower_counted_loop((counter, size), &value, (index, rest), body, builder, ctx)
    }

    /// A loop over `start:step:stop`.
    fn lower_loop(
        &mut self,
        (start, step, stop): (&Expr, Option<&Expr>, &Expr),
        (index, rest): (&ForIndex, &[ForIndex]),
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let (ty, from, step, to) = self.emitting(builder, |this| {
            let (ty, from) = this.scalar(start, ctx)?;
            let step = match step {
                Some(step) => this.scalar(step, ctx)?.1,
                None => FlatExpr::Integer(1),
            };
            Ok((ty, from, step, this.scalar(stop, ctx)?.1))
        })?;
        let Some(scalar) = ty.scalar() else {
            return Err(Failure::Reported);
        };
        let counter = builder
            .locals
            .push(Local::new(index.name.name.as_str(), scalar, Vec::new()));
        let value = Tensor::scalar(ty, FlatExpr::Local(counter, Box::default()));
        let iterators = Iterators {
            name: &index.name.name,
            value: &value,
            outer: ctx.iterators,
        };
        let inner = ctx.with_iterators(&iterators);
        let inner = self.block(builder, |this, builder| this.lower_for(rest, body, builder, &inner))?;
        builder.body.push(FunctionStatement::For {
            counter,
            from,
            step,
            to,
            body: inner,
        });
        Ok(())
    }

    /// What a call that stands alone becomes.
    fn lower_call(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Vec<FunctionStatement>> {
        let ExprKind::Call(call) = &expr.kind else {
            return Err(Failure::Reported);
        };
        if call.function.as_simple_name().is_some_and(|name| name == "assert") {
            let assertion = self.assertion(call, expr.span, ctx)?;
            if assertion.condition != FlatExpr::Boolean(true) {
                let check = match assertion.level {
                    AssertLevel::Error => FunctionStatement::Assert,
                    AssertLevel::Warning => FunctionStatement::Warn,
                };
                return Ok(vec![check(assertion.condition, assertion.message)]);
            }
            return Ok(Vec::new());
        }
        let effects = self.effects_of(call, expr.span, ctx)?.into_iter();
        let statements = effects.map(|effect| match effect {
            Effect::Call(call) => FunctionStatement::CallAssign {
                function: call.function,
                arguments: Arc::clone(&call.arguments),
                targets: Vec::new(),
            },
            Effect::Error(message) => FunctionStatement::Assert(FlatExpr::Boolean(false), message),
        });
        Ok(statements.collect())
    }
}

/// A message with `…` for what is known only when it is needed.
pub(super) fn message_text(message: &FlatExpr) -> String {
    match message {
        FlatExpr::String(text) => text.to_string(),
        FlatExpr::Binary(BinaryOp::Add, operands, _) => message_text(&operands[0]) + &message_text(&operands[1]),
        _ => "…".to_owned(),
    }
}

pub(super) fn contains_break(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If { branches, otherwise } => {
            branches.iter().any(|b| contains_break(&b.body)) || otherwise.as_ref().is_some_and(|o| contains_break(o))
        }
        _ => false,
    })
}

pub(super) fn push_if(
    branches: Vec<(FlatExpr, Vec<FunctionStatement>)>,
    mut last: Vec<FunctionStatement>,
    out: &mut Vec<FunctionStatement>,
) {
    if branches.is_empty() {
        out.append(&mut last);
    } else {
        out.push(FunctionStatement::If(branches, last));
    }
}
