//! Sparse LU factorisation with reuse of the pivot sequence.
//!
//! The first factorisation is left-looking with threshold partial pivoting (J. R. Gilbert, T. Peierls, *Sparse
//! partial pivoting in time proportional to arithmetic operations*, 1988) on a fill-reducing column order.
//! Later ones keep pivots and fill pattern and only recompute numbers, which is what most of the work of an
//! implicit integrator consists of; every pivot is compared with its column, and when one has become small the
//! matrix is factorised anew.

use super::dense::{SINGULAR_PIVOT, inverse_power_of_two};
use super::ordering::column_order;
use super::{Scalar, SingularMatrix, SparsityPattern};

/// The diagonal is preferred as pivot when at least this large relative to its column.
const DIAGONAL_THRESHOLD: f64 = 0.1;
/// A kept pivot smaller than this relative to its column forces a new pivot sequence.
const KEPT_PIVOT_THRESHOLD: f64 = 1e-3;
const NONE: usize = usize::MAX;

/// How a factorisation was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorKind {
    /// Pivots were chosen anew.
    Full,
    /// Pivots and pattern of the previous factorisation were kept.
    Refactored,
}

/// Factors `P R A Q = L U` of a square sparse matrix; L has an implicit unit diagonal.
#[derive(Clone, Debug)]
pub struct SparseLu<S = f64> {
    pattern: SparsityPattern,
    column_order: Vec<usize>,
    /// Position of each row in the pivot sequence.
    row_position: Vec<usize>,
    lower: Columns<S>,
    upper: Columns<S>,
    diagonal: Vec<S>,
    row_scale: Vec<f64>,
    work: Vec<S>,
    has_pivots: bool,
}

/// Columns of a triangular factor; rows are positions in the pivot sequence.
#[derive(Clone, Debug)]
struct Columns<S> {
    starts: Vec<usize>,
    /// Half as wide as `usize`: factorisation is bound by memory.
    rows: Vec<u32>,
    values: Vec<S>,
}

impl<S> Columns<S> {
    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.rows.clear();
        self.values.clear();
    }
    fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.starts[k]..self.starts[k + 1]
    }
}

