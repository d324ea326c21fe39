//! The parts of a page that are text: tables that can be read without scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use saltus_results::{Agreement, ModeShape, Report, Schema, Signal, SignalId, SignalKind, Status, Trajectory, Value};

use crate::comparison::by_excess;
use crate::escape::html;
use crate::numbers::short;
use crate::sheet::Sheet;
use crate::{Context, events};

/// Rows of tables that everybody gets, with scripts or without.
const MOST_EVENT_ROWS: usize = 200;
const MOST_SIGNAL_ROWS: usize = 1000;
const MOST_PARAMETERS: usize = 5000;
/// Characters of source text in a page.
const MOST_SOURCE: usize = 400_000;

/// A section that can be folded; nothing if it is empty.
fn section(id: &str, title: &str, open: bool, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    let open = if open { " open" } else { "" };
    format!("<details class=part id={id}{open}><summary><h2>{title}</h2></summary>\n{content}</details>\n")
}

fn row(cells: &[String]) -> String {
    let cells: String = cells.iter().map(|cell| format!("<td>{cell}")).collect();
    format!("<tr>{cells}\n")
}

fn table(head: &[&str], rows: &str) -> String {
    let head: String = head.iter().map(|cell| format!("<th scope=col>{cell}")).collect();
    format!("<div class=wide><table><thead><tr>{head}<tbody>\n{rows}</table></div>\n")
}

/// What was run, with what, and how it ended.
pub(crate) fn heading(sheet: &Sheet, result: &Trajectory) -> String {
    let (manifest, summary) = (result.manifest(), result.summary());
    let mut facts: Vec<String> = Vec::new();
    let status = match &summary.status {
        Status::Running => None,
        Status::Completed => Some(("good", format!("completed at t = {} s", short(summary.final_time)))),
        Status::Terminated(why) => Some(("good", format!("ended at t = {} s: {why}", short(summary.final_time)))),
        Status::Failed(why) => Some(("bad", format!("failed at t = {} s: {why}", short(summary.final_time)))),
    };
    facts.extend(status.map(|(class, text)| format!("<span class={class}>{}</span>", html(&text))));
    for (name, value) in &manifest.options {
        let number = value.parse::<f64>().map(short);
        let value = number.unwrap_or_else(|_| value.clone());
        facts.push(format!("{} <b>{}</b>", html(name), html(&value)));
    }
    if !manifest.program.is_empty() {
        facts.push(html(&format!("{} {}", manifest.program, manifest.version)));
    }
    let mut text = format!(
        "<h1>{}</h1>\n<p class=facts>{}</p>\n",
        html(&sheet.title),
        facts.join(" · ")
    );
    if let Some(rows) = sheet.thinned_from {
        let _ = writeln!(
            text,
            "<p class=note>The result has {rows} rows, more than a page can hold: of every curve it has first, last, lowest \
             and highest values of short stretches of time. Peaks are all there; values between them are joined by lines.</p>"
        );
    }
    text
}

pub(crate) fn messages(context: &Context) -> String {
    let mut items = String::new();
    for message in &context.messages {
        let class = match message.severity.as_str() {
            "error" => "bad",
            "warning" => "warn",
            _ => "note",
        };
        let _ = writeln!(items, "<li class={class}><pre>{}</pre>", html(&message.text));
    }
    if !items.is_empty() {
        items = format!("<ul class=messages>\n{items}</ul>\n");
    }
    section("messages", "Messages", true, &items)
}

/// The variables of a comparison.
pub(crate) fn comparison(report: Option<&Report>) -> String {
    let Some(report) = report else { return String::new() };
    let mut text = String::new();
    if let Some([reference, candidate]) = report.time_ranges {
        let _ = writeln!(
            text,
            "<p class=bad>Times differ: the reference has {} … {}, the result {} … {}.</p>",
            short(reference.0),
            short(reference.1),
            short(candidate.0),
            short(candidate.1)
        );
    }
    for (what, names) in [
        ("Missing in the result", &report.missing),
        ("Only in the result", &report.extra),
    ] {
        if !names.is_empty() {
            let shown: Vec<String> = names
                .iter()
                .take(50)
                .map(|name| format!("<code>{}</code>", html(name)))
                .collect();
            let more = if names.len() > 50 {
                format!(" and {} more", names.len() - 50)
            } else {
                String::new()
            };
            let _ = writeln!(text, "<p>{what}: {}{more}</p>", shown.join(", "));
        }
    }
    let mut rows = String::new();
    for variable in by_excess(report).take(MOST_SIGNAL_ROWS) {
        let (class, verdict) = match variable.verdict {
            Agreement::Identical => ("good", "identical"),
            Agreement::Within => ("good", "within"),
            Agreement::Outside => ("bad", "outside"),
        };
        rows += &format!(
            "<tr data-t={}><td><code>{}</code><td class={class}>{verdict}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}\n",
            number_attribute(variable.worst_time),
            html(&variable.name),
            short(variable.max_difference),
            short(variable.half_width),
            short(variable.worst_time),
            short(variable.candidate),
            short(variable.reference),
            variable.points_outside
        );
    }
    if !rows.is_empty() {
        let head = [
            "variable",
            "verdict",
            "largest difference",
            "tube ±",
            "worst at t [s]",
            "result",
            "reference",
            "points outside",
        ];
        text += &table(&head, &rows);
    }
    section("comparison", "Comparison", true, &text)
}

