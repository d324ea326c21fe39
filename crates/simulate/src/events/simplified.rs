//! Condition functions as simple as a mode makes them.
//!
//! A path parameter s is one quantity in one mode and another in the next: friction while stuck, `f0 + v` while sliding. With
//! f0 of 1e9 N, `s > f0` says velocities to 1e-7 m/s only. But an equation of the sliding mode says what `s - f0` is there: v.
//! Where an equation and the condition share what is taken away, the condition is watched and decided without it.
//!
//! The voltage of a diode across a closed switch is zero by the equations of the mode: a sum of multiples of them. Computed, it may
//! be what rounding leaves of large potentials, so it is read as the zero that it is.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::eval::evaluate;
use saltus_mdae::jacobian::SamplePoint;
use saltus_mdae::{ConditionId, Derivative, EquationId, ExprId, Node, Role, VarId};
use saltus_numerics::linalg::RowSpace;

use super::condition::Monitor;
use crate::engine::{Engine, ModeId};

/// What is left of terms that cancel, in parts of them.
const ROUNDING: f64 = 1e-11;
/// Points at which they must.
const POINTS: u32 = 4;

/// Equations among which a combination is looked for: a loop of switches and diodes has a few for each of them.
const NEAR: usize = 40;
/// Elimination leaves at most this part of a coefficient that is zero.
const NOTHING_LEFT: f64 = 1e-13;

/// What conditions and equations read, once that is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    forms: FxHashMap<ConditionId, Form>,
    /// Equations that are such sums; `None` for those that are not.
    sums: FxHashMap<EquationId, Option<Arc<Sum>>>,
}

/// What a mode may make simpler about a condition function.
#[derive(Clone, Debug)]
enum Form {
    /// Nothing.
    Other,
    /// A sum of constant multiples of unknowns, and a number.
    Sum(Arc<Sum>),
    /// Something is taken away from an unknown.
    Path(Path),
}

/// A sum of constant multiples of unknowns, and a number.
#[derive(Clone, Debug)]
struct Sum {
    terms: Vec<(Derivative, f64)>,
    number: f64,
}

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
        if self.pool.is_zero(simpler.function) {
            return Some(simpler);
        }
        self.find_errors(mode, simpler.reads(0));
        self.find_errors(mode, plain.reads(0));
        let mut tolerance = |monitor: &Monitor| monitor.watch(&self.memory, &self.scales, &mut self.scratch).tolerance;
        let better = tolerance(&simpler) < tolerance(&plain);
        Some(if better { simpler } else { plain })
    }

    fn simplified_monitor(&mut self, id: ConditionId, plain: &Monitor, mode: ModeId) -> Option<Arc<Monitor>> {
        let form = self.form(id, plain);
        if let Form::Other = form {
            return None;
        }
        if let Some(known) = self.modes[mode].simplified.get(&id) {
            return known.clone();
        }
        let function = match form {
            Form::Other => None,
            Form::Sum(sum) => self.vanishes_in(&sum, mode).then(|| self.pool.real(0.0)),
            Form::Path(path) => self.simplified_function(plain.function, path, mode),
        };
        let simpler = function.and_then(|function| {
            let found = plain.with_function(function, &self.model, &mut self.pool, &self.cache, &self.memory);
            found.ok().map(Arc::new)
        });
        self.modes[mode].simplified.insert(id, simpler.clone());
        simpler
    }

    /// What a mode may make simpler about a condition.
    fn form(&mut self, id: ConditionId, monitor: &Monitor) -> Form {
        if let Some(known) = self.paths.forms.get(&id) {
            return known.clone();
        }
        let found = match self.find_path(monitor) {
            Some(path) => Form::Path(path),
            None if monitor.reads_left_limits() => Form::Other,
            None => match self.constant_sum(monitor.function) {
                Some(sum) if !sum.terms.is_empty() => Form::Sum(Arc::new(sum)),
                _ => Form::Other,
            },
        };
        self.paths.forms.insert(id, found.clone());
        found
    }

    /// An expression as a sum of constant multiples of unknowns and a number, if it is one.
    fn constant_sum(&mut self, expression: ExprId) -> Option<Sum> {
        if !self.is_of_unknowns(expression) {
            return None;
        }
        let mut terms = Vec::new();
        for leaf in self.pool.occurrences(expression) {
            let slope = self.pool.partial_derivative(expression, leaf.var, leaf.order);
            terms.push((leaf, self.pool.constant(slope)?));
        }
        let zero = self.pool.real(0.0);
        let model = &self.model;
        let is_unknown = |node| matches!(node, Node::Var { var, .. } if model.is_unknown(var));
        let rest = self
            .pool
            .rewrite(&[expression], |_, _, node| is_unknown(node).then_some(zero))[0];
        let number = self.pool.constant(rest)?;
        Some(Sum { terms, number })
    }

    /// The residual of an equation as such a sum.
    fn equation_sum(&mut self, id: EquationId) -> Option<Arc<Sum>> {
        if let Some(known) = self.paths.sums.get(&id) {
            return known.clone();
        }
        let found = self.constant_sum(self.model.equations[id].residual).map(Arc::new);
        self.paths.sums.insert(id, found.clone());
        found
    }

    /// Whether a mode makes a sum zero at all times: it is a sum of multiples of equations with constant coefficients.
    fn vanishes_in(&mut self, sum: &Sum, mode: ModeId) -> bool {
        let equations = self.equations_near(sum, mode);
        let mut columns: FxHashMap<Derivative, usize> = FxHashMap::default();
        let mut units: Vec<f64> = Vec::new();
        let sums = equations.iter().map(|equation| &**equation).chain([sum]);
        for &(leaf, coefficient) in sums.flat_map(|sum| &sum.terms) {
            let at = *columns.entry(leaf).or_insert(units.len());
            if at == units.len() {
                units.push(0.0);
            }
            units[at] = units[at].max(coefficient.abs());
        }
        let row = |sum: &Sum| {
            let mut row = vec![0.0; columns.len() + 1];
            for (leaf, coefficient) in &sum.terms {
                row[columns[leaf]] += coefficient;
            }
            row[columns.len()] = sum.number;
            row
        };
        let mut space = RowSpace::new(units);
        for equation in &equations {
            let remainder = space.remainder(row(equation));
            space.add(remainder, NOTHING_LEFT);
        }
        let remainder = space.remainder(row(sum));
        remainder.of_unknowns() <= NOTHING_LEFT && remainder.of_right_hand_sides() <= NOTHING_LEFT
    }

    /// Equations of a mode that are such sums and share unknowns with a sum, or with others of them, nearest first.
    fn equations_near(&mut self, sum: &Sum, mode: ModeId) -> Vec<Arc<Sum>> {
        let structure = Arc::clone(&self.modes[mode].structure);
        let mut met: FxHashSet<EquationId> = FxHashSet::default();
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut open: VecDeque<VarId> = sum.terms.iter().map(|(leaf, _)| leaf.var).collect();
        let mut found: Vec<Arc<Sum>> = Vec::new();
        while let Some(var) = open.pop_front() {
            if !seen.insert(var) {
                continue;
            }
            for id in self.compiled.modes().equations_with(var).to_vec() {
                if structure.equations.binary_search(&id).is_err() || !met.insert(id) {
                    continue;
                }
                let Some(equation) = self.equation_sum(id) else {
                    continue;
                };
                open.extend(equation.terms.iter().map(|(leaf, _)| leaf.var));
                found.push(equation);
                if found.len() == NEAR {
                    return found;
                }
            }
        }
        found
    }

    /// The path parameter of a condition.
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
