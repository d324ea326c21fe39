//! Counts what flattens: `conformance msl CSV [PATTERN]` with SALTUS_MSL, the folder of the library. Prints one line
//! per model and a table at the end.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_lang::{FlattenOptions, flatten};
use saltus_source::{Diagnostic, SourceMap, codes};
use saltus_syntax::library::{Disk, Library};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("msl") => msl(&arguments[1..]),
        _ => eprintln!("usage: conformance msl CSV [PATTERN]"),
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        println!("{variable} is not set: nothing to do");
    }
    found
}

/// The first error in words.
fn reason(library: &Library, flattened: &saltus_lang::Flattened) -> String {
    let error = flattened.diagnostics.iter().find(|d| d.is_error());
    error.map(|error| in_words(library, error)).unwrap_or_default()
}

fn in_words(library: &Library, error: &Diagnostic) -> String {
    let place = error.span().and_then(|span| {
        let file = library.sources().file(span.file)?;
        let name = Path::new(file.name()).file_name()?.to_string_lossy().into_owned();
        Some(format!("{name}:{}", file.line_column(span.start).line))
    });
    format!(
        "{} {} ({})",
        error.code,
        error.message.replace('\n', " "),
        place.unwrap_or_default()
    )
}

fn msl(arguments: &[String]) {
    let (Some(root), Some(csv)) = (folder("SALTUS_MSL"), arguments.first()) else {
        return;
    };
    let pattern = arguments.get(1).map_or("", String::as_str);
    let text = std::fs::read_to_string(csv).expect("the table of models");
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), vec![root]);
    let mut table: BTreeMap<(String, String), [usize; 4]> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (model, tier, expected) = (fields[0], fields[2], fields[3]);
        let by_tier = pattern.len() == 1 && tier != pattern;
        if by_tier || pattern.len() > 1 && !model.contains(pattern) {
            continue;
        }
        let started = std::time::Instant::now();
        let flattened = flatten(&library, model, &FlattenOptions::default());
        let seconds = started.elapsed().as_secs_f64();
        let root = model.split('.').next().unwrap_or("").to_owned();
        let row = table.entry((tier.to_owned(), root)).or_default();
        row[0] += 1;
        match &flattened.model {
            Some(flat) => {
                row[1] += 1;
                let unknowns = flat.counts().unknowns;
                row[2] += usize::from(unknowns.to_string() == expected);
                println!("ok   {tier} {model} {unknowns} ({expected}) {seconds:.2}s");
                let told = [codes::W0204, codes::W0208, codes::W0211];
                for alarm in flattened.diagnostics.iter().filter(|d| told.contains(&d.code)) {
                    println!("said {}", in_words(&library, alarm));
                    row[3] += 1;
                }
            }
            None => println!("FAIL {tier} {model} {seconds:.2}s: {}", reason(&library, &flattened)),
        }
    }
    println!("tier library    models  flatten  same unknowns  units, branches");
    for ((tier, root), [all, ok, same, units]) in table {
        println!("{tier:4} {root:12} {all:5} {ok:8} {same:10} {units:10}");
    }
}
