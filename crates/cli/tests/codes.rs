//! The example of a code produces that code: what `saltus explain` shows is true.

use std::process::Command;

/// Codes that text alone cannot produce, with the reason.
const ELSEWHERE: &[(&str, &str)] = &[
    ("E0110", "needs bytes that are not UTF-8"),
    ("E0120", "needs a file that is not there"),
    ("E0122", "needs a package folder"),
    ("E0123", "needs a package folder"),
    ("E0124", "needs a package folder"),
    ("E0125", "needs a folder"),
    ("E0501", "flattening says it first, as E0311"),
    ("E0502", "flattening says it first, as E0311"),
    ("E0504", "flattening says it first, as E0311"),
    ("E0505", "flattening says it first, as E0403"),
    ("E0506", "flattening says it first, as E0403"),
    ("E0510", "needs --mode"),
    ("E0611", "takes longer than a test may"),
    ("E0613", "depends on the machine"),
    ("E0614", "needs --set"),
    ("E0616", "needs an interruption"),
    ("E0701", "needs a file that cannot be written"),
    ("E0702", "needs a file name"),
    ("E0703", "needs a result file"),
    ("E0704", "needs a result file"),
    ("E0705", "takes longer than a test may"),
    ("E0706", "needs a model file"),
    ("E0707", "needs a model file"),
    ("E0708", "needs a model file"),
    ("E0709", "needs --vary"),
    ("E0710", "needs a unit"),
    ("W0102", "needs a package folder"),
    ("W0104", "needs -L"),
];

fn saltus(folder: &std::path::Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn examples_produce_their_codes() {
    let folder = tempfile::tempdir().unwrap();
    let (list, _) = saltus(folder.path(), &["explain"]);
    let mut wrong = Vec::new();
    for code in list.lines().map(|line| &line[..5]) {
        if ELSEWHERE.iter().any(|(known, _)| *known == code) {
            continue;
        }
        let (explanation, _) = saltus(folder.path(), &["explain", code, "--json"]);
        let explanation: serde_json::Value = serde_json::from_str(&explanation).unwrap();
        std::fs::write(folder.path().join("M.mo"), explanation["example"].as_str().unwrap()).unwrap();
        let (_, mut said) = saltus(folder.path(), &["check", "M.mo", "--all-modes"]);
        if !said.contains(&format!("[{code}]")) {
            said += &saltus(folder.path(), &["simulate", "M.mo", "-o", "out.csv"]).1;
        }
        if !said.contains(&format!("[{code}]")) {
            wrong.push(format!("{code}:\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
