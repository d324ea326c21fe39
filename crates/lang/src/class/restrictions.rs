//! What each kind of class may hold and inherit from (Language Specification 3.6, 4.7 and 7.1.3).

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::{
    ClassBody, ClassDefinition, ClassKind, Composition, Element, ElementKind, ImportKind, Name, Variability, Visibility,
};

use super::ClassTable;
use crate::codes;
use crate::failure::{Fallible, error, fail, tolerated};
use crate::flattener::Flattener;
use crate::ids::ClassId;

const RESERVED: [&str; 4] = ["Real", "Integer", "Boolean", "String"];

impl Flattener<'_> {
    /// The packages on the way to an imported name must be packages, and the name public.
    pub(super) fn check_import_path(&mut self, package: ClassId, name: &Name, span: Span) -> Fallible<()> {
        if !matches!(
            self.kind(package),
            ClassKind::Package | ClassKind::Class | ClassKind::Operator | ClassKind::OperatorRecord
        ) {
            return fail(
                codes::E0202,
                span,
                format!(
                    "`{}` is not a package: nothing can be imported from it",
                    self.classes[package].name
                ),
            );
        }
        if self.is_building(package) {
            return Ok(());
        }
        let table = self.table(package)?;
        match table.find(name) {
            Some((_, entry)) if entry.protected => fail(
                codes::E0210,
                span,
                format!(
                    "`{name}` is protected in `{}` and cannot be imported",
                    self.classes[package].name
                ),
            ),
            _ => Ok(()),
        }
    }

    /// Which kinds of classes may inherit from which.
    pub(super) fn check_base_kind(&mut self, class: ClassId, base: ClassId, span: Span) -> Fallible<()> {
        use ClassKind as K;
        if self.classes[base].predefined.is_some() {
            return match (self.classes[base].predefined, self.kind(class)) {
                (Some(super::Predefined::ExternalObject), _) => Ok(()),
                (_, K::Type | K::Connector | K::Class) => Ok(()),
                (_, kind) => fail(
                    codes::E0217,
                    span,
                    format!(
                        "a {} cannot inherit from the type `{}`",
                        kind.as_str(),
                        self.classes[base].name
                    ),
                ),
            };
        }
        let (derived, kind) = (self.kind(class), self.kind(base));
        let long = !matches!(self.def(class).body, ClassBody::Short { .. });
        if long && kind == K::OperatorRecord && derived == kind {
            return Err(error(
                codes::E0217,
                span,
                format!(
                    "a class cannot extend the operator record `{}`",
                    self.classes[base].name
                ),
            )
            .with_help("only a short definition can: `operator record R = …`")
            .into());
        }
        if long && holds_operator_record(self.def(base)) {
            return fail(
                codes::E0217,
                span,
                format!(
                    "`{}` holds an operator record and cannot be extended",
                    self.classes[base].name
                ),
            );
        }
        let allowed = match derived {
            K::Class => true,
            _ if kind == K::Class || kind == derived => true,
            K::OperatorFunction => kind == K::Function,
            K::Function => kind == K::OperatorFunction,
            K::Connector => matches!(kind, K::Type | K::Record | K::OperatorRecord),
            K::ExpandableConnector => matches!(kind, K::Connector | K::Record),
            K::Block => kind == K::Record,
            K::Model => matches!(kind, K::Record | K::Block),
            K::OperatorRecord => false,
            K::Package => kind == K::Operator,
            _ => false,
        };
        if allowed {
            return Ok(());
        }
        fail(
            codes::E0217,
            span,
            format!(
                "a {} cannot inherit from the {} `{}`",
                derived.as_str(),
                kind.as_str(),
                self.classes[base].name
            ),
        )
    }

    /// A class that is an array or a simple type has no components besides.
    pub(super) fn check_simple(&self, table: &ClassTable, def: &ClassDefinition) -> Fallible<()> {
        if table.simple == Some(super::SimpleType::ExternalObject) {
            return check_external_object(table, def);
        }
        let special = table.simple.is_some() || !table.dims.is_empty() || table.causality.is_some();
        if !special {
            return Ok(());
        }
        match table.entries.iter().find(|e| e.component().is_some()) {
            Some(entry) => fail(
                codes::E0217,
                entry.span,
                format!(
                    "`{}` inherits from a simple or array type and cannot have components",
                    def.name
                ),
            ),
            None => Ok(()),
        }
    }

    /// In a partial class nothing is looked up by a dotted name, and in one that is no package only
    /// classes that are encapsulated (Language Specification 3.6, 5.3.2).
    pub(crate) fn check_inside(&mut self, class: ClassId, name: &Name, span: Span) -> Fallible<()> {
        if self.kind(class) == ClassKind::Package && !self.def(class).partial || self.is_building(class) {
            return Ok(());
        }
        let table = self.table(class)?;
        if table.is_partial {
            return Err(error(
                codes::E0208,
                span,
                format!(
                    "`{}` is partial: `{name}` cannot be looked up in it",
                    self.classes[class].name
                ),
            )
            .into());
        }
        if table.simple.is_some() || table.is_package_like() {
            return Ok(());
        }
        let encapsulated = match table.find(name) {
            Some((_, entry)) => matches!(&entry.kind, super::table::EntryKind::Class(c) if c.def.encapsulated),
            None => true,
        };
        if encapsulated {
            return Ok(());
        }
        Err(error(
            codes::E0202,
            span,
            format!(
                "`{name}` cannot be looked up in the {} `{}`, which is not a package",
                self.kind(class).as_str(),
                self.classes[class].name
            ),
        )
        .with_help("only encapsulated classes can be; or move it into a package")
        .into())
    }

    /// A protected class or constant must not be reached from outside.
    pub(crate) fn check_visible(&mut self, scope: ClassId, class: ClassId, name: &Name, span: Span) -> Fallible<()> {
        if self.is_building(class) {
            return Ok(());
        }
        let Ok(table) = self.table(class) else {
            return Ok(());
        };
        if !table.find(name).is_some_and(|(_, entry)| entry.protected) {
            return Ok(());
        }
        let def = Arc::clone(self.def(class));
        let mut current = Some(scope);
        while let Some(inner) = current {
            if Arc::ptr_eq(self.def(inner), &def) {
                return Ok(());
            }
            current = self.classes[inner].parent;
        }
        fail(
            codes::E0210,
            span,
            format!("`{name}` is protected in `{}`", self.classes[class].name),
        )
    }

    /// A redeclaration must offer everything its constraining type has.
    pub(crate) fn check_constraint(&mut self, new: ClassId, constraint: ClassId, span: Span) -> Fallible<()> {
        if new == constraint || Arc::ptr_eq(self.def(new), self.def(constraint)) {
            return Ok(());
        }
        if let Some(reason) = self.mismatch_with(new, constraint, 3)? {
            return Err(error(
                codes::E0219,
                span,
                format!(
                    "`{}` does not fit `{}`: {reason}",
                    self.classes[new].name, self.classes[constraint].name
                ),
            )
            .with_help("it must have all public elements of the constraining type")
            .into());
        }
        Ok(())
    }

    /// Why one class cannot take the place of another.
    pub(crate) fn type_mismatch(&mut self, new: ClassId, old: ClassId) -> Fallible<Option<String>> {
        self.mismatch_with(new, old, 3)
    }

    /// The same, looked at so many levels deep.
    fn mismatch_with(&mut self, new: ClassId, old: ClassId, depth: u32) -> Fallible<Option<String>> {
        if depth == 0 || self.is_building(new) || self.is_building(old) {
            return Ok(None);
        }
        if Arc::ptr_eq(self.def(new), self.def(old)) {
            return Ok(None);
        }
        let (Ok(a), Ok(b)) = (self.table(new), self.table(old)) else {
            return Ok(None);
        };
        let (a, b): (Rc<ClassTable>, Rc<ClassTable>) = (a, b);
        if a.simple.is_some() || b.simple.is_some() {
            let same = match (a.simple, b.simple) {
                (Some(super::SimpleType::Enumeration(x)), Some(super::SimpleType::Enumeration(y))) => {
                    Arc::ptr_eq(self.def(x), self.def(y)) || open_enumeration(self.def(y))
                }
                (x, y) => x == y,
            };
            let dims = a.dims.len() == b.dims.len();
            return Ok((!same || !dims).then(|| "the types differ".to_owned()));
        }
        for (index, entry) in b.entries.iter().enumerate() {
            if entry.protected || entry.component().is_none() {
                continue;
            }
            let Some((position, found)) = a.find(&entry.name).filter(|(_, e)| e.component().is_some()) else {
                return Ok(Some(format!("it has no component `{}`", entry.name)));
            };
            if found.protected {
                return Ok(Some(format!("`{}` is protected", entry.name)));
            }
            let (Ok(x), Ok(y)) = (
                self.component_type(new, position),
                self.component_type(old, index as u32),
            ) else {
                continue;
            };
            if let Some(reason) = self.mismatch_with(x, y, depth - 1)? {
                return Ok(Some(format!("in `{}`, {reason}", entry.name)));
            }
        }
        Ok(None)
    }
}

