//! Units that run.
//!
//! Equations ask units as functions ([`ForeignCall`]): the same arguments give the same answer, in whatever order the
//! questions come. What a unit keeps inside of it is named by a number, the state, which is made from everything that led
//! there; a copy of the inside is kept for it. A unit that cannot be copied has only the state that it is in, and says so
//! when it is asked for another one.
//!
//! Each thread has an instance of its own, so that runs side by side do not wait for each other.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use saltus_mdae::function::{ForeignCall, ForeignCode, ForeignInterface, ForeignOperation, ForeignUnit};
use sha2::{Digest, Sha256};

use crate::binary::{Binary, Kept, Making};
use crate::description::{Causality, Description, Offered};
use crate::unpacked::Unpacked;

/// States of which copies are kept. An event needs the one before it; searches for the mode behind one try some more.
const MOST_STATES: usize = 256;
/// Instants of one event.
const MOST_INSTANTS: usize = 1000;
/// Steps that end where they began, at events, before there is one that does not.
const MOST_EMPTY_STEPS: usize = 100;
/// What stands for no event to come: later than any run ends.
const NEVER: f64 = 1e300;
/// The size of steps for differences: the cube root of the precision balances their errors.
const DIFFERENCE: f64 = 6e-6;

/// Runs units: those that a model names get their code. The result says what is wrong with which.
pub fn link(units: &[Arc<ForeignUnit>]) -> Result<(), (Arc<ForeignUnit>, String)> {
    let mut opened: Vec<(PathBuf, ForeignInterface, Arc<Host>)> = Vec::new();
    for unit in units.iter().filter(|unit| !unit.is_linked()) {
        let path = location(unit);
        let known = opened
            .iter()
            .find(|(of, interface, _)| *of == path && *interface == unit.interface);
        let host = match known {
            Some((_, _, host)) => Arc::clone(host),
            None => {
                let host = Host::new(&path, unit.interface).map_err(|message| (Arc::clone(unit), message))?;
                opened.push((path, unit.interface, Arc::clone(&host)));
                host
            }
        };
        unit.link(host);
    }
    Ok(())
}

/// Where the file of a unit is.
pub fn location(unit: &ForeignUnit) -> PathBuf {
    let file = Path::new(&*unit.file);
    match Path::new(&*unit.beside).parent() {
        Some(folder) if file.is_relative() => folder.join(file),
        _ => file.to_owned(),
    }
}

/// A unit with its instances.
#[derive(Debug)]
pub struct Host {
    // Instances are let go of before the files they use.
    instances: Mutex<HashMap<Option<ThreadId>, Arc<Mutex<Instance>>>>,
    unpacked: Arc<Unpacked>,
    interface: ForeignInterface,
    /// Where each element of each variable is.
    elements: HashMap<String, Element>,
    state_count: usize,
}

/// An element of a variable.
#[derive(Copy, Clone, Debug)]
struct Element {
    variable: usize,
    at: usize,
    /// Where it is among the continuous states.
    state: Option<usize>,
    /// Where it is among their rates, if these are asked for.
    rate: Option<usize>,
}

impl Host {
    /// Opens a unit.
    pub fn new(path: &Path, interface: ForeignInterface) -> Result<Arc<Host>, String> {
        let unpacked = Unpacked::new(path)?;
        let description = &unpacked.description;
        if offered(description, interface).is_none() {
            let missing = match interface {
                ForeignInterface::ModelExchange => "Model Exchange",
                ForeignInterface::CoSimulation => "Co-Simulation",
            };
            return Err(format!("it does not offer {missing}"));
        }
        let (mut state_count, mut states, mut rates) = (0, HashMap::new(), HashMap::new());
        for (variable, unknown) in description.states()?.into_iter().zip(&description.derivatives) {
            states.insert(variable, state_count);
            if interface == ForeignInterface::ModelExchange {
                rates.insert(unknown.variable, state_count);
            }
            state_count += description.variables[variable].size();
        }
        let mut elements = HashMap::new();
        for (variable, described) in description.variables.iter().enumerate() {
            for (at, name) in described.element_names().into_iter().enumerate() {
                let place = |first: &HashMap<usize, usize>| first.get(&variable).map(|first| first + at);
                let element = Element {
                    variable,
                    at,
                    state: place(&states),
                    rate: place(&rates),
                };
                elements.insert(name, element);
            }
        }
        Ok(Arc::new(Host {
            instances: Mutex::default(),
            interface,
            elements,
            state_count,
            unpacked: Arc::new(unpacked),
        }))
    }

