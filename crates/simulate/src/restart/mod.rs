//! Mode changes at run time: restart systems are analysed once and kept.

mod products;
mod reinit;
pub(crate) mod steady;

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_instant::{
    EulerFailure, EulerLimit, Projection, RestartFailure, RestartSolution, implicit_euler_restart,
    implicit_euler_through, project_restart, solve_restart, solve_restart_apart, solve_restart_keeping,
};
use saltus_mdae::eval::Environment;
use saltus_mdae::{Comparison, ConditionId, Derivative, ExprId, ExprPool, Idx, Mdae, OriginId, Role, VarId};
use saltus_structure::restart::{
    Before, ConcreteEquation, FixedValues, ModeChange, ModeEquation, NumericFacts, PlanEquation, RestartAnalysis,
    RestartOptions, RestartPlan, analyze_restart, explain, levels_beyond,
};

use crate::compiled::Compiled;
use crate::engine::{Engine, ModeId, tools};
use crate::error::{Failure, FailureKind};
use crate::events::candidate::{Instant, Reinit};
use crate::events::iteration::same;
use crate::events::scale::Scales;
use crate::experience::LastingChange;
use crate::memory::Memory;
use crate::modes::cache::ModeCache;
use crate::options::RestartMethod;
use crate::report::{ImpulseReport, Refusal};
use crate::restart::steady::Steady;

/// Analyses kept for one mode change; different facts at the left limits give different ones.
const VARIANTS: usize = 16;

/// Residuals of so many errors of their terms are zero.
const ERRORS: f64 = 10.0;
/// Sizes of so many errors are no sizes.
const NOISE: f64 = 1e3;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChangeKey {
    /// `None`: from the start values.
    from: Option<ModeId>,
    to: ModeId,
    restart: Vec<ExprId>,
    transient: Option<Vec<ExprId>>,
    switched: Vec<(ConditionId, bool)>,
    jumped: Vec<VarId>,
    zero_crossings: Vec<ExprId>,
}

/// Bytes, roughly, of an analysis for each equation, unknown and answer that it keeps.
const BYTES_PER_ENTRY: usize = 600;

/// Restart systems found so far, within a number of bytes: those that were found first make room for others.
#[derive(Clone, Debug)]
pub(crate) struct RestartCache {
    analyses: FxHashMap<ChangeKey, Vec<Arc<RestartAnalysis>>>,
    /// Changes in the order in which they were met.
    met: VecDeque<ChangeKey>,
    bytes: usize,
    bound: usize,
    /// Derivatives beyond the leading ones of the mode before that a change may ask for.
    levels: FxHashMap<(ModeId, ModeId), u16>,
}

impl RestartCache {
    /// An empty cache; what was found last stays even if it alone needs more than `bound` bytes.
    pub(crate) fn new(bound: usize) -> Self {
        RestartCache {
            analyses: FxHashMap::default(),
            met: VecDeque::new(),
            bytes: 0,
            bound,
            levels: FxHashMap::default(),
        }
    }

    /// What is known of a change.
    fn variants(&self, key: &ChangeKey) -> &[Arc<RestartAnalysis>] {
        self.analyses.get(key).map_or(&[], Vec::as_slice)
    }

    fn keep(&mut self, key: &ChangeKey, analysis: Arc<RestartAnalysis>) {
        let variants = self.analyses.entry(key.clone()).or_default();
        if variants.len() >= VARIANTS {
            return;
        }
        if variants.is_empty() {
            self.met.push_back(key.clone());
        }
        self.bytes += approximate_bytes(&analysis);
        variants.push(analysis);
        while self.bytes > self.bound && self.met.len() > 1 {
            let Some(first) = self.met.pop_front() else { break };
            let gone = self.analyses.remove(&first).unwrap_or_default();
            self.bytes -= gone.iter().map(|analysis| approximate_bytes(analysis)).sum::<usize>();
        }
    }
}

