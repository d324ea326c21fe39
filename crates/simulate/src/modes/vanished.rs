//! Linear systems in which coefficients have become zero.
//!
//! Where nothing flows, `H = m_flow*h` says 0 = 0 and does not determine h. Nothing depends on h then either, but a system that
//! has a solution as soon as something flows would be called singular. The unknowns that the coefficients left do not determine
//! keep their values; the equations that say nothing any more must hold.

use saltus_graph::{Adjacency, Bipartite, Column, Matcher, Matching, Row};
use saltus_numerics::linalg::{Factorisation, MatrixStructure};

/// Larger systems are refused: this is solved densely.
const MOST_UNKNOWNS: usize = 400;
/// What is left of an equation that says nothing, against its terms.
const RESIDUAL: f64 = 1e-9;
/// The same against the values that are read, where no term is left.
const NOTHING: f64 = 1e-12;

/// A linear system J·step = −residual; J is given by columns.
pub(crate) struct Linear<'a> {
    pub column_starts: &'a [usize],
    pub row_indices: &'a [usize],
    pub jacobian: &'a [f64],
    pub residual: &'a [f64],
    /// Values of the unknowns, and how large they usually are.
    pub values: Vec<f64>,
    pub nominal: &'a [f64],
    /// The largest value that the equations read.
    pub largest: f64,
}

/// A step that leaves some unknowns as they are.
pub(crate) struct Around {
    pub step: Vec<f64>,
    pub kept: Vec<usize>,
    /// These and all that follow from them.
    pub open: Vec<usize>,
}

/// Unknowns that the coefficients left do not determine, as many equations that determine nothing, and the unknowns that are
/// found from the first.
struct OpenPart {
    kept: Vec<usize>,
    silent: Vec<usize>,
    open: Vec<usize>,
}

impl Linear<'_> {
    /// The step with what is not determined kept; `None` if the system is singular for another reason than coefficients that
    /// are zero, or contradicts itself.
    pub(crate) fn step_around(&self) -> Option<Around> {
        let n = self.residual.len();
        if n > MOST_UNKNOWNS || self.jacobian.iter().chain(self.residual).any(|x| !x.is_finite()) {
            return None;
        }
        let OpenPart { kept, silent, open } = self.open_part();
        if kept.is_empty() {
            return None;
        }
        let mut matrix = vec![0.0; n * n];
        let mut step: Vec<f64> = self.residual.iter().map(|r| -r).collect();
        for column in 0..n {
            for (row, value) in self.column(column) {
                matrix[column * n + row] = value;
            }
        }
        for (&column, &row) in kept.iter().zip(&silent) {
            (0..n).for_each(|other| matrix[other * n + row] = 0.0);
            matrix[column * n + row] = 1.0;
            step[row] = 0.0;
        }
        let mut factorisation: Factorisation = Factorisation::new(MatrixStructure::Dense { n });
        factorisation.factor(&matrix).ok()?;
        factorisation.solve(&mut step);
        let holds = step.iter().all(|step| step.is_finite()) && self.hold(&silent, &kept, &step);
        holds.then_some(Around { step, kept, open })
    }

    fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.column_starts[column]..self.column_starts[column + 1];
        let rows = self.row_indices[range.clone()].iter().copied();
        rows.zip(self.jacobian[range].iter().copied())
    }

    /// What has a value keeps it rather than what has none.
    fn open_part(&self) -> OpenPart {
        let n = self.residual.len();
        let rows_of = |column: usize| {
            let left = self.column(column).filter(|&(_, value)| value != 0.0);
            left.map(|(row, _)| Column::from_index(row)).collect::<Vec<Column>>()
        };
        let by_unknown = Bipartite::from_rows(n, (0..n).map(rows_of));
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&at| self.values[at] != 0.0);
        let mut matching = Matching::empty(n, n);
        let order = order.into_iter().map(Row::from_index);
        let free = Matcher::new().augment_in_order(&by_unknown, &mut matching, order);
        let mut kept: Vec<usize> = free.into_iter().map(Row::index).collect();
        kept.sort_unstable();
        // From an unknown to the equations it is in, and on to what these determine.
        let mut reached = vec![false; n];
        let mut next = kept.clone();
        next.iter().for_each(|&at| reached[at] = true);
        while let Some(at) = next.pop() {
            for &equation in by_unknown.columns_of(Row::from_index(at)) {
                if let Some(found) = matching.row_of(equation).map(Row::index)
                    && !std::mem::replace(&mut reached[found], true)
                {
                    next.push(found);
                }
            }
        }
        OpenPart {
            kept,
            silent: matching.unmatched_columns().map(Column::index).collect(),
            open: (0..n).filter(|&at| reached[at]).collect(),
        }
    }

    /// Whether the equations that determine nothing hold after the step.
    fn hold(&self, silent: &[usize], kept: &[usize], step: &[f64]) -> bool {
        let n = self.residual.len();
        let (mut left, mut size) = (self.residual.to_vec(), vec![0.0f64; n]);
        for (column, &moved) in step.iter().enumerate() {
            for (row, value) in self.column(column) {
                left[row] += value * moved;
                size[row] += value.abs() * (self.values[column].abs() + moved.abs());
            }
        }
        let mut pairs = silent.iter().zip(kept);
        pairs.all(|(&row, &column)| {
            let usual = self.nominal[column].max(self.largest);
            left[row].abs() <= (RESIDUAL * size[row]).max(NOTHING * usual)
        })
    }
}
