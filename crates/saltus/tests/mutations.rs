//! Models of the repository with a few words changed: an answer, never a panic. `cargo run --example mutations` goes on for
//! as long as it is asked to.

mod mutation_support;

use mutation_support::{models, mutated, try_text};
use saltus::simulate::Cancel;
use saltus_testing::Random;

#[test]
fn changed_models_are_answered() {
    let work = || {
        let mut random = Random(1);
        let models = models();
        // The smaller half: a run of a mutant takes as long as one of its original.
        let models = &models[..models.len() / 2];
        for _ in 0..60 {
            let (path, text) = &models[random.below(models.len())];
            let (_, other) = &models[random.below(models.len())];
            let mutant = mutated(text, other, &mut random);
            let tried = try_text(&mutant, &Cancel::new());
            assert!(
                tried.outcome.is_ok(),
                "{} after {:?}: {:?}\n{mutant}",
                path.display(),
                tried.time,
                tried.outcome
            );
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}
