//! Edits that mend what is wrong, as the client keeps them with what it shows.

use gen_lsp_types::TextEdit;
use saltus::source::{Diagnostic, Edit, Fix};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::world::World;

/// A fix on its way through the client and back.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Sent {
    pub(crate) title: String,
    pub(crate) edits: Vec<TextEdit>,
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

fn send(world: &World, fix: &Fix) -> Option<Sent> {
    Some(Sent {
        title: title(&fix.title),
        edits: text_edits(world, &fix.edits)?,
    })
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
