//! A model ready to run: shared between runs and threads.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_codegen::{Fault, KernelCache};
use saltus_mdae::homotopy::{SimplifiedResiduals, simplified_model, simplified_residuals};
use saltus_mdae::inverse::{SolvedByInverse, solved_by_inverse};
use saltus_mdae::print::{self, UserNames, derivative_name};
use saltus_mdae::{
    BinaryFunction, ConditionId, Derivative, EquationId, ExprId, ExprPool, Idx, IndexVec, Mdae, Node, Role,
    UnaryFunction, VarId,
};
use saltus_results::Schema;
use saltus_structure::mode::{GuardAtom, ModeFailure, Modes, Valuation, remedies, undetermined};

use crate::error::{Failure, FailureKind};
use crate::events::condition::assigned_by_whens;
use crate::events::iteration::Truths;
use crate::experience::Learnt;
use crate::kernel::Bound;
use crate::memory::Memory;
use crate::modes::forms::OtherForms;
use crate::modes::jacobian::JacobianPlans;
use crate::report::Refusal;
use crate::run::output::Layout;

/// Larger models get no proposals for singular modes: finding them takes longer than the search.
const MOST_EQUATIONS_WITH_PROPOSALS: usize = 10_000;

/// Models with more variables get no equations for what modes leave open.
const MOST_HOLDS: usize = 20_000;

/// A compiled model. It knows no run: parameters, start values and options belong to runs.
#[derive(Debug)]
pub struct Compiled {
    model: Arc<Mdae>,
    pool: Arc<ExprPool>,
    cache: KernelCache,
    modes: Modes,
    remembered: Vec<VarId>,
    residual_conditions: IndexVec<EquationId, Vec<ConditionId>>,
    /// What may jump in an equation without an event, in the order of expressions.
    silent_switches: IndexVec<EquationId, Vec<ExprId>>,
    within_equations: Vec<ConditionId>,
    parameter_order: Vec<VarId>,
    needed_orders: u16,
    inverses: SolvedByInverse,
    simplified: SimplifiedResiduals,
    /// The model with the simplified expressions of `homotopy`, made when a run asks for it.
    simplified_model: OnceLock<Option<Arc<Compiled>>>,
    jacobians: JacobianPlans,
    /// What when-clauses assign to a variable, and the conditions under which.
    assigned: FxHashMap<VarId, Vec<ExprId>>,
    /// `der(x) = 0` by unknown, which no guard selects: for modes in which nothing determines x.
    holds: FxHashMap<VarId, EquationId>,
    /// Whether something in the equations may jump in time without an event.
    switches_in_time: bool,
    /// What guards are made of; found when a mode is first told.
    atoms: OnceLock<Vec<GuardAtom>>,
    /// What its runs have learnt.
    learnt: Learnt,
}

impl Compiled {
    /// Prepares a model whose aliases have been eliminated and orders raised.
    pub fn new(mut model: Mdae) -> Result<Arc<Self>, Failure> {
        let cache = KernelCache::new(Arc::new(model.functions.clone()));
        let holds = add_holds(&mut model);
        let modes = Modes::new(&model);
        let remembered = remembered(&model);
        let residual_conditions: IndexVec<EquationId, Vec<ConditionId>> = model
            .equations
            .iter()
            .map(|e| model.pool.conditions_in(e.residual))
            .collect();
        let mut within_equations: Vec<ConditionId> = residual_conditions.iter().flatten().copied().collect();
        within_equations.sort_unstable();
        within_equations.dedup();
        let silent_switches = model.equations.iter().map(|e| silent_switches(&model, e.residual));
        let silent_switches = silent_switches.collect();
        let parameter_order = parameter_order(&model)?;
        let highest = highest_occurrence(&model);
        let inverses = solved_by_inverse(&mut model);
        let simplified = simplified_residuals(&model);
        let pool = model.pool.freeze();
        model.variables.shrink_to_fit();
        model.equations.shrink_to_fit();
        model.origins.shrink_to_fit();
        let expressions = pool.len();
        Ok(Arc::new(Compiled {
            pool,
            cache,
            modes,
            remembered,
            residual_conditions,
            silent_switches,
            within_equations,
            parameter_order,
            needed_orders: highest + 7,
            inverses,
            simplified,
            simplified_model: OnceLock::new(),
            jacobians: JacobianPlans::new(expressions),
            assigned: assigned_by_whens(&model),
            holds,
            switches_in_time: switches_in_time(&model),
            model: Arc::new(model),
            atoms: OnceLock::new(),
            learnt: Learnt::default(),
        }))
    }

