//! Clocked equations: what is computed at the ticks of each clock.
//!
//! The equations of a part are matched with its variables and ordered. What an equation gives explicitly is assigned,
//! what several give together is solved, each under the tick of the clock of the part. All parts of a model end up in one
//! order: a value that another clock reads at a coincident tick is computed before it is read.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{BipartiteBuilder, Column, Matcher, Matching, Row, block_triangular_order};
use saltus_lang::flat::{EquationBranch, EquationKind, FlatEquation, FlatExpr, ScalarType, VariableId, clocked_body};
use saltus_mdae::{
    Action, BinaryFunction, Clock, ConditionKind, DiscreteEquation, ExprId, Node, OriginId, Rational, Role, Type,
    UnaryFunction, VarId, When, WhenBranch,
};
use saltus_source::{Diagnostic, codes};

use crate::clocks::{BaseKind, Clocked, SolverMethod, Ticks};
use crate::{Lowering, Meaning};

/// `left = right` at the ticks of a part.
#[derive(Clone, Debug)]
pub(crate) struct ClockedEquation {
    pub part: usize,
    pub left: ExprId,
    pub right: ExprId,
    /// Whether it can be solved for what is in it; otherwise it defines a variable that stands alone on a side.
    pub is_real: bool,
    pub origin: OriginId,
}

/// A variable whose derivative is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Differentiated {
    pub part: usize,
    pub state: VarId,
    pub derivative: VarId,
    pub origin: OriginId,
}

/// What is known of the clocks while equations are lowered.
#[derive(Debug, Default)]
pub(crate) struct ClockedParts {
    pub equations: Vec<ClockedEquation>,
    actions: Vec<(usize, Action)>,
    differentiated: Vec<Differentiated>,
    /// The variables of each part that users declared.
    declared: Vec<Vec<VarId>>,
    /// Variables made for the clocked part, with the part they belong to.
    pub made: Vec<(usize, VarId)>,
    /// The tick of each clock.
    ticks: FxHashMap<(usize, Rational, Rational), ExprId>,
    /// The tick of each base clock of events or of variable interval, and the number of its ticks.
    bases: FxHashMap<usize, (ExprId, VarId)>,
    /// Whether each clock has ticked before.
    ticked: FxHashMap<(usize, Rational, Rational), VarId>,
    /// When each clock ticked last.
    last: FxHashMap<(usize, Rational, Rational), VarId>,
}

