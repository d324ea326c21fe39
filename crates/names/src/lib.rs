//! What names mean in text that may be unfinished: for editors, which ask while somebody types.
//!
//! Flattening resolves names of a model that is complete, in its instances, and stops at errors. Here classes are looked at as
//! they are written, without instances: whatever can be found is found, the rest is left out without a word. A [`Names`]
//! belongs to one state of a [`Library`](saltus_syntax::library::Library) and is thrown away with it; it reads only the files that a question leads to.
//!
//! [`Names::lookup`] and [`Names::member`] answer what a name means in a class, [`occurrences`] finds every name of a file with
//! the way to resolve it ([`Names::resolve`]): definitions, references, renaming and colours are made of that.

mod builtin;
mod class;
mod lookup;
mod occurrence;
mod target;

pub use builtin::{BUILTIN_FUNCTIONS, BuiltinFunction, Predefined, attributes, builtin_function, predefined_literals};
pub use class::{ClassId, Member, MemberKind, Names};
pub use lookup::Found;
pub use occurrence::{Local, Modified, Occurrence, Role, Site, occurrences};
pub use target::{Target, Type};
