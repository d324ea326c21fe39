//! Co-Simulation: from one communication point to the next.

use saltus_results::Discard;
use saltus_simulate::{End, Failure, Reached, Stepper};

use super::{Action, Done, Heard, Instance, Running, Setup, Trouble, error, with_sign};
use crate::state::Call;
use crate::variables::{Causality, Kind, Source, Variability};

/// Times that differ by less than this part are the same communication point.
const SAME_TIME: f64 = 1e-9;

/// How far a step went.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Stepped {
    /// An event is due.
    pub event: bool,
    /// The model asks for the end.
    pub terminate: bool,
    /// The step ended before its end.
    pub early: bool,
    /// The time reached.
    pub time: f64,
}

impl Instance {
    /// Goes on from a communication point.
    pub fn do_step(&mut self, from: f64, step: f64) -> Done<Stepped> {
        self.check(Call::DoStep)?;
        let (until, stop, start) = (from + step, self.setup.stop, self.setup.start.unwrap_or(0.0));
        let Some(Running::Own(stepper)) = &mut self.run else {
            return error("there is no run");
        };
        // An event may lead beyond its time: to the end of impacts that come ever closer together.
        let now = self.told_time;
        let same = SAME_TIME * (now.abs().max(start.abs()).max(step.abs()) + f64::MIN_POSITIVE);
        if !(step >= 0.0 && until.is_finite()) {
            return error(format!("a step of {step} from {from} leads nowhere"));
        }
        if (from - now).abs() > same {
            return error(format!("the communication point is {now}, not {from}"));
        }
        if stop.is_some_and(|stop| until > stop + same) {
            return error(format!("a step to {until} goes beyond the stop time {stop:?}"));
        }
        if let Some(End::Terminated(_)) = stepper.end() {
            return Ok(Stepped {
                terminate: true,
                early: self.mode.early_return && until > now,
                time: now,
                event: false,
            });
        }
        let returns = self.mode.event_mode && self.mode.early_return;
        let mut heard = Heard::default();
        self.actions.push(Action::Advance(until, returns));
        let horizon = horizon(&self.setup, stepper.time(), until);
        let went = advance(stepper, until, horizon, returns, &mut heard);
        let (time, end) = (stepper.time().min(until), stepper.end().cloned());
        self.told_time = if time < until - same { time } else { until };
        self.tell(&heard.events);
        let reached = match went {
            Ok(reached) => reached,
            Err(failure) => return self.fail(&failure),
        };
        let terminate = matches!(end, Some(End::Terminated(_)));
        let shorter = time < until - same;
        Ok(Stepped {
            event: reached == Reached::Event && !terminate,
            terminate,
            // The end of a run is no early return where the importer wants none: the time tells it.
            early: shorter && self.mode.early_return,
            time: if shorter { time } else { until },
        })
    }

    /// Whether a step may end before its end.
    pub fn may_return_early(&self) -> bool {
        self.mode.early_return
    }

    /// How fast an output changes.
    pub fn output_derivative(&mut self, reference: u32, order: i32) -> Done<f64> {
        self.check(Call::GetOutputDerivatives)?;
        let shown = self.variables().get(reference).cloned();
        let Some(shown) = shown.filter(|shown| shown.causality == Causality::Output && shown.kind == Kind::Float)
        else {
            return error(format!(
                "the value reference {reference} is no output that has a derivative"
            ));
        };
        if order != 1 {
            return error(format!("derivatives of outputs are given of order 1, not {order}"));
        }
        let Some(Running::Own(stepper)) = &mut self.run else {
            return error("there is no run");
        };
        let rate = match shown.source {
            Source::Value(of, sign) if shown.variability == Variability::Continuous => {
                stepper.rate(of).map(|rate| with_sign(rate, sign))
            }
            _ => Some(0.0),
        };
        match rate {
            Some(rate) if rate.is_finite() => Ok(rate),
            _ => Err(Trouble::Discard(format!(
                "the derivative of `{}` is not known here",
                shown.name
            ))),
        }
    }
}

/// Where a run that goes on to a time may look for what comes, if that is beyond its stop time. Where the importer has said no stop
/// time, the run is taken to go on as long again.
pub(super) fn horizon(setup: &Setup, now: f64, until: f64) -> f64 {
    let step = (until - now).abs().max(f64::EPSILON * until.abs());
    match setup.stop {
        Some(_) => until + step,
        None => until + step.max(until - setup.start.unwrap_or(0.0)),
    }
}

pub(super) fn advance(
    stepper: &mut Stepper,
    until: f64,
    horizon: f64,
    returns: bool,
    heard: &mut Heard,
) -> Result<Reached, Failure> {
    // The end of the experiment is the importer's to say: a run that reaches its stop time would be over.
    if until >= stepper.stop() {
        stepper.extend(horizon)?;
    }
    // An input that was given another value jumps at the communication point.
    stepper.process_due_event(&mut Discard, heard)?;
    loop {
        let reached = if returns {
            stepper.advance_to_event(until, &mut Discard, heard)?
        } else {
            stepper.advance(until, &mut Discard, heard)?
        };
        match reached {
            Reached::Event if !returns => {}
            reached => return Ok(reached),
        }
    }
}
