//! Matching in the quotient graph: equations against classes of variables (step 7).

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{Adjacency, Bipartite, Column, Matcher, Matching, Row, conflicting_set};
use saltus_mdae::VarId;

use super::array::{Array, ArrayLabel, ArrayVariable, Frame, Part, VariableClass};

/// The result of the matching.
#[derive(Clone, Debug)]
pub(crate) struct Quotient {
    classes: Vec<VariableClass>,
    graph: Bipartite,
    matching: Matching,
    /// Candidates without a partner.
    unmatched: Vec<usize>,
    /// Unmatched mandatory candidates.
    pub(crate) over: Vec<usize>,
    /// Mandatory past-only equations that do not hold.
    pub(crate) broken: Vec<ArrayLabel>,
    /// Classes that no equation determines.
    pub(crate) under: Vec<VariableClass>,
}

impl Quotient {
    /// Matches mandatory equations first, then optional ones by priority. The matchable sets form a transversal
    /// matroid, so this is optimal. Among equals the order decides which ones stay out: those whose loss would matter are
    /// preferred in turn, until none is lost or all of them are in.
    pub(crate) fn new(array: &Array, frame: Frame) -> Self {
        let classes = required_classes(array, frame);
        let graph = incidence(array, &classes);
        let mut preferred = FxHashSet::default();
        let mut best = Self::matched(array, &classes, &graph, &preferred);
        let mut fewest = best.disabled(array).1;
        let mut lost = fewest.clone();
        while best.is_complete() && lost.iter().any(|&i| !preferred.contains(&i)) {
            preferred.extend(lost.iter().copied());
            let next = Self::matched(array, &classes, &graph, &preferred);
            lost = next.disabled(array).1;
            if lost.len() < fewest.len() {
                fewest.clone_from(&lost);
                best = next;
            }
        }
        best
    }

    fn matched(array: &Array, classes: &[VariableClass], graph: &Bipartite, preferred: &FxHashSet<usize>) -> Self {
        let mut order: Vec<usize> = (0..array.candidates.len()).collect();
        order.sort_by_key(|&i| {
            let candidate = &array.candidates[i];
            (!candidate.mandatory, !preferred.contains(&i), candidate.priority)
        });
        let mut matching = Matching::empty(graph.row_count(), graph.column_count());
        let order = order.into_iter().map(Row::from_index);
        let free = Matcher::new().augment_in_order(graph, &mut matching, order);
        let unmatched: Vec<usize> = free.into_iter().map(|row| row.index()).collect();
        let mandatory_past = array.past_only.iter().filter(|(_, mandatory)| *mandatory);
        Quotient {
            over: unmatched
                .iter()
                .copied()
                .filter(|&i| array.candidates[i].mandatory)
                .collect(),
            broken: mandatory_past.map(|(label, _)| *label).collect(),
            under: matching
                .unmatched_columns()
                .map(|column| classes[column.index()])
                .collect(),
            unmatched,
            classes: classes.to_vec(),
            graph: graph.clone(),
            matching,
        }
    }

    /// Whether all mandatory equations and all classes are matched.
    pub(crate) fn is_complete(&self) -> bool {
        self.over.is_empty() && self.broken.is_empty() && self.under.is_empty()
    }

    /// The number of unmatched mandatory equations.
    pub(crate) fn over_count(&self) -> usize {
        self.over.len() + self.broken.len()
    }

    /// The class that a candidate determines.
    pub(crate) fn class_of(&self, candidate: usize) -> Option<VariableClass> {
        let column = self.matching.column_of(Row::from_index(candidate))?;
        Some(self.classes[column.index()])
    }

