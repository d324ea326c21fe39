//! At rest where events accumulate.
//!
//! Impacts that each leave a part e < 1 of the speed ġ follow each other at intervals 2ġ/|g̈|, which form a geometric series
//! near its end: from a speed ġ right after an impact it takes 2ġ / (|g̈| (1 - e)) until all of them have happened. There
//! g = ġ = 0. What the impacts do to the states on the way is in the direction of the last one.

use saltus_mdae::{ConditionId, Derivative, Idx};
use saltus_results::{ResultSink, RowKind};

use super::side::{Side, SideFlow};
use super::{Motion, Obstacle, Slide, Surface};
use crate::error::{Failure, FailureKind};
use crate::report::EventReport;
use crate::run::stall::{Crossings, Stall};
use crate::run::{Observer, Run};

/// Rates below this part of what they are made of are zero.
const NOTHING: f64 = 1e-9;

/// A series has at least so many impacts in a row.
const REPETITIONS: u32 = 2;

/// The last impact of a condition.
#[derive(Clone, Debug)]
pub(in crate::run) struct Impact {
    condition: ConditionId,
    states: Vec<Derivative>,
    /// By how much the states jumped.
    jump: Vec<f64>,
    /// The part of the speed that was left, in the other direction.
    restitution: f64,
    /// The sign of the function on the side where the motion is free.
    outward: f64,
}

/// Where a motion comes to rest.
struct Limit {
    time: f64,
    y: Vec<f64>,
}

impl Run {
    /// Takes down what an event did to the speed of the conditions that asked for it.
    pub(in crate::run) fn note_impacts(&mut self, before: &Side, triggers: &[ConditionId]) {
        let mut before = before.clone();
        let mut after = Side::present(&self.engine);
        let states = before.states(&self.engine).to_vec();
        if states != after.states(&self.engine) {
            return;
        }
        let (from, to) = (before.point(&self.engine), after.point(&self.engine));
        let jump: Vec<f64> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
        if jump.iter().all(|&jump| jump == 0.0) {
            return;
        }
        for &id in triggers {
            let (Some(then), Some(now)) = (self.course_on(&mut before, id, 1), self.course_on(&mut after, id, 1))
            else {
                continue;
            };
            let outward = if before.truth(id) { 1.0 } else { -1.0 };
            let part = -now.course[1] / then.course[1];
            let restitution = if part.abs() <= NOTHING { 0.0 } else { part };
            self.impacts.retain(|impact| impact.condition != id);
            if restitution.is_finite() {
                self.impacts.push(Impact {
                    condition: id,
                    states: states.clone(),
                    jump: jump.clone(),
                    restitution,
                    outward,
                });
            }
        }
    }

    /// The function of a condition on a side and its derivatives, where the side is.
    fn course_on(&mut self, side: &mut Side, id: ConditionId, orders: u16) -> Option<SideFlow> {
        let monitor = self.engine.monitors[id].clone()?;
        let (time, y) = (side.memory.time(), side.point(&self.engine));
        side.flow(&mut self.engine, &self.history, (&monitor, orders), (time, &y))
            .ok()
    }

    /// Whether the rest of the impacts of a condition that just happened is below what counts as zero: none of them could be
    /// told from rest any more.
    pub(in crate::run) fn impacts_end(&mut self, triggers: &[ConditionId]) -> Option<Stall> {
        let time = self.engine.memory.time();
        for &id in triggers {
            let known = self.impacts.iter().find(|impact| impact.condition == id);
            let Some(impact) = known.cloned() else { continue };
            let plastic = impact.restitution == 0.0;
            if !(plastic || self.watches[id.index()].repeated >= REPETITIONS) {
                continue;
            }
            let mut side = Side::present(&self.engine);
            let Some(free) = self.course_on(&mut side, id, 2) else {
                continue;
            };
            let Some(monitor) = self.engine.monitors[id].clone() else {
                continue;
            };
            let height = free.course[1].powi(2) / (2.0 * free.course[2].abs());
            let pulled = impact.outward * free.course[2] < 0.0;
            if pulled && impact.restitution < 1.0 && height <= self.tolerance_of(&monitor) {
                let interval = self.last_event.as_ref().map_or(0.0, |(last, _)| time - last);
                let conditions = vec![id];
                return Some(Stall::Accumulation { conditions, interval });
            }
        }
        None
    }

    /// Goes on from the point at which events accumulate, or ends the run.
    pub(in crate::run) fn rest_or_stop(
        &mut self,
        stall: &Stall,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        let conditions = match stall {
            Stall::Accumulation { conditions, .. } => conditions.clone(),
            _ => Vec::new(),
        };
        let found = match &conditions[..] {
            [id] => self.rest_on(*id),
            _ => Err("impacts of several conditions accumulate at once, or none".to_owned()),
        };
        match found {
            Ok((slide, limit)) => self.come_to_rest(slide, &limit, conditions[0], sink, observer),
            Err(obstacle) => {
                let mut failure = stall.explain(&self.engine).at(time);
                if let FailureKind::Zeno { obstacle: reported, .. } = &mut failure.kind {
                    *reported = Some(obstacle);
                }
                Err(failure)
            }
        }
    }

