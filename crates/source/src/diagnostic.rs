//! Diagnostics as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::edit::{Edit, Fix};
use crate::file::Span;

/// The stable name of a kind of diagnostic, such as `E0101`; all of them are in [`crate::codes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// Only the registry in [`crate::codes`] makes codes, so that each has its explanation.
    pub(crate) const fn new(code: &'static str) -> Code {
        Code(code)
    }

    /// The code as users see it.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// As users see it.
impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

/// Only codes of the registry.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = crate::codes::all().find(|code| code.0 == name);
        known.ok_or_else(|| serde::de::Error::custom("a code that is not known"))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// The model is wrong.
    Error,
    /// The model has a meaning, but probably not the intended one.
    Warning,
    /// Something worth knowing.
    Note,
}

impl Severity {
    /// `error`, `warning` or `note`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A remark on a piece of source text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Label {
    /// The text it is about.
    pub span: Span,
    /// The remark; may be empty.
    pub message: String,
}

/// One finding: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable code with an explanation in the registry.
    pub code: Code,
    /// How serious it is.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// Where it is; `None` only if there is no source text to point at (an unreadable file).
    pub primary: Option<Label>,
    /// Other places involved.
    pub secondary: Vec<Label>,
    /// Background.
    pub notes: Vec<String>,
    /// What the user can do.
    pub help: Vec<String>,
    /// The same as edits, where that is mechanical. Model files do not keep them: their text is not at hand.
    #[serde(skip)]
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// A diagnostic at a place.
    pub fn new(code: Code, severity: Severity, span: Span, message: impl Into<String>) -> Self {
        let mut diagnostic = Self::without_place(code, severity, message);
        diagnostic.primary = Some(Label {
            span,
            message: String::new(),
        });
        diagnostic
    }

    /// An error at a place.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, span, message)
    }

    /// A warning at a place.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message)
    }

    /// A rule that is broken although what the model means is clear: a warning where it is run, an error where it is checked
    /// ([`Diagnostics::be_strict`]).
    pub fn tolerated(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::warning(code, span, message)
    }

    /// A note at a place.
    pub fn note_at(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, span, message)
    }

    /// A diagnostic about something that has no text, such as a file that cannot be read.
    pub fn without_place(code: Code, severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// Sets the remark at the primary place.
    #[must_use]
    pub fn with_label(mut self, message: impl Into<String>) -> Self {
        if let Some(primary) = &mut self.primary {
            primary.message = message.into();
        }
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn with_secondary(mut self, span: Span, message: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Adds background.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds a way out that surely is what was meant.
    #[must_use]
    pub fn with_safe_fix(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.with_fix(title, edits, true)
    }

    /// Adds a way out that the user should look at.
    #[must_use]
    pub fn with_likely_fix(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.with_fix(title, edits, false)
    }

    fn with_fix(mut self, title: impl Into<String>, edits: Vec<Edit>, safe: bool) -> Self {
        let title = title.into();
        self.fixes.push(Fix { title, edits, safe });
        self
    }

    /// The primary place.
    pub fn span(&self) -> Option<Span> {
        self.primary.as_ref().map(|label| label.span)
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Diagnostics in the order of the source text, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Sorted and without repetition only after [`Diagnostics::normalise`].
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.items.push(diagnostic);
    }

    /// Sorts by place (file, start, end; those without a place first), then code and message, and
    /// drops repetitions.
    pub fn normalise(&mut self) {
        self.items
            .sort_by(|a, b| sort_key(a).cmp(&sort_key(b)).then(a.severity.cmp(&b.severity)));
        self.items.dedup_by(|a, b| sort_key(a) == sort_key(b));
    }

    /// Takes tolerated errors ([`Diagnostic::tolerated`]) as errors.
    pub fn be_strict(&mut self) {
        for diagnostic in &mut self.items {
            if diagnostic.code.as_str().starts_with('E') {
                diagnostic.severity = Severity::Error;
            }
        }
    }

    /// Makes errors of warnings with codes that are denied; says whether there were any.
    pub fn deny(&mut self, is_denied: impl Fn(Code) -> bool) -> bool {
        let mut any = false;
        for diagnostic in &mut self.items {
            if diagnostic.severity == Severity::Warning && is_denied(diagnostic.code) {
                diagnostic.severity = Severity::Error;
                any = true;
            }
        }
        any
    }

    /// Sorted, each once.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.normalise();
        self.items
    }

    /// Those collected so far, in the order of collection unless normalised.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// Whether at least one is an error.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(Diagnostic::is_error)
    }

    /// Number of errors.
    pub fn error_count(&self) -> usize {
        self.items.iter().filter(|d| d.is_error()).count()
    }

    /// Number collected.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

fn sort_key(diagnostic: &Diagnostic) -> (Option<Span>, Code, &str) {
    (diagnostic.span(), diagnostic.code, &diagnostic.message)
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        self.items.extend(iter);
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(iter: T) -> Self {
        Diagnostics {
            items: iter.into_iter().collect(),
        }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
