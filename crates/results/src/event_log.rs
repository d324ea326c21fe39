//! The event log: JSON lines, one per event, and one that explains each mode number before its first use.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{EventRecord, IoAction, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Schema, Summary};

/// Writes the event log. Every line is handed to the operating system at once.
#[derive(Debug)]
pub struct EventLogWriter<W> {
    stream: W,
    path: PathBuf,
}

impl<W: Write> EventLogWriter<W> {
    /// Writes to a stream; the path is for messages.
    pub fn new(stream: W, path: impl Into<PathBuf>) -> Self {
        Self {
            stream,
            path: path.into(),
        }
    }

    fn line<T: Serialize>(&mut self, record: &T) -> Result<(), ResultError> {
        let error = |source| ResultError::io(&self.path, IoAction::Write, source);
        let mut line = serde_json::to_vec(record).map_err(|e| error(e.into()))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(error)?;
        self.stream.flush().map_err(error)
    }
}

impl<W: Write> ResultSink for EventLogWriter<W> {
    fn begin(&mut self, _: &Schema, _: &Manifest) -> Result<(), ResultError> {
        Ok(())
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.line(mode)
    }

    fn row(&mut self, _: f64, _: RowKind, _: u32, _: &[f64]) -> Result<(), ResultError> {
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.line(event)
    }

    fn finish(&mut self, _: &Summary) -> Result<(), ResultError> {
        Ok(())
    }
}

/// The content of an event log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventLog {
    /// The events, in order.
    pub events: Vec<EventRecord>,
    /// What the mode numbers stand for.
    pub modes: Vec<ModeRecord>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Event(EventRecord),
    Mode(ModeRecord),
}

/// Reads an event log; an incomplete last line (of a killed run) is left out.
pub fn read_event_log(mut stream: impl Read, path: &Path) -> Result<EventLog, ResultError> {
    let mut bytes = Vec::new();
    stream
        .read_to_end(&mut bytes)
        .map_err(|e| ResultError::io(path, IoAction::Read, e))?;
    let mut log = EventLog::default();
    let complete = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
    for (number, line) in (1u64..).zip(bytes[..complete].split(|&b| b == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(Line::Event(event)) => log.events.push(event),
            Ok(Line::Mode(mode)) => log.modes.push(mode),
            Err(error) => {
                let what = format!("line {number} is not an event: {error}");
                return Err(ResultError::malformed(path, number, what));
            }
        }
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Impulse, Jump, Trigger};

    fn example() -> EventRecord {
        EventRecord {
            time: 1.25,
            instant: 0,
            from_mode: 1,
            to_mode: 2,
            triggers: vec![Trigger {
                condition: "pre(s) <= 0".into(),
                span: None,
            }],
            impulses: vec![Impulse {
                variable: "lambda".into(),
                order: 1,
                weight: -0.5,
            }],
            jumps: vec![Jump {
                variable: "der(x)".into(),
                left: f64::NAN,
                right: 2.0,
            }],
        }
    }

    #[test]
    fn lines_are_as_documented() {
        let mut bytes = Vec::new();
        let mut writer = EventLogWriter::new(&mut bytes, "events.json");
        writer.event(&example()).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "{\"t\":1.25,\"n\":0,\"from\":1,\"to\":2,\
             \"triggers\":[{\"condition\":\"pre(s) <= 0\",\"span\":null}],\
             \"impulses\":[{\"variable\":\"lambda\",\"order\":1,\"weight\":-0.5}],\
             \"jumps\":[{\"variable\":\"der(x)\",\"left\":null,\"right\":2.0}]}\n"
        );
    }

    #[test]
    fn any_prefix_is_readable() {
        let mut bytes = Vec::new();
        let mut writer = EventLogWriter::new(&mut bytes, "events.json");
        let mode = ModeRecord {
            mode: 2,
            label: "contact".into(),
            valuation: vec![("s <= 0".into(), true)],
            since: None,
            structure: Some(crate::ModeShape {
                index: 3,
                states: 1,
                first_states: vec!["s".into()],
            }),
        };
        writer.mode(&mode).unwrap();
        writer.event(&example()).unwrap();
        writer.event(&example()).unwrap();
        for length in 0..=bytes.len() {
            let log = read_event_log(&bytes[..length], Path::new("events.json")).unwrap();
            let lines = bytes[..length].iter().filter(|&&b| b == b'\n').count();
            assert_eq!(log.events.len() + log.modes.len(), lines);
        }
        let log = read_event_log(&bytes[..], Path::new("events.json")).unwrap();
        assert_eq!(log.modes, [mode]);
        assert_eq!(log.events[1].impulses, example().impulses);
        assert!(log.events[1].jumps[0].left.is_nan());
    }

    #[test]
    fn garbage_is_an_error_with_its_line() {
        let error = read_event_log(&b"\n{\"t\":true}\n"[..], Path::new("e.json")).unwrap_err();
        assert!(matches!(error, ResultError::Malformed { position: 2, .. }), "{error}");
    }
}
