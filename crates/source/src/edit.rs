//! Changes of source text as data.

use crate::file::Span;

/// A piece of text to be replaced; an insertion where the span is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub text: String,
}

impl Edit {
    /// Replaces a piece of text.
    pub fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit {
            span,
            text: text.into(),
        }
    }

    /// Inserts text in front of an offset.
    pub fn insert(at: Span, text: impl Into<String>) -> Edit {
        Edit::replace(Span::at(at.file, at.start), text)
    }
}

/// What a user may do about a diagnostic, as edits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fix {
    /// What it does, as an order: ``insert `;` ``.
    pub title: String,
    /// The edits, all of them or none.
    pub edits: Vec<Edit>,
    /// Whether it is surely what was meant, so that it may be applied without being looked at.
    pub safe: bool,
}

/// The text with edits applied, all in one file. Those that overlap an earlier one are left out; says how many were applied.
pub fn apply_edits(text: &str, edits: &[Edit]) -> (String, usize) {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort();
    sorted.dedup();
    let mut result = String::with_capacity(text.len() + 64);
    let (mut done, mut applied) = (0, 0);
    for edit in sorted {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        let Some(kept) = text.get(done..start).filter(|_| text.get(start..end).is_some()) else {
            continue;
        };
        result.push_str(kept);
        result.push_str(&edit.text);
        done = end;
        applied += 1;
    }
    result.push_str(&text[done..]);
    (result, applied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FileId;

    #[test]
    fn edits_are_applied_in_order() {
        let file = FileId(0);
        let edit = |start, end, text: &str| Edit::replace(Span::new(file, start, end), text);
        let edits = [edit(4, 4, "d"), edit(0, 1, "A"), edit(2, 4, "C")];
        assert_eq!(apply_edits("abcx", &edits), ("AbCd".to_owned(), 3));
        // What overlaps an earlier edit, or is outside, is left out.
        let edits = [edit(0, 2, "A"), edit(1, 3, "B"), edit(9, 9, "C")];
        assert_eq!(apply_edits("abcx", &edits), ("Acx".to_owned(), 1));
        assert_eq!(apply_edits("öx", &[edit(1, 2, "")]), ("öx".to_owned(), 0));
    }
}