    /// The model with the simplified expressions of `homotopy(…)` in place of the actual ones, if it has any.
    pub(crate) fn simplified(&self) -> Option<&Arc<Compiled>> {
        let made = self.simplified_model.get_or_init(|| {
            let simplified = simplified_model(&self.model)?;
            Compiled::new(simplified).ok()
        });
        made.as_ref()
    }

    /// The model.
    pub fn model(&self) -> &Arc<Mdae> {
        &self.model
    }
    /// Its guards.
    pub fn modes(&self) -> &Modes {
        &self.modes
    }
    /// A pool that extends the model's, for analyses that make new expressions.
    pub fn fork_pool(&self) -> ExprPool {
        ExprPool::fork(&self.pool)
    }
    pub(crate) fn pool(&self) -> &Arc<ExprPool> {
        &self.pool
    }
    pub(crate) fn forms(&self) -> OtherForms<'_> {
        OtherForms {
            inverses: &self.inverses,
            simplified: &self.simplified,
        }
    }
    pub(crate) fn jacobians(&self) -> &JacobianPlans {
        &self.jacobians
    }
    pub(crate) fn cache(&self) -> &KernelCache {
        &self.cache
    }
    /// What its runs have learnt about modes and mode changes.
    pub(crate) fn learnt(&self) -> &Learnt {
        &self.learnt
    }
    pub(crate) fn remembered(&self) -> &[VarId] {
        &self.remembered
    }
    /// Whether something in the equations may jump in time without an event.
    pub(crate) fn switches_in_time(&self) -> bool {
        self.switches_in_time
    }
    pub(crate) fn needed_orders(&self) -> u16 {
        self.needed_orders
    }
    /// The equation that keeps an unknown as it is, for modes in which nothing determines it.
    pub(crate) fn hold(&self, var: VarId) -> Option<EquationId> {
        self.holds.get(&var).copied()
    }
    /// Conditions that switch values within equations.
    pub(crate) fn conditions_within_equations(&self) -> &[ConditionId] {
        &self.within_equations
    }
    pub(crate) fn conditions_in_residual(&self, equation: EquationId) -> &[ConditionId] {
        &self.residual_conditions[equation]
    }

    /// The name of a derivative of a variable as users know it: an alias if there is one.
    pub fn name(&self, var: VarId, order: u16) -> String {
        let Some(variable) = self.model.variables.get(var) else {
            return format!("restart unknown {}", var.0);
        };
        if order > 0
            && let Some(alias) = self
                .model
                .aliases
                .iter()
                .find(|a| a.target == var && a.order == order && !a.negated)
        {
            return alias.variable.name.to_string();
        }
        derivative_name(&variable.name, order)
    }

    /// The names under which users know a derivative of a variable, with their signs: the variable itself and its
    /// aliases. A derivative without an alias is no quantity of its own: the jump below it says the same.
    pub(crate) fn names_of(&self, var: VarId, order: u16) -> Vec<(String, bool)> {
        let own = self
            .model
            .variables
            .get(var)
            .filter(|_| order == 0)
            .map(|v| (v.name.to_string(), false));
        let aliases = self
            .model
            .aliases
            .iter()
            .filter(|alias| alias.target == var && alias.order == order);
        own.into_iter()
            .chain(aliases.map(|alias| (alias.variable.name.to_string(), alias.negated)))
            .collect()
    }

    /// The conditions a formula depends on, through the definitions of discrete variables and what when-clauses assign.
    pub(crate) fn conditions_behind(&self, formula: ExprId) -> Vec<ConditionId> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut stack = vec![formula];
        while let Some(root) = stack.pop() {
            found.extend(self.model.pool.conditions_in(root));
            for Derivative { var, .. } in self.model.pool.occurrences(root) {
                if seen.insert(var) {
                    stack.extend(self.model.discrete.iter().filter(|e| e.target == var).map(|e| e.value));
                    stack.extend(self.assigned.get(&var).into_iter().flatten());
                }
            }
        }
        found
    }

    /// Truth values to begin with where the start values decide nothing: a Boolean defined by a condition says it by
    /// its own start value, everything else is taken to be false.
    pub(crate) fn first_truths(&self, memory: &Memory) -> Result<Truths, Failure> {
        let mut truths = Truths::filled(false, self.model.conditions.len());
        for equation in &self.model.discrete {
            let (value, negated) = match self.model.pool.node(equation.value) {
                Node::Unary(saltus_mdae::UnaryFunction::Not, inner) => (self.model.pool.node(inner), true),
                node => (node, false),
            };
            if let (Node::Condition(condition), Some(start)) = (value, self.model.variables[equation.target].start) {
                let start = Bound::of_value(&self.cache, &self.model.pool, start, memory)?.value(memory) != 0.0;
                truths[condition] = start ^ negated;
            }
        }
        Ok(truths)
    }

    /// Whether the model asks for `terminal()` or `initial()`.
    pub(crate) fn uses(&self, node: Node) -> bool {
        (0..self.model.pool.len()).any(|raw| self.model.pool.node(ExprId::from_usize(raw)) == node)
    }

    /// Derivatives that occur in the equations or have a name of their own, sorted.
    pub(crate) fn derivatives_in_use(&self) -> std::collections::BTreeSet<Derivative> {
        let mut found = std::collections::BTreeSet::new();
        let selected = |equation: &&saltus_mdae::Equation| self.model.pool.constant(equation.guard) != Some(0.0);
        for equation in self.model.equations.iter().filter(selected) {
            for Derivative { var, order } in self.model.pool.occurrences(equation.residual) {
                if self.model.is_unknown(var) {
                    found.extend((1..=order).map(|order| Derivative { var, order }));
                }
            }
        }
        for alias in self.model.aliases.iter().filter(|alias| alias.order > 0) {
            found.extend((1..=alias.order).map(|order| Derivative::new(alias.target, order)));
        }
        found
    }

    /// What may jump in an equation without an event, in the order of expressions.
    pub(crate) fn silent_switches(&self, equation: EquationId) -> &[ExprId] {
        &self.silent_switches[equation]
    }

    /// What guards consist of, with the present truth values.
    pub(crate) fn guard_atoms(&self, memory: &Memory) -> Vec<(String, bool)> {
        let atoms = self.atoms();
        let formulas: Vec<_> = atoms.iter().map(|atom| atom.formula).collect();
        let present = crate::restart::Present { memory, initial: false };
        let values = saltus_mdae::eval::evaluate(&self.model.pool, &self.model.functions, &formulas, &present);
        let values = values.unwrap_or_default();
        let texts = atoms.iter().map(|atom| atom.text.clone());
        texts.zip(values.into_iter().map(|value| value != 0.0)).collect()
    }

    /// What guards consist of.
    pub(crate) fn atoms(&self) -> &[GuardAtom] {
        self.atoms.get_or_init(|| self.modes.atoms(&self.model))
    }

    /// The present truth values of what guards consist of.
    pub(crate) fn atom_truths(&self, memory: &Memory) -> Vec<bool> {
        let (pool, functions) = (&self.model.pool, &self.model.functions);
        let truth = |atom: &GuardAtom| match pool.node(atom.formula) {
            Node::Var { var, order } => memory.get(var, order) != 0.0,
            Node::Condition(id) => memory.condition(id),
            _ => {
                let present = crate::restart::Present { memory, initial: false };
                let values = saltus_mdae::eval::evaluate(pool, functions, &[atom.formula], &present);
                values.is_ok_and(|values| values[0] != 0.0)
            }
        };
        self.atoms().iter().map(truth).collect()
    }

    /// A singular mode in words, with the equations that are too many.
    pub(crate) fn explain_mode_failure(&self, valuation: &Valuation, failure: &ModeFailure) -> Refusal {
        let equations: Vec<EquationId> = match failure {
            ModeFailure::Singular { overdetermined, .. } => overdetermined
                .iter()
                .flat_map(|piece| piece.equations.iter().copied())
                .collect(),
            ModeFailure::TooManyDifferentiations { equation } => vec![*equation],
            ModeFailure::DependentConstraints { dependent, .. } => dependent.clone(),
        };
        let origins = equations.iter().map(|&id| self.model.equations[id].origin);
        Refusal {
            reason: self.mode_failure_in_words(failure),
            origins: origins.collect(),
            // A search may meet many singular candidates; of large models only the reasons are reported.
            help: if self.model.equations.len() <= MOST_EQUATIONS_WITH_PROPOSALS {
                remedies(
                    &self.model,
                    &self.modes,
                    &|equation| self.modes.is_active(valuation, equation),
                    failure,
                )
            } else {
                Vec::new()
            },
        }
    }

    fn mode_failure_in_words(&self, failure: &ModeFailure) -> String {
        let names = UserNames::new(&self.model);
        let equation = |id: &EquationId| {
            let residual = self.model.equations[*id].residual;
            format!("`{}`", print::equation(&self.model.pool, &names, residual))
        };
        let list = |items: Vec<String>| {
            let more = items.len().saturating_sub(4);
            let mut text = items.into_iter().take(4).collect::<Vec<_>>().join(", ");
            if more > 0 {
                text.push_str(&format!(" and {more} more"));
            }
            text
        };
        match failure {
            ModeFailure::Singular {
                overdetermined,
                underdetermined,
                ..
            } => {
                let over: Vec<String> = overdetermined
                    .iter()
                    .flat_map(|piece| piece.equations.iter().map(equation))
                    .collect();
                let open = underdetermined.iter().flat_map(|piece| piece.unknowns.iter().copied());
                let open: Vec<VarId> = open.collect();
                let under = if self.model.equations.len() <= MOST_EQUATIONS_WITH_PROPOSALS {
                    undetermined(&self.model, &self.modes, &open)
                } else {
                    open.iter()
                        .map(|&var| self.model.variables[var].name.to_string())
                        .collect()
                };
                let under: Vec<String> = under.iter().map(|name| format!("`{name}`")).collect();
                match (over.is_empty(), under.is_empty()) {
                    (false, true) => format!("too many equations: {}", list(over)),
                    (true, false) => format!("nothing determines {}", list(under)),
                    _ => format!("too many equations: {}; nothing determines {}", list(over), list(under)),
                }
            }
            ModeFailure::TooManyDifferentiations { equation: id } => {
                format!("{} would have to be differentiated too often", equation(id))
            }
            ModeFailure::DependentConstraints { dependent, .. } => {
                format!(
                    "constraints depend on each other: {}",
                    list(dependent.iter().map(equation).collect())
                )
            }
        }
    }

    /// The variables that results have, with the values of parameters for those that are given. No start is looked for:
    /// parameters that are solved for there have no value yet, which reads as zero.
    pub fn schema(&self, given: &[(VarId, f64)]) -> Result<Schema, Failure> {
        let mut memory = Memory::new(&self.model, self.needed_orders());
        self.set_parameters(&mut memory, given)?;
        Ok(Layout::new(self, &memory)?.schema)
    }

    /// Computes all parameters from their bindings and the given values.
    pub(crate) fn set_parameters(&self, memory: &mut Memory, given: &[(VarId, f64)]) -> Result<(), Failure> {
        for &(var, value) in given {
            memory.set(var, 0, value);
        }
        for &var in &self.parameter_order {
            if given.iter().any(|&(known, _)| known == var) {
                continue;
            }
            let variable = &self.model.variables[var];
            let value = match variable.binding.or(variable.start) {
                Some(binding) => {
                    let bound = Bound::of_value(&self.cache, &self.model.pool, binding, memory)?;
                    let mut out = [0.0];
                    match bound.evaluate_checked(memory, &mut out) {
                        Ok(()) => out[0],
                        Err(error) if variable.blank && !matches!(error.fault, Fault::Call(_)) => f64::NAN,
                        Err(error) => return Err(Failure::domain(&error, vec![variable.origin])),
                    }
                }
                None => 0.0,
            };
            memory.set(var, 0, value);
        }
        Ok(())
    }
}

