//! What one step of the discrete computation does.

use saltus_mdae::{Mdae, VarId, WhenId};

use super::order::DiscreteStep;

/// Where the values of an instant come from, and where they go. Discrete variables begin as they were before the instant.
pub trait DiscreteValues {
    /// Whether a discrete equation applies.
    fn applies(&mut self, equation: usize) -> bool;
    /// The value that a discrete equation gives; none leaves its variable as it is.
    fn defined(&mut self, equation: usize) -> Option<f64>;
    /// Whether a condition of a branch became true with this instant.
    fn became_true(&mut self, when: WhenId, branch: usize, condition: usize) -> bool;
    /// The assignments of a branch, of values before any of them is made; then the equations that it solves.
    fn act(&mut self, when: WhenId, branch: usize);
    /// Whether variables that a condition reads are others than before the instant.
    fn reads_changed(&mut self, condition: saltus_mdae::ConditionId) -> bool;
    /// Gives a condition the truth value that follows from the discrete variables.
    fn follow(&mut self, condition: saltus_mdae::ConditionId);
    /// Gives a discrete variable a value.
    fn assign(&mut self, target: VarId, value: f64);
}

/// Computes one step. Of a when-clause the first branch acts that has a condition which became true; it is returned.
pub fn compute(model: &Mdae, step: DiscreteStep, values: &mut impl DiscreteValues) -> Option<usize> {
    match step {
        DiscreteStep::Equation(at) => {
            if values.applies(at)
                && let Some(value) = values.defined(at)
            {
                values.assign(model.discrete[at].target, value);
            }
            None
        }
        DiscreteStep::When(id) => {
            let branches = model.whens[id].branches.iter().enumerate();
            let mut counted = branches.map(|(at, branch)| (at, branch.conditions.len()));
            let (acting, _) = counted.find(|&(at, count)| (0..count).any(|k| values.became_true(id, at, k)))?;
            values.act(id, acting);
            Some(acting)
        }
        DiscreteStep::Condition(id) => {
            if values.reads_changed(id) {
                values.follow(id);
            }
            None
        }
    }
}
