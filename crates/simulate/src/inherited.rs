//! Errors that algebraic variables inherit from what they are computed from.
//!
//! A clearance `s = table - y` is zero at the contact, but it is known no better than table and y are: a solver that keeps y
//! to its tolerance may leave s on the wrong side by that much.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_codegen::{KernelSpec, Leaf};
use saltus_mdae::{ExprPool, VarId};
use saltus_structure::mode::Plan;

use crate::condition::Scales;
use crate::error::Failure;
use crate::kernel::Bound;
use crate::memory::Memory;
use crate::mode::Tools;

/// Equations followed per mode.
const LINKS: usize = 256;

/// An equation that determines one variable from others.
#[derive(Debug)]
struct Link {
    variable: (VarId, u16),
    leaves: Vec<(VarId, u16)>,
    /// The partial derivatives by the leaves.
    gradient: Bound,
}

/// The equations between the states of a mode and the variables in its conditions.
#[derive(Debug, Default)]
pub(crate) struct ErrorFlow {
    links: Vec<Link>,
}

impl ErrorFlow {
    /// Follows the plan of a mode back from the variables wanted; blocks of several equations are not followed.
    pub(crate) fn new(
        tools: Tools<'_>,
        pool: &ExprPool,
        plan: &Plan,
        memory: &Memory,
        wanted: impl Iterator<Item = (VarId, u16)>,
    ) -> Result<Self, Failure> {
        let mut wanted: FxHashSet<(VarId, u16)> = wanted.collect();
        let mut links = Vec::new();
        for at in (0..plan.block_count()).rev() {
            let block = plan.block(at);
            let (&[(equation, 0)], &[variable]) = (block.equations, block.solve_for) else {
                continue;
            };
            if !wanted.contains(&variable) || links.len() >= LINKS {
                continue;
            }
            let residual = tools.model.equations[equation].residual;
            let leaves: Vec<(VarId, u16)> = pool
                .occurrences(residual)
                .into_iter()
                .filter(|&(var, _)| tools.model.is_unknown(var))
                .collect();
            wanted.extend(leaves.iter().copied().filter(|&leaf| leaf != variable));
            let partials: Vec<Leaf> = leaves.iter().map(|&(var, order)| Leaf::var(var, order)).collect();
            links.push(Link {
                variable,
                gradient: Bound::new(tools.cache, pool, &KernelSpec::partials(residual, 0, &partials), memory)?,
                leaves,
            });
        }
        links.reverse();
        Ok(ErrorFlow { links })
    }

    /// Errors of the algebraic variables at the values in memory.
    pub(crate) fn errors(&self, memory: &Memory, scales: &Scales) -> FxHashMap<(VarId, u16), f64> {
        let mut errors: FxHashMap<(VarId, u16), f64> = FxHashMap::default();
        let mut slopes = Vec::new();
        for link in &self.links {
            slopes.clear();
            slopes.resize(link.leaves.len(), 0.0);
            link.gradient.evaluate(memory, &mut slopes);
            let (mut sum, mut own) = (0.0, 0.0);
            for (&leaf, slope) in link.leaves.iter().zip(&slopes) {
                if leaf == link.variable {
                    own = slope.abs();
                } else {
                    let error = errors.get(&leaf).copied().unwrap_or(0.0);
                    sum += slope.abs() * error.max(scales.error(leaf.0, memory.get(leaf.0, leaf.1)));
                }
            }
            let error = sum / own;
            if error.is_finite() {
                errors.insert(link.variable, error);
            }
        }
        errors
    }
}
