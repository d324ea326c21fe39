//! All modes at once against enumeration, and what keeps the sets small.

mod reference_support;

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigUint;
use reference_support::formula;
use saltus_mdae::Idx;
use saltus_structure::all_modes::figures::States;
use saltus_structure::all_modes::words::{Description, describe};
use saltus_structure::all_modes::{
    AllModes, Budget, GuardedEntry, GuardedRow, GuardedSystem, ModeSet, Piecewise, analyze_all_modes,
};
use saltus_structure::formula::{Formula, PredicateId};
use saltus_testing::Random;
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(&saltus_testing::reference("allmodes_cases.json")).expect("reference data")
}

fn system(case: &Value) -> GuardedSystem {
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let row = |row: &Value| GuardedRow {
        guard: formula(&row["guard"]),
        entries: list(&row["entries"])
            .iter()
            .map(|entry| GuardedEntry {
                unknown: entry[0].as_u64().expect("an unknown") as u32,
                order: entry[1].as_u64().expect("an order") as u16,
                when: formula(&entry[2]),
            })
            .collect(),
    };
    GuardedSystem {
        conditions: list(&case["conditions"]).len(),
        invariants: list(&case["invariants"]).iter().map(formula).collect(),
        unknowns: list(&case["variables"]).len(),
        rows: list(&case["equations"]).iter().map(row).collect(),
    }
}

fn numbers(value: &Value) -> Vec<usize> {
    let all = value.as_array().into_iter().flatten();
    all.map(|number| number.as_u64().expect("a number") as usize).collect()
}

/// The members of a list of sets that hold a mode.
fn inside(all: &AllModes, sets: &[ModeSet], mode: u64) -> Vec<usize> {
    let holds = |set: ModeSet| all.space.contains(set, |condition| mode >> condition.index() & 1 == 1);
    (0..sets.len()).filter(|&at| holds(sets[at])).collect()
}

fn value(all: &AllModes, parts: &Piecewise, mode: u64) -> Option<u64> {
    let holds = |set: ModeSet| all.space.contains(set, |condition| mode >> condition.index() & 1 == 1);
    let found: Vec<u64> = parts
        .iter()
        .filter(|(_, set)| holds(**set))
        .map(|(&value, _)| u64::from(value))
        .collect();
    assert!(found.len() <= 1, "sets of values are disjoint");
    found.first().copied()
}

/// Checks one system against what is expected of each of its modes; index and states are counted on the way.
fn check(case: &Value, all: &mut AllModes) {
    let name = case["name"].as_str().unwrap_or_default();
    let (mut modes, mut singular) = (0u64, 0u64);
    let (mut index, mut states): (BTreeMap<u16, u64>, BTreeMap<i64, u64>) = Default::default();
    for group in case["expected"].as_array().expect("groups of modes") {
        for mode in numbers(&group["modes"]).into_iter().map(|mode| mode as u64) {
            modes += 1;
            let found = &all.decomposition;
            let is_singular = group["singular"] == Value::Bool(true);
            assert_eq!(
                !inside(all, &found.singular_parts(), mode).is_empty(),
                is_singular,
                "{name}, mode {mode}"
            );
            if is_singular {
                singular += 1;
                let parts = [
                    (&found.over_rows, "over_equations"),
                    (&found.over_unknowns, "over_variables"),
                    (&found.under_rows, "under_equations"),
                    (&found.under_unknowns, "under_variables"),
                ];
                for (sets, key) in parts {
                    assert_eq!(
                        inside(all, sets, mode),
                        numbers(&group[key]),
                        "{name}, mode {mode}, {key}"
                    );
                }
                continue;
            }
            for (parts, key) in [(&all.c, "c"), (&all.d, "d")] {
                let expected: Vec<Option<u64>> = group[key].as_array().expect(key).iter().map(Value::as_u64).collect();
                let values: Vec<Option<u64>> = parts.iter().map(|parts| value(all, parts, mode)).collect();
                assert_eq!(values, expected, "{name}, mode {mode}, {key}");
            }
            *index
                .entry(group["index"].as_u64().expect("an index") as u16)
                .or_default() += 1;
            *states.entry(group["states"].as_i64().expect("states")).or_default() += 1;
        }
    }
    let figures = all.figures().expect("small systems are counted");
    assert_eq!(figures.modes, modes.into(), "{name}");
    assert_eq!(figures.singular, singular.into(), "{name}");
    let big = |count: &u64| BigUint::from(*count);
    assert_eq!(
        figures.index,
        index.iter().map(|(k, n)| (*k, big(n))).collect(),
        "{name}"
    );
    assert_eq!(
        figures.states,
        States::Distribution(states.iter().map(|(k, n)| (*k, big(n))).collect()),
        "{name}"
    );
}

