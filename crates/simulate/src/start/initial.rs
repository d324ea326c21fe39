//! Initialisation: consistent values at the start.
//!
//! Without initial equations, what the start values leave open is settled by a restart from them: first the
//! position-level consistency equations are met by the smallest change of the guesses (fixed starts held), then what has no
//! start value follows from what has one (`starts`), then the rates follow as at any mode change. With initial equations, or where fixed starts contradict that restart, all
//! equations of the mode, their derivatives, the initial equations and the fixed starts are solved together, moving
//! from the start values as little as possible.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use saltus_mdae::{Action, ConditionId, Derivative, ExprId, Mdae, Node, Role, Type, VarId, Variable, WhenBranch};
use saltus_structure::restart::ModeEquation;

use crate::engine::{Engine, ModeId};
use crate::error::{Failure, FailureKind};
use crate::events::candidate::Instant;
use crate::events::iteration::Truths;
use crate::events::sign::Sign;
use crate::kernel::Bound;
use crate::report::{EventReport, ImpulseReport, MovedStarts};
use crate::restart::Request;
use crate::start::parameters::{OpenStart, close, replaced_bindings};
use crate::start::values::{StartValue, StartValues};

/// Choices among the branches of initial if-equations before they are called contradictory.
const MOST_CHOICES: usize = 8;

/// What is known of the start while it is looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartState {
    /// During initialisation no time event is due.
    pub is_going_on: bool,
    /// Start values of unknowns and their derivatives.
    pub values: StartValues,
    /// Start values that depend on what is solved for at the start.
    pub open: Vec<OpenStart>,
    /// Parameters with `fixed = false` whose value has been found, and the initial equations that gave it.
    pub solved_parameters: FxHashSet<VarId>,
    pub used_up: FxHashSet<ExprId>,
    /// Parameters with `fixed = false` that nothing determines.
    pub undetermined: Vec<VarId>,
    /// Values with which the search for those at the start begins.
    pub guesses: BTreeMap<VarId, f64>,
    /// What the start did to start values.
    pub moved: Option<MovedStarts>,
}

impl StartState {
    pub(crate) fn new(model: &Mdae, parameters: &[(VarId, f64)]) -> Self {
        StartState {
            solved_parameters: parameters.iter().map(|&(var, _)| var).collect(),
            used_up: replaced_bindings(model, parameters),
            ..StartState::default()
        }
    }
}

impl Engine {
    /// Finds consistent values and the mode at the start time.
    pub(crate) fn initialise(&mut self) -> Result<Vec<EventReport>, Failure> {
        self.set_start_values()?;
        self.memory.set_initial(true);
        self.start.is_going_on = true;
        let initial_nodes = self.when_conditions_of_start();
        self.when_before = initial_nodes;
        let first = self.event(&[], true);
        self.memory.set_initial(false);
        self.start.is_going_on = false;
        let mut reports = vec![first?];
        // Sampling and scales may depend on parameters that the initial equations gave.
        self.samples = self.sample_clocks()?;
        self.renew_nominal_values()?;
        self.warn_of_open_parameters();
        self.warn_of_unset_parameters();
        if let Some(moved) = self.start.moved.take() {
            self.reported.warnings.push(moved.text.clone());
            self.reported.moved_starts = Some(moved);
        }
        let due: Vec<_> = self
            .samples
            .iter()
            .map(|clock| clock.condition)
            .filter(|&c| self.sample_is_due(c))
            .collect();
        if !due.is_empty() {
            reports.push(self.event(&due, false)?);
        }
        self.advance_samples()?;
        Ok(reports)
    }

    /// When-clauses act at the start only through `initial()`.
    fn when_conditions_of_start(&self) -> Vec<bool> {
        let mut before = Vec::new();
        for branch in self.model.whens.iter().flat_map(|when| &when.branches) {
            for &condition in &branch.conditions {
                let mentions = self
                    .model
                    .pool
                    .reachable(&[condition])
                    .into_iter()
                    .any(|id| self.model.pool.node(id) == Node::Initial);
                before.push(!mentions);
            }
        }
        before
    }

    pub(crate) fn value_of(&self, expr: ExprId) -> Result<f64, Failure> {
        Ok(Bound::of_value(&self.cache, &self.pool, expr, &self.memory)?.value(&self.memory))
    }

