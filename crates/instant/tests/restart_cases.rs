//! Every reference mode change: offsets, heights, sets, μ, verdict, restart values, diagnosis; as stated and disguised.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

mod restart_support;

use saltus_mdae::Derivative;
use std::collections::BTreeMap;

use restart_support::case::{Built, Case, Disguise};
use restart_support::report::{Names, Report};
use restart_support::{named_cases, reference_cases};
use saltus_graph::Row;
use saltus_instant::*;
use saltus_structure::restart::*;
use serde_json::Value;

/// The cases of a file. The reference file prints nine digits; the right limits are those of `restart_values.json`, which
/// has all of them and agrees with it as printed.
fn cases(file: &str) -> BTreeMap<String, Value> {
    let mut cases = reference_cases(file);
    if file != "restart_cases.json" {
        return cases;
    }
    for (name, values) in reference_cases("restart_values.json") {
        let expected = &mut cases.get_mut(&name).expect("a case")["expected"];
        for (key, full) in values.as_object().unwrap() {
            for (state, printed) in expected[key].as_object().unwrap() {
                let (full, printed) = (full[state].as_f64().unwrap(), printed.as_f64().unwrap());
                assert!(agrees_as_printed(full, printed), "{name}: {state}: {full}, {printed}");
            }
            expected[key] = full.clone();
        }
    }
    cases
}

fn names(value: &Value) -> Names {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_string())
        .collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// Half a unit in the last of nine digits, or 1e-9.
fn agrees_as_printed(full: f64, printed: f64) -> bool {
    let unit = 10_f64.powf(printed.abs().log10().floor() - 8.0);
    (full - printed).abs() <= 0.5000001 * unit || close(full, printed)
}

struct Check<'a> {
    name: &'a str,
    expected: &'a Value,
    failures: Vec<String>,
}

