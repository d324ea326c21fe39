//! A highest-value transversal and its canonical offsets kept up to date while rows change.
//!
//! The transversal: the old offsets, lowered at the changed rows, stay feasible, so a few local
//! Hungarian searches repair the matching. The offsets: they are longest path lengths in the
//! exchange graph (see `offsets`). Only those that rested on a changed arc can fall; they are
//! taken back to their lower bounds and everything around is raised again to the fixed point.

use std::collections::BTreeSet;

use crate::bipartite::Adjacency;
use crate::hungarian::Hungarian;
use crate::incremental_blocks::RowDependencies;
use crate::index::{Column, Row};
use crate::matching::Matching;
use crate::offsets::Offsets;
use crate::transversal::{HighestValueTransversal, StructurallySingular, highest_value_transversal};
use crate::weighted::WeightedAdjacency;
use crate::weighted_overlay::WeightedOverlay;

/// A weighted graph whose rows change, with its transversal and canonical offsets.
#[derive(Clone, Debug)]
pub struct IncrementalTransversal {
    graph: WeightedOverlay,
    /// The matching with feasible offsets; the canonical ones whenever it is perfect.
    work: HighestValueTransversal,
    canonical: Offsets,
    unmatched: BTreeSet<Row>,
    search: Hungarian,
    /// Rows whose canonical offset may rest on something that has changed.
    doubtful: Marks,
    /// Rows where `work` and `canonical` may differ.
    touched: Vec<Row>,
    rematched: Vec<Row>,
    changed: BTreeSet<Row>,
}

/// What an update changed, each list in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransversalChange {
    /// Rows given other entries since the last update that succeeded.
    pub changed: Vec<Row>,
    /// Rows that may have another partner than before.
    pub rematched: Vec<Row>,
    /// Rows with another offset c.
    pub row_offsets: Vec<Row>,
    /// Columns with another offset d.
    pub column_offsets: Vec<Column>,
}

/// New entries of a row; `None` gives it those of the base graph again.
pub type RowChange = (Row, Option<Vec<(Column, i32)>>);

impl IncrementalTransversal {
    /// The transversal of the graph as it is.
    pub fn new(graph: WeightedOverlay) -> Result<Self, Box<StructurallySingular>> {
        let work = highest_value_transversal(&graph)?;
        Ok(Self {
            canonical: work.offsets.clone(),
            unmatched: BTreeSet::new(),
            search: Hungarian::new(graph.column_count()),
            doubtful: Marks::new(graph.row_count()),
            touched: Vec::new(),
            rematched: Vec::new(),
            changed: BTreeSet::new(),
            work,
            graph,
        })
    }

    /// The graph as it is.
    pub fn graph(&self) -> &WeightedOverlay {
        &self.graph
    }

    /// The transversal; not perfect after an update that failed.
    pub fn matching(&self) -> &Matching {
        &self.work.matching
    }

    /// The canonical offsets; after an update that failed, those before it.
    pub fn offsets(&self) -> &Offsets {
        &self.canonical
    }

    /// Changes rows and restores transversal and offsets. Costs time in the changed rows and
    /// what depends on them, not in the graph. If the graph has become structurally singular,
    /// explains it (in time of the graph); a later change can make it regular again.
    pub fn update(&mut self, changes: &[RowChange]) -> Result<TransversalChange, Box<StructurallySingular>> {
        for (row, entries) in changes {
            self.changed.insert(*row);
            self.doubt_dependents(*row);
            match entries {
                Some(entries) => self.graph.replace_row(*row, entries),
                None => self.graph.restore_row(*row),
            }
            self.make_feasible(*row);
        }
        if !self.rematch() {
            return Err(Box::new(StructurallySingular::explain(&self.graph)));
        }
        Ok(self.settle_offsets())
    }

    /// Before a row changes: what rests on it, and it itself, becomes doubtful.
    fn doubt_dependents(&mut self, row: Row) {
        self.doubtful.insert(row);
        for &column in self.graph.columns_of(row) {
            if let Some(dependent) = self.work.matching.row_of(column) {
                self.doubtful.insert(dependent);
            }
        }
    }

