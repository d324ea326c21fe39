//! `reinit` as equations of an instant: what is set, and what does not hold meanwhile.

use std::sync::Arc;

use saltus_mdae::{ExprId, OriginId, VarId};
use saltus_structure::mode::Valuation;
use saltus_structure::restart::ModeEquation;

use crate::engine::Engine;
use crate::events::candidate::Reinit;

impl Engine {
    /// The equations of a transient mode: those that its guards select, less the ones that give the derivatives of
    /// states set by `reinit`.
    pub(crate) fn transient_equations(&mut self, valuation: &Valuation, reinits: &[Reinit]) -> Vec<ModeEquation> {
        let set: Vec<VarId> = reinits.iter().map(|reinit| reinit.var).collect();
        let dropped = match self.mode_of(valuation) {
            Ok(mode) => self.modes[mode].structure.suspended_by(&self.model, &set),
            Err(_) => Vec::new(),
        };
        self.compiled
            .modes()
            .active(valuation)
            .filter(|equation| !dropped.contains(equation))
            .map(|equation| {
                let data = &self.model.equations[self.model.stands_for(equation)];
                ModeEquation {
                    residual: data.residual,
                    origin: data.origin,
                }
            })
            .collect()
    }

    /// `reinit(x, e)` as the restart equation x⁺ = e, with the continuous variables of e taken before the event:
    /// `reinit(v, -v)` turns the velocity round.
    pub(crate) fn reinit_equations(&mut self, reinits: &[Reinit]) -> Vec<(ExprId, OriginId)> {
        let mut equations = Vec::new();
        for reinit in reinits {
            let model = Arc::clone(&self.model);
            let before = self.pool.left_limit(reinit.value, |var| model.is_unknown(var));
            let target = self.pool.der_var(reinit.var, reinit.order);
            equations.push((self.pool.sub(target, before), reinit.origin));
        }
        equations
    }
}
