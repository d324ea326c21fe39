//! Outlines: symbols, folding, ranges around a place, links.

use std::path::Path;

use gen_lsp_types::{
    BaseSymbolInformation, DocumentLink, DocumentSymbol, FoldingRange, FoldingRangeKind, Position, Range,
    SelectionRange, SymbolKind, Uri, WorkspaceSymbol, WorkspaceSymbolLocation,
};
use saltus::source::Span;
use saltus_syntax::ast::{ClassBody, ClassDefinition, ClassKind, ElementKind, Ident, Name, Variability};
use saltus_syntax::{Node, SyntaxKind, SyntaxTree, Walk};

use crate::document::Document;
use crate::uri::{path_of, uri_of};
use crate::world::World;

/// Symbols that are sent for one question.
const MOST_SYMBOLS: usize = 500;
/// Classes inside classes are followed this deep.
const MOST_LEVELS: usize = 100;

pub(crate) fn kind_of(kind: ClassKind) -> SymbolKind {
    match kind {
        ClassKind::Package => SymbolKind::Package,
        ClassKind::Function | ClassKind::OperatorFunction | ClassKind::Operator => SymbolKind::Function,
        ClassKind::Record | ClassKind::OperatorRecord => SymbolKind::Struct,
        ClassKind::Connector | ClassKind::ExpandableConnector => SymbolKind::Interface,
        ClassKind::Type => SymbolKind::TypeParameter,
        ClassKind::Model | ClassKind::Block | ClassKind::Class => SymbolKind::Class,
    }
}

/// Classes and components of a file.
pub(crate) fn document_symbols(world: &World, uri: &Uri) -> Option<Vec<DocumentSymbol>> {
    let look = world.look(&path_of(uri))?;
    let classes = look.parsed.definition.classes.iter();
    Some(
        classes
            .filter_map(|stored| class_symbol(world, &stored.class, 0))
            .collect(),
    )
}

#[allow(deprecated, reason = "the field has to be given")]
fn symbol(
    world: &World,
    name: String,
    kind: SymbolKind,
    detail: Option<String>,
    spans: (Span, Span),
) -> Option<DocumentSymbol> {
    let (range, selection_range) = (world.range(spans.0)?, world.range(spans.1)?);
    // The selection must lie inside, also in text that is broken.
    let inside = range.start <= selection_range.start && selection_range.end <= range.end;
    Some(DocumentSymbol {
        name: if name.is_empty() { "?".to_owned() } else { name },
        detail,
        kind,
        tags: None,
        deprecated: None,
        range: if inside { range } else { selection_range },
        selection_range,
        children: None,
    })
}

fn class_symbol(world: &World, class: &ClassDefinition, level: usize) -> Option<DocumentSymbol> {
    let kind = match class.body {
        ClassBody::Enumeration { .. } => SymbolKind::Enum,
        _ => kind_of(class.kind),
    };
    let detail = Some(class.kind.as_str().to_owned());
    let mut found = symbol(
        world,
        class.name.to_string(),
        kind,
        detail,
        (class.span, class.name.span),
    )?;
    let mut children = Vec::new();
    if let ClassBody::Enumeration { literals } = &class.body {
        let literals = literals.iter().flatten().map(|literal| &literal.name);
        children.extend(literals.filter_map(|name| {
            symbol(
                world,
                name.to_string(),
                SymbolKind::EnumMember,
                None,
                (name.span, name.span),
            )
        }));
    }
    let elements = class.composition().map_or(&[][..], |composition| &composition.elements);
    for element in elements {
        match &element.kind {
            ElementKind::Class(inner) if level < MOST_LEVELS => children.extend(class_symbol(world, inner, level + 1)),
            ElementKind::Components(clause) => {
                let kind = match clause.prefix.variability {
                    Some(Variability::Constant | Variability::Parameter) => SymbolKind::Constant,
                    _ if clause.type_name.parts.len() > 1 => SymbolKind::Field,
                    _ => SymbolKind::Variable,
                };
                for component in &clause.components {
                    let spans = (component.span.to(component.name.span), component.name.span);
                    let detail = Some(clause.type_name.to_string());
                    children.extend(symbol(world, component.name.to_string(), kind, detail, spans));
                }
            }
            _ => {}
        }
    }
    found.children = (!children.is_empty()).then_some(children);
    Some(found)
}

