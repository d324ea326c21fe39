//! Variables by their value reference: reading, setting.

use std::sync::Arc;

use super::{Action, Done, Instance, Running, Trouble, error, variable, with_sign};
use crate::state::{Call, Interface, State};
use crate::variables::{Causality, Kind, Shown, Source, Variability};
use saltus_mdae::{Derivative, Idx};

impl Instance {
    /// The value of a variable.
    pub fn get(&mut self, reference: u32) -> Done<f64> {
        self.check(Call::GetVariable)?;
        let Some(shown) = self.variables().get(reference).cloned() else {
            return error(format!("there is no variable with the value reference {reference}"));
        };
        if let Some(at) = self.size_at(&shown) {
            return Ok(self.sizes[at] as f64);
        }
        if let Source::Constant(value) = shown.source {
            return Ok(value);
        }
        if matches!(self.state, State::Instantiated | State::Configuration) {
            return self.value_before(reference, &shown);
        }
        if self.state == State::Initialization {
            self.make_run()?;
        }
        self.value(&shown)
    }

    /// Which of the parameters that give sizes it is.
    fn size_at(&self, shown: &Shown) -> Option<usize> {
        let parameters = &self.variables().interface.parameters;
        let is_size = shown.causality == Causality::Structural;
        parameters
            .iter()
            .position(|parameter| is_size && parameter.name == shown.name)
    }

    fn set_size(&mut self, at: usize, value: f64) -> Done<()> {
        let parameter = &self.variables().interface.parameters[at];
        let (name, min, max) = (parameter.name.clone(), parameter.min, parameter.max);
        if self.state != State::Configuration {
            return error(format!(
                "`{name}` gives sizes: it can be set in Configuration Mode only"
            ));
        }
        let size = value as u64;
        if size as f64 != value || !(min..=max).contains(&size) {
            return error(format!("`{name}` has values from {min} to {max}, not {value}"));
        }
        self.sizes[at] = size;
        Ok(())
    }

    /// Whether a clock ticks; that is known at events only.
    pub fn clock(&mut self, reference: u32) -> Done<bool> {
        self.check(Call::GetClock)?;
        self.get(reference).map(|value| value != 0.0)
    }

    /// A text.
    pub fn text(&mut self, reference: u32) -> Done<Arc<str>> {
        let number = self.get(reference)?;
        Ok(self.model().equations().texts.text(number))
    }

    /// The mode of the run, if there is one.
    pub(super) fn present_mode(&self) -> Option<usize> {
        match self.run.as_ref()? {
            Running::Own(stepper) => stepper.mode(),
            Running::Other(exchange) => exchange.mode(),
        }
        .map(|mode| mode.index())
    }

    /// Before the start only what was set is known.
    fn value_before(&self, reference: u32, shown: &Shown) -> Done<f64> {
        let set = self
            .setup
            .values
            .iter()
            .find(|(at, _)| *at == reference)
            .map(|(_, value)| *value);
        let input = self.setup.inputs.iter().find(|(at, ..)| *at == reference);
        let value = set.or(input.map(|(_, value, _)| *value)).or(shown.start);
        match value {
            Some(value) => Ok(value),
            None => error(format!("`{}` has no value before the initialization", shown.name)),
        }
    }

    fn value(&mut self, shown: &Shown) -> Done<f64> {
        let Some(run) = &mut self.run else {
            return error("there are no values");
        };
        let value = match (shown.source, run) {
            (Source::Constant(value), _) => Ok(value),
            (Source::Time, Running::Own(stepper)) => Ok(stepper.time()),
            (Source::Time, Running::Other(exchange)) => Ok(exchange.time()),
            (Source::Mode, Running::Own(stepper)) => Ok(stepper.mode().map_or(0.0, |mode| mode.index() as f64)),
            (Source::Mode, Running::Other(exchange)) => Ok(exchange.mode().map_or(0.0, |mode| mode.index() as f64)),
            (Source::Value(of, sign), Running::Own(stepper)) => Ok(with_sign(stepper.value(of), sign)),
            (Source::Value(of, _), Running::Other(exchange)) if shown.derivative_of.is_some() => {
                // As the importer that integrates gets it, also where it is no state in the present mode.
                let slots = &self.loaded.variables.slots;
                let mut rates = vec![0.0; slots.len()];
                let slot = of.order.checked_sub(1).map(|order| Derivative::new(of.var, order));
                let at = slot.and_then(|slot| slots.binary_search(&slot).ok()).unwrap_or(0);
                exchange.rates(&mut rates).map(|()| rates[at])
            }
            (Source::Value(of, sign), Running::Other(exchange)) => exchange.value(of).map(|v| with_sign(v, sign)),
            (Source::Impulse(at), _) => Ok(self.impulses[at]),
            (Source::ModeChange, _) => Ok(f64::from(u8::from(self.mode_changed))),
            (Source::Indicator(_), Running::Own(_)) => Ok(0.0),
            (Source::Indicator(at), Running::Other(exchange)) => {
                let mut all = vec![0.0; exchange.indicator_count()];
                exchange.indicators(&mut all).map(|()| all[at])
            }
        };
        value.map_err(|failure| Trouble::Discard(self.explain(&failure)))
    }

