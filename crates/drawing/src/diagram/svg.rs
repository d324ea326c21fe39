//! A diagram as a picture: the first node at the left, the others in columns by how far they are from it. Edges carry
//! numbers that a list below the picture explains; of two nodes the texts stand at the edges.

use std::collections::VecDeque;

use super::{Diagram, EdgeKind, NodeKind, wrapped_at};
use crate::Svg;

const LINE: f64 = 15.0;
const CHARACTER: f64 = 6.8;
/// Room between columns, for the edges.
const BETWEEN_COLUMNS: f64 = 190.0;
const BETWEEN_ROWS: f64 = 34.0;
const TOP: f64 = 60.0;
const LEFT: f64 = 70.0;
/// Radius of a number at an edge.
const BADGE: f64 = 9.0;
/// Characters in a line of the list.
const LIST_WIDTH: usize = 130;

/// A box.
struct Node<'d> {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    column: usize,
    lines: &'d [String],
}

/// A cubic curve, and where its text or number stands.
struct Curve {
    points: [(f64, f64); 4],
    at: f64,
}

impl Curve {
    fn point(&self, t: f64) -> (f64, f64) {
        let [a, b, c, d] = self.points;
        let s = 1.0 - t;
        let mix =
            |a: f64, b: f64, c: f64, d: f64| s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d;
        (mix(a.0, b.0, c.0, d.0), mix(a.1, b.1, c.1, d.1))
    }
    fn path(&self) -> String {
        let [a, b, c, d] = self.points;
        format!(
            "M{:.1},{:.1} C{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}",
            a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1
        )
    }
}

impl Diagram {
    /// As SVG.
    pub fn to_svg(&self) -> String {
        let nodes = self.placed_nodes();
        let numbered = self.is_numbered();
        let list = if numbered { self.list() } else { Vec::new() };
        let longest = list.iter().map(|(_, line, _)| line.chars().count()).max().unwrap_or(0);
        let below = nodes.iter().map(|n| n.y + 0.5 * n.height).fold(0.0, f64::max);
        let below = below + if numbered { 50.0 } else { 40.0 };
        let right = nodes.iter().map(|n| n.x + 0.5 * n.width).fold(0.0, f64::max) + 110.0;
        let right = f64::max(right, 60.0 + CHARACTER * longest as f64);
        let bottom = below + LINE * list.len() as f64 + 16.0;
        let mut out = Svg::new(
            right,
            bottom,
            &self.title,
            "font-family=\"sans-serif\" font-size=\"12\"",
        );
        out.text(
            16.0,
            26.0,
            "start",
            "font-size=\"15\" font-weight=\"bold\"",
            &self.title,
        );
        out.put(format_args!(
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#333333\"/></marker></defs>"
        ));
        let curves: Vec<Option<Curve>> = (0..self.edges.len()).map(|edge| self.curve(&nodes, edge)).collect();
        for (edge, curve) in curves.iter().enumerate() {
            if let Some(curve) = curve {
                self.draw_line(&mut out, edge, curve);
            }
        }
        for (number, node) in nodes.iter().enumerate() {
            self.draw_node(&mut out, number, node);
        }
        let mut places: Vec<(f64, f64)> = Vec::new();
        for (edge, curve) in curves.iter().enumerate() {
            match curve {
                Some(curve) if numbered => {
                    let place = free_place(curve, &places);
                    places.push(place);
                    self.draw_number(&mut out, edge, place);
                }
                Some(curve) => self.draw_text(&mut out, edge, curve),
                None => {}
            }
        }
        for (row, (number, line, kind)) in list.iter().enumerate() {
            let y = below + LINE * row as f64;
            let style = format!("font-size=\"11\" fill=\"{}\"", color(*kind));
            if let Some(number) = number {
                out.text(36.0, y, "end", &style, &number.to_string());
            }
            out.text(46.0, y, "start", &style, line);
        }
        out.finish()
    }

    fn is_numbered(&self) -> bool {
        self.nodes.len() > 2 || self.edges.len() > 2
    }

