use proptest::prelude::*;
use saltus_graph::{Bipartite, Column, IncrementalBlocks, Matching, Row, RowDependencies, block_triangular_order};

use crate::brute::closure;
use crate::config;

const N: usize = 8;

/// Row i needs the rows in its bit set.
#[derive(Clone, Debug)]
struct Relation(Vec<u32>);

impl RowDependencies for Relation {
    fn dependencies(&self, row: Row, into: &mut Vec<Row>) {
        into.extend((0..N as u32).filter(|j| self.0[row.index()] >> j & 1 == 1).map(Row));
    }
    fn dependents(&self, row: Row, into: &mut Vec<Row>) {
        let needs = |i: &usize| self.0[*i] >> row.0 & 1 == 1;
        into.extend((0..N).filter(needs).map(Row::from_index));
    }
}

fn blocks_of(relation: &Relation) -> IncrementalBlocks {
    let row = |i: usize| {
        let needed = (0..N as u32).filter(move |&j| relation.0[i] >> j & 1 == 1 || j as usize == i);
        needed.map(Column)
    };
    let graph = Bipartite::from_rows(N, (0..N).map(row));
    let mut diagonal = Matching::empty(N, N);
    (0..N as u32).for_each(|i| diagonal.insert(Row(i), Column(i)));
    IncrementalBlocks::new(&block_triangular_order(&graph, &diagonal))
}

fn sparse() -> impl Strategy<Value = u32> {
    (0u32..1 << N, 0u32..1 << N, 0u32..1 << N).prop_map(|(a, b, c)| a & b & c)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_follow_changes(
        start in prop::collection::vec(sparse(), N),
        changes in prop::collection::vec(prop::collection::vec((0..N, sparse()), 1..4), 1..8),
    ) {
        let mut relation = Relation(start);
        let mut blocks = blocks_of(&relation);
        prop_assert_eq!(blocks.validate(&relation), Ok(()));
        for change in changes {
            let before = blocks.clone();
            for &(row, needed) in &change {
                relation.0[row] = needed;
            }
            let changed: Vec<Row> = change.iter().map(|&(row, _)| Row::from_index(row)).collect();
            let moved = blocks.update(&relation, &changed);
            prop_assert_eq!(blocks.validate(&relation), Ok(()));
            let needs = |i: usize, j: usize| relation.0[i] >> j & 1 == 1;
            let reach = closure((0..N).map(|i| (0..N).map(|j| needs(i, j)).collect()).collect());
            for (i, reached) in reach.iter().enumerate() {
                let row = Row::from_index(i);
                for (j, &needed) in reached.iter().enumerate() {
                    let same = blocks.same_block(row, Row::from_index(j));
                    prop_assert_eq!(same, needed && reach[j][i]);
                }
                let as_before =
                    blocks.block(row) == before.block(row) && blocks.key(row) == before.key(row);
                let reported = moved.iter().any(|&other| blocks.same_block(row, other));
                prop_assert!(as_before || reported);
            }
            prop_assert_eq!(blocks.iter().flatten().count(), N);
            let keys: Vec<u32> = blocks.iter().map(|block| blocks.key(block[0])).collect();
            prop_assert!(keys.is_sorted());
        }
    }
}
