//! Derivatives with respect to parameters.

use pyo3::prelude::*;

use super::column::Column;

/// Derivatives of outputs at times, and of the times of events.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Sensitivities {
    pub inner: saltus::Sensitivities,
}

#[pymethods]
impl Sensitivities {
    /// The times that the run has reached.
    #[getter]
    fn times(&self) -> Column {
        Column::own(self.inner.times.clone())
    }

    /// When the run ended.
    #[getter]
    fn end(&self) -> f64 {
        self.inner.end
    }

    #[getter]
    fn event_times(&self) -> Column {
        Column::own(self.inner.event_times.clone())
    }

    /// Why derivatives are missing, by parameter.
    #[getter]
    fn problems(&self) -> Vec<Option<String>> {
        self.inner.problems.clone()
    }

    /// The values of an output, by its number.
    fn values(&self, output: usize) -> Column {
        let times = 0..self.inner.times.len();
        Column::own(times.map(|time| self.inner.value(time, output)).collect())
    }

    /// The derivatives of an output with respect to a parameter, by their numbers.
    fn derivatives(&self, output: usize, parameter: usize) -> Column {
        let times = 0..self.inner.times.len();
        Column::own(
            times
                .map(|time| self.inner.derivative(time, output, parameter))
                .collect(),
        )
    }

    /// The derivatives of the times of the events with respect to a parameter, by its number.
    fn event_derivatives(&self, parameter: usize) -> Column {
        let events = 0..self.inner.event_times.len();
        Column::own(
            events
                .map(|event| self.inner.event_derivative(event, parameter))
                .collect(),
        )
    }
}
