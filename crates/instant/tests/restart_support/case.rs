//! A mode change as data, and its analysis.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use saltus_instant::*;
use saltus_mdae::eval::Environment;
use saltus_mdae::function::Functions;
use saltus_mdae::{Builder, ConditionId, Derivative, Ex, ExprId, ExprPool, Idx, Mdae, OriginId, Role, Type, VarId};
use saltus_structure::restart::*;
use saltus_testing::Random;
use serde_json::Value;

use super::parse::{identifiers, parse};
use super::{Equations, Values, split_primes};

/// A mode change in text form.
#[derive(Clone, Default, Debug)]
pub(crate) struct Case {
    pub prev: Option<Equations>,
    pub new: Equations,
    pub zero_crossings: Vec<String>,
    pub restart: Equations,
    pub transient: Option<Equations>,
    pub parameters: Values,
    pub left: Values,
    pub inputs: Values,
    pub forced: Option<u16>,
}

fn strings(value: &Value) -> Equations {
    let object = value.as_object().expect("an object");
    object
        .iter()
        .map(|(k, v)| (k.clone(), v.as_str().unwrap().to_string()))
        .collect()
}
fn numbers(value: &Value) -> Values {
    let object = value.as_object().expect("an object");
    object.iter().map(|(k, v)| (k.clone(), v.as_f64().unwrap())).collect()
}

impl Case {
    pub(crate) fn from_json(inputs: &Value) -> Self {
        let optional = |key: &str| (!inputs[key].is_null()).then(|| strings(&inputs[key]));
        Case {
            prev: optional("prev"),
            new: strings(&inputs["new"]),
            zero_crossings: inputs["zero_crossing"]
                .as_str()
                .map(str::to_string)
                .into_iter()
                .collect(),
            restart: strings(&inputs["T"]),
            transient: optional("transient_mode"),
            parameters: numbers(&inputs["parameters"]),
            left: numbers(&inputs["left"]),
            inputs: numbers(&inputs["input_signals"]),
            forced: inputs["options"]["force_height"].as_u64().map(|k| k as u16),
        }
    }

    fn texts(&self) -> Vec<&String> {
        let modes = [
            self.prev.as_ref(),
            Some(&self.new),
            Some(&self.restart),
            self.transient.as_ref(),
        ];
        let equations = modes.into_iter().flatten().flat_map(|equations| equations.values());
        equations.chain(&self.zero_crossings).collect()
    }

    pub(crate) fn input_names(&self) -> BTreeSet<String> {
        self.inputs.keys().map(|name| split_primes(name).0).collect()
    }
}

/// How names and orders are disguised: nothing may depend on them.
pub(crate) struct Disguise {
    random: Option<Random>,
}

impl Disguise {
    pub(crate) fn none() -> Self {
        Disguise { random: None }
    }
    pub(crate) fn seeded(seed: u64) -> Self {
        Disguise {
            random: Some(Random(seed.wrapping_mul(0x9e37_79b9) + 1)),
        }
    }
    fn order(&mut self, mut names: Vec<String>) -> Vec<String> {
        if let Some(random) = &mut self.random {
            random.shuffle(&mut names);
        }
        names
    }
    fn name(&mut self, name: &str) -> String {
        match &mut self.random {
            None => name.to_string(),
            Some(random) => format!("q{}", random.below(1 << 24)),
        }
    }
}

/// Values by variable and order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestEnvironment {
    pub current: HashMap<Derivative, f64>,
    pub left: HashMap<Derivative, f64>,
}

impl Environment for TestEnvironment {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        self.current
            .get(&Derivative { var, order })
            .copied()
            .unwrap_or(f64::NAN)
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.left.get(&Derivative { var, order }).copied().unwrap_or(f64::NAN)
    }
    fn time(&self) -> f64 {
        0.0
    }
    fn condition(&self, _: ConditionId) -> bool {
        false
    }
}

/// A case built as a model.
pub(crate) struct Built {
    pub model: Mdae,
    pub pool: ExprPool,
    pub functions: Functions,
    pub prev: Option<ModeSystem>,
    pub new: ModeSystem,
    pub zero_crossings: Vec<ExprId>,
    pub restart: Vec<ModeEquation>,
    pub transient: Option<Vec<ModeEquation>>,
    pub environment: TestEnvironment,
    pub fixed: FixedTable,
    pub options: RestartOptions,
    /// Original names.
    pub variables: BTreeMap<VarId, String>,
    pub labels: BTreeMap<OriginId, String>,
}

impl Built {
    pub(crate) fn new(case: &Case, disguise: &mut Disguise) -> Self {
        Self::regular(case, disguise).expect("regular modes")
    }

