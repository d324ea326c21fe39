//! When-clauses: `v = …` of a discrete variable is an assignment, everything else a restart equation.

use rustc_hash::FxHashMap;
use saltus_lang::flat::{EquationKind, FlatEquation, FlatExpr, VariableId, WhenBranch as FlatBranch};
use saltus_mdae::{Action, Derivative, ExprId, Node, OriginId, Role, VarId, When, WhenBranch};
use saltus_source::{Diagnostic, codes};

use crate::{Lowering, Meaning};

impl Lowering<'_> {
    /// `guard` is the if-condition around the when-clause.
    pub(crate) fn when_equation(&mut self, branches: &[FlatBranch], guard: ExprId, origin: OriginId) {
        // Parameters may choose among when-clauses.
        let always = self.model.pool.constant(guard) == Some(1.0);
        self.check_branches(branches, always);
        self.check_reinits(branches);
        self.check_around(guard, origin);
        let mut lowered = Vec::new();
        for branch in branches {
            let conditions: Vec<ExprId> = branch
                .conditions
                .iter()
                .map(|c| {
                    let condition = self.when_condition(c, origin);
                    self.model.pool.and(guard, condition)
                })
                .collect();
            let always = self.model.pool.boolean(true);
            let mut actions = Vec::new();
            for equation in &branch.body {
                self.when_action(equation, always, &mut actions);
            }
            if self.acts_at_start(&conditions) {
                self.reinits_at_start(&conditions, &actions);
            }
            let mut actions = merge_assignments(self, actions);
            self.put_in_definitions(&mut actions);
            lowered.push(WhenBranch { conditions, actions });
        }
        self.model.whens.push(When {
            branches: lowered,
            origin,
        });
    }

    /// A when-clause in an if-equation whose condition varies has no meaning (8.3.5.1).
    fn check_around(&mut self, guard: ExprId, origin: OriginId) {
        let nodes = self.model.pool.reachable(&[guard]);
        let varies = nodes.into_iter().any(|id| match self.model.pool.node(id) {
            Node::Var { var, .. } => self.model.variables[var].role != Role::Parameter,
            Node::Condition(_) | Node::Time | Node::Initial | Node::Pre { .. } => true,
            _ => false,
        });
        if varies {
            let span = self.span_of(origin);
            self.report(
                Diagnostic::error(
                    codes::E0502,
                    span,
                    "a when-equation in an if-equation whose condition varies",
                )
                .with_help("move the if-condition into the condition of the when-equation: `when c and d then …`"),
            );
        }
    }

    /// Equations of a when-clause hold together: a variable that one of them defines is, in the others, what it becomes.
    fn put_in_definitions(&mut self, actions: &mut [Action]) {
        let mut open: FxHashMap<VarId, (ExprId, OriginId)> = FxHashMap::default();
        for action in actions.iter() {
            if let Action::Assign { target, value, origin } = *action {
                open.insert(target, (value, origin));
            }
        }
        let mut done: FxHashMap<VarId, ExprId> = FxHashMap::default();
        while !open.is_empty() {
            let mut targets: Vec<VarId> = open.keys().copied().collect();
            targets.sort_unstable();
            let reads_open = |this: &Self, value: ExprId| {
                let read = this.model.pool.occurrences(value);
                read.iter().any(|Derivative { var, .. }| open.contains_key(var))
            };
            let ready: Vec<VarId> = targets
                .iter()
                .copied()
                .filter(|var| !reads_open(self, open[var].0))
                .collect();
            if ready.is_empty() {
                self.report_circle(&targets, open[&targets[0]].1);
                return;
            }
            for var in ready {
                if let Some((value, _)) = open.remove(&var) {
                    done.insert(var, self.with_definitions(value, &done));
                }
            }
        }
        for action in actions {
            if let Action::Assign { target, value, .. } = action {
                *value = done[target];
            }
        }
    }

    fn with_definitions(&mut self, value: ExprId, definitions: &FxHashMap<VarId, ExprId>) -> ExprId {
        self.model.pool.rewrite(&[value], |_, _, node| match node {
            Node::Var { var, order: 0 } => definitions.get(&var).copied(),
            _ => None,
        })[0]
    }

    fn report_circle(&mut self, targets: &[VarId], origin: OriginId) {
        let names: Vec<String> = targets
            .iter()
            .map(|&var| format!("`{}`", self.model.variables[var].name))
            .collect();
        let span = self.span_of(origin);
        let message = match &names[..] {
            [name] => format!("in this when-clause {name} is defined by itself"),
            _ => format!("in this when-clause {} are defined by each other", names.join(", ")),
        };
        self.report(
            Diagnostic::error(codes::E0606, span, message)
                .with_help("write `pre(v)` where the value before the event is meant"),
        );
    }

    /// A condition of a when-clause. At the start only `initial()` makes it act, not what a function makes of that (8.6).
    pub(crate) fn when_condition(&mut self, condition: &FlatExpr, origin: OriginId) -> ExprId {
        let lowered = self.expr(condition);
        let condition = self.with_events(lowered, condition, origin, "the condition of a `when`");
        if !self.acts_at_start(&[condition]) {
            return condition;
        }
        let no = self.model.pool.boolean(false);
        let pool = &self.model.pool;
        let calls = pool
            .reachable(&[condition])
            .into_iter()
            .filter_map(|id| match pool.node(id) {
                Node::Call { args, .. } => Some(pool.args(args).collect::<Vec<ExprId>>()),
                _ => None,
            });
        let arguments: Vec<ExprId> = calls.flatten().collect();
        let inside = pool.reachable(&arguments);
        if !inside.into_iter().any(|id| pool.node(id) == Node::Initial) {
            return condition;
        }
        self.model
            .pool
            .rewrite(&[condition], |_, _, node| (node == Node::Initial).then_some(no))[0]
    }

    pub(crate) fn acts_at_start(&self, conditions: &[ExprId]) -> bool {
        let pool = &self.model.pool;
        let nodes = pool.reachable(conditions);
        nodes.into_iter().any(|id| pool.node(id) == Node::Initial)
    }

    /// `reinit(x, e)` that is active at the start is the initial equation x = e.
    fn reinits_at_start(&mut self, conditions: &[ExprId], actions: &[(ExprId, Action)]) {
        let never = self.model.pool.boolean(false);
        let pool = &mut self.model.pool;
        let acts = conditions.iter().fold(never, |any, &condition| pool.or(any, condition));
        for (guard, action) in actions {
            if let Action::Reinit { var, value, origin, .. } = *action {
                let variable = self.model.pool.var(var);
                let guard = self.model.pool.and(acts, *guard);
                self.initial_equal(variable, value, guard, origin);
            }
        }
    }

    /// `guard` is the if-condition around the equation inside the when-clause.
    fn when_action(&mut self, equation: &FlatEquation, guard: ExprId, actions: &mut Vec<(ExprId, Action)>) {
        let origin = self.origin(equation.provenance);
        match &equation.kind {
            EquationKind::Equal(lhs, rhs) => {
                let (a, b) = self.sides(lhs, rhs);
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
                let message = self.literal_expr(message);
                actions.push((guard, Action::Terminate { guard, message, origin }));
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

    /// Restart equations cannot be made conditional by an if-expression.
    fn conditional(&mut self, guard: ExprId, action: Action, origin: OriginId, actions: &mut Vec<(ExprId, Action)>) {
        if self.model.pool.constant(guard) == Some(1.0) {
            actions.push((guard, action));
            return;
        }
        let span = self.span_of(origin);
        self.report(
            Diagnostic::error(codes::E0502, span, "an if-equation around a restart equation")
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
