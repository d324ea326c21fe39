//! Many runs of one model: a [`Design`] says with which values of its parameters, [`Output`]s what is kept of each.
//!
//! Runs are independent of each other and go on on all processors; their rows come in the order of the design. What a
//! run yields does not depend on how many there are, on which thread, or what was run before.

mod csv;
mod design;
mod output;
mod random;
mod sobol;
mod table;

pub use design::{Design, Factor, Levels};
pub use output::Output;
pub use table::{Kept, RunTable};

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use saltus_simulate::{Cancel, End};
use saltus_source::{Diagnostic, Severity, codes};

use crate::parameters::Setting;
use crate::{Model, Run, Session};
use output::Reducer;

/// Models compiled for values that shape their equations are kept for the next run that needs them, up to this number.
const MOST_MODELS: usize = 32;
/// Room for deeply nested functions.
const STACK: usize = 256 << 20;

/// Names and values of parameters.
type Settings = Vec<(String, String)>;
type Configure<'e> = Box<dyn for<'r> Fn(Run<'r>) -> Run<'r> + Sync + 'e>;

/// What one run of an ensemble yielded.
#[derive(Clone, Debug, PartialEq)]
pub struct EnsembleRow {
    /// Its number in the design, from 0.
    pub run: usize,
    /// The outputs in the order in which they were asked for, NaN where there is no such number; or why the run failed.
    pub outcome: Result<Vec<f64>, Box<Diagnostic>>,
}

/// Many runs to be made: settings first, then [`Ensemble::simulate`] or [`Ensemble::simulate_into`].
pub struct Ensemble<'e> {
    model: &'e Model,
    design: &'e Design,
    outputs: &'e [Output],
    session: Option<&'e Session>,
    fixed: Settings,
    threads: usize,
    first: usize,
    cancel: Cancel,
    configure: Configure<'e>,
    compiled: Mutex<BTreeMap<Settings, Arc<OnceLock<Compiled>>>>,
}

/// A model for other equations, or why there is none.
type Compiled = Result<Model, Box<Diagnostic>>;

impl fmt::Debug for Ensemble<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ensemble")
            .field("design", &self.design)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// Runs with the values of a design, of which single numbers are kept.
    ///
    /// ```
    /// use saltus::ensemble::{Design, Factor, Output};
    ///
    /// let session = saltus::Session::new();
    /// session.add_text("Decay.mo", "
    ///     model Decay
    ///       parameter Real k = 2;
    ///       Real x(start = 1, fixed = true);
    ///     equation
    ///       der(x) = -k*x;
    ///     end Decay;
    /// ");
    /// let model = session.compile("Decay").into_result().unwrap();
    /// let design = Design::grid(vec![Factor::parse("k=1:3:1").unwrap()]).unwrap();
    /// let outputs = Output::parse_list("x,mean(x)").unwrap();
    /// let rows = model.ensemble(&design, &outputs).simulate().unwrap();
    /// let ends: Vec<f64> = rows.iter().map(|row| row.outcome.as_ref().unwrap()[0]).collect();
    /// assert!((ends[2] - (-3.0_f64).exp()).abs() < 1e-5);
    /// ```
    pub fn ensemble<'e>(&'e self, design: &'e Design, outputs: &'e [Output]) -> Ensemble<'e> {
        Ensemble {
            model: self,
            design,
            outputs,
            session: None,
            fixed: Vec::new(),
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            first: 0,
            cancel: Cancel::new(),
            configure: Box::new(|run| run),
            compiled: Mutex::default(),
        }
    }
}

impl<'e> Ensemble<'e> {
    /// Values that shape the equations are allowed: the class is compiled again from this session for each of them.
    #[must_use]
    pub fn compile_in(mut self, session: &'e Session) -> Self {
        self.session = Some(session);
        self
    }

