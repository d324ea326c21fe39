//! Looking up names in classes.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{
    ClassBody, ClassDefinition, ConstrainingClause, ElementKind, Import, ImportKind, Name, QualifiedName,
};

use super::redeclare::{below, constraining_mods};
use super::table::{ClassEntry, Entry, EntryKind};
use crate::codes;
use crate::failure::{Failure, Fallible, did_you_mean, error, fail};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::{self, Mod, Redeclare, RedeclareKind};

/// What a name means in a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Class(ClassId),
    /// A component: the class whose table it is in, and its position there.
    Component(ClassId, u32),
}

impl Flattener<'_> {
    /// A class at the top level: of the library, or predefined.
    pub(crate) fn root_class(&mut self, name: &Name) -> Option<ClassId> {
        if let Some(known) = self.roots.get(name) {
            return *known;
        }
        let found = self.library.top_level(name).map(|class| {
            let def = Arc::clone(&class.definition);
            let id = self.new_class(def, None, Rc::default(), name.as_str().into());
            self.classes[id].stored = class.is_folder().then_some(class);
            id
        });
        self.roots.insert(name.clone(), found);
        found
    }

    /// A class inside a library package that is stored in a file of its own.
    pub(crate) fn stored_child(&mut self, class: ClassId, name: &Name) -> Option<ClassId> {
        let package = self.classes[class].stored.clone()?;
        if let Some(known) = self.classes[class].stored_children.get(name) {
            return *known;
        }
        let qualified = self.inner_name(Some(class), name);
        let found = self.library.member(&package, name).map(|member| {
            let def = Arc::clone(&member.definition);
            let id = self.new_class(def, Some(class), Rc::default(), qualified);
            self.classes[id].stored = member.is_folder().then_some(member);
            id
        });
        self.classes[class].stored_children.insert(name.clone(), found);
        found
    }

    /// The names of the classes inside a library package that are stored in files of their own.
    fn stored_names(&self, class: ClassId) -> Arc<Vec<Name>> {
        let package = self.classes[class].stored.as_ref();
        package.map_or_else(Arc::default, |package| self.library.members(package))
    }

    /// An element of a class, inherited ones included.
    pub(crate) fn member(&mut self, class: ClassId, name: &Name) -> Fallible<Option<Found>> {
        if self.is_building(class) {
            return self.member_while_building(class, name);
        }
        let table = self.table(class)?;
        if let Some((index, entry)) = table.find(name) {
            return match entry.kind {
                EntryKind::Component(..) => Ok(Some(Found::Component(class, index))),
                EntryKind::Class(_) => Ok(Some(Found::Class(self.entry_class(class, index)?))),
            };
        }
        if let Some(found) = self.stored_child(class, name) {
            return Ok(Some(Found::Class(found)));
        }
        // Classes in files of their own are inherited, too.
        for scope in table.scopes.clone() {
            if scope != class
                && let Some(found) = self.stored_child(scope, name)
            {
                return Ok(Some(Found::Class(found)));
            }
        }
        Ok(None)
    }

    /// Own classes only: what extends clauses may refer to.
    fn member_while_building(&mut self, class: ClassId, name: &Name) -> Fallible<Option<Found>> {
        if let Some(&known) = self.classes[class].early.get(name) {
            return Ok(Some(Found::Class(known)));
        }
        let def = Arc::clone(&self.classes[class].def);
        let own = def
            .classes()
            .find(|(element, inner)| inner.name.name == *name && !element.redeclare)
            .map(|(element, inner)| (element.constraining.clone(), Arc::clone(inner)));
        if let Some((constraining, inner)) = own {
            let mods = self.classes[class].mods.child(name).cloned().unwrap_or_default();
            let entry = ClassEntry {
                def: inner,
                redeclare: mods.redeclare.clone(),
            };
            let found = self.make_entry_class(class, name, &entry, &mods, constraining.as_ref())?;
            self.classes[class].early.insert(name.clone(), found);
            return Ok(Some(Found::Class(found)));
        }
        Ok(self.stored_child(class, name).map(Found::Class))
    }

    /// The class of a class entry.
    pub(crate) fn entry_class(&mut self, class: ClassId, index: u32) -> Fallible<ClassId> {
        let table = self.table(class)?;
        let entry = &table.entries[index as usize];
        if let Some(known) = entry.class.get() {
            return Ok(known);
        }
        let EntryKind::Class(class_entry) = &entry.kind else {
            return fail(codes::E0202, entry.span, format!("`{}` is not a class", entry.name));
        };
        let found = self.make_entry_class(
            entry.scope,
            &entry.name,
            class_entry,
            &entry.mods,
            entry.constraining.as_ref(),
        )?;
        entry.class.set(Some(found));
        let result = self.check_class_entry(found, entry, class_entry);
        self.accept(result);
        Ok(found)
    }

    /// What a class entry stands for must fit what constrains it.
    fn check_class_entry(&mut self, found: ClassId, entry: &Entry, class_entry: &ClassEntry) -> Fallible<()> {
        let original = |this: &mut Self| match &entry.constraining {
            Some(clause) => this.lookup_class(entry.scope, &clause.base),
            // Without a constraining clause the original itself constrains.
            None => {
                let plain = ClassEntry {
                    def: Arc::clone(&class_entry.def),
                    redeclare: None,
                };
                this.make_entry_class(entry.scope, &entry.name, &plain, &Rc::default(), None)
            }
        };
        let Some(redeclare) = &class_entry.redeclare else {
            if entry.constraining.is_some()
                && let Ok(constraint) = original(self)
            {
                // Sizes that a short definition adds are not counted (7.3.2).
                let new = match &class_entry.def.body {
                    ClassBody::Short { base, subscripts, .. } if !subscripts.is_empty() => {
                        self.lookup_class(entry.scope, base)?
                    }
                    _ => found,
                };
                self.check_constraint(new, constraint, entry.span)?;
            }
            return Ok(());
        };
        if redeclare.class_extends {
            return Ok(());
        }
        let below = match redeclare.constraint_below() {
            Some((scope, clause)) => self.lookup_class(scope, &clause.base),
            None => original(self),
        };
        let own = match &redeclare.constraining {
            Some(clause) => self.lookup_class(redeclare.scope, &clause.base).ok(),
            None => None,
        };
        if let Some(own) = own {
            self.check_constraint(found, own, redeclare.span)?;
        }
        match below {
            Ok(below) => self.check_constraint(own.unwrap_or(found), below, redeclare.span),
            Err(_) => Ok(()),
        }
    }

    fn make_entry_class(
        &mut self,
        scope: ClassId,
        name: &Name,
        entry: &ClassEntry,
        mods: &Rc<Mod>,
        constraining: Option<&ConstrainingClause>,
    ) -> Fallible<ClassId> {
        let original = Original {
            scope,
            name,
            def: &entry.def,
            constraining,
        };
        match &entry.redeclare {
            None => self.original_class(&original, mods.without_redeclare()),
            Some(redeclare) => self.redeclared_class(redeclare, mods.without_redeclare(), &original),
        }
    }

    fn original_class(&mut self, original: &Original<'_>, mods: Rc<Mod>) -> Fallible<ClassId> {
        let defaults = match original.constraining {
            Some(clause) => constraining_mods(clause, original.scope, -1)?,
            None => Rc::default(),
        };
        let qualified = self.inner_name(Some(original.scope), original.name);
        let id = self.new_class(Arc::clone(original.def), Some(original.scope), mods, qualified);
        self.classes[id].defaults = defaults;
        Ok(id)
    }

    fn redeclared_class(&mut self, redeclare: &Redeclare, mods: Rc<Mod>, original: &Original<'_>) -> Fallible<ClassId> {
        let def = match &redeclare.kind {
            RedeclareKind::Class(def) => def,
            RedeclareKind::Inner(class) => return Ok(self.derived_class(*class, mods)),
            RedeclareKind::Component(..) => {
                return fail(
                    codes::E0207,
                    redeclare.span,
                    "a class cannot be redeclared as a component",
                );
            }
        };
        let (mut replaced, mut defaults) = (None, Rc::default());
        if redeclare.class_extends {
            let before = redeclare.replaced.clone().unwrap_or_default();
            let rest = before.without_redeclare();
            replaced = Some(match &before.redeclare {
                Some(previous) => self.redeclared_class(previous, rest, original)?,
                None => self.original_class(original, rest)?,
            });
        } else {
            defaults = below(redeclare, original.modifications()?, -1)?;
        }
        let name = self.inner_name(Some(redeclare.scope), &def.name.name);
        let id = self.new_class(Arc::clone(def), Some(redeclare.scope), mods, name);
        self.classes[id].replaced = replaced;
        self.classes[id].defaults = defaults;
        Ok(id)
    }

    /// A name as seen from inside a class.
    pub(crate) fn lookup(&mut self, scope: ClassId, name: &Name) -> Fallible<Option<Found>> {
        let mut current = Some(scope);
        while let Some(class) = current {
            if let Some(known) = self.classes[class].lookups.get(name) {
                return Ok(*known);
            }
            if let Some(found) = self.lookup_in(class, name)? {
                return Ok(Some(self.remember(scope, name, found)));
            }
            let node = &self.classes[class];
            current = if node.def.encapsulated { None } else { node.parent };
            if node.def.encapsulated {
                let found = self.predefined.get(name).copied().map(Found::Class);
                if !self.is_building(scope) {
                    self.classes[scope].lookups.insert(name.clone(), found);
                }
                return Ok(found);
            }
        }
        let found = match self.root_class(name) {
            Some(class) => Some(Found::Class(class)),
            None => self.predefined.get(name).copied().map(Found::Class),
        };
        if !self.is_building(scope) {
            self.classes[scope].lookups.insert(name.clone(), found);
        }
        Ok(found)
    }

    fn remember(&mut self, scope: ClassId, name: &Name, found: Found) -> Found {
        if !self.is_building(scope) {
            self.classes[scope].lookups.insert(name.clone(), Some(found));
        }
        found
    }

    fn lookup_in(&mut self, class: ClassId, name: &Name) -> Fallible<Option<Found>> {
        if self.classes[class].predefined.is_none()
            && let Some(found) = self.member(class, name)?
        {
            return Ok(Some(found));
        }
        self.lookup_imports(class, name)
    }

    /// Whether a class has import clauses, found out once: many names may be looked up in a class of many elements.
    fn has_imports(&mut self, def: &Arc<ClassDefinition>) -> bool {
        let known = self.importing.entry(Arc::as_ptr(def));
        *known.or_insert_with(|| imports(def).next().is_some())
    }

    fn lookup_imports(&mut self, class: ClassId, name: &Name) -> Fallible<Option<Found>> {
        let def = Arc::clone(&self.classes[class].def);
        if !self.has_imports(&def) {
            return Ok(None);
        }
        if let Some(import) = imports(&def).find(|import| names_import(import, name)) {
            let mut parts: Vec<Name> = import.name.parts.iter().map(|p| p.name.clone()).collect();
            if matches!(import.kind, ImportKind::List(_)) {
                parts.push(name.clone());
            }
            if let Some((last, package)) = parts.split_last()
                && !package.is_empty()
                && let Found::Class(package) = self.look_from_root(package, import.name.span)?
            {
                self.check_import_path(package, last, import.name.span)?;
            }
            return self.look_from_root(&parts, import.name.span).map(Some);
        }
        let mut first: Option<(Found, ClassId)> = None;
        for import in imports(&def).filter(|i| matches!(i.kind, ImportKind::Unqualified)) {
            let parts: Vec<Name> = import.name.parts.iter().map(|p| p.name.clone()).collect();
            let Found::Class(package) = self.look_from_root(&parts, import.name.span)? else {
                continue;
            };
            // Imports do not see what is protected, nor imports of the package.
            let Some(found) = self.member(package, name)? else {
                continue;
            };
            self.check_import_path(package, name, import.name.span)?;
            match first {
                Some((_, other)) if other != package => {
                    let packages = (&self.classes[other].name, &self.classes[package].name);
                    return Err(error(
                        codes::E0201,
                        import.name.span,
                        format!("`{name}` is imported from both `{}` and `{}`", packages.0, packages.1),
                    )
                    .with_help(format!("import one of them by name: `import {}.{name};`", packages.0))
                    .into());
                }
                _ => first = Some((found, package)),
            }
        }
        Ok(first.map(|(found, _)| found))
    }

    /// What a class imports must be there, whether it is used or not.
    pub(crate) fn check_imported(&mut self, class: ClassId) {
        let def = Arc::clone(&self.classes[class].def);
        if !self.has_imports(&def) || !self.imported.insert(Arc::as_ptr(&def)) {
            return;
        }
        for import in imports(&def) {
            let parts: Vec<Name> = import.name.parts.iter().map(|p| p.name.clone()).collect();
            let mut result = self.look_from_root(&parts, import.name.span);
            if let (Ok(Found::Class(package)), ImportKind::List(names)) = (&result, &import.kind) {
                let package = *package;
                for name in names {
                    match self.member(package, &name.name) {
                        Ok(Some(_)) => {}
                        Ok(None) => result = Err(self.unknown(Some(package), &name.name, name.span)),
                        Err(failure) => result = Err(failure),
                    }
                }
            }
            self.accept(result);
        }
    }

    /// A dotted name from the top level.
    fn look_from_root(&mut self, parts: &[Name], span: Span) -> Fallible<Found> {
        let Some((first, rest)) = parts.split_first() else {
            return Err(Failure::Reported);
        };
        let Some(root) = self.root_class(first).or_else(|| self.predefined.get(first).copied()) else {
            return Err(self.unknown(None, first, span));
        };
        let mut found = Found::Class(root);
        for part in rest {
            found = match found {
                Found::Class(class) => match self.member(class, part)? {
                    Some(found) => found,
                    None => return Err(self.unknown(Some(class), part, span)),
                },
                Found::Component(..) => {
                    return fail(codes::E0202, span, format!("`{part}` is looked up in a component"));
                }
            };
        }
        Ok(found)
    }

    /// A class by its name as written in `scope`.
    pub(crate) fn lookup_class(&mut self, scope: ClassId, name: &QualifiedName) -> Fallible<ClassId> {
        let (class, _) = self.lookup_path(scope, name, false)?;
        Ok(class)
    }

    /// A function by its name as written in a call, which may lead through components.
    pub(crate) fn lookup_callee(&mut self, scope: ClassId, name: &QualifiedName) -> Fallible<ClassId> {
        let (class, through_component) = self.lookup_path(scope, name, true)?;
        if through_component && !crate::function::is_function_kind(self.kind(class)) {
            return fail(
                codes::E0202,
                name.span,
                format!("`{name}` is looked up through a component, which only functions can be"),
            );
        }
        Ok(class)
    }

    /// A class, and whether the name leads through a component, which only names of functions that are called may. (The type
    /// of a component is not looked up through that component.)
    fn lookup_path(&mut self, scope: ClassId, name: &QualifiedName, called: bool) -> Fallible<(ClassId, bool)> {
        let Some(first) = name.parts.first() else {
            return Err(Failure::Reported);
        };
        if first.is_missing() {
            return Err(Failure::Reported);
        }
        let mut found = if name.global {
            match self.root_class(&first.name) {
                Some(class) => Found::Class(class),
                None => return Err(self.unknown(None, &first.name, first.span)),
            }
        } else {
            match self.lookup(scope, &first.name)? {
                Some(found) => found,
                None => return Err(self.unknown_from(scope, &first.name, first.span)),
            }
        };
        let mut through_component = false;
        for (position, part) in name.parts.iter().enumerate().skip(1) {
            let class = match found {
                Found::Class(class) => {
                    self.check_inside(class, &part.name, part.span)?;
                    class
                }
                Found::Component(..) if position > 1 && !through_component => {
                    return fail(
                        codes::E0202,
                        part.span,
                        format!("`{}` is looked up in a component of a class", part.name),
                    );
                }
                Found::Component(..) if !called => {
                    return fail(
                        codes::E0202,
                        name.span,
                        format!(
                            "`{name}` is looked up through a component, which only functions can be, and only to be called"
                        ),
                    );
                }
                Found::Component(class, index) => {
                    through_component = true;
                    self.component_type(class, index)?
                }
            };
            found = match self.member(class, &part.name)? {
                Some(found) => found,
                None => return Err(self.unknown(Some(class), &part.name, part.span)),
            };
            self.check_visible(scope, class, &part.name, part.span)?;
        }
        match found {
            Found::Class(class) => Ok((class, through_component)),
            Found::Component(..) => fail(
                codes::E0202,
                name.span,
                format!("`{name}` is a component where a class is needed"),
            ),
        }
    }

    /// The type of a component entry, as declared.
    pub(crate) fn component_type(&mut self, class: ClassId, index: u32) -> Fallible<ClassId> {
        let table = self.table(class)?;
        let entry = &table.entries[index as usize];
        if let Some(known) = entry.class.get() {
            return Ok(known);
        }
        let Some((clause, _)) = entry.component() else {
            return fail(codes::E0202, entry.span, format!("`{}` is not a component", entry.name));
        };
        let found = self.lookup_class(entry.scope, &clause.type_name)?;
        entry.class.set(Some(found));
        Ok(found)
    }

    fn unknown_from(&mut self, scope: ClassId, name: &Name, span: Span) -> Failure {
        let suggests = self.may_suggest();
        let mut stored: Vec<Arc<Vec<Name>>> = Vec::new();
        let mut current = suggests.then_some(scope);
        while let Some(class) = current {
            stored.push(self.stored_names(class));
            current = self.classes[class].parent;
        }
        let mut names: Vec<&str> = stored
            .iter()
            .flat_map(|names| names.iter())
            .map(|n| n.as_str())
            .collect();
        let mut current = suggests.then_some(scope);
        while let Some(class) = current {
            if let Some(table) = &self.classes[class].table {
                names.extend(table.by_name.keys().map(|n| n.as_str()));
            }
            names.extend(self.def(class).classes().map(|(_, d)| d.name.name.as_str()));
            current = self.classes[class].parent;
        }
        names.extend(self.predefined.keys().map(|n| n.as_str()));
        let mut diagnostic = error(
            codes::E0201,
            span,
            format!("`{name}` is not known in `{}`", self.classes[scope].name),
        );
        if let Some(other) = did_you_mean(name, names) {
            diagnostic = self.suggesting(diagnostic, name, span, other);
        } else if name.starts_with(char::is_uppercase) {
            diagnostic = diagnostic.with_help("if it is a library, name its folder with -L, or set MODELICAPATH");
        }
        diagnostic.into()
    }

    pub(crate) fn unknown(&mut self, class: Option<ClassId>, name: &Name, span: Span) -> Failure {
        let Some(class) = class else {
            return error(codes::E0201, span, format!("there is no top-level class `{name}`"))
                .with_help("name the folder of the library with -L, or set MODELICAPATH")
                .into();
        };
        let suggests = self.may_suggest();
        let message = format!("`{}` has no element `{name}`", self.classes[class].name);
        let mut diagnostic = error(codes::E0201, span, message);
        if let Some(told) = self.renamed(&diagnostic, class, name, span) {
            return told.into();
        }
        let stored = self.stored_names(class);
        let mut names: Vec<&str> = Vec::new();
        if suggests {
            let table = self.classes[class].table.iter();
            names.extend(table.flat_map(|table| table.by_name.keys()).map(|n| n.as_str()));
            names.extend(stored.iter().map(|n| n.as_str()));
        }
        if let Some(other) = did_you_mean(name, names) {
            diagnostic = self.suggesting(diagnostic, name, span, other);
        }
        diagnostic.into()
    }
}

