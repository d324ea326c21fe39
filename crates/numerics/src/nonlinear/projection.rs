//! Projection onto constraints g(x) = 0 (fewer equations than unknowns) with the smallest weighted change.
//!
//! Gauss–Newton: each iteration solves min ‖D dx‖ subject to G dx = −g, D = diag(1/weight). Small systems by a
//! complete orthogonal decomposition, which tolerates redundant constraints; large sparse ones by the sparse LU of
//! the optimality system [D² Gᵀ; G 0].

use super::report::largest;
use crate::EvalError;
use crate::error::check_finite;
use crate::linalg::{DenseMatrix, PivotedQr, SingularMatrix, SparseLu, SparsityPattern};
use std::fmt;

/// Constraints g(x) = 0 with exact Jacobian.
pub trait ConstraintSystem {
    /// Number of unknowns.
    fn unknowns(&self) -> usize;

    /// Number of constraints.
    fn constraints(&self) -> usize;

    /// `g = g(x)`.
    ///
    /// # Errors
    /// If g is not defined there.
    fn residual(&mut self, x: &[f64], g: &mut [f64]) -> Result<(), EvalError>;

    /// The entries of ∂g/∂x (constraints × unknowns) that can be nonzero; `None` means all.
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        None
    }

    /// Values of ∂g/∂x in the order of the pattern, or column by column.
    ///
    /// # Errors
    /// If g is not differentiable there.
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError>;
}

/// Accuracy and limits.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionOptions {
    /// How willing each unknown is to move (zero: not at all), usually its nominal value; ones if `None`.
    pub weights: Option<Vec<f64>>,
    /// Allowed residual, in terms of the constraint's Jacobian row times weights: the weighted distance to the constraint.
    pub tolerance: f64,
    /// Limit on iterations.
    pub max_iterations: usize,
}

impl Default for ProjectionOptions {
    fn default() -> Self {
        Self {
            weights: None,
            tolerance: 1e-12,
            max_iterations: 20,
        }
    }
}

/// Success.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProjectionReport {
    /// Iterations.
    pub iterations: usize,
    /// Numeric rank of the constraints: less than their number if some are redundant.
    pub rank: usize,
    /// Largest residual left.
    pub residual: f64,
    /// Weighted Euclidean norm of the change.
    pub change: f64,
}

/// Failure.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionFailure {
    /// The function that failed, if one did.
    pub evaluation: Option<EvalError>,
    /// The large sparse system without a pivot, if that was it.
    pub singular: Option<SingularMatrix>,
    /// Largest residual after each iteration.
    pub history: Vec<f64>,
    /// Constraints with the largest residuals left: (index, residual).
    pub largest_residuals: Vec<(usize, f64)>,
}

