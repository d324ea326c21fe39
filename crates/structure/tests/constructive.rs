//! The reference cases of the constructive semantics, also after renaming.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::{Builder, EquationId, Idx, Mdae, VarId};
use saltus_structure::constructive::{
    ConstructiveOptions, EquationKind, Failure, Formula, Names, Outcome, PredicateId, Reaction, Rejection, Report,
    Step, System, SystemEquation, analyze,
};
use serde_json::Value;

/// A case with the names of its ids.
struct Case {
    system: System,
    variables: Vec<String>,
    equations: Vec<String>,
    predicates: Vec<String>,
}

fn cases(file: &str) -> Vec<Value> {
    cases_of(&saltus_testing::reference(file))
}

fn cases_of(text: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(text).expect("valid JSON");
    all["cases"].as_array().expect("a list").clone()
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().expect("a list").iter();
    list.map(|item| item.as_str().expect("a string").to_owned()).collect()
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().expect("an object").keys().cloned().collect()
}

/// `x''` as (x, 2), `x•2` as well.
fn split(text: &str) -> (String, u16) {
    if let Some((name, shifts)) = text.split_once('•') {
        return (
            name.to_owned(),
            if shifts.is_empty() { 1 } else { shifts.parse().unwrap() },
        );
    }
    let name = text.trim_end_matches('\'');
    (name.to_owned(), (text.len() - name.len()) as u16)
}

/// Reads a case; `order` permutes variables and equations.
fn read(case: &Value, reverse: bool) -> Case {
    let inputs = &case["inputs"];
    let mut equations = keys(&inputs["equations"]);
    let predicates = keys(&inputs["predicates"]);
    let mut variables: BTreeSet<String> = BTreeSet::new();
    for name in &equations {
        let list = strings(&inputs["equations"][name]["variables"]);
        variables.extend(list.iter().map(|v| split(v).0));
    }
    for name in &predicates {
        let list = strings(&inputs["predicates"][name]);
        variables.extend(list.iter().map(|v| split(v).0));
    }
    let mut variables: Vec<String> = variables.into_iter().collect();
    if reverse {
        variables.reverse();
        equations.reverse();
    }
    let shifted = |text: &String| {
        let (name, order) = split(text);
        let at = variables.iter().position(|v| *v == name).expect("a known variable");
        (VarId::from_usize(at), order)
    };
    let sorted = |value: &Value| {
        let mut list: Vec<_> = strings(value).iter().map(shifted).collect();
        list.sort_unstable();
        list
    };
    let formula = |value: &Value| match value {
        Value::Array(valuations) => Formula::Or(valuations.iter().map(|v| conjunction(v, &predicates)).collect()),
        _ => Formula::Constant(true),
    };
    let system = System {
        equations: equations
            .iter()
            .map(|name| {
                let data = &inputs["equations"][name];
                SystemEquation {
                    variables: sorted(&data["variables"]),
                    guard: formula(&data["active_when"]),
                    kind: match data["type"].as_str() {
                        Some("evt") => EquationKind::Event,
                        _ => EquationKind::Continuous,
                    },
                    sides: None,
                }
            })
            .collect(),
        predicates: predicates.iter().map(|p| sorted(&inputs["predicates"][p])).collect(),
        invariants: match &inputs["invariants"] {
            Value::Array(_) => vec![formula(&inputs["invariants"])],
            _ => vec![],
        },
        known_initially: match &inputs["known_initially"] {
            Value::Null => None,
            list => Some(sorted(list).into_iter().collect()),
        },
    };
    Case {
        system,
        variables,
        equations,
        predicates,
    }
}

fn conjunction(valuation: &Value, predicates: &[String]) -> Formula {
    let parts = valuation.as_object().expect("a valuation").iter().map(|(name, value)| {
        let at = predicates.iter().position(|p| p == name).expect("a known predicate");
        let predicate = Formula::Predicate(PredicateId::from_usize(at));
        match value.as_bool() {
            Some(true) => predicate,
            _ => Formula::Not(Box::new(predicate)),
        }
    });
    Formula::And(parts.collect())
}

