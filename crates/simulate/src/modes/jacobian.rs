//! Exact derivatives of the state derivatives by the states.
//!
//! A stage F(u, v) = 0 with values v known before it determines u; its tangents follow by the implicit function
//! theorem: ∂F/∂u·du = −∂F/∂v·dv. Tangents of several states at once are carried through all stages: states whose
//! columns share no row of the Jacobian share a lane, and [`LANES`] lanes go together.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use saltus_codegen::{KernelCache, Leaf, Partials, SystemError};
use saltus_mdae::{Derivative, ExprId, ExprPool, Idx};
use saltus_numerics::EvalError;
use saltus_numerics::linalg::{Colouring, SparsityPattern};

use crate::kernel::slot_of;
use crate::memory::Memory;
use crate::modes::block::BlockSolver;
use crate::modes::plan::{Source, Stage};

/// Tangents carried at once: one or two vector registers.
pub(crate) const LANES: usize = 8;
/// Below this number of states a dense Jacobian is as good.
const DENSE_STATES: usize = 12;

pub(crate) type Tangent = [f64; LANES];
/// Equations with the orders of their total derivatives.
pub(super) type Residuals = Vec<(ExprId, u16)>;

/// What a stage contributes.
#[derive(Clone, Debug)]
pub(super) struct StagePartials {
    pub stage: usize,
    /// ∂F/∂v; columns are places in the tangents.
    pub known: Partials,
    /// Place of the tangents of the first unknown; the others follow.
    pub first: usize,
}

/// How ∂y'/∂y is computed, the same for all runs of a model.
#[derive(Debug)]
pub(crate) struct JacobianPlan {
    stages: Vec<StagePartials>,
    /// The derivative of each state; `None` if it depends on no state.
    derivatives: Vec<Option<usize>>,
    pattern: Option<SparsityPattern>,
    /// States in one lane.
    groups: Vec<Vec<usize>>,
    /// Tangents of the states and of the unknowns that depend on them.
    places: usize,
    /// Whether the Jacobian changes at events only.
    pub is_constant: bool,
}

/// Exact ∂y'/∂y.
#[derive(Clone, Debug)]
pub(crate) struct ExactJacobian {
    plan: Arc<JacobianPlan>,
    /// The numbers of ∂F/∂v of each stage.
    values: Vec<Vec<f64>>,
    /// Tangents of the states, then of the unknowns that depend on them; empty between evaluations.
    tangents: Vec<Tangent>,
    column: Vec<f64>,
}

/// What a plan is made for: equations and unknowns of the stages, states, and the layout of the values.
#[derive(Debug, PartialEq, Eq, Hash)]
struct PlanKey {
    stages: Vec<(Residuals, Vec<Derivative>)>,
    states: Vec<Derivative>,
    layout: usize,
}

/// The plans of a model, which its runs share if their expressions are those of the model: those that a run makes may
/// have the same numbers in another run.
#[derive(Debug)]
pub(crate) struct JacobianPlans {
    plans: Mutex<FxHashMap<PlanKey, Arc<JacobianPlan>>>,
    /// Expressions of the model.
    expressions: usize,
}

/// Beyond this number plans are not kept: a model with so many modes is not run again and again in the same ones.
const MOST_PLANS: usize = 256;

impl JacobianPlans {
    /// For a model with so many expressions.
    pub(crate) fn new(expressions: usize) -> Self {
        JacobianPlans {
            plans: Mutex::default(),
            expressions,
        }
    }

    fn get(
        &self,
        key: PlanKey,
        make: impl FnOnce() -> Result<JacobianPlan, SystemError>,
    ) -> Result<Arc<JacobianPlan>, SystemError> {
        // Nothing panics while the lock is held, so a poisoned one still guards sound data.
        let lock = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let of_model = |&(expression, _): &(ExprId, u16)| expression.index() < self.expressions;
        if !key.stages.iter().flat_map(|(equations, _)| equations).all(of_model) {
            return make().map(Arc::new);
        }
        if let Some(plan) = lock().get(&key) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(make()?);
        let mut plans = lock();
        if plans.len() < MOST_PLANS {
            plans.insert(key, plan.clone());
        }
        Ok(plan)
    }
}

