//! The elements of a class, inherited ones included.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_source::Span;
use saltus_syntax::ast::{
    Causality, ClassBody, ClassDefinition, ClassKind, Component, ComponentClause, ConstrainingClause, Element,
    ElementKind, Name, QualifiedName, Subscript, Variability, Visibility,
};

use super::Predefined;
use super::redeclare::{check_replaceable, constraining_mods, final_error, gives_sizes};
use super::restrictions::{check_definition, misplaced_operators};
use crate::codes;
use crate::failure::{Failure, Fallible, fail};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::{self, Mod, Redeclare, RedeclareKind, merge};

/// What a class that is no structured class is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SimpleType {
    Real,
    Integer,
    Boolean,
    String,
    /// The class that lists the literals.
    Enumeration(ClassId),
    ExternalObject,
    Clock,
}

/// All elements of a class.
#[derive(Clone, Debug)]
pub(crate) struct ClassTable {
    pub entries: Vec<Entry>,
    pub by_name: FxHashMap<Name, u32>,
    /// The classes whose equations and algorithms count: inherited ones first, then itself.
    pub scopes: Vec<ClassId>,
    /// For types derived from predefined ones.
    pub simple: Option<SimpleType>,
    /// Modifications of the attributes of a simple type.
    pub attributes: Rc<Mod>,
    /// Dimensions from `type T = Base[n]`, outermost first.
    pub dims: Vec<(Subscript, ClassId)>,
    /// From `connector C = input Real`.
    pub causality: Option<Causality>,
    /// Whether the class is a connector.
    pub is_connector: bool,
    /// Whether connections may add elements to it.
    pub is_expandable: bool,
    /// Whether it is partial; a short class definition is as partial as its base.
    pub is_partial: bool,
    /// Whether there are classes that stand for inner ones around an instance.
    pub has_outer_classes: bool,
}

/// An element of a class.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub name: Name,
    pub kind: EntryKind,
    pub protected: bool,
    pub is_final: bool,
    pub inner: bool,
    pub outer: bool,
    pub replaceable: bool,
    /// The class it is declared in: types and sizes are looked up from there.
    pub scope: ClassId,
    /// Where its sizes are written, and where its condition is (a redeclaration may keep either).
    pub dims_scope: ClassId,
    pub condition_scope: ClassId,
    /// Modifications from extends clauses and from outside.
    pub mods: Rc<Mod>,
    /// Modifications of the declaration (and of what it replaces).
    pub declared: Rc<Mod>,
    pub span: Span,
    /// The class of a class entry, or the type of a component, once known.
    pub class: Cell<Option<ClassId>>,
    /// For a redeclared component: what its type must offer, where that is written, and where the
    /// redeclaration is.
    pub constraint: Option<(ClassId, QualifiedName, Span)>,
    pub constraining: Option<ConstrainingClause>,
    /// For a component that is redeclared with sizes: the declaration it replaces.
    pub replaces: Option<Rc<Replaces>>,
}

/// A declaration that is replaced by another with sizes of its own.
#[derive(Debug)]
pub(crate) struct Replaces {
    pub scope: ClassId,
    pub type_name: QualifiedName,
    /// How many sizes it had.
    pub sizes: usize,
    /// The redeclaration.
    pub span: Span,
}

/// The kinds of entries.
#[derive(Clone, Debug)]
pub(crate) enum EntryKind {
    Component(Arc<ComponentClause>, u32),
    Class(ClassEntry),
}

/// A class entry with what replaces it, oldest last.
#[derive(Clone, Debug)]
pub(crate) struct ClassEntry {
    pub def: Arc<ClassDefinition>,
    pub redeclare: Option<Rc<Redeclare>>,
}

impl Entry {
    /// Whether it is a class that something else may still be put in place of.
    pub(crate) fn is_replaceable(&self) -> bool {
        match &self.kind {
            EntryKind::Class(class) => class.redeclare.as_ref().map_or(self.replaceable, |r| r.replaceable),
            EntryKind::Component(..) => false,
        }
    }

    pub(crate) fn is_redeclared_class(&self) -> bool {
        matches!(&self.kind, EntryKind::Class(class) if class.redeclare.is_some())
    }

