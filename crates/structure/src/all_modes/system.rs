//! What is looked at: guarded equations by their signatures, and the order of the conditions.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use saltus_mdae::Idx;

use super::groups::Groups;
use super::space::{ModeSet, ModeSpace};
use crate::formula::{Formula, PredicateId};

/// A value in each of some modes: the sets are disjoint.
pub type Piecewise = BTreeMap<u16, ModeSet>;

/// A derivative of an unknown in an equation.
#[derive(Clone, Debug)]
pub struct GuardedEntry {
    /// The unknown.
    pub unknown: u32,
    /// The order of the derivative.
    pub order: u16,
    /// The modes, among those of the equation, in which it occurs. Of several orders the highest counts.
    pub when: Formula,
}

/// An equation.
#[derive(Clone, Debug)]
pub struct GuardedRow {
    /// The modes in which it is active.
    pub guard: Formula,
    /// What occurs in it.
    pub entries: Vec<GuardedEntry>,
}

/// The equations of all modes.
#[derive(Clone, Debug, Default)]
pub struct GuardedSystem {
    /// The number of conditions.
    pub conditions: usize,
    /// What holds of the conditions in every possible mode.
    pub invariants: Vec<Formula>,
    /// The number of unknowns. One that occurs in no active equation of a mode is dead there.
    pub unknowns: usize,
    /// The equations.
    pub rows: Vec<GuardedRow>,
}

/// Invariants about more conditions than this are not put into the equations.
const MOST_IN_CLUSTER: usize = 24;

/// A system by sets of modes.
#[derive(Clone, Debug, Default)]
pub(super) struct Incidence {
    /// The modes of each row.
    pub guard: Vec<ModeSet>,
    /// The orders of each unknown in a row.
    pub orders: Vec<BTreeMap<u32, Piecewise>>,
    /// The rows in which an unknown occurs.
    pub rows_of: Vec<Vec<u32>>,
    /// The modes in which an unknown occurs anywhere.
    pub alive: Vec<ModeSet>,
}

impl Incidence {
    /// Reads a system. Impossible modes get the structure of possible ones: cut out instead they would be singular, and that
    /// would spread through the model.
    pub(super) fn new(system: &GuardedSystem, space: &mut ModeSpace) -> Self {
        let clusters = Clusters::new(system, space);
        let mut known: FxHashMap<ModeSet, ModeSet> = FxHashMap::default();
        let mut possible =
            |space: &mut ModeSpace, set: ModeSet| *known.entry(set).or_insert_with(|| clusters.possible(space, set));
        let mut incidence = Incidence {
            rows_of: vec![Vec::new(); system.unknowns],
            alive: vec![ModeSet::NONE; system.unknowns],
            ..Incidence::default()
        };
        for (at, row) in system.rows.iter().enumerate() {
            let guard = space.formula(&row.guard);
            incidence.guard.push(possible(space, guard));
            let mut orders: BTreeMap<u32, Piecewise> = BTreeMap::new();
            for entry in &row.entries {
                let when = space.formula(&entry.when);
                let modes = space.and(guard, when);
                let modes = possible(space, modes);
                if !modes.is_empty() {
                    add(space, orders.entry(entry.unknown).or_default(), entry.order, modes);
                }
            }
            for (&unknown, parts) in &mut orders {
                *parts = highest(space, parts);
                let alive = space.union(parts.values().copied());
                let known = &mut incidence.alive[unknown as usize];
                *known = space.or(*known, alive);
                incidence.rows_of[unknown as usize].push(at as u32);
            }
            incidence.orders.push(orders);
        }
        incidence
    }

    /// What is left of it in some modes of each row and unknown.
    pub(super) fn within(&self, space: &mut ModeSpace, rows: &[ModeSet], unknowns: &[ModeSet]) -> Self {
        let mut cut = Incidence {
            guard: rows.to_vec(),
            orders: Vec::with_capacity(rows.len()),
            rows_of: vec![Vec::new(); unknowns.len()],
            alive: unknowns.to_vec(),
        };
        for (at, orders) in self.orders.iter().enumerate() {
            let mut kept = BTreeMap::new();
            for (&unknown, parts) in orders {
                let modes = space.and(rows[at], unknowns[unknown as usize]);
                let parts = parts.iter().map(|(&order, &set)| (order, space.and(set, modes)));
                let parts: Piecewise = parts.filter(|(_, set)| !set.is_empty()).collect();
                if !parts.is_empty() {
                    cut.rows_of[unknown as usize].push(at as u32);
                    kept.insert(unknown, parts);
                }
            }
            cut.orders.push(kept);
        }
        cut
    }

    /// The unknowns of a row with the modes in which they occur in it.
    pub(super) fn edges(&self, space: &mut ModeSpace, row: usize) -> Vec<(u32, ModeSet)> {
        let edges = self.orders[row].iter();
        edges
            .map(|(&unknown, parts)| (unknown, space.union(parts.values().copied())))
            .collect()
    }
}

/// Adds modes to those of a value.
pub(super) fn add(space: &mut ModeSpace, parts: &mut Piecewise, value: u16, modes: ModeSet) {
    let known = parts.entry(value).or_insert(ModeSet::NONE);
    *known = space.or(*known, modes);
}

/// In each mode the highest of the values.
pub(super) fn highest(space: &mut ModeSpace, parts: &Piecewise) -> Piecewise {
    let (mut covered, mut kept) = (ModeSet::NONE, Piecewise::new());
    for (&value, &modes) in parts.iter().rev() {
        let modes = space.and_not(modes, covered);
        if !modes.is_empty() {
            kept.insert(value, modes);
            covered = space.or(covered, modes);
        }
    }
    kept
}

