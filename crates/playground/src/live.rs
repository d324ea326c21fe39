//! Rows on their way into memory, and the picture of those that are there.

use saltus::results::figure::{FigureOptions, figure};
use saltus::results::{
    EventRecord, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Schema, Summary, Trajectory,
};

/// Who is told of a run while it goes on.
pub trait Host {
    /// Whether it is time for another picture.
    fn is_due(&mut self) -> bool;
    /// The curves so far, as SVG, and the time reached.
    fn picture(&mut self, svg: &str, time: f64);
}

/// A host that does not look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Host for Unwatched {
    fn is_due(&mut self) -> bool {
        false
    }

    fn picture(&mut self, _: &str, _: f64) {}
}

/// Numbers that are kept at most: a page has 4 GB in all, and the report is made beside them.
pub(crate) const MOST_NUMBERS: usize = 30_000_000;

/// Keeps rows, up to a limit, and shows them on the way.
pub(crate) struct Live<'h> {
    pub(crate) rows: Trajectory,
    host: &'h mut dyn Host,
    most_numbers: usize,
}

impl<'h> Live<'h> {
    pub(crate) fn new(host: &'h mut dyn Host, most_numbers: usize) -> Self {
        Live {
            rows: Trajectory::new(),
            host,
            most_numbers,
        }
    }

    fn show(&mut self, time: f64) {
        let options = FigureOptions::default();
        // What cannot be drawn yet is drawn later.
        if let Ok(figure) = figure(&self.rows, &options) {
            self.host.picture(&figure.to_svg(), time);
        }
    }
}

impl ResultSink for Live<'_> {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        self.rows.begin(schema, manifest)
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.rows.mode(mode)
    }

    fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        if self.rows.rows().saturating_mul(values.len() + 1) > self.most_numbers {
            return Err(ResultError::TooLarge {
                path: "the memory of a page".into(),
                what: format!("{} numbers", self.most_numbers),
            });
        }
        self.rows.row(time, kind, mode, values)?;
        if self.host.is_due() {
            self.show(time);
        }
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.rows.event(event)
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        self.rows.finish(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::Session;

    #[test]
    fn a_run_ends_where_its_rows_are_too_many() {
        let session = Session::new();
        session.add_text(
            "M.mo",
            "model M Real x(start = 0, fixed = true); equation der(x) = 1; end M;",
        );
        let model = session.compile("M").into_result().unwrap();
        let mut host = Unwatched;
        let mut live = Live::new(&mut host, 300);
        let summary = model.run().stop(1e9).interval(1.0).simulate_into(&mut live);
        assert!(matches!(summary.output_error, Some(ResultError::TooLarge { .. })));
        assert!((50..=300).contains(&live.rows.rows()), "{} rows", live.rows.rows());
    }
}
