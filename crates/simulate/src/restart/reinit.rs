//! `reinit` as equations of an instant: what does not hold while it sets states.

use saltus_instant::discrete::{Reinit, equations_less};
use saltus_structure::mode::Valuation;
use saltus_structure::restart::ModeEquation;

use crate::engine::Engine;

impl Engine {
    /// The equations of a transient mode.
    pub(crate) fn transient_equations(&mut self, valuation: &Valuation, reinits: &[Reinit]) -> Vec<ModeEquation> {
        let mode = self.mode_of(valuation).ok();
        let structure = mode.map(|mode| &*self.modes[mode].structure);
        let active = self.compiled.modes().active(valuation);
        equations_less(&self.model, active, structure, reinits)
    }
}
