//! Documents that change, and what is said of them.

use std::time::Duration;

use saltus::Session;
use saltus_lsp::Options;
use saltus_testing::{Random, modelica_files};
use serde_json::{Value, json};

use crate::client::{Client, apply, position, slice};

const NAME: &str = "untitled:M.mo";

/// Code, line and column of what `saltus check` says.
fn checked(text: &str) -> Vec<(String, u64, String)> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let mut found = session.check_all(false).diagnostics;
    found.extend(session.hints());
    let places = found.iter().map(|diagnostic| {
        let line = diagnostic
            .span()
            .and_then(|span| session.sources().line_column(span))
            .map_or(1, |at| at.line);
        (
            diagnostic.code.as_str().to_owned(),
            u64::from(line) - 1,
            diagnostic.message.clone(),
        )
    });
    let mut places: Vec<_> = places.collect();
    places.sort();
    places
}

fn served(found: &[Value]) -> Vec<(String, u64, String)> {
    let mut places: Vec<_> = found
        .iter()
        .map(|diagnostic| {
            let message = diagnostic["message"]
                .as_str()
                .expect("a message")
                .lines()
                .next()
                .unwrap_or("")
                .to_owned();
            let code = diagnostic["code"].as_str().expect("a code").to_owned();
            (
                code,
                diagnostic["range"]["start"]["line"].as_u64().expect("a line"),
                message,
            )
        })
        .collect();
    places.sort();
    places
}

/// The message with its remark begins with the message.
fn same(served: &[(String, u64, String)], checked: &[(String, u64, String)]) -> bool {
    served.len() == checked.len()
        && served
            .iter()
            .zip(checked)
            .all(|(s, c)| s.0 == c.0 && s.1 == c.1 && s.2.starts_with(c.2.lines().next().unwrap_or("")))
}

const WRONG: &[&str] = &[
    "model M Real x end M;",
    "model M Real x; end M;",
    "model M Real x; equation x = y; end M;",
    "model M Real x(strat = 1); equation x = 1; end M;",
    "model M\n  Real x, y;\nequation\n  x + y = 1;\n  2*x + 2*y = 2;\nend M;",
    "model M Integer n = 1.5; end M;",
    "model M extends N; end M;",
    "model A Real x; equation x = 1; x = 2; end A;\n\nmodel B A a; end B;",
    "package P model A Real x = sin(); end A; end Q;",
    "model M Real x; equation if time > 1 then x = 1; end if; end M;",
    "function f input Real x; output Real y; algorithm z := x; end f;",
    "model \u{1d11e} end",
    "",
];

#[test]
fn diagnostics_are_those_of_check() {
    let mut client = Client::start();
    for text in WRONG {
        client.open(NAME, text);
        let found = served(&client.diagnostics(NAME));
        let expected = checked(text);
        assert!(same(&found, &expected), "{text}\n{found:#?}\n{expected:#?}");
    }
    client.end();
}

#[test]
fn examples_have_no_errors() {
    let mut client = Client::start();
    // Some of them: all are checked elsewhere.
    for path in modelica_files("examples").iter().step_by(9) {
        let text = std::fs::read_to_string(path).expect("readable");
        let name = crate::client::uri(path);
        client.open(&name, &text);
        let errors: Vec<Value> = client
            .diagnostics(&name)
            .into_iter()
            .filter(|found| found["severity"] == 1)
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
    client.end();
}

#[test]
fn syntax_is_told_at_once_and_the_rest_behind() {
    let options = Options {
        analyze_after: Duration::from_secs(99),
        ..Options::default()
    };
    let mut client = Client::with(json!({}), options);
    client.open(NAME, "model M\n  Real x;\nequation\n  x = 1;\nend M;\n");
    client.wait_for(NAME, |version, found| version == 1 && found.is_empty());
    // A semicolon is taken away.
    let version = client.change(
        NAME,
        json!([{"range": {"start": {"line": 3, "character": 7}, "end": {"line": 3, "character": 8}}, "text": ""}]),
    );
    let found = client.wait_for(NAME, |seen, found| seen == version && !found.is_empty());
    assert!(
        found[0]["code"].as_str().expect("a code").starts_with("E01"),
        "{found:#?}"
    );
    // It comes back, with an unknown name.
    let version = client.change(
        NAME,
        json!([{"range": {"start": {"line": 3, "character": 7}, "end": {"line": 3, "character": 7}}, "text": " + y;"}]),
    );
    let found = client.wait_for(NAME, |seen, found| {
        seen == version && found.iter().any(|d| d["code"] == "E0201")
    });
    assert_eq!(found.len(), 1, "{found:#?}");
    // Two changes in one message, one after the other.
    let version = client.change(
        NAME,
        json!([
            {"range": {"start": {"line": 3, "character": 2}, "end": {"line": 3, "character": 12}}, "text": ""},
            {"range": {"start": {"line": 3, "character": 2}, "end": {"line": 3, "character": 2}}, "text": "x = 2;"},
        ]),
    );
    client.wait_for(NAME, |seen, found| seen == version && found.is_empty());
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": NAME}}));
    client.wait_for(NAME, |seen, found| seen == 0 && found.is_empty());
    client.end();
}

#[test]
fn a_change_in_one_document_is_seen_in_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    std::fs::write(root.join("A.mo"), "model A Real x = 1; end A;\n").expect("written");
    let (a, b) = (
        crate::client::uri(&root.join("A.mo")),
        crate::client::uri(&root.join("B.mo")),
    );
    let mut client = Client::in_folder(&root);
    client.open(&b, "model B A a; Real y = a.x; end B;\n");
    assert!(client.diagnostics(&b).is_empty());
    client.open(&a, "model A Real z = 1; end A;\n");
    let found = client.diagnostics(&b);
    assert!(found.iter().any(|d| d["code"] == "E0201"), "{found:#?}");
    client.wait_for(&b, |_, found| found.iter().any(|d| d["code"] == "E0201"));
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": a}}));
    assert!(client.diagnostics(&b).is_empty());
    client.end();
}

