//! Large graphs whose rows and columns come in any order have the matchings and blocks they have in good order.

use saltus_graph::{
    Adjacency, Bipartite, Blocks, Column, Matcher, Matching, Row, block_triangular_order, match_and_order,
};
use saltus_testing::Random;

/// More rows than a cache holds, so that numbers matter.
const CELLS: u32 = 35_000;

/// Two rows a cell: a chain of blocks of four rows each. With `conflicts`, both rows of every seventh cell have the same
/// single column, so that no matching is perfect.
fn chain(conflicts: bool) -> Vec<Vec<u32>> {
    let (v, i) = (|k: u32| 2 * k, |k: u32| 2 * k + 1);
    let mut rows = Vec::new();
    for k in 0..CELLS {
        let first_of_block = k % 2 == 0;
        let partner = if first_of_block { k + 1 } else { k - 1 };
        let mut row = vec![v(k), i(k), v(partner % CELLS)];
        if first_of_block && k > 0 {
            row.push(i(k - 1));
        }
        let single = vec![v(k)];
        rows.push(if conflicts && k % 7 == 3 { single.clone() } else { row });
        rows.push(if conflicts && k % 7 == 3 {
            single
        } else {
            vec![v(k), i(k)]
        });
    }
    rows
}

fn permutation(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    Random(seed).shuffle(&mut order);
    order
}

struct Shuffled {
    graph: Bipartite,
    /// The row of the chain that a row of the graph is.
    rows: Vec<u32>,
}

fn shuffled(chain: &[Vec<u32>], seed: u64) -> Shuffled {
    let (rows, columns) = (permutation(chain.len(), seed), permutation(chain.len(), seed + 1));
    let row = |&row: &u32| {
        chain[row as usize]
            .iter()
            .map(|&column| Column(columns[column as usize]))
    };
    Shuffled {
        graph: Bipartite::from_rows(chain.len(), rows.iter().map(row)),
        rows,
    }
}

/// Blocks as sets of the chain's rows, in an order that does not depend on the search.
fn sets(blocks: &Blocks, name: impl Fn(Row) -> u32) -> Vec<Vec<u32>> {
    let set = |rows: &[Row]| {
        let mut set: Vec<u32> = rows.iter().map(|&row| name(row)).collect();
        set.sort_unstable();
        set
    };
    let mut sets: Vec<Vec<u32>> = blocks.iter().map(set).collect();
    sets.sort();
    sets
}

fn assert_ordered(graph: &Bipartite, matching: &Matching, blocks: &Blocks) {
    for row in (0..graph.row_count()).map(Row::from_index) {
        for &column in graph.columns_of(row) {
            let needed = matching.row_of(column).unwrap_or(row);
            assert!(blocks.block_of(needed) <= blocks.block_of(row));
        }
    }
    for (at, rows) in blocks.iter().enumerate() {
        assert!(rows.is_sorted());
        assert!(
            rows.iter()
                .all(|&row| blocks.block_of(row).map(|block| block.index()) == Some(at))
        );
    }
}

#[test]
fn matchings_stay_maximum() {
    let chain = chain(true);
    let graph = Bipartite::from_rows(chain.len(), chain.iter().map(|row| row.iter().map(|&c| Column(c))));
    let in_order = Matcher::new().maximum(&graph);
    assert!(!in_order.is_perfect());
    for seed in [1, 2] {
        let shuffled = shuffled(&chain, seed);
        let matching = Matcher::new().maximum(&shuffled.graph);
        assert_eq!(matching.validate(&shuffled.graph), Ok(()));
        assert_eq!(matching.len(), in_order.len());
        let (together, blocks) = match_and_order(&shuffled.graph);
        assert_eq!(together, matching);
        assert_ordered(&shuffled.graph, &matching, &blocks);
    }
}

#[test]
fn blocks_do_not_depend_on_the_order() {
    let chain = chain(false);
    let graph = Bipartite::from_rows(chain.len(), chain.iter().map(|row| row.iter().map(|&c| Column(c))));
    let (matching, blocks) = match_and_order(&graph);
    assert!(matching.is_perfect());
    let expected = sets(&blocks, |row| row.0);
    assert_eq!(expected.len(), CELLS as usize / 2);
    for seed in [3, 4] {
        let shuffled = shuffled(&chain, seed);
        let (matching, together) = match_and_order(&shuffled.graph);
        let alone = block_triangular_order(&shuffled.graph, &matching);
        for blocks in [&together, &alone] {
            assert_ordered(&shuffled.graph, &matching, blocks);
            assert_eq!(sets(blocks, |row| shuffled.rows[row.index()]), expected);
        }
    }
}
