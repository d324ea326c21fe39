//! Subscripts.

use saltus_source::Span;
use saltus_syntax::ast::{ExprKind, Subscript};

use super::{Context, Mode};
use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::FlatExpr;
use crate::flattener::Flattener;
use crate::tensor::{Dims, Elem, Tensor, Ty};

/// What one subscript selects.
#[derive(Debug)]
pub(crate) enum Choice {
    /// One element; the dimension disappears.
    One(u32),
    /// Several elements; the dimension remains.
    Many(Vec<u32>),
    /// What is known at run time only, out of so many.
    Dynamic(Index, u32),
}

/// An index that is known at run time only.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    /// One element; the dimension disappears.
    One(FlatExpr),
    /// So many elements, in this order; the dimension remains.
    Each(Vec<FlatExpr>),
}

/// Subscripts resolved against the dimensions of an array, one choice per dimension.
#[derive(Debug)]
pub(crate) struct Subscripts {
    pub choices: Vec<Choice>,
    /// The types of the indices that are written.
    pub types: Vec<Option<Ty>>,
}

impl Subscripts {
    /// Per dimension the indices selected, from 1; all of them for dynamic ones.
    pub(crate) fn lists(&self) -> Vec<Vec<u32>> {
        let list = |choice: &Choice| match choice {
            Choice::One(k) => vec![*k],
            Choice::Many(list) => list.clone(),
            Choice::Dynamic(_, size) => (1..=*size).collect(),
        };
        self.choices.iter().map(list).collect()
    }

    /// The dimensions that remain, dynamic ones included.
    pub(crate) fn dims(&self) -> Dims {
        let size = |choice: &Choice| match choice {
            Choice::One(_) => None,
            Choice::Many(list) => Some(list.len() as u32),
            Choice::Dynamic(_, size) => Some(*size),
        };
        self.choices.iter().filter_map(size).collect()
    }

    /// Positions in [`Self::dims`] of the dynamic dimensions, with their indices.
    pub(crate) fn dynamic(&self) -> Vec<(usize, Index)> {
        let remaining = self.choices.iter().filter(|c| !matches!(c, Choice::One(_)));
        remaining
            .enumerate()
            .filter_map(|(position, choice)| match choice {
                Choice::Dynamic(index, _) => Some((position, index.clone())),
                _ => None,
            })
            .collect()
    }

    /// The dimensions that remain for good, and per element the index of every dimension.
    pub(crate) fn places(&self) -> (Dims, Vec<Vec<FlatExpr>>) {
        let mut dims = Dims::new();
        let mut places: Vec<Vec<FlatExpr>> = vec![Vec::new()];
        for choice in &self.choices {
            let indices: Vec<FlatExpr> = match choice {
                Choice::One(k) => vec![FlatExpr::Integer(i64::from(*k))],
                Choice::Dynamic(Index::One(index), _) => vec![index.clone()],
                Choice::Dynamic(Index::Each(list), _) => {
                    dims.push(list.len() as u32);
                    list.clone()
                }
                Choice::Many(list) => {
                    dims.push(list.len() as u32);
                    list.iter().map(|&k| FlatExpr::Integer(i64::from(k))).collect()
                }
            };
            places = places
                .into_iter()
                .flat_map(|place| {
                    indices.iter().map(move |index| {
                        let mut place = place.clone();
                        place.push(index.clone());
                        place
                    })
                })
                .collect();
        }
        (dims, places)
    }
}

