//! Diagnostics as text and as JSON. The edges decide where it goes and whether it has colours.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::edit::Fix;
use crate::file::{SourceFile, SourceMap, Span};

/// How text is rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to use terminal colours.
    pub colours: bool,
}

/// Lines longer than this are shown in part: one damaged file must not fill the terminal.
const MAX_LINE: usize = 2000;

/// One diagnostic as text for people, with the source lines it is about; ends with a line end.
pub fn to_text(diagnostic: &Diagnostic, sources: &SourceMap, options: TextOptions) -> String {
    let files = files_of(diagnostic, sources);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    let places = outlined(diagnostic, sources);
    for (name, line, column, _) in &places {
        let origin = Origin::path(name.as_str());
        group = group.element(origin.line(*line as usize).char_column(*column as usize));
    }
    for file in &files {
        group = group.element(snippet(file, diagnostic));
    }
    let remarks: Vec<String> = places
        .iter()
        .filter(|(.., remark)| !remark.is_empty())
        .map(|(name, line, column, remark)| format!("{name}:{line}:{column}: {remark}"))
        .collect();
    for remark in &remarks {
        group = group.element(Level::NOTE.message(remark.as_str()));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if options.colours {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

/// Diagnostics one below the other, with empty lines between them.
pub fn all_to_text<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &SourceMap,
    options: TextOptions,
) -> String {
    let rendered: Vec<String> = diagnostics
        .into_iter()
        .map(|diagnostic| to_text(diagnostic, sources, options))
        .collect();
    rendered.join("\n")
}

/// The files a diagnostic points into, the primary one first.
fn files_of(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Window> {
    let mut ids = Vec::new();
    for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
        if !ids.contains(&label.span.file) {
            ids.push(label.span.file);
        }
    }
    ids.into_iter()
        .filter_map(|id| sources.file(id).filter(|file| !file.is_outline()))
        .map(|file| Window::new(file, diagnostic))
        .collect()
}

/// The places a diagnostic points at in files whose text is not at hand: name, line, column and remark.
fn outlined(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<(String, u32, u32, String)> {
    let labels = diagnostic.primary.iter().chain(&diagnostic.secondary);
    labels
        .filter_map(|label| {
            let file = sources.file(label.span.file).filter(|file| file.is_outline())?;
            let at = file.line_column(label.span.start);
            Some((file.name().to_owned(), at.line, at.column, label.message.clone()))
        })
        .collect()
}

/// The part of a file that is handed to the renderer: from the first line pointed at to the last.
struct Window {
    file: std::sync::Arc<SourceFile>,
    range: Range<usize>,
    first_line: usize,
}

impl Window {
    fn new(file: std::sync::Arc<SourceFile>, diagnostic: &Diagnostic) -> Window {
        let length = file.text().len();
        let labels = diagnostic.primary.iter().chain(&diagnostic.secondary);
        let spans = labels.map(|l| l.span).filter(|s| s.file == file.id());
        let (mut start, mut end) = (length, 0);
        for span in spans {
            start = start.min(span.start as usize);
            end = end.max((span.end as usize).min(length));
        }
        let starts = file.line_starts();
        let first = starts.partition_point(|&s| s as usize <= start).max(1) - 1;
        let behind = starts.partition_point(|&s| s as usize <= end);
        let line_start = starts[first] as usize;
        let line_end = starts.get(behind).map_or(length, |&s| s as usize);
        let range = floor(file.text(), line_start.max(start.saturating_sub(MAX_LINE)))
            ..floor(file.text(), line_end.min(end + MAX_LINE));
        Window {
            file,
            range,
            first_line: first + 1,
        }
    }

    fn text(&self) -> &str {
        &self.file.text()[self.range.clone()]
    }

    /// The span within the window, on character boundaries.
    fn local(&self, span: Span) -> Range<usize> {
        let clamp = |offset: u32| {
            let offset = floor(self.file.text(), offset as usize);
            offset.clamp(self.range.start, self.range.end) - self.range.start
        };
        clamp(span.start)..clamp(span.end)
    }
}

/// The character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn snippet<'a>(window: &'a Window, diagnostic: &'a Diagnostic) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let mut snippet = Snippet::source(window.text())
        .path(window.file.name())
        .line_start(window.first_line)
        .fold(true);
    let primary = diagnostic.primary.iter().map(|l| (AnnotationKind::Primary, l));
    let secondary = diagnostic.secondary.iter().map(|l| (AnnotationKind::Context, l));
    for (kind, label) in primary.chain(secondary) {
        if label.span.file == window.file.id() {
            let annotation = kind.span(window.local(label.span));
            snippet = snippet.annotation(match label.message.as_str() {
                "" => annotation,
                message => annotation.label(message),
            });
        }
    }
    snippet
}

/// One diagnostic as JSON: `code`, `severity`, `message`, `primary`, `secondary`, `notes`, `help`, `fixes`;
/// places have `file`, `start` and `end` with `offset` (bytes), `line` and `column` (from 1).
pub fn to_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    json!({
        "code": diagnostic.code.as_str(),
        "severity": diagnostic.severity.as_str(),
        "message": diagnostic.message,
        "primary": diagnostic.primary.as_ref().map(|l| label_to_json(l, sources)),
        "secondary": diagnostic.secondary.iter()
            .map(|l| label_to_json(l, sources))
            .collect::<Vec<_>>(),
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "fixes": diagnostic.fixes.iter().map(|fix| fix_to_json(fix, sources)).collect::<Vec<_>>(),
    })
}

/// A fix as JSON: `title`, `safe`, `edits`, each a place with the `text` to be put there.
fn fix_to_json(fix: &Fix, sources: &SourceMap) -> Value {
    let edits = fix.edits.iter().map(|edit| {
        let mut value = span_to_json(edit.span, sources);
        value["text"] = json!(edit.text);
        value
    });
    json!({"title": fix.title, "safe": fix.safe, "edits": edits.collect::<Vec<_>>()})
}

/// Diagnostics as a JSON array.
pub fn all_to_json<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>, sources: &SourceMap) -> Value {
    diagnostics.into_iter().map(|d| to_json(d, sources)).collect()
}

