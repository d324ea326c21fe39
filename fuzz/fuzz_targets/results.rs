//! Any bytes as a result file: an error or a result, never a panic.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use saltus_results::{read_csv, read_event_log, read_mat};

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("input");
    let _ = read_csv(bytes, path, None);
    let _ = read_mat(bytes, path);
    let _ = read_event_log(bytes, path);
});
