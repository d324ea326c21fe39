//! One expression as a straight-line program over its leaves: value, scale of its terms, exact gradient. For what is
//! evaluated a few times; what is evaluated often is compiled.

use crate::eval::{Environment, apply_binary, apply_unary, truth};
use crate::function::Functions;
use crate::rules::{binary_slopes_at, unary_slope_at};
use crate::{BinaryFunction, ExprId, ExprPool, FunctionId, Node, UnaryFunction};

use rustc_hash::FxHashMap;

#[derive(Clone, Debug)]
enum Op {
    Constant(f64),
    Leaf(u32),
    Unary(UnaryFunction, u32),
    Binary(BinaryFunction, u32, u32),
    If(u32, u32, u32),
    Call {
        function: FunctionId,
        output: u32,
        partials: Box<[u32]>,
        args: Box<[u32]>,
    },
}

/// A statement of a function costs about as much as this many operations on numbers.
const OPERATIONS_PER_STATEMENT: u64 = 50;

/// An expression ready for repeated evaluation.
#[derive(Clone, Debug)]
pub struct Tape {
    ops: Vec<Op>,
    leaves: Vec<Node>,
}

/// A failed function call has no value; it spoils only what depends on it.
fn call(functions: &Functions, function: FunctionId, output: u32, partials: &[u32], args: &[f64]) -> f64 {
    functions.call(function, output, partials, args).unwrap_or(f64::NAN)
}

/// The value of a leaf.
pub fn leaf_value(environment: &dyn Environment, leaf: Node) -> f64 {
    match leaf {
        Node::Var { var, order } => environment.variable(var, order),
        Node::Pre { var, order } => environment.left_limit(var, order),
        Node::Time => environment.time(),
        Node::Condition(condition) => truth(environment.condition(condition)),
        Node::Initial => truth(environment.initial()),
        Node::Terminal => truth(environment.terminal()),
        _ => f64::NAN,
    }
}

impl Tape {
    /// The program of an expression.
    pub fn new(pool: &ExprPool, root: ExprId) -> Self {
        let mut slot: FxHashMap<ExprId, u32> = FxHashMap::default();
        let mut tape = Tape {
            ops: Vec::new(),
            leaves: Vec::new(),
        };
        for id in pool.reachable(&[root]) {
            let op = tape.op(pool, pool.node(id), &slot);
            slot.insert(id, tape.ops.len() as u32);
            tape.ops.push(op);
        }
        tape
    }

    fn op(&mut self, pool: &ExprPool, node: Node, slot: &FxHashMap<ExprId, u32>) -> Op {
        match node {
            Node::Real(bits) => Op::Constant(bits.get()),
            Node::Integer(number) => Op::Constant(number as f64),
            Node::Boolean(value) => Op::Constant(truth(value)),
            Node::Unary(op, a) => Op::Unary(op, slot[&a]),
            Node::Binary(op, a, b) => Op::Binary(op, slot[&a], slot[&b]),
            Node::If(c, a, b) => Op::If(slot[&c], slot[&a], slot[&b]),
            Node::Call {
                function,
                output,
                partials,
                args,
            } => Op::Call {
                function,
                output,
                partials: pool.list(partials).into(),
                args: pool.args(args).map(|arg| slot[&arg]).collect(),
            },
            leaf => {
                self.leaves.push(leaf);
                Op::Leaf(self.leaves.len() as u32 - 1)
            }
        }
    }

    /// The leaves whose values an evaluation needs, in the order it needs them.
    pub fn leaves(&self) -> &[Node] {
        &self.leaves
    }

    /// The value at given leaf values.
    pub fn value(&self, functions: &Functions, leaves: &[f64]) -> f64 {
        *self.values(functions, leaves).last().expect("a tape has a root")
    }

