//! Colouring of columns for compressed Jacobians.

use crate::bipartite::{Adjacency, Bipartite};
use crate::index::{Column, NONE, Row, columns};

/// Colours of columns such that no row contains two columns of one colour: all columns of a
/// colour can be differentiated at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloring {
    color: Vec<u32>,
    count: usize,
    dense_rows: Vec<Row>,
}

impl Coloring {
    /// Number of colours.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The colour of a column, below [`Self::len`].
    pub fn color_of(&self, column: Column) -> usize {
        self.color[column.index()] as usize
    }

    /// The columns of each colour, in order.
    pub fn groups(&self) -> Vec<Vec<Column>> {
        let mut groups = vec![Vec::new(); self.count];
        for column in columns(self.color.len()) {
            groups[self.color_of(column)].push(column);
        }
        groups
    }

    /// The rows above the density limit; columns that share only such a row may share a colour,
    /// so these rows have to be differentiated in another way.
    pub fn dense_rows(&self) -> &[Row] {
        &self.dense_rows
    }
}

/// Colours columns greedily, those in most rows first. Rows with more than `dense_row_limit`
/// columns are left out of account: a row of n columns costs n² and n colours.
pub fn color_columns(graph: &Bipartite, dense_row_limit: usize) -> Coloring {
    let by_column = graph.transposed();
    let is_dense = |row: Row| graph.columns_of(row).len() > dense_row_limit;
    let mut color = vec![NONE; graph.column_count()];
    // The last column that may not have a colour.
    let mut forbidden_for: Vec<u32> = Vec::new();
    for column in by_decreasing_degree(&by_column) {
        let rows = by_column.columns_of(Row(column.0)).iter().map(|c| Row(c.0));
        for &other in rows.filter(|&row| !is_dense(row)).flat_map(|row| graph.columns_of(row)) {
            if let Some(forbidden) = forbidden_for.get_mut(color[other.index()] as usize) {
                *forbidden = column.0;
            }
        }
        let free = forbidden_for.iter().position(|&forbidden| forbidden != column.0);
        let chosen = free.unwrap_or_else(|| {
            forbidden_for.push(NONE);
            forbidden_for.len() - 1
        });
        color[column.index()] = chosen as u32;
    }
    let dense_rows = crate::index::rows(graph.row_count())
        .filter(|&row| is_dense(row))
        .collect();
    Coloring {
        color,
        count: forbidden_for.len(),
        dense_rows,
    }
}

fn by_decreasing_degree(by_column: &Bipartite) -> Vec<Column> {
    let mut order: Vec<Column> = columns(by_column.row_count()).collect();
    order.sort_by_key(|column| std::cmp::Reverse(by_column.columns_of(Row(column.0)).len()));
    order
}
