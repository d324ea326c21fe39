//! Assignments in functions that are lowered.

use super::frame::FrameVar;
use super::lower::Builder;
use crate::codes;
use crate::expr::Context;
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{FlatExpr, FunctionId, FunctionStatement, Local, LocalId, Place, ScalarType};
use crate::flattener::Flattener;
use crate::tensor::{Dims, Tensor, Ty, is_unset, volume};
use saltus_source::Span;
use saltus_syntax::ast::{ComponentReference, Expr, ExprKind, Name, ReferencePart, Subscript};
use std::sync::Arc;

/// What is assigned: a variable or a field by its name, and fields of it.
pub(super) struct Target<'a> {
    pub part: &'a ReferencePart,
    pub rest: &'a [ReferencePart],
    pub span: Span,
}

impl<'a> Target<'a> {
    /// A variable as a whole.
    pub(super) fn whole(part: &'a ReferencePart) -> Self {
        Target {
            part,
            rest: &[],
            span: part.name.span,
        }
    }
}

/// Steps that assigning an element of an array costs.
const ELEMENT_COST: u64 = 100;

impl Flattener<'_> {
    pub(super) fn lower_assign(
        &mut self,
        target: &ComponentReference,
        value: Tensor,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Some((first, rest)) = target.parts.split_first() else {
            return Err(Failure::Reported);
        };
        let var = ctx
            .frame
            .and_then(|frame| frame.borrow().get(&first.name.name).cloned());
        let Some(var) = var else {
            return fail(
                codes::E0201,
                target.span,
                format!("`{}` is not a variable of this function", first.name),
            );
        };
        self.store_local(
            &var,
            &Target {
                part: first,
                rest,
                span: target.span,
            },
            value,
            builder,
            ctx,
        )
    }

    pub(super) fn lower_multi_assign(
        &mut self,
        targets: &[Option<Expr>],
        results: Vec<Tensor>,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        // Through temporaries: a target may be an argument of the call as well.
        let mut copies = Vec::new();
        let first = builder.body.len();
        for (target, result) in targets.iter().zip(results) {
            let Some(Expr {
                kind: ExprKind::Reference(target),
                ..
            }) = target
            else {
                continue;
            };
            let mut ids = Vec::new();
            let var = self.declare_like(builder, "temporary", &result, &mut ids)?;
            let part = plain_part(&Name::new("temporary"), target.span);
            self.store_local(&var, &Target::whole(&part), result, builder, ctx)?;
            copies.push((target, var));
        }
        join_calls(&mut builder.body, first);
        for (target, var) in copies {
            let value = value_of(&var);
            self.lower_assign(target, value, builder, ctx)?;
        }
        Ok(())
    }

    /// `target := value`, where the target is a part of a variable.
    pub(super) fn store_local(
        &mut self,
        var: &FrameVar,
        target: &Target<'_>,
        value: Tensor,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Target { part, rest, span } = *target;
        match var {
            FrameVar::Open(class) => {
                // The first assignment gives the size.
                if !part.subscripts.is_empty() || !rest.is_empty() {
                    return fail(
                        codes::E0304,
                        span,
                        format!("the size of `{}` is not known yet", part.name),
                    );
                }
                let mut ids = Vec::new();
                let var = self.declare_class(builder, &part.name.name, *class, &value.dims.clone(), &mut ids)?;
                if let Some(frame) = ctx.frame {
                    frame.borrow_mut().set(part.name.name.clone(), var.clone());
                }
                self.store_local(&var, target, value, builder, ctx)
            }
            FrameVar::Value(_) => fail(codes::E0303, span, format!("`{}` cannot be assigned", part.name)),
            FrameVar::Local(id, ty, dims) => {
                if !Ty::of(*ty).accepts(value.ty) && !value.elems.is_empty() {
                    return fail(codes::E0301, span, wrong_type(&value, part, Ty::of(*ty)));
                }
                let (wanted, places) = self.local_places(dims, part, span, ctx)?;
                if wanted != value.dims {
                    return fail(
                        codes::E0302,
                        span,
                        format!("{} is assigned to `{}` of size {wanted:?}", value.shape(), part.name),
                    );
                }
                // Every element is a statement of its own from here to the run.
                if places.len() > 1 {
                    self.spend(ELEMENT_COST * places.len() as u64, span)?;
                }
                let value = value.coerce(Ty::of(*ty));
                self.store_places((*id, *ty), places, value, builder);
                Ok(())
            }
            FrameVar::Sized(id, ty, sizes) => {
                if part.subscripts.len() != sizes.len() || !value.is_scalar() {
                    return fail(
                        codes::E0304,
                        span,
                        format!("the size of `{}` is known when the function runs only", part.name),
                    );
                }
                if !Ty::of(*ty).accepts(value.ty) {
                    return fail(codes::E0301, span, wrong_type(&value, part, Ty::of(*ty)));
                }
                let mut indices = Vec::new();
                for subscript in &part.subscripts {
                    let Subscript::Expr(index) = subscript else {
                        return fail(
                            codes::E0304,
                            span,
                            "what this selects is known when the function runs only",
                        );
                    };
                    indices.push(self.run_time_index(index, ctx)?);
                }
                let places = vec![indices];
                self.store_places((*id, *ty), places, value.coerce(Ty::of(*ty)), builder);
                Ok(())
            }
            FrameVar::Records(_, dims, elements) => {
                let chosen = self.subscripts(&part.subscripts, dims, span, ctx)?;
                if !chosen.dynamic().is_empty() {
                    return fail(
                        codes::E0214,
                        span,
                        "assigning an element of an array of records by an index that varies is not supported yet",
                    );
                }
                let lists = chosen.lists();
                let positions: Vec<usize> = crate::expr::positions(dims, &lists).collect();
                if rest.is_empty() && chosen.dims() != value.dims || !rest.is_empty() && positions.len() != 1 {
                    return fail(
                        codes::E0302,
                        span,
                        format!("{} is assigned to other sizes", value.shape()),
                    );
                }
                for (k, position) in positions.into_iter().enumerate() {
                    let element = match (rest.is_empty(), value.elems.get(k)) {
                        (true, Some(elem)) => Tensor {
                            ty: value.ty,
                            dims: Dims::new(),
                            elems: [elem.clone()].into_iter().collect(),
                        },
                        _ => value.clone(),
                    };
                    let plain = plain_part(&part.name.name, span);
                    let inner = Target {
                        part: &plain,
                        rest,
                        span,
                    };
                    self.store_local(&elements[position], &inner, element, builder, ctx)?;
                }
                Ok(())
            }
            FrameVar::Record(class, fields) => match rest.split_first() {
                Some((next, behind)) => match fields.iter().find(|(n, _)| *n == next.name.name) {
                    Some((_, field)) => {
                        let inner = Target {
                            part: next,
                            rest: behind,
                            span,
                        };
                        self.store_local(field, &inner, value, builder, ctx)
                    }
                    None => Err(self.unknown(Some(*class), &next.name.name, next.name.span)),
                },
                None => {
                    for (name, field) in fields {
                        let Some(inner) = value.field(name) else {
                            return fail(codes::E0301, span, format!("the value has no field `{name}`"));
                        };
                        let part = plain_part(name, span);
                        self.store_local(field, &Target::whole(&part), inner, builder, ctx)?;
                    }
                    Ok(())
                }
            },
        }
    }

    pub(super) fn store_places(
        &mut self,
        (id, ty): (LocalId, ScalarType),
        places: Vec<Vec<FlatExpr>>,
        value: Tensor,
        builder: &mut Builder,
    ) {
        let out = &mut builder.body;
        let first = out.len();
        let mentions = |e: &FlatExpr| {
            let mut found = false;
            e.walk(&mut |e| found |= matches!(e, FlatExpr::Local(other, _) if *other == id));
            found
        };
        let assign = |local: LocalId, indices: Vec<FlatExpr>, value: FlatExpr| {
            FunctionStatement::Assign(
                Place {
                    local,
                    indices: indices.into(),
                },
                value,
            )
        };
        if places.len() > 1 && value.exprs().any(mentions) {
            // `x := A*x` needs all old values first.
            let count = places.len() as u32;
            let copy = builder.locals.push(Local::new("temporary", ty, vec![count]));
            for (k, expr) in value.exprs().enumerate() {
                out.push(assign(copy, vec![FlatExpr::Integer(k as i64 + 1)], expr.clone()));
            }
            join_calls(out, first);
            for (k, indices) in places.into_iter().enumerate() {
                let from = FlatExpr::Local(copy, Box::new([FlatExpr::Integer(k as i64 + 1)]));
                out.push(assign(id, indices, from));
            }
            return;
        }
        // What has no value stays without one.
        let valued = places
            .into_iter()
            .zip(value.exprs())
            .filter(|(_, expr)| !is_unset(expr));
        for (indices, expr) in valued {
            out.push(assign(id, indices, expr.clone()));
        }
        join_calls(out, first);
    }
}

