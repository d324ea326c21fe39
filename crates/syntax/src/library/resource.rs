//! Files that models read: data beside the classes of a library, or in folders that the user names.

use std::io;
use std::path::{Path, PathBuf};

use saltus_source::FileId;

use super::Library;

impl Library {
    /// The path that a name of a file stands for: `modelica://Package.Name/file` lies in the folder of that package,
    /// `file://` and all else is a path of the machine.
    pub fn resource(&self, name: &str) -> Option<PathBuf> {
        if let Some(rest) = strip_scheme(name, "modelica://") {
            let (package, file) = rest.split_once('/').unwrap_or((rest, ""));
            let top = self.top_level(package.split('.').next()?)?;
            let mut folder = match top.folder() {
                Some(folder) => folder.to_owned(),
                None => self.folder_of(top.file)?,
            };
            for inner in package.split('.').skip(1) {
                let next = folder.join(inner);
                if self.files.is_folder(&next) {
                    folder = next;
                }
            }
            return Some(self.files.absolute(&folder.join(file)));
        }
        let path = strip_scheme(name, "file://").unwrap_or(name);
        Some(self.files.absolute(Path::new(path)))
    }

    /// The content of a file that a model names. What lies outside of the folders of libraries and of the files that the
    /// user gives is not read.
    pub fn read_resource(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.check_resource(path)?;
        self.files.read(path)
    }

    /// Whether there is a folder with this path where models may look.
    pub fn is_resource_folder(&self, path: &Path) -> bool {
        self.check_resource(path).is_ok() && self.files.is_folder(path)
    }

    /// The folder of a file, from the root.
    fn folder_of(&self, file: FileId) -> Option<PathBuf> {
        let file = self.sources().file(file)?;
        let path = self.files.absolute(Path::new(file.name()));
        path.parent()
            .map(Path::to_owned)
            .filter(|folder| folder.is_absolute() || !folder.as_os_str().is_empty())
    }

    fn check_resource(&self, path: &Path) -> io::Result<()> {
        let canonical = self.files.canonical(path);
        let given = self.given();
        let beside = given.iter().filter_map(|class| self.folder_of(class.file));
        let mut folders = self.search_path().iter().cloned().chain(beside);
        if folders.any(|folder| canonical.starts_with(self.files.canonical(&folder))) {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is outside the folders of the libraries and of the given files",
        ))
    }
}

fn strip_scheme<'n>(name: &'n str, scheme: &str) -> Option<&'n str> {
    let head = name.get(..scheme.len())?;
    head.eq_ignore_ascii_case(scheme).then(|| &name[scheme.len()..])
}
