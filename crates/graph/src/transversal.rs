//! Perfect matchings of highest value together with the smallest offsets.
//!
//! The Hungarian method, started from c = 0 and the least d, raises offsets only where every
//! feasible solution must be at least as high: if some row of the search forest had a smaller
//! offset in a feasible solution, the rows for which this holds would compete for too few columns,
//! all of them tight. Hence the final offsets are the canonical ones and no second pass is needed.
//! (On a signature matrix this is Pantelides' algorithm with shortest paths.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::dulmage_mendelsohn::DulmageMendelsohn;
use crate::index::{Column, Row, rows};
use crate::matching::{Matcher, Matching};
use crate::offsets::Offsets;
use crate::weighted::WeightedAdjacency;

/// A perfect matching of highest value and its canonical offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HighestValueTransversal {
    /// The matching.
    pub matching: Matching,
    /// The smallest offsets c, d ≥ 0.
    pub offsets: Offsets,
}

/// Why there is no perfect matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructurallySingular {
    /// A maximum matching.
    pub matching: Matching,
    /// The over- and underdetermined parts.
    pub parts: DulmageMendelsohn,
}

/// A perfect matching of highest value with the smallest offsets, or the parts that make one
/// impossible.
///
/// ```
/// use saltus_graph::{Column, WeightedBipartite, highest_value_transversal};
/// // The pendulum: x'' = −λx, y'' = −λy − g, x² + y² = L².
/// let (x, y, lambda) = (Column(0), Column(1), Column(2));
/// let sigma = WeightedBipartite::from_rows(
///     3,
///     [vec![(x, 2), (lambda, 0)], vec![(y, 2), (lambda, 0)], vec![(x, 0), (y, 0)]],
/// );
/// let offsets = highest_value_transversal(&sigma).unwrap().offsets;
/// assert_eq!((offsets.rows, offsets.columns), (vec![0, 0, 2], vec![2, 2, 0]));
/// ```
pub fn highest_value_transversal(
    graph: &impl WeightedAdjacency,
) -> Result<HighestValueTransversal, Box<StructurallySingular>> {
    let mut search = Hungarian::new(graph);
    if graph.row_count() == graph.column_count() && search.run(&LOCAL_BUDGETS).is_some() {
        let Hungarian { matching, offsets, .. } = search;
        return Ok(HighestValueTransversal { matching, offsets });
    }
    let matching = Matcher::new().maximum(graph);
    let parts = DulmageMendelsohn::new(graph, &matching);
    Err(Box::new(StructurallySingular { matching, parts }))
}

/// A search from a single row is put off when its tree has this many rows; most rows find a
/// column nearby, and the rest is cheaper together once those are out of the way.
const LOCAL_BUDGETS: [usize; 2] = [64, 1024];

const UNREACHED: i64 = i64::MAX;

struct Hungarian<'a, G> {
    graph: &'a G,
    matching: Matching,
    offsets: Offsets,
    /// Distance of a column from the roots in terms of slack, and the row before it.
    distance: Vec<i64>,
    via: Vec<Row>,
    reached: Vec<Column>,
    /// The rows of the search forest with their distances, in order of discovery.
    forest: Vec<(Row, i64)>,
    /// Columns reached by edges with slack.
    ahead: BinaryHeap<Reverse<(i64, Column)>>,
}

enum Outcome {
    /// A free column at this distance.
    Found(Column, i64),
    PutOff,
    /// No free column can be reached within the horizon.
    Impossible,
}

impl<'a, G: WeightedAdjacency> Hungarian<'a, G> {
    fn new(graph: &'a G) -> Self {
        let (row_count, column_count) = (graph.row_count(), graph.column_count());
        Self {
            graph,
            matching: Matching::empty(row_count, column_count),
            offsets: Offsets {
                rows: vec![0; row_count],
                columns: vec![0; column_count],
            },
            distance: vec![UNREACHED; column_count],
            via: vec![Row(0); column_count],
            reached: Vec::new(),
            forest: Vec::new(),
            ahead: BinaryHeap::new(),
        }
    }

    /// `None` if there is no perfect matching.
    fn run(&mut self, budgets: &[usize]) -> Option<()> {
        self.start_offsets();
        let mut free = self.match_greedily();
        for &budget in budgets {
            free = self.search_one_by_one(free, budget)?;
        }
        while !free.is_empty() {
            self.search_and_augment(&free, usize::MAX)?;
            free.retain(|&row| self.matching.column_of(row).is_none());
            self.augment_tight(&mut free);
        }
        Some(())
    }

