//! Ranges, array comprehensions and reductions.

use std::rc::Rc;

use saltus_source::Span;
use saltus_syntax::ast::{ComponentReference, Expr, ExprKind, ForIndex, Subscript};
use smallvec::SmallVec;

use super::{Context, Iterators, Mode, Resolved};
use crate::class::SimpleType;
use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::FlatExpr;
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::tensor::{Elem, Tensor, Ty, stack};

impl Flattener<'_> {
    pub(super) fn range(
        &mut self,
        start: &Expr,
        step: Option<&Expr>,
        stop: &Expr,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let first = self.known(start, ctx)?;
        let step = step.map(|step| self.known(step, ctx)).transpose()?;
        let last = self.known(stop, ctx)?;
        let number = |t: &Tensor| t.as_expr().and_then(FlatExpr::as_number);
        let (Some(from), Some(to)) = (number(&first), number(&last)) else {
            return fail(codes::E0301, span, "the ends of a range must be scalars");
        };
        let by = match &step {
            Some(step) => number(step).unwrap_or(1.0),
            None => 1.0,
        };
        if by == 0.0 {
            return fail(codes::E0306, span, "the step of a range is zero");
        }
        let whole =
            first.ty == Ty::Integer && last.ty == Ty::Integer && step.as_ref().is_none_or(|s| s.ty == Ty::Integer);
        let count = ((to - from) / by + if whole { 0.0 } else { 1e-10 }).floor() + 1.0;
        let count = if count > 0.0 { count } else { 0.0 };
        if count > self.limits.scalars as f64 {
            return fail(
                codes::E0307,
                span,
                format!(
                    "a range of {count} elements is more than the {} allowed",
                    self.limits.scalars
                ),
            );
        }
        let count = count as u32;
        self.spend(u64::from(count), span)?;
        let element = |k: u32| -> FlatExpr {
            match &first.as_expr() {
                Some(FlatExpr::Integer(from)) if whole => FlatExpr::Integer(from + i64::from(k) * by as i64),
                Some(FlatExpr::Enumeration(id, ordinal)) => FlatExpr::Enumeration(*id, ordinal + k),
                Some(FlatExpr::Boolean(from)) => FlatExpr::Boolean(*from || k > 0),
                _ => FlatExpr::Real(from + f64::from(k) * by),
            }
        };
        let ty = match first.ty {
            Ty::Integer if !whole => Ty::Real,
            ty => ty,
        };
        Ok(Tensor::array(
            ty,
            SmallVec::from_slice(&[count]),
            (0..count).map(element),
        ))
    }

    /// A literal if it is one already, else its value.
    pub(super) fn known(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Tensor> {
        self.evaluate(expr, ctx)
    }

    /// The values an iterator takes.
    pub(crate) fn iterator_values(
        &mut self,
        index: &ForIndex,
        body: &dyn Fn(&str) -> crate::model::implicit::Indexed,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let Some(range) = &index.range else {
            // The size of the arrays that the iterator indexes.
            let mut indexed = body(&index.name.name).into_iter();
            if let Some((array, dimension)) = indexed.next() {
                if let Some(values) = self.index_type_values(&array, dimension, ctx)? {
                    return Ok(values);
                }
                let value = self.reference(&array, ctx)?;
                if let Some(&size) = value.dims.get(dimension) {
                    for (other, dimension) in indexed {
                        // What is not known yet is looked at where it is used.
                        let sizes = self.reference(&other, ctx).map(|value| value.dims);
                        let other_size = sizes.ok().and_then(|dims| dims.get(dimension).copied());
                        if let Some(other_size) = other_size.filter(|&other_size| other_size != size) {
                            return fail(
                                codes::E0302,
                                index.span,
                                format!(
                                    "the range of `{}` is not clear: it indexes dimensions of size {size} and {other_size}",
                                    index.name
                                ),
                            );
                        }
                    }
                    let values = (1..=i64::from(size)).map(FlatExpr::Integer);
                    return Ok(Tensor::array(Ty::Integer, SmallVec::from_slice(&[size]), values));
                }
            }
            return fail(
                codes::E0304,
                index.span,
                format!("the range of `{}` cannot be deduced", index.name),
            );
        };
        // `for e in E` and `for b in Boolean` run over a type.
        if let ExprKind::Reference(reference) = &range.kind
            && let Some(name) = reference.to_qualified_name()
            && let Ok(class) = self.lookup_class(ctx.scope.class, &name)
            && let Some(values) = self.type_values(class)?
        {
            return Ok(values);
        }
        let value = self.evaluate(range, ctx)?;
        if value.dims.len() != 1 {
            return fail(codes::E0302, range.span, "the values of an iterator must form a vector");
        }
        Ok(value)
    }

    /// All values of an enumeration or of Boolean.
    fn type_values(&mut self, class: ClassId) -> Fallible<Option<Tensor>> {
        Ok(match self.table(class)?.simple {
            Some(SimpleType::Enumeration(class)) => {
                let (id, count) = self.enumeration(class)?;
                let values = (1..=count).map(|k| FlatExpr::Enumeration(id, k));
                let dims = SmallVec::from_slice(&[count]);
                Some(Tensor::array(Ty::Enumeration(id), dims, values))
            }
            Some(SimpleType::Boolean) => {
                let values = [FlatExpr::Boolean(false), FlatExpr::Boolean(true)];
                Some(Tensor::array(Ty::Boolean, SmallVec::from_slice(&[2]), values))
            }
            _ => None,
        })
    }

    /// The values that index a dimension of an array declared as `x[E]` or `x[Boolean]`.
    fn index_type_values(
        &mut self,
        array: &ComponentReference,
        dimension: usize,
        ctx: &Context<'_>,
    ) -> Fallible<Option<Tensor>> {
        let Ok(Resolved::Selection(selection)) = self.resolve(array, ctx) else {
            return Ok(None);
        };
        let Some(component) = selection.last.map(|id| &self.components[id]) else {
            return Ok(None);
        };
        let table = Rc::clone(&self.instances[component.parent].table);
        let entry = &table.entries[component.entry as usize];
        let Some((clause, declared)) = entry.component() else {
            return Ok(None);
        };
        let mut subscripts = declared.subscripts.iter().chain(&clause.subscripts);
        if let Some(Subscript::Expr(expr)) = subscripts.nth(dimension)
            && let ExprKind::Reference(reference) = &expr.kind
            && let Some(name) = reference.to_qualified_name()
            && let Ok(class) = self.lookup_class(entry.dims_scope, &name)
        {
            return self.type_values(class);
        }
        Ok(None)
    }

    pub(super) fn array_comprehension(
        &mut self,
        element: &Expr,
        indices: &[ForIndex],
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        // `{e for i in r, j in s}` has the dimensions [size(s), size(r)]: the last is outermost.
        let Some((last, rest)) = indices.split_last() else {
            return self.expr(element, ctx);
        };
        let values = self.comprehension_values(last, element, ctx)?;
        let mut parts = Vec::with_capacity(values.elems.len());
        for k in 1..=values.dims[0] {
            let Some(value) = values.at(k) else { break };
            let iterators = Iterators {
                name: &last.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            let inner = ctx.with_iterators(&iterators);
            parts.push(self.array_comprehension(element, rest, span, &inner)?);
        }
        if parts.is_empty() {
            self.unreached_element(element, indices, ctx);
        }
        stack(parts, Ty::Real, span)
    }

    pub(super) fn comprehension_values(
        &mut self,
        index: &ForIndex,
        element: &Expr,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let find = |name: &str| crate::model::implicit::in_expr(element, name);
        let known = self.iterator_values(index, &find, ctx);
        self.or_varying_values(known, index, ctx)
    }

    /// The values of an iterator; if they are not known here, those of the vector that it runs over.
    pub(crate) fn or_varying_values(
        &mut self,
        known: Fallible<Tensor>,
        index: &ForIndex,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        match (known, &index.range) {
            (Err(failure), Some(range)) if !matches!(range.kind, ExprKind::Range { .. }) && ctx.mode == Mode::Flat => {
                match self.expr(range, ctx) {
                    Ok(values) if values.dims.len() == 1 => Ok(values),
                    _ => Err(failure),
                }
            }
            (known, _) => known,
        }
    }

    /// All values of a reduction's element, flattened.
    pub(super) fn reduction_elements(
        &mut self,
        element: &Expr,
        indices: &[ForIndex],
        ctx: &Context<'_>,
        out: &mut Vec<Tensor>,
    ) -> Fallible<()> {
        let Some((first, rest)) = indices.split_first() else {
            out.push(self.expr(element, ctx)?);
            return Ok(());
        };
        let values = self.comprehension_values(first, element, ctx)?;
        if values.elems.is_empty() {
            self.unreached_element(element, indices, ctx);
        }
        for elem in &values.elems {
            let Elem::Expr(expr) = elem else { continue };
            let value = Tensor::scalar(values.ty, expr.clone());
            let iterators = Iterators {
                name: &first.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            self.reduction_elements(element, rest, &ctx.with_iterators(&iterators), out)?;
        }
        Ok(())
    }
}
