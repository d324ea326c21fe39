//! What no request may do: end the server.

use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request};
use saltus_lsp::{Options, serve};
use saltus_testing::Random;
use serde_json::{Value, json};

use crate::client::Client;

const TEXT: &str = include_str!("fixtures/Shafts.mo");
const NAME: &str = "untitled:Shafts.mo";

#[test]
fn a_panic_ends_one_request_and_nothing_else() {
    let mut client = Client::start();
    client.open(NAME, TEXT);
    for _ in 0..20 {
        let (code, text) = client.ask("saltus/panic", Value::Null).expect_err("a panic");
        assert_eq!(code, -32603);
        assert!(text.contains("as asked"), "{text}");
    }
    let symbols = client.get("textDocument/documentSymbol", json!({"textDocument": {"uri": NAME}}));
    assert_eq!(symbols[0]["name"], "Shafts");
    assert!(
        client
            .notifications
            .iter()
            .any(|sent| sent.method == "window/logMessage")
    );
    client.end();
}

#[test]
fn requests_can_be_cancelled_and_unknown_ones_are_refused() {
    let mut client = Client::start();
    client.open(NAME, TEXT);
    assert_eq!(
        client.ask("saltus/nothing", Value::Null).expect_err("unknown").0,
        -32601
    );
    assert_eq!(
        client.ask("textDocument/hover", json!([1, 2])).expect_err("no place").0,
        -32602
    );
    // Both workers are busy while the third is cancelled.
    let model = json!({"command": "saltus.simulate", "arguments": [NAME, "Shafts.Clutched"]});
    client.send("workspace/executeCommand", model.clone());
    client.send("workspace/executeCommand", model.clone());
    let id = client.send("workspace/executeCommand", model);
    client.notify("$/cancelRequest", json!({"id": 4}));
    client.notify("$/cancelRequest", json!({"id": "none"}));
    client.notify(
        "$/cancelRequest",
        json!({"id": id.to_string().parse::<i32>().expect("a number")}),
    );
    // Whether it came in time or not: there is an answer.
    let answer = client.wait(&id);
    assert!(answer.is_ok() || answer.is_err_and(|(code, _)| code == -32800 || code == -32803));
    client.end();
}

#[test]
fn whatever_is_asked_the_server_goes_on() {
    let methods = [
        "textDocument/hover",
        "textDocument/definition",
        "textDocument/typeDefinition",
        "textDocument/implementation",
        "textDocument/documentHighlight",
        "textDocument/references",
        "textDocument/completion",
        "textDocument/signatureHelp",
        "textDocument/prepareRename",
        "textDocument/rename",
        "textDocument/documentSymbol",
        "textDocument/foldingRange",
        "textDocument/selectionRange",
        "textDocument/documentLink",
        "textDocument/semanticTokens/full",
        "textDocument/semanticTokens/range",
        "textDocument/inlayHint",
        "textDocument/codeLens",
        "textDocument/codeAction",
        "textDocument/diagnostic",
    ];
    // Texts that break off anywhere, and some that are no Modelica at all.
    let mut texts: Vec<String> = (0..TEXT.len())
        .step_by(97)
        .filter(|at| TEXT.is_char_boundary(*at))
        .map(|at| TEXT[..at].to_owned())
        .collect();
    texts.push("\u{0}\u{feff}\r\r\n\"'/*".to_owned());
    texts.push("((((".repeat(500));
    texts.push("model M extends M; M m(m(m(m = 1))); equation m.m.m.".to_owned());
    texts.push("end end end ; . . model".to_owned());
    let mut client = Client::start();
    let mut random = Random(1);
    for text in &texts {
        client.open(NAME, text);
        for method in methods {
            // Not each method at each text: every text meets every third.
            if random.below(3) > 0 {
                continue;
            }
            let (line, character) = (random.below(text.lines().count() + 2), random.below(60));
            let place = json!({"line": line, "character": character});
            let params = json!({
                "textDocument": {"uri": NAME}, "position": place, "positions": [place], "newName": "other",
                "context": {"includeDeclaration": true, "diagnostics": []},
                "range": {"start": place, "end": {"line": line + 5, "character": 0}},
            });
            if let Err((code, text)) = client.ask(method, params) {
                assert!(code != -32603, "{method}: {text}");
            }
        }
    }
    client.end();
}

#[test]
fn messages_that_are_not_understood_are_passed_over() {
    let mut client = Client::start();
    for method in [
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didClose",
        "workspace/didChangeConfiguration",
        "workspace/didChangeWorkspaceFolders",
        "$/cancelRequest",
        "$/whatever",
    ] {
        for params in [
            Value::Null,
            json!([]),
            json!({"textDocument": 7}),
            json!({"settings": {"saltus": {"libraries": 7}}}),
            json!({"textDocument": {"uri": "x", "version": 1}, "contentChanges": []}),
        ] {
            client.notify(method, params);
        }
    }
    client.open(NAME, "model M end M;");
    // Ranges the wrong way round and far outside.
    client.change(
        NAME,
        json!([{"range": {"start": {"line": 5, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "x"}]),
    );
    client.change(NAME, json!([{"range": {"start": {"line": 4_000_000_000u32, "character": 4_000_000_000u32}, "end": {"line": 4_000_000_000u32, "character": 0}}, "text": "y"}]));
    let symbols = client.get("textDocument/documentSymbol", json!({"textDocument": {"uri": NAME}}));
    assert_eq!(symbols[0]["name"], "M");
    client.end();
}

#[test]
fn a_client_that_goes_without_a_word_leaves_nothing_behind() {
    let (client, server) = Connection::memory();
    let thread = std::thread::spawn(move || serve(server, Options::default()));
    let request = Request::new(1.into(), "initialize".to_owned(), json!({"capabilities": {}}));
    client.sender.send(Message::Request(request)).expect("sent");
    client
        .sender
        .send(Message::Notification(Notification::new(
            "initialized".to_owned(),
            json!({}),
        )))
        .expect("sent");
    std::thread::sleep(Duration::from_millis(50));
    drop(client);
    assert!(!thread.join().expect("no panic"), "not a proper end");
}
