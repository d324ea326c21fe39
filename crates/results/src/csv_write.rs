//! CSV, streamed.
//!
//! Columns are `time`, `$mode`, then every variable, aliases and variables that never change included; parameters
//! and constants are in the metadata beside the file. Rows reach the operating system in groups that end with a line, so that a killed run leaves a readable
//! file.

use std::io::Write;
use std::path::PathBuf;

use crate::schema::{AliasSign, ColumnId, MODE, Role, Schema, TIME, Value};
use crate::sidecar::{Sidecar, SidecarWriter};
use crate::{IoAction, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Stream, Summary};

/// A killed run loses at most this many rows; more would save little, since a group is one system call.
const ROWS_PER_FLUSH: usize = 32;
/// Wide rows are handed over earlier, so that the buffer stays small.
const BYTES_PER_FLUSH: usize = 1 << 16;

/// Writes CSV.
pub struct CsvWriter<W> {
    stream: W,
    path: PathBuf,
    sidecar: Option<(SidecarWriter, Sidecar)>,
    aliases: bool,
    fields: Vec<Field>,
    /// What each field was last written as.
    texts: Vec<Text>,
    columns: usize,
    buffer: Vec<u8>,
    buffered_rows: usize,
}

/// The longest text of a number: sign, seventeen digits, point, exponent.
const LONGEST: usize = 24;

/// A number as text. At an event most variables stay as they are, and what is joined has equal values: copying is quicker
/// than finding the digits again.
#[derive(Copy, Clone)]
struct Text {
    bits: u64,
    length: u8,
    bytes: [u8; LONGEST],
}

impl Text {
    fn new(value: f64) -> Self {
        let mut text = Text {
            bits: value.to_bits(),
            length: 0,
            bytes: [0; LONGEST],
        };
        let mut found = Vec::with_capacity(LONGEST);
        push_number(&mut found, value);
        text.length = found.len() as u8;
        text.bytes[..found.len()].copy_from_slice(&found);
        text
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Where the values of a column of the file come from.
enum Field {
    Column(ColumnId, AliasSign),
    Constant(f64),
}

impl<W: std::fmt::Debug> std::fmt::Debug for CsvWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CsvWriter")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl<W: Write> CsvWriter<W> {
    /// Writes to a stream; the path is for messages.
    pub fn new(stream: W, path: impl Into<PathBuf>) -> Self {
        Self {
            stream,
            path: path.into(),
            sidecar: None,
            aliases: true,
            fields: Vec::new(),
            texts: Vec::new(),
            columns: 0,
            buffer: Vec::new(),
            buffered_rows: 0,
        }
    }

    /// Also writes the metadata, to a stream of its own.
    #[must_use]
    pub fn with_sidecar(mut self, stream: Box<dyn Stream>, path: impl Into<PathBuf>) -> Self {
        self.sidecar = Some((SidecarWriter::new(stream, path.into()), Sidecar::default()));
        self
    }

    /// Leaves the columns of aliases out (they are named in the metadata).
    #[must_use]
    pub fn without_aliases(mut self) -> Self {
        self.aliases = false;
        self
    }

    fn header(&mut self, schema: &Schema) {
        self.buffer.extend_from_slice(TIME.as_bytes());
        self.buffer.push(b',');
        self.buffer.extend_from_slice(MODE.as_bytes());
        for id in schema.ids() {
            let field = match schema.value(id) {
                Value::Column { column, sign } => {
                    if !self.aliases && schema.columns()[column.index()] != id {
                        continue;
                    }
                    Field::Column(column, sign)
                }
                Value::Constant(_) if schema.signal(id).role == Role::Parameter => continue,
                Value::Constant(value) => Field::Constant(value),
            };
            self.fields.push(field);
            self.buffer.push(b',');
            push_quoted(&mut self.buffer, &schema.signal(id).name);
        }
        self.buffer.push(b'\n');
    }

    fn write_out(&mut self) -> Result<(), ResultError> {
        let result = self.stream.write_all(&self.buffer).and_then(|()| self.stream.flush());
        // Also after an error: what was written in part must not be written again.
        self.buffer.clear();
        self.buffered_rows = 0;
        result.map_err(|e| ResultError::io(&self.path, IoAction::Write, e))
    }
}

impl<W: Write> ResultSink for CsvWriter<W> {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        self.fields.clear();
        self.columns = schema.columns().len();
        self.header(schema);
        self.texts = vec![Text::new(0.0); self.fields.len()];
        self.write_out()?;
        if let Some((writer, sidecar)) = &mut self.sidecar {
            *sidecar = Sidecar::begin(schema, manifest);
            writer.write(sidecar)?;
        }
        Ok(())
    }

