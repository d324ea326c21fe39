//! Runs the models in `tests/lang`. Each file carries its expectations in comments at its top:
//!
//! - `// model M` — the class to flatten,
//! - `// unknowns N`, `// equations N` or `// equations N..M`,
//! - `// variable NAME`, `// no variable NAME` — a variable of the flat model,
//! - `// declaration TEXT` — a line of the printed declarations,
//! - `// equation TEXT` — a line of the printed equations and statements,
//! - `// error CODE TEXT`, `// warning CODE TEXT` — a diagnostic with this code whose message contains the text,
//! - `// nothing` — no diagnostic at all.
//!
//! A file may hold several such groups, each starting with `// model`.

use std::sync::Arc;

use saltus_lang::{FlattenOptions, Flattened, flatten};
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};
use saltus_testing::{Group, groups, modelica_files};

fn check(group: &Group, flattened: &Flattened) -> Vec<String> {
    let mut wrong = Vec::new();
    let messages: Vec<String> = flattened
        .diagnostics
        .iter()
        .map(|d| format!("{} {}", d.code, d.message))
        .collect();
    let expects_error = group.lines.iter().any(|(word, _)| word == "error");
    if flattened.model.is_none() && !expects_error {
        wrong.push(format!("not flattened: {messages:?}"));
        return wrong;
    }
    let text = flattened.model.as_ref().map(|m| m.to_string()).unwrap_or_default();
    let has_line = |wanted: &str| {
        text.lines()
            .any(|line| line.trim().trim_end_matches(';') == wanted.trim_end_matches(';'))
    };
    for (word, rest) in &group.lines {
        let model = flattened.model.as_ref();
        let ok = match word.as_str() {
            "nothing" => messages.is_empty(),
            "error" | "warning" => {
                let (code, part) = rest.split_once(' ').unwrap_or((rest, ""));
                messages.iter().any(|m| m.starts_with(code) && m.contains(part))
            }
            "unknowns" => model.is_some_and(|m| m.counts().unknowns.to_string() == *rest),
            "equations" => model.is_some_and(|m| {
                let counts = m.counts();
                let range = format!("{}..{}", counts.min_equations, counts.max_equations);
                range == *rest
                    || counts.min_equations == counts.max_equations && counts.max_equations.to_string() == *rest
            }),
            "variable" => model.is_some_and(|m| m.variables.iter().any(|v| &*v.name == rest.as_str())),
            "no" => {
                let name = rest.trim_start_matches("variable ");
                model.is_some_and(|m| m.variables.iter().all(|v| &*v.name != name))
            }
            "declaration" | "equation" => has_line(rest),
            _ => continue,
        };
        if !ok {
            wrong.push(format!("expected {word} {rest}"));
        }
    }
    if !wrong.is_empty() {
        let counts = flattened.model.as_ref().map(|m| m.counts());
        wrong.push(format!("{counts:?} {messages:?}\n{text}"));
    }
    wrong
}

#[test]
fn models_flatten_as_expected() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for file in modelica_files("tests/lang") {
        let text = std::fs::read_to_string(&file).unwrap();
        for group in groups(&text) {
            let sources = Arc::new(SourceMap::new());
            let library = Library::new(Arc::new(Disk), sources, Vec::new());
            library.add(&file);
            let flattened = flatten(&library, &group.model, &FlattenOptions::default());
            checked += 1;
            for message in check(&group, &flattened) {
                wrong.push(format!(
                    "{}: {}: {message}",
                    file.file_name().unwrap().to_string_lossy(),
                    group.model
                ));
            }
        }
    }
    assert!(checked > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every page on a code shows an example that produces it, and a fix that does not.
#[test]
fn pages_on_codes_are_right() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for code in saltus_source::codes::all() {
        let code = code.as_str();
        if !["E02", "E03", "E04", "W02"]
            .iter()
            .any(|prefix| code.starts_with(prefix))
        {
            continue;
        }
        // Said of a model as a whole, or of its text.
        if ["W0209", "W0210"].contains(&code) {
            continue;
        }
        let explanation = saltus_source::codes::explain(code).unwrap();
        let fix = saltus_source::codes::first_fenced_block(explanation.fix).unwrap_or("");
        for (text, expected) in [(explanation.example, true), (fix, false)] {
            let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
            library.add_text("example.mo", text);
            let flattened = flatten(&library, "M", &FlattenOptions::default());
            let codes: Vec<&str> = flattened.diagnostics.iter().map(|d| d.code.as_str()).collect();
            checked += 1;
            if codes.contains(&code) != expected || !expected && !codes.is_empty() {
                let messages: Vec<String> = flattened
                    .diagnostics
                    .iter()
                    .map(|d| format!("{} {}", d.code, d.message))
                    .collect();
                wrong.push(format!("{code} (expected: {expected}): {messages:?}"));
            }
        }
    }
    assert!(checked > 40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What scripts rely on in the JSON form.
#[test]
fn json_has_counts_and_provenance() {
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    library.add_text(
        "m.mo",
        "model M\n  parameter Real k = 2;\n  Real x(start = 1);\nequation\n  der(x) = -k*x;\nend M;\n",
    );
    let model = flatten(&library, "M", &FlattenOptions::default()).model.unwrap();
    let json = model.to_json();
    assert_eq!(json["unknowns"], 1);
    assert_eq!(json["equations"], 1);
    assert_eq!(json["variables"][0]["binding"], 2.0);
    assert_eq!(json["equation_list"][0]["text"], "der(x) = -k * x");
    assert_eq!(json["equation_list"][0]["from"]["kind"], "equation");
}
