//! Assignments in functions that are lowered.

use super::frame::FrameVar;
use super::lower::Builder;
use crate::codes;
use crate::expr::Context;
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{FlatExpr, FunctionId, FunctionStatement, Local, LocalId, Place, ScalarType};
use crate::flattener::Flattener;
use crate::tensor::{Dims, Elem, Tensor, Ty, is_unset, volume};
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
                let first = builder.body.len();
                let value = if rest.is_empty() {
                    self.settled(var, value, span, builder, ctx)?
                } else {
                    value
                };
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
                join_calls(&mut builder.body, first);
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
                None => self.store_record((var, fields), value, span, builder, ctx),
            },
        }
    }

    /// All fields of a record, which are assigned at once.
    fn store_record(
        &mut self,
        (var, fields): (&FrameVar, &[(Name, FrameVar)]),
        value: Tensor,
        span: Span,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let first = builder.body.len();
        let value = self.settled(var, value, span, builder, ctx)?;
        for (name, field) in fields {
            let Some(inner) = value.field(name) else {
                return fail(codes::E0301, span, format!("the value has no field `{name}`"));
            };
            let part = plain_part(name, span);
            self.store_local(field, &Target::whole(&part), inner, builder, ctx)?;
        }
        join_calls(&mut builder.body, first);
        Ok(())
    }

    /// A value that assigning parts of a variable does not change: `r := R(r.y, r.x)` needs all old values first.
    fn settled(
        &mut self,
        var: &FrameVar,
        value: Tensor,
        span: Span,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let mut targets = Vec::new();
        locals_of(var, &mut targets);
        if !mentions(&value, &targets) {
            return Ok(value);
        }
        let copy = self.declare_like(builder, "temporary", &value, &mut Vec::new())?;
        let part = plain_part(&Name::new("temporary"), span);
        self.store_local(&copy, &Target::whole(&part), value, builder, ctx)?;
        Ok(value_of(&copy))
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
        let assign = |local: LocalId, indices: Vec<FlatExpr>, value: FlatExpr| {
            FunctionStatement::Assign(
                Place {
                    local,
                    indices: indices.into(),
                },
                value,
            )
        };
        if places.len() > 1 && mentions(&value, &[id]) {
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

/// Assignments of outputs of one call that follow each other become one call.
pub(super) fn join_calls(out: &mut Vec<FunctionStatement>, first: usize) {
    let added = out.split_off(first);
    for statement in added {
        let last = out.len().checked_sub(1).filter(|&last| last >= first);
        match last.map(|last| (last, same_call(&out[last], &statement))) {
            Some((last, true)) => join(&mut out[last], statement),
            _ => out.push(statement),
        }
    }
}

/// The function and the arguments, if a statement does nothing but call it.
fn call_of(statement: &FunctionStatement) -> Option<(FunctionId, &Arc<[FlatExpr]>)> {
    match statement {
        FunctionStatement::Assign(_, FlatExpr::Call(call)) if call.partials.is_empty() => {
            Some((call.function, &call.arguments))
        }
        FunctionStatement::CallAssign {
            function, arguments, ..
        } => Some((*function, arguments)),
        _ => None,
    }
}

fn same_call(one: &FunctionStatement, other: &FunctionStatement) -> bool {
    match (call_of(one), call_of(other)) {
        (Some((function, arguments)), Some((other, others))) => function == other && Arc::ptr_eq(arguments, others),
        _ => false,
    }
}

/// Adds what a call assigns to a statement of the same call.
fn join(call: &mut FunctionStatement, other: FunctionStatement) {
    if let FunctionStatement::Assign(place, FlatExpr::Call(single)) = call {
        *call = FunctionStatement::CallAssign {
            function: single.function,
            arguments: Arc::clone(&single.arguments),
            targets: vec![(single.output, place.clone())],
        };
    }
    let FunctionStatement::CallAssign { targets, .. } = call else {
        return;
    };
    match other {
        FunctionStatement::Assign(place, FlatExpr::Call(single)) => targets.push((single.output, place)),
        FunctionStatement::CallAssign { targets: more, .. } => targets.extend(more),
        _ => {}
    }
}

/// The variables that hold a value.
fn locals_of(var: &FrameVar, list: &mut Vec<LocalId>) {
    match var {
        FrameVar::Local(id, ..) | FrameVar::Sized(id, ..) => list.push(*id),
        FrameVar::Record(_, fields) => fields.iter().for_each(|(_, field)| locals_of(field, list)),
        FrameVar::Records(_, _, elements) => elements.iter().for_each(|element| locals_of(element, list)),
        FrameVar::Value(_) | FrameVar::Open(_) => {}
    }
}

/// Whether a value is computed from one of these variables.
fn mentions(value: &Tensor, locals: &[LocalId]) -> bool {
    value.elems.iter().any(|elem| match elem {
        Elem::Expr(expr) => {
            let mut found = false;
            expr.walk(&mut |expr| found |= matches!(expr, FlatExpr::Local(local, _) if locals.contains(local)));
            found
        }
        Elem::Record(fields) => fields.iter().any(|(_, field)| mentions(field, locals)),
        _ => false,
    })
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
