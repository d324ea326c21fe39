//! What the text does not say where one looks: units of types and of expressions, values from elsewhere, modes of branches.

use std::collections::BTreeMap;

use gen_lsp_types::{InlayHint, InlayHintKind, Label, Range, Tooltip};
use saltus::source::Span;
use saltus_names::{MemberKind, Names, Role, Site, Target, occurrences};
use saltus_syntax::ast::{ClassDefinition, Component, ElementKind, Equation, EquationKind, ExprKind, Subscript};

use crate::document::Document;
use crate::facts;
use crate::modes;
use crate::world::World;

/// Hints of a part of a document.
pub(crate) fn hints(world: &World, document: &Document, range: &Range) -> Vec<InlayHint> {
    let offset = |position| document.lines.offset(&document.text, position, world.encoding);
    let bounds = (offset(range.start), offset(range.end));
    let within = |at: u32| bounds.0 <= at && at <= bounds.1;
    let mut found = names_hints(world, document, &within);
    if world.settings.inlay_hints.sizes {
        found.extend(size_hints(world, document, &within));
    }
    found.extend(unit_hints(world, document, &within));
    if world.settings.inlay_hints.modes {
        found.extend(mode_hints(world, document, &within));
    }
    found.sort_by_key(|hint| hint.position);
    found
}