impl Check<'_> {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, got: T, wanted: T) {
        if got != wanted {
            self.failures
                .push(format!("{}: {what}: {got:?}, expected {wanted:?}", self.name));
        }
    }
    fn set(&mut self, key: &str, got: Names) {
        if self.expected.get(key).is_some() {
            let wanted = names(&self.expected[key]);
            self.same(key, got, wanted);
        }
    }
    fn values(&mut self, key: &str, got: &BTreeMap<String, f64>) {
        let Some(wanted) = self.expected.get(key).and_then(Value::as_object) else {
            return;
        };
        for (state, value) in wanted {
            let value = value.as_f64().unwrap();
            if !got.get(state).is_some_and(|&got| close(got, value)) {
                self.failures.push(format!(
                    "{}: {key}: {state} = {:?}, expected {value}",
                    self.name,
                    got.get(state)
                ));
            }
        }
        self.same(&format!("number of {key}"), got.len(), wanted.len());
    }

    fn offsets(&mut self, system: &ModeSystem, built: &Built, c: &str, d: &str) {
        for row in (0..system.equations().len()).map(Row::from_index) {
            let label = &built.labels[&system.equation(row).origin];
            let wanted = self.expected[c][label].as_u64().unwrap() as u16;
            self.same(&format!("{c} of {label}"), system.equation_offset(row), wanted);
        }
        for &var in system.unknowns() {
            let name = &built.variables[&var];
            let wanted = self.expected[d][name].as_u64().map(|d| d as u16);
            self.same(&format!("{d} of {name}"), system.offset_of(var), wanted);
        }
    }

    fn heights(&mut self, report: &Report) {
        match &self.expected["K"] {
            Value::Object(by_component) => {
                let wanted: BTreeMap<String, u16> = by_component
                    .iter()
                    .map(|(k, v)| (k.clone(), v.as_u64().unwrap() as u16))
                    .collect();
                self.same("K", report.heights(), wanted);
            }
            all => {
                let wanted = all.as_u64().unwrap() as u16;
                let heights: Vec<u16> = report.heights().into_values().collect();
                if !heights.iter().all(|&height| height == wanted) {
                    self.failures
                        .push(format!("{}: K: {heights:?}, expected {wanted}", self.name));
                }
            }
        }
        if let Some(bounds) = self.expected.get("K_bounds").and_then(Value::as_array) {
            let pair = |b: &Value| (b[0].as_u64().unwrap() as u16, b[1].as_u64().unwrap() as u16);
            let mut wanted: Vec<(u16, u16)> = bounds.iter().map(pair).collect();
            wanted.sort_unstable();
            self.same("K_bounds", report.bounds(), wanted);
        }
    }

    fn structure(&mut self, report: &Report) {
        let analysis = report.analysis;
        self.heights(report);
        self.set("past", report.past());
        self.set(
            "invariants",
            analysis.invariants.iter().map(|&row| report.row(row)).collect(),
        );
        self.set(
            "facts",
            analysis.facts.iter().map(|fact| report.label(fact.label)).collect(),
        );
        self.set("disabled_past_only", report.labels(&analysis.past_only));
        self.set("disabled_class_redundant", report.labels(&analysis.class_redundant));
        self.set("disabled_past_determined", report.labels(&analysis.past_determined));
        self.set("disabled_lossy", report.labels(&analysis.lossy));
        let dropped = analysis.dropped_restart_equations.iter();
        let dropped = dropped.map(|&i| report.built.labels[&report.built.restart[i as usize].origin].clone());
        self.set("dropped_T", dropped.collect());
        if let Some(size) = self.expected.get("size").and_then(Value::as_u64) {
            self.same("size", analysis.unknowns.len() as u64, size);
            let euler = analysis
                .equations
                .iter()
                .filter(|(e, _)| matches!(e, ConcreteEquation::Euler(_)));
            self.same("euler", Some(euler.count() as u64), self.expected["euler"].as_u64());
        }
        if let Some(mu) = self.expected.get("mu").and_then(Value::as_object) {
            let wanted = mu
                .iter()
                .map(|(k, v)| (k.clone(), v.as_u64().unwrap() as u32))
                .collect();
            self.same("mu", report.mu(), wanted);
        }
    }

    fn violations(&mut self, report: &Report) {
        let Some(violations) = self.expected.get("violations") else {
            return;
        };
        let found = &report.analysis.violations;
        self.same("(52)", report.variables(&found.tail), names(&violations["52"]));
        self.same("(53)", report.variables(&found.outside), names(&violations["53"]));
        let wanted: BTreeMap<String, Names> = violations["51"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| (pair[0].as_str().unwrap().to_string(), names(&pair[1])))
            .collect();
        let nonlinear = found.nonlinear.iter();
        let found = nonlinear.map(|(equation, v)| (report.equation(*equation), report.variables(v)));
        self.same("(51)", found.collect(), wanted);
    }

    fn diagnosis(&mut self, report: &Report) {
        self.set("over_set", report.labels(&report.analysis.conflict));
        let Some(diagnosis) = &report.analysis.diagnosis else {
            self.same("diagnosis", self.expected.get("undetermined_vars").is_some(), false);
            return;
        };
        self.set("determined", report.states(&diagnosis.determined));
        self.set("undetermined", report.states(&diagnosis.undetermined));
        self.set("undetermined_vars", report.variables(&diagnosis.undetermined_variables));
    }

    fn restart(&mut self, report: &Report) {
        let analysis = report.analysis;
        let singular = self.expected.get("why").and_then(Value::as_str)
            == Some("structurally good but restart Jacobian numerically singular");
        let good = self.expected["good"].as_bool().unwrap();
        self.same("good", analysis.is_good(), good || singular);
        let Some(plan) = &analysis.plan else {
            self.same("plan", self.expected.get("plus").is_some(), false);
            return;
        };
        let rank = self.expected.get("rank").and_then(Value::as_str).map(str::to_string);
        match report.built.solve(plan) {
            Ok(solution) => {
                self.same("numerically regular", singular, false);
                let key = if good { "plus" } else { "plus_partial" };
                self.values(key, &report.right_limits(&solution));
                if let Some(rank) = rank {
                    self.same("rank", format!("{}/{}", solution.rank, plan.unknowns.len()), rank);
                }
            }
            Err(RestartFailure::Singular { rank: found, size, .. }) => {
                self.same("rank", Some(format!("{found}/{size}")), rank);
                self.same("numerically singular", true, singular);
            }
            Err(failure) => self.failures.push(format!("{}: {failure:?}", self.name)),
        }
    }
}

