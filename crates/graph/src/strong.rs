//! Strongly connected components and block triangular order.

use crate::bipartite::Adjacency;
use crate::index::{BlockId, NONE, Node, Row};
use crate::matching::Matching;

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

    /// All rows, block by block.
    pub fn order(&self) -> &[Row] {
        &self.rows
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
    block_triangular_order_of(graph, matching, crate::index::rows(graph.row_count()))
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
                    let low = self.low[next.index()];
                    if low == UNVISITED {
                        // The position stays: the edge is seen again after the subtree.
                        self.enter(next);
                        continue;
                    }
                    frame.position += 1;
                    if low < self.low[node.index()] {
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
