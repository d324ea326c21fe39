//! How fast results are written, read and drawn, relative to copying the same numbers.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::io::Cursor;
use std::path::Path;
use std::time::Instant;

use saltus_results::figure::{FigureOptions, figure};
use saltus_results::*;

const ROWS: usize = 50_000;
const COLUMNS: usize = 20;

fn rows(sink: &mut dyn ResultSink, schema: &Schema) {
    sink.begin(schema, &Manifest::default()).unwrap();
    let mut values = [0.0; COLUMNS];
    for row in 0..ROWS {
        let t = row as f64 * 1e-3;
        for (column, value) in values.iter_mut().enumerate() {
            *value = (t + column as f64).sin();
        }
        sink.row(t, RowKind::Regular, 0, &values).unwrap();
    }
    sink.finish(&Summary::default()).unwrap();
}

fn timed<T>(act: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = act();
    (start.elapsed().as_secs_f64(), result)
}

fn main() {
    let schema = Schema::new((0..COLUMNS).map(|k| Signal::new(format!("x[{k}]"))).collect()).unwrap();
    let mut trajectory = Trajectory::new();
    let (base, ()) = timed(|| rows(&mut Discard, &schema));
    let (memory, ()) = timed(|| rows(&mut trajectory, &schema));
    let mut csv = Vec::new();
    let (csv_write, ()) = timed(|| rows(&mut CsvWriter::new(&mut csv, "b.csv"), &schema));
    let mut mat = Cursor::new(Vec::new());
    let (mat_write, ()) = timed(|| rows(&mut MatWriter::new(&mut mat, "b.mat"), &schema));
    let (csv_read, read) = timed(|| read_csv(&csv[..], Path::new("b.csv"), None).unwrap());
    assert_eq!(read.rows(), ROWS);
    let (mat_read, read) = timed(|| read_mat(&mat.get_ref()[..], Path::new("b.mat")).unwrap());
    assert_eq!(read.rows(), ROWS);
    let (draw, svg) = timed(|| figure(&trajectory, &FigureOptions::default()).unwrap().to_svg());
    let (judge, report) = timed(|| compare(&trajectory, &read, &Tolerances::default()));
    assert!(report.passed());
    let per_value = |seconds: f64| seconds * 1e9 / (ROWS * COLUMNS) as f64;
    println!(
        "{ROWS} rows of {COLUMNS} values; ns per value (computing the values themselves: {:.1})",
        per_value(base)
    );
    for (name, seconds) in [
        ("kept in memory", memory - base),
        ("CSV written", csv_write - base),
        ("MAT written", mat_write - base),
        ("CSV read", csv_read),
        ("MAT read", mat_read),
        ("drawn", draw),
        ("compared", judge),
    ] {
        println!("{name:>16}: {:7.1}", per_value(seconds));
    }
    println!("{:>16}: {:7.1} kB", "picture", svg.len() as f64 / 1e3);
}
