//! Renaming: all occurrences, files and `package.order`, refused where the meaning of anything else would change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gen_lsp_types::{
    DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, PrepareRenamePlaceholder, Range, RenameFile,
    TextDocumentEdit, TextDocumentIdentifier, TextEdit, WorkspaceEdit,
};
use lsp_server::ErrorCode;
use saltus::library::FileSystem;
use saltus::source::{Diagnostics, Span};
use saltus_names::{Names, Target, occurrences};
use saltus_syntax::SyntaxKind;
use saltus_syntax::ast::{ClassDefinition, ElementKind};

use crate::navigation::{each_own_file, hit, identity, occurrences_of, unresolved, wanted};
use crate::overlay::Overlay;
use crate::requests::{At, Refusal};
use crate::world::World;

/// Classes inside classes are followed this deep.
const MOST_LEVELS: usize = 100;

/// Edits of texts and names of files.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    pub(crate) texts: BTreeMap<PathBuf, Vec<TextEdit>>,
    pub(crate) renamed: Vec<(PathBuf, PathBuf)>,
}

/// Edits of texts and names of files, by offsets.
#[derive(Debug, Default)]
struct Plan {
    texts: BTreeMap<PathBuf, Vec<(u32, u32, String)>>,
    renamed: Vec<(PathBuf, PathBuf)>,
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(ErrorCode::RequestFailed, reason.into()))
}