#[test]
fn advice_that_is_mechanical_becomes_an_action() {
    let mut client = Client::start();
    for (text, expected) in [
        (
            "model M Real speed(start = 1); equation der(spede) = 1; end M;",
            "der(speed)",
        ),
        ("model M Real x(strat = 1); equation der(x) = 1; end M;", "x(start = 1)"),
        ("model M Real x = 1; end N;", "end M;"),
    ] {
        client.open(NAME, text);
        let found = client.diagnostics(NAME);
        let everywhere = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
        let actions = client.get(
            "textDocument/codeAction",
            json!({
                "textDocument": {"uri": NAME}, "range": everywhere, "context": {"diagnostics": found},
            }),
        );
        let fix = actions
            .as_array()
            .expect("a list")
            .iter()
            .find(|action| !action["edit"].is_null());
        let fix = fix.unwrap_or_else(|| panic!("{text}: {found:#?}"));
        let mended = apply(
            text,
            fix["edit"]["documentChanges"][0]["edits"].as_array().expect("edits"),
        );
        assert!(mended.contains(expected), "{mended}");
        client.open(NAME, &mended);
        let errors = client
            .diagnostics(NAME)
            .into_iter()
            .filter(|d| d["severity"] == 1)
            .count();
        assert_eq!(errors, 0, "{mended}");
    }
    client.end();
}

/// A start value of what has a derivative may be fixed where nothing says whether it is; elsewhere nothing is offered.
#[test]
fn start_values_can_be_fixed() {
    let mut client = Client::start();
    for (text, expected) in [
        (
            "model M Real x(start = 1); equation der(x) = -x; end M;",
            Some("x(start = 1, fixed = true)"),
        ),
        (
            "model M Real x[2](start = {1, 2}, each unit = \"m\"); equation der( x ) = -x; end M;",
            Some("x[2](start = {1, 2}, each fixed = true, each unit"),
        ),
        (
            "package P model M Real[2] x(each start = 1); equation der(x[1]) = -1; der(x[2]) = 1; end M; end P;",
            Some("x(each start = 1, each fixed = true)"),
        ),
        (
            "model M Real x(start = 1, fixed = false); equation der(x) = -x; end M;",
            None,
        ),
        (
            "model M Real x(start = 1), x1(start = 0, fixed = true); equation x = time; der(x1) = 1; end M;",
            None,
        ),
        ("model M Real x; equation der(x) = -x; end M;", None),
        (
            "model M parameter Real p(start = 1); Real x; equation der(x) = -x*p; end M;",
            None,
        ),
    ] {
        client.open(NAME, text);
        let diagnostics = client.diagnostics(NAME);
        let everywhere = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
        let actions = client.get(
            "textDocument/codeAction",
            json!({
                "textDocument": {"uri": NAME}, "range": everywhere, "context": {"diagnostics": diagnostics},
            }),
        );
        let mut offered = actions.as_array().expect("a list").iter();
        let offered = offered.find(|action| action["kind"] == "refactor.rewrite");
        assert_eq!(offered.is_some(), expected.is_some(), "{text}: {offered:#?}");
        if let (Some(action), Some(expected)) = (offered, expected) {
            let edits = action["edit"]["documentChanges"][0]["edits"].as_array().expect("edits");
            let mended = apply(text, edits);
            assert!(mended.contains(expected), "{mended}");
        }
    }
    client.end();
}

