//! Start values that need not hold: what is said when they do not, and how one of them is made certain.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_lang::flat::{FlatModel, Guess};
use saltus_mdae::VarId;
use saltus_simulate::MovedStarts;
use saltus_source::{Diagnostic, Edit, Severity, SourceMap, Span, codes};

use crate::Model;
use crate::failure::at_origins;

/// Where the start values of variables are written.
pub(crate) type Guesses = BTreeMap<Arc<str>, Guess>;

/// More ways out are no help.
const MOST_FIXES: usize = 8;

pub(crate) fn guesses(flat: &FlatModel) -> Guesses {
    let variables = flat.variables.iter();
    variables
        .filter_map(|variable| Some((Arc::clone(&variable.name), variable.attributes.guess?)))
        .collect()
}

impl Model {
    /// What is said of start values that do not hold. Which of them is certain only the user knows, so nothing is done about it
    /// unasked.
    pub(crate) fn moved_starts(&self, moved: &MovedStarts) -> Diagnostic {
        let model = self.equations();
        let origins: Vec<_> = moved.variables.iter().map(|&var| model.variables[var].origin).collect();
        let mut diagnostic = at_origins(codes::W0601, moved.text.clone(), &origins, model);
        diagnostic.severity = Severity::Warning;
        let guess = |var: &VarId| {
            Some((
                &model.variables[*var].name,
                self.guesses.get(&model.variables[*var].name)?,
            ))
        };
        let guesses: Vec<(&Arc<str>, &Guess)> = moved.variables.iter().filter_map(guess).collect();
        for (name, guess) in guesses.iter().take(MOST_FIXES) {
            // Where one place gives the values of several that contradict each other, they cannot all be certain.
            if guesses.iter().filter(|(_, other)| other.span == guess.span).count() > 1 {
                continue;
            }
            if let Some(edit) = fixing(self.sources(), guess) {
                let title = format!(
                    "begin at the start value of `{name}`: insert `{}`",
                    edit.text.trim_start_matches(", ")
                );
                diagnostic = diagnostic.with_likely_fix(title, vec![edit]);
            }
        }
        if diagnostic.fixes.is_empty() {
            return diagnostic;
        }
        diagnostic.with_help("say `fixed = true` of the one that is certain: it is kept, and the others follow")
    }
}

/// `fixed = true` behind `start = value`.
fn fixing(sources: &SourceMap, guess: &Guess) -> Option<Edit> {
    let file = sources.file(guess.span.file)?;
    let (before, behind) = (
        file.text().get(..guess.span.start as usize)?,
        file.text().get(guess.span.end as usize..)?,
    );
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let before = before.trim_end().strip_suffix('=')?.trim_end();
    let path = &before[before.trim_end_matches(is_name).len()..];
    let prefix = path
        .strip_suffix("start")
        .filter(|prefix| prefix.is_empty() || prefix.ends_with('.'))?;
    let mut before = before.strip_suffix(path)?.trim_end();
    let mut each = guess.is_array;
    for word in ["final", "each"] {
        if let Some(rest) = before.strip_suffix(word) {
            each |= word == "each";
            before = rest.trim_end();
        }
    }
    let is_argument = before.ends_with(['(', ',']) && behind.trim_start().starts_with([',', ')', '"']);
    let each = if each { "each " } else { "" };
    is_argument.then(|| {
        Edit::replace(
            Span::at(guess.span.file, guess.span.end),
            format!(", {each}{prefix}fixed = true"),
        )
    })
}