impl Flattener<'_> {
    pub(crate) fn subscripts(
        &mut self,
        subscripts: &[Subscript],
        dims: &[u32],
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Subscripts> {
        if subscripts.len() > dims.len() {
            return fail(
                codes::E0302,
                span,
                format!("{} subscripts for {} dimensions", subscripts.len(), dims.len()),
            );
        }
        let mut result = Subscripts {
            choices: Vec::new(),
            types: Vec::new(),
        };
        for (position, &size) in dims.iter().enumerate() {
            match subscripts.get(position) {
                None | Some(Subscript::Colon(_)) => {
                    result.choices.push(Choice::Many((1..=size).collect()));
                    result.types.push(None);
                }
                Some(Subscript::Expr(expr)) => {
                    let inner = Context {
                        end: Some(size),
                        ..*ctx
                    };
                    let index = self.subscript_value(expr, &inner)?;
                    result.types.push((!index.elems.is_empty()).then_some(index.ty));
                    self.add_subscript(&mut result, index, size, expr.span)?;
                }
            }
        }
        Ok(result)
    }

    /// The value of a subscript: known if it can be.
    fn subscript_value(&mut self, expr: &saltus_syntax::ast::Expr, ctx: &Context<'_>) -> Fallible<Tensor> {
        let value = match &expr.kind {
            ExprKind::Range { start, step, stop } => match self.evaluate(expr, ctx) {
                Err(failure) if step.is_none() && ctx.mode != Mode::Evaluate => {
                    return self.moving_range(start, stop, ctx)?.ok_or(failure);
                }
                known => known?,
            },
            _ => self.expr(expr, ctx)?,
        };
        if value.is_known() || ctx.mode == Mode::Evaluate {
            return Ok(value);
        }
        match self.evaluate(expr, ctx) {
            Ok(known) => Ok(known),
            Err(_) => Ok(value),
        }
    }

    /// `i + 1:i + 3`: a range whose place is known when it is used only, but not its length.
    fn moving_range(
        &mut self,
        start: &saltus_syntax::ast::Expr,
        stop: &saltus_syntax::ast::Expr,
        ctx: &Context<'_>,
    ) -> Fallible<Option<Tensor>> {
        let (first, last) = (self.expr(start, ctx)?, self.expr(stop, ctx)?);
        let (Ty::Integer, Ty::Integer, Some(first), Some(last)) = (first.ty, last.ty, first.as_expr(), last.as_expr())
        else {
            return Ok(None);
        };
        let ((base, from), (other, to)) = (shifted_base(first), shifted_base(last));
        if base != other {
            return Ok(None);
        }
        let span = start.span;
        let count = u32::try_from((to - from + 1).clamp(0, MOST_MOVING)).unwrap_or(0);
        let element = |k: u32| {
            let shift = FlatExpr::Integer(i64::from(k));
            crate::tensor::binary(crate::flat::BinaryOp::Add, first.clone(), shift, span)
        };
        Ok(Some(Tensor::array(
            Ty::Integer,
            [count][..].into(),
            (0..count).map(element),
        )))
    }

    fn add_subscript(&mut self, result: &mut Subscripts, index: Tensor, size: u32, span: Span) -> Fallible<()> {
        if !matches!(index.ty, Ty::Integer | Ty::Boolean | Ty::Enumeration(_)) && !index.elems.is_empty() {
            return fail(
                codes::E0301,
                span,
                format!("a subscript must be an Integer, but this is {}", index.shape()),
            );
        }
        match index.dims.len() {
            0 => {
                if let Some(k) = index.as_integer() {
                    result.choices.push(Choice::One(in_range(k, size, span)?));
                } else if let Some(expr) = index.as_expr() {
                    let number = ordinal(expr, index.ty, span);
                    result.choices.push(Choice::Dynamic(Index::One(number), size));
                }
                Ok(())
            }
            1 => {
                let known: Option<Vec<i64>> = (1..=index.dims[0]).map(|k| index.at(k)?.as_integer()).collect();
                result.choices.push(match known {
                    Some(list) => {
                        let list = list.into_iter().map(|k| in_range(k, size, span));
                        Choice::Many(list.collect::<Fallible<_>>()?)
                    }
                    None => {
                        let list = index.exprs().map(|expr| ordinal(expr, index.ty, span));
                        Choice::Dynamic(Index::Each(list.collect()), size)
                    }
                });
                Ok(())
            }
            _ => fail(codes::E0302, span, "a subscript must be a scalar or a vector"),
        }
    }

    pub(crate) fn subscript_tensor(
        &mut self,
        value: Tensor,
        array: &str,
        subscripts: &[Subscript],
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        if subscripts.is_empty() {
            return Ok(value);
        }
        let resolved = self.subscripts(subscripts, &value.dims, span, ctx)?;
        let elems = positions(&value.dims, &resolved.lists())
            .map(|position| value.elems[position].clone())
            .collect();
        let mut result = Tensor {
            ty: value.ty,
            dims: resolved.dims(),
            elems,
        };
        for (position, index) in resolved.dynamic().into_iter().rev() {
            result = self.pick_dynamically(result, position, &index, array, span)?;
        }
        Ok(result)
    }

    /// Stores a value into the part of an array that subscripts select.
    pub(crate) fn store_subscripted(
        &mut self,
        target: &mut Tensor,
        subscripts: &[Subscript],
        value: Tensor,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let resolved = self.subscripts(subscripts, &target.dims.clone(), span, ctx)?;
        if !resolved.dynamic().is_empty() {
            return fail(codes::E0304, span, "the subscript of an assignment must be known here");
        }
        if resolved.dims() != value.dims {
            return fail(
                codes::E0302,
                span,
                format!("{} is assigned to {:?} elements", value.shape(), resolved.dims()),
            );
        }
        let value = value.coerce(target.ty);
        for (position, elem) in positions(&target.dims.clone(), &resolved.lists()).zip(value.elems) {
            let slot: &mut Elem = &mut target.elems[position];
            *slot = elem;
        }
        Ok(())
    }
}