pub(crate) fn approximate_bytes(analysis: &RestartAnalysis) -> usize {
    let entries = analysis.rows.len()
        + analysis.equations.len()
        + analysis.unknowns.len()
        + analysis.candidates.len()
        + analysis.answers.len();
    4096 + BYTES_PER_ENTRY * entries
}

/// The memory of a run as environment of expressions.
pub(crate) struct Present<'a> {
    pub memory: &'a Memory,
    pub initial: bool,
}

impl Environment for Present<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        if order < self.memory.orders(var) {
            self.memory.get(var, order)
        } else {
            f64::NAN
        }
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        if order < self.memory.orders(var) {
            self.memory.left(var, order)
        } else {
            f64::NAN
        }
    }
    fn time(&self) -> f64 {
        self.memory.time()
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.memory.condition(condition)
    }
    fn initial(&self) -> bool {
        self.initial
    }
}

/// Parameters and discrete variables as known numbers.
pub(crate) struct Known<'a> {
    pub model: &'a Mdae,
    pub memory: &'a Memory,
    pub nominal: &'a [f64],
    pub scales: &'a Scales,
    /// Relative size of a residual that is zero.
    pub tolerance: f64,
}

impl FixedValues for Known<'_> {
    fn value(&self, var: VarId) -> Option<f64> {
        let variable = self.model.variables.get(var)?;
        matches!(variable.role, Role::Parameter | Role::Discrete).then(|| self.memory.get(var, 0))
    }
    fn left_value(&self, var: VarId) -> Option<f64> {
        self.value(var).map(|_| self.memory.left(var, 0))
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.memory.condition(condition)
    }
    fn relation(&self, condition: ConditionId) -> Option<(ExprId, Comparison)> {
        self.model.relation(condition)
    }
    fn nominal(&self, var: VarId) -> f64 {
        self.nominal.get(var.index()).copied().unwrap_or(1.0)
    }
    fn size(&self, var: VarId, order: u16) -> f64 {
        let (size, error) = self.size_and_error(var, order);
        // What has never been clear of its errors says nothing.
        if size > NOISE * error { size } else { 0.0 }
    }
    fn floor(&self, var: VarId, order: u16) -> f64 {
        let (size, error) = self.size_and_error(var, order);
        size.max(ERRORS * error / self.tolerance)
    }
}

impl Known<'_> {
    fn size_and_error(&self, var: VarId, order: u16) -> (f64, f64) {
        if order < self.memory.orders(var) {
            (
                self.scales.size(self.memory, var, order),
                self.scales.error_before(self.memory, var, order),
            )
        } else {
            (0.0, 0.0)
        }
    }
}

impl Engine {
    /// From the left limits in memory to the right limits of `new`, with all its variables computed.
    pub(crate) fn restart(
        &mut self,
        new: ModeId,
        restart: &[(ExprId, OriginId)],
        transient: Option<&[ModeEquation]>,
        instant: &Instant,
    ) -> Result<Vec<ImpulseReport>, Failure> {
        if instant.initial {
            return self.start(new, restart, instant);
        }
        let from = self.mode.expect("a mode is active after the start");
        let switched = self.switched_conditions(from, new);
        let jumped = self.jumped_variables(from, new);
        let plain =
            from == new && restart.is_empty() && transient.is_none() && switched.is_empty() && jumped.is_empty();
        let impulses = if plain {
            Vec::new()
        } else {
            self.change(Some(from), new, restart, transient, switched, jumped, instant)?
        };
        self.enter(new)?;
        self.check_steady()?;
        Ok(impulses)
    }

