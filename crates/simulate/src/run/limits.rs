//! The attributes `min` and `max`: every variable is promised to stay between them.
//!
//! They act like assertions of level warning: a violation is reported once, with its time and value, and the run goes on. Values
//! within the error of the integration beyond a limit do not count. Integers that can no longer be told from their
//! neighbours end the run; a product of Integers within an expression that cannot be is reported, because it may be one whose value does
//! not matter then.

use std::sync::Arc;

use saltus_mdae::print::{UserNames, expression};
use saltus_mdae::{Action, BinaryFunction, ExprId, Mdae, Node, Role, Type, UnaryFunction, VarId, Variable};

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::kernel::Bound;

/// Integers below this size are exact.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

/// A share of the value that rounding may take it beyond a limit.
const ROUNDING: f64 = 1e-12;

/// What a variable is promised not to leave.
#[derive(Clone, Debug)]
struct Limit {
    name: String,
    var: VarId,
    order: u16,
    /// The variable is an alias with the sign reversed.
    negated: bool,
    min: f64,
    max: f64,
}

/// The limits that hold so far: what was violated is reported and taken off the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    watched: Vec<Limit>,
    products: Vec<(ExprId, Bound)>,
}

impl Limits {
    /// Reads the limits of all variables, and says which parameters and constants violate theirs.
    pub(crate) fn new(engine: &mut Engine) -> Result<Self, Failure> {
        let mut limits = Limits {
            products: products(engine)?,
            ..Limits::default()
        };
        let model = Arc::clone(&engine.model);
        let named = model.variables.iter_enumerated().map(|(id, v)| (id, 0, false, v));
        let aliases = model.aliases.iter();
        let named = named.chain(aliases.map(|alias| (alias.target, alias.order, alias.negated, &alias.variable)));
        for (var, order, negated, variable) in named {
            let (min, max) = bounds(engine, variable)?;
            if (min == f64::NEG_INFINITY && max == f64::INFINITY) || order >= engine.memory.orders(var) {
                continue;
            }
            limits.watched.push(Limit {
                name: variable.name.to_string(),
                var,
                order,
                negated,
                min,
                max,
            });
        }
        for constant in &model.constants {
            let (min, max) = bounds(engine, &constant.variable)?;
            let warning = violation(&constant.variable.name, constant.value, min, max, 0.0);
            engine.reported.warnings.extend(warning);
        }
        check_parameters(engine)?;
        limits.check(engine)?;
        let varies = |limit: &Limit| engine.model.variables[limit.var].role != Role::Parameter;
        limits.watched.retain(varies);
        Ok(limits)
    }

    /// Looks at the values in memory.
    pub(crate) fn check(&mut self, engine: &mut Engine) -> Result<(), Failure> {
        check_integers(engine)?;
        let time = engine.memory.time();
        let rounded = |(_, value): &mut (ExprId, Bound)| value.value(&engine.memory).abs() >= LARGEST_INTEGER;
        for (product, value) in self.products.extract_if(.., rounded) {
            let product = expression(&engine.model.pool, &UserNames::new(&engine.model), product);
            let value = value.value(&engine.memory);
            engine.reported.warnings.push(format!(
                "at t = {time}: `{product}` = {value:e} is beyond 2^53: Integers are kept as floating-point numbers, and what is made of it is \
                 rounded"
            ));
        }
        let mut reported = Vec::new();
        self.watched.retain(|limit| {
            let value = engine.memory.get(limit.var, limit.order) * if limit.negated { -1.0 } else { 1.0 };
            let warning = violation(&limit.name, value, limit.min, limit.max, slack(engine, limit, value));
            let holds = warning.is_none();
            let at = match engine.model.variables[limit.var].role {
                Role::Parameter => String::new(),
                _ => format!("at t = {time}: "),
            };
            reported.extend(warning.map(|warning| at + &warning));
            holds
        });
        engine.reported.warnings.append(&mut reported);
        Ok(())
    }
}

