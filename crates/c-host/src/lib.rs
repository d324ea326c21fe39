//! External functions of Modelica models (`external "C"`) that run: their C text is compiled by the compiler of the system into
//! a shared library of its own, loaded and called.
//!
//! - [`CHost`]: makes code of functions; who gives it to a session allows foreign code;
//! - `text`: the C text around a function: one entry with plain arguments, whatever the function takes, and the functions of
//!   `ModelicaUtilities.h`. Errors that C code raises leave it by `longjmp` within C and come back as a status;
//! - `loaded`: the shared library behind a safe face. All `unsafe` of this crate is there.
//!
//! Each function is compiled by itself: static variables of an `Include` are not shared between functions.

mod loaded;
mod text;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use saltus_routines::{ExternalCode, ExternalFunction, ExternalHost};

use loaded::Loaded;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Lines of what a compiler says that are passed on.
const MOST_LINES: usize = 6;

/// Compiles functions with a C compiler that understands the options of `cc`.
#[derive(Clone, Debug)]
pub struct CHost {
    compiler: String,
    folder: PathBuf,
}

impl CHost {
    /// A host with a compiler, and a folder for temporary files.
    pub fn new(compiler: impl Into<String>, folder: impl Into<PathBuf>) -> CHost {
        CHost {
            compiler: compiler.into(),
            folder: folder.into(),
        }
    }
}

/// A folder that goes when nobody needs it any more.
#[derive(Debug)]
struct Workplace(PathBuf);

impl Workplace {
    fn new(within: &Path) -> std::io::Result<Workplace> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = within.join(format!("saltus-code-{}-{number}", std::process::id()));
        // Nobody else may have put something there.
        std::fs::create_dir(&folder)?;
        Ok(Workplace(folder))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // A folder that cannot be removed stays among the temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl ExternalHost for CHost {
    fn open(&self, function: &ExternalFunction) -> Result<Arc<dyn ExternalCode>, String> {
        let place = Workplace::new(&self.folder).map_err(|error| {
            format!(
                "there is no place for temporary files in `{}`: {error}",
                self.folder.display()
            )
        })?;
        let source = text::source(function)?;
        let write = |name: &str, content: &str| {
            let written = std::fs::write(place.0.join(name), content);
            written.map_err(|error| format!("`{name}` cannot be written: {error}"))
        };
        write("function.c", &source)?;
        write("ModelicaUtilities.h", text::UTILITIES)?;
        let library = place.0.join(format!("function{}", std::env::consts::DLL_SUFFIX));
        self.compile(function, &place.0, &library)?;
        let loaded = Loaded::new(&library, function).map_err(|why| self.said(function, &why))?;
        Ok(Arc::new(Kept { loaded, _place: place }))
    }
}

impl CHost {
    fn compile(&self, function: &ExternalFunction, place: &Path, library: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.compiler);
        command.args(["-shared", "-fPIC", "-O1", "-std=gnu11"]);
        command.args([
            "-Werror=implicit-function-declaration",
            "-Werror=implicit-int",
            "-Werror=int-conversion",
            "-Werror=incompatible-pointer-types",
        ]);
        // What is not defined shows now and not when it is called.
        if cfg!(target_os = "linux") {
            command.arg("-Wl,--no-undefined");
        }
        command.arg("-o").arg(library).arg(place.join("function.c"));
        command.arg("-I").arg(place);
        for folder in &function.origin.include_folders {
            command.arg("-I").arg(&**folder);
        }
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in function
            .origin
            .library_folders
            .iter()
            .map(|folder| Path::new(&**folder))
        {
            folders.extend(platform_folders().map(|platform| folder.join(platform)));
            folders.push(folder.to_owned());
        }
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            command.arg("-L").arg(folder);
            command.arg(format!("-Wl,-rpath,{}", folder.display()));
        }
        for name in &function.origin.libraries {
            let file = folders
                .iter()
                .map(|folder| folder.join(&**name))
                .find(|path| path.is_file());
            match file {
                Some(file) => command.arg(file),
                None => command.arg(format!("-l{name}")),
            };
        }
        command.arg("-lm");
        let done = command.output().map_err(|error| {
            let compiler = &self.compiler;
            format!(
                "the C compiler `{compiler}` cannot be run ({error}); the environment variable CC may name another one"
            )
        })?;
        if done.status.success() {
            return Ok(());
        }
        Err(self.said(function, &String::from_utf8_lossy(&done.stderr)))
    }

    fn said(&self, function: &ExternalFunction, message: &str) -> String {
        let lines = message
            .lines()
            .filter(|line| line.contains("error") || line.contains("undefined"));
        let mut lines: Vec<&str> = lines.take(MOST_LINES).collect();
        if lines.is_empty() {
            lines = message.lines().take(MOST_LINES).collect();
        }
        format!("the code of `{}` cannot be used: {}", function.name, lines.join("; "))
    }
}

/// Folders of libraries have one for each platform within (12.9.4).
fn platform_folders() -> impl Iterator<Item = &'static str> {
    let known: &[&str] = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => &["linux64"],
        ("linux", "x86") => &["linux32"],
        ("linux", "aarch64") => &["aarch64-linux"],
        ("macos", _) => &["darwin64"],
        ("windows", "x86_64") => &["win64"],
        ("windows", _) => &["win32"],
        _ => &[],
    };
    known.iter().copied()
}

/// The code of a function, and the files it comes from.
#[derive(Debug)]
struct Kept {
    loaded: Loaded,
    _place: Workplace,
}

impl ExternalCode for Kept {
    fn call(&self, buffers: &mut [saltus_routines::Buffer]) -> Result<(), saltus_routines::Failure> {
        self.loaded.call(buffers)
    }
}
