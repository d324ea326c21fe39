//! Failures of passes: a diagnostic to be reported by whoever knows whether the failure matters.

use saltus_source::{Code, Diagnostic, Span};

/// Why something could not be done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// To be reported, unless there is another way.
    Report(Box<Diagnostic>),
    /// Has been reported where the cause is.
    Reported,
}

/// The result of most passes.
pub(crate) type Fallible<T> = Result<T, Failure>;

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::Report(Box::new(diagnostic))
    }
}

/// An error with its place.
pub(crate) fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

/// An error about a rule without which the model can be understood all the same.
pub(crate) fn tolerated(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::tolerated(code, span, message)
}

/// Stops with an error.
pub(crate) fn fail<T>(code: Code, span: Span, message: impl Into<String>) -> Fallible<T> {
    Err(error(code, span, message).into())
}

/// The name among `candidates` that resembles `name` most, if any does.
pub(crate) fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if name.len() > 100 {
        return None;
    }
    let limit = (name.chars().count() / 3).max(1);
    let near = |candidate: &&str| candidate.len() <= 100 && candidate.len().abs_diff(name.len()) <= 4 * limit;
    candidates
        .into_iter()
        .filter(|candidate| near(candidate) && *candidate != name)
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance: insertions, deletions, replacements, swaps of neighbours;
/// a difference in case alone counts as one.
fn edit_distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return usize::from(a != b);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_resemble() {
        assert_eq!(did_you_mean("resitor", ["capacitor", "resistor"]), Some("resistor"));
        assert_eq!(did_you_mean("real", ["Real", "Integer"]), Some("Real"));
        assert_eq!(did_you_mean("xyz", ["resistor"]), None);
    }
}
