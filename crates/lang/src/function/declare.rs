//! Variables of functions that are lowered.

use super::frame::FrameVar;
use super::lower::{Builder, Shape, shape_of};
use super::open::{is_too_early, rather};
use super::signature::Formal;
use super::store::{Target, plain_part, value_of};
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible};
use crate::flat::{Local, LocalId, ScalarType};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::{Mod, Scope};
use crate::tensor::{Dims, Elem, Tensor, Ty};
use saltus_syntax::ast::{ExprKind, Name};
use std::rc::Rc;
use std::sync::Arc;

/// The text that a modification gives, if it is a literal.
fn written_text(m: &Mod) -> Option<Arc<str>> {
    match &m.binding.as_ref()?.source.expr.kind {
        ExprKind::String(text) => Some(text.as_str().into()),
        _ => None,
    }
}

impl Flattener<'_> {
    /// Variables for a value of this form.
    pub(super) fn declare_like(
        &mut self,
        builder: &mut Builder,
        name: &str,
        value: &Tensor,
        list: &mut Vec<LocalId>,
    ) -> Fallible<FrameVar> {
        if let Some(ty) = value.ty.scalar() {
            let id = builder.locals.push(Local::new(name, ty, value.dims.to_vec()));
            list.push(id);
            return Ok(FrameVar::Local(id, ty, value.dims.clone()));
        }
        let Ty::Record(class) = value.ty else {
            return Err(Failure::Reported);
        };
        if !value.is_scalar() {
            let mut elements = Vec::with_capacity(value.elems.len());
            for (offset, elem) in value.elems.iter().enumerate() {
                let name = crate::instance::element_path(name, &value.dims, offset);
                let element = Tensor {
                    ty: value.ty,
                    dims: Dims::new(),
                    elems: [elem.clone()].into_iter().collect(),
                };
                elements.push(self.declare_like(builder, &name, &element, list)?);
            }
            return Ok(FrameVar::Records(class, value.dims.clone(), elements));
        }
        let Some(Elem::Record(fields)) = value.elems.first() else {
            return Err(Failure::Reported);
        };
        let mut vars = Vec::new();
        let first = builder.locals.len();
        for (field, value) in fields.iter() {
            let var = self.declare_like(builder, &format!("{name}.{field}"), value, list)?;
            self.declare_unit(builder, &var, class, field);
            vars.push((field.clone(), var));
        }
        builder
            .fields
            .extend((first..builder.locals.len()).map(|at| LocalId(at as u32)));
        Ok(FrameVar::Record(class, vars))
    }

    /// A variable of a function has the unit that its declaration says.
    pub(super) fn declare_unit(&mut self, builder: &mut Builder, var: &FrameVar, class: ClassId, name: &Name) {
        if let FrameVar::Local(id, ScalarType::Real, _) = var {
            builder.locals[*id].unit = self.declared_unit(class, name);
        }
    }

    /// The unit of an element of a class, if it is written out in its declaration or its type.
    pub(super) fn declared_unit(&mut self, class: ClassId, name: &Name) -> Option<Arc<str>> {
        let table = self.table(class).ok()?;
        let place = table.entries.iter().position(|entry| entry.name == *name)?;
        let entry = &table.entries[place];
        let own = crate::modification::merge(&entry.mods, &entry.declared);
        if let Some(unit) = own.child("unit") {
            return written_text(unit);
        }
        let of_type = self.component_type(class, place as u32).ok()?;
        let table = self.table(of_type).ok()?;
        table.attributes.child("unit").and_then(|unit| written_text(unit))
    }

    /// A function whose bound inputs are arguments, too.
    pub(super) fn declare_function(
        &mut self,
        builder: &mut Builder,
        name: &str,
        value: &Tensor,
        list: &mut Vec<LocalId>,
    ) -> Fallible<Tensor> {
        let Some(Elem::Function(function)) = value.elems.first() else {
            return Err(Failure::Reported);
        };
        let mut bound = Vec::new();
        for (input, value) in &function.bound {
            let name = format!("{name}.{input}");
            let value = match shape_of(value) {
                Shape::Known(value) => value,
                Shape::Open(..) => value_of(&self.declare_like(builder, &name, value, list)?),
                Shape::Function(..) => self.declare_function(builder, &name, value, list)?,
            };
            bound.push((input.clone(), value));
        }
        Ok(self.bound_function_value(function.class, bound))
    }

    /// A variable of the function with the value of its declaration.
    pub(super) fn declare_local(
        &mut self,
        class: ClassId,
        formal: &Formal,
        is_output: bool,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Some(frame) = ctx.frame else { return Ok(()) };
        let declare = |var: FrameVar| frame.borrow_mut().set(formal.name.clone(), var);
        let initial = match self.initial_local(class, formal, builder, ctx) {
            // Perhaps element by element, in loops.
            Err(failure) if self.functions.may_open && is_too_early(&failure) => Err(failure),
            initial => Ok(initial?),
        };
        let changes = builder.assigned.contains(&formal.name);
        if let Ok(Some(value)) = &initial
            && value.is_known()
            && !changes
            && !is_output
        {
            let ty = self.class_type(formal.class)?;
            declare(FrameVar::Value(value.clone().coerce(ty)));
            return Ok(());
        }
        let known = self.local_dims(class, formal, ctx);
        if self.functions.may_open
            && !is_output
            && known.as_ref().is_err_and(is_too_early)
            && let Some(var) = self.declare_open(class, formal, builder, ctx)?
        {
            declare(var);
            return self.give_open(class, formal, builder, ctx);
        }
        let (dims, open) = known?;
        let dims = match (&initial, open) {
            (Ok(Some(value)), true) => value.dims.clone(),
            (Ok(None), true) => {
                declare(FrameVar::Open(formal.class));
                return Ok(());
            }
            _ => dims,
        };
        if open && let Err(failure) = initial {
            return Err(failure);
        }
        let var = self.declare_class(builder, &formal.name, formal.class, &dims, &mut Vec::new())?;
        self.declare_unit(builder, &var, class, &formal.name);
        declare(var.clone());
        match initial {
            Ok(Some(value)) => {
                let part = plain_part(&formal.name, formal.span);
                self.store_local(&var, &Target::whole(&part), value, builder, ctx)
            }
            Ok(None) => Ok(()),
            Err(failure) => {
                let given = self.give_open(class, formal, builder, ctx);
                given.map_err(|other| rather(failure, other))
            }
        }
    }

    /// The value of a declaration, if there is one.
    fn initial_local(
        &mut self,
        class: ClassId,
        formal: &Formal,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<Option<Tensor>> {
        let table = self.table(class)?;
        let entry = &table.entries[formal.entry as usize];
        let mods = crate::modification::merge(&entry.mods, &entry.declared);
        match &mods.binding {
            Some(binding) => {
                let scope = Scope {
                    class: binding.source.scope.class,
                    instance: None,
                };
                let inner = Context { scope, ..*ctx };
                self.emitting(builder, |this| this.expr(&binding.source.expr, &inner))
                    .map(Some)
            }
            // A record has the values that its class gives to fields, and those of modifications.
            None if formal.rank == 0
                && self.table(formal.class)?.simple.is_none()
                && !super::is_function_kind(self.kind(formal.class)) =>
            {
                let value = self.default_record(formal.class, &mods, ctx)?;
                Ok((!mods.children.is_empty() || value.is_partial_record()).then_some(value))
            }
            None => Ok(None),
        }
    }

    /// Gives a variable the value of its declaration element by element, in loops.
    fn give_open(&mut self, class: ClassId, formal: &Formal, builder: &mut Builder, ctx: &Context<'_>) -> Fallible<()> {
        let table = self.table(class)?;
        let entry = &table.entries[formal.entry as usize];
        let mods = crate::modification::merge(&entry.mods, &entry.declared);
        let Some(binding) = &mods.binding else { return Ok(()) };
        let scope = Scope {
            class: binding.source.scope.class,
            instance: None,
        };
        let target = saltus_syntax::ast::ComponentReference {
            global: false,
            parts: vec![plain_part(&formal.name, formal.span)],
            span: formal.span,
        };
        self.lower_open_assign(&target, &binding.source.expr, builder, &Context { scope, ..*ctx })
    }

    pub(super) fn declare_class(
        &mut self,
        builder: &mut Builder,
        name: &str,
        class: ClassId,
        dims: &Dims,
        ids: &mut Vec<LocalId>,
    ) -> Fallible<FrameVar> {
        let table = self.table(class)?;
        if let Some(simple) = table.simple {
            let ty = self.simple_scalar(simple)?;
            let id = builder.locals.push(Local::new(name, ty, dims.to_vec()));
            ids.push(id);
            return Ok(FrameVar::Local(id, ty, dims.clone()));
        }
        let scope = Scope { class, instance: None };
        let value = self.default_record(class, &Rc::default(), &Context::new(scope, Mode::Evaluate))?;
        self.declare_like(builder, name, &value.repeat(dims), ids)
    }
}
