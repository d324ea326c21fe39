//! Where to begin when the values in memory may be no guess at all.

use saltus_codegen::System;
use saltus_graph::{Column, WeightedBipartite, highest_value_transversal};
use saltus_mdae::Derivative;

use super::{BlockFailure, BlockSolver, Care};
use crate::memory::Memory;

/// A start value is met when this much of its size is left, and another solution is nearer when this part of the distance is.
const MET: f64 = 1e-6;
const NEARER: f64 = 0.5;
/// Newton steps for one equation.
const STEPS_OF_ONE: u32 = 20;
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

    /// The same at the start, where some unknowns have start values. What has none begins at zero by default, which is no
    /// information: equations may have another solution that agrees with what is given. So where the one that is found does
    /// not, the guesses of the others follow from what is given, equation by equation, and the nearer solution is taken.
    pub(crate) fn solve_near_starts(
        &mut self,
        memory: &mut Memory,
        start: &dyn Fn(Derivative) -> Option<f64>,
    ) -> Result<(), BlockFailure> {
        let given: Vec<Option<f64>> = self.unknowns.iter().map(|&unknown| start(unknown)).collect();
        let is_partly_given = given.iter().any(Option::is_some) && given.iter().any(Option::is_none);
        if self.linear || !is_partly_given {
            return self.solve_from_afar(memory);
        }
        let guess: Vec<f64> = self.slots.iter().map(|&slot| memory.values[slot as usize]).collect();
        let outcome = self.solve_from_afar(memory);
        let distance = self.distance(memory, &given);
        if outcome.is_ok() && distance <= MET {
            return outcome;
        }
        let found: Vec<f64> = self.slots.iter().map(|&slot| memory.values[slot as usize]).collect();
        let strayed = self.strayed;
        self.place(memory, &guess);
        self.follow_given(memory, &given);
        let other = self.solve(memory, Care::Checked);
        if other.is_ok() && (outcome.is_err() || self.distance(memory, &given) < NEARER * distance) {
            return other;
        }
        self.place(memory, &found);
        self.strayed = strayed;
        outcome
    }

    /// How far the values in memory are from those that are given, relative to their sizes.
    fn distance(&self, memory: &Memory, given: &[Option<f64>]) -> f64 {
        let places = self.slots.iter().zip(&self.nominal).zip(given);
        let distances = places.filter_map(|((&slot, nominal), given)| {
            let start = (*given)?;
            Some((memory.values[slot as usize] - start).abs() / start.abs().max(*nominal))
        });
        distances.fold(0.0, f64::max)
    }

    /// Gives unknowns without a start value what equations make of those with one, as far as each equation has one unknown whose
    /// value is open yet.
    fn follow_given(&mut self, memory: &mut Memory, given: &[Option<f64>]) {
        let mut known: Vec<bool> = given.iter().map(Option::is_some).collect();
        for (&slot, given) in self.slots.iter().zip(given) {
            if let Some(start) = given {
                memory.values[slot as usize] = *start;
            }
        }
        let columns = self.system.column_starts.clone();
        let mut used = vec![false; self.slots.len()];
        loop {
            let mut open: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.slots.len()];
            for column in (0..self.slots.len()).filter(|&column| !known[column]) {
                for entry in columns[column]..columns[column + 1] {
                    open[self.system.row_indices[entry]].push((column, entry));
                }
            }
            let lone = (0..open.len()).find(|&row| !used[row] && open[row].len() == 1);
            let Some(row) = lone else { return };
            let (column, entry) = open[row][0];
            used[row] = true;
            if self.solve_one(memory, (row, column, entry)) {
                known[column] = true;
            }
        }
    }

    /// Solves one equation for one unknown: whether that has a value. It is left as it was where not.
    fn solve_one(&mut self, memory: &mut Memory, (row, column, entry): (usize, usize, usize)) -> bool {
        let slot = self.slots[column] as usize;
        let before = memory.values[slot];
        for _ in 0..STEPS_OF_ONE {
            let System { residual, jacobian, .. } = &mut self.system;
            residual.evaluate_unchecked(&memory.values, &mut self.residual);
            jacobian.evaluate_unchecked(&memory.values, &mut self.jacobian);
            let step = self.residual[row] / self.jacobian[entry];
            if !step.is_finite() {
                break;
            }
            memory.values[slot] -= step;
            if step.abs() <= MET * memory.values[slot].abs().max(self.nominal[column]) {
                return true;
            }
        }
        memory.values[slot] = before;
        false
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
