//! Inner and outer components.

use crate::class::Entry;
use crate::codes;
use crate::failure::{Fallible, error, fail};
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::modification::{Mod, Redeclare, RedeclareKind};
use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::Name;
use std::rc::Rc;
use std::sync::Arc;

impl Flattener<'_> {
    /// The inner component that an outer declaration in an instance stands for.
    pub(crate) fn resolve_outer(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<ComponentId> {
        self.outer_from(self.instances[instance].parent, instance, entry)
    }

    /// The same, looked for from an instance on.
    pub(crate) fn outer_from(
        &mut self,
        start: Option<InstanceId>,
        instance: InstanceId,
        entry: &Entry,
    ) -> Fallible<ComponentId> {
        let mut current = start;
        while let Some(ancestor) = current {
            let table = Rc::clone(&self.instances[ancestor].table);
            if let Some((index, found)) = table.find(&entry.name)
                && found.inner
                && found.component().is_some()
            {
                return match self.component(ancestor, index)? {
                    Some(component) => {
                        self.check_outer(instance, entry, component)?;
                        Ok(component)
                    }
                    None => fail(
                        codes::E0209,
                        entry.span,
                        format!("the inner `{}` is conditional, and its condition is false", entry.name),
                    ),
                };
            }
            current = self.instances[ancestor].parent;
        }
        if let Some(component) = self.automatic_inner(instance, entry)? {
            return Ok(component);
        }
        let path = &self.instances[instance].path;
        let place = if path.is_empty() {
            "this model".to_owned()
        } else {
            format!("`{path}`")
        };
        Err(error(
            codes::E0209,
            entry.span,
            format!("`outer {}` has no `inner` around it", entry.name),
        )
        .with_note(format!("used in {place}"))
        .with_help(format!("declare `inner … {}` in the model", entry.name))
        .into())
    }

    /// A class with the inner classes around an instance in place of its outer ones.
    pub(crate) fn with_inner_classes(&mut self, class: ClassId, around: Option<InstanceId>) -> Fallible<ClassId> {
        let table = self.table(class)?;
        if !table.has_outer_classes {
            return Ok(class);
        }
        let mut children = Vec::new();
        for (index, entry) in table.entries.iter().enumerate() {
            if !entry.outer || entry.component().is_some() {
                continue;
            }
            if entry.inner {
                return fail(
                    codes::E0214,
                    entry.span,
                    format!(
                        "the class `{}` is both inner and outer, which is not supported yet",
                        entry.name
                    ),
                );
            }
            match self.inner_class(around, &entry.name)? {
                Some(inner) => children.push((entry.name.clone(), Rc::new(inner_redeclare(inner, entry.span)))),
                None => self.check_alone(class, index as u32, entry)?,
            }
        }
        let mods = Mod {
            children,
            ..Mod::default()
        };
        Ok(self.derived_class(class, Rc::new(mods)))
    }

    fn inner_class(&mut self, around: Option<InstanceId>, name: &Name) -> Fallible<Option<ClassId>> {
        let mut current = around;
        while let Some(instance) = current {
            let data = &self.instances[instance];
            let (class, parent) = (data.class, data.parent);
            if let Some((index, found)) = data.table.find(name)
                && found.inner
                && found.component().is_none()
            {
                return self.entry_class(class, index).map(Some);
            }
            current = parent;
        }
        Ok(None)
    }

    /// An outer class without an inner one stands for itself, if it is complete.
    fn check_alone(&mut self, class: ClassId, index: u32, entry: &Entry) -> Fallible<()> {
        let own = self.entry_class(class, index)?;
        let message = format!("the outer class `{}` has no inner class around it", entry.name);
        let help = format!("declare an `inner` class `{}` in the model", entry.name);
        if self.table(own)?.is_partial {
            return Err(error(codes::E0209, entry.span, message).with_help(help).into());
        }
        self.diagnostics.push(
            Diagnostic::warning(codes::W0201, entry.span, format!("{message}: it stands for itself")).with_help(help),
        );
        Ok(())
    }

    /// One component can stand for several outer ones only if all of them are of one class (5.4).
    fn check_same_outer(&mut self, entry: &Entry, known: ComponentId) -> Fallible<()> {
        let Some((clause, _)) = entry.component() else {
            return Ok(());
        };
        let class = self.lookup_class(entry.scope, &clause.type_name)?;
        let (other, span) = (self.components[known].class, self.components[known].span);
        if Arc::ptr_eq(self.def(class), self.def(other)) {
            return Ok(());
        }
        Err(error(
            codes::E0209,
            entry.span,
            format!(
                "`outer {}` has no `inner` around it, and another outer declaration of that name has another class",
                entry.name
            ),
        )
        .with_secondary(span, format!("of class `{}`", self.classes[other].name))
        .with_help(format!("declare `inner … {}` in the model", entry.name))
        .into())
    }

    /// Without an inner declaration one is made in the model, if the type is complete (5.4).
    pub(super) fn automatic_inner(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<Option<ComponentId>> {
        if let Some(&(_, known)) = self.automatic.iter().find(|(name, _)| *name == entry.name) {
            self.check_same_outer(entry, known)?;
            return Ok(Some(known));
        }
        let mut root = instance;
        while let Some(parent) = self.instances[root].parent {
            root = parent;
        }
        let Some((clause, _)) = entry.component() else {
            return Ok(None);
        };
        let class = self.lookup_class(entry.scope, &clause.type_name)?;
        let table = self.table(class)?;
        // A variable without a value would only be missed later.
        if table.is_partial || table.simple.is_some() || self.instances[root].is_static {
            return Ok(None);
        }
        let inner = Entry {
            outer: false,
            inner: true,
            ..entry.clone()
        };
        let index = u32::MAX;
        let Some(component) = self.make_component(root, index, &inner)? else {
            return Ok(None);
        };
        self.automatic.push((entry.name.clone(), component));
        let message = format!(
            "`outer {}` has no `inner` around it: one is added to the model",
            entry.name
        );
        let help = format!("declare `inner {} {}` in the model", clause.type_name, entry.name);
        let warning = Diagnostic::warning(codes::W0201, entry.span, message).with_help(help);
        let warning = self.used_at(warning, self.part);
        self.diagnostics.push(warning);
        Ok(Some(component))
    }
}

/// The modification that puts an inner class in the place of an outer one.
fn inner_redeclare(inner: ClassId, span: Span) -> Mod {
    Mod {
        redeclare: Some(Rc::new(Redeclare {
            kind: RedeclareKind::Inner(inner),
            scope: inner,
            constraining: None,
            is_final: false,
            replaceable: false,
            span,
            class_extends: false,
            replaced: None,
        })),
        span: Some(span),
        ..Mod::default()
    }
}