    /// What the numbers mean: a number at the first line of each.
    fn list(&self) -> Vec<(Option<usize>, String, EdgeKind)> {
        let mut lines = Vec::new();
        for (position, edge) in self.edges.iter().enumerate() {
            let text = format!("{} to {}:  {}", edge.from, edge.to, edge.lines.join("; "));
            for (row, line) in wrapped_at(&text, LIST_WIDTH, 4).into_iter().enumerate() {
                lines.push(((row == 0).then_some(position + 1), line, edge.kind));
            }
        }
        lines
    }

    fn placed_nodes(&self) -> Vec<Node<'_>> {
        let columns = self.columns();
        let mut nodes: Vec<Node<'_>> = self
            .nodes
            .iter()
            .zip(columns)
            .map(|(node, column)| {
                let lines = node.lines.as_slice();
                let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
                Node {
                    x: 0.0,
                    y: 0.0,
                    width: CHARACTER * longest as f64 + 24.0,
                    height: LINE * lines.len() as f64 + 16.0,
                    column,
                    lines,
                }
            })
            .collect();
        let count = nodes.iter().map(|node| node.column + 1).max().unwrap_or(0);
        let heights: Vec<f64> = (0..count).map(|column| column_height(&nodes, column)).collect();
        let tallest = heights.iter().copied().fold(0.0, f64::max);
        let mut left = LEFT;
        let (between, above) = self.room_for_texts();
        let above = f64::max(0.0, above - 0.5 * tallest);
        for (column, height) in heights.iter().enumerate() {
            let members = || nodes.iter().filter(|node| node.column == column);
            let widest = members().map(|node| node.width).fold(0.0, f64::max);
            let mut top = TOP + above + 0.5 * (tallest - height) + 20.0;
            for node in nodes.iter_mut().filter(|node| node.column == column) {
                node.x = left + 0.5 * widest;
                node.y = top + 0.5 * node.height;
                top += node.height + BETWEEN_ROWS;
            }
            left += widest + between;
        }
        nodes
    }

    /// The room between columns, and above the middle of the nodes, that texts at edges take.
    fn room_for_texts(&self) -> (f64, f64) {
        if self.is_numbered() {
            return (BETWEEN_COLUMNS, 0.0);
        }
        if self.edges.iter().any(|edge| edge.from == edge.to) {
            let highest = self.nodes.iter().map(|node| node.lines.len()).max().unwrap_or(0);
            let texts = self
                .edges
                .iter()
                .map(|edge| edge.wrapped_lines().len())
                .max()
                .unwrap_or(0);
            return (BETWEEN_COLUMNS, LINE * (0.5 * highest as f64 + texts as f64) + 40.0);
        }
        let texts: Vec<Vec<String>> = self.edges.iter().map(|edge| edge.wrapped_lines()).collect();
        let longest = texts
            .iter()
            .flatten()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0);
        let lines = texts.first().map_or(0, Vec::len);
        let between = f64::max(BETWEEN_COLUMNS, CHARACTER * longest as f64 + 30.0);
        (between, 13.0 * lines as f64 + 24.0)
    }

    /// By how many edges each node is away from the first one; what no edge leads to stands last.
    fn columns(&self) -> Vec<usize> {
        let mut columns = vec![usize::MAX; self.nodes.len()];
        let mut pending = VecDeque::new();
        if let Some(first) = columns.first_mut() {
            *first = 0;
            pending.push_back(0);
        }
        while let Some(node) = pending.pop_front() {
            for edge in &self.edges {
                let ends = [(edge.from, edge.to), (edge.to, edge.from)];
                for (_, other) in ends.into_iter().filter(|(from, _)| *from == node) {
                    if columns.get(other) == Some(&usize::MAX) {
                        columns[other] = columns[node] + 1;
                        pending.push_back(other);
                    }
                }
            }
        }
        let last = columns.iter().filter(|column| **column != usize::MAX).max();
        let last = last.map_or(0, |column| column + 1);
        columns.iter().map(|&column| column.min(last)).collect()
    }

    fn curve(&self, nodes: &[Node<'_>], position: usize) -> Option<Curve> {
        let edge = &self.edges[position];
        let (from, to) = (nodes.get(edge.from)?, nodes.get(edge.to)?);
        let pair = (edge.from.min(edge.to), edge.from.max(edge.to));
        let earlier = self.edges[..position].iter();
        let parallel = earlier.filter(|e| (e.from.min(e.to), e.from.max(e.to)) == pair).count() as f64;
        if edge.from == edge.to {
            let (x, top) = (
                from.x - 0.5 * from.width + 30.0 + 34.0 * parallel,
                from.y - 0.5 * from.height,
            );
            let high = top - 34.0;
            return Some(Curve {
                points: [(x - 10.0, top), (x - 16.0, high), (x + 16.0, high), (x + 10.0, top)],
                at: 0.5,
            });
        }
        if from.column == to.column {
            // Around the right side.
            let bend = 40.0 + 22.0 * parallel + 0.08 * (from.y - to.y).abs();
            let (start, end) = (from.x + 0.5 * from.width, to.x + 0.5 * to.width);
            let far = f64::max(start, end) + bend;
            let shift = 8.0 * (to.y - from.y).signum();
            return Some(Curve {
                points: [
                    (start, from.y + shift),
                    (far, from.y + shift),
                    (far, to.y - shift),
                    (end, to.y - shift),
                ],
                at: 0.5,
            });
        }
        let forward = if to.column > from.column { 1.0 } else { -1.0 };
        // There and back run beside each other.
        let shift = 22.0 * parallel - 10.0;
        let (start, end) = (from.x + forward * 0.5 * from.width, to.x - forward * 0.5 * to.width);
        let reach = 0.45 * (end - start);
        let spread = |node: &Node<'_>| shift.clamp(4.0 - 0.5 * node.height, 0.5 * node.height - 4.0);
        let (y0, y1) = (from.y + spread(from), to.y + spread(to));
        // The number stands near the end with fewer edges, where they are apart.
        let degree = |node: usize| self.edges.iter().filter(|e| e.from == node || e.to == node).count();
        let at = match (self.nodes.len(), degree(edge.from) > degree(edge.to)) {
            (2, _) => 0.5,
            (_, true) => 0.8,
            (_, false) => 0.2,
        };
        Some(Curve {
            points: [(start, y0), (start + reach, y0), (end - reach, y1), (end, y1)],
            at,
        })
    }

    fn draw_line(&self, out: &mut Svg, edge: usize, curve: &Curve) {
        let kind = self.edges[edge].kind;
        let style = match kind {
            EdgeKind::Smooth => "",
            EdgeKind::Impulsive => " stroke-width=\"2.5\"",
            EdgeKind::Refused => " stroke-dasharray=\"6 4\"",
        };
        let style = format!(
            "fill=\"none\" stroke=\"{}\"{style} marker-end=\"url(#tip)\"",
            color(kind)
        );
        out.path(&curve.path(), &style);
    }

    fn draw_number(&self, out: &mut Svg, edge: usize, (x, y): (f64, f64)) {
        let color = color(self.edges[edge].kind);
        out.circle((x, y), BADGE, &format!("fill=\"#ffffff\" stroke=\"{color}\""));
        let style = format!("font-size=\"10\" fill=\"{color}\"");
        out.text(x, y + 3.5, "middle", &style, &(edge + 1).to_string());
    }

    /// The texts of an edge above it, or below it if it leads back.
    fn draw_text(&self, out: &mut Svg, edge: usize, curve: &Curve) {
        let (x, y) = curve.point(curve.at);
        let (lines, kind) = (self.edges[edge].wrapped_lines(), self.edges[edge].kind);
        let above = edge.is_multiple_of(2);
        for (row, line) in lines.iter().enumerate() {
            let y = if above {
                y - 8.0 - 13.0 * (lines.len() - 1 - row) as f64
            } else {
                y + 16.0 + 13.0 * row as f64
            };
            let style = format!(
                "font-size=\"11\" fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"",
                color(kind)
            );
            out.text(x, y, "middle", &style, line);
        }
    }

    fn draw_node(&self, out: &mut Svg, number: usize, node: &Node<'_>) {
        let is_refused = self.nodes[number].kind == NodeKind::Refused;
        let is_transient = self.nodes[number].kind == NodeKind::Transient;
        let color = if is_refused { "#c0392b" } else { "#333333" };
        let width = if number == 0 { 2.5 } else { 1.2 };
        let dashes = if is_transient { " stroke-dasharray=\"4 3\"" } else { "" };
        let (left, top) = (node.x - 0.5 * node.width, node.y - 0.5 * node.height);
        let style = format!("rx=\"8\" fill=\"#f7f9fc\" stroke=\"{color}\" stroke-width=\"{width}\"{dashes}");
        out.rect(left, top, node.width, node.height, &style);
        for (row, line) in node.lines.iter().enumerate() {
            let weight = if row == 0 { "font-weight=\"bold\"" } else { "" };
            let y = top + LINE * (row as f64 + 1.0) + 3.0;
            out.text(node.x, y, "middle", weight, line);
        }
    }
}

