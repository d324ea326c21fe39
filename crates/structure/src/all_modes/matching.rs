//! A matching of equations with unknowns in all modes: augmenting searches that are carried out in sets of modes.
//!
//! Restricted to one mode a search is the usual one by breadth, so what is known of that holds mode by mode. Two rules keep
//! the sets about nearby conditions: greedy choices that depend on earlier ones are left to the search, and among ends and
//! ways one that serves all modes comes before several that serve parts of them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::space::{ModeSet, ModeSpace};

/// Sets of modes by number of a row or column; empty sets are left out.
pub(super) type Sets = BTreeMap<u32, ModeSet>;

/// The columns of a row with the modes in which it may be matched to them.
pub(super) type Edges = Rc<[(u32, ModeSet)]>;

/// Where a search may go.
pub(super) trait Ways {
    /// The columns of a row with the modes in which it may be matched to them.
    fn edges(&mut self, space: &mut ModeSpace, row: u32) -> Edges;

    /// When nothing is left to be reached: the modes with which to go on after more ways were opened.
    fn stuck(&mut self, space: &mut ModeSpace, rows: &Sets, columns: &Sets, active: ModeSet) -> ModeSet;
}

/// Which row is matched to which column in which modes.
#[derive(Clone, Debug, Default)]
pub(super) struct SetMatching {
    pub row: Vec<Sets>,
    pub column: Vec<Sets>,
    /// The modes in which a row is active and unmatched.
    pub free_row: Vec<ModeSet>,
    /// The modes in which a column is there and unmatched.
    pub free_column: Vec<ModeSet>,
}

/// How a column was reached: in which layer, from which row, in which modes.
type Reached = (u32, u32, ModeSet);

impl SetMatching {
    /// Nothing is matched yet.
    pub(super) fn new(rows: Vec<ModeSet>, columns: Vec<ModeSet>) -> Self {
        SetMatching {
            row: vec![Sets::new(); rows.len()],
            column: vec![Sets::new(); columns.len()],
            free_row: rows,
            free_column: columns,
        }
    }

    fn connect(&mut self, space: &mut ModeSpace, row: u32, column: u32, modes: ModeSet) {
        let known = self.row[row as usize].get(&column).copied().unwrap_or(ModeSet::NONE);
        let all = space.or(known, modes);
        self.row[row as usize].insert(column, all);
        self.column[column as usize].insert(row, all);
    }

    fn separate(&mut self, space: &mut ModeSpace, row: u32, column: u32, modes: ModeSet) {
        let known = self.row[row as usize].get(&column).copied().unwrap_or(ModeSet::NONE);
        let rest = space.and_not(known, modes);
        if rest.is_empty() {
            self.row[row as usize].remove(&column);
            self.column[column as usize].remove(&row);
        } else {
            self.row[row as usize].insert(column, rest);
            self.column[column as usize].insert(row, rest);
        }
    }

    /// Matches a row to columns that are free in all modes in which it could use them.
    pub(super) fn greedy(&mut self, space: &mut ModeSpace, row: u32, edges: &[(u32, ModeSet)]) {
        for &(column, modes) in edges {
            let free = self.free_row[row as usize];
            if free.is_empty() {
                return;
            }
            let wanted = space.and(free, modes);
            if !wanted.is_empty() && space.is_within(wanted, self.free_column[column as usize]) {
                self.connect(space, row, column, wanted);
                self.take(space, row, column, wanted);
            }
        }
    }

    fn take(&mut self, space: &mut ModeSpace, row: u32, column: u32, modes: ModeSet) {
        let free_row = &mut self.free_row[row as usize];
        *free_row = space.and_not(*free_row, modes);
        let free_column = &mut self.free_column[column as usize];
        *free_column = space.and_not(*free_column, modes);
    }

    /// One augmenting search from a row, in all modes in which it is free.
    pub(super) fn search(&mut self, space: &mut ModeSpace, root: u32, ways: &mut dyn Ways) {
        let mut active = self.free_row[root as usize];
        let mut search = Search::default();
        search.rows.insert(root, active);
        let mut frontier = Sets::from([(root, active)]);
        while !active.is_empty() && !space.is_exhausted() {
            while !frontier.is_empty() && !active.is_empty() && !space.is_exhausted() {
                (frontier, active) = search.layer(space, self, ways, &frontier, active);
            }
            if active.is_empty() {
                break;
            }
            active = ways.stuck(space, &search.rows, &search.columns, active);
            let left = search.rows.iter().map(|(&row, &modes)| (row, space.and(modes, active)));
            frontier = left.filter(|(_, modes)| !modes.is_empty()).collect();
        }
        self.augment(space, root, &search);
    }

