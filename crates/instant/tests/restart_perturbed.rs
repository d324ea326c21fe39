//! The reference mode changes with other parameters and left limits: conserved quantities are recomputed.

mod restart_support;

use restart_support::case::{Built, Case, Disguise};
use restart_support::laws::value;
use restart_support::reference_cases;
use restart_support::report::Report;
use saltus_structure::restart::*;
use saltus_testing::Random;

/// What a family of mode changes conserves, what holds after it, and how to move its values.
struct Law {
    /// Cases whose name starts with this…
    prefix: &'static str,
    /// … keep these quantities,
    conserved: &'static [&'static str],
    /// and satisfy these equations (`x^-`: before, `x`: after).
    after: &'static [&'static str],
    perturb: fn(&mut Case, &mut Random),
}

const ANGULAR: &str = "x*y' - y*x'";

const LAWS: &[Law] = &[
    Law {
        prefix: "cupball_inelastic",
        conserved: &[ANGULAR, "x", "y"],
        after: &["x*x' + y*y'"],
        perturb: cup,
    },
    Law {
        prefix: "inelastic_redundant",
        conserved: &[ANGULAR, "x", "y"],
        after: &["x*x' + y*y'"],
        perturb: cup,
    },
    Law {
        prefix: "cupball_release",
        conserved: &["x", "y", "x'", "y'"],
        after: &[],
        perturb: cup_tangential,
    },
    Law {
        prefix: "pendulum_identity",
        conserved: &["x", "y", "x'", "y'"],
        after: &[],
        perturb: cup_tangential,
    },
    Law {
        prefix: "elastic_(81)",
        conserved: &[ANGULAR, "x'**2 + y'**2"],
        after: &["x*x' + y*y' + x^-*x'^- + y^-*y'^-"],
        perturb: cup,
    },
    Law {
        prefix: "clutch_linear",
        conserved: &["J1*w1 + J2*w2"],
        after: &["w1 - w2"],
        perturb: everything,
    },
    Law {
        prefix: "clutch_nonlinear_junction",
        conserved: &["J1*w1 + J2*w2"],
        after: &["w2 - w1 - b*sin(w1)"],
        perturb: everything,
    },
    Law {
        prefix: "motor_clutch(engage)",
        conserved: &["J1*w1 + J2*w2 + k*C*u"],
        after: &["w1 - w2", "k*w1 - u"],
        perturb: motor,
    },
    Law {
        prefix: "motor_clutch_full",
        conserved: &["J1*w1 + J2*w2 + k*C*u"],
        after: &["w1 - w2", "k*w1 - u"],
        perturb: motor,
    },
    Law {
        prefix: "two_capacitors",
        conserved: &["C1*v1 + C2*v2"],
        after: &["v1 - v2"],
        perturb: everything,
    },
    Law {
        prefix: "3inertias_simultaneous",
        conserved: &["J1*w1 + J2*w2 + J3*w3"],
        after: &["w1 - w2", "w2 - w3"],
        perturb: everything,
    },
    Law {
        prefix: "3inertias_first",
        conserved: &["J1*w1 + J2*w2", "w3"],
        after: &["w1 - w2"],
        perturb: everything,
    },
    Law {
        prefix: "newton_cradle_elastic",
        conserved: &["m1*x1' + m2*x2'", "m1*x1'**2 + m2*x2'**2", "y1'", "y2'"],
        after: &["x1' - x2' + x1'^- - x2'^-"],
        perturb: cradle,
    },
];

fn everything(case: &mut Case, random: &mut Random) {
    for value in case.parameters.values_mut() {
        *value *= random.between(0.5, 2.0);
    }
    for value in case.left.values_mut() {
        *value += random.between(-2.0, 2.0);
    }
}

/// The ball anywhere on the circle.
fn cup(case: &mut Case, random: &mut Random) {
    everything(case, random);
    let radius = case.left["x"].hypot(case.left["y"]);
    case.parameters.insert("L".into(), radius);
}

fn cup_tangential(case: &mut Case, random: &mut Random) {
    cup(case, random);
    let (x, y, speed) = (case.left["x"], case.left["y"], random.between(-2.0, 2.0));
    case.left.insert("x'".into(), -speed * y);
    case.left.insert("y'".into(), speed * x);
}

