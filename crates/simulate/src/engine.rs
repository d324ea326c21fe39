//! The state of a run.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_codegen::KernelCache;
use saltus_mdae::{
    ConditionId, Derivative, EquationId, ExprId, ExprPool, Idx, Mdae, Role, Share, Type, VarId, Variable,
};
use saltus_results::ModeRecord;
use saltus_structure::mode::{
    GuardId, ModeFailure, ModeStructure, Valuation, analyze_equations, analyze_mode, needs_reselection,
};

use crate::compiled::Compiled;
use crate::error::{Failure, FailureKind};
use crate::events::condition::{Monitors, held_signs, monitors};
use crate::events::discrete::DiscreteProgram;
use crate::events::iteration::EventState;
use crate::events::iteration::Truths;
use crate::events::response::{Blur, Responses};
use crate::events::sample::SampleClock;
use crate::events::scale::Scales;
use crate::events::simplified::Paths;
use crate::experience::{Experience, Lessons};
use crate::kernel::Bound;
use crate::memory::{DEFAULT_ORDERS, Memory};
use crate::modes::cache::ModeCache;
use crate::modes::jets::Beyond;
use crate::modes::ode::{ModeOde, OdeFailure};
use crate::modes::plan::{PlanCode, PlanFailure, Stage};
use crate::modes::runtime::{ModeRuntime, Tools};
use crate::options::{Options, Redundant};
use crate::report::{BlockCost, MovedStarts, Refusal};
use crate::restart::RestartCache;
use crate::run::delay::History;
use crate::run::input::Inputs;
use crate::start::initial::StartState;

saltus_mdae::typed_index! {
    /// A mode that has been entered, numbered in order of first entry.
    ModeId,
}

/// The part of the bytes of all modes that restart systems may take.
const RESTART_PART: usize = 4;

/// The part of the bytes of all modes that is left to them while many candidates are refused.
const REFUSED_PART: usize = 4;

/// Why a mode cannot be entered.
#[derive(Debug)]
pub(crate) enum ModeRefusal {
    /// Its equations do not determine its unknowns.
    Structure(ModeFailure),
    /// A derivative is needed that memory has no room for.
    Order { var: VarId, order: u16 },
    /// There is no code for its equations.
    Code(Failure),
}

/// Work done by a run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounters {
    /// Events.
    pub events: u64,
    /// Super-dense instants.
    pub instants: u64,
    /// Changes of mode.
    pub mode_changes: u64,
    /// Those among them that were carried out where they changed something, without a mode of their own.
    pub local_changes: u64,
    /// Equations whose connections local changes found anew.
    pub touched_equations: u64,
    /// Candidate modes tried.
    pub candidates: u64,
    /// Candidates that complementarity pivoting proposed.
    pub pivoted: u64,
    /// Modes analysed.
    pub modes: u64,
    /// Restart systems analysed.
    pub restart_analyses: u64,
    /// Restart systems solved.
    pub restarts: u64,
    /// Accepted integrator steps.
    pub steps: u64,
    /// Rejected integrator steps.
    pub rejected_steps: u64,
    /// Evaluations of the right-hand side.
    pub evaluations: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// Factorisations.
    pub factorisations: u64,
    /// Iterations of the integrator's own nonlinear solver.
    pub newton_iterations: u64,
    /// Its failures.
    pub newton_failures: u64,
    /// Changes of the choice of states.
    pub state_choices: u64,
    /// Points within steps at which the conditions were looked at.
    pub samples: u64,
}

/// The variables of a model by what happens to them.
#[derive(Clone, Debug)]
pub(crate) struct VariableSets {
    /// Unknowns of the continuous equations.
    pub unknowns: Vec<VarId>,
    /// Variables with left limits.
    pub shifted: Vec<VarId>,
    /// Discrete variables that count.
    pub integers: Vec<VarId>,
    /// Discrete variables whose `pre` matters.
    pub remembered: Vec<VarId>,
}

