//! Mode changes stated as text: parsed, built with the builder API, analysed and reported by name.
#![allow(dead_code)]

pub(crate) mod case;
pub(crate) mod laws;
pub(crate) mod parse;
pub(crate) mod report;

use std::collections::BTreeMap;

/// A small deterministic generator.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.below(1 << 30) as f64 / (1u64 << 30) as f64
    }
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

/// `x''` → ("x", 2)
pub(crate) fn split_primes(name: &str) -> (String, u16) {
    let base = name.trim_end_matches('\'');
    (base.to_string(), (name.len() - base.len()) as u16)
}

pub(crate) type Values = BTreeMap<String, f64>;
pub(crate) type Equations = BTreeMap<String, String>;
