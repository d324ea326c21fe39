//! How unknowns enter an expression: degree in a set of unknowns, and the kind of each partial derivative.

use saltus_mdae::walk::NodeWalk;
use saltus_mdae::{BinaryOp, Derivative, ExprId, ExprPool, Idx, Node, Role, UnaryOp, VarId};

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
    fn times(self, other: Coefficient) -> Coefficient {
        use Coefficient::{Constant, Varying};
        match (self, other) {
            (Constant(a), Constant(b)) => Constant(a * b),
            (Constant(0.0), _) | (_, Constant(0.0)) => Constant(0.0),
            (Varying, _) | (_, Varying) => Varying,
            _ => Coefficient::Parameter,
        }
    }
    fn plus(self, other: Coefficient) -> Coefficient {
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

/// Reads degrees and partial derivatives; keeps its workspace between calls. Every call costs time in the expression
/// only.
#[derive(Clone, Debug, Default)]
pub struct LinearityReader {
    nodes: NodeWalk,
    order: Vec<(ExprId, Node)>,
    degree: Vec<Degree>,
    class: Vec<Coefficient>,
    factor: Vec<Coefficient>,
}

impl LinearityReader {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lists the nodes of the expression, children before parents.
    fn list(&mut self, pool: &ExprPool, root: ExprId) {
        let order = &mut self.order;
        order.clear();
        self.nodes.for_each_node(pool, root, |id, node| order.push((id, node)));
        order.sort_unstable_by_key(|&(id, _)| id);
    }

    /// The degree of an expression in the derivatives that `is_unknown` accepts. Conditions count as free: they are
    /// held between events.
    pub fn degree(&mut self, pool: &ExprPool, root: ExprId, is_unknown: impl Fn(VarId, u16) -> bool) -> Degree {
        self.list(pool, root);
        if self.degree.len() < pool.len() {
            self.degree.resize(pool.len(), Degree::Free);
        }
        for &(id, node) in &self.order {
            let of = |child: ExprId| self.degree[child.index()];
            let degree = match node {
                Node::Var { var, order } if is_unknown(var, order) => Degree::Affine,
                Node::Unary(UnaryOp::Neg, a) => of(a),
                Node::Unary(_, a) => nonlinear_unless_free(of(a)),
                Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => of(a).max(of(b)),
                Node::Binary(BinaryOp::Mul, a, b) if of(a) == Degree::Free => of(b),
                Node::Binary(BinaryOp::Mul | BinaryOp::Div, a, b) if of(b) == Degree::Free => of(a),
                Node::Binary(_, a, b) => nonlinear_unless_free(of(a).max(of(b))),
                Node::If(c, a, b) if of(c) == Degree::Free => of(a).max(of(b)),
                Node::If(..) => Degree::Nonlinear,
                Node::Call { args, .. } => {
                    let all = pool.args(args).map(of).max();
                    nonlinear_unless_free(all.unwrap_or(Degree::Free))
                }
                _ => Degree::Free,
            };
            self.degree[id.index()] = degree;
        }
        self.degree[root.index()]
    }

    /// The kind of the partial derivative by every variable (of a role that `count` accepts) and derivative that
    /// occurs, sorted. Constant zeros (terms that cancel) are left out.
    pub fn partials(
        &mut self,
        pool: &ExprPool,
        root: ExprId,
        role: impl Fn(VarId) -> Role,
        out: &mut Vec<(Derivative, Coefficient)>,
    ) {
        out.clear();
        self.list(pool, root);
        self.classify(pool, &role);
        for &(id, _) in &self.order {
            self.factor[id.index()] = Coefficient::Constant(0.0);
        }
        self.factor[root.index()] = Coefficient::Constant(1.0);
        // Parents before children: each node hands its factor down, as in reverse differentiation.
        for at in (0..self.order.len()).rev() {
            let (id, node) = self.order[at];
            let factor = self.factor[id.index()];
            if factor == Coefficient::Constant(0.0) {
                continue;
            }
            if let Node::Var { var, order } = node {
                if matches!(role(var), Role::Continuous | Role::Input) {
                    out.push((Derivative { var, order }, factor));
                }
                continue;
            }
            self.hand_down(pool, node, factor);
        }
        out.sort_unstable_by_key(|&(derivative, _)| derivative);
    }

    fn classify(&mut self, pool: &ExprPool, role: &impl Fn(VarId) -> Role) {
        if self.class.len() < pool.len() {
            self.class.resize(pool.len(), Coefficient::Varying);
            self.factor.resize(pool.len(), Coefficient::Varying);
        }
        for &(id, node) in &self.order {
            let class = match (pool.constant(id), node) {
                (Some(value), _) => Coefficient::Constant(value),
                (None, Node::Var { var, .. }) if role(var) == Role::Parameter => Coefficient::Parameter,
                (None, Node::Unary(..) | Node::Binary(..) | Node::If(..) | Node::Call { .. }) => {
                    let mut all = Coefficient::Parameter;
                    pool.for_each_child(node, |child| {
                        if self.class[child.index()] == Coefficient::Varying {
                            all = Coefficient::Varying;
                        }
                    });
                    all
                }
                _ => Coefficient::Varying,
            };
            self.class[id.index()] = class;
        }
    }

    fn hand_down(&mut self, pool: &ExprPool, node: Node, factor: Coefficient) {
        let minus_one = Coefficient::Constant(-1.0);
        match node {
            Node::Unary(UnaryOp::Neg, a) => self.add_factor(a, factor.times(minus_one)),
            Node::Binary(BinaryOp::Add, a, b) => {
                self.add_factor(a, factor);
                self.add_factor(b, factor);
            }
            Node::Binary(BinaryOp::Sub, a, b) => {
                self.add_factor(a, factor);
                self.add_factor(b, factor.times(minus_one));
            }
            Node::Binary(BinaryOp::Mul, a, b) => {
                let (of_a, of_b) = (self.class[a.index()], self.class[b.index()]);
                self.add_factor(a, factor.times(of_b));
                self.add_factor(b, factor.times(of_a));
            }
            Node::Binary(BinaryOp::Div, a, b) => {
                let divisor = self.class[b.index()].reciprocal();
                self.add_factor(a, factor.times(divisor));
                self.add_factor(b, Coefficient::Varying);
            }
            _ => pool.for_each_child(node, |child| {
                self.factor[child.index()] = Coefficient::Varying;
            }),
        }
    }

    fn add_factor(&mut self, child: ExprId, factor: Coefficient) {
        let known = &mut self.factor[child.index()];
        *known = known.plus(factor);
    }
}

fn nonlinear_unless_free(degree: Degree) -> Degree {
    match degree {
        Degree::Free => Degree::Free,
        _ => Degree::Nonlinear,
    }
}
