//! Maximum matching and priority augmentation.

use crate::bipartite::Adjacency;
use crate::index::{Column, NONE, Row, columns, rows};
use crate::locality::{Renumbered, is_scattered};

/// A set of edges of which no two share a row or a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    column_of_row: Vec<u32>,
    row_of_column: Vec<u32>,
    size: usize,
}

impl Matching {
    /// No edge.
    pub fn empty(row_count: usize, column_count: usize) -> Self {
        Self {
            column_of_row: vec![NONE; row_count],
            row_of_column: vec![NONE; column_count],
            size: 0,
        }
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Whether every row and every column is matched.
    pub fn is_perfect(&self) -> bool {
        self.size == self.column_of_row.len() && self.size == self.row_of_column.len()
    }

    /// Number of rows of the graph.
    pub fn row_count(&self) -> usize {
        self.column_of_row.len()
    }

    /// Number of columns of the graph.
    pub fn column_count(&self) -> usize {
        self.row_of_column.len()
    }

    /// The column matched to a row.
    #[inline]
    pub fn column_of(&self, row: Row) -> Option<Column> {
        let column = self.column_of_row[row.index()];
        (column != NONE).then_some(Column(column))
    }

    /// The row matched to a column.
    #[inline]
    pub fn row_of(&self, column: Column) -> Option<Row> {
        let row = self.row_of_column[column.index()];
        (row != NONE).then_some(Row(row))
    }

    /// The matched edges in row order.
    pub fn pairs(&self) -> impl Iterator<Item = (Row, Column)> + '_ {
        rows(self.row_count()).filter_map(|row| Some((row, self.column_of(row)?)))
    }

    /// The rows without a column, in order.
    pub fn unmatched_rows(&self) -> impl Iterator<Item = Row> + '_ {
        rows(self.row_count()).filter(|&row| self.column_of(row).is_none())
    }

    /// The columns without a row, in order.
    pub fn unmatched_columns(&self) -> impl Iterator<Item = Column> + '_ {
        columns(self.column_count()).filter(|&column| self.row_of(column).is_none())
    }

    /// Matches a row to a column; former partners of either become free.
    pub fn insert(&mut self, row: Row, column: Column) {
        self.remove_row(row);
        if let Some(former) = self.row_of(column) {
            self.remove_row(former);
        }
        self.set(row, column);
        self.size += 1;
    }

    /// Frees a row and returns its former column.
    pub fn remove_row(&mut self, row: Row) -> Option<Column> {
        let column = self.column_of(row)?;
        self.column_of_row[row.index()] = NONE;
        self.row_of_column[column.index()] = NONE;
        self.size -= 1;
        Some(column)
    }

    /// The same matching with rows and columns exchanged.
    pub fn transposed(&self) -> Matching {
        Matching {
            column_of_row: self.row_of_column.clone(),
            row_of_column: self.column_of_row.clone(),
            size: self.size,
        }
    }

    /// Checks that both directions agree and that every pair is an edge of the graph.
    pub fn validate(&self, graph: &impl Adjacency) -> Result<(), String> {
        if self.row_count() != graph.row_count() || self.column_count() != graph.column_count() {
            return Err("matching and graph differ in size".to_owned());
        }
        for (row, column) in self.pairs() {
            if self.row_of(column) != Some(row) {
                return Err(format!("{row:?} and {column:?} disagree"));
            }
            if !graph.columns_of(row).contains(&column) {
                return Err(format!("({row:?}, {column:?}) is no edge"));
            }
        }
        let matched_columns = self.row_of_column.iter().filter(|&&row| row != NONE).count();
        if self.pairs().count() != self.size || matched_columns != self.size {
            return Err("wrong number of pairs".to_owned());
        }
        Ok(())
    }

    /// Overwrites both directions without looking at former partners.
    #[inline]
    pub(crate) fn set(&mut self, row: Row, column: Column) {
        self.column_of_row[row.index()] = column.0;
        self.row_of_column[column.index()] = row.0;
    }

    /// Accounts for an augmenting path written with [`Self::set`].
    #[inline]
    pub(crate) fn grow(&mut self) {
        self.size += 1;
    }

    /// Writes the augmenting path that ends in `end`, found back through `via`; adds the rows with a new partner.
    pub(crate) fn flip(&mut self, via: &[Row], end: Column, rematched: &mut Vec<Row>) {
        let mut column = end;
        loop {
            let row = via[column.index()];
            let former = self.column_of(row);
            self.set(row, column);
            rematched.push(row);
            match former {
                Some(former) => column = former,
                None => break,
            }
        }
        self.grow();
    }
}

