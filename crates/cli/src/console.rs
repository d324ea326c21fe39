//! Where text goes: results to standard output, diagnostics to standard error, colours to terminals only.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use saltus::source::render::{TextOptions, all_to_json, to_text};
use saltus::source::{Diagnostic, Diagnostics, Severity, SourceMap};
use serde_json::{Value, json};

use crate::status::Status;

/// More diagnostics than this are counted, not shown: nobody reads them, and one cause often has thousands.
const MOST_SHOWN: usize = 50;

/// Whether to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The outside world as commands see it.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    /// Whether something did not reach standard output.
    lost: Arc<AtomicBool>,
    json: bool,
    colours: bool,
    interactive: bool,
    quiet: bool,
}

impl Console {
    /// Looks at the terminal.
    pub(crate) fn new(json: bool, choice: ColorChoice, quiet: bool) -> Console {
        let interactive = io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Console {
            lost: Arc::default(),
            json,
            colours: match choice {
                ColorChoice::Auto => interactive && !plain,
                ColorChoice::Always => true,
                ColorChoice::Never => false,
            },
            interactive: interactive && !quiet,
            quiet,
        }
    }

    /// Whether standard output is for machines.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether somebody watches standard error.
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Text for standard output. A reader that went away (`| head`) is no error.
    pub(crate) fn print(&self, text: &str) {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if let Err(error) = written
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.message(&format!("error: cannot write to standard output: {error}"));
            self.lost.store(true, Ordering::Relaxed);
        }
    }

    /// The status of a command, which is no success if its output was lost.
    pub(crate) fn status(&self, status: Status) -> Status {
        match status {
            Status::Success if self.lost.load(Ordering::Relaxed) => Status::SimulationFailed,
            other => other,
        }
    }

    /// One JSON value on standard output.
    pub(crate) fn print_json(&self, value: &Value) {
        self.print(&format!("{value}\n"));
    }

    /// What was done, in words on standard output; nothing if that is not wanted.
    pub(crate) fn summary(&self, text: &str) {
        if !self.quiet {
            self.print(text);
        }
    }

    /// A line for standard error.
    pub(crate) fn message(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// A line on standard error about what was done; nothing if that is not wanted, or if standard output says it.
    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet && !self.json {
            self.message(text);
        }
    }

    /// A line of warning on standard error.
    pub(crate) fn warning(&self, text: &str) {
        if !self.quiet {
            self.message(&format!("warning: {text}"));
        }
    }

    /// Diagnostics on standard error, with the lines they are about.
    pub(crate) fn diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) {
        let options = TextOptions { colours: self.colours };
        let shown: Vec<String> = by_severity(diagnostics)
            .filter(|diagnostic| !self.quiet || diagnostic.is_error())
            .take(MOST_SHOWN)
            .map(|diagnostic| to_text(diagnostic, sources, options))
            .collect();
        if shown.is_empty() {
            return;
        }
        self.message(&shown.join("\n"));
        let (errors, warnings) = count(diagnostics);
        if diagnostics.len() > 1 {
            let hidden = match diagnostics.len().saturating_sub(MOST_SHOWN) {
                0 => String::new(),
                hidden => format!("; {hidden} more not shown"),
            };
            let (errors, warnings) = (plural(errors, "error"), plural(warnings, "warning"));
            self.message(&format!("{errors}, {warnings}{hidden}"));
        }
        if let Some(first) = by_severity(diagnostics).next().filter(|d| d.is_error()) {
            self.message(&format!("`saltus explain {}` says more", first.code));
        }
    }

    /// The JSON object of a command with its diagnostics, on standard output.
    pub(crate) fn report(&self, mut object: Value, diagnostics: &Diagnostics, sources: &SourceMap) {
        object["ok"] = json!(!diagnostics.has_errors());
        object["diagnostics"] = all_to_json(diagnostics, sources);
        self.print_json(&object);
    }
}

/// Errors first; within a severity in the order of the text.
fn by_severity(diagnostics: &Diagnostics) -> impl Iterator<Item = &Diagnostic> {
    let of = |severity| diagnostics.iter().filter(move |d| d.severity == severity);
    of(Severity::Error)
        .chain(of(Severity::Warning))
        .chain(of(Severity::Note))
}

fn count(diagnostics: &Diagnostics) -> (usize, usize) {
    let warnings = diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
    (diagnostics.error_count(), warnings)
}

/// `1 error`, `2 errors`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ if noun.ends_with('x') => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}
