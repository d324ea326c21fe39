//! Mode changes of model families: chains, switched networks, gears, initialisation, explanations.

mod restart_support;

use std::collections::BTreeMap;

use restart_support::case::{Built, Case, Disguise};
use restart_support::report::Report;
use restart_support::{Equations, Values};
use saltus_graph::Row;
use saltus_instant::*;
use saltus_mdae::{Derivative, Idx, Role, VarId};
use saltus_structure::restart::*;
use saltus_testing::Random;

fn equations(list: &[(&str, &str)]) -> Equations {
    list.iter()
        .map(|&(label, text)| (label.to_string(), text.to_string()))
        .collect()
}
fn values(list: &[(&str, f64)]) -> Values {
    list.iter().map(|&(name, value)| (name.to_string(), value)).collect()
}

/// n + 1 inertias, n clutches, open before; those listed engage.
fn clutch_chain(n: usize, engaging: &[usize], random: &mut Random) -> Case {
    let mut case = Case::default();
    let mut common = Equations::new();
    let (mut open, mut engaged) = (Equations::new(), Equations::new());
    for i in 0..=n {
        let left = if i > 0 { format!(" - t{}", i - 1) } else { String::new() };
        let right = if i < n { format!(" + t{i}") } else { String::new() };
        common.insert(format!("e{i:05}"), format!("J{i}*w{i}' + b*w{i}{left}{right}"));
        case.parameters.insert(format!("J{i}"), random.between(0.5, 2.0));
        case.left.insert(format!("w{i}"), random.between(-3.0, 3.0));
    }
    for i in 0..n {
        open.insert(format!("o{i:05}"), format!("t{i}"));
        if engaging.contains(&i) {
            engaged.insert(format!("c{i:05}"), format!("w{i} - w{}", i + 1));
        } else {
            engaged.insert(format!("o{i:05}"), format!("t{i}"));
        }
    }
    case.parameters.insert("b".into(), 0.1);
    case.prev = Some(common.clone().into_iter().chain(open).collect());
    case.new = common.into_iter().chain(engaged).collect();
    case
}

fn restarted(case: &Case, disguise: &mut Disguise, scope: Scope) -> (Built, RestartAnalysis, RestartSolution) {
    let mut built = Built::new(case, disguise);
    built.options.scope = scope;
    let analysis = built.analyze();
    assert!(analysis.is_good(), "{:?}", analysis.verdict);
    let solution = built.solve(analysis.plan.as_ref().unwrap()).expect("a solution");
    (built, analysis, solution)
}

fn right_limits(case: &Case, disguise: &mut Disguise) -> BTreeMap<String, f64> {
    let (built, analysis, solution) = restarted(case, disguise, Scope::All);
    let report = Report {
        built: &built,
        analysis: &analysis,
    };
    report.right_limits(&solution)
}

#[test]
fn chains_of_clutches_conserve_momentum() {
    for (n, seed) in [(1, 1), (2, 2), (5, 3), (30, 4), (120, 5)] {
        let mut random = Random(seed);
        let all: Vec<usize> = (0..n).collect();
        let case = clutch_chain(n, &all, &mut random);
        let after = right_limits(&case, &mut Disguise::seeded(seed));
        let momentum = |speeds: &dyn Fn(usize) -> f64| -> f64 {
            (0..=n).map(|i| case.parameters[&format!("J{i}")] * speeds(i)).sum()
        };
        let inertia: f64 = momentum(&|_| 1.0);
        let common = momentum(&|i| case.left[&format!("w{i}")]) / inertia;
        for i in 0..=n {
            assert!((after[&format!("w{i}")] - common).abs() < 1e-9, "w{i} of {n}");
        }
    }
}

