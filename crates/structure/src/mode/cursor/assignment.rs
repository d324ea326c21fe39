//! A highest-value transversal with canonical offsets that follows changes of a few rows.
//!
//! Invariants: c_f + σ_fx ≤ d_x on active rows, equality on the matching, d_x = max σ_fx for unmatched columns, and no
//! offset above the canonical one. A change may only lower canonical offsets through chains of tight edges that end at
//! a removed row or an unmatched column; the rows on such chains are released and reset to c = 0 (they may be more than
//! needed, since chains may be cyclic). The Hungarian method then raises offsets only where every feasible solution
//! must be at least as high, so that the result is canonical again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use saltus_graph::Row;
use saltus_mdae::{Derivative, EquationId, Idx, Mdae, VarId};

use super::super::guards::Modes;
use super::super::structure::ModeStructure;
use super::{Change, Marks};

const NONE: u32 = u32::MAX;
const UNREACHED: i64 = i64::MAX;

#[derive(Clone, Debug)]
pub(super) struct Assignment<'a> {
    modes: &'a Modes,
    active: Vec<bool>,
    c: Vec<i64>,
    d: Vec<i64>,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// Number of active rows in which a column occurs.
    occurrences: Vec<u32>,
    unmatched: BTreeSet<EquationId>,
    active_count: usize,
    alive_count: usize,
    /// Number of alive columns with d = 0, number of rows by c > 0, Σd − Σc.
    algebraic: usize,
    rows_by_c: BTreeMap<i64, usize>,
    freedom: i64,
    work: Work,
}

/// Reusable memory of changes and searches.
#[derive(Clone, Debug)]
struct Work {
    touched_rows: Marks,
    touched_columns: Marks,
    released: Marks,
    change: Change,
    distance: Vec<i64>,
    via: Vec<EquationId>,
    reached: Vec<VarId>,
    forest: Vec<(EquationId, i64)>,
    ahead: BinaryHeap<Reverse<(i64, VarId)>>,
}

impl<'a> Assignment<'a> {
    pub(super) fn new(model: &Mdae, modes: &'a Modes, structure: &ModeStructure) -> Self {
        let (rows, columns) = (model.equations.len(), model.variables.len());
        let mut assignment = Assignment {
            modes,
            active: vec![false; rows],
            c: vec![0; rows],
            d: vec![0; columns],
            column_of: vec![NONE; rows],
            row_of: vec![NONE; columns],
            occurrences: vec![0; columns],
            unmatched: BTreeSet::new(),
            active_count: structure.equations.len(),
            alive_count: structure.unknowns.len(),
            algebraic: structure.sigma.d.iter().filter(|&&d| d == 0).count(),
            rows_by_c: BTreeMap::new(),
            freedom: structure.degrees_of_freedom() as i64,
            work: Work {
                touched_rows: Marks::new(rows),
                touched_columns: Marks::new(columns),
                released: Marks::new(rows),
                change: Change::default(),
                distance: vec![UNREACHED; columns],
                via: vec![EquationId(0); columns],
                reached: Vec::new(),
                forest: Vec::new(),
                ahead: BinaryHeap::new(),
            },
        };
        for (i, &equation) in structure.equations.iter().enumerate() {
            let c = structure.sigma.c[i];
            assignment.active[equation.index()] = true;
            assignment.c[equation.index()] = i64::from(c);
            if c > 0 {
                *assignment.rows_by_c.entry(i64::from(c)).or_default() += 1;
            }
            for &Derivative { var, .. } in modes.signatures().row(equation.index()) {
                assignment.occurrences[var.index()] += 1;
            }
            if let Some(column) = structure.sigma.matching.column_of(Row::from_index(i)) {
                assignment.set_pair(equation, structure.unknowns[column.index()]);
            }
        }
        for (i, &var) in structure.unknowns.iter().enumerate() {
            assignment.d[var.index()] = i64::from(structure.sigma.d[i]);
        }
        assignment
    }

