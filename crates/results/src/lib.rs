//! Trajectories, result files, figures and comparisons.
//!
//! A simulator pushes rows into a [`ResultSink`]; everything else follows from that one trait:
//! [`CsvWriter`] and [`MatWriter`] stream to disk, [`EventLogWriter`] keeps the event log, [`Trajectory`]
//! collects in memory, [`Tee`] feeds several at once, [`Select`] keeps chosen variables only and [`EventRows`]
//! reduces every event instant to its left and right limit. [`Formats`] picks a file format by extension and
//! assembles these parts. [`figure`] draws a trajectory, [`compare`] judges two of them.
#![warn(missing_docs)]

mod compare;
mod csv_read;
mod csv_write;
mod error;
mod event;
mod event_log;
pub mod figure;
mod formats;
mod manifest;
mod mat4;
mod mat_read;
mod mat_write;
mod schema;
mod select;
mod sidecar;
mod sink;
mod trajectory;
pub mod units;

pub use compare::{Report, Tolerances, VariableReport, Verdict, compare, compare_selected};
pub use csv_read::read_csv;
pub use csv_write::CsvWriter;
pub use error::{IoAction, ResultError};
pub use event::{EventRecord, Impulse, Jump, ModeRecord, SourceSpan, Trigger};
pub use event_log::{EventLog, EventLogWriter, read_event_log};
pub use formats::{Disk, Format, Formats, MemoryStorage, Storage, Stream, WriteOptions};
pub use manifest::{InputHash, Manifest, Status, Summary};
pub use mat_read::read_mat;
pub use mat_write::MatWriter;
pub use schema::{AliasSign, Binding, ColumnId, Role, Schema, SchemaError, Signal, SignalId, SignalKind, Value};
pub use select::{Pattern, Select, Selection};
pub use sidecar::Sidecar;
pub use sink::{Discard, EventRows, ResultSink, RowKind, Tee};
pub use trajectory::{SignalView, Trajectory};
