//! Definitions, references, renaming, hover, outlines, colours, hints and lenses on a marked fixture.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, apply, offset, place, position, slice, uri};

const TEXT: &str = include_str!("fixtures/Shafts.mo");
const NAME: &str = "untitled:Shafts.mo";

fn opened() -> Client {
    let mut client = Client::start();
    client.open(NAME, TEXT);
    client
}

fn at(mark: &str) -> Value {
    json!({"textDocument": {"uri": NAME}, "position": place(TEXT, mark)})
}

fn in_document() -> Value {
    json!({"textDocument": {"uri": NAME}})
}

/// The offset right behind a mark.
fn behind(mark: &str) -> usize {
    offset(TEXT, &place(TEXT, mark))
}

#[test]
fn definitions_lead_to_declarations() {
    let mut client = opened();
    for (from, to) in [
        ("w1use", "w1"),
        ("modifier", "J"),
        ("call", "function"),
        ("end", "end"),
        ("inner", "inner"),
        ("literal", "literal"),
        ("argument", "argument"),
        ("index", "index"),
    ] {
        let found = client.get("textDocument/definition", at(from));
        let found = &found.as_array().unwrap_or_else(|| panic!("{from}"))[0];
        let start = offset(TEXT, &found["range"]["start"]);
        let expected = match to {
            "end" => TEXT.find("User\n").expect("the model"),
            "inner" => TEXT.find("Flange f;").expect("the connector") + "Flange ".len(),
            "literal" => TEXT.find("high \"fast\"").expect("the literal"),
            "argument" => TEXT.find("factor = 1").expect("the input"),
            "index" => TEXT.find("i in 1:2").expect("the loop"),
            mark => behind(mark),
        };
        assert_eq!(start, expected, "{from}");
    }
    let found = client.get("textDocument/typeDefinition", at("w1use"));
    assert_eq!(slice(TEXT, &found[0]["range"]), "Speed");
    assert_eq!(
        client.get(
            "textDocument/definition",
            json!({"textDocument": {"uri": NAME}, "position": {"line": 0, "character": 30}})
        ),
        Value::Null
    );
    client.end();
}

#[test]
fn the_library_is_at_hand() {
    let mut client = Client::start();
    let text = "model M Saltus.Electrical./*^r*/Resistor r(/*^R*/R = 2); end M;";
    client.open("untitled:M.mo", text);
    let asked = |mark: &str| json!({"textDocument": {"uri": "untitled:M.mo"}, "position": place(text, mark)});
    let found = client.get("textDocument/definition", asked("r"));
    let target = found[0]["uri"].as_str().expect("a file").to_owned();
    assert_eq!(target, "saltus-library:/Saltus/Electrical.mo");
    let content = client.get("workspace/textDocumentContent", json!({"uri": target}));
    assert!(slice(content["text"].as_str().expect("a text"), &found[0]["range"]) == "Resistor");
    let said = client.get("textDocument/hover", asked("R"));
    let said = said["contents"]["value"].as_str().expect("a text");
    assert!(said.contains("parameter") && said.contains("Ohm"), "{said}");
    // Nothing but the library is read for whoever asks.
    assert_eq!(
        client.get("workspace/textDocumentContent", json!({"uri": "file:///etc/passwd"})),
        Value::Null
    );
    let refused = client.ask(
        "textDocument/rename",
        json!({
            "textDocument": {"uri": "untitled:M.mo"}, "position": place(text, "r"), "newName": "Other",
        }),
    );
    assert!(refused.expect_err("refused").1.contains("not part of the workspace"));
    client.end();
}

fn hover(client: &mut Client, mark: &str) -> String {
    let found = client.get("textDocument/hover", at(mark));
    found["contents"]["value"]
        .as_str()
        .unwrap_or_else(|| panic!("nothing at {mark}"))
        .to_owned()
}

