//! `saltus lsp`: the language server.

use std::path::PathBuf;

use clap::Args;
use saltus_lsp::Options;

use crate::console::Console;
use crate::status::Status;

/// Serves an editor.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Editors start this, nobody types it: it speaks the Language Server Protocol on standard input and
output. The page \"In the editor\" of the guide says how to set up Visual Studio Code, Neovim, Helix,
Emacs, Zed and Kate.

Libraries are looked for in the folders of the setting `saltus.libraries`, of -L and of
MODELICAPATH, and in the folders of the workspace.")]
pub(crate) struct LspArguments {
    /// Folder in which libraries are looked for; may be repeated. The folders of the environment variable
    /// MODELICAPATH follow
    #[arg(short = 'L', long = "library", value_name = "DIR")]
    pub libraries: Vec<PathBuf>,

    /// Standard input and output; there is nothing else, and editors that say so are understood
    #[arg(long)]
    pub stdio: bool,
}

/// Serves.
pub(crate) fn run(arguments: &LspArguments, _console: &Console) -> Status {
    let mut libraries = arguments.libraries.clone();
    if let Some(list) = std::env::var_os("MODELICAPATH") {
        libraries.extend(saltus::library::split_path_list(&list));
    }
    let options = Options {
        libraries,
        home: std::env::home_dir(),
        ..Options::default()
    };
    // Without the goodbye that the protocol asks for, the status is 1: so says the protocol.
    if saltus_lsp::serve_stdio(options) {
        Status::Success
    } else {
        Status::ModelWrong
    }
}
