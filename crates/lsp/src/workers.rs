//! Threads that do what the loop must not wait for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, unbounded};

/// Recursion over text is limited in levels, not in bytes. The memory is reserved, not used.
const STACK: usize = 256 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that take jobs from one queue, in order. A job that panics is over, its thread goes on. The threads end with the
/// queue, behind the job that they are at.
#[derive(Debug)]
pub(crate) struct Workers {
    queue: Sender<Job>,
    threads: usize,
}

impl Workers {
    /// Starts threads; where there are none to be had, jobs run at once where they are ordered.
    pub(crate) fn new(name: &str, count: usize) -> Workers {
        let (queue, jobs): (Sender<Job>, Receiver<Job>) = unbounded();
        let start = |number: usize| {
            let jobs = jobs.clone();
            let thread = std::thread::Builder::new()
                .name(format!("{name} {number}"))
                .stack_size(STACK);
            thread.spawn(move || jobs.iter().for_each(run)).is_ok()
        };
        Workers {
            threads: (0..count).filter(|&number| start(number)).count(),
            queue,
        }
    }

    /// Orders a job.
    pub(crate) fn order(&self, job: impl FnOnce() + Send + 'static) {
        match self.threads {
            0 => run(Box::new(job)),
            // The queue is open as long as there are threads.
            _ => drop(self.queue.send(Box::new(job))),
        }
    }
}

/// Does something on a thread of its own; at once where there is none to be had.
pub(crate) fn aside(name: &str, work: impl FnOnce() + Send + 'static) {
    // Whoever comes first takes it: a thread that does not start takes what it was given with it.
    let work: Arc<Mutex<Option<Job>>> = Arc::new(Mutex::new(Some(Box::new(work))));
    let take = |work: &Mutex<Option<Job>>| work.lock().unwrap_or_else(|e| e.into_inner()).take();
    let handed = Arc::clone(&work);
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    let started = thread.spawn(move || take(&handed).into_iter().for_each(run));
    if started.is_err() {
        take(&work).into_iter().for_each(run);
    }
}

fn run(job: Job) {
    // What it was for has an answer of its own: see `guarded`.
    let _ = catch_unwind(AssertUnwindSafe(job));
}

/// The result of some work, or what it said when it panicked.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        text.unwrap_or_else(|| "no message".to_owned())
    })
}
