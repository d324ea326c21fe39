//! The list of examples is made from their headers.

use saltus_testing::{modelica_files, repository};

use crate::page::read;

/// The sections of the list, each with its folder.
const SECTIONS: &[(&str, &str)] = &[
    ("Where to begin", "examples"),
    ("States that come and go", "examples/basics"),
    ("Mechanics", "examples/mechanics"),
    ("Circuits", "examples/electrical"),
    ("Control", "examples/control"),
    ("Heat", "examples/thermal"),
    ("Fluids", "examples/fluid"),
];

/// The comment at the top of an example: what the system is, and what to look at.
fn header(source: &str) -> (String, String) {
    let comment = source.lines().take_while(|line| line.starts_with("//"));
    let reported = comment.take_while(|line| !line.starts_with("// expect:") && !line.starts_with("// run:"));
    let text: Vec<&str> = reported.map(|line| line.trim_start_matches('/').trim()).collect();
    let text = text.join(" ").replace(" - ", " ");
    let (system, look) = text.split_once("What to look at:").unwrap_or((&text, ""));
    let first = system.split(". ").next().unwrap_or("").trim().trim_end_matches('.');
    (first.to_owned(), look.trim().to_owned())
}

fn list() -> String {
    let mut page = String::new();
    for (title, folder) in SECTIONS {
        page.push_str(&format!(
            "\n## {title}\n\n| file | system | what to look at |\n|---|---|---|\n"
        ));
        let folder = repository().join(folder);
        for file in modelica_files(&folder)
            .iter()
            .filter(|file| file.parent() == Some(&folder))
        {
            let (system, look) = header(&read(file));
            assert!(look.len() >= 20, "{} does not say what to look at", file.display());
            let place = file.strip_prefix(repository()).expect("inside").display().to_string();
            let name = file.file_name().expect("a name").to_string_lossy();
            page.push_str(&format!("| [`{name}`](../../{place}) | {system} | {look} |\n"));
        }
    }
    page
}

#[test]
fn the_list_of_examples_says_what_their_headers_say() {
    let page = repository().join("docs/src/examples.md");
    let before = read(&page);
    let introduction = before.split("\n## ").next().unwrap_or("");
    let expected = format!("{introduction}{}", list());
    if std::env::var_os("SALTUS_UPDATE_GUIDE").is_some() {
        std::fs::write(&page, &expected).expect("writable");
    }
    assert_eq!(expected.matches(".mo`]").count(), modelica_files("examples").len());
    assert!(
        read(&page) == expected,
        "docs/src/examples.md is out of date: run SALTUS_UPDATE_GUIDE=1 cargo test -p saltus-cli --test guide"
    );
}
