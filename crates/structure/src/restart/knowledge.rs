//! What is known of the left limits: the zero crossings and the equations of the previous mode, differentiated.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::Row;
use saltus_mdae::{Derivative, ExprId, ExprPool, Node, VarId};

use super::change::ModeChange;

/// Sampling a variety of more equations than this costs more than the answer is worth.
const NEIGHBOURHOOD_LIMIT: usize = 40;

/// Where a known equation comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum KnownSource {
    /// A zero crossing of the mode change.
    ZeroCrossing(u32),
    /// An equation of the previous mode.
    Previous {
        /// The equation.
        row: Row,
        /// How often it is differentiated.
        order: u16,
    },
    /// A consistency equation of the new mode (for restart equations entailed by them).
    Consistency {
        /// The equation.
        row: Row,
        /// How often it is differentiated.
        order: u16,
    },
}

/// A known equation `0 = residual`.
#[derive(Copy, Clone, Debug)]
pub struct Known {
    /// Zero at the left limits.
    pub residual: ExprId,
    /// Where it comes from.
    pub source: KnownSource,
}

/// Equations known to hold, found by the variables they share with a question. In them, current values of unknowns
/// stand for left limits.
#[derive(Debug)]
pub struct Knowledge<'a> {
    change: ModeChange<'a>,
    zero_crossings: Vec<Known>,
    /// How far beyond its offset an equation of the previous mode is differentiated: to the highest derivative of the
    /// zero crossings.
    beyond: u16,
    leaves: FxHashMap<ExprId, Vec<Node>>,
}

impl<'a> Knowledge<'a> {
    /// What is known about the left limits of a mode change.
    pub fn new(pool: &mut ExprPool, change: ModeChange<'a>) -> Self {
        let mut zero_crossings = Vec::new();
        let mut beyond = 0;
        for (position, &crossing) in change.zero_crossings.iter().enumerate() {
            let residual = change.before_jumps(pool, crossing);
            let residual = change.at_left_limits(pool, residual);
            for Derivative { var, order } in pool.occurrences(residual) {
                let offset = change.previous().and_then(|previous| previous.offset_of(var));
                beyond = beyond.max(offset.map_or(0, |d| order.saturating_sub(d)));
            }
            zero_crossings.push(Known {
                residual,
                source: KnownSource::ZeroCrossing(position as u32),
            });
        }
        Knowledge {
            change,
            zero_crossings,
            beyond,
            leaves: FxHashMap::default(),
        }
    }

    /// Known equations around a target, in layers: those that share a derivative with it, then those that share one
    /// with these, and so on; whole layers only, as long as they are few.
    pub fn neighbourhood(&mut self, pool: &mut ExprPool, target: ExprId) -> Vec<Vec<Known>> {
        let mut layers: Vec<Vec<Known>> = Vec::new();
        let mut met: FxHashSet<Node> = self.leaves_of(pool, target).into_iter().collect();
        let mut taken: FxHashSet<ExprId> = FxHashSet::default();
        let mut frontier: Vec<Node> = met.iter().copied().collect();
        let mut count = 0;
        while !frontier.is_empty() {
            let vars: FxHashSet<VarId> = frontier.iter().filter_map(|node| variable(*node)).collect();
            let mut layer = Vec::new();
            for known in self.candidates(pool, &vars) {
                // A zero crossing of time alone says when the change takes place.
                let crossing = matches!(known.source, KnownSource::ZeroCrossing(_));
                let shares = self
                    .leaves_of(pool, known.residual)
                    .iter()
                    .any(|leaf| met.contains(leaf) && (crossing || *leaf != Node::Time));
                if shares && !taken.contains(&known.residual) {
                    layer.push(known);
                }
            }
            count += layer.len();
            if layer.is_empty() || count > NEIGHBOURHOOD_LIMIT {
                break;
            }
            frontier.clear();
            for known in &layer {
                taken.insert(known.residual);
                for leaf in self.leaves_of(pool, known.residual) {
                    if met.insert(leaf) {
                        frontier.push(leaf);
                    }
                }
            }
            layers.push(layer);
        }
        layers
    }

    /// Whether an expression holds only derivatives that the previous mode determines: up to their offsets there.
    pub(crate) fn has_left_limits(&mut self, pool: &ExprPool, expression: ExprId) -> bool {
        let Some(previous) = self.change.previous() else {
            return false;
        };
        self.leaves_of(pool, expression).iter().all(|&leaf| match leaf {
            Node::Var { var, order } | Node::Pre { var, order } => {
                previous.offset_of(var).is_some_and(|highest| order <= highest)
            }
            _ => true,
        })
    }

    /// Whether an equation does no more than to determine derivatives beyond those of the previous mode.
    pub(crate) fn is_beyond(&self, known: &Known) -> bool {
        match (known.source, self.change.previous()) {
            (KnownSource::Previous { row, order }, Some(previous)) => order > previous.equation_offset(row),
            _ => false,
        }
    }

    /// Known equations that may hold one of the variables, in a fixed order.
    fn candidates(&self, pool: &mut ExprPool, vars: &FxHashSet<VarId>) -> Vec<Known> {
        let mut found = self.zero_crossings.clone();
        let Some(previous) = self.change.previous() else {
            return found;
        };
        let columns = vars.iter().filter_map(|&var| previous.column_of(var));
        let mut rows: Vec<Row> = columns.flat_map(|column| previous.users(column)).collect();
        rows.sort_unstable();
        rows.dedup();
        for row in rows {
            let residual = previous.equation(row).residual;
            // What stays is differentiated as far as the new mode does.
            let after = self.change.new.find(residual);
            let after = after.map_or(0, |stays| self.change.new.equation_offset(stays));
            let residual = self.change.before_jumps(pool, residual);
            let highest = (previous.equation_offset(row) + self.beyond).max(after);
            for order in 0..=highest {
                let residual = pool.nth_total_derivative(residual, order);
                let source = KnownSource::Previous { row, order };
                found.push(Known { residual, source });
            }
        }
        found
    }

    /// Variables (with their derivative order), left limits and time in an expression; parameters are none.
    fn leaves_of(&mut self, pool: &ExprPool, root: ExprId) -> Vec<Node> {
        let change = self.change;
        self.leaves
            .entry(root)
            .or_insert_with(|| {
                let nodes = pool.reachable(&[root]).into_iter().map(|id| pool.node(id));
                nodes
                    .filter(|node| *node == Node::Time || variable(*node).is_some_and(|var| (change.is_unknown)(var)))
                    .collect()
            })
            .clone()
    }
}

fn variable(node: Node) -> Option<VarId> {
    match node {
        Node::Var { var, .. } | Node::Pre { var, .. } => Some(var),
        _ => None,
    }
}
