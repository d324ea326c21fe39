//! Which unknowns are states: the groups of constraints in which there is a choice.
//!
//! At stage s the equations f^(c_f − s) determine x^(d_x − s) (Mattsson and Söderlind, *Index reduction in DAEs using
//! dummy derivatives*, 1993; Pryce 2001). At stage 0 that system is square; at stage s ≥ 1 only the equations with
//! c_f ≥ s are there, and they determine as many of the unknowns: the *dummies* of that stage. The rest are states.
//! An unknown that is a dummy at stage s + 1 is one at stage s, so that a choice is one number per unknown: the depth
//! up to which it is a dummy.

use saltus_graph::{Bipartite, BipartiteBuilder, Column, Matcher, Matching, Row, transposed};
use saltus_mdae::{Derivative, EquationId, VarId};

use super::structure::ModeStructure;
use crate::linear::Coefficient;

/// What the Jacobian of a group depends on.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dependence {
    /// Numbers only: the choice is made once and for all.
    Constant,
    /// Parameters: the choice is made once per run.
    Parameter,
    /// Variables: the choice is made by the values and watched during the run.
    Varying,
}

/// An entry of the Jacobian of a group: ∂f/∂x^(order).
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct ChoiceEntry {
    /// Position of the equation in the group.
    pub row: u32,
    /// Position of the candidate in the group.
    pub column: u32,
    /// σ: the derivative order of the candidate in the undifferentiated equation.
    pub order: u16,
    /// What is known of the entry.
    pub coefficient: Coefficient,
}

/// Constraints that share unknowns, with the unknowns among which the dummies are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceGroup {
    /// The equations with how often they are differentiated (c ≥ 1), in order.
    pub equations: Vec<(EquationId, u16)>,
    /// The candidates with their leading derivative (d ≥ 1), in order.
    pub candidates: Vec<Derivative>,
    /// The Jacobian's entries, by row, then column.
    pub entries: Vec<ChoiceEntry>,
    /// What the Jacobian depends on.
    pub dependence: Dependence,
}

impl ChoiceGroup {
    /// The number of stages.
    pub fn stages(&self) -> u16 {
        self.equations.iter().map(|&(_, c)| c).max().unwrap_or(0)
    }
    /// Whether there is nothing to choose: as many equations as candidates at every stage.
    pub fn is_forced(&self) -> bool {
        (1..=self.stages()).all(|stage| {
            let equations = self.equations.iter().filter(|&&(_, c)| c >= stage).count();
            let candidates = self
                .candidates
                .iter()
                .filter(|&&Derivative { order: d, .. }| d >= stage)
                .count();
            equations == candidates
        })
    }
    /// The values of the entries, if they are numbers.
    pub fn constant_values(&self) -> Option<Vec<f64>> {
        let value = |entry: &ChoiceEntry| match entry.coefficient {
            Coefficient::Constant(value) => Some(value),
            _ => None,
        };
        self.entries.iter().map(value).collect()
    }

    /// A choice by structure and preferences alone: at each stage the set of dummies is the least preferred one that
    /// the equations can be matched to (the matchable sets form a matroid, so the greedy choice is optimal).
    pub fn structural_selection(&self, preference: impl Fn(VarId, u16) -> i32) -> GroupSelection {
        let mut depth = vec![0u16; self.candidates.len()];
        for stage in 1..=self.stages() {
            let graph = self.stage_graph(stage, &depth);
            let by_candidate = transposed(&graph);
            let mut matching = Matching::empty(self.candidates.len(), self.equations.len());
            Matcher::new().augment_in_order(&by_candidate, &mut matching, self.reluctance(stage, &preference));
            for (candidate, _) in matching.pairs() {
                depth[candidate.index()] = stage;
            }
        }
        GroupSelection { depth, quality: None }
    }