    pub(crate) fn component(&self) -> Option<(&ComponentClause, &Component)> {
        match &self.kind {
            EntryKind::Component(clause, index) => Some((clause, clause.components.get(*index as usize)?)),
            EntryKind::Class(_) => None,
        }
    }
}

impl ClassTable {
    pub(super) fn empty() -> ClassTable {
        ClassTable {
            entries: Vec::new(),
            by_name: FxHashMap::default(),
            scopes: Vec::new(),
            simple: None,
            attributes: Rc::default(),
            dims: Vec::new(),
            causality: None,
            is_connector: false,
            is_expandable: false,
            is_partial: false,
            has_outer_classes: false,
        }
    }

    /// The same table with one more component.
    pub(crate) fn with_entry(&self, name: &Name, entry: Entry) -> ClassTable {
        let mut table = self.clone();
        table.by_name.insert(name.clone(), table.entries.len() as u32);
        table.entries.push(Entry {
            name: name.clone(),
            ..entry
        });
        table
    }

    /// Whether there are only constants and classes, as in a package.
    pub(crate) fn is_package_like(&self) -> bool {
        self.entries.iter().all(|entry| match entry.component() {
            Some((clause, _)) => clause.prefix.variability == Some(Variability::Constant),
            None => true,
        })
    }

    pub(crate) fn find(&self, name: &str) -> Option<(u32, &Entry)> {
        let &index = self.by_name.get(name)?;
        Some((index, &self.entries[index as usize]))
    }
}