impl fmt::Display for ProjectionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no point near satisfies the constraints")?;
        if let Some(error) = &self.evaluation {
            write!(f, ": {error}")?;
        } else if let Some(singular) = &self.singular {
            write!(f, ": {singular}")?;
        } else if let Some((i, v)) = self.largest_residuals.first() {
            write!(f, ": constraint {i} is off by {v:.3e}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProjectionFailure {}

/// What is left of the residual of a redundant constraint, in parts of its terms.
const REDUNDANT: f64 = 1e-8;

/// Unknowns are at least this part of the largest: with [`REDUNDANT`], a residual of 1e-13 of it is rounding.
const NOISE_OF_LARGEST: f64 = 1e-5;

/// Above this number of unknowns a given pattern is exploited.
const SPARSE_ABOVE: usize = 60;

/// Moves `x` onto the constraints; after a failure `x` is as it was.
///
/// # Errors
/// If the iteration does not converge or a function fails.
///
/// # Panics
/// If `x` or the weights have the wrong length.
pub fn project(
    system: &mut dyn ConstraintSystem,
    x: &mut [f64],
    options: &ProjectionOptions,
) -> Result<ProjectionReport, Box<ProjectionFailure>> {
    let n = system.unknowns();
    assert_eq!(x.len(), n, "number of unknowns");
    let weights = options.weights.clone().unwrap_or_else(|| vec![1.0; n]);
    assert_eq!(weights.len(), n, "number of weights");
    let start = x.to_vec();
    let mut projection = Projection::new(system, weights);
    let result = projection.run(system, x, options);
    match result {
        Ok(mut report) => {
            let moved = x.iter().zip(&start).zip(&projection.weights);
            let squares = moved
                .filter(|(_, w)| **w != 0.0)
                .map(|((a, b), w)| ((a - b) / w).powi(2));
            report.change = squares.sum::<f64>().sqrt();
            Ok(report)
        }
        Err(failure) => {
            x.copy_from_slice(&start);
            Err(failure)
        }
    }
}

struct Projection {
    weights: Vec<f64>,
    g: Vec<f64>,
    values: Vec<f64>,
    history: Vec<f64>,
    sparse: Option<SparseLu>,
}

impl Projection {
    fn new(system: &dyn ConstraintSystem, weights: Vec<f64>) -> Self {
        let (m, n) = (system.constraints(), system.unknowns());
        let pattern = system.jacobian_pattern();
        let sparse = pattern.filter(|_| n > SPARSE_ABOVE).map(|p| {
            let diagonal = (0..n).map(|i| (i, i));
            let below = p.entries().map(|(r, c)| (n + r, c));
            let right = p.entries().map(|(r, c)| (c, n + r));
            SparseLu::new(SparsityPattern::from_entries(
                n + m,
                n + m,
                diagonal.chain(below).chain(right),
            ))
        });
        Self {
            weights,
            g: vec![0.0; m],
            values: vec![0.0; pattern.map_or(m * n, SparsityPattern::len)],
            history: Vec::new(),
            sparse,
        }
    }

    fn failure(&self) -> Box<ProjectionFailure> {
        Box::new(ProjectionFailure {
            evaluation: None,
            singular: None,
            history: self.history.clone(),
            largest_residuals: largest(self.g.iter().copied()),
        })
    }

    fn run(
        &mut self,
        system: &mut dyn ConstraintSystem,
        x: &mut [f64],
        options: &ProjectionOptions,
    ) -> Result<ProjectionReport, Box<ProjectionFailure>> {
        let mut report = ProjectionReport::default();
        loop {
            self.evaluate(system, x).map_err(|error| {
                let mut failure = self.failure();
                failure.evaluation = Some(error);
                failure
            })?;
            report.residual = self.g.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            self.history.push(report.residual);
            let (step, rank) = self.step(system).map_err(|singular| {
                let mut failure = self.failure();
                failure.singular = Some(singular);
                failure
            })?;
            report.rank = rank;
            let size = step.iter().zip(&self.weights).zip(x.iter());
            let relative = size
                .filter(|((_, w), _)| **w != 0.0)
                .map(|((d, w), x)| d.abs() / w.abs().max(x.abs()));
            let largest_step = relative.fold(0.0, f64::max);
            let consistent = rank == self.g.len() || self.is_explained(system, x, &step);
            if largest_step <= options.tolerance && consistent {
                // The step is known: taking it costs nothing and squares the residual.
                x.iter_mut().zip(&step).for_each(|(x, d)| *x += d);
                return Ok(report);
            }
            if report.iterations >= options.max_iterations || !largest_step.is_finite() {
                return Err(self.failure());
            }
            x.iter_mut().zip(&step).for_each(|(x, d)| *x += d);
            report.iterations += 1;
        }
    }

    fn evaluate(&mut self, system: &mut dyn ConstraintSystem, x: &[f64]) -> Result<(), EvalError> {
        system.residual(x, &mut self.g)?;
        check_finite(&self.g)?;
        system.jacobian(x, &mut self.values)?;
        check_finite(&self.values)
    }

    fn for_each(&self, system: &dyn ConstraintSystem, mut f: impl FnMut(usize, usize, f64)) {
        match system.jacobian_pattern() {
            Some(pattern) => pattern.entries().zip(&self.values).for_each(|((r, c), v)| f(r, c, *v)),
            None => {
                let m = self.g.len();
                for (k, v) in self.values.iter().enumerate() {
                    f(k % m, k / m, *v);
                }
            }
        }
    }

    /// The minimal weighted change that satisfies the linearised constraints, and the rank.
    fn step(&mut self, system: &dyn ConstraintSystem) -> Result<(Vec<f64>, usize), SingularMatrix> {
        let (m, n) = (self.g.len(), self.weights.len());
        if let Some(mut lu) = self.sparse.take() {
            let result = self.sparse_step(system, &mut lu);
            self.sparse = Some(lu);
            return result.map(|step| (step, m));
        }
        let mut scaled = DenseMatrix::zeros(m, n);
        self.for_each(system, |r, c, v| scaled[(r, c)] = v * self.weights[c]);
        // Rows to comparable size, so that the rank does not depend on the units of the constraints.
        let mut rhs: Vec<f64> = self.g.iter().map(|g| -g).collect();
        for (r, b) in rhs.iter_mut().enumerate() {
            let size = (0..n).fold(0.0, |s: f64, c| s.max(scaled[(r, c)].abs()));
            if size > 0.0 {
                (0..n).for_each(|c| scaled[(r, c)] /= size);
                *b /= size;
            }
        }
        let qr = PivotedQr::new(&scaled, Some(1e-10));
        let mut step = qr.minimum_norm_solution(&rhs);
        step.iter_mut().zip(&self.weights).for_each(|(s, w)| *s *= w);
        Ok((step, qr.rank()))
    }

    fn sparse_step(&self, system: &dyn ConstraintSystem, lu: &mut SparseLu) -> Result<Vec<f64>, SingularMatrix> {
        let n = self.weights.len();
        let mut values = vec![0.0; lu.pattern().len()];
        // In the variables y = dx / weight the upper left block is the identity, also for weight zero.
        let pattern = lu.pattern();
        for i in 0..n {
            if let Some(k) = pattern.position(i, i) {
                values[k] = 1.0;
            }
        }
        self.for_each(system, |r, c, v| {
            let scaled = v * self.weights[c];
            for entry in [(n + r, c), (c, n + r)] {
                if let Some(k) = pattern.position(entry.0, entry.1) {
                    values[k] = scaled;
                }
            }
        });
        lu.factor(&values)?;
        let mut b = vec![0.0; n];
        b.extend(self.g.iter().map(|g| -g));
        lu.solve(&mut b);
        b.truncate(n);
        b.iter_mut().zip(&self.weights).for_each(|(s, w)| *s *= w);
        Ok(b)
    }

    /// With redundant constraints: whether the step removes the residual of the dependent ones as well, in parts of their
    /// terms. Terms this much smaller than the largest unknown are its rounding.
    fn is_explained(&self, system: &dyn ConstraintSystem, x: &[f64], step: &[f64]) -> bool {
        let least = NOISE_OF_LARGEST * x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let mut left = self.g.clone();
        let mut size = vec![0.0f64; left.len()];
        self.for_each(system, |r, c, v| {
            left[r] += v * step[c];
            size[r] += v.abs() * (x[c] + step[c]).abs().max(x[c].abs()).max(least);
        });
        left.iter().zip(&size).all(|(l, s)| l.abs() <= REDUNDANT * s)
    }
}
