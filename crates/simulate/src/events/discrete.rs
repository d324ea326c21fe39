//! The discrete part of a model: its equations and when-clauses in the order in which they can be computed.

use rustc_hash::FxHashMap;
use saltus_codegen::{EvalError, KernelCache, KernelSpec};
use saltus_graph::{Bipartite, BipartiteBuilder, Column, Matching, Row};
use saltus_mdae::{Action, ConditionId, Derivative, ExprId, ExprPool, Mdae, Node, OriginId, Role, VarId, WhenId};
use saltus_numerics::nonlinear::{NewtonOptions, NonlinearSystem, solve_newton};

use crate::error::{Failure, FailureKind};
use crate::events::condition::HeldSign;
use crate::events::iteration::same;
use crate::kernel::Bound;
use crate::memory::Memory;

/// One step of the discrete computation.
#[derive(Clone, Debug)]
enum Step {
    /// `target := value`, when `guard` holds.
    Define {
        target: VarId,
        guard: Option<Bound>,
        value: Bound,
        origin: OriginId,
    },
    /// A when-clause.
    When(WhenId),
    /// A condition settled before the search: looked at again where a discrete variable in it has changed.
    Condition(ConditionId, HeldSign),
}

#[derive(Clone, Debug)]
struct Assign {
    target: VarId,
    value: Bound,
    origin: OriginId,
}

/// Variables that equations give together.
#[derive(Clone, Debug)]
struct Solve {
    unknowns: Vec<VarId>,
    /// The residuals; behind them their derivatives by the unknowns, row by row.
    code: Bound,
    origin: OriginId,
}

/// The equations of a [`Solve`] as a function of its unknowns.
struct Unknowns<'a> {
    of: &'a Solve,
    memory: &'a mut Memory,
    out: Vec<f64>,
}

impl Unknowns<'_> {
    fn evaluate(&mut self, x: &[f64]) {
        for (&var, &value) in self.of.unknowns.iter().zip(x) {
            self.memory.set(var, 0, value);
        }
        self.of.code.evaluate(self.memory, &mut self.out);
    }
}

impl NonlinearSystem for Unknowns<'_> {
    fn dim(&self) -> usize {
        self.of.unknowns.len()
    }

    fn residual(&mut self, x: &[f64], residual: &mut [f64]) -> Result<(), saltus_numerics::EvalError> {
        self.evaluate(x);
        residual.copy_from_slice(&self.out[..x.len()]);
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, saltus_numerics::EvalError> {
        self.evaluate(x);
        let size = x.len();
        for row in 0..size {
            for column in 0..size {
                values[column * size + row] = self.out[size + row * size + column];
            }
        }
        Ok(true)
    }
}

impl Solve {
    /// Solves from the values of the tick before; the values are not numbers if there is no solution.
    fn compute(&self, memory: &mut Memory) -> bool {
        let mut x: Vec<f64> = self.unknowns.iter().map(|&var| memory.left(var, 0)).collect();
        let size = x.len();
        let mut system = Unknowns {
            of: self,
            memory,
            out: vec![0.0; size + size * size],
        };
        let options = NewtonOptions {
            step_tolerance: 1e-12,
            ..NewtonOptions::default()
        };
        let solved = solve_newton(&mut system, &mut x, &options).is_ok();
        for (&var, &value) in self.unknowns.iter().zip(&x) {
            memory.set(var, 0, if solved { value } else { f64::NAN });
        }
        solved
    }
}

#[derive(Clone, Debug)]
struct BranchCode {
    /// Each with its place in the list of previous truth values.
    conditions: Vec<(usize, Bound)>,
    assignments: Vec<Assign>,
    solves: Vec<Solve>,
}

/// What the when-clauses triggered at one instant.
#[derive(Clone, Debug, Default)]
pub struct Triggered {
    /// The branches that act.
    pub branches: Vec<(WhenId, usize)>,
    /// Whether a branch would have acted that comes after one that does.
    pub overtaken: bool,
    /// The first function that failed on the way, and where it is called.
    pub failure: Option<(Box<EvalError>, OriginId)>,
    /// Where equations that give variables together have no solution that was found, with the variables.
    pub unsolved: Option<(Vec<VarId>, OriginId)>,
}