impl<S> Default for Columns<S> {
    fn default() -> Self {
        Self {
            starts: vec![0],
            rows: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<S: Scalar> SparseLu<S> {
    /// Prepares for matrices with a pattern: orders its columns.
    ///
    /// # Panics
    /// If the pattern is not square.
    pub fn new(pattern: SparsityPattern) -> Self {
        let n = pattern.columns();
        assert_eq!(pattern.rows(), n, "square matrix");
        Self {
            column_order: column_order(&pattern),
            row_position: vec![NONE; n],
            lower: Columns::default(),
            upper: Columns::default(),
            diagonal: vec![S::ZERO; n],
            row_scale: vec![1.0; n],
            work: vec![S::ZERO; n],
            has_pivots: false,
            pattern,
        }
    }

    /// Dimension.
    pub fn dim(&self) -> usize {
        self.column_order.len()
    }

    /// The pattern of the matrices.
    pub fn pattern(&self) -> &SparsityPattern {
        &self.pattern
    }

    /// Entries in both factors, diagonal included.
    pub fn fill(&self) -> usize {
        self.lower.rows.len() + self.upper.rows.len() + self.dim()
    }

    /// Factorises a matrix given by its values in pattern order, with the previous pivots where they still serve.
    ///
    /// # Errors
    /// If the matrix is singular to working precision; the factorisation is then unusable until the next success.
    pub fn factor(&mut self, values: &[S]) -> Result<FactorKind, SingularMatrix> {
        assert_eq!(values.len(), self.pattern.len(), "number of values");
        self.scale_rows(values);
        if self.has_pivots && self.refactor(values) {
            return Ok(FactorKind::Refactored);
        }
        self.has_pivots = false;
        self.factor_fully(values)?;
        self.has_pivots = true;
        Ok(FactorKind::Full)
    }

    fn scale_rows(&mut self, values: &[S]) {
        self.row_scale.fill(0.0);
        for (&r, v) in self.pattern.row_indices().iter().zip(values) {
            self.row_scale[r] = self.row_scale[r].max(v.magnitude());
        }
        for s in &mut self.row_scale {
            *s = inverse_power_of_two(*s);
        }
    }

    /// Recomputes the numbers; false if a pivot no longer serves.
    fn refactor(&mut self, values: &[S]) -> bool {
        for k in 0..self.dim() {
            let column = self.column_order[k];
            let range = self.pattern.range(column);
            for (&r, &v) in self.pattern.row_indices()[range.clone()].iter().zip(&values[range]) {
                self.work[self.row_position[r]] = v.scale(self.row_scale[r]);
            }
            for u in self.upper.range(k) {
                let j = self.upper.rows[u] as usize;
                let ujk = std::mem::replace(&mut self.work[j], S::ZERO);
                self.upper.values[u] = ujk;
                if ujk != S::ZERO {
                    let range = self.lower.range(j);
                    for (&i, &lij) in self.lower.rows[range.clone()].iter().zip(&self.lower.values[range]) {
                        self.work[i as usize] -= lij * ujk;
                    }
                }
            }
            let pivot = std::mem::replace(&mut self.work[k], S::ZERO);
            self.diagonal[k] = pivot;
            let inverse = S::ONE / pivot;
            let mut largest = 0.0f64;
            for l in self.lower.range(k) {
                let v = std::mem::replace(&mut self.work[self.lower.rows[l] as usize], S::ZERO);
                largest = largest.max(v.magnitude());
                self.lower.values[l] = v * inverse;
            }
            let size = pivot.magnitude();
            if !(size.is_finite() && largest.is_finite() && size > KEPT_PIVOT_THRESHOLD * largest)
                || size <= SINGULAR_PIVOT * self.column_size(column, values)
            {
                self.work.fill(S::ZERO);
                return false;
            }
        }
        true
    }

    fn column_size(&self, column: usize, values: &[S]) -> f64 {
        self.pattern
            .range(column)
            .map(|k| values[k].magnitude() * self.row_scale[self.pattern.row_indices()[k]])
            .fold(0.0, f64::max)
    }

    /// Gilbert–Peierls: column k of the factors from a sparse triangular solve with the columns before it.
    fn factor_fully(&mut self, values: &[S]) -> Result<(), SingularMatrix> {
        let n = self.dim();
        self.lower.clear();
        self.upper.clear();
        self.row_position.fill(NONE);
        self.work.fill(S::ZERO);
        let mut search = DepthFirst::new(n);
        for k in 0..n {
            let column = self.column_order[k];
            let range = self.pattern.range(column);
            search.reach(
                &self.pattern.row_indices()[range.clone()],
                &self.row_position,
                &self.lower,
            );
            for e in range {
                let r = self.pattern.row_indices()[e];
                self.work[r] = values[e].scale(self.row_scale[r]);
            }
            self.eliminate(&search);
            let pivot_row = self
                .choose_pivot(&search, column, values)
                .map_err(|relative_pivot| SingularMatrix {
                    column,
                    row: self.row_without_pivot(column, values),
                    rank_so_far: k,
                    relative_pivot,
                })?;
            self.store_column(&search, k, pivot_row);
        }
        self.rename_rows();
        Ok(())
    }

    /// Applies the columns reached, in topological order; rows of `lower` are still original rows.
    fn eliminate(&mut self, search: &DepthFirst) {
        for &r in search.topological() {
            let j = self.row_position[r];
            if j == NONE {
                continue;
            }
            let x = self.work[r];
            if x != S::ZERO {
                for l in self.lower.range(j) {
                    self.work[self.lower.rows[l] as usize] -= self.lower.values[l] * x;
                }
            }
        }
    }

    fn choose_pivot(&self, search: &DepthFirst, column: usize, values: &[S]) -> Result<usize, f64> {
        let (mut pivot_row, mut largest) = (NONE, 0.0);
        let mut diagonal = None;
        let mut finite = true;
        for &r in search.topological() {
            if self.row_position[r] != NONE {
                continue;
            }
            let size = self.work[r].magnitude();
            finite &= size.is_finite();
            if r == column {
                diagonal = Some(size);
            }
            // Ties go to the smallest row, so that the choice does not depend on the search order.
            if size > largest || (size == largest && r < pivot_row) {
                (pivot_row, largest) = (r, size);
            }
        }
        let column_size = self.column_size(column, values);
        if !finite || pivot_row == NONE || largest <= SINGULAR_PIVOT * column_size {
            return Err(if finite { largest / column_size } else { f64::NAN });
        }
        match diagonal {
            Some(size) if size >= DIAGONAL_THRESHOLD * largest => Ok(column),
            _ => Ok(pivot_row),
        }
    }

    /// The equation to blame: one without any entry if there is, else the one of the column's own index.
    fn row_without_pivot(&self, column: usize, values: &[S]) -> usize {
        let mut is_empty = vec![true; self.dim()];
        for (&r, v) in self.pattern.row_indices().iter().zip(values) {
            is_empty[r] &= *v == S::ZERO;
        }
        let left: Vec<usize> = (0..self.dim()).filter(|&r| self.row_position[r] == NONE).collect();
        let empty = left.iter().copied().find(|&r| is_empty[r]);
        let own = left.contains(&column).then_some(column);
        empty.or(own).or(left.first().copied()).unwrap_or(column)
    }

    fn store_column(&mut self, search: &DepthFirst, k: usize, pivot_row: usize) {
        let pivot = self.work[pivot_row];
        let inverse = S::ONE / pivot;
        self.diagonal[k] = pivot;
        for &r in search.topological() {
            let v = std::mem::replace(&mut self.work[r], S::ZERO);
            let position = self.row_position[r];
            if position != NONE {
                self.upper.rows.push(position as u32);
                self.upper.values.push(v);
            } else if r != pivot_row {
                self.lower.rows.push(r as u32);
                self.lower.values.push(v * inverse);
            }
        }
        self.row_position[pivot_row] = k;
        self.lower.starts.push(self.lower.rows.len());
        self.upper.starts.push(self.upper.rows.len());
        // Ascending pivot positions are a topological order, which is what `refactor` relies on.
        let range = self.upper.range(k);
        sort_pairs(&mut self.upper.rows[range.clone()], &mut self.upper.values[range]);
    }

    fn rename_rows(&mut self) {
        for r in &mut self.lower.rows {
            *r = self.row_position[*r as usize] as u32;
        }
        for k in 0..self.dim() {
            let range = self.lower.range(k);
            sort_pairs(&mut self.lower.rows[range.clone()], &mut self.lower.values[range]);
        }
    }

    /// Solves `A x = b` in place.
    pub fn solve(&mut self, b: &mut [S]) {
        let n = self.dim();
        debug_assert!(self.has_pivots && b.len() == n);
        let x = &mut self.work;
        for (r, &v) in b.iter().enumerate() {
            x[self.row_position[r]] = v.scale(self.row_scale[r]);
        }
        for k in 0..n {
            let xk = x[k];
            if xk != S::ZERO {
                let range = self.lower.range(k);
                for (&i, &l) in self.lower.rows[range.clone()].iter().zip(&self.lower.values[range]) {
                    x[i as usize] -= l * xk;
                }
            }
        }
        for k in (0..n).rev() {
            let xk = x[k] / self.diagonal[k];
            b[self.column_order[k]] = xk;
            if xk != S::ZERO {
                let range = self.upper.range(k);
                for (&i, &u) in self.upper.rows[range.clone()].iter().zip(&self.upper.values[range]) {
                    x[i as usize] -= u * xk;
                }
            }
        }
        x.fill(S::ZERO);
    }
}

fn sort_pairs<S: Copy>(rows: &mut [u32], values: &mut [S]) {
    if rows.windows(2).all(|w| w[0] < w[1]) {
        return;
    }
    let mut pairs: Vec<(u32, S)> = rows.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_unstable_by_key(|&(r, _)| r);
    for ((row, value), (r, v)) in rows.iter_mut().zip(values.iter_mut()).zip(pairs) {
        (*row, *value) = (r, v);
    }
}

/// Which rows a column can fill, in an order in which eliminations may be applied.
#[derive(Debug)]
struct DepthFirst {
    visited_in: Vec<usize>,
    round: usize,
    /// Finished rows in postorder; the topological order is its reverse.
    order: Vec<usize>,
    stack: Vec<(usize, usize)>,
}

impl DepthFirst {
    fn new(n: usize) -> Self {
        Self {
            visited_in: vec![0; n],
            round: 0,
            order: Vec::new(),
            stack: Vec::new(),
        }
    }

    fn reach<S>(&mut self, starts: &[usize], row_position: &[usize], lower: &Columns<S>) {
        self.round += 1;
        self.order.clear();
        for &start in starts {
            if self.visited_in[start] == self.round {
                continue;
            }
            self.visited_in[start] = self.round;
            self.stack.push((start, 0));
            while let Some((row, next)) = self.stack.pop() {
                let j = row_position[row];
                let children = if j == NONE {
                    &[][..]
                } else {
                    &lower.rows[lower.range(j)]
                };
                let unvisited = children[next..]
                    .iter()
                    .position(|&r| self.visited_in[r as usize] != self.round);
                match unvisited {
                    Some(offset) => {
                        let child = children[next + offset] as usize;
                        self.stack.push((row, next + offset + 1));
                        self.visited_in[child] = self.round;
                        self.stack.push((child, 0));
                    }
                    None => self.order.push(row),
                }
            }
        }
        self.order.reverse();
    }

    fn topological(&self) -> &[usize] {
        &self.order
    }
}
