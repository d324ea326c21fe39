//! Whether two elements of one name are identical: a class may inherit an element along several ways, or declare what it
//! inherits once more, if nothing about it differs (Modelica specification, sections 5.6.1.4 and 7.1). Blanks and comments
//! make no difference.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{ClassBody, ClassModification, Component, Subscript};

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
                let condition = |component: &Component| component.condition.as_ref().map(|c| c.meaning());
                x.type_name.to_string() == y.type_name.to_string()
                    && x.prefix == y.prefix
                    && same_subscripts(&x.subscripts, &y.subscripts)
                    && same_subscripts(&one.subscripts, &other.subscripts)
                    && condition(one) == condition(other)
                    && self.compatible(&a.declared, &b.declared)
            }
            (EntryKind::Class(x), EntryKind::Class(y)) => self.same_class(x, y),
            _ => false,
        }
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
                let meaning = |m: &Option<Arc<ClassModification>>| m.as_ref().map(|m| m.meaning());
                heading
                    && of_a == of_b
                    && x.to_string() == y.to_string()
                    && same_subscripts(sizes, others)
                    && meaning(m) == meaning(n)
            }
            _ => heading && a.def.meaning() == b.def.meaning(),
        }
    }

    fn same_redeclaration(&self, a: &Rc<Redeclare>, b: &Rc<Redeclare>) -> bool {
        if Rc::ptr_eq(a, b) || a.span == b.span {
            return true;
        }
        let put_in_place = match (&a.kind, &b.kind) {
            (RedeclareKind::Inner(x), RedeclareKind::Inner(y)) => return x == y,
            (RedeclareKind::Class(x), RedeclareKind::Class(y)) => x.meaning() == y.meaning(),
            (RedeclareKind::Component(x, i), RedeclareKind::Component(y, j)) => i == j && x.meaning() == y.meaning(),
            _ => false,
        };
        let constraint = |redeclare: &Redeclare| redeclare.constraining.as_ref().map(|clause| clause.meaning());
        put_in_place && (a.is_final, a.replaceable) == (b.is_final, b.replaceable) && constraint(a) == constraint(b)
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
        let meaning = |binding: &Binding| binding.source.expr.meaning();
        Rc::ptr_eq(&a.source, &b.source)
            || a.skip == b.skip && a.selectors == b.selectors && (a.span() == b.span() || meaning(a) == meaning(b))
    }
}

fn same_subscripts(a: &[Subscript], b: &[Subscript]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.meaning() == b.meaning())
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
