//! The guards of a model and their valuations.

use std::ops::Range;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::function::CallError;
use saltus_mdae::walk::NodeWalk;
use saltus_mdae::{BinaryFunction, ConditionId, Derivative, EquationId, ExprId, Idx, Mdae, Node, VarId, typed_index};

use crate::attributes::Attributes;
use crate::linear::{Partial, partials};
use crate::sigma::Signatures;

typed_index! {
    /// A distinct guard of the model's equations.
    GuardId,
}

/// An equation that no guard switches.
const ALWAYS: u32 = u32::MAX;
/// An equation whose guard is the constant `false`.
const NEVER: u32 = u32::MAX - 1;

/// What all modes of a model share: its distinct guards and the signatures of its equations.
#[derive(Clone, Debug)]
pub struct Modes {
    guards: Vec<ExprId>,
    guard_of: Vec<u32>,
    equations_of: Table<EquationId>,
    signatures: Signatures,
    /// Partial derivatives of each equation, read when they are first asked for.
    partials: Vec<OnceLock<Box<[Partial]>>>,
    /// Everything that occurs in each equation, likewise.
    occurrences: Vec<OnceLock<Box<[Derivative]>>>,
    equations_with: Table<EquationId>,
    attributes: Attributes,
    /// The highest derivative of each variable in any equation.
    highest: Vec<u16>,
}