/// Adds an equation `der(x) = 0` that no guard selects for every unknown of a model with modes.
fn add_holds(model: &mut Mdae) -> FxHashMap<VarId, EquationId> {
    let guarded = |equation: &saltus_mdae::Equation| model.pool.constant(equation.guard).is_none();
    let mut holds = FxHashMap::default();
    if !model.equations.iter().any(guarded) || model.variables.len() > MOST_HOLDS {
        return holds;
    }
    let never = model.pool.boolean(false);
    let unknowns: Vec<VarId> = model.variables.ids().filter(|&var| model.is_unknown(var)).collect();
    for var in unknowns {
        let rate = model.pool.der_var(var, 1);
        let origin = model.variables[var].origin;
        holds.insert(var, model.add_guarded_equation(never, rate, origin));
    }
    holds
}

/// Discrete variables whose `pre` occurs anywhere, or that feed when-conditions.
fn remembered(model: &Mdae) -> Vec<VarId> {
    let mut found: FxHashSet<VarId> = FxHashSet::default();
    for raw in 0..model.pool.len() {
        if let Node::Pre { var, .. } = model.pool.node(ExprId::from_usize(raw))
            && model.variables[var].role == Role::Discrete
        {
            found.insert(var);
        }
    }
    for condition in model.whens.iter().flat_map(|w| &w.branches).flat_map(|b| &b.conditions) {
        for Derivative { var, .. } in model.pool.occurrences(*condition) {
            if model.variables[var].role == Role::Discrete {
                found.insert(var);
            }
        }
    }
    let mut sorted: Vec<VarId> = found.into_iter().collect();
    sorted.sort_unstable();
    sorted
}

