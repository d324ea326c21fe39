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

/// A workspace of several files, some of them in a folder of a package, with a library beside it.
struct Workspace {
    folder: tempfile::TempDir,
    library: tempfile::TempDir,
    files: Vec<(String, String)>,
}

impl Workspace {
    fn new() -> Workspace {
        let workspace = Workspace {
            folder: tempfile::tempdir().expect("a folder"),
            library: tempfile::tempdir().expect("a folder"),
            files: [
                (
                    "P/package.mo",
                    "package P \"All of it\"\n  constant Real g = 9.81;\nend P;\n",
                ),
                ("P/package.order", "g\nPart\nWhole\n"),
                (
                    "P/Part.mo",
                    "within P;\nmodel Part\n  extends Lib.Base;\n  parameter Real k = 2;\nequation\n  der(x) = -k*x + g;\nend Part;\n",
                ),
                (
                    "P/Whole.mo",
                    "within P;\nmodel Whole\n  Part a(k = 3), b;\n  Lib.Pin pin;\n  Real y = a.x + b.x \"\u{e4}\u{1d11e}\";\nequation\n  pin.v = y;\nend Whole;\n",
                ),
                (
                    "User.mo",
                    "model User\n  P.Whole whole;\n  Real z = P.g*whole.y;\nend User;\n",
                ),
            ]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
        };
        std::fs::create_dir_all(workspace.folder.path().join("P")).expect("made");
        for (name, text) in &workspace.files {
            std::fs::write(workspace.folder.path().join(name), text).expect("written");
        }
        let library = "package Lib\n  partial model Base\n    Real x(start = 1, fixed = true);\n  end Base;\n  \
            connector Pin\n    Real v;\n    flow Real i;\n  end Pin;\nend Lib;\n";
        std::fs::write(workspace.library.path().join("Lib.mo"), library).expect("written");
        workspace
    }

    fn client(&self) -> Client {
        let root = self.folder.path().canonicalize().expect("a path");
        let params = json!({
            "rootUri": crate::client::uri(&root), "initializationOptions": {"libraries": [self.library.path()]},
        });
        Client::with(params, Options::default())
    }

    fn uri(&self, name: &str) -> String {
        let root = self.folder.path().canonicalize().expect("a path");
        crate::client::uri(&root.join(name))
    }

