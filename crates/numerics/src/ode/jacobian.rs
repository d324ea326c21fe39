//! Evaluation of ∂f/∂y from whatever the system offers.

use super::control::evaluate;
use super::{Counters, IntegratorOptions, JacobianSource, OdeSystem};
use crate::EvalError;
use crate::error::check_finite;
use crate::linalg::{Colouring, MatrixStructure};

/// Values of ∂f/∂y with what is needed to compute them again.
#[derive(Clone, Debug)]
pub struct Jacobian {
    structure: MatrixStructure,
    values: Vec<f64>,
    /// Columns that are found together; made at first use.
    groups: Option<Vec<Vec<usize>>>,
    point: Vec<f64>,
    perturbed: Vec<f64>,
    increments: Vec<f64>,
}

impl Jacobian {
    /// Prepares for a system: copies its pattern.
    pub fn new(system: &dyn OdeSystem) -> Self {
        let n = system.dim();
        let structure = match system.jacobian_pattern() {
            Some(pattern) => MatrixStructure::Sparse(pattern.clone()),
            None => MatrixStructure::Dense { n },
        };
        Self {
            values: vec![0.0; structure.len()],
            structure,
            groups: None,
            point: vec![0.0; n],
            perturbed: vec![0.0; n],
            increments: vec![0.0; n],
        }
    }

    /// Layout of the values.
    pub fn structure(&self) -> &MatrixStructure {
        &self.structure
    }

    /// The values last computed.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether this was prepared for the pattern that the system has.
    pub(super) fn fits(&self, system: &dyn OdeSystem) -> bool {
        match (&self.structure, system.jacobian_pattern()) {
            (MatrixStructure::Sparse(own), Some(pattern)) => own == pattern,
            (MatrixStructure::Dense { n }, None) => *n == system.dim(),
            _ => false,
        }
    }

    /// The largest absolute row sum: a bound on the modulus of the eigenvalues.
    pub(super) fn row_sum_norm(&self, sums: &mut Vec<f64>) -> f64 {
        sums.clear();
        sums.resize(self.structure.dim(), 0.0);
        self.structure.for_each(|r, _, k| sums[r] += self.values[k].abs());
        sums.iter().copied().fold(0.0, f64::max)
    }

    /// Evaluates at a point where f has the value `f`.
    ///
    /// # Errors
    /// If the functions of the system do.
    pub fn evaluate(
        &mut self,
        system: &mut dyn OdeSystem,
        (t, y, f): (f64, &[f64], &[f64]),
        options: &IntegratorOptions,
        counters: &mut Counters,
    ) -> Result<(), EvalError> {
        counters.jacobians += 1;
        match system.jacobian_source() {
            JacobianSource::Values => {
                let exact = system.jacobian(t, y, &mut self.values);
                match exact.and_then(|()| check_finite(&self.values)) {
                    // Where f has no derivative (a square root at zero) quotients still say where it leads.
                    Err(error) if error.recoverable => {
                        let mut f = vec![0.0; y.len()];
                        evaluate(system, t, y, &mut f, counters)?;
                        self.fill_by_differences(system, (t, y, &f), options, counters)?;
                    }
                    outcome => return outcome,
                }
            }
            JacobianSource::Differences => self.fill_by_differences(system, (t, y, f), options, counters)?,
        }
        check_finite(&self.values)
    }

    /// To be put back after use.
    fn groups(&mut self) -> Vec<Vec<usize>> {
        let structure = &self.structure;
        self.groups.take().unwrap_or_else(|| match structure {
            MatrixStructure::Sparse(pattern) => Colouring::new(pattern).groups().to_vec(),
            MatrixStructure::Dense { n } => (0..*n).map(|c| vec![c]).collect(),
        })
    }

    fn fill_by_differences(
        &mut self,
        system: &mut dyn OdeSystem,
        (t, y, f): (f64, &[f64], &[f64]),
        options: &IntegratorOptions,
        counters: &mut Counters,
    ) -> Result<(), EvalError> {
        self.point.copy_from_slice(y);
        let groups = self.groups();
        for group in &groups {
            self.perturb(group, y, options, 1.0);
            let mut result = evaluate(system, t, &self.point, &mut self.perturbed, counters);
            if result.as_ref().is_err_and(|e| e.recoverable) {
                // At the edge of the domain the other side may do.
                self.perturb(group, y, options, -1.0);
                result = evaluate(system, t, &self.point, &mut self.perturbed, counters);
            }
            for &c in group {
                self.point[c] = y[c];
            }
            result?;
            for (p, f) in self.perturbed.iter_mut().zip(f) {
                *p -= f;
            }
            self.store(group);
        }
        self.groups = Some(groups);
        Ok(())
    }

    /// Moves the columns of a group by √ε of their size, or of the size at which the absolute tolerance matters.
    fn perturb(&mut self, group: &[usize], y: &[f64], options: &IntegratorOptions, sign: f64) {
        for &c in group {
            let floor = options.atol.get(c) / options.effective_rtol().max(1e-10);
            let size = y[c].abs().max(floor).max(1e-100);
            let toward = if y[c] < 0.0 { -sign } else { sign };
            self.point[c] = y[c] + toward * f64::EPSILON.sqrt() * size;
            // The increment that was really made, after rounding.
            self.increments[c] = self.point[c] - y[c];
        }
    }

    fn store(&mut self, group: &[usize]) {
        for &c in group {
            match &self.structure {
                MatrixStructure::Dense { n } => {
                    for (v, p) in self.values[c * n..(c + 1) * n].iter_mut().zip(&self.perturbed) {
                        *v = p / self.increments[c];
                    }
                }
                MatrixStructure::Sparse(pattern) => {
                    for k in pattern.range(c) {
                        self.values[k] = self.perturbed[pattern.row_indices()[k]] / self.increments[c];
                    }
                }
            }
        }
    }
}
