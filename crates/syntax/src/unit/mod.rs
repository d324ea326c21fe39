//! Units: the classes of a library in one file, read without a parser, with or without their text.
//!
//! A unit holds for each Modelica file of a package its syntax tree, for each package folder its `package.order`, and the files
//! that models of the package read. Inside it has the same paths as the folder of the package, so that everything is found in a
//! unit as it would be in the folder; [`Units`](crate::library::Units) shows it as one. Trees are read one by one, when they are first needed.
//!
//! Nothing in a unit is trusted: each part has a checksum against damage, and whatever the bytes are, reading gives a syntax tree
//! that text could have given, or an error.

mod bytes;
mod tree;
mod writer;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use saltus_source::{FileId, LineColumn, SourceMap};

use crate::ast::{
    ClassDefinition, ClassModification, ComponentClause, ConstrainingClause, Expr, StoredDefinition, Subscript,
};
use bytes::{Damaged, Places, Reader, Writer};
use tree::Stored;
pub use writer::{UnitOptions, WrittenUnit};

/// How names of units end.
pub const SUFFIX: &str = ".saltus-unit";

/// What every unit begins with.
const MAGIC: &[u8; 8] = b"SALTUSU\0";
/// Changes with every change of what is written.
const FORMAT: u32 = 2;
const LENGTH_AT: usize = MAGIC.len() + size_of::<u32>();
const LIST_AT: usize = LENGTH_AT + size_of::<u32>();
/// A part is at most this long, as source files are.
const MOST_BYTES: usize = 256 << 20;
/// The compression cannot do better than this, so a part that claims more is damaged.
const MOST_COMPRESSION: usize = 1040;

/// Why bytes are not a unit, or a unit cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// There is no file, or it cannot be read.
    Unreadable(std::io::ErrorKind),
    /// They do not begin as units do.
    NoUnit,
    /// Another format: written by an older or a newer program.
    Format(u32),
    /// The bytes are not what was written.
    Damaged,
    /// The unit holds no text of this file.
    TextLeftOut,
    /// A file of the package cannot be read or is wrong.
    Wrong(PathBuf),
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnitError::Unreadable(kind) => kind.fmt(f),
            UnitError::NoUnit => f.write_str("it is not a unit of classes"),
            UnitError::Format(found) => write!(
                f,
                "it is a unit of format {found}, this program reads format {FORMAT}: make it again from its sources"
            ),
            UnitError::Damaged => f.write_str("the unit is damaged: make it again from its sources"),
            UnitError::TextLeftOut => f.write_str("the unit was made without the text of its classes"),
            UnitError::Wrong(file) => write!(f, "`{}` has errors", file.display()),
        }
    }
}

impl std::error::Error for UnitError {}

impl From<Damaged> for UnitError {
    fn from(Damaged: Damaged) -> UnitError {
        UnitError::Damaged
    }
}

impl From<UnitError> for std::io::Error {
    fn from(error: UnitError) -> std::io::Error {
        match error {
            UnitError::Unreadable(kind) => kind.into(),
            error => std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        }
    }
}

/// What a part of a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PartKind {
    /// The syntax tree of a Modelica file.
    Tree,
    /// The text of a Modelica file, or the content of another one.
    Content,
    /// Where the lines of a text that is left out begin.
    Lines,
}

/// A part: where it is among the bytes behind the list, compressed.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    length: usize,
    /// Before compression.
    size: usize,
}

/// The classes of a library in one file.
#[derive(Debug)]
pub struct Unit {
    bytes: Vec<u8>,
    parts: BTreeMap<(PathBuf, PartKind), Part>,
}

/// A syntax tree that lies in a unit, and what is known of its text.
#[derive(Debug)]
pub struct StoredTree {
    tree: Vec<u8>,
    text: Text,
}

#[derive(Debug)]
enum Text {
    Whole(Vec<u8>),
    Lines(Vec<(u32, LineColumn)>),
}

impl Unit {
    /// A unit from its bytes. Only the list of its parts is looked at.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Unit, UnitError> {
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map(u32::from_le_bytes)
        };
        if !bytes.starts_with(MAGIC) {
            return Err(UnitError::NoUnit);
        }
        match number(MAGIC.len()).ok_or(UnitError::Damaged)? {
            FORMAT => {}
            other => return Err(UnitError::Format(other)),
        }
        let length = number(LENGTH_AT).ok_or(UnitError::Damaged)? as usize;
        let list = LIST_AT.checked_add(length).and_then(|end| bytes.get(LIST_AT..end));
        let list = list.ok_or(UnitError::Damaged)?;
        let limit = list.len().saturating_mul(MOST_COMPRESSION).min(MOST_BYTES);
        let list = decompress_to_vec_zlib_with_limit(list, limit).map_err(|_| UnitError::Damaged)?;
        let parts = read_list(&list, LIST_AT + length, bytes.len())?;
        Ok(Unit { bytes, parts })
    }

    /// Whether there is a file of this path, from the folder of the package.
    pub(crate) fn has_file(&self, path: &Path) -> bool {
        [PartKind::Tree, PartKind::Content]
            .iter()
            .any(|&kind| self.parts.contains_key(&(path.to_owned(), kind)))
    }

    /// The paths of the files below a folder, both from the folder of the package, sorted. A file may be there twice.
    pub(crate) fn files_below<'u>(&'u self, folder: &'u Path) -> impl Iterator<Item = &'u Path> {
        let first = (folder.to_owned(), PartKind::Tree);
        let files = self
            .parts
            .range(first..)
            .filter(|((_, kind), _)| *kind != PartKind::Lines);
        files
            .map(|((path, _), _)| path.as_path())
            .take_while(move |path| path.starts_with(folder))
            .filter(move |&path| path != folder)
    }

    /// The content of a file.
    pub(crate) fn content(&self, path: &Path) -> Result<Option<Vec<u8>>, UnitError> {
        match self.part(path, PartKind::Content)? {
            None if self.has_file(path) => Err(UnitError::TextLeftOut),
            content => Ok(content),
        }
    }

    /// The syntax tree of a Modelica file.
    pub(crate) fn tree(&self, path: &Path) -> Result<Option<StoredTree>, UnitError> {
        let Some(tree) = self.part(path, PartKind::Tree)? else {
            return Ok(None);
        };
        let text = match self.part(path, PartKind::Content)? {
            Some(text) => Text::Whole(text),
            None => Text::Lines(read_lines(&self.part(path, PartKind::Lines)?.unwrap_or_default())?),
        };
        Ok(Some(StoredTree { tree, text }))
    }

    fn part(&self, path: &Path, kind: PartKind) -> Result<Option<Vec<u8>>, UnitError> {
        let Some(part) = self.parts.get(&(path.to_owned(), kind)) else {
            return Ok(None);
        };
        let compressed = &self.bytes[part.start..part.start + part.length];
        let content = decompress_to_vec_zlib_with_limit(compressed, part.size);
        let content = content.ok().filter(|content| content.len() == part.size);
        content.map(Some).ok_or(UnitError::Damaged)
    }
}

