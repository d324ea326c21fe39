//! Matching in the quotient graph: equations against classes of variables (step 7).

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{Adjacency, Bipartite, Column, Matcher, Matching, Row, conflicting_set};
use saltus_mdae::VarId;

use super::array::{Array, ArrayLabel, ArrayVariable, EquationSource, Frame, Part, VariableClass};
use crate::colour::{Coloured, mixed};

/// The result of the matching.
#[derive(Clone, Debug)]
pub(crate) struct Quotient {
    classes: Vec<VariableClass>,
    /// d⁻ of the variables.
    past: Arc<FxHashMap<VarId, u16>>,
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
    /// matroid, so this is optimal. Which of several equals stay out is decided by their place in the structure (the
    /// earlier ones and those about higher derivatives come first, then colours decide), not by their order; those whose loss would matter are preferred in turn, until none is lost or all of them are in.
    pub(crate) fn new(array: &Array, frame: Frame) -> Self {
        let classes = required_classes(array, frame);
        let graph = incidence(array, &classes);
        let past = |class: &VariableClass| (class.var, frame.inquiry.past_offset(class.var));
        let past = Arc::new(classes.iter().map(past).collect());
        let mut preferred = FxHashSet::default();
        let mut colours = vec![0; array.candidates.len()];
        let mut best = Self::matched(array, &classes, &past, &graph, &preferred, &colours);
        if best.unmatched.iter().any(|&i| !array.candidates[i].mandatory) {
            colours = candidate_colours(array, frame);
            best = Self::matched(array, &classes, &past, &graph, &preferred, &colours);
        }
        let mut fewest = best.disabled(array).1;
        let mut lost = fewest.clone();
        while best.is_complete() && lost.iter().any(|&i| !preferred.contains(&i)) {
            preferred.extend(lost.iter().copied());
            let next = Self::matched(array, &classes, &past, &graph, &preferred, &colours);
            lost = next.disabled(array).1;
            if lost.len() < fewest.len() {
                fewest.clone_from(&lost);
                best = next;
            }
        }
        best
    }

