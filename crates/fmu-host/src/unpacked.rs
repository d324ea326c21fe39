//! The files of a unit, in a folder of their own while it runs.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use saltus_fmi::Version;
use saltus_fmi::archive::{Entry, unpack};
use saltus_fmi::export::host_platform;

use crate::description::Description;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A unit on disk; its folder goes with it.
#[derive(Debug)]
pub(crate) struct Unpacked {
    folder: PathBuf,
    pub(crate) description: Description,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // A folder that cannot be removed stays among the temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The description of a unit, and all its files.
pub(crate) fn read(path: &Path) -> Result<(Description, Vec<Entry>), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let entries = unpack(&bytes).map_err(|damaged| damaged.to_string())?;
    let description = entries.iter().find(|entry| entry.path == "modelDescription.xml");
    let description = description.ok_or("there is no `modelDescription.xml` in it")?;
    let text = std::str::from_utf8(&description.content).map_err(|_| "`modelDescription.xml` is no text")?;
    Ok((Description::read(text)?, entries))
}

impl Unpacked {
    pub(crate) fn new(path: &Path) -> Result<Unpacked, String> {
        let (description, entries) = read(path)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("saltus-unit-{}-{number}", std::process::id()));
        let unpacked = Unpacked { folder, description };
        for entry in &entries {
            unpacked.write(entry)?;
        }
        let resources = unpacked.resources();
        std::fs::create_dir_all(&resources).map_err(|error| format!("it cannot be unpacked: {error}"))?;
        Ok(unpacked)
    }

    fn write(&self, entry: &Entry) -> Result<(), String> {
        let path = Path::new(&entry.path);
        // No file may end up outside of the folder.
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            return Err(format!("the path `{}` in it leads outside", entry.path));
        }
        if entry.path.ends_with('/') {
            return Ok(());
        }
        let target = self.folder.join(path);
        let written = match target.parent() {
            Some(folder) => std::fs::create_dir_all(folder),
            None => Ok(()),
        };
        let written = written.and_then(|()| std::fs::write(&target, &entry.content));
        written.map_err(|error| format!("`{}` cannot be unpacked: {error}", entry.path))
    }

    pub(crate) fn resources(&self) -> PathBuf {
        self.folder.join("resources")
    }

    /// The shared library for this platform.
    pub(crate) fn library(&self, identifier: &str) -> Result<PathBuf, String> {
        let platform = host_platform();
        let platform = match (self.description.version, &*platform) {
            (Version::Two, "x86_64-linux") => "linux64",
            (Version::Two, "x86_64-windows") => "win64",
            (Version::Two, "x86_64-darwin" | "aarch64-darwin") => "darwin64",
            (_, other) => other,
        };
        let path = Path::new("binaries")
            .join(platform)
            .join(format!("{identifier}{}", std::env::consts::DLL_SUFFIX));
        let library = self.folder.join(&path);
        if !library.is_file() {
            return Err(format!(
                "it has no code for this platform: there is no `{}` in it",
                path.display()
            ));
        }
        Ok(library)
    }
}
