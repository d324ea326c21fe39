//! The types of expressions that are not translated.

use saltus_source::Span;
use saltus_syntax::ast::{BinaryOp, Expr, ExprKind, Operator, UnaryOp};

use super::{Shape, Surroundings, want};
use crate::codes;
use crate::failure::{Failure, Fallible, fail};
use crate::flattener::Flattener;
use crate::tensor::Ty;

impl Flattener<'_> {
    /// What an expression is.
    pub(super) fn shape_of(&mut self, expr: &Expr, around: &Surroundings<'_>) -> Fallible<Shape> {
        self.spend(1, expr.span)?;
        match &expr.kind {
            ExprKind::Integer(_) | ExprKind::End => Ok(Shape::scalar(Ty::Integer)),
            ExprKind::Real(_) => Ok(Shape::scalar(Ty::Real)),
            ExprKind::String(_) => Ok(Shape::scalar(Ty::String)),
            ExprKind::Boolean(_) => Ok(Shape::scalar(Ty::Boolean)),
            ExprKind::Reference(reference) => self.shape_of_reference(reference, around),
            ExprKind::Call(call) => self.shape_of_call(call, expr.span, around),
            ExprKind::Unary(op, operand) => {
                let shape = self.shape_of(operand, around)?;
                unary(*op, shape, expr.span)
            }
            ExprKind::Binary(op, left, right) => {
                let a = self.shape_of(left, around)?;
                let b = self.shape_of(right, around)?;
                binary(*op, a, b, expr.span)
            }
            ExprKind::Range { start, step, stop } => self.shape_of_range(start, step.as_deref(), stop, around),
            ExprKind::If { branches, otherwise } => self.shape_of_if(branches, otherwise, expr.span, around),
            ExprKind::Array(elements) => {
                let shape = self.common_shape(elements.iter(), expr.span, around)?;
                Ok(Shape::new(shape.ty, shape.rank.map(|rank| rank + 1)))
            }
            ExprKind::ArrayComprehension { element, indices } => {
                let mut shape = Ok(Shape::default());
                self.with_indices(indices, around, &mut |this, inner| {
                    shape = this.shape_of(element, inner);
                });
                let shape = shape?;
                Ok(Shape::new(shape.ty, shape.rank.map(|rank| rank + indices.len())))
            }
            ExprKind::Matrix(rows) => {
                let shape = self.common_shape(rows.iter().flatten(), expr.span, around)?;
                Ok(Shape::new(shape.ty, None))
            }
            ExprKind::Tuple(items) => {
                let mut shape = Shape::default();
                for item in items.iter().flatten() {
                    shape = self.shape_of(item, around)?;
                }
                Ok(if items.len() == 1 { shape } else { Shape::default() })
            }
            ExprKind::Subscripted(inner, subscripts) => {
                let shape = self.shape_of(inner, around)?;
                self.subscripted(shape, subscripts, expr.span, around)
            }
            ExprKind::PartialFunction(function) => {
                self.lookup_class(around.scope.class, &function.function)?;
                for argument in &function.arguments {
                    self.shape_of(&argument.value, around)?;
                }
                Ok(Shape::scalar(Ty::Function))
            }
            ExprKind::Error => Err(Failure::Reported),
        }
    }

    fn shape_of_range(
        &mut self,
        start: &Expr,
        step: Option<&Expr>,
        stop: &Expr,
        around: &Surroundings<'_>,
    ) -> Fallible<Shape> {
        let mut ty = self.shape_of(start, around)?.ty;
        for part in step.into_iter().chain([stop]) {
            let other = self.shape_of(part, around)?.ty;
            ty = match (ty, other) {
                (Some(a), Some(b)) => match a.join(b) {
                    Some(common) => Some(common),
                    None => {
                        let message = format!("the ends of a range differ in type: {} and {}", a.name(), b.name());
                        return fail(codes::E0301, part.span, message);
                    }
                },
                _ => None,
            };
        }
        Ok(Shape::new(ty, 1))
    }

    fn shape_of_if(
        &mut self,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
        span: Span,
        around: &Surroundings<'_>,
    ) -> Fallible<Shape> {
        for (condition, _) in branches {
            let shape = self.shape_of(condition, around)?;
            want(shape, Ty::Boolean, condition.span)?;
        }
        let values = branches.iter().map(|(_, value)| value).chain([otherwise]);
        self.common_shape(values, span, around)
    }

    /// What all of these are.
    fn common_shape<'e>(
        &mut self,
        parts: impl Iterator<Item = &'e Expr>,
        span: Span,
        around: &Surroundings<'_>,
    ) -> Fallible<Shape> {
        let mut common: Option<Shape> = None;
        for part in parts {
            let shape = self.shape_of(part, around)?;
            common = Some(match common {
                None => shape,
                Some(before) => both(before, shape, span)?,
            });
        }
        Ok(common.unwrap_or_default())
    }
}

