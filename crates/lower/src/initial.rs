//! Which previous value an initial equation of discrete variables gives.
//!
//! At the start the unknowns of the discrete part are the values before it: `v` itself follows from its own equation.
//! So `pre(v) = e` gives pre(v), and `v = e` gives whatever the definition of v leads to: pre(w) where `v = u`,
//! `u = pre(w)`, and pre(v) where v only changes in when-clauses. An equation between two previous values, as in
//! `pre(a) = pre(b)`, may give either; a matching decides.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_lang::flat::{EquationKind, FlatEquation, FlatExpr};
use saltus_mdae::{
    Action, BinaryFunction, DiscreteEquation, Equation, ExprId, Node, OriginId, Role, Type, UnaryFunction, VarId,
};
use saltus_source::{Diagnostic, codes};

use crate::Lowering;
use crate::discrete::{Candidate, Readings};

/// Definitions of discrete variables that hold always.
type Definitions = FxHashMap<VarId, ExprId>;

/// Discrete variables whose values need no initial equation.
struct KnownAtStart {
    /// The value before the start is given.
    before: FxHashSet<VarId>,
    /// The value at the start is given.
    there: FxHashSet<VarId>,
}

impl Lowering<'_> {
    /// Clocked variables are given by their start values: an initial equation may say what one is, and no more (16.9).
    pub(crate) fn may_hold_at_start(&mut self, equation: &FlatEquation) -> bool {
        let EquationKind::Equal(lhs, rhs) = &equation.kind else {
            return true;
        };
        let is_clocked = |this: &Self, expr: &FlatExpr| {
            let mut found = false;
            expr.walk(&mut |part| {
                if let FlatExpr::Variable(id) = part {
                    found |= this.part_of(*id).is_some();
                }
            });
            found
        };
        let plain = |this: &Self, side: &FlatExpr, other: &FlatExpr| {
            matches!(side, FlatExpr::Variable(_)) && !is_clocked(this, other)
        };
        if !is_clocked(self, lhs) && !is_clocked(self, rhs) || plain(self, lhs, rhs) || plain(self, rhs, lhs) {
            return true;
        }
        let span = self.flat.provenances[equation.provenance].span;
        self.report(
            Diagnostic::error(codes::E0533, span, "an initial equation of clocked variables")
                .with_help("give the clocked variables start values: they hold at the first tick"),
        );
        false
    }

    /// An equation that holds at the start only.
    pub(crate) fn initial_equal(&mut self, left: ExprId, right: ExprId, guard: ExprId, origin: OriginId) {
        if [left, right].into_iter().any(|side| self.discrete_side(side).is_some()) {
            self.initial.push(Candidate {
                left,
                right,
                guard,
                origin,
            });
            return;
        }
        self.initial_residual(left, right, guard, origin);
    }

    /// An equation between values at the start that gives no previous value: one of the system that is solved there.
    fn initial_residual(&mut self, left: ExprId, right: ExprId, guard: ExprId, origin: OriginId) {
        let pool = &mut self.model.pool;
        let residual = match pool.ty(left) {
            Type::Boolean => {
                let differs = pool.binary(BinaryFunction::Ne, left, right);
                let (one, zero) = (pool.real(1.0), pool.real(0.0));
                pool.if_else(differs, one, zero)
            }
            _ => pool.sub(left, right),
        };
        self.model.initial_equations.push(Equation {
            guard,
            residual,
            simplified: None,
            origin,
        });
    }

    /// Finds the previous value that every initial equation of discrete variables gives.
    pub(crate) fn resolve_initial(&mut self) {
        let candidates = std::mem::take(&mut self.initial);
        let definitions: Definitions = self
            .model
            .discrete
            .iter()
            .filter(|equation| self.model.pool.constant(equation.guard) == Some(1.0))
            .map(|equation| (equation.target, equation.value))
            .collect();
        let known = self.known_at_start();
        let readings: Vec<Readings> = candidates
            .iter()
            .map(|candidate| self.initial_readings(candidate, &definitions, &known))
            .collect();
        let targets = self.match_targets(&candidates, &readings);
        for (candidate, target) in candidates.iter().zip(targets) {
            // One that gives no previous value gives a parameter its value, says again what is known, or contradicts it.
            let Some((target, value)) = target else {
                self.initial_residual(candidate.left, candidate.right, candidate.guard, candidate.origin);
                continue;
            };
            self.model.initial_assignments.push(DiscreteEquation {
                target,
                value,
                guard: candidate.guard,
                origin: candidate.origin,
            });
        }
    }

    /// What needs no initial equation: a fixed start value gives the value before the start, a when-clause that acts at the
    /// start the value there, and a binding that of a parameter.
    fn known_at_start(&self) -> KnownAtStart {
        let variables = self.model.variables.iter_enumerated();
        let fixed = variables.filter(|(_, variable)| variable.role == Role::Discrete && variable.fixed);
        let mut known = KnownAtStart {
            before: fixed.map(|(id, _)| id).collect(),
            there: self
                .model
                .initial_assignments
                .iter()
                .map(|equation| equation.target)
                .collect(),
        };
        let branches = self.model.whens.iter().flat_map(|when| &when.branches);
        for action in branches
            .filter(|branch| self.acts_at_start(&branch.conditions))
            .flat_map(|branch| &branch.actions)
        {
            if let Action::Assign { target, .. } = action {
                known.there.insert(*target);
            }
        }
        known
    }

    fn initial_readings(&mut self, candidate: &Candidate, definitions: &Definitions, known: &KnownAtStart) -> Readings {
        let mut found = Readings::new();
        for (this, other) in [(candidate.left, candidate.right), (candidate.right, candidate.left)] {
            if let Some((target, operators, said_before)) = self.previous_value(this, definitions) {
                if known.before.contains(&target) || !said_before && known.there.contains(&target) {
                    continue;
                }
                let value = operators
                    .into_iter()
                    .fold(other, |value, op| self.model.pool.unary(op, value));
                found.push((target, value));
            }
        }
        found
    }

    /// The variable whose previous value an expression is, the operators to be undone on the way to it, and whether the
    /// expression is `pre(…)` of it and not its value at the start.
    fn previous_value(&self, side: ExprId, definitions: &Definitions) -> Option<(VarId, Vec<UnaryFunction>, bool)> {
        let (mut node, mut operators) = self.discrete_side(side)?;
        let first = node;
        let written = operators.clone();
        // A chain is no longer than the list of definitions, unless it is a loop.
        for _ in 0..=definitions.len() {
            let Node::Var { var, .. } = node else { break };
            let Some((next, more)) = definitions.get(&var).and_then(|&value| self.discrete_side(value)) else {
                break;
            };
            operators.extend(more);
            node = next;
        }
        match (node, first) {
            (Node::Pre { var, .. }, _) => Some((var, operators, true)),
            // Defined by more than a chain of names: taken as its own previous value.
            (Node::Var { var, .. }, _) if !definitions.contains_key(&var) => Some((var, operators, false)),
            (_, Node::Var { var, .. }) => Some((var, written, false)),
            _ => None,
        }
    }

    /// A parameter without continuous values that is solved for at the start: no iteration finds it, an equation gives it.
    fn is_open_count(&self, var: VarId) -> bool {
        let variable = &self.model.variables[var];
        variable.role == Role::Parameter && !variable.fixed && variable.ty != Type::Real
    }

    /// A discrete variable, or its previous value, under `not` and minus.
    fn discrete_side(&self, side: ExprId) -> Option<(Node, Vec<UnaryFunction>)> {
        let mut operators = Vec::new();
        let mut at = side;
        loop {
            match self.model.pool.node(at) {
                Node::Unary(op @ (UnaryFunction::Not | UnaryFunction::Neg), inner) => {
                    operators.push(op);
                    at = inner;
                }
                node @ (Node::Pre { var, order: 0 } | Node::Var { var, order: 0 })
                    if self.model.variables[var].role == Role::Discrete || self.is_open_count(var) =>
                {
                    return Some((node, operators));
                }
                _ => return None,
            }
        }
    }
}
