//! Algorithm sections, executed symbolically: every assigned variable gets one expression.
//!
//! Variables that only one when-clause sets are left to it. Where the order of statements decides what a when-clause reads or
//! whether its value lasts ([`crate::entanglement`]), it sets variables of its own and turns over a hidden Boolean; that this
//! is another one than before the instant says that the branch acts, and the section goes on with an if-expression.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use saltus_lang::flat::{BinaryOp, FlatAlgorithm, FlatExpr, FlatStatement, StatementBranch, StatementKind};
use saltus_mdae::{
    Action, BinaryFunction, DiscreteEquation, ExprId, Node, OriginId, Role, Type, VarId, When, WhenBranch,
};

use crate::entanglement::is_entangled;
use crate::when::merge_assignments;
use crate::{Lowering, Meaning};

/// Values of variables at some place of a section.
pub(crate) type Values = FxHashMap<VarId, ExprId>;

/// What executing a section leaves behind besides values.
struct Section {
    /// When-branches per clause, with the values assigned in them.
    whens: Vec<(Vec<WhenBranch>, OriginId)>,
    /// Variables assigned inside when-clauses.
    sampled: Vec<VarId>,
    /// Variables assigned outside, in order of first assignment.
    assigned: Vec<(VarId, OriginId)>,
    /// Under which condition the present statement is executed.
    path: ExprId,
    /// What is done besides, inside when-clauses; `None` outside.
    actions: Option<Vec<(ExprId, Action)>>,
    /// Whether when-clauses hand their values back to the section.
    entangled: bool,
}

impl Section {
    fn new(path: ExprId) -> Self {
        Section {
            whens: Vec::new(),
            sampled: Vec::new(),
            assigned: Vec::new(),
            path,
            actions: None,
            entangled: false,
        }
    }
}

