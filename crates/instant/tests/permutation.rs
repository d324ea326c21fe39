//! Whole models: the order and the names of equations and variables change nothing, in any mode and at any mode change.

mod restart_support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use restart_support::case::TestEnvironment;
use restart_support::parse::{identifiers, parse};
use saltus_instant::*;
use saltus_mdae::{Builder, Derivative, Ex, ExprPool, Idx, Mdae, Role, Type, VarId};
use saltus_structure::mode::{ModeStructure, Modes, analyze_mode, check_rank};
use saltus_structure::restart::*;
use saltus_testing::Random;

/// When an equation holds.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum When {
    Always,
    On(usize),
    Off(usize),
}
use When::{Always, Off, On};

struct Whole {
    name: &'static str,
    switches: usize,
    parameters: &'static [(&'static str, f64)],
    equations: &'static [(When, &'static str)],
}

const MODELS: &[Whole] = &[
    Whole {
        name: "cup and ball",
        switches: 1,
        parameters: &[("L", 1.0), ("g", 9.81)],
        equations: &[
            (Always, "x'' + lam*x"),
            (Always, "y'' + lam*y + g"),
            (On(0), "L**2 - x**2 - y**2"),
            (On(0), "lam + s"),
            (Off(0), "lam"),
            (Off(0), "L**2 - x**2 - y**2 - s"),
        ],
    },
    Whole {
        name: "shafts with three clutches",
        switches: 3,
        parameters: &[("J", 0.7), ("r", 1.3)],
        equations: &[
            (Always, "J*w0' + t0 + w0"),
            (Always, "2*J*w1' - t0 + t1"),
            (Always, "3*J*w2' - r*t1 + t2"),
            (Always, "4*J*w3' - t2 + sin(w3)"),
            (On(0), "w0 - w1"),
            (Off(0), "t0"),
            (On(1), "w1 - r*w2"),
            (Off(1), "t1"),
            (On(2), "w2 - w3"),
            (Off(2), "t2"),
        ],
    },
    Whole {
        name: "motor, capacitor, clutch",
        switches: 1,
        parameters: &[("C", 2.0), ("k", 0.25), ("R", 1.0), ("J1", 0.1), ("J2", 0.4)],
        equations: &[
            (Always, "R*(i1 + i2) + u - 10"),
            (Always, "C*u' - i1"),
            (Always, "k*w1 - u"),
            (Always, "t1 - k*i2"),
            (Always, "J1*w1' - t1 + t2"),
            (Always, "J2*w2' - t2"),
            (On(0), "w1 - w2"),
            (Off(0), "t2"),
        ],
    },
    Whole {
        name: "capacitors, switches and a source that may be shorted",
        switches: 3,
        parameters: &[("C", 1e-6), ("R", 50.0)],
        equations: &[
            (Always, "C*v0' + a + b + (v0 - 5)/R"),
            (Always, "2*C*v1' - a + c"),
            (Always, "3*C*v2' - b - c"),
            (On(0), "v0 - v1"),
            (Off(0), "a"),
            (On(1), "v0 - v2"),
            (Off(1), "b"),
            // With all three closed, two of them say what the third does.
            (On(2), "v1 - v2"),
            (Off(2), "c"),
        ],
    },
    Whole {
        name: "diode bridge",
        switches: 4,
        parameters: &[("R", 10.0), ("C", 0.1)],
        equations: &[
            (Always, "v - (p - n)"),
            (Always, "C*v' - i0 - i1 + v/R"),
            (Always, "i0 + i1 - i2 - i3"),
            (Always, "i0 - i2 - is"),
            (Always, "us - (a - b)"),
            (Always, "us + 0.5*is - 12"),
            (Always, "b"),
            (On(0), "a - p"),
            (Off(0), "i0"),
            (On(1), "b - p"),
            (Off(1), "i1"),
            (On(2), "n - a"),
            (Off(2), "i2"),
            (On(3), "n - b"),
            (Off(3), "i3"),
        ],
    },
    Whole {
        name: "rope on a trolley",
        switches: 2,
        parameters: &[("M", 3.0), ("m", 0.5), ("L", 2.0)],
        equations: &[
            (Always, "M*q'' - l*(x - q) - f"),
            (Always, "m*x'' + l*(x - q)"),
            (Always, "m*y'' + l*y + m*9.81"),
            (On(0), "(x - q)**2 + y**2 - L**2"),
            (Off(0), "l"),
            (On(1), "q'"),
            (Off(1), "f"),
        ],
    },
];

/// Names and orders of a model.
struct Shape {
    random: Option<Random>,
}

impl Shape {
    fn order<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        if let Some(random) = &mut self.random {
            random.shuffle(&mut items);
        }
        items
    }
    fn name(&mut self, name: &str) -> String {
        match &mut self.random {
            None => name.to_string(),
            Some(random) => format!("q{}", random.below(1 << 24)),
        }
    }
}

