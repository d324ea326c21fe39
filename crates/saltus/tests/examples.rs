//! Every example and every small model of `tests/models` keeps what its header promises, and every component of the
//! library is used by an example.

mod examples_support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use examples_support::run::failures;
use saltus_testing::{modelica_files, repository};

/// Runs the examples on all cores; each is independent of the others.
fn failing(files: &[PathBuf]) -> BTreeMap<PathBuf, Vec<String>> {
    let next = AtomicUsize::new(0);
    let failing = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = failures(file);
                    if !found.is_empty() {
                        failing.lock().expect("no panic").insert(file.clone(), found);
                    }
                }
            });
        }
    });
    failing.into_inner().expect("no panic")
}

fn text_of(failing: &BTreeMap<PathBuf, Vec<String>>, folder: &Path) -> String {
    let mut text = String::new();
    for (file, messages) in failing {
        let name = file.strip_prefix(folder).unwrap_or(file);
        text.push_str(&format!("{}\n", name.display()));
        messages
            .iter()
            .for_each(|message| text.push_str(&format!("    {message}\n")));
    }
    text
}

#[test]
fn examples_keep_their_promises() {
    all_keep_their_promises("examples");
}

/// The smallest models that show one rule of the language or of the engine each.
#[test]
fn models_keep_their_promises() {
    all_keep_their_promises("tests/models");
}

/// The models of the papers that say what a run of them gives.
#[test]
fn models_of_the_papers_keep_their_promises() {
    all_keep_their_promises("tests/papers");
}

/// `SALTUS_EXAMPLE=Cradle` runs the files with that text in their names only.
fn all_keep_their_promises(folder: &str) {
    let folder = repository().join(folder);
    let mut files = modelica_files(&folder);
    // Some are analysed only, by another test.
    let expects = |file: &PathBuf| std::fs::read_to_string(file).is_ok_and(|text| text.contains("// expect: "));
    files.retain(|file| !folder.ends_with("papers") || expects(file));
    if let Ok(only) = std::env::var("SALTUS_EXAMPLE") {
        files.retain(|file| file.to_string_lossy().contains(&only));
    }
    assert!(!files.is_empty() || std::env::var("SALTUS_EXAMPLE").is_ok());
    let failing = failing(&files);
    assert!(failing.is_empty(), "\n{}", text_of(&failing, &folder));
}