fn check(name: &str, case: &Value, disguise: &mut Disguise) -> Vec<String> {
    let stated = Case::from_json(&case["inputs"]);
    let mut built = Built::new(&stated, disguise);
    let analysis = built.analyze();
    let report = Report {
        built: &built,
        analysis: &analysis,
    };
    let mut check = Check {
        name,
        expected: &case["expected"],
        failures: Vec::new(),
    };
    check.offsets(&built.new, &built, "c", "d");
    if let Some(prev) = &built.prev {
        check.offsets(prev, &built, "c_prev", "d_prev");
    }
    check.structure(&report);
    check.violations(&report);
    check.diagnosis(&report);
    check.restart(&report);
    check.failures
}

#[test]
fn cases_of_the_reference() {
    let mut failures = Vec::new();
    let cases = cases("restart_cases.json");
    assert_eq!(cases.len(), 31);
    for (name, case) in &cases {
        failures.extend(check(name, case, &mut Disguise::none()));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn reference_cases_disguised() {
    let mut failures = Vec::new();
    for (name, case) in &cases("restart_cases.json") {
        for seed in 1..=3 {
            failures.extend(check(name, case, &mut Disguise::seeded(seed)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Further mode changes of the same kinds, computed by an independent program.
#[test]
fn further_cases() {
    let mut failures = Vec::new();
    let files = [
        "restart_cases_more.json",
        "restart_cases_families.json",
        "restart_cases_composed.json",
        "restart_cases_physics.json",
    ];
    for file in files {
        for (name, case) in &cases(file) {
            // Some are given with their laws only.
            if case["expected"].get("c").is_none() {
                continue;
            }
            failures.extend(check(name, case, &mut Disguise::none()));
            failures.extend(check(name, case, &mut Disguise::seeded(7)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Mode changes of a file in the same form that is named by `SALTUS_RESTART_CASES`; every difference is printed. Values are
/// compared to 1e-9, so the file must give them with more than nine digits.
#[test]
fn cases_of_another_file() {
    let Ok(path) = std::env::var("SALTUS_RESTART_CASES") else {
        println!("skipped: SALTUS_RESTART_CASES names no file");
        return;
    };
    let text = std::fs::read_to_string(path).expect("the file");
    let cases = named_cases(&text);
    let mut different = 0;
    for (name, case) in &cases {
        let stated = Case::from_json(&case["inputs"]);
        if Built::regular(&stated, &mut Disguise::none()).is_none() {
            println!("{name}: a mode is singular");
            different += 1;
            continue;
        }
        let failures = check(name, case, &mut Disguise::none());
        different += usize::from(!failures.is_empty());
        for failure in failures {
            println!("{failure}");
        }
    }
    assert_eq!(different, 0, "of {} differ", cases.len());
}

/// Implicit Euler limits and consistency projections given in the reference file.
#[test]
fn independent_ways_agree_with_the_reference() {
    let (mut euler_checked, mut projections_checked) = (0, 0);
    for (name, case) in &cases("restart_cases.json") {
        let expected = &case["expected"];
        let built = Built::new(&Case::from_json(&case["inputs"]), &mut Disguise::seeded(3));
        let rows: Vec<Row> = (0..built.new.equations().len()).map(Row::from_index).collect();
        let (pool, functions, new, left) = (&built.pool, &built.functions, &built.new, &built.environment);
        if let Some(wanted) = expected["implicit_euler"].as_object() {
            let steps = expected["ie_steps"].as_u64().map(|steps| steps as usize);
            let found = implicit_euler_restart(pool, functions, new, &rows, left, steps).expect(name);
            for limit in found {
                let state = format!("{}{}", built.variables[&limit.var], "'".repeat(limit.order.into()));
                match (limit.value, wanted[&state].as_f64()) {
                    (Some(got), Some(wanted)) => assert!(
                        (got - wanted).abs() <= 1e-6 * (1.0 + wanted.abs()),
                        "{name}: {state} = {got}, expected {wanted}"
                    ),
                    (got, wanted) => assert_eq!(got, wanted, "{name}: {state}"),
                }
                euler_checked += 1;
            }
        }
        if let Some(wanted) = expected["projector"].as_object() {
            let found = project_restart(pool, functions, new, &rows, left).expect(name);
            for (var, order, got) in found.right_limits {
                let Some(wanted) = (order == 0).then(|| wanted[&built.variables[&var]].as_f64().unwrap()) else {
                    continue;
                };
                let close = (got - wanted).abs() <= 2e-6 * (1.0 + wanted.abs());
                assert!(close, "{name}: {} = {got}, expected {wanted}", built.variables[&var]);
                projections_checked += 1;
            }
        }
    }
    assert!(
        euler_checked > 90 && projections_checked > 20,
        "{euler_checked}, {projections_checked}"
    );
}

/// F.1 and F.2 of RR-9603: where (52) fails or the Jacobian is singular, the projector gives the right limits.
#[test]
fn projector_where_structure_fails() {
    for (name, case) in &cases("restart_cases.json") {
        let Some(wanted) = case["expected"]["fallback_value"].as_object() else {
            continue;
        };
        let mut built = Built::new(&Case::from_json(&case["inputs"]), &mut Disguise::none());
        let analysis = built.analyze();
        let found = project_restart(
            &built.pool,
            &built.functions,
            &built.new,
            &analysis.rows,
            &built.environment,
        );
        let found: BTreeMap<String, f64> = found
            .expect(name)
            .right_limits
            .into_iter()
            .map(|(var, order, value)| (format!("{}{}", built.variables[&var], "'".repeat(order.into())), value))
            .collect();
        for (state, wanted) in wanted {
            assert!(
                close(found[state], wanted.as_f64().unwrap()),
                "{name}: {state} = {}",
                found[state]
            );
        }
    }
}

/// Whether the left limits satisfy the previous mode.
fn left_limits_are_consistent(built: &mut Built) -> bool {
    let Some(previous) = &built.prev else { return true };
    let is_unknown = |var| built.model.variables[var].role == saltus_mdae::Role::Continuous;
    let numeric = NumericFacts::new(&built.functions, &built.fixed, &built.environment, &is_unknown);
    (0..previous.equations().len()).map(Row::from_index).all(|row| {
        (0..previous.equation_offset(row)).all(|order| {
            let residual = built.pool.nth_total_derivative(previous.equation(row).residual, order);
            let (value, scale) = numeric.residual(&built.pool, residual);
            value.abs() <= 1e-9 * scale
        })
    })
}

/// Analysing only what a change touches gives the same right limits; what is left out keeps its left limits.
#[test]
fn touched_part_is_enough() {
    let mut smaller = 0;
    for file in ["restart_cases.json", "restart_cases_more.json"] {
        for (name, case) in &cases(file) {
            let stated = Case::from_json(&case["inputs"]);
            if stated.forced.is_some() {
                continue;
            }
            let mut built = Built::new(&stated, &mut Disguise::none());
            if !left_limits_are_consistent(&mut built) {
                continue;
            }
            let all = built.analyze();
            built.options.scope = Scope::Touched;
            let touched = built.analyze();
            assert_eq!(all.verdict, touched.verdict, "{name}");
            smaller += usize::from(touched.rows.len() < all.rows.len());
            let (Some(plan), Some(small)) = (&all.plan, &touched.plan) else {
                continue;
            };
            let (Ok(complete), Ok(part)) = (built.solve(plan), built.solve(small)) else {
                continue;
            };
            for (var, order, value) in complete.right_limits {
                let found = part
                    .right_limits
                    .iter()
                    .find(|limit| (limit.0, limit.1) == (var, order));
                let found = found.map_or_else(|| built.environment.left[&Derivative { var, order }], |limit| limit.2);
                assert!(
                    close(found, value),
                    "{name}: {}: {found}, {value}",
                    built.variables[&var]
                );
            }
        }
    }
    assert!(smaller > 20, "{smaller}");
}
