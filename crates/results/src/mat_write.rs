//! MAT v4 in the `binTrans` layout, streamed.
//!
//! `data_2` comes last and grows by one column per row; its column count in the header and the stop time in
//! `data_1` are brought up to date after every group of rows, so that a killed run leaves a readable file.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::mat4;
use crate::schema::{AliasSign, ColumnId, MODE, Schema, Signal, SignalKind, TIME, Value};
use crate::sidecar::Sidecar;
use crate::{IoAction, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Summary};

/// A killed run loses at most this many rows; each group costs five system calls.
const ROWS_PER_FLUSH: u32 = 64;
/// Wide rows are handed over earlier.
const BYTES_PER_FLUSH: usize = 1 << 18;

/// Writes MAT v4.
#[derive(Debug)]
pub struct MatWriter<W> {
    stream: W,
    path: PathBuf,
    sidecar: Sidecar,
    /// What `data_2` holds after time and mode.
    fields: Vec<(ColumnId, AliasSign)>,
    columns: usize,
    buffer: Vec<u8>,
    buffered_rows: u32,
    written_rows: u32,
    offsets: Offsets,
    first_time: Option<f64>,
    last_time: f64,
}

/// Places in the file that are written again.
#[derive(Debug, Default)]
struct Offsets {
    start_time: u64,
    stop_time: u64,
    row_count: u64,
    end: u64,
}

/// One line of `dataInfo`: table, signed row in it, linear interpolation, nothing beyond the ends.
type Info = [i32; 4];

#[derive(Default)]
struct Tables {
    names: Vec<String>,
    descriptions: Vec<String>,
    info: Vec<Info>,
    constants: Vec<f64>,
    fields: Vec<(ColumnId, AliasSign)>,
}

impl<W: Write + Seek> MatWriter<W> {
    /// Writes to a stream; the path is for messages.
    pub fn new(stream: W, path: impl Into<PathBuf>) -> Self {
        Self {
            stream,
            path: path.into(),
            sidecar: Sidecar::default(),
            fields: Vec::new(),
            columns: 0,
            buffer: Vec::new(),
            buffered_rows: 0,
            written_rows: 0,
            offsets: Offsets::default(),
            first_time: None,
            last_time: 0.0,
        }
    }

    fn too_large(&self, what: &str) -> ResultError {
        ResultError::TooLarge {
            path: self.path.clone(),
            what: what.to_owned(),
        }
    }

    /// Everything in front of the first row.
    fn preamble(&mut self, tables: &Tables) -> Result<Vec<u8>, ResultError> {
        let too_many = || self.too_large("more variables than a MAT file can hold");
        let count = u32::try_from(tables.names.len()).map_err(|_| too_many())?;
        let mut bytes = mat4::header(mat4::TEXT, 4, 11, "Aclass");
        for column in 0..11 {
            bytes.extend(mat4::ACLASS.map(|row| *row.as_bytes().get(column).unwrap_or(&b' ')));
        }
        push_text(&mut bytes, "name", &tables.names);
        push_text(&mut bytes, "description", &tables.descriptions);
        bytes.extend(mat4::header(mat4::INT32, 4, count, "dataInfo"));
        bytes.extend(tables.info.iter().flatten().flat_map(|word| word.to_le_bytes()));
        let rows = tables.constants.len() as u32 + 1;
        bytes.extend(mat4::header(mat4::DOUBLE, rows, 2, "data_1"));
        for (column, offset) in [&mut self.offsets.start_time, &mut self.offsets.stop_time]
            .into_iter()
            .enumerate()
        {
            *offset = bytes.len() as u64;
            bytes.extend((column as f64 * 0.0).to_le_bytes());
            bytes.extend(tables.constants.iter().flat_map(|value| value.to_le_bytes()));
        }
        self.offsets.row_count = bytes.len() as u64 + 8;
        bytes.extend(mat4::header(mat4::DOUBLE, tables.fields.len() as u32 + 2, 0, "data_2"));
        self.offsets.end = bytes.len() as u64;
        Ok(bytes)
    }

    /// Appends the rows first and counts them afterwards, so that the count never promises what is not there.
    fn write_out(&mut self) -> Result<(), ResultError> {
        let result = self.append_and_count();
        self.buffer.clear();
        self.buffered_rows = 0;
        result.map_err(|e| ResultError::io(&self.path, IoAction::Write, e))
    }

    fn append_and_count(&mut self) -> io::Result<()> {
        if self.buffered_rows == 0 {
            return self.stream.flush();
        }
        self.stream.seek(SeekFrom::Start(self.offsets.end))?;
        self.stream.write_all(&self.buffer)?;
        self.stream.flush()?;
        self.offsets.end += self.buffer.len() as u64;
        self.written_rows += self.buffered_rows;
        let count = self.written_rows.to_le_bytes();
        self.patch(self.offsets.row_count, &count)?;
        let start = self.first_time.unwrap_or(0.0).to_le_bytes();
        self.patch(self.offsets.start_time, &start)?;
        self.patch(self.offsets.stop_time, &self.last_time.to_le_bytes())?;
        self.stream.flush()
    }

    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.stream.seek(SeekFrom::Start(offset))?;
        self.stream.write_all(bytes)
    }
}

