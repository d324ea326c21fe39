//! Exact symbolic differentiation: total (by time) and partial.

use rustc_hash::FxHashMap;

use crate::Derivative;
use crate::expr::{BinaryFunction, ExprPool, Node, UnaryFunction};
use crate::index::{ExprId, VarId};
use crate::rules::{Calculus, Tangent, binary_tangent, unary_slope};

impl ExprPool {
    /// The total time derivative. Conditions, discrete variables, parameters and left limits are constant in time;
    /// between events that is exact.
    pub fn total_derivative(&mut self, root: ExprId) -> ExprId {
        if let Some(known) = self.known_derivative(root) {
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
                let outer = unary_slope(self, op, &a, Some(&id)).into_value(self);
                self.mul(outer, da)
            }
            Node::Binary(op, a, b) => {
                let (da, db) = (tangent(self, cache[&a]), tangent(self, cache[&b]));
                binary_tangent(self, op, (&a, da), (&b, db), &id).into_value(self)
            }
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
}

/// The derivative as the rules take it.
fn tangent(pool: &ExprPool, derivative: ExprId) -> Tangent<ExprId> {
    if pool.is_zero(derivative) {
        Tangent::Zero
    } else {
        Tangent::Of(derivative)
    }
}

impl Calculus for ExprPool {
    type Value = ExprId;
    fn constant(&mut self, value: f64) -> ExprId {
        self.real(value)
    }
    fn as_constant(&self, value: &ExprId) -> Option<f64> {
        ExprPool::constant(self, *value)
    }
    fn varies(&self, value: &ExprId) -> bool {
        let continuous = |Derivative { var, order }: Derivative| order > 0 || self.variable_traits(var).continuous;
        self.occurrences(*value).into_iter().any(continuous)
    }
    fn unary(&mut self, op: UnaryFunction, a: &ExprId) -> ExprId {
        ExprPool::unary(self, op, *a)
    }
    fn binary(&mut self, op: BinaryFunction, a: &ExprId, b: &ExprId) -> ExprId {
        ExprPool::binary(self, op, *a, *b)
    }
    fn select(&mut self, condition: &ExprId, a: &ExprId, b: &ExprId) -> ExprId {
        self.if_else(*condition, *a, *b)
    }
}
