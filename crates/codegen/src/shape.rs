//! Equations of the same shape: the same operations on other variables. They are translated once.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_mdae::{ConditionId, ExprId, ExprPool, Node, VarId};

use crate::code::Code;
use crate::spec::{Column, KernelSpec, Leaf};

/// What kernels of the same shape share.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) code: Arc<Code>,
    /// The leaves of the code with numbers in place of variables and conditions, see [`Anatomy`].
    leaves: Vec<Leaf>,
    /// For each operation of the tape the subexpression it comes from, by its position in [`Anatomy::order`].
    origins: Vec<u32>,
}

/// A specification taken apart into its shape and the variables and conditions it is about, which are numbered in
/// order of appearance.
#[derive(Debug)]
pub(crate) struct Anatomy {
    /// Two specifications with equal keys need the same code.
    pub(crate) key: Vec<u32>,
    /// All subexpressions, children first.
    order: Numbering<ExprId>,
    variables: Numbering<VarId>,
    conditions: Numbering<ConditionId>,
}

/// Items are compared one by one up to this number, which no hashing beats; most equations have fewer parts.
const FEW: usize = 24;

/// Distinct items, numbered in order of appearance.
#[derive(Debug)]
struct Numbering<T> {
    items: Vec<T>,
    /// Filled when there are more than a few.
    numbers: FxHashMap<T, u32>,
}

