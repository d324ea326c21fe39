//! Variables that are elements of one array, for importers that know arrays (FMI 3).

use std::collections::BTreeMap;

use crate::variables::{Shown, Variables};

/// An array: one variable for importers, with a value reference behind those of all scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub dims: Vec<usize>,
    /// Its elements by value reference, row by row.
    pub elements: Vec<u32>,
}

/// The name of an array and the subscripts of an element.
fn split(name: &str) -> Option<(&str, Vec<usize>)> {
    let (base, rest) = name.strip_suffix(']')?.split_once('[')?;
    let subscripts: Option<Vec<usize>> = rest.split(',').map(|subscript| subscript.parse().ok()).collect();
    Some((base, subscripts?))
}

/// Whether two variables can be elements of one array. States are not: which elements are states may differ.
fn alike(a: &Shown, b: &Shown) -> bool {
    let what = |shown: &Shown| (shown.kind, shown.causality, shown.variability, shown.start.is_some());
    let scale = |shown: &Shown| [shown.min, shown.max, shown.nominal].map(|value| value.map(f64::to_bits));
    what(a) == what(b) && scale(a) == scale(b) && a.unit == b.unit
}

/// The arrays whose elements are all there and alike.
pub(crate) fn find(list: &[Shown]) -> Vec<Array> {
    let mut groups: BTreeMap<&str, BTreeMap<Vec<usize>, u32>> = BTreeMap::new();
    for (reference, shown) in (0..).zip(list) {
        if let Some((base, subscripts)) = split(&shown.name) {
            groups.entry(base).or_default().insert(subscripts, reference);
        }
    }
    let whole = |(name, group): (&str, BTreeMap<Vec<usize>, u32>)| {
        let dims = group.keys().next_back()?.clone();
        let elements: Vec<u32> = group.values().copied().collect();
        let is_plain = |reference: &u32| {
            let shown = &list[*reference as usize];
            !shown.is_slot && shown.derivative_of.is_none() && alike(shown, &list[elements[0] as usize])
        };
        // Keys ascend, so that they are all there if the last is as far from the first as there are.
        let count = dims.iter().try_fold(1_usize, |count, dim| count.checked_mul(*dim))?;
        let fits =
            |key: &Vec<usize>| key.len() == dims.len() && key.iter().zip(&dims).all(|(at, dim)| *at >= 1 && at <= dim);
        let is_whole = elements.len() > 1 && count == elements.len() && group.keys().all(fits);
        let is_free = !list.iter().any(|shown| shown.name == name);
        (is_whole && is_free && elements.iter().all(is_plain)).then(|| Array {
            name: name.to_owned(),
            dims,
            elements: elements.clone(),
        })
    };
    let mut arrays: Vec<Array> = groups.into_iter().filter_map(whole).collect();
    arrays.sort_by_key(|array| array.elements[0]);
    arrays
}

impl Variables {
    /// Scalars for references that may be those of arrays; nothing if one is none.
    pub fn scalars(&self, references: &[u32]) -> Option<Vec<u32>> {
        let mut scalars = Vec::with_capacity(references.len());
        for &reference in references {
            match (reference as usize).checked_sub(self.list.len()) {
                None => scalars.push(reference),
                Some(array) => scalars.extend(&self.arrays.get(array)?.elements),
            }
        }
        Some(scalars)
    }
}