impl Lowering<'_> {
    /// The part a variable belongs to.
    pub(crate) fn part_of(&self, id: VariableId) -> Option<usize> {
        self.clocking.as_ref().and_then(|clocking| clocking.variables[id])
    }

    /// Lowers the clocked equations and algorithm sections.
    pub(crate) fn lower_clocked(&mut self) {
        let Some(clocking) = self.clocking.clone() else { return };
        let flat = self.flat;
        let always = self.model.pool.boolean(true);
        self.clocked.declared = vec![Vec::new(); clocking.parts.len()];
        for (id, variable) in flat.variables.iter_enumerated() {
            if let (Some(part), Meaning::Variable(var), true) =
                (clocking.variables[id], self.meanings[id], variable.is_unknown())
            {
                self.clocked.declared[part].push(var);
            }
        }
        for (equation, clocked) in flat.equations.iter().zip(&clocking.equations) {
            if let Clocked::Part(part) = *clocked {
                let equations = self.in_part(part, |this| this.clocked_equations(equation, part, always));
                self.clocked.equations.extend(equations);
            }
        }
        for (section, clocked) in flat.algorithms.iter().zip(&clocking.algorithms) {
            if let Clocked::Part(part) = *clocked {
                let (assigned, actions) = self.in_part(part, |this| this.clocked_algorithm(section));
                for (var, value, origin) in assigned {
                    let left = self.model.pool.var(var);
                    self.clocked.equations.push(ClockedEquation {
                        part,
                        left,
                        right: value,
                        is_real: false,
                        origin,
                    });
                }
                self.clocked
                    .actions
                    .extend(actions.into_iter().map(|action| (part, action)));
            }
        }
        self.integrate();
        let unknowns: Vec<Vec<VarId>> = (0..clocking.parts.len()).map(|part| self.unknowns_of(part)).collect();
        let mut equations: Vec<Vec<ClockedEquation>> = vec![Vec::new(); clocking.parts.len()];
        for equation in std::mem::take(&mut self.clocked.equations) {
            equations[equation.part].push(equation);
        }
        for (part, equations) in equations.iter().enumerate() {
            self.solve_part(part, equations, &unknowns[part]);
        }
        for (part, action) in std::mem::take(&mut self.clocked.actions) {
            let origin = match &action {
                Action::Assert(assertion) => assertion.origin,
                Action::Terminate { origin, .. } => *origin,
                _ => OriginId(0),
            };
            self.at_ticks(part, action, origin);
        }
        self.describe_clocks(&unknowns);
    }

    /// The variables that the equations of a part determine.
    pub(crate) fn unknowns_of(&self, part: usize) -> Vec<VarId> {
        let declared = self.clocked.declared[part].iter();
        let made = self.clocked.made.iter().filter(|(of, _)| *of == part);
        declared.chain(made.map(|(_, var)| var)).copied().collect()
    }

    /// In a clocked equation nothing generates events.
    fn in_part<T>(&mut self, part: usize, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.clock.replace(part), std::mem::replace(&mut self.literal, true));
        let lowered = lower(self);
        (self.clock, self.literal) = outer;
        lowered
    }

    fn clocked_equations(&mut self, equation: &FlatEquation, part: usize, guard: ExprId) -> Vec<ClockedEquation> {
        let origin = self.origin(equation.provenance);
        match &equation.kind {
            EquationKind::Equal(lhs, rhs) => {
                let is_real = [lhs, rhs]
                    .into_iter()
                    .any(|side| side.scalar_type(self.flat) == ScalarType::Real);
                let (left, right) = self.sides(lhs, rhs);
                vec![ClockedEquation {
                    part,
                    left,
                    right,
                    is_real,
                    origin,
                }]
            }
            EquationKind::If { branches, otherwise } => self.clocked_if(branches, otherwise, part, guard, origin),
            EquationKind::When { branches } => {
                let body = clocked_body(branches, self.flat).unwrap_or(&[]);
                let lowered = body.iter().map(|inner| self.clocked_equations(inner, part, guard));
                lowered.collect::<Vec<_>>().into_iter().flatten().collect()
            }
            EquationKind::Assert {
                condition,
                message,
                level,
            } => {
                let assertion = self.assertion(condition, message, *level, guard, origin);
                self.clocked.actions.push((part, Action::Assert(assertion)));
                Vec::new()
            }
            EquationKind::NoReturnCall(call) => {
                let assertion = self.call_for_effect(call, guard, origin);
                self.clocked.actions.push((part, Action::Assert(assertion)));
                Vec::new()
            }
            EquationKind::Terminate(message) => {
                let message = self.literal_expr(message);
                let action = Action::Terminate { guard, message, origin };
                self.clocked.actions.push((part, action));
                Vec::new()
            }
            EquationKind::Reinit(..) => {
                let span = self.span_of(origin);
                self.report(
                    Diagnostic::error(codes::E0531, span, "`reinit` in a clocked equation")
                        .with_help("a clocked variable gets its value by an equation at each tick"),
                );
                Vec::new()
            }
        }
    }

    /// Branches that say the same variables, or as many equations, become equations with if-expressions.
    fn clocked_if(
        &mut self,
        branches: &[EquationBranch],
        otherwise: &[FlatEquation],
        part: usize,
        guard: ExprId,
        origin: OriginId,
    ) -> Vec<ClockedEquation> {
        let mut rest = guard;
        let mut bodies = Vec::new();
        for branch in branches {
            let condition = self.expr(&branch.condition);
            let active = self.model.pool.and(rest, condition);
            let body: Vec<ClockedEquation> = self.clocked_body_equations(&branch.body, part, active);
            let negated = self.model.pool.not(condition);
            rest = self.model.pool.and(rest, negated);
            bodies.push((condition, body));
        }
        let last = self.clocked_body_equations(otherwise, part, rest);
        if bodies.iter().any(|(_, body)| body.len() != last.len()) {
            let span = self.span_of(origin);
            self.report(
                Diagnostic::error(
                    codes::E0533,
                    span,
                    "the branches of this clocked if-equation differ in number",
                )
                .with_help("say in each branch what the same variables are"),
            );
            self.unclear.extend(self.clocked.declared[part].clone());
            return Vec::new();
        }
        let mut joined = Vec::new();
        for (at, equation) in last.into_iter().enumerate() {
            let same: Vec<Option<ClockedEquation>> = bodies
                .iter()
                .map(|(_, body)| body.iter().find(|other| other.left == equation.left).cloned())
                .collect();
            let is_name = matches!(self.model.pool.node(equation.left), Node::Var { .. });
            let by_name = is_name && same.iter().all(Option::is_some);
            let mut result = equation.clone();
            if !by_name {
                result.right = self.model.pool.sub(equation.left, equation.right);
                result.left = self.model.pool.real(0.0);
            }
            for ((condition, body), named) in bodies.iter().zip(same).rev() {
                let other = match named {
                    Some(named) if by_name => named.right,
                    _ => self.model.pool.sub(body[at].left, body[at].right),
                };
                result.is_real |= body[at].is_real;
                result.right = self.model.pool.if_else(*condition, other, result.right);
            }
            joined.push(result);
        }
        joined
    }

    fn clocked_body_equations(&mut self, body: &[FlatEquation], part: usize, guard: ExprId) -> Vec<ClockedEquation> {
        let lowered = body.iter().map(|inner| self.clocked_equations(inner, part, guard));
        lowered.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// A variable of the clocked part that no user wrote.
    pub(crate) fn clocked_variable(&mut self, name: &str, ty: Type, start: f64) -> VarId {
        let var = self.generated_variable(name, Role::Discrete, ty);
        let start = self.constant(start, ty);
        let variable = &mut self.model.variables[var];
        (variable.start, variable.fixed) = (Some(start), true);
        var
    }

    /// `der(x)` in a clocked equation.
    pub(crate) fn clocked_derivative(&mut self, expression: ExprId, part: usize, origin: OriginId) -> ExprId {
        let state = match self.model.pool.node(expression) {
            Node::Var { var, order: 0 } => var,
            _ => {
                let name = format!("${}", self.model.print(expression));
                let named = self.clocked_variable(&name, Type::Real, 0.0);
                let left = self.model.pool.var(named);
                self.clocked.made.push((part, named));
                self.clocked.equations.push(ClockedEquation {
                    part,
                    left,
                    right: expression,
                    is_real: true,
                    origin,
                });
                named
            }
        };
        let known = self.clocked.differentiated.iter().find(|known| known.state == state);
        let derivative = match known {
            Some(known) => known.derivative,
            None => {
                let name = format!("der({})", self.model.variables[state].name);
                let derivative = self.clocked_variable(&name, Type::Real, 0.0);
                self.clocked.made.push((part, derivative));
                self.clocked.differentiated.push(Differentiated {
                    part,
                    state,
                    derivative,
                    origin,
                });
                derivative
            }
        };
        self.model.pool.var(derivative)
    }

    /// The formulas of the solver methods (16.8.2). The first tick takes the start values.
    fn integrate(&mut self) {
        let Some(clocking) = self.clocking.clone() else { return };
        for (part, known) in clocking.parts.iter().enumerate() {
            let all = self.clocked.differentiated.iter();
            let states: Vec<Differentiated> = all.filter(|state| state.part == part).copied().collect();
            let Some(method) = known.method.filter(|_| !states.is_empty()) else {
                continue;
            };
            let is_implicit = matches!(method, SolverMethod::ImplicitEuler | SolverMethod::ImplicitTrapezoid);
            let states = if is_implicit {
                states
            } else {
                self.independent_states(part, states)
            };
            let interval = self.interval_of(part);
            let first = self.first_tick(part);
            let slopes = match method {
                SolverMethod::ExplicitMidPoint2 => self.mid_point(part, &states, interval),
                SolverMethod::ExplicitRungeKutta4 => self.runge_kutta(part, &states, interval),
                _ => states.iter().map(|state| self.slope(method, state)).collect(),
            };
            for (state, slope) in states.iter().zip(slopes) {
                let pool = &mut self.model.pool;
                let (left, before) = (pool.var(state.state), pool.pre_var(state.state, 0));
                let step = pool.mul(interval, slope);
                let stepped = pool.add(before, step);
                let right = pool.if_else(first, before, stepped);
                self.clocked.equations.push(ClockedEquation {
                    part,
                    left,
                    right,
                    is_real: true,
                    origin: state.origin,
                });
            }
        }
    }

    /// The slope of a step without stages in between.
    fn slope(&mut self, method: SolverMethod, state: &Differentiated) -> ExprId {
        let pool = &mut self.model.pool;
        let (now, before) = (pool.var(state.derivative), pool.pre_var(state.derivative, 0));
        match method {
            SolverMethod::ImplicitEuler => now,
            SolverMethod::ImplicitTrapezoid => {
                let (sum, half) = (pool.add(now, before), pool.real(0.5));
                pool.mul(half, sum)
            }
            _ => before,
        }
    }

    fn mid_point(&mut self, part: usize, states: &[Differentiated], interval: ExprId) -> Vec<ExprId> {
        let before = self.slopes_before(states);
        let mut stages = Stages::new(self, part, states);
        stages.slopes(self, &before, interval, 0.5, true)
    }

    fn runge_kutta(&mut self, part: usize, states: &[Differentiated], interval: ExprId) -> Vec<ExprId> {
        let first = self.slopes_before(states);
        let mut stages = Stages::new(self, part, states);
        let second = stages.slopes(self, &first, interval, 0.5, true);
        let third = stages.slopes(self, &second, interval, 0.5, true);
        let fourth = stages.slopes(self, &third, interval, 1.0, false);
        let pool = &mut self.model.pool;
        let mut mean = Vec::new();
        for at in 0..states.len() {
            let middle = pool.add(second[at], third[at]);
            let (two, sixth) = (pool.real(2.0), pool.real(1.0 / 6.0));
            let middle = pool.mul(two, middle);
            let ends = pool.add(first[at], fourth[at]);
            let sum = pool.add(ends, middle);
            mean.push(pool.mul(sixth, sum));
        }
        mean
    }

    fn slopes_before(&mut self, states: &[Differentiated]) -> Vec<ExprId> {
        let pool = &mut self.model.pool;
        states.iter().map(|state| pool.pre_var(state.derivative, 0)).collect()
    }

    fn key(&self, part: usize) -> Option<(usize, Rational, Rational)> {
        let part = &self.clocking.as_ref()?.parts[part];
        let Ticks { interval, shift } = part.ticks;
        Some((part.base, interval, shift))
    }

    /// True at the ticks of a part.
    fn tick(&mut self, part: usize) -> ExprId {
        let never = self.model.pool.boolean(false);
        let Some(key) = self.key(part) else { return never };
        if let Some(&known) = self.clocked.ticks.get(&key) {
            return known;
        }
        let (base, interval, shift) = key;
        let Some(clocking) = self.clocking.clone() else {
            return never;
        };
        let span = clocking.bases[base].span;
        let tick = match clocking.bases[base].kind {
            BaseKind::Periodic => {
                let origin = self.span_origin(span);
                let text = format!("a tick every {interval} s");
                let condition = self
                    .model
                    .add_condition(ConditionKind::Tick { shift, interval }, &text, origin);
                self.model.pool.condition(condition)
            }
            _ => {
                let (tick, count) = self.base_tick(base);
                self.every(tick, count, interval, shift)
            }
        };
        self.clocked.ticks.insert(key, tick);
        tick
    }

    /// Every so manieth tick of a base clock, of which `count` is the number so far.
    fn every(&mut self, tick: ExprId, count: VarId, interval: Rational, shift: Rational) -> ExprId {
        if (interval, shift) == (Rational::ONE, Rational::ZERO) {
            return tick;
        }
        let pool = &mut self.model.pool;
        let count = pool.var(count);
        let first = pool.integer(shift.numerator().saturating_add(1));
        let (zero, factor) = (pool.integer(0), pool.integer(interval.numerator()));
        let since = pool.sub(count, first);
        let rest = pool.binary(BinaryFunction::Mod, since, factor);
        let (due, started) = (
            pool.binary(BinaryFunction::Eq, rest, zero),
            pool.binary(BinaryFunction::Ge, since, zero),
        );
        let both = pool.and(started, due);
        pool.and(tick, both)
    }

    /// The tick of a base clock that is not periodic, and the number of its ticks.
    fn base_tick(&mut self, base: usize) -> (ExprId, VarId) {
        if let Some(&known) = self.clocked.bases.get(&base) {
            return known;
        }
        let count = self.clocked_variable(&format!("$ticks {base}"), Type::Integer, 0.0);
        let Some(clocking) = self.clocking.clone() else {
            return (self.model.pool.boolean(false), count);
        };
        let origin = self.span_origin(clocking.bases[base].span);
        let tick = match clocking.bases[base].kind {
            BaseKind::Variable(interval, resolution) => {
                let interval = self.expr(interval);
                let kind = ConditionKind::Timer {
                    interval,
                    resolution: u32::try_from(resolution).unwrap_or(1),
                };
                let condition = self.model.add_condition(kind, "a tick of variable interval", origin);
                self.model.pool.condition(condition)
            }
            BaseKind::Event(condition, _) => {
                // The clock ticks one event iteration later (16.3): what it samples is what made it tick.
                let outer = (self.clock.take(), std::mem::replace(&mut self.literal, false));
                let lowered = self.expr(condition);
                let lowered = self.with_events(lowered, condition, origin, "the condition of a clock");
                (self.clock, self.literal) = outer;
                let event = self.clocked_variable(&format!("$event {base}"), Type::Boolean, 0.0);
                self.model.variables[event].fixed = false;
                let guard = self.model.pool.boolean(true);
                self.model.discrete.push(DiscreteEquation {
                    target: event,
                    value: lowered,
                    guard,
                    origin,
                });
                self.model.pool.pre_var(event, 0)
            }
            BaseKind::Periodic => self.model.pool.boolean(false),
        };
        let pool = &mut self.model.pool;
        let (before, one) = (pool.pre_var(count, 0), pool.integer(1));
        let value = pool.add(before, one);
        self.model.whens.push(When {
            branches: vec![WhenBranch {
                conditions: vec![tick],
                actions: vec![Action::Assign {
                    target: count,
                    value,
                    origin,
                }],
            }],
            origin,
        });
        self.clocked.bases.insert(base, (tick, count));
        (tick, count)
    }

    fn at_ticks(&mut self, part: usize, action: Action, origin: OriginId) {
        let tick = self.tick(part);
        self.model.whens.push(When {
            branches: vec![WhenBranch {
                conditions: vec![tick],
                actions: vec![action],
            }],
            origin,
        });
    }

    /// `firstTick()`
    pub(crate) fn first_tick(&mut self, part: usize) -> ExprId {
        let Some(key) = self.key(part) else {
            return self.model.pool.boolean(true);
        };
        let ticked = match self.clocked.ticked.get(&key) {
            Some(&known) => known,
            None => {
                let name = format!("$ticked {}", self.clocked.ticked.len());
                let ticked = self.clocked_variable(&name, Type::Boolean, 0.0);
                self.clocked.ticked.insert(key, ticked);
                let value = self.model.pool.boolean(true);
                let origin = self.part_origin(part);
                let action = Action::Assign {
                    target: ticked,
                    value,
                    origin,
                };
                self.at_ticks(part, action, origin);
                ticked
            }
        };
        let before = self.model.pool.pre_var(ticked, 0);
        self.model.pool.not(before)
    }

    /// `interval()`: seconds from the tick before.
    pub(crate) fn interval_of(&mut self, part: usize) -> ExprId {
        let Some(clocking) = self.clocking.clone() else {
            return self.model.pool.real(0.0);
        };
        let known = &clocking.parts[part];
        let start = match clocking.bases[known.base].kind {
            BaseKind::Periodic => return self.model.pool.real(known.ticks.interval.to_f64()),
            BaseKind::Event(_, start) => self.literal_expr(start),
            BaseKind::Variable(interval, resolution) => {
                let interval = self.expr(interval);
                let pool = &mut self.model.pool;
                let before = pool.left_limit(interval, |_| true);
                let resolution = pool.real(resolution as f64);
                pool.div(before, resolution)
            }
        };
        let Some(key) = self.key(part) else { return start };
        let last = match self.clocked.last.get(&key) {
            Some(&known) => known,
            None => {
                let name = format!("$last tick {}", self.clocked.last.len());
                let last = self.clocked_variable(&name, Type::Real, 0.0);
                self.clocked.last.insert(key, last);
                let value = self.model.pool.time();
                let origin = self.part_origin(part);
                let action = Action::Assign {
                    target: last,
                    value,
                    origin,
                };
                self.at_ticks(part, action, origin);
                last
            }
        };
        let first = self.first_tick(part);
        let pool = &mut self.model.pool;
        let (time, before) = (pool.time(), pool.pre_var(last, 0));
        let since = pool.sub(time, before);
        pool.if_else(first, start, since)
    }

    fn part_origin(&mut self, part: usize) -> OriginId {
        match self.clocking.as_ref().map(|clocking| clocking.parts[part].span) {
            Some(span) => self.span_origin(span),
            None => OriginId(0),
        }
    }

    /// Matches the equations of a part with its variables and writes down what is computed, block by block.
    fn solve_part(&mut self, part: usize, equations: &[ClockedEquation], unknowns: &[VarId]) {
        let column: FxHashMap<VarId, usize> = unknowns.iter().enumerate().map(|(at, &var)| (var, at)).collect();
        let mut builder = BipartiteBuilder::new(unknowns.len());
        let mut matching = Matching::empty(equations.len(), unknowns.len());
        let mut taken: FxHashSet<usize> = FxHashSet::default();
        let mut dependencies = BipartiteBuilder::new(unknowns.len());
        for (at, equation) in equations.iter().enumerate() {
            let readings = self.clocked_readings(equation);
            let explicit: Vec<usize> = readings
                .iter()
                .filter_map(|(var, _)| column.get(var).copied())
                .collect();
            let mut all = self.occurring(equation, &column);
            let row = |columns: &[usize]| columns.iter().map(|&at| Column::from_index(at)).collect::<Vec<_>>();
            let solvable: Vec<usize> = if equation.is_real {
                let real = |at: &usize| self.model.variables[unknowns[*at]].ty == Type::Real;
                all.iter().copied().filter(real).collect()
            } else {
                sorted(explicit.clone())
            };
            builder.push_row(row(&solvable));
            all.extend(&explicit);
            dependencies.push_row(row(&sorted(all)));
            if let Some(&first) = explicit.iter().find(|at| solvable.contains(at) && !taken.contains(at)) {
                taken.insert(first);
                matching.insert(Row::from_index(at), Column::from_index(first));
            }
        }
        let graph = builder.finish();
        Matcher::new().complete(&graph, &mut matching);
        if !matching.is_perfect() {
            self.unclear.extend(unknowns);
            return self.report_unmatched(part, equations, unknowns, &matching);
        }
        let blocks = block_triangular_order(&dependencies.finish(), &matching);
        for block in blocks.iter() {
            let rows: Vec<(&ClockedEquation, VarId)> = block
                .iter()
                .filter_map(|&row| {
                    let column = matching.column_of(row)?;
                    Some((&equations[row.index()], unknowns[column.index()]))
                })
                .collect();
            self.solve_block(part, &rows);
        }
    }

    /// The unknowns of a part that occur in an equation.
    fn occurring(&self, equation: &ClockedEquation, column: &FxHashMap<VarId, usize>) -> Vec<usize> {
        let nodes = self.model.pool.reachable(&[equation.left, equation.right]);
        let found = nodes.into_iter().filter_map(|id| match self.model.pool.node(id) {
            Node::Var { var, .. } => column.get(&var).copied(),
            _ => None,
        });
        sorted(found.collect())
    }

    /// The ways an equation can be read as a definition: the variable and its value.
    fn clocked_readings(&mut self, equation: &ClockedEquation) -> Vec<(VarId, ExprId)> {
        let mut found = Vec::new();
        for (this, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
            let reading = match self.model.pool.node(this) {
                Node::Var { var, order: 0 } => Some((var, other)),
                Node::Unary(op @ (UnaryFunction::Not | UnaryFunction::Neg), inner) => match self.model.pool.node(inner)
                {
                    Node::Var { var, order: 0 } => Some((var, self.model.pool.unary(op, other))),
                    _ => None,
                },
                _ => None,
            };
            found.extend(reading);
        }
        found
    }

    fn reads(&self, value: ExprId, var: VarId) -> bool {
        let occurring = self.model.pool.occurrences(value);
        occurring.iter().any(|known| known.var == var)
    }

    fn solve_block(&mut self, part: usize, rows: &[(&ClockedEquation, VarId)]) {
        if let [(equation, var)] = rows {
            let reading = self
                .clocked_readings(equation)
                .into_iter()
                .find(|(target, _)| target == var);
            let value = match reading {
                Some((_, value)) if !self.reads(value, *var) => Some(value),
                _ => self.isolated(equation, *var),
            };
            if let Some(value) = value {
                let origin = equation.origin;
                let action = Action::Assign {
                    target: *var,
                    value,
                    origin,
                };
                return self.at_ticks(part, action, origin);
            }
        }
        let origin = rows.first().map_or(OriginId(0), |(equation, _)| equation.origin);
        let all_real = rows
            .iter()
            .all(|(equation, var)| equation.is_real && self.model.variables[*var].ty == Type::Real);
        if !all_real {
            // It is reported once that they are not defined.
            self.unclear.extend(rows.iter().map(|(_, var)| *var));
            return self.report_clocked_circle(rows, origin);
        }
        let unknowns: Vec<VarId> = rows.iter().map(|(_, var)| *var).collect();
        let mut residuals = Vec::new();
        let mut jacobian = Vec::new();
        for (equation, _) in rows {
            let residual = self.model.pool.sub(equation.left, equation.right);
            let slopes = unknowns
                .iter()
                .map(|&var| self.model.pool.partial_derivative(residual, var, 0));
            jacobian.extend(slopes);
            residuals.push(residual);
        }
        let action = Action::Solve {
            unknowns,
            residuals,
            jacobian,
            origin,
        };
        self.at_ticks(part, action, origin);
    }

    /// The value of a variable that occurs linearly, with a constant factor.
    fn isolated(&mut self, equation: &ClockedEquation, var: VarId) -> Option<ExprId> {
        if !equation.is_real || self.model.variables[var].ty != Type::Real {
            return None;
        }
        let pool = &mut self.model.pool;
        let residual = pool.sub(equation.left, equation.right);
        let slope = pool.partial_derivative(residual, var, 0);
        pool.constant(slope)
            .filter(|&slope| slope != 0.0 && slope.is_finite())?;
        let zero = pool.real(0.0);
        let rest = pool.rewrite(&[residual], |_, _, node| {
            (node == Node::Var { var, order: 0 }).then_some(zero)
        })[0];
        let quotient = pool.div(rest, slope);
        Some(pool.neg(quotient))
    }

    fn report_clocked_circle(&mut self, rows: &[(&ClockedEquation, VarId)], origin: OriginId) {
        let names: Vec<String> = rows
            .iter()
            .map(|(_, var)| format!("`{}`", self.model.variables[*var].name))
            .collect();
        let span = self.span_of(origin);
        let message = match &names[..] {
            [name] => format!("at a tick {name} is defined by itself"),
            _ => format!("at a tick {} are defined by each other", names.join(", ")),
        };
        self.report(
            Diagnostic::error(codes::E0533, span, message)
                .with_note("a circle is solved where all in it are Real")
                .with_help("write `previous(v)` where the value of the tick before is meant"),
        );
    }

    fn report_unmatched(
        &mut self,
        part: usize,
        equations: &[ClockedEquation],
        unknowns: &[VarId],
        matching: &Matching,
    ) {
        const NAMED: usize = 5;
        let names: Vec<String> = matching
            .unmatched_columns()
            .take(NAMED)
            .map(|column| format!("`{}`", self.model.variables[unknowns[column.index()]].name))
            .collect();
        let surplus: Vec<OriginId> = matching
            .unmatched_rows()
            .take(NAMED)
            .map(|row| equations[row.index()].origin)
            .collect();
        let method = self.clocking.as_ref().and_then(|clocking| clocking.parts[part].method);
        let explicit = matches!(method, Some(method) if !matches!(method, SolverMethod::ImplicitEuler | SolverMethod::ImplicitTrapezoid));
        let place = match (surplus.first(), self.clocking.as_ref()) {
            (Some(&origin), _) => self.span_of(origin),
            (None, Some(clocking)) => clocking.parts[part].span,
            _ => return,
        };
        let message = match (&names[..], &surplus[..]) {
            ([], _) => "this clocked equation determines nothing that others do not".to_owned(),
            (names, []) => format!("no clocked equation determines {}", names.join(", ")),
            (names, _) => format!("this clocked equation cannot determine {}", names.join(", ")),
        };
        let mut diagnostic = Diagnostic::error(codes::E0533, place, message);
        if explicit {
            diagnostic = diagnostic
                .with_note("an explicit method needs the derivatives of constraints between states, and sampled values have none")
                .with_help("use the solver method \"ImplicitEuler\"");
        } else {
            diagnostic = diagnostic.with_help("give the partition as many equations as it has variables");
        }
        self.report(diagnostic);
    }

    /// Writes down which variables belong to which clock.
    fn describe_clocks(&mut self, unknowns: &[Vec<VarId>]) {
        let Some(clocking) = self.clocking.clone() else { return };
        let mut places: FxHashMap<(usize, Rational, Rational), usize> = FxHashMap::default();
        for (part, variables) in unknowns.iter().enumerate() {
            let Some(key) = self.key(part) else { continue };
            let known = &clocking.parts[part];
            let at = match places.get(&key) {
                Some(&at) => at,
                None => {
                    let origin = self.span_origin(known.span);
                    places.insert(key, self.model.clocks.len());
                    self.model.clocks.push(Clock {
                        base: known.base as u32,
                        kind: clocking.bases[known.base].kind.kind(),
                        interval: known.ticks.interval,
                        shift: known.ticks.shift,
                        variables: Vec::new(),
                        origin,
                    });
                    self.model.clocks.len() - 1
                }
            };
            self.model.clocks[at].variables.extend(variables);
        }
    }

    /// What `sample`, `hold` and the other operators on clocks are in an equation.
    pub(crate) fn clock_operator(&mut self, builtin: saltus_lang::flat::Builtin, args: &[FlatExpr]) -> ExprId {
        use saltus_lang::flat::Builtin;
        match (builtin, self.clock) {
            (Builtin::Previous, _) => match self.without_substitution(&args[0]) {
                value if matches!(self.model.pool.node(value), Node::Var { .. }) => self.left_limit(value),
                value => value,
            },
            (Builtin::ClockedSample, _) => {
                let outer = self.clock.take();
                let value = self.literal_expr(&args[0]);
                self.clock = outer;
                self.left_limit(value)
            }
            (Builtin::Interval, Some(part)) => self.interval_of(part),
            (Builtin::FirstTick, Some(part)) => self.first_tick(part),
            // What another clock computed, now or at its last tick: it is kept until the next.
            (_, _) if !args.is_empty() => self.expr(&args[0]),
            _ => self.model.pool.real(0.0),
        }
    }
}