/// The products of Integers that vary in what discrete variables are and get.
fn products(engine: &Engine) -> Result<Vec<(ExprId, Bound)>, Failure> {
    let model = &engine.model;
    let branches = model.whens.iter().flat_map(|when| &when.branches);
    let assigned = branches
        .flat_map(|branch| &branch.actions)
        .filter_map(|action| match action {
            Action::Assign { value, .. } => Some(*value),
            _ => None,
        });
    let roots: Vec<ExprId> = (model.discrete.iter().map(|equation| equation.value))
        .chain(assigned)
        .collect();
    let is_product = |id: &ExprId| {
        matches!(model.pool.node(*id), Node::Binary(BinaryFunction::Mul, ..)) && is_of_integers(model, *id)
    };
    let found = model.pool.reachable(&roots).into_iter().filter(is_product);
    found
        .map(|id| Ok((id, Bound::of_value(&engine.cache, &engine.pool, id, &engine.memory)?)))
        .collect()
}

/// Whether an expression is made of Integers that vary, and of whole numbers.
fn is_of_integers(model: &Mdae, expr: ExprId) -> bool {
    let mut varies = false;
    let whole = model
        .pool
        .reachable(&[expr])
        .into_iter()
        .all(|id| match model.pool.node(id) {
            Node::Var { var, .. } | Node::Pre { var, .. } => {
                let variable = &model.variables[var];
                varies |= variable.role == Role::Discrete;
                variable.ty == Type::Integer && !variable.text
            }
            Node::Integer(_) | Node::Unary(UnaryFunction::Neg, _) => true,
            Node::Real(value) => value.get().fract() == 0.0,
            Node::Binary(op, ..) => matches!(
                op,
                BinaryFunction::Add
                    | BinaryFunction::Sub
                    | BinaryFunction::Mul
                    | BinaryFunction::Mod
                    | BinaryFunction::Rem
                    | BinaryFunction::Quotient
            ),
            _ => false,
        });
    whole && varies
}

/// Integers are kept as floating-point numbers: beyond 2^53 counting on would leave them as they are.
fn check_integers(engine: &Engine) -> Result<(), Failure> {
    engine
        .sets
        .integers
        .iter()
        .try_for_each(|&var| check_integer(engine, var))
}

/// The same for those that do not vary.
fn check_parameters(engine: &Engine) -> Result<(), Failure> {
    let variables = engine.model.variables.iter_enumerated();
    let parameters = variables.filter(|(_, v)| v.role == Role::Parameter && v.ty == Type::Integer && !v.text);
    parameters
        .map(|(var, _)| var)
        .try_for_each(|var| check_integer(engine, var))
}

fn check_integer(engine: &Engine, var: VarId) -> Result<(), Failure> {
    let value = engine.memory.get(var, 0);
    if value.abs() < LARGEST_INTEGER {
        return Ok(());
    }
    let variable = &engine.model.variables[var];
    let message = format!(
        "the Integer {} = {value:e} is beyond 2^53: it cannot be told from its neighbours",
        variable.name
    );
    let kind = FailureKind::Assertion {
        message: message.into(),
        origin: variable.origin,
    };
    Err(Failure::new(kind).at(engine.memory.time()))
}

/// By how much an inexact value may miss a limit.
fn slack(engine: &Engine, limit: &Limit, value: f64) -> f64 {
    let variable = &engine.model.variables[limit.var];
    match (variable.ty, variable.role) {
        (Type::Real, Role::Continuous) => 10.0 * engine.scales.declared_error(limit.var, value),
        (Type::Real, _) => ROUNDING * value.abs(),
        _ => 0.0,
    }
}

fn bounds(engine: &Engine, variable: &Variable) -> Result<(f64, f64), Failure> {
    let value = |expr: Option<ExprId>, none: f64| expr.map_or(Ok(none), |expr| engine.value_of(expr));
    Ok((
        value(variable.min, f64::NEG_INFINITY)?,
        value(variable.max, f64::INFINITY)?,
    ))
}

fn violation(name: &str, value: f64, min: f64, max: f64, slack: f64) -> Option<String> {
    if value < min - slack {
        return Some(format!("{name} = {value} is below its limit `min = {min}`"));
    }
    (value > max + slack).then(|| format!("{name} = {value} is above its limit `max = {max}`"))
}
