//! A weighted graph of which a few rows are replaced cheaply.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bipartite::{Adjacency, Bipartite};
use crate::index::{Column, Row};
use crate::overlay::Overlay;
use crate::weighted::{WeightedAdjacency, WeightedBipartite};

/// A shared weighted base graph with some of its rows replaced; knows the rows of each column.
#[derive(Clone, Debug)]
pub struct WeightedOverlay {
    base: Arc<WeightedBipartite>,
    by_column: Arc<Bipartite>,
    overlay: Overlay,
    /// Weights of the replaced rows, by slot of the overlay.
    weights: Vec<Vec<i32>>,
    /// The replaced rows in which a column now occurs.
    added: BTreeMap<Column, Vec<Row>>,
}

impl WeightedOverlay {
    /// The base graph with no row replaced.
    pub fn new(base: Arc<WeightedBipartite>) -> Self {
        Self {
            by_column: Arc::new(base.graph().transposed()),
            overlay: Overlay::new(base.graph().clone()),
            weights: Vec::new(),
            added: BTreeMap::new(),
            base,
        }
    }

    /// The graph underneath.
    pub fn base(&self) -> &Arc<WeightedBipartite> {
        &self.base
    }

    /// The graph as it is, without weights.
    pub fn graph(&self) -> &Overlay {
        &self.overlay
    }

    /// Replaces a row; of a repeated column the greatest weight counts.
    ///
    /// # Panics
    /// If the row or a column is out of range.
    pub fn replace_row(&mut self, row: Row, entries: &[(Column, i32)]) {
        self.withdraw(row);
        self.overlay.replace_row(row, entries.iter().map(|&(column, _)| column));
        let slot = self.overlay.slot(row).unwrap_or_default();
        if self.weights.len() <= slot {
            self.weights.resize(slot + 1, Vec::new());
        }
        self.weights[slot].clear();
        for &column in self.overlay.columns_of(row) {
            let weights = entries.iter().filter(|&&(c, _)| c == column).map(|&(_, weight)| weight);
            self.weights[slot].push(weights.max().unwrap_or_default());
            self.added.entry(column).or_default().push(row);
        }
    }

    /// Gives a row its entries in the base graph again.
    pub fn restore_row(&mut self, row: Row) {
        self.withdraw(row);
        self.overlay.restore_row(row);
    }

    /// Whether the row differs (or may differ) from the base graph's.
    pub fn is_replaced(&self, row: Row) -> bool {
        self.overlay.is_replaced(row)
    }

    /// The rows in which a column occurs.
    pub fn rows_of(&self, column: Column) -> impl Iterator<Item = Row> + '_ {
        let kept = self.by_column.columns_of(Row(column.0)).iter().map(|c| Row(c.0));
        let added = self.added.get(&column).into_iter().flatten().copied();
        kept.filter(|&row| !self.overlay.is_replaced(row)).chain(added)
    }

    /// Removes a replaced row from the lists of its columns.
    fn withdraw(&mut self, row: Row) {
        if !self.overlay.is_replaced(row) {
            return;
        }
        for column in self.overlay.columns_of(row) {
            if let Some(rows) = self.added.get_mut(column) {
                rows.retain(|&other| other != row);
                if rows.is_empty() {
                    self.added.remove(column);
                }
            }
        }
    }
}

impl Adjacency for WeightedOverlay {
    #[inline]
    fn row_count(&self) -> usize {
        self.overlay.row_count()
    }
    #[inline]
    fn column_count(&self) -> usize {
        self.overlay.column_count()
    }
    #[inline]
    fn columns_of(&self, row: Row) -> &[Column] {
        self.overlay.columns_of(row)
    }
}

impl WeightedAdjacency for WeightedOverlay {
    #[inline]
    fn weights_of(&self, row: Row) -> &[i32] {
        match self.overlay.slot(row) {
            Some(slot) => &self.weights[slot],
            None => self.base.weights_of(row),
        }
    }
}
