//! What is known of the name, or of the `if`, at a place.

use std::sync::Arc;

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind};
use saltus::source::Span;
use saltus_names::{BuiltinFunction, Member, Names, Target, Type};
use saltus_syntax::ast::ClassKind;

use crate::facts;
use crate::modes::{self, BranchFacts};
use crate::navigation::hit;
use crate::requests::At;
use crate::world::{Look, World};

/// What is said in place of what an analysis will say.
const UNDERWAY: &str = "*The model is being analysed.*";

/// What to show at a place.
pub(crate) fn hover(world: &World, at: &At) -> Option<Hover> {
    let (look, offset) = world.look_at(&at.text_document.uri, at.position)?;
    let mut names = Names::new(look.session.library());
    // A name ends where the sign behind it begins.
    let sign = look.source.text()[offset as usize..].starts_with(['+', '-', '*', '/', '^']);
    let name = hit(&mut names, &look, offset).filter(|hit| !sign || hit.span.end != offset);
    let (text, span) = match name {
        Some(hit) => {
            let mut text = describe(world, &mut names, &hit.target)?;
            for line in of_modes(world, &mut names, &look, offset, &hit.target, hit.span) {
                text.push_str(&format!("\n\n{line}"));
            }
            (text, hit.span)
        }
        None => {
            let model = modes::model_at(&mut names, &look, offset)?;
            let facts = world.facts_soon(&look.path, &model.1);
            let expression = facts
                .as_ref()
                .and_then(|facts| facts.expression_at(look.parsed.file, offset));
            if let Some((span, unit)) = expression {
                let text = facts::on_one_line(look.source.slice(span));
                return Some(shown(world, format!("{}\n\nunit `{unit}`", code(&text)), span));
            }
            let definition = Arc::clone(names.definition(model.0));
            let equation = modes::if_at(&definition, offset)?;
            let Some(facts) = facts else {
                return Some(shown(world, UNDERWAY.to_owned(), equation.span));
            };
            let source = |span| facts::on_one_line(look.source.slice(span));
            let branches = modes::branches_of(equation, &source);
            let known = facts.branches(&branches);
            (branch_table(&model.1, &known)?, equation.span)
        }
    };
    Some(shown(world, text, span))
}

fn shown(world: &World, text: String, span: Span) -> Hover {
    Hover {
        contents: Contents::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: text,
        }),
        range: world.range(span),
    }
}

/// What is written about something, as Markdown.
pub(crate) fn describe(world: &World, names: &mut Names<'_>, target: &Target) -> Option<String> {
    let sources = world.sources();
    Some(match target {
        Target::Class(class) => {
            let mut text = code(&facts::class_head(names, sources, *class));
            paragraph(&mut text, facts::class_description(names.definition(*class)));
            if names.definition(*class).kind == ClassKind::Type {
                paragraph(
                    &mut text,
                    facts::unit_of_class(names, *class).map(|unit| format!("unit `{unit}`")),
                );
            }
            if names.definition(*class).kind == ClassKind::Function {
                let (inputs, outputs) = facts::signature(names, *class);
                for (what, members) in [("in", inputs), ("out", outputs)] {
                    for member in members {
                        let declared = facts::declaration(sources, &member);
                        let said =
                            facts::description(names, &member).map_or_else(String::new, |text| format!(": {text}"));
                        text.push_str(&format!("\n- {what} `{declared}`{said}"));
                    }
                }
            }
            text
        }
        Target::Member(member) => describe_member(world, names, member),
        Target::Alias(_, meant) => describe(world, names, meant)?,
        Target::Predefined(predefined) => code(&format!("type {}", predefined.name())),
        Target::PredefinedLiteral(predefined, literal) => code(&format!("{}.{literal}", predefined.name())),
        Target::Attribute(predefined, name, meaning) => {
            let mut text = code(&format!("{}({name})", predefined.name()));
            paragraph(&mut text, Some((*meaning).to_owned()));
            text
        }
        Target::Index(index) => code(&format!("for {index}")),
        Target::Function(function) => builtin(function),
        Target::Time => {
            let mut text = code("input Real time(unit = \"s\")");
            paragraph(&mut text, Some("The time of the simulation.".to_owned()));
            text
        }
    })
}

