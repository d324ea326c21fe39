//! Runs of networks: phases and events of modes that are kept as numbers ([`crate::network`]).
//!
//! What is watched, written and counted is the same as where modes are compiled. Whatever the numbers cannot answer (a change
//! to a mode of another form, conditions at a tie, a step that fails, stiffness) ends the phase, and the run goes on with whole modes;
//! at the next phase it is asked again.

use saltus_mdae::{ConditionId, Derivative, Idx, Node, OriginId, VarId};
use saltus_numerics::EvalError;
use saltus_numerics::ode::{IntegratorOptions, JacobianSource, Method, OdeSystem, Start};
use saltus_numerics::roots::{ConditionFunctions, Course, Cut, ScanOptions, told_by_three, told_pieces};
use saltus_results::{ModeShape, ResultSink, RowKind};
use saltus_structure::mode::{GuardId, Valuation};

use super::lookahead::reads_time_alone;
use super::{Cancel, Observer, PhaseEnd, PhaseState, Run};
use crate::engine::{Engine, ModeId};
use crate::error::{Failure, FailureKind};
use crate::events::resolution::Arguments;
use crate::events::sign::Sign;
use crate::memory::Memory;
use crate::network::present::Present;
use crate::network::switches::Switched;
use crate::network::{Change, Network};
use crate::options::{Chattering, RestartMethod, Zeno};
use crate::report::{CandidateReport, EventReport, InstantReport};

/// Whether the model of a run is a network.
#[derive(Clone, Default)]
pub(super) enum Networked {
    /// Nobody has asked yet.
    #[default]
    Unasked,
    No,
    Yes(Box<Network>),
}

/// Errors of a step that are no sign of something hidden, in parts of the tolerance.
const OF_TOLERANCE: f64 = 10.0;
/// Samples that each step adds to what may be computed.
const SAMPLES_PER_STEP: f64 = 8.0;

/// The mode in force as a system for the integrators.
struct NetworkOde<'a> {
    network: &'a mut Network,
    memory: &'a mut Memory,
}

impl OdeSystem for NetworkOde<'_> {
    fn dim(&self) -> usize {
        self.network.present.as_ref().map_or(0, |present| present.states.len())
    }

    fn rhs(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        self.network.evaluate_rates(t, y, self.memory);
        if let Some(present) = &self.network.present {
            for (dy, rate) in dy.iter_mut().zip(present.rates()) {
                *dy = rate;
            }
        }
        Ok(())
    }

    /// Stiff networks are left to whole modes: there are no values, and the step fails.
    fn jacobian_source(&self) -> JacobianSource {
        JacobianSource::Values
    }
}

/// The arguments that show the course of the signals in the equations.
struct Courses<'a> {
    arguments: &'a mut Arguments,
    engine: &'a mut Engine,
    affordable: &'a mut f64,
    cancel: &'a Cancel,
}

impl Courses<'_> {
    fn sample(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        if self.cancel.is_cancelled() {
            return Err(EvalError::fatal("the run is cancelled"));
        }
        self.engine.memory.set_time(t);
        values.clear();
        let functions = &self.engine.model.functions;
        self.arguments.evaluate(functions, &self.engine.memory, values);
        Ok(())
    }
}

impl ConditionFunctions for Courses<'_> {
    fn count(&self) -> usize {
        0
    }

    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        self.sample(t, values)?;
        *self.affordable -= values.len() as f64;
        self.afford(0.0)
    }

    fn cut(&self, argument: usize, course: &Course) -> Cut {
        self.arguments.cut(argument, course)
    }

    fn afford(&mut self, parts: f64) -> Result<(), EvalError> {
        if parts > *self.affordable {
            Err(EvalError::recoverable("too many values"))
        } else {
            Ok(())
        }
    }
}

impl Run {
    /// The mode in force, if it is one of a network.
    pub(super) fn network_mode(&self) -> Option<&Present> {
        match &self.network {
            Networked::Yes(network) => network.present.as_ref(),
            _ => None,
        }
    }

