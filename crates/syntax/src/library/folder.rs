//! One package folder: which classes it holds, and in which order.

use std::path::{Path, PathBuf};

use saltus_source::{Diagnostic, FileId, SourceMap, Span, codes};

use super::files::FolderEntry;
use super::units::is_unit;
use crate::ast::{ClassDefinition, ElementKind, Name};
use crate::unit::SUFFIX;

/// A class stored beside `package.mo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub name: Name,
    /// `Name.mo` or `Name/package.mo`.
    pub file: PathBuf,
    /// `Name`, for a package folder.
    pub folder: Option<PathBuf>,
}

/// What a folder holds, from its listing alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    /// Sorted by name, each name once.
    pub classes: Vec<Stored>,
    /// Names that are both a file and a folder.
    pub duplicates: Vec<Name>,
    /// Whether there is a `package.mo`.
    pub is_package: bool,
    /// Whether there is a `package.order`.
    pub has_order: bool,
}

impl Folder {
    /// `holds_package` says whether a folder has a `package.mo`; other folders (resources) hold no
    /// classes.
    pub(super) fn new(path: &Path, entries: &[FolderEntry], holds_package: impl Fn(&Path) -> bool) -> Folder {
        let mut folder = Folder::default();
        for entry in entries {
            let inside = path.join(&entry.name);
            if entry.is_folder {
                // What is wrong with a unit is said when a class of it is asked for.
                if is_unit(&inside) || holds_package(&inside) {
                    folder.classes.push(Stored {
                        name: Name::new(entry.name.strip_suffix(SUFFIX).unwrap_or(&entry.name)),
                        file: inside.join("package.mo"),
                        folder: Some(inside),
                    });
                }
            } else if entry.name == "package.mo" {
                folder.is_package = true;
            } else if entry.name == "package.order" {
                folder.has_order = true;
            } else if let Some(name) = entry.name.strip_suffix(".mo") {
                folder.classes.push(Stored {
                    name: Name::new(name),
                    file: inside,
                    folder: None,
                });
            }
        }
        folder.sort();
        folder
    }

    /// A folder wins over a file with the same name.
    fn sort(&mut self) {
        let key = |class: &Stored| (class.name.clone(), class.folder.is_none());
        self.classes.sort_by_key(key);
        let duplicates = &mut self.duplicates;
        self.classes.dedup_by(|second, first| {
            let same = second.name == first.name;
            if same {
                duplicates.push(first.name.clone());
            }
            same
        });
    }

    /// The class with this name.
    pub(super) fn find(&self, name: &str) -> Option<&Stored> {
        let index = self.classes.binary_search_by(|class| class.name.as_str().cmp(name));
        index.ok().map(|index| &self.classes[index])
    }
}

/// The names of `package.order` with their places.
pub(super) fn order_entries(text: &str, file: FileId) -> Vec<(Name, Span)> {
    let mut entries = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let name = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if !name.is_empty() && !name.starts_with("//") {
            let from = (start + line.find(name).unwrap_or(0)) as u32;
            let span = Span::new(file, from, from + name.len() as u32);
            entries.push((Name::new(name), span));
        }
        start += line.len();
    }
    entries
}

/// Compares `package.order` with what there is; returns the stored classes in their order.
pub(super) fn order_classes(
    folder: &Folder,
    entries: &[(Name, Span)],
    package: &ClassDefinition,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Name> {
    let inside = names_inside(package);
    let mut order: Vec<Name> = Vec::new();
    let mut seen: Vec<(&Name, Span)> = Vec::new();
    for (name, span) in entries {
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == name) {
            diagnostics.push(
                Diagnostic::error(codes::E0124, *span, format!("`{name}` is listed twice"))
                    .with_secondary(*first, "first listed here"),
            );
            continue;
        }
        seen.push((name, *span));
        if folder.find(name).is_some() {
            order.push(name.clone());
        } else if !inside.contains(name) {
            diagnostics.push(
                Diagnostic::error(
                    codes::E0123,
                    *span,
                    format!("package `{}` has no `{name}`", package.name),
                )
                .with_help(format!("add `{name}.mo`, or remove this line")),
            );
        }
    }
    for class in &folder.classes {
        if !order.contains(&class.name) {
            order.push(class.name.clone());
        }
    }
    order
}

/// The stored classes that `package.order` does not name.
pub(super) fn unlisted(folder: &Folder, entries: &[(Name, Span)]) -> Vec<Name> {
    let listed = |name: &Name| entries.iter().any(|(entry, _)| entry == name);
    let names = folder.classes.iter().map(|class| class.name.clone());
    names.filter(|name| !listed(name)).collect()
}

/// Classes and components declared in `package.mo`.
fn names_inside(package: &ClassDefinition) -> Vec<Name> {
    let elements = package.composition().map_or(&[][..], |c| &c.elements);
    let mut names = Vec::new();
    for element in elements {
        match &element.kind {
            ElementKind::Class(class) => names.push(class.name.name.clone()),
            ElementKind::Components(clause) => {
                names.extend(clause.components.iter().map(|c| c.name.name.clone()));
            }
            _ => {}
        }
    }
    names
}

/// Reads `package.order` into the table of files.
pub(super) fn read_order(sources: &SourceMap, path: &Path, bytes: Vec<u8>) -> Vec<(Name, Span)> {
    let id = sources.add_bytes(path.to_string_lossy(), bytes);
    sources
        .file(id)
        .map(|file| order_entries(file.text(), id))
        .unwrap_or_default()
}
