//! Propositional formulas: what guards and invariants say.

use std::collections::BTreeSet;

use saltus_mdae::{Idx, typed_index};

typed_index! {
    /// A predicate: something guards depend on.
    PredicateId,
}

/// A propositional formula over predicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A constant.
    Constant(bool),
    /// A predicate.
    Predicate(PredicateId),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Vec<Formula>),
    /// Disjunction.
    Or(Vec<Formula>),
}

impl Formula {
    /// The value if the known predicates decide it, whatever the others are (exactly, not approximately: the unknown
    /// predicates of the formula are tried one by one).
    pub fn decided(&self, valuation: &[Option<bool>]) -> Option<bool> {
        let unknown: Vec<PredicateId> = self
            .predicates()
            .into_iter()
            .filter(|predicate| valuation[predicate.index()].is_none())
            .collect();
        let mut trial = valuation.to_vec();
        let mut decided = None;
        for bits in 0u64..1 << unknown.len() {
            for (i, predicate) in unknown.iter().enumerate() {
                trial[predicate.index()] = Some(bits >> i & 1 == 1);
            }
            let value = self.value(&trial);
            if decided.is_some_and(|known| known != value) {
                return None;
            }
            decided = Some(value);
        }
        decided
    }

    /// The value under a complete valuation (missing predicates count as false).
    fn value(&self, valuation: &[Option<bool>]) -> bool {
        match self {
            Formula::Constant(value) => *value,
            Formula::Predicate(predicate) => valuation[predicate.index()].unwrap_or(false),
            Formula::Not(inner) => !inner.value(valuation),
            Formula::And(all) => all.iter().all(|part| part.value(valuation)),
            Formula::Or(any) => any.iter().any(|part| part.value(valuation)),
        }
    }

    /// The same with other numbers of its predicates; one without a number is false.
    pub(crate) fn renumbered(&self, number: &dyn Fn(PredicateId) -> Option<PredicateId>) -> Formula {
        let all = |parts: &[Formula]| parts.iter().map(|part| part.renumbered(number)).collect();
        match self {
            Formula::Constant(value) => Formula::Constant(*value),
            Formula::Predicate(predicate) => number(*predicate).map_or(Formula::Constant(false), Formula::Predicate),
            Formula::Not(inner) => Formula::Not(Box::new(inner.renumbered(number))),
            Formula::And(parts) => Formula::And(all(parts)),
            Formula::Or(parts) => Formula::Or(all(parts)),
        }
    }

    /// The predicates that occur.
    pub fn predicates(&self) -> BTreeSet<PredicateId> {
        let mut found = BTreeSet::new();
        self.collect(&mut found);
        found
    }
    fn collect(&self, found: &mut BTreeSet<PredicateId>) {
        match self {
            Formula::Constant(_) => {}
            Formula::Predicate(predicate) => {
                found.insert(*predicate);
            }
            Formula::Not(inner) => inner.collect(found),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| part.collect(found)),
        }
    }
}