/// One clutch of a long chain: only the two inertias beside it are touched.
#[test]
fn one_clutch_touches_its_neighbours_only() {
    let n = 400;
    let case = clutch_chain(n, &[200], &mut Random(5));
    let (built, analysis, solution) = restarted(&case, &mut Disguise::none(), Scope::Touched);
    assert!(analysis.unknowns.len() <= 8, "{}", analysis.unknowns.len());
    let report = Report {
        built: &built,
        analysis: &analysis,
    };
    let after = report.right_limits(&solution);
    let (a, b) = (case.parameters["J200"], case.parameters["J201"]);
    let common = (a * case.left["w200"] + b * case.left["w201"]) / (a + b);
    assert!((after["w200"] - common).abs() < 1e-12 && (after["w201"] - common).abs() < 1e-12);
    let torque = built.variables.iter().find(|(_, name)| *name == "t200").unwrap().0;
    let impulse = solution.impulses.iter().find(|impulse| impulse.var == *torque).unwrap();
    assert_eq!((impulse.mu, impulse.order), (1, 0));
    assert!((impulse.weight - a * (case.left["w200"] - common)).abs() < 1e-12);
}

/// Capacitors in microfarad joined by switches, inductors and resistors around: charge is conserved per island.
#[test]
fn switched_capacitors_share_charge() {
    let common = equations(&[
        ("n1", "C1*v1' + i12 + q"),
        ("n2", "C2*v2' - i12 + i23 + v2/R"),
        ("n3", "C3*v3' - i23 - q"),
        ("l", "L*q' - v1 + v3"),
    ]);
    let open = equations(&[("o12", "i12"), ("o23", "i23")]);
    let closed = equations(&[("s12", "v1 - v2"), ("s23", "v2 - v3")]);
    let join = |more: &Equations| -> Equations { common.clone().into_iter().chain(more.clone()).collect() };
    let mut case = Case {
        prev: Some(join(&open)),
        new: join(&closed),
        parameters: values(&[("C1", 1e-6), ("C2", 22e-6), ("C3", 4.7e-6), ("R", 1e3), ("L", 1e-3)]),
        left: values(&[("v1", 12.0), ("v2", -3.0), ("v3", 5.0), ("q", 0.25)]),
        ..Case::default()
    };
    let after = right_limits(&case, &mut Disguise::seeded(1));
    let common_voltage = (12.0 - 3.0 * 22.0 + 5.0 * 4.7) / (1.0 + 22.0 + 4.7);
    for node in ["v1", "v2", "v3"] {
        assert!((after[node] - common_voltage).abs() < 1e-9, "{node} = {}", after[node]);
    }
    assert!(
        (after["q"] - 0.25).abs() < 1e-12,
        "the inductor's current is continuous"
    );
    // Opening again changes nothing.
    std::mem::swap(&mut case.new, case.prev.as_mut().unwrap());
    case.left.extend(values(&[("v1", 2.0), ("v2", 2.0), ("v3", 2.0)]));
    let after = right_limits(&case, &mut Disguise::seeded(2));
    assert_eq!(after, case.left);
}

/// A gear whose ratio is a discrete variable that jumps: the equations are the same before and after.
#[test]
fn gear_shift_by_a_jumping_ratio() {
    let shaft = equations(&[("a", "J1*w1' + t"), ("b", "J2*w2' - r*t"), ("g", "w1 - r*w2")]);
    let case = Case {
        prev: Some(shaft.clone()),
        new: shaft,
        parameters: values(&[("J1", 1.0), ("J2", 2.0), ("r", 3.0)]),
        left: values(&[("w1", 6.0), ("w2", 3.0)]),
        ..Case::default()
    };
    let mut built = Built::new(&case, &mut Disguise::none());
    let ratio = *built.variables.iter().find(|(_, name)| *name == "r").unwrap().0;
    // Its value before, 2, is a left limit; 3 is the value now.
    built.fixed.values[ratio.index()] = None;
    built.environment.left.insert(Derivative::value_of(ratio), 2.0);
    let steady = built.with_change(|pool, functions, fixed, change| {
        let mut facts = StructuralFacts::new(functions, fixed);
        analyze_restart(pool, functions, fixed, change, &mut facts)
    });
    assert!(steady.unknowns.is_empty(), "nothing jumps when the ratio does not");
    let shifted = built.with_change(|pool, functions, fixed, change| {
        let jumped = [ratio];
        let change = ModeChange {
            jumped: &jumped,
            ..change
        };
        let mut facts = StructuralFacts::new(functions, fixed);
        analyze_restart(pool, functions, fixed, change, &mut facts)
    });
    assert!(shifted.is_good());
    let solution = built.solve(shifted.plan.as_ref().unwrap()).unwrap();
    let report = Report {
        built: &built,
        analysis: &shifted,
    };
    let after = report.right_limits(&solution);
    // J1·Δw1 = −P, J2·Δw2 = 3·P and w1 = 3·w2.
    assert!((after["w1"] - 3.0 * after["w2"]).abs() < 1e-12);
    assert!((3.0 * 1.0 * (after["w1"] - 6.0) + 2.0 * (after["w2"] - 3.0)).abs() < 1e-12);
}