/// Assignments of several outputs of one call become one call.
pub(super) fn join_calls(out: &mut Vec<FunctionStatement>, first: usize) {
    if out.len() - first < 2 {
        return;
    }
    let mut common: Option<(FunctionId, Arc<[FlatExpr]>)> = None;
    for statement in &out[first..] {
        let FunctionStatement::Assign(_, FlatExpr::Call(call)) = statement else {
            return;
        };
        match &common {
            None => common = Some((call.function, Arc::clone(&call.arguments))),
            Some((function, arguments)) => {
                if *function != call.function || !Arc::ptr_eq(arguments, &call.arguments) {
                    return;
                }
            }
        }
    }
    let Some((function, arguments)) = common else {
        return;
    };
    let targets = out
        .drain(first..)
        .filter_map(|statement| match statement {
            FunctionStatement::Assign(place, FlatExpr::Call(call)) => Some((call.output, place)),
            _ => None,
        })
        .collect();
    out.push(FunctionStatement::CallAssign {
        function,
        arguments: arguments.to_vec(),
        targets,
    });
}

pub(super) fn plain_part(name: &Name, span: Span) -> ReferencePart {
    ReferencePart {
        name: saltus_syntax::ast::Ident {
            name: name.clone(),
            span,
        },
        subscripts: Vec::new(),
    }
}

