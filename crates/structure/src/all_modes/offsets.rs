//! The smallest offsets c and d in all modes: the Hungarian method on sets.
//!
//! When a search is stuck, the rows it has reached outnumber the columns by one, so every solution has higher offsets on all
//! of them than those found so far; they rise by one together. So the offsets are the smallest ones in every mode.

use super::matching::{Edges, SetMatching, Sets, Ways};
use super::space::{ModeSet, ModeSpace};
use super::system::{Incidence, Piecewise, add, highest};

/// Offsets by row and by unknown, and the edges that are tight: c + σ = d.
pub(super) struct Offsets<'a> {
    incidence: &'a Incidence,
    pub c: Vec<Piecewise>,
    pub d: Vec<Piecewise>,
    tight: Vec<Option<Edges>>,
}

impl<'a> Offsets<'a> {
    /// c = 0, d the highest order anywhere.
    pub(super) fn new(space: &mut ModeSpace, incidence: &'a Incidence) -> Self {
        let mut orders = vec![Piecewise::new(); incidence.alive.len()];
        for row in &incidence.orders {
            for (&unknown, parts) in row {
                for (&order, &modes) in parts {
                    add(space, &mut orders[unknown as usize], order, modes);
                }
            }
        }
        let zero = |&modes: &ModeSet| {
            let present = (!modes.is_empty()).then_some((0, modes));
            present.into_iter().collect()
        };
        Offsets {
            c: incidence.guard.iter().map(zero).collect(),
            d: orders.iter().map(|parts| highest(space, parts)).collect(),
            tight: vec![None; incidence.guard.len()],
            incidence,
        }
    }

    /// The smallest offsets of a system that is regular in every mode, and a matching that is tight for them.
    pub(super) fn solve(mut self, space: &mut ModeSpace) -> (Self, SetMatching) {
        let incidence = self.incidence;
        let mut matching = SetMatching::new(incidence.guard.clone(), incidence.alive.clone());
        let order = rows_by_width(incidence);
        for &row in &order {
            let edges = self.edges(space, row);
            matching.greedy(space, row, &edges);
        }
        for &row in &order {
            if !matching.free_row[row as usize].is_empty() && !space.is_exhausted() {
                matching.search(space, row, &mut self);
            }
        }
        (self, matching)
    }

    fn tight(&self, space: &mut ModeSpace, row: u32, unknown: u32) -> ModeSet {
        let mut tight = ModeSet::NONE;
        for (&order, &modes) in &self.incidence.orders[row as usize][&unknown] {
            for (&c, &rows) in &self.c[row as usize] {
                if let Some(&columns) = self.d[unknown as usize].get(&(c + order)) {
                    let both = space.and(rows, columns);
                    let part = space.and(modes, both);
                    tight = space.or(tight, part);
                }
            }
        }
        tight
    }
}

/// Rows with few entries first.
pub(super) fn rows_by_width(incidence: &Incidence) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..incidence.orders.len() as u32).collect();
    rows.sort_by_key(|&row| incidence.orders[row as usize].len());
    rows
}

impl Ways for Offsets<'_> {
    fn edges(&mut self, space: &mut ModeSpace, row: u32) -> Edges {
        if let Some(known) = &self.tight[row as usize] {
            return known.clone();
        }
        let unknowns: Vec<u32> = self.incidence.orders[row as usize].keys().copied().collect();
        let edges = unknowns
            .into_iter()
            .map(|unknown| (unknown, self.tight(space, row, unknown)));
        let edges: Edges = edges.filter(|(_, modes)| !modes.is_empty()).collect();
        self.tight[row as usize] = Some(edges.clone());
        edges
    }

    fn stuck(&mut self, space: &mut ModeSpace, rows: &Sets, columns: &Sets, active: ModeSet) -> ModeSet {
        for (&row, &modes) in rows {
            let modes = space.and(modes, active);
            if !modes.is_empty() {
                self.c[row as usize] = raised(space, &self.c[row as usize], modes);
                self.tight[row as usize] = None;
            }
        }
        for (&unknown, &modes) in columns {
            let modes = space.and(modes, active);
            if !modes.is_empty() {
                self.d[unknown as usize] = raised(space, &self.d[unknown as usize], modes);
                for &row in &self.incidence.rows_of[unknown as usize] {
                    self.tight[row as usize] = None;
                }
            }
        }
        active
    }
}

/// One more in some modes.
fn raised(space: &mut ModeSpace, parts: &Piecewise, modes: ModeSet) -> Piecewise {
    let mut all = Piecewise::new();
    for (&value, &set) in parts {
        let (stay, rise) = (space.and_not(set, modes), space.and(set, modes));
        for (value, set) in [(value, stay), (value + 1, rise)] {
            if !set.is_empty() {
                add(space, &mut all, value, set);
            }
        }
    }
    all
}
