//! Results in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use saltus::report::{Context, PageOptions, page};
use saltus::results::figure::{FigureOptions, default_selection, figure};
use saltus::results::{
    Binding, ColumnId, Disk, EventLogWriter, EventRecord, Formats, Impulse, Jump, Manifest, ModeRecord, Pattern,
    ResultError, ResultSink, Role, RowKind, Schema, Selection, Signal, SignalId, SignalKind, SourceSpan, Status,
    Storage, Summary, Trajectory as Results, Trigger, Value, WriteOptions, read_event_log,
};

use super::column::Column;
use super::failure;
use super::model::{VariableRow, variable_rows};

/// File, first line and column, last line and column.
type Place = (String, u32, u32, u32, u32);
/// Time, instant, modes before and after, triggers with their places, impulses, jumps.
type EventRow = (
    f64,
    u32,
    u32,
    u32,
    Vec<(String, Option<Place>)>,
    Vec<(String, u32, f64)>,
    Vec<(String, f64, f64)>,
);

/// Signals, constants, manifest, summary, final time, times, kinds, modes, columns, events, words for modes.
type Parts<'py> = (
    String,
    Vec<f64>,
    String,
    String,
    f64,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Vec<Bound<'py, PyBytes>>,
    Vec<EventRow>,
    BTreeMap<u32, (String, Vec<(String, bool)>)>,
);

/// Results: rows, events and modes.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Trajectory {
    pub inner: Arc<Results>,
    kinds: OnceLock<Arc<[u8]>>,
}

impl Trajectory {
    pub(crate) fn new(inner: Arc<Results>) -> Self {
        Trajectory {
            inner,
            kinds: OnceLock::new(),
        }
    }

    fn kinds(&self) -> &Arc<[u8]> {
        self.kinds.get_or_init(|| {
            let number = |kind: &RowKind| match kind {
                RowKind::Regular => 0,
                RowKind::EventLeft => 1,
                RowKind::Instant => 2,
                RowKind::EventRight => 3,
            };
            self.inner.kinds().iter().map(number).collect()
        })
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<SignalId> {
        match self.inner.schema().find(name) {
            Some(id) => Ok(id),
            None => Err(match self.inner.require(name) {
                Err(error) => failure::of_result(py, &error),
                Ok(_) => failure::internal(py, "a name is there and is not"),
            }),
        }
    }
}

#[pymethods]
impl Trajectory {
    fn __len__(&self) -> usize {
        self.inner.rows()
    }

    #[getter]
    fn time(&self) -> Column {
        Column::time(&self.inner)
    }

    #[getter]
    fn mode(&self) -> Column {
        Column::modes(&self.inner)
    }

    /// 0: regular, 1: left limit, 2: instant, 3: right limit.
    #[getter]
    fn kind(&self) -> Column {
        Column::small(Arc::clone(self.kinds()))
    }

    /// The values of a variable in every row.
    fn column(&self, py: Python<'_>, name: &str) -> PyResult<Column> {
        if name == "time" {
            return Ok(self.time());
        }
        Ok(Column::signal(&self.inner, self.find(py, name)?))
    }

    fn has(&self, name: &str) -> bool {
        name == "time" || self.inner.schema().find(name).is_some()
    }

    /// The names that fit patterns, in the order of the results; without patterns all but hidden ones.
    fn names(&self, py: Python<'_>, patterns: Vec<String>) -> PyResult<Vec<String>> {
        let schema = self.inner.schema();
        let ids = Selection::of(patterns).resolve(schema);
        let ids = ids.map_err(|error| failure::of_result(py, &error))?;
        Ok(ids.into_iter().map(|id| schema.signal(id).name.clone()).collect())
    }

    fn variables(&self) -> Vec<VariableRow> {
        variable_rows(self.inner.schema())
    }

    /// The names that a figure shows if nothing is asked for.
    fn shown_first(&self) -> Vec<String> {
        let schema = self.inner.schema();
        let ids = default_selection(&self.inner);
        ids.into_iter().map(|id| schema.signal(id).name.clone()).collect()
    }

