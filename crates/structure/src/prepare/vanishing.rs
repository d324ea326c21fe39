//! Terms that vanish for the given parameter values.
//!
//! `R*i = v1 - v2` with R = 0 joins two nodes, `L*der(i) = v` with L = 0 takes a state away: a parameter that is exactly
//! zero changes the structure. Structure cannot see that, so such terms are taken out before it is analysed. The
//! parameters that made them vanish then shape the equations: another value for one of them, or zero for another
//! coefficient, needs another compilation. An ideal switch `v = s*(if open then 1 else Ron)` with Ron = 0 is `v = s` while
//! it is open and `v = 0` while it is closed: equations with such a coefficient in one branch are split.
//!
//! A coefficient may be computed by a function, of parameters and of voltages: the capacitance of a junction without charges. It
//! is zero where the function yields zero whatever the voltages are.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{BinaryFunction, ConditionId, Derivative, ExprId, ExprPool, FunctionId, Mdae, Node, Role, VarId};

/// Products within products are looked through to this depth.
const NESTING_LIMIT: usize = 16;
/// At most this many branches of a factor are looked at.
const BRANCH_LIMIT: usize = 64;

/// Parameters in the coefficients of unknowns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coefficients {
    /// They make a coefficient zero: the equations were compiled for that value.
    pub vanished: BTreeSet<Arc<str>>,
    /// Zero is a value the equations were not compiled for.
    pub watched: BTreeSet<Arc<str>>,
}

/// Takes out the terms whose coefficients are zero for the parameter values in the model.
pub fn drop_vanishing_terms(model: &mut Mdae) -> Coefficients {
    let mut values = ParameterValues::default();
    let mut found = Coefficients::default();
    drop_vanishing_calls(model, &mut values, &mut found);
    let coefficients = coefficients(model);
    let mut vanishing: FxHashMap<ExprId, bool> = FxHashMap::default();
    for &coefficient in &coefficients {
        let zero = values.of_expression(model, coefficient) == Some(0.0);
        vanishing.insert(coefficient, zero);
    }
    for &coefficient in &coefficients {
        let list = if vanishing[&coefficient] {
            &mut found.vanished
        } else {
            &mut found.watched
        };
        note_parameters(model, coefficient, list);
    }
    if vanishing.values().any(|&vanishes| vanishes) {
        rewrite(model, &vanishing);
    }
    found
}

/// Replaces calls in coefficients that are zero whatever their varying arguments are.
fn drop_vanishing_calls(model: &mut Mdae, values: &mut ParameterValues, found: &mut Coefficients) {
    let mut zeros: FxHashSet<ExprId> = FxHashSet::default();
    let mut known: FxHashMap<(FunctionId, Vec<ExprId>), Vec<Option<f64>>> = FxHashMap::default();
    for call in calls_in_coefficients(model) {
        let Node::Call {
            function, output, args, ..
        } = model.pool.node(call)
        else {
            continue;
        };
        let args: Vec<ExprId> = model.pool.args(args).collect();
        let results = known.entry((function, args.clone())).or_insert_with(|| {
            let args: Vec<Option<f64>> = args.iter().map(|&arg| values.of_settled(model, arg)).collect();
            if args.iter().all(Option::is_none) {
                Vec::new()
            } else {
                model.functions.settled_results(function, &args)
            }
        });
        if results.is_empty() {
            continue;
        }
        let vanishes = results.get(output as usize) == Some(&Some(0.0));
        let list = if vanishes {
            &mut found.vanished
        } else {
            &mut found.watched
        };
        note_parameters(model, call, list);
        if vanishes {
            zeros.insert(call);
        }
    }
    if zeros.is_empty() {
        return;
    }
    let residuals: Vec<ExprId> = model.equations.iter().map(|equation| equation.residual).collect();
    let rewritten = model
        .pool
        .rewrite(&residuals, |pool, id, _| zeros.contains(&id).then(|| pool.real(0.0)));
    for (equation, residual) in model.equations.iter_mut().zip(rewritten) {
        equation.residual = residual;
    }
}

