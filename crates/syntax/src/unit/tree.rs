//! What of the syntax tree becomes which bytes: one line per type. A change here or in the tree is a change of the format.

use std::sync::Arc;

use saltus_source::Span;

use super::bytes::{Damaged, Reader, Writer};
use crate::ast::*;

/// Part of a syntax tree as bytes, and back.
pub(crate) trait Stored: Sized {
    fn write(&self, out: &mut Writer);
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged>;
}

/// Fields one after the other.
macro_rules! record {
    ($type:ident { $($field:ident),+ }) => {
        impl Stored for $type {
            fn write(&self, out: &mut Writer) {
                $(self.$field.write(out);)+
            }
            fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
                Ok($type { $($field: Stored::read(input)?),+ })
            }
        }
    };
}

/// A number for the variant, then what it holds.
macro_rules! choice {
    ($type:ident { $($tag:literal $variant:ident $(($($item:ident),+))? $({$($field:ident),+})?),+ $(,)? }) => {
        impl Stored for $type {
            fn write(&self, out: &mut Writer) {
                match self {
                    $($type::$variant $(($($item),+))? $({$($field),+})? => {
                        out.byte($tag);
                        $($($item.write(out);)+)?
                        $($($field.write(out);)+)?
                    })+
                }
            }
            fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
                Ok(match input.byte()? {
                    $($tag => {
                        $($(let $item = Stored::read(input)?;)+)?
                        $($(let $field = Stored::read(input)?;)+)?
                        $type::$variant $(($($item),+))? $({$($field),+})?
                    })+
                    _ => return Err(Damaged),
                })
            }
        }
    };
}

impl Stored for bool {
    fn write(&self, out: &mut Writer) {
        out.byte(u8::from(*self));
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        match input.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }
}

impl Stored for i64 {
    fn write(&self, out: &mut Writer) {
        out.signed(*self);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        input.signed()
    }
}

impl Stored for f64 {
    fn write(&self, out: &mut Writer) {
        out.real(*self);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        input.real()
    }
}

impl Stored for Name {
    fn write(&self, out: &mut Writer) {
        out.literal(self);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        input.name()
    }
}

impl Stored for Span {
    fn write(&self, out: &mut Writer) {
        out.span(*self);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        input.span()
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Writer) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        bool::read(input)?.then(|| T::read(input)).transpose()
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Writer) {
        out.number(self.len() as u64);
        for item in self {
            item.write(out);
        }
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        let count = input.count()?;
        input.deeper(|input| (0..count).map(|_| T::read(input)).collect())
    }
}

impl<T: Stored> Stored for Box<T> {
    fn write(&self, out: &mut Writer) {
        T::write(self, out);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        input.deeper(T::read).map(Box::new)
    }
}

impl<T: Stored> Stored for Arc<T> {
    fn write(&self, out: &mut Writer) {
        T::write(self, out);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        input.deeper(T::read).map(Arc::new)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok((A::read(input)?, B::read(input)?))
    }
}

/// An identifier is no string of the text.
impl Stored for Ident {
    fn write(&self, out: &mut Writer) {
        out.name(&self.name);
        self.span.write(out);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Ident {
            name: input.name()?,
            span: Stored::read(input)?,
        })
    }
}

/// A description names no file.
impl Stored for StringLiteral {
    fn write(&self, out: &mut Writer) {
        out.name(&self.value);
        self.span.write(out);
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(StringLiteral {
            value: input.name()?,
            span: Stored::read(input)?,
        })
    }
}

/// What only readers of a text or of a diagram look at.
const FOR_READERS: [&str; 6] = ["Diagram", "Documentation", "Icon", "Line", "Placement", "Text"];

impl Stored for Annotation {
    fn write(&self, out: &mut Writer) {
        out.annotation(|out| {
            if !out.only_meaning {
                self.modification.write(out);
                return self.span.write(out);
            }
            let for_readers = |argument: &Argument| match argument {
                Argument::Modification(m) => FOR_READERS.iter().any(|name| m.name.to_string() == *name),
                _ => false,
            };
            let arguments = self.modification.arguments.iter();
            let kept = ClassModification {
                arguments: arguments.filter(|argument| !for_readers(argument)).cloned().collect(),
                span: self.modification.span,
            };
            kept.write(out);
            self.span.write(out);
        });
    }
    fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Annotation {
            modification: Stored::read(input)?,
            span: Stored::read(input)?,
        })
    }
}

/// A remark beside an equation or a statement, which is for readers only.
fn write_remark(remark: &Option<StringLiteral>, out: &mut Writer) {
    if out.only_meaning {
        None::<StringLiteral>.write(out);
    } else {
        remark.write(out);
    }
}

/// What has a remark beside it.
macro_rules! remarked {
    ($type:ident) => {
        impl Stored for $type {
            fn write(&self, out: &mut Writer) {
                self.kind.write(out);
                write_remark(&self.description, out);
                self.annotation.write(out);
                self.span.write(out);
            }
            fn read(input: &mut Reader<'_>) -> Result<Self, Damaged> {
                Ok($type {
                    kind: Stored::read(input)?,
                    description: Stored::read(input)?,
                    annotation: Stored::read(input)?,
                    span: Stored::read(input)?,
                })
            }
        }
    };
}

record!(QualifiedName { global, parts, span });

