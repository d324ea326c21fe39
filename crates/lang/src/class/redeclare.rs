//! Redeclarations, and modifications as a whole.

use super::Found;
use super::table::{ClassEntry, ClassTable, Entry, EntryKind, Replaces, attribute_names};
use crate::codes;
use crate::failure::{Failure, Fallible, did_you_mean, error, fail};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::{self, Mod, Redeclare, RedeclareKind, final_violation, merge, second_redeclaration};
use saltus_source::Span;
use saltus_syntax::ast::{
    ClassBody, ClassDefinition, ComponentClause, ConstrainingClause, Element, ElementKind, Name, QualifiedName,
    Subscript,
};
use std::rc::Rc;
use std::sync::Arc;

impl Flattener<'_> {
    /// Elements with `redeclare` act as modifications of the bases.
    pub(super) fn body_redeclares(&mut self, class: ClassId, elements: &[Element]) -> Mod {
        let mut result = Mod::default();
        for element in elements {
            if !element.redeclare {
                continue;
            }
            let mut add = |name: &Name, kind: RedeclareKind| {
                let m = Mod {
                    redeclare: Some(Rc::new(redeclaration(element, class, kind))),
                    is_final: element.is_final,
                    span: Some(element.span),
                    ..Mod::default()
                };
                result.children.push((name.clone(), Rc::new(m)));
            };
            match &element.kind {
                ElementKind::Class(def) => add(&def.name.name, RedeclareKind::Class(def.clone())),
                ElementKind::Components(clause) => {
                    for (i, component) in clause.components.iter().enumerate() {
                        add(&component.name.name, RedeclareKind::Component(clause.clone(), i as u32));
                    }
                }
                _ => {}
            }
        }
        result
    }

    /// `model extends M` without `redeclare`: here `M` is the new class, in the classes that are inherited from it stays
    /// what it was.
    pub(super) fn extend_inherited(
        &mut self,
        table: &mut ClassTable,
        class: ClassId,
        element: &Element,
        def: &Arc<ClassDefinition>,
        outer: &Rc<Mod>,
    ) -> Fallible<()> {
        let name = &def.name.name;
        let mods = outer.child(name).cloned().unwrap_or_default();
        let Some(&index) = table.by_name.get(name) else {
            return Ok(());
        };
        let inherited = &mut table.entries[index as usize];
        let EntryKind::Class(old) = &inherited.kind else {
            return fail(
                codes::E0207,
                element.span,
                format!("`{name}` is a component and cannot be redeclared as a class"),
            );
        };
        // A redeclaration from outside holds here as in the classes that are inherited from.
        if mods.redeclare.is_some() {
            return Ok(());
        }
        if inherited.is_final {
            return Err(final_error(name, element.span));
        }
        let kind = RedeclareKind::Class(Arc::clone(def));
        let replaceable = old.redeclare.as_ref().map_or(inherited.replaceable, |r| r.replaceable);
        if !replaceable {
            return Err(not_replaceable(name, inherited.span, element.span));
        }
        let redeclare = Some(Rc::new(redeclaration(element, class, kind).over(&inherited.mods)));
        inherited.kind = EntryKind::Class(ClassEntry {
            def: Arc::clone(&old.def),
            redeclare: redeclare.clone(),
        });
        inherited.mods = Rc::new(Mod {
            redeclare,
            ..(*mods).clone()
        });
        inherited.is_final |= element.is_final;
        inherited.replaceable = element.replaceable;
        inherited.class = std::cell::Cell::new(None);
        Ok(())
    }

    /// Puts the new declaration in place; what constrains the old one is kept.
    pub(super) fn redeclare_component(&mut self, entry: &mut Entry, redeclare: &Redeclare) -> Fallible<()> {
        let RedeclareKind::Component(clause, index) = &redeclare.kind else {
            return fail(
                codes::E0207,
                redeclare.span,
                format!("`{}` is a component and cannot be redeclared as a class", entry.name),
            );
        };
        let component = &clause.components[*index as usize];
        if component.condition.is_some() {
            return modification::conditional_redeclaration(component);
        }
        let new = Rc::new(modification::of_component(
            component.modification.as_deref(),
            redeclare.scope,
        )?);
        let old = match &entry.constraining {
            Some(clause) => constraining_mods(clause, entry.scope, 0)?,
            None => Rc::clone(&entry.declared),
        };
        let old = below(redeclare, old, 0)?;
        // The prefixes of the original are kept where the redeclaration has none.
        let original = entry.component().map(|(clause, _)| clause.prefix).unwrap_or_default();
        let mut new_clause = (**clause).clone();
        new_clause.prefix.connector = clause.prefix.connector.or(original.connector);
        new_clause.prefix.variability = clause.prefix.variability.or(original.variability);
        new_clause.prefix.causality = clause.prefix.causality.or(original.causality);
        if new_clause.components[*index as usize].subscripts.is_empty()
            && new_clause.subscripts.is_empty()
            && let Some((_, old)) = entry.component()
        {
            new_clause.components[*index as usize].subscripts = old.subscripts.clone();
        } else {
            entry.dims_scope = redeclare.scope;
        }
        if let Some((_, old)) = entry.component() {
            new_clause.components[*index as usize].condition = old.condition.clone();
        }
        let explicit = |clause: &ComponentClause, index: u32| {
            clause.components[index as usize].subscripts.len() + clause.subscripts.len()
        };
        if let (EntryKind::Component(old, old_index), true) = (&entry.kind, explicit(clause, *index) > 0) {
            entry.replaces = Some(Rc::new(Replaces {
                scope: entry.scope,
                type_name: old.type_name.clone(),
                sizes: explicit(old, *old_index),
                span: redeclare.span,
            }));
        }
        entry.constraint = match (redeclare.constraint_below(), &entry.constraining) {
            (Some((scope, clause)), _) => Some((scope, clause.base.clone(), redeclare.span)),
            (None, Some(clause)) => Some((entry.scope, clause.base.clone(), redeclare.span)),
            (None, None) => entry
                .component()
                .map(|(clause, _)| (entry.scope, clause.type_name.clone(), redeclare.span)),
        };
        entry.kind = EntryKind::Component(Arc::new(new_clause), *index);
        entry.declared = merge(&new, &old);
        entry.scope = redeclare.scope;
        entry.is_final |= redeclare.is_final;
        entry.constraining = redeclare.constraining.clone();
        Ok(())
    }

    /// What a class is made of must not be replaced together with it: no part of the name of a base class is replaceable
    /// (7.1.4).
    pub(super) fn check_not_replaceable(&mut self, class: ClassId, base: &QualifiedName) -> Fallible<()> {
        let Some((first, rest)) = base.parts.split_first() else {
            return Ok(());
        };
        let wrong = |name: &Name| {
            fail(
                codes::E0217,
                base.span,
                format!("`{name}` is replaceable and cannot be extended here"),
            )
        };
        if !base.global && self.is_replaceable_from(class, &first.name) {
            return wrong(&first.name);
        }
        let Ok(Some(Found::Class(mut current))) = self.lookup(class, &first.name) else {
            return Ok(());
        };
        for part in rest {
            if self.is_building(current) {
                return Ok(());
            }
            if self
                .table(current)?
                .find(&part.name)
                .is_some_and(|(_, entry)| entry.is_replaceable())
            {
                return wrong(&part.name);
            }
            match self.member(current, &part.name)? {
                Some(Found::Class(inner)) => current = inner,
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Whether a name means a replaceable class, as seen from a class.
    fn is_replaceable_from(&self, class: ClassId, name: &Name) -> bool {
        let mut current = Some(class);
        while let Some(id) = current {
            let node = &self.classes[id];
            let own = node.def.composition().and_then(|composition| {
                let mut elements = composition.elements.iter();
                elements.find(|e| matches!(&e.kind, ElementKind::Class(def) if def.name.name == *name))
            });
            let redeclared = node.mods.child(name).and_then(|m| m.redeclare.as_ref());
            if let Some(element) = own {
                return match redeclared {
                    Some(redeclare) => redeclare.replaceable,
                    None => element.replaceable,
                };
            }
            if let Some((_, entry)) = node.table.as_ref().and_then(|table| table.find(name)) {
                return entry.is_replaceable();
            }
            current = if node.def.encapsulated { None } else { node.parent };
        }
        false
    }

    /// Every element that is modified must exist, and be public where that is done from outside.
    pub(crate) fn check_modifiers(&mut self, mods: &Mod, class: ClassId, outside: bool) -> Fallible<()> {
        if mods.children.is_empty() {
            return Ok(());
        }
        let table = self.table(class)?;
        for (name, m) in &mods.children {
            if let Some((index, entry)) = table.find(name) {
                if entry.protected && outside {
                    let span = m.span.unwrap_or(entry.span);
                    return fail(
                        codes::E0210,
                        span,
                        format!(
                            "`{name}` is protected in `{}` and cannot be modified",
                            self.classes[class].name
                        ),
                    );
                }
                if entry.component().is_none() && m.redeclare.is_none() && !m.children.is_empty() {
                    let inner = self.entry_class(class, index)?;
                    self.check_modifiers(m, inner, outside)?;
                }
                continue;
            }
            if let Some(simple) = table.simple
                && attribute_names(simple).contains(&name.as_str())
            {
                continue;
            }
            if self.stored_child(class, name).is_some() {
                continue;
            }
            let span = m.span.unwrap_or(self.def(class).name.span);
            let mut diagnostic = error(
                codes::E0205,
                span,
                format!("`{}` has no element `{name}` to modify", self.classes[class].name),
            );
            if let Some(told) = self.renamed(&diagnostic, class, name, span) {
                return Err(told.into());
            }
            let table = self.table(class)?;
            let names = table.by_name.keys().map(|n| n.as_str());
            let mut names: Vec<&str> = names
                .chain(table.simple.iter().flat_map(|s| attribute_names(*s).iter().copied()))
                .collect();
            names.sort_unstable();
            if let Some(other) = did_you_mean(name, names) {
                diagnostic = self.suggesting(diagnostic, name, span, other);
            }
            return Err(diagnostic.into());
        }
        Ok(())
    }

    /// Outer modifications over inner ones, unless something final stands in the way.
    pub(crate) fn merge_checked(&self, outer: &Rc<Mod>, inner: &Rc<Mod>) -> Fallible<Rc<Mod>> {
        if let Some((name, span)) = final_violation(outer, inner) {
            return fail(
                codes::E0206,
                span,
                format!("`{name}` is declared final and cannot be modified"),
            );
        }
        if let Some((name, second, first)) = second_redeclaration(outer, inner) {
            return Err(
                error(codes::E0207, second, format!("`{name}` is not replaceable any more"))
                    .with_secondary(first, "redeclared here without `replaceable`")
                    .with_help("write `redeclare replaceable` there")
                    .into(),
            );
        }
        Ok(merge(outer, inner))
    }
}

fn redeclaration(element: &Element, class: ClassId, kind: RedeclareKind) -> Redeclare {
    Redeclare {
        class_extends: matches!(&kind, RedeclareKind::Class(def) if matches!(def.body, ClassBody::Extends { .. })),
        kind,
        scope: class,
        constraining: element.constraining.clone(),
        is_final: element.is_final,
        replaceable: element.replaceable,
        span: element.span,
        replaced: None,
    }
}

pub(super) fn check_replaceable(element: &Element, name: &Name, redeclare: &Redeclare) -> Fallible<()> {
    if element.is_final {
        return Err(final_error(name, redeclare.span));
    }
    let constant = matches!(&element.kind, ElementKind::Components(clause)
        if clause.prefix.variability == Some(saltus_syntax::ast::Variability::Constant));
    if element.replaceable || element.redeclare {
        if constant {
            return fail(
                codes::E0207,
                redeclare.span,
                format!("`{name}` is constant and cannot be redeclared"),
            );
        }
        return Ok(());
    }
    Err(not_replaceable(name, element.span, redeclare.span))
}

fn not_replaceable(name: &Name, declared: Span, redeclared: Span) -> Failure {
    error(codes::E0207, redeclared, format!("`{name}` is not replaceable"))
        .with_secondary(declared, "declared here")
        .with_help("write `replaceable` before its declaration")
        .into()
}

/// Whether a redeclaration gives sizes to an array that leaves them open, and changes nothing else: that needs no
/// `replaceable` (Language Specification 3.6, 7.3).
pub(super) fn gives_sizes(clause: &ComponentClause, index: u32, redeclare: &Redeclare) -> bool {
    let RedeclareKind::Component(new, new_index) = &redeclare.kind else {
        return false;
    };
    let open = |s: &Subscript| matches!(s, Subscript::Colon(_));
    let (old_part, new_part) = (&clause.components[index as usize], &new.components[*new_index as usize]);
    let old_sizes: Vec<&Subscript> = old_part.subscripts.iter().chain(&clause.subscripts).collect();
    let new_sizes: Vec<&Subscript> = new_part.subscripts.iter().chain(&new.subscripts).collect();
    new.type_name.to_string() == clause.type_name.to_string()
        && old_sizes.len() == new_sizes.len()
        && old_sizes.iter().any(|s| open(s))
        && old_sizes.iter().all(|s| open(s))
}

/// What holds for a redeclared element besides what the redeclaration says: modifications made
/// before it, the constraining clauses of the redeclarations it replaces, and at last those of the
/// original declaration (Language Specification 3.6, 7.3.2).
pub(super) fn below(redeclare: &Redeclare, original: Rc<Mod>, depth: i8) -> Fallible<Rc<Mod>> {
    let Some(replaced) = &redeclare.replaced else {
        return Ok(original);
    };
    let weaker = match &replaced.redeclare {
        None => original,
        Some(previous) => {
            let rest = below(previous, original, depth)?;
            match &previous.constraining {
                Some(clause) => merge(&constraining_mods(clause, previous.scope, depth)?, &rest),
                None => rest,
            }
        }
    };
    Ok(merge(&replaced.without_redeclare(), &weaker))
}

/// The modifications of a constraining clause.
pub(super) fn constraining_mods(clause: &ConstrainingClause, scope: ClassId, depth: i8) -> Fallible<Rc<Mod>> {
    Ok(match &clause.modification {
        Some(m) => Rc::new(modification::from_ast(m, scope, depth)?),
        None => Rc::default(),
    })
}

pub(super) fn final_error(name: &Name, span: Span) -> Failure {
    error(
        codes::E0206,
        span,
        format!("`{name}` is declared final and cannot be modified"),
    )
    .into()
}
