//! An open document.

use std::path::PathBuf;
use std::sync::Arc;

use gen_lsp_types::{TextDocumentContentChangeEvent, Uri};
use saltus::library::{CachedFile, ParseCache, ParsedFile};
use saltus_syntax::Parse;

use crate::position::{Encoding, Lines};

/// A document as the client shows it, parsed.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) path: PathBuf,
    /// As the client counts.
    pub(crate) version: i32,
    pub(crate) text: Arc<str>,
    pub(crate) lines: Arc<Lines>,
    pub(crate) parse: Parse,
    pub(crate) parsed: Arc<ParsedFile>,
    /// Different for every text.
    pub(crate) counter: u64,
}

/// The bit of versions of open documents: see [`crate::overlay`].
const OPEN: u64 = 1 << 63;

impl Document {
    /// Parses a text and leaves it to all who read the file.
    pub(crate) fn new(
        uri: Uri,
        path: PathBuf,
        version: i32,
        text: String,
        cache: &ParseCache,
        counter: u64,
    ) -> Document {
        let text: Arc<str> = text.into();
        let sources = cache.sources();
        let file = sources.add(path.to_string_lossy(), Arc::clone(&text));
        let parse = match sources.file(file) {
            Some(source) => saltus_syntax::parse_file(&source),
            None => saltus_syntax::parse(file, &text),
        };
        let parsed = Arc::new(ParsedFile {
            file,
            definition: parse.ast(),
            is_ok: parse.is_ok(),
        });
        let cached = CachedFile {
            version: counter | OPEN,
            parsed: Arc::clone(&parsed),
            diagnostics: parse.diagnostics.clone(),
        };
        cache.insert(&path, cached);
        Document {
            uri,
            path,
            version,
            lines: Arc::new(Lines::new(&text)),
            text,
            parse,
            parsed,
            counter,
        }
    }

    /// The text after changes, which are applied one after the other.
    pub(crate) fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) -> String {
        let mut text = self.text.to_string();
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => text = whole.text,
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let lines = Lines::new(&text);
                    let start = lines.offset(&text, part.range.start, encoding) as usize;
                    let end = lines.offset(&text, part.range.end, encoding) as usize;
                    text.replace_range(start..end.max(start), &part.text);
                }
            }
        }
        text
    }
}