    /// Values at times, between rows by interpolation; at an event those of one side.
    fn resample(&self, py: Python<'_>, name: &str, times: PyBuffer<f64>, left: bool) -> PyResult<Column> {
        let id = if name == "time" {
            None
        } else {
            Some(self.find(py, name)?)
        };
        let times = times.to_vec(py)?;
        let results = &self.inner;
        let (Some(&first), Some(&last)) = (results.time().first(), results.time().last()) else {
            return Err(PyValueError::new_err("the result has no rows"));
        };
        // What rounding puts outside is meant to be the end.
        let slack = 1e-12 * first.abs().max(last.abs());
        let value = |time: f64| {
            if !(time >= first - slack && time <= last + slack) {
                return Err(time);
            }
            let time = time.clamp(first, last);
            Ok(match id {
                None => time,
                Some(id) if left => left_value(results, id, time),
                Some(id) => results.value_at(id, time).unwrap_or(f64::NAN),
            })
        };
        let values: Result<Vec<f64>, f64> = py.detach(|| times.into_iter().map(value).collect());
        values.map(Column::own).map_err(|time| {
            PyValueError::new_err(format!(
                "t = {time} lies outside the result, which goes from {first} to {last}"
            ))
        })
    }

    fn events(&self) -> Vec<EventRow> {
        self.inner.events().iter().map(event_row).collect()
    }

    #[getter]
    fn event_count(&self) -> usize {
        self.inner.events().len()
    }

    /// Label and conditions of the modes, by number.
    fn modes(&self) -> BTreeMap<u32, (String, Vec<(String, bool)>)> {
        let records = self.inner.mode_records().iter();
        records
            .map(|(number, record)| (*number, (record.label.clone(), record.valuation.clone())))
            .collect()
    }

    /// Model, options of the run, status, counts.
    fn about(&self) -> (String, BTreeMap<String, String>, &'static str, BTreeMap<String, u64>) {
        let (manifest, summary) = (self.inner.manifest(), self.inner.summary());
        let status = match &summary.status {
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Terminated(_) => "terminated",
            Status::Failed(_) => "failed",
        };
        (
            manifest.model.clone(),
            manifest.options.clone(),
            status,
            summary.counts.clone(),
        )
    }

    /// All of it as plain values, for [`Trajectory::from_parts`].
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let results = &self.inner;
        let json = |text: Result<String, serde_json::Error>| {
            text.map_err(|error| failure::internal(py, &format!("results cannot be written: {error}")))
        };
        let constant = |id| match results.schema().signal(id).binding {
            Binding::Constant(value) => value,
            _ => 0.0,
        };
        let bytes =
            |values: &[f64]| PyBytes::new(py, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        let columns =
            (0..results.schema().columns().len() as u32).map(|column| bytes(results.column(ColumnId(column))));
        let modes: Vec<u8> = results.modes().iter().flat_map(|mode| mode.to_le_bytes()).collect();
        Ok((
            json(serde_json::to_string(results.schema().signals()))?,
            results.schema().ids().map(constant).collect(),
            json(serde_json::to_string(results.manifest()))?,
            json(serde_json::to_string(results.summary()))?,
            results.summary().final_time,
            bytes(results.time()),
            PyBytes::new(py, self.kinds()),
            PyBytes::new(py, &modes),
            columns.collect(),
            self.events(),
            self.modes(),
        ))
    }