    fn matched(
        array: &Array,
        classes: &[VariableClass],
        past: &Arc<FxHashMap<VarId, u16>>,
        graph: &Bipartite,
        preferred: &FxHashSet<usize>,
        colours: &[u64],
    ) -> Self {
        let mut order: Vec<usize> = (0..array.candidates.len()).collect();
        order.sort_by_key(|&i| {
            let candidate = &array.candidates[i];
            (
                !candidate.mandatory,
                !preferred.contains(&i),
                candidate.priority,
                candidate.label.instant,
                Reverse(candidate.dependent.iter().map(|v| v.order).max()),
                candidate.label.order,
                colours[i],
            )
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
            past: past.clone(),
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

    /// Candidates in conflict with the given unmatched ones.
    pub(crate) fn conflicting(&self, unmatched: &[usize]) -> Vec<usize> {
        let mut found = FxHashSet::default();
        for &candidate in unmatched {
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

    /// Array variables that enabled head equations and Euler identities determine one after the other from the past.
    fn determined_by_past(&self, array: &Array) -> FxHashSet<ArrayVariable> {
        let heads: Vec<usize> = self
            .enabled()
            .filter(|&i| array.candidates[i].part == Part::Head)
            .collect();
        let mut users: FxHashMap<ArrayVariable, Vec<usize>> = FxHashMap::default();
        let mut open: FxHashMap<usize, usize> = FxHashMap::default();
        let mut ready = Vec::new();
        let mut last = 0;
        for &i in &heads {
            let dependent = &array.candidates[i].dependent;
            for &v in dependent {
                users.entry(v).or_default().push(i);
                last = last.max(v.instant);
            }
            open.insert(i, dependent.len());
            if dependent.len() == 1 {
                ready.push(i);
            }
        }
        let mut determined = FxHashSet::default();
        while let Some(i) = ready.pop() {
            let rest = array.candidates[i].dependent.iter().find(|v| !determined.contains(*v));
            let Some(&variable) = rest else { continue };
            let mut found = vec![variable];
            while let Some(variable) = found.pop() {
                if !determined.insert(variable) {
                    continue;
                }
                found.extend(self.stepped(variable, &determined).filter(|next| next.instant <= last));
                for &user in users.get(&variable).into_iter().flatten() {
                    let count = open.get_mut(&user).expect("a head equation");
                    *count -= 1;
                    if *count == 1 {
                        ready.push(user);
                    }
                }
            }
        }
        determined
    }

    /// What Euler identities give with a variable: `x'^m@k` and `x'^(m+1)@k` determine `x'^m@(k+1)`.
    fn stepped<'a>(
        &'a self,
        variable: ArrayVariable,
        determined: &'a FxHashSet<ArrayVariable>,
    ) -> impl Iterator<Item = ArrayVariable> + use<'a> {
        let ArrayVariable { var, order, instant } = variable;
        let known = |v: &ArrayVariable| {
            let past = self.past.get(&v.var).copied().unwrap_or(0);
            v.order + v.instant < past || determined.contains(v)
        };
        let at = move |order: u16, instant: u16| ArrayVariable { var, order, instant };
        let by_rate = known(&at(order + 1, instant)).then(|| at(order, instant + 1));
        let as_rate = (order > 0 && known(&at(order - 1, instant))).then(|| at(order - 1, instant + 1));
        by_rate.into_iter().chain(as_rate)
    }
}

/// Colours of the candidates: where they sit, what they mention, what mentions that in turn. Instances of the same equation
/// and members of the same variable know of each other.
fn candidate_colours(array: &Array, frame: Frame) -> Vec<u64> {
    let new = frame.inquiry.change.new;
    let mut variables: FxHashMap<ArrayVariable, usize> = FxHashMap::default();
    let mut sources: FxHashMap<EquationSource, usize> = FxHashMap::default();
    let mut families: FxHashMap<VarId, usize> = FxHashMap::default();
    let mut graph = Coloured::default();
    let place = |order: u16, instant: u16| u64::from(order) << 16 | u64::from(instant);
    for candidate in &array.candidates {
        let (part, priority) = (candidate.part as u64, u64::from(candidate.priority));
        graph
            .left
            .push(mixed(mixed(part, priority), u64::from(candidate.mandatory)));
    }
    for (i, candidate) in array.candidates.iter().enumerate() {
        let label = candidate.label;
        let source = *sources.entry(label.source).or_insert_with(|| {
            let offset = match label.source {
                EquationSource::Mode(row) => u64::from(new.equation_offset(row)),
                EquationSource::Transient(_) => 1 << 32,
                EquationSource::Restart(_) => 1 << 33,
            };
            graph.right.push(mixed(1, offset));
            graph.right.len() - 1
        });
        graph
            .edges
            .push((i, source, mixed(2, place(label.order, label.instant))));
        for &variable in &candidate.dependent {
            let known = *variables.entry(variable).or_insert_with(|| {
                let offsets = [
                    frame.inquiry.past_offset(variable.var),
                    new.offset_of(variable.var).unwrap_or(u16::MAX),
                ];
                graph.right.push(mixed(3, place(offsets[0], offsets[1])));
                graph.right.len() - 1
            });
            graph.edges.push((i, known, 4));
            let family = *families.entry(variable.var).or_insert_with(|| {
                graph.left.push(5);
                graph.left.len() - 1
            });
            graph
                .edges
                .push((family, known, mixed(6, place(variable.order, variable.instant))));
        }
    }
    graph.refine();
    graph.left.truncate(array.candidates.len());
    graph.left
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
/// derivatives beyond the tail. A variable that the equations of a transient mode leave out has no value there to be found.
fn required_classes(array: &Array, frame: Frame) -> Vec<VariableClass> {
    let new = frame.inquiry.change.new;
    let mut end: FxHashMap<VarId, u16> = FxHashMap::default();
    let mut begin: FxHashMap<VarId, u16> = FxHashMap::default();
    for (&component, &height) in &frame.heights.of {
        for &column in frame.heights.touched.columns(component) {
            let var = new.unknown(column);
            end.insert(var, height + frame.tail_orders(column));
            if frame.inquiry.is_left_out(var) {
                begin.insert(var, height);
            }
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
        .flat_map(|(var, end)| {
            let begin = begin.get(&var).copied().unwrap_or(0);
            let begin = begin.max(frame.inquiry.past_offset(var));
            (begin..end).map(move |degree| VariableClass { var, degree })
        })
        .collect();
    classes.sort_unstable();
    classes
}