/// Elements of a range that moves at most.
const MOST_MOVING: i64 = 10_000;

/// An expression without the whole numbers that are added to it, and their sum.
fn shifted_base(expr: &FlatExpr) -> (&FlatExpr, i64) {
    use crate::flat::BinaryOp::{Add, Subtract};
    let FlatExpr::Binary(op @ (Add | Subtract), operands, _) = expr else {
        return (expr, 0);
    };
    match (op, &operands[0], &operands[1]) {
        (Add, base, FlatExpr::Integer(k)) | (Add, FlatExpr::Integer(k), base) => {
            let (base, shift) = shifted_base(base);
            (base, shift.saturating_add(*k))
        }
        (Subtract, base, FlatExpr::Integer(k)) => {
            let (base, shift) = shifted_base(base);
            (base, shift.saturating_sub(*k))
        }
        _ => (expr, 0),
    }
}

/// The number of the element that an index of some type selects.
fn ordinal(index: &FlatExpr, ty: Ty, span: Span) -> FlatExpr {
    match ty {
        // `false` comes first.
        Ty::Boolean => {
            let numbers = [index.clone(), FlatExpr::Integer(2), FlatExpr::Integer(1)];
            FlatExpr::If(Box::new(numbers), span)
        }
        _ => index.clone(),
    }
}

fn in_range(k: i64, size: u32, span: Span) -> Fallible<u32> {
    if k >= 1 && k <= i64::from(size) {
        return Ok(k as u32);
    }
    fail(codes::E0306, span, format!("the subscript {k} is outside 1..{size}"))
}

/// Row-major positions of all combinations of indices (from 1).
pub(crate) fn positions<'a>(dims: &'a [u32], lists: &'a [Vec<u32>]) -> impl Iterator<Item = usize> + 'a {
    let total: usize = lists.iter().map(Vec::len).product();
    (0..total).map(move |flat| {
        let mut rest = flat;
        let mut position = 0;
        let mut stride = 1;
        for (list, &size) in lists.iter().zip(dims).rev() {
            let index = list[rest % list.len()] as usize - 1;
            rest /= list.len();
            position += index * stride;
            stride *= size as usize;
        }
        position
    })
}
