//! Sets of modes: decision diagrams over the conditions of a model.
//!
//! Reduced and ordered, with complement edges, so that equal sets have equal numbers and the rest of a set costs nothing.
//! Nothing is collected while an analysis goes on; the space is dropped after it. The number of nodes and of steps is
//! limited: a space that is [exhausted](ModeSpace::is_exhausted) answers at once and wrongly, and whatever was computed with
//! it must be thrown away.

use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::Idx;

use crate::formula::{Formula, PredicateId};

/// A set of modes in a [`ModeSpace`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModeSet(u32);

impl ModeSet {
    /// Every mode.
    pub const ALL: ModeSet = ModeSet(0);
    /// No mode.
    pub const NONE: ModeSet = ModeSet(1);

    /// Whether no mode is in it.
    pub fn is_empty(self) -> bool {
        self == ModeSet::NONE
    }

    /// The other modes.
    #[must_use]
    pub fn complement(self) -> ModeSet {
        ModeSet(self.0 ^ 1)
    }

    fn is_complemented(self) -> bool {
        self.0 & 1 == 1
    }

    fn node(self) -> usize {
        (self.0 >> 1) as usize
    }
}

/// What an analysis may cost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Nodes of diagrams.
    pub nodes: usize,
    /// Steps of operations on them.
    pub steps: u64,
}

impl Default for Budget {
    /// About 100 MB and a few seconds.
    fn default() -> Self {
        Budget {
            nodes: 1 << 21,
            steps: 1 << 26,
        }
    }
}

/// The level of the two sets without a condition.
const TERMINAL: u32 = u32::MAX;

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
struct DiagramNode {
    level: u32,
    low: ModeSet,
    /// Never complemented.
    high: ModeSet,
}

/// The conditions of a model in an order, and sets of modes over them.
#[derive(Debug)]
pub struct ModeSpace {
    /// Conditions by level.
    order: Vec<PredicateId>,
    level_of: Vec<u32>,
    nodes: Vec<DiagramNode>,
    unique: FxHashMap<DiagramNode, u32>,
    conjunctions: FxHashMap<(ModeSet, ModeSet), ModeSet>,
    budget: Budget,
    steps: u64,
}

impl ModeSpace {
    /// A space over conditions, those that belong together next to each other.
    pub fn new(order: Vec<PredicateId>, budget: Budget) -> Self {
        let mut level_of = vec![0; order.len()];
        for (level, condition) in order.iter().enumerate() {
            level_of[condition.index()] = level as u32;
        }
        let terminal = DiagramNode {
            level: TERMINAL,
            low: ModeSet::ALL,
            high: ModeSet::ALL,
        };
        ModeSpace {
            order,
            level_of,
            nodes: vec![terminal],
            unique: FxHashMap::default(),
            conjunctions: FxHashMap::default(),
            budget,
            steps: 0,
        }
    }

    /// Whether the budget is used up: nothing that was computed counts.
    pub fn is_exhausted(&self) -> bool {
        self.steps > self.budget.steps || self.nodes.len() > self.budget.nodes
    }

    /// The number of conditions.
    pub fn conditions(&self) -> usize {
        self.order.len()
    }

    /// The condition at a level.
    pub fn condition_at(&self, level: u32) -> PredicateId {
        self.order[level as usize]
    }

    /// The modes in which a condition holds.
    pub fn literal(&mut self, condition: PredicateId) -> ModeSet {
        let level = self.level_of[condition.index()];
        self.make(level, ModeSet::NONE, ModeSet::ALL)
    }

    /// The modes in which a condition has a value.
    pub fn holds(&mut self, condition: PredicateId, value: bool) -> ModeSet {
        let literal = self.literal(condition);
        if value { literal } else { literal.complement() }
    }