    /// Sets a variable.
    pub fn set(&mut self, reference: u32, value: f64) -> Done<()> {
        self.check(Call::SetVariable)?;
        let Some(shown) = self.variables().get(reference).cloned() else {
            return error(format!("there is no variable with the value reference {reference}"));
        };
        if !value.is_finite() {
            return error(format!("`{}` cannot be {value}", shown.name));
        }
        if let Kind::Enumeration(of) = shown.kind {
            let count = self.variables().enumerations[of].len();
            if value < 1.0 || value > count as f64 {
                return error(format!("`{}` has the values 1 to {count}, not {value}", shown.name));
            }
        }
        if let Some(at) = self.size_at(&shown) {
            return self.set_size(at, value);
        }
        if self.state == State::Configuration {
            return error(format!(
                "`{}` gives no sizes: it can be set outside of Configuration Mode",
                shown.name
            ));
        }
        match shown.causality {
            Causality::Input => self.set_input(reference, &shown, value),
            _ if shown.start.is_some() && shown.variability != Variability::Constant => {
                if !matches!(self.state, State::Instantiated | State::Initialization) {
                    if shown.is_slot && self.state == State::ContinuousTime {
                        return error(format!("`{}` is a state: fmi3SetContinuousStates sets it", shown.name));
                    }
                    return error(format!(
                        "`{}` can be set before the end of the initialization only",
                        shown.name
                    ));
                }
                self.setup.values.retain(|(at, _)| *at != reference);
                self.setup.values.push((reference, value));
                self.run = None;
                Ok(())
            }
            _ => error(format!("`{}` follows from the equations and cannot be set", shown.name)),
        }
    }

    fn set_input(&mut self, reference: u32, shown: &Shown, value: f64) -> Done<()> {
        let (Some(var), state) = (variable(shown), self.state) else {
            return error("an input of its own kind");
        };
        // Importers give all inputs while they integrate (FMPy does): what is discrete counts from the next event on.
        if shown.variability == Variability::Discrete
            && state == State::ContinuousTime
            && self.mode.interface == Interface::ModelExchange
        {
            self.waiting.retain(|(at, _)| *at != reference);
            self.waiting.push((reference, value));
            return Ok(());
        }
        let slope = self
            .setup
            .inputs
            .iter()
            .find(|(at, ..)| *at == reference)
            .map_or(0.0, |(_, _, slope)| *slope);
        // A slope holds until the next value.
        let slope = if state == State::Step { 0.0 } else { slope };
        self.setup.inputs.retain(|(at, ..)| *at != reference);
        self.setup.inputs.push((reference, value, slope));
        let outcome = match (&mut self.run, state) {
            (_, State::Instantiated | State::Initialization) => {
                self.run = None;
                Ok(())
            }
            (Some(Running::Own(stepper)), _) => {
                stepper.set_input(var, value);
                Ok(())
            }
            (Some(Running::Other(exchange)), _) => exchange.set_input(var, value, state == State::Event).map(drop),
            (None, _) => Ok(()),
        };
        if let Err(failure) = outcome {
            return self.fail(&failure);
        }
        if !matches!(state, State::Instantiated | State::Initialization)
            && self.mode.interface == Interface::CoSimulation
        {
            self.actions.push(Action::Input(reference, value, 0.0));
        }
        Ok(())
    }

    /// Says how fast an input changes from its present value on.
    pub fn set_input_slope(&mut self, reference: u32, slope: f64) -> Done<()> {
        self.check(Call::SetInputDerivatives)?;
        let shown = self.variables().get(reference).cloned();
        let Some((shown, var)) = shown.and_then(|shown| variable(&shown).map(|var| (shown, var))) else {
            return error(format!("there is no input with the value reference {reference}"));
        };
        if shown.causality != Causality::Input || shown.variability != Variability::Continuous || !slope.is_finite() {
            return error(format!("`{}` cannot have the slope {slope}", shown.name));
        }
        let known = self.setup.inputs.iter().find(|(at, ..)| *at == reference);
        let value = known.map(|(_, value, _)| *value).or(shown.start).unwrap_or(0.0);
        self.setup.inputs.retain(|(at, ..)| *at != reference);
        self.setup.inputs.push((reference, value, slope));
        match &mut self.run {
            Some(Running::Own(stepper)) if self.state == State::Step => {
                stepper.set_input_with_slope(var, value, slope);
                self.actions.push(Action::Input(reference, value, slope));
            }
            _ => self.run = None,
        }
        Ok(())
    }

    pub(super) fn parameter_text(&self, shown: &Shown, value: f64) -> String {
        match shown.kind {
            Kind::Boolean => (value != 0.0).to_string(),
            Kind::Enumeration(of) => {
                let literals = &self.variables().enumerations[of];
                let literal = (value as usize).checked_sub(1).and_then(|at| literals.get(at));
                literal.map_or_else(|| value.to_string(), |literal| literal.to_string())
            }
            _ => value.to_string(),
        }
    }
}
