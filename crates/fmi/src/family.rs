//! Models of several sizes in one unit: which there are, where they are kept, and what importers know of all of them.
//!
//! Sizes shape equations. So a unit whose importers may choose a size holds the model for every value of the range that it was
//! exported with; importers choose in Configuration Mode.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::interface::{Interface, SizeParameter};

/// So many models are the most in one unit.
pub const MOST_MODELS: usize = 1000;

/// All values of some parameters together; an error if they are too many, or not sizes.
pub fn choices(parameters: &[SizeParameter]) -> Result<Vec<Vec<u64>>, String> {
    let mut all = vec![Vec::new()];
    for SizeParameter { name, min, max } in parameters {
        if *min == 0 || min > max {
            return Err(format!(
                "the sizes of `{name}` go from {min} to {max}: they begin at 1 or later and end there or later"
            ));
        }
        let most = MOST_MODELS as u64 / all.len() as u64;
        if max - min >= most {
            return Err(format!(
                "a unit holds a model for each choice of sizes, and no more than {MOST_MODELS} of them"
            ));
        }
        let longer = |values: &Vec<u64>, value: u64| [values.as_slice(), &[value]].concat();
        all = all
            .iter()
            .flat_map(|values| (*min..=*max).map(move |value| longer(values, value)))
            .collect();
    }
    Ok(all)
}

/// The models of a unit, by the values of the parameters that give sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// What importers know of all of them.
    pub interface: Interface,
    /// What the files of each are checked by.
    sums: BTreeMap<Vec<u64>, String>,
    /// The values that count if nobody chooses others.
    first: Vec<u64>,
}

/// What the files of a model are checked by.
fn sum(model_file: &[u8], settings: &str) -> String {
    let hash = Sha256::new().chain_update(model_file).chain_update(settings).finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn in_words(values: &[u64], between: &str) -> String {
    let values: Vec<String> = values.iter().map(u64::to_string).collect();
    values.join(between)
}

impl Family {
    pub(crate) fn new<'a>(interface: Interface, models: impl Iterator<Item = (&'a [u64], &'a [u8], &'a str)>) -> Self {
        let mut family = Family {
            interface,
            ..Family::default()
        };
        for (values, model_file, settings) in models {
            if family.sums.is_empty() {
                family.first = values.to_vec();
            }
            family.sums.insert(values.to_vec(), sum(model_file, settings));
        }
        family
    }

    /// The values that count if nobody chooses others.
    pub fn first(&self) -> &[u64] {
        &self.first
    }

    /// Where the files of a model are, below the folder of resources.
    pub(crate) fn folder(&self, values: &[u64]) -> Result<String, String> {
        if !self.sums.contains_key(values) {
            let names: Vec<String> = { self.interface.parameters.iter().zip(values) }
                .map(|(parameter, value)| {
                    format!(
                        "`{}` has values from {} to {}, not {value}",
                        parameter.name, parameter.min, parameter.max
                    )
                })
                .collect();
            return Err(format!(
                "the unit was not exported for these sizes: {}",
                names.join(", ")
            ));
        }
        if values == self.first {
            return Ok(String::new());
        }
        Ok(format!("sizes/{}", in_words(values, "-")))
    }

    /// Whether files are those of the model with these sizes.
    pub(crate) fn check(&self, values: &[u64], model_file: &[u8], settings: &str) -> Result<(), String> {
        if self.sums.get(values) == Some(&sum(model_file, settings)) {
            return Ok(());
        }
        Err(format!(
            "the model for the sizes {} is not the one that was exported",
            in_words(values, ", ")
        ))
    }

    /// As text.
    pub(crate) fn write(&self) -> String {
        let mut text = self.interface.write();
        let line = |values: &Vec<u64>| format!("model {} {}\n", self.sums[values], in_words(values, ","));
        text.push_str(&line(&self.first));
        let others = self.sums.keys().filter(|values| **values != self.first);
        others.for_each(|values| text.push_str(&line(values)));
        text
    }

    /// From text; nothing if it is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut family = Family::default();
        for line in text.lines() {
            let Some(model) = line.strip_prefix("model ") else {
                family.interface.read_line(line)?;
                continue;
            };
            let (sum, values) = model.split_once(' ')?;
            let values: Option<Vec<u64>> = values.split(',').map(|value| value.parse().ok()).collect();
            let values = values.filter(|values| values.len() == family.interface.parameters.len())?;
            if family.sums.is_empty() {
                family.first.clone_from(&values);
            }
            family.sums.insert(values, sum.to_owned());
        }
        (!family.sums.is_empty()).then_some(family)
    }
}
