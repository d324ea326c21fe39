//! Stored definitions, classes and their elements (appendix A.2.1 to A.2.4).

use saltus_source::{Diagnostic, codes};

use super::Parser;
use crate::kind::SyntaxKind::{self, *};

/// Class prefixes in the order the grammar wants them.
const CLASS_PREFIXES: &[&[SyntaxKind]] = &[
    &[EncapsulatedKw],
    &[PartialKw],
    &[PureKw, ImpureKw],
    &[OperatorKw, ExpandableKw],
];

/// Which form of class definition the grammar allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClassForm {
    Any,
    Short,
}

impl Parser<'_> {
    pub(super) fn stored_definition(&mut self) {
        let root = self.start();
        if self.at(WithinKw) {
            self.within_clause();
        }
        while !self.at(EndOfFile) {
            self.stored_class();
        }
        self.finish(root, StoredDefinition);
    }

    /// An expression that is all of the text.
    pub(super) fn lone_expression(&mut self) {
        let root = self.start();
        self.expression();
        if !self.at(EndOfFile) {
            self.expected("the end of the expression");
        }
        while !self.at(EndOfFile) {
            self.bump();
        }
        self.finish(root, StoredDefinition);
    }

    fn within_clause(&mut self) {
        let marker = self.start();
        self.bump();
        if !self.at(Semicolon) {
            self.qualified_name("the name of a package");
        }
        self.semicolon("the within clause");
        self.finish(marker, WithinClause);
    }

    fn stored_class(&mut self) {
        let marker = self.start();
        self.eat(FinalKw);
        if self.at_class_definition() || self.at_class_without_keyword() {
            self.class_definition(ClassForm::Any);
            self.semicolon("the class");
            self.finish(marker, StoredClass);
            return;
        }
        self.unexpected_at_top();
        self.finish(marker, Error);
    }

    /// `M "description" …`: a class without its keyword, at the top of a file.
    fn at_class_without_keyword(&self) -> bool {
        let next = self.nth(1);
        self.at(Identifier)
            && (next.is_element_prefix()
                || next.starts_class()
                || matches!(next, String | ExtendsKw | ImportKw | EquationKw | AlgorithmKw))
    }

    fn unexpected_at_top(&mut self) {
        match self.current() {
            WithinKw => self.expected("a class (`within` comes first in the file)"),
            Semicolon => self.expected("a class (this `;` is superfluous)"),
            EndKw => self.expected("a class (this `end` closes nothing)"),
            _ => self.expected("a class definition"),
        }
        self.bump();
        while !self.at(EndOfFile) && !self.at(FinalKw) && !self.at_class_definition() {
            self.bump();
        }
    }

    // --- Classes ------------------------------------------------------------------------------

    /// Whether a class definition starts here, possibly with its keyword misspelt.
    pub(super) fn at_class_definition(&self) -> bool {
        self.current().starts_class() || self.at_misspelt_class_keyword()
    }

    /// `modle M Real x; …`: a name close to a class keyword, used as one. `Block b;` is a
    /// declaration, so what follows the second name must not fit one.
    fn at_misspelt_class_keyword(&self) -> bool {
        if !(self.at(Identifier) && self.nth(1) == Identifier) {
            return false;
        }
        let is_class = match self.nth(2) {
            String => !matches!(self.nth(3), Semicolon | Comma | AnnotationKw | Plus),
            Identifier | EndKw | EquationKw | AlgorithmKw | ExtendsKw | ImportKw => true,
            kind => kind.is_element_prefix() || kind.starts_class(),
        };
        is_class && self.meant(self.position, SyntaxKind::is_class_keyword).is_some()
    }

    /// Tokens of the groups, one of each at most; those out of order get an error.
    pub(super) fn prefixes(&mut self, groups: &[&[SyntaxKind]]) {
        let mut reached = 0;
        while let Some(group) = groups.iter().position(|group| self.at_any(group)) {
            if group < reached {
                let word = self.describe(self.position);
                let message = format!("{word} is not allowed behind the prefixes before it");
                self.remark(codes::E0101, &message, "change the order of the prefixes");
            }
            reached = reached.max(group + 1);
            self.bump();
        }
    }

    pub(super) fn class_definition(&mut self, form: ClassForm) {
        if !self.enter() {
            return;
        }
        let marker = self.start();
        self.class_prefixes();
        if self.at(ExtendsKw) {
            self.bump();
            self.long_class(true);
        } else if self.at(Identifier) && self.nth(1) == Equals {
            self.bump();
            self.short_class();
        } else {
            if form == ClassForm::Short {
                self.remark(
                    codes::E0101,
                    "only a short class definition can stand here",
                    "write `Name = Base(…)`",
                );
            }
            self.long_class(false);
        }
        self.finish(marker, ClassDefinition);
        self.leave();
    }

    fn class_prefixes(&mut self) {
        // `operator` is a prefix and a specialised class.
        self.prefixes(CLASS_PREFIXES);
        let previous = self.position.checked_sub(1);
        let after_operator = previous.is_some_and(|p| self.text_at(p) == "operator") && self.at(Identifier);
        if self.current().is_class_keyword() {
            self.bump();
        } else if self.at_misspelt_class_keyword() {
            self.report(|p| {
                let class = SyntaxKind::is_class_keyword;
                let meant = p.meant(p.position, class).unwrap_or(ClassKw);
                p.misspelling(p.position, meant)
            });
            self.error_token();
        } else if !after_operator {
            self.expected("`class`, `model`, `block` or another kind of class");
        }
    }

    fn long_class(&mut self, extends: bool) {
        let name = self.position;
        let has_name = self.identifier("the name of the class");
        if !has_name && !self.current().starts_class() && !self.at(String) && !self.at_new_line() {
            self.skip_to_semicolon();
            return;
        }
        self.open_block(ClassDefinition, name);
        if extends && self.at(LeftParen) {
            self.class_modification();
        }
        self.description_string();
        self.composition();
        self.close_class(!has_name);
    }

    fn short_class(&mut self) {
        let marker = self.start();
        self.bump();
        let kind = match self.current() {
            DerKw => self.derivative_class(),
            EnumerationKw => self.enumeration_class(),
            _ => {
                if self.at(InputKw) || self.at(OutputKw) {
                    self.bump();
                }
                self.qualified_name("the name of a class");
                self.optional_subscripts();
                if self.at(LeftParen) {
                    self.class_modification();
                }
                ShortBody
            }
        };
        self.finish(marker, kind);
        self.description();
    }

    fn derivative_class(&mut self) -> SyntaxKind {
        self.bump();
        let opened = self.position;
        if self.expect(LeftParen) {
            self.qualified_name("the name of a function");
            while self.eat(Comma) {
                self.identifier("the name of an input");
            }
            self.close_bracket(opened, RightParen, "`,` or `)`");
        }
        DerivativeBody
    }

    fn enumeration_class(&mut self) -> SyntaxKind {
        self.bump();
        let opened = self.position;
        if self.expect(LeftParen) {
            if !self.eat(Colon) && !self.at(RightParen) {
                self.enumeration_literal();
                while self.eat(Comma) {
                    self.enumeration_literal();
                }
            }
            self.close_bracket(opened, RightParen, "`,` or `)`");
        }
        EnumerationBody
    }

    fn enumeration_literal(&mut self) {
        let marker = self.start();
        self.identifier("the name of a literal");
        self.description();
        self.finish(marker, EnumerationLiteral);
    }

    // --- Composition --------------------------------------------------------------------------

    fn composition(&mut self) {
        let marker = self.start();
        if !self.at_section_end() {
            self.element_section();
        }
        loop {
            match self.current() {
                PublicKw | ProtectedKw => self.element_section(),
                EquationKw | AlgorithmKw => self.behavior_section(),
                InitialKw if matches!(self.nth(1), EquationKw | AlgorithmKw) => {
                    self.behavior_section();
                }
                ExternalKw => self.external_clause(),
                AnnotationKw => self.class_annotation(),
                EndKw if self.at_stray_end() => self.stray_end(),
                EndKw | EndOfFile => break,
                _ if self.at_name_without_end() => break,
                _ if self.misspelt_section().or_else(|| self.missing_section()).is_some() => self.behavior_section(),
                _ => self.element_section(),
            }
        }
        self.finish(marker, Composition);
    }

    /// Whether the elements of a section end here.
    pub(super) fn at_section_end(&self) -> bool {
        match self.current() {
            PublicKw | ProtectedKw | EquationKw | AlgorithmKw | ExternalKw => true,
            AnnotationKw | EndOfFile => true,
            EndKw => !self.at_stray_end(),
            InitialKw => matches!(self.nth(1), EquationKw | AlgorithmKw),
            IfKw | ForKw | WhenKw | WhileKw | ConnectKw | DerKw => self.missing_section().is_some(),
            Identifier => {
                self.misspelt_section().or_else(|| self.missing_section()).is_some() || self.at_name_without_end()
            }
            _ => false,
        }
    }

    /// `equatoin der(x) = 1;`: a name close to the keyword of a section, before what can only be
    /// an equation or statement.
    fn misspelt_section(&self) -> Option<SyntaxKind> {
        let is_behavior = match self.nth(1) {
            DerKw | IfKw | ForKw | WhenKw | WhileKw | ConnectKw => true,
            Identifier => self.nth(2) == Assign,
            _ => false,
        };
        let section = |kind| matches!(kind, EquationKw | AlgorithmKw);
        is_behavior.then(|| self.meant(self.position, section)).flatten()
    }

    fn element_section(&mut self) {
        let marker = self.start();
        if self.at(PublicKw) || self.at(ProtectedKw) {
            self.bump();
        }
        while !self.at_section_end() {
            let before = self.position;
            if self.at_stray_end() {
                self.stray_end();
                continue;
            }
            self.element();
            if self.position == before {
                self.expected("an element");
                self.error_token();
            }
        }
        self.finish(marker, ElementSection);
    }

    fn behavior_section(&mut self) {
        let marker = self.start();
        self.eat(InitialKw);
        let misspelt = self.misspelt_section();
        let missing = self.missing_section().filter(|_| misspelt.is_none());
        if let Some(meant) = misspelt {
            self.report(|p| p.misspelling(p.position, meant));
        }
        let section = misspelt.or(missing).unwrap_or(self.current());
        if let Some(missing) = missing {
            let keyword = missing.describe();
            self.expected(&format!("an element, or {keyword} before this"));
        } else {
            self.bump();
        }
        if section == EquationKw {
            self.equations();
            self.finish(marker, EquationSection);
        } else {
            self.statements();
            self.finish(marker, AlgorithmSection);
        }
    }

    fn class_annotation(&mut self) {
        let start = self.position;
        self.annotation();
        self.semicolon("the annotation");
        let is_last = self.at_any(&[EndKw, EndOfFile]);
        let is_damaged = self.last_error.is_some_and(|error| error >= start);
        if !is_last && !is_damaged && !self.at_name_without_end() {
            let span = self.span_at(start);
            let warning = Diagnostic::warning(codes::W0103, span, "the annotation of a class belongs at its end")
                .with_help("move it in front of the `end` of the class");
            self.diagnostics.push(warning);
        }
    }

    fn external_clause(&mut self) {
        let marker = self.start();
        self.bump();
        self.eat(String);
        if self.at(Identifier) || self.at(Dot) {
            self.external_call();
        }
        if self.at(AnnotationKw) {
            self.annotation();
        }
        self.semicolon("the external clause");
        self.finish(marker, ExternalClause);
    }

    fn external_call(&mut self) {
        let marker = self.start();
        let has_result = !(self.at(Identifier) && self.nth(1) == LeftParen);
        if has_result {
            self.component_reference();
            self.expect(Equals);
        }
        self.identifier("the name of a function");
        let opened = self.position;
        if self.expect(LeftParen) {
            if !self.at(RightParen) {
                self.expression();
                while self.eat(Comma) {
                    self.expression();
                }
            }
            self.close_bracket(opened, RightParen, "`,` or `)`");
        }
        self.finish(marker, ExternalCall);
    }
}