struct Made {
    model: Mdae,
    pool: Arc<ExprPool>,
    variables: BTreeMap<VarId, String>,
    on: Vec<VarId>,
    left: TestEnvironment,
    fixed: FixedTable,
}

fn make(whole: &Whole, shape: &mut Shape) -> Made {
    let m = Builder::new("whole");
    let mut names: BTreeSet<String> = whole.equations.iter().flat_map(|(_, text)| identifiers(text)).collect();
    names.extend((0..whole.switches).flat_map(|k| [format!("on{k}"), format!("off{k}")]));
    let mut known: BTreeMap<String, Ex> = BTreeMap::new();
    for name in shape.order(names.into_iter().collect()) {
        let shown = shape.name(&name);
        let parameter = whole.parameters.iter().find(|(known, _)| *known == name);
        let ex = match parameter {
            Some(&(_, value)) => m.parameter(&shown, value),
            None if name.starts_with("on") || name.starts_with("off") => m.discrete(&shown, Type::Boolean, 0.0),
            None => m.unknown(&shown),
        };
        known.insert(name, ex);
    }
    let lookup = |name: &str| known[name].clone();
    for (number, (when, text)) in shape.order(whole.equations.iter().enumerate().collect()) {
        let residual = parse(&m, &lookup, text);
        // The label is how the test knows an equation again; it decides nothing.
        let label = format!("f{number}");
        match when {
            Always => m.equation(&label, residual),
            On(k) => m.equation_if(&known[&format!("on{k}")], &label, residual),
            Off(k) => m.equation_if(&known[&format!("off{k}")], &label, residual),
        }
    }
    let mut model = m.finish().expect("a valid model");
    let pool = model.pool.freeze();
    let id = |name: &str| model.pool.occurrences(known[name].id)[0].var;
    let variables: BTreeMap<VarId, String> = known.keys().map(|name| (id(name), name.clone())).collect();
    let on = (0..whole.switches).map(|k| id(&format!("on{k}"))).collect();
    let mut left = TestEnvironment::default();
    let mut fixed = FixedTable {
        values: vec![None; model.variables.len()],
        ..FixedTable::default()
    };
    for (&var, name) in &variables {
        let mut random = Random::named(name);
        (0..4).for_each(|order| {
            left.left.insert(Derivative { var, order }, random.between(-2.0, 2.0));
        });
    }
    for &(name, value) in whole.parameters {
        fixed.values[id(name).index()] = Some(value);
        left.current.insert(
            Derivative {
                var: id(name),
                order: 0,
            },
            value,
        );
    }
    Made {
        model,
        pool,
        variables,
        on,
        left,
        fixed,
    }
}

/// What must not change. Values are compared with a tolerance.
#[derive(Debug, PartialEq, Default)]
struct Outcome {
    facts: BTreeMap<String, String>,
    values: BTreeMap<String, f64>,
}

impl Made {
    fn label(&self, equation: saltus_mdae::EquationId) -> String {
        self.model.origins[self.model.equations[equation].origin]
            .label
            .to_string()
    }

    fn describe(&self, modes: &Modes, structure: &ModeStructure) -> String {
        let c: BTreeMap<String, u16> = structure
            .equations
            .iter()
            .zip(&structure.sigma.c)
            .map(|(&equation, &c)| (self.label(equation), c))
            .collect();
        let d: BTreeMap<&String, u16> = structure
            .unknowns
            .iter()
            .zip(&structure.sigma.d)
            .map(|(var, &d)| (&self.variables[var], d))
            .collect();
        let blocks: BTreeSet<BTreeSet<String>> = structure
            .blocks
            .iter()
            .map(|rows| {
                rows.iter()
                    .map(|row| self.label(structure.equations[row.index()]))
                    .collect()
            })
            .collect();
        let dead: BTreeSet<&String> = structure.dead.iter().map(|var| &self.variables[var]).collect();
        let singular = check_rank(&self.model, modes, structure, Some(&Start)).len();
        let (index, freedom) = (structure.index(), structure.degrees_of_freedom());
        format!(
            "index {index}, {freedom} degrees of freedom, c {c:?}, d {d:?}, {blocks:?}, dead {dead:?}, {singular} singular"
        )
    }

