//! Everything there is of an instance: kept, restored, as bytes.

use std::sync::Arc;

use saltus_results::Discard;
use serde::{Deserialize, Serialize};

use super::step::{advance, horizon};
use super::{Action, Done, Heard, Inputs, Instance, Loaded, Running, Setup, Trouble, Waiting, error, variable};
use crate::state::{Call, Interface, State};

/// Everything there is of an instance, to be restored.
#[derive(Clone)]
pub struct Saved {
    state: State,
    /// The model, and the sizes that are being chosen.
    loaded: Arc<Loaded>,
    sizes: Vec<u64>,
    setup: Setup,
    run: Option<Running>,
    told_time: f64,
    beginning: Inputs,
    actions: Vec<Action>,
    waiting: Waiting,
    impulses: Vec<f64>,
    mode_changed: bool,
}

impl std::fmt::Debug for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saved")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// A saved instance as bytes: the way to it, which leads there again.
#[derive(Serialize, Deserialize)]
struct Written {
    token: String,
    exchange: bool,
    state: State,
    /// The sizes of the model, and those that are being chosen.
    chosen: Vec<u64>,
    sizes: Vec<u64>,
    setup: Setup,
    begun: bool,
    beginning: Inputs,
    actions: Vec<Action>,
    waiting: Waiting,
    /// The communication point; time and slots of a run that is integrated by the importer.
    time: f64,
    slots: Vec<f64>,
    mode_changed: bool,
}

impl Instance {
    /// Everything there is now.
    pub fn save(&self) -> Done<Saved> {
        self.check(Call::FmuState)?;
        if self.state == State::Failed {
            return error("a failed instance has no state to be saved");
        }
        Ok(Saved {
            state: self.state,
            loaded: Arc::clone(&self.loaded),
            sizes: self.sizes.clone(),
            setup: self.setup.clone(),
            run: self.run.clone(),
            told_time: self.told_time,
            beginning: self.beginning.clone(),
            actions: self.actions.clone(),
            waiting: self.waiting.clone(),
            impulses: self.impulses.clone(),
            mode_changed: self.mode_changed,
        })
    }

    /// Goes back, or on, to what was saved.
    pub fn restore(&mut self, saved: &Saved) -> Done<()> {
        self.check(Call::FmuState)?;
        self.state = saved.state;
        self.loaded = Arc::clone(&saved.loaded);
        self.sizes.clone_from(&saved.sizes);
        self.setup = saved.setup.clone();
        self.run = saved.run.clone();
        self.told_time = saved.told_time;
        self.beginning = saved.beginning.clone();
        self.actions = saved.actions.clone();
        self.waiting = saved.waiting.clone();
        self.impulses = saved.impulses.clone();
        self.mode_changed = saved.mode_changed;
        self.replace_starts()
    }

    /// A saved state as bytes.
    pub fn serialize(&self, saved: &Saved) -> Done<Vec<u8>> {
        let (mut time, mut slots) = (saved.told_time, Vec::new());
        if let Some(Running::Other(exchange)) = &saved.run {
            let mut exchange = exchange.clone();
            time = exchange.time();
            slots = vec![0.0; saved.loaded.variables.slots.len()];
            let read = exchange.slots(&mut slots);
            self.discarded(read)?;
        }
        let written = Written {
            token: self.loaded.token.clone(),
            exchange: self.mode.interface == Interface::ModelExchange,
            state: saved.state,
            chosen: saved.loaded.sizes().to_vec(),
            sizes: saved.sizes.clone(),
            setup: saved.setup.clone(),
            begun: saved.run.is_some(),
            beginning: saved.beginning.clone(),
            actions: saved.actions.clone(),
            waiting: saved.waiting.clone(),
            time,
            slots,
            mode_changed: saved.mode_changed,
        };
        postcard::to_allocvec(&written).map_err(|error| Trouble::Error(format!("the state cannot be written: {error}")))
    }