    /// Whether a phase goes on as one of a network.
    pub(super) fn enters_network(&mut self, mode: ModeId) -> bool {
        if self.network_mode().is_some() {
            return true;
        }
        if let Networked::Unasked = self.network {
            let found = if self.may_be_network() {
                Network::of(&self.engine)
            } else {
                None
            };
            self.network = found.map_or(Networked::No, |network| Networked::Yes(Box::new(network)));
        }
        let Networked::Yes(network) = &mut self.network else {
            return false;
        };
        if self.engine.modes.floating.contains_key(&mode) {
            return false;
        }
        let structure = &self.engine.modes[mode].structure;
        let valuation = structure.valuation.clone();
        let orders = structure.unknowns.iter().zip(&structure.sigma.d);
        let same = |(at, (&var, &d)): (usize, (&VarId, &u16))| {
            network.tables.unknowns.get(at) == Some(&var) && Present::highest_order(&network.tables, at) == d
        };
        let alike = structure.unknowns.len() == network.tables.unknowns.len() && orders.enumerate().all(same);
        if !alike || !network.enter(&self.engine, &valuation) {
            return false;
        }
        let states = self.engine.modes[mode].plan().states.len();
        let entered = network
            .present
            .as_ref()
            .is_some_and(|present| present.states.len() == states);
        if !entered {
            network.present = None;
        }
        entered
    }

    fn may_be_network(&self) -> bool {
        let (engine, options) = (&self.engine, &self.engine.options);
        let of_time = || {
            engine.monitors.iter().all(|monitor| {
                let alone = |monitor| reads_time_alone(&engine.model, &engine.pool, monitor);
                monitor.as_deref().is_some_and(alone)
            })
        };
        let explicit = matches!(options.method, Method::Auto | Method::Tsit45 | Method::Dop853);
        let plain = options.restart == RestartMethod::Structural && !options.verify_restarts;
        let stops = options.chattering == Chattering::Stop && options.zeno == Zeno::Stop;
        let undisturbed = engine.samples.is_empty() && engine.inputs.signals.is_empty() && self.history.is_empty();
        let timeless = || !engine.compiled.uses(Node::Terminal);
        let guards = engine.compiled.modes().guard_count();
        let many = guards > 0 && engine.model.conditions.len() >= options.local_from;
        many && of_time() && explicit && plain && stops && undisturbed && timeless()
    }

    /// Begins a phase; the values at its beginning are in memory.
    pub(super) fn begin_network_phase(&mut self, mode: ModeId) -> Result<Option<PhaseState>, Failure> {
        for id in self.engine.model.conditions.ids() {
            if !self.lookahead.contains(id)
                && let Some(monitor) = self.engine.monitors[id].clone()
            {
                self.reset_watch(id, &monitor, mode);
            }
        }
        self.last_phase = None;
        let (time_event, time_triggers) = self.next_time_event();
        if !self.restart_network(mode, false) {
            self.leave_network_for_good()?;
            return Ok(None);
        }
        Ok(Some(PhaseState {
            mode,
            begin: self.engine.memory.time(),
            taken: 0,
            target: time_event.min(self.engine.options.stop),
            pieces: Vec::new(),
            resolved_until: f64::NEG_INFINITY,
            time_event,
            time_width: self.lookahead.width(&time_triggers),
            time_triggers,
            watched: Vec::new(),
            orientation: Vec::new(),
        }))
    }

