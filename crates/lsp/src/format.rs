//! Formatting: what `saltus fmt` does.

use gen_lsp_types::{Range, TextEdit};
use saltus::format;

use crate::document::Document;
use crate::fixes::text_edits;
use crate::world::World;

/// What to change in a document, or in a part of it; nothing where its text has syntax errors.
pub(crate) fn edits(world: &World, document: &Document, range: Option<&Range>) -> Option<Vec<TextEdit>> {
    let offset = |position| document.lines.offset(&document.text, position, world.encoding);
    let edits = match range {
        Some(range) => format::edits_within(&document.parse, offset(range.start), offset(range.end)),
        None => format::edits(&document.parse),
    };
    text_edits(world, &edits)
}
