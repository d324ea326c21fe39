//! Blocks that can be solved at one point of a reaction.

use std::collections::BTreeMap;

use saltus_graph::{Adjacency, Bipartite, Column, DulmageMendelsohn, Matcher, Matching, Part, Row};

use super::system::{Shifted, ShiftedEquation};

/// Pending equations over what is not known yet.
pub(super) struct Pending {
    equations: Vec<ShiftedEquation>,
    unknowns: Vec<Shifted>,
    graph: Bipartite,
    matching: Matching,
}

/// Equations and the unknowns they determine together.
pub(super) type SolvedBlock = (Vec<ShiftedEquation>, Vec<Shifted>);

impl Pending {
    /// `incidence` lists each equation with its unknowns.
    pub(super) fn new(incidence: &[(ShiftedEquation, Vec<Shifted>)]) -> Self {
        let mut column: BTreeMap<Shifted, Column> = BTreeMap::new();
        for &unknown in incidence.iter().flat_map(|(_, unknowns)| unknowns) {
            column.insert(unknown, Column(0));
        }
        for (i, slot) in column.values_mut().enumerate() {
            *slot = Column::from_index(i);
        }
        let rows = incidence
            .iter()
            .map(|(_, unknowns)| unknowns.iter().map(|unknown| column[unknown]));
        let graph = Bipartite::from_rows(column.len(), rows);
        let matching = Matcher::new().maximum(&graph);
        Pending {
            equations: incidence.iter().map(|&(equation, _)| equation).collect(),
            unknowns: column.into_keys().collect(),
            graph,
            matching,
        }
    }

    /// Size of a maximum matching.
    pub(super) fn rank(&self) -> usize {
        self.matching.len()
    }

    /// All unknowns.
    pub(super) fn unknowns(&self) -> &[Shifted] {
        &self.unknowns
    }

    /// The equations of the overdetermined part.
    pub(super) fn overdetermined(&self) -> Vec<ShiftedEquation> {
        let parts = DulmageMendelsohn::new(&self.graph, &self.matching);
        parts
            .rows(Part::Overdetermined)
            .map(|row| self.equations[row.index()])
            .collect()
    }

    /// The blocks of the well-determined part that need nothing else.
    pub(super) fn enabled(&self) -> Vec<SolvedBlock> {
        let parts = DulmageMendelsohn::new(&self.graph, &self.matching);
        let fine = parts.fine(&self.graph, &self.matching);
        let blocks = fine
            .well_determined
            .iter()
            .filter_map(|rows| self.closed_block(&parts, rows));
        blocks.collect()
    }

    fn closed_block(&self, parts: &DulmageMendelsohn, rows: &[Row]) -> Option<SolvedBlock> {
        if rows.iter().any(|&row| parts.part_of_row(row) != Part::WellDetermined) {
            return None;
        }
        let mut columns: Vec<Column> = rows.iter().filter_map(|&row| self.matching.column_of(row)).collect();
        columns.sort_unstable();
        let closed = rows
            .iter()
            .flat_map(|&row| self.graph.columns_of(row))
            .all(|column| columns.binary_search(column).is_ok());
        closed.then(|| {
            let equations = rows.iter().map(|row| self.equations[row.index()]).collect();
            let unknowns = columns.iter().map(|column| self.unknowns[column.index()]).collect();
            (equations, unknowns)
        })
    }
}
