//! Systems of difference constraints.

use crate::index::{ConstraintId, Node};
use crate::longest_paths::{GainGraph, raise_to_least_solution};
use crate::strong::Digraph;

/// Constraints `value[to] ≥ value[from] + gap` and `value[node] ≥ lower bound` over integers.
///
/// ```
/// use saltus_graph::{DifferenceSystem, Node};
/// let mut system = DifferenceSystem::new(3);
/// system.require(Node(0), Node(1), 2);
/// system.require_equal(Node(1), Node(2), -1);
/// assert_eq!(system.least_solution().unwrap(), vec![0, 2, 1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct DifferenceSystem {
    lower: Vec<i64>,
    constraints: Vec<(Node, Node, i32)>,
}

/// Constraints that contradict each other: around this cycle the gaps add up to more than zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositiveCycle {
    /// The constraints in order, each starting at the node where the previous one ends.
    pub constraints: Vec<ConstraintId>,
    /// The sum of their gaps.
    pub gain: i64,
}

impl DifferenceSystem {
    /// A system over nodes with lower bound zero.
    pub fn new(node_count: usize) -> Self {
        Self {
            lower: vec![0; node_count],
            constraints: Vec::new(),
        }
    }

    /// Adds a node with the given lower bound.
    pub fn add_node(&mut self, lower_bound: i64) -> Node {
        self.lower.push(lower_bound);
        Node::from_index(self.lower.len() - 1)
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.lower.len()
    }

    /// Raises a node's lower bound; a smaller one has no effect.
    pub fn raise_lower_bound(&mut self, node: Node, bound: i64) {
        let lower = &mut self.lower[node.index()];
        *lower = bound.max(*lower);
    }

    /// Requires `value[to] ≥ value[from] + gap`.
    pub fn require(&mut self, from: Node, to: Node, gap: i32) -> ConstraintId {
        assert!(from.index() < self.lower.len() && to.index() < self.lower.len());
        self.constraints.push((from, to, gap));
        ConstraintId::from_index(self.constraints.len() - 1)
    }

    /// Requires `value[to] = value[from] + gap`, as two constraints.
    pub fn require_equal(&mut self, from: Node, to: Node, gap: i32) -> [ConstraintId; 2] {
        [self.require(from, to, gap), self.require(to, from, -gap)]
    }

    /// A constraint as (from, to, gap).
    pub fn constraint(&self, constraint: ConstraintId) -> (Node, Node, i32) {
        self.constraints[constraint.index()]
    }

    /// The least values that satisfy everything, or constraints that cannot be satisfied together.
    pub fn least_solution(&self) -> Result<Vec<i64>, PositiveCycle> {
        let graph = ConstraintGraph::new(self);
        let mut value = self.lower.clone();
        match raise_to_least_solution(&graph, &mut value) {
            Ok(()) => Ok(value),
            Err(arcs) => {
                let constraints: Vec<ConstraintId> = arcs
                    .iter()
                    .map(|arc| graph.at(arc.tail, arc.position as usize))
                    .collect();
                let gain = constraints.iter().map(|&id| i64::from(self.constraint(id).2)).sum();
                Err(PositiveCycle { constraints, gain })
            }
        }
    }
}

/// The constraints grouped by the node they start from.
struct ConstraintGraph<'a> {
    system: &'a DifferenceSystem,
    start: Vec<u32>,
    by_tail: Vec<ConstraintId>,
}

impl<'a> ConstraintGraph<'a> {
    fn new(system: &'a DifferenceSystem) -> Self {
        let mut start = vec![0u32; system.node_count() + 1];
        for (from, _, _) in &system.constraints {
            start[from.index() + 1] += 1;
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut next = start.clone();
        let mut by_tail = vec![ConstraintId(0); system.constraints.len()];
        for (i, (from, _, _)) in system.constraints.iter().enumerate() {
            by_tail[next[from.index()] as usize] = ConstraintId(i as u32);
            next[from.index()] += 1;
        }
        Self { system, start, by_tail }
    }

    fn at(&self, tail: Node, position: usize) -> ConstraintId {
        self.by_tail[self.start[tail.index()] as usize + position]
    }
}

impl Digraph for ConstraintGraph<'_> {
    fn node_count(&self) -> usize {
        self.system.node_count()
    }
    fn successor(&self, node: Node, position: usize) -> Option<Node> {
        self.arc(node, position).map(|(head, _)| head)
    }
}

impl GainGraph for ConstraintGraph<'_> {
    fn arc(&self, node: Node, position: usize) -> Option<(Node, i64)> {
        let range = self.start[node.index()] as usize..self.start[node.index() + 1] as usize;
        let id = *self.by_tail[range].get(position)?;
        let (_, to, gap) = self.system.constraint(id);
        Some((to, i64::from(gap)))
    }
}
