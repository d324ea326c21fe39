//! The file table: real and in-memory files, and the way from offsets to lines.

use std::fmt;
use std::sync::{Arc, OnceLock, RwLock};

use serde::{Deserialize, Serialize};

use crate::decode::{Decoded, decode};

/// Index of a file in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u32);

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file{}", self.0)
    }
}

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "StoredSpan")]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

/// A span that was read and not yet looked at.
#[derive(Deserialize)]
struct StoredSpan {
    file: FileId,
    start: u32,
    end: u32,
}

impl TryFrom<StoredSpan> for Span {
    type Error = &'static str;

    fn try_from(StoredSpan { file, start, end }: StoredSpan) -> Result<Self, Self::Error> {
        if start > end {
            return Err("a place that ends before it begins");
        }
        Ok(Span { file, start, end })
    }
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        debug_assert!(start <= end);
        Span { file, start, end }
    }

    /// The empty range at `offset`.
    pub fn at(file: FileId, offset: u32) -> Span {
        Span::new(file, offset, offset)
    }

    /// The smallest range that covers both; `other` is ignored if it lies in another file.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span::new(self.file, self.start.min(other.start), self.end.max(other.end))
    }

    /// The empty range at the end of this one.
    #[must_use]
    pub fn end_point(self) -> Span {
        Span::at(self.file, self.end)
    }

    /// Number of bytes covered.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether no byte is covered.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}..{}", self.file, self.start, self.end)
    }
}

/// A place as people count it: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One file: its name, its text, and what its bytes were.
#[derive(Debug)]
pub struct SourceFile {
    id: FileId,
    name: String,
    decoded: Decoded,
    line_starts: OnceLock<Vec<u32>>,
    /// Lines and columns of some offsets, ascending, for a file whose text was left out.
    outline: Option<Vec<(u32, LineColumn)>>,
}

impl SourceFile {
    /// The index of this file in its table.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// The path, or a name such as `<stdin>` for text that is on no disk.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as it is parsed, byte-order mark included.
    pub fn text(&self) -> &str {
        &self.decoded.text
    }

    /// The text, to be kept without copying it.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.decoded.text)
    }

    /// Whether the text was left out: there are lines and columns only.
    pub fn is_outline(&self) -> bool {
        self.outline.is_some()
    }

    /// How the bytes became text.
    pub fn decoded(&self) -> &Decoded {
        &self.decoded
    }

    /// The range of the whole file.
    pub fn span(&self) -> Span {
        Span::new(self.id, 0, self.text().len() as u32)
    }

    /// The text of `span`, empty if the span does not fit the file.
    pub fn slice(&self, span: Span) -> &str {
        self.text().get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Offsets at which lines start; found at the first use.
    pub fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = self
                .text()
                .bytes()
                .enumerate()
                .filter(|&(_, byte)| byte == b'\n')
                .map(|(offset, _)| offset as u32 + 1);
            std::iter::once(0).chain(newlines).collect()
        })
    }

    /// Line and column of an offset; offsets behind the end count as the end. Without text: those of the last known
    /// offset up to this one.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        if let Some(outline) = &self.outline {
            let known = outline.partition_point(|&(known, _)| known <= offset);
            let first = LineColumn { line: 1, column: 1 };
            return known.checked_sub(1).map_or(first, |at| outline[at].1);
        }
        let text = self.text();
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let starts = self.line_starts();
        let line = starts.partition_point(|&start| start as usize <= offset);
        let start = starts[line - 1] as usize;
        let column = text[start..offset].chars().filter(|&c| c != '\u{feff}').count();
        LineColumn {
            line: line as u32,
            column: column as u32 + 1,
        }
    }
}

/// The table of all files that take part, on disk or not.
///
/// Files are only ever added, so the table can be shared: adding needs no exclusive access.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: RwLock<Vec<Arc<SourceFile>>>,
}

impl SourceMap {
    /// An empty table.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds text that is known to be UTF-8.
    pub fn add(&self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.add_decoded(name.into(), Decoded::utf8(text.into()), None)
    }

    /// Adds the bytes of a file, in whatever encoding they are; see [`decode`].
    pub fn add_bytes(&self, name: impl Into<String>, bytes: Vec<u8>) -> FileId {
        self.add_decoded(name.into(), decode(bytes), None)
    }

    /// Adds a file whose text is not at hand: lines and columns of the offsets that matter, ascending.
    pub fn add_outline(&self, name: impl Into<String>, places: Vec<(u32, LineColumn)>) -> FileId {
        self.add_decoded(name.into(), Decoded::utf8("".into()), Some(places))
    }

    fn add_decoded(&self, name: String, decoded: Decoded, outline: Option<Vec<(u32, LineColumn)>>) -> FileId {
        let mut files = self.files.write().unwrap_or_else(|e| e.into_inner());
        let id = FileId(files.len() as u32);
        files.push(Arc::new(SourceFile {
            id,
            name,
            decoded,
            line_starts: OnceLock::new(),
            outline,
        }));
        id
    }

    /// Lets the text of a file go that nobody needs any more; its index and its name stay.
    pub fn forget(&self, id: FileId) {
        let mut files = self.files.write().unwrap_or_else(|e| e.into_inner());
        if let Some(file) = files.get_mut(id.0 as usize) {
            *file = Arc::new(SourceFile {
                id,
                name: file.name.clone(),
                decoded: Decoded::utf8("".into()),
                line_starts: OnceLock::new(),
                outline: Some(Vec::new()),
            });
        }
    }

    /// The file with this index. An index from another table yields `None` or another file.
    pub fn file(&self, id: FileId) -> Option<Arc<SourceFile>> {
        let files = self.files.read().unwrap_or_else(|e| e.into_inner());
        files.get(id.0 as usize).cloned()
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.read().unwrap_or_else(|e| e.into_inner()).len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Line and column at which `span` starts.
    pub fn line_column(&self, span: Span) -> Option<LineColumn> {
        Some(self.file(span.file)?.line_column(span.start))
    }
}
