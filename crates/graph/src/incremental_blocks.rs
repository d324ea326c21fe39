//! A block triangular order kept up to date while dependencies change.
//!
//! Each block has a key; a block's key is greater than those of the blocks it needs. When
//! dependencies change, the blocks of the rows concerned are decomposed anew, and every
//! dependency that the keys contradict is repaired as Pearce and Kelly do: the blocks between the
//! two ends are found by searches bounded by the keys, merged where they lie on a cycle, and
//! given the same keys in another order.

use crate::index::{Node, Row, rows};
use crate::strong::{Blocks, Digraph, strong_components};

/// Which rows a row needs, and which rows need it.
pub trait RowDependencies {
    /// Appends the rows that a row needs; itself and repetitions do no harm.
    fn dependencies(&self, row: Row, into: &mut Vec<Row>);
    /// Appends the rows that need a row; itself and repetitions do no harm.
    fn dependents(&self, row: Row, into: &mut Vec<Row>);
}

/// Blocks in an order that follows changes of a few rows.
#[derive(Clone, Debug)]
pub struct IncrementalBlocks {
    /// The row that stands for a row's block.
    representative: Vec<Row>,
    /// The members of a block form a ring.
    next: Vec<Row>,
    /// Each row owns a place in the order; a block's key is the place of its representative.
    /// The places of the other members are spare, for when the block falls apart.
    place: Vec<u32>,
    row_at: Vec<Row>,
    /// Workspace: in which of the two searches a representative was reached.
    reached: Vec<u8>,
    local: Vec<u32>,
    buffer: Vec<Row>,
}

const BELOW: u8 = 1;
const ABOVE: u8 = 2;

impl IncrementalBlocks {
    /// Continues from a block triangular order of all rows.
    ///
    /// # Panics
    /// If rows were left out of the blocks.
    pub fn new(blocks: &Blocks) -> Self {
        let count = blocks.order().len();
        let mut order = Self {
            representative: vec![Row(0); count],
            next: vec![Row(0); count],
            place: vec![0; count],
            row_at: blocks.order().to_vec(),
            reached: vec![0; count],
            local: vec![0; count],
            buffer: Vec::new(),
        };
        for (place, row) in blocks.order().iter().enumerate() {
            order.place[row.index()] = place as u32;
        }
        blocks.iter().for_each(|block| order.join(block));
        order
    }

    /// Whether two rows are in the same block.
    pub fn same_block(&self, a: Row, b: Row) -> bool {
        self.representative[a.index()] == self.representative[b.index()]
    }

    /// The rows of the block of a row, in order.
    pub fn block(&self, row: Row) -> Vec<Row> {
        let mut members: Vec<Row> = self.members(row).collect();
        members.sort_unstable();
        members
    }

    /// A number that is greater than those of the blocks that the row's block needs.
    pub fn key(&self, row: Row) -> u32 {
        self.place[self.representative[row.index()].index()]
    }

