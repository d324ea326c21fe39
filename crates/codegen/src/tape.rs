//! The tape: a straight line of operations in single-assignment form, the one program both back ends execute.

use rustc_hash::FxHashMap;
use saltus_mdae::{BinaryFunction, ExprId, FunctionId, UnaryFunction};

use crate::scalar;

/// A value on a tape: the position of the operation that computes it.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Value(pub(crate) u32);

impl Value {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    /// A number, by its bits.
    Constant(u64),
    /// A leaf, by its position in the kernel's list.
    Leaf(u32),
    Unary(UnaryFunction, Value),
    Binary(BinaryFunction, Value, Value),
    /// The second if the first is not zero, else the third. Both are computed; only the chosen one counts.
    Select(Value, Value, Value),
    /// The sine, computed together with the cosine.
    SinCos(Value),
    /// The cosine that a [`Op::SinCos`] computed.
    Cosine(Value),
    /// Executes a call site; its own value is meaningless.
    Call(u32),
    /// One of the results of a [`Op::Call`].
    CallResult(Value, u32),
}

/// A call of a user function in truncated power series and nested duals, see [`crate::function`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CallSite {
    pub(crate) function: FunctionId,
    /// Order of the power series.
    pub(crate) order: u16,
    /// Arguments it is differentiated by.
    pub(crate) directions: Vec<u32>,
    /// The coefficients of the arguments: `order + 1` numbers for each.
    pub(crate) args: Vec<Value>,
    /// The call is made only if this is not zero; otherwise the results are NaN.
    pub(crate) guard: Option<Value>,
    /// How many numbers it yields: `order + 1` for each of `2^directions` for each scalar output.
    pub(crate) results: u32,
}

/// A finished tape.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Tape {
    pub(crate) ops: Vec<Op>,
    pub(crate) sites: Vec<CallSite>,
    pub(crate) leaves: u32,
    pub(crate) outputs: Vec<Value>,
}

impl Op {
    /// Calls `visit` for each operand; those of a call site are not included.
    pub(crate) fn for_each_operand(self, mut visit: impl FnMut(Value)) {
        match self {
            Op::Constant(_) | Op::Leaf(_) | Op::Call(_) => {}
            Op::Unary(_, a) | Op::SinCos(a) | Op::Cosine(a) | Op::CallResult(a, _) => visit(a),
            Op::Binary(_, a, b) => {
                visit(a);
                visit(b);
            }
            Op::Select(c, a, b) => {
                visit(c);
                visit(a);
                visit(b);
            }
        }
    }
}

impl Tape {
    /// Calls `visit` for each operand, those of call sites included.
    pub(crate) fn for_each_operand(&self, op: Op, mut visit: impl FnMut(Value)) {
        if let Op::Call(site) = op {
            let site = &self.sites[site as usize];
            site.args.iter().copied().chain(site.guard).for_each(visit);
        } else {
            op.for_each_operand(&mut visit);
        }
    }

    /// Checks that operands come before their uses and that indices are in range.
    pub(crate) fn validate(&self) -> Result<(), String> {
        for (position, &op) in self.ops.iter().enumerate() {
            let mut ok = true;
            self.for_each_operand(op, |operand| ok &= operand.index() < position);
            ok &= match op {
                Op::Leaf(leaf) => leaf < self.leaves,
                Op::Cosine(pair) => matches!(self.ops[pair.index()], Op::SinCos(_)),
                Op::CallResult(call, result) => match self.ops[call.index()] {
                    Op::Call(site) => result < self.sites[site as usize].results,
                    _ => false,
                },
                _ => true,
            };
            if !ok {
                return Err(format!("operation {position} ({op:?}) is malformed"));
            }
        }
        Ok(())
    }
}

/// Operations one kernel may have, before dead ones are removed.
pub(crate) const OPERATION_LIMIT: usize = 4_000_000;

/// Builds a tape: common subexpressions are found, constants folded and neutral elements dropped on the way.
#[derive(Default)]
pub(crate) struct TapeBuilder {
    ops: Vec<Op>,
    origins: Vec<ExprId>,
    known: FxHashMap<Op, Value>,
    sites: Vec<CallSite>,
    known_sites: FxHashMap<CallSite, Value>,
    /// Whether a limit was passed.
    pub(crate) exhausted: bool,
    /// The expression that is being translated.
    pub(crate) origin: Option<ExprId>,
}

