//! Blocks and their order of computation, repaired locally.
//!
//! Every block has a label greater than those of the blocks it needs. After a change, the blocks of all rows whose
//! dependencies changed are taken apart. New cycles pass through such rows; between them, unchanged dependencies lead to
//! ever smaller labels, so that the search for them ends at the smallest label that was taken apart.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use saltus_mdae::{EquationId, Idx, typed_index};

use super::super::structure::ModeStructure;
use super::assignment::Assignment;
use super::{Change, Marks, Move};

typed_index! {
    /// Where a cursor keeps a block.
    Slot,
}

/// Labels start this far apart, so that new blocks fit in between.
const GAP: u64 = 1 << 32;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct Order {
    block_of: Vec<u32>,
    blocks: Vec<BlockData>,
    free: Vec<Slot>,
    affected: Marks,
}

#[derive(Clone, Debug, Default)]
struct BlockData {
    rows: Vec<EquationId>,
    label: u64,
}

impl Order {
    pub(super) fn new(equations: usize, structure: &ModeStructure) -> Self {
        let mut order = Order {
            block_of: vec![NONE; equations],
            blocks: Vec::with_capacity(structure.blocks.len()),
            free: Vec::new(),
            affected: Marks::new(equations),
        };
        for (i, rows) in structure.blocks.iter().enumerate() {
            let rows = rows.iter().map(|row| structure.equations[row.index()]).collect();
            order.add(rows, (i as u64 + 1) * GAP);
        }
        order
    }

    pub(super) fn block_of(&self, row: EquationId) -> Option<Slot> {
        let block = self.block_of[row.index()];
        (block != NONE).then_some(Slot(block))
    }
    pub(super) fn rows(&self, block: Slot) -> &[EquationId] {
        &self.blocks[block.index()].rows
    }
    pub(super) fn label(&self, block: Slot) -> u64 {
        self.blocks[block.index()].label
    }

