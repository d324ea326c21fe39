//! When-clauses: `v = …` of a discrete variable is an assignment, everything else a restart equation.

use rustc_hash::FxHashMap;
use saltus_lang::flat::{EquationKind, FlatEquation, FlatExpr, VariableId, WhenBranch as FlatBranch};
use saltus_mdae::{Action, ExprId, Node, OriginId, Role, VarId, When, WhenBranch};
use saltus_source::{Diagnostic, codes};

use crate::{Lowering, Meaning};

impl Lowering<'_> {
    pub(crate) fn when_equation(&mut self, branches: &[FlatBranch], origin: OriginId) {
        self.check_branches(branches);
        self.check_reinits(branches);
        let mut lowered = Vec::new();
        for branch in branches {
            let conditions: Vec<ExprId> = branch.conditions.iter().map(|c| self.expr(c)).collect();
            let always = self.model.pool.boolean(true);
            let mut actions = Vec::new();
            for equation in &branch.body {
                self.when_action(equation, always, &mut actions);
            }
            if self.acts_at_start(&conditions) {
                self.reinits_at_start(&actions);
            }
            lowered.push(WhenBranch {
                conditions,
                actions: merge_assignments(self, actions),
            });
        }
        self.model.whens.push(When {
            branches: lowered,
            origin,
        });
    }

    pub(crate) fn acts_at_start(&self, conditions: &[ExprId]) -> bool {
        let pool = &self.model.pool;
        let nodes = pool.reachable(conditions);
        nodes.into_iter().any(|id| pool.node(id) == Node::Initial)
    }

    /// `reinit(x, e)` that is active at the start is the initial equation x = e.
    fn reinits_at_start(&mut self, actions: &[(ExprId, Action)]) {
        for (guard, action) in actions {
            if let Action::Reinit { var, value, origin, .. } = *action {
                let variable = self.model.pool.var(var);
                self.initial_equal(variable, value, *guard, origin);
            }
        }
    }

    /// `guard` is the if-condition around the equation inside the when-clause.
    fn when_action(&mut self, equation: &FlatEquation, guard: ExprId, actions: &mut Vec<(ExprId, Action)>) {
        let origin = self.origin(equation.provenance);
        match &equation.kind {
            EquationKind::Equal(lhs, rhs) => {
                let Some((a, b)) = self.sides(lhs, rhs) else {
                    return;
                };
                for (this, value) in [(a, b), (b, a)] {
                    if let Node::Var { var: target, order: 0 } = self.model.pool.node(this)
                        && self.model.variables[target].role == Role::Discrete
                    {
                        actions.push((guard, Action::Assign { target, value, origin }));
                        return;
                    }
                }
                let residual = self.model.pool.sub(a, b);
                self.conditional(guard, Action::Restart { residual, origin }, origin, actions);
            }
            EquationKind::If { branches, otherwise } => {
                let condition = |this: &mut Self, c: &FlatExpr| this.expr(c);
                self.spread(branches, otherwise, guard, &condition, &mut |this, inner, active| {
                    this.when_action(inner, active, actions);
                });
            }
            EquationKind::Reinit(id, value) => {
                actions.extend(self.reinit(*id, value, origin).map(|action| (guard, action)));
            }
            EquationKind::Terminate(message) => {
                let message = self.text(message).into();
                self.conditional(guard, Action::Terminate { message, origin }, origin, actions);
            }
            EquationKind::Assert {
                condition,
                message,
                level,
            } => {
                let assertion = self.assertion(condition, message, *level, guard, origin);
                actions.push((guard, Action::Assert(assertion)));
            }
            EquationKind::NoReturnCall(call) => {
                let assertion = self.call_for_effect(call, guard, origin);
                actions.push((guard, Action::Assert(assertion)));
            }
            EquationKind::When { .. } => {
                let span = self.span_of(origin);
                self.report(
                    Diagnostic::error(codes::E0502, span, "a when-clause inside a when-clause")
                        .with_help("join the conditions with `and`, or write two when-clauses one after the other"),
                );
            }
        }
    }

    fn reinit(&mut self, id: VariableId, value: &FlatExpr, origin: OriginId) -> Option<Action> {
        let value = self.expr(value);
        match self.meanings[id] {
            Meaning::Variable(var) if self.model.variables[var].role == Role::Continuous => Some(Action::Reinit {
                var,
                order: 0,
                value,
                origin,
            }),
            _ => {
                let (span, name) = (self.span_of(origin), self.flat.variables[id].name.clone());
                self.report(
                    Diagnostic::error(
                        codes::E0504,
                        span,
                        format!("`reinit` of `{name}`, which is no continuous unknown"),
                    )
                    .with_help("assign discrete variables directly: `v = …`"),
                );
                None
            }
        }
    }

    /// Actions that are not assignments cannot be made conditional by an if-expression.
    fn conditional(&mut self, guard: ExprId, action: Action, origin: OriginId, actions: &mut Vec<(ExprId, Action)>) {
        if self.model.pool.constant(guard) == Some(1.0) {
            actions.push((guard, action));
            return;
        }
        let span = self.span_of(origin);
        self.report(
            Diagnostic::error(
                codes::E0502,
                span,
                "an if-equation around a restart equation or terminate",
            )
            .with_help("move the if-condition into the condition of the when-clause: `when c and d then …`"),
        );
    }
}

/// Several conditional assignments of one variable become one with an if-expression; where none applies the variable
/// keeps its value. The same for `reinit`.
pub(crate) fn merge_assignments(lowering: &mut Lowering<'_>, actions: Vec<(ExprId, Action)>) -> Vec<Action> {
    let mut merged: Vec<Action> = Vec::new();
    let mut position: FxHashMap<VarId, usize> = FxHashMap::default();
    for (guard, mut action) in actions {
        let (Action::Assign { target, .. } | Action::Reinit { var: target, .. }) = action else {
            merged.push(action);
            continue;
        };
        let pool = &mut lowering.model.pool;
        let otherwise = match (position.get(&target).map(|&at| &merged[at]), &action) {
            (Some(Action::Assign { value, .. } | Action::Reinit { value, .. }), _) => *value,
            (_, Action::Reinit { .. }) => pool.var(target),
            _ => pool.pre_var(target, 0),
        };
        if let Action::Assign { value, .. } | Action::Reinit { value, .. } = &mut action {
            *value = pool.if_else(guard, *value, otherwise);
        }
        match position.get(&target) {
            Some(&at) => merged[at] = action,
            None => {
                position.insert(target, merged.len());
                merged.push(action);
            }
        }
    }
    merged
}
