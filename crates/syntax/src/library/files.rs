//! Where files come from: the disk, or memory for tests and editors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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

    /// The entries of a folder, sorted by name.
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>>;

    /// Whether there is a folder with this path.
    fn is_folder(&self, path: &Path) -> bool;

    /// The path from the root, so that the folders around it can be looked at.
    fn absolute(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// Files with more bytes are refused: offsets have 32 bits, and no source text is this long.
const MAX_BYTES: u64 = i32::MAX as u64;

/// The files of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if std::fs::metadata(path)?.len() > MAX_BYTES {
            let message = "the file has more than 2 GiB";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        std::fs::read(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // Names that are not Unicode cannot be names of classes.
            if let Ok(name) = entry.file_name().into_string() {
                let is_folder = entry.path().is_dir();
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
        let mut entries = BTreeSet::new();
        for path in self.files.keys() {
            let Ok(inside) = path.strip_prefix(folder) else {
                continue;
            };
            let mut components = inside.components();
            if let Some(first) = components.next() {
                entries.insert(FolderEntry {
                    name: first.as_os_str().to_string_lossy().into_owned(),
                    is_folder: components.next().is_some(),
                });
            }
        }
        Ok(entries.into_iter().collect())
    }

    fn is_folder(&self, path: &Path) -> bool {
        let inside = |file: &PathBuf| file != path && file.starts_with(path);
        self.files.keys().any(inside)
    }
}
