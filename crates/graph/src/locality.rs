//! Numbering rows and columns so that neighbours lie near each other in memory.
//!
//! A search that follows a graph whose numbers are scattered over more memory than a cache holds waits for memory
//! at every step, since the next address is only known when the last value has arrived. Many searches at once do
//! not wait: their addresses are known together. So clusters are grown around many seeds at once, a step of each
//! in turn, and everything is numbered cluster by cluster; the serial search then runs in the cache.
//!
//! Numbers only say where things are kept: what is computed with new numbers is given back with the old ones.

use crate::bipartite::{Adjacency, Bipartite};
use crate::index::{Column, NONE, Row, rows};
use crate::matching::Matching;

/// Graphs with fewer rows fit a cache whatever their order.
const SMALL: usize = 1 << 16;
/// How many rows are looked at to judge a graph.
const SAMPLES: usize = 1024;
/// Numbers closer than this share a few pages of memory.
const NEAR: u32 = 1 << 12;
/// Rows per seed: a cluster of this size fits the innermost cache.
const ROWS_PER_SEED: usize = 512;
/// Fewer searches than this at once leave the processor waiting.
const FEWEST_SEEDS: usize = 64;
/// Nodes whose edges are asked for before the first of them is used.
const BATCH: usize = 64;

/// Whether a search in a graph would wait for memory: it is large, and most columns have no near one in the next
/// row. (Models written component by component, or array by array, are not scattered.)
pub(crate) fn is_scattered(graph: &impl Adjacency) -> bool {
    let count = graph.row_count();
    if count < SMALL {
        return false;
    }
    let (mut near, mut all) = (0, 0);
    for sample in 0..SAMPLES {
        let row = sample * (count - 1) / SAMPLES;
        let next = graph.columns_of(Row::from_index(row + 1));
        for column in graph.columns_of(Row::from_index(row)) {
            all += 1;
            near += usize::from(next.iter().any(|other| other.0.abs_diff(column.0) < NEAR));
        }
    }
    2 * near < all
}

/// The rows on which each row depends, itself in place of none.
pub(crate) fn dependencies(graph: &impl Adjacency, matching: &Matching) -> Bipartite {
    mapped(graph, |row, column| matching.row_of(column).unwrap_or(row))
}

/// The alternating graph of a matching that need not be maximum: from a row over each of its columns to the row that
/// is matched to it, or to the last row in which it occurs if it is free.
fn alternating(graph: &impl Adjacency, matching: &Matching) -> Bipartite {
    let mut row_of = vec![Row(0); graph.column_count()];
    for row in rows(graph.row_count()) {
        for column in graph.columns_of(row) {
            row_of[column.index()] = row;
        }
    }
    for (row, column) in matching.pairs() {
        row_of[column.index()] = row;
    }
    mapped(graph, |_, column| row_of[column.index()])
}

fn mapped(graph: &impl Adjacency, next: impl Fn(Row, Column) -> Row) -> Bipartite {
    let count = graph.row_count();
    let mut start = Vec::with_capacity(count + 1);
    let mut edges = Vec::with_capacity(3 * count);
    start.push(0);
    for row in rows(count) {
        let columns = graph.columns_of(row).iter();
        edges.extend(columns.map(|&column| Column(next(row, column).0)));
        start.push(edges.len() as u32);
    }
    Bipartite::from_parts(count, start, edges)
}

/// The rows in an order in which those that depend on each other are near.
pub(crate) fn clustered(dependencies: &Bipartite) -> Vec<Row> {
    let mut clusters = Clusters::new(dependencies.row_count());
    let mut seeds = Seeds::new(dependencies.row_count());
    let mut candidates = Vec::new();
    while clusters.has_next() || seeds.sow(dependencies, &mut clusters) {
        clusters.expand(dependencies, &mut candidates);
        clusters.claim_all(&candidates);
    }
    clusters.in_order(seeds.clusters)
}

/// The graph of dependencies with its rows in the given order.
pub(crate) fn reordered(dependencies: &Bipartite, order: &[Row]) -> Bipartite {
    let number_of = inverse(order.iter().map(|row| row.index()));
    renumbered(dependencies, order, &number_of)
}

/// New numbers for the rows and columns of a graph.
#[derive(Debug)]
pub(crate) struct Renumbering {
    /// The former number of each row.
    pub rows: Vec<Row>,
    /// The former number of each column.
    columns: Vec<Column>,
}