impl Case {
    fn text(name: &str, shifts: u16) -> String {
        match shifts {
            0 => name.to_owned(),
            1 => format!("{name}•"),
            _ => format!("{name}•{shifts}"),
        }
    }
    fn variable(&self, (var, shifts): (VarId, u16)) -> String {
        Self::text(&self.variables[var.index()], shifts)
    }
    fn equation(&self, (equation, shifts): (EquationId, u16)) -> String {
        Self::text(&self.equations[equation.index()], shifts)
    }
    fn mode(&self, valuation: &[Option<bool>]) -> String {
        let known = self
            .predicates
            .iter()
            .zip(valuation)
            .filter_map(|(p, v)| Some((p, (*v)?)));
        let texts: Vec<String> = known
            .map(|(p, v)| format!("{p}={}", if v { "T" } else { "F" }))
            .collect();
        if texts.is_empty() {
            "single".to_owned()
        } else {
            sorted_mode(&texts.join(","))
        }
    }
}

/// Predicates in order of name; a reaction names them in order of evaluation.
fn sorted_mode(text: &str) -> String {
    let mut parts: Vec<&str> = text.split(',').collect();
    parts.sort_unstable();
    parts.join(",")
}

fn set(texts: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    texts.into_iter().collect()
}

/// A reaction in the names of the case, independent of any order; the start states by what is known and holds.
fn describe(case: &Case, report: &Report, reaction: &Reaction) -> Value {
    let state = |i: usize| describe_state(case, report, i);
    let shifts = |fact: bool| {
        set(reaction.steps.iter().filter_map(|step| match step {
            Step::Shift { equation, is_fact } if *is_fact == fact => Some(case.equation(*equation)),
            _ => None,
        }))
    };
    let latent = set(reaction.steps.iter().filter_map(|step| match step {
        Step::Latent(key) => Some(case.equation(*key)),
        _ => None,
    }));
    let blocks: BTreeSet<(BTreeSet<String>, BTreeSet<String>)> = reaction
        .blocks()
        .map(|(e, u)| {
            (
                set(e.iter().map(|&e| case.equation(e))),
                set(u.iter().map(|&u| case.variable(u))),
            )
        })
        .collect();
    let mode = case.mode(&reaction.valuation);
    match &reaction.outcome {
        Outcome::Completed {
            to,
            dead_equations,
            dead_variables,
            event,
        } => serde_json::json!({
            "from": state(reaction.from), "to": state(*to), "mode": mode, "blocks": blocks, "evt": event,
            "FS": shifts(false), "PR": shifts(true), "LE": latent, "max_shift": reaction.max_shift(),
            "dead": set(dead_equations.iter().map(|&e| case.equation((e, 0)))),
            "dead_vars": set(dead_variables.iter().map(|&v| case.variable((v, 0)))),
        }),
        Outcome::Excluded => serde_json::json!({"from": state(reaction.from), "mode": mode, "fail": "invariant"}),
        Outcome::Failed(failure) => {
            let kind = match failure {
                Failure::NothingLeft { .. } | Failure::Overdetermined { .. } => "overdetermined",
                Failure::ShiftBound { .. } => "shift bound exceeded",
                Failure::Underdetermined { .. } => "underdetermined",
                Failure::Blocked { .. } => "blocked",
            };
            serde_json::json!({"from": state(reaction.from), "mode": mode, "fail": kind})
        }
    }
}

fn describe_state(case: &Case, report: &Report, i: usize) -> Value {
    let instant = &report.instants[i];
    serde_json::json!({
        "known": set(instant.known.iter().map(|&v| case.variable(v))),
        "facts": set(instant.facts.iter().map(|&e| case.equation(e))),
    })
}

