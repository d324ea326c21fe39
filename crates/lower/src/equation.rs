//! Equations: if-equations become guarded equations, discrete ones are set aside for their targets to be found.

use saltus_lang::flat::{AssertLevel, EquationBranch, EquationKind, FlatEquation, FlatExpr, ScalarType};
use saltus_mdae::{
    Action, Assertion, AssertionLevel, BinaryFunction, ExprId, Node, OriginId, Role, Type, UnaryFunction, VarId, When,
    WhenBranch,
};
use saltus_source::{Diagnostic, codes};

use crate::Lowering;
use crate::discrete::Candidate;

/// An equation whose right-hand side switches without an event.
#[derive(Copy, Clone)]
struct Switched {
    left: ExprId,
    right: ExprId,
    is_real: bool,
    /// A variable that it cannot define, because it would change without an event.
    undefinable: Option<VarId>,
    origin: OriginId,
}

impl Switched {
    /// `0 = left - right`, for either side of a choice between different quantities.
    fn as_residual(self, lowering: &mut Lowering<'_>) -> Self {
        Switched {
            left: lowering.model.pool.real(0.0),
            right: lowering.model.pool.sub(self.left, self.right),
            ..self
        }
    }

    fn add(self, lowering: &mut Lowering<'_>, guard: ExprId) {
        match self.undefinable {
            Some(var) => lowering.changes_between_events(var, self.origin),
            None => lowering.equal(self.left, self.right, guard, self.origin),
        }
    }
}

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
            EquationKind::If { branches, otherwise } => {
                if self.switches_silently(branches) {
                    let always = self.model.pool.boolean(true);
                    let asserted = self.model.assertions.len();
                    if let Some(switched) = self.switched_silently(branches, otherwise, always, guard) {
                        switched.into_iter().for_each(|switched| switched.add(self, guard));
                        return;
                    }
                    self.model.assertions.truncate(asserted);
                }
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

    /// Whether a condition of an if-equation, or one inside it, generates no events.
    fn switches_silently(&mut self, branches: &[EquationBranch]) -> bool {
        branches.iter().any(|branch| {
            let condition = self.expr(&branch.condition);
            self.varies_without_events(condition)
        })
    }

    /// An if-equation under conditions that generate no events, as the equations `x = if c then a else b`: it is standard Modelica
    /// and needs no instant of change. Where the branches say what different quantities are, one of the equations holds at a
    /// time: `0 = if c then x - a else y - b`. Nothing if the branches do not have as many equations, or other things in them.
    fn switched_silently(
        &mut self,
        branches: &[EquationBranch],
        otherwise: &[FlatEquation],
        within: ExprId,
        guard: ExprId,
    ) -> Option<Vec<Switched>> {
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        let mut rest = within;
        for branch in branches {
            let condition = self.expr(&branch.condition);
            let active = self.model.pool.and(rest, condition);
            bodies.push(self.silent_body(&branch.body, active, guard)?);
            let negated = self.model.pool.not(condition);
            rest = self.model.pool.and(rest, negated);
            conditions.push(condition);
        }
        let last = self.silent_body(otherwise, rest, guard)?;
        if bodies.iter().any(|body| body.len() != last.len()) {
            return None;
        }
        let mut joined = Vec::new();
        for (at, last) in last.into_iter().enumerate() {
            let same = bodies.iter().all(|body| body[at].left == last.left);
            let fits = |one: &Switched| one.is_real && !self.has_derivative(one);
            let all_fit = fits(&last) && bodies.iter().all(|body| fits(&body[at]));
            if !same && !all_fit {
                return None;
            }
            let mut switched = if same { last } else { last.as_residual(self) };
            for (body, &condition) in bodies.iter().zip(&conditions).rev() {
                let chosen = if same { body[at] } else { body[at].as_residual(self) };
                switched.right = self.model.pool.if_else(condition, chosen.right, switched.right);
                switched.undefinable = switched.undefinable.or(chosen.undefinable);
            }
            if !switched.is_real {
                let joined = self.set_between_events([switched.left, switched.right]);
                switched.undefinable = switched.undefinable.or(joined);
            }
            joined.push(switched);
        }
        Some(joined)
    }

    /// Whether an equation is about a derivative: then what are states would switch with it.
    fn has_derivative(&self, equation: &Switched) -> bool {
        let sides = [equation.left, equation.right];
        let occurring = sides.into_iter().flat_map(|side| self.model.pool.occurrences(side));
        occurring.into_iter().any(|derivative| derivative.order > 0)
    }

    /// The equations of a branch that holds under `active` within an equation with a guard; what is asserted in it is taken down.
    fn silent_body(&mut self, body: &[FlatEquation], active: ExprId, guard: ExprId) -> Option<Vec<Switched>> {
        let mut found = Vec::new();
        for equation in body {
            let origin = self.origin(equation.provenance);
            match &equation.kind {
                EquationKind::Equal(lhs, rhs) => {
                    let (left, right) = self.sides(lhs, rhs);
                    found.push(Switched {
                        left,
                        right,
                        is_real: lhs.scalar_type(self.flat) == ScalarType::Real,
                        undefinable: self.undefinable([(lhs, left), (rhs, right)]),
                        origin,
                    });
                }
                EquationKind::If { branches, otherwise } => {
                    found.extend(self.switched_silently(branches, otherwise, active, guard)?);
                }
                EquationKind::Assert {
                    condition,
                    message,
                    level,
                } => {
                    let mut assertion = self.assertion(condition, message, *level, guard, origin);
                    let idle = self.model.pool.not(active);
                    assertion.condition = self.model.pool.or(idle, assertion.condition);
                    self.model.assertions.push(assertion);
                }
                _ => return None,
            }
        }
        Some(found)
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
        if sides.iter().any(is_real) {
            return None;
        }
        self.set_between_events(sides.map(|(_, side)| side))
    }

    /// A discrete variable that is to equal what changes without an event.
    fn set_between_events(&self, sides: [ExprId; 2]) -> Option<VarId> {
        if sides.iter().all(|side| self.is_discrete_valued(*side)) {
            return None;
        }
        sides.iter().find_map(|side| match self.model.pool.node(*side) {
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