/// A variable that was algebraic and becomes a state keeps its value when nothing else determines it.
#[test]
fn algebraic_variable_becomes_state() {
    let case = Case {
        prev: Some(equations(&[("c", "v - 2"), ("n", "i - (E - v)/R")])),
        new: equations(&[("c2", "C*v' - i"), ("n", "i - (E - v)/R")]),
        parameters: values(&[("C", 1.0), ("E", 5.0), ("R", 2.0)]),
        left: values(&[("v", 2.0), ("i", 1.5)]),
        ..Case::default()
    };
    let (built, analysis, solution) = restarted(&case, &mut Disguise::none(), Scope::All);
    assert_eq!(analysis.kept.len(), 1);
    assert_eq!(built.variables[&analysis.kept[0]], "v");
    assert_eq!(solution.right_limits[0].2, 2.0);
}

/// Two inertias in a rigid train started at 0 and 10 rad/s with J = 0.1 and 0.4 run at 8; with the motor's capacitor
/// at 6.4.
#[test]
fn initialisation_from_start_values() {
    let start = |case: &Case| -> BTreeMap<String, f64> {
        let mut built = Built::new(case, &mut Disguise::none());
        let environment = built.environment.clone();
        let rows: Vec<Row> = (0..built.new.equations().len()).map(Row::from_index).collect();
        // All equations but the coupling are unguarded.
        let guarded = |row: &Row| built.labels[&built.new.equation(*row).origin] == "coupling";
        let unguarded: Vec<Row> = rows.into_iter().filter(|row| !guarded(row)).collect();
        let analysis = built.with_change(|pool, functions, fixed, change| {
            let change = ModeChange {
                before: Before::Start { unguarded: &unguarded },
                ..change
            };
            let mut facts = NumericFacts::new(functions, fixed, &environment, change.is_unknown);
            analyze_restart(pool, functions, fixed, change, &mut facts)
        });
        assert!(analysis.is_good(), "{:?}", analysis.verdict);
        let solution = built.solve(analysis.plan.as_ref().unwrap()).unwrap();
        let report = Report {
            built: &built,
            analysis: &analysis,
        };
        report.right_limits(&solution)
    };
    let mut case = Case {
        new: equations(&[("a", "J1*w1' + t"), ("b", "J2*w2' - t"), ("coupling", "w1 - w2")]),
        parameters: values(&[("J1", 0.1), ("J2", 0.4)]),
        left: values(&[("w1", 0.0), ("w2", 10.0)]),
        ..Case::default()
    };
    let after = start(&case);
    assert!((after["w1"] - 8.0).abs() < 1e-12 && (after["w2"] - 8.0).abs() < 1e-12);
    case.new = equations(&[
        ("a", "J1*w1' + C*k*u' + t - k*(U - u)/R"),
        ("b", "J2*w2' - t"),
        ("emf", "k*w1 - u"),
        ("coupling", "w1 - w2"),
    ]);
    case.parameters
        .extend(values(&[("C", 2.0), ("k", 0.25), ("R", 1.0), ("U", 10.0)]));
    case.left.insert("u".into(), 0.0);
    let after = start(&case);
    assert!((after["w1"] - 6.4).abs() < 1e-12 && (after["u"] - 1.6).abs() < 1e-12);
}

