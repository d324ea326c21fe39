//! The state of affairs at one moment: open documents, files, settings, and what was found out about them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gen_lsp_types::{Location, Position, Range, Uri};
use saltus::Session;
use saltus::library::{BUILT_IN, FileSystem, ParseCache, ParsedFile};
use saltus::simulate::Cancel;
use saltus::source::{Diagnostic, FileId, SourceFile, SourceMap, Span};

use crate::diagnostics;
use crate::document::Document;
use crate::fact::Fact;
use crate::modes::ModelFacts;
use crate::overlay::Overlay;
use crate::position::{Encoding, Lines};
use crate::settings::Settings;
use crate::uri::{path_of, uri_of};

/// What is known of models, by file and name.
type Facts = BTreeMap<(PathBuf, String), Arc<Fact<ModelFacts>>>;

/// Everything a request may look at. It does not change; what is computed is kept until the next change.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) documents: BTreeMap<PathBuf, Arc<Document>>,
    pub(crate) files: Arc<Overlay>,
    pub(crate) cache: Arc<ParseCache>,
    pub(crate) settings: Settings,
    pub(crate) encoding: Encoding,
    /// Folders of the workspace.
    pub(crate) roots: Vec<PathBuf>,
    /// Folders in which libraries are looked for.
    pub(crate) libraries: Vec<PathBuf>,
    /// Whether the client can rename files, and fill in templates.
    pub(crate) renames_files: bool,
    pub(crate) snippets: bool,
    /// How long somebody who points at something waits for what an analysis says of it.
    pub(crate) patience: Duration,
    /// Counts changes.
    pub(crate) generation: u64,
    /// The generation that is current, for those who would rather stop.
    pub(crate) current: Arc<AtomicU64>,
    /// Ends what is of no use once something has changed.
    pub(crate) outdated: Cancel,
    sessions: Mutex<BTreeMap<PathBuf, Arc<Session>>>,
    lines: Mutex<BTreeMap<FileId, Arc<Lines>>>,
    facts: Mutex<Facts>,
    /// What runs of models in files have found, by model.
    runs: Mutex<BTreeMap<(PathBuf, String), Diagnostic>>,
    /// What was said of files.
    checked: Mutex<BTreeMap<PathBuf, Arc<Vec<diagnostics::Shown>>>>,
    /// Whether what they have found is not shown yet.
    has_news: AtomicBool,
}

/// A file that is looked at: its session and what was parsed.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) path: PathBuf,
    pub(crate) session: Arc<Session>,
    pub(crate) parsed: Arc<ParsedFile>,
    pub(crate) source: Arc<SourceFile>,
}

/// What a world is made of.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) documents: BTreeMap<PathBuf, Arc<Document>>,
    pub(crate) files: Arc<Overlay>,
    pub(crate) cache: Arc<ParseCache>,
    pub(crate) settings: Settings,
    pub(crate) encoding: Encoding,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) libraries: Vec<PathBuf>,
    pub(crate) renames_files: bool,
    pub(crate) snippets: bool,
    pub(crate) patience: Duration,
    pub(crate) current: Arc<AtomicU64>,
}

impl World {
    pub(crate) fn new(parts: Parts, generation: u64) -> World {
        World {
            documents: parts.documents,
            files: parts.files,
            cache: parts.cache,
            settings: parts.settings,
            encoding: parts.encoding,
            roots: parts.roots,
            libraries: parts.libraries,
            renames_files: parts.renames_files,
            snippets: parts.snippets,
            patience: parts.patience,
            generation,
            current: parts.current,
            outdated: Cancel::new(),
            sessions: Mutex::default(),
            lines: Mutex::default(),
            facts: Mutex::default(),
            runs: Mutex::default(),
            checked: Mutex::default(),
            has_news: AtomicBool::new(false),
        }
    }

