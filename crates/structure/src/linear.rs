//! How unknowns enter an expression: degree in a set of unknowns, and the kind of each partial derivative.

use saltus_mdae::{BinaryFunction, Derivative, ExprId, ExprPool, Node, Role, UnaryFunction, VarId};

/// The degree of an expression in a set of unknowns.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Degree {
    /// None of them occurs.
    Free,
    /// Affine: the partial derivatives are free of them.
    Affine,
    /// Anything else.
    Nonlinear,
}

/// What is known of a partial derivative without any values.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Coefficient {
    /// A number.
    Constant(f64),
    /// An expression in parameters: the same during a run.
    Parameter,
    /// Depends on time, conditions or variables.
    Varying,
}

impl Coefficient {
    pub(crate) fn times(self, other: Coefficient) -> Coefficient {
        use Coefficient::{Constant, Varying};
        match (self, other) {
            (Constant(a), Constant(b)) => Constant(a * b),
            (Constant(0.0), _) | (_, Constant(0.0)) => Constant(0.0),
            (Varying, _) | (_, Varying) => Varying,
            _ => Coefficient::Parameter,
        }
    }
    pub(crate) fn plus(self, other: Coefficient) -> Coefficient {
        use Coefficient::{Constant, Varying};
        match (self, other) {
            (Constant(a), Constant(b)) => Constant(a + b),
            (Constant(0.0), x) | (x, Constant(0.0)) => x,
            (Varying, _) | (_, Varying) => Varying,
            _ => Coefficient::Parameter,
        }
    }
    fn reciprocal(self) -> Coefficient {
        match self {
            Coefficient::Constant(value) if value != 0.0 => Coefficient::Constant(1.0 / value),
            Coefficient::Constant(_) => Coefficient::Varying,
            other => other,
        }
    }
}

/// The nodes of an expression, children before parents, with something known of each. Costs time in the expression only.
struct Nodes<'a, T> {
    pool: &'a ExprPool,
    order: Vec<ExprId>,
    known: Vec<T>,
}

impl<'a, T: Copy> Nodes<'a, T> {
    fn new(pool: &'a ExprPool, root: ExprId, blank: T) -> Self {
        let order = pool.reachable(&[root]);
        let known = vec![blank; order.len()];
        Nodes { pool, order, known }
    }

    fn place(&self, id: ExprId) -> usize {
        self.order.partition_point(|&other| other < id)
    }

    fn of(&self, id: ExprId) -> T {
        self.known[self.place(id)]
    }
}

/// The degree of an expression in the derivatives that `is_unknown` accepts. Conditions count as free: they are held
/// between events.
pub fn degree(pool: &ExprPool, root: ExprId, is_unknown: impl Fn(VarId, u16) -> bool) -> Degree {
    let mut nodes = Nodes::new(pool, root, Degree::Free);
    for at in 0..nodes.order.len() {
        let of = |child: ExprId| nodes.of(child);
        nodes.known[at] = match pool.node(nodes.order[at]) {
            Node::Var { var, order } if is_unknown(var, order) => Degree::Affine,
            Node::Unary(UnaryFunction::Neg, a) => of(a),
            Node::Unary(_, a) => nonlinear_unless_free(of(a)),
            Node::Binary(BinaryFunction::Add | BinaryFunction::Sub, a, b) => of(a).max(of(b)),
            Node::Binary(BinaryFunction::Mul, a, b) if of(a) == Degree::Free => of(b),
            Node::Binary(BinaryFunction::Mul | BinaryFunction::Div, a, b) if of(b) == Degree::Free => of(a),
            Node::Binary(_, a, b) => nonlinear_unless_free(of(a).max(of(b))),
            Node::If(c, a, b) if of(c) == Degree::Free => of(a).max(of(b)),
            Node::If(..) => Degree::Nonlinear,
            Node::Call { args, .. } => {
                let all = pool.args(args).map(of).max();
                nonlinear_unless_free(all.unwrap_or(Degree::Free))
            }
            _ => Degree::Free,
        };
    }
    nodes.of(root)
}

/// A variable or a derivative of it with the kind of the partial derivative by it.
pub type Partial = (Derivative, Coefficient);