    /// A mode of a set that is not empty, by condition; false where either value will do.
    pub fn first_mode(&self, set: ModeSet) -> Vec<bool> {
        let mut mode = vec![false; self.conditions()];
        let mut set = set;
        while self.level(set) != TERMINAL {
            let level = self.level(set);
            let (low, high) = self.cofactors(set, level);
            let value = low.is_empty();
            mode[self.condition_at(level).index()] = value;
            set = if value { high } else { low };
        }
        mode
    }

    fn make(&mut self, level: u32, low: ModeSet, high: ModeSet) -> ModeSet {
        if low == high {
            return low;
        }
        if high.is_complemented() {
            return self.make(level, low.complement(), high.complement()).complement();
        }
        let node = DiagramNode { level, low, high };
        let next = self.nodes.len() as u32;
        let number = *self.unique.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        ModeSet(number << 1)
    }

    /// The level of the first condition of a set; behind all levels for the sets without one.
    pub fn level(&self, set: ModeSet) -> u32 {
        self.nodes[set.node()].level
    }

    /// What is left of a set where the condition of a level at or before its own is false, and where it is true.
    pub fn cofactors(&self, set: ModeSet, level: u32) -> (ModeSet, ModeSet) {
        let node = self.nodes[set.node()];
        if node.level != level {
            return (set, set);
        }
        if set.is_complemented() {
            (node.low.complement(), node.high.complement())
        } else {
            (node.low, node.high)
        }
    }