    /// A saved state from bytes: the run goes the same way again.
    pub fn deserialize(&self, bytes: &[u8]) -> Done<Saved> {
        let written = postcard::from_bytes::<Written>(bytes);
        let written = written.map_err(|_| Trouble::Error("these bytes are no saved state".to_owned()))?;
        let exchange = self.mode.interface == Interface::ModelExchange;
        if written.token != self.loaded.token || written.exchange != exchange {
            return error("the saved state is that of another unit");
        }
        let mut replay = Instance::new(Arc::clone(&self.unit), self.mode);
        if written.chosen != replay.loaded.sizes() {
            replay.take_sizes(&written.chosen)?;
        }
        if written.sizes.len() != written.chosen.len() {
            return error("the saved state is that of another unit");
        }
        replay.sizes.clone_from(&written.sizes);
        let list = &replay.variables().list;
        let is_known = |at: &u32| (*at as usize) < list.len();
        let of_actions = written.actions.iter().flat_map(|action| match action {
            Action::Input(at, ..) => vec![at],
            Action::Update(_, _, inputs) => inputs.iter().map(|(at, ..)| at).collect(),
            Action::Advance(..) | Action::Event => Vec::new(),
        });
        let inputs = written.setup.inputs.iter().chain(&written.beginning).map(|(at, ..)| at);
        let values = written.setup.values.iter().chain(&written.waiting).map(|(at, _)| at);
        if !inputs.chain(values).chain(of_actions).all(is_known) {
            return error("the saved state is that of another unit");
        }
        replay.setup = written.setup.clone();
        replay.state = written.state;
        if written.begun {
            replay.replay(&written)?;
        }
        Ok(Saved {
            state: written.state,
            loaded: replay.loaded,
            sizes: replay.sizes,
            setup: written.setup,
            run: replay.run,
            told_time: written.time,
            beginning: written.beginning,
            actions: written.actions,
            waiting: written.waiting,
            impulses: replay.impulses,
            mode_changed: written.mode_changed,
        })
    }

    fn replay(&mut self, written: &Written) -> Done<()> {
        if written.state == State::Initialization {
            return self.make_run();
        }
        self.setup.inputs = written.beginning.clone();
        self.make_run()?;
        self.begin()?;
        for action in &written.actions {
            self.act(action)?;
        }
        self.act_inputs(&written.setup.inputs)?;
        if let Some(Running::Other(exchange)) = &mut self.run {
            exchange.set_time(written.time);
            exchange.set_slots(&written.slots);
        }
        Ok(())
    }

    fn act(&mut self, action: &Action) -> Done<()> {
        let list = &self.loaded.variables.list;
        let mut heard = Heard::default();
        let outcome = match (&mut self.run, action) {
            (Some(Running::Own(stepper)), Action::Input(at, value, slope)) => {
                if let Some(var) = variable(&list[*at as usize]) {
                    stepper.set_input_with_slope(var, *value, *slope);
                }
                Ok(())
            }
            (Some(Running::Own(stepper)), Action::Advance(until, returns)) => {
                let horizon = horizon(&self.setup, stepper.time(), *until);
                advance(stepper, *until, horizon, *returns, &mut heard).map(drop)
            }
            (Some(Running::Own(stepper)), Action::Event) => stepper.process_due_event(&mut Discard, &mut heard),
            (Some(Running::Other(_)), Action::Update(time, slots, inputs)) => {
                if let Some(Running::Other(exchange)) = &mut self.run
                    && !exchange.is_at_event()
                {
                    exchange.set_time(*time);
                    exchange.set_slots(slots);
                }
                self.act_inputs(inputs)?;
                match &mut self.run {
                    Some(Running::Other(exchange)) => exchange.update().map(|done| heard.events.extend(done.report)),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        };
        self.tell(&heard.events);
        match outcome {
            Ok(()) => Ok(()),
            Err(failure) => self.fail(&failure),
        }
    }

    /// Gives a run that the importer integrates its inputs.
    fn act_inputs(&mut self, inputs: &[(u32, f64, f64)]) -> Done<()> {
        let Some(Running::Other(exchange)) = &mut self.run else {
            return Ok(());
        };
        for (at, value, _) in inputs {
            if let Some(var) = variable(&self.loaded.variables.list[*at as usize])
                && let Err(failure) = exchange.set_input(var, *value, true)
            {
                return self.fail(&failure);
            }
        }
        Ok(())
    }
}
