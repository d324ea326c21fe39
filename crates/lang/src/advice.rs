//! Help that is mechanical, as edits: names that resemble the unknown one, and names that older versions of a library had.

use std::ops::Range;
use std::sync::Arc;

use saltus_source::{Diagnostic, Edit, Span};
use saltus_syntax::ast::Name;

use crate::flattener::Flattener;
use crate::ids::ClassId;

/// A name with the dots before and behind it, as it is written: `a.b.c`.
struct WrittenPath {
    start: usize,
    /// The name and what follows.
    parts: Vec<Range<usize>>,
}

impl WrittenPath {
    fn around(text: &str, name: Span) -> WrittenPath {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut start = name.start as usize;
        while let Some(before) = text[..start].strip_suffix('.') {
            start = before.trim_end_matches(is_part).len();
        }
        let first = name.start as usize..name.end as usize;
        let mut parts = vec![first];
        let mut end = name.end as usize;
        while let Some(behind) = text[end..].strip_prefix('.') {
            let length = behind.len() - behind.trim_start_matches(is_part).len();
            if length == 0 {
                break;
            }
            parts.push(end + 1..end + 1 + length);
            end += 1 + length;
        }
        WrittenPath { start, parts }
    }
}

impl Flattener<'_> {
    /// The place of a name within a span that begins with it, possibly behind prefixes.
    fn name_within(&self, span: Span, name: &str) -> Option<Span> {
        let file = self.library.sources().file(span.file)?;
        let text = file.text().get(span.start as usize..span.end as usize)?;
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let (at, _) = text.match_indices(name).find(|(at, _)| {
            let (before, behind) = (&text[..*at], &text[at + name.len()..]);
            !before.ends_with(is_part) && !behind.starts_with(is_part)
        })?;
        let start = span.start + at as u32;
        Some(Span::new(span.file, start, start + name.len() as u32))
    }

    /// What a name that is not known was probably meant to be.
    pub(crate) fn suggesting(&self, diagnostic: Diagnostic, name: &str, span: Span, other: &str) -> Diagnostic {
        let diagnostic = diagnostic.with_help(format!("did you mean `{other}`?"));
        match self.name_within(span, name) {
            Some(place) => diagnostic.with_likely_fix(
                format!("replace `{name}` by `{other}`"),
                vec![Edit::replace(place, other)],
            ),
            None => diagnostic,
        }
    }

    /// What something in a class of a library was called in an older version, and is called now.
    pub(crate) fn renamed(
        &mut self,
        diagnostic: &Diagnostic,
        class: ClassId,
        name: &str,
        span: Span,
    ) -> Option<Diagnostic> {
        self.renamed_class(diagnostic, class, name, span)
            .or_else(|| self.renamed_element(diagnostic, class, name, span))
    }

    fn renamed_class(&mut self, diagnostic: &Diagnostic, class: ClassId, name: &str, span: Span) -> Option<Diagnostic> {
        let package = Arc::clone(&self.classes[class].name);
        let conversions = self.conversions(&package);
        let place = self.name_within(span, name)?;
        let file = self.library.sources().file(span.file)?;
        let path = WrittenPath::around(file.text(), place);
        let parts: Vec<&str> = path.parts.iter().map(|part| &file.text()[part.clone()]).collect();
        let (length, new) = conversions.class(&package, &parts)?;
        let old = format!("{package}.{}", parts[..length].join("."));
        let help = format!("in this version of the library `{old}` is called `{new}`");
        let diagnostic = diagnostic.clone().with_help(help);
        if !self.has_class(new) {
            return Some(diagnostic);
        }
        let end = path.parts[length - 1].end as u32;
        // What stays in its package needs no other way there.
        let inside = new.strip_prefix(&*package).and_then(|rest| rest.strip_prefix('.'));
        let (start, text) = match inside {
            Some(inside) => (place.start, inside),
            None => (path.start as u32, new),
        };
        let replaced = Span::new(span.file, start, end);
        let title = format!("replace `{}` by `{text}`", &file.text()[start as usize..end as usize]);
        Some(diagnostic.with_safe_fix(title, vec![Edit::replace(replaced, text)]))
    }

    /// Whether there is a class, or the class of a constant, with this full name.
    fn has_class(&self, name: &str) -> bool {
        let path: Vec<Name> = name.split('.').map(Name::new).collect();
        let find = |path: &[Name]| !path.is_empty() && self.library.find(path).is_some();
        find(&path) || find(&path[..path.len() - 1])
    }

    fn renamed_element(
        &mut self,
        diagnostic: &Diagnostic,
        class: ClassId,
        name: &str,
        span: Span,
    ) -> Option<Diagnostic> {
        // It may be inherited from a class of the library.
        let scopes = self.classes[class]
            .table
            .as_ref()
            .map_or(Vec::new(), |table| table.scopes.clone());
        let new = std::iter::once(class).chain(scopes).find_map(|scope| {
            let owner = Arc::clone(&self.classes[scope].name);
            self.conversions(&owner).element(&owner, name).map(str::to_owned)
        })?;
        let table = self.classes[class].table.as_ref()?;
        table.by_name.get(new.as_str())?;
        let help = format!("in this version of the library `{name}` is called `{new}`");
        let diagnostic = diagnostic.clone().with_help(help);
        Some(match self.name_within(span, name) {
            Some(place) => diagnostic.with_safe_fix(
                format!("replace `{name}` by `{new}`"),
                vec![Edit::replace(place, new.as_str())],
            ),
            None => diagnostic,
        })
    }

    /// `each` in front of the modification whose value this is.
    pub(crate) fn inserting_each(&self, diagnostic: Diagnostic, value: Span, is_scalar: bool) -> Diagnostic {
        let place = || {
            let file = self.library.sources().file(value.file)?;
            let before = file
                .text()
                .get(..value.start as usize)?
                .trim_end()
                .strip_suffix('=')?
                .trim_end();
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            let name = before.len() - before.trim_end_matches(is_name).len();
            let start = before.len() - name;
            let opens = before[..start].trim_end().ends_with(['(', ',']);
            (name > 0 && opens).then(|| Span::at(value.file, start as u32))
        };
        match place() {
            Some(at) if is_scalar => diagnostic.with_safe_fix("insert `each`", vec![Edit::insert(at, "each ")]),
            _ => diagnostic,
        }
    }

    /// `each` left out.
    pub(crate) fn removing_each(&self, diagnostic: Diagnostic, each: Span) -> Diagnostic {
        let place = || {
            let file = self.library.sources().file(each.file)?;
            let rest = file.text().get(each.start as usize..)?.strip_prefix("each")?;
            let blanks = rest.len() - rest.trim_start().len();
            (blanks > 0).then(|| Span::new(each.file, each.start, each.start + 4 + blanks as u32))
        };
        match place() {
            Some(span) => diagnostic.with_safe_fix("remove `each`", vec![Edit::replace(span, "")]),
            None => diagnostic,
        }
    }
}
