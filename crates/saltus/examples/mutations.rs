//! A campaign against the whole pipeline: models of the repository with a few words changed are checked and run with small
//! budgets. `cargo run --release --example mutations -- SEED COUNT FOLDER` writes what panics or takes long into FOLDER and
//! prints the figures.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

#[path = "../tests/mutation_support/mod.rs"]
mod mutation_support;

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use mutation_support::{Outcome, models, mutated, try_text};
use saltus::simulate::Cancel;
use saltus_testing::Random;

/// A run that takes longer is written down; one that does not end when it is cancelled ends the campaign.
const SLOW: Duration = Duration::from_secs(10);
const HANGS: Duration = Duration::from_secs(120);

#[derive(Debug, Default)]
struct Figures {
    runs: u64,
    refused: u64,
    failed: u64,
    completed: u64,
    panics: u64,
    slow: u64,
    longest: Duration,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seed: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "mutants".to_owned()));
    std::fs::create_dir_all(&folder).expect("a folder for findings");
    std::panic::set_hook(Box::new(|_| {}));
    let models = models();
    let mut random = Random(seed);
    let mut figures = Figures::default();
    for number in 0..count {
        // Small models are tried more often: they say more in the same time.
        let choice = random.below(models.len()).min(random.below(models.len()));
        let (_, text) = &models[choice];
        let (_, other) = &models[random.below(models.len())];
        let mutant = mutated(text, other, &mut random);
        let keep = |what: &str| std::fs::write(folder.join(format!("{what}-{seed}-{number}.mo")), &mutant);
        let (sender, receiver) = channel();
        let cancel = Cancel::new();
        let (token, work) = (cancel.clone(), mutant.clone());
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        let thread = thread.spawn(move || {
            let _ = sender.send(try_text(&work, &token));
        });
        thread.expect("a thread");
        let mut waited = receiver.recv_timeout(SLOW);
        if matches!(waited, Err(RecvTimeoutError::Timeout)) {
            let _ = keep("slow");
            figures.slow += 1;
            cancel.cancel();
            waited = receiver.recv_timeout(HANGS);
        }
        figures.runs += 1;
        let Ok(tried) = waited else {
            let _ = keep("hang");
            println!("{figures:?}: run {number} does not end");
            std::process::exit(1);
        };
        figures.longest = figures.longest.max(tried.time);
        match tried.outcome {
            Ok(Outcome::Refused) => figures.refused += 1,
            Ok(Outcome::Failed) => figures.failed += 1,
            Ok(Outcome::Completed) => figures.completed += 1,
            Err(message) => {
                let _ = keep("panic");
                println!("run {number}: {message}");
                figures.panics += 1;
            }
        }
        if figures.runs % 1000 == 0 {
            println!("{figures:?}");
        }
    }
    println!("{figures:?}");
}
