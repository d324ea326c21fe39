//! Equations: if-equations become guarded equations, discrete ones are set aside for their targets to be found.

use saltus_lang::flat::{AssertLevel, EquationBranch, EquationKind, FlatEquation, FlatExpr, ScalarType};
use saltus_mdae::{
    Action, Assertion, AssertionLevel, BinaryFunction, ExprId, Node, OriginId, Role, Type, UnaryFunction, VarId, When,
    WhenBranch,
};
use saltus_source::{Diagnostic, codes};

use crate::Lowering;
use crate::discrete::Candidate;

impl Lowering<'_> {
    pub(crate) fn equation(&mut self, equation: &FlatEquation, guard: ExprId) {
        let origin = self.origin(equation.provenance);
        match &equation.kind {
            EquationKind::Equal(lhs, rhs) => {
                let (a, b) = self.sides(lhs, rhs);
                match self.undefinable([(lhs, a), (rhs, b)]) {
                    Some(var) => self.changes_between_events(var, origin),
                    None => self.equal(a, b, guard, origin),
                }
            }
            EquationKind::If { branches, otherwise } if self.switches_values(branches, otherwise) => {
                self.value_equations(branches, otherwise, guard);
            }
            EquationKind::If { branches, otherwise } => {
                let condition = |this: &mut Self, c: &FlatExpr| this.guard_condition(c, origin);
                self.spread(branches, otherwise, guard, &condition, &mut |this, inner, active| {
                    this.equation(inner, active);
                });
            }
            EquationKind::When { branches } => self.when_equation(branches, guard, origin),
            EquationKind::Assert {
                condition,
                message,
                level,
            } => {
                let assertion = self.assertion(condition, message, *level, guard, origin);
                // A violation between two steps must not be missed: the relations make events, at which assertions are
                // looked at.
                if self.varies_without_events(assertion.condition) {
                    self.expr(condition);
                }
                self.model.assertions.push(assertion);
            }
            EquationKind::Terminate(message) => self.terminate_while(guard, message, origin),
            EquationKind::Reinit(..) => {
                let span = self.span_of(origin);
                self.report(
                    Diagnostic::error(codes::E0502, span, "this is allowed inside a when-clause only")
                        .with_help("put it into `when condition then … end when;`"),
                );
            }
            EquationKind::NoReturnCall(call) => {
                let assertion = self.call_for_effect(call, guard, origin);
                self.model.assertions.push(assertion);
            }
        }
    }

    /// Both sides of an equation.
    pub(crate) fn sides(&mut self, lhs: &FlatExpr, rhs: &FlatExpr) -> (ExprId, ExprId) {
        (self.expr(lhs), self.expr(rhs))
    }

    /// Whether an if-equation only says what the same quantities are in either case, under conditions that generate no
    /// events: it is standard Modelica and needs no instant of change.
    fn switches_values(&mut self, branches: &[EquationBranch], otherwise: &[FlatEquation]) -> bool {
        let defines = |body: &[FlatEquation]| {
            let same = |(a, b): (&FlatEquation, &FlatEquation)| matches!((&a.kind, &b.kind), (EquationKind::Equal(x, _), EquationKind::Equal(y, _)) if x == y);
            body.len() == otherwise.len() && body.iter().zip(otherwise).all(same)
        };
        branches.iter().all(|branch| defines(&branch.body))
            && branches.iter().any(|branch| {
                let condition = self.expr(&branch.condition);
                self.varies_without_events(condition)
            })
    }

    /// `x = if c then a else b` for each `if c then x = a; else x = b; end if`.
    fn value_equations(&mut self, branches: &[EquationBranch], otherwise: &[FlatEquation], guard: ExprId) {
        let conditions: Vec<ExprId> = branches.iter().map(|branch| self.expr(&branch.condition)).collect();
        for (at, last) in otherwise.iter().enumerate() {
            let origin = self.origin(last.provenance);
            let EquationKind::Equal(lhs, rhs) = &last.kind else {
                continue;
            };
            let (left, mut value) = self.sides(lhs, rhs);
            for (branch, &condition) in branches.iter().zip(&conditions).rev() {
                if let EquationKind::Equal(_, rhs) = &branch.body[at].kind {
                    let chosen = self.expr(rhs);
                    value = self.model.pool.if_else(condition, chosen, value);
                }
            }
            match self.undefinable([(lhs, left), (rhs, value)]) {
                Some(var) => self.changes_between_events(var, origin),
                None => self.equal(left, value, guard, origin),
            }
        }
    }

    fn varies_without_events(&self, condition: ExprId) -> bool {
        !self.is_discrete_valued(condition)
    }

    /// The equations in an if-equation, each with the guard under which it holds.
    pub(crate) fn spread(
        &mut self,
        branches: &[EquationBranch],
        otherwise: &[FlatEquation],
        guard: ExprId,
        condition: &dyn Fn(&mut Self, &FlatExpr) -> ExprId,
        each: &mut dyn FnMut(&mut Self, &FlatEquation, ExprId),
    ) {
        let mut rest = guard;
        for branch in branches {
            let condition = condition(self, &branch.condition);
            let active = self.model.pool.and(rest, condition);
            branch.body.iter().for_each(|inner| each(self, inner, active));
            let negated = self.model.pool.not(condition);
            rest = self.model.pool.and(rest, negated);
        }
        otherwise.iter().for_each(|inner| each(self, inner, rest));
    }

    /// `terminate(message)` outside when-clauses: the run ends when the branch it stands in is taken.
    pub(crate) fn terminate_while(&mut self, guard: ExprId, message: &FlatExpr, origin: OriginId) {
        let message = self.literal_expr(message);
        let pool = &mut self.model.pool;
        let initial = pool.intern(Node::Initial);
        let at_start = pool.and(guard, initial);
        let always = pool.boolean(true);
        let branch = WhenBranch {
            conditions: vec![at_start, guard],
            actions: vec![Action::Terminate {
                guard: always,
                message,
                origin,
            }],
        };
        let branches = vec![branch];
        self.model.whens.push(When { branches, origin });
    }

    /// A function called for its assertions: an assertion that always holds once the call succeeds.
    pub(crate) fn call_for_effect(&mut self, call: &FlatExpr, guard: ExprId, origin: OriginId) -> Assertion {
        let result = self.literal_expr(call);
        self.success_of(result, guard, origin)
    }

    /// An assertion that holds if a call succeeds.
    pub(crate) fn success_of(&mut self, result: ExprId, guard: ExprId, origin: OriginId) -> Assertion {
        // A call that fails yields no number.
        let (size, bound) = (
            self.model.pool.unary(UnaryFunction::Abs, result),
            self.model.pool.real(f64::INFINITY),
        );
        let condition = self.model.pool.binary(BinaryFunction::Le, size, bound);
        Assertion {
            condition,
            message: self.model.text(""),
            level: AssertionLevel::Error,
            guard,
            origin,
        }
    }

    pub(crate) fn assertion(
        &mut self,
        condition: &FlatExpr,
        message: &FlatExpr,
        level: AssertLevel,
        guard: ExprId,
        origin: OriginId,
    ) -> Assertion {
        let condition = self.literal_expr(condition);
        let message = self.literal_expr(message);
        let level = match level {
            AssertLevel::Error => AssertionLevel::Error,
            AssertLevel::Warning => AssertionLevel::Warning,
        };
        Assertion {
            condition,
            message,
            level,
            guard,
            origin,
        }
    }

    /// A guard is a formula over conditions and discrete variables: what else switches is given a name.
    fn guard_condition(&mut self, condition: &FlatExpr, origin: OriginId) -> ExprId {
        let lowered = self.expr(condition);
        self.with_events(lowered, condition, origin, "a condition that switches equations")
    }

    /// A condition whose changes are noticed; others are reported.
    pub(crate) fn with_events(
        &mut self,
        lowered: ExprId,
        condition: &FlatExpr,
        origin: OriginId,
        what: &str,
    ) -> ExprId {
        if self.varies_without_events(lowered) {
            let span = condition.span().unwrap_or_else(|| self.span_of(origin));
            self.report(
                Diagnostic::error(codes::E0503, span, format!("{what} must generate events"))
                    .with_note("under `noEvent` (or with `==` on Reals) the instant of the change cannot be found")
                    .with_help("write the condition without `noEvent`, using <, <=, > or >="),
            );
            return self.model.pool.boolean(true);
        }
        lowered
    }

    pub(crate) fn equal(&mut self, a: ExprId, b: ExprId, guard: ExprId, origin: OriginId) {
        if self.is_discrete_valued(a) && self.is_discrete_valued(b) {
            self.discrete.push(Candidate {
                left: a,
                right: b,
                guard,
                origin,
            });
            return;
        }
        let residual = self.model.pool.sub(a, b);
        self.model.add_guarded_equation(guard, residual, origin);
    }

    /// The variable that an equation between values other than Reals cannot define, because they change without events.
    fn undefinable(&self, sides: [(&FlatExpr, ExprId); 2]) -> Option<VarId> {
        let is_real = |(side, _): &(&FlatExpr, ExprId)| side.scalar_type(self.flat) == ScalarType::Real;
        if sides.iter().any(is_real) || sides.iter().all(|(_, side)| self.is_discrete_valued(*side)) {
            return None;
        }
        sides.iter().find_map(|(_, side)| match self.model.pool.node(*side) {
            Node::Var { var, order: 0 } if self.model.variables[var].role == Role::Discrete => Some(var),
            _ => None,
        })
    }

    /// Reports a variable that would have to change without an event.
    pub(crate) fn changes_between_events(&mut self, var: VarId, origin: OriginId) {
        if !self.unclear.insert(var) {
            return;
        }
        let (name, span) = (self.model.variables[var].name.clone(), self.span_of(origin));
        self.report(
            Diagnostic::error(
                codes::E0506,
                span,
                format!("`{name}` changes at events only, but this value may change at any time"),
            )
            .with_note("functions of continuous values and relations under `noEvent` cause no events")
            .with_help(
                "use relations, `integer(…)` or `floor(…)` of the continuous values, or assign it in a when-clause",
            ),
        );
    }

    /// Whether a value changes at events only.
    pub(crate) fn is_discrete_valued(&self, id: ExprId) -> bool {
        let pool = &self.model.pool;
        match pool.node(id) {
            Node::Var { var, .. } => {
                let variable = &self.model.variables[var];
                variable.role != Role::Continuous && !(variable.role == Role::Input && variable.ty == Type::Real)
            }
            Node::Time => false,
            _ => pool.reachable(&[id]).into_iter().all(|inner| match pool.node(inner) {
                Node::Var { var, .. } => !pool.variable_traits(var).continuous,
                Node::Time => false,
                _ => true,
            }),
        }
    }

    pub(crate) fn initial_equation(&mut self, equation: &FlatEquation, guard: ExprId) {
        let origin = self.origin(equation.provenance);
        match &equation.kind {
            EquationKind::Equal(lhs, rhs) => {
                let (a, b) = self.sides(lhs, rhs);
                self.initial_equal(a, b, guard, origin);
            }
            EquationKind::If { branches, otherwise } => {
                let condition = |this: &mut Self, c: &FlatExpr| this.guard_condition(c, origin);
                self.spread(branches, otherwise, guard, &condition, &mut |this, inner, active| {
                    this.initial_equation(inner, active);
                });
            }
            EquationKind::Assert {
                condition,
                message,
                level,
            } => {
                let initial = self.model.pool.intern(Node::Initial);
                let at_start = self.model.pool.and(guard, initial);
                let assertion = self.assertion(condition, message, *level, at_start, origin);
                self.model.assertions.push(assertion);
            }
            EquationKind::NoReturnCall(call) => {
                let initial = self.model.pool.intern(Node::Initial);
                let at_start = self.model.pool.and(guard, initial);
                let assertion = self.call_for_effect(call, at_start, origin);
                self.model.assertions.push(assertion);
            }
            _ => {
                let span = self.span_of(origin);
                self.report(
                    Diagnostic::error(codes::E0502, span, "this is not allowed in an initial equation section")
                        .with_help("move it into the equation section, inside `when initial() then … end when;`"),
                );
            }
        }
    }
}
