//! What can be asked for, with the help texts. The command reference of the guide is made from them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use saltus::Session;
use saltus::source::{Diagnostic, Diagnostics, Severity, codes};
use saltus_c_host::CHost;

use crate::commands::{
    analyze, check, compare, compile, completions, explain, flatten, fmt, fmu, library, lsp, new, parse, plot,
    simulate, sweep,
};
use crate::console::ColorChoice;
use crate::deny::{Denied, parse_denied};
use crate::files::Named;
use crate::libraries;
use crate::streams::is_standard;

/// Simulates physical systems whose structure changes while they run.
#[derive(Debug, Parser)]
#[command(
    name = "saltus",
    version,
    propagate_version = true,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  saltus check Clutch.mo                      what is wrong with a model
  saltus simulate Clutch.mo --plot out.svg    run it and draw it
  saltus explain E0101                        what a diagnostic means

Exit status:
  0  success
  1  the model is wrong; diagnostics on standard error say where
  2  the command line is wrong
  3  the simulation failed (results so far are on disk), or output could not be written
  4  an internal error"
)]
pub(crate) struct Arguments {
    /// Colours in diagnostics
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub color: ColorChoice,

    /// Say nothing on standard error but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what is wrong with models
    Check(check::CheckArguments),
    /// Run a model
    Simulate(Box<simulate::SimulateArguments>),
    /// Run a model many times with other values of its parameters
    Sweep(Box<sweep::SweepArguments>),
    /// Compile a model to a file that runs without its text
    Compile(compile::CompileArguments),
    /// Make, look into and check functional mock-up units for other tools
    Fmu(fmu::FmuArguments),
    /// Explain modes and mode changes
    Analyze(analyze::AnalyzeArguments),
    /// Show the equations of a model
    Flatten(flatten::FlattenArguments),
    /// Format files
    Fmt(fmt::FmtArguments),
    /// Parse files and say what is wrong with their syntax
    Parse(parse::ParseArguments),
    /// Draw results
    Plot(plot::PlotArguments),
    /// Compare two results
    Compare(compare::CompareArguments),
    /// Explain a diagnostic
    Explain(explain::ExplainArguments),
    /// Make a starter project
    New(new::NewArguments),
    /// Install, show and remove libraries that every command finds
    Library(library::LibraryArguments),
    /// Serve an editor
    Lsp(lsp::LspArguments),
    /// Write a script that completes commands in a shell
    Completions(completions::CompletionsArguments),
    /// Write manual pages
    Man(completions::ManArguments),
}

impl Command {
    /// Whether standard output is for machines.
    pub(crate) fn json(&self) -> bool {
        match self {
            Command::Check(arguments) => arguments.model.json,
            Command::Simulate(arguments) => arguments.model.json,
            Command::Sweep(arguments) => arguments.model.json,
            Command::Compile(arguments) => arguments.model.json,
            Command::Fmu(arguments) => arguments.json(),
            Command::Analyze(arguments) => arguments.model.json,
            Command::Flatten(arguments) => arguments.model.json,
            Command::Parse(arguments) => arguments.json,
            Command::Plot(_)
            | Command::New(_)
            | Command::Fmt(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Lsp(_) => false,
            Command::Compare(arguments) => arguments.json,
            Command::Explain(arguments) => arguments.json,
            Command::Library(arguments) => arguments.json,
        }
    }
}

/// The model a command is about.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// Modelica files or folders, `-` for standard input, or a model file; may be left out if the model is found on the library path
    #[arg(value_name = "FILE", required_unless_present = "model")]
    pub files: Vec<PathBuf>,

    /// Full name of the model; the last model of the last file if not given
    #[arg(short, long, value_name = "NAME")]
    pub model: Option<String>,

    /// Folder in which libraries are looked for; may be repeated. The folders of the environment variable
    /// MODELICAPATH and the libraries of `saltus library` follow
    #[arg(short = 'L', long = "library", value_name = "DIR")]
    pub libraries: Vec<PathBuf>,

    /// Take warnings as errors: `units`, `warnings` for all, or a code such as W0204; may be repeated
    #[arg(long, value_name = "WHAT", value_parser = parse_denied)]
    pub deny: Vec<Denied>,

    /// Machine-readable output on standard output
    #[arg(long)]
    pub json: bool,

    /// Compile and run the C code of external functions that the model names (`Include`, `Library`). It has all your rights
    #[arg(long)]
    pub allow_external: bool,
}

/// What compiles and runs the C code of external functions.
pub(crate) fn c_host() -> CHost {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    CHost::new(compiler, std::env::temp_dir())
}

impl ModelArguments {
    /// The files of the model, which nothing may be written to.
    pub(crate) fn named_files(&self) -> Vec<Named<'_>> {
        self.files.iter().map(|file| ("the model", file.as_path())).collect()
    }

    /// A session with the library path, and the files added.
    pub(crate) fn session(&self) -> Session {
        let mut session = self.empty_session();
        if self.allow_external {
            session = session.with_external_code(Arc::new(c_host()));
        }
        for file in &self.files {
            add(&session, file);
        }
        session
    }

    /// Folders of libraries that are not there.
    pub(crate) fn missing_folders(&self) -> Diagnostics {
        let missing = self.folders().into_iter().filter(|folder| !folder.is_dir());
        missing
            .map(|folder| {
                let message = format!("the library folder `{}` does not exist", folder.display());
                Diagnostic::without_place(codes::W0104, Severity::Warning, message)
                    .with_help("correct it where it is named: -L, or the environment variable MODELICAPATH")
            })
            .collect()
    }

    fn folders(&self) -> Vec<PathBuf> {
        let mut folders = self.libraries.clone();
        if let Some(list) = std::env::var_os("MODELICAPATH") {
            folders.extend(saltus::library::split_path_list(&list));
        }
        folders
    }

    /// All folders in which libraries are looked for: versions that the files ask for, those named, those installed.
    fn search_path(&self) -> Vec<PathBuf> {
        let mut folders = self.folders();
        folders.extend(libraries::user_folder().filter(|folder| folder.is_dir()));
        let mut path = libraries::versions_asked_for(&self.files, &folders);
        path.extend(folders);
        path
    }

    /// A session with the library path.
    pub(crate) fn empty_session(&self) -> Session {
        Session::with_libraries(self.search_path())
    }
}

/// Adds a file, a folder, or with `-` what standard input holds.
pub(crate) fn add(session: &Session, file: &Path) {
    if !is_standard(file) {
        return session.add_file(file);
    }
    session.add_text(INPUT, &input());
}

/// What standard input is called where it is spoken of.
pub(crate) const INPUT: &str = "standard input";

/// The text of standard input. What cannot be read is empty, and holds no model.
pub(crate) fn input() -> String {
    let mut bytes = Vec::new();
    let _ = std::io::stdin().lock().read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