    /// What a start value is: a number, unless it depends on what is still to be solved for.
    fn number_of(&self, start: ExprId, variable: &Variable) -> Result<f64, Failure> {
        let value = self.value_of(start)?;
        if value.is_nan() && !self.reads_open_parameter(start) {
            return Err(Failure::new(FailureKind::Domain {
                message: format!("the start value of `{}` is not a number", variable.name),
                origins: vec![variable.origin],
            })
            .at(self.options.start));
        }
        Ok(value)
    }

    pub(crate) fn set_start_values(&mut self) -> Result<(), Failure> {
        self.solve_open_parameters()?;
        for id in self.model.variables.ids() {
            let variable = &self.model.variables[id];
            // Delayed signals have been set from what they repeat.
            let delayed = || {
                self.model.delays.iter().any(|delay| delay.output == id)
                    || self.model.transports.iter().any(|t| t.outputs.contains(&id))
            };
            if variable.role == Role::Parameter || (variable.role == Role::Input && delayed()) {
                continue;
            }
            let start = variable
                .start
                .or(variable.binding.filter(|_| variable.role == Role::Input));
            let value = match start {
                Some(start) => self.number_of(start, variable)?,
                None => 0.0,
            };
            self.memory.set(id, 0, value);
            self.memory.set_left(id, 0, value);
        }
        self.start.values = self.start_list()?;
        self.start.open = self.open_start_list();
        for &StartValue { var, order, value, .. } in self.start.values.iter() {
            self.memory.set(var, order, value);
            self.memory.set_left(var, order, value);
            self.scales.note_start(var, order, value);
        }
        for (&var, &value) in &self.start.guesses {
            self.memory.set(var, 0, value);
            self.memory.set_left(var, 0, value);
        }
        self.apply_inputs(self.options.start);
        self.apply_initial_assignments().map(drop)
    }

    /// Initial values of discrete variables, and of parameters that are given and not solved for; they may depend on each
    /// other in any order, so until nothing changes. Whether anything did.
    pub(crate) fn apply_initial_assignments(&mut self) -> Result<bool, Failure> {
        let mut active = Vec::new();
        for equation in &self.model.initial_assignments {
            let known = self.start.solved_parameters.contains(&equation.target);
            if !known && self.value_of(equation.guard)? != 0.0 {
                let value = Bound::of_value(&self.cache, &self.pool, equation.value, &self.memory)?;
                active.push((equation.target, value));
            }
        }
        for start in &self.start.open {
            let discrete = self.model.variables[start.var].role == Role::Discrete;
            if discrete && !active.iter().any(|(target, _)| *target == start.var) {
                let value = Bound::of_value(&self.cache, &self.pool, start.value, &self.memory)?;
                active.push((start.var, value));
            }
        }
        let mut ever_changed = false;
        for _ in 0..=active.len() {
            let mut changed = false;
            for (target, value) in &active {
                let value = value.value(&self.memory);
                changed |= !close(value, self.memory.left(*target, 0));
                self.memory.set(*target, 0, value);
                self.memory.set_left(*target, 0, value);
            }
            ever_changed |= changed;
            if !changed {
                break;
            }
        }
        Ok(ever_changed)
    }

    fn start_list(&self) -> Result<StartValues, Failure> {
        let mut list = StartValues::default();
        for (var, variable) in self.model.variables.iter_enumerated() {
            if let (Role::Continuous, Some(start)) = (variable.role, variable.start) {
                let value = self.value_of(start)?;
                list.set(StartValue {
                    var,
                    order: 0,
                    value,
                    fixed: variable.fixed,
                });
            }
        }
        for alias in &self.model.aliases {
            let Some(start) = alias.variable.start else { continue };
            let known = list.get(alias.target, alias.order);
            let continuous = self.model.variables[alias.target].role == Role::Continuous;
            let better = known.is_none_or(|known| alias.variable.fixed && !known.fixed);
            if continuous && better {
                let value = self.number_of(start, &alias.variable)? * if alias.negated { -1.0 } else { 1.0 };
                list.set(StartValue {
                    var: alias.target,
                    order: alias.order,
                    value,
                    fixed: alias.variable.fixed,
                });
            }
        }
        Ok(list)
    }

