//! What the change of one condition does, in all modes in which it may happen.
//!
//! Two things can be said of sets. Where no constraint is new or stricter, no unknown becomes a state and none ceases to be one,
//! all states keep their values. Where a change from outside brings constraints of states by themselves (c = 1, about values
//! that all have a past), and everything that is connected is linear, the restart system has the structure of the new mode,
//! which is regular: it is determined, what the constraint is matched to jumps, and what is solved with it is impulsive. The
//! rest is left to the analysis of single mode changes.

use std::collections::BTreeSet;

use saltus_mdae::Idx;

use super::AllModes;
use super::space::ModeSet;
use super::system::Piecewise;
use crate::formula::PredicateId;

/// Nodes of sets that are looked at to know what depends on which condition.
const MOST_NODES: usize = 1 << 23;
/// Equations that are gone through from a constraint on the way to an impulsive unknown.
const MOST_STEPS: usize = 200;

/// A condition that changes.
#[derive(Copy, Clone, Debug)]
pub struct ConditionChange<'a> {
    /// The condition.
    pub condition: PredicateId,
    /// Its value after the change.
    pub becomes: bool,
    /// Whether the values of unknowns have no say in it.
    pub from_outside: bool,
    /// Rows whose value, not only their presence, depends on the condition.
    pub switched: &'a [u32],
    /// By row: whether it and all that it is connected with is linear in what may be impulsive.
    pub is_linear: &'a [bool],
    /// By row: whether another row says the same.
    pub is_doubled: &'a [bool],
}

/// Modes by what a change does in them. They do not depend on the condition that changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ChangedModes {
    /// Where the change is one of the mode at all, from a regular mode to a possible one.
    pub happens: ModeSet,
    /// The mode entered is singular.
    pub singular: ModeSet,
    /// All states keep their values.
    pub kept: ModeSet,
    /// It is determined, states jump, and something is impulsive.
    pub impulsive: ModeSet,
    /// Structure by itself does not say.
    pub open: ModeSet,
}

/// What depends on each condition.
#[derive(Clone, Debug, Default)]
pub struct Dependents {
    rows: Vec<Vec<u32>>,
    unknowns: Vec<Vec<u32>>,
    singular: Vec<Vec<ModeSet>>,
    possible: Vec<Vec<ModeSet>>,
}

/// A set before and after the change.
type Sides = (ModeSet, ModeSet);

impl AllModes {
    /// What depends on each condition; `None` if the sets are too large to be looked at one by one.
    pub fn dependents(&self) -> Option<Dependents> {
        let conditions = self.space.conditions();
        let mut left = MOST_NODES;
        let mut found = Dependents {
            rows: vec![Vec::new(); conditions],
            unknowns: vec![Vec::new(); conditions],
            singular: vec![Vec::new(); conditions],
            possible: vec![Vec::new(); conditions],
        };
        for (row, guard) in self.incidence.guard.iter().enumerate() {
            let orders = self.incidence.orders[row].values().flat_map(|parts| parts.values());
            let sets = orders.chain(self.c[row].values()).chain([guard]);
            for condition in self.conditions_of(sets.copied(), &mut left)? {
                found.rows[condition.index()].push(row as u32);
            }
        }
        for (unknown, parts) in self.d.iter().enumerate() {
            for condition in self.conditions_of(parts.values().copied(), &mut left)? {
                found.unknowns[condition.index()].push(unknown as u32);
            }
        }
        for part in self.decomposition.singular_parts() {
            for condition in self.conditions_of([part], &mut left)? {
                found.singular[condition.index()].push(part);
            }
        }
        for &possible in &self.possible {
            for condition in self.conditions_of([possible], &mut left)? {
                found.possible[condition.index()].push(possible);
            }
        }
        Some(found)
    }

    fn conditions_of(
        &self,
        sets: impl IntoIterator<Item = ModeSet>,
        left: &mut usize,
    ) -> Option<BTreeSet<PredicateId>> {
        let mut found = BTreeSet::new();
        for set in sets {
            *left = left.checked_sub(self.space.size([set]))?;
            found.extend(self.space.support(set));
        }
        Some(found)
    }

