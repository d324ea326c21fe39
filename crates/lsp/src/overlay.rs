//! Files as the editor shows them: open documents hide what is on the disk.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use saltus::library::{BUILT_IN, DiskAndLibrary, FileSystem, FolderEntry, StoredTree};

use crate::uri::EDITOR_FOLDER;

/// Versions of open documents have this bit, those of files on the disk do not.
const OPEN: u64 = 1 << 63;

type Listings = Mutex<HashMap<PathBuf, (SystemTime, Vec<FolderEntry>)>>;

/// The disk with open documents in front of it.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    disk: Arc<DiskAndLibrary>,
    open: BTreeMap<PathBuf, (Arc<str>, u64)>,
    /// Files that a change under consideration takes away.
    gone: Vec<PathBuf>,
    /// Folders as they were when they were last changed.
    listings: Arc<Listings>,
}

impl Overlay {
    pub(crate) fn new() -> Overlay {
        Overlay {
            disk: Arc::new(DiskAndLibrary::new()),
            open: BTreeMap::new(),
            gone: Vec::new(),
            listings: Arc::default(),
        }
    }

    /// Shows a text in place of a file; `counter` differs for every text ever shown.
    pub(crate) fn show(&mut self, path: &Path, text: Arc<str>, counter: u64) {
        self.open.insert(path.to_owned(), (text, counter | OPEN));
    }

    /// Shows the disk again.
    pub(crate) fn hide(&mut self, path: &Path) {
        self.open.remove(path);
    }

    /// Takes a file or a folder away.
    pub(crate) fn remove(&mut self, path: &Path) {
        self.open.retain(|open, _| !open.starts_with(path));
        self.gone.push(path.to_owned());
    }

    fn is_gone(&self, path: &Path) -> bool {
        self.gone.iter().any(|gone| path.starts_with(gone))
    }

    fn on_disk(&self, path: &Path) -> bool {
        !path.starts_with(EDITOR_FOLDER)
    }

    fn listed(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let changed = std::fs::metadata(folder).and_then(|metadata| metadata.modified());
        let Ok(changed) = changed else {
            return self.disk.list(folder);
        };
        let mut listings = self.listings.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((known, entries)) = listings.get(folder)
            && *known == changed
        {
            return Ok(entries.clone());
        }
        let entries = self.disk.list(folder)?;
        // What was changed just now may change again within the resolution of the clock.
        if changed.elapsed().is_ok_and(|age| age.as_secs() > 2) {
            listings.insert(folder.to_owned(), (changed, entries.clone()));
        }
        Ok(entries)
    }
}

impl FileSystem for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.open.get(path) {
            Some((text, _)) => Ok(text.as_bytes().to_vec()),
            None if self.is_gone(path) => Err(io::ErrorKind::NotFound.into()),
            None if self.on_disk(path) => self.disk.read(path),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn tree(&self, path: &Path) -> io::Result<Option<StoredTree>> {
        if self.open.contains_key(path) || !self.on_disk(path) {
            return Ok(None);
        }
        self.disk.tree(path)
    }

    fn version(&self, path: &Path) -> Option<u64> {
        if let Some((_, version)) = self.open.get(path) {
            return Some(*version);
        }
        if path.starts_with(BUILT_IN) {
            return Some(0);
        }
        if self.is_gone(path) {
            return None;
        }
        let metadata = std::fs::metadata(path).ok()?;
        // A hash for one run of the program: nothing else depends on it.
        let mut hasher = std::hash::DefaultHasher::new();
        (metadata.len(), metadata.modified().ok()?).hash(&mut hasher);
        Some(hasher.finish() & !OPEN)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let on_disk = if self.on_disk(folder) {
            self.listed(folder)
        } else {
            Err(io::ErrorKind::NotFound.into())
        };
        let inside = |path: &PathBuf| path != folder && path.starts_with(folder);
        let mut entries = match on_disk {
            Ok(entries) if !self.is_gone(folder) => entries,
            Err(error) if !self.open.keys().any(inside) => return Err(error),
            _ => Vec::new(),
        };
        entries.retain(|entry| !self.gone.contains(&folder.join(&entry.name)));
        for path in self.open.keys() {
            let Ok(rest) = path.strip_prefix(folder) else { continue };
            let mut parts = rest.components();
            let name = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned());
            let Some(name) = name.filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let is_folder = parts.next().is_some();
            if entries.iter().all(|entry| entry.name != name) {
                entries.push(FolderEntry { name, is_folder });
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn is_folder(&self, path: &Path) -> bool {
        let inside = |open: &PathBuf| open != path && open.starts_with(path);
        self.open.keys().any(inside)
            || (!self.open.contains_key(path) && !self.is_gone(path) && self.on_disk(path) && self.disk.is_folder(path))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        if self.on_disk(path) {
            self.disk.absolute(path)
        } else {
            path.to_owned()
        }
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        if self.on_disk(path) {
            self.disk.canonical(path)
        } else {
            path.to_owned()
        }
    }
}
