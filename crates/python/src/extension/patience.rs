//! Work that may take long: other Python threads go on meanwhile, and an interruption is heard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use saltus::simulate::{Cancel, Observer};

use super::failure;

/// How often signals are looked at, and callers told of progress.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// Room for deeply nested classes, expressions and functions; reserved, not used.
const STACK: usize = 256 << 20;

/// Does work on a thread with a large stack. If Python is interrupted meanwhile, the work is left to itself.
pub(crate) fn aside<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    wait(py, work, |py| py.check_signals())
}

/// The same with something to do now and then, until that fails.
fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    mut now_and_then: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let guarded = move || {
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    };
    let thread = std::thread::Builder::new().name("saltus".into()).stack_size(STACK);
    if let Err(error) = thread.spawn(guarded) {
        return Err(failure::internal(py, &format!("cannot start a thread: {error}")));
    }
    let receiver = Mutex::new(receiver);
    loop {
        let received = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(PAUSE)
        });
        match received {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(panic)) => return Err(failure::panicked(py, &*panic)),
            Err(RecvTimeoutError::Timeout) => now_and_then(py)?,
            Err(RecvTimeoutError::Disconnected) => return Err(failure::internal(py, "a thread is gone")),
        }
    }
}

/// Does the work of a run that can be cancelled: here if the model is shallow, otherwise on a thread with a large stack. The
/// error is that of an interruption, or of a callback; what the work yields is there all the same.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    shallow: bool,
    watch: &Watch,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<(T, Option<PyErr>)> {
    let value = if shallow {
        let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
        done.map_err(|panic| failure::panicked(py, &*panic))?
    } else {
        let mut interrupted = false;
        wait(py, work, |py| {
            // Signals are heard by the main thread only, which is this one or none of the run's.
            if let Err(error) = py.check_signals() {
                if interrupted {
                    return Err(error);
                }
                interrupted = true;
                watch.stop(error);
            }
            Ok(())
        })?
    };
    Ok((value, watch.take()))
}

/// What goes on beside a run: interruptions, and a callback that is told how far it is.
#[derive(Clone)]
pub(crate) struct Watch {
    cancel: Cancel,
    error: std::sync::Arc<Mutex<Option<PyErr>>>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Watch {
            cancel: Cancel::new(),
            error: std::sync::Arc::default(),
        }
    }

    pub(crate) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Stops the run; the first error is kept.
    pub(crate) fn stop(&self, error: PyErr) {
        self.cancel.cancel();
        self.error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
    }

    fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// An observer that looks at signals and calls `progress(time)` now and then.
    pub(crate) fn observer(&self, progress: Option<Py<PyAny>>) -> Watcher {
        Watcher {
            watch: self.clone(),
            progress,
            last: Instant::now(),
        }
    }
}

/// Sits in a run.
pub(crate) struct Watcher {
    watch: Watch,
    progress: Option<Py<PyAny>>,
    last: Instant,
}

impl Watcher {
    fn look(&mut self, time: Option<f64>) {
        if self.last.elapsed() < PAUSE {
            return;
        }
        Python::attach(|py| {
            let mut went = py.check_signals();
            if let (Ok(()), Some(progress), Some(time)) = (&went, &self.progress, time) {
                went = progress.call1(py, (time,)).map(drop);
            }
            if let Err(error) = went {
                self.watch.stop(error);
            }
        });
        self.last = Instant::now();
    }
}

impl Observer for Watcher {
    fn progress(&mut self, time: f64) {
        self.look(Some(time));
    }

    fn event(&mut self, event: &saltus::simulate::EventReport) {
        self.look(Some(event.time));
    }
}
