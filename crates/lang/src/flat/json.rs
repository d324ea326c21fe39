//! The flat model as JSON.

use serde_json::{Map, Value, json};

use super::{Causality, FlatExpr, FlatModel, FlatVariable, Provenance, ProvenanceKind, Variability};

impl FlatModel {
    /// The flat model as a JSON value: counts, variables, equations with their provenance.
    /// Expressions are Modelica text.
    pub fn to_json(&self) -> Value {
        let counts = self.counts();
        json!({
            "model": &*self.name,
            "unknowns": counts.unknowns,
            "equations": counts.max_equations,
            "min_equations": counts.min_equations,
            "experiment": self.experiment_json(),
            "variables": self.variables.iter().map(|v| self.variable_json(v)).collect::<Vec<_>>(),
            "equation_list": self.equation_list(&self.equations),
            "initial_equation_list": self.equation_list(&self.initial_equations),
            "algorithms": self.algorithms.len(),
            "initial_algorithms": self.initial_algorithms.len(),
            "functions": self.functions.iter().map(|f| json!(&*f.name)).collect::<Vec<_>>(),
        })
    }

    fn experiment_json(&self) -> Value {
        let experiment = &self.experiment;
        json!({
            "start_time": experiment.start_time,
            "stop_time": experiment.stop_time,
            "tolerance": experiment.tolerance,
            "interval": experiment.interval,
        })
    }

    fn equation_list(&self, equations: &[super::FlatEquation]) -> Vec<Value> {
        equations
            .iter()
            .map(|equation| {
                json!({
                    "text": self.equation_text(equation).trim_end_matches(';'),
                    "from": self.provenance_json(self.provenance(equation.provenance)),
                })
            })
            .collect()
    }

    fn provenance_json(&self, provenance: &Provenance) -> Value {
        let span = provenance.span;
        json!({
            "kind": match provenance.kind {
                ProvenanceKind::Declaration => "declaration",
                ProvenanceKind::Equation => "equation",
                ProvenanceKind::Binding => "binding",
                ProvenanceKind::Connection => "connection",
                ProvenanceKind::UnconnectedFlow => "unconnected flow",
                ProvenanceKind::Statement => "statement",
                ProvenanceKind::Function => "function",
            },
            "path": &*provenance.path,
            "file": span.file.0,
            "start": span.start,
            "end": span.end,
        })
    }

    fn variable_json(&self, variable: &FlatVariable) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), json!(&*variable.name));
        map.insert("type".into(), json!(self.type_name(variable.ty)));
        let variability = match variable.variability {
            Variability::Constant => "constant",
            Variability::Parameter => "parameter",
            Variability::Discrete => "discrete",
            Variability::Continuous => "continuous",
        };
        map.insert("variability".into(), json!(variability));
        match variable.causality {
            Causality::Internal => {}
            Causality::Input => {
                map.insert("causality".into(), json!("input"));
            }
            Causality::Output => {
                map.insert("causality".into(), json!("output"));
            }
        }
        let attributes = &variable.attributes;
        for (key, value) in [
            ("binding", &variable.binding),
            ("start", &variable.start),
            ("min", &attributes.min),
            ("max", &attributes.max),
            ("nominal", &attributes.nominal),
        ] {
            if let Some(expr) = value {
                map.insert(key.into(), self.expr_json(expr));
            }
        }
        for (key, value) in [
            ("unit", &attributes.unit),
            ("displayUnit", &attributes.display_unit),
            ("quantity", &attributes.quantity),
            ("description", &attributes.description),
        ] {
            if let Some(text) = value {
                map.insert(key.into(), json!(&**text));
            }
        }
        if let Some(fixed) = variable.fixed {
            map.insert("fixed".into(), json!(fixed));
        }
        if variable.protected {
            map.insert("protected".into(), json!(true));
        }
        Value::Object(map)
    }

    fn expr_json(&self, expr: &FlatExpr) -> Value {
        match expr {
            FlatExpr::Real(value) => json!(value),
            FlatExpr::Integer(value) => json!(value),
            FlatExpr::Boolean(value) => json!(value),
            other => json!(self.expr_text(other)),
        }
    }
}
