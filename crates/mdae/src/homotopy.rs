//! Equations with the simplified expressions of `homotopy(actual, simplified)` in place of the actual ones.

use rustc_hash::FxHashMap;

use crate::index::ExprId;
use crate::model::Mdae;

/// For the residual of an equation the same with simplified expressions.
pub type SimplifiedResiduals = FxHashMap<ExprId, ExprId>;

/// The equations that have a simplified form of no more unknowns: it can be solved in the place of the actual one, to
/// find where to begin.
pub fn simplified_residuals(model: &mut Mdae) -> SimplifiedResiduals {
    let mut found = SimplifiedResiduals::default();
    if model.homotopies.is_empty() {
        return found;
    }
    let simplified: FxHashMap<ExprId, ExprId> = model.homotopies.iter().map(|h| (h.actual, h.simplified)).collect();
    let residuals: Vec<ExprId> = model.equations.iter().map(|equation| equation.residual).collect();
    for residual in residuals {
        let other = model.pool.rewrite(&[residual], |_, id, _| simplified.get(&id).copied())[0];
        let known = model.pool.occurrences(residual);
        let fits = model.pool.occurrences(other).iter().all(|place| known.contains(place));
        if other != residual && fits {
            found.insert(residual, other);
        }
    }
    found
}