#[test]
fn hover_says_what_is_declared() {
    let mut client = opened();
    let said = hover(&mut client, "modifier");
    for part in [
        "parameter Real J(unit = \"kg.m2\") = 1",
        "Moment of inertia",
        "unit `kg.m2`",
        "value `1`",
        "Shafts.Inertia",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(hover(&mut client, "w1use").contains("unit `rad/s`"));
    let said = hover(&mut client, "call");
    assert!(
        said.contains("function Shafts.ratio")
            && said.contains("How fast")
            && said.contains("in `input Gear gear`: The gear"),
        "{said}"
    );
    assert!(hover(&mut client, "literal").contains("fast"));
    client.end();
}

#[test]
fn hover_says_what_modes_do() {
    let mut client = opened();
    let said = hover(&mut client, "if");
    assert!(said.contains("| `engaged` | 1 | 1") && said.contains("| 2 |"), "{said}");
    assert!(said.contains("| `else` | 1 | 2: w1, w2 | 1 |"), "{said}");
    let said = hover(&mut client, "tau");
    assert!(said.contains("Impulsive when `time >= 1` becomes true"), "{said}");
    let said = hover(&mut client, "w1use");
    assert!(
        said.contains("State in") && said.contains("May jump when `time >= 1` becomes true"),
        "{said}"
    );
    let said = hover(&mut client, "model");
    assert!(said.contains("2 modes, 1–2 states, index 1–2"), "{said}");
    assert!(said.contains("4 equations for 4 unknowns"), "{said}");
    client.end();
}

#[test]
fn references_and_highlights_are_all_and_only_those() {
    let mut client = opened();
    let mut params = at("w1use");
    params["context"] = json!({"includeDeclaration": true});
    let found = client.get("textDocument/references", params.clone());
    let expected = TEXT
        .match_indices("w1")
        .filter(|(at, _)| !TEXT[..*at].ends_with('^'))
        .count();
    assert_eq!(found.as_array().expect("a list").len(), expected, "{found:#}");
    params["context"] = json!({"includeDeclaration": false});
    let found = client.get("textDocument/references", params);
    assert_eq!(found.as_array().expect("a list").len(), expected - 1);
    let found = client.get("textDocument/documentHighlight", at("modifier"));
    let found: Vec<usize> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|h| offset(TEXT, &h["range"]["start"]))
        .collect();
    assert_eq!(
        found,
        [
            behind("J"),
            TEXT.find("J*der(f").expect("the equation"),
            behind("modifier")
        ]
    );
    client.end();
}

fn renamed(client: &mut Client, mark: &str, new: &str) -> Result<String, String> {
    let mut params = at(mark);
    params["newName"] = json!(new);
    let edit = client.ask("textDocument/rename", params).map_err(|(_, text)| text)?;
    let changes = edit["documentChanges"].as_array().expect("changes");
    assert_eq!(changes.len(), 1, "{edit:#}");
    assert_eq!(changes[0]["textDocument"], json!({"uri": NAME, "version": 1}));
    Ok(apply(TEXT, changes[0]["edits"].as_array().expect("edits")))
}

#[test]
fn renaming_changes_names_and_no_meanings() {
    let mut client = opened();
    let text = renamed(&mut client, "modifier", "inertia").expect("renamed");
    assert!(
        text.contains("inertia*der(f.w)") && text.contains("/*^modifier*/inertia = 2") && text.contains("J1*der"),
        "{text}"
    );
    let text = renamed(&mut client, "end", "Consumer").expect("renamed");
    assert!(
        text.contains("model Consumer") && text.contains("end /*^end*/Consumer;"),
        "{text}"
    );
    let text = renamed(&mut client, "literal", "top").expect("renamed");
    assert!(
        text.contains("enumeration(low \"slow\", top \"fast\")") && text.contains("Gear./*^literal*/top"),
        "{text}"
    );
    let text = renamed(&mut client, "index", "k").expect("renamed");
    assert!(
        text.contains("for k in 1:2") && text.contains("assert(k > 0") && text.contains("String(/*^index*/k)"),
        "{text}"
    );
    // Refused: no names, names that are taken, names of the language.
    for (mark, new) in [
        ("w1use", "w2"),
        ("w1use", "2x"),
        ("w1use", "model"),
        ("modifier", "f"),
        ("call", "Inertia"),
    ] {
        let refused = renamed(&mut client, mark, new);
        assert!(refused.is_err(), "{mark} to {new}");
    }
    // A name that another one would be hidden by.
    let text = "model A Real x; model B Real y = x; end B; B b; end A;"
        .replace("model B Real y", "model B constant Real /*^y*/y");
    let text = text.replace("Real x", "constant Real x = 1");
    client.open("untitled:A.mo", &text);
    let asked = json!({"textDocument": {"uri": "untitled:A.mo"}, "position": place(&text, "y"), "newName": "x"});
    let refused = client.ask("textDocument/rename", asked).expect_err("hidden");
    assert!(refused.1.contains("would mean something else"), "{refused:?}");
    // What a redeclaration brings is not seen from the classes alone.
    let text = "package P partial model Base end Base; model Part extends Base; Real /*^x*/x = 1; end Part;
        model Frame replaceable Base b; end Frame; model Whole extends Frame(redeclare Part b); Real y = b.x; end Whole; end P;";
    client.open("untitled:P.mo", text);
    let asked = json!({"textDocument": {"uri": "untitled:P.mo"}, "position": place(text, "x"), "newName": "z"});
    let refused = client.ask("textDocument/rename", asked).expect_err("not clear");
    assert!(refused.1.contains("might be this one"), "{refused:?}");
    let text = text
        .replace("model Base end Base", "model Base replaceable Real x; end Base")
        .replace("Real /*^x*/x", "redeclare Real /*^x*/x");
    client.open("untitled:P.mo", &text);
    let asked = json!({"textDocument": {"uri": "untitled:P.mo"}, "position": place(&text, "x"), "newName": "z"});
    let edit = client.get("textDocument/rename", asked);
    let renamed = apply(&text, edit["documentChanges"][0]["edits"].as_array().expect("edits"));
    assert!(
        renamed.contains("replaceable Real z") && renamed.contains("redeclare Real /*^x*/z") && renamed.contains("b.z"),
        "{renamed}"
    );
    let prepared = client.get("textDocument/prepareRename", at("call"));
    assert_eq!(prepared["placeholder"], "ratio");
    client.end();
}