/// A number that stands in an attribute without quotes.
fn number_attribute(value: f64) -> String {
    if value.is_finite() {
        format!("{value:?}")
    } else {
        "0".to_owned()
    }
}

/// The first events; scripts show all of them.
pub(crate) fn event_table(result: &Trajectory, sheet: &Sheet) -> String {
    let mut rows = String::new();
    for event in events::shown(result).take(MOST_EVENT_ROWS) {
        let triggers = event.triggers.iter().map(|trigger| {
            let place = trigger
                .span
                .as_ref()
                .map(|span| format!(" <small>{}:{}</small>", html(&span.file), span.line));
            format!("<code>{}</code>{}", html(&trigger.condition), place.unwrap_or_default())
        });
        let lines = |texts: Vec<String>| texts.iter().map(|text| html(text)).collect::<Vec<_>>().join("<br>");
        rows += &row(&[
            short(event.time),
            format!("{} → {}", event.from_mode, event.to_mode),
            triggers.collect::<Vec<_>>().join("<br>"),
            lines(events::impulse_texts(event, result, sheet)),
            lines(events::jump_texts(event)),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let total = events::shown(result).count();
    let mut text = "<div id=event-tools></div>".to_owned();
    text += &table(&["t [s]", "mode", "triggers", "impulses", "jumps"], &rows);
    text += "<p id=event-note class=note>";
    if total > MOST_EVENT_ROWS {
        let _ = write!(text, "The first {MOST_EVENT_ROWS} of {total} events.");
    }
    if events::left_out(result) > 0 {
        let _ = write!(text, " {} more are in the event log only.", events::left_out(result));
    }
    text += "</p>\n";
    section("events", "Events", true, &text)
}

/// What the mode numbers stand for, how often and how long each held.
pub(crate) fn mode_table(result: &Trajectory) -> String {
    let (time, modes) = (result.time(), result.modes());
    let mut visits: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
    for at in 0..modes.len() {
        let known = visits.entry(modes[at]).or_default();
        known.0 += usize::from(at == 0 || modes[at] != modes[at - 1]);
        known.1 += time.get(at + 1).map_or(0.0, |next| next - time[at]);
    }
    let records = result.mode_records();
    let passed = records
        .keys()
        .filter(|mode| !visits.contains_key(mode))
        .copied()
        .collect::<Vec<_>>();
    for mode in passed {
        visits.insert(mode, (0, 0.0));
    }
    if visits.len() < 2 && records.is_empty() {
        return String::new();
    }
    let names = events::mode_names(result);
    let duration = time.last().zip(time.first()).map_or(0.0, |(last, first)| last - first);
    let mut rows = String::new();
    for (mode, (count, held)) in &visits {
        let share = if duration > 0.0 {
            format!("{:.1} %", 100.0 * held / duration)
        } else {
            String::new()
        };
        let valuation = records
            .get(mode)
            .map(|record| valuation(&record.valuation))
            .unwrap_or_default();
        let shape = records.get(mode).and_then(|record| record.structure.as_ref());
        rows += &format!(
            "<tr data-mode={mode}><td>{mode}<td>{}<td>{count}<td>{}<td>{share}<td>{}<td>{}<td>{valuation}\n",
            html(names.get(mode).map_or("", String::as_str)),
            short(*held),
            shape.map_or(String::new(), |shape| shape.index.to_string()),
            shape.map_or(String::new(), states),
        );
    }
    let head = [
        "mode",
        "what differs",
        "visits",
        "time [s]",
        "share",
        "index",
        "states",
        "conditions",
    ];
    let text = table(&head, &rows) + &crate::graph::graph(result, &visits);
    section("modes", "Modes", true, &text)
}

/// How many states a mode has, and which: all of them where they are few.
fn states(shape: &ModeShape) -> String {
    const MOST: usize = 8;
    let shown: Vec<&str> = shape.first_states.iter().take(MOST).map(String::as_str).collect();
    match (shape.states, shape.states.saturating_sub(shown.len())) {
        (0, _) => "none".to_owned(),
        (count, 0) => format!("{count}: {}", html(&shown.join(", "))),
        (count, more) => format!("{count}: {} and {more} more", html(&shown.join(", "))),
    }
}

fn valuation(atoms: &[(String, bool)]) -> String {
    const MOST: usize = 60;
    let shown = atoms.iter().take(MOST).map(|(name, truth)| {
        let class = if *truth { "yes" } else { "no" };
        format!("<code class={class}>{}</code>", html(name))
    });
    let mut text: Vec<String> = shown.collect();
    if atoms.len() > MOST {
        text.push(format!("and {} more", atoms.len() - MOST));
    }
    text.join(" ")
}

pub(crate) fn parameters(schema: &Schema) -> String {
    let constants = || {
        schema.ids().filter_map(|id| match schema.value(id) {
            Value::Constant(value) if !schema.signal(id).hidden => Some((id, value)),
            _ => None,
        })
    };
    let mut rows = String::new();
    for (id, value) in constants().take(MOST_PARAMETERS) {
        let signal = schema.signal(id);
        rows += &row(&[
            format!("<code>{}</code>", html(&signal.name)),
            html(&value_text(signal, value)),
            html(&saltus_results::units::pretty(&signal.unit)),
            html(&signal.description),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let more = constants().count().saturating_sub(MOST_PARAMETERS);
    let mut text = table(&["parameter", "value", "unit", "description"], &rows);
    if more > 0 {
        let _ = writeln!(text, "<p class=note>{more} more are not shown.</p>");
    }
    section("parameters", "Parameters and constants", false, &text)
}

fn value_text(signal: &Signal, value: f64) -> String {
    match &signal.kind {
        SignalKind::Boolean => (value != 0.0).to_string(),
        SignalKind::Enumeration(literals) => {
            let literal = literals.get((value as usize).wrapping_sub(1));
            literal.cloned().unwrap_or_else(|| short(value))
        }
        _ => short(value),
    }
}

pub(crate) fn statistics(result: &Trajectory, context: &Context) -> String {
    let mut rows = String::new();
    let mut put = |name: &str, value: String| rows += &row(&[html(name), html(&value)]);
    put("rows", result.rows().to_string());
    put("variables", result.schema().signals().len().to_string());
    for (name, count) in &result.summary().counts {
        put(name, count.to_string());
    }
    for (name, value) in &context.statistics {
        put(name, value.clone());
    }
    for input in &result.manifest().inputs {
        rows += &row(&[html(&input.path), format!("<small>{}</small>", html(&input.hash))]);
    }
    section("statistics", "Statistics", false, &table(&["what", "how much"], &rows))
}

/// Every signal in numbers, for those who run no scripts.
pub(crate) fn signal_table(result: &Trajectory) -> String {
    let schema = result.schema();
    let varying: Vec<SignalId> = schema
        .ids()
        .filter(|&id| matches!(schema.value(id), Value::Column { .. }))
        .collect();
    let mut rows = String::new();
    for &id in varying.iter().take(MOST_SIGNAL_ROWS) {
        let values = result.values(id);
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let end = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), short);
        rows += &row(&[
            html(&schema.signal(id).name),
            end(finite().next()),
            end(finite().next_back()),
            end(finite().reduce(f64::min)),
            end(finite().reduce(f64::max)),
            html(&saltus_results::units::pretty(&schema.signal(id).unit)),
        ]);
    }
    let mut text = table(&["signal", "first", "last", "lowest", "highest", "unit"], &rows);
    if varying.len() > MOST_SIGNAL_ROWS {
        let _ = writeln!(text, "<p>{} more are not shown.</p>", varying.len() - MOST_SIGNAL_ROWS);
    }
    text
}

/// Source text with numbered lines; those of triggers are marked.
pub(crate) fn sources(result: &Trajectory, context: &Context) -> String {
    let triggers = result.events().iter().flat_map(|event| &event.triggers);
    let lines: BTreeSet<(&str, u32)> = triggers
        .filter_map(|trigger| trigger.span.as_ref())
        .map(|span| (span.file.as_str(), span.line))
        .collect();
    let mut text = String::new();
    let mut room = MOST_SOURCE;
    for (number, source) in context.sources.iter().enumerate() {
        if source.text.len() > room {
            let _ = writeln!(
                text,
                "<p class=note>{} is too long to be shown.</p>",
                html(&source.name)
            );
            continue;
        }
        room -= source.text.len();
        let _ = write!(text, "<h3>{}</h3>\n<pre class=source>", html(&source.name));
        for (line, content) in (1u32..).zip(source.text.lines()) {
            if lines.contains(&(source.name.as_str(), line)) {
                let _ = writeln!(text, "<i id=s{number}-{line} class=hit>{}</i>", html(content));
            } else {
                let _ = writeln!(text, "<i>{}</i>", html(content));
            }
        }
        text += "</pre>\n";
    }
    section("source", "Source", false, &text)
}
