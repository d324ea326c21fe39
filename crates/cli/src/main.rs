//! The command line: translation between the outside world and the library, nothing else.

mod arguments;
mod commands;
mod console;
mod crash;
mod progress;
mod status;
mod trace;

use clap::{CommandFactory, FromArgMatches};

use arguments::Arguments;
use console::Console;

fn main() -> std::process::ExitCode {
    // Usage errors end here with status 2, `--help` and `--version` with 0.
    let matches = Arguments::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let console = Console::new(arguments.command.json(), arguments.color);
    crash::guarded(move || commands::run(&arguments.command, &console)).into()
}
