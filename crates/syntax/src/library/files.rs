//! Where files come from: the disk, or memory for tests and editors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::unit::StoredTree;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// File name.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// What the library needs of a file system.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The content of a file that the user names: it may be a pipe or a device.
    fn read_named(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read(path)
    }

    /// The entries of a folder, sorted by name.
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>>;

    /// Whether there is a folder with this path.
    fn is_folder(&self, path: &Path) -> bool;

    /// The path from the root, so that the folders around it can be looked at.
    fn absolute(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// A number that differs whenever the content of a file may: what was parsed of it can be used again as long as it is the
    /// same. `None` where that is not known.
    fn version(&self, path: &Path) -> Option<u64> {
        let _ = path;
        None
    }

    /// One path for each file or folder, however many links lead to it.
    fn canonical(&self, path: &Path) -> PathBuf {
        self.absolute(path)
    }

    /// The syntax tree of a Modelica file, where it is kept in place of the text or beside it.
    fn tree(&self, path: &Path) -> io::Result<Option<StoredTree>> {
        let _ = path;
        Ok(None)
    }
}

/// Files with more bytes are refused: no source text is this long, and the tree of a text takes about thirty times
/// its size.
const MAX_BYTES: u64 = 256 << 20;

/// Reads one of the files that were found among the paths that the user names. Inside a package nothing is named alone.
pub fn read_found(files: &dyn FileSystem, path: &Path, named: &[PathBuf]) -> io::Result<Vec<u8>> {
    let in_package = |folder: &Path| {
        let entries = files.list(folder).unwrap_or_default();
        entries
            .iter()
            .any(|entry| entry.name == "package.mo" && !entry.is_folder)
    };
    let loose = || !files.absolute(path).parent().is_some_and(in_package);
    if named.iter().any(|named| named == path) && loose() {
        files.read_named(path)
    } else {
        files.read(path)
    }
}

/// The entries of a folder, of all paths of files.
pub(super) fn entries_below<'p>(files: impl Iterator<Item = &'p Path>, folder: &Path) -> Vec<FolderEntry> {
    let mut entries = BTreeSet::new();
    for path in files {
        let Ok(inside) = path.strip_prefix(folder) else {
            continue;
        };
        let mut names = inside.iter();
        if let Some(first) = names.next() {
            entries.insert(FolderEntry {
                name: first.to_string_lossy().into_owned(),
                is_folder: names.next().is_some(),
            });
        }
    }
    entries.into_iter().collect()
}

/// The files of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileSystem for Disk {
    /// Pipes and devices that happen to be in a folder are refused: reading them may never end.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            let message = "it is a pipe or a device, not a file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        self.read_named(path)
    }

    fn read_named(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // What the system says of the length is a hint: files of `/proc` have length 0, others grow.
        let read = std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if read as u64 > MAX_BYTES {
            Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 256 MiB"))
        } else {
            Ok(bytes)
        }
    }

    /// Hidden files (editors keep locks and copies in them), names that are not Unicode and so name no class, and
    /// links to a folder around them, which lead nowhere new, are left out.
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let Some(name) = name.ok().filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let path = entry.path();
            let is_folder = path.is_dir();
            let is_link = entry.file_type()?.is_symlink();
            if !(is_link && is_folder && self.leads_back(&path)) {
                entries.push(FolderEntry { name, is_folder });
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        std::fs::canonicalize(path).unwrap_or_else(|_| self.absolute(path))
    }
}

impl Disk {
    /// Whether a folder is one of those on the path to it.
    fn leads_back(&self, folder: &Path) -> bool {
        let target = self.canonical(folder);
        let path = self.absolute(folder);
        path.ancestors().skip(1).any(|around| self.canonical(around) == target)
    }
}

/// Files that are on no disk.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    /// No files yet.
    pub fn new() -> MemoryFiles {
        MemoryFiles::default()
    }

    /// Adds or replaces a file.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> MemoryFiles {
        self.files.insert(path.into(), content.into());
        self
    }
}

impl FileSystem for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = self.files.get(path).cloned();
        content.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        if !self.is_folder(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(entries_below(self.files.keys().map(PathBuf::as_path), folder))
    }

    fn is_folder(&self, path: &Path) -> bool {
        let inside = |file: &PathBuf| file != path && file.starts_with(path);
        self.files.keys().any(inside)
    }
}