    /// `reinit` as the language means it, where the mode needs no help from it: at the end of the instant the states get
    /// their new values, all other states keep theirs, and what the constraints bind to them follows without impulses.
    /// `None` if the mode change fails without the new values, or the constraints leave a choice of what follows: then
    /// `reinit` is a restart equation, and the conserved quantities decide.
    pub(crate) fn reassign(
        &mut self,
        new: ModeId,
        reinits: &[Reinit],
        instant: &Instant,
    ) -> Option<Vec<ImpulseReport>> {
        let impulses = self.restart(new, &[], None, instant).ok()?;
        let values: Result<Vec<f64>, Failure> = reinits.iter().map(|reinit| self.value_of(reinit.value)).collect();
        let values = values.ok()?;
        let targets: Vec<Derivative> = reinits
            .iter()
            .map(|reinit| Derivative::new(reinit.var, reinit.order))
            .collect();
        let tools = tools(&self.compiled, &self.cache, &self.nominal, &self.options);
        let runtime = &mut self.modes[new];
        if !runtime.prefer_states(tools, &self.pool, &self.memory, &targets).ok()? {
            return None;
        }
        for (&Derivative { var, order }, value) in targets.iter().zip(values) {
            self.memory.set(var, order, value);
        }
        self.solve_mode(new).ok()?;
        self.enter(new).ok()?;
        Some(impulses)
    }

    /// Computes all variables of a mode from its right limits below the leading derivatives.
    pub(crate) fn enter(&mut self, new: ModeId) -> Result<(), Failure> {
        self.choose_states(new)?;
        self.solve_mode(new)?;
        self.bury_dead_variables(new);
        Ok(())
    }

    /// Dead variables have no value; what they were last is remembered elsewhere.
    fn bury_dead_variables(&mut self, mode: ModeId) {
        for at in 0..self.modes[mode].structure.dead.len() {
            let var = self.modes[mode].structure.dead[at];
            let last = self.memory.get(var, 0);
            if last.is_finite() {
                self.last_values.insert(var, last);
            }
            for order in 0..self.memory.orders(var) {
                self.memory.set(var, order, f64::NAN);
            }
        }
    }

    fn switched_conditions(&self, from: ModeId, to: ModeId) -> Vec<(ConditionId, bool)> {
        let (old, new) = (&self.modes[from], &self.modes[to]);
        let matters = |id: &ConditionId| old.jump_conditions.contains(id) || new.jump_conditions.contains(id);
        self.model
            .conditions
            .ids()
            .filter(|id| self.truths[id.index()] != self.memory.condition(*id))
            .filter(matters)
            .map(|id| (id, self.truths[id.index()]))
            .collect()
    }

    fn jumped_variables(&self, from: ModeId, to: ModeId) -> Vec<VarId> {
        let (old, new) = (&self.modes[from], &self.modes[to]);
        let mut found: Vec<VarId> = old
            .jump_variables
            .union(&new.jump_variables)
            .copied()
            .filter(|&var| !same(self.memory.get(var, 0), self.memory.left(var, 0)))
            .collect();
        found.sort_unstable();
        found
    }

