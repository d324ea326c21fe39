//! The modes as a graph: nodes with index and states, edges with what happens.

use super::diagram::{Diagram, DiagramEdge, DiagramNode, EdgeKind, NodeKind, shortened};
use super::print::valuation_text;
use super::{Analysis, ChangeOutcome, ChangeReport, ModeReport};

/// What is written at a node.
fn node_lines(number: usize, mode: &ModeReport, transient: bool) -> Vec<String> {
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
fn edge_lines(change: &ChangeReport) -> Vec<String> {
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

fn edge_kind(change: &ChangeReport) -> EdgeKind {
    match &change.outcome {
        ChangeOutcome::Analysed(report) if report.accepted && report.impulses.is_empty() => EdgeKind::Smooth,
        ChangeOutcome::Analysed(report) if report.accepted => EdgeKind::Impulsive,
        _ => EdgeKind::Refused,
    }
}

impl Analysis {
    /// The mode graph for Graphviz.
    pub fn to_dot(&self) -> String {
        self.diagram().to_dot()
    }

    /// The mode graph as SVG.
    pub fn to_svg(&self) -> String {
        self.diagram().to_svg()
    }

    fn diagram(&self) -> Diagram {
        let nodes = self.modes.iter().enumerate().map(|(number, mode)| DiagramNode {
            lines: node_lines(number, mode, self.is_transient(number)),
            kind: match mode.structure {
                Err(_) if self.is_transient(number) => NodeKind::Transient,
                Err(_) => NodeKind::Refused,
                Ok(_) => NodeKind::Plain,
            },
        });
        let edges = self.changes.iter().map(|change| DiagramEdge {
            from: change.from,
            to: change.to,
            lines: edge_lines(change),
            kind: edge_kind(change),
        });
        Diagram {
            title: self.model.clone(),
            nodes: nodes.collect(),
            edges: edges.collect(),
        }
    }
}
