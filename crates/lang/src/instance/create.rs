//! Making instances and components.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_syntax::ast::{self, ClassKind, ExprKind, Name, Variability as AstVariability};

use super::{Component, ComponentKind, Inherited, Instance, Slot, ValueState};
use crate::class::{ClassTable, Entry};
use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::Variability;
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::modification::{Binding, BindingSource, Mod, Scope};
use crate::tensor::Dims;

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

    pub(super) fn bind_binding(&self, binding: &Binding, from: InstanceId) -> Binding {
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
        let path = Arc::clone(&self.classes[class].name);
        let id = self.instances.push(Instance::root(class, table, path, true));
        self.classes[class].static_instance = Some(id);
        Ok(id)
    }

    pub(super) fn make_component(
        &mut self,
        instance: InstanceId,
        index: u32,
        entry: &Entry,
    ) -> Fallible<Option<ComponentId>> {
        let Some((clause, component)) = entry.component() else {
            return fail(codes::E0202, entry.span, format!("`{}` is not a component", entry.name));
        };
        self.spend(10, entry.span)?;
        if let Some(condition) = &component.condition {
            let scope = self.bind_scope(entry.condition_scope, Some(instance));
            let ctx = Context::new(scope, Mode::Evaluate);
            if !self.evaluate_condition(condition, &ctx)? {
                self.check_absent(instance, entry)?;
                return Ok(None);
            }
        }
        if entry.outer && !entry.inner {
            if let Some(modified) = self.instances[instance].mods.child(&entry.name)
                && (modified.binding.is_some() || !modified.children.is_empty())
            {
                return fail(
                    codes::E0209,
                    modified.span.unwrap_or(entry.span),
                    format!("`{}` is an outer component and cannot be modified here", entry.name),
                );
            }
            return self.resolve_outer(instance, entry).map(Some);
        }
        let mods = self.component_mods(instance, entry)?;
        let class = self.component_class(entry, &mods)?;
        let class = self.with_inner_classes(class, Some(instance))?;
        let table = self.table(class)?;
        self.check_component_type(class, &table, entry, clause)?;
        self.check_owner(instance, class, &table, entry, clause)?;
        self.check_flow_operators(class, clause)?;
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
            index_types: None,
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

    /// The declaration of a component that is not there must make sense all the same.
    fn check_absent(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<()> {
        if entry.outer && !entry.inner {
            return Ok(());
        }
        let mods = self.component_mods(instance, entry)?;
        let class = self.component_class(entry, &mods)?;
        self.unreached_modification(&mods, Some(class));
        self.unreached_class(class);
        Ok(())
    }

    /// Everything said about a component: from outside, from extends clauses, by its declaration.
    pub(super) fn component_mods(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<Rc<Mod>> {
        let outer = self.instances[instance]
            .mods
            .child(&entry.name)
            .map(Mod::without_redeclare)
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
        if outer.binding.is_some() || middle.binding.is_some() {
            self.unreached_modification(&inner, None);
        }
        let mods = self.merge_checked(&middle, &inner)?;
        self.merge_checked(&outer, &mods)
    }

    /// The type with the redeclarations inside the component's modifications applied.
    pub(super) fn component_class(&mut self, entry: &Entry, mods: &Rc<Mod>) -> Fallible<ClassId> {
        let class = match entry.class.get() {
            Some(class) => class,
            None => {
                let Some((clause, _)) = entry.component() else {
                    return Err(Failure::Reported);
                };
                let class = self.lookup_class(entry.scope, &clause.type_name)?;
                entry.class.set(Some(class));
                self.check_constraints(entry, class)?;
                class
            }
        };
        self.check_modifiers(mods, class, true)?;
        let of_classes = self.class_part(mods, class)?;
        Ok(self.derived_class(class, Rc::new(of_classes)))
    }

    /// The part of a component's modifications that changes its class: redeclarations, and
    /// modifications of classes inside.
    fn class_part(&mut self, mods: &Mod, class: ClassId) -> Fallible<Mod> {
        if mods.children.is_empty() {
            return Ok(Mod::default());
        }
        let table = self.table(class)?;
        let mut children = Vec::new();
        for (name, m) in &mods.children {
            let of_class = table.find(name).is_none_or(|(_, entry)| entry.component().is_none());
            if of_class && table.simple.is_none() {
                children.push((name.clone(), m.for_all_elements()));
            } else if m.redeclare.is_some() || m.redeclares_inside() {
                children.push((name.clone(), Rc::new(m.only_redeclares())));
            }
        }
        Ok(Mod {
            children,
            span: mods.span,
            ..Mod::default()
        })
    }

    /// The type of a component must fit its constraining clause, and that of a redeclaration what
    /// constrains the declaration it replaces.
    fn check_constraints(&mut self, entry: &Entry, class: ClassId) -> Fallible<()> {
        let mut new = class;
        if let Some(constraining) = &entry.constraining
            && let Ok(constraint) = self.lookup_class(entry.scope, &constraining.base)
        {
            self.check_constraint(class, constraint, entry.span)?;
            new = constraint;
        }
        if let Some((scope, name, span)) = &entry.constraint
            && let Ok(constraint) = self.lookup_class(*scope, name)
        {
            self.check_constraint(new, constraint, *span)?;
        }
        self.check_rank(entry, class)
    }

    /// A redeclaration has as many dimensions as what it replaces (7.3.2).
    fn check_rank(&mut self, entry: &Entry, class: ClassId) -> Fallible<()> {
        let (Some(replaces), Some((clause, component))) = (&entry.replaces, entry.component()) else {
            return Ok(());
        };
        let Ok(old) = self.lookup_class(replaces.scope, &replaces.type_name) else {
            return Ok(());
        };
        let before = replaces.sizes + self.table(old)?.dims.len();
        let now = component.subscripts.len() + clause.subscripts.len() + self.table(class)?.dims.len();
        if before == now {
            return Ok(());
        }
        let message = format!(
            "`{}` has {before} dimensions and cannot be redeclared with {now}",
            entry.name
        );
        fail(codes::E0207, replaces.span, message)
    }

    pub(super) fn check_component_type(
        &mut self,
        class: ClassId,
        table: &ClassTable,
        entry: &Entry,
        clause: &ast::ComponentClause,
    ) -> Fallible<()> {
        let def = self.def(class);
        let name = &self.classes[class].name;
        let span = clause.type_name.span;
        if matches!(def.kind, ClassKind::Package | ClassKind::Operator) {
            return fail(codes::E0202, span, format!("`{name}` is a package, not a type"));
        }
        if table.is_partial && table.simple.is_none() && !crate::function::is_function_kind(def.kind) {
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
}

/// What the model itself hands down.
pub(super) fn root_inheritance() -> Inherited {
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
    table: &ClassTable,
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

pub(crate) fn join_path(owner: &Arc<str>, name: &Name) -> Arc<str> {
    if owner.is_empty() {
        name.as_str().into()
    } else {
        format!("{owner}.{name}").into()
    }
}
