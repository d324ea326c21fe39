//! Where names are declared and where they occur.

use std::path::PathBuf;

use gen_lsp_types::{DocumentHighlight, DocumentHighlightKind, Location};
use saltus::source::Span;
use saltus_names::{ClassId, Found, MemberKind, Names, Occurrence, Role, Target, Type, occurrences};
use saltus_syntax::{SyntaxKind, SyntaxTree, Walk};

use crate::requests::At;
use crate::world::{Look, World};

/// A name at a place.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) span: Span,
    pub(crate) target: Target,
}

/// What the name at an offset means.
pub(crate) fn hit(names: &mut Names<'_>, look: &Look, offset: u32) -> Option<Hit> {
    let mut found: Option<Hit> = None;
    occurrences(names, &look.parsed, &mut |names, occurrence| {
        let span = occurrence.ident.span;
        let covers = span.start <= offset && offset <= span.end;
        // Behind one name and in front of another, the second is meant.
        let better = found.as_ref().is_none_or(|found| found.span.end <= span.start);
        if covers
            && better
            && let Some(target) = names.resolve(&occurrence)
        {
            found = Some(Hit { span, target });
        }
    });
    found.or_else(|| {
        let ends = end_names(&saltus_syntax::parse(look.parsed.file, look.source.text()).tree);
        let (end, name) = ends
            .into_iter()
            .find(|(end, _)| end.start <= offset && offset <= end.end)?;
        let classes = names.classes_at(&look.parsed, name.start);
        let class = classes
            .into_iter()
            .rev()
            .find(|class| names.definition(*class).name.span == name)?;
        Some(Hit {
            span: end,
            target: Target::Class(class),
        })
    })
}

/// The names behind `end` with those of their classes.
pub(crate) fn end_names(tree: &SyntaxTree) -> Vec<(Span, Span)> {
    let mut found = Vec::new();
    tree.walk(|step| {
        let Walk::Leave(node) = step else { return };
        if node.kind() != SyntaxKind::ClassDefinition {
            return;
        }
        let tokens: Vec<_> = node.tokens().collect();
        let name = tokens.iter().find(|token| token.kind() == SyntaxKind::Identifier);
        let end = tokens.iter().rposition(|token| token.kind() == SyntaxKind::EndKw);
        let behind = end
            .and_then(|at| tokens.get(at + 1))
            .filter(|token| token.kind() == SyntaxKind::Identifier);
        if let (Some(name), Some(behind)) = (name, behind)
            && name.text() == behind.text()
        {
            found.push((behind.span(), name.span()));
        }
    });
    found
}

/// The place that stands for a name wherever it occurs: its declaration, or that of what it redeclares.
pub(crate) fn identity(names: &mut Names<'_>, target: &Target) -> Option<Span> {
    match target {
        Target::Member(member) => Some(original(
            names,
            member.owner,
            &member.name.name,
            member.redeclare,
            member.name.span,
        )),
        Target::Class(class) => {
            let span = names.definition(*class).name.span;
            let Some(parent) = names.parent(*class) else {
                return Some(span);
            };
            let name = names.definition(*class).name.name.clone();
            let own = names
                .members(parent)
                .into_iter()
                .find(|member| member.name.name == name);
            let redeclare =
                own.is_some_and(|own| own.redeclare && matches!(own.kind, MemberKind::Class(id) if id == *class));
            Some(original(names, parent, &name, redeclare, span))
        }
        Target::Alias(..) | Target::Index(_) => target.declaration(names),
        _ => None,
    }
}

fn original(names: &mut Names<'_>, owner: ClassId, name: &str, redeclare: bool, span: Span) -> Span {
    let (mut owner, mut redeclare, mut span) = (owner, redeclare, span);
    for _ in 0..100 {
        if !redeclare {
            break;
        }
        let bases = names.bases(owner);
        let inherited = bases.iter().find_map(|base| {
            let member = names.members(*base).into_iter().find(|member| member.name.name == name);
            member.map(|member| (member.owner, member.redeclare, member.name.span))
        });
        match inherited {
            Some(found) => (owner, redeclare, span) = found,
            None => break,
        }
    }
    span
}

/// Where a name is declared.
pub(crate) fn definition(world: &World, at: &At) -> Option<Vec<Location>> {
    let (look, offset) = world.look_at(&at.text_document.uri, at.position)?;
    let mut names = Names::new(look.session.library());
    let hit = hit(&mut names, &look, offset)?;
    let target = match hit.target {
        Target::Alias(_, meant) => *meant,
        target => target,
    };
    Some(vec![world.location(target.declaration(&names)?)?])
}

/// Where the type of something is declared.
pub(crate) fn type_definition(world: &World, at: &At) -> Option<Vec<Location>> {
    let (look, offset) = world.look_at(&at.text_document.uri, at.position)?;
    let mut names = Names::new(look.session.library());
    let class = match hit(&mut names, &look, offset)?.target {
        Target::Member(member) => match names.type_of(&member)? {
            Type::Class(class) => class,
            Type::Predefined(_) => return None,
        },
        Target::Class(class) => class,
        _ => return None,
    };
    let span = names.definition(class).name.span;
    Some(vec![world.location(span)?])
}

