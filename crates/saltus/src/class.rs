//! A class by itself, with its connectors open.

use std::collections::BTreeSet;

use saltus_analysis::{ClassReport, class_report};
use saltus_lang::flat::{FlatModel, ProvenanceKind};
use saltus_mdae::VarId;
use saltus_source::{Diagnostic, Severity, codes};

use crate::{Fault, Outcome, Session};

impl Session {
    /// What a class with connectors says to every model that uses it: which variables of its connectors it determines in each
    /// of its modes.
    pub fn analyze_class(&self, class: &str) -> Outcome<ClassReport> {
        let options = self.flatten_options();
        let flattened = saltus_lang::flatten(&self.library, class, &options);
        // How many equations a part needs is what is asked here.
        let counted = |d: &Diagnostic| matches!(d.code, codes::E0403 | codes::W0209 | codes::W0211);
        let diagnostics = flattened.diagnostics.into_iter().filter(|d| !counted(d)).collect();
        Outcome::new(flattened.model, diagnostics).then(|flat| self.open_class(class, flat))
    }

    fn open_class(&self, class: &str, mut flat: FlatModel) -> Outcome<ClassReport> {
        let connectors = open_connectors(&flat);
        if connectors.is_empty() {
            let message = format!("`{class}` has no connectors with flows that are open");
            let diagnostic = Diagnostic::without_place(codes::E0402, Severity::Error, message)
                .with_help("a model without them is analysed without `--class`");
            return Outcome::failed(Fault::Request, std::iter::once(diagnostic).collect());
        }
        let is_of = |name: &str| {
            let (connector, _) = name.split_once('.').unwrap_or((name, ""));
            connectors.contains(connector)
        };
        let before = flat.equations.len();
        let provenances = flat.provenances.clone();
        flat.equations.retain(|equation| {
            let from = &provenances[equation.provenance];
            from.kind != ProvenanceKind::UnconnectedFlow || !connectors.contains(&*from.path)
        });
        let flows = before - flat.equations.len();
        self.lower(&flat).then(|mdae| {
            let variables = mdae.variables.iter_enumerated();
            let boundary: Vec<VarId> = variables
                .filter(|(id, variable)| mdae.is_unknown(*id) && is_of(&variable.name))
                .map(|(id, _)| id)
                .collect();
            Outcome::new(Some(class_report(class, &mdae, &boundary, flows)), Default::default())
        })
    }
}

/// Connectors of the class itself whose flows nothing is connected to.
fn open_connectors(flat: &FlatModel) -> BTreeSet<String> {
    let equations = flat
        .equations
        .iter()
        .map(|equation| flat.provenance(equation.provenance));
    let open = equations.filter(|from| from.kind == ProvenanceKind::UnconnectedFlow && !from.path.contains('.'));
    open.map(|from| from.path.to_string()).collect()
}
