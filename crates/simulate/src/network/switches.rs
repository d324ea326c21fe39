//! From conditions to the guards that they change.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use saltus_mdae::{ConditionId, ExprId, ExprPool, Idx, Node, VarId};
use saltus_structure::mode::GuardId;

use crate::engine::Engine;

/// What reads a condition or a discrete variable.
#[derive(Clone, Debug, Default)]
struct Readers {
    /// Places of discrete equations in their order.
    steps: Vec<usize>,
    guards: Vec<GuardId>,
}

/// Who reads what.
#[derive(Clone, Debug)]
pub(crate) struct Switches {
    of_conditions: Vec<Readers>,
    of_variables: FxHashMap<VarId, Readers>,
    /// The discrete equations in the order in which they are computed; steps are places in it.
    order: Vec<usize>,
}

/// What a change of conditions has done to memory, and can be taken back.
#[derive(Debug, Default)]
pub(crate) struct Switched {
    /// Slots with the values before and after.
    pub values: Vec<(u32, f64, f64)>,
    /// Guards that have changed.
    pub guards: Vec<(GuardId, bool)>,
}

impl Switches {
    /// The readers of all conditions and discrete variables of a model.
    pub(crate) fn of(engine: &Engine) -> Self {
        let mut switches = Switches {
            of_conditions: vec![Readers::default(); engine.model.conditions.len()],
            of_variables: FxHashMap::default(),
            order: engine.discrete.definitions_in_order().collect(),
        };
        let modes = engine.compiled.modes();
        for guard in modes.guards() {
            switches.note(&engine.model.pool, &[modes.formula(guard)], |readers| {
                readers.guards.push(guard)
            });
        }
        for (step, &equation) in switches.order.clone().iter().enumerate() {
            let equation = &engine.model.discrete[equation];
            let roots = [equation.guard, equation.value];
            switches.note(&engine.model.pool, &roots, |readers| readers.steps.push(step));
        }
        switches
    }

    fn note(&mut self, pool: &ExprPool, roots: &[ExprId], mut add: impl FnMut(&mut Readers)) {
        for id in pool.reachable(roots) {
            match pool.node(id) {
                Node::Condition(condition) => add(&mut self.of_conditions[condition.index()]),
                Node::Var { var, .. } => add(self.of_variables.entry(var).or_default()),
                _ => {}
            }
        }
    }

    /// Turns conditions, and everything that follows from them, in memory.
    pub(crate) fn turn(&self, engine: &mut Engine, conditions: &[ConditionId]) -> Switched {
        let mut switched = Switched::default();
        let (mut steps, mut guards) = (BTreeSet::new(), BTreeSet::new());
        let mut read = |readers: &Readers, steps: &mut BTreeSet<usize>| {
            steps.extend(readers.steps.iter().copied());
            guards.extend(readers.guards.iter().copied());
        };
        for &condition in conditions {
            let slot = engine.memory.condition_slot(condition);
            let before = engine.memory.values[slot as usize];
            switched.values.push((slot, before, 1.0 - before));
            engine.memory.values[slot as usize] = 1.0 - before;
            read(&self.of_conditions[condition.index()], &mut steps);
        }
        // The steps are ordered: what one reads was computed before it.
        while let Some(step) = steps.pop_first() {
            let (var, value) = engine.discrete.definition(self.order[step], &engine.memory);
            let slot = engine.memory.slot(var, 0);
            let before = std::mem::replace(&mut engine.memory.values[slot as usize], value);
            if before == value {
                continue;
            }
            switched.values.push((slot, before, value));
            if let Some(readers) = self.of_variables.get(&var) {
                read(readers, &mut steps);
            }
        }
        let value = |&guard: &GuardId| engine.holds(guard);
        switched.guards = guards.iter().map(|guard| (*guard, value(guard))).collect();
        switched
    }
}

impl Switched {
    /// Puts back what was before.
    pub(crate) fn take_back(&self, engine: &mut Engine) {
        for &(slot, before, _) in self.values.iter().rev() {
            engine.memory.values[slot as usize] = before;
        }
    }

    /// Does it again.
    pub(crate) fn repeat(&self, engine: &mut Engine) {
        for &(slot, _, after) in &self.values {
            engine.memory.values[slot as usize] = after;
        }
    }
}
