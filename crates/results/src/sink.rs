//! Where a simulator puts its rows.

use crate::{EventRecord, Manifest, ModeRecord, ResultError, Schema, Summary};

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// A point of a continuous phase.
    #[default]
    Regular,
    /// Left limit at an event.
    EventLeft,
    /// Right limit at an event.
    EventRight,
    /// A super-dense instant between both.
    Instant,
}

/// Receives a result while it is made: `begin`, then `mode`, `row` and `event` in order of time, then `finish`.
///
/// At an event the rows are one `EventLeft`, any number of `Instant`, one `EventRight`, all at the same time.
pub trait ResultSink {
    /// The variables to come. Called once, first.
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError>;

    /// What a mode number stands for. Called before the first row in that mode.
    fn mode(&mut self, _mode: &ModeRecord) -> Result<(), ResultError> {
        Ok(())
    }

    /// Values at one time: one per column of the schema (aliases and constants are left out), NaN for a variable
    /// that is dead in this mode.
    fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError>;

    /// An event. Called after its rows.
    fn event(&mut self, _event: &EventRecord) -> Result<(), ResultError> {
        Ok(())
    }

    /// Hands everything received so far to the operating system.
    fn flush(&mut self) -> Result<(), ResultError> {
        Ok(())
    }

    /// The end, also of a run that failed. Called once, last.
    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError>;
}

macro_rules! forward_sink {
    () => {
        fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
            (**self).begin(schema, manifest)
        }
        fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
            (**self).mode(mode)
        }
        fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
            (**self).row(time, kind, mode, values)
        }
        fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
            (**self).event(event)
        }
        fn flush(&mut self) -> Result<(), ResultError> {
            (**self).flush()
        }
        fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
            (**self).finish(summary)
        }
    };
}

impl<S: ResultSink + ?Sized> ResultSink for &mut S {
    forward_sink!();
}

impl<S: ResultSink + ?Sized> ResultSink for Box<S> {
    forward_sink!();
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl ResultSink for Discard {
    fn begin(&mut self, _: &Schema, _: &Manifest) -> Result<(), ResultError> {
        Ok(())
    }
    fn row(&mut self, _: f64, _: RowKind, _: u32, _: &[f64]) -> Result<(), ResultError> {
        Ok(())
    }
    fn finish(&mut self, _: &Summary) -> Result<(), ResultError> {
        Ok(())
    }
}

/// Feeds several sinks. All of them get every call even if one fails; the first error is returned.
#[derive(Default)]
pub struct Tee<'a> {
    sinks: Vec<Box<dyn ResultSink + 'a>>,
}

impl std::fmt::Debug for Tee<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tee").field("sinks", &self.sinks.len()).finish()
    }
}

impl<'a> Tee<'a> {
    /// A tee with no outlet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sink.
    #[must_use]
    pub fn with(mut self, sink: impl ResultSink + 'a) -> Self {
        self.push(sink);
        self
    }

    /// Adds a sink.
    pub fn push(&mut self, sink: impl ResultSink + 'a) {
        self.sinks.push(Box::new(sink));
    }

    fn each(
        &mut self,
        mut call: impl FnMut(&mut dyn ResultSink) -> Result<(), ResultError>,
    ) -> Result<(), ResultError> {
        let mut first = Ok(());
        for sink in &mut self.sinks {
            let result = call(&mut **sink);
            if first.is_ok() {
                first = result;
            }
        }
        first
    }
}

impl ResultSink for Tee<'_> {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        self.each(|sink| sink.begin(schema, manifest))
    }
    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.each(|sink| sink.mode(mode))
    }
    fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        self.each(|sink| sink.row(time, kind, mode, values))
    }
    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.each(|sink| sink.event(event))
    }
    fn flush(&mut self) -> Result<(), ResultError> {
        self.each(|sink| sink.flush())
    }
    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        self.each(|sink| sink.finish(summary))
    }
}

#[derive(Debug, Default)]
struct HeldRow {
    time: f64,
    kind: RowKind,
    mode: u32,
    values: Vec<f64>,
}

/// Reduces every event instant to exactly two rows: the first left limit and the last right limit, also when an
/// output point falls on the event or several events follow each other at the same time.
///
/// It holds back one row, since only the next one says whether it is needed; `flush` does not release it.
#[derive(Debug)]
pub struct EventRows<S> {
    inner: S,
    held: Option<HeldRow>,
    spare: Vec<f64>,
    left_written: Option<f64>,
}

impl<S: ResultSink> EventRows<S> {
    /// Wraps a sink.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            held: None,
            spare: Vec::new(),
            left_written: None,
        }
    }

    fn hold(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) {
        let mut buffer = std::mem::take(&mut self.spare);
        buffer.clear();
        buffer.extend_from_slice(values);
        self.held = Some(HeldRow {
            time,
            kind,
            mode,
            values: buffer,
        });
    }

    fn release(&mut self) -> Result<(), ResultError> {
        let Some(row) = self.held.take() else {
            return Ok(());
        };
        let result = self.inner.row(row.time, row.kind, row.mode, &row.values);
        self.spare = row.values;
        result
    }

    fn forget_held(&mut self) {
        if let Some(row) = self.held.take() {
            self.spare = row.values;
        }
    }
}

impl<S: ResultSink> ResultSink for EventRows<S> {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        self.inner.begin(schema, manifest)
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.inner.mode(mode)
    }

    fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        let at_event = self.left_written == Some(time);
        match kind {
            RowKind::Instant => Ok(()),
            RowKind::EventLeft if at_event => Ok(()),
            RowKind::EventLeft => {
                if self.held.as_ref().is_some_and(|held| held.time == time) {
                    self.forget_held();
                }
                self.release()?;
                self.left_written = Some(time);
                self.inner.row(time, kind, mode, values)
            }
            RowKind::EventRight => {
                if at_event {
                    self.forget_held();
                }
                self.release()?;
                self.hold(time, kind, mode, values);
                Ok(())
            }
            RowKind::Regular if at_event => Ok(()),
            RowKind::Regular => {
                self.release()?;
                self.hold(time, kind, mode, values);
                Ok(())
            }
        }
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.inner.event(event)
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        self.inner.flush()
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        let released = self.release();
        released.and(self.inner.finish(summary))
    }
}
