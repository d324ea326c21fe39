//! Which equations are too many, and which unknowns are left over: a maximum matching of the incidence.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flat::{
    EquationKind, FlatEquation, FlatExpr, FlatModel, ProvenanceId, ScalarType, VariableId, collect_assigned,
};

/// Larger models are not searched: the message would come late and name no more.
const SIZE_LIMIT: usize = 50_000;

/// What stands in the way of a square model.
#[derive(Debug, Default)]
pub(super) struct Culprits {
    /// Equations without any unknown.
    pub idle: Vec<ProvenanceId>,
    /// Equations of which some are too many.
    pub surplus: Vec<ProvenanceId>,
    /// Unknowns of which some are not determined.
    pub open: Vec<VariableId>,
}

/// An equation and the unknowns in it.
struct Row {
    provenance: ProvenanceId,
    unknowns: Vec<VariableId>,
}

pub(super) fn culprits(model: &FlatModel) -> Culprits {
    let mut rows = Vec::new();
    model
        .equations
        .iter()
        .for_each(|equation| collect_rows(model, equation, &mut rows));
    for algorithm in &model.algorithms {
        let mut assigned = FxHashSet::default();
        collect_assigned(&algorithm.statements, &mut assigned);
        let mut assigned: Vec<VariableId> = assigned.into_iter().collect();
        assigned.sort_unstable();
        rows.extend(assigned.into_iter().map(|variable| Row {
            provenance: algorithm.provenance,
            unknowns: vec![variable],
        }));
    }
    if rows.len() > SIZE_LIMIT {
        return Culprits::default();
    }
    let matching = Matching::maximum(&rows);
    let idle = |row: &usize| rows[*row].unknowns.is_empty();
    let surplus = matching.rows_around(&rows, matching.free_rows.iter().copied().filter(|row| !idle(row)));
    Culprits {
        idle: matching
            .free_rows
            .iter()
            .filter(|row| idle(row))
            .map(|&row| rows[row].provenance)
            .collect(),
        surplus: surplus.into_iter().map(|row| rows[row].provenance).collect(),
        open: matching.unknowns_around(&rows, model),
    }
}

/// The n-th equations of the branches of an if-equation share a row; so do those of a when-clause.
fn collect_rows(model: &FlatModel, equation: &FlatEquation, rows: &mut Vec<Row>) {
    let provenance = equation.provenance;
    let mut shared = |bodies: Vec<&[FlatEquation]>| {
        let mut joined: Vec<Row> = Vec::new();
        for body in bodies {
            let mut own = Vec::new();
            body.iter().for_each(|inner| collect_rows(model, inner, &mut own));
            for (position, row) in own.into_iter().enumerate() {
                match joined.get_mut(position) {
                    Some(known) => known.unknowns.extend(row.unknowns),
                    None => joined.push(row),
                }
            }
        }
        rows.extend(joined);
    };
    match &equation.kind {
        EquationKind::Equal(lhs, _) if lhs.scalar_type(model) == ScalarType::Clock => {}
        EquationKind::Equal(lhs, rhs) => {
            let mut unknowns = Vec::new();
            for side in [lhs, rhs] {
                side.walk(&mut |expr| match expr {
                    FlatExpr::Variable(id) if model.variables[*id].is_unknown() => unknowns.push(*id),
                    _ => {}
                });
            }
            unknowns.sort_unstable();
            unknowns.dedup();
            rows.push(Row { provenance, unknowns });
        }
        EquationKind::If { branches, otherwise } => {
            shared(branches.iter().map(|b| &b.body[..]).chain([&otherwise[..]]).collect());
        }
        EquationKind::When { branches } => shared(branches.iter().map(|b| &b.body[..]).collect()),
        _ => {}
    }
}

struct Matching {
    row_of: FxHashMap<VariableId, usize>,
    free_rows: Vec<usize>,
}

impl Matching {
    fn maximum(rows: &[Row]) -> Self {
        let mut matching = Matching {
            row_of: FxHashMap::default(),
            free_rows: Vec::new(),
        };
        for row in 0..rows.len() {
            if !matching.augment(rows, row) {
                matching.free_rows.push(row);
            }
        }
        matching
    }

    /// Breadth-first augmenting path from a row.
    fn augment(&mut self, rows: &[Row], start: usize) -> bool {
        let mut reached_from: FxHashMap<VariableId, usize> = FxHashMap::default();
        let mut entered_by: FxHashMap<usize, VariableId> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(row) = queue.pop_front() {
            for &unknown in &rows[row].unknowns {
                if reached_from.contains_key(&unknown) {
                    continue;
                }
                reached_from.insert(unknown, row);
                if let Some(&other) = self.row_of.get(&unknown) {
                    entered_by.insert(other, unknown);
                    queue.push_back(other);
                    continue;
                }
                let mut end = unknown;
                loop {
                    let row = reached_from[&end];
                    self.row_of.insert(end, row);
                    match entered_by.get(&row) {
                        Some(&before) if row != start => end = before,
                        _ => return true,
                    }
                }
            }
        }
        false
    }

    /// The rows that compete with free ones for the same unknowns, in order.
    fn rows_around(&self, rows: &[Row], free: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut queue: VecDeque<usize> = free.collect();
        let mut found: FxHashSet<usize> = queue.iter().copied().collect();
        while let Some(row) = queue.pop_front() {
            for unknown in &rows[row].unknowns {
                if let Some(&other) = self.row_of.get(unknown)
                    && found.insert(other)
                {
                    queue.push_back(other);
                }
            }
        }
        let mut found: Vec<usize> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// The unknowns that compete with those left over for the same rows, in order.
    fn unknowns_around(&self, rows: &[Row], model: &FlatModel) -> Vec<VariableId> {
        let mut rows_with: FxHashMap<VariableId, Vec<usize>> = FxHashMap::default();
        let mut unknown_of: FxHashMap<usize, VariableId> = FxHashMap::default();
        for (at, row) in rows.iter().enumerate() {
            row.unknowns
                .iter()
                .for_each(|&unknown| rows_with.entry(unknown).or_default().push(at));
        }
        self.row_of.iter().for_each(|(&unknown, &row)| {
            unknown_of.insert(row, unknown);
        });
        let mut queue: VecDeque<VariableId> = model.unknowns().filter(|v| !self.row_of.contains_key(v)).collect();
        let mut found: FxHashSet<VariableId> = queue.iter().copied().collect();
        while let Some(unknown) = queue.pop_front() {
            for row in rows_with.get(&unknown).into_iter().flatten() {
                if let Some(&other) = unknown_of.get(row)
                    && found.insert(other)
                {
                    queue.push_back(other);
                }
            }
        }
        let mut found: Vec<VariableId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}
