//! Values of residuals and of their partial derivatives at a point, by reverse differentiation.
//!
//! The reference for compiled code, and enough for analyses that look at a few points.

use crate::Derivative;
use crate::eval::{Environment, apply_binary, apply_unary, truth};
use crate::function::CallError;
use crate::rules::{binary_slopes_at, unary_slope_at};
use crate::{ConditionId, ExprId, FunctionId, Idx, Mdae, Node, Role, Type, VarId};
use rustc_hash::FxHashMap;

use crate::walk::NodeWalk;

/// Evaluates residuals with their partial derivatives; keeps its workspace between calls.
#[derive(Clone, Debug, Default)]
pub struct JacobianReader {
    nodes: NodeWalk,
    order: Vec<(ExprId, Node)>,
    value: Vec<f64>,
    adjoint: Vec<f64>,
    /// Whether a node depends on what is differentiated by.
    depends: Vec<bool>,
    /// Statements of functions executed so far; a call with known results counts as much as the first.
    statements: u64,
    /// Results of the calls of the present expression: arguments are often outputs of one call each.
    calls: FxHashMap<Question, Answer>,
}

/// A call: the function, the arguments it is differentiated by, and the bits of its arguments.
type Question = (FunctionId, Vec<u32>, Vec<u64>);
/// All outputs of a call, and the statements it took.
type Answer = (Result<Vec<f64>, CallError>, u64);

impl JacobianReader {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of statements in functions that were executed so far: what evaluations have cost.
    pub fn statements(&self) -> u64 {
        self.statements
    }

    /// The value of an expression; its partial derivatives by unknowns and their derivatives go to `out`, sorted.
    pub fn read(
        &mut self,
        model: &Mdae,
        root: ExprId,
        env: &dyn Environment,
        out: &mut Vec<(Derivative, f64)>,
    ) -> Result<f64, CallError> {
        self.read_by(model, root, env, &|_, _| true, out)
    }

    /// As [`JacobianReader::read`], by those unknowns and derivatives alone for which `wanted` holds.
    pub fn read_by(
        &mut self,
        model: &Mdae,
        root: ExprId,
        env: &dyn Environment,
        wanted: &dyn Fn(VarId, u16) -> bool,
        out: &mut Vec<(Derivative, f64)>,
    ) -> Result<f64, CallError> {
        out.clear();
        self.calls.clear();
        let order = &mut self.order;
        order.clear();
        self.nodes
            .for_each_node(&model.pool, root, |id, node| order.push((id, node)));
        order.sort_unstable_by_key(|&(id, _)| id);
        if self.value.len() < model.pool.len() {
            self.value.resize(model.pool.len(), 0.0);
            self.adjoint.resize(model.pool.len(), 0.0);
            self.depends.resize(model.pool.len(), false);
        }
        let is_wanted = |var: VarId, order| model.variables[var].role == Role::Continuous && wanted(var, order);
        for at in 0..self.order.len() {
            let (id, node) = self.order[at];
            self.value[id.index()] = self.evaluate(model, node, env)?;
            self.adjoint[id.index()] = 0.0;
            self.depends[id.index()] = self.depends_on(model, node, &is_wanted);
        }
        self.adjoint[root.index()] = 1.0;
        for at in (0..self.order.len()).rev() {
            let (id, node) = self.order[at];
            let adjoint = self.adjoint[id.index()];
            if let Node::Var { var, order } = node {
                if is_wanted(var, order) {
                    out.push((Derivative { var, order }, adjoint));
                }
            } else if adjoint != 0.0 {
                self.hand_down(model, id, node, adjoint)?;
            }
        }
        out.sort_unstable_by_key(|&(derivative, _)| derivative);
        Ok(self.value[root.index()])
    }

