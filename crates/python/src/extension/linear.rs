//! Matrices of a linearised model.

use pyo3::prelude::*;

use super::column::Column;

/// A model that was linearised at a point.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Linear {
    pub inner: saltus::Linear,
}

#[pymethods]
impl Linear {
    #[getter]
    fn time(&self) -> f64 {
        self.inner.time
    }

    #[getter]
    fn mode(&self) -> &str {
        &self.inner.mode
    }

    #[getter]
    fn names(&self) -> (Vec<String>, Vec<String>, Vec<String>) {
        let linear = &self.inner;
        (linear.states.clone(), linear.inputs.clone(), linear.outputs.clone())
    }

    /// States, their derivatives, inputs, outputs.
    #[getter]
    fn point(&self) -> (Column, Column, Column, Column) {
        let own = |values: &Vec<f64>| Column::own(values.clone());
        let linear = &self.inner;
        (own(&linear.x), own(&linear.dx), own(&linear.u), own(&linear.y))
    }

    /// A, B, C and D, row after row.
    #[getter]
    fn matrices(&self) -> (Column, Column, Column, Column) {
        let own = |values: &Vec<f64>| Column::own(values.clone());
        let linear = &self.inner;
        (own(&linear.a), own(&linear.b), own(&linear.c), own(&linear.d))
    }
}
