//! The kinds of tokens and nodes of the lossless tree.

macro_rules! kinds {
    (
        trivia { $($(#[$trivia_doc:meta])* $trivia:ident,)* }
        tokens { $($(#[$token_doc:meta])* $token:ident = $description:literal,)* }
        signs { $($sign:ident = $sign_text:literal,)* }
        keywords { $($keyword:ident = $keyword_text:literal,)* }
        nodes { $($(#[$node_doc:meta])* $node:ident,)* }
    ) => {
        /// What a token or node is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SyntaxKind {
            $($(#[$trivia_doc])* $trivia,)*
            $($(#[$token_doc])* $token,)*
            $(#[doc = concat!("`", $sign_text, "`")] $sign,)*
            $(#[doc = concat!("`", $keyword_text, "`")] $keyword,)*
            $($(#[$node_doc])* $node,)*
        }

        impl SyntaxKind {
            /// The text of signs and keywords.
            pub fn fixed_text(self) -> Option<&'static str> {
                match self {
                    $(SyntaxKind::$sign => Some($sign_text),)*
                    $(SyntaxKind::$keyword => Some($keyword_text),)*
                    _ => None,
                }
            }

            /// How messages speak of it.
            pub fn describe(self) -> String {
                match self {
                    $(SyntaxKind::$token => $description.to_owned(),)*
                    $(SyntaxKind::$sign => concat!("`", $sign_text, "`").to_owned(),)*
                    $(SyntaxKind::$keyword => concat!("`", $keyword_text, "`").to_owned(),)*
                    _ => format!("{self:?}"),
                }
            }

            /// The keyword with this text.
            #[inline]
            pub(crate) fn keyword(text: &[u8]) -> Option<SyntaxKind> {
                match text {
                    $(text if text == $keyword_text.as_bytes() => Some(SyntaxKind::$keyword),)*
                    _ => None,
                }
            }

            /// Whether this is a keyword.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(SyntaxKind::$keyword)|*)
            }

            /// All keywords.
            pub const KEYWORDS: &'static [SyntaxKind] = &[$(SyntaxKind::$keyword),*];
        }
    };
}

kinds! {
    trivia {
        /// Blanks, line ends, a byte-order mark.
        Whitespace,
        /// `// …`
        LineComment,
        /// `/* … */`
        BlockComment,
        /// Characters that mean nothing; reported by the lexer, invisible to the parser.
        UnknownCharacters,
    }
    tokens {
        /// The end of the text; never stored in a tree.
        EndOfFile = "the end of the file",
        /// An identifier, also a quoted one.
        Identifier = "a name",
        /// `12`
        UnsignedInteger = "a number",
        /// `1.5e3`
        UnsignedReal = "a number",
        /// `"…"`
        String = "a string",
    }
    signs {
        LeftParen = "(",
        RightParen = ")",
        LeftBracket = "[",
        RightBracket = "]",
        LeftBrace = "{",
        RightBrace = "}",
        Semicolon = ";",
        Comma = ",",
        Dot = ".",
        Colon = ":",
        Assign = ":=",
        Equals = "=",
        EqualEqual = "==",
        NotEqual = "<>",
        Less = "<",
        LessEqual = "<=",
        Greater = ">",
        GreaterEqual = ">=",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Caret = "^",
        DotPlus = ".+",
        DotMinus = ".-",
        DotStar = ".*",
        DotSlash = "./",
        DotCaret = ".^",
    }
    keywords {
        AlgorithmKw = "algorithm",
        AndKw = "and",
        AnnotationKw = "annotation",
        BlockKw = "block",
        BreakKw = "break",
        ClassKw = "class",
        ConnectKw = "connect",
        ConnectorKw = "connector",
        ConstantKw = "constant",
        ConstrainedbyKw = "constrainedby",
        DerKw = "der",
        DiscreteKw = "discrete",
        EachKw = "each",
        ElseKw = "else",
        ElseifKw = "elseif",
        ElsewhenKw = "elsewhen",
        EncapsulatedKw = "encapsulated",
        EndKw = "end",
        EnumerationKw = "enumeration",
        EquationKw = "equation",
        ExpandableKw = "expandable",
        ExtendsKw = "extends",
        ExternalKw = "external",
        FalseKw = "false",
        FinalKw = "final",
        FlowKw = "flow",
        ForKw = "for",
        FunctionKw = "function",
        IfKw = "if",
        ImportKw = "import",
        ImpureKw = "impure",
        InKw = "in",
        InitialKw = "initial",
        InnerKw = "inner",
        InputKw = "input",
        LoopKw = "loop",
        ModelKw = "model",
        NotKw = "not",
        OperatorKw = "operator",
        OrKw = "or",
        OuterKw = "outer",
        OutputKw = "output",
        PackageKw = "package",
        ParameterKw = "parameter",
        PartialKw = "partial",
        ProtectedKw = "protected",
        PublicKw = "public",
        PureKw = "pure",
        RecordKw = "record",
        RedeclareKw = "redeclare",
        ReplaceableKw = "replaceable",
        ReturnKw = "return",
        StreamKw = "stream",
        ThenKw = "then",
        TrueKw = "true",
        TypeKw = "type",
        WhenKw = "when",
        WhileKw = "while",
        WithinKw = "within",
    }
    nodes {
        /// The root: a whole file.
        StoredDefinition,
        /// `within A.B;`
        WithinClause,
        /// `final` class `;` at the top of a file.
        StoredClass,
        /// A class of any form.
        ClassDefinition,
        /// `= input Base[3](…)`
        ShortBody,
        /// `= enumeration(…)`
        EnumerationBody,
        /// `= der(f, x)`
        DerivativeBody,
        /// The inside of a long class.
        Composition,
        /// Elements of one visibility.
        ElementSection,
        /// One element with its semicolon.
        Element,
        /// `import …`
        ImportClause,
        /// `extends …`
        ExtendsClause,
        /// `constrainedby …`
        ConstrainingClause,
        /// `Real x, y`
        ComponentClause,
        /// `x[3](…) = … if … "…"`
        ComponentDeclaration,
        /// `if …` behind a component.
        ConditionAttribute,
        /// `(…) = …`
        Modification,
        /// `(…)`
        ClassModification,
        /// `each final a.b = …`
        ElementModification,
        /// `redeclare …` in a modification.
        Redeclaration,
        /// `break …` in an extends clause.
        InheritanceBreak,
        /// One literal of an enumeration.
        EnumerationLiteral,
        /// `"…" + "…"`
        DescriptionString,
        /// `annotation(…)`
        Annotation,
        /// `A.B.C`
        QualifiedName,
        /// `[…]`
        Subscripts,
        /// `equation …`
        EquationSection,
        /// `algorithm …`
        AlgorithmSection,
        /// `external …;`
        ExternalClause,
        /// `y = f(x)` of an external clause.
        ExternalCall,
        /// `a = b` or a call
        SimpleEquation,
        /// `if … end if` among equations
        IfEquation,
        /// `for … end for` among equations
        ForEquation,
        /// `when … end when` among equations
        WhenEquation,
        /// `connect(a, b)`
        ConnectEquation,
        /// `a := b` or a call
        SimpleStatement,
        /// `if … end if` among statements
        IfStatement,
        /// `for … end for` among statements
        ForStatement,
        /// `while … end while`
        WhileStatement,
        /// `when … end when` among statements
        WhenStatement,
        /// `break`
        BreakStatement,
        /// `return`
        ReturnStatement,
        /// A condition with the equations or statements it guards.
        Branch,
        /// `else` with its equations or statements.
        ElseBranch,
        /// `i in …`
        ForIndex,
        /// A number, string, `true` or `false`.
        Literal,
        /// `a.b[1].c`
        ComponentReference,
        /// `f(…)`
        CallExpression,
        /// `(…)` of a call
        CallArguments,
        /// `x = …` in a call
        NamedArgument,
        /// `function f(…)`
        PartialFunction,
        /// `-a`
        UnaryExpression,
        /// `a + b`
        BinaryExpression,
        /// `a:b:c`
        RangeExpression,
        /// `if … then … else …`
        IfExpression,
        /// `{…}`
        ArrayExpression,
        /// `[…; …]`
        MatrixExpression,
        /// One row of a matrix.
        MatrixRow,
        /// `(…)`
        ParenthesizedExpression,
        /// `(…)[…]`
        SubscriptedExpression,
        /// `end` in a subscript
        EndExpression,
        /// Text that fits nowhere.
        Error,
        /// A node that is not there; never stored in a tree.
        Tombstone,
    }
}

impl SyntaxKind {
    /// Whether the parser does not see it.
    #[inline]
    pub fn is_trivia(self) -> bool {
        (self as u8) <= SyntaxKind::UnknownCharacters as u8
    }

    /// Whether a class definition may start with it.
    pub(crate) fn starts_class(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            EncapsulatedKw
                | PartialKw
                | ClassKw
                | ModelKw
                | OperatorKw
                | RecordKw
                | BlockKw
                | ExpandableKw
                | ConnectorKw
                | TypeKw
                | PackageKw
                | PureKw
                | ImpureKw
                | FunctionKw
        )
    }

    /// Whether it names a specialised class and nothing else.
    pub(crate) fn is_class_keyword(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            ClassKw | ModelKw | RecordKw | BlockKw | ConnectorKw | TypeKw | PackageKw | FunctionKw
        )
    }

    /// Whether it is a prefix of an element or component that can be nothing else.
    pub(crate) fn is_element_prefix(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            RedeclareKw
                | FinalKw
                | InnerKw
                | OuterKw
                | ReplaceableKw
                | FlowKw
                | StreamKw
                | DiscreteKw
                | ParameterKw
                | ConstantKw
                | InputKw
                | OutputKw
        )
    }

    /// Whether it is a relation.
    pub(crate) fn is_relation(self) -> bool {
        use SyntaxKind::*;
        matches!(self, EqualEqual | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }
}
