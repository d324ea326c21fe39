//! The function whose arguments are being written, and the tokens in front of a place.

use std::rc::Rc;

use gen_lsp_types::{
    ActiveParameter, Documentation, ParameterInformation, ParameterInformationLabel, SignatureHelp,
    SignatureInformation,
};
use saltus_names::{ClassId, Found, Member, Names, builtin_function};
use saltus_syntax::{SyntaxKind, SyntaxTree, Walk};

use crate::facts;
use crate::requests::At;
use crate::world::{Look, World};

/// A token in front of a place.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) kind: SyntaxKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) text: String,
}

/// The tokens in front of an offset without blanks and comments; `None` inside a comment or a string.
pub(crate) fn tokens_before(world: &World, look: &Look, offset: u32) -> Option<Vec<Before>> {
    let open = world
        .documents
        .get(&look.path)
        .filter(|document| document.parsed.file == look.parsed.file);
    match open {
        Some(document) => tokens_of(&document.parse.tree, offset),
        None => tokens_of(&saltus_syntax::parse(look.parsed.file, look.source.text()).tree, offset),
    }
}

fn tokens_of(tree: &SyntaxTree, offset: u32) -> Option<Vec<Before>> {
    let mut found = Vec::new();
    let mut hidden = false;
    tree.walk(|step| {
        let Walk::Token(token) = step else { return };
        let span = token.span();
        if span.start >= offset {
            return;
        }
        let is_comment = matches!(token.kind(), SyntaxKind::LineComment | SyntaxKind::BlockComment);
        let ends_line = token.kind() == SyntaxKind::LineComment && span.end == offset;
        if (is_comment || token.kind() == SyntaxKind::String) && (offset < span.end || ends_line) {
            hidden = true;
        }
        if !token.kind().is_trivia() {
            let end = span.end.min(offset);
            let text = token.text().get(..(end - span.start) as usize).unwrap_or(token.text());
            found.push(Before {
                kind: token.kind(),
                start: span.start,
                end,
                text: text.to_owned(),
            });
        }
    });
    (!hidden).then_some(found)
}

/// A parenthesis that is open at a place: the names in front of it, what stands between it and the place.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// Where it is among the tokens.
    pub(crate) at: usize,
    /// The dotted name in front of it; empty if there is none.
    pub(crate) name: Vec<String>,
    /// Commas behind it at its level.
    pub(crate) commas: usize,
    /// Where the argument that is being written begins among the tokens.
    pub(crate) argument: usize,
}

/// The parentheses open behind the last token, the outermost first.
pub(crate) fn open_parentheses(tokens: &[Before]) -> Vec<Open> {
    let mut open: Vec<(SyntaxKind, Open)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            SyntaxKind::LeftParen | SyntaxKind::LeftBracket | SyntaxKind::LeftBrace => open.push((
                token.kind,
                Open {
                    at,
                    name: dotted_before(tokens, at),
                    commas: 0,
                    argument: at + 1,
                },
            )),
            SyntaxKind::RightParen | SyntaxKind::RightBracket | SyntaxKind::RightBrace => {
                open.pop();
            }
            SyntaxKind::Comma => {
                if let Some((_, last)) = open.last_mut() {
                    last.commas += 1;
                    last.argument = at + 1;
                }
            }
            SyntaxKind::Semicolon => open.clear(),
            _ => {}
        }
    }
    // Inside of braces and brackets nothing is an argument.
    match open.last() {
        Some((SyntaxKind::LeftParen, _)) => {
            let parentheses = open.into_iter().filter(|(kind, _)| *kind == SyntaxKind::LeftParen);
            parentheses.map(|(_, open)| open).collect()
        }
        _ => Vec::new(),
    }
}

