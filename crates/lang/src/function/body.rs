//! Bodies of functions, whether or not a call leads through them: names, types and purity.

use std::sync::Arc;

use saltus_source::Diagnostics;
use saltus_syntax::ast::{ClassDefinition, Purity};
use saltus_syntax::library::Library;

use crate::FlattenOptions;
use crate::failure::Fallible;
use crate::flattener::Flattener;
use crate::ids::ClassId;

/// Checks the bodies of functions with these full names.
pub(crate) fn check_bodies(library: &Library, options: &FlattenOptions, names: &[Arc<str>]) -> Diagnostics {
    let mut flattener = Flattener::new(library, options);
    for name in names {
        // What stands in the way of finding or calling it is said elsewhere.
        if let Ok(class) = flattener.class_by_name(name) {
            let _ = flattener.check_body(class);
        }
    }
    flattener.diagnostics
}

impl Flattener<'_> {
    /// The functions that were asked for and are written in the files given.
    pub(crate) fn functions_to_check(&self) -> Vec<Arc<str>> {
        let given = self.library.given();
        let is_given = |def: &ClassDefinition| given.iter().any(|class| class.definition.span.file == def.span.file);
        let mut names: Vec<Arc<str>> = Vec::new();
        for (class, node) in self.classes.iter_enumerated() {
            if self.functions.signatures.contains_key(&class) && is_given(self.def(class)) {
                names.push(Arc::clone(&node.name));
            }
        }
        names.sort();
        names.dedup();
        names
    }

    fn check_body(&mut self, class: ClassId) -> Fallible<()> {
        let signature = self.signature(class)?;
        if signature.partial || signature.external.is_some() || signature.partial_of.is_some() {
            return Ok(());
        }
        // Libraries in use call impure functions from functions that are not marked at all.
        if self.def(class).purity == Some(Purity::Pure) {
            self.functions.pure = Some(Arc::clone(&self.classes[class].name));
        }
        let table = self.table(class)?;
        for formal in &signature.locals {
            let entry = &table.entries[formal.entry as usize];
            self.unreached_modification(&entry.declared, Some(formal.class));
        }
        for &scope in &table.scopes {
            let def = Arc::clone(self.def(scope));
            for section in def.composition().iter().flat_map(|composition| &composition.algorithms) {
                self.function_statements(&section.statements, scope);
            }
        }
        self.functions.pure = None;
        Ok(())
    }

    /// Whether a function is marked as impure, or extends one that is.
    pub(crate) fn is_impure(&mut self, class: ClassId) -> Fallible<bool> {
        let table = self.table(class)?;
        let mut prefixes = table.scopes.iter().map(|&scope| self.def(scope).purity);
        Ok(prefixes.any(|purity| purity == Some(Purity::Impure)))
    }
}
