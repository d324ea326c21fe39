//! The reference pages of the guide are made from the program: they cannot be out of date.
//!
//! After a change run `SALTUS_UPDATE_REFERENCE=1 cargo test -p saltus-cli --test reference`.

use std::path::Path;
use std::process::Command;

use saltus_testing::{files, repository};

fn saltus(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Compares a page with what it should be, or writes it.
fn check(name: &str, expected: &str) {
    let folder = repository().join("docs/src/reference");
    let path = folder.join(name);
    if std::env::var_os("SALTUS_UPDATE_REFERENCE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "docs/src/reference/{name} is out of date: \
         run `SALTUS_UPDATE_REFERENCE=1 cargo test -p saltus-cli --test reference`"
    );
}

/// The commands in the order of `saltus --help`.
fn commands() -> Vec<String> {
    let help = saltus(&["--help"]);
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let lines = rest.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn command_reference() {
    let mut page =
        String::from("# Commands\n\nMade from the texts of `--help`; `saltus help COMMAND` prints the same.\n\n");
    page.push_str(&format!("```text\n{}\n```\n", saltus(&["--help"]).trim_end()));
    let commands = commands();
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let help = saltus(&[&command, "--help"]);
        page.push_str(&format!("\n## saltus {command}\n\n```text\n{}\n```\n", help.trim_end()));
    }
    check("commands.md", &page);
}

#[test]
fn diagnostics_reference() {
    let list = saltus(&["explain"]);
    let mut page = String::from(
        "# Diagnostics\n\nEvery message has a code; `saltus explain CODE` prints its page.\n\n| code | meaning |\n|---|---|\n",
    );
    let codes: Vec<(&str, &str)> = list.lines().filter_map(|line| line.split_once("  ")).collect();
    for (code, title) in &codes {
        page.push_str(&format!("| [{code}](#{}) | {title} |\n", code.to_lowercase()));
    }
    for (code, title) in &codes {
        let text = saltus(&["explain", code]);
        let (_, body) = text.split_once('\n').unwrap();
        // One level deeper than on a page of its own; comments in examples are no headings.
        let mut fenced = false;
        let body: Vec<String> = body
            .trim()
            .lines()
            .map(|line| {
                fenced ^= line.starts_with("```");
                if !fenced && line.starts_with('#') {
                    format!("#{line}")
                } else {
                    line.to_owned()
                }
            })
            .collect();
        page.push_str(&format!(
            "\n<a id=\"{}\"></a>\n\n## {code}: {title}\n\n{}\n",
            code.to_lowercase(),
            body.join("\n")
        ));
    }
    check("diagnostics.md", &page);
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let source = repository().join("docs/src");
    let summary = std::fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    let mut found = files("docs", "md");
    found.push(repository().join("README.md"));
    for page in found {
        if let Ok(name) = page.strip_prefix(&source)
            && name != Path::new("SUMMARY.md")
        {
            let link = format!("({})", name.display());
            assert!(summary.contains(&link), "{} is not in SUMMARY.md", name.display());
        }
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or("");
            if file.is_empty() || file.contains("://") || file.contains(' ') {
                continue;
            }
            let target = page.parent().unwrap().join(file);
            assert!(target.exists(), "{}: `{link}` leads nowhere", page.display());
        }
    }
}
