//! Damaged models are refused or flattened, but nothing breaks: every fixture with words taken out,
//! doubled or swapped.

use std::sync::Arc;

use saltus_lang::{FlattenOptions, Limits, flatten};
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};
use saltus_testing::{groups, modelica_files};

/// Words and marks with what stands between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut previous: Option<bool> = None;
    for (position, c) in text.char_indices() {
        let is_word = c.is_alphanumeric() || c == '_';
        if previous != Some(is_word) || !is_word {
            words.push(&text[start..position]);
            start = position;
        }
        previous = Some(is_word);
    }
    words.push(&text[start..]);
    words
}

#[test]
fn damage_is_survived() {
    let options = FlattenOptions {
        limits: Limits {
            scalars: 10_000,
            components: 5_000,
            fuel: 200_000,
            ..Limits::default()
        },
        ..FlattenOptions::default()
    };
    let mut refused = 0;
    let mut tried = 0;
    for file in modelica_files("tests/lang") {
        let text = std::fs::read_to_string(&file).unwrap();
        let groups = groups(&text);
        let words = words(&text);
        let head = words.len() / 20;
        for (round, at) in (head..words.len() - 1).step_by(23).enumerate() {
            let mut damaged: Vec<&str> = words.clone();
            match round % 3 {
                0 => {
                    damaged.remove(at);
                }
                1 => damaged.insert(at, words[at]),
                _ => damaged.swap(at, at + 1),
            }
            let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
            library.add_text("damaged.mo", &damaged.concat());
            let model = &groups[round % groups.len()].model;
            let flattened = flatten(&library, model, &options);
            tried += 1;
            refused += usize::from(flattened.model.is_none());
            assert_eq!(flattened.model.is_none(), flattened.diagnostics.has_errors());
            if let Some(model) = &flattened.model {
                model.validate().unwrap();
                assert!(!model.to_string().is_empty());
                assert!(model.to_json().is_object());
            }
        }
    }
    assert!(tried > 300 && refused > tried / 10, "{refused} of {tried} refused");
}
