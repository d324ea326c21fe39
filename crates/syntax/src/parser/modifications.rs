//! Modifications (appendix A.2.5).

use super::Parser;
use super::classes::ClassForm;
use crate::kind::SyntaxKind::*;

impl Parser<'_> {
    pub(super) fn optional_modification(&mut self) {
        if !self.at_any(&[LeftParen, Equals, Assign]) {
            return;
        }
        let marker = self.start();
        if self.at(LeftParen) {
            self.class_modification();
        }
        // `:=` is how earlier versions of the language wrote defaults of functions.
        if self.eat(Equals) || self.eat(Assign) {
            if self.at(BreakKw) {
                self.bump();
            } else {
                self.expression();
            }
        }
        self.finish(marker, Modification);
    }

    pub(super) fn class_modification(&mut self) {
        if !self.enter() {
            return;
        }
        let marker = self.start();
        let opened = self.position;
        self.bump();
        // Inside, `end` is no index even if the class stands in subscripts.
        let subscript_depth = std::mem::take(&mut self.subscript_depth);
        if !self.at(RightParen) {
            self.argument();
            while self.eat(Comma) {
                self.argument();
            }
        }
        self.subscript_depth = subscript_depth;
        self.close_bracket(opened, RightParen, "`,` or `)`");
        self.finish(marker, ClassModification);
        self.leave();
    }

    fn argument(&mut self) {
        match self.current() {
            RedeclareKw => self.redeclaration(),
            BreakKw => self.inheritance_break(),
            ReplaceableKw => self.redeclaration(),
            EachKw | FinalKw if self.prefixed_replaceable() => self.redeclaration(),
            _ => self.element_modification(),
        }
    }

    /// `each final replaceable …`
    fn prefixed_replaceable(&self) -> bool {
        let mut ahead = 0;
        while matches!(self.nth(ahead), EachKw | FinalKw) {
            ahead += 1;
        }
        self.nth(ahead) == ReplaceableKw
    }

    fn element_modification(&mut self) {
        let marker = self.start();
        self.eat(EachKw);
        self.eat(FinalKw);
        self.qualified_name("the name of an element");
        self.optional_modification();
        self.description_string();
        self.finish(marker, ElementModification);
    }

    fn redeclaration(&mut self) {
        let marker = self.start();
        self.eat(RedeclareKw);
        self.eat(EachKw);
        self.eat(FinalKw);
        self.eat(ReplaceableKw);
        if self.current().starts_class() {
            self.class_definition(ClassForm::Short);
        } else {
            self.single_component_clause();
        }
        if self.at(ConstrainedbyKw) {
            self.constraining_clause();
            self.description();
        }
        self.finish(marker, Redeclaration);
    }

    fn inheritance_break(&mut self) {
        let marker = self.start();
        self.bump();
        if self.at(ConnectKw) {
            self.connect_equation();
        } else {
            self.identifier("the name of an element, or `connect`");
        }
        self.finish(marker, InheritanceBreak);
    }
}
