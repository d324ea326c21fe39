//! Events to nodes in preorder.

use super::{Event, Position};
use crate::kind::SyntaxKind;
use crate::tree::NodeData;

/// The tree is at most this deep. Chains such as `a + b + c + …` nest to the left without nesting
/// in the parser; later passes recurse over them. Nodes below the limit are left out, so that
/// their tokens belong to the last node above it.
const MAX_DEPTH: usize = 1100;

/// An open node.
enum Open {
    Node(usize),
    TooDeep,
}

/// The nodes, and the first token of the first node that was too deep.
pub(super) fn build(events: &[Event], significant: &[u32], token_count: u32) -> (Vec<NodeData>, Option<u32>) {
    let mut builder = Builder {
        significant,
        nodes: Vec::with_capacity(events.len() / 2),
        open: Vec::new(),
        too_deep: None,
    };
    let mut consumed = vec![false; events.len()];
    let mut wrappers: Vec<(SyntaxKind, Position)> = Vec::new();
    for index in 0..events.len() {
        match events[index] {
            Event::Finish { position } => builder.finish(position),
            Event::Start { .. } if consumed[index] => {}
            Event::Start {
                kind,
                position,
                mut wrapped_by,
            } => {
                wrappers.clear();
                wrappers.push((kind, position));
                while wrapped_by != 0 {
                    let outer = wrapped_by as usize;
                    consumed[outer] = true;
                    let Event::Start {
                        kind,
                        position,
                        wrapped_by: next,
                    } = events[outer]
                    else {
                        break;
                    };
                    wrappers.push((kind, position));
                    wrapped_by = next;
                }
                for &(kind, position) in wrappers.iter().rev() {
                    if kind != SyntaxKind::Tombstone {
                        builder.start(kind, position);
                    }
                }
            }
        }
    }
    if let Some(root) = builder.nodes.first_mut() {
        root.first = 0;
        root.end = token_count;
        root.end_node = root.end_node.max(1);
    }
    (builder.nodes, builder.too_deep)
}

struct Builder<'e> {
    significant: &'e [u32],
    nodes: Vec<NodeData>,
    open: Vec<Open>,
    too_deep: Option<u32>,
}

impl Builder<'_> {
    fn start(&mut self, kind: SyntaxKind, position: Position) {
        let first = self.significant.get(position as usize).copied();
        if self.open.len() >= MAX_DEPTH {
            self.too_deep = self.too_deep.or(first);
            self.open.push(Open::TooDeep);
            return;
        }
        self.open.push(Open::Node(self.nodes.len()));
        self.nodes.push(NodeData {
            kind,
            first: first.unwrap_or(u32::MAX),
            end: 0,
            end_node: 0,
        });
    }

    fn finish(&mut self, position: Position) {
        let Some(Open::Node(index)) = self.open.pop() else {
            return;
        };
        let end = match position.checked_sub(1) {
            Some(last) => self.significant[last as usize] + 1,
            None => 0,
        };
        let count = self.nodes.len() as u32;
        let node = &mut self.nodes[index];
        node.end = end;
        node.end_node = count;
        // Whatever is inside an empty node is empty too and gone already.
        if node.first >= end && index > 0 {
            self.nodes.truncate(index);
        }
    }
}
