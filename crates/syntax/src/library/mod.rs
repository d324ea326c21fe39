//! Libraries: classes found by their qualified names in files and folders, read when first needed.
//!
//! A class is stored in a file `Name.mo`, or in a folder `Name` with a file `package.mo` and the
//! classes of the package beside it (Language Specification 3.6, chapter 13). Looking up
//! `A.B.C` reads `A/package.mo`, `A/B/package.mo` and `A/B/C.mo`, nothing else.

mod cache;
mod files;
mod folder;
mod parallel;
mod resource;
mod units;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use saltus_source::{Diagnostic, Diagnostics, FileId, Severity, SourceMap, Span, codes};

use crate::ast::{ClassDefinition, Name, StoredDefinition};
use crate::unit::{SUFFIX, StoredTree};
use crate::{Parse, parse_file};
pub use cache::{CachedFile, ParseCache};
pub use files::{Disk, FileSystem, FolderEntry, MemoryFiles, read_found};
use folder::{Folder, Stored};
pub use parallel::{LoadSummary, modelica_files, parse_all};
pub use units::Units;

/// A file that was read and parsed.
#[derive(Debug)]
pub struct ParsedFile {
    /// Its index in the table of files.
    pub file: FileId,
    /// Its content.
    pub definition: StoredDefinition,
    /// Whether it has no syntax error.
    pub is_ok: bool,
}

/// A class that has a file or folder of its own, or is at the top of a file.
#[derive(Clone, Debug)]
pub struct LibraryClass {
    /// Its full name.
    pub path: Vec<Name>,
    /// Its definition. Classes of a package folder that are stored beside `package.mo` are not in
    /// it: see [`Library::members`].
    pub definition: Arc<ClassDefinition>,
    /// The file it is in.
    pub file: FileId,
    folder: Option<PathBuf>,
}

impl LibraryClass {
    /// Its full name with dots.
    pub fn qualified_name(&self) -> String {
        self.path.join(".")
    }

    /// Whether classes of it may be stored in other files.
    pub fn is_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// The folder of a package folder.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }
}

/// Classes by name, from files given and from folders searched.
#[derive(Debug)]
pub struct Library {
    files: Arc<dyn FileSystem>,
    sources: Arc<SourceMap>,
    search_path: Vec<PathBuf>,
    cache: Option<Arc<ParseCache>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    parsed: HashMap<PathBuf, Option<Arc<ParsedFile>>>,
    folders: HashMap<PathBuf, Arc<Folder>>,
    /// Classes from files of libraries, by file; `None` if the file does not hold the class.
    classes: HashMap<PathBuf, Option<Arc<LibraryClass>>>,
    /// Order of the classes of a package folder, by folder.
    orders: HashMap<PathBuf, Arc<Vec<Name>>>,
    /// Top-level classes by name; `None` for those looked for in vain.
    top: BTreeMap<Name, Option<Arc<LibraryClass>>>,
    /// Top-level classes of files and folders given by the user, in the order given.
    given: Arc<Vec<Arc<LibraryClass>>>,
    diagnostics: Diagnostics,
}

impl Library {
    /// A library that looks for top-level classes in the folders of `search_path`, in order: those
    /// of `-L`, then those of `MODELICAPATH`.
    pub fn new(files: Arc<dyn FileSystem>, sources: Arc<SourceMap>, search_path: Vec<PathBuf>) -> Library {
        Library {
            files,
            sources,
            search_path,
            cache: None,
            state: Mutex::default(),
        }
    }

    /// The same with parsed files that other libraries have left behind.
    pub fn with_cache(files: Arc<dyn FileSystem>, cache: Arc<ParseCache>, search_path: Vec<PathBuf>) -> Library {
        Library {
            cache: Some(Arc::clone(&cache)),
            ..Library::new(files, Arc::clone(cache.sources()), search_path)
        }
    }

    /// The folders in which top-level classes are looked for.
    pub fn search_path(&self) -> &[PathBuf] {
        &self.search_path
    }

