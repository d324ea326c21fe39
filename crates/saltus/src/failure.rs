//! Why a run ended early, as a diagnostic that points at the user's text.

use saltus_mdae::{Mdae, OriginId};
use saltus_results::ResultError;
use saltus_simulate::{Failure, FailureKind, Refusal};
use saltus_source::{Code, Diagnostic, Severity, Span, codes};

use crate::result_diagnostic;

/// More candidates than this say nothing new.
const MOST_CANDIDATES: usize = 8;
/// More places than this hide the first.
const MOST_PLACES: usize = 6;
/// More proposals than this are no help.
const MOST_PROPOSALS: usize = 3;

/// What stopped a run, as a diagnostic. `output` is the error of a result file, if that is what stopped it.
pub fn failure_diagnostic(failure: &Failure, model: &Mdae, output: Option<&ResultError>) -> Diagnostic {
    if let (FailureKind::Output(_), Some(error)) = (&failure.kind, output) {
        return result_diagnostic(error);
    }
    let message = match failure.time {
        Some(time) => format!("at t = {time}: {}", message(&failure.kind)),
        None => message(&failure.kind),
    };
    let mut diagnostic = at_origins(code(&failure.kind), message, &origins(&failure.kind), model);
    add_notes(&mut diagnostic, &failure.kind);
    diagnostic.help.extend(proposals(&failure.kind));
    diagnostic.help.extend(help(&failure.kind).map(str::to_owned));
    diagnostic
}

/// The reason why the only mode of a model was refused: a model without modes that cannot start.
fn only_reason(kind: &FailureKind) -> Option<&str> {
    match kind {
        FailureKind::NoConsistentMode { candidates, .. } if candidates.iter().all(|(mode, _)| mode.is_empty()) => {
            candidates.first().map(|(_, refusal)| refusal.reason.as_str())
        }
        _ => None,
    }
}

fn code(kind: &FailureKind) -> Code {
    match kind {
        kind if only_reason(kind).is_some() => codes::E0601,
        FailureKind::Initialisation { .. } => codes::E0601,
        FailureKind::NoConsistentMode { .. } => codes::E0602,
        FailureKind::Chattering { .. } => codes::E0603,
        FailureKind::Zeno { .. } => codes::E0604,
        FailureKind::EndlessIteration { .. } => codes::E0605,
        FailureKind::DiscreteLoop { .. } => codes::E0606,
        FailureKind::Block { .. } => codes::E0607,
        FailureKind::Domain { .. } => codes::E0608,
        FailureKind::Assertion { .. } => codes::E0609,
        FailureKind::Integration { .. } => codes::E0610,
        FailureKind::Limit { .. } => codes::E0611,
        FailureKind::SingularMode { .. } => codes::E0612,
        FailureKind::Restart(_) => codes::E0615,
        FailureKind::Compile { .. } => codes::E0613,
        FailureKind::Output(_) => codes::E0701,
    }
}

fn message(kind: &FailureKind) -> String {
    if let Some(reason) = only_reason(kind) {
        return reason.to_owned();
    }
    match kind {
        FailureKind::Initialisation { reason, .. } => format!("initialisation failed: {reason}"),
        FailureKind::NoConsistentMode { gave_up: false, .. } => {
            "no mode is consistent with its own conditions".to_owned()
        }
        FailureKind::NoConsistentMode { candidates, .. } => format!(
            "no consistent mode was found: none of the {} that were tried agrees with its own conditions, and there are too many to try all",
            candidates.len()
        ),
        FailureKind::Restart(refusal) => refusal.reason.clone(),
        FailureKind::Chattering {
            conditions,
            count: 0,
            obstacle,
            ..
        } => format!(
            "chattering: on both sides of {} the model drives to the other side{}",
            quoted(conditions),
            reported(obstacle.as_deref())
        ),
        FailureKind::Chattering {
            conditions,
            count,
            obstacle,
            ..
        } => format!(
            "chattering: {} switched {count} times with hardly any progress in time{}",
            quoted(conditions),
            reported(obstacle.as_deref())
        ),
        FailureKind::Zeno {
            conditions,
            interval,
            obstacle,
            ..
        } => format!(
            "the events of {} accumulate (the last two are {interval:.1e} s apart){}",
            quoted(conditions),
            reported(obstacle.as_deref())
        ),
        FailureKind::EndlessIteration { conditions, .. } => {
            format!(
                "the event iteration does not end: {} change in turn",
                quoted(conditions)
            )
        }
        FailureKind::DiscreteLoop { variables, .. } if variables.len() == 1 => {
            format!("the discrete variable {} depends on itself", quoted(variables))
        }
        FailureKind::DiscreteLoop { variables, .. } => {
            format!(
                "the discrete variables {} depend on each other and do not settle",
                quoted(variables)
            )
        }
        FailureKind::Block { unknowns, reason, .. } => {
            format!("cannot solve for {}: {reason}", shortened(unknowns))
        }
        FailureKind::Domain { message, .. } => message.clone(),
        FailureKind::Assertion { message, .. } => format!("assertion failed: {message}"),
        FailureKind::Integration { reason, .. } => format!("integration failed: {reason}"),
        FailureKind::Limit { what, limit, pace, .. } => saltus_simulate::limit_text(what, *limit, *pace),
        FailureKind::SingularMode { mode, reason, .. } if mode.is_empty() => format!("singular: {reason}"),
        FailureKind::SingularMode { mode, reason, .. } => format!("the mode `{mode}` is singular: {reason}"),
        FailureKind::Compile { message, .. } => format!("code cannot be generated: {message}"),
        FailureKind::Output(message) => message.clone(),
    }
}

