//! Coefficients of impulses that must not jump.
//!
//! Where a law with impulses is not the derivative of anything, its result is sound only if the coefficients are the same
//! before and after the change (assumption 2 of *Hybrid and multi-mode systems*, LNCS). Algebraic variables have their values
//! after it once the mode is entered; so the check comes then.

use saltus_mdae::print::{UserNames, expression};
use saltus_mdae::{ExprId, OriginId};

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::report::Refusal;

/// A coefficient that changes by more than this part of the largest one of its equation jumps.
const CHANGE: f64 = 1e-6;

/// The coefficients of the impulses in one equation.
#[derive(Clone, Debug)]
pub(crate) struct Steady {
    pub coefficients: Vec<ExprId>,
    pub origin: OriginId,
}

impl Engine<'_> {
    /// Refuses a restart in which such a coefficient jumped.
    pub(crate) fn check_steady(&mut self) -> Result<(), Failure> {
        for steady in std::mem::take(&mut self.steady) {
            let mut values = Vec::new();
            for &coefficient in &steady.coefficients {
                let model = self.model;
                let before = self.pool.left_limit(coefficient, |var| model.is_unknown(var));
                values.push((self.value_of(before)?, self.value_of(coefficient)?));
            }
            let finite = |&&(before, after): &&(f64, f64)| before.is_finite() && after.is_finite();
            let sizes = values.iter().filter(finite).map(|(a, b)| a.abs().max(b.abs()));
            let size = sizes.fold(0.0, f64::max);
            let jumped = values
                .iter()
                .position(|(before, after)| (after - before).abs() > CHANGE * size);
            if let Some(at) = jumped {
                return Err(self.unsteady(&steady, at, values[at]));
            }
        }
        Ok(())
    }

    fn unsteady(&self, steady: &Steady, at: usize, (before, after): (f64, f64)) -> Failure {
        let names = UserNames::new(self.model);
        let coefficient = expression(&self.pool, &names, steady.coefficients[at]);
        Failure::new(FailureKind::Restart(Refusal {
            reason: format!(
                "the factor `{coefficient}` of an impulse jumps from {before} to {after}, and the equation is not the \
                 derivative of anything: the values after the change would depend on how it happens"
            ),
            origins: vec![steady.origin],
            help: vec![
                "write what the equation conserves under `der`, as in `der(m*v) = f`, or let the change take time (a \
                 resistance, a damper)"
                    .to_owned(),
            ],
        }))
    }
}