impl TapeBuilder {
    /// Whether the limit was passed; what was built is then meaningless.
    pub(crate) fn overflown(&self) -> bool {
        self.exhausted || self.ops.len() >= OPERATION_LIMIT
    }

    fn push(&mut self, op: Op) -> Value {
        if let Some(&value) = self.known.get(&op) {
            return value;
        }
        if self.ops.len() >= OPERATION_LIMIT {
            return Value(0);
        }
        let value = Value(self.ops.len() as u32);
        self.ops.push(op);
        self.origins.push(self.origin.unwrap_or(ExprId(0)));
        self.known.insert(op, value);
        value
    }

    pub(crate) fn constant(&mut self, value: f64) -> Value {
        self.push(Op::Constant((value + 0.0).to_bits()))
    }
    pub(crate) fn zero(&mut self) -> Value {
        self.constant(0.0)
    }
    pub(crate) fn leaf(&mut self, position: u32) -> Value {
        self.push(Op::Leaf(position))
    }
    pub(crate) fn as_constant(&self, value: Value) -> Option<f64> {
        match self.ops[value.index()] {
            Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    pub(crate) fn is_constant(&self, value: Value, number: f64) -> bool {
        self.as_constant(value) == Some(number)
    }
    pub(crate) fn is_zero(&self, value: Value) -> bool {
        self.is_constant(value, 0.0)
    }

    pub(crate) fn unary(&mut self, op: UnaryFunction, a: Value) -> Value {
        if let Some(x) = self.as_constant(a) {
            let folded = scalar::unary(op, x);
            if folded.is_finite() {
                return self.constant(folded);
            }
        }
        match (op, self.ops[a.index()]) {
            (UnaryFunction::Neg, Op::Unary(UnaryFunction::Neg, inner)) => inner,
            (UnaryFunction::Neg, Op::Binary(BinaryFunction::Sub, x, y)) => {
                self.push(Op::Binary(BinaryFunction::Sub, y, x))
            }
            _ => self.push(Op::Unary(op, a)),
        }
    }

    pub(crate) fn binary(&mut self, op: BinaryFunction, a: Value, b: Value) -> Value {
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            let folded = scalar::binary(op, x, y);
            if folded.is_finite() {
                return self.constant(folded);
            }
        }
        match op {
            BinaryFunction::Add => self.add(a, b),
            BinaryFunction::Sub => self.sub(a, b),
            BinaryFunction::Mul => self.mul(a, b),
            BinaryFunction::Div => self.div(a, b),
            BinaryFunction::Pow => self.pow(a, b),
            _ => self.push(Op::Binary(op, a, b)),
        }
    }

    fn fold(&self, op: BinaryFunction, a: Value, b: Value) -> Option<f64> {
        let folded = scalar::binary(op, self.as_constant(a)?, self.as_constant(b)?);
        folded.is_finite().then_some(folded)
    }

    fn negated(&self, value: Value) -> Option<Value> {
        match self.ops[value.index()] {
            Op::Unary(UnaryFunction::Neg, inner) => Some(inner),
            _ => None,
        }
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        if let Some(folded) = self.fold(BinaryFunction::Add, a, b) {
            return self.constant(folded);
        }
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        if let Some(inner) = self.negated(b) {
            return self.sub(a, inner);
        }
        if let Some(inner) = self.negated(a) {
            return self.sub(b, inner);
        }
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        self.push(Op::Binary(BinaryFunction::Add, a, b))
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Value {
        if let Some(folded) = self.fold(BinaryFunction::Sub, a, b) {
            return self.constant(folded);
        }
        if self.is_zero(b) {
            return a;
        }
        if self.is_zero(a) {
            return self.neg(b);
        }
        if let Some(inner) = self.negated(b) {
            return self.add(a, inner);
        }
        self.push(Op::Binary(BinaryFunction::Sub, a, b))
    }

    pub(crate) fn neg(&mut self, a: Value) -> Value {
        self.unary(UnaryFunction::Neg, a)
    }

    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Value {
        if let Some(folded) = self.fold(BinaryFunction::Mul, a, b) {
            return self.constant(folded);
        }
        // Zeros here are structural (derivatives of what does not vary), so they win even against a NaN.
        if self.is_zero(a) || self.is_zero(b) {
            return self.zero();
        }
        for (this, other) in [(a, b), (b, a)] {
            if self.is_constant(this, 1.0) {
                return other;
            }
            if self.is_constant(this, -1.0) {
                return self.neg(other);
            }
        }
        match (self.negated(a), self.negated(b)) {
            (Some(x), Some(y)) => return self.mul(x, y),
            (Some(x), None) => {
                let product = self.mul(x, b);
                return self.neg(product);
            }
            (None, Some(y)) => {
                let product = self.mul(a, y);
                return self.neg(product);
            }
            (None, None) => {}
        }
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        self.push(Op::Binary(BinaryFunction::Mul, a, b))
    }

    pub(crate) fn div(&mut self, a: Value, b: Value) -> Value {
        if let Some(folded) = self.fold(BinaryFunction::Div, a, b) {
            return self.constant(folded);
        }
        if self.is_zero(a) && !self.is_zero(b) {
            return self.zero();
        }
        if self.is_constant(b, 1.0) {
            return a;
        }
        self.push(Op::Binary(BinaryFunction::Div, a, b))
    }

    /// Powers with a small integer exponent become multiplications, in the order the library function has them.
    pub(crate) fn pow(&mut self, a: Value, b: Value) -> Value {
        if let Some(folded) = self.fold(BinaryFunction::Pow, a, b) {
            return self.constant(folded);
        }
        match self.as_constant(b) {
            Some(0.0) => self.constant(1.0),
            Some(y) if y == y.trunc() && y.abs() <= 64.0 => {
                let power = self.repeated_square(a, y.abs() as u32);
                if y > 0.0 {
                    power
                } else {
                    let one = self.constant(1.0);
                    self.div(one, power)
                }
            }
            // A root and multiplications cost a fraction of a general power.
            Some(y) if (y - 0.5) == (y - 0.5).trunc() && y.abs() <= 4.5 => {
                let root = self.unary(UnaryFunction::Sqrt, a);
                let power = match y.abs() as u32 {
                    0 => root,
                    whole => {
                        let whole = self.repeated_square(a, whole);
                        self.mul(whole, root)
                    }
                };
                if y > 0.0 {
                    power
                } else {
                    let one = self.constant(1.0);
                    self.div(one, power)
                }
            }
            _ => self.push(Op::Binary(BinaryFunction::Pow, a, b)),
        }
    }

    fn repeated_square(&mut self, base: Value, mut exponent: u32) -> Value {
        let mut square = base;
        let mut product: Option<Value> = None;
        while exponent > 0 {
            if exponent & 1 == 1 {
                product = Some(match product {
                    Some(so_far) => self.mul(so_far, square),
                    None => square,
                });
            }
            exponent >>= 1;
            if exponent > 0 {
                square = self.mul(square, square);
            }
        }
        product.unwrap_or_else(|| self.constant(1.0))
    }

    /// The sum of the absolute values of the terms of a difference or sum, which its rounding error is relative to;
    /// terms of terms down to `depth`.
    pub(crate) fn size_of_terms(&mut self, value: Value, depth: u32) -> Value {
        match self.ops[value.index()] {
            Op::Binary(BinaryFunction::Add | BinaryFunction::Sub, a, b) if depth > 0 => {
                let (a, b) = (self.size_of_terms(a, depth - 1), self.size_of_terms(b, depth - 1));
                self.add(a, b)
            }
            Op::Unary(UnaryFunction::Neg, a) if depth > 0 => self.size_of_terms(a, depth - 1),
            _ => self.unary(UnaryFunction::Abs, value),
        }
    }

    pub(crate) fn scale(&mut self, a: Value, factor: f64) -> Value {
        let factor = self.constant(factor);
        self.mul(a, factor)
    }

    pub(crate) fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        match self.as_constant(c) {
            Some(0.0) => b,
            Some(_) => a,
            None => match self.ops[c.index()] {
                Op::Unary(UnaryFunction::Not, inner) => self.select(inner, b, a),
                _ => self.push(Op::Select(c, a, b)),
            },
        }
    }

    /// A call; equal calls are made once.
    pub(crate) fn call(&mut self, site: CallSite) -> Value {
        if let Some(&value) = self.known_sites.get(&site) {
            return value;
        }
        let number = self.sites.len() as u32;
        self.exhausted |= site.results as usize >= OPERATION_LIMIT;
        self.sites.push(site.clone());
        let value = self.push(Op::Call(number));
        self.known_sites.insert(site, value);
        value
    }
    pub(crate) fn call_result(&mut self, call: Value, result: u32) -> Value {
        self.push(Op::CallResult(call, result))
    }

    /// Removes what no output needs, pairs sines with cosines, and numbers the leaves in order of appearance.
    /// Returns the tape, the old numbers of its leaves, and the expression each operation comes from.
    pub(crate) fn finish(self, outputs: &[Value]) -> (Tape, Vec<u32>, Vec<ExprId>) {
        let live = self.live(outputs);
        let mut compaction = Compaction {
            tape: Tape::default(),
            leaves: Vec::new(),
            origins: Vec::new(),
            moved: vec![Value(0); self.ops.len()],
        };
        for (position, &op) in self.ops.iter().enumerate() {
            if live[position] {
                compaction.copy(&self, &live, position, op);
            }
        }
        let Compaction {
            mut tape,
            leaves,
            origins,
            moved,
        } = compaction;
        tape.outputs = outputs.iter().map(|output| moved[output.index()]).collect();
        tape.leaves = leaves.len() as u32;
        debug_assert_eq!(tape.validate(), Ok(()));
        (tape, leaves, origins)
    }

    fn live(&self, outputs: &[Value]) -> Vec<bool> {
        let mut live = vec![false; self.ops.len()];
        for output in outputs {
            live[output.index()] = true;
        }
        for position in (0..self.ops.len()).rev() {
            if !live[position] {
                continue;
            }
            let op = self.ops[position];
            op.for_each_operand(|operand| live[operand.index()] = true);
            if let Op::Call(site) = op {
                let site = &self.sites[site as usize];
                for operand in site.args.iter().copied().chain(site.guard) {
                    live[operand.index()] = true;
                }
            }
        }
        live
    }
}

struct Compaction {
    tape: Tape,
    leaves: Vec<u32>,
    origins: Vec<ExprId>,
    moved: Vec<Value>,
}

impl Compaction {
    fn emit(&mut self, op: Op, origin: ExprId) -> Value {
        self.tape.ops.push(op);
        self.origins.push(origin);
        Value(self.tape.ops.len() as u32 - 1)
    }