    /// `None` if a mode is structurally singular.
    pub(crate) fn regular(case: &Case, disguise: &mut Disguise) -> Option<Self> {
        let m = Builder::new("case");
        let names: BTreeSet<String> = case.texts().into_iter().flat_map(|text| identifiers(text)).collect();
        let names = names
            .into_iter()
            .chain(case.parameters.keys().cloned())
            .collect::<BTreeSet<_>>();
        let mut known: BTreeMap<String, Ex> = BTreeMap::new();
        for name in disguise.order(names.into_iter().collect()) {
            let shown = disguise.name(&name);
            let ex = if let Some(&value) = case.parameters.get(&name) {
                m.parameter(&shown, value)
            } else if case.input_names().contains(&name) {
                m.input(&shown)
            } else {
                m.unknown(&shown)
            };
            known.insert(name, ex);
        }
        let lookup = |name: &str| known[name].clone();
        let mut labels = BTreeMap::new();
        // Equations of both modes are unguarded, the others guarded by where they hold.
        let (before, after, between) = (
            m.discrete("before", Type::Boolean, 1.0),
            m.discrete("after", Type::Boolean, 0.0),
            m.discrete("between", Type::Boolean, 0.0),
        );
        let mut add = |equations: &Equations, guard: &Ex, disguise: &mut Disguise| -> Vec<(ExprId, String)> {
            let order = disguise.order(equations.keys().cloned().collect());
            order
                .into_iter()
                .map(|label| {
                    let residual = parse(&m, &lookup, &equations[&label]);
                    let shown = format!("{}#{label}", disguise.name("e"));
                    m.equation_if(guard, &shown, residual.clone());
                    labels.insert(shown.clone(), label);
                    (residual.id, shown)
                })
                .collect()
        };
        let prev = case.prev.as_ref().map(|equations| add(equations, &before, disguise));
        let new = add(&case.new, &after, disguise);
        let transient = case
            .transient
            .as_ref()
            .map(|equations| add(equations, &between, disguise));
        let restart = add(&case.restart, &between, disguise);
        let zero_crossings = case
            .zero_crossings
            .iter()
            .map(|text| parse(&m, &lookup, text).id)
            .collect();
        let variable = |ex: &Ex, pool: &ExprPool| pool.occurrences(ex.id)[0].var;
        let model = m.finish().expect("a valid model");
        let variables: BTreeMap<VarId, String> = known
            .iter()
            .map(|(name, ex)| (variable(ex, &model.pool), name.clone()))
            .collect();
        let by_label: BTreeMap<String, OriginId> = model
            .origins
            .iter_enumerated()
            .map(|(id, origin)| (origin.label.to_string(), id))
            .collect();
        let equations = |list: Vec<(ExprId, String)>| -> Vec<ModeEquation> {
            let equation = |(residual, shown): (ExprId, String)| ModeEquation {
                residual,
                origin: by_label[&shown],
            };
            list.into_iter().map(equation).collect()
        };
        let is_unknown = |var: VarId| model.variables[var].role == Role::Continuous;
        let system = |list| ModeSystem::new(&model.pool, equations(list), is_unknown).ok();
        let prev = match prev {
            Some(equations) => Some(system(equations)?),
            None => None,
        };
        let mut built = Built {
            prev,
            new: system(new)?,
            zero_crossings,
            restart: equations(restart),
            transient: transient.map(equations),
            environment: TestEnvironment::default(),
            fixed: FixedTable::default(),
            options: RestartOptions {
                forced_height: case.forced,
                scope: Scope::All,
                ..RestartOptions::default()
            },
            labels: by_label
                .iter()
                .filter_map(|(shown, &id)| Some((id, labels.get(shown)?.clone())))
                .collect(),
            variables,
            functions: Functions::new(),
            pool: ExprPool::new(),
            model,
        };
        built.pool = ExprPool::fork(&Arc::new(std::mem::take(&mut built.model.pool)));
        built.set_values(case);
        Some(built)
    }

    /// Left limits, inputs and parameters by original name.
    pub(crate) fn set_values(&mut self, case: &Case) {
        let by_name: BTreeMap<&String, VarId> = self.variables.iter().map(|(var, name)| (name, *var)).collect();
        self.fixed.values = vec![None; self.model.variables.len()];
        for (name, &value) in &case.parameters {
            let var = by_name[name];
            self.fixed.values[var.index()] = Some(value);
            self.environment.current.insert(Derivative { var, order: 0 }, value);
        }
        for (target, values) in [(0, &case.left), (1, &case.inputs)] {
            for (name, &value) in values {
                let (base, order) = split_primes(name);
                // Values may be given for variables that occur nowhere.
                let Some(&var) = by_name.get(&base) else { continue };
                let map = if target == 0 {
                    &mut self.environment.left
                } else {
                    &mut self.environment.current
                };
                map.insert(Derivative { var, order }, value);
            }
        }
    }

    pub(crate) fn is_unknown(&self, var: VarId) -> bool {
        self.variables.contains_key(&var) && self.model.variables[var].role == Role::Continuous
    }

    /// Analyses with an oracle of the caller's choice.
    pub(crate) fn with_change<R>(
        &mut self,
        run: impl FnOnce(&mut ExprPool, &Functions, &FixedTable, ModeChange) -> R,
    ) -> R {
        let roles: Vec<bool> = self
            .model
            .variables
            .iter()
            .map(|v| v.role == Role::Continuous)
            .collect();
        let is_unknown = move |var: VarId| roles.get(var.index()).copied().unwrap_or(false);
        let change = ModeChange {
            before: match &self.prev {
                Some(prev) => Before::Mode(prev),
                None => Before::Nothing,
            },
            new: &self.new,
            zero_crossings: &self.zero_crossings,
            restart_equations: &self.restart,
            transient: self.transient.as_deref(),
            jumped: &[],
            switched: &[],
            is_unknown: &is_unknown,
            examined: None,
            options: &self.options,
        };
        run(&mut self.pool, &self.functions, &self.fixed, change)
    }

    /// Analyses with structural facts.
    pub(crate) fn analyze(&mut self) -> RestartAnalysis {
        self.with_change(|pool, functions, fixed, change| {
            let mut facts = StructuralFacts::new(functions, fixed);
            analyze_restart(pool, functions, fixed, change, &mut facts)
        })
    }

    pub(crate) fn solve(&self, plan: &RestartPlan) -> Result<RestartSolution, RestartFailure> {
        solve_restart(&self.pool, &self.functions, plan, &self.environment, &self.fixed)
    }
}