    fn description(&self) -> &Description {
        &self.unpacked.description
    }

    fn offered(&self) -> &Offered {
        match offered(self.description(), self.interface) {
            Some(offered) => offered,
            None => unreachable!("looked at when it was opened"),
        }
    }

    fn uses_events(&self) -> bool {
        // Where steps end at events cannot be known before they are taken (see `State::pending`).
        let is_known = self.offered().saves_states;
        self.interface == ForeignInterface::CoSimulation && self.offered().has_events && is_known
    }

    /// The instance of this thread.
    fn instance(&self) -> Result<Arc<Mutex<Instance>>, String> {
        let key = (!self.offered().only_once).then(|| std::thread::current().id());
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = instances.get(&key) {
            return Ok(Arc::clone(known));
        }
        let offered = self.offered();
        let library = self.unpacked.library(&offered.identifier)?;
        let binary = Binary::new(&Making {
            version: self.description().version,
            interface: self.interface,
            library: &library,
            token: &self.description().token,
            resources: &self.unpacked.resources(),
            events: self.uses_events(),
        })?;
        let instance = Arc::new(Mutex::new(Instance {
            binary,
            is_fresh: true,
            states: HashMap::new(),
            order: VecDeque::new(),
            point: None,
            arrays: HashMap::new(),
        }));
        instances.insert(key, Arc::clone(&instance));
        Ok(instance)
    }

    fn element(&self, name: &str) -> Result<Element, String> {
        let element = self.elements.get(name).copied();
        element.ok_or_else(|| format!("it has no variable `{name}`"))
    }
}

fn offered(description: &Description, interface: ForeignInterface) -> Option<&Offered> {
    match interface {
        ForeignInterface::ModelExchange => description.exchange.as_ref(),
        ForeignInterface::CoSimulation => description.simulation.as_ref(),
    }
}

/// A state that was reached.
#[derive(Debug)]
struct State {
    /// What led to it: numbers that two states share are found out by it.
    key: Vec<u8>,
    time: f64,
    values: Vec<f64>,
    next: f64,
    /// Whether the unit asks to end the run: nothing is asked of it behind this.
    ended: bool,
    /// A copy of the inside as it was reached.
    kept: Option<Kept>,
    /// What the outputs were when it was reached, by the positions of the variables, where there can be no copy: whoever asks for
    /// them when the unit is ahead already gets these.
    outputs: HashMap<usize, Vec<f64>>,
    /// The step that leads there, where there can be no copy: it is taken once somebody asks what came of it, since inputs may be tried
    /// out until then.
    pending: Option<(ForeignCall, Vec<f64>)>,
    /// A copy from when the instance last left the state in the present run, and where that was: units remember what they have
    /// seen on the way, such as that an indicator has left its zero behind.
    seen: Option<(Kept, Point)>,
}

/// How far behind the place of an event a unit may see it, in parts of the time, as a power of ten.
const FARTHEST: i32 = -5;

/// Where an operation led.
struct Reached {
    time: f64,
    next: f64,
    ended: bool,
}

/// Where an instance is.
#[derive(Debug, Clone)]
struct Point {
    state: u64,
    time: f64,
    values: Vec<f64>,
    /// What inputs were set to since the state was restored.
    inputs: HashMap<(usize, usize), u64>,
    /// The rates of the states here, once somebody has asked for one.
    rates: Option<Vec<f64>>,
    /// What was given to come here: many values are asked for at one point.
    given: Option<Given>,
}

/// Names and values of a question, to the last bit.
#[derive(Debug, Clone)]
struct Given {
    names: Vec<Arc<str>>,
    time: u64,
    values: Vec<u64>,
    inputs: Inputs,
}