fn origins(kind: &FailureKind) -> Vec<OriginId> {
    match kind {
        FailureKind::SingularMode { origins, .. }
        | FailureKind::Chattering { origins, .. }
        | FailureKind::Zeno { origins, .. }
        | FailureKind::EndlessIteration { origins, .. }
        | FailureKind::DiscreteLoop { origins, .. }
        | FailureKind::Block { origins, .. }
        | FailureKind::Compile { origins, .. }
        | FailureKind::Integration { origins, .. }
        | FailureKind::Limit { origins, .. }
        | FailureKind::Initialisation { origins, .. }
        | FailureKind::Domain { origins, .. } => origins.clone(),
        FailureKind::Restart(refusal) => refusal.origins.clone(),
        FailureKind::NoConsistentMode { candidates, .. } => {
            let refusals = candidates.iter().map(|(_, refusal)| refusal);
            refusals.flat_map(|refusal| refusal.origins.iter().copied()).collect()
        }
        FailureKind::Assertion { origin, .. } => vec![*origin],
        _ => Vec::new(),
    }
}

/// What could be done about the refusals, each proposal once.
fn proposals(kind: &FailureKind) -> Vec<String> {
    let refusals: Vec<&Refusal> = match kind {
        FailureKind::Restart(refusal) => vec![refusal],
        FailureKind::NoConsistentMode { candidates, .. } => candidates.iter().map(|(_, refusal)| refusal).collect(),
        _ => Vec::new(),
    };
    let mut found: Vec<String> = Vec::new();
    for help in refusals.into_iter().flat_map(|refusal| &refusal.help) {
        if !found.contains(help) && found.len() < MOST_PROPOSALS {
            found.push(help.clone());
        }
    }
    found
}

fn add_notes(diagnostic: &mut Diagnostic, kind: &FailureKind) {
    match kind {
        FailureKind::Initialisation { suspects, .. } if !suspects.is_empty() => {
            let message = format!("the start values to look at first: {}", shortened(suspects));
            diagnostic.notes.push(message);
        }
        kind if only_reason(kind).is_some() => {}
        FailureKind::NoConsistentMode { candidates, .. } => diagnostic.notes.extend(refusals(candidates)),
        FailureKind::Integration { variables, .. } if !variables.is_empty() => {
            let message = format!("the variables that are to blame: {}", shortened(variables));
            diagnostic.notes.push(message);
        }
        _ => {}
    }
}

/// The reasons why candidates were refused, each once, with the first candidate it struck.
fn refusals(candidates: &[(String, Refusal)]) -> Vec<String> {
    let mut reasons: Vec<(&str, &str, usize)> = Vec::new();
    for (mode, Refusal { reason, .. }) in candidates {
        match reasons.iter_mut().find(|(_, known, _)| known == reason) {
            Some((_, _, count)) => *count += 1,
            None => reasons.push((mode, reason, 1)),
        }
    }
    let hidden = reasons.len().saturating_sub(MOST_CANDIDATES);
    let shown = reasons.iter().take(MOST_CANDIDATES);
    let mut notes: Vec<String> = shown
        .map(|(mode, reason, count)| {
            let mode = if mode.is_empty() {
                "the only mode".to_owned()
            } else {
                cut(mode)
            };
            let reason = cut(reason);
            match count {
                1 => format!("{mode} was refused: {reason}"),
                _ => format!("{count} candidates were refused, the first {mode}: {reason}"),
            }
        })
        .collect();
    if hidden > 0 {
        notes.push(format!("other candidates were refused for {hidden} more reasons"));
    }
    notes
}