    /// Analyses (or finds) and solves the restart system; the right limits are written into memory.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn change(
        &mut self,
        from: Option<ModeId>,
        new: ModeId,
        restart: &[(ExprId, OriginId)],
        transient: Option<&[ModeEquation]>,
        switched: Vec<(ConditionId, bool)>,
        jumped: Vec<VarId>,
        instant: &Instant,
    ) -> Result<Vec<ImpulseReport>, Failure> {
        self.counters.restarts += 1;
        let zero_crossings: Vec<ExprId> = instant
            .zero_crossings
            .iter()
            .filter_map(|&id| Some(self.monitors[id].as_ref()?.function))
            .collect();
        let restart: Vec<ModeEquation> = restart
            .iter()
            .map(|&(residual, origin)| ModeEquation { residual, origin })
            .collect();
        let options = self.restart_options(from, new);
        if from.is_some() && self.lessons.parameters.is_none() {
            self.lessons.parameters = Some(self.parameter_bits());
        }
        let key = ChangeKey {
            from,
            to: new,
            restart: restart.iter().map(|e| e.residual).collect(),
            transient: transient.map(|list| list.iter().map(|e| e.residual).collect()),
            switched,
            jumped,
            zero_crossings,
        };
        self.restore_left_limits(from, new);
        let model = Arc::clone(&self.model);
        let is_unknown = |var: VarId| model.variables.get(var).is_some_and(|v| v.role == Role::Continuous);
        if let Some(from) = from {
            let systems = [from, new].map(|mode| Arc::clone(&self.modes[mode].system));
            let change = ModeChange {
                before: Before::Mode(&systems[0]),
                new: &systems[1],
                zero_crossings: &key.zero_crossings,
                restart_equations: &restart,
                transient,
                jumped: &key.jumped,
                switched: &key.switched,
                is_unknown: &is_unknown,
                examined: None,
                options: &options,
            };
            if !change.may_restart() {
                self.steady = Vec::new();
                return Ok(self.take_right_limits(new, &RestartSolution::default()));
            }
            self.find_errors_before(from, instant);
        }
        self.extend_left_limits(from, new, instant);
        let unguarded = if from.is_none() {
            self.unguarded_rows(new)
        } else {
            Vec::new()
        };
        let before = match from {
            Some(from) => Before::Mode(&self.modes[from].system),
            None => Before::Start { unguarded: &unguarded },
        };
        let change = ModeChange {
            before,
            new: &self.modes[new].system,
            zero_crossings: &key.zero_crossings,
            restart_equations: &restart,
            transient,
            jumped: &key.jumped,
            switched: &key.switched,
            is_unknown: &is_unknown,
            examined: None,
            options: &options,
        };
        let present = Present {
            memory: &self.memory,
            initial: from.is_none(),
        };
        let known = Known {
            model: &model,
            memory: &self.memory,
            nominal: &self.nominal,
            scales: &self.scales,
            tolerance: fact_tolerance(self.options.tolerance),
        };
        let mut facts = NumericFacts::new(&model.functions, &known, &present, &is_unknown);
        facts.tolerance = fact_tolerance(self.options.tolerance);
        let pool = &mut self.pool;
        let found = (self.restarts.variants(&key).iter())
            .find(|analysis| analysis.agrees(pool, &mut facts))
            .cloned();
        let analysis = match found {
            Some(analysis) => analysis,
            None => {
                self.counters.restart_analyses += 1;
                let lasting = lasting_change(&self.modes, &key);
                let experience = self.experience.as_deref().zip(lasting.as_ref());
                let parameters = self.lessons.parameters.as_deref().unwrap_or_default();
                let known_before = experience.and_then(|(experience, change)| {
                    let mut analyses = experience.analyses(change, parameters).iter();
                    analyses.find(|analysis| analysis.agrees(pool, &mut facts)).cloned()
                });
                let analysis = known_before.unwrap_or_else(|| {
                    let analysis = Arc::new(analyze_restart(pool, &model.functions, &known, change, &mut facts));
                    if let Some(change) = lasting {
                        self.lessons.analyse(change, &analysis);
                    }
                    analysis
                });
                self.restarts.keep(&key, analysis.clone());
                analysis
            }
        };
        let rows: Vec<saltus_graph::Row> = analysis
            .components
            .iter()
            .flat_map(|touched| change.new.component_rows(touched.component).iter().copied())
            .collect();
        let present = Present {
            memory: &self.memory,
            initial: from.is_none(),
        };
        let project = |pool: &ExprPool| {
            let projected = project_restart(pool, &model.functions, change.new, &rows, &present);
            projected.ok().map(projected_solution)
        };
        let mut solution = match &analysis.plan {
            Some(plan) if analysis.is_good() && !instant.refused_roots.is_empty() => {
                let refused = &instant.refused_roots;
                let other = solve_restart_apart(pool, &model.functions, plan, &present, &known, refused);
                other.ok_or_else(|| {
                    Failure::new(FailureKind::Restart("the law has no other solution".to_string().into()))
                })?
            }
            Some(plan) if analysis.is_good() => match solve_restart(pool, &model.functions, plan, &present, &known) {
                Ok(solution) => solution,
                // Structure says yes, numbers say no: the consistency projector decides linear cases (F.2 of RR-9603).
                Err(failure @ RestartFailure::Singular { .. }) => match project(pool) {
                    Some(solution) => solution,
                    None => {
                        let algebraic = |var: VarId| self.modes[new].highest_order(var) == Some(0);
                        solve_restart_keeping(pool, &model.functions, plan, &present, &known, &algebraic)
                            .map_err(|_| unsolved(&self.compiled, &change, plan, &failure))?
                    }
                },
                Err(failure) => return Err(unsolved(&self.compiled, &change, plan, &failure)),
            },
            // Impulses beyond the last instant, or equations that no instant has room for: the projector decides linear
            // cases here too (F.1), but only where no other mode is consistent.
            _ => {
                let refusal = || refused(explain(&model, pool, &change, &analysis));
                if !analysis.is_projectable() || !restart.is_empty() || transient.is_some() {
                    return Err(refusal());
                }
                if !instant.projects {
                    self.event.projectable = true;
                    return Err(refusal());
                }
                project(pool).ok_or_else(refusal)?
            }
        };
        let steady = steady_coefficients(&change, &analysis, &solution);
        if self.options.verify_restarts || self.options.restart == RestartMethod::Euler {
            let euler = match transient {
                Some(transient) => {
                    let equations: Vec<ExprId> = transient.iter().chain(&restart).map(|e| e.residual).collect();
                    implicit_euler_through(pool, &model.functions, change.new, &equations, &is_unknown, &present)
                }
                None if restart.is_empty() => {
                    implicit_euler_restart(pool, &model.functions, change.new, &rows, &present, None)
                }
                // A restart equation in a mode that is regular without it replaces a left limit; steps of the mode know
                // nothing of it.
                None => Ok(Vec::new()),
            };
            let compared = !euler.as_ref().is_ok_and(Vec::is_empty) || solution.right_limits.is_empty();
            let limits = match euler {
                Ok(limits) if compared => limits,
                other => {
                    let why = match other {
                        Err(EulerFailure::NotConverged { .. }) => "the steps have no solution".to_string(),
                        Err(EulerFailure::NotSquare { equations, unknowns }) => {
                            format!("{equations} equations for {unknowns} unknowns at the instant")
                        }
                        Ok(_) => "restart equations act in a mode that needs none".to_string(),
                    };
                    self.reported.warnings.push(format!(
                        "at t = {}: the restart was not compared with implicit Euler steps: {why}",
                        self.memory.time()
                    ));
                    Vec::new()
                }
            };
            for (var, order, structural, euler) in euler_differences(&solution, &limits) {
                let name = self.compiled.name(var, order);
                self.reported.warnings.push(format!(
                    "at t = {}: restart of {name}: {structural} by structure, {euler} by implicit Euler",
                    self.memory.time()
                ));
            }
            if self.options.restart == RestartMethod::Euler {
                take_euler_limits(&mut solution, &limits);
            }
        }
        self.steady = steady;
        let impulses = self.take_right_limits(new, &solution);
        self.event.last_root = solution.unknowns;
        Ok(impulses)
    }

    fn restart_options(&self, from: Option<ModeId>, new: ModeId) -> RestartOptions {
        let remembered = match from {
            Some(from) => {
                let dead = &self.modes[from].structure.dead;
                let alive = |var: &VarId| self.modes[new].highest_order(*var).is_some();
                dead.iter()
                    .copied()
                    .filter(alive)
                    .filter(|var| self.last_values.contains_key(var))
                    .collect()
            }
            None => Vec::new(),
        };
        RestartOptions {
            remembered,
            past_by_invariants: true,
            ..RestartOptions::default()
        }
    }

    /// Variables that were dead have their last value as left limit.
    fn restore_left_limits(&mut self, from: Option<ModeId>, new: ModeId) {
        let Some(from) = from else { return };
        for at in 0..self.modes[from].structure.dead.len() {
            let var = self.modes[from].structure.dead[at];
            if self.modes[new].highest_order(var).is_some()
                && let Some(&last) = self.last_values.get(&var)
            {
                self.memory.set_left(var, 0, last);
            }
        }
    }

    /// Left limits of the derivatives that only the new mode needs, from the equations of the mode before.
    fn extend_left_limits(&mut self, from: Option<ModeId>, new: ModeId, instant: &Instant) {
        let Some(from) = from else { return };
        let (modes, levels) = (&self.modes, &mut self.restarts.levels);
        let level = levels
            .entry((from, new))
            .or_insert_with(|| levels_beyond(&modes[from].system, &modes[new].system));
        let level = *level;
        if level == 0 {
            return;
        }
        let here = std::mem::replace(&mut self.memory.values, instant.saved.clone());
        let truths = self.truths.clone();
        self.set_truths(&truths);
        self.forget_derivatives();
        let extended = self.extend_jets(from, level);
        self.forget_derivatives();
        let before = std::mem::replace(&mut self.memory.values, here);
        for &var in &self.sets.unknowns {
            let Some(leading) = self.modes[from].highest_order(var) else {
                continue;
            };
            for order in leading + 1..(leading + level + 1).min(self.memory.orders(var)) {
                let value = before[self.memory.slot(var, order) as usize];
                self.memory
                    .set_left(var, order, if extended { value } else { f64::NAN });
            }
        }
    }

    /// The equations that hold in every mode; of those to be differentiated only the ones that the start values meet.
    /// (Two inertias joined by a shaft that start at different speeds: the joint acts from now on.)
    fn unguarded_rows(&self, mode: ModeId) -> Vec<saltus_graph::Row> {
        let structure = &self.modes[mode].structure;
        let holds = |row: usize| {
            let residual = self.model.equations[structure.equations[row]].residual;
            structure.sigma.c[row] == 0 || self.holds_at_start(residual)
        };
        let unguarded = |row: &usize| self.model.is_unguarded(structure.equations[*row]) && holds(*row);
        (0..structure.equations.len())
            .filter(unguarded)
            .map(saltus_graph::Row::from_index)
            .collect()
    }

    fn take_right_limits(&mut self, new: ModeId, solution: &RestartSolution) -> Vec<ImpulseReport> {
        let structure = &self.modes[new].structure;
        for (&var, &d) in structure.unknowns.iter().zip(&structure.sigma.d) {
            for order in 0..d {
                let left = self.memory.left(var, order);
                self.memory.set(var, order, if left.is_finite() { left } else { 0.0 });
            }
        }
        let mut jumped = false;
        for (&(var, order, value), rounding) in solution.right_limits.iter().zip(&solution.rounding) {
            let error = self.scales.state_error(&self.memory, var, order);
            jumped |= (value - self.memory.get(var, order)).abs() > 100.0 * error + rounding;
            self.memory.set(var, order, value);
        }
        // Without a jump beyond the error of the event location, impulses are what that error leaves.
        if !jumped {
            return Vec::new();
        }
        solution
            .impulses
            .iter()
            .map(|impulse| ImpulseReport {
                var: impulse.var,
                derivative: impulse.order,
                order: impulse.mu as u16,
                weight: impulse.weight,
            })
            .collect()
    }
}