/// What would be renamed at a place.
pub(crate) fn prepare(world: &World, at: &At) -> Result<Option<PrepareRenamePlaceholder>, Refusal> {
    let Some((look, offset)) = world.look_at(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let mut names = Names::new(look.session.library());
    let Some(hit) = hit(&mut names, &look, offset) else {
        return Ok(None);
    };
    let Some(place) = identity(&mut names, &hit.target) else {
        return refuse("this name belongs to the language");
    };
    check_ours(world, place)?;
    let written = look.source.slice(hit.span);
    Ok(world.range(hit.span).map(|range: Range| PrepareRenamePlaceholder {
        range,
        placeholder: written.to_owned(),
    }))
}

fn check_ours(world: &World, place: Span) -> Result<PathBuf, Refusal> {
    let Some(source) = world.sources().file(place.file) else {
        return refuse("its declaration is not to be found");
    };
    let path = PathBuf::from(source.name());
    if world.is_ours(&path) {
        return Ok(path);
    }
    refuse(format!(
        "it is declared in `{}`, which is not part of the workspace",
        path.display()
    ))
}

/// Whether a text is one name.
fn is_name(text: &str) -> bool {
    let is_keyword = SyntaxKind::KEYWORDS
        .iter()
        .any(|keyword| keyword.fixed_text() == Some(text));
    let mut letters = text.chars();
    let plain = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    let inside = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let quoted = inside.is_some_and(|inside| {
        !inside.is_empty() && !inside.contains(['\'', '\\', '\n', '\r']) && inside.chars().all(|c| !c.is_control())
    });
    (plain && !is_keyword) || quoted
}

/// Renames what is at a place.
pub(crate) fn rename(world: &World, at: &At, new: &str) -> Result<Option<WorkspaceEdit>, Refusal> {
    if !is_name(new) {
        return refuse(format!("`{new}` is no name"));
    }
    let Some((look, place, old)) = wanted(world, at) else {
        return refuse("there is no name to rename here");
    };
    let path = check_ours(world, place)?;
    if old == new {
        return Ok(None);
    }
    let mut plan = Plan::default();
    let mut unclear = None;
    let by_name = found_by_name(world, place, &old);
    if by_name.is_some() && world.session(&path).check_last().diagnostics.has_errors() {
        return refuse("`inner` and `outer` find each other by their names: mend the errors first");
    }
    let places = by_name.unwrap_or_else(|| vec![place]);
    each_own_file(world, &old, |look| {
        if let Some(span) = unresolved(look, &old) {
            unclear = Some((look.path.clone(), look.source.line_column(span.start).line));
        }
        let mut found: Vec<Span> = Vec::new();
        for place in &places {
            found.extend(occurrences_of(look, *place, &old).into_iter().map(|(span, _)| span));
        }
        found.sort();
        found.dedup();
        if !found.is_empty() {
            let edits = found.into_iter().map(|span| (span.start, span.end, new.to_owned()));
            plan.texts.insert(look.path.clone(), edits.collect());
        }
    });
    if let Some((path, line)) = unclear {
        let path = path.display();
        return refuse(format!(
            "what `{old}` means in line {line} of `{path}` is not known: it might be this one"
        ));
    }
    let stored = stored_as(&path, &old).filter(|_| is_top_class(world, &path, place));
    if let Some(stored) = stored {
        rename_files(world, &mut plan, &stored, &old, new)?;
    }
    drop(look);
    verify(world, &plan, (&old, new))?;
    let edits = in_ranges(world, &plan);
    Ok(Some(workspace_edit(world, edits)))
}

/// All places where this name is declared `inner` or `outer`, if one of them is the place: they find each other by their names.
fn found_by_name(world: &World, place: Span, name: &str) -> Option<Vec<Span>> {
    let mut found = Vec::new();
    each_own_file(world, name, |look| {
        for stored in &look.parsed.definition.classes {
            inner_and_outer(&stored.class, name, 0, &mut found);
        }
    });
    found.contains(&place).then_some(found)
}

fn inner_and_outer(class: &ClassDefinition, name: &str, level: usize, found: &mut Vec<Span>) {
    let elements = class.composition().map_or(&[][..], |composition| &composition.elements);
    for element in elements {
        match &element.kind {
            ElementKind::Components(clause) if element.inner || element.outer => {
                let components = clause.components.iter().map(|component| &component.name);
                found.extend(components.filter(|known| known.name == name).map(|known| known.span));
            }
            ElementKind::Class(inner) if level < MOST_LEVELS => {
                let is_found = (element.inner || element.outer) && inner.name.name == name;
                found.extend(is_found.then_some(inner.name.span));
                inner_and_outer(inner, name, level + 1, found);
            }
            _ => {}
        }
    }
}

/// The file or folder that has the name of its class.
fn stored_as(path: &Path, name: &str) -> Option<PathBuf> {
    let name = name.trim_matches('\'');
    if path.file_name().is_some_and(|file| file == "package.mo") {
        let folder = path.parent()?;
        let own = folder.file_name()?.to_str()?;
        return (own.split(' ').next() == Some(name)).then(|| folder.to_owned());
    }
    (path.file_stem()? == name).then(|| path.to_owned())
}

/// Whether a place is the name of a class at the top of its file.
fn is_top_class(world: &World, path: &Path, place: Span) -> bool {
    let look = world.look(path);
    look.is_some_and(|look| {
        look.parsed
            .definition
            .classes
            .iter()
            .any(|stored| stored.class.name.span == place)
    })
}

fn rename_files(world: &World, plan: &mut Plan, stored: &Path, old: &str, new: &str) -> Result<(), Refusal> {
    let in_package = stored
        .parent()
        .is_some_and(|folder| world.files.read(&folder.join("package.mo")).is_ok());
    let is_folder = world.files.is_folder(stored);
    // A file by itself may have any name.
    if !in_package && !is_folder {
        return Ok(());
    }
    if new.starts_with('\'') {
        return refuse("a quoted name cannot be the name of a file");
    }
    if !world.renames_files {
        return refuse("the class is stored in a file of its name, and this editor cannot rename files");
    }
    let own = stored.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let target = stored.with_file_name(own.replacen(old, new, 1));
    if world.files.is_folder(&target) || world.files.read(&target).is_ok() {
        return refuse(format!("there is a file `{}`", target.display()));
    }
    plan.renamed.push((stored.to_owned(), target));
    if let Some(folder) = stored.parent().filter(|_| in_package) {
        let order = folder.join("package.order");
        if let Ok(bytes) = world.files.read(&order)
            && let Ok(text) = String::from_utf8(bytes)
        {
            let mut at = 0;
            for line in text.split_inclusive('\n') {
                let name = line.trim();
                if name == old {
                    let start = at + line.find(old).unwrap_or(0);
                    let edit = (start as u32, (start + old.len()) as u32, new.to_owned());
                    plan.texts.entry(order.clone()).or_default().push(edit);
                }
                at += line.len();
            }
        }
    }
    Ok(())
}

impl Plan {
    /// Where a file is afterwards.
    fn path(&self, path: &Path) -> PathBuf {
        for (old, new) in &self.renamed {
            if let Ok(inside) = path.strip_prefix(old) {
                return if inside.as_os_str().is_empty() {
                    new.clone()
                } else {
                    new.join(inside)
                };
            }
        }
        path.to_owned()
    }

    /// Where an offset of a file is afterwards.
    fn offset(&self, path: &Path, offset: u32) -> u32 {
        let edits = self.texts.get(path).map_or(&[][..], Vec::as_slice);
        let before = edits.iter().filter(|(_, end, _)| *end <= offset);
        let shift: i64 = before
            .map(|(start, end, text)| text.len() as i64 - i64::from(end - start))
            .sum();
        (i64::from(offset) + shift) as u32
    }

    fn apply(&self, path: &Path, text: &str) -> String {
        let mut text = text.to_owned();
        let mut edits: Vec<_> = self.texts.get(path).cloned().unwrap_or_default();
        edits.sort();
        for (start, end, new) in edits.into_iter().rev() {
            text.replace_range(start as usize..end as usize, &new);
        }
        text
    }
}

/// A place as path and offset.
type Place = (PathBuf, u32);

/// What every name of a file means: its place, and the place of its declaration.
fn meanings(world: &World, path: &Path) -> Option<BTreeMap<u32, Option<Place>>> {
    let look = world.look(path)?;
    let mut names = Names::new(look.session.library());
    let mut found = BTreeMap::new();
    occurrences(&mut names, &look.parsed, &mut |names, occurrence| {
        let target = names.resolve(&occurrence);
        let place = target.as_ref().and_then(|target: &Target| target.declaration(names));
        let place = place.and_then(|span| Some((PathBuf::from(world.sources().file(span.file)?.name()), span.start)));
        found.insert(occurrence.ident.span.start, place);
    });
    Some(found)
}

/// Makes the change in thought and looks whether every name means the same as before.
fn verify(world: &World, plan: &Plan, words: (&str, &str)) -> Result<(), Refusal> {
    let mut involved: Vec<PathBuf> = Vec::new();
    for word in [words.0, words.1] {
        each_own_file(world, word, |look| involved.push(look.path.clone()));
    }
    involved.sort();
    involved.dedup();
    let imagined = world.imagine(imagined_files(world, plan)?);
    for path in &involved {
        let (Some(before), Some(after)) = (meanings(world, path), meanings(&imagined, &plan.path(path))) else {
            return refuse(format!("`{}` cannot be read", path.display()));
        };
        for (at, meant) in &before {
            let expected = meant
                .as_ref()
                .map(|(file, offset)| (plan.path(file), plan.offset(file, *offset)));
            let found = after.get(&plan.offset(path, *at));
            if found != Some(&expected) {
                return refuse(changed(world, path, *at, words.1));
            }
        }
        compare_checks(world, &imagined, path, &plan.path(path))?;
    }
    Ok(())
}

/// Redeclarations bring classes together that do not name each other: what is right before must be so afterwards.
fn compare_checks(world: &World, imagined: &World, before: &Path, after: &Path) -> Result<(), Refusal> {
    let known = world.session(before).check_last().diagnostics;
    if known.has_errors() {
        return Ok(());
    }
    let checked = imagined.session(after).check_last().diagnostics;
    let mut errors = checked.iter().filter(|found| found.is_error());
    if let Some(error) = errors.next() {
        return refuse(format!("`{}` would be wrong: {}", before.display(), error.message));
    }
    // An `outer` of a library that finds no `inner` any more gets one of its own, with a word about it.
    let count = |found: &Diagnostics, code| found.iter().filter(|found| found.code == code).count();
    let news = checked
        .iter()
        .find(|found| count(&checked, found.code) > count(&known, found.code));
    match news {
        Some(warning) => refuse(format!("of `{}` would be said: {}", before.display(), warning.message)),
        None => Ok(()),
    }
}

fn changed(world: &World, path: &Path, at: u32, new: &str) -> String {
    let look = world.look(path);
    let line = look.map_or(0, |look| look.source.line_column(at).line);
    format!(
        "with the name `{new}`, line {line} of `{}` would mean something else",
        path.display()
    )
}

/// The files as they would be.
fn imagined_files(world: &World, plan: &Plan) -> Result<Overlay, Refusal> {
    let mut files = (*world.files).clone();
    let mut counter = u64::MAX / 4;
    let mut moved: Vec<PathBuf> = plan.texts.keys().cloned().collect();
    for (old, _) in &plan.renamed {
        let inside = saltus_syntax::library::modelica_files(&*world.files, std::slice::from_ref(old));
        for path in inside {
            moved.extend(
                path.parent()
                    .map(|folder| folder.join("package.order"))
                    .filter(|order| world.files.read(order).is_ok()),
            );
            moved.push(path);
        }
    }
    moved.sort();
    moved.dedup();
    let mut texts = Vec::new();
    for path in moved {
        let bytes = world.files.read(&path).ok();
        let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return refuse(format!("`{}` cannot be read as UTF-8", path.display()));
        };
        texts.push((plan.path(&path), plan.apply(&path, &text)));
    }
    for (old, _) in &plan.renamed {
        files.remove(old);
    }
    for (path, text) in texts {
        counter += 1;
        files.show(&path, text.into(), counter);
    }
    Ok(files)
}