    /// The enabled candidates.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.graph.row_count()).filter(|&i| self.matching.column_of(Row::from_index(i)).is_some())
    }

    /// Candidates in conflict with the unmatched mandatory ones.
    pub(crate) fn conflicting(&self) -> Vec<usize> {
        let mut found = FxHashSet::default();
        for &candidate in &self.over {
            let set = conflicting_set(&self.graph, &self.matching, Row::from_index(candidate));
            found.extend(set.rows.into_iter().map(|row| row.index()));
        }
        let mut found: Vec<usize> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// Variables with a class on an alternating path from an undetermined one.
    pub(crate) fn undetermined_variables(&self) -> FxHashSet<VarId> {
        let transposed = self.graph.transposed();
        let mut seen: FxHashSet<Column> = self.matching.unmatched_columns().collect();
        let mut stack: Vec<Column> = seen.iter().copied().collect();
        while let Some(column) = stack.pop() {
            for user in transposed.columns_of(Row(column.0)) {
                if let Some(partner) = self.matching.column_of(Row(user.0))
                    && seen.insert(partner)
                {
                    stack.push(partner);
                }
            }
        }
        seen.into_iter()
            .map(|column| self.classes[column.index()].var)
            .collect()
    }

    /// Disabled optional candidates, split into those whose variables the past determines through head equations, and
    /// the *lossy* rest.
    pub(crate) fn disabled(&self, array: &Array) -> (Vec<usize>, Vec<usize>) {
        let determined = self.determined_by_past(array);
        let optional = self.unmatched.iter().copied();
        optional
            .filter(|&i| !array.candidates[i].mandatory)
            .partition(|&i| array.candidates[i].dependent.iter().all(|v| determined.contains(v)))
    }

    /// Array variables that enabled head equations determine one after the other from the past.
    fn determined_by_past(&self, array: &Array) -> FxHashSet<ArrayVariable> {
        let heads: Vec<usize> = self
            .enabled()
            .filter(|&i| array.candidates[i].part == Part::Head)
            .collect();
        let mut users: FxHashMap<ArrayVariable, Vec<usize>> = FxHashMap::default();
        let mut open: FxHashMap<usize, usize> = FxHashMap::default();
        let mut ready = Vec::new();
        for &i in &heads {
            let dependent = &array.candidates[i].dependent;
            dependent.iter().for_each(|&v| users.entry(v).or_default().push(i));
            open.insert(i, dependent.len());
            if dependent.len() == 1 {
                ready.push(i);
            }
        }
        let mut determined = FxHashSet::default();
        while let Some(i) = ready.pop() {
            let rest = array.candidates[i].dependent.iter().find(|v| !determined.contains(*v));
            let Some(&variable) = rest else { continue };
            determined.insert(variable);
            for &user in &users[&variable] {
                let count = open.get_mut(&user).expect("a head equation");
                *count -= 1;
                if *count == 1 {
                    ready.push(user);
                }
            }
        }
        determined
    }
}

/// Which classes each candidate mentions.
fn incidence(array: &Array, classes: &[VariableClass]) -> Bipartite {
    let number: FxHashMap<VariableClass, usize> = classes.iter().enumerate().map(|(i, &c)| (c, i)).collect();
    let row = |dependent: &[ArrayVariable]| {
        let mut columns: Vec<Column> = dependent
            .iter()
            .map(|variable| Column::from_index(number[&variable.class()]))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    };
    let rows = array.candidates.iter().map(|candidate| row(&candidate.dependent));
    Bipartite::from_rows(classes.len(), rows)
}

/// Classes (x, D) with d⁻_x ≤ D < K + d_x, and what else the equations mention: variables of a transient mode only,
/// derivatives beyond the tail.
fn required_classes(array: &Array, frame: Frame) -> Vec<VariableClass> {
    let new = frame.inquiry.change.new;
    let mut end: FxHashMap<VarId, u16> = FxHashMap::default();
    for (&component, &height) in &frame.heights.of {
        for &column in frame.heights.touched.columns(component) {
            end.insert(new.unknown(column), height + frame.tail_orders(column));
        }
    }
    for candidate in &array.candidates {
        for variable in &candidate.dependent {
            let known = end.entry(variable.var).or_insert(0);
            *known = (*known).max(variable.class().degree + 1);
        }
    }
    let mut classes: Vec<VariableClass> = end
        .into_iter()
        .flat_map(|(var, end)| (frame.inquiry.past_offset(var)..end).map(move |degree| VariableClass { var, degree }))
        .collect();
    classes.sort_unstable();
    classes
}
