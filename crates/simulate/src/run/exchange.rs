//! A run whose states are integrated by somebody else.
//!
//! The number of states is fixed, so every derivative of a variable that is a state in some mode has a place of its own: a
//! slot. In a mode some slots are the states of the run; what is set in the others is ignored, and what they hold is what the
//! equations say, or the last value of what the mode knows nothing of. Their rates are those of the equations, so that an
//! integrator that carries them along stays on the solution, and zero where there is none.
//!
//! The caller sets time, states and inputs, asks for rates and for the functions of the conditions, and says when a step is
//! completed and when an event is to be processed. Conditions are watched as in runs of our own (`watch`): a function near zero
//! after an event has to leave a band before it may cross zero again. Until then the band is added to it, on the side of its
//! truth value, so that its sign changes only with a crossing.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_codegen::{Leaf, SystemError};
use saltus_mdae::{ConditionId, Derivative, Idx, Role, Type, VarId};

use super::watch::Motion;
use super::{Begun, Phase, Request, Run};
use crate::compiled::Compiled;
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};
use crate::events::condition::Monitor;
use crate::events::iteration::Instants;
use crate::modes::tangent::{PartialValues, TangentPlan};
use crate::options::Options;
use crate::report::EventReport;
use crate::run::input::InputSignal;

/// A caller who has located a crossing has done so to this part of the time since the last event; another one is late, and
/// signs alone decide.
const LOCATED: f64 = 1e-8;

/// The part of the tolerance that slots which are no states may be off.
const DRIFT: f64 = 0.3;

/// States determine the others at least so well.
const LEAST_QUALITY: f64 = 0.5;

/// The step of differences, in parts of the size of what is varied.
const DIFFERENCE: f64 = 1e-6;

/// What a call of [`Exchange::update`] did.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated {
    /// What happened, when an event is over.
    pub report: Option<EventReport>,
    /// Whether more is to be processed: another instant, or another event.
    pub needs_update: bool,
    /// Whether a slot has another value than before.
    pub states_changed: bool,
    /// The message of a `terminate` that was reached.
    pub terminate: Option<Arc<str>>,
}

/// A run in the hands of another integrator. It owns its model.
#[derive(Clone)]
pub struct Exchange {
    run: Run,
    begun: Option<Begun>,
    slots: Arc<[Derivative]>,
    /// The slot of each state of the present mode; nothing for one that the equations of the mode keep as it is.
    places: Vec<Option<usize>>,
    /// All slots as they were set, and the states of the present mode among them.
    given: Vec<f64>,
    states: Vec<f64>,
    /// The values in memory at the last point that counted.
    reliable: Vec<f64>,
    time: f64,
    /// Whether what is in memory belongs to time, states and inputs.
    is_solved: bool,
    /// The conditions that have an indicator.
    conditions: Arc<[ConditionId]>,
    watched: Vec<(ConditionId, Arc<Monitor>)>,
    /// Since when each condition is clear of its band, as far as that has been seen: a caller looks ahead, and back again.
    clear_at: Vec<f64>,
    next_event: (f64, Vec<ConditionId>),
    /// When the present mode or phase began, and how many steps were completed in it.
    begin: f64,
    taken: u64,
    /// Whether an input has another value than at the last event, or slots are to be read anew.
    has_news: bool,
    was_corrected: bool,
    /// The event under way.
    pending: Option<Box<Pending>>,
    /// How tangents go through the equations of the mode, once somebody has asked for derivatives.
    tangent_plan: Option<Arc<TangentPlan>>,
}

/// An event whose instants are processed one by one.
#[derive(Clone)]
struct Pending {
    instants: Instants,
    triggers: Vec<ConditionId>,
    motion: Motion,
    /// The time of the caller, who may be late.
    until: f64,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange")
            .field("engine", &self.run.engine)
            .field("slots", &self.slots)
            .finish_non_exhaustive()
    }
}

