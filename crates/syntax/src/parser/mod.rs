//! Recursive descent over the tokens that are not trivia.
//!
//! The parser emits events (a node starts, a node ends); [`build`] turns them into the tree. It
//! never fails: what does not fit goes into `Error` nodes, with a diagnostic.

mod build;
mod classes;
mod elements;
mod equations;
mod expressions;
mod modifications;
mod recovery;
mod spelling;

use saltus_source::{Code, Diagnostic, Edit, FileId, Span, codes};

use crate::kind::SyntaxKind::{self, *};
use crate::lexer::{MAX_DIAGNOSTICS, Tokens};
use crate::tree::SyntaxTree;
use recovery::Block;
pub(crate) use spelling::closest_class_keyword;

/// Brackets, statements and classes nest at most this deep. Every level costs the parser a few
/// stack frames; 256 levels fit a 2 MiB thread stack several times over, and hand-written models
/// stay below 30.
pub(crate) const MAX_NESTING: u32 = 256;

/// Position among the tokens that are not trivia.
type Position = u32;

/// A node starts or ends.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start {
        kind: SyntaxKind,
        position: Position,
        /// Index of the start event of a node that was later wrapped around this one; 0 if none.
        wrapped_by: u32,
    },
    Finish {
        position: Position,
    },
}

/// An open node.
#[derive(Debug)]
struct Marker(u32);

/// A finished node, which can still be wrapped.
#[derive(Clone, Copy, Debug)]
struct Completed {
    event: u32,
    kind: SyntaxKind,
}

struct Parser<'t> {
    file: FileId,
    text: &'t str,
    tokens: &'t Tokens,
    /// Indices of the tokens that are not trivia.
    significant: Vec<u32>,
    position: Position,
    events: Vec<Event>,
    diagnostics: Vec<Diagnostic>,
    /// Position of the last error: one error per place.
    last_error: Option<Position>,
    nesting: u32,
    /// Nesting was too deep: the rest of the file is skipped without further errors.
    gave_up: bool,
    /// Classes and statements that wait for their `end`.
    blocks: Vec<Block>,
    /// Number of open subscripts; `end` is an expression only inside.
    subscript_depth: u32,
}

/// What a text is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The classes of a file.
    StoredDefinition,
    /// One expression.
    Expression,
}

/// Parses tokens to a tree.
pub(crate) fn parse_tokens(
    file: FileId,
    text: std::sync::Arc<str>,
    tokens: Tokens,
    goal: Goal,
) -> (SyntaxTree, Vec<Diagnostic>) {
    let mut significant = Vec::with_capacity(tokens.kinds.len());
    let visible = |&(_, kind): &(usize, &SyntaxKind)| !kind.is_trivia();
    significant.extend(
        tokens
            .kinds
            .iter()
            .enumerate()
            .filter(visible)
            .map(|(index, _)| index as u32),
    );
    let mut parser = Parser {
        file,
        text: &text,
        tokens: &tokens,
        events: Vec::with_capacity(significant.len() * 2),
        significant,
        position: 0,
        diagnostics: Vec::new(),
        last_error: None,
        nesting: 0,
        gave_up: false,
        blocks: Vec::new(),
        subscript_depth: 0,
    };
    match goal {
        Goal::StoredDefinition => parser.stored_definition(),
        Goal::Expression => parser.lone_expression(),
    }
    let Parser {
        events,
        significant,
        mut diagnostics,
        ..
    } = parser;
    let (nodes, too_deep) = build::build(&events, &significant, tokens.kinds.len() as u32);
    let tree = SyntaxTree {
        file,
        text,
        token_kinds: tokens.kinds,
        token_starts: tokens.starts,
        nodes,
    };
    if let Some(token) = too_deep {
        let start = tree.token_starts[token as usize];
        diagnostics.push(too_deep_diagnostic(Span::at(file, start)));
    }
    (tree, diagnostics)
}

fn too_deep_diagnostic(span: Span) -> Diagnostic {
    Diagnostic::error(codes::E0109, span, "this is nested too deeply")
        .with_note(format!(
            "at most {MAX_NESTING} levels of nesting and 1000 operators in a row are read"
        ))
        .with_help("introduce intermediate variables, functions or classes")
}

