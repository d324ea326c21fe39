//! Whether two elements of one name are identical: a class may inherit an element along several ways, or declare what it
//! inherits once more, if nothing about it differs (Modelica specification, sections 5.6.1.4 and 7.1). Text is compared
//! without blanks and comments.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{ClassBody, Subscript};

use super::table::{ClassEntry, Entry, EntryKind};
use crate::failure::{Failure, error};
use crate::flattener::Flattener;
use crate::modification::{Binding, Mod, Redeclare, RedeclareKind};
use crate::{codes, modification};

impl Flattener<'_> {
    /// Reports the second of two elements of one name, unless they are identical. Attributes that only one of two
    /// declarations gives hold for both.
    pub(super) fn unite(&self, first: &mut Entry, second: &Entry, span: Span) -> Result<(), Failure> {
        self.check_identical(first, second, span)?;
        first.declared = modification::merge(&first.declared, &second.declared);
        first.mods = modification::merge(&first.mods, &second.mods);
        Ok(())
    }

    fn check_identical(&self, first: &Entry, second: &Entry, span: Span) -> Result<(), Failure> {
        let again = first.span == second.span;
        let same = if again {
            self.same_kind(first, second) && self.same_modification(&first.mods, &second.mods)
        } else {
            first.scope != second.scope
                && self.same_declaration(first, second)
                && self.compatible(&first.mods, &second.mods)
        };
        if same {
            return Ok(());
        }
        let name = &second.name;
        if !again {
            let report = error(codes::E0204, span, format!("`{name}` is declared twice"))
                .with_secondary(first.span, "first declared here");
            return Err(report.into());
        }
        let mut report = error(
            codes::E0204,
            span,
            format!("`{name}` is inherited along two ways that differ"),
        );
        let places = [first, second].map(|entry| place_of(entry).filter(|&place| place != span));
        let mut places: Vec<Span> = places.into_iter().flatten().collect();
        places.dedup();
        for (place, words) in places.into_iter().zip(["modified here", "and here"]) {
            report = report.with_secondary(place, words);
        }
        Err(report
            .with_note("an element inherited more than once must be the same each time")
            .with_help(format!("give `{name}` the same modification in both `extends` clauses"))
            .into())
    }

    /// One declaration: whether the same was put in its place.
    fn same_kind(&self, a: &Entry, b: &Entry) -> bool {
        match (&a.kind, &b.kind) {
            (EntryKind::Component(x, i), EntryKind::Component(y, j)) => {
                (Arc::ptr_eq(x, y) && i == j || self.same_declaration(a, b))
                    && self.same_modification(&a.declared, &b.declared)
            }
            (EntryKind::Class(x), EntryKind::Class(y)) => self.same_class(x, y),
            _ => false,
        }
    }

    /// Two declarations.
    fn same_declaration(&self, a: &Entry, b: &Entry) -> bool {
        if (a.inner, a.outer) != (b.inner, b.outer) {
            return false;
        }
        match (&a.kind, &b.kind) {
            (EntryKind::Component(x, i), EntryKind::Component(y, j)) => {
                let (one, other) = (&x.components[*i as usize], &y.components[*j as usize]);
                let condition = |span: Option<Span>| span.map(|span| self.essence(span));
                x.type_name.to_string() == y.type_name.to_string()
                    && x.prefix == y.prefix
                    && self.same_subscripts(&x.subscripts, &y.subscripts)
                    && self.same_subscripts(&one.subscripts, &other.subscripts)
                    && condition(one.condition.as_ref().map(|c| c.span))
                        == condition(other.condition.as_ref().map(|c| c.span))
                    && self.compatible(&a.declared, &b.declared)
            }
            (EntryKind::Class(x), EntryKind::Class(y)) => self.same_class(x, y),
            _ => false,
        }
    }

    fn same_subscripts(&self, a: &[Subscript], b: &[Subscript]) -> bool {
        let text = |subscript: &Subscript| match subscript {
            Subscript::Colon(_) => ":".to_owned(),
            Subscript::Expr(expr) => self.essence(expr.span),
        };
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| text(a) == text(b))
    }

    /// The same definition, or one written in the same words; replaced by the same from outside.
    fn same_class(&self, a: &ClassEntry, b: &ClassEntry) -> bool {
        match (&a.redeclare, &b.redeclare) {
            (None, None) => {}
            (Some(x), Some(y)) => return self.same_redeclaration(x, y),
            _ => return false,
        }
        if a.def.span == b.def.span {
            return true;
        }
        let heading = a.def.kind == b.def.kind && a.def.partial == b.def.partial;
        match (&a.def.body, &b.def.body) {
            (
                ClassBody::Short {
                    causality: of_a,
                    base: x,
                    subscripts: sizes,
                    modification: m,
                },
                ClassBody::Short {
                    causality: of_b,
                    base: y,
                    subscripts: others,
                    modification: n,
                },
            ) => {
                let text = |span: Option<Span>| span.map(|span| self.essence(span));
                heading
                    && of_a == of_b
                    && x.to_string() == y.to_string()
                    && self.same_subscripts(sizes, others)
                    && text(m.as_ref().map(|m| m.span)) == text(n.as_ref().map(|n| n.span))
            }
            _ => heading && self.essence(a.def.span) == self.essence(b.def.span),
        }
    }

    fn same_redeclaration(&self, a: &Rc<Redeclare>, b: &Rc<Redeclare>) -> bool {
        if Rc::ptr_eq(a, b) || a.span == b.span {
            return true;
        }
        match (&a.kind, &b.kind) {
            (RedeclareKind::Inner(x), RedeclareKind::Inner(y)) => x == y,
            _ => self.essence(a.span) == self.essence(b.span),
        }
    }

    /// Whether the same value is given, if any, and nothing is said in two ways.
    fn compatible(&self, a: &Rc<Mod>, b: &Rc<Mod>) -> bool {
        let own = |m: &Rc<Mod>| {
            Rc::new(Mod {
                children: Vec::new(),
                ..(**m).clone()
            })
        };
        self.same_modification(&own(a), &own(b))
            && a.children.iter().all(|(name, inner)| {
                let other = b.child(name);
                other.is_none_or(|other| self.same_modification(inner, other))
            })
    }

    fn same_modification(&self, a: &Rc<Mod>, b: &Rc<Mod>) -> bool {
        if Rc::ptr_eq(a, b) || a.is_empty() && b.is_empty() {
            return true;
        }
        let reported = |m: &Mod| m.children.iter().filter(|(_, inner)| !inner.is_empty()).count();
        let redeclared = match (&a.redeclare, &b.redeclare) {
            (Some(x), Some(y)) => self.same_redeclaration(x, y),
            (None, None) => true,
            _ => false,
        };
        let values = match (&a.binding, &b.binding) {
            (Some(x), Some(y)) => self.same_value(x, y),
            (None, None) => true,
            _ => false,
        };
        redeclared
            && values
            && (a.binding_break, a.removed) == (b.binding_break, b.removed)
            && reported(a) == reported(b)
            && a.children.iter().all(|(name, inner)| {
                inner.is_empty() || b.child(name).is_some_and(|other| self.same_modification(inner, other))
            })
    }

    fn same_value(&self, a: &Binding, b: &Binding) -> bool {
        let text = |binding: &Binding| self.essence(binding.span());
        Rc::ptr_eq(&a.source, &b.source)
            || a.skip == b.skip && a.selectors == b.selectors && (a.span() == b.span() || text(a) == text(b))
    }

    /// A piece of text without blanks and comments.
    fn essence(&self, span: Span) -> String {
        let file = self.library.sources().file(span.file);
        file.map(|file| without_blanks(file.slice(span))).unwrap_or_default()
    }
}

