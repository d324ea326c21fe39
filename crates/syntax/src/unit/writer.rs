//! Making a unit of a package.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miniz_oxide::deflate::compress_to_vec_zlib;
use saltus_source::FileId;

use super::bytes::{Places, Writer};
use super::tree::Stored;
use super::{FORMAT, MAGIC, PartKind, UnitError};
use crate::ast::{Name, StoredClass, StoredDefinition};
use crate::library::{Library, LibraryClass};

/// Compression level: higher ones take longer and save little.
const LEVEL: u8 = 6;

/// What a unit is to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitOptions {
    /// Leave out the text of the classes, and documentation, pictures and remarks beside equations with it.
    pub without_sources: bool,
}

/// A unit and what went into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenUnit {
    /// The file.
    pub bytes: Vec<u8>,
    /// Number of Modelica files.
    pub files: usize,
    /// Number of files that models of the package read.
    pub resources: usize,
}

/// Parts on their way into a unit.
#[derive(Debug, Default)]
struct Parts {
    parts: BTreeMap<(PathBuf, PartKind), Vec<u8>>,
    /// Strings that may name files.
    strings: Vec<Name>,
}

impl Library {
    /// A top-level class with everything that is stored below it as a unit.
    pub fn to_unit(&self, class: &LibraryClass, options: UnitOptions) -> Result<WrittenUnit, UnitError> {
        let mut parts = Parts::default();
        match class.folder() {
            Some(folder) => self.add_package(&mut parts, class, folder, options)?,
            None => self.add_single(&mut parts, class, options),
        }
        let files = parts.parts.keys().filter(|(_, kind)| *kind == PartKind::Tree).count();
        let resources = self.add_resources(&mut parts, class);
        Ok(WrittenUnit {
            bytes: parts.to_bytes(),
            files,
            resources,
        })
    }

    /// A package folder and those below it.
    fn add_package(
        &self,
        parts: &mut Parts,
        package: &LibraryClass,
        root: &Path,
        options: UnitOptions,
    ) -> Result<(), UnitError> {
        let mut pending = vec![package.clone()];
        while let Some(class) = pending.pop() {
            let file = self.sources().file(class.file).map(|file| PathBuf::from(file.name()));
            let file = file.unwrap_or_default();
            let inside = file.strip_prefix(root).map_err(|_| UnitError::Wrong(file.clone()))?;
            let parsed = self.parsed(&file).filter(|parsed| parsed.is_ok);
            let parsed = parsed.ok_or_else(|| UnitError::Wrong(file.clone()))?;
            self.add_file(parts, inside, class.file, &parsed.definition, options);
            let members = self.members(&class);
            if class.is_folder() && !members.is_empty() {
                let order = inside.with_file_name("package.order");
                let names: String = members.iter().map(|name| format!("{name}\n")).collect();
                parts.parts.insert((order, PartKind::Content), names.into_bytes());
            }
            for name in members.iter() {
                let member = self.member(&class, name);
                let wrong = || UnitError::Wrong(inside.with_file_name(format!("{name}.mo")));
                pending.push((*member.ok_or_else(wrong)?).clone());
            }
        }
        Ok(())
    }

    /// A package in a file, in which others may be too.
    fn add_single(&self, parts: &mut Parts, class: &LibraryClass, options: UnitOptions) {
        let definition = StoredDefinition {
            within: None,
            classes: vec![StoredClass {
                is_final: false,
                class: Arc::clone(&class.definition),
            }],
            span: class.definition.span,
        };
        self.add_file(parts, Path::new("package.mo"), class.file, &definition, options);
    }

    fn add_file(
        &self,
        parts: &mut Parts,
        path: &Path,
        file: FileId,
        definition: &StoredDefinition,
        options: UnitOptions,
    ) {
        let mut writer = Writer::new(Places::Written);
        writer.only_meaning = options.without_sources;
        definition.write(&mut writer);
        parts.strings.append(&mut writer.strings);
        parts.parts.insert((path.to_owned(), PartKind::Tree), writer.finish());
        let Some(source) = self.sources().file(file) else {
            return;
        };
        let text = if options.without_sources || source.is_outline() {
            (PartKind::Lines, lines(source.line_starts()))
        } else {
            (PartKind::Content, source.text().as_bytes().to_vec())
        };
        parts.parts.insert((path.to_owned(), text.0), text.1);
    }

    /// The files that strings among the equations and declarations name, where they lie in the folder of the package.
    fn add_resources(&self, parts: &mut Parts, class: &LibraryClass) -> usize {
        let folder = self.resource(&format!("modelica://{}/", class.qualified_name()));
        let Some(folder) = folder else {
            return 0;
        };
        let mut count = 0;
        for name in std::mem::take(&mut parts.strings) {
            let Some(path) = name.starts_with("modelica://").then(|| self.resource(&name)).flatten() else {
                continue;
            };
            let Ok(inside) = path.strip_prefix(&folder) else {
                continue;
            };
            let key = (inside.to_owned(), PartKind::Content);
            if !parts.parts.contains_key(&key)
                && let Ok(content) = self.read_resource(&path)
            {
                parts.parts.insert(key, content);
                count += 1;
            }
        }
        count
    }
}

impl Parts {
    fn to_bytes(&self) -> Vec<u8> {
        let mut list = Writer::new(Places::Omitted);
        list.number(self.parts.len() as u64);
        let mut content = Vec::new();
        for ((path, kind), part) in &self.parts {
            let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
            let compressed = compress_to_vec_zlib(part, LEVEL);
            list.name(&Name::new(names.join("/")));
            list.byte(*kind as u8);
            list.number(compressed.len() as u64);
            list.number(part.len() as u64);
            content.extend_from_slice(&compressed);
        }
        let list = compress_to_vec_zlib(&list.finish(), LEVEL);
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(list.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&list);
        bytes.extend_from_slice(&content);
        bytes
    }
}

/// Offsets at which lines begin, as differences.
fn lines(starts: &[u32]) -> Vec<u8> {
    let mut writer = Writer::new(Places::Omitted);
    writer.number(starts.len() as u64);
    let mut last = 0;
    for &start in starts {
        writer.number(u64::from(start - last));
        last = start;
    }
    writer.finish()
}
