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
use saltus_codegen::{Leaf, System};
use saltus_mdae::{
    Action, BinaryOp, ConditionId, Derivative, Equation, ExprId, Idx, Mdae, Node, OriginId, OriginKind, Role, Type,
    VarId, Variable, WhenBranch,
};
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::nonlinear::{
    ConstraintSystem, NewtonOptions, NonlinearSystem, ProjectionOptions, project, solve_newton,
};

use crate::engine::{Engine, ModeId};
use crate::error::{Failure, FailureKind};
use crate::events::candidate::{Instant, Sign};
use crate::kernel::{Bound, slot_of};
use crate::memory::Memory;
use crate::modes::block::system_failure;
use crate::report::{EventReport, ImpulseReport};
use crate::start::values::{StartValue, StartValues};

/// Variables without a start value move this much more willingly than those with one.
const WILLING: f64 = 1e3;

/// Choices among the branches of initial if-equations before they are called contradictory.
const MOST_CHOICES: usize = 8;

/// So many parameters without a value are named.
const MOST_UNSET: usize = 10;

/// A start value that depends on a parameter that is solved for at the start.
#[derive(Copy, Clone, Debug)]
pub(crate) struct OpenStart {
    pub var: VarId,
    pub order: u16,
    pub value: ExprId,
    /// As an equation, where the start value is fixed.
    pub equation: Option<(ExprId, OriginId)>,
}

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
    /// What the start did to start values that are not fixed.
    pub moved: Option<String>,
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

