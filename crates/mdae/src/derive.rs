//! Exact symbolic differentiation: total (by time) and partial.

use rustc_hash::FxHashMap;

use crate::expr::{BinaryOp, ExprPool, Node, UnaryOp};
use crate::index::{ExprId, VarId};

impl ExprPool {
    /// The total time derivative. Conditions, discrete variables, parameters and left limits are constant in time;
    /// between events that is exact.
    pub fn total_derivative(&mut self, root: ExprId) -> ExprId {
        if let Some(&known) = self.derivatives.get(&root) {
            return known;
        }
        let mut cache = std::mem::take(&mut self.derivatives);
        self.differentiate(root, &mut cache, &|pool, node| match node {
            Node::Var { var, order } => pool.der_var(var, order + 1),
            Node::Time => pool.real(1.0),
            _ => pool.real(0.0),
        });
        let result = cache[&root];
        self.derivatives = cache;
        result
    }

    /// The `order`-th total time derivative.
    pub fn nth_total_derivative(&mut self, root: ExprId, order: u16) -> ExprId {
        (0..order).fold(root, |expr, _| self.total_derivative(expr))
    }

    /// The partial derivative by the `order`-th derivative of a variable, all jet variables taken as independent.
    pub fn partial_derivative(&mut self, root: ExprId, var: VarId, order: u16) -> ExprId {
        let mut cache = FxHashMap::default();
        self.differentiate(root, &mut cache, &|pool, node| {
            let hit = node == Node::Var { var, order };
            pool.real(if hit { 1.0 } else { 0.0 })
        });
        cache[&root]
    }

    /// Differentiates everything below `root` that `cache` does not know yet; `leaf` gives the derivative of leaves.
    fn differentiate(
        &mut self,
        root: ExprId,
        cache: &mut FxHashMap<ExprId, ExprId>,
        leaf: &dyn Fn(&mut ExprPool, Node) -> ExprId,
    ) {
        for id in self.reachable_outside(root, cache) {
            let node = self.node(id);
            let derivative = self.node_derivative(id, node, cache, leaf);
            cache.insert(id, derivative);
        }
    }

