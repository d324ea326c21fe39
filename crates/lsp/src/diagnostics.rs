//! What is wrong, in the words of the protocol.

use std::path::Path;

use gen_lsp_types::{Code, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Message};
use saltus::source::{self, Diagnostics, Label, Severity, codes};
use serde_json::json;

use crate::fixes;
use crate::world::World;

/// A diagnostic as the client gets it.
pub(crate) type Shown = Diagnostic;

/// What `saltus check` says of a file, and what runs of its models have found since it was changed.
pub(crate) fn check(world: &World, path: &Path) -> Vec<Diagnostic> {
    let session = world.session_until(path, &world.outdated);
    let mut found = session.check_last().diagnostics;
    // Those about other files of a package are shown in these.
    let here = world.look(path).map(|look| look.parsed.file);
    let is_here = |hint: &source::Diagnostic| hint.span().map(|span| span.file) == here;
    found.extend(session.hints().into_iter().filter(is_here));
    found.extend(world.found_by_runs(path));
    found.normalise();
    of_file(world, path, &found)
}

/// Diagnostics as they are shown in a file. What is wrong elsewhere is shown at the place here that led there, or at the
/// beginning.
pub(crate) fn of_file(world: &World, path: &Path, diagnostics: &Diagnostics) -> Vec<Diagnostic> {
    let Some(look) = world.look(path) else {
        return Vec::new();
    };
    let here = look.parsed.file;
    diagnostics
        .iter()
        .map(|diagnostic| translate(world, diagnostic, here))
        .collect()
}

fn translate(world: &World, diagnostic: &source::Diagnostic, here: source::FileId) -> Diagnostic {
    let labels = || diagnostic.primary.iter().chain(&diagnostic.secondary);
    let shown = labels().find(|label| label.span.file == here);
    let range = shown.and_then(|label| world.range(label.span)).unwrap_or_default();
    let related = labels().filter(|label| !std::ptr::eq(*label, shown.unwrap_or(label)) || shown.is_none());
    let related: Vec<_> = related.filter_map(|label| related_place(world, label)).collect();
    Diagnostic {
        range,
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            Severity::Note => DiagnosticSeverity::Information,
        }),
        code: Some(Code::String(diagnostic.code.as_str().to_owned())),
        code_description: None,
        source: Some("saltus".to_owned()),
        message: Message::String(text(diagnostic, shown)),
        tags: tags(diagnostic),
        related_information: (!related.is_empty()).then_some(related),
        data: fixes::data(world, diagnostic),
    }
}

fn related_place(world: &World, label: &Label) -> Option<DiagnosticRelatedInformation> {
    let message = match label.message.as_str() {
        "" => "here".to_owned(),
        message => message.to_owned(),
    };
    Some(DiagnosticRelatedInformation {
        location: world.location(label.span)?,
        message,
    })
}

/// The message with the remark at its place, the background and the advice, a line each.
fn text(diagnostic: &source::Diagnostic, shown: Option<&Label>) -> String {
    let mut text = diagnostic.message.clone();
    if let Some(label) = shown.filter(|label| !label.message.is_empty()) {
        text.push_str(&format!(": {}", label.message));
    }
    for note in &diagnostic.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    for help in &diagnostic.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

/// What is not used is shown pale.
fn tags(diagnostic: &source::Diagnostic) -> Option<Vec<DiagnosticTag>> {
    (diagnostic.code == codes::W0210).then(|| vec![DiagnosticTag::Unnecessary])
}

/// The explanation of a code, as Markdown.
pub(crate) fn explanation(code: &str) -> serde_json::Value {
    match source::explain(code) {
        Some(explanation) => json!({"code": code, "title": explanation.title, "text": explanation.page}),
        None => serde_json::Value::Null,
    }
}
