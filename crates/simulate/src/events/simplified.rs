//! Condition functions as simple as a mode makes them.
//!
//! A path parameter s is one quantity in one mode and another in the next: friction while stuck, `f0 + v` while sliding. With
//! f0 of 1e9 N, `s > f0` tells velocities to 1e-7 m/s only. But an equation of the sliding mode says what `s - f0` is there: v.
//! Where an equation and the condition share what is taken away, the condition is watched and decided without it.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_mdae::eval::evaluate;
use saltus_mdae::jacobian::SamplePoint;
use saltus_mdae::{ConditionId, Derivative, EquationId, ExprId, Node, Role};

use super::condition::Monitor;
use crate::engine::{Engine, ModeId};

/// What is left of terms that cancel, in parts of them.
const ROUNDING: f64 = 1e-11;
/// Points at which they must.
const POINTS: u32 = 4;

/// What conditions read, once that is known; `None` where no mode makes one simpler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths(FxHashMap<ConditionId, Option<Path>>);

/// A condition function that is a constant multiple of one unknown, with something taken away from it.
#[derive(Copy, Clone, Debug)]
struct Path {
    unknown: Derivative,
    slope: ExprId,
}

impl Engine {
    /// A condition as it is best read in a mode, whose solution is in memory.
    pub(crate) fn monitor_in(&mut self, id: ConditionId, mode: ModeId) -> Option<Arc<Monitor>> {
        let plain = self.monitors[id].clone()?;
        let Some(simpler) = self.simplified_monitor(id, &plain, mode) else {
            return Some(plain);
        };
        self.find_errors(mode, simpler.reads(0));
        self.find_errors(mode, plain.reads(0));
        let mut tolerance = |monitor: &Monitor| monitor.watch(&self.memory, &self.scales, &mut self.scratch).tolerance;
        let better = tolerance(&simpler) < tolerance(&plain);
        Some(if better { simpler } else { plain })
    }

    fn simplified_monitor(&mut self, id: ConditionId, plain: &Monitor, mode: ModeId) -> Option<Arc<Monitor>> {
        let path = self.path(id, plain)?;
        if let Some(known) = self.modes[mode].simplified.get(&id) {
            return known.clone();
        }
        let function = self.simplified_function(plain.function, path, mode);
        let simpler = function.and_then(|function| {
            let found = plain.with_function(function, &self.model, &mut self.pool, &self.cache, &self.memory);
            found.ok().map(Arc::new)
        });
        self.modes[mode].simplified.insert(id, simpler.clone());
        simpler
    }

    /// The path parameter of a condition.
    fn path(&mut self, id: ConditionId, monitor: &Monitor) -> Option<Path> {
        if let Some(&known) = self.paths.0.get(&id) {
            return known;
        }
        let found = self.find_path(monitor);
        self.paths.0.insert(id, found);
        found
    }

    fn find_path(&mut self, monitor: &Monitor) -> Option<Path> {
        let function = monitor.function;
        if monitor.reads_left_limits() || !self.is_of_unknowns(function) {
            return None;
        }
        let leaves = self.pool.occurrences(function);
        let unknowns = leaves.into_iter().filter(|leaf| self.model.is_unknown(leaf.var));
        let [unknown] = unknowns.collect::<Vec<_>>()[..] else {
            return None;
        };
        let slope = self.pool.partial_derivative(function, unknown.var, unknown.order);
        self.pool.constant(slope).filter(|&slope| slope != 0.0)?;
        let zero = self.pool.real(0.0);
        let is_path = |node| matches!(node, Node::Var { var, order } if Derivative { var, order } == unknown);
        let taken_away = self
            .pool
            .rewrite(&[function], |_, _, node| is_path(node).then_some(zero))[0];
        (!self.pool.is_zero(taken_away)).then_some(Path { unknown, slope })
    }

    /// What an equation of the mode makes of a condition function, without terms that cancel.
    fn simplified_function(&mut self, function: ExprId, path: Path, mode: ModeId) -> Option<ExprId> {
        let modes = self.compiled.modes();
        let active = &self.modes[mode].structure.equations;
        let about: Vec<EquationId> = modes.equations_with(path.unknown.var).to_vec();
        let about: Vec<EquationId> = about
            .into_iter()
            .filter(|id| active.binary_search(id).is_ok())
            .collect();
        about
            .into_iter()
            .find_map(|equation| self.without_path(function, path, equation))
    }

    /// The function less a multiple of the residual of an equation, if that is a sum of unknowns alone.
    fn without_path(&mut self, function: ExprId, path: Path, equation: EquationId) -> Option<ExprId> {
        let Path { unknown: path, slope } = path;
        let residual = self.model.equations[equation].residual;
        if !self.is_of_unknowns(residual) {
            return None;
        }
        let own = self.pool.partial_derivative(residual, path.var, path.order);
        self.pool.constant(own).filter(|&own| own != 0.0)?;
        let others = self.pool.occurrences(residual).into_iter();
        let others: Vec<Derivative> = others
            .filter(|leaf| *leaf != path && self.model.is_unknown(leaf.var))
            .collect();
        let factor = self.pool.div(slope, own);
        let taken = self.pool.mul(factor, residual);
        let mut rest = self.pool.sub(function, taken);
        let mut sum = self.pool.real(0.0);
        for leaf in others {
            let coefficient = self.pool.partial_derivative(rest, leaf.var, leaf.order);
            self.pool.constant(coefficient)?;
            let var = self.pool.der_var(leaf.var, leaf.order);
            let term = self.pool.mul(coefficient, var);
            sum = self.pool.add(sum, term);
        }
        rest = self.pool.sub(rest, sum);
        let is_simpler = self.pool.constant(sum).is_none();
        (is_simpler && self.cancels(rest, &[function, taken])).then_some(sum)
    }

    /// Whether an expression is made of unknowns and parameters alone.
    fn is_of_unknowns(&self, expression: ExprId) -> bool {
        self.pool
            .reachable(&[expression])
            .into_iter()
            .all(|id| match self.pool.node(id) {
                Node::Var { var, .. } => {
                    self.model.is_unknown(var) || self.model.variables[var].role == Role::Parameter
                }
                Node::Pre { .. } | Node::Condition(_) | Node::Time | Node::Initial => false,
                _ => true,
            })
    }

    /// Whether an expression that no unknown moves is nothing beside what others are without unknowns, whatever the values
    /// of the parameters: a friction force of 1e-12 N is no rounding error of a velocity of 1 m/s.
    fn cancels(&mut self, rest: ExprId, others: &[ExprId]) -> bool {
        let zero = self.pool.real(0.0);
        let roots: Vec<ExprId> = std::iter::once(rest).chain(others.iter().copied()).collect();
        let model = &self.model;
        let is_unknown = |node| matches!(node, Node::Var { var, .. } if model.is_unknown(var));
        let roots = self.pool.rewrite(&roots, |_, _, node| is_unknown(node).then_some(zero));
        (0..POINTS).all(|seed| {
            let point = SamplePoint::with_other_parameters(&self.model, seed);
            let values = evaluate(&self.pool, &self.model.functions, &roots, &point);
            values.is_ok_and(|values| {
                let size: f64 = values[1..].iter().map(|value| value.abs()).sum();
                values[0].abs() <= ROUNDING * size && size.is_finite()
            })
        })
    }
}