impl Flattener<'_> {
    /// The elements of a class, found on first use.
    pub(crate) fn table(&mut self, class: ClassId) -> Fallible<Rc<ClassTable>> {
        let node = &self.classes[class];
        if let Some(table) = &node.table {
            return Ok(Rc::clone(table));
        }
        if node.failed {
            return Err(Failure::Reported);
        }
        if node.building {
            let span = node.def.name.span;
            return fail(codes::E0203, span, format!("class `{}` depends on itself", node.name));
        }
        self.enter(self.classes[class].def.name.span)?;
        self.classes[class].building = true;
        let result = self.build_table(class);
        self.leave();
        let node = &mut self.classes[class];
        node.building = false;
        match result {
            Ok(mut table) => {
                table.is_connector |= matches!(node.def.kind, ClassKind::Connector | ClassKind::ExpandableConnector);
                table.is_partial |= node.def.partial;
                table.is_expandable |= node.def.kind == ClassKind::ExpandableConnector;
                let table = Rc::new(table);
                node.table = Some(Rc::clone(&table));
                node.lookups.clear();
                Ok(table)
            }
            Err(failure) => {
                node.failed = true;
                self.report(failure);
                Err(Failure::Reported)
            }
        }
    }

    pub(super) fn is_building(&self, class: ClassId) -> bool {
        self.classes[class].building
    }

    pub(super) fn build_table(&mut self, class: ClassId) -> Fallible<ClassTable> {
        if let Some(predefined) = self.classes[class].predefined {
            return Ok(self.predefined_table(class, predefined));
        }
        let def = Arc::clone(&self.classes[class].def);
        if !def.span.is_empty() {
            let result = check_definition(&def);
            self.accept(result);
            if def.kind != ClassKind::Operator {
                self.diagnostics.extend(misplaced_operators(&def));
            }
        }
        match &def.body {
            ClassBody::Enumeration { .. } => Ok(ClassTable {
                simple: Some(SimpleType::Enumeration(class)),
                attributes: self.class_mods(class)?,
                ..ClassTable::empty()
            }),
            ClassBody::Short {
                causality,
                base,
                subscripts,
                modification,
            } => {
                let scope = self.classes[class].parent.unwrap_or(class);
                let base_class = self.lookup_class(scope, base)?;
                self.check_inheritance(class, base_class, base.span)?;
                let result = self.check_base_kind(class, base_class, base.span);
                self.accept(result);
                let own = match modification {
                    Some(m) => Rc::new(modification::from_ast(m, scope, -1)?),
                    None => Rc::default(),
                };
                self.check_modifiers(&own, base_class, false)?;
                let node = &self.classes[class];
                let mods = self.merge_checked(&node.mods, &self.merge_checked(&own, &node.defaults)?)?;
                let base_class = self.derived_class(base_class, mods);
                let table = self.table(base_class)?;
                let mut dims: Vec<_> = subscripts.iter().map(|s| (s.clone(), scope)).collect();
                dims.extend(table.dims.iter().cloned());
                Ok(ClassTable {
                    entries: table.entries.clone(),
                    by_name: table.by_name.clone(),
                    scopes: table.scopes.clone(),
                    simple: table.simple,
                    attributes: Rc::clone(&table.attributes),
                    dims,
                    causality: causality.or(table.causality),
                    is_connector: table.is_connector,
                    is_expandable: table.is_expandable,
                    is_partial: table.is_partial,
                    has_outer_classes: table.has_outer_classes,
                })
            }
            ClassBody::Derivative { function, .. } => {
                let scope = self.classes[class].parent.unwrap_or(class);
                let base = self.lookup_class(scope, function)?;
                self.check_inheritance(class, base, function.span)?;
                if !crate::function::is_function_kind(self.kind(base)) {
                    return fail(
                        codes::E0202,
                        function.span,
                        format!("`{function}` is no function and has no partial derivatives"),
                    );
                }
                let table = self.table(base)?;
                Ok(ClassTable {
                    entries: table.entries.clone(),
                    by_name: table.by_name.clone(),
                    scopes: table.scopes.clone(),
                    ..ClassTable::empty()
                })
            }
            ClassBody::Error => Err(Failure::Reported),
            ClassBody::Long(composition) => self.long_table(class, &def, &composition.elements),
            ClassBody::Extends { composition, .. } => self.long_table(class, &def, &composition.elements),
        }
    }

    /// What is said about a class that has no modifications of its own.
    fn class_mods(&self, class: ClassId) -> Fallible<Rc<Mod>> {
        let node = &self.classes[class];
        self.merge_checked(&node.mods, &node.defaults)
    }

    pub(super) fn predefined_table(&mut self, class: ClassId, predefined: Predefined) -> ClassTable {
        let simple = match predefined {
            Predefined::Real => SimpleType::Real,
            Predefined::Integer => SimpleType::Integer,
            Predefined::Boolean => SimpleType::Boolean,
            Predefined::String => SimpleType::String,
            Predefined::ExternalObject => SimpleType::ExternalObject,
            Predefined::Clock => SimpleType::Clock,
        };
        ClassTable {
            simple: Some(simple),
            attributes: Rc::clone(&self.classes[class].mods),
            ..ClassTable::empty()
        }
    }

    pub(super) fn check_inheritance(&self, class: ClassId, base: ClassId, span: Span) -> Fallible<()> {
        if self.extending.iter().any(|def| Arc::ptr_eq(def, self.def(base)))
            || Arc::ptr_eq(self.def(class), self.def(base))
        {
            return fail(
                codes::E0203,
                span,
                format!("class `{}` inherits from itself", self.classes[base].name),
            );
        }
        Ok(())
    }

    pub(super) fn long_table(
        &mut self,
        class: ClassId,
        def: &Arc<ClassDefinition>,
        elements: &[Element],
    ) -> Fallible<ClassTable> {
        self.extending.push(Arc::clone(def));
        let result = self.long_table_inner(class, def, elements);
        self.extending.pop();
        result
    }

    pub(super) fn long_table_inner(
        &mut self,
        class: ClassId,
        def: &Arc<ClassDefinition>,
        elements: &[Element],
    ) -> Fallible<ClassTable> {
        let outer = self.class_mods(class)?;
        let redeclares = self.body_redeclares(class, elements);
        let for_bases = self.merge_checked(&outer, &Rc::new(redeclares))?;
        let mut table = ClassTable::empty();
        if let (ClassBody::Extends { modification, .. }, Some(replaced)) = (&def.body, self.classes[class].replaced) {
            let own = match modification {
                Some(m) => Rc::new(modification::from_ast(m, class, -1)?),
                None => Rc::default(),
            };
            let mods = merge(&for_bases, &own);
            let base = self.derived_class(replaced, mods);
            self.inherit(&mut table, base, def.span, false)?;
        }
        for element in elements {
            if let ElementKind::Extends(extends) = &element.kind {
                let base = self.lookup_class(class, &extends.base)?;
                self.check_not_replaceable(class, &extends.base)?;
                self.check_inheritance(class, base, extends.base.span)?;
                let result = self.check_base_kind(class, base, extends.base.span);
                self.accept(result);
                let own = match &extends.modification {
                    Some(m) => Rc::new(modification::from_ast(m, class, -1)?),
                    None => Rc::default(),
                };
                self.check_modifiers(&own, base, false)?;
                let mods = self.merge_checked(&for_bases, &own)?;
                let base = self.derived_class(base, mods);
                let protected = element.visibility == Visibility::Protected;
                self.inherit(&mut table, base, extends.span, protected)?;
            }
        }
        let inherited = table.entries.len();
        for element in elements {
            self.add_element(&mut table, class, element, &outer, inherited)?;
        }
        table.scopes.push(class);
        let result = self.check_simple(&table, def);
        self.accept(result);
        Ok(table)
    }

    pub(super) fn inherit(
        &mut self,
        table: &mut ClassTable,
        base: ClassId,
        span: Span,
        protected: bool,
    ) -> Fallible<()> {
        let inherited = self.table(base)?;
        if inherited.simple.is_some() {
            table.simple = inherited.simple;
            table.attributes = Rc::clone(&inherited.attributes);
        }
        table.dims.extend(inherited.dims.iter().cloned());
        table.causality = table.causality.or(inherited.causality);
        self.spend((inherited.scopes.len() + inherited.entries.len()) as u64, span)?;
        // A class inherited along two ways contributes its equations once.
        let mut known: FxHashSet<_> = table.scopes.iter().map(|&s| Arc::as_ptr(self.def(s))).collect();
        for scope in &inherited.scopes {
            if known.insert(Arc::as_ptr(self.def(*scope))) {
                table.scopes.push(*scope);
            }
        }
        for entry in &inherited.entries {
            let mut entry = entry.clone();
            entry.protected |= protected;
            self.insert(table, entry, span)?;
        }
        Ok(())
    }

    pub(super) fn add_element(
        &mut self,
        table: &mut ClassTable,
        class: ClassId,
        element: &Element,
        outer: &Rc<Mod>,
        inherited: usize,
    ) -> Fallible<()> {
        match &element.kind {
            ElementKind::Import(_) | ElementKind::Extends(_) => Ok(()),
            ElementKind::Class(def) => {
                if element.redeclare {
                    return require_inherited(table, inherited, &def.name.name, element);
                }
                if matches!(def.body, ClassBody::Extends { .. }) {
                    require_inherited(table, inherited, &def.name.name, element)?;
                    return self.extend_inherited(table, class, element, def, outer);
                }
                let mods = outer.child(&def.name.name).cloned().unwrap_or_default();
                if mods.removed {
                    return Ok(());
                }
                let redeclare = mods.redeclare.clone();
                if let Some(redeclare) = &redeclare
                    && !matches!(redeclare.kind, RedeclareKind::Inner(_))
                {
                    check_replaceable(element, &def.name.name, redeclare)?;
                    if !matches!(redeclare.kind, RedeclareKind::Class(_)) {
                        return fail(
                            codes::E0207,
                            redeclare.span,
                            format!("`{}` is a class and cannot be redeclared as a component", def.name),
                        );
                    }
                }
                let known = self.classes[class].early.get(&def.name.name).copied();
                let kind = EntryKind::Class(ClassEntry {
                    def: def.clone(),
                    redeclare,
                });
                let entry = entry_of(element, def.name.name.clone(), kind, class, mods, def.name.span);
                entry.class.set(known);
                self.insert(table, entry, def.name.span)
            }
            ElementKind::Components(clause) => {
                for (i, component) in clause.components.iter().enumerate() {
                    if element.redeclare {
                        require_inherited(table, inherited, &component.name.name, element)?;
                        continue;
                    }
                    self.add_component(table, class, element, (clause, i as u32), outer)?;
                }
                Ok(())
            }
        }
    }

    /// A component by its clause and its place in it.
    fn add_component(
        &mut self,
        table: &mut ClassTable,
        class: ClassId,
        element: &Element,
        (clause, index): (&Arc<ComponentClause>, u32),
        outer: &Rc<Mod>,
    ) -> Fallible<()> {
        let component = &clause.components[index as usize];
        let name = &component.name.name;
        let mods = outer.child(name).cloned().unwrap_or_default();
        if mods.removed {
            return Ok(());
        }
        let declared = Rc::new(modification::of_component(component.modification.as_deref(), class)?);
        let mods_below = match &element.constraining {
            Some(clause) if mods.redeclare.is_none() => constraining_mods(clause, class, 0)?,
            _ => Rc::default(),
        };
        let kind = EntryKind::Component(Arc::clone(clause), index);
        let mut entry = entry_of(
            element,
            name.clone(),
            kind,
            class,
            mods.without_redeclare(),
            component.name.span,
        );
        entry.declared = self.merge_checked(&declared, &mods_below)?;
        if let Some(redeclare) = &mods.redeclare {
            if !gives_sizes(clause, index, redeclare) {
                check_replaceable(element, name, redeclare)?;
            }
            self.redeclare_component(&mut entry, redeclare)?;
        }
        if entry.is_final && mods.binding.is_some() {
            let span = mods.span.unwrap_or(entry.span);
            return Err(final_error(name, span));
        }
        self.insert(table, entry, component.name.span)
    }

    fn insert(&self, table: &mut ClassTable, entry: Entry, span: Span) -> Fallible<()> {
        if entry.name.is_empty() {
            return Ok(());
        }
        if let Some(&existing) = table.by_name.get(&entry.name) {
            return self.unite(&mut table.entries[existing as usize], &entry, span);
        }
        table.has_outer_classes |= entry.outer && entry.component().is_none();
        table.by_name.insert(entry.name.clone(), table.entries.len() as u32);
        table.entries.push(entry);
        Ok(())
    }
}