    /// Right limits of a candidate mode at the start.
    pub(crate) fn start(
        &mut self,
        mode: ModeId,
        restart: &[ModeEquation],
        instant: &Instant,
    ) -> Result<Vec<ImpulseReport>, Failure> {
        self.start.moved = None;
        self.start.undetermined = self.unknown_parameters();
        let mut equations = self.active_initial_equations()?;
        for _ in 0..MOST_CHOICES {
            if equations.is_empty() {
                break;
            }
            self.start_with_equations(mode, &equations)?;
            // Which of them hold may depend on what they give.
            let chosen = self.active_initial_equations()?;
            if chosen == equations {
                return Ok(Vec::new());
            }
            equations = chosen;
        }
        if !equations.is_empty() {
            return Err(Failure::new(FailureKind::Initialisation {
                reason: "which initial equations hold depends on what they give, and no choice agrees".to_string(),
                suspects: Vec::new(),
                origins: equations.iter().map(|equation| equation.origin).collect(),
            }));
        }
        let saved = self.memory.values.clone();
        let by_restart = self.start_by_restart(mode, restart, instant);
        if let Ok(impulses) = &by_restart
            && self.violated_start(mode).is_none()
        {
            self.start.moved = self.moved_starts_of(mode);
            return Ok(impulses.clone());
        }
        let restarted = std::mem::replace(&mut self.memory.values, saved);
        if self.fixed_starts_in_order(mode) {
            return Ok(Vec::new());
        }
        match self.solve_together(mode, &[]).and_then(|()| self.enter(mode)) {
            Ok(()) => Ok(Vec::new()),
            Err(failure) => match by_restart {
                // Fixed starts that the mode contradicts serve as left limits.
                Ok(impulses) if instant.ties_confirm && !self.fixed_starts_speak_against() => {
                    self.memory.values = restarted;
                    self.jet_level = 0;
                    let violated = self.violated_start(mode);
                    let name = violated.map(|at| self.start_name(at)).unwrap_or_default();
                    let text = format!(
                        "the fixed start value of {name} contradicts the equations; it is taken as the value just before the start"
                    );
                    let variable = violated.map(|at| self.start.values.as_slice()[at].var);
                    self.start.moved = Some(MovedStarts {
                        text,
                        variables: variable.into_iter().collect(),
                    });
                    Ok(impulses)
                }
                Ok(_) => Err(failure),
                Err(first) => Err(first),
            },
        }
    }

    /// Whether fixed start values alone say that a condition is another than that of the candidate: a mode that only holds
    /// because it moves them is none to begin in. (47) of RR-8933 with x = 1, where only x ≤ 0 has enough equations.
    fn fixed_starts_speak_against(&mut self) -> bool {
        for &StartValue {
            var,
            order,
            value,
            fixed,
        } in self.start.values.iter()
        {
            if fixed && order < self.memory.orders(var) {
                self.memory.set(var, order, value);
            }
        }
        let truths: Truths = self
            .model
            .conditions
            .ids()
            .map(|id| self.memory.condition(id))
            .collect();
        let ids: Vec<ConditionId> = self.model.conditions.ids().collect();
        ids.into_iter().any(|id| {
            let fixed = |read: &Derivative| !self.model.is_unknown(read.var) || self.is_fixed(read.var, read.order);
            let of_states = |read: &Derivative| self.model.is_unknown(read.var);
            let decides = self.monitors[id].as_ref().is_some_and(|monitor| {
                let reads = monitor.reads(0);
                reads.iter().all(fixed) && reads.iter().any(of_states)
            });
            decides && matches!(self.sign_at_start(id), Sign::ByValue { positive } if positive != truths[id])
        })
    }

    /// Lets everything follow from fixed starts, which may be of variables that are no states; whether that gave values
    /// for all. Otherwise nothing is changed.
    fn fixed_starts_in_order(&mut self, mode: ModeId) -> bool {
        if !self.start.values.iter().any(|start| start.fixed) {
            return false;
        }
        let saved = self.memory.values.clone();
        let solved = self.solve_in_order(mode, &[]).and_then(|()| self.enter(mode));
        if solved.is_ok() && self.violated_start(mode).is_none() {
            return true;
        }
        self.memory.values = saved;
        false
    }

