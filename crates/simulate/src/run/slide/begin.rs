//! Where a surface is met: its two sides, and whether both drive to it.

use std::sync::Arc;

use saltus_mdae::{ConditionId, Derivative, Idx};

use super::flow::Flow;
use super::side::Side;
use super::{Motion, Obstacle, Slide, Surface};
use crate::events::condition::{Decided, Monitor};
use crate::run::Run;
use crate::run::stall::CrawlingSwitch;

/// A side drives to the surface if its rate is at least this part of both rates.
const CERTAIN: f64 = 1e-9;
/// Conditions whose rate along the surface is at most this part of those on both sides are zero all along it.
const ALONG: f64 = 1e-6;
/// Where a side is looked at beside the surface, in parts of what counts as zero.
const BESIDE: f64 = 1e-3;
/// The least such part of the size of the function's terms.
const LEAST_BESIDE: f64 = 1e-12;
/// The part of the size of a state by which it is moved to find a gradient.
const PROBE: f64 = 1e-6;
/// Rounds until the conditions on a surface are told from those that are crossed at the same time.
const ROUNDS: usize = 4;
/// Functions of a surface within so many of their tolerances are at it.
const NEAR: f64 = 100.0;

impl Run {
    /// The conditions that turn at an event that found no mode, by their course before it.
    pub(in crate::run) fn turned_conditions(&mut self, triggers: &[ConditionId]) -> Vec<ConditionId> {
        let (guess, _) = self.engine.guess(false);
        let engine = &self.engine;
        let turns = |id: &ConditionId| guess[*id] != engine.truths[*id] || triggers.contains(id);
        let ids = engine.model.conditions.ids();
        ids.filter(turns).filter(|&id| self.is_crossed(id)).collect()
    }

    /// Whether a condition is a relation of variables.
    fn is_crossed(&self, id: ConditionId) -> bool {
        let monitor = self.engine.monitors[id].as_ref();
        monitor.is_some_and(|monitor| monitor.decided != Decided::ByTime)
    }

    /// The conditions that an event has turned, if behind it the motion goes straight back: relays remember what they saw, so
    /// that each event by itself finds its mode.
    pub(in crate::run) fn returning_conditions(&mut self, triggers: &[ConditionId]) -> Vec<ConditionId> {
        let mut turned = Vec::new();
        for id in self.engine.model.conditions.ids() {
            if self.engine.event.flips[id] == 0 || !self.is_crossed(id) {
                continue;
            }
            if triggers.contains(&id) || self.is_near_zero(id) {
                turned.push(id);
            }
        }
        let returns = |run: &mut Self, id: ConditionId| {
            let to_and_fro = run.engine.event.flips[id] > 1;
            let rate = run.rate_now(id);
            to_and_fro || rate.is_some_and(|rate| (rate < 0.0) == run.engine.truths[id])
        };
        if turned.iter().any(|&id| triggers.contains(&id) && returns(self, id)) {
            turned
        } else {
            Vec::new()
        }
    }

    fn is_near_zero(&mut self, id: ConditionId) -> bool {
        let engine = &mut self.engine;
        let Some(monitor) = engine.monitors[id].clone() else {
            return false;
        };
        let reading = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
        reading.value.abs() <= NEAR * reading.tolerance
    }

    /// The rate of a condition function, if it can be told from zero.
    fn rate_now(&mut self, id: ConditionId) -> Option<f64> {
        let monitor = self.engine.monitors[id].clone()?;
        let mode = self.engine.mode?;
        self.engine.find_errors(mode, monitor.reads(1));
        let rate = self.engine.derivative(&monitor, mode, 1)?;
        (rate.value.abs() > rate.tolerance).then_some(rate.value)
    }

    /// The motion along the surface on which conditions turn, coming from a side; why there is none. The present stays as it
    /// is.
    pub(in crate::run) fn slide_on(&mut self, before: &Side, turned: &[ConditionId]) -> Result<Slide, Obstacle> {
        let present = Side::present(&self.engine);
        let (warnings, counters) = (self.engine.reported.warnings.len(), self.engine.counters);
        let found = self.find_slide(before, turned);
        self.engine.pin(&[]);
        self.engine.event.failed_event = None;
        self.engine.reported.warnings.truncate(warnings);
        self.engine.counters = counters;
        present.enter(&mut self.engine);
        found
    }