/// A change between modes that are the same in all runs; `None` if something floats in one of them, or at the start.
fn lasting_change(modes: &ModeCache, key: &ChangeKey) -> Option<LastingChange> {
    let valuation = |mode: ModeId| {
        let as_written = !modes.floating.contains_key(&mode);
        as_written.then(|| modes[mode].structure.valuation.clone())
    };
    Some(LastingChange {
        from: valuation(key.from?)?,
        to: valuation(key.to)?,
        restart: key.restart.clone(),
        transient: key.transient.clone(),
        switched: key.switched.clone(),
        jumped: key.jumped.clone(),
        zero_crossings: key.zero_crossings.clone(),
    })
}

/// Where an equation of a restart system comes from.
fn origin_of(change: &ModeChange, equation: &PlanEquation) -> Option<OriginId> {
    match equation.equation {
        ConcreteEquation::Array(label) => Some(change.origin(label.source)),
        ConcreteEquation::Euler(_) => None,
    }
}

/// The coefficients of impulses that must not jump, with where they are.
fn steady_coefficients(change: &ModeChange, analysis: &RestartAnalysis, solution: &RestartSolution) -> Vec<Steady> {
    let Some(plan) = &analysis.plan else { return Vec::new() };
    let equations = solution.steady.iter().map(|&position| &plan.equations[position]);
    equations
        .filter_map(|equation| {
            Some(Steady {
                coefficients: equation.steady.clone(),
                origin: origin_of(change, equation)?,
            })
        })
        .collect()
}

