//! What is kept of a run: single numbers, found while it goes on.

use saltus_results::{Manifest, ResultError, ResultSink, RowKind, Schema, SignalId, Summary, Value};
use saltus_source::Diagnostic;

use super::design::refused;
use crate::{Model, RunSummary, result_diagnostic};

/// The variable that every result has.
const TIME: &str = "time";

/// One number about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// As it was asked for; the name of its column.
    pub text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Of(Reduction, String),
    Events,
    Modes,
    End,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Reduction {
    Final,
    Initial,
    Min,
    Max,
    Mean,
    TimeOfMin,
    TimeOfMax,
    First,
}

/// What can be said about a variable, with what it means.
const REDUCTIONS: [(&str, Reduction); 8] = [
    ("final", Reduction::Final),
    ("initial", Reduction::Initial),
    ("min", Reduction::Min),
    ("max", Reduction::Max),
    ("mean", Reduction::Mean),
    ("time_of_min", Reduction::TimeOfMin),
    ("time_of_max", Reduction::TimeOfMax),
    ("first", Reduction::First),
];

const HELP: &str = "write a variable, or one of final, initial, min, max, mean, time_of_min, time_of_max, first with a \
                    variable in brackets, or events(), modes(), end()";

impl Output {
    /// Understands `x` and `final(x)` (the value at the end), `initial(x)`, `min(x)`, `max(x)`, `mean(x)` (over time),
    /// `time_of_min(x)`, `time_of_max(x)`, `first(b)` (the first time at which b is true), `events()`, `modes()` (their
    /// numbers), `end()` (the time of the end).
    ///
    /// Extremes are those of the rows of the result: output points and both sides of every event.
    pub fn parse(text: &str) -> Result<Output, Box<Diagnostic>> {
        let text = text.trim();
        let kind = match text.strip_suffix(')').and_then(|inner| inner.split_once('(')) {
            Some(("events", "")) => Kind::Events,
            Some(("modes", "")) => Kind::Modes,
            Some(("end", "")) => Kind::End,
            Some((name, variable)) if is_word(name) => {
                let known = REDUCTIONS.iter().find(|(known, _)| *known == name);
                match known {
                    Some((_, reduction)) if !variable.trim().is_empty() => {
                        Kind::Of(*reduction, variable.trim().to_owned())
                    }
                    // A derivative is a variable.
                    None if name == "der" => Kind::Of(Reduction::Final, text.to_owned()),
                    _ => return Err(refused(format!("`{text}` is no output of a run"), HELP)),
                }
            }
            _ if text.is_empty() => return Err(refused("an output is missing".to_owned(), HELP)),
            _ => Kind::Of(Reduction::Final, text.to_owned()),
        };
        Ok(Output {
            text: text.to_owned(),
            kind,
        })
    }

    /// Outputs separated by commas; those inside brackets and quoted names belong to a name.
    pub fn parse_list(text: &str) -> Result<Vec<Output>, Box<Diagnostic>> {
        let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0_usize, false);
        for character in text.chars() {
            match character {
                '\'' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => depth += 1,
                ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            match parts.last_mut() {
                Some(part) if character != ',' || depth > 0 || quoted => part.push(character),
                _ => parts.push(String::new()),
            }
        }
        parts.iter().map(|part| Output::parse(part)).collect()
    }

