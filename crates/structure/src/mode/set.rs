//! States that are set at an instant: which equations do not hold meanwhile.

use rustc_hash::FxHashSet;
use saltus_mdae::{EquationId, Mdae, VarId};

use crate::mode::ModeStructure;

impl ModeStructure {
    /// The equations that do not hold while `reinit` sets variables: those that give their derivatives. Where there is none,
    /// because a variable follows from a state (`y = 2*x; der(x) = -x` with `reinit(y, 12)`), it takes the place of that
    /// state, if there is one alone (8.3.6 of the specification: `stateSelect = always`).
    pub fn suspended_by(&self, model: &Mdae, set: &[VarId]) -> Vec<EquationId> {
        set.iter()
            .filter_map(|&var| self.suspended_by_one(model, var, set))
            .collect()
    }

    fn suspended_by_one(&self, model: &Mdae, var: VarId, set: &[VarId]) -> Option<EquationId> {
        let own = self.equation_giving(var)?;
        if self.is_rate(var, own) {
            return Some(own);
        }
        let mut seen: FxHashSet<VarId> = set.iter().copied().collect();
        let (mut open, mut rates) = (vec![own], Vec::new());
        while let Some(equation) = open.pop() {
            let residual = model.equations[model.stands_for(equation)].residual;
            for read in model.pool.occurrences(residual) {
                if !seen.insert(read.var) {
                    continue;
                }
                match self.equation_giving(read.var) {
                    Some(next) if self.is_rate(read.var, next) => rates.push(next),
                    Some(next) => open.push(next),
                    None => {}
                }
            }
        }
        match rates[..] {
            [one] => Some(one),
            _ => Some(own),
        }
    }

    /// The equation that the mode solves for an unknown.
    fn equation_giving(&self, var: VarId) -> Option<EquationId> {
        let mut equations = self.equations.iter().copied();
        equations.find(|&equation| self.matched_unknown(equation) == Some(var))
    }

    /// Whether that is an equation for the derivative of a state, and none that states have to meet.
    fn is_rate(&self, var: VarId, equation: EquationId) -> bool {
        self.d_of(var).is_some_and(|d| d > 0) && self.c_of(equation) == Some(0)
    }
}