impl<T: Copy + Eq + std::hash::Hash> Numbering<T> {
    fn new() -> Self {
        Numbering {
            items: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    fn get(&self, item: T) -> Option<u32> {
        if self.items.len() <= FEW {
            self.items.iter().position(|&known| known == item).map(|at| at as u32)
        } else {
            self.numbers.get(&item).copied()
        }
    }

    /// The number of an item that is known.
    fn of(&self, item: T) -> u32 {
        self.get(item).expect("an item that was numbered")
    }

    /// Adds an item that is not known.
    fn push(&mut self, item: T) -> u32 {
        self.items.push(item);
        let number = self.items.len() as u32 - 1;
        if self.items.len() > FEW {
            if self.numbers.is_empty() {
                self.numbers.extend(self.items.iter().copied().zip(0..));
            }
            self.numbers.insert(item, number);
        }
        number
    }

    fn number(&mut self, item: T) -> u32 {
        match self.get(item) {
            Some(number) => number,
            None => self.push(item),
        }
    }
}

impl Anatomy {
    pub(crate) fn of(pool: &ExprPool, spec: &KernelSpec) -> Self {
        let order = post_order(pool, &spec.expressions);
        let mut anatomy = Anatomy {
            key: Vec::with_capacity(4 * order.items.len() + 4 * spec.outputs.len()),
            order: Numbering::new(),
            variables: Numbering::new(),
            conditions: Numbering::new(),
        };
        for &id in &order.items {
            anatomy.node(pool, id, &order);
        }
        anatomy.key.push(u32::MAX);
        anatomy.key.extend(spec.expressions.iter().map(|&root| order.of(root)));
        anatomy.order = order;
        anatomy.key.push(u32::MAX);
        for output in &spec.outputs {
            anatomy.key.extend([output.expression, u32::from(output.order)]);
            match output.column {
                Column::Value => anatomy.key.push(0),
                Column::Partial(leaf) => anatomy.leaf(leaf),
            }
        }
        anatomy.key.push(u32::MAX);
        spec.newton.iter().for_each(|&leaf| anatomy.leaf(leaf));
        anatomy
    }

    fn node(&mut self, pool: &ExprPool, id: ExprId, positions: &Numbering<ExprId>) {
        match pool.node(id) {
            Node::Real(bits) => self.number(7, bits.get().to_bits()),
            Node::Integer(number) => self.number(8, number.cast_unsigned()),
            Node::Boolean(value) => self.key.extend([9, u32::from(value)]),
            Node::Var { var, order } => {
                self.leaf(Leaf::Var { var, order });
                self.key.push(u32::from(pool.variable_traits(var).continuous));
            }
            Node::Pre { var, order } => self.leaf(Leaf::Pre { var, order }),
            Node::Time => self.leaf(Leaf::Time),
            Node::Condition(condition) => self.leaf(Leaf::Condition(condition)),
            Node::Initial => self.leaf(Leaf::Initial),
            Node::Terminal => self.leaf(Leaf::Terminal),
            Node::Unary(op, a) => self.key.extend([10, op as u32, positions.of(a)]),
            Node::Binary(op, a, b) => self.key.extend([11, op as u32, positions.of(a), positions.of(b)]),
            Node::If(c, a, b) => self.key.extend([12, positions.of(c), positions.of(a), positions.of(b)]),
            Node::Call {
                function,
                output,
                partials,
                args,
            } => {
                let partials = pool.list(partials);
                self.key.extend([13, function.0, output, partials.len() as u32]);
                self.key.extend_from_slice(partials);
                self.key.push(pool.list(args).len() as u32);
                self.key.extend(pool.args(args).map(|arg| positions.of(arg)));
            }
        }
    }

    fn number(&mut self, tag: u32, bits: u64) {
        self.key.extend([tag, bits as u32, (bits >> 32) as u32]);
    }

    fn leaf(&mut self, leaf: Leaf) {
        match leaf {
            Leaf::Var { var, order } => {
                let number = self.variables.number(var);
                self.key.extend([1, number, u32::from(order)]);
            }
            Leaf::Pre { var, order } => {
                let number = self.variables.number(var);
                self.key.extend([2, number, u32::from(order)]);
            }
            Leaf::Time => self.key.push(3),
            Leaf::Condition(condition) => {
                let number = self.conditions.number(condition);
                self.key.extend([4, number]);
            }
            Leaf::Initial => self.key.push(5),
            Leaf::Terminal => self.key.push(6),
        }
    }

    /// The shape, given the code of the specification, its leaves and the origins of its operations.
    pub(crate) fn shape(&self, code: Arc<Code>, leaves: &[Leaf], origins: &[ExprId]) -> Shape {
        let numbered = |leaf: &Leaf| match *leaf {
            Leaf::Var { var, order } => Leaf::var(VarId(self.variables.of(var)), order),
            Leaf::Pre { var, order } => Leaf::pre(VarId(self.variables.of(var)), order),
            Leaf::Condition(condition) => Leaf::Condition(ConditionId(self.conditions.of(condition))),
            other => other,
        };
        Shape {
            code,
            leaves: leaves.iter().map(numbered).collect(),
            origins: origins.iter().map(|&id| self.order.get(id).unwrap_or(0)).collect(),
        }
    }

    /// The leaves of a shape for the variables and conditions of this specification.
    pub(crate) fn leaves(&self, shape: &Shape) -> Box<[Leaf]> {
        let named = |leaf: &Leaf| match *leaf {
            Leaf::Var { var, order } => Leaf::var(self.variables.items[var.0 as usize], order),
            Leaf::Pre { var, order } => Leaf::pre(self.variables.items[var.0 as usize], order),
            Leaf::Condition(condition) => Leaf::Condition(self.conditions.items[condition.0 as usize]),
            other => other,
        };
        shape.leaves.iter().map(named).collect()
    }

    /// All subexpressions, to look up origins in.
    pub(crate) fn into_order(self) -> Box<[ExprId]> {
        self.order.items.into()
    }
}

impl Shape {
    /// The subexpression that an operation comes from.
    pub(crate) fn origin(&self, operation: usize, order: &[ExprId]) -> ExprId {
        order[self.origins[operation] as usize]
    }
}

/// Children before parents.
fn post_order(pool: &ExprPool, roots: &[ExprId]) -> Numbering<ExprId> {
    let mut order = Numbering::new();
    let mut stack: Vec<(ExprId, bool)> = roots.iter().rev().map(|&root| (root, false)).collect();
    while let Some((id, leave)) = stack.pop() {
        if order.get(id).is_some() {
            continue;
        }
        if leave {
            order.push(id);
            continue;
        }
        stack.push((id, true));
        let first = stack.len();
        pool.for_each_child(pool.node(id), |child| stack.push((child, false)));
        stack[first..].reverse();
    }
    order
}
