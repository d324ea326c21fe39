//! The rows of an ensemble as a text that can be gone on with.

use saltus_source::Diagnostic;

use super::csv::{quoted, records};
use super::design::refused;
use super::{Design, EnsembleRow, Output};

/// What a table that was begun holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Complete rows.
    pub rows: usize,
    /// Bytes up to their end.
    pub bytes: usize,
    /// Those of them that speak of a failure.
    pub failed: usize,
}

/// Rows of an ensemble as comma-separated values: number of the run from 1, values of the parameters, outputs, code and
/// message of the error if the run failed.
#[derive(Clone, Copy, Debug)]
pub struct RunTable<'e> {
    design: &'e Design,
    outputs: &'e [Output],
}

impl<'e> RunTable<'e> {
    /// A table for these runs and outputs.
    pub fn new(design: &'e Design, outputs: &'e [Output]) -> Self {
        RunTable { design, outputs }
    }

    /// The first line.
    pub fn header(&self) -> String {
        let names = self.design.names().iter().map(|name| quoted(name));
        let outputs = self.outputs.iter().map(|output| quoted(&output.text));
        let all = std::iter::once("run".to_owned()).chain(names).chain(outputs);
        let all: Vec<String> = all.chain(["error", "message"].map(str::to_owned)).collect();
        all.join(",") + "\n"
    }

    /// The line of a row.
    pub fn line(&self, row: &EnsembleRow) -> String {
        let mut fields = self.begin(row.run);
        match &row.outcome {
            Ok(values) => {
                // What does not exist is left empty.
                let text = |value: &f64| {
                    if value.is_nan() {
                        String::new()
                    } else {
                        value.to_string()
                    }
                };
                fields.extend(values.iter().map(text));
                fields.extend([String::new(), String::new()]);
            }
            Err(diagnostic) => {
                fields.extend(self.outputs.iter().map(|_| String::new()));
                let message = diagnostic.message.replace(['\n', '\r'], " ");
                fields.extend([diagnostic.code.to_string(), quoted(&message)]);
            }
        }
        fields.join(",") + "\n"
    }

    fn begin(&self, run: usize) -> Vec<String> {
        let values = self.design.point(run);
        std::iter::once((run + 1).to_string())
            .chain(values.iter().map(|value| quoted(value)))
            .collect()
    }

    /// What can be kept of a table that was begun: its complete rows, if they are the first of this design.
    pub fn kept(&self, text: &[u8]) -> Result<Kept, Box<Diagnostic>> {
        let other = |what: &str| refused(format!("the table cannot be gone on with: {what}"), HELP);
        let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let Ok(complete) = std::str::from_utf8(&text[..end]) else {
            return Err(other("it is no text"));
        };
        if complete.is_empty() {
            return Ok(Kept {
                rows: 0,
                bytes: 0,
                failed: 0,
            });
        }
        if !complete.starts_with(&self.header()) {
            return Err(other("its columns are others"));
        }
        let mut kept = Kept {
            rows: 0,
            bytes: end,
            failed: 0,
        };
        for line in complete.lines().skip(1) {
            if kept.rows >= self.design.len() || !line.starts_with(&(self.begin(kept.rows).join(",") + ",")) {
                return Err(other(&format!("row {} is that of another sweep", kept.rows + 1)));
            }
            let fields = records(line)
                .ok()
                .and_then(|mut records| records.pop())
                .unwrap_or_default();
            let columns = 1 + self.design.names().len() + self.outputs.len() + 2;
            if fields.len() != columns {
                return Err(other(&format!("row {} is damaged", kept.rows + 1)));
            }
            kept.rows += 1;
            kept.failed += usize::from(!fields[columns - 2].is_empty());
        }
        Ok(kept)
    }
}

const HELP: &str = "give the same model, values and outputs as before, or leave `--resume` out to begin anew";
