//! One file per command.

pub(crate) mod analyze;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod flatten;
pub(crate) mod fmt;
pub(crate) mod fmu;
pub(crate) mod library;
pub(crate) mod lsp;
pub(crate) mod new;
pub(crate) mod parse;
pub(crate) mod plot;
pub(crate) mod run_arguments;
pub(crate) mod simulate;
pub(crate) mod sweep;

use crate::arguments::Command;
use crate::console::Console;
use crate::status::Status;

/// Does what was asked for.
pub(crate) fn run(command: &Command, console: &Console) -> Status {
    let status = match command {
        Command::Check(arguments) => check::run(arguments, console),
        Command::Simulate(arguments) => simulate::run(arguments, console),
        Command::Compile(arguments) => compile::run(arguments, console),
        Command::Sweep(arguments) => sweep::run(arguments, console),
        Command::Fmu(arguments) => fmu::run(arguments, console),
        Command::Analyze(arguments) => analyze::run(arguments, console),
        Command::Flatten(arguments) => flatten::run(arguments, console),
        Command::Fmt(arguments) => fmt::run(arguments, console),
        Command::Parse(arguments) => parse::run(arguments, console),
        Command::Plot(arguments) => plot::run(arguments, console),
        Command::Compare(arguments) => compare::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::Completions(arguments) => completions::completions(arguments, console),
        Command::Man(arguments) => completions::man(arguments, console),
        Command::New(arguments) => new::run(arguments, console),
        Command::Library(arguments) => library::run(arguments, console),
        Command::Lsp(arguments) => lsp::run(arguments, console),
    };
    console.status(status)
}

/// An error about a result file, as a diagnostic.
fn result_error(console: &Console, error: &saltus::results::ResultError) {
    let diagnostic = saltus::result_diagnostic(error);
    let diagnostics = [diagnostic].into_iter().collect();
    console.diagnostics(&diagnostics, &saltus::source::SourceMap::new());
}
