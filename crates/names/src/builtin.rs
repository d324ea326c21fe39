//! What is there without being declared.

/// The predefined types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Predefined {
    /// `Real`
    Real,
    /// `Integer`
    Integer,
    /// `Boolean`
    Boolean,
    /// `String`
    String,
    /// `Clock`
    Clock,
    /// `ExternalObject`
    ExternalObject,
    /// `StateSelect`
    StateSelect,
    /// `AssertionLevel`
    AssertionLevel,
}

impl Predefined {
    /// All of them.
    pub const ALL: [Predefined; 8] = [
        Predefined::Real,
        Predefined::Integer,
        Predefined::Boolean,
        Predefined::String,
        Predefined::Clock,
        Predefined::ExternalObject,
        Predefined::StateSelect,
        Predefined::AssertionLevel,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Predefined::Real => "Real",
            Predefined::Integer => "Integer",
            Predefined::Boolean => "Boolean",
            Predefined::String => "String",
            Predefined::Clock => "Clock",
            Predefined::ExternalObject => "ExternalObject",
            Predefined::StateSelect => "StateSelect",
            Predefined::AssertionLevel => "AssertionLevel",
        }
    }

    /// The one with this name.
    pub fn find(name: &str) -> Option<Predefined> {
        Predefined::ALL.into_iter().find(|predefined| predefined.name() == name)
    }
}

/// The literals of a predefined enumeration.
pub fn predefined_literals(predefined: Predefined) -> &'static [&'static str] {
    match predefined {
        Predefined::StateSelect => &["never", "avoid", "default", "prefer", "always"],
        Predefined::AssertionLevel => &["warning", "error"],
        _ => &[],
    }
}

const QUANTITY: (&str, &str) = ("quantity", "String: what kind of quantity it is");
const MIN: (&str, &str) = ("min", "the least value allowed");
const MAX: (&str, &str) = ("max", "the greatest value allowed");
const START: (&str, &str) = ("start", "value at the start, or a guess for it");
const FIXED: (&str, &str) = ("fixed", "Boolean: whether `start` holds exactly");

/// The attributes of a predefined type, with what they say.
pub fn attributes(predefined: Predefined) -> &'static [(&'static str, &'static str)] {
    match predefined {
        Predefined::Real => &[
            QUANTITY,
            ("unit", "String: the unit equations are written in"),
            ("displayUnit", "String: the unit values are shown in"),
            MIN,
            MAX,
            START,
            FIXED,
            ("nominal", "the usual size of the value"),
            ("unbounded", "Boolean: whether the value grows without bound"),
            ("stateSelect", "StateSelect: whether it is preferred as a state"),
        ],
        Predefined::Integer => &[QUANTITY, MIN, MAX, START, FIXED],
        Predefined::Boolean | Predefined::String => &[QUANTITY, START, FIXED],
        Predefined::StateSelect | Predefined::AssertionLevel => &[QUANTITY, MIN, MAX, START, FIXED],
        Predefined::Clock | Predefined::ExternalObject => &[],
    }
}

/// A function that is there without being declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinFunction {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, as text.
    pub arguments: &'static [&'static str],
    /// One sentence.
    pub description: &'static str,
}

/// The one with this name.
pub fn builtin_function(name: &str) -> Option<&'static BuiltinFunction> {
    BUILTIN_FUNCTIONS.iter().find(|function| function.name == name)
}

macro_rules! functions {
    ($($name:literal ($($argument:literal),*) $description:literal,)*) => {
        &[$(BuiltinFunction { name: $name, arguments: &[$($argument),*], description: $description }),*]
    };
}