impl JacobianPlan {
    fn new(
        cache: &KernelCache,
        pool: &ExprPool,
        states: &[Derivative],
        parts: &[Stage],
        equations: &[Residuals],
        memory: &Memory,
    ) -> Result<Self, SystemError> {
        let leaf = |&Derivative { var, order }: &Derivative| Leaf::var(var, order);
        let varies = |leaf: &Leaf| match *leaf {
            Leaf::Time => true,
            Leaf::Var { var, .. } => pool.variable_traits(var).continuous,
            _ => false,
        };
        let mut place_of: FxHashMap<Leaf, usize> = states.iter().map(leaf).zip(0..).collect();
        let mut reach = Reach::new(states.len());
        let mut stages = Vec::new();
        let mut is_constant = true;
        for (stage, (part, residuals)) in parts.iter().zip(equations).enumerate() {
            let known = Partials::build(cache, pool, residuals, &place_of, |leaf| slot_of(memory, leaf))?;
            if known.columns.is_empty() {
                continue;
            }
            is_constant &= !known.program.reads(varies) && !part.slopes_read(varies);
            let first = place_of.len();
            place_of.extend(part.unknowns().iter().map(leaf).zip(first..));
            reach.add(&known, matches!(part, Stage::Explicit(_)));
            stages.push(StagePartials { stage, first, known });
        }
        let derivative = |&Derivative { var, order }: &Derivative| place_of.get(&Leaf::var(var, order + 1)).copied();
        let derivatives: Vec<Option<usize>> = states.iter().map(derivative).collect();
        let pattern = reach.pattern(&derivatives);
        let groups = match &pattern {
            Some(pattern) => Colouring::new(pattern).groups().to_vec(),
            None => (0..states.len()).map(|column| vec![column]).collect(),
        };
        Ok(JacobianPlan {
            stages,
            derivatives,
            pattern,
            groups,
            places: place_of.len(),
            is_constant,
        })
    }
}

impl ExactJacobian {
    /// For stages and their equations.
    pub(crate) fn new(
        (cache, plans): (&KernelCache, &JacobianPlans),
        pool: &ExprPool,
        states: &[Derivative],
        (parts, sources): (&[Stage], &[Vec<Source>]),
        memory: &Memory,
    ) -> Result<Self, SystemError> {
        let residuals =
            |equations: &Vec<Source>| -> Residuals { equations.iter().map(|&(f, order, _)| (f, order)).collect() };
        let equations: Vec<Residuals> = sources.iter().map(residuals).collect();
        let unknowns = parts.iter().map(|part| part.unknowns().to_vec());
        let key = PlanKey {
            stages: equations.iter().cloned().zip(unknowns).collect(),
            states: states.to_vec(),
            layout: memory.values.len(),
        };
        let plan = plans.get(key, || {
            JacobianPlan::new(cache, pool, states, parts, &equations, memory)
        })?;
        Ok(ExactJacobian {
            values: plan
                .stages
                .iter()
                .map(|own| vec![0.0; own.known.columns.len()])
                .collect(),
            tangents: Vec::new(),
            column: Vec::new(),
            plan,
        })
    }

    /// Whether it changes at events only.
    pub(crate) fn is_constant(&self) -> bool {
        self.plan.is_constant
    }

    /// The entries that can be nonzero; `None` if all can.
    pub(crate) fn pattern(&self) -> Option<&SparsityPattern> {
        self.plan.pattern.as_ref()
    }

    /// The entries at a solution of the stages, in the order of the pattern, or column by column.
    pub(crate) fn evaluate(
        &mut self,
        parts: &mut [Stage],
        memory: &Memory,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let plan = self.plan.clone();
        for (own, values) in plan.stages.iter().zip(&mut self.values) {
            own.known.program.evaluate_unchecked(&memory.values, values);
            if let Stage::Block(block) = &mut parts[own.stage] {
                block
                    .factor_here(memory)
                    .map_err(|failure| EvalError::recoverable(format!("{failure:?}")))?;
            }
        }
        self.tangents = vec![[0.0; LANES]; plan.places];
        for first in (0..plan.groups.len()).step_by(LANES) {
            self.seed(first);
            for (own, values) in plan.stages.iter().zip(&self.values) {
                match &mut parts[own.stage] {
                    Stage::Explicit(equations) => own.pass_explicit(values, &equations.slopes, &mut self.tangents),
                    Stage::Block(block) => own.pass_block(values, block, &mut self.tangents, &mut self.column),
                    // No equation mentions what is copied.
                    Stage::Copies(_) => {}
                }
            }
            self.store(first, values);
        }
        // Every mode has its Jacobian, and only one is in force.
        self.tangents = Vec::new();
        Ok(())
    }

