//! Calls of foreign code: units of other tools (FMUs) as functions of numbers.
//!
//! What a unit keeps inside of it from event to event is a number here, the *state*: the name of a snapshot that whoever
//! runs the unit keeps. So everything that is asked of a unit is a function of its arguments, and equations may ask as
//! often and in whatever order they like.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::{CallError, Direction, Number};

/// Who integrates the states of a unit.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ForeignInterface {
    /// Whoever asks.
    ModelExchange,
    /// The unit.
    CoSimulation,
}

/// What is asked of a unit. Arguments are listed in order; *values* are those of the variables in [`ForeignCall::names`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ForeignOperation {
    /// `(time, values)`: the state after the unit has been started.
    Start,
    /// `(state, time, values, signs)`: the state after an event. A sign is whether an event indicator is positive behind
    /// the event; there may be none.
    Event,
    /// `(state, time, size, values)`: the state after a step of at most this size.
    Step,
    /// `(state)`: when the next event is due, or where a step ended.
    Next,
    /// `(state)`: whether the unit asks to end the run.
    Ended,
    /// `(state, time, values)`: the value of a variable.
    Get(Arc<str>),
    /// `(state, time, values)`: the value of an event indicator, counted from 1.
    Indicator(u32),
}

impl ForeignOperation {
    /// The number of arguments before the values.
    pub fn leading(&self) -> usize {
        match self {
            ForeignOperation::Start | ForeignOperation::Next | ForeignOperation::Ended => 1,
            ForeignOperation::Event | ForeignOperation::Get(_) | ForeignOperation::Indicator(_) => 2,
            ForeignOperation::Step => 3,
        }
    }

    /// Whether the result varies where the arguments do.
    fn is_smooth(&self) -> bool {
        matches!(self, ForeignOperation::Get(_) | ForeignOperation::Indicator(_))
    }
}

/// Runs a unit.
pub trait ForeignCode: std::fmt::Debug + Send + Sync {
    /// What a call yields, differentiated along each of the directions (one number per argument).
    fn call(&self, call: &ForeignCall, args: &[f64], directions: &[&[f64]]) -> Result<f64, String>;
}

/// A unit that a model names.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForeignUnit {
    /// Its file, as the model gives it.
    pub file: Arc<str>,
    /// The file with the text that names it: where a relative path begins.
    pub beside: Arc<str>,
    /// Who integrates.
    pub interface: ForeignInterface,
    /// Who runs it; nobody unless the user allows that.
    #[serde(skip)]
    code: OnceLock<Arc<dyn ForeignCode>>,
}

impl ForeignUnit {
    /// A unit that nobody runs yet.
    pub fn new(file: Arc<str>, beside: Arc<str>, interface: ForeignInterface) -> Self {
        ForeignUnit {
            file,
            beside,
            interface,
            code: OnceLock::new(),
        }
    }

    /// Says who runs it; the first to say so counts.
    pub fn link(&self, code: Arc<dyn ForeignCode>) {
        let _ = self.code.set(code);
    }

    /// Whether somebody runs it.
    pub fn is_linked(&self) -> bool {
        self.code.get().is_some()
    }
}

impl PartialEq for ForeignUnit {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, &self.beside, self.interface) == (&other.file, &other.beside, other.interface)
    }
}

/// A call of foreign code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignCall {
    /// The unit.
    pub unit: Arc<ForeignUnit>,
    /// What is asked.
    pub operation: ForeignOperation,
    /// The variables of the unit that the values are for.
    pub names: Vec<Arc<str>>,
}

impl ForeignCall {
    /// Whether it can have so many arguments.
    pub(super) fn fits(&self, arguments: usize) -> bool {
        let least = self.operation.leading() + self.names.len();
        match self.operation {
            ForeignOperation::Event => arguments >= least,
            _ => arguments == least,
        }
    }

