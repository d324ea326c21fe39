//! `--trace-events`: each event in words.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

use saltus::Model;
use saltus::mdae::{Alias, ConditionId, Mdae};
use saltus::results::{
    EventRecord, Jump, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Schema, Signal, SignalKind, Summary,
};
use saltus::simulate::{CandidateReport, EventReport, ImpulseReport, InstantReport, ModeId, Observer};

use crate::console::Console;
use crate::progress::Progress;

/// Variables that jumped are named up to this number; a component has many names for the same thing.
const SHOWN_JUMPS: usize = 8;

/// Tells every event on standard error.
pub(crate) struct Trace<'m> {
    model: &'m Model,
    console: Console,
    notes: Notes,
}

/// What the results say of an event: what modes are called, and which variables jumped.
#[derive(Clone, Default)]
pub(crate) struct Notes(Rc<RefCell<Noted>>);

#[derive(Default)]
struct Noted {
    labels: BTreeMap<u32, String>,
    continuous: Vec<String>,
    jumps: Vec<Jump>,
}

impl<'m> Trace<'m> {
    /// Tells the events of a model.
    pub(crate) fn new(model: &'m Model, console: &Console) -> Self {
        Trace {
            model,
            console: console.clone(),
            notes: Notes::default(),
        }
    }

    /// A sink that takes down what the trace says; rows reach it before the event is reported.
    pub(crate) fn notes(&self) -> Notes {
        self.notes.clone()
    }
}

impl Observer for Trace<'_> {
    fn event(&mut self, event: &EventReport) {
        let mut noted = self.notes.0.borrow_mut();
        let text = in_words(self.model.equations(), event, &noted);
        noted.jumps.clear();
        self.console.message(text.trim_end());
    }

    fn failed(&mut self, event: &EventReport) {
        let text = in_words(self.model.equations(), event, &self.notes.0.borrow());
        self.console
            .message(&format!("{}\n  the run ends here", text.trim_end()));
    }
}

impl ResultSink for Notes {
    fn begin(&mut self, schema: &Schema, _: &Manifest) -> Result<(), ResultError> {
        // Discrete variables are what the conditions say already, and derivatives what their variables do.
        let reported = |signal: &&Signal| signal.kind == SignalKind::Continuous && !signal.name.starts_with("der(");
        let continuous = schema.signals().iter().filter(reported);
        self.0.borrow_mut().continuous = continuous.map(|signal| signal.name.clone()).collect();
        self.0.borrow_mut().continuous.sort();
        Ok(())
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.0.borrow_mut().labels.insert(mode.mode, mode.label.clone());
        Ok(())
    }

    fn row(&mut self, _: f64, _: RowKind, _: u32, _: &[f64]) -> Result<(), ResultError> {
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.0.borrow_mut().jumps.extend(event.jumps.iter().cloned());
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> Result<(), ResultError> {
        Ok(())
    }
}

impl Noted {
    /// A mode by its number and what it is called.
    fn mode(&self, mode: ModeId) -> String {
        match self.labels.get(&mode.0).filter(|label| !label.is_empty()) {
            Some(label) => format!("mode {} ({label})", mode.0),
            None => format!("mode {}", mode.0),
        }
    }

    fn jumps_in_words(&self) -> String {
        let reported: Vec<String> = self
            .jumps
            .iter()
            .filter(|jump| self.continuous.binary_search(&jump.variable).is_ok())
            .map(|jump| format!("`{}` from {} to {}", jump.variable, short(jump.left), short(jump.right)))
            .collect();
        let more = match reported.len().saturating_sub(SHOWN_JUMPS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        if reported.is_empty() {
            String::new()
        } else {
            format!(
                "\n  jumps: {}{more}",
                reported[..reported.len().min(SHOWN_JUMPS)].join(", ")
            )
        }
    }
}

/// Six digits, enough to follow the story; files have all of them.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value.abs()) {
        let digits = (5 - value.abs().max(1e-5).log10().floor() as i32).clamp(0, 9) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        format!("{value:.5e}")
    }
}

