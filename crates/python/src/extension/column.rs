//! Numbers of Rust as arrays of NumPy, without a copy.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use saltus::results::{AliasSign, SignalId, Trajectory as Results, Value};

/// Numbers that NumPy sees through `__array_interface__`: they stay where they are, cannot be written, and live as long as
/// an array shows them.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Column {
    numbers: Numbers,
}

enum Numbers {
    Own(Vec<f64>),
    Small(Arc<[u8]>),
    Time(Arc<Results>),
    Modes(Arc<Results>),
    Signal(Arc<Results>, saltus::results::ColumnId),
}

impl Column {
    pub(crate) fn own(values: Vec<f64>) -> Self {
        Column {
            numbers: Numbers::Own(values),
        }
    }

    pub(crate) fn small(values: Arc<[u8]>) -> Self {
        Column {
            numbers: Numbers::Small(values),
        }
    }

    pub(crate) fn time(results: &Arc<Results>) -> Self {
        Column {
            numbers: Numbers::Time(Arc::clone(results)),
        }
    }

    pub(crate) fn modes(results: &Arc<Results>) -> Self {
        Column {
            numbers: Numbers::Modes(Arc::clone(results)),
        }
    }

    /// A signal; constants and the negatives of others are the only ones that are copied.
    pub(crate) fn signal(results: &Arc<Results>, id: SignalId) -> Self {
        let numbers = match results.schema().value(id) {
            Value::Column {
                column,
                sign: AliasSign::Same,
            } => Numbers::Signal(Arc::clone(results), column),
            _ => Numbers::Own(results.values(id).into_owned()),
        };
        Column { numbers }
    }

    /// Address and number of the values, and what NumPy calls them.
    fn place(&self) -> (usize, usize, &'static str) {
        let real = |values: &[f64]| (values.as_ptr() as usize, values.len(), "=f8");
        match &self.numbers {
            Numbers::Own(values) => real(values),
            Numbers::Small(values) => (values.as_ptr() as usize, values.len(), "|u1"),
            Numbers::Time(results) => real(results.time()),
            Numbers::Modes(results) => {
                let modes = results.modes();
                (modes.as_ptr() as usize, modes.len(), "=u4")
            }
            Numbers::Signal(results, column) => real(results.column(*column)),
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.place().1
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (address, length, kind) = self.place();
        let kind = kind.replace('=', if cfg!(target_endian = "little") { "<" } else { ">" });
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (length,))?;
        interface.set_item("typestr", kind)?;
        // The second part says that nothing may be written there.
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}