    /// The modes in both sets.
    pub fn and(&mut self, a: ModeSet, b: ModeSet) -> ModeSet {
        if a == b || b == ModeSet::ALL {
            return a;
        }
        if a == ModeSet::ALL {
            return b;
        }
        if a.is_empty() || b.is_empty() || a == b.complement() {
            return ModeSet::NONE;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.conjunctions.get(&key) {
            return known;
        }
        self.steps += 1;
        if self.is_exhausted() {
            return ModeSet::NONE;
        }
        let level = self.level(a).min(self.level(b));
        let ((a0, a1), (b0, b1)) = (self.cofactors(a, level), self.cofactors(b, level));
        let low = self.and(a0, b0);
        let high = self.and(a1, b1);
        let found = self.make(level, low, high);
        self.conjunctions.insert(key, found);
        found
    }

    /// The modes in either set.
    pub fn or(&mut self, a: ModeSet, b: ModeSet) -> ModeSet {
        self.and(a.complement(), b.complement()).complement()
    }

    /// The modes of the first set that are not in the second.
    pub fn and_not(&mut self, a: ModeSet, b: ModeSet) -> ModeSet {
        self.and(a, b.complement())
    }

    /// Whether some mode is in both sets.
    pub fn intersects(&mut self, a: ModeSet, b: ModeSet) -> bool {
        !self.and(a, b).is_empty()
    }

    /// Whether all modes of the first set are in the second.
    pub fn is_within(&mut self, a: ModeSet, b: ModeSet) -> bool {
        self.and_not(a, b).is_empty()
    }

    /// The modes in any of the sets.
    pub fn union(&mut self, sets: impl IntoIterator<Item = ModeSet>) -> ModeSet {
        sets.into_iter().fold(ModeSet::NONE, |all, set| self.or(all, set))
    }

    /// The modes in all of the sets, from the last condition to the first: each step touches the top of what is there.
    pub fn conjunction(&mut self, sets: impl IntoIterator<Item = ModeSet>) -> ModeSet {
        let mut sets: Vec<ModeSet> = sets.into_iter().collect();
        sets.sort_unstable_by_key(|&set| (std::cmp::Reverse(self.level(set)), set));
        sets.dedup();
        sets.into_iter().fold(ModeSet::ALL, |all, set| self.and(all, set))
    }

    /// The modes in which the first condition of nothing else decides: `high` where it holds, `low` where it does not.
    fn choose(&mut self, level: u32, low: ModeSet, high: ModeSet) -> ModeSet {
        if self.level(low).min(self.level(high)) > level {
            return self.make(level, low, high);
        }
        let condition = self.make(level, ModeSet::NONE, ModeSet::ALL);
        let (low, high) = (self.and_not(low, condition), self.and(high, condition));
        self.or(low, high)
    }

    /// The modes in which a formula holds.
    pub fn formula(&mut self, formula: &Formula) -> ModeSet {
        match formula {
            Formula::Constant(true) => ModeSet::ALL,
            Formula::Constant(false) => ModeSet::NONE,
            Formula::Predicate(condition) => self.literal(*condition),
            Formula::Not(inner) => self.formula(inner).complement(),
            Formula::And(parts) => parts.iter().fold(ModeSet::ALL, |all, part| {
                let part = self.formula(part);
                self.and(all, part)
            }),
            Formula::Or(parts) => parts.iter().fold(ModeSet::NONE, |all, part| {
                let part = self.formula(part);
                self.or(all, part)
            }),
        }
    }

    /// A set in which every mode outside `care` is as one inside it: f composed with a map of all modes into `care` that is
    /// the identity there (Coudert and Madre). It commutes with all operations on sets.
    pub fn constrain(&mut self, set: ModeSet, care: ModeSet) -> ModeSet {
        let mut known = FxHashMap::default();
        self.constrain_by(set, care, &mut known)
    }

    fn constrain_by(
        &mut self,
        set: ModeSet,
        care: ModeSet,
        known: &mut FxHashMap<(ModeSet, ModeSet), ModeSet>,
    ) -> ModeSet {
        if care == ModeSet::ALL || set == ModeSet::ALL || set.is_empty() {
            return set;
        }
        if let Some(&found) = known.get(&(set, care)) {
            return found;
        }
        self.steps += 1;
        if self.is_exhausted() {
            return ModeSet::NONE;
        }
        let level = self.level(set).min(self.level(care));
        let ((low, high), (without, with)) = (self.cofactors(set, level), self.cofactors(care, level));
        let found = if without.is_empty() {
            self.constrain_by(high, with, known)
        } else if with.is_empty() {
            self.constrain_by(low, without, known)
        } else {
            let low = self.constrain_by(low, without, known);
            let high = self.constrain_by(high, with, known);
            self.choose(level, low, high)
        };
        known.insert((set, care), found);
        found
    }

    /// The conditions on which a set depends, in their order.
    pub fn support(&self, set: ModeSet) -> Vec<PredicateId> {
        let mut levels: Vec<u32> = self
            .nodes_of([set])
            .into_iter()
            .map(|at| self.nodes[at].level)
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels.into_iter().map(|level| self.condition_at(level)).collect()
    }

    /// The number of nodes of some sets together.
    pub fn size(&self, sets: impl IntoIterator<Item = ModeSet>) -> usize {
        self.nodes_of(sets).len()
    }

    fn nodes_of(&self, sets: impl IntoIterator<Item = ModeSet>) -> FxHashSet<usize> {
        let mut met = FxHashSet::default();
        let mut open: Vec<usize> = sets.into_iter().map(ModeSet::node).collect();
        while let Some(at) = open.pop() {
            if at != 0 && met.insert(at) {
                open.extend([self.nodes[at].low.node(), self.nodes[at].high.node()]);
            }
        }
        met
    }

    /// The number of modes in a set.
    pub fn count(&self, set: ModeSet) -> BigUint {
        let conditions = self.order.len() as u32;
        let level = |at: usize| self.nodes[at].level.min(conditions);
        let mut nodes: Vec<usize> = self.nodes_of([set]).into_iter().collect();
        nodes.sort_unstable_by_key(|&at| (std::cmp::Reverse(level(at)), at));
        // How many of the valuations of the conditions from its own on are in each node.
        let mut counts: FxHashMap<usize, BigUint> = FxHashMap::default();
        counts.insert(0, BigUint::from(1u32));
        let of = |counts: &FxHashMap<usize, BigUint>, set: ModeSet, from: u32| {
            let own = level(set.node());
            let inside = &counts[&set.node()];
            let inside = if set.is_complemented() {
                (BigUint::from(1u32) << (conditions - own)) - inside
            } else {
                inside.clone()
            };
            inside << (own - from)
        };
        for at in nodes {
            let DiagramNode { level, low, high } = self.nodes[at];
            let count = of(&counts, low, level + 1) + of(&counts, high, level + 1);
            counts.insert(at, count);
        }
        of(&counts, set, 0)
    }

    /// Whether a mode is in a set.
    pub fn contains(&self, set: ModeSet, mode: impl Fn(PredicateId) -> bool) -> bool {
        let mut set = set;
        while self.level(set) != TERMINAL {
            let level = self.level(set);
            let (low, high) = self.cofactors(set, level);
            set = if mode(self.condition_at(level)) { high } else { low };
        }
        set == ModeSet::ALL
    }

    /// A set where one condition has a value.
    pub fn given(&mut self, set: ModeSet, condition: PredicateId, value: bool) -> ModeSet {
        let level = self.level_of[condition.index()];
        let mut known = FxHashMap::default();
        self.given_at(set, level, value, &mut known)
    }

    fn given_at(&mut self, set: ModeSet, at: u32, value: bool, known: &mut FxHashMap<ModeSet, ModeSet>) -> ModeSet {
        let level = self.level(set);
        if level > at {
            return set;
        }
        let (low, high) = self.cofactors(set, level);
        if level == at {
            return if value { high } else { low };
        }
        if let Some(&found) = known.get(&set) {
            return found;
        }
        self.steps += 1;
        if self.is_exhausted() {
            return ModeSet::NONE;
        }
        let low = self.given_at(low, at, value, known);
        let high = self.given_at(high, at, value, known);
        let found = self.make(level, low, high);
        known.insert(set, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use saltus_testing::Random;

    use super::*;

    /// Truth tables over six conditions as numbers, and the same by diagrams.
    #[test]
    fn sets_are_what_truth_tables_say() {
        const CONDITIONS: usize = 6;
        let mut random = Random(7);
        for _ in 0..50 {
            let mut order: Vec<PredicateId> = (0..CONDITIONS).map(PredicateId::from_usize).collect();
            random.shuffle(&mut order);
            let mut space = ModeSpace::new(order, Budget::default());
            let mut known: Vec<(ModeSet, u64)> = vec![(ModeSet::ALL, u64::MAX), (ModeSet::NONE, 0)];
            for condition in 0..CONDITIONS {
                let table = (0..64)
                    .filter(|mode| mode >> condition & 1 == 1)
                    .fold(0, |all, mode| all | 1 << mode);
                known.push((space.literal(PredicateId::from_usize(condition)), table));
            }
            for _ in 0..60 {
                let (a, of_a) = random.of(&known);
                let (b, of_b) = random.of(&known);
                let made = match random.below(4) {
                    0 => (space.and(a, b), of_a & of_b),
                    1 => (space.or(a, b), of_a | of_b),
                    2 => (space.and_not(a, b), of_a & !of_b),
                    _ => (a.complement(), !of_a),
                };
                known.push(made);
                let constrained = space.constrain(a, b);
                assert_eq!(
                    space.and(constrained, b),
                    space.and(a, b),
                    "constrain changes nothing inside"
                );
            }
            for &(set, table) in &known {
                for mode in 0..64u64 {
                    let holds = space.contains(set, |condition| mode >> condition.index() & 1 == 1);
                    assert_eq!(holds, table >> mode & 1 == 1);
                }
                assert_eq!(space.count(set), u64::from(table.count_ones()).into());
                for &(other, other_table) in &known {
                    assert_eq!(set == other, table == other_table, "equal sets have equal numbers");
                }
            }
        }
    }
}
