//! The component library, carried along so that it is there wherever the program is.

use std::io;
use std::path::{Path, PathBuf};

use saltus_syntax::library::{Disk, FileSystem, FolderEntry, MemoryFiles, Units};
use saltus_syntax::unit::StoredTree;

/// Where the library is found; no folder of a disk has this name.
pub const FOLDER: &str = "<built in>";

macro_rules! library {
    ($($file:literal),*) => {
        &[$(($file, include_str!(concat!("../library/", $file)))),*]
    };
}

const LIBRARY: &[(&str, &str)] = library![
    "Saltus/Blocks.mo",
    "Saltus/Electrical.mo",
    "Saltus/Fmi.mo",
    "Saltus/Hydraulic.mo",
    "Saltus/Planar.mo",
    "Saltus/Rotational.mo",
    "Saltus/Thermal.mo",
    "Saltus/Translational.mo",
    "Saltus/Units.mo",
    "Saltus/package.mo",
    "Saltus/package.order"
];

/// The files of the machine with units as folders, and those of the library.
#[derive(Debug)]
pub struct DiskAndLibrary {
    library: MemoryFiles,
    disk: Units<Disk>,
}

impl DiskAndLibrary {
    /// Both.
    pub fn new() -> Self {
        let add = |files: MemoryFiles, (name, text): &(&str, &str)| files.with(Path::new(FOLDER).join(name), *text);
        DiskAndLibrary {
            library: LIBRARY.iter().fold(MemoryFiles::new(), add),
            disk: Units::new(Disk),
        }
    }

    fn of(&self, path: &Path) -> &dyn FileSystem {
        if path.starts_with(FOLDER) {
            &self.library
        } else {
            &self.disk
        }
    }
}

impl Default for DiskAndLibrary {
    fn default() -> Self {
        DiskAndLibrary::new()
    }
}

impl FileSystem for DiskAndLibrary {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.of(path).read(path)
    }

    fn read_named(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.of(path).read_named(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        self.of(folder).list(folder)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.of(path).is_folder(path)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.of(path).absolute(path)
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        self.of(path).canonical(path)
    }

    fn tree(&self, path: &Path) -> io::Result<Option<StoredTree>> {
        self.of(path).tree(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;

    #[test]
    fn all_files_are_carried_along() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library/Saltus");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut found: Vec<String> = entries
            .map(|entry| format!("Saltus/{}", entry.unwrap().file_name().to_string_lossy()))
            .collect();
        found.sort();
        assert_eq!(LIBRARY.iter().map(|(name, _)| *name).collect::<Vec<_>>(), found);
    }

    #[test]
    fn models_find_the_library_and_another_one_first() {
        let circuit = "model M Saltus.Electrical.Resistor r(R = 2); Saltus.Electrical.Ground g; \
                       Saltus.Electrical.ConstantVoltage s(V = 6); equation connect(s.p, r.p); connect(r.n, s.n); \
                       connect(s.n, g.p); end M;";
        let session = Session::new();
        session.add_text("M.mo", circuit);
        let simulation = session.compile("M").into_result().unwrap().run().simulate().unwrap();
        assert_eq!(simulation.values("r.i").unwrap()[0], 3.0);

        let session = Session::new();
        session.add_text("Saltus.mo", "package Saltus model Own Real x = 1; end Own; end Saltus;");
        session.add_text("N.mo", "model N Saltus.Own a; end N;");
        assert!(session.compile("N").into_result().is_ok());
    }
}
