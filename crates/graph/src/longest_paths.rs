//! Longest paths in a directed graph with integer gains: the least solution of
//! `value[to] ≥ value[from] + gain` above given lower bounds.
//!
//! Components are taken in topological order and each is iterated to its fixed point with a
//! first-in-first-out queue (Bellman–Ford), so that the time is linear where the graph is acyclic.

use crate::index::{BlockId, NONE, Node};
use crate::strong::{Blocks, Digraph, strong_components};

/// A directed graph whose arcs carry gains.
pub(crate) trait GainGraph: Digraph {
    /// The head and the gain of the arc at a position; `None` past the last one.
    fn arc(&self, node: Node, position: usize) -> Option<(Node, i64)>;
}

/// An arc, by its tail and its position among the tail's arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArcAt {
    pub tail: Node,
    pub position: u32,
}

const NO_ARC: ArcAt = ArcAt {
    tail: Node(NONE),
    position: 0,
};

/// Raises `value` to the least solution; or returns the arcs of a cycle of positive gain, each
/// followed by the one that starts where it ends.
pub(crate) fn raise_to_least_solution(graph: &impl GainGraph, value: &mut [i64]) -> Result<(), Vec<ArcAt>> {
    let nodes = (0..graph.node_count() as u32).map(Node);
    let blocks = strong_components(graph, nodes);
    let mut iteration = Iteration {
        graph,
        blocks: &blocks,
        value,
        cause: vec![NO_ARC; graph.node_count()],
        queued: vec![false; graph.node_count()],
        queue: Vec::new(),
    };
    // A component comes after those it points to; values flow along the arcs.
    for block in (0..blocks.len()).rev() {
        iteration.settle(BlockId(block as u32))?;
    }
    Ok(())
}

struct Iteration<'a, G> {
    graph: &'a G,
    blocks: &'a Blocks,
    value: &'a mut [i64],
    /// The arc that gave a node its value.
    cause: Vec<ArcAt>,
    queued: Vec<bool>,
    queue: Vec<Node>,
}

impl<G: GainGraph> Iteration<'_, G> {
    fn settle(&mut self, block: BlockId) -> Result<(), Vec<ArcAt>> {
        let members = self.blocks.rows(block);
        self.queue.clear();
        self.queue.extend(members.iter().map(|row| Node(row.0)));
        for node in &self.queue {
            self.queued[node.index()] = true;
        }
        let mut head = 0;
        while head < self.queue.len() {
            let node = self.queue[head];
            head += 1;
            self.queued[node.index()] = false;
            self.relax(node, block);
            if head == self.queue.len() {
                break;
            }
            // One check per pass over the component keeps its cost amortised; a positive cycle
            // shows among the causes at the latest when values exceed every simple path.
            if head >= members.len() {
                self.queue.drain(..head);
                head = 0;
                if let Some(cycle) = self.cycle_among_causes(block) {
                    return Err(cycle);
                }
            }
        }
        Ok(())
    }

    fn relax(&mut self, node: Node, block: BlockId) {
        let value = self.value[node.index()];
        let mut position = 0;
        while let Some((head, gain)) = self.graph.arc(node, position) {
            if value + gain > self.value[head.index()] {
                self.value[head.index()] = value + gain;
                self.cause[head.index()] = ArcAt {
                    tail: node,
                    position: position as u32,
                };
                let inside = self.blocks.block_of(crate::Row(head.0)) == Some(block);
                if inside && !std::mem::replace(&mut self.queued[head.index()], true) {
                    self.queue.push(head);
                }
            }
            position += 1;
        }
    }

    /// A cycle among the causes inside a component; its gain is positive, since each arc on it
    /// raised its head after its tail was raised.
    fn cycle_among_causes(&self, block: BlockId) -> Option<Vec<ArcAt>> {
        let members = self.blocks.rows(block);
        let inside = |node: Node| node.0 != NONE && self.blocks.block_of(crate::Row(node.0)) == Some(block);
        let position = |node: Node| members.binary_search(&crate::Row(node.0)).ok();
        let mut walk = vec![NONE; members.len()];
        for (start, row) in members.iter().enumerate() {
            let mut node = Node(row.0);
            while inside(node) {
                let at = position(node)?;
                if walk[at] == start as u32 {
                    return Some(self.trace(node));
                }
                if walk[at] != NONE {
                    break;
                }
                walk[at] = start as u32;
                node = self.cause[node.index()].tail;
            }
        }
        None
    }

    fn trace(&self, node: Node) -> Vec<ArcAt> {
        let mut cycle = vec![self.cause[node.index()]];
        let mut tail = cycle[0].tail;
        while tail != node {
            let arc = self.cause[tail.index()];
            cycle.push(arc);
            tail = arc.tail;
        }
        cycle.reverse();
        cycle
    }
}
