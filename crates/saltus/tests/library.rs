//! The component library: no diagnostics, everything explained, every component used by an example.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use saltus::Session;
use saltus::source::Span;
use saltus_syntax::ast::{ClassDefinition, ClassKind, Component, ElementKind};
use saltus_testing::{modelica_files, repository};

fn library() -> Session {
    let session = Session::new();
    session.add_file(repository().join("library/Saltus"));
    session
}

fn definition(session: &Session, name: &str) -> Option<Arc<ClassDefinition>> {
    let path: Vec<_> = name.split('.').map(Into::into).collect();
    session.library().find(&path)
}

#[test]
fn the_library_gives_no_diagnostics() {
    let checked = library().check_all(false);
    assert!(checked.models.len() > 80, "{:?}", checked.models);
    let messages: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The components whose own equations take part in an example, also through inheritance.
fn used_by(example: &Path, components: &[String]) -> Vec<String> {
    let session = Session::new();
    session.add_file(example);
    let name = session.find_model(None).into_result().expect("a model");
    let flat = session.flatten(&name).into_result().expect("no errors");
    let equations = flat.equations.iter().map(|equation| equation.provenance);
    let provenances = equations.chain(flat.algorithms.iter().map(|algorithm| algorithm.provenance));
    let places: BTreeSet<(u32, u32, _)> = provenances
        .map(|id| flat.provenances[id].span)
        .map(|span| (span.start, span.end, span.file))
        .collect();
    let spans: Vec<Span> = places
        .into_iter()
        .map(|(start, end, file)| Span::new(file, start, end))
        .collect();
    let takes_part = |name: &&String| {
        let class = definition(&session, name).expect("the class exists");
        spans.iter().any(|&span| contains(class.span, span))
    };
    components.iter().filter(takes_part).cloned().collect()
}

#[test]
fn every_component_is_used_by_an_example() {
    let components: Vec<String> = library()
        .models()
        .into_iter()
        // Units of other tools are files that no example brings along.
        .filter(|name| !name.contains(".Interfaces.") && !name.starts_with("Saltus.Fmi."))
        .collect();
    let used: BTreeSet<String> = modelica_files("examples")
        .iter()
        .flat_map(|file| used_by(file, &components))
        .collect();
    let unused: Vec<&String> = components.iter().filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "not used by any example: {unused:?}");
}

/// Every class of a package, with its full name.
fn classes(session: &Session, name: &str, found: &mut Vec<(String, Arc<ClassDefinition>)>) {
    let Some(class) = definition(session, name) else { return };
    for (_, inner) in class.classes() {
        classes(session, &format!("{name}.{}", inner.name.name), found);
    }
    found.push((name.to_owned(), class));
}

fn all_classes(session: &Session) -> Vec<(String, Arc<ClassDefinition>)> {
    let mut found = Vec::new();
    let package = session.library().top_level("Saltus").expect("the package");
    for member in session.library().members(&package).iter() {
        classes(session, &format!("Saltus.{member}"), &mut found);
    }
    found
}

/// The text of the documentation annotation, without markup.
fn documentation(session: &Session, class: &ClassDefinition) -> String {
    let Some(annotation) = &class.annotation else {
        return String::new();
    };
    let file = session.sources().file(annotation.span.file).expect("a file");
    let text = file.slice(annotation.span);
    let Some((_, info)) = text.split_once("Documentation(info = \"") else {
        return String::new();
    };
    let info = info.split_once("</html>\"").map_or("", |(info, _)| info);
    let parts = info
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[test]
fn every_class_is_documented() {
    let session = library();
    let mut wrong = Vec::new();
    let classes = all_classes(&session);
    for (name, class) in &classes {
        // Units and signals say what they are by their names.
        let simple = class.kind == ClassKind::Type || class.composition().is_none();
        if class.description.is_none() && class.kind != ClassKind::Type {
            wrong.push(format!("{name} has no description"));
        }
        // Packages of interfaces are explained by what they hold.
        if !simple && !name.ends_with(".Interfaces") && documentation(&session, class).len() < 10 {
            wrong.push(format!("{name} has no documentation"));
        }
    }
    assert!(classes.len() > 120, "{}", classes.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn components(class: &ClassDefinition) -> Vec<(String, &Component)> {
    let elements = class.composition().map_or(&[][..], |composition| &composition.elements);
    let clauses = elements.iter().filter_map(|element| match &element.kind {
        ElementKind::Components(clause) => Some(clause),
        _ => None,
    });
    let of_clause = |clause: &'_ Arc<saltus_syntax::ast::ComponentClause>| clause.type_name.to_string();
    clauses
        .flat_map(|clause| {
            clause
                .components
                .iter()
                .map(move |component| (of_clause(clause), component))
        })
        .collect()
}

/// Quantities of physical components have units; signals and gains of blocks have those of what they are connected with,
/// variables of units of other tools those they have there.
#[test]
fn components_have_descriptions_and_units() {
    let session = library();
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for (name, class) in all_classes(&session) {
        for (kind, component) in components(&class) {
            looked_at += 1;
            let file = session.sources().file(component.span.file).expect("a file");
            let text = file.slice(component.span);
            if component.description.is_none() && !text.starts_with("one") {
                wrong.push(format!("{name}.{} has no description", component.name.name));
            }
            if kind == "Real"
                && !name.starts_with("Saltus.Blocks.")
                && !name.starts_with("Saltus.Fmi.")
                && !name.starts_with("Saltus.Units")
                && !text.contains("unit = ")
            {
                wrong.push(format!("{name}.{} has no unit", component.name.name));
            }
        }
    }
    assert!(looked_at > 200, "{looked_at}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