/// The equations of a part once more at points between two ticks.
struct Stages {
    part: usize,
    states: Vec<Differentiated>,
    equations: Vec<ClockedEquation>,
    /// The variables of the part other than states.
    variables: FxHashSet<VarId>,
    /// What the part reads of others, with the variable that keeps it.
    inputs: FxHashMap<Node, VarId>,
    count: u32,
}

impl Stages {
    fn new(lowering: &mut Lowering<'_>, part: usize, states: &[Differentiated]) -> Self {
        let all = lowering.clocked.equations.iter();
        let equations: Vec<ClockedEquation> = all.filter(|equation| equation.part == part).cloned().collect();
        let own = lowering.unknowns_of(part);
        let is_state = |var: &VarId| states.iter().any(|state| state.state == *var);
        let roots: Vec<ExprId> = equations
            .iter()
            .flat_map(|equation| [equation.left, equation.right])
            .collect();
        let mut inputs: FxHashMap<Node, VarId> = FxHashMap::default();
        for id in lowering.model.pool.reachable(&roots) {
            let node = lowering.model.pool.node(id);
            let (Node::Var { var, .. } | Node::Pre { var, .. }) = node else {
                continue;
            };
            if own.contains(&var) || lowering.model.variables[var].role == Role::Parameter {
                continue;
            }
            let name = format!("$input {}", lowering.model.print(id));
            let ty = lowering.model.variables[var].ty;
            let kept = lowering.clocked_variable(&name, ty, 0.0);
            lowering.clocked.made.push((part, kept));
            inputs.insert(node, kept);
            let left = lowering.model.pool.var(kept);
            lowering.clocked.equations.push(ClockedEquation {
                part,
                left,
                right: id,
                is_real: ty == Type::Real,
                origin: states[0].origin,
            });
        }
        Stages {
            part,
            states: states.to_vec(),
            equations,
            variables: own.into_iter().filter(|var| !is_state(var)).collect(),
            inputs,
            count: 0,
        }
    }

