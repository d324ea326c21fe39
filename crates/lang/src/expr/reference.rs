//! Component references.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{ClassKind, ComponentReference, Name, ReferencePart};
use smallvec::SmallVec;

use super::select::{Index, Subscripts, positions};
use super::{Context, Mode};
use crate::class::{Entry, Found, SimpleType};
use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::{BinaryOp, FlatExpr, Variability, VariableId};
use crate::flattener::Flattener;
use crate::function::check::outside;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::instance::ComponentKind;
use crate::modification::Scope;
use crate::tensor::{Dims, Elem, Tensor, Ty, binary};

/// One thing a reference selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Item {
    Instance(InstanceId),
    /// An element of a component of a simple type, from 0.
    Scalar(ComponentId, u32),
}

/// What a reference selects among the instances, in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub dims: Dims,
    pub items: Vec<Item>,
    /// Dimensions whose index is known at run time only.
    pub dynamic: Vec<(usize, Index)>,
    /// The component of the first name, and whether it is the only name.
    pub first: Option<(ComponentId, bool)>,
    /// The component of the last name, for its type if there are no items.
    pub last: Option<ComponentId>,
}

/// What a reference means.
#[derive(Clone, Debug)]
pub(crate) enum Resolved {
    Selection(Selection),
    Value(Tensor),
    Class(ClassId),
    /// A conditional component that is not there.
    Absent,
}

