//! What is known of units beside what declarations say: for editors, which show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_source::Span;

use super::measure::Measure;
use super::solve::Form;
use super::{Checker, Declared};
use crate::flat::{FlatExpr, VariableId};
use crate::unit::Dimension;

/// Units that follow from those that are declared. Numbers without a unit are not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitNotes {
    /// Of operations and calls, by their places in the text.
    pub expressions: BTreeMap<Span, Arc<str>>,
    /// Of variables that declare none, by their full names.
    pub variables: BTreeMap<Arc<str>, Arc<str>>,
}

impl<'m> Checker<'m> {
    /// Keeps what an expression of the model has been found to be.
    pub(super) fn note(&mut self, expr: &FlatExpr, measure: &Measure) {
        let Some(noted) = &mut self.noted else { return };
        // In functions, and where a model stands for many, other things hold.
        let (Measure::Of(form, _), None) = (measure, &self.function) else {
            return;
        };
        let own = match expr {
            FlatExpr::Binary(_, _, span) | FlatExpr::If(_, span) | FlatExpr::Builtin(_, _, span) => *span,
            FlatExpr::Call(call) => call.span,
            _ => return,
        };
        noted.push((own, form.clone()));
    }

    /// What has been noted, as far as it is determined in the end, and the same for all that a text stands for.
    pub(super) fn notes(&mut self) -> UnitNotes {
        let mut found: BTreeMap<Span, Option<Arc<str>>> = BTreeMap::new();
        for (span, form) in self.noted.take().unwrap_or_default() {
            let Some(unit) = self.determined(&form) else { continue };
            let known = found.entry(span).or_insert_with(|| Some(Arc::clone(&unit)));
            if known.as_ref().is_some_and(|known| *known != unit) {
                *known = None;
            }
        }
        let expressions = found.into_iter().filter_map(|(span, unit)| Some((span, unit?)));
        let expressions = expressions.filter(|(_, unit)| **unit != *"1").collect();
        let mut variables = BTreeMap::new();
        for (id, variable) in self.model.variables.iter_enumerated() {
            if let Some(unit) = self.unit_given(id).filter(|unit| **unit != *"1") {
                variables.insert(Arc::clone(&variable.name), unit);
            }
        }
        UnitNotes { expressions, variables }
    }

    /// The unit that equations give a variable.
    fn unit_given(&mut self, id: VariableId) -> Option<Arc<str>> {
        matches!(self.declared[id], Declared::Open).then(|| self.determined(&Form::unknown(id)))?
    }

    fn determined(&mut self, form: &Form) -> Option<Arc<str>> {
        let reduced = self.solver.reduce(form)?;
        let is_known = |dimension: &Dimension| reduced.terms.is_empty() && !dimension.is_scaled();
        Some(reduced.constant)
            .filter(is_known)
            .map(|unit| unit.to_string().into())
    }
}
