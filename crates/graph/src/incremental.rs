//! A maximum matching kept up to date while rows of the graph change.

use std::collections::BTreeSet;

use crate::bipartite::Adjacency;
use crate::index::Row;
use crate::matching::{Matcher, Matching};

/// A maximum matching that follows changes of a few rows.
#[derive(Clone, Debug)]
pub struct IncrementalMatching {
    matching: Matching,
    /// The nonempty rows without a column: each change may give them one.
    unmatched: BTreeSet<Row>,
    matcher: Matcher,
}

/// What an update changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rematch {
    /// Rows that now have another column than before, or none; in order.
    pub rematched: Vec<Row>,
    /// The nonempty rows that have no column after the update; in order.
    pub unmatched: Vec<Row>,
}

impl IncrementalMatching {
    /// A maximum matching of the graph as it is.
    pub fn new(graph: &impl Adjacency) -> Self {
        let mut matcher = Matcher::new();
        let matching = matcher.maximum(graph);
        Self::resume(graph, matching, matcher)
    }

    /// Continues from a maximum matching found elsewhere.
    pub fn from_maximum(graph: &impl Adjacency, matching: Matching) -> Self {
        Self::resume(graph, matching, Matcher::new())
    }

    fn resume(graph: &impl Adjacency, matching: Matching, matcher: Matcher) -> Self {
        let free = matching.unmatched_rows();
        let unmatched = free.filter(|&row| !graph.columns_of(row).is_empty()).collect();
        Self {
            matching,
            unmatched,
            matcher,
        }
    }

    /// The present matching.
    pub fn matching(&self) -> &Matching {
        &self.matching
    }

    /// The nonempty rows without a column, in order.
    pub fn unmatched(&self) -> impl Iterator<Item = Row> + '_ {
        self.unmatched.iter().copied()
    }

    /// Restores maximality after the given rows of the graph have changed. Costs time in those
    /// rows, the free rows and the part of the graph that shortest augmenting paths visit.
    pub fn update(&mut self, graph: &impl Adjacency, changed: &[Row]) -> Rematch {
        let before = self.release(graph, changed);
        self.matcher.begin(graph.column_count());
        self.matcher.rematched.clear();
        let candidates = std::mem::take(&mut self.unmatched);
        for &row in &candidates {
            if !self.matcher.augment_again(graph, &mut self.matching, row) {
                self.unmatched.insert(row);
            }
        }
        self.report(before)
    }

    /// Frees the changed rows that lost their column, and returns them with what they had.
    fn release(&mut self, graph: &impl Adjacency, changed: &[Row]) -> Vec<Row> {
        let mut released = Vec::new();
        for &row in changed {
            let columns = graph.columns_of(row);
            match self.matching.column_of(row) {
                Some(column) if columns.contains(&column) => continue,
                Some(_) => {
                    self.matching.remove_row(row);
                    released.push(row);
                }
                None => {}
            }
            if columns.is_empty() {
                self.unmatched.remove(&row);
            } else {
                self.unmatched.insert(row);
            }
        }
        released
    }

    fn report(&mut self, released: Vec<Row>) -> Rematch {
        let mut rematched = released;
        rematched.append(&mut self.matcher.rematched);
        rematched.sort_unstable();
        rematched.dedup();
        Rematch {
            rematched,
            unmatched: self.unmatched.iter().copied().collect(),
        }
    }
}
