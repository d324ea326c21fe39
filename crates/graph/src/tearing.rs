//! Tearing: which columns of a block to guess so that the others follow one by one.
//!
//! After Cellier and Steward: a row with one unknown that it can be solved for determines that
//! unknown; a column that occurs in one remaining row only is left to that row, at the end; when
//! neither is left, the column that makes the most progress is torn.

use std::collections::BinaryHeap;

use crate::bipartite::Adjacency;
use crate::index::{Column, Row};

/// A torn block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tearing {
    /// The columns to iterate on, in the order in which they were chosen.
    pub tears: Vec<Column>,
    /// Which row determines which of the other columns, in causal order.
    pub causal: Vec<(Row, Column)>,
    /// The rows left over as residuals, as many as tears in a square block; in order.
    pub residuals: Vec<Row>,
}

/// Tears blocks of one graph; keeps its workspace from block to block, so that a call costs time
/// in its block only.
#[derive(Clone, Debug, Default)]
pub struct Tearer {
    /// Position of a column in the present block, valid where the block lists that column there.
    position: Vec<u32>,
}

impl Tearer {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tears the block of the given rows and columns. `solvable` says whether a row can be solved
    /// for one of its columns; among equally useful tears the one with the greater `preference`
    /// wins, then the smaller column.
    pub fn tear(
        &mut self,
        graph: &impl Adjacency,
        rows: &[Row],
        columns: &[Column],
        solvable: impl Fn(Row, Column) -> bool,
        preference: impl Fn(Column) -> i32,
    ) -> Tearing {
        if let (&[row], &[column]) = (rows, columns) {
            return tear_single(row, column, solvable(row, column));
        }
        let block = self.extract(graph, rows, columns, solvable);
        let preference = columns.iter().map(|&column| preference(column)).collect();
        let mut state = State::new(block, preference);
        state.run();
        state.finish(rows, columns)
    }

    /// The block in local numbers, each entry with whether its row can be solved for it.
    fn extract(
        &mut self,
        graph: &impl Adjacency,
        rows: &[Row],
        columns: &[Column],
        solvable: impl Fn(Row, Column) -> bool,
    ) -> Block {
        if self.position.len() < graph.column_count() {
            self.position.resize(graph.column_count(), 0);
        }
        for (i, column) in columns.iter().enumerate() {
            self.position[column.index()] = i as u32;
        }
        let mut block = Block::new(columns.len());
        for &row in rows {
            for &column in graph.columns_of(row) {
                let local = self.position[column.index()];
                if columns.get(local as usize) == Some(&column) {
                    block.entries.push(Entry {
                        index: local,
                        solvable: solvable(row, column),
                    });
                }
            }
            block.row_start.push(block.entries.len());
        }
        block.list_by_column();
        block
    }
}

