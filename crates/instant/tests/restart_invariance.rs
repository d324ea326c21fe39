//! Mode changes under other names and in other orders, compared with themselves: nothing that is found may differ.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

mod restart_support;

use std::collections::BTreeMap;

use restart_support::case::{Built, Case, Disguise};
use restart_support::report::Report;
use restart_support::{named_cases, reference_cases};
use saltus_instant::*;
use saltus_structure::restart::*;
use serde_json::Value;

/// Everything that an analysis says, in the case's own names.
#[derive(Default)]
struct Seen {
    facts: BTreeMap<&'static str, String>,
    values: BTreeMap<String, f64>,
}

impl Seen {
    fn say(&mut self, what: &'static str, value: impl std::fmt::Debug) {
        self.facts.insert(what, format!("{value:?}"));
    }

    fn of(case: &Case, disguise: &mut Disguise) -> Option<Self> {
        let mut built = Built::regular(case, disguise)?;
        let analysis = built.analyze();
        let report = Report {
            built: &built,
            analysis: &analysis,
        };
        let mut seen = Seen::default();
        seen.structure(&report);
        seen.refusal(&report);
        if let Some(plan) = &analysis.plan {
            seen.solution(&report, built.solve(plan));
        }
        Some(seen)
    }

    fn structure(&mut self, report: &Report) {
        let analysis = report.analysis;
        self.say("verdict", analysis.verdict);
        self.say("heights", report.heights());
        self.say("bounds", report.bounds());
        self.say("past", report.past());
        self.say(
            "facts",
            sorted(analysis.facts.iter().map(|fact| report.label(fact.label))),
        );
        self.say("past only", report.labels(&analysis.past_only));
        self.say("class-redundant", report.labels(&analysis.class_redundant));
        self.say("past-determined", report.labels(&analysis.past_determined));
        self.say("lossy", report.labels(&analysis.lossy));
        self.say("mu", report.mu());
        if matches!(
            analysis.verdict,
            RestartVerdict::Overdetermined | RestartVerdict::Underdetermined
        ) {
            // No square array, so no offsets either.
            return;
        }
        let equations = analysis.equations.iter();
        let equations = equations.map(|&(equation, mu)| format!("{}: {mu}", report.equation(equation)));
        self.say("offsets of equations", sorted(equations));
    }

    fn refusal(&mut self, report: &Report) {
        let analysis = report.analysis;
        self.say("conflict", report.labels(&analysis.conflict));
        self.say("(52)", report.variables(&analysis.violations.tail));
        self.say("(53)", report.variables(&analysis.violations.outside));
        let nonlinear = analysis.violations.nonlinear.iter();
        let nonlinear = nonlinear.map(|(e, v)| format!("{}: {:?}", report.equation(*e), report.variables(v)));
        self.say("(51)", sorted(nonlinear));
        if let Some(diagnosis) = &analysis.diagnosis {
            self.say("determined", report.states(&diagnosis.determined));
            self.say("undetermined", report.states(&diagnosis.undetermined));
            self.say("free", report.variables(&diagnosis.undetermined_variables));
        }
    }

    fn solution(&mut self, report: &Report, solution: Result<RestartSolution, RestartFailure>) {
        match solution {
            Ok(solution) => {
                self.values.extend(report.right_limits(&solution));
                for impulse in &solution.impulses {
                    let name = report.state(impulse.var, impulse.order);
                    self.values
                        .insert(format!("impulse {} of {name}", impulse.mu), impulse.weight);
                }
            }
            Err(RestartFailure::Singular { rank, size, .. }) => self.say("singular", (rank, size)),
            Err(RestartFailure::NotConverged { equations, .. }) => self.say("not converged", equations.len()),
            Err(failure) => self.say("failure", std::mem::discriminant(&failure)),
        }
    }

    fn differences(&self, other: &Seen) -> Vec<String> {
        let mut found = Vec::new();
        for (what, reported) in &other.facts {
            let here = self.facts.get(what);
            if here != Some(reported) {
                found.push(format!(
                    "{what}: {}, not {reported}",
                    here.map_or("nothing", String::as_str)
                ));
            }
        }
        for (what, value) in &other.values {
            let here = self.values.get(what);
            if !here.is_some_and(|here| (here - value).abs() <= 1e-9 * (1.0 + value.abs())) {
                found.push(format!("{what}: {here:?}, not {value}"));
            }
        }
        found
    }
}

fn sorted(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut items: Vec<String> = items.collect();
    items.sort_unstable();
    items
}

fn differences(cases: &BTreeMap<String, Value>, seeds: u64) -> Vec<String> {
    let mut found = Vec::new();
    for (name, case) in cases {
        let case = Case::from_json(&case["inputs"]);
        let Some(stated) = Seen::of(&case, &mut Disguise::none()) else {
            continue;
        };
        for seed in 1..=seeds {
            let disguised = Seen::of(&case, &mut Disguise::seeded(seed)).expect("regular modes");
            let different = disguised.differences(&stated);
            found.extend(different.iter().map(|d| format!("{name} (seed {seed}): {d}")));
        }
    }
    found
}

#[test]
fn nothing_depends_on_names_or_orders() {
    for file in [
        "restart_cases.json",
        "restart_cases_more.json",
        "restart_cases_families.json",
        "restart_cases_composed.json",
        "restart_cases_physics.json",
    ] {
        let found = differences(&reference_cases(file), 3);
        assert!(found.is_empty(), "{file}:\n{}", found.join("\n"));
    }
}

/// The same for a file in this form that is named by `SALTUS_RESTART_CASES`.
#[test]
fn nothing_depends_on_names_or_orders_in_another_file() {
    let Ok(path) = std::env::var("SALTUS_RESTART_CASES") else {
        println!("skipped: SALTUS_RESTART_CASES names no file");
        return;
    };
    let text = std::fs::read_to_string(path).expect("the file");
    let found = differences(&named_cases(&text), 4);
    assert!(found.is_empty(), "{}", found.join("\n"));
}
