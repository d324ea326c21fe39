//! Classes as they are written, and their members.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_source::Span;
use saltus_syntax::ast::{
    ClassBody, ClassDefinition, Component, ComponentClause, Element, ElementKind, EnumerationLiteral, Ident, Name,
    QualifiedName, Visibility,
};
use saltus_syntax::library::{Library, LibraryClass, ParsedFile};

/// Inheritance and short definitions are followed this deep.
const MOST_LEVELS: u32 = 100;

/// A class of a [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u32);

/// Classes and what names mean in them, for one state of a library.
#[derive(Debug)]
pub struct Names<'l> {
    pub(crate) library: &'l Library,
    classes: Vec<Node>,
    known: FxHashMap<(*const ClassDefinition, Option<ClassId>), ClassId>,
    roots: FxHashMap<Name, Option<ClassId>>,
    depth: u32,
}

#[derive(Debug)]
struct Node {
    definition: Arc<ClassDefinition>,
    parent: Option<ClassId>,
    /// For a package folder, whose classes may be in files of their own.
    stored: Option<Arc<LibraryClass>>,
    path: Vec<Name>,
    table: Option<Rc<MemberTable>>,
    building: bool,
    bases: Option<Rc<[ClassId]>>,
}

/// The members of a class: its own, then those it inherits.
#[derive(Debug, Default)]
pub(crate) struct MemberTable {
    pub members: Vec<Rc<Member>>,
    by_name: FxHashMap<Name, usize>,
}

impl MemberTable {
    pub(crate) fn find(&self, name: &str) -> Option<&Rc<Member>> {
        self.by_name.get(name).map(|&at| &self.members[at])
    }

    fn insert(&mut self, member: Rc<Member>) {
        if member.name.name.is_empty() || self.by_name.contains_key(&member.name.name) {
            return;
        }
        self.by_name.insert(member.name.name.clone(), self.members.len());
        self.members.push(member);
    }
}

/// A member of a class.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name, where it is declared.
    pub name: Ident,
    /// The class that declares it.
    pub owner: ClassId,
    /// Whether it is protected.
    pub protected: bool,
    /// Whether it may be redeclared.
    pub replaceable: bool,
    /// Whether it redeclares an inherited member.
    pub redeclare: bool,
    /// Whether it is `final`.
    pub is_final: bool,
    /// What it is.
    pub kind: MemberKind,
}

/// The kinds of members.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// A component: the clause it is declared in, and its place there.
    Component(Arc<ComponentClause>, usize),
    /// A class.
    Class(ClassId),
    /// A literal of an enumeration: its number from 1, and its description.
    Literal(usize, Option<Name>),
}

impl Member {
    /// The declaration of a component.
    pub fn component(&self) -> Option<(&ComponentClause, &Component)> {
        match &self.kind {
            MemberKind::Component(clause, at) => Some((clause, clause.components.get(*at)?)),
            _ => None,
        }
    }
}

impl<'l> Names<'l> {
    /// Names of a library.
    pub fn new(library: &'l Library) -> Names<'l> {
        Names {
            library,
            classes: Vec::new(),
            known: FxHashMap::default(),
            roots: FxHashMap::default(),
            depth: 0,
        }
    }

    /// The library.
    pub fn library(&self) -> &'l Library {
        self.library
    }

    fn node(&self, class: ClassId) -> &Node {
        &self.classes[class.0 as usize]
    }

    /// The text of a class.
    pub fn definition(&self, class: ClassId) -> &Arc<ClassDefinition> {
        &self.node(class).definition
    }

    /// The class around a class.
    pub fn parent(&self, class: ClassId) -> Option<ClassId> {
        self.node(class).parent
    }

    /// The full name of a class.
    pub fn path(&self, class: ClassId) -> &[Name] {
        &self.node(class).path
    }

    /// The full name of a class, with dots.
    pub fn qualified_name(&self, class: ClassId) -> String {
        self.node(class).path.join(".")
    }

    fn add(
        &mut self,
        definition: &Arc<ClassDefinition>,
        parent: Option<ClassId>,
        stored: Option<Arc<LibraryClass>>,
    ) -> ClassId {
        let key = (Arc::as_ptr(definition), parent);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let mut path = parent.map_or_else(Vec::new, |parent| self.node(parent).path.clone());
        path.push(definition.name.name.clone());
        let id = ClassId(self.classes.len() as u32);
        self.classes.push(Node {
            definition: Arc::clone(definition),
            parent,
            stored,
            path,
            table: None,
            building: false,
            bases: None,
        });
        self.known.insert(key, id);
        id
    }

