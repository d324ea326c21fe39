use std::sync::Arc;

use proptest::prelude::*;
use saltus_graph::{
    Bipartite, Blocks, Column, DifferenceSystem, IncrementalBlocks, IncrementalTransversal, Matching, Node, Offsets,
    Row, WeightedAdjacency, WeightedBipartite, WeightedOverlay, block_triangular_order, canonical_offsets,
    highest_value_transversal,
};

use crate::brute::permutations;
use crate::config;

type Signature = Vec<Vec<Option<i32>>>;

fn signature(n: usize, weights: std::ops::Range<i32>) -> impl Strategy<Value = Signature> {
    let entry = prop_oneof![Just(None), weights.prop_map(Some)];
    prop::collection::vec(prop::collection::vec(entry, n), n)
}

/// Two or three entries, as a row of a neighbouring mode has.
fn entries(n: u32) -> impl Strategy<Value = Vec<(Column, i32)>> {
    prop::collection::vec(((0..n).prop_map(Column), -1..4), 1..4)
}

fn graph(signature: &Signature) -> WeightedBipartite {
    let rows = signature.iter().map(|row| {
        let entries = row.iter().enumerate();
        entries
            .filter_map(|(j, w)| Some((Column::from_index(j), (*w)?)))
            .collect::<Vec<_>>()
    });
    WeightedBipartite::from_rows(signature.len(), rows)
}

/// The blocks of the leading incidence, from scratch.
fn leading_blocks(transversal: &IncrementalTransversal) -> Blocks {
    let leading = Bipartite::from_rows(
        6,
        (0..6).map(Row).map(|row| {
            let entries = transversal.graph().entries_of(row);
            entries
                .filter(|&(column, weight)| transversal.offsets().is_tight(row, column, weight))
                .map(|(column, _)| column)
                .collect::<Vec<_>>()
        }),
    );
    block_triangular_order(&leading, transversal.matching())
}

fn value(signature: &Signature, transversal: &[usize]) -> Option<i64> {
    transversal
        .iter()
        .zip(signature)
        .map(|(&j, row)| row[j].map(i64::from))
        .sum()
}

/// The highest value of a transversal and one that has it.
fn best(signature: &Signature) -> Option<(i64, Vec<usize>)> {
    let all = permutations(signature.len()).into_iter();
    all.filter_map(|p| Some((value(signature, &p)?, p))).max()
}

/// Pryce's fixed-point iteration.
fn least_offsets(signature: &Signature, transversal: &[usize]) -> Offsets {
    let n = signature.len();
    let mut c = vec![0i64; n];
    loop {
        let mut d = vec![0i64; n];
        for (i, row) in signature.iter().enumerate() {
            for (j, w) in row.iter().enumerate() {
                d[j] = w.map_or(d[j], |w| d[j].max(c[i] + i64::from(w)));
            }
        }
        let weight = |i: usize| i64::from(signature[i][transversal[i]].unwrap());
        let next: Vec<i64> = (0..n).map(|i| d[transversal[i]] - weight(i)).collect();
        if next == c {
            return Offsets { rows: c, columns: d };
        }
        c = next;
    }
}

fn as_matching(transversal: &[usize]) -> Matching {
    let mut matching = Matching::empty(transversal.len(), transversal.len());
    for (i, &j) in transversal.iter().enumerate() {
        matching.insert(Row::from_index(i), Column::from_index(j));
    }
    matching
}

