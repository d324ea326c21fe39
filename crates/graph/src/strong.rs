//! Strongly connected components and block triangular order.

use crate::bipartite::{Adjacency, Bipartite};
use crate::index::{BlockId, NONE, Node, Row};
use crate::locality::{clustered, dependencies, is_scattered, reordered};
use crate::matching::{Matcher, Matching};

/// Arcs of a directed graph, by position so that an iterative search can resume.
pub(crate) trait Digraph {
    /// Number of nodes.
    fn node_count(&self) -> usize;
    /// The head of the arc at a position, `None` past the last one. The node itself may be
    /// returned for positions that hold no arc.
    fn successor(&self, node: Node, position: usize) -> Option<Node>;
}

/// The rows in blocks such that each block depends only on itself and on earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    rows: Vec<Row>,
    start: Vec<u32>,
    block_of: Vec<u32>,
}

impl Blocks {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of a block, in increasing order.
    pub fn rows(&self, block: BlockId) -> &[Row] {
        &self.rows[self.start[block.index()] as usize..self.start[block.index() + 1] as usize]
    }

    /// All blocks in order, dependencies first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[Row]> + ExactSizeIterator {
        (0..self.len()).map(|i| self.rows(BlockId(i as u32)))
    }

    /// The same blocks where row i was formerly `order[i]`.
    fn with_former_rows(self, order: &[Row]) -> Self {
        let mut block_of = vec![NONE; order.len()];
        for (&row, &block) in order.iter().zip(&self.block_of) {
            block_of[row.index()] = block;
        }
        let mut next = self.start.clone();
        let mut rows = self.rows;
        for (row, &block) in crate::index::rows(order.len()).zip(&block_of) {
            let place = &mut next[block as usize];
            rows[*place as usize] = row;
            *place += 1;
        }
        Self {
            rows,
            start: self.start,
            block_of,
        }
    }

    /// The block of a row; `None` for a row that was left out.
    pub fn block_of(&self, row: Row) -> Option<BlockId> {
        let block = self.block_of[row.index()];
        (block != NONE).then_some(BlockId(block))
    }
}

/// Row r depends on the rows matched to its columns.
struct Dependencies<'a, G> {
    graph: &'a G,
    matching: &'a Matching,
}

/// Row r depends on the rows whose numbers are its columns.
struct Successors<'a>(&'a Bipartite);

impl Digraph for Successors<'_> {
    #[inline]
    fn node_count(&self) -> usize {
        self.0.row_count()
    }
    #[inline]
    fn successor(&self, node: Node, position: usize) -> Option<Node> {
        self.0.columns_of(Row(node.0)).get(position).map(|row| Node(row.0))
    }
}

impl<G: Adjacency> Digraph for Dependencies<'_, G> {
    #[inline]
    fn node_count(&self) -> usize {
        self.graph.row_count()
    }
    #[inline]
    fn successor(&self, node: Node, position: usize) -> Option<Node> {
        let column = *self.graph.columns_of(Row(node.0)).get(position)?;
        Some(self.matching.row_of(column).map_or(node, |row| Node(row.0)))
    }
}

/// Block lower triangular order of a matched graph: the strongly connected components of "row r
/// needs the row that determines column c", dependencies first. Unmatched columns count as known;
/// an unmatched row is a block of its own.
pub fn block_triangular_order(graph: &impl Adjacency, matching: &Matching) -> Blocks {
    if is_scattered(graph) {
        return order_in_clusters(graph, matching);
    }
    block_triangular_order_of(graph, matching, crate::index::rows(graph.row_count()))
}

/// The same, searched with other numbers.
fn order_in_clusters(graph: &impl Adjacency, matching: &Matching) -> Blocks {
    let dependencies = dependencies(graph, matching);
    let order = clustered(&dependencies);
    let near = reordered(&dependencies, &order);
    drop(dependencies);
    let roots = crate::index::rows(near.row_count()).map(|row| Node(row.0));
    strong_components(&Successors(&near), roots).with_former_rows(&order)
}

