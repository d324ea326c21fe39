//! Modelica text to a lossless tree and a typed syntax tree.
//!
//! ```
//! use saltus_source::SourceMap;
//!
//! let sources = SourceMap::new();
//! let file = sources.add("M.mo", "model M\n  Real x = 1;\nend M;\n");
//! let parse = saltus_syntax::parse_file(&sources.file(file).unwrap());
//! assert!(parse.diagnostics.is_empty());
//! assert_eq!(parse.tree.to_string(), "model M\n  Real x = 1;\nend M;\n");
//! assert_eq!(parse.ast().classes[0].class.name.name, "M");
//! ```

pub mod ast;
pub mod format;
mod kind;
mod lexer;
pub mod library;
mod lower;
mod parser;
mod tree;
pub mod unit;

use std::sync::Arc;

use saltus_source::{Diagnostic, Diagnostics, FileId, SourceFile, Span, codes};

pub use kind::SyntaxKind;
pub use tree::{Node, SyntaxElement, SyntaxTree, Token, Walk};

/// What parsing yields: a tree for any input, and what is wrong with it.
#[derive(Debug)]
pub struct Parse {
    /// The lossless tree.
    pub tree: SyntaxTree,
    /// Syntax errors and warnings, in the order of the text.
    pub diagnostics: Diagnostics,
}

impl Parse {
    /// The typed syntax tree; made anew at each call.
    pub fn ast(&self) -> ast::StoredDefinition {
        lower::lower(&self.tree)
    }

    /// Whether the text is correct.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.has_errors()
    }
}

/// Parses text.
pub fn parse(file: FileId, text: &str) -> Parse {
    parse_shared(file, Arc::from(text))
}

/// Parses a file of a table; bytes that are not UTF-8 are reported.
pub fn parse_file(file: &SourceFile) -> Parse {
    let mut parse = parse_shared(file.id(), file.shared_text());
    if let Some(diagnostic) = encoding_diagnostic(file) {
        if file.decoded().looks_like == Some("UTF-16") {
            // Nothing else that is said about such a file helps.
            parse.diagnostics = Diagnostics::new();
        }
        parse.diagnostics.push(diagnostic);
        parse.diagnostics.normalise();
    }
    parse
}

/// Parses text that is one expression.
///
/// ```
/// use saltus_source::{FileId, Span};
/// let (expression, diagnostics) = saltus_syntax::parse_expression(FileId(0), "2*(n + 1)");
/// assert!(diagnostics.is_empty());
/// assert_eq!(expression.span, Span::new(FileId(0), 0, 9));
/// let (_, diagnostics) = saltus_syntax::parse_expression(FileId(0), "1, n = 2");
/// assert!(diagnostics.has_errors());
/// ```
pub fn parse_expression(file: FileId, text: &str) -> (ast::Expr, Diagnostics) {
    let parse = parse_as(file, Arc::from(text), parser::Goal::Expression);
    (lower::lone_expression(&parse.tree), parse.diagnostics)
}

fn parse_shared(file: FileId, text: Arc<str>) -> Parse {
    parse_as(file, text, parser::Goal::StoredDefinition)
}

fn parse_as(file: FileId, text: Arc<str>, goal: parser::Goal) -> Parse {
    let (tokens, lexical) = lexer::lex(file, &text);
    let (tree, syntactic) = parser::parse_tokens(file, text, tokens, goal);
    let mut diagnostics: Diagnostics = lexical.into_iter().chain(syntactic).collect();
    diagnostics.normalise();
    Parse { tree, diagnostics }
}

fn encoding_diagnostic(file: &SourceFile) -> Option<Diagnostic> {
    let decoded = file.decoded();
    let &first = decoded.invalid.first()?;
    let encoding = decoded.looks_like.unwrap_or("Latin-1");
    let length = decoded.text[first as usize..].chars().next().map_or(0, char::len_utf8);
    let span = Span::new(file.id(), first, first + length as u32);
    let count = decoded.invalid.len();
    let more = match count {
        1 => "the only such byte in this file".to_owned(),
        _ => format!("the first of {count} such bytes in this file"),
    };
    Some(
        Diagnostic::error(codes::E0110, span, "this file is not UTF-8")
            .with_label(more)
            .with_note("the bytes were read as Latin-1, so that the rest of the file can be used")
            .with_help(format!(
                "it looks like {encoding}; save it as UTF-8: `iconv -f {} -t UTF-8`",
                encoding.to_ascii_uppercase()
            )),
    )
}
