//! Small wrong files under `tests/syntax`, each with the diagnostics it must get.
//!
//! A file lists them in comments, at the top or where they fit:
//! `// error[E0102] 3:5 missing` means an error with this code at line 3, column 5, whose message
//! or label contains the text behind it. All diagnostics must be listed, and in order. With
//! `UPDATE_EXPECT=1` the test writes the list at the end of each file.

use saltus_source::{Diagnostic, SourceFile, SourceMap, codes};
use saltus_syntax::parse_file;
use saltus_testing::modelica_files;

fn describe(diagnostic: &Diagnostic, file: &SourceFile) -> String {
    let at = file.line_column(diagnostic.span().expect("a place").start);
    let (severity, code) = (diagnostic.severity.as_str(), diagnostic.code);
    format!("{severity}[{code}] {}:{} {}", at.line, at.column, diagnostic.message)
}

fn expectations(text: &str) -> Vec<String> {
    let comments = text.lines().filter_map(|line| line.trim().strip_prefix("// "));
    comments
        .filter(|line| line.starts_with("error[") || line.starts_with("warning["))
        .map(str::to_owned)
        .collect()
}

#[test]
fn wrong_files_get_their_diagnostics() {
    let paths = modelica_files("tests/syntax");
    assert!(paths.len() > 30);
    let mut failures = String::new();
    for path in &paths {
        let bytes = std::fs::read(path).unwrap();
        let sources = SourceMap::new();
        let id = sources.add_bytes(path.to_string_lossy(), bytes.clone());
        let file = sources.file(id).unwrap();
        let parse = parse_file(&file);
        parse.tree.validate().unwrap();
        assert_eq!(parse.tree.to_string(), file.text());
        let _ = parse.ast();
        let found: Vec<String> = parse.diagnostics.iter().map(|d| describe(d, &file)).collect();
        let expected = expectations(file.text());
        assert!(!found.is_empty(), "{} has no diagnostics", path.display());
        if found == expected {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() && expected.is_empty() {
            let list: String = found.iter().map(|line| format!("// {line}\n")).collect();
            let mut bytes = bytes;
            if bytes.last() != Some(&b'\n') {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(list.as_bytes());
            std::fs::write(path, bytes).unwrap();
        }
        failures += &format!("{}:\n", path.display());
        failures += &format!("  expected\n    {}\n", expected.join("\n    "));
        failures += &format!("  found\n    {}\n", found.join("\n    "));
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Codes that no single text can produce: files and folders.
const WITHOUT_TEXT: &[&str] = &[
    "E0110", "E0120", "E0121", "E0122", "E0123", "E0124", "E0125", "E0126", "W0102", "W0104",
];

#[test]
fn examples_of_the_explanations_are_right() {
    for code in codes::all() {
        let name = code.as_str();
        let is_syntax = name.starts_with("E01") || name.starts_with("W01");
        if !is_syntax || WITHOUT_TEXT.contains(&name) {
            continue;
        }
        let explanation = codes::explain(name).unwrap();
        let found = codes_of(explanation.example);
        assert_eq!(found, [name], "the example of {name}");
        let corrected = codes::first_fenced_block(explanation.fix).unwrap();
        assert_eq!(codes_of(corrected), [""; 0], "the fix of {name}");
    }
}

fn codes_of(text: &str) -> Vec<String> {
    let sources = SourceMap::new();
    let file = sources.file(sources.add("example.mo", text)).unwrap();
    let parse = parse_file(&file);
    let codes = parse.diagnostics.iter().map(|d| d.code.to_string());
    codes.collect()
}