    /// Begins at the states of the network; false if that fails.
    fn restart_network(&mut self, mode: ModeId, goes_on: bool) -> bool {
        let Networked::Yes(network) = &mut self.network else {
            return false;
        };
        let Some(present) = &network.present else { return false };
        let time = self.engine.memory.time();
        let (y, dy): (Vec<f64>, Vec<f64>) = (present.states().collect(), present.rates().collect());
        let step = self.integrator.next_step_size().filter(|_| goes_on);
        let engine = &mut self.engine;
        let span = engine.options.stop - engine.options.start;
        for (at, &var) in network.tables.unknowns.iter().enumerate() {
            let value = engine.memory.get(var, 0);
            if network.tables.has_rate[at] {
                engine.scales.note(Derivative { var, order: 0 }, value);
                let rate = engine.memory.get(var, 1);
                engine.scales.note(Derivative { var, order: 1 }, rate);
            } else {
                engine.scales.note_algebraic(Derivative { var, order: 0 }, value);
            }
        }
        let soon = super::step::SOON * span.abs();
        let states = present.states.iter();
        let states = states.map(|&state| Derivative::value_of(network.tables.unknowns[state as usize]));
        for state in states.clone() {
            if engine.scales.size(state.var, 0) == 0.0 {
                let reached = engine.memory.get(state.var, 1).abs() * soon;
                engine.scales.note(state, reached);
            }
        }
        let absolute = engine.scales.state_tolerances(&engine.memory, states);
        let watched = if engine.compiled.switches_in_time() {
            span / super::step::LEAST_STEPS
        } else {
            span
        };
        let mut options = IntegratorOptions::new(self.local_tolerance(), absolute);
        options.max_step = watched.max(f64::MIN_POSITIVE);
        if self.integrator.set_options(options).is_err() {
            return false;
        }
        let mut start = Start::at(time, &y).with_derivative(&dy);
        if dy.iter().any(|dy| !dy.is_finite()) {
            return false;
        }
        let of_last_visit = self.visits.get(&mode).and_then(super::Visit::first_step);
        start.step = step.or_else(|| of_last_visit.filter(|step| time + 1e-3 * step > time));
        start.keep_jacobian = goes_on;
        let Networked::Yes(network) = &mut self.network else {
            return false;
        };
        let memory = &mut self.engine.memory;
        let started = self.integrator.restart(&mut NetworkOde { network, memory }, &start);
        memory.set_time(time);
        started.is_ok()
    }