    /// Gives a changed row the greatest feasible offset, and frees it unless its partner is tight.
    fn make_feasible(&mut self, row: Row) {
        let slack = |(column, weight): (Column, i32)| self.work.offsets.columns[column.index()] - i64::from(weight);
        let feasible = self.graph.entries_of(row).map(slack).min().unwrap_or(0);
        self.work.offsets.rows[row.index()] = feasible;
        self.touched.push(row);
        let partner = self.work.matching.column_of(row);
        let tight = partner.is_some_and(|column| {
            let weight = self.graph.weight(row, column);
            weight.is_some_and(|weight| self.work.offsets.is_tight(row, column, weight))
        });
        if !tight {
            self.work.matching.remove_row(row);
            self.rematched.push(row);
            self.unmatched.insert(row);
        }
    }

    /// Matches the free rows again; false if one cannot be.
    fn rematch(&mut self) -> bool {
        let mut free = std::mem::take(&mut self.unmatched);
        free.retain(|&row| {
            let outcome = self.search.augment(&self.graph, &mut self.work, &[row], usize::MAX);
            if outcome.is_some() {
                self.touched.extend(self.search.forest());
            }
            outcome.is_none()
        });
        for &row in &self.search.rematched {
            self.doubtful.insert(row);
        }
        self.rematched.append(&mut self.search.rematched);
        self.unmatched = free;
        self.unmatched.is_empty()
    }

    fn settle_offsets(&mut self) -> TransversalChange {
        self.spread_doubt();
        let before = self.take_back_doubtful();
        let raised = self.raise_to_fixed_point();
        let change = self.report(before, raised);
        self.synchronise(&change);
        change
    }

    /// A row's offset is doubtful if it may rest on that of a doubtful row: if the arc between
    /// them is binding and the offset is above its lower bound.
    fn spread_doubt(&mut self) {
        let mut head = 0;
        while let Some(&row) = self.doubtful.members.get(head) {
            head += 1;
            for (column, weight) in self.graph.entries_of(row) {
                let Some(next) = self.work.matching.row_of(column) else {
                    continue;
                };
                let offset = self.canonical.rows[next.index()];
                let binding = self.canonical.is_tight(row, column, weight);
                if binding && offset > self.lower_bound(next, column) {
                    self.doubtful.insert(next);
                }
            }
        }
    }

    /// c ≥ 0 and d ≥ 0.
    fn lower_bound(&self, row: Row, column: Column) -> i64 {
        self.graph
            .weight(row, column)
            .map_or(0, |weight| (-i64::from(weight)).max(0))
    }

    /// Sets the doubtful rows to their lower bounds; returns their former offsets.
    fn take_back_doubtful(&mut self) -> Vec<(Row, i64)> {
        let mut before = Vec::with_capacity(self.doubtful.members.len());
        for at in 0..self.doubtful.members.len() {
            let row = self.doubtful.members[at];
            before.push((row, self.canonical.rows[row.index()]));
            let column = self.work.matching.column_of(row);
            let bound = column.map_or(0, |column| self.lower_bound(row, column));
            self.canonical.rows[row.index()] = bound;
        }
        before
    }

    /// Raises offsets until c_g ≥ c_f + σ_fx − σ_gx for all x matched to g; returns the rows
    /// raised outside the doubtful ones, with their former offsets.
    fn raise_to_fixed_point(&mut self) -> Vec<(Row, i64)> {
        let mut raised = Vec::new();
        let mut queue = self.doubtful.members.clone();
        for &row in &queue {
            self.pull(row);
        }
        let mut head = 0;
        // No cycle has positive gain, the matching being of highest value; so this ends.
        while head < queue.len() {
            let row = queue[head];
            head += 1;
            let offset = self.canonical.rows[row.index()];
            for (column, weight) in self.graph.entries_of(row) {
                let Some(next) = self.work.matching.row_of(column) else {
                    continue;
                };
                let own = self.graph.weight(next, column).unwrap_or_default();
                let least = offset + i64::from(weight) - i64::from(own);
                let present = &mut self.canonical.rows[next.index()];
                if least > *present {
                    if !self.doubtful.contains(next) {
                        raised.push((next, *present));
                    }
                    *present = least;
                    queue.push(next);
                }
            }
        }
        raised
    }