/// Parameters in an order in which their bindings can be computed.
fn parameter_order(model: &Mdae) -> Result<Vec<VarId>, Failure> {
    let mut order = Vec::new();
    // 0: not visited, 1: on the stack, 2: done
    let mut mark: IndexVec<VarId, u8> = IndexVec::filled(0, model.variables.len());
    for root in model
        .variables
        .ids()
        .filter(|&id| model.variables[id].role == Role::Parameter)
    {
        let mut stack = vec![(root, false)];
        while let Some((var, leaving)) = stack.pop() {
            if leaving {
                mark[var] = 2;
                order.push(var);
                continue;
            }
            match mark[var] {
                2 => continue,
                // Equations of the start may close a circle: any value will do to begin with.
                1 if !model.variables[var].fixed => continue,
                1 => {
                    return Err(Failure::new(FailureKind::Initialisation {
                        reason: format!("the parameter `{}` depends on itself", model.variables[var].name),
                        suspects: vec![model.variables[var].name.to_string()],
                        origins: vec![model.variables[var].origin],
                    }));
                }
                _ => {}
            }
            mark[var] = 1;
            stack.push((var, true));
            if let Some(binding) = model.variables[var].binding.or(model.variables[var].start) {
                for Derivative { var: needed, .. } in model.pool.occurrences(binding) {
                    if model.variables[needed].role == Role::Parameter && mark[needed] != 2 {
                        stack.push((needed, false));
                    }
                }
            }
        }
    }
    Ok(order)
}

