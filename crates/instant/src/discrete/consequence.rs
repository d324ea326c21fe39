//! What when-clauses that act ask of the restart.

use saltus_mdae::{Action, EquationId, ExprId, ExprPool, Mdae, OriginId, VarId, WhenId};
use saltus_structure::mode::ModeStructure;
use saltus_structure::restart::ModeEquation;

/// `reinit(x, value)`: a state that gets a new value.
#[derive(Copy, Clone, Debug)]
pub struct Reinit {
    /// The state.
    pub var: VarId,
    /// Which derivative of it is meant.
    pub order: u16,
    /// Its new value.
    pub value: ExprId,
    /// Provenance.
    pub origin: OriginId,
}

/// The actions of branches that act.
pub fn actions<'m>(model: &'m Mdae, acting: &'m [(WhenId, usize)]) -> impl Iterator<Item = &'m Action> {
    acting
        .iter()
        .flat_map(|&(when, branch)| &model.whens[when].branches[branch].actions)
}

/// The restart equations of branches that act.
pub fn restart_equations(model: &Mdae, acting: &[(WhenId, usize)]) -> Vec<ModeEquation> {
    let restart = |action: &Action| match *action {
        Action::Restart { residual, origin } => Some(ModeEquation { residual, origin }),
        _ => None,
    };
    actions(model, acting).filter_map(restart).collect()
}

/// The states that branches that act give new values.
pub fn reinits(model: &Mdae, acting: &[(WhenId, usize)]) -> Vec<Reinit> {
    let reinit = |action: &Action| match *action {
        Action::Reinit {
            var,
            order,
            value,
            origin,
        } => Some(Reinit {
            var,
            order,
            value,
            origin,
        }),
        _ => None,
    };
    actions(model, acting).filter_map(reinit).collect()
}

/// `reinit(x, e)` as the restart equation x⁺ = e, with the continuous variables of e taken before the event:
/// `reinit(v, -v)` turns the velocity round.
pub fn reinit_equations(pool: &mut ExprPool, model: &Mdae, reinits: &[Reinit]) -> Vec<ModeEquation> {
    let mut equations = Vec::new();
    for reinit in reinits {
        let before = pool.left_limit(reinit.value, |var| model.is_unknown(var));
        let target = pool.der_var(reinit.var, reinit.order);
        equations.push(ModeEquation {
            residual: pool.sub(target, before),
            origin: reinit.origin,
        });
    }
    equations
}

/// The equations of a mode at the instant of a `reinit`: those that its guards select, less the ones that give the
/// derivatives of states that are set. A mode without structure keeps all.
pub fn equations_less(
    model: &Mdae,
    active: impl Iterator<Item = EquationId>,
    structure: Option<&ModeStructure>,
    reinits: &[Reinit],
) -> Vec<ModeEquation> {
    let set: Vec<VarId> = reinits.iter().map(|reinit| reinit.var).collect();
    let suspended = structure.map_or_else(Vec::new, |structure| structure.suspended_by(model, &set));
    let kept = active.filter(|id| !suspended.contains(id));
    let data = kept.map(|id| &model.equations[model.stands_for(id)]);
    data.map(|equation| ModeEquation {
        residual: equation.residual,
        origin: equation.origin,
    })
    .collect()
}
