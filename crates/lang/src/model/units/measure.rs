//! The units of expressions.

use saltus_source::Span;

use super::{Checker, Declared, Side};
use crate::flat::{BinaryOp, Builtin, FlatExpr, FunctionCall, FunctionId, Idx, LocalId, UnaryOp, VariableId};
use crate::model::units::solve::Form;
use crate::unit::Dimension;

/// What is known of the unit of an expression.
#[derive(Clone, Debug)]
pub(super) enum Measure {
    /// Any: a literal, or a product with one.
    Any,
    /// A number by its nature, such as a sine: as a factor it changes no unit, but alone it may stand for so many volts.
    Number,
    /// `time`: seconds as a factor and in a comparison, but alone a ramp of any unit.
    Time,
    /// A unit, as far as it is known, and where its zero is, if that is certain.
    Of(Form, Option<f64>),
}

impl Measure {
    pub(super) fn of(form: Form, zero: Option<f64>) -> Measure {
        Measure::Of(form, zero)
    }

    /// The unit of a sum, or of either of two values, where not both have units.
    pub(super) fn beside(self, other: Measure) -> Measure {
        match (self, other) {
            (Measure::Of(form, _), _) | (_, Measure::Of(form, _)) => Measure::Of(form, None),
            (Measure::Number, Measure::Number | Measure::Any) | (Measure::Any, Measure::Number) => Measure::Number,
            (Measure::Time, Measure::Time | Measure::Any) | (Measure::Any, Measure::Time) => Measure::Time,
            _ => Measure::Any,
        }
    }

    /// As a factor; `None` if it may be anything.
    fn factor(self) -> Option<Form> {
        match self {
            Measure::Any => None,
            Measure::Number => Some(Form::default()),
            Measure::Time => Some(Form::known(Dimension::SECOND)),
            Measure::Of(form, _) => Some(form),
        }
    }

    /// The product with a power of another one.
    fn times(self, other: Measure, power: f64) -> Measure {
        if let (Measure::Number, Measure::Number) = (&self, &other) {
            return Measure::Number;
        }
        let product = self.factor().zip(other.factor()).and_then(|(a, b)| a.times(&b, power));
        product.map_or(Measure::Any, |form| Measure::Of(form, None))
    }

    fn power(self, power: f64) -> Measure {
        match self {
            Measure::Number | Measure::Any => self,
            _ => self
                .factor()
                .map_or(Measure::Any, |form| Measure::Of(form.power(power), None)),
        }
    }

    /// Time is in seconds where it is compared.
    fn compared(self) -> Measure {
        match self {
            Measure::Time => Measure::Of(Form::known(Dimension::SECOND), Some(0.0)),
            other => other,
        }
    }
}

/// The same with another zero.
pub(super) fn with_zero(measure: Measure, zero: Option<f64>) -> Measure {
    match measure {
        Measure::Of(form, _) => Measure::Of(form, zero),
        other => other,
    }
}

/// The zero of a sum or difference of temperatures: differences of them have none.
pub(super) fn zero_of_sum(operation: &str, a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a?, b?) {
        (a, 0.0) => Some(a),
        (0.0, b) if operation == "+" => Some(b),
        (a, b) if operation == "-" && a == b => Some(0.0),
        _ => None,
    }
}

pub(super) fn of_declared(declared: Option<Declared>) -> Measure {
    match declared {
        Some(Declared::Unit(unit)) => Measure::Of(Form::known(unit.dimension), Some(unit.offset)),
        Some(Declared::Number) => Measure::Number,
        _ => Measure::Any,
    }
}

/// The value of a number that is written out: `2`, `-1`, `1/3`.
fn number(expr: &FlatExpr) -> Option<f64> {
    match expr {
        FlatExpr::Unary(UnaryOp::Negate, inner) => number(inner).map(|value| -value),
        FlatExpr::Binary(BinaryOp::Divide, operands, _) => Some(number(&operands[0])? / number(&operands[1])?),
        other => other.as_number(),
    }
}

impl<'m> Checker<'m> {
    /// Looks for mistakes inside of an expression whose own unit does not matter.
    pub(super) fn visit(&mut self, expr: &'m FlatExpr) {
        self.measure(expr);
    }

    pub(super) fn variable(&self, id: VariableId) -> Measure {
        match self.declared[id] {
            Declared::Open => Measure::Of(Form::unknown(id), None),
            other => of_declared(Some(other)),
        }
    }

    /// A variable of the function that is looked at.
    pub(super) fn local(&self, id: LocalId) -> Measure {
        let units = self.function.as_ref().map(|(_, units)| units);
        of_declared(units.and_then(|units| units.get(id.index()).copied()))
    }

    /// The unit of an expression, as far as it is known.
    pub(super) fn measure(&mut self, expr: &'m FlatExpr) -> Measure {
        let measure = self.measure_of(expr);
        self.note(expr, &measure);
        measure
    }

