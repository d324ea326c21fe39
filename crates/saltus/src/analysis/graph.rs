//! The modes as a graph: nodes with index and states, edges with what happens; in the language of Graphviz.

use std::fmt::Write;

use super::print::valuation_text;
use super::{Analysis, ChangeOutcome, ChangeReport, ModeReport};

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeKind {
    Smooth,
    Impulsive,
    Refused,
}

/// What is written at a node.
pub(super) fn node_lines(number: usize, mode: &ModeReport, transient: bool) -> Vec<String> {
    let mut lines = vec![format!("mode {number}")];
    let valuation = valuation_text(&mode.valuation);
    if !valuation.is_empty() {
        lines.push(shortened(&valuation));
    }
    match &mode.structure {
        Ok(shape) => {
            let states = match shape.states.len() {
                0 => "no states".to_owned(),
                1 => "1 state".to_owned(),
                many => format!("{many} states"),
            };
            lines.push(format!("index {}, {states}", shape.index));
            if !shape.states.is_empty() {
                lines.push(shortened(&shape.states.join(", ")));
            }
        }
        Err(_) if transient => lines.push("for an instant only".to_owned()),
        Err(refusal) => lines.push(format!("singular: {}", shortened(&refusal.summary))),
    }
    lines
}

/// What is written at an edge.
pub(super) fn edge_lines(change: &ChangeReport) -> Vec<String> {
    let (condition, value) = &change.trigger;
    let mut lines = vec![shortened(&match value {
        true => condition.clone(),
        false => format!("not ({condition})"),
    })];
    if let ChangeOutcome::Analysed(report) = &change.outcome {
        if !report.accepted {
            lines.push(shortened(&format!("refused: {}", report.summary)));
        } else if !report.impulses.is_empty() {
            let names: Vec<&str> = report.impulses.iter().map(|(name, _)| name.as_str()).collect();
            lines.push(shortened(&format!("impulse: {}", names.join(", "))));
        }
    }
    lines
}

pub(super) fn edge_kind(change: &ChangeReport) -> EdgeKind {
    match &change.outcome {
        ChangeOutcome::Analysed(report) if report.accepted && report.impulses.is_empty() => EdgeKind::Smooth,
        ChangeOutcome::Analysed(report) if report.accepted => EdgeKind::Impulsive,
        _ => EdgeKind::Refused,
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 48;
    match text.chars().count() > MOST {
        true => text.chars().take(MOST - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

impl Analysis {
    /// The mode graph for Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph modes {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
        for (number, mode) in self.modes.iter().enumerate() {
            let color = match (&mode.structure, number) {
                (Err(_), _) if self.is_transient(number) => ", style=dashed",
                (Err(_), _) => ", color=red",
                (Ok(_), 0) => ", penwidth=2",
                _ => "",
            };
            let _ = writeln!(
                out,
                "  m{number} [label={}{color}];",
                label(&node_lines(number, mode, self.is_transient(number)))
            );
        }
        for change in &self.changes {
            let style = match edge_kind(change) {
                EdgeKind::Smooth => "",
                EdgeKind::Impulsive => ", style=bold, color=darkorange",
                EdgeKind::Refused => ", color=red, style=dashed",
            };
            let text = label(&edge_lines(change));
            let _ = writeln!(out, "  m{} -> m{} [label={text}{style}];", change.from, change.to);
        }
        out.push_str("}\n");
        out
    }
}

fn label(lines: &[String]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.replace('\\', "\\\\").replace('"', "\\\""))
        .collect();
    format!("\"{}\"", lines.join("\\n"))
}