    fn change(&self, pool: &mut ExprPool, from: &ModeSystem, to: &ModeSystem, key: &str, outcome: &mut Outcome) {
        let is_unknown = |var: VarId| {
            self.model
                .variables
                .get(var)
                .is_some_and(|v| v.role == Role::Continuous)
        };
        let options = RestartOptions::default();
        let change = ModeChange {
            before: Before::Mode(from),
            new: to,
            zero_crossings: &[],
            restart_equations: &[],
            transient: None,
            jumped: &[],
            switched: &[],
            is_unknown: &is_unknown,
            examined: None,
            options: &options,
        };
        let functions = &self.model.functions;
        let mut facts = StructuralFacts::new(functions, &self.fixed);
        let analysis = analyze_restart(pool, functions, &self.fixed, change, &mut facts);
        let state =
            |&Derivative { var, order }: &Derivative| format!("{}{}", self.variables[&var], "'".repeat(order.into()));
        let undetermined = analysis.diagnosis.iter().flat_map(|diagnosis| &diagnosis.undetermined);
        let undetermined: BTreeSet<String> = undetermined.map(state).collect();
        let mu: BTreeSet<String> = analysis
            .unknowns
            .iter()
            .map(|(v, mu)| {
                format!(
                    "{}@{}: {mu}",
                    state(&Derivative {
                        var: v.var,
                        order: v.order
                    }),
                    v.instant
                )
            })
            .collect();
        let verdict = format!("{:?}, undetermined {undetermined:?}, mu {mu:?}", analysis.verdict);
        outcome.facts.insert(key.to_string(), verdict);
        let Some(plan) = analysis.plan.filter(|_| analysis.verdict == RestartVerdict::Good) else {
            return;
        };
        match solve_restart(pool, functions, &plan, &self.left, &self.fixed) {
            Ok(solution) => {
                for &(var, order, value) in &solution.right_limits {
                    outcome
                        .values
                        .insert(format!("{key}: {}", state(&Derivative { var, order })), value);
                }
                for impulse in solution.impulses {
                    let name = state(&Derivative {
                        var: impulse.var,
                        order: impulse.order,
                    });
                    outcome
                        .values
                        .insert(format!("{key}: impulse of {name}"), impulse.weight);
                }
            }
            Err(_) => {
                outcome.facts.insert(format!("{key}: solved"), "no".into());
            }
        }
    }

    fn outcome(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let modes = Modes::new(&self.model);
        let count = 1_usize << self.on.len();
        let mut systems = Vec::new();
        for mode in 0..count {
            let is_on = |k: usize| mode >> k & 1 == 1;
            let boolean = |var: VarId| match self.on.iter().position(|&on| on == var) {
                Some(k) => f64::from(u8::from(is_on(k))),
                None => {
                    let k: usize = self.variables[&var]["off".len()..].parse().expect("a number");
                    f64::from(u8::from(!is_on(k)))
                }
            };
            let valuation = modes
                .valuation_where(&self.model, |_| false, boolean)
                .expect("a valuation");
            let found = analyze_mode(&self.model, &modes, &valuation);
            let text = match &found {
                Ok(structure) => self.describe(&modes, structure),
                Err(_) => "refused".into(),
            };
            outcome.facts.insert(format!("mode {mode}"), text);
            systems.push(found.ok().map(|structure| {
                let equation = |&id: &saltus_mdae::EquationId| ModeEquation {
                    residual: self.model.equations[id].residual,
                    origin: self.model.equations[id].origin,
                };
                let equations = structure.equations.iter().map(equation).collect();
                ModeSystem::new(&self.model.pool, equations, |var| self.model.is_unknown(var)).expect("regular")
            }));
        }
        let mut pool = ExprPool::fork(&self.pool);
        for (from, before) in systems.iter().enumerate() {
            for (to, after) in systems.iter().enumerate().filter(|(to, _)| *to != from) {
                if let (Some(before), Some(after)) = (before, after) {
                    self.change(&mut pool, before, after, &format!("{from} to {to}"), &mut outcome);
                }
            }
        }
        outcome
    }
}

/// A point that does not depend on how variables are numbered.
struct Start;

impl saltus_mdae::eval::Environment for Start {
    fn variable(&self, _: VarId, order: u16) -> f64 {
        0.8 + 0.1 * f64::from(order)
    }
    fn left_limit(&self, _: VarId, _: u16) -> f64 {
        0.8
    }
    fn time(&self) -> f64 {
        0.0
    }
    fn condition(&self, _: saltus_mdae::ConditionId) -> bool {
        false
    }
}

#[test]
fn neither_order_nor_names_matter() {
    let (mut regular, mut values) = (0, 0);
    for whole in MODELS {
        let expected = make(whole, &mut Shape { random: None }).outcome();
        regular += expected.facts.values().filter(|text| text.starts_with("index")).count();
        values += expected.values.len();
        for seed in 1..=6 {
            let random = Some(Random(seed * 0x9e37_79b9));
            let found = make(whole, &mut Shape { random }).outcome();
            assert_eq!(found.facts, expected.facts, "{}, seed {seed}", whole.name);
            let names = |outcome: &Outcome| outcome.values.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&found), names(&expected), "{}, seed {seed}", whole.name);
            for (key, value) in &expected.values {
                let got = found.values[key];
                let close = (got - value).abs() <= 1e-9 * (1.0 + value.abs());
                assert!(close, "{}, seed {seed}, {key}: {got}, not {value}", whole.name);
            }
        }
    }
    assert!(regular > 20 && values > 100, "{regular} regular modes, {values} values");
}
