//! A reader's folder and shell.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use saltus_testing::repository;

/// A folder with the examples and the library.
pub(crate) struct Shell {
    folder: TempDir,
}

/// What a command did.
pub(crate) struct Ran {
    pub status: i32,
    /// Diagnostics and then results, as a terminal shows them.
    pub output: String,
}

impl Shell {
    pub(crate) fn new() -> Shell {
        let folder = TempDir::new().expect("a temporary folder");
        for name in ["examples", "library"] {
            std::os::unix::fs::symlink(repository().join(name), folder.path().join(name)).expect("a link");
        }
        Shell { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a line as the reader types it.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let program = Path::new(env!("CARGO_BIN_EXE_saltus"));
        let folder = program.parent().expect("a folder");
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let line = line.replace("cargo run --release -p saltus-cli --", "saltus");
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(&line)
            .current_dir(self.folder.path())
            .env("PATH", path);
        command
            .env_remove("MODELICAPATH")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        let output = command.output().expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            status: output.status.code().unwrap_or(-1),
            output: text(&output.stderr) + &text(&output.stdout),
        }
    }
}

/// Whether a text is what a page shows: `…` stands for any lines, and times for any times.
pub(crate) fn matches(shown: &str, actual: &str) -> bool {
    let shown: Vec<String> = shown.trim_end().lines().map(masked).collect();
    let actual: Vec<String> = actual.trim_end().lines().map(masked).collect();
    lines_match(&shown, &actual)
}

fn lines_match(shown: &[String], actual: &[String]) -> bool {
    match shown {
        [] => actual.is_empty(),
        [any, rest @ ..] if any == "…" => (0..=actual.len()).any(|skip| lines_match(rest, &actual[skip..])),
        [first, rest @ ..] => actual.first() == Some(first) && lines_match(rest, &actual[1..]),
    }
}

/// A line without times, with numbers to nine digits: the last ones depend on the order of additions.
fn masked(line: &str) -> String {
    let line = line.trim_end();
    if line
        .split_once(" ms: ")
        .is_some_and(|(total, _)| total.trim().parse::<f64>().is_ok())
    {
        return "  <times>".to_owned();
    }
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[start..]
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len() - start);
        let number = &rest[start..start + digits];
        text.push_str(&rest[..start]);
        match number.parse::<f64>() {
            Ok(value) if number.len() > 12 && number.contains('.') => text.push_str(&format!("{value:.8e}")),
            _ => text.push_str(number),
        }
        rest = &rest[start + digits..];
    }
    text + rest
}

#[test]
fn matching_is_strict_but_for_times() {
    assert!(matches(
        "a\n  3.1 ms: parse 0.2\n…\nz",
        "a\n  4.0 ms: parse 1.0\nb\nc\nz\n"
    ));
    assert!(matches("…\nz", "z"));
    assert!(!matches("a\nb", "a"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("8.67", "8.68"));
    assert!(matches("a 4.333333333333336, 5", "a 4.333333333333334, 5"));
    assert!(!matches("a 4.333333333333336", "a 4.333333339333336"));
    assert!(!matches("a\n…\nz", "a\nb"));
}