/// The equations of the start that were bindings of parameters to which the run gives values.
fn replaced_bindings(model: &Mdae, given: &[(VarId, f64)]) -> FxHashSet<ExprId> {
    let is_replaced = |equation: &&Equation| {
        let of_binding = model.origins[equation.origin].kind == OriginKind::Binding;
        let defines = match model.pool.node(equation.residual) {
            Node::Binary(BinaryOp::Sub, this, _) => model.pool.node(this),
            _ => return false,
        };
        of_binding && matches!(defines, Node::Var { var, .. } if given.iter().any(|&(known, _)| known == var))
    };
    let equations = model.initial_equations.iter();
    equations
        .filter(is_replaced)
        .map(|equation| equation.residual)
        .collect()
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
        self.reported.warnings.extend(self.start.moved.take());
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
            self.scales.note_start(&self.memory, var, order, value);
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

    /// Start values that depend on what is solved for at the start: variables, and derivatives by the names of aliases.
    fn open_start_list(&mut self) -> Vec<OpenStart> {
        let of_variables = self.model.variables.iter_enumerated();
        let mut said: Vec<(VarId, u16, bool, &Variable)> = of_variables.map(|(id, v)| (id, 0, false, v)).collect();
        let of_aliases = self.model.aliases.iter();
        said.extend(of_aliases.map(|alias| (alias.target, alias.order, alias.negated, &alias.variable)));
        let mut found: Vec<OpenStart> = Vec::new();
        let mut seen: FxHashSet<Derivative> = FxHashSet::default();
        for (var, order, negated, variable) in said {
            let role = self.model.variables[var].role;
            let (Some(start), Role::Continuous | Role::Discrete) = (variable.start, role) else {
                continue;
            };
            if !self.reads_open_parameter(start) || !seen.insert(Derivative::new(var, order)) {
                continue;
            }
            let value = if negated { self.pool.neg(start) } else { start };
            let equation = (variable.fixed && role == Role::Continuous).then(|| {
                let this = self.pool.der_var(var, order);
                (self.pool.sub(this, value), variable.origin)
            });
            found.push(OpenStart {
                var,
                order,
                value,
                equation,
            });
        }
        for open in found.iter().filter(|open| open.equation.is_some()) {
            if let Some(start) = self.start.values.get_mut(open.var, open.order) {
                start.fixed = false;
            }
        }
        found
    }

    pub(crate) fn reads_open_parameter(&self, expr: ExprId) -> bool {
        let read = self.pool.occurrences(expr);
        read.into_iter()
            .any(|Derivative { var, .. }| self.is_open_parameter(var))
    }

    /// Start values that only guide the search follow the parameters that were found; whether any has changed.
    pub(crate) fn renew_starts(&mut self, saved: &mut [f64]) -> Result<bool, Failure> {
        let mut changed = false;
        for at in 0..self.start.open.len() {
            let OpenStart { var, order, value, .. } = self.start.open[at];
            if self.model.variables[var].role != Role::Continuous || order >= self.memory.orders(var) {
                continue;
            }
            let value = self.value_of(value)?;
            let slots = [self.memory.slot(var, order), self.memory.left_slot(var, order)];
            changed |= !close(value, saved[slots[0] as usize]);
            slots.iter().for_each(|&slot| saved[slot as usize] = value);
            if let Some(start) = self.start.values.get_mut(var, order) {
                start.value = value;
            }
        }
        Ok(changed)
    }

    /// Parameters with `fixed = false` that nothing at the start determines keep their start values, which is told.
    fn warn_of_open_parameters(&mut self) {
        for var in std::mem::take(&mut self.start.undetermined) {
            let (name, value) = (self.name(var, 0), self.memory.get(var, 0));
            let warning = format!(
                "nothing determines the parameter {name}, which has `fixed = false`: its start value {value} is used"
            );
            if !self.reported.warnings.contains(&warning) {
                self.reported.warnings.push(warning);
            }
        }
    }

    /// Parameters to which neither the model nor the run gives a value.
    fn warn_of_unset_parameters(&mut self) {
        let variables = self.model.variables.iter_enumerated();
        let unset = variables.filter(|(id, variable)| variable.unset && !self.start.solved_parameters.contains(id));
        let reported = |(id, variable): (VarId, &Variable)| {
            let value = self.memory.get(id, 0);
            let which = match variable.start {
                Some(_) => "its start value",
                None => "the default",
            };
            format!("the parameter {} has no value: {which} {value} is used", variable.name)
        };
        let mut reported: Vec<String> = unset.map(reported).collect();
        if reported.len() > MOST_UNSET {
            let more = reported.len() - MOST_UNSET;
            reported.truncate(MOST_UNSET);
            reported.push(format!("{more} more parameters have no value"));
        }
        for warning in reported {
            // The start may be tried several times.
            if !self.reported.warnings.contains(&warning) {
                self.reported.warnings.push(warning);
            }
        }
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
        restart: &[(ExprId, OriginId)],
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
                origins: equations.iter().map(|(_, origin)| *origin).collect(),
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
                    let name = self
                        .violated_start(mode)
                        .map(|at| self.start_name(at))
                        .unwrap_or_default();
                    self.start.moved = Some(format!(
                        "the fixed start value of {name} contradicts the equations; it is taken as the value just before the start"
                    ));
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
        let truths: Vec<bool> = self
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
            decides && matches!(self.sign_at_start(id), Sign::ByValue { positive } if positive != truths[id.index()])
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
    pub(crate) fn open_discrete(&self, initial: &[(ExprId, OriginId)]) -> Vec<VarId> {
        let mut found: Vec<VarId> = Vec::new();
        for &(residual, _) in initial {
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

    fn is_open_discrete(&self, var: VarId) -> bool {
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
    fn start_with_equations(&mut self, mode: ModeId, equations: &[(ExprId, OriginId)]) -> Result<(), Failure> {
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

    fn remember_discrete(&mut self, equations: &[(ExprId, OriginId)]) {
        for var in self.open_discrete(equations) {
            let value = self.memory.get(var, 0);
            self.memory.set_left(var, 0, value);
        }
    }

    fn start_name(&self, at: usize) -> String {
        let start = &self.start.values.as_slice()[at];
        self.name(start.var, start.order)
    }

    /// The initial equations in force, less those that just give a parameter its value.
    fn active_initial_equations(&self) -> Result<Vec<(ExprId, OriginId)>, Failure> {
        let mut active = Vec::new();
        for equation in &self.model.initial_equations {
            if self.value_of(equation.guard)? != 0.0 && !self.start.used_up.contains(&equation.residual) {
                active.push((equation.residual, equation.origin));
            }
        }
        active.extend(self.start.open.iter().filter_map(|start| start.equation));
        Ok(active)
    }

    /// Whether a variable is a parameter that initial equations determine and whose value is not known yet.
    pub(crate) fn is_open_parameter(&self, var: VarId) -> bool {
        let variable = &self.model.variables[var];
        variable.role == Role::Parameter
            && variable.binding.is_none()
            && !variable.fixed
            && !self.start.solved_parameters.contains(&var)
    }

    /// Parameters with `fixed = false` that an initial equation `p = expression` of known values gives.
    fn solve_open_parameters(&mut self) -> Result<(), Failure> {
        loop {
            let mut progress = self.assign_open_parameters()?;
            for equation in &self.model.initial_equations {
                if self.start.used_up.contains(&equation.residual) {
                    continue;
                }
                let Some((var, value)) = self.gives_parameter(equation.residual) else {
                    continue;
                };
                if self.value_of(equation.guard)? == 0.0 {
                    continue;
                }
                let value = self.value_of(value)?;
                self.memory.set(var, 0, value);
                self.memory.set_left(var, 0, value);
                self.start.solved_parameters.insert(var);
                self.start.used_up.insert(equation.residual);
                progress = true;
            }
            if !progress {
                return Ok(());
            }
        }
    }

    /// The same of parameters that an equation gives and no iteration finds: Booleans, integers, enumerations.
    fn assign_open_parameters(&mut self) -> Result<bool, Failure> {
        let mut progress = false;
        for equation in &self.model.initial_assignments {
            let target = equation.target;
            if !self.is_open_parameter(target) || !self.is_known(equation.value) || !self.is_known(equation.guard) {
                continue;
            }
            if self.value_of(equation.guard)? != 0.0 {
                let value = self.value_of(equation.value)?;
                self.memory.set(target, 0, value);
                self.memory.set_left(target, 0, value);
                self.start.solved_parameters.insert(target);
                progress = true;
            }
        }
        Ok(progress)
    }

    /// Whether everything in an expression is known before initialisation.
    fn is_known(&self, expr: ExprId) -> bool {
        let nodes = self.model.pool.reachable(&[expr]);
        nodes.into_iter().all(|id| match self.model.pool.node(id) {
            Node::Var { var, .. } => self.model.variables[var].role == Role::Parameter && !self.is_open_parameter(var),
            Node::Pre { .. } | Node::Condition(_) => false,
            _ => true,
        })
    }

    /// Reads `p = expression`, with everything in the expression known.
    fn gives_parameter(&self, residual: ExprId) -> Option<(VarId, ExprId)> {
        let Node::Binary(saltus_mdae::BinaryOp::Sub, a, b) = self.model.pool.node(residual) else {
            return None;
        };
        [(a, b), (b, a)].into_iter().find_map(|(this, other)| {
            let Node::Var { var, order: 0 } = self.model.pool.node(this) else {
                return None;
            };
            (self.is_open_parameter(var) && self.is_known(other)).then_some((var, other))
        })
    }

    /// Parameters that iterations find: the values of others are given.
    pub(crate) fn unknown_parameters(&self) -> Vec<VarId> {
        let variables = self.model.variables.ids();
        let real = |id: &VarId| self.model.variables[*id].ty == Type::Real;
        variables
            .filter(real)
            .filter(|&id| self.is_open_parameter(id))
            .collect()
    }

    fn start_by_restart(
        &mut self,
        mode: ModeId,
        restart: &[(ExprId, OriginId)],
        instant: &Instant,
    ) -> Result<Vec<ImpulseReport>, Failure> {
        self.meet_positions(mode)?;
        self.take_as_left_limits();
        self.meet_given_starts(mode);
        self.take_as_left_limits();
        let impulses = self.change(None, mode, restart, None, Vec::new(), Vec::new(), instant)?;
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
        self.start.values.iter().position(|start| {
            let alive = self.modes[mode].highest_order(start.var).is_some();
            let kept = start.order < self.memory.orders(start.var);
            start.fixed && alive && (!kept || self.is_violated(start))
        })
    }

    pub(crate) fn is_fixed(&self, var: VarId, order: u16) -> bool {
        self.start.values.get(var, order).is_some_and(|start| start.fixed)
    }

    pub(crate) fn has_start(&self, var: VarId, order: u16) -> bool {
        self.start.values.get(var, order).is_some()
    }

    /// Meets the consistency equations f^(m), c_f − m ≥ 2, by the smallest change of the guesses.
    fn meet_positions(&mut self, mode: ModeId) -> Result<(), Failure> {
        let structure = &self.modes[mode].structure;
        let mut equations = Vec::new();
        for (&id, &c) in structure.equations.iter().zip(&structure.sigma.c) {
            equations.extend((0..c.saturating_sub(1)).map(|order| (self.model.equations[id].residual, order)));
        }
        if equations.is_empty() {
            return Ok(());
        }
        let mut unknowns: Vec<Derivative> = Vec::new();
        for &(residual, order) in &equations {
            let derivative = self.pool.nth_total_derivative(residual, order);
            let occurring = self.pool.occurrences(derivative);
            unknowns.extend(
                occurring
                    .into_iter()
                    .filter(|&Derivative { var, .. }| self.model.is_unknown(var)),
            );
        }
        unknowns.sort_unstable();
        unknowns.dedup();
        let weight = |engine: &Self, var: VarId, order: u16| {
            if engine.is_fixed(var, order) {
                0.0
            } else {
                engine.nominal[var.index()] * if engine.has_start(var, order) { 1.0 } else { WILLING }
            }
        };
        let weights: Vec<f64> = unknowns
            .iter()
            .map(|&Derivative { var, order }| weight(self, var, order))
            .collect();
        self.project(&equations, &unknowns, weights, Vec::new())
    }

    /// Solves the mode's equations with all derivatives, the given initial equations and the fixed starts together.
    fn solve_together(&mut self, mode: ModeId, initial: &[(ExprId, OriginId)]) -> Result<(), Failure> {
        self.guess_algebraic_variables(mode);
        let beyond = self.orders_beyond(mode, initial);
        let structure = &self.modes[mode].structure;
        let mut equations: Vec<(ExprId, u16)> = Vec::new();
        for (&id, &c) in structure.equations.iter().zip(&structure.sigma.c) {
            equations.extend((0..=c + beyond).map(|order| (self.model.equations[id].residual, order)));
        }
        equations.extend(initial.iter().map(|&(residual, _)| (residual, 0)));
        let mut unknowns: Vec<Derivative> = Vec::new();
        let mut weights = Vec::new();
        for (&var, &d) in structure.unknowns.iter().zip(&structure.sigma.d) {
            for order in 0..=d + beyond {
                unknowns.push(Derivative { var, order });
                let willing = if order >= d {
                    WILLING * WILLING
                } else if self.has_start(var, order) {
                    1.0
                } else {
                    WILLING
                };
                weights.push(self.nominal[var.index()] * willing);
            }
        }
        for id in self.unknown_parameters().into_iter().chain(self.open_discrete(initial)) {
            unknowns.push(Derivative::value_of(id));
            weights.push(self.nominal[id.index()]);
        }
        let place: rustc_hash::FxHashMap<Derivative, usize> = unknowns.iter().copied().zip(0..).collect();
        let fixed = self.start.values.iter().filter(|start| start.fixed);
        let fixed = fixed
            .filter_map(|s| Some((*place.get(&Derivative::new(s.var, s.order))?, s.value)))
            .collect();
        self.project(&equations, &unknowns, weights, fixed)
    }

    /// Solves the initial equations for the states alone, everything else following by the mode's blocks. With fewer
    /// unknowns and no guesses for algebraic variables this succeeds where solving everything together does not.
    fn solve_for_states(&mut self, mode: ModeId, initial: &[(ExprId, OriginId)]) -> Result<(), Failure> {
        let failed = |reason: String| {
            Failure::new(FailureKind::Initialisation {
                reason,
                suspects: Vec::new(),
                origins: initial.iter().map(|(_, origin)| *origin).collect(),
            })
        };
        self.choose_states(mode)?;
        let level = self.orders_beyond(mode, initial);
        let states = self.modes[mode].plan().states.clone();
        let free: Vec<Derivative> = states
            .iter()
            .copied()
            .filter(|&Derivative { var, order }| !self.is_fixed(var, order))
            .collect();
        let elsewhere = |start: &&StartValue| {
            start.fixed
                && !states.contains(&Derivative::new(start.var, start.order))
                && self.modes[mode].highest_order(start.var).is_some()
        };
        let fixed: Vec<StartValue> = self.start.values.iter().filter(elsewhere).cloned().collect();
        if let Some(&var) = self
            .unknown_parameters()
            .first()
            .or(self.open_discrete(initial).first())
        {
            return Err(failed(format!("{} is an unknown", self.name(var, 0))));
        }
        if free.len() != initial.len() + fixed.len() {
            return Err(failed(
                "the states are not determined by the initial equations alone".to_string(),
            ));
        }
        let equations = initial
            .iter()
            .map(|&(residual, _)| Bound::of_value(&self.cache, &self.pool, residual, &self.memory))
            .collect::<Result<_, _>>()?;
        let nominal = free
            .iter()
            .map(|&Derivative { var, .. }| self.nominal[var.index()])
            .collect();
        let mut x: Vec<f64> = free
            .iter()
            .map(|&Derivative { var, order }| self.memory.get(var, order))
            .collect();
        let options = NewtonOptions {
            nominal: Some(nominal),
            max_iterations: 200,
            ..NewtonOptions::default()
        };
        let mut system = StateSystem {
            engine: self,
            mode,
            level,
            free,
            equations,
            fixed,
        };
        let outcome = solve_newton(&mut system, &mut x, &options);
        let mut residual = vec![0.0; x.len()];
        let placed = system.residual(&x, &mut residual);
        outcome.map_err(|failure| failed(failure.to_string()))?;
        placed.map_err(|error| failed(error.to_string()))
    }

    /// First guesses for everything without a start value: what the mode's blocks give at the start values of the
    /// states. (Zero is no guess for a divisor.)
    fn guess_algebraic_variables(&mut self, mode: ModeId) {
        let saved = self.memory.values.clone();
        let solved = self.choose_states(mode).and_then(|_| self.solve_mode(mode));
        if solved.is_err()
            || self
                .memory
                .values
                .iter()
                .zip(&saved)
                .any(|(new, old)| new.is_nan() && !old.is_nan())
        {
            self.memory.values = saved;
        }
    }

    /// Initial equations may speak of derivatives above the leading ones: so many levels more are needed.
    pub(crate) fn orders_beyond(&self, mode: ModeId, initial: &[(ExprId, OriginId)]) -> u16 {
        let mode = &self.modes[mode];
        let above = |&(residual, _): &(ExprId, OriginId)| {
            let occurring = self.pool.occurrences(residual);
            occurring
                .into_iter()
                .filter_map(|Derivative { var, order }| Some(order.saturating_sub(mode.highest_order(var)?)))
                .max()
        };
        initial.iter().filter_map(above).max().unwrap_or(0)
    }

    pub(crate) fn project(
        &mut self,
        equations: &[(ExprId, u16)],
        unknowns: &[Derivative],
        weights: Vec<f64>,
        fixed: Vec<(usize, f64)>,
    ) -> Result<(), Failure> {
        let leaves: Vec<Leaf> = unknowns
            .iter()
            .map(|&Derivative { var, order }| Leaf::var(var, order))
            .collect();
        let system = System::build(&self.cache, &self.pool, equations, &leaves, |leaf| {
            slot_of(&self.memory, leaf)
        })
        .map_err(system_failure)?;
        let slots: Vec<u32> = leaves.iter().map(|&leaf| self.memory.leaf_slot(leaf)).collect();
        let mut x: Vec<f64> = slots.iter().map(|&slot| self.memory.values[slot as usize]).collect();
        for &(at, value) in &fixed {
            x[at] = value;
        }
        let pattern = constraint_pattern(&system, equations.len(), unknowns.len(), &fixed);
        let order = pattern_positions(&system, &pattern);
        let mut constraints = Constraints {
            system,
            slots: &slots,
            memory: &mut self.memory,
            pattern,
            order,
            fixed,
            rows: equations.len(),
        };
        let options = ProjectionOptions {
            weights: Some(weights),
            tolerance: 1e-12,
            max_iterations: 100,
        };
        let outcome = project(&mut constraints, &mut x, &options);
        for (&slot, value) in slots.iter().zip(&x) {
            self.memory.values[slot as usize] = *value;
        }
        outcome.map(drop).map_err(|failure| {
            let worst = || failure.largest_residuals.iter();
            let suspects = worst()
                .filter_map(|&(row, _)| self.suspects_of(row, equations))
                .flatten()
                .collect();
            let origins = worst()
                .filter_map(|&(row, _)| self.origin_of(equations.get(row)?.0))
                .collect();
            Failure::new(FailureKind::Initialisation {
                reason: failure.to_string(),
                suspects,
                origins,
            })
        })
    }

    /// Where an equation of the model or of its start is written.
    fn origin_of(&self, residual: ExprId) -> Option<OriginId> {
        let mut all = self.model.equations.iter().chain(&self.model.initial_equations);
        all.find(|equation| equation.residual == residual)
            .map(|equation| equation.origin)
    }

    /// The variables of an equation that have start values.
    pub(crate) fn suspects_of(&self, row: usize, equations: &[(ExprId, u16)]) -> Option<Vec<String>> {
        let &(residual, _) = equations.get(row)?;
        let occurring = self.pool.occurrences(residual);
        Some(
            occurring
                .into_iter()
                .filter(|&Derivative { var, .. }| self.start.values.iter().any(|s| s.var == var))
                .map(|Derivative { var, .. }| self.name(var, 0))
                .collect(),
        )
    }
}

/// Equal but for what an iteration leaves.
fn close(a: f64, b: f64) -> bool {
    crate::events::iteration::same(a, b) || (a - b).abs() <= 1e-10 * (a.abs() + b.abs())
}

/// Initial equations as functions of the free states.
struct StateSystem<'e> {
    engine: &'e mut Engine,
    mode: ModeId,
    level: u16,
    free: Vec<Derivative>,
    equations: Vec<Bound>,
    fixed: Vec<StartValue>,
}

impl NonlinearSystem for StateSystem<'_> {
    fn dim(&self) -> usize {
        self.free.len()
    }
    fn residual(&mut self, x: &[f64], residual: &mut [f64]) -> Result<(), EvalError> {
        for (&Derivative { var, order }, &value) in self.free.iter().zip(x) {
            self.engine.memory.set(var, order, value);
        }
        self.engine
            .solve_mode(self.mode)
            .map_err(|failure| EvalError::recoverable(failure.to_string()))?;
        if !self.engine.extend_jets(self.mode, self.level) {
            return Err(EvalError::recoverable("higher derivatives cannot be computed"));
        }
        let (equations, starts) = residual.split_at_mut(self.equations.len());
        for (residual, equation) in equations.iter_mut().zip(&self.equations) {
            *residual = equation.value(&self.engine.memory);
        }
        for (residual, start) in starts.iter_mut().zip(&self.fixed) {
            *residual = self.engine.memory.get(start.var, start.order) - start.value;
        }
        Ok(())
    }
}

struct Constraints<'a> {
    system: System,
    slots: &'a [u32],
    memory: &'a mut Memory,
    pattern: SparsityPattern,
    /// For every entry of the system's Jacobian its position in the pattern.
    order: Vec<usize>,
    fixed: Vec<(usize, f64)>,
    rows: usize,
}

impl Constraints<'_> {
    fn place(&mut self, x: &[f64]) {
        for (&slot, &value) in self.slots.iter().zip(x) {
            self.memory.values[slot as usize] = value;
        }
    }
}

impl ConstraintSystem for Constraints<'_> {
    fn unknowns(&self) -> usize {
        self.slots.len()
    }
    fn constraints(&self) -> usize {
        self.rows + self.fixed.len()
    }
    fn residual(&mut self, x: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        let (equations, starts) = g.split_at_mut(self.rows);
        self.system.residual.evaluate_unchecked(&self.memory.values, equations);
        for (g, &(at, value)) in starts.iter_mut().zip(&self.fixed) {
            *g = x[at] - value;
        }
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        Some(&self.pattern)
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        let mut own = vec![0.0; self.system.row_indices.len()];
        self.system.jacobian.evaluate_unchecked(&self.memory.values, &mut own);
        values.fill(0.0);
        for (&at, value) in self.order.iter().zip(own) {
            values[at] = value;
        }
        for (row, &(column, _)) in self.fixed.iter().enumerate() {
            if let Some(at) = self.pattern.position(self.rows + row, column) {
                values[at] = 1.0;
            }
        }
        Ok(())
    }
}

fn constraint_pattern(system: &System, rows: usize, columns: usize, fixed: &[(usize, f64)]) -> SparsityPattern {
    let mut entries = Vec::new();
    for column in 0..columns {
        let range = system.column_starts[column]..system.column_starts[column + 1];
        entries.extend(system.row_indices[range].iter().map(|&row| (row, column)));
    }
    entries.extend(fixed.iter().enumerate().map(|(row, &(column, _))| (rows + row, column)));
    SparsityPattern::from_entries(rows + fixed.len(), columns, entries)
}

fn pattern_positions(system: &System, pattern: &SparsityPattern) -> Vec<usize> {
    let columns = system.column_starts.len() - 1;
    let mut order = Vec::with_capacity(system.row_indices.len());
    for column in 0..columns {
        for &row in &system.row_indices[system.column_starts[column]..system.column_starts[column + 1]] {
            order.push(pattern.position(row, column).unwrap_or(0));
        }
    }
    order
}
