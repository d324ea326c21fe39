//! Definitions, executed literally. Rows are bit sets of columns.

use saltus_graph::{Bipartite, Column};

pub(crate) fn columns_of(mask: u32) -> Vec<Column> {
    (0..32).filter(|bit| mask >> bit & 1 == 1).map(Column).collect()
}

pub(crate) fn graph(columns: usize, rows: &[u32]) -> Bipartite {
    Bipartite::from_rows(columns, rows.iter().map(|&mask| columns_of(mask)))
}

/// Size of a maximum matching: try everything.
pub(crate) fn matching_number(rows: &[u32]) -> usize {
    fn best(rows: &[u32], used: u32) -> usize {
        let Some((&first, rest)) = rows.split_first() else {
            return 0;
        };
        let mut result = best(rest, used);
        for bit in (0..32).filter(|bit| (first & !used) >> bit & 1 == 1) {
            result = result.max(1 + best(rest, used | 1 << bit));
        }
        result
    }
    best(rows, 0)
}

/// The reflexive and transitive closure of a relation.
#[allow(clippy::needless_range_loop)]
pub(crate) fn closure(mut relation: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let n = relation.len();
    for i in 0..n {
        relation[i][i] = true;
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                relation[i][j] |= relation[i][k] && relation[k][j];
            }
        }
    }
    relation
}
