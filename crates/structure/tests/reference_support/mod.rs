//! What stands in files of reference cases.

use saltus_structure::formula::{Formula, PredicateId};
use serde_json::Value;

/// A condition's number, a truth value, or an operator with its operands.
pub(crate) fn formula(value: &Value) -> Formula {
    let not = |inner: Formula| Formula::Not(Box::new(inner));
    match value {
        Value::Bool(constant) => Formula::Constant(*constant),
        Value::Number(number) => Formula::Predicate(PredicateId(number.as_u64().expect("a condition") as u32)),
        Value::Array(parts) => {
            let operands: Vec<Formula> = parts[1..].iter().map(formula).collect();
            match parts[0].as_str().expect("an operator") {
                "not" => not(operands[0].clone()),
                "and" => Formula::And(operands),
                "or" => Formula::Or(operands),
                "xor" => {
                    let [a, b] = [operands[0].clone(), operands[1].clone()];
                    let only = |a: &Formula, b: &Formula| Formula::And(vec![a.clone(), not(b.clone())]);
                    Formula::Or(vec![only(&a, &b), only(&b, &a)])
                }
                other => panic!("{other}"),
            }
        }
        other => panic!("{other}"),
    }
}