/// Invariants that share conditions, with the modes in which they hold together where they are about few of them.
struct Clusters {
    of: Vec<Option<usize>>,
    possible: Vec<ModeSet>,
}

impl Clusters {
    fn new(system: &GuardedSystem, space: &mut ModeSpace) -> Self {
        let conditions: Vec<Vec<PredicateId>> = system
            .invariants
            .iter()
            .map(|invariant| invariant.predicates().into_iter().collect())
            .collect();
        let mut joined = Groups::new(system.conditions);
        for about in &conditions {
            for pair in about.windows(2) {
                joined.join(pair[0].index(), pair[1].index());
            }
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, about) in conditions.iter().enumerate() {
            if let Some(first) = about.first() {
                members.entry(joined.find(first.index())).or_default().push(at);
            }
        }
        let mut clusters = Clusters {
            of: vec![None; system.conditions],
            possible: Vec::new(),
        };
        for invariants in members.values() {
            let mut about: Vec<PredicateId> = invariants.iter().flat_map(|&at| conditions[at].clone()).collect();
            about.sort_unstable();
            about.dedup();
            if about.len() > MOST_IN_CLUSTER {
                continue;
            }
            let sets: Vec<ModeSet> = invariants
                .iter()
                .map(|&at| space.formula(&system.invariants[at]))
                .collect();
            let possible = space.conjunction(sets);
            // Invariants that contradict each other say nothing.
            if !possible.is_empty() {
                for condition in about {
                    clusters.of[condition.index()] = Some(clusters.possible.len());
                }
                clusters.possible.push(possible);
            }
        }
        clusters
    }

    fn possible(&self, space: &mut ModeSpace, set: ModeSet) -> ModeSet {
        let about = space.support(set);
        let mut clusters: Vec<usize> = about
            .iter()
            .filter_map(|condition| self.of[condition.index()])
            .collect();
        clusters.sort_unstable();
        clusters.dedup();
        clusters
            .into_iter()
            .fold(set, |set, cluster| space.constrain(set, self.possible[cluster]))
    }
}

/// An order of the conditions in which those that meet in an equation, or in equations with common unknowns, are near each
/// other: by breadth through equations, from an end that two sweeps find.
pub(super) fn condition_order(system: &GuardedSystem) -> Vec<PredicateId> {
    let items = Items::new(system);
    let mut done = vec![false; items.of_row.len()];
    let mut order = Vec::new();
    for row in 0..items.of_row.len() {
        if done[row] {
            continue;
        }
        let far = items.sweep(row, None).last;
        let far = items.sweep(far, None).last;
        order.extend(items.sweep(far, Some(&mut done)).conditions);
    }
    let mut met = vec![false; system.conditions];
    for condition in &order {
        met[condition.index()] = true;
    }
    let others = (0..system.conditions).filter(|&at| !met[at]);
    order.extend(others.map(PredicateId::from_usize));
    order
}

/// Conditions and unknowns by number: conditions first.
struct Items {
    conditions: usize,
    of_row: Vec<Vec<usize>>,
    rows_of: Vec<Vec<usize>>,
}

struct Sweep {
    conditions: Vec<PredicateId>,
    last: usize,
}

impl Items {
    fn new(system: &GuardedSystem) -> Self {
        let conditions = system.conditions;
        let of_equations = system.rows.iter().map(|row| {
            let formulas = std::iter::once(&row.guard).chain(row.entries.iter().map(|entry| &entry.when));
            let of_formulas = formulas.flat_map(Formula::predicates).map(Idx::index);
            let mut items: Vec<usize> = of_formulas
                .chain(row.entries.iter().map(|entry| conditions + entry.unknown as usize))
                .collect();
            items.sort_unstable();
            items.dedup();
            items
        });
        let of_invariants = system
            .invariants
            .iter()
            .map(|invariant| invariant.predicates().into_iter().map(Idx::index).collect());
        let of_row: Vec<Vec<usize>> = of_equations.chain(of_invariants).collect();
        let mut rows_of = vec![Vec::new(); conditions + system.unknowns];
        for (row, items) in of_row.iter().enumerate() {
            for &item in items {
                rows_of[item].push(row);
            }
        }
        Items {
            conditions,
            of_row,
            rows_of,
        }
    }

    fn sweep(&self, start: usize, mut done: Option<&mut Vec<bool>>) -> Sweep {
        let mut seen_rows = rustc_hash::FxHashSet::default();
        let mut seen_items = rustc_hash::FxHashSet::default();
        seen_rows.insert(start);
        let (mut layer, mut conditions, mut last) = (vec![start], Vec::new(), start);
        while !layer.is_empty() {
            last = layer[layer.len() - 1];
            let mut next = Vec::new();
            for &row in &layer {
                if let Some(done) = &mut done {
                    done[row] = true;
                }
                let mut items = self.of_row[row].clone();
                items.sort_by_key(|&item| (item >= self.conditions, self.rows_of[item].len(), item));
                for item in items {
                    if !seen_items.insert(item) {
                        continue;
                    }
                    if item < self.conditions {
                        conditions.push(PredicateId::from_usize(item));
                    }
                    next.extend(self.rows_of[item].iter().copied().filter(|&row| seen_rows.insert(row)));
                }
            }
            layer = next;
        }
        Sweep { conditions, last }
    }
}