    /// Integrates to the next event, the stop time, or a time to which the run is to go for now.
    pub(super) fn integrate_network(
        &mut self,
        phase: &mut PhaseState,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<PhaseEnd, Failure> {
        let (mode, stop) = (phase.mode, self.engine.options.stop);
        loop {
            if self.request.cancel.is_cancelled() {
                return Ok(PhaseEnd::Cancelled);
            }
            if self.engine.memory.time() >= until {
                return Ok(PhaseEnd::Paused);
            }
            let Some((begin, end)) = self.network_step(phase.target.min(until)) else {
                self.move_network(self.integrator.time());
                self.leave_network_for_good()?;
                return Ok(PhaseEnd::Left);
            };
            self.engine.counters.steps += 1;
            phase.taken += 1;
            if phase.taken <= 2 && end < phase.target {
                self.visits.entry(mode).or_default().step = end - begin;
            }
            let slow = self.slow_steps(begin);
            self.unless_stalled(slow, begin)?;
            if self.take_network_back(phase, (begin, end))? {
                continue;
            }
            while let Some(time) = self.output_before(end) {
                if self.request.cancel.is_cancelled() {
                    break;
                }
                self.move_network(time);
                self.write_row(sink, RowKind::Regular)?;
            }
            self.move_network(end);
            observer.progress(end);
            self.check_assertions()?;
            if end >= phase.time_event && phase.time_event <= stop {
                self.location_width = phase.time_width;
                return Ok(PhaseEnd::Event(std::mem::take(&mut phase.time_triggers)));
            }
            if end >= stop {
                self.write_row(sink, RowKind::Regular)?;
                return Ok(PhaseEnd::Stop);
            }
            if end >= phase.target {
                self.aim(phase);
                if !self.restart_network(mode, true) {
                    self.leave_network_for_good()?;
                    return Ok(PhaseEnd::Left);
                }
            } else {
                self.follow_network_sizes();
            }
        }
    }

    /// Lets the tolerances of the integrator follow the sizes that the states have reached at the end of a step.
    fn follow_network_sizes(&mut self) {
        let Networked::Yes(network) = &self.network else {
            return;
        };
        let Some(present) = &network.present else { return };
        let engine = &mut self.engine;
        let states = present.states.iter();
        let states = states.map(|&state| Derivative::value_of(network.tables.unknowns[state as usize]));
        for state in states.clone() {
            engine.scales.note(state, engine.memory.get(state.var, 0));
        }
        let wanted = engine.scales.state_tolerances(&engine.memory, states);
        let given = &self.integrator.options().atol;
        let differs = |(at, wanted): (usize, &f64)| *wanted > 2.0 * given.get(at) || 2.0 * wanted < given.get(at);
        if wanted.iter().enumerate().any(differs) {
            let mut options = self.integrator.options().clone();
            options.atol = wanted.into();
            // Tolerances of numbers are numbers: what was refused stays as it was.
            let _ = self.integrator.set_options(options);
        }
    }

    /// One accepted step; nothing if whole modes have to take it.
    fn network_step(&mut self, target: f64) -> Option<(f64, f64)> {
        let Networked::Yes(network) = &mut self.network else {
            return None;
        };
        let memory = &mut self.engine.memory;
        let step = self.integrator.step(&mut NetworkOde { network, memory }, target).ok()?;
        let finite = self.integrator.state().iter().all(|value| value.is_finite());
        finite.then_some((step.t_old, step.t))
    }

    /// Everything at a point within the last step.
    fn move_network(&mut self, time: f64) {
        let Networked::Yes(network) = &mut self.network else {
            return;
        };
        let mut y = std::mem::take(&mut self.engine.scratch);
        y.clear();
        y.resize(network.present.as_ref().map_or(0, |present| present.states.len()), 0.0);
        self.integrator.interpolate(time, &mut y);
        network.evaluate(time, &y, &mut self.engine.memory);
        network.write(&mut self.engine.memory);
        self.engine.scratch = y;
        self.engine.forget_derivatives();
    }

    /// Takes a step back in which the signals hide something: whether it did. See [`super::rates`].
    fn take_network_back(&mut self, phase: &mut PhaseState, step: (f64, f64)) -> Result<bool, Failure> {
        if step.1 <= phase.resolved_until {
            return Ok(false);
        }
        let affordable = self.affordable_values;
        let pieces = self.pieces_of_signals(step);
        self.engine.memory.set_time(step.1);
        let Some(mut pieces) = pieces.filter(|pieces| self.hides_signals(step.0, pieces)) else {
            return Ok(false);
        };
        // It was worth its cost.
        self.affordable_values = affordable;
        self.move_network(step.0);
        phase.resolved_until = step.1;
        pieces.reverse();
        phase.pieces = pieces;
        self.aim(phase);
        if self.restart_network(phase.mode, true) {
            return Ok(true);
        }
        Err(Failure::new(FailureKind::Integration {
            reason: "the step cannot be taken back".to_owned(),
            variables: Vec::new(),
            origins: Vec::new(),
        })
        .at(step.0))
    }

    /// The ends of the pieces of a step on which samples show the course of the signals; `None` if that is the whole step.
    fn pieces_of_signals(&mut self, step: (f64, f64)) -> Option<Vec<f64>> {
        let Networked::Yes(network) = &mut self.network else {
            return None;
        };
        network.arguments.begin_search();
        let mut courses = Courses {
            arguments: &mut network.arguments,
            engine: &mut self.engine,
            affordable: &mut self.affordable_values,
            cancel: &self.request.cancel,
        };
        let times = [step.0, 0.5 * (step.0 + step.1), step.1];
        let mut samples: [Vec<f64>; 3] = std::array::from_fn(|_| Vec::new());
        for (time, sample) in times.into_iter().zip(&mut samples) {
            courses.sample(time, sample).ok()?;
        }
        *courses.affordable += SAMPLES_PER_STEP * samples[2].len() as f64;
        if samples[2].is_empty() || told_by_three(&courses, samples.each_ref().map(Vec::as_slice)) {
            return None;
        }
        let pieces = told_pieces(&mut courses, step, &ScanOptions::default());
        pieces.ok().filter(|pieces| pieces.len() > 1)
    }

    /// Whether the rates in the middle of pieces differ from what the integrator took them for by more than a tolerance.
    fn hides_signals(&mut self, begin: f64, pieces: &[f64]) -> bool {
        let Networked::Yes(network) = &mut self.network else {
            return false;
        };
        let count = self.integrator.state().len();
        let (mut y, mut assumed, mut moved) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        let mut left = begin;
        for &right in pieces {
            let middle = 0.5 * (left + right);
            self.integrator.interpolate(middle, &mut y);
            self.integrator.interpolate_derivative(middle, &mut assumed);
            network.evaluate(middle, &y, &mut self.engine.memory);
            let rates = network.present.iter().flat_map(Present::rates);
            for (moved, (rate, assumed)) in moved.iter_mut().zip(rates.zip(&assumed)) {
                *moved += (right - left) * (rate - assumed).abs();
            }
            left = right;
        }
        let options = self.integrator.options();
        let tolerance = |at: usize| options.atol.get(at) + options.rtol * y[at].abs();
        let mut moved = moved.iter().enumerate();
        moved.any(|(at, moved)| *moved > OF_TOLERANCE * tolerance(at))
    }

    /// Processes an event; false if whole modes have to.
    pub(super) fn process_network_event(
        &mut self,
        triggers: &[ConditionId],
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<bool, Failure> {
        let Some((switched, change, changed)) = self.change_network(triggers) else {
            return Ok(false);
        };
        let time = self.engine.memory.time();
        let from = self.engine.mode;
        let known = self.engine.modes.by_valuation.get(&change.valuation);
        let to = match known {
            Some(Ok(mode)) => *mode,
            // The whole mode has said why.
            Some(Err(_)) => return Ok(false),
            None => {
                let mode = self.engine.modes.reserve();
                self.engine.counters.modes += 1;
                self.engine.modes.by_valuation.insert(change.valuation, Ok(mode));
                mode
            }
        };
        self.engine.counters.events += 1;
        let slow = self.slow_events(time, triggers);
        self.unless_stalled(slow, time)?;
        self.write_row(sink, RowKind::EventLeft)?;
        let left = self.row.clone();
        let stall = self.chattering(time, triggers);
        self.unless_stalled(stall, time)?;
        switched.repeat(&mut self.engine);
        for &id in &changed {
            self.engine.truths[id] ^= true;
        }
        self.engine.mode = Some(to);
        self.engine.counters.candidates += 1;
        self.engine.counters.restarts += u64::from(change.mode_changed);
        self.engine.counters.local_changes += u64::from(change.mode_changed);
        self.engine.counters.touched_equations += change.looked_at;
        self.settle_network(time);
        self.location_width = 0.0;
        let candidate = CandidateReport {
            truths: self.engine.truths.clone(),
            label: String::new(),
            refused: None,
        };
        let report = EventReport {
            time,
            instants: vec![InstantReport {
                from,
                to: Some(to),
                triggers: triggers.to_vec(),
                changed,
                impulses: change.impulses,
                candidates: vec![candidate],
                ..InstantReport::default()
            }],
            terminate: None,
        };
        self.engine.event.clear.fill(false);
        self.engine.counters.instants += 1;
        self.write_row(sink, RowKind::EventRight)?;
        self.write_event(sink, &report, &left)?;
        self.check_assertions()?;
        self.last_event = Some((time, triggers.to_vec()));
        observer.event(&report);
        Ok(true)
    }

    /// Solves the equations of the mode entered, and puts the values into memory.
    fn settle_network(&mut self, time: f64) {
        let Networked::Yes(network) = &mut self.network else {
            return;
        };
        if let Some(present) = &mut network.present {
            present.solve(&network.tables, time, &mut self.engine.memory);
        }
        network.write(&mut self.engine.memory);
        self.engine.forget_derivatives();
    }

    /// What the conditions at an event make of the mode, with memory as it was before; nothing if whole modes have to find out:
    /// the network has left its mode then.
    fn change_network(&mut self, triggers: &[ConditionId]) -> Option<(Switched, Change, Vec<ConditionId>)> {
        for id in self.engine.model.conditions.ids() {
            self.engine.event.clear[id] = self.is_clear(id) && !triggers.contains(&id);
        }
        let located = self.location_width > 0.0;
        let armed = |id: &ConditionId| located && self.watches[id.index()].is_armed();
        self.engine.set_crossings(triggers.iter().copied().filter(armed), false);
        self.engine.set_location(triggers, self.location_width);
        self.engine.event.to_come.clear();
        self.engine.event.flips.fill(0);
        let mut changed = Vec::new();
        for id in self.engine.model.conditions.ids() {
            if self.engine.event.clear[id] {
                continue;
            }
            let truth = match self.engine.sign_in_time(id) {
                Sign::ByValue { positive } | Sign::ByDerivative { positive, .. } => positive,
                Sign::Tie | Sign::Undecided | Sign::Given(_) | Sign::ByImpulse { .. } => return None,
            };
            if truth != self.engine.truths[id] {
                changed.push(id);
            }
        }
        let Networked::Yes(network) = &mut self.network else {
            return None;
        };
        let switched = network.switches.turn(&mut self.engine, &changed);
        let present = network.present.as_ref()?;
        let differs = |&&(guard, holds): &&(GuardId, bool)| present.valuation.get(guard) != holds;
        let guards: Vec<(GuardId, bool)> = switched.guards.iter().filter(differs).copied().collect();
        let change = network.change(&self.engine, &guards);
        switched.take_back(&mut self.engine);
        Some((switched, change?, changed))
    }

    /// Compiles the mode in force, so that the run goes on with whole modes.
    pub(super) fn leave_network(&mut self, valuation: &Valuation) -> Result<(), Failure> {
        if let Networked::Yes(network) = &mut self.network {
            network.present = None;
        }
        self.last_phase = None;
        self.sampled = None;
        self.rates_told = None;
        self.compile_present_mode(valuation)
    }

    fn leave_network_for_good(&mut self) -> Result<(), Failure> {
        let valuation = self.network_mode().map(|present| present.valuation.clone());
        self.network = Networked::No;
        match valuation {
            Some(valuation) => self.leave_network(&valuation),
            None => Ok(()),
        }
    }

    fn compile_present_mode(&mut self, valuation: &Valuation) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        match self.engine.mode_of(valuation) {
            Ok(_) => Ok(()),
            Err(refusal) => Err(Failure::new(FailureKind::Restart(refusal)).at(time)),
        }
    }

    /// Has the mode in force compiled beside the network, for those who ask for more than values.
    pub(super) fn have_whole_mode(&mut self) -> Result<(), Failure> {
        match self.network_mode().map(|present| present.valuation.clone()) {
            Some(valuation) => self.compile_present_mode(&valuation),
            None => Ok(()),
        }
    }

    /// The largest derivative of a variable, or itself, that modes of the network solve for; nothing if it is no unknown of them.
    pub(super) fn highest_in_network(&self, var: VarId) -> Option<u16> {
        let Networked::Yes(network) = &self.network else {
            return None;
        };
        let tables = &network.tables;
        let at = tables.unknowns.iter().position(|&unknown| unknown == var)?;
        Some(Present::highest_order(tables, at))
    }

    /// Where the states are declared, those that change fastest in units of their tolerances first.
    pub(super) fn fastest_in_network(&self, present: &Present) -> Vec<OriginId> {
        let Networked::Yes(network) = &self.network else {
            return Vec::new();
        };
        let engine = &self.engine;
        let states = present
            .states
            .iter()
            .map(|&state| network.tables.unknowns[state as usize]);
        let tolerance = |var: VarId| engine.scales.state_error(&engine.memory, var, 0);
        let rated = states
            .zip(present.rates())
            .map(|(var, rate)| (var, (rate / tolerance(var)).abs()));
        let mut rated: Vec<(VarId, f64)> = rated.collect();
        rated.sort_by(|a, b| b.1.total_cmp(&a.1));
        rated
            .into_iter()
            .map(|(var, _)| engine.model.variables[var].origin)
            .collect()
    }

    /// What the equations of a mode of the network are like.
    pub(super) fn network_shape(&self) -> Option<ModeShape> {
        let Networked::Yes(network) = &self.network else {
            return None;
        };
        let present = network.present.as_ref()?;
        let names = present.states.iter().take(ModeShape::MOST_NAMES);
        let name = |&state: &u32| self.engine.compiled.name(network.tables.unknowns[state as usize], 0);
        Some(ModeShape {
            index: present.index(&network.tables),
            states: present.states.len(),
            first_states: names.map(name).collect(),
        })
    }
}
