//! State machines (chapter 17 of the specification), written out as clocked equations.
//!
//! Blocks that `transition(…)` names are states; those that transitions lead between are a machine. What a machine does at a
//! tick is the data flow of 17.3.4, here with one Boolean `active` and one `reset` per state. An equation of a state holds
//! while the state is active; its variables keep their values otherwise, and `previous(v)` is the start value where the
//! state is entered with a reset. Definitions of one outer variable in several states are joined (17.3.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_source::Span;
use saltus_syntax::ast::{Call, Expr, ExprKind};

use super::arguments::by_name;
use crate::codes;
use crate::expr::{Context, Item, Mode, Resolved};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{
    Attributes, BinaryOp, Builtin, Causality, EquationKind, FlatEquation, FlatExpr, FlatVariable, ProvenanceId,
    ProvenanceKind, ScalarType, UnaryOp, Variability, VariableId,
};
use crate::flattener::Flattener;
use crate::ids::InstanceId;
use crate::instance::ComponentKind;

/// `transition(from, to, condition, …)`
#[derive(Clone, Debug)]
struct Transition {
    from: InstanceId,
    to: InstanceId,
    condition: FlatExpr,
    immediate: bool,
    reset: bool,
    synchronize: bool,
    priority: i64,
    span: Span,
}

/// What equations say of state machines.
#[derive(Debug, Default)]
pub(crate) struct StateMachines {
    transitions: Vec<Transition>,
    initial: Vec<(InstanceId, Span)>,
}

/// A state with the variables that speak of it.
struct State {
    instance: InstanceId,
    path: Arc<str>,
    /// The number of its machine.
    machine: usize,
    /// Its number in the machine, from 1.
    number: i64,
    active: VariableId,
    reset: VariableId,
    entered: VariableId,
    ticks: Option<VariableId>,
    since: Option<VariableId>,
}

struct Machine {
    /// The state around it.
    parent: Option<usize>,
    states: Vec<usize>,
    /// Sorted so that of several that may fire the last does.
    transitions: Vec<Transition>,
    active_state: VariableId,
    span: Span,
}

