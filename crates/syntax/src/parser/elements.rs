//! Elements, components, names and descriptions (appendix A.2.3 and A.2.4).

use super::Parser;
use super::classes::ClassForm;
use crate::kind::SyntaxKind::{self, *};

/// Element prefixes in the order the grammar wants them.
const ELEMENT_PREFIXES: &[&[SyntaxKind]] = &[&[RedeclareKw], &[FinalKw], &[InnerKw], &[OuterKw], &[ReplaceableKw]];

/// Type prefixes in the order the grammar wants them.
const TYPE_PREFIXES: &[&[SyntaxKind]] = &[
    &[FlowKw, StreamKw],
    &[DiscreteKw, ParameterKw, ConstantKw],
    &[InputKw, OutputKw],
];

impl Parser<'_> {
    pub(super) fn element(&mut self) {
        let marker = self.start();
        match self.current() {
            ImportKw => self.import_clause(),
            ExtendsKw => self.extends_clause(),
            _ => self.declared_element(),
        }
        self.semicolon("this element");
        self.finish(marker, Element);
    }

    fn declared_element(&mut self) {
        self.misspelt_prefix();
        self.prefixes(ELEMENT_PREFIXES);
        if self.at_class_definition() {
            self.class_definition(ClassForm::Any);
        } else if self.at_component_clause() {
            self.component_clause();
        } else {
            self.unexpected_in_class();
        }
        if self.at(ConstrainedbyKw) {
            self.constraining_clause();
            self.description();
        }
    }

    /// `paramter Real x` or `partail model M`: names in a row, the first close to a prefix.
    fn misspelt_prefix(&mut self) {
        if !self.at(Identifier) {
            return;
        }
        let mut ahead = 1;
        while self.nth(ahead) == Identifier && self.nth(ahead + 1) == Dot {
            ahead += 2;
        }
        let three_names = self.nth(ahead) == Identifier && self.nth(ahead + 1) == Identifier;
        let before_keyword = self.nth(1).starts_class() || self.nth(1).is_element_prefix();
        if !three_names && !before_keyword {
            return;
        }
        let prefix = |kind: SyntaxKind| {
            kind.is_element_prefix() || matches!(kind, PartialKw | EncapsulatedKw | PublicKw | ProtectedKw)
        };
        if let Some(meant) = self.meant(self.position, prefix) {
            self.report(|p| p.misspelling(p.position, meant));
            self.error_token();
        }
    }

    fn at_component_clause(&self) -> bool {
        let kind = self.current();
        kind == Identifier || kind == Dot || TYPE_PREFIXES.iter().any(|group| group.contains(&kind))
    }

    fn unexpected_in_class(&mut self) {
        match self.current() {
            Semicolon => self.expected("an element (this `;` is superfluous)"),
            WithinKw => {
                self.expected("an element (`within` comes first in the file)");
                self.error_token();
                self.skip_to_semicolon();
            }
            _ => {
                self.expected("an element");
                if !self.at_section_end() {
                    self.error_token();
                }
                self.skip_to_semicolon();
            }
        }
    }

    fn import_clause(&mut self) {
        let marker = self.start();
        self.bump();
        if self.at(Identifier) && self.nth(1) == Equals {
            self.bump();
            self.bump();
            self.qualified_name("the name of a package or class");
        } else {
            self.qualified_name("the name of a package or class");
            if self.eat(DotStar) {
            } else if self.at(Dot) && self.nth(1) == LeftBrace {
                self.bump();
                self.import_list();
            }
        }
        self.description();
        self.finish(marker, ImportClause);
    }

    fn import_list(&mut self) {
        let opened = self.position;
        self.bump();
        self.identifier("a name");
        while self.eat(Comma) {
            self.identifier("a name");
        }
        self.close_bracket(opened, RightBrace, "`,` or `}`");
    }

    fn extends_clause(&mut self) {
        let marker = self.start();
        self.bump();
        self.qualified_name("the name of a class");
        if self.at(LeftParen) {
            self.class_modification();
        }
        if self.at(AnnotationKw) {
            self.annotation();
        }
        self.finish(marker, ExtendsClause);
    }

    pub(super) fn constraining_clause(&mut self) {
        let marker = self.start();
        self.bump();
        self.qualified_name("the name of a class");
        if self.at(LeftParen) {
            self.class_modification();
        }
        self.finish(marker, ConstrainingClause);
    }

    // --- Components ---------------------------------------------------------------------------

    fn component_clause(&mut self) {
        let marker = self.start();
        self.prefixes(TYPE_PREFIXES);
        self.qualified_name("the name of a type");
        self.optional_subscripts();
        if self.at(Equals) || self.at(Assign) {
            self.expected("the name of a component");
            self.skip_to_semicolon();
        } else {
            self.component_declaration();
        }
        while self.eat(Comma) {
            self.component_declaration();
        }
        self.finish(marker, ComponentClause);
    }

    /// A component clause with one component, as in modifications.
    pub(super) fn single_component_clause(&mut self) {
        let marker = self.start();
        self.prefixes(TYPE_PREFIXES);
        self.qualified_name("the name of a type");
        self.optional_subscripts();
        self.component_declaration();
        self.finish(marker, ComponentClause);
    }

    fn component_declaration(&mut self) {
        let marker = self.start();
        let goes_on = |p: &Self| !p.at_new_line() && p.at_any(&[LeftParen, LeftBracket, Equals, IfKw, String]);
        if self.identifier("the name of a component") || goes_on(self) {
            self.optional_subscripts();
            self.optional_modification();
            if self.at(IfKw) {
                let condition = self.start();
                self.bump();
                self.expression();
                self.finish(condition, ConditionAttribute);
            }
            self.description();
        }
        self.finish(marker, ComponentDeclaration);
    }

    // --- Names and descriptions ---------------------------------------------------------------

    pub(super) fn qualified_name(&mut self, what: &str) {
        let marker = self.start();
        self.eat(Dot);
        if self.identifier(what) {
            while self.at(Dot) && self.nth(1) != LeftBrace {
                self.bump();
                if !self.identifier("a name") {
                    break;
                }
            }
        }
        self.finish(marker, QualifiedName);
    }

    pub(super) fn description_string(&mut self) {
        if !self.at(String) {
            return;
        }
        let marker = self.start();
        self.bump();
        while self.eat(Plus) {
            if !self.expect(String) {
                break;
            }
        }
        self.finish(marker, DescriptionString);
    }

    pub(super) fn description(&mut self) {
        self.description_string();
        if self.at(AnnotationKw) {
            self.annotation();
        }
    }

    pub(super) fn annotation(&mut self) {
        let marker = self.start();
        self.bump();
        if self.at(LeftParen) {
            self.class_modification();
        } else {
            self.expected("`(`");
        }
        self.finish(marker, Annotation);
    }
}