/// A class as first declared, before redeclarations.
struct Original<'e> {
    scope: ClassId,
    name: &'e Name,
    def: &'e Arc<ClassDefinition>,
    constraining: Option<&'e ConstrainingClause>,
}

impl Original<'_> {
    /// The modifications that every redeclaration gets.
    fn modifications(&self) -> Fallible<Rc<Mod>> {
        if let Some(clause) = self.constraining {
            return constraining_mods(clause, self.scope, -1);
        }
        Ok(match &self.def.body {
            ClassBody::Short {
                modification: Some(m), ..
            } => Rc::new(modification::from_ast(m, self.scope, -1)?),
            _ => Rc::default(),
        })
    }
}

fn imports(def: &ClassDefinition) -> impl Iterator<Item = &Import> {
    let elements = def.composition().map_or(&[][..], |c| &c.elements);
    elements.iter().filter_map(|element| match &element.kind {
        ElementKind::Import(import) => Some(import),
        _ => None,
    })
}

fn names_import(import: &Import, name: &Name) -> bool {
    match &import.kind {
        ImportKind::Qualified => import.name.parts.last().is_some_and(|p| p.name == *name),
        ImportKind::Renaming(alias) => alias.name == *name,
        ImportKind::List(names) => names.iter().any(|n| n.name == *name),
        ImportKind::Unqualified => false,
    }
}
