//! Formatting: other blanks and line ends between the same tokens.
//!
//! Every element, equation and statement starts a line, indented by two blanks for each class or statement around it; `end`,
//! `else` and the keywords of sections stand with what they belong to. The lines that follow within one of them keep their
//! shape and move along with its first line. Operators of sums, comparisons, equations and definitions have blanks around
//! them, commas one behind. Everything else is the author's: line ends inside of elements, factors, columns of matrices,
//! annotations, comments.

use std::string::String;

use saltus_source::{Edit, FileId, Span};

use crate::kind::SyntaxKind::{self, *};
use crate::tree::{SyntaxTree, Token, Walk};
use crate::{Parse, parse};

/// Blanks per level.
const INDENT: usize = 2;
/// Where tabulators lead to.
const TAB: usize = 4;
/// Empty lines between two lines that are kept.
const MOST_EMPTY_LINES: usize = 1;

/// What to change in a text so that it is formatted; nothing for a text with syntax errors.
///
/// ```
/// use saltus_source::{FileId, apply_edits};
/// let text = "model M\nReal x=1 ;end M;\n";
/// let edits = saltus_syntax::format::edits(&saltus_syntax::parse(FileId(0), text));
/// assert_eq!(apply_edits(text, &edits).0, "model M\n  Real x = 1;\nend M;\n");
/// ```
pub fn edits(parse: &Parse) -> Vec<Edit> {
    if !parse.is_ok() {
        return Vec::new();
    }
    let found = Formatter::new(&parse.tree).run();
    debug_assert!(keeps_tokens(&parse.tree, &found), "tokens change");
    found
}

/// Those of [`edits`] that change something between two offsets, as editors ask for.
pub fn edits_within(parse: &Parse, start: u32, end: u32) -> Vec<Edit> {
    let mut found = edits(parse);
    found.retain(|edit| edit.span.start >= start && edit.span.end <= end);
    found
}

/// The formatted text; `None` if it has syntax errors.
pub fn formatted(file: FileId, text: &str) -> Option<String> {
    let parse = parse(file, text);
    parse
        .is_ok()
        .then(|| saltus_source::apply_edits(text, &edits(&parse)).0)
}

/// Whether edits leave all tokens as they are, comments included.
fn keeps_tokens(tree: &SyntaxTree, edits: &[Edit]) -> bool {
    let (text, _) = saltus_source::apply_edits(tree.text(), edits);
    let after = parse(tree.file, &text).tree;
    significant(tree)
        .map(|token| token.text())
        .eq(significant(&after).map(|token| token.text()))
}

/// All tokens but blanks.
fn significant(tree: &SyntaxTree) -> impl Iterator<Item = Token<'_>> {
    let mut tokens = Vec::new();
    tree.walk(|step| {
        if let Walk::Token(token) = step
            && token.kind() != Whitespace
        {
            tokens.push(token);
        }
    });
    tokens.into_iter()
}

/// What the tree says of a token.
#[derive(Clone, Copy, Debug)]
struct Place<'t> {
    token: Token<'t>,
    /// The level of the line it must start, if it starts an element, equation, statement or their end.
    anchor: Option<usize>,
    /// Whether comments in front of it belong to what is inside of what it ends or goes on with.
    closes: bool,
    /// The node it is in.
    parent: SyntaxKind,
    /// Whether it is inside an annotation, a matrix or array.
    inside: Inside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    Columns,
    Annotation,
}

struct Formatter<'t> {
    tree: &'t SyntaxTree,
    places: Vec<Place<'t>>,
    /// How lines end.
    line_end: &'static str,
    edits: Vec<Edit>,
}

impl<'t> Formatter<'t> {
    fn new(tree: &'t SyntaxTree) -> Self {
        let first = tree.text().find('\n');
        let windows = first.is_some_and(|at| tree.text()[..at].ends_with('\r'));
        Formatter {
            tree,
            places: places(tree),
            line_end: if windows { "\r\n" } else { "\n" },
            edits: Vec::new(),
        }
    }

    fn run(mut self) -> Vec<Edit> {
        // How far the lines of the present element move to the right.
        let mut moved: isize = 0;
        let mut previous: Option<Place<'t>> = None;
        let mut comments: Vec<Token<'t>> = Vec::new();
        for place in std::mem::take(&mut self.places) {
            if is_comment(place.token.kind()) {
                comments.push(place.token);
                continue;
            }
            let start = place.token.span().start;
            if let Some(level) = place.anchor {
                moved = (level * INDENT) as isize - self.indentation(start) as isize;
                self.new_line(previous, &comments, place);
            } else {
                self.same_element(previous, &comments, place, moved);
            }
            comments.clear();
            previous = Some(place);
        }
        self.end_of_file(previous, &comments);
        self.edits
    }