impl Flattener<'_> {
    /// The value of a reference.
    pub(crate) fn reference(&mut self, reference: &ComponentReference, ctx: &Context<'_>) -> Fallible<Tensor> {
        match self.resolve(reference, ctx)? {
            // Of a record that is passed on only what is used must have been assigned.
            Resolved::Value(value) if ctx.frame.is_some() && value.is_unset() && !value.is_partial_record() => {
                let name: Vec<String> = reference.parts.iter().map(|part| part.name.to_string()).collect();
                fail(
                    codes::E0511,
                    reference.span,
                    format!("`{}` is used before it has been assigned", name.join(".")),
                )
            }
            Resolved::Value(value) => Ok(value),
            Resolved::Selection(selection) => {
                self.check_unconditional(&selection, reference.span)?;
                self.selection_value(selection, reference.span, ctx.mode)
            }
            Resolved::Class(class) => self.class_as_value(class, reference.span),
            Resolved::Absent => fail(
                codes::E0215,
                reference.span,
                "this component is conditional, and its condition is false",
            ),
        }
    }

    /// Conditional components can be named in connections only.
    pub(crate) fn check_unconditional(&self, selection: &Selection, span: Span) -> Fallible<()> {
        let Some((first, _)) = selection.first else {
            return Ok(());
        };
        let component = &self.components[first];
        let table = &self.instances[component.parent].table;
        let Some(entry) = table.entries.get(component.entry as usize) else {
            return Ok(());
        };
        let conditional = entry.component().is_some_and(|(_, c)| c.condition.is_some());
        if conditional && !self.instances[component.parent].is_static {
            return fail(
                codes::E0215,
                span,
                format!(
                    "`{}` is a conditional component and can be used in connections only",
                    entry.name
                ),
            );
        }
        Ok(())
    }

    fn class_as_value(&mut self, class: ClassId, span: Span) -> Fallible<Tensor> {
        if crate::function::is_function_kind(self.kind(class)) {
            return Ok(self.function_value(class));
        }
        fail(
            codes::E0202,
            span,
            format!("`{}` is a class where a value is needed", self.classes[class].name),
        )
    }

    /// What a reference means, without asking for its value.
    pub(crate) fn resolve(&mut self, reference: &ComponentReference, ctx: &Context<'_>) -> Fallible<Resolved> {
        let Some((first, rest)) = reference.parts.split_first() else {
            return Err(crate::failure::Failure::Reported);
        };
        if !reference.global {
            if let Some(value) = iterator_value(ctx, &first.name.name) {
                let value = self.subscript_tensor(value, &first.name.name, &first.subscripts, reference.span, ctx)?;
                return self.fields_of_value(value, rest, ctx).map(Resolved::Value);
            }
            if let Some(frame) = ctx.frame
                && frame.borrow().contains(&first.name.name)
            {
                return self.frame_reference(frame, reference, ctx).map(Resolved::Value);
            }
        }
        let start = self.resolve_first(first, rest.first(), reference.global, ctx)?;
        let Some(start) = start else {
            if reference.as_simple_name().is_some_and(|name| name == "time") {
                let data = matches!(
                    self.kind(ctx.scope.class),
                    ClassKind::Record | ClassKind::OperatorRecord | ClassKind::Connector | ClassKind::Package
                );
                if ctx.frame.is_some() || data {
                    return fail(
                        codes::E0311,
                        reference.span,
                        "`time` cannot be used in a function or record",
                    );
                }
                return Ok(Resolved::Value(Tensor::scalar(Ty::Real, FlatExpr::Time)));
            }
            return Err(self.unknown_reference(ctx.scope, &first.name.name, first.name.span));
        };
        self.resolve_rest(start, first, rest, ctx)
    }

    fn resolve_first(
        &mut self,
        first: &ReferencePart,
        next: Option<&ReferencePart>,
        global: bool,
        ctx: &Context<'_>,
    ) -> Fallible<Option<Start>> {
        let name = &first.name.name;
        if global {
            return Ok(self.root_class(name).map(Start::Class));
        }
        if let Some(instance) = ctx.scope.instance {
            let table = Rc::clone(&self.instances[instance].table);
            if let Some((index, entry)) = table.find(name)
                && entry.component().is_some()
                && self.is_declared_in(ctx.scope.class, instance, name)?
            {
                if let (true, Some(next)) = (entry.outer, next) {
                    self.check_outer_element(entry, next)?;
                }
                // Inside the class a component that is both means the outer one (5.4.1).
                if entry.inner && entry.outer {
                    return self.resolve_outer(instance, entry).map(Start::Component).map(Some);
                }
                return Ok(Some(match self.component(instance, index)? {
                    Some(component) => Start::Component(component),
                    None => Start::Absent,
                }));
            }
        }
        Ok(match self.lookup(ctx.scope.class, name)? {
            None => None,
            Some(Found::Class(class)) => Some(Start::Class(class)),
            Some(Found::Component(class, index)) => {
                self.check_enclosing_constant(class, index, first.name.span)?;
                let instance = match self.bind_scope(class, ctx.scope.instance).instance {
                    Some(instance) => instance,
                    None => self.static_instance(class)?,
                };
                // The instance may be of a derived class, where positions differ.
                let table = Rc::clone(&self.instances[instance].table);
                let index = table.find(name).map_or(index, |(index, _)| index);
                self.start_at(instance, index)?
            }
        })
    }

    /// Whether a class has an element of this name. The instance may be of a class that inherits
    /// from it and has elements of its own, which what is inherited does not see.
    pub(crate) fn is_declared_in(&mut self, class: ClassId, instance: InstanceId, name: &Name) -> Fallible<bool> {
        if self.instances[instance].class == class {
            return Ok(true);
        }
        Ok(self.table(class)?.find(name).is_some())
    }

    /// The inner component may have more elements than the outer declaration speaks of.
    fn check_outer_element(&mut self, entry: &Entry, next: &ReferencePart) -> Fallible<()> {
        let Some((clause, _)) = entry.component() else {
            return Ok(());
        };
        let class = match entry.class.get() {
            Some(known) => known,
            None => {
                let found = self.lookup_class(entry.scope, &clause.type_name)?;
                entry.class.set(Some(found));
                found
            }
        };
        let name = &next.name;
        if self.table(class)?.is_expandable || self.member(class, &name.name)?.is_some() {
            return Ok(());
        }
        Err(self.unknown(Some(class), &name.name, name.span))
    }

    /// Of the classes around, only constants are in reach.
    fn check_enclosing_constant(&mut self, class: ClassId, index: u32, span: Span) -> Fallible<()> {
        let table = self.table(class)?;
        let entry = &table.entries[index as usize];
        let constant = entry
            .component()
            .is_some_and(|(clause, _)| clause.prefix.variability == Some(saltus_syntax::ast::Variability::Constant));
        if constant || entry.outer || entry.inner {
            return Ok(());
        }
        fail(
            codes::E0303,
            span,
            format!(
                "`{}` belongs to the enclosing class `{}` and is not constant",
                entry.name, self.classes[class].name
            ),
        )
    }

    fn start_at(&mut self, instance: InstanceId, index: u32) -> Fallible<Option<Start>> {
        Ok(Some(match self.component(instance, index)? {
            Some(component) => Start::Component(component),
            None => Start::Absent,
        }))
    }

    fn resolve_rest(
        &mut self,
        start: Start,
        first: &ReferencePart,
        rest: &[ReferencePart],
        ctx: &Context<'_>,
    ) -> Fallible<Resolved> {
        match start {
            Start::Absent => Ok(Resolved::Absent),
            Start::Component(component) => {
                let mut selection = Selection {
                    dims: Dims::new(),
                    items: Vec::new(),
                    dynamic: Vec::new(),
                    first: Some((component, rest.is_empty())),
                    last: Some(component),
                };
                self.select_component(&mut selection, component, first, ctx)?;
                self.select_fields(selection, rest, ctx)
            }
            Start::Class(class) => self.resolve_in_class(class, rest, ctx),
        }
    }

    fn resolve_in_class(&mut self, class: ClassId, rest: &[ReferencePart], ctx: &Context<'_>) -> Fallible<Resolved> {
        let Some((part, rest)) = rest.split_first() else {
            return Ok(Resolved::Class(class));
        };
        let table = self.table(class)?;
        if let Some(SimpleType::Enumeration(enumeration)) = table.simple {
            return self
                .enumeration_literal(enumeration, &part.name.name, part.name.span)
                .map(Resolved::Value);
        }
        self.check_visible(ctx.scope.class, class, &part.name.name, part.name.span)?;
        self.check_inside(class, &part.name.name, part.name.span)?;
        match self.member(class, &part.name.name)? {
            None => Err(self.unknown(Some(class), &part.name.name, part.name.span)),
            Some(Found::Class(inner)) => self.resolve_in_class(inner, rest, ctx),
            Some(Found::Component(class, index)) => {
                let instance = self.static_instance(class)?;
                let table = Rc::clone(&self.instances[instance].table);
                let entry = &table.entries[index as usize];
                if entry.outer && ctx.scope.instance.is_some() {
                    let component = self.outer_from(ctx.scope.instance, instance, entry)?;
                    return self.resolve_rest(Start::Component(component), part, rest, ctx);
                }
                let Some(start) = self.start_at(instance, index)? else {
                    return Ok(Resolved::Absent);
                };
                self.resolve_rest(start, part, rest, ctx)
            }
        }
    }

    /// Adds the elements of a component that the subscripts of `part` select.
    fn select_component(
        &mut self,
        selection: &mut Selection,
        component: ComponentId,
        part: &ReferencePart,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let dims = self.components[component].dims.clone();
        if part.subscripts.is_empty() {
            let count = crate::tensor::volume(&dims).unwrap_or(0) as u32;
            selection.dims.extend_from_slice(&dims);
            selection
                .items
                .extend((0..count).map(|offset| self.item(component, offset)));
            return Ok(());
        }
        let subscripts = self.subscripts(&part.subscripts, &dims, part.name.span, ctx)?;
        self.check_index_types(component, &subscripts, part.name.span)?;
        self.select_with(selection, component, &dims, &subscripts);
        Ok(())
    }

    /// A dimension that is given by a type is indexed by values of that type, others by Integers.
    fn check_index_types(&self, component: ComponentId, subscripts: &Subscripts, span: Span) -> Fallible<()> {
        let component = &self.components[component];
        for (position, ty) in subscripts.types.iter().enumerate() {
            let by_type = component
                .index_types
                .as_ref()
                .and_then(|types| types.get(position).copied());
            let wanted = by_type.unwrap_or(Ty::Integer);
            let Some(found) = *ty else { continue };
            if found != wanted {
                return fail(
                    codes::E0301,
                    span,
                    format!(
                        "dimension {} of `{}` is indexed by {}, but this is {}",
                        position + 1,
                        component.name,
                        crate::tensor::shape(wanted, &[]),
                        crate::tensor::shape(found, &[])
                    ),
                );
            }
        }
        Ok(())
    }

    fn select_with(
        &mut self,
        selection: &mut Selection,
        component: ComponentId,
        dims: &[u32],
        subscripts: &Subscripts,
    ) {
        let base = selection.dims.len();
        for (position, index) in subscripts.dynamic() {
            selection.dynamic.push((base + position, index));
        }
        selection.dims.extend_from_slice(&subscripts.dims());
        for offset in positions(dims, &subscripts.lists()) {
            selection.items.push(self.item(component, offset as u32));
        }
    }

    fn item(&self, component: ComponentId, offset: u32) -> Item {
        match &self.components[component].kind {
            ComponentKind::Complex { elements } => Item::Instance(elements[offset as usize]),
            _ => Item::Scalar(component, offset),
        }
    }

    fn select_fields(
        &mut self,
        mut selection: Selection,
        rest: &[ReferencePart],
        ctx: &Context<'_>,
    ) -> Fallible<Resolved> {
        for (position, part) in rest.iter().enumerate() {
            let items = std::mem::take(&mut selection.items);
            let mut next = Selection {
                items: Vec::new(),
                ..selection.clone()
            };
            let mut field_dims: Option<Dims> = None;
            let mut absent = 0;
            for item in &items {
                let Item::Instance(instance) = *item else {
                    return fail(
                        codes::E0201,
                        part.name.span,
                        format!("`{}` is looked up in a variable that has no elements", part.name),
                    );
                };
                let Some(found) = self.child_named(instance, &part.name.name, part.name.span)? else {
                    absent += 1;
                    continue;
                };
                let component = match found {
                    Child::Component(component) => component,
                    // A class reached through a component: functions and constants of its type.
                    Child::Class(class) => {
                        return self.resolve_in_class(class, &rest[position + 1..], ctx);
                    }
                };
                next.last = Some(component);
                let before = next.dims.len();
                let dynamic_before = next.dynamic.len();
                self.select_component(&mut next, component, part, ctx)?;
                let dims: Dims = next.dims[before..].into();
                match &field_dims {
                    None => field_dims = Some(dims),
                    Some(known) if *known == dims => {
                        next.dims.truncate(before);
                        next.dynamic.truncate(dynamic_before);
                    }
                    Some(_) => {
                        return fail(
                            codes::E0302,
                            part.name.span,
                            format!("`{}` has different sizes in the elements", part.name),
                        );
                    }
                }
            }
            if absent > 0 && next.items.is_empty() {
                return Ok(Resolved::Absent);
            }
            if items.is_empty()
                && let Some(component) = selection.last
            {
                // An empty array of components: look at the declared type for the field's type.
                return Ok(Resolved::Value(self.empty_field(
                    component,
                    &next.dims,
                    &rest[position..],
                )?));
            }
            selection = next;
        }
        Ok(Resolved::Selection(selection))
    }

    fn empty_field(&mut self, component: ComponentId, dims: &Dims, rest: &[ReferencePart]) -> Fallible<Tensor> {
        let mut class = self.components[component].class;
        for part in rest {
            class = match self.member(class, &part.name.name)? {
                Some(Found::Component(owner, index)) => self.component_type(owner, index)?,
                _ => return Err(self.unknown(Some(class), &part.name.name, part.name.span)),
            };
        }
        let ty = self.class_type(class)?;
        Ok(Tensor {
            ty,
            dims: dims.clone(),
            elems: SmallVec::new(),
        })
    }

    fn child_named(&mut self, instance: InstanceId, name: &Name, span: Span) -> Fallible<Option<Child>> {
        let table = Rc::clone(&self.instances[instance].table);
        match table.find(name) {
            Some((index, entry)) if entry.component().is_some() => {
                if entry.protected {
                    return Err(crate::failure::error(
                        codes::E0210,
                        span,
                        format!(
                            "`{name}` is protected in `{}`",
                            self.classes[self.instances[instance].class].name
                        ),
                    )
                    .with_secondary(entry.span, "declared here")
                    .into());
                }
                // Seen from outside, a component that is both means the outer one, too.
                if entry.inner && entry.outer {
                    return self.resolve_outer(instance, entry).map(Child::Component).map(Some);
                }
                Ok(self.component(instance, index)?.map(Child::Component))
            }
            _ => {
                let class = self.instances[instance].class;
                match self.member(class, name)? {
                    Some(Found::Class(class)) => Ok(Some(Child::Class(class))),
                    _ => Err(self.unknown(Some(class), name, span)),
                }
            }
        }
    }

    /// The value of what is selected.
    pub(crate) fn selection_value(&mut self, selection: Selection, span: Span, mode: Mode) -> Fallible<Tensor> {
        self.spend(selection.items.len() as u64, span)?;
        let ty = match selection.last {
            Some(component) => self.component_ty(component)?,
            None => Ty::Real,
        };
        let mut elems = SmallVec::with_capacity(selection.items.len());
        for item in &selection.items {
            elems.push(self.item_value(*item, span, mode)?);
        }
        let mut value = Tensor {
            ty,
            dims: selection.dims,
            elems,
        };
        let path = selection
            .last
            .map_or("".into(), |last| Arc::clone(&self.components[last].path));
        // Last dimension first, so that the positions of the others stay.
        let mut dynamic = selection.dynamic;
        dynamic.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
        for (position, index) in dynamic {
            value = self.pick_dynamically(value, position, &index, &path, span)?;
        }
        Ok(value)
    }

    /// The elements that an index selects along one dimension.
    pub(crate) fn pick_dynamically(
        &mut self,
        value: Tensor,
        position: usize,
        index: &Index,
        array: &str,
        span: Span,
    ) -> Fallible<Tensor> {
        match index {
            Index::One(index) => self.pick_one(&value, position, index, array, span),
            Index::Each(list) => {
                let picked = list
                    .iter()
                    .map(|index| self.pick_one(&value, position, index, array, span));
                let parts = picked.collect::<Fallible<Vec<Tensor>>>()?;
                Ok(join_along(&value, parts, position))
            }
        }
    }

    /// `if index == 1 then first else if index == 2 then …` along one dimension.
    fn pick_one(
        &mut self,
        value: &Tensor,
        position: usize,
        index: &FlatExpr,
        array: &str,
        span: Span,
    ) -> Fallible<Tensor> {
        let size = value.dims[position];
        if size == 0 || size > 10_000 {
            return fail(
                codes::E0306,
                span,
                format!("an array of size {size} cannot be indexed at run time"),
            );
        }
        self.spend(value.elems.len() as u64 * 4, span)?;
        let form = slice_at(value, position, 1);
        let missing = self.missing_like(&form, index, &outside(array, size), span);
        self.pick_between(value, position, index, (1, size), &missing, span)
    }

    /// Picks among the indices `first..=last`: by halves where there are many, so that expressions
    /// stay shallow.
    fn pick_between(
        &mut self,
        value: &Tensor,
        position: usize,
        index: &FlatExpr,
        (first, last): (u32, u32),
        missing: &Tensor,
        span: Span,
    ) -> Fallible<Tensor> {
        if first == last {
            let here = FlatExpr::Integer(i64::from(first));
            let test = binary(BinaryOp::Equal, index.clone(), here, span);
            return self.join_branches(&test, slice_at(value, position, first), missing.clone(), span);
        }
        let (op, bound) = if last - first < 16 {
            (BinaryOp::Equal, first)
        } else {
            (BinaryOp::LessEqual, first + (last - first) / 2)
        };
        let test = binary(op, index.clone(), FlatExpr::Integer(i64::from(bound)), span);
        let lower = match op {
            BinaryOp::Equal => slice_at(value, position, first),
            _ => self.pick_between(value, position, index, (first, bound), missing, span)?,
        };
        let upper = self.pick_between(value, position, index, (bound + 1, last), missing, span)?;
        self.join_branches(&test, lower, upper, span)
    }

    fn item_value(&mut self, item: Item, span: Span, mode: Mode) -> Fallible<Elem> {
        match item {
            Item::Scalar(component, offset) => self.scalar_value(component, offset, span, mode),
            Item::Instance(instance) => self.instance_value(instance, span, mode),
        }
    }

    fn scalar_value(&mut self, component: ComponentId, offset: u32, span: Span, mode: Mode) -> Fallible<Elem> {
        let data = &self.components[component];
        match &data.kind {
            ComponentKind::Primitive { first: Some(first), .. }
                if mode == Mode::Flat && data.variability != Variability::Constant =>
            {
                Ok(Elem::Expr(FlatExpr::Variable(VariableId(first.0 + offset))))
            }
            ComponentKind::External => {
                let value = self.component_value(component, span)?;
                Ok(value.elems[offset as usize].clone())
            }
            _ => {
                let value = self.component_value(component, span)?;
                match value.elems.get(offset as usize) {
                    Some(elem) => Ok(elem.clone()),
                    None => fail(codes::E0306, span, "the value has too few elements"),
                }
            }
        }
    }

    /// The record of all components of an instance.
    pub(crate) fn instance_value(&mut self, instance: InstanceId, span: Span, mode: Mode) -> Fallible<Elem> {
        self.enter(span)?;
        let result = self.instance_fields(instance, span, mode);
        self.leave();
        result
    }

    fn instance_fields(&mut self, instance: InstanceId, span: Span, mode: Mode) -> Fallible<Elem> {
        let table = Rc::clone(&self.instances[instance].table);
        let mut fields = Vec::new();
        for (index, entry) in table.entries.iter().enumerate() {
            if entry.component().is_none() {
                continue;
            }
            let Some(component) = self.component(instance, index as u32)? else {
                continue;
            };
            let dims = self.components[component].dims.clone();
            let count = crate::tensor::volume(&dims).unwrap_or(0) as u32;
            let items = (0..count).map(|offset| self.item(component, offset)).collect();
            let selection = Selection {
                dims,
                items,
                dynamic: Vec::new(),
                first: None,
                last: Some(component),
            };
            fields.push((entry.name.clone(), self.selection_value(selection, span, mode)?));
        }
        Ok(Elem::Record(Rc::new(fields)))
    }

    fn component_ty(&mut self, component: ComponentId) -> Fallible<Ty> {
        let data = &self.components[component];
        Ok(match &data.kind {
            ComponentKind::Primitive { ty, .. } => Ty::of(*ty),
            ComponentKind::External => Ty::External,
            ComponentKind::Complex { .. } => Ty::Record(data.class),
        })
    }

    /// The type of the values of a class.
    pub(crate) fn class_type(&mut self, class: ClassId) -> Fallible<Ty> {
        let table = self.table(class)?;
        Ok(match table.simple {
            Some(SimpleType::Real) => Ty::Real,
            Some(SimpleType::Integer) => Ty::Integer,
            Some(SimpleType::Boolean) => Ty::Boolean,
            Some(SimpleType::String) => Ty::String,
            Some(SimpleType::Enumeration(class)) => Ty::Enumeration(self.enumeration(class)?.0),
            Some(SimpleType::ExternalObject) => Ty::External,
            Some(SimpleType::Clock) => Ty::Clock,
            None if crate::function::is_function_kind(self.kind(class)) => Ty::Function,
            None => Ty::Record(class),
        })
    }

    /// Fields and subscripts of a value.
    pub(crate) fn fields_of_value(
        &mut self,
        mut value: Tensor,
        parts: &[ReferencePart],
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        for part in parts {
            let Some(field) = value.field(&part.name.name) else {
                return match value.ty {
                    Ty::Record(class) => Err(self.unknown(Some(class), &part.name.name, part.name.span)),
                    _ => fail(
                        codes::E0201,
                        part.name.span,
                        format!("`{}` is looked up in {}", part.name, value.shape()),
                    ),
                };
            };
            value = self.subscript_tensor(field, &part.name.name, &part.subscripts, part.name.span, ctx)?;
        }
        Ok(value)
    }

    /// Complains about a name, with the components in reach as suggestions.
    pub(crate) fn unknown_reference(&mut self, scope: Scope, name: &Name, span: Span) -> crate::failure::Failure {
        let mut names: Vec<&str> = Vec::new();
        let suggests = self.may_suggest();
        let table = match scope.instance {
            Some(instance) => Some(&self.instances[instance].table),
            None => self.classes[scope.class].table.as_ref(),
        };
        if let Some(table) = table.filter(|_| suggests) {
            names.extend(table.by_name.keys().map(|n| n.as_str()));
        }
        let message = format!("`{name}` is not known in `{}`", self.classes[scope.class].name);
        let mut diagnostic = crate::failure::error(codes::E0201, span, message);
        if let Some(other) = crate::failure::did_you_mean(name, names) {
            diagnostic = self.suggesting(diagnostic, name, span, other);
        }
        diagnostic.into()
    }
}