// Files and classes.
record!(StoredDefinition { within, classes, span });
record!(Within { name, span });
record!(StoredClass { is_final, class });
choice!(ClassKind {
    0 Class, 1 Model, 2 Record, 3 OperatorRecord, 4 Block, 5 Connector, 6 ExpandableConnector, 7 Type, 8 Package,
    9 Function, 10 OperatorFunction, 11 Operator
});
choice!(Purity { 0 Pure, 1 Impure });
record!(ClassDefinition {
    encapsulated,
    partial,
    purity,
    kind,
    name,
    body,
    description,
    annotation,
    span
});
choice!(ClassBody {
    0 Long(composition),
    1 Extends { modification, composition },
    2 Short { causality, base, subscripts, modification },
    3 Enumeration { literals },
    4 Derivative { function, with_respect_to },
    5 Error,
});
record!(EnumerationLiteral {
    name,
    description,
    annotation
});
record!(Composition {
    elements,
    equations,
    algorithms,
    external
});
record!(EquationSection {
    initial,
    equations,
    span
});
record!(AlgorithmSection {
    initial,
    statements,
    span
});
record!(External {
    language,
    call,
    annotation,
    span
});
record!(ExternalCall {
    result,
    function,
    arguments,
    span
});

// Elements.
choice!(Visibility { 0 Public, 1 Protected });
record!(Element {
    visibility,
    redeclare,
    is_final,
    inner,
    outer,
    replaceable,
    kind,
    constraining,
    span
});
choice!(ElementKind { 0 Import(import), 1 Extends(extends), 2 Class(class), 3 Components(clause) });
record!(Import {
    name,
    kind,
    description,
    annotation,
    span
});
choice!(ImportKind { 0 Qualified, 1 Renaming(name), 2 List(names), 3 Unqualified });
record!(Extends {
    base,
    modification,
    annotation,
    span
});
record!(ConstrainingClause {
    base,
    modification,
    description,
    annotation,
    span
});
choice!(ConnectorPrefix { 0 Flow, 1 Stream });
choice!(Variability { 0 Discrete, 1 Parameter, 2 Constant });
choice!(Causality { 0 Input, 1 Output });
record!(TypePrefix {
    connector,
    variability,
    causality
});
record!(ComponentClause {
    prefix,
    type_name,
    subscripts,
    components,
    span
});
record!(Component {
    name,
    subscripts,
    modification,
    condition,
    description,
    annotation,
    span
});

// Modifications.
record!(Modification {
    class_modification,
    binding,
    span
});
choice!(Binding { 0 Expr(value), 1 Break(span) });
record!(ClassModification { arguments, span });
choice!(Argument { 0 Modification(modification), 1 Redeclaration(redeclaration), 2 Break(left_out) });
record!(ElementModification {
    each,
    is_final,
    name,
    modification,
    description,
    span
});
record!(Redeclaration {
    redeclare,
    each,
    is_final,
    replaceable,
    kind,
    constraining,
    span
});
choice!(RedeclarationKind { 0 Class(class), 1 Component(clause) });
record!(InheritanceBreak { kind, span });
choice!(InheritanceBreakKind { 0 Element(name), 1 Connect(left, right) });

// Equations and statements.
remarked!(Equation);
choice!(EquationKind {
    0 Simple { lhs, rhs },
    1 If { branches, otherwise },
    2 For { indices, body },
    3 When { branches },
    4 Connect { left, right },
    5 Call(call),
    6 Error,
});
record!(EquationBranch { condition, body, span });
remarked!(Statement);
choice!(StatementKind {
    0 Assign { target, value },
    1 MultiAssign { targets, value },
    2 Call(call),
    3 If { branches, otherwise },
    4 For { indices, body },
    5 While { condition, body },
    6 When { branches },
    7 Break,
    8 Return,
    9 Error,
});
record!(StatementBranch { condition, body, span });
record!(ForIndex { name, range, span });

// Expressions.
record!(ComponentReference { global, parts, span });
record!(ReferencePart { name, subscripts });
choice!(Subscript { 0 Colon(span), 1 Expr(index) });
record!(Expr { kind, span });
choice!(ExprKind {
    0 Integer(value),
    1 Real(value),
    2 String(value),
    3 Boolean(value),
    4 Reference(reference),
    5 Call(call),
    6 Unary(operator, operand),
    7 Binary(operator, left, right),
    8 Range { start, step, stop },
    9 If { branches, otherwise },
    10 Array(elements),
    11 ArrayComprehension { element, indices },
    12 Matrix(rows),
    13 Tuple(places),
    14 Subscripted(value, subscripts),
    15 End,
    16 PartialFunction(function),
    17 Error,
});
record!(Call { function, arguments });
choice!(CallArguments { 0 List { positional, named }, 1 Comprehension { element, indices } });
record!(NamedArgument { name, value });
record!(PartialFunction { function, arguments });
choice!(UnaryOp { 0 Minus, 1 Plus, 2 ElementwiseMinus, 3 ElementwisePlus, 4 Not });
record!(Operator { op, elementwise });
choice!(BinaryOp {
    0 Or, 1 And, 2 Less, 3 LessEqual, 4 Greater, 5 GreaterEqual, 6 Equal, 7 NotEqual, 8 Add, 9 Subtract,
    10 Multiply, 11 Divide, 12 Power,
});