impl Renumbering {
    /// A matching with the new numbers in terms of the former ones.
    pub(crate) fn former(&self, matching: &Matching) -> Matching {
        let mut former = Matching::empty(self.rows.len(), self.columns.len());
        for (row, column) in matching.pairs() {
            former.set(self.rows[row.index()], self.columns[column.index()]);
            former.grow();
        }
        former
    }
}

/// A graph and one of its matchings with new numbers.
#[derive(Debug)]
pub(crate) struct Renumbered {
    /// The graph; the columns of a row keep their order.
    pub graph: Bipartite,
    /// The matching.
    pub matching: Matching,
    /// What the numbers were.
    pub renumbering: Renumbering,
}

impl Renumbered {
    /// Rows by clusters of the matching's alternating graph, columns as the rows they are matched to.
    pub(crate) fn new(graph: &impl Adjacency, matching: &Matching) -> Self {
        let rows = clustered(&alternating(graph, matching));
        let mut near = Matching::empty(graph.row_count(), graph.column_count());
        let mut columns = Vec::with_capacity(graph.column_count());
        for (number, &row) in rows.iter().enumerate() {
            if let Some(column) = matching.column_of(row) {
                near.set(Row(number as u32), Column(columns.len() as u32));
                near.grow();
                columns.push(column);
            }
        }
        columns.extend(matching.unmatched_columns());
        let number_of = inverse(columns.iter().map(|column| column.index()));
        Self {
            graph: renumbered(graph, &rows, &number_of),
            matching: near,
            renumbering: Renumbering { rows, columns },
        }
    }
}

/// The place of each number in an order of all of them.
fn inverse(order: impl ExactSizeIterator<Item = usize>) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (at, number) in order.enumerate() {
        place[number] = at as u32;
    }
    place
}

fn renumbered(graph: &impl Adjacency, order: &[Row], number_of: &[u32]) -> Bipartite {
    let mut start = Vec::with_capacity(order.len() + 1);
    let mut edges = Vec::with_capacity(3 * order.len());
    start.push(0);
    for batch in order.chunks(BATCH) {
        for list in edges_of(graph, batch.iter().copied()).into_iter().take(batch.len()) {
            edges.extend(list.iter().map(|column| Column(number_of[column.index()])));
            start.push(edges.len() as u32);
        }
    }
    Bipartite::from_parts(number_of.len(), start, edges)
}

/// The edges of some rows, looked up together.
fn edges_of<G: Adjacency>(graph: &G, rows: impl Iterator<Item = Row>) -> [&[Column]; BATCH] {
    let mut lists: [&[Column]; BATCH] = [&[]; BATCH];
    for (list, row) in lists.iter_mut().zip(rows) {
        *list = graph.columns_of(row);
    }
    lists
}

/// Rows in the order in which they were reached, each with its cluster.
struct Clusters {
    cluster_of: Vec<u32>,
    reached: Vec<(Row, u32)>,
    /// The first row that was not expanded yet.
    next: usize,
}

impl Clusters {
    fn new(count: usize) -> Self {
        Self {
            cluster_of: vec![NONE; count],
            reached: Vec::with_capacity(count),
            next: 0,
        }
    }

    fn has_next(&self) -> bool {
        self.next < self.reached.len()
    }

    /// Adds a row to a cluster unless it has one.
    fn claim(&mut self, row: Row, cluster: u32) {
        let owner = &mut self.cluster_of[row.index()];
        if *owner == NONE {
            *owner = cluster;
            self.reached.push((row, cluster));
        }
    }

    /// Claims rows for clusters. Which of them are new cannot be predicted, and a wrong guess would wait for memory:
    /// so all are asked for before the first is judged.
    fn claim_all(&mut self, candidates: &[(Row, u32)]) {
        let owners = candidates.iter().map(|&(row, _)| self.cluster_of[row.index()]);
        std::hint::black_box(owners.fold(0, u32::wrapping_add));
        for &(row, cluster) in candidates {
            self.claim(row, cluster);
        }
    }

    /// What the next rows depend on, with the clusters of these rows.
    fn expand(&mut self, dependencies: &Bipartite, candidates: &mut Vec<(Row, u32)>) {
        let end = self.reached.len().min(self.next + BATCH);
        let batch = &self.reached[self.next..end];
        self.next = end;
        candidates.clear();
        let lists = edges_of(dependencies, batch.iter().map(|&(row, _)| row));
        for (list, &(_, cluster)) in lists.iter().zip(batch) {
            candidates.extend(list.iter().map(|row| (Row(row.0), cluster)));
        }
    }

