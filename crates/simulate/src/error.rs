//! Why a run ended early: data, rendered at the edge.

use std::sync::Arc;

use saltus_codegen::{CompileError, EvalError, Leaf};
use saltus_mdae::OriginId;

use crate::report::Refusal;

/// What stopped a run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// When; `None` before the run starts.
    pub time: Option<f64>,
    /// What.
    pub kind: FailureKind,
}

/// What stopped a run.
#[derive(Clone, Debug)]
pub enum FailureKind {
    /// The initial values contradict each other or cannot be found.
    Initialisation {
        /// What was tried and why it failed.
        reason: String,
        /// Start values ranked by how much they are to blame.
        suspects: Vec<String>,
        /// Equations involved.
        origins: Vec<OriginId>,
    },
    /// A mode that must be entered is structurally or numerically singular.
    SingularMode {
        /// The conditions that select the mode.
        mode: String,
        /// What is over- or under-determined.
        reason: String,
        /// Equations involved.
        origins: Vec<OriginId>,
    },
    /// The right limits of a mode change cannot be found.
    Restart(Refusal),
    /// At an event no mode is consistent.
    NoConsistentMode {
        /// Each candidate with the reason why it was refused.
        candidates: Vec<(String, Refusal)>,
        /// Whether there are more than could be tried.
        gave_up: bool,
    },
    /// Both sides of a switching surface point at it.
    Chattering {
        /// The conditions that switch in turn.
        conditions: Vec<Arc<str>>,
        /// Where they are written.
        origins: Vec<OriginId>,
        /// How many switches in a row.
        count: u32,
        /// Why the run does not go on along the surface, if that was asked for.
        obstacle: Option<String>,
    },
    /// Events accumulate at a point in time.
    Zeno {
        /// The conditions.
        conditions: Vec<Arc<str>>,
        /// Where they are written.
        origins: Vec<OriginId>,
        /// Time between the last two events.
        interval: f64,
        /// Why the run does not go on at rest, if that was asked for.
        obstacle: Option<String>,
    },
    /// The event iteration does not end.
    EndlessIteration {
        /// The conditions that change in turn.
        conditions: Vec<Arc<str>>,
        /// Where they are written.
        origins: Vec<OriginId>,
    },
    /// Values of discrete variables depend on each other in a circle and do not settle.
    DiscreteLoop {
        /// The variables.
        variables: Vec<Arc<str>>,
        /// The equations that define them.
        origins: Vec<OriginId>,
    },
    /// Equations of a block have no solution that can be found.
    Block {
        /// The unknowns.
        unknowns: Vec<String>,
        /// Equations involved.
        origins: Vec<OriginId>,
        /// What the solver saw.
        reason: String,
    },
    /// A function is undefined: logarithm of a negative number, division by zero …
    Domain {
        /// In words.
        message: String,
        /// Equations involved.
        origins: Vec<OriginId>,
    },
    /// An assertion of the model failed.
    Assertion {
        /// Its message.
        message: Arc<str>,
        /// Where it is written.
        origin: OriginId,
    },
    /// The integrator gave up.
    Integration {
        /// What it saw.
        reason: String,
        /// The variables with the largest errors.
        variables: Vec<String>,
        /// Where the variables are declared.
        origins: Vec<OriginId>,
    },
    /// A limit of the options was reached, or will be.
    Limit {
        /// Which.
        what: &'static str,
        /// Its value.
        limit: u64,
        /// How many of the last ones have moved time how far, if that says that the limit will be reached.
        pace: Option<(u64, f64)>,
        /// What asks for so many.
        origins: Vec<OriginId>,
    },
    /// Writing results failed.
    Output(String),
    /// Code could not be generated.
    Compile {
        /// In words.
        message: String,
        /// Equations involved.
        origins: Vec<OriginId>,
    },
}

