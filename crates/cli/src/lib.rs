//! The command line: translation between the outside world and the library, nothing else.
//!
//! The program `saltus` is [`run`] with the arguments of the process; the Python package brings the same commands along.

mod arguments;
mod commands;
mod console;
mod crash;
mod deny;
mod files;
mod foreign;
mod interruption;
mod libraries;
mod loaded;
mod parameter_file;
mod progress;
mod status;
mod streams;
mod text_files;
mod trace;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use arguments::Arguments;
use console::Console;
use status::Status;

/// Does what a command line asks for; the first argument is the name of the program. Returns the exit status.
pub fn run(command_line: Vec<OsString>) -> u8 {
    let parsed = Arguments::command().try_get_matches_from(&command_line);
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return answer(&error).code(),
    };
    let console = Console::new(arguments.command.json(), arguments.color, arguments.quiet);
    let status = crash::guarded(&command_line, move || commands::run(&arguments.command, &console));
    status.code()
}

/// Usage errors, `--help` and `--version`.
fn answer(error: &clap::Error) -> Status {
    match (error.print(), error.use_stderr()) {
        (_, true) => Status::Usage,
        (Err(lost), false) if lost.kind() != std::io::ErrorKind::BrokenPipe => Status::SimulationFailed,
        (_, false) => Status::Success,
    }
}