    fn values(&self, functions: &Functions, leaves: &[f64]) -> Vec<f64> {
        let mut v: Vec<f64> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let value = match op {
                Op::Constant(value) => *value,
                Op::Leaf(leaf) => leaves[*leaf as usize],
                Op::Unary(op, a) => apply_unary(*op, v[*a as usize]),
                Op::Binary(op, a, b) => apply_binary(*op, v[*a as usize], v[*b as usize]),
                Op::If(c, a, b) => v[if v[*c as usize] != 0.0 { *a } else { *b } as usize],
                Op::Call {
                    function,
                    output,
                    partials,
                    args,
                } => {
                    let args: Vec<f64> = args.iter().map(|&arg| v[arg as usize]).collect();
                    call(functions, *function, *output, partials, &args)
                }
            };
            v.push(value);
        }
        v
    }

    /// The value, and the size its terms have when each leaf has at least its `floor`: what a residual must be small
    /// against to count as zero.
    pub fn value_and_scale(&self, functions: &Functions, leaves: &[f64], floors: &[f64]) -> (f64, f64) {
        let v = self.values(functions, leaves);
        let mut s: Vec<f64> = Vec::with_capacity(v.len());
        for (i, op) in self.ops.iter().enumerate() {
            let at = |slot: &u32| s[*slot as usize];
            let scale = match op {
                Op::Constant(value) => value.abs(),
                Op::Leaf(leaf) => leaves[*leaf as usize].abs().max(floors[*leaf as usize]),
                Op::Unary(UnaryFunction::Neg | UnaryFunction::Abs, a) => at(a),
                Op::Binary(
                    BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Min | BinaryFunction::Max,
                    a,
                    b,
                ) => at(a) + at(b),
                Op::Binary(BinaryFunction::Mul, a, b) => at(a) * at(b),
                Op::Binary(BinaryFunction::Div, a, b) => at(a) / v[*b as usize].abs(),
                Op::Binary(BinaryFunction::Pow, a, b) => {
                    let exponent = v[*b as usize];
                    v[i].abs().max(if exponent > 0.0 { at(a).powf(exponent) } else { 0.0 })
                }
                Op::If(c, a, b) => at(if v[*c as usize] != 0.0 { a } else { b }),
                _ => v[i].abs(),
            };
            s.push(scale);
        }
        (v[v.len() - 1], s[s.len() - 1])
    }

    /// Which operations depend on a leaf for which `wanted` holds.
    pub fn dependents(&self, wanted: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut found: Vec<bool> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let at = |slot: &u32| found[*slot as usize];
            let depends = match op {
                Op::Constant(_) => false,
                Op::Leaf(leaf) => wanted(*leaf as usize),
                Op::Unary(_, a) => at(a),
                Op::Binary(_, a, b) => at(a) || at(b),
                Op::If(c, a, b) => at(c) || at(a) || at(b),
                Op::Call { args, .. } => args.iter().any(at),
            };
            found.push(depends);
        }
        found
    }

    /// How much work a gradient by the leaves on which `dependents` depend is, in operations: a function is called
    /// once for its value and once for each argument that depends on them.
    pub fn gradient_work(&self, functions: &Functions, leaves: &[f64], dependents: &[bool]) -> u64 {
        let v = self.values(functions, leaves);
        let mut work = 2 * self.ops.len() as u64;
        for op in &self.ops {
            if let Op::Call {
                function,
                output,
                partials,
                args,
            } = op
            {
                let varied = args.iter().filter(|&&arg| dependents[arg as usize]).count() as u64;
                let values: Vec<f64> = args.iter().map(|&arg| v[arg as usize]).collect();
                let (_, statements) = functions.call_counted(*function, *output, partials, &values);
                work += (1 + varied) * (statements + 1) * OPERATIONS_PER_STATEMENT;
            }
        }
        work
    }

    /// The value and the derivative by each leaf.
    pub fn gradient(&self, functions: &Functions, leaves: &[f64]) -> (f64, Vec<f64>) {
        self.gradient_by(functions, leaves, None)
    }

    /// The value and the derivative by those leaves on which the given operations depend, if any are given.
    pub fn gradient_by(&self, functions: &Functions, leaves: &[f64], dependents: Option<&[bool]>) -> (f64, Vec<f64>) {
        let v = self.values(functions, leaves);
        let mut adjoint = vec![0.0; v.len()];
        let mut gradient = vec![0.0; self.leaves.len()];
        adjoint[v.len() - 1] = 1.0;
        for i in (0..v.len()).rev() {
            let weight = adjoint[i];
            if weight == 0.0 {
                continue;
            }
            match &self.ops[i] {
                Op::Constant(_) => {}
                Op::Leaf(leaf) => gradient[*leaf as usize] += weight,
                Op::Unary(op, a) => adjoint[*a as usize] += weight * unary_slope_at(*op, v[*a as usize], v[i]),
                Op::Binary(op, a, b) => {
                    let (da, db) = binary_slopes_at(*op, v[*a as usize], v[*b as usize], v[i]);
                    add_product(&mut adjoint[*a as usize], weight, da);
                    add_product(&mut adjoint[*b as usize], weight, db);
                }
                Op::If(c, a, b) => adjoint[if v[*c as usize] != 0.0 { *a } else { *b } as usize] += weight,
                Op::Call {
                    function,
                    output,
                    partials,
                    args,
                } => {
                    let values: Vec<f64> = args.iter().map(|&arg| v[arg as usize]).collect();
                    for (position, &arg) in args.iter().enumerate() {
                        if dependents.is_some_and(|dependents| !dependents[arg as usize]) {
                            continue;
                        }
                        let mut more = partials.to_vec();
                        more.push(position as u32);
                        more.sort_unstable();
                        let slope = call(functions, *function, *output, &more, &values);
                        add_product(&mut adjoint[arg as usize], weight, slope);
                    }
                }
            }
        }
        (v[v.len() - 1], gradient)
    }
}

