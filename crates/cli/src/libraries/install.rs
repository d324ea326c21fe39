//! Putting libraries into the folder of the user, and taking them out.

use std::path::{Path, PathBuf};

use saltus::Session;
use saltus::library::About;
use saltus_fmi::archive::Entry;

use super::archive;

/// Files of a library: more is a mistake or an attack.
const MOST_FILES: usize = 200_000;
/// Bytes of a library.
const MOST_BYTES: u64 = 1 << 30;
/// Folders that may stand around the libraries in an archive.
const MOST_AROUND: usize = 3;
/// The file of a package folder.
const PACKAGE: &str = "package.mo";

/// A library on disk.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub about: About,
    /// Its folder or file.
    pub path: PathBuf,
}

impl Installed {
    /// The library in this folder or file, if it is one.
    pub(crate) fn at(path: &Path) -> Option<Installed> {
        let is_file = path.is_file() && path.extension().is_some_and(|extension| extension == "mo");
        if !is_file && !path.join(PACKAGE).is_file() {
            return None;
        }
        let session = Session::new();
        session.add_file(path);
        let class = session.added_last().into_iter().next()?;
        let about = About::of(&class);
        (class.path.len() == 1).then_some(Installed {
            about,
            path: path.to_owned(),
        })
    }

    /// The name of its folder or file where it is installed.
    fn place(&self) -> String {
        let name = &self.about.name;
        let own = match &self.about.version {
            Some(version) if version.chars().all(|c| c.is_ascii_alphanumeric() || ".-+_".contains(c)) => {
                format!("{name} {version}")
            }
            _ => name.clone(),
        };
        if self.path.is_file() { format!("{own}.mo") } else { own }
    }
}

/// Installs the libraries of a folder or an archive; those that are there already in the same version are replaced.
pub(crate) fn add(source: &Path, target: &Path) -> Result<Vec<Installed>, String> {
    std::fs::create_dir_all(target).map_err(|error| format!("cannot make `{}`: {error}", target.display()))?;
    let work = target.join(format!(".adding-{}", std::process::id()));
    let outcome = add_by_way_of(source, target, &work);
    // What is left of it is of no use.
    let _ = std::fs::remove_dir_all(&work);
    outcome
}

fn add_by_way_of(source: &Path, target: &Path, work: &Path) -> Result<Vec<Installed>, String> {
    let unpacked = work.join("unpacked");
    let source = if source.is_dir() || source.extension().is_some_and(|extension| extension == "mo") {
        source
    } else {
        write(&archive::files(source)?, &unpacked)?;
        &unpacked
    };
    let found = libraries_in(source, MOST_AROUND);
    if found.is_empty() {
        return Err("there is no library in it: no folder with a `package.mo`, and no file with a package".to_owned());
    }
    let mut installed = Vec::new();
    for library in found {
        let place = library.place();
        let (copy, path) = (work.join(&place), target.join(&place));
        copy_all(&library.path, &copy, &mut Budget::default())
            .map_err(|error| format!("cannot copy `{}`: {error}", library.path.display()))?;
        take_away(&path).map_err(|error| format!("cannot replace `{}`: {error}", path.display()))?;
        std::fs::rename(&copy, &path).map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        installed.push(Installed { path, ..library });
    }
    Ok(installed)
}

/// The libraries of a folder: itself, or those in it, or those deeper down where nothing is.
fn libraries_in(folder: &Path, around: usize) -> Vec<Installed> {
    if let Some(library) = Installed::at(folder) {
        return vec![library];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| !is_hidden(path))
        .collect();
    paths.sort();
    let found: Vec<Installed> = paths.iter().filter_map(|path| Installed::at(path)).collect();
    if !found.is_empty() || around == 0 {
        return found;
    }
    let folders = paths.iter().filter(|path| path.is_dir());
    folders.flat_map(|path| libraries_in(path, around - 1)).collect()
}

/// Takes a library out of the folder of the user: all its versions, or one as `Name 4.1.0`.
pub(crate) fn remove(name: &str, target: &Path) -> Result<Vec<Installed>, String> {
    let meant = |library: &Installed| {
        let version = library.about.version.as_deref().unwrap_or_default();
        library.about.name == name || format!("{} {version}", library.about.name) == name
    };
    let found: Vec<Installed> = super::list(target).into_iter().filter(meant).collect();
    for library in &found {
        take_away(&library.path).map_err(|error| format!("cannot remove `{}`: {error}", library.path.display()))?;
    }
    Ok(found)
}

fn take_away(path: &Path) -> std::io::Result<()> {
    let removed = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.is_none_or(|name| name.starts_with('.'))
}

/// Writes the files of an archive, whose paths have been looked at.
fn write(entries: &[Entry], folder: &Path) -> Result<(), String> {
    if entries.len() > MOST_FILES {
        return Err(format!("it has more than {MOST_FILES} files"));
    }
    for entry in entries {
        let path = folder.join(&entry.path);
        let parent = path.parent().unwrap_or(folder);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, &entry.content));
        written.map_err(|error| format!("cannot write `{}`: {error}", entry.path))?;
    }
    Ok(())
}

/// What may still be copied.
struct Budget {
    files: usize,
    bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            files: MOST_FILES,
            bytes: MOST_BYTES,
        }
    }
}

/// Copies a file or a folder without what is hidden and without links.
fn copy_all(from: &Path, to: &Path, left: &mut Budget) -> std::io::Result<()> {
    let kind = std::fs::symlink_metadata(from)?;
    if kind.is_dir() {
        std::fs::create_dir_all(to)?;
        for entry in std::fs::read_dir(from)? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| !is_hidden(&path)) {
                copy_all(&path, &to.join(name), left)?;
            }
        }
        return Ok(());
    }
    if !kind.is_file() {
        return Ok(());
    }
    let rest = left.files.checked_sub(1).zip(left.bytes.checked_sub(kind.len()));
    let Some((files, bytes)) = rest else {
        return Err(std::io::Error::other("the library is too large"));
    };
    (left.files, left.bytes) = (files, bytes);
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::copy(from, to).map(drop)
}
