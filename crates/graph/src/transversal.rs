//! Perfect matchings of highest value together with the smallest offsets.
//!
//! The Hungarian method, started from c = 0 and the least d, raises offsets only where every
//! feasible solution must be at least as high: if some row of the search forest had a smaller
//! offset in a feasible solution, the rows for which this holds would compete for too few columns,
//! all of them tight. Hence the final offsets are the canonical ones and no second pass is needed.
//! (On a signature matrix this is Pantelides' algorithm with shortest paths.)

use crate::bipartite::Adjacency;
use crate::dulmage_mendelsohn::DulmageMendelsohn;
use crate::hungarian::Hungarian;
use crate::index::{Row, rows};
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
    if graph.row_count() == graph.column_count()
        && let Some(found) = assign(graph, &LOCAL_BUDGETS)
    {
        return Ok(found);
    }
    Err(Box::new(StructurallySingular::explain(graph)))
}

impl StructurallySingular {
    /// The parts of a graph without perfect matching.
    pub(crate) fn explain(graph: &impl Adjacency) -> Self {
        let matching = Matcher::new().maximum(graph);
        let parts = DulmageMendelsohn::new(graph, &matching);
        Self { matching, parts }
    }
}

/// A search from a single row is put off when its tree has this many rows; most rows find a
/// column nearby, and the rest is cheaper together once those are out of the way.
const LOCAL_BUDGETS: [usize; 2] = [64, 1024];

/// `None` if there is no perfect matching.
fn assign(graph: &impl WeightedAdjacency, budgets: &[usize]) -> Option<HighestValueTransversal> {
    let mut state = HighestValueTransversal {
        matching: Matching::empty(graph.row_count(), graph.column_count()),
        offsets: start_offsets(graph),
    };
    let mut free = match_greedily(graph, &mut state);
    let mut search = Hungarian::new(graph.column_count());
    for &budget in budgets {
        let mut put_off = Vec::new();
        for row in free {
            if !search.augment(graph, &mut state, &[row], budget)? {
                put_off.push(row);
            }
        }
        free = put_off;
    }
    while !free.is_empty() {
        search.augment(graph, &mut state, &free, usize::MAX)?;
        free.retain(|&row| state.matching.column_of(row).is_none());
        search.augment_tight(graph, &mut state, &mut free);
    }
    Some(state)
}

/// c = 0 and the least d for it.
fn start_offsets(graph: &impl WeightedAdjacency) -> Offsets {
    let mut columns = vec![0; graph.column_count()];
    for row in rows(graph.row_count()) {
        for (column, weight) in graph.entries_of(row) {
            let offset: &mut i64 = &mut columns[column.index()];
            *offset = i64::from(weight).max(*offset);
        }
    }
    Offsets {
        rows: vec![0; graph.row_count()],
        columns,
    }
}

/// Matches each row to its first free column by a tight edge; returns the rows left over.
fn match_greedily(graph: &impl WeightedAdjacency, state: &mut HighestValueTransversal) -> Vec<Row> {
    let mut free = Vec::new();
    for row in rows(graph.row_count()) {
        let tight_and_free = graph.entries_of(row).find(|&(column, weight)| {
            state.matching.row_of(column).is_none() && state.offsets.is_tight(row, column, weight)
        });
        match tight_and_free {
            Some((column, _)) => {
                state.matching.set(row, column);
                state.matching.grow();
            }
            None => free.push(row),
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use saltus_testing::Random;

    use super::*;
    use crate::index::Column;
    use crate::weighted::WeightedBipartite;

    /// A pseudo-random graph with a perfect matching.
    fn graph(n: u32, seed: u64) -> WeightedBipartite {
        let mut random = Random(seed);
        let mut next = |bound: u32| random.below(bound as usize) as u32;
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
                let found = assign(&graph, budgets).expect("a perfect matching exists");
                assert_eq!(found.matching.validate(&graph), Ok(()));
                assert_eq!(found.offsets.validate(&graph, &found.matching), Ok(()));
                found.offsets
            };
            let alone = offsets(&[usize::MAX]);
            assert_eq!(alone, offsets(&[]));
            assert_eq!(alone, offsets(&[1, 3]));
        }
    }
}