    /// The results that [`Trajectory::parts`] took apart.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "they are the parts")]
    fn from_parts(
        py: Python<'_>,
        signals: &str,
        constants: Vec<f64>,
        manifest: &str,
        summary: &str,
        final_time: f64,
        time: &[u8],
        kinds: &[u8],
        modes: &[u8],
        columns: Vec<Vec<u8>>,
        events: Vec<EventRow>,
        mode_records: BTreeMap<u32, (String, Vec<(String, bool)>)>,
    ) -> PyResult<Self> {
        let damaged = |what: &str| PyValueError::new_err(format!("these are no parts of results: {what}"));
        let wrong = |error: serde_json::Error| damaged(&error.to_string());
        let mut signals: Vec<Signal> = serde_json::from_str(signals).map_err(wrong)?;
        // Numbers in JSON are not read back to the last digit.
        for (signal, value) in signals.iter_mut().zip(constants) {
            if let Binding::Constant(constant) = &mut signal.binding {
                *constant = value;
            }
        }
        let schema = Schema::new(signals).map_err(|error| damaged(&error.to_string()))?;
        let manifest: Manifest = serde_json::from_str(manifest).map_err(wrong)?;
        let mut summary: Summary = serde_json::from_str(summary).map_err(wrong)?;
        summary.final_time = final_time;
        let numbers = |bytes: &[u8]| -> Vec<f64> {
            let (words, _) = bytes.as_chunks::<8>();
            words.iter().map(|word| f64::from_le_bytes(*word)).collect()
        };
        let (time, columns): (Vec<f64>, Vec<Vec<f64>>) =
            (numbers(time), columns.iter().map(|column| numbers(column)).collect());
        let (modes, _) = modes.as_chunks::<4>();
        let rows = time.len();
        let even = columns.len() == schema.columns().len() && columns.iter().all(|column| column.len() == rows);
        if !even || kinds.len() != rows || modes.len() != rows {
            return Err(damaged("columns of unequal length"));
        }
        let mut results = Results::new();
        let filled = || -> Result<(), ResultError> {
            results.begin(&schema, &manifest)?;
            for (mode, (label, valuation)) in mode_records {
                results.mode(&ModeRecord {
                    mode,
                    label,
                    valuation,
                    since: None,
                    structure: None,
                })?;
            }
            let mut values = vec![0.0; columns.len()];
            for row in 0..rows {
                for (value, column) in values.iter_mut().zip(&columns) {
                    *value = column[row];
                }
                let kind = match kinds[row] {
                    1 => RowKind::EventLeft,
                    2 => RowKind::Instant,
                    3 => RowKind::EventRight,
                    _ => RowKind::Regular,
                };
                results.row(time[row], kind, u32::from_le_bytes(modes[row]), &values)?;
            }
            for event in events {
                results.event(&event_record(event))?;
            }
            results.finish(&summary)
        };
        filled().map_err(|error| failure::of_result(py, &error))?;
        Ok(Trajectory::new(Arc::new(results)))
    }

    /// Writes a result file as the command line does.
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        patterns: Vec<String>,
        hidden: bool,
        all_instants: bool,
    ) -> PyResult<()> {
        let options = WriteOptions {
            selection: Selection {
                patterns: patterns.iter().map(Pattern::new).collect(),
                protected: hidden,
                hidden,
            },
            all_instants,
            ..WriteOptions::default()
        };
        let results = &self.inner;
        let written = py.detach(|| {
            let mut sink = Formats::standard().create(&path, &mut Disk, &options)?;
            results.replay(&mut sink)
        });
        written.map_err(|error| failure::of_result(py, &error))
    }

    /// Writes the event log as the command line does.
    fn save_events(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let results = &self.inner;
        let written = py.detach(|| {
            let file = Disk.create(&path).map_err(|source| ResultError::Io {
                path: path.clone(),
                action: saltus::results::IoAction::Create,
                source,
            })?;
            results.replay(&mut EventLogWriter::new(file, &path))
        });
        written.map_err(|error| failure::of_result(py, &error))
    }

    /// The figure of the command line.
    fn svg(
        &self,
        py: Python<'_>,
        signals: Vec<String>,
        panels: Vec<Vec<String>>,
        title: Option<String>,
        time_range: Option<(f64, f64)>,
        width: f64,
    ) -> PyResult<String> {
        if !(width.is_finite() && width > 0.0) {
            return Err(PyValueError::new_err("the width must be positive"));
        }
        let options = FigureOptions {
            title,
            signals,
            panels,
            time_range,
            width,
            ..FigureOptions::default()
        };
        let results = &self.inner;
        let drawn = py.detach(|| figure(results, &options).map(|figure| figure.to_svg()));
        drawn.map_err(|error| failure::of_result(py, &error))
    }

