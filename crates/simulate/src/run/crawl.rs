//! Chattering without events.
//!
//! `sign(x)`, relations inside `noEvent` and branches of functions switch without an event. Where both sides drive to the
//! other one, the integrator keeps stepping across the switch, each step as short as its error asks for, and the run
//! crawls. What is seen of it: over very many steps that together are a small part of the run, such a switch goes to and fro
//! every few steps. A step that resolves a smooth function takes several to follow it up and down, and by little each time.

use saltus_mdae::print::{self, UserNames};
use saltus_mdae::{BinaryOp, EquationId, ExprId, Idx, Node, UnaryOp};

use super::Run;
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};
use crate::kernel::Bound;

/// Steps that are looked at together.
const WINDOW: u32 = 1000;
/// They crawl if they take at most this part of the run.
const CRAWLING: f64 = 1e-3;
/// Turns within a window that are chattering.
const MOST_TURNS: u32 = WINDOW / 20;
/// A turn is a change by this part of the largest value.
const TURN: f64 = 1e-3;

/// The steps of the present window.
#[derive(Debug, Default)]
pub(super) struct Crawl {
    steps: u32,
    began: f64,
    mode: Option<ModeId>,
    /// Whether the window before was a crawl, so that switches are followed in this one.
    follows: bool,
    switches: Vec<Switch>,
}

/// A value that may switch without an event.
#[derive(Debug)]
struct Switch {
    expression: ExprId,
    equation: EquationId,
    value: Bound,
    last: f64,
    largest: f64,
    rises: Option<bool>,
    turns: u32,
}

impl Switch {
    fn follow(&mut self, value: f64) {
        self.largest = self.largest.max(value.abs());
        let change = value - self.last;
        if change.abs() <= TURN * self.largest || change.is_nan() {
            return;
        }
        let rises = change > 0.0;
        self.turns += u32::from(self.rises == Some(!rises));
        self.rises = Some(rises);
        self.last = value;
    }
}

impl Run<'_> {
    /// Counts a step, and ends a run that crawls along a switch.
    pub(super) fn detect_crawling(&mut self, mode: ModeId, time: f64) -> Result<(), Failure> {
        if self.crawl.mode != Some(mode) {
            self.crawl = Crawl {
                began: time,
                mode: Some(mode),
                ..Crawl::default()
            };
        }
        self.crawl.steps += 1;
        for switch in &mut self.crawl.switches {
            let value = switch.value.value(&self.engine.memory);
            switch.follow(value);
        }
        if self.crawl.steps < WINDOW {
            return Ok(());
        }
        let span = (self.engine.options.stop - self.engine.options.start).abs();
        let crawls = time - self.crawl.began <= CRAWLING * span;
        if crawls && self.crawl.follows {
            self.chattering_switches(time)?;
        }
        let switches = match crawls {
            true => self.literal_switches(mode)?,
            false => Vec::new(),
        };
        self.crawl = Crawl {
            steps: 0,
            began: time,
            mode: Some(mode),
            follows: crawls,
            switches,
        };
        Ok(())
    }

    fn chattering_switches(&self, time: f64) -> Result<(), Failure> {
        let turning: Vec<&Switch> = self.crawl.switches.iter().filter(|s| s.turns >= MOST_TURNS).collect();
        let Some(count) = turning.iter().map(|switch| switch.turns).max() else {
            return Ok(());
        };
        let model = self.engine.model;
        let names = UserNames::new(model);
        let told = |switch: &&Switch| print::expression(&model.pool, &names, switch.expression).into();
        let kind = FailureKind::Chattering {
            conditions: turning.iter().map(told).collect(),
            origins: turning.iter().map(|s| model.equations[s.equation].origin).collect(),
            count,
        };
        Err(Failure::new(kind).at(time))
    }

    /// What may switch in the equations of a mode.
    fn literal_switches(&self, mode: ModeId) -> Result<Vec<Switch>, Failure> {
        let engine = &self.engine;
        let mut found: Vec<Switch> = Vec::new();
        for &equation in &engine.modes[mode].structure.equations {
            let residual = engine.model.equations[equation].residual;
            for expression in engine.model.pool.reachable(&[residual]) {
                let known = found.iter().any(|switch| switch.expression == expression);
                if known || !self.may_switch(expression) {
                    continue;
                }
                let value = Bound::of_value(&engine.cache, &engine.pool, expression, &engine.memory)?;
                found.push(Switch {
                    expression,
                    equation,
                    last: value.value(&engine.memory),
                    value,
                    largest: 0.0,
                    rises: None,
                    turns: 0,
                });
            }
        }
        found.sort_by_key(|switch| switch.expression.index());
        Ok(found)
    }

    fn may_switch(&self, expression: ExprId) -> bool {
        let pool = &self.engine.model.pool;
        let discontinuous = match pool.node(expression) {
            Node::Unary(op, _) => matches!(op, UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil),
            Node::Binary(op, ..) => matches!(
                op,
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne
            ),
            Node::Call { .. } => true,
            _ => false,
        };
        let moves = |&(var, _): &(saltus_mdae::VarId, u16)| self.engine.model.is_unknown(var);
        discontinuous && pool.occurrences(expression).iter().any(moves)
    }
}