    /// The motion along the surface on which a run starts, where all conditions on it were taken to hold. The side from which
    /// it is reached is that on which they fall.
    pub(in crate::run) fn slide_from_start(&mut self, turned: &[ConditionId]) -> Result<Slide, Obstacle> {
        let mut pins = Vec::new();
        for &id in turned {
            let rate = self.rate_now(id).ok_or("one side does not move")?;
            pins.push((id, rate < 0.0));
        }
        self.cross(&pins)?;
        let before = Side::present(&self.engine);
        self.slide_on(&before, turned)
    }

    fn find_slide(&mut self, before: &Side, turned: &[ConditionId]) -> Result<Slide, Obstacle> {
        self.check_delays()?;
        let mut turned = turned.to_vec();
        for _ in 0..ROUNDS {
            if turned.is_empty() {
                break;
            }
            let sides = self.cross_to_and_fro(before, &turned)?;
            let (slide, beside) = self.surface_between(sides, &turned)?;
            if beside.is_empty() {
                return Ok(slide);
            }
            turned.retain(|id| !beside.contains(id));
        }
        Err("no surface was found to which both sides drive".to_owned())
    }

    pub(super) fn check_delays(&self) -> Result<(), Obstacle> {
        if self.history.is_empty() {
            Ok(())
        } else {
            Err("what delayed signals are on the surface depends on how it is kept to".to_owned())
        }
    }

    /// Both sides of a surface: the one it is reached from, and the other.
    fn cross_to_and_fro(&mut self, before: &Side, turned: &[ConditionId]) -> Result<[Side; 2], Obstacle> {
        before.clone().enter(&mut self.engine);
        let pins = |there: bool| -> Vec<(ConditionId, bool)> {
            let truths = turned.iter().map(|&id| (id, before.truth(id) != there));
            truths.collect()
        };
        let (here, there) = (pins(false), pins(true));
        self.cross(&there)?;
        self.engine.advance_samples().map_err(|failure| failure.to_string())?;
        let first = Side::present(&self.engine);
        self.cross(&here)?;
        let mut near = Side::present(&self.engine);
        self.cross(&there)?;
        let mut far = Side::present(&self.engine);
        if let Some(var) = first.other_discrete(&far, &self.engine) {
            let name = self.engine.name(var, 0);
            return Err(format!("`{name}` changes every time the surface is crossed"));
        }
        if !near.make_mode(&mut self.engine) || !far.make_mode(&mut self.engine) {
            return Err("the mode of one side cannot be made again".to_owned());
        }
        Ok([near, far])
    }

    /// One event with the conditions on the surface as given.
    fn cross(&mut self, pins: &[(ConditionId, bool)]) -> Result<(), Obstacle> {
        let left = Side::present(&self.engine);
        let ids: Vec<ConditionId> = pins.iter().map(|&(id, _)| id).collect();
        self.engine.pin(pins);
        let outcome = self.engine.event(&ids, false);
        self.engine.pin(&[]);
        let report = outcome.map_err(|failure| format!("one side has no values on the surface: {failure}"))?;
        if report.terminate.is_some() {
            return Err("the run is terminated where the surface is crossed".to_owned());
        }
        let acts = |instant: &crate::report::InstantReport| instant.transient || !instant.impulses.is_empty();
        let right = Side::present(&self.engine);
        if left.states(&self.engine) != right.states(&self.engine) {
            return Err("the two sides have different states".to_owned());
        }
        if report.instants.iter().any(acts) || !self.is_same_point(&left, &right) {
            return Err("states jump where the surface is crossed".to_owned());
        }
        Ok(())
    }

    pub(super) fn is_same_point(&self, one: &Side, other: &Side) -> bool {
        let engine = &self.engine;
        let (a, b) = (one.point(engine), other.point(engine));
        let states = one.states(engine).iter().zip(a.iter().zip(&b));
        let mut moved = states.filter(|&(&Derivative { var, order }, (a, b))| {
            let error = engine.scales.state_error(&one.memory, var, order);
            let same = (a - b).abs() <= 10.0 * error;
            !same
        });
        moved.next().is_none()
    }