    /// Unit tangents of the states of the groups from `first` on, each group in a lane of its own.
    fn seed(&mut self, first: usize) {
        self.tangents[..self.plan.derivatives.len()].fill([0.0; LANES]);
        for (lane, group) in self.plan.groups[first..].iter().take(LANES).enumerate() {
            for &state in group {
                self.tangents[state][lane] = 1.0;
            }
        }
    }

    fn store(&self, first: usize, values: &mut [f64]) {
        let JacobianPlan {
            derivatives,
            groups,
            pattern,
            ..
        } = &*self.plan;
        let n = derivatives.len();
        let tangent = |row: usize, lane: usize| derivatives[row].map_or(0.0, |place| self.tangents[place][lane]);
        for (lane, group) in groups[first..].iter().take(LANES).enumerate() {
            for &column in group {
                match pattern {
                    Some(pattern) => {
                        for k in pattern.range(column) {
                            values[k] = tangent(pattern.row_indices()[k], lane);
                        }
                    }
                    None => (0..n).for_each(|row| values[column * n + row] = tangent(row, lane)),
                }
            }
        }
    }
}

impl StagePartials {
    /// −∂F/∂v·dv of an equation.
    fn right_side(&self, values: &[f64], row: usize, tangents: &[Tangent]) -> Tangent {
        let range = self.known.row_starts[row]..self.known.row_starts[row + 1];
        let mut sum = [0.0; LANES];
        for (value, &column) in values[range.clone()].iter().zip(&self.known.columns[range]) {
            for (sum, tangent) in sum.iter_mut().zip(&tangents[column]) {
                *sum -= value * tangent;
            }
        }
        sum
    }

    pub(super) fn pass_explicit(&self, values: &[f64], slopes: &[f64], tangents: &mut [Tangent]) {
        for (row, slope) in slopes.iter().enumerate() {
            let sum = self.right_side(values, row, tangents);
            tangents[self.first + row] = sum.map(|s| s / slope);
        }
    }

    pub(super) fn pass_block(
        &self,
        values: &[f64],
        block: &mut BlockSolver,
        tangents: &mut [Tangent],
        column: &mut Vec<f64>,
    ) {
        let n = self.known.row_starts.len() - 1;
        for row in 0..n {
            tangents[self.first + row] = self.right_side(values, row, tangents);
        }
        let own = &mut tangents[self.first..self.first + n];
        for lane in 0..LANES {
            column.clear();
            column.extend(own.iter().map(|tangent| tangent[lane]));
            // Most lanes do not reach most blocks.
            if column.iter().any(|&c| c != 0.0) {
                block.solve_tangent(column);
                for (tangent, &value) in own.iter_mut().zip(&*column) {
                    tangent[lane] = value;
                }
            }
        }
    }
}

/// Which states each value depends on, while that is worth knowing.
struct Reach {
    states: usize,
    /// By place.
    reached: Option<Vec<Rc<[u32]>>>,
    entries: usize,
    limit: usize,
}

impl Reach {
    fn new(states: usize) -> Self {
        let own = |state: u32| Rc::from([state]);
        Reach {
            states,
            reached: (states >= DENSE_STATES).then(|| (0..states as u32).map(own).collect()),
            entries: 0,
            limit: (states * states / 3).min(64 * states + 1_000_000).max(4096),
        }
    }

