//! The whole compiler for a page in a browser: one function from questions to answers, both as JSON.
//!
//! Everything happens in the memory of the module: there are no files, no threads, no clock and no connection. What a run
//! says on its way goes to a [`Host`]. The page starts two of these, one for the editor and one for runs, each in a worker of
//! its own, so that a run that does not end can be ended from outside.
//!
//! | module | what lives there |
//! |---|---|
//! | `desk` of `saltus_lsp` | diagnostics, hover, completion, colours, formatting, mode analysis |
//! | `run` | one simulation: its page, its rows, pictures on the way |
//! | `live` | where rows go, and how many there may be |
//! | `raw` | the interface of the WebAssembly module; absent elsewhere |

mod live;
#[cfg(target_family = "wasm")]
mod raw;
mod run;

use saltus::results::Trajectory;
use saltus_lsp::Desk;
use serde::Deserialize;
use serde_json::{Value, json};

pub use live::{Host, Unwatched};
pub use run::RunQuestion;

/// What a page asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
pub enum Question {
    /// Shows a text to the editor's helper.
    Show {
        /// The name of the document.
        uri: String,
        /// What it says.
        text: String,
    },
    /// A request of the language server's protocol.
    Editor {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Runs a model.
    Simulate(RunQuestion),
    /// Looks at the modes of a model.
    Analyze(RunQuestion),
    /// The rows of the last run as CSV.
    Csv,
    /// What the policy of a page that shows reports must allow: hashes of scripts and styles.
    Policy,
}

/// The state between questions.
#[derive(Debug, Default)]
pub struct Playground {
    desk: Desk,
    /// Those of the last run.
    rows: Option<Trajectory>,
}

impl Playground {
    /// The answer to a question: `{"answer": …}` or `{"refused": "why"}`.
    pub fn ask(&mut self, question: &[u8], host: &mut dyn Host) -> Vec<u8> {
        let answer = match serde_json::from_slice(question) {
            Ok(question) => self.answer(question, host),
            Err(error) => Err(format!("a question is not understood: {error}")),
        };
        let answer = match answer {
            Ok(answer) => json!({"answer": answer}),
            Err(why) => json!({"refused": why}),
        };
        answer.to_string().into_bytes()
    }

    fn answer(&mut self, question: Question, host: &mut dyn Host) -> Result<Value, String> {
        match question {
            Question::Show { uri, text } => {
                self.desk.show(&uri, text);
                Ok(Value::Null)
            }
            Question::Editor { method, params } => self.desk.ask(&method, params),
            Question::Simulate(question) => {
                let done = run::run(&question, host);
                self.rows = done.rows;
                Ok(done.answer)
            }
            Question::Analyze(question) => Ok(run::analyze(&question)),
            Question::Csv => {
                let rows = self.rows.as_ref().ok_or("nothing has been simulated")?;
                let csv = run::csv(rows).map_err(|error| error.to_string())?;
                Ok(json!(String::from_utf8_lossy(&csv)))
            }
            Question::Policy => {
                let allowed = saltus_report::allowed();
                Ok(json!({"scripts": allowed.scripts, "styles": allowed.styles}))
            }
        }
    }
}