    /// Whether a node depends on something that is wanted; its operands have been asked.
    fn depends_on(&self, model: &Mdae, node: Node, is_wanted: &dyn Fn(VarId, u16) -> bool) -> bool {
        let depends = |id: ExprId| self.depends[id.index()];
        match node {
            Node::Var { var, order } => is_wanted(var, order),
            Node::Unary(_, a) => depends(a),
            Node::Binary(_, a, b) => depends(a) || depends(b),
            Node::If(c, a, b) => depends(c) || depends(a) || depends(b),
            Node::Call { args, .. } => model.pool.args(args).any(depends),
            _ => false,
        }
    }

    fn evaluate(&mut self, model: &Mdae, node: Node, env: &dyn Environment) -> Result<f64, CallError> {
        let value = |id: ExprId| self.value[id.index()];
        Ok(match node {
            Node::Real(bits) => bits.get(),
            Node::Integer(number) => number as f64,
            Node::Boolean(b) => truth(b),
            Node::Var { var, order } => env.variable(var, order),
            Node::Pre { var, order } => env.left_limit(var, order),
            Node::Time => env.time(),
            Node::Condition(condition) => truth(env.condition(condition)),
            Node::Initial => truth(env.initial()),
            Node::Terminal => truth(env.terminal()),
            Node::Unary(op, a) => apply_unary(op, value(a)),
            Node::Binary(op, a, b) => apply_binary(op, value(a), value(b)),
            Node::If(c, a, b) => value(if value(c) != 0.0 { a } else { b }),
            Node::Call {
                function,
                output,
                partials,
                args,
            } => {
                let args: Vec<f64> = model.pool.args(args).map(value).collect();
                let partials = model.pool.list(partials);
                self.call(model, function, output, partials, &args)?
            }
        })
    }

    /// One output of a call, which is made once.
    fn call(
        &mut self,
        model: &Mdae,
        function: FunctionId,
        output: u32,
        partials: &[u32],
        args: &[f64],
    ) -> Result<f64, CallError> {
        let question = (
            function,
            partials.to_vec(),
            args.iter().map(|arg| arg.to_bits()).collect(),
        );
        let make = || model.functions.call_all_counted(function, partials, args);
        let (outputs, statements) = self.calls.entry(question).or_insert_with(make);
        self.statements += *statements;
        match outputs {
            Ok(outputs) => Ok(outputs[output as usize]),
            Err(error) => Err(error.clone()),
        }
    }

