//! What can be a state: a list for those who must know it before any mode is entered.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashSet;
use saltus_mdae::{Derivative, Idx};
use saltus_structure::mode::{ModeStructure, Valuation, analyze_mode};

use crate::compiled::Compiled;

impl Compiled {
    /// Derivatives of variables that can be states: those below the highest ones that the equations mention, and what is a
    /// state or could be chosen as one in a mode among the first `most` that are found by changing guards one by one.
    pub fn state_candidates(&self, most: usize) -> Vec<Derivative> {
        let mut found: BTreeSet<Derivative> = BTreeSet::new();
        for Derivative { var, order } in self.derivatives_in_use() {
            found.insert(Derivative::new(var, order - 1));
        }
        self.each_mode(most, |structure| {
            for (&var, &highest) in structure.unknowns.iter().zip(&structure.sigma.d) {
                found.extend((0..highest).map(|order| Derivative::new(var, order)));
            }
        });
        found.into_iter().collect()
    }

    /// Goes through modes that have a structure, from the one in which no guard holds on.
    fn each_mode(&self, most: usize, mut visit: impl FnMut(&ModeStructure)) {
        let (model, modes) = (self.model(), self.modes());
        let guards: Vec<_> = modes.guards().collect();
        let mut queue = VecDeque::from([
            Valuation::all_false(modes),
            Valuation::from_fn(modes, |_| true),
            Valuation::from_fn(modes, |guard| guard.index() % 2 == 0),
            Valuation::from_fn(modes, |guard| guard.index() % 2 == 1),
        ]);
        let mut seen: FxHashSet<Valuation> = FxHashSet::default();
        while let Some(valuation) = queue.pop_front() {
            if !seen.insert(valuation.clone()) {
                continue;
            }
            if let Ok(structure) = analyze_mode(model, modes, &valuation) {
                visit(&structure);
            }
            if seen.len() >= most {
                return;
            }
            for &changed in &guards {
                if queue.len() + seen.len() > 2 * most {
                    break;
                }
                let flip = |guard| valuation.get(guard) != (guard == changed);
                queue.push_back(Valuation::from_fn(modes, flip));
            }
        }
    }
}
