//! Conditions at run time: their functions, their tolerance bands, and which of them are decided when.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_codegen::{KernelCache, KernelSpec, Leaf};
use saltus_mdae::{
    Action, BinaryFunction, ConditionId, ConditionKind, Derivative, ExprId, ExprPool, IndexVec, Mdae, Node, Role,
    UnaryFunction, VarId,
};

use crate::error::Failure;
use crate::events::scale::Scales;
use crate::kernel::Bound;
use crate::memory::Memory;

/// Derivatives of a condition function that may decide its sign where the value is zero.
pub(crate) const SIGN_ORDERS: u16 = 4;

/// When a condition is decided during the search for the next mode (semantics of events, steps 2 and 3).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Decided {
    /// By time and discrete values alone.
    ByTime,
    /// At the left limits: the function holds `pre(…)` values only.
    ByLeftLimits,
    /// At the left limits, because it feeds only when-clauses or Booleans with a memory (latches).
    AsLatch,
    /// By the right limits of a candidate mode.
    ByCandidate,
    /// A time event `sample(…)`.
    BySample,
}

/// One derivative of a condition function: its value and gradient.
#[derive(Clone, Debug)]
struct Level {
    bound: Bound,
    /// Leaves of the gradient, in the order of outputs 1….
    leaves: Vec<Derivative>,
    by_time: bool,
}

/// A relation at run time.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    /// When it is decided.
    pub decided: Decided,
    /// Whether zero counts as true (`>=`).
    pub holds_at_zero: bool,
    /// Whether it switches equations: reached from guards, residuals or assertions without a memory in between.
    pub switches_equations: bool,
    /// Whether it is a latch that switches equations through a memory (a thyristor's `s < 0`), so that the search may have
    /// to decide it with the mode.
    pub latches_equations: bool,
    /// The function with left limits read as current values: what is watched while time goes on.
    watched: Vec<Level>,
    /// The function as it stands, for decisions at events; `None` if it is the same.
    at_event: Option<Vec<Level>>,
    /// The watched function as an expression.
    pub function: ExprId,
    /// Values of the function of this size are clear of zero.
    resolution: f64,
    /// Whether the function is affine in time and depends on nothing else that moves.
    pub affine_in_time: bool,
}

/// Value, tolerance and gradient information of a condition function.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Reading {
    /// The value; NaN if a variable is dead.
    pub value: f64,
    /// Values up to this size count as zero.
    pub tolerance: f64,
    /// The size of the value and of the terms it is made of.
    pub magnitude: f64,
}

impl Level {
    fn read(&self, memory: &Memory, scales: &Scales, scratch: &mut Vec<f64>) -> Reading {
        scratch.clear();
        scratch.resize(1 + self.leaves.len() + usize::from(self.by_time), 0.0);
        self.bound.evaluate(memory, scratch);
        let value = scratch[0];
        let mut tolerance = 0.0;
        let mut magnitude = value.abs();
        for (&Derivative { var, order }, gradient) in self.leaves.iter().zip(&scratch[1..]) {
            let x = memory.get(var, order);
            tolerance += gradient.abs() * scales.error(memory, var, order);
            magnitude += (gradient * x).abs();
        }
        if self.by_time {
            tolerance += scratch[scratch.len() - 1].abs() * scales.time_error(memory.time());
        }
        // Ten times the error of the arguments, and never less than rounding.
        Reading {
            value,
            tolerance: 10.0 * tolerance + 1e-14 * magnitude,
            magnitude,
        }
    }
}

impl Monitor {
    /// The function of a switch that makes no events.
    pub(crate) fn of_switch(
        function: ExprId,
        model: &Mdae,
        pool: &mut ExprPool,
        cache: &KernelCache,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        Ok(Monitor {
            decided: Decided::ByCandidate,
            holds_at_zero: false,
            switches_equations: true,
            latches_equations: false,
            watched: levels(function, model, pool, cache, memory)?,
            at_event: None,
            function,
            resolution: f64::INFINITY,
            affine_in_time: false,
        })
    }

    /// The same condition with another function that has the same values.
    pub(crate) fn with_function(
        &self,
        function: ExprId,
        model: &Mdae,
        pool: &mut ExprPool,
        cache: &KernelCache,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        Ok(Monitor {
            watched: levels(function, model, pool, cache, memory)?,
            function,
            ..self.clone()
        })
    }

    /// Whether the function differs at events, where it reads left limits.
    pub(crate) fn reads_left_limits(&self) -> bool {
        self.at_event.is_some()
    }

    fn levels(&self, at_event: bool) -> &[Level] {
        match &self.at_event {
            Some(levels) if at_event => levels,
            _ => &self.watched,
        }
    }

