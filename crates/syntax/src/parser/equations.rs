//! Equations and statements (appendix A.2.6).

use saltus_source::{Diagnostic, Edit, codes};

use super::{Completed, Parser, Position};
use crate::kind::SyntaxKind::{self, *};

/// Equations and statements have the same compound forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Equations,
    Statements,
}

impl Parser<'_> {
    pub(super) fn equations(&mut self) {
        self.body(Dialect::Equations);
    }

    pub(super) fn statements(&mut self) {
        self.body(Dialect::Statements);
    }

    /// Equations or statements up to the end of the section or branch.
    fn body(&mut self, dialect: Dialect) {
        while !self.at_body_end() {
            let before = self.position;
            self.one(dialect);
            if self.position == before {
                self.expected(dialect.name());
                self.error_token();
                self.skip_to_semicolon();
                self.eat(Semicolon);
            }
        }
    }

    fn at_body_end(&self) -> bool {
        match self.current() {
            EquationKw | AlgorithmKw | PublicKw | ProtectedKw | ExternalKw => true,
            EndKw => !self.at_stray_end(),
            EndOfFile | AnnotationKw => true,
            ElseKw | ElseifKw | ElsewhenKw => self.in_branch(),
            InitialKw => matches!(self.nth(1), EquationKw | AlgorithmKw),
            _ => self.at_name_without_end(),
        }
    }

    /// Whether an enclosing `if` or `when` of the same class can take an `else…`.
    fn in_branch(&self) -> bool {
        self.blocks
            .iter()
            .rev()
            .take_while(|block| block.kind != ClassDefinition)
            .any(|block| matches!(block.kind, IfKw | WhenKw))
    }

    fn one(&mut self, dialect: Dialect) {
        match self.current() {
            EndKw => return self.stray_end(),
            ElseKw | ElseifKw | ElsewhenKw | ThenKw | LoopKw => {
                self.expected(dialect.name());
                return self.error_token();
            }
            _ => {}
        }
        if self.at_declaration() {
            return self.misplaced_declaration(dialect);
        }
        if !self.enter() {
            return;
        }
        let start = self.position;
        let kind = self.compound_keyword();
        let compound = match (kind, dialect) {
            (IfKw, Dialect::Equations) => Some(IfEquation),
            (ForKw, Dialect::Equations) => Some(ForEquation),
            (WhenKw, Dialect::Equations) => Some(WhenEquation),
            (IfKw, Dialect::Statements) => Some(IfStatement),
            (ForKw, Dialect::Statements) => Some(ForStatement),
            (WhenKw, Dialect::Statements) => Some(WhenStatement),
            (WhileKw, Dialect::Statements) => Some(WhileStatement),
            (WhileKw, Dialect::Equations) => {
                self.remark(
                    codes::E0101,
                    "`while` is a statement, not an equation",
                    "use `for`, or an algorithm section",
                );
                Some(Error)
            }
            _ => None,
        };
        let marker = self.start();
        let node = match compound {
            Some(node) => {
                self.compound(kind, dialect);
                node
            }
            None => self.simple(dialect),
        };
        self.description();
        let is_something = self.position > start;
        if is_something {
            self.semicolon(dialect.name());
        }
        self.finish(marker, node);
        self.leave();
    }

    /// The current keyword, or the one that was meant: `whne x > 1 then`.
    fn compound_keyword(&mut self) -> SyntaxKind {
        let kind = self.current();
        let cannot_follow_name = matches!(
            self.nth(1),
            Identifier | NotKw | TrueKw | FalseKw | UnsignedInteger | UnsignedReal | InitialKw
        );
        if kind != Identifier || !cannot_follow_name {
            return kind;
        }
        let compound = |kind| matches!(kind, IfKw | ForKw | WhenKw | WhileKw);
        let Some(meant) = self.meant(self.position, compound) else {
            return kind;
        };
        self.report(|p| p.misspelling(p.position, meant));
        meant
    }

    /// Whether an equation or statement starts here, where an element could: the keyword of the
    /// section that is missing.
    pub(super) fn missing_section(&self) -> Option<SyntaxKind> {
        match self.current() {
            IfKw | ForKw | WhenKw | ConnectKw => return Some(EquationKw),
            DerKw if self.nth(1) == LeftParen => return Some(EquationKw),
            WhileKw => return Some(AlgorithmKw),
            Identifier => {}
            _ => return None,
        }
        let mut ahead = 1;
        while self.nth(ahead) == Dot && self.nth(ahead + 1) == Identifier {
            ahead += 2;
        }
        match self.nth(ahead) {
            Equals => Some(EquationKw),
            Assign => Some(AlgorithmKw),
            _ => None,
        }
    }

    fn compound(&mut self, keyword: SyntaxKind, dialect: Dialect) {
        if !self.enter() {
            return;
        }
        self.open_block(keyword, self.position);
        match keyword {
            IfKw => self.if_branches(dialect),
            WhenKw => self.when_branches(dialect),
            ForKw => {
                self.bump();
                self.for_indices();
                self.expect(LoopKw);
                self.body(dialect);
            }
            _ => {
                self.bump();
                self.condition();
                self.expect(LoopKw);
                self.body(dialect);
            }
        }
        self.close_statement_block();
        self.leave();
    }

    fn if_branches(&mut self, dialect: Dialect) {
        self.branch(dialect);
        loop {
            if self.at(ElseifKw) {
                self.branch(dialect);
            } else if self.at(ElseKw) {
                let marker = self.start();
                self.bump();
                self.body(dialect);
                self.finish(marker, ElseBranch);
                if !self.at_any(&[ElseifKw, ElseKw]) {
                    break;
                }
                self.expected("`end if` (`else` comes last)");
            } else if self.at(ElsewhenKw) && !self.inside_when() {
                self.expected("`elseif`, `else` or `end if`");
                self.branch(dialect);
            } else {
                break;
            }
        }
    }

    fn when_branches(&mut self, dialect: Dialect) {
        self.branch(dialect);
        loop {
            if self.at(ElsewhenKw) {
                self.branch(dialect);
            } else if self.at_any(&[ElseifKw, ElseKw]) && !self.inside_if() {
                self.expected("`elsewhen` or `end when`");
                self.branch(dialect);
            } else {
                break;
            }
        }
    }

    fn inside(&self, keyword: SyntaxKind) -> bool {
        self.blocks
            .iter()
            .rev()
            .take_while(|block| block.kind != ClassDefinition)
            .any(|block| block.kind == keyword)
    }

    fn inside_when(&self) -> bool {
        self.inside(WhenKw)
    }

    fn inside_if(&self) -> bool {
        self.inside(IfKw)
    }

    /// A keyword, a condition, `then` and what it guards.
    fn branch(&mut self, dialect: Dialect) {
        let marker = self.start();
        let is_else = self.at(ElseKw);
        self.bump();
        if !is_else {
            self.condition();
            self.expect(ThenKw);
        }
        self.body(dialect);
        self.finish(marker, Branch);
    }

    /// A Boolean expression; `=` in it is taken for `==`.
    pub(super) fn condition(&mut self) {
        self.expression();
        while self.at(Equals) || self.at(Assign) {
            let found = self.describe(self.position);
            self.report(|p| {
                Diagnostic::error(
                    codes::E0113,
                    p.span_at(p.position),
                    format!("a condition compares with `==`, not {found}"),
                )
                .with_label("expected `==`")
                .with_safe_fix(
                    format!("replace {found} by `==`"),
                    vec![Edit::replace(p.span_at(p.position), "==")],
                )
            });
            let marker = self.start();
            self.bump();
            self.expression();
            self.finish(marker, Error);
        }
    }

    pub(super) fn for_indices(&mut self) {
        loop {
            let marker = self.start();
            if self.identifier("the name of an iterator") || self.at(InKw) {
                if self.eat(InKw) {
                    self.expression();
                } else if self.at(Equals) {
                    self.expected("`in`");
                    self.bump();
                    self.expression();
                }
            }
            self.finish(marker, ForIndex);
            if !self.eat(Comma) {
                break;
            }
        }
    }

    // --- Simple equations and statements ------------------------------------------------------

    fn simple(&mut self, dialect: Dialect) -> SyntaxKind {
        match (self.current(), dialect) {
            (ConnectKw, Dialect::Equations) => {
                self.connect_equation();
                // The wrapping node holds the description; the connection is inside.
                SimpleEquation
            }
            (ConnectKw, Dialect::Statements) => {
                self.remark(
                    codes::E0101,
                    "`connect` is an equation, not a statement",
                    "move it to an equation section",
                );
                self.connect_equation();
                Error
            }
            (BreakKw, Dialect::Statements) => {
                self.bump();
                BreakStatement
            }
            (ReturnKw, Dialect::Statements) => {
                self.bump();
                ReturnStatement
            }
            (_, Dialect::Equations) => self.simple_equation(),
            (_, Dialect::Statements) => self.simple_statement(),
        }
    }

    fn simple_equation(&mut self) -> SyntaxKind {
        let start = self.position;
        let Some(left) = self.simple_expression() else {
            return Error;
        };
        if self.at(Assign) {
            self.exchanged("an equation is written with `=`, not `:=`", "`=`");
        }
        if self.eat(Equals) || self.eat(Assign) {
            self.expression();
        } else if left.kind != CallExpression {
            self.no_equation(left, start);
        }
        SimpleEquation
    }

    fn no_equation(&mut self, left: Completed, start: Position) {
        if left.kind == BinaryExpression && self.at(Semicolon) {
            return self.report(|p| {
                let span = p.span_at(start).to(p.previous_end());
                let diagnostic = Diagnostic::error(codes::E0113, span, "this is an expression, not an equation")
                    .with_label("no `=`")
                    .with_help("an equation is written with one `=`");
                let mut comparisons = (start..p.position).filter(|&at| p.kind_at(at) == EqualEqual);
                match (comparisons.next(), comparisons.next()) {
                    (Some(only), None) => {
                        let edit = Edit::replace(p.span_at(only), "=");
                        diagnostic.with_likely_fix("replace `==` by `=`", vec![edit])
                    }
                    _ => diagnostic,
                }
            });
        }
        self.expected("`=`");
    }

    fn exchanged(&mut self, message: &str, expected: &str) {
        self.report(|p| {
            let found = p.describe(p.position);
            let edit = Edit::replace(p.span_at(p.position), expected.trim_matches('`'));
            Diagnostic::error(codes::E0113, p.span_at(p.position), message)
                .with_label(format!("expected {expected}"))
                .with_safe_fix(format!("replace {found} by {expected}"), vec![edit])
        });
    }

    fn simple_statement(&mut self) -> SyntaxKind {
        let start = self.position;
        let Some(left) = self.primary_expression() else {
            return Error;
        };
        if self.at(Equals) {
            self.exchanged("an assignment is written with `:=`, not `=`", "`:=`");
        }
        if self.eat(Assign) || self.eat(Equals) {
            if !matches!(left.kind, ComponentReference | ParenthesizedExpression) {
                self.not_assignable(start);
            }
            self.expression();
        } else if left.kind != CallExpression {
            self.expected("`:=`");
        }
        SimpleStatement
    }

    fn not_assignable(&mut self, start: Position) {
        let span = self.span_at(start);
        let diagnostic = Diagnostic::error(codes::E0101, span, "this cannot be assigned to")
            .with_help("the left side of `:=` is a variable, or `(a, b)`");
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn connect_equation(&mut self) {
        let marker = self.start();
        self.bump();
        let opened = self.position;
        if self.expect(LeftParen) {
            self.component_reference();
            if self.expect(Comma) {
                self.component_reference();
            }
            self.close_bracket(opened, RightParen, "`)`");
        }
        self.finish(marker, ConnectEquation);
    }

    // --- Declarations among equations ---------------------------------------------------------

    fn at_declaration(&self) -> bool {
        let kind = self.current();
        if matches!(self.nth(1), Equals | Assign) {
            return false;
        }
        if kind.is_element_prefix() || matches!(kind, ExtendsKw | ImportKw) {
            return true;
        }
        if kind.starts_class() {
            return !matches!(kind, PureKw | ImpureKw) || self.nth(1) != LeftParen;
        }
        let mut ahead = 0;
        while self.nth(ahead) == Identifier && self.nth(ahead + 1) == Dot {
            ahead += 2;
        }
        let two_names = self.nth(ahead) == Identifier && self.nth(ahead + 1) == Identifier;
        two_names
            && matches!(self.nth(ahead + 2), Semicolon | Comma | LeftParen)
            && self
                .meant(self.position, |k| matches!(k, EndKw | ElseKw | IfKw))
                .is_none()
    }

    fn misplaced_declaration(&mut self, dialect: Dialect) {
        self.report(|p| {
            Diagnostic::error(
                codes::E0101,
                p.span_at(p.position),
                format!("expected {}, found a declaration", dialect.name()),
            )
            .with_help("declarations come before the sections; or write `public` or `protected`")
        });
        let marker = self.start();
        self.element();
        self.finish(marker, Error);
    }
}

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Dialect::Equations => "an equation",
            Dialect::Statements => "a statement",
        }
    }
}
