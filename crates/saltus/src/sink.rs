//! What the session adds to a stream of results: the time spent writing, the error of a file.

use std::time::Duration;

use saltus_results::{EventRecord, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Schema, Summary};
use saltus_simulate::Stopwatch;

/// Passes everything on.
pub(crate) struct Timed<'s> {
    inner: &'s mut dyn ResultSink,
    pub time: Duration,
    /// The first error, with what a message alone cannot say.
    pub error: Option<ResultError>,
}

impl<'s> Timed<'s> {
    pub(crate) fn new(inner: &'s mut dyn ResultSink) -> Self {
        Timed {
            inner,
            time: Duration::ZERO,
            error: None,
        }
    }

    fn timed(&mut self, work: impl FnOnce(&mut dyn ResultSink) -> Result<(), ResultError>) -> Result<(), ResultError> {
        let start = Stopwatch::start();
        let result = work(self.inner);
        self.time += start.elapsed();
        result.map_err(|error| {
            // The run keeps the words; the error itself stays here.
            let words = ResultError::Misuse("see the error that was kept");
            self.error.get_or_insert(error);
            words
        })
    }
}

impl ResultSink for Timed<'_> {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        self.timed(|inner| inner.begin(schema, manifest))
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.timed(|inner| inner.mode(mode))
    }

    fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        self.timed(|inner| inner.row(time, kind, mode, values))
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.timed(|inner| inner.event(event))
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        self.timed(|inner| inner.flush())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        self.timed(|inner| inner.finish(summary))
    }
}

/// A panic must not lose rows that were computed: they are handed to the operating system while unwinding.
impl Drop for Timed<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.inner.flush();
        }
    }
}
