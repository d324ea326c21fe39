//! Lemke's complementary pivoting method.
//!
//! R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem*, algorithm 4.4.5, with the
//! lexicographic ratio test 4.9, which excludes cycling. It finds a solution or a ray for every matrix; a ray
//! proves that there is none when M is copositive-plus, in particular positive semidefinite.

use crate::linalg::DenseMatrix;
use std::fmt;

/// A solution of z ≥ 0, w = Mz + q ≥ 0, zᵀw = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct LcpSolution {
    /// z.
    pub z: Vec<f64>,
    /// w = Mz + q.
    pub w: Vec<f64>,
    /// Pivots made.
    pub pivots: usize,
}

/// Why no solution was found.
#[derive(Clone, Debug, PartialEq)]
pub enum LcpError {
    /// The path ended in a ray: for positive semidefinite M there is no solution.
    Ray {
        /// The unknown that could grow without bound.
        entering: usize,
        /// Pivots made.
        pivots: usize,
    },
    /// The pivot limit was reached.
    PivotLimit {
        /// The limit.
        pivots: usize,
    },
    /// The data is not finite or M is not square of the size of q.
    BadInput,
}

impl fmt::Display for LcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ray { entering, .. } => write!(
                f,
                "the complementarity problem has no solution that pivoting can reach (unknown {entering} grows without bound)"
            ),
            Self::PivotLimit { pivots } => write!(f, "no solution after {pivots} pivots"),
            Self::BadInput => f.write_str("complementarity problem is not square or not finite"),
        }
    }
}

impl std::error::Error for LcpError {}

/// Solves a linear complementarity problem; `max_pivots` defaults to a multiple of the dimension.
///
/// # Errors
/// If the path ends in a ray or is too long.
pub fn solve_lcp(m: &DenseMatrix, q: &[f64], max_pivots: Option<usize>) -> Result<LcpSolution, LcpError> {
    let n = q.len();
    let finite = m.values().iter().chain(q).all(|v| v.is_finite());
    if m.rows() != n || m.columns() != n || !finite {
        return Err(LcpError::BadInput);
    }
    if q.iter().all(|&v| v >= 0.0) {
        return Ok(LcpSolution {
            z: vec![0.0; n],
            w: q.to_vec(),
            pivots: 0,
        });
    }
    Tableau::new(m, q).run(max_pivots.unwrap_or(50 * n + 100))
}

/// Columns: w₀…, z₀…, the artificial variable, and the right-hand side. Row i belongs to `basis[i]`.
struct Tableau {
    n: usize,
    width: usize,
    rows: Vec<f64>,
    basis: Vec<usize>,
    scale: f64,
}

/// Entries below this share of the largest entry are rounding noise.
const PIVOT_TOLERANCE: f64 = 1e-11;

impl Tableau {
    fn new(m: &DenseMatrix, q: &[f64]) -> Self {
        let n = q.len();
        let width = 2 * n + 2;
        let mut rows = vec![0.0; n * width];
        for i in 0..n {
            let row = &mut rows[i * width..(i + 1) * width];
            row[i] = 1.0;
            for j in 0..n {
                row[n + j] = -m[(i, j)];
            }
            row[2 * n] = -1.0;
            row[2 * n + 1] = q[i];
        }
        let scale = m.values().iter().fold(1.0, |s: f64, v| s.max(v.abs()));
        Self {
            n,
            width,
            rows,
            basis: (0..n).collect(),
            scale,
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.rows[row * self.width + column]
    }

    fn run(mut self, max_pivots: usize) -> Result<LcpSolution, LcpError> {
        let n = self.n;
        let artificial = 2 * n;
        // The first pivot makes every right-hand side nonnegative; the lexicographic minimum breaks ties.
        let mut leaving_row = (0..n)
            .reduce(|best, i| {
                if self.compare_scaled(i, -1.0, best, -1.0).is_gt() {
                    i
                } else {
                    best
                }
            })
            .unwrap_or(0);
        let mut entering = artificial;
        for pivots in 1..=max_pivots {
            let leaving = self.basis[leaving_row];
            self.pivot(leaving_row, entering);
            if leaving == artificial {
                return Ok(self.solution(pivots));
            }
            entering = if leaving < n { leaving + n } else { leaving - n };
            leaving_row = match self.ratio_test(entering) {
                Some(row) => row,
                None => {
                    return Err(LcpError::Ray {
                        entering: entering % n,
                        pivots,
                    });
                }
            };
        }
        Err(LcpError::PivotLimit { pivots: max_pivots })
    }

    /// The lexicographically smallest row of (b, B⁻¹) divided by the entering column; the artificial variable wins
    /// where its ratio ties in the first component, since leaving it ends the search.
    fn ratio_test(&self, entering: usize) -> Option<usize> {
        let tolerance = PIVOT_TOLERANCE * self.scale.max(1.0);
        let candidates = (0..self.n).filter(|&i| self.at(i, entering) > tolerance);
        let best = candidates.reduce(|best, i| {
            let (a, b) = (self.at(i, entering), self.at(best, entering));
            if self.compare_scaled(i, a, best, b).is_lt() {
                i
            } else {
                best
            }
        })?;
        let rhs = 2 * self.n + 1;
        let artificial_row = (0..self.n).find(|&i| self.basis[i] == 2 * self.n);
        if let Some(row) = artificial_row
            && self.at(row, entering) > tolerance
        {
            let smallest = self.at(best, rhs) / self.at(best, entering);
            let own = self.at(row, rhs) / self.at(row, entering);
            if own <= smallest + 1e-14 * (1.0 + smallest.abs()) {
                return Some(row);
            }
        }
        Some(best)
    }

    /// Compares (b, B⁻¹) of two rows divided by given numbers. B⁻¹ stands in the columns of w.
    fn compare_scaled(&self, i: usize, a: f64, j: usize, b: f64) -> std::cmp::Ordering {
        let rhs = 2 * self.n + 1;
        let columns = std::iter::once(rhs).chain(0..self.n);
        for c in columns {
            let (x, y) = (self.at(i, c) / a, self.at(j, c) / b);
            if (x - y).abs() > 1e-13 * (x.abs() + y.abs()) {
                return x.total_cmp(&y);
            }
        }
        std::cmp::Ordering::Equal
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let inverse = 1.0 / self.at(row, column);
        let range = row * self.width..(row + 1) * self.width;
        self.rows[range.clone()].iter_mut().for_each(|v| *v *= inverse);
        let pivot_row = self.rows[range].to_vec();
        for i in (0..self.n).filter(|&i| i != row) {
            let factor = self.at(i, column);
            if factor != 0.0 {
                let other = &mut self.rows[i * self.width..(i + 1) * self.width];
                other.iter_mut().zip(&pivot_row).for_each(|(o, p)| *o -= factor * p);
                other[column] = 0.0;
            }
        }
        self.basis[row] = column;
    }

    fn solution(&self, pivots: usize) -> LcpSolution {
        let (mut z, mut w) = (vec![0.0; self.n], vec![0.0; self.n]);
        for (i, &variable) in self.basis.iter().enumerate() {
            // Rounding may leave a basic variable slightly negative.
            let value = self.at(i, 2 * self.n + 1).max(0.0);
            if variable < self.n {
                w[variable] = value;
            } else if variable < 2 * self.n {
                z[variable - self.n] = value;
            }
        }
        LcpSolution { z, w, pivots }
    }
}
