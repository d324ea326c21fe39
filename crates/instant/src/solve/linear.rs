//! A linearised block of a restart system: its Newton step, and what errors of its equations make of the unknowns.

use saltus_numerics::linalg::{DenseMatrix, PivotedQr, SparseLu, SparsityPattern, balance};

/// Blocks up to this size are solved densely, with their rank known.
const DENSE: usize = 64;
/// Relative size below which a pivot of an equilibrated Jacobian counts as zero.
const RANK: f64 = 1e-10;
/// What is smaller than this part of the values that an iteration began with is zero: the digits of digits.
const VANISHED: f64 = f64::EPSILON * f64::EPSILON;
/// Samples of the rounding errors of a large block.
const ROUNDING_SAMPLES: u64 = 4;

/// A factor between 1 and 2, or −1 and −2, of the error of a row: errors of two rows that cancel in one sample do not in the next.
fn factor(row: u64, sample: u64) -> f64 {
    // The finaliser of SplitMix64.
    let mut bits = (row * ROUNDING_SAMPLES + sample + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let size = 1.0 + (bits >> 12) as f64 / (1u64 << 52) as f64;
    if bits & 1 == 0 { size } else { -size }
}

/// A linearised block.
#[derive(Default)]
pub(super) struct Linear {
    pub(super) rows: Vec<Vec<(usize, f64)>>,
    pub(super) residuals: Vec<f64>,
    /// Sizes of the terms of each equation.
    pub(super) sizes: Vec<f64>,
    /// What rounding of these, and of what was solved before, makes of each equation.
    pub(super) errors: Vec<f64>,
    /// What the errors of left limits make of them.
    pub(super) left_errors: Vec<f64>,
    /// Factors that make rows and columns comparable, whatever the units of equations and unknowns.
    by_row: Vec<f64>,
    by_column: Vec<f64>,
    /// The largest term and unknown, made comparable.
    size: f64,
    /// What counts as zero beside the largest values so far, made comparable.
    nothing: f64,
    /// Made when a step is first asked for.
    factors: Option<Factors>,
}

/// The factors of a linearised block.
enum Factors {
    Dense(PivotedQr),
    Sparse(Box<SparseLu>),
    /// Of a sparse one without them, the rank that was found.
    Singular(usize),
}

impl Linear {
    pub(super) fn balance(&mut self, unknowns: impl Iterator<Item = f64>, reach: &[f64]) {
        let n = self.rows.len();
        let numbered = self.rows.iter().enumerate();
        let entries: Vec<(usize, usize, f64)> = numbered
            .flat_map(|(row, entries)| entries.iter().map(move |&(column, slope)| (row, column, slope)))
            .collect();
        (self.by_row, self.by_column) = balance(n, n, &entries);
        let terms = self.sizes.iter().zip(&self.by_row).map(|(size, factor)| size * factor);
        let unknowns = unknowns.zip(&self.by_column).map(|(x, factor)| x.abs() / factor);
        let reach = reach.iter().zip(&self.by_column).map(|(reach, factor)| reach / factor);
        self.nothing = VANISHED * reach.fold(0.0, f64::max);
        self.size = terms.chain(unknowns).fold(self.nothing, f64::max);
    }

    /// Whether a value of an unknown is nothing but what rounding has left of larger ones.
    pub(super) fn has_vanished(&self, unknown: usize, value: f64) -> bool {
        value.abs() / self.by_column[unknown] <= self.nothing
    }

    /// The largest residual, relative to the largest terms and unknowns.
    pub(super) fn largest_residual(&self) -> f64 {
        let residuals = self.residuals.iter().zip(&self.by_row);
        self.relative(residuals.map(|(residual, factor)| residual.abs() * factor))
    }

    /// The largest change of an unknown by a step, relative to the largest terms and unknowns.
    pub(super) fn effect(&self, step: &[f64]) -> f64 {
        let changes = step.iter().zip(&self.by_column);
        self.relative(changes.map(|(step, factor)| step.abs() / factor))
    }

    fn relative(&self, amounts: impl Iterator<Item = f64>) -> f64 {
        let largest = amounts.fold(0.0, f64::max);
        if largest == 0.0 { 0.0 } else { largest / self.size }
    }

    /// What errors of the equations, whatever their signs, make of the unknowns.
    pub(super) fn responses(&mut self, errors: &[f64]) -> Vec<f64> {
        if self.rows.len() <= DENSE {
            self.largest_responses(errors)
        } else {
            self.sampled_responses(errors)
        }
    }

    /// The largest that any signs lead to: |A⁻¹|·|errors|, row by row.
    fn largest_responses(&mut self, errors: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0; errors.len()];
        let mut single = vec![0.0; errors.len()];
        for (row, &error) in errors.iter().enumerate().filter(|(_, error)| **error != 0.0) {
            single[row] = error;
            let (changes, _) = self.step_for(&single);
            for (found, change) in found.iter_mut().zip(changes) {
                *found += change.abs();
            }
            single[row] = 0.0;
        }
        found
    }

    /// The largest of a few samples: of a large block all of them would cost more than its solution.
    fn sampled_responses(&mut self, errors: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0_f64; errors.len()];
        for sample in 0..ROUNDING_SAMPLES {
            let errors = errors.iter().zip(0..).map(|(error, row)| error * factor(row, sample));
            let (changes, _) = self.step_for(&errors.collect::<Vec<f64>>());
            for (found, change) in found.iter_mut().zip(changes) {
                *found = found.max(change.abs());
            }
        }
        found
    }

    /// The Newton step (to be subtracted) and the numeric rank; least squares when singular.
    pub(super) fn step(&mut self) -> (Vec<f64>, usize) {
        let residuals = std::mem::take(&mut self.residuals);
        let step = self.step_for(&residuals);
        self.residuals = residuals;
        step
    }

    fn step_for(&mut self, residuals: &[f64]) -> (Vec<f64>, usize) {
        let n = self.rows.len();
        if let ([row], [residual]) = (self.rows.as_slice(), residuals) {
            return match row.first() {
                Some(&(_, slope)) if slope != 0.0 => (vec![residual / slope], 1),
                _ => (vec![0.0], 0),
            };
        }
        let residuals = residuals.iter().zip(&self.by_row);
        let mut residuals: Vec<f64> = residuals.map(|(residual, scale)| residual * scale).collect();
        let mut factors = self.factors.take().unwrap_or_else(|| self.factored());
        let (mut step, rank) = match &mut factors {
            Factors::Dense(qr) => (qr.minimum_norm_solution(&residuals), qr.rank()),
            Factors::Sparse(lu) => {
                lu.solve(&mut residuals);
                (residuals, n)
            }
            Factors::Singular(rank) => (vec![0.0; n], *rank),
        };
        self.factors = Some(factors);
        let scales = step.iter_mut().zip(&self.by_column);
        scales.for_each(|(step, scale)| *step *= scale);
        (step, rank)
    }

    fn factored(&self) -> Factors {
        if self.rows.len() <= DENSE {
            Factors::Dense(self.dense_factors())
        } else {
            self.sparse_factors()
                .map_or_else(Factors::Singular, |lu| Factors::Sparse(Box::new(lu)))
        }
    }

    fn dense_factors(&self) -> PivotedQr {
        let n = self.rows.len();
        let mut matrix = DenseMatrix::zeros(n, n);
        for (row, entries) in self.rows.iter().enumerate() {
            for &(column, slope) in entries {
                matrix[(row, column)] = slope * self.by_row[row] * self.by_column[column];
            }
        }
        PivotedQr::new(&matrix, Some(RANK))
    }

    fn sparse_factors(&self) -> Result<SparseLu, usize> {
        let n = self.rows.len();
        let numbered = self.rows.iter().enumerate();
        let entries: Vec<(usize, usize)> = numbered
            .flat_map(|(row, entries)| entries.iter().map(move |&(column, _)| (row, column)))
            .collect();
        let pattern = SparsityPattern::from_entries(n, n, entries);
        let mut values = vec![0.0; pattern.len()];
        for (row, entries) in self.rows.iter().enumerate() {
            for &(column, slope) in entries {
                if let Some(position) = pattern.position(row, column) {
                    values[position] = slope * self.by_row[row] * self.by_column[column];
                }
            }
        }
        let mut lu = SparseLu::new(pattern);
        lu.factor(&values).map_err(|singular| singular.rank_so_far)?;
        Ok(lu)
    }
}