/// Lists one after the other.
#[derive(Clone, Debug)]
struct Table<T> {
    start: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Table<T> {
    /// Distributes items by key, in order.
    fn new(keys: usize, items: impl Iterator<Item = (usize, T)> + Clone, blank: T) -> Self {
        let mut start = vec![0u32; keys + 1];
        for (key, _) in items.clone() {
            start[key + 1] += 1;
        }
        for i in 0..keys {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut placed = vec![blank; start[keys] as usize];
        for (key, item) in items {
            placed[next[key] as usize] = item;
            next[key] += 1;
        }
        Table { start, items: placed }
    }
    fn range(&self, key: usize) -> Range<usize> {
        self.start[key] as usize..self.start[key + 1] as usize
    }
    fn of(&self, key: usize) -> &[T] {
        &self.items[self.range(key)]
    }
}

impl Modes {
    /// Reads the guards and signatures of a model.
    pub fn new(model: &Mdae) -> Self {
        let (guards, guard_of) = distinct_guards(model);
        let residuals = model.equations.iter().map(|equation| equation.residual);
        let signatures = Signatures::of_residuals(&model.pool, residuals, |var| model.is_unknown(var));
        let guarded = guard_of
            .iter()
            .enumerate()
            .filter(|&(_, &guard)| guard < NEVER)
            .map(|(i, &guard)| (guard as usize, EquationId::from_usize(i)));
        let equations_of = Table::new(guards.len(), guarded, EquationId(0));
        // Equations that no guard ever selects say nothing about the model.
        let ever = (0..signatures.len()).filter(|&i| guard_of[i] != NEVER);
        let occurrences = ever.clone().flat_map(|i| {
            let row = signatures.row(i).iter();
            row.map(move |&Derivative { var, .. }| (var.index(), EquationId::from_usize(i)))
        });
        let equations_with = Table::new(model.variables.len(), occurrences, EquationId(0));
        let mut highest = vec![0; model.variables.len()];
        for &Derivative { var, order } in ever.flat_map(|i| signatures.row(i)) {
            highest[var.index()] = order.max(highest[var.index()]);
        }
        Modes {
            guards,
            guard_of,
            equations_of,
            partials: vec![OnceLock::new(); signatures.len()],
            occurrences: vec![OnceLock::new(); signatures.len()],
            signatures,
            equations_with,
            attributes: Attributes::new(model),
            highest,
        }
    }

    /// How much a derivative should be a state: what is said about it, then whether its own derivative is written in
    /// the model.
    pub fn preference(&self, var: VarId, order: u16) -> i32 {
        2 * self.attributes.preference(var, order) + i32::from(order < self.highest[var.index()])
    }

    /// The number of distinct guards that are not constant.
    pub fn guard_count(&self) -> usize {
        self.guards.len()
    }
    /// All guards, in order of first use.
    pub fn guards(&self) -> impl ExactSizeIterator<Item = GuardId> + use<> {
        (0..self.guards.len()).map(GuardId::from_usize)
    }
    /// The formula of a guard.
    pub fn formula(&self, guard: GuardId) -> ExprId {
        self.guards[guard.index()]
    }
    /// All formulas, by guard.
    pub fn formulas(&self) -> &[ExprId] {
        &self.guards
    }
    /// The guard of an equation; `None` if it is constant.
    pub fn guard_of(&self, equation: EquationId) -> Option<GuardId> {
        let guard = self.guard_of[equation.index()];
        (guard < NEVER).then_some(GuardId(guard))
    }
    /// The equations under a guard, in order.
    pub fn equations_of(&self, guard: GuardId) -> &[EquationId] {
        self.equations_of.of(guard.index())
    }
    /// The signatures of all equations, by equation.
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }
    /// The kinds of the partial derivatives of an equation.
    pub fn partials(&self, model: &Mdae, equation: EquationId) -> &[Partial] {
        let read = || {
            let residual = model.equations[equation].residual;
            partials(&model.pool, residual, |var| model.variables[var].role)
        };
        self.partials[equation.index()].get_or_init(read)
    }
    /// The variables and derivatives that occur in an equation, in order.
    pub fn occurrences(&self, model: &Mdae, equation: EquationId) -> &[Derivative] {
        let read = || {
            model
                .pool
                .occurrences(model.equations[equation].residual)
                .into_boxed_slice()
        };
        self.occurrences[equation.index()].get_or_init(read)
    }
    /// The equations (active or not) in which an unknown occurs, in order.
    pub fn equations_with(&self, var: VarId) -> &[EquationId] {
        self.equations_with.of(var.index())
    }
    /// Whether an equation is active.
    #[inline]
    pub fn is_active(&self, valuation: &Valuation, equation: EquationId) -> bool {
        match self.guard_of[equation.index()] {
            ALWAYS => true,
            NEVER => false,
            guard => valuation.get(GuardId(guard)),
        }
    }
    /// Whether an equation is active in any mode at all.
    pub(super) fn is_ever_active(&self, equation: EquationId) -> bool {
        self.guard_of[equation.index()] != NEVER
    }
    /// The active equations, in order.
    pub fn active<'a>(&'a self, valuation: &'a Valuation) -> impl Iterator<Item = EquationId> + 'a {
        (0..self.guard_of.len())
            .map(EquationId::from_usize)
            .filter(|&equation| self.is_active(valuation, equation))
    }

    /// The valuation that the values of conditions and discrete variables give.
    pub fn valuation(&self, model: &Mdae, env: &dyn Environment) -> Result<Valuation, CallError> {
        let values = evaluate(&model.pool, &model.functions, &self.guards, env)?;
        Ok(Valuation::from_fn(self, |guard| values[guard.index()] != 0.0))
    }
    /// The valuation in which every condition and Boolean variable has the value `truth` says.
    pub fn valuation_where(
        &self,
        model: &Mdae,
        condition: impl Fn(ConditionId) -> bool,
        boolean: impl Fn(VarId) -> f64,
    ) -> Result<Valuation, CallError> {
        self.valuation(model, &Truth { condition, boolean })
    }

    /// If-expressions under `noEvent` whose branches change the highest derivative (of order one or more) of an
    /// unknown in their equation: the structure would change without an event, which is an error.
    pub fn structural_no_events(&self, model: &Mdae) -> Vec<StructuralNoEvent> {
        let mut reader = NodeWalk::default();
        let mut found = Vec::new();
        for (equation, data) in model.equations.iter_enumerated() {
            if self
                .signatures
                .row(equation.index())
                .iter()
                .all(|&Derivative { order, .. }| order == 0)
            {
                continue;
            }
            let mut switches = Vec::new();
            reader.for_each_node(&model.pool, data.residual, |id, node| {
                if let Node::If(condition, ..) = node {
                    switches.push((id, condition));
                }
            });
            switches.retain(|&(_, condition)| has_literal_relation(model, condition));
            for (id, condition) in switches {
                if let Some(var) = changed_derivative(model, data.residual, id) {
                    found.push(StructuralNoEvent {
                        equation,
                        condition,
                        var,
                    });
                }
            }
        }
        found
    }
}

/// See [`Modes::structural_no_events`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructuralNoEvent {
    /// The equation.
    pub equation: EquationId,
    /// The condition under `noEvent`.
    pub condition: ExprId,
    /// An unknown whose highest derivative depends on it.
    pub var: VarId,
}

fn distinct_guards(model: &Mdae) -> (Vec<ExprId>, Vec<u32>) {
    let mut guards = Vec::new();
    let mut number: FxHashMap<ExprId, u32> = FxHashMap::default();
    let guard_of = model
        .equations
        .iter()
        .map(|equation| match model.pool.constant(equation.guard) {
            Some(0.0) => NEVER,
            Some(_) => ALWAYS,
            None => *number.entry(equation.guard).or_insert_with(|| {
                guards.push(equation.guard);
                guards.len() as u32 - 1
            }),
        });
    let guard_of = guard_of.collect();
    (guards, guard_of)
}