/// Calls of functions with arguments that vary, which something is multiplied by: in a product, or as the definition `c = f(…)`
/// of what is in one. In the order of their ids.
fn calls_in_coefficients(model: &Mdae) -> BTreeSet<ExprId> {
    let residuals: Vec<ExprId> = model.equations.iter().map(|equation| equation.residual).collect();
    let is_call =
        |id: ExprId| matches!(model.pool.node(id), Node::Call { partials, .. } if model.pool.list(partials).is_empty());
    let mut calls = BTreeSet::new();
    let mut factors: FxHashSet<VarId> = FxHashSet::default();
    for id in model.pool.reachable(&residuals) {
        let Node::Binary(BinaryFunction::Mul, a, b) = model.pool.node(id) else {
            continue;
        };
        for factor in [a, b].into_iter().flat_map(|side| branches(&model.pool, side)) {
            match model.pool.node(factor) {
                Node::Var { var, order: 0 } if model.is_unknown(var) => {
                    factors.insert(var);
                }
                Node::Call { .. } if is_call(factor) => {
                    calls.insert(factor);
                }
                _ => {}
            }
        }
    }
    let defined = |id: ExprId| matches!(model.pool.node(id), Node::Var { var, order: 0 } if factors.contains(&var));
    for equation in model.equations.iter() {
        if let Node::Binary(BinaryFunction::Sub, a, b) = model.pool.node(equation.residual)
            && model.pool.constant(equation.guard) == Some(1.0)
        {
            calls.extend(
                [(a, b), (b, a)]
                    .into_iter()
                    .filter(|&(a, b)| defined(a) && is_call(b))
                    .map(|(_, b)| b),
            );
        }
    }
    calls
}

fn rewrite(model: &mut Mdae, vanishing: &FxHashMap<ExprId, bool>) {
    // Products within products are found once those around them are gone.
    for _ in 0..NESTING_LIMIT {
        let residuals: Vec<ExprId> = model.equations.iter().map(|equation| equation.residual).collect();
        let rewritten = model.pool.rewrite(&residuals, |pool, _, node| match node {
            Node::Binary(BinaryFunction::Mul, a, b) if has_vanishing_branch(pool, vanishing, a) => {
                Some(product(pool, vanishing, b, a))
            }
            Node::Binary(BinaryFunction::Mul, a, b) if has_vanishing_branch(pool, vanishing, b) => {
                Some(product(pool, vanishing, a, b))
            }
            _ => None,
        });
        if rewritten == residuals {
            break;
        }
        for (equation, residual) in model.equations.iter_mut().zip(rewritten) {
            equation.residual = residual;
        }
    }
    model.split_structural_ifs();
}

/// Whether a factor is zero, everywhere or in a branch.
fn has_vanishing_branch(pool: &ExprPool, vanishing: &FxHashMap<ExprId, bool>, factor: ExprId) -> bool {
    branches(pool, factor).any(|branch| vanishing.get(&branch) == Some(&true))
}

/// Whether a branch is written as zero: outside if-expressions such products are simplified when they are made.
fn is_zero(pool: &ExprPool, value: ExprId) -> bool {
    match pool.node(value) {
        Node::Real(number) => number.get() == 0.0,
        Node::Integer(number) => number == 0,
        _ => false,
    }
}

/// The values that a factor can have: those of the branches of an if-expression.
fn branches(pool: &ExprPool, factor: ExprId) -> impl Iterator<Item = ExprId> {
    let mut found = Vec::new();
    let mut stack = vec![factor];
    while let Some(id) = stack.pop() {
        match pool.node(id) {
            Node::If(_, then, otherwise) if found.len() + stack.len() < BRANCH_LIMIT => stack.extend([then, otherwise]),
            _ => found.push(id),
        }
    }
    found.into_iter()
}

/// The product with a factor that vanishes in a branch, as an if-expression of products.
fn product(pool: &mut ExprPool, vanishing: &FxHashMap<ExprId, bool>, other: ExprId, factor: ExprId) -> ExprId {
    match pool.node(factor) {
        _ if vanishing.get(&factor) == Some(&true) => pool.real(0.0),
        Node::If(condition, then, otherwise) if has_vanishing_branch(pool, vanishing, factor) => {
            let then = product(pool, vanishing, other, then);
            let otherwise = product(pool, vanishing, other, otherwise);
            pool.if_else(condition, then, otherwise)
        }
        _ => pool.mul(other, factor),
    }
}

/// What an expression is made of.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Constant,
    Parameter,
    Variable,
}

