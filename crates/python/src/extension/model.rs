//! Compiled models.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use saltus::analysis::{AnalysisOptions, Coverage};
use saltus::results::{Disk, Formats, Pattern, Schema, Select, Selection, Trajectory, Value};
use saltus::source::{Diagnostic, Severity, codes};
use saltus::{ModelFileOptions, ParameterValues, Run};
use saltus_fmi::export::{Runtime, Sizes, export_sizes, host_platform};
use saltus_fmi::interface::SizeParameter;
use saltus_fmi::{ExportOptions, Interface, Version};

use super::analysis::Analysis;
use super::design::Design;
use super::ensemble;
use super::failure::{self, Class};
use super::options::RunOptions;
use super::patience::{self, Watch, aside};
use super::sensitivities::Sensitivities;
use super::session::Session;
use super::simulation::Simulation;
use super::stepper::Stepper;
use super::trajectory::{kind_name, role_name};

/// Names and values, written as in a model.
pub(crate) type Settings = Vec<(String, String)>;
/// An input: its name, times, values, and whether values are held.
type Given = (String, PyBuffer<f64>, PyBuffer<f64>, bool);
/// The same, copied.
type Copied = (String, Vec<f64>, Vec<f64>, bool);
/// Parameters that give sizes with their ranges, their values, and the models for all others.
type GivenSizes<'py> = (Vec<(String, u64, u64)>, Vec<u64>, Vec<(Vec<u64>, PyRef<'py, Model>)>);
/// Name, kind of values, literals, value, unit, description, whether a run may set it.
type ParameterRow = (String, &'static str, Vec<String>, Option<f64>, String, String, bool);
/// Name, unit, unit for display, description, kind, literals, role, value if constant, whether it is hidden.
pub(crate) type VariableRow = (
    String,
    String,
    String,
    String,
    &'static str,
    Vec<String>,
    &'static str,
    Option<f64>,
    bool,
);

/// A compiled model.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Model {
    pub inner: Arc<saltus::Model>,
    /// Whether its runs need no more stack than any thread has.
    pub shallow: bool,
}

/// Expressions that are nested less deeply can be walked over on any thread.
const SHALLOW: usize = 200;

impl Model {
    pub(crate) fn new(model: saltus::Model) -> Self {
        Model {
            shallow: model.depth().is_some_and(|depth| depth <= SHALLOW),
            inner: Arc::new(model),
        }
    }
}

#[pymethods]
impl Model {
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// Start time, stop time, tolerance and interval as `annotation(experiment(…))` has them.
    #[getter]
    fn experiment(&self) -> (Option<f64>, Option<f64>, Option<f64>, Option<f64>) {
        let experiment = self.inner.experiment();
        (
            experiment.start_time,
            experiment.stop_time,
            experiment.tolerance,
            experiment.interval,
        )
    }

    /// The files that it was made from, with their hashes.
    #[getter]
    fn sources(&self) -> Vec<(String, String)> {
        let inputs = self.inner.inputs().iter();
        inputs.map(|input| (input.path.clone(), input.hash.clone())).collect()
    }

    /// What was worth reporting while compiling, as JSON.
    fn warnings(&self) -> String {
        failure::list(self.inner.warnings(), self.inner.sources())
    }