    /// The width of the blanks at the beginning of the line an offset is in.
    fn indentation(&self, offset: u32) -> usize {
        let text = &self.tree.text()[..offset as usize];
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.tree.text()[line..].trim_start_matches('\u{feff}');
        let blanks = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        blanks.fold(0, |width, byte| {
            if byte == b'\t' {
                width / TAB * TAB + TAB
            } else {
                width + 1
            }
        })
    }

    /// Between the end of one element, or what is in front of its body, and the start of the next.
    fn new_line(&mut self, previous: Option<Place<'t>>, comments: &[Token<'t>], next: Place<'t>) {
        let level = next.anchor.unwrap_or(0);
        let own = level * INDENT;
        let at = self.indentation(next.token.span().start);
        let mut end = previous.map_or(0, |place| place.token.span().end);
        let is_first = previous.is_none();
        let mut fresh = is_first;
        for &comment in comments {
            let starts_line = self.breaks(end, comment.span().start) > 0 || fresh;
            if starts_line {
                // A comment that stands further inside than the `end` behind it belongs to what is inside.
                let inner = next.closes && self.indentation(comment.span().start) > at;
                let indent = if inner { own + INDENT } else { own };
                self.break_line(end, comment.span().start, indent, is_first && end == 0);
            } else {
                self.beside(end, comment);
            }
            fresh = false;
            end = comment.span().end;
        }
        self.break_line(end, next.token.span().start, own, is_first && end == 0);
    }

    /// A comment behind something on its line.
    fn beside(&mut self, end: u32, comment: Token<'t>) {
        if end == comment.span().start {
            self.change(end, comment.span().start, " ".to_owned());
        }
    }

    /// The number of line ends between two offsets.
    fn breaks(&self, start: u32, end: u32) -> usize {
        let gap = &self.tree.text()[start as usize..end as usize];
        gap.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Puts what follows at the beginning of a line.
    fn break_line(&mut self, start: u32, end: u32, indent: usize, at_start: bool) {
        let blanks = " ".repeat(indent);
        if at_start {
            let mark = if self.tree.text().starts_with('\u{feff}') {
                "\u{feff}"
            } else {
                ""
            };
            return self.change(start, end, format!("{mark}{blanks}"));
        }
        let lines = self.breaks(start, end).clamp(1, 1 + MOST_EMPTY_LINES);
        self.change(start, end, format!("{}{blanks}", self.line_end.repeat(lines)));
    }

    /// Between two tokens of one element.
    fn same_element(&mut self, previous: Option<Place<'t>>, comments: &[Token<'t>], next: Place<'t>, moved: isize) {
        let Some(previous) = previous else { return };
        let mut end = previous.token.span().end;
        for &comment in comments {
            let start = comment.span().start;
            if self.breaks(end, start) > 0 {
                self.moved_line(end, start, moved);
            } else {
                self.beside(end, comment);
            }
            end = comment.span().end;
        }
        let start = next.token.span().start;
        if self.breaks(end, start) > 0 {
            return self.moved_line(end, start, moved);
        }
        if comments.is_empty() {
            let gap = &self.tree.text()[end as usize..start as usize];
            if let Some(wanted) = blanks_between(previous, next, gap) {
                self.change(end, start, wanted.to_owned());
            }
        }
    }

    /// A line within an element moves along with its first line.
    fn moved_line(&mut self, start: u32, end: u32, moved: isize) {
        let indent = (self.indentation(end) as isize + moved).max(0) as usize;
        self.break_line(start, end, indent, false);
    }

    fn end_of_file(&mut self, previous: Option<Place<'t>>, comments: &[Token<'t>]) {
        let mut end = previous.map_or(0, |place| place.token.span().end);
        for &comment in comments {
            let start = comment.span().start;
            if self.breaks(end, start) > 0 {
                self.break_line(end, start, 0, false);
            } else if previous.is_some() || end > 0 {
                self.beside(end, comment);
            }
            end = comment.span().end;
        }
        if end > 0 {
            let behind = self.tree.text().len() as u32;
            self.change(end, behind, self.line_end.to_owned());
        }
    }

    fn change(&mut self, start: u32, end: u32, text: String) {
        if self.tree.text()[start as usize..end as usize] != text {
            self.edits
                .push(Edit::replace(Span::new(self.tree.file, start, end), text));
        }
    }
}

fn is_comment(kind: SyntaxKind) -> bool {
    matches!(kind, LineComment | BlockComment | UnknownCharacters)
}

