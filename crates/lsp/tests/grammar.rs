//! The grammar of the extension for Visual Studio Code knows every keyword of the parser, and the server's built-in functions.

use saltus_names::{BUILTIN_FUNCTIONS, Predefined};
use saltus_syntax::SyntaxKind;
use serde_json::Value;

fn words(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let split = text.replace("\\b", " ").replace("\\s", " ");
            found.extend(split.split(|c: char| !c.is_alphanumeric()).map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| words(field, found)),
        _ => {}
    }
}

#[test]
fn the_grammar_knows_every_word_of_the_language() {
    let path = saltus_testing::repository().join("editors/vscode/syntaxes/modelica.tmLanguage.json");
    let grammar: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the grammar")).expect("JSON");
    let words_of = |name: &str| {
        let mut found = Vec::new();
        words(&grammar["repository"][name], &mut found);
        found
    };
    let keywords = words_of("keywords");
    for keyword in SyntaxKind::KEYWORDS {
        let text = keyword.fixed_text().expect("a text");
        assert!(keywords.iter().any(|word| word == text), "{text}");
    }
    let types = words_of("types");
    for predefined in Predefined::ALL {
        assert!(
            types.iter().any(|word| word == predefined.name()),
            "{}",
            predefined.name()
        );
    }
    let functions = words_of("functions");
    let known =
        |word: &&String| word.len() > 2 && BUILTIN_FUNCTIONS.iter().any(|function| function.name == word.as_str());
    assert!(functions.iter().filter(known).count() > 50);
}