impl Exchange {
    /// A run at its start, with values found there if there are any: [`Exchange::begin`] says so. Slots are in order.
    pub fn new(
        compiled: &Arc<Compiled>,
        request: Request,
        options: &Options,
        slots: Arc<[Derivative]>,
    ) -> Result<Self, Failure> {
        debug_assert!(slots.is_sorted());
        let (run, begun) = Run::begin(compiled, request, options)?;
        let indicated = |id: &ConditionId| run.engine.monitors[*id].is_some();
        let conditions = run.engine.model.conditions.ids().filter(indicated).collect();
        Ok(Exchange {
            begun: Some(begun),
            slots,
            places: Vec::new(),
            given: Vec::new(),
            states: Vec::new(),
            reliable: Vec::new(),
            time: run.engine.memory.time(),
            is_solved: true,
            conditions,
            watched: Vec::new(),
            clear_at: vec![f64::INFINITY; run.watches.len()],
            next_event: (f64::INFINITY, Vec::new()),
            begin: run.engine.memory.time(),
            taken: 0,
            has_news: false,
            was_corrected: false,
            pending: None,
            tangent_plan: None,
            run,
        })
    }

    /// Why no values were found at the start; nothing once the run has begun.
    pub fn start_failure(&self) -> Option<&Failure> {
        self.begun.as_ref().and_then(|begun| begun.as_ref().err())
    }

    /// Begins the run at its start: what happened there.
    pub fn begin(&mut self) -> Result<Vec<EventReport>, Failure> {
        let reports = self.begun.take().unwrap_or_else(|| Ok(Vec::new()))?;
        if !self.run.history.is_empty() {
            return Err(refused(
                "`delay` and `spatialDistribution` look at the past of signals, which an integrator from outside does not keep",
                self.run.history.origins(),
            ));
        }
        self.run.check_assertions()?;
        self.begin_phase()?;
        let due = self.run.turning_at_start();
        if !due.is_empty() {
            self.next_event = (self.time, due);
        }
        Ok(reports)
    }

    /// The present time.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The next time at which an event is known to happen; infinite if there is none.
    pub fn next_event_time(&self) -> f64 {
        self.next_event.0
    }

    /// How many indicators there are: one for each condition that compares numbers.
    pub fn indicator_count(&self) -> usize {
        self.conditions.len()
    }