enum Start {
    Class(ClassId),
    Component(ComponentId),
    Absent,
}

enum Child {
    Component(ComponentId),
    Class(ClassId),
}

fn iterator_value(ctx: &Context<'_>, name: &Name) -> Option<Tensor> {
    let mut current = ctx.iterators;
    while let Some(iterators) = current {
        if iterators.name == name {
            return Some(iterators.value.clone());
        }
        current = iterators.outer;
    }
    None
}

/// Slices of a value, next to each other along a dimension.
fn join_along(value: &Tensor, parts: Vec<Tensor>, position: usize) -> Tensor {
    let inner: usize = value.dims[position + 1..].iter().map(|&d| d as usize).product();
    let outer: usize = value.dims[..position].iter().map(|&d| d as usize).product();
    let mut dims = value.dims.clone();
    dims[position] = parts.len() as u32;
    let blocks = (0..outer).flat_map(|block| parts.iter().map(move |part| (part, block)));
    let elems = blocks.flat_map(|(part, block)| part.elems[block * inner..(block + 1) * inner].iter().cloned());
    Tensor {
        ty: value.ty,
        dims,
        elems: elems.collect(),
    }
}

/// The part of a value with index `k` in one dimension, which disappears.
pub(crate) fn slice_at(value: &Tensor, position: usize, k: u32) -> Tensor {
    let mut lists: Vec<Vec<u32>> = value.dims.iter().map(|&d| (1..=d).collect()).collect();
    lists[position] = vec![k];
    let mut dims = value.dims.clone();
    dims.remove(position);
    let elems = positions(&value.dims, &lists).map(|p| value.elems[p].clone()).collect();
    Tensor {
        ty: value.ty,
        dims,
        elems,
    }
}