#[test]
fn classes_are_renamed_with_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, text).expect("written");
    };
    write("P/package.mo", "package P\nend P;\n");
    write("P/package.order", "Part\nSub\nWhole\n");
    write("P/Part.mo", "within P;\nmodel Part Real x = 1; end Part;\n");
    write(
        "P/Whole.mo",
        "within P;\nmodel Whole Part a; P.Part b; P.Sub.Deep c; end Whole;\n",
    );
    write("P/Sub/package.mo", "within P;\npackage Sub\nend Sub;\n");
    write("P/Sub/package.order", "Deep\n");
    write("P/Sub/Deep.mo", "within P.Sub;\nmodel Deep extends P.Part; end Deep;\n");
    let mut client = Client::in_folder(&root);
    let part = uri(&root.join("P/Part.mo"));
    let text = std::fs::read_to_string(root.join("P/Part.mo")).expect("read");
    client.open(&part, &text);
    let class = position(&text, text.find("Part Real").expect("the class"));
    let edit = client.get(
        "textDocument/rename",
        json!({"textDocument": {"uri": part}, "position": class, "newName": "Piece"}),
    );
    carry_out(&edit);
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_else(|_| panic!("{name}"));
    assert!(!root.join("P/Part.mo").exists());
    assert_eq!(read("P/Piece.mo"), "within P;\nmodel Piece Real x = 1; end Piece;\n");
    assert_eq!(read("P/package.order"), "Piece\nSub\nWhole\n");
    assert_eq!(
        read("P/Whole.mo"),
        "within P;\nmodel Whole Piece a; P.Piece b; P.Sub.Deep c; end Whole;\n"
    );
    assert_eq!(
        read("P/Sub/Deep.mo"),
        "within P.Sub;\nmodel Deep extends P.Piece; end Deep;\n"
    );
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": part}}));
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));

    // A folder, with the `within` clauses of what is inside.
    let deep = uri(&root.join("P/Sub/Deep.mo"));
    let text = read("P/Sub/Deep.mo");
    client.open(&deep, &text);
    let class = position(&text, text.find("Sub;").expect("the package"));
    let edit = client.get(
        "textDocument/rename",
        json!({"textDocument": {"uri": deep}, "position": class, "newName": "Inner"}),
    );
    carry_out(&edit);
    assert_eq!(
        read("P/Inner/Deep.mo"),
        "within P.Inner;\nmodel Deep extends P.Piece; end Deep;\n"
    );
    assert_eq!(read("P/Inner/package.mo"), "within P;\npackage Inner\nend Inner;\n");
    assert_eq!(read("P/package.order"), "Piece\nInner\nWhole\n");
    assert!(read("P/Whole.mo").contains("P.Inner.Deep c"));
    // The result is right.
    let session = saltus::Session::new();
    session.add_file(root.join("P"));
    let checked = session.check_all(false);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    client.end();
}

