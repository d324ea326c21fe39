//! Processor time of this thread: unlike wall-clock time it does not count what other programs do meanwhile.
#![allow(unsafe_code)]

/// Seconds since some moment.
#[cfg(target_os = "linux")]
pub(crate) fn seconds() -> f64 {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const THREAD_CPU_TIME: i32 = 3;
    let mut time = Time {
        seconds: 0,
        nanoseconds: 0,
    };
    // The layout is that of `timespec` on 64-bit Linux; the clock exists there.
    unsafe { clock_gettime(THREAD_CPU_TIME, &mut time) };
    time.seconds as f64 + 1e-9 * time.nanoseconds as f64
}

/// Seconds since the first call.
#[cfg(not(target_os = "linux"))]
pub fn seconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64()
}
