//! What an occurrence of a name means.

use std::rc::Rc;

use saltus_source::Span;
use saltus_syntax::ast::Ident;

use crate::builtin::{BuiltinFunction, Predefined};
use crate::class::{ClassId, Member, Names};
use crate::lookup::Found;

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A class.
    Class(ClassId),
    /// A predefined type.
    Predefined(Predefined),
}

/// What an occurrence of a name means.
#[derive(Clone, Debug)]
pub enum Target {
    /// A class.
    Class(ClassId),
    /// A component or a literal of an enumeration.
    Member(Rc<Member>),
    /// A predefined type.
    Predefined(Predefined),
    /// A literal of a predefined enumeration.
    PredefinedLiteral(Predefined, &'static str),
    /// An attribute of a predefined type, with what it says.
    Attribute(Predefined, &'static str, &'static str),
    /// The index of a loop.
    Index(Ident),
    /// A name that an import clause gives.
    Alias(Ident, Box<Target>),
    /// A function of the language.
    Function(&'static BuiltinFunction),
    /// `time`
    Time,
}

impl From<Found> for Target {
    fn from(found: Found) -> Self {
        match found {
            Found::Class(class) => Target::Class(class),
            Found::Member(member) => Target::Member(member),
            Found::Predefined(predefined) => Target::Predefined(predefined),
        }
    }
}

impl Target {
    /// Where it is declared: the place of its name.
    pub fn declaration(&self, names: &Names<'_>) -> Option<Span> {
        match self {
            Target::Class(class) => Some(names.definition(*class).name.span),
            Target::Member(member) => Some(member.name.span),
            Target::Index(index) => Some(index.span),
            Target::Alias(alias, _) => Some(alias.span),
            _ => None,
        }
    }
}
