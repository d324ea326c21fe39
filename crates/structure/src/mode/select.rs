//! State choice by the numbers: elimination with pivots taken among the least preferred states first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use saltus_mdae::{Derivative, VarId};

use super::choice::{ChoiceGroup, Dependence, GroupSelection};

/// Rounds of exchanges; a few suffice, the bound is for hostile values.
const MAX_ROUNDS: usize = 16;
/// A row whose entries are all below this part of their first size depends on the others.
const ZERO_PIVOT: f64 = 1e-10;
/// A dummy may react this much to a state: no preference justifies more, and beyond it the two change places. Each exchange multiplies |det| of the dummies'
/// Jacobian by more than this, so that exchanges end. While values vary the bound must stay well inside
/// `1/RESELECT_BELOW`, or a fresh choice would at once be renewed; coefficients that never change (a gear of ratio 100)
/// only need protection from singular choices.
const VARYING_REACTION: f64 = 2.0;
const FIXED_REACTION: f64 = 1e4;
/// A choice is renewed when a dummy reacts more than 1/this to a state: errors of the state are then amplified more than
/// threefold in the dummy.
const RESELECT_BELOW: f64 = 0.3;

/// The equations of a group depend on each other at the given values: structure and numbers disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankDeficient {
    /// The stage.
    pub stage: u16,
    /// Positions in the group of equations that depend on the others.
    pub dependent: Vec<u32>,
}

/// Whether a choice whose quality has become `quality` should be renewed.
pub fn needs_reselection(quality: f64) -> bool {
    quality.is_nan() || quality < RESELECT_BELOW
}

/// Chooses the dummies of a group from the values of its Jacobian's entries (in the order of
/// [`ChoiceGroup::entries`]). `preference(x, m)` says how much x^(m) should be a state; among equals the candidate with
/// the best pivot becomes a dummy. The result is the least preferred set of dummies that reacts moderately to the states.
pub fn select_states(
    group: &ChoiceGroup,
    values: &[f64],
    preference: impl Fn(VarId, u16) -> i32,
) -> Result<GroupSelection, RankDeficient> {
    let mut depth = vec![0u16; group.candidates.len()];
    let mut quality: f64 = 1.0;
    let limit = tolerated_reaction(group);
    for stage in 1..=group.stages() {
        let reluctance = |column: u32| {
            let Derivative { var, order: d } = group.candidates[column as usize];
            preference(var, d - stage)
        };
        let mut elimination = Elimination::new(group, values, stage, |column| depth[column as usize] + 1 >= stage);
        elimination
            .run(&reluctance, limit)
            .map_err(|dependent| RankDeficient { stage, dependent })?;
        elimination.exchange(&reluctance, limit);
        elimination.moderate(limit);
        quality = quality.min(elimination.quality(tolerated_reaction(group)));
        for column in elimination.pivot_columns() {
            depth[column as usize] = stage;
        }
    }
    Ok(GroupSelection {
        depth,
        quality: Some(quality),
    })
}

/// How strongly a dummy of a group may react to a state.
fn tolerated_reaction(group: &ChoiceGroup) -> f64 {
    match group.dependence {
        Dependence::Varying => VARYING_REACTION,
        Dependence::Constant | Dependence::Parameter => FIXED_REACTION,
    }
}

/// How good an existing choice is at new values: the reciprocal of the strongest reaction of a dummy to a state, at most 1
/// (where coefficients are fixed, reactions count 1/2500: only nearly singular choices are bad); 0 if it is singular. It depends on the set of dummies alone, not on any order of elimination.
pub fn selection_quality(group: &ChoiceGroup, values: &[f64], selection: &GroupSelection) -> f64 {
    let mut quality: f64 = 1.0;
    for stage in 1..=group.stages() {
        let mut elimination = Elimination::new(group, values, stage, |column| {
            selection.depth[column as usize] + 1 >= stage
        });
        if elimination
            .run_within(&|column| selection.depth[column as usize] >= stage)
            .is_err()
        {
            return 0.0;
        }
        quality = quality.min(elimination.quality(tolerated_reaction(group)));
    }
    quality
}

