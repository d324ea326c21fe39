//! Parsed files that several libraries share: editors make a library anew after each change, and read one file only.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use saltus_source::{Diagnostics, FileId, SourceMap};

use super::ParsedFile;

/// Texts that were replaced and are still kept, for those who look at an older state of affairs.
const KEPT: usize = 64;

/// What parsing a file has given.
#[derive(Clone, Debug)]
pub struct CachedFile {
    /// What [`FileSystem::version`](super::FileSystem::version) said of it.
    pub version: u64,
    /// Its content.
    pub parsed: Arc<ParsedFile>,
    /// What is wrong with its syntax.
    pub diagnostics: Diagnostics,
}

/// Parsed files by path, and the table of their texts.
#[derive(Debug, Default)]
pub struct ParseCache {
    sources: Arc<SourceMap>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<PathBuf, CachedFile>,
    replaced: VecDeque<FileId>,
}

impl ParseCache {
    /// No files yet.
    pub fn new() -> ParseCache {
        ParseCache::default()
    }

    /// The table of the texts, which all libraries with this cache share.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.sources
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A file as it was in this version.
    pub fn get(&self, path: &Path, version: u64) -> Option<CachedFile> {
        let state = self.state();
        state.files.get(path).filter(|file| file.version == version).cloned()
    }

    /// Keeps a file in place of what was kept of it. Texts that were replaced long ago are let go.
    pub fn insert(&self, path: &Path, file: CachedFile) {
        let mut state = self.state();
        let id = file.parsed.file;
        if let Some(old) = state.files.insert(path.to_owned(), file)
            && old.parsed.file != id
        {
            state.replaced.push_back(old.parsed.file);
        }
        if state.replaced.len() > KEPT
            && let Some(oldest) = state.replaced.pop_front()
        {
            self.sources.forget(oldest);
        }
    }
}