    /// The value that is watched between events.
    pub(crate) fn watch(&self, memory: &Memory, scales: &Scales, scratch: &mut Vec<f64>) -> Reading {
        self.limited(self.watched[0].read(memory, scales, scratch))
    }

    /// Derivative `order` of the function; `at_event`: with left limits where the model says `pre`.
    pub(crate) fn read(
        &self,
        order: u16,
        at_event: bool,
        memory: &Memory,
        scales: &Scales,
        scratch: &mut Vec<f64>,
    ) -> Reading {
        let reading = self.levels(at_event)[usize::from(order)].read(memory, scales, scratch);
        match order {
            0 => self.limited(reading),
            _ => reading,
        }
    }

    fn limited(&self, reading: Reading) -> Reading {
        Reading {
            tolerance: reading.tolerance.min(self.resolution),
            ..reading
        }
    }

    /// How many derivatives of the function are available, the function itself included.
    pub(crate) fn level_count(&self) -> usize {
        self.watched.len()
    }

    /// The variables that derivative `order` of the function reads.
    pub(crate) fn reads(&self, order: u16) -> &[Derivative] {
        &self.watched[usize::from(order)].leaves
    }

    /// The gradient of the function itself at events: pairs of variable and coefficient.
    pub(crate) fn gradient(&self, memory: &Memory) -> Vec<(Derivative, f64)> {
        let level = &self.levels(true)[0];
        let mut out = vec![0.0; 1 + level.leaves.len() + usize::from(level.by_time)];
        level.bound.evaluate(memory, &mut out);
        level.leaves.iter().copied().zip(out[1..].iter().copied()).collect()
    }
}

/// The sign of a condition function with continuous variables at their left limits: what is left to move at one instant
/// are the discrete variables.
#[derive(Clone, Debug)]
pub(crate) struct HeldSign {
    levels: Vec<Level>,
    holds_at_zero: bool,
    /// Latches are free at the start: the search decides.
    free_at_start: bool,
    /// The discrete variables of the function.
    pub reads: Vec<VarId>,
}

impl HeldSign {
    /// The truth value with the discrete variables in memory; `None` if a variable is dead, or if the search decides.
    pub(crate) fn truth(&self, memory: &Memory) -> Option<bool> {
        if self.free_at_start && memory.is_initial() {
            return None;
        }
        let scales = Scales::exact();
        let mut scratch = Vec::new();
        for level in &self.levels {
            let reading = level.read(memory, &scales, &mut scratch);
            if reading.value.is_nan() {
                return None;
            }
            if reading.value.abs() > reading.tolerance {
                return Some(reading.value > 0.0);
            }
        }
        Some(self.holds_at_zero)
    }
}

/// Conditions that are settled before the search for a mode but read discrete variables, which the same instant may
/// change.
pub(crate) fn held_signs(
    model: &Mdae,
    monitors: &Monitors,
    pool: &mut ExprPool,
    cache: &KernelCache,
    memory: &Memory,
) -> Result<Vec<(ConditionId, HeldSign)>, Failure> {
    let mut found = Vec::new();
    for (id, monitor) in monitors.iter_enumerated() {
        let (Some(monitor), ConditionKind::Relation { function, .. }) = (monitor, &model.conditions[id].kind) else {
            continue;
        };
        let mut reads: Vec<VarId> = pool
            .occurrences(*function)
            .into_iter()
            .map(|Derivative { var, .. }| var)
            .filter(|&var| model.variables[var].role == Role::Discrete)
            .collect();
        reads.dedup();
        if monitor.decided == Decided::ByCandidate || reads.is_empty() {
            continue;
        }
        let held = pool.rewrite(&[*function], |pool, _, node| match node {
            Node::Var { var, order } if pool.variable_traits(var).continuous => Some(pool.pre_var(var, order)),
            _ => None,
        })[0];
        let sign = HeldSign {
            levels: levels(held, model, pool, cache, memory)?,
            holds_at_zero: monitor.holds_at_zero,
            free_at_start: monitor.decided == Decided::AsLatch,
            reads,
        };
        found.push((id, sign));
    }
    Ok(found)
}

/// All relations of a model; `None` for time events.
pub(crate) type Monitors = IndexVec<ConditionId, Option<Arc<Monitor>>>;

