//! Once per model, before any mode is analysed: trivial unguarded equations are used to eliminate variables.
//!
//! - *Aliases*: `x = y`, `x + y = 0`, and what becomes such an equation once other variables are known.
//! - *Order raising*: `der(x) = u` makes u the first derivative of x everywhere, in conditions, when-clauses, restart
//!   and initial equations too. Without it x' has no past at mode changes (RR-9603 needs second-order models).
//! - *Constants*: `x = 3`, and what follows.
//! - *Coefficients*: `ratio = if second then 2 else 3` is replaced by its definition; its equation stays.
//! - *Definitions*: a relative coordinate `rel = x2 - x1` is replaced where its derivatives may be needed in some modes
//!   only; its equation stays.
//! - *Observed derivatives*: a condition `der(s) <= 0` gives s a derivative in every mode.
//! - *Idle arguments*: a call whose result does not depend on an argument is one without it.
//! - *Combinations* take the place of equations whose leading derivatives cancel.
//!
//! Only unguarded equations count, so that what is eliminated holds in every mode. No variable is lost: each one is a
//! variable, an alias ([`Mdae::aliases`]) or a constant ([`Mdae::constants`]) of the prepared model. Parameters are
//! never folded: they can be changed between runs. (Structural parameters are literals by the time a model gets
//! here; for coefficients that are zero see [`drop_vanishing_terms`].)
//!
//! Time and memory are linear in the model, up to a logarithm for chains of eliminations.

mod classes;
mod colours;
mod definitions;
mod idle;
mod observed;
mod piecewise;
mod rewrite;
mod starts;
mod trivial;
mod vanishing;

use saltus_mdae::{Action, Derivative, EquationId, ExprId, IndexVec, Mdae, VarId};

use classes::Classes;
pub use vanishing::{Coefficients, drop_vanishing_terms};

/// A derivative of higher order than this is not introduced; the equation is kept instead.
const MAX_RAISED_ORDER: u16 = 32;

/// A model without trivial unguarded equations.
#[derive(Debug)]
pub struct Prepared {
    /// The model: new ids throughout.
    pub model: Mdae,
    /// What became of each variable.
    pub places: IndexVec<VarId, Place>,
    /// What became of each equation; `None` if it was used up by an elimination.
    pub equations: IndexVec<EquationId, Option<EquationId>>,
    /// Variables of the prepared model that were replaced by what defines them, in all equations but the defining one.
    pub replaced: Vec<(VarId, ExprId)>,
}

/// What became of a variable.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Place {
    /// It is a derivative of a variable of the prepared model, or its negative; of order 0 for the variable itself.
    Derivative {
        /// The variable.
        var: VarId,
        /// The derivative.
        order: u16,
        /// Whether the sign is reversed.
        negated: bool,
    },
    /// It is a number.
    Constant(f64),
}

/// What the when-clauses of a model do.
fn actions(model: &Mdae) -> impl Iterator<Item = &Action> {
    let branches = model.whens.iter().flat_map(|when| &when.branches);
    branches.flat_map(|branch| &branch.actions)
}

/// The derivatives that `reinit` gives new values.
fn reinitialised(model: &Mdae) -> impl Iterator<Item = Derivative> {
    actions(model).filter_map(|action| match action {
        Action::Reinit { var, order, .. } => Some(Derivative::new(*var, *order)),
        _ => None,
    })
}

/// Eliminates trivial unguarded equations.
pub fn prepare(mut model: Mdae) -> Prepared {
    idle::drop_idle_arguments(&mut model);
    let sums = trivial::read_sums(&model);
    let mut classes = Classes::new(&model, &sums);
    let used_up = trivial::eliminate(&model, &sums, &mut classes);
    let mut prepared = rewrite::rewrite(model, &mut classes, &used_up);
    prepared.replaced = definitions::replace_defined(&mut prepared.model);
    piecewise::write_out_coefficients(&mut prepared.model);
    observed::give_values_to_observed(&mut prepared.model);
    crate::mode::regularise(&mut prepared.model);
    debug_assert_eq!(prepared.model.validate(), Ok(()));
    prepared
}
