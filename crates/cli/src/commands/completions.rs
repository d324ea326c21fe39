//! `saltus completions` and `saltus man`: what shells and manuals want to know of the commands.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::arguments::Arguments;
use crate::console::Console;
use crate::status::Status;

/// Writes a script to standard output with which a shell completes commands and options.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus completions bash > ~/.local/share/bash-completion/completions/saltus
  saltus completions zsh > ~/.zfunc/_saltus
  saltus completions fish > ~/.config/fish/completions/saltus.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Writes the manual pages of all commands into a folder, for `man`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus man ~/.local/share/man/man1
  man saltus-simulate")]
pub(crate) struct ManArguments {
    /// The folder, which must exist
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Writes the script.
pub(crate) fn completions(arguments: &CompletionsArguments, console: &Console) -> Status {
    let mut script = Vec::new();
    generate(arguments.shell, &mut Arguments::command(), "saltus", &mut script);
    console.print(&String::from_utf8_lossy(&script));
    Status::Success
}

/// Writes the pages.
pub(crate) fn man(arguments: &ManArguments, console: &Console) -> Status {
    if !arguments.folder.is_dir() {
        console.message(&format!(
            "error: the folder `{}` does not exist",
            arguments.folder.display()
        ));
        return Status::Usage;
    }
    match clap_mangen::generate_to(Arguments::command(), &arguments.folder) {
        Ok(()) => {
            console.remark(&format!("manual pages written to `{}`", arguments.folder.display()));
            Status::Success
        }
        Err(error) => {
            console.message(&format!("error: the manual pages cannot be written: {error}"));
            Status::SimulationFailed
        }
    }
}