impl Failure {
    /// A failure without a time yet.
    pub fn new(kind: FailureKind) -> Self {
        Failure { time: None, kind }
    }
    /// Says when it happened, unless that is known already.
    #[must_use]
    pub fn at(mut self, time: f64) -> Self {
        self.time.get_or_insert(time);
        self
    }
    /// As the reason why a candidate mode is not taken.
    pub(crate) fn into_refusal(self) -> Refusal {
        let reason = self.to_string();
        match self.kind {
            FailureKind::Restart(refusal) => Refusal { reason, ..refusal },
            FailureKind::SingularMode { origins, .. }
            | FailureKind::Block { origins, .. }
            | FailureKind::Compile { origins, .. }
            | FailureKind::Initialisation { origins, .. }
            | FailureKind::Domain { origins, .. } => Refusal {
                reason,
                origins,
                help: Vec::new(),
            },
            _ => reason.into(),
        }
    }
    /// Both ways of initialisation failed: the second reason joined to the first.
    pub(crate) fn or_else_also(self, second: Failure) -> Self {
        match (self.kind, second.kind) {
            (
                FailureKind::Initialisation {
                    reason, mut origins, ..
                },
                FailureKind::Initialisation {
                    reason: also,
                    suspects,
                    origins: more,
                },
            ) => {
                origins.extend(more);
                Failure::new(FailureKind::Initialisation {
                    reason: format!("{reason}; and {also}"),
                    suspects,
                    origins,
                })
            }
            (_, kind) => Failure::new(kind),
        }
    }
    pub(crate) fn compile(error: CompileError) -> Self {
        Self::no_code(error.to_string(), Vec::new())
    }
    pub(crate) fn unbound(leaf: Leaf) -> Self {
        let message = format!("no place for {leaf:?}: derivatives of too high an order are needed");
        Self::no_code(message, Vec::new())
    }
    /// Code for equations could not be made.
    pub(crate) fn no_code(message: String, origins: Vec<OriginId>) -> Self {
        Failure::new(FailureKind::Compile { message, origins })
    }
    pub(crate) fn domain(error: &EvalError, origins: Vec<OriginId>) -> Self {
        Failure::new(FailureKind::Domain {
            message: error.to_string(),
            origins,
        })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(time) = self.time {
            write!(f, "at t = {time}: ")?;
        }
        match &self.kind {
            FailureKind::Initialisation { reason, suspects, .. } => {
                write!(f, "initialisation failed: {reason}")?;
                if !suspects.is_empty() {
                    write!(f, "; look at the start values of {}", suspects.join(", "))?;
                }
                Ok(())
            }
            FailureKind::SingularMode { mode, reason, .. } => write!(f, "the mode [{mode}] is singular: {reason}"),
            FailureKind::Restart(refusal) => f.write_str(&refusal.reason),
            FailureKind::NoConsistentMode { candidates, gave_up } => {
                if *gave_up {
                    write!(f, "none of {} modes that were tried is consistent", candidates.len())?
                } else {
                    write!(f, "no mode is consistent")?
                }
                for (mode, refusal) in candidates.iter().take(12) {
                    write!(f, "\n  [{mode}]: {}", refusal.reason)?;
                }
                Ok(())
            }
            FailureKind::Chattering {
                conditions, count: 0, ..
            } => {
                write!(
                    f,
                    "chattering: on both sides of {} the model drives towards the other side",
                    quoted(conditions)
                )
            }
            FailureKind::Chattering { conditions, count, .. } => {
                write!(
                    f,
                    "chattering: {} switch {count} times with hardly any progress",
                    quoted(conditions)
                )
            }
            FailureKind::Zeno {
                conditions, interval, ..
            } => {
                write!(
                    f,
                    "events of {} accumulate here (the last two are {interval:e} s apart)",
                    quoted(conditions)
                )
            }
            FailureKind::EndlessIteration { conditions, .. } => {
                write!(
                    f,
                    "the event iteration does not end: {} change in turn",
                    quoted(conditions)
                )
            }
            FailureKind::DiscreteLoop { variables, .. } if variables.len() == 1 => {
                write!(f, "the discrete variable {} depends on itself", quoted(variables))
            }
            FailureKind::DiscreteLoop { variables, .. } => {
                write!(
                    f,
                    "the discrete variables {} depend on each other and do not settle",
                    quoted(variables)
                )
            }
            FailureKind::Block { unknowns, reason, .. } => {
                write!(
                    f,
                    "cannot solve for {}: {reason}",
                    unknowns.iter().take(8).cloned().collect::<Vec<_>>().join(", ")
                )
            }
            FailureKind::Domain { message, .. } => f.write_str(message),
            FailureKind::Assertion { message, .. } => write!(f, "assertion failed: {message}"),
            FailureKind::Integration { reason, variables, .. } => {
                write!(f, "{reason}")?;
                if !variables.is_empty() {
                    write!(f, " (largest error in {})", variables.join(", "))?;
                }
                Ok(())
            }
            FailureKind::Limit { what, limit, pace, .. } => f.write_str(&limit_text(what, *limit, *pace)),
            FailureKind::Output(message) => f.write_str(message),
            FailureKind::Compile { message, .. } => write!(f, "cannot generate code: {message}"),
        }
    }
}

impl std::error::Error for Failure {}

/// In words that a limit was reached, or will be.
pub fn limit_text(what: &str, limit: u64, pace: Option<(u64, f64)>) -> String {
    match pace {
        Some((count, advance)) => {
            format!("the last {count} {what} moved time by {advance:.1e} s only; the run would take more than {limit}")
        }
        None => format!("more than {limit} {what}"),
    }
}

fn quoted(names: &[Arc<str>]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
