//! The files of the repository.

use std::path::{Path, PathBuf};

/// The folder of the repository.
///
/// # Panics
/// If this crate is not where it was when it was compiled.
pub fn repository() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("a folder of crates").to_owned()
}

/// The text of a file in `tests/reference`.
///
/// # Panics
/// If there is no such file.
pub fn reference(name: &str) -> String {
    let path = repository().join("tests/reference").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Modelica files in a folder and in those below it, sorted: a folder of the repository, or one anywhere if its path is
/// absolute.
///
/// # Panics
/// If there is no such folder.
pub fn modelica_files(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    files(folder, "mo")
}

/// The same for files with any extension.
///
/// # Panics
/// If there is no such folder.
pub fn files(folder: impl AsRef<Path>, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&repository().join(folder), extension, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            collect(&path, extension, found);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_found() {
        let files = modelica_files("examples");
        assert!(files.iter().any(|file| file.ends_with("MotorAndLoad.mo")));
        assert_eq!(modelica_files(repository().join("examples")), files);
        assert!(files.is_sorted());
    }

    #[test]
    fn folders_below_are_looked_into_for_one_extension() {
        let pages = files("docs/src", "md");
        assert!(pages.iter().any(|page| page.ends_with("contributing/architecture.md")));
        assert!(pages.iter().all(|page| page.extension().is_some_and(|own| own == "md")));
    }
}
