//! How long something takes. Only for reports: nothing is decided by it.

use std::time::Duration;

/// Begins when it is made. Where there is no clock (in a browser's WebAssembly without help from outside) no time passes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    begin: std::time::Instant,
}

impl Stopwatch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Stopwatch {
            #[cfg(not(target_family = "wasm"))]
            begin: std::time::Instant::now(),
        }
    }

    /// The time since.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        #[cfg(not(target_family = "wasm"))]
        return self.begin.elapsed();
        #[cfg(target_family = "wasm")]
        return Duration::ZERO;
    }
}