    /// Turns the ways that were found round, backwards by layers, so that parts that meet again are one set again.
    fn augment(&mut self, space: &mut ModeSpace, root: u32, search: &Search) {
        let mut pending: BTreeMap<u32, BTreeMap<(u32, u32), ModeSet>> = BTreeMap::new();
        for &(column, modes) in &search.found {
            self.take(space, root, column, modes);
            search.push(space, &mut pending, column, modes);
        }
        while let Some((_, turned)) = pending.pop_last().filter(|_| !space.is_exhausted()) {
            for ((column, row), modes) in turned {
                let before: Vec<(u32, ModeSet)> = self.row[row as usize].iter().map(|(&c, &m)| (c, m)).collect();
                for (other, matched) in before {
                    let moved = space.and(matched, modes);
                    if !moved.is_empty() {
                        self.separate(space, row, other, moved);
                        search.push(space, &mut pending, other, moved);
                    }
                }
                self.connect(space, row, column, modes);
            }
        }
    }
}

/// What a search has reached. In each active mode every reached column was reached once, and layers fall on the way back.
#[derive(Default)]
struct Search {
    rows: Sets,
    columns: Sets,
    before: BTreeMap<u32, Vec<Reached>>,
    found: Vec<(u32, ModeSet)>,
    layers: u32,
}

impl Search {
    /// One layer: what is reached from the frontier, and the modes that have not ended in a free column.
    fn layer(
        &mut self,
        space: &mut ModeSpace,
        matching: &SetMatching,
        ways: &mut dyn Ways,
        frontier: &Sets,
        mut active: ModeSet,
    ) -> (Sets, ModeSet) {
        self.layers += 1;
        let mut reach: BTreeMap<u32, Vec<(u32, ModeSet)>> = BTreeMap::new();
        for (&row, &modes) in frontier {
            let modes = space.and(modes, active);
            if modes.is_empty() {
                continue;
            }
            for &(column, edge) in ways.edges(space, row).iter() {
                let mut fresh = space.and(modes, edge);
                if let Some(&known) = self.columns.get(&column) {
                    fresh = space.and_not(fresh, known);
                }
                if !fresh.is_empty() {
                    reach.entry(column).or_default().push((row, fresh));
                }
            }
        }
        active = self.end(space, matching, &reach, active);
        let mut next = Sets::new();
        if active.is_empty() {
            return (next, active);
        }
        for (column, mut from) in reach {
            if from.len() > 1 {
                let whole = space.union(from.iter().map(|&(_, modes)| modes));
                from.sort_by_key(|&(_, modes)| modes != whole);
            }
            for (row, modes) in from {
                let mut fresh = space.and(modes, active);
                if let Some(&known) = self.columns.get(&column) {
                    fresh = space.and_not(fresh, known);
                }
                if fresh.is_empty() {
                    continue;
                }
                self.reach(space, column, row, fresh);
                for (&matched, &modes) in &matching.column[column as usize] {
                    let on = space.and(fresh, modes);
                    if !on.is_empty() {
                        join(space, &mut next, matched, on);
                        join(space, &mut self.rows, matched, on);
                    }
                }
            }
        }
        (next, active)
    }

    /// Ends in free columns, one for all modes before several for parts of them; the modes that have found none.
    fn end(
        &mut self,
        space: &mut ModeSpace,
        matching: &SetMatching,
        reach: &BTreeMap<u32, Vec<(u32, ModeSet)>>,
        mut active: ModeSet,
    ) -> ModeSet {
        let mut ends: Vec<(usize, u32, u32, ModeSet)> = Vec::new();
        for (&column, from) in reach {
            for &(row, modes) in from {
                let free = space.and(modes, matching.free_column[column as usize]);
                if !free.is_empty() {
                    let rank = if free == active { 0 } else { space.size([free]) };
                    ends.push((rank, column, row, free));
                }
            }
        }
        ends.sort_by_key(|&(rank, ..)| rank);
        for (_, column, row, modes) in ends {
            let modes = space.and(modes, active);
            if !modes.is_empty() {
                self.reach(space, column, row, modes);
                self.found.push((column, modes));
                active = space.and_not(active, modes);
            }
        }
        active
    }

    fn reach(&mut self, space: &mut ModeSpace, column: u32, row: u32, modes: ModeSet) {
        join(space, &mut self.columns, column, modes);
        self.before.entry(column).or_default().push((self.layers, row, modes));
    }

    /// Hands modes of a column to the rows from which it was reached.
    fn push(
        &self,
        space: &mut ModeSpace,
        pending: &mut BTreeMap<u32, BTreeMap<(u32, u32), ModeSet>>,
        column: u32,
        mut modes: ModeSet,
    ) {
        for &(layer, row, reached) in self.before.get(&column).map_or(&[][..], Vec::as_slice) {
            let part = space.and(modes, reached);
            if !part.is_empty() {
                let known = pending
                    .entry(layer)
                    .or_default()
                    .entry((column, row))
                    .or_insert(ModeSet::NONE);
                *known = space.or(*known, part);
                modes = space.and_not(modes, part);
            }
        }
        debug_assert!(
            modes.is_empty() || space.is_exhausted(),
            "a column was reached in these modes"
        );
    }
}

/// Adds modes to a set by number.
pub(super) fn join(space: &mut ModeSpace, sets: &mut Sets, at: u32, modes: ModeSet) {
    let known = sets.entry(at).or_insert(ModeSet::NONE);
    *known = space.or(*known, modes);
}
