//! Condition functions that are at a bend of theirs.
//!
//! `abs(x) - x` is zero at x = 0, and what comes next depends on the side to which x leaves: the derivative of a function that
//! bends is no derivative at the bend. But x says: its sign right after the instant is known by its own derivatives. So each
//! bend is straightened to the side on which its argument will be, from inside out, and the derivatives of what is left decide.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_mdae::{BinaryFunction, ConditionId, ExprId, Node, UnaryFunction};

use super::condition::{Monitor, SIGN_ORDERS};
use crate::engine::{Engine, ModeId};

/// The part of its error within which an argument is at its bend.
const AT_BEND: f64 = 1e-3;

impl Engine {
    /// A condition with its bends straightened to the sides that follow the values in memory; `None` if it has none.
    pub(super) fn unbent_monitor(
        &mut self,
        condition: ConditionId,
        monitor: &Monitor,
        mode: Option<ModeId>,
        at_event: bool,
    ) -> Option<Arc<Monitor>> {
        let function = monitor.function;
        if at_event && monitor.reads_left_limits() {
            return None;
        }
        let bends = |id: &ExprId| {
            matches!(
                self.pool.node(*id),
                Node::Unary(UnaryFunction::Abs, _) | Node::Binary(BinaryFunction::Min | BinaryFunction::Max, ..)
            )
        };
        // Children come before parents.
        let bent: Vec<ExprId> = self.pool.reachable(&[function]).into_iter().filter(bends).collect();
        if bent.is_empty() {
            return None;
        }
        let mut straight: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in bent {
            let side = self.straightened(condition, id, &straight, mode)?;
            straight.insert(id, side);
        }
        let function = self.replaced(function, &straight);
        let monitor = monitor.with_function(function, &self.model, &mut self.pool, &self.cache, &self.memory);
        monitor.ok().map(Arc::new)
    }

    fn replaced(&mut self, expression: ExprId, straight: &FxHashMap<ExprId, ExprId>) -> ExprId {
        self.pool.rewrite(&[expression], |_, id, _| straight.get(&id).copied())[0]
    }

    /// What a bent expression is on the side that follows.
    fn straightened(
        &mut self,
        condition: ConditionId,
        bent: ExprId,
        straight: &FxHashMap<ExprId, ExprId>,
        mode: Option<ModeId>,
    ) -> Option<ExprId> {
        match self.pool.node(bent) {
            Node::Unary(_, a) => {
                let a = self.replaced(a, straight);
                let positive = self.is_positive_next(condition, a, mode)?;
                Some(if positive { a } else { self.pool.neg(a) })
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.replaced(a, straight), self.replaced(b, straight));
                let difference = self.pool.sub(a, b);
                let greater = self.is_positive_next(condition, difference, mode)?;
                Some(if greater == (op == BinaryFunction::Max) { a } else { b })
            }
            _ => None,
        }
    }

    /// Whether an expression is positive right after the instant, or stays zero; `None` if that is not known.
    ///
    /// What is off by less than the error of a state may still be clear of the bend: a pulse that is narrower than that
    /// error rises and falls. Only what the location of the event leaves is at the bend.
    fn is_positive_next(&mut self, condition: ConditionId, expression: ExprId, mode: Option<ModeId>) -> Option<bool> {
        let monitor = Monitor::of_switch(expression, &self.model, &mut self.pool, &self.cache, &self.memory).ok()?;
        for order in 0..=SIGN_ORDERS {
            if !self.ensure_derivatives(&monitor, mode, order) {
                break;
            }
            if let Some(mode) = mode {
                self.find_errors(mode, monitor.reads(order));
            }
            let reading = monitor.read(order, false, &self.memory, &self.scales, &mut self.scratch);
            if reading.value.is_nan() {
                return None;
            }
            let error = match order {
                0 => self
                    .location_error(condition, &monitor, mode)
                    .max(AT_BEND * reading.tolerance),
                _ => reading.tolerance,
            };
            if reading.value.abs() > error {
                return Some(reading.value > 0.0);
            }
        }
        Some(true)
    }
}
