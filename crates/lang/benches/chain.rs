//! Flattening is linear in the number of components: chains of 10 to 100,000 segments.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::sync::Arc;
use std::time::Instant;

use saltus_lang::{FlattenOptions, flatten};
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};

const CHAIN: &str = "
connector Pin
  Real v;
  flow Real i;
end Pin;

model Segment
  Pin a;
  Pin b;
  parameter Real R = 1;
  parameter Real C = 0.1;
  Real u(start = 0, fixed = true);
equation
  a.v - u = R*a.i;
  b.v = u;
  C*der(u) = a.i + b.i;
end Segment;

model Chain
  parameter Integer n = 10;
  Segment s[n](each R = 2, C = {0.1*i for i in 1:n});
equation
  for i in 1:n-1 loop
    connect(s[i].b, s[i + 1].a);
  end for;
end Chain;
";

fn main() {
    println!(
        "{:>8} {:>10} {:>10} {:>14}",
        "segments", "unknowns", "seconds", "µs per segment"
    );
    for n in [10, 100, 1_000, 10_000, 100_000] {
        let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
        library.add_text("chain.mo", CHAIN);
        library.add_text("model.mo", &format!("model M\n  extends Chain(n = {n});\nend M;\n"));
        let started = Instant::now();
        let flattened = flatten(&library, "M", &FlattenOptions::default());
        let seconds = started.elapsed().as_secs_f64();
        let unknowns = flattened.model.map_or(0, |model| model.counts().unknowns);
        println!(
            "{n:>8} {unknowns:>10} {seconds:>10.4} {:>14.2}",
            seconds / f64::from(n) * 1e6
        );
    }
}
