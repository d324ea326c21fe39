//! What is found out once, by whoever asks first, while others wait for it: some of them not for long.

use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::workers::{aside, guarded};

/// Something that may be known, or that somebody is finding out.
#[derive(Debug)]
pub(crate) struct Fact<T> {
    state: Mutex<State<T>>,
    found: Condvar,
}

#[derive(Debug)]
enum State<T> {
    Unasked,
    Underway,
    Known(Arc<T>),
    /// Finding out panicked, with these words: so does everyone who asks.
    Panicked(String),
}

impl<T> Default for Fact<T> {
    fn default() -> Self {
        Fact {
            state: Mutex::new(State::Unasked),
            found: Condvar::new(),
        }
    }
}

impl<T: Send + Sync + 'static> Fact<T> {
    /// What is known, without waiting.
    pub(crate) fn known(&self) -> Option<Arc<T>> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Known(known) => Some(Arc::clone(known)),
            _ => None,
        }
    }

    /// Finds it out, here unless somebody else is at it.
    pub(crate) fn get(&self, find: impl FnOnce() -> T) -> Arc<T> {
        if self.begin() {
            self.end(guarded(find));
        }
        loop {
            if let Some(known) = self.wait(Duration::from_secs(3600)) {
                return known;
            }
        }
    }

    /// Has it found out aside and waits so long; `None` if that was not enough.
    pub(crate) fn soon(
        self: &Arc<Self>,
        patience: Duration,
        find: impl FnOnce() -> T + Send + 'static,
    ) -> Option<Arc<T>> {
        if self.begin() {
            let fact = Arc::clone(self);
            aside("facts", move || fact.end(guarded(find)));
        }
        self.wait(patience)
    }

    /// Whether it is the caller who finds it out.
    fn begin(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = matches!(*state, State::Unasked);
        if is_first {
            *state = State::Underway;
        }
        is_first
    }

    fn end(&self, found: Result<T, String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = match found {
            Ok(known) => State::Known(Arc::new(known)),
            Err(panic) => State::Panicked(panic),
        };
        self.found.notify_all();
    }

    fn wait(&self, patience: Duration) -> Option<Arc<T>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Where there are no threads there is no waiting either.
        if matches!(*state, State::Underway) {
            let is_underway = |state: &mut State<T>| matches!(state, State::Underway);
            let waited = self.found.wait_timeout_while(state, patience, is_underway);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        match &*state {
            State::Known(known) => Some(Arc::clone(known)),
            State::Panicked(panic) => {
                let panic = panic.clone();
                drop(state);
                resume_unwind(Box::new(panic))
            }
            State::Unasked | State::Underway => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn found_once_and_kept() {
        let fact: Fact<u32> = Fact::default();
        assert!(fact.known().is_none());
        assert_eq!(*fact.get(|| 1), 1);
        assert_eq!(*fact.get(|| 2), 1);
        assert_eq!(fact.known().as_deref(), Some(&1));
    }

    #[test]
    fn nobody_waits_longer_than_he_likes() {
        let fact: Arc<Fact<u32>> = Arc::default();
        let (go, gone) = channel::<()>();
        let find = move || {
            gone.recv().expect("told");
            7
        };
        assert!(fact.soon(Duration::from_millis(1), find).is_none());
        assert!(fact.soon(Duration::ZERO, || 8).is_none(), "the first is at it");
        go.send(()).expect("heard");
        assert_eq!(fact.soon(LONG, || 9).as_deref(), Some(&7));
    }

    #[test]
    fn a_panic_is_everybodys() {
        let fact: Arc<Fact<u32>> = Arc::default();
        for _ in 0..2 {
            let asked = Arc::clone(&fact);
            let said = guarded(move || asked.soon(LONG, || panic!("as asked")));
            assert_eq!(said.map(|_| ()), Err("as asked".to_owned()));
        }
        assert!(fact.known().is_none());
    }
}
