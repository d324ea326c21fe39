//! What can be done at a place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, Command, Diagnostic, Range, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::{Value, json};

use crate::fixes::Sent;
use crate::rename::{Edits, workspace_edit};
use crate::start_values;
use crate::uri::path_of;
use crate::world::World;

/// The actions for a range: fixes of the diagnostics there, what their codes mean, and start values that may be meant.
pub(crate) fn actions(world: &World, params: &CodeActionParams) -> Vec<CodeAction> {
    let path = path_of(&params.text_document.uri);
    if !world.is_ours(&path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let diagnostics = diagnostics(world, &path, params);
    for diagnostic in &diagnostics {
        let sent = diagnostic.data.clone().unwrap_or(Value::Null);
        let fixes: Vec<Sent> = serde_json::from_value(sent).unwrap_or_default();
        let only = fixes.len() == 1;
        for fix in fixes {
            if !fix.edits.keys().all(|path| world.is_ours(path)) {
                continue;
            }
            found.push(CodeAction {
                title: fix.title,
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![diagnostic.clone()]),
                is_preferred: Some(only),
                edit: Some(edit(world, fix.edits)),
                ..CodeAction::default()
            });
        }
    }
    found.extend(diagnostics.iter().filter_map(explain));
    if let Some(look) = world.look(&path) {
        let lines = world.lines(&look.source);
        let offset = |position| lines.offset(look.source.text(), position, world.encoding);
        let within = (offset(params.range.start), offset(params.range.end));
        for (action, text) in start_values::fixed(world, &look, within) {
            let edit = Some(edit(world, [(path.clone(), vec![text])].into()));
            found.push(CodeAction { edit, ..action });
        }
    }
    found.retain(|action| is_wanted(action, params));
    found
}

/// The diagnostics that are asked about. Clients send those that they show, some of them without what belongs to them, and some
/// send none.
fn diagnostics(world: &World, path: &Path, params: &CodeActionParams) -> Vec<Diagnostic> {
    let sent = &params.context.diagnostics;
    if !sent.is_empty() && sent.iter().all(|diagnostic| diagnostic.data.is_some()) {
        return sent.clone();
    }
    let known = world.checked(path);
    if sent.is_empty() {
        let asked = params.range;
        let touches = |range: Range| range.start <= asked.end && asked.start <= range.end;
        let here = known.iter().filter(|diagnostic| touches(diagnostic.range));
        return here.cloned().collect();
    }
    let whole = |sent: &Diagnostic| {
        let same = |known: &&Diagnostic| known.range == sent.range && known.code == sent.code;
        // Where several are alike, the words tell them apart, if the client has left them as they were.
        let of_place: Vec<&Diagnostic> = known.iter().filter(same).collect();
        let of_words = of_place.iter().find(|known| known.message == sent.message);
        let found = of_words.or(of_place.first()).map(|known| (*known).clone());
        found.unwrap_or_else(|| sent.clone())
    };
    sent.iter().map(whole).collect()
}

/// Whether an action is of a kind that is asked for.
fn is_wanted(action: &CodeAction, params: &CodeActionParams) -> bool {
    let Some(only) = &params.context.only else {
        return true;
    };
    let kind = action.kind.as_ref().map(|kind| kind.to_string()).unwrap_or_default();
    only.iter().any(|wanted| {
        let wanted = wanted.to_string();
        wanted.is_empty() || kind == wanted || kind.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('.'))
    })
}

fn edit(world: &World, texts: BTreeMap<PathBuf, Vec<TextEdit>>) -> WorkspaceEdit {
    let renamed = Vec::new();
    workspace_edit(world, Edits { texts, renamed })
}

/// Shows the page of a code, where the client knows the command.
fn explain(diagnostic: &Diagnostic) -> Option<CodeAction> {
    let Some(gen_lsp_types::Code::String(code)) = &diagnostic.code else {
        return None;
    };
    Some(CodeAction {
        title: format!("Explain {code}"),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic.clone()]),
        command: Some(Command {
            title: format!("Explain {code}"),
            command: "saltus.explain".to_owned(),
            arguments: Some(vec![json!(code)]),
            ..Command::default()
        }),
        ..CodeAction::default()
    })
}

/// The arguments of commands: a document and a model.
pub(crate) fn document_and_model(arguments: &[Value]) -> Option<(Uri, String)> {
    let uri = arguments.first()?.as_str()?.to_owned();
    let model = arguments.get(1)?.as_str()?.to_owned();
    Some((Uri(uri), model))
}
