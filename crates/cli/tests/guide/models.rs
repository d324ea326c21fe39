//! The Modelica of the guide compiles.

use saltus::Session;

use saltus_testing::{modelica_files, repository};

use crate::page::{Step, pages, read, steps};

/// What is wrong with a text that should be a model; `None` if nothing is.
fn trouble(text: &str) -> Option<String> {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_text("Guide.mo", text);
    let name = match session.find_model(None).into_result() {
        Ok(name) => name,
        Err(diagnostics) => return Some(format!("{diagnostics:?}")),
    };
    let found = session.check(&name, false);
    // Values that a run gives are left open.
    let told = found.iter().filter(|d| d.code.as_str() != "W0209");
    let messages: Vec<String> = told.map(|d| format!("{}: {}", d.code, d.message)).collect();
    (!messages.is_empty()).then(|| messages.join("\n"))
}

/// Lines without indentation, one below the other.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Whether lines follow one another in some file of the examples or the library.
fn is_part_of_a_source(text: &str) -> bool {
    let wanted = lines(text);
    ["examples", "library"].iter().any(|folder| {
        modelica_files(folder).iter().any(|file| {
            let source = read(file);
            lines(&source).windows(wanted.len()).any(|window| window == wanted)
        })
    })
}

/// A block is a whole model, equations with declarations that make a model of them, or part of a file that is tested.
#[test]
fn the_models_of_the_guide_compile() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        for step in steps(&read(&page)) {
            let Step::Modelica { text, declarations } = step else {
                continue;
            };
            checked += 1;
            let trouble = match declarations {
                Some(declarations) => trouble(&format!("model Guide\n{declarations}\nequation\n{text}\nend Guide;")),
                None if is_part_of_a_source(&text) => None,
                None => trouble(&text),
            };
            if let Some(trouble) = trouble {
                wrong.push(format!("{}:\n{text}\n{trouble}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(checked >= 12, "{checked}");
}
