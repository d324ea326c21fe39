//! The models of the papers: `analyze` names what the papers name, in text and in JSON.
//!
//! A model carries its expectations in lines like
//!
//! ```text
//! // analyze: mode tight: index 3; states x, vx
//! // analyze: not tight -> tight: accepted; height 1; impulses lambda 1; says `vx` and `vy` may jump
//! ```
//!
//! Items of a mode are `index`, `states`, `dead`, `transient` and `singular in numbers`; items of a change are `accepted` or `refused` with the
//! verdict, `verdict`, `method`, `height`, `jumps`, `impulses` with their orders, `facts`, `disabled`, `undetermined`,
//! `through` for a transient mode, and `says` with a part of the explanation. In `says`, `;` separates items too.

use std::path::Path;

use saltus::Session;
use saltus::analysis::{AnalysisOptions, Coverage};
use saltus_testing::{modelica_files, repository};
use serde_json::Value;

/// The analysis of the last model of a file.
struct Analysed {
    text: String,
    json: Value,
}

fn analyse(path: &Path) -> Analysed {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(path);
    let name = session.find_model(None).into_result().expect("a model");
    let model = session.compile(&name).into_result().expect("a sound model");
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::All,
        ..AnalysisOptions::default()
    });
    Analysed {
        text: analysis.to_text(session.sources()),
        json: analysis.to_json(session.sources()),
    }
}

/// `not tight, engaged`, as the text writes a mode.
fn valuation(mode: &Value) -> String {
    let atoms = mode["valuation"].as_object().expect("an object").iter();
    let atom = |(name, value): (&String, &Value)| match (value.as_bool(), name.contains(' ')) {
        (Some(true), _) => name.clone(),
        (_, false) => format!("not {name}"),
        (_, true) => format!("not ({name})"),
    };
    atoms.map(atom).collect::<Vec<_>>().join(", ")
}

fn list(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap_or_default().to_owned()).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(',')
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, wanted: T) -> Result<(), String> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, expected {wanted:?}"))
    }
}

impl Analysed {
    fn mode(&self, wanted: &str) -> Result<&Value, String> {
        let modes = self.json["modes"].as_array().expect("modes");
        let found = modes.iter().find(|mode| valuation(mode) == wanted);
        found.ok_or_else(|| {
            let known: Vec<String> = modes.iter().map(valuation).collect();
            format!("no mode `{wanted}`; there are {known:?}")
        })
    }

    fn change(&self, from: &str, to: &str) -> Result<&Value, String> {
        let (from, to) = (&self.mode(from)?["mode"], &self.mode(to)?["mode"]);
        let mut changes = self.json["changes"].as_array().expect("changes").iter();
        let found = changes.find(|change| (&change["from"], &change["to"]) == (from, to));
        found.ok_or_else(|| format!("no change from {from} to {to}"))
    }

    fn check(&self, line: &str) -> Result<(), String> {
        let (subject, items) = line.split_once(": ").ok_or("no `: `")?;
        let items: Vec<&str> = items.split(';').map(str::trim).collect();
        if let Some(mode) = subject.strip_prefix("mode ") {
            let mode = self.mode(mode)?;
            return items.iter().try_for_each(|item| self.check_mode(mode, item));
        }
        let (from, to) = subject.split_once(" -> ").ok_or("neither a mode nor a change")?;
        let change = self.change(from, to)?;
        items.iter().try_for_each(|item| self.check_change(change, item))
    }

    fn check_mode(&self, mode: &Value, item: &str) -> Result<(), String> {
        let (key, rest) = item.split_once(' ').unwrap_or((item, ""));
        match key {
            "index" => {
                let index = mode["index"].to_string();
                expect("index", index.as_str(), rest)?;
                self.says(&format!("index {rest}"))
            }
            "states" => {
                expect("states", list(&mode["states"]), words(rest))?;
                match rest {
                    "" => self.says("no states"),
                    _ => self.says(rest),
                }
            }
            "dead" => expect("dead", list(&mode["dead"]), words(rest)),
            "singular" => {
                expect("item", item, "singular in numbers")?;
                expect(
                    "singular blocks",
                    mode["singular_blocks"].as_array().map(Vec::len),
                    Some(1),
                )?;
                self.says(item)
            }
            "transient" => {
                expect("transient", mode["transient"].as_bool(), Some(true))?;
                self.says("lasts for an instant only")
            }
            _ => Err(format!("unknown item `{item}`")),
        }
    }

    fn check_change(&self, change: &Value, item: &str) -> Result<(), String> {
        let (key, rest) = item.split_once(' ').unwrap_or((item, ""));
        match key {
            "accepted" => expect("accepted", change["accepted"].as_bool(), Some(true)),
            "refused" => {
                expect("accepted", change["accepted"].as_bool(), Some(false))?;
                expect("verdict", change["verdict"].as_str(), Some(rest))?;
                self.says(&format!("refused ({rest})"))
            }
            "through" => expect("transient", change["transient"].as_bool(), Some(true)),
            "height" => expect("height", change["height"].to_string().as_str(), rest),
            "impulses" => {
                let impulses = change["impulses"].as_array().into_iter().flatten();
                let found = impulses.map(|i| format!("{} {}", i["variable"].as_str().unwrap_or_default(), i["order"]));
                expect("impulses", found.collect(), words(rest))
            }
            "verdict" => expect("verdict", change["verdict"].as_str(), Some(rest)),
            "method" => expect("method", change["method"].as_str(), Some(rest)),
            "jumps" => expect("jumps", list(&change["jumps"]), words(rest)),
            "facts" => expect("facts", list(&change["facts"]), words(rest)),
            "disabled" => expect("disabled", list(&change["disabled"]), words(rest)),
            "undetermined" => expect("undetermined", list(&change["undetermined"]), words(rest)),
            "says" => {
                let parts = ["details", "help", "restart_system", "facts", "disabled"].map(|key| list(&change[key]));
                let summary = change["summary"].as_str().unwrap_or_default();
                let said = parts.iter().flatten().any(|part| part.contains(rest)) || summary.contains(rest);
                match said {
                    true if summary.contains(rest) => self.says(rest),
                    true => Ok(()),
                    false => Err(format!("does not say `{rest}`: {summary}; {parts:?}")),
                }
            }
            _ => Err(format!("unknown item `{item}`")),
        }
    }

    /// Whether the text says it too.
    fn says(&self, part: &str) -> Result<(), String> {
        if self.text.contains(part) {
            Ok(())
        } else {
            Err(format!("the text does not say `{part}`:\n{}", self.text))
        }
    }
}

#[test]
fn analyze_names_what_the_papers_name() {
    let (mut lines, mut failures) = (0, Vec::new());
    for path in ["tests/papers", "examples"].into_iter().flat_map(modelica_files) {
        let source = std::fs::read_to_string(&path).expect("readable");
        let expected: Vec<&str> = source
            .lines()
            .filter_map(|line| line.strip_prefix("// analyze: "))
            .collect();
        let of_a_paper = path.starts_with(repository().join("tests/papers"));
        assert!(
            !of_a_paper || !expected.is_empty(),
            "{}: expects nothing",
            path.display()
        );
        if expected.is_empty() {
            continue;
        }
        let analysed = analyse(&path);
        for line in expected {
            lines += 1;
            if let Err(error) = analysed.check(line) {
                failures.push(format!("{}: `{line}`: {error}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(lines >= 30, "{lines}");
}
