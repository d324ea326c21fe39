//! What can go wrong with result files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::SchemaError;

/// What was being done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoAction {
    /// Making a new file.
    Create,
    /// Adding to a file.
    Write,
    /// Opening or reading a file.
    Read,
}

impl fmt::Display for IoAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Write => "write to",
            Self::Read => "read",
        })
    }
}

/// An error about a result file; [`ResultError::help`] says what to do about it.
#[derive(Debug)]
pub enum ResultError {
    /// The operating system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: IoAction,
        /// Why it failed.
        source: io::Error,
    },
    /// No format goes by that extension.
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The extensions that are known.
        known: Vec<&'static str>,
    },
    /// The content of a file is not what its format asks for.
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line (text formats) or byte offset (binary formats).
        position: u64,
        /// What is wrong there.
        what: String,
    },
    /// The signals of a result contradict each other.
    Schema {
        /// The file; empty for a result in memory.
        path: PathBuf,
        /// The contradiction.
        source: SchemaError,
    },
    /// A variable that was asked for is not there.
    UnknownVariable {
        /// What was asked for: a name or a pattern.
        name: String,
        /// Names that look like it.
        similar: Vec<String>,
    },
    /// A result too large for its format.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Which limit.
        what: String,
    },
    /// A sink was used out of order or with a row of the wrong length: a bug of the caller.
    Misuse(&'static str),
}

impl ResultError {
    pub(crate) fn io(path: &Path, action: IoAction, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            action,
            source,
        }
    }

    pub(crate) fn malformed(path: &Path, position: u64, what: impl Into<String>) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            position,
            what: what.into(),
        }
    }

    /// Whether something was asked for that there is not, rather than a file or a disk at fault.
    pub fn is_wrong_request(&self) -> bool {
        matches!(self, Self::UnknownFormat { .. } | Self::UnknownVariable { .. })
    }

    /// What the user can do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Io { action, source, .. } => io_help(*action, source),
            Self::UnknownFormat { known, .. } => {
                let list: Vec<String> = known.iter().map(|e| format!("`.{e}`")).collect();
                Some(format!("use one of the extensions {}", list.join(", ")))
            }
            Self::Malformed { .. } => {
                Some("check that the file is a result of a simulation and its extension matches its format".to_owned())
            }
            Self::UnknownVariable { similar, .. } if !similar.is_empty() => {
                let list: Vec<String> = similar.iter().map(|n| format!("`{n}`")).collect();
                Some(format!("similar names: {}", list.join(", ")))
            }
            Self::UnknownVariable { .. } => Some(
                "wildcards `*` and `?` are allowed; protected variables must be named exactly or asked for".to_owned(),
            ),
            Self::TooLarge { .. } => {
                Some("select fewer variables, use a larger output interval, or write CSV".to_owned())
            }
            Self::Schema { .. } | Self::Misuse(_) => None,
        }
    }
}

fn io_help(action: IoAction, source: &io::Error) -> Option<String> {
    let text = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "the results so far are in the file; free some space, write to another disk, select fewer \
             variables or use a larger output interval"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => match action {
            IoAction::Read => "check the permissions of the file",
            _ => "choose a place where you may write, or close the program that has the file open",
        },
        io::ErrorKind::NotFound => match action {
            IoAction::Read => "check the path of the file",
            _ => "create the folder first, or choose another one",
        },
        io::ErrorKind::ResourceBusy => "wait until it ends, or name another file",
        io::ErrorKind::IsADirectory => "give the name of a file, not of a folder",
        _ => return None,
    };
    Some(text.to_owned())
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, action, source } => {
                let reason = match source.kind() {
                    io::ErrorKind::StorageFull => "the disk is full".to_owned(),
                    _ => source.to_string(),
                };
                write!(f, "cannot {action} `{}`: {reason}", path.display())
            }
            Self::UnknownFormat { path, .. } => {
                write!(f, "`{}` has no extension of a known result format", path.display())
            }
            Self::Malformed { path, position, what } => {
                write!(
                    f,
                    "`{}` is not a readable result: {what} (at {position})",
                    path.display()
                )
            }
            Self::Schema { path, source } if path.as_os_str().is_empty() => write!(f, "{source}"),
            Self::Schema { path, source } => write!(f, "`{}`: {source}", path.display()),
            Self::UnknownVariable { name, .. } => write!(f, "no variable matches `{name}`"),
            Self::TooLarge { path, what } => write!(f, "`{}`: {what}", path.display()),
            Self::Misuse(what) => write!(f, "internal error in the use of a result sink: {what}"),
        }
    }
}

impl std::error::Error for ResultError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Schema { source, .. } => Some(source),
            _ => None,
        }
    }
}
