//! `--trace-events`: each event in words.

use std::fmt::Write;

use saltus::Model;
use saltus::mdae::{ConditionId, Mdae};
use saltus::simulate::{CandidateReport, EventReport, InstantReport, Observer};

use crate::console::Console;
use crate::progress::Progress;

/// Tells every event on standard error.
pub struct Trace<'m> {
    model: &'m Model,
    console: Console,
}

impl<'m> Trace<'m> {
    /// Tells the events of a model.
    pub fn new(model: &'m Model, console: &Console) -> Self {
        Trace {
            model,
            console: console.clone(),
        }
    }
}

impl Observer for Trace<'_> {
    fn event(&mut self, event: &EventReport) {
        self.console.message(in_words(self.model.equations(), event).trim_end());
    }
}

fn in_words(model: &Mdae, event: &EventReport) -> String {
    let mut text = format!("t = {}:", event.time);
    for (number, instant) in event.instants.iter().enumerate() {
        if event.instants.len() > 1 {
            let _ = write!(text, "\n  instant {}", number + 1);
        }
        instant_in_words(&mut text, model, instant);
    }
    if let Some(message) = &event.terminate {
        let _ = write!(text, "\n  the model ends the run: {message}");
    }
    text
}

fn instant_in_words(text: &mut String, model: &Mdae, instant: &InstantReport) {
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
        if let Some(reason) = &candidate.refused {
            let _ = write!(
                text,
                "\n  tried {} and rolled back: {reason}",
                valuation(model, candidate)
            );
        }
    }
    if !instant.changed.is_empty() {
        let _ = write!(text, "\n  changed: {}", conditions(&instant.changed));
    }
    match (instant.from, instant.to) {
        (Some(from), Some(to)) if from == to => {
            let _ = write!(text, "\n  the mode stays {}", to.0);
        }
        (Some(from), Some(to)) => {
            let through = if instant.transient {
                ", through a mode of this instant only"
            } else {
                ""
            };
            let _ = write!(text, "\n  mode {} to mode {}{through}", from.0, to.0);
        }
        (None, Some(to)) => {
            let _ = write!(text, "\n  starts in mode {}", to.0);
        }
        _ => {}
    }
    for impulse in instant.impulses.iter().filter(|impulse| impulse.weight.abs() > 1e-12) {
        let name = model.variables.get(impulse.var).map_or("?", |variable| &*variable.name);
        let name = saltus::mdae::print::derivative_name(name, impulse.derivative);
        let _ = write!(
            text,
            "\n  impulse of `{name}`: order {}, weight {}",
            impulse.order, impulse.weight
        );
    }
}

/// The conditions of a candidate that are true.
fn valuation(model: &Mdae, candidate: &CandidateReport) -> String {
    let conditions = model.conditions.iter().zip(&candidate.truths);
    let shown: Vec<String> = conditions
        .map(|(condition, truth)| match truth {
            true => format!("`{}`", condition.text),
            false => format!("not `{}`", condition.text),
        })
        .collect();
    match shown.is_empty() {
        true => "the only mode".to_owned(),
        false => shown.join(", "),
    }
}

/// A progress bar, a trace, or both.
#[derive(Default)]
pub struct Watchers<'m> {
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
}