fn check_transversal(signature: &Signature) -> Result<(), TestCaseError> {
    let graph = graph(signature);
    match (highest_value_transversal(&graph), best(signature)) {
        (Ok(found), Some((highest, transversal))) => {
            prop_assert_eq!(found.matching.validate(&graph), Ok(()));
            let pairs = found.matching.pairs();
            let value: i64 = pairs.map(|(r, c)| i64::from(graph.weight(r, c).unwrap())).sum();
            prop_assert_eq!(value, highest);
            let least = least_offsets(signature, &transversal);
            prop_assert_eq!(found.offsets.validate(&graph, &found.matching), Ok(()));
            prop_assert_eq!(&canonical_offsets(&graph, &found.matching).unwrap(), &least);
            prop_assert_eq!(&found.offsets, &least);
        }
        (Err(singular), None) => {
            prop_assert!(!singular.matching.is_perfect());
            prop_assert!(!singular.parts.is_well_determined());
        }
        _ => prop_assert!(false, "singular or not?"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn transversal_has_highest_value_and_least_offsets(signature in signature(5, 0..4)) {
        check_transversal(&signature)?;
    }

    #[test]
    fn negative_and_large_weights(signature in signature(4, -5..20)) {
        check_transversal(&signature)?;
    }

    #[test]
    fn any_transversal_gives_offsets_or_a_way_to_improve_it(
        signature in signature(4, 0..4),
        which in any::<prop::sample::Index>(),
    ) {
        let graph = graph(&signature);
        let all: Vec<_> =
            permutations(4).into_iter().filter(|p| value(&signature, p).is_some()).collect();
        if all.is_empty() {
            return Ok(());
        }
        let transversal = &all[which.index(all.len())];
        let (highest, best) = best(&signature).unwrap();
        match canonical_offsets(&graph, &as_matching(transversal)) {
            Ok(offsets) => {
                prop_assert_eq!(value(&signature, transversal), Some(highest));
                prop_assert_eq!(offsets, least_offsets(&signature, &best));
            }
            Err(cycle) => {
                let mut improved = transversal.clone();
                for (i, row) in cycle.rows.iter().enumerate() {
                    let next = cycle.rows[(i + 1) % cycle.rows.len()];
                    improved[row.index()] = transversal[next.index()];
                }
                let gain = value(&signature, &improved).unwrap()
                    - value(&signature, transversal).unwrap();
                prop_assert!(gain > 0);
                prop_assert_eq!(gain, cycle.gain);
            }
        }
    }

    #[test]
    fn offsets_do_not_depend_on_the_order(
        signature in signature(5, 0..4),
        rows in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
        columns in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let permuted: Signature = rows.iter()
            .map(|&i| columns.iter().map(|&j| signature[i][j]).collect())
            .collect();
        let a = highest_value_transversal(&graph(&signature));
        let b = highest_value_transversal(&graph(&permuted));
        match (a, b) {
            (Ok(a), Ok(b)) => {
                let c: Vec<i64> = rows.iter().map(|&i| a.offsets.rows[i]).collect();
                let d: Vec<i64> = columns.iter().map(|&j| a.offsets.columns[j]).collect();
                prop_assert_eq!((c, d), (b.offsets.rows, b.offsets.columns));
            }
            (Err(a), Err(b)) => {
                for (there, &here) in rows.iter().enumerate() {
                    let (here, there) = (Row::from_index(here), Row::from_index(there));
                    prop_assert_eq!(a.parts.part_of_row(here), b.parts.part_of_row(there));
                }
            }
            _ => prop_assert!(false, "singular or not?"),
        }
    }

    #[test]
    fn incremental_transversal_follows_changes(
        signature in signature(6, -1..4),
        changes in prop::collection::vec(
            prop::collection::vec((0usize..6, prop::option::of(entries(6))), 1..4), 1..8),
    ) {
        let start = WeightedOverlay::new(Arc::new(graph(&signature)));
        let Ok(mut incremental) = IncrementalTransversal::new(start) else { return Ok(()) };
        let mut blocks = IncrementalBlocks::new(&leading_blocks(&incremental));
        for change in changes {
            let offsets = incremental.offsets().clone();
            let matching = incremental.matching().clone();
            let change: Vec<_> = change.into_iter()
                .map(|(row, entries)| (Row::from_index(row), entries))
                .collect();
            let outcome = incremental.update(&change);
            let fresh = highest_value_transversal(incremental.graph());
            prop_assert_eq!(incremental.matching().validate(incremental.graph()), Ok(()));
            let Ok(report) = outcome else {
                prop_assert!(fresh.is_err());
                continue;
            };
            let fresh = fresh.unwrap();
            prop_assert_eq!(incremental.offsets(), &fresh.offsets);
            prop_assert!(incremental.matching().is_perfect());
            blocks.update(&incremental, &report.concerned_rows(incremental.matching()));
            prop_assert_eq!(blocks.validate(&incremental), Ok(()));
            let expected = leading_blocks(&incremental);
            for a in (0..6).map(Row) {
                for b in (0..6).map(Row) {
                    let together = expected.block_of(a) == expected.block_of(b);
                    prop_assert_eq!(blocks.same_block(a, b), together);
                }
            }
            let now = incremental.offsets();
            let rows: Vec<Row> =
                (0..6).filter(|&i| now.rows[i] != offsets.rows[i]).map(Row::from_index).collect();
            prop_assert_eq!(report.row_offsets, rows);
            let columns: Vec<Column> = (0..6)
                .filter(|&i| now.columns[i] != offsets.columns[i])
                .map(Column::from_index)
                .collect();
            prop_assert_eq!(report.column_offsets, columns);
            for row in (0..6).map(Row) {
                let same = matching.column_of(row) == incremental.matching().column_of(row);
                prop_assert!(same || report.rematched.contains(&row));
            }
        }
    }

    #[test]
    fn difference_systems(
        lower in prop::collection::vec(-3i64..4, 1..6),
        constraints in prop::collection::vec((0u32..6, 0u32..6, -3i32..3), 0..12),
    ) {
        let n = lower.len() as u32;
        let mut system = DifferenceSystem::new(0);
        lower.iter().for_each(|&bound| { system.add_node(bound); });
        for &(from, to, gap) in &constraints {
            system.require(Node(from % n), Node(to % n), gap);
        }
        let mut value = lower.clone();
        let mut settled = false;
        for _ in 0..=n {
            settled = true;
            for &(from, to, gap) in &constraints {
                let least = value[(from % n) as usize] + i64::from(gap);
                if least > value[(to % n) as usize] {
                    value[(to % n) as usize] = least;
                    settled = false;
                }
            }
        }
        match system.least_solution() {
            Ok(solution) => {
                prop_assert!(settled);
                prop_assert_eq!(solution, value);
            }
            Err(cycle) => {
                prop_assert!(!settled && cycle.gain > 0);
                let arcs: Vec<_> = cycle.constraints.iter().map(|&c| system.constraint(c)).collect();
                prop_assert_eq!(arcs.iter().map(|a| i64::from(a.2)).sum::<i64>(), cycle.gain);
                for (i, arc) in arcs.iter().enumerate() {
                    prop_assert_eq!(arc.1, arcs[(i + 1) % arcs.len()].0);
                }
            }
        }
    }
}

/// x₁ = u(t), x₂ = x₁', x₃ = x₂', …: the index grows with the length; the time must not grow
/// with its square.
#[test]
fn chain_of_differentiators() {
    let n = 50_000u32;
    let first = vec![(Column(0), 0)];
    let rest = (1..n).map(|i| vec![(Column(i), 0), (Column(i - 1), 1)]);
    let sigma = WeightedBipartite::from_rows(n as usize, std::iter::once(first).chain(rest));
    let found = highest_value_transversal(&sigma).unwrap();
    let expected: Vec<i64> = (0..i64::from(n)).rev().collect();
    assert_eq!(found.offsets.rows, expected);
    assert_eq!(canonical_offsets(&sigma, &found.matching).unwrap(), found.offsets);
}
