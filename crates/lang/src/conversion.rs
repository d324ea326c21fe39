//! What classes and elements of a library were called in older versions: the conversion scripts that it brings along (Language
//! Specification, section "Version Handling"), read as far as they give new names.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_source::FileId;
use saltus_syntax::ast::{
    Argument, Binding, ClassDefinition, ClassModification, Expr, ExprKind, Statement, StatementKind,
};

use crate::flattener::Flattener;

/// Longer scripts are none.
const LONGEST_SCRIPT: usize = 1 << 24;

/// New names for old ones.
#[derive(Debug, Default)]
pub(crate) struct Conversions {
    /// Full names of classes.
    classes: FxHashMap<String, String>,
    /// The old names of a class, by the new one.
    former: FxHashMap<String, Vec<String>>,
    /// Elements, by the full name of their class and their own.
    elements: FxHashMap<(String, String), String>,
}

impl Conversions {
    /// The new name for the longest part of a name that begins in a package; and how many of its parts it stands for.
    pub(crate) fn class(&self, package: &str, parts: &[&str]) -> Option<(usize, &str)> {
        (1..=parts.len()).rev().find_map(|length| {
            let inside = parts[..length].join(".");
            let mut old = self.names_of(package).map(|package| format!("{package}.{inside}"));
            let new = old.find_map(|old| self.classes.get(&old))?;
            Some((length, new.as_str()))
        })
    }

    /// The new name of an element of a class.
    pub(crate) fn element(&self, class: &str, name: &str) -> Option<&str> {
        let mut names = self.names_of(class);
        names
            .find_map(|class| self.elements.get(&(class.to_owned(), name.to_owned())))
            .map(String::as_str)
    }

    /// What a class is and was called.
    fn names_of<'n>(&'n self, class: &'n str) -> impl Iterator<Item = &'n str> {
        let former = self.former.get(class).into_iter().flatten();
        std::iter::once(class).chain(former.map(String::as_str))
    }

    fn read_script(&mut self, text: &str) {
        if text.len() > LONGEST_SCRIPT {
            return;
        }
        // A script is a list of statements.
        let text = format!("function conversion algorithm\n{text}\nend conversion;");
        let parse = saltus_syntax::parse(FileId(0), &text);
        for stored in &parse.ast().classes {
            let sections = stored.class.composition().into_iter().flat_map(|body| &body.algorithms);
            for statement in sections.flat_map(|section| &section.statements) {
                if let Statement {
                    kind: StatementKind::Call(call),
                    ..
                } = statement
                {
                    self.read_rule(call);
                }
            }
        }
    }

    fn read_rule(&mut self, rule: &Expr) {
        let ExprKind::Call(call) = &rule.kind else { return };
        let Some(function) = call.function.parts.first() else {
            return;
        };
        match (&*function.name.name, call.positional()) {
            ("convertClass", [old, new]) => self.rename_classes(&texts(old), &texts(new)),
            ("convertElement", [classes, old, new]) => self.rename_elements(&texts(classes), &texts(old), &texts(new)),
            ("convertModifiers", [classes, old, new, ..]) => {
                self.rename_modifiers(&texts(classes), &texts(old), &texts(new));
            }
            _ => {}
        }
    }

    fn rename_classes(&mut self, old: &[&str], new: &[&str]) {
        for (old, new) in old.iter().zip(new) {
            if self.classes.insert((*old).to_owned(), (*new).to_owned()).is_none() {
                self.former
                    .entry((*new).to_owned())
                    .or_default()
                    .push((*old).to_owned());
            }
        }
    }

    fn rename_elements(&mut self, classes: &[&str], old: &[&str], new: &[&str]) {
        for class in classes {
            for (old, new) in old.iter().zip(new) {
                let key = ((*class).to_owned(), (*old).to_owned());
                self.elements.insert(key, (*new).to_owned());
            }
        }
    }

    /// Modifiers that get another name and nothing else: `{"a"}, {"b=%a%"}`.
    fn rename_modifiers(&mut self, classes: &[&str], old: &[&str], new: &[&str]) {
        for (old, new) in old.iter().zip(new) {
            let old = old.split('=').next().unwrap_or(old).trim();
            if let Some((name, value)) = new.split_once('=')
                && value.trim() == format!("%{old}%")
                && name.trim() != old
            {
                self.rename_elements(classes, &[old], &[name.trim()]);
            }
        }
    }
}