    fn plain(&self, args: &[f64], directions: &[&[f64]]) -> Result<f64, CallError> {
        let failed = |message: String| CallError::Foreign {
            unit: self.unit.file.clone(),
            message: message.into(),
        };
        match self.unit.code.get() {
            Some(code) => code.call(self, args, directions).map_err(failed),
            None => Err(failed(
                "running the code of other tools has not been allowed".to_owned(),
            )),
        }
    }

    /// The value for numbers of any kind.
    pub(super) fn evaluate<N: Number>(&self, args: &[N], zero: &N, terms: usize) -> Result<N, CallError> {
        self.partial(args, zero, terms, &mut Vec::new())
    }

    /// f(x + ε·ẋ) = f(x) + ε·Σ ∂f/∂xᵢ(x)·ẋᵢ, direction by direction; for series as for `derivative` annotations.
    fn partial<N: Number>(&self, args: &[N], zero: &N, terms: usize, by: &mut Vec<usize>) -> Result<N, CallError> {
        let values: Vec<f64> = args.iter().map(N::value).collect();
        let unit = |at: usize| -> Vec<f64> { (0..args.len()).map(|k| f64::from(u8::from(k == at))).collect() };
        let directions: Vec<Vec<f64>> = by.iter().map(|&at| unit(at)).collect();
        let directions: Vec<&[f64]> = directions.iter().map(Vec::as_slice).collect();
        let direction = args.iter().filter_map(|arg| arg.last_direction(terms)).max();
        let Some(direction) = direction.filter(|_| self.operation.is_smooth()) else {
            let value = zero.like(self.plain(&values, &directions)?);
            return Ok(value.resting_on(args));
        };
        let (points, slopes): (Vec<N>, Vec<N>) = args.iter().map(|arg| arg.split(direction, terms)).unzip();
        let fewer = if direction == Direction::Series {
            terms - 1
        } else {
            terms
        };
        let mut slope = zero.like(0.0);
        // The state is a name.
        for (at, along) in slopes.iter().enumerate().skip(1).filter(|(_, along)| !along.is_zero()) {
            by.push(at);
            let partial = self.partial(&points, zero, fewer, by);
            by.pop();
            slope = slope.add(&partial?.mul(along));
        }
        let bases: Vec<N> = args.iter().map(|arg| arg.base(direction)).collect();
        let base = self.partial(&bases, zero, terms, by)?;
        Ok(N::join(&base, &slope, direction))
    }

    /// The value and its derivative along each lane, laid out as those of tables are.
    pub(super) fn tangents<N: Number>(
        &self,
        varying: &[u32],
        lanes: u32,
        args: &[N],
        zero: &N,
        terms: usize,
    ) -> Result<Vec<N>, CallError> {
        let count = args.len() - varying.len() * lanes as usize;
        let (points, tangents) = args.split_at(count);
        let mut results = vec![self.evaluate(points, zero, terms)?];
        let values: Vec<f64> = points.iter().map(N::value).collect();
        let is_plain = args.iter().all(|arg| arg.last_direction(terms).is_none());
        for lane in tangents.chunks(varying.len().max(1)).take(lanes as usize) {
            if !self.operation.is_smooth() {
                results.push(zero.like(0.0));
                continue;
            }
            if is_plain {
                let mut direction = vec![0.0; count];
                for (&at, tangent) in varying.iter().zip(lane) {
                    direction[at as usize] = if at == 0 { 0.0 } else { tangent.value() };
                }
                let still = direction.iter().all(|&along| along == 0.0);
                let slope = if still {
                    0.0
                } else {
                    self.plain(&values, &[&direction])?
                };
                results.push(zero.like(slope));
                continue;
            }
            let mut slope = zero.like(0.0);
            for (&at, tangent) in varying.iter().zip(lane).filter(|(at, _)| **at != 0) {
                let partial = self.partial(points, zero, terms, &mut vec![at as usize])?;
                slope = slope.add(&partial.mul(tangent));
            }
            results.push(slope);
        }
        Ok(results)
    }
}