fn motor(case: &mut Case, random: &mut Random) {
    everything(case, random);
    let voltage = case.parameters["k"] * case.left["w1"];
    case.left.insert("u".into(), voltage);
}

/// Balls at the bottom, horizontal velocities.
fn cradle(case: &mut Case, random: &mut Random) {
    for name in ["m1", "m2", "g"] {
        *case.parameters.get_mut(name).unwrap() *= random.between(0.5, 2.0);
    }
    for name in ["x1'", "x2'"] {
        *case.left.get_mut(name).unwrap() += random.between(-2.0, 2.0);
    }
}

#[test]
fn conserved_quantities() {
    let mut checked = 0;
    for (name, case) in reference_cases("restart_cases.json") {
        let Some(law) = LAWS.iter().find(|law| name.starts_with(law.prefix)) else {
            continue;
        };
        for seed in 0..5 {
            let mut random = Random(seed * 977 + 13);
            let mut case = Case::from_json(&case["inputs"]);
            (law.perturb)(&mut case, &mut random);
            let mut built = Built::new(&case, &mut Disguise::seeded(seed));
            let analysis = built.analyze();
            assert!(analysis.is_good(), "{name}");
            let solution = built.solve(analysis.plan.as_ref().unwrap()).expect(&name);
            let report = Report {
                built: &built,
                analysis: &analysis,
            };
            let after = report.right_limits(&solution);
            let size = 1.0 + after.values().fold(0.0_f64, |s, v| s.max(v * v));
            for quantity in law.conserved {
                let was = value(quantity, &case.left, &case.left, &case.parameters);
                let is = value(quantity, &case.left, &after, &case.parameters);
                assert!(
                    (was - is).abs() <= 1e-9 * size,
                    "{name}, seed {seed}: {quantity} was {was}, is {is}"
                );
            }
            for equation in law.after {
                let residual = value(equation, &case.left, &after, &case.parameters);
                assert!(
                    residual.abs() <= 1e-9 * size,
                    "{name}, seed {seed}: {equation} = {residual}"
                );
            }
            checked += 1;
        }
    }
    assert!(checked >= 5 * LAWS.len());
}

/// Verdict and structure do not depend on the values.
#[test]
fn verdicts_do_not_depend_on_values() {
    for (name, case) in reference_cases("restart_cases.json") {
        let mut stated = Case::from_json(&case["inputs"]);
        // Parameters enter constraints and zero crossings alike, so facts stay facts.
        let mut random = Random(99);
        for value in stated.parameters.values_mut() {
            *value *= random.between(0.7, 1.4);
        }
        let analysis = Built::new(&stated, &mut Disguise::none()).analyze();
        let singular = case["expected"]["why"]
            .as_str()
            .is_some_and(|why| why.contains("numerically singular"));
        let good = case["expected"]["good"].as_bool().unwrap() || singular;
        assert_eq!(analysis.is_good(), good, "{name}");
        let facts = case["expected"]["facts"].as_array().unwrap().len();
        assert_eq!(analysis.facts.len(), facts, "{name}");
    }
}

/// Facts from the numbers at the left limits give the same restart as facts by entailment, where both apply.
#[test]
fn numeric_facts_agree() {
    for (name, case) in reference_cases("restart_cases.json") {
        let stated = Case::from_json(&case["inputs"]);
        if stated.forced.is_some() || stated.zero_crossings.is_empty() || case["expected"]["good"] != true {
            continue;
        }
        let mut built = Built::new(&stated, &mut Disguise::none());
        let by_entailment = built.analyze();
        let environment = built.environment.clone();
        let by_numbers = built.with_change(|pool, functions, fixed, change| {
            let mut facts = NumericFacts::new(functions, fixed, &environment, change.is_unknown);
            let analysis = analyze_restart(pool, functions, fixed, change, &mut facts);
            assert!(analysis.agrees(pool, &mut facts), "{name}");
            analysis
        });
        assert!(by_numbers.is_good(), "{name}");
        let labels = |analysis: &RestartAnalysis| analysis.facts.iter().map(|fact| fact.label).collect::<Vec<_>>();
        assert_eq!(labels(&by_entailment), labels(&by_numbers), "{name}");
    }
}