    /// Discrete Reals whose values before the start an initial equation gives that does not say so outright, as in
    /// `2*d = x`: they keep their values through the initial instant, so the equations are solved for these.
    pub(crate) fn open_discrete(&self, initial: &[ModeEquation]) -> Vec<VarId> {
        let mut found: Vec<VarId> = Vec::new();
        for &ModeEquation { residual, .. } in initial {
            let occurring = self
                .pool
                .occurrences(residual)
                .into_iter()
                .map(|Derivative { var, .. }| var);
            found.extend(occurring.filter(|&var| self.is_open_discrete(var)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn is_open_discrete(&self, var: VarId) -> bool {
        let model = Arc::clone(&self.model);
        let variable = &model.variables[var];
        let assigns = |action: &Action| action.assigned().contains(&var);
        let acts_at_start = |branch: &WhenBranch| {
            let nodes = model.pool.reachable(&branch.conditions);
            nodes.into_iter().any(|id| model.pool.node(id) == Node::Initial)
        };
        let mut branches = model.whens.iter().flat_map(|when| &when.branches);
        variable.role == Role::Discrete
            && variable.ty == Type::Real
            && !variable.fixed
            && !model.discrete.iter().any(|equation| equation.target == var)
            && !model.initial_assignments.iter().any(|equation| equation.target == var)
            && !branches.any(|branch| acts_at_start(branch) && branch.actions.iter().any(assigns))
    }

    /// Solves initial equations: in the order in which they determine things, else for the states alone, else all
    /// together.
    fn start_with_equations(&mut self, mode: ModeId, equations: &[ModeEquation]) -> Result<(), Failure> {
        let saved = self.memory.values.clone();
        let in_order = match self.solve_in_order(mode, equations).and_then(|()| self.enter(mode)) {
            Ok(()) if self.violated_start(mode).is_none() => {
                self.remember_discrete(equations);
                return Ok(());
            }
            Ok(()) => None,
            Err(failure) => Some(failure),
        };
        self.memory.values.copy_from_slice(&saved);
        if let Err(for_states) = self.solve_for_states(mode, equations) {
            self.memory.values = saved;
            let together = self.solve_together(mode, equations);
            together.map_err(|failure| in_order.unwrap_or_else(|| for_states.or_else_also(failure)))?;
        }
        self.remember_discrete(equations);
        self.enter(mode)
    }

    fn remember_discrete(&mut self, equations: &[ModeEquation]) {
        for var in self.open_discrete(equations) {
            let value = self.memory.get(var, 0);
            self.memory.set_left(var, 0, value);
        }
    }

    pub(super) fn start_name(&self, at: usize) -> String {
        let start = &self.start.values.as_slice()[at];
        self.name(start.var, start.order)
    }

    /// The initial equations in force, less those that just give a parameter its value.
    pub(super) fn active_initial_equations(&self) -> Result<Vec<ModeEquation>, Failure> {
        let mut active = Vec::new();
        for equation in &self.model.initial_equations {
            if self.value_of(equation.guard)? != 0.0 && !self.start.used_up.contains(&equation.residual) {
                active.push(ModeEquation {
                    residual: equation.residual,
                    origin: equation.origin,
                });
            }
        }
        active.extend(self.start.open.iter().filter_map(|start| start.equation));
        Ok(active)
    }

    fn start_by_restart(
        &mut self,
        mode: ModeId,
        restart: &[ModeEquation],
        instant: &Instant,
    ) -> Result<Vec<ImpulseReport>, Failure> {
        self.meet_positions(mode)?;
        self.take_as_left_limits();
        self.meet_given_starts(mode);
        self.take_as_left_limits();
        let impulses = self.change(Request::start(mode, restart), instant)?;
        self.enter(mode)?;
        self.check_steady()?;
        Ok(impulses)
    }

    fn take_as_left_limits(&mut self) {
        for at in 0..self.sets.unknowns.len() {
            self.memory.shift(self.sets.unknowns[at]);
        }
    }

    /// The first fixed start value that does not hold.
    fn violated_start(&self, mode: ModeId) -> Option<usize> {
        let noise = self.noise_at_start();
        self.start.values.iter().position(|start| {
            let alive = self.modes[mode].highest_order(start.var).is_some();
            let kept = start.order < self.memory.orders(start.var);
            start.fixed && alive && (!kept || self.is_violated(start, noise))
        })
    }

    pub(crate) fn is_fixed(&self, var: VarId, order: u16) -> bool {
        self.start.values.get(var, order).is_some_and(|start| start.fixed)
    }

    pub(crate) fn has_start(&self, var: VarId, order: u16) -> bool {
        self.start.values.get(var, order).is_some()
    }
}
