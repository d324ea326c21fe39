//! The list of examples is complete and says what their headers say.

use std::path::PathBuf;

use crate::page::{files, read, root};

/// The comment at the top of an example, as one line: what the system is, and what to look at.
fn header(source: &str) -> (String, String) {
    let comment = source.lines().take_while(|line| line.starts_with("//"));
    let told = comment.take_while(|line| !line.starts_with("// expect:") && !line.starts_with("// run:"));
    let text: Vec<&str> = told.map(|line| line.trim_start_matches('/').trim()).collect();
    let text = text.join(" ");
    let (system, look) = text.split_once("What to look at:").unwrap_or((&text, ""));
    (system.trim().to_owned(), look.trim().to_owned())
}

#[test]
fn every_example_says_what_to_look_at_and_is_listed() {
    let page = read(&root().join("docs/src/examples.md"));
    let mut wrong: Vec<(PathBuf, &str)> = Vec::new();
    for file in files(&root().join("examples"), "mo") {
        let source = read(&file);
        let (system, look) = header(&source);
        let first = system.split(". ").next().unwrap_or("").trim_end_matches('.');
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        if look.len() < 20 {
            wrong.push((file.clone(), "does not say what to look at"));
        }
        match page.lines().find(|line| line.contains(&format!("[`{name}`]"))) {
            None => wrong.push((file, "is not in docs/src/examples.md")),
            Some(line) if !line.contains(first) => wrong.push((file, "is described otherwise in docs/src/examples.md")),
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
