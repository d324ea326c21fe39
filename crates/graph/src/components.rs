//! Connected components.

use crate::bipartite::Adjacency;
use crate::index::{Column, ComponentId, NONE, Row, columns, rows};

/// The connected components of a bipartite graph, numbered by their first row, then (columns
/// that occur in no row) by their column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    of_row: Vec<u32>,
    of_column: Vec<u32>,
    count: usize,
}

impl Components {
    /// Number of components.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the graph has neither rows nor columns.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The component of a row.
    pub fn of_row(&self, row: Row) -> ComponentId {
        ComponentId(self.of_row[row.index()])
    }

    /// The component of a column.
    pub fn of_column(&self, column: Column) -> ComponentId {
        ComponentId(self.of_column[column.index()])
    }

    /// The rows of each component, in order.
    pub fn rows(&self) -> Vec<Vec<Row>> {
        let mut members = vec![Vec::new(); self.count];
        for row in rows(self.of_row.len()) {
            members[self.of_row(row).index()].push(row);
        }
        members
    }

    /// The columns of each component, in order.
    pub fn columns(&self) -> Vec<Vec<Column>> {
        let mut members = vec![Vec::new(); self.count];
        for column in columns(self.of_column.len()) {
            members[self.of_column(column).index()].push(column);
        }
        members
    }
}

/// Connected components of the whole graph.
pub fn connected_components(graph: &impl Adjacency) -> Components {
    connected_components_where(graph, |_, _| true)
}

/// Connected components of the edges that `keep` accepts; rows and columns without such an edge
/// are components of their own.
pub fn connected_components_where(graph: &impl Adjacency, keep: impl Fn(Row, Column) -> bool) -> Components {
    let mut sets = DisjointColumns::new(graph.column_count());
    for row in rows(graph.row_count()) {
        let mut kept = graph.columns_of(row).iter().filter(|&&column| keep(row, column));
        if let Some(&first) = kept.next() {
            kept.for_each(|&column| sets.unite(first.0, column.0));
        }
    }
    let mut number = Numbering {
        of_root: vec![NONE; graph.column_count()],
        count: 0,
    };
    let of_row = rows(graph.row_count())
        .map(|row| {
            let first = graph.columns_of(row).iter().find(|&&column| keep(row, column));
            match first {
                Some(column) => number.of(sets.root(column.0)),
                None => number.fresh(),
            }
        })
        .collect();
    let of_column = columns(graph.column_count())
        .map(|column| number.of(sets.root(column.0)))
        .collect();
    Components {
        of_row,
        of_column,
        count: number.count as usize,
    }
}

struct Numbering {
    of_root: Vec<u32>,
    count: u32,
}

impl Numbering {
    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    fn of(&mut self, root: u32) -> u32 {
        if self.of_root[root as usize] == NONE {
            self.of_root[root as usize] = self.fresh();
        }
        self.of_root[root as usize]
    }
}

/// Union–find with path halving; the smaller number becomes the root.
struct DisjointColumns {
    parent: Vec<u32>,
}

impl DisjointColumns {
    fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
        }
    }

    fn root(&mut self, mut element: u32) -> u32 {
        while self.parent[element as usize] != element {
            let grandparent = self.parent[self.parent[element as usize] as usize];
            self.parent[element as usize] = grandparent;
            element = grandparent;
        }
        element
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