    /// All files and what they hold.
    fn on_disk(&self) -> Vec<(std::path::PathBuf, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned(), self.library.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push((path.clone(), std::fs::read_to_string(path).expect("text")));
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn a_thousand_edits_of_several_files_leave_what_a_fresh_server_says() {
    let workspace = Workspace::new();
    let pieces = [
        "x",
        ";",
        "k",
        " = ",
        "\n",
        "end Part;",
        "(",
        ")",
        "g",
        "\u{1d11e}",
        "within P;",
        "Lib.",
        "extends Lib.Base;",
        "Whole",
        "Real q = 1;",
        "P.",
        "\"",
        "parameter ",
    ];
    let names: Vec<&str> = workspace
        .files
        .iter()
        .map(|(name, _)| &**name)
        .filter(|name| name.ends_with(".mo"))
        .collect();
    let base: std::collections::BTreeMap<&str, &str> =
        workspace.files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let mut shown: std::collections::BTreeMap<&str, String> = std::collections::BTreeMap::new();
    let mut random = Random(11);
    let mut client = workspace.client();
    for number in 1..=1000 {
        let name = random.of(&names);
        let uri = workspace.uri(name);
        // Documents are opened and closed, and now and then right again.
        let Some(text) = shown.get_mut(name) else {
            client.open(&uri, base[name]);
            shown.insert(name, base[name].to_owned());
            continue;
        };
        if random.below(20) == 0 {
            client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
            shown.remove(name);
            continue;
        }
        let (start, end, piece) = if random.below(6) == 0 {
            (0, text.len(), base[name])
        } else {
            let boundary = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let start = boundary(random.below(text.len() + 1));
            (
                start,
                boundary((start + random.below(6)).min(text.len())).max(start),
                random.of(&pieces),
            )
        };
        let range = json!({"start": position(text, start), "end": position(text, end)});
        client.change(&uri, json!([{"range": range, "text": piece}]));
        text.replace_range(start..end, piece);
        if number % 40 == 0 {
            let mut fresh = workspace.client();
            for (name, text) in &shown {
                fresh.open(&workspace.uri(name), text);
            }
            for name in shown.keys() {
                let uri = workspace.uri(name);
                // Those about several files come in the order in which these were read.
                let sorted = |mut found: Vec<Value>| {
                    found.sort_by_key(Value::to_string);
                    found
                };
                let (served, expected) = (sorted(client.diagnostics(&uri)), sorted(fresh.diagnostics(&uri)));
                assert_eq!(served, expected, "{name} after {number} edits: {shown:#?}");
            }
            fresh.end();
        }
    }
    client.end();
}

/// Whatever is renamed, mended or formatted: edits are for files of the workspace, and the server itself writes none.
#[test]
fn nothing_outside_of_the_workspace_is_touched() {
    let workspace = Workspace::new();
    let before = workspace.on_disk();
    let mut client = workspace.client();
    let root = workspace.uri("");
    let library = workspace.library.path().canonicalize().expect("a path").join("Lib.mo");
    let texts: Vec<(String, String)> = workspace
        .files
        .iter()
        .filter(|(name, _)| name.ends_with(".mo"))
        .map(|(name, text)| (workspace.uri(name), text.clone()))
        .chain([(
            crate::client::uri(&library),
            std::fs::read_to_string(&library).expect("text"),
        )])
        .collect();
    let mut edited = 0;
    let mut look = |edit: &Value| {
        for change in edit["documentChanges"].as_array().into_iter().flatten() {
            let names = [&change["textDocument"]["uri"], &change["oldUri"], &change["newUri"]];
            for name in names.iter().filter_map(|name| name.as_str()) {
                assert!(name.starts_with(&root), "{edit}");
                edited += 1;
            }
        }
    };
    for (uri, text) in &texts {
        client.open(uri, text);
        let everywhere = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let is_word = |c: char| c.is_ascii_alphabetic();
        let words = text
            .char_indices()
            .filter(|&(at, c)| is_word(c) && !text[..at].ends_with(is_word));
        for (at, _) in words {
            let params = json!({"textDocument": {"uri": uri}, "position": position(text, at), "newName": "other"});
            if let Ok(edit) = client.ask("textDocument/rename", params) {
                look(&edit);
            }
        }
        let diagnostics = client.diagnostics(uri);
        let params =
            json!({"textDocument": {"uri": uri}, "range": everywhere, "context": {"diagnostics": diagnostics}});
        for action in client
            .get("textDocument/codeAction", params)
            .as_array()
            .expect("a list")
        {
            look(&action["edit"]);
        }
        for model in ["P.Whole", "User"] {
            let params = json!({"command": "saltus.simulate", "arguments": [uri, model]});
            let _ = client.ask("workspace/executeCommand", params);
        }
    }
    assert!(edited > 20, "{edited}");
    client.end();
    assert_eq!(workspace.on_disk(), before);
}

/// Clients that do not send back what belongs to a diagnostic, and those that send no diagnostics at all, get its fixes, too.
#[test]
fn fixes_are_found_for_clients_that_forget_them() {
    let text = "model M\n  Real speed(start = 1);\nequation\n  der(spede) = 1;\nend M;\n";
    let mut client = Client::start();
    client.open(NAME, text);
    let mut diagnostics = client.diagnostics(NAME);
    diagnostics[0]["data"].take();
    let range = diagnostics[0]["range"].clone();
    for (sent, only, expected) in [
        (json!(diagnostics), Value::Null, 2),
        (json!([]), Value::Null, 2),
        (json!([]), json!(["quickfix"]), 2),
        (json!([]), json!(["refactor"]), 0),
    ] {
        let mut context = json!({"diagnostics": sent});
        if !only.is_null() {
            context["only"] = only;
        }
        let params = json!({"textDocument": {"uri": NAME}, "range": range, "context": context});
        let actions = client.get("textDocument/codeAction", params);
        let actions = actions.as_array().expect("a list");
        assert_eq!(actions.len(), expected, "{context}: {actions:#?}");
        if let Some(first) = actions.first() {
            let edits = first["edit"]["documentChanges"][0]["edits"].as_array().expect("edits");
            assert!(apply(text, edits).contains("der(speed)"));
        }
    }
    client.end();
}

/// After a run start values that did not hold are told, with `fixed = true` for each of them, until the text changes.
#[test]
fn start_values_that_do_not_hold_are_told_after_a_run() {
    let text = "model Two\n  Real w1(start = 0);\n  Real w2(start = 10);\n  Real tau;\nequation\n  der(w1) = tau;\n  \
        4*der(w2) = -tau;\n  w1 = w2;\nend Two;\n";
    let mut client = Client::start();
    client.open(NAME, text);
    assert_eq!(client.diagnostics(NAME), [Value::Null; 0]);
    let run = json!({"command": "saltus.simulate", "arguments": [NAME, "Two"]});
    client.get("workspace/executeCommand", run);
    let found = client.wait_for(NAME, |_, found| !found.is_empty());
    assert_eq!(
        (found[0]["code"].as_str(), found[0]["severity"].as_u64()),
        (Some("W0601"), Some(2)),
        "{found:#?}"
    );
    let params = json!({"textDocument": {"uri": NAME}, "range": found[0]["range"], "context": {"diagnostics": found, "only": ["quickfix"]}});
    let actions = client.get("textDocument/codeAction", params);
    let mended: Vec<String> = actions
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|action| Some(apply(text, action["edit"]["documentChanges"][0]["edits"].as_array()?)))
        .collect();
    assert_eq!(mended.len(), 2, "{actions:#?}");
    assert!(mended[0].contains("w1(start = 0, fixed = true)") && mended[1].contains("w2(start = 10, fixed = true)"));
    // Of a model that is right again nothing is told.
    client.change(NAME, json!([{"text": mended[1]}]));
    assert_eq!(client.diagnostics(NAME), [Value::Null; 0]);
    client.end();
}

/// Runs that take long keep nobody from anything, and those whom commands return nothing to see are told in a message.
#[test]
fn nobody_waits_behind_a_run() {
    let text = "model Slow\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = cos(1e5*time);\n  \
        annotation(experiment(StopTime = 1e5, Interval = 1e4));\nend Slow;\nmodel Fast\n  Real y = time;\nend Fast;\n";
    let mut client = Client::start();
    client.open(NAME, text);
    let slow = json!({"command": "saltus.simulate", "arguments": [NAME, "Slow"]});
    let runs = [
        client.send("workspace/executeCommand", slow.clone()),
        client.send("workspace/executeCommand", slow),
    ];
    let symbols = client.get("textDocument/documentSymbol", json!({"textDocument": {"uri": NAME}}));
    assert_eq!(symbols[1]["name"], "Fast");
    for id in &runs {
        client.notify(
            "$/cancelRequest",
            json!({"id": id.to_string().parse::<i32>().expect("a number")}),
        );
        assert_eq!(client.wait(id).map_err(|(code, _)| code), Err(-32800));
    }
    client.get(
        "workspace/executeCommand",
        json!({"command": "saltus.simulate", "arguments": [NAME, "Fast"]}),
    );
    let told = client
        .notifications
        .iter()
        .filter(|sent| sent.method == "window/showMessage");
    let told: Vec<&Value> = told.map(|sent| &sent.params["message"]).collect();
    assert!(
        told.len() == 1 && told[0].as_str().is_some_and(|said| said.starts_with("Fast: simulated")),
        "{told:?}"
    );
    client.end();
}

/// What is wrong in another file of the workspace is mended there, and nothing is offered for a library.
#[test]
fn fixes_are_for_the_file_that_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    let library = tempfile::tempdir().expect("a folder");
    let part = "model Part\n  Real speed(start = 1, fixed = true);\nequation\n  der(spede) = 1;\nend Part;\n";
    std::fs::write(root.join("Part.mo"), part).expect("written");
    let other = part.replace("Part", "Other");
    std::fs::write(library.path().join("Other.mo"), other).expect("written");
    let params =
        json!({"rootUri": crate::client::uri(&root), "initializationOptions": {"libraries": [library.path()]}});
    let mut client = Client::with(params, Options::default());
    let user = crate::client::uri(&root.join("User.mo"));
    for (text, expected) in [
        ("model User\n  Part part;\nend User;\n", true),
        ("model User\n  Other other;\nend User;\n", false),
    ] {
        client.open(&user, text);
        let diagnostics = client.diagnostics(&user);
        assert_eq!(diagnostics[0]["range"]["start"]["line"], 1, "{diagnostics:#?}");
        let range = diagnostics[0]["range"].clone();
        let context = json!({"diagnostics": diagnostics});
        let params = json!({"textDocument": {"uri": user}, "range": range, "context": context});
        let actions = client.get("textDocument/codeAction", params);
        let mut edits = actions
            .as_array()
            .expect("a list")
            .iter()
            .filter(|action| !action["edit"].is_null());
        let Some(action) = edits.next() else {
            assert!(!expected, "{actions:#?}");
            continue;
        };
        assert!(expected, "{action:#?}");
        let change = &action["edit"]["documentChanges"][0];
        assert_eq!(change["textDocument"]["uri"], crate::client::uri(&root.join("Part.mo")));
        assert!(apply(part, change["edits"].as_array().expect("edits")).contains("der(speed)"));
    }
    client.end();
}
