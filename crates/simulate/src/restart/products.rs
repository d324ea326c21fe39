//! `reinit` of a factor of what stands under a derivative.
//!
//! `der(J(r)*w) = t` conserves J(r)·w while t has no impulse, whatever gives r another value. With `reinit(r, …)` the equation
//! that would have given der(r) is the one that does not hold at the instant; the product keeps its value and w follows, as
//! it does if the product has a name of its own.

use rustc_hash::FxHashSet;
use saltus_mdae::{Derivative, VarId};

use crate::engine::{Engine, ModeId};

impl Engine {
    /// Whether new values of states move a factor in front of another derivative, in an equation that has a derivative of what
    /// moves as well and determines that other one: the shape of a product under `der`.
    pub(crate) fn moves_factors(&mut self, mode: ModeId, targets: impl Iterator<Item = VarId>) -> bool {
        let rows = self.rows_of_mode(mode);
        let mut moved: FxHashSet<VarId> = targets.collect();
        // What constraints bind to the new values moves with them (J = 1 + r^2).
        loop {
            let before = moved.len();
            for row in rows.iter().filter(|row| row.is_constraint) {
                if row.occurrences.iter().any(|one| moved.contains(&one.var)) {
                    moved.insert(row.determines);
                }
            }
            if moved.len() == before {
                break;
            }
        }
        let moved_rate = |one: &Derivative| one.order > 0 && moved.contains(&one.var);
        rows.iter()
            .filter(|row| !row.is_constraint && !moved.contains(&row.determines))
            .filter(|row| row.occurrences.iter().any(moved_rate))
            .any(|row| {
                let rates = row.occurrences.iter();
                let rate = rates
                    .filter(|one| one.var == row.determines && one.order > 0)
                    .max_by_key(|one| one.order);
                rate.is_some_and(|rate| {
                    let factor = self.pool.partial_derivative(row.residual, rate.var, rate.order);
                    let leaves = self.pool.occurrences(factor);
                    leaves.iter().any(|leaf| moved.contains(&leaf.var))
                })
            })
    }

    fn rows_of_mode(&self, mode: ModeId) -> Vec<Row> {
        let structure = &self.modes[mode].structure;
        let rows = structure.equations.iter().zip(&structure.sigma.c);
        rows.filter_map(|(&equation, &differentiations)| {
            let residual = self.model.equations[self.model.stands_for(equation)].residual;
            Some(Row {
                residual,
                occurrences: self.pool.occurrences(residual).to_vec(),
                determines: structure.matched_unknown(equation)?,
                is_constraint: differentiations > 0,
            })
        })
        .collect()
    }
}

/// An equation of a mode.
struct Row {
    residual: saltus_mdae::ExprId,
    occurrences: Vec<Derivative>,
    /// The unknown that it is matched to.
    determines: VarId,
    /// Whether it is differentiated.
    is_constraint: bool,
}
