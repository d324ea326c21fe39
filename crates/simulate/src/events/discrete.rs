//! The discrete part of a model in numbers: kernels of its equations and when-clauses, computed as
//! [`saltus_instant::discrete`] says.

use rustc_hash::FxHashMap;
use saltus_codegen::{EvalError, KernelCache, KernelSpec};
use saltus_instant::discrete::{self, DiscreteLoop, DiscreteOrder, DiscreteStep, DiscreteValues, FollowingCondition};
use saltus_mdae::{Action, ConditionId, ExprId, ExprPool, Idx, Mdae, Node, OriginId, Role, VarId, WhenId};
use saltus_numerics::nonlinear::{NewtonOptions, NonlinearSystem, solve_newton};

use crate::error::{Failure, FailureKind};
use crate::events::condition::HeldSign;
use crate::events::iteration::same;
use crate::kernel::Bound;
use crate::memory::Memory;

/// `target := value`, when `guard` holds.
#[derive(Clone, Debug)]
struct Definition {
    target: VarId,
    guard: Option<Bound>,
    value: Bound,
    origin: OriginId,
}

impl Definition {
    fn applies(&self, memory: &Memory) -> bool {
        self.guard.as_ref().is_none_or(|guard| guard.value(memory) != 0.0)
    }
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

/// The same clauses act; what failed on the way is reported by values.
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
    /// What is computed, in order.
    steps: Vec<DiscreteStep>,
    /// As the discrete equations of the model.
    definitions: Vec<Definition>,
    whens: Vec<Vec<BranchCode>>,
    when_origins: Vec<OriginId>,
    /// Conditions that follow the discrete variables of the same instant.
    signs: FxHashMap<ConditionId, HeldSign>,
    /// All discrete variables.
    pub variables: Vec<VarId>,
    /// The number of when-conditions.
    pub condition_count: usize,
    /// The conditions of `signs`, sorted.
    pub following: Vec<ConditionId>,
    /// Conditions whose truth values are given, whatever is computed.
    pub pinned: Vec<ConditionId>,
    /// The discrete equations that read a condition, where it only goes into equations of variables.
    readers: FxHashMap<ConditionId, Vec<usize>>,
    /// Whether the variables are functions of conditions and each other alone.
    is_combinational: bool,
}

/// The computation of one instant: kernels over the memory of the run.
struct Computation<'a> {
    program: &'a DiscreteProgram,
    memory: &'a mut Memory,
    /// The when-conditions at the previous instant.
    before: &'a [bool],
    triggered: Triggered,
}

impl DiscreteValues for Computation<'_> {
    fn applies(&mut self, equation: usize) -> bool {
        self.program.definitions[equation].applies(self.memory)
    }

    fn defined(&mut self, equation: usize) -> Option<f64> {
        let definition = &self.program.definitions[equation];
        Some(self.triggered.value(&definition.value, self.memory, definition.origin))
    }

    fn became_true(&mut self, when: WhenId, branch: usize, condition: usize) -> bool {
        let (at, code) = &self.program.branches(when)[branch].conditions[condition];
        let origin = self.program.when_origins[when.index()];
        !self.before[*at] && self.triggered.value(code, self.memory, origin) != 0.0
    }

    fn act(&mut self, when: WhenId, branch: usize) {
        let branches = self.program.branches(when);
        let mut later = branches[branch + 1..].iter().flat_map(|branch| &branch.conditions);
        self.triggered.overtaken |=
            later.any(|(at, condition)| !self.before[*at] && condition.value(self.memory) != 0.0);
        let assignments = &branches[branch].assignments;
        let values: Vec<f64> = assignments
            .iter()
            .map(|assign| self.triggered.value(&assign.value, self.memory, assign.origin))
            .collect();
        for (assign, value) in assignments.iter().zip(values) {
            self.memory.set(assign.target, 0, value);
        }
        for solve in &branches[branch].solves {
            if !solve.compute(self.memory) && self.triggered.unsolved.is_none() {
                self.triggered.unsolved = Some((solve.unknowns.clone(), solve.origin));
            }
        }
    }

    fn reads_changed(&mut self, condition: ConditionId) -> bool {
        let changed = |&var: &VarId| !same(self.memory.get(var, 0), self.memory.left(var, 0));
        self.program.signs[&condition].reads.iter().any(changed)
    }

    fn follow(&mut self, condition: ConditionId) {
        if !self.program.pinned.contains(&condition)
            && let Some(truth) = self.program.signs[&condition].truth(self.memory)
        {
            self.memory.set_condition(condition, truth);
        }
    }

    fn assign(&mut self, target: VarId, value: f64) {
        self.memory.set(target, 0, value);
    }
}

