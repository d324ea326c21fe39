use std::sync::Arc;

use proptest::prelude::*;
use saltus_graph::{Adjacency, IncrementalMatching, Matcher, Matching, Overlay, Row};

use crate::brute::{columns_of, graph, matching_number};
use crate::{any_rows, config};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn maximum_matching_is_maximum(rows in any_rows(6, 7)) {
        let graph = graph(6, &rows);
        let matching = Matcher::new().maximum(&graph);
        prop_assert_eq!(matching.validate(&graph), Ok(()));
        prop_assert_eq!(matching.len(), matching_number(&rows));
    }

    #[test]
    fn completing_keeps_what_is_matched(rows in any_rows(6, 7), first in 0usize..7) {
        let graph = graph(6, &rows);
        let mut matcher = Matcher::new();
        let mut matching = Matching::empty(rows.len(), 6);
        let order = (0..first.min(rows.len())).map(Row::from_index);
        matcher.augment_in_order(&graph, &mut matching, order);
        let before = matching.clone();
        matcher.complete(&graph, &mut matching);
        prop_assert_eq!(matching.validate(&graph), Ok(()));
        prop_assert_eq!(matching.len(), matching_number(&rows));
        prop_assert!(before.pairs().all(|(row, _)| matching.column_of(row).is_some()));
        prop_assert!(before.pairs().all(|(_, column)| matching.row_of(column).is_some()));
    }

    /// Greedy by priority: a row is matched exactly if it can be together with those before it.
    #[test]
    fn priorities_are_respected(
        rows in any_rows(5, 7),
        shuffle in any::<prop::sample::Index>(),
    ) {
        let graph = graph(5, &rows);
        let mut order: Vec<Row> = (0..rows.len()).map(Row::from_index).collect();
        if !order.is_empty() {
            order.rotate_left(shuffle.index(rows.len()));
        }
        let mut matching = Matching::empty(rows.len(), 5);
        let free = Matcher::new().augment_in_order(&graph, &mut matching, order.clone());
        let mut chosen = Vec::new();
        let mut expected = Vec::new();
        for row in order {
            chosen.push(rows[row.index()]);
            if matching_number(&chosen) < chosen.len() {
                chosen.pop();
                expected.push(row);
            }
        }
        prop_assert_eq!(matching.validate(&graph), Ok(()));
        prop_assert_eq!(free, expected);
    }

    #[test]
    fn incremental_matching_stays_maximum(
        rows in prop::collection::vec(0u32..64, 6),
        changes in prop::collection::vec(
            prop::collection::vec((0usize..6, prop::option::of(0u32..64)), 1..4), 1..6),
    ) {
        let mut overlay = Overlay::new(Arc::new(graph(6, &rows)));
        let mut present = rows.clone();
        let mut incremental = IncrementalMatching::new(&overlay);
        for change in changes {
            for &(row, replacement) in &change {
                match replacement {
                    Some(mask) => overlay.replace_row(Row::from_index(row), columns_of(mask)),
                    None => overlay.restore_row(Row::from_index(row)),
                }
                present[row] = replacement.unwrap_or(rows[row]);
            }
            let before = incremental.matching().clone();
            let changed: Vec<Row> = change.iter().map(|&(row, _)| Row::from_index(row)).collect();
            let report = incremental.update(&overlay, &changed);
            let matching = incremental.matching();
            prop_assert_eq!(matching.validate(&overlay), Ok(()));
            prop_assert_eq!(matching.len(), matching_number(&present));
            let differs = |row: &Row| before.column_of(*row) != matching.column_of(*row);
            let all = (0..6).map(Row);
            prop_assert!(all.clone().filter(differs).all(|r| report.rematched.contains(&r)));
            let empty = |row: &Row| overlay.columns_of(*row).is_empty();
            let unmatched: Vec<Row> = matching.unmatched_rows().filter(|r| !empty(r)).collect();
            prop_assert_eq!(&report.unmatched, &unmatched);
            prop_assert_eq!(incremental.unmatched().collect::<Vec<_>>(), unmatched);
        }
    }
}

/// A chain in which one change makes the whole matching shift: deep, but not recursive.
#[test]
fn long_augmenting_path() {
    use saltus_graph::{Bipartite, Column};
    let n = 200_000u32;
    let rows = (0..n).map(|i| vec![Column(i), Column(i + 1)]);
    let base = Bipartite::from_rows(n as usize + 1, rows.chain([vec![Column(n)]]));
    let mut overlay = Overlay::new(Arc::new(base));
    let mut incremental = IncrementalMatching::new(&overlay);
    assert!(incremental.matching().is_perfect());
    overlay.replace_row(Row(n), [Column(0)]);
    let report = incremental.update(&overlay, &[Row(n)]);
    assert_eq!(report.rematched.len(), n as usize + 1);
    assert!(incremental.matching().is_perfect());
}
