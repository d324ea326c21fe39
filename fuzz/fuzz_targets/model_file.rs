//! Any bytes as the content of a model file, with a header that is right: an error or a model that runs, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus::Model;
use sha2::{Digest, Sha256};

fuzz_target!(|content: &[u8]| {
    let _ = Model::from_bytes(content);
    let compressed = miniz_oxide::deflate::compress_to_vec(content, 1);
    let mut bytes = b"SALTUS\0\x01\0\0\0".to_vec();
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&Sha256::digest(&compressed));
    bytes.extend_from_slice(&compressed);
    let Ok(model) = Model::from_bytes(&bytes) else { return };
    let run = model.run().options(|options| {
        options.event_limit = 50;
        options.step_limit = 500;
        options.candidate_limit = 64;
    });
    let (start, _) = run.span();
    run.stop(start + 0.01).interval(0.01).simulate_into(&mut saltus::results::Discard);
});
