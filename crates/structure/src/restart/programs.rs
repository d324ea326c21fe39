//! The equations of a restart plan as programs, ready to be evaluated.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_mdae::tape::Tape;
use saltus_mdae::{ExprId, ExprPool, Node, VarId};

use super::integral::compared_in;
use super::plan::{PlanEquation, RestartPlan};

/// What a leaf of a program is.
#[derive(Copy, Clone, Debug)]
pub enum LeafKind {
    /// An unknown of the plan.
    Unknown(usize),
    /// The mean of a coefficient.
    Mean(usize),
    /// What runs from 0 to 1 in such a coefficient.
    Way,
    /// Anything else.
    Known,
}

/// An equation ready for evaluation, with what its leaves are, and the coefficients whose means it holds.
#[derive(Clone, Debug)]
pub struct PlanProgram {
    /// The residual.
    pub tape: Arc<Tape>,
    /// What its leaves are.
    pub kinds: Vec<LeafKind>,
    /// The coefficients whose means it holds.
    pub means: Vec<PlanProgram>,
    /// Both sides of all comparisons in a coefficient: it may jump where they are equal, which its derivatives do not say.
    pub compared: Vec<[PlanProgram; 2]>,
}

impl PlanProgram {
    fn new(pool: &ExprPool, residual: ExprId, kinds: &FxHashMap<VarId, LeafKind>) -> Self {
        let tape = pool.tape(residual);
        let kind = |leaf: &Node| match leaf {
            Node::Var { var, .. } => kinds.get(var).copied().unwrap_or(LeafKind::Known),
            _ => LeafKind::Known,
        };
        PlanProgram {
            kinds: tape.leaves().iter().map(kind).collect(),
            tape,
            means: Vec::new(),
            compared: Vec::new(),
        }
    }
}

/// The equations of a plan, then its checks.
#[derive(Clone, Debug)]
pub struct PlanPrograms {
    /// The equations.
    pub equations: Vec<PlanProgram>,
    /// The checks.
    pub checks: Vec<PlanProgram>,
}

impl PlanPrograms {
    pub(crate) fn new(pool: &ExprPool, plan: &RestartPlan) -> Self {
        let unknowns = plan.unknowns.iter().enumerate();
        let unknowns: FxHashMap<VarId, LeafKind> = unknowns.map(|(i, u)| (u.symbol, LeafKind::Unknown(i))).collect();
        let equation = |equation: &PlanEquation| {
            let (mut kinds, mut means) = (unknowns.clone(), Vec::new());
            for (position, mean) in equation.averages.iter().enumerate() {
                let mut inside = unknowns.clone();
                inside.insert(mean.parameter, LeafKind::Way);
                let compared = compared_in(pool, mean.integrand).into_iter();
                let compared = compared.map(|sides| sides.map(|side| PlanProgram::new(pool, side, &inside)));
                means.push(PlanProgram {
                    compared: compared.collect(),
                    ..PlanProgram::new(pool, mean.integrand, &inside)
                });
                kinds.insert(mean.symbol, LeafKind::Mean(position));
            }
            PlanProgram {
                means,
                ..PlanProgram::new(pool, equation.residual, &kinds)
            }
        };
        // Symbols are copied where there are means only.
        let plain = |residual: ExprId| PlanProgram::new(pool, residual, &unknowns);
        PlanPrograms {
            equations: plan
                .equations
                .iter()
                .map(|known| {
                    if known.averages.is_empty() {
                        plain(known.residual)
                    } else {
                        equation(known)
                    }
                })
                .collect(),
            checks: plan.checks.iter().map(|&(_, residual)| plain(residual)).collect(),
        }
    }
}
