//! A diagram as a picture: nodes on a circle, the first one at the top.

use std::f64::consts::PI;
use std::fmt::Write;

use super::diagram::{Diagram, EdgeKind, NodeKind};

const LINE: f64 = 15.0;
const CHARACTER: f64 = 6.6;

/// A box.
struct Node<'d> {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    lines: &'d [String],
}

impl Node<'_> {
    /// Where the line from the centre towards a point leaves the box.
    fn border_towards(&self, x: f64, y: f64) -> (f64, f64) {
        let (dx, dy) = (x - self.x, y - self.y);
        let scale = f64::min(
            if dx == 0.0 {
                f64::INFINITY
            } else {
                0.5 * self.width / dx.abs()
            },
            if dy == 0.0 {
                f64::INFINITY
            } else {
                0.5 * self.height / dy.abs()
            },
        );
        let scale = if scale.is_finite() { scale.min(1.0) } else { 0.0 };
        (self.x + scale * dx, self.y + scale * dy)
    }
}

impl Diagram {
    /// As SVG.
    pub(super) fn to_svg(&self) -> String {
        let nodes = self.placed_nodes();
        let right = nodes.iter().map(|n| n.x + 0.5 * n.width).fold(0.0, f64::max) + 140.0;
        let bottom = nodes.iter().map(|n| n.y + 0.5 * n.height).fold(0.0, f64::max) + 80.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{right:.0}\" height=\"{bottom:.0}\" \
             viewBox=\"0 0 {right:.0} {bottom:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"16\" y=\"26\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
            escaped(&self.title)
        );
        out.push_str(
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#333333\"/></marker></defs>\n",
        );
        for (position, edge) in self.edges.iter().enumerate() {
            let earlier = self.edges[..position].iter();
            let parallel = earlier.filter(|e| (e.from, e.to) == (edge.from, edge.to)).count();
            self.draw_edge(&mut out, &nodes, position, parallel);
        }
        for (number, node) in nodes.iter().enumerate() {
            self.draw_node(&mut out, number, node);
        }
        out.push_str("</svg>\n");
        out
    }

    fn placed_nodes(&self) -> Vec<Node<'_>> {
        let count = self.nodes.len();
        let mut nodes: Vec<Node<'_>> = self
            .nodes
            .iter()
            .map(|node| {
                let lines = node.lines.as_slice();
                let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
                Node {
                    x: 0.0,
                    y: 0.0,
                    width: CHARACTER * longest as f64 + 24.0,
                    height: LINE * lines.len() as f64 + 16.0,
                    lines,
                }
            })
            .collect();
        let widest = nodes.iter().map(|node| node.width).fold(0.0, f64::max);
        // Enough room on the circle for each box and the texts between them.
        let radius = match count {
            0 | 1 => 0.0,
            2 => 0.5 * widest + 130.0,
            _ => f64::max(190.0, 0.75 * widest + count as f64 * 46.0),
        };
        let height = if count == 2 { 40.0 } else { radius };
        let center = (radius + 0.5 * widest + 140.0, height + 120.0);
        // Two modes stand side by side.
        let first = if count == 2 { PI } else { -0.5 * PI };
        for (number, node) in nodes.iter_mut().enumerate() {
            let angle = 2.0 * PI * number as f64 / count.max(1) as f64 + first;
            node.x = center.0 + radius * angle.cos();
            node.y = center.1 + radius * angle.sin();
        }
        nodes
    }

    fn draw_node(&self, out: &mut String, number: usize, node: &Node<'_>) {
        let is_refused = self.nodes[number].kind == NodeKind::Refused;
        let color = if is_refused { "#c0392b" } else { "#333333" };
        let width = if number == 0 { 2.5 } else { 1.2 };
        let (left, top) = (node.x - 0.5 * node.width, node.y - 0.5 * node.height);
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\" fill=\"#f7f9fc\" \
             stroke=\"{color}\" stroke-width=\"{width}\"/>",
            node.width, node.height
        );
        for (row, line) in node.lines.iter().enumerate() {
            let weight = if row == 0 { " font-weight=\"bold\"" } else { "" };
            let y = top + LINE * (row as f64 + 1.0) + 3.0;
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\"{weight}>{}</text>",
                node.x,
                escaped(line)
            );
        }
    }

    /// A curve that bends to its right, so that there and back do not cover each other.
    fn draw_edge(&self, out: &mut String, nodes: &[Node<'_>], position: usize, parallel: usize) {
        let edge = &self.edges[position];
        let (Some(from), Some(to)) = (nodes.get(edge.from), nodes.get(edge.to)) else {
            return;
        };
        let bend = 34.0 + 30.0 * parallel as f64;
        let curve = match edge.from == edge.to {
            true => loop_curve(from, bend),
            false => side_curve(from, to, bend),
        };
        let (color, style) = match edge.kind {
            EdgeKind::Smooth => ("#333333", ""),
            EdgeKind::Impulsive => ("#d9822b", " stroke-width=\"2.5\""),
            EdgeKind::Refused => ("#c0392b", " stroke-dasharray=\"6 4\""),
        };
        let _ = writeln!(
            out,
            "<path d=\"{}\" fill=\"none\" stroke=\"{color}\"{style} marker-end=\"url(#tip)\"/>",
            curve.path
        );
        let lines = &edge.lines;
        let anchor = match curve.outward.0 {
            x if x > 0.4 => "start",
            x if x < -0.4 => "end",
            _ => "middle",
        };
        // The texts stand on the outer side of the curve.
        let rows = lines.len() as f64;
        let lift = 0.5 * (rows - 1.0) * (1.0 - curve.outward.1);
        let (x, y) = (
            curve.label.0 + 6.0 * curve.outward.0,
            curve.label.1 + 4.0 + 12.0 * curve.outward.1,
        );
        for (row, line) in lines.iter().enumerate() {
            let y = y + 13.0 * (row as f64 - lift);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"11\" fill=\"{color}\" \
                 stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
                escaped(line)
            );
        }
    }
}

/// The line of an edge, the point where its text stands, and the direction away from the other edges.
struct EdgeCurve {
    path: String,
    label: (f64, f64),
    outward: (f64, f64),
}

fn side_curve(from: &Node<'_>, to: &Node<'_>, bend: f64) -> EdgeCurve {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy).max(1.0);
    let outward = (-dy / length, dx / length);
    let middle = (
        0.5 * (from.x + to.x) + bend * outward.0,
        0.5 * (from.y + to.y) + bend * outward.1,
    );
    let start = from.border_towards(middle.0, middle.1);
    let end = to.border_towards(middle.0, middle.1);
    let mix = |a: f64, b: f64, c: f64| 0.25 * a + 0.5 * b + 0.25 * c;
    EdgeCurve {
        path: format!(
            "M{:.1},{:.1} Q{:.1},{:.1} {:.1},{:.1}",
            start.0, start.1, middle.0, middle.1, end.0, end.1
        ),
        label: (mix(start.0, middle.0, end.0), mix(start.1, middle.1, end.1)),
        outward,
    }
}

fn loop_curve(node: &Node<'_>, bend: f64) -> EdgeCurve {
    let (x, top) = (node.x, node.y - 0.5 * node.height);
    let high = top - bend;
    EdgeCurve {
        path: format!(
            "M{:.1},{top:.1} C{:.1},{high:.1} {:.1},{high:.1} {:.1},{top:.1}",
            x - 24.0,
            x - 40.0,
            x + 40.0,
            x + 24.0
        ),
        label: (x, high + 8.0),
        outward: (0.0, -1.0),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