    fn reachable_outside(&self, root: ExprId, known: &FxHashMap<ExprId, ExprId>) -> Vec<ExprId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![root];
        let mut found = Vec::new();
        while let Some(id) = stack.pop() {
            if !known.contains_key(&id) && seen.insert(id) {
                found.push(id);
                self.for_each_child(self.node(id), |child| stack.push(child));
            }
        }
        found.sort_unstable();
        found
    }

    fn node_derivative(
        &mut self,
        id: ExprId,
        node: Node,
        cache: &FxHashMap<ExprId, ExprId>,
        leaf: &dyn Fn(&mut ExprPool, Node) -> ExprId,
    ) -> ExprId {
        match node {
            Node::Unary(op, a) => {
                let da = cache[&a];
                if self.is_zero(da) {
                    return self.real(0.0);
                }
                let outer = self.unary_derivative(op, a, id);
                self.mul(outer, da)
            }
            Node::Binary(op, a, b) => self.binary_derivative(op, a, b, id, cache[&a], cache[&b]),
            Node::If(c, a, b) => self.if_else(c, cache[&a], cache[&b]),
            Node::Call {
                function,
                output,
                partials,
                args,
            } => {
                let args: Vec<ExprId> = self.args(args).collect();
                let partials = self.list(partials).to_vec();
                let mut sum = self.real(0.0);
                for (position, arg) in args.iter().enumerate() {
                    let inner = cache[arg];
                    if self.is_zero(inner) {
                        continue;
                    }
                    let mut more = partials.clone();
                    more.push(position as u32);
                    let outer = self.call_partial(function, output, &more, &args);
                    let term = self.mul(outer, inner);
                    sum = self.add(sum, term);
                }
                sum
            }
            _ => leaf(self, node),
        }
    }

    /// d op(a)/da; `result` is op(a) itself.
    fn unary_derivative(&mut self, op: UnaryOp, a: ExprId, result: ExprId) -> ExprId {
        let one = self.real(1.0);
        match op {
            UnaryOp::Neg => self.real(-1.0),
            UnaryOp::Abs => self.unary(UnaryOp::Sign, a),
            UnaryOp::Sqrt => {
                let two = self.real(2.0);
                let denominator = self.mul(two, result);
                self.div(one, denominator)
            }
            UnaryOp::Exp => result,
            UnaryOp::Log => self.div(one, a),
            UnaryOp::Log10 => {
                let ln10 = self.real(std::f64::consts::LN_10);
                let denominator = self.mul(ln10, a);
                self.div(one, denominator)
            }
            UnaryOp::Sin => self.unary(UnaryOp::Cos, a),
            UnaryOp::Cos => {
                let sine = self.unary(UnaryOp::Sin, a);
                self.neg(sine)
            }
            UnaryOp::Tan => {
                let square = self.mul(result, result);
                self.add(one, square)
            }
            UnaryOp::Asin | UnaryOp::Acos => {
                let square = self.mul(a, a);
                let radicand = self.sub(one, square);
                let root = self.unary(UnaryOp::Sqrt, radicand);
                let sign = self.real(if op == UnaryOp::Asin { 1.0 } else { -1.0 });
                self.div(sign, root)
            }
            UnaryOp::Atan => {
                let square = self.mul(a, a);
                let denominator = self.add(one, square);
                self.div(one, denominator)
            }
            UnaryOp::Sinh => self.unary(UnaryOp::Cosh, a),
            UnaryOp::Cosh => self.unary(UnaryOp::Sinh, a),
            UnaryOp::Tanh => {
                let square = self.mul(result, result);
                self.sub(one, square)
            }
            // Piecewise constant.
            UnaryOp::Not | UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil => self.real(0.0),
        }
    }

    fn binary_derivative(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        result: ExprId,
        da: ExprId,
        db: ExprId,
    ) -> ExprId {
        match op {
            BinaryOp::Add => self.add(da, db),
            BinaryOp::Sub => self.sub(da, db),
            BinaryOp::Mul => {
                let left = self.mul(da, b);
                let right = self.mul(a, db);
                self.add(left, right)
            }
            BinaryOp::Div => {
                // (a/b)' = (a' − (a/b)·b')/b
                let correction = self.mul(result, db);
                let numerator = self.sub(da, correction);
                self.div(numerator, b)
            }
            BinaryOp::Pow => self.power_derivative(a, b, result, da, db),
            BinaryOp::Atan2 => {
                let (left, right) = (self.mul(da, b), self.mul(a, db));
                let numerator = self.sub(left, right);
                let (aa, bb) = (self.mul(a, a), self.mul(b, b));
                let denominator = self.add(aa, bb);
                self.div(numerator, denominator)
            }
            BinaryOp::Min => {
                let c = self.binary(BinaryOp::Le, a, b);
                self.if_else(c, da, db)
            }
            BinaryOp::Max => {
                let c = self.binary(BinaryOp::Ge, a, b);
                self.if_else(c, da, db)
            }
            BinaryOp::Mod | BinaryOp::Rem => {
                // a − q·b with a piecewise constant quotient q
                let inner = self.div(a, b);
                let quotient = if op == BinaryOp::Mod {
                    self.unary(UnaryOp::Floor, inner)
                } else {
                    self.binary(BinaryOp::Quotient, a, b)
                };
                let product = self.mul(quotient, db);
                self.sub(da, product)
            }
            _ => self.real(0.0),
        }
    }

    fn power_derivative(&mut self, a: ExprId, b: ExprId, result: ExprId, da: ExprId, db: ExprId) -> ExprId {
        let one = self.real(1.0);
        let mut sum = self.real(0.0);
        if !self.is_zero(da) {
            let exponent = self.sub(b, one);
            let power = self.pow(a, exponent);
            let outer = self.mul(b, power);
            sum = self.mul(outer, da);
        }
        if !self.is_zero(db) {
            let log = self.unary(UnaryOp::Log, a);
            let outer = self.mul(result, log);
            let term = self.mul(outer, db);
            sum = self.add(sum, term);
        }
        sum
    }
}