/// A string or an array of strings.
fn texts(expr: &Expr) -> Vec<&str> {
    match &expr.kind {
        ExprKind::String(text) => vec![text],
        ExprKind::Array(elements) => elements.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// The options of `annotation(conversion(…))` that say how to convert.
fn sources(definition: &ClassDefinition) -> Vec<&ClassModification> {
    let conversion = definition.annotation.as_ref().and_then(|annotation| {
        let conversion = annotation.modification.find("conversion")?;
        conversion.modification.as_deref()?.class_modification.as_deref()
    });
    let arguments = conversion.map_or(&[][..], |conversion| &conversion.arguments);
    let from = arguments.iter().filter_map(|argument| match argument {
        Argument::Modification(m) if m.name.parts.len() == 1 && m.name.parts[0].name == "from" => {
            m.modification.as_deref()
        }
        _ => None,
    });
    from.filter_map(|m| m.class_modification.as_deref()).collect()
}

fn value<'m>(options: &'m ClassModification, name: &str) -> Option<&'m Expr> {
    match options.find(name)?.modification.as_deref()?.binding.as_ref()? {
        Binding::Expr(value) => Some(value),
        Binding::Break(_) => None,
    }
}

impl Flattener<'_> {
    /// The conversions that the library of a class brings along.
    pub(crate) fn conversions(&mut self, class: &str) -> Arc<Conversions> {
        let top = class.split('.').next().unwrap_or(class);
        if let Some(known) = self.conversions.get(top) {
            return Arc::clone(known);
        }
        let mut found = Conversions::default();
        if let Some(library) = self.library.top_level(top) {
            for options in sources(&library.definition) {
                self.read_conversion(options, &mut found);
            }
        }
        let found = Arc::new(found);
        self.conversions.insert(top.to_owned(), Arc::clone(&found));
        found
    }

    /// Rules that stand in the annotation itself, or in the file that it names.
    fn read_conversion(&self, options: &ClassModification, found: &mut Conversions) {
        if let Some(Expr {
            kind: ExprKind::Array(rules),
            ..
        }) = value(options, "change")
        {
            rules.iter().for_each(|rule| found.read_rule(rule));
        }
        let script = value(options, "script").map(texts).unwrap_or_default();
        for name in script {
            // A script that cannot be read says nothing of names.
            let path = self.library.resource(name);
            if let Some(bytes) = path.and_then(|path| self.library.read_resource(&path).ok()) {
                found.read_script(&String::from_utf8_lossy(&bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "// From 1 to 2\nconvertClass(\"L.SIunits\",\n  \"L.Units.SI\");\n\
        convertClass(\"L.SIunits.Conversions\", \"L.Units.Conversions\");\nconvertClass({\"L.A\", \"L.B\"}, {\"L.C\", \"L.D\"});\n\
        convertElement({\"L.A\", \"L.D\"}, \"freqHz\", \"f\");\nconvertElement(\"L.T\", {\"ri\", \"ro\"}, {\"R\", \"r\"});\n\
        convertModifiers(\"L.N\", {\"precision=3\"}, {\"digits=%precision%\"});\n\
        convertModifiers(\"L.N\", {\"hide\"}, {\"show=not %hide%\"});\nconvertModifiers(\"L.N\", fill(\"\", 0), {\"a=1\"});\n\
        convertMessage(\"L.M\", \"By hand.\");\n";

    fn conversions() -> Conversions {
        let mut found = Conversions::default();
        found.read_script(SCRIPT);
        found
    }

    #[test]
    fn the_longest_name_counts() {
        let found = conversions();
        let class = |package, parts: &[&str]| found.class(package, parts).map(|(n, new)| (n, new.to_owned()));
        let expect = |n, new: &str| Some((n, new.to_owned()));
        assert_eq!(class("L", &["SIunits", "Length"]), expect(1, "L.Units.SI"));
        assert_eq!(
            class("L", &["SIunits", "Conversions", "f"]),
            expect(2, "L.Units.Conversions")
        );
        // Through an alias that has its new name already.
        assert_eq!(
            class("L.Units.SI", &["Conversions", "f"]),
            expect(1, "L.Units.Conversions")
        );
        assert_eq!(class("L", &["B"]), expect(1, "L.D"));
        assert_eq!(class("L", &["C"]), None);
    }

    #[test]
    fn elements_by_old_and_new_names_of_their_classes() {
        let found = conversions();
        assert_eq!(found.element("L.A", "freqHz"), Some("f"));
        assert_eq!(found.element("L.C", "freqHz"), Some("f"));
        assert_eq!(found.element("L.D", "freqHz"), Some("f"));
        assert_eq!(
            (found.element("L.T", "ro"), found.element("L.T", "R")),
            (Some("r"), None)
        );
        // A value that changes is not a name that changes.
        assert_eq!(
            (found.element("L.N", "precision"), found.element("L.N", "hide")),
            (Some("digits"), None)
        );
    }

    #[test]
    fn anything_is_read_as_far_as_it_goes() {
        let mut found = Conversions::default();
        for end in 0..SCRIPT.len() {
            found.read_script(&SCRIPT[..end]);
        }
        found.read_script("convertClass(1, {2}); convertElement(); x := convertClass; end conversion; \u{0}(((");
        assert_eq!(found.class("L", &["SIunits"]), Some((1, "L.Units.SI")));
    }
}