    /// Where the impacts of a condition end.
    fn rest_on(&mut self, id: ConditionId) -> Result<(Slide, Limit), Obstacle> {
        self.check_delays()?;
        let impact = self.impacts.iter().find(|impact| impact.condition == id);
        let impact = impact.cloned().ok_or("no impact changes the states there")?;
        let mut side = Side::present(&self.engine);
        if side.states(&self.engine) != impact.states {
            return Err("the states are others than at the last impact".to_owned());
        }
        if !(0.0..1.0).contains(&impact.restitution) {
            return Err("the last impact has not left less speed".to_owned());
        }
        let free = self.course_on(&mut side, id, 2).ok_or("the speed there is not known")?;
        let (outward, pull) = (impact.outward, -impact.outward * free.course[2]);
        if pull <= NOTHING * free.course[2].abs() {
            return Err("nothing drives the motion back to the surface".to_owned());
        }
        let largest = impact
            .jump
            .iter()
            .fold(0.0_f64, |largest, jump| largest.max(jump.abs()));
        let reaction: Vec<f64> = impact.jump.iter().map(|jump| jump / largest).collect();
        let condition = &self.engine.model.conditions[id];
        let Some(monitor) = self.engine.monitors[id].clone() else {
            return Err("its function is not known".to_owned());
        };
        let surface = Surface {
            monitor,
            conditions: vec![id],
            text: condition.text.clone(),
            origins: vec![condition.origin],
        };
        let speed = outward * free.course[1];
        // Right before an impact the speed after it counts.
        let speed = if speed < 0.0 {
            -speed * impact.restitution
        } else {
            speed
        };
        let duration = 2.0 * speed / (pull * (1.0 - impact.restitution));
        let mut slide = Slide::new(surface, Motion::Resting { reaction, outward }, vec![side], 0);
        let limit = self.limit_of_impacts(&mut slide, duration)?;
        Ok((slide, limit))
    }

    /// Time and states at the end of the impacts, which takes a while from now on.
    fn limit_of_impacts(&mut self, slide: &mut Slide, duration: f64) -> Result<Limit, Obstacle> {
        let now = self.engine.memory.time();
        let next = self.next_time_event().0.min(self.engine.options.stop);
        // What comes before is met at rest: the rest of the impacts is below what counts as zero.
        let time = if now + duration < next { now + duration } else { now };
        let monitor = slide.surface.monitor.clone();
        let mut y = slide.sides[0].point(&self.engine);
        let flow = self.stopped(slide, now, &mut y)?;
        y.iter_mut().zip(&flow.dy).for_each(|(y, dy)| *y += (time - now) * dy);
        let mut side = slide.sides[0].clone();
        let normal = self.normal(&mut side, &monitor, time, &y)?;
        let course = side.flow(&mut self.engine, &self.history, (&monitor, 0), (time, &y));
        let distance = course.map_err(|failure| failure.0.to_string())?.course[0];
        y.iter_mut().zip(&normal).for_each(|(y, n)| *y -= distance * n);
        self.stopped(slide, time, &mut y)?;
        Ok(Limit { time, y })
    }

    /// Takes the speed away that leads off the surface; the motion then.
    fn stopped(&mut self, slide: &mut Slide, time: f64, y: &mut [f64]) -> Result<super::flow::Flow, Obstacle> {
        let flow = self.flow_at(slide, time, y)?;
        if let Some((_, back)) = &flow.speed {
            y.iter_mut().zip(back).for_each(|(y, back)| *y += back);
        }
        self.flow_at(slide, time, y)
    }

    /// Moves on to the point of accumulation and goes on from there at rest.
    fn come_to_rest(
        &mut self,
        mut slide: Slide,
        limit: &Limit,
        id: ConditionId,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<(), Failure> {
        let (mode, now) = (self.engine.mode, self.engine.memory.time());
        let from = slide.sides[0].point(&self.engine);
        let at = |time: f64| -> Vec<f64> {
            let share = (time - now) / (limit.time - now);
            let points = from.iter().zip(&limit.y);
            points.map(|(from, to)| from + share * (to - from)).collect()
        };
        while let Some(time) = self.output_before(limit.time) {
            self.show_slide(&mut slide, Some((time, &at(time))))?;
            self.write_row(sink, RowKind::Regular)?;
        }
        self.engine.counters.events += 1;
        self.show_slide(&mut slide, Some((limit.time, &limit.y)))?;
        slide.place(&self.engine, &limit.y);
        self.write_row(sink, RowKind::EventLeft)?;
        let left = self.row.clone();
        let mut report = EventReport::of_triggers(limit.time, mode, &[id]);
        self.take_to(slide)?;
        report.end_in(self.shown_mode());
        self.engine.counters.instants += 1;
        self.write_row(sink, RowKind::EventRight)?;
        self.write_event(sink, &report, &left)?;
        self.crossings = Crossings::default();
        self.watches.iter_mut().for_each(|watch| watch.repeated = 0);
        self.last_event = None;
        observer.event(&report);
        Ok(())
    }
}