    /// The top-level class with this name.
    pub fn root(&mut self, name: &str) -> Option<ClassId> {
        if name.is_empty() {
            return None;
        }
        if let Some(&known) = self.roots.get(name) {
            return known;
        }
        let library = self.library;
        let found = library.top_level(name).map(|class| {
            let definition = Arc::clone(&class.definition);
            self.add(&definition, None, class.is_folder().then_some(class))
        });
        self.roots.insert(Name::new(name), found);
        found
    }

    /// The class inside a package folder that is stored in a file of its own.
    pub fn stored_child(&mut self, class: ClassId, name: &str) -> Option<ClassId> {
        let package = self.node(class).stored.clone()?;
        let member = self.library.member(&package, name)?;
        let definition = Arc::clone(&member.definition);
        Some(self.add(&definition, Some(class), member.is_folder().then_some(member)))
    }

    /// Names of the classes of a package folder that are stored in files of their own. Reads none of them.
    pub fn stored_names(&self, class: ClassId) -> Vec<Name> {
        match &self.node(class).stored {
            Some(package) => self.library.members(package).to_vec(),
            None => Vec::new(),
        }
    }

    /// The folder of a package that has one.
    pub fn folder(&self, class: ClassId) -> Option<&std::path::Path> {
        self.node(class).stored.as_ref().and_then(|stored| stored.folder())
    }

    /// A class written directly inside another.
    pub fn inner(&mut self, class: ClassId, definition: &Arc<ClassDefinition>) -> ClassId {
        self.add(definition, Some(class), None)
    }

    /// The class with this full name, through definitions only: inherited classes are not found.
    pub fn find(&mut self, path: &[Name]) -> Option<ClassId> {
        let (first, rest) = path.split_first()?;
        let mut class = self.root(first)?;
        for name in rest {
            class = self.own_class(class, name)?;
        }
        Some(class)
    }

    /// A class of a class, written in it or stored beside it.
    pub fn own_class(&mut self, class: ClassId, name: &str) -> Option<ClassId> {
        let definition = Arc::clone(self.definition(class));
        match definition.class(name) {
            Some(inner) => Some(self.inner(class, inner)),
            None => self.stored_child(class, name),
        }
    }

    /// The class at the top of a file.
    pub fn class_of_file(&mut self, parsed: &ParsedFile, definition: &Arc<ClassDefinition>) -> ClassId {
        let within = parsed
            .definition
            .within
            .as_ref()
            .and_then(|within| within.name.as_ref());
        let mut path: Vec<Name> = within.map_or_else(Vec::new, |name| {
            name.parts.iter().map(|part| part.name.clone()).collect()
        });
        let parent = if path.is_empty() { None } else { self.find(&path) };
        path.push(definition.name.name.clone());
        if let Some(found) = self.find(&path)
            && Arc::ptr_eq(self.definition(found), definition)
        {
            return found;
        }
        self.add(definition, parent, None)
    }

    /// The classes around a place, outermost first.
    pub fn classes_at(&mut self, parsed: &ParsedFile, offset: u32) -> Vec<ClassId> {
        let covers = |span: Span| span.start <= offset && offset <= span.end;
        let top = parsed.definition.classes.iter().rev();
        let Some(top) = top.map(|stored| &stored.class).find(|class| covers(class.span)) else {
            return Vec::new();
        };
        let mut current = self.class_of_file(parsed, top);
        let mut found = vec![current];
        while found.len() < MOST_LEVELS as usize {
            let definition = Arc::clone(self.definition(current));
            let inside = definition.classes().find(|(_, class)| covers(class.span));
            let Some((_, class)) = inside else { break };
            current = self.inner(current, class);
            found.push(current);
        }
        found
    }

    /// The members of a class, its own first, then what it inherits. Classes stored in files of their own are not among them:
    /// see [`Names::stored_names`].
    pub fn members(&mut self, class: ClassId) -> Vec<Rc<Member>> {
        self.table(class).members.clone()
    }

