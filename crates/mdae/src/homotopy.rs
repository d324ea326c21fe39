//! Equations with the simplified expressions of `homotopy(actual, simplified)` in place of the actual ones.

use rustc_hash::FxHashMap;

use crate::index::ExprId;
use crate::model::Mdae;

/// For the residual of an equation the same with simplified expressions.
pub type SimplifiedResiduals = FxHashMap<ExprId, ExprId>;

/// The equations that have a simplified form of no more unknowns: it can be solved in the place of the actual one, to
/// find where to begin.
pub fn simplified_residuals(model: &Mdae) -> SimplifiedResiduals {
    let others = model.equations.iter().filter_map(|e| Some((e.residual, e.simplified?)));
    let fits = |&(residual, other): &(ExprId, ExprId)| {
        let known = model.pool.occurrences(residual);
        model.pool.occurrences(other).iter().all(|place| known.contains(place))
    };
    others.filter(fits).collect()
}

/// The model with simplified expressions everywhere: its initial values are where those of the actual one are sought.
pub fn simplified_model(model: &Mdae) -> Option<Mdae> {
    model.equations.iter().find(|equation| equation.simplified.is_some())?;
    let mut other = model.clone();
    for equation in other.equations.iter_mut() {
        equation.residual = equation.simplified.take().unwrap_or(equation.residual);
    }
    Some(other)
}
