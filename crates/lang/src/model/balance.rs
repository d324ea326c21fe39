//! Whether a flat model has as many equations as unknowns.

use rustc_hash::FxHashSet;
use saltus_source::{Diagnostic, Severity};

use crate::codes;
use crate::flat::{EquationKind, FlatEquation, FlatExpr, FlatModel, VariableId};
use crate::flattener::Flattener;

impl Flattener<'_> {
    /// Reports a model that no choice of branches makes square.
    pub(super) fn check_balance(&mut self) {
        if self.diagnostics.has_errors() {
            return;
        }
        let counts = self.model.counts();
        if counts.is_balanced() {
            return;
        }
        let equations = if counts.min_equations == counts.max_equations {
            counts.max_equations.to_string()
        } else {
            format!("{} to {}", counts.min_equations, counts.max_equations)
        };
        let message = format!(
            "`{}` has {} unknowns, but {equations} equations",
            self.model.name, counts.unknowns
        );
        let mut diagnostic = Diagnostic::without_place(codes::E0403, Severity::Error, message);
        let unused = unused_unknowns(&self.model);
        if counts.unknowns > counts.max_equations && !unused.is_empty() {
            let names: Vec<String> = unused
                .iter()
                .take(5)
                .map(|v| format!("`{}`", self.model.variables[*v].name))
                .collect();
            let more = if unused.len() > 5 {
                format!(" and {} more", unused.len() - 5)
            } else {
                String::new()
            };
            diagnostic = diagnostic
                .with_note(format!("no equation mentions {}{more}", names.join(", ")))
                .with_help("give them an equation, a value, or make them parameters or inputs");
            let span = self.model.provenance(self.model.variables[unused[0]].provenance).span;
            diagnostic = diagnostic.with_secondary(span, "declared here");
        }
        self.diagnostics.push(diagnostic);
    }
}

/// Unknowns that appear in no equation.
fn unused_unknowns(model: &FlatModel) -> Vec<VariableId> {
    let mut used = FxHashSet::default();
    collect(&model.equations, &mut used);
    for algorithm in &model.algorithms {
        crate::flat::collect_assigned(&algorithm.statements, &mut used);
    }
    model.unknowns().filter(|v| !used.contains(v)).collect()
}

fn collect(equations: &[FlatEquation], used: &mut FxHashSet<VariableId>) {
    let mut visit = |expr: &FlatExpr| {
        expr.walk(&mut |e| {
            if let FlatExpr::Variable(v) = e {
                used.insert(*v);
            }
        });
    };
    let mut inner: Vec<&[FlatEquation]> = Vec::new();
    for equation in equations {
        match &equation.kind {
            EquationKind::Equal(a, b) => {
                visit(a);
                visit(b);
            }
            EquationKind::If { branches, otherwise } => {
                inner.extend(branches.iter().map(|b| &b.body[..]));
                inner.push(otherwise);
            }
            EquationKind::When { branches } => inner.extend(branches.iter().map(|b| &b.body[..])),
            _ => {}
        }
    }
    for equations in inner {
        collect(equations, used);
    }
}
