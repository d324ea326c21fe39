//! Expressions: translated to scalar expressions over the variables of the flat model, or evaluated.
//!
//! Both are one pass: in [`Mode::Evaluate`] parameters and constants are replaced by their values,
//! in [`Mode::Flat`] only constants are.

mod arrays;
mod builtins;
mod call;
mod clocked;
mod comprehension;
mod event_operators;
mod math;
mod operators;
mod reductions;
mod reference;
mod select;
mod strings;

use std::cell::RefCell;

use saltus_source::Span;
use saltus_syntax::ast::{ClassKind, Expr, ExprKind, Name};
use smallvec::SmallVec;

use crate::codes;
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::FlatExpr;
use crate::flattener::Flattener;
use crate::function::frame::Frame;
use crate::modification::Scope;
use crate::tensor::{Elem, Tensor, Ty, concatenate, stack};

pub(crate) use builtins::{add, is_builtin, is_operator, works_on_arrays};
pub(crate) use call::Arguments;
pub(crate) use math::math_call;
pub(crate) use reductions::empty_reduction;
pub(crate) use reference::{Item, Resolved, Selection, slice_at};
pub(crate) use select::{Index, positions};

/// What is done with references to parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They stay references.
    Flat,
    /// They are replaced by their values; anything that varies is an error.
    Evaluate,
}

/// Values of the iterators around an expression, innermost first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iterators<'a> {
    pub name: &'a Name,
    pub value: &'a Tensor,
    pub outer: Option<&'a Iterators<'a>>,
}

/// The surroundings of an expression.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub scope: Scope,
    pub mode: Mode,
    pub iterators: Option<&'a Iterators<'a>>,
    /// Local variables inside a function.
    pub frame: Option<&'a RefCell<Frame>>,
    /// The size `end` stands for.
    pub end: Option<u32>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(scope: Scope, mode: Mode) -> Context<'a> {
        Context {
            scope,
            mode,
            iterators: None,
            frame: None,
            end: None,
        }
    }

    pub(crate) fn with_iterators<'b>(&self, iterators: &'b Iterators<'b>) -> Context<'b>
    where
        'a: 'b,
    {
        Context {
            scope: self.scope,
            mode: self.mode,
            iterators: Some(iterators),
            frame: self.frame,
            end: self.end,
        }
    }

    pub(crate) fn evaluating(self) -> Context<'a> {
        Context {
            mode: Mode::Evaluate,
            ..self
        }
    }
}

