//! Files, libraries and the classes in them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use saltus_lang::FlattenOptions;
use saltus_routines::ExternalHost;
use saltus_source::{Cancel, Diagnostic, Diagnostics, Severity, SourceMap, codes};
use saltus_syntax::ast::{ClassDefinition, ClassKind, Name, split_name};
use saltus_syntax::library::{FileSystem, Library, LibraryClass, ParseCache};

use crate::Outcome;
use crate::built_in::{self, DiskAndLibrary};

/// The files and libraries that take part, and everything asked about their models.
///
/// ```
/// let session = saltus::Session::new();
/// session.add_text("Decay.mo", "model Decay Real x(start = 1); equation der(x) = -x; end Decay;");
/// assert_eq!(session.find_model(None).value.as_deref(), Some("Decay"));
/// ```
#[derive(Debug)]
pub struct Session {
    pub(crate) files: Arc<dyn FileSystem>,
    pub(crate) library: Library,
    /// The classes of the file added last.
    last: Mutex<Vec<Arc<LibraryClass>>>,
    pub(crate) cancel: Cancel,
    /// Who runs external code.
    external: Option<Arc<dyn ExternalHost>>,
}

impl Default for Session {
    fn default() -> Self {
        Session::new()
    }
}

impl Session {
    /// A session on the file system. The component library `Saltus` is there.
    pub fn new() -> Session {
        Session::with_libraries(Vec::new())
    }

    /// A session on the file system. Classes that are not in a file given are looked for in these folders, in order, and
    /// then in the component library `Saltus`.
    pub fn with_libraries(mut folders: Vec<PathBuf>) -> Session {
        folders.push(PathBuf::from(built_in::FOLDER));
        Session::with_files(Arc::new(DiskAndLibrary::new()), folders)
    }

    /// A session on files from elsewhere, such as [`MemoryFiles`](crate::library::MemoryFiles).
    pub fn with_files(files: Arc<dyn FileSystem>, folders: Vec<PathBuf>) -> Session {
        Session {
            library: Library::new(Arc::clone(&files), Arc::new(SourceMap::new()), folders),
            files,
            last: Mutex::default(),
            cancel: Cancel::new(),
            external: None,
        }
    }

    /// A session on files from elsewhere that shares what it parses with other sessions: editors make one after each change.
    pub fn with_cache(files: Arc<dyn FileSystem>, cache: Arc<ParseCache>, folders: Vec<PathBuf>) -> Session {
        Session {
            library: Library::with_cache(Arc::clone(&files), cache, folders),
            files,
            last: Mutex::default(),
            cancel: Cancel::new(),
            external: None,
        }
    }

    /// The session, until it is asked to stop: what is checked, compiled or analysed at that moment has no result.
    #[must_use]
    pub fn until(mut self, cancel: Cancel) -> Session {
        self.cancel = cancel;
        self
    }

    /// The session, with the code of external functions (`external "C"`) run by a host, such as `saltus_c_host::CHost`. Without
    /// one no code of others runs. With one it has all rights of this process, from the moment that a model is checked.
    #[must_use]
    pub fn with_external_code(mut self, host: Arc<dyn ExternalHost>) -> Session {
        self.external = Some(host);
        self
    }

    pub(crate) fn flatten_options(&self) -> FlattenOptions {
        FlattenOptions {
            cancel: self.cancel.clone(),
            external: self.external.clone(),
            ..FlattenOptions::default()
        }
    }

    /// Adds a file or a folder.
    pub fn add_file(&self, path: impl AsRef<Path>) {
        self.remember(self.library.add(path.as_ref()));
    }

    /// Adds text that is on no disk, under a name for messages.
    pub fn add_text(&self, name: &str, text: &str) {
        self.remember(self.library.add_text(name, text));
    }

    /// Adds files and folders, reading all of them now, on all processors.
    pub fn load(&self, paths: &[PathBuf]) {
        self.library.load_all(paths);
        for path in paths {
            self.add_file(path);
        }
    }

    fn remember(&self, classes: Vec<Arc<LibraryClass>>) {
        *self.last.lock().unwrap_or_else(|e| e.into_inner()) = classes;
    }

