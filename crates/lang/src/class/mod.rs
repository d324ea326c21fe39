//! Classes in their environments.
//!
//! A [`ClassNode`] is a class definition with the lexical scope it is looked up in and the
//! modifications applied to it: `extends Base(redeclare package M = X)` makes a node of its own for
//! `Base`, in whose scope `M` means `X`. Nodes do not depend on instances, so they are made once per
//! place in the text, however many components there are.

mod identical;
mod lookup;
mod redeclare;
mod restrictions;
mod table;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_source::{FileId, Span};
use saltus_syntax::ast::{ClassBody, ClassDefinition, ClassKind, Composition, EnumerationLiteral, Ident, Name};

use crate::flattener::Flattener;
use crate::ids::{ClassId, InstanceId};
use crate::modification::{Mod, merge};
use saltus_syntax::library::LibraryClass;

pub(crate) use lookup::Found;
pub(crate) use restrictions::misplaced_operator;
pub(crate) use table::{ClassTable, Entry, SimpleType, attribute_names};

/// The predefined types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Predefined {
    Real,
    Integer,
    Boolean,
    String,
    ExternalObject,
    Clock,
}

/// A class definition in its environment.
#[derive(Debug)]
pub(crate) struct ClassNode {
    pub def: Arc<ClassDefinition>,
    /// The class it is written in; `None` at the top level.
    pub parent: Option<ClassId>,
    pub mods: Rc<Mod>,
    /// Modifications that hold unless the definition says otherwise: of the constraining clause.
    pub defaults: Rc<Mod>,
    /// The qualified name, for messages and for functions.
    pub name: Arc<str>,
    /// The package folder whose classes may be stored in files of their own.
    pub stored: Option<Arc<LibraryClass>>,
    /// The class that a `class extends` extends.
    pub replaced: Option<ClassId>,
    pub predefined: Option<Predefined>,
    pub(super) table: Option<Rc<ClassTable>>,
    pub(super) building: bool,
    pub(super) failed: bool,
    /// Classes made while the table was being built.
    pub(super) early: FxHashMap<Name, ClassId>,
    pub(super) lookups: FxHashMap<Name, Option<Found>>,
    pub(super) stored_children: FxHashMap<Name, Option<ClassId>>,
    pub static_instance: Option<InstanceId>,
}

const PREDEFINED: [(&str, Predefined); 6] = [
    ("Real", Predefined::Real),
    ("Integer", Predefined::Integer),
    ("Boolean", Predefined::Boolean),
    ("String", Predefined::String),
    ("ExternalObject", Predefined::ExternalObject),
    ("Clock", Predefined::Clock),
];

const PREDEFINED_ENUMERATIONS: [(&str, &[&str]); 2] = [
    ("StateSelect", &["never", "avoid", "default", "prefer", "always"]),
    ("AssertionLevel", &["warning", "error"]),
];

impl Flattener<'_> {
    pub(crate) fn add_predefined(&mut self) {
        for (name, predefined) in PREDEFINED {
            let def = Arc::new(synthetic(name, ClassBody::Long(Composition::default())));
            let id = self.new_class(def, None, Rc::default(), name.into());
            self.classes[id].predefined = Some(predefined);
            self.predefined.insert(Name::new(name), id);
        }
        for (name, literals) in PREDEFINED_ENUMERATIONS {
            let literals = literals
                .iter()
                .map(|literal| EnumerationLiteral {
                    name: ident(literal),
                    description: None,
                    annotation: None,
                })
                .collect();
            let def = synthetic(
                name,
                ClassBody::Enumeration {
                    literals: Some(literals),
                },
            );
            let id = self.new_class(Arc::new(def), None, Rc::default(), name.into());
            self.predefined.insert(Name::new(name), id);
        }
    }

    pub(crate) fn new_class(
        &mut self,
        def: Arc<ClassDefinition>,
        parent: Option<ClassId>,
        mods: Rc<Mod>,
        name: Arc<str>,
    ) -> ClassId {
        self.classes.push(ClassNode {
            def,
            parent,
            mods,
            defaults: Rc::default(),
            name,
            stored: None,
            replaced: None,
            predefined: None,
            table: None,
            building: false,
            failed: false,
            early: FxHashMap::default(),
            lookups: FxHashMap::default(),
            stored_children: FxHashMap::default(),
            static_instance: None,
        })
    }

    /// The same class with more modifications.
    pub(crate) fn derived_class(&mut self, base: ClassId, mods: Rc<Mod>) -> ClassId {
        if mods.is_empty() {
            return base;
        }
        let node = &self.classes[base];
        let merged = merge(&mods, &node.mods);
        let (def, parent, name) = (node.def.clone(), node.parent, node.name.clone());
        let (stored, replaced, predefined) = (node.stored.clone(), node.replaced, node.predefined);
        let defaults = Rc::clone(&node.defaults);
        let id = self.new_class(def, parent, merged, name);
        let node = &mut self.classes[id];
        node.defaults = defaults;
        node.stored = stored;
        node.replaced = replaced;
        node.predefined = predefined;
        id
    }

    /// The name of a class inside another.
    pub(crate) fn inner_name(&self, parent: Option<ClassId>, name: &str) -> Arc<str> {
        match parent {
            Some(parent) => format!("{}.{name}", self.classes[parent].name).into(),
            None => name.into(),
        }
    }

    pub(crate) fn def(&self, class: ClassId) -> &Arc<ClassDefinition> {
        &self.classes[class].def
    }

    /// The specialised class, followed through short definitions (`connector C = D` is a connector).
    pub(crate) fn kind(&self, class: ClassId) -> ClassKind {
        self.classes[class].def.kind
    }
}

fn ident(name: &str) -> Ident {
    Ident {
        name: Name::new(name),
        span: nowhere(),
    }
}

/// The span of what is not in any text.
pub(crate) fn nowhere() -> Span {
    Span::at(FileId(0), 0)
}

fn synthetic(name: &str, body: ClassBody) -> ClassDefinition {
    ClassDefinition {
        encapsulated: false,
        partial: false,
        purity: None,
        kind: ClassKind::Type,
        name: ident(name),
        body,
        description: None,
        annotation: None,
        span: nowhere(),
    }
}