    fn measure_of(&mut self, expr: &'m FlatExpr) -> Measure {
        match expr {
            FlatExpr::Variable(id) => self.variable(*id),
            FlatExpr::Time => Measure::Time,
            FlatExpr::Unary(UnaryOp::Negate, inner) => match self.measure(inner) {
                Measure::Of(form, Some(0.0)) => Measure::Of(form, Some(0.0)),
                other => with_zero(other, None),
            },
            FlatExpr::Unary(UnaryOp::Not, inner) => {
                self.visit(inner);
                Measure::Any
            }
            FlatExpr::Binary(op, operands, span) => self.binary(*op, &operands[0], &operands[1], *span),
            FlatExpr::If(parts, span) => {
                self.visit(&parts[0]);
                let sides = (Side::Expr(&parts[1]), Side::Expr(&parts[2]));
                let value = self.in_branch(|this| this.joined("else", sides.0, sides.1, Some(*span)));
                // `s` may be a voltage in `u = if off then s else 0` and a current in `i = if off then 0 else s`.
                match value {
                    Measure::Of(form, _) if !form.terms.is_empty() || form.has_cancelled => Measure::Any,
                    other => other,
                }
            }
            FlatExpr::Builtin(builtin, arguments, span) => self.builtin(*builtin, arguments, *span),
            FlatExpr::Call(call) => self.call(call),
            FlatExpr::Local(id, indices) => {
                indices.iter().for_each(|index| self.visit(index));
                self.local(*id)
            }
            _ => Measure::Any,
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &'m FlatExpr, b: &'m FlatExpr, span: Span) -> Measure {
        match op {
            BinaryOp::Add | BinaryOp::Subtract => self.joined(op.as_str(), Side::Expr(a), Side::Expr(b), Some(span)),
            BinaryOp::Multiply => {
                let x = self.measure(a);
                x.times(self.measure(b), 1.0)
            }
            BinaryOp::Divide => {
                let x = self.measure(a);
                x.times(self.measure(b), -1.0)
            }
            BinaryOp::Power => {
                let x = self.measure(a);
                self.visit(b);
                match (number(b), x) {
                    (Some(power), x) => x.power(power),
                    (None, Measure::Number) => Measure::Number,
                    (None, _) => Measure::Any,
                }
            }
            BinaryOp::And | BinaryOp::Or => {
                self.visit(a);
                self.visit(b);
                Measure::Any
            }
            _ => {
                let (x, y) = (self.measure(a).compared(), self.measure(b).compared());
                self.join(op.as_str(), (Side::Expr(a), x), (Side::Expr(b), y), Some(span));
                Measure::Any
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, arguments: &'m [FlatExpr], span: Span) -> Measure {
        use Builtin as B;
        match (builtin, arguments) {
            (B::Der, [x]) => match self.measure(x) {
                Measure::Time => Measure::Number,
                x => x.times(Measure::Time, -1.0),
            },
            (B::Sqrt, [x]) => self.measure(x).power(0.5),
            (B::Pre | B::NoEvent | B::Abs | B::Ceil | B::Floor, [x]) | (B::Smooth, [_, x]) => self.measure(x),
            (B::Homotopy | B::Min | B::Max | B::Mod | B::Rem, [a, b]) => {
                self.joined(builtin.name(), Side::Expr(a), Side::Expr(b), Some(span))
            }
            (B::Div, [a, b]) => {
                let x = self.measure(a);
                x.times(self.measure(b), -1.0)
            }
            (B::Atan2, [a, b]) => {
                self.joined(builtin.name(), Side::Expr(a), Side::Expr(b), Some(span));
                Measure::Number
            }
            // Differences of logarithms are written with quantities of any unit.
            (B::Sign | B::Integer | B::Log | B::Log10, [x]) => {
                self.visit(x);
                Measure::Number
            }
            (B::Sin | B::Cos | B::Tan | B::Asin | B::Acos | B::Atan | B::Sinh | B::Cosh | B::Tanh | B::Exp, [x]) => {
                self.wants(builtin.name(), x, Dimension::ONE, span);
                Measure::Number
            }
            (B::Delay, [x, times @ ..]) => {
                times
                    .iter()
                    .for_each(|time| self.wants("delay", time, Dimension::SECOND, span));
                self.measure(x)
            }
            (B::Sample, [start, interval]) => {
                self.wants("sample", start, Dimension::SECOND, span);
                self.wants("sample", interval, Dimension::SECOND, span);
                Measure::Any
            }
            (B::SemiLinear, [x, a, b]) => {
                let slope = self.joined(builtin.name(), Side::Expr(a), Side::Expr(b), Some(span));
                self.measure(x).times(slope, 1.0)
            }
            (B::TransportedLeft | B::TransportedRight, [a, b, rest @ ..]) => {
                rest.iter().for_each(|argument| self.visit(argument));
                self.joined("spatialDistribution", Side::Expr(a), Side::Expr(b), Some(span))
            }
            _ => {
                arguments.iter().for_each(|argument| self.visit(argument));
                Measure::Any
            }
        }
    }

    /// An operator wants a unit of its argument.
    fn wants(&mut self, operator: &'static str, argument: &'m FlatExpr, unit: Dimension, span: Span) {
        self.joined(operator, Side::Wanted(unit), Side::Expr(argument), Some(span));
    }

    fn call(&mut self, call: &'m FunctionCall) -> Measure {
        self.arguments(call.function, &call.arguments, Some(call.span));
        let units = self.local_units(call.function);
        let function = &self.model.functions[call.function];
        let unit_at = |list: &[LocalId], place: u32| {
            let mut place = place as usize;
            list.iter().find_map(|&id| {
                let size = function.locals[id].size();
                let here = place < size;
                place = place.wrapping_sub(size);
                here.then(|| of_declared(units.get(id.index()).copied()))
            })
        };
        let mut result = unit_at(&function.outputs, call.output).unwrap_or(Measure::Any);
        for &by in &call.partials {
            result = result.times(unit_at(&function.inputs, by).unwrap_or(Measure::Any), -1.0);
        }
        result
    }

    /// The arguments of a call have the units that its inputs declare.
    pub(super) fn arguments(&mut self, function: FunctionId, arguments: &'m [FlatExpr], span: Option<Span>) {
        let inputs = &self.model.functions[function];
        let scalars = inputs
            .inputs
            .iter()
            .flat_map(|&id| std::iter::repeat_n(id, inputs.locals[id].size()));
        for (id, argument) in scalars.zip(arguments) {
            self.joined("argument", Side::Input(function, id), Side::Expr(argument), span);
        }
    }
}
