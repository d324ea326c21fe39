//! Matrices whose entries are near the diagonal: LU factorisation with row exchanges inside the band.

/// A square matrix with entries at most `below` places below and `above` places above the diagonal.
#[derive(Clone, Debug)]
pub struct BandMatrix {
    size: usize,
    below: usize,
    above: usize,
    /// Column by column; row exchanges push entries up to `below` places farther above the diagonal.
    entries: Vec<f64>,
}

impl BandMatrix {
    /// The numbers that a matrix of this shape takes.
    pub fn storage(size: usize, below: usize, above: usize) -> usize {
        size * (2 * below + above + 1)
    }

    /// Zero everywhere.
    pub fn zero(size: usize, below: usize, above: usize) -> Self {
        BandMatrix {
            size,
            below,
            above,
            entries: vec![0.0; Self::storage(size, below, above)],
        }
    }

    /// Adds to an entry inside the band.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        debug_assert!(row <= column + self.below && column <= row + self.above);
        let at = column * self.stride() + self.diagonal() + row - column;
        self.entries[at] += value;
    }

    fn stride(&self) -> usize {
        2 * self.below + self.above + 1
    }

    fn diagonal(&self) -> usize {
        self.below + self.above
    }

    /// The factors; none if a pivot is not larger than `least`.
    pub fn factor(mut self, least: f64) -> Option<BandLu> {
        let (size, below, above) = (self.size, self.below, self.above);
        let (stride, diagonal) = (self.stride(), self.diagonal());
        let entries = &mut self.entries;
        let mut exchanges = vec![0u32; size];
        let mut farthest = 0;
        for column in 0..size {
            let under = below.min(size - 1 - column);
            let pivot = column * stride + diagonal;
            let mut best = 0;
            for row in 1..=under {
                if entries[pivot + row].abs() > entries[pivot + best].abs() {
                    best = row;
                }
            }
            // Written so that not-a-number is refused.
            if !(entries[pivot + best].abs() > least) {
                return None;
            }
            exchanges[column] = best as u32;
            farthest = farthest.max((column + above + best).min(size - 1));
            if best != 0 {
                for other in column..=farthest {
                    let at = other * stride + diagonal + column - other;
                    entries.swap(at, at + best);
                }
            }
            let reciprocal = 1.0 / entries[pivot];
            for entry in &mut entries[pivot + 1..=pivot + under] {
                *entry *= reciprocal;
            }
            for other in column + 1..=farthest {
                let at = other * stride + diagonal + column - other;
                let factor = entries[at];
                if factor != 0.0 {
                    for row in 1..=under {
                        entries[at + row] -= entries[pivot + row] * factor;
                    }
                }
            }
            entries[pivot] = reciprocal;
        }
        Some(BandLu {
            below,
            diagonal,
            entries: self.entries,
            exchanges,
        })
    }
}

/// A factorised band matrix; the pivots are kept as their reciprocals.
#[derive(Clone, Debug)]
pub struct BandLu {
    below: usize,
    diagonal: usize,
    entries: Vec<f64>,
    exchanges: Vec<u32>,
}

impl BandLu {
    /// The number of unknowns.
    pub fn size(&self) -> usize {
        self.exchanges.len()
    }

    /// Replaces a right-hand side by the solution.
    pub fn solve(&self, x: &mut [f64]) {
        if (self.below, self.diagonal) == (1, 2) {
            return self.solve_tridiagonal(x);
        }
        let (size, diagonal) = (self.exchanges.len(), self.diagonal);
        let stride = self.below + diagonal + 1;
        for column in 0..size {
            let exchange = self.exchanges[column] as usize;
            if exchange != 0 {
                x.swap(column, column + exchange);
            }
            let value = x[column];
            let under = self.below.min(size - 1 - column);
            let pivot = column * stride + diagonal;
            let factors = &self.entries[pivot + 1..=pivot + under];
            for (x, factor) in x[column + 1..=column + under].iter_mut().zip(factors) {
                *x -= factor * value;
            }
        }
        for column in (0..size).rev() {
            let pivot = column * stride + diagonal;
            let value = x[column] * self.entries[pivot];
            x[column] = value;
            let over = diagonal.min(column);
            let factors = &self.entries[pivot - over..pivot];
            for (x, factor) in x[column - over..column].iter_mut().zip(factors) {
                *x -= factor * value;
            }
        }
    }
}

impl BandLu {
    /// The same for one entry below and one above the diagonal: chains.
    fn solve_tridiagonal(&self, x: &mut [f64]) {
        let size = self.exchanges.len();
        let x = &mut x[..size];
        // Of each column: two entries above the diagonal, the reciprocal pivot, and the factor below it.
        let (columns, _) = self.entries.as_chunks::<4>();
        for at in 1..size {
            if self.exchanges[at - 1] != 0 {
                x.swap(at - 1, at);
            }
            x[at] -= columns[at - 1][3] * x[at - 1];
        }
        if size > 0 {
            x[size - 1] *= columns[size - 1][2];
        }
        if size > 1 {
            x[size - 2] = (x[size - 2] - columns[size - 1][1] * x[size - 1]) * columns[size - 2][2];
        }
        for at in (0..size.saturating_sub(2)).rev() {
            let above = columns[at + 1][1] * x[at + 1] + columns[at + 2][0] * x[at + 2];
            x[at] = (x[at] - above) * columns[at][2];
        }
    }
}

#[cfg(test)]
mod tests {
    use saltus_testing::Random;

    use super::*;
    use crate::linalg::{DenseLu, DenseMatrix};

    #[test]
    fn solves_as_dense_factors_do() {
        for seed in 0..200u64 {
            let mut random = Random(seed + 1);
            let mut next = || random.between(-1.0, 1.0);
            let size = 1 + (seed % 23) as usize;
            let (below, above) = ((seed % 4) as usize, (seed / 4 % 4) as usize);
            let (below, above) = (below.min(size - 1), above.min(size - 1));
            let mut band = BandMatrix::zero(size, below, above);
            let mut dense = DenseMatrix::zeros(size, size);
            for row in 0..size {
                for column in row.saturating_sub(below)..=(row + above).min(size - 1) {
                    let value = next();
                    band.add(row, column, value);
                    dense[(row, column)] = value;
                }
            }
            let b: Vec<f64> = (0..size).map(|_| next()).collect();
            let mut expected = b.clone();
            let mut lu = DenseLu::new(size);
            let (Ok(()), Some(factors)) = (lu.factor(dense.values()), band.factor(1e-6)) else {
                continue;
            };
            lu.solve(&mut expected);
            let mut x = b;
            factors.solve(&mut x);
            for (x, expected) in x.iter().zip(&expected) {
                assert!((x - expected).abs() <= 1e-7 * (1.0 + expected.abs()), "{x} {expected}");
            }
        }
    }

    #[test]
    fn refuses_what_has_no_pivot() {
        let mut band = BandMatrix::zero(2, 1, 1);
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            band.add(row, column, 1.0);
        }
        assert!(band.factor(1e-12).is_none());
        assert!(BandMatrix::zero(3, 0, 0).factor(0.0).is_none());
    }
}