impl VariableSets {
    fn new(compiled: &Compiled) -> Self {
        let variables = &compiled.model().variables;
        let select =
            |wanted: &dyn Fn(&Variable) -> bool| variables.ids().filter(|&id| wanted(&variables[id])).collect();
        VariableSets {
            unknowns: select(&|variable| variable.role == Role::Continuous),
            shifted: select(&|variable| variable.role != Role::Parameter),
            integers: select(&|variable| variable.role == Role::Discrete && variable.ty == Type::Integer),
            remembered: compiled.remembered().to_vec(),
        }
    }
}

/// What has been said, once, of things that do not stop the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    pub warnings: Vec<String>,
    /// Start values that do not hold; among the warnings, too.
    pub moved_starts: Option<MovedStarts>,
    /// Unknowns that are shared.
    pub shares: FxHashSet<Vec<VarId>>,
    /// Equations with an impulse whose discrete factors jump.
    pub factors: FxHashSet<EquationId>,
    /// Restart equations of which another solution was taken than the nearest.
    pub roots: FxHashSet<Vec<ExprId>>,
    /// Modes in which something floats.
    pub floating: FxHashSet<ModeId>,
    /// Unknowns of which it was said that nothing determines them, their coefficients being zero.
    pub undetermined: FxHashSet<Derivative>,
    /// Modes that were left at the instant at which they were entered and are not in the results yet.
    pub passed_modes: Vec<ModeRecord>,
    /// Those and the ones in the results.
    pub ever_passed: FxHashSet<ModeId>,
}

#[derive(Clone)]
pub(crate) struct Engine {
    pub compiled: Arc<Compiled>,
    pub model: Arc<Mdae>,
    pub options: Options,
    pub sets: VariableSets,

    // Code that modes add to as they are met.
    pub pool: ExprPool,
    pub cache: KernelCache,
    pub discrete: DiscreteProgram,
    pub monitors: Monitors,
    /// What conditions read that modes may make simpler.
    pub paths: Paths,
    pub guards: Vec<Bound>,
    pub modes: ModeCache,
    pub restarts: RestartCache,
    /// Equations compiled for complementarity pivoting.
    pub pivot_rows: crate::events::pivot::PivotRows,
    /// What was known of the model when the run began, and what the run has added.
    pub experience: Option<Arc<Experience>>,
    pub lessons: Lessons,
    /// Derivatives that memory has room for.
    pub orders: u16,

    // Where the run is.
    pub memory: Memory,
    pub mode: Option<ModeId>,
    /// Conditions in force.
    pub truths: Truths,
    pub when_before: Vec<bool>,
    /// Derivatives beyond the leading ones that are valid in memory.
    pub jet_level: u16,
    /// Last values of variables that are dead now.
    pub last_values: FxHashMap<VarId, f64>,
    pub samples: Vec<SampleClock>,
    pub inputs: Inputs,

    // How large and how well known values are.
    pub scales: Scales,
    pub nominal: Vec<f64>,
    /// How the values in memory respond to errors of the states.
    pub responses: Responses,

    /// What is known of the start while it is looked for.
    pub start: StartState,
    /// What is known of the present event.
    pub event: EventState,
    /// Coefficients of impulses of the last change that must not jump.
    pub steady: Vec<crate::restart::steady::Steady>,