fn hint(world: &World, document: &Document, at: u32, label: String, tooltip: &str) -> InlayHint {
    InlayHint {
        position: document.lines.position(&document.text, at, world.encoding),
        label: Label::String(label),
        kind: Some(InlayHintKind::Type),
        text_edits: None,
        tooltip: Some(Tooltip::String(tooltip.to_owned())),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

fn names_hints(world: &World, document: &Document, within: &dyn Fn(u32) -> bool) -> Vec<InlayHint> {
    let session = world.session(&document.path);
    let mut names = Names::new(session.library());
    let mut found = Vec::new();
    let shown = &world.settings.inlay_hints;
    occurrences(&mut names, &document.parsed, &mut |names, occurrence| {
        let span = occurrence.ident.span;
        if !within(span.end) || occurrence.in_annotation {
            return;
        }
        match (occurrence.role, occurrence.site) {
            (Role::Declaration, Site::Member(_)) if shown.units => {
                let Some(Target::Member(member)) = names.resolve(&occurrence) else {
                    return;
                };
                if facts::has_own_unit(&member) || member.name.span != span {
                    return;
                }
                if let Some(unit) = facts::unit(names, &member).filter(|unit| !unit.is_empty() && unit != "1") {
                    found.push(hint(
                        world,
                        document,
                        span.end,
                        format!("[{unit}]"),
                        "the unit of its type",
                    ));
                }
            }
            // A parameter of another class that is used here: its value is written there.
            (Role::Reference, Site::Reference(_, _, reference, part))
                if shown.values && part + 1 == reference.parts.len() =>
            {
                let Some(Target::Member(member)) = names.resolve(&occurrence) else {
                    return;
                };
                let elsewhere = member.name.span.file != span.file;
                let MemberKind::Component(clause, _) = &member.kind else {
                    return;
                };
                if !elsewhere || clause.prefix.variability != Some(saltus_syntax::ast::Variability::Constant) {
                    return;
                }
                let value = facts::value(world.sources(), &member).filter(|value| value.chars().count() <= 16);
                if let Some(value) = value {
                    let end = reference.parts.last().map_or(span.end, |last| {
                        last.subscripts
                            .last()
                            .map_or(last.name.span.end, |subscript| subscript.span().end + 1)
                    });
                    let tooltip = format!("declared in {}", names.qualified_name(member.owner));
                    found.push(hint(world, document, end, format!("= {value}"), &tooltip));
                }
            }
            _ => {}
        }
    });
    found
}

/// Behind the names of arrays whose sizes are not written in numbers: how many elements they have, where that is known.
fn size_hints(world: &World, document: &Document, within: &dyn Fn(u32) -> bool) -> Vec<InlayHint> {
    let Some(look) = world.look(&document.path) else {
        return Vec::new();
    };
    let is_number = |subscript: &Subscript| match subscript {
        Subscript::Expr(size) => matches!(size.kind, ExprKind::Integer(_)),
        Subscript::Colon(_) => false,
    };
    let mut found = Vec::new();
    for (model, class) in modes::models(&look) {
        let Some(known) = world.known_facts(&document.path, &model) else {
            continue;
        };
        let elements = class.composition().map_or(&[][..], |composition| &composition.elements);
        let clauses = elements.iter().filter_map(|element| match &element.kind {
            ElementKind::Components(clause) => Some(clause),
            _ => None,
        });
        for clause in clauses {
            for component in &clause.components {
                let mut written = clause.subscripts.iter().chain(&component.subscripts).peekable();
                if written.peek().is_none() || written.all(is_number) {
                    continue;
                }
                let at = declared_end(component);
                if let Some(sizes) = known.sizes(&component.name.name).filter(|_| within(at)) {
                    let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                    let label = format!("[{}]", sizes.join(", "));
                    found.push(hint(world, document, at, label, "the size with the values at hand"));
                }
            }
        }
    }
    found
}

/// Behind variables without a unit, and behind equations: the units that follow from others.
fn unit_hints(world: &World, document: &Document, within: &dyn Fn(u32) -> bool) -> Vec<InlayHint> {
    let Some(look) = world.look(&document.path) else {
        return Vec::new();
    };
    let shown = &world.settings.inlay_hints;
    let mut found = Vec::new();
    // A class may be part of several models.
    let mut expressions: BTreeMap<Span, Option<String>> = BTreeMap::new();
    for (model, class) in modes::models(&look) {
        let Some(known) = world.known_facts(&document.path, &model) else {
            continue;
        };
        for component in components(&class).filter(|_| shown.units) {
            let at = declared_end(component);
            if let Some(unit) = known.unit(&component.name.name).filter(|_| within(at)) {
                found.push(hint(
                    world,
                    document,
                    at,
                    format!("[{unit}]"),
                    "the unit that equations give it",
                ));
            }
        }
        for (span, unit) in known.expressions_in(look.parsed.file).filter(|_| shown.expressions) {
            let same = expressions.entry(span).or_insert_with(|| Some(unit.to_owned()));
            if same.as_deref() != Some(unit) {
                *same = None;
            }
        }
    }
    for (span, unit) in expressions {
        let ends = document.text.get(span.end as usize..).is_some_and(ends_equation);
        if let Some(unit) = unit.filter(|_| ends && within(span.end)) {
            found.push(hint(
                world,
                document,
                span.end,
                format!("[{unit}]"),
                "the unit of this expression",
            ));
        }
    }
    found.dedup_by_key(|hint| hint.position);
    found
}

/// Whether a text begins where an equation or a declaration has its description or its end.
fn ends_equation(behind: &str) -> bool {
    let behind = behind.trim_start();
    behind.starts_with([';', '"']) || behind.starts_with("annotation")
}

/// Behind the name of a component and its sizes.
fn declared_end(component: &Component) -> u32 {
    let last = component.subscripts.last().map(|subscript| subscript.span().end + 1);
    last.unwrap_or(component.name.span.end)
}

/// The components that a class declares itself.
fn components(class: &ClassDefinition) -> impl Iterator<Item = &Component> {
    let elements = class.composition().map_or(&[][..], |composition| &composition.elements);
    let clauses = elements.iter().filter_map(|element| match &element.kind {
        ElementKind::Components(clause) => Some(clause),
        _ => None,
    });
    clauses.flat_map(|clause| &clause.components)
}

/// Behind the conditions of if-equations: states and index of the modes of the branch, where they are known.
fn mode_hints(world: &World, document: &Document, within: &dyn Fn(u32) -> bool) -> Vec<InlayHint> {
    let Some(look) = world.look(&document.path) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (model, class) in modes::models(&look) {
        let Some(known) = world.known_facts(&document.path, &model) else {
            continue;
        };
        let sections = class
            .composition()
            .into_iter()
            .flat_map(|composition| &composition.equations);
        let mut pending: Vec<&Equation> = sections.flat_map(|section| &section.equations).collect();
        while let Some(equation) = pending.pop() {
            if let EquationKind::If { branches, otherwise } = &equation.kind {
                let source = |span: Span| facts::on_one_line(look.source.slice(span));
                for (condition, body) in modes::branches_of(equation, &source) {
                    let at = branches
                        .iter()
                        .find(|branch| source(branch.condition.span) == condition);
                    let at = at.map(|branch| branch.condition.span.end).filter(|at| within(*at));
                    let facts = known.branches(&[(condition, body)]);
                    if let (Some(at), Some(facts)) = (at, facts.first()) {
                        let label = format!("{} states, index {}", facts.states, facts.index);
                        found.push(hint(world, document, at, label, &format!("in {} modes", facts.modes)));
                    }
                }
                pending.extend(branches.iter().flat_map(|branch| &branch.body));
                pending.extend(otherwise.iter().flatten());
            }
        }
    }
    found
}