    /// What a change does, by modes.
    pub fn changed_modes(&mut self, dependents: &Dependents, change: ConditionChange) -> ChangedModes {
        let at = change.condition.index();
        let mut look = Look {
            all: self,
            change,
            happens: ModeSet::NONE,
            restarts: ModeSet::NONE,
            unclear: ModeSet::NONE,
            constraints: Vec::new(),
        };
        for &row in &dependents.rows[at] {
            look.row(row);
        }
        for &row in change.switched {
            look.switched(row);
        }
        for &unknown in &dependents.unknowns[at] {
            look.unknown(unknown);
        }
        let mut happens = look.happens;
        for &possible in &dependents.possible[at] {
            let (old, new) = look.sides(possible);
            let both = look.all.space.and(old, new);
            happens = look.all.space.and(happens, both);
        }
        let mut singular = ModeSet::NONE;
        for &part in &dependents.singular[at] {
            let (old, new) = look.sides(part);
            happens = look.all.space.and_not(happens, old);
            singular = look.all.space.or(singular, new);
        }
        singular = look.all.space.and(singular, happens);
        let regular = look.all.space.and_not(happens, singular);
        let impulsive = look.impulsive(regular);
        let restarts = look.all.space.and(look.restarts, regular);
        let kept = look.all.space.and_not(regular, restarts);
        let open = look.all.space.and_not(restarts, impulsive);
        ChangedModes {
            happens,
            singular,
            kept,
            impulsive,
            open,
        }
    }

    /// The modes in which an unknown occurs in a row with its leading derivative.
    fn tight(&mut self, row: u32, unknown: u32) -> ModeSet {
        let Some(orders) = self.incidence.orders[row as usize].get(&unknown) else {
            return ModeSet::NONE;
        };
        let mut tight = ModeSet::NONE;
        for (&order, &modes) in orders {
            for (&c, &rows) in &self.c[row as usize] {
                if let Some(&columns) = self.d[unknown as usize].get(&(c + order)) {
                    let both = self.space.and(rows, columns);
                    let part = self.space.and(modes, both);
                    tight = self.space.or(tight, part);
                }
            }
        }
        tight
    }
}

struct Look<'a, 'b> {
    all: &'a mut AllModes,
    change: ConditionChange<'b>,
    happens: ModeSet,
    /// Where right limits of states may differ from their left limits.
    restarts: ModeSet,
    /// Where more than constraints of states by themselves is new.
    unclear: ModeSet,
    /// Such constraints, with the modes in which they are new.
    constraints: Vec<(u32, ModeSet)>,
}

impl Look<'_, '_> {
    fn sides(&mut self, set: ModeSet) -> Sides {
        let ConditionChange { condition, becomes, .. } = self.change;
        let old = self.all.space.given(set, condition, !becomes);
        (old, self.all.space.given(set, condition, becomes))
    }

    fn parts(&mut self, parts: &Piecewise) -> Vec<(u16, Sides)> {
        parts.iter().map(|(&value, &set)| (value, self.sides(set))).collect()
    }

    /// Modes in which a value was at least `least` before, or is after.
    fn at_least(&mut self, parts: &[(u16, Sides)], least: u16, after: bool) -> ModeSet {
        let parts = parts.iter().filter(|(value, _)| *value >= least);
        let sets = parts.map(|&(_, (old, new))| if after { new } else { old });
        self.all.space.union(sets)
    }

    fn note(&mut self, modes: ModeSet) {
        self.restarts = self.all.space.or(self.restarts, modes);
        self.unclear = self.all.space.or(self.unclear, modes);
    }

    /// Constraints that are new or stricter, and those that are gone.
    fn row(&mut self, row: u32) {
        let guard = self.all.incidence.guard[row as usize];
        let (active_before, active_after) = self.sides(guard);
        let comes = self.all.space.and_not(active_after, active_before);
        let goes = self.all.space.and_not(active_before, active_after);
        let changes = self.all.space.or(comes, goes);
        self.happens = self.all.space.or(self.happens, changes);
        let parts = self.all.c[row as usize].clone();
        let parts = self.parts(&parts);
        for &(value, (before, after)) in parts.iter().filter(|(value, _)| *value > 0) {
            let known = self.at_least(&parts, value, false);
            let stricter = self.all.space.and_not(after, known);
            self.restarts = self.all.space.or(self.restarts, stricter);
            let fresh = self.all.space.and_not(stricter, active_before);
            let plain = if value == 1 && !self.change.is_doubled[row as usize] && self.change.is_linear[row as usize] {
                self.about_past_values(row, fresh)
            } else {
                ModeSet::NONE
            };
            if !plain.is_empty() {
                self.constraints.push((row, plain));
            }
            let rest = self.all.space.and_not(stricter, plain);
            self.unclear = self.all.space.or(self.unclear, rest);
            let still = self.at_least(&parts, value, true);
            let relaxed = self.all.space.and_not(before, still);
            self.unclear = self.all.space.or(self.unclear, relaxed);
        }
    }