/// All tokens but blanks, with what the tree says of them.
fn places(tree: &SyntaxTree) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    let mut open: Vec<SyntaxKind> = Vec::new();
    let mut level = 0_usize;
    let mut anchor: Option<(usize, bool)> = None;
    let mut columns = 0_u32;
    let mut annotations = 0_u32;
    tree.walk(|step| match step {
        Walk::Enter(node) => {
            let (kind, parent) = (node.kind(), open.last().copied());
            if anchor.is_none() {
                anchor = anchor_of(kind, parent, level);
            }
            match kind {
                Composition | ForEquation | ForStatement | WhileStatement | Branch | ElseBranch => level += 1,
                MatrixExpression | ArrayExpression => columns += 1,
                Annotation => annotations += 1,
                _ => {}
            }
            open.push(kind);
        }
        Walk::Leave(node) => {
            match node.kind() {
                Composition | ForEquation | ForStatement | WhileStatement | Branch | ElseBranch => level -= 1,
                MatrixExpression | ArrayExpression => columns -= 1,
                Annotation => annotations -= 1,
                _ => {}
            }
            open.pop();
        }
        Walk::Token(token) => {
            let kind = token.kind();
            if kind == Whitespace {
                return;
            }
            let parent = open.last().copied().unwrap_or(StoredDefinition);
            let mut own = None;
            if !is_comment(kind) {
                own = anchor.take();
                own = closing_anchor(kind, parent, level).or(own);
            }
            places.push(Place {
                token,
                anchor: own.map(|(level, _)| level),
                closes: own.is_some_and(|(_, closes)| closes),
                parent,
                inside: match (annotations > 0, columns > 0) {
                    (true, _) => Inside::Annotation,
                    (false, true) => Inside::Columns,
                    (false, false) => Inside::Nothing,
                },
            });
        }
    });
    places
}

/// The level of the line that a token starts which closes what is in front of it: `end`, or the keyword of a section.
fn closing_anchor(kind: SyntaxKind, parent: SyntaxKind, level: usize) -> Option<(usize, bool)> {
    match (kind, parent) {
        (EndKw, ClassDefinition | IfEquation | IfStatement | WhenEquation | WhenStatement) => Some((level, true)),
        (EndKw, ForEquation | ForStatement | WhileStatement) | (PublicKw | ProtectedKw, ElementSection) => {
            Some((level.saturating_sub(1), true))
        }
        _ => None,
    }
}

/// The level of the line that a node starts, and whether it closes what is in front of it.
fn anchor_of(kind: SyntaxKind, parent: Option<SyntaxKind>, level: usize) -> Option<(usize, bool)> {
    match (kind, parent?) {
        (
            WithinClause | StoredClass | Element | ExternalClause | SimpleEquation | IfEquation | ForEquation
            | WhenEquation | SimpleStatement | IfStatement | ForStatement | WhileStatement | WhenStatement
            | BreakStatement | ReturnStatement,
            _,
        )
        | (Annotation, Composition) => Some((level, false)),
        (EquationSection | AlgorithmSection, Composition) => Some((level.saturating_sub(1), true)),
        (Branch | ElseBranch, _) => Some((level, true)),
        _ => None,
    }
}

/// The blanks between two tokens on one line; `None` to leave them.
fn blanks_between(previous: Place<'_>, next: Place<'_>, gap: &str) -> Option<&'static str> {
    let (before, after) = (previous.token.kind(), next.token.kind());
    if previous.inside == Inside::Annotation && next.inside == Inside::Annotation {
        return None;
    }
    if matches!(after, Semicolon | Comma) && next.parent != MatrixExpression {
        return Some("");
    }
    if next.inside == Inside::Columns && gap.len() > 1 {
        return None;
    }
    if matches!(before, LeftParen | LeftBracket | LeftBrace) || matches!(after, RightParen | RightBracket | RightBrace)
    {
        return Some("");
    }
    let opens = matches!(next.parent, CallArguments | ClassModification) && after == LeftParen
        || next.parent == Subscripts && after == LeftBracket;
    if opens && matches!(before, Identifier | DerKw | InitialKw | PureKw | ConnectKw) {
        return Some("");
    }
    if before == Comma || is_spaced(previous) || is_spaced(next) {
        return Some(" ");
    }
    // Several blanks become one; whether there are any is the author's decision.
    (gap.len() > 1).then_some(" ")
}

/// Whether a sign has blanks on both sides.
fn is_spaced(place: Place<'_>) -> bool {
    match place.token.kind() {
        Equals | Assign | EqualEqual | NotEqual | Less | LessEqual | Greater | GreaterEqual => true,
        Plus | Minus => place.parent == BinaryExpression,
        _ => false,
    }
}