    pub reported: Reported,
    pub counters: RunCounters,
    pub scratch: Vec<f64>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("time", &self.memory.time())
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// A run of a model; `orders` is how many derivatives of a variable must be kept at least.
    pub(crate) fn new(
        compiled: &Arc<Compiled>,
        parameters: &[(VarId, f64)],
        options: Options,
        orders: u16,
    ) -> Result<Self, Failure> {
        let model = compiled.model();
        let orders = DEFAULT_ORDERS.max(compiled.needed_orders()).max(orders);
        let usable = (!options.profile).then(|| compiled.learnt().experience(orders, options.redundant));
        let experience = usable.flatten();
        let code = match &experience {
            Some(known) => Code::of_experience(known),
            None => Code::new(compiled, orders)?,
        };
        let Code {
            pool,
            cache,
            mut memory,
            monitors,
            discrete,
            guards,
        } = code;
        compiled.set_parameters(&mut memory, parameters)?;
        memory.set_time(options.start);
        let (paths, pivot_rows) = match &experience {
            Some(known) => (known.paths.clone(), known.pivot_rows.clone()),
            None => Default::default(),
        };
        let given = nominal_values(compiled, &memory)?;
        let nominal = given.iter().map(|nominal| nominal.unwrap_or(1.0)).collect();
        let tolerances = (options.tolerance, options.absolute_tolerance);
        let scales = Scales::new(model, &memory, tolerances, given, (options.start, options.stop));
        Ok(Engine {
            compiled: Arc::clone(compiled),
            model: Arc::clone(model),
            sets: VariableSets::new(compiled),
            cache,
            discrete,
            monitors,
            guards,
            // What modes have cost is asked for at the end.
            modes: ModeCache::new(if options.profile {
                usize::MAX
            } else {
                options.mode_bytes
            }),
            paths,
            restarts: RestartCache::new(options.mode_bytes / RESTART_PART),
            pivot_rows,
            experience,
            lessons: Lessons::default(),
            orders,
            mode: None,
            truths: compiled.first_truths(&memory)?,
            when_before: Vec::new(),
            jet_level: 0,
            last_values: FxHashMap::default(),
            samples: Vec::new(),
            inputs: Inputs::default(),
            scales,
            nominal,
            responses: Responses::default(),
            start: StartState::new(model, parameters),
            event: EventState::new(model.conditions.len()),
            steady: Vec::new(),
            reported: Reported::default(),
            counters: RunCounters::default(),
            scratch: Vec::new(),
            pool,
            memory,
            options,
        })
    }

    /// Nominal values may depend on parameters that were solved for.
    pub(crate) fn renew_nominal_values(&mut self) -> Result<(), Failure> {
        let given = nominal_values(&self.compiled, &self.memory)?;
        self.nominal = given.iter().map(|nominal| nominal.unwrap_or(1.0)).collect();
        self.scales.set_nominal_values(given);
        Ok(())
    }

    pub(crate) fn evaluate_guards(&self) -> Valuation {
        Valuation::from_fn(self.compiled.modes(), |guard| self.holds(guard))
    }

    /// Whether a guard holds at present. What it asks beside a literal that does not hold may be undefined, as `v[i]` is where i is
    /// another.
    pub(crate) fn holds(&self, guard: GuardId) -> bool {
        let value = self.guards[guard.index()].value(&self.memory);
        value != 0.0 && !value.is_nan()
    }

    fn analysed(&mut self, valuation: &Valuation) -> Result<ModeId, Arc<ModeRefusal>> {
        match self.analysed_as_written(valuation) {
            Err(refusal) => match &*refusal {
                ModeRefusal::Structure(failure) => self.analysed_floating(valuation, failure).ok_or(refusal.clone()),
                _ => Err(refusal),
            },
            Ok(mode) => match self.barred(mode) {
                Some(failure) => Err(Arc::new(ModeRefusal::Structure(failure))),
                None => Ok(mode),
            },
        }
    }

    fn analysed_as_written(&mut self, valuation: &Valuation) -> Result<ModeId, Arc<ModeRefusal>> {
        match self.modes.by_valuation.get(valuation) {
            Some(&Ok(mode)) => {
                if !self.modes.ask(mode) {
                    self.make_again(mode, valuation)?;
                }
                return Ok(mode);
            }
            Some(Err(refusal)) => return Err(refusal.clone()),
            None => {}
        }
        self.counters.modes += 1;
        let runtime = self.compile_mode(valuation);
        let entry = runtime.map(|runtime| self.modes.push(runtime));
        self.modes.by_valuation.insert(valuation.clone(), entry.clone());
        entry
    }

    /// Why a mode whose constraints follow from each other must not be entered: where a regular one may be consistent, or
    /// where that was asked for.
    fn barred(&mut self, mode: ModeId) -> Option<ModeFailure> {
        if self.model.shares.is_empty() {
            return None;
        }
        let failure = self.redundancy(&self.modes[mode].structure)?;
        self.event.singular_met = true;
        let admitted = self.options.redundant == Redundant::Share && (self.event.floats || self.mode == Some(mode));
        (!admitted).then_some(failure)
    }

