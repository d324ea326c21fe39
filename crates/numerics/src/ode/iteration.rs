//! Newton's iteration of the implicit methods: shifted matrices s·I − J and stages y = r + c·f(t, y).

use super::control::{Point, evaluate};
use super::{Jacobian, JacobianSource, OdeSystem, StepFailure};
use crate::EvalError;
use crate::linalg::{Factorisation, MatrixStructure, Scalar, SingularMatrix};

/// Factorised s·I − J.
#[derive(Clone, Debug)]
pub(super) struct ShiftedMatrix<S = f64> {
    factorisation: Factorisation<S>,
    values: Vec<S>,
    /// Position of each Jacobian entry, and of each diagonal entry.
    entries: Vec<usize>,
    diagonal: Vec<usize>,
}

impl<S: Scalar> ShiftedMatrix<S> {
    pub(super) fn new(jacobian: &MatrixStructure) -> Self {
        let n = jacobian.dim();
        let (structure, entries, diagonal) = match jacobian {
            MatrixStructure::Dense { n } => (
                jacobian.clone(),
                (0..n * n).collect(),
                (0..*n).map(|i| i * n + i).collect(),
            ),
            MatrixStructure::Sparse(pattern) => {
                let full = pattern.with_diagonal();
                // Every position exists by construction.
                let find = |(r, c)| full.position(r, c).unwrap_or(0);
                let entries = pattern.entries().map(find).collect();
                let diagonal = (0..n).map(|i| find((i, i))).collect();
                (MatrixStructure::Sparse(full), entries, diagonal)
            }
        };
        Self {
            values: vec![S::ZERO; structure.len()],
            factorisation: Factorisation::new(structure),
            entries,
            diagonal,
        }
    }

    pub(super) fn factor(&mut self, shift: S, jacobian: &[f64]) -> Result<(), SingularMatrix> {
        self.values.fill(S::ZERO);
        for (&k, &v) in self.entries.iter().zip(jacobian) {
            self.values[k] = S::from_real(-v);
        }
        for &k in &self.diagonal {
            self.values[k] = self.values[k] + shift;
        }
        self.factorisation.factor(&self.values).map(|_| ())
    }

    pub(super) fn solve(&mut self, b: &mut [S]) {
        self.factorisation.solve(b);
    }
}

/// Newton tolerance in units of the error tolerance, never below what rounding allows.
pub(super) fn newton_tolerance(noise: f64, kappa: f64) -> f64 {
    (2.5 * noise).max(kappa)
}

/// Steps after which a Jacobian is evaluated anew even if the iteration seems to converge (as CVODE does): where the
/// true one has become much smaller, corrections are too small and convergence is only apparent.
const OLDEST: usize = 50;

/// Rate of convergence where the Jacobian is exact: corrections have rounding errors only.
pub(super) const EXACT_RATE: f64 = 1e-8;

/// Jacobian of a system with its age.
#[derive(Clone, Debug, Default)]
pub(super) struct JacobianCache {
    jacobian: Option<Jacobian>,
    /// Evaluated at the current point.
    pub is_current: bool,
    /// To be evaluated before the next use.
    pub is_stale: bool,
    /// The same everywhere until the next restart.
    pub is_constant: bool,
    /// Steps accepted since the evaluation.
    age: usize,
    norm: f64,
    scratch: Vec<f64>,
    f: Vec<f64>,
}

impl JacobianCache {
    /// After a restart; true if the structure changed and everything made from it is void.
    pub(super) fn restart(&mut self, system: &dyn OdeSystem, keep: bool) -> bool {
        self.is_current = false;
        let fits = self.jacobian.as_ref().is_some_and(|j| j.fits(system));
        if !fits {
            self.jacobian = Some(Jacobian::new(system));
            self.is_stale = true;
        }
        self.is_stale |= !keep;
        self.is_constant = system.jacobian_is_constant();
        !fits
    }

