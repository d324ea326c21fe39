//! What a block subtracts from what: its set point and what is to follow it.
//!
//! A difference of two inputs of one block is a control error, whatever the block and its inputs are called. Pictures of results show
//! both. They are named by the outermost block that has them as its inputs: those of a controller, not of the sums inside of it.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_syntax::ast::Causality;

use crate::flat::{
    BinaryOp, EquationKind, FlatEquation, FlatExpr, Idx, ProvenanceKind, ScalarType, UnaryOp, Variability, VariableId,
};
use crate::flattener::Flattener;
use crate::ids::InstanceId;

/// Names of sums lead to sums only so often.
const DEPTH: usize = 16;

impl Flattener<'_> {
    /// Notes the differences of inputs.
    pub(super) fn collect_set_points(&mut self) {
        let mut differences = Vec::new();
        for equation in &self.model.equations {
            self.differences_in(equation, &mut differences);
        }
        if differences.is_empty() {
            return;
        }
        let connected = self.connected_signals();
        let mut found: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        for pair in differences {
            let (plus, minus) = self.passed_on(pair, &connected);
            let name = |id: VariableId| Arc::clone(&self.model.variables[id].name);
            let named = (name(plus), name(minus));
            if !found.contains(&named) {
                found.push(named);
            }
        }
        self.model.set_points = found;
    }

    fn differences_in(&self, equation: &FlatEquation, found: &mut Vec<(VariableId, VariableId)>) {
        let mut all = |equations: &[FlatEquation]| {
            for inner in equations {
                self.differences_in(inner, found);
            }
        };
        match &equation.kind {
            EquationKind::Equal(left, right) => {
                for side in [left, right] {
                    side.walk(&mut |expr| found.extend(self.difference(expr)));
                }
            }
            EquationKind::If { branches, otherwise } => {
                branches.iter().for_each(|branch| all(&branch.body));
                all(otherwise);
            }
            EquationKind::When { branches } => branches.iter().for_each(|branch| all(&branch.body)),
            _ => {}
        }
    }

    /// The two inputs of which an expression is the difference, both perhaps with factors.
    fn difference(&self, expr: &FlatExpr) -> Option<(VariableId, VariableId)> {
        let FlatExpr::Binary(op @ (BinaryOp::Subtract | BinaryOp::Add), operands, _) = expr else {
            return None;
        };
        let (a, first) = self.weighted(&operands[0])?;
        let (b, second) = self.weighted(&operands[1])?;
        let second = if *op == BinaryOp::Subtract { -second } else { second };
        let blocks = (self.block_of(a)?, self.block_of(b)?);
        (a != b && first * second < 0.0 && blocks.0 == blocks.1).then_some(if first > 0.0 { (a, b) } else { (b, a) })
    }

    /// A variable and its factor.
    fn weighted(&self, expr: &FlatExpr) -> Option<(VariableId, f64)> {
        match expr {
            FlatExpr::Variable(id) => Some((*id, 1.0)),
            FlatExpr::Unary(UnaryOp::Negate, inner) => self.weighted(inner).map(|(id, factor)| (id, -factor)),
            FlatExpr::Binary(BinaryOp::Multiply, operands, _) => {
                let [a, b] = &**operands;
                let product = |factor: &FlatExpr, of: &FlatExpr| {
                    let (id, inner) = self.weighted(of)?;
                    Some((id, inner * self.number_of(factor, DEPTH)?))
                };
                product(a, b).or_else(|| product(b, a))
            }
            _ => None,
        }
    }

    /// The value of a number or a parameter.
    fn number_of(&self, expr: &FlatExpr, depth: usize) -> Option<f64> {
        match expr {
            FlatExpr::Unary(UnaryOp::Negate, inner) => self.number_of(inner, depth).map(|value| -value),
            FlatExpr::Variable(id) => {
                let variable = &self.model.variables[*id];
                let is_fixed = variable.variability <= Variability::Parameter;
                let binding = variable.binding.as_ref().filter(|_| is_fixed)?;
                self.number_of(binding, depth.checked_sub(1)?)
            }
            _ => expr.as_number(),
        }
    }

    /// The block that a signal is an input of.
    fn block_of(&self, id: VariableId) -> Option<InstanceId> {
        let component = &self.components[*self.owners.get(id.index())?];
        let is_signal = self.model.variables[id].ty == ScalarType::Real && !component.inherited.protected;
        (is_signal && component.causality == Some(Causality::Input)).then_some(component.parent)
    }

    /// What is connected with each other.
    fn connected_signals(&self) -> Connected {
        let mut connected = Connected::default();
        for equation in &self.model.equations {
            let is_connection = self.model.provenances[equation.provenance].kind == ProvenanceKind::Connection;
            if let EquationKind::Equal(FlatExpr::Variable(a), FlatExpr::Variable(b)) = equation.kind
                && is_connection
            {
                connected.join(a, b);
            }
        }
        connected
    }

    /// The inputs of a block around that are passed on to both, if there is one, and so on.
    fn passed_on(&self, mut pair: (VariableId, VariableId), connected: &Connected) -> (VariableId, VariableId) {
        let path = |id: VariableId| self.block_of(id).map(|block| &*self.instances[block].path);
        let is_around = |outer: VariableId, inner: VariableId| match (path(outer), path(inner)) {
            (Some(outer), Some(inner)) => inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.')),
            _ => false,
        };
        let around = |inner: VariableId| {
            let others = connected.with(inner).iter().copied();
            others.filter(move |&outer| is_around(outer, inner))
        };
        for _ in 0..DEPTH {
            let next = around(pair.0).find_map(|a| {
                let b = around(pair.1).find(|&b| self.block_of(a) == self.block_of(b))?;
                Some((a, b))
            });
            match next {
                Some(next) => pair = next,
                None => break,
            }
        }
        pair
    }
}

/// Sets of variables that connections make equal.
#[derive(Default)]
struct Connected {
    set_of: FxHashMap<VariableId, usize>,
    sets: Vec<Vec<VariableId>>,
}

impl Connected {
    fn set_of(&mut self, id: VariableId) -> usize {
        *self.set_of.entry(id).or_insert_with(|| {
            self.sets.push(vec![id]);
            self.sets.len() - 1
        })
    }

    fn join(&mut self, a: VariableId, b: VariableId) {
        let (mut kept, mut moved) = (self.set_of(a), self.set_of(b));
        if kept == moved {
            return;
        }
        if self.sets[kept].len() < self.sets[moved].len() {
            std::mem::swap(&mut kept, &mut moved);
        }
        let moved = std::mem::take(&mut self.sets[moved]);
        for &id in &moved {
            self.set_of.insert(id, kept);
        }
        self.sets[kept].extend(moved);
    }

    fn with(&self, id: VariableId) -> &[VariableId] {
        self.set_of.get(&id).map_or(&[], |&set| &self.sets[set])
    }
}
