//! Making instances and components.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::{self, ClassKind, ExprKind, Name, Subscript, Variability as AstVariability};

use super::{Component, ComponentKind, Inherited, Instance, Slot, ValueState};
use crate::class::{Entry, SimpleType, Table};
use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{Causality, FlatVariable, Idx, ProvenanceKind, ScalarType, Variability, VariableId};
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::modification::{Binding, BindingSource, Mod, Scope, Selector, merge};
use crate::tensor::{Dims, volume};

impl Flattener<'_> {
    /// The component with this position in the table of an instance; `None` if its condition is
    /// false.
    pub(crate) fn component(&mut self, instance: InstanceId, index: u32) -> Fallible<Option<ComponentId>> {
        match self.instances[instance].slots[index as usize] {
            Slot::Ready(component) => return Ok(Some(component)),
            Slot::Absent => return Ok(None),
            Slot::Failed => return Err(Failure::Reported),
            Slot::Building => {
                let table = &self.instances[instance].table;
                let entry = &table.entries[index as usize];
                return fail(
                    codes::E0305,
                    entry.span,
                    format!("the size or condition of `{}` depends on itself", entry.name),
                );
            }
            Slot::Unvisited => {}
        }
        let table = Rc::clone(&self.instances[instance].table);
        let entry = &table.entries[index as usize];
        self.enter(entry.span).inspect_err(|_| {
            self.instances[instance].slots[index as usize] = Slot::Failed;
        })?;
        self.instances[instance].slots[index as usize] = Slot::Building;
        let result = self.make_component(instance, index, entry);
        self.leave();
        let slot = &mut self.instances[instance].slots[index as usize];
        match result {
            Ok(Some(component)) => {
                *slot = Slot::Ready(component);
                Ok(Some(component))
            }
            Ok(None) => {
                *slot = Slot::Absent;
                Ok(None)
            }
            Err(failure) => {
                *slot = Slot::Failed;
                self.report(failure);
                Err(Failure::Reported)
            }
        }
    }

    /// The scope with the instance of its class, found from an instance outwards.
    pub(crate) fn bind_scope(&self, class: ClassId, from: Option<InstanceId>) -> Scope {
        let mut current = from;
        while let Some(instance) = current {
            let data = &self.instances[instance];
            if data.class == class || data.table.scopes.contains(&class) {
                return Scope {
                    class,
                    instance: Some(instance),
                };
            }
            current = data.parent;
        }
        Scope {
            class,
            instance: self.classes[class].static_instance,
        }
    }

    /// Gives every value of a modification the instance it is to be evaluated in.
    pub(crate) fn bind(&self, mods: &Rc<Mod>, from: InstanceId) -> Rc<Mod> {
        if !needs_binding(mods) {
            return Rc::clone(mods);
        }
        let binding = mods.binding.as_ref().map(|binding| self.bind_binding(binding, from));
        let children = mods
            .children
            .iter()
            .map(|(name, child)| (name.clone(), self.bind(child, from)))
            .collect();
        Rc::new(Mod {
            binding,
            children,
            ..(**mods).clone()
        })
    }

    fn bind_binding(&self, binding: &Binding, from: InstanceId) -> Binding {
        let source = &binding.source;
        if source.scope.instance.is_some() {
            return binding.clone();
        }
        let scope = self.bind_scope(source.scope.class, Some(from));
        if scope.instance.is_none() {
            return binding.clone();
        }
        let source = Rc::new(BindingSource {
            expr: Arc::clone(&source.expr),
            scope,
            flat: RefCell::new(None),
            value: RefCell::new(None),
        });
        Binding {
            source,
            ..binding.clone()
        }
    }

    /// The instance that stands for a class, for the constants in it.
    pub(crate) fn static_instance(&mut self, class: ClassId) -> Fallible<InstanceId> {
        if let Some(known) = self.classes[class].static_instance {
            return Ok(known);
        }
        let table = self.table(class)?;
        let mods = Rc::default();
        let path = Arc::clone(&self.classes[class].name);
        let id = self.new_instance(class, table, None, path, mods, root_inheritance(), true);
        self.classes[class].static_instance = Some(id);
        Ok(id)
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new_instance(
        &mut self,
        class: ClassId,
        table: Rc<Table>,
        parent: Option<InstanceId>,
        path: Arc<str>,
        mods: Rc<Mod>,
        inherited: Inherited,
        is_static: bool,
    ) -> InstanceId {
        let slots = vec![Slot::Unvisited; table.entries.len()];
        self.instances.push(Instance {
            class,
            table,
            parent,
            path,
            mods,
            slots,
            is_static,
            inherited,
        })
    }

    fn make_component(&mut self, instance: InstanceId, index: u32, entry: &Entry) -> Fallible<Option<ComponentId>> {
        let Some((clause, component)) = entry.component() else {
            return fail(codes::E0202, entry.span, format!("`{}` is not a component", entry.name));
        };
        self.spend(10, entry.span)?;
        if let Some(condition) = &component.condition {
            let scope = self.bind_scope(entry.condition_scope, Some(instance));
            let ctx = Context::new(scope, Mode::Evaluate);
            if !self.evaluate_condition(condition, &ctx)? {
                return Ok(None);
            }
        }
        if entry.outer && !entry.inner {
            return self.resolve_outer(instance, entry).map(Some);
        }
        let mods = self.component_mods(instance, entry)?;
        let class = self.component_class(instance, index, entry, &mods)?;
        let table = self.table(class)?;
        self.check_component_type(class, &table, entry, clause)?;
        let owner = &self.instances[instance];
        self.check_prefixes(class, &table, &owner.inherited, entry, clause)?;
        let inherited = inherit(&owner.inherited, entry, clause, component, &table);
        let path = join_path(&owner.path, &entry.name);
        let flow = clause.prefix.connector.or(owner.inherited.flow);
        let causality = clause
            .prefix
            .causality
            .or(table.causality)
            .or(owner.inherited.causality);
        let id = self.components.push(Component {
            parent: instance,
            entry: index,
            name: entry.name.clone(),
            path,
            class,
            dims: Dims::new(),
            kind: ComponentKind::External,
            variability: inherited.variability,
            causality,
            flow,
            mods,
            value: ValueState::Unknown,
            span: entry.span,
            inherited,
        });
        let dims = self.component_dims(id, instance, entry, clause, component, &table)?;
        self.check_size(&dims, entry.span)?;
        self.components[id].dims = dims;
        self.make_elements(id, &table)?;
        self.pending.push(id);
        Ok(Some(id))
    }

    /// Everything said about a component: from outside, from extends clauses, by its declaration.
    fn component_mods(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<Rc<Mod>> {
        let outer = self.instances[instance]
            .mods
            .child(&entry.name)
            .cloned()
            .unwrap_or_default();
        let middle = self.bind(&entry.mods, instance);
        let inner = self.bind(&entry.declared, instance);
        if entry.is_final && (outer.binding.is_some() || !outer.children.is_empty()) {
            let span = outer.span.unwrap_or(entry.span);
            return fail(
                codes::E0206,
                span,
                format!("`{}` is declared final and cannot be modified", entry.name),
            );
        }
        if middle.is_final && outer.binding.is_some() {
            let span = outer.span.unwrap_or(entry.span);
            return fail(
                codes::E0206,
                span,
                format!("`{}` is final and cannot be modified", entry.name),
            );
        }
        let mods = self.merge_checked(&middle, &inner)?;
        self.merge_checked(&outer, &mods)
    }

    /// The type with the redeclarations inside the component's modifications applied.
    fn component_class(
        &mut self,
        instance: InstanceId,
        index: u32,
        entry: &Entry,
        mods: &Rc<Mod>,
    ) -> Fallible<ClassId> {
        let class = match entry.class.get() {
            Some(class) => class,
            None => {
                let Some((clause, _)) = entry.component() else {
                    return Err(Failure::Reported);
                };
                let class = self.lookup_class(entry.scope, &clause.type_name)?;
                entry.class.set(Some(class));
                if let (Some((scope, name)), Some(span)) = (&entry.constraint, entry.mods.span)
                    && let Ok(constraint) = self.lookup_class(*scope, name)
                {
                    self.check_constraint(class, constraint, span)?;
                }
                class
            }
        };
        let _ = (instance, index);
        self.check_modifiers(mods, class, true)?;
        if !mods.redeclares_inside() {
            return Ok(class);
        }
        let redeclares = Mod {
            redeclare: None,
            ..mods.only_redeclares()
        };
        Ok(self.derived_class(class, Rc::new(redeclares)))
    }

    fn check_component_type(
        &mut self,
        class: ClassId,
        table: &Table,
        entry: &Entry,
        clause: &ast::ComponentClause,
    ) -> Fallible<()> {
        let def = self.def(class);
        let name = &self.classes[class].name;
        let span = clause.type_name.span;
        match def.kind {
            ClassKind::Package | ClassKind::Operator => {
                return fail(codes::E0202, span, format!("`{name}` is a package, not a type"));
            }
            ClassKind::ExpandableConnector => {
                return fail(codes::E0214, span, "expandable connectors are not supported yet");
            }
            _ => {}
        }
        if matches!(table.simple, Some(SimpleType::Clock)) {
            return fail(codes::E0214, span, "clocks are not supported yet");
        }
        if def.partial && table.simple.is_none() && !crate::function::is_function_kind(def.kind) {
            let mut diagnostic = error(
                codes::E0208,
                span,
                format!("`{name}` is partial: `{}` cannot be of this type", entry.name),
            );
            if entry.replaceable {
                diagnostic = diagnostic.with_help("redeclare the component with a complete type");
            }
            return Err(diagnostic.into());
        }
        Ok(())
    }

    fn resolve_outer(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<ComponentId> {
        let mut current = self.instances[instance].parent;
        while let Some(ancestor) = current {
            let table = Rc::clone(&self.instances[ancestor].table);
            if let Some((index, found)) = table.find(&entry.name)
                && found.inner
            {
                return match self.component(ancestor, index)? {
                    Some(component) => {
                        self.check_outer(entry, component)?;
                        Ok(component)
                    }
                    None => fail(
                        codes::E0209,
                        entry.span,
                        format!("the inner `{}` is conditional, and its condition is false", entry.name),
                    ),
                };
            }
            current = self.instances[ancestor].parent;
        }
        if let Some(component) = self.automatic_inner(instance, entry)? {
            return Ok(component);
        }
        let path = &self.instances[instance].path;
        let place = if path.is_empty() {
            "this model".to_owned()
        } else {
            format!("`{path}`")
        };
        Err(error(
            codes::E0209,
            entry.span,
            format!("`outer {}` has no `inner` around it", entry.name),
        )
        .with_note(format!("used in {place}"))
        .with_help(format!("declare `inner … {}` in the model", entry.name))
        .into())
    }

    /// Without an inner declaration one is made in the model, if the type is complete (5.4).
    fn automatic_inner(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<Option<ComponentId>> {
        if let Some((_, known)) = self.automatic.iter().find(|(name, _)| *name == entry.name) {
            return Ok(Some(*known));
        }
        let mut root = instance;
        while let Some(parent) = self.instances[root].parent {
            root = parent;
        }
        let Some((clause, _)) = entry.component() else {
            return Ok(None);
        };
        let class = self.lookup_class(entry.scope, &clause.type_name)?;
        let table = self.table(class)?;
        // A variable without a value would only be missed later.
        if self.def(class).partial || table.simple.is_some() || self.instances[root].is_static {
            return Ok(None);
        }
        let inner = Entry {
            outer: false,
            inner: true,
            ..entry.clone()
        };
        let index = u32::MAX;
        let Some(component) = self.make_component(root, index, &inner)? else {
            return Ok(None);
        };
        self.automatic.push((entry.name.clone(), component));
        self.diagnostics.push(
            Diagnostic::warning(
                codes::W0201,
                entry.span,
                format!(
                    "`outer {}` has no `inner` around it: one is added to the model",
                    entry.name
                ),
            )
            .with_help(format!(
                "declare `inner {} {}` in the model",
                clause.type_name, entry.name
            )),
        );
        Ok(Some(component))
    }

    /// Dimensions: of the component, then of its clause, then of its type.
    fn component_dims(
        &mut self,
        id: ComponentId,
        instance: InstanceId,
        entry: &Entry,
        clause: &ast::ComponentClause,
        component: &ast::Component,
        table: &Table,
    ) -> Fallible<Dims> {
        let own = component.subscripts.iter().map(|s| (s, entry.dims_scope));
        let of_clause = clause.subscripts.iter().map(|s| (s, entry.scope));
        let of_type = table.dims.iter().map(|(s, class)| (s, *class));
        self.sizing.push((instance, entry.name.clone(), Dims::new()));
        let mut result = Ok(());
        for (position, (subscript, class)) in own.chain(of_clause).chain(of_type).enumerate() {
            let scope = self.bind_scope(class, Some(instance));
            match self.dimension(id, subscript, position, scope) {
                Ok(size) => {
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
        let dims = self.sizing.pop().map(|(_, _, dims)| dims).unwrap_or_default();
        result.map(|()| dims)
    }

    fn dimension(&mut self, id: ComponentId, subscript: &Subscript, position: usize, scope: Scope) -> Fallible<u32> {
        let expr = match subscript {
            Subscript::Colon(span) => return self.size_of_binding(id, position, *span),
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
        match value.as_integer().filter(|_| value.ty == crate::tensor::Ty::Integer) {
            Some(size) if size >= 0 => match u32::try_from(size) {
                Ok(size) => Ok(size),
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
    fn type_size(&mut self, scope: ClassId, name: &ast::QualifiedName) -> Fallible<Option<u32>> {
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
            Some(SimpleType::Boolean) => Some(2),
            Some(SimpleType::Enumeration(class)) => Some(self.enumeration(class)?.1),
            _ => None,
        })
    }

    fn size_of_binding(&mut self, id: ComponentId, position: usize, span: Span) -> Fallible<u32> {
        let mods = Rc::clone(&self.components[id].mods);
        let Some(binding) = &mods.binding else {
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

    fn make_elements(&mut self, id: ComponentId, table: &Rc<Table>) -> Fallible<()> {
        let kind = match table.simple {
            Some(SimpleType::ExternalObject) => ComponentKind::External,
            Some(simple) => {
                self.graph.needed |= table.by_name.contains_key("equalityConstraint");
                let ty = self.simple_scalar(simple)?;
                let first = self.make_variables(id, ty)?;
                ComponentKind::Primitive { ty, first }
            }
            None => {
                self.graph.needed |= table.by_name.contains_key("equalityConstraint");
                ComponentKind::Complex {
                    elements: self.make_instances(id, table)?,
                }
            }
        };
        self.components[id].kind = kind;
        Ok(())
    }

    pub(crate) fn simple_scalar(&mut self, simple: SimpleType) -> Fallible<ScalarType> {
        Ok(match simple {
            SimpleType::Real => ScalarType::Real,
            SimpleType::Integer => ScalarType::Integer,
            SimpleType::Boolean => ScalarType::Boolean,
            SimpleType::String => ScalarType::String,
            SimpleType::Enumeration(class) => ScalarType::Enumeration(self.enumeration(class)?.0),
            SimpleType::ExternalObject | SimpleType::Clock => return Err(Failure::Reported),
        })
    }

    fn make_variables(&mut self, id: ComponentId, ty: ScalarType) -> Fallible<Option<VariableId>> {
        let component = &mut self.components[id];
        if ty != ScalarType::Real && component.variability == Variability::Continuous {
            component.variability = Variability::Discrete;
        }
        let component = &self.components[id];
        if self.instances[component.parent].is_static {
            return Ok(None);
        }
        let count = volume(&component.dims).unwrap_or(0);
        if self.model.variables.len() + count > self.limits.scalars {
            return fail(
                codes::E0307,
                component.span,
                format!("the model has more than the {} variables allowed", self.limits.scalars),
            );
        }
        let first = VariableId::from_usize(self.model.variables.len());
        let (span, dims, path) = (component.span, component.dims.clone(), Arc::clone(&component.path));
        let (variability, protected) = (component.variability, component.inherited.protected);
        let causality = match (component.causality, component.inherited.outside) {
            (Some(ast::Causality::Input), true) => Causality::Input,
            (Some(ast::Causality::Output), true) => Causality::Output,
            _ => Causality::Internal,
        };
        let owner = Arc::clone(&self.instances[component.parent].path);
        let provenance = self.add_provenance(span, &owner, ProvenanceKind::Declaration);
        let attributes = Arc::clone(&self.no_attributes);
        self.owners.resize(self.owners.len() + count, id);
        for offset in 0..count {
            let name = if dims.is_empty() {
                Arc::clone(&path)
            } else {
                element_path(&path, &dims, offset)
            };
            self.model.variables.push(FlatVariable {
                name,
                ty,
                variability,
                causality,
                binding: None,
                start: None,
                fixed: None,
                attributes: Arc::clone(&attributes),
                protected,
                structural: false,
                provenance,
            });
        }
        Ok(Some(first))
    }

    fn make_instances(&mut self, id: ComponentId, table: &Rc<Table>) -> Fallible<Vec<InstanceId>> {
        let component = &self.components[id];
        let count = volume(&component.dims).unwrap_or(0);
        self.check_recursion(component.parent, component.class, component.span)?;
        let component = &self.components[id];
        if self.instances.len() + count > self.limits.components || self.components.len() > self.limits.components {
            return fail(
                codes::E0307,
                component.span,
                format!(
                    "the model has more than the {} components allowed",
                    self.limits.components
                ),
            );
        }
        let (class, parent, inherited) = (component.class, component.parent, component.inherited);
        let (dims, path, mods) = (component.dims.clone(), component.path.clone(), component.mods.clone());
        let is_static = self.instances[parent].is_static;
        // A record's value goes to its fields.
        let mods = push_down(&mods, table);
        let mut elements = Vec::with_capacity(count);
        for offset in 0..count {
            let (path, mods) = if dims.is_empty() {
                (Arc::clone(&path), mods.descend(&[]))
            } else {
                let index = indices(&dims, offset);
                (element_path(&path, &dims, offset), mods.descend(&index))
            };
            elements.push(self.new_instance(class, Rc::clone(table), Some(parent), path, mods, inherited, is_static));
        }
        Ok(elements)
    }

    /// A model that contains itself, however far down.
    fn check_recursion(&self, parent: InstanceId, class: ClassId, span: Span) -> Fallible<()> {
        let def = self.def(class);
        let mut current = Some(parent);
        let mut count = 0;
        while let Some(instance) = current {
            let data = &self.instances[instance];
            count += usize::from(Arc::ptr_eq(self.def(data.class), def));
            current = data.parent;
        }
        if count > 20 {
            let name = &self.classes[class].name;
            return fail(codes::E0213, span, format!("`{name}` contains itself without end"));
        }
        Ok(())
    }
}

/// What the model itself hands down.
pub(crate) fn root_inheritance() -> Inherited {
    Inherited {
        variability: Variability::Continuous,
        causality: None,
        flow: None,
        protected: false,
        hide_result: false,
        connector: false,
        outside: true,
    }
}

fn inherit(
    owner: &Inherited,
    entry: &Entry,
    clause: &ast::ComponentClause,
    component: &ast::Component,
    table: &Table,
) -> Inherited {
    let own = match clause.prefix.variability {
        Some(AstVariability::Constant) => Variability::Constant,
        Some(AstVariability::Parameter) => Variability::Parameter,
        Some(AstVariability::Discrete) => Variability::Discrete,
        None => Variability::Continuous,
    };
    let connector = owner.connector || table.is_connector;
    Inherited {
        variability: own.min(owner.variability),
        causality: clause.prefix.causality.or(table.causality).or(owner.causality),
        flow: clause.prefix.connector.or(owner.flow),
        protected: owner.protected || entry.protected,
        hide_result: owner.hide_result || hides_result(component),
        connector,
        outside: owner.outside && (table.simple.is_some() || connector),
    }
}

fn hides_result(component: &ast::Component) -> bool {
    let Some(annotation) = &component.annotation else {
        return false;
    };
    let Some(m) = annotation.modification.find("HideResult") else {
        return false;
    };
    matches!(
        m.modification.as_ref().and_then(|m| m.binding.as_ref()),
        Some(ast::Binding::Expr(expr)) if expr.kind == ExprKind::Boolean(true)
    )
}

fn needs_binding(mods: &Mod) -> bool {
    mods.binding.as_ref().is_some_and(|b| b.source.scope.instance.is_none())
        || mods.children.iter().any(|(_, child)| needs_binding(child))
}

/// `= e` of a record becomes `= e.field` of each of its fields that may be set.
fn push_down(mods: &Rc<Mod>, table: &Table) -> Rc<Mod> {
    let Some(binding) = &mods.binding else {
        return Rc::clone(mods);
    };
    let mut children = Vec::new();
    for entry in &table.entries {
        let Some((clause, _)) = entry.component() else {
            continue;
        };
        let constant = clause.prefix.variability == Some(AstVariability::Constant);
        let fixed = entry.is_final || constant;
        if fixed && entry.declared.binding.is_some() {
            continue;
        }
        let mut field = binding.clone();
        field.selectors.push(Selector::Field(entry.name.clone()));
        let child = Mod {
            binding: Some(field),
            span: mods.span,
            ..Mod::default()
        };
        children.push((entry.name.clone(), Rc::new(child)));
    }
    let from_binding = Rc::new(Mod {
        children,
        ..Mod::default()
    });
    let rest = Rc::new(Mod {
        binding: None,
        ..(**mods).clone()
    });
    merge(&from_binding, &rest)
}

pub(crate) fn join_path(owner: &Arc<str>, name: &Name) -> Arc<str> {
    if owner.is_empty() {
        name.as_str().into()
    } else {
        format!("{owner}.{name}").into()
    }
}

/// The indices of the element with this row-major position, from 1.
pub(crate) fn indices(dims: &[u32], offset: usize) -> Dims {
    let mut rest = offset;
    let mut result: Dims = dims.iter().map(|_| 1).collect();
    for (slot, &size) in result.iter_mut().zip(dims).rev() {
        *slot = (rest % size as usize) as u32 + 1;
        rest /= size as usize;
    }
    result
}

pub(crate) fn element_path(path: &str, dims: &[u32], offset: usize) -> Arc<str> {
    use std::fmt::Write;
    let mut name = String::with_capacity(path.len() + 8);
    name.push_str(path);
    name.push('[');
    for (i, index) in indices(dims, offset).iter().enumerate() {
        if i > 0 {
            name.push(',');
        }
        let _ = write!(name, "{index}");
    }
    name.push(']');
    name.into()
}