/// The kind of the partial derivative by every variable (continuous or input) and derivative that occurs, sorted.
/// Constant zeros (terms that cancel) are left out.
pub fn partials(pool: &ExprPool, root: ExprId, role: impl Fn(VarId) -> Role) -> Box<[Partial]> {
    let classes = classes(pool, root, &role);
    let mut factors = Factors {
        nodes: Nodes::new(pool, root, Coefficient::Constant(0.0)),
        classes,
    };
    let mut found = Vec::new();
    let last = factors.nodes.place(root);
    factors.nodes.known[last] = Coefficient::Constant(1.0);
    // Parents before children: each node hands its factor down, as in reverse differentiation.
    for at in (0..factors.nodes.order.len()).rev() {
        let factor = factors.nodes.known[at];
        if factor == Coefficient::Constant(0.0) {
            continue;
        }
        match pool.node(factors.nodes.order[at]) {
            Node::Var { var, order } if matches!(role(var), Role::Continuous | Role::Input) => {
                found.push((Derivative { var, order }, factor));
            }
            Node::Var { .. } => {}
            node => factors.hand_down(node, factor),
        }
    }
    found.sort_unstable_by_key(|&(derivative, _)| derivative);
    found.into_boxed_slice()
}

/// Whether an expression with these partial derivatives is affine in the unknowns that `is_unknown` accepts: `None` if they
/// do not say.
pub fn is_affine_by(partials: &[Partial], is_unknown: impl Fn(Derivative) -> bool) -> Option<bool> {
    let told = |&(derivative, coefficient): &Partial| coefficient != Coefficient::Varying || !is_unknown(derivative);
    partials.iter().all(told).then_some(true)
}

/// What is known of the value of each node.
fn classes<'a>(pool: &'a ExprPool, root: ExprId, role: &impl Fn(VarId) -> Role) -> Nodes<'a, Coefficient> {
    let mut nodes = Nodes::new(pool, root, Coefficient::Varying);
    for at in 0..nodes.order.len() {
        let id = nodes.order[at];
        nodes.known[at] = match (pool.constant(id), pool.node(id)) {
            (Some(value), _) => Coefficient::Constant(value),
            (None, Node::Var { var, .. }) if role(var) == Role::Parameter => Coefficient::Parameter,
            (None, node @ (Node::Unary(..) | Node::Binary(..) | Node::If(..) | Node::Call { .. })) => {
                let mut all = Coefficient::Parameter;
                pool.for_each_child(node, |child| {
                    if nodes.of(child) == Coefficient::Varying {
                        all = Coefficient::Varying;
                    }
                });
                all
            }
            _ => Coefficient::Varying,
        };
    }
    nodes
}

/// The partial derivatives of the root by each node, as far as they are found.
struct Factors<'a> {
    nodes: Nodes<'a, Coefficient>,
    classes: Nodes<'a, Coefficient>,
}

impl Factors<'_> {
    fn hand_down(&mut self, node: Node, factor: Coefficient) {
        let minus_one = Coefficient::Constant(-1.0);
        match node {
            Node::Unary(UnaryFunction::Neg, a) => self.add(a, factor.times(minus_one)),
            Node::Binary(BinaryFunction::Add, a, b) => {
                self.add(a, factor);
                self.add(b, factor);
            }
            Node::Binary(BinaryFunction::Sub, a, b) => {
                self.add(a, factor);
                self.add(b, factor.times(minus_one));
            }
            Node::Binary(BinaryFunction::Mul, a, b) => {
                let (of_a, of_b) = (self.classes.of(a), self.classes.of(b));
                self.add(a, factor.times(of_b));
                self.add(b, factor.times(of_a));
            }
            Node::Binary(BinaryFunction::Div, a, b) => {
                let divisor = self.classes.of(b).reciprocal();
                self.add(a, factor.times(divisor));
                self.add(b, Coefficient::Varying);
            }
            _ => {
                let pool = self.nodes.pool;
                pool.for_each_child(node, |child| {
                    let at = self.nodes.place(child);
                    self.nodes.known[at] = Coefficient::Varying;
                });
            }
        }
    }

    fn add(&mut self, child: ExprId, factor: Coefficient) {
        let at = self.nodes.place(child);
        self.nodes.known[at] = self.nodes.known[at].plus(factor);
    }
}

fn nonlinear_unless_free(degree: Degree) -> Degree {
    match degree {
        Degree::Free => Degree::Free,
        _ => Degree::Nonlinear,
    }
}
