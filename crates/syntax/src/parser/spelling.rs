//! Keywords that were meant.

use saltus_source::{Diagnostic, Edit, codes};

use super::{Parser, Position};
use crate::kind::SyntaxKind::{self, *};

/// Number of insertions, deletions, replacements and exchanges of neighbours that make one word
/// of the other, if at most `limit`.
fn edit_distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    Some(row[b.len()]).filter(|&distance| distance <= limit)
}

/// The accepted keyword closest to a word that is not one.
pub(super) fn closest_keyword(word: &str, accept: impl Fn(SyntaxKind) -> bool) -> Option<SyntaxKind> {
    let lower = word.to_ascii_lowercase();
    // One slip in words of three to five letters, two in longer ones; shorter words are names.
    let limit = match word.len() {
        0..=2 => return None,
        3..=5 => 1,
        6..=20 => 2,
        _ => return None,
    };
    SyntaxKind::KEYWORDS
        .iter()
        .filter(|&&kind| accept(kind))
        .filter_map(|&kind| {
            let text = kind.fixed_text()?;
            let distance = edit_distance(lower.as_bytes(), text.as_bytes(), limit)?;
            Some((distance, kind))
        })
        .min()
        .map(|(_, kind)| kind)
}

/// The class keyword a word was taken for.
pub(crate) fn closest_class_keyword(word: &str) -> Option<SyntaxKind> {
    closest_keyword(word, SyntaxKind::is_class_keyword)
}

impl Parser<'_> {
    /// The accepted keyword that the name at a position is a slip of.
    pub(super) fn meant(&self, position: Position, accept: impl Fn(SyntaxKind) -> bool) -> Option<SyntaxKind> {
        let token = *self.significant.get(position as usize)?;
        if self.tokens.kinds[token as usize] != Identifier {
            return None;
        }
        closest_keyword(self.text_at(position), accept)
    }

    pub(super) fn misspelling(&self, position: Position, meant: SyntaxKind) -> Diagnostic {
        let word = self.text_at(position);
        let keyword = meant.describe();
        Diagnostic::error(
            codes::E0106,
            self.span_at(position),
            format!("`{word}` is not a keyword"),
        )
        .with_label(format!("did you mean {keyword}?"))
        .with_help(format!("write {keyword}"))
        .with_safe_fix(
            format!("replace `{word}` by {keyword}"),
            vec![Edit::replace(self.span_at(position), keyword.trim_matches('`'))],
        )
    }

    /// When parsing is stuck: the current or the previous name may be a misspelt keyword.
    pub(super) fn misspelt_keyword_nearby(&self) -> Option<Diagnostic> {
        let starts_something = |kind| {
            matches!(
                kind,
                ThenKw
                    | LoopKw
                    | EndKw
                    | ElseKw
                    | ElseifKw
                    | ElsewhenKw
                    | IfKw
                    | ForKw
                    | WhenKw
                    | WhileKw
                    | EquationKw
                    | AlgorithmKw
                    | InitialKw
                    | ConnectKw
                    | AnnotationKw
                    | ProtectedKw
                    | PublicKw
                    | ParameterKw
                    | ConstantKw
                    | ExtendsKw
                    | ImportKw
                    | WithinKw
                    | ExternalKw
                    | ReturnKw
                    | InKw
                    | AndKw
                    | NotKw
            )
        };
        let places = [Some(self.position), self.position.checked_sub(1)];
        places.into_iter().flatten().find_map(|position| {
            let meant = self.meant(position, starts_something)?;
            (!self.is_name_elsewhere(position)).then(|| self.misspelling(position, meant))
        })
    }

    /// Whether the word at a position is the name of something at another: `contact` is no slip of `connect` where it is declared.
    fn is_name_elsewhere(&self, position: Position) -> bool {
        let word = self.text_at(position);
        let behind_names = |kind| {
            matches!(
                kind,
                Semicolon | Comma | Equals | Assign | Dot | RightParen | LeftBracket
            )
        };
        (0..self.significant.len() as Position).any(|other| {
            other != position
                && self.kind_at(other) == Identifier
                && behind_names(self.kind_at(other + 1))
                && self.text_at(other) == word
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edit_distance(b"modle", b"model", 2), Some(1));
        assert_eq!(edit_distance(b"equaton", b"equation", 2), Some(1));
        assert_eq!(edit_distance(b"abc", b"xyz", 2), None);
    }

    #[test]
    fn keywords() {
        assert_eq!(closest_keyword("modle", |_| true), Some(ModelKw));
        assert_eq!(closest_keyword("Model", |_| true), Some(ModelKw));
        assert_eq!(closest_keyword("paramter", |_| true), Some(ParameterKw));
        assert_eq!(closest_keyword("x", |_| true), None);
    }
}
