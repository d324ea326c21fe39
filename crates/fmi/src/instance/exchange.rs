//! Model Exchange: what an importer that integrates asks for.

use saltus_simulate::{Exchange, Failure, Quantity};

use super::{Done, Instance, Running, Trouble, error};
use crate::state::{Call, Interface, State};
use crate::variables::{Sign, Source};

impl Instance {
    fn exchange(&mut self, call: Call) -> Done<&mut Exchange> {
        self.check(call)?;
        if self.state == State::Initialization {
            self.make_run()?;
        }
        match &mut self.run {
            Some(Running::Other(exchange)) => Ok(exchange),
            _ => error("there is no run"),
        }
    }

    pub(super) fn discarded<T>(&self, outcome: Result<T, Failure>) -> Done<T> {
        outcome.map_err(|failure| Trouble::Discard(self.explain(&failure)))
    }

    /// Sets the time.
    pub fn set_time(&mut self, time: f64) -> Done<()> {
        let state = self.state;
        let exchange = self.exchange(Call::SetTime)?;
        if !time.is_finite() {
            return error(format!("the time cannot be {time}"));
        }
        // At an event it stands still.
        if state == State::ContinuousTime {
            exchange.set_time(time);
        }
        Ok(())
    }

    fn check_count(&self, given: usize) -> Done<()> {
        let count = self.variables().slots.len();
        if given == count {
            Ok(())
        } else {
            error(format!("there are {count} continuous states, not {given}"))
        }
    }

    /// Values of slots in the order in which importers know states.
    fn put_in_order(&self, slots: &[f64], states: &mut [f64]) {
        let order = self.variables().slot_order().iter();
        states
            .iter_mut()
            .zip(order)
            .for_each(|(state, &slot)| *state = slots[slot]);
    }

    /// Sets the states.
    pub fn set_states(&mut self, states: &[f64]) -> Done<()> {
        self.check(Call::SetContinuousStates)?;
        // Integrators that need one state at least hand theirs over where there is none (fmusim with CVode).
        if self.variables().slots.is_empty() {
            return Ok(());
        }
        self.check_count(states.len())?;
        let mut slots = vec![0.0; states.len()];
        let order = self.variables().slot_order().iter();
        order.zip(states).for_each(|(&slot, state)| slots[slot] = *state);
        self.exchange(Call::SetContinuousStates)?.set_slots(&slots);
        Ok(())
    }

    /// The states.
    pub fn states(&mut self, states: &mut [f64]) -> Done<()> {
        self.check_count(states.len())?;
        let mut slots = vec![0.0; states.len()];
        let outcome = self.exchange(Call::GetContinuousStates)?.slots(&mut slots);
        self.put_in_order(&slots, states);
        self.discarded(outcome)
    }

    /// Their rates.
    pub fn rates(&mut self, rates: &mut [f64]) -> Done<()> {
        self.check_count(rates.len())?;
        let mut slots = vec![0.0; rates.len()];
        let outcome = self.exchange(Call::GetDerivatives)?.rates(&mut slots);
        self.put_in_order(&slots, rates);
        self.discarded(outcome)
    }

    /// Typical sizes of the states.
    pub fn nominals(&self, nominals: &mut [f64]) -> Done<()> {
        self.check_count(nominals.len())?;
        let variables = self.variables();
        let nominal = |(state, _): &(u32, u32)| variables.list[*state as usize].nominal.unwrap_or(1.0);
        let slots: Vec<f64> = variables.slot_variables.iter().map(nominal).collect();
        self.put_in_order(&slots, nominals);
        Ok(())
    }

    /// The functions of the conditions.
    pub fn indicators(&mut self, values: &mut [f64]) -> Done<()> {
        let count = self.variables().indicators;
        if values.len() != count {
            return error(format!("there are {count} event indicators, not {}", values.len()));
        }
        let outcome = self.exchange(Call::GetDerivatives)?.indicators(values);
        self.discarded(outcome)
    }

    /// A step of the importer's integrator is completed: whether an event is to be processed.
    pub fn completed_step(&mut self) -> Done<bool> {
        let outcome = self.exchange(Call::CompletedIntegratorStep)?.complete_step();
        let outcome = match outcome {
            Ok(event) => Ok(event),
            Err(failure) => self.fail(&failure),
        };
        self.tell(&[]);
        outcome
    }

    /// Directional derivatives: of `unknowns` by `knowns` in the direction of `seed`.
    pub fn directional(&mut self, unknowns: &[u32], knowns: &[u32], seed: &[f64], response: &mut [f64]) -> Done<()> {
        self.check(Call::GetDirectionalDerivative)?;
        if self.state == State::Initialization || self.mode.interface == Interface::CoSimulation {
            return Err(Trouble::Discard(
                "directional derivatives are known after the start, in Model Exchange".to_owned(),
            ));
        }
        if knowns.len() != seed.len() || unknowns.len() != response.len() {
            return error("as many seeds as knowns, and as many results as unknowns");
        }
        let quantity = |reference: &u32| self.variables().get(*reference).map(|shown| shown.source);
        let mut values = Vec::new();
        let mut signs = Vec::new();
        for unknown in unknowns {
            match quantity(unknown) {
                Some(Source::Value(of, sign)) => {
                    values.push(Quantity::Value(of));
                    signs.push(if sign == Sign::Negated { -1.0 } else { 1.0 });
                }
                _ => return error(format!("no directional derivative of the value reference {unknown}")),
            }
        }
        // The rate of a slot is zero where the mode has none.
        let slot_variables = self.variables().slot_variables.clone();
        for (value, unknown) in values.iter_mut().zip(unknowns) {
            let slot = slot_variables.iter().position(|(_, rate)| rate == unknown);
            if let Some(slot) = slot {
                *value = Quantity::RateOf(self.variables().slots[slot]);
            }
        }
        let mut varied = Vec::new();
        for (known, &seed) in knowns.iter().zip(seed) {
            match quantity(known) {
                Some(Source::Value(of, Sign::Same)) => varied.push((Quantity::Value(of), seed)),
                _ => return error(format!("no directional derivative by the value reference {known}")),
            }
        }
        let outcome = match &mut self.run {
            Some(Running::Other(exchange)) => exchange.directional(&values, &varied, response),
            _ => Ok(()),
        };
        response
            .iter_mut()
            .zip(&signs)
            .for_each(|(response, sign)| *response *= sign);
        self.discarded(outcome)
    }

    /// Adjoint derivatives: how the sum of `unknowns`, each times its seed, responds to each of the `knowns`.
    pub fn adjoint(&mut self, unknowns: &[u32], knowns: &[u32], seed: &[f64], response: &mut [f64]) -> Done<()> {
        if unknowns.len() != seed.len() || knowns.len() != response.len() {
            return error("as many seeds as unknowns, and as many results as knowns");
        }
        let mut column = vec![0.0; unknowns.len()];
        for (known, response) in knowns.iter().zip(response) {
            self.directional(unknowns, &[*known], &[1.0], &mut column)?;
            *response = column.iter().zip(seed).map(|(value, seed)| value * seed).sum();
        }
        Ok(())
    }
}
