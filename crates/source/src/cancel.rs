//! Asking long work to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a run, a check or an analysis to stop; can be shared between threads. What is computed until then is of no use to who asked, so
/// results never depend on when it was.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Work that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }
    /// Asks the work to stop after its current step.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether that was asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
