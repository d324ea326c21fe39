//! Panics are bugs, and they are caught here: what was written stays readable, and the user is asked for a report.

#![allow(clippy::print_stderr, reason = "the console is gone when a panic is reported")]

use std::backtrace::{Backtrace, BacktraceStatus};
use std::ffi::OsString;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

use crate::status::Status;

/// Recursion over user input is depth-limited, but the limits are counts of levels, not bytes: a level of a debug
/// build is large. The memory is reserved, not used.
const STACK: usize = 256 << 20;

/// What the panic said, and where; the hook runs before unwinding closes result files.
static REPORT: Mutex<Option<String>> = Mutex::new(None);

/// Runs the pipeline on a thread with a large stack; a panic becomes [`Status::Internal`].
pub(crate) fn guarded(command_line: &[OsString], work: impl FnOnce() -> Status + Send + 'static) -> Status {
    std::panic::set_hook(Box::new(remember));
    let thread = std::thread::Builder::new().name("saltus".into()).stack_size(STACK);
    match thread.spawn(work).map(std::thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        Ok(Err(_)) => {
            ask_for_a_report(command_line);
            Status::Internal
        }
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            Status::Internal
        }
    }
}

fn remember(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    let place = info.location().map(|l| format!(" ({l})")).unwrap_or_default();
    let mut report = REPORT.lock().unwrap_or_else(PoisonError::into_inner);
    // The first panic is the cause; later ones are its consequences in other threads. The way there is kept if
    // RUST_BACKTRACE asks for it.
    let backtrace = Backtrace::capture();
    let way = match backtrace.status() {
        BacktraceStatus::Captured => format!("\n{backtrace}"),
        _ => String::new(),
    };
    report.get_or_insert(format!("{message}{place}{way}"));
}

fn ask_for_a_report(command_line: &[OsString]) {
    let report = REPORT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let report = report.unwrap_or_else(|| "no message".to_owned());
    let arguments = command_line.iter().skip(1);
    let arguments: Vec<String> = arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    eprintln!("internal error: {report}");
    eprintln!("This is a bug in Saltus, not in your model. Results written so far are kept.");
    eprintln!("Please report it with the model and these lines:");
    eprintln!("  saltus {} {}", env!("CARGO_PKG_VERSION"), arguments.join(" "));
    eprintln!("  {report}");
}