/// The attributes of a predefined type.
pub(crate) fn attribute_names(simple: SimpleType) -> &'static [&'static str] {
    match simple {
        SimpleType::Real => &[
            "quantity",
            "unit",
            "displayUnit",
            "min",
            "max",
            "start",
            "fixed",
            "nominal",
            "unbounded",
            "stateSelect",
        ],
        SimpleType::Integer | SimpleType::Enumeration(_) => &["quantity", "min", "max", "start", "fixed"],
        SimpleType::Boolean | SimpleType::String => &["quantity", "start", "fixed"],
        SimpleType::ExternalObject | SimpleType::Clock => &[],
    }
}

fn entry_of(element: &Element, name: Name, kind: EntryKind, scope: ClassId, mods: Rc<Mod>, span: Span) -> Entry {
    Entry {
        name,
        kind,
        protected: element.visibility == Visibility::Protected,
        is_final: element.is_final,
        inner: element.inner,
        outer: element.outer,
        replaceable: element.replaceable,
        scope,
        dims_scope: scope,
        condition_scope: scope,
        mods,
        declared: Rc::default(),
        span,
        class: Cell::new(None),
        constraint: None,
        constraining: element.constraining.clone(),
        replaces: None,
    }
}

/// A redeclaration in a class needs one of the `count` elements that the class inherits.
pub(super) fn require_inherited(table: &ClassTable, count: usize, name: &Name, element: &Element) -> Fallible<()> {
    if let Some((_, inherited)) = table.find(name).filter(|(index, _)| (*index as usize) < count) {
        let protected = element.visibility == Visibility::Protected;
        if inherited.protected == protected {
            return Ok(());
        }
        let words = |protected: bool| if protected { "protected" } else { "public" };
        return fail(
            codes::E0207,
            element.span,
            format!(
                "`{name}` is {} and cannot be redeclared as {}",
                words(inherited.protected),
                words(protected)
            ),
        );
    }
    fail(
        codes::E0207,
        element.span,
        format!("there is no inherited element `{name}` to redeclare"),
    )
}