    /// The same world with other files: what a change would make of it.
    pub(crate) fn imagine(&self, files: Overlay) -> World {
        let parts = Parts {
            documents: BTreeMap::new(),
            files: Arc::new(files),
            // Parsed texts that never were are not kept.
            cache: Arc::default(),
            settings: self.settings.clone(),
            encoding: self.encoding,
            roots: self.roots.clone(),
            libraries: self.libraries.clone(),
            renames_files: self.renames_files,
            snippets: self.snippets,
            patience: self.patience,
            current: Arc::clone(&self.current),
        };
        World::new(parts, self.generation)
    }

    /// Whether something has changed since.
    pub(crate) fn is_outdated(&self) -> bool {
        self.current.load(Ordering::Relaxed) != self.generation
    }

    pub(crate) fn sources(&self) -> &Arc<SourceMap> {
        self.cache.sources()
    }

    /// The folders in which top-level classes are looked for: libraries, then the workspace, then what is built in.
    fn search_path(&self) -> Vec<PathBuf> {
        let mut folders = self.libraries.clone();
        folders.extend(self.roots.iter().cloned());
        folders.push(PathBuf::from(BUILT_IN));
        folders
    }

    /// A session of its own for long work on a file, which ends when it is asked to.
    pub(crate) fn session_until(&self, path: &Path, cancel: &Cancel) -> Session {
        let files: Arc<dyn FileSystem> = Arc::clone(&self.files) as Arc<dyn FileSystem>;
        let session = Session::with_cache(files, Arc::clone(&self.cache), self.search_path());
        session.add_file(path);
        session.until(cancel.clone())
    }

    /// The session in which a file is looked at: the same as that of `saltus check FILE -L …`.
    pub(crate) fn session(&self, path: &Path) -> Arc<Session> {
        let known = self
            .sessions
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .get(path)
            .cloned();
        if let Some(known) = known {
            return known;
        }
        let session = Arc::new(self.session_until(path, &Cancel::new()));
        let mut sessions = self.sessions.lock().unwrap_or_else(|e| e.into_inner());
        Arc::clone(sessions.entry(path.to_owned()).or_insert(session))
    }

    /// The document with this name.
    pub(crate) fn document(&self, uri: &Uri) -> Option<&Arc<Document>> {
        self.documents.get(&path_of(uri))
    }

    /// A file to look at, open or not.
    pub(crate) fn look(&self, path: &Path) -> Option<Look> {
        let session = self.session(path);
        let parsed = session.library().parsed(path)?;
        let source = self.sources().file(parsed.file)?;
        Some(Look {
            path: path.to_owned(),
            session,
            parsed,
            source,
        })
    }

    /// A file and an offset in it.
    pub(crate) fn look_at(&self, uri: &Uri, position: Position) -> Option<(Look, u32)> {
        let look = self.look(&path_of(uri))?;
        let lines = self.lines(&look.source);
        let offset = lines.offset(look.source.text(), position, self.encoding);
        Some((look, offset))
    }

    /// The lines of a file.
    pub(crate) fn lines(&self, source: &SourceFile) -> Arc<Lines> {
        let mut known = self.lines.lock().unwrap_or_else(|e| e.into_inner());
        let lines = known
            .entry(source.id())
            .or_insert_with(|| Arc::new(Lines::new(source.text())));
        Arc::clone(lines)
    }

    /// The range of a span.
    pub(crate) fn range(&self, span: Span) -> Option<Range> {
        let source = self.sources().file(span.file)?;
        Some(self.lines(&source).range(source.text(), span, self.encoding))
    }

    /// File and range of a span.
    pub(crate) fn location(&self, span: Span) -> Option<Location> {
        let source = self.sources().file(span.file)?;
        Some(Location {
            uri: self.uri(Path::new(source.name())),
            range: self.lines(&source).range(source.text(), span, self.encoding),
        })
    }

    /// The name of a file, as the client wrote it if it is open.
    pub(crate) fn uri(&self, path: &Path) -> Uri {
        match self.documents.get(path) {
            Some(document) => document.uri.clone(),
            None => uri_of(path),
        }
    }

