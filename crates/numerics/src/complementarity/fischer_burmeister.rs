//! Semismooth Newton method for mixed complementarity problems.
//!
//! Find l ≤ x ≤ u such that F_i = 0 where x_i is strictly inside, F_i ≥ 0 where x_i = l_i and F_i ≤ 0 where x_i = u_i.
//! The Fischer–Burmeister function φ(a, b) = a + b − √(a² + b²) vanishes exactly when a, b ≥ 0 and ab = 0, so the
//! problem becomes a system of equations that is semismooth (S. C. Billups, *Algorithms for complementarity problems
//! and generalized equations*, 1995; T. De Luca, F. Facchinei, C. Kanzow, Math. Programming 75, 1996).

use crate::EvalError;
use crate::error::check_finite;
use crate::linalg::{DenseLu, DenseMatrix, PivotedQr, dot};
use crate::nonlinear::NonlinearSystem;
use std::fmt;

/// Accuracy and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct McpOptions {
    /// Allowed value of every Fischer–Burmeister function.
    pub tolerance: f64,
    /// Limit on iterations.
    pub max_iterations: usize,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-11,
            max_iterations: 200,
        }
    }
}

/// Success.
#[derive(Clone, Debug, PartialEq)]
pub struct McpReport {
    /// Iterations.
    pub iterations: usize,
    /// Largest Fischer–Burmeister value left.
    pub residual: f64,
}

/// Failure.
#[derive(Clone, Debug, PartialEq)]
pub struct McpFailure {
    /// The function that failed, if one did.
    pub evaluation: Option<EvalError>,
    /// Largest Fischer–Burmeister value after each iteration.
    pub history: Vec<f64>,
    /// The component with the largest value at the end.
    pub worst: usize,
}

impl fmt::Display for McpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.evaluation {
            Some(error) => write!(f, "{error}"),
            None => write!(
                f,
                "complementarity is not reached after {} iterations (component {} is worst)",
                self.history.len(),
                self.worst
            ),
        }
    }
}

impl std::error::Error for McpFailure {}

/// φ and its partial derivatives; at the kink, those of the direction (1, 1).
fn phi(a: f64, b: f64) -> (f64, f64, f64) {
    let r = a.hypot(b);
    if r == 0.0 {
        let d = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
        return (0.0, d, d);
    }
    // Without cancellation where both are positive: a + b − r = 2ab / (a + b + r).
    let value = if a > 0.0 && b > 0.0 {
        2.0 * a / (a + b + r) * b
    } else {
        a + b - r
    };
    (value, 1.0 - a / r, 1.0 - b / r)
}

/// The value of one component and its derivatives with respect to x_i and F_i.
fn component(x: f64, f: f64, (lower, upper): (f64, f64)) -> (f64, f64, f64) {
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => (f, 0.0, 1.0),
        (true, false) => phi(x - lower, f),
        (false, true) => {
            let (v, da, db) = phi(upper - x, -f);
            (-v, da, db)
        }
        (true, true) => {
            let (inner, ia, ib) = phi(upper - x, -f);
            let (v, da, db) = phi(x - lower, -inner);
            // d(−inner)/dx = ia, d(−inner)/dF = ib.
            (v, da + db * ia, db * ib)
        }
    }
}

/// Solves l ≤ x ≤ u ⟂ F(x) from the start values in `x`; after a failure `x` is as it was.
///
/// # Errors
/// If the iteration does not converge or F fails.
///
/// # Panics
/// If lengths disagree.
pub fn solve_mcp(
    system: &mut dyn NonlinearSystem,
    x: &mut [f64],
    bounds: &[(f64, f64)],
    options: &McpOptions,
) -> Result<McpReport, McpFailure> {
    let n = system.dim();
    assert!(x.len() == n && bounds.len() == n, "number of unknowns and bounds");
    let start = x.to_vec();
    let mut solver = Solver::new(n, bounds);
    let result = solver.run(system, x, options);
    if result.is_err() {
        x.copy_from_slice(&start);
    }
    result.map_err(|evaluation| McpFailure {
        evaluation,
        worst: solver.worst(),
        history: solver.history,
    })
}

struct Solver<'a> {
    bounds: &'a [(f64, f64)],
    f: Vec<f64>,
    value: Vec<f64>,
    jacobian: DenseMatrix,
    lu: DenseLu,
    history: Vec<f64>,
}

impl<'a> Solver<'a> {
    fn new(n: usize, bounds: &'a [(f64, f64)]) -> Self {
        Self {
            bounds,
            f: vec![0.0; n],
            value: vec![0.0; n],
            jacobian: DenseMatrix::zeros(n, n),
            lu: DenseLu::new(n),
            history: Vec::new(),
        }
    }