impl<W: Write + Seek> ResultSink for MatWriter<W> {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        let tables = tables(schema);
        let preamble = self.preamble(&tables)?;
        self.sidecar = Sidecar::begin(schema, manifest);
        self.fields = tables.fields;
        self.columns = schema.columns().len();
        let mut write = || {
            self.stream.seek(SeekFrom::Start(0))?;
            self.stream.write_all(&preamble)?;
            self.stream.flush()
        };
        write().map_err(|e| ResultError::io(&self.path, IoAction::Write, e))
    }

    fn row(&mut self, time: f64, _: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        if values.len() != self.columns {
            return Err(ResultError::Misuse("row of the wrong length"));
        }
        if self.written_rows + self.buffered_rows >= i32::MAX as u32 {
            return Err(self.too_large("more rows than a MAT file can hold"));
        }
        self.first_time.get_or_insert(time);
        self.last_time = time;
        self.buffer.extend(time.to_le_bytes());
        self.buffer.extend(f64::from(mode).to_le_bytes());
        for &(column, sign) in &self.fields {
            self.buffer.extend(sign.apply(values[column.index()]).to_le_bytes());
        }
        self.buffered_rows += 1;
        if self.buffered_rows >= ROWS_PER_FLUSH || self.buffer.len() >= BYTES_PER_FLUSH {
            self.write_out()?;
        }
        Ok(())
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.sidecar.summary.modes.push(mode.clone());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        self.write_out()
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        self.write_out()?;
        self.sidecar.finish(summary);
        let text = self.sidecar.to_json(&self.path)?;
        let length = i32::try_from(text.len()).map_err(|_| self.too_large("too much metadata"))?;
        let mut bytes = mat4::header(mat4::TEXT, 1, length as u32, mat4::METADATA);
        bytes.extend_from_slice(&text);
        let end = self.offsets.end;
        self.patch(end, &bytes)
            .and_then(|()| self.stream.flush())
            .map_err(|e| ResultError::io(&self.path, IoAction::Write, e))
    }
}

fn tables(schema: &Schema) -> Tables {
    let mut tables = Tables::default();
    // Time is in both tables.
    tables.push(TIME, "Time [s]".to_owned(), [0, 1, 0, -1]);
    tables.push(MODE, "Mode [:#(type=Integer)]".to_owned(), [2, 2, 0, -1]);
    // Signals bound to columns have rows 3, 4, … of `data_2`, in order.
    tables.fields = (0..schema.columns().len() as u32)
        .map(|c| (ColumnId(c), AliasSign::Same))
        .collect();
    for id in schema.ids() {
        let (table, row) = match schema.value(id) {
            Value::Column {
                column,
                sign: AliasSign::Same,
            } => (2, column.0 as i32 + 3),
            Value::Column {
                column,
                sign: AliasSign::Negated,
            } => (2, -(column.0 as i32 + 3)),
            // The format has no way to say `not`.
            Value::Column {
                column,
                sign: AliasSign::Not,
            } => {
                tables.fields.push((column, AliasSign::Not));
                (2, tables.fields.len() as i32 + 2)
            }
            Value::Constant(value) => {
                tables.constants.push(value);
                (1, tables.constants.len() as i32 + 1)
            }
        };
        let signal = schema.signal(id);
        tables.push(&signal.name, describe(signal), [table, row, 0, -1]);
    }
    tables
}

impl Tables {
    fn push(&mut self, name: &str, description: String, info: Info) {
        self.names.push(name.to_owned());
        self.descriptions.push(description);
        self.info.push(info);
    }
}

/// Description, unit, display unit and type the way Dymola puts them into one text: `Angle [rad|deg]`.
fn describe(signal: &Signal) -> String {
    let kind = match signal.kind {
        SignalKind::Boolean => ":#(type=Boolean)",
        SignalKind::Integer | SignalKind::Enumeration(_) => ":#(type=Integer)",
        _ => "",
    };
    let Signal {
        description,
        unit,
        display_unit,
        ..
    } = signal;
    let shown = if display_unit.is_empty() {
        String::new()
    } else {
        format!("|{display_unit}")
    };
    if unit.is_empty() && shown.is_empty() && kind.is_empty() && !description.ends_with(']') {
        return description.clone();
    }
    format!("{description} [{unit}{shown}{kind}]")
}

/// One line of text per column, padded with blanks to equal length.
fn push_text(bytes: &mut Vec<u8>, name: &str, lines: &[String]) {
    let width = lines.iter().map(String::len).max().unwrap_or(0).max(1);
    bytes.extend(mat4::header(mat4::TEXT, width as u32, lines.len() as u32, name));
    for line in lines {
        bytes.extend_from_slice(line.as_bytes());
        bytes.resize(bytes.len() + width - line.len(), b' ');
    }
}