    pub(crate) fn is_building(&self, class: ClassId) -> bool {
        self.node(class).building
    }

    pub(crate) fn table(&mut self, class: ClassId) -> Rc<MemberTable> {
        if let Some(table) = &self.node(class).table {
            return Rc::clone(table);
        }
        if self.node(class).building || self.depth >= MOST_LEVELS {
            return Rc::default();
        }
        self.depth += 1;
        self.classes[class.0 as usize].building = true;
        let table = Rc::new(self.build_table(class));
        self.classes[class.0 as usize].building = false;
        self.depth -= 1;
        self.classes[class.0 as usize].table = Some(Rc::clone(&table));
        table
    }

    fn build_table(&mut self, class: ClassId) -> MemberTable {
        let definition = Arc::clone(self.definition(class));
        let mut table = MemberTable::default();
        if let ClassBody::Enumeration { literals } = &definition.body {
            let literals = literals.iter().flatten().enumerate();
            literals.for_each(|(at, literal)| table.insert(Rc::new(literal_member(class, at, literal))));
        }
        let elements = definition.composition().map_or(&[][..], |c| &c.elements);
        for element in elements {
            self.own_members(class, element, &mut table);
        }
        for base in self.bases(class).iter() {
            for member in &self.table(*base).members {
                table.insert(Rc::clone(member));
            }
        }
        table
    }

    fn own_members(&mut self, class: ClassId, element: &Element, table: &mut MemberTable) {
        let member = |name: &Ident, kind| {
            Rc::new(Member {
                name: name.clone(),
                owner: class,
                protected: element.visibility == Visibility::Protected,
                replaceable: element.replaceable,
                redeclare: element.redeclare,
                is_final: element.is_final,
                kind,
            })
        };
        match &element.kind {
            ElementKind::Class(inner) => {
                let id = self.inner(class, inner);
                table.insert(member(&inner.name, MemberKind::Class(id)));
            }
            ElementKind::Components(clause) => {
                for (at, component) in clause.components.iter().enumerate() {
                    let kind = MemberKind::Component(Arc::clone(clause), at);
                    table.insert(member(&component.name, kind));
                }
            }
            ElementKind::Import(_) | ElementKind::Extends(_) => {}
        }
    }

    /// The classes that a class inherits from, or is another name of.
    pub fn bases(&mut self, class: ClassId) -> Rc<[ClassId]> {
        if let Some(bases) = &self.node(class).bases {
            return Rc::clone(bases);
        }
        let definition = Arc::clone(self.definition(class));
        let parent = self.parent(class);
        let mut found: Vec<ClassId> = Vec::new();
        match &definition.body {
            ClassBody::Short { base, .. } => found.extend(self.base(parent, base)),
            ClassBody::Derivative { function, .. } => found.extend(self.base(parent, function)),
            ClassBody::Extends { .. } => {
                if let Some(parent) = parent {
                    let bases = self.bases(parent);
                    let extended = bases
                        .iter()
                        .find_map(|base| self.member_class(*base, &definition.name.name));
                    found.extend(extended);
                }
            }
            _ => {}
        }
        let elements = definition.composition().map_or(&[][..], |c| &c.elements);
        for element in elements {
            if let ElementKind::Extends(extends) = &element.kind {
                found.extend(self.lookup_base(class, &extends.base));
            }
        }
        found.retain(|base| *base != class);
        let bases: Rc<[ClassId]> = found.into();
        self.classes[class.0 as usize].bases = Some(Rc::clone(&bases));
        bases
    }

    fn base(&mut self, parent: Option<ClassId>, name: &QualifiedName) -> Option<ClassId> {
        match parent {
            Some(parent) => self.lookup_class(parent, name),
            None => self.class_from_root(name),
        }
    }

    fn member_class(&mut self, class: ClassId, name: &str) -> Option<ClassId> {
        match self.member(class, name)? {
            crate::Found::Class(class) => Some(class),
            _ => None,
        }
    }
}

fn literal_member(owner: ClassId, at: usize, literal: &EnumerationLiteral) -> Member {
    let description = literal.description.as_ref().map(|text| text.value.clone());
    Member {
        name: literal.name.clone(),
        owner,
        protected: false,
        replaceable: false,
        redeclare: false,
        is_final: false,
        kind: MemberKind::Literal(at + 1, description),
    }
}