    /// All rows cluster by cluster, in the order in which they were reached.
    fn in_order(self, clusters: u32) -> Vec<Row> {
        let mut next = vec![0u32; clusters as usize + 1];
        for &(_, cluster) in &self.reached {
            next[cluster as usize + 1] += 1;
        }
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let mut order = vec![Row(0); self.reached.len()];
        for &(row, cluster) in &self.reached {
            let place = &mut next[cluster as usize];
            order[*place as usize] = row;
            *place += 1;
        }
        order
    }
}

/// Hands out rows from which clusters grow, far from each other in the order of the rows.
struct Seeds {
    count: usize,
    stride: usize,
    pass: usize,
    clusters: u32,
}

impl Seeds {
    fn new(count: usize) -> Self {
        let wanted = (count / ROWS_PER_SEED).max(FEWEST_SEEDS);
        Self {
            count,
            stride: count.div_ceil(wanted).max(1),
            pass: 0,
            clusters: 0,
        }
    }

    /// Rows from which to go on; false if all rows have been reached. A row that leads to a cluster joins it, the others
    /// start clusters of their own.
    fn sow(&mut self, graph: &Bipartite, clusters: &mut Clusters) -> bool {
        let before = clusters.reached.len();
        while self.pass < self.stride && clusters.reached.len() < before + FEWEST_SEEDS {
            for row in (self.pass..self.count).step_by(self.stride) {
                if clusters.cluster_of[row] != NONE {
                    continue;
                }
                let row = Row(row as u32);
                let next = graph
                    .columns_of(row)
                    .iter()
                    .map(|next| clusters.cluster_of[next.index()]);
                let cluster = next.min().unwrap_or(NONE).min(self.clusters);
                self.clusters = self.clusters.max(cluster + 1);
                clusters.claim(row, cluster);
            }
            self.pass += 1;
        }
        clusters.reached.len() > before
    }
}

#[cfg(test)]
mod tests {
    use saltus_testing::Random;

    use super::*;
    use crate::matching::Matcher;

    /// A pseudo-random graph: some rows without columns, some columns without rows, several components.
    fn graph(rows: u32, columns: u32, seed: u64) -> Bipartite {
        let mut random = Random(seed);
        let mut next = |bound: u32| random.below(bound as usize) as u32;
        let row = |_| (0..next(5)).map(|_| Column(next(columns))).collect::<Vec<_>>();
        Bipartite::from_rows(columns as usize, (0..rows).map(row))
    }

    /// New numbers are a permutation of the old ones under which edges and partners are the same.
    #[test]
    fn new_numbers_keep_the_graph_and_the_matching() {
        for seed in 0..60 {
            let (count, columns) = (1 + 7 * seed as u32 % 300, 1 + 11 * seed as u32 % 310);
            let graph = graph(count, columns, seed);
            let matching = Matcher::new().maximum(&graph);
            let near = Renumbered::new(&graph, &matching);
            assert_eq!(near.matching.validate(&near.graph), Ok(()));
            assert_eq!(near.renumbering.former(&near.matching), matching);
            for row in rows(graph.row_count()) {
                let columns = near.graph.columns_of(row).iter();
                let former: Vec<Column> = columns.map(|c| near.renumbering.columns[c.index()]).collect();
                assert_eq!(former, graph.columns_of(near.renumbering.rows[row.index()]));
            }
        }
    }

    #[test]
    fn only_large_graphs_without_order_are_scattered() {
        let n = 2 * SMALL as u32;
        let chain = |place: &dyn Fn(u32) -> u32, row: &dyn Fn(u32) -> u32| {
            let columns = |r: u32| [Column(place(row(r))), Column(place((row(r) + 1) % n))];
            Bipartite::from_rows(n as usize, (0..n).map(columns))
        };
        // A multiplication by an odd number permutes the numbers below a power of two.
        let scatter = |i: u32| i.wrapping_mul(0x9E37_79B1) % n;
        let identity = |i: u32| i;
        assert!(!is_scattered(&chain(&identity, &identity)));
        assert!(is_scattered(&chain(&identity, &scatter)));
        assert!(is_scattered(&chain(&scatter, &scatter)));
        // Two arrays one after the other are two streams.
        let halves = |i: u32| i / 2 + i % 2 * (n / 2);
        assert!(!is_scattered(&chain(&halves, &identity)));
    }
}
