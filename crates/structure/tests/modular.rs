//! Interfaces of components and what they make together, against the flat system: 216 composed systems of the reference file.

mod reference_support;

use std::collections::{BTreeMap, BTreeSet};

use reference_support::formula;
use saltus_structure::all_modes::{GuardedEntry, GuardedRow};
use saltus_structure::constructive::{Formula, PredicateId};
use saltus_structure::modular::offsets::SystemOffsets;
use saltus_structure::modular::{Class, ClassMode, Library, Part, Variable};
use saltus_testing::reference;
use serde_json::Value;

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// A component: its class, its number, and what its connectors are joined to.
type NamedPart = (String, usize, BTreeMap<String, String>);

/// A case with the names of its variables by class.
struct Case {
    library: Library,
    names: Vec<BTreeMap<String, Variable>>,
    parts: Vec<Vec<NamedPart>>,
}

fn case(value: &Value) -> Case {
    let (mut classes, mut names, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for class in list(&value["classes"]) {
        let mut number: BTreeMap<String, Variable> = BTreeMap::new();
        let mut of = |name: &str| {
            let next = number.len() as Variable;
            *number.entry(name.to_owned()).or_insert(next)
        };
        let boundary = list(&class["boundary"]).iter().map(|name| of(text(name))).collect();
        let mut rows = Vec::new();
        for equation in list(&class["equations"]) {
            let entries = list(&equation["entries"]).iter().map(|entry| GuardedEntry {
                unknown: of(text(&entry[0])),
                order: entry[1].as_u64().expect("an order") as u16,
                when: formula(&entry[2]),
            });
            let entries = entries.collect();
            rows.push(GuardedRow {
                guard: formula(&equation["guard"]),
                entries,
            });
        }
        let mut inside = Vec::new();
        for part in list(&class["parts"]) {
            let join: BTreeMap<String, String> = part["join"]
                .as_object()
                .expect("an object")
                .iter()
                .map(|(inner, here)| (inner.clone(), text(here).to_owned()))
                .collect();
            join.values().for_each(|here| {
                of(here);
            });
            inside.push((
                text(&part["name"]).to_owned(),
                part["class"].as_u64().expect("a class") as usize,
                join,
            ));
        }
        classes.push(Class {
            boundary,
            rows,
            parts: Vec::new(),
        });
        names.push(number);
        parts.push(inside);
    }
    for (at, class) in classes.iter_mut().enumerate() {
        class.parts = parts[at]
            .iter()
            .map(|(_, inner, join)| Part {
                class: *inner,
                join: join.iter().map(|(a, b)| (names[*inner][a], names[at][b])).collect(),
            })
            .collect();
    }
    Case {
        library: Library::new(classes),
        names,
        parts,
    }
}

fn mode(case: &Value, class: usize, value: &Value) -> ClassMode {
    let conditions = list(&case["classes"][class]["conditions"]).len();
    let bits = value[0].as_u64().expect("bits");
    let parts = list(&case["classes"][class]["parts"]).iter().zip(list(&value[1]));
    ClassMode {
        own: (0..conditions).map(|at| bits >> at & 1 == 1).collect(),
        parts: parts
            .map(|(part, inner)| mode(case, part["class"].as_u64().expect("a class") as usize, inner))
            .collect(),
    }
}

impl Case {
    /// The path and the class of an instance.
    fn instance(&self, top: usize, way: &[usize]) -> (String, usize) {
        let (mut path, mut class) = (String::new(), top);
        for &part in way {
            let (name, inner, _) = &self.parts[class][part];
            path.push_str(&format!("{name}."));
            class = *inner;
        }
        (path, class)
    }

    fn check_offsets(&self, top: usize, found: &SystemOffsets, expected: &Value) -> Result<(), String> {
        let mut c: BTreeSet<(String, u64, i64)> = BTreeSet::new();
        for (way, offsets) in &found.instances {
            let (path, _) = self.instance(top, way);
            c.extend(offsets.c.iter().map(|(&row, &value)| (path.clone(), row as u64, value)));
        }
        let wanted: BTreeSet<(String, u64, i64)> = list(&expected["c"])
            .iter()
            .map(|entry| {
                let number = |at: usize| entry[at].as_i64().expect("a number");
                (text(&entry[0]).to_owned(), number(1) as u64, number(2))
            })
            .collect();
        match (c == wanted, expected["states"].as_i64() == Some(found.states)) {
            (true, true) => Ok(()),
            (false, _) => Err(format!("c: {c:?}, expected {wanted:?}")),
            (_, false) => Err(format!("states: {}, expected {}", found.states, expected["states"])),
        }
    }
}

#[test]
fn compositions_equal_the_flat_analysis() {
    let file: Value = serde_json::from_str(&reference("modular_cases.json")).expect("JSON");
    let (mut regular, mut singular, mut tables, mut failures) = (0, 0, 0, Vec::new());
    for value in list(&file["cases"]) {
        let mut case = case(value);
        let top = value["top"].as_u64().expect("a class") as usize;
        for interface in list(&value["interfaces"]) {
            let class = interface["class"].as_u64().expect("a class") as usize;
            let conditions = list(&value["classes"][class]["conditions"]).len();
            let bits = interface["bits"].as_u64().expect("bits");
            let own = (0..conditions).map(|at| bits >> at & 1 == 1).collect();
            let found = case
                .library
                .interface(class, &ClassMode { own, parts: Vec::new() })
                .expect("narrow");
            let number = |name: &Value| case.names[class][text(name)];
            let wanted: BTreeMap<Vec<Variable>, i64> = list(&interface["table"])
                .iter()
                .map(|entry| {
                    let mut choice: Vec<Variable> = list(&entry[0]).iter().map(number).collect();
                    choice.sort_unstable();
                    (choice, entry[1].as_i64().expect("a value"))
                })
                .collect();
            let occurs: BTreeSet<Variable> = list(&interface["occurs"]).iter().map(number).collect();
            tables += 1;
            if found.table != wanted || found.occurs != occurs {
                failures.push(format!(
                    "{}: class {class}, {bits}: {found:?}, expected {wanted:?}",
                    value["name"]
                ));
            }
        }
        for result in list(&value["results"]) {
            let mode = mode(value, top, &result["mode"]);
            let found = case.library.offsets(top, &mode).expect("narrow");
            let outcome = match (&found, result["singular"].as_bool()) {
                (None, Some(true)) => {
                    singular += 1;
                    Ok(())
                }
                (Some(found), None | Some(false)) => {
                    regular += 1;
                    case.check_offsets(top, found, result)
                }
                _ => Err(format!("{found:?}")),
            };
            if let Err(error) = outcome {
                failures.push(format!("{} in {}: {error}", value["name"], result["mode"]));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures, first: {}",
        failures.len(),
        failures[0]
    );
    assert!(
        regular > 1500 && singular > 600 && tables > 600,
        "{regular} {singular} {tables}"
    );
}

/// J·w' = a.tau + b.tau, both ends at the same speed; clutches between: engaged a.w = b.w, a.tau = −b.tau.
fn row_of_clutches(n: usize) -> Library {
    let always = || Formula::Constant(true);
    let row = |guard: Formula, entries: &[(Variable, u16)]| GuardedRow {
        guard,
        entries: entries
            .iter()
            .map(|&(unknown, order)| GuardedEntry {
                unknown,
                order,
                when: always(),
            })
            .collect(),
    };
    let engaged = Formula::Predicate(PredicateId(0));
    let released = Formula::Not(Box::new(engaged.clone()));
    // Boundary of all: 0 a.w, 1 a.tau, 2 b.w, 3 b.tau; an inertia has one flange: 0 w, 1 tau left, 2 tau right.
    let clutch = Class {
        boundary: vec![0, 1, 2, 3],
        rows: vec![
            row(engaged.clone(), &[(0, 0), (2, 0)]),
            row(engaged, &[(1, 0), (3, 0)]),
            row(released.clone(), &[(1, 0)]),
            row(released, &[(3, 0)]),
        ],
        parts: Vec::new(),
    };
    let inertia = Class {
        boundary: vec![0, 1, 2],
        rows: vec![row(always(), &[(0, 1), (1, 0), (2, 0)])],
        parts: Vec::new(),
    };
    // Variables of the row by shaft: w, tau from the left, tau to the right.
    let mut parts = Vec::new();
    let mut rows = Vec::new();
    for shaft in 0..=n as Variable {
        let [w, left, right] = [3 * shaft, 3 * shaft + 1, 3 * shaft + 2];
        parts.push(Part {
            class: 1,
            join: vec![(0, w), (1, left), (2, right)],
        });
        if shaft > 0 {
            parts.push(Part {
                class: 0,
                join: vec![(0, w - 3), (1, right - 3), (2, w), (3, left)],
            });
        }
    }
    rows.push(row(always(), &[(1, 0)]));
    rows.push(row(always(), &[(3 * n as Variable + 2, 0)]));
    let whole = Class {
        boundary: Vec::new(),
        rows,
        parts,
    };
    Library::new(vec![clutch, inertia, whole])
}

fn mode_of_row(engaged: &[bool]) -> ClassMode {
    let inertia = ClassMode::default();
    let mut parts = vec![inertia.clone()];
    for &own in engaged {
        parts.push(inertia.clone());
        parts.push(ClassMode {
            own: vec![own],
            parts: Vec::new(),
        });
    }
    ClassMode { own: Vec::new(), parts }
}

#[test]
fn equal_components_cost_little_more_than_one() {
    let n = 400;
    let engaged: Vec<bool> = (0..n).map(|at| at % 3 == 0 || at % 7 == 2).collect();
    let mut library = row_of_clutches(n);
    let found = library
        .offsets(2, &mode_of_row(&engaged))
        .expect("narrow")
        .expect("regular");
    let locked = engaged.iter().filter(|engaged| **engaged).count() as i64;
    assert_eq!(found.states, n as i64 + 1 - locked);
    let long = library.compositions();
    let mut short = row_of_clutches(40);
    let mode = mode_of_row(&engaged[..40]);
    short.offsets(2, &mode).expect("narrow").expect("regular");
    assert!(
        long <= short.compositions() + 4,
        "{long} compositions, {} for a tenth",
        short.compositions()
    );
}