fn label_to_json(label: &Label, sources: &SourceMap) -> Value {
    let mut value = span_to_json(label.span, sources);
    value["message"] = json!(label.message);
    value
}

/// A span as JSON.
pub fn span_to_json(span: Span, sources: &SourceMap) -> Value {
    let file = sources.file(span.file);
    let place = |offset: u32| {
        let at = file.as_ref().map(|file| file.line_column(offset));
        json!({
            "offset": offset,
            "line": at.map(|at| at.line),
            "column": at.map(|at| at.column),
        })
    };
    json!({
        "file": file.as_ref().map(|file| file.name()),
        "start": place(span.start),
        "end": place(span.end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    fn example() -> (SourceMap, Diagnostic) {
        let sources = SourceMap::new();
        let file = sources.add("M.mo", "model M\n  Real x\n  Real y;\nend M;\n");
        let diagnostic = Diagnostic::error(codes::E0102, Span::at(file, 16), "missing `;`")
            .with_label("expected `;`")
            .with_secondary(Span::new(file, 6, 7), "in this class")
            .with_help("add it");
        (sources, diagnostic)
    }

    #[test]
    fn text() {
        let (sources, diagnostic) = example();
        let expected = "\
error[E0102]: missing `;`
 --> M.mo:2:9
  |
1 | model M
  |       - in this class
2 |   Real x
  |         ^ expected `;`
  |
  = help: add it
";
        assert_eq!(to_text(&diagnostic, &sources, TextOptions::default()), expected);
        let coloured = to_text(&diagnostic, &sources, TextOptions { colours: true });
        assert!(coloured.contains("\u{1b}["));
    }

    #[test]
    fn json() {
        let (sources, diagnostic) = example();
        let value = to_json(&diagnostic, &sources);
        assert_eq!(value["code"], "E0102");
        assert_eq!(value["primary"]["start"]["line"], 2);
        assert_eq!(value["primary"]["start"]["column"], 9);
        assert_eq!(value["secondary"][0]["message"], "in this class");
    }

    #[test]
    fn places_without_text_are_told() {
        let sources = SourceMap::new();
        let at = |line, column| crate::LineColumn { line, column };
        let file = sources.add_outline("M.mo", vec![(6, at(1, 7)), (16, at(2, 9))]);
        let diagnostic = Diagnostic::error(codes::E0102, Span::at(file, 16), "missing `;`")
            .with_secondary(Span::new(file, 6, 7), "in this class");
        let text = to_text(&diagnostic, &sources, TextOptions::default());
        assert!(text.contains("M.mo:2:9"), "{text}");
        assert!(text.contains("M.mo:1:7: in this class"), "{text}");
        assert_eq!(to_json(&diagnostic, &sources)["primary"]["start"]["line"], 2);
    }

    #[test]
    fn odd_places_are_rendered() {
        let sources = SourceMap::new();
        let text = format!("{}ö{}", "x".repeat(10_000), "y".repeat(10_000));
        let long = sources.add("long.mo", text);
        let empty = sources.add("empty.mo", "");
        for span in [
            Span::new(long, 10_001, 10_001),
            Span::new(long, 3, 99_999),
            Span::new(empty, 0, 0),
            Span::new(empty, 5, 7),
            Span::new(crate::FileId(77), 0, 1),
        ] {
            let diagnostic = Diagnostic::error(codes::E0101, span, "odd");
            let text = to_text(&diagnostic, &sources, TextOptions::default());
            assert!(text.starts_with("error[E0101]: odd"));
            assert!(text.len() < 20_000);
            to_json(&diagnostic, &sources);
        }
    }

    #[test]
    fn order_and_repetition() {
        let (_, late) = example();
        let mut early = late.clone();
        early.primary.as_mut().unwrap().span.start = 3;
        let diagnostics: crate::Diagnostics = [late.clone(), early.clone(), late.clone()].into_iter().collect();
        assert_eq!(diagnostics.into_sorted(), [early, late]);
    }
}