/// What fits both; it is an error if nothing does.
fn both(a: Shape, b: Shape, span: Span) -> Fallible<Shape> {
    let ty = match (a.ty, b.ty) {
        (Some(x), Some(y)) => match x.join(y) {
            Some(common) => Some(common),
            None => {
                let message = format!("these differ in type: {} and {}", a.words(), b.words());
                return fail(codes::E0301, span, message);
            }
        },
        _ => None,
    };
    Ok(Shape::new(ty, a.rank.filter(|_| a.rank == b.rank)))
}

fn unary(op: UnaryOp, operand: Shape, span: Span) -> Fallible<Shape> {
    let fits = match (op, operand.ty) {
        (_, None | Some(Ty::Record(_))) => return Ok(Shape::default()),
        (UnaryOp::Not, Some(ty)) => ty == Ty::Boolean,
        (_, Some(ty)) => ty.is_numeric(),
    };
    if fits {
        return Ok(operand);
    }
    fail(
        codes::E0301,
        span,
        format!("`{}` cannot be applied to {}", op.as_str(), operand.words()),
    )
}

pub(super) fn binary(operator: Operator, a: Shape, b: Shape, span: Span) -> Fallible<Shape> {
    let wrong = |code| {
        let message = format!(
            "`{}` cannot be applied to {} and {}",
            operator.as_str(),
            a.words(),
            b.words()
        );
        fail(code, span, message)
    };
    let is_record = |shape: Shape| matches!(shape.ty, Some(Ty::Record(_)));
    if is_record(a) || is_record(b) {
        return Ok(Shape::default());
    }
    let fits = |wanted: &dyn Fn(Ty) -> bool| a.ty.is_none_or(wanted) && b.ty.is_none_or(wanted);
    let known = a.ty.zip(b.ty);
    let op = operator.op;
    let ty = match op {
        BinaryOp::And | BinaryOp::Or => {
            if !fits(&|ty| ty == Ty::Boolean) {
                return wrong(codes::E0301);
            }
            Some(Ty::Boolean)
        }
        _ if op.is_relation() => {
            if known.is_some_and(|(x, y)| x.join(y).is_none()) {
                return wrong(codes::E0301);
            }
            let is_array = |shape: Shape| shape.rank.is_some_and(|rank| rank > 0);
            if is_array(a) || is_array(b) {
                return wrong(codes::E0302);
            }
            return Ok(Shape::scalar(Ty::Boolean));
        }
        BinaryOp::Add if known == Some((Ty::String, Ty::String)) => Some(Ty::String),
        BinaryOp::Add if known.is_none() => None,
        _ => {
            if !fits(&Ty::is_numeric) {
                return wrong(codes::E0301);
            }
            if matches!(op, BinaryOp::Divide | BinaryOp::Power) {
                // What is not known may be a record with an operator of its own.
                known.map(|_| Ty::Real)
            } else {
                known.and_then(|(x, y)| x.join(y))
            }
        }
    };
    match rank(operator, a.rank, b.rank) {
        Ok(rank) => Ok(Shape::new(ty, rank)),
        Err(()) => wrong(codes::E0302),
    }
}

/// The number of dimensions of a result, or that there is none.
fn rank(operator: Operator, a: Option<usize>, b: Option<usize>) -> Result<Option<usize>, ()> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    let fit = a == b || a == 0 || b == 0;
    match operator.op {
        _ if operator.elementwise && fit => Ok(Some(a.max(b))),
        _ if operator.elementwise => Err(()),
        BinaryOp::Multiply => match (a, b) {
            (0, other) | (other, 0) => Ok(Some(other)),
            (1, 1) => Ok(Some(0)),
            (2, 1) | (1, 2) => Ok(Some(1)),
            (2, 2) => Ok(Some(2)),
            _ => Err(()),
        },
        BinaryOp::Divide if b == 0 => Ok(Some(a)),
        BinaryOp::Power if b == 0 && (a == 0 || a == 2) => Ok(Some(a)),
        BinaryOp::Divide | BinaryOp::Power => Err(()),
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::And | BinaryOp::Or if a != b => Err(()),
        _ if !fit => Err(()),
        _ => Ok(Some(a.max(b))),
    }
}