impl Given {
    fn is(&self, names: &[Arc<str>], time: f64, values: &[f64], inputs: Inputs) -> bool {
        self.inputs == inputs
            && self.time == time.to_bits()
            && self.values.len() == values.len()
            && self.values.iter().zip(values).all(|(a, b)| *a == b.to_bits())
            && self.names == names
    }
}

/// An instance with the states that it has been in.
#[derive(Debug)]
struct Instance {
    binary: Binary,
    /// Whether it has not been started yet.
    is_fresh: bool,
    states: HashMap<u64, State>,
    /// The states in the order in which they were reached.
    order: VecDeque<u64>,
    point: Option<Point>,
    /// Elements of arrays as they were set last: only whole arrays can be.
    arrays: HashMap<usize, Vec<f64>>,
}

impl Drop for Instance {
    fn drop(&mut self) {
        for number in std::mem::take(&mut self.order) {
            if let Some(state) = self.states.remove(&number) {
                self.forget(state);
            }
        }
    }
}

impl ForeignCode for Host {
    fn call(&self, call: &ForeignCall, args: &[f64], directions: &[&[f64]]) -> Result<f64, String> {
        let instance = self.instance()?;
        let mut instance = instance.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked = Asked {
            host: self,
            call,
            instance: &mut instance,
        };
        asked.answer(args, directions)
    }
}

/// A question to an instance.
struct Asked<'a> {
    host: &'a Host,
    call: &'a ForeignCall,
    instance: &'a mut Instance,
}