    fn row(&mut self, time: f64, _: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        if values.len() != self.columns {
            return Err(ResultError::Misuse("row of the wrong length"));
        }
        push_number(&mut self.buffer, time);
        self.buffer.push(b',');
        push_number(&mut self.buffer, f64::from(mode));
        let mut before = Text::new(0.0);
        for (field, text) in self.fields.iter().zip(&mut self.texts) {
            self.buffer.push(b',');
            let value = match *field {
                Field::Column(column, sign) => sign.apply(values[column.index()]),
                Field::Constant(value) => value,
            };
            if text.bits != value.to_bits() {
                *text = if before.bits == value.to_bits() {
                    before
                } else {
                    Text::new(value)
                };
            }
            self.buffer.extend_from_slice(text.bytes());
            before = *text;
        }
        self.buffer.push(b'\n');
        self.buffered_rows += 1;
        if self.buffered_rows >= ROWS_PER_FLUSH || self.buffer.len() >= BYTES_PER_FLUSH {
            self.write_out()?;
        }
        Ok(())
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        if let Some((_, sidecar)) = &mut self.sidecar {
            sidecar.summary.modes.push(mode.clone());
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        self.write_out()
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        self.write_out()?;
        if let Some((writer, sidecar)) = &mut self.sidecar {
            sidecar.finish(summary);
            writer.write(sidecar)?;
        }
        Ok(())
    }
}

/// Quotes a field where RFC 4180 asks for it.
fn push_quoted(buffer: &mut Vec<u8>, field: &str) {
    // A leading `#` or blank is legal bare, but readers take the one for a comment and strip the other.
    let trimmed = field.trim() != field || field.is_empty() || field.starts_with('#');
    if !trimmed && !field.contains([',', '"', '\n', '\r', ';', '\t']) {
        return buffer.extend_from_slice(field.as_bytes());
    }
    buffer.push(b'"');
    for byte in field.bytes() {
        if byte == b'"' {
            buffer.push(b'"');
        }
        buffer.push(byte);
    }
    buffer.push(b'"');
}

/// The shortest text that reads back as the same number; nothing for NaN.
fn push_number(buffer: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        return;
    }
    if value.is_infinite() {
        return buffer.extend_from_slice(if value > 0.0 { b"inf" } else { b"-inf" });
    }
    let mut text = zmij::Buffer::new();
    let text = text.format_finite(value);
    buffer.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Signal, SignalId};

    #[test]
    fn numbers_are_short_and_exact() {
        let text = |value| {
            let mut buffer = Vec::new();
            push_number(&mut buffer, value);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(text(1.0), "1");
        assert_eq!(text(0.1), "0.1");
        assert_eq!(text(f64::NAN), "");
        assert_eq!(text(1e300).parse::<f64>().unwrap(), 1e300);
        assert_eq!(text(5e-324).parse::<f64>().unwrap(), 5e-324);
    }

    #[test]
    fn values_that_stay_or_are_equal_are_written_as_they_are() {
        let schema = Schema::new((0..3).map(|at| Signal::new(format!("x{at}"))).collect()).unwrap();
        let rows = [
            [0.0, -0.0, f64::NAN],
            [0.1, 0.1, f64::NAN],
            [0.1, 0.2, -2.2250738585072014e-308],
            [-1.7976931348623157e308, 0.2, 0.2],
            [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0],
        ];
        let mut bytes = Vec::new();
        let mut writer = CsvWriter::new(&mut bytes, "x.csv");
        writer.begin(&schema, &Manifest::default()).unwrap();
        for row in &rows {
            writer.row(1.0, RowKind::Regular, 0, row).unwrap();
        }
        writer.finish(&Summary::default()).unwrap();
        drop(writer);
        let text = String::from_utf8(bytes).unwrap();
        let plain = |value: f64| {
            let mut buffer = Vec::new();
            push_number(&mut buffer, value);
            String::from_utf8(buffer).unwrap()
        };
        let expected = rows.iter().map(|row| format!("1,0,{}", row.map(plain).join(",")));
        let found: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(found, expected.collect::<Vec<_>>());
    }

    #[test]
    fn the_file_is_as_documented() {
        let schema = Schema::new(vec![
            Signal::new("A[1,2]"),
            Signal::alias("y", SignalId(0), AliasSign::Negated),
            Signal::constant("p", 1.0),
            Signal::new("say \"x\""),
        ])
        .unwrap();
        let mut bytes = Vec::new();
        let mut writer = CsvWriter::new(&mut bytes, "out.csv");
        writer.begin(&schema, &Manifest::default()).unwrap();
        writer.row(0.0, RowKind::Regular, 3, &[0.0, f64::NAN]).unwrap();
        writer.row(0.5, RowKind::Regular, 3, &[1.5, 1.0]).unwrap();
        writer.finish(&Summary::default()).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "time,$mode,\"A[1,2]\",y,\"say \"\"x\"\"\"\n0,3,0,0,\n0.5,3,1.5,-1.5,1\n"
        );
    }
}