    /// The least d for c = 0.
    fn start_offsets(&mut self) {
        for row in rows(self.graph.row_count()) {
            for (column, weight) in self.graph.entries_of(row) {
                let offset = &mut self.offsets.columns[column.index()];
                *offset = i64::from(weight).max(*offset);
            }
        }
    }

    /// Matches each row to its first free column by a tight edge; returns the rows left over.
    fn match_greedily(&mut self) -> Vec<Row> {
        let mut free = Vec::new();
        for row in rows(self.graph.row_count()) {
            let mut entries = self.graph.entries_of(row);
            let tight_and_free = entries.find(|&(column, weight)| {
                self.matching.row_of(column).is_none() && self.offsets.is_tight(row, column, weight)
            });
            match tight_and_free {
                Some((column, _)) => {
                    self.matching.set(row, column);
                    self.matching.grow();
                }
                None => free.push(row),
            }
        }
        free
    }

    /// Searches from each row alone; returns those put off, `None` if one is impossible.
    fn search_one_by_one(&mut self, free: Vec<Row>, budget: usize) -> Option<Vec<Row>> {
        let mut put_off = Vec::new();
        for row in free {
            if !self.search_and_augment(&[row], budget)? {
                put_off.push(row);
            }
        }
        Some(put_off)
    }

    /// Searches from the roots together and augments along one path; false if put off.
    fn search_and_augment(&mut self, roots: &[Row], budget: usize) -> Option<bool> {
        let outcome = self.search(roots, budget, i64::MAX);
        if let Outcome::Found(end, distance) = outcome {
            self.raise_offsets(distance);
            self.flip(end);
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
    fn augment_tight(&mut self, free: &mut Vec<Row>) {
        free.retain(|&row| {
            let first = self.reached.len();
            let Outcome::Found(end, _) = self.search(&[row], usize::MAX, 0) else {
                return true;
            };
            self.flip(end);
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
    fn search(&mut self, roots: &[Row], budget: usize, horizon: i64) -> Outcome {
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
                if let Some(end) = self.expand(row, level, horizon) {
                    return Outcome::Found(end, level);
                }
            }
            let Some((distance, column)) = self.next_ahead() else {
                return Outcome::Impossible;
            };
            level = distance;
            match self.matching.row_of(column) {
                None => return Outcome::Found(column, level),
                Some(row) => self.forest.push((row, level)),
            }
        }
    }

    /// Follows a row's edges; returns a free column reached by a tight one.
    fn expand(&mut self, row: Row, level: i64, horizon: i64) -> Option<Column> {
        let offset = self.offsets.rows[row.index()];
        for (column, weight) in self.graph.entries_of(row) {
            let slack = self.offsets.columns[column.index()] - offset - i64::from(weight);
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
            match self.matching.row_of(column) {
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

    fn raise_offsets(&mut self, end: i64) {
        for &(row, distance) in &self.forest {
            self.offsets.rows[row.index()] += end - distance;
            if let Some(column) = self.matching.column_of(row) {
                self.offsets.columns[column.index()] += end - distance;
            }
        }
    }

    fn flip(&mut self, end: Column) {
        let mut column = end;
        loop {
            let row = self.via[column.index()];
            let former = self.matching.column_of(row);
            self.matching.set(row, column);
            match former {
                Some(former) => column = former,
                None => break,
            }
        }
        self.matching.grow();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weighted::WeightedBipartite;

    /// A pseudo-random graph with a perfect matching.
    fn graph(n: u32, mut seed: u64) -> WeightedBipartite {
        let mut next = |bound: u32| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as u32 % bound
        };
        let rows = (0..n).map(|i| {
            let more: Vec<_> = (0..2).map(|_| (Column(next(n)), next(4) as i32)).collect();
            std::iter::once((Column((i * 7 + 3) % n), next(4) as i32)).chain(more)
        });
        WeightedBipartite::from_rows(n as usize, rows)
    }

    /// Searches that are put off and finished together must end at the same offsets.
    #[test]
    fn budgets_do_not_change_the_offsets() {
        for seed in 0..200 {
            let graph = graph(40, seed);
            let offsets = |budgets: &[usize]| {
                let mut search = Hungarian::new(&graph);
                search.run(budgets).expect("a perfect matching exists");
                assert_eq!(search.matching.validate(&graph), Ok(()));
                assert_eq!(search.offsets.validate(&graph, &search.matching), Ok(()));
                search.offsets
            };
            let alone = offsets(&[usize::MAX]);
            assert_eq!(alone, offsets(&[]));
            assert_eq!(alone, offsets(&[1, 3]));
        }
    }
}
