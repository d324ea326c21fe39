//! Models that are nearly right: texts with a few words left out, repeated, exchanged or replaced.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use saltus::Session;
use saltus::results::Discard;
use saltus::simulate::Cancel;
use saltus_testing::{Random, modelica_files};

/// Numbers at which arithmetic ends.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "1e-308",
    "1e150",
    "-1e200",
    "5e-324",
    "1e-9",
    "1e9",
    "2147483648",
    "9007199254740993",
    "1e17",
    "0.1",
    "3",
];

/// Words, numbers, strings and signs with what is between them; joined again they give the text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let kind = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || c == '_' || c == '.' => 1,
        _ => 2,
    };
    let mut last = 3;
    for character in text.chars() {
        let now = kind(character);
        match tokens.last_mut() {
            Some(token) if now == last && now < 2 => token.push(character),
            _ => tokens.push(character.to_string()),
        }
        last = now;
    }
    tokens
}

/// A text with one to four changes; `other` lends pieces.
pub(crate) fn mutated(text: &str, other: &str, random: &mut Random) -> String {
    let mut tokens_of = tokens(text);
    let foreign = tokens(other);
    for _ in 0..=random.below(4) {
        let (count, at) = (tokens_of.len(), random.below(tokens_of.len()));
        if count < 2 {
            break;
        }
        let length = 1 + random.below(6);
        let piece = at..(at + length).min(count);
        match random.below(7) {
            0 => drop(tokens_of.drain(piece)),
            1 => {
                let repeated: Vec<String> = tokens_of[piece].to_vec();
                tokens_of.splice(at..at, repeated);
            }
            2 => tokens_of.swap(at, random.below(count)),
            3 => {
                let from = random.below(foreign.len());
                let until = (from + length).min(foreign.len());
                tokens_of.splice(at..at, foreign[from..until].iter().cloned());
            }
            4 => {
                let replacement = tokens_of[random.below(count)].clone();
                tokens_of[at] = replacement;
            }
            _ => {
                let numbers: Vec<usize> = (0..count)
                    .filter(|&place| tokens_of[place].starts_with(|c: char| c.is_ascii_digit()))
                    .collect();
                if !numbers.is_empty() {
                    tokens_of[random.of(&numbers)] = random.of(EXTREMES).to_owned();
                }
            }
        }
    }
    tokens_of.concat()
}

/// How far a model came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was refused before it ran.
    Refused,
    /// It ran and failed.
    Failed,
    /// It ran to its end.
    Completed,
}

/// What became of a text, and how long it took.
pub(crate) struct Tried {
    /// The message of a panic, if there was one.
    pub outcome: Result<Outcome, String>,
    pub time: Duration,
}

/// Checks a model and runs it with small budgets.
pub(crate) fn try_text(text: &str, cancel: &Cancel) -> Tried {
    let begin = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| check_and_run(text, cancel)));
    Tried {
        outcome: outcome.map_err(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            message.unwrap_or_else(|| panic.downcast_ref::<&str>().map_or(String::new(), |s| (*s).to_owned()))
        }),
        time: begin.elapsed(),
    }
}

fn check_and_run(text: &str, cancel: &Cancel) -> Outcome {
    let session = Session::new();
    session.add_text("Mutant.mo", text);
    let Some(name) = session.find_model(None).value else {
        return Outcome::Refused;
    };
    if session.check(&name, false).has_errors() {
        return Outcome::Refused;
    }
    let Ok(model) = session.compile(&name).into_result() else {
        return Outcome::Refused;
    };
    let run = model.run().cancel(cancel.clone()).options(|options| {
        options.event_limit = 2_000;
        options.step_limit = 20_000;
        options.candidate_limit = 256;
    });
    let (start, _) = run.span();
    let summary = run.stop(start + 0.5).interval(0.05).simulate_into(&mut Discard);
    match summary.failure {
        Some(_) => Outcome::Failed,
        None => Outcome::Completed,
    }
}

/// The models of the repository, smallest first.
pub(crate) fn models() -> Vec<(PathBuf, String)> {
    let folders = ["tests/models", "tests/lang", "tests/run", "examples"];
    let files = folders.into_iter().flat_map(modelica_files);
    let texts = files.filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)));
    let mut found: Vec<(PathBuf, String)> = texts.collect();
    found.sort_by(|a, b| (a.1.len(), &a.0).cmp(&(b.1.len(), &b.0)));
    found
}
