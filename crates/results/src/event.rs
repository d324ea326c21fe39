//! Events: mode changes, what triggered them, impulses and jumps.

use serde::{Deserialize, Serialize};

/// A place in the user's text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSpan {
    /// The file as the user named it.
    pub file: String,
    /// First line, from 1.
    pub line: u32,
    /// First column, from 1.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}

/// A condition that changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// Its text, such as `pre(s) <= 0`.
    pub condition: String,
    /// Where it stands, if it comes from a text.
    #[serde(default)]
    pub span: Option<SourceSpan>,
}

/// An impulse of a variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Impulse {
    /// Its name.
    pub variable: String,
    /// 1 for a Dirac impulse, 2 for its derivative, and so on.
    pub order: u32,
    /// The weight: the jump of the variable's integral (of order `order`).
    #[serde(with = "nan_as_null")]
    pub weight: f64,
}

/// A variable that jumped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jump {
    /// Its name.
    pub variable: String,
    /// Left limit.
    #[serde(with = "nan_as_null")]
    pub left: f64,
    /// Right limit.
    #[serde(with = "nan_as_null")]
    pub right: f64,
}

/// One event; a line of the event log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Time.
    #[serde(rename = "t")]
    pub time: f64,
    /// Number of the super-dense instant at this time, from 0.
    #[serde(rename = "n")]
    pub instant: u32,
    /// Mode before.
    #[serde(rename = "from")]
    pub from_mode: u32,
    /// Mode after.
    #[serde(rename = "to")]
    pub to_mode: u32,
    /// Conditions that changed.
    #[serde(default)]
    pub triggers: Vec<Trigger>,
    /// Impulses.
    #[serde(default)]
    pub impulses: Vec<Impulse>,
    /// Jumps.
    #[serde(default)]
    pub jumps: Vec<Jump>,
}

/// What a mode number stands for; announced before the first row in that mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModeRecord {
    /// The number.
    pub mode: u32,
    /// A short label for figures, such as `contact` or `gear = 2`; may be empty.
    #[serde(default)]
    pub label: String,
    /// The conditions and their values in this mode.
    #[serde(default)]
    pub valuation: Vec<(String, bool)>,
    /// The mode of which only the differences are reported, label and conditions: where there are many conditions, modes have
    /// most of their values in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u32>,
    /// What its equations are like, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<ModeShape>,
}

/// What the equations of a mode are like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeShape {
    /// Their structural index.
    pub index: u16,
    /// How many states there are.
    pub states: usize,
    /// The first of them by name.
    #[serde(default)]
    pub first_states: Vec<String>,
}

impl ModeRecord {
    /// Conditions of which each mode tells all values; of more, what differs from another mode.
    pub const MOST_CONDITIONS: usize = 64;
}

impl ModeShape {
    /// Names that are worth keeping: a log with thousands of them for every mode would hold little else.
    pub const MOST_NAMES: usize = 24;
}

/// JSON has no NaN: it is written as `null`.
pub(crate) mod nan_as_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}