/// A restart equation about an algebraic variable at its right limit brings in the leading equations.
#[test]
fn restart_equation_about_an_algebraic_variable() {
    // A push p after which the damper's force must be 3.
    let cart = equations(&[("m", "m*x'' + f"), ("s", "f - b*x'")]);
    let case = Case {
        prev: Some(cart.clone()),
        new: cart,
        restart: equations(&[("N", "f - 3")]),
        transient: Some(equations(&[("push", "m*x'' + f + p"), ("s", "f - b*x'")])),
        parameters: values(&[("m", 2.0), ("b", 6.0)]),
        left: values(&[("x", 0.1), ("x'", 1.5), ("f", 9.0)]),
        ..Case::default()
    };
    let (built, analysis, solution) = restarted(&case, &mut Disguise::seeded(2), Scope::Touched);
    let report = Report {
        built: &built,
        analysis: &analysis,
    };
    let after = report.right_limits(&solution);
    assert!((after["x'"] - 0.5).abs() < 1e-12);
    assert_eq!(after["x"], 0.1);
    let push = solution
        .impulses
        .iter()
        .find(|impulse| built.variables[&impulse.var] == "p")
        .expect("an impulse");
    assert!((push.weight - 2.0 * (1.5 - 0.5)).abs() < 1e-12);
}

/// The mode's equations are differentiated as far as a restart equation asks.
#[test]
fn restart_equation_about_a_derivative_of_an_algebraic_variable() {
    // A push p after which the damper's force must rise at rate 1: f' = b·x'' = −b·f/m.
    let cart = equations(&[("m", "m*x'' + f"), ("s", "f - b*x'")]);
    let case = Case {
        prev: Some(cart.clone()),
        new: cart,
        restart: equations(&[("N", "f' - 1")]),
        transient: Some(equations(&[("push", "m*x'' + f + p"), ("s", "f - b*x'")])),
        parameters: values(&[("m", 2.0), ("b", 6.0)]),
        left: values(&[("x", 0.1), ("x'", 1.5), ("f", 9.0)]),
        ..Case::default()
    };
    let after = right_limits(&case, &mut Disguise::seeded(2));
    assert!((after["x'"] + 1.0 / 18.0).abs() < 1e-12, "{after:?}");
    // Without a push the rate is what the mode makes it.
    let capacitors = Case {
        prev: Some(equations(&[("c1", "C*v1' + i"), ("c2", "C*v2' - i"), ("o", "i")])),
        new: equations(&[("c1", "C*v1' + i"), ("c2", "C*v2' - i"), ("cl", "v1 - v2")]),
        restart: equations(&[("N", "i' + i'^-")]),
        parameters: values(&[("C", 1.0)]),
        ..Case::default()
    };
    let analysis = Built::new(&capacitors, &mut Disguise::none()).analyze();
    assert_eq!(analysis.verdict, RestartVerdict::Overdetermined);
}

/// `reinit(v, −e·pre(v))`: a transient whose head leaves out the equation of the state.
#[test]
fn reinit_is_a_transient_without_the_equation_of_the_state() {
    let ball = equations(&[("n", "x'' + g"), ("c", "z' + z - x")]);
    let case = Case {
        prev: Some(ball.clone()),
        new: ball,
        zero_crossings: vec!["x".into()],
        restart: equations(&[("reinit", "x' + e*x'^-")]),
        transient: Some(equations(&[("c", "z' + z - x")])),
        parameters: values(&[("g", 9.81), ("e", 0.8)]),
        left: values(&[("x", 0.0), ("x'", -3.0), ("z", 4.0)]),
        ..Case::default()
    };
    let after = right_limits(&case, &mut Disguise::seeded(4));
    assert!((after["x'"] - 2.4).abs() < 1e-12);
    assert_eq!((after["x"], after["z"]), (0.0, 4.0));
}

/// Per-component verdicts: one of two independent cups is refused, the other is not.
#[test]
fn refusal_of_one_component_leaves_the_others() {
    let cup = |i: usize| {
        [
            (format!("a{i}"), format!("x{i}'' + l{i}*x{i}")),
            (format!("b{i}"), format!("y{i}'' + l{i}*y{i} + g")),
        ]
    };
    let common: Equations = cup(1).into_iter().chain(cup(2)).collect();
    let join = |more: &[(&str, &str)]| -> Equations { common.clone().into_iter().chain(equations(more)).collect() };
    let case = Case {
        prev: Some(join(&[("f1", "l1"), ("f2", "l2")])),
        new: join(&[("k1", "x1**2 + y1**2 - 1"), ("k2", "x2**2 + y2**2 - 1")]),
        zero_crossings: vec!["x1**2 + y1**2 - 1".into()],
        parameters: values(&[("g", 9.81)]),
        ..Case::default()
    };
    let analysis = Built::new(&case, &mut Disguise::none()).analyze();
    assert_eq!(analysis.verdict, RestartVerdict::NotGood);
    let mut determined: Vec<bool> = analysis
        .components
        .iter()
        .map(|component| component.determined)
        .collect();
    determined.sort_unstable();
    assert_eq!(determined, [false, true]);
}

