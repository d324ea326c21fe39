//! Completion and signatures in text that is unfinished.

use serde_json::{Value, json};

use crate::client::{Client, offset, place, position};

const NAME: &str = "untitled:C.mo";

/// Text with `|` at the place, inside a package that declares a few things.
fn labels(client: &mut Client, text: &str) -> Vec<String> {
    let items = items(client, text);
    items
        .iter()
        .filter_map(|item| item["label"].as_str().map(str::to_owned))
        .collect()
}

fn items(client: &mut Client, text: &str) -> Vec<Value> {
    let at = text.find('|').expect("a place");
    let text = text.replace('|', "");
    client.open(NAME, &text);
    let params = json!({"textDocument": {"uri": NAME}, "position": position(&text, at)});
    let found = client.get("textDocument/completion", params);
    found["items"].as_array().cloned().unwrap_or_default()
}

const HEAD: &str = "package P
  type Gear = enumeration(low, high);
  connector Pin Real v; flow Real i; end Pin;
  partial model Base Pin p; protected Real hidden; end Base;
  model Part extends Base; parameter Real R(unit = \"Ohm\") = 1; parameter Gear gear = Gear.low; end Part;
  function f input Real first; input Gear second; output Real y; algorithm y := first; end f;
";

#[test]
fn what_could_be_written() {
    let mut client = Client::start();
    let tail = "\n end M;\nend P;\n";
    for (written, with, without) in [
        // Members behind a dot, also of what is inherited; nothing protected.
        (
            "model M Part a; equation a.|",
            &["R", "p", "gear"][..],
            &["hidden", "Part", "if"][..],
        ),
        ("model M Part a; equation a.p.|;", &["v", "i"], &["R"]),
        ("model M Part a[3]; equation a[1].p.v + a[a[2].R].|;", &["R"], &["v"]),
        ("model M Part a; equation a.p.v = a.p|;", &["p"], &["v"]),
        ("model M Gear g = Gear.|;", &["low", "high"], &["M"]),
        ("model M Saltus.|", &["Electrical", "Rotational"], &["M"]),
        ("model M Real x = StateSelect.|", &["prefer"], &[]),
        // Types and words where a declaration begins.
        (
            "model M |",
            &["Part", "Pin", "Real", "parameter", "extends", "Saltus", "equation"],
            &["sin"],
        ),
        ("model M Part a; Re|", &["Real"], &[]),
        // Names in scope in equations.
        (
            "model M Part a; Real x; equation x = |;",
            &["a", "x", "sin", "time", "f"],
            &["parameter"],
        ),
        (
            "model M Part a; equation |",
            &["a", "if", "when", "connect", "end"],
            &["parameter"],
        ),
        ("model M extends Base; equation |", &["p", "hidden"], &[]),
        // Modifiers in parentheses, and what may be a value there.
        (
            "model M Part a(|",
            &["R", "gear", "p", "each", "redeclare"],
            &["hidden", "sin"],
        ),
        ("model M Part a(R = 1, |), b;", &["gear"], &["sin"]),
        ("model M Part a(R(|", &["unit", "start", "min"], &["gear"]),
        ("model M Real x(|", &["start", "fixed", "unit", "stateSelect"], &["sin"]),
        ("model M extends Part(|", &["R", "gear"], &["hidden"]),
        ("model M Part a(gear = |", &["P.Gear.low", "P.Gear.high"], &[]),
        ("model M Gear g = |;", &["P.Gear.low"], &[]),
        ("model M Real x(stateSelect = |", &["StateSelect.prefer"], &[]),
        ("model M Gear g; equation g = |;", &["P.Gear.high", "g"], &[]),
        ("model M type T = Real(|", &["unit"], &["sin"]),
        // Arguments of functions.
        ("model M Real x = f(|", &["first =", "second =", "x"], &[]),
        ("model M Real x; equation x = f(1, |);", &["second =", "x"], &[]),
        // Imports, ends, annotations.
        ("model M import |", &["Saltus", "P"], &["Real"]),
        ("model M import Saltus.|;", &["Electrical"], &["M"]),
        ("model M Real x; equation x = 1; end |", &["M", "if"], &["x"]),
        ("model M Real x annotation(|", &["Evaluate", "Dialog"], &["x"]),
        // Nothing in comments and strings.
        ("model M Real x; // x.|", &[], &["x", "M"]),
        ("model M String s = \"x.|\";", &[], &["M"]),
    ] {
        let found = labels(&mut client, &format!("{HEAD}  {written}{tail}"));
        for label in with {
            assert!(
                found.iter().any(|found| found == label),
                "{written}: no {label} in {found:?}"
            );
        }
        for label in without {
            assert!(found.iter().all(|found| found != label), "{written}: {label}");
        }
    }
    let found = labels(&mut client, "|");
    assert!(found.iter().any(|label| label == "model") && found.iter().any(|label| label == "model …"));
    client.end();
}

#[test]
fn the_word_that_was_begun_is_replaced() {
    let mut client = Client::start();
    let text = format!("{HEAD} model M Part part; equation part.ge| = 1; end M; end P;");
    let found = items(&mut client, &text);
    let gear = found.iter().find(|item| item["label"] == "gear").expect("gear");
    let text = text.replace('|', "");
    let range = &gear["textEdit"]["range"];
    assert_eq!(
        &text[offset(&text, &range["start"])..offset(&text, &range["end"])],
        "ge"
    );
    let resolved = client.get("completionItem/resolve", gear.clone());
    assert_eq!(resolved["label"], "gear");
    let found = items(&mut client, "model M Saltus.| end M;");
    let package = found
        .iter()
        .find(|item| item["label"] == "Electrical")
        .expect("Electrical")
        .clone();
    let resolved = client.get("completionItem/resolve", package);
    assert!(
        resolved["documentation"]["value"]
            .as_str()
            .expect("a text")
            .contains("package Saltus.Electrical")
    );
    client.end();
}

#[test]
fn signatures_follow_the_argument() {
    let mut client = Client::start();
    for (written, label, active) in [
        ("x = f(|", "f(Real first, Gear second)", 0),
        ("x = f(1, |)", "f(Real first, Gear second)", 1),
        ("x = f(second = |)", "f(Real first, Gear second)", 1),
        ("x = sin(f(1, Gear.low), |", "sin(u)", 0),
        ("x = 1 + f(max(1, 2), |", "f(Real first, Gear second)", 1),
        ("reinit(x, |", "reinit(x, expr)", 1),
    ] {
        let text = format!("{HEAD} model M Real x; equation {written};/*^*/ end M; end P;");
        let at = text.find('|').expect("a place");
        let text = text.replace('|', "");
        client.open(NAME, &text);
        let found = client.get(
            "textDocument/signatureHelp",
            json!({"textDocument": {"uri": NAME}, "position": position(&text, at)}),
        );
        assert_eq!(found["signatures"][0]["label"], label, "{written}");
        assert_eq!(found["activeParameter"], active, "{written}");
        let none = client.get(
            "textDocument/signatureHelp",
            json!({"textDocument": {"uri": NAME}, "position": place(&text, "")}),
        );
        assert_eq!(none, Value::Null, "{written}");
    }
    client.end();
}
