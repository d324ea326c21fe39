//! Edits that mend what is wrong.

use gen_lsp_types::{Range, TextEdit};
use saltus::source::{Diagnostic, Span, codes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::world::World;

/// An edit of the file that a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fix {
    pub(crate) title: String,
    pub(crate) edits: Vec<(Span, String)>,
}

/// A fix on its way through the client and back.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Sent {
    pub(crate) title: String,
    pub(crate) edits: Vec<TextEdit>,
}

/// The fixes of a diagnostic: the only place that knows where they come from.
pub(crate) fn fixes(world: &World, diagnostic: &Diagnostic) -> Vec<Fix> {
    let Some(span) = diagnostic.span() else {
        return Vec::new();
    };
    let fixes = diagnostic
        .help
        .iter()
        .filter_map(|help| mechanical(world, diagnostic, span, help));
    fixes.collect()
}

/// What can be done without thinking: advice that names the text to write.
fn mechanical(world: &World, diagnostic: &Diagnostic, span: Span, help: &str) -> Option<Fix> {
    if let Some(meant) = quoted(help, "did you mean `", "`?") {
        let source = world.sources().file(span.file)?;
        let written = source.slice(span);
        // The place of some is more than the name, which stands in front then; the message says which it is.
        let end = written
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(written.len());
        let name = &written[..end];
        let is_meant = !name.is_empty() && diagnostic.message.contains(&format!("`{name}`"));
        return is_meant.then(|| replace(Span::new(span.file, span.start, span.start + end as u32), meant));
    }
    if let Some(written) = quoted(help, "write `end ", ";`") {
        return (diagnostic.code == codes::E0107).then(|| replace(span, written));
    }
    None
}

fn replace(span: Span, text: &str) -> Fix {
    Fix {
        title: format!("Replace with `{text}`"),
        edits: vec![(span, text.to_owned())],
    }
}

fn quoted<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let inside = text.strip_prefix(before)?.strip_suffix(behind)?;
    (!inside.contains('`')).then_some(inside)
}

/// The fixes of a diagnostic as data that the client keeps with it.
pub(crate) fn data(world: &World, diagnostic: &Diagnostic) -> Option<Value> {
    let sent: Vec<Sent> = fixes(world, diagnostic)
        .iter()
        .filter_map(|fix| send(world, fix))
        .collect();
    if sent.is_empty() {
        None
    } else {
        serde_json::to_value(sent).ok()
    }
}

fn send(world: &World, fix: &Fix) -> Option<Sent> {
    let edit = |(span, text): &(Span, String)| -> Option<TextEdit> {
        let range: Range = world.range(*span)?;
        Some(TextEdit {
            range,
            new_text: text.clone(),
        })
    };
    Some(Sent {
        title: fix.title.clone(),
        edits: fix.edits.iter().map(edit).collect::<Option<_>>()?,
    })
}