/// Most blocks of most models are single rows.
fn tear_single(row: Row, column: Column, solvable: bool) -> Tearing {
    if solvable {
        return Tearing {
            causal: vec![(row, column)],
            ..Tearing::default()
        };
    }
    Tearing {
        tears: vec![column],
        causal: Vec::new(),
        residuals: vec![row],
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    index: u32,
    solvable: bool,
}

/// Both directions of a block's incidence in local numbers.
struct Block {
    row_start: Vec<usize>,
    entries: Vec<Entry>,
    column_start: Vec<usize>,
    by_column: Vec<Entry>,
}

impl Block {
    fn new(column_count: usize) -> Self {
        Self {
            row_start: vec![0],
            entries: Vec::new(),
            column_start: vec![0; column_count + 1],
            by_column: Vec::new(),
        }
    }

    fn list_by_column(&mut self) {
        for entry in &self.entries {
            self.column_start[entry.index as usize + 1] += 1;
        }
        for i in 1..self.column_start.len() {
            self.column_start[i] += self.column_start[i - 1];
        }
        let mut next = self.column_start.clone();
        self.by_column = vec![
            Entry {
                index: 0,
                solvable: false
            };
            self.entries.len()
        ];
        for row in 0..self.row_count() {
            for entry in &self.entries[self.row_start[row]..self.row_start[row + 1]] {
                let at = &mut next[entry.index as usize];
                self.by_column[*at] = Entry {
                    index: row as u32,
                    solvable: entry.solvable,
                };
                *at += 1;
            }
        }
    }

    fn row_count(&self) -> usize {
        self.row_start.len() - 1
    }

    fn column_count(&self) -> usize {
        self.column_start.len() - 1
    }

    fn row(&self, row: u32) -> &[Entry] {
        &self.entries[self.row_start[row as usize]..self.row_start[row as usize + 1]]
    }

    fn column(&self, column: u32) -> &[Entry] {
        &self.by_column[self.column_start[column as usize]..self.column_start[column as usize + 1]]
    }
}

/// How much progress tearing a column makes; greater is better. From the highest bits down:
/// 1. no remaining row can be solved for it, so that it must be torn;
/// 2. the number of rows that it would leave with one unknown, and solvable for it;
/// 3. the number of remaining rows in which it occurs;
/// 4. the caller's preference;
/// 5. the smaller column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Merit(u128);

impl Merit {
    fn column(self) -> u32 {
        !(self.0 as u32)
    }
}

struct State {
    block: Block,
    preference: Vec<i32>,
    /// Rows not yet used, columns not yet known.
    row_open: Vec<bool>,
    column_open: Vec<bool>,
    unknowns: Vec<u32>,
    occurrences: Vec<u32>,
    solvable_in: Vec<u32>,
    completes: Vec<u32>,
    single_rows: Vec<u32>,
    single_columns: Vec<u32>,
    /// Columns by merit. Each open column has an entry no smaller than its merit; merits that
    /// have fallen are corrected when they come up.
    candidates: BinaryHeap<Merit>,
    /// Columns whose merit has risen since the last tear. Most of them become known before the
    /// next one, so they enter the heap no earlier than needed.
    risen: Vec<u32>,
    forward: Vec<(u32, u32)>,
    backward: Vec<(u32, u32)>,
    tears: Vec<u32>,
}

impl State {
    fn new(block: Block, preference: Vec<i32>) -> Self {
        let (rows, columns) = (block.row_count(), block.column_count());
        let count = |entries: &[Entry]| entries.len() as u32;
        let solvable = |entries: &[Entry]| entries.iter().filter(|e| e.solvable).count() as u32;
        let mut state = Self {
            preference,
            row_open: vec![true; rows],
            column_open: vec![true; columns],
            unknowns: (0..rows as u32).map(|r| count(block.row(r))).collect(),
            occurrences: (0..columns as u32).map(|c| count(block.column(c))).collect(),
            solvable_in: (0..columns as u32).map(|c| solvable(block.column(c))).collect(),
            completes: vec![0; columns],
            single_rows: Vec::new(),
            single_columns: Vec::new(),
            candidates: BinaryHeap::new(),
            risen: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            tears: Vec::new(),
            block,
        };
        state
            .single_rows
            .extend((0..rows as u32).rev().filter(|&r| state.unknowns[r as usize] == 1));
        let single = |&c: &u32| state.occurrences[c as usize] == 1;
        state.single_columns.extend((0..columns as u32).rev().filter(single));
        for row in 0..rows as u32 {
            if state.unknowns[row as usize] == 2 {
                state.count_pair(row, 1);
            }
        }
        state.candidates = (0..columns as u32).map(|c| state.merit(c)).collect();
        state
    }

    fn run(&mut self) {
        loop {
            if let Some(row) = self.single_rows.pop() {
                self.solve_forward(row);
            } else if let Some(column) = self.single_columns.pop() {
                self.solve_backward(column);
            } else if let Some(merit) = self.best_candidate() {
                self.tear_if_current(merit);
            } else {
                break;
            }
        }
    }

    fn solve_forward(&mut self, row: u32) {
        if !self.row_open[row as usize] || self.unknowns[row as usize] != 1 {
            return;
        }
        if let Some(entry) = self.only_open(row).filter(|entry| entry.solvable) {
            self.forward.push((row, entry.index));
            self.close_row(row);
            self.close_column(entry.index);
        }
    }

    fn solve_backward(&mut self, column: u32) {
        if !self.column_open[column as usize] || self.occurrences[column as usize] != 1 {
            return;
        }
        let mut rows = self.block.column(column).iter();
        let only = rows.find(|entry| self.row_open[entry.index as usize]).copied();
        if let Some(entry) = only.filter(|entry| entry.solvable) {
            self.backward.push((entry.index, column));
            self.close_row(entry.index);
            self.close_column(column);
        }
    }

    fn best_candidate(&mut self) -> Option<Merit> {
        while let Some(column) = self.risen.pop() {
            if self.column_open[column as usize] {
                self.candidates.push(self.merit(column));
            }
        }
        self.candidates.pop()
    }

    fn tear_if_current(&mut self, merit: Merit) {
        let column = merit.column();
        if !self.column_open[column as usize] {
            return;
        }
        let present = self.merit(column);
        if present < merit {
            self.candidates.push(present);
        } else {
            self.tears.push(column);
            self.close_column(column);
        }
    }

    /// The row is used: its columns occur in one row less.
    fn close_row(&mut self, row: u32) {
        if self.unknowns[row as usize] == 2 {
            self.count_pair(row, -1);
        }
        self.row_open[row as usize] = false;
        for at in self.block.row_start[row as usize]..self.block.row_start[row as usize + 1] {
            let Entry {
                index: column,
                solvable,
            } = self.block.entries[at];
            if !self.column_open[column as usize] {
                continue;
            }
            self.occurrences[column as usize] -= 1;
            self.solvable_in[column as usize] -= u32::from(solvable);
            if self.occurrences[column as usize] == 1 {
                self.single_columns.push(column);
            }
            if self.solvable_in[column as usize] == 0 {
                self.risen.push(column);
            }
        }
    }

    /// The column is known: its rows have one unknown less.
    fn close_column(&mut self, column: u32) {
        let range = self.block.column_start[column as usize]..self.block.column_start[column as usize + 1];
        for at in range.clone() {
            let row = self.block.by_column[at].index;
            if self.row_open[row as usize] && self.unknowns[row as usize] == 2 {
                self.count_pair(row, -1);
            }
        }
        self.column_open[column as usize] = false;
        for at in range {
            let row = self.block.by_column[at].index;
            if !self.row_open[row as usize] {
                continue;
            }
            self.unknowns[row as usize] -= 1;
            match self.unknowns[row as usize] {
                1 => self.single_rows.push(row),
                2 => self.count_pair(row, 1),
                _ => {}
            }
        }
    }

    /// Accounts for an open row with two unknowns: tearing one leaves it with the other.
    fn count_pair(&mut self, row: u32, change: i32) {
        let mut open = self
            .block
            .row(row)
            .iter()
            .filter(|e| self.column_open[e.index as usize]);
        let (Some(&first), Some(&second)) = (open.next(), open.next()) else {
            return;
        };
        for (torn, solved) in [(first, second), (second, first)] {
            if solved.solvable {
                let completes = &mut self.completes[torn.index as usize];
                *completes = completes.wrapping_add_signed(change);
                if change > 0 {
                    self.risen.push(torn.index);
                }
            }
        }
    }

    fn only_open(&self, row: u32) -> Option<Entry> {
        let mut entries = self.block.row(row).iter();
        entries.find(|entry| self.column_open[entry.index as usize]).copied()
    }

    fn merit(&self, column: u32) -> Merit {
        let at = column as usize;
        let first = u64::from(self.solvable_in[at] == 0) << 63
            | u64::from(self.completes[at]) << 32
            | u64::from(self.occurrences[at]);
        // Flipping the sign bit orders signed numbers as unsigned ones.
        let preference = self.preference[at] as u32 ^ 1 << 31;
        let second = u64::from(preference) << 32 | u64::from(!column);
        Merit(u128::from(first) << 64 | u128::from(second))
    }

    fn finish(self, rows: &[Row], columns: &[Column]) -> Tearing {
        let row = |r: u32| rows[r as usize];
        let column = |c: u32| columns[c as usize];
        let causal = self.forward.iter().chain(self.backward.iter().rev());
        let mut residuals: Vec<Row> = (0..rows.len() as u32)
            .filter(|&r| self.row_open[r as usize])
            .map(row)
            .collect();
        residuals.sort_unstable();
        Tearing {
            tears: self.tears.iter().map(|&c| column(c)).collect(),
            causal: causal.map(|&(r, c)| (row(r), column(c))).collect(),
            residuals,
        }
    }
}