    /// A singular mode in which something floats, where the search asks for such modes, or if it is in force.
    fn analysed_floating(&mut self, valuation: &Valuation, failure: &ModeFailure) -> Option<ModeId> {
        self.event.singular_met = true;
        if self.options.redundant == Redundant::Refuse {
            return None;
        }
        let known = self.modes.floating_by_valuation.get(valuation).copied();
        if !self.event.floats && (self.mode.is_none() || known.flatten() != self.mode) {
            return None;
        }
        if let Some(known) = known {
            let mode = known?;
            if !self.modes.ask(mode) {
                self.make_again(mode, valuation).ok()?;
            }
            return Some(mode);
        }
        let found = self.floating(valuation, failure).and_then(|(floating, structure)| {
            let runtime = self.runtime_of(structure).ok()?;
            self.counters.modes += 1;
            let mode = self.modes.push(runtime);
            self.modes.floating.insert(mode, floating);
            Some(mode)
        });
        self.modes.floating_by_valuation.insert(valuation.clone(), found);
        found
    }

    /// A mode, by what is known of it or anew.
    fn compile_mode(&mut self, valuation: &Valuation) -> Result<ModeRuntime, Arc<ModeRefusal>> {
        let known = self.experience.as_ref().and_then(|known| known.mode(valuation));
        if let Some(known) = known {
            let nominal = |var: VarId| self.nominal.get(var.index()).copied().unwrap_or(1.0);
            return known.clone().map(|mode| mode.for_run(nominal));
        }
        let made = self.compile_new_mode(valuation).map_err(Arc::new);
        match &made {
            Ok(_) => self.lessons.modes += 1,
            Err(refusal) => self.lessons.refuse(valuation, refusal),
        }
        made
    }

    fn compile_new_mode(&mut self, valuation: &Valuation) -> Result<ModeRuntime, ModeRefusal> {
        let structure = analyze_mode(&self.model, self.compiled.modes(), valuation).map_err(ModeRefusal::Structure)?;
        if self.options.redundant == Redundant::Refuse
            && let Some(failure) = self.redundancy(&structure)
        {
            return Err(ModeRefusal::Structure(failure));
        }
        self.runtime_of(structure)
    }

    fn runtime_of(&mut self, structure: ModeStructure) -> Result<ModeRuntime, ModeRefusal> {
        let highest = structure.unknowns.iter().zip(&structure.sigma.d);
        if let Some((&var, &order)) = highest
            .filter(|&(&var, &d)| d + 1 >= self.memory.orders(var))
            .max_by_key(|(_, d)| **d)
        {
            self.modes.missing_orders = self.modes.missing_orders.max(order + 2);
            return Err(ModeRefusal::Order { var, order });
        }
        let aliases = structure.aliases(&self.model, self.compiled.modes(), &mut self.pool);
        let runtime = ModeRuntime::new(self.tools(), &self.pool, structure, aliases, &self.memory);
        runtime.map_err(ModeRefusal::Code)
    }

    /// The shares of undetermined unknowns in a mode.
    fn shares<'m>(&'m self, structure: &'m ModeStructure) -> impl Iterator<Item = &'m Share> {
        let shares = self.model.shares.iter();
        shares.filter(|share| structure.equations.binary_search(&share.equation).is_ok())
    }

    /// Why a mode whose constraints follow from each other is singular.
    pub(crate) fn redundancy(&self, structure: &ModeStructure) -> Option<ModeFailure> {
        let mut dependent: Vec<EquationId> = self.shares(structure).map(|share| share.follows).collect();
        let mut unknowns: Vec<VarId> = self
            .shares(structure)
            .flat_map(|share| share.unknowns.clone())
            .collect();
        dependent.sort_unstable();
        dependent.dedup();
        unknowns.sort_unstable();
        unknowns.dedup();
        (!dependent.is_empty()).then(|| ModeFailure::DependentConstraints {
            equations: dependent.clone(),
            dependent,
            unknowns,
        })
    }

