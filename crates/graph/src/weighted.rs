//! Bipartite graphs with integer weights on the edges.

use std::sync::Arc;

use crate::bipartite::{Adjacency, Bipartite, BipartiteBuilder};
use crate::index::{Column, Row};

/// Row-wise access to a weighted incidence structure, such as the signature matrix σ.
pub trait WeightedAdjacency: Adjacency {
    /// The weights of a row's edges, in the order of [`Adjacency::columns_of`].
    fn weights_of(&self, row: Row) -> &[i32];

    /// A row's columns with their weights.
    #[inline]
    fn entries_of(&self, row: Row) -> impl Iterator<Item = (Column, i32)> + '_ {
        self.columns_of(row)
            .iter()
            .copied()
            .zip(self.weights_of(row).iter().copied())
    }

    /// The weight of an edge.
    fn weight(&self, row: Row, column: Column) -> Option<i32> {
        self.entries_of(row)
            .find(|&(c, _)| c == column)
            .map(|(_, weight)| weight)
    }
}

/// An immutable weighted bipartite graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedBipartite {
    graph: Arc<Bipartite>,
    weights: Vec<i32>,
}

impl WeightedBipartite {
    /// A builder for a graph with the given number of columns.
    pub fn builder(column_count: usize) -> WeightedBipartiteBuilder {
        WeightedBipartiteBuilder::new(column_count)
    }

    /// The graph whose rows are the given lists of columns with weights.
    ///
    /// # Panics
    /// If a column is out of range.
    pub fn from_rows<R>(column_count: usize, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = (Column, i32)>,
    {
        let mut builder = Self::builder(column_count);
        for row in rows {
            builder.push_row(row);
        }
        builder.finish()
    }

    /// The graph without its weights.
    pub fn graph(&self) -> &Arc<Bipartite> {
        &self.graph
    }

    /// The subgraph of the edges that `keep` accepts, with all rows and columns.
    pub fn filtered(&self, keep: impl Fn(Row, Column, i32) -> bool) -> Bipartite {
        Bipartite::from_rows(
            self.column_count(),
            crate::index::rows(self.row_count()).map(|row| {
                let kept = self.entries_of(row).filter(|&(c, w)| keep(row, c, w));
                kept.map(|(column, _)| column).collect::<Vec<_>>()
            }),
        )
    }
}

impl Adjacency for WeightedBipartite {
    #[inline]
    fn row_count(&self) -> usize {
        self.graph.row_count()
    }
    #[inline]
    fn column_count(&self) -> usize {
        self.graph.column_count()
    }
    #[inline]
    fn columns_of(&self, row: Row) -> &[Column] {
        self.graph.columns_of(row)
    }
}

impl WeightedAdjacency for WeightedBipartite {
    #[inline]
    fn weights_of(&self, row: Row) -> &[i32] {
        &self.weights[self.graph.edge_range(row)]
    }
}

/// Builds a [`WeightedBipartite`] row by row.
#[derive(Clone, Debug)]
pub struct WeightedBipartiteBuilder {
    graph: BipartiteBuilder,
    weights: Vec<i32>,
}

impl WeightedBipartiteBuilder {
    /// A builder for a graph with the given number of columns and no rows yet.
    pub fn new(column_count: usize) -> Self {
        Self {
            graph: BipartiteBuilder::new(column_count),
            weights: Vec::new(),
        }
    }

    /// Appends a row; of a repeated column the greatest weight counts.
    ///
    /// # Panics
    /// If a column is out of range or the graph outgrows 32-bit indices.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (Column, i32)>) -> Row {
        let row = self.graph.next_row();
        let first = self.weights.len();
        for (column, weight) in entries {
            if self.graph.push_edge(row, column) {
                self.weights.push(weight);
            } else if let Some(at) = self.graph.pending().iter().position(|&c| c == column) {
                let known = &mut self.weights[first + at];
                *known = weight.max(*known);
            }
        }
        self.graph.push_row([])
    }

    /// The finished graph.
    pub fn finish(self) -> WeightedBipartite {
        WeightedBipartite {
            graph: Arc::new(self.graph.finish()),
            weights: self.weights,
        }
    }
}