fn in_ranges(world: &World, plan: &Plan) -> Edits {
    let mut edits = Edits {
        renamed: plan.renamed.clone(),
        ..Edits::default()
    };
    for (path, texts) in &plan.texts {
        let bytes = world.files.read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = crate::position::Lines::new(&text);
        let range = |start: u32, end: u32| Range {
            start: lines.position(&text, start, world.encoding),
            end: lines.position(&text, end, world.encoding),
        };
        let texts = texts.iter().map(|(start, end, new)| TextEdit {
            range: range(*start, *end),
            new_text: new.clone(),
        });
        edits.texts.insert(path.clone(), texts.collect());
    }
    edits
}

/// Edits in the words of the protocol: texts first, then names of files.
pub(crate) fn workspace_edit(world: &World, edits: Edits) -> WorkspaceEdit {
    let mut changes: Vec<DocumentChange> = Vec::new();
    for (path, texts) in edits.texts {
        let version = world.documents.get(&path).map(|document| document.version);
        changes.push(DocumentChange::TextDocumentEdit(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                version,
                text_document_identifier: TextDocumentIdentifier { uri: world.uri(&path) },
            },
            edits: texts.into_iter().map(Edit::TextEdit).collect(),
        }));
    }
    for (old, new) in edits.renamed {
        let renamed = RenameFile::new(world.uri(&old), crate::uri::uri_of(&new), None, None);
        changes.push(DocumentChange::RenameFile(renamed));
    }
    WorkspaceEdit {
        document_changes: Some(changes),
        ..WorkspaceEdit::default()
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names() {
        for good in ["x", "_1", "Model2", "'a b'"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "1x", "model", "a b", "a.b", "'", "''", "'a'b'", "\u{e4}"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
