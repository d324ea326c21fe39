//! What happened at events, as data for logs, traces and tests.

use std::sync::Arc;
use std::time::Duration;

use saltus_mdae::{ConditionId, IndexVec, OriginId, VarId};

use crate::engine::ModeId;
use crate::events::discrete::Triggered;

/// An impulse: a variable that is infinite for an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpulseReport {
    /// The variable.
    pub var: VarId,
    /// Derivative order of the variable.
    pub derivative: u16,
    /// Order of the impulse: 1 for a Dirac impulse.
    pub order: u16,
    /// Its weight.
    pub weight: f64,
}

/// Why a candidate mode was not taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refusal {
    /// In words.
    pub reason: String,
    /// Equations involved.
    pub origins: Vec<OriginId>,
    /// What could be done about it.
    pub help: Vec<String>,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Refusal {
            reason,
            ..Refusal::default()
        }
    }
}

/// A candidate mode that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateReport {
    /// Truth values of the conditions.
    pub truths: IndexVec<ConditionId, bool>,
    /// What it is called beside the mode in force, if events are traced.
    pub label: String,
    /// Why it was not taken; `None` for the accepted one.
    pub refused: Option<Refusal>,
}

/// One super-dense instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstantReport {
    /// The mode before; `None` at the start.
    pub from: Option<ModeId>,
    /// The mode after; `None` if none was found.
    pub to: Option<ModeId>,
    /// The conditions that asked for it.
    pub triggers: Vec<ConditionId>,
    /// The conditions that changed.
    pub changed: Vec<ConditionId>,
    /// Impulses.
    pub impulses: Vec<ImpulseReport>,
    /// Whether it passed through a transient mode.
    pub transient: bool,
    /// Candidates in the order tried.
    pub candidates: Vec<CandidateReport>,
    /// When-clauses that acted.
    pub whens: Triggered,
    /// The value memory after it, if all instants are to be written.
    pub values: Option<Box<[f64]>>,
}

/// An event: all instants at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct EventReport {
    /// When.
    pub time: f64,
    /// Its instants.
    pub instants: Vec<InstantReport>,
    /// The message of a `terminate` that was reached.
    pub terminate: Option<Arc<str>>,
}

impl EventReport {
    /// One instant that conditions ask for, in a mode.
    pub(crate) fn of_triggers(time: f64, from: Option<ModeId>, triggers: &[ConditionId]) -> Self {
        EventReport {
            time,
            instants: vec![InstantReport {
                from,
                to: from,
                triggers: triggers.to_vec(),
                ..InstantReport::default()
            }],
            terminate: None,
        }
    }

    /// Whether of one when-clause two branches had a reason to act, so that one of them was in vain.
    pub(crate) fn acted_twice(&self) -> bool {
        let acted: Vec<_> = self
            .instants
            .iter()
            .flat_map(|instant| &instant.whens.branches)
            .collect();
        let another = |(at, a): (usize, &&(_, usize))| acted[at + 1..].iter().any(|b| a.0 == b.0 && a.1 != b.1);
        self.instants.iter().any(|instant| instant.whens.overtaken) || acted.iter().enumerate().any(another)
    }

    /// Says which mode follows.
    pub(crate) fn end_in(&mut self, mode: Option<ModeId>) {
        if let Some(last) = self.instants.last_mut() {
            last.to = mode;
        }
    }

    /// Whether a when-clause acted, or something passed through an impulse or a mode of the instant.
    pub(crate) fn has_acted(&self) -> bool {
        self.instants
            .iter()
            .any(|instant| !instant.whens.branches.is_empty() || instant.transient || !instant.impulses.is_empty())
    }
}

/// What a part of the equations of a mode has cost. Times are for telling only: nothing is decided by them.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCost {
    /// The mode.
    pub mode: ModeId,
    /// What it determines: the first few names.
    pub unknowns: Vec<String>,
    /// How many unknowns it has.
    pub size: usize,
    /// Whether its equations are solved together; else each determines one value.
    pub coupled: bool,
    /// How often it was solved.
    pub calls: u64,
    /// Newton iterations; none for explicit equations.
    pub iterations: u64,
    /// Time spent.
    pub time: Duration,
}

/// Start values that do not hold at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedStarts {
    /// Which ones, what they begin at, and why.
    pub text: String,
    /// Those of variables, not of derivatives.
    pub variables: Vec<VarId>,
}
