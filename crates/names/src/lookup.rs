//! What a name means in a class.

use std::rc::Rc;
use std::sync::Arc;

use saltus_syntax::ast::{ClassBody, ClassDefinition, ElementKind, Import, ImportKind, Name, QualifiedName};

use crate::builtin::Predefined;
use crate::class::{ClassId, Member, MemberKind, Names};
use crate::target::Type;

/// Short definitions are followed this often.
const MOST_STEPS: usize = 100;

/// What a name means in a class.
#[derive(Clone, Debug)]
pub enum Found {
    /// A class.
    Class(ClassId),
    /// A component or a literal.
    Member(Rc<Member>),
    /// A predefined type.
    Predefined(Predefined),
}

impl Names<'_> {
    /// A member of a class, inherited ones and those in files of their own included.
    pub fn member(&mut self, class: ClassId, name: &str) -> Option<Found> {
        if self.is_building(class) {
            return self.own_class(class, name).map(Found::Class);
        }
        let table = self.table(class);
        if let Some(member) = table.find(name) {
            return Some(found(member));
        }
        if let Some(stored) = self.stored_child(class, name) {
            return Some(Found::Class(stored));
        }
        // Classes in files of their own are inherited, too.
        let bases = self.bases(class);
        bases
            .iter()
            .find_map(|base| self.inherited_file(*base, name, 0))
            .map(Found::Class)
    }

    fn inherited_file(&mut self, class: ClassId, name: &str, level: usize) -> Option<ClassId> {
        if level > MOST_STEPS {
            return None;
        }
        if let Some(stored) = self.stored_child(class, name) {
            return Some(stored);
        }
        let bases = self.bases(class);
        bases
            .iter()
            .find_map(|base| self.inherited_file(*base, name, level + 1))
    }

    /// A name as it is seen from inside a class.
    pub fn lookup(&mut self, scope: ClassId, name: &str) -> Option<Found> {
        if name.is_empty() {
            return None;
        }
        let mut current = Some(scope);
        while let Some(class) = current {
            if let Some(found) = self.member(class, name).or_else(|| self.imported(class, name)) {
                return Some(found);
            }
            if self.definition(class).encapsulated {
                return Predefined::find(name).map(Found::Predefined);
            }
            current = self.parent(class);
        }
        match self.root(name) {
            Some(class) => Some(Found::Class(class)),
            None => Predefined::find(name).map(Found::Predefined),
        }
    }

    /// What a class imports under a name.
    fn imported(&mut self, class: ClassId, name: &str) -> Option<Found> {
        let definition = Arc::clone(self.definition(class));
        for import in imports(&definition) {
            if !names_import(import, name) {
                continue;
            }
            let mut parts: Vec<Name> = import.name.parts.iter().map(|part| part.name.clone()).collect();
            if matches!(import.kind, ImportKind::List(_)) {
                parts.push(Name::new(name));
            }
            return self.from_root(&parts);
        }
        imports(&definition)
            .filter(|import| matches!(import.kind, ImportKind::Unqualified))
            .find_map(|import| match self.path_from_root(&import.name)? {
                Found::Class(package) => self.member(package, name),
                _ => None,
            })
    }

    fn path_from_root(&mut self, name: &QualifiedName) -> Option<Found> {
        let parts: Vec<Name> = name.parts.iter().map(|part| part.name.clone()).collect();
        self.from_root(&parts)
    }

    /// A dotted name from the top level.
    pub fn from_root(&mut self, parts: &[Name]) -> Option<Found> {
        let (first, rest) = parts.split_first()?;
        let first = match self.root(first) {
            Some(class) => Found::Class(class),
            None => Found::Predefined(Predefined::find(first)?),
        };
        rest.iter().try_fold(first, |found, part| self.inside(&found, part))
    }

    /// A name behind a dot.
    pub fn inside(&mut self, found: &Found, name: &str) -> Option<Found> {
        match found {
            Found::Class(class) => self.member(*class, name),
            Found::Member(member) => match self.type_of(member)? {
                Type::Class(class) => self.member(class, name),
                Type::Predefined(_) => None,
            },
            Found::Predefined(_) => None,
        }
    }

    /// The class of a dotted name from the top level.
    pub(crate) fn class_from_root(&mut self, name: &QualifiedName) -> Option<ClassId> {
        match self.path_from_root(name)? {
            Found::Class(class) => Some(class),
            _ => None,
        }
    }

    /// A dotted name as it is seen from inside a class.
    pub fn lookup_path(&mut self, scope: ClassId, name: &QualifiedName) -> Option<Found> {
        self.lookup_parts(scope, name, name.parts.len())
    }

    /// The first parts of a dotted name.
    pub(crate) fn lookup_parts(&mut self, scope: ClassId, name: &QualifiedName, count: usize) -> Option<Found> {
        let (first, rest) = name.parts.get(..count)?.split_first()?;
        let first = if name.global {
            Found::Class(self.root(&first.name)?)
        } else {
            self.lookup(scope, &first.name)?
        };
        rest.iter()
            .try_fold(first, |found, part| self.inside(&found, &part.name))
    }

    /// A class by its name as written in a class.
    pub fn lookup_class(&mut self, scope: ClassId, name: &QualifiedName) -> Option<ClassId> {
        match self.lookup_path(scope, name)? {
            Found::Class(class) => Some(class),
            _ => None,
        }
    }

    /// A base class of a class: inherited names do not count.
    pub(crate) fn lookup_base(&mut self, class: ClassId, name: &QualifiedName) -> Option<ClassId> {
        match self.lookup_base_parts(class, name, name.parts.len())? {
            Found::Class(class) => Some(class),
            _ => None,
        }
    }

    pub(crate) fn lookup_base_parts(&mut self, class: ClassId, name: &QualifiedName, count: usize) -> Option<Found> {
        let (first, rest) = name.parts.get(..count)?.split_first()?;
        if name.global {
            return self.lookup_parts(class, name, count);
        }
        let own = self.own_class(class, &first.name).map(Found::Class);
        let first = match own.or_else(|| self.imported(class, &first.name)) {
            Some(found) => found,
            None if self.definition(class).encapsulated => Found::Predefined(Predefined::find(&first.name)?),
            None => match self.parent(class) {
                Some(parent) => self.lookup(parent, &first.name)?,
                None => self.from_root(std::slice::from_ref(&first.name))?,
            },
        };
        rest.iter()
            .try_fold(first, |found, part| self.inside(&found, &part.name))
    }

    /// The type of a component, or the enumeration of a literal.
    pub fn type_of(&mut self, member: &Member) -> Option<Type> {
        match &member.kind {
            MemberKind::Component(clause, _) => match self.lookup_path(member.owner, &clause.type_name)? {
                Found::Class(class) => Some(Type::Class(class)),
                Found::Predefined(predefined) => Some(Type::Predefined(predefined)),
                Found::Member(_) => None,
            },
            MemberKind::Literal(..) => Some(Type::Class(member.owner)),
            MemberKind::Class(_) => None,
        }
    }

    /// The predefined type that a type is made of, if it is a simple one.
    pub fn predefined_of(&mut self, mut type_: Type) -> Option<Predefined> {
        for _ in 0..MOST_STEPS {
            let class = match type_ {
                Type::Predefined(predefined) => return Some(predefined),
                Type::Class(class) => class,
            };
            let definition = Arc::clone(self.definition(class));
            let found = match &definition.body {
                ClassBody::Short { base, .. } => match self.parent(class) {
                    Some(parent) => self.lookup_path(parent, base),
                    None => self.path_from_root(base),
                },
                ClassBody::Long(composition) => composition.elements.iter().find_map(|element| match &element.kind {
                    ElementKind::Extends(extends) => {
                        self.lookup_base_parts(class, &extends.base, extends.base.parts.len())
                    }
                    _ => None,
                }),
                _ => None,
            };
            type_ = match found? {
                Found::Class(class) => Type::Class(class),
                Found::Predefined(predefined) => Type::Predefined(predefined),
                Found::Member(_) => return None,
            };
        }
        None
    }

    /// The class that lists the literals of an enumeration, behind other names of it.
    pub fn enumeration_of(&mut self, class: ClassId) -> Option<ClassId> {
        let mut current = class;
        for _ in 0..MOST_STEPS {
            if matches!(self.definition(current).body, ClassBody::Enumeration { .. }) {
                return Some(current);
            }
            if !matches!(self.definition(current).body, ClassBody::Short { .. }) {
                return None;
            }
            current = *self.bases(current).first()?;
        }
        None
    }
}

fn found(member: &Rc<Member>) -> Found {
    match member.kind {
        MemberKind::Class(class) => Found::Class(class),
        _ => Found::Member(Rc::clone(member)),
    }
}

/// The import clauses of a class.
pub(crate) fn imports(definition: &ClassDefinition) -> impl Iterator<Item = &Import> {
    let elements = definition.composition().map_or(&[][..], |c| &c.elements);
    elements.iter().filter_map(|element| match &element.kind {
        ElementKind::Import(import) => Some(import),
        _ => None,
    })
}

fn names_import(import: &Import, name: &str) -> bool {
    match &import.kind {
        ImportKind::Qualified => import.name.parts.last().is_some_and(|part| part.name == name),
        ImportKind::Renaming(alias) => alias.name == name,
        ImportKind::List(names) => names.iter().any(|listed| listed.name == name),
        ImportKind::Unqualified => false,
    }
}
