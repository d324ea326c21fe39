//! A run as a page: what the page says beside the numbers.

use std::collections::BTreeSet;

use saltus_report::{Context, Message, PageOptions, SourceText, page};
use saltus_results::{ResultError, Trajectory};
use saltus_source::render::{TextOptions, to_text};
use saltus_source::{Diagnostic, FileId, SourceFile};

use crate::{Model, RunSummary, Simulation, built_in};

impl Simulation {
    /// The run as one interactive page (HTML) that loads nothing from anywhere.
    ///
    /// ```
    /// use saltus::report::PageOptions;
    ///
    /// let session = saltus::Session::new();
    /// session.add_text("M.mo", "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    /// let model = session.compile("M").into_result().unwrap();
    /// let simulation = model.run().simulate().unwrap();
    /// let html = simulation.report(&model, &PageOptions::default()).unwrap();
    /// assert!(html.starts_with("<!doctype html>") && html.contains("equation der(x) = -x;"));
    /// ```
    pub fn report(&self, model: &Model, options: &PageOptions) -> Result<String, ResultError> {
        page(
            &self.trajectory,
            &model.report_context(&self.trajectory, &self.summary),
            options,
        )
    }
}

impl Model {
    /// What a page tells of a run beside its numbers: text, warnings, why it failed.
    pub fn report_context(&self, result: &Trajectory, summary: &RunSummary) -> Context {
        let from_diagnostic = |diagnostic: &Diagnostic| Message {
            severity: diagnostic.severity.as_str().to_owned(),
            text: to_text(diagnostic, self.sources(), TextOptions { colours: false }),
        };
        let warnings = summary.report.warnings.iter().map(|warning| Message {
            severity: "warning".to_owned(),
            text: format!("warning: {warning}"),
        });
        let diagnostics = summary
            .failure
            .iter()
            .chain(self.warnings().iter())
            .map(from_diagnostic);
        Context {
            sources: self.report_sources(result),
            messages: diagnostics.chain(warnings).collect(),
            ..Context::default()
        }
    }

    /// The files of the model itself, then those of conditions that triggered events.
    fn report_sources(&self, result: &Trajectory) -> Vec<SourceText> {
        let own = self
            .equations()
            .origins
            .iter()
            .filter(|origin| origin.component.is_empty());
        let own: BTreeSet<FileId> = own.filter_map(|origin| Some(origin.span?.file)).collect();
        let triggers = result.events().iter().flat_map(|event| &event.triggers);
        let triggering: BTreeSet<&str> = triggers
            .filter_map(|t| t.span.as_ref())
            .map(|span| span.file.as_str())
            .collect();
        let all = || (0..self.sources().len() as u32).map(FileId);
        let is_own = |id: &FileId| own.contains(id);
        let wanted = |file: &SourceFile| triggering.contains(file.name()) && !file.name().starts_with(built_in::FOLDER);
        let others = all().filter(|id| !is_own(id) && self.sources().file(*id).is_some_and(|file| wanted(&file)));
        let files = all()
            .filter(is_own)
            .chain(others)
            .filter_map(|id| self.sources().file(id));
        files
            .filter(|file| !file.is_outline())
            .map(|file| SourceText {
                name: file.name().to_owned(),
                text: file.text().to_owned(),
            })
            .collect()
    }
}