impl DiscreteProgram {
    /// Orders and compiles the discrete equations and when-clauses.
    pub(crate) fn new(
        model: &Mdae,
        pool: &ExprPool,
        cache: &KernelCache,
        memory: &Memory,
        held: Vec<(ConditionId, HeldSign)>,
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
        let follow = |(id, sign): &(ConditionId, HeldSign)| FollowingCondition {
            id: *id,
            reads: sign.reads.clone(),
        };
        let following: Vec<FollowingCondition> = held.iter().map(follow).collect();
        let order = DiscreteOrder::new(model, &following);
        if let Some(circle) = order.circle {
            return Err(loop_failure(circle));
        }
        let is_ordered = |id: ConditionId| order.steps.contains(&DiscreteStep::Condition(id));
        let signs: FxHashMap<ConditionId, HeldSign> = held.into_iter().filter(|(id, _)| is_ordered(*id)).collect();
        let mut definitions = Vec::new();
        let mut readers: FxHashMap<ConditionId, Vec<usize>> = FxHashMap::default();
        let mut is_combinational = model.whens.is_empty() && following.is_empty();
        for (at, equation) in model.discrete.iter().enumerate() {
            for id in conditions_of(pool, [equation.guard, equation.value]) {
                readers.entry(id).or_default().push(at);
            }
            let always = pool.constant(equation.guard) == Some(1.0);
            is_combinational &= always && is_function_of_conditions(model, pool, equation.value);
            definitions.push(Definition {
                target: equation.target,
                guard: if always { None } else { Some(bind(equation.guard)?) },
                value: bind(equation.value)?,
                origin: equation.origin,
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
        let followed = following.iter().map(|condition| condition.id);
        Ok(DiscreteProgram {
            following: followed.filter(|id| signs.contains_key(id)).collect(),
            steps: order.steps,
            definitions,
            whens,
            when_origins: model.whens.iter().map(|when| when.origin).collect(),
            signs,
            variables,
            condition_count,
            pinned: Vec::new(),
            readers,
            is_combinational,
        })
    }

    fn branches(&self, when: WhenId) -> &[BranchCode] {
        &self.whens[when.index()]
    }

    /// The discrete equations in the order in which they are computed.
    fn ordered_definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions_in_order().map(|at| &self.definitions[at])
    }

    /// The numbers of the discrete equations in the order in which they are computed.
    pub(crate) fn definitions_in_order(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().filter_map(|step| match *step {
            DiscreteStep::Equation(at) => Some(at),
            _ => None,
        })
    }

    /// Whether the variables are functions of conditions and each other alone: nothing is remembered, and no clause acts.
    pub(crate) fn is_combinational(&self) -> bool {
        self.is_combinational
    }

    /// The variable that a discrete equation defines, with the value it gives.
    pub(crate) fn definition(&self, equation: usize, memory: &Memory) -> (VarId, f64) {
        let definition = &self.definitions[equation];
        (definition.target, definition.value.value(memory))
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
        let value_of = |&at: &usize| {
            let definition = &self.definitions[at];
            let held = || memory.left(definition.target, 0);
            let value = if definition.applies(memory) {
                definition.value.value(memory)
            } else {
                held()
            };
            (definition.target, value)
        };
        readers.iter().map(value_of).collect()
    }

    /// Computes all discrete variables from their values before, the conditions and the continuous variables in
    /// `memory`. `before` holds the truth values of the when-conditions at the previous instant.
    pub(crate) fn compute(&self, model: &Mdae, memory: &mut Memory, before: &[bool]) -> Triggered {
        for &var in &self.variables {
            let held = memory.left(var, 0);
            memory.set(var, 0, held);
        }
        let mut computation = Computation {
            program: self,
            memory,
            before,
            triggered: Triggered::default(),
        };
        for &step in &self.steps {
            let acting = discrete::compute(model, step, &mut computation);
            if let (DiscreteStep::When(id), Some(branch)) = (step, acting) {
                computation.triggered.branches.push((id, branch));
            }
        }
        computation.triggered
    }

    /// Where a variable is defined.
    pub(crate) fn origins_of(&self, var: VarId) -> Vec<OriginId> {
        let equations = self.ordered_definitions().filter(|definition| definition.target == var);
        let equations = equations.map(|definition| definition.origin);
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
        for definition in self.ordered_definitions() {
            if definition.applies(memory) {
                let value = definition.value.value(memory);
                memory.set(definition.target, 0, value);
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
    pub(crate) fn foresee(
        &self,
        model: &Mdae,
        memory: &mut Memory,
        before: &[bool],
        looked_at: &[VarId],
    ) -> (Vec<bool>, bool) {
        let held: Vec<(f64, f64)> = self
            .variables
            .iter()
            .map(|&var| (memory.get(var, 0), memory.left(var, 0)))
            .collect();
        for (&var, &(value, _)) in self.variables.iter().zip(&held) {
            memory.set_left(var, 0, value);
        }
        let triggered = self.compute(model, memory, before);
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

/// Discrete variables that depend on their own values of the same instant, alone or in a circle.
pub fn discrete_loop(model: &Mdae) -> Option<Failure> {
    discrete::discrete_loop(model).map(loop_failure)
}

fn loop_failure(circle: DiscreteLoop) -> Failure {
    Failure::new(FailureKind::DiscreteLoop {
        variables: circle.variables,
        origins: circle.origins,
    })
}
