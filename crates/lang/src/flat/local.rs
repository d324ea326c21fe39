//! Counting mode by mode. An unknown that stands in branches of one if-equation and nowhere else exists only while such a
//! branch holds, so that branches may have unknowns of their own: mode i has equations f_i in unknowns x_i, class (1) of the
//! LNCS paper.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    EquationKind, FlatEquation, FlatExpr, FlatModel, Variability, VariableId, collect_assigned, count_equations,
};

/// In how many equations unknowns stand.
type Occurrences = FxHashMap<VariableId, usize>;

/// What is left of the equations when those unknowns are taken away that only branches of if-equations have.
#[derive(Debug, Default)]
pub(crate) struct LocalUnknowns {
    /// The unknowns that exist in some branches only.
    pub(crate) unknowns: FxHashSet<VariableId>,
    /// For each equation of the model: least and greatest number of equations for the others, over the branches.
    pub(crate) surplus: Vec<(i64, i64)>,
}

impl LocalUnknowns {
    pub(crate) fn new(model: &FlatModel) -> Self {
        let mut all = Occurrences::default();
        for equation in &model.equations {
            count_occurrences(equation, model, &mut all);
        }
        for algorithm in &model.algorithms {
            let mut assigned = FxHashSet::default();
            collect_assigned(&algorithm.statements, &mut assigned);
            // What an algorithm assigns has a value throughout: it stands in no branch.
            assigned.into_iter().for_each(|v| *all.entry(v).or_default() += 1);
        }
        let mut found = LocalUnknowns::default();
        for equation in &model.equations {
            let (surplus, _) = found.surplus_of(equation, model, &all);
            found.surplus.push(surplus);
        }
        found
    }

    /// Whether in some choice of branches there are as many equations as unknowns that exist there.
    pub(crate) fn is_balanced(&self, model: &FlatModel) -> bool {
        if self.unknowns.is_empty() {
            return false;
        }
        let always = model.unknowns().filter(|id| !self.unknowns.contains(id)).count() as i64;
        let mut assigned = FxHashSet::default();
        for algorithm in &model.algorithms {
            collect_assigned(&algorithm.statements, &mut assigned);
        }
        let by_algorithms = assigned.len() as i64;
        let sum = |a: (i64, i64), b: &(i64, i64)| (a.0 + b.0, a.1 + b.1);
        let (least, most) = self.surplus.iter().fold((by_algorithms, by_algorithms), sum);
        (least..=most).contains(&always)
    }

    fn surplus_of(
        &mut self,
        equation: &FlatEquation,
        model: &FlatModel,
        all: &Occurrences,
    ) -> ((i64, i64), Occurrences) {
        let EquationKind::If { branches, otherwise } = &equation.kind else {
            let (least, most) = count_equations(std::slice::from_ref(equation), model);
            let mut inside = Occurrences::default();
            count_occurrences(equation, model, &mut inside);
            return ((least as i64, most as i64), inside);
        };
        let mut ranges: Vec<((i64, i64), Occurrences)> = Vec::new();
        let mut together = Occurrences::default();
        for body in branches.iter().map(|branch| &branch.body).chain([otherwise]) {
            let (mut range, mut inside) = ((0, 0), Occurrences::default());
            for equation in body {
                let (surplus, occurrences) = self.surplus_of(equation, model, all);
                range = (range.0 + surplus.0, range.1 + surplus.1);
                add(&mut inside, &occurrences);
            }
            add(&mut together, &inside);
            ranges.push((range, inside));
        }
        let here = |id: &VariableId| together.get(id) == all.get(id) && !self.unknowns.contains(id);
        let own: Vec<VariableId> = together.keys().copied().filter(here).collect();
        self.unknowns.extend(&own);
        let left = ranges.into_iter().map(|((least, most), inside)| {
            let taken = own.iter().filter(|id| inside.contains_key(id)).count() as i64;
            (least - taken, most - taken)
        });
        let range = left.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0));
        (range, together)
    }
}

fn add(to: &mut Occurrences, other: &Occurrences) {
    let mut entries: Vec<(&VariableId, &usize)> = other.iter().collect();
    entries.sort_unstable();
    for (&id, &count) in entries {
        *to.entry(id).or_default() += count;
    }
}

/// Counts the equations in which continuous unknowns stand. Conditions do not count: one on an unknown that does not exist
/// says nothing.
fn count_occurrences(equation: &FlatEquation, model: &FlatModel, found: &mut Occurrences) {
    match &equation.kind {
        EquationKind::If { branches, otherwise } => {
            let bodies = branches.iter().map(|branch| &branch.body).chain([otherwise]);
            bodies
                .flatten()
                .for_each(|inner| count_occurrences(inner, model, found));
        }
        EquationKind::When { branches } => {
            let bodies = branches.iter().flat_map(|branch| &branch.body);
            bodies.for_each(|inner| count_occurrences(inner, model, found));
        }
        EquationKind::Equal(lhs, rhs) => {
            let mut inside = FxHashSet::default();
            for side in [lhs, rhs] {
                side.walk(&mut |expr| match expr {
                    FlatExpr::Variable(id) if may_be_local(*id, model) => {
                        inside.insert(*id);
                    }
                    _ => {}
                });
            }
            inside.into_iter().for_each(|id| *found.entry(id).or_default() += 1);
        }
        _ => {}
    }
}

fn may_be_local(id: VariableId, model: &FlatModel) -> bool {
    let variable = &model.variables[id];
    variable.is_unknown() && variable.variability == Variability::Continuous
}
