//! What is known of units beside what declarations say: for editors, which show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_index::IndexVec;
use saltus_source::Span;

use super::measure::Measure;
use super::solve::Form;
use super::{Checker, Declared};
use crate::flat::{FlatExpr, FlatModel, VariableId};
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
        noted.push((own, form.clone(), variables_in(expr)));
    }

    /// What has been noted, as far as it is determined in the end, and the same for all that a text stands for.
    pub(super) fn notes(&mut self) -> UnitNotes {
        let spellings = Spellings::of(self.model, &self.declared);
        let mut found: BTreeMap<Span, Option<Arc<str>>> = BTreeMap::new();
        for (span, form, inside) in self.noted.take().unwrap_or_default() {
            let Some(dimension) = self.determined(&form) else {
                continue;
            };
            let unit = spellings.of_expression(dimension, &inside);
            let known = found.entry(span).or_insert_with(|| Some(Arc::clone(&unit)));
            if known.as_ref().is_some_and(|known| *known != unit) {
                *known = None;
            }
        }
        let expressions = found.into_iter().filter_map(|(span, unit)| Some((span, unit?)));
        let expressions = expressions.collect();
        let mut variables = BTreeMap::new();
        for (id, variable) in self.model.variables.iter_enumerated() {
            if let Some(unit) = self.unit_given(id) {
                variables.insert(Arc::clone(&variable.name), spellings.of_dimension(unit));
            }
        }
        UnitNotes { expressions, variables }
    }

    /// The unit that equations give a variable.
    fn unit_given(&mut self, id: VariableId) -> Option<Dimension> {
        matches!(self.declared[id], Declared::Open).then(|| self.determined(&Form::unknown(id)))?
    }

    /// What a form is in the end, unless it is a number.
    fn determined(&mut self, form: &Form) -> Option<Dimension> {
        let reduced = self.solver.reduce(form)?;
        let is_known =
            |dimension: &Dimension| reduced.terms.is_empty() && !dimension.is_scaled() && !dimension.is_one();
        Some(reduced.constant).filter(is_known)
    }
}

/// The variables in an expression, each once.
fn variables_in(expr: &FlatExpr) -> Vec<VariableId> {
    let mut found = Vec::new();
    expr.walk(&mut |inner| {
        if let FlatExpr::Variable(id) = inner
            && !found.contains(id)
        {
            found.push(*id);
        }
    });
    found
}

/// How a model writes units: a torque is `N.m` where variables are declared so, though it has the dimension of `J`.
struct Spellings<'m> {
    /// What is declared, in order.
    declared: Vec<(Dimension, &'m Arc<str>)>,
    /// By variable: its place in `declared`.
    of_variables: BTreeMap<VariableId, usize>,
}

impl<'m> Spellings<'m> {
    fn of(model: &'m FlatModel, declared: &IndexVec<VariableId, Declared>) -> Spellings<'m> {
        let mut found = Spellings {
            declared: Vec::new(),
            of_variables: BTreeMap::new(),
        };
        for (id, variable) in model.variables.iter_enumerated() {
            let (Declared::Unit(unit), Some(text)) = (declared[id], &variable.attributes.unit) else {
                continue;
            };
            // A difference of degrees Celsius is in kelvins.
            if unit.offset != 0.0 {
                continue;
            }
            let known = found.declared.iter().position(|(_, known)| *known == text);
            let place = known.unwrap_or_else(|| {
                found.declared.push((unit.dimension, text));
                found.declared.len() - 1
            });
            found.of_variables.insert(id, place);
        }
        found
    }

    /// As one of the variables in the expression, or else as the model writes it.
    fn of_expression(&self, dimension: Dimension, inside: &[VariableId]) -> Arc<str> {
        let places = inside.iter().filter_map(|id| self.of_variables.get(id));
        let mut same = places
            .map(|place| &self.declared[*place])
            .filter(|(unit, _)| unit.is(dimension));
        match same.next() {
            Some((_, text)) => Arc::clone(text),
            None => self.of_dimension(dimension),
        }
    }

    /// As the model writes it, if it does so in one way. What is 1/s may be a speed here and a rate there.
    fn of_dimension(&self, dimension: Dimension) -> Arc<str> {
        if dimension.is_of_time() {
            return dimension.to_string().into();
        }
        let mut same = self.declared.iter().filter(|(unit, _)| unit.is(dimension));
        match (same.next(), same.next()) {
            (Some((_, text)), None) => Arc::clone(text),
            _ => dimension.to_string().into(),
        }
    }
}
