//! Chattering without events.
//!
//! `sign(x)`, relations inside `noEvent` and branches of functions switch without an event. Where both sides drive to the
//! other one, the integrator keeps stepping across the switch, each step as short as its error asks for, and the run
//! crawls. What is seen of it: over very many steps that together are a small part of the run, such a switch goes to and fro
//! every few steps. A step that resolves a smooth function takes several to follow it up and down, and by little each time.
//! Where the integrator refuses every step across the switch, none of the accepted ones sees the other side; there the rates
//! on both sides tell, one found by following the present rate across.

use std::sync::Arc;

use saltus_mdae::print::{self, UserNames};
use saltus_mdae::{BinaryFunction, EquationId, ExprId, ExprPool, Idx, Node, UnaryFunction};

use super::{CrawlingSwitch, Run, Stall};
use crate::engine::ModeId;
use crate::error::Failure;
use crate::kernel::Bound;

/// Steps that are looked at together.
const WINDOW: u32 = 1000;
/// They crawl if they take at most this part of the run.
const CRAWLING: f64 = 1e-3;
/// Turns within a window that are chattering.
const MOST_TURNS: u32 = WINDOW / 20;
/// A turn is a change by this part of the largest value.
const TURN: f64 = 1e-3;
/// Steps of this part of the run are short.
const SHORT: f64 = 1e-9;
/// A switch is approached by a step that leaves this part of the way to it.
const REACHED: f64 = 0.5;
/// Where the way back across a switch is looked at, in parts of the step that crossed it.
const AHEAD: f64 = 10.0;

/// The steps of the present window.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct Crawl {
    steps: u32,
    began: f64,
    mode: Option<ModeId>,
    /// Whether the window before was a crawl, so that switches are followed in this one.
    follows: bool,
    switches: Vec<Switch>,
    /// Functions of switches and their last values, where the run may go on along them.
    ahead: Option<Vec<(Switch, f64)>>,
}

/// A value that may switch without an event.
#[derive(Clone, Debug)]
struct Switch {
    expression: ExprId,
    equation: EquationId,
    value: Bound,
    /// What changes its sign where it switches, as far as that is known.
    function: Option<(ExprId, Bound)>,
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

impl Run {
    /// Counts a step; whether the run crawls along a switch.
    pub(in crate::run) fn crawling(&mut self, mode: ModeId, time: f64) -> Result<Option<Stall>, Failure> {
        if self.crawl.mode != Some(mode) {
            self.crawl = Crawl {
                began: time,
                mode: Some(mode),
                ahead: self.crawl.ahead.take().filter(|_| self.crawl.mode == Some(mode)),
                ..Crawl::default()
            };
        }
        self.crawl.steps += 1;
        for switch in &mut self.crawl.switches {
            let value = switch.value.value(&self.engine.memory);
            switch.follow(value);
        }
        if self.crawl.steps < WINDOW {
            return Ok(None);
        }
        let span = (self.engine.options.stop - self.engine.options.start).abs();
        let crawls = time - self.crawl.began <= CRAWLING * span;
        let duration = time - self.crawl.began;
        if crawls
            && self.crawl.follows
            && let Some(stall) = self.chattering_switches(mode, time, duration)?
        {
            return Ok(Some(stall));
        }
        if crawls {
            self.integrator.note_slow(WINDOW as usize, duration);
        }
        let switches = if crawls {
            self.literal_switches(mode)?
        } else {
            Vec::new()
        };
        self.crawl = Crawl {
            steps: 0,
            began: time,
            mode: Some(mode),
            follows: crawls,
            switches,
            ahead: self.crawl.ahead.take(),
        };
        Ok(None)
    }

    /// A switch that was crossed in the last step and whose other side drives back: seen at once, where the run may go on along
    /// it.
    pub(in crate::run) fn opposed_switch(
        &mut self,
        mode: ModeId,
        (from, to): (f64, f64),
    ) -> Result<Option<Stall>, Failure> {
        let known = self.crawl.ahead.take().filter(|_| self.crawl.mode == Some(mode));
        let mut ahead = match known {
            Some(known) => known,
            None => {
                let switches = self.literal_switches(mode)?.into_iter();
                switches.map(|switch| (switch, f64::NAN)).collect()
            }
        };
        let mut opposed = None;
        for (switch, last) in &mut ahead {
            let Some((_, function)) = &switch.function else {
                continue;
            };
            let value = function.value(&self.engine.memory);
            // Where steps across it are refused, it is approached by shorter and shorter ones.
            let reached = value.abs() < REACHED * last.abs() && self.is_short(to - from);
            let crossed = value * *last <= 0.0 || reached;
            *last = value;
            if crossed && opposed.is_none() && self.is_opposed(mode, function, to, AHEAD * (to - from)) {
                opposed = Some(self.reported(switch));
            }
            if crossed {
                self.move_to(mode, to)?;
            }
        }
        self.crawl.ahead = Some(ahead);
        Ok(opposed.map(|switch| Stall::Crawling {
            switches: vec![switch],
            turns: 0,
        }))
    }

    fn is_short(&self, step: f64) -> bool {
        let options = &self.engine.options;
        step <= SHORT * (options.stop - options.start).abs()
    }

    /// Whether something in the equations of a mode may switch without an event.
    pub(in crate::run) fn has_silent_switches(&self, mode: ModeId) -> bool {
        let mut equations = self.engine.modes[mode].structure.equations.iter();
        equations.any(|&equation| !self.engine.compiled.silent_switches(equation).is_empty())
    }

