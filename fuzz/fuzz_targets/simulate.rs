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
    if let Ok(model) = session.compile(&name).into_result() {
        let run = model.run().options(|options| {
            options.event_limit = 500;
            options.step_limit = 5_000;
            options.candidate_limit = 256;
        });
        let (start, _) = run.span();
        run.stop(start + 0.1).interval(0.05).simulate_into(&mut saltus::results::Discard);
    }
});
