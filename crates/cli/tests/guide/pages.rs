//! Every page, followed from top to bottom.

use std::path::{Path, PathBuf};

use saltus_testing::{files, repository};

use crate::page::{Step, pages, read, steps};
use crate::shell::{Shell, matches};

/// Commands that need what this test has not got: the toolchain, another library, Python.
const NOT_TRIED: &[&str] = &[
    "cargo install --path crates/cli",
    "pip install ./crates/python",
    "cargo test --workspace",
    "cargo build --release -p saltus-cli",
    "cargo test -p saltus-structure",
    "cargo fmt --all && cargo clippy --workspace --all-targets -- -D warnings",
    "export MODELICAPATH=~/libraries",
    "saltus check --model Modelica.Mechanics.Rotational.Examples.CoupledClutches",
];

fn updating() -> bool {
    std::env::var_os("SALTUS_UPDATE_GUIDE").is_some()
}

/// Follows a page; what went wrong, and the page with its outputs as they are.
fn follow(path: &Path) -> (Vec<String>, String) {
    let text = read(path);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let shell = Shell::new();
    let mut wrong = Vec::new();
    // Backwards at the end, so that lines keep their numbers.
    let mut renewed = Vec::new();
    for step in steps(&text) {
        match step {
            Step::Run(line) if NOT_TRIED.contains(&&*line) => {}
            Step::Run(line) => {
                let ran = shell.run(&line);
                if ran.status != 0 {
                    wrong.push(format!("`{line}` ends with {}:\n{}", ran.status, ran.output));
                }
            }
            Step::Output {
                command,
                status,
                shown,
                lines,
            } => {
                let ran = shell.run(&command);
                if ran.status != status {
                    wrong.push(format!(
                        "`{command}` ends with {}, not {status}:\n{}",
                        ran.status, ran.output
                    ));
                } else if !matches(&shown, &ran.output) {
                    wrong.push(format!(
                        "`{command}` prints\n{}\nbut the page shows\n{shown}",
                        ran.output
                    ));
                    renewed.push((lines, shown.contains('…'), ran.output));
                }
            }
            Step::Image { file, shown } => {
                let (drawn, picture) = (shell.path(&file), path.with_file_name(&shown));
                if updating() {
                    std::fs::copy(&drawn, &picture).expect("the picture is there");
                }
                if words(&read(&drawn)) != words(&read(&picture)) {
                    wrong.push(format!("{shown} is not what {file} is now"));
                }
            }
            Step::Modelica { .. } => {}
        }
    }
    for (range, elided, output) in renewed.into_iter().rev() {
        if !elided {
            lines.splice(range, output.trim_end().lines().map(str::to_owned));
        }
    }
    (wrong, lines.join("\n") + "\n")
}

/// The texts in a picture: titles, labels, units, numbers at the axes, modes, weights of impulses.
fn words(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text").skip(1);
    texts
        .filter_map(|rest| rest.split_once('>')?.1.split_once("</text>"))
        .map(|(text, _)| text)
        .collect()
}

#[test]
fn the_commands_of_the_guide_do_what_it_says() {
    let mut wrong = String::new();
    let (mut commands, mut outputs) = (0, 0);
    for page in pages() {
        let steps = steps(&read(&page));
        commands += steps.iter().filter(|step| matches!(step, Step::Run(_))).count();
        outputs += steps.iter().filter(|step| matches!(step, Step::Output { .. })).count();
        let (failures, renewed) = follow(&page);
        if updating() {
            std::fs::write(&page, renewed).expect("writable");
        }
        failures
            .iter()
            .for_each(|failure| wrong.push_str(&format!("{}: {failure}\n", page.display())));
    }
    assert!(commands >= 25 && outputs >= 8, "{commands} commands, {outputs} outputs");
    assert!(
        wrong.is_empty() || updating(),
        "{wrong}\nrenew the pages with SALTUS_UPDATE_GUIDE=1 cargo test -p saltus-cli --test guide, and read them"
    );
}

/// The starter project says how to use it; those commands run in its folder.
#[test]
fn the_starter_project_works_on_its_own() {
    let shell = Shell::new();
    assert_eq!(shell.run("saltus new Gearbox && rm examples library").status, 0);
    let readme = std::fs::read_to_string(shell.path("Gearbox/README.md")).expect("a page");
    let model = std::fs::read_to_string(shell.path("Gearbox/Gearbox.mo")).expect("a model");
    assert!(!readme.contains("NAME") && !model.contains("NAME"));
    let mut tried = 0;
    for step in steps(&readme) {
        if let Step::Run(line) = step {
            let ran = shell.run(&format!("cd Gearbox && {line}"));
            assert_eq!(ran.status, 0, "{line}\n{}", ran.output);
            tried += 1;
        }
    }
    assert!(tried >= 3);
    assert!(shell.path("Gearbox/out.svg").exists() && shell.path("Gearbox/out.csv").exists());
}

fn links(text: &str) -> Vec<String> {
    let outside_blocks = text.split("```").step_by(2);
    let parts = outside_blocks.flat_map(|part| part.split("](").skip(1));
    parts
        .filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.to_owned())
        .collect()
}

/// What mdBook and GitHub make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept: String = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect();
    kept.replace(' ', "-")
}

fn has_anchor(page: &str, wanted: &str) -> bool {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .any(|found| found == wanted)
        || page.contains(&format!("id=\"{wanted}\""))
}

#[test]
fn links_lead_somewhere() {
    let mut all = files("docs/src", "md");
    all.push(repository().join("README.md"));
    all.push(repository().join("benches/peers/README.md"));
    let mut broken = Vec::new();
    for page in all {
        let text = read(&page);
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target: PathBuf = if file.is_empty() {
                page.clone()
            } else {
                page.with_file_name("x").with_file_name(file)
            };
            let found = target.exists() && (anchor.is_empty() || has_anchor(&read(&target), anchor));
            if !found {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The site has examples in its playground, and brings along the texts that pages lead to (`docs/site.mjs`); everything else that
/// is not in the book would lead nowhere there.
#[test]
fn links_out_of_the_book_are_known_to_the_site() {
    let book = repository().join("docs/src").canonicalize().expect("there is a book");
    let examples = repository()
        .join("examples")
        .canonicalize()
        .expect("there are examples");
    let mut examples_named = 0;
    for page in files(&book, "md") {
        for link in links(&read(&page)).into_iter().filter(|link| !link.contains("://")) {
            let file = link.split('#').next().unwrap_or_default();
            let Ok(target) = page.with_file_name(file).canonicalize() else {
                continue;
            };
            if file.is_empty() || target.starts_with(&book) {
                continue;
            }
            let is_example = target.starts_with(&examples) && target.extension().is_some_and(|e| e == "mo");
            examples_named += usize::from(is_example);
            let is_text = target.extension().is_some_and(|e| e == "md");
            assert!(is_example || is_text, "{}: {link}", page.display());
        }
    }
    assert!(examples_named > 50, "{examples_named} examples");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let folder = repository().join("docs/src");
    let contents = read(&folder.join("SUMMARY.md"));
    let missing: Vec<PathBuf> = files(&folder, "md")
        .into_iter()
        .map(|page| page.strip_prefix(&folder).expect("inside").to_owned())
        .filter(|page| !page.ends_with("SUMMARY.md") && !contents.contains(&format!("({})", page.display())))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
