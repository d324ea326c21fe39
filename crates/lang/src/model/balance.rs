//! Whether a flat model has as many equations as unknowns, and where it has not.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use saltus_source::{Diagnostic, Severity, Span};
use saltus_syntax::ast::{self, Causality as AstCausality, ClassKind, Equation};

use super::culprits::{Culprits, culprits};
use crate::codes;
use crate::failure::tolerated;
use crate::flat::{
    Counts, EquationKind, FlatEquation, FlatExpr, FlatModel, LocalUnknowns, Provenance, ProvenanceKind, ScalarType,
    Variability, VariableId, collect_assigned, count_equations,
};
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::instance::{ComponentKind, Slot};

/// What a component brings: unknowns it must determine, and equations.
#[derive(Default)]
struct Share {
    unknowns: usize,
    min_equations: usize,
    max_equations: usize,
    /// The unknowns that exist in every mode, less the equations that are left for them, from and to.
    always: i64,
    surplus: (i64, i64),
}

impl Share {
    fn is_balanced(&self) -> bool {
        let (least, most) = self.surplus;
        (self.min_equations..=self.max_equations).contains(&self.unknowns) || (least..=most).contains(&self.always)
    }
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
            self.check_local_balance();
            self.check_missing_branches(&counts);
            return;
        }
        if LocalUnknowns::new(&self.model).is_balanced(&self.model) {
            self.check_local_balance();
            return;
        }
        let message = format!(
            "`{}` has {}, but {}",
            self.model.name,
            count(counts.unknowns, counts.unknowns, "unknown"),
            count(counts.min_equations, counts.max_equations, "equation"),
        );
        let components = self.unbalanced_components();
        let part = components.iter().find_map(|(path, _)| self.declared_at(path));
        let place = part.or_else(|| {
            let root = self.model_instances.first()?;
            Some(self.def(self.instances[*root].class).name.span)
        });
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

    /// Warns of an `if` without `else` whose equations nothing makes up for.
    fn check_missing_branches(&mut self, counts: &Counts) {
        let mut found = Vec::new();
        for equation in &self.model.equations {
            let EquationKind::If { branches, otherwise } = &equation.kind else {
                continue;
            };
            let (_, most) = count_equations(std::slice::from_ref(equation), &self.model);
            // Even with as many equations as others can have there are too few.
            if !otherwise.is_empty() || most == 0 || counts.max_equations - most >= counts.unknowns {
                continue;
            }
            let missing = counts.unknowns - (counts.max_equations - most);
            let places = branches.iter().flat_map(|branch| &branch.body);
            let named: Vec<Span> = places
                .map(|inner| self.model.provenance(inner.provenance).span)
                .collect();
            found.push((self.model.provenance(equation.provenance).span, missing, named));
        }
        for (span, missing, places) in found.into_iter().take(NAMED) {
            let equations = count(missing, missing, "equation");
            let lacks = if missing == 1 { "is" } else { "are" };
            let message = format!("{equations} {lacks} missing where no condition of this `if` holds");
            let mut warning = Diagnostic::warning(codes::W0211, span, message);
            for place in places.into_iter().take(NAMED) {
                warning = warning.with_secondary(place, "in force in this branch alone");
            }
            self.diagnostics
                .push(warning.with_help("write `else` with the equations that hold otherwise"));
        }
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

    /// A model determines its own unknowns: a part that leaves them to others, or determines more, makes no sense on its own
    /// (Language Specification 3.6, 4.8). Only parts without models inside are looked at: what connections bring to the others
    /// is not told apart here.
    fn check_local_balance(&mut self) {
        let mut shares = self.shares();
        let mut reported: Vec<*const saltus_syntax::ast::ClassDefinition> = Vec::new();
        for instance in self.model_instances.clone() {
            let path = Arc::clone(&self.instances[instance].path);
            let share = shares.remove(&path).unwrap_or_default();
            if path.is_empty() || share.is_balanced() || !self.stands_alone(instance) {
                continue;
            }
            let class = self.instances[instance].class;
            let def = Arc::as_ptr(self.def(class));
            if reported.contains(&def) || reported.len() >= NAMED {
                continue;
            }
            reported.push(def);
            let name = &self.classes[class].name;
            let message = format!(
                "the {} `{name}` has {}, but {} of its own",
                self.kind(class).as_str(),
                count(share.unknowns, share.unknowns, "unknown"),
                count(share.min_equations, share.max_equations, "equation"),
            );
            let mut diagnostic = tolerated(codes::E0403, self.def(class).name.span, message).with_help(
                "equations for what is inside of a model belong into it; what comes from outside is an input",
            );
            if let Some(span) = self.declared_at(&path) {
                diagnostic = diagnostic.with_secondary(span, "used here");
            }
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether an instance is a model without models, buses or connections inside, whose connectors have as many flows as
    /// potentials.
    fn stands_alone(&mut self, instance: InstanceId) -> bool {
        let data = &self.instances[instance];
        if !matches!(
            self.kind(data.class),
            ClassKind::Model | ClassKind::Block | ClassKind::Class
        ) {
            return false;
        }
        let table = Rc::clone(&data.table);
        if table.is_expandable || table.entries.iter().any(|entry| entry.outer) {
            return false;
        }
        let connects = |class: &ClassId| {
            let composition = self.def(*class).composition();
            composition.is_some_and(|c| c.equations.iter().any(|section| has_connection(&section.equations)))
        };
        if table.scopes.iter().any(connects) {
            return false;
        }
        let slots = self.instances[instance].slots.clone();
        slots.into_iter().all(|slot| match slot {
            Slot::Ready(component) => self.is_plain_part(component),
            Slot::Failed | Slot::Building => false,
            Slot::Absent | Slot::Unvisited => true,
        })
    }

    /// A variable, a record, or a connector with as many flows as potentials.
    fn is_plain_part(&mut self, component: ComponentId) -> bool {
        let data = &self.components[component];
        let ComponentKind::Complex { elements } = &data.kind else {
            return !self.is_overconstrained(component);
        };
        let elements = elements.clone();
        match self.kind(data.class) {
            ClassKind::Record | ClassKind::OperatorRecord => !self.is_overconstrained(component),
            ClassKind::Connector if data.inherited.protected => false,
            ClassKind::Connector => elements.iter().all(|&element| self.is_square_connector(element)),
            _ => false,
        }
    }

    /// Components whose own equations do not go with their own unknowns.
    fn unbalanced_components(&self) -> Vec<(Arc<str>, Share)> {
        let shares = self.shares().into_iter();
        shares.filter(|(_, share)| !share.is_balanced()).collect()
    }

    /// The unknowns and equations of every component. Each connector variable is determined by a connection, but for one of
    /// every pair of potential and flow, and for outputs: those are the component's task.
    fn shares(&self) -> BTreeMap<Arc<str>, Share> {
        let mut shares: BTreeMap<Arc<str>, Share> = BTreeMap::new();
        let local = LocalUnknowns::new(&self.model);
        for variable in self.model.unknowns() {
            let component = self.owners[variable.0 as usize];
            if self.is_own_unknown(component) {
                let path = self.responsible(self.components[component].parent);
                let share = shares.entry(path).or_default();
                share.unknowns += 1;
                share.always += i64::from(!local.unknowns.contains(&variable));
            }
        }
        for (equation, surplus) in self.model.equations.iter().zip(&local.surplus) {
            let provenance = self.model.provenance(equation.provenance);
            if let Some((path, certain)) = self.share_of(equation, provenance) {
                let (min, max) = count_equations(std::slice::from_ref(equation), &self.model);
                let (least, most) = *surplus;
                let share = shares.entry(path).or_default();
                share.min_equations += if certain { min } else { 0 };
                share.max_equations += max;
                share.surplus.0 += if certain { least } else { least.min(0) };
                share.surplus.1 += most;
            }
        }
        for algorithm in &self.model.algorithms {
            let mut assigned = FxHashSet::default();
            collect_assigned(&algorithm.statements, &mut assigned);
            let path = Arc::clone(&self.model.provenance(algorithm.provenance).path);
            let share = shares.entry(path).or_default();
            share.min_equations += assigned.len();
            share.max_equations += assigned.len();
            share.surplus.0 += assigned.len() as i64;
            share.surplus.1 += assigned.len() as i64;
        }
        shares
    }

    /// The component that an equation counts for, and whether it does in any case: the model around the variable that a
    /// declaration gives a value. The values of inputs come from outside; but an input that is declared to be equal to
    /// something inside may determine that.
    fn share_of(&self, equation: &FlatEquation, provenance: &Provenance) -> Option<(Arc<str>, bool)> {
        match (provenance.kind, &equation.kind) {
            (ProvenanceKind::Equation, _) => Some((Arc::clone(&provenance.path), true)),
            (ProvenanceKind::Binding, EquationKind::Equal(FlatExpr::Variable(variable), _)) => {
                let component = &self.components[self.owners[variable.0 as usize]];
                let is_input = component.causality == Some(AstCausality::Input);
                let source = component.mods.binding.as_ref().map(|binding| &binding.source);
                let declared_so = source.is_some_and(|source| source.scope.instance == Some(component.parent));
                (!is_input || declared_so).then(|| (self.responsible(component.parent), !is_input))
            }
            _ => None,
        }
    }

    fn is_own_unknown(&self, component: ComponentId) -> bool {
        let data = &self.components[component];
        // What is protected is no connector to the outside.
        let is_hidden = data.inherited.protected && !self.instances[data.parent].inherited.connector;
        if !data.inherited.connector || is_hidden {
            return data.causality != Some(AstCausality::Input);
        }
        data.flow.is_some() || data.causality == Some(AstCausality::Output)
    }

    /// Elements of arrays in buses that nothing names are not there (9.1.3).
    pub(super) fn leave_out_unused_bus_elements(&mut self) {
        let mut instances = self.model_instances.iter();
        if !instances.any(|&instance| self.instances[instance].table.is_expandable) {
            return;
        }
        for variable in unused_unknowns(&self.model) {
            let component = &self.components[self.owners[variable.0 as usize]];
            let in_bus = self.instances[component.parent].table.is_expandable;
            if !in_bus || component.dims.is_empty() {
                continue;
            }
            let data = &mut self.model.variables[variable];
            data.variability = Variability::Constant;
            data.binding = Some(match data.ty {
                ScalarType::Real => FlatExpr::Real(0.0),
                ScalarType::Integer => FlatExpr::Integer(0),
                ScalarType::Boolean => FlatExpr::Boolean(false),
                ScalarType::String => FlatExpr::String("".into()),
                ScalarType::Enumeration(id) => FlatExpr::Enumeration(id, 1),
                ScalarType::Clock => continue,
            });
            let mut attributes = (*data.attributes).clone();
            attributes.hide_result = true;
            data.attributes = Arc::new(attributes);
        }
    }

    /// The model or block around a record or connector.
    pub(super) fn responsible(&self, mut instance: InstanceId) -> Arc<str> {
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

fn has_connection(equations: &[Equation]) -> bool {
    equations.iter().any(|equation| match &equation.kind {
        ast::EquationKind::Connect { .. } => true,
        ast::EquationKind::If { branches, otherwise } => {
            branches.iter().any(|branch| has_connection(&branch.body))
                || otherwise.as_deref().is_some_and(has_connection)
        }
        ast::EquationKind::For { body, .. } => has_connection(body),
        _ => false,
    })
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
