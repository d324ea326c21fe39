//! A graph of which a few rows are replaced cheaply: the neighbouring mode.

use std::sync::Arc;

use crate::bipartite::{Adjacency, Bipartite};
use crate::index::{Column, NONE, Row};

/// A shared base graph with some of its rows replaced.
///
/// Replacing or restoring a row costs time in the length of that row only, so that moving from
/// mode to mode never copies the model. An empty replacement switches a row off.
#[derive(Clone, Debug)]
pub struct Overlay {
    base: Arc<Bipartite>,
    /// Per row, its slot in `replacements`, or `NONE`.
    slot: Vec<u32>,
    replacements: Vec<Vec<Column>>,
    free_slots: Vec<u32>,
}

impl Overlay {
    /// The base graph with no row replaced.
    pub fn new(base: Arc<Bipartite>) -> Self {
        let slot = vec![NONE; base.row_count()];
        Self {
            base,
            slot,
            replacements: Vec::new(),
            free_slots: Vec::new(),
        }
    }

    /// The graph underneath.
    pub fn base(&self) -> &Arc<Bipartite> {
        &self.base
    }

    /// Replaces a row; repeated columns count once.
    ///
    /// # Panics
    /// If the row or a column is out of range.
    pub fn replace_row(&mut self, row: Row, columns: impl IntoIterator<Item = Column>) {
        let slot = self.slot_for(row);
        let replacement = &mut self.replacements[slot];
        replacement.clear();
        for column in columns {
            assert!(column.index() < self.base.column_count(), "column out of range");
            replacement.push(column);
        }
        drop_repetitions(replacement);
    }

    /// Gives a row its columns in the base graph again.
    pub fn restore_row(&mut self, row: Row) {
        let slot = std::mem::replace(&mut self.slot[row.index()], NONE);
        if slot != NONE {
            self.free_slots.push(slot);
        }
    }

    /// Whether the row differs (or may differ) from the base graph's.
    pub fn is_replaced(&self, row: Row) -> bool {
        self.slot[row.index()] != NONE
    }

    /// Where the replacement of a row is kept.
    #[inline]
    pub(crate) fn slot(&self, row: Row) -> Option<usize> {
        let slot = self.slot[row.index()];
        (slot != NONE).then_some(slot as usize)
    }

    fn slot_for(&mut self, row: Row) -> usize {
        let slot = &mut self.slot[row.index()];
        if *slot == NONE {
            *slot = self.free_slots.pop().unwrap_or_else(|| {
                self.replacements.push(Vec::new());
                self.replacements.len() as u32 - 1
            });
        }
        *slot as usize
    }
}

/// Keeps the first occurrence of each column, in order.
fn drop_repetitions(columns: &mut Vec<Column>) {
    let mut sorted = columns.clone();
    sorted.sort_unstable();
    if sorted.windows(2).all(|pair| pair[0] != pair[1]) {
        return;
    }
    let mut seen = std::collections::BTreeSet::new();
    columns.retain(|&column| seen.insert(column));
}

impl Adjacency for Overlay {
    #[inline]
    fn row_count(&self) -> usize {
        self.base.row_count()
    }
    #[inline]
    fn column_count(&self) -> usize {
        self.base.column_count()
    }
    #[inline]
    fn columns_of(&self, row: Row) -> &[Column] {
        match self.slot[row.index()] {
            NONE => self.base.columns_of(row),
            slot => &self.replacements[slot as usize],
        }
    }
}
