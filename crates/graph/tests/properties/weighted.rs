use proptest::prelude::*;
use saltus_graph::{Column, Offsets, Part, Row, WeightedAdjacency, WeightedBipartite, highest_value_transversal};
use saltus_testing::permutations;

use crate::config;

type Signature = Vec<Vec<Option<i32>>>;

fn signature(n: usize, weights: std::ops::Range<i32>) -> impl Strategy<Value = Signature> {
    let entry = prop_oneof![Just(None), weights.prop_map(Some)];
    prop::collection::vec(prop::collection::vec(entry, n), n)
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
            prop_assert_eq!(&found.offsets, &least);
        }
        (Err(singular), None) => {
            prop_assert!(!singular.matching.is_perfect());
            let rows = (0..signature.len()).map(Row::from_index);
            prop_assert!(
                rows.into_iter()
                    .any(|row| singular.parts.part_of_row(row) != Part::WellDetermined)
            );
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
}
