//! Runs that get nowhere.
//!
//! Four watchers look at a run from different sides; each has a constant cost per step or event, and what it finds is a
//! [`Stall`]: data, which either a continuation that was asked for answers, or which becomes the failure that ends the run.
//!
//! | watcher | sees | its stall |
//! |---|---|---|
//! | `pace` | how far the last steps and events have moved time | slow |
//! | `crawl` | switches without events that go to and fro | chattering |
//! | `chatter` | events of one condition that leave no time between them | chattering, accumulation |
//! | `accumulation` | events of several conditions whose intervals shrink | accumulation |

mod accumulation;
mod chatter;
mod crawl;
mod pace;

use std::sync::Arc;

use saltus_mdae::{ConditionId, ExprId, OriginId};

use super::Run;
use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
pub(super) use accumulation::Crossings;
pub(super) use crawl::Crawl;
pub(super) use pace::Pace;

/// What keeps a run from getting anywhere.
#[derive(Clone, Debug)]
pub(super) enum Stall {
    /// At the present pace the rest of the run takes too many steps or events.
    Slow {
        what: &'static str,
        limit: u64,
        /// How many of the last ones have moved time how far.
        pace: (u64, f64),
        origins: Vec<OriginId>,
    },
    /// Switches without events that go to and fro, `turns` times, or whose sides drive to each other.
    Crawling { switches: Vec<CrawlingSwitch>, turns: u32 },
    /// Conditions that switch with hardly any progress.
    Chattering { conditions: Vec<ConditionId>, count: u32 },
    /// Conditions whose events accumulate, and the time between the last two.
    Accumulation {
        conditions: Vec<ConditionId>,
        interval: f64,
    },
}

/// An expression that switches without an event.
#[derive(Clone, Debug)]
pub(super) struct CrawlingSwitch {
    pub text: Arc<str>,
    pub origin: OriginId,
    /// What is zero where it switches, as far as that is known.
    pub function: Option<ExprId>,
}

impl Stall {
    /// The failure that ends the run.
    pub(super) fn explain(&self, engine: &Engine) -> Failure {
        match self {
            Stall::Slow {
                what,
                limit,
                pace,
                origins,
            } => Failure::new(FailureKind::Limit {
                what,
                limit: *limit,
                pace: Some(*pace),
                origins: origins.clone(),
            }),
            Stall::Crawling { switches, turns } => Failure::new(FailureKind::Chattering {
                conditions: switches.iter().map(|switch| switch.text.clone()).collect(),
                origins: switches.iter().map(|switch| switch.origin).collect(),
                count: *turns,
                obstacle: None,
            }),
            Stall::Chattering { conditions, count } => {
                let conditions = conditions.iter().map(|&id| &engine.model.conditions[id]);
                Failure::new(FailureKind::Chattering {
                    conditions: conditions.clone().map(|condition| condition.text.clone()).collect(),
                    origins: conditions.map(|condition| condition.origin).collect(),
                    count: *count,
                    obstacle: None,
                })
            }
            Stall::Accumulation { conditions, interval } => engine.accumulation(conditions, *interval),
        }
    }
}

impl Run {
    /// Ends a run that stalls.
    pub(super) fn unless_stalled(&self, stall: Option<Stall>, time: f64) -> Result<(), Failure> {
        match stall {
            None => Ok(()),
            Some(stall) => Err(self.with_obstacle(stall.explain(&self.engine).at(time))),
        }
    }
}