    /// Whether the client may change a file: it is in the workspace, or open and in no library.
    pub(crate) fn is_ours(&self, path: &Path) -> bool {
        if path.starts_with(BUILT_IN) {
            return false;
        }
        if self.roots.iter().any(|root| path.starts_with(root)) {
            return true;
        }
        let in_library = self.libraries.iter().any(|folder| path.starts_with(folder));
        self.documents.contains_key(path) && !in_library
    }

    /// All Modelica files of the workspace, and the open ones.
    pub(crate) fn own_files(&self) -> Vec<PathBuf> {
        let mut found = saltus_syntax::library::modelica_files(&*self.files, &self.roots);
        found.extend(self.documents.keys().filter(|path| self.is_ours(path)).cloned());
        found.sort();
        found.dedup();
        found
    }

    fn fact(&self, path: &Path, model: &str) -> Arc<Fact<ModelFacts>> {
        let mut facts = self.facts.lock().unwrap_or_else(|e| e.into_inner());
        Arc::clone(facts.entry((path.to_owned(), model.to_owned())).or_default())
    }

    /// How to find out about a model.
    fn finding(&self, path: &Path, model: &str) -> impl FnOnce() -> ModelFacts + Send + 'static + use<> {
        let (session, model) = (self.session_until(path, &self.outdated), model.to_owned());
        let outdated = self.outdated.clone();
        move || ModelFacts::new(&session, &model, &outdated)
    }

    /// What is known of a model: computed at the first question, once.
    pub(crate) fn model_facts(&self, path: &Path, model: &str) -> Arc<ModelFacts> {
        self.fact(path, model).get(|| self.finding(path, model)())
    }

    /// The same for somebody who does not wait long: `None` while it is being computed.
    pub(crate) fn facts_soon(&self, path: &Path, model: &str) -> Option<Arc<ModelFacts>> {
        let fact = self.fact(path, model);
        fact.known()
            .or_else(|| fact.soon(self.patience, self.finding(path, model)))
    }

    /// What is wrong with a file: as it was said last, or found now.
    pub(crate) fn checked(&self, path: &Path) -> Arc<Vec<diagnostics::Shown>> {
        let known = self
            .checked
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .get(path)
            .cloned();
        known.unwrap_or_else(|| self.keep_checked(path, diagnostics::check(self, path)))
    }

    /// Keeps what is said of a file.
    pub(crate) fn keep_checked(&self, path: &Path, found: Vec<diagnostics::Shown>) -> Arc<Vec<diagnostics::Shown>> {
        let found = Arc::new(found);
        let mut checked = self.checked.lock().unwrap_or_else(|e| e.into_inner());
        checked.insert(path.to_owned(), Arc::clone(&found));
        found
    }

    /// Keeps what a run has found, or that there is nothing any more.
    pub(crate) fn note_run(&self, path: &Path, model: &str, found: Option<Diagnostic>) {
        let mut runs = self.runs.lock().unwrap_or_else(|e| e.into_inner());
        let key = (path.to_owned(), model.to_owned());
        let is_news = match found {
            Some(found) => runs.insert(key, found.clone()).as_ref() != Some(&found),
            None => runs.remove(&key).is_some(),
        };
        self.has_news.fetch_or(is_news, Ordering::Relaxed);
    }

    /// Whether runs have found something that is not shown yet; it is from now on.
    pub(crate) fn take_news(&self) -> bool {
        self.has_news.swap(false, Ordering::Relaxed)
    }

    /// What runs of the models of a file have found.
    pub(crate) fn found_by_runs(&self, path: &Path) -> Vec<Diagnostic> {
        let runs = self.runs.lock().unwrap_or_else(|e| e.into_inner());
        let here = runs.iter().filter(|((file, _), _)| file == path);
        here.map(|(_, found)| found.clone()).collect()
    }

    /// What is known of a model if that has been computed.
    pub(crate) fn known_facts(&self, path: &Path, model: &str) -> Option<Arc<ModelFacts>> {
        self.fact(path, model).known()
    }
}