    /// Raises a row to what the rows that share its column ask for.
    fn pull(&mut self, row: Row) {
        let Some(column) = self.work.matching.column_of(row) else {
            return;
        };
        let own = i64::from(self.graph.weight(row, column).unwrap_or_default());
        for other in self.graph.rows_of(column) {
            let weight = i64::from(self.graph.weight(other, column).unwrap_or_default());
            let least = self.canonical.rows[other.index()] + weight - own;
            let present = &mut self.canonical.rows[row.index()];
            *present = least.max(*present);
        }
    }

    fn report(&mut self, before: Vec<(Row, i64)>, raised: Vec<(Row, i64)>) -> TransversalChange {
        let mut former: Vec<(Row, i64)> = before.into_iter().chain(raised).collect();
        // Of a row raised several times, the first entry is the offset it had before; offsets
        // only rise, so it is also the smallest.
        former.sort_unstable();
        former.dedup_by_key(|entry| entry.0);
        let mut column_offsets = Vec::new();
        for &(row, _) in &former {
            let Some(column) = self.work.matching.column_of(row) else {
                continue;
            };
            let own = i64::from(self.graph.weight(row, column).unwrap_or_default());
            let offset = self.canonical.rows[row.index()] + own;
            if std::mem::replace(&mut self.canonical.columns[column.index()], offset) != offset {
                column_offsets.push(column);
            }
        }
        column_offsets.sort_unstable();
        self.touched.extend(former.iter().map(|entry| entry.0));
        former.retain(|&(row, offset)| self.canonical.rows[row.index()] != offset);
        let mut rematched = std::mem::take(&mut self.rematched);
        rematched.sort_unstable();
        rematched.dedup();
        let row_offsets = former.into_iter().map(|entry| entry.0).collect();
        let changed = std::mem::take(&mut self.changed).into_iter().collect();
        TransversalChange {
            changed,
            rematched,
            row_offsets,
            column_offsets,
        }
    }

    /// Lets the feasible offsets be the canonical ones again, and forgets the doubts.
    fn synchronise(&mut self, change: &TransversalChange) {
        for row in self.touched.drain(..).chain(change.rematched.iter().copied()) {
            self.work.offsets.rows[row.index()] = self.canonical.rows[row.index()];
            if let Some(column) = self.work.matching.column_of(row) {
                self.work.offsets.columns[column.index()] = self.canonical.columns[column.index()];
            }
        }
        self.doubtful.clear();
    }
}

impl TransversalChange {
    /// The rows whose leading dependencies may have changed, for [`IncrementalBlocks::update`].
    ///
    /// [`IncrementalBlocks::update`]: crate::IncrementalBlocks::update
    pub fn concerned_rows(&self, matching: &Matching) -> Vec<Row> {
        let partners = self.column_offsets.iter().filter_map(|&column| matching.row_of(column));
        let mut concerned: Vec<Row> = partners.collect();
        concerned.extend(&self.changed);
        concerned.extend(&self.rematched);
        concerned.extend(&self.row_offsets);
        concerned.sort_unstable();
        concerned.dedup();
        concerned
    }
}

/// Dependencies in the leading incidence (edges with c + σ = d).
impl RowDependencies for IncrementalTransversal {
    fn dependencies(&self, row: Row, into: &mut Vec<Row>) {
        for (column, weight) in self.graph.entries_of(row) {
            if self.canonical.is_tight(row, column, weight) {
                into.extend(self.work.matching.row_of(column));
            }
        }
    }

    fn dependents(&self, row: Row, into: &mut Vec<Row>) {
        let Some(column) = self.work.matching.column_of(row) else {
            return;
        };
        into.extend(self.graph.rows_of(column).filter(|&other| {
            let weight = self.graph.weight(other, column);
            weight.is_some_and(|weight| self.canonical.is_tight(other, column, weight))
        }));
    }
}

/// A set of rows that lists its members in order of insertion and is emptied in their number.
#[derive(Clone, Debug)]
struct Marks {
    marked: Vec<bool>,
    members: Vec<Row>,
}

impl Marks {
    fn new(row_count: usize) -> Self {
        Self {
            marked: vec![false; row_count],
            members: Vec::new(),
        }
    }

    fn insert(&mut self, row: Row) {
        if !std::mem::replace(&mut self.marked[row.index()], true) {
            self.members.push(row);
        }
    }

    fn contains(&self, row: Row) -> bool {
        self.marked[row.index()]
    }

    fn clear(&mut self) {
        for row in self.members.drain(..) {
            self.marked[row.index()] = false;
        }
    }
}