/// The signs of the determinants by which the dummies of a choice follow from its states, stage by stage; none for a stage
/// that is singular. While a motion goes on in the same coordinates they stay what they are: where one has changed, the dummies
/// were found on another branch of the constraints.
pub fn selection_orientation(group: &ChoiceGroup, values: &[f64], selection: &GroupSelection) -> Vec<Option<bool>> {
    let stages = 1..=group.stages();
    let orientation = |stage: u16| {
        let mut elimination = Elimination::new(group, values, stage, |column| {
            selection.depth[column as usize] + 1 >= stage
        });
        let outcome = elimination.run_within(&|column| selection.depth[column as usize] >= stage);
        outcome.ok().map(|()| elimination.orientation())
    };
    stages.map(orientation).collect()
}

/// Gauss–Jordan elimination by rows, sparse: every finished row holds its pivot and columns that are no pivots.
struct Elimination {
    rows: Vec<Work>,
    /// Finished rows in which a column occurs (superset: entries may have cancelled since).
    occurrences: Vec<Vec<u32>>,
    /// Row whose pivot is in a column.
    pivot_row: Vec<Option<u32>>,
}

struct Work {
    equation: u32,
    entries: BTreeMap<u32, f64>,
    size: f64,
    pivot: Option<u32>,
}

impl Elimination {
    fn new(group: &ChoiceGroup, values: &[f64], stage: u16, admitted: impl Fn(u32) -> bool) -> Self {
        let mut rows: Vec<Work> = Vec::new();
        for (entry, &value) in group.entries.iter().zip(values) {
            if group.equations[entry.row as usize].1 < stage {
                continue;
            }
            if rows.last().is_none_or(|row| row.equation != entry.row) {
                rows.push(Work {
                    equation: entry.row,
                    entries: BTreeMap::new(),
                    size: 0.0,
                    pivot: None,
                });
            }
            if let Some(row) = rows.last_mut()
                && admitted(entry.column)
                && value != 0.0
            {
                row.entries.insert(entry.column, value);
                row.size = row.size.max(value.abs());
            }
        }
        Elimination {
            rows,
            occurrences: vec![Vec::new(); group.candidates.len()],
            pivot_row: vec![None; group.candidates.len()],
        }
    }

    /// Finds a pivot for every row; returns the equations for which there is none.
    fn run(&mut self, reluctance: &impl Fn(u32) -> i32, limit: f64) -> Result<(), Vec<u32>> {
        self.eliminate(|work, counts| {
            let largest = work.largest();
            work.entries
                .iter()
                .filter(|&(_, value)| value.abs() * limit >= largest)
                .min_by(|&(a, x), &(b, y)| {
                    let key = |column: u32| (reluctance(column), counts(column));
                    let by_key = key(*a).cmp(&key(*b));
                    by_key
                        .then(y.abs().total_cmp(&x.abs()))
                        .then(Reverse(a).cmp(&Reverse(b)))
                })
                .map(|(&column, _)| column)
        })
    }

    /// Finds a pivot for every row among the columns that `allowed` accepts.
    fn run_within(&mut self, allowed: &impl Fn(u32) -> bool) -> Result<(), Vec<u32>> {
        self.eliminate(|work, _| {
            let candidates = work.entries.iter().filter(|&(&column, _)| allowed(column));
            candidates
                .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
                .map(|(&column, _)| column)
        })
    }

    fn eliminate(&mut self, choose: impl Fn(&Work, &dyn Fn(u32) -> usize) -> Option<u32>) -> Result<(), Vec<u32>> {
        let mut dependent = Vec::new();
        for at in 0..self.rows.len() {
            self.reduce(at);
            let work = &self.rows[at];
            let largest = work.largest();
            let occurrences = &self.occurrences;
            let counts = |column: u32| occurrences[column as usize].len();
            let pivot = if largest > ZERO_PIVOT * work.size && largest.is_finite() {
                choose(work, &counts)
            } else {
                None
            };
            match pivot {
                Some(column) => self.finish(at, column),
                None => {
                    dependent.push(work.equation);
                    self.rows[at].entries.clear();
                }
            }
        }
        if dependent.is_empty() { Ok(()) } else { Err(dependent) }
    }

    /// Removes the pivots found so far from a row.
    fn reduce(&mut self, at: usize) {
        let entries = self.rows[at].entries.iter();
        let pivots: Vec<(u32, u32, f64)> = entries
            .filter_map(|(&column, &value)| Some((self.pivot_row[column as usize]?, column, value)))
            .collect();
        for (source, column, value) in pivots {
            self.subtract(at, source as usize, column, value);
        }
    }