/// Does what an editor does with an edit of the workspace.
fn carry_out(edit: &Value) {
    let path =
        |uri: &Value| Path::new(uri.as_str().expect("a name").strip_prefix("file://").expect("a file")).to_owned();
    for change in edit["documentChanges"].as_array().expect("changes") {
        if change["kind"] == "rename" {
            std::fs::rename(path(&change["oldUri"]), path(&change["newUri"])).expect("renamed");
        } else {
            let file = path(&change["textDocument"]["uri"]);
            let text = std::fs::read_to_string(&file).expect("read");
            std::fs::write(&file, apply(&text, change["edits"].as_array().expect("edits"))).expect("written");
        }
    }
}

#[test]
fn outlines() {
    let mut client = opened();
    let symbols = client.get("textDocument/documentSymbol", in_document());
    let package = &symbols[0];
    assert_eq!(package["name"], "Shafts");
    let names: Vec<&str> = package["children"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|c| c["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["Speed", "Gear", "ratio", "Flange", "Inertia", "Clutched", "User"]
    );
    let found = client.get("workspace/symbol", json!({"query": "clu"}));
    let found: Vec<&str> = found
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(found, ["Clutched"]);
    let folds = client.get("textDocument/foldingRange", in_document());
    let lines = TEXT.lines().count() as u64;
    let folds: Vec<(u64, u64)> = folds
        .as_array()
        .expect("a list")
        .iter()
        .map(|fold| {
            (
                fold["startLine"].as_u64().expect("a line"),
                fold["endLine"].as_u64().expect("a line"),
            )
        })
        .collect();
    assert!(
        folds.contains(&(0, lines - 1)) && folds.len() > 10 && folds.iter().all(|(from, to)| from < to && *to < lines)
    );
    let mut params = in_document();
    params["positions"] = json!([place(TEXT, "inner")]);
    let mut selection = &client.get("textDocument/selectionRange", params)[0];
    let mut texts = Vec::new();
    while !selection.is_null() {
        texts.push(slice(TEXT, &selection["range"]));
        selection = &selection["parent"];
    }
    assert_eq!(texts.first(), Some(&"f"));
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with("connect(") && text.ends_with(')')),
        "{texts:?}"
    );
    assert_eq!(texts.last(), Some(&TEXT));
    assert!(
        texts
            .windows(2)
            .all(|pair| pair[1].contains(pair[0]) && pair[0].len() < pair[1].len())
    );
    client.end();
}