    /// The surface between the side it is reached from and the other one, and the conditions that turn at the same time but
    /// not on it.
    fn surface_between(
        &mut self,
        [near, far]: [Side; 2],
        turned: &[ConditionId],
    ) -> Result<(Slide, Vec<ConditionId>), Obstacle> {
        let mut obstacle = "on one of its sides the model does not drive to it".to_owned();
        for &id in turned {
            let Some(monitor) = self.engine.monitors[id].clone() else {
                continue;
            };
            let condition = &self.engine.model.conditions[id];
            let surface = Surface {
                monitor,
                conditions: turned.to_vec(),
                text: condition.text.clone(),
                origins: vec![condition.origin],
            };
            // The function is positive where the condition holds.
            let from_above = near.truth(id);
            let sides = if from_above {
                vec![far.clone(), near.clone()]
            } else {
                vec![near.clone(), far.clone()]
            };
            let mut slide = Slide::new(surface, Motion::Sliding, sides, usize::from(from_above));
            match self.settle(&mut slide) {
                Ok(flow) => {
                    let beside = self.beside(&mut slide, &flow)?;
                    return Ok((slide, beside));
                }
                Err(reason) => obstacle = reason,
            }
        }
        Err(obstacle)
    }

    /// The motion along the surface that a switch without events makes; why there is none.
    pub(in crate::run) fn slide_on_switch(&mut self, switch: &CrawlingSwitch) -> Result<Slide, Obstacle> {
        self.check_delays()?;
        let function = switch.function.ok_or("where it switches is not known")?;
        let engine = &mut self.engine;
        let monitor = Monitor::of_switch(function, &engine.model, &mut engine.pool, &engine.cache, &engine.memory)
            .map_err(|failure| failure.to_string())?;
        let surface = Surface {
            monitor: Arc::new(monitor),
            conditions: Vec::new(),
            text: switch.text.clone(),
            origins: vec![switch.origin],
        };
        let present = Side::present(&self.engine);
        let value = surface
            .monitor
            .watch(&self.engine.memory, &self.engine.scales, &mut self.engine.scratch);
        let shown = usize::from(value.value > 0.0);
        let mut slide = Slide::new(surface, Motion::Sliding, vec![present.clone(), present], shown);
        self.settle(&mut slide)?;
        Ok(slide)
    }

    /// Puts the sides of a surface on it, and makes sure that both drive to it.
    pub(super) fn settle(&mut self, slide: &mut Slide) -> Result<Flow, Obstacle> {
        let time = self.engine.memory.time();
        let mut y = slide.sides[slide.shown].point(&self.engine);
        if let Some((value, near)) = self.look_beside(slide, time, &y)? {
            self.flow_at(slide, time, &near)?.back(&mut y, value);
        }
        for _ in 0..2 {
            let flow = self.flow_at(slide, time, &y)?;
            flow.back(&mut y, flow.distance);
        }
        let flow = self.flow_at(slide, time, &y)?;
        let drives = |(exit, size): (&f64, &f64)| *exit > CERTAIN * size;
        if !flow.exits.iter().zip(&flow.sizes).all(drives) {
            return Err("on one of its sides the model does not drive to it".to_owned());
        }
        let tolerance = self.tolerance_of(&slide.surface.monitor);
        if flow.gap.is_nan() || flow.gap.abs() > 10.0 * tolerance {
            return Err("where the surface is depends on the side".to_owned());
        }
        slide.place(&self.engine, &y);
        Ok(flow)
    }

    pub(super) fn flow_at(&mut self, slide: &mut Slide, time: f64, y: &[f64]) -> Result<Flow, Obstacle> {
        let flow = slide.flow(&mut self.engine, &self.history, (time, y));
        flow.map_err(|failure| match &*failure {
            (_, Some(failure)) => failure.to_string(),
            (error, None) => error.to_string(),
        })
    }

