//! Prints the lossless tree, the typed tree and the diagnostics of a file: a tool for working on the
//! parser.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use saltus_source::SourceMap;
use saltus_source::render::{TextOptions, all_to_text};

fn main() {
    let sources = SourceMap::new();
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("a readable file");
        let id = sources.add_bytes(path, bytes);
        let file = sources.file(id).expect("the file just added");
        let parse = saltus_syntax::parse_file(&file);
        println!("{:?}\n{:#?}", parse.tree, parse.ast());
        let options = TextOptions::default();
        print!("{}", all_to_text(&parse.diagnostics, &sources, options));
    }
}