    fn add(&mut self, rows: Vec<EquationId>, label: u64) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.blocks.push(BlockData::default());
            Slot::from_usize(self.blocks.len() - 1)
        });
        for row in &rows {
            self.block_of[row.index()] = slot.0;
        }
        self.blocks[slot.index()] = BlockData { rows, label };
        slot
    }

    /// Takes a block apart; its slot is reused only after the repair.
    fn take(&mut self, slot: Slot) -> Vec<EquationId> {
        let rows = std::mem::take(&mut self.blocks[slot.index()].rows);
        for row in &rows {
            self.block_of[row.index()] = NONE;
        }
        rows
    }

    pub(super) fn repair(&mut self, assignment: &Assignment, change: &Change, moved: &mut Move) {
        let (affected, lowest) = self.take_apart(assignment, change, moved);
        let components = Search::new(self, assignment, lowest).run(&affected);
        for nodes in components {
            self.place(assignment, &nodes, moved);
        }
        let placed: BTreeSet<Slot> = moved.added.iter().copied().collect();
        moved.postponed.sort_unstable();
        moved.postponed.dedup();
        moved
            .postponed
            .retain(|slot| !placed.contains(slot) && !moved.removed.contains(slot));
        self.free.extend(&moved.removed);
    }

    /// Dissolves the blocks of all rows whose dependencies changed; returns their active rows and the smallest label.
    fn take_apart(&mut self, assignment: &Assignment, change: &Change, moved: &mut Move) -> (Vec<EquationId>, u64) {
        self.affected.clear();
        let mut affected = Vec::new();
        let mut lowest = u64::MAX;
        let with_columns = change.columns.iter().flat_map(|&column| assignment.rows_with(column));
        for row in change.rows.iter().copied().chain(with_columns) {
            if let Some(block) = self.block_of(row) {
                lowest = lowest.min(self.label(block));
                moved.removed.push(block);
                for member in self.take(block) {
                    if assignment.is_active(member) && self.affected.mark(member) {
                        affected.push(member);
                    }
                }
            }
            if assignment.is_active(row) && self.affected.mark(row) {
                affected.push(row);
            }
        }
        affected.sort_unstable();
        (affected, lowest)
    }

    /// Makes a component a block, after all it needs and before all that need it.
    fn place(&mut self, assignment: &Assignment, nodes: &[EquationId], moved: &mut Move) {
        let mut rows = Vec::with_capacity(nodes.len());
        for &node in nodes {
            match self.block_of(node) {
                Some(block) => {
                    moved.removed.push(block);
                    rows.extend(self.take(block));
                }
                None => rows.push(node),
            }
        }
        rows.sort_unstable();
        let others = |row: &EquationId, this: &Self| this.block_of(*row);
        let needs = rows.iter().flat_map(|&row| assignment.dependencies(row));
        let low = needs
            .filter_map(|row| others(&row, self))
            .map(|block| self.label(block))
            .max()
            .unwrap_or(0);
        let users = rows.iter().flat_map(|&row| assignment.users(row));
        let high = users
            .filter_map(|row| others(&row, self))
            .map(|block| self.label(block))
            .min();
        let label = match high {
            Some(high) if high > low + 1 => high - ((high - low) / 2).clamp(1, GAP / 2),
            Some(_) => low + 1,
            None => low + GAP,
        };
        let slot = self.add(rows, label);
        moved.added.push(slot);
        self.raise_users(assignment, slot, moved);
    }

    /// Raises the labels of all that must come after a block.
    fn raise_users(&mut self, assignment: &Assignment, start: Slot, moved: &mut Move) {
        let mut open: BTreeSet<(u64, Slot)> = BTreeSet::new();
        open.insert((self.label(start), start));
        while let Some((label, slot)) = open.pop_first() {
            let users: Vec<Slot> = self
                .rows(slot)
                .iter()
                .flat_map(|&row| assignment.users(row))
                .filter_map(|row| self.block_of(row))
                .filter(|&user| user != slot && self.label(user) <= label)
                .collect();
            for user in users {
                open.remove(&(self.label(user), user));
                self.blocks[user.index()].label = label + 1;
                open.insert((label + 1, user));
                moved.postponed.push(user);
            }
        }
    }

    pub(super) fn validate(&self, assignment: &Assignment) -> Result<(), String> {
        for (i, data) in self.blocks.iter().enumerate() {
            for &row in &data.rows {
                if self.block_of[row.index()] as usize != i || !assignment.is_active(row) {
                    return Err(format!("{row:?} is not where it should be"));
                }
                for other in assignment.dependencies(row) {
                    let Some(needed) = self.block_of(other) else {
                        return Err(format!("{other:?} is in no block"));
                    };
                    if needed.index() != i && self.label(needed) >= data.label {
                        return Err(format!("{row:?} comes before {other:?}, which it needs"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Tarjan's algorithm over affected rows and unchanged blocks (each represented by its first row).
struct Search<'a, 'm> {
    order: &'a Order,
    assignment: &'a Assignment<'m>,
    lowest: u64,
    state: FxHashMap<EquationId, NodeState>,
    next: u32,
    pending: Vec<EquationId>,
    components: Vec<Vec<EquationId>>,
}

struct NodeState {
    low: u32,
    is_complete: bool,
}

struct Frame {
    node: EquationId,
    number: u32,
    successors: std::vec::IntoIter<EquationId>,
}

impl<'a, 'm> Search<'a, 'm> {
    fn new(order: &'a Order, assignment: &'a Assignment<'m>, lowest: u64) -> Self {
        Search {
            order,
            assignment,
            lowest,
            state: FxHashMap::default(),
            next: 0,
            pending: Vec::new(),
            components: Vec::new(),
        }
    }

    /// The components with at least one affected row, dependencies first.
    fn run(mut self, affected: &[EquationId]) -> Vec<Vec<EquationId>> {
        for &root in affected {
            if !self.state.contains_key(&root) {
                self.visit(root);
            }
        }
        let order = self.order;
        self.components
            .retain(|nodes| nodes.iter().any(|&node| order.block_of(node).is_none()));
        self.components
    }

    /// What a node needs, as nodes; what lies below the smallest label taken apart cannot lead back.
    fn successors(&self, node: EquationId) -> Vec<EquationId> {
        let single = [node];
        let rows = match self.order.block_of(node) {
            Some(block) => self.order.rows(block),
            None => &single,
        };
        let needs = rows.iter().flat_map(|&row| self.assignment.dependencies(row));
        let nodes = needs.filter_map(|row| match self.order.block_of(row) {
            None => Some(row),
            Some(block) if self.order.label(block) >= self.lowest => Some(self.order.rows(block)[0]),
            Some(_) => None,
        });
        nodes.collect()
    }

    fn enter(&mut self, node: EquationId) -> Frame {
        let number = self.next;
        self.next += 1;
        let state = NodeState {
            low: number,
            is_complete: false,
        };
        self.state.insert(node, state);
        self.pending.push(node);
        Frame {
            node,
            number,
            successors: self.successors(node).into_iter(),
        }
    }

    fn visit(&mut self, root: EquationId) {
        let mut frames = vec![self.enter(root)];
        while let Some(frame) = frames.last_mut() {
            let node = frame.node;
            match frame.successors.next() {
                Some(next) => match self.state.get(&next) {
                    None => {
                        let frame = self.enter(next);
                        frames.push(frame);
                    }
                    Some(state) if !state.is_complete => {
                        let low = state.low;
                        self.lower(node, low);
                    }
                    Some(_) => {}
                },
                None => {
                    let number = frame.number;
                    frames.pop();
                    let low = self.state[&node].low;
                    if low == number {
                        self.close(node);
                    } else if let Some(parent) = frames.last() {
                        let parent = parent.node;
                        self.lower(parent, low);
                    }
                }
            }
        }
    }

    fn lower(&mut self, node: EquationId, low: u32) {
        if let Some(state) = self.state.get_mut(&node) {
            state.low = state.low.min(low);
        }
    }

    fn close(&mut self, root: EquationId) {
        let mut nodes = Vec::new();
        while let Some(node) = self.pending.pop() {
            if let Some(state) = self.state.get_mut(&node) {
                state.is_complete = true;
            }
            nodes.push(node);
            if node == root {
                break;
            }
        }
        self.components.push(nodes);
    }
}