fn refused(explanation: saltus_structure::restart::Explanation) -> Failure {
    Failure::new(FailureKind::Restart(Refusal {
        reason: explanation.summary,
        origins: explanation.equations,
        help: explanation.help,
    }))
}

fn unsolved(compiled: &Compiled, change: &ModeChange, plan: &RestartPlan, failure: &RestartFailure) -> Failure {
    let origins_of = |equations: &[usize]| -> Vec<OriginId> {
        let mut origins: Vec<OriginId> = Vec::new();
        for &position in equations {
            let origin = origin_of(change, &plan.equations[position]);
            origins.extend(origin.filter(|origin| !origins.contains(origin)));
        }
        origins
    };
    let (reason, origins) = match failure {
        RestartFailure::Singular { rank, size, unknowns } => {
            let mut names: Vec<String> = unknowns
                .iter()
                .map(|&unknown| plan.unknowns[unknown].variable)
                .map(|variable| format!("`{}`", compiled.name(variable.var, variable.order)))
                .collect();
            names.sort_unstable();
            names.dedup();
            let reason = format!(
                "the restart system is singular (rank {rank} of {size}) in {}",
                names.join(", ")
            );
            (reason, Vec::new())
        }
        RestartFailure::NotConverged { equations, residual } => (
            format!("the restart system has no solution (residual {residual:e})"),
            origins_of(equations),
        ),
        RestartFailure::NotFinite { equation } => (
            "the restart system is undefined at the left limits".to_string(),
            origins_of(&[*equation]),
        ),
        RestartFailure::CheckFailed {
            restart_equation,
            residual,
        } => (
            format!("a restart equation contradicts the mode entered (residual {residual:e})"),
            change
                .restart_equations
                .get(*restart_equation as usize)
                .map(|equation| equation.origin)
                .into_iter()
                .collect(),
        ),
    };
    Failure::new(FailureKind::Restart(Refusal {
        origins,
        ..Refusal::from(reason)
    }))
}