#[test]
fn documents_are_formatted_as_the_command_does_it() {
    let text = "model M\n Real x=1 ;\nequation\n  der( x )=-x;\nend M;\n";
    let formatted = saltus::source::apply_edits(
        text,
        &saltus::format::edits(&saltus_syntax::parse(saltus::source::FileId(0), text)),
    );
    let mut client = Client::start();
    client.open(NAME, text);
    let ask = |client: &mut Client, method: &str, range: Value| {
        let edits = client.get(
            method,
            json!({"textDocument": {"uri": NAME}, "range": range, "options": {"tabSize": 2, "insertSpaces": true}}),
        );
        apply(text, edits.as_array().expect("edits"))
    };
    assert_eq!(ask(&mut client, "textDocument/formatting", Value::Null), formatted.0);
    // Of a range only its lines change.
    let line = json!({"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 14}});
    let part = ask(&mut client, "textDocument/rangeFormatting", line);
    assert!(
        part.contains(" Real x=1 ;\n") && part.contains("  der(x) = -x;\n"),
        "{part}"
    );
    // What is selected of a line stands for all of it, with its indentation; not the line whose beginning ends the selection.
    for (from, to) in [((1, 3), (1, 4)), ((1, 0), (2, 0)), ((1, 11), (1, 11))] {
        let line = json!({
            "start": {"line": from.0, "character": from.1}, "end": {"line": to.0, "character": to.1},
        });
        let part = ask(&mut client, "textDocument/rangeFormatting", line);
        assert_eq!(part, text.replace(" Real x=1 ;", "  Real x = 1;"), "{from:?} {to:?}");
    }
    // A text that is wrong stays.
    client.open(NAME, "model M Real x=1 end M;");
    let edits = client.get(
        "textDocument/formatting",
        json!({"textDocument": {"uri": NAME}, "options": {"tabSize": 2, "insertSpaces": true}}),
    );
    assert_eq!(edits, json!([]));
    client.end();
}

#[test]
fn columns_count_what_was_agreed_upon() {
    let text = "model M\n  String s = \"\u{e4}\u{20ac}\u{1d11e}\" + y;\nend M;\n";
    for (encodings, column) in [
        (json!(["utf-8", "utf-16"]), 27),
        (json!(["utf-16"]), 22),
        (Value::Null, 22),
    ] {
        let capabilities = json!({"general": {"positionEncodings": encodings}});
        let mut client = Client::with(json!({"capabilities": capabilities}), Options::default());
        client.open(NAME, text);
        let found = client.diagnostics(NAME);
        assert_eq!(
            found[0]["range"]["start"],
            json!({"line": 1, "character": column}),
            "{encodings}"
        );
        client.end();
    }
    // The other way round: an edit behind letters of several units.
    let mut client = Client::start();
    client.open(NAME, text);
    let at = position(text, text.find("y;").expect("y"));
    let end = position(text, text.find("y;").expect("y") + 1);
    client.change(NAME, json!([{"range": {"start": at, "end": end}, "text": "\"z\""}]));
    assert_eq!(client.diagnostics(NAME).len(), 0);
    client.end();
}

#[test]
fn a_thousand_edits_leave_what_a_fresh_server_says() {
    let base = "package P\n  model A\n    Real x(start = 1, fixed = true);\n  equation\n    der(x) = -x;\n  end A;\n  model B\n    extends A;\n    Real y = 2*x \"\u{e4}\u{1d11e}\";\n  end B;\nend P;\n";
    let pieces = [
        "x",
        ";",
        "Real y;",
        " = ",
        "\n",
        "end A;",
        "(",
        ")",
        "model B",
        "\u{1d11e}",
        "\"",
        "equation",
        "1e",
        "extends B;",
        "/*",
        "if time > 1 then",
        ".",
        "der(",
    ];
    let mut random = Random(7);
    let mut client = Client::start();
    let mut text = base.to_owned();
    client.open(NAME, &text);
    for number in 1..=1000 {
        // Now and then back to what is right, so that more than syntax is looked at.
        let (start, end, piece) = if number % 25 == 0 {
            (0, text.len(), base)
        } else {
            let boundary = |mut at: usize, text: &str| {
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let start = boundary(random.below(text.len() + 1), &text);
            let end = boundary((start + random.below(8)).min(text.len()), &text).max(start);
            (start, end, random.of(&pieces))
        };
        let range = json!({"start": position(&text, start), "end": position(&text, end)});
        client.change(NAME, json!([{"range": range, "text": piece}]));
        text.replace_range(start..end, piece);
        if number % 25 == 1 || number % 25 == 3 || number % 100 == 0 {
            let found = client.diagnostics(NAME);
            let mut fresh = Client::start();
            fresh.open(NAME, &text);
            assert_eq!(found, fresh.diagnostics(NAME), "after {number} edits:\n{text}");
            fresh.end();
        }
    }
    let symbols = client.get("textDocument/documentSymbol", json!({"textDocument": {"uri": NAME}}));
    assert_eq!(slice(&text, &symbols[0]["selectionRange"]), "P");
    client.end();
}
