//! What is needed to make a result again, and how the run ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ModeRecord;

/// The hash of a file that went into a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputHash {
    /// The file as the user named it.
    pub path: String,
    /// Its hash, with the algorithm in front: `sha256:…`.
    pub hash: String,
}

/// What is needed to make a result again; stored inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Name of the program.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Full name of the model.
    pub model: String,
    /// Options of the run, by name.
    pub options: BTreeMap<String, String>,
    /// Files that went into it.
    pub inputs: Vec<InputHash>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not yet: what a killed run leaves in its file.
    #[default]
    Running,
    /// At its stop time.
    Completed,
    /// Before, because the model or the user asked for it.
    Terminated(String),
    /// With an error.
    Failed(String),
}

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// How it ended.
    pub status: Status,
    /// Where time ended.
    #[serde(with = "crate::event::nan_as_null")]
    pub final_time: f64,
    /// Counts such as steps, events and evaluations, by name.
    pub counts: BTreeMap<String, u64>,
    /// The modes that were entered.
    pub modes: Vec<ModeRecord>,
}