/// The expected reaction in the same form.
fn expected(case: &Value, reaction: &Value) -> Value {
    let state = |key: &str| {
        let instant = &case["instants"][reaction[key].as_u64().expect("a number") as usize];
        serde_json::json!({"known": set(strings(&instant["known"])), "facts": set(strings(&instant["facts"]))})
    };
    let mode = sorted_mode(reaction["mode"].as_str().expect("a mode"));
    if reaction["ok"] == Value::Bool(false) {
        let fail = reaction["fail"].as_str().expect("a reason");
        let kind = [
            "overdetermined",
            "shift bound exceeded",
            "underdetermined",
            "blocked",
            "invariant",
        ]
        .into_iter()
        .find(|kind| fail.starts_with(kind))
        .expect("a known reason");
        return serde_json::json!({"from": state("from"), "mode": mode, "fail": kind});
    }
    let blocks: BTreeSet<(BTreeSet<String>, BTreeSet<String>)> = reaction["blocks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|block| (set(strings(&block[0])), set(strings(&block[1]))))
        .collect();
    let of = |key: &str| set(strings(&reaction[key]));
    serde_json::json!({
        "from": state("from"), "to": state("to"), "mode": mode, "blocks": blocks, "evt": reaction["evt"],
        "FS": of("FS"), "PR": of("PR"), "LE": of("LE"), "max_shift": reaction["max_shift"],
        "dead": of("dead"), "dead_vars": of("dead_vars"),
    })
}

fn compare_modes(case: &Case, reference: &Value, report: &Report, compare: &mut dyn FnMut(&str, String, String)) {
    for mode in &report.modes {
        let valuation: Vec<Option<bool>> = mode.valuation.iter().copied().map(Some).collect();
        let expected = &reference["sigma"][case.mode(&valuation)];
        let Ok(sigma) = &mode.sigma else {
            compare(
                "singular",
                "true".to_owned(),
                expected["reject"].is_string().to_string(),
            );
            continue;
        };
        let c: BTreeMap<String, u16> = mode
            .equations
            .iter()
            .map(|&e| case.equation((e, 0)))
            .zip(sigma.c.clone())
            .collect();
        let d: BTreeMap<String, u16> = mode
            .variables
            .iter()
            .map(|&v| case.variable((v, 0)))
            .zip(sigma.d.clone())
            .collect();
        let found = serde_json::json!({"c": c, "d": d, "dof": sigma.degrees_of_freedom(), "nu": sigma.index()});
        compare("offsets", found.to_string(), expected.to_string());
    }
}

/// What differs from a reference case. How far a singular mode gets before it is stuck is a matter of reading the report:
/// it is compared only if `singular_too`.
fn differences(reference: &Value, reverse: bool, singular_too: bool) -> Vec<String> {
    let case = read(reference, reverse);
    // The limit of the program the references are from.
    let options = ConstructiveOptions {
        max_instants: 60,
        ..ConstructiveOptions::default()
    };
    let report = analyze(&case.system, options);
    let mut differences = Vec::new();
    let mut compare = |what: &str, found: String, wanted: String| {
        if found != wanted {
            differences.push(format!("{what}: {found}, expected {wanted}"));
        }
    };
    compare(
        "accepted",
        report.is_accepted().to_string(),
        reference["accept"].to_string(),
    );
    let cascade = report.event_cycle.is_some().to_string();
    compare("event cycle", cascade, reference["unbounded_event_cascade"].to_string());
    let modes = |count: usize| count.to_string();
    compare(
        "modes",
        modes(report.modes.len()),
        modes(strings(&reference["modes"]).len()),
    );
    compare_modes(&case, reference, &report, &mut compare);
    let unfinished = strings(&reference["reject_reasons"]);
    let unfinished = unfinished.iter().any(|reason| reason.contains("not finite"));
    if unfinished || report.rejections.contains(&Rejection::TooManyInstants) {
        return differences;
    }
    if !singular_too && report.modes.iter().any(|mode| mode.sigma.is_err()) {
        return differences;
    }
    let instants = reference["instants"].as_array().expect("a list").len();
    compare("instants", report.instants.len().to_string(), instants.to_string());
    let found = report.reactions.iter();
    let mut found: Vec<String> = found.map(|r| describe(&case, &report, r).to_string()).collect();
    let wanted = reference["reactions"].as_array().expect("a list").iter();
    let mut wanted: Vec<String> = wanted.map(|r| expected(reference, r).to_string()).collect();
    found.sort();
    wanted.sort();
    compare("reactions", format!("{found:#?}"), format!("{wanted:#?}"));
    differences
}

#[test]
fn the_reference_cases_hold_in_any_order() {
    let references = cases("constructive_cases.json");
    assert_eq!(references.len(), 16);
    let further = cases("constructive_cases_more.json");
    let with_singular = references.iter().map(|reference| (reference, true));
    let further = further.iter().map(|reference| (reference, false));
    for (reference, singular_too) in with_singular.chain(further) {
        for reverse in [false, true] {
            let found = differences(reference, reverse, singular_too);
            assert!(found.is_empty(), "{}: {}", reference["name"], found.join("\n"));
        }
    }
}

/// Systems of a file in the same form that is named by `SALTUS_CONSTRUCTIVE_CASES`; every difference is printed.
#[test]
fn cases_of_another_file() {
    let Ok(path) = std::env::var("SALTUS_CONSTRUCTIVE_CASES") else {
        println!("skipped: SALTUS_CONSTRUCTIVE_CASES names no file");
        return;
    };
    let text = std::fs::read_to_string(path).expect("the file");
    let references = cases_of(&text);
    let mut different = 0;
    for reference in &references {
        for reverse in [false, true] {
            let found = differences(reference, reverse, false);
            different += usize::from(!found.is_empty());
            for difference in found {
                println!("{} {reverse}: {difference}", reference["name"]);
            }
        }
    }
    assert_eq!(different, 0, "of {} differ", 2 * references.len());
}

#[test]
fn a_model_is_read_as_a_system() {
    let m = Builder::new("CupAndBall");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    let (lambda, s) = (m.unknown("lambda"), m.unknown("s"));
    let tight = s.pre().le(&m.real(0.0));
    m.equation("e1", x.der().der() + &lambda * &x);
    m.equation("e2", y.der().der() + &lambda * &y + 9.81);
    let distance = 1.0 - &x * &x - &y * &y;
    m.equation_if(&tight, "k1", distance.clone());
    m.equation_if(&tight, "k2", &lambda + &s);
    m.equation_if(&!&tight, "k3", lambda.clone());
    m.equation_if(&!&tight, "k4", distance - &s);
    let model = m.finish().unwrap();
    let system = System::from_model(&model);
    assert_eq!((system.equations.len(), system.predicates.len()), (6, 1));
    assert!(system.predicates[0].is_empty(), "a left limit is given from outside");
    let report = analyze(&system, ConstructiveOptions::default());
    assert!(report.is_accepted());
    let text = report.to_text(&ModelNames(&model));
    assert!(text.starts_with("constructive semantics: accepted"), "{text}");
    assert!(text.contains("reset by k1") && text.contains("[tight=true]"), "{text}");
}

/// `time < 1` and `time >= 3` are never both true; neither are `2 x > 4` false and `x > 5` true.
#[test]
fn relations_of_the_same_quantity_exclude_each_other() {
    let m = Builder::new("Thresholds");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    let early = m.time().lt(&m.real(1.0));
    let late = m.time().ge(&m.real(3.0));
    let above_two = (2.0 * &x).gt(&m.real(4.0));
    let above_five = x.gt(&m.real(5.0));
    m.equation("e1", x.der() - 1.0);
    m.equation_if(&early, "k1", &y - 1.0);
    m.equation_if(&(!&early).and(&late), "k2", &y - 2.0);
    let between = (!&early).and(&!&late);
    let in_band = above_two.and(&!&above_five);
    m.equation_if(&between.and(&in_band), "k3", &y - 3.0);
    m.equation_if(&between.and(&!&in_band), "k4", &y - 4.0);
    let model = m.finish().unwrap();
    let system = System::from_model(&model);
    assert_eq!((system.predicates.len(), system.invariants.len()), (4, 2));
    let report = analyze(&system, ConstructiveOptions::default());
    assert!(report.is_accepted());
    assert_eq!(report.modes.len(), 9, "of 16 valuations");
}

struct ModelNames<'m>(&'m Mdae);