    /// Says, once for each set of them, which unknowns of the mode entered are shared.
    pub(crate) fn tell_shares(&mut self, mode: ModeId) {
        if self.model.shares.is_empty() {
            return;
        }
        let found: Vec<Share> = self.shares(&self.modes[mode].structure).cloned().collect();
        for Share { unknowns, follows, .. } in found {
            if !self.reported.shares.insert(unknowns.clone()) {
                continue;
            }
            let names: Vec<String> = unknowns.iter().map(|&var| format!("`{}`", self.name(var, 0))).collect();
            self.reported.warnings.push(format!(
                "at t = {}: {} are not determined one by one, since `{}` follows from other constraints; they are shared by \
                 minimum norm (`--redundant=refuse` stops here instead)",
                self.memory.time(),
                names.join(", "),
                self.model.print_equation(self.model.equations[follows].residual)
            ));
        }
    }

    /// A mode that was let go, as it was.
    fn make_again(&mut self, mode: ModeId, valuation: &Valuation) -> Result<(), Arc<ModeRefusal>> {
        let mut runtime = match self.modes.floating.get(&mode) {
            Some(floating) => {
                let equations = floating.equations.clone();
                let structure = analyze_equations(&self.model, self.compiled.modes(), valuation, equations);
                let structure = structure.map_err(ModeRefusal::Structure)?;
                self.runtime_of(structure).map_err(Arc::new)?
            }
            None => self.compile_mode(valuation)?,
        };
        let learnt = self.modes.take_learnt(mode);
        let recalled = runtime.recall(self.tools(), &self.pool, learnt, &self.memory);
        recalled.map_err(ModeRefusal::Code)?;
        self.modes.put_back(mode, runtime);
        Ok(())
    }

    /// Between events only the mode in force has to be there.
    pub(crate) fn let_go_of_modes(&mut self) {
        self.modes.shrink(self.mode, 1);
    }

    /// So also between candidates; most of those that were refused will never be asked for again.
    pub(crate) fn let_go_of_refused_modes(&mut self) {
        self.modes.shrink(self.mode, REFUSED_PART);
    }