impl Parser<'_> {
    // --- Tokens -------------------------------------------------------------------------------

    #[inline]
    fn nth(&self, ahead: u32) -> SyntaxKind {
        self.kind_at(self.position + ahead)
    }

    #[inline]
    fn kind_at(&self, position: Position) -> SyntaxKind {
        match self.significant.get(position as usize) {
            Some(&token) => self.tokens.kinds[token as usize],
            None => EndOfFile,
        }
    }

    #[inline]
    fn current(&self) -> SyntaxKind {
        self.nth(0)
    }

    #[inline]
    fn at(&self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    fn at_any(&self, kinds: &[SyntaxKind]) -> bool {
        kinds.contains(&self.current())
    }

    #[inline]
    fn bump(&mut self) {
        if (self.position as usize) < self.significant.len() {
            self.position += 1;
        }
    }

    #[inline]
    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let found = self.at(kind);
        if found {
            self.position += 1;
        }
        found
    }

    /// Place of the token at a position; the end of the last one behind it.
    fn span_at(&self, position: Position) -> Span {
        let end = self.text.len() as u32;
        let Some(&token) = self.significant.get(position as usize) else {
            let last = self.significant.len().checked_sub(1);
            return last.map_or(Span::at(self.file, 0), |last| {
                self.span_at(last as Position).end_point()
            });
        };
        let starts = &self.tokens.starts;
        let next = starts.get(token as usize + 1).copied().unwrap_or(end);
        Span::new(self.file, starts[token as usize], next)
    }

    fn text_at(&self, position: Position) -> &str {
        let span = self.span_at(position);
        &self.text[span.start as usize..span.end as usize]
    }

    /// The end of the token before the current one.
    fn previous_end(&self) -> Span {
        match self.position.checked_sub(1) {
            Some(previous) => self.span_at(previous).end_point(),
            None => Span::at(self.file, 0),
        }
    }

    /// Whether a line ends between the previous token and the current one.
    fn at_new_line(&self) -> bool {
        let (from, to) = (self.previous_end().end, self.span_at(self.position).start);
        self.text[from as usize..to as usize].contains('\n')
    }

    // --- Nodes --------------------------------------------------------------------------------

    #[inline]
    fn start(&mut self) -> Marker {
        self.events.push(Event::Start {
            kind: Tombstone,
            position: self.position,
            wrapped_by: 0,
        });
        Marker(self.events.len() as u32 - 1)
    }

    #[inline]
    fn finish(&mut self, marker: Marker, as_kind: SyntaxKind) -> Completed {
        if let Event::Start { kind, .. } = &mut self.events[marker.0 as usize] {
            *kind = as_kind;
        }
        self.events.push(Event::Finish {
            position: self.position,
        });
        Completed {
            event: marker.0,
            kind: as_kind,
        }
    }

    /// Starts a node around a finished one.
    fn wrap(&mut self, inner: Completed) -> Marker {
        let outer = self.events.len() as u32;
        let Event::Start {
            position, wrapped_by, ..
        } = &mut self.events[inner.event as usize]
        else {
            return self.start();
        };
        *wrapped_by = outer;
        let position = *position;
        self.events.push(Event::Start {
            kind: Tombstone,
            position,
            wrapped_by: 0,
        });
        Marker(outer)
    }

    // --- Errors -------------------------------------------------------------------------------

    /// Whether an error at the current place would be news.
    fn may_report(&self) -> bool {
        !self.gave_up
            && !self.behind_unknown_characters()
            && self.last_error != Some(self.position)
            && self.diagnostics.len() < MAX_DIAGNOSTICS
    }

    /// Whether the lexer has reported something right before the current token.
    fn behind_unknown_characters(&self) -> bool {
        let raw = |position: Position| self.significant.get(position as usize).copied();
        let end = raw(self.position).unwrap_or(self.tokens.kinds.len() as u32);
        let start = self.position.checked_sub(1).and_then(raw).unwrap_or(0);
        let between = &self.tokens.kinds[start as usize..end as usize];
        between.contains(&UnknownCharacters)
    }

    fn report(&mut self, make: impl FnOnce(&Self) -> Diagnostic) {
        if self.may_report() {
            let diagnostic = make(self);
            self.diagnostics.push(diagnostic);
        }
        self.last_error = Some(self.position);
    }

    /// Reports something about the current token that is not in the way of parsing on.
    fn remark(&mut self, code: Code, message: &str, help: &str) {
        if !self.gave_up && self.diagnostics.len() < MAX_DIAGNOSTICS {
            let span = self.span_at(self.position);
            let diagnostic = Diagnostic::error(code, span, message).with_help(help);
            self.diagnostics.push(diagnostic);
        }
    }

    /// How messages call the token at a position.
    fn describe(&self, position: Position) -> std::string::String {
        match self.significant.get(position as usize) {
            None => EndOfFile.describe(),
            Some(&token) => match self.tokens.kinds[token as usize] {
                Identifier | UnsignedInteger | UnsignedReal => {
                    format!("`{}`", self.text_at(position))
                }
                kind => kind.describe(),
            },
        }
    }

    /// Reports that something else was expected at the current token.
    fn expected(&mut self, what: &str) {
        self.report(|p| {
            if let Some(diagnostic) = p.misspelt_keyword_nearby() {
                return diagnostic;
            }
            let found = p.describe(p.position);
            let span = p.span_at(p.position);
            let diagnostic = Diagnostic::error(codes::E0101, span, format!("expected {what}, found {found}"))
                .with_label(format!("expected {what}"));
            p.of_other_languages(diagnostic)
        });
    }

    /// Ways of writing that other languages have.
    fn of_other_languages(&self, diagnostic: Diagnostic) -> Diagnostic {
        let Some(before) = self.position.checked_sub(1) else {
            return diagnostic;
        };
        let (previous, current) = (self.span_at(before), self.span_at(self.position));
        if previous.end != current.start {
            return diagnostic;
        }
        match (self.kind_at(before), self.current()) {
            (Star, Star) => diagnostic
                .with_help("a power is written with `^`")
                .with_safe_fix("replace `**` by `^`", vec![Edit::replace(previous.to(current), "^")]),
            (Comma, UnsignedInteger) if self.is_number_before(before) => diagnostic
                .with_help("decimals follow a point: `0.5`, not `0,5`")
                .with_likely_fix("replace `,` by `.`", vec![Edit::replace(previous, ".")]),
            (UnsignedInteger, Comma) if self.is_number_behind() => diagnostic
                .with_help("decimals follow a point: `0.5`, not `0,5`")
                .with_likely_fix("replace `,` by `.`", vec![Edit::replace(current, ".")]),
            _ => diagnostic,
        }
    }

    /// Whether a whole number stands right behind the token that is looked at.
    fn is_number_behind(&self) -> bool {
        let behind = self.position + 1;
        self.kind_at(behind) == UnsignedInteger && self.span_at(self.position).end == self.span_at(behind).start
    }

    /// Whether a whole number stands right in front of a token.
    fn is_number_before(&self, position: Position) -> bool {
        position.checked_sub(1).is_some_and(|number| {
            self.kind_at(number) == UnsignedInteger && self.span_at(number).end == self.span_at(position).start
        })
    }

    fn expect(&mut self, kind: SyntaxKind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(&kind.describe());
        }
        found
    }

    /// A name; also a keyword in its place, with an error.
    fn identifier(&mut self, what: &str) -> bool {
        if self.eat(Identifier) {
            return true;
        }
        let as_name = matches!(
            self.nth(1),
            Semicolon | Comma | Equals | LeftParen | LeftBracket | RightParen | String | Assign
        );
        let closes = self.at(EndKw) && (self.at_new_line() || self.nth(1) != Semicolon);
        if self.current().is_keyword() && as_name && !closes {
            self.report(|p| {
                let word = p.text_at(p.position);
                Diagnostic::error(
                    codes::E0115,
                    p.span_at(p.position),
                    format!("`{word}` is a keyword and cannot be a name"),
                )
                .with_label(format!("expected {what}"))
                .with_help(format!("choose another name, or quote it: `'{word}'`"))
            });
            self.error_token();
            return true;
        }
        self.expected(what);
        false
    }

    // --- Nesting ------------------------------------------------------------------------------

    /// Enters a level of nesting; `false` if that is one too many, and then nothing is left to
    /// parse.
    #[must_use]
    fn enter(&mut self) -> bool {
        if self.nesting < MAX_NESTING {
            self.nesting += 1;
            return true;
        }
        self.give_up();
        false
    }

    fn leave(&mut self) {
        self.nesting -= 1;
    }

    fn give_up(&mut self) {
        if self.gave_up {
            return;
        }
        let span = self.span_at(self.position);
        self.diagnostics.push(too_deep_diagnostic(span));
        self.gave_up = true;
        let marker = self.start();
        self.position = self.significant.len() as u32;
        self.finish(marker, Error);
    }
}