impl Names for ModelNames<'_> {
    fn variable(&self, variable: VarId) -> String {
        self.0.variables[variable].name.to_string()
    }
    fn equation(&self, equation: EquationId) -> String {
        let names = ["e1", "e2", "k1", "k2", "k3", "k4"];
        names
            .get(equation.index())
            .map_or(format!("e{}", equation.index()), |name| (*name).to_owned())
    }
    fn predicate(&self, _: PredicateId) -> String {
        "tight".to_owned()
    }
}

/// Eight independent switches have 256 ways to go on: as text some of them, counted, in the report all.
#[test]
fn text_of_many_reactions_is_cut_and_says_so() {
    let m = Builder::new("Switches");
    for position in 0..8 {
        let (x, y) = (m.unknown(&format!("x{position}")), m.unknown(&format!("y{position}")));
        let on = x.pre().gt(&m.real(0.0));
        m.equation(&format!("e{position}"), x.der() - &y);
        m.equation_if(&on, &format!("on{position}"), &y + &x);
        m.equation_if(&!&on, &format!("off{position}"), &y - 1.0);
    }
    let model = m.finish().unwrap();
    let report = analyze(&System::from_model(&model), ConstructiveOptions::default());
    let all: usize = (0..report.instants.len()).map(|from| report.courses(from).len()).sum();
    assert!(all >= 256, "{all}");
    let text = report.to_text(&ModelNames(&model));
    let reported = text
        .lines()
        .filter(|line| line.contains("goes on in start state"))
        .count();
    let more = text.lines().find_map(|line| {
        let more = line.trim().strip_prefix("… and ")?;
        more.strip_suffix(" more ways to go on; `--json` has all")?
            .parse::<usize>()
            .ok()
    });
    assert!(reported <= 200 && text.len() < 60_000, "{reported} {}", text.len());
    assert_eq!(more, Some(report.courses(0).len() - reported), "{text}");
}

