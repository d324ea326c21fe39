//! Whether a flat model has as many equations as unknowns, and where it has not.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use saltus_source::{Diagnostic, Severity, Span};
use saltus_syntax::ast::{Causality as AstCausality, ClassKind};

use super::culprits::{Culprits, culprits};
use crate::codes;
use crate::flat::{
    EquationKind, FlatEquation, FlatExpr, FlatModel, ProvenanceKind, VariableId, collect_assigned, count_equations,
};
use crate::flattener::Flattener;
use crate::ids::{ComponentId, InstanceId};

/// What a component brings: unknowns it must determine, and equations.
#[derive(Default)]
struct Share {
    unknowns: usize,
    min_equations: usize,
    max_equations: usize,
}

/// At most so many components and variables are named in a diagnostic.
const NAMED: usize = 5;

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
        let message = format!(
            "`{}` has {}, but {}",
            self.model.name,
            count(counts.unknowns, counts.unknowns, "unknown"),
            count(counts.min_equations, counts.max_equations, "equation"),
        );
        let components = self.unbalanced_components();
        let place = components.iter().find_map(|(path, _)| self.declared_at(path));
        let mut diagnostic = match place {
            Some(span) => Diagnostic::error(codes::E0403, span, message),
            None => Diagnostic::without_place(codes::E0403, Severity::Error, message),
        };
        for (path, share) in components.iter().take(NAMED) {
            let place = if path.is_empty() {
                "the model itself".to_owned()
            } else {
                format!("component `{path}`")
            };
            let equations = count(share.min_equations, share.max_equations, "equation");
            let unknowns = count(share.unknowns, share.unknowns, "unknown");
            diagnostic = diagnostic.with_note(format!(
                "{place} has {equations} for the {unknowns} it should determine"
            ));
        }
        let culprits = culprits(&self.model);
        diagnostic = self.name_equations(diagnostic, &culprits);
        diagnostic = self.name_unknowns(diagnostic, &culprits);
        self.diagnostics.push(diagnostic);
    }

    /// Equations that determine nothing, or nothing that others do not determine.
    fn name_equations(&self, mut diagnostic: Diagnostic, culprits: &Culprits) -> Diagnostic {
        let span = |id| self.model.provenance(id).span;
        for &equation in culprits.idle.iter().take(NAMED) {
            diagnostic = diagnostic.with_secondary(span(equation), "no unknown is in this equation");
        }
        for &equation in culprits.surplus.iter().take(NAMED) {
            diagnostic = diagnostic.with_secondary(span(equation), "one of these is too many");
        }
        if !culprits.idle.is_empty() {
            diagnostic = diagnostic.with_help(
                "parameters get their values in their declarations or in an initial equation, inputs from outside",
            );
        } else if !culprits.surplus.is_empty() {
            diagnostic = diagnostic.with_help("remove an equation, or add an unknown that it determines");
        }
        diagnostic
    }

    /// Unknowns that no equation is left for.
    fn name_unknowns(&self, diagnostic: Diagnostic, culprits: &Culprits) -> Diagnostic {
        let unused = unused_unknowns(&self.model);
        let (unknowns, words) = if unused.is_empty() {
            (&culprits.open, "there are not enough equations for")
        } else {
            (&unused, "no equation mentions")
        };
        // A long list of everything that hangs together helps nobody: the component is named above.
        let Some(&first) = unknowns
            .first()
            .filter(|_| !unused.is_empty() || unknowns.len() <= 2 * NAMED)
        else {
            return diagnostic;
        };
        let names: Vec<String> = unknowns
            .iter()
            .take(NAMED)
            .map(|v| format!("`{}`", self.model.variables[*v].name))
            .collect();
        let more = match unknowns.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let span = self.model.provenance(self.model.variables[first].provenance).span;
        diagnostic
            .with_note(format!("{words} {}{more}", names.join(", ")))
            .with_help("give them an equation or a value, connect them, or make them parameters")
            .with_secondary(span, "declared here")
    }

    fn declared_at(&self, path: &Arc<str>) -> Option<Span> {
        let component = self.components.iter().find(|component| component.path == *path);
        component.map(|component| component.span)
    }

    /// Components whose own equations do not go with their own unknowns. Each connector variable
    /// is determined by a connection, but for one of every pair of potential and flow, and for
    /// outputs: those are the component's task.
    fn unbalanced_components(&self) -> Vec<(Arc<str>, Share)> {
        let mut shares: BTreeMap<Arc<str>, Share> = BTreeMap::new();
        for variable in self.model.unknowns() {
            let component = self.owners[variable.0 as usize];
            if self.is_own_unknown(component) {
                let path = self.responsible(self.components[component].parent);
                shares.entry(path).or_default().unknowns += 1;
            }
        }
        for equation in &self.model.equations {
            let provenance = self.model.provenance(equation.provenance);
            if matches!(provenance.kind, ProvenanceKind::Equation | ProvenanceKind::Binding) {
                let (min, max) = count_equations(std::slice::from_ref(equation), &self.model);
                let share = shares.entry(Arc::clone(&provenance.path)).or_default();
                share.min_equations += min;
                share.max_equations += max;
            }
        }
        for algorithm in &self.model.algorithms {
            let mut assigned = FxHashSet::default();
            collect_assigned(&algorithm.statements, &mut assigned);
            let path = Arc::clone(&self.model.provenance(algorithm.provenance).path);
            let share = shares.entry(path).or_default();
            share.min_equations += assigned.len();
            share.max_equations += assigned.len();
        }
        shares
            .into_iter()
            .filter(|(_, share)| share.unknowns < share.min_equations || share.unknowns > share.max_equations)
            .collect()
    }

    fn is_own_unknown(&self, component: ComponentId) -> bool {
        let data = &self.components[component];
        if !data.inherited.connector {
            return data.causality != Some(AstCausality::Input);
        }
        data.flow.is_some() || data.causality == Some(AstCausality::Output)
    }

    /// The model or block around a record or connector.
    fn responsible(&self, mut instance: InstanceId) -> Arc<str> {
        loop {
            let data = &self.instances[instance];
            let kind = self.kind(data.class);
            let is_data = data.table.is_connector || matches!(kind, ClassKind::Record | ClassKind::OperatorRecord);
            match data.parent {
                Some(parent) if is_data => instance = parent,
                _ => return Arc::clone(&data.path),
            }
        }
    }
}

fn count(min: usize, max: usize, noun: &str) -> String {
    match (min, max) {
        (1, 1) => format!("1 {noun}"),
        _ if min == max => format!("{max} {noun}s"),
        _ => format!("{min} to {max} {noun}s"),
    }
}

/// Unknowns that appear in no equation.
fn unused_unknowns(model: &FlatModel) -> Vec<VariableId> {
    let mut used = FxHashSet::default();
    collect(&model.equations, &mut used);
    for algorithm in &model.algorithms {
        collect_assigned(&algorithm.statements, &mut used);
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