fn highest_occurrence(model: &Mdae) -> u16 {
    (0..model.pool.len())
        .filter_map(|raw| match model.pool.node(ExprId::from_usize(raw)) {
            Node::Var { order, .. } | Node::Pre { order, .. } => Some(order),
            _ => None,
        })
        .max()
        .unwrap_or(0)
}

/// Whether something in the equations of rates jumps in time without an event: a relation in `noEvent`, or what a function of time may
/// contain.
fn switches_in_time(model: &Mdae) -> bool {
    // What only algebraic variables show is no matter of steps.
    let is_rate = |residual: &ExprId| model.pool.occurrences(*residual).iter().any(|leaf| leaf.order > 0);
    let residuals = model.equations.iter().map(|equation| equation.residual);
    let residuals: Vec<ExprId> = residuals.filter(is_rate).collect();
    let mut of_time: FxHashSet<ExprId> = FxHashSet::default();
    // Children come before parents.
    for expression in model.pool.reachable(&residuals) {
        let node = model.pool.node(expression);
        let mut depends = node == Node::Time;
        model
            .pool
            .for_each_child(node, |child| depends |= of_time.contains(&child));
        if depends && may_jump(node) {
            return true;
        }
        if depends {
            of_time.insert(expression);
        }
    }
    false
}

/// What may jump in an expression without an event.
fn silent_switches(model: &Mdae, expression: ExprId) -> Vec<ExprId> {
    let moves = |&Derivative { var, .. }: &Derivative| model.is_unknown(var);
    let may_switch = |&id: &ExprId| {
        let jumps = may_jump(model.pool.node(id)) && !saltus_mdae::asks_for_rounding(&model.pool, id);
        jumps && model.pool.occurrences(id).iter().any(moves)
    };
    model
        .pool
        .reachable(&[expression])
        .into_iter()
        .filter(may_switch)
        .collect()
}

/// Whether an operation may jump without an event.
fn may_jump(node: Node) -> bool {
    match node {
        Node::Unary(op, _) => matches!(op, UnaryFunction::Sign | UnaryFunction::Floor | UnaryFunction::Ceil),
        Node::Binary(op, ..) => matches!(
            op,
            BinaryFunction::Lt
                | BinaryFunction::Le
                | BinaryFunction::Gt
                | BinaryFunction::Ge
                | BinaryFunction::Eq
                | BinaryFunction::Ne
                | BinaryFunction::Mod
                | BinaryFunction::Rem
                | BinaryFunction::Quotient
        ),
        Node::Call { .. } => true,
        _ => false,
    }
}