/// A row's level in the layered graph of Hopcroft–Karp: not reached yet.
const UNSEEN: u32 = u32::MAX;
/// A row that can no longer take part in the present phase.
const SPENT: u32 = u32::MAX - 1;

/// A search nearby is put off when it has seen this many rows; most rows find a column with the first.
const ROWS_OF_A_SEARCH: [usize; 2] = [64, 1024];
/// Searches nearby end when they have seen this many rows per row of the graph.
const ROWS_IN_ALL: usize = 4;

/// Matching algorithms with their reusable workspace.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    /// Rows to expand, in breadth-first order.
    queue: Vec<Row>,
    /// Breadth-first augmentation: epoch in which a column was reached, and from which row.
    seen: Vec<u32>,
    via: Vec<Row>,
    visited: Vec<Column>,
    epoch: u32,
    /// Hopcroft–Karp: level and next edge per row, depth-first path.
    level: Vec<u32>,
    cursor: Vec<u32>,
    path: Vec<Row>,
    /// Rows whose partner changed since the caller last cleared this.
    pub(crate) rematched: Vec<Row>,
}

impl Matcher {
    /// An empty workspace; it grows with the graphs it meets.
    pub fn new() -> Self {
        Self::default()
    }

    /// A maximum matching: a greedy start, searches nearby, then Hopcroft–Karp, O(E·√V).
    pub fn maximum(&mut self, graph: &impl Adjacency) -> Matching {
        if is_scattered(graph) {
            let near = self.maximum_nearby(graph);
            return near.renumbering.former(&near.matching);
        }
        let mut matching = greedy(graph);
        self.augment_nearby(graph, &mut matching);
        self.complete(graph, &mut matching);
        matching
    }

    /// The same with new numbers.
    pub(crate) fn maximum_nearby(&mut self, graph: &impl Adjacency) -> Renumbered {
        // The greedy start does not search, and in the order of clusters it would leave longer paths.
        let mut near = Renumbered::new(graph, &greedy(graph));
        self.augment_nearby(&near.graph, &mut near.matching);
        self.complete(&near.graph, &mut near.matching);
        near
    }

    /// Enlarges a matching to a maximum one; matched rows and columns stay matched.
    pub fn complete(&mut self, graph: &impl Adjacency, matching: &mut Matching) {
        self.level.clear();
        self.level.resize(graph.row_count(), UNSEEN);
        self.cursor.resize(graph.row_count(), 0);
        let mut free: Vec<Row> = matching.unmatched_rows().collect();
        while !free.is_empty() && self.layer(graph, matching, &free) {
            for &root in &free {
                self.augment_in_layers(graph, matching, root);
            }
            free.retain(|&row| matching.column_of(row).is_none());
            for row in &self.queue {
                self.level[row.index()] = UNSEEN;
            }
        }
    }

    /// Levels of the rows by alternating distance from the free ones, as far as the first free
    /// column; false if none is reachable.
    fn layer(&mut self, graph: &impl Adjacency, matching: &Matching, free: &[Row]) -> bool {
        self.queue.clear();
        self.queue.extend_from_slice(free);
        for row in free {
            self.level[row.index()] = 0;
            self.cursor[row.index()] = 0;
        }
        let mut last_level = UNSEEN;
        let mut head = 0;
        while head < self.queue.len() {
            let row = self.queue[head];
            head += 1;
            let level = self.level[row.index()];
            if level > last_level {
                break;
            }
            for &column in graph.columns_of(row) {
                let Some(next) = matching.row_of(column) else {
                    last_level = level;
                    continue;
                };
                if self.level[next.index()] == UNSEEN {
                    self.level[next.index()] = level + 1;
                    self.cursor[next.index()] = 0;
                    self.queue.push(next);
                }
            }
        }
        last_level != UNSEEN
    }

    /// One depth-first search from level to level; rows it leaves are spent for this phase, which
    /// makes all paths of a phase disjoint and the phase linear.
    fn augment_in_layers(&mut self, graph: &impl Adjacency, matching: &mut Matching, root: Row) {
        self.path.clear();
        self.path.push(root);
        while let Some(&row) = self.path.last() {
            let cursor = &mut self.cursor[row.index()];
            let Some(&column) = graph.columns_of(row).get(*cursor as usize) else {
                self.level[row.index()] = SPENT;
                self.path.pop();
                continue;
            };
            *cursor += 1;
            match matching.row_of(column) {
                None => return self.flip_path(graph, matching),
                Some(next) => {
                    if self.level[next.index()] == self.level[row.index()] + 1 {
                        self.path.push(next);
                    }
                }
            }
        }
    }

