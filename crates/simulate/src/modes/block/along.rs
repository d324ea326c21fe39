//! A block solved along one of its unknowns, where iterations go to and fro.
//!
//! Flows through orifices have an infinite slope where they reverse, losses with the square of a flow have none. Where all but one
//! equation follow, one after the other, from the value of one unknown (the pressure of a node, the flow through a row of
//! elements), what is left of the last one is a function of this unknown, and a change of its sign needs no slope. Equations of one
//! unknown on the way are solved in the same manner.

use saltus_codegen::System;
use saltus_numerics::nonlinear::{nearest_root, runs_away};

use super::BlockSolver;
use crate::memory::Memory;

/// Blocks with more unknowns are not tried.
const MOST_UNKNOWNS: usize = 24;
/// What a linear equation leaves, in parts of the unknown that it gives.
const SAME: f64 = 1e-9;
/// Newton steps for one equation, the factor by which they shrink, and the last of them in parts of the unknown.
const NEWTON_STEPS: u32 = 8;
const SHRINKS: f64 = 0.5;
const SETTLED: f64 = 1e-13;

/// One equation that gives one unknown.
#[derive(Copy, Clone, Debug)]
struct Given {
    row: usize,
    column: usize,
    /// The place of the slope among the entries of the Jacobian.
    entry: usize,
    /// The slope, where it is the same everywhere.
    constant_slope: Option<f64>,
}

/// How all follows from one unknown.
#[derive(Clone, Debug)]
struct Course {
    along: usize,
    follows: Vec<Given>,
    /// The equation that is left.
    last: usize,
}

impl Course {
    fn nonlinear(&self) -> usize {
        self.follows
            .iter()
            .filter(|given| given.constant_slope.is_none())
            .count()
    }
}

impl BlockSolver {
    /// Whether it was solved along one unknown, from a guess.
    pub(super) fn solve_along_unknown(&mut self, memory: &mut Memory, guess: &[f64]) -> Result<(), ()> {
        if self.slots.len() > MOST_UNKNOWNS {
            return Err(());
        }
        self.place(memory, guess);
        self.replace_missing(memory);
        let constant = self.constant_entries(memory);
        let slopes: Vec<Option<f64>> = constant
            .iter()
            .zip(&self.jacobian)
            .map(|(&constant, &slope)| constant.then_some(slope))
            .collect();
        let courses = (0..self.slots.len()).filter_map(|along| self.course_along(along, &slopes));
        let Some(course) = courses.min_by_key(Course::nonlinear) else {
            return Err(());
        };
        let (begin, size) = self.place_and_size(memory, course.along);
        let root = nearest_root(|x| self.left_over(memory, &course, x), begin, size);
        if let Some(root) = root
            && self.left_over(memory, &course, root).is_finite()
        {
            return Ok(());
        }
        self.place(memory, guess);
        Err(())
    }

    fn place_and_size(&self, memory: &Memory, column: usize) -> (f64, f64) {
        (memory.values[self.slots[column] as usize], self.nominal[column])
    }

    /// The order in which equations give the others where one unknown is known; none if they do not, one by one.
    fn course_along(&self, along: usize, slopes: &[Option<f64>]) -> Option<Course> {
        let count = self.slots.len();
        let starts = &self.system.column_starts;
        let mut known = vec![false; count];
        known[along] = true;
        let mut used = vec![false; count];
        let mut follows: Vec<Given> = Vec::with_capacity(count - 1);
        while follows.len() + 1 < count {
            let mut open: Vec<(usize, Given)> = (0..count)
                .map(|row| {
                    (
                        0,
                        Given {
                            row,
                            column: 0,
                            entry: 0,
                            constant_slope: None,
                        },
                    )
                })
                .collect();
            for column in (0..count).filter(|&column| !known[column]) {
                for entry in starts[column]..starts[column + 1] {
                    let (unknowns, given) = &mut open[self.system.row_indices[entry]];
                    *unknowns += 1;
                    given.column = column;
                    given.entry = entry;
                    given.constant_slope = slopes[entry];
                }
            }
            let lone = open
                .iter()
                .filter(|(unknowns, given)| *unknowns == 1 && !used[given.row]);
            // Linear ones first: of two equations for one unknown the other is what is left.
            let (_, given) = lone.min_by_key(|(_, given)| given.constant_slope.is_none())?;
            (known[given.column], used[given.row]) = (true, true);
            follows.push(*given);
        }
        let last = used.iter().position(|used| !used)?;
        Some(Course { along, follows, last })
    }

    /// What is left of the last equation where one unknown has this value; not a number where the others do not follow.
    fn left_over(&mut self, memory: &mut Memory, course: &Course, x: f64) -> f64 {
        memory.values[self.slots[course.along] as usize] = x;
        for &given in &course.follows {
            if !self.follow_one(memory, given) {
                return f64::NAN;
            }
        }
        self.residual_at(memory, course.last)
    }

    fn follow_one(&mut self, memory: &mut Memory, given: Given) -> bool {
        let slot = self.slots[given.column] as usize;
        let (begin, size) = self.place_and_size(memory, given.column);
        if let Some(slope) = given.constant_slope
            && self.follow_linearly(memory, given, slope)
        {
            return true;
        }
        if self.follow_by_newton(memory, given) {
            return true;
        }
        memory.values[slot] = begin;
        let residual = |x: f64| {
            memory.values[slot] = x;
            self.residual_at(memory, given.row)
        };
        let root = nearest_root(residual, begin, size);
        memory.values[slot] = root.unwrap_or(begin);
        root.is_some()
    }

    /// Two steps: the second corrects the rounding of the first, which may come from far. False if the slope is another there.
    fn follow_linearly(&mut self, memory: &mut Memory, given: Given, slope: f64) -> bool {
        let slot = self.slots[given.column] as usize;
        for _ in 0..2 {
            let residual = self.residual_at(memory, given.row);
            memory.values[slot] -= residual / slope;
        }
        let left = (self.residual_at(memory, given.row) / slope).abs();
        left <= SAME * memory.values[slot].abs().max(self.nominal[given.column])
    }

    /// A few Newton steps, as long as they shrink as they do near a solution.
    fn follow_by_newton(&mut self, memory: &mut Memory, given: Given) -> bool {
        let slot = self.slots[given.column] as usize;
        let mut previous = f64::INFINITY;
        for _ in 0..NEWTON_STEPS {
            let residual = self.residual_at(memory, given.row);
            self.system
                .jacobian
                .evaluate_unchecked(&memory.values, &mut self.jacobian);
            let step = residual / self.jacobian[given.entry];
            let size = step.abs() / memory.values[slot].abs().max(1e-3 * self.nominal[given.column]);
            let shrinks = size <= SHRINKS * previous;
            if !shrinks || runs_away(memory.values[slot], -step) {
                return false;
            }
            memory.values[slot] -= step;
            if size <= SETTLED {
                return true;
            }
            previous = size;
        }
        false
    }

    fn residual_at(&mut self, memory: &Memory, row: usize) -> f64 {
        let System { residual, .. } = &self.system;
        residual.evaluate_unchecked(&memory.values, &mut self.residual);
        self.residual[row]
    }
}