/// Pairs of clutches that have nothing to do with each other are looked at one by one: what is said of each is what is said of
/// one alone.
#[test]
fn parts_are_looked_at_one_by_one() {
    let row = |guard: Formula, variables: &[(u32, u16)]| SystemEquation {
        variables: variables.iter().map(|&(var, order)| (VarId(var), order)).collect(),
        guard,
        kind: EquationKind::Continuous,
        sides: None,
    };
    let clutches = |count: u32| {
        let mut system = System::default();
        for at in 0..count {
            let [w1, w2, tau] = [3 * at, 3 * at + 1, 3 * at + 2];
            let engaged = Formula::Predicate(PredicateId(at));
            let released = Formula::Not(Box::new(engaged.clone()));
            system.predicates.push(Vec::new());
            system
                .equations
                .push(row(Formula::Constant(true), &[(w1, 0), (w1, 1), (tau, 0)]));
            system
                .equations
                .push(row(Formula::Constant(true), &[(w2, 0), (w2, 1), (tau, 0)]));
            system.equations.push(row(engaged, &[(w1, 0), (w2, 0)]));
            system.equations.push(row(released, &[(tau, 0)]));
        }
        system
    };
    let alone = analyze(&clutches(1), ConstructiveOptions::default());
    let many = clutches(40);
    let parts = many.parts();
    assert_eq!(parts.len(), 40);
    for (number, (part, predicates)) in parts.iter().enumerate() {
        assert_eq!(predicates, &[PredicateId(number as u32)]);
        let report = analyze(part, ConstructiveOptions::default());
        assert_eq!(report.is_accepted(), alone.is_accepted());
        assert_eq!(
            (report.modes.len(), report.instants.len(), report.reactions.len()),
            (alone.modes.len(), alone.instants.len(), alone.reactions.len())
        );
    }
}