/// A slope of exactly zero adds nothing, whatever the weight.
fn add_product(sum: &mut f64, weight: f64, slope: f64) {
    if slope != 0.0 {
        *sum += weight * slope;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Type;
    use crate::expr::VarTraits;

    #[test]
    fn gradient_agrees_with_symbolic_derivative() {
        let mut pool = ExprPool::new();
        let traits = VarTraits {
            ty: Type::Real,
            continuous: true,
        };
        let (x, y) = (pool.declare_variable(traits), pool.declare_variable(traits));
        let (ex, ey) = (pool.var(x), pool.var(y));
        let mut sum = pool.mul(ex, ey);
        for op in [
            UnaryFunction::Sin,
            UnaryFunction::Exp,
            UnaryFunction::Tanh,
            UnaryFunction::Atan,
            UnaryFunction::Sqrt,
        ] {
            let term = pool.unary(op, ex);
            sum = pool.add(sum, term);
        }
        for op in [
            BinaryFunction::Div,
            BinaryFunction::Pow,
            BinaryFunction::Atan2,
            BinaryFunction::Max,
            BinaryFunction::Mod,
        ] {
            let term = pool.binary(op, ex, ey);
            sum = pool.sub(sum, term);
        }
        let functions = Functions::new();
        let tape = Tape::new(&pool, sum);
        let value_of = |node: &Node| match node {
            Node::Var { var, .. } if *var == x => 1.3,
            _ => 0.7,
        };
        let leaves: Vec<f64> = tape.leaves().iter().map(value_of).collect();
        let (_, gradient) = tape.gradient(&functions, &leaves);
        for (leaf, slope) in tape.leaves().to_vec().into_iter().zip(gradient) {
            let Node::Var { var, order } = leaf else { unreachable!() };
            let symbolic = pool.partial_derivative(sum, var, order);
            let tape = Tape::new(&pool, symbolic);
            let leaves: Vec<f64> = tape.leaves().iter().map(value_of).collect();
            assert!((tape.value(&functions, &leaves) - slope).abs() < 1e-12);
        }
    }
}
