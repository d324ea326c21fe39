//! Who answers what.

use std::path::Path;

use gen_lsp_types::{CodeActionParams, CompletionItem, InlayHintParams, Position, Range, TextDocumentIdentifier, Uri};
use lsp_server::ErrorCode;
use saltus::library::{BUILT_IN, FileSystem};
use saltus::simulate::Cancel;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::position::Encoding;
use crate::uri::{LIBRARY_SCHEME, path_of};
use crate::world::World;
use crate::{
    actions, completion, diagnostics, format, hints, hover, lens, navigation, rename, signature, symbols, tokens,
};

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode, message: String) -> Refusal {
        Refusal {
            code: code as i32,
            message,
        }
    }
}

/// A place in a document.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct At {
    pub(crate) text_document: TextDocumentIdentifier,
    pub(crate) position: Position,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rename {
    #[serde(flatten)]
    at: At,
    new_name: String,
}

#[derive(Deserialize)]
struct References {
    #[serde(flatten)]
    at: At,
    context: ReferenceContext,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReferenceContext {
    include_declaration: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InDocument {
    text_document: TextDocumentIdentifier,
    range: Option<Range>,
    #[serde(default)]
    positions: Vec<Position>,
}

#[derive(Deserialize)]
struct Query {
    query: String,
}

#[derive(Deserialize)]
struct Execute {
    command: String,
    #[serde(default)]
    arguments: Vec<Value>,
}

#[derive(Deserialize)]
struct Named {
    uri: Uri,
}

/// What the server can do.
pub(crate) fn capabilities(encoding: Encoding) -> Value {
    json!({
        "positionEncoding": match encoding { Encoding::Utf8 => "utf-8", Encoding::Utf16 => "utf-16" },
        "textDocumentSync": {"openClose": true, "change": 2, "save": true},
        "completionProvider": {"triggerCharacters": [".", "("], "resolveProvider": true},
        "hoverProvider": true,
        "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
        "definitionProvider": true,
        "declarationProvider": true,
        "typeDefinitionProvider": true,
        "implementationProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "codeActionProvider": {"codeActionKinds": ["quickfix", "refactor.rewrite"]},
        "codeLensProvider": {"resolveProvider": false},
        "documentLinkProvider": {"resolveProvider": false},
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "renameProvider": {"prepareProvider": true},
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true,
        "inlayHintProvider": true,
        "semanticTokensProvider": {
            "legend": {"tokenTypes": tokens::TYPES, "tokenModifiers": tokens::MODIFIERS},
            "full": true,
            "range": true,
        },
        "executeCommandProvider": {"commands": lens::COMMANDS},
        "workspace": {
            "workspaceFolders": {"supported": true, "changeNotifications": true},
            "textDocumentContent": {"schemes": [LIBRARY_SCHEME]},
        },
    })
}

/// Whether an answer is of no use when the text has changed.
pub(crate) fn is_about_the_moment(method: &str) -> bool {
    method.starts_with("textDocument/")
}

/// The answer to a request.
pub(crate) fn answer(
    world: &World,
    method: &str,
    params: Value,
    cancel: &Cancel,
    may_panic: bool,
) -> Result<Value, Refusal> {
    let document = |uri: &Uri| world.document(uri).cloned();
    match method {
        "textDocument/hover" => with(params, |at: At| hover::hover(world, &at)),
        "textDocument/definition" | "textDocument/declaration" => {
            with(params, |at: At| navigation::definition(world, &at))
        }
        "textDocument/typeDefinition" => with(params, |at: At| navigation::type_definition(world, &at)),
        "textDocument/implementation" => with(params, |at: At| navigation::implementation(world, &at)),
        "textDocument/documentHighlight" => with(params, |at: At| navigation::highlights(world, &at)),
        "textDocument/references" => with(params, |asked: References| {
            navigation::references(world, &asked.at, asked.context.include_declaration)
        }),
        "textDocument/completion" => with(params, |at: At| completion::completion(world, &at)),
        "completionItem/resolve" => with(params, |item: CompletionItem| completion::resolve(world, item)),
        "textDocument/signatureHelp" => with(params, |at: At| signature::signature_help(world, &at)),
        "textDocument/prepareRename" => with_refusal(params, |at: At| rename::prepare(world, &at)),
        "textDocument/rename" => with_refusal(params, |asked: Rename| {
            rename::rename(world, &asked.at, &asked.new_name)
        }),
        "textDocument/documentSymbol" => with(params, |asked: InDocument| {
            symbols::document_symbols(world, &asked.text_document.uri)
        }),
        "workspace/symbol" => with(params, |asked: Query| symbols::workspace_symbols(world, &asked.query)),
        "textDocument/foldingRange" => with(params, |asked: InDocument| {
            document(&asked.text_document.uri).map(|document| symbols::folding(&document))
        }),
        "textDocument/selectionRange" => with(params, |asked: InDocument| {
            let document = document(&asked.text_document.uri)?;
            let ranges = asked
                .positions
                .iter()
                .map(|position| symbols::selection(world, &document, *position));
            Some(ranges.collect::<Vec<_>>())
        }),
        "textDocument/documentLink" => with(params, |asked: InDocument| {
            document(&asked.text_document.uri).map(|document| symbols::links(world, &document))
        }),
        "textDocument/semanticTokens/full" | "textDocument/semanticTokens/range" => {
            with(params, |asked: InDocument| {
                let document = document(&asked.text_document.uri)?;
                Some(tokens::tokens(world, &document, asked.range.as_ref()))
            })
        }
        "textDocument/inlayHint" => with(params, |asked: InlayHintParams| {
            let document = document(&asked.text_document.uri)?;
            Some(hints::hints(world, &document, &asked.range))
        }),
        "textDocument/codeLens" => with(params, |asked: InDocument| {
            lens::lenses(world, &asked.text_document.uri)
        }),
        "textDocument/formatting" | "textDocument/rangeFormatting" => with(params, |asked: InDocument| {
            let document = document(&asked.text_document.uri)?;
            format::edits(world, &document, asked.range.as_ref())
        }),
        "textDocument/codeAction" => with(params, |asked: CodeActionParams| actions::actions(world, &asked)),
        // Diagnostics are pushed; whoever asks for them is answered.
        "textDocument/diagnostic" => with_refusal(params, |asked: InDocument| {
            let path = path_of(&asked.text_document.uri);
            let items = world.keep_checked(&path, diagnostics::check(world, &path));
            // A check that an edit has ended has not looked at everything.
            if world.is_outdated() {
                return Err(Refusal::new(
                    ErrorCode::ContentModified,
                    "the text has changed".to_owned(),
                ));
            }
            Ok(json!({"kind": "full", "items": items.as_slice()}))
        }),
        "workspace/executeCommand" => with_refusal(params, |asked: Execute| {
            lens::execute(world, &asked.command, &asked.arguments, cancel)
        }),
        "workspace/textDocumentContent" => with(params, |asked: Named| {
            let path = path_of(&asked.uri);
            library_text(world, &path).map(|text| json!({"text": text}))
        }),
        #[allow(clippy::panic, reason = "tests ask for it")]
        "saltus/panic" if may_panic => panic!("as asked"),
        _ => Err(Refusal::new(
            ErrorCode::MethodNotFound,
            format!("`{method}` is not known"),
        )),
    }
}

/// The text of a file of the component library; of nothing else.
fn library_text(world: &World, path: &Path) -> Option<String> {
    if !path.starts_with(BUILT_IN) {
        return None;
    }
    String::from_utf8(world.files.read(path).ok()?).ok()
}

fn with<P: DeserializeOwned, R: Serialize>(params: Value, answer: impl FnOnce(P) -> R) -> Result<Value, Refusal> {
    with_refusal(params, |params| Ok(answer(params)))
}

fn with_refusal<P: DeserializeOwned, R: Serialize>(
    params: Value,
    answer: impl FnOnce(P) -> Result<R, Refusal>,
) -> Result<Value, Refusal> {
    let invalid = |error: serde_json::Error| Refusal::new(ErrorCode::InvalidParams, error.to_string());
    let params = serde_json::from_value(params).map_err(invalid)?;
    let answer = answer(params)?;
    serde_json::to_value(answer).map_err(|error| Refusal::new(ErrorCode::InternalError, error.to_string()))
}
