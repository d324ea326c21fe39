//! The Dulmage–Mendelsohn decomposition: which part of a system has too many rows, which too few.

use crate::bipartite::{Adjacency, Bipartite, transposed};
use crate::components::{Components, connected_components_where};
use crate::index::{Column, Row, columns, rows};
use crate::matching::Matching;
use crate::strong::{Blocks, block_triangular_order_of};

/// A part of the coarse decomposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// More rows than columns: the rows contradict or repeat each other.
    Overdetermined,
    /// As many rows as columns, perfectly matched.
    WellDetermined,
    /// More columns than rows: some columns are free.
    Underdetermined,
}

/// The coarse decomposition. It depends on the graph alone, not on the maximum matching used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DulmageMendelsohn {
    part_of_row: Vec<Part>,
    part_of_column: Vec<Part>,
}

impl DulmageMendelsohn {
    /// Decomposes a graph given a *maximum* matching.
    pub fn new(graph: &impl Adjacency, matching: &Matching) -> Self {
        let mut parts = Self {
            part_of_row: vec![Part::WellDetermined; graph.row_count()],
            part_of_column: vec![Part::WellDetermined; graph.column_count()],
        };
        let over = alternating_search(graph, matching, matching.unmatched_rows());
        over.rows
            .iter()
            .for_each(|r| parts.part_of_row[r.index()] = Part::Overdetermined);
        over.columns
            .iter()
            .for_each(|c| parts.part_of_column[c.index()] = Part::Overdetermined);
        if matching.len() < graph.column_count() {
            parts.mark_underdetermined(&transposed(graph), matching);
        }
        parts
    }

    fn mark_underdetermined(&mut self, transposed: &Bipartite, matching: &Matching) {
        let free = matching.unmatched_columns().map(|column| Row(column.0));
        let under = alternating_search(transposed, &matching.transposed(), free);
        for column in under.rows {
            self.part_of_column[column.index()] = Part::Underdetermined;
        }
        for row in under.columns {
            self.part_of_row[row.index()] = Part::Underdetermined;
        }
    }

    /// The part of a row.
    pub fn part_of_row(&self, row: Row) -> Part {
        self.part_of_row[row.index()]
    }

    /// The part of a column.
    pub fn part_of_column(&self, column: Column) -> Part {
        self.part_of_column[column.index()]
    }

    /// The rows of a part, in order.
    pub fn rows(&self, part: Part) -> impl Iterator<Item = Row> + '_ {
        rows(self.part_of_row.len()).filter(move |&row| self.part_of_row(row) == part)
    }

    /// The columns of a part, in order.
    pub fn columns(&self, part: Part) -> impl Iterator<Item = Column> + '_ {
        columns(self.part_of_column.len()).filter(move |&c| self.part_of_column(c) == part)
    }

    /// The fine decomposition, with the same maximum matching.
    pub fn fine(&self, graph: &impl Adjacency, matching: &Matching) -> FineDecomposition {
        // Columns of the other parts count as known to the well-determined rows.
        let mut well = Matching::empty(graph.row_count(), graph.column_count());
        for row in self.rows(Part::WellDetermined) {
            if let Some(column) = matching.column_of(row) {
                well.insert(row, column);
            }
        }
        let well_rows = self.rows(Part::WellDetermined);
        FineDecomposition {
            well_determined: block_triangular_order_of(graph, &well, well_rows),
            overdetermined: self.connected_parts(graph, Part::Overdetermined),
            underdetermined: self.connected_parts(graph, Part::Underdetermined),
        }
    }

    /// The connected pieces of one part, in order of their first row or column.
    fn connected_parts(&self, graph: &impl Adjacency, part: Part) -> Vec<AlternatingSet> {
        let components = connected_components_where(graph, |row, column| {
            self.part_of_row(row) == part && self.part_of_column(column) == part
        });
        let mut pieces = Pieces::new(&components);
        for row in self.rows(part) {
            pieces.of(components.of_row(row).index()).rows.push(row);
        }
        for column in self.columns(part) {
            pieces.of(components.of_column(column).index()).columns.push(column);
        }
        pieces.found
    }
}

/// Collects the members of components in order of first appearance.
struct Pieces {
    position: Vec<usize>,
    found: Vec<AlternatingSet>,
}

impl Pieces {
    fn new(components: &Components) -> Self {
        Self {
            position: vec![usize::MAX; components.len()],
            found: Vec::new(),
        }
    }

    fn of(&mut self, component: usize) -> &mut AlternatingSet {
        if self.position[component] == usize::MAX {
            self.position[component] = self.found.len();
            self.found.push(AlternatingSet::default());
        }
        &mut self.found[self.position[component]]
    }
}

/// The fine decomposition: each coarse part cut into irreducible pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FineDecomposition {
    /// Independent overdetermined pieces, each with more rows than columns.
    pub overdetermined: Vec<AlternatingSet>,
    /// The blocks of the well-determined part, dependencies first.
    pub well_determined: Blocks,
    /// Independent underdetermined pieces, each with more columns than rows.
    pub underdetermined: Vec<AlternatingSet>,
}

/// Rows and columns that belong together, each in increasing order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlternatingSet {
    /// The rows.
    pub rows: Vec<Row>,
    /// The columns.
    pub columns: Vec<Column>,
}

/// The rows in conflict with an unmatched row, under a maximum matching: `row` itself and the
/// matched rows of which any one could be given up in its favour. The set has one row more than
/// columns and no proper subset of it has (it is a circuit of the transversal matroid).
pub fn conflicting_set(graph: &impl Adjacency, matching: &Matching, row: Row) -> AlternatingSet {
    alternating_search(graph, matching, std::iter::once(row))
}

/// Everything on alternating paths from the given unmatched rows.
fn alternating_search(graph: &impl Adjacency, matching: &Matching, start: impl Iterator<Item = Row>) -> AlternatingSet {
    let mut found = AlternatingSet {
        rows: start.collect(),
        columns: Vec::new(),
    };
    if found.rows.is_empty() {
        return found;
    }
    let mut seen = vec![false; graph.column_count()];
    let mut head = 0;
    while head < found.rows.len() {
        let row = found.rows[head];
        head += 1;
        for &column in graph.columns_of(row) {
            if !std::mem::replace(&mut seen[column.index()], true) {
                found.columns.push(column);
                found.rows.extend(matching.row_of(column));
            }
        }
    }
    found.rows.sort_unstable();
    found.columns.sort_unstable();
    found
}
