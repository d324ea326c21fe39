//! Expressions evaluated before and after a mode change.

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::eval::evaluate;
use saltus_mdae::function::Functions;
use saltus_mdae::{Builder, Derivative, Idx, VarId};

use super::case::TestEnvironment;
use super::parse::{identifiers, parse};
use super::{Values, split_primes};

/// The value of an expression: `x^-` from `before`, the rest from `after`.
pub(crate) fn value(text: &str, before: &Values, after: &Values, parameters: &Values) -> f64 {
    let m = Builder::new("expression");
    let names: BTreeSet<String> = identifiers(text).into_iter().collect();
    let known: BTreeMap<String, _> = names.iter().map(|name| (name.clone(), m.unknown(name))).collect();
    let root = parse(&m, &|name| known[name].clone(), text).id;
    let model = m.finish().unwrap();
    let mut environment = TestEnvironment::default();
    for (position, name) in model.variables.iter().enumerate() {
        let var = VarId::from_usize(position);
        for (map, values) in [(&mut environment.left, before), (&mut environment.current, after)] {
            for (state, &value) in values.iter().chain(parameters) {
                let (base, order) = split_primes(state);
                if *base == *name.name {
                    map.insert(Derivative { var, order }, value);
                }
            }
        }
    }
    evaluate(&model.pool, &Functions::new(), &[root], &environment).unwrap()[0]
}