/// A long valuation or reason, shortened.
pub(crate) fn cut(text: &str) -> String {
    const MOST: usize = 240;
    if text.chars().count() > MOST {
        text.chars().take(MOST).chain("…".chars()).collect()
    } else {
        text.to_owned()
    }
}

/// Why a run does not go on although that was asked for.
fn reported(obstacle: Option<&str>) -> String {
    obstacle
        .map(|obstacle| format!("; it cannot go on: {obstacle}"))
        .unwrap_or_default()
}

fn help(kind: &FailureKind) -> Option<&'static str> {
    Some(match kind {
        kind if only_reason(kind).is_some() => help(&FailureKind::Initialisation {
            reason: String::new(),
            suspects: Vec::new(),
            origins: Vec::new(),
        })?,
        FailureKind::Initialisation { .. } => {
            "remove `fixed = true` or an initial equation, or give start values closer to the solution"
        }
        FailureKind::NoConsistentMode { .. } => {
            "`--trace-events` shows every candidate; a condition may be written the wrong way round"
        }
        FailureKind::Chattering { .. } => {
            "add the mode in which the solution stays on the switching surface, or hysteresis; `--chattering=slide` goes on along the surface where both sides determine that"
        }
        FailureKind::Zeno { .. } => {
            "add the mode in which the motion has come to rest, or stop the simulation before; `--zeno=rest` goes on at rest where the limit is determined"
        }
        FailureKind::EndlessIteration { .. } | FailureKind::DiscreteLoop { .. } => {
            "use `pre(…)` where the value before the event is meant"
        }
        FailureKind::Block { .. } => "check that there is a solution; give `start` and `nominal` values near it",
        FailureKind::Domain { .. } => "keep the argument in the domain of the function with a condition",
        FailureKind::Integration { .. } => "try another `--solver`, another `--tolerance`, or `nominal` values",
        FailureKind::SingularMode { .. } | FailureKind::Restart(_) => {
            "`saltus analyze` shows the equations and unknowns of the mode"
        }
        FailureKind::Limit {
            what: "output points", ..
        } => "choose a longer `--interval`, or a shorter time",
        FailureKind::Limit { what: "events", .. } => {
            "look for a period or a condition that changes faster than it should; or simulate a shorter time"
        }
        FailureKind::Limit { what: "steps", .. } => {
            "look for a variable that changes faster than it should, give it a `nominal` value, or try another `--solver`"
        }
        FailureKind::Limit { .. } => "simulate a shorter time",
        FailureKind::Assertion { .. } | FailureKind::Compile { .. } | FailureKind::Output(_) => return None,
    })
}

/// A diagnostic with the places of equations and conditions.
pub(crate) fn at_origins(code: Code, message: String, origins: &[OriginId], model: &Mdae) -> Diagnostic {
    let mut places: Vec<(Span, String)> = Vec::new();
    for &id in origins {
        let Some(origin) = model.origins.get(id) else { continue };
        let Some(span) = origin.span else { continue };
        if places.iter().any(|(known, _)| *known == span) {
            continue;
        }
        let label = match &*origin.component {
            "" => String::new(),
            component => format!("in `{component}`"),
        };
        // What is wrong inside of a library is told at the line of the model that uses it, and then where it is.
        match origin.part {
            Some(part) if places.iter().any(|(known, _)| *known == part) => places.push((span, label)),
            Some(part) => places.extend([(part, label), (span, String::new())]),
            None => places.push((span, label)),
        }
    }
    let hidden = places.len().saturating_sub(MOST_PLACES);
    let mut places = places.into_iter().take(MOST_PLACES);
    let mut diagnostic = match places.next() {
        Some((span, label)) => Diagnostic::error(code, span, message).with_label(label),
        None => Diagnostic::without_place(code, Severity::Error, message),
    };
    for (span, label) in places {
        diagnostic = diagnostic.with_secondary(span, label);
    }
    match hidden {
        0 => diagnostic,
        _ => diagnostic.with_note(format!("{hidden} more places are involved")),
    }
}

fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    join(names)
}

fn shortened(names: &[String]) -> String {
    join(names.to_vec())
}

fn join(mut names: Vec<String>) -> String {
    const MOST: usize = 8;
    if names.len() > MOST {
        let more = names.len() - MOST;
        names.truncate(MOST);
        return format!("{} and {more} more", names.join(", "));
    }
    names.join(", ")
}