/// Compiles the conditions of a model.
pub(crate) fn monitors(
    model: &Mdae,
    pool: &mut ExprPool,
    cache: &KernelCache,
    memory: &Memory,
) -> Result<Monitors, Failure> {
    let direct = conditions_of_guards(model, Memories::Bar);
    let through_memory = conditions_of_guards(model, Memories::Pass);
    let of_time = defined_by_time(model, pool);
    let mut all = Monitors::new();
    for (id, condition) in model.conditions.iter_enumerated() {
        let ConditionKind::Relation { function, comparison } = condition.kind else {
            all.push(None);
            continue;
        };
        let function = with_definitions(pool, function, &of_time);
        let watched_function = pool.rewrite(&[function], |pool, _, node| match node {
            Node::Pre { var, order } if pool.variable_traits(var).continuous => Some(pool.der_var(var, order)),
            _ => None,
        })[0];
        let watched = levels(watched_function, model, pool, cache, memory)?;
        let at_event = if watched_function == function {
            None
        } else {
            Some(levels(function, model, pool, cache, memory)?)
        };
        let decided = decided(model, pool, function, direct.contains(&id));
        let affine_in_time = decided == Decided::ByTime && {
            let second = pool.nth_total_derivative(watched_function, 2);
            pool.is_zero(second) && is_smooth(pool, watched_function) && !reads_inputs(model, pool, watched_function)
        };
        let holds_at_zero = comparison == saltus_mdae::Comparison::GreaterEqual;
        all.push(Some(Arc::new(Monitor {
            decided,
            holds_at_zero,
            switches_equations: direct.contains(&id),
            latches_equations: decided == Decided::AsLatch && through_memory.contains(&id),
            watched,
            at_event,
            function: watched_function,
            resolution: condition.resolution.unwrap_or(f64::INFINITY),
            affine_in_time,
        })));
    }
    Ok(all)
}

/// Unknowns that one equation defines by time and parameters in all modes: `s = 1 - ((time - t0)/w)^4`.
fn defined_by_time(model: &Mdae, pool: &mut ExprPool) -> FxHashMap<VarId, ExprId> {
    let mut defined: FxHashMap<VarId, ExprId> = FxHashMap::default();
    let mut candidates: Vec<(VarId, ExprId)> = Vec::new();
    for equation in &model.equations {
        let is_everywhere = pool.node(equation.guard) == Node::Boolean(true) && equation.simplified.is_none();
        let Node::Binary(BinaryFunction::Sub, a, b) = pool.node(equation.residual) else {
            continue;
        };
        let sides = [(a, b), (b, a)].into_iter().filter(|_| is_everywhere);
        candidates.extend(sides.filter_map(|(unknown, value)| match pool.node(unknown) {
            Node::Var { var, order: 0 } if model.is_unknown(var) => Some((var, value)),
            _ => None,
        }));
    }
    // One may be defined by another.
    loop {
        let before = defined.len();
        candidates.retain(|&(var, value)| {
            let value = with_definitions(pool, value, &defined);
            let is_known = !defined.contains_key(&var) && reads_time_and_parameters(model, pool, value);
            if is_known {
                defined.insert(var, value);
            }
            !is_known
        });
        if defined.len() == before {
            return defined;
        }
    }
}

/// Whether an expression reads time and parameters, nothing else, and makes no events.
pub(crate) fn reads_time_and_parameters(model: &Mdae, pool: &ExprPool, expression: ExprId) -> bool {
    let is_fixed = |id: ExprId| match pool.node(id) {
        Node::Var { var, .. } => model
            .variables
            .get(var)
            .is_some_and(|variable| variable.role == Role::Parameter),
        Node::Pre { .. } | Node::Condition(_) | Node::Initial | Node::Terminal | Node::Call { .. } => false,
        _ => true,
    };
    pool.reachable(&[expression]).into_iter().all(is_fixed)
}

/// A function with what is defined so put in; one that reads left limits stays as it is.
fn with_definitions(pool: &mut ExprPool, function: ExprId, definitions: &FxHashMap<VarId, ExprId>) -> ExprId {
    let is_defined = |Derivative { var, order }: &Derivative| *order == 0 && definitions.contains_key(var);
    if !pool.left_limit_occurrences(function).is_empty() || !pool.occurrences(function).iter().any(is_defined) {
        return function;
    }
    pool.rewrite(&[function], |_, _, node| match node {
        Node::Var { var, order: 0 } => definitions.get(&var).copied(),
        _ => None,
    })[0]
}

/// Whether a function has neither kinks nor jumps of its own, so that its derivatives say how it goes on.
pub(crate) fn is_smooth(pool: &ExprPool, function: ExprId) -> bool {
    let smooth = |id: ExprId| match pool.node(id) {
        Node::Unary(op, _) => !matches!(
            op,
            UnaryFunction::Abs | UnaryFunction::Sign | UnaryFunction::Floor | UnaryFunction::Ceil
        ),
        Node::Binary(op, ..) => matches!(
            op,
            BinaryFunction::Add
                | BinaryFunction::Sub
                | BinaryFunction::Mul
                | BinaryFunction::Div
                | BinaryFunction::Pow
                | BinaryFunction::Atan2
        ),
        Node::If(..) | Node::Call { .. } => false,
        _ => true,
    };
    pool.reachable(&[function]).into_iter().all(smooth)
}