impl Flattener<'_> {
    /// Translates or evaluates an expression.
    pub(crate) fn expr(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Tensor> {
        self.spend(1, expr.span)?;
        match &expr.kind {
            ExprKind::Integer(value) => Ok(Tensor::integer(*value)),
            ExprKind::Real(value) => Ok(Tensor::real(*value)),
            ExprKind::String(value) => Ok(Tensor::string(value)),
            ExprKind::Boolean(value) => Ok(Tensor::boolean(*value)),
            ExprKind::Reference(reference) => {
                let value = self.reference(reference, ctx)?;
                self.check_is_value(&value, expr.span)?;
                Ok(value)
            }
            ExprKind::Call(call) => self.call(call, expr.span, ctx),
            ExprKind::Unary(op, operand) => {
                let operand = self.expr(operand, ctx)?;
                self.unary_operator(*op, operand, expr.span)
            }
            ExprKind::Binary(op, left, right) => self.binary_expr(*op, left, right, expr.span, ctx),
            ExprKind::Range { start, step, stop } => self.range(start, step.as_deref(), stop, expr.span, ctx),
            ExprKind::If { branches, otherwise } => self.if_expr(branches, otherwise, expr.span, ctx),
            ExprKind::Array(elements) => {
                let parts = elements
                    .iter()
                    .map(|element| self.expr(element, ctx))
                    .collect::<Fallible<Vec<_>>>()?;
                let total: usize = parts.iter().map(|v| v.elems.len()).sum();
                self.check_size(&[u32::try_from(total).unwrap_or(u32::MAX)], expr.span)?;
                self.spend(total as u64, expr.span)?;
                stack(parts, Ty::Real, expr.span)
            }
            ExprKind::ArrayComprehension { element, indices } => {
                self.array_comprehension(element, indices, expr.span, ctx)
            }
            ExprKind::Matrix(rows) => self.matrix(rows, expr.span, ctx),
            ExprKind::Subscripted(inner, subscripts) => {
                let value = self.expr(inner, ctx)?;
                self.subscript_tensor(value, "", subscripts, expr.span, ctx)
            }
            ExprKind::End => match ctx.end {
                Some(size) => Ok(Tensor::integer(i64::from(size))),
                None => fail(codes::E0311, expr.span, "`end` stands outside of a subscript"),
            },
            ExprKind::PartialFunction(function) => self.partial_function(function, ctx),
            ExprKind::Tuple(items) => match items.as_slice() {
                [Some(only)] => self.expr(only, ctx),
                _ => fail(codes::E0301, expr.span, "a list in parentheses is no value"),
            },
            ExprKind::Error => Err(Failure::Reported),
        }
    }

    /// Models and blocks have no values (4.7).
    fn check_is_value(&self, value: &Tensor, span: Span) -> Fallible<()> {
        let Ty::Record(class) = value.ty else {
            return Ok(());
        };
        let kind = self.kind(class);
        if !matches!(kind, ClassKind::Model | ClassKind::Block) {
            return Ok(());
        }
        let message = format!("this is a {}, which has no value", kind.as_str());
        Err(error(codes::E0202, span, message)
            .with_help("name a variable of it; records and connectors alone can be used as a whole")
            .into())
    }

    /// A value that must be known now.
    pub(crate) fn evaluate(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Tensor> {
        let value = self.expr(expr, &ctx.evaluating())?;
        if value.is_known() {
            return Ok(value);
        }
        fail(
            codes::E0304,
            expr.span,
            "this must be known before the simulation, but it is not",
        )
    }

    /// A Boolean that must be known now.
    pub(crate) fn evaluate_condition(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<bool> {
        let value = self.evaluate(expr, ctx)?;
        match value.as_boolean() {
            Some(value) => Ok(value),
            None => fail(
                codes::E0301,
                expr.span,
                format!("a condition must be Boolean, but this is {}", value.shape()),
            ),
        }
    }

    /// A scalar of any type.
    pub(crate) fn scalar(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<(Ty, FlatExpr)> {
        let value = self.expr(expr, ctx)?;
        into_scalar(value, expr.span)
    }

    /// A Boolean scalar.
    pub(crate) fn condition(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<FlatExpr> {
        let (ty, value) = self.scalar(expr, ctx)?;
        if ty == Ty::Boolean {
            return Ok(value);
        }
        fail(
            codes::E0301,
            expr.span,
            format!("a condition must be Boolean, but this is {}", ty.name()),
        )
    }

    fn matrix(&mut self, rows: &[Vec<Expr>], span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let mut values = Vec::with_capacity(rows.len());
        let mut rank = 2;
        for row in rows {
            let mut parts = Vec::with_capacity(row.len());
            for element in row {
                let value = self.expr(element, ctx)?;
                rank = rank.max(value.dims.len());
                parts.push(value);
            }
            values.push(parts);
        }
        let promote = |mut value: Tensor| {
            while value.dims.len() < rank {
                value.dims.push(1);
            }
            value
        };
        let rows = values
            .into_iter()
            .map(|row| {
                let row: Vec<Tensor> = row.into_iter().map(promote).collect();
                concatenate(2, &row, span)
            })
            .collect::<Fallible<Vec<_>>>()?;
        concatenate(1, &rows, span)
    }

    fn if_expr(
        &mut self,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let Some(((condition, value), rest)) = branches.split_first() else {
            return self.expr(otherwise, ctx);
        };
        let test = self.condition(condition, ctx)?;
        if let FlatExpr::Boolean(known) = test {
            return self.taken_branch(known, value, rest, otherwise, span, ctx);
        }
        let (then, other) = self.without_emission(|this| {
            let then = this.expr(value, ctx);
            (then, this.if_expr(rest, otherwise, span, ctx))
        });
        let joined = match (then, other) {
            (Ok(then), Ok(other)) => self.join_branches(&test, then, other, span),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
        };
        match joined {
            Ok(value) => Ok(value),
            // Branches that do not fit together can still be told apart by a parameter.
            Err(failure) => match self.evaluate_condition(condition, ctx) {
                Ok(known) => self.taken_branch(known, value, rest, otherwise, span, ctx),
                Err(_) => Err(failure),
            },
        }
    }

    /// The value of an `if` whose first condition is known; what is left out must make sense, too.
    fn taken_branch(
        &mut self,
        condition: bool,
        value: &Expr,
        rest: &[(Expr, Expr)],
        otherwise: &Expr,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        if !condition {
            let taken = self.if_expr(rest, otherwise, span, ctx)?;
            self.unreached_branch(value, &taken, span, ctx);
            return Ok(taken);
        }
        let taken = self.expr(value, ctx)?;
        for (condition, value) in rest {
            self.unreached_condition(condition, ctx);
            self.unreached_branch(value, &taken, span, ctx);
        }
        self.unreached_branch(otherwise, &taken, span, ctx);
        Ok(taken)
    }

    /// `if test then a else b` element by element.
    pub(crate) fn join_branches(&mut self, test: &FlatExpr, a: Tensor, b: Tensor, span: Span) -> Fallible<Tensor> {
        let Some(ty) = a.ty.join(b.ty) else {
            return fail(
                codes::E0301,
                span,
                format!("the branches differ in type: {} and {}", a.shape(), b.shape()),
            );
        };
        if a.dims != b.dims {
            return fail(
                codes::E0302,
                span,
                format!("the branches differ in size: {} and {}", a.shape(), b.shape()),
            );
        }
        let (a, b) = (a.coerce(ty), b.coerce(ty));
        let mut elems = SmallVec::with_capacity(a.elems.len());
        for (x, y) in a.elems.into_iter().zip(b.elems) {
            elems.push(self.join_elements(test, x, y, span)?);
        }
        Ok(Tensor {
            ty,
            dims: a.dims,
            elems,
        })
    }

    fn join_elements(&mut self, test: &FlatExpr, a: Elem, b: Elem, span: Span) -> Fallible<Elem> {
        match (a, b) {
            (Elem::Expr(a), Elem::Expr(b)) if a == b => Ok(Elem::Expr(a)),
            (Elem::Expr(a), Elem::Expr(b)) => Ok(Elem::Expr(FlatExpr::If(Box::new([test.clone(), a, b]), span))),
            (Elem::Record(a), Elem::Record(b)) if a.len() == b.len() => {
                let fields = a
                    .iter()
                    .zip(b.iter())
                    .map(|((name, x), (_, y))| {
                        let joined = self.join_branches(test, x.clone(), y.clone(), span)?;
                        Ok((name.clone(), joined))
                    })
                    .collect::<Fallible<Vec<_>>>()?;
                Ok(Elem::Record(fields.into()))
            }
            _ => fail(codes::E0301, span, "the branches cannot be joined"),
        }
    }
}

/// The scalar of a value that must be one.
pub(crate) fn into_scalar(value: Tensor, span: Span) -> Fallible<(Ty, FlatExpr)> {
    let ty = value.ty;
    if value.dims.is_empty()
        && let Some(Elem::Expr(expr)) = value.elems.into_iter().next()
    {
        return Ok((ty, expr));
    }
    fail(codes::E0302, span, "a scalar is needed here")
}