impl Flattener<'_> {
    /// `transition(…)` or `initialState(…)`.
    pub(super) fn state_machine_statement(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<()> {
        let name = call.function.as_simple_name().map(|n| n.as_str());
        if name == Some("initialState") {
            let arguments = by_name(call, &["state"], 1, span)?;
            let state = self.state(arguments[0], span, ctx)?;
            self.machines.initial.push((state, span));
            return Ok(());
        }
        const NAMES: [&str; 7] = [
            "from",
            "to",
            "condition",
            "immediate",
            "reset",
            "synchronize",
            "priority",
        ];
        let arguments = by_name(call, &NAMES, 3, span)?;
        let from = self.state(arguments[0], span, ctx)?;
        let to = self.state(arguments[1], span, ctx)?;
        let Some(condition) = arguments[2] else {
            return Err(Failure::Reported);
        };
        let condition = self.condition(condition, ctx)?;
        let mut flags = [true, true, false];
        for (flag, argument) in flags.iter_mut().zip(&arguments[3..6]) {
            if let Some(argument) = argument {
                *flag = self.evaluate_condition(argument, ctx)?;
            }
        }
        let priority = match arguments[6] {
            Some(argument) => self.evaluate(argument, ctx)?.as_integer().filter(|&p| p >= 1),
            None => Some(1),
        };
        let Some(priority) = priority else {
            return Err(error(
                codes::E0301,
                span,
                "the priority of a transition is an Integer from 1 on",
            )
            .with_help("of the transitions that leave a state, that with the smallest number goes first")
            .into());
        };
        let [immediate, reset, synchronize] = flags;
        self.machines.transitions.push(Transition {
            from,
            to,
            condition,
            immediate,
            reset,
            synchronize,
            priority,
            span,
        });
        Ok(())
    }

    /// The block instance that a reference names.
    fn state(&mut self, argument: Option<&Expr>, span: Span, ctx: &Context<'_>) -> Fallible<InstanceId> {
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        if let Some(expr) = argument
            && let ExprKind::Reference(reference) = &expr.kind
            && let Resolved::Selection(selection) = self.resolve(reference, &flat)?
            && let [Item::Instance(instance)] = selection.items[..]
        {
            return Ok(instance);
        }
        Err(
            error(codes::E0407, span, "a state of a state machine is a block instance")
                .with_help("name a block: `block S … end S; S s; … initialState(s)`")
                .into(),
        )
    }

    /// `activeState(s)`, `ticksInState()` and `timeInState()`.
    pub(crate) fn state_query(
        &mut self,
        name: &str,
        call: &Call,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<crate::tensor::Tensor> {
        use crate::tensor::{Tensor, Ty};
        if ctx.frame.is_some() {
            return fail(codes::E0311, span, format!("`{name}` cannot be used in a function"));
        }
        Ok(match name {
            "activeState" => {
                let arguments = by_name(call, &["state"], 1, span)?;
                let state = self.state(arguments[0], span, ctx)?;
                let path = FlatExpr::String(Arc::clone(&self.instances[state].path));
                Tensor::scalar(
                    Ty::Boolean,
                    FlatExpr::Builtin(Builtin::ActiveState, Box::new([path]), span),
                )
            }
            "ticksInState" => {
                by_name(call, &[], 0, span)?;
                Tensor::scalar(
                    Ty::Integer,
                    FlatExpr::Builtin(Builtin::TicksInState, Box::default(), span),
                )
            }
            _ => {
                by_name(call, &[], 0, span)?;
                Tensor::scalar(Ty::Real, FlatExpr::Builtin(Builtin::TimeInState, Box::default(), span))
            }
        })
    }

    /// Writes out the state machines of the model.
    pub(super) fn expand_state_machines(&mut self) -> Fallible<()> {
        let machines = std::mem::take(&mut self.machines);
        if machines.transitions.is_empty() && machines.initial.is_empty() {
            return self.refuse_state_queries(&FxHashMap::default());
        }
        let mut expansion = Expansion::new(self, &machines)?;
        expansion.equations_of_states(self)?;
        expansion.equations_of_machines(self);
        let known: FxHashMap<Arc<str>, VariableId> = expansion
            .states
            .iter()
            .map(|state| (Arc::clone(&state.path), state.active))
            .collect();
        self.refuse_state_queries(&known)
    }

    /// Puts what is known of states in place of `activeState(s)`; what is left asks for no state.
    fn refuse_state_queries(&mut self, known: &FxHashMap<Arc<str>, VariableId>) -> Fallible<()> {
        let mut wrong: Option<(Span, String)> = None;
        let mut equations = std::mem::take(&mut self.model.equations);
        let mut replace = |expr: &mut FlatExpr| {
            if let FlatExpr::Builtin(builtin, args, span) = expr {
                match (*builtin, args.first()) {
                    (Builtin::ActiveState, Some(FlatExpr::String(path))) => match known.get(path) {
                        Some(active) => *expr = FlatExpr::Variable(*active),
                        None => wrong = Some((*span, format!("`{path}` is no state of a state machine"))),
                    },
                    (Builtin::TicksInState | Builtin::TimeInState, _) => {
                        let name = builtin.name();
                        wrong = Some((*span, format!("`{name}()` outside of a state")));
                    }
                    _ => {}
                }
            }
        };
        for equation in &mut equations {
            each_expr(equation, &mut |expr| expr.transform(&mut replace));
        }
        self.model.equations = equations;
        match wrong {
            Some((span, message)) => Err(error(codes::E0407, span, message)
                .with_help("states are the blocks that `transition` and `initialState` name; write it in one of them, or in the condition of a transition")
                .into()),
            None => Ok(()),
        }
    }

    fn machine_variable(
        &mut self,
        name: String,
        ty: ScalarType,
        start: FlatExpr,
        span: Span,
        hidden: bool,
    ) -> VariableId {
        let provenance = self.add_provenance(span, &"".into(), ProvenanceKind::Declaration);
        self.owners.push(crate::ids::ComponentId(0));
        self.model.variables.push(FlatVariable {
            name: name.into(),
            ty,
            variability: if ty == ScalarType::Real {
                Variability::Continuous
            } else {
                Variability::Discrete
            },
            causality: Causality::Internal,
            binding: None,
            start: Some(start),
            fixed: None,
            attributes: Arc::new(Attributes::default()),
            protected: hidden,
            structural: false,
            is_final: true,
            provenance,
        })
    }
}

/// Every expression of an equation.
fn each_expr(equation: &mut FlatEquation, visit: &mut dyn FnMut(&mut FlatExpr)) {
    match &mut equation.kind {
        EquationKind::Equal(a, b) => {
            visit(a);
            visit(b);
        }
        EquationKind::If { branches, otherwise } => {
            for branch in branches {
                visit(&mut branch.condition);
                branch.body.iter_mut().for_each(|inner| each_expr(inner, visit));
            }
            otherwise.iter_mut().for_each(|inner| each_expr(inner, visit));
        }
        EquationKind::When { branches } => {
            for branch in branches {
                branch.conditions.iter_mut().for_each(&mut *visit);
                branch.body.iter_mut().for_each(|inner| each_expr(inner, visit));
            }
        }
        EquationKind::Reinit(_, e) | EquationKind::Terminate(e) | EquationKind::NoReturnCall(e) => visit(e),
        EquationKind::Assert { condition, message, .. } => {
            visit(condition);
            visit(message);
        }
    }
}

struct Expansion {
    states: Vec<State>,
    machines: Vec<Machine>,
    span: Span,
}

/// Whether a path is a state or inside of it.
fn is_inside(path: &str, state: &str) -> bool {
    path == state || path.strip_prefix(state).is_some_and(|rest| rest.starts_with('.'))
}

impl Expansion {
    fn new(flattener: &mut Flattener<'_>, given: &StateMachines) -> Fallible<Self> {
        let groups = groups(given);
        let first = given.initial.first().map(|(_, span)| *span);
        let span = first
            .or(given.transitions.first().map(|t| t.span))
            .unwrap_or(crate::class::nowhere());
        let mut this = Expansion {
            states: Vec::new(),
            machines: Vec::new(),
            span,
        };
        for members in groups {
            this.add_machine(flattener, given, members)?;
        }
        for at in 0..this.machines.len() {
            let path = Arc::clone(&this.states[this.machines[at].states[0]].path);
            let own: Vec<usize> = this.machines[at].states.clone();
            let around = this.innermost(&path, &own);
            this.machines[at].parent = around;
        }
        Ok(this)
    }

    fn add_machine(
        &mut self,
        flattener: &mut Flattener<'_>,
        given: &StateMachines,
        mut members: Vec<InstanceId>,
    ) -> Fallible<()> {
        let initial: Vec<&(InstanceId, Span)> = given
            .initial
            .iter()
            .filter(|(state, _)| members.contains(state))
            .collect();
        let some_span = given
            .transitions
            .iter()
            .find(|t| members.contains(&t.from))
            .map(|t| t.span);
        let (start, span) = match initial[..] {
            [(state, span)] => (*state, *span),
            [] => {
                return Err(error(
                    codes::E0407,
                    some_span.unwrap_or(self.span),
                    "this state machine has no initial state",
                )
                .with_help("name one of its states with `initialState(…)`")
                .into());
            }
            [(_, first), (_, second), ..] => {
                return Err(
                    error(codes::E0407, *second, "this state machine has two initial states")
                        .with_secondary(*first, "the other is here")
                        .with_help("name one of its states only")
                        .into(),
                );
            }
        };
        members.retain(|state| *state != start);
        members.insert(0, start);
        let mut transitions: Vec<Transition> = given
            .transitions
            .iter()
            .filter(|t| members.contains(&t.from))
            .cloned()
            .collect();
        transitions.sort_by_key(|t| std::cmp::Reverse(t.priority));
        for (at, one) in transitions.iter().enumerate() {
            if let Some(other) = transitions[at + 1..]
                .iter()
                .find(|t| t.from == one.from && t.priority == one.priority)
            {
                return Err(error(
                    codes::E0407,
                    other.span,
                    "two transitions from one state have the same priority",
                )
                .with_secondary(one.span, "the other is here")
                .with_help("give the transitions that leave a state different priorities: `priority = 2`")
                .into());
            }
        }
        let machine = self.machines.len();
        let active_state = flattener.machine_variable(
            format!("$machine {machine} activeState"),
            ScalarType::Integer,
            FlatExpr::Integer(1),
            span,
            true,
        );
        let mut states = Vec::new();
        for (at, instance) in members.into_iter().enumerate() {
            let path = Arc::clone(&flattener.instances[instance].path);
            // A state may have a variable of this name itself.
            let name = format!("{path}.active");
            let is_free = !flattener.model.variables.iter().any(|variable| *variable.name == *name);
            let shown = if is_free { "active" } else { "$active" };
            let mut flag = |what: &str, hidden: bool| {
                flattener.machine_variable(
                    format!("{path}.{what}"),
                    ScalarType::Boolean,
                    FlatExpr::Boolean(false),
                    span,
                    hidden,
                )
            };
            let (active, reset, entered) = (flag(shown, false), flag("$reset", true), flag("$entered", true));
            states.push(self.states.len());
            self.states.push(State {
                instance,
                path: Arc::clone(&path),
                machine,
                number: at as i64 + 1,
                active,
                reset,
                entered,
                ticks: None,
                since: None,
            });
        }
        self.machines.push(Machine {
            parent: None,
            states,
            transitions,
            active_state,
            span,
        });
        Ok(())
    }

    /// The innermost state that holds a path, other than some.
    fn innermost(&self, path: &str, but: &[usize]) -> Option<usize> {
        let holding = (0..self.states.len()).filter(|at| !but.contains(at) && is_inside(path, &self.states[*at].path));
        holding.max_by_key(|&at| self.states[at].path.len())
    }

    fn state_of(&self, instance: InstanceId) -> Option<usize> {
        self.states.iter().position(|state| state.instance == instance)
    }

    /// How many ticks a state has been active for; made where it is asked for.
    fn ticks(&mut self, flattener: &mut Flattener<'_>, state: usize) -> VariableId {
        let (name, span) = (format!("{}.$ticks", self.states[state].path), self.span);
        *self.states[state].ticks.get_or_insert_with(|| {
            flattener.machine_variable(name, ScalarType::Integer, FlatExpr::Integer(0), span, true)
        })
    }

    /// When a state became active; made where it is asked for.
    fn since(&mut self, flattener: &mut Flattener<'_>, state: usize) -> VariableId {
        let (name, span) = (format!("{}.$since", self.states[state].path), self.span);
        *self.states[state]
            .since
            .get_or_insert_with(|| flattener.machine_variable(name, ScalarType::Real, FlatExpr::Real(0.0), span, true))
    }

    /// `ticksInState()` and `timeInState()` in a state, or in the condition of a transition from it. Where the condition
    /// decides whether the state stays active, what counts is how long it has been.
    fn answer(&mut self, flattener: &mut Flattener<'_>, expr: &mut FlatExpr, state: usize, so_far: bool) {
        let mut asked = (false, false);
        expr.walk(&mut |part| match part {
            FlatExpr::Builtin(Builtin::TicksInState, ..) => asked.0 = true,
            FlatExpr::Builtin(Builtin::TimeInState, ..) => asked.1 = true,
            _ => {}
        });
        let ticks = asked.0.then(|| self.ticks(flattener, state));
        let since = asked.1.then(|| self.since(flattener, state));
        let span = self.span;
        let value = |variable: VariableId| {
            if so_far {
                previous(variable, span)
            } else {
                FlatExpr::Variable(variable)
            }
        };
        expr.transform(&mut |part| match (&*part, ticks, since) {
            (FlatExpr::Builtin(Builtin::TicksInState, ..), Some(ticks), _) => *part = value(ticks),
            (FlatExpr::Builtin(Builtin::TimeInState, ..), _, Some(since)) => {
                *part = binary(BinaryOp::Subtract, now(span), value(since), span);
            }
            _ => {}
        });
    }

    /// Equations of states hold while the states are active.
    fn equations_of_states(&mut self, flattener: &mut Flattener<'_>) -> Fallible<()> {
        self.join_inner_outer(flattener)?;
        for section in &flattener.model.algorithms {
            let provenance = &flattener.model.provenances[section.provenance];
            if self.innermost(&provenance.path, &[]).is_some() {
                return Err(error(
                    codes::E0214,
                    provenance.span,
                    "an algorithm section in a state is not supported yet",
                )
                .with_help("write it as equations, or as a function")
                .into());
            }
        }
        let equations = std::mem::take(&mut flattener.model.equations);
        let mut definitions: BTreeMap<VariableId, Vec<(usize, FlatExpr, ProvenanceId)>> = BTreeMap::new();
        let mut kept = Vec::new();
        for mut equation in equations {
            let path = Arc::clone(&flattener.model.provenances[equation.provenance].path);
            let Some(state) = self.innermost(&path, &[]) else {
                each_expr(&mut equation, &mut |expr| self.with_resets(flattener, expr));
                kept.push(equation);
                continue;
            };
            let provenance = equation.provenance;
            for (target, mut value) in self.read(flattener, equation)? {
                self.answer(flattener, &mut value, state, false);
                self.with_resets(flattener, &mut value);
                definitions.entry(target).or_default().push((state, value, provenance));
            }
        }
        for (target, list) in definitions {
            let provenance = list[0].2;
            self.check_exclusive(flattener, target, &list)?;
            // Where no state that says it is active it keeps its value.
            let mut value = self.kept_value(flattener, target);
            for (state, own, _) in list.into_iter().rev() {
                let active = FlatExpr::Variable(self.states[state].active);
                value = choice(active, own, value, self.span);
            }
            kept.push(FlatEquation {
                kind: EquationKind::Equal(FlatExpr::Variable(target), value),
                provenance,
            });
        }
        flattener.model.equations = kept;
        Ok(())
    }

    /// Of the states that say what a variable is, at most one may be active at a tick.
    fn check_exclusive(
        &self,
        flattener: &Flattener<'_>,
        target: VariableId,
        list: &[(usize, FlatExpr, ProvenanceId)],
    ) -> Fallible<()> {
        for (at, (one, _, first)) in list.iter().enumerate() {
            let rival = list[at + 1..]
                .iter()
                .find(|(other, ..)| !self.are_exclusive(*one, *other));
            if let Some((_, _, second)) = rival {
                let span = |id: ProvenanceId| flattener.model.provenances[id].span;
                let name = &flattener.model.variables[target].name;
                let message = format!("two equations for `{name}` in states that may be active at once");
                return Err(error(codes::E0407, span(*second), message)
                    .with_secondary(span(*first), "the other is here")
                    .with_help("say it once per state, in states of one machine")
                    .into());
            }
        }
        Ok(())
    }

    /// Whether two states, or states around them, are different states of one machine.
    fn are_exclusive(&self, one: usize, other: usize) -> bool {
        let around = |state: usize| {
            let parent = |&at: &usize| self.machines[self.states[at].machine].parent;
            std::iter::successors(Some(state), parent).collect::<Vec<usize>>()
        };
        let others = around(other);
        let is_rival = |a: usize, b: usize| a != b && self.states[a].machine == self.states[b].machine;
        around(one).into_iter().any(|a| others.iter().any(|&b| is_rival(a, b)))
    }

    fn kept_value(&self, flattener: &Flattener<'_>, target: VariableId) -> FlatExpr {
        let mut value = previous(target, self.span);
        self.with_resets(flattener, &mut value);
        value
    }

    /// `previous(v)` of a variable of a state that is entered with a reset is the start value.
    fn with_resets(&self, flattener: &Flattener<'_>, expr: &mut FlatExpr) {
        let span = self.span;
        expr.transform(&mut |part| {
            let FlatExpr::Builtin(Builtin::Previous, args, _) = &*part else {
                return;
            };
            let FlatExpr::Variable(variable) = args[0] else { return };
            let data = &flattener.model.variables[variable];
            if let Some(state) = self.innermost(owner_of(&data.name), &[]) {
                let start = data.start.clone().unwrap_or(match data.ty {
                    ScalarType::Boolean => FlatExpr::Boolean(false),
                    ScalarType::Integer => FlatExpr::Integer(0),
                    ScalarType::Enumeration(id) => FlatExpr::Enumeration(id, 1),
                    _ => FlatExpr::Real(0.0),
                });
                let reset = FlatExpr::Variable(self.states[state].reset);
                *part = choice(reset, start, part.clone(), span);
            }
        });
    }

    /// What an equation of a state defines.
    fn read(&self, flattener: &Flattener<'_>, equation: FlatEquation) -> Fallible<Vec<(VariableId, FlatExpr)>> {
        let span = flattener.model.provenances[equation.provenance].span;
        let unclear = || -> Failure {
            error(codes::E0214, span, "an equation of a state must say what a variable is")
                .with_help("write the variable alone on the left: `v = …`")
                .into()
        };
        match equation.kind {
            EquationKind::Equal(FlatExpr::Variable(target), value)
            | EquationKind::Equal(value, FlatExpr::Variable(target)) => Ok(vec![(target, value)]),
            EquationKind::If { branches, otherwise } => {
                let mut result: Vec<(VariableId, FlatExpr)> = Vec::new();
                for inner in otherwise {
                    result.extend(self.read(flattener, inner)?);
                }
                for branch in branches.into_iter().rev() {
                    let mut own: Vec<(VariableId, FlatExpr)> = Vec::new();
                    for inner in branch.body {
                        own.extend(self.read(flattener, inner)?);
                    }
                    if own.len() != result.len() {
                        return Err(unclear());
                    }
                    for (target, value) in own {
                        let Some((_, other)) = result.iter_mut().find(|(known, _)| *known == target) else {
                            return Err(unclear());
                        };
                        *other = choice(branch.condition.clone(), value, other.clone(), span);
                    }
                }
                Ok(result)
            }
            _ => Err(unclear()),
        }
    }

    /// `inner outer` variables of states are the outer ones: a name on the way down.
    fn join_inner_outer(&self, flattener: &mut Flattener<'_>) -> Fallible<()> {
        let mut stands_for: BTreeMap<VariableId, VariableId> = BTreeMap::new();
        for state in &self.states {
            let table = std::rc::Rc::clone(&flattener.instances[state.instance].table);
            for (index, entry) in table.entries.iter().enumerate() {
                if !(entry.inner && entry.outer && entry.component().is_some()) {
                    continue;
                }
                let Some(own) = flattener.component(state.instance, index as u32)? else {
                    continue;
                };
                let outer = flattener.resolve_outer(state.instance, entry)?;
                let variables =
                    |flattener: &Flattener<'_>, id: crate::ids::ComponentId| match flattener.components[id].kind {
                        ComponentKind::Primitive { first: Some(first), .. } => Some((
                            first,
                            crate::tensor::volume(&flattener.components[id].dims).unwrap_or(0),
                        )),
                        _ => None,
                    };
                if let (Some((a, count)), Some((b, _))) = (variables(flattener, own), variables(flattener, outer)) {
                    stands_for.extend((0..count as u32).map(|n| (VariableId(a.0 + n), VariableId(b.0 + n))));
                }
            }
        }
        let final_name = |mut variable: VariableId| {
            while let Some(&other) = stands_for.get(&variable) {
                variable = other;
            }
            variable
        };
        let mut equations = std::mem::take(&mut flattener.model.equations);
        for equation in &mut equations {
            each_expr(equation, &mut |expr| {
                expr.transform(&mut |part| {
                    if let FlatExpr::Variable(variable) = part {
                        *variable = final_name(*variable);
                    }
                });
            });
        }
        for &variable in stands_for.keys() {
            let provenance = flattener.add_provenance(self.span, &"".into(), ProvenanceKind::Equation);
            equations.push(FlatEquation {
                kind: EquationKind::Equal(FlatExpr::Variable(variable), FlatExpr::Variable(final_name(variable))),
                provenance,
            });
        }
        flattener.model.equations = equations;
        Ok(())
    }

    /// The data flow of 17.3.4 for every machine.
    fn equations_of_machines(&mut self, flattener: &mut Flattener<'_>) {
        let span = self.span;
        for at in 0..self.machines.len() {
            let mut conditions = Vec::new();
            for transition in self.machines[at].transitions.clone() {
                let mut condition = transition.condition.clone();
                if let Some(from) = self.state_of(transition.from) {
                    self.answer(flattener, &mut condition, from, transition.immediate);
                    if transition.synchronize {
                        condition = and(condition, self.all_final(from), span);
                    }
                }
                self.with_resets(flattener, &mut condition);
                conditions.push(condition);
            }
            self.machine_equations(flattener, at, conditions);
        }
        for at in 0..self.states.len() {
            self.duration_equations(flattener, at);
        }
    }

    /// All machines directly in a state are in states without transitions.
    fn all_final(&self, state: usize) -> FlatExpr {
        let mut all = FlatExpr::Boolean(true);
        for machine in self.machines.iter().filter(|machine| machine.parent == Some(state)) {
            let leaves = |at: &&usize| machine.transitions.iter().any(|t| t.from == self.states[**at].instance);
            let mut any = FlatExpr::Boolean(false);
            for &at in machine.states.iter().filter(|at| !leaves(at)) {
                let here = equals(machine.active_state, self.states[at].number, self.span);
                any = binary(BinaryOp::Or, any, here, self.span);
            }
            all = and(all, any, self.span);
        }
        all
    }

    fn machine_equations(&self, flattener: &mut Flattener<'_>, at: usize, conditions: Vec<FlatExpr>) {
        let machine = &self.machines[at];
        let span = machine.span;
        let provenance = flattener.add_provenance(span, &"".into(), ProvenanceKind::Equation);
        let mut equations: Vec<(VariableId, FlatExpr)> = Vec::new();
        let mut make = |what: &str, ty: ScalarType, start: FlatExpr| {
            flattener.machine_variable(format!("$machine {at} {what}"), ty, start, span, true)
        };
        let (boolean, integer) = (ScalarType::Boolean, ScalarType::Integer);
        let no = FlatExpr::Boolean(false);
        let reset = make("reset", boolean, no.clone());
        let selected = make("selectedState", integer, FlatExpr::Integer(1));
        // A machine of one state without transitions has nothing to fire.
        let mut choosing = || ["immediate", "delayed", "fired"].map(|what| make(what, integer, FlatExpr::Integer(0)));
        let choosing = (!machine.transitions.is_empty()).then(&mut choosing);
        let active_reset = make("activeReset", boolean, no.clone());
        let next_state = make("nextState", integer, FlatExpr::Integer(1));
        let next_reset = make("nextReset", boolean, no.clone());
        let resets: Vec<(VariableId, VariableId)> = machine
            .states
            .iter()
            .map(|&state| {
                let number = self.states[state].number;
                (
                    make(&format!("activeResetState {number}"), boolean, no.clone()),
                    make(&format!("nextResetState {number}"), boolean, no.clone()),
                )
            })
            .collect();
        let variable = FlatExpr::Variable;
        let before = |id: VariableId| previous(id, span);
        let (active, reset_value, entered_around) = match machine.parent {
            Some(parent) => {
                let parent = &self.states[parent];
                (
                    variable(parent.active),
                    variable(parent.reset),
                    variable(parent.entered),
                )
            }
            None => {
                let first = FlatExpr::Builtin(Builtin::FirstTick, Box::new([variable(selected)]), span);
                (FlatExpr::Boolean(true), first, no.clone())
            }
        };
        equations.push((reset, reset_value));
        let one = FlatExpr::Integer(1);
        equations.push((selected, choice(variable(reset), one.clone(), before(next_state), span)));
        let candidates = |wanted: bool, from: VariableId| {
            let mut value = FlatExpr::Integer(0);
            for (number, transition) in machine.transitions.iter().enumerate() {
                let Some(state) = self.state_of(transition.from) else {
                    continue;
                };
                if transition.immediate == wanted {
                    let here = equals(from, self.states[state].number, span);
                    let may = and(here, conditions[number].clone(), span);
                    value = choice(may, FlatExpr::Integer(number as i64 + 1), value, span);
                }
            }
            value
        };
        let has_fired = |number: usize| match choosing {
            Some([.., fired]) => equals(fired, number as i64 + 1, span),
            None => FlatExpr::Boolean(false),
        };
        if let Some([immediate, delayed, fired]) = choosing {
            equations.push((immediate, candidates(true, selected)));
            equations.push((delayed, candidates(false, next_state)));
            let both = Box::new([before(delayed), variable(immediate)]);
            equations.push((fired, FlatExpr::Builtin(Builtin::Max, both, span)));
        }
        let (mut target, mut resets_target) = (variable(selected), or(variable(reset), before(next_reset), span));
        for (number, transition) in machine.transitions.iter().enumerate() {
            let Some(to) = self.state_of(transition.to) else {
                continue;
            };
            let this = has_fired(number);
            target = choice(this.clone(), FlatExpr::Integer(self.states[to].number), target, span);
            resets_target = choice(this, FlatExpr::Boolean(transition.reset), resets_target, span);
        }
        let active_state = machine.active_state;
        equations.push((active_state, choice(variable(reset), one, target, span)));
        equations.push((active_reset, or(variable(reset), resets_target, span)));
        equations.push((
            next_state,
            choice(active.clone(), variable(active_state), before(next_state), span),
        ));
        equations.push((next_reset, and(not(active.clone()), before(next_reset), span)));
        for (&at, &(own_reset, next)) in machine.states.iter().zip(&resets) {
            let state = &self.states[at];
            let here = equals(active_state, state.number, span);
            equations.push((own_reset, or(variable(reset), before(next), span)));
            let waits = and(not(here.clone()), variable(own_reset), span);
            equations.push((next, choice(active.clone(), waits, before(next), span)));
            equations.push((state.active, and(active.clone(), here, span)));
            let any = or(variable(active_reset), variable(own_reset), span);
            equations.push((state.reset, and(variable(state.active), any, span)));
            let mut enters = or(not(before(state.active)), entered_around.clone(), span);
            for (number, transition) in machine.transitions.iter().enumerate() {
                if transition.to == state.instance {
                    enters = or(enters, has_fired(number), span);
                }
            }
            equations.push((state.entered, and(variable(state.active), enters, span)));
        }
        for (target, value) in equations {
            flattener.model.equations.push(FlatEquation {
                kind: EquationKind::Equal(variable(target), value),
                provenance,
            });
        }
    }

    fn duration_equations(&self, flattener: &mut Flattener<'_>, at: usize) {
        let (state, span) = (&self.states[at], self.span);
        let provenance = flattener.add_provenance(span, &"".into(), ProvenanceKind::Equation);
        let (active, entered) = (FlatExpr::Variable(state.active), FlatExpr::Variable(state.entered));
        let mut add = |target: VariableId, value: FlatExpr| {
            flattener.model.equations.push(FlatEquation {
                kind: EquationKind::Equal(FlatExpr::Variable(target), value),
                provenance,
            });
        };
        if let Some(ticks) = state.ticks {
            let more = binary(BinaryOp::Add, previous(ticks, span), FlatExpr::Integer(1), span);
            let counted = choice(entered.clone(), FlatExpr::Integer(1), more, span);
            add(ticks, choice(active, counted, FlatExpr::Integer(0), span));
        }
        if let Some(since) = state.since {
            add(since, choice(entered, now(span), previous(since, span), span));
        }
    }
}