/// Redeclarations of something, or the classes that inherit from it, in the workspace.
pub(crate) fn implementation(world: &World, at: &At) -> Option<Vec<Location>> {
    let (look, offset) = world.look_at(&at.text_document.uri, at.position)?;
    let mut names = Names::new(look.session.library());
    let hit = hit(&mut names, &look, offset)?;
    let wanted = identity(&mut names, &hit.target)?;
    let is_class = matches!(hit.target, Target::Class(_));
    let name = look.source.slice(hit.span).to_owned();
    let mut found = Vec::new();
    each_own_file(world, &name, |look| {
        let mut names = Names::new(look.session.library());
        occurrences(&mut names, &look.parsed, &mut |names, occurrence| {
            if occurrence.ident.name != name {
                return;
            }
            let heir = match occurrence.site {
                saltus_names::Site::Base(class, base, part) if is_class && part + 1 == base.parts.len() => {
                    Some(names.definition(class).name.span)
                }
                _ => None,
            };
            let Some(target) = names.resolve(&occurrence) else {
                return;
            };
            let span = occurrence.ident.span;
            let redeclares = occurrence.role == Role::Declaration && span != wanted;
            if identity(names, &target) == Some(wanted) {
                found.extend(heir.or(redeclares.then_some(span)));
            }
        });
    });
    Some(found.into_iter().filter_map(|span| world.location(span)).collect())
}

/// Calls `visit` with every file of the workspace whose text holds a word.
pub(crate) fn each_own_file(world: &World, word: &str, mut visit: impl FnMut(&Look)) {
    for path in world.own_files() {
        if let Some(look) = look_for(world, &path, word) {
            visit(&look);
        }
    }
}

fn look_for(world: &World, path: &PathBuf, word: &str) -> Option<Look> {
    // Most files do not hold the word: they are read, not parsed.
    let holds = match world.documents.get(path) {
        Some(document) => document.text.contains(word),
        None => {
            let bytes = saltus::library::FileSystem::read(&*world.files, path).ok()?;
            String::from_utf8_lossy(&bytes).contains(word)
        }
    };
    holds.then(|| world.look(path))?
}

/// All occurrences of what stands for a place, with what they do there, `end` names included.
pub(crate) fn occurrences_of(look: &Look, wanted: Span, word: &str) -> Vec<(Span, Role)> {
    let mut names = Names::new(look.session.library());
    let mut found = Vec::new();
    let mut classes: Vec<Span> = Vec::new();
    occurrences(&mut names, &look.parsed, &mut |names, occurrence: Occurrence<'_>| {
        if occurrence.ident.name != word {
            return;
        }
        let Some(target) = names.resolve(&occurrence) else {
            return;
        };
        let span = occurrence.ident.span;
        if identity(names, &target) == Some(wanted) {
            found.push((span, occurrence.role));
            if occurrence.role == Role::Declaration && matches!(target, Target::Class(_)) {
                classes.push(span);
            }
        }
    });
    if !classes.is_empty() {
        let ends = end_names(&saltus_syntax::parse(look.parsed.file, look.source.text()).tree);
        let ends = ends.into_iter().filter(|(_, name)| classes.contains(name));
        found.extend(ends.map(|(end, _)| (end, Role::Class)));
    }
    found.sort_by_key(|(span, _)| *span);
    found.dedup_by_key(|(span, _)| *span);
    found
}

/// An occurrence of a word that leads nowhere, as far as classes alone say: a redeclaration may bring what it means.
pub(crate) fn unresolved(look: &Look, word: &str) -> Option<Span> {
    let mut names = Names::new(look.session.library());
    let mut found = None;
    occurrences(&mut names, &look.parsed, &mut |names, occurrence| {
        if occurrence.ident.name == word && !occurrence.in_annotation && names.resolve(&occurrence).is_none() {
            found = Some(occurrence.ident.span);
        }
    });
    found
}

/// The place that a name stands for, and the name.
pub(crate) fn wanted(world: &World, at: &At) -> Option<(Look, Span, String)> {
    let (look, offset) = world.look_at(&at.text_document.uri, at.position)?;
    let span = {
        let mut names = Names::new(look.session.library());
        let hit = hit(&mut names, &look, offset)?;
        identity(&mut names, &hit.target)?
    };
    let word = world.sources().file(span.file)?.slice(span).to_owned();
    Some((look, span, word))
}

/// Every occurrence in the workspace.
pub(crate) fn references(world: &World, at: &At, with_declaration: bool) -> Option<Vec<Location>> {
    let (_, span, word) = wanted(world, at)?;
    let mut found = Vec::new();
    each_own_file(world, &word, |look| {
        let here = occurrences_of(look, span, &word);
        let here = here
            .into_iter()
            .filter(|(_, role)| with_declaration || *role != Role::Declaration);
        found.extend(here.filter_map(|(span, _)| world.location(span)));
    });
    Some(found)
}

/// Every occurrence in the file.
pub(crate) fn highlights(world: &World, at: &At) -> Option<Vec<DocumentHighlight>> {
    let (look, span, word) = wanted(world, at)?;
    let found = occurrences_of(&look, span, &word)
        .into_iter()
        .filter_map(|(span, role)| {
            Some(DocumentHighlight {
                range: world.range(span)?,
                kind: Some(match role {
                    Role::Declaration | Role::Assignment => DocumentHighlightKind::Write,
                    _ => DocumentHighlightKind::Read,
                }),
            })
        });
    Some(found.collect())
}

/// The class that a found name leads into.
pub(crate) fn class_behind(names: &mut Names<'_>, found: &Found) -> Option<Type> {
    match found {
        Found::Class(class) => Some(Type::Class(*class)),
        Found::Member(member) => names.type_of(member),
        Found::Predefined(predefined) => Some(Type::Predefined(*predefined)),
    }
}
