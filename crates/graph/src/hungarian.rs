//! The search step of the Hungarian method: shortest augmenting paths over slacks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::index::{Column, Row};
use crate::transversal::HighestValueTransversal;
use crate::weighted::WeightedAdjacency;

const UNREACHED: i64 = i64::MAX;

/// The workspace of the search. Between calls every column is unreached.
#[derive(Clone, Debug)]
pub(crate) struct Hungarian {
    /// Distance of a column from the roots in terms of slack, and the row before it.
    distance: Vec<i64>,
    via: Vec<Row>,
    reached: Vec<Column>,
    /// The rows of the search forest with their distances, in order of discovery.
    forest: Vec<(Row, i64)>,
    /// Columns reached by edges with slack.
    ahead: BinaryHeap<Reverse<(i64, Column)>>,
    /// Rows whose partner changed since the caller last cleared this.
    pub rematched: Vec<Row>,
}

enum Outcome {
    /// A free column at this distance.
    Found(Column, i64),
    PutOff,
    /// No free column can be reached within the horizon.
    Impossible,
}

impl Hungarian {
    pub(crate) fn new(column_count: usize) -> Self {
        Self {
            distance: vec![UNREACHED; column_count],
            via: vec![Row(0); column_count],
            reached: Vec::new(),
            forest: Vec::new(),
            ahead: BinaryHeap::new(),
            rematched: Vec::new(),
        }
    }

    /// Searches from free rows together, raises offsets and augments along one path. False if
    /// put off because the forest outgrew the budget; `None` if no free column can be reached.
    pub(crate) fn augment(
        &mut self,
        graph: &impl WeightedAdjacency,
        state: &mut HighestValueTransversal,
        roots: &[Row],
        budget: usize,
    ) -> Option<bool> {
        let outcome = self.search(graph, state, roots, budget, i64::MAX);
        if let Outcome::Found(end, distance) = outcome {
            self.raise_offsets(state, distance);
            state.matching.flip(&self.via, end, &mut self.rematched);
        }
        self.forget_reached(0);
        match outcome {
            Outcome::Found(..) => Some(true),
            Outcome::PutOff => Some(false),
            Outcome::Impossible => None,
        }
    }

    /// Augments from every row for which tight edges suffice and keeps the others in the list.
    /// What a failed search reached stays closed to the next ones: it leads nowhere.
    pub(crate) fn augment_tight(
        &mut self,
        graph: &impl WeightedAdjacency,
        state: &mut HighestValueTransversal,
        free: &mut Vec<Row>,
    ) {
        free.retain(|&row| {
            let first = self.reached.len();
            let outcome = self.search(graph, state, &[row], usize::MAX, 0);
            let Outcome::Found(end, _) = outcome else { return true };
            state.matching.flip(&self.via, end, &mut self.rematched);
            self.forget_reached(first);
            false
        });
        self.forget_reached(0);
    }

    fn forget_reached(&mut self, first: usize) {
        for column in self.reached.drain(first..) {
            self.distance[column.index()] = UNREACHED;
        }
    }

    /// Dijkstra's algorithm over slacks, up to a horizon; rows at equal distance are taken
    /// breadth first.
    fn search(
        &mut self,
        graph: &impl WeightedAdjacency,
        state: &HighestValueTransversal,
        roots: &[Row],
        budget: usize,
        horizon: i64,
    ) -> Outcome {
        self.ahead.clear();
        self.forest.clear();
        self.forest.extend(roots.iter().map(|&row| (row, 0)));
        let budget = budget.saturating_add(roots.len());
        let mut level = 0;
        let mut head = 0;
        loop {
            while head < self.forest.len() {
                if self.forest.len() > budget {
                    return Outcome::PutOff;
                }
                let row = self.forest[head].0;
                head += 1;
                if let Some(end) = self.expand(graph, state, row, level, horizon) {
                    return Outcome::Found(end, level);
                }
            }
            let Some((distance, column)) = self.next_ahead() else {
                return Outcome::Impossible;
            };
            level = distance;
            match state.matching.row_of(column) {
                None => return Outcome::Found(column, level),
                Some(row) => self.forest.push((row, level)),
            }
        }
    }

    /// Follows a row's edges; returns a free column reached by a tight one.
    fn expand(
        &mut self,
        graph: &impl WeightedAdjacency,
        state: &HighestValueTransversal,
        row: Row,
        level: i64,
        horizon: i64,
    ) -> Option<Column> {
        let offset = state.offsets.rows[row.index()];
        for (column, weight) in graph.entries_of(row) {
            let slack = state.offsets.columns[column.index()] - offset - i64::from(weight);
            let known = self.distance[column.index()];
            if level + slack >= known || level + slack > horizon {
                continue;
            }
            if known == UNREACHED {
                self.reached.push(column);
            }
            self.distance[column.index()] = level + slack;
            self.via[column.index()] = row;
            if slack > 0 {
                self.ahead.push(Reverse((level + slack, column)));
                continue;
            }
            match state.matching.row_of(column) {
                None => return Some(column),
                Some(next) => self.forest.push((next, level)),
            }
        }
        None
    }

    /// The nearest column ahead that was not reached on a shorter way since.
    fn next_ahead(&mut self) -> Option<(i64, Column)> {
        loop {
            let Reverse((distance, column)) = self.ahead.pop()?;
            if self.distance[column.index()] == distance {
                return Some((distance, column));
            }
        }
    }

    fn raise_offsets(&self, state: &mut HighestValueTransversal, end: i64) {
        for &(row, distance) in &self.forest {
            state.offsets.rows[row.index()] += end - distance;
            if let Some(column) = state.matching.column_of(row) {
                state.offsets.columns[column.index()] += end - distance;
            }
        }
    }
}