    fn hand_down(&mut self, model: &Mdae, id: ExprId, node: Node, adjoint: f64) -> Result<(), CallError> {
        match node {
            Node::Unary(op, a) => {
                let slope = unary_slope_at(op, self.value[a.index()], self.value[id.index()]);
                self.adjoint[a.index()] += adjoint * slope;
            }
            Node::Binary(op, a, b) => {
                let (x, y, result) = (self.value[a.index()], self.value[b.index()], self.value[id.index()]);
                let (left, right) = binary_slopes_at(op, x, y, result);
                // A slope that is not needed may be infinite: 0·∞ must not spoil the rest.
                if left != 0.0 {
                    self.adjoint[a.index()] += adjoint * left;
                }
                if right != 0.0 && model.pool.constant(b).is_none() {
                    self.adjoint[b.index()] += adjoint * right;
                }
            }
            Node::If(c, a, b) => {
                let taken = if self.value[c.index()] != 0.0 { a } else { b };
                self.adjoint[taken.index()] += adjoint;
            }
            Node::Call {
                function,
                output,
                partials,
                args,
            } => {
                let args: Vec<ExprId> = model.pool.args(args).collect();
                let values: Vec<f64> = args.iter().map(|arg| self.value[arg.index()]).collect();
                for (position, arg) in args.iter().enumerate() {
                    if !self.depends[arg.index()] {
                        continue;
                    }
                    let mut by = model.pool.list(partials).to_vec();
                    by.push(position as u32);
                    by.sort_unstable();
                    let slope = self.call(model, function, output, &by, &values)?;
                    self.adjoint[arg.index()] += adjoint * slope;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// A point to look at: parameters from their bindings, unknowns near their start values.
///
/// The values are spread deterministically by `seed`, so that what holds at several points holds identically, not by
/// the chance of round numbers; seed 0 keeps the start values that are given.
#[derive(Clone, Debug)]
pub struct SamplePoint {
    base: Vec<f64>,
    spread: Vec<bool>,
    seed: u32,
}

impl SamplePoint {
    /// The point of a model with the given seed.
    pub fn new(model: &Mdae, seed: u32) -> Self {
        let mut point = SamplePoint {
            base: vec![f64::NAN; model.variables.len()],
            spread: vec![false; model.variables.len()],
            seed,
        };
        point.evaluate_given(model);
        for (var, variable) in model.variables.iter_enumerated() {
            let at = var.index();
            let is_known = point.base[at].is_finite();
            point.spread[at] = matches!(variable.role, Role::Continuous | Role::Input) && !(seed == 0 && is_known);
            if !is_known {
                point.base[at] = if variable.role == Role::Parameter { 1.0 } else { 0.0 };
            }
        }
        point
    }

    /// Another point, with other values of the real parameters too: what holds there as well is no accident of them.
    pub fn with_other_parameters(model: &Mdae, seed: u32) -> Self {
        let mut point = Self::new(model, seed);
        for (var, variable) in model.variables.iter_enumerated() {
            if variable.role == Role::Parameter && variable.ty == Type::Real {
                point.base[var.index()] *= 1.0 + 0.3 * point.noise(var, 0);
            }
        }
        point
    }

    /// Evaluates bindings and start values, which may refer to each other; circular ones stay unknown.
    fn evaluate_given(&mut self, model: &Mdae) {
        let given: FxHashMap<VarId, ExprId> = model
            .variables
            .iter_enumerated()
            .filter_map(|(var, variable)| {
                let expr = match variable.role {
                    Role::Parameter => variable.binding.or(variable.start),
                    _ => variable.start,
                };
                Some((var, expr?))
            })
            .collect();
        let mut open: Vec<VarId> = given.keys().copied().collect();
        open.sort_unstable_by(|a, b| b.cmp(a));
        let mut entered = vec![false; model.variables.len()];
        let mut done = vec![false; model.variables.len()];
        while let Some(&var) = open.last() {
            let (at, expr) = (var.index(), given[&var]);
            if done[at] {
                open.pop();
                continue;
            }
            let first_visit = !std::mem::replace(&mut entered[at], true);
            let needs = model
                .pool
                .occurrences(expr)
                .into_iter()
                .map(|Derivative { var: need, .. }| need);
            let missing: Vec<VarId> = if first_visit {
                needs
                    .filter(|need| given.contains_key(need) && !entered[need.index()])
                    .collect()
            } else {
                Vec::new()
            };
            if missing.is_empty() {
                let value = crate::eval::evaluate(&model.pool, &model.functions, &[expr], &*self);
                self.base[at] = value.map_or(f64::NAN, |values| values[0]);
                done[at] = true;
                open.pop();
            } else {
                open.extend(missing);
            }
        }
    }

    /// A number in (−1, 1) that depends on variable, order and seed only.
    fn noise(&self, var: VarId, order: u16) -> f64 {
        let mut hash = u64::from(var.0) << 32 | u64::from(order) << 16 | u64::from(self.seed) ^ 0x9e37;
        // Finaliser of SplitMix64.
        for factor in [0xbf58_476d_1ce4_e5b9_u64, 0x94d0_49bb_1331_11eb] {
            hash = (hash ^ (hash >> 29)).wrapping_mul(factor);
        }
        ((hash >> 11) as f64 / (1u64 << 52) as f64) - 1.0
    }
}

impl Environment for SamplePoint {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        let base = self.base[var.index()];
        match (order, self.spread[var.index()]) {
            (0, false) => base,
            (0, true) => base + (0.5 + 0.3 * base.abs()) * self.noise(var, 0),
            _ => 0.7 * self.noise(var, order) + 0.9,
        }
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.variable(var, order)
    }
    fn time(&self) -> f64 {
        0.37 + 0.11 * f64::from(self.seed)
    }
    fn condition(&self, _: ConditionId) -> bool {
        false
    }
}
