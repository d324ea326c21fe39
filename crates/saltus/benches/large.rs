//! What large models cost for each unknown, from the text to the end of a short run: time and bytes, by their size.
//!
//! `cargo bench -p saltus --bench large [-- NUMBER…]`: numbers of unknowns.

#![allow(clippy::print_stdout, reason = "what a program for the command line is for")]

use std::time::Instant;

use saltus::results::Discard;
use saltus::{Model, Session};
use saltus_testing::CountedBytes;

#[global_allocator]
static BYTES: CountedBytes = CountedBytes::new();

const SIZES: [usize; 3] = [1_600, 6_400, 25_600];

/// The text of a model with so many unknowns.
type Text = fn(usize) -> String;

/// A ladder of resistors and capacitors: half of the unknowns are states.
fn ladder(unknowns: usize) -> String {
    let count = unknowns / 2;
    format!(
        "model Ladder Real v[{count}](each start = 0, each fixed = true); Real i[{count}]; equation
  i[1] = 1 - v[1];
  for k in 2:{count} loop i[k] = v[k - 1] - v[k]; end for;
  for k in 1:{count} - 1 loop der(v[k]) = i[k] - i[k + 1]; end for;
  der(v[{count}]) = i[{count}];
  annotation(experiment(StopTime = 10));
end Ladder;"
    )
}

/// Heat on a square plate, one edge of which is warm.
fn plate(unknowns: usize) -> String {
    let side = (unknowns as f64).sqrt() as usize;
    format!(
        "model Plate parameter Integer n = {side}; Real T[n, n](each start = 0, each fixed = true); equation
  for i in 1:n loop for j in 1:n loop
    der(T[i, j]) = n^2*((if i > 1 then T[i - 1, j] else 1) + (if i < n then T[i + 1, j] else 0)
      + (if j > 1 then T[i, j - 1] else 0) + (if j < n then T[i, j + 1] else 0) - 4*T[i, j]);
  end for; end for;
  annotation(experiment(StopTime = 0.1));
end Plate;"
    )
}

/// States of which each is alone.
fn apart(unknowns: usize) -> String {
    format!(
        "model Apart Real x[{unknowns}](start = 1:{unknowns}, each fixed = true); equation
  for k in 1:{unknowns} loop der(x[k]) = -x[k]; end for;
  annotation(experiment(StopTime = 1));
end Apart;"
    )
}

fn compiled(text: &str) -> Model {
    let session = Session::new();
    session.add_text("Large.mo", text);
    let model = session.find_model(None).into_result().expect("a model");
    session.compile(&model).into_result().expect("a model")
}

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if given.is_empty() { &SIZES[..] } else { &given };
    let models: [(&str, Text); 3] = [("ladder", ladder), ("plate", plate), ("apart", apart)];
    println!(
        "{:8} {:>9} {:>12} {:>12} {:>10}",
        "model", "unknowns", "compile", "run", "bytes"
    );
    for (name, text) in models {
        let mut first = None;
        for &size in sizes {
            let text = text(size);
            let ((compile, run), bytes) = BYTES.most_during(|| {
                let start = Instant::now();
                let model = compiled(&text);
                let compile = start.elapsed().as_secs_f64();
                let summary = model.run().simulate_into(&mut Discard);
                assert!(summary.failure.is_none(), "{:?}", summary.failure);
                (compile, start.elapsed().as_secs_f64() - compile)
            });
            let cost = (compile + run) / size as f64;
            let (least, least_cost) = *first.get_or_insert((size, cost));
            println!(
                "{name:8} {size:>9} {:>9.1} µs {:>9.1} µs {:>10.0}   {:.2} times that of {least}",
                1e6 * compile / size as f64,
                1e6 * run / size as f64,
                bytes as f64 / size as f64,
                cost / least_cost,
            );
        }
    }
}
