//! Syntax only.

use std::path::PathBuf;

use saltus_source::{Diagnostics, FileId};
use saltus_syntax::Parse;
use saltus_syntax::library::{modelica_files, parse_all, read_found, unreadable};

use crate::Session;

/// What parsing files yields.
#[derive(Debug)]
pub struct ParsedFiles {
    /// The files that could be read, in order, with their trees.
    pub files: Vec<(FileId, Parse)>,
    /// Everything wrong with them.
    pub diagnostics: Diagnostics,
    /// Their size in bytes.
    pub bytes: u64,
}

impl Session {
    /// Parses files and all Modelica files in folders, on all processors; adds nothing to the session but the texts.
    pub fn parse(&self, paths: &[PathBuf]) -> ParsedFiles {
        let mut diagnostics = Diagnostics::new();
        let mut ids = Vec::new();
        let mut bytes = 0;
        for path in modelica_files(&*self.files, paths) {
            match read_found(&*self.files, &path, paths) {
                Ok(content) => {
                    bytes += content.len() as u64;
                    ids.push(self.sources().add_bytes(path.to_string_lossy(), content));
                }
                Err(error) => diagnostics.push(unreadable(&path, &error)),
            }
        }
        let parses = parse_all(self.sources(), &ids);
        for parse in &parses {
            diagnostics.extend(parse.diagnostics.iter().cloned());
        }
        diagnostics.normalise();
        ParsedFiles {
            files: ids.into_iter().zip(parses).collect(),
            diagnostics,
            bytes,
        }
    }
}
