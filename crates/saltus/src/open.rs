//! Values that a model leaves open: parameters without one, and inputs that nothing determines.

use saltus_lang::flat::{Causality, FlatModel, ProvenanceKind, ScalarType, Variability};
use saltus_source::{Diagnostic, Diagnostics, Span, codes};

use crate::Model;

/// More are counted, not named.
const MOST_NAMED: usize = 8;

/// A value that is left open.
#[derive(Clone, Debug)]
pub(crate) struct OpenValue {
    name: String,
    is_input: bool,
    /// What is used instead.
    instead: String,
    /// Its declaration, and the line of the model itself that brings it along.
    declared: Span,
    part: Option<Span>,
}

/// What a flat model leaves open; nothing for a model with open connectors, which is a part of others.
pub(crate) fn open_values(flat: &FlatModel) -> Vec<OpenValue> {
    if has_open_connectors(flat) {
        return Vec::new();
    }
    let variables = flat.variables.iter().filter_map(|variable| {
        let is_input = variable.causality == Causality::Input;
        let is_parameter = variable.variability == Variability::Parameter
            && variable.binding.is_none()
            && variable.fixed != Some(false)
            && !variable.structural;
        if !is_input && !is_parameter {
            return None;
        }
        let instead = match (&variable.start, variable.ty) {
            (Some(start), _) if start.is_literal() => match start.as_number() {
                Some(number) if variable.ty == ScalarType::Real => format!("its start value {number}"),
                _ => "its start value".to_owned(),
            },
            (Some(_), _) => "its start value".to_owned(),
            (None, ScalarType::Boolean) => "`false`".to_owned(),
            (None, ScalarType::String) => "the empty text".to_owned(),
            (None, ScalarType::Enumeration(_)) => "the first literal".to_owned(),
            (None, _) => "0".to_owned(),
        };
        Some(OpenValue {
            name: variable.name.to_string(),
            is_input,
            instead,
            declared: flat.provenance(variable.provenance).span,
            part: flat.part_of(&variable.name),
        })
    });
    variables.collect()
}

/// Whether a connector of the model itself has flows that nothing is connected to.
pub(crate) fn has_open_connectors(flat: &FlatModel) -> bool {
    flat.equations.iter().any(|equation| {
        let from = flat.provenance(equation.provenance);
        from.kind == ProvenanceKind::UnconnectedFlow && !from.path.contains('.')
    })
}

/// What is said of values that are left open and not given elsewhere.
pub(crate) fn diagnostics_of(open: &[OpenValue], is_given: impl Fn(&str) -> bool) -> Diagnostics {
    let mut found = Diagnostics::new();
    // Elements of an array are one declaration.
    let mut told: Vec<(Span, bool)> = Vec::new();
    for value in open.iter().filter(|value| !is_given(&value.name)) {
        let place = value.part.unwrap_or(value.declared);
        if told.contains(&(value.declared, value.is_input)) {
            continue;
        }
        told.push((value.declared, value.is_input));
        if told.len() > MOST_NAMED {
            break;
        }
        let (message, help) = if value.is_input {
            let message = format!(
                "nothing determines the input `{}`: {} is used",
                value.name, value.instead
            );
            (
                message,
                "give it by `--input FILE`, or by an equation or a connection in a model around this one".to_owned(),
            )
        } else {
            let message = format!("the parameter `{}` has no value: {} is used", value.name, value.instead);
            (
                message,
                format!(
                    "give it one: `{0} = …` where it is declared, or `--set {0}=…`",
                    value.name
                ),
            )
        };
        let mut warning = Diagnostic::warning(codes::W0209, place, message);
        if place != value.declared {
            warning = warning.with_secondary(value.declared, "declared here");
        }
        found.push(warning.with_help(help));
    }
    found
}

impl Model {
    /// What is said of parameters without values, and of inputs that nothing determines, unless a run gives them.
    pub fn open_values(&self, is_given: impl Fn(&str) -> bool) -> Diagnostics {
        diagnostics_of(&self.open, is_given)
    }
}