/// A maximum matching and the blocks that go with it. Costs less than one after the other where rows and columns come
/// in an order without structure.
pub fn match_and_order(graph: &impl Adjacency) -> (Matching, Blocks) {
    let mut matcher = Matcher::new();
    if is_scattered(graph) {
        let near = matcher.maximum_nearby(graph);
        let rows = crate::index::rows(graph.row_count());
        let blocks = block_triangular_order_of(&near.graph, &near.matching, rows);
        let matching = near.renumbering.former(&near.matching);
        return (matching, blocks.with_former_rows(&near.renumbering.rows));
    }
    let matching = matcher.maximum(graph);
    let blocks = block_triangular_order(graph, &matching);
    (matching, blocks)
}

/// The same for the given rows and the rows they depend on.
pub(crate) fn block_triangular_order_of(
    graph: &impl Adjacency,
    matching: &Matching,
    rows: impl Iterator<Item = Row>,
) -> Blocks {
    let dependencies = Dependencies { graph, matching };
    strong_components(&dependencies, rows.map(|row| Node(row.0)))
}

/// Strongly connected components of what is reachable from the roots; a component comes after
/// those it has edges to. Tarjan's algorithm in Pearce's form: one number per node, which is
/// pushed beyond all others when the node's component is complete.
pub(crate) fn strong_components(graph: &impl Digraph, roots: impl Iterator<Item = Node>) -> Blocks {
    let count = graph.node_count();
    let mut search = StrongSearch {
        low: vec![UNVISITED; count],
        next: 1,
        frames: Vec::new(),
        pending: Vec::new(),
        blocks: Blocks {
            rows: Vec::new(),
            start: vec![0],
            block_of: vec![NONE; count],
        },
    };
    for root in roots {
        if search.low[root.index()] == UNVISITED {
            search.run(graph, root);
        }
    }
    search.blocks
}

const UNVISITED: u32 = 0;
const COMPLETE: u32 = u32::MAX;

struct Frame {
    node: Node,
    position: u32,
    /// No edge out of the subtree to an earlier pending node was seen.
    is_root: bool,
}

struct StrongSearch {
    low: Vec<u32>,
    next: u32,
    frames: Vec<Frame>,
    pending: Vec<Node>,
    blocks: Blocks,
}

impl StrongSearch {
    fn run(&mut self, graph: &impl Digraph, root: Node) {
        self.enter(root);
        while let Some(frame) = self.frames.last_mut() {
            let node = frame.node;
            match graph.successor(node, frame.position as usize) {
                Some(next) => {
                    frame.position += 1;
                    let low = self.low[next.index()];
                    if low == UNVISITED {
                        self.enter(next);
                    } else if low < self.low[node.index()] {
                        self.low[node.index()] = low;
                        frame.is_root = false;
                    }
                }
                None => self.leave(),
            }
        }
    }

    fn enter(&mut self, node: Node) {
        self.low[node.index()] = self.next;
        self.next += 1;
        self.frames.push(Frame {
            node,
            position: 0,
            is_root: true,
        });
    }

    fn leave(&mut self) {
        let Some(Frame { node, is_root, .. }) = self.frames.pop() else {
            return;
        };
        self.pending.push(node);
        if is_root {
            self.close_block(node);
        } else if let Some(parent) = self.frames.last_mut() {
            // What the subtree reaches, the parent reaches.
            let low = self.low[node.index()];
            if low < self.low[parent.node.index()] {
                self.low[parent.node.index()] = low;
                parent.is_root = false;
            }
        }
    }

    fn close_block(&mut self, root: Node) {
        let low = self.low[root.index()];
        let block = self.blocks.len() as u32;
        let first = self.blocks.rows.len();
        while let Some(&node) = self.pending.last() {
            if self.low[node.index()] < low {
                break;
            }
            self.pending.pop();
            self.low[node.index()] = COMPLETE;
            self.blocks.block_of[node.index()] = block;
            self.blocks.rows.push(Row(node.0));
        }
        self.blocks.rows[first..].sort_unstable();
        self.blocks.start.push(self.blocks.rows.len() as u32);
    }
}