    /// Row `at` minus the multiple of row `source` that removes `column`, where `source` has its pivot.
    fn subtract(&mut self, at: usize, source: usize, column: u32, value: f64) {
        let entries = std::mem::take(&mut self.rows[source].entries);
        let factor = value / entries[&column];
        let target = &mut self.rows[at];
        let finished = target.pivot.is_some();
        for (&other, &amount) in &entries {
            let entry = target.entries.entry(other).or_insert(0.0);
            let new = *entry - factor * amount;
            let negligible = new.abs() <= 1e-14 * (entry.abs() + (factor * amount).abs());
            if other == column || negligible {
                target.entries.remove(&other);
            } else {
                *entry = new;
                if finished {
                    self.occurrences[other as usize].push(at as u32);
                }
            }
        }
        self.rows[source].entries = entries;
    }

    fn finish(&mut self, at: usize, column: u32) {
        let work = &mut self.rows[at];
        work.pivot = Some(column);
        for &other in work.entries.keys() {
            if other != column {
                self.occurrences[other as usize].push(at as u32);
            }
        }
        self.pivot_row[column as usize] = Some(at as u32);
        let mut users = std::mem::take(&mut self.occurrences[column as usize]);
        users.sort_unstable();
        users.dedup();
        for user in users {
            if user as usize == at {
                continue;
            }
            if let Some(&value) = self.rows[user as usize].entries.get(&column) {
                self.subtract(user as usize, at, column, value);
            }
        }
    }

    /// Exchanges pivots for less preferred states while there are any; each exchange lowers the sum of preferences.
    fn exchange(&mut self, reluctance: &impl Fn(u32) -> i32, limit: f64) {
        for _ in 0..MAX_ROUNDS {
            let mut improved = false;
            for at in 0..self.rows.len() {
                let work = &self.rows[at];
                let Some(pivot) = work.pivot else { continue };
                let largest = work.largest();
                let better = work
                    .entries
                    .iter()
                    .filter(|&(&column, value)| {
                        reluctance(column) < reluctance(pivot) && value.abs() * limit >= largest
                    })
                    .min_by_key(|&(&column, _)| (reluctance(column), Reverse(column)));
                if let Some((&column, _)) = better {
                    self.pivot_row[pivot as usize] = None;
                    self.finish(at, column);
                    improved = true;
                }
            }
            if !improved {
                return;
            }
        }
    }

    /// Exchanges a dummy for a state to which it reacts more than `limit`, strongest first in each row.
    fn moderate(&mut self, limit: f64) {
        for _ in 0..MAX_ROUNDS {
            let mut is_moderate = true;
            for at in 0..self.rows.len() {
                if let Some((pivot, column, reaction)) = self.rows[at].strongest_reaction()
                    && reaction > limit
                {
                    self.pivot_row[pivot as usize] = None;
                    self.finish(at, column);
                    is_moderate = false;
                }
            }
            if is_moderate {
                return;
            }
        }
    }

    /// The reciprocal of the strongest reaction of a dummy to a state, in units in which the tolerated one is
    /// [`VARYING_REACTION`]; at most 1.
    fn quality(&self, tolerated: f64) -> f64 {
        let reactions = self.rows.iter().filter_map(Work::strongest_reaction);
        let strongest = reactions.fold(0.0, |strongest: f64, (.., reaction)| strongest.max(reaction));
        1.0 / (strongest * VARYING_REACTION / tolerated).max(1.0)
    }
    /// Whether the determinant of the columns with pivots, in their order, is positive: subtracting rows does not change it, and
    /// what is left has one entry in each row.
    fn orientation(&self) -> bool {
        let pivots: Vec<u32> = self.pivot_columns().collect();
        let later = pivots.iter().enumerate();
        let inversions = later.map(|(at, column)| pivots[at..].iter().filter(|other| *other < column).count());
        let negative = self
            .rows
            .iter()
            .filter(|row| row.pivot.is_some_and(|pivot| row.entries[&pivot] < 0.0));
        (inversions.sum::<usize>() + negative.count()).is_multiple_of(2)
    }

    fn pivot_columns(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().filter_map(|row| row.pivot)
    }
}

impl Work {
    /// The pivot, the other column with the largest entry, and that entry relative to the pivot.
    fn strongest_reaction(&self) -> Option<(u32, u32, f64)> {
        let pivot = self.pivot?;
        let others = self.entries.iter().filter(|&(&column, _)| column != pivot);
        let (&column, value) = others.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        Some((pivot, column, value.abs() / self.entries.get(&pivot)?.abs()))
    }
    fn largest(&self) -> f64 {
        self.entries
            .values()
            .fold(0.0, |largest, value| largest.max(value.abs()))
    }
}
