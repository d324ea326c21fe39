//! Mode changes of physical models: what they conserve and what holds after them, with other parameters and left limits,
//! other names and orders.

mod restart_support;

use restart_support::case::{Built, Case, Disguise, TestEnvironment};
use restart_support::laws::value;
use restart_support::report::Report;
use restart_support::{Values, reference_cases, split_primes};
use saltus_graph::Row;
use saltus_mdae::eval::evaluate;
use saltus_mdae::{Derivative, ExprId};
use saltus_structure::restart::*;
use saltus_testing::Random;
use serde_json::Value;

fn texts(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect()
}

/// What holds at left limits: the previous mode with its derivatives up to the leading ones, and the zero crossings.
struct Before {
    built: Built,
    residuals: Vec<ExprId>,
    unknowns: Vec<Derivative>,
}

impl Before {
    fn new(case: &Case) -> Self {
        let mut built = Built::new(case, &mut Disguise::none());
        let mut residuals = built.zero_crossings.clone();
        let mut unknowns = Vec::new();
        if let Some(previous) = &built.prev {
            for row in (0..previous.equations().len()).map(Row::from_index) {
                for order in 0..=previous.equation_offset(row) {
                    let residual = previous.equation(row).residual;
                    residuals.push(built.pool.nth_total_derivative(residual, order));
                }
            }
            for &var in previous.unknowns() {
                let d = previous.offset_of(var).unwrap();
                unknowns.extend((0..=d).map(|order| Derivative { var, order }));
            }
        }
        Before {
            built,
            residuals,
            unknowns,
        }
    }

    fn environment(&self, point: &[f64]) -> TestEnvironment {
        let mut environment = self.built.environment.clone();
        environment
            .current
            .extend(self.unknowns.iter().copied().zip(point.iter().copied()));
        environment
    }

    fn residual(&self, point: &[f64]) -> Vec<f64> {
        let built = &self.built;
        evaluate(&built.pool, &built.functions, &self.residuals, &self.environment(point)).unwrap()
    }

    /// The nearest point that satisfies everything, by Gauss–Newton steps of least norm.
    fn nearest(&self, mut point: Vec<f64>) -> Option<Vec<f64>> {
        for _ in 0..60 {
            let residual = self.residual(&point);
            if residual.iter().all(|r| r.abs() <= 1e-12) {
                return Some(point);
            }
            let columns: Vec<Vec<f64>> = (0..point.len()).map(|j| self.slope(&point, j)).collect();
            let count = residual.len();
            let mut gram = vec![vec![0.0; count + 1]; count];
            for (i, row) in gram.iter_mut().enumerate() {
                for (k, cell) in row.iter_mut().take(count).enumerate() {
                    *cell = columns.iter().map(|column| column[i] * column[k]).sum();
                }
                // Redundant equations.
                row[i] += 1e-10;
                row[count] = residual[i];
            }
            let weights = solved(gram);
            for (x, column) in point.iter_mut().zip(&columns) {
                *x -= column.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        None
    }

    fn slope(&self, point: &[f64], j: usize) -> Vec<f64> {
        let step = 1e-6 * (1.0 + point[j].abs());
        let moved = |sign: f64| {
            let mut moved = point.to_vec();
            moved[j] += sign * step;
            self.residual(&moved)
        };
        let (ahead, behind) = (moved(1.0), moved(-1.0));
        let pairs = ahead.iter().zip(&behind);
        pairs.map(|(a, b)| (a - b) / (2.0 * step)).collect()
    }
}

/// Gaussian elimination with pivoting.
fn solved(mut m: Vec<Vec<f64>>) -> Vec<f64> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs())).unwrap();
        m.swap(k, pivot);
        let top = m[k].clone();
        for row in m.iter_mut().skip(k + 1) {
            let factor = row[k] / top[k];
            row.iter_mut().zip(&top).for_each(|(a, b)| *a -= factor * b);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][n] - rest) / m[k][k];
    }
    x
}