/// Classes and components of the workspace whose names hold the letters asked for, in order.
pub(crate) fn workspace_symbols(world: &World, query: &str) -> Vec<WorkspaceSymbol> {
    let mut found = Vec::new();
    for path in world.own_files() {
        if found.len() >= MOST_SYMBOLS || world.is_outdated() {
            break;
        }
        if let Some(look) = world.look(&path) {
            let within = look
                .parsed
                .definition
                .within
                .as_ref()
                .and_then(|within| within.name.as_ref());
            let container = within.map_or_else(String::new, ToString::to_string);
            for stored in &look.parsed.definition.classes {
                collect(world, &stored.class, &container, query, 0, &mut found);
            }
        }
    }
    found.truncate(MOST_SYMBOLS);
    found
}

fn collect(
    world: &World,
    class: &ClassDefinition,
    container: &str,
    query: &str,
    level: usize,
    found: &mut Vec<WorkspaceSymbol>,
) {
    found.extend(named(world, &class.name, kind_of(class.kind), container, query));
    let inside = match container {
        "" => class.name.to_string(),
        _ => format!("{container}.{}", class.name),
    };
    let elements = class.composition().map_or(&[][..], |composition| &composition.elements);
    for element in elements {
        match &element.kind {
            ElementKind::Components(clause) => {
                let components = clause.components.iter();
                found.extend(components.filter_map(|c| named(world, &c.name, SymbolKind::Variable, &inside, query)));
            }
            ElementKind::Class(inner) if level < MOST_LEVELS => {
                collect(world, inner, &inside, query, level + 1, found);
            }
            _ => {}
        }
    }
}

fn named(world: &World, name: &Ident, kind: SymbolKind, container: &str, query: &str) -> Option<WorkspaceSymbol> {
    if name.is_missing() || !matches(&name.name, query) {
        return None;
    }
    Some(WorkspaceSymbol {
        location: WorkspaceSymbolLocation::Location(world.location(name.span)?),
        data: None,
        base_symbol_information: BaseSymbolInformation {
            name: name.to_string(),
            kind,
            tags: None,
            container_name: Some(container.to_owned()),
        },
    })
}

/// Whether the letters of a query occur in a name in this order, whatever their case.
fn matches(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    let mut wanted = query.chars().flat_map(char::to_lowercase);
    wanted.all(|wanted| letters.any(|letter| letter == wanted))
}

/// What can be folded: classes, equations with bodies, annotations, comments, imports.
pub(crate) fn folding(document: &Document) -> Vec<FoldingRange> {
    let mut found = Vec::new();
    let mut fold = |span: Span, kind: Option<FoldingRangeKind>| {
        let line = |offset: u32| {
            let position = document
                .lines
                .position(&document.text, offset, crate::position::Encoding::Utf8);
            position.line
        };
        let (start_line, end_line) = (line(span.start), line(span.end));
        if start_line < end_line {
            found.push(FoldingRange {
                start_line,
                end_line,
                kind,
                ..FoldingRange::default()
            });
        }
    };
    document.parse.tree.walk(|step| match step {
        Walk::Enter(node) => {
            use SyntaxKind::*;
            match node.kind() {
                ClassDefinition | IfEquation | ForEquation | WhenEquation | IfStatement | ForStatement
                | WhileStatement | WhenStatement | Branch | ElseBranch | EquationSection | AlgorithmSection
                | MatrixExpression | ArrayExpression => fold(node.span(), None),
                Annotation => fold(node.span(), Some(FoldingRangeKind::Region)),
                _ => {}
            }
        }
        Walk::Token(token) if token.kind() == SyntaxKind::BlockComment => {
            fold(token.span(), Some(FoldingRangeKind::Comment));
        }
        _ => {}
    });
    found.sort_by_key(|range| (range.start_line, range.end_line));
    found.dedup_by_key(|range| (range.start_line, range.end_line));
    found
}