fn explained(case: &Case) -> Explanation {
    let mut built = Built::new(case, &mut Disguise::none());
    let analysis = built.analyze();
    // The explanation prints names from the model and expressions from the pool that was analysed.
    let mut model = std::mem::take(&mut built.model);
    let names: Vec<Role> = model.variables.iter().map(|v| v.role).collect();
    let is_unknown = move |var: VarId| names.get(var.index()) == Some(&Role::Continuous);
    let change = ModeChange {
        before: match &built.prev {
            Some(prev) => Before::Mode(prev),
            None => Before::Nothing,
        },
        new: &built.new,
        zero_crossings: &built.zero_crossings,
        restart_equations: &built.restart,
        transient: built.transient.as_deref(),
        jumped: &[],
        switched: &[],
        is_unknown: &is_unknown,
        examined: None,
        options: &built.options,
    };
    model.name = "case".into();
    explain(&model, &built.pool, &change, &analysis)
}

fn clutch() -> Case {
    let common = [("e1", "J1*w1' - t1"), ("e2", "J2*w2' - t2")];
    let open = equations(&[&common[..], &[("e5", "t1"), ("e6", "t2")]].concat());
    let closed = equations(&[&common[..], &[("e3", "w1 - w2"), ("e4", "t1 + t2")]].concat());
    Case {
        prev: Some(open),
        new: closed,
        parameters: values(&[("J1", 1.0), ("J2", 2.0)]),
        left: values(&[("w1", 1.0), ("w2", 10.0)]),
        ..Case::default()
    }
}

#[test]
fn explanations_speak_of_the_model() {
    let engaged = explained(&clutch());
    assert_eq!(
        engaged.summary,
        "`w1` and `w2` jump to a common value; `t1` and `t2` are impulsive (order 1)"
    );
    assert_eq!(engaged.details, ["`w1 = w2` must hold from now on"]);

    let mut released = clutch();
    std::mem::swap(&mut released.new, released.prev.as_mut().unwrap());
    assert_eq!(explained(&released).summary, "all states keep their values");

    let mut cubic = clutch();
    for mode in [cubic.prev.as_mut().unwrap(), &mut cubic.new] {
        mode.insert("e1".into(), "J1*w1' - t1**3".into());
        mode.insert("e2".into(), "J2*w2' - t2**3".into());
    }
    let refused = explained(&cubic);
    assert_eq!(
        refused.summary,
        "`t1` and `t2` are impulsive at this mode change but enter equations nonlinearly: the jump has no definite size"
    );
    assert_eq!(refused.equations.len(), 2);

    let ball = equations(&[("n", "m*x'' + f + m*g"), ("o", "f")]);
    let mut bounce = Case {
        prev: Some(ball.clone()),
        new: ball,
        zero_crossings: vec!["x".into()],
        transient: Some(equations(&[("n", "m*x'' + f + m*g")])),
        parameters: values(&[("m", 2.0), ("g", 9.81), ("e", 0.8)]),
        left: values(&[("x", 0.0), ("x'", -3.0)]),
        ..Case::default()
    };
    let open = explained(&bounce);
    assert_eq!(open.summary, "nothing determines `der(x)` after the mode change");
    assert!(open.help[0].contains("restart equation"));
    bounce.restart = equations(&[("N", "x' + e*x'^-"), ("M", "x' - 1")]);
    let contradictory = explained(&bounce);
    assert_eq!(
        contradictory.summary,
        "the mode change is overdetermined: `der(x) = 1` and `der(x) + e*pre(der(x)) = 0` contradict each other"
    );
}
