//! Boxes and arrows with texts, and how Graphviz draws them; `svg` draws the picture.

mod svg;

use std::fmt::Write;

/// What a report has to draw. The first node is where everything begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagram {
    /// Its title.
    pub title: String,
    /// The boxes.
    pub nodes: Vec<DiagramNode>,
    /// The arrows.
    pub edges: Vec<DiagramEdge>,
}

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagramNode {
    /// What is written in it.
    pub lines: Vec<String>,
    /// How it is drawn.
    pub kind: NodeKind,
}

/// How a node is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// As usual.
    Plain,
    /// Passed at an instant.
    Transient,
    /// Not possible.
    Refused,
}

/// An arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagramEdge {
    /// The node it begins at.
    pub from: usize,
    /// The node it ends at.
    pub to: usize,
    /// Sentences of any length.
    pub lines: Vec<String>,
    /// How it is drawn.
    pub kind: EdgeKind,
}

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// Nothing is infinite.
    Smooth,
    /// With impulses.
    Impulsive,
    /// Not possible.
    Refused,
}

/// A text that fits into a box.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 48;
    if text.chars().count() > MOST {
        text.chars().take(MOST - 1).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

/// A text in lines that fit into a box; what is left over after the last one is cut.
pub fn wrapped(text: &str, most_lines: usize) -> Vec<String> {
    wrapped_at(text, 46, most_lines)
}

/// A text in lines of so many characters, broken at spaces where there are some.
pub(crate) fn wrapped_at(text: &str, width: usize, most_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let mut word = word.to_owned();
        while word.chars().count() > width {
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            lines.push(word.chars().take(width).collect());
            word = word.chars().skip(width).collect();
        }
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    if lines.len() > most_lines {
        lines.truncate(most_lines);
        if let Some(last) = lines.last_mut() {
            *last = last.chars().take(width - 1).chain(['…']).collect();
        }
    }
    lines
}

impl DiagramEdge {
    /// Its sentences in lines that fit beside a box.
    pub(crate) fn wrapped_lines(&self) -> Vec<String> {
        self.lines.iter().flat_map(|line| wrapped(line, 5)).collect()
    }
}

impl Diagram {
    /// In the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph modes {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
        for (number, node) in self.nodes.iter().enumerate() {
            let style = match (node.kind, number) {
                (NodeKind::Transient, _) => ", style=dashed",
                (NodeKind::Refused, _) => ", color=red",
                (NodeKind::Plain, 0) => ", penwidth=2",
                (NodeKind::Plain, _) => "",
            };
            let _ = writeln!(out, "  m{number} [label={}{style}];", label(&node.lines));
        }
        for edge in &self.edges {
            let style = match edge.kind {
                EdgeKind::Smooth => "",
                EdgeKind::Impulsive => ", style=bold, color=darkorange",
                EdgeKind::Refused => ", color=red, style=dashed",
            };
            let text = label(&edge.wrapped_lines());
            let _ = writeln!(out, "  m{} -> m{} [label={text}{style}];", edge.from, edge.to);
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
