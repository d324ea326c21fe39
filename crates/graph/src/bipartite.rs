//! Bipartite graphs in compressed row form.

use crate::index::{Column, NONE, Row, rows};

/// Row-wise access to an incidence structure.
pub trait Adjacency {
    /// Number of rows; some may be empty.
    fn row_count(&self) -> usize;
    /// Number of columns; some may occur in no row.
    fn column_count(&self) -> usize;
    /// The distinct columns of a row, in the order in which they were given.
    fn columns_of(&self, row: Row) -> &[Column];
}

impl<G: Adjacency + ?Sized> Adjacency for &G {
    fn row_count(&self) -> usize {
        (**self).row_count()
    }
    fn column_count(&self) -> usize {
        (**self).column_count()
    }
    fn columns_of(&self, row: Row) -> &[Column] {
        (**self).columns_of(row)
    }
}

/// An immutable bipartite graph, rows compressed one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bipartite {
    column_count: usize,
    /// `start[r]..start[r + 1]` are the edges of row r.
    start: Vec<u32>,
    edges: Vec<Column>,
}

impl Bipartite {
    /// A builder for a graph with the given number of columns.
    pub fn builder(column_count: usize) -> BipartiteBuilder {
        BipartiteBuilder::new(column_count)
    }

    /// The graph whose rows are the given lists of columns.
    ///
    /// # Panics
    /// If a column is out of range.
    ///
    /// ```
    /// use saltus_graph::{Adjacency, Bipartite, Column, Row};
    /// let graph = Bipartite::from_rows(2, [vec![Column(0), Column(1)], vec![Column(1)]]);
    /// assert_eq!(graph.columns_of(Row(1)), &[Column(1)]);
    /// ```
    pub fn from_rows<R>(column_count: usize, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = Column>,
    {
        let mut builder = Self::builder(column_count);
        for row in rows {
            builder.push_row(row);
        }
        builder.finish()
    }

    /// The graph of compressed rows that are distinct and in range.
    pub(crate) fn from_parts(column_count: usize, start: Vec<u32>, edges: Vec<Column>) -> Self {
        Self {
            column_count,
            start,
            edges,
        }
    }

    /// The positions of a row's edges in the order of all edges.
    #[inline]
    pub(crate) fn edge_range(&self, row: Row) -> std::ops::Range<usize> {
        self.start[row.index()] as usize..self.start[row.index() + 1] as usize
    }

    /// The same edges with the roles of rows and columns exchanged: in the result, `Row(i)` is
    /// column i of this graph and lists, in increasing order, the rows in which it occurs.
    pub fn transposed(&self) -> Bipartite {
        transposed(self)
    }
}

impl Adjacency for Bipartite {
    #[inline]
    fn row_count(&self) -> usize {
        self.start.len() - 1
    }
    #[inline]
    fn column_count(&self) -> usize {
        self.column_count
    }
    #[inline]
    fn columns_of(&self, row: Row) -> &[Column] {
        &self.edges[self.edge_range(row)]
    }
}

/// Exchanges the roles of rows and columns; see [`Bipartite::transposed`].
pub fn transposed(graph: &impl Adjacency) -> Bipartite {
    let mut start = vec![0u32; graph.column_count() + 1];
    let mut edge_count = 0usize;
    for row in rows(graph.row_count()) {
        let columns = graph.columns_of(row);
        edge_count += columns.len();
        for column in columns {
            start[column.index() + 1] += 1;
        }
    }
    for i in 1..start.len() {
        start[i] += start[i - 1];
    }
    let mut next = start.clone();
    let mut edges = vec![Column(0); edge_count];
    for row in rows(graph.row_count()) {
        for column in graph.columns_of(row) {
            let position = &mut next[column.index()];
            edges[*position as usize] = Column(row.0);
            *position += 1;
        }
    }
    Bipartite {
        column_count: graph.row_count(),
        start,
        edges,
    }
}

/// Builds a [`Bipartite`] row by row; repeated columns of a row count once.
#[derive(Clone, Debug)]
pub struct BipartiteBuilder {
    start: Vec<u32>,
    edges: Vec<Column>,
    /// The last row in which a column was seen, to drop repetitions in constant time.
    last_row: Vec<u32>,
}

impl BipartiteBuilder {
    /// A builder for a graph with the given number of columns and no rows yet.
    pub fn new(column_count: usize) -> Self {
        Self {
            start: vec![0],
            edges: Vec::new(),
            last_row: vec![NONE; column_count],
        }
    }

    /// Reserves space.
    pub fn with_capacity(column_count: usize, row_count: usize, edge_count: usize) -> Self {
        let mut builder = Self::new(column_count);
        builder.start.reserve(row_count);
        builder.edges.reserve(edge_count);
        builder
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If a column is out of range or the graph outgrows 32-bit indices.
    pub fn push_row(&mut self, columns: impl IntoIterator<Item = Column>) -> Row {
        let row = self.next_row();
        for column in columns {
            self.push_edge(row, column);
        }
        let end = u32::try_from(self.edges.len()).expect("graph larger than 32-bit indices");
        self.start.push(end);
        row
    }

    /// The row being built.
    pub(crate) fn next_row(&self) -> Row {
        Row::from_index(self.start.len() - 1)
    }

    /// The columns that the row being built has so far.
    pub(crate) fn pending(&self) -> &[Column] {
        &self.edges[self.start[self.start.len() - 1] as usize..]
    }

    /// Adds an edge to the row being built and says whether it was new.
    pub(crate) fn push_edge(&mut self, row: Row, column: Column) -> bool {
        let last = &mut self.last_row[column.index()];
        let new = *last != row.0;
        if new {
            *last = row.0;
            self.edges.push(column);
        }
        new
    }

    /// The finished graph.
    pub fn finish(self) -> Bipartite {
        Bipartite {
            column_count: self.last_row.len(),
            start: self.start,
            edges: self.edges,
        }
    }
}