    pub(super) fn structure(&self) -> MatrixStructure {
        match &self.jacobian {
            Some(j) => j.structure().clone(),
            None => MatrixStructure::Dense { n: 0 },
        }
    }

    pub(super) fn values(&self) -> &[f64] {
        self.jacobian.as_ref().map_or(&[], Jacobian::values)
    }

    /// Bound on the eigenvalues of the last Jacobian.
    pub(super) fn norm(&self) -> f64 {
        self.norm
    }

    /// After an accepted step.
    pub(super) fn accepted(&mut self) {
        if self.is_constant {
            return;
        }
        self.is_current = false;
        self.age += 1;
        self.is_stale |= self.age >= OLDEST;
    }

    /// Evaluates at the current point.
    pub(super) fn refresh(
        &mut self,
        system: &mut dyn OdeSystem,
        point: &mut Point,
        f_is_exact: bool,
    ) -> Result<(), EvalError> {
        let Some(jacobian) = &mut self.jacobian else {
            return Ok(());
        };
        let Point {
            t,
            y,
            f,
            options,
            counters,
            ..
        } = point;
        self.f.clear();
        self.f.extend_from_slice(f);
        // A slope that is only as exact as Newton's iteration would spoil difference quotients.
        if !f_is_exact && system.jacobian_source() == JacobianSource::Differences {
            evaluate(system, *t, y, &mut self.f, counters)?;
        }
        jacobian.evaluate(system, (*t, y, &self.f), options, counters)?;
        self.norm = jacobian.row_sum_norm(&mut self.scratch);
        self.is_current = true;
        self.is_stale = false;
        self.age = 0;
        Ok(())
    }
}

/// Solves stages y = r + c·f(t, y) by simplified Newton iteration with a kept factorisation.
#[derive(Clone, Debug)]
pub(super) struct StageSolver {
    pub cache: JacobianCache,
    matrix: ShiftedMatrix,
    factored_c: Option<f64>,
    /// rate / (1 − rate) of the last convergent iteration, while it can be relied upon.
    eta: Option<f64>,
    f: Vec<f64>,
    delta: Vec<f64>,
    max_iterations: usize,
    /// Iteration error allowed, in units of the error tolerance; limited by rounding.
    kappa: f64,
}

/// A stage that converged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Converged {
    pub iterations: usize,
    pub rate: f64,
}

/// How far c may drift from the factorised one: the iteration is then damped accordingly. A sparse factorisation costs
/// many iterations (CVODE has this limit), a small dense one little more than one.
const SPARSE_DRIFT: f64 = 0.3;
const DENSE_DRIFT: f64 = 0.1;

impl StageSolver {
    pub(super) fn new(max_iterations: usize, kappa: f64) -> Self {
        Self {
            cache: JacobianCache::default(),
            matrix: ShiftedMatrix::new(&MatrixStructure::Dense { n: 0 }),
            factored_c: None,
            eta: None,
            f: Vec::new(),
            delta: Vec::new(),
            max_iterations,
            kappa,
        }
    }

    pub(super) fn restart(&mut self, system: &dyn OdeSystem, keep: bool) {
        let n = system.dim();
        if self.cache.restart(system, keep) {
            self.matrix = ShiftedMatrix::new(&self.cache.structure());
            self.factored_c = None;
        }
        self.f.resize(n, 0.0);
        self.delta.resize(n, 0.0);
        self.eta = None;
    }

    /// Forces a new factorisation, for instance after the Jacobian changed.
    pub(super) fn refresh(
        &mut self,
        system: &mut dyn OdeSystem,
        point: &mut Point,
        f_is_exact: bool,
    ) -> Result<(), StepFailure> {
        self.factored_c = None;
        let result = self.cache.refresh(system, point, f_is_exact);
        result.map_err(StepFailure::Evaluation)
    }