    /// The next stage; its unknowns get the next places.
    fn add(&mut self, known: &Partials, separate: bool) {
        let Some(reached) = &mut self.reached else { return };
        let rows = known.row_starts.len() - 1;
        let union = |columns: &[usize]| -> Rc<[u32]> {
            let mut all: Vec<u32> = columns
                .iter()
                .flat_map(|&column| reached[column].iter().copied())
                .collect();
            all.sort_unstable();
            all.dedup();
            all.into()
        };
        let new: Vec<Rc<[u32]>> = if separate {
            let columns = |row: usize| &known.columns[known.row_starts[row]..known.row_starts[row + 1]];
            (0..rows).map(|row| union(columns(row))).collect()
        } else {
            vec![union(&known.columns); rows]
        };
        self.entries += if separate {
            new.iter().map(|row| row.len()).sum()
        } else {
            new[0].len()
        };
        reached.extend(new);
        // Everything depends on everything: a dense matrix it is.
        if self.entries > self.limit {
            self.reached = None;
        }
    }

    fn pattern(self, derivatives: &[Option<usize>]) -> Option<SparsityPattern> {
        let reached = self.reached?;
        let rows = derivatives
            .iter()
            .enumerate()
            .filter_map(|(row, place)| Some((row, (*place)?)));
        let entries = rows.flat_map(|(row, place)| reached[place].iter().map(move |&column| (row, column as usize)));
        Some(SparsityPattern::from_entries(
            self.states,
            self.states,
            entries.collect::<Vec<_>>(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use saltus_mdae::{Builder, Mdae, UnaryFunction};
    use saltus_numerics::ode::OdeSystem;

    use crate::compiled::Compiled;
    use crate::engine::Engine;
    use crate::options::Options;
    use crate::run::delay::History;

    /// Explicit equations, nonlinear blocks of two, and a chain of states.
    fn network(n: usize) -> Mdae {
        let m = Builder::new("Network");
        let states: Vec<_> = (0..n)
            .map(|k| m.state(&format!("y{k}"), 0.3 + 0.1 * k as f64))
            .collect();
        for k in 0..n {
            let (y, next) = (&states[k], &states[(k + 1) % n]);
            let (z, w) = (m.guess(&format!("z{k}"), 0.2), m.guess(&format!("w{k}"), 0.2));
            let before = &states[k.saturating_sub(1)];
            m.equation("z", &z + 0.3 * z.apply(UnaryFunction::Sin) + &z * &w - y);
            m.equation("w", w.pow(3.0) + &w - &z - before);
            let v = m.unknown(&format!("v{k}"));
            m.equation("v", &v - &w * y);
            m.equation("y", y.der() - &v + &z - next);
        }
        m.finish().unwrap()
    }

    #[test]
    fn exact_derivatives_agree_with_differences() {
        // Dense, and by groups of columns in more lanes than one pass has.
        for n in [3, 11, 12, 40] {
            let model = saltus_structure::prepare::prepare(network(n)).model;
            let compiled = Compiled::new(model).unwrap();
            let mut engine = Engine::new(&compiled, &[], Options::default(), 0).unwrap();
            engine.initialise().unwrap();
            let mode = engine.mode.unwrap();
            let history = History::default();
            let mut ode = engine.ode(mode, &history);
            let mut y = Vec::new();
            ode.code.read_states(ode.memory, &mut y);
            let pattern = ode.jacobian_pattern().cloned();
            assert_eq!(pattern.is_some(), n >= 12);
            let entries: Vec<(usize, usize)> = match &pattern {
                Some(pattern) => pattern.entries().collect(),
                None => (0..n * n).map(|k| (k % n, k / n)).collect(),
            };
            let mut exact = vec![0.0; entries.len()];
            ode.jacobian(0.0, &y, &mut exact).unwrap();
            let mut found = 0;
            for column in 0..n {
                let (mut up, mut down) = (vec![0.0; n], vec![0.0; n]);
                for (sign, dy) in [(1.0, &mut up), (-1.0, &mut down)] {
                    let mut moved = y.clone();
                    moved[column] += sign * 1e-5;
                    ode.rhs(0.0, &moved, dy).unwrap();
                }
                for row in 0..n {
                    let difference = (up[row] - down[row]) / 2e-5;
                    let place = entries.iter().position(|&entry| entry == (row, column));
                    let value = place.map_or(0.0, |place| exact[place]);
                    assert!(
                        (value - difference).abs() < 1e-7,
                        "{n}: {row}, {column}: {value} {difference}"
                    );
                    found += usize::from(value != 0.0);
                }
            }
            assert!(found >= 2 * n);
        }
    }
}
