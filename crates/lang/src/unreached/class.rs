//! Classes of components that are not there.

use std::rc::Rc;
use std::sync::Arc;

use super::{Surroundings, want_value};
use crate::class::{ClassTable, Entry};
use crate::failure::Fallible;
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::Scope;

impl Flattener<'_> {
    /// Checks what a class declares and states, as none of its instances does.
    pub(crate) fn unreached_class(&mut self, class: ClassId) {
        let span = self.def(class).span;
        if !self.looked.insert((span.file.0, span.start, span.end, class)) {
            return;
        }
        let Ok(table) = self.table(class) else { return };
        // What is replaceable in a partial class is not what it will be.
        if table.simple.is_some() || table.is_partial || table.is_expandable || self.enter(span).is_err() {
            return;
        }
        for (index, entry) in table.entries.iter().enumerate() {
            let result = self.look_at_entry(class, index as u32, entry);
            self.judge(result);
        }
        self.look_at_sections(&table);
        self.leave();
    }

    fn look_at_entry(&mut self, class: ClassId, index: u32, entry: &Entry) -> Fallible<()> {
        let Some((_, component)) = entry.component() else {
            return Ok(());
        };
        if entry.outer {
            return Ok(());
        }
        let ty = self.component_type(class, index)?;
        self.check_modifiers(&entry.declared, ty, true)?;
        if let Some(condition) = &component.condition {
            let around = inside(entry.condition_scope);
            let shape = self.shape_of(condition, &around)?;
            super::want(shape, crate::tensor::Ty::Boolean, condition.span)?;
        }
        if let Some(binding) = &entry.declared.binding {
            let shape = self.shape_of(&binding.source.expr, &inside(binding.source.scope.class))?;
            if self.table(ty)?.simple.is_some() {
                want_value(shape, self.class_type(ty)?, binding.span())?;
            }
        }
        self.unreached_class(ty);
        Ok(())
    }

    fn look_at_sections(&mut self, table: &Rc<ClassTable>) {
        for &scope in &table.scopes {
            let def = Arc::clone(self.def(scope));
            let Some(composition) = def.composition() else { continue };
            let around = inside(scope);
            for section in &composition.equations {
                self.look_at_equations(&section.equations, &around);
            }
            for section in &composition.algorithms {
                self.look_at_statements(&section.statements, &around);
            }
        }
    }
}

fn inside(class: ClassId) -> Surroundings<'static> {
    Surroundings {
        scope: Scope { class, instance: None },
        iterators: None,
        named: None,
    }
}
