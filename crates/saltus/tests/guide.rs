//! The guide shows only Modelica that exists: every block is part of an example or of the library, or is a model that
//! compiles.

use std::path::{Path, PathBuf};

use saltus::Session;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder exists") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("readable")
}

/// Lines without indentation and comments.
fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or("").trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// The contents of the blocks marked as Modelica.
fn blocks(page: &str) -> Vec<String> {
    page.split("```modelica\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .map(str::to_owned)
        .collect()
}

fn contains(source: &[String], block: &[String]) -> bool {
    source.windows(block.len()).any(|window| window == block)
}

fn compiles(block: &str) -> bool {
    let session = Session::with_libraries(vec![root().join("library")]);
    session.add_text("Guide.mo", block);
    let Ok(name) = session.find_model(None).into_result() else {
        return false;
    };
    session.compile(&name).diagnostics.is_empty()
}

#[test]
fn models_of_the_guide_exist_or_compile() {
    let mut sources: Vec<Vec<String>> = Vec::new();
    for folder in ["examples", "library"] {
        sources.extend(files(&root().join(folder), "mo").iter().map(|file| lines(&read(file))));
    }
    let mut checked = 0;
    for page in files(&root().join("docs/src"), "md") {
        // The reference of diagnostics shows what is wrong, and has a test of its own.
        if page.ends_with("reference/diagnostics.md") {
            continue;
        }
        for block in blocks(&read(&page)) {
            let wanted = lines(&block);
            // A block may show lines from several places; each line on its own says too little to be wrong.
            let known = sources.iter().any(|source| contains(source, &wanted))
                || wanted
                    .iter()
                    .all(|line| sources.iter().any(|source| source.contains(line)))
                || compiles(&block);
            assert!(
                known,
                "{}: not in any example, and does not compile:\n{block}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked >= 8, "{checked}");
}

#[test]
fn the_guide_lists_every_example() {
    let page = read(&root().join("docs/src/examples.md"));
    let missing: Vec<PathBuf> = files(&root().join("examples"), "mo")
        .into_iter()
        .filter(|file| !page.contains(&*file.file_name().expect("a name").to_string_lossy()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