    /// The classes of the file or folder added last.
    pub fn added_last(&self) -> Vec<Arc<LibraryClass>> {
        self.last.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// The files that were read, for showing diagnostics.
    pub fn sources(&self) -> &Arc<SourceMap> {
        self.library.sources()
    }

    /// The classes, for tools that look at them directly.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// What was found wrong with the files read so far.
    pub fn diagnostics(&self) -> Diagnostics {
        self.library.diagnostics()
    }

    /// The full name of the model meant: the one named if there is such a class, else the last model of the file
    /// added last.
    pub fn find_model(&self, name: Option<&str>) -> Outcome<String> {
        let found = match name {
            Some(name) => self.named_model(name),
            None => self.last_model(),
        };
        let mut diagnostics = self.library.diagnostics();
        let value = match found {
            Ok(name) => Some(name),
            Err(diagnostic) => {
                // A file with syntax errors says enough about why its classes are not found.
                if !diagnostics.has_errors() {
                    diagnostics.push(*diagnostic);
                }
                None
            }
        };
        Outcome::new(value, diagnostics)
    }

    fn named_model(&self, name: &str) -> Result<String, Box<Diagnostic>> {
        let path: Vec<Name> = split_name(name).into_iter().map(Name::new).collect();
        // Inherited and imported classes are found by flattening; here it is enough that the first part exists.
        if self.library.top_level(&path[0]).is_some() {
            return Ok(name.to_owned());
        }
        let message = format!("there is no model `{name}`");
        let diagnostic = Diagnostic::without_place(codes::E0126, Severity::Error, message);
        let given = self.library.given();
        let known: Vec<String> = given.iter().rev().filter_map(|class| last_model_in(class)).collect();
        Err(Box::new(match known.first() {
            Some(known) => diagnostic.with_help(format!("the files given hold `{known}`")),
            None => diagnostic.with_help("name the file that holds it, or add the folder of its library with `-L`"),
        }))
    }

    fn last_model(&self) -> Result<String, Box<Diagnostic>> {
        let last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        let found = last.iter().rev().find_map(|class| last_model_in(class));
        found.ok_or_else(|| {
            if let Some(class) = last.iter().rev().find(|class| is_partial_model(&class.definition)) {
                let message = format!("`{}` is partial and cannot be simulated", class.qualified_name());
                let diagnostic = Diagnostic::error(codes::E0208, class.definition.name.span, message);
                return Box::new(diagnostic.with_help("simulate a model that extends it"));
            }
            let message = match last.last() {
                Some(class) => format!("`{}` holds no model", class.qualified_name()),
                None => "there is no model in the files given".to_owned(),
            };
            let diagnostic = Diagnostic::without_place(codes::E0126, Severity::Error, message);
            Box::new(diagnostic.with_help("name one with `--model`"))
        })
    }
}

fn is_partial_model(class: &ClassDefinition) -> bool {
    class.partial && matches!(class.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class)
}

/// The class itself if it is a model, or the last model inside.
fn last_model_in(class: &LibraryClass) -> Option<String> {
    let mut path: Vec<Name> = class.path.clone();
    last_model_of(&class.definition, &mut path).then(|| path.join("."))
}

fn last_model_of(class: &ClassDefinition, path: &mut Vec<Name>) -> bool {
    match class.kind {
        ClassKind::Model | ClassKind::Block | ClassKind::Class => !class.partial,
        ClassKind::Package => {
            let inner: Vec<_> = class.classes().map(|(_, inner)| inner).collect();
            inner.into_iter().rev().any(|inner| {
                path.push(inner.name.name.clone());
                let found = last_model_of(inner, path);
                if !found {
                    path.pop();
                }
                found
            })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_of(text: &str) -> Option<String> {
        let session = Session::new();
        session.add_text("M.mo", text);
        session.find_model(None).value
    }

    #[test]
    fn the_last_model_is_meant() {
        assert_eq!(last_of("model A end A; model B end B;"), Some("B".into()));
        assert_eq!(last_of("model A end A; connector C end C;"), Some("A".into()));
        assert_eq!(last_of("model A end A; partial model B end B;"), Some("A".into()));
        let nested = "package P package Q model M end M; end Q; function f end f; end P;";
        assert_eq!(last_of(nested), Some("P.Q.M".into()));
        assert_eq!(last_of("package P end P;"), None);
    }

    #[test]
    fn a_partial_model_alone_is_named_with_its_place() {
        let session = Session::new();
        session.add_text("M.mo", "connector C end C; partial model A Real x; end A;");
        let outcome = session.find_model(None);
        let found: Vec<_> = outcome.diagnostics.iter().collect();
        assert!(outcome.value.is_none());
        assert_eq!(found[0].code, codes::E0208);
        assert!(found[0].span().is_some() && found[0].message.contains("`A` is partial"));
    }

    #[test]
    fn a_model_that_is_not_there_is_named() {
        let session = Session::new();
        session.add_text("M.mo", "model M end M;");
        let outcome = session.find_model(Some("N"));
        assert!(outcome.value.is_none());
        let text = format!("{:?}", outcome.diagnostics);
        assert!(
            text.contains("there is no model `N`") && text.contains("the files given hold `M`"),
            "{text}"
        );
    }

    #[test]
    fn syntax_errors_come_first() {
        let session = Session::new();
        session.add_text("M.mo", "model M Real x end M;");
        let outcome = session.find_model(Some("M"));
        assert!(outcome.value.is_none());
        assert!(outcome.diagnostics.iter().all(|d| d.code != codes::E0126));
    }

    #[test]
    fn work_ends_when_it_is_asked_to() {
        // The function takes seconds, and then more steps than it may.
        let text = "model M
            function f output Integer n; algorithm n := 0; while n >= 0 loop n := n + 1 - 1; end while; end f;
            parameter Integer n = f(); Real x[n] = ones(n);
          end M;";
        let cancel = Cancel::new();
        let session = Session::new().until(cancel.clone());
        session.add_text("M.mo", text);
        let checked = std::thread::scope(|scope| {
            let check = scope.spawn(|| session.check_all(false));
            std::thread::sleep(std::time::Duration::from_millis(20));
            cancel.cancel();
            check.join()
        });
        let found = checked.expect("no panic").diagnostics;
        assert!(found.iter().all(|d| d.code != codes::E0307), "{found:?}");
        assert!(session.flatten("M").value.is_none() && session.compile("M").value.is_none());
    }
}
