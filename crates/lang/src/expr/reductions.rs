//! Sizes and reductions of arrays.

use super::call::list;
use super::reference::Resolved;
use super::{Context, Index, Mode};
use crate::codes;
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{BinaryOp, FlatExpr};
use crate::flattener::Flattener;
use crate::tensor::{Elem, Tensor, Ty};
use saltus_source::Span;
use saltus_syntax::ast::{Call, CallArguments, Expr, ExprKind};

impl Flattener<'_> {
    pub(super) fn size(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let (positional, _) = list(call);
        let Some(array) = positional.first() else {
            return fail(codes::E0212, span, format!("`{name}` needs an array"));
        };
        let most = if name == "ndims" { 1 } else { 2 };
        if let Some(surplus) = positional.get(most) {
            return fail(
                codes::E0212,
                surplus.span,
                format!(
                    "`{name}` has at most {most} argument{}",
                    if most == 1 { "" } else { "s" }
                ),
            );
        }
        if let Some(value) = self.size_so_far(array, positional.get(1), ctx)? {
            return Ok(value);
        }
        if let Some(sizes) = self.run_time_sizes(array, ctx) {
            return self.open_size(name, &sizes, positional.get(1), span, ctx);
        }
        let dims = self.dims_of(array, ctx)?;
        if name == "ndims" {
            return Ok(Tensor::integer(dims.len() as i64));
        }
        let Some(which) = positional.get(1) else {
            let sizes = dims.iter().map(|&d| FlatExpr::Integer(i64::from(d)));
            let count = dims.len() as u32;
            return Ok(Tensor::array(Ty::Integer, [count][..].into(), sizes));
        };
        let k = self.evaluate(which, ctx)?;
        match k.as_integer().and_then(|k| dims.get((k - 1) as usize)) {
            Some(&size) => Ok(Tensor::integer(i64::from(size))),
            None => fail(
                codes::E0306,
                which.span,
                format!("an array of {} dimensions has no such dimension", dims.len()),
            ),
        }
    }

    /// `size` and `ndims` of an array whose size is known when the function runs only.
    fn open_size(
        &mut self,
        name: &str,
        sizes: &[FlatExpr],
        which: Option<&Expr>,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        if name == "ndims" {
            return Ok(Tensor::integer(sizes.len() as i64));
        }
        let Some(which) = which else {
            let count = sizes.len() as u32;
            return Ok(Tensor::array(Ty::Integer, [count][..].into(), sizes.iter().cloned()));
        };
        let k = self.evaluate(which, ctx)?.as_integer();
        match k.and_then(|k| sizes.get(usize::try_from(k).ok()?.checked_sub(1)?)) {
            Some(_) if ctx.mode == Mode::Evaluate => {
                fail(codes::E0304, span, "this size is known when the function runs only")
            }
            Some(size) => Ok(Tensor::scalar(Ty::Integer, size.clone())),
            None => fail(
                codes::E0306,
                which.span,
                format!("an array of {} dimensions has no such dimension", sizes.len()),
            ),
        }
    }

    /// `A[:, size(A, 1)]`: a size of the array under construction, if it is known already.
    pub(super) fn size_so_far(
        &mut self,
        array: &Expr,
        which: Option<&Expr>,
        ctx: &Context<'_>,
    ) -> Fallible<Option<Tensor>> {
        let (ExprKind::Reference(reference), Some(instance)) = (&array.kind, ctx.scope.instance) else {
            return Ok(None);
        };
        let Some(name) = reference.as_simple_name() else {
            return Ok(None);
        };
        let under_construction = self.sizing.iter().find(|(i, n, _)| *i == instance && n == name);
        let Some((_, _, dims)) = under_construction.cloned() else {
            return Ok(None);
        };
        let position = match which {
            Some(which) => self.evaluate(which, ctx)?.as_integer(),
            None => None,
        };
        match position.and_then(|k| dims.get(usize::try_from(k).ok()?.checked_sub(1)?)) {
            Some(&size) => Ok(Some(Tensor::integer(i64::from(size)))),
            None => fail(
                codes::E0305,
                array.span,
                format!("the size of `{name}` depends on itself"),
            ),
        }
    }

    /// The dimensions of an expression, without its value where that is possible.
    pub(super) fn dims_of(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<crate::tensor::Dims> {
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        if let ExprKind::Reference(reference) = &expr.kind {
            match self.resolve(reference, &flat)? {
                Resolved::Selection(selection) => {
                    let index = |position| selection.dynamic.iter().find(|(p, _)| *p == position);
                    let kept = selection
                        .dims
                        .iter()
                        .enumerate()
                        .filter_map(|(p, &size)| match index(p) {
                            None => Some(size),
                            Some((_, Index::One(_))) => None,
                            Some((_, Index::Each(list))) => Some(list.len() as u32),
                        });
                    return Ok(kept.collect());
                }
                // Of a size one may speak before there is a value.
                Resolved::Value(value) => return Ok(value.dims),
                _ => {}
            }
        }
        Ok(self.expr(expr, &flat)?.dims)
    }

    /// `sum`, `product`, `min`, `max` over arrays and iterators; `array` with iterators.
    pub(super) fn reduction(
        &mut self,
        name: &str,
        call: &Call,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Option<Tensor>> {
        if !matches!(name, "sum" | "product" | "min" | "max" | "array") {
            return Ok(None);
        }
        let values = match &call.arguments {
            CallArguments::Comprehension { element, indices } if name == "array" => {
                return self.array_comprehension(element, indices, span, ctx).map(Some);
            }
            CallArguments::Comprehension { element, indices } => {
                let mut parts = Vec::new();
                if let Err(failure) = self.reduction_elements(element, indices, ctx, &mut parts) {
                    let array = || Expr {
                        kind: ExprKind::ArrayComprehension {
                            element: element.clone(),
                            indices: indices.clone(),
                        },
                        span,
                    };
                    return self.or_open_reduction(Err(failure), name, &array, ctx).map(Some);
                }
                parts
            }
            CallArguments::List { positional, .. } => match (name, positional.as_slice()) {
                ("array", _) => return Ok(None),
                (_, [array]) => {
                    let value = match self.expr(array, ctx) {
                        Ok(value) => value,
                        Err(failure) => {
                            let failed = Err(failure);
                            return self.or_open_reduction(failed, name, &|| array.clone(), ctx).map(Some);
                        }
                    };
                    if value.is_scalar() && matches!(name, "min" | "max") {
                        return fail(codes::E0302, span, format!("`{name}` of a single scalar"));
                    }
                    let ty = value.ty;
                    if let ("sum" | "product", true, false) = (name, ty.is_numeric(), value.elems.is_empty()) {
                        return self.reduced(name, value, span).map(Some);
                    }
                    if matches!(ty, Ty::Record(_)) {
                        let dims = value.dims.first().copied().unwrap_or(1);
                        (1..=dims).filter_map(|k| value.at(k)).collect()
                    } else {
                        let parts: Vec<Tensor> = value.exprs().map(|e| Tensor::scalar(ty, e.clone())).collect();
                        if parts.is_empty() {
                            return empty_reduction(name, ty, span).map(Some);
                        }
                        parts
                    }
                }
                _ => return Ok(None),
            },
        };
        if values.is_empty() {
            return empty_reduction(name, Ty::Real, span).map(Some);
        }
        crate::tensor::fold_in_groups(values, &mut |a, b| self.combine(name, a, b, span))
    }

    /// The sum or the product of the elements of an array of numbers.
    fn reduced(&mut self, name: &str, value: Tensor, span: Span) -> Fallible<Tensor> {
        self.spend(value.elems.len() as u64, span)?;
        let op = if name == "sum" {
            BinaryOp::Add
        } else {
            BinaryOp::Multiply
        };
        let ty = value.ty;
        let elements = value.elems.into_iter().filter_map(|elem| match elem {
            Elem::Expr(expr) => Some(expr),
            _ => None,
        });
        let joined = crate::tensor::fold_in_groups(elements.collect(), &mut |a, b| {
            Ok::<_, Failure>(crate::tensor::binary(op, a, b, span))
        })?;
        match joined {
            Some(expr) => Ok(Tensor::scalar(ty, expr)),
            None => empty_reduction(name, ty, span),
        }
    }

    pub(crate) fn combine(&mut self, name: &str, a: Tensor, b: Tensor, span: Span) -> Fallible<Tensor> {
        match name {
            "sum" => self.binary_operator(BinaryOp::Add.into(), a, b, span),
            "product" => self.binary_operator(BinaryOp::Multiply.into(), a, b, span),
            _ => match self.math(name, &[a, b], span)? {
                Some(value) => Ok(value),
                None => fail(codes::E0301, span, format!("`{name}` cannot be applied here")),
            },
        }
    }
}

pub(crate) fn empty_reduction(name: &str, ty: Ty, span: Span) -> Fallible<Tensor> {
    let number = |value: f64| match ty {
        Ty::Integer => Tensor::integer(value as i64),
        _ => Tensor::real(value),
    };
    match name {
        "sum" => Ok(number(0.0)),
        "product" => Ok(number(1.0)),
        "min" if ty == Ty::Integer => Ok(Tensor::integer(i64::MAX)),
        "max" if ty == Ty::Integer => Ok(Tensor::integer(i64::MIN)),
        "min" => Ok(Tensor::real(f64::MAX)),
        "max" => Ok(Tensor::real(-f64::MAX)),
        _ => fail(codes::E0302, span, "an empty array"),
    }
}
