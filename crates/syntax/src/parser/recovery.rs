//! What the parser does when the text does not fit: brackets, semicolons, `end`s.

use saltus_source::{Diagnostic, Edit, codes};

use super::{Parser, Position};
use crate::kind::SyntaxKind::{self, *};

/// Something that waits for its `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// `ClassDefinition`, or the keyword of a statement.
    pub kind: SyntaxKind,
    /// The class name, or the keyword of a statement.
    pub opened: Position,
}

/// How far a missing bracket is looked for. Keeps parsing linear; expressions with an error that
/// are longer than this are reported as unclosed.
const BRACKET_SEARCH: u32 = 2000;

/// The bracket that closes this one.
fn closing(open: SyntaxKind) -> Option<SyntaxKind> {
    match open {
        LeftParen => Some(RightParen),
        LeftBracket => Some(RightBracket),
        LeftBrace => Some(RightBrace),
        _ => None,
    }
}

/// Whether a new part of a class starts with this keyword, so that skipping must stop.
fn is_section_start(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        EquationKw | AlgorithmKw | PublicKw | ProtectedKw | ExternalKw | EndOfFile
    )
}

impl Parser<'_> {
    /// Puts the current token into an error node.
    pub(super) fn error_token(&mut self) {
        let marker = self.start();
        self.bump();
        self.finish(marker, Error);
    }

    /// Whether `end` at the current token closes something, as opposed to `a[end]`.
    pub(super) fn at_closing_end(&self) -> bool {
        self.at(EndKw) && matches!(self.nth(1), Identifier | IfKw | ForKw | WhenKw | WhileKw)
            || self.at(EndKw) && self.subscript_depth == 0
    }

    /// Whether the current token surely belongs to what comes after the present element, equation
    /// or statement.
    fn at_next_part(&self) -> bool {
        let kind = self.current();
        is_section_start(kind)
            || self.at_closing_end()
            || kind.is_class_keyword()
            || kind.is_element_prefix()
            || matches!(kind, ImportKw | ExtendsKw | ElseKw | ElseifKw | ElsewhenKw)
    }

    /// Skips to the next semicolon outside brackets (left to the caller), the next section or
    /// the next `end`.
    pub(super) fn skip_to_semicolon(&mut self) {
        if self.at(Semicolon) || self.at_next_part() {
            return;
        }
        let marker = self.start();
        let mut open = 0_u32;
        loop {
            match self.current() {
                EndOfFile => break,
                Semicolon => break,
                LeftParen | LeftBracket | LeftBrace => open += 1,
                RightParen | RightBracket | RightBrace => open = open.saturating_sub(1),
                _ if open == 0 && self.at_next_part() => break,
                kind if is_section_start(kind) => break,
                EndKw if matches!(self.nth(1), Identifier | IfKw | ForKw | WhenKw | WhileKw) => {
                    break;
                }
                _ => {}
            }
            self.bump();
        }
        self.finish(marker, Error);
    }

    /// The semicolon behind an element, equation or statement.
    pub(super) fn semicolon(&mut self, behind: &str) {
        if self.eat(Semicolon) {
            return;
        }
        if matches!(self.current(), RightParen | RightBracket | RightBrace) {
            self.unopened_bracket();
        } else if self.behind_unknown_characters() {
            // Reported by the lexer.
        } else if self.behind_unclosed_string() {
            // It took the semicolon with it.
            return;
        } else if self.looks_like_next_part() {
            return self.missing_semicolon(behind);
        } else {
            self.expected("`;`");
        }
        self.skip_to_semicolon();
        self.eat(Semicolon);
    }

    /// Whether the text goes on as if there were a semicolon.
    fn looks_like_next_part(&self) -> bool {
        let kind = self.current();
        self.at_new_line()
            || self.at_next_part()
            || matches!(kind, Identifier | IfKw | ForKw | WhenKw | WhileKw | ConnectKw | DerKw)
            || matches!(kind, AnnotationKw | ReturnKw | BreakKw | InitialKw)
    }

    fn behind_unclosed_string(&self) -> bool {
        let Some(previous) = self.position.checked_sub(1) else {
            return false;
        };
        let text = self.text_at(previous);
        text.starts_with('"') && (text.len() == 1 || !text.ends_with('"'))
    }

    fn missing_semicolon(&mut self, behind: &str) {
        self.report(|p| {
            let slip = p.position.checked_sub(1).filter(|_| !p.at_new_line());
            let section = |kind| is_section_start(kind) || matches!(kind, ThenKw | LoopKw);
            if let Some(previous) = slip
                && let Some(meant) = p.meant(previous, section)
            {
                return p.misspelling(previous, meant);
            }
            Diagnostic::error(codes::E0102, p.previous_end(), format!("missing `;` behind {behind}"))
                .with_label("expected `;`")
                .with_help("every element, equation and statement ends with `;`")
                .with_safe_fix("insert `;`", vec![Edit::insert(p.previous_end(), ";")])
        });
    }

    fn unopened_bracket(&mut self) {
        self.report(|p| {
            let bracket = p.describe(p.position);
            Diagnostic::error(codes::E0105, p.span_at(p.position), format!("{bracket} closes nothing"))
                .with_label("no bracket is open here")
        });
        self.error_token();
    }

    /// The closing bracket for the one at `opened`.
    pub(super) fn close_bracket(&mut self, opened: Position, close: SyntaxKind, expected: &str) {
        if self.eat(close) {
            return;
        }
        if matches!(self.current(), RightParen | RightBracket | RightBrace) {
            return self.wrong_bracket(opened, close);
        }
        if let Some(partner) = self.find_partner(close) {
            self.expected(expected);
            let marker = self.start();
            self.position = partner;
            self.finish(marker, Error);
            self.bump();
            return;
        }
        self.unclosed_bracket(opened, close);
    }

    /// Another closing bracket than the one that fits: superfluous, or it closes one further out.
    fn wrong_bracket(&mut self, opened: Position, close: SyntaxKind) {
        if !self.may_report() || !self.is_superfluous(opened) {
            return self.unclosed_bracket(opened, close);
        }
        self.report(|p| {
            let (open, found) = (p.describe(opened), p.describe(p.position));
            let message = format!("{found} does not close {open}");
            Diagnostic::error(codes::E0105, p.span_at(p.position), message)
                .with_label(format!("expected {}", close.describe()))
                .with_secondary(p.span_at(opened), "opened here")
        });
        let marker = self.start();
        self.bump();
        if let Some(partner) = self.find_partner(close) {
            self.position = partner;
        }
        self.finish(marker, Error);
        self.eat(close);
    }

    /// Whether more brackets of the kind of the current one are closed, up to the end of the
    /// element or equation, than were opened before.
    fn is_superfluous(&self, opened: Position) -> bool {
        let close = self.current();
        let is_open = |kind| closing(kind) == Some(close);
        let mut unclosed = 0_i32;
        for back in 0..BRACKET_SEARCH.min(opened) {
            match self.kind_at(opened - back) {
                kind if is_open(kind) => unclosed += 1,
                kind if kind == close => unclosed -= 1,
                Semicolon if close != RightBracket => break,
                kind if is_section_start(kind) => break,
                _ => {}
            }
        }
        let mut excess = 0_i32;
        for ahead in 0..BRACKET_SEARCH {
            match self.nth(ahead) {
                kind if is_open(kind) => excess -= 1,
                kind if kind == close => excess += 1,
                Semicolon if close != RightBracket => break,
                kind if is_section_start(kind) => break,
                _ => {}
            }
        }
        excess > unclosed
    }

    fn unclosed_bracket(&mut self, opened: Position, close: SyntaxKind) {
        self.report(|p| {
            let message = format!("{} is not closed", p.describe(opened));
            Diagnostic::error(codes::E0105, p.previous_end(), message)
                .with_label(format!("expected {}", close.describe()))
                .with_secondary(p.span_at(opened), "opened here")
        });
    }

    /// Whether a row of numbers goes on here, rather than an equation.
    fn starts_matrix_row(&self, ahead: u32) -> bool {
        matches!(self.nth(ahead), UnsignedInteger | UnsignedReal | Minus | Plus)
    }

    /// Position of the closing bracket if it comes before the present part of the text ends.
    fn find_partner(&self, close: SyntaxKind) -> Option<Position> {
        let mut open: Vec<SyntaxKind> = Vec::new();
        for ahead in 0..BRACKET_SEARCH {
            let kind = self.nth(ahead);
            match kind {
                LeftParen => open.push(RightParen),
                LeftBracket => open.push(RightBracket),
                LeftBrace => open.push(RightBrace),
                RightParen | RightBracket | RightBrace => match open.pop() {
                    None if kind == close => return Some(self.position + ahead),
                    Some(partner) if partner == kind => {}
                    _ => return None,
                },
                Semicolon if close == RightBracket && self.starts_matrix_row(ahead + 1) => {}
                Semicolon if !open.contains(&RightBracket) => return None,
                EndKw if matches!(self.nth(ahead + 1), Identifier | IfKw | ForKw | WhenKw) => {
                    return None;
                }
                _ if is_section_start(kind) || kind.is_class_keyword() && kind != FunctionKw => {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    // --- Blocks -------------------------------------------------------------------------------

    pub(super) fn open_block(&mut self, kind: SyntaxKind, opened: Position) {
        self.blocks.push(Block { kind, opened });
    }

    /// Whether an `end if`, `end for`, … is here that closes nothing in this class.
    pub(super) fn at_stray_end(&self) -> bool {
        self.at(EndKw)
            && matches!(self.nth(1), IfKw | ForKw | WhenKw | WhileKw)
            && self.blocks.last().is_none_or(|block| block.kind == ClassDefinition)
    }

    /// Whether `M;` or `if;` is here where `end M;` or `end if;` is missing its `end`.
    pub(super) fn at_name_without_end(&self) -> bool {
        if self.nth(1) != Semicolon {
            return false;
        }
        self.blocks.last().is_some_and(|block| match block.kind {
            ClassDefinition => self.at(Identifier) && self.text_at(self.position) == self.text_at(block.opened),
            keyword => self.at(keyword),
        })
    }

    pub(super) fn stray_end(&mut self) {
        self.report(|p| {
            let what = p.text_at(p.position + 1);
            let span = p.span_at(p.position).to(p.span_at(p.position + 1));
            Diagnostic::error(codes::E0101, span, format!("`end {what}` closes nothing"))
                .with_label(format!("no `{what}` is open here"))
        });
        let marker = self.start();
        self.bump();
        self.bump();
        self.finish(marker, Error);
        self.eat(Semicolon);
    }

    /// `end if`, `end for`, …; behind it the block is closed, whatever was found.
    pub(super) fn close_statement_block(&mut self) {
        let without_end = self.at_name_without_end();
        let Some(block) = self.blocks.pop() else {
            return;
        };
        if !self.at(EndKw) {
            self.missing_end(block);
            if without_end {
                self.bump();
            }
            return;
        }
        if self.nth(1) == block.kind {
            self.bump();
            self.bump();
            return;
        }
        if self.end_belongs_outside(block) {
            return self.missing_end(block);
        }
        self.bump();
        let wanted = format!("`end {}`", block.kind.fixed_text().unwrap_or(""));
        self.expected(&wanted);
        if self.at_any(&[IfKw, ForKw, WhenKw, WhileKw, Identifier]) {
            self.error_token();
        }
    }

    /// `end Name` of a class.
    pub(super) fn close_class(&mut self, is_missing_name: bool) {
        let without_end = self.at_name_without_end();
        let Some(block) = self.blocks.pop() else {
            return;
        };
        if !self.at(EndKw) {
            self.missing_end(block);
            if without_end {
                self.bump();
            }
            return;
        }
        if self.nth(1) == Identifier {
            let matches = self.text_at(self.position + 1) == self.text_at(block.opened);
            if matches || is_missing_name {
                self.bump();
                self.bump();
            } else if self.end_belongs_outside(block) {
                self.missing_end(block);
            } else {
                self.bump();
                self.wrong_end_name(block);
            }
            return;
        }
        self.bump();
        if self.at_any(&[IfKw, ForKw, WhenKw, WhileKw]) {
            self.expected("the name of the class");
            self.error_token();
        } else {
            self.report(|p| {
                let name = p.text_at(block.opened);
                let span = p.previous_end();
                Diagnostic::error(codes::E0107, span, format!("`end` without the name `{name}`"))
                    .with_label(format!("expected `{name}`"))
                    .with_secondary(p.span_at(block.opened), "the class starts here")
                    .with_safe_fix(format!("insert `{name}`"), vec![Edit::insert(span, format!(" {name}"))])
            });
        }
    }

    fn wrong_end_name(&mut self, block: Block) {
        self.report(|p| {
            let (found, name) = (p.text_at(p.position), p.text_at(block.opened));
            Diagnostic::error(
                codes::E0107,
                p.span_at(p.position),
                format!("the class is called `{name}`, not `{found}`"),
            )
            .with_label(format!("expected `{name}`"))
            .with_secondary(p.span_at(block.opened), "the class starts here")
            .with_help(format!("write `end {name};`"))
            .with_safe_fix(
                format!("replace `{found}` by `{name}`"),
                vec![Edit::replace(p.span_at(p.position), name)],
            )
        });
        self.bump();
    }

    /// Whether the `end …` at the current token closes a block around `inner` (already taken off
    /// the stack).
    fn end_belongs_outside(&self, inner: Block) -> bool {
        let word = self.nth(1);
        if word == Identifier {
            let name = self.text_at(self.position + 1);
            let known = |b: &Block| b.kind == ClassDefinition && self.text_at(b.opened) == name;
            return self.blocks.iter().any(known);
        }
        // Statements do not reach beyond the class they are in.
        self.blocks
            .iter()
            .rev()
            .take_while(|block| block.kind != ClassDefinition)
            .any(|block| block.kind == word)
            && inner.kind != ClassDefinition
    }

    /// The blanks at the beginning of the line a token is in.
    fn indentation(&self, position: Position) -> &str {
        let start = self.span_at(position).start as usize;
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[line..start];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    fn missing_end(&mut self, block: Block) {
        self.report(|p| {
            let what = match block.kind {
                ClassDefinition => format!("end {}", p.text_at(block.opened)),
                kind => format!("end {}", kind.fixed_text().unwrap_or("")),
            };
            let diagnostic = Diagnostic::error(codes::E0114, p.span_at(p.position), format!("missing `{what}`"))
                .with_label(format!("expected `{what}` before this"))
                .with_secondary(p.span_at(block.opened), "starts here");
            // `M;` lacks the word alone; elsewhere the end belongs on a line of its own, in line with the beginning.
            let word_only = p.text_at(p.position) == &what[4..] && p.nth(1) == Semicolon;
            let edit = if word_only {
                Edit::insert(p.span_at(p.position), "end ")
            } else {
                let indentation = p.indentation(block.opened);
                Edit::insert(p.previous_end(), format!("\n{indentation}{what};"))
            };
            let title = format!("insert `{}`", if word_only { "end" } else { &what });
            if word_only || p.at(EndOfFile) {
                diagnostic.with_safe_fix(title, vec![edit])
            } else {
                diagnostic.with_likely_fix(title, vec![edit])
            }
        });
    }
}