impl StoredTree {
    /// Adds the file to the table of files and reads its tree.
    pub(crate) fn read(self, sources: &SourceMap, name: &str) -> Result<(FileId, StoredDefinition), UnitError> {
        let file = match self.text {
            Text::Whole(text) => sources.add_bytes(name, text),
            Text::Lines(lines) => sources.add_outline(name, lines),
        };
        let mut reader = Reader::new(&self.tree, file)?;
        let definition = StoredDefinition::read(&mut reader)?;
        if reader.is_at_end() {
            Ok((file, definition))
        } else {
            Err(UnitError::Damaged)
        }
    }
}

/// The list of parts: paths, kinds and sizes; parts lie one behind the other.
fn read_list(list: &[u8], mut start: usize, end: usize) -> Result<BTreeMap<(PathBuf, PartKind), Part>, UnitError> {
    let mut reader = Reader::new(list, FileId(0))?;
    let count = reader.count()?;
    let mut parts = BTreeMap::new();
    for _ in 0..count {
        let path = inside(&reader.name()?).ok_or(UnitError::Damaged)?;
        let kind = match reader.byte()? {
            0 => PartKind::Tree,
            1 => PartKind::Content,
            2 => PartKind::Lines,
            _ => return Err(UnitError::Damaged),
        };
        let mut length = || usize::try_from(reader.number()?).map_err(|_| Damaged);
        let (length, size) = (length()?, length()?);
        let behind = start.checked_add(length).filter(|&behind| behind <= end);
        if size > MOST_BYTES || size > length.saturating_mul(MOST_COMPRESSION) {
            return Err(UnitError::Damaged);
        }
        parts.insert((path, kind), Part { start, length, size });
        start = behind.ok_or(UnitError::Damaged)?;
    }
    if start == end && reader.is_at_end() {
        Ok(parts)
    } else {
        Err(UnitError::Damaged)
    }
}

/// A path that stays inside of the unit.
fn inside(path: &str) -> Option<PathBuf> {
    let parts = path.split('/');
    let is_name = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0']);
    parts.clone().all(is_name).then(|| parts.collect())
}

/// Offsets at which lines begin, as differences.
fn read_lines(bytes: &[u8]) -> Result<Vec<(u32, LineColumn)>, UnitError> {
    let mut reader = Reader::new(bytes, FileId(0))?;
    let count = reader.count()?;
    let mut offset = 0_u32;
    let mut lines = Vec::with_capacity(count);
    for line in 1..=count {
        let length = u32::try_from(reader.number()?).map_err(|_| Damaged)?;
        offset = offset.checked_add(length).ok_or(UnitError::Damaged)?;
        let line = u32::try_from(line).map_err(|_| UnitError::Damaged)?;
        lines.push((offset, LineColumn { line, column: 1 }));
    }
    Ok(lines)
}

/// Parts of trees that can be compared.
macro_rules! meanings {
    ($($type:ident),+) => {
        $(impl $type {
            /// Two pieces of text mean the same if these bytes are equal: blanks, comments and places make no difference.
            pub fn meaning(&self) -> Vec<u8> {
                let mut writer = Writer::new(Places::Omitted);
                self.write(&mut writer);
                writer.finish()
            }
        })+
    };
}

meanings!(
    ClassDefinition,
    ClassModification,
    ComponentClause,
    ConstrainingClause,
    Expr,
    Subscript
);

#[cfg(test)]
mod tests {
    use saltus_source::FileId;

    use crate::parse_expression;

    #[test]
    fn blanks_and_comments_have_no_meaning() {
        let meaning = |text: &str| parse_expression(FileId(0), text).0.meaning();
        assert_eq!(meaning("2*(n+ 1)"), meaning("2 * (n /* next */ + 1)"));
        assert_eq!(meaning("f(\" a // b\")/2"), meaning("f( \" a // b\" ) / 2"));
        assert_ne!(meaning("f(\"a b\")"), meaning("f(\"ab\")"));
        assert_ne!(meaning("a + b"), meaning("b + a"));
        assert_ne!(meaning("a - (b - c)"), meaning("a - b - c"));
    }
}
