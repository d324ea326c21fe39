//! Libraries in the folder of the user: where they are, which version of one is meant, and how they get there.

mod archive;
mod install;

use std::path::{Path, PathBuf};

use saltus::Session;
use saltus::library::About;

use crate::streams::is_standard;

pub(crate) use install::{Installed, add, remove};

/// The folder of the user's libraries: `SALTUS_LIBRARIES`, or where programs of this system keep their data.
pub(crate) fn user_folder() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = variable("SALTUS_LIBRARIES") {
        return Some(folder);
    }
    let data = variable("XDG_DATA_HOME")
        .or_else(|| variable("APPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".local").join("share")))?;
    Some(data.join("saltus").join("libraries"))
}

/// The libraries in a folder, by name and version.
pub(crate) fn list(folder: &Path) -> Vec<Installed> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<Installed> = entries.filter_map(|entry| Installed::at(&entry.ok()?.path())).collect();
    found.sort_by(|a, b| (&a.about.name, &a.path).cmp(&(&b.about.name, &b.path)));
    found
}

/// Folders of the versions that the files ask for by their `uses`, where folders have them (`Name 4.1.0`): these come before the
/// latest ones.
pub(crate) fn versions_asked_for(files: &[PathBuf], folders: &[PathBuf]) -> Vec<PathBuf> {
    let has_versions = |folder: &PathBuf| {
        let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().contains(' '))
    };
    if !folders.iter().any(has_versions) {
        return Vec::new();
    }
    let session = Session::new();
    let on_disk = files.iter().filter(|file| !is_standard(file));
    on_disk.for_each(|file| session.add_file(file));
    let classes = session.library().given();
    let uses = classes.iter().flat_map(|class| About::of(class).uses);
    let named = uses.filter_map(|(name, version)| Some(format!("{name} {}", version?)));
    let mut found = Vec::new();
    for name in named {
        let places = folders.iter().map(|folder| folder.join(&name));
        found.extend(places.into_iter().find(|place| place.join("package.mo").is_file()));
    }
    found
}
