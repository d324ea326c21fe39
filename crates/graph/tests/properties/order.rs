use proptest::prelude::*;
use saltus_graph::{Bipartite, Column, Row, Tearer, Tearing};

use crate::brute::{columns_of, graph};
use crate::config;

const N: usize = 6;

fn tear(rows: &[u32], solvable: &[u32]) -> Tearing {
    let all_rows: Vec<Row> = (0..rows.len()).map(Row::from_index).collect();
    let all_columns: Vec<Column> = (0..N).map(Column::from_index).collect();
    let can = |row: Row, column: Column| solvable[row.index()] >> column.0 & 1 == 1;
    Tearer::new().tear(&graph(N, rows), &all_rows, &all_columns, can, |_| 0)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn torn_blocks_are_causal(
        rows in prop::collection::vec(1u32..1 << N, N),
        solvable in prop::collection::vec(0u32..1 << N, N),
    ) {
        let tearing = tear(&rows, &solvable);
        let mut known = tearing.tears.iter().fold(0u32, |mask, column| mask | 1 << column.0);
        prop_assert_eq!(known.count_ones() as usize, tearing.tears.len());
        for &(row, column) in &tearing.causal {
            prop_assert_eq!(rows[row.index()] & !known, 1 << column.0);
            prop_assert!(solvable[row.index()] >> column.0 & 1 == 1);
            known |= 1 << column.0;
        }
        prop_assert_eq!(known, (1 << N) - 1);
        prop_assert_eq!(tearing.residuals.len(), tearing.tears.len());
        let mut used: Vec<Row> = tearing.causal.iter().map(|&(row, _)| row).collect();
        used.extend(&tearing.residuals);
        used.sort();
        prop_assert_eq!(used, (0..N).map(Row::from_index).collect::<Vec<_>>());
    }

    /// Triangular under some permutation: nothing to tear.
    #[test]
    fn triangular_blocks_need_no_tears(
        below in prop::collection::vec(0u32..1 << N, N),
        row_order in Just((0..N).collect::<Vec<_>>()).prop_shuffle(),
        column_order in Just((0..N as u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut rows = vec![0; N];
        for (i, &row) in row_order.iter().enumerate() {
            let mask = below[i] & ((1 << i) - 1) | 1 << i;
            rows[row] = columns_of(mask).iter().fold(0, |m, c| m | 1 << column_order[c.index()]);
        }
        let tearing = tear(&rows, &[u32::MAX; N]);
        prop_assert_eq!(tearing.tears, vec![]);
    }
}

#[test]
fn a_ring_needs_one_tear() {
    let ring = |i: u32| vec![Column(0), Column(5 + i), Column(5 + (i + 1) % 4)];
    let graph = Bipartite::from_rows(9, (0..4).map(ring));
    let rows: Vec<Row> = (0..4).map(Row).collect();
    let columns: Vec<Column> = (5..9).map(Column).collect();
    let prefer = |column: Column| i32::from(column == Column(7));
    let tearing = Tearer::new().tear(&graph, &rows, &columns, |_, _| true, prefer);
    assert_eq!(tearing.tears, vec![Column(7)]);
    assert_eq!(tearing.residuals.len(), 1);
}

#[test]
fn ladders_need_few_tears() {
    let cells = 500u32;
    let (voltage, current) = (|k: u32| Column(2 * k), |k: u32| Column(2 * k + 1));
    let rows = (0..2 * cells).map(|row| {
        let k = row / 2;
        let neighbour = match row % 2 {
            0 => (k + 1 < cells).then(|| current(k + 1)),
            _ => k.checked_sub(1).map(voltage),
        };
        [voltage(k), current(k)].into_iter().chain(neighbour)
    });
    let graph = Bipartite::from_rows(2 * cells as usize, rows);
    let rows: Vec<Row> = (0..2 * cells).map(Row).collect();
    let columns: Vec<Column> = (0..2 * cells).map(Column).collect();
    let tearing = Tearer::new().tear(&graph, &rows, &columns, |_, _| true, |_| 0);
    assert_eq!(tearing.tears.len(), 1);
}
