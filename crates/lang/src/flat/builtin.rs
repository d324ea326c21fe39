//! The built-in functions and operators that remain in a flat model.

macro_rules! builtins {
    ($($(#[$meta:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// A built-in function or operator on scalars. What works on whole arrays is gone by then.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Builtin {
            $($(#[$meta])* $variant),+
        }

        impl Builtin {
            /// The name in Modelica.
            pub fn name(self) -> &'static str {
                match self {
                    $(Builtin::$variant => $name),+
                }
            }

            /// The built-in with this name.
            pub fn from_name(name: &str) -> Option<Builtin> {
                match name {
                    $($name => Some(Builtin::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

builtins! {
    /// `der(e)`
    Der = "der",
    /// `pre(e)`; also of continuous expressions: the left limit.
    Pre = "pre",
    /// `edge(b)`
    Edge = "edge",
    /// `change(v)`
    Change = "change",
    /// `sample(start, interval)`
    Sample = "sample",
    /// A clock: `Clock()`, `Clock(intervalCounter, resolution)`, `Clock(interval)`, `Clock(condition, startInterval)` or
    /// `Clock(c, solverMethod)`; the type of the first argument says which.
    Clock = "Clock",
    /// `sample(u)` or `sample(u, clock)`: a value of the unclocked part at the ticks of a clock.
    ClockedSample = "sample.clocked",
    /// `hold(u)`: a clocked value between the ticks.
    Hold = "hold",
    /// `previous(u)`: the value at the tick before.
    Previous = "previous",
    /// `subSample(u, factor)`; the factor is a literal, 0 where it is to be inferred.
    SubSample = "subSample",
    /// `superSample(u, factor)`; the factor is a literal, 0 where it is to be inferred.
    SuperSample = "superSample",
    /// `shiftSample(u, shiftCounter, resolution)`; both are literals.
    ShiftSample = "shiftSample",
    /// `backSample(u, backCounter, resolution)`; both are literals.
    BackSample = "backSample",
    /// `noClock(u)`
    NoClock = "noClock",
    /// `interval()` or `interval(u)`
    Interval = "interval",
    /// `firstTick()` or `firstTick(u)`
    FirstTick = "firstTick",
    /// `activeState(s)` of the state with the path that is the argument; only while flattening.
    ActiveState = "activeState",
    /// `ticksInState()`; only while flattening.
    TicksInState = "ticksInState",
    /// `timeInState()`; only while flattening.
    TimeInState = "timeInState",
    /// `initial()`
    Initial = "initial",
    /// `terminal()`
    Terminal = "terminal",
    /// `noEvent(e)`
    NoEvent = "noEvent",
    /// `smooth(p, e)`; p is a literal.
    Smooth = "smooth",
    /// `homotopy(actual, simplified)`
    Homotopy = "homotopy",
    /// `delay(e, delayTime)` or `delay(e, delayTime, delayMax)`
    Delay = "delay",
    /// `spatialDistribution(in0, in1, x, positiveVelocity, p1, …, pn, v1, …, vn)`: the result at the left end.
    TransportedLeft = "spatialDistribution",
    /// The same: the result at the right end.
    TransportedRight = "spatialDistribution.out1",
    /// `semiLinear(x, positiveSlope, negativeSlope)`
    SemiLinear = "semiLinear",
    /// `inStream(h)`; only while flattening: the flat model has the mixture itself.
    InStream = "inStream",
    /// `abs(x)`
    Abs = "abs",
    /// `sign(x)`
    Sign = "sign",
    /// `sqrt(x)`
    Sqrt = "sqrt",
    /// `sin(x)`
    Sin = "sin",
    /// `cos(x)`
    Cos = "cos",
    /// `tan(x)`
    Tan = "tan",
    /// `asin(x)`
    Asin = "asin",
    /// `acos(x)`
    Acos = "acos",
    /// `atan(x)`
    Atan = "atan",
    /// `atan2(y, x)`
    Atan2 = "atan2",
    /// `sinh(x)`
    Sinh = "sinh",
    /// `cosh(x)`
    Cosh = "cosh",
    /// `tanh(x)`
    Tanh = "tanh",
    /// `exp(x)`
    Exp = "exp",
    /// `log(x)`
    Log = "log",
    /// `log10(x)`
    Log10 = "log10",
    /// `div(x, y)`: the quotient truncated towards zero.
    Div = "div",
    /// `mod(x, y)`
    Mod = "mod",
    /// `rem(x, y)`
    Rem = "rem",
    /// `ceil(x)`
    Ceil = "ceil",
    /// `floor(x)`
    Floor = "floor",
    /// `integer(x)`: floor as an Integer.
    Integer = "integer",
    /// `min(x, y)`
    Min = "min",
    /// `max(x, y)`
    Max = "max",
    /// `Integer(e)`: the ordinal of an enumeration value.
    Ordinal = "Integer",
    /// `E(i)`: the enumeration value of an ordinal. The type of the result is in the node around it.
    FromOrdinal = "fromOrdinal",
    /// `String(x, …)`; options are kept as literals behind the value.
    String = "String",
    /// No value yet; only while functions are evaluated.
    Unset = "$unset",
    /// The number of characters of a text.
    TextLength = "$length",
    /// The characters of a text from one position to another.
    TextPart = "$substring",
    /// 1, 2, 3 for less, equal, greater; whether case matters comes third.
    TextCompare = "$compare",
    /// The position behind blanks.
    TextSkip = "$skipWhiteSpace",
    /// A hash of a text.
    TextHash = "$hashString",
}