    /// Whether a model has the variable it is about.
    pub(super) fn check(&self, model: &Model) -> Result<(), Box<Diagnostic>> {
        let Kind::Of(_, name) = &self.kind else { return Ok(()) };
        let equations = model.equations();
        let aliases = equations.aliases.iter().map(|alias| &alias.variable.name);
        let constants = equations.constants.iter().map(|constant| &constant.variable.name);
        let variables = equations.variables.iter().map(|variable| &variable.name);
        let names = || variables.clone().chain(aliases.clone()).chain(constants.clone());
        // Which derivatives have a column is known when a run begins.
        if name == TIME || name.starts_with("der(") || names().any(|known| **known == **name) {
            return Ok(());
        }
        let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_lowercase();
        let similar = names().filter(|known| last(known) == last(name)).take(4);
        Err(Box::new(result_diagnostic(&ResultError::UnknownVariable {
            name: name.clone(),
            similar: similar.map(|name| name.to_string()).collect(),
        })))
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Finds the outputs of a run while it goes on; keeps no rows.
pub(super) struct Reducer<'o> {
    outputs: &'o [Output],
    places: Vec<Place>,
    states: Vec<State>,
    start: f64,
}

#[derive(Copy, Clone)]
enum Place {
    Time,
    Signal(Value),
    Nowhere,
}

#[derive(Copy, Clone)]
struct State {
    value: f64,
    time: f64,
    /// The row before, for integrals.
    before: (f64, f64),
    integral: f64,
    duration: f64,
}

impl<'o> Reducer<'o> {
    pub(super) fn new(outputs: &'o [Output]) -> Self {
        Reducer {
            outputs,
            places: Vec::new(),
            states: Vec::new(),
            start: f64::NAN,
        }
    }

    pub(super) fn values(&self, summary: &RunSummary) -> Vec<f64> {
        let state = |at: usize| self.states.get(at).copied().unwrap_or(State::EMPTY);
        let value = |(at, output): (usize, &Output)| match &output.kind {
            Kind::Events => summary.report.counters.events as f64,
            Kind::Modes => summary.report.modes.len() as f64,
            Kind::End => summary.report.time,
            Kind::Of(Reduction::Mean, _) if state(at).duration > 0.0 => state(at).integral / state(at).duration,
            Kind::Of(Reduction::TimeOfMin | Reduction::TimeOfMax | Reduction::First, _) => state(at).time,
            Kind::Of(..) => state(at).value,
        };
        self.outputs.iter().enumerate().map(value).collect()
    }
}

impl State {
    const EMPTY: State = State {
        value: f64::NAN,
        time: f64::NAN,
        before: (f64::NAN, f64::NAN),
        integral: 0.0,
        duration: 0.0,
    };

    fn add(&mut self, reduction: Reduction, time: f64, value: f64, at_start: bool) {
        let better = match reduction {
            Reduction::Final | Reduction::Mean => true,
            Reduction::Initial => at_start,
            Reduction::Min | Reduction::TimeOfMin => value < self.value || self.value.is_nan(),
            Reduction::Max | Reduction::TimeOfMax => value > self.value || self.value.is_nan(),
            Reduction::First => value != 0.0 && !value.is_nan() && self.time.is_nan(),
        };
        if better {
            self.value = value;
            // A variable that is dead has no extreme.
            self.time = if value.is_nan() { self.time } else { time };
        }
        let (since, before) = self.before;
        let area = 0.5 * (value + before) * (time - since);
        if time > since && area.is_finite() {
            self.integral += area;
            self.duration += time - since;
        }
        self.before = (time, value);
    }
}

impl ResultSink for Reducer<'_> {
    fn begin(&mut self, schema: &Schema, _: &Manifest) -> Result<(), ResultError> {
        for output in self.outputs {
            self.places.push(match &output.kind {
                Kind::Of(_, name) if name == TIME => Place::Time,
                Kind::Of(_, name) => {
                    let found: Option<SignalId> = schema.find(name);
                    let id = found.ok_or_else(|| ResultError::UnknownVariable {
                        name: name.clone(),
                        similar: Vec::new(),
                    })?;
                    Place::Signal(schema.value(id))
                }
                _ => Place::Nowhere,
            });
        }
        self.states = vec![State::EMPTY; self.outputs.len()];
        Ok(())
    }

    fn row(&mut self, time: f64, _: RowKind, _: u32, values: &[f64]) -> Result<(), ResultError> {
        if self.start.is_nan() {
            self.start = time;
        }
        let at_start = time == self.start;
        for ((output, place), state) in self.outputs.iter().zip(&self.places).zip(&mut self.states) {
            let Kind::Of(reduction, _) = output.kind else { continue };
            let value = match *place {
                Place::Time => time,
                Place::Signal(Value::Column { column, sign }) => sign.apply(values[column.index()]),
                Place::Signal(Value::Constant(value)) => value,
                Place::Nowhere => continue,
            };
            state.add(reduction, time, value, at_start);
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> Result<(), ResultError> {
        Ok(())
    }
}
