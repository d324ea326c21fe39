//! Dulmage–Mendelsohn in all modes: where there are too many equations, and where too few.

use std::collections::BTreeMap;

use super::groups::Groups;
use super::matching::{SetMatching, Sets, join};
use super::space::{ModeSet, ModeSpace};
use super::system::Incidence;

/// The over- and underdetermined parts, by row and by unknown: the modes in which they belong to them.
#[derive(Clone, Debug, Default)]
pub struct Decomposition {
    /// Equations among too many.
    pub over_rows: Vec<ModeSet>,
    /// The unknowns of these.
    pub over_unknowns: Vec<ModeSet>,
    /// Equations of unknowns that have too few.
    pub under_rows: Vec<ModeSet>,
    /// Unknowns with too few equations.
    pub under_unknowns: Vec<ModeSet>,
    /// The modes in which an equation finds no unknown.
    pub free_rows: Vec<ModeSet>,
    /// The modes in which an unknown finds no equation.
    pub free_unknowns: Vec<ModeSet>,
}

/// What is wrong at one place of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingularPlace {
    /// Whether there are too many equations; else there are too few.
    pub too_many: bool,
    /// The modes in which that is so.
    pub modes: ModeSet,
    /// The equations that take part, with the modes in which they do.
    pub rows: Vec<(usize, ModeSet)>,
    /// The unknowns, likewise.
    pub unknowns: Vec<(usize, ModeSet)>,
}

impl Decomposition {
    pub(super) fn new(space: &mut ModeSpace, incidence: &Incidence, matching: &SetMatching) -> Self {
        let (rows, unknowns) = (matching.row.len(), matching.column.len());
        let mut found = Decomposition {
            over_rows: vec![ModeSet::NONE; rows],
            over_unknowns: vec![ModeSet::NONE; unknowns],
            under_rows: vec![ModeSet::NONE; rows],
            under_unknowns: vec![ModeSet::NONE; unknowns],
            free_rows: matching.free_row.clone(),
            free_unknowns: matching.free_column.clone(),
        };
        let edges: Vec<Vec<(u32, ModeSet)>> = (0..rows).map(|row| incidence.edges(space, row)).collect();
        let mut users: Vec<Vec<(u32, ModeSet)>> = vec![Vec::new(); unknowns];
        for (row, edges) in edges.iter().enumerate() {
            for &(unknown, modes) in edges {
                users[unknown as usize].push((row as u32, modes));
            }
        }
        let spread = |space: &mut ModeSpace, free: &[ModeSet], edges: &[Vec<(u32, ModeSet)>], matched: &[Sets]| {
            alternating(space, free, edges, matched)
        };
        (found.over_rows, found.over_unknowns) = spread(space, &matching.free_row, &edges, &matching.column);
        (found.under_unknowns, found.under_rows) = spread(space, &matching.free_column, &users, &matching.row);
        found
    }

    /// The sets of singular modes, place by place: not united, so that each is about few conditions.
    pub fn singular_parts(&self) -> Vec<ModeSet> {
        let parts = self.free_rows.iter().chain(&self.free_unknowns).copied();
        let mut parts: Vec<ModeSet> = parts.filter(|set| !set.is_empty()).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// What is wrong, place by place: equations and unknowns that are connected in common modes.
    pub(super) fn places(&self, space: &mut ModeSpace, incidence: &Incidence) -> Vec<SingularPlace> {
        let many = (&self.over_rows, &self.over_unknowns, &self.free_rows);
        let few = (&self.under_rows, &self.under_unknowns, &self.free_unknowns);
        let mut places = Vec::new();
        for (too_many, (rows, unknowns, free)) in [(true, many), (false, few)] {
            for (members_rows, members_unknowns) in connected(space, incidence, rows, unknowns) {
                let seeds = if too_many { &members_rows } else { &members_unknowns };
                let modes = space.union(seeds.iter().map(|&at| free[at]));
                places.push(SingularPlace {
                    too_many,
                    modes,
                    rows: members_rows.into_iter().map(|at| (at, rows[at])).collect(),
                    unknowns: members_unknowns.into_iter().map(|at| (at, unknowns[at])).collect(),
                });
            }
        }
        places
    }
}

/// What is reached from free rows along edges and back along the matching: rows, then columns. For columns the same with
/// the two exchanged.
fn alternating(
    space: &mut ModeSpace,
    free: &[ModeSet],
    edges: &[Vec<(u32, ModeSet)>],
    matched: &[Sets],
) -> (Vec<ModeSet>, Vec<ModeSet>) {
    let mut rows = free.to_vec();
    let mut columns = vec![ModeSet::NONE; matched.len()];
    let start = free.iter().enumerate().filter(|(_, modes)| !modes.is_empty());
    let mut open: Sets = start.map(|(row, &modes)| (row as u32, modes)).collect();
    while let Some((row, modes)) = open.pop_first().filter(|_| !space.is_exhausted()) {
        for &(column, edge) in &edges[row as usize] {
            let fresh = space.and(modes, edge);
            let fresh = space.and_not(fresh, columns[column as usize]);
            if fresh.is_empty() {
                continue;
            }
            columns[column as usize] = space.or(columns[column as usize], fresh);
            for (&next, &modes) in &matched[column as usize] {
                let on = space.and(fresh, modes);
                let on = space.and_not(on, rows[next as usize]);
                if !on.is_empty() {
                    rows[next as usize] = space.or(rows[next as usize], on);
                    join(space, &mut open, next, on);
                }
            }
        }
    }
    (rows, columns)
}

/// Connected groups of rows and unknowns that are in the given sets, along entries in common modes.
fn connected(
    space: &mut ModeSpace,
    incidence: &Incidence,
    rows: &[ModeSet],
    unknowns: &[ModeSet],
) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut joined = Groups::new(rows.len() + unknowns.len());
    for (row, &modes) in rows.iter().enumerate().filter(|(_, modes)| !modes.is_empty()) {
        for (unknown, edge) in incidence.edges(space, row) {
            let common = space.and(modes, edge);
            if space.intersects(common, unknowns[unknown as usize]) {
                joined.join(row, rows.len() + unknown as usize);
            }
        }
    }
    let mut groups: BTreeMap<usize, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (row, _) in rows.iter().enumerate().filter(|(_, modes)| !modes.is_empty()) {
        groups.entry(joined.find(row)).or_default().0.push(row);
    }
    for (unknown, _) in unknowns.iter().enumerate().filter(|(_, modes)| !modes.is_empty()) {
        groups
            .entry(joined.find(rows.len() + unknown))
            .or_default()
            .1
            .push(unknown);
    }
    groups.into_values().collect()
}
