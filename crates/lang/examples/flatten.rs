//! Flattens a class: `flatten [-L DIR]… [FILE]… CLASS`, prints it as flat Modelica.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::path::PathBuf;
use std::sync::Arc;

use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(class) = arguments.pop() else {
        eprintln!("usage: flatten [-L DIR]... [FILE]... CLASS");
        std::process::exit(2);
    };
    let mut path = Vec::new();
    let mut files = Vec::new();
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-L" => path.extend(rest.next().map(PathBuf::from)),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    let sources = Arc::new(SourceMap::new());
    let library = Library::new(Arc::new(Disk), Arc::clone(&sources), path);
    for file in files {
        library.add(&file);
    }
    let started = std::time::Instant::now();
    let flattened = saltus_lang::flatten(&library, &class, &saltus_lang::FlattenOptions::default());
    let elapsed = started.elapsed();
    for diagnostic in &flattened.diagnostics {
        let place = diagnostic.span().and_then(|span| {
            let file = sources.file(span.file)?;
            let at = file.line_column(span.start);
            Some(format!("{}:{}:{}", file.name(), at.line, at.column))
        });
        let place = place.unwrap_or_default();
        eprintln!(
            "{place}: {} {}: {}",
            diagnostic.severity.as_str(),
            diagnostic.code,
            diagnostic.message
        );
        for label in &diagnostic.secondary {
            let at = sources
                .file(label.span.file)
                .map(|f| (f.name().to_owned(), f.line_column(label.span.start)));
            if let Some((name, at)) = at {
                eprintln!("    {name}:{}: {}", at.line, label.message);
            }
        }
        for note in diagnostic.notes.iter().chain(&diagnostic.help) {
            eprintln!("    {note}");
        }
    }
    if let Some(model) = flattened.model {
        println!("{model}");
        let counts = model.counts();
        eprintln!("{counts:?} in {elapsed:?}");
    }
}
