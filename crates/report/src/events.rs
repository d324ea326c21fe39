//! Events, impulses and modes of a result, for scripts.

use std::collections::{BTreeMap, BTreeSet};

use saltus_results::figure::mode_labels;
use saltus_results::{EventRecord, Trajectory, Value};
use serde_json::{Value as Json, json};

use crate::numbers::short;
use crate::sheet::Sheet;

/// Events of which the page knows; the event log has all of them.
const MOST_EVENTS: usize = 20_000;
/// Jumps and impulses of an event that are written out.
const MOST_LISTED: usize = 24;

/// The events a page shows: all instants of the run but those in which nothing is reported.
pub(crate) fn shown(result: &Trajectory) -> impl Iterator<Item = &EventRecord> {
    result
        .events()
        .iter()
        .filter(|event| !is_silent(event))
        .take(MOST_EVENTS)
}

pub(crate) fn is_silent(event: &EventRecord) -> bool {
    event.from_mode == event.to_mode && event.triggers.is_empty() && event.impulses.is_empty() && event.jumps.is_empty()
}

/// How many events a page leaves out.
pub(crate) fn left_out(result: &Trajectory) -> usize {
    let told = result.events().iter().filter(|event| !is_silent(event)).count();
    told.saturating_sub(MOST_EVENTS)
}

/// All events as rows: time, modes, and the texts of triggers, impulses and jumps.
pub(crate) fn to_json(result: &Trajectory, sheet: &Sheet) -> Json {
    let row = |event: &EventRecord| {
        let triggers = event.triggers.iter().map(|trigger| match &trigger.span {
            Some(span) => json!([trigger.condition, span.file, span.line]),
            None => json!([trigger.condition]),
        });
        json!([
            event.time,
            event.from_mode,
            event.to_mode,
            triggers.collect::<Vec<_>>(),
            impulse_texts(event, result, sheet),
            jump_texts(event),
        ])
    };
    shown(result).map(row).collect()
}

/// `tau: 1.77 N·m·s`, each variable under one of its names.
pub(crate) fn impulse_texts(event: &EventRecord, result: &Trajectory, sheet: &Sheet) -> Vec<String> {
    let place = places(sheet);
    let unit = |impulse: &saltus_results::Impulse| {
        sheet
            .weight_unit(place.get(impulse.variable.as_str()).copied(), impulse.order)
            .to_owned()
    };
    let texts = unique_impulses(event, result).into_iter().map(|impulse| {
        let order = if impulse.order > 1 {
            format!(" (order {})", impulse.order)
        } else {
            String::new()
        };
        format!(
            "{}: {} {}{order}",
            impulse.variable,
            short(impulse.weight),
            unit(impulse)
        )
        .trim()
        .to_owned()
    });
    limited(texts)
}

fn places(sheet: &Sheet) -> BTreeMap<&str, usize> {
    let names = sheet.signals.iter().enumerate();
    names.map(|(at, signal)| (signal.name.as_str(), at)).collect()
}

/// The impulses of an event without those that are another name of one before.
pub(crate) fn unique_impulses<'e>(event: &'e EventRecord, result: &Trajectory) -> Vec<&'e saltus_results::Impulse> {
    let mut seen = BTreeSet::new();
    let column = |name: &str| match result.schema().value(result.schema().find(name)?) {
        Value::Column { column, .. } => Some(column.index()),
        Value::Constant(_) => None,
    };
    let first = |impulse: &&saltus_results::Impulse| match column(&impulse.variable) {
        Some(column) => seen.insert((column, impulse.order)),
        None => true,
    };
    event
        .impulses
        .iter()
        .filter(|impulse| impulse.weight != 0.0)
        .filter(first)
        .collect()
}

pub(crate) fn jump_texts(event: &EventRecord) -> Vec<String> {
    let texts = event
        .jumps
        .iter()
        .map(|jump| format!("{}: {} → {}", jump.variable, short(jump.left), short(jump.right)));
    limited(texts)
}

fn limited(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = texts.collect();
    let more = all.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        all.truncate(MOST_LISTED);
        all.push(format!("and {more} more"));
    }
    all
}

/// Arrows: time, column of the page, order, weight of the stored value.
pub(crate) fn impulses(result: &Trajectory, sheet: &Sheet) -> Json {
    let schema = result.schema();
    let mut arrows = Vec::new();
    for event in result.events() {
        let mut seen = BTreeSet::new();
        for impulse in event
            .impulses
            .iter()
            .filter(|i| i.weight.is_finite() && i.weight != 0.0)
        {
            let Some(Value::Column { column, sign }) = schema.find(&impulse.variable).map(|id| schema.value(id)) else {
                continue;
            };
            let factor = sign.apply(1.0) - sign.apply(0.0);
            if let Some(place) = sheet.column_of.get(column.index())
                && seen.insert((*place, impulse.order))
            {
                arrows.push(json!([event.time, place, impulse.order, impulse.weight / factor]));
            }
        }
    }
    Json::Array(arrows)
}

/// What modes are called, beside each other.
pub(crate) fn mode_names(result: &Trajectory) -> BTreeMap<u32, String> {
    mode_labels(result)
}