    /// Of some modes those in which a row is about values that all have a past.
    fn about_past_values(&mut self, row: u32, modes: ModeSet) -> ModeSet {
        let mut plain = modes;
        for (unknown, orders) in self.all.incidence.orders[row as usize].clone() {
            let past = self.all.d[unknown as usize].clone();
            let past = self.parts(&past);
            for (order, occurs) in orders {
                let (_, occurs) = self.sides(occurs);
                let known = self.at_least(&past, order + 1, false);
                let young = self.all.space.and_not(occurs, known);
                plain = self.all.space.and_not(plain, young);
            }
        }
        plain
    }

    /// The condition stands inside the row, which is differentiated in some modes.
    fn switched(&mut self, row: u32) {
        let parts = self.all.c[row as usize].clone();
        let parts = self.parts(&parts);
        let before = self.at_least(&parts, 1, false);
        let after = self.at_least(&parts, 1, true);
        self.happens = self.all.space.or(self.happens, before);
        self.note(before);
        self.note(after);
    }

    /// What has less of a past than it needs, and states that an equation gives from now on.
    fn unknown(&mut self, unknown: u32) {
        let parts = self.all.d[unknown as usize].clone();
        let parts = self.parts(&parts);
        let alive = self.at_least(&parts, 0, true);
        for &(value, (before, after)) in parts.iter().filter(|(value, _)| *value > 0) {
            let known = self.at_least(&parts, value, false);
            let younger = self.all.space.and_not(after, known);
            self.note(younger);
            let still = self.at_least(&parts, value, true);
            let gone = self.all.space.and_not(before, still);
            let released = self.all.space.and(gone, alive);
            self.note(released);
        }
    }

    /// Of regular modes those in which the change is one of constraints of states, and brings impulses.
    fn impulsive(&mut self, regular: ModeSet) -> ModeSet {
        if !self.change.from_outside {
            return ModeSet::NONE;
        }
        let within = self.all.space.and_not(regular, self.unclear);
        let mut found = ModeSet::NONE;
        for (row, modes) in std::mem::take(&mut self.constraints) {
            let modes = self.all.space.and(modes, within);
            let modes = self.all.space.and_not(modes, found);
            if !modes.is_empty() {
                let reached = self.reaches_algebraic(row, modes);
                found = self.all.space.or(found, reached);
            }
        }
        found
    }

    /// The modes in which an unknown without derivative is solved with what a row is matched to.
    fn reaches_algebraic(&mut self, root: u32, modes: ModeSet) -> ModeSet {
        let ConditionChange { condition, becomes, .. } = self.change;
        let holds = self.all.space.literal(condition);
        let holds = if becomes { holds } else { holds.complement() };
        let start = self.all.space.and(modes, holds);
        let (mut found, mut met) = (ModeSet::NONE, std::collections::BTreeMap::from([(root, start)]));
        let mut open = std::collections::VecDeque::from([(root, start)]);
        for _ in 0..MOST_STEPS {
            let Some((row, modes)) = open.pop_front() else { break };
            for (unknown, matched) in self.all.tight.row[row as usize].clone() {
                let modes = self.all.space.and(modes, matched);
                let modes = self.all.space.and_not(modes, found);
                if modes.is_empty() {
                    continue;
                }
                let algebraic = self.all.d[unknown as usize].get(&0).copied().unwrap_or(ModeSet::NONE);
                let ends = self.all.space.and(modes, algebraic);
                found = self.all.space.or(found, ends);
                let on = self.all.space.and_not(modes, ends);
                for user in self.all.incidence.rows_of[unknown as usize].clone() {
                    let uses = self.all.tight(user, unknown);
                    let mut fresh = self.all.space.and(on, uses);
                    let known = met.entry(user).or_insert(ModeSet::NONE);
                    fresh = self.all.space.and_not(fresh, *known);
                    if !fresh.is_empty() {
                        *known = self.all.space.or(*known, fresh);
                        open.push_back((user, fresh));
                    }
                }
            }
            if found == start {
                break;
            }
        }
        let found = self.all.space.given(found, condition, becomes);
        self.all.space.and(found, modes)
    }
}