/// The same clauses act; what failed on the way is told by values.
impl PartialEq for Triggered {
    fn eq(&self, other: &Self) -> bool {
        self.branches == other.branches
    }
}

impl Triggered {
    /// A value; a failure is kept.
    fn value(&mut self, of: &Bound, memory: &Memory, origin: OriginId) -> f64 {
        let (value, error) = of.called_value(memory);
        if let (Some(error), None) = (error, &self.failure) {
            self.failure = Some((Box::new(error), origin));
        }
        value
    }
}

/// The discrete part, compiled.
#[derive(Clone, Debug)]
pub(crate) struct DiscreteProgram {
    steps: Vec<Step>,
    whens: Vec<Vec<BranchCode>>,
    when_origins: Vec<OriginId>,
    /// All discrete variables.
    pub variables: Vec<VarId>,
    /// The number of when-conditions.
    pub condition_count: usize,
    /// Conditions that follow the discrete variables of the same instant.
    pub following: Vec<ConditionId>,
    /// Conditions whose truth values are given, whatever is computed.
    pub pinned: Vec<ConditionId>,
    /// The steps that read a condition, where it only goes into equations of variables.
    readers: FxHashMap<ConditionId, Vec<usize>>,
    /// The discrete equations of the model behind the steps that define a variable.
    definitions: Vec<(usize, usize)>,
    /// Whether the variables are functions of conditions and each other alone.
    is_combinational: bool,
}

impl DiscreteProgram {
    /// Orders and compiles the discrete equations and when-clauses.
    pub(crate) fn new(
        model: &Mdae,
        pool: &ExprPool,
        cache: &KernelCache,
        memory: &Memory,
        mut held: Vec<(ConditionId, HeldSign)>,
    ) -> Result<Self, Failure> {
        let bind = |expr: ExprId| Bound::of_value(cache, pool, expr, memory);
        let mut condition_count = 0;
        let mut whens = Vec::new();
        for when in &model.whens {
            let mut branches = Vec::new();
            for branch in &when.branches {
                let mut conditions = Vec::new();
                for &condition in &branch.conditions {
                    conditions.push((condition_count, bind(condition)?));
                    condition_count += 1;
                }
                let mut assignments = Vec::new();
                let mut solves = Vec::new();
                for action in &branch.actions {
                    match action {
                        Action::Assign { target, value, origin } => assignments.push(Assign {
                            target: *target,
                            value: bind(*value)?,
                            origin: *origin,
                        }),
                        Action::Solve {
                            unknowns,
                            residuals,
                            jacobian,
                            origin,
                        } => {
                            let all: Vec<ExprId> = residuals.iter().chain(jacobian).copied().collect();
                            solves.push(Solve {
                                unknowns: unknowns.clone(),
                                code: Bound::new(cache, pool, &KernelSpec::values(&all), memory)?,
                                origin: *origin,
                            });
                        }
                        _ => {}
                    }
                }
                branches.push(BranchCode {
                    conditions,
                    assignments,
                    solves,
                });
            }
            whens.push(branches);
        }
        let mut steps = Vec::new();
        let mut readers: FxHashMap<ConditionId, Vec<usize>> = FxHashMap::default();
        let mut definitions = Vec::new();
        let mut is_combinational = model.whens.is_empty() && held.is_empty();
        let ordered = order(model, &mut held)?;
        let following = held.iter().map(|(id, _)| *id).collect();
        let mut signs: FxHashMap<ConditionId, HeldSign> = held.into_iter().collect();
        for item in ordered {
            steps.push(match item {
                Item::Condition(id) => match signs.remove(&id) {
                    Some(sign) => Step::Condition(id, sign),
                    None => continue,
                },
                Item::Equation(at) => {
                    let equation = &model.discrete[at];
                    for id in conditions_of(pool, [equation.guard, equation.value]) {
                        readers.entry(id).or_default().push(steps.len());
                    }
                    let always = pool.constant(equation.guard) == Some(1.0);
                    is_combinational &= always && is_function_of_conditions(model, pool, equation.value);
                    definitions.push((steps.len(), at));
                    let guard = if always { None } else { Some(bind(equation.guard)?) };
                    Step::Define {
                        target: equation.target,
                        guard,
                        value: bind(equation.value)?,
                        origin: equation.origin,
                    }
                }
                Item::When(id) => Step::When(id),
            });
        }
        let in_whens = model.whens.iter().flat_map(|when| &when.branches);
        for id in in_whens.flat_map(|branch| conditions_of(pool, branch.conditions.iter().copied())) {
            readers.remove(&id);
        }
        let variables = model
            .variables
            .iter_enumerated()
            .filter(|(_, v)| v.role == Role::Discrete)
            .map(|(id, _)| id)
            .collect();
        Ok(DiscreteProgram {
            steps,
            whens,
            when_origins: model.whens.iter().map(|when| when.origin).collect(),
            variables,
            condition_count,
            following,
            pinned: Vec::new(),
            readers,
            definitions,
            is_combinational,
        })
    }

