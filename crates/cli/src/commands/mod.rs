//! One file per command.

pub mod analyze;
pub mod check;
pub mod compare;
pub mod explain;
pub mod flatten;
pub mod new;
pub mod parse;
pub mod plot;
pub mod simulate;

use crate::arguments::Command;
use crate::console::Console;
use crate::status::Status;

/// Does what was asked for.
pub fn run(command: &Command, console: &Console) -> Status {
    let status = match command {
        Command::Check(arguments) => check::run(arguments, console),
        Command::Simulate(arguments) => simulate::run(arguments, console),
        Command::Analyze(arguments) => analyze::run(arguments, console),
        Command::Flatten(arguments) => flatten::run(arguments, console),
        Command::Parse(arguments) => parse::run(arguments, console),
        Command::Plot(arguments) => plot::run(arguments, console),
        Command::Compare(arguments) => compare::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::New(arguments) => new::run(arguments, console),
    };
    console.status(status)
}

/// An error about a result file, as a diagnostic.
fn result_error(console: &Console, error: &saltus::results::ResultError) {
    let diagnostic = saltus::result_diagnostic(error);
    let diagnostics = [diagnostic].into_iter().collect();
    console.diagnostics(&diagnostics, &saltus::source::SourceMap::new());
}