    /// All blocks, dependencies first.
    pub fn iter(&self) -> impl Iterator<Item = Vec<Row>> + '_ {
        let heads = self
            .row_at
            .iter()
            .filter(|row| self.representative[row.index()] == **row);
        heads.map(|&row| self.block(row))
    }

    /// Restores blocks and order after dependencies from or to the given rows have changed.
    /// Returns one row of each block that may have changed its members or its key.
    pub fn update(&mut self, graph: &impl RowDependencies, changed: &[Row]) -> Vec<Row> {
        let dissolved = self.dissolve(graph, changed);
        let mut moved = dissolved.clone();
        let mut found = Vec::new();
        for &row in &dissolved {
            graph.dependencies(row, &mut found);
            for needed in found.drain(..) {
                self.repair(graph, row, needed, &mut moved);
            }
            graph.dependents(row, &mut found);
            for dependent in found.drain(..) {
                self.repair(graph, dependent, row, &mut moved);
            }
        }
        for row in &mut moved {
            *row = self.representative[row.index()];
        }
        moved.sort_unstable();
        moved.dedup();
        moved
    }

    fn members(&self, row: Row) -> impl Iterator<Item = Row> + '_ {
        let following = move |&member: &Row| {
            let next = self.next[member.index()];
            (next != row).then_some(next)
        };
        std::iter::successors(Some(row), following)
    }

    /// Makes one block of rows; the first becomes the representative.
    fn join(&mut self, block: &[Row]) {
        for (i, row) in block.iter().enumerate() {
            self.representative[row.index()] = block[0];
            self.next[row.index()] = block[(i + 1) % block.len()];
        }
    }

    fn put(&mut self, row: Row, place: u32) {
        self.place[row.index()] = place;
        self.row_at[place as usize] = row;
    }

    /// Decomposes the blocks of the given rows anew, each within its former places; returns all
    /// their rows.
    fn dissolve(&mut self, graph: &impl RowDependencies, changed: &[Row]) -> Vec<Row> {
        let mut heads: Vec<Row> = changed.iter().map(|row| self.representative[row.index()]).collect();
        heads.sort_unstable_by_key(|row| self.place[row.index()]);
        heads.dedup();
        let mut dissolved = Vec::new();
        for head in heads {
            let members = self.block(head);
            self.decompose(graph, head, &members);
            dissolved.extend(members);
        }
        dissolved
    }

    fn decompose(&mut self, graph: &impl RowDependencies, head: Row, members: &[Row]) {
        if members.len() == 1 {
            return;
        }
        for (i, row) in members.iter().enumerate() {
            self.local[row.index()] = i as u32;
        }
        let mut inside = LocalDependencies {
            start: vec![0],
            heads: Vec::new(),
        };
        for &row in members {
            graph.dependencies(row, &mut self.buffer);
            for needed in self.buffer.drain(..) {
                if self.representative[needed.index()] == head {
                    inside.heads.push(Node(self.local[needed.index()]));
                }
            }
            inside.start.push(inside.heads.len());
        }
        let parts = strong_components(&inside, (0..members.len() as u32).map(Node));
        let mut places: Vec<u32> = members.iter().map(|row| self.place[row.index()]).collect();
        places.sort_unstable();
        for (local, place) in parts.order().iter().zip(places) {
            self.put(members[local.index()], place);
        }
        for part in parts.iter() {
            let part: Vec<Row> = part.iter().map(|local| members[local.index()]).collect();
            self.join(&part);
        }
    }

    /// Lets the key of `row` be greater than that of `needed`, or merges their blocks.
    fn repair(&mut self, graph: &impl RowDependencies, row: Row, needed: Row, moved: &mut Vec<Row>) {
        let (low, high) = (self.key(row), self.key(needed));
        if self.same_block(row, needed) || high < low {
            return;
        }
        let head = |order: &Self, row: Row| order.representative[row.index()];
        let mut below = self.reach(head(self, needed), BELOW, low, |r, b| graph.dependencies(r, b));
        let mut above = self.reach(head(self, row), ABOVE, high, |r, b| graph.dependents(r, b));
        let mut places: Vec<u32> = below.iter().chain(&above).map(|row| self.place[row.index()]).collect();
        places.sort_unstable();
        places.dedup();
        let mut cycle = below.clone();
        cycle.retain(|row| self.reached[row.index()] == BELOW | ABOVE);
        below.retain(|row| self.reached[row.index()] == BELOW);
        above.retain(|row| self.reached[row.index()] == ABOVE);
        let in_order = [below, cycle.clone(), above];
        for (&row, place) in in_order.iter().flatten().zip(places) {
            self.put(row, place);
            self.reached[row.index()] = 0;
            moved.push(row);
        }
        if !cycle.is_empty() {
            let merged: Vec<Row> = cycle.iter().flat_map(|&row| self.members(row)).collect();
            self.join(&merged);
        }
    }

    /// The blocks reached from one along dependencies that agree with the keys, as far as the
    /// limit; in order of their keys.
    fn reach(&mut self, start: Row, mark: u8, limit: u32, neighbours: impl Fn(Row, &mut Vec<Row>)) -> Vec<Row> {
        let mut found = vec![start];
        self.reached[start.index()] |= mark;
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while let Some(&block) = found.get(at) {
            at += 1;
            self.members(block).for_each(|member| neighbours(member, &mut buffer));
            let key = self.key(block);
            for neighbour in buffer.drain(..) {
                let next = self.representative[neighbour.index()];
                let next_key = self.place[next.index()];
                let agrees = if mark == BELOW {
                    next_key < key && next_key >= limit
                } else {
                    next_key > key && next_key <= limit
                };
                if agrees && self.reached[next.index()] & mark == 0 {
                    self.reached[next.index()] |= mark;
                    found.push(next);
                }
            }
        }
        self.buffer = buffer;
        found.sort_unstable_by_key(|row| self.place[row.index()]);
        found
    }

    /// Checks the order against all dependencies.
    pub fn validate(&self, graph: &impl RowDependencies) -> Result<(), String> {
        let mut needed = Vec::new();
        for row in rows(self.place.len()) {
            if self.row_at[self.place[row.index()] as usize] != row {
                return Err(format!("{row:?} is not at its place"));
            }
            graph.dependencies(row, &mut needed);
            for other in needed.drain(..) {
                if !self.same_block(row, other) && self.key(other) >= self.key(row) {
                    return Err(format!("{row:?} comes before {other:?}, which it needs"));
                }
            }
        }
        Ok(())
    }
}

/// Dependencies inside one block, in local numbers.
struct LocalDependencies {
    start: Vec<usize>,
    heads: Vec<Node>,
}

impl Digraph for LocalDependencies {
    fn node_count(&self) -> usize {
        self.start.len() - 1
    }
    fn successor(&self, node: Node, position: usize) -> Option<Node> {
        self.heads[self.start[node.index()]..self.start[node.index() + 1]]
            .get(position)
            .copied()
    }
}
