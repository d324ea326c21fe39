//! Any bytes: no panic, nothing lost, errors inside the file, a typed tree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus_source::SourceMap;
use saltus_source::render::{TextOptions, to_text};

fuzz_target!(|bytes: &[u8]| {
    let sources = SourceMap::new();
    let id = sources.add_bytes("input.mo", bytes.to_vec());
    let file = sources.file(id).expect("the file just added");
    assert_eq!(file.decoded().to_bytes(), bytes);
    let parse = saltus_syntax::parse_file(&file);
    parse.tree.validate().expect("a valid tree");
    assert_eq!(parse.tree.to_string(), file.text());
    let _ = parse.ast();
    for diagnostic in &parse.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(file.text().get(start..end).is_some());
        }
        to_text(diagnostic, &sources, TextOptions::default());
    }
});
