//! Wrong models of the kind engineers write: what is said about them, and that the proposal works.
//!
//! A model of `tests/wrong` carries its expectations:
//!
//! ```text
//! // says: text that `saltus check --all-modes` prints
//! // run: text that `saltus simulate` prints
//! // stop: when the run ends, 1.5 if nothing is said
//! // fix: `old` -> `new`
//! ```
//!
//! With all fixes applied, the model is accepted in all modes and runs.

use saltus_testing::modelica_files;

use super::support::*;

fn directives<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    text.lines()
        .filter_map(move |line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
}

fn problems(text: &str, name: &str) -> Vec<String> {
    let folder = Folder::new().with(name, text);
    let stop = directives(text, "stop").next().unwrap_or("1.5");
    let run = ["simulate", name, "--stop", stop, "-o", "out.csv"];
    let mut problems = Vec::new();
    for (key, arguments) in [("says", &["check", name, "--all-modes"][..]), ("run", &run[..])] {
        let wanted: Vec<&str> = directives(text, key).collect();
        if wanted.is_empty() {
            continue;
        }
        let said = folder.run(arguments);
        let missing = wanted.iter().filter(|words| !said.stderr.contains(**words));
        problems.extend(missing.map(|words| format!("{name}: does not say `{words}`:\n{}", said.stderr)));
    }
    let mut mended = text.to_owned();
    for fix in directives(text, "fix") {
        let (old, new) = fix.split_once(" -> ").expect("`old` -> `new`");
        let (old, new) = (old.trim_matches('`'), new.trim_matches('`'));
        let model = mended.find("\nmodel ").expect("a model");
        let (head, body) = mended.split_at(model);
        assert!(body.contains(old), "{name}: `{old}`");
        mended = format!("{head}{}", body.replacen(old, new, 1));
    }
    assert_ne!(mended, text, "{name} proposes nothing");
    let folder = Folder::new().with(name, &mended);
    let checked = folder.run(&["check", name, "--all-modes"]);
    if checked.status != 0 || checked.stderr.contains("singular") {
        problems.push(format!("{name}, mended:\n{}", checked.stderr));
    }
    let ran = folder.run(&run);
    if ran.status != 0 {
        problems.push(format!("{name}, mended, fails:\n{}", ran.stderr));
    }
    problems
}

#[test]
fn wrong_models_get_a_proposal_that_works() {
    let files = modelica_files("tests/wrong");
    assert!(files.len() >= 15, "{}", files.len());
    let mut found = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        found.extend(problems(&text, name));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