impl Asked<'_> {
    fn answer(&mut self, args: &[f64], directions: &[&[f64]]) -> Result<f64, String> {
        match (&self.call.operation, directions) {
            (ForeignOperation::Start | ForeignOperation::Event | ForeignOperation::Step, []) => self.reach(args),
            (ForeignOperation::Next, []) => Ok(self.state(args[0])?.next),
            (ForeignOperation::Ended, []) => {
                self.settle(args[0] as u64)?;
                Ok(f64::from(u8::from(self.state(args[0])?.ended)))
            }
            (ForeignOperation::Get(_) | ForeignOperation::Indicator(_), []) => self.value(args),
            (ForeignOperation::Get(_) | ForeignOperation::Indicator(_), [direction]) => self.slope(args, direction),
            (ForeignOperation::Get(_) | ForeignOperation::Indicator(_), [first, second]) => {
                self.difference(args, second, |asked, at| asked.slope(at, first))
            }
            (ForeignOperation::Get(_) | ForeignOperation::Indicator(_), _) => {
                Err("its third derivatives are needed, and cannot be had".to_owned())
            }
            _ => Ok(0.0),
        }
    }

    fn state(&self, number: f64) -> Result<&State, String> {
        let state = self.instance.states.get(&(number as u64));
        state.ok_or_else(|| "a state is asked for that is not kept any more".to_owned())
    }

    /// The number of the state that these arguments lead to.
    fn key(&self, args: &[f64]) -> Vec<u8> {
        let mut key = match self.call.operation {
            ForeignOperation::Start => vec![1],
            ForeignOperation::Event => vec![2],
            _ => vec![3],
        };
        for name in &self.call.names {
            key.extend_from_slice(name.as_bytes());
            key.push(0);
        }
        args.iter()
            .for_each(|arg| key.extend_from_slice(&arg.to_bits().to_le_bytes()));
        key
    }

    /// A state: known already, or reached now.
    fn reach(&mut self, args: &[f64]) -> Result<f64, String> {
        if let Some(bad) = args.iter().find(|arg| !arg.is_finite()) {
            return Err(format!("it would be set to {bad}"));
        }
        if self.call.operation == ForeignOperation::Start {
            self.instance.begin();
        }
        let key = self.key(args);
        let hash = Sha256::digest(&key);
        // Numbers below 2^52 are exact, and none is zero: that is what a state is before there is one.
        let number = hash
            .iter()
            .take(8)
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
            >> 12
            | 1;
        if let Some(known) = self.instance.states.get(&number) {
            if known.key != key {
                return Err("two of its states have the same number".to_owned());
            }
            let is_here = self.instance.point.as_ref().is_some_and(|point| point.state == number);
            if known.kept.is_some() || is_here || self.call.operation != ForeignOperation::Start {
                return Ok(number as f64);
            }
        }
        if self.call.operation != ForeignOperation::Start {
            self.settle(args[0] as u64)?;
            if self.state(args[0])?.ended {
                return Ok(args[0]);
            }
        }
        if self.call.operation == ForeignOperation::Step && !self.host.offered().saves_states {
            let to = args[1] + args[2];
            let state = State {
                key,
                time: to,
                values: vec![0.0; self.host.state_count],
                next: to,
                ended: false,
                kept: None,
                outputs: HashMap::new(),
                pending: Some((self.call.clone(), args.to_vec())),
                seen: None,
            };
            self.instance.add(number, state);
            return Ok(number as f64);
        }
        let reached = match self.call.operation {
            ForeignOperation::Start => self.start(args[0], &args[1..]),
            ForeignOperation::Event => self.event(args),
            _ => self.step(args),
        };
        let Reached { time, next, ended } = reached.inspect_err(|_| self.instance.point = None)?;
        let mut values = vec![0.0; self.host.state_count];
        if self.host.interface == ForeignInterface::ModelExchange {
            self.instance.binary.states(&mut values)?;
        }
        let (mut kept, mut outputs) = (None, HashMap::new());
        if self.host.offered().saves_states {
            kept = Some(self.instance.binary.keep()?);
        } else if self.host.interface == ForeignInterface::CoSimulation {
            outputs = self.outputs()?;
        }
        let state = State {
            key,
            time,
            values: values.clone(),
            next,
            ended,
            kept,
            outputs,
            pending: None,
            seen: None,
        };
        self.instance.add(number, state);
        self.instance.point = Some(Point {
            state: number,
            time,
            values,
            inputs: HashMap::new(),
            rates: None,
            given: None,
        });
        Ok(number as f64)
    }

    /// Starts the unit anew.
    fn start(&mut self, time: f64, values: &[f64]) -> Result<Reached, String> {
        if !std::mem::replace(&mut self.instance.is_fresh, false) {
            self.instance.leave()?;
            self.instance.binary.reset()?;
            self.instance.arrays.clear();
            if !self.host.offered().saves_states {
                // The way to other states has to be gone once more.
                self.instance.states.clear();
                self.instance.order.clear();
            }
        }
        let names = self.call.names.clone();
        // Parameters and start values before, inputs during the initialisation.
        let is_input = |asked: &Self, name: &str| -> Result<bool, String> {
            let element = asked.host.element(name)?;
            Ok(asked.host.description().variables[element.variable].causality == Causality::Input)
        };
        for (name, &value) in names.iter().zip(values) {
            if !is_input(self, name)? {
                self.set(name, value)?;
            }
        }
        self.instance.binary.enter_initialization(time)?;
        for (name, &value) in names.iter().zip(values) {
            if is_input(self, name)? {
                self.set(name, value)?;
            }
        }
        self.instance.binary.exit_initialization()?;
        match self.host.interface {
            ForeignInterface::ModelExchange => {
                let (next, ended) = self.instants()?;
                self.instance.binary.enter_continuous_time_mode()?;
                Ok(Reached { time, next, ended })
            }
            ForeignInterface::CoSimulation => {
                let mut ended = false;
                if self.instance.binary.has_event_mode() {
                    ended = self.instants()?.1;
                    self.instance.binary.enter_step_mode()?;
                }
                Ok(Reached {
                    time,
                    next: time,
                    ended,
                })
            }
        }
    }

    /// All instants of an event; when the next one is due, and whether the run is to end.
    fn instants(&mut self) -> Result<(f64, bool), String> {
        for _ in 0..MOST_INSTANTS {
            let (again, update) = self.instance.binary.update()?;
            if !again {
                return Ok((update.next.unwrap_or(NEVER), update.ended));
            }
        }
        Err("an event of it does not end".to_owned())
    }

    fn event(&mut self, args: &[f64]) -> Result<Reached, String> {
        let (time, rest) = (args[1], &args[2..]);
        let (values, signs) = rest.split_at(self.call.names.len());
        let is_at_instant = self.is_input_only();
        self.go(args[0], time, values, Inputs::Continuous)?;
        self.instance.leave()?;
        if !signs.is_empty() && !is_at_instant {
            self.cross(time, signs)?;
        }
        self.instance.binary.enter_event_mode()?;
        let names = self.call.names.clone();
        for (name, &value) in names.iter().zip(values) {
            let variable = &self.host.description().variables[self.host.element(name)?.variable];
            if variable.causality == Causality::Input && !variable.is_continuous {
                self.set(name, value)?;
            }
        }
        let (next, ended) = self.instants()?;
        self.instance.binary.enter_continuous_time_mode()?;
        Ok(Reached { time, next, ended })
    }

    /// Whether no state is set.
    fn is_input_only(&self) -> bool {
        let element = |name: &Arc<str>| self.host.element(name).ok().and_then(|element| element.state);
        self.call.names.iter().all(|name| element(name).is_none())
    }

    /// Goes on a little along the solution until the event indicators have the signs that they have behind the event: it
    /// was located where they are zero, and units look at them themselves. Units whose states are not free (constraints, a choice of
    /// states that changes) see the zero as far from there as the run is exact.
    fn cross(&mut self, time: f64, signs: &[f64]) -> Result<(), String> {
        let mut indicators = vec![0.0; self.host.description().indicator_count];
        let Some(point) = self.instance.point.clone() else {
            return Ok(());
        };
        let mut rates = vec![0.0; self.host.state_count];
        self.instance.binary.derivatives(&mut rates)?;
        let unit = time.abs().max(1e-3);
        for share in std::iter::once(0.0).chain((-15..=FARTHEST).map(|power| 10_f64.powi(power))) {
            let later = unit * share;
            let ahead: Vec<f64> = point
                .values
                .iter()
                .zip(&rates)
                .map(|(value, rate)| value + later * rate)
                .collect();
            self.instance.binary.set_time(time + later)?;
            self.instance.binary.set_states(&ahead)?;
            self.instance.binary.indicators(&mut indicators)?;
            let agrees = |(indicator, sign): (&f64, &f64)| (*indicator > 0.0) == (*sign != 0.0);
            if indicators.iter().zip(signs).all(agrees) {
                return Ok(());
            }
        }
        self.instance.binary.set_time(time)?;
        self.instance.binary.set_states(&point.values)
    }

    fn step(&mut self, args: &[f64]) -> Result<Reached, String> {
        let (time, size, values) = (args[1], args[2], &args[3..]);
        if size.is_nan() || size <= 0.0 {
            return Err(format!("a step of size {size} is none"));
        }
        let previous = self.state(args[0])?.next;
        self.go(args[0], time, values, Inputs::None)?;
        if self.instance.binary.has_event_mode() {
            // Inputs that jump are an event.
            self.instance.binary.enter_event_mode()?;
            self.set_all(values)?;
            self.instants()?;
            self.instance.binary.enter_step_mode()?;
        } else {
            self.set_all(values)?;
        }
        // Communication points follow one another without gaps.
        let from = if (previous - time).abs() <= 1e-9 * time.abs().max(size) {
            previous
        } else {
            time
        };
        let to = time + size;
        for _ in 0..MOST_EMPTY_STEPS {
            let stepped = self.instance.binary.step(from, to - from)?;
            let mut ended = stepped.ended;
            if stepped.event && !ended {
                self.instance.binary.enter_event_mode()?;
                ended = self.instants()?.1;
                self.instance.binary.enter_step_mode()?;
            }
            if stepped.time > from || ended {
                return Ok(Reached {
                    time: stepped.time,
                    next: stepped.time,
                    ended,
                });
            }
        }
        Err("its steps do not lead on".to_owned())
    }

    /// Takes the step that leads to a state, if that is still to be done.
    fn settle(&mut self, number: u64) -> Result<(), String> {
        let pending = self
            .instance
            .states
            .get_mut(&number)
            .and_then(|state| state.pending.take());
        let Some((call, args)) = pending else { return Ok(()) };
        let mut asked = Asked {
            host: self.host,
            call: &call,
            instance: &mut *self.instance,
        };
        let reached = asked.step(&args);
        let Reached { time, ended, .. } = reached.inspect_err(|_| self.instance.point = None)?;
        let outputs = self.outputs()?;
        if let Some(state) = self.instance.states.get_mut(&number) {
            (state.time, state.ended, state.outputs) = (time, ended, outputs);
        }
        self.instance.point = Some(Point {
            state: number,
            time,
            values: vec![0.0; self.host.state_count],
            inputs: HashMap::new(),
            rates: None,
            given: None,
        });
        Ok(())
    }

    /// Brings the instance to a state.
    fn restore(&mut self, number: f64) -> Result<(), String> {
        let number = number as u64;
        self.settle(number)?;
        if self.instance.point.as_ref().is_some_and(|point| point.state == number) {
            return Ok(());
        }
        self.instance.leave()?;
        let instance = &mut *self.instance;
        let Some(state) = instance.states.get(&number) else {
            return Err("a state is asked for that is not kept any more".to_owned());
        };
        let Some(kept) = &state.kept else {
            return Err("it would have to go back to an earlier state, and cannot (`canGetAndSetFMUState`)".to_owned());
        };
        instance.point = None;
        let reached = Point {
            state: number,
            time: state.time,
            values: state.values.clone(),
            inputs: HashMap::new(),
            rates: None,
            given: None,
        };
        let (kept, point) = match &state.seen {
            Some((seen, left)) => (seen, left.clone()),
            None => (kept, reached),
        };
        instance.binary.restore(kept)?;
        instance.point = Some(point);
        instance.use_again(number);
        Ok(())
    }

    /// Brings the instance to a state, a time and values; states that are not named have the values of the state.
    fn go(&mut self, state: f64, time: f64, values: &[f64], inputs: Inputs) -> Result<(), String> {
        self.restore(state)?;
        let names = &self.call.names;
        let given = self.instance.point.as_ref().and_then(|point| point.given.as_ref());
        if given.is_some_and(|given| given.is(names, time, values, inputs)) {
            return Ok(());
        }
        let host = self.host;
        let (number, mut wanted) = (state as u64, Vec::new());
        if let Some(state) = self.instance.states.get(&number) {
            wanted.clone_from(&state.values);
        }
        let mut given = Vec::new();
        for (name, &value) in self.call.names.iter().zip(values) {
            let element = host.element(name)?;
            match element.state {
                Some(at) => wanted[at] = value,
                None => given.push((element, value)),
            }
        }
        let Some(mut point) = self.instance.point.take() else {
            return Err("it is in no state".to_owned());
        };
        if host.interface == ForeignInterface::ModelExchange {
            if point.time.to_bits() != time.to_bits() {
                self.instance.binary.set_time(time)?;
                point.time = time;
                point.rates = None;
            }
            let is_same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
            if !point.values.iter().zip(&wanted).all(is_same) {
                self.instance.binary.set_states(&wanted)?;
                point.values = wanted;
                point.rates = None;
            }
        }
        for (element, value) in given {
            let variable = &host.description().variables[element.variable];
            let is_set = match inputs {
                Inputs::None => false,
                Inputs::Continuous => variable.is_continuous,
            };
            let place = (element.variable, element.at);
            if is_set && point.inputs.get(&place) != Some(&value.to_bits()) {
                self.instance.set(host.description(), element, value)?;
                point.inputs.insert(place, value.to_bits());
                point.rates = None;
            }
        }
        point.given = Some(Given {
            names: names.clone(),
            time: time.to_bits(),
            values: values.iter().map(|value| value.to_bits()).collect(),
            inputs,
        });
        self.instance.point = Some(point);
        Ok(())
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let element = self.host.element(name)?;
        self.instance.set(self.host.description(), element, value)
    }

    fn set_all(&mut self, values: &[f64]) -> Result<(), String> {
        let names = self.call.names.clone();
        names
            .iter()
            .zip(values)
            .try_for_each(|(name, &value)| self.set(name, value))
    }

    /// The values of all outputs that are numbers.
    fn outputs(&mut self) -> Result<HashMap<usize, Vec<f64>>, String> {
        let variables = self.host.description().variables.iter().enumerate();
        let outputs =
            variables.filter(|(_, of)| of.causality == Causality::Output && of.kind.is_number() && !of.is_clocked);
        let binary = &mut self.instance.binary;
        outputs.map(|(at, variable)| Ok((at, binary.get(variable)?))).collect()
    }

    /// The value that an output had in a state of which there is no copy.
    fn remembered(&self, args: &[f64]) -> Option<f64> {
        let ForeignOperation::Get(name) = &self.call.operation else {
            return None;
        };
        let element = self.host.element(name).ok()?;
        let values = self.state(args[0]).ok()?.outputs.get(&element.variable)?;
        values.get(element.at).copied()
    }

    fn value(&mut self, args: &[f64]) -> Result<f64, String> {
        self.settle(args[0] as u64)?;
        if let Some(value) = self.remembered(args) {
            return Ok(value);
        }
        self.go(args[0], args[1], &args[2..], Inputs::Continuous)?;
        match &self.call.operation {
            ForeignOperation::Get(name) => {
                let element = self.host.element(name)?;
                if let Some(at) = element.rate {
                    return self.rate(at);
                }
                let variable = &self.host.description().variables[element.variable];
                let values = self.instance.binary.get(variable)?;
                values
                    .get(element.at)
                    .copied()
                    .ok_or_else(|| format!("`{name}` has no such element"))
            }
            ForeignOperation::Indicator(number) => {
                let mut indicators = vec![0.0; self.host.description().indicator_count];
                self.instance.binary.indicators(&mut indicators)?;
                let indicator = indicators.get(*number as usize - 1).copied();
                indicator.ok_or_else(|| format!("it has no event indicator {number}"))
            }
            _ => Err("this is no value".to_owned()),
        }
    }

    /// The rate of a state; the unit is asked for all of them at once.
    fn rate(&mut self, at: usize) -> Result<f64, String> {
        let instance = &mut *self.instance;
        let Some(point) = &mut instance.point else {
            return Err("it is in no state".to_owned());
        };
        if point.rates.is_none() {
            let mut rates = vec![0.0; self.host.state_count];
            instance.binary.derivatives(&mut rates)?;
            point.rates = Some(rates);
        }
        let rate = point.rates.as_ref().and_then(|rates| rates.get(at).copied());
        rate.ok_or_else(|| "it has fewer states than it says".to_owned())
    }

    /// The derivative along a direction: by the unit where it offers that, in time and otherwise by differences.
    fn slope(&mut self, args: &[f64], direction: &[f64]) -> Result<f64, String> {
        let mut rest = direction.to_vec();
        let mut slope = 0.0;
        if let Some(exact) = self.directional(args, direction)? {
            slope = exact;
            rest[2..].fill(0.0);
        }
        if rest.iter().any(|along| *along != 0.0) {
            slope += self.difference(args, &rest, |asked, at| asked.value(at))?;
        }
        Ok(slope)
    }

    fn directional(&mut self, args: &[f64], direction: &[f64]) -> Result<Option<f64>, String> {
        let description = self.host.description();
        let unknown = match &self.call.operation {
            ForeignOperation::Get(name) => Some(self.host.element(name)?.variable),
            ForeignOperation::Indicator(number) => {
                let indicator = description.indicators.get(*number as usize - 1);
                indicator.map(|indicator| indicator.variable)
            }
            _ => None,
        };
        let Some(unknown) = unknown.filter(|_| self.host.offered().directional) else {
            return Ok(None);
        };
        let (mut knowns, mut seed) = (Vec::new(), Vec::new());
        let directions = self.call.names.iter().zip(&direction[2..]);
        for (name, &along) in directions.filter(|(_, along)| **along != 0.0) {
            let known = &description.variables[self.host.element(name)?.variable];
            if !known.dims.is_empty() {
                return Ok(None);
            }
            knowns.push(known.reference);
            seed.push(along);
        }
        let unknown = &description.variables[unknown];
        if !unknown.dims.is_empty() || !unknown.kind.is_real() {
            return Ok(None);
        }
        if knowns.is_empty() {
            return Ok(Some(0.0));
        }
        self.go(args[0], args[1], &args[2..], Inputs::Continuous)?;
        Ok(self.instance.binary.directional(unknown.reference, &knowns, &seed).ok())
    }

    /// (f(a + h·d) − f(a − h·d)) / 2h
    fn difference(
        &mut self,
        args: &[f64],
        direction: &[f64],
        mut value: impl FnMut(&mut Self, &[f64]) -> Result<f64, String>,
    ) -> Result<f64, String> {
        let moving = args.iter().zip(direction).filter(|(_, along)| **along != 0.0);
        let size = moving
            .map(|(arg, along)| arg.abs().max(1.0) / along.abs())
            .fold(f64::INFINITY, f64::min);
        if !size.is_finite() {
            return Ok(0.0);
        }
        let step = DIFFERENCE * size;
        let shifted = |by: f64| -> Vec<f64> {
            args.iter()
                .zip(direction)
                .map(|(arg, along)| arg + by * along)
                .collect()
        };
        let (ahead, behind) = (value(self, &shifted(step))?, value(self, &shifted(-step))?);
        Ok((ahead - behind) / (2.0 * step))
    }
}

