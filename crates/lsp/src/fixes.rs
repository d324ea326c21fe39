//! Edits that mend what is wrong, as the client keeps them with what it shows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gen_lsp_types::TextEdit;
use saltus::source::{Diagnostic, Edit, Fix};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::world::World;

/// A fix on its way through the client and back.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Sent {
    pub(crate) title: String,
    /// By file: what is wrong may be in another one than that in which it is shown.
    pub(crate) edits: BTreeMap<PathBuf, Vec<TextEdit>>,
}

/// The fixes of a diagnostic as data.
pub(crate) fn data(world: &World, diagnostic: &Diagnostic) -> Option<Value> {
    let sent: Vec<Sent> = diagnostic.fixes.iter().filter_map(|fix| send(world, fix)).collect();
    if sent.is_empty() {
        None
    } else {
        serde_json::to_value(sent).ok()
    }
}

/// Nothing where a file would be changed that is not part of the workspace.
fn send(world: &World, fix: &Fix) -> Option<Sent> {
    let mut edits: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    for edit in &fix.edits {
        let path = PathBuf::from(world.sources().file(edit.span.file)?.name());
        if !world.is_ours(&path) {
            return None;
        }
        let of_file = edits.entry(path).or_default();
        of_file.extend(text_edits(world, std::slice::from_ref(edit))?);
    }
    let title = title(&fix.title);
    Some(Sent { title, edits })
}

/// Edits in the words of the protocol.
pub(crate) fn text_edits(world: &World, edits: &[Edit]) -> Option<Vec<TextEdit>> {
    let edit = |edit: &Edit| -> Option<TextEdit> {
        Some(TextEdit {
            range: world.range(edit.span)?,
            new_text: edit.text.clone(),
        })
    };
    edits.iter().map(edit).collect()
}

/// Menus begin with a capital letter.
fn title(order: &str) -> String {
    let mut letters = order.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