#[test]
fn every_reference_case_in_every_mode() {
    let reference = reference();
    let cases = reference["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 250);
    for case in cases {
        let mut all = analyze_all_modes(&system(case), Budget::default()).expect("small systems fit");
        check(case, &mut all);
    }
}

/// Rows and unknowns in another order, conditions with other numbers: the same sets.
#[test]
fn numbering_does_not_matter() {
    let reference = reference();
    for (seed, case) in reference["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .enumerate()
        .step_by(5)
    {
        let plain = system(case);
        let mut random = Random(seed as u64 + 1);
        let (rows, unknowns) = (random.permutation(plain.rows.len()), random.permutation(plain.unknowns));
        let mut other = plain.clone();
        for (at, &to) in rows.iter().enumerate() {
            other.rows[to] = plain.rows[at].clone();
            for entry in &mut other.rows[to].entries {
                entry.unknown = unknowns[entry.unknown as usize] as u32;
            }
        }
        let first = analyze_all_modes(&plain, Budget::default()).expect("small");
        let second = analyze_all_modes(&other, Budget::default()).expect("small");
        for mode in 0..1u64 << plain.conditions {
            let possible = |all: &AllModes| inside(all, &all.possible, mode).len() == all.possible.len();
            assert_eq!(possible(&first), possible(&second));
            if !possible(&first) {
                continue;
            }
            for (at, &to) in rows.iter().enumerate() {
                assert_eq!(value(&first, &first.c[at], mode), value(&second, &second.c[to], mode));
            }
            for (at, &to) in unknowns.iter().enumerate() {
                assert_eq!(value(&first, &first.d[at], mode), value(&second, &second.d[to], mode));
            }
        }
    }
}

/// What is said of a set is the set.
#[test]
fn words_say_what_the_set_is() {
    let reference = reference();
    for case in reference["cases"].as_array().expect("cases") {
        let mut all = analyze_all_modes(&system(case), Budget::default()).expect("small");
        let possible: Vec<ModeSet> = all.possible.clone();
        let care = all.space.conjunction(possible);
        for part in all.decomposition.singular_parts() {
            let description = describe(&mut all.space, part, care, 6);
            for mode in 0..1u64 << all.space.conditions() {
                let of = |condition: PredicateId| mode >> condition.index() & 1 == 1;
                if !all.space.contains(care, of) {
                    continue;
                }
                let said = match &description {
                    Description::Any { others, .. } if *others > 0 => continue,
                    Description::Any { cubes, .. } => cubes
                        .iter()
                        .any(|cube| cube.iter().all(|&(condition, value)| of(condition) == value)),
                    Description::Count { literals, numbers } => {
                        let holding = literals
                            .iter()
                            .filter(|&&(condition, value)| of(condition) == value)
                            .count();
                        numbers.contains(&holding)
                    }
                    Description::Long { .. } => continue,
                };
                assert_eq!(said, all.space.contains(part, of), "{} {description:?}", case["name"]);
            }
        }
    }
}

/// Structured systems of any size.
#[derive(Default)]
struct Builder {
    system: GuardedSystem,
    names: BTreeMap<String, u32>,
}

impl Builder {
    fn condition(&mut self) -> Formula {
        self.system.conditions += 1;
        Formula::Predicate(PredicateId(self.system.conditions as u32 - 1))
    }

    fn row(&mut self, guard: Formula, entries: &[(String, u16)]) {
        let entries: Vec<GuardedEntry> = entries
            .iter()
            .map(|(name, order)| {
                let next = self.names.len() as u32;
                GuardedEntry {
                    unknown: *self.names.entry(name.clone()).or_insert(next),
                    order: *order,
                    when: Formula::Constant(true),
                }
            })
            .collect();
        self.system.rows.push(GuardedRow { guard, entries });
        self.system.unknowns = self.names.len();
    }
}

const ALWAYS: Formula = Formula::Constant(true);

fn not(formula: &Formula) -> Formula {
    Formula::Not(Box::new(formula.clone()))
}

/// n + 1 inertias in a row with n clutches.
fn clutches(n: usize) -> GuardedSystem {
    let mut builder = Builder::default();
    for i in 0..=n {
        let mut row = vec![(format!("w{i}"), 1)];
        row.extend((i > 0).then(|| (format!("tau{}", i.wrapping_sub(1)), 0)));
        row.extend((i < n).then(|| (format!("tau{i}"), 0)));
        builder.row(ALWAYS, &row);
        if i < n {
            let engaged = builder.condition();
            builder.row(engaged.clone(), &[(format!("w{i}"), 0), (format!("w{}", i + 1), 0)]);
            builder.row(not(&engaged), &[(format!("tau{i}"), 0)]);
        }
    }
    builder.system
}

/// Stages of an ideal diode in series and a capacitor to ground; with resistors in series or without.
fn ladder(n: usize, resistors: bool) -> GuardedSystem {
    let mut builder = Builder::default();
    for k in 0..n {
        let on = builder.condition();
        let mut diode = vec![(format!("u{k}"), 0)];
        diode.extend((k > 0).then(|| (format!("u{}", k.wrapping_sub(1)), 0)));
        diode.extend(resistors.then(|| (format!("i{k}"), 0)));
        builder.row(on.clone(), &diode);
        builder.row(not(&on), &[(format!("i{k}"), 0)]);
        let mut capacitor = vec![(format!("u{k}"), 1), (format!("i{k}"), 0)];
        capacitor.extend((k + 1 < n).then(|| (format!("i{}", k + 1), 0)));
        builder.row(ALWAYS, &capacitor);
    }
    builder.system
}

/// n balls that hang on each other by ropes that may be slack.
fn ropes(n: usize) -> GuardedSystem {
    let mut builder = Builder::default();
    for k in 0..n {
        let tight = builder.condition();
        for z in ["x", "y"] {
            let mut row = vec![(format!("{z}{k}"), 2), (format!("lambda{k}"), 0)];
            row.extend((k > 0).then(|| (format!("{z}{}", k.wrapping_sub(1)), 0)));
            if k + 1 < n {
                row.extend([(format!("lambda{}", k + 1), 0), (format!("{z}{}", k + 1), 0)]);
            }
            builder.row(ALWAYS, &row);
        }
        let mut length = vec![(format!("x{k}"), 0), (format!("y{k}"), 0)];
        if k > 0 {
            length.extend([(format!("x{}", k - 1), 0), (format!("y{}", k - 1), 0)]);
        }
        builder.row(tight.clone(), &length);
        builder.row(not(&tight), &[(format!("lambda{k}"), 0)]);
    }
    builder.system
}

/// A source, a resistor and n ideal diodes in one loop.
fn diodes_in_series(n: usize) -> GuardedSystem {
    let mut builder = Builder::default();
    let mut loop_row = vec![("i".to_owned(), 0)];
    loop_row.extend((0..n).map(|k| (format!("v{k}"), 0)));
    builder.row(ALWAYS, &loop_row);
    for k in 0..n {
        let on = builder.condition();
        builder.row(on.clone(), &[(format!("v{k}"), 0)]);
        builder.row(not(&on), &[("i".to_owned(), 0)]);
    }
    builder.system
}

/// Shafts with boxes of gears of which at most one is engaged.
fn gearboxes(n: usize, gears: usize) -> GuardedSystem {
    let mut builder = Builder::default();
    for i in 0..=n {
        let mut row = vec![(format!("w{i}"), 1)];
        row.extend((i > 0).then(|| (format!("tau{}", i.wrapping_sub(1)), 0)));
        row.extend((i < n).then(|| (format!("tau{i}"), 0)));
        builder.row(ALWAYS, &row);
    }
    for i in 0..n {
        let engaged: Vec<Formula> = (0..gears).map(|_| builder.condition()).collect();
        for gear in &engaged {
            builder.row(gear.clone(), &[(format!("w{i}"), 0), (format!("w{}", i + 1), 0)]);
        }
        builder.row(not(&Formula::Or(engaged.clone())), &[(format!("tau{i}"), 0)]);
        for (at, a) in engaged.iter().enumerate() {
            for b in &engaged[at + 1..] {
                let both = Formula::And(vec![a.clone(), b.clone()]);
                builder.system.invariants.push(not(&both));
            }
        }
    }
    builder.system
}

/// k × k capacitors with ideal switches between neighbours.
fn grid(k: usize) -> GuardedSystem {
    let mut builder = Builder::default();
    let mut edges = Vec::new();
    for r in 0..k {
        for c in 0..k {
            edges.extend((c + 1 < k).then_some(((r, c), (r, c + 1))));
            edges.extend((r + 1 < k).then_some(((r, c), (r + 1, c))));
        }
    }
    for r in 0..k {
        for c in 0..k {
            let mut row = vec![(format!("u{r}_{c}"), 1)];
            let touching = edges
                .iter()
                .enumerate()
                .filter(|(_, (p, q))| *p == (r, c) || *q == (r, c));
            row.extend(touching.map(|(at, _)| (format!("i{at}"), 0)));
            builder.row(ALWAYS, &row);
        }
    }
    for (at, ((r, c), (r2, c2))) in edges.into_iter().enumerate() {
        let closed = builder.condition();
        builder.row(closed.clone(), &[(format!("u{r}_{c}"), 0), (format!("u{r2}_{c2}"), 0)]);
        builder.row(not(&closed), &[(format!("i{at}"), 0)]);
    }
    builder.system
}

/// Sets stay about nearby conditions: what grows with the model grows no faster than it.
#[test]
fn families_grow_no_faster_than_the_model() {
    type Family = (&'static str, fn(usize) -> GuardedSystem);
    let families: [Family; 5] = [
        ("clutches", clutches),
        ("diode ladder", |n| ladder(n, true)),
        ("capacitor ladder", |n| ladder(n, false)),
        ("ropes", ropes),
        ("gearboxes", |n| gearboxes(n, 4)),
    ];
    for (name, family) in families {
        let [small, large] = [50, 100].map(|n| analyze_all_modes(&family(n), Budget::default()).expect(name).size());
        assert!(
            large as f64 <= 2.2 * small as f64,
            "{name}: {small} nodes, then {large}"
        );
        assert!(large <= 1500, "{name}: {large} nodes");
    }
}

#[test]
fn clutches_in_all_their_modes() {
    let n = 2000;
    let mut all = analyze_all_modes(&clutches(n), Budget::default()).expect("local sets");
    let figures = all.figures().expect("local sets");
    let modes = BigUint::from(1u32) << n;
    assert_eq!(figures.modes, modes);
    assert_eq!(figures.singular, BigUint::ZERO);
    let expected = BTreeMap::from([(1, BigUint::from(1u32)), (2, modes - 1u32)]);
    assert_eq!(figures.index, expected);
    assert_eq!(figures.states, States::Range(1, n as i64 + 1));
}

#[test]
fn at_most_one_diode_of_a_string_blocks() {
    let n = 30;
    let mut all = analyze_all_modes(&diodes_in_series(n), Budget::default()).expect("fits");
    let figures = all.figures().expect("fits");
    assert_eq!(figures.singular, (BigUint::from(1u32) << n) - 31u32);
    let singular = all.space.union(all.decomposition.singular_parts());
    let Description::Count { literals, numbers } = describe(&mut all.space, singular, ModeSet::ALL, 6) else {
        panic!("a number of diodes");
    };
    assert_eq!(numbers, (2..=n).collect::<Vec<_>>());
    assert!(
        literals.iter().all(|&(_, value)| !value),
        "those that block are counted"
    );
}

/// Where the sets themselves are large, a budget ends it.
#[test]
fn a_grid_of_switches_ends_by_its_budget() {
    let budget = Budget {
        nodes: 1 << 16,
        steps: 1 << 20,
    };
    assert!(analyze_all_modes(&grid(6), budget).is_err());
    assert!(analyze_all_modes(&grid(2), budget).is_ok());
}

/// Every condition is met once in the order of conditions, whatever the system.
#[test]
fn conditions_that_nothing_mentions_have_a_place_too() {
    let mut system = clutches(3);
    system.conditions += 2;
    let mut all = analyze_all_modes(&system, Budget::default()).expect("small");
    let met: BTreeSet<PredicateId> = (0..5).map(|level| all.space.condition_at(level)).collect();
    assert_eq!(met.len(), 5);
    assert_eq!(all.figures().expect("small").modes, 32u32.into());
}
