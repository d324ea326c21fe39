//! What runs have in common, of whatever command.

use clap::{Args, ValueEnum};
use saltus::simulate::{Chattering, Redundant, Zeno};
use saltus::{Method, Run, RunSettings};

/// Times and accuracy.
#[derive(Debug, Args)]
pub(crate) struct TimeArguments {
    /// Start time
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub start: Option<f64>,

    /// Stop time
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub stop: Option<f64>,

    /// Distance of output points; events have points of their own
    #[arg(long, value_name = "DT")]
    pub interval: Option<f64>,

    /// Relative tolerance
    #[arg(long, value_name = "R")]
    pub tolerance: Option<f64>,

    /// Integration method
    #[arg(long, value_name = "SOLVER", value_parser = parse_solver)]
    pub solver: Option<Method>,
}

/// What is done where a model is not clear.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// What is done where constraints follow from each other, so that they share forces or currents in no certain way
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub redundant: Redundancy,

    /// What is done where both sides of a switching surface drive to it, so that the run would switch to and fro without end
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub chattering: OnChattering,

    /// What is done where events come closer and closer together without end
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub zeno: OnZeno,
}

impl TimeArguments {
    pub(crate) fn validate(&self) -> Result<(), String> {
        for (name, value) in [("--start", self.start), ("--stop", self.stop)] {
            if value.is_some_and(|value| !value.is_finite()) {
                return Err(format!("{name} must be a finite number"));
            }
        }
        if self
            .interval
            .is_some_and(|interval| !(interval > 0.0 && interval.is_finite()))
        {
            return Err("--interval must be positive".to_owned());
        }
        if self
            .tolerance
            .is_some_and(|tolerance| !(1e-15..=0.1).contains(&tolerance))
        {
            return Err("--tolerance must lie between 1e-15 and 0.1".to_owned());
        }
        Ok(())
    }

    /// A run with these settings.
    pub(crate) fn apply<'m>(&self, run: Run<'m>) -> Run<'m> {
        run.settings(&RunSettings {
            start: self.start,
            stop: self.stop,
            interval: self.interval,
            tolerance: self.tolerance,
            solver: self.solver,
        })
    }
}

impl PolicyArguments {
    /// A run with these settings.
    pub(crate) fn apply<'m>(&self, run: Run<'m>) -> Run<'m> {
        let redundant = match self.redundant {
            Redundancy::Share => Redundant::Share,
            Redundancy::Refuse => Redundant::Refuse,
        };
        let chattering = match self.chattering {
            OnChattering::Stop => Chattering::Stop,
            OnChattering::Slide => Chattering::Slide,
        };
        let zeno = match self.zeno {
            OnZeno::Stop => Zeno::Stop,
            OnZeno::Rest => Zeno::Rest,
        };
        run.redundant(redundant).chattering(chattering).zeno(zeno)
    }
}

/// What is done where a run chatters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnChattering {
    /// The run ends and says where
    #[default]
    Stop,
    /// It goes on along the surface, by the combination of both sides that stays on it (Filippov)
    Slide,
}

/// What is done where events accumulate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnZeno {
    /// The run ends and says where
    #[default]
    Stop,
    /// It goes on from the point of accumulation at rest, where the limit is determined
    Rest,
}

/// What is done in modes whose constraints follow from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Redundancy {
    /// Shared by minimum norm, with a warning
    #[default]
    Share,
    /// Such modes are refused
    Refuse,
}

fn parse_solver(text: &str) -> Result<Method, String> {
    let known = Method::ALL.iter().find(|(_, name)| *name == text);
    known.map(|(method, _)| *method).ok_or_else(|| {
        let names: Vec<&str> = Method::ALL.iter().map(|(_, name)| *name).collect();
        format!("the solvers are {}", names.join(", "))
    })
}

pub(crate) fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
