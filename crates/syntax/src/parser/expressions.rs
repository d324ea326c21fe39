//! Expressions (appendix A.2.7).

use saltus_source::{Diagnostic, Edit, codes};

use super::{Completed, Parser};
use crate::kind::SyntaxKind::{self, *};

/// How strongly operators bind, weakest first.
mod strength {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const RELATION: u8 = 4;
    pub(super) const SUM: u8 = 5;
    pub(super) const PRODUCT: u8 = 6;
    pub(super) const POWER: u8 = 7;
}

fn binary_strength(kind: SyntaxKind) -> Option<u8> {
    Some(match kind {
        OrKw => strength::OR,
        AndKw => strength::AND,
        EqualEqual | NotEqual | Less | LessEqual | Greater | GreaterEqual => strength::RELATION,
        Plus | Minus | DotPlus | DotMinus => strength::SUM,
        Star | Slash | DotStar | DotSlash => strength::PRODUCT,
        Caret | DotCaret => strength::POWER,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) {
        if self.at(IfKw) {
            self.if_expression();
        } else {
            self.simple_expression();
        }
    }

    fn if_expression(&mut self) -> Option<Completed> {
        if !self.enter() {
            return None;
        }
        let marker = self.start();
        self.bump();
        self.if_branch();
        while self.eat(ElseifKw) {
            self.if_branch();
        }
        if self.expect(ElseKw) {
            self.expression();
        }
        let node = self.finish(marker, IfExpression);
        self.leave();
        Some(node)
    }

    fn if_branch(&mut self) {
        self.condition();
        if self.expect(ThenKw) {
            self.expression();
        }
    }

    /// `a`, `a:b` or `a:b:c`.
    pub(super) fn simple_expression(&mut self) -> Option<Completed> {
        let first = self.operators(strength::OR)?;
        if !self.at(Colon) {
            return Some(first);
        }
        let marker = self.wrap(first);
        self.bump();
        self.operators(strength::OR);
        if self.eat(Colon) {
            self.operators(strength::OR);
        }
        Some(self.finish(marker, RangeExpression))
    }

    /// An expression of operators that bind at least as strongly as `least`.
    fn operators(&mut self, least: u8) -> Option<Completed> {
        let mut left = match self.current() {
            NotKw => self.prefix(least, strength::NOT, strength::RELATION)?,
            Plus | Minus | DotPlus | DotMinus => self.prefix(least, strength::SUM, strength::PRODUCT)?,
            _ => self.primary_expression()?,
        };
        while let Some(bound) = binary_strength(self.current()) {
            if bound < least {
                break;
            }
            let marker = self.wrap(left);
            self.bump();
            self.operators(bound + 1);
            left = self.finish(marker, BinaryExpression);
            self.check_association(bound);
        }
        Some(left)
    }

    /// A sign or `not`; behind a stronger operator it needs parentheses.
    fn prefix(&mut self, least: u8, own: u8, operand: u8) -> Option<Completed> {
        if least > own {
            let word = self.describe(self.position);
            self.remark(
                codes::E0111,
                &format!("{word} needs parentheses here"),
                "write `(…)` around the operator and its operand",
            );
        }
        if !self.enter() {
            return None;
        }
        let marker = self.start();
        self.bump();
        self.operators(operand.max(least));
        let node = self.finish(marker, UnaryExpression);
        self.leave();
        Some(node)
    }

    /// `a < b < c` and `a^b^c` are not in the language.
    fn check_association(&mut self, bound: u8) {
        let again = match bound {
            strength::RELATION => self.current().is_relation(),
            strength::POWER => self.at(Caret) || self.at(DotCaret),
            _ => false,
        };
        if again {
            let word = self.describe(self.position);
            self.remark(
                codes::E0111,
                &format!("{word} cannot follow an operator of its kind"),
                "write parentheses to say which comes first",
            );
        }
    }

    pub(super) fn primary_expression(&mut self) -> Option<Completed> {
        match self.current() {
            UnsignedInteger | UnsignedReal | String | TrueKw | FalseKw => {
                let marker = self.start();
                self.bump();
                Some(self.finish(marker, Literal))
            }
            Identifier | Dot => Some(self.reference_or_call()),
            DerKw | InitialKw | PureKw if self.nth(1) == LeftParen => Some(self.keyword_call()),
            LeftParen => self.parenthesized(),
            LeftBracket => self.matrix(),
            LeftBrace => self.array(),
            EndKw if !self.at_closing_end() => {
                let marker = self.start();
                self.bump();
                Some(self.finish(marker, EndExpression))
            }
            IfKw => {
                self.remark(
                    codes::E0111,
                    "`if` needs parentheses here",
                    "write `(if … then … else …)`",
                );
                self.if_expression()
            }
            FunctionKw => {
                self.remark(
                    codes::E0101,
                    "`function …` can only be an argument of a call",
                    "give the function as an argument",
                );
                self.partial_function()
            }
            kind if kind.is_element_prefix() || kind.is_class_keyword() => {
                let marker = self.start();
                self.keyword_as_variable();
                Some(self.finish(marker, ComponentReference))
            }
            _ => {
                self.expected("an expression");
                None
            }
        }
    }

    fn keyword_as_variable(&mut self) {
        let word = self.text_at(self.position).to_owned();
        self.remark(
            codes::E0115,
            &format!("`{word}` is a keyword and cannot be a name"),
            &format!("choose another name, or quote it: `'{word}'`"),
        );
        self.error_token();
    }

    fn reference_or_call(&mut self) -> Completed {
        let reference = self.component_reference();
        if !self.at(LeftParen) {
            return reference;
        }
        let marker = self.wrap(reference);
        self.call_arguments();
        self.finish(marker, CallExpression)
    }

    /// `der(x)`, `initial()`, `pure(f(x))`
    fn keyword_call(&mut self) -> Completed {
        let reference = self.start();
        self.bump();
        let reference = self.finish(reference, ComponentReference);
        let marker = self.wrap(reference);
        self.call_arguments();
        self.finish(marker, CallExpression)
    }

    pub(super) fn component_reference(&mut self) -> Completed {
        let marker = self.start();
        self.eat(Dot);
        if self.identifier("a variable") {
            self.optional_subscripts();
            while self.eat(Dot) {
                if !self.identifier("a name") {
                    break;
                }
                self.optional_subscripts();
            }
        }
        self.finish(marker, ComponentReference)
    }

    pub(super) fn optional_subscripts(&mut self) {
        if !self.at(LeftBracket) || !self.enter() {
            return;
        }
        let marker = self.start();
        let opened = self.position;
        self.bump();
        self.subscript_depth += 1;
        self.subscript();
        while self.eat(Comma) {
            self.subscript();
        }
        self.subscript_depth -= 1;
        self.close_bracket(opened, RightBracket, "`,` or `]`");
        self.finish(marker, Subscripts);
        self.leave();
    }

    fn subscript(&mut self) {
        if self.at(Colon) && matches!(self.nth(1), Comma | RightBracket) {
            self.bump();
        } else {
            self.expression();
        }
    }

    fn call_arguments(&mut self) {
        if !self.enter() {
            return;
        }
        let marker = self.start();
        let opened = self.position;
        self.bump();
        if !self.at(RightParen) {
            self.arguments();
        }
        self.close_bracket(opened, RightParen, "`,` or `)`");
        self.finish(marker, CallArguments);
        self.leave();
    }

    fn arguments(&mut self) {
        let mut named_before = false;
        let mut is_first = true;
        loop {
            let is_named = self.at(Identifier) && self.nth(1) == Equals;
            if named_before && !is_named {
                self.remark(
                    codes::E0101,
                    "a positional argument cannot follow a named one",
                    "give it a name, or move it to the front",
                );
            }
            named_before = is_named;
            if is_named {
                self.named_argument();
            } else {
                self.argument_value();
            }
            if is_first && !is_named && self.eat(ForKw) {
                self.for_indices();
                return;
            }
            is_first = false;
            if !self.eat(Comma) {
                return;
            }
        }
    }

    fn named_argument(&mut self) {
        let marker = self.start();
        self.bump();
        self.bump();
        self.argument_value();
        self.finish(marker, NamedArgument);
    }

    fn argument_value(&mut self) {
        if self.at(FunctionKw) {
            self.partial_function();
        } else {
            self.expression();
        }
    }

    fn partial_function(&mut self) -> Option<Completed> {
        if !self.enter() {
            return None;
        }
        let marker = self.start();
        self.bump();
        self.qualified_name("the name of a function");
        let opened = self.position;
        if self.expect(LeftParen) {
            while self.at(Identifier) {
                if self.nth(1) != Equals {
                    break;
                }
                self.named_argument();
                if !self.eat(Comma) {
                    break;
                }
            }
            self.close_bracket(opened, RightParen, "`name = value`");
        }
        let node = self.finish(marker, PartialFunction);
        self.leave();
        Some(node)
    }

    /// `(a)`, `(a, , b)`, `()`, each possibly with subscripts.
    fn parenthesized(&mut self) -> Option<Completed> {
        if !self.enter() {
            return None;
        }
        let marker = self.start();
        let opened = self.position;
        self.bump();
        let mut is_first = true;
        loop {
            if !matches!(self.current(), Comma | RightParen) {
                self.expression();
                self.assignment_in_parentheses(is_first);
                is_first = false;
            }
            if !self.eat(Comma) {
                break;
            }
        }
        self.close_bracket(opened, RightParen, "`)`");
        let node = self.finish(marker, ParenthesizedExpression);
        self.leave();
        if !self.at(LeftBracket) {
            return Some(node);
        }
        let marker = self.wrap(node);
        self.optional_subscripts();
        Some(self.finish(marker, SubscriptedExpression))
    }

    /// `(a = b)` where `(a == b)` was meant; of several only the first is reported.
    fn assignment_in_parentheses(&mut self, is_first: bool) {
        if !self.at(Equals) {
            return;
        }
        if is_first {
            self.report(|p| {
                let span = p.span_at(p.position);
                Diagnostic::error(codes::E0113, span, "a comparison is written with `==`, not `=`")
                    .with_label("expected `==`")
                    .with_safe_fix("replace `=` by `==`", vec![Edit::replace(span, "==")])
            });
        }
        let marker = self.start();
        self.bump();
        self.expression();
        self.finish(marker, Error);
    }

    /// `{a, b}` or `{e for i in r}`
    fn array(&mut self) -> Option<Completed> {
        if !self.enter() {
            return None;
        }
        let marker = self.start();
        let opened = self.position;
        self.bump();
        self.argument_value();
        if self.eat(ForKw) {
            self.for_indices();
        } else {
            while self.eat(Comma) {
                self.argument_value();
            }
        }
        self.close_bracket(opened, RightBrace, "`,` or `}`");
        let node = self.finish(marker, ArrayExpression);
        self.leave();
        Some(node)
    }

    /// `[a, b; c, d]`
    fn matrix(&mut self) -> Option<Completed> {
        if !self.enter() {
            return None;
        }
        let marker = self.start();
        let opened = self.position;
        self.bump();
        loop {
            let row = self.start();
            self.expression();
            while self.eat(Comma) {
                self.expression();
            }
            self.finish(row, MatrixRow);
            // A semicolon at the end of a line that goes on as an equation ends the equation.
            if !self.at(Semicolon) || self.semicolon_ends_equation() {
                break;
            }
            self.bump();
        }
        self.close_bracket(opened, RightBracket, "`,`, `;` or `]`");
        let node = self.finish(marker, MatrixExpression);
        self.leave();
        Some(node)
    }

    /// Whether the semicolon here cannot separate rows of a matrix.
    fn semicolon_ends_equation(&self) -> bool {
        let next = self.nth(1);
        next == EndOfFile
            || next == EndKw && matches!(self.nth(2), Identifier | IfKw | ForKw | WhenKw | WhileKw)
            || next.starts_class()
            || next.is_element_prefix()
            || matches!(next, EquationKw | AlgorithmKw | PublicKw | ProtectedKw | AnnotationKw)
            || matches!(next, ConnectKw | ForKw | WhenKw | ExtendsKw | ImportKw)
            || next == Identifier && matches!(self.nth(2), Identifier | Equals | Assign)
    }
}
