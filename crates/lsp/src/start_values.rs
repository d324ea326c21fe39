//! A start value that is only a guess becomes the value at the start.

use gen_lsp_types::{CodeAction, CodeActionKind, TextEdit};
use saltus::source::Span;
use saltus_syntax::ast::{ClassDefinition, Component, ComponentClause, ElementKind};

use crate::facts;
use crate::world::{Look, World};

/// Classes inside classes are followed this deep.
const MOST_LEVELS: usize = 100;

/// For variables at a place that have a derivative and a start value and do not say whether it is `fixed`: that it is.
pub(crate) fn fixed(world: &World, look: &Look, within: (u32, u32)) -> Vec<(CodeAction, TextEdit)> {
    let mut found = Vec::new();
    for stored in &look.parsed.definition.classes {
        of_class(world, &stored.class, within, 0, &mut found);
    }
    found
}

fn of_class(
    world: &World,
    class: &ClassDefinition,
    within: (u32, u32),
    level: usize,
    found: &mut Vec<(CodeAction, TextEdit)>,
) {
    let touches = |span: Span| span.start <= within.1 && within.0 <= span.end;
    if !touches(class.span) || level > MOST_LEVELS {
        return;
    }
    let text = facts::text(world.sources(), class.span);
    let elements = class.composition().map_or(&[][..], |composition| &composition.elements);
    for element in elements {
        match &element.kind {
            ElementKind::Class(inner) => of_class(world, inner, within, level + 1, found),
            ElementKind::Components(clause) if !facts::is_fixed(clause) && touches(clause.span) => {
                let here = clause.components.iter().filter(|component| {
                    let only = clause.components.len() == 1;
                    only || touches(component.name.span.to(component.span))
                });
                found.extend(here.filter_map(|component| of_component(world, clause, component, &text)));
            }
            _ => {}
        }
    }
}

fn of_component(
    world: &World,
    clause: &ComponentClause,
    component: &Component,
    class: &str,
) -> Option<(CodeAction, TextEdit)> {
    let modification = component.modification.as_ref()?.class_modification.as_ref()?;
    let start = modification.find("start")?;
    if modification.find("fixed").is_some() || !is_differentiated(class, &component.name.name) {
        return None;
    }
    let is_array = !clause.subscripts.is_empty() || !component.subscripts.is_empty();
    let each = if is_array { "each " } else { "" };
    let behind = Span {
        start: start.span.end,
        ..start.span
    };
    let edit = TextEdit {
        range: world.range(behind)?,
        new_text: format!(", {each}fixed = true"),
    };
    let action = CodeAction {
        title: format!("`{}` begins at its start value: `fixed = true`", component.name.name),
        kind: Some(CodeActionKind::RefactorRewrite),
        ..CodeAction::default()
    };
    Some((action, edit))
}

/// Whether a text has the derivative of a variable in it.
fn is_differentiated(text: &str, name: &str) -> bool {
    text.match_indices("der").any(|(at, der)| {
        let is_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let inside = text[at + der.len()..]
            .trim_start()
            .strip_prefix('(')
            .map(str::trim_start);
        let behind = inside.and_then(|inside| inside.strip_prefix(name)).map(str::trim_start);
        !is_word && behind.is_some_and(|behind| behind.starts_with([')', '[']))
    })
}