    fn tools(&self) -> Tools<'_> {
        tools(&self.compiled, &self.cache, &self.nominal, &self.options)
    }

    fn explain_refusal(&self, valuation: &Valuation, refusal: &ModeRefusal) -> Refusal {
        match refusal {
            ModeRefusal::Structure(failure) => self.compiled.explain_mode_failure(valuation, failure),
            ModeRefusal::Order { var, order } => Refusal::from(format!(
                "{} occurs when its equations are differentiated; derivatives up to order {} are kept",
                self.name(*var, *order),
                self.memory.orders(*var) - 2
            )),
            ModeRefusal::Code(failure) => {
                let refusal = failure.clone().into_refusal();
                let equation = self
                    .model
                    .equations
                    .iter()
                    .find(|equation| refusal.origins.contains(&equation.origin));
                let reason = match equation {
                    Some(equation) => format!("`{}`: {failure}", self.model.print_equation(equation.residual)),
                    None => failure.to_string(),
                };
                Refusal { reason, ..refusal }
            }
        }
    }

    /// The mode of a valuation; the reason in words if it is singular.
    pub(crate) fn mode_of(&mut self, valuation: &Valuation) -> Result<ModeId, Refusal> {
        self.analysed(valuation)
            .map_err(|refusal| self.explain_refusal(valuation, &refusal))
    }

    /// Whether the equations of a mode do not determine its unknowns.
    pub(crate) fn is_singular(&mut self, valuation: &Valuation) -> bool {
        self.analysed(valuation)
            .is_err_and(|refusal| matches!(*refusal, ModeRefusal::Structure(_)))
    }

    pub(crate) fn highest_order(&self, mode: ModeId, var: VarId) -> u16 {
        self.modes[mode].highest_order(var).unwrap_or(0)
    }

    /// Makes all derivatives up to `level` beyond the leading ones valid.
    pub(crate) fn extend_jets(&mut self, mode: ModeId, level: u16) -> bool {
        if self.jet_level >= level {
            return true;
        }
        let unknowns = self.modes[mode].structure.unknowns.iter();
        let all: Vec<Beyond> = unknowns.map(|&var| Beyond { var, level }).collect();
        let complete = self.extend_some(mode, &all);
        if complete {
            self.jet_level = level;
        }
        complete
    }

    /// Makes the derivatives of some variables valid, each up to its level beyond the leading one.
    pub(crate) fn extend_some(&mut self, mode: ModeId, wanted: &[Beyond]) -> bool {
        self.extend_blurred(mode, wanted, None)
    }

    /// The same with a few rounding errors more.
    pub(crate) fn extend_blurred(&mut self, mode: ModeId, wanted: &[Beyond], blur: Option<Blur>) -> bool {
        let tools = tools(&self.compiled, &self.cache, &self.nominal, &self.options);
        self.modes[mode].extend(tools, &self.pool, wanted, &mut self.memory, blur)
    }

    /// The values in memory are those of an accepted point: sizes follow them.
    pub(crate) fn note_sizes(&mut self, mode: ModeId) {
        let structure = &self.modes[mode].structure;
        for (&var, &highest) in structure.unknowns.iter().zip(&structure.sigma.d) {
            for order in 0..=highest {
                let value = self.memory.get(var, order);
                let derivative = Derivative { var, order };
                match highest {
                    0 => self.scales.note_algebraic(derivative, value),
                    _ => self.scales.note(derivative, value),
                }
            }
        }
    }

    /// Solves the blocks of a mode at the states in memory.
    pub(crate) fn solve_mode(&mut self, mode: ModeId) -> Result<(), Failure> {
        self.forget_derivatives();
        let Engine {
            modes, memory, start, ..
        } = self;
        let plan = modes[mode].plan_mut();
        let outcome = if start.is_going_on {
            let given = |unknown: Derivative| start.values.get(unknown.var, unknown.order).map(|start| start.value);
            plan.solve_near_starts(memory, &given)
        } else {
            plan.solve_from_afar(memory)
        };
        outcome.map_err(|failure| self.explain(mode, &failure))
    }

    /// A failure of a mode's equations in the model's terms.
    pub(crate) fn explain(&self, mode: ModeId, failure: &PlanFailure) -> Failure {
        let name = |var: VarId, order: u16| self.name(var, order);
        self.modes[mode].plan().explain(failure, &self.memory, &name)
    }

    /// A failure to evaluate a mode in the model's terms.
    pub(crate) fn explain_evaluation(&self, mode: ModeId, failure: &OdeFailure) -> Failure {
        match failure {
            OdeFailure::Plan(failure) => self.explain(mode, failure),
            OdeFailure::Delay(error) => error.clone().into(),
        }
    }

    /// The equations of a mode as a system for the integrators.
    pub(crate) fn ode<'a>(&'a mut self, mode: ModeId, history: &'a History) -> ModeOde<'a> {
        ModeOde {
            memory: &mut self.memory,
            code: self.modes[mode].plan_mut(),
            tools: tools(&self.compiled, &self.cache, &self.nominal, &self.options),
            pool: &self.pool,
            scales: &self.scales,
            signals: &self.inputs.signals,
            inputs_from: self.inputs.from,
            history,
            last_failure: None,
        }
    }

    /// What parts of the equations cost, the most expensive first; empty if that was not measured.
    pub(crate) fn profile(&self) -> Vec<BlockCost> {
        const NAMES: usize = 4;
        let mut costs = Vec::new();
        for (mode, runtime) in self.modes.iter() {
            for (stage, cost) in runtime.plans().iter().flat_map(PlanCode::costs) {
                let names = stage.unknowns().iter().take(NAMES);
                costs.push(BlockCost {
                    mode,
                    unknowns: names.map(|&Derivative { var, order }| self.name(var, order)).collect(),
                    size: stage.unknowns().len(),
                    coupled: matches!(stage, Stage::Block(_)),
                    calls: cost.calls,
                    iterations: stage.iterations(),
                    time: cost.time,
                });
            }
        }
        costs.sort_by_key(|cost| std::cmp::Reverse(cost.time));
        costs
    }

    /// Chooses states by the numbers in memory.
    pub(crate) fn choose_states(&mut self, mode: ModeId) -> Result<bool, Failure> {
        self.choose_states_where(mode, needs_reselection)
    }

    /// The same where the quality of the present choice asks for it.
    pub(crate) fn choose_states_where(&mut self, mode: ModeId, asks: fn(f64) -> bool) -> Result<bool, Failure> {
        let tools = tools(&self.compiled, &self.cache, &self.nominal, &self.options);
        let changed = self.modes[mode].choose_states(tools, &self.pool, &self.memory, asks)?;
        self.counters.state_choices += u64::from(changed);
        Ok(changed)
    }

    /// Events of some conditions that accumulate.
    pub(crate) fn accumulation(&self, conditions: &[ConditionId], interval: f64) -> Failure {
        let conditions = conditions.iter().map(|&id| &self.model.conditions[id]);
        Failure::new(FailureKind::Zeno {
            conditions: conditions.clone().map(|condition| condition.text.clone()).collect(),
            origins: conditions.map(|condition| condition.origin).collect(),
            interval,
            obstacle: None,
        })
    }

    pub(crate) fn name(&self, var: VarId, order: u16) -> String {
        self.compiled.name(var, order)
    }

    /// Whether the conditions that two valuations differ in occur in no active equation: then the numbers agree.
    pub(crate) fn value_switches_agree(&self, mode: ModeId, a: &Truths, b: &Truths) -> bool {
        self.value_switches(mode, a, b).is_empty()
    }

    /// The conditions inside equations of a mode in which truth values differ.
    pub(crate) fn value_switches(&self, mode: ModeId, a: &Truths, b: &Truths) -> Vec<ConditionId> {
        let equations = &self.modes[mode].structure.equations;
        let used = |id: ConditionId| {
            let mut residuals = equations.iter().map(|&at| self.compiled.conditions_in_residual(at));
            residuals.any(|conditions| conditions.contains(&id))
        };
        let differing = self.model.conditions.ids().filter(|&id| a[id] != b[id]);
        differing.filter(|&id| used(id)).collect()
    }
}