    /// The table of files.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.sources
    }

    /// What was found wrong so far, in order.
    pub fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = self.state().diagnostics.clone();
        diagnostics.normalise();
        diagnostics
    }

    /// Number of Modelica files read so far.
    pub fn files_read(&self) -> usize {
        self.state().parsed.values().flatten().count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn report(&self, diagnostic: Diagnostic) {
        self.state().diagnostics.push(diagnostic);
    }

    // --- What the user gives ------------------------------------------------------------------

    /// Adds a file or folder given by the user; returns its classes. A file inside a package
    /// folder brings the whole package with it, so that its class has its full name.
    pub fn add(&self, path: &Path) -> Vec<Arc<LibraryClass>> {
        if self.files.is_folder(path) {
            return self.add_folder(path);
        }
        let absolute = self.files.absolute(path);
        let Some(folder) = absolute.parent() else {
            return self.add_loose_file(path, true);
        };
        if path.file_name().is_some_and(|name| name == "package.mo") {
            return self.add_folder(folder);
        }
        // Paths stay as the user wrote them unless the file is part of a package.
        match self.enclosing_package(folder) {
            Some(package) => self.add_member(&package, path),
            None => self.add_loose_file(path, true),
        }
    }

    /// Adds text that is on no disk; returns its classes.
    pub fn add_text(&self, name: &str, text: &str) -> Vec<Arc<LibraryClass>> {
        let file = self.sources.add(name, text);
        match self.parse_source(file) {
            Some(parsed) => self.add_classes(&parsed),
            None => Vec::new(),
        }
    }

    fn add_folder(&self, path: &Path) -> Vec<Arc<LibraryClass>> {
        if self.folder(path).is_package {
            let path = match path.file_name() {
                Some(_) => path.to_owned(),
                None => self.files.absolute(path),
            };
            return self.enclosing_package(&path).into_iter().collect();
        }
        let stored = self.folder(path).classes.clone();
        if stored.is_empty() {
            let message = format!("the folder `{}` holds no Modelica classes", path.display());
            self.report(
                Diagnostic::without_place(codes::E0125, Severity::Error, message)
                    .with_help("a package folder has a file `package.mo`"),
            );
        }
        stored
            .iter()
            .flat_map(|class| match &class.folder {
                Some(folder) => self.add_folder(folder),
                None => self.add_loose_file(&class.file, false),
            })
            .collect()
    }

    /// The class of the package folder, with the packages around it added as top-level classes.
    fn enclosing_package(&self, folder: &Path) -> Option<Arc<LibraryClass>> {
        if !self.folder(folder).is_package {
            return None;
        }
        let name = folder.file_name()?.to_str()?;
        let parent = folder.parent().filter(|_| !units::is_unit(folder));
        let outer = parent.and_then(|parent| self.enclosing_package(parent));
        match outer {
            Some(outer) => self.member(&outer, name),
            None => {
                let name = class_name_of_folder(name);
                let class = self.load_stored(&[], &package_in(folder, name))?;
                self.give(&class);
                Some(class)
            }
        }
    }

    fn add_member(&self, package: &LibraryClass, path: &Path) -> Vec<Arc<LibraryClass>> {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
        self.member(package, name).into_iter().collect()
    }

    /// A file outside packages; one that is named may be a pipe.
    fn add_loose_file(&self, path: &Path, named: bool) -> Vec<Arc<LibraryClass>> {
        match self.parsed_as(path, named) {
            Some(parsed) => self.add_classes(&parsed),
            None => Vec::new(),
        }
    }

    fn add_classes(&self, parsed: &ParsedFile) -> Vec<Arc<LibraryClass>> {
        if let Some(within) = &parsed.definition.within
            && let Some(name) = &within.name
        {
            self.report(
                Diagnostic::error(
                    codes::E0121,
                    within.span,
                    format!("this file is not in the folder of package `{name}`"),
                )
                .with_note("its classes are used as top-level classes")
                .with_help("remove the `within` clause, or move the file"),
            );
        }
        let classes = parsed.definition.classes.iter().map(|stored| {
            Arc::new(LibraryClass {
                path: vec![stored.class.name.name.clone()],
                definition: Arc::clone(&stored.class),
                file: parsed.file,
                folder: None,
            })
        });
        let classes: Vec<_> = classes.collect();
        for class in &classes {
            self.give(class);
        }
        classes
    }

    /// Makes a class a top-level class.
    fn give(&self, class: &Arc<LibraryClass>) {
        let Some(name) = class.path.first() else {
            return;
        };
        let mut state = self.state();
        let known = state.top.get(name).cloned().flatten();
        match known {
            Some(known) if known.definition.name.span != class.definition.name.span => {
                state.diagnostics.push(
                    Diagnostic::error(
                        codes::E0124,
                        class.definition.name.span,
                        format!("class `{name}` is defined twice"),
                    )
                    .with_secondary(known.definition.name.span, "first defined here"),
                );
            }
            Some(_) => {}
            None => {
                state.top.insert(name.clone(), Some(Arc::clone(class)));
                Arc::make_mut(&mut state.given).push(Arc::clone(class));
            }
        }
    }

    /// The top-level classes given by the user, in the order given.
    pub fn given(&self) -> Arc<Vec<Arc<LibraryClass>>> {
        Arc::clone(&self.state().given)
    }

    // --- Lookup -------------------------------------------------------------------------------

    /// The top-level class with this name: one given by the user, or the first on the search path.
    pub fn top_level(&self, name: &str) -> Option<Arc<LibraryClass>> {
        if let Some(known) = self.state().top.get(name) {
            return known.clone();
        }
        let found = self.search_path.iter().find_map(|root| self.find_in_root(root, name));
        self.state().top.insert(Name::new(name), found.clone());
        found
    }

    /// `root/Name.mo`, `root/Name/package.mo`, the same with a version (`Name 4.1.0`), or `root`
    /// itself if it is the package.
    fn find_in_root(&self, root: &Path, name: &str) -> Option<Arc<LibraryClass>> {
        let folder = self.folder(root);
        if folder.is_package {
            let own = root.file_name().and_then(|n| n.to_str()).map(class_name_of_folder);
            return if own == Some(name) {
                self.load_stored(&[], &package_in(root, name))
            } else {
                None
            };
        }
        let with_version = |class: &&Stored| {
            let rest = class.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(' '))
        };
        let latest = || {
            folder
                .classes
                .iter()
                .filter(with_version)
                .max_by_key(|class| version(&class.name))
        };
        let stored = folder.find(name).or_else(latest)?;
        let stored = Stored {
            name: Name::new(name),
            ..stored.clone()
        };
        self.load_stored(&[], &stored)
    }

    /// The class of a package folder that is stored in a file or folder of its own.
    pub fn member(&self, package: &LibraryClass, name: &str) -> Option<Arc<LibraryClass>> {
        let folder = self.folder(package.folder.as_deref()?);
        let stored = folder.find(name)?.clone();
        self.load_stored(&package.path, &stored)
    }

    /// Names of the classes of a package folder that are stored in files and folders of their
    /// own, in the order of `package.order`. Reads none of them.
    pub fn members(&self, package: &LibraryClass) -> Arc<Vec<Name>> {
        let Some(path) = package.folder.as_deref() else {
            return Arc::default();
        };
        if let Some(order) = self.state().orders.get(path) {
            return Arc::clone(order);
        }
        let order = Arc::new(self.read_order(package, path));
        let mut state = self.state();
        state.orders.insert(path.to_owned(), Arc::clone(&order));
        order
    }

    fn read_order(&self, package: &LibraryClass, path: &Path) -> Vec<Name> {
        let folder = self.folder(path);
        let mut diagnostics = Vec::new();
        let name_span = package.definition.name.span;
        for name in &folder.duplicates {
            let message = format!("package `{}` has a file and a folder `{name}`", package.definition.name);
            diagnostics.push(Diagnostic::error(codes::E0124, name_span, message).with_note("the folder is used"));
        }
        for (_, class) in package.definition.classes() {
            if let Some(stored) = folder.find(&class.name.name) {
                let message = format!("class `{}` is also stored in a file", class.name);
                diagnostics.push(
                    Diagnostic::error(codes::E0124, class.name.span, message)
                        .with_note(format!("the other one is `{}`", stored.file.display())),
                );
            }
        }
        let file = path.join("package.order");
        let entries = match self.files.read(&file) {
            Ok(bytes) if folder.has_order => folder::read_order(&self.sources, &file, bytes),
            _ => Vec::new(),
        };
        let order = folder::order_classes(&folder, &entries, &package.definition, &mut diagnostics);
        if folder.has_order {
            for name in folder::unlisted(&folder, &entries) {
                let message = format!("`{name}` is not listed in `package.order`");
                diagnostics.push(
                    Diagnostic::warning(codes::W0102, name_span, message)
                        .with_help(format!("add it to `{}`", file.display())),
                );
            }
        }
        self.state().diagnostics.extend(diagnostics);
        order
    }

    /// The class with this full name, wherever it is stored. Inner classes are looked for by
    /// their definition only: inherited and imported ones are not found.
    pub fn find(&self, path: &[Name]) -> Option<Arc<ClassDefinition>> {
        let (first, mut rest) = path.split_first()?;
        let mut class = self.top_level(first)?;
        while let Some((name, behind)) = rest.split_first() {
            let Some(member) = self.member(&class, name) else {
                break;
            };
            class = member;
            rest = behind;
        }
        rest.iter()
            .try_fold(Arc::clone(&class.definition), |class, name| class.class(name).cloned())
    }

    // --- Reading ------------------------------------------------------------------------------

    /// The class of a file or folder, checked against the name it is stored under.
    fn load_stored(&self, within: &[Name], stored: &Stored) -> Option<Arc<LibraryClass>> {
        if let Some(known) = self.state().classes.get(&stored.file) {
            return known.clone();
        }
        let class = self.parsed(&stored.file).and_then(|parsed| {
            self.check_within(within, &parsed);
            let definition = self.class_of_file(&stored.name, &parsed)?;
            let mut path = within.to_vec();
            path.push(definition.name.name.clone());
            Some(Arc::new(LibraryClass {
                path,
                definition,
                file: parsed.file,
                folder: stored.folder.clone(),
            }))
        });
        self.state().classes.insert(stored.file.clone(), class.clone());
        class
    }

    fn check_within(&self, within: &[Name], parsed: &ParsedFile) {
        let found = parsed.definition.within.as_ref();
        let written = found.and_then(|w| w.name.as_ref());
        let matches = match written {
            Some(name) => name.parts.iter().map(|part| &part.name).eq(within),
            None => within.is_empty(),
        };
        // A file that could not be read as a class at all has been reported.
        if matches || (!parsed.is_ok && written.is_none()) {
            return;
        }
        let expected = match within {
            [] => "no `within` clause".to_owned(),
            _ => format!("`within {};`", within.join(".")),
        };
        let span = found.map_or(Span::at(parsed.file, 0), |clause| clause.span);
        self.report(
            Diagnostic::error(
                codes::E0121,
                span,
                "the `within` clause does not match the place of the file",
            )
            .with_label(format!("expected {expected}")),
        );
    }

    /// The single class of a file, which must have the name of the file.
    fn class_of_file(&self, name: &str, parsed: &ParsedFile) -> Option<Arc<ClassDefinition>> {
        let classes = &parsed.definition.classes;
        let class = classes.iter().map(|stored| &stored.class);
        let named = class.clone().find(|class| class.name.name == name);
        if let Some(extra) = class.clone().find(|class| named.is_none_or(|n| !Arc::ptr_eq(n, class))) {
            let place = extra.name.span;
            let message = format!("class `{}` is in the file of `{name}`", extra.name);
            self.report(
                Diagnostic::error(codes::E0122, place, message)
                    .with_label(format!("expected only the class `{name}`"))
                    .with_help("rename the class or the file: each file holds one class"),
            );
        }
        if classes.is_empty() && parsed.is_ok {
            let span = Span::at(parsed.file, 0);
            let message = format!("this file holds no class, `{name}` is expected");
            self.report(Diagnostic::error(codes::E0122, span, message));
        }
        named.cloned()
    }

    /// A file, parsed at the first use.
    pub fn parsed(&self, path: &Path) -> Option<Arc<ParsedFile>> {
        self.parsed_as(path, false)
    }

    fn parsed_as(&self, path: &Path, named: bool) -> Option<Arc<ParsedFile>> {
        if let Some(known) = self.state().parsed.get(path) {
            return known.clone();
        }
        match self.files.tree(path) {
            Ok(Some(tree)) => return self.keep_tree(path, tree),
            Ok(None) => {}
            Err(error) => {
                self.report(unreadable(path, &error));
                self.state().parsed.insert(path.to_owned(), None);
                return None;
            }
        }
        let version = self.cache.as_ref().and_then(|_| self.files.version(path));
        if let (Some(cache), Some(version)) = (&self.cache, version)
            && let Some(known) = cache.get(path, version)
        {
            let mut state = self.state();
            state.diagnostics.extend(known.diagnostics);
            state.parsed.insert(path.to_owned(), Some(Arc::clone(&known.parsed)));
            return Some(known.parsed);
        }
        let read = if named {
            self.files.read_named(path)
        } else {
            self.files.read(path)
        };
        let parsed = match read {
            Ok(bytes) => {
                let file = self.sources.add_bytes(path.to_string_lossy(), bytes);
                self.parse_cached(path, file, version)
            }
            Err(error) => {
                self.report(unreadable(path, &error));
                None
            }
        };
        self.state().parsed.insert(path.to_owned(), parsed.clone());
        parsed
    }

    /// A file whose tree needs no parser.
    fn keep_tree(&self, path: &Path, tree: StoredTree) -> Option<Arc<ParsedFile>> {
        let parsed = match tree.read(&self.sources, &path.to_string_lossy()) {
            Ok((file, definition)) => Some(Arc::new(ParsedFile {
                file,
                definition,
                is_ok: true,
            })),
            Err(error) => {
                self.report(unreadable(path, &error.into()));
                None
            }
        };
        self.state().parsed.insert(path.to_owned(), parsed.clone());
        parsed
    }

    fn parse_cached(&self, path: &Path, file: FileId, version: Option<u64>) -> Option<Arc<ParsedFile>> {
        let parse = parse_file(&*self.sources.file(file)?);
        let diagnostics = parse.diagnostics.clone();
        let parsed = self.keep(file, parse);
        if let (Some(cache), Some(version)) = (&self.cache, version) {
            let file = CachedFile {
                version,
                parsed: Arc::clone(&parsed),
                diagnostics,
            };
            cache.insert(path, file);
        }
        Some(parsed)
    }

    fn parse_source(&self, file: FileId) -> Option<Arc<ParsedFile>> {
        let parse = parse_file(&*self.sources.file(file)?);
        Some(self.keep(file, parse))
    }

    fn keep(&self, file: FileId, parse: Parse) -> Arc<ParsedFile> {
        let parsed = Arc::new(ParsedFile {
            file,
            definition: parse.ast(),
            is_ok: parse.is_ok(),
        });
        self.state().diagnostics.extend(parse.diagnostics);
        parsed
    }

    /// The listing of a folder, read at the first use; empty if it cannot be read.
    fn folder(&self, path: &Path) -> Arc<Folder> {
        if let Some(known) = self.state().folders.get(path) {
            return Arc::clone(known);
        }
        let holds_package = |folder: &Path| {
            let entries = self.files.list(folder).unwrap_or_default();
            entries.iter().any(|e| e.name == "package.mo" && !e.is_folder)
        };
        let entries = self.files.list(path).unwrap_or_else(|error| {
            if error.kind() != std::io::ErrorKind::NotFound && self.files.is_folder(path) {
                self.report(unreadable(path, &error));
            }
            Vec::new()
        });
        let folder = Arc::new(Folder::new(path, &entries, holds_package));
        self.state().folders.insert(path.to_owned(), Arc::clone(&folder));
        folder
    }
}

