//! What a model does, explained without running it on from its initial state.

use std::cell::RefCell;
use std::rc::Rc;

use saltus_analysis::{
    Analysis, AnalysisOptions, ConstructiveReport, InitialState, Subject, analyze, constructive_report,
};
use saltus_mdae::{ConditionId, IndexVec};
use saltus_results::Trajectory;
use saltus_simulate::{Cancel, EventReport, Observer};

use crate::Model;

impl Model {
    /// Analyses modes and mode changes.
    pub fn analyze(&self, options: &AnalysisOptions) -> Analysis {
        let compiled = self.compiled();
        let subject = Subject {
            name: self.name(),
            model: compiled.model(),
            modes: compiled.modes(),
            pool: compiled.fork_pool(),
        };
        analyze(subject, self.initial_state(&options.cancel), options)
    }

    /// The constructive semantics.
    pub fn constructive(&self) -> ConstructiveReport<'_> {
        constructive_report(self.name(), self.equations())
    }

    /// What the initialisation finds, or why it fails.
    fn initial_state(&self, cancel: &Cancel) -> InitialState {
        let run = self.run().cancel(cancel.clone());
        let (start, _) = run.span();
        let witness = Witness::default();
        let truths = Rc::clone(&witness.truths);
        let mut trajectory = Trajectory::new();
        let summary = run.stop(start).observe(witness).simulate_into(&mut trajectory);
        let unknown = InitialState {
            time: start,
            ..InitialState::default()
        };
        if summary.failure.is_some() || trajectory.rows() == 0 {
            return InitialState {
                failure: summary.failure,
                ..unknown
            };
        }
        let last = trajectory.rows() - 1;
        let variables = self.equations().variables.iter_enumerated();
        let values = variables.filter_map(|(var, variable)| {
            let signal = trajectory.signal(&variable.name)?;
            Some((var, signal.values[last]))
        });
        InitialState {
            values: values.collect(),
            signals: trajectory
                .schema()
                .signals()
                .iter()
                .filter_map(|signal| Some((signal.name.to_string(), trajectory.signal(&signal.name)?.values[last])))
                .collect(),
            truths: truths.take(),
            ..unknown
        }
    }
}

/// Keeps the truth values of the candidate that was accepted last.
#[derive(Default)]
struct Witness {
    truths: Rc<RefCell<Option<IndexVec<ConditionId, bool>>>>,
}

impl Observer for Witness {
    fn event(&mut self, event: &EventReport) {
        for instant in &event.instants {
            let accepted = instant
                .candidates
                .iter()
                .rev()
                .find(|candidate| candidate.refused.is_none());
            if let Some(accepted) = accepted {
                *self.truths.borrow_mut() = Some(accepted.truths.clone());
            }
        }
    }
}
