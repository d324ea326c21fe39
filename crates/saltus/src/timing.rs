//! Where time goes. Only for reports: nothing is decided by it, and results do not hold it.

use std::time::Duration;

use saltus_simulate::Stopwatch;

/// A phase of the way from text to results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Reading and parsing.
    Parse,
    /// From classes to the flat model.
    Flatten,
    /// From the flat model to the prepared multi-mode DAE.
    Analyse,
    /// Preparing the code of equations; kernels are compiled when first needed.
    Compile,
    /// Initialisation, with the analysis and the code of the first mode.
    Initialise,
    /// Integration and events.
    Integrate,
    /// Writing results.
    Write,
}

impl Phase {
    /// As users read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Parse => "parse",
            Phase::Flatten => "flatten",
            Phase::Analyse => "analyse",
            Phase::Compile => "compile",
            Phase::Initialise => "initialise",
            Phase::Integrate => "integrate",
            Phase::Write => "write",
        }
    }
}

/// Time per phase, in the order of the phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    phases: Vec<(Phase, Duration)>,
}

impl Timings {
    /// Adds time to a phase.
    pub fn add(&mut self, phase: Phase, time: Duration) {
        match self.phases.binary_search_by_key(&phase, |entry| entry.0) {
            Ok(found) => self.phases[found].1 += time,
            Err(place) => self.phases.insert(place, (phase, time)),
        }
    }

    /// Does something and adds its time to a phase.
    pub fn measure<T>(&mut self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let start = Stopwatch::start();
        let value = work();
        self.add(phase, start.elapsed());
        value
    }

    /// The phases that took place.
    pub fn phases(&self) -> &[(Phase, Duration)] {
        &self.phases
    }

    /// All together.
    pub fn total(&self) -> Duration {
        self.phases.iter().map(|entry| entry.1).sum()
    }

    /// Adds those of a later step.
    pub fn extend(&mut self, other: &Timings) {
        for &(phase, time) in &other.phases {
            self.add(phase, time);
        }
    }
}
