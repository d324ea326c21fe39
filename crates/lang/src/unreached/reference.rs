//! The types of names in text that is not translated.

use std::rc::Rc;

use saltus_source::Span;
use saltus_syntax::ast::{ComponentReference, ReferencePart, Subscript};

use super::{Shape, Surroundings};
use crate::class::{ClassTable, Entry, Found, SimpleType};
use crate::codes;
use crate::failure::{Failure, Fallible, fail};
use crate::flattener::Flattener;
use crate::ids::{ClassId, InstanceId};
use crate::instance::{ComponentKind, Slot};
use crate::tensor::Ty;

/// A component on the way along a reference.
struct Step {
    class: ClassId,
    rank: usize,
    /// The first of its elements, if they have been made.
    element: Option<InstanceId>,
}

impl Flattener<'_> {
    pub(super) fn shape_of_reference(
        &mut self,
        reference: &ComponentReference,
        around: &Surroundings<'_>,
    ) -> Fallible<Shape> {
        let Some((first, rest)) = reference.parts.split_first() else {
            return Err(Failure::Reported);
        };
        if !reference.global
            && let Some(shape) = iterator(first, around)
        {
            let shape = self.subscripted(shape, &first.subscripts, reference.span, around)?;
            return Ok(if rest.is_empty() { shape } else { Shape::default() });
        }
        if let (Some(instance), false) = (around.scope.instance, reference.global) {
            let table = Rc::clone(&self.instances[instance].table);
            if let Some((index, entry)) = table.find(&first.name.name)
                && entry.component().is_some()
                && self.is_declared_in(around.scope.class, instance, &first.name.name)?
            {
                return self.shape_from_entry(entry, index, Some(instance), first, rest, around);
            }
        }
        let found = if reference.global {
            self.root_class(&first.name.name).map(Found::Class)
        } else {
            self.lookup(around.scope.class, &first.name.name)?
        };
        match found {
            Some(Found::Class(class)) => self.shape_in_class(class, rest, around),
            Some(Found::Component(class, index)) => {
                let table = self.table(class)?;
                self.shape_from_entry(&table.entries[index as usize], index, None, first, rest, around)
            }
            None if reference.as_simple_name().is_some_and(|name| name == "time") => Ok(Shape::scalar(Ty::Real)),
            None => Err(self.unknown_reference(around.scope, &first.name.name, first.name.span)),
        }
    }

    fn shape_in_class(&mut self, class: ClassId, rest: &[ReferencePart], around: &Surroundings<'_>) -> Fallible<Shape> {
        let Some((part, rest)) = rest.split_first() else {
            let is_function = crate::function::is_function_kind(self.kind(class));
            return Ok(if is_function {
                Shape::scalar(Ty::Function)
            } else {
                Shape::default()
            });
        };
        if let Some(SimpleType::Enumeration(enumeration)) = self.table(class)?.simple {
            let literal = self.enumeration_literal(enumeration, &part.name.name, part.name.span)?;
            return Ok(Shape::scalar(literal.ty));
        }
        match self.member(class, &part.name.name)? {
            None => Err(self.unknown(Some(class), &part.name.name, part.name.span)),
            Some(Found::Class(inner)) => self.shape_in_class(inner, rest, around),
            Some(Found::Component(class, index)) => {
                let table = self.table(class)?;
                self.shape_from_entry(&table.entries[index as usize], index, None, part, rest, around)
            }
        }
    }

    /// Follows a reference from a component on.
    fn shape_from_entry(
        &mut self,
        entry: &Entry,
        index: u32,
        instance: Option<InstanceId>,
        part: &ReferencePart,
        rest: &[ReferencePart],
        around: &Surroundings<'_>,
    ) -> Fallible<Shape> {
        let Some(step) = self.step(entry, index, instance)? else {
            return Ok(Shape::default());
        };
        let whole = Shape::new(None, step.rank);
        let here = self.subscripted(whole, &part.subscripts, part.name.span, around)?;
        let table = self.table(step.class)?;
        let Some((next, behind)) = rest.split_first() else {
            return Ok(Shape::new(self.class_type(step.class)?, here.rank));
        };
        let table: Rc<ClassTable> = match step.element {
            Some(element) => Rc::clone(&self.instances[element].table),
            None => table,
        };
        let name = &next.name.name;
        let inner = match table.find(name) {
            Some((index, entry)) if entry.component().is_some() => {
                self.shape_from_entry(entry, index, step.element, next, behind, around)?
            }
            _ if table.is_expandable => return Ok(Shape::default()),
            _ if table.simple.is_some() => {
                return fail(
                    codes::E0201,
                    next.name.span,
                    format!("`{name}` is looked up in a variable that has no elements"),
                );
            }
            _ => match self.member(step.class, name)? {
                Some(Found::Class(class)) => return self.shape_in_class(class, behind, around),
                _ => return Err(self.unknown(Some(step.class), name, next.name.span)),
            },
        };
        let rank = here.rank.zip(inner.rank).map(|(a, b)| a + b);
        Ok(Shape::new(inner.ty, rank))
    }

    /// The type of a component; `None` where declarations do not say, because something in it is redeclared.
    fn step(&mut self, entry: &Entry, index: u32, instance: Option<InstanceId>) -> Fallible<Option<Step>> {
        if let Some(instance) = instance
            && let Some(Slot::Ready(component)) = self.instances[instance].slots.get(index as usize).copied()
        {
            let data = &self.components[component];
            let element = match &data.kind {
                ComponentKind::Complex { elements } => elements.first().copied(),
                _ => None,
            };
            return Ok(Some(Step {
                class: data.class,
                rank: data.dims.len(),
                element,
            }));
        }
        let Some((clause, component)) = entry.component() else {
            return Ok(None);
        };
        if entry.declared.redeclares_inside() || entry.mods.redeclares_inside() {
            return Ok(None);
        }
        let class = match entry.class.get() {
            Some(class) => class,
            None => self.lookup_class(entry.scope, &clause.type_name)?,
        };
        let rank = component.subscripts.len() + clause.subscripts.len() + self.table(class)?.dims.len();
        Ok(Some(Step {
            class,
            rank,
            element: None,
        }))
    }

    /// What subscripts leave.
    pub(super) fn subscripted(
        &mut self,
        shape: Shape,
        subscripts: &[Subscript],
        span: Span,
        around: &Surroundings<'_>,
    ) -> Fallible<Shape> {
        let mut removed = Some(0);
        for subscript in subscripts {
            let Subscript::Expr(expr) = subscript else { continue };
            let index = self.shape_of(expr, around)?;
            if matches!(index.ty, Some(Ty::Real | Ty::String | Ty::Record(_))) {
                return fail(
                    codes::E0301,
                    expr.span,
                    format!("a subscript must be an Integer, but this is {}", index.words()),
                );
            }
            removed = match index.rank {
                Some(0) => removed.map(|count| count + 1),
                Some(_) => removed,
                None => None,
            };
        }
        if let Some(rank) = shape.rank
            && subscripts.len() > rank
        {
            return fail(
                codes::E0302,
                span,
                format!("{} subscripts for {rank} dimensions", subscripts.len()),
            );
        }
        let rank = shape.rank.zip(removed).map(|(rank, removed)| rank - removed);
        Ok(Shape::new(shape.ty, rank))
    }
}

fn iterator(part: &ReferencePart, around: &Surroundings<'_>) -> Option<Shape> {
    let name = &part.name.name;
    let mut current = around.named;
    while let Some(named) = current {
        if named.name == name {
            return Some(named.shape);
        }
        current = named.outer;
    }
    let mut current = around.iterators;
    while let Some(iterators) = current {
        if iterators.name == name {
            return Some(Shape::of(iterators.value));
        }
        current = iterators.outer;
    }
    None
}
