//! Sparsity patterns in compressed column form, and column colouring.

use std::fmt;

/// Which entries of a matrix can be nonzero, column by column (CSC).
///
/// Rows are sorted and unique within each column. Values of a matrix with this pattern are a plain slice in
/// the same order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SparsityPattern {
    rows: usize,
    column_starts: Vec<usize>,
    row_indices: Vec<usize>,
}

/// Why arrays do not describe a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// `column_starts` is empty, decreases, or does not end at the number of entries.
    BadColumnStarts,
    /// Rows of a column are out of range, unsorted or repeated.
    BadRows {
        /// The column.
        column: usize,
    },
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadColumnStarts => f.write_str("column starts do not partition the entries"),
            Self::BadRows { column } => {
                write!(f, "rows of column {column} are out of range, unsorted or repeated")
            }
        }
    }
}

impl std::error::Error for PatternError {}

impl SparsityPattern {
    /// From the arrays of the compressed column form.
    ///
    /// # Errors
    /// If the arrays do not describe a pattern with sorted unique rows.
    pub fn new(rows: usize, column_starts: Vec<usize>, row_indices: Vec<usize>) -> Result<Self, PatternError> {
        let pattern = Self {
            rows,
            column_starts,
            row_indices,
        };
        pattern.validate()?;
        Ok(pattern)
    }

    /// From (row, column) pairs in any order; repetitions are merged, pairs out of range ignored.
    pub fn from_entries(rows: usize, columns: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut sorted: Vec<(usize, usize)> = entries
            .into_iter()
            .filter(|&(r, c)| r < rows && c < columns)
            .map(|(r, c)| (c, r))
            .collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut column_starts = vec![0; columns + 1];
        for &(c, _) in &sorted {
            column_starts[c + 1] += 1;
        }
        for c in 0..columns {
            column_starts[c + 1] += column_starts[c];
        }
        Self {
            rows,
            column_starts,
            row_indices: sorted.into_iter().map(|(_, r)| r).collect(),
        }
    }

    /// Every entry present.
    pub fn dense(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            column_starts: (0..=columns).map(|c| c * rows).collect(),
            row_indices: (0..columns).flat_map(|_| 0..rows).collect(),
        }
    }

    /// Checks the invariants.
    ///
    /// # Errors
    /// The first one violated.
    pub fn validate(&self) -> Result<(), PatternError> {
        let starts = &self.column_starts;
        let monotone = starts.windows(2).all(|w| w[0] <= w[1]);
        if starts.first() != Some(&0) || starts.last() != Some(&self.row_indices.len()) || !monotone {
            return Err(PatternError::BadColumnStarts);
        }
        for column in 0..self.columns() {
            let rows = self.column(column);
            let sorted = rows.windows(2).all(|w| w[0] < w[1]);
            if !sorted || rows.last().is_some_and(|&r| r >= self.rows) {
                return Err(PatternError::BadRows { column });
            }
        }
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.column_starts.len() - 1
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.row_indices.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.row_indices.is_empty()
    }

    /// Rows of a column, sorted.
    pub fn column(&self, column: usize) -> &[usize] {
        &self.row_indices[self.range(column)]
    }

    /// Positions of a column's entries in the value slice.
    pub fn range(&self, column: usize) -> std::ops::Range<usize> {
        self.column_starts[column]..self.column_starts[column + 1]
    }

    /// Start of each column among the entries, with the number of entries at the end.
    pub fn column_starts(&self) -> &[usize] {
        &self.column_starts
    }

    /// Rows of all entries, column by column.
    pub fn row_indices(&self) -> &[usize] {
        &self.row_indices
    }

    /// Position of an entry in the value slice.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.range(column);
        let offset = self.row_indices[range.clone()].binary_search(&row).ok()?;
        Some(range.start + offset)
    }

    /// All entries as (row, column), column by column.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.columns()).flat_map(move |c| self.column(c).iter().map(move |&r| (r, c)))
    }

    /// This pattern with the complete diagonal added.
    #[must_use]
    pub fn with_diagonal(&self) -> Self {
        let n = self.rows.min(self.columns());
        Self::from_entries(self.rows, self.columns(), self.entries().chain((0..n).map(|i| (i, i))))
    }

    /// The pattern of the transposed matrix.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self::from_entries(self.columns(), self.rows, self.entries().map(|(r, c)| (c, r)))
    }

    /// `out = A v` for a matrix with this pattern.
    pub fn multiply(&self, values: &[f64], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (c, &vc) in v.iter().enumerate() {
            for k in self.range(c) {
                out[self.row_indices[k]] += values[k] * vc;
            }
        }
    }

    /// `out = Aᵀ v` for a matrix with this pattern.
    pub fn multiply_transposed(&self, values: &[f64], v: &[f64], out: &mut [f64]) {
        for (c, o) in out.iter_mut().enumerate() {
            *o = self.range(c).map(|k| values[k] * v[self.row_indices[k]]).sum();
        }
    }
}

/// Columns grouped so that no two columns of a group share a row: one difference quotient per group
/// determines the whole matrix.
///
/// A. Curtis, M. J. D. Powell, J. K. Reid, *On the estimation of sparse Jacobian matrices*, 1974; greedy,
/// columns with most entries first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colouring {
    groups: Vec<Vec<usize>>,
}

impl Colouring {
    /// Colours the columns of a pattern.
    pub fn new(pattern: &SparsityPattern) -> Self {
        let columns = pattern.columns();
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by_key(|&c| std::cmp::Reverse(pattern.column(c).len()));
        let mut columns_of_row: Vec<Vec<usize>> = vec![Vec::new(); pattern.rows()];
        for (r, c) in pattern.entries() {
            columns_of_row[r].push(c);
        }
        const NONE: usize = usize::MAX;
        let mut colour = vec![NONE; columns];
        let mut forbidden_for = Vec::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &c in &order {
            for &r in pattern.column(c) {
                // A full row forces all columns apart anyway, so this is quadratic only where the answer is.
                for &other in &columns_of_row[r] {
                    if colour[other] != NONE {
                        forbidden_for[colour[other]] = c;
                    }
                }
            }
            let free = (0..groups.len()).find(|&g| forbidden_for[g] != c);
            let group = free.unwrap_or_else(|| {
                groups.push(Vec::new());
                forbidden_for.push(NONE);
                groups.len() - 1
            });
            colour[c] = group;
            groups[group].push(c);
        }
        Self { groups }
    }

    /// The groups of columns.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }
}
