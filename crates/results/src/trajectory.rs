//! A result in memory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::schema::{AliasSign, ColumnId, Schema, Signal, SignalId, Value};
use crate::{EventRecord, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Summary};

/// A result in memory: every column is a slice. Also a [`ResultSink`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    schema: Schema,
    manifest: Manifest,
    summary: Summary,
    time: Vec<f64>,
    kinds: Vec<RowKind>,
    modes: Vec<u32>,
    columns: Vec<Vec<f64>>,
    events: Vec<EventRecord>,
    mode_records: BTreeMap<u32, ModeRecord>,
}

/// One signal of a trajectory with its values.
#[derive(Clone, Debug)]
pub struct SignalView<'a> {
    /// What is known about it.
    pub signal: &'a Signal,
    /// Its value in each row; NaN where dead.
    pub values: Cow<'a, [f64]>,
}

impl Trajectory {
    /// An empty trajectory, to be used as a sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// A trajectory from columns, one per column of the schema; row kinds follow from repeated times.
    pub fn from_columns(
        schema: Schema,
        time: Vec<f64>,
        modes: Vec<u32>,
        columns: Vec<Vec<f64>>,
    ) -> Result<Self, ResultError> {
        let rows = time.len();
        if modes.len() != rows
            || columns.len() != schema.columns().len()
            || columns.iter().any(|column| column.len() != rows)
        {
            return Err(ResultError::Misuse("columns of unequal length"));
        }
        let kinds = kinds_from_times(&time);
        Ok(Self {
            schema,
            time,
            kinds,
            modes,
            columns,
            ..Self::default()
        })
    }

    /// The variables.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What is needed to make it again.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// How the run went.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Times of the rows.
    pub fn time(&self) -> &[f64] {
        &self.time
    }

    /// What each row stands for.
    pub fn kinds(&self) -> &[RowKind] {
        &self.kinds
    }

    /// Mode of each row.
    pub fn modes(&self) -> &[u32] {
        &self.modes
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// The stored values of a column.
    pub fn column(&self, column: ColumnId) -> &[f64] {
        &self.columns[column.index()]
    }

    /// Values of a signal in every row; borrowed unless it is a negated alias or a constant.
    pub fn values(&self, id: SignalId) -> Cow<'_, [f64]> {
        match self.schema.value(id) {
            Value::Column {
                column,
                sign: AliasSign::Same,
            } => Cow::Borrowed(self.column(column)),
            Value::Column { column, sign } => self.column(column).iter().map(|&value| sign.apply(value)).collect(),
            Value::Constant(value) => Cow::Owned(vec![value; self.rows()]),
        }
    }

    /// A signal by name.
    pub fn signal(&self, name: &str) -> Option<SignalView<'_>> {
        let id = self.schema.find(name)?;
        Some(SignalView {
            signal: self.schema.signal(id),
            values: self.values(id),
        })
    }

    /// A signal by name, or an error that names similar ones.
    pub fn require(&self, name: &str) -> Result<SignalView<'_>, ResultError> {
        self.signal(name)
            .ok_or_else(|| crate::select::unknown_variable(&self.schema, name))
    }

    /// Value of a signal at any time: linear between rows, held for step signals, the right limit at an event;
    /// `None` outside the trajectory.
    pub fn value_at(&self, id: SignalId, time: f64) -> Option<f64> {
        let after = self.time.partition_point(|&t| t <= time);
        let before = after.checked_sub(1)?;
        let at = |row: usize| match self.schema.value(id) {
            Value::Column { column, sign } => sign.apply(self.columns[column.index()][row]),
            Value::Constant(value) => value,
        };
        if self.time[before] == time {
            return Some(at(before));
        }
        if after == self.rows() {
            return None;
        }
        let (left, right) = (at(before), at(after));
        if self.schema.signal(id).kind.is_step() {
            return Some(left);
        }
        let fraction = (time - self.time[before]) / (self.time[after] - self.time[before]);
        Some(left + fraction * (right - left))
    }

    /// The events, if they were recorded.
    pub fn events(&self) -> &[EventRecord] {
        &self.events
    }

    /// What the mode numbers stand for.
    pub fn mode_records(&self) -> &BTreeMap<u32, ModeRecord> {
        &self.mode_records
    }

    /// Adds an event log to a trajectory that came without.
    pub fn add_event_log(&mut self, log: crate::EventLog) {
        self.events.extend(log.events);
        self.mode_records
            .extend(log.modes.into_iter().map(|record| (record.mode, record)));
    }

    pub(crate) fn set_manifest(&mut self, manifest: Manifest, summary: Summary) {
        self.mode_records
            .extend(summary.modes.iter().map(|record| (record.mode, record.clone())));
        self.manifest = manifest;
        self.summary = summary;
    }

    /// Sends the whole trajectory to another sink, for instance to write it in another format.
    pub fn replay(&self, sink: &mut dyn ResultSink) -> Result<(), ResultError> {
        sink.begin(&self.schema, &self.manifest)?;
        // What a number stands for is said before its first use, as in a run.
        let mut records = self.mode_records.clone();
        let mut tell = |sink: &mut dyn ResultSink, mode: u32| records.remove(&mode).map_or(Ok(()), |r| sink.mode(&r));
        let mut events = self.events.iter().peekable();
        let mut values = vec![0.0; self.columns.len()];
        for (row, &time) in self.time.iter().enumerate() {
            while let Some(event) = events.next_if(|event| event.time < time) {
                tell(sink, event.from_mode)?;
                tell(sink, event.to_mode)?;
                sink.event(event)?;
            }
            tell(sink, self.modes[row])?;
            for (value, column) in values.iter_mut().zip(&self.columns) {
                *value = column[row];
            }
            sink.row(time, self.kinds[row], self.modes[row], &values)?;
        }
        for event in events {
            tell(sink, event.from_mode)?;
            tell(sink, event.to_mode)?;
            sink.event(event)?;
        }
        records.values().try_for_each(|record| sink.mode(record))?;
        sink.finish(&self.summary)
    }
}

/// The first row whose time is missing or earlier than the one before.
pub(crate) fn disordered_row(time: &[f64]) -> Option<usize> {
    (0..time.len()).find(|&row| !time[row].is_finite() || row > 0 && time[row] < time[row - 1])
}

/// Rows at equal times are the left limit, the instants between and the right limit of an event.
fn kinds_from_times(time: &[f64]) -> Vec<RowKind> {
    (0..time.len())
        .map(|row| {
            let same_before = row > 0 && time[row - 1] == time[row];
            let same_after = row + 1 < time.len() && time[row + 1] == time[row];
            match (same_before, same_after) {
                (false, false) => RowKind::Regular,
                (false, true) => RowKind::EventLeft,
                (true, false) => RowKind::EventRight,
                (true, true) => RowKind::Instant,
            }
        })
        .collect()
}

impl ResultSink for Trajectory {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        *self = Self {
            schema: schema.clone(),
            manifest: manifest.clone(),
            columns: vec![Vec::new(); schema.columns().len()],
            ..Self::default()
        };
        Ok(())
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.mode_records.insert(mode.mode, mode.clone());
        Ok(())
    }

    fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        if values.len() != self.columns.len() {
            return Err(ResultError::Misuse("row of the wrong length"));
        }
        self.time.push(time);
        self.kinds.push(kind);
        self.modes.push(mode);
        for (column, &value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.events.push(event.clone());
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        let manifest = std::mem::take(&mut self.manifest);
        self.set_manifest(manifest, summary.clone());
        Ok(())
    }
}
