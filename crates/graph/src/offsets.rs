//! Canonical offsets of a highest-value transversal: the Σ-method's smallest dual solution.

use crate::index::{Node, Row, columns, rows};
use crate::longest_paths::{GainGraph, raise_to_least_solution};
use crate::matching::Matching;
use crate::strong::Digraph;
use crate::weighted::WeightedAdjacency;

/// Row offsets c ≥ 0 and column offsets d ≥ 0 with c + weight ≤ d on every edge and equality on
/// a perfect matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// c, by row: how often an equation is differentiated.
    pub rows: Vec<i64>,
    /// d, by column: the highest derivative of an unknown that then occurs.
    pub columns: Vec<i64>,
}

impl Offsets {
    /// Whether an edge is tight (c + weight = d), that is, belongs to the leading incidence.
    #[inline]
    pub fn is_tight(&self, row: Row, column: crate::Column, weight: i32) -> bool {
        self.rows[row.index()] + i64::from(weight) == self.columns[column.index()]
    }

    /// Checks the defining inequalities and equality on the matching.
    pub fn validate(&self, graph: &impl WeightedAdjacency, matching: &Matching) -> Result<(), String> {
        if self.rows.iter().chain(&self.columns).any(|&offset| offset < 0) {
            return Err("negative offset".to_owned());
        }
        for row in rows(graph.row_count()) {
            for (column, weight) in graph.entries_of(row) {
                let slack = self.columns[column.index()] - self.rows[row.index()] - i64::from(weight);
                let matched = matching.column_of(row) == Some(column);
                if slack < 0 || (matched && slack > 0) {
                    return Err(format!("slack {slack} at ({row:?}, {column:?})"));
                }
            }
        }
        Ok(())
    }
}

/// Rows around which exchanging partners raises the value of a matching, which was therefore not
/// of highest value: each takes the column of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImprovingCycle {
    /// The rows in order.
    pub rows: Vec<Row>,
    /// By how much the exchange raises the value.
    pub gain: i64,
}

/// The smallest offsets for a perfect matching of highest value. They do not depend on which of
/// the highest-value transversals is given.
///
/// # Panics
/// If the matching is not perfect or not part of the graph.
pub fn canonical_offsets(graph: &impl WeightedAdjacency, transversal: &Matching) -> Result<Offsets, ImprovingCycle> {
    assert!(transversal.is_perfect(), "canonical offsets need a perfect matching");
    let exchange = Exchange::new(graph, transversal);
    // d ≥ 0 means c ≥ −weight on the matching; it only matters when weights are negative.
    let mut value: Vec<i64> = exchange
        .matched_weight
        .iter()
        .map(|&weight| (-i64::from(weight)).max(0))
        .collect();
    raise_to_least_solution(&exchange, &mut value).map_err(|arcs| {
        let arc = |at: &crate::longest_paths::ArcAt| exchange.arc(at.tail, at.position as usize);
        ImprovingCycle {
            rows: arcs.iter().map(|at| Row(at.tail.0)).collect(),
            gain: arcs.iter().filter_map(arc).map(|(_, gain)| gain).sum(),
        }
    })?;
    let column_offset = |row: Row| value[row.index()] + i64::from(exchange.matched_weight[row.index()]);
    let of_columns = columns(graph.column_count())
        .map(|column| transversal.row_of(column).map_or(0, column_offset))
        .collect();
    Ok(Offsets {
        rows: value,
        columns: of_columns,
    })
}

/// Row f constrains the row g matched to one of its columns x:
/// c_g = d_x − σ_gx ≥ c_f + σ_fx − σ_gx.
struct Exchange<'a, G> {
    graph: &'a G,
    matching: &'a Matching,
    matched_weight: Vec<i32>,
}

impl<'a, G: WeightedAdjacency> Exchange<'a, G> {
    fn new(graph: &'a G, matching: &'a Matching) -> Self {
        let matched_weight = rows(graph.row_count())
            .map(|row| {
                let column = matching.column_of(row).expect("perfect matching");
                graph.weight(row, column).expect("matched pair is an edge")
            })
            .collect();
        Self {
            graph,
            matching,
            matched_weight,
        }
    }
}

impl<G: WeightedAdjacency> Digraph for Exchange<'_, G> {
    #[inline]
    fn node_count(&self) -> usize {
        self.graph.row_count()
    }
    #[inline]
    fn successor(&self, node: Node, position: usize) -> Option<Node> {
        let column = *self.graph.columns_of(Row(node.0)).get(position)?;
        self.matching.row_of(column).map(|row| Node(row.0))
    }
}

impl<G: WeightedAdjacency> GainGraph for Exchange<'_, G> {
    #[inline]
    fn arc(&self, node: Node, position: usize) -> Option<(Node, i64)> {
        let head = self.successor(node, position)?;
        let weight = self.graph.weights_of(Row(node.0))[position];
        Some((head, i64::from(weight) - i64::from(self.matched_weight[head.index()])))
    }
}