/// The case with other parameters, and left limits near the stated ones that the previous mode allows.
fn varied(stated: &Case, random: &mut Random) -> Option<Case> {
    let mut case = stated.clone();
    for value in case.parameters.values_mut() {
        *value *= random.between(0.8, 1.25);
    }
    let before = Before::new(&case);
    let start = before.unknowns.iter().map(|&Derivative { var, order }| {
        let name = format!("{}{}", before.built.variables[&var], "'".repeat(order.into()));
        let value = case.left[&name];
        value + random.between(-0.2, 0.2) * (1.0 + value.abs())
    });
    let found = before.nearest(start.collect())?;
    for (&Derivative { var, order }, value) in before.unknowns.iter().zip(found) {
        let name = format!("{}{}", before.built.variables[&var], "'".repeat(order.into()));
        case.left.insert(name, value);
    }
    Some(case)
}

fn right_limits(name: &str, case: &Case, disguise: &mut Disguise, scope: Scope) -> Option<Values> {
    let mut built = Built::new(case, disguise);
    built.options.scope = scope;
    let analysis = built.analyze();
    if !analysis.is_good() {
        return None;
    }
    let solution = built.solve(analysis.plan.as_ref().unwrap());
    let solution = solution.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
    let report = Report {
        built: &built,
        analysis: &analysis,
    };
    let mut after = report.right_limits(&solution);
    // What is not touched keeps its left limits.
    for (state, &value) in &case.left {
        let (base, order) = split_primes(state);
        let mut states = built.new.unknowns().iter().copied();
        let var = states.find(|var| built.variables[var] == base);
        if var.is_some_and(|var| built.new.offset_of(var).is_some_and(|d| order < d)) {
            after.entry(state.clone()).or_insert(value);
        }
    }
    Some(after)
}

fn laws_hold(name: &str, case: &Case, laws: &Value, after: &Values) {
    let known: Values = case
        .parameters
        .iter()
        .chain(&case.inputs)
        .map(|(k, v)| (k.clone(), *v))
        .collect();
    let sizes = after.values().chain(case.left.values());
    let size = 1.0 + sizes.fold(0.0_f64, |s, v| s.max(v * v));
    for quantity in texts(&laws["conserved"]) {
        let was = value(quantity, &case.left, &case.left, &known);
        let is = value(quantity, &case.left, after, &known);
        assert!((was - is).abs() <= 1e-9 * size, "{name}: {quantity} was {was}, is {is}");
    }
    for equation in texts(&laws["after"]) {
        let residual = value(equation, &case.left, after, &known);
        assert!(residual.abs() <= 1e-9 * size, "{name}: {equation} = {residual}");
    }
}

#[test]
fn laws_of_physical_models() {
    let (mut checked, mut refused) = (0, 0);
    for (name, case) in reference_cases("restart_cases_physics.json") {
        let (laws, good) = (&case["laws"], case["expected"]["good"] == true);
        let stated = Case::from_json(&case["inputs"]);
        let mut variations = vec![stated.clone()];
        variations.extend((0..4).filter_map(|seed| varied(&stated, &mut Random(seed * 977 + 13))));
        assert!(variations.len() >= 3, "{name}: no left limits found");
        for (seed, case) in variations.iter().enumerate() {
            let disguise = &mut match seed {
                0 => Disguise::none(),
                seed => Disguise::seeded(seed as u64),
            };
            let scope = if seed % 2 == 0 { Scope::All } else { Scope::Touched };
            let after = right_limits(&name, case, disguise, scope);
            assert_eq!(after.is_some(), good, "{name}, seed {seed}");
            match after {
                Some(after) => laws_hold(&name, case, laws, &after),
                None => refused += 1,
            }
            checked += 1;
        }
    }
    assert!(checked > 250 && refused > 20, "{checked} checked, {refused} refused");
}