    /// The model.
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.run.engine.compiled
    }

    /// The present mode, under the number that results show.
    pub fn mode(&self) -> Option<ModeId> {
        self.run.engine.mode
    }

    /// The mode in words.
    pub fn mode_label(&self) -> String {
        let mode = self.run.engine.mode;
        mode.map_or(String::new(), |mode| self.run.engine.mode_record(mode).label)
    }

    /// What was worth reporting since this was last asked.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.run.engine.reported.warnings)
    }

    /// Sets the time at which rates and values are asked for next.
    pub fn set_time(&mut self, time: f64) {
        if time != self.time {
            self.time = time;
            self.is_solved = false;
        }
    }

    /// Sets the slots. Those that are no states of the present mode are ignored until they become states.
    pub fn set_slots(&mut self, values: &[f64]) {
        if values.len() == self.slots.len() && values != self.given {
            self.given.copy_from_slice(values);
            self.is_solved = false;
        }
    }

    /// The values of all slots.
    pub fn slots(&mut self, values: &mut [f64]) -> Result<(), Failure> {
        self.solve()?;
        for (value, &Derivative { var, order }) in values.iter_mut().zip(&*self.slots) {
            *value = self.run.engine.memory.get(var, order);
        }
        Ok(())
    }

    /// The rates of all slots; of those that are no states of the present mode they say how fast the equations move them. Zero
    /// where nothing determines it.
    pub fn rates(&mut self, rates: &mut [f64]) -> Result<(), Failure> {
        self.solve()?;
        for (rate, &slot) in rates.iter_mut().zip(&*Arc::clone(&self.slots)) {
            *rate = self.rate(slot);
        }
        Ok(())
    }

    fn rate(&mut self, slot: Derivative) -> f64 {
        let rate = self.run.value(Derivative::new(slot.var, slot.order + 1));
        if rate.is_nan() { 0.0 } else { rate }
    }

    /// The functions of the conditions, one for each: positive where it holds. Conditions that the mode does not watch are
    /// ±1.
    pub fn indicators(&mut self, values: &mut [f64]) -> Result<(), Failure> {
        self.solve()?;
        let mut watched = self.watched.iter().peekable();
        for (value, &id) in values.iter_mut().zip(&*self.conditions) {
            let engine = &mut self.run.engine;
            let holds = engine.truths[id];
            let side = if holds { 1.0 } else { -1.0 };
            *value = side;
            let Some((_, monitor)) = watched.next_if(|(of, _)| *of == id) else {
                continue;
            };
            let reading = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
            let watch = &mut self.run.watches[id.index()];
            if reading.value.is_nan() {
                continue;
            }
            let clear_at = &mut self.clear_at[id.index()];
            watch.armed = *clear_at <= self.time;
            watch.follow(holds, reading.value, reading.tolerance);
            if watch.armed {
                *clear_at = clear_at.min(self.time);
            }
            *value = reading.value + watch.shift(holds);
            if *value == 0.0 && monitor.holds_at_zero && holds {
                *value = f64::MIN_POSITIVE;
            }
        }
        Ok(())
    }

    /// The present value of a derivative of a variable; of order 0, of the variable itself.
    pub fn value(&mut self, of: Derivative) -> Result<f64, Failure> {
        self.solve()?;
        Ok(self.run.value(of))
    }

    /// Gives an input a value. At an event it may jump; between events it is the caller's to call one where it does. False if
    /// the variable is no input. An input whose rate the mode needs must not move between events: nobody says how fast.
    pub fn set_input(&mut self, var: VarId, value: f64, at_event: bool) -> Result<bool, Failure> {
        let mode = self.run.engine.mode;
        let engine = &mut self.run.engine;
        let is_input = engine.model.variables.get(var).is_some_and(|of| of.role == Role::Input);
        if !is_input {
            return Ok(false);
        }
        let signals = &mut engine.inputs.signals;
        if signals
            .iter()
            .any(|signal| signal.var == var && signal.values == [value])
        {
            return Ok(true);
        }
        let is_differentiated = mode.is_some_and(|mode| engine.modes[mode].jump_variables.contains(&var));
        if is_differentiated && !at_event && self.begun.is_none() {
            let name = &engine.model.variables[var].name;
            let message =
                format!("the equations of the present mode need the rate of the input `{name}`, which is not given");
            return Err(refused(&message, vec![engine.model.variables[var].origin]));
        }
        signals.retain(|signal| signal.var != var);
        signals.push(InputSignal {
            var,
            times: vec![f64::NEG_INFINITY],
            values: vec![value],
            held: true,
        });
        self.has_news |= at_event || self.begun.is_some();
        // At an event it is seen when that is processed.
        self.is_solved &= at_event;
        Ok(true)
    }

    /// A step of the integrator is completed at the present time and states. True if an event is to be processed: slots have
    /// drifted off what the equations say of them.
    pub fn complete_step(&mut self) -> Result<bool, Failure> {
        self.solve()?;
        let mode = self.present_mode();
        self.taken += 1;
        self.run.engine.counters.steps += 1;
        let engine = &mut self.run.engine;
        for derivative in engine.modes[mode].plan().states.clone() {
            let value = engine.memory.get(derivative.var, derivative.order);
            engine.scales.note(derivative, value);
        }
        self.recall_clear();
        self.run.update_watches(mode, &self.watched, self.taken);
        self.note_clear();
        self.run.check_assertions()?;
        self.reliable.clone_from(&self.run.engine.memory.values);
        let drifted = self.has_drifted();
        self.has_news |= drifted;
        self.was_corrected |= drifted;
        Ok(drifted)
    }

    /// Which conditions are clear of their bands at the present time.
    fn recall_clear(&mut self) {
        for (watch, clear_at) in self.run.watches.iter_mut().zip(&self.clear_at) {
            watch.armed = *clear_at <= self.time;
        }
    }

    /// Takes down which are.
    fn note_clear(&mut self) {
        for (watch, clear_at) in self.run.watches.iter().zip(&mut self.clear_at) {
            if watch.armed {
                *clear_at = clear_at.min(self.time);
            }
        }
    }

    /// Whether slots that are carried along are off what the equations say, by a share of the tolerance.
    fn has_drifted(&self) -> bool {
        let (engine, mode) = (&self.run.engine, self.present_mode());
        let is_off = |(slot, given): (&Derivative, &f64)| {
            let carried = engine.modes[mode]
                .highest_order(slot.var)
                .is_some_and(|highest| slot.order < highest);
            let value = engine.memory.get(slot.var, slot.order);
            let size = engine.scales.size(slot.var, slot.order).max(value.abs());
            carried && (value - given).abs() > DRIFT * engine.options.tolerance * size
        };
        self.slots.iter().zip(&self.given).any(is_off)
    }

    /// Processes one instant of what is due at the present time: time events up to it, crossings, inputs that have jumped.
    /// Nothing happens where nothing is due.
    pub fn update(&mut self) -> Result<Updated, Failure> {
        self.solve()?;
        let mut before = vec![0.0; self.slots.len()];
        self.slots(&mut before)?;
        let mut updated = Updated {
            report: None,
            needs_update: false,
            states_changed: false,
            terminate: None,
        };
        if self.pending.is_none() {
            self.pending = self.begin_event()?;
            updated.states_changed = std::mem::take(&mut self.was_corrected);
        }
        let Some(mut pending) = self.pending.take() else {
            return Ok(updated);
        };
        pending.instants.inputs |= std::mem::take(&mut self.has_news);
        let follows = self.run.engine.next_instant(&mut pending.instants);
        let follows = follows.map_err(|failure| self.run.or_accumulation(failure).at(self.time))?;
        self.is_solved = true;
        if follows {
            self.pending = Some(pending);
            updated.needs_update = true;
        } else {
            let until = pending.until;
            let mut report = self.end_event(*pending)?;
            updated.terminate = report.terminate.take();
            updated.report = Some(report);
            self.begin_phase()?;
            // What is due between the event and now is next.
            updated.needs_update = self.time != until && updated.terminate.is_none();
            if updated.needs_update {
                self.move_clock(until)?;
            }
        }
        let mut after = vec![0.0; self.slots.len()];
        self.slots(&mut after)?;
        updated.states_changed |= before != after;
        Ok(updated)
    }

    /// Whether an event is under way.
    pub fn is_at_event(&self) -> bool {
        self.pending.is_some()
    }

    /// What is due at the present time, if anything is. A caller may be late for an event in time: what was due then happens
    /// then, with the states of now.
    fn begin_event(&mut self) -> Result<Option<Box<Pending>>, Failure> {
        let until = self.time;
        let tolerance = self.run.engine.scales.time_error(until);
        let (next, conditions) = self.next_event.clone();
        let by_time = next <= until + tolerance;
        if by_time && next < until - tolerance {
            self.move_clock(next)?;
        }
        let mut triggers = self.crossed()?;
        if by_time {
            let more = conditions.iter().filter(|id| !triggers.contains(id));
            triggers.extend(more.copied().collect::<Vec<_>>());
        }
        if triggers.is_empty() && !by_time && !self.has_news {
            return Ok(None);
        }
        let motion = self.announce_event(&triggers)?;
        let instants = self.run.engine.begin_event(&triggers, false);
        Ok(Some(Box::new(Pending {
            instants,
            triggers,
            motion,
            until,
        })))
    }

    /// Ends the run where it is: `terminal()` is true there.
    pub fn terminate(&mut self) -> Result<(), Failure> {
        if self.begun.is_none() && self.run.engine.compiled.uses(saltus_mdae::Node::Terminal) {
            self.solve()?;
            self.run.engine.memory.set_terminal(true);
            self.run.engine.event(&[], false)?;
        }
        Ok(())
    }

    /// How values respond to changes of slots and inputs at the present point, within the mode: the sum over what is varied of its
    /// seed times the derivative of each value by it. Exact, from the partial derivatives of the equations, but for
    /// derivatives of higher order than the mode has in its equations.
    pub fn directional(
        &mut self,
        values: &[Quantity],
        varied: &[(Quantity, f64)],
        response: &mut [f64],
    ) -> Result<(), Failure> {
        self.solve()?;
        let tangents = self.tangents(varied)?;
        let (mode, mut beyond) = (self.present_mode(), Vec::new());
        for (at, (value, response)) in values.iter().zip(response.iter_mut()).enumerate() {
            let of = match *value {
                Quantity::Value(of) => of,
                Quantity::RateOf(slot) => Derivative::new(slot.var, slot.order + 1),
            };
            *response = tangents.get(&Leaf::var(of.var, of.order)).copied().unwrap_or(0.0);
            let highest = self.run.engine.modes[mode].highest_order(of.var);
            if highest.is_some_and(|highest| highest < of.order) {
                beyond.push(at);
            }
        }
        if beyond.is_empty() {
            return Ok(());
        }
        let (mut rest, values) = (
            vec![0.0; beyond.len()],
            beyond.iter().map(|&at| values[at]).collect::<Vec<_>>(),
        );
        self.differences(&values, varied, &mut rest)?;
        beyond.iter().zip(rest).for_each(|(&at, value)| response[at] = value);
        Ok(())
    }

    /// Central differences, for derivatives beyond those in the equations of the mode: rates of slots that follow from the others.
    fn differences(
        &mut self,
        values: &[Quantity],
        varied: &[(Quantity, f64)],
        response: &mut [f64],
    ) -> Result<(), Failure> {
        let size = |at: f64| at.abs().max(1.0);
        let mut reach: f64 = 0.0;
        for &(quantity, seed) in varied {
            reach = reach.max(seed.abs() / size(self.read(quantity)));
        }
        response.fill(0.0);
        if reach == 0.0 {
            return Ok(());
        }
        let step = DIFFERENCE / reach;
        let memory = self.run.engine.memory.values.clone();
        let (given, signals) = (self.given.clone(), self.run.engine.inputs.signals.clone());
        let mut outcome = Ok(());
        for side in [1.0, -1.0] {
            for &(quantity, seed) in varied {
                self.vary(quantity, side * step * seed);
            }
            outcome = outcome.and(self.solve());
            for (value, response) in values.iter().zip(response.iter_mut()) {
                *response += side * self.read(*value) / (2.0 * step);
            }
            self.given.clone_from(&given);
            self.run.engine.inputs.signals.clone_from(&signals);
            self.run.engine.memory.values.copy_from_slice(&memory);
        }
        // The choice of states may be another one now; the values are those from before.
        self.is_solved = false;
        outcome.and(self.solve())
    }

    /// How everything that the mode determines responds.
    fn tangents(&mut self, varied: &[(Quantity, f64)]) -> Result<FxHashMap<Leaf, f64>, Failure> {
        let mode = self.present_mode();
        let (time, y) = (self.time, self.states.clone());
        let plan = self.tangent_plan(mode)?;
        let mut ode = self.run.engine.ode(mode, &self.run.history);
        let (mut partials, mut room) = (PartialValues::default(), plan.room());
        let found = ode
            .evaluate(time, &y)
            .and_then(|()| ode.code.partials(&plan, ode.memory, &mut partials));
        found.map_err(|error| {
            Failure::new(FailureKind::Integration {
                reason: error.to_string(),
                variables: Vec::new(),
                origins: Vec::new(),
            })
            .at(time)
        })?;
        // What is neither a state of the mode nor an input has no influence.
        for (place, &leaf) in plan.known().iter().enumerate() {
            let seeds = varied.iter().filter(|(quantity, _)| match *quantity {
                Quantity::Value(of) => Leaf::var(of.var, of.order) == leaf,
                Quantity::RateOf(_) => false,
            });
            room[place][0] = seeds.map(|(_, seed)| seed).sum();
        }
        ode.code.pass_tangents(&plan, &partials, &mut room);
        let known = plan.known().iter().copied().zip(0..);
        let determined = plan
            .determined()
            .iter()
            .map(|&(of, place)| (Leaf::var(of.var, of.order), place));
        Ok(known
            .chain(determined)
            .map(|(leaf, place)| (leaf, room[place][0]))
            .collect())
    }

    /// How tangents go through the equations of the mode with the present states; made when it is asked for.
    fn tangent_plan(&mut self, mode: ModeId) -> Result<Arc<TangentPlan>, Failure> {
        if let Some(plan) = &self.tangent_plan {
            return Ok(Arc::clone(plan));
        }
        let inputs = self.run.engine.model.variables.iter_enumerated();
        let inputs = inputs.filter(|(_, variable)| variable.role == Role::Input && variable.ty == Type::Real);
        let inputs: Vec<Leaf> = inputs.map(|(var, _)| Leaf::var(var, 0)).collect();
        let ode = self.run.engine.ode(mode, &self.run.history);
        let plan = ode.code.tangent_plan(ode.tools, ode.pool, ode.memory, &inputs);
        let plan = Arc::new(plan.map_err(|error| match error {
            SystemError::Compile(error) => Failure::compile(error),
            SystemError::Unbound(leaf) => Failure::unbound(leaf),
        })?);
        self.tangent_plan = Some(Arc::clone(&plan));
        Ok(plan)
    }

    fn read(&mut self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Value(of) => self.run.value(of),
            Quantity::RateOf(slot) => self.rate(slot),
        }
    }

    fn vary(&mut self, quantity: Quantity, by: f64) {
        let Quantity::Value(of) = quantity else { return };
        for signal in &mut self.run.engine.inputs.signals {
            if signal.var == of.var && of.order == 0 {
                signal.values.iter_mut().for_each(|value| *value += by);
            }
        }
        let mode = self.present_mode();
        let states = &self.run.engine.modes[mode].plan().states;
        if states.contains(&of)
            && let Ok(at) = self.slots.binary_search(&of)
        {
            self.given[at] += by;
        }
        self.is_solved = false;
    }

    /// The conditions whose functions are not on the side of their truth values.
    fn crossed(&mut self) -> Result<Vec<ConditionId>, Failure> {
        let mut values = vec![0.0; self.conditions.len()];
        self.indicators(&mut values)?;
        let truths = &self.run.engine.truths;
        let crossed = self.conditions.iter().zip(&values);
        let mut triggers: Vec<ConditionId> = crossed
            .filter(|(id, value)| (**value > 0.0) != truths[**id])
            .map(|(&id, _)| id)
            .collect();
        // An importer may stop just before the crossing.
        let tolerance = self.run.engine.scales.time_error(self.time) + LOCATED * (self.time - self.begin).abs() * 1e-4;
        let mode = self.present_mode();
        for (id, monitor) in self.watched.clone() {
            if triggers.contains(&id) || !self.run.watches[id.index()].is_armed() {
                continue;
            }
            let engine = &mut self.run.engine;
            let here = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch).value;
            let Some(rate) = engine.derivative(&monitor, mode, 1) else {
                continue;
            };
            let leaves = (rate.value > 0.0) != engine.truths[id] && rate.value != 0.0;
            if leaves && here.abs() <= rate.value.abs() * tolerance {
                triggers.push(id);
            }
        }
        Ok(triggers)
    }

    /// How well the crossings of conditions are located: by how long ago they were at the present rates.
    fn location_width(&mut self, triggers: &[ConditionId]) -> f64 {
        let mode = self.present_mode();
        let mut width: f64 = 0.0;
        let watched: Vec<Arc<Monitor>> = self
            .watched
            .iter()
            .filter(|(id, _)| triggers.contains(id))
            .map(|(_, monitor)| Arc::clone(monitor))
            .collect();
        for monitor in &watched {
            let engine = &mut self.run.engine;
            let here = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch).value;
            let rate = engine.derivative(monitor, mode, 1).map_or(0.0, |rate| rate.value);
            let ago = (here / rate).abs();
            if ago.is_finite() {
                width = width.max(ago);
            }
        }
        let most = LOCATED * (self.time.abs() + (self.time - self.begin).abs());
        if watched.is_empty() || width > most {
            return 0.0;
        }
        2.0 * width + 4.0 * f64::EPSILON * self.time.abs()
    }

    /// Says what is known of the conditions before an event at the values in memory; refuses one without progress.
    fn announce_event(&mut self, triggers: &[ConditionId]) -> Result<Motion, Failure> {
        let time = self.time;
        let width = self.location_width(triggers);
        let run = &mut self.run;
        run.engine.counters.events += 1;
        let slow = run.slow_events(time, triggers);
        run.unless_stalled(slow, time)?;
        let motion = run.motion();
        run.note_crossing(time, triggers);
        let stall = run.chattering(time, triggers);
        run.unless_stalled(stall, time)
            .map_err(|failure| run.or_accumulation(failure).at(time))?;
        let armed = |id: &ConditionId| width > 0.0 && run.watches[id.index()].is_armed();
        run.engine.set_crossings(triggers.iter().copied().filter(armed), false);
        run.engine.set_location(triggers, width);
        let clear = |id: &ConditionId| run.watches[id.index()].is_armed() && !triggers.contains(id);
        run.engine.set_to_come(run.engine.model.conditions.ids().filter(clear));
        Ok(motion)
    }

    fn end_event(&mut self, pending: Pending) -> Result<EventReport, Failure> {
        let (time, run) = (self.time, &mut self.run);
        let (report, triggers) = (pending.instants.report, &pending.triggers);
        run.engine.advance_samples()?;
        run.engine.counters.instants += report.instants.len() as u64;
        let stall = run.lost_bounce(time, triggers, &report);
        let stall = stall.or_else(|| run.accumulating(&report));
        run.unless_stalled(stall, time)?;
        run.check_assertions()?;
        run.note_return(triggers);
        run.weigh_event(triggers, &report, &pending.motion);
        run.last_event = Some((time, triggers.clone()));
        run.engine.let_go_of_modes();
        Ok(report)
    }

    /// Begins a phase without events at the values in memory.
    fn begin_phase(&mut self) -> Result<(), Failure> {
        let mode = self.present_mode();
        self.run.reset_watches(mode);
        self.clear_at.fill(f64::INFINITY);
        self.note_clear();
        self.run.begin_sizes(mode, 0.0);
        self.watched = self.run.watched_conditions(mode);
        self.next_event = self.run.next_time_event();
        self.begin = self.time;
        self.taken = 0;
        self.is_solved = true;
        self.find_places()?;
        let engine = &self.run.engine;
        let slots = self.slots.iter();
        self.given = slots.map(|slot| engine.memory.get(slot.var, slot.order)).collect();
        let discrete = engine.discrete.variables.iter().map(|&var| engine.memory.get(var, 0));
        self.run.last_phase = Some(Phase {
            mode,
            truths: engine.truths.clone(),
            discrete: discrete.collect(),
        });
        self.reliable.clone_from(&self.run.engine.memory.values);
        Ok(())
    }

    /// Where the states of the present mode are among the slots.
    fn find_places(&mut self) -> Result<(), Failure> {
        let mode = self.present_mode();
        self.tangent_plan = None;
        let engine = &self.run.engine;
        let plan = engine.modes[mode].plan();
        plan.read_states(&engine.memory, &mut self.states);
        self.places.clear();
        for state in &plan.states {
            let place = self.slots.binary_search(state).ok();
            // What nothing determines in the mode is held, and need not be integrated.
            let is_held =
                engine.memory.get(state.var, state.order + 1) == 0.0 && engine.modes.floating.contains_key(&mode);
            if place.is_none() && !is_held {
                let name = engine.name(state.var, state.order);
                let message = format!(
                    "the mode at t = {} has the state `{name}`, which is none in the modes that were looked at when the states were listed",
                    self.time
                );
                return Err(refused(&message, vec![engine.model.variables[state.var].origin]).at(self.time));
            }
            self.places.push(place);
        }
        Ok(())
    }

    fn move_clock(&mut self, time: f64) -> Result<(), Failure> {
        self.set_time(time);
        self.solve()
    }

    /// Makes memory what belongs to time, states and inputs.
    fn solve(&mut self) -> Result<(), Failure> {
        if let Some(begun) = &self.begun {
            return begun.as_ref().map(drop).map_err(Clone::clone);
        }
        if self.is_solved {
            return Ok(());
        }
        self.choose_states()?;
        let outcome = self.evaluate();
        self.is_solved = outcome.is_ok();
        outcome
    }

    fn evaluate(&mut self) -> Result<(), Failure> {
        let mode = self.present_mode();
        let mut ode = self.run.engine.ode(mode, &self.run.history);
        // What is carried along is nearer than the last point that counted, which may be long ago.
        ode.code.set_anchor(ode.memory);
        let outcome = ode.evaluate(self.time, &self.states);
        let blamed = ode.last_failure.take();
        self.run.engine.forget_derivatives();
        if outcome.is_err() {
            // A trial that led astray must not be where the next one begins.
            self.run.engine.memory.values.copy_from_slice(&self.reliable);
        }
        match (outcome, blamed) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(failure)) => Err(self.run.engine.explain_evaluation(mode, &failure).at(self.time)),
            (Err(error), None) => Err(Failure::new(FailureKind::Integration {
                reason: error.to_string(),
                variables: Vec::new(),
                origins: Vec::new(),
            })
            .at(self.time)),
        }
    }

    /// Makes the slots that are carried along the guesses of what the equations say of them, and chooses other states where
    /// the present ones hardly determine the others any more. All candidates are integrated, so that new states have their
    /// values already: an integrator may come to the end of a choice within one of its steps, and does not stop for it.
    fn choose_states(&mut self) -> Result<(), Failure> {
        let mode = self.present_mode();
        let engine = &mut self.run.engine;
        for (&Derivative { var, order }, &value) in self.slots.iter().zip(&self.given) {
            if engine.modes[mode]
                .highest_order(var)
                .is_some_and(|highest| order < highest)
            {
                engine.memory.set(var, order, value);
            }
        }
        if engine.choose_states_where(mode, is_poor)? {
            self.find_places()?;
        }
        for (state, place) in self.states.iter_mut().zip(&self.places) {
            if let Some(value) = place.and_then(|at| self.given.get(at)) {
                *state = *value;
            }
        }
        Ok(())
    }

    fn present_mode(&self) -> ModeId {
        self.run.engine.mode.unwrap_or(ModeId(0))
    }
}

/// Something that has a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A derivative of a variable; of order 0, the variable itself.
    Value(Derivative),
    /// The rate of a slot.
    RateOf(Derivative),
}

/// Whether a choice of states is to be renewed. Sooner than in runs of our own: nobody makes steps shorter because the
/// present states determine the others ever less.
fn is_poor(quality: f64) -> bool {
    quality.is_nan() || quality < LEAST_QUALITY
}

fn refused(message: &str, origins: Vec<saltus_mdae::OriginId>) -> Failure {
    Failure::new(FailureKind::Domain {
        message: message.to_owned(),
        origins,
    })
}
