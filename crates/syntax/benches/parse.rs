//! Speed of parsing on one core: MB/s from text to the lossless tree and to the typed tree, and how
//! the time grows with the size of a file. With `SALTUS_MSL` set, the Modelica Standard Library is
//! parsed; otherwise a synthetic file.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use saltus_source::FileId;
use saltus_syntax::parse;
use saltus_testing::modelica_files;

fn main() {
    // `cargo test --benches` runs this too; it is not a test.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let texts = match std::env::var_os("SALTUS_MSL") {
        Some(folder) => read_all(Path::new(&folder)),
        None => vec![synthetic(4000)],
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} files, {:.2} MB", texts.len(), bytes as f64 / 1e6);
    report("text -> lossless tree", bytes, || {
        texts.iter().map(|text| parse(FileId(0), text).tree.node_count()).sum()
    });
    report("text -> typed tree", bytes, || {
        texts
            .iter()
            .map(|text| parse(FileId(0), text).ast().classes.len())
            .sum()
    });
    growth("correct text", synthetic);
    growth("a million parentheses", |size| {
        "model M Real x = ".to_owned() + &"(".repeat(size * 250)
    });
    growth("unclosed strings", |size| "\\\"\n".repeat(size * 80));
    growth("unclosed brackets", |size| {
        "model M Real x = ".to_owned() + &"(1 ".repeat(size * 80)
    });
    growth("operators", |size| {
        "model M Real x = a".to_owned() + &" + a".repeat(size * 60)
    });
    growth("wrong elements", |size| {
        "model M ".to_owned() + &"Real ( x = 1; end if; ".repeat(size * 10)
    });
}

/// The shortest of five runs.
fn shortest(mut run: impl FnMut() -> usize) -> Duration {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed()
    };
    (0..5).map(time).min().unwrap_or_default()
}

fn report(what: &str, bytes: usize, run: impl FnMut() -> usize) {
    let seconds = shortest(run).as_secs_f64();
    println!(
        "{what:24} {:8.1} ms {:8.1} MB/s",
        seconds * 1e3,
        bytes as f64 / 1e6 / seconds
    );
}

/// Exponent of the growth of time with size between a small and a large text: 1 is linear.
fn growth(what: &str, make: impl Fn(usize) -> String) {
    // Both larger than the caches, or the effect of these would be measured.
    let (small, large) = (make(4000), make(16_000));
    let time = |text: &str| shortest(|| parse(FileId(0), text).tree.node_count()).as_secs_f64();
    let (fast, slow) = (time(&small), time(&large));
    let slope = (slow / fast).ln() / (large.len() as f64 / small.len() as f64).ln();
    println!(
        "growth: {what:24} {:8.2} MB in {:7.1} ms, exponent {slope:.2}",
        large.len() as f64 / 1e6,
        slow * 1e3
    );
}

fn synthetic(classes: usize) -> String {
    let class = |i: usize| {
        format!(
            "model M{i} \"a model\"\n  parameter Real a(min = 0) = {i}.5 \"gain\";\n  Real x[3](each start = 1);\n\
             equation\n  for i in 1:3 loop\n    der(x[i]) = -a*(x[i] - sin(time)^2) + (if x[1] > 2 then 1 else 0);\n  \
             end for;\n  when x[1] > 1 then\n    reinit(x[2], 0);\n  end when;\nend M{i};\n\n"
        )
    };
    (0..classes).map(class).collect()
}

fn read_all(folder: &Path) -> Vec<String> {
    let texts = modelica_files(folder).into_iter().map(std::fs::read_to_string);
    texts.filter_map(Result::ok).collect()
}
