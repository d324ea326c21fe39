//! Operations on numbers, as machine instructions: those of tapes and those of functions are the same.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use saltus_mdae::{BinaryFunction, UnaryFunction};

use super::lower::Imports;

/// What is written to.
pub(super) trait Arithmetic<'b> {
    fn builder(&mut self) -> &mut FunctionBuilder<'b>;
    fn imports(&self) -> &Imports;
    /// Calls a function of ours.
    fn call_function(&mut self, function: FuncId, args: &[Ir]) -> Option<Ir>;

    /// The number that a one-argument operation yields, negation of a truth value excepted.
    fn unary_number(&mut self, op: UnaryFunction, x: Ir) -> Option<Ir> {
        let number = match op {
            UnaryFunction::Neg => self.builder().ins().fneg(x),
            UnaryFunction::Abs => self.builder().ins().fabs(x),
            UnaryFunction::Sqrt => self.builder().ins().sqrt(x),
            UnaryFunction::Floor => self.builder().ins().floor(x),
            UnaryFunction::Ceil => self.builder().ins().ceil(x),
            UnaryFunction::Sign => {
                let [minus, zero, plus] = [-1.0, 0.0, 1.0].map(|c: f64| self.builder().ins().f64const(c));
                let positive = self.builder().ins().fcmp(FloatCC::GreaterThan, x, zero);
                let negative = self.builder().ins().fcmp(FloatCC::LessThan, x, zero);
                let rest = self.builder().ins().select(negative, minus, zero);
                self.builder().ins().select(positive, plus, rest)
            }
            _ => {
                let function = *self.imports().unary.get(&op)?;
                return self.call_function(function, &[x]);
            }
        };
        Some(number)
    }

    /// The number that a two-argument operation yields, those that yield truth values excepted.
    fn binary_number(&mut self, op: BinaryFunction, x: Ir, y: Ir) -> Option<Ir> {
        use BinaryFunction::*;
        let number = match op {
            Add => self.builder().ins().fadd(x, y),
            Sub => self.builder().ins().fsub(x, y),
            Mul => self.builder().ins().fmul(x, y),
            Div => self.builder().ins().fdiv(x, y),
            Min => self.builder().ins().fmin(x, y),
            Max => self.builder().ins().fmax(x, y),
            Pow => {
                let power = self.imports().power;
                return self.call_function(power, &[x, y]);
            }
            Atan2 => {
                let arc_tangent = self.imports().arc_tangent;
                return self.call_function(arc_tangent, &[x, y]);
            }
            Mod | Rem | Quotient => {
                let ratio = self.builder().ins().fdiv(x, y);
                let quotient = match op {
                    Mod => self.builder().ins().floor(ratio),
                    _ => self.builder().ins().trunc(ratio),
                };
                if op == Quotient {
                    quotient
                } else {
                    let product = self.builder().ins().fmul(quotient, y);
                    self.builder().ins().fsub(x, product)
                }
            }
            And | Or | Lt | Le | Gt | Ge | Eq | Ne => return None,
        };
        Some(number)
    }

    /// The truth value of a relation.
    fn relation(&mut self, op: BinaryFunction, x: Ir, y: Ir) -> Option<Ir> {
        let code = match op {
            BinaryFunction::Lt => FloatCC::LessThan,
            BinaryFunction::Le => FloatCC::LessThanOrEqual,
            BinaryFunction::Gt => FloatCC::GreaterThan,
            BinaryFunction::Ge => FloatCC::GreaterThanOrEqual,
            BinaryFunction::Eq => FloatCC::Equal,
            BinaryFunction::Ne => FloatCC::NotEqual,
            _ => return None,
        };
        Some(self.builder().ins().fcmp(code, x, y))
    }

    /// Whether a truth value is false.
    fn negated(&mut self, truth: Ir) -> Ir {
        self.builder().ins().icmp_imm_s(IntCC::Equal, truth, 0)
    }

    /// Whether a number is not zero.
    fn nonzero(&mut self, number: Ir) -> Ir {
        let zero = self.builder().ins().f64const(0.0);
        self.builder().ins().fcmp(FloatCC::NotEqual, number, zero)
    }

    /// A truth value as a number.
    fn truth_number(&mut self, truth: Ir) -> Ir {
        let one = self.builder().ins().f64const(1.0);
        let zero = self.builder().ins().f64const(0.0);
        self.builder().ins().select(truth, one, zero)
    }
}