    fn chattering_switches(&mut self, mode: ModeId, time: f64, duration: f64) -> Result<Option<Stall>, Failure> {
        let switches = std::mem::take(&mut self.crawl.switches);
        let mut turning: Vec<&Switch> = Vec::new();
        for switch in &switches {
            let function = switch.function.as_ref().map(|(_, function)| function);
            if switch.turns >= MOST_TURNS || function.is_some_and(|f| self.is_opposed(mode, f, time, duration)) {
                turning.push(switch);
            }
        }
        self.move_to(mode, time)?;
        let Some(turns) = turning.iter().map(|switch| switch.turns).max() else {
            return Ok(None);
        };
        let switches = turning.iter().map(|switch| self.reported(switch)).collect();
        // Too few to speak of them: the rates on both sides have told.
        let turns = if turns < MOST_TURNS { 0 } else { turns };
        Ok(Some(Stall::Crawling { switches, turns }))
    }

    fn reported(&self, switch: &Switch) -> CrawlingSwitch {
        let model = &self.engine.model;
        let names = UserNames::new(model);
        CrawlingSwitch {
            text: print::expression(&model.pool, &names, switch.expression).into(),
            origin: model.equations[switch.equation].origin,
            function: switch.function.as_ref().map(|(function, _)| *function),
        }
    }

    /// Whether a function that is about to cross zero is driven back on the other side. Memory is left as it comes.
    fn is_opposed(&mut self, mode: ModeId, function: &Bound, time: f64, duration: f64) -> bool {
        let mut y = Vec::new();
        self.engine.modes[mode].plan().read_states(&self.engine.memory, &mut y);
        if y.is_empty() {
            return false;
        }
        self.integrator.interpolate(time, &mut y);
        let probe = duration / f64::from(WINDOW);
        let Some((here, rate, dy)) = self.rate_of(mode, function, time, &y, probe) else {
            return false;
        };
        let crossing = 2.0 * here.abs() / rate.abs();
        let soon = crossing <= duration;
        if here * rate >= 0.0 || !soon {
            return false;
        }
        let across: Vec<f64> = y.iter().zip(&dy).map(|(y, dy)| y + crossing * dy).collect();
        let there = self.rate_of(mode, function, time + crossing, &across, 0.1 * crossing);
        there.is_some_and(|(value, back, _)| value * here < 0.0 && back * rate < 0.0)
    }

    /// A function of the states, its rate and theirs.
    fn rate_of(
        &mut self,
        mode: ModeId,
        function: &Bound,
        time: f64,
        y: &[f64],
        probe: f64,
    ) -> Option<(f64, f64, Vec<f64>)> {
        let mut ode = self.engine.ode(mode, &self.history);
        ode.evaluate(time, y).ok()?;
        let value = function.value(ode.memory);
        let slots = ode.code.derivative_slots.iter();
        let dy: Vec<f64> = slots.map(|&slot| ode.memory.values[slot as usize]).collect();
        let next: Vec<f64> = y.iter().zip(&dy).map(|(y, dy)| y + probe * dy).collect();
        ode.evaluate(time + probe, &next).ok()?;
        let rate = (function.value(ode.memory) - value) / probe;
        rate.is_finite().then_some((value, rate, dy))
    }

    /// What may switch in the equations of a mode.
    fn literal_switches(&mut self, mode: ModeId) -> Result<Vec<Switch>, Failure> {
        let compiled = Arc::clone(&self.engine.compiled);
        let equations = self.engine.modes[mode].structure.equations.clone();
        let mut found: Vec<Switch> = Vec::new();
        for equation in equations {
            for &expression in compiled.silent_switches(equation) {
                if found.iter().any(|switch| switch.expression == expression) {
                    continue;
                }
                let function = self.switching_function(expression)?;
                let engine = &self.engine;
                let value = Bound::of_value(&engine.cache, &engine.pool, expression, &engine.memory)?;
                found.push(Switch {
                    expression,
                    equation,
                    function,
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

    /// The function whose zero is the switch.
    fn switching_function(&mut self, expression: ExprId) -> Result<Option<(ExprId, Bound)>, Failure> {
        let engine = &mut self.engine;
        let function = match engine.model.pool.node(expression) {
            Node::Unary(UnaryFunction::Sign, argument) => argument,
            Node::Binary(BinaryFunction::Lt | BinaryFunction::Le | BinaryFunction::Gt | BinaryFunction::Ge, a, b) => {
                engine.pool.sub(a, b)
            }
            Node::Unary(UnaryFunction::Floor | UnaryFunction::Ceil, argument) => to_integer(&mut engine.pool, argument),
            Node::Binary(BinaryFunction::Mod | BinaryFunction::Rem | BinaryFunction::Quotient, a, b) => {
                let ratio = engine.pool.div(a, b);
                to_integer(&mut engine.pool, ratio)
            }
            _ => return Ok(None),
        };
        let bound = Bound::of_value(&engine.cache, &engine.pool, function, &engine.memory)?;
        Ok(Some((function, bound)))
    }
}

/// How far a number is above the integer next to it.
fn to_integer(pool: &mut ExprPool, number: ExprId) -> ExprId {
    let half = pool.real(0.5);
    let above = pool.add(number, half);
    let nearest = pool.unary(UnaryFunction::Floor, above);
    pool.sub(number, nearest)
}