    /// Whether the constraints determine all other candidates from the given derivatives, at every stage at which one is
    /// given.
    pub fn is_determined_by(&self, selection: &GroupSelection, given: &[Derivative]) -> bool {
        let stage_of = |&Derivative { var, order }: &Derivative| {
            let candidate = self
                .candidates
                .iter()
                .find(|&&Derivative { var: candidate, .. }| candidate == var);
            candidate.and_then(|&Derivative { order: d, .. }| d.checked_sub(order))
        };
        given.iter().filter_map(stage_of).all(|stage| {
            let candidates = self.candidates.iter().zip(&selection.depth);
            candidates
                .filter(|(Derivative { order: d, .. }, depth)| *d >= stage && **depth < stage)
                .all(|(&Derivative { var, order: d }, _)| given.contains(&Derivative { var, order: d - stage }))
        })
    }

    /// Candidates that should rather be dummies at a stage first.
    fn reluctance(&self, stage: u16, preference: impl Fn(VarId, u16) -> i32) -> Vec<Row> {
        let mut order: Vec<usize> = (0..self.candidates.len())
            .filter(|&i| self.candidates[i].order >= stage)
            .collect();
        order.sort_by_key(|&i| {
            let Derivative { var, order: d } = self.candidates[i];
            (preference(var, d - stage), std::cmp::Reverse(i))
        });
        order.into_iter().map(Row::from_index).collect()
    }

    /// Equations of a stage by the candidates that are dummies at the stage before.
    fn stage_graph(&self, stage: u16, depth: &[u16]) -> Bipartite {
        let mut builder = BipartiteBuilder::new(self.candidates.len());
        let mut entries = self.entries.iter().peekable();
        for (row, &(_, c)) in self.equations.iter().enumerate() {
            let mut columns = Vec::new();
            while let Some(entry) = entries.next_if(|entry| entry.row as usize == row) {
                if c >= stage && depth[entry.column as usize] + 1 >= stage {
                    columns.push(Column(entry.column));
                }
            }
            builder.push_row(columns);
        }
        builder.finish()
    }
}

impl ModeStructure {
    /// The variables that constraints bind to derivatives which are given from outside (by `reinit`); `None` if these
    /// cannot all be states, or leave a choice of what follows.
    pub fn followers(&self, given: &[Derivative]) -> Option<Vec<VarId>> {
        let is_given = |var: VarId| given.iter().any(|&Derivative { var: one, .. }| one == var);
        if given
            .iter()
            .any(|&Derivative { var, order }| self.d_of(var).is_none_or(|d| order >= d))
        {
            return None;
        }
        let mut followers = Vec::new();
        for group in &self.groups {
            if !group.candidates.iter().any(|&Derivative { var, .. }| is_given(var)) {
                continue;
            }
            let selection = group.structural_selection(|var, _| i32::from(is_given(var)));
            let is_state = |(&Derivative { var, order: d }, &depth): (&Derivative, &u16)| {
                given
                    .iter()
                    .all(|&Derivative { var: one, order }| one != var || order + depth < d)
            };
            let mut candidates = group.candidates.iter().zip(&selection.depth);
            if !candidates.all(is_state) || !group.is_determined_by(&selection, given) {
                return None;
            }
            followers.extend(
                group
                    .candidates
                    .iter()
                    .map(|&Derivative { var, .. }| var)
                    .filter(|&var| !is_given(var)),
            );
        }
        followers.sort_unstable();
        followers.dedup();
        Some(followers)
    }
}

/// The choice in one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSelection {
    /// For each candidate, the number of stages at which it is a dummy: x^(d−1), …, x^(d−depth) are solved for, the
    /// lower derivatives are states.
    pub depth: Vec<u16>,
    /// The reciprocal of the strongest reaction of a dummy to a state, at most 1 (best); `None` if no values were looked
    /// at.
    pub quality: Option<f64>,
}

/// The choice in all groups of a mode.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Selection {
    /// By group.
    pub groups: Vec<GroupSelection>,
}
