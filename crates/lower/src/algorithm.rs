//! Algorithm sections, executed symbolically: every assigned variable gets one expression.

use rustc_hash::FxHashMap;
use saltus_lang::flat::{FlatAlgorithm, FlatExpr, FlatStatement, StatementKind};
use saltus_mdae::{Action, DiscreteEquation, ExprId, OriginId, Role, VarId, When, WhenBranch};
use saltus_source::{Diagnostic, codes};

use crate::when::merge_assignments;
use crate::{Lowering, Meaning};

type Values = FxHashMap<VarId, ExprId>;

/// What executing a section leaves behind besides values.
#[derive(Default)]
struct Section {
    /// When-branches per clause, with the values assigned in them.
    whens: Vec<(Vec<WhenBranch>, OriginId)>,
    /// Variables assigned inside when-clauses.
    sampled: Vec<VarId>,
    /// Variables assigned outside, in order of first assignment.
    assigned: Vec<(VarId, OriginId)>,
}

impl Lowering<'_> {
    pub(crate) fn algorithm(&mut self, algorithm: &FlatAlgorithm) {
        let (values, section) = self.execute_section(algorithm, false);
        let always = self.model.pool.boolean(true);
        for (branches, origin) in section.whens {
            self.model.whens.push(When { branches, origin });
        }
        for (var, origin) in section.assigned {
            if section.sampled.contains(&var) {
                continue;
            }
            let value = values[&var];
            if self.model.variables[var].role == Role::Discrete {
                self.model.discrete.push(DiscreteEquation {
                    target: var,
                    value,
                    guard: always,
                    origin,
                });
            } else {
                let left = self.model.pool.var(var);
                let residual = self.model.pool.sub(left, value);
                self.model.add_equation(residual, origin);
            }
        }
    }

    pub(crate) fn initial_algorithm(&mut self, algorithm: &FlatAlgorithm) {
        let (values, section) = self.execute_section(algorithm, true);
        let always = self.model.pool.boolean(true);
        for (var, origin) in section.assigned {
            let left = self.model.pool.var(var);
            self.initial_equal(left, values[&var], always, origin);
        }
    }

    /// Variables start at their value before the event (discrete) or their start value (continuous), as the
    /// specification demands of algorithm sections.
    fn execute_section(&mut self, algorithm: &FlatAlgorithm, initial: bool) -> (Values, Section) {
        let mut assigned = rustc_hash::FxHashSet::default();
        collect_outside_when(&algorithm.statements, &mut assigned);
        let mut values = Values::default();
        for id in assigned {
            let Meaning::Variable(var) = self.meanings[id] else {
                continue;
            };
            let variable = &self.model.variables[var];
            let first = match (variable.role, variable.start) {
                (Role::Discrete, _) if !initial => self.model.pool.pre_var(var, 0),
                (_, Some(start)) => start,
                _ => self.constant(0.0, self.model.variables[var].ty),
            };
            values.insert(var, first);
        }
        let mut section = Section::default();
        self.statements(&algorithm.statements, &mut values, &mut section);
        (values, section)
    }

    fn with_values(&mut self, expr: &FlatExpr, values: &Values) -> ExprId {
        let outer = self.substitution.replace(values.clone());
        let lowered = self.expr(expr);
        self.substitution = outer;
        lowered
    }

    fn statements(&mut self, statements: &[FlatStatement], values: &mut Values, section: &mut Section) {
        for statement in statements {
            let origin = self.origin(statement.provenance);
            match &statement.kind {
                StatementKind::Assign(id, value) => {
                    let Meaning::Variable(var) = self.meanings[*id] else {
                        continue;
                    };
                    let value = self.with_values(value, values);
                    values.insert(var, value);
                    if !section.assigned.iter().any(|&(known, _)| known == var) {
                        section.assigned.push((var, origin));
                    }
                }
                StatementKind::If { branches, otherwise } => self.if_statement(branches, otherwise, values, section),
                StatementKind::When { branches } => self.when_statement(branches, origin, values, section),
                StatementKind::Assert {
                    condition,
                    message,
                    level,
                } => {
                    let always = self.model.pool.boolean(true);
                    let mut assertion = self.assertion(condition, message, *level, always, origin);
                    let outer = std::mem::replace(&mut self.literal, true);
                    assertion.condition = self.with_values(condition, values);
                    self.literal = outer;
                    self.model.assertions.push(assertion);
                }
                StatementKind::NoReturnCall(call) => {
                    let always = self.model.pool.boolean(true);
                    let outer = self.substitution.replace(values.clone());
                    let assertion = self.call_for_effect(call, always, origin);
                    self.substitution = outer;
                    self.model.assertions.push(assertion);
                }
                StatementKind::Return => {}
                StatementKind::While(..) | StatementKind::Break => {
                    let span = self.span_of(origin);
                    self.report(
                        Diagnostic::error(
                            codes::E0507,
                            span,
                            "a loop whose length is not known in an algorithm section",
                        )
                        .with_help("move the algorithm into a function: functions may loop as they like"),
                    );
                }
                StatementKind::Terminate(_) => {
                    let span = self.span_of(origin);
                    self.report(
                        Diagnostic::error(codes::E0502, span, "this is allowed inside a when-clause only")
                            .with_help("put it into `when condition then … end when;`"),
                    );
                }
            }
        }
    }

    fn if_statement(
        &mut self,
        branches: &[saltus_lang::flat::StatementBranch],
        otherwise: &[FlatStatement],
        values: &mut Values,
        section: &mut Section,
    ) {
        let conditions: Vec<ExprId> = branches
            .iter()
            .map(|b| self.with_values(&b.condition, values))
            .collect();
        let mut result = values.clone();
        self.statements(otherwise, &mut result, section);
        let mut outcomes = Vec::new();
        for branch in branches {
            let mut own = values.clone();
            self.statements(&branch.body, &mut own, section);
            outcomes.push(own);
        }
        for (condition, own) in conditions.into_iter().zip(outcomes).rev() {
            let mut keys: Vec<VarId> = own.keys().chain(result.keys()).copied().collect();
            keys.sort_unstable();
            keys.dedup();
            for var in keys {
                let fallback = self.model.pool.var(var);
                let (a, b) = (
                    *own.get(&var).unwrap_or(&fallback),
                    *result.get(&var).unwrap_or(&fallback),
                );
                let joined = self.model.pool.if_else(condition, a, b);
                result.insert(var, joined);
            }
        }
        *values = result;
    }

    fn when_statement(
        &mut self,
        branches: &[(Vec<FlatExpr>, Vec<FlatStatement>)],
        origin: OriginId,
        values: &mut Values,
        section: &mut Section,
    ) {
        let mut lowered = Vec::new();
        for (conditions, body) in branches {
            let conditions = conditions.iter().map(|c| self.with_values(c, values)).collect();
            let mut own = values.clone();
            let mut actions = Vec::new();
            self.when_body(body, &mut own, section, &mut actions);
            lowered.push(WhenBranch { conditions, actions });
        }
        for branch in &lowered {
            for action in &branch.actions {
                if let Action::Assign { target, .. } = action {
                    // Behind the when-clause the variable is what it is at this instant.
                    let current = self.model.pool.var(*target);
                    values.insert(*target, current);
                    section.sampled.push(*target);
                }
            }
        }
        section.whens.push((lowered, origin));
    }

    fn when_body(
        &mut self,
        body: &[FlatStatement],
        own: &mut Values,
        section: &mut Section,
        actions: &mut Vec<Action>,
    ) {
        let always = self.model.pool.boolean(true);
        let mut inner = Section::default();
        for statement in body {
            let origin = self.origin(statement.provenance);
            match &statement.kind {
                StatementKind::Terminate(message) => {
                    let message = self.text(message).into();
                    actions.push(Action::Terminate { message, origin });
                }
                StatementKind::Assert {
                    condition,
                    message,
                    level,
                } => {
                    let assertion = self.assertion(condition, message, *level, always, origin);
                    actions.push(Action::Assert(assertion));
                }
                StatementKind::NoReturnCall(call) => {
                    let outer = self.substitution.replace(own.clone());
                    let assertion = self.call_for_effect(call, always, origin);
                    self.substitution = outer;
                    actions.push(Action::Assert(assertion));
                }
                _ => {
                    self.statements(std::slice::from_ref(statement), own, &mut inner);
                }
            }
        }
        let assignments = inner
            .assigned
            .iter()
            .map(|&(target, origin)| {
                (
                    always,
                    Action::Assign {
                        target,
                        value: own[&target],
                        origin,
                    },
                )
            })
            .collect();
        actions.extend(merge_assignments(self, assignments));
        section.whens.extend(inner.whens);
    }
}

fn collect_outside_when(
    statements: &[FlatStatement],
    found: &mut rustc_hash::FxHashSet<saltus_lang::flat::VariableId>,
) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(id, _) => {
                found.insert(*id);
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|b| collect_outside_when(&b.body, found));
                collect_outside_when(otherwise, found);
            }
            StatementKind::While(_, body) => collect_outside_when(body, found),
            _ => {}
        }
    }
}
