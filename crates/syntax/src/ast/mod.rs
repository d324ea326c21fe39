//! The typed syntax tree: the grammar of the Modelica Language Specification 3.6 (appendix A) as
//! plain owned data.
//!
//! Every node has the [`Span`] it was written at. The tree is made from the lossless tree also when
//! that holds errors: what is missing is `None` where the grammar has an optional part,
//! [`ExprKind::Error`] where it needs an expression, an identifier with an empty name where it needs
//! a name, and simply left out of lists otherwise. Whoever meets such a node may stay silent: the
//! parser has reported it.
//!
//! Classes, modifications and bound expressions are shared (`Arc`), so that later passes can keep
//! them without copying and without borrowing from a file.

mod classes;
mod elements;
mod equations;
mod expressions;
mod modifications;

use std::fmt;

use saltus_source::Span;
pub use smol_str::SmolStr as Name;

pub use classes::*;
pub use elements::*;
pub use equations::*;
pub use expressions::*;
pub use modifications::*;

/// An identifier where it is written. A quoted identifier keeps its quotes, since `'x'` and `x` are
/// different names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The name; empty if it was missing in the text.
    pub name: Name,
    /// Where it is.
    pub span: Span,
}

impl Ident {
    /// Whether the name was missing in the text.
    pub fn is_missing(&self) -> bool {
        self.name.is_empty()
    }
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name, f)
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name, f)
    }
}

/// A dotted name `A.B.C` or `.A.B.C`: a type specifier, the name of a package, of a modified element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QualifiedName {
    /// Whether it starts with a dot: looked up from the top level.
    pub global: bool,
    /// At least one identifier, unless the name was missing.
    pub parts: Vec<Ident>,
    /// Where it is.
    pub span: Span,
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.global {
            f.write_str(".")?;
        }
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

/// A string literal with its escapes resolved; for descriptions, the concatenation of `"…" + "…"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringLiteral {
    /// The value.
    pub value: Name,
    /// Where it is.
    pub span: Span,
}

/// The parts of a dotted name in text, as `P`, `'a.b'` and `M` of `P.'a.b'.M`: a dot in quotes belongs to the name.
pub fn split_name(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            '.' if !quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::split_name;

    #[test]
    fn dots_in_quotes_do_not_split() {
        assert_eq!(split_name("A"), ["A"]);
        assert_eq!(split_name("A.B.c"), ["A", "B", "c"]);
        assert_eq!(split_name("P.'a.b'.M"), ["P", "'a.b'", "M"]);
        assert_eq!(split_name(r"'it\'s.one'.x"), [r"'it\'s.one'", "x"]);
        assert_eq!(split_name("'open.end"), ["'open.end"]);
    }
}