    fn flip_path(&mut self, graph: &impl Adjacency, matching: &mut Matching) {
        for &row in &self.path {
            let chosen = self.cursor[row.index()] as usize - 1;
            matching.set(row, graph.columns_of(row)[chosen]);
            self.level[row.index()] = SPENT;
        }
        matching.grow();
    }

    /// Augments rows one by one in the given order and returns those that stay free.
    ///
    /// The sets of rows that can be matched together form a transversal matroid, so the result is
    /// optimal for every order of priorities: no row stays free for the sake of a later one.
    /// Rows and columns matched before stay matched.
    pub fn augment_in_order(
        &mut self,
        graph: &impl Adjacency,
        matching: &mut Matching,
        order: impl IntoIterator<Item = Row>,
    ) -> Vec<Row> {
        self.begin(graph.column_count());
        let order = order.into_iter();
        order.filter(|&row| !self.augment_again(graph, matching, row)).collect()
    }

    /// Starts a series of [`Self::augment_again`] during which the graph does not change.
    pub(crate) fn begin(&mut self, column_count: usize) {
        if self.seen.len() < column_count {
            self.seen.resize(column_count, 0);
            self.via.resize(column_count, Row(0));
        }
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.seen.fill(0);
            self.epoch = 1;
        }
    }

    /// Matches a row along an alternating path if there is one; what a failed search of the series reached is not searched again,
    /// since no later augmentation can open a path out of it.
    pub(crate) fn augment_again(&mut self, graph: &impl Adjacency, matching: &mut Matching, root: Row) -> bool {
        if matching.column_of(root).is_some() {
            return true;
        }
        let Some(end) = self.nearest_free_column(graph, matching, root, usize::MAX) else {
            return false;
        };
        for column in self.visited.drain(..) {
            self.seen[column.index()] = 0;
        }
        matching.flip(&self.via, end, &mut self.rematched);
        true
    }

    /// Matches free rows that have a free column within a small part of the graph, one after the other: such searches
    /// stay in the cache, where the phases of Hopcroft–Karp pass over the whole graph each. Ends early where they do
    /// not succeed, so that the time is linear.
    fn augment_nearby(&mut self, graph: &impl Adjacency, matching: &mut Matching) {
        let mut free: Vec<Row> = matching.unmatched_rows().collect();
        let mut allowance = ROWS_IN_ALL * graph.row_count();
        self.begin(graph.column_count());
        for budget in ROWS_OF_A_SEARCH {
            free.retain(|&row| {
                if allowance == 0 {
                    return true;
                }
                let end = self.nearest_free_column(graph, matching, row, budget);
                allowance = allowance.saturating_sub(self.queue.len());
                for column in self.visited.drain(..) {
                    self.seen[column.index()] = 0;
                }
                if let Some(end) = end {
                    matching.flip(&self.via, end, &mut self.rematched);
                }
                end.is_none()
            });
        }
        self.rematched.clear();
    }

    /// Breadth-first search that expands at most `budget` rows.
    fn nearest_free_column(
        &mut self,
        graph: &impl Adjacency,
        matching: &Matching,
        root: Row,
        budget: usize,
    ) -> Option<Column> {
        self.visited.clear();
        self.queue.clear();
        self.queue.push(root);
        let mut head = 0;
        while head < self.queue.len().min(budget) {
            let row = self.queue[head];
            head += 1;
            for &column in graph.columns_of(row) {
                if self.seen[column.index()] == self.epoch {
                    continue;
                }
                self.seen[column.index()] = self.epoch;
                self.via[column.index()] = row;
                self.visited.push(column);
                match matching.row_of(column) {
                    None => return Some(column),
                    Some(next) => self.queue.push(next),
                }
            }
        }
        None
    }
}

/// Matches each row to its first free column.
fn greedy(graph: &impl Adjacency) -> Matching {
    let mut matching = Matching::empty(graph.row_count(), graph.column_count());
    for row in rows(graph.row_count()) {
        let columns = graph.columns_of(row);
        if let Some(&column) = columns.iter().find(|&&c| matching.row_of(c).is_none()) {
            matching.set(row, column);
            matching.grow();
        }
    }
    matching
}
