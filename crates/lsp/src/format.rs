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
        Some(range) => {
            let (start, end) = whole_lines(&document.text, offset(range.start), offset(range.end));
            format::edits_within(&document.parse, start, end)
        }
        None => format::edits(&document.parse),
    };
    text_edits(world, &edits)
}

/// The lines that a selection touches, with the blanks before them: indentation belongs to what follows. A selection that ends where
/// a line begins does not touch that line.
fn whole_lines(text: &str, start: u32, end: u32) -> (u32, u32) {
    let (before, behind) = (text.get(..start as usize), text.get(end as usize..));
    let line = before.map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    let first = text[..line].trim_end().len() as u32;
    let ends_before_line = end > start && text.get(..end as usize).is_some_and(|before| before.ends_with('\n'));
    if ends_before_line {
        return (first, end);
    }
    let rest = behind.map_or(0, |behind| behind.find('\n').unwrap_or(behind.len()));
    (first, end + rest as u32)
}
