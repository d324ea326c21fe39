//! What is said of units that differ.

use saltus_source::{Diagnostic, Span};

use super::measure::Measure;
use super::{Checker, Declared, Joint, Side, codes};
use crate::flat::{FlatExpr, FlatModel, ProvenanceKind, VariableId};
use crate::unit::Dimension;

/// Variables of each side whose declarations are shown.
const MOST_PLACES: usize = 3;

/// A text that has not the form of a unit.
pub(super) fn malformed(text: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(codes::W0208, span, format!("`{text}` is not a unit")).with_help(
        "write products with `.`, one `/` with parentheses behind it, and exponents without `^`: `kg.m2/(s3.A)`",
    )
}

impl<'m> Checker<'m> {
    pub(super) fn warning(&mut self, joint: &Joint<'m>, span: Span, apart: Option<Dimension>) -> Diagnostic {
        let function = std::mem::replace(
            &mut self.function,
            joint.function.and_then(|id| Some((id, self.locals.get(&id).cloned()?))),
        );
        let [a, b] = joint.sides.map(|side| self.in_words(side));
        self.function = function;
        let connected = self.model.provenance(joint.provenance).kind == ProvenanceKind::Connection;
        let (is_known, a, b) = (a.is_some() && b.is_some(), a.unwrap_or_default(), b.unwrap_or_default());
        let message = match (joint.operation, joint.sides[0]) {
            (operation, _) if !is_known => {
                let apart = apart.unwrap_or(Dimension::ONE);
                format!("the two sides of `{operation}` cannot have one unit: they differ by a factor of `{apart}`")
            }
            ("argument", Side::Input(function, local)) => {
                let function = &self.model.functions[function];
                let name = &function.locals[local].name;
                format!(
                    "the input `{name}` of `{}` has the unit {a}, its argument {b}",
                    function.name
                )
            }
            ("argument", Side::Claimed(claim)) => {
                let (name, function) = (&claim.input, &claim.function);
                format!("the input `{name}` of `{function}` has the unit {a}, its argument {b}")
            }
            ("start" | "min" | "max" | "nominal", Side::Variable(_)) => {
                let attribute = joint.operation;
                format!("the unit of `{attribute}` differs from that of the variable: {a} against {b}")
            }
            (operator, Side::Wanted(wanted)) if wanted.is_one() => {
                format!("`{operator}` takes a number or an angle, and its argument has the unit {b}")
            }
            (operator, Side::Wanted(_)) => {
                format!("`{operator}` takes a time in seconds, and its argument has the unit {b}")
            }
            (_, _) if connected => format!("connected variables have different units: {a} against {b}"),
            (operation, _) => format!("the units of the two sides of `{operation}` differ: {a} against {b}"),
        };
        let mut diagnostic = Diagnostic::warning(codes::W0204, span, message);
        let mut places: Vec<VariableId> = Vec::new();
        for side in joint.sides {
            self.places(side, &mut places);
        }
        for variable in places {
            diagnostic = self.with_place(diagnostic, variable);
        }
        diagnostic
            .with_help("check the expression and the units that are declared; nothing is converted between the units")
    }

    /// The unit of a side: as it is declared, or computed.
    fn in_words(&mut self, side: Side<'m>) -> Option<String> {
        let named = match side {
            Side::Variable(id) | Side::Expr(&FlatExpr::Variable(id)) => self.of_variable(id),
            Side::Input(function, local) => self.model.functions[function].locals[local]
                .unit
                .as_ref()
                .map(|unit| format!("`{unit}`")),
            Side::Claimed(claim) => Some(format!("`{}`", claim.unit)),
            Side::Local(local) => self.function.as_ref().and_then(|(id, _)| {
                let local = &self.model.functions[*id].locals[local];
                local.unit.as_ref().map(|unit| format!("`{unit}` of `{}`", local.name))
            }),
            _ => None,
        };
        named.or_else(|| self.resolved(side).map(|dimension| format!("`{dimension}`")))
    }

    fn of_variable(&mut self, id: VariableId) -> Option<String> {
        let variable = &self.model.variables[id];
        if let (Declared::Unit(_), Some(unit)) = (self.declared[id], &variable.attributes.unit) {
            return Some(format!("`{unit}` of `{}`", variable.name));
        }
        let (dimension, _) = self.solver.told_by(id)?;
        Some(format!("`{dimension}` of `{}`", variable.name))
    }

    /// The unit of a side, if everything in it is known. Asking does not say anything new.
    fn resolved(&mut self, side: Side<'m>) -> Option<Dimension> {
        let kept = (self.warnings.len(), self.joints.len());
        let told = self.told.clone();
        let measure = self.side(side);
        self.warnings.truncate(kept.0);
        self.told = told;
        let form = match measure {
            Measure::Of(form, _) => form,
            Measure::Number => return Some(Dimension::ONE),
            Measure::Time => return Some(Dimension::SECOND),
            Measure::Any => return None,
        };
        let reduced = self.solver.reduce(&form)?;
        reduced.terms.is_empty().then_some(reduced.constant)
    }

    /// The variables that a side's unit comes from.
    fn places(&self, side: Side<'m>, list: &mut Vec<VariableId>) {
        let mut of_side = Vec::new();
        let mut add = |id: VariableId| {
            if of_side.len() < MOST_PLACES && !of_side.contains(&id) && !list.contains(&id) {
                of_side.push(id);
            }
        };
        match side {
            Side::Variable(id) => add(id),
            Side::Expr(expr) => expr.walk(&mut |inner| {
                if let FlatExpr::Variable(id) = inner {
                    add(*id);
                }
            }),
            _ => {}
        }
        list.append(&mut of_side);
    }

    /// Where a variable gets its unit.
    fn with_place(&mut self, diagnostic: Diagnostic, id: VariableId) -> Diagnostic {
        let (model, primary): (&FlatModel, _) = (self.model, diagnostic.span());
        let variable = &model.variables[id];
        let (span, remark) = match self.declared[id] {
            Declared::Unit(_) => {
                let unit = variable.attributes.unit.as_deref().unwrap_or_default();
                let span = model.provenance(variable.provenance).span;
                (span, format!("`{}` is in `{unit}`", variable.name))
            }
            _ => match self.solver.told_by(id) {
                Some((dimension, number)) => {
                    let by = self.joints[number as usize];
                    let span = by.span.unwrap_or(model.provenance(by.provenance).span);
                    (span, format!("`{}` is in `{dimension}` by this", variable.name))
                }
                None => return diagnostic,
            },
        };
        let shown = diagnostic.secondary.iter().any(|label| label.span == span);
        if shown || primary == Some(span) {
            return diagnostic;
        }
        diagnostic.with_secondary(span, remark)
    }
}