/// Right limits and impulses found by projection.
fn projected_solution(projection: Projection) -> RestartSolution {
    RestartSolution {
        rounding: vec![0.0; projection.right_limits.len()],
        right_limits: projection.right_limits,
        impulses: projection.impulses,
        unknowns: Vec::new(),
        residual: 0.0,
        rank: 0,
        steady: Vec::new(),
    }
}

/// Right limits on which the two methods disagree.
fn euler_differences(solution: &RestartSolution, limits: &[EulerLimit]) -> Vec<(VarId, u16, f64, f64)> {
    let mut found = Vec::new();
    for &(var, order, value) in &solution.right_limits {
        let limit = limits.iter().find(|limit| (limit.var, limit.order) == (var, order));
        if let Some(euler) = limit.and_then(|limit| limit.value)
            && (euler - value).abs() > 1e-6 * (1.0 + value.abs())
        {
            found.push((var, order, value, euler));
        }
    }
    found
}

fn take_euler_limits(solution: &mut RestartSolution, limits: &[EulerLimit]) {
    for (var, order, value) in &mut solution.right_limits {
        let limit = limits.iter().find(|limit| (limit.var, limit.order) == (*var, *order));
        if let Some(euler) = limit.and_then(|limit| limit.value) {
            *value = euler;
        }
    }
}

/// Residuals of past-only equations this small are zero: event location leaves errors of the order of the tolerance.
pub(crate) fn fact_tolerance(tolerance: f64) -> f64 {
    (1e3 * tolerance).clamp(1e-9, 1e-4)
}