    fn worst(&self) -> usize {
        let sizes = self.value.iter().map(|v| v.abs()).enumerate();
        sizes
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
            .map_or(0, |(i, _)| i)
    }

    /// F and the equations made of it; half the sum of their squares.
    fn evaluate(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<f64, EvalError> {
        system.residual(x, &mut self.f)?;
        check_finite(&self.f)?;
        for i in 0..x.len() {
            self.value[i] = component(x[i], self.f[i], self.bounds[i]).0;
        }
        Ok(0.5 * dot(&self.value, &self.value))
    }

    fn run(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        options: &McpOptions,
    ) -> Result<McpReport, Option<EvalError>> {
        let n = x.len();
        let mut merit = self.evaluate(system, x)?;
        let mut trial = vec![0.0; n];
        for iteration in 0..=options.max_iterations {
            let residual = self.value.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            self.history.push(residual);
            if residual <= options.tolerance {
                return Ok(McpReport {
                    iterations: iteration,
                    residual,
                });
            }
            self.fill_jacobian(system, x)?;
            let gradient: Vec<f64> = (0..n).map(|c| dot(self.jacobian.column(c), &self.value)).collect();
            let newton = self.newton_direction(&gradient);
            let descent = gradient.iter().map(|g| -g).collect();
            let mut moved = false;
            for direction in [newton, descent] {
                if let Some(better) = self.line_search(system, x, &direction, &gradient, merit, &mut trial)? {
                    merit = better;
                    x.copy_from_slice(&trial);
                    moved = true;
                    break;
                }
            }
            if !moved {
                break;
            }
        }
        Err(None)
    }

    fn fill_jacobian(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), EvalError> {
        let n = x.len();
        let exact = match system.jacobian_pattern().cloned() {
            Some(pattern) => {
                let mut values = vec![0.0; pattern.len()];
                let exact = system.jacobian(x, &mut values)?;
                self.jacobian.values_mut().fill(0.0);
                for ((r, c), v) in pattern.entries().zip(values) {
                    self.jacobian[(r, c)] = v;
                }
                exact
            }
            None => system.jacobian(x, self.jacobian.values_mut())?,
        };
        if !exact {
            self.difference_quotients(system, x)?;
        }
        for i in 0..n {
            let (_, dx, df) = component(x[i], self.f[i], self.bounds[i]);
            for c in 0..n {
                self.jacobian[(i, c)] *= df;
            }
            self.jacobian[(i, i)] += dx;
        }
        check_finite(self.jacobian.values())
    }

    fn difference_quotients(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), EvalError> {
        let mut point = x.to_vec();
        let mut moved = vec![0.0; x.len()];
        for c in 0..x.len() {
            point[c] = x[c] + f64::EPSILON.sqrt() * x[c].abs().max(1.0);
            system.residual(&point, &mut moved)?;
            for (r, m) in moved.iter().enumerate() {
                self.jacobian[(r, c)] = (m - self.f[r]) / (point[c] - x[c]);
            }
            point[c] = x[c];
        }
        Ok(())
    }

    /// Newton direction if it descends, otherwise the least-squares one.
    fn newton_direction(&mut self, gradient: &[f64]) -> Vec<f64> {
        let mut direction: Vec<f64> = self.value.iter().map(|v| -v).collect();
        if self.lu.factor(self.jacobian.values()).is_ok() {
            self.lu.solve(&mut direction);
            if direction.iter().all(|d| d.is_finite()) && dot(&direction, gradient) < 0.0 {
                return direction;
            }
        }
        let negative: Vec<f64> = self.value.iter().map(|v| -v).collect();
        PivotedQr::new(&self.jacobian, Some(1e-10)).minimum_norm_solution(&negative)
    }

    fn line_search(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &[f64],
        direction: &[f64],
        gradient: &[f64],
        merit: f64,
        trial: &mut [f64],
    ) -> Result<Option<f64>, EvalError> {
        let slope = dot(direction, gradient);
        // Written so that NaN is no descent.
        if !(slope < 0.0) {
            return Ok(None);
        }
        let mut damping = 1.0;
        for _ in 0..40 {
            for i in 0..x.len() {
                trial[i] = x[i] + damping * direction[i];
            }
            match self.evaluate(system, trial) {
                Ok(better) if better <= merit + 1e-4 * damping * slope => return Ok(Some(better)),
                Err(error) if !error.recoverable => return Err(error),
                _ => damping *= 0.5,
            }
        }
        self.evaluate(system, x)?;
        Ok(None)
    }
}