    /// Whether the variables are functions of conditions and each other alone: nothing is remembered, and no clause acts.
    pub(crate) fn is_combinational(&self) -> bool {
        self.is_combinational
    }

    /// The steps that define a variable, with the numbers of their equations in the model.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.definitions.iter().copied()
    }

    /// The variable that a step defines, with the value it gives.
    pub(crate) fn definition(&self, step: usize, memory: &Memory) -> Option<(VarId, f64)> {
        match &self.steps[step] {
            Step::Define { target, value, .. } => Some((*target, value.value(memory))),
            Step::When(_) | Step::Condition(..) => None,
        }
    }

    /// Whether the variables are the same with and without a condition, as everything else stands.
    pub(crate) fn is_without_effect(&self, id: ConditionId, memory: &mut Memory) -> bool {
        let Some(readers) = self.readers.get(&id) else {
            return false;
        };
        let truth = memory.condition(id);
        let [without, with] = [false, true].map(|truth| {
            memory.set_condition(id, truth);
            self.defined(readers, memory)
        });
        memory.set_condition(id, truth);
        without.iter().zip(&with).all(|((_, a), (_, b))| same(*a, *b))
    }

    /// The truth value of a condition with which the variables that read it keep the values they have.
    pub(crate) fn truth_that_keeps(&self, id: ConditionId, memory: &mut Memory) -> Option<bool> {
        let readers = self.readers.get(&id)?;
        let truth = memory.condition(id);
        let kept = [truth, !truth].into_iter().find(|&truth| {
            memory.set_condition(id, truth);
            let keeps = |(target, value)| same(value, memory.get(target, 0));
            self.defined(readers, memory).into_iter().all(keeps)
        });
        memory.set_condition(id, truth);
        kept
    }

    /// The variables that equations reading a condition define, with the values they give.
    fn defined(&self, readers: &[usize], memory: &Memory) -> Vec<(VarId, f64)> {
        let value_of = |&at: &usize| match &self.steps[at] {
            Step::Define {
                target, guard, value, ..
            } => {
                let acts = guard.as_ref().is_none_or(|guard| guard.value(memory) != 0.0);
                let held = || memory.left(*target, 0);
                Some((*target, if acts { value.value(memory) } else { held() }))
            }
            Step::When(_) | Step::Condition(..) => None,
        };
        readers.iter().filter_map(value_of).collect()
    }

    /// Computes all discrete variables from their values before, the conditions and the continuous variables in
    /// `memory`. `before` holds the truth values of the when-conditions at the previous instant.
    pub(crate) fn compute(&self, memory: &mut Memory, before: &[bool]) -> Triggered {
        for &var in &self.variables {
            let held = memory.left(var, 0);
            memory.set(var, 0, held);
        }
        let mut triggered = Triggered::default();
        for step in &self.steps {
            match step {
                Step::Define {
                    target,
                    guard,
                    value,
                    origin,
                } => {
                    if guard.as_ref().is_none_or(|guard| guard.value(memory) != 0.0) {
                        let value = triggered.value(value, memory, *origin);
                        memory.set(*target, 0, value);
                    }
                }
                Step::When(id) => {
                    let branches = &self.whens[id.0 as usize];
                    let origin = self.when_origins[id.0 as usize];
                    let acting = branches.iter().position(|branch| {
                        branch
                            .conditions
                            .iter()
                            .any(|(at, condition)| !before[*at] && triggered.value(condition, memory, origin) != 0.0)
                    });
                    if let Some(at) = acting {
                        let later = branches[at + 1..].iter().flat_map(|branch| &branch.conditions);
                        triggered.overtaken |= later
                            .into_iter()
                            .any(|(at, condition)| !before[*at] && condition.value(memory) != 0.0);
                        triggered.branches.push((*id, at));
                        // All values are of what was there before the clause.
                        let assignments = &branches[at].assignments;
                        let values: Vec<f64> = assignments
                            .iter()
                            .map(|assign| triggered.value(&assign.value, memory, assign.origin))
                            .collect();
                        for (assign, value) in assignments.iter().zip(values) {
                            memory.set(assign.target, 0, value);
                        }
                        for solve in &branches[at].solves {
                            if !solve.compute(memory) && triggered.unsolved.is_none() {
                                triggered.unsolved = Some((solve.unknowns.clone(), solve.origin));
                            }
                        }
                    }
                }
                Step::Condition(id, sign) => {
                    let changed = |&var: &VarId| !same(memory.get(var, 0), memory.left(var, 0));
                    if sign.reads.iter().any(changed)
                        && !self.pinned.contains(id)
                        && let Some(truth) = sign.truth(memory)
                    {
                        memory.set_condition(*id, truth);
                    }
                }
            }
        }
        triggered
    }

    /// Where a variable is defined.
    pub(crate) fn origins_of(&self, var: VarId) -> Vec<OriginId> {
        let equations = self.steps.iter().filter_map(|step| match step {
            Step::Define { target, origin, .. } if *target == var => Some(*origin),
            _ => None,
        });
        let assignments = self.whens.iter().flatten().flat_map(|branch| &branch.assignments);
        let clauses = assignments
            .filter(|assign| assign.target == var)
            .map(|assign| assign.origin);
        let solves = self.whens.iter().flatten().flat_map(|branch| &branch.solves);
        let solved = solves
            .filter(|solve| solve.unknowns.contains(&var))
            .map(|solve| solve.origin);
        equations.chain(clauses).chain(solved).collect()
    }

    /// Computes the equations again, without the when-clauses.
    pub(crate) fn refresh(&self, memory: &mut Memory) {
        for step in &self.steps {
            if let Step::Define {
                target, guard, value, ..
            } = step
                && guard.as_ref().is_none_or(|guard| guard.value(memory) != 0.0)
            {
                let value = value.value(memory);
                memory.set(*target, 0, value);
            }
        }
    }

    /// Computes the equations again for what follows this instant: `pre(…)` is the value that was just found.
    pub(crate) fn follow(&self, memory: &mut Memory) {
        let before: Vec<f64> = self.variables.iter().map(|&var| memory.left(var, 0)).collect();
        for &var in &self.variables {
            let value = memory.get(var, 0);
            memory.set_left(var, 0, value);
        }
        self.refresh(memory);
        for (&var, value) in self.variables.iter().zip(before) {
            memory.set_left(var, 0, value);
        }
    }

    /// What the instant after this one would compute with the continuous variables in `memory`: its when-conditions, and
    /// whether it would act or change a variable that is looked at. `before` are the when-conditions of this instant.
    /// Discrete variables are left as they are.
    pub(crate) fn foresee(&self, memory: &mut Memory, before: &[bool], looked_at: &[VarId]) -> (Vec<bool>, bool) {
        let held: Vec<(f64, f64)> = self
            .variables
            .iter()
            .map(|&var| (memory.get(var, 0), memory.left(var, 0)))
            .collect();
        for (&var, &(value, _)) in self.variables.iter().zip(&held) {
            memory.set_left(var, 0, value);
        }
        let triggered = self.compute(memory, before);
        let conditions = self.when_conditions(memory);
        let changed = |var: &VarId| !same(memory.get(*var, 0), memory.left(*var, 0));
        let changes = !triggered.branches.is_empty() || looked_at.iter().any(changed);
        for (&var, (value, left)) in self.variables.iter().zip(held) {
            memory.set(var, 0, value);
            memory.set_left(var, 0, left);
        }
        (conditions, changes)
    }

    /// The truth values of all when-conditions.
    pub(crate) fn when_conditions(&self, memory: &Memory) -> Vec<bool> {
        let mut values = vec![false; self.condition_count];
        for (at, condition) in self.whens.iter().flatten().flat_map(|branch| &branch.conditions) {
            values[*at] = condition.value(memory) != 0.0;
        }
        values
    }
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum Item {
    Equation(usize),
    When(WhenId),
    Condition(ConditionId),
}

