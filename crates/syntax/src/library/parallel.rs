//! Reading and parsing many files at once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use saltus_source::{FileId, SourceMap};

use super::units::is_unit;
use super::{FileSystem, Library, LibraryClass, ParsedFile, read_found, unreadable};
use crate::{Parse, parse_file};

/// The Modelica files among the paths and in the folders among them, sorted within each. A folder that several links
/// lead to is entered once: links to links could make more paths than there are files.
pub fn modelica_files(files: &dyn FileSystem, paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entered = HashSet::new();
    for path in paths {
        if files.is_folder(path) {
            collect(files, path, &mut entered, &mut found)
        } else {
            found.push(path.to_owned())
        }
    }
    found
}

fn collect(files: &dyn FileSystem, folder: &Path, entered: &mut HashSet<PathBuf>, found: &mut Vec<PathBuf>) {
    // The files of a unit are not read as text.
    if is_unit(folder) || !entered.insert(files.canonical(folder)) {
        return;
    }
    for entry in files.list(folder).unwrap_or_default() {
        let inside = folder.join(&entry.name);
        if entry.is_folder {
            collect(files, &inside, entered, found);
        } else if entry.name.ends_with(".mo") {
            found.push(inside);
        }
    }
}

/// Parses files with all processors; the results are in the order of the files.
pub fn parse_all(sources: &SourceMap, files: &[FileId]) -> Vec<Parse> {
    in_parallel(files.len(), |index| {
        let file = sources.file(files[index])?;
        Some(parse_file(&file))
    })
    .into_iter()
    .flatten()
    .collect()
}

/// Calls `work` for every index, on all processors; results in order.
fn in_parallel<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if threads == 1 || count < 2 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let result = work(index);
            let mut results = results.lock().unwrap_or_else(|e| e.into_inner());
            results.push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(worker);
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// What was parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadSummary {
    /// The files, in order.
    pub files: Vec<FileId>,
    /// Their size in bytes.
    pub bytes: u64,
}

impl Library {
    /// Parses all files among the paths and in the folders among them, in parallel, adds their
    /// classes, and checks that packages are stored as they should be.
    pub fn load_all(&self, paths: &[PathBuf]) -> LoadSummary {
        let found = modelica_files(&*self.files, paths);
        let mut summary = LoadSummary::default();
        let mut read: Vec<(PathBuf, FileId)> = Vec::new();
        for path in found {
            if self.state().parsed.contains_key(&path) {
                continue;
            }
            match read_found(&*self.files, &path, paths) {
                Ok(bytes) => {
                    summary.bytes += bytes.len() as u64;
                    let id = self.sources.add_bytes(path.to_string_lossy(), bytes);
                    read.push((path, id));
                }
                Err(error) => {
                    self.report(unreadable(&path, &error));
                    self.state().parsed.insert(path, None);
                }
            }
        }
        let parsed = in_parallel(read.len(), |index| {
            let parse = parse_file(&*self.sources.file(read[index].1)?);
            let file = ParsedFile {
                file: read[index].1,
                definition: parse.ast(),
                is_ok: parse.is_ok(),
            };
            Some((Arc::new(file), parse.diagnostics))
        });
        let mut state = self.state();
        for ((path, id), parsed) in read.into_iter().zip(parsed) {
            let Some((file, diagnostics)) = parsed else {
                continue;
            };
            state.diagnostics.extend(diagnostics);
            state.parsed.insert(path, Some(file));
            summary.files.push(id);
        }
        drop(state);
        for path in paths {
            for class in self.add(path) {
                self.check_structure(class);
            }
        }
        summary
    }

    /// Whether a walk over all classes has not been in the folder of this one; notes that it has.
    pub fn enters(&self, class: &LibraryClass, entered: &mut HashSet<PathBuf>) -> bool {
        class
            .folder()
            .is_none_or(|folder| entered.insert(self.files.canonical(folder)))
    }

    /// Visits all classes stored below a package folder, which reports what is not in order.
    fn check_structure(&self, class: Arc<LibraryClass>) {
        let mut entered = HashSet::new();
        let mut pending = vec![class];
        while let Some(class) = pending.pop() {
            if !self.enters(&class, &mut entered) {
                continue;
            }
            for name in self.members(&class).iter() {
                pending.extend(self.member(&class, name));
            }
        }
    }
}
