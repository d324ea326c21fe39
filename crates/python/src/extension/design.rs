//! Which values parameters take, and tables of what came of them.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use saltus::ensemble::{self, EnsembleRow, Factor, Levels, Output};
use saltus::source::{Diagnostic, Severity, codes};
use sha2::{Digest, Sha256};

use super::failure;

/// Name with values, or with the ends of a range.
type FactorRow = (String, Option<Vec<String>>, Option<(f64, f64)>);

/// Sets of values, one per run.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Design {
    pub inner: Arc<ensemble::Design>,
}

fn factors(rows: Vec<FactorRow>) -> PyResult<Vec<Factor>> {
    let factor = |(name, values, range): FactorRow| {
        let levels = match (values, range) {
            (Some(values), None) if !values.is_empty() => Levels::Values(values),
            (None, Some((low, high))) if low < high && (high - low).is_finite() => Levels::Range { low, high },
            _ => {
                let message = format!("`{name}` has neither values nor a range from a number to a greater one");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(Factor { name, levels })
    };
    rows.into_iter().map(factor).collect()
}

fn made(py: Python<'_>, design: Result<ensemble::Design, Box<Diagnostic>>) -> PyResult<Design> {
    match design {
        Ok(design) => Ok(Design {
            inner: Arc::new(design),
        }),
        Err(diagnostic) => Err(failure::refused(py, &diagnostic)),
    }
}

#[pymethods]
impl Design {
    #[staticmethod]
    fn grid(py: Python<'_>, rows: Vec<FactorRow>) -> PyResult<Self> {
        made(py, ensemble::Design::grid(factors(rows)?))
    }

    #[staticmethod]
    fn list(py: Python<'_>, names: Vec<String>, sets: Vec<Vec<String>>) -> PyResult<Self> {
        made(py, ensemble::Design::list(names, sets))
    }

    #[staticmethod]
    fn latin_hypercube(py: Python<'_>, rows: Vec<FactorRow>, samples: usize, seed: u64) -> PyResult<Self> {
        let factors = factors(rows)?;
        made(
            py,
            py.detach(|| ensemble::Design::latin_hypercube(factors, samples, seed)),
        )
    }

    #[staticmethod]
    fn sobol(py: Python<'_>, rows: Vec<FactorRow>, samples: usize, seed: Option<u64>) -> PyResult<Self> {
        made(py, ensemble::Design::sobol(factors(rows)?, samples, seed))
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.names().to_vec()
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// The values of some runs, written as in a model.
    fn points(&self, py: Python<'_>, first: usize, count: usize) -> PyResult<Vec<Vec<String>>> {
        let end = first.checked_add(count).filter(|&end| end <= self.inner.len());
        let Some(end) = end else {
            return Err(PyIndexError::new_err(format!("there are {} runs", self.inner.len())));
        };
        let design = &self.inner;
        Ok(py.detach(|| (first..end).map(|run| design.point(run)).collect()))
    }

    /// A hash of all names and values.
    fn hash(&self, py: Python<'_>) -> String {
        let design = &self.inner;
        py.detach(|| {
            let mut hash = Sha256::new();
            let mut add = |texts: &[String]| {
                for text in texts {
                    hash.update((text.len() as u64).to_le_bytes());
                    hash.update(text);
                }
            };
            add(design.names());
            for run in 0..design.len() {
                add(&design.point(run));
            }
            let digest = hash.finalize();
            digest.iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }
}

/// The lines of a table of runs, as `saltus sweep` writes them.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Table {
    design: Arc<ensemble::Design>,
    outputs: Vec<Output>,
}

/// Number of the run, outputs, and code and message of the error if it failed.
pub(crate) type Row = (usize, Vec<f64>, Option<(String, String)>);

#[pymethods]
impl Table {
    #[new]
    fn new(py: Python<'_>, design: &Design, outputs: Vec<String>) -> PyResult<Self> {
        Ok(Table {
            design: Arc::clone(&design.inner),
            outputs: self::outputs(py, &outputs)?,
        })
    }

    fn header(&self) -> String {
        ensemble::RunTable::new(&self.design, &self.outputs).header()
    }

    fn lines(&self, py: Python<'_>, rows: Vec<Row>) -> PyResult<String> {
        let table = ensemble::RunTable::new(&self.design, &self.outputs);
        let mut text = String::new();
        for (run, values, failed) in rows {
            if run >= self.design.len() || (failed.is_none() && values.len() != self.outputs.len()) {
                return Err(failure::internal(py, "a row that is not of this table"));
            }
            let outcome = match failed {
                None => Ok(values),
                Some((code, message)) => {
                    let code = codes::all().find(|known| known.as_str() == code);
                    let code = code.unwrap_or(codes::E0614);
                    Err(Box::new(Diagnostic::without_place(code, Severity::Error, message)))
                }
            };
            text.push_str(&table.line(&EnsembleRow { run, outcome }));
        }
        Ok(text)
    }

    /// Rows, bytes and failures that can be kept of a table that was begun.
    fn kept(&self, py: Python<'_>, text: &[u8]) -> PyResult<(usize, usize, usize)> {
        let kept = ensemble::RunTable::new(&self.design, &self.outputs).kept(text);
        let kept = kept.map_err(|diagnostic| failure::refused(py, &diagnostic))?;
        Ok((kept.rows, kept.bytes, kept.failed))
    }
}

pub(crate) fn outputs(py: Python<'_>, texts: &[String]) -> PyResult<Vec<Output>> {
    let outputs: Result<Vec<Output>, _> = texts.iter().map(|text| Output::parse(text)).collect();
    outputs.map_err(|diagnostic| failure::refused(py, &diagnostic))
}
