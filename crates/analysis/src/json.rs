//! The analysis as JSON. The schema is documented in the guide, page "Analysis as JSON".

use saltus_source::render::{span_to_json, to_json};
use saltus_source::{SourceMap, Span};
use serde_json::{Value, json};

use crate::{Analysis, ChangeOutcome, ChangeReport, ModeReport, ModeShape, Refusal, RestartReport};

impl Analysis {
    /// For machines.
    pub fn to_json(&self, sources: &SourceMap) -> Value {
        json!({
            "model": self.model,
            "conditions": self.conditions,
            "clocked": self.clocked,
            "initial_failure": self.initial_failure.as_ref().map(|d| to_json(d, sources)),
            "modes": self.modes.iter().enumerate().map(|(n, m)| {
                let mut value = mode(n, m, sources);
                value["transient"] = json!(self.is_transient(n));
                value
            }).collect::<Vec<_>>(),
            "changes": self.changes.iter().map(|c| change(c, sources)).collect::<Vec<_>>(),
            "all_modes": self.all_modes.as_ref().map(|all| all.to_json(sources)),
            "omitted_modes": self.omitted_modes,
            "omitted_changes": self.omitted_changes,
        })
    }
}

pub(crate) fn place(span: Option<Span>, sources: &SourceMap) -> Value {
    span.map_or(Value::Null, |span| span_to_json(span, sources))
}

fn mode(number: usize, mode: &ModeReport, sources: &SourceMap) -> Value {
    let mut value = match &mode.structure {
        Ok(shape) => shape_to_json(shape, sources),
        Err(refusal) => refusal_to_json(refusal, sources),
    };
    value["mode"] = json!(number);
    value["singular"] = json!(mode.structure.is_err());
    value["valuation"] = mode
        .valuation
        .iter()
        .map(|(name, truth)| (name.clone(), json!(truth)))
        .collect();
    value
}

fn shape_to_json(shape: &ModeShape, sources: &SourceMap) -> Value {
    let equations = shape.equations.iter().map(|equation| {
        json!({
            "text": equation.text,
            "component": equation.component,
            "c": equation.differentiations,
            "span": place(equation.span, sources),
        })
    });
    let blocks = shape.blocks.iter().map(|block| {
        json!({
            "unknowns": block.unknowns,
            "equations": block.equations,
            "kind": block.kind,
            "tears": block.tears,
        })
    });
    json!({
        "index": shape.index,
        "states": shape.states,
        "degrees_of_freedom": shape.states.len(),
        "dead": shape.dead,
        "equations": equations.collect::<Vec<_>>(),
        "unknowns": shape.unknowns.iter().map(|u| json!({"name": u.name, "d": u.order})).collect::<Vec<_>>(),
        "blocks": blocks.collect::<Vec<_>>(),
        "singular_blocks": shape.singular_blocks.iter().map(|b| refusal_to_json(b, sources)).collect::<Vec<_>>(),
    })
}

fn refusal_to_json(refusal: &Refusal, sources: &SourceMap) -> Value {
    let equations = refusal.equations.iter();
    let equations = equations.map(|(text, span)| json!({"text": text, "span": place(*span, sources)}));
    json!({
        "summary": refusal.summary,
        "overdetermined": equations.collect::<Vec<_>>(),
        "underdetermined": refusal.unknowns.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "help": refusal.help,
    })
}

fn change(change: &ChangeReport, sources: &SourceMap) -> Value {
    let mut value = match &change.outcome {
        ChangeOutcome::SingularMode => json!({"accepted": false, "verdict": "singular mode"}),
        ChangeOutcome::Analysed(report) => restart_to_json(report, sources),
    };
    value["from"] = json!(change.from);
    value["to"] = json!(change.to);
    value["condition"] = json!(change.trigger.0);
    value["becomes"] = json!(change.trigger.1);
    let together = change.together.iter();
    let together = together.map(|(condition, becomes)| json!({"condition": condition, "becomes": becomes}));
    value["together"] = together.collect();
    value["span"] = place(change.span, sources);
    value["transient"] = json!(change.then.is_some());
    value["then"] = json!(change.then);
    value["restart_equations"] = json!(change.restart_equations);
    value
}

fn restart_to_json(report: &RestartReport, sources: &SourceMap) -> Value {
    let impulses = report
        .impulses
        .iter()
        .map(|(name, order)| json!({"variable": name, "order": order}));
    json!({
        "accepted": report.accepted,
        "verdict": report.verdict,
        "method": report.method,
        "summary": report.summary,
        "details": report.details,
        "help": report.help,
        "height": report.height,
        "jumps": report.jumps,
        "impulses": impulses.collect::<Vec<_>>(),
        "facts": report.facts,
        "disabled": report.disabled,
        "restart_system": report.system,
        "undetermined": report.undetermined,
        "array": report.array.to_json(),
        "places": report.places.iter().map(|span| span_to_json(*span, sources)).collect::<Vec<_>>(),
    })
}
