//! A page as a list of what is to be done.

use std::path::{Path, PathBuf};

use saltus_testing::{files, repository};

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages of the guide and the first page of the repository. Reference pages are made from the program and have a test
/// of their own.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![repository().join("README.md")];
    pages.extend(files("docs/src", "md"));
    pages.retain(|page| !page.ends_with("reference/commands.md") && !page.ends_with("reference/diagnostics.md"));
    pages
}

/// Something on a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A command, shown or not.
    Run(String),
    /// A block that shows what a command prints, with the lines it stands in.
    Output {
        command: String,
        status: i32,
        shown: String,
        lines: std::ops::Range<usize>,
    },
    /// A picture, and the file that it must be.
    Image { file: String, shown: String },
    /// A block of Modelica, and declarations that make a model of it.
    Modelica { text: String, declarations: Option<String> },
}

/// The steps of a page in order.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let lines: Vec<&str> = text.lines().collect();
    let mut steps = Vec::new();
    let mut directive: Option<&str> = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim();
        if let Some(comment) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
            match comment.strip_prefix("run: ") {
                Some(command) => steps.push(Step::Run(command.to_owned())),
                None => directive = Some(comment),
            }
        } else if let Some(language) = line.strip_prefix("```") {
            let end = (at + 1..lines.len())
                .find(|&end| lines[end].trim() == "```")
                .expect("a block ends");
            steps.extend(block(language, &lines, at + 1..end, directive.take()));
            at = end;
        } else if let Some(file) = directive.and_then(|d| d.strip_prefix("image: "))
            && let Some((_, rest)) = line.split_once("](")
        {
            let shown = rest.trim_end_matches(')').to_owned();
            steps.push(Step::Image {
                file: file.to_owned(),
                shown,
            });
            directive = None;
        }
        at += 1;
    }
    assert_eq!(directive.filter(|d| is_ours(d)), None, "nothing follows this comment");
    steps
}

fn is_ours(comment: &str) -> bool {
    ["output", "image", "declarations"]
        .iter()
        .any(|word| comment.starts_with(word))
}

fn block(language: &str, lines: &[&str], place: std::ops::Range<usize>, directive: Option<&str>) -> Vec<Step> {
    let body = &lines[place.clone()];
    if let Some((word, command)) = directive.and_then(|d| d.split_once(": "))
        && let Some(status) = word.strip_prefix("output")
    {
        return vec![Step::Output {
            command: command.to_owned(),
            status: status.trim().parse().unwrap_or(0),
            shown: body.join("\n"),
            lines: place,
        }];
    }
    match language {
        "sh" => commands(body),
        "modelica" => vec![Step::Modelica {
            text: body.join("\n"),
            declarations: directive
                .and_then(|d| d.strip_prefix("declarations: "))
                .map(str::to_owned),
        }],
        _ => Vec::new(),
    }
}

/// Commands without the remarks behind them; a line that ends with `\` goes on.
fn commands(lines: &[&str]) -> Vec<Step> {
    let text = lines.join("\n").replace("\\\n", " ");
    text.lines()
        .map(|line| line.split(" #").next().unwrap_or("").trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| Step::Run(line.to_owned()))
        .collect()
}
