//! Any input: no panic, nothing lost, errors inside the file.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use saltus_source::render::{TextOptions, to_text};
use saltus_source::{SourceMap, codes};
use saltus_syntax::parse_file;

/// What the fuzz target checks too.
fn check_bytes(bytes: &[u8]) {
    let sources = SourceMap::new();
    let id = sources.add_bytes("input.mo", bytes.to_vec());
    let file = sources.file(id).unwrap();
    assert_eq!(file.decoded().to_bytes(), bytes);
    let parse = parse_file(&file);
    parse.tree.validate().unwrap();
    assert_eq!(parse.tree.to_string(), file.text());
    let _ = parse.ast();
    for diagnostic in &parse.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(file.text().get(start..end).is_some(), "{diagnostic:?}");
        }
        assert!(codes::explain(diagnostic.code.as_str()).is_some());
    }
    if let Some(first) = parse.diagnostics.iter().next() {
        to_text(first, &sources, TextOptions::default());
    }
}

/// A runner that tries the same cases each time.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn arbitrary_text() {
    let run = |text: std::string::String| {
        check_bytes(text.as_bytes());
        Ok(())
    };
    runner(500).run(&any::<std::string::String>(), run).unwrap();
}

#[test]
fn arbitrary_bytes() {
    let bytes = prop::collection::vec(any::<u8>(), 0..300);
    runner(500)
        .run(&bytes, |bytes| {
            check_bytes(&bytes);
            Ok(())
        })
        .unwrap();
}

/// Words of the language in any order reach much deeper into the parser than letters.
const WORDS: &[&str] = &[
    "model",
    "M",
    "x",
    "end",
    "M;",
    "if",
    "then",
    "else",
    "elseif",
    "for",
    "in",
    "loop",
    "when",
    "elsewhen",
    "while",
    "equation",
    "algorithm",
    "initial",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    ":",
    ":=",
    "=",
    "+",
    "-",
    "*",
    "^",
    "not",
    "and",
    "or",
    "<",
    "1",
    "2.5",
    "\"s\"",
    "\"",
    "'q'",
    "'",
    "/*",
    "*/",
    "//",
    "\n",
    "der",
    "connect",
    "annotation",
    "extends",
    "import",
    "redeclare",
    "replaceable",
    "constrainedby",
    "final",
    "each",
    "inner",
    "Real",
    "parameter",
    "input",
    "function",
    "package",
    "operator",
    "record",
    "type",
    "enumeration",
    "external",
    "within",
    "public",
    "protected",
    "break",
    "return",
    "pure",
    "partial",
    "modle",
    "equatoin",
    "–",
    "ä",
    "\u{feff}",
    "@",
    "\\",
    ".*",
    "true",
    "time",
    "whne",
    "paramter",
];

#[test]
fn words_in_any_order() {
    let words = prop::collection::vec(prop::sample::select(WORDS), 0..120);
    runner(2000)
        .run(&words, |words| {
            check_bytes(words.join(" ").as_bytes());
            Ok(())
        })
        .unwrap();
}

const REAL_FILE: &str = include_str!("data/grammar.mo");

/// Text cut out, doubled, or replaced.
#[derive(Clone, Debug)]
struct Mutation {
    at: usize,
    length: usize,
    insert: &'static str,
}

#[test]
fn mutated_file() {
    let mutation = (0..REAL_FILE.len(), 0..40_usize, prop::sample::select(WORDS))
        .prop_map(|(at, length, insert)| Mutation { at, length, insert });
    let mutations = prop::collection::vec(mutation, 1..4);
    runner(700)
        .run(&mutations, |mutations| {
            let mut bytes = REAL_FILE.as_bytes().to_vec();
            for Mutation { at, length, insert } in mutations {
                let at = at.min(bytes.len());
                let end = (at + length).min(bytes.len());
                bytes.splice(at..end, insert.bytes());
            }
            check_bytes(&bytes);
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_prefix_of_a_file() {
    for length in 0..REAL_FILE.len() {
        if length % 7 == 0 {
            check_bytes(&REAL_FILE.as_bytes()[..length]);
        }
    }
}

/// One deletion, insertion or exchange of a token in a correct class is reported, and near its
/// place: not before it, and the class behind it stays usable.
#[test]
fn a_missing_token_is_reported() {
    let text = "model A\n  Real x(start = 1) = f(2, y = {3, 4});\nequation\n  if x > 1 then\n    x = 2;\n  end if;\nend A;\nmodel B\n  Real z;\nend B;\n";
    for (at, character) in text.char_indices() {
        if !"(){};=".contains(character) || at > text.find("model B").unwrap() {
            continue;
        }
        let damaged = format!("{}{}", &text[..at], &text[at + 1..]);
        let sources = SourceMap::new();
        let file = sources.file(sources.add("damaged.mo", damaged)).unwrap();
        let parse = parse_file(&file);
        assert!(!parse.is_ok(), "{}", file.text());
        let names: Vec<_> = parse.ast().classes.iter().map(|c| c.class.name.name.clone()).collect();
        assert_eq!(names, ["A", "B"], "{}", file.text());
    }
}

/// A deep or long text made of a repeated part.
fn check_deep(prefix: &str, part: &str, count: usize) {
    let mut text = prefix.to_owned();
    for _ in 0..count {
        text.push_str(part);
    }
    let sources = SourceMap::new();
    let file = sources.file(sources.add("deep.mo", text)).unwrap();
    let parse = parse_file(&file);
    parse.tree.validate().unwrap();
    assert!(parse.tree.to_string() == file.text());
    drop(parse.ast());
    let found = parse.diagnostics.iter().any(|d| d.code == codes::E0109);
    assert!(found, "{part:?}: {:?}", parse.diagnostics.iter().next());
    assert!(parse.diagnostics.len() < 500);
}

#[test]
fn deep_nesting_is_refused() {
    let expression = "model M Real x = ";
    check_deep(expression, "(", 1_000_000);
    for part in [
        "[",
        "{",
        "f(",
        "x[",
        "not ",
        "-",
        "if a then ",
        "(a, ",
        "{-",
        "f(x = ",
        "function f(a = ",
        "1 + (",
    ] {
        check_deep(expression, part, 20_000);
    }
    check_deep("model M Real ", "x(x", 20_000);
    check_deep("model M Real x", "(a = 1, x", 20_000);
    check_deep("", "model M ", 20_000);
    check_deep("", "package P model M annotation (a); ", 20_000);
    for part in [
        "if a then ",
        "for i in 1:2 loop ",
        "when a then ",
        "if a then x = 1; else ",
    ] {
        check_deep("model M equation ", part, 20_000);
        check_deep("model M algorithm ", part, 20_000);
    }
    check_deep("model M extends A(redeclare ", "model X = Y(redeclare ", 20_000);
}

#[test]
fn long_chains_are_refused_or_read() {
    check_deep("model M Real x = a", " + a", 100_000);
    check_deep("model M Real x = a", " and a", 5_000);
    let text = format!("model M Real x = a{}; end M;", " + a".repeat(1000));
    let sources = SourceMap::new();
    let file = sources.file(sources.add("chain.mo", text)).unwrap();
    assert!(parse_file(&file).diagnostics.is_empty());
}