/// Where an inherited element got its modifications.
fn place_of(entry: &Entry) -> Option<Span> {
    let class = match &entry.kind {
        EntryKind::Class(class) => class.redeclare.as_ref().map(|redeclare| redeclare.span),
        EntryKind::Component(..) => None,
    };
    class.or(place_in(&entry.mods))
}

fn place_in(mods: &modification::Mod) -> Option<Span> {
    let own = mods.binding.as_ref().map(Binding::span);
    own.or(mods.span)
        .or_else(|| mods.children.iter().find_map(|(_, inner)| place_in(inner)))
}

fn without_blanks(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('/', Some('/')) => {
                rest.by_ref().find(|&c| c == '\n');
                kept.push(' ');
            }
            ('/', Some('*')) => {
                let mut before = ' ';
                rest.by_ref().skip(1).find(|&c| {
                    let end = before == '*' && c == '/';
                    before = c;
                    end
                });
                kept.push(' ');
            }
            ('"', _) => {
                kept.push(c);
                let mut escaped = false;
                for c in rest.by_ref() {
                    kept.push(c);
                    if c == '"' && !escaped {
                        break;
                    }
                    escaped = c == '\\' && !escaped;
                }
            }
            (c, _) if c.is_whitespace() => kept.push(' '),
            (c, _) => kept.push(c),
        }
    }
    // A blank means something between two words only.
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'' || c == '.';
    let mut essence = String::with_capacity(kept.len());
    let mut quoted = false;
    let mut pieces = kept.chars().peekable();
    while let Some(c) = pieces.next() {
        quoted ^= c == '"';
        if c == ' ' && !quoted {
            while pieces.peek() == Some(&' ') {
                pieces.next();
            }
            let between = essence.chars().last().is_some_and(word) && pieces.peek().copied().is_some_and(word);
            if !between {
                continue;
            }
        }
        essence.push(c);
    }
    essence
}

#[cfg(test)]
mod tests {
    use super::without_blanks;

    #[test]
    fn blanks_and_comments_do_not_count() {
        let written = "model A // one\n  Real  x = 2 /* two */ ;\n end A";
        assert_eq!(without_blanks(written), "model A Real x=2;end A");
        assert_eq!(without_blanks("f(\" a  // b\" ) / 2"), "f(\" a  // b\")/2");
        assert_ne!(without_blanks("a b"), without_blanks("ab"));
    }
}
