//! From a singular guess to a regular mode, part by part.
//!
//! Parts of a model that share no unknown are regular or not each for itself: many converters in one model that switch at the
//! same instant need no more guesses than one of them does. Within a part conditions are flipped as long as that leaves
//! fewer equations over, at first one at a time.

use saltus_graph::{BipartiteBuilder, Column, Row, connected_components};
use saltus_mdae::{ConditionId, ConditionKind, Derivative, EquationId, Idx};
use saltus_structure::mode::{ModeFailure, analyze_equations};

use super::iteration::Truths;
use super::search::next_combination;
use crate::engine::Engine;

/// Of so many conditions all pairs, and all triples, are flipped.
const MOST_IN_PAIRS: usize = 40;
const MOST_IN_TRIPLES: usize = 16;

/// An equation or unknown that is left over weighs as much as so many constraints that depend on others.
const LEFT_OVER: usize = 1_000;

/// A part of a model that shares no unknown with others, whatever the mode.
struct Part {
    /// The conditions that select its equations, or stand in them.
    conditions: Vec<ConditionId>,
    equations: Vec<EquationId>,
}

impl Engine {
    /// Flips free conditions until the mode is regular; `None` if that is not found.
    pub(super) fn regularise(&mut self, guess: &Truths, free: &[ConditionId]) -> Option<Truths> {
        let mut current = guess.clone();
        for part in self.parts_of(free) {
            while self.flip_to_less_deficient(&mut current, &part) {}
        }
        let valuation = self.guards_of(&current);
        self.mode_of(&valuation).is_ok().then_some(current)
    }

    /// Flips as few conditions of a part as leave fewer equations over: one, the best; else the first two or three. False
    /// if it is regular, or there are none.
    fn flip_to_less_deficient(&mut self, current: &mut Truths, part: &Part) -> bool {
        let Some(failure) = self.failure_of(current, part) else {
            return false;
        };
        let deficiency = deficiency_of(&failure);
        let candidates = self.concerned(&failure, part);
        let many = candidates.len();
        let at_once = 1 + usize::from(many <= MOST_IN_PAIRS) + usize::from(many <= MOST_IN_TRIPLES);
        for count in 1..=candidates.len().min(at_once) {
            let mut best: Option<(usize, Vec<ConditionId>)> = None;
            let mut chosen: Vec<usize> = (0..count).collect();
            loop {
                let flips: Vec<ConditionId> = chosen.iter().map(|&i| candidates[i]).collect();
                flip(current, &flips);
                let left = self.failure_of(current, part).as_ref().map_or(0, deficiency_of);
                flip(current, &flips);
                if left < deficiency && best.as_ref().is_none_or(|(least, _)| left < *least) {
                    best = Some((left, flips));
                }
                if (count > 1 && best.is_some()) || !next_combination(&mut chosen, candidates.len()) {
                    break;
                }
            }
            if let Some((_, flips)) = best {
                flip(current, &flips);
                return true;
            }
        }
        false
    }

    /// Why a part is singular; `None` if it is regular.
    fn failure_of(&mut self, truths: &Truths, part: &Part) -> Option<ModeFailure> {
        let valuation = self.guards_of(truths);
        let modes = self.compiled.modes();
        let active = modes.active(&valuation);
        let active = active.filter(|equation| part.equations.binary_search(equation).is_ok());
        match analyze_equations(&self.model, modes, &valuation, active.collect()) {
            Ok(_) if self.event.floats => None,
            // A mode whose constraints follow from each other is not entered where a regular one may be consistent.
            Ok(structure) => self.redundancy(&structure),
            Err(failure) => Some(failure),
        }
    }

    /// The conditions of a part that select equations that are too many, or depend on each other; all, if there are none.
    fn concerned(&self, failure: &ModeFailure, part: &Part) -> Vec<ConditionId> {
        let equations: Vec<EquationId> = match failure {
            ModeFailure::Singular { overdetermined, .. } => {
                let equations = overdetermined.iter().flat_map(|piece| &piece.equations);
                equations.copied().collect()
            }
            ModeFailure::DependentConstraints { equations, .. } => equations.clone(),
            ModeFailure::TooManyDifferentiations { .. } => Vec::new(),
        };
        let guards = equations.iter().map(|&equation| self.model.equations[equation].guard);
        let behind: Vec<ConditionId> = guards
            .flat_map(|guard| self.compiled.conditions_behind(guard))
            .collect();
        let is_concerned = |id: &ConditionId| behind.contains(id);
        let concerned: Vec<ConditionId> = part.conditions.iter().copied().filter(is_concerned).collect();
        if concerned.is_empty() {
            part.conditions.clone()
        } else {
            concerned
        }
    }

    /// The parts of the model that some conditions belong to.
    fn parts_of(&self, conditions: &[ConditionId]) -> Vec<Part> {
        let model = &self.model;
        let first = model.variables.len();
        let mut graph = BipartiteBuilder::new(first + model.conditions.len());
        let mut unite = |variables: Vec<Derivative>, behind: Vec<ConditionId>| {
            let unknowns = variables.iter().filter(|leaf| model.is_unknown(leaf.var));
            let free = behind.iter().filter(|id| conditions.contains(id));
            let columns = unknowns
                .map(|leaf| leaf.var.index())
                .chain(free.map(|id| first + id.index()));
            let mut row: Vec<Column> = columns.map(Column::from_index).collect();
            row.sort_unstable();
            row.dedup();
            graph.push_row(row);
        };
        for equation in &model.equations {
            let mut behind = self.compiled.conditions_behind(equation.guard);
            behind.extend(model.pool.conditions_in(equation.residual));
            unite(model.pool.occurrences(equation.residual), behind);
        }
        for (id, condition) in model.conditions.iter_enumerated() {
            if let ConditionKind::Relation { function, .. } = condition.kind {
                unite(model.pool.occurrences(function), vec![id]);
            }
        }
        let components = connected_components(&graph.finish());
        let mut place_of = vec![None; components.len()];
        let mut parts: Vec<Part> = Vec::new();
        for &id in conditions {
            let component = components.of_column(Column::from_index(first + id.index())).index();
            let place = *place_of[component].get_or_insert(parts.len());
            if place == parts.len() {
                parts.push(Part {
                    conditions: Vec::new(),
                    equations: Vec::new(),
                });
            }
            parts[place].conditions.push(id);
        }
        for equation in model.equations.ids() {
            let component = components.of_row(Row::from_index(equation.index())).index();
            if let Some(place) = place_of[component] {
                parts[place].equations.push(equation);
            }
        }
        parts
    }
}

fn flip(truths: &mut Truths, flips: &[ConditionId]) {
    flips.iter().for_each(|&id| truths[id] = !truths[id]);
}

/// How many equations or unknowns are left over, or else how many constraints depend on others.
fn deficiency_of(failure: &ModeFailure) -> usize {
    match failure {
        ModeFailure::Singular {
            equations,
            unknowns,
            structural_rank,
            ..
        } => LEFT_OVER * ((equations - structural_rank) + (unknowns - structural_rank)),
        ModeFailure::DependentConstraints { dependent, .. } => dependent.len().max(1),
        ModeFailure::TooManyDifferentiations { .. } => 1,
    }
}