/// The states that transitions lead between, in the order in which they are named.
fn groups(given: &StateMachines) -> Vec<Vec<InstanceId>> {
    let mut groups: Vec<Vec<InstanceId>> = Vec::new();
    let transitions = given.transitions.iter().map(|t| vec![t.from, t.to]);
    let all = transitions.chain(given.initial.iter().map(|(state, _)| vec![*state]));
    for names in all {
        let mut joined: Vec<InstanceId> = Vec::new();
        groups.retain(|group| {
            let meets = group.iter().any(|state| names.contains(state));
            if meets {
                joined.extend(group);
            }
            !meets
        });
        for name in names {
            if !joined.contains(&name) {
                joined.push(name);
            }
        }
        groups.push(joined);
    }
    groups
}

fn owner_of(path: &str) -> &str {
    path.rfind('.').map_or("", |at| &path[..at])
}

fn previous(variable: VariableId, span: Span) -> FlatExpr {
    FlatExpr::Builtin(Builtin::Previous, Box::new([FlatExpr::Variable(variable)]), span)
}

/// The time of the tick.
fn now(span: Span) -> FlatExpr {
    FlatExpr::Builtin(Builtin::ClockedSample, Box::new([FlatExpr::Time]), span)
}

fn binary(op: BinaryOp, a: FlatExpr, b: FlatExpr, span: Span) -> FlatExpr {
    FlatExpr::Binary(op, Box::new([a, b]), span)
}

fn and(a: FlatExpr, b: FlatExpr, span: Span) -> FlatExpr {
    binary(BinaryOp::And, a, b, span)
}

fn or(a: FlatExpr, b: FlatExpr, span: Span) -> FlatExpr {
    binary(BinaryOp::Or, a, b, span)
}

fn not(a: FlatExpr) -> FlatExpr {
    FlatExpr::Unary(UnaryOp::Not, Box::new(a))
}

fn equals(variable: VariableId, number: i64, span: Span) -> FlatExpr {
    binary(
        BinaryOp::Equal,
        FlatExpr::Variable(variable),
        FlatExpr::Integer(number),
        span,
    )
}

fn choice(condition: FlatExpr, a: FlatExpr, b: FlatExpr, span: Span) -> FlatExpr {
    FlatExpr::If(Box::new([condition, a, b]), span)
}
