//! Canonical offsets of a highest-value transversal: the Σ-method's smallest dual solution.

use crate::index::{Row, rows};
use crate::matching::Matching;
use crate::weighted::WeightedAdjacency;

/// Row offsets c ≥ 0 and column offsets d ≥ 0 with c + weight ≤ d on every edge and equality on
/// a perfect matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// c, by row: how often an equation is differentiated.
    pub rows: Vec<i64>,
    /// d, by column: the highest derivative of an unknown that then occurs.
    pub columns: Vec<i64>,
}

impl Offsets {
    /// Whether an edge is tight (c + weight = d), that is, belongs to the leading incidence.
    #[inline]
    pub fn is_tight(&self, row: Row, column: crate::Column, weight: i32) -> bool {
        self.rows[row.index()] + i64::from(weight) == self.columns[column.index()]
    }

    /// Checks the defining inequalities and equality on the matching.
    pub fn validate(&self, graph: &impl WeightedAdjacency, matching: &Matching) -> Result<(), String> {
        if self.rows.iter().chain(&self.columns).any(|&offset| offset < 0) {
            return Err("negative offset".to_owned());
        }
        for row in rows(graph.row_count()) {
            for (column, weight) in graph.entries_of(row) {
                let slack = self.columns[column.index()] - self.rows[row.index()] - i64::from(weight);
                let matched = matching.column_of(row) == Some(column);
                if slack < 0 || (matched && slack > 0) {
                    return Err(format!("slack {slack} at ({row:?}, {column:?})"));
                }
            }
        }
        Ok(())
    }
}
