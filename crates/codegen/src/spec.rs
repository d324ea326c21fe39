//! What a kernel computes: which expressions, to which derivative orders, by which partial derivatives.

use std::ops::RangeInclusive;

use saltus_mdae::{ConditionId, ExprId, VarId};

/// A value that a kernel reads from outside.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Leaf {
    /// Current value of the `order`-th derivative of a variable.
    Var {
        /// The variable.
        var: VarId,
        /// Derivative order.
        order: u16,
    },
    /// Left limit of the `order`-th derivative of a variable.
    Pre {
        /// The variable.
        var: VarId,
        /// Derivative order.
        order: u16,
    },
    /// Time.
    Time,
    /// Truth value of a condition (0 or 1).
    Condition(ConditionId),
    /// 1 during initialisation, else 0.
    Initial,
    /// 1 at the last instant of a successful run, else 0.
    Terminal,
}

impl Leaf {
    /// The current value of a derivative of a variable.
    pub fn var(var: VarId, order: u16) -> Self {
        Leaf::Var { var, order }
    }
    /// The left limit of a derivative of a variable.
    pub fn pre(var: VarId, order: u16) -> Self {
        Leaf::Pre { var, order }
    }
}

/// A column of the derivative matrix D^(n,p) of TNP.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Column {
    /// The total derivative itself.
    Value,
    /// Its partial derivative by a leaf, all derivatives of all variables taken as independent.
    Partial(Leaf),
}

/// One number that a kernel computes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Output {
    /// Position in [`KernelSpec::expressions`].
    pub expression: u32,
    /// Order of the total derivative.
    pub order: u16,
    /// The derivative itself or one of its partials.
    pub column: Column,
}

/// What a kernel computes. Any selection of rows and columns of the matrices D^(n,p) can be asked for; only what is
/// asked for is computed.
///
/// The total derivative of `Var { v, o }` is `Var { v, o + 1 }` if `v` is continuous (see
/// [`saltus_mdae::expr::VarTraits`]), that of time is 1, that of all other leaves 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KernelSpec {
    /// The expressions.
    pub expressions: Vec<ExprId>,
    /// What is wanted of them; the results are written in this order.
    pub outputs: Vec<Output>,
    /// Not the outputs themselves are wanted, which are residuals and their partials by these, but the Newton step of
    /// each of these, and behind them how far the system is from a singular one (from 0 to 1). There are no results if
    /// the steps cannot be written as straight-line code.
    pub newton: Vec<Leaf>,
}

impl KernelSpec {
    /// The values of expressions: output `e` is the value of expression `e`.
    pub fn values(expressions: &[ExprId]) -> Self {
        Self::matrix(expressions, 0..=0, &[])
    }

    /// The total derivative of the given order of one expression: one output.
    pub fn total(expression: ExprId, order: u16) -> Self {
        Self::matrix(&[expression], order..=order, &[])
    }

    /// The rows `orders` of D^(n,p) with all columns: for expression `e`, row `i` and column `j` (0 the value,
    /// `1 + k` the partial by `partials[k]`) the output number is
    /// `(e·rows + (i − first order))·(1 + partials.len()) + j`.
    pub fn matrix(expressions: &[ExprId], orders: RangeInclusive<u16>, partials: &[Leaf]) -> Self {
        let rows = usize::from(orders.end().saturating_sub(*orders.start())) + 1;
        let mut outputs = Vec::with_capacity(expressions.len() * rows * (1 + partials.len()));
        for expression in 0..expressions.len() as u32 {
            for order in orders.clone() {
                outputs.push(Output {
                    expression,
                    order,
                    column: Column::Value,
                });
                outputs.extend(partials.iter().map(|&leaf| Output {
                    expression,
                    order,
                    column: Column::Partial(leaf),
                }));
            }
        }
        KernelSpec {
            expressions: expressions.to_vec(),
            outputs,
            newton: Vec::new(),
        }
    }

    /// Only partials of one total derivative of one expression: output `k` is the partial by `partials[k]`.
    pub fn partials(expression: ExprId, order: u16, partials: &[Leaf]) -> Self {
        let outputs = partials.iter().map(|&leaf| Output {
            expression: 0,
            order,
            column: Column::Partial(leaf),
        });
        KernelSpec {
            expressions: vec![expression],
            outputs: outputs.collect(),
            newton: Vec::new(),
        }
    }

    /// The highest order of total derivative asked for.
    pub fn highest_order(&self) -> u16 {
        self.outputs.iter().map(|output| output.order).max().unwrap_or(0)
    }
}
