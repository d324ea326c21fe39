//! Formatting changes blanks alone, and changes nothing the second time.

#![allow(clippy::print_stderr, reason = "counts, shown with --nocapture")]

use std::path::{Path, PathBuf};

use saltus_source::{FileId, SourceMap, apply_edits};
use saltus_syntax::{SyntaxKind, Walk, format, parse};
use saltus_testing::{Random, modelica_files};

const FILE: FileId = FileId(0);

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    parse(FILE, text).tree.walk(|step| {
        if let Walk::Token(token) = step
            && token.kind() != SyntaxKind::Whitespace
        {
            tokens.push(token.text().to_owned());
        }
    });
    tokens
}

/// Formats, and checks what must hold for any text; `None` with syntax errors.
fn checked(text: &str, name: &str) -> Option<String> {
    let Some(once) = format::formatted(FILE, text) else {
        assert!(format::edits(&parse(FILE, text)).is_empty());
        return None;
    };
    assert!(tokens(&once) == tokens(text), "{name}: tokens change\n{once}");
    let twice = format::formatted(FILE, &once).expect("still correct");
    assert!(
        twice == once,
        "{name}: changes again\n{}",
        first_difference(&once, &twice)
    );
    Some(once)
}

fn first_difference(a: &str, b: &str) -> String {
    let lines = a.lines().zip(b.lines()).find(|(x, y)| x != y);
    lines.map_or_else(|| "at the end".to_owned(), |(x, y)| format!("{x}\n{y}"))
}

fn read(path: &Path) -> String {
    let sources = SourceMap::new();
    let id = sources.add_bytes("file.mo", std::fs::read(path).unwrap());
    sources.file(id).unwrap().text().to_owned()
}

fn own_files() -> Vec<PathBuf> {
    let folders = [
        "library",
        "examples",
        "tests/models",
        "tests/lang",
        "tests/run",
        "tests/wrong",
    ];
    folders.into_iter().flat_map(modelica_files).collect()
}

#[test]
fn small_texts() {
    for (text, expected) in [
        ("model M\nReal x=1 ;end M;", "model M\n  Real x = 1;\nend M;\n"),
        (
            "model M Real x; equation if a then x=-1; else x= 2+y*3; end if; end M;\n",
            "model M\n  Real x;\nequation\n  if a then\n    x = -1;\n  else\n    x = 2 + y*3;\n  end if;\nend M;\n",
        ),
        // Comments stay beside what they are beside, or get the place of what follows.
        (
            "// head\nmodel M\nReal x; // one\n// two\nReal y;/* three */\n   // last\nend M;\n// foot\n",
            "// head\nmodel M\n  Real x; // one\n  // two\n  Real y; /* three */\n  // last\nend M;\n// foot\n",
        ),
        // Lines within an element move with its first.
        (
            "model M\nReal x(\n  start = 1,\n      fixed = true);\nend M;\n",
            "model M\n  Real x(\n    start = 1,\n        fixed = true);\nend M;\n",
        ),
        // Columns and annotations are the author's.
        (
            "model M\n  parameter Real a[2, 2]=[1,   2;\n                          10, 20];\n  annotation (Icon( x=1 ));\nend M;\n",
            "model M\n  parameter Real a[2, 2] = [1,   2;\n                          10, 20];\n  annotation (Icon( x=1 ));\nend M;\n",
        ),
        // Tabulators, blanks at the end, empty lines, line ends of Windows.
        (
            "model M\r\n\tReal x;  \r\n\r\n\r\n\r\n\tReal y;\r\nend M;\r\n\r\n",
            "model M\r\n  Real x;\r\n\r\n  Real y;\r\nend M;\r\n",
        ),
        ("\u{feff}\n\nmodel M\nend M;", "\u{feff}model M\nend M;\n"),
        (
            "function f input Real x; output Real y; protected Real z; algorithm for i in 1:3 loop z:=x; while z<1 loop break; end while; end for; y:=z; end f;",
            "function f\n  input Real x;\n  output Real y;\nprotected\n  Real z;\nalgorithm\n  for i in 1:3 loop\n    z := x;\n    while z < 1 loop\n      break;\n    end while;\n  end for;\n  y := z;\nend f;\n",
        ),
        ("", ""),
        ("// nothing but this", "// nothing but this\n"),
    ] {
        assert_eq!(checked(text, text).as_deref(), Some(expected));
    }
    assert_eq!(checked("model M\n Real x\nend M;", "wrong"), None);
}

#[test]
fn parts_of_a_text() {
    let text = "model M\nReal x;\nReal y;\nend M;\n";
    let second = text.find("\nReal y").unwrap() as u32;
    let edits = format::edits_within(&parse(FILE, text), second, second + 8);
    assert_eq!(apply_edits(text, &edits).0, "model M\nReal x;\n  Real y;\nend M;\n");
}

#[test]
fn own_texts_are_formatted() {
    let mut changed = Vec::new();
    for path in own_files() {
        let text = read(&path);
        let name = path.display().to_string();
        let Some(formatted) = checked(&text, &name) else {
            continue;
        };
        let shown = name.contains("/library/") || name.contains("/examples/");
        if shown && formatted != text {
            changed.push(format!("{name}\n{}", first_difference(&text, &formatted)));
        }
    }
    assert!(
        changed.is_empty(),
        "`saltus fmt library examples` changes:\n{}",
        changed.join("\n")
    );
}

/// Blanks, line ends and comments put anywhere, and tokens moved together, into the texts of the repository.
#[test]
fn random_edits() {
    let mut random = Random(3);
    let pieces = [" ", "\n", "\n\n\n", "\t", " /* c */ ", " // c\n", "   ", "\r\n"];
    let mut formatted = 0;
    for path in own_files().iter().step_by(4) {
        let mut text = read(path);
        if text.len() > 20_000 {
            continue;
        }
        for _ in 0..6 {
            for _ in 0..1 + random.below(8) {
                let starts: Vec<(usize, usize, bool)> = {
                    let mut list = Vec::new();
                    parse(FILE, &text).tree.walk(|step| {
                        if let Walk::Token(token) = step {
                            let span = token.span();
                            list.push((
                                span.start as usize,
                                span.end as usize,
                                token.kind() == SyntaxKind::Whitespace,
                            ));
                        }
                    });
                    list
                };
                let Some(&(start, end, blank)) = starts.get(random.below(starts.len())) else {
                    break;
                };
                if blank && random.below(3) == 0 {
                    text.replace_range(start..end, random.of(&pieces));
                } else {
                    text.insert_str(start, random.of(&pieces));
                }
            }
            formatted += usize::from(checked(&text, &path.display().to_string()).is_some());
        }
    }
    assert!(formatted > 100, "{formatted}");
}

/// All files of the Modelica Standard Library, if `SALTUS_MSL` names its folder.
#[test]
fn standard_library() {
    let Some(folder) = std::env::var_os("SALTUS_MSL").map(PathBuf::from) else {
        eprintln!("skipped: SALTUS_MSL is not set");
        return;
    };
    let (mut files, mut stable) = (0, 0);
    for path in modelica_files(&folder) {
        let text = read(&path);
        if let Some(formatted) = checked(&text, &path.display().to_string()) {
            files += 1;
            stable += usize::from(formatted == text);
        }
    }
    eprintln!("{files} files formatted, {stable} of them unchanged");
    assert!(files > 2600);
}