fn reads_inputs(model: &Mdae, pool: &ExprPool, function: ExprId) -> bool {
    pool.occurrences(function)
        .iter()
        .any(|&Derivative { var, .. }| model.variables[var].role == Role::Input)
}

fn levels(
    function: ExprId,
    model: &Mdae,
    pool: &mut ExprPool,
    cache: &KernelCache,
    memory: &Memory,
) -> Result<Vec<Level>, Failure> {
    let mut levels = Vec::new();
    let mut derivative = function;
    for order in 0..=SIGN_ORDERS {
        let leaves: Vec<Derivative> = pool
            .occurrences(derivative)
            .into_iter()
            .filter(|&Derivative { var, .. }| matches!(model.variables[var].role, Role::Continuous | Role::Input))
            .collect();
        if leaves
            .iter()
            .any(|&Derivative { var, order }| order >= memory.orders(var))
        {
            break;
        }
        let by_time = pool
            .reachable(&[derivative])
            .into_iter()
            .any(|id| pool.node(id) == Node::Time);
        let mut partials: Vec<Leaf> = leaves
            .iter()
            .map(|&Derivative { var, order }| Leaf::var(var, order))
            .collect();
        if by_time {
            partials.push(Leaf::Time);
        }
        let spec = KernelSpec::matrix(&[derivative], 0..=0, &partials);
        levels.push(Level {
            bound: Bound::new(cache, pool, &spec, memory)?,
            leaves,
            by_time,
        });
        if order < SIGN_ORDERS {
            derivative = pool.total_derivative(derivative);
        }
    }
    Ok(levels)
}

fn decided(model: &Mdae, pool: &ExprPool, function: ExprId, direct: bool) -> Decided {
    let reads_unknown = pool
        .occurrences(function)
        .iter()
        .any(|&Derivative { var, .. }| model.is_unknown(var));
    let reads_left = pool
        .left_limit_occurrences(function)
        .iter()
        .any(|&Derivative { var, .. }| model.is_unknown(var));
    match (reads_unknown, reads_left) {
        (false, false) => Decided::ByTime,
        (false, true) => Decided::ByLeftLimits,
        _ if direct => Decided::ByCandidate,
        _ => Decided::AsLatch,
    }
}

/// Whether what a Boolean remembers stands between a condition and the equations.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Memories {
    /// Conditions behind a memory are left out.
    Bar,
    /// They count.
    Pass,
}

/// Conditions that switch equations: reached from guards and from continuous residuals through the definitions of discrete
/// variables. A memory is a definition with a `pre` of a discrete variable, or an assignment of a when-clause.
fn conditions_of_guards(model: &Mdae, memories: Memories) -> FxHashSet<ConditionId> {
    let pool = &model.pool;
    let mut roots: Vec<ExprId> = model.equations.iter().flat_map(|e| [e.guard, e.residual]).collect();
    let remembers = |value: ExprId| {
        let left_limits = pool.left_limit_occurrences(value);
        left_limits
            .iter()
            .any(|&Derivative { var, .. }| model.variables[var].role == Role::Discrete)
    };
    let latched: FxHashSet<VarId> = model
        .discrete
        .iter()
        .filter(|equation| remembers(equation.value))
        .map(|equation| equation.target)
        .collect();
    let assigned = assigned_by_whens(model);
    let mut seen: FxHashSet<VarId> = FxHashSet::default();
    let mut found = FxHashSet::default();
    while let Some(root) = roots.pop() {
        found.extend(pool.conditions_in(root));
        for Derivative { var, .. } in pool.occurrences(root) {
            let barred = memories == Memories::Bar && (latched.contains(&var) || assigned.contains_key(&var));
            if model.variables[var].role != Role::Discrete || barred || !seen.insert(var) {
                continue;
            }
            let definitions = model.discrete.iter().filter(|e| e.target == var);
            roots.extend(definitions.flat_map(|e| [e.value, e.guard]));
            roots.extend(assigned.get(&var).into_iter().flatten());
        }
    }
    found
}

/// For each variable that when-clauses assign, what it is assigned and the conditions under which.
pub(crate) fn assigned_by_whens(model: &Mdae) -> FxHashMap<VarId, Vec<ExprId>> {
    let mut found: FxHashMap<VarId, Vec<ExprId>> = FxHashMap::default();
    for branch in model.whens.iter().flat_map(|when| &when.branches) {
        for action in &branch.actions {
            let values: &[ExprId] = match action {
                Action::Assign { value, .. } => std::slice::from_ref(value),
                Action::Solve { residuals, .. } => residuals,
                _ => continue,
            };
            for target in action.assigned() {
                let expressions = found.entry(*target).or_default();
                expressions.extend(values);
                expressions.extend(&branch.conditions);
            }
        }
    }
    found
}
