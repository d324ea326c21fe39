//! Assertions: what is said when one is violated.

use std::sync::Arc;

use saltus_instant::discrete;
use saltus_mdae::{Action, Assertion, AssertionLevel, ExprId, Node};

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::events::discrete::Triggered;
use crate::kernel::Bound;

impl Engine {
    /// The assertions of when-clauses that were triggered, at the values now in memory.
    pub(crate) fn check_triggered(&mut self, triggered: &Triggered) -> Result<(), Failure> {
        let time = self.memory.time();
        if let Some((error, origin)) = &triggered.failure {
            return Err(Failure::domain(error, vec![*origin]).at(time));
        }
        if let Some((unknowns, origin)) = &triggered.unsolved {
            let names: Vec<String> = unknowns.iter().map(|&var| format!("`{}`", self.name(var, 0))).collect();
            return Err(Failure::new(FailureKind::Domain {
                message: format!(
                    "no values of {} were found that solve their equations",
                    names.join(", ")
                ),
                origins: vec![*origin],
            })
            .at(time));
        }
        let discrete = self.discrete.variables.iter();
        if let Some(&var) = discrete.clone().find(|&&var| !self.memory.get(var, 0).is_finite()) {
            let name = &self.model.variables[var].name;
            return Err(Failure::new(FailureKind::Domain {
                message: format!(
                    "the value of `{name}` is {}, which is no number",
                    self.memory.get(var, 0)
                ),
                origins: self.discrete.origins_of(var),
            })
            .at(time));
        }
        let model = Arc::clone(&self.model);
        for action in discrete::actions(&model, &triggered.branches) {
            let Action::Assert(assertion) = action else {
                continue;
            };
            self.check_assertion(assertion)?;
        }
        Ok(())
    }

    /// The assertions that speak of `initial()`, at the initial instant: all others are looked at after it.
    pub(crate) fn check_initial(&mut self) -> Result<(), Failure> {
        if !self.compiled.uses(Node::Initial) {
            return Ok(());
        }
        let model = Arc::clone(&self.model);
        for assertion in &model.assertions {
            let parts = [assertion.guard, assertion.condition];
            let mut nodes = model.pool.reachable(&parts).into_iter();
            if nodes.any(|id| model.pool.node(id) == Node::Initial) {
                self.check_assertion(assertion)?;
            }
        }
        Ok(())
    }

    fn check_assertion(&mut self, assertion: &Assertion) -> Result<(), Failure> {
        let bind = |expr| Bound::of_value(&self.cache, &self.pool, expr, &self.memory);
        let (guard, condition) = (bind(assertion.guard)?, bind(assertion.condition)?);
        if guard.value(&self.memory) != 0.0 && condition.value(&self.memory) == 0.0 {
            self.violated(assertion, &condition)?;
        }
        Ok(())
    }

    /// A message with the values now in memory.
    fn message(&self, message: ExprId) -> Result<Arc<str>, Failure> {
        let number = Bound::of_value(&self.cache, &self.pool, message, &self.memory)?;
        Ok(self.model.texts.text(number.value(&self.memory)))
    }

    /// The message of a `terminate` that was triggered.
    pub(crate) fn termination(&self, triggered: &Triggered) -> Option<Arc<str>> {
        let applies = |guard: ExprId| {
            let guard = Bound::of_value(&self.cache, &self.pool, guard, &self.memory);
            guard.is_ok_and(|guard| guard.value(&self.memory) != 0.0)
        };
        discrete::actions(&self.model, &triggered.branches).find_map(|action| match *action {
            Action::Terminate { guard, message, .. } if applies(guard) => self.message(message).ok(),
            _ => None,
        })
    }

    /// Ends the run, or keeps a warning. A function that failed while the condition was computed has the word.
    pub(crate) fn violated(&mut self, assertion: &Assertion, condition: &Bound) -> Result<(), Failure> {
        let message = match condition.evaluate_checked(&self.memory, &mut [0.0]) {
            Ok(()) => self.message(assertion.message)?,
            Err(error) => error.to_string().into(),
        };
        let time = self.memory.time();
        match assertion.level {
            AssertionLevel::Error => {
                let origin = assertion.origin;
                Err(Failure::new(FailureKind::Assertion { message, origin }).at(time))
            }
            AssertionLevel::Warning => {
                self.reported.warnings.push(format!("at t = {time}: {message}"));
                Ok(())
            }
        }
    }
}
