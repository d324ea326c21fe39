//! The part of a mode that a mode change touches; everywhere else right limits equal left limits.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use saltus_graph::{BlockId, Column, ComponentId, Row};
use saltus_mdae::{Derivative, ExprId, ExprPool};

use super::change::Scope;
use super::heights::beyond_tail;
use super::oracle::Inquiry;
use super::system::ModeSystem;

/// Blocks of the leading incidence whose states may jump, with the blocks on which they depend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// Blocks whose states may jump.
    jumping: FxHashSet<BlockId>,
    /// These and the blocks on which they depend.
    included: FxHashSet<BlockId>,
    rows: BTreeMap<ComponentId, Vec<Row>>,
    columns: BTreeMap<ComponentId, Vec<Column>>,
    row_set: FxHashSet<Row>,
    column_set: FxHashSet<Column>,
}

impl Touched {
    /// Blocks for which the array may be non-empty: some consistency equation is new, some state has no past, or a
    /// restart or transient equation mentions them.
    pub(crate) fn new(pool: &ExprPool, inquiry: &Inquiry) -> Self {
        let change = &inquiry.change;
        let new = change.new;
        let every = || (0..new.equations().len()).map(Row::from_index);
        let all = change.options.forced_height.is_some() || change.options.scope == Scope::All;
        let mut start: Vec<Row> = match change.examined {
            _ if all => every().collect(),
            Some(rows) => rows.iter().copied().filter(|&row| is_changed(inquiry, row)).collect(),
            None => every().filter(|&row| is_changed(inquiry, row)).collect(),
        };
        let transient = change.transient.unwrap_or_default().iter();
        let transient =
            transient.filter(|equation| !new.find(equation.residual).is_some_and(|row| inquiry.is_invariant(row)));
        for equation in change.restart_equations.iter().chain(transient) {
            start.extend(rows_that_determine(pool, new, equation.residual));
        }
        start.extend(beyond_tail(pool, change).into_keys());
        let mut touched = Touched::default();
        touched.extend(new, start);
        touched
    }

    /// Adds the blocks of the given rows and what follows from them.
    pub(crate) fn extend(&mut self, new: &ModeSystem, rows: impl IntoIterator<Item = Row>) {
        let mut fresh: Vec<BlockId> = Vec::new();
        for row in rows {
            let block = new.block_of(row);
            if self.jumping.insert(block) {
                fresh.push(block);
            }
        }
        // Constraints on states that may jump: their other states may jump as well.
        let mut next = 0;
        while next < fresh.len() {
            for &row in new.block_rows(fresh[next]) {
                for user in new.users(new.matched_column(row)) {
                    let block = new.block_of(user);
                    if new.equation_offset(user) > 0 && self.jumping.insert(block) {
                        fresh.push(block);
                    }
                }
            }
            next += 1;
        }
        self.include_with_dependencies(new, fresh);
    }

    /// Includes blocks and those whose leading variables they use.
    fn include_with_dependencies(&mut self, new: &ModeSystem, mut stack: Vec<BlockId>) {
        while let Some(block) = stack.pop() {
            if !self.included.insert(block) {
                continue;
            }
            for &row in new.block_rows(block) {
                self.row_set.insert(row);
                let column = new.matched_column(row);
                self.column_set.insert(column);
                self.rows.entry(new.component_of_row(row)).or_default().push(row);
                self.columns
                    .entry(new.component_of_column(column))
                    .or_default()
                    .push(column);
                for (used, order) in new.signature(row) {
                    if new.sigma().is_leading(row, used, order) {
                        stack.push(new.block_of(new.matched_row(used)));
                    }
                }
            }
        }
        self.rows.values_mut().for_each(|rows| rows.sort_unstable());
        self.columns.values_mut().for_each(|columns| columns.sort_unstable());
    }

    /// The components of which a part is touched.
    pub(crate) fn components(&self) -> impl Iterator<Item = ComponentId> + '_ {
        self.rows.keys().copied()
    }
    /// The touched equations of a component.
    pub(crate) fn rows(&self, component: ComponentId) -> &[Row] {
        self.rows.get(&component).map_or(&[], Vec::as_slice)
    }
    /// The touched unknowns of a component.
    pub(crate) fn columns(&self, component: ComponentId) -> &[Column] {
        self.columns.get(&component).map_or(&[], Vec::as_slice)
    }
    /// All touched equations, in order.
    pub(crate) fn all_rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.row_set.iter().copied().collect();
        rows.sort_unstable();
        rows
    }
    /// All touched unknowns, in order.
    pub(crate) fn all_columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = self.column_set.iter().copied().collect();
        columns.sort_unstable();
        columns
    }
    /// Unknowns of the blocks whose states may jump, in order.
    pub(crate) fn jumping_columns(&self, new: &ModeSystem) -> Vec<Column> {
        let rows = self.jumping.iter().flat_map(|&block| new.block_rows(block));
        let mut columns: Vec<Column> = rows.map(|&row| new.matched_column(row)).collect();
        columns.sort_unstable();
        columns
    }
    pub(crate) fn has_row(&self, row: Row) -> bool {
        self.row_set.contains(&row)
    }
    pub(crate) fn has_column(&self, column: Column) -> bool {
        self.column_set.contains(&column)
    }
}

fn is_changed(inquiry: &Inquiry, row: Row) -> bool {
    let change = &inquiry.change;
    let new = change.new;
    let residual = new.equation(row).residual;
    let known = change.previous().and_then(|previous| {
        let row = previous.find(residual)?;
        Some(previous.equation_offset(row))
    });
    let column = new.matched_column(row);
    let c = new.equation_offset(row);
    let invariant = inquiry.is_invariant(row);
    // An equation that is not differentiated says nothing about the states alone; but what a transient mode leaves out
    // is missing there.
    let restricts_states = c > 0 && (!invariant || known.is_none_or(|before| before < c));
    let missing = change.transient.is_some() && !invariant;
    restricts_states || missing || new.unknown_offset(column) > inquiry.past_offset(new.unknown(column))
}

fn rows_that_determine(pool: &ExprPool, new: &ModeSystem, residual: ExprId) -> Vec<Row> {
    let mentioned = pool.occurrences(residual).into_iter();
    let columns = mentioned.filter_map(|Derivative { var, .. }| new.column_of(var));
    columns.map(|column| new.matched_row(column)).collect()
}