#[test]
fn colours_hints_and_lenses() {
    let mut client = opened();
    let tokens = client.get("textDocument/semanticTokens/full", in_document());
    let data: Vec<u64> = tokens["data"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    let legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let (mut line, mut character, mut found) = (0, 0, Vec::new());
    for token in data.chunks(5) {
        character = if token[0] == 0 { character + token[1] } else { token[1] };
        line += token[0];
        let start = offset(TEXT, &json!({"line": line, "character": character}));
        let end = offset(TEXT, &json!({"line": line, "character": character + token[2]}));
        found.push((&TEXT[start..end], legend[token[3] as usize].as_str().expect("a kind")));
    }
    for expected in [
        ("Shafts", "namespace"),
        ("Flange", "interface"),
        ("Gear", "enum"),
        ("high", "enumMember"),
        ("ratio", "function"),
        ("J", "parameter"),
        ("tau", "variable"),
        ("der", "function"),
        ("w", "property"),
    ] {
        assert!(found.contains(&expected), "{expected:?}: {found:?}");
    }
    let mut params = in_document();
    params["range"] = json!({"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}});
    let hints = client.get("textDocument/inlayHint", params);
    let hints: Vec<&str> = hints
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|hint| hint["label"].as_str())
        .collect();
    assert_eq!(
        hints,
        ["[rad/s]", "[rad/s]", "[rad/s]"],
        "of `w`, `w1` and `w2`; `tau` has its own"
    );

    // Lenses know the modes once the analysis is done.
    client.get("textDocument/hover", at("model"));
    let lenses = client.get("textDocument/codeLens", in_document());
    let titles: Vec<&str> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|lens| lens["command"]["title"].as_str())
        .collect();
    assert!(
        titles.contains(&"Analyze (2 modes, 1–2 states, index 1–2)"),
        "{titles:?}"
    );
    assert!(titles.contains(&"states 1 | 2 · index 2 | 1"), "{titles:?}");
    assert_eq!(titles.iter().filter(|title| **title == "Simulate").count(), 3);
    client.end();
}

#[test]
fn arrays_show_their_sizes() {
    let text = "model M\n  parameter Integer n = 3;\n  Real x[n], y[2], z[:, n] = ones(2*n, n);\n  \
        parameter Real[n + 1] k = 1:n + 1;\nequation\n  der(x) = k[2:end];\n  y = {1, 2};\nend M;\n";
    let mut client = Client::start();
    client.open(NAME, text);
    let model = json!({"textDocument": {"uri": NAME}, "position": {"line": 0, "character": 6}});
    client.get("textDocument/hover", model);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints = client.get(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": NAME}, "range": range}),
    );
    let hints: Vec<(&str, u64)> = hints
        .as_array()
        .expect("a list")
        .iter()
        .map(|hint| {
            let character = hint["position"]["character"].as_u64();
            (hint["label"].as_str().expect("a label"), character.expect("a place"))
        })
        .collect();
    assert_eq!(hints, [("[3]", 11), ("[6, 3]", 26), ("[4]", 25)], "`y` says it itself");
    client.end();
}

#[test]
fn commands_flatten_analyse_simulate_and_explain() {
    let mut client = opened();
    let mut execute = |command: &str, arguments: Value| {
        client.ask(
            "workspace/executeCommand",
            json!({"command": command, "arguments": arguments}),
        )
    };
    let flat = execute("saltus.flatten", json!([NAME, "Shafts.Clutched"])).expect("flat");
    assert!(flat["text"].as_str().expect("a text").contains("der(w1)"));
    let analysis = execute("saltus.analyze", json!([NAME, "Shafts.Clutched"])).expect("analysed");
    assert!(analysis["svg"].as_str().expect("a picture").starts_with("<svg") && analysis["analysis"].is_object());
    let run = execute("saltus.simulate", json!([NAME, "Shafts.Clutched"])).expect("simulated");
    assert!(run["svg"].as_str().expect("a picture").contains("<svg"), "{run:.300}");
    assert!(run["page"].as_str().expect("a report").starts_with("<!doctype html>"));
    assert!(run["failure"].is_null(), "{run:.300}");
    let page = execute("saltus.explain", json!(["E0201"])).expect("explained");
    assert!(
        page["code"] == "E0201" && page["text"].as_str().expect("a page").contains("## Fix"),
        "{page:#}"
    );
    let models = execute("saltus.models", json!([NAME])).expect("models");
    let models = models.as_array().expect("a list");
    let clutched = models
        .iter()
        .find(|entry| entry["model"] == "Shafts.Clutched")
        .expect("there");
    let line = TEXT
        .lines()
        .position(|line| line.contains("Clutched \"With an ideal clutch\""))
        .expect("a line");
    assert_eq!(clutched["range"]["start"]["line"], line);
    assert_eq!(
        execute("saltus.models", json!(["untitled:Nothing.mo"])).expect("none"),
        json!([])
    );
    assert!(execute("saltus.flatten", json!([NAME, "Shafts.Nothing"])).is_err());
    assert!(execute("saltus.flatten", json!([7])).is_err());
    assert!(execute("rm", json!([NAME, "Shafts.Clutched"])).is_err());
    client.end();
}

#[test]
fn units_of_expressions_are_shown() {
    let text = "model M\n  parameter Real m(unit = \"kg\") = 2;\n  Real v(unit = \"m/s\", start = 1, fixed = true);\n  \
        Real p = m*v \"momentum\";\n  Real q[2];\n  Real n = 2*time;\nequation\n  m*der(v) = -p/(1 + time);\n  \
        q = {p + m*v, p};\nend M;\n";
    let mut client = Client::start();
    client.open(NAME, text);
    // Once the model has been looked at.
    let sign = position(text, text.find("*v, p").expect("there"));
    let at_sign = json!({"textDocument": {"uri": NAME}, "position": sign});
    let hover = client.get("textDocument/hover", at_sign.clone());
    assert!(
        hover["contents"]["value"]
            .as_str()
            .is_some_and(|said| said.contains("unit `kg.m/s`")),
        "{hover}"
    );
    let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let ask = json!({"textDocument": {"uri": NAME}, "range": everything});
    let labels = |hints: &Value| -> Vec<(u64, String)> {
        let hints = hints.as_array().expect("a list");
        let label = |hint: &Value| hint["label"].as_str().expect("a label").to_owned();
        hints
            .iter()
            .map(|hint| (hint["position"]["line"].as_u64().expect("a line"), label(hint)))
            .collect()
    };
    let found = labels(&client.get("textDocument/inlayHint", ask.clone()));
    let expected = [(3, "[kg.m/s]"), (3, "[kg.m/s]"), (4, "[kg.m/s]"), (7, "[N]")];
    assert_eq!(found, expected.map(|(line, label)| (line, label.to_owned())));
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"saltus": {"inlayHints": {"units": false, "expressions": false}}}}),
    );
    client.get("textDocument/hover", at_sign);
    assert_eq!(labels(&client.get("textDocument/inlayHint", ask)), []);
    client.end();
}

