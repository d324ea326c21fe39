//! Visiting the nodes of an expression, each once.

use crate::expr::{ExprPool, Node};
use crate::index::{ExprId, Idx};

/// Visits expressions; keeps its workspace, so that a visit costs time in the expression only.
#[derive(Clone, Debug, Default)]
pub struct NodeWalk {
    /// Epoch in which an expression was last met.
    seen: Vec<u32>,
    epoch: u32,
    stack: Vec<ExprId>,
}

impl NodeWalk {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `visit` with every leaf (node without children) of an expression, each once, in no particular order.
    pub fn for_each_leaf(&mut self, pool: &ExprPool, root: ExprId, mut visit: impl FnMut(Node)) {
        self.for_each_node(pool, root, |_, node| {
            if !matches!(
                node,
                Node::Unary(..) | Node::Binary(..) | Node::If(..) | Node::Call { .. }
            ) {
                visit(node);
            }
        });
    }

    /// Calls `visit` with every node of an expression, each once, in no particular order.
    pub fn for_each_node(&mut self, pool: &ExprPool, root: ExprId, mut visit: impl FnMut(ExprId, Node)) {
        self.begin(pool);
        self.stack.push(root);
        while let Some(id) = self.stack.pop() {
            let seen = &mut self.seen[id.index()];
            if *seen == self.epoch {
                continue;
            }
            *seen = self.epoch;
            let node = pool.node(id);
            visit(id, node);
            let stack = &mut self.stack;
            pool.for_each_child(node, |child| stack.push(child));
        }
    }

    fn begin(&mut self, pool: &ExprPool) {
        if self.seen.len() < pool.len() {
            self.seen.resize(pool.len(), 0);
        }
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.seen.fill(0);
            self.epoch = 1;
        }
    }
}
