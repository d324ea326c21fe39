//! `saltus library`: libraries in the folder of the user.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::console::Console;
use crate::libraries::{self, Installed};
use crate::status::Status;

/// Libraries that every command finds without `-L`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Libraries are kept in the folder of the environment variable SALTUS_LIBRARIES, else where programs keep their data
(`~/.local/share/saltus/libraries`). Folders given with -L and those of MODELICAPATH come first.

Examples:
  saltus library add ModelicaStandardLibrary-4.1.0.zip
  saltus library add ~/work/MyLibrary
  saltus library list
  saltus library remove \"Modelica 4.0.0\"")]
pub(crate) struct LibraryArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: LibraryCommand,

    /// Machine-readable output on standard output
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LibraryCommand {
    /// Install the libraries of a folder or an archive (.zip, .tar.gz); the same version is replaced
    Add {
        /// A folder, a file or an archive
        #[arg(value_name = "FOLDER|ARCHIVE")]
        source: PathBuf,
    },
    /// Show the libraries that are installed
    List,
    /// Remove a library, or one version of it
    Remove {
        /// `Name` for all versions, `Name 4.1.0` for one
        name: String,
    },
}

/// Does it.
pub(crate) fn run(arguments: &LibraryArguments, console: &Console) -> Status {
    let Some(folder) = libraries::user_folder() else {
        console.message("error: there is no folder for libraries");
        console.message("help: name one with the environment variable SALTUS_LIBRARIES");
        return Status::Usage;
    };
    match &arguments.command {
        LibraryCommand::Add { source } => add(source, &folder, console),
        LibraryCommand::List => {
            show(&libraries::list(&folder), &folder, console);
            Status::Success
        }
        LibraryCommand::Remove { name } => remove(name, &folder, console),
    }
}

fn add(source: &Path, folder: &Path, console: &Console) -> Status {
    match libraries::add(source, folder) {
        Ok(installed) => {
            show(&installed, folder, console);
            warn_of_missing(&installed, &libraries::list(folder), console);
            Status::Success
        }
        Err(reason) => {
            console.message(&format!("error: `{}` was not installed: {reason}", source.display()));
            console.message("help: name a library folder, a folder of libraries, or a zip or tar.gz file of either");
            Status::Usage
        }
    }
}

fn remove(name: &str, folder: &Path, console: &Console) -> Status {
    match libraries::remove(name, folder) {
        Ok(removed) if removed.is_empty() => {
            console.message(&format!("error: `{name}` is not installed in `{}`", folder.display()));
            console.message("help: `saltus library list` shows what is");
            Status::Usage
        }
        Ok(removed) => {
            show(&removed, folder, console);
            Status::Success
        }
        Err(reason) => {
            console.message(&format!("error: {reason}"));
            Status::Usage
        }
    }
}

fn show(list: &[Installed], folder: &Path, console: &Console) {
    if console.is_json() {
        let libraries: Vec<_> = list
            .iter()
            .map(|library| {
                json!({
                    "name": library.about.name,
                    "version": library.about.version,
                    "path": library.path.display().to_string(),
                })
            })
            .collect();
        return console.print_json(&json!({ "folder": folder.display().to_string(), "libraries": libraries }));
    }
    for library in list {
        let version = library.about.version.as_deref().unwrap_or("(no version)");
        console.print(&format!(
            "{} {version}  {}\n",
            library.about.name,
            library.path.display()
        ));
    }
    if list.is_empty() {
        console.remark(&format!("no libraries in {}", folder.display()));
    }
}

/// Libraries that these use and that are not there, or in another version.
fn warn_of_missing(installed: &[Installed], all: &[Installed], console: &Console) {
    for (name, version) in installed.iter().flat_map(|library| &library.about.uses) {
        let mut there = all.iter().filter(|library| library.about.name == *name).peekable();
        let wanted = version.as_deref().unwrap_or_default();
        if there.peek().is_none() {
            console.message(&format!("note: it uses {name} {wanted}, which is not installed"));
        } else if version.is_some() && !there.any(|library| library.about.version == *version) {
            console.message(&format!(
                "note: it uses {name} {wanted}; another version is installed and will be taken"
            ));
        }
    }
}