/// Whether an expression reads conditions, discrete variables and parameters alone.
fn is_function_of_conditions(model: &Mdae, pool: &ExprPool, expression: ExprId) -> bool {
    let reads_more = |id: ExprId| match pool.node(id) {
        Node::Var { var, .. } => !matches!(model.variables[var].role, Role::Discrete | Role::Parameter),
        Node::Pre { .. } | Node::Time | Node::Initial | Node::Terminal | Node::Call { .. } => true,
        _ => false,
    };
    !pool.reachable(&[expression]).into_iter().any(reads_more)
}

/// The conditions in some expressions.
fn conditions_of(pool: &ExprPool, expressions: impl IntoIterator<Item = ExprId>) -> Vec<ConditionId> {
    let found = expressions
        .into_iter()
        .flat_map(|expression| pool.conditions_in(expression));
    let mut found: Vec<ConditionId> = found.collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Sorts equations, when-clauses and the conditions that follow discrete variables so that each comes after what it
/// reads. A condition that decides on a variable it reads keeps what it was before the instant: it is taken off the
/// list.
fn order(model: &Mdae, following: &mut Vec<(ConditionId, HeldSign)>) -> Result<Vec<Item>, Failure> {
    loop {
        let blocks = ordered_blocks(model, following);
        let in_loops: Vec<ConditionId> = blocks
            .iter()
            .filter(|block| block.len() > 1)
            .flatten()
            .filter_map(|item| match item {
                Item::Condition(id) => Some(*id),
                _ => None,
            })
            .collect();
        if !in_loops.is_empty() {
            following.retain(|(id, _)| !in_loops.contains(id));
            continue;
        }
        if let Some(block) = blocks.iter().find(|block| block.len() > 1) {
            return Err(loop_of(model, block));
        }
        return Ok(blocks.into_iter().flatten().collect());
    }
}

/// Discrete variables that depend on their own values of the same instant, alone or in a circle.
pub fn discrete_loop(model: &Mdae) -> Option<Failure> {
    let blocks = ordered_blocks(model, &[]);
    let circular = |block: &&Vec<Item>| block.len() > 1 || block.iter().any(|&item| reads_itself(model, item));
    blocks.iter().find(circular).map(|block| loop_of(model, block))
}

fn loop_of(model: &Mdae, block: &[Item]) -> Failure {
    let variables = block
        .iter()
        .flat_map(|item| defined(model, *item))
        .map(|var| model.variables[var].name.clone())
        .collect();
    let origins = block.iter().filter_map(|item| match *item {
        Item::Equation(at) => Some(model.discrete[at].origin),
        Item::When(id) => Some(model.whens[id].origin),
        Item::Condition(_) => None,
    });
    Failure::new(FailureKind::DiscreteLoop {
        variables,
        origins: origins.collect(),
    })
}

/// Whether a discrete variable is defined by its own value of the same instant: `b = not b`.
fn reads_itself(model: &Mdae, item: Item) -> bool {
    let Item::Equation(at) = item else { return false };
    let equation = &model.discrete[at];
    let read = model.pool.occurrences(equation.value);
    read.iter().any(|&Derivative { var, .. }| var == equation.target)
}

/// What must be computed together, in order.
fn ordered_blocks(model: &Mdae, following: &[(ConditionId, HeldSign)]) -> Vec<Vec<Item>> {
    let mut items: Vec<Item> = (0..model.discrete.len()).map(Item::Equation).collect();
    items.extend(model.whens.ids().map(Item::When));
    let first_condition = items.len();
    items.extend(following.iter().map(|(id, _)| Item::Condition(*id)));
    let mut defines: FxHashMap<VarId, usize> = FxHashMap::default();
    for (at, item) in items.iter().enumerate() {
        for var in defined(model, *item) {
            defines.insert(var, at);
        }
    }
    let place_of: FxHashMap<ConditionId, usize> = following
        .iter()
        .enumerate()
        .map(|(at, (id, _))| (*id, first_condition + at))
        .collect();
    // Item i is matched with itself; its row lists the items it reads, so blocks come in order of computation.
    let mut builder = BipartiteBuilder::new(items.len());
    for (at, item) in items.iter().enumerate() {
        let mut row: Vec<Column> = vec![Column::from_index(at)];
        let (variables, conditions) = match item {
            Item::Condition(_) => (following[at - first_condition].1.reads.clone(), Vec::new()),
            _ => read(model, *item),
        };
        let needed = variables.iter().filter_map(|var| defines.get(var));
        row.extend(needed.map(|&i| Column::from_index(i)));
        let needed = conditions.iter().filter_map(|id| place_of.get(id));
        row.extend(needed.map(|&i| Column::from_index(i)));
        row.sort_unstable();
        row.dedup();
        builder.push_row(row);
    }
    let graph: Bipartite = builder.finish();
    let mut matching = Matching::empty(items.len(), items.len());
    for at in 0..items.len() {
        matching.insert(Row::from_index(at), Column::from_index(at));
    }
    let blocks = saltus_graph::block_triangular_order(&graph, &matching);
    blocks
        .iter()
        .map(|block| block.iter().map(|row| items[row.index()]).collect())
        .collect()
}

fn defined(model: &Mdae, item: Item) -> Vec<VarId> {
    match item {
        Item::Condition(_) => Vec::new(),
        Item::Equation(at) => vec![model.discrete[at].target],
        Item::When(id) => model.whens[id]
            .branches
            .iter()
            .flat_map(|branch| &branch.actions)
            .flat_map(Action::assigned)
            .copied()
            .collect(),
    }
}

/// The discrete variables and the conditions that an item reads.
fn read(model: &Mdae, item: Item) -> (Vec<VarId>, Vec<ConditionId>) {
    let mut roots: Vec<ExprId> = Vec::new();
    match item {
        Item::Condition(_) => {}
        Item::Equation(at) => roots.extend([model.discrete[at].value, model.discrete[at].guard]),
        Item::When(id) => {
            for branch in &model.whens[id].branches {
                roots.extend(&branch.conditions);
                for action in &branch.actions {
                    match action {
                        Action::Assign { value, .. } => roots.push(*value),
                        Action::Solve { residuals, .. } => roots.extend(residuals),
                        _ => {}
                    }
                }
            }
        }
    }
    let own = defined(model, item);
    let mut variables: Vec<VarId> = Vec::new();
    let mut conditions: Vec<ConditionId> = Vec::new();
    for id in model.pool.reachable(&roots) {
        match model.pool.node(id) {
            Node::Var { var, .. } if model.variables[var].role == Role::Discrete && !own.contains(&var) => {
                variables.push(var);
            }
            Node::Condition(condition) => conditions.push(condition),
            _ => {}
        }
    }
    variables.sort_unstable();
    variables.dedup();
    conditions.sort_unstable();
    conditions.dedup();
    (variables, conditions)
}

/// The restart equations of the triggered branches.
pub(crate) fn restart_equations(model: &Mdae, triggered: &Triggered) -> Vec<(ExprId, OriginId)> {
    actions(model, triggered)
        .filter_map(|action| match action {
            Action::Restart { residual, origin } => Some((*residual, *origin)),
            _ => None,
        })
        .collect()
}

/// The actions of the triggered branches.
pub(crate) fn actions<'m>(model: &'m Mdae, triggered: &'m Triggered) -> impl Iterator<Item = &'m Action> {
    triggered
        .branches
        .iter()
        .flat_map(|&(when, branch)| &model.whens[when].branches[branch].actions)
}
