//! `saltus new`: a starter project.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::console::Console;
use crate::status::Status;

/// The files of a starter project; `NAME` stands for the name of the model, also in the names of files.
const TEMPLATE: &[(&str, &str)] = &[
    ("NAME.mo", include_str!("../../templates/Model.mo")),
    ("README.md", include_str!("../../templates/README.md")),
];

/// Makes a folder with a small multi-mode model that runs, to start from.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus new Gearbox
  saltus simulate Gearbox/Gearbox.mo --plot gearbox.svg")]
pub(crate) struct NewArguments {
    /// Folder to make; its last part is the name of the model
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
}

/// Makes the project.
pub(crate) fn run(arguments: &NewArguments, console: &Console) -> Status {
    let folder = &arguments.folder;
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("");
    if !is_class_name(name) {
        console.message(&format!("error: `{name}` cannot be the name of a model"));
        console.message("help: use letters, digits and `_`, with a letter first and no Modelica keyword");
        return Status::Usage;
    }
    match make(folder, name) {
        Ok(files) => {
            for file in files {
                console.print(&format!("{}\n", file.display()));
            }
            Status::Success
        }
        Err((path, error)) => {
            console.message(&format!("error: cannot create `{}`: {error}", path.display()));
            if error.kind() == io::ErrorKind::AlreadyExists {
                console.message("help: nothing was changed; choose another name");
            }
            Status::Usage
        }
    }
}

fn make(folder: &Path, name: &str) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    std::fs::create_dir(folder).map_err(|error| (folder.to_owned(), error))?;
    let mut files = Vec::new();
    for (file, text) in TEMPLATE {
        let path = folder.join(file.replace("NAME", name));
        let written =
            std::fs::File::create_new(&path).and_then(|mut file| file.write_all(text.replace("NAME", name).as_bytes()));
        written.map_err(|error| (path.clone(), error))?;
        files.push(path);
    }
    Ok(files)
}

/// Whether `model name` would be read as a class of that name.
fn is_class_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !name.chars().all(plain) {
        return false;
    }
    let session = saltus::Session::new();
    session.add_text("name", &format!("model {name} end {name};"));
    !session.diagnostics().has_errors() && session.find_model(None).value.as_deref() == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names() {
        assert!(is_class_name("Gearbox_2"));
        for wrong in ["", "2fast", "my-model", "model", "end", "a b", "ünder"] {
            assert!(!is_class_name(wrong), "{wrong}");
        }
    }
}
