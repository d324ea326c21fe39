//! The Modelica Standard Library and Modelica-Compliance, if their folders are given:
//! `SALTUS_MSL` and `SALTUS_COMPLIANCE`. The counts are recorded in `tests/conformance/README.md`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

use std::path::PathBuf;

use saltus_source::{FileId, SourceMap};
use saltus_syntax::{Walk, parse, parse_file};
use saltus_testing::modelica_files;

fn folder_from(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: {variable} is not set");
    }
    folder
}

/// Parses every file, checks the round trip, and returns those with diagnostics.
fn files_with_diagnostics(files: &[PathBuf]) -> Vec<String> {
    let sources = SourceMap::new();
    let mut found = Vec::new();
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        let id = sources.add_bytes(path.to_string_lossy(), bytes.clone());
        let file = sources.file(id).unwrap();
        assert_eq!(file.decoded().to_bytes(), bytes, "{}", path.display());
        let parse = parse_file(&file);
        parse.tree.validate().unwrap();
        assert!(parse.tree.to_string() == file.text(), "{}", path.display());
        let _ = parse.ast();
        if let Some(first) = parse.diagnostics.iter().next() {
            let place = first.span().and_then(|span| sources.line_column(span));
            found.push(format!("{} {place:?} {} {}", path.display(), first.code, first.message));
        }
    }
    found
}

#[test]
fn standard_library() {
    let Some(folder) = folder_from("SALTUS_MSL") else {
        return;
    };
    let files = modelica_files(&folder);
    eprintln!("{} files", files.len());
    assert!(files.len() >= 2665, "MSL 4.1.0 with ModelicaTest is not complete");
    let found = files_with_diagnostics(&files);
    assert!(found.is_empty(), "{} files:\n{}", found.len(), found.join("\n"));
}

/// A token is taken out of every seventh file: nothing is lost, and few errors follow.
#[test]
fn damaged_files_of_the_standard_library() {
    let Some(folder) = folder_from("SALTUS_MSL") else {
        return;
    };
    let (mut tried, mut wrong, mut errors) = (0, 0, 0);
    for (index, path) in modelica_files(&folder).iter().enumerate().step_by(7) {
        let text = std::fs::read_to_string(path).unwrap();
        let whole = parse(FileId(0), &text);
        let mut tokens = Vec::new();
        whole.tree.walk(|step| match step {
            Walk::Token(token) if !token.kind().is_trivia() => tokens.push(token.span()),
            _ => {}
        });
        for damage in 0..3 {
            let token = tokens[(index * 7919 + damage * 104_729) % tokens.len()];
            let (start, end) = (token.start as usize, token.end as usize);
            let damaged = format!("{}{}", &text[..start], &text[end..]);
            let found = parse(FileId(0), &damaged);
            found.tree.validate().unwrap();
            assert!(found.tree.to_string() == damaged, "{}", path.display());
            let _ = found.ast();
            tried += 1;
            wrong += usize::from(!found.diagnostics.is_empty());
            errors += found.diagnostics.len();
        }
    }
    eprintln!("{tried} texts, {wrong} of them wrong, {errors} errors");
    assert!(
        errors < 2 * wrong,
        "{errors} errors in {wrong} texts with one error each"
    );
}

#[test]
fn compliance() {
    let Some(folder) = folder_from("SALTUS_COMPLIANCE") else {
        return;
    };
    let files = modelica_files(&folder);
    let found = files_with_diagnostics(&files);
    eprintln!("{} files, {} with diagnostics", files.len(), found.len());
    // Also those with a case that tools must reject: none is known to be wrong in its syntax.
    assert!(found.is_empty(), "{} files:\n{}", found.len(), found.join("\n"));
}