impl Lowering<'_> {
    pub(crate) fn algorithm(&mut self, algorithm: &FlatAlgorithm) {
        let (values, section) = self.execute_section(algorithm, false, None);
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
                if !self.is_discrete_valued(value) {
                    self.changes_between_events(var, origin);
                    continue;
                }
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
        let (values, section) = self.execute_section(algorithm, true, None);
        let always = self.model.pool.boolean(true);
        for (var, origin) in section.assigned {
            let left = self.model.pool.var(var);
            self.initial_equal(left, values[&var], always, origin);
        }
    }

    /// Variables start at their value before the event (discrete) or their start value (continuous), as the
    /// specification demands of algorithm sections.
    fn execute_section(
        &mut self,
        algorithm: &FlatAlgorithm,
        initial: bool,
        actions: Option<Vec<(ExprId, Action)>>,
    ) -> (Values, Section) {
        let entangled = is_entangled(&algorithm.statements);
        let mut assigned = BTreeSet::new();
        collect_outside_when(&algorithm.statements, entangled, &mut assigned);
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
        let mut path = self.model.pool.boolean(true);
        if initial {
            path = self.model.pool.intern(Node::Initial);
        }
        let mut section = Section::new(path);
        section.actions = actions;
        section.entangled = entangled;
        self.statements(&algorithm.statements, &mut values, &mut section);
        (values, section)
    }

    /// A section at the ticks of a clock: the values of its variables, and what is done besides.
    pub(crate) fn clocked_algorithm(
        &mut self,
        algorithm: &FlatAlgorithm,
    ) -> (Vec<(VarId, ExprId, OriginId)>, Vec<Action>) {
        let (values, section) = self.execute_section(algorithm, false, Some(Vec::new()));
        let assigned = section.assigned.into_iter();
        let assigned = assigned.map(|(var, origin)| (var, values[&var], origin)).collect();
        let actions = section.actions.unwrap_or_default();
        (assigned, actions.into_iter().map(|(_, action)| action).collect())
    }

    fn with_values(&mut self, expr: &FlatExpr, values: &Values) -> ExprId {
        self.with_all_values(values, |this| this.expr(expr))
    }

    fn with_all_values<T>(&mut self, values: &Values, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.substitution.replace(values.clone());
        let lowered = lower(self);
        self.substitution = outer;
        lowered
    }

    fn statements(&mut self, statements: &[FlatStatement], values: &mut Values, section: &mut Section) {
        for statement in statements {
            self.statement(statement, values, section);
        }
    }

    fn statement(&mut self, statement: &FlatStatement, values: &mut Values, section: &mut Section) {
        let origin = self.origin(statement.provenance);
        match &statement.kind {
            StatementKind::Assign(list) => {
                let before = values.clone();
                for (id, value) in list {
                    let Meaning::Variable(var) = self.meanings[*id] else {
                        continue;
                    };
                    let value = self.with_values(value, &before);
                    values.insert(var, value);
                    note_assigned(section, var, origin);
                }
            }
            StatementKind::If { branches, otherwise } => self.if_statement(branches, otherwise, values, section),
            StatementKind::When { branches } => self.when_statement(branches, origin, values, section),
            StatementKind::While(..) | StatementKind::For { .. } => {
                let before: Values = values.clone();
                if let Some(call) = self.loop_statement(statement, values, origin) {
                    let assertion = self.success_of(call, section.path, origin);
                    self.note_assertion(assertion, section);
                }
                let mut changed: Vec<VarId> = values
                    .iter()
                    .filter(|(var, value)| before.get(var) != Some(value))
                    .map(|(var, _)| *var)
                    .collect();
                changed.sort_unstable();
                changed.into_iter().for_each(|var| note_assigned(section, var, origin));
            }
            StatementKind::Assert {
                condition,
                message,
                level,
            } => {
                let path = section.path;
                let assertion =
                    self.with_all_values(values, |this| this.assertion(condition, message, *level, path, origin));
                self.note_assertion(assertion, section);
            }
            StatementKind::NoReturnCall(call) => {
                let path = section.path;
                let assertion = self.with_all_values(values, |this| this.call_for_effect(call, path, origin));
                self.note_assertion(assertion, section);
            }
            StatementKind::Terminate(message) => match &mut section.actions {
                Some(_) => {
                    let message = self.with_all_values(values, |this| this.literal_expr(message));
                    let guard = section.path;
                    let action = Action::Terminate { guard, message, origin };
                    section.actions.get_or_insert_default().push((guard, action));
                }
                None => {
                    let path = section.path;
                    self.with_all_values(values, |this| this.terminate_while(path, message, origin));
                }
            },
            StatementKind::Break | StatementKind::Return => {}
        }
    }

    fn note_assertion(&mut self, assertion: saltus_mdae::Assertion, section: &mut Section) {
        match &mut section.actions {
            Some(actions) => actions.push((section.path, Action::Assert(assertion))),
            None => self.model.assertions.push(assertion),
        }
    }

    fn if_statement(
        &mut self,
        branches: &[StatementBranch],
        otherwise: &[FlatStatement],
        values: &mut Values,
        section: &mut Section,
    ) {
        let around = section.path;
        let conditions: Vec<ExprId> = branches
            .iter()
            .map(|b| self.with_values(&b.condition, values))
            .collect();
        let mut rest = around;
        let mut outcomes = Vec::new();
        for (branch, &condition) in branches.iter().zip(&conditions) {
            let mut own = values.clone();
            section.path = self.model.pool.and(rest, condition);
            self.statements(&branch.body, &mut own, section);
            let negated = self.model.pool.not(condition);
            rest = self.model.pool.and(rest, negated);
            outcomes.push(own);
        }
        let mut result = values.clone();
        section.path = rest;
        self.statements(otherwise, &mut result, section);
        section.path = around;
        // Of alternatives that exclude each other those matter to a variable in which it changes: an element assigned by an index
        // that varies is one of thousands.
        let apart = exclude_each_other(branches);
        let changed_in = |own: &Values| -> Vec<VarId> {
            let changed = own.iter().filter(|(var, value)| values.get(*var) != Some(*value));
            changed.map(|(var, _)| *var).collect()
        };
        let changed_otherwise = changed_in(&result);
        for (condition, own) in conditions.into_iter().zip(outcomes).rev() {
            let mut keys: Vec<VarId> = if apart {
                changed_in(&own)
                    .into_iter()
                    .chain(changed_otherwise.iter().copied())
                    .collect()
            } else {
                own.keys().chain(result.keys()).copied().collect()
            };
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
            let conditions = conditions
                .iter()
                .map(|c| self.with_all_values(values, |this| this.when_condition(c, origin)))
                .collect();
            let mut own = values.clone();
            let actions = self.when_body(body, &mut own);
            lowered.push(WhenBranch { conditions, actions });
        }
        if section.entangled {
            self.hand_back(&mut lowered, origin, values, section);
        }
        for branch in &lowered {
            for action in &branch.actions {
                if let Action::Assign { target, .. } = action
                    && !section.entangled
                {
                    // Behind the when-clause the variable is what it is at this instant.
                    let current = self.model.pool.var(*target);
                    values.insert(*target, current);
                    section.sampled.push(*target);
                }
            }
        }
        section.whens.push((lowered, origin));
    }

    /// Behind the when-clause the variables of the section are what the branch that acts has given them.
    fn hand_back(&mut self, branches: &mut [WhenBranch], origin: OriginId, values: &mut Values, section: &mut Section) {
        for branch in branches.iter_mut().rev() {
            let acts = self.generated_variable("acts", Role::Discrete, Type::Boolean);
            let (now, last) = (self.model.pool.var(acts), self.model.pool.pre_var(acts, 0));
            let acting = self.model.pool.binary(BinaryFunction::Ne, now, last);
            for action in &mut branch.actions {
                let Action::Assign { target, .. } = action else {
                    continue;
                };
                let variable = &self.model.variables[*target];
                let (name, ty) = (format!("set.{}", variable.name), variable.ty);
                let set = self.generated_variable(&name, Role::Discrete, ty);
                let given = self.model.pool.var(set);
                let before = values.get(target).copied();
                let otherwise = before.unwrap_or_else(|| self.model.pool.pre_var(*target, 0));
                let value = self.model.pool.if_else(acting, given, otherwise);
                values.insert(*target, value);
                note_assigned(section, *target, origin);
                *target = set;
            }
            let value = self.model.pool.not(last);
            branch.actions.push(Action::Assign {
                target: acts,
                value,
                origin,
            });
        }
    }

    fn when_body(&mut self, body: &[FlatStatement], own: &mut Values) -> Vec<Action> {
        let always = self.model.pool.boolean(true);
        let mut inner = Section::new(always);
        inner.actions = Some(Vec::new());
        self.statements(body, own, &mut inner);
        let mut actions = inner.actions.unwrap_or_default();
        let assignments = inner.assigned.iter().map(|&(target, origin)| {
            let value = own[&target];
            (always, Action::Assign { target, value, origin })
        });
        actions.extend(assignments);
        merge_assignments(self, actions)
    }
}

/// Whether at most one of the conditions can hold: `i == 1`, `i == 2` and so on.
fn exclude_each_other(branches: &[StatementBranch]) -> bool {
    let mut numbers = BTreeSet::new();
    let mut index = None;
    branches.iter().all(|branch| match &branch.condition {
        FlatExpr::Binary(BinaryOp::Equal, sides, _) => match &**sides {
            [of, FlatExpr::Integer(number)] => *index.get_or_insert(of) == of && numbers.insert(*number),
            _ => false,
        },
        _ => false,
    })
}

fn note_assigned(section: &mut Section, var: VarId, origin: OriginId) {
    if !section.assigned.iter().any(|&(known, _)| known == var) {
        section.assigned.push((var, origin));
    }
}

/// The variables that statements assign, those in when-clauses as well if asked for.
fn collect_outside_when(
    statements: &[FlatStatement],
    inside_too: bool,
    found: &mut BTreeSet<saltus_lang::flat::VariableId>,
) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(list) => found.extend(list.iter().map(|(id, _)| *id)),
            StatementKind::When { .. } if !inside_too => {}
            _ => statement
                .bodies()
                .for_each(|body| collect_outside_when(body, inside_too, found)),
        }
    }
}
