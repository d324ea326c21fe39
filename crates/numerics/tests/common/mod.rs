//! Problems shared by the tests.
#![allow(dead_code)]

use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::ode::{Integrator, IntegratorOptions, JacobianSource, Method, OdeSystem, Start, new_integrator};

pub(crate) struct Closure<F> {
    n: usize,
    f: F,
}

impl<F: FnMut(f64, &[f64], &mut [f64]) -> Result<(), EvalError>> Closure<F> {
    pub(crate) fn new(n: usize, f: F) -> Self {
        Self { n, f }
    }
}

impl<F: FnMut(f64, &[f64], &mut [f64]) -> Result<(), EvalError>> OdeSystem for Closure<F> {
    fn dim(&self) -> usize {
        self.n
    }
    fn rhs(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        (self.f)(t, y, dy)
    }
}

pub(crate) fn oscillator() -> impl OdeSystem {
    Closure::new(2, |_t: f64, y: &[f64], dy: &mut [f64]| {
        dy[0] = y[1];
        dy[1] = -y[0];
        Ok(())
    })
}

pub(crate) fn van_der_pol(mu: f64) -> impl OdeSystem {
    Closure::new(2, move |_t: f64, y: &[f64], dy: &mut [f64]| {
        dy[0] = y[1];
        dy[1] = mu * (1.0 - y[0] * y[0]) * y[1] - y[0];
        Ok(())
    })
}

pub(crate) fn robertson() -> impl OdeSystem {
    Closure::new(3, |_t: f64, y: &[f64], dy: &mut [f64]| {
        dy[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
        dy[2] = 3e7 * y[1] * y[1];
        dy[1] = -dy[0] - dy[2];
        Ok(())
    })
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    Values,
    Differences,
    DenseDifferences,
}

/// u_t = u_xx + u(1−u) on n interior points.
pub(crate) struct HeatEquation {
    n: usize,
    pattern: SparsityPattern,
    source: Source,
}

impl HeatEquation {
    pub(crate) fn new(n: usize, source: Source) -> Self {
        let entries = (0..n).flat_map(|c| (c.saturating_sub(1)..(c + 2).min(n)).map(move |r| (r, c)));
        Self {
            n,
            pattern: SparsityPattern::from_entries(n, n, entries),
            source,
        }
    }
    pub(crate) fn start(&self) -> Vec<f64> {
        (0..self.n)
            .map(|i| (std::f64::consts::PI * (i as f64 + 1.0) / (self.n as f64 + 1.0)).sin())
            .collect()
    }
    fn scale(&self) -> f64 {
        (self.n as f64 + 1.0).powi(2)
    }
}

impl OdeSystem for HeatEquation {
    fn dim(&self) -> usize {
        self.n
    }
    fn rhs(&mut self, _t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        let s = self.scale();
        for i in 0..self.n {
            let left = if i > 0 { y[i - 1] } else { 0.0 };
            let right = if i + 1 < self.n { y[i + 1] } else { 0.0 };
            dy[i] = s * (left - 2.0 * y[i] + right) + y[i] * (1.0 - y[i]);
        }
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        (self.source != Source::DenseDifferences).then_some(&self.pattern)
    }
    fn jacobian_source(&self) -> JacobianSource {
        match self.source {
            Source::Values => JacobianSource::Values,
            _ => JacobianSource::Differences,
        }
    }
    fn jacobian(&mut self, _t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        let s = self.scale();
        for (v, (r, c)) in values.iter_mut().zip(self.pattern.entries()) {
            *v = if r == c { -2.0 * s + 1.0 - 2.0 * y[c] } else { s };
        }
        Ok(())
    }
}

/// From t = 0 to `end`.
pub(crate) fn integrate(
    method: Method,
    options: IntegratorOptions,
    system: &mut dyn OdeSystem,
    y: &[f64],
    end: f64,
) -> Box<dyn Integrator> {
    let mut run = new_integrator(method, options).unwrap();
    run.restart(system, &Start::at(0.0, y)).unwrap();
    while run.time() < end {
        if let Err(error) = run.step(system, end) {
            panic!("{method}: {error}");
        }
        assert!(
            run.counters().steps < 200_000,
            "{method}: too many steps, at {}",
            run.time()
        );
    }
    run
}

pub(crate) fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}