/// An external object is made by its constructor and ended by its destructor, and is nothing else (12.9.7).
fn check_external_object(table: &ClassTable, def: &ClassDefinition) -> Fallible<()> {
    let wanted = ["constructor", "destructor"];
    let other = table
        .entries
        .iter()
        .find(|entry| !wanted.contains(&entry.name.as_str()));
    let missing = wanted.iter().find(|name| table.find(name).is_none());
    match (other, missing) {
        (Some(entry), _) => fail(
            codes::E0216,
            entry.span,
            format!(
                "an external object has a constructor and a destructor only, but `{}` has `{}`",
                def.name, entry.name
            ),
        ),
        (None, Some(name)) => fail(
            codes::E0216,
            def.name.span,
            format!("the external object `{}` has no {name}", def.name),
        ),
        (None, None) => Ok(()),
    }
}

/// Checks a class definition on its own, when its elements are first asked for.
pub(super) fn check_definition(def: &ClassDefinition) -> Fallible<()> {
    if RESERVED.contains(&def.name.name.as_str()) {
        return fail(
            codes::E0218,
            def.name.span,
            format!("`{}` is a predefined type", def.name),
        );
    }
    if let ClassBody::Enumeration {
        literals: Some(literals),
    } = &def.body
    {
        let mut seen: FxHashSet<&Name> = FxHashSet::default();
        for literal in literals {
            let name = &literal.name.name;
            if !seen.insert(name) {
                return fail(
                    codes::E0204,
                    literal.name.span,
                    format!("the literal `{name}` is declared twice"),
                );
            }
            if ["quantity", "min", "max", "start", "fixed"].contains(&name.as_str()) {
                return fail(
                    codes::E0218,
                    literal.name.span,
                    format!("`{name}` is an attribute and cannot be a literal"),
                );
            }
        }
    }
    let Some(composition) = def.composition() else {
        return Ok(());
    };
    check_sections(def, composition)?;
    for element in &composition.elements {
        check_element(def, element)?;
    }
    check_imports(composition)
}