    fn to_bytes<'py>(&self, py: Python<'py>, without_sources: bool) -> PyResult<Bound<'py, PyBytes>> {
        let model = Arc::clone(&self.inner);
        let bytes = py.detach(|| model.to_bytes(ModelFileOptions { without_sources }));
        match bytes {
            Ok(bytes) => Ok(PyBytes::new(py, &bytes)),
            Err(diagnostic) => Err(failure::raise_one(py, Class::Model, &diagnostic)),
        }
    }

    /// The model as a functional mock-up unit with the given runtime for this platform; with other models for the sizes that
    /// importers may choose.
    #[allow(clippy::too_many_arguments)]
    fn to_fmu<'py>(
        &self,
        py: Python<'py>,
        version: u32,
        wanted: (bool, bool),
        library: PathBuf,
        without_sources: bool,
        arrays: bool,
        sizes: Option<GivenSizes<'py>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let interfaces = [
            (wanted.0, Interface::ModelExchange),
            (wanted.1, Interface::CoSimulation),
        ];
        let options = ExportOptions {
            version: if version == 2 { Version::Two } else { Version::Three },
            interfaces: interfaces
                .into_iter()
                .filter(|(wanted, _)| *wanted)
                .map(|(_, of)| of)
                .collect(),
            without_sources,
            settings: saltus_fmi::variables::Settings {
                arrays: arrays || sizes.is_some(),
                ..Default::default()
            },
        };
        let runtime = Runtime::read(host_platform(), &library).map_err(|error| {
            let told = (error.raw_os_error(), error.to_string(), library.display().to_string());
            PyOSError::new_err(told)
        })?;
        let model = Arc::clone(&self.inner);
        let sizes = sizes.map(|(parameters, first, others)| {
            let parameter = |(name, min, max)| SizeParameter { name, min, max };
            let other = |(values, model): (Vec<u64>, PyRef<'py, Model>)| (values, Arc::clone(&model.inner));
            let parameters: Vec<SizeParameter> = parameters.into_iter().map(parameter).collect();
            (parameters, first, others.into_iter().map(other).collect::<Vec<_>>())
        });
        let exported = aside(py, move || {
            let sizes = sizes.as_ref().map(|(parameters, first, others)| Sizes {
                parameters: parameters.clone(),
                first: first.clone(),
                others: others
                    .iter()
                    .map(|(values, model)| (values.clone(), &**model))
                    .collect(),
            });
            export_sizes(&model, sizes.as_ref(), &[runtime], &options)
        })?;
        match exported {
            Ok(exported) => Ok(PyBytes::new(py, &exported.bytes)),
            Err(diagnostic) => Err(failure::raise_one(py, Class::Model, &diagnostic)),
        }
    }

    /// Lets the code of the units of other tools run that the model names.
    fn allow_fmu(&self, py: Python<'_>) -> PyResult<()> {
        let units = self.inner.foreign_units();
        let linked = py.detach(|| saltus_fmu_host::link(&units));
        linked.map_err(|(unit, message)| {
            let path = saltus_fmu_host::host::location(&unit);
            let message = format!("unit `{}`: {message}", path.display());
            let diagnostic = Diagnostic::without_place(codes::E0711, Severity::Error, message);
            failure::raise_one(py, Class::Model, &diagnostic)
        })
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        let model = aside(py, move || saltus::Model::from_bytes(&bytes))?;
        model
            .map(Model::new)
            .map_err(|diagnostic| failure::raise_one(py, Class::File, &diagnostic))
    }

    fn parameters(&self, py: Python<'_>) -> PyResult<Vec<ParameterRow>> {
        let parameters = self.inner.parameters();
        let parameters = parameters.map_err(|diagnostic| failure::raise_one(py, Class::Model, &diagnostic))?;
        let row = |parameter: saltus::Parameter| {
            let values = match parameter.values {
                ParameterValues::Real => "Real",
                ParameterValues::Integer => "Integer",
                ParameterValues::Boolean => "Boolean",
                ParameterValues::Enumeration => "Enumeration",
                ParameterValues::Text => "String",
            };
            let (unit, description) = (parameter.unit, parameter.description);
            let value = parameter.value.filter(|_| parameter.values != ParameterValues::Text);
            (
                parameter.name,
                values,
                parameter.literals,
                value,
                unit,
                description,
                parameter.by_run,
            )
        };
        Ok(parameters.into_iter().map(row).collect())
    }

    fn variables(&self, py: Python<'_>) -> PyResult<Vec<VariableRow>> {
        let schema = self.inner.schema();
        let schema = schema.map_err(|diagnostic| failure::raise_one(py, Class::Model, &diagnostic))?;
        Ok(variable_rows(&schema))
    }

    /// Whether one of these values shapes the equations.
    fn shaped_by(&self, py: Python<'_>, settings: Settings) -> PyResult<bool> {
        let mut shaped = false;
        for (name, value) in &settings {
            let by_this = self.inner.shaped_by(name, value);
            shaped |= by_this.map_err(|diagnostic| failure::refused(py, &diagnostic))?;
        }
        Ok(shaped)
    }

    /// What is wrong with its modes, as JSON.
    fn check(&self, py: Python<'_>, all_modes: bool) -> PyResult<String> {
        let model = Arc::clone(&self.inner);
        let found = aside(py, move || model.check(all_modes))?;
        Ok(failure::list(&found, self.inner.sources()))
    }

    fn analyze(&self, py: Python<'_>, all_modes: bool, limit: usize) -> PyResult<Analysis> {
        let model = Arc::clone(&self.inner);
        let limit = limit.max(1);
        let options = AnalysisOptions {
            coverage: if all_modes { Coverage::All } else { Coverage::Neighbours },
            most_modes: limit,
            most_changes: limit.saturating_mul(4),
            ..AnalysisOptions::default()
        };
        aside(py, move || {
            let analysis = model.analyze(&options);
            Analysis {
                json: analysis.to_json(model.sources()).to_string(),
                text: analysis.to_text(model.sources()),
                svg: analysis.to_svg(),
                dot: analysis.to_dot(),
            }
        })
    }

    /// Runs it. Returns the results with the exception that ended the run, if one did: an interruption, or one of `progress`.
    #[pyo3(signature = (options, settings, inputs, input_file, outputs, progress))]
    #[allow(
        clippy::too_many_arguments,
        reason = "called by the Python files of the package only"
    )]
    fn simulate(
        &self,
        py: Python<'_>,
        options: &RunOptions,
        settings: Settings,
        inputs: Vec<Given>,
        input_file: Option<PathBuf>,
        outputs: Option<Vec<String>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Simulation, Option<PyErr>)> {
        let inputs = arrays(py, inputs)?;
        let selection = selection(py, &self.inner, outputs)?;
        let watch = Watch::new();
        // What is wrong is said before anything is started.
        let prepare = Prepare {
            model: Arc::clone(&self.inner),
            settings,
            inputs,
            input_file,
            options: options.clone(),
        };
        let signals = prepare.read_inputs(py)?;
        prepare.check(py, signals.as_ref())?;
        let observer = watch.observer(progress);
        let cancel = watch.cancel();
        let (done, error) = patience::run(py, self.shallow, &watch, move || {
            let run = prepare.run_again(signals.as_ref());
            let run = run.cancel(cancel).observe(observer);
            let mut trajectory = Trajectory::new();
            let summary = match selection {
                None => run.simulate_into(&mut trajectory),
                Some(selection) => run.simulate_into(&mut Select::new(selection, &mut trajectory)),
            };
            (trajectory, summary)
        })?;
        let (trajectory, summary) = done;
        Ok((Simulation::new(py, trajectory, &summary, &self.inner)?, error))
    }

    /// Derivatives of outputs at times with respect to parameters. Returns the exception that ended the run, if one did.
    #[pyo3(signature = (options, settings, inputs, input_file, parameters, outputs, at))]
    #[allow(
        clippy::too_many_arguments,
        reason = "called by the Python files of the package only"
    )]
    fn sensitivities(
        &self,
        py: Python<'_>,
        options: &RunOptions,
        settings: Settings,
        inputs: Vec<Given>,
        input_file: Option<PathBuf>,
        parameters: Vec<String>,
        outputs: Vec<String>,
        at: Vec<f64>,
    ) -> PyResult<(Sensitivities, Option<PyErr>)> {
        let watch = Watch::new();
        let prepare = Prepare {
            model: Arc::clone(&self.inner),
            settings,
            inputs: arrays(py, inputs)?,
            input_file,
            options: options.clone(),
        };
        let signals = prepare.read_inputs(py)?;
        prepare.check(py, signals.as_ref())?;
        let cancel = watch.cancel();
        // Nobody looks at signals on the way: that is left to this thread.
        let (found, error) = patience::run(py, false, &watch, move || {
            let run = prepare.run_again(signals.as_ref()).cancel(cancel);
            let parameters: Vec<&str> = parameters.iter().map(|name| &**name).collect();
            let outputs: Vec<&str> = outputs.iter().map(|name| &**name).collect();
            run.sensitivities(&parameters, &outputs, &at)
        })?;
        match found {
            Ok(inner) => Ok((Sensitivities { inner }, error)),
            Err(diagnostic) if diagnostic.code == codes::E0614 => Err(failure::refused(py, &diagnostic)),
            Err(diagnostic) if diagnostic.code == codes::E0704 => {
                Err(failure::raise_one(py, Class::Unknown, &diagnostic))
            }
            Err(diagnostic) => Err(failure::raise(
                py,
                Class::Simulation,
                [&*diagnostic],
                self.inner.sources(),
            )),
        }
    }

    /// Makes the runs of a design from `first` on; `rows` is called with lists of what they yielded, in the order of the design.
    #[pyo3(signature = (design, outputs, options, settings, session, threads, first, rows))]
    #[allow(
        clippy::too_many_arguments,
        reason = "called by the Python files of the package only"
    )]
    fn ensemble(
        &self,
        py: Python<'_>,
        design: &Design,
        outputs: Vec<String>,
        options: &RunOptions,
        settings: Settings,
        session: Option<&Session>,
        threads: Option<usize>,
        first: usize,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let request = ensemble::Request {
            design,
            outputs,
            options,
            settings,
            session,
            threads,
            first,
        };
        ensemble::run(py, self, request, rows)
    }

    /// A run in the hands of the caller.
    fn stepper(
        &self,
        py: Python<'_>,
        options: &RunOptions,
        settings: Settings,
        inputs: Vec<Given>,
    ) -> PyResult<Stepper> {
        let prepare = Prepare {
            model: Arc::clone(&self.inner),
            settings,
            inputs: arrays(py, inputs)?,
            input_file: None,
            options: options.clone(),
        };
        prepare.check(py, None)?;
        let watch = Watch::new();
        let cancel = watch.cancel();
        let made = aside(py, move || {
            let run = prepare.run_again(None).cancel(cancel);
            // Who steps sees whether it gets anywhere.
            let run = run.options(|options| (options.step_limit, options.event_limit) = (u64::MAX, u64::MAX));
            run.stepper()
        })?;
        match made {
            Ok(stepper) => Ok(Stepper::new(stepper, self, watch)),
            Err(diagnostic) => Err(failure::raise(
                py,
                Class::Simulation,
                [&*diagnostic],
                self.inner.sources(),
            )),
        }
    }
}