fn in_words(model: &Mdae, event: &EventReport, noted: &Noted) -> String {
    let mut text = format!("t = {}:", event.time);
    for (number, instant) in event.instants.iter().enumerate() {
        if event.instants.len() > 1 {
            let _ = write!(text, "\n  instant {}", number + 1);
        }
        instant_in_words(&mut text, model, instant, noted);
    }
    text.push_str(&noted.jumps_in_words());
    if let Some(message) = &event.terminate {
        let _ = write!(text, "\n  the model ends the run: {message}");
    }
    text
}

fn instant_in_words(text: &mut String, model: &Mdae, instant: &InstantReport, noted: &Noted) {
    let conditions = |ids: &[ConditionId]| {
        let texts: Vec<String> = ids
            .iter()
            .map(|&id| format!("`{}`", model.conditions[id].text))
            .collect();
        texts.join(", ")
    };
    if !instant.triggers.is_empty() {
        let _ = write!(text, "\n  triggered by {}", conditions(&instant.triggers));
    }
    for candidate in &instant.candidates {
        if let Some(refusal) = &candidate.refused {
            let (mode, reason) = (named(candidate), &refusal.reason);
            let _ = write!(text, "\n  tried {mode} and rolled back: {reason}");
        }
    }
    if !instant.changed.is_empty() && instant.from.is_some() && instant.changed != instant.triggers {
        let _ = write!(text, "\n  changed: {}", conditions(&instant.changed));
    }
    match (instant.from, instant.to) {
        (Some(from), Some(to)) if from == to => {
            let _ = write!(text, "\n  stays in {}", noted.mode(to));
        }
        (Some(from), Some(to)) => {
            let through = if instant.transient {
                ", through a mode of this instant only"
            } else {
                ""
            };
            let _ = write!(text, "\n  {} to {}{through}", noted.mode(from), noted.mode(to));
        }
        (None, Some(to)) => {
            let _ = write!(text, "\n  starts in {}", noted.mode(to));
        }
        (_, None) => text.push_str("\n  no mode follows"),
    }
    for impulse in instant.impulses.iter().filter(|impulse| impulse.weight.abs() > 1e-12) {
        if let Some((name, negated)) = name(model, impulse) {
            let weight = short(if negated { -impulse.weight } else { impulse.weight });
            let _ = write!(
                text,
                "\n  impulse of `{name}`: order {}, weight {weight}",
                impulse.order
            );
        }
    }
}

/// The variable that is impulsive, and whether with the opposite sign. A derivative is one only if the text has a name
/// for it: else the jump of what it is the derivative of says the same.
fn name<'a>(model: &'a Mdae, impulse: &ImpulseReport) -> Option<(&'a str, bool)> {
    if impulse.derivative == 0 {
        return Some((&*model.variables.get(impulse.var)?.name, false));
    }
    let same = |alias: &&Alias| (alias.target, alias.order) == (impulse.var, impulse.derivative);
    let alias = model.aliases.iter().find(same)?;
    Some((&*alias.variable.name, alias.negated))
}

/// What a candidate is called.
fn named(candidate: &CandidateReport) -> String {
    if candidate.label.is_empty() {
        "the only mode".to_owned()
    } else {
        candidate.label.clone()
    }
}

/// A progress bar, a trace, or both.
#[derive(Default)]
pub(crate) struct Watchers<'m> {
    /// The bar.
    pub progress: Option<Progress>,
    /// The trace.
    pub trace: Option<Trace<'m>>,
}

impl Observer for Watchers<'_> {
    fn progress(&mut self, time: f64) {
        if let Some(progress) = &mut self.progress {
            progress.progress(time);
        }
    }

    fn event(&mut self, event: &EventReport) {
        if let Some(progress) = &mut self.progress {
            progress.event(event);
        }
        if let Some(trace) = &mut self.trace {
            trace.event(event);
        }
    }

    fn failed(&mut self, event: &EventReport) {
        if let Some(trace) = &mut self.trace {
            trace.failed(event);
        }
    }
}
