//! Parts of a system that have nothing to do with each other. What happens in one at an instant does not depend on the
//! others, so each is looked at by itself: ten pairs of conditions are ten times four valuations, not 2^20.

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::{Idx, VarId};

use super::system::System;
use crate::formula::{Formula, PredicateId};

/// Variables and predicates that are joined.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Variable(VarId),
    Predicate(PredicateId),
}

#[derive(Default)]
struct Groups(BTreeMap<Item, Item>);

impl Groups {
    fn find(&mut self, item: Item) -> Item {
        let mut root = item;
        while let Some(&next) = self.0.get(&root).filter(|next| **next != root) {
            root = next;
        }
        self.0.insert(item, root);
        root
    }

    fn join(&mut self, items: impl IntoIterator<Item = Item>) {
        let mut items = items.into_iter();
        let Some(first) = items.next() else { return };
        let mut root = self.find(first);
        for item in items {
            let other = self.find(item);
            let (low, high) = (root.min(other), root.max(other));
            self.0.insert(high, low);
            root = low;
        }
    }
}

impl System {
    /// The parts, each with the numbers that its predicates have in the whole. Equations keep their numbers; those of other
    /// parts hold nowhere.
    pub fn parts(&self) -> Vec<(System, Vec<PredicateId>)> {
        let mut groups = Groups::default();
        let variables = |list: &[super::Shifted]| list.iter().map(|&(var, _)| Item::Variable(var)).collect::<Vec<_>>();
        for equation in &self.equations {
            let guards = equation.guard.predicates().into_iter().map(Item::Predicate);
            groups.join(variables(&equation.variables).into_iter().chain(guards));
        }
        for (at, reads) in self.predicates.iter().enumerate() {
            groups.join(
                [Item::Predicate(PredicateId::from_usize(at))]
                    .into_iter()
                    .chain(variables(reads)),
            );
        }
        for invariant in &self.invariants {
            groups.join(invariant.predicates().into_iter().map(Item::Predicate));
        }
        let of_equations: Vec<Option<Item>> = self
            .equations
            .iter()
            .map(|equation| variables(&equation.variables).first().map(|&item| groups.find(item)))
            .collect();
        let roots: BTreeSet<Item> = of_equations.iter().flatten().copied().collect();
        roots
            .into_iter()
            .map(|root| self.part(root, &of_equations, &mut groups))
            .collect()
    }

    fn part(&self, root: Item, of_equations: &[Option<Item>], groups: &mut Groups) -> (System, Vec<PredicateId>) {
        let all = (0..self.predicates.len()).map(PredicateId::from_usize);
        let own: Vec<PredicateId> = all.filter(|&id| groups.find(Item::Predicate(id)) == root).collect();
        let is_own = |formula: &Formula| {
            let about = formula.predicates();
            !about.is_empty() && about.iter().all(|predicate| own.contains(predicate))
        };
        let mut part = System {
            equations: self.equations.clone(),
            predicates: self.predicates.clone(),
            invariants: self
                .invariants
                .iter()
                .filter(|invariant| is_own(invariant))
                .cloned()
                .collect(),
            known_initially: self.known_initially.clone(),
        };
        for (equation, of) in part.equations.iter_mut().zip(of_equations) {
            if *of != Some(root) {
                equation.variables.clear();
                equation.guard = Formula::Constant(false);
                equation.sides = None;
            }
        }
        part.renumber(&own);
        (part, own)
    }
}
