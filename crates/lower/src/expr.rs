//! Expressions: relations become conditions, event-generating functions become discrete variables.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_lang::flat::{BinaryOp, Builtin, FlatExpr, ScalarType, UnaryOp, VariableId};
use saltus_mdae::text::TextOperation;
use saltus_mdae::{
    BinaryFunction, Comparison, ConditionKind, Delay, DiscreteEquation, ExprId, ExprPool, Node, OriginId, Role,
    StateSelect, Transport, Type, UnaryFunction, VarId, Variable,
};
use saltus_source::{Diagnostic, Span, codes};

use crate::text::{text_builtin, written};
use crate::{Lowering, Meaning};

/// A value this far from an integer is clear of it, however large it is.
const FLOOR_RESOLUTION: f64 = 1e-3;

/// A comparison of two numbers as the condition of an event: the side on which their difference (`b - a` if reversed) makes
/// it true, and how users write it.
#[derive(Clone, Copy, Debug)]
struct Relation {
    comparison: Comparison,
    reversed: bool,
    symbol: &'static str,
}

impl Relation {
    const LESS: Self = Self::new(Comparison::Greater, true, "<");
    const LESS_EQUAL: Self = Self::new(Comparison::GreaterEqual, true, "<=");
    const GREATER: Self = Self::new(Comparison::Greater, false, ">");
    const GREATER_EQUAL: Self = Self::new(Comparison::GreaterEqual, false, ">=");

    const fn new(comparison: Comparison, reversed: bool, symbol: &'static str) -> Self {
        Relation {
            comparison,
            reversed,
            symbol,
        }
    }
}

