//! Inner and outer components.

use crate::class::Entry;
use crate::codes;
use crate::failure::{Fallible, error, fail};
use crate::flattener::Flattener;
use crate::ids::{ComponentId, InstanceId};
use saltus_source::Diagnostic;
use std::rc::Rc;

impl Flattener<'_> {
    /// The inner component that an outer declaration in an instance stands for.
    pub(crate) fn resolve_outer(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<ComponentId> {
        let mut current = self.instances[instance].parent;
        while let Some(ancestor) = current {
            let table = Rc::clone(&self.instances[ancestor].table);
            if let Some((index, found)) = table.find(&entry.name)
                && found.inner
            {
                return match self.component(ancestor, index)? {
                    Some(component) => {
                        self.check_outer(entry, component)?;
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

    /// Without an inner declaration one is made in the model, if the type is complete (5.4).
    pub(super) fn automatic_inner(&mut self, instance: InstanceId, entry: &Entry) -> Fallible<Option<ComponentId>> {
        if let Some((_, known)) = self.automatic.iter().find(|(name, _)| *name == entry.name) {
            return Ok(Some(*known));
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
        if self.def(class).partial || table.simple.is_some() || self.instances[root].is_static {
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
        self.diagnostics.push(
            Diagnostic::warning(
                codes::W0201,
                entry.span,
                format!(
                    "`outer {}` has no `inner` around it: one is added to the model",
                    entry.name
                ),
            )
            .with_help(format!(
                "declare `inner {} {}` in the model",
                clause.type_name, entry.name
            )),
        );
        Ok(Some(component))
    }
}