/// The variables of a schema.
pub(crate) fn variable_rows(schema: &Schema) -> Vec<VariableRow> {
    let row = |id| {
        let signal = schema.signal(id);
        let (kind, literals) = kind_name(&signal.kind);
        let constant = match schema.value(id) {
            Value::Constant(value) => Some(value),
            Value::Column { .. } => None,
        };
        (
            signal.name.clone(),
            signal.unit.clone(),
            signal.display_unit.clone(),
            signal.description.clone(),
            kind,
            literals,
            role_name(signal.role),
            constant,
            signal.hidden || signal.protected,
        )
    };
    schema.ids().map(row).collect()
}

/// Which variables are kept; that a pattern fits nothing is said at once.
fn selection(py: Python<'_>, model: &saltus::Model, outputs: Option<Vec<String>>) -> PyResult<Option<Selection>> {
    let Some(outputs) = outputs else { return Ok(None) };
    let schema = model.schema();
    let schema = schema.map_err(|diagnostic| failure::raise_one(py, Class::Model, &diagnostic))?;
    let selection = Selection {
        patterns: outputs.iter().map(Pattern::new).collect(),
        protected: false,
        hidden: false,
    };
    match selection.resolve(&schema) {
        Ok(_) => Ok(Some(selection)),
        Err(error) => Err(failure::of_result(py, &error)),
    }
}