/// Expressions of parameters that something varying is multiplied by, in the order of their ids.
fn coefficients(model: &Mdae) -> Vec<ExprId> {
    let residuals: Vec<ExprId> = model.equations.iter().map(|equation| equation.residual).collect();
    let mut kinds: FxHashMap<ExprId, Kind> = FxHashMap::default();
    let mut found = BTreeSet::new();
    // Children come before what is made of them.
    for id in model.pool.reachable(&residuals) {
        let mut kind = match model.pool.node(id) {
            Node::Real(_) | Node::Integer(_) | Node::Boolean(_) => Kind::Constant,
            Node::Var { var, .. } if model.variables[var].role == Role::Parameter => {
                if settled(model, var) {
                    Kind::Parameter
                } else {
                    Kind::Variable
                }
            }
            Node::Var { .. } | Node::Pre { .. } | Node::Time => Kind::Variable,
            Node::Condition(_) | Node::Initial | Node::Terminal => Kind::Variable,
            _ => Kind::Constant,
        };
        let of_child = |child: ExprId| kinds.get(&child).copied().unwrap_or(Kind::Variable);
        model
            .pool
            .for_each_child(model.pool.node(id), |child| kind = kind.max(of_child(child)));
        kinds.insert(id, kind);
        if let Node::Binary(BinaryFunction::Mul, a, b) = model.pool.node(id) {
            for (side, other) in [(a, b), (b, a)] {
                if kinds.get(&other) == Some(&Kind::Variable) {
                    let values = branches(&model.pool, side);
                    let is_parameter = |value: ExprId| kinds.get(&value) == Some(&Kind::Parameter);
                    found.extend(values.filter(|&value| is_parameter(value) || is_zero(&model.pool, value)));
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Whether a parameter has a value before initialisation.
fn settled(model: &Mdae, var: VarId) -> bool {
    let variable = &model.variables[var];
    variable.fixed || variable.binding.is_some()
}

fn note_parameters(model: &Mdae, root: ExprId, names: &mut BTreeSet<Arc<str>>) {
    let mut stack = vec![root];
    while let Some(expression) = stack.pop() {
        for Derivative { var, .. } in model.pool.occurrences(expression) {
            let variable = &model.variables[var];
            if names.insert(Arc::from(&*variable.name)) {
                stack.extend(variable.binding);
            }
        }
    }
}

/// Values of parameters, computed when they are asked for.
#[derive(Default)]
struct ParameterValues {
    known: FxHashMap<VarId, f64>,
}

impl ParameterValues {
    /// The value of an expression of parameters and constants.
    fn of_settled(&mut self, model: &Mdae, root: ExprId) -> Option<f64> {
        let settled = |id: ExprId| match model.pool.node(id) {
            Node::Var { var, .. } => model.variables[var].role == Role::Parameter && settled(model, var),
            Node::Pre { .. } | Node::Time | Node::Condition(_) | Node::Initial | Node::Terminal => false,
            _ => true,
        };
        let all_settled = model.pool.reachable(&[root]).into_iter().all(settled);
        all_settled.then(|| self.of_expression(model, root)).flatten()
    }

    fn of_expression(&mut self, model: &Mdae, root: ExprId) -> Option<f64> {
        for var in in_order(model, root) {
            if !self.known.contains_key(&var) {
                let variable = &model.variables[var];
                let value = self.evaluate(model, variable.binding.or(variable.start)?)?;
                self.known.insert(var, value);
            }
        }
        self.evaluate(model, root)
    }

    fn evaluate(&self, model: &Mdae, root: ExprId) -> Option<f64> {
        let values = evaluate(&model.pool, &model.functions, &[root], self).ok()?;
        values.first().copied()
    }
}

/// The parameters that an expression needs, each after those that its binding needs.
fn in_order(model: &Mdae, root: ExprId) -> Vec<VarId> {
    let mut order = Vec::new();
    let mut entered: BTreeSet<VarId> = BTreeSet::new();
    let needs = |expression: ExprId| {
        model
            .pool
            .occurrences(expression)
            .into_iter()
            .map(|Derivative { var, .. }| var)
    };
    let mut stack: Vec<(VarId, bool)> = needs(root).map(|var| (var, false)).collect();
    while let Some((var, leaving)) = stack.pop() {
        if leaving {
            order.push(var);
        } else if entered.insert(var) {
            stack.push((var, true));
            let variable = &model.variables[var];
            if let Some(binding) = variable.binding.or(variable.start) {
                stack.extend(needs(binding).map(|var| (var, false)));
            }
        }
    }
    order
}

impl Environment for ParameterValues {
    fn variable(&self, var: VarId, _order: u16) -> f64 {
        self.known.get(&var).copied().unwrap_or(f64::NAN)
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.variable(var, order)
    }
    fn time(&self) -> f64 {
        f64::NAN
    }
    fn condition(&self, _condition: ConditionId) -> bool {
        false
    }
    fn initial(&self) -> bool {
        false
    }
}
