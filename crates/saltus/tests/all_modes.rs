//! All modes at once against one mode at a time, on every example and on the models of the tests.

use saltus::Session;
use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{ConditionId, ExprId, Idx, Mdae, Type, VarId};
use saltus_structure::all_modes::model::ModelSystem;
use saltus_structure::all_modes::{Budget, ModeSet, Piecewise, analyze_all_modes};
use saltus_structure::formula::PredicateId;
use saltus_structure::mode::{ModeFailure, Modes, analyze_mode};
use saltus_testing::{Random, modelica_files};

/// Modes that are tried of each model.
const MODES: u64 = 40;

/// Conditions and Booleans with arbitrary values; what is defined by them follows.
struct Arbitrary {
    truths: Vec<bool>,
    values: Vec<f64>,
}

impl Arbitrary {
    fn new(model: &Mdae, mode: u64) -> Self {
        let mut random = Random(mode);
        let mut found = Arbitrary {
            truths: model.conditions.ids().map(|_| random.chance(50)).collect(),
            values: vec![f64::NAN; model.variables.len()],
        };
        for (var, variable) in model.variables.iter_enumerated() {
            let given = variable
                .binding
                .or(variable.start)
                .and_then(|expr| found.value(model, expr));
            found.values[var.index()] = match variable.ty {
                Type::Boolean => f64::from(u8::from(random.chance(50))),
                _ => given.unwrap_or(1.0),
            };
        }
        for _ in 0..model.discrete.len().min(20) {
            for equation in &model.discrete {
                let value = found.value(model, equation.value);
                found.values[equation.target.index()] = value.unwrap_or(0.0);
            }
        }
        found
    }

    fn value(&self, model: &Mdae, expr: ExprId) -> Option<f64> {
        let values = evaluate(&model.pool, &model.functions, &[expr], self).ok()?;
        values.first().copied().filter(|value| !value.is_nan())
    }
}

impl Environment for Arbitrary {
    fn variable(&self, var: VarId, _: u16) -> f64 {
        self.values[var.index()]
    }
    fn left_limit(&self, var: VarId, _: u16) -> f64 {
        self.values[var.index()]
    }
    fn time(&self) -> f64 {
        0.0
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.truths[condition.index()]
    }
}

/// Compares some modes of a model; how many were regular and how many singular.
fn compare(name: &str, model: &Mdae) -> (usize, usize) {
    let modes = Modes::new(model);
    let parameters = Arbitrary::new(model, 0);
    let fixed = |expr: ExprId| parameters.value(model, expr).is_some_and(|value| value != 0.0);
    let system = ModelSystem::new(model, &modes, &fixed);
    if system.conditions.is_empty() {
        return (0, 0);
    }
    let Ok(all) = analyze_all_modes(&system.system, Budget::default()) else {
        return (0, 0);
    };
    let (mut regular, mut singular) = (0, 0);
    for mode in 0..MODES {
        let state = Arbitrary::new(model, mode);
        let holds = |condition: PredicateId| {
            let formula = system.conditions[condition.index()].formula;
            state.value(model, formula).is_some_and(|value| value != 0.0)
        };
        let inside = |set: ModeSet| all.space.contains(set, holds);
        if !all.possible.iter().all(|&set| inside(set)) {
            continue;
        }
        let Ok(valuation) = modes.valuation(model, &state) else {
            continue;
        };
        let found = all.decomposition.singular_parts().into_iter().any(inside);
        match analyze_mode(model, &modes, &valuation) {
            Ok(structure) => {
                assert!(!found, "{name}: mode {mode} is regular");
                let offset = |parts: &Piecewise| parts.iter().find(|(_, set)| inside(**set)).map(|(value, _)| *value);
                for (row, &equation) in system.rows.iter().enumerate() {
                    assert_eq!(offset(&all.c[row]), structure.c_of(equation), "{name}: mode {mode}");
                }
                for (at, &var) in system.unknowns.iter().enumerate() {
                    assert_eq!(offset(&all.d[at]), structure.d_of(var), "{name}: mode {mode}");
                }
                regular += 1;
            }
            Err(ModeFailure::Singular { .. }) => {
                assert!(found, "{name}: mode {mode} is singular");
                singular += 1;
            }
            Err(_) => {}
        }
    }
    (regular, singular)
}