/// Whether a condition holds a relation without event between quantities that change between events.
fn has_literal_relation(model: &Mdae, condition: ExprId) -> bool {
    use BinaryFunction::{Eq, Ge, Gt, Le, Lt, Ne};
    let is_relation = |node| matches!(node, Node::Binary(Lt | Le | Gt | Ge | Eq | Ne, ..));
    let pool = &model.pool;
    pool.reachable(&[condition]).into_iter().any(|id| {
        is_relation(pool.node(id))
            && pool.reachable(&[id]).into_iter().any(|leaf| match pool.node(leaf) {
                Node::Time => true,
                Node::Var { var, .. } => pool.variable_traits(var).continuous,
                _ => false,
            })
    })
}

/// An unknown whose highest derivative (at least the first) in `root` differs between the branches of `switch`.
fn changed_derivative(model: &Mdae, root: ExprId, switch: ExprId) -> Option<VarId> {
    let Node::If(_, a, b) = model.pool.node(switch) else {
        return None;
    };
    let with = |branch: ExprId| highest_through(model, root, switch, branch);
    let (left, right) = (with(a), with(b));
    let differs = |x: &FxHashMap<VarId, u16>, y: &FxHashMap<VarId, u16>| {
        x.iter()
            .filter(|&(var, &order)| order > 0 && y.get(var) != Some(&order))
            .map(|(&var, _)| var)
            .min()
    };
    differs(&left, &right).or_else(|| differs(&right, &left))
}

/// Highest derivatives below `root` when `switch` is replaced by one of its branches.
fn highest_through(model: &Mdae, root: ExprId, switch: ExprId, branch: ExprId) -> FxHashMap<VarId, u16> {
    let pool = &model.pool;
    let mut highest = FxHashMap::default();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        let id = if id == switch { branch } else { id };
        if !seen.insert(id) {
            continue;
        }
        let node = pool.node(id);
        if let Node::Var { var, order } = node
            && model.is_unknown(var)
        {
            let known = highest.entry(var).or_insert(order);
            *known = order.max(*known);
        }
        pool.for_each_child(node, |child| stack.push(child));
    }
    highest
}

/// Evaluates propositional formulas.
struct Truth<C, B> {
    condition: C,
    boolean: B,
}

impl<C: Fn(ConditionId) -> bool, B: Fn(VarId) -> f64> Environment for Truth<C, B> {
    fn variable(&self, var: VarId, _order: u16) -> f64 {
        (self.boolean)(var)
    }
    fn left_limit(&self, var: VarId, _order: u16) -> f64 {
        (self.boolean)(var)
    }
    fn time(&self) -> f64 {
        0.0
    }
    fn condition(&self, condition: ConditionId) -> bool {
        (self.condition)(condition)
    }
}

/// Truth values of all guards: what a mode is. Usable as key of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Valuation {
    bits: Vec<u64>,
}

impl Valuation {
    /// All guards false.
    pub fn all_false(modes: &Modes) -> Self {
        Valuation {
            bits: vec![0; modes.guard_count().div_ceil(64)],
        }
    }
    /// The value of each guard from a function.
    pub fn from_fn(modes: &Modes, value: impl Fn(GuardId) -> bool) -> Self {
        let mut valuation = Self::all_false(modes);
        for guard in modes.guards() {
            valuation.set(guard, value(guard));
        }
        valuation
    }
    /// Whether a guard is true.
    #[inline]
    pub fn get(&self, guard: GuardId) -> bool {
        self.bits[guard.index() / 64] >> (guard.index() % 64) & 1 == 1
    }
    /// Sets a guard and says whether that changed it.
    pub fn set(&mut self, guard: GuardId, value: bool) -> bool {
        let changed = self.get(guard) != value;
        if changed {
            self.bits[guard.index() / 64] ^= 1 << (guard.index() % 64);
        }
        changed
    }
    /// The guards in which two valuations differ, in order.
    pub fn difference<'a>(&'a self, other: &'a Valuation) -> impl Iterator<Item = GuardId> + 'a {
        let words = self.bits.iter().zip(&other.bits).enumerate();
        words.flat_map(|(i, (a, b))| {
            let mut rest = a ^ b;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(GuardId(i as u32 * 64 + bit))
            })
        })
    }
}
