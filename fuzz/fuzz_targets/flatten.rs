//! Any text: an answer, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus::Session;

fuzz_target!(|text: &str| {
    let session = Session::new();
    session.add_text("input.mo", text);
    let Some(name) = session.find_model(None).value else {
        return;
    };
    if let Some(model) = session.flatten(&name).value {
        let _ = (model.to_string(), model.to_json());
    }
});
