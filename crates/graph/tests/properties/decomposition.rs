use proptest::prelude::*;
use saltus_graph::{
    Column, DulmageMendelsohn, Matcher, Part, Row, block_triangular_order, conflicting_set, connected_components,
};

use crate::brute::{closure, columns_of, graph, matching_number};
use crate::{any_rows, config};

const COLUMNS: usize = 6;

fn without(rows: &[u32], row: usize) -> Vec<u32> {
    let mut rest = rows.to_vec();
    rest.remove(row);
    rest
}

/// Rows that some maximum matching leaves free are those whose removal costs nothing.
fn dispensable_rows(rows: &[u32]) -> Vec<usize> {
    let number = matching_number(rows);
    (0..rows.len())
        .filter(|&row| matching_number(&without(rows, row)) == number)
        .collect()
}

fn dispensable_columns(rows: &[u32]) -> Vec<usize> {
    let number = matching_number(rows);
    let removed = |column: usize| rows.iter().map(|m| m & !(1 << column)).collect::<Vec<_>>();
    (0..COLUMNS)
        .filter(|&column| matching_number(&removed(column)) == number)
        .collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn coarse_parts(rows in any_rows(COLUMNS, 7)) {
        let graph = graph(COLUMNS, &rows);
        let matching = Matcher::new().maximum(&graph);
        let parts = DulmageMendelsohn::new(&graph, &matching);
        let over = dispensable_rows(&rows);
        let under = dispensable_columns(&rows);
        for (row, mask) in rows.iter().enumerate() {
            let part = parts.part_of_row(Row::from_index(row));
            prop_assert_eq!(part == Part::Overdetermined, over.contains(&row));
            let touches_under = under.iter().any(|column| mask >> column & 1 == 1);
            prop_assert_eq!(part == Part::Underdetermined, touches_under);
        }
        for column in 0..COLUMNS {
            let part = parts.part_of_column(Column::from_index(column));
            prop_assert_eq!(part == Part::Underdetermined, under.contains(&column));
            let touches_over = over.iter().any(|&row| rows[row] >> column & 1 == 1);
            prop_assert_eq!(part == Part::Overdetermined, touches_over);
        }
    }

    #[test]
    fn parts_do_not_depend_on_the_order_of_rows(rows in any_rows(COLUMNS, 7), by in 0usize..7) {
        let decompose = |rows: &[u32]| {
            let graph = graph(COLUMNS, rows);
            let matching = Matcher::new().maximum(&graph);
            DulmageMendelsohn::new(&graph, &matching)
        };
        let mut rotated = rows.clone();
        let by = if rows.is_empty() { 0 } else { by % rows.len() };
        rotated.rotate_left(by);
        rotated.reverse();
        let (a, b) = (decompose(&rows), decompose(&rotated));
        for row in 0..rows.len() {
            let there = rows.len() - 1 - (row + rows.len() - by) % rows.len();
            let (here, there) = (Row::from_index(row), Row::from_index(there));
            prop_assert_eq!(a.part_of_row(here), b.part_of_row(there));
        }
        for column in (0..COLUMNS).map(Column::from_index) {
            prop_assert_eq!(a.part_of_column(column), b.part_of_column(column));
        }
    }

    #[test]
    fn fine_parts_cover_the_coarse_ones(rows in any_rows(COLUMNS, 7)) {
        let graph = graph(COLUMNS, &rows);
        let matching = Matcher::new().maximum(&graph);
        let parts = DulmageMendelsohn::new(&graph, &matching);
        let fine = parts.fine(&graph, &matching);
        let mut well = fine.well_determined.iter().flatten().copied().collect::<Vec<_>>();
        well.sort();
        prop_assert_eq!(well, parts.rows(Part::WellDetermined).collect::<Vec<_>>());
        for (pieces, part) in [
            (&fine.overdetermined, Part::Overdetermined),
            (&fine.underdetermined, Part::Underdetermined),
        ] {
            let mut members: Vec<Row> = pieces.iter().flat_map(|p| p.rows.clone()).collect();
            members.sort();
            prop_assert_eq!(members, parts.rows(part).collect::<Vec<_>>());
            let mut members: Vec<Column> = pieces.iter().flat_map(|p| p.columns.clone()).collect();
            members.sort();
            prop_assert_eq!(members, parts.columns(part).collect::<Vec<_>>());
        }
        prop_assert!(fine.overdetermined.iter().all(|p| p.rows.len() > p.columns.len()));
        prop_assert!(fine.underdetermined.iter().all(|p| p.rows.len() < p.columns.len()));
    }

    #[test]
    fn conflicting_sets_are_circuits(rows in any_rows(COLUMNS, 8)) {
        let graph = graph(COLUMNS, &rows);
        let matching = Matcher::new().maximum(&graph);
        for row in matching.unmatched_rows() {
            let set = conflicting_set(&graph, &matching, row);
            let masks: Vec<u32> = set.rows.iter().map(|row| rows[row.index()]).collect();
            prop_assert!(set.rows.contains(&row));
            prop_assert_eq!(set.rows.len(), set.columns.len() + 1);
            let all = masks.iter().fold(0, |a, b| a | b);
            prop_assert_eq!(&columns_of(all), &set.columns);
            for i in 0..masks.len() {
                prop_assert_eq!(matching_number(&without(&masks, i)), masks.len() - 1);
            }
        }
    }

    #[test]
    fn blocks_are_strong_components_in_order(rows in any_rows(COLUMNS, 6)) {
        let graph = graph(COLUMNS, &rows);
        let matching = Matcher::new().maximum(&graph);
        let blocks = block_triangular_order(&graph, &matching);
        let mut needs = vec![vec![false; rows.len()]; rows.len()];
        for (row, &mask) in rows.iter().enumerate() {
            for other in columns_of(mask).into_iter().filter_map(|c| matching.row_of(c)) {
                needs[row][other.index()] = true;
            }
        }
        let reach = closure(needs);
        let block = |i: usize| blocks.block_of(Row::from_index(i));
        for (i, reached) in reach.iter().enumerate() {
            for (j, &needed) in reached.iter().enumerate() {
                prop_assert_eq!(block(i) == block(j), needed && reach[j][i]);
                prop_assert!(!needed || block(j) <= block(i));
            }
        }
        prop_assert_eq!(blocks.iter().flatten().count(), rows.len());
        prop_assert_eq!(blocks.iter().map(<[Row]>::len).sum::<usize>(), rows.len());
    }

    #[test]
    fn components_are_connected(rows in any_rows(COLUMNS, 6)) {
        let components = connected_components(&graph(COLUMNS, &rows));
        let n = rows.len() + COLUMNS;
        let mut touches = vec![vec![false; n]; n];
        for (row, &mask) in rows.iter().enumerate() {
            for column in columns_of(mask) {
                touches[row][rows.len() + column.index()] = true;
                touches[rows.len() + column.index()][row] = true;
            }
        }
        let reach = closure(touches);
        let component = |i: usize| match i.checked_sub(rows.len()) {
            None => components.of_row(Row::from_index(i)),
            Some(column) => components.of_column(Column::from_index(column)),
        };
        for (i, reached) in reach.iter().enumerate() {
            for (j, &connected) in reached.iter().enumerate() {
                prop_assert_eq!(component(i) == component(j), connected);
            }
        }
        prop_assert_eq!(components.rows().len(), components.len());
        prop_assert_eq!(components.columns().iter().flatten().count(), COLUMNS);
    }
}
