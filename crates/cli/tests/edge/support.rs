//! Running the program in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with model files.
pub(crate) struct Folder {
    folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder {
            folder: TempDir::new().expect("a temporary folder"),
        }
    }

    pub(crate) fn with(self, name: &str, text: impl AsRef<[u8]>) -> Folder {
        std::fs::write(self.path(name), text).expect("a file");
        self
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("MODELICAPATH").env("NO_COLOR", "1");
        command.env("SALTUS_LIBRARIES", self.path("installed"));
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(self.command(arguments).output().expect("the program starts"))
    }

    /// Runs and expects an exit status.
    pub(crate) fn expect(&self, status: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.status, status, "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    }
}

impl Ran {
    pub(crate) fn new(output: Output) -> Ran {
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// Expects words on standard error.
    pub(crate) fn says(&self, words: &str) -> &Ran {
        assert!(self.stderr.contains(words), "`{words}` is not in:\n{}", self.stderr);
        self
    }
}

/// An example of the repository.
pub(crate) fn example(name: &str) -> PathBuf {
    saltus_testing::repository().join("examples").join(name)
}

pub(crate) const DECAY: &str = "\
model Decay
  parameter Real k = 2;
  parameter Integer n = 2;
  parameter Boolean on = true;
  Real x[n](each start = 1, each fixed = true);
equation
  for i in 1:n loop
    der(x[i]) = if on then -k*i*x[i] else 0;
  end for;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Decay;
";