/// The diagnostic of a file or folder that cannot be read.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder, not a file".to_owned(),
        _ => error.to_string(),
    };
    let message = format!("cannot read `{}`: {reason}", path.display());
    Diagnostic::without_place(codes::E0120, Severity::Error, message)
}

/// `Modelica` for a folder `Modelica 4.1.0` or a unit `Modelica.saltus-unit`.
fn class_name_of_folder(folder: &str) -> &str {
    let folder = folder.strip_suffix(SUFFIX).unwrap_or(folder);
    folder.split(' ').next().unwrap_or(folder)
}

/// The numbers of a folder name such as `Modelica 4.1.0`, so that 4.10 comes behind 4.9.
fn version(folder: &str) -> Vec<u64> {
    let (_, version) = folder.split_once(' ').unwrap_or((folder, ""));
    let numbers = version.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

fn package_in(folder: &Path, name: &str) -> Stored {
    Stored {
        name: Name::new(name),
        file: folder.join("package.mo"),
        folder: Some(folder.to_owned()),
    }
}

/// The folders of a path list such as the value of `MODELICAPATH`.
pub fn split_path_list(list: &std::ffi::OsStr) -> Vec<PathBuf> {
    std::env::split_paths(list)
        .filter(|path| !path.as_os_str().is_empty())
        .collect()
}