    pub(super) fn is_active(&self, row: EquationId) -> bool {
        self.active[row.index()]
    }
    /// As many equations as unknowns, all matched.
    pub(super) fn is_perfect(&self) -> bool {
        self.unmatched.is_empty() && self.active_count == self.alive_count
    }
    pub(super) fn index(&self) -> u16 {
        let differentiations = self.rows_by_c.keys().next_back().copied().unwrap_or(0);
        differentiations as u16 + u16::from(self.algebraic > 0)
    }
    pub(super) fn degrees_of_freedom(&self) -> usize {
        self.freedom.max(0) as usize
    }
    pub(super) fn c_of(&self, row: EquationId) -> Option<u16> {
        self.active[row.index()].then_some(self.c[row.index()] as u16)
    }
    pub(super) fn d_of(&self, column: VarId) -> Option<u16> {
        (self.occurrences[column.index()] > 0).then_some(self.d[column.index()] as u16)
    }
    pub(super) fn column_of(&self, row: EquationId) -> Option<VarId> {
        let column = self.column_of[row.index()];
        (column != NONE).then_some(VarId(column))
    }
    fn row_of(&self, column: VarId) -> Option<EquationId> {
        let row = self.row_of[column.index()];
        (row != NONE).then_some(EquationId(row))
    }
    fn entries(&self, row: EquationId) -> impl Iterator<Item = (VarId, i64)> + use<'a> {
        let entries = self.modes.signatures().row(row.index()).iter();
        entries.map(|&Derivative { var, order }| (var, i64::from(order)))
    }
    /// σ of an entry that is there.
    fn order_in(&self, row: EquationId, column: VarId) -> i64 {
        let entries = self.modes.signatures().row(row.index());
        let at = entries.binary_search_by_key(&column, |&Derivative { var, .. }| var);
        at.map_or(0, |at| i64::from(entries[at].order))
    }
    /// The active rows in which a column occurs.
    pub(super) fn rows_with(&self, column: VarId) -> impl Iterator<Item = EquationId> + '_ {
        let all = self.modes.equations_with(column).iter().copied();
        all.filter(|row| self.active[row.index()])
    }
    fn is_tight(&self, row: EquationId, column: VarId, order: i64) -> bool {
        self.c[row.index()] + order == self.d[column.index()]
    }
    /// The rows that determine what a row needs (other than itself).
    pub(super) fn dependencies(&self, row: EquationId) -> impl Iterator<Item = EquationId> + '_ {
        let tight = self
            .entries(row)
            .filter(move |&(column, order)| self.is_tight(row, column, order));
        tight
            .filter_map(|(column, _)| self.row_of(column))
            .filter(move |&other| other != row)
    }
    /// The rows that need what a row determines (other than itself).
    pub(super) fn users(&self, row: EquationId) -> impl Iterator<Item = EquationId> + '_ {
        let column = self.column_of(row);
        column.into_iter().flat_map(move |column| {
            self.rows_with(column)
                .filter(move |&user| user != row && self.is_tight(user, column, self.order_in(user, column)))
        })
    }

    // ---- bookkeeping

    fn touch_row(&mut self, row: EquationId) {
        if self.work.touched_rows.mark(row) {
            self.work.change.rows.push(row);
        }
    }
    fn touch_column(&mut self, column: VarId) {
        if self.work.touched_columns.mark(column) {
            self.work.change.columns.push(column);
        }
    }
    fn set_pair(&mut self, row: EquationId, column: VarId) {
        self.column_of[row.index()] = column.0;
        self.row_of[column.index()] = row.0;
    }
    fn set_c(&mut self, row: EquationId, c: i64) {
        let old = std::mem::replace(&mut self.c[row.index()], c);
        if old == c {
            return;
        }
        self.touch_row(row);
        self.freedom += old - c;
        if old > 0
            && let Some(count) = self.rows_by_c.get_mut(&old)
        {
            *count -= 1;
            if *count == 0 {
                self.rows_by_c.remove(&old);
            }
        }
        if c > 0 {
            *self.rows_by_c.entry(c).or_default() += 1;
        }
    }
    fn set_d(&mut self, column: VarId, d: i64) {
        let old = std::mem::replace(&mut self.d[column.index()], d);
        if old == d {
            return;
        }
        self.touch_column(column);
        self.freedom += d - old;
        self.algebraic = self.algebraic + usize::from(d == 0) - usize::from(old == 0);
    }
    fn add_occurrence(&mut self, column: VarId) {
        let count = &mut self.occurrences[column.index()];
        *count += 1;
        if *count == 1 {
            // d of a dead column is 0.
            self.alive_count += 1;
            self.algebraic += 1;
            self.touch_column(column);
        }
    }
    fn remove_occurrence(&mut self, column: VarId) {
        let count = &mut self.occurrences[column.index()];
        *count -= 1;
        if *count == 0 {
            self.set_d(column, 0);
            self.alive_count -= 1;
            self.algebraic -= 1;
            self.touch_column(column);
        }
    }

    // ---- changes

    /// Switches rows off and on and restores the invariants; returns what changed.
    pub(super) fn change(&mut self, off: &[EquationId], on: &[EquationId]) -> Change {
        self.work.touched_rows.clear();
        self.work.touched_columns.clear();
        self.work.released.clear();
        let mut release = Release::default();
        for &row in off {
            self.switch_off(row, &mut release);
        }
        for &row in on {
            self.switch_on(row, &mut release);
        }
        self.release(&mut release);
        let free: Vec<EquationId> = self.unmatched.iter().copied().collect();
        for row in free {
            if self.search_and_augment(row) {
                self.unmatched.remove(&row);
            }
        }
        std::mem::take(&mut self.work.change)
    }

    fn switch_off(&mut self, row: EquationId, release: &mut Release) {
        if !std::mem::replace(&mut self.active[row.index()], false) {
            return;
        }
        self.active_count -= 1;
        self.touch_row(row);
        self.unmatched.remove(&row);
        if let Some(column) = self.column_of(row) {
            self.unmatch(row, column);
        }
        for (column, order) in self.entries(row) {
            self.release_supported(row, column, order, release);
            release.columns.push(column);
        }
        self.set_c(row, 0);
        // A column dies only after all tight edges of the row were looked at.
        for (column, _) in self.entries(row) {
            self.remove_occurrence(column);
        }
    }

    fn switch_on(&mut self, row: EquationId, release: &mut Release) {
        if std::mem::replace(&mut self.active[row.index()], true) {
            return;
        }
        self.active_count += 1;
        self.touch_row(row);
        self.unmatched.insert(row);
        for (column, order) in self.entries(row) {
            self.add_occurrence(column);
            match self.row_of(column) {
                Some(owner) if order > self.d[column.index()] => release.rows.push(owner),
                Some(_) => {}
                None => release.columns.push(column),
            }
        }
    }

    fn unmatch(&mut self, row: EquationId, column: VarId) {
        self.column_of[row.index()] = NONE;
        self.row_of[column.index()] = NONE;
        self.touch_row(row);
        self.touch_column(column);
    }

    /// The owner of a column whose offset a row supports may have to go down with that row.
    fn release_supported(&mut self, row: EquationId, column: VarId, order: i64, release: &mut Release) {
        if self.is_tight(row, column, order)
            && let Some(owner) = self.row_of(column)
            && self.c[owner.index()] > 0
        {
            release.rows.push(owner);
        }
    }

    /// Releases rows whose offset may be too high and all that follows from them, then resets them. Offsets keep their
    /// old values until the set is complete: tight edges are those of the old solution.
    fn release(&mut self, release: &mut Release) {
        let mut reset = Vec::new();
        let mut columns = Vec::new();
        loop {
            if let Some(row) = release.rows.pop() {
                if !self.active[row.index()] || !self.work.released.mark(row) {
                    continue;
                }
                reset.push(row);
                if let Some(column) = self.column_of(row) {
                    self.unmatch(row, column);
                }
                for (column, order) in self.entries(row) {
                    self.release_supported(row, column, order, release);
                    release.columns.push(column);
                }
            } else if let Some(column) = release.columns.pop() {
                if self.row_of(column).is_none() {
                    self.release_above(column, release);
                    columns.push(column);
                }
            } else {
                break;
            }
        }
        for &row in &reset {
            self.set_c(row, 0);
            self.unmatched.insert(row);
        }
        for column in columns {
            if self.occurrences[column.index()] > 0 {
                let base = self.base(column);
                self.set_d(column, base);
            }
        }
    }

    /// Rows that hold an unmatched column above the least offset it can have.
    fn release_above(&mut self, column: VarId, release: &mut Release) {
        let base = self.base(column);
        for row in self.rows_with(column) {
            let c = self.c[row.index()];
            if c > 0 && c + self.order_in(row, column) > base {
                release.rows.push(row);
            }
        }
    }

    fn base(&self, column: VarId) -> i64 {
        self.rows_with(column)
            .map(|row| self.order_in(row, column))
            .max()
            .unwrap_or(0)
    }

    // ---- the Hungarian method from one row

    fn search_and_augment(&mut self, root: EquationId) -> bool {
        let found = self.search(root);
        if let Some((end, distance)) = found {
            self.raise_offsets(distance);
            self.flip(end);
        }
        for column in self.work.reached.drain(..) {
            self.work.distance[column.index()] = UNREACHED;
        }
        found.is_some()
    }

    /// The nearest unmatched column in terms of slack.
    fn search(&mut self, root: EquationId) -> Option<(VarId, i64)> {
        self.work.ahead.clear();
        self.work.forest.clear();
        self.work.forest.push((root, 0));
        let (mut level, mut head) = (0, 0);
        loop {
            while head < self.work.forest.len() {
                let row = self.work.forest[head].0;
                head += 1;
                if let Some(end) = self.expand(row, level) {
                    return Some((end, level));
                }
            }
            let (distance, column) = self.next_ahead()?;
            level = distance;
            match self.row_of(column) {
                None => return Some((column, level)),
                Some(row) => self.work.forest.push((row, level)),
            }
        }
    }

    fn expand(&mut self, row: EquationId, level: i64) -> Option<VarId> {
        for (column, order) in self.entries(row) {
            let slack = self.d[column.index()] - self.c[row.index()] - order;
            let known = self.work.distance[column.index()];
            if level + slack >= known {
                continue;
            }
            if known == UNREACHED {
                self.work.reached.push(column);
            }
            self.work.distance[column.index()] = level + slack;
            self.work.via[column.index()] = row;
            if slack > 0 {
                self.work.ahead.push(Reverse((level + slack, column)));
                continue;
            }
            match self.row_of(column) {
                None => return Some(column),
                Some(next) => self.work.forest.push((next, level)),
            }
        }
        None
    }

    fn next_ahead(&mut self) -> Option<(i64, VarId)> {
        loop {
            let Reverse((distance, column)) = self.work.ahead.pop()?;
            if self.work.distance[column.index()] == distance {
                return Some((distance, column));
            }
        }
    }

    fn raise_offsets(&mut self, end: i64) {
        for i in 0..self.work.forest.len() {
            let (row, distance) = self.work.forest[i];
            if distance < end {
                self.set_c(row, self.c[row.index()] + end - distance);
                if let Some(column) = self.column_of(row) {
                    self.set_d(column, self.d[column.index()] + end - distance);
                }
            }
        }
    }

    fn flip(&mut self, end: VarId) {
        let mut column = end;
        loop {
            let row = self.work.via[column.index()];
            let former = self.column_of(row);
            self.set_pair(row, column);
            self.touch_row(row);
            self.touch_column(column);
            match former {
                Some(former) => column = former,
                None => break,
            }
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        for row in (0..self.active.len())
            .map(EquationId::from_usize)
            .filter(|&row| self.is_active(row))
        {
            for (column, order) in self.entries(row) {
                let slack = self.d[column.index()] - self.c[row.index()] - order;
                let matched = self.column_of(row) == Some(column);
                if slack < 0 || (matched && slack != 0) {
                    return Err(format!("slack {slack} at {row:?}, {column:?}"));
                }
                if matched && self.row_of(column) != Some(row) {
                    return Err(format!("{row:?} and {column:?} disagree"));
                }
            }
        }
        Ok(())
    }
}

/// Rows to release and columns to look at.
#[derive(Default)]
struct Release {
    rows: Vec<EquationId>,
    columns: Vec<VarId>,
}