    /// What counts as zero of the function of a surface.
    pub(super) fn tolerance_of(&mut self, monitor: &Monitor) -> f64 {
        let engine = &mut self.engine;
        if let Some(mode) = engine.mode {
            engine.find_errors(mode, monitor.reads(0));
        }
        let reading = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
        reading.tolerance.max(LEAST_BESIDE * reading.magnitude)
    }

    /// Where switches make no events, each side is looked at from a point a little beside the surface. The value of its
    /// function at a point, and a point near that on it.
    fn look_beside(&mut self, slide: &mut Slide, time: f64, y: &[f64]) -> Result<Option<(f64, Vec<f64>)>, Obstacle> {
        let mut silent = slide.surface.conditions.is_empty();
        for side in &slide.sides {
            let mode = side.mode();
            silent |= mode.is_some_and(|mode| self.has_silent_switches(mode));
        }
        if !silent {
            return Ok(None);
        }
        let monitor = slide.surface.monitor.clone();
        let distance = BESIDE * self.tolerance_of(&monitor);
        let mut side = slide.sides[0].clone();
        let mut near = y.to_vec();
        let mut normal = self.normal(&mut side, &monitor, time, y)?;
        let mut values = Vec::new();
        for _ in 0..2 {
            let flow = side.flow(&mut self.engine, &self.history, (&monitor, 0), (time, &near));
            let value = flow.map_err(|failure| failure.0.to_string())?.course[0];
            near.iter_mut().zip(&normal).for_each(|(y, n)| *y -= value * n);
            normal = self.normal(&mut side, &monitor, time, &near)?;
            values.push(value);
        }
        for (side, sign) in slide.sides.iter_mut().zip([-1.0, 1.0]) {
            side.offset = normal.iter().map(|n| sign * distance * n).collect();
        }
        slide.beside = distance;
        Ok(Some((values[0], near)))
    }

    /// The shortest way, in units of the sizes of the states, along which the function of a surface grows by one.
    pub(super) fn normal(
        &mut self,
        side: &mut Side,
        monitor: &Monitor,
        time: f64,
        y: &[f64],
    ) -> Result<Vec<f64>, Obstacle> {
        let states = side.states(&self.engine).to_vec();
        let mut normal = vec![0.0; y.len()];
        let mut length = 0.0;
        for (at, &Derivative { var, order }) in states.iter().enumerate() {
            let known = self.engine.scales.size(var, order).max(y[at].abs());
            let size = if known > 0.0 {
                known
            } else {
                self.engine.nominal[var.index()]
            };
            let mut value = |share: f64| {
                let mut moved = y.to_vec();
                moved[at] += share * PROBE * size;
                let flow = side.flow(&mut self.engine, &self.history, (monitor, 0), (time, &moved));
                flow.map(|flow| flow.course[0]).map_err(|failure| failure.0.to_string())
            };
            let slope = (value(1.0)? - value(-1.0)?) / (2.0 * PROBE);
            normal[at] = slope * size;
            length += slope * slope;
        }
        if length > 0.0 && length.is_finite() {
            Ok(normal.iter().map(|n| n / length).collect())
        } else {
            Err("the surface does not depend on the states".to_owned())
        }
    }

    /// Conditions that turn with the surface but do not stay at zero along it.
    fn beside(&mut self, slide: &mut Slide, flow: &Flow) -> Result<Vec<ConditionId>, Obstacle> {
        let time = self.engine.memory.time();
        let y = slide.sides[slide.shown].point(&self.engine);
        let mut beside = Vec::new();
        for &id in &slide.surface.conditions.clone() {
            let Some(monitor) = self.engine.monitors[id].clone() else {
                continue;
            };
            let mut rates = Vec::new();
            for side in &mut slide.sides {
                let flow = side.flow(&mut self.engine, &self.history, (&monitor, 1), (time, &y));
                rates.push(flow.map_err(|failure| failure.0.to_string())?.course[1]);
            }
            let along = flow.share * rates[1] + (1.0 - flow.share) * rates[0];
            let size = rates[0].abs() + rates[1].abs();
            if along.abs() > ALONG * size {
                beside.push(id);
            }
        }
        Ok(beside)
    }
}