/// The dotted name that ends in front of a token.
pub(crate) fn dotted_before(tokens: &[Before], at: usize) -> Vec<String> {
    let mut name = Vec::new();
    let mut at = at;
    loop {
        // Subscripts between names.
        while at > 0 && tokens[at - 1].kind == SyntaxKind::RightBracket {
            let mut depth = 0usize;
            while at > 0 {
                at -= 1;
                match tokens[at].kind {
                    SyntaxKind::RightBracket => depth += 1,
                    SyntaxKind::LeftBracket => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
        let is_name = |kind| matches!(kind, SyntaxKind::Identifier | SyntaxKind::DerKw | SyntaxKind::InitialKw);
        if at == 0 || !is_name(tokens[at - 1].kind) {
            break;
        }
        name.push(tokens[at - 1].text.clone());
        at -= 1;
        if at == 0 || tokens[at - 1].kind != SyntaxKind::Dot {
            break;
        }
        at -= 1;
    }
    name.reverse();
    name
}

/// What a dotted name in a class means.
pub(crate) fn resolve_name(names: &mut Names<'_>, scope: ClassId, name: &[String]) -> Option<Found> {
    let (first, rest) = name.split_first()?;
    let first = names.lookup(scope, first)?;
    rest.iter().try_fold(first, |found, part| names.inside(&found, part))
}

/// The signature of the function whose arguments are being written.
pub(crate) fn signature_help(world: &World, at: &At) -> Option<SignatureHelp> {
    let (look, offset) = world.look_at(&at.text_document.uri, at.position)?;
    let tokens = tokens_before(world, &look, offset)?;
    let open = open_parentheses(&tokens).into_iter().next_back()?;
    let mut names = Names::new(look.session.library());
    let scope = *names.classes_at(&look.parsed, offset).last()?;
    let argument: Vec<&Before> = tokens[open.argument.min(tokens.len())..].iter().collect();
    let named = match argument.as_slice() {
        [name, equals, ..] if equals.kind == SyntaxKind::Equals => Some(name.text.clone()),
        _ => None,
    };
    match resolve_name(&mut names, scope, &open.name) {
        Some(Found::Class(function)) => {
            let is_callable = matches!(
                names.definition(function).kind,
                saltus_syntax::ast::ClassKind::Function
                    | saltus_syntax::ast::ClassKind::OperatorFunction
                    | saltus_syntax::ast::ClassKind::Record
                    | saltus_syntax::ast::ClassKind::OperatorRecord
            );
            is_callable.then(|| of_function(world, &mut names, function, open.commas, named.as_deref()))
        }
        _ => {
            let [name] = open.name.as_slice() else { return None };
            let function = builtin_function(name)?;
            let parameters = function
                .arguments
                .iter()
                .map(|argument| (*argument).to_owned())
                .collect();
            Some(help(
                name,
                parameters,
                Vec::new(),
                function.description.to_owned(),
                open.commas,
            ))
        }
    }
}

fn of_function(
    world: &World,
    names: &mut Names<'_>,
    function: ClassId,
    commas: usize,
    named: Option<&str>,
) -> SignatureHelp {
    let (inputs, outputs) = facts::signature(names, function);
    let declared = |member: &Rc<Member>| facts::declaration(world.sources(), member);
    let parameters: Vec<String> = inputs
        .iter()
        .map(|input| declared(input).trim_start_matches("input ").to_owned())
        .collect();
    let texts = inputs.iter().map(|input| facts::description(names, input)).collect();
    let place = named.and_then(|named| inputs.iter().position(|input| input.name.name == named));
    let mut said = facts::class_description(names.definition(function)).unwrap_or_default();
    let results: Vec<String> = outputs.iter().map(declared).collect();
    if !results.is_empty() {
        said.push_str(&format!("\n\n`{}`", results.join("`, `")));
    }
    let name = names.definition(function).name.to_string();
    help(&name, parameters, texts, said, place.unwrap_or(commas))
}

fn help(name: &str, parameters: Vec<String>, texts: Vec<Option<String>>, said: String, active: usize) -> SignatureHelp {
    let label = format!("{name}({})", parameters.join(", "));
    let active = Some(ActiveParameter::Int(
        active.min(parameters.len().saturating_sub(1)) as u32
    ));
    let parameters = parameters
        .into_iter()
        .enumerate()
        .map(|(at, label)| ParameterInformation {
            label: ParameterInformationLabel::String(label),
            documentation: texts.get(at).cloned().flatten().map(Documentation::String),
        });
    SignatureHelp {
        signatures: vec![SignatureInformation {
            label,
            documentation: Some(Documentation::String(said)),
            parameters: Some(parameters.collect()),
            active_parameter: None,
        }],
        active_signature: Some(0),
        active_parameter: active,
    }
}