#[test]
fn units_are_written_as_the_model_writes_them() {
    // (how the torque is declared, what the equation of motion is in)
    for (declared, expected) in [
        ("Real tau(unit = \"N.m\")", "N.m"),
        ("Real tau(unit = \"J\")", "J"),
        ("Torque tau", "N.m"),
        ("Real tau(unit = \"N.m\"); Real e(unit = \"J\") = 1", "N.m"),
        ("Real tau", "J"),
    ] {
        let text = format!(
            "model M\n  type Torque = Real(unit = \"N.m\");\n  parameter Real J(unit = \"kg.m2\") = 2, d(unit = \"N.m.s/rad\") = 1;\n  \
             Real w(unit = \"rad/s\", start = 1, fixed = true);\n  {declared};\n  Real free;\nequation\n  \
             J*der(w) = tau - d*w;\n  tau = 0;\n  free = w;\nend M;\n"
        );
        let mut client = Client::start();
        client.open(NAME, &text);
        let mut said = |mark: &str, behind: usize| {
            let place = position(&text, text.find(mark).expect("there") + behind);
            let found = client.get(
                "textDocument/hover",
                json!({"textDocument": {"uri": NAME}, "position": place}),
            );
            found["contents"]["value"].as_str().unwrap_or_default().to_owned()
        };
        let sign = said("- d*w", 0);
        assert!(sign.contains(&format!("unit `{expected}`")), "{declared}: {sign}");
        assert!(said("free;", 1).contains("Unit `1/s`, from equations."), "{declared}");
        assert!(said("Torque =", 1).contains("unit `N.m`"), "{declared}");
        client.end();
    }
}

/// Names by which `inner` and `outer` find each other change together, in all files; not where a library looks for the old one.
#[test]
fn inner_and_outer_are_renamed_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    let library = tempfile::tempdir().expect("a folder");
    let write = |path: std::path::PathBuf, text: &str| std::fs::write(path, text).expect("written");
    write(
        library.path().join("Lib.mo"),
        "package Lib\n  model World parameter Real g = 9.81; annotation(defaultComponentName = \"world\", \
         defaultComponentPrefixes = \"inner\"); end World;\n  model Body outer World world; Real a = world.g; end Body;\nend Lib;\n",
    );
    write(
        root.join("Part.mo"),
        "model Part outer Real level; Real y = 2*level; end Part;\n",
    );
    let whole = "model Whole\n  inner Real level = 3;\n  Part part;\n  inner Lib.World world(g = 1);\n  Lib.Body body;\n  \
                 Real level2 = level;\nend Whole;\n";
    write(root.join("Whole.mo"), whole);
    let params = json!({"rootUri": uri(&root), "initializationOptions": {"libraries": [library.path()]}});
    let mut client = Client::with(params, saltus_lsp::Options::default());
    let name = uri(&root.join("Whole.mo"));
    client.open(&name, whole);
    assert_eq!(client.diagnostics(&name), [Value::Null; 0]);
    let mut rename = |what: &str, new: &str| {
        let place = position(whole, whole.find(what).expect("there"));
        client.ask(
            "textDocument/rename",
            json!({"textDocument": {"uri": name}, "position": place, "newName": new}),
        )
    };
    // Nothing would be wrong, but the body would have a world of its own.
    let (_, reason) = rename("world(g", "earth").expect_err("the library looks for it");
    assert!(reason.contains("world"), "{reason}");
    let edit = rename("level2 =", "height").expect("this one is nobody else's");
    assert_eq!(edit["documentChanges"].as_array().expect("changes").len(), 1);
    let edit = rename("level;", "height").expect("both");
    carry_out(&edit);
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect("read");
    assert_eq!(
        read("Part.mo"),
        "model Part outer Real height; Real y = 2*height; end Part;\n"
    );
    assert_eq!(
        read("Whole.mo"),
        whole
            .replace("Real level =", "Real height =")
            .replace("= level;", "= height;")
    );
    client.end();
}