/// Which inputs are set on the way to a point.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Inputs {
    None,
    /// Others change at events only.
    Continuous,
}

impl Instance {
    fn set(&mut self, description: &Description, element: Element, value: f64) -> Result<(), String> {
        let variable = &description.variables[element.variable];
        if variable.dims.is_empty() {
            return self.binary.set(variable, &[value]);
        }
        let array = self.arrays.entry(element.variable).or_insert_with(|| {
            let mut array = variable.start.clone();
            array.resize(variable.size(), 0.0);
            array
        });
        array[element.at] = value;
        self.binary.set(variable, array)
    }

    /// Keeps what the unit has seen in the state that it is in, before it goes to another one.
    fn leave(&mut self) -> Result<(), String> {
        let Some(point) = &self.point else { return Ok(()) };
        let Some(state) = self.states.get_mut(&point.state) else {
            return Ok(());
        };
        let is_where_it_was = point.time.to_bits() == state.time.to_bits() && point.values == state.values;
        if state.kept.is_none() || is_where_it_was && point.inputs.is_empty() {
            return Ok(());
        }
        let kept = self.binary.keep()?;
        if let Some((before, _)) = state.seen.replace((kept, point.clone())) {
            self.binary.forget(before);
        }
        Ok(())
    }

    /// A run begins: what was seen in another one does not count.
    fn begin(&mut self) {
        for number in self.order.clone() {
            let state = self.states.get_mut(&number);
            if let Some((seen, _)) = state.and_then(|state| state.seen.take()) {
                self.binary.forget(seen);
            }
        }
        let here = self.point.as_ref().and_then(|point| self.states.get(&point.state));
        if here.is_some_and(|state| state.kept.is_some()) {
            self.point = None;
        }
    }

    /// Gives up the copies of a state.
    fn forget(&mut self, state: State) {
        let seen = state.seen.map(|(seen, _)| seen);
        state
            .kept
            .into_iter()
            .chain(seen)
            .for_each(|kept| self.binary.forget(kept));
    }

    /// The state is the last one that would be given up.
    fn use_again(&mut self, number: u64) {
        if self.order.back() != Some(&number) {
            self.order.retain(|known| *known != number);
            self.order.push_back(number);
        }
    }

    fn add(&mut self, number: u64, state: State) {
        while self.order.len() >= MOST_STATES {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(state) = self.states.remove(&oldest) {
                self.forget(state);
            }
        }
        if let Some(before) = self.states.insert(number, state) {
            self.forget(before);
            self.order.retain(|known| *known != number);
        }
        self.order.push_back(number);
    }
}
