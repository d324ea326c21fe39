//! The modes as a graph: nodes with index, states and equations, edges with what happens.

use std::collections::BTreeSet;

use crate::{Analysis, ChangeOutcome, ChangeReport, EquationReport, ModeShape};
use saltus_drawing::{Diagram, DiagramEdge, DiagramNode, EdgeKind, NodeKind, shortened, wrapped};

/// Equations shown at a node.
const MOST_EQUATIONS: usize = 5;

/// What is written at an edge.
fn edge_lines(change: &ChangeReport) -> Vec<String> {
    let triggers = std::iter::once(&change.trigger).chain(&change.together);
    let triggers = triggers.map(|(condition, value)| {
        if *value {
            condition.clone()
        } else {
            format!("not ({condition})")
        }
    });
    let mut lines = vec![triggers.collect::<Vec<_>>().join(" and ")];
    match &change.outcome {
        ChangeOutcome::Analysed(report) if !report.accepted => {
            lines.push(format!("refused: {}", report.summary));
        }
        ChangeOutcome::Analysed(report) if !report.impulses.is_empty() => {
            let names: Vec<&str> = report.impulses.iter().map(|(name, _)| name.as_str()).collect();
            lines.push(format!("impulse: {}", names.join(", ")));
        }
        ChangeOutcome::Analysed(_) => {}
        ChangeOutcome::SingularMode => lines.push("refused: the mode is singular".to_owned()),
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
    /// What is written at a node: what selects the mode, index and states, and the equations that not all modes have.
    fn node_lines(&self, number: usize) -> Vec<String> {
        let mut lines = vec![format!("mode {number}")];
        let selection = self.selection(number);
        if !selection.is_empty() {
            lines.extend(wrapped(&selection, 3));
        }
        match &self.modes[number].structure {
            Ok(shape) => {
                let states = match shape.states.len() {
                    0 => "no states".to_owned(),
                    1 => "1 state".to_owned(),
                    many => format!("{many} states"),
                };
                lines.push(format!("index {}, {states}", shape.index));
                if !shape.states.is_empty() {
                    lines.extend(wrapped(&shape.states.join(", "), 2));
                }
                lines.extend(self.distinguishing_equations(shape));
            }
            Err(_) if self.is_transient(number) => lines.push("for an instant only".to_owned()),
            Err(refusal) => lines.extend(wrapped(&format!("singular: {}", refusal.summary), 3)),
        }
        lines
    }

    /// Equations that some other mode does not have; of a model with one mode the first ones.
    fn distinguishing_equations(&self, shape: &ModeShape) -> Vec<String> {
        let others = || self.modes.iter().filter_map(|mode| mode.structure.as_ref().ok());
        let everywhere = |equation: &EquationReport| {
            others().all(|other| other.equations.iter().any(|known| known.text == equation.text))
        };
        let single = self.modes.len() == 1;
        let shown: Vec<&EquationReport> = shape.equations.iter().filter(|e| single || !everywhere(e)).collect();
        let more = shown.len().saturating_sub(MOST_EQUATIONS);
        let mut lines: Vec<String> = shown.iter().take(MOST_EQUATIONS).map(|e| shortened(&e.text)).collect();
        if more > 0 {
            lines.push(format!("and {more} more equations"));
        }
        lines
    }

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
            lines: self.node_lines(number),
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
        // Where a mode of an instant leads, unless it leads back.
        let onwards = self.changes.iter().filter(|change| change.then != Some(change.from));
        let onwards: BTreeSet<(usize, usize)> = onwards.filter_map(|change| Some((change.to, change.then?))).collect();
        let onwards = onwards.into_iter().map(|(from, to)| DiagramEdge {
            from,
            to,
            lines: vec!["right after".to_owned()],
            kind: EdgeKind::Smooth,
        });
        Diagram {
            title: self.model.clone(),
            nodes: nodes.collect(),
            edges: edges.chain(onwards).collect(),
        }
    }
}
