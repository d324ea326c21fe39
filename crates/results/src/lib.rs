//! Trajectories, result files, figures and comparisons.
//!
//! A simulator pushes rows into a [`ResultSink`]; everything else follows from that one trait:
//! [`CsvWriter`] and [`MatWriter`] stream to disk, [`EventLogWriter`] keeps the event log, [`Trajectory`]
//! collects in memory, [`Tee`] feeds several at once, [`Select`] keeps chosen variables only and [`EventRows`]
//! reduces every event instant to its left and right limit. [`Formats`] picks a file format by extension and
//! assembles these parts. [`figure`](mod@figure) draws a trajectory, [`compare`] judges two of them.
//!
//! # Example
//! ```
//! use std::path::Path;
//! use saltus_results::figure::{FigureOptions, figure};
//! use saltus_results::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Schema::new(vec![
//!     Signal::new("x").with_unit("m").with_role(Role::State),
//!     Signal::alias("y", SignalId(0), AliasSign::Negated),
//! ])?;
//! let mut storage = MemoryStorage::default(); // or `Disk`
//! let formats = Formats::standard();
//! let path = Path::new("out.csv");
//! let mut trajectory = Trajectory::new();
//! let file = formats.create(path, &mut storage, &WriteOptions::default())?;
//! let mut sink = Tee::new().with(file).with(&mut trajectory);
//! sink.begin(&schema, &Manifest::default())?;
//! sink.row(0.0, RowKind::Regular, 0, &[1.0])?;
//! sink.row(1.0, RowKind::Regular, 0, &[0.5])?;
//! sink.finish(&Summary::default())?;
//! drop(sink);
//!
//! let read = formats.read(path, &mut storage)?;
//! assert_eq!(read.signal("y").unwrap().values[..], [-1.0, -0.5]);
//! assert!(compare(&trajectory, &read, &Tolerances::default()).passed());
//! let svg = figure(&read, &FigureOptions::default())?.to_svg();
//! assert!(svg.starts_with("<svg"));
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//! - **CSV**: `time`, `$mode`, then every variable (aliases repeated), quoted as RFC 4180 asks; shortest numbers that
//!   read back exactly; a dead variable is an empty field; exactly two rows at an event. Units, kinds, constants,
//!   manifest and summary are beside it in `<name>.csv.json` (a comment inside would not be CSV), written when the
//!   run begins with the status `running` and again when it ends.
//! - **MAT v4**: the six matrices Dymola and OpenModelica write, aliases by sign in `dataInfo`, dead variables as
//!   NaN; the same metadata in a seventh matrix behind them, `saltus_metadata`, when the run ends.
//! - **Event log**: JSON lines, one per event; a line `{"mode":…,"label":…,"valuation":…}` explains a mode number
//!   before its first use.
//!
//! Rows reach the operating system in small groups, so that a killed run leaves a file that can be read up to its
//! last complete row.

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

pub use compare::{Agreement, Report, Tolerances, VariableReport, compare, compare_selected};
pub use csv_read::read_csv;
pub use csv_write::CsvWriter;
pub use error::{IoAction, ResultError};
pub use event::{EventRecord, Impulse, Jump, ModeRecord, ModeShape, SourceSpan, Trigger};
pub use event_log::{EventLog, EventLogWriter, read_event_log};
pub use formats::{Disk, Format, Formats, MemoryStorage, Storage, Stream, WriteOptions, same_file};
pub use manifest::{
    InputHash, Manifest, ModelAxis, ModelCurve, ModelFigure, ModelPlot, Shape, ShapeValue, Status, Summary,
};
pub use mat_read::read_mat;
pub use mat_write::MatWriter;
pub use schema::{AliasSign, Binding, ColumnId, Role, Schema, SchemaError, Signal, SignalId, SignalKind, Value};
pub use select::{Pattern, Select, Selection};
pub use sidecar::Sidecar;
pub use sink::{Discard, EventRows, ResultSink, RowKind, Tee};
pub use trajectory::{SignalView, Trajectory};