/// A place on a curve near where its number should stand, and away from other numbers.
fn free_place(curve: &Curve, taken: &[(f64, f64)]) -> (f64, f64) {
    let is_free = |&(x, y): &(f64, f64)| {
        let near = |&(a, b): &(f64, f64)| (a - x).hypot(b - y) < 2.0 * BADGE + 2.0;
        !taken.iter().any(near)
    };
    let steps = (0..16).flat_map(|step| [0.04 * f64::from(step), -0.04 * f64::from(step)]);
    let places = steps.map(|step| curve.point((curve.at + step).clamp(0.08, 0.92)));
    places.clone().find(is_free).unwrap_or(curve.point(curve.at))
}

fn column_height(nodes: &[Node<'_>], column: usize) -> f64 {
    let heights = nodes
        .iter()
        .filter(|node| node.column == column)
        .map(|node| node.height);
    heights.map(|height| height + BETWEEN_ROWS).sum::<f64>() - BETWEEN_ROWS
}

fn color(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Smooth => "#333333",
        EdgeKind::Impulsive => "#d9822b",
        EdgeKind::Refused => "#c0392b",
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DiagramEdge, DiagramNode};
    use super::*;

    /// A star with changes there and back, and a ring around it.
    fn diagram(count: usize) -> Diagram {
        let nodes = (0..count).map(|number| DiagramNode {
            lines: vec![
                format!("mode {number}"),
                "index 2, 3 states".to_owned(),
                "w1 = w2".repeat(1 + number % 4),
            ],
            kind: NodeKind::Plain,
        });
        let edge = |from: usize, to: usize| DiagramEdge {
            from,
            to,
            lines: vec![
                "time < pwm.t0 + pwm.width*pwm.period".to_owned(),
                "impulse: tau".to_owned(),
            ],
            kind: EdgeKind::Impulsive,
        };
        let mut edges: Vec<DiagramEdge> = (1..count).flat_map(|n| [edge(0, n), edge(n, 0)]).collect();
        edges.extend((2..count).map(|n| edge(n - 1, n)));
        Diagram {
            title: "Modes".to_owned(),
            nodes: nodes.collect(),
            edges,
        }
    }

    #[test]
    fn boxes_and_numbers_do_not_cover_each_other() {
        for count in [1, 2, 3, 8, 20] {
            let diagram = diagram(count);
            let nodes = diagram.placed_nodes();
            for (number, a) in nodes.iter().enumerate() {
                let longest = a.lines.iter().map(|line| line.chars().count()).max().unwrap();
                assert!(a.width > CHARACTER * longest as f64);
                for b in &nodes[number + 1..] {
                    let apart = (a.x - b.x).abs() >= 0.5 * (a.width + b.width)
                        || (a.y - b.y).abs() >= 0.5 * (a.height + b.height);
                    assert!(apart, "{count} modes");
                }
            }
            let mut places: Vec<(f64, f64)> = Vec::new();
            for edge in 0..diagram.edges.len() {
                let curve = diagram.curve(&nodes, edge).unwrap();
                let (x, y) = free_place(&curve, &places);
                let apart = |&(a, b): &(f64, f64)| (a - x).hypot(b - y) >= 2.0 * BADGE;
                assert!(places.iter().all(apart), "{count} modes, edge {edge}");
                let outside = nodes
                    .iter()
                    .all(|node| (x - node.x).abs() >= 0.5 * node.width || (y - node.y).abs() >= 0.5 * node.height);
                assert!(outside, "{count} modes, edge {edge}");
                places.push((x, y));
            }
            assert!(diagram.to_svg().ends_with("</svg>\n"));
        }
    }
}