/// The operators of an operator record belong to one class only, so what is around it is not inherited (4.7).
fn holds_operator_record(def: &ClassDefinition) -> bool {
    def.classes()
        .any(|(_, inner)| inner.kind == ClassKind::OperatorRecord && matches!(inner.body, ClassBody::Long(_)))
}

const OPERATORS: [&str; 17] = [
    "'constructor'",
    "'0'",
    "'String'",
    "'+'",
    "'-'",
    "'*'",
    "'/'",
    "'^'",
    "'=='",
    "'<>'",
    "'>'",
    "'<'",
    "'>='",
    "'<='",
    "'and'",
    "'or'",
    "'not'",
];

/// The operators of a record have the names of operators, and see nothing of what is around (14.1). Operators stand nowhere
/// else (4.7).
pub(super) fn misplaced_operators(def: &ClassDefinition) -> Vec<Diagnostic> {
    let in_record = def.kind == ClassKind::OperatorRecord;
    let mut found = Vec::new();
    for (_, operator) in def.classes() {
        if !matches!(operator.kind, ClassKind::Operator | ClassKind::OperatorFunction) {
            continue;
        }
        let name = &operator.name;
        if !in_record {
            found.extend(misplaced_operator(operator));
        } else if !OPERATORS.contains(&name.name.as_str()) {
            let diagnostic = tolerated(codes::E0216, name.span, format!("there is no operator `{name}`"));
            found.push(diagnostic.with_help(format!("operators are {}", OPERATORS.join(" "))));
        } else if !operator.encapsulated {
            let message = format!("the operator {name} must be encapsulated");
            let diagnostic = tolerated(codes::E0216, name.span, message);
            found.push(diagnostic.with_help("write `encapsulated` before it, and import the record inside"));
        }
    }
    found
}

/// An operator belongs to an operator record.
pub(crate) fn misplaced_operator(operator: &ClassDefinition) -> Option<Diagnostic> {
    matches!(operator.kind, ClassKind::Operator | ClassKind::OperatorFunction).then(|| {
        let message = format!(
            "the {} `{}` stands outside of an operator record",
            operator.kind.as_str(),
            operator.name
        );
        tolerated(codes::E0216, operator.name.span, message)
    })
}

fn open_enumeration(def: &ClassDefinition) -> bool {
    matches!(def.body, ClassBody::Enumeration { literals: None })
}