/// The value of variables, as they are now.
pub(super) fn value_of(var: &FrameVar) -> Tensor {
    match var {
        FrameVar::Value(value) => value.clone(),
        FrameVar::Open(_) | FrameVar::Sized(..) => Tensor::real(0.0).repeat(&[0]),
        FrameVar::Local(id, ty, dims) => {
            let count = volume(dims).unwrap_or(0);
            let elems = (0..count).map(|offset| {
                let indices = crate::instance::indices(dims, offset);
                let indices: Vec<FlatExpr> = indices.iter().map(|&k| FlatExpr::Integer(i64::from(k))).collect();
                FlatExpr::Local(*id, indices.into())
            });
            Tensor::array(Ty::of(*ty), dims.clone(), elems)
        }
        FrameVar::Records(class, dims, elements) => Tensor {
            ty: Ty::Record(*class),
            dims: dims.clone(),
            elems: elements.iter().flat_map(|e| value_of(e).elems).collect(),
        },
        FrameVar::Record(class, fields) => {
            let fields: Vec<(Name, Tensor)> = fields
                .iter()
                .map(|(name, field)| (name.clone(), value_of(field)))
                .collect();
            Tensor::record(*class, fields.into())
        }
    }
}

fn wrong_type(value: &Tensor, part: &ReferencePart, ty: Ty) -> String {
    format!("{} is assigned to `{}` of {}", value.shape(), part.name, ty.name())
}
