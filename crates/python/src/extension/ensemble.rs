//! Many runs on the processors of this machine.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pyo3::prelude::*;
use saltus::ensemble::EnsembleRow;
use saltus::simulate::Cancel;

use super::design::{Design, Row, outputs};
use super::failure::{self, Class};
use super::model::{Model, Settings};
use super::options::RunOptions;
use super::patience::PAUSE;
use super::session::Session;

/// Rows that are handed over at once at most, so that no list grows without bound.
const MOST_ROWS: usize = 4096;

/// Makes the runs of a design from `first` on; `rows` is called with lists of what they yielded, in the order of the design.
/// An interruption, or an exception of `rows`, ends it.
pub(crate) fn run(py: Python<'_>, model: &Model, request: Request<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
    let outputs = outputs(py, &request.outputs)?;
    drop(request.options.checked(model.inner.run())?);
    let cancel = Cancel::new();
    let (sender, receiver) = channel();
    let work = {
        let (model, design) = (Arc::clone(&model.inner), Arc::clone(&request.design.inner));
        let session = request.session.map(|session| Arc::clone(&session.inner));
        let (options, cancel) = (request.options.clone(), cancel.clone());
        let (threads, first, settings) = (request.threads, request.first, request.settings);
        move || {
            let mut ensemble = model.ensemble(&design, &outputs).cancel(cancel).first(first);
            if let Some(session) = &session {
                ensemble = ensemble.compile_in(session);
            }
            if let Some(threads) = threads {
                ensemble = ensemble.threads(threads);
            }
            for (name, value) in &settings {
                ensemble = ensemble.set(name, value);
            }
            ensemble
                .configure(move |run| options.apply(run))
                .simulate_into(|row| match sender.send(row) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                })
        }
    };
    let thread = std::thread::Builder::new().name("saltus sweep".into());
    let thread = thread.spawn(move || catch_unwind(AssertUnwindSafe(work)));
    let thread = thread.map_err(|error| failure::internal(py, &format!("cannot start a thread: {error}")))?;
    let went = hand_over(py, receiver, rows);
    if went.is_err() {
        cancel.cancel();
    }
    // Runs look at the token at every step.
    let ended = py.detach(|| thread.join().and_then(|done| done));
    went?;
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(diagnostic)) => {
            let class = match diagnostic.code.as_str() {
                "E0704" => Class::Unknown,
                _ => Class::Request,
            };
            Err(failure::raise_one(py, class, &diagnostic))
        }
        Err(panic) => Err(failure::panicked(py, &*panic)),
    }
}

/// What is asked for.
pub(crate) struct Request<'a> {
    pub design: &'a Design,
    pub outputs: Vec<String>,
    pub options: &'a RunOptions,
    pub settings: Settings,
    /// Where classes are, for values that shape the equations.
    pub session: Option<&'a Session>,
    pub threads: Option<usize>,
    pub first: usize,
}

/// Passes rows on as they come, some at a time; looks at signals meanwhile.
fn hand_over(py: Python<'_>, receiver: Receiver<EnsembleRow>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
    let receiver = Mutex::new(receiver);
    loop {
        let (some, open) = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            collect(&receiver)
        });
        if !some.is_empty() {
            rows.call1((some,))?;
        }
        if !open {
            return Ok(());
        }
        py.check_signals()?;
    }
}

/// What comes within a pause, and whether more may come.
fn collect(receiver: &Receiver<EnsembleRow>) -> (Vec<Row>, bool) {
    let end = Instant::now() + PAUSE;
    let mut some = Vec::new();
    while some.len() < MOST_ROWS {
        match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(row) => some.push(plain(row)),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return (some, false),
        }
    }
    (some, true)
}

fn plain(row: EnsembleRow) -> Row {
    match row.outcome {
        Ok(values) => (row.run, values, None),
        Err(diagnostic) => {
            let told = (diagnostic.code.to_string(), diagnostic.message);
            (row.run, Vec::new(), Some(told))
        }
    }
}
