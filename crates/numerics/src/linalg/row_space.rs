//! Which linear equations follow from others, in whatever units.
//!
//! What elimination leaves of a coefficient is compared with the sizes of all that it is the sum of, column by column: unknowns of
//! very different magnitudes do not drown each other, as they do where rows are compared as a whole.

/// Linear equations, each reduced by those before it.
#[derive(Clone, Debug)]
pub struct RowSpace {
    /// The size of each unknown's largest coefficient; columns beyond these are right-hand sides.
    units: Vec<f64>,
    /// Rows with the column of their pivots, which those after them do not have.
    rows: Vec<(usize, Vec<f64>)>,
}

/// What is left of an equation without what follows from others.
#[derive(Clone, Debug)]
pub struct Remainder {
    values: Vec<f64>,
    /// The sizes of all that each value is the sum of.
    terms: Vec<f64>,
    unknowns: usize,
}

impl RowSpace {
    /// No equations yet, in unknowns whose largest coefficients are given.
    pub fn new(units: Vec<f64>) -> Self {
        RowSpace {
            units,
            rows: Vec::new(),
        }
    }

    /// An equation (coefficients of the unknowns, then right-hand sides) without what follows from those of the space.
    pub fn remainder(&self, row: Vec<f64>) -> Remainder {
        let mut left = Remainder {
            terms: row.iter().map(|value| value.abs()).collect(),
            values: row,
            unknowns: self.units.len(),
        };
        for (pivot, known) in &self.rows {
            let factor = left.values[*pivot] / known[*pivot];
            if factor != 0.0 {
                left.subtract(known, factor);
                left.values[*pivot] = 0.0;
            }
        }
        left
    }

    /// Adds what is left of an equation; `small` parts of a coefficient are none. Without any it adds nothing.
    pub fn add(&mut self, remainder: Remainder, small: f64) {
        let size = |at: usize| remainder.values[at].abs() / self.units[at];
        let left = (0..self.units.len()).filter(|&at| remainder.part(at) > small);
        let Some(pivot) = left.max_by(|&a, &b| size(a).total_cmp(&size(b))) else {
            return;
        };
        self.rows.push((pivot, remainder.values));
    }
}

impl Remainder {
    fn subtract(&mut self, row: &[f64], factor: f64) {
        for ((value, term), other) in self.values.iter_mut().zip(&mut self.terms).zip(row) {
            *value -= factor * other;
            *term += (factor * other).abs();
        }
    }

    /// How much is left in a column, in parts of what it is the sum of.
    fn part(&self, at: usize) -> f64 {
        if self.values[at] == 0.0 {
            0.0
        } else {
            self.values[at].abs() / self.terms[at]
        }
    }

    /// The largest part of a coefficient that is left; not a number where one of them is none.
    pub fn of_unknowns(&self) -> f64 {
        largest((0..self.unknowns).map(|at| self.part(at)))
    }

    /// The largest part of a right-hand side that is left.
    pub fn of_right_hand_sides(&self) -> f64 {
        largest((self.unknowns..self.values.len()).map(|at| self.part(at)))
    }
}

fn largest(parts: impl Iterator<Item = f64>) -> f64 {
    parts.fold(0.0, |most: f64, part| if part.is_nan() { part } else { most.max(part) })
}

#[cfg(test)]
mod tests {
    use saltus_testing::Random;

    use super::*;

    fn number(random: &mut Random) -> f64 {
        random.between(-1.0, 1.0)
    }

    /// Sparse rows in unknowns of magnitudes 1e-9 to 1e9: a combination of them follows, one with another small term does not.
    #[test]
    fn combinations_follow_whatever_the_magnitudes() {
        for seed in 0..300 {
            let mut random = Random(seed);
            let (count, unknowns) = (1 + seed as usize % 12, 3 + seed as usize % 17);
            let units: Vec<f64> = (0..unknowns).map(|_| 10f64.powf(9.0 * number(&mut random))).collect();
            // All hold at one point.
            let point: Vec<f64> = units.iter().map(|unit| number(&mut random) / unit).collect();
            let mut row = || -> Vec<f64> {
                let mut row: Vec<f64> = units.iter().map(|unit| unit * number(&mut random).round()).collect();
                row.push(row.iter().zip(&point).map(|(a, x)| a * x).sum());
                row
            };
            let rows: Vec<Vec<f64>> = (0..count).map(|_| row()).collect();
            let free = row();
            let mut space = RowSpace::new(units.clone());
            for row in &rows {
                let remainder = space.remainder(row.clone());
                space.add(remainder, 1e-12);
            }
            let mut combination = vec![0.0; unknowns + 1];
            for row in &rows {
                let factor = 10f64.powf(3.0 * number(&mut random));
                combination
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += factor * value);
            }
            // What cancels in the combination itself has lost its digits before it is asked for.
            let remainder = space.remainder(combination.clone());
            assert!(remainder.of_unknowns() < 1e-9, "seed {seed}: {remainder:?}");
            assert!(remainder.of_right_hand_sides() < 1e-6, "seed {seed}: {remainder:?}");
            if space.remainder(free.clone()).of_unknowns() > 1e-6 {
                let with_more = combination.iter().zip(&free).map(|(sum, value)| sum + value).collect();
                assert!(space.remainder(with_more).of_unknowns() > 1e-9, "seed {seed}");
            }
        }
    }
}
