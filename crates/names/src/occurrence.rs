//! Every name of a file, with the way to resolve it.

use std::sync::Arc;

use saltus_syntax::ast::{
    Annotation, Argument, Binding, Call, CallArguments, ClassBody, ClassDefinition, ClassModification, Component,
    ComponentClause, ComponentReference, Composition, ConstrainingClause, Element, ElementKind, Equation, EquationKind,
    Expr, ExprKind, ForIndex, Ident, Import, ImportKind, InheritanceBreakKind, Modification, QualifiedName,
    Redeclaration, RedeclarationKind, Statement, StatementKind, Subscript,
};
use saltus_syntax::library::ParsedFile;

use crate::builtin::{attributes, builtin_function, predefined_literals};
use crate::class::{ClassId, Names};
use crate::lookup::Found;
use crate::target::{Target, Type};

/// What a name does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is declared.
    Declaration,
    /// It names a class.
    Class,
    /// It is read, or written in a connection or assignment.
    Reference,
    /// It is assigned.
    Assignment,
    /// It is called.
    Call,
    /// It is modified.
    Modifier,
    /// It names an argument of a call.
    Argument,
}

/// The index of a loop around a place.
#[derive(Clone, Debug)]
pub struct Local(pub Ident);

/// What a modification is about.
#[derive(Clone, Copy, Debug)]
pub enum Modified<'a> {
    /// A type as it is written in a class; that of an `extends` clause where the flag says so.
    Type(ClassId, &'a QualifiedName, bool),
    /// An element of something that is modified.
    Inside(&'a Modified<'a>, &'a QualifiedName),
}

/// How to resolve a name.
#[derive(Clone, Copy, Debug)]
pub enum Site<'a> {
    /// The declaration of a class.
    Class(ClassId),
    /// The declaration of a member of a class.
    Member(ClassId),
    /// The declaration of a loop index.
    Index,
    /// A part of the name of a class.
    Name(ClassId, &'a QualifiedName, usize),
    /// A part of the name of a base class.
    Base(ClassId, &'a QualifiedName, usize),
    /// A part of a name that starts at the top level.
    Root(&'a QualifiedName, usize),
    /// A name in the list of an import clause.
    Listed(&'a QualifiedName),
    /// The name that an import clause gives.
    Alias(&'a QualifiedName),
    /// A part of a reference.
    Reference(ClassId, &'a [Local], &'a ComponentReference, usize),
    /// A part of the name of an element that is modified.
    Modifier(&'a Modified<'a>, &'a QualifiedName, usize),
    /// An element that is redeclared in a modification or left out.
    Element(&'a Modified<'a>),
    /// An argument of a function.
    Argument(ClassId, &'a [Local], &'a ComponentReference),
    /// An argument of a function, by the name of the function.
    PartialArgument(ClassId, &'a QualifiedName),
}

/// A name in a file.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// The name.
    pub ident: &'a Ident,
    /// What it does there.
    pub role: Role,
    /// How to resolve it.
    pub site: Site<'a>,
    /// Whether it stands in an annotation, where names may mean nothing.
    pub in_annotation: bool,
}

/// Annotations that hold pictures and texts, in which no name of the model occurs.
const PICTURES: &[&str] = &[
    "Icon",
    "Diagram",
    "Placement",
    "Line",
    "Text",
    "Documentation",
    "Coordsys",
    "DocumentationClass",
    "IconMap",
    "DiagramMap",
    "version",
    "versionDate",
    "versionBuild",
    "dateModified",
    "uses",
    "conversion",
    "preferredView",
    "revisionId",
    "__Dymola_Commands",
    "Library",
    "LibraryDirectory",
    "Include",
    "IncludeDirectory",
    "Figures",
    "figures",
];

/// Calls `visit` with every name of a file, in no particular order.
pub fn occurrences<'l>(
    names: &mut Names<'l>,
    parsed: &ParsedFile,
    visit: &mut dyn FnMut(&mut Names<'l>, Occurrence<'_>),
) {
    if let Some(name) = parsed
        .definition
        .within
        .as_ref()
        .and_then(|within| within.name.as_ref())
    {
        for (part, ident) in name.parts.iter().enumerate() {
            let occurrence = Occurrence {
                ident,
                role: Role::Class,
                site: Site::Root(name, part),
                in_annotation: false,
            };
            visit(names, occurrence);
        }
    }
    for stored in &parsed.definition.classes {
        let class = names.class_of_file(parsed, &stored.class);
        let mut walker = Walker {
            names: &mut *names,
            visit: &mut *visit,
            scope: class,
            locals: Vec::new(),
            in_annotation: false,
        };
        walker.class(class);
    }
}

struct Walker<'w, 'l> {
    names: &'w mut Names<'l>,
    visit: &'w mut dyn FnMut(&mut Names<'l>, Occurrence<'_>),
    scope: ClassId,
    locals: Vec<Local>,
    in_annotation: bool,
}

impl Walker<'_, '_> {
    fn meet(&mut self, ident: &Ident, role: Role, site: Site<'_>) {
        if ident.is_missing() {
            return;
        }
        let in_annotation = self.in_annotation;
        (self.visit)(
            self.names,
            Occurrence {
                ident,
                role,
                site,
                in_annotation,
            },
        );
    }

    fn class(&mut self, class: ClassId) {
        let outside = std::mem::replace(&mut self.scope, class);
        let locals = std::mem::take(&mut self.locals);
        let definition = Arc::clone(self.names.definition(class));
        self.meet(&definition.name, Role::Declaration, Site::Class(class));
        self.body(&definition, self.names.parent(class));
        if let Some(annotation) = &definition.annotation {
            self.annotation(annotation);
        }
        self.locals = locals;
        self.scope = outside;
    }

    fn body(&mut self, definition: &ClassDefinition, parent: Option<ClassId>) {
        match &definition.body {
            ClassBody::Long(composition) => self.composition(composition),
            ClassBody::Extends {
                modification,
                composition,
            } => {
                // The class that is extended is the inherited one of this name.
                if let Some(modification) = modification {
                    let own = QualifiedName {
                        global: false,
                        parts: vec![definition.name.clone()],
                        span: definition.name.span,
                    };
                    let scope = parent.unwrap_or(self.scope);
                    self.modifications(modification, Modified::Type(scope, &own, false));
                }
                self.composition(composition);
            }
            ClassBody::Short {
                base,
                subscripts,
                modification,
                ..
            } => {
                // What a short definition names is looked up around it.
                let inside = self.scope;
                match parent {
                    Some(parent) => {
                        self.scope = parent;
                        self.qualified(base, Role::Class);
                    }
                    None => self.rooted(base),
                }
                self.subscripts(subscripts);
                if let Some(modification) = modification {
                    self.modifications(modification, Modified::Type(self.scope, base, false));
                }
                self.scope = inside;
            }
            ClassBody::Derivative {
                function,
                with_respect_to,
            } => {
                self.qualified(function, Role::Class);
                for argument in with_respect_to {
                    self.meet(argument, Role::Argument, Site::PartialArgument(self.scope, function));
                }
            }
            ClassBody::Enumeration { literals } => {
                for literal in literals.iter().flatten() {
                    self.meet(&literal.name, Role::Declaration, Site::Member(self.scope));
                }
            }
            ClassBody::Error => {}
        }
    }

    fn composition(&mut self, composition: &Composition) {
        for element in &composition.elements {
            self.element(element);
        }
        for section in &composition.equations {
            self.equations(&section.equations);
        }
        for section in &composition.algorithms {
            self.statements(&section.statements);
        }
        if let Some(external) = &composition.external {
            if let Some(call) = &external.call {
                if let Some(result) = &call.result {
                    self.reference(result, Role::Assignment);
                }
                call.arguments.iter().for_each(|argument| self.expr(argument));
            }
            if let Some(annotation) = &external.annotation {
                self.annotation(annotation);
            }
        }
    }

    fn element(&mut self, element: &Element) {
        match &element.kind {
            ElementKind::Import(import) => self.import(import),
            ElementKind::Extends(extends) => {
                for (part, ident) in extends.base.parts.iter().enumerate() {
                    self.meet(ident, Role::Class, Site::Base(self.scope, &extends.base, part));
                }
                if let Some(modification) = &extends.modification {
                    self.modifications(modification, Modified::Type(self.scope, &extends.base, true));
                }
            }
            ElementKind::Class(definition) => {
                let class = self.names.inner(self.scope, definition);
                self.class(class);
            }
            ElementKind::Components(clause) => {
                self.clause(clause);
                for component in &clause.components {
                    self.meet(&component.name, Role::Declaration, Site::Member(self.scope));
                    self.component(clause, component);
                }
            }
        }
        if let Some(constraining) = &element.constraining {
            self.constraining(constraining);
        }
    }

    fn import(&mut self, import: &Import) {
        self.rooted(&import.name);
        match &import.kind {
            ImportKind::Renaming(alias) => self.meet(alias, Role::Declaration, Site::Alias(&import.name)),
            ImportKind::List(listed) => {
                for ident in listed {
                    self.meet(ident, Role::Class, Site::Listed(&import.name));
                }
            }
            ImportKind::Qualified | ImportKind::Unqualified => {}
        }
    }

    fn constraining(&mut self, clause: &ConstrainingClause) {
        self.qualified(&clause.base, Role::Class);
        if let Some(modification) = &clause.modification {
            self.modifications(modification, Modified::Type(self.scope, &clause.base, false));
        }
    }

    fn clause(&mut self, clause: &ComponentClause) {
        self.qualified(&clause.type_name, Role::Class);
        self.subscripts(&clause.subscripts);
    }

    fn component(&mut self, clause: &ComponentClause, component: &Component) {
        self.subscripts(&component.subscripts);
        if let Some(modification) = &component.modification {
            self.modification(modification, Modified::Type(self.scope, &clause.type_name, false));
        }
        if let Some(condition) = &component.condition {
            self.expr(condition);
        }
        if let Some(annotation) = &component.annotation {
            self.annotation(annotation);
        }
    }

    fn qualified(&mut self, name: &QualifiedName, role: Role) {
        for (part, ident) in name.parts.iter().enumerate() {
            self.meet(ident, role, Site::Name(self.scope, name, part));
        }
    }

    fn rooted(&mut self, name: &QualifiedName) {
        for (part, ident) in name.parts.iter().enumerate() {
            self.meet(ident, Role::Class, Site::Root(name, part));
        }
    }

    fn modification(&mut self, modification: &Modification, modified: Modified<'_>) {
        if let Some(class_modification) = &modification.class_modification {
            self.modifications(class_modification, modified);
        }
        if let Some(Binding::Expr(value)) = &modification.binding {
            self.expr(value);
        }
    }

    fn modifications(&mut self, modification: &ClassModification, modified: Modified<'_>) {
        for argument in &modification.arguments {
            match argument {
                Argument::Modification(element) => {
                    for (part, ident) in element.name.parts.iter().enumerate() {
                        self.meet(ident, Role::Modifier, Site::Modifier(&modified, &element.name, part));
                    }
                    if let Some(inside) = &element.modification {
                        self.modification(inside, Modified::Inside(&modified, &element.name));
                    }
                }
                Argument::Redeclaration(redeclaration) => self.redeclaration(redeclaration, modified),
                Argument::Break(left_out) => match &left_out.kind {
                    InheritanceBreakKind::Element(name) => self.meet(name, Role::Modifier, Site::Element(&modified)),
                    InheritanceBreakKind::Connect(left, right) => {
                        self.reference(left, Role::Reference);
                        self.reference(right, Role::Reference);
                    }
                },
            }
        }
    }

    fn redeclaration(&mut self, redeclaration: &Redeclaration, modified: Modified<'_>) {
        match &redeclaration.kind {
            RedeclarationKind::Class(definition) => {
                self.meet(&definition.name, Role::Modifier, Site::Element(&modified));
                // The new class is written here: its names are looked up from here.
                let class = self.names.inner(self.scope, definition);
                let here = self.scope;
                self.scope = class;
                self.body(definition, Some(here));
                self.scope = here;
            }
            RedeclarationKind::Component(clause) => {
                self.clause(clause);
                for component in &clause.components {
                    self.meet(&component.name, Role::Modifier, Site::Element(&modified));
                    self.component(clause, component);
                }
            }
        }
        if let Some(constraining) = &redeclaration.constraining {
            self.constraining(constraining);
        }
    }

    /// Names in annotations count where they may be names of the model.
    fn annotation(&mut self, annotation: &Annotation) {
        let outside = std::mem::replace(&mut self.in_annotation, true);
        self.annotation_arguments(&annotation.modification);
        self.in_annotation = outside;
    }

    fn annotation_arguments(&mut self, modification: &ClassModification) {
        for argument in &modification.arguments {
            let Argument::Modification(element) = argument else {
                continue;
            };
            let is_picture = |name: &Ident| PICTURES.contains(&name.name.as_str());
            if element.name.parts.first().is_some_and(is_picture) {
                continue;
            }
            let Some(inside) = &element.modification else { continue };
            if let Some(inner) = &inside.class_modification {
                self.annotation_arguments(inner);
            }
            if let Some(Binding::Expr(value)) = &inside.binding {
                self.expr(value);
            }
        }
    }

    fn subscripts(&mut self, subscripts: &[Subscript]) {
        for subscript in subscripts {
            if let Subscript::Expr(expr) = subscript {
                self.expr(expr);
            }
        }
    }

    fn reference(&mut self, reference: &ComponentReference, role: Role) {
        let locals = std::mem::take(&mut self.locals);
        let last = reference.parts.len().saturating_sub(1);
        for (part, named) in reference.parts.iter().enumerate() {
            let role = if part == last { role } else { Role::Reference };
            self.meet(&named.name, role, Site::Reference(self.scope, &locals, reference, part));
        }
        self.locals = locals;
        for part in &reference.parts {
            self.subscripts(&part.subscripts);
        }
    }

    fn indexed(&mut self, indices: &[ForIndex], inside: impl FnOnce(&mut Self)) {
        let outside = self.locals.len();
        for index in indices {
            if let Some(range) = &index.range {
                self.expr(range);
            }
            self.meet(&index.name, Role::Declaration, Site::Index);
            self.locals.push(Local(index.name.clone()));
        }
        inside(self);
        self.locals.truncate(outside);
    }

    fn equations(&mut self, equations: &[Equation]) {
        for equation in equations {
            self.equation(&equation.kind);
            if let Some(annotation) = &equation.annotation {
                self.annotation(annotation);
            }
        }
    }

    fn equation(&mut self, equation: &EquationKind) {
        match equation {
            EquationKind::Simple { lhs, rhs } => {
                self.expr(lhs);
                self.expr(rhs);
            }
            EquationKind::If { branches, otherwise } => {
                for branch in branches {
                    self.expr(&branch.condition);
                    self.equations(&branch.body);
                }
                self.equations(otherwise.as_deref().unwrap_or_default());
            }
            EquationKind::For { indices, body } => self.indexed(indices, |walker| walker.equations(body)),
            EquationKind::When { branches } => {
                for branch in branches {
                    self.expr(&branch.condition);
                    self.equations(&branch.body);
                }
            }
            EquationKind::Connect { left, right } => {
                self.reference(left, Role::Reference);
                self.reference(right, Role::Reference);
            }
            EquationKind::Call(call) => self.expr(call),
            EquationKind::Error => {}
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(&statement.kind);
            if let Some(annotation) = &statement.annotation {
                self.annotation(annotation);
            }
        }
    }

    fn statement(&mut self, statement: &StatementKind) {
        match statement {
            StatementKind::Assign { target, value } => {
                self.reference(target, Role::Assignment);
                self.expr(value);
            }
            StatementKind::MultiAssign { targets, value } => {
                for target in targets.iter().flatten() {
                    match &target.kind {
                        ExprKind::Reference(reference) => self.reference(reference, Role::Assignment),
                        _ => self.expr(target),
                    }
                }
                self.expr(value);
            }
            StatementKind::Call(call) => self.expr(call),
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    self.expr(&branch.condition);
                    self.statements(&branch.body);
                }
                self.statements(otherwise.as_deref().unwrap_or_default());
            }
            StatementKind::For { indices, body } => self.indexed(indices, |walker| walker.statements(body)),
            StatementKind::While { condition, body } => {
                self.expr(condition);
                self.statements(body);
            }
            StatementKind::When { branches } => {
                for branch in branches {
                    self.expr(&branch.condition);
                    self.statements(&branch.body);
                }
            }
            StatementKind::Break | StatementKind::Return | StatementKind::Error => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Reference(reference) => self.reference(reference, Role::Reference),
            ExprKind::Call(call) => self.call(call),
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Range { start, step, stop } => {
                self.expr(start);
                if let Some(step) = step {
                    self.expr(step);
                }
                self.expr(stop);
            }
            ExprKind::If { branches, otherwise } => {
                for (condition, value) in branches {
                    self.expr(condition);
                    self.expr(value);
                }
                self.expr(otherwise);
            }
            ExprKind::Array(elements) => elements.iter().for_each(|element| self.expr(element)),
            ExprKind::ArrayComprehension { element, indices } => {
                self.indexed(indices, |walker| walker.expr(element));
            }
            ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|element| self.expr(element)),
            ExprKind::Tuple(elements) => elements.iter().flatten().for_each(|element| self.expr(element)),
            ExprKind::Subscripted(inner, subscripts) => {
                self.expr(inner);
                self.subscripts(subscripts);
            }
            ExprKind::PartialFunction(partial) => {
                self.qualified(&partial.function, Role::Call);
                for argument in &partial.arguments {
                    let site = Site::PartialArgument(self.scope, &partial.function);
                    self.meet(&argument.name, Role::Argument, site);
                    self.expr(&argument.value);
                }
            }
            ExprKind::Integer(_)
            | ExprKind::Real(_)
            | ExprKind::String(_)
            | ExprKind::Boolean(_)
            | ExprKind::End
            | ExprKind::Error => {}
        }
    }

    fn call(&mut self, call: &Call) {
        self.reference(&call.function, Role::Call);
        match &call.arguments {
            CallArguments::List { positional, named } => {
                positional.iter().for_each(|argument| self.expr(argument));
                for argument in named {
                    let locals = std::mem::take(&mut self.locals);
                    let site = Site::Argument(self.scope, &locals, &call.function);
                    self.meet(&argument.name, Role::Argument, site);
                    self.locals = locals;
                    self.expr(&argument.value);
                }
            }
            CallArguments::Comprehension { element, indices } => {
                self.indexed(indices, |walker| walker.expr(element));
            }
        }
    }
}

impl Names<'_> {
    /// What an occurrence means.
    pub fn resolve(&mut self, occurrence: &Occurrence<'_>) -> Option<Target> {
        let ident = occurrence.ident;
        match occurrence.site {
            Site::Class(class) => Some(Target::Class(class)),
            Site::Member(class) => {
                let member = self.table(class).find(&ident.name).cloned();
                member.map(Target::Member)
            }
            Site::Index => Some(Target::Index(ident.clone())),
            Site::Name(scope, name, part) => self.lookup_parts(scope, name, part + 1).map(Target::from),
            Site::Base(class, name, part) => self.lookup_base_parts(class, name, part + 1).map(Target::from),
            Site::Root(name, part) => self.rooted_parts(name, part + 1).map(Target::from),
            Site::Listed(package) => {
                let package = self.rooted_parts(package, package.parts.len())?;
                self.inside(&package, &ident.name).map(Target::from)
            }
            Site::Alias(name) => {
                let meant = self.rooted_parts(name, name.parts.len())?;
                Some(Target::Alias(ident.clone(), Box::new(meant.into())))
            }
            Site::Reference(scope, locals, reference, part) => {
                let called = occurrence.role == Role::Call;
                self.resolve_reference(scope, locals, reference, part, called)
            }
            Site::Modifier(modified, name, part) => self.resolve_modifier(modified, name, part),
            Site::Element(modified) => match self.modified_type(modified)? {
                Type::Class(class) => self.member(class, &ident.name).map(Target::from),
                Type::Predefined(_) => None,
            },
            Site::Argument(scope, locals, function) => {
                let last = function.parts.len().checked_sub(1)?;
                match self.resolve_reference(scope, locals, function, last, true)? {
                    Target::Class(class) => self.member(class, &ident.name).map(Target::from),
                    function @ Target::Function(_) => Some(function),
                    _ => None,
                }
            }
            Site::PartialArgument(scope, function) => {
                let class = self.lookup_class(scope, function)?;
                self.member(class, &ident.name).map(Target::from)
            }
        }
    }

    fn rooted_parts(&mut self, name: &QualifiedName, count: usize) -> Option<Found> {
        let parts = name.parts.get(..count)?;
        let parts: Vec<_> = parts.iter().map(|part| part.name.clone()).collect();
        self.from_root(&parts)
    }

    /// What the parts of a reference mean up to one of them.
    pub fn resolve_reference(
        &mut self,
        scope: ClassId,
        locals: &[Local],
        reference: &ComponentReference,
        part: usize,
        called: bool,
    ) -> Option<Target> {
        let first = &reference.parts.first()?.name;
        if !reference.global {
            let local = locals.iter().rev().find(|local| local.0.name == first.name);
            if let Some(local) = local {
                return (part == 0).then(|| Target::Index(local.0.clone()));
            }
        }
        let mut found = if reference.global {
            match self.root(&first.name) {
                Some(class) => Found::Class(class),
                None => {
                    return builtin_function(&first.name)
                        .filter(|_| called && part == 0)
                        .map(Target::Function);
                }
            }
        } else {
            match self.lookup(scope, &first.name) {
                // `Integer(e)` and `String(x)` are calls of functions.
                Some(Found::Predefined(_)) if called && part == 0 && builtin_function(&first.name).is_some() => {
                    return builtin_function(&first.name).map(Target::Function);
                }
                Some(found) => found,
                None if part > 0 => return None,
                None if first.name == "time" => return Some(Target::Time),
                None => return builtin_function(&first.name).map(Target::Function),
            }
        };
        for named in reference.parts.get(1..=part)? {
            if let Found::Predefined(predefined) = found {
                let literals = predefined_literals(predefined).iter();
                let mut literals = literals.filter(|literal| **literal == named.name.name);
                return literals
                    .next()
                    .map(|literal| Target::PredefinedLiteral(predefined, literal));
            }
            found = self.inside(&found, &named.name.name)?;
        }
        Some(found.into())
    }

    /// The type of what is modified.
    pub fn modified_type(&mut self, modified: &Modified<'_>) -> Option<Type> {
        match modified {
            Modified::Type(scope, name, is_base) => {
                let found = if *is_base {
                    self.lookup_base_parts(*scope, name, name.parts.len())
                } else {
                    self.lookup_path(*scope, name)
                };
                match found? {
                    Found::Class(class) => Some(Type::Class(class)),
                    Found::Predefined(predefined) => Some(Type::Predefined(predefined)),
                    Found::Member(_) => None,
                }
            }
            Modified::Inside(outer, name) => {
                let last = name.parts.len().checked_sub(1)?;
                match self.resolve_modifier(outer, name, last)? {
                    Target::Member(member) => self.type_of(&member),
                    Target::Class(class) => Some(Type::Class(class)),
                    _ => None,
                }
            }
        }
    }

    fn resolve_modifier(&mut self, modified: &Modified<'_>, name: &QualifiedName, part: usize) -> Option<Target> {
        let mut type_ = self.modified_type(modified)?;
        let mut target = None;
        for (at, ident) in name.parts.get(..=part)?.iter().enumerate() {
            let found = match type_ {
                Type::Class(class) => self.member(class, &ident.name),
                Type::Predefined(_) => None,
            };
            let Some(found) = found else {
                let predefined = self.predefined_or_enumeration(type_)?;
                let mut known = attributes(predefined).iter().filter(|(name, _)| *name == ident.name);
                let (name, text) = known.next()?;
                return (at == part).then_some(Target::Attribute(predefined, name, text));
            };
            if at < part {
                type_ = match &found {
                    Found::Class(class) => Type::Class(*class),
                    Found::Member(member) => self.type_of(member)?,
                    Found::Predefined(predefined) => Type::Predefined(*predefined),
                };
            }
            target = Some(found.into());
        }
        target
    }

    /// The predefined type whose attributes a type has; enumerations have those of predefined ones.
    pub fn predefined_or_enumeration(&mut self, type_: Type) -> Option<crate::Predefined> {
        if let Type::Class(class) = type_
            && self.enumeration_of(class).is_some()
        {
            return Some(crate::Predefined::StateSelect);
        }
        self.predefined_of(type_)
    }
}
