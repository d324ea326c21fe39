//! What the session adds to a stream of results: places in the text, time spent writing, the error of a file.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use saltus_mdae::Mdae;
use saltus_results::{
    EventRecord, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Schema, SourceSpan, Summary,
};
use saltus_source::{SourceMap, Span};

/// Passes everything on, with the places of conditions added to events.
pub(crate) struct Annotated<'s> {
    inner: &'s mut dyn ResultSink,
    spans: BTreeMap<String, SourceSpan>,
    pub time: Duration,
    /// The first error, with what a message alone cannot say.
    pub error: Option<ResultError>,
}

impl<'s> Annotated<'s> {
    pub fn new(inner: &'s mut dyn ResultSink, model: &Mdae, sources: &SourceMap) -> Self {
        let mut spans = BTreeMap::new();
        for condition in &model.conditions {
            let span = model.origins.get(condition.origin).and_then(|origin| origin.span);
            if let Some(span) = span.and_then(|span| source_span(span, sources)) {
                spans.entry(condition.text.to_string()).or_insert(span);
            }
        }
        Annotated {
            inner,
            spans,
            time: Duration::ZERO,
            error: None,
        }
    }

    fn timed(&mut self, work: impl FnOnce(&mut dyn ResultSink) -> Result<(), ResultError>) -> Result<(), ResultError> {
        let start = Instant::now();
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

impl ResultSink for Annotated<'_> {
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
        let mut event = event.clone();
        for trigger in &mut event.triggers {
            if trigger.span.is_none() {
                trigger.span = self.spans.get(&trigger.condition).cloned();
            }
        }
        self.timed(|inner| inner.event(&event))
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        self.timed(|inner| inner.flush())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        self.timed(|inner| inner.finish(summary))
    }
}

/// A panic must not lose rows that were computed: they are handed to the operating system while unwinding.
impl Drop for Annotated<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.inner.flush();
        }
    }
}

fn source_span(span: Span, sources: &SourceMap) -> Option<SourceSpan> {
    let file = sources.file(span.file)?;
    let (start, end) = (file.line_column(span.start), file.line_column(span.end));
    Some(SourceSpan {
        file: file.name().to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    })
}