/// Operators and functions of the language.
pub const BUILTIN_FUNCTIONS: &[BuiltinFunction] = functions![
    "der"("expr") "The derivative with respect to time.",
    "pre"("y") "The value before the event, the left limit.",
    "initial"() "True during initialisation.",
    "terminal"() "True at the end of a successful run.",
    "edge"("b") "True at the instant at which `b` becomes true.",
    "change"("v") "True at the instant at which `v` changes.",
    "reinit"("x", "expr") "Restarts the state `x` with a new value; inside `when` only.",
    "sample"("start", "interval") "True at `start + i*interval`.",
    "noEvent"("expr") "Evaluates relations as they are written, without events.",
    "smooth"("p", "expr") "States that `expr` is `p` times continuously differentiable.",
    "assert"("condition", "message", "level = AssertionLevel.error") "Ends the run, or warns, if the condition is false.",
    "terminate"("message") "Ends the run.",
    "complementarity"("a", "b") "0 <= a, 0 <= b and one of them is zero; an equation.",
    "homotopy"("actual", "simplified") "The actual expression, with a simpler one to start from.",
    "delay"("expr", "delayTime", "delayMax") "The value a while ago.",
    "cardinality"("c") "The number of connections of a connector.",
    "inStream"("v") "The value of a stream variable for flow into the component.",
    "actualStream"("v") "The value of a stream variable that flows.",
    "semiLinear"("x", "positiveSlope", "negativeSlope") "`x*positiveSlope` for `x >= 0`, else `x*negativeSlope`.",
    "spatialDistribution"("in0", "in1", "x", "positiveVelocity", "initialPoints", "initialValues") "Transport along a line.",
    "abs"("v") "Absolute value.",
    "sign"("v") "-1, 0 or 1.",
    "sqrt"("v") "Square root.",
    "div"("x", "y") "Quotient without its fraction.",
    "mod"("x", "y") "`x - floor(x/y)*y`.",
    "rem"("x", "y") "`x - div(x, y)*y`.",
    "ceil"("x") "The smallest integer that is not smaller, as a Real.",
    "floor"("x") "The greatest integer that is not greater, as a Real.",
    "integer"("x") "The greatest integer that is not greater.",
    "Integer"("e") "The number of an enumeration literal.",
    "String"("value", "significantDigits", "minimumLength", "leftJustified", "format") "As text.",
    "sin"("u") "Sine.",
    "cos"("u") "Cosine.",
    "tan"("u") "Tangent.",
    "asin"("u") "Inverse sine.",
    "acos"("u") "Inverse cosine.",
    "atan"("u") "Inverse tangent.",
    "atan2"("u1", "u2") "The angle of the point (u2, u1).",
    "sinh"("u") "Hyperbolic sine.",
    "cosh"("u") "Hyperbolic cosine.",
    "tanh"("u") "Hyperbolic tangent.",
    "exp"("u") "Exponential.",
    "log"("u") "Natural logarithm.",
    "log10"("u") "Logarithm to the base 10.",
    "min"("x", "y") "The smaller one, or the least element of an array.",
    "max"("x", "y") "The greater one, or the greatest element of an array.",
    "sum"("A") "The sum of all elements.",
    "product"("A") "The product of all elements.",
    "size"("A", "i") "The sizes of an array, or one of them.",
    "ndims"("A") "The number of dimensions.",
    "scalar"("A") "The only element of an array.",
    "vector"("A") "The elements as a vector.",
    "matrix"("A") "The elements as a matrix.",
    "transpose"("A") "The transposed matrix.",
    "outerProduct"("x", "y") "The matrix `x*transpose(y)`.",
    "symmetric"("A") "A symmetric matrix with the upper triangle of `A`.",
    "cross"("x", "y") "The cross product.",
    "skew"("x") "The matrix of the cross product with `x`.",
    "identity"("n") "The identity matrix.",
    "diagonal"("v") "A diagonal matrix.",
    "zeros"("n1", "…") "An array of zeros.",
    "ones"("n1", "…") "An array of ones.",
    "fill"("s", "n1", "…") "An array of equal elements.",
    "linspace"("x1", "x2", "n") "`n` values at equal distances.",
    "cat"("k", "A", "B", "…") "Arrays joined along dimension `k`.",
    "array"("a", "b", "…") "An array of these elements.",
    "promote"("A", "n") "An array with dimensions of size 1 added.",
    "getInstanceName"() "The path of the component it is called in.",
    "rooted"("x") "Whether a connector is nearer to the root of the connection graph.",
    "pure"("f") "Says that a call of an impure function may be treated as pure.",
    "previous"("u") "The value at the clock tick before.",
    "hold"("u") "A clocked value held between ticks.",
    "subSample"("u", "factor") "Every `factor`-th value of a clocked variable.",
    "superSample"("u", "factor") "A clocked variable on a faster clock.",
    "shiftSample"("u", "shiftCounter", "resolution") "A clocked variable, later.",
    "backSample"("u", "backCounter", "resolution") "A clocked variable, earlier.",
    "noClock"("u") "A clocked variable on whatever clock is there.",
    "interval"("u") "The time since the tick before.",
    "firstTick"("u") "True at the first tick.",
    "transition"("from", "to", "condition", "immediate", "reset", "synchronize", "priority") "A transition of a state machine.",
    "initialState"("state") "The initial state of a state machine.",
    "activeState"("state") "Whether a state is active.",
    "ticksInState"() "Ticks since the state was entered.",
    "timeInState"() "Time since the state was entered.",
];
