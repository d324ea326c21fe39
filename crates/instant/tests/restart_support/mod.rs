//! Mode changes stated as text: parsed, built with the builder API, analysed and reported by name.
#![allow(dead_code)]

pub(crate) mod case;
pub(crate) mod laws;
pub(crate) mod parse;
pub(crate) mod report;

use std::collections::BTreeMap;

use serde_json::Value;

/// `x''` → ("x", 2)
pub(crate) fn split_primes(name: &str) -> (String, u16) {
    let base = name.trim_end_matches('\'');
    (base.to_string(), (name.len() - base.len()) as u16)
}

pub(crate) type Values = BTreeMap<String, f64>;
pub(crate) type Equations = BTreeMap<String, String>;

/// The cases of a reference file by their names.
pub(crate) fn reference_cases(file: &str) -> BTreeMap<String, Value> {
    named_cases(&saltus_testing::reference(file))
}

/// The cases of a text in this form by their names.
pub(crate) fn named_cases(text: &str) -> BTreeMap<String, Value> {
    let all: Value = serde_json::from_str(text).expect("valid JSON");
    all["cases"].as_object().unwrap().clone().into_iter().collect()
}