    /// Factorises for a coefficient c unless the present factors are close enough.
    pub(super) fn prepare(&mut self, c: f64, point: &mut Point) -> Result<(), StepFailure> {
        let drift = if self.matrix.factorisation.is_sparse() {
            SPARSE_DRIFT
        } else {
            DENSE_DRIFT
        };
        if self.factored_c.is_none_or(|f| !((c / f - 1.0).abs() <= drift)) {
            self.factored_c = None;
            point.counters.factorisations += 1;
            self.matrix
                .factor(1.0 / c, self.cache.values())
                .map_err(StepFailure::Singular)?;
            self.factored_c = Some(c);
        }
        point.damp_noise(|noise| self.filter(noise));
        Ok(())
    }

    /// Whether the factors are those of another coefficient; they are then forgotten.
    pub(super) fn forget_other_factors(&mut self, c: f64) -> bool {
        let other = self.factored_c.is_some_and(|factored| factored != c);
        if other {
            self.factored_c = None;
        }
        other
    }

    /// Demands that the next iteration show its rate of convergence: a Jacobian that has become far too large makes
    /// corrections, and error estimates filtered with it, far too small without any other sign.
    pub(super) fn forget_rate(&mut self) {
        self.eta = None;
    }

    /// b := (I − c·J)⁻¹ b with the factorised c.
    pub(super) fn filter(&mut self, b: &mut [f64]) {
        let c = self.factored_c.unwrap_or(1.0);
        b.iter_mut().for_each(|v| *v /= c);
        self.matrix.solve(b);
    }

    /// Iterates from the guess in `y`; `moved` collects the sum of the corrections.
    pub(super) fn solve(
        &mut self,
        system: &mut dyn OdeSystem,
        point: &mut Point,
        (t, r, c): (f64, &[f64], f64),
        y: &mut [f64],
        moved: &mut [f64],
    ) -> Result<Converged, StepFailure> {
        let noise = point.rounding_noise();
        let tolerance = newton_tolerance(noise, self.kappa);
        let factored = self.factored_c.unwrap_or(c);
        // With c ≠ factored c the correction of a stiff component is off by their ratio: take the mean.
        let damping = 2.0 / (1.0 + c / factored);
        moved.fill(0.0);
        let mut eta = if self.cache.is_constant {
            // The rate is known: nothing but the ratio of the coefficients keeps the first correction from being exact.
            Some((0.5 * (c / factored - 1.0).abs()).max(EXACT_RATE))
        } else {
            self.eta.map(|eta| eta.max(f64::EPSILON).powf(0.8))
        };
        let mut previous = f64::NAN;
        let mut rate = 0.0;
        for iteration in 1..=self.max_iterations {
            point.counters.newton_iterations += 1;
            evaluate(system, t, y, &mut self.f, &mut point.counters).map_err(StepFailure::Evaluation)?;
            for i in 0..y.len() {
                self.delta[i] = damping * (r[i] + c * self.f[i] - y[i]) / factored;
            }
            self.matrix.solve(&mut self.delta);
            let norm = point.error_norm(&self.delta, y);
            if iteration > 1 && norm > noise {
                rate = norm / previous;
                let left = (self.max_iterations - iteration) as i32;
                if !(rate < 1.0) || rate.powi(left) / (1.0 - rate) * norm > tolerance {
                    break;
                }
                eta = Some(rate / (1.0 - rate));
            }
            if !norm.is_finite() {
                break;
            }
            for ((y, m), d) in y.iter_mut().zip(moved.iter_mut()).zip(&self.delta) {
                *y += d;
                *m += d;
            }
            if norm <= noise || eta.is_some_and(|eta| eta * norm < tolerance) {
                self.eta = eta;
                return Ok(Converged {
                    iterations: iteration,
                    rate,
                });
            }
            previous = norm;
        }
        self.eta = None;
        point.counters.newton_failures += 1;
        Err(StepFailure::Newton {
            component: point.worst_component(&self.delta),
        })
    }
}
