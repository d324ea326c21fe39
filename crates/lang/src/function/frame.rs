//! The variables of a function that is evaluated or lowered.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_source::Span;
use saltus_syntax::ast::{ComponentReference, Expr, Name, ReferencePart, Subscript};

use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Fallible, fail};
use crate::flat::{FlatExpr, LocalId, ScalarType};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::tensor::{Dims, Tensor, Ty};

/// A variable of a function.
#[derive(Clone, Debug)]
pub(crate) enum FrameVar {
    /// Its value now.
    Value(Tensor),
    /// A variable of the function being lowered.
    Local(LocalId, ScalarType, Dims),
    /// An array whose sizes are known when the function runs, and the variables that hold them.
    Sized(LocalId, ScalarType, Vec<LocalId>),
    /// A variable whose size is open until it is assigned.
    Open(ClassId),
    /// A record of such variables.
    Record(ClassId, Vec<(Name, FrameVar)>),
    /// An array of records.
    Records(ClassId, Dims, Vec<FrameVar>),
}

/// All variables of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    vars: FxHashMap<Name, FrameVar>,
    /// Variables whose size is what is assigned to them.
    open: FxHashSet<Name>,
}

impl Frame {
    pub(crate) fn contains(&self, name: &Name) -> bool {
        self.vars.contains_key(name)
    }

    pub(crate) fn get(&self, name: &Name) -> Option<&FrameVar> {
        self.vars.get(name)
    }

    pub(crate) fn value(&self, name: &Name) -> Option<&Tensor> {
        match self.vars.get(name) {
            Some(FrameVar::Value(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn set(&mut self, name: Name, var: FrameVar) {
        self.vars.insert(name, var);
    }

    /// Says that a variable is of any size.
    pub(crate) fn set_open(&mut self, name: Name) {
        self.open.insert(name);
    }

    pub(crate) fn is_open(&self, name: &Name) -> bool {
        self.open.contains(name)
    }

    pub(crate) fn remove(&mut self, name: &Name) -> Option<FrameVar> {
        self.vars.remove(name)
    }

    /// The names in a fixed order.
    pub(crate) fn names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.vars.keys().cloned().collect();
        names.sort();
        names
    }
}

impl Flattener<'_> {
    /// The value of a reference that starts with a variable of the function.
    pub(crate) fn frame_reference(
        &mut self,
        frame: &RefCell<Frame>,
        reference: &ComponentReference,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let Some((first, rest)) = reference.parts.split_first() else {
            return Err(crate::failure::Failure::Reported);
        };
        let var = frame.borrow().get(&first.name.name).cloned();
        match var {
            Some(var) => self.frame_part(&var, first, rest, reference.span, ctx),
            None => Err(crate::failure::Failure::Reported),
        }
    }

    fn frame_part(
        &mut self,
        var: &FrameVar,
        part: &ReferencePart,
        rest: &[ReferencePart],
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        match var {
            FrameVar::Value(value) => {
                let value = self.subscript_tensor(value.clone(), &part.name.name, &part.subscripts, span, ctx)?;
                self.fields_of_value(value, rest, ctx)
            }
            FrameVar::Open(_) => fail(codes::E0304, span, format!("`{}` has not been assigned yet", part.name)),
            FrameVar::Local(id, ty, dims) => {
                if ctx.mode == Mode::Evaluate {
                    return fail(
                        codes::E0304,
                        span,
                        format!("`{}` is known when the function is called only", part.name),
                    );
                }
                if let Some(next) = rest.first() {
                    return fail(
                        codes::E0201,
                        next.name.span,
                        format!("`{}` is looked up in a variable that has no elements", next.name),
                    );
                }
                self.local_value(*id, *ty, dims, part, span, ctx)
            }
            FrameVar::Sized(id, ty, sizes) => {
                let scalar = part.subscripts.len() == sizes.len()
                    && !part.subscripts.iter().any(|s| matches!(s, Subscript::Colon(_)));
                if !scalar || ctx.mode == Mode::Evaluate || !rest.is_empty() {
                    return fail(
                        codes::E0304,
                        span,
                        format!("the size of `{}` is known when the function runs only", part.name),
                    );
                }
                let mut indices = Vec::new();
                for subscript in &part.subscripts {
                    let Subscript::Expr(index) = subscript else { continue };
                    indices.push(self.run_time_index(index, ctx)?);
                }
                Ok(Tensor::scalar(Ty::of(*ty), FlatExpr::Local(*id, indices.into())))
            }
            FrameVar::Records(class, dims, elements) => {
                if ctx.mode == Mode::Evaluate {
                    return fail(
                        codes::E0304,
                        span,
                        format!("`{}` is known when the function is called only", part.name),
                    );
                }
                let elems = elements.iter().flat_map(|e| super::store::value_of(e).elems).collect();
                let value = Tensor {
                    ty: Ty::Record(*class),
                    dims: dims.clone(),
                    elems,
                };
                let value = self.subscript_tensor(value, &part.name.name, &part.subscripts, span, ctx)?;
                self.fields_of_value(value, rest, ctx)
            }
            FrameVar::Record(class, fields) => {
                if !part.subscripts.is_empty() {
                    return fail(codes::E0302, span, "this record is no array");
                }
                match rest.split_first() {
                    None => self.record_var_value(*class, fields, span, ctx),
                    Some((next, behind)) => match fields.iter().find(|(n, _)| *n == next.name.name) {
                        Some((_, field)) => self.frame_part(field, next, behind, span, ctx),
                        None => Err(self.unknown(Some(*class), &next.name.name, next.name.span)),
                    },
                }
            }
        }
    }

    /// An index of an array whose size is known when the function runs only.
    pub(super) fn run_time_index(&mut self, index: &Expr, ctx: &Context<'_>) -> Fallible<FlatExpr> {
        let value = self.expr(index, ctx)?;
        if !value.is_scalar() {
            return fail(
                codes::E0304,
                index.span,
                "what this selects is known when the function runs only",
            );
        }
        match crate::expr::into_scalar(value, index.span)? {
            (Ty::Integer, index) => Ok(index),
            (ty, _) => fail(
                codes::E0301,
                index.span,
                format!("a subscript must be an Integer, but this is {}", ty.name()),
            ),
        }
    }

    fn record_var_value(
        &mut self,
        class: ClassId,
        fields: &[(Name, FrameVar)],
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let mut values = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            let part = ReferencePart {
                name: saltus_syntax::ast::Ident {
                    name: name.clone(),
                    span,
                },
                subscripts: Vec::new(),
            };
            values.push((name.clone(), self.frame_part(field, &part, &[], span, ctx)?));
        }
        Ok(Tensor::record(class, values.into()))
    }

    fn local_value(
        &mut self,
        id: LocalId,
        ty: ScalarType,
        dims: &Dims,
        part: &ReferencePart,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let (dims, places) = self.local_places(dims, part, span, ctx)?;
        let elems = places.into_iter().map(|indices| FlatExpr::Local(id, indices.into()));
        Ok(Tensor::array(Ty::of(ty), dims, elems))
    }

    /// The dimensions that subscripts leave, and the indices of every element.
    pub(crate) fn local_places(
        &mut self,
        dims: &[u32],
        part: &ReferencePart,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<(Dims, Vec<Vec<FlatExpr>>)> {
        let subscripts = self.subscripts(&part.subscripts, dims, span, ctx)?;
        Ok(subscripts.places())
    }
}
