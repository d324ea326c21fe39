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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Figures that the model asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<ModelFigure>,
    /// What the components look like in their plane.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Shape>,
    /// Signals that the model subtracts from each other: a set point, and what is to follow it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set_points: Vec<(String, String)>,
}

/// A figure that a model asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelFigure {
    /// Its title.
    pub title: String,
    /// Whether it is the one to be shown first.
    pub preferred: bool,
    /// Its panels.
    pub plots: Vec<ModelPlot>,
}

/// One panel of such a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelPlot {
    /// Its title.
    pub title: String,
    /// Its curves.
    pub curves: Vec<ModelCurve>,
    /// What it asks of its horizontal axis.
    pub horizontal: ModelAxis,
    /// What it asks of its vertical axis.
    pub vertical: ModelAxis,
}

/// One curve of such a panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCurve {
    /// What it is drawn over: `time` if not given.
    pub over: Option<String>,
    /// What is drawn.
    pub variable: String,
    /// What the legend says; its name if empty.
    pub legend: String,
}

/// An axis of such a panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelAxis {
    /// What it says; chosen if empty.
    pub label: String,
    /// The unit of its ends; that of the values if empty.
    pub unit: String,
    /// Its lower end.
    pub min: Option<f64>,
    /// Its upper end.
    pub max: Option<f64>,
    /// Whether it is logarithmic.
    pub is_logarithmic: bool,
}

/// Something to be drawn in the plane of a mechanism.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shape {
    /// What it is: `Point`, `Line`, `Rope`, `Floor`, `Wall`, `Rail`, `Cart` or `Fixed`.
    pub kind: String,
    /// The component it belongs to.
    pub component: String,
    /// Where it is: coordinates and lengths by name.
    pub values: BTreeMap<String, ShapeValue>,
}

/// A coordinate or a length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShapeValue {
    /// Always the same.
    Number(#[serde(with = "crate::event::nan_as_null")] f64),
    /// A variable.
    Variable(String),
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