    /// A value that a parameter has in all runs.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.fixed.push((name.to_owned(), value.to_owned()));
        self
    }

    /// How many runs go on at the same time; all processors if not said. The results are the same.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Leaves out the runs before this one, as when they have been made before.
    #[must_use]
    pub fn first(mut self, run: usize) -> Self {
        self.first = run;
        self
    }

    /// Stops when asked to; runs that have not ended then are left out.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// What is common to all runs: times, tolerance, solver.
    #[must_use]
    pub fn configure(mut self, configure: impl for<'r> Fn(Run<'r>) -> Run<'r> + Sync + 'e) -> Self {
        self.configure = Box::new(configure);
        self
    }

    /// Runs everything and keeps the rows, in the order of the design.
    pub fn simulate(self) -> Result<Vec<EnsembleRow>, Box<Diagnostic>> {
        let mut rows = Vec::new();
        self.simulate_into(|row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    /// Runs everything; rows are handed over in the order of the design, as soon as those before are there. What is wrong
    /// with names and values is said before the first run; a run that fails is a row like others.
    pub fn simulate_into(self, sink: impl FnMut(EnsembleRow) -> ControlFlow<()> + Send) -> Result<(), Box<Diagnostic>> {
        self.check()?;
        let next = AtomicUsize::new(self.first);
        let queue = Mutex::new(Queue {
            next: self.first,
            waiting: BTreeMap::new(),
            sink: Some(sink),
        });
        let work = || {
            while !self.cancel.is_cancelled() && lock(&queue).sink.is_some() {
                let run = next.fetch_add(1, Ordering::Relaxed);
                if run >= self.design.len() {
                    break;
                }
                let Some(outcome) = self.outcome(run) else { break };
                lock(&queue).add(EnsembleRow { run, outcome });
            }
        };
        let threads = self.threads.min(self.design.len().saturating_sub(self.first)).max(1);
        std::thread::scope(|scope| {
            let spawn = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            let spawned: Vec<_> = (0..threads).filter_map(|thread| spawn(thread).ok()).collect();
            if spawned.is_empty() {
                work();
            }
            for thread in spawned {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        Ok(())
    }

    /// The values of a run.
    fn settings(&self, run: usize) -> Settings {
        let point = self.design.names().iter().cloned().zip(self.design.point(run));
        self.fixed.iter().cloned().chain(point).collect()
    }

    /// What is wrong with names, values and outputs, found before hours are spent on runs. [`Ensemble::simulate`] begins
    /// with it.
    pub fn check(&self) -> Result<(), Box<Diagnostic>> {
        let twice = self.fixed.iter().find(|(name, _)| self.design.names().contains(name));
        if let Some((name, _)) = twice {
            return Err(design::refused(
                format!("`{name}` is both set and varied"),
                "do one of both",
            ));
        }
        self.outputs.iter().try_for_each(|output| output.check(self.model))?;
        let check = |name: &str, value: &str| match self.model.setting(name, value)? {
            Setting::Value(..) => Ok(()),
            _ if self.session.is_some() => Ok(()),
            _ => Err(self.shapes(name, value)),
        };
        self.fixed.iter().try_for_each(|(name, value)| check(name, value))?;
        self.design.try_each_value(check)
    }

    fn shapes(&self, name: &str, value: &str) -> Box<Diagnostic> {
        let message = format!("`{name} = {value}` shapes the equations: the model must be compiled with it");
        let diagnostic = Diagnostic::without_place(codes::E0614, Severity::Error, message);
        Box::new(diagnostic.with_help(if self.model.is_from_file {
            "a model file holds the equations for one value: sweep the Modelica file"
        } else {
            "use `Ensemble::compile_in`"
        }))
    }

    /// What a run yields; nothing if it was cancelled.
    fn outcome(&self, run: usize) -> Option<Result<Vec<f64>, Box<Diagnostic>>> {
        let settings = self.settings(run);
        let (other, rest) = match self.other_model(&settings) {
            Ok(found) => found,
            Err(diagnostic) => return Some(Err(diagnostic)),
        };
        let model = match other.as_deref().map(OnceLock::get) {
            None => self.model,
            Some(Some(Ok(model))) => model,
            Some(Some(Err(diagnostic))) => return Some(Err(diagnostic.clone())),
            Some(None) => return None,
        };
        // Warnings of single runs are not shown: what costs only for them is left out.
        let mut run = (self.configure)(model.run())
            .cancel(self.cancel.clone())
            .without_choices();
        for (name, value) in &rest {
            run = match run.set(name, value) {
                Ok(run) => run,
                Err(diagnostic) => return Some(Err(diagnostic)),
            };
        }
        let mut reducer = Reducer::new(self.outputs);
        let summary = run.simulate_into(&mut reducer);
        if matches!(summary.end(), Some(End::Cancelled)) {
            return None;
        }
        Some(match summary.output_diagnostic().or_else(|| summary.failure.clone()) {
            Some(diagnostic) => Err(Box::new(diagnostic)),
            None => Ok(reducer.values(&summary)),
        })
    }

    /// The model for values that shape the equations, if there are such, and the values that its runs have to set.
    #[allow(clippy::type_complexity)]
    fn other_model(&self, settings: &Settings) -> Result<(Option<Arc<OnceLock<Compiled>>>, Settings), Box<Diagnostic>> {
        let (mut shaping, mut rest) = (Settings::new(), Settings::new());
        let mut vanishes = false;
        for (name, value) in settings {
            let setting = self.model.setting(name, value)?;
            vanishes |= matches!(setting, Setting::Coefficient(_));
            let is_value = matches!(setting, Setting::Value(..));
            let part = if is_value { &mut rest } else { &mut shaping };
            part.push((name.clone(), value.clone()));
        }
        if vanishes {
            // What vanishes may depend on the other values too.
            shaping.clone_from(settings);
            rest.clear();
        }
        let Some((name, value)) = shaping.first() else {
            return Ok((None, rest));
        };
        let session = self.session.ok_or_else(|| self.shapes(name, value))?;
        let place = {
            let mut compiled = lock(&self.compiled);
            if compiled.len() >= MOST_MODELS && !compiled.contains_key(&shaping) {
                compiled.clear();
            }
            Arc::clone(compiled.entry(shaping.clone()).or_default())
        };
        place.get_or_init(|| {
            let outcome = session.compile_with(self.model.name(), &shaping).into_result();
            outcome.map(|(model, _)| model).map_err(first_error)
        });
        Ok((Some(place), rest))
    }
}

fn first_error(diagnostics: saltus_source::Diagnostics) -> Box<Diagnostic> {
    let error = diagnostics.into_iter().find(Diagnostic::is_error);
    let unknown = || Diagnostic::without_place(codes::E0614, Severity::Error, "the model cannot be compiled");
    Box::new(error.unwrap_or_else(unknown))
}

/// Rows that wait for those before them.
struct Queue<S> {
    next: usize,
    waiting: BTreeMap<usize, EnsembleRow>,
    /// Nothing once it wants no more.
    sink: Option<S>,
}

impl<S: FnMut(EnsembleRow) -> ControlFlow<()>> Queue<S> {
    fn add(&mut self, row: EnsembleRow) {
        self.waiting.insert(row.run, row);
        while let (Some(sink), Some(row)) = (&mut self.sink, self.waiting.remove(&self.next)) {
            self.next += 1;
            if sink(row).is_break() {
                self.sink = None;
            }
        }
    }
}

/// A panic elsewhere is passed on by its thread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
