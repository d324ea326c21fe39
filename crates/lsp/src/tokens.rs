//! Colours of names by what they mean.

use gen_lsp_types::{Range, SemanticToken, SemanticTokens};
use saltus_names::{MemberKind, Names, Role, Site, Target, occurrences};
use saltus_syntax::ast::{Causality, ClassBody, ClassKind, ConnectorPrefix, Variability};

use crate::document::Document;
use crate::world::World;

/// The kinds of tokens, in the order of their numbers.
pub(crate) const TYPES: &[&str] = &[
    "namespace",
    "class",
    "struct",
    "interface",
    "type",
    "enum",
    "enumMember",
    "function",
    "parameter",
    "variable",
    "property",
];
/// What else is said of them, in the order of their bits.
pub(crate) const MODIFIERS: &[&str] = &[
    "declaration",
    "readonly",
    "defaultLibrary",
    "modification",
    "input",
    "output",
    "flow",
];

const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const DEFAULT_LIBRARY: u32 = 4;
const MODIFICATION: u32 = 8;
const INPUT: u32 = 16;
const OUTPUT: u32 = 32;
const FLOW: u32 = 64;

fn number(name: &str) -> u32 {
    TYPES.iter().position(|known| *known == name).unwrap_or(0) as u32
}

/// The tokens of a document, or of a part of it.
pub(crate) fn tokens(world: &World, document: &Document, range: Option<&Range>) -> SemanticTokens {
    let session = world.session(&document.path);
    let mut names = Names::new(session.library());
    let bounds = range.map(|range| {
        let offset = |position| document.lines.offset(&document.text, position, world.encoding);
        (offset(range.start), offset(range.end))
    });
    let mut found: Vec<(u32, u32, u32, u32)> = Vec::new();
    occurrences(&mut names, &document.parsed, &mut |names, occurrence| {
        let span = occurrence.ident.span;
        if bounds.is_some_and(|(start, end)| span.end < start || end < span.start) {
            return;
        }
        let Some(target) = names.resolve(&occurrence) else {
            return;
        };
        let (kind, mut modifiers) = kind(names, &target);
        match occurrence.role {
            Role::Declaration => modifiers |= DECLARATION,
            Role::Modifier => modifiers |= MODIFICATION,
            _ => {}
        }
        let behind_dot = matches!(occurrence.site, Site::Reference(_, _, _, part) if part > 0);
        let kind = if behind_dot && kind == "variable" {
            "property"
        } else {
            kind
        };
        found.push((span.start, span.end, number(kind), modifiers));
    });
    found.sort_unstable();
    found.dedup_by_key(|token| token.0);
    SemanticTokens {
        result_id: None,
        data: deltas(world, document, &found),
    }
}

fn kind(names: &Names<'_>, target: &Target) -> (&'static str, u32) {
    match target {
        Target::Class(class) => {
            let definition = names.definition(*class);
            let kind = match (definition.kind, &definition.body) {
                (_, ClassBody::Enumeration { .. }) => "enum",
                (ClassKind::Package, _) => "namespace",
                (ClassKind::Function | ClassKind::OperatorFunction | ClassKind::Operator, _) => "function",
                (ClassKind::Record | ClassKind::OperatorRecord, _) => "struct",
                (ClassKind::Connector | ClassKind::ExpandableConnector, _) => "interface",
                (ClassKind::Type, _) => "type",
                (ClassKind::Model | ClassKind::Block | ClassKind::Class, _) => "class",
            };
            (kind, 0)
        }
        Target::Member(member) => match &member.kind {
            MemberKind::Literal(..) => ("enumMember", 0),
            MemberKind::Class(class) => kind(names, &Target::Class(*class)),
            MemberKind::Component(clause, _) => {
                let mut modifiers = 0;
                let fixed = matches!(
                    clause.prefix.variability,
                    Some(Variability::Parameter | Variability::Constant)
                );
                if fixed {
                    modifiers |= READONLY;
                }
                match clause.prefix.causality {
                    Some(Causality::Input) => modifiers |= INPUT,
                    Some(Causality::Output) => modifiers |= OUTPUT,
                    None => {}
                }
                if clause.prefix.connector == Some(ConnectorPrefix::Flow) {
                    modifiers |= FLOW;
                }
                (if fixed { "parameter" } else { "variable" }, modifiers)
            }
        },
        Target::Alias(_, meant) => kind(names, meant),
        Target::Predefined(_) => ("type", DEFAULT_LIBRARY),
        Target::PredefinedLiteral(..) => ("enumMember", DEFAULT_LIBRARY),
        Target::Attribute(..) => ("property", DEFAULT_LIBRARY),
        Target::Function(_) => ("function", DEFAULT_LIBRARY),
        Target::Time => ("variable", DEFAULT_LIBRARY),
        Target::Index(_) => ("variable", READONLY),
    }
}

/// Each token relative to the one before.
fn deltas(world: &World, document: &Document, tokens: &[(u32, u32, u32, u32)]) -> Vec<SemanticToken> {
    let mut data = Vec::with_capacity(tokens.len());
    let (mut line, mut character) = (0, 0);
    for &(start, end, token_type, token_modifiers_bitset) in tokens {
        let position = |offset| document.lines.position(&document.text, offset, world.encoding);
        let (from, to) = (position(start), position(end));
        // No name goes over the end of a line.
        if from.line != to.line || to.character <= from.character {
            continue;
        }
        let delta_start = if from.line == line {
            from.character - character
        } else {
            from.character
        };
        data.push(SemanticToken {
            delta_line: from.line - line,
            delta_start,
            length: to.character - from.character,
            token_type,
            token_modifiers_bitset,
        });
        (line, character) = (from.line, from.character);
    }
    data
}