/// What every run of a model begins with.
struct Code {
    pool: ExprPool,
    cache: KernelCache,
    memory: Memory,
    monitors: Monitors,
    discrete: DiscreteProgram,
    guards: Vec<Bound>,
}

impl Code {
    fn new(compiled: &Compiled, orders: u16) -> Result<Self, Failure> {
        let model = compiled.model();
        // Forks of a pool use the same ids for different expressions: each run has its own cache.
        let cache = compiled.cache().clone();
        let mut pool = ExprPool::fork(compiled.pool());
        let memory = Memory::new(model, orders);
        let monitors = monitors(model, &mut pool, &cache, &memory)?;
        let held = held_signs(model, &monitors, &mut pool, &cache, &memory)?;
        let discrete = DiscreteProgram::new(model, &pool, &cache, &memory, held)?;
        let formulas = compiled.modes().formulas().iter();
        let guards = formulas.map(|&formula| Bound::of_value(&cache, &pool, formula, &memory));
        Ok(Code {
            guards: guards.collect::<Result<_, _>>()?,
            pool,
            cache,
            memory,
            monitors,
            discrete,
        })
    }

    fn of_experience(known: &Experience) -> Self {
        Code {
            pool: ExprPool::fork(&known.pool),
            cache: known.cache.clone(),
            memory: known.memory.clone(),
            monitors: known.monitors.clone(),
            discrete: known.discrete.clone(),
            guards: known.guards.clone(),
        }
    }
}

/// A function of the fields that are needed, so that others can be borrowed beside it.
pub(crate) fn tools<'a>(
    compiled: &'a Compiled,
    cache: &'a KernelCache,
    nominal: &'a [f64],
    options: &Options,
) -> Tools<'a> {
    Tools {
        model: compiled.model(),
        modes: compiled.modes(),
        cache,
        nominal,
        forms: compiled.forms(),
        jacobians: compiled.jacobians(),
        profile: options.profile,
    }
}

/// The `nominal` attributes that are given.
fn nominal_values(compiled: &Compiled, memory: &Memory) -> Result<Vec<Option<f64>>, Failure> {
    let model = compiled.model();
    let mut values = Vec::with_capacity(model.variables.len());
    for variable in &model.variables {
        let value = match variable.nominal {
            Some(nominal) => Some(match model.pool.constant(nominal) {
                Some(constant) => constant.abs(),
                None => {
                    let nominal = Bound::of_value(compiled.cache(), &model.pool, nominal, memory)?;
                    nominal.value(memory).abs()
                }
            }),
            None => None,
        };
        values.push(value.filter(|&value| value.is_finite() && value > 0.0));
    }
    Ok(values)
}