impl Lowering<'_> {
    /// An expression without events: attributes, bindings of parameters, assertions.
    pub(crate) fn literal_expr(&mut self, expr: &FlatExpr) -> ExprId {
        let outer = std::mem::replace(&mut self.literal, true);
        let lowered = self.expr(expr);
        self.literal = outer;
        lowered
    }

    /// The value of an Integer or Boolean that shaped the model: another one needs other equations. With `i < n` known
    /// for each pass of a loop, the branches that are not taken are never made.
    fn structural_value(&mut self, id: VariableId) -> Option<ExprId> {
        let variable = &self.flat.variables[id];
        if !variable.structural {
            return None;
        }
        match variable.binding {
            Some(FlatExpr::Integer(value)) => Some(self.model.pool.integer(value)),
            Some(FlatExpr::Boolean(value)) => Some(self.model.pool.boolean(value)),
            _ => None,
        }
    }

    /// Integers are computed with as floating-point numbers, which holds them all below 2^53.
    pub(crate) fn check_exact(&mut self, value: i64, span: Option<Span>) {
        let is_exact = value.unsigned_abs() < 1 << 53;
        // The least and the greatest of no elements.
        if is_exact || value == i64::MAX || value == i64::MIN {
            return;
        }
        let message = format!("the Integer {value} is beyond 2^53, where Integers are not exact");
        let place = self.place.map(|place| self.flat.provenances[place].span);
        let Some(span) = span.or(place) else { return };
        self.report(
            Diagnostic::error(codes::E0512, span, message)
                .with_help("use a Real if its size is all that matters; count in larger units if it must be exact"),
        );
    }

    /// Lowers an expression. Sums of a hundred thousand terms (connection sets) are chains to the left, so the left
    /// spine is walked by a loop.
    pub(crate) fn expr(&mut self, expr: &FlatExpr) -> ExprId {
        match expr {
            FlatExpr::Real(value) => self.model.pool.real(*value),
            FlatExpr::Integer(value) => {
                self.check_exact(*value, None);
                self.model.pool.integer(*value)
            }
            FlatExpr::Boolean(value) => self.model.pool.boolean(*value),
            FlatExpr::Enumeration(_, ordinal) => self.model.pool.integer(i64::from(*ordinal)),
            FlatExpr::String(text) => self.model.text(text),
            FlatExpr::Variable(id) => match self.meanings[*id] {
                Meaning::Variable(var) => match self.structural_value(*id) {
                    Some(value) => value,
                    None => self.variable(var),
                },
                Meaning::Constant(constant) => constant,
                Meaning::Text => self.text_of_parameter(*id),
                Meaning::Clock => self.model.pool.real(0.0),
            },
            FlatExpr::Time => self.model.pool.time(),
            FlatExpr::Unary(op, a) => {
                let a = self.expr(a);
                self.model.pool.unary(
                    if *op == UnaryOp::Not {
                        UnaryFunction::Not
                    } else {
                        UnaryFunction::Neg
                    },
                    a,
                )
            }
            FlatExpr::Binary(..) => self.binary_chain(expr),
            FlatExpr::If(parts, _) => {
                let condition = self.expr(&parts[0]);
                let (a, b) = (self.expr(&parts[1]), self.expr(&parts[2]));
                self.model.pool.if_else(condition, a, b)
            }
            FlatExpr::Builtin(builtin, args, span) => self.builtin(*builtin, args, *span),
            FlatExpr::Call(call) => {
                let args: Vec<ExprId> = call.arguments.iter().map(|arg| self.expr(arg)).collect();
                let function = saltus_mdae::FunctionId(call.function.0);
                let pool = &mut self.model.pool;
                let result = pool.call_partial(function, call.output, &call.partials, &args);
                match expr.scalar_type(self.flat) {
                    ScalarType::Boolean => {
                        let zero = pool.integer(0);
                        pool.binary(BinaryFunction::Ne, result, zero)
                    }
                    _ => result,
                }
            }
            FlatExpr::Local(..) => self.model.pool.real(0.0),
        }
    }

    fn variable(&mut self, var: VarId) -> ExprId {
        if let Some(value) = self.substitution.as_ref().and_then(|map| map.get(&var)) {
            return *value;
        }
        self.model.pool.var(var)
    }

    fn binary_chain(&mut self, expr: &FlatExpr) -> ExprId {
        let mut spine = Vec::new();
        let mut left = expr;
        while let FlatExpr::Binary(op, operands, span) = left {
            spine.push((*op, operands, *span));
            left = &operands[0];
        }
        let mut result = self.expr(left);
        for (op, operands, span) in spine.into_iter().rev() {
            let [left, right] = &**operands;
            result = match self.text_comparison(op, left, right) {
                Some(decided) => decided,
                None => {
                    let right_text = op == BinaryOp::Add && self.is_text(right);
                    let right = self.expr(right);
                    if right_text {
                        self.text_call(TextOperation::Join, &[result, right])
                    } else {
                        let joined = self.binary(op, result, right, span);
                        if let Node::Integer(value) = self.model.pool.node(joined) {
                            self.check_exact(value, Some(span));
                        }
                        joined
                    }
                }
            };
        }
        result
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId, span: Span) -> ExprId {
        use saltus_mdae::BinaryFunction as B;
        let (plain, comparison) = match op {
            BinaryOp::Add => (B::Add, None),
            BinaryOp::Subtract => (B::Sub, None),
            BinaryOp::Multiply => (B::Mul, None),
            BinaryOp::Divide => (B::Div, None),
            BinaryOp::Power => (B::Pow, None),
            BinaryOp::And => (B::And, None),
            BinaryOp::Or => (B::Or, None),
            BinaryOp::Equal => (B::Eq, None),
            BinaryOp::NotEqual => (B::Ne, None),
            BinaryOp::Less => (B::Lt, Some(Relation::LESS)),
            BinaryOp::LessEqual => (B::Le, Some(Relation::LESS_EQUAL)),
            BinaryOp::Greater => (B::Gt, Some(Relation::GREATER)),
            BinaryOp::GreaterEqual => (B::Ge, Some(Relation::GREATER_EQUAL)),
        };
        match comparison {
            Some(relation) if !self.literal && self.varies_between_events(a, b) => {
                self.relation(relation, a, b, span, None)
            }
            _ => self.model.pool.binary(plain, a, b),
        }
    }

    fn varies_between_events(&self, a: ExprId, b: ExprId) -> bool {
        let pool = &self.model.pool;
        pool.reachable(&[a, b]).into_iter().any(|id| match pool.node(id) {
            Node::Time => true,
            Node::Var { var, .. } | Node::Pre { var, .. } => pool.variable_traits(var).continuous,
            _ => false,
        })
    }

    fn relation(&mut self, relation: Relation, a: ExprId, b: ExprId, span: Span, resolution: Option<f64>) -> ExprId {
        let Relation {
            comparison,
            reversed,
            symbol,
        } = relation;
        let function = if reversed {
            self.model.pool.sub(b, a)
        } else {
            self.model.pool.sub(a, b)
        };
        let key = (function, comparison == Comparison::Greater);
        if let Some(&known) = self.conditions.get(&key) {
            return self.model.pool.condition(known);
        }
        let text = format!("{} {symbol} {}", self.model.print(a), self.model.print(b));
        let origin = self.span_origin(span);
        let kind = ConditionKind::Relation { function, comparison };
        let id = self.model.conditions.push(saltus_mdae::Condition {
            kind,
            text: text.into(),
            resolution,
            origin,
        });
        self.conditions.insert(key, id);
        self.model.pool.condition(id)
    }

    pub(crate) fn span_origin(&mut self, span: Span) -> OriginId {
        self.model.add_origin(saltus_mdae::Origin {
            kind: saltus_mdae::OriginKind::Equation,
            span: Some(span),
            part: None,
            component: "".into(),
            label: "".into(),
        })
    }

    /// `der(expression)`. The rules of differentiation hold between events only: where something in the expression jumps, the
    /// whole of it is what is continuous or balances an impulse. So what only jumps (`if c then 2 else 3`, a discrete variable)
    /// becomes an unknown, whose derivative is an impulse then: restarts integrate what the product rule makes of it.
    fn derivative(&mut self, expression: ExprId, span: Span) -> ExprId {
        if self.substitution.is_some() || !self.varies_and_switches(expression) {
            return self.model.pool.total_derivative(expression);
        }
        let origin = self.span_origin(span);
        let expression = self.with_unknown_switches(expression, origin);
        if self.varies_and_switches(expression) {
            // Branches that vary: the whole becomes an unknown.

            let quantity = self.unknown_for(expression, origin);
            self.model.variables[quantity].state_select = StateSelect::Avoid;
            self.model.pool.der_var(quantity, 1)
        } else {
            self.model.pool.total_derivative(expression)
        }
    }

    /// The expression with an unknown in place of each largest part that only jumps.
    fn with_unknown_switches(&mut self, expression: ExprId, origin: OriginId) -> ExprId {
        let parts = self.model.pool.reachable(&[expression]);
        let jumping = |this: &Self, id: ExprId| this.model.pool.ty(id) != Type::Boolean && this.only_jumps(id);
        let mut inner: FxHashSet<ExprId> = FxHashSet::default();
        for &id in &parts {
            if jumping(self, id) {
                let pool = &self.model.pool;
                pool.for_each_child(pool.node(id), |child| {
                    inner.insert(child);
                });
            }
        }
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for &id in parts.iter().filter(|id| !inner.contains(id)) {
            if jumping(self, id) {
                let unknown = self.unknown_for(id, origin);
                replaced.insert(id, self.model.pool.var(unknown));
            }
        }
        self.model
            .pool
            .rewrite(&[expression], |_, id, _| replaced.get(&id).copied())[0]
    }

    /// An unknown that equals an expression at all times.
    fn unknown_for(&mut self, expression: ExprId, origin: OriginId) -> VarId {
        if let Some(&known) = self.quantities.get(&expression) {
            return known;
        }
        let name = format!("${}", self.model.print(expression));
        let unknown = self.generated_variable(&name, Role::Continuous, Type::Real);
        let own = self.model.pool.var(unknown);
        let residual = self.model.pool.sub(own, expression);
        self.model.add_equation(residual, origin);
        self.quantities.insert(expression, unknown);
        unknown
    }

    /// Whether an expression is constant between events, but not at them.
    fn only_jumps(&self, expression: ExprId) -> bool {
        let pool = &self.model.pool;
        let mut jumps = false;
        let constant = pool.reachable(&[expression]).into_iter().all(|id| match pool.node(id) {
            Node::Time | Node::Pre { .. } => false,
            Node::Condition(_) => {
                jumps = true;
                true
            }
            Node::Var { var, .. } => {
                let role = self.model.variables[var].role;
                jumps |= matches!(role, Role::Discrete | Role::Input);
                role != Role::Continuous
            }
            _ => true,
        });
        constant && jumps
    }

    /// Whether an expression varies between events, and holds something that changes at events.
    fn varies_and_switches(&self, expression: ExprId) -> bool {
        let pool = &self.model.pool;
        let (mut varies, mut switches) = (false, false);
        for id in pool.reachable(&[expression]) {
            match pool.node(id) {
                Node::Condition(_) => switches = true,
                Node::Var { var, .. } => match self.model.variables[var].role {
                    Role::Continuous => varies = true,
                    Role::Discrete | Role::Input => switches = true,
                    Role::Parameter => {}
                },
                _ => {}
            }
        }
        varies && switches
    }

    fn builtin(&mut self, builtin: Builtin, args: &[FlatExpr], span: Span) -> ExprId {
        let unary = match builtin {
            Builtin::Abs => Some(UnaryFunction::Abs),
            Builtin::Sign => Some(UnaryFunction::Sign),
            Builtin::Sqrt => Some(UnaryFunction::Sqrt),
            Builtin::Sin => Some(UnaryFunction::Sin),
            Builtin::Cos => Some(UnaryFunction::Cos),
            Builtin::Tan => Some(UnaryFunction::Tan),
            Builtin::Asin => Some(UnaryFunction::Asin),
            Builtin::Acos => Some(UnaryFunction::Acos),
            Builtin::Atan => Some(UnaryFunction::Atan),
            Builtin::Sinh => Some(UnaryFunction::Sinh),
            Builtin::Cosh => Some(UnaryFunction::Cosh),
            Builtin::Tanh => Some(UnaryFunction::Tanh),
            Builtin::Exp => Some(UnaryFunction::Exp),
            Builtin::Log => Some(UnaryFunction::Log),
            Builtin::Log10 => Some(UnaryFunction::Log10),
            _ => None,
        };
        if let Some(op) = unary {
            let a = self.expr(&args[0]);
            return self.model.pool.unary(op, a);
        }
        match builtin {
            Builtin::Der => {
                let a = self.expr(&args[0]);
                match self.clock {
                    Some(part) => {
                        let origin = self.span_origin(span);
                        self.clocked_derivative(a, part, origin)
                    }
                    None => self.derivative(a, span),
                }
            }
            Builtin::Previous
            | Builtin::ClockedSample
            | Builtin::Hold
            | Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock
            | Builtin::Interval
            | Builtin::FirstTick => self.clock_operator(builtin, args),
            Builtin::Pre => {
                let a = self.without_substitution(&args[0]);
                self.left_limit(a)
            }
            Builtin::Edge => {
                let now = self.expr(&args[0]);
                let before = self.without_substitution(&args[0]);
                let before = self.left_limit(before);
                let fell = self.model.pool.not(before);
                self.model.pool.and(now, fell)
            }
            Builtin::Change => {
                let now = self.expr(&args[0]);
                self.check_changes_at_events(&args[0], span);
                let before = self.without_substitution(&args[0]);
                let before = self.left_limit(before);
                self.model.pool.binary(BinaryFunction::Ne, now, before)
            }
            Builtin::Sample => {
                let (start, interval) = (self.literal_expr(&args[0]), self.literal_expr(&args[1]));
                let text = format!("sample({}, {})", self.model.print(start), self.model.print(interval));
                let origin = self.span_origin(span);
                let condition = self
                    .model
                    .add_condition(ConditionKind::Sample { start, interval }, &text, origin);
                self.model.pool.condition(condition)
            }
            Builtin::Initial => self.model.pool.intern(Node::Initial),
            Builtin::Terminal => self.model.pool.intern(Node::Terminal),
            Builtin::NoEvent => self.literal_expr(&args[0]),
            // A function that is smooth enough for the integrators needs no event.
            Builtin::Smooth => match args[0].as_number() {
                Some(order) if order >= 1.0 => self.literal_expr(&args[1]),
                _ => self.expr(&args[1]),
            },
            Builtin::Homotopy => self.homotopy(args),
            Builtin::Delay => self.delay(args, span),
            Builtin::TransportedLeft => self.transported(args, 0, span),
            Builtin::TransportedRight => self.transported(args, 1, span),
            Builtin::SemiLinear => {
                let x = self.expr(&args[0]);
                let zero = self.model.pool.real(0.0);
                let condition = self.binary(BinaryOp::GreaterEqual, x, zero, span);
                let (up, down) = (self.expr(&args[1]), self.expr(&args[2]));
                let (up, down) = (self.model.pool.mul(up, x), self.model.pool.mul(down, x));
                self.model.pool.if_else(condition, up, down)
            }
            Builtin::Atan2 => self.two(BinaryFunction::Atan2, args),
            Builtin::Min => self.two(BinaryFunction::Min, args),
            Builtin::Max => self.two(BinaryFunction::Max, args),
            Builtin::Floor | Builtin::Integer => {
                let a = self.expr(&args[0]);
                self.floor(a, span)
            }
            Builtin::Ceil => {
                let a = self.expr(&args[0]);
                let negated = self.model.pool.neg(a);
                let floor = self.floor(negated, span);
                self.model.pool.neg(floor)
            }
            Builtin::Div | Builtin::Mod | Builtin::Rem => self.division(builtin, args, span),
            Builtin::Ordinal | Builtin::FromOrdinal => self.expr(&args[0]),
            Builtin::String => {
                let operation = written(self.flat, args[0].scalar_type(self.flat), &args[1..]);
                let value = self.expr(&args[0]);
                self.text_call(operation, &[value])
            }
            _ if let Some(operation) = text_builtin(builtin) => {
                let args: Vec<ExprId> = args.iter().map(|arg| self.expr(arg)).collect();
                self.text_call(operation, &args)
            }
            _ => {
                self.report(
                    Diagnostic::error(codes::E0501, span, format!("`{}` cannot be used here", builtin.name()))
                        .with_help("write the expression without it, or move it into a function"),
                );
                self.model.pool.real(0.0)
            }
        }
    }

    /// The actual expression. The simplified one is kept aside, unless the actual one is a name or a number: what
    /// stands for it elsewhere could not be told apart.
    fn homotopy(&mut self, args: &[FlatExpr]) -> ExprId {
        let actual = self.expr(&args[0]);
        let is_operation = matches!(
            self.model.pool.node(actual),
            Node::Unary(..) | Node::Binary(..) | Node::If(..) | Node::Call { .. }
        );
        if is_operation && let Some(simplified) = args.get(1) {
            // Without conditions of its own: it decides nothing.
            let simplified = self.literal_expr(simplified);
            self.homotopies.insert(actual, simplified);
        }
        actual
    }

    /// Gives equations with `homotopy(actual, simplified)` their simplified form, before they are split.
    pub(crate) fn simplify_homotopies(&mut self) {
        let simplified = std::mem::take(&mut self.homotopies);
        if simplified.is_empty() {
            return;
        }
        let model = &mut self.model;
        for equation in model.equations.iter_mut() {
            let replaced = |_: &mut ExprPool, id: ExprId, _| simplified.get(&id).copied();
            let other = model.pool.rewrite(&[equation.residual], replaced)[0];
            equation.simplified = (other != equation.residual).then_some(other);
        }
    }

    /// `change(x)` asks whether an event has changed x: nothing else may.
    fn check_changes_at_events(&mut self, operand: &FlatExpr, span: Span) {
        let FlatExpr::Variable(id) = operand else { return };
        if let Meaning::Variable(var) = self.meanings[*id]
            && self.model.variables[var].role == Role::Continuous
        {
            let name = self.flat.variables[*id].name.clone();
            self.report(
                Diagnostic::error(
                    codes::E0523,
                    span,
                    format!("`change({name})`, but `{name}` varies continuously"),
                )
                .with_help("compare it with a bound: `x > limit` generates an event where it is crossed"),
            );
        }
    }

    pub(crate) fn without_substitution(&mut self, expr: &FlatExpr) -> ExprId {
        let outer = self.substitution.take();
        let lowered = self.expr(expr);
        self.substitution = outer;
        lowered
    }

    /// `pre(e)`: every variable in `e` at its left limit.
    pub(crate) fn left_limit(&mut self, expr: ExprId) -> ExprId {
        self.model.pool.left_limit(expr, |_| true)
    }

    fn two(&mut self, op: BinaryFunction, args: &[FlatExpr]) -> ExprId {
        let (a, b) = (self.expr(&args[0]), self.expr(&args[1]));
        self.model.pool.binary(op, a, b)
    }

    fn division(&mut self, builtin: Builtin, args: &[FlatExpr], span: Span) -> ExprId {
        let (a, b) = (self.expr(&args[0]), self.expr(&args[1]));
        let plain = match builtin {
            Builtin::Div => BinaryFunction::Quotient,
            Builtin::Mod => BinaryFunction::Mod,
            _ => BinaryFunction::Rem,
        };
        if self.literal || !self.varies_between_events(a, b) {
            return self.model.pool.binary(plain, a, b);
        }
        let ratio = self.model.pool.div(a, b);
        let floor = self.floor(ratio, span);
        let quotient = if builtin == Builtin::Mod {
            floor
        } else {
            let negated = self.model.pool.neg(ratio);
            let below = self.floor(negated, span);
            let ceil = self.model.pool.neg(below);
            let zero = self.model.pool.real(0.0);
            let positive = self.binary(BinaryOp::GreaterEqual, ratio, zero, span);
            self.model.pool.if_else(positive, floor, ceil)
        };
        if builtin == Builtin::Div {
            return quotient;
        }
        let whole = self.model.pool.mul(quotient, b);
        self.model.pool.sub(a, whole)
    }

    /// `floor(x)` of a varying x is a discrete variable q that steps while x is outside of [q, q+1): by an equation with
    /// a memory and not by a when-clause, since x that was set onto a bound and moves on leaves twice at one time.
    fn floor(&mut self, x: ExprId, span: Span) -> ExprId {
        if self.literal || !self.varies_between_events(x, x) {
            return self.model.pool.unary(UnaryFunction::Floor, x);
        }
        // Named as users would write it: conditions speak of it.
        let name = format!("floor({})", self.model.print(x));
        if let Some(&known) = self.floors.get(&x) {
            return self.model.pool.var(known);
        }
        let q = self.generated_variable(&name, Role::Discrete, Type::Integer);
        self.floors.insert(x, q);
        let origin = self.span_origin(span);
        let pool = &mut self.model.pool;
        let before = pool.pre_var(q, 0);
        let one = pool.real(1.0);
        let next = pool.add(before, one);
        let previous = pool.sub(before, one);
        let floor = pool.unary(UnaryFunction::Floor, x);
        let initial = pool.intern(Node::Initial);
        let resolution = Some(FLOOR_RESOLUTION);
        let above = self.relation(Relation::GREATER_EQUAL, x, next, span, resolution);
        let below = self.relation(Relation::LESS, x, before, span, resolution);
        let pool = &mut self.model.pool;
        // The crossing is located to rounding: never step less than one.
        let up = pool.binary(BinaryFunction::Max, floor, next);
        let down = pool.binary(BinaryFunction::Min, floor, previous);
        let held = pool.if_else(below, down, before);
        let held = pool.if_else(above, up, held);
        let value = pool.if_else(initial, floor, held);
        let guard = pool.boolean(true);
        self.model.discrete.push(DiscreteEquation {
            target: q,
            value,
            guard,
            origin,
        });
        self.model.pool.var(q)
    }

    /// A hidden variable. Of equal names the later ones are numbered.
    pub(crate) fn generated_variable(&mut self, name: &str, role: Role, ty: Type) -> VarId {
        let used = self.generated.entry(name.to_owned()).or_insert(0);
        *used += 1;
        let name = match *used {
            1 => name.to_owned(),
            number => format!("{name}#{number}"),
        };
        let mut variable = Variable::new(&name, role, ty);
        variable.hidden = true;
        self.model.add_variable(variable)
    }

    fn delay(&mut self, args: &[FlatExpr], span: Span) -> ExprId {
        let expression = self.expr(&args[0]);
        let delay = self.expr(&args[1]);
        let max_delay = match args.get(2) {
            Some(bound) => self.literal_expr(bound),
            None => delay,
        };
        let name = format!("delay({}, {})", self.model.print(expression), self.model.print(delay));
        let output = self.generated_variable(&name, Role::Input, Type::Real);
        let origin = self.span_origin(span);
        self.model.delays.push(Delay {
            output,
            expression,
            delay,
            max_delay,
            origin,
        });
        self.model.pool.var(output)
    }

    /// One end of `spatialDistribution(…)`: where the flow enters it is what enters.
    fn transported(&mut self, args: &[FlatExpr], end: usize, span: Span) -> ExprId {
        let lowered: Vec<ExprId> = args[..3].iter().map(|arg| self.expr(arg)).collect();
        let forward = self.expr(&args[3]);
        let profile: Vec<ExprId> = args[4..].iter().map(|arg| self.literal_expr(arg)).collect();
        let (points, values) = profile.split_at(profile.len() / 2);
        let (inputs, position) = ([lowered[0], lowered[1]], lowered[2]);
        let same = |known: &&Transport| {
            known.inputs == inputs && known.position == position && known.points == points && known.values == values
        };
        let outputs = match self.model.transports.iter().find(same) {
            Some(known) => known.outputs,
            None => {
                let name = format!("spatialDistribution({})", self.model.print(position));
                let outputs = ["left", "right"]
                    .map(|end| self.generated_variable(&format!("{name}.{end}"), Role::Input, Type::Real));
                let origin = self.span_origin(span);
                self.model.transports.push(Transport {
                    outputs,
                    inputs,
                    position,
                    points: points.to_vec(),
                    values: values.to_vec(),
                    origin,
                });
                outputs
            }
        };
        let arrives = self.model.pool.var(outputs[end]);
        match end {
            0 => self.model.pool.if_else(forward, inputs[0], arrives),
            _ => self.model.pool.if_else(forward, arrives, inputs[1]),
        }
    }
}
