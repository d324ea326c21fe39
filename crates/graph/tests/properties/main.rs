//! Every algorithm against brute force on small random graphs.

mod brute;
mod decomposition;
mod matching;
mod order;
mod scattered;
mod weighted;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Fixed seed: the same cases in every run.
pub fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x5A17),
        ..ProptestConfig::default()
    }
}

/// Rows as sets of columns below `columns`.
pub fn any_rows(columns: usize, rows: usize) -> impl Strategy<Value = Vec<u32>> {
    let sparse = (0u32..1 << columns, 0u32..1 << columns).prop_map(|(a, b)| a & b);
    let mask = prop_oneof![3 => sparse, 1 => 0u32..1 << columns];
    prop::collection::vec(mask, 0..=rows)
}
