//! Units of classes shown as the package folders they were made of.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::files::{FileSystem, FolderEntry, entries_below};
use crate::unit::{SUFFIX, StoredTree, Unit, UnitError};

/// Files of another kind in which units are folders: `Lib.saltus-unit/package.mo` is the file of the package `Lib`.
#[derive(Debug)]
pub struct Units<F> {
    files: F,
    opened: Mutex<HashMap<PathBuf, Result<Arc<Unit>, UnitError>>>,
}

/// What a path leads to.
enum Place<'p> {
    /// A file or folder outside of units.
    Outside,
    /// A unit, and the path in it.
    Inside(Result<Arc<Unit>, UnitError>, &'p Path),
}

impl<F: FileSystem> Units<F> {
    /// The same files, with their units.
    pub fn new(files: F) -> Units<F> {
        Units {
            files,
            opened: Mutex::default(),
        }
    }

    fn place<'p>(&self, path: &'p Path) -> Place<'p> {
        let unit = path.ancestors().find(|ancestor| is_unit(ancestor));
        match unit {
            Some(unit) if !self.files.is_folder(unit) => {
                let inside = path.strip_prefix(unit).unwrap_or(Path::new(""));
                Place::Inside(self.open(unit), inside)
            }
            _ => Place::Outside,
        }
    }

    fn open(&self, path: &Path) -> Result<Arc<Unit>, UnitError> {
        let mut opened = self.opened.lock().unwrap_or_else(|e| e.into_inner());
        let open = || {
            let bytes = self
                .files
                .read(path)
                .map_err(|error| UnitError::Unreadable(error.kind()))?;
            Unit::from_bytes(bytes).map(Arc::new)
        };
        opened.entry(path.to_owned()).or_insert_with(open).clone()
    }
}

/// Whether a path has the name of a unit.
pub(super) fn is_unit(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_suffix(SUFFIX))
        .is_some_and(|name| !name.is_empty())
}

impl<F: FileSystem> FileSystem for Units<F> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.place(path) {
            Place::Outside => self.files.read(path),
            Place::Inside(unit, inside) => unit?.content(inside)?.ok_or_else(|| io::ErrorKind::NotFound.into()),
        }
    }

    fn read_named(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.place(path) {
            Place::Outside => self.files.read_named(path),
            Place::Inside(..) => self.read(path),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        match self.place(folder) {
            Place::Outside => {
                let mut entries = self.files.list(folder)?;
                for entry in &mut entries {
                    entry.is_folder |= is_unit(Path::new(&entry.name));
                }
                entries.sort();
                Ok(entries)
            }
            Place::Inside(unit, inside) => Ok(entries_below(unit?.files_below(inside), inside)),
        }
    }

    fn is_folder(&self, path: &Path) -> bool {
        match self.place(path) {
            Place::Outside => self.files.is_folder(path),
            // A file that has the name of a unit and is none is a folder that cannot be read.
            Place::Inside(Err(UnitError::Unreadable(_)), _) => false,
            Place::Inside(Err(_), inside) => inside.as_os_str().is_empty(),
            Place::Inside(Ok(unit), inside) => unit.files_below(inside).next().is_some(),
        }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.files.absolute(path)
    }

    fn version(&self, path: &Path) -> Option<u64> {
        self.files.version(path)
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        let Some(unit) = path.ancestors().find(|ancestor| is_unit(ancestor)) else {
            return self.files.canonical(path);
        };
        let inside = path.strip_prefix(unit).unwrap_or(Path::new(""));
        self.files.canonical(unit).join(inside)
    }

    fn tree(&self, path: &Path) -> io::Result<Option<StoredTree>> {
        match self.place(path) {
            Place::Outside => self.files.tree(path),
            Place::Inside(unit, inside) => Ok(unit?.tree(inside)?),
        }
    }
}