    /// The derivatives where the states have gone a part of the interval with the given slopes. In the middle of it
    /// inputs are the mean of both ends, or what they were if they are not Real.
    fn slopes(
        &mut self,
        lowering: &mut Lowering<'_>,
        slopes: &[ExprId],
        interval: ExprId,
        gone: f64,
        in_middle: bool,
    ) -> Vec<ExprId> {
        self.count += 1;
        let mut copies: FxHashMap<VarId, ExprId> = FxHashMap::default();
        let mut variables: Vec<VarId> = self.variables.iter().copied().collect();
        variables.sort_unstable();
        for var in variables {
            let variable = lowering.model.variables[var].clone();
            let name = format!("$stage {} {}", self.count, variable.name);
            let copy = lowering.clocked_variable(&name, variable.ty, 0.0);
            lowering.model.variables[copy].start = variable.start;
            lowering.clocked.made.push((self.part, copy));
            copies.insert(var, lowering.model.pool.var(copy));
        }
        for (state, &slope) in self.states.iter().zip(slopes) {
            let pool = &mut lowering.model.pool;
            let (before, share) = (pool.pre_var(state.state, 0), pool.real(gone));
            let step = pool.mul(interval, slope);
            let step = pool.mul(share, step);
            copies.insert(state.state, pool.add(before, step));
        }
        let mut replaced: FxHashMap<Node, ExprId> = FxHashMap::default();
        let mut inputs: Vec<(Node, VarId)> = self.inputs.iter().map(|(node, kept)| (*node, *kept)).collect();
        inputs.sort_unstable_by_key(|(_, kept)| *kept);
        for (node, kept) in inputs {
            let is_real = lowering.model.variables[kept].ty == Type::Real;
            let pool = &mut lowering.model.pool;
            let (now, before) = (pool.var(kept), pool.pre_var(kept, 0));
            let value = match (in_middle, is_real) {
                (false, _) => now,
                (true, false) => before,
                (true, true) => {
                    let (sum, half) = (pool.add(now, before), pool.real(0.5));
                    pool.mul(half, sum)
                }
            };
            replaced.insert(node, value);
        }
        if in_middle {
            let pool = &mut lowering.model.pool;
            let (time, half) = (pool.time(), pool.real(0.5));
            let past = pool.mul(half, interval);
            replaced.insert(Node::Time, pool.sub(time, past));
        }
        for equation in &self.equations {
            let sides = lowering
                .model
                .pool
                .rewrite(&[equation.left, equation.right], |_, _, node| match node {
                    Node::Var { var, order: 0 } if copies.contains_key(&var) => copies.get(&var).copied(),
                    _ => replaced.get(&node).copied(),
                });
            lowering.clocked.equations.push(ClockedEquation {
                left: sides[0],
                right: sides[1],
                ..equation.clone()
            });
        }
        self.states.iter().map(|state| copies[&state.derivative]).collect()
    }
}

fn sorted(mut list: Vec<usize>) -> Vec<usize> {
    list.sort_unstable();
    list.dedup();
    list
}