    fn copy(&mut self, from: &TapeBuilder, live: &[bool], position: usize, op: Op) {
        let origin = from.origins[position];
        let at = |value: Value, moved: &[Value]| moved[value.index()];
        let new = match op {
            Op::Constant(_) => op,
            Op::Leaf(leaf) => {
                self.leaves.push(leaf);
                Op::Leaf(self.leaves.len() as u32 - 1)
            }
            Op::Unary(which @ (UnaryFunction::Sin | UnaryFunction::Cos), a) => {
                let other = if which == UnaryFunction::Sin {
                    UnaryFunction::Cos
                } else {
                    UnaryFunction::Sin
                };
                let partner = from.known.get(&Op::Unary(other, a)).filter(|p| live[p.index()]);
                match partner {
                    Some(&partner) if partner.index() > position => {
                        let sine = self.emit(Op::SinCos(at(a, &self.moved)), origin);
                        let cosine = self.emit(Op::Cosine(sine), origin);
                        let (this, that) = if which == UnaryFunction::Sin {
                            (sine, cosine)
                        } else {
                            (cosine, sine)
                        };
                        self.moved[position] = this;
                        self.moved[partner.index()] = that;
                        return;
                    }
                    Some(_) => return,
                    None => Op::Unary(which, at(a, &self.moved)),
                }
            }
            Op::Unary(which, a) => Op::Unary(which, at(a, &self.moved)),
            Op::Binary(which, a, b) => Op::Binary(which, at(a, &self.moved), at(b, &self.moved)),
            Op::Select(c, a, b) => Op::Select(at(c, &self.moved), at(a, &self.moved), at(b, &self.moved)),
            Op::SinCos(a) => Op::SinCos(at(a, &self.moved)),
            Op::Cosine(a) => Op::Cosine(at(a, &self.moved)),
            Op::Call(site) => {
                let mut site = from.sites[site as usize].clone();
                for arg in site.args.iter_mut().chain(site.guard.as_mut()) {
                    *arg = self.moved[arg.index()];
                }
                self.tape.sites.push(site);
                Op::Call(self.tape.sites.len() as u32 - 1)
            }
            Op::CallResult(call, result) => Op::CallResult(at(call, &self.moved), result),
        };
        self.moved[position] = self.emit(new, origin);
    }
}
