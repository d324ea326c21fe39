//! Checks of the flat model as a whole.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use saltus_source::Span;

use crate::codes;
use crate::failure::error;
use crate::flat::{
    AssertLevel, Builtin, EquationKind, FlatExpr, FunctionCall, IndexVec, ProvenanceId, ProvenanceKind, ScalarType,
    StatementKind, Variability, VariableId,
};
use crate::flattener::Flattener;

/// Where the search for cycles is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

impl Flattener<'_> {
    /// Checks that need all variables and equations.
    pub(super) fn check_model_as_a_whole(&mut self) {
        if !self.cyclic_parameters().is_empty() {
            self.choose_in_bindings();
        }
        for variable in self.cyclic_parameters() {
            let data = &self.model.variables[variable];
            let span = self.model.provenance(data.provenance).span;
            let message = format!("the value of the parameter `{}` depends on itself", data.name);
            let mut diagnostic = error(codes::E0305, span, message);
            let circle = self.circle(variable);
            if circle.len() > 1 {
                let name = |v: &VariableId| format!("`{}`", self.model.variables[*v].name);
                let names: Vec<String> = circle.iter().chain([&variable]).map(name).collect();
                diagnostic = diagnostic.with_note(format!("in a circle: {}", names.join(" needs ")));
            }
            self.diagnostics.push(diagnostic);
        }
        self.check_certain_failures();
    }

    /// Parameters whose values depend on themselves.
    fn cyclic_parameters(&self) -> Vec<VariableId> {
        let mut state: IndexVec<VariableId, Visit> = self.model.variables.iter().map(|_| Visit::New).collect();
        let mut found: Vec<VariableId> = Vec::new();
        for start in self.model.variables.ids() {
            if state[start] != Visit::New || self.model.variables[start].binding.is_none() {
                continue;
            }
            // Depth first with a stack of its own: chains may be long.
            let mut stack: Vec<(VariableId, Vec<VariableId>)> = vec![(start, self.needs(start))];
            state[start] = Visit::Open;
            while let Some((variable, needs)) = stack.last_mut() {
                match needs.pop() {
                    None => {
                        state[*variable] = Visit::Done;
                        stack.pop();
                    }
                    Some(next) => match state[next] {
                        Visit::Done => {}
                        Visit::Open => found.push(next),
                        Visit::New => {
                            state[next] = Visit::Open;
                            let needs = self.needs(next);
                            stack.push((next, needs));
                        }
                    },
                }
            }
        }
        found
    }

    /// A shortest circle of values that need each other, from a parameter on.
    fn circle(&self, start: VariableId) -> Vec<VariableId> {
        let mut before: FxHashMap<VariableId, VariableId> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(variable) = queue.pop_front() {
            for next in self.needs(variable) {
                if next == start {
                    let mut circle = vec![variable];
                    while let Some(&earlier) = before.get(&circle[circle.len() - 1]) {
                        circle.push(earlier);
                    }
                    circle.reverse();
                    return circle;
                }
                if let Entry::Vacant(place) = before.entry(next) {
                    place.insert(variable);
                    queue.push_back(next);
                }
            }
        }
        vec![start]
    }

    /// Two parameters may be given by each other, and a third one decides which is: its choice is
    /// made here, since values cannot be put in order otherwise.
    fn choose_in_bindings(&mut self) {
        for variable in self.model.variables.ids() {
            while let Some(FlatExpr::If(parts, span)) = &self.model.variables[variable].binding {
                let (condition, span) = (parts[0].clone(), *span);
                let Ok(FlatExpr::Boolean(choice)) = self.evaluate_flat(&condition, span) else {
                    break;
                };
                let Some(FlatExpr::If(parts, _)) = self.model.variables[variable].binding.take() else {
                    break;
                };
                let [_, then, otherwise] = *parts;
                self.model.variables[variable].binding = Some(if choice { then } else { otherwise });
            }
        }
    }

    fn needs(&self, variable: VariableId) -> Vec<VariableId> {
        let mut needs = Vec::new();
        // The binding of a parameter that is solved for is an equation of the start: it may close a circle.
        let data = &self.model.variables[variable];
        if data.fixed == Some(false) && data.ty == ScalarType::Real {
            return needs;
        }
        if let Some(binding) = &data.binding {
            binding.walk(&mut |e| {
                if let FlatExpr::Variable(v) = e
                    && self.model.variables[*v].variability == Variability::Parameter
                {
                    needs.push(*v);
                }
            });
        }
        needs
    }

    /// What fails whatever happens: assertions that are false, functions outside of their domain.
    fn check_certain_failures(&mut self) {
        let mut problems: Vec<(ProvenanceId, (Span, String))> = Vec::new();
        let mut idle: Vec<(Span, String)> = Vec::new();
        for equation in &self.model.equations {
            match &equation.kind {
                EquationKind::Assert {
                    condition: FlatExpr::Boolean(false),
                    message,
                    level: AssertLevel::Error,
                } => {
                    let span = self.model.provenance(equation.provenance).span;
                    let message = format!("this assertion never holds: {}", self.model.expr_text(message));
                    problems.push((equation.provenance, (span, message)));
                }
                EquationKind::Equal(FlatExpr::Variable(variable), b)
                    if *b == FlatExpr::Variable(*variable) && self.model.variables[*variable].is_unknown() =>
                {
                    let provenance = self.model.provenance(equation.provenance);
                    if matches!(provenance.kind, ProvenanceKind::Equation | ProvenanceKind::Binding) {
                        let name = &self.model.variables[*variable].name;
                        idle.push((provenance.span, format!("`{name}` is said to be equal to itself")));
                    }
                }
                EquationKind::Equal(a, b) => {
                    let found = domain_error(a).into_iter().chain(domain_error(b));
                    problems.extend(found.map(|problem| (equation.provenance, problem)));
                }
                _ => {}
            }
        }
        for algorithm in &self.model.algorithms {
            for statement in &algorithm.statements {
                if let StatementKind::Assert {
                    condition: FlatExpr::Boolean(false),
                    message,
                    level: AssertLevel::Error,
                } = &statement.kind
                {
                    let span = self.model.provenance(statement.provenance).span;
                    let message = format!("this assertion never holds: {}", self.model.expr_text(message));
                    problems.push((statement.provenance, (span, message)));
                }
            }
        }
        for (provenance, (span, message)) in problems {
            let part = self.model.part_of(&self.model.provenance(provenance).path);
            let diagnostic = self.used_at(error(codes::E0308, span, message), part);
            self.diagnostics.push(diagnostic);
        }
        for (span, message) in idle {
            let diagnostic = error(codes::E0403, span, message);
            self.diagnostics
                .push(diagnostic.with_help("an equation that says nothing determines nothing: leave it out"));
        }
        self.check_failing_calls();
    }

    /// Calls that fail for their arguments, where nothing keeps them from being evaluated.
    fn check_failing_calls(&mut self) {
        if self.functions.fails.is_empty() {
            return;
        }
        let model = &self.model;
        let mut evaluated: Vec<&FlatExpr> = Vec::new();
        evaluated.extend(model.variables.iter().filter_map(|v| v.binding.as_ref()));
        for equation in &model.equations {
            match &equation.kind {
                EquationKind::Equal(a, b) => evaluated.extend([a, b]),
                EquationKind::NoReturnCall(a) | EquationKind::Assert { condition: a, .. } => evaluated.push(a),
                EquationKind::If { branches, .. } => evaluated.extend(branches.first().map(|b| &b.condition)),
                _ => {}
            }
        }
        for statement in model.algorithms.iter().flat_map(|algorithm| &algorithm.statements) {
            match &statement.kind {
                StatementKind::Assign(list) => evaluated.extend(list.iter().map(|(_, value)| value)),
                StatementKind::NoReturnCall(a) | StatementKind::Assert { condition: a, .. } => evaluated.push(a),
                StatementKind::If { branches, .. } => evaluated.extend(branches.first().map(|b| &b.condition)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        for expr in evaluated {
            certain_calls(expr, &mut |call| {
                let fails = self.functions.fails.iter().find(|(known, _)| known == call);
                found.extend(fails.map(|(_, said)| said.clone()));
            });
        }
        for said in found {
            self.diagnostics.push(said);
        }
    }
}

/// The calls in an expression that no condition keeps from being evaluated.
fn certain_calls(expr: &FlatExpr, visit: &mut impl FnMut(&FunctionCall)) {
    match expr {
        FlatExpr::If(parts, _) => certain_calls(&parts[0], visit),
        other => {
            if let FlatExpr::Call(call) = other {
                visit(call);
            }
            other.for_each_operand(|operand| certain_calls(operand, visit));
        }
    }
}

/// A function of a literal outside of its domain, unless a condition may keep it from being
/// evaluated.
fn domain_error(expr: &FlatExpr) -> Option<(Span, String)> {
    match expr {
        FlatExpr::If(..) => None,
        FlatExpr::Builtin(builtin, arguments, span) => {
            let inside = |x: f64| match builtin {
                Builtin::Asin | Builtin::Acos => (-1.0..=1.0).contains(&x),
                Builtin::Log | Builtin::Log10 => x > 0.0,
                Builtin::Sqrt => x >= 0.0,
                _ => true,
            };
            if let [argument] = &arguments[..]
                && let Some(x) = argument.as_number()
                && !inside(x)
            {
                return Some((*span, format!("`{}` is not defined for {x}", builtin.name())));
            }
            arguments.iter().find_map(domain_error)
        }
        other => {
            let mut found = None;
            other.for_each_operand(|operand| {
                if found.is_none() {
                    found = domain_error(operand);
                }
            });
            found
        }
    }
}
