//! Which right limits are determined when a restart is refused (step 14).

use rustc_hash::FxHashSet;
use saltus_graph::{Adjacency, Bipartite, Column, Matcher, Matching, Row};
use saltus_mdae::Derivative;

use super::array::{ArrayVariable, Frame};
use super::concrete::Concrete;
use super::rescale::{Offsets, Violations};

/// Right limits of states that are determined and those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// States `x'^m`, m < d_x, of the touched components whose right limit is determined.
    pub determined: Vec<Derivative>,
    /// States whose right limit is not.
    pub undetermined: Vec<Derivative>,
    /// Array variables that are not determined.
    pub undetermined_variables: Vec<ArrayVariable>,
}

fn graph_of(concrete: &Concrete) -> Bipartite {
    let rows = concrete.terms.iter().map(|terms| {
        let unknowns = terms.weights().into_keys();
        unknowns.map(Column::from_index).collect::<Vec<_>>()
    });
    Bipartite::from_rows(concrete.unknowns.len(), rows)
}

/// Unknowns reached from the given ones by alternating paths that avoid the removed equations.
fn reached(
    graph: &Bipartite,
    matching: &Matching,
    start: impl IntoIterator<Item = usize>,
    removed: &FxHashSet<usize>,
) -> FxHashSet<usize> {
    let transposed = graph.transposed();
    let mut seen: FxHashSet<usize> = start.into_iter().collect();
    let mut stack: Vec<usize> = seen.iter().copied().collect();
    while let Some(unknown) = stack.pop() {
        for user in transposed.columns_of(Row::from_index(unknown)) {
            if removed.contains(&user.index()) {
                continue;
            }
            if let Some(partner) = matching.column_of(Row(user.0))
                && seen.insert(partner.index())
            {
                stack.push(partner.index());
            }
        }
    }
    seen
}

fn diagnosis(concrete: &Concrete, frame: Frame, seen: &FxHashSet<usize>) -> Diagnosis {
    let new = frame.inquiry.change.new;
    let mut variables: Vec<ArrayVariable> = seen.iter().map(|&unknown| concrete.unknowns[unknown]).collect();
    variables.sort_unstable();
    let mut found = Diagnosis::default();
    for (&component, &instant) in &frame.heights.of {
        for &column in frame.heights.touched.columns(component) {
            let var = new.unknown(column);
            for order in 0..new.unknown_offset(column) {
                let variable = ArrayVariable { var, order, instant };
                match variables.binary_search(&variable) {
                    Ok(_) => found.undetermined.push(Derivative { var, order }),
                    Err(_) => found.determined.push(Derivative { var, order }),
                }
            }
        }
    }
    found.determined.sort_unstable();
    found.undetermined.sort_unstable();
    found.undetermined_variables = variables;
    found
}

/// No complete matching: the underdetermined Dulmage–Mendelsohn part of the Euler-closed array.
pub(crate) fn of_structure(concrete: &Concrete, frame: Frame) -> Diagnosis {
    let graph = graph_of(concrete);
    let matching = Matcher::new().maximum(&graph);
    let free: Vec<usize> = matching.unmatched_columns().map(|column| column.index()).collect();
    let seen = reached(&graph, &matching, free, &FxHashSet::default());
    diagnosis(concrete, frame, &seen)
}

/// (52) or (53) violated: drop the equations matched to the violators (generalised corollary 1 of RR-9603). Returns
/// the diagnosis and the equations that still determine their unknowns.
pub(crate) fn of_violations(
    concrete: &Concrete,
    offsets: &Offsets,
    violations: &Violations,
    frame: Frame,
) -> (Diagnosis, Vec<usize>) {
    let graph = graph_of(concrete);
    let mut matching = Matching::empty(graph.row_count(), graph.column_count());
    for (equation, &unknown) in offsets.partner.iter().enumerate() {
        matching.insert(Row::from_index(equation), Column::from_index(unknown));
    }
    let violators = violations.tail.iter().chain(&violations.outside);
    let bad: Vec<usize> = violators
        .filter_map(|variable| concrete.unknowns.binary_search(variable).ok())
        .collect();
    let equation_of = |unknown: &usize| matching.row_of(Column::from_index(*unknown)).map(|row| row.index());
    let removed: FxHashSet<usize> = bad.iter().filter_map(equation_of).collect();
    let seen = reached(&graph, &matching, bad, &removed);
    let sound = (0..concrete.equations.len()).filter(|&equation| !seen.contains(&offsets.partner[equation]));
    (diagnosis(concrete, frame, &seen), sound.collect())
}