fn describe_member(world: &World, names: &mut Names<'_>, member: &Member) -> String {
    let sources = world.sources();
    let Some((clause, _)) = member.component() else {
        let mut text = code(&format!("{}.{}", names.qualified_name(member.owner), member.name));
        paragraph(&mut text, facts::description(names, member));
        return text;
    };
    let fixed = facts::is_fixed(clause);
    let mut text = code(&facts::declaration(sources, member));
    paragraph(&mut text, facts::description(names, member));
    let mut known = Vec::new();
    if let Some(unit) = facts::unit(names, member) {
        known.push(format!("unit `{unit}`"));
    }
    if let Some(value) = facts::value(sources, member).filter(|_| fixed) {
        known.push(format!("value `{value}`"));
    }
    if let Some(Type::Class(class)) = names.type_of(member)
        && let Some(said) = facts::class_description(names.definition(class))
    {
        known.push(format!("type: {said}"));
    }
    known.push(format!("declared in `{}`", names.qualified_name(member.owner)));
    paragraph(&mut text, Some(known.join(", ")));
    text
}

pub(crate) fn builtin(function: &BuiltinFunction) -> String {
    let mut text = code(&format!("{}({})", function.name, function.arguments.join(", ")));
    paragraph(&mut text, Some(function.description.to_owned()));
    text
}

/// What the analysis of the model around a place says of a name there.
fn of_modes(
    world: &World,
    names: &mut Names<'_>,
    look: &Look,
    offset: u32,
    target: &Target,
    span: Span,
) -> Vec<String> {
    if !world.settings.analysis || !world.is_ours(&look.path) {
        return Vec::new();
    }
    match target {
        Target::Class(class) if modes::is_model(names.definition(*class)) => {
            // Only for what is defined here: others are asked where they are written.
            if names.definition(*class).name.span.file != look.parsed.file {
                return Vec::new();
            }
            let Some(facts) = world.facts_soon(&look.path, &names.qualified_name(*class)) else {
                return vec![UNDERWAY.to_owned()];
            };
            let lines = [facts.balance_text(), facts.summary()];
            lines.into_iter().flatten().collect()
        }
        Target::Member(member) if member.component().is_some_and(|(clause, _)| !facts::is_fixed(clause)) => {
            let Some((_, model)) = modes::model_at(names, look, offset) else {
                return Vec::new();
            };
            let name = dotted_name(look.source.text(), span.start as usize, span.end as usize);
            let Some(known) = world.facts_soon(&look.path, &model) else {
                return vec![UNDERWAY.to_owned()];
            };
            let unit = known.unit(&name).map(|unit| format!("Unit `{unit}`, from equations."));
            unit.into_iter().chain(known.variable(&name)).collect()
        }
        _ => Vec::new(),
    }
}

/// The reference up to a name, without subscripts: `a.b` at `b` of `a[1].b.c`.
fn dotted_name(text: &str, start: usize, end: usize) -> String {
    let mut parts = vec![text.get(start..end).unwrap_or("")];
    let mut before = text.get(..start).unwrap_or("");
    while let Some(rest) = before.trim_end().strip_suffix('.') {
        let mut rest = rest.trim_end();
        while rest.ends_with(']') {
            let Some(open) = opening(rest) else { break };
            rest = rest[..open].trim_end();
        }
        let from = rest
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
        if from == rest.len() {
            break;
        }
        parts.push(&rest[from..]);
        before = &rest[..from];
    }
    parts.reverse();
    parts.join(".")
}

/// Where the bracket that closes a text was opened.
pub(crate) fn opening(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn branch_table(model: &str, known: &[BranchFacts]) -> Option<String> {
    if known.is_empty() {
        return None;
    }
    let mut text = format!("Modes of `{model}`\n\n| branch | modes | states | index |\n|---|---|---|---|");
    for branch in known {
        let states = match &branch.names {
            Some(names) if !names.is_empty() => format!("{}: {}", branch.states, names.join(", ")),
            _ => branch.states.clone(),
        };
        let condition = branch.condition.replace('|', "\\|");
        text.push_str(&format!(
            "\n| `{condition}` | {} | {states} | {} |",
            branch.modes, branch.index
        ));
    }
    Some(text)
}

fn code(text: &str) -> String {
    format!("```modelica\n{text}\n```")
}

fn paragraph(text: &mut String, said: Option<String>) {
    if let Some(said) = said.filter(|said| !said.is_empty()) {
        text.push_str(&format!("\n\n{said}"));
    }
}

#[cfg(test)]
mod tests {
    use super::dotted_name;

    #[test]
    fn the_reference_up_to_a_name() {
        let text = "y = a [1, b[2]] . c.d + x;";
        let at = |name: &str| {
            let start = text.find(name).unwrap();
            dotted_name(text, start, start + name.len())
        };
        assert_eq!(at("d"), "a.c.d");
        assert_eq!(at("a"), "a");
        assert_eq!(at("x"), "x");
        assert_eq!(dotted_name("].x", 2, 3), "x");
        assert_eq!(dotted_name("\u{e4}[1].x", 6, 7), "\u{e4}.x");
    }
}