fn arrays(py: Python<'_>, inputs: Vec<Given>) -> PyResult<Vec<Copied>> {
    let copied = inputs.into_iter().map(|(name, times, values, held)| {
        if times.dimensions() != 1 || values.dimensions() != 1 {
            return Err(PyValueError::new_err(format!(
                "the arrays of `{name}` must have one dimension"
            )));
        }
        Ok((name, times.to_vec(py)?, values.to_vec(py)?, held))
    });
    copied.collect()
}

/// What a run is made of.
struct Prepare {
    model: Arc<saltus::Model>,
    settings: Settings,
    inputs: Vec<Copied>,
    input_file: Option<PathBuf>,
    options: RunOptions,
}

impl Prepare {
    fn read_inputs(&self, py: Python<'_>) -> PyResult<Option<Trajectory>> {
        let Some(path) = &self.input_file else { return Ok(None) };
        let read = py.detach(|| Formats::standard().read(path, &mut Disk));
        let signals = read.map_err(|error| failure::of_result(py, &error))?;
        let wrong = |code, message: String| {
            let diagnostic = Diagnostic::without_place(code, Severity::Error, message);
            Err(failure::refused(py, &diagnostic))
        };
        let (_, found) = self.model.run().inputs(&signals);
        if found.is_empty() {
            return wrong(
                codes::E0704,
                format!("no column of `{}` is an input of the model", path.display()),
            );
        }
        if signals.time().is_empty() {
            return wrong(
                codes::E0703,
                format!(
                    "`{}` has no rows: the inputs of the model get no values",
                    path.display()
                ),
            );
        }
        Ok(Some(signals))
    }

    fn check(&self, py: Python<'_>, signals: Option<&Trajectory>) -> PyResult<()> {
        let run = self.options.checked(self.model.run())?;
        let given = self.given(run, signals);
        given.map(drop).map_err(|diagnostic| failure::refused(py, &diagnostic))
    }

    /// The same, where it has been seen that nothing is wrong.
    fn run_again(&self, signals: Option<&Trajectory>) -> Run<'_> {
        let run = self.options.apply(self.model.run());
        self.given(run, signals)
            .unwrap_or_else(|_| self.options.apply(self.model.run()))
    }

    fn given<'m>(&self, mut run: Run<'m>, signals: Option<&Trajectory>) -> Result<Run<'m>, Box<Diagnostic>> {
        for (name, value) in &self.settings {
            run = run.set(name, value)?;
        }
        if let Some(signals) = signals {
            run = run.inputs(signals).0;
        }
        for (name, times, values, held) in &self.inputs {
            run = run.input(name, times.clone(), values.clone(), *held)?;
        }
        Ok(run)
    }
}
