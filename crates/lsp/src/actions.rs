//! What can be done at a place.

use std::path::{Path, PathBuf};

use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionParams, Command, TextEdit, Uri, WorkspaceEdit};
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
    for diagnostic in &params.context.diagnostics {
        let sent = diagnostic.data.clone().unwrap_or(Value::Null);
        let fixes: Vec<Sent> = serde_json::from_value(sent).unwrap_or_default();
        let only = fixes.len() == 1;
        for fix in fixes {
            found.push(CodeAction {
                title: fix.title,
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![diagnostic.clone()]),
                is_preferred: Some(only),
                edit: Some(edit(world, &path, fix.edits)),
                ..CodeAction::default()
            });
        }
    }
    found.extend(params.context.diagnostics.iter().filter_map(explain));
    if let Some(look) = world.look(&path) {
        let lines = world.lines(&look.source);
        let offset = |position| lines.offset(look.source.text(), position, world.encoding);
        let within = (offset(params.range.start), offset(params.range.end));
        for (action, text) in start_values::fixed(world, &look, within) {
            let edit = Some(edit(world, &path, vec![text]));
            found.push(CodeAction { edit, ..action });
        }
    }
    found
}

fn edit(world: &World, path: &Path, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let all = Edits {
        texts: [(path.to_owned(), edits)].into(),
        renamed: Vec::<(PathBuf, PathBuf)>::new(),
    };
    workspace_edit(world, all)
}

/// Shows the page of a code, where the client knows the command.
fn explain(diagnostic: &gen_lsp_types::Diagnostic) -> Option<CodeAction> {
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
