//! Where to begin when the values in memory may be no guess at all.

use saltus_graph::{Column, WeightedBipartite, highest_value_transversal};

use super::{BlockFailure, BlockSolver, Care};
use crate::memory::Memory;

/// Sweeps over all equations of a block to improve a bad guess.
const RELAXATION_SWEEPS: u32 = 4;

impl BlockSolver {
    /// Solves where the values in memory may be no guess at all, as at the start: zero for a divisor, say. Guesses are
    /// improved by solving one equation after the other, from the values in memory or with the nominal ones in place
    /// of zeros.
    pub(crate) fn solve_from_afar(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        let guess: Vec<f64> = self.slots.iter().map(|&slot| memory.values[slot as usize]).collect();
        let Err(failure) = self.solve(memory, Care::Checked) else {
            return Ok(());
        };
        let off_zero = |(&value, &nominal): (&f64, &f64)| {
            if value != 0.0 && value.is_finite() {
                value
            } else {
                nominal
            }
        };
        let moved = guess.iter().zip(&self.nominal).map(off_zero).collect();
        for start in [guess.clone(), moved] {
            self.place(memory, &start);
            self.relax(memory);
            if self.solve(memory, Care::Checked).is_ok() {
                return Ok(());
            }
        }
        self.place(memory, &guess);
        Err(failure)
    }

    /// A few sweeps of Newton steps, each of one equation for the unknown assigned to it.
    pub(super) fn relax(&mut self, memory: &mut Memory) {
        let assigned = self.assignment(memory);
        for _ in 0..RELAXATION_SWEEPS {
            for &(row, column, entry) in &assigned {
                self.system
                    .residual
                    .evaluate_unchecked(&memory.values, &mut self.residual);
                self.system
                    .jacobian
                    .evaluate_unchecked(&memory.values, &mut self.jacobian);
                let step = self.residual[row] / self.jacobian[entry];
                if step.is_finite() {
                    memory.values[self.slots[column] as usize] -= step;
                }
            }
        }
    }

    /// Entries of the Jacobian that are the same at the guess and away from it: there the equation is linear in the unknown.
    pub(super) fn constant_entries(&mut self, memory: &Memory) -> Vec<bool> {
        let jacobian = &mut self.system.jacobian;
        jacobian.evaluate_unchecked(&memory.values, &mut self.jacobian);
        let here = self.jacobian.clone();
        let mut away = memory.values.clone();
        for (&slot, nominal) in self.slots.iter().zip(&self.nominal) {
            away[slot as usize] = 1.5 * away[slot as usize] + nominal;
        }
        jacobian.evaluate_unchecked(&away, &mut self.jacobian);
        here.iter().zip(&self.jacobian).map(|(a, b)| a == b).collect()
    }

    /// Rows with the columns they are assigned to and the places of these entries, in the order of the rows. Each is
    /// assigned to an unknown that it is linear in, as far as that is possible.
    pub(super) fn assignment(&mut self, memory: &Memory) -> Vec<(usize, usize, usize)> {
        let constant = self.constant_entries(memory);
        let columns = &self.system.column_starts;
        let count = self.slots.len();
        let rows_of = |column: usize| &self.system.row_indices[columns[column]..columns[column + 1]];
        let by_column = WeightedBipartite::from_rows(
            count,
            (0..count).map(|column| {
                let entries = rows_of(column).iter().zip(&constant[columns[column]..]);
                entries.map(|(&row, &linear)| (Column::from_index(row), i32::from(linear)))
            }),
        );
        let Ok(found) = highest_value_transversal(&by_column) else {
            return Vec::new();
        };
        let mut assigned: Vec<(usize, usize, usize)> = found
            .matching
            .pairs()
            .filter_map(|(column, row)| {
                let (column, row) = (column.index(), row.index());
                let within = rows_of(column).iter().position(|&known| known == row)?;
                Some((row, column, columns[column] + within))
            })
            .collect();
        assigned.sort_unstable();
        assigned
    }

    /// A value that was never computed (or was dead) is no first guess.
    pub(super) fn replace_missing(&self, memory: &mut Memory) {
        for slot in &self.slots {
            let value = &mut memory.values[*slot as usize];
            if !value.is_finite() {
                *value = 0.0;
            }
        }
    }
}