fn check_sections(def: &ClassDefinition, composition: &Composition) -> Fallible<()> {
    let first_equation = composition.equations.first().map(|s| s.span);
    let first_algorithm = composition.algorithms.first().map(|s| s.span);
    let forbidden = |span: Span, what: &str| -> Fallible<()> {
        fail(
            codes::E0216,
            span,
            format!("a {} cannot have {what}", def.kind.as_str()),
        )
    };
    match def.kind {
        ClassKind::Record
        | ClassKind::OperatorRecord
        | ClassKind::Connector
        | ClassKind::ExpandableConnector
        | ClassKind::Package
        | ClassKind::Type
        | ClassKind::Operator => {
            if let Some(span) = first_equation {
                return forbidden(span, "equations");
            }
            if let Some(span) = first_algorithm {
                return forbidden(span, "algorithms");
            }
        }
        ClassKind::Function | ClassKind::OperatorFunction => {
            if let Some(span) = first_equation {
                return forbidden(span, "equations");
            }
            if let Some(section) = composition.algorithms.iter().find(|s| s.initial) {
                return forbidden(section.span, "initial algorithms");
            }
            if let Some(second) = composition.algorithms.get(1) {
                return forbidden(second.span, "more than one algorithm section");
            }
        }
        _ => {}
    }
    Ok(())
}

fn check_element(def: &ClassDefinition, element: &Element) -> Fallible<()> {
    let forbidden = |what: &str| -> Fallible<()> {
        fail(
            codes::E0216,
            element.span,
            format!("a {} cannot have {what}", def.kind.as_str()),
        )
    };
    match &element.kind {
        ElementKind::Import(_) => return Ok(()),
        ElementKind::Extends(_) => {
            return match def.kind {
                ClassKind::OperatorRecord if element.visibility == Visibility::Protected => {
                    forbidden("protected elements")
                }
                _ => Ok(()),
            };
        }
        _ => {}
    }
    if let ElementKind::Components(clause) = &element.kind {
        for component in &clause.components {
            if component.name.name == "time" && def.kind != ClassKind::Function {
                let message = "`time` is the time of the simulation and cannot be declared";
                return fail(codes::E0218, component.name.span, message);
            }
            if RESERVED.contains(&component.name.name.as_str()) {
                return fail(
                    codes::E0218,
                    component.name.span,
                    format!("`{}` is a predefined type", component.name),
                );
            }
        }
    }
    let data = matches!(
        def.kind,
        ClassKind::Record | ClassKind::OperatorRecord | ClassKind::Connector | ClassKind::ExpandableConnector
    );
    if data {
        if element.visibility == Visibility::Protected {
            return forbidden("protected elements");
        }
        if element.inner || element.outer {
            return forbidden("inner or outer elements");
        }
    }
    match (&element.kind, def.kind) {
        (ElementKind::Components(clause), ClassKind::Record | ClassKind::OperatorRecord)
            if clause.prefix.connector.is_some() || clause.prefix.causality.is_some() =>
        {
            forbidden("elements with the prefixes flow, stream, input or output")
        }
        (ElementKind::Components(clause), ClassKind::Package)
            if clause.prefix.variability != Some(Variability::Constant) && !element.outer =>
        {
            forbidden("components other than constants")
        }
        (ElementKind::Components(_), ClassKind::Operator) => forbidden("components"),
        (ElementKind::Class(inner), ClassKind::Operator)
            if !matches!(inner.kind, ClassKind::Function | ClassKind::OperatorFunction) =>
        {
            forbidden("classes other than functions")
        }
        (ElementKind::Components(_), ClassKind::Function | ClassKind::OperatorFunction) => {
            check_function_element(element)
        }
        _ => Ok(()),
    }
}

fn check_function_element(element: &Element) -> Fallible<()> {
    if element.inner || element.outer {
        return fail(
            codes::E0216,
            element.span,
            "a function cannot have inner or outer elements",
        );
    }
    Ok(())
}

/// No name is imported twice.
fn check_imports(composition: &Composition) -> Fallible<()> {
    let mut names: Vec<&Name> = Vec::new();
    for element in &composition.elements {
        let ElementKind::Import(import) = &element.kind else {
            continue;
        };
        let imported: Vec<&Name> = match &import.kind {
            ImportKind::Qualified => import.name.parts.last().map(|p| &p.name).into_iter().collect(),
            ImportKind::Renaming(alias) => vec![&alias.name],
            ImportKind::List(list) => list.iter().map(|i| &i.name).collect(),
            ImportKind::Unqualified => Vec::new(),
        };
        for name in imported {
            if names.contains(&name) {
                return fail(codes::E0204, import.span, format!("`{name}` is imported twice"));
            }
            names.push(name);
        }
    }
    Ok(())
}
