//! The modes of a run as a graph: which led to which, how often, and because of what.

use std::collections::{BTreeMap, BTreeSet};

use saltus_drawing::{Diagram, DiagramEdge, DiagramNode, EdgeKind, NodeKind, wrapped};
use saltus_results::Trajectory;

use crate::events;
use crate::numbers::short;

/// Larger graphs say less than the table.
const MOST_MODES: usize = 12;
const MOST_EDGES: usize = 30;

#[derive(Default)]
struct Passage {
    count: usize,
    triggers: BTreeSet<String>,
    impulses: BTreeSet<String>,
}

/// The graph as SVG; nothing if there is one mode only, or if there are too many.
pub(crate) fn graph(result: &Trajectory, held: &BTreeMap<u32, (usize, f64)>) -> String {
    let passages = passages(result);
    if held.len() < 2 || held.len() > MOST_MODES || passages.is_empty() || passages.len() > MOST_EDGES {
        return String::new();
    }
    let names = events::mode_names(result);
    let first = result.modes().first().copied();
    // The first mode of the run comes first.
    let mut order: Vec<u32> = held.keys().copied().collect();
    order.sort_by_key(|mode| (Some(*mode) != first, *mode));
    let place = |mode: u32| order.iter().position(|known| *known == mode);
    let nodes = order.iter().map(|mode| {
        let (visits, time) = held[mode];
        let mut lines = vec![format!("mode {mode}")];
        lines.extend(names.get(mode).into_iter().flat_map(|name| wrapped(name, 3)));
        lines.push(match visits {
            0 => "for an instant only".to_owned(),
            1 => format!("once, {} s", short(time)),
            many => format!("{many} times, {} s", short(time)),
        });
        let kind = if visits == 0 {
            NodeKind::Transient
        } else {
            NodeKind::Plain
        };
        DiagramNode { lines, kind }
    });
    let edges = passages.iter().filter_map(|((from, to), passage)| {
        let many = if passage.count > 1 {
            format!("{} times: ", passage.count)
        } else {
            String::new()
        };
        let triggers: Vec<&str> = passage.triggers.iter().map(String::as_str).collect();
        let mut lines = vec![format!("{many}{}", triggers.join("; "))];
        if !passage.impulses.is_empty() {
            let names: Vec<&str> = passage.impulses.iter().take(4).map(String::as_str).collect();
            lines.push(format!("impulse: {}", names.join(", ")));
        }
        let kind = if passage.impulses.is_empty() {
            EdgeKind::Smooth
        } else {
            EdgeKind::Impulsive
        };
        Some(DiagramEdge {
            from: place(*from)?,
            to: place(*to)?,
            lines,
            kind,
        })
    });
    let diagram = Diagram {
        title: String::new(),
        nodes: nodes.collect(),
        edges: edges.collect(),
    };
    format!("<div class=graph>{}</div>\n", diagram.to_svg())
}

fn passages(result: &Trajectory) -> BTreeMap<(u32, u32), Passage> {
    let start = result.time().first();
    let changes = result
        .events()
        .iter()
        .filter(|event| event.from_mode != event.to_mode && Some(&event.time) != start);
    let mut passages: BTreeMap<(u32, u32), Passage> = BTreeMap::new();
    for event in changes {
        let passage = passages.entry((event.from_mode, event.to_mode)).or_default();
        passage.count += 1;
        if passage.triggers.len() < 3 {
            passage
                .triggers
                .extend(event.triggers.iter().take(3).map(|trigger| trigger.condition.clone()));
        }
        let impulses = events::unique_impulses(event, result).into_iter().take(8);
        passage
            .impulses
            .extend(impulses.map(|impulse| impulse.variable.clone()));
    }
    passages
}
