//! What modes are called beside each other: what differs between them, and nothing else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::{ModeRecord, Trajectory};

/// So many conditions tell all their values; of more, what is true says enough.
const MOST_COMPLETE: usize = 2;

/// A name for each mode of a result: the fewest conditions that tell it from the others, with their values.
///
/// Conditions that have the same value in all modes say nothing, and of those that always change together one is enough. Modes
/// that no condition tells apart have their number.
pub fn mode_labels(trajectory: &Trajectory) -> BTreeMap<u32, String> {
    let used: BTreeSet<u32> = trajectory.modes().iter().copied().collect();
    let records = trajectory.mode_records();
    let known: Vec<&ModeRecord> = records.values().filter(|record| used.contains(&record.mode)).collect();
    let mut labels: BTreeMap<u32, String> = used.iter().map(|&mode| (mode, format!("mode {mode}"))).collect();
    // Where modes tell differences alone, their numbers tell them apart.
    if known.iter().any(|record| record.since.is_some()) {
        return labels;
    }
    let conditions = distinguishing(&known);
    for record in known {
        let label = if record.valuation.is_empty() {
            record.label.clone()
        } else {
            words(record, &conditions)
        };
        if !label.is_empty() {
            labels.insert(record.mode, label);
        }
    }
    labels
}

/// Few conditions that tell the modes apart: again and again the one that tells most of those apart that are not yet, the
/// shortest of equals.
fn distinguishing(records: &[&ModeRecord]) -> Vec<String> {
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in records.iter().flat_map(|record| &record.valuation) {
        place.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        });
    }
    // Which modes have which conditions.
    let mut holds = vec![vec![false; names.len()]; records.len()];
    for (row, record) in holds.iter_mut().zip(records) {
        for (name, truth) in &record.valuation {
            row[place[name.as_str()]] = *truth;
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![(0..records.len()).collect()];
    let mut chosen = BTreeSet::new();
    while let Some(best) = best_condition(&names, &holds, &groups) {
        chosen.insert(best);
        let split = |group: Vec<usize>| {
            let (on, off): (Vec<_>, Vec<_>) = group.into_iter().partition(|&mode| holds[mode][best]);
            [on, off].into_iter().filter(|part| part.len() > 1)
        };
        groups = groups.into_iter().flat_map(split).collect();
    }
    chosen.into_iter().map(|at| names[at].to_owned()).collect()
}

/// The condition that tells most pairs of modes apart, if any does.
fn best_condition(names: &[&str], holds: &[Vec<bool>], groups: &[Vec<usize>]) -> Option<usize> {
    let pairs = |at: usize| -> usize {
        let of_group = |group: &Vec<usize>| {
            let on = group.iter().filter(|&&mode| holds[mode][at]).count();
            on * (group.len() - on)
        };
        groups.iter().map(of_group).sum()
    };
    let scored = (0..names.len())
        .map(|at| (pairs(at), at))
        .filter(|(pairs, _)| *pairs > 0);
    let best = scored.max_by_key(|&(pairs, at)| (pairs, Reverse(names[at].len()), Reverse(at)));
    best.map(|(_, at)| at)
}

fn words(record: &ModeRecord, conditions: &[String]) -> String {
    let value = |name: &String| record.valuation.iter().any(|(known, truth)| known == name && *truth);
    let complete = conditions.len() <= MOST_COMPLETE;
    let atoms = conditions.iter().filter(|name| complete || value(name));
    let atoms: Vec<String> = atoms
        .map(|name| {
            if value(name) {
                name.clone()
            } else {
                format!("not {name}")
            }
        })
        .collect();
    match (atoms.is_empty(), conditions.is_empty()) {
        (false, _) => atoms.join(", "),
        (true, false) => format!("none of {}", conditions.join(", ")),
        (true, true) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Manifest, ResultSink, RowKind, Schema, Signal};

    fn labels(modes: &[&[(&str, bool)]]) -> Vec<String> {
        let mut result = Trajectory::new();
        result
            .begin(&Schema::new(vec![Signal::new("x")]).unwrap(), &Manifest::default())
            .unwrap();
        for (number, valuation) in (0u32..).zip(modes) {
            let valuation = valuation
                .iter()
                .map(|(name, truth)| (name.to_string(), *truth))
                .collect();
            let record = ModeRecord {
                mode: number,
                label: "much too long …".into(),
                valuation,
                since: None,
                structure: None,
            };
            result.mode(&record).unwrap();
            result.row(f64::from(number), RowKind::Regular, number, &[0.0]).unwrap();
        }
        mode_labels(&result).into_values().collect()
    }

    #[test]
    fn what_differs_and_nothing_else() {
        let found = labels(&[
            &[
                ("always", true),
                ("d1.off", true),
                ("copy of d1.off", true),
                ("d2.off", true),
            ],
            &[
                ("always", true),
                ("d1.off", false),
                ("copy of d1.off", false),
                ("d2.off", true),
            ],
            &[
                ("always", true),
                ("d1.off", false),
                ("copy of d1.off", false),
                ("d2.off", false),
            ],
        ]);
        assert_eq!(
            found,
            ["d1.off, d2.off", "not d1.off, d2.off", "not d1.off, not d2.off"]
        );
        assert_eq!(labels(&[&[("a", true)], &[("a", true)]]), ["mode 0", "mode 1"]);
    }

    #[test]
    fn many_conditions_tell_what_is_true() {
        let names = ["a", "b", "c", "d", "e"];
        let modes: Vec<Vec<(&str, bool)>> = (0..6)
            .map(|on| names.iter().enumerate().map(|(at, name)| (*name, at == on)).collect())
            .collect();
        let modes: Vec<&[(&str, bool)]> = modes.iter().map(Vec::as_slice).collect();
        let found = labels(&modes);
        assert_eq!(&found[..5], ["a", "b", "c", "d", "e"]);
        assert_eq!(found[5], "none of a, b, c, d, e");
    }
}
