use proptest::prelude::*;
use saltus_graph::{Matcher, Matching, Row};

use crate::brute::{graph, matching_number};
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
}

#[test]
fn long_augmenting_path() {
    use saltus_graph::{Bipartite, Column};
    let n = 200_000u32;
    let rows = (0..n).map(|i| vec![Column(i), Column(i + 1)]);
    let graph = Bipartite::from_rows(n as usize + 1, rows.chain([vec![Column(0)]]));
    let mut matching = Matching::empty(n as usize + 1, n as usize + 1);
    (0..n).for_each(|i| matching.insert(Row(i), Column(i)));
    Matcher::new().complete(&graph, &mut matching);
    assert!(matching.is_perfect());
    assert_eq!(matching.column_of(Row(0)), Some(Column(1)));
}