#[test]
fn modes_of_examples_and_tests_one_by_one() {
    let (mut regular, mut singular, mut models) = (0, 0, 0);
    for path in ["examples", "tests/models"].into_iter().flat_map(modelica_files) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let name = path.display().to_string();
        let session = Session::new();
        session.add_text(&name, &text);
        let Some(class) = session.models().last().cloned() else {
            continue;
        };
        let Some(model) = session.compile(&class).value else {
            continue;
        };
        let (more_regular, more_singular) = compare(&class, model.equations());
        regular += more_regular;
        singular += more_singular;
        models += usize::from(more_regular + more_singular > 0);
    }
    assert!(models >= 30, "{models} models with several modes");
    assert!(
        regular >= 500 && singular >= 20,
        "{regular} regular and {singular} singular modes"
    );
}

/// Ideal sources are put on one capacitor, each for a while: where two of these overlap, `check` tells before what a run meets.
#[test]
fn what_time_selects_is_told_before_a_run_fails() {
    let mut random = Random(20_261_116);
    let (mut overlapping, mut apart) = (0, 0);
    for number in 0..40 {
        let count = 2 + random.below(3);
        let windows: Vec<(usize, usize)> = (0..count)
            .map(|_| {
                let from = 1 + random.below(80);
                (from, from + 2 + random.below(15))
            })
            .collect();
        let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
        let near = |a: (usize, usize), b: (usize, usize)| a.0 <= b.1 && b.0 <= a.1;
        let overlap = |a: (usize, usize), b: (usize, usize)| a.0 < b.1 && b.0 < a.1;
        let touching = pairs
            .clone()
            .any(|(a, b)| near(windows[a], windows[b]) && !overlap(windows[a], windows[b]));
        if touching {
            continue;
        }
        let meets = pairs.into_iter().any(|(a, b)| overlap(windows[a], windows[b]));
        let mut equations = String::new();
        let mut unknowns = String::new();
        for (k, (from, to)) in windows.iter().enumerate() {
            let (from, to) = (*from as f64 / 100.0, *to as f64 / 100.0);
            unknowns += &format!("Real i{k}; ");
            let value = 1 + k;
            equations += &format!("if time > {from} and time < {to} then u = {value}; else i{k} = 0; end if;\n");
        }
        let currents: Vec<String> = (0..count).map(|k| format!("i{k}")).collect();
        let text = format!(
            "model M{number}\n  Real u(start = 0, fixed = true); {unknowns}\nequation\n  der(u) = -u - ({});\n{equations}end M{number};\n",
            currents.join(" + ")
        );
        let session = Session::new();
        session.add_text("M.mo", &text);
        let name = format!("M{number}");
        let told = session
            .check(&name, false)
            .iter()
            .any(|d| ["W0502", "E0508"].contains(&d.code.as_str()));
        let model = session.compile(&name).value.expect("a correct model");
        assert_eq!(model.run().simulate().is_err(), meets, "{text}");
        assert_eq!(told, meets, "{text}");
        if meets {
            overlapping += 1;
        } else {
            apart += 1;
        }
    }
    assert!(overlapping >= 8 && apart >= 4, "{overlapping} and {apart}");
}

/// Two short circuits that time closes, with currents that flow through a common node: the places with too many equations are
/// two, the one with too few is common to them. In each mode there are as many equations as unknowns, so that something may
/// float: `check` warns, whatever the order of the two.
#[test]
fn what_may_float_is_a_warning() {
    for (first, second) in [(0.3, 0.6), (0.6, 0.3), (0.2, 0.2)] {
        let text = format!(
            "model M Real u, v, i1, i2, j1, j2, total; equation u = sin(time); v = cos(time); total = i1 + j1 + i2 + j2;
               if time > {first} then u = 0; i1 = j1; else i1 = 0; j1 = 0; end if;
               if time > {second} then v = 0; i2 = j2; else i2 = 0; j2 = 0; end if; end M;"
        );
        let session = Session::new();
        session.add_text("M.mo", &text);
        let found = session.check("M", false);
        let codes: Vec<&str> = found.iter().map(|d| d.code.as_str()).collect();
        assert!(
            codes.contains(&"W0502") && !codes.contains(&"E0508"),
            "{text}\n{codes:?}"
        );
    }
}
