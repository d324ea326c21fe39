//! The sizes of components.

use crate::class::{ClassTable, Entry, SimpleType};
use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Fallible, fail};
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::modification::Scope;
use crate::tensor::{Dims, Ty, volume};
use saltus_source::Span;
use saltus_syntax::ast::{self, ExprKind, Subscript};
use std::rc::Rc;

impl Flattener<'_> {
    /// Dimensions: of the component, then of its clause, then of its type.
    pub(super) fn component_dims(
        &mut self,
        id: ComponentId,
        instance: InstanceId,
        entry: &Entry,
        clause: &ast::ComponentClause,
        component: &ast::Component,
        table: &ClassTable,
    ) -> Fallible<Dims> {
        let own = component.subscripts.iter().map(|s| (s, entry.dims_scope));
        let of_clause = clause.subscripts.iter().map(|s| (s, entry.scope));
        let of_type = table.dims.iter().map(|(s, class)| (s, *class));
        self.sizing.push((instance, entry.name.clone(), Dims::new()));
        let mut result = Ok(());
        let mut types: Vec<Ty> = Vec::new();
        for (position, (subscript, class)) in own.chain(of_clause).chain(of_type).enumerate() {
            let scope = self.bind_scope(class, Some(instance));
            match self.dimension(id, subscript, position, scope) {
                Ok((size, ty)) => {
                    types.push(ty);
                    if let Some((_, _, dims)) = self.sizing.last_mut() {
                        dims.push(size);
                    }
                }
                Err(failure) => {
                    result = Err(failure);
                    break;
                }
            }
        }
        if types.iter().any(|ty| *ty != Ty::Integer) {
            self.components[id].index_types = Some(Rc::new(types));
        }
        let dims = self.sizing.pop().map(|(_, _, dims)| dims).unwrap_or_default();
        result.map(|()| dims)
    }

    pub(super) fn dimension(
        &mut self,
        id: ComponentId,
        subscript: &Subscript,
        position: usize,
        scope: Scope,
    ) -> Fallible<(u32, Ty)> {
        let expr = match subscript {
            Subscript::Colon(span) => {
                let size = self.size_of_binding(id, position, *span)?;
                return Ok((size, Ty::Integer));
            }
            Subscript::Expr(expr) => expr,
        };
        if let ExprKind::Reference(reference) = &expr.kind
            && let Some(name) = reference.to_qualified_name()
            && let Some(count) = self.type_size(scope.class, &name)?
        {
            return Ok(count);
        }
        let ctx = Context::new(scope, Mode::Evaluate);
        let value = self.evaluate(expr, &ctx)?;
        match value.as_integer().filter(|_| value.ty == Ty::Integer) {
            Some(size) if size >= 0 => match u32::try_from(size) {
                Ok(size) => Ok((size, Ty::Integer)),
                Err(_) => fail(
                    codes::E0307,
                    expr.span,
                    format!("an array of {size} elements is too large"),
                ),
            },
            Some(size) => fail(codes::E0306, expr.span, format!("an array cannot have {size} elements")),
            None => fail(
                codes::E0301,
                expr.span,
                format!("the size of an array must be an Integer, but this is {}", value.shape()),
            ),
        }
    }

    /// The size of a dimension given by `Boolean` or an enumeration type.
    pub(crate) fn type_size(&mut self, scope: ClassId, name: &ast::QualifiedName) -> Fallible<Option<(u32, Ty)>> {
        let Some(first) = name.parts.first() else {
            return Ok(None);
        };
        if !matches!(self.lookup(scope, &first.name)?, Some(crate::class::Found::Class(_))) {
            return Ok(None);
        }
        let Ok(class) = self.lookup_class(scope, name) else {
            return Ok(None);
        };
        Ok(match self.table(class)?.simple {
            Some(SimpleType::Boolean) => Some((2, Ty::Boolean)),
            Some(SimpleType::Enumeration(class)) => {
                let (id, count) = self.enumeration(class)?;
                Some((count, Ty::Enumeration(id)))
            }
            _ => None,
        })
    }

    pub(super) fn size_of_binding(&mut self, id: ComponentId, position: usize, span: Span) -> Fallible<u32> {
        let mods = Rc::clone(&self.components[id].mods);
        let start = || {
            mods.child("start")?
                .binding
                .as_ref()
                .filter(|binding| binding.skip == 0)
        };
        let Some(binding) = mods.binding.as_ref().or_else(start) else {
            return fail(
                codes::E0304,
                span,
                format!(
                    "the size of `{}` is open and there is no value to take it from",
                    self.components[id].name
                ),
            );
        };
        let value = match self.binding_value(binding, Mode::Evaluate) {
            Ok(value) => value,
            Err(_) => self.binding_value(binding, Mode::Flat)?,
        };
        match value.dims.get(position) {
            Some(&size) => Ok(size),
            None => fail(
                codes::E0302,
                span,
                format!("the value has no dimension {}", position + 1),
            ),
        }
    }

    /// Refuses arrays that are too large.
    pub(crate) fn check_size(&self, dims: &[u32], span: Span) -> Fallible<()> {
        match volume(dims) {
            Some(count) if count <= self.limits.scalars => Ok(()),
            _ => {
                let shape: Vec<String> = dims.iter().map(u32::to_string).collect();
                fail(
                    codes::E0307,
                    span,
                    format!(
                        "an array of {} elements is more than the {} allowed",
                        shape.join(" x "),
                        self.limits.scalars
                    ),
                )
            }
        }
    }
}
