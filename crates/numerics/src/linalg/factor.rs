//! One interface over dense and sparse factorisations.

use super::{DenseLu, FactorKind, Scalar, SingularMatrix, SparseLu, SparsityPattern, balance};

/// Below this dimension a dense factorisation wins whatever the pattern (measured: equal at about 24).
const ALWAYS_DENSE_BELOW: usize = 24;
/// Above this share of nonzeros sparse bookkeeping no longer pays.
const DENSE_ABOVE_DENSITY: f64 = 0.3;

/// How the values of a square matrix are laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixStructure {
    /// All entries, column by column.
    Dense {
        /// Dimension.
        n: usize,
    },
    /// The entries of a pattern.
    Sparse(SparsityPattern),
}

impl MatrixStructure {
    /// Dimension.
    pub fn dim(&self) -> usize {
        match self {
            Self::Dense { n } => *n,
            Self::Sparse(pattern) => pattern.columns(),
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense { n } => n * n,
            Self::Sparse(pattern) => pattern.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `out = A v`.
    pub fn multiply(&self, values: &[f64], v: &[f64], out: &mut [f64]) {
        match self {
            Self::Sparse(pattern) => pattern.multiply(values, v, out),
            Self::Dense { n } => {
                out.fill(0.0);
                for (column, &vc) in values.chunks_exact((*n).max(1)).zip(v) {
                    for (o, a) in out.iter_mut().zip(column) {
                        *o += a * vc;
                    }
                }
            }
        }
    }

    /// `out = Aᵀ v`.
    pub fn multiply_transposed(&self, values: &[f64], v: &[f64], out: &mut [f64]) {
        match self {
            Self::Sparse(pattern) => pattern.multiply_transposed(values, v, out),
            Self::Dense { n } => {
                for (column, o) in values.chunks_exact((*n).max(1)).zip(out) {
                    *o = super::dot(column, v);
                }
            }
        }
    }

    /// Calls `f(row, column, position)` for every entry.
    pub fn for_each(&self, mut f: impl FnMut(usize, usize, usize)) {
        match self {
            Self::Dense { n } => {
                for c in 0..*n {
                    for r in 0..*n {
                        f(r, c, c * n + r);
                    }
                }
            }
            Self::Sparse(pattern) => {
                for (position, (r, c)) in pattern.entries().enumerate() {
                    f(r, c, position);
                }
            }
        }
    }
}

/// An LU factorisation, dense or sparse as the structure suggests.
#[derive(Clone, Debug)]
pub struct Factorisation<S = f64> {
    structure: MatrixStructure,
    /// Where the entries of a pattern stand in a dense matrix, if that is how it is factorised.
    places: Vec<usize>,
    kind: Kind<S>,
    /// By what rows and columns were multiplied, if the matrix seemed singular without that.
    balanced: Option<(Vec<f64>, Vec<f64>)>,
}

#[derive(Clone, Debug)]
enum Kind<S> {
    Dense(DenseLu<S>),
    Sparse(Box<SparseLu<S>>),
}

impl<S: Scalar> Factorisation<S> {
    /// Whether a factorisation begins with the pivots of the one before it.
    pub fn keeps_pivots(&self) -> bool {
        matches!(self.kind, Kind::Sparse(_))
    }

    /// Chooses and prepares a method for matrices of a structure.
    pub fn new(structure: MatrixStructure) -> Self {
        let n = structure.dim();
        let kind = match &structure {
            MatrixStructure::Sparse(pattern)
                if n >= ALWAYS_DENSE_BELOW
                    && (pattern.len() as f64) < DENSE_ABOVE_DENSITY * (n as f64) * (n as f64) =>
            {
                Kind::Sparse(Box::new(SparseLu::new(pattern.clone())))
            }
            _ => Kind::Dense(DenseLu::new(n)),
        };
        let places = match (&structure, &kind) {
            (MatrixStructure::Sparse(pattern), Kind::Dense(_)) => pattern.entries().map(|(r, c)| c * n + r).collect(),
            _ => Vec::new(),
        };
        Self {
            structure,
            places,
            kind,
            balanced: None,
        }
    }

    /// Layout of the values.
    pub fn structure(&self) -> &MatrixStructure {
        &self.structure
    }

    /// Whether the sparse method was chosen.
    pub fn is_sparse(&self) -> bool {
        matches!(self.kind, Kind::Sparse(_))
    }

    /// Factorises a matrix.
    ///
    /// # Errors
    /// If it is singular to working precision.
    pub fn factor(&mut self, values: &[S]) -> Result<FactorKind, SingularMatrix> {
        self.balanced = None;
        let outcome = self.factor_as_given(values);
        if outcome.is_ok() || values.iter().any(|value| !value.magnitude().is_finite()) {
            return outcome;
        }
        // Units may differ so much that what one equation says is rounding to another.
        let n = self.structure.dim();
        let entries: Vec<(usize, usize, f64)> = match &self.structure {
            MatrixStructure::Dense { .. } => (0..n * n).map(|k| (k % n, k / n, values[k].magnitude())).collect(),
            MatrixStructure::Sparse(pattern) => {
                let sizes = values.iter().map(|value| value.magnitude());
                pattern
                    .entries()
                    .zip(sizes)
                    .map(|((r, c), size)| (r, c, size))
                    .collect()
            }
        };
        let (by_row, by_column) = balance(n, n, &entries);
        let scaled: Vec<S> = entries
            .iter()
            .zip(values)
            .map(|(&(r, c, _), value)| value.scale(by_row[r]).scale(by_column[c]))
            .collect();
        let outcome = self.factor_as_given(&scaled);
        self.balanced = outcome.is_ok().then_some((by_row, by_column));
        outcome
    }

    fn factor_as_given(&mut self, values: &[S]) -> Result<FactorKind, SingularMatrix> {
        match &mut self.kind {
            Kind::Sparse(lu) => lu.factor(values),
            Kind::Dense(lu) => {
                match &self.structure {
                    MatrixStructure::Dense { .. } => lu.values_mut().copy_from_slice(values),
                    MatrixStructure::Sparse(_) => {
                        let dense = lu.values_mut();
                        dense.fill(S::ZERO);
                        for (&place, &v) in self.places.iter().zip(values) {
                            dense[place] = v;
                        }
                    }
                }
                lu.factor_in_place().map(|()| FactorKind::Full)
            }
        }
    }

    /// Solves `A x = b` in place.
    pub fn solve(&mut self, b: &mut [S]) {
        if let Some((by_row, _)) = &self.balanced {
            b.iter_mut().zip(by_row).for_each(|(b, factor)| *b = b.scale(*factor));
        }
        match &mut self.kind {
            Kind::Sparse(lu) => lu.solve(b),
            Kind::Dense(lu) => lu.solve(b),
        }
        if let Some((_, by_column)) = &self.balanced {
            b.iter_mut()
                .zip(by_column)
                .for_each(|(b, factor)| *b = b.scale(*factor));
        }
    }
}