/// Ranges around a place, from the inside to the outside.
pub(crate) fn selection(world: &World, document: &Document, position: Position) -> SelectionRange {
    let offset = document.lines.offset(&document.text, position, world.encoding);
    let mut spans = vec![(0, document.text.len() as u32)];
    spans.extend(around(&document.parse.tree, offset));
    spans.dedup();
    let file = document.parsed.file;
    let mut parent: Option<Box<SelectionRange>> = None;
    for (start, end) in spans {
        let range: Range = document
            .lines
            .range(&document.text, Span::new(file, start, end), world.encoding);
        parent = Some(Box::new(SelectionRange { range, parent }));
    }
    parent.map_or_else(SelectionRange::default, |found| *found)
}

/// The nodes around an offset from the outside to the inside, and the token there.
fn around(tree: &SyntaxTree, offset: u32) -> Vec<(u32, u32)> {
    let covers = |span: Span| span.start <= offset && offset <= span.end;
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut current: Option<Node<'_>> = Some(tree.root());
    while let Some(node) = current {
        let span = node.span();
        if covers(span) && found.last() != Some(&(span.start, span.end)) {
            found.push((span.start, span.end));
        }
        let token = node.tokens().find(|token| covers(token.span()));
        current = node.children().find(|child| covers(child.span()));
        if current.is_none()
            && let Some(token) = token
            && found.last() != Some(&(token.span().start, token.span().end))
        {
            found.push((token.span().start, token.span().end));
        }
    }
    // Each lies in the one before.
    let mut nested: Vec<(u32, u32)> = Vec::new();
    for (start, end) in found {
        if nested.last().is_none_or(|last| last.0 <= start && end <= last.1) {
            nested.push((start, end));
        }
    }
    nested
}

/// Links `modelica://Package/file` in strings.
pub(crate) fn links(world: &World, document: &Document) -> Vec<DocumentLink> {
    let session = world.session(&document.path);
    let mut found = Vec::new();
    document.parse.tree.walk(|step| {
        let Walk::Token(token) = step else { return };
        if token.kind() != SyntaxKind::String {
            return;
        }
        for (at, _) in token.text().match_indices("modelica://") {
            let rest = &token.text()[at..];
            let end = rest
                .find(['"', '\\', '<', '>', ' ', '\n', '#', ')'])
                .unwrap_or(rest.len());
            let start = token.span().start + at as u32;
            let span = Span::new(token.span().file, start, start + end as u32);
            let target = link_target(world, session.library(), &rest["modelica://".len()..end]);
            if let (Some(target), range) = (target, document.lines.range(&document.text, span, world.encoding)) {
                found.push(DocumentLink {
                    range,
                    target: Some(target),
                    tooltip: None,
                    data: None,
                });
            }
        }
    });
    found
}

fn link_target(world: &World, library: &saltus::library::Library, link: &str) -> Option<Uri> {
    let (class, file) = match link.split_once('/') {
        Some((class, file)) => (class, Some(file)),
        None => (link, None),
    };
    let path: Vec<Name> = class.split('.').map(Name::new).collect();
    match file {
        Some(file) => {
            let package = library.top_level(path.first()?)?;
            let mut folder = package.folder()?.to_owned();
            folder.extend(path.iter().skip(1).map(|name| name.as_str()));
            let inside: Vec<&str> = file.split('/').collect();
            // Nothing outside of the package is meant.
            let is_plain = inside
                .iter()
                .all(|part| !part.is_empty() && *part != ".." && *part != ".");
            let target = folder.join(file);
            (is_plain && target.is_file()).then(|| uri_of(&target))
        }
        None => {
            let definition = library.find(&path)?;
            let source = world.sources().file(definition.name.span.file)?;
            Some(world.uri(Path::new(source.name())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn letters_in_order() {
        assert!(matches("CoupledClutches", "cc") && matches("x", "") && matches("Resistor", "RES"));
        assert!(!matches("Resistor", "ser") && !matches("", "a"));
    }
}