    /// The interactive page of the command line.
    fn report(
        &self,
        py: Python<'_>,
        signals: Vec<String>,
        panels: Vec<Vec<String>>,
        title: Option<String>,
        time_range: Option<(f64, f64)>,
    ) -> PyResult<String> {
        let options = PageOptions {
            title,
            signals,
            panels,
            time_range,
        };
        let results = &self.inner;
        let written = py.detach(|| page(results, &Context::default(), &options));
        written.map_err(|error| failure::of_result(py, &error))
    }
}

/// The left limit at a time.
fn left_value(results: &Results, id: SignalId, time: f64) -> f64 {
    let at = results.time().partition_point(|&t| t < time);
    if results.time().get(at) != Some(&time) {
        return results.value_at(id, time).unwrap_or(f64::NAN);
    }
    match results.schema().value(id) {
        Value::Column { column, sign } => sign.apply(results.column(column)[at]),
        Value::Constant(value) => value,
    }
}

fn event_row(event: &EventRecord) -> EventRow {
    let place = |span: &SourceSpan| {
        let file = span.file.clone();
        (file, span.line, span.column, span.end_line, span.end_column)
    };
    let triggers = event.triggers.iter();
    let impulses = event.impulses.iter();
    let jumps = event.jumps.iter();
    (
        event.time,
        event.instant,
        event.from_mode,
        event.to_mode,
        triggers
            .map(|trigger| (trigger.condition.clone(), trigger.span.as_ref().map(place)))
            .collect(),
        impulses
            .map(|impulse| (impulse.variable.clone(), impulse.order, impulse.weight))
            .collect(),
        jumps
            .map(|jump| (jump.variable.clone(), jump.left, jump.right))
            .collect(),
    )
}

fn event_record((time, instant, from_mode, to_mode, triggers, impulses, jumps): EventRow) -> EventRecord {
    let span = |(file, line, column, end_line, end_column): Place| SourceSpan {
        file,
        line,
        column,
        end_line,
        end_column,
    };
    let triggers = triggers.into_iter().map(|(condition, place)| Trigger {
        condition,
        span: place.map(span),
    });
    let impulses = impulses.into_iter().map(|(variable, order, weight)| Impulse {
        variable,
        order,
        weight,
    });
    let jumps = jumps
        .into_iter()
        .map(|(variable, left, right)| Jump { variable, left, right });
    EventRecord {
        time,
        instant,
        from_mode,
        to_mode,
        triggers: triggers.collect(),
        impulses: impulses.collect(),
        jumps: jumps.collect(),
    }
}

pub(crate) fn kind_name(kind: &SignalKind) -> (&'static str, Vec<String>) {
    match kind {
        SignalKind::Continuous => ("continuous", Vec::new()),
        SignalKind::Discrete => ("discrete", Vec::new()),
        SignalKind::Boolean => ("boolean", Vec::new()),
        SignalKind::Integer => ("integer", Vec::new()),
        SignalKind::Enumeration(literals) => ("enumeration", literals.clone()),
    }
}

pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::State => "state",
        Role::Derivative => "derivative",
        Role::Input => "input",
        Role::Output => "output",
        Role::Parameter => "parameter",
        Role::Local => "local",
    }
}

/// Reads a result file, and an event log beside it.
#[pyfunction]
#[pyo3(signature = (path, events))]
pub(crate) fn read(py: Python<'_>, path: PathBuf, events: Option<PathBuf>) -> PyResult<Trajectory> {
    let read = py.detach(|| {
        let mut results = Formats::standard().read(&path, &mut Disk)?;
        if let Some(path) = &events {
            let file = Disk.open(path).map_err(|source| ResultError::Io {
                path: path.clone(),
                action: saltus::results::IoAction::Read,
                source,
            })?;
            results.add_event_log(read_event_log(file, path)?);
        }
        Ok(results)
    });
    let results = read.map_err(|error: ResultError| failure::of_result(py, &error))?;
    Ok(Trajectory::new(Arc::new(results)))
}
