//! Evaluation with rounding errors: every operation is off by a little, up or down, and what that leaves of a difference of
//! large terms shows how well the difference is known.
//!
//! Each number is carried twice, as it is and as it would be. Choices (which branch, which piece of a table, how often a
//! loop runs) are made by the former, so that the two do not part for other reasons than rounding.

use saltus_mdae::function::{Direction, Number};
use saltus_mdae::{BinaryFunction, UnaryFunction};

use crate::code::{Code, call_site};
use crate::function::Library;
use crate::scalar;
use crate::tape::{CallSite, Op, Value};

/// One way in which operations round.
#[derive(Copy, Clone, Debug)]
pub struct Rounding<'a> {
    /// Which way.
    pub pattern: u64,
    /// The largest error of an operation, in parts of its result.
    pub relative: f64,
    /// Whether the value at a slot varies. What does not is rounded the same way each time, and so is what follows from it.
    pub varies: &'a [bool],
}

impl Rounding<'_> {
    fn way(&self) -> Way {
        Way {
            pattern: self.pattern,
            relative: self.relative,
        }
    }
}

/// By what part of its error a number is off: between half and all of it, up or down, differently for each.
pub fn share_of_error(pattern: u64, at: u64) -> f64 {
    let mut z = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ pattern.wrapping_add(1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let size = 0.5 + 0.5 * (z >> 11) as f64 / (1u64 << 53) as f64;
    if z & 1 == 0 { size } else { -size }
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct Way {
    pattern: u64,
    relative: f64,
}

/// A number as it is and as rounding errors would have it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Rounded {
    value: f64,
    off: f64,
    varies: bool,
    way: Way,
}

impl Rounded {
    fn constant(value: f64, way: Way) -> Self {
        Rounded {
            value,
            off: value,
            varies: false,
            way,
        }
    }

    fn leaf(value: f64, slot: u32, rounding: &Rounding<'_>) -> Self {
        let varies = rounding.varies[slot as usize];
        let exact = Rounded {
            varies,
            ..Self::constant(value, rounding.way())
        };
        exact.rounded_at(u64::from(slot))
    }

    /// With the error of the operation that it is the result of. The same operation on the same numbers errs in the same way.
    fn rounded(self, operation: u64, operands: [f64; 2]) -> Self {
        let [a, b] = operands.map(f64::to_bits);
        self.rounded_at(operation ^ a.rotate_left(17) ^ b.rotate_left(41))
    }

    fn rounded_at(self, at: u64) -> Self {
        let Way { pattern, relative } = self.way;
        let error = if self.varies {
            self.value * relative * share_of_error(pattern, at)
        } else {
            0.0
        };
        // Nothing is learnt where rounding would lead out of a domain.
        let off = if self.off.is_finite() {
            self.off + error
        } else {
            self.value
        };
        Rounded { off, ..self }
    }

    /// What it would be, where that is a number.
    fn outcome(&self) -> f64 {
        if self.off.is_finite() { self.off } else { self.value }
    }
}

impl Number for Rounded {
    fn like(&self, value: f64) -> Self {
        Self::constant(value, self.way)
    }
    fn value(&self) -> f64 {
        self.value
    }
    fn unary(&self, op: UnaryFunction) -> Self {
        let value = scalar::unary(op, self.value);
        let with = |off: f64| Rounded { value, off, ..*self };
        match op {
            UnaryFunction::Not | UnaryFunction::Sign | UnaryFunction::Floor | UnaryFunction::Ceil => with(value),
            UnaryFunction::Neg | UnaryFunction::Abs => with(scalar::unary(op, self.off)),
            _ => with(scalar::unary(op, self.off)).rounded(1 + op as u64, [self.value, 0.0]),
        }
    }
    fn binary(op: BinaryFunction, a: &Self, b: &Self) -> Self {
        let value = scalar::binary(op, a.value, b.value);
        let varies = a.varies || b.varies;
        let with = |off: f64| Rounded {
            value,
            off,
            varies,
            way: a.way,
        };
        match op {
            BinaryFunction::Add
            | BinaryFunction::Sub
            | BinaryFunction::Mul
            | BinaryFunction::Div
            | BinaryFunction::Pow
            | BinaryFunction::Atan2 => {
                with(scalar::binary(op, a.off, b.off)).rounded(1 << 8 | op as u64, [a.value, b.value])
            }
            BinaryFunction::Min | BinaryFunction::Max => with(if value == a.value { a.off } else { b.off }),
            BinaryFunction::Mod | BinaryFunction::Rem => with(value + (a.off - a.value)),
            _ => with(value),
        }
    }
    fn resting_on(self, args: &[Self]) -> Self {
        let varies = args.iter().any(|arg| arg.varies);
        Rounded { varies, ..self }.rounded(1 << 9, [self.value, 0.0])
    }
    fn width(&self) -> usize {
        2
    }
    fn last_direction(&self, _: usize) -> Option<Direction> {
        None
    }
    fn base(&self, _: Direction) -> Self {
        *self
    }
    fn split(&self, _: Direction, _: usize) -> (Self, Self) {
        (*self, self.like(0.0))
    }
    fn join(base: &Self, _: &Self, _: Direction) -> Self {
        *base
    }
    fn is_zero(&self) -> bool {
        self.value == 0.0
    }
    fn same(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// Executes a tape once and writes its outputs with their errors. The registers are room that tapes share.
pub(crate) fn evaluate_rounded(
    code: &Code,
    library: &Library,
    (values, slots): (&[f64], &[u32]),
    rounding: &Rounding<'_>,
    registers: &mut Vec<Rounded>,
    mut write: impl FnMut(usize, f64),
) {
    registers.clear();
    let mut machine = RoundingMachine {
        code,
        library,
        way: rounding.way(),
        registers,
        results: vec![Vec::new(); code.tape.sites.len()],
    };
    for &op in &code.tape.ops {
        let number = match op {
            Op::Leaf(leaf) => {
                let slot = slots[leaf as usize];
                Rounded::leaf(values[slot as usize], slot, rounding)
            }
            other => machine.operate(other),
        };
        machine.registers.push(number);
    }
    for (at, output) in code.tape.outputs.iter().enumerate() {
        write(at, machine.at(*output).outcome());
    }
}

struct RoundingMachine<'a> {
    code: &'a Code,
    library: &'a Library,
    way: Way,
    registers: &'a mut Vec<Rounded>,
    /// Of each call site.
    results: Vec<Vec<Rounded>>,
}

impl RoundingMachine<'_> {
    fn at(&self, value: Value) -> Rounded {
        self.registers[value.index()]
    }

    fn operate(&mut self, op: Op) -> Rounded {
        match op {
            Op::Constant(bits) => Rounded::constant(f64::from_bits(bits), self.way),
            Op::Unary(op, a) => self.at(a).unary(op),
            Op::Binary(op, a, b) => Rounded::binary(op, &self.at(a), &self.at(b)),
            Op::Select(c, a, b) => self.at(if self.at(c).value != 0.0 { a } else { b }),
            Op::SinCos(a) => self.at(a).unary(UnaryFunction::Sin),
            Op::Cosine(pair) => match self.code.tape.ops[pair.index()] {
                Op::SinCos(a) => self.at(a).unary(UnaryFunction::Cos),
                _ => unreachable!("a validated tape"),
            },
            Op::Call(number) => {
                let site = &self.code.tape.sites[number as usize];
                self.results[number as usize] = self.call(site);
                Rounded::constant(0.0, self.way)
            }
            Op::CallResult(call, result) => match self.code.tape.ops[call.index()] {
                Op::Call(number) => self.results[number as usize][result as usize],
                _ => unreachable!("a validated tape"),
            },
            Op::Leaf(_) => unreachable!("leaves are read, not computed"),
        }
    }

    fn call(&self, site: &CallSite) -> Vec<Rounded> {
        let nothing = Rounded::constant(f64::NAN, self.way);
        let mut results = vec![nothing; site.results as usize];
        if site.guard.is_some_and(|guard| self.at(guard).value == 0.0) {
            return results;
        }
        let args: Vec<Rounded> = site.args.iter().map(|&arg| self.at(arg)).collect();
        if site.order == 0 && site.directions.is_empty() {
            // What a call that fails would give is not a number.
            let _ = self
                .library
                .call_rounded(site.function, &args, &nothing.like(0.0), &mut results);
            return results;
        }
        // Derivatives of functions: with the errors of their arguments and of the results.
        let numbers = |of: fn(&Rounded) -> f64| {
            let args: Vec<f64> = args.iter().map(of).collect();
            let mut numbers = vec![f64::NAN; site.results as usize];
            let _ = call_site(self.library, site, &args, &mut numbers);
            numbers
        };
        let varies = args.iter().any(|arg| arg.varies);
        let pairs = numbers(|arg| arg.value).into_iter().zip(numbers(Rounded::outcome));
        let way = self.way;
        pairs
            .map(|(value, off)| {
                Rounded {
                    value,
                    off,
                    varies,
                    way,
                }
                .rounded(1 << 16, [value, 0.0])
            })
            .collect()
    }
}
