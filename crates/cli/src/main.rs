//! The command line: translation between the outside world and the library, nothing else.

mod arguments;
mod commands;
mod console;
mod crash;
mod files;
mod interruption;
mod loaded;
mod progress;
mod status;
mod trace;

use clap::{CommandFactory, FromArgMatches};

use arguments::Arguments;
use console::Console;
use status::Status;

fn main() -> std::process::ExitCode {
    let parsed = Arguments::command().try_get_matches();
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return answer(&error).into(),
    };
    let console = Console::new(arguments.command.json(), arguments.color);
    crash::guarded(move || commands::run(&arguments.command, &console)).into()
}

/// Usage errors, `--help` and `--version`.
fn answer(error: &clap::Error) -> Status {
    match (error.print(), error.use_stderr()) {
        (_, true) => Status::Usage,
        (Err(lost), false) if lost.kind() != std::io::ErrorKind::BrokenPipe => Status::SimulationFailed,
        (_, false) => Status::Success,
    }
}
