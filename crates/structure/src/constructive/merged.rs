//! Reactions under many valuations at once.
//!
//! With n predicates there are 2ⁿ valuations, and most of them go the same way. A *front* is a set of valuations in which the
//! same is known and the same is left to do: sets are decision diagrams, as for all modes at once. Predicates are evaluated one
//! at a time, so that the consequences of one are drawn before the next; fronts that have come to the same point by different
//! ways are one again. What each way has solved is kept as the set of valuations in which it was: latent equations and the facts
//! of the next instant depend on it, and divide fronts where they differ.
//!
//! The verdict does not depend on whether predicates are evaluated together or one after the other; the steps that are told of
//! a front are those that all its ways have in common.

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::{EquationId, Idx, VarId};

use super::graph::Pending;
use super::reaction::{End, Finished, Progress, Reactor, Step, blocked_by, not_closed};
use super::system::{EquationKind, Shifted, ShiftedEquation, System};
use crate::all_modes::words::{Description, describe};
use crate::all_modes::{
    AllModes, Budget, GuardedEntry, GuardedRow, GuardedSystem, ModeSet, ModeSpace, analyze_all_modes,
};
use crate::formula::{Formula, PredicateId};

/// Equations of fronts that are gone through, of all instants together.
const MOST_WORK: usize = 4_000_000;
/// Combinations of predicates that are told of one way to go on.
const MOST_COMBINATIONS: usize = 16;

/// The valuations of the predicates, as sets.
pub(super) struct Valuations {
    pub space: ModeSpace,
    /// Those that the invariants admit.
    pub admitted: ModeSet,
    /// Some in each set of singular modes.
    pub singular: Vec<Vec<bool>>,
    guards: Vec<ModeSet>,
    /// What may still be gone through.
    work: usize,
}

impl Valuations {
    /// Looks at all modes of a system; `None` if they differ in too many ways.
    pub(super) fn new(system: &System) -> Option<Self> {
        let mut all = analyze_all_modes(&guarded(system), Budget::default()).ok()?;
        let possible = all.possible.clone();
        let admitted = all.space.conjunction(possible);
        let singular = singular_modes(&mut all, admitted);
        let mut space = all.space;
        let guards = system.equations.iter().map(|equation| space.formula(&equation.guard));
        let guards = guards.collect();
        (!space.is_exhausted()).then_some(Valuations {
            space,
            admitted,
            singular,
            guards,
            work: MOST_WORK,
        })
    }

    /// Where a guard is decided whatever the predicates are that are not evaluated: true, and false.
    fn decided(&mut self, equation: EquationId, evaluated: &BTreeSet<PredicateId>) -> (ModeSet, ModeSet) {
        let guard = self.guards[equation.index()];
        let (mut holds, mut fails) = (guard, guard.complement());
        for predicate in self.space.support(guard) {
            if !evaluated.contains(&predicate) {
                holds = self.whatever(holds, predicate);
                fails = self.whatever(fails, predicate);
            }
        }
        (holds, fails)
    }

    fn whatever(&mut self, set: ModeSet, predicate: PredicateId) -> ModeSet {
        let (without, with) = (
            self.space.given(set, predicate, false),
            self.space.given(set, predicate, true),
        );
        self.space.and(without, with)
    }

    /// The parts of a set inside and outside another, those that are not empty.
    fn divided(&mut self, parts: Vec<ModeSet>, by: ModeSet) -> Vec<ModeSet> {
        let mut divided = Vec::new();
        for part in parts {
            let (inside, outside) = (self.space.and(part, by), self.space.and_not(part, by));
            divided.extend([inside, outside].into_iter().filter(|part| !part.is_empty()));
        }
        divided
    }
}

fn guarded(system: &System) -> GuardedSystem {
    let unknowns = system
        .variables()
        .into_iter()
        .map(VarId::index)
        .max()
        .map_or(0, |last| last + 1);
    let rows = system.equations.iter().map(|equation| {
        let entries = equation.variables.iter().map(|&(var, order)| GuardedEntry {
            unknown: var.index() as u32,
            order,
            when: Formula::Constant(true),
        });
        GuardedRow {
            guard: equation.guard.clone(),
            entries: entries.collect(),
        }
    });
    GuardedSystem {
        conditions: system.predicates.len(),
        invariants: system.invariants.clone(),
        unknowns,
        rows: rows.collect(),
    }
}

fn singular_modes(all: &mut AllModes, admitted: ModeSet) -> Vec<Vec<bool>> {
    let mut found: Vec<Vec<bool>> = Vec::new();
    let mut told = ModeSet::NONE;
    for part in all.decomposition.singular_parts() {
        let part = all.space.and(part, admitted);
        let fresh = all.space.and_not(part, told);
        if !fresh.is_empty() {
            found.push(all.space.first_mode(fresh));
            told = all.space.or(told, part);
        }
    }
    found
}

/// What has been done and what is left; equal fronts are one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    /// How far it is: grows with every step.
    progress: usize,
    evaluated: BTreeSet<PredicateId>,
    known: BTreeSet<Shifted>,
    undecided: BTreeSet<EquationId>,
    /// Active equations that are not solved.
    open: BTreeSet<ShiftedEquation>,
    /// Those of them that are latent.
    latent: BTreeSet<ShiftedEquation>,
    /// Shifts and latent equations so far.
    operations: usize,
}

/// The valuations that have come to a point, and how.
#[derive(Clone)]
struct Front {
    valuations: ModeSet,
    active: BTreeMap<EquationId, ModeSet>,
    solved: BTreeMap<ShiftedEquation, ModeSet>,
    steps: Vec<Step>,
}

impl Reactor<'_> {
    /// All reactions from the start state, for sets of valuations; `None` if there are too many ways to go on.
    pub(super) fn run_merged(&self, valuations: &mut Valuations) -> Option<Vec<Finished>> {
        let mut run = Merged {
            reactor: self,
            valuations,
            fronts: BTreeMap::new(),
            finished: Vec::new(),
        };
        run.start();
        while let Some((point, front)) = run.fronts.pop_first() {
            run.valuations.work = run.valuations.work.saturating_sub(self.system.equations.len());
            if run.valuations.work == 0 || run.valuations.space.is_exhausted() {
                return None;
            }
            run.round(point, front);
        }
        Some(run.finished)
    }
}

struct Merged<'a, 'r> {
    reactor: &'a Reactor<'r>,
    valuations: &'a mut Valuations,
    fronts: BTreeMap<Point, Front>,
    finished: Vec<Finished>,
}

impl Merged<'_, '_> {
    fn start(&mut self) {
        let equations = (0..self.reactor.system.equations.len()).map(EquationId::from_usize);
        let point = Point {
            progress: 0,
            evaluated: BTreeSet::new(),
            known: self.reactor.start.known.clone(),
            undecided: equations.clone().collect(),
            open: BTreeSet::new(),
            latent: BTreeSet::new(),
            operations: 0,
        };
        let front = Front {
            valuations: self.valuations.admitted,
            active: BTreeMap::new(),
            solved: BTreeMap::new(),
            steps: Vec::new(),
        };
        self.decide(point, front, &equations.collect::<Vec<_>>());
    }

    fn add(&mut self, mut point: Point, front: Front) {
        point.progress = point.known.len() + point.evaluated.len() + point.operations;
        match self.fronts.get_mut(&point) {
            None => {
                self.fronts.insert(point, front);
            }
            Some(known) => {
                let space = &mut self.valuations.space;
                known.valuations = space.or(known.valuations, front.valuations);
                for (equation, modes) in front.active {
                    let of = known.active.entry(equation).or_insert(ModeSet::NONE);
                    *of = space.or(*of, modes);
                }
                for (key, modes) in front.solved {
                    let of = known.solved.entry(key).or_insert(ModeSet::NONE);
                    *of = space.or(*of, modes);
                }
                known.steps.retain(|step| front.steps.contains(step));
            }
        }
    }

    fn round(&mut self, mut point: Point, mut front: Front) {
        let incidence: Vec<(ShiftedEquation, Vec<Shifted>)> = point
            .open
            .iter()
            .map(|&key| (key, self.reactor.unknowns_beyond(&point.known, key)))
            .collect();
        let (pending, stuck): (Vec<_>, Vec<_>) = incidence.into_iter().partition(|(_, unknowns)| !unknowns.is_empty());
        let graph = Pending::new(&pending);
        let mut enabled = graph.enabled();
        enabled.retain(|(equations, unknowns)| self.reactor.has_both_sides(equations, unknowns));
        let height = |unknowns: &[Shifted]| unknowns.iter().map(|&(_, order)| order).max().unwrap_or(0);
        if let Some(lowest) = enabled.iter().map(|(_, unknowns)| height(unknowns)).min() {
            for (equations, unknowns) in enabled {
                if height(&unknowns) == lowest {
                    for &key in &equations {
                        point.open.remove(&key);
                        point.latent.remove(&key);
                        let of = front.solved.entry(key).or_insert(ModeSet::NONE);
                        *of = self.valuations.space.or(*of, front.valuations);
                    }
                    point.known.extend(&unknowns);
                    front.steps.push(Step::Solve { equations, unknowns });
                }
            }
            return self.add(point, front);
        }
        if let Some(predicate) = self.evaluable(&point) {
            point.evaluated.insert(predicate);
            let system = self.reactor.system;
            let about = |equation: &EquationId| {
                system.equations[equation.index()]
                    .guard
                    .predicates()
                    .contains(&predicate)
            };
            let affected: Vec<EquationId> = point.undecided.iter().copied().filter(about).collect();
            return self.decide(point, front, &affected);
        }
        if !stuck.is_empty() {
            let stuck = stuck.into_iter().map(|(key, _)| key).collect();
            return self.shift(point, front, stuck);
        }
        match (pending.is_empty(), point.undecided.is_empty()) {
            (_, false) => {
                let all = (0..self.reactor.system.predicates.len()).map(PredicateId::from_usize);
                let open = all.filter(|predicate| !point.evaluated.contains(predicate)).collect();
                self.finish(&point, &front, front.valuations, End::Failed(blocked_by(open)));
            }
            (true, true) => self.complete(&point, &front),
            (false, true) => self.add_latent(&point, &front, &pending, &graph),
        }
    }

    /// The next predicate that can be evaluated, in the order of the sets.
    fn evaluable(&self, point: &Point) -> Option<PredicateId> {
        let predicates = &self.reactor.system.predicates;
        let levels = (0..predicates.len() as u32).map(|level| self.valuations.space.condition_at(level));
        let mut open = levels.filter(|predicate| !point.evaluated.contains(predicate));
        open.find(|predicate| {
            predicates[predicate.index()]
                .iter()
                .all(|read| point.known.contains(read))
        })
    }

    /// Divides a front by what the guards of some equations say now.
    fn decide(&mut self, point: Point, front: Front, equations: &[EquationId]) {
        let mut parts = vec![front.valuations];
        let mut decided = Vec::new();
        for &equation in equations {
            let (holds, fails) = self.valuations.decided(equation, &point.evaluated);
            parts = self.valuations.divided(parts, holds);
            parts = self.valuations.divided(parts, fails);
            decided.push((equation, holds, fails));
        }
        for part in parts {
            let (mut point, mut front) = (point.clone(), front.clone());
            front.valuations = part;
            for sets in [
                front.active.values_mut().collect::<Vec<_>>(),
                front.solved.values_mut().collect(),
            ] {
                for set in sets {
                    *set = self.valuations.space.and(*set, part);
                }
            }
            for &(equation, holds, fails) in &decided {
                if self.valuations.space.is_within(part, holds) {
                    point.undecided.remove(&equation);
                    point.open.insert((equation, 0));
                    front.active.insert(equation, part);
                } else if self.valuations.space.is_within(part, fails) {
                    point.undecided.remove(&equation);
                }
            }
            self.add(point, front);
        }
    }

    /// Algorithm 8.
    fn shift(&mut self, mut point: Point, mut front: Front, stuck: Vec<ShiftedEquation>) {
        let shifted = match self.reactor.to_shift(stuck) {
            Ok(shifted) => shifted,
            Err(failure) => return self.finish(&point, &front, front.valuations, End::Failed(failure)),
        };
        for key in shifted {
            let (equation, shifts) = key;
            front.steps.push(Step::Shift {
                equation: key,
                is_fact: self.reactor.start.facts.contains(&key),
            });
            point.open.remove(&key);
            point.open.insert((equation, shifts + 1));
            if point.latent.remove(&key) {
                point.latent.insert((equation, shifts + 1));
            }
            point.operations += 1;
        }
        self.add(point, front);
    }

    /// Algorithm 9: valuations in which the same equations could be added go on together.
    fn add_latent(
        &mut self,
        point: &Point,
        front: &Front,
        pending: &[(ShiftedEquation, Vec<Shifted>)],
        graph: &Pending,
    ) {
        let candidates = self.candidates(point, front, pending, graph);
        let mut left = front.valuations;
        while !left.is_empty() && !self.valuations.space.is_exhausted() {
            let mode = self.valuations.space.first_mode(left);
            let holds = |predicate: PredicateId| mode[predicate.index()];
            let mut part = left;
            let mut here = Vec::new();
            for &(height, key, modes) in &candidates {
                if self.valuations.space.contains(modes, holds) {
                    here.push((height, key));
                    part = self.valuations.space.and(part, modes);
                } else {
                    part = self.valuations.space.and_not(part, modes);
                }
            }
            left = self.valuations.space.and_not(left, part);
            let progress = self.progress(point, front, &mode);
            let Some(key) = self.reactor.lowest(&progress, here) else {
                self.finish(point, front, part, End::Failed(not_closed(pending, graph)));
                continue;
            };
            let (mut point, mut front) = (point.clone(), front.clone());
            front.valuations = part;
            for set in front.active.values_mut().chain(front.solved.values_mut()) {
                *set = self.valuations.space.and(*set, part);
            }
            front.steps.push(Step::Latent(key));
            point.open.insert(key);
            point.latent.insert(key);
            point.operations += 1;
            self.add(point, front);
        }
    }

    /// Shifts that have an unknown, add none, and raise the maximum matching, with the valuations in which they are the next.
    fn candidates(
        &mut self,
        point: &Point,
        front: &Front,
        pending: &[(ShiftedEquation, Vec<Shifted>)],
        graph: &Pending,
    ) -> Vec<(u16, ShiftedEquation, ModeSet)> {
        let mut found = Vec::new();
        for (&equation, &active) in &front.active {
            let of_equation = (equation, 0)..=(equation, u16::MAX);
            let mut highest: BTreeMap<u16, ModeSet> = BTreeMap::from([(0, ModeSet::ALL)]);
            for (&(_, shifts), &modes) in front.solved.range(of_equation.clone()) {
                highest.insert(shifts, modes);
            }
            for &(_, shifts) in point.open.range(of_equation) {
                highest.insert(shifts, ModeSet::ALL);
            }
            let mut left = self.valuations.space.and(active, front.valuations);
            for (&shifts, &modes) in highest.iter().rev() {
                let modes = self.valuations.space.and(left, modes);
                left = self.valuations.space.and_not(left, modes);
                if modes.is_empty() {
                    continue;
                }
                let key = (equation, shifts + 1);
                let unknowns = self.reactor.unknowns_beyond(&point.known, key);
                if let Some(height) = self.reactor.latent_height(key, unknowns, pending, graph) {
                    found.push((height, key, modes));
                }
            }
        }
        found
    }

    /// A front as the reaction of one of its valuations.
    fn progress(&self, point: &Point, front: &Front, mode: &[bool]) -> Progress {
        let holds = |predicate: PredicateId| mode[predicate.index()];
        let solved = front.solved.iter();
        let solved: BTreeSet<ShiftedEquation> = solved
            .filter(|(_, modes)| self.valuations.space.contains(**modes, holds))
            .map(|(key, _)| *key)
            .collect();
        let mut shift = BTreeMap::new();
        for &(equation, shifts) in point.open.difference(&point.latent) {
            shift.insert(equation, shifts);
        }
        let valuation = mode.iter().enumerate();
        let evaluated = |at: usize| point.evaluated.contains(&PredicateId::from_usize(at));
        let valuation = valuation.map(|(at, &value)| evaluated(at).then_some(value));
        Progress::at(
            point.known.clone(),
            valuation.collect(),
            shift,
            point.latent.clone(),
            solved,
        )
    }

    /// Everything is determined; what goes on in the same start state, with or without events, goes on together.
    fn complete(&mut self, point: &Point, front: &Front) {
        let equations = &self.reactor.system.equations;
        let event = |equation: EquationId| equations[equation.index()].kind == EquationKind::Event;
        let events = front.active.iter().filter(|(equation, _)| event(**equation));
        let events = self.valuations.space.union(events.map(|(_, &modes)| modes));
        let facts: Vec<ModeSet> = front
            .solved
            .iter()
            .filter(|((_, s), _)| *s > 0)
            .map(|(_, &modes)| modes)
            .collect();
        let mut left = front.valuations;
        while !left.is_empty() && !self.valuations.space.is_exhausted() {
            let mode = self.valuations.space.first_mode(left);
            let holds = |predicate: PredicateId| mode[predicate.index()];
            let mut part = left;
            for &set in facts.iter().chain([&events]) {
                part = if self.valuations.space.contains(set, holds) {
                    self.valuations.space.and(part, set)
                } else {
                    self.valuations.space.and_not(part, set)
                };
            }
            left = self.valuations.space.and_not(left, part);
            let progress = self.progress(point, front, &mode);
            let mut live = BTreeSet::new();
            let mut dead_equations = Vec::new();
            for (at, equation) in equations.iter().enumerate() {
                let id = EquationId::from_usize(at);
                let active = front.active.get(&id).copied().unwrap_or(ModeSet::NONE);
                if self.valuations.space.intersects(active, part) {
                    live.extend(equation.variables.iter().map(|&(var, _)| var));
                } else {
                    dead_equations.push(id);
                }
            }
            let end = End::Completed {
                next: self.reactor.next_start(&progress),
                dead_equations,
                dead_variables: self.reactor.system.variables().difference(&live).copied().collect(),
                event: self.valuations.space.contains(events, holds),
            };
            self.finish(point, front, part, end);
        }
    }

    /// A way that ends, told by combinations of the predicates that were evaluated.
    fn finish(&mut self, point: &Point, front: &Front, part: ModeSet, end: End) {
        let count = self.reactor.system.predicates.len();
        let admitted = self.valuations.admitted;
        let described = describe(&mut self.valuations.space, part, admitted, MOST_COMBINATIONS);
        let cubes = match described {
            Description::Any { cubes, .. } if cubes.len() <= MOST_COMBINATIONS => cubes,
            _ => vec![Vec::new()],
        };
        for cube in cubes {
            let mut valuation = vec![None; count];
            for (predicate, value) in cube {
                if point.evaluated.contains(&predicate) {
                    valuation[predicate.index()] = Some(value);
                }
            }
            self.finished.push(Finished {
                valuation,
                steps: front.steps.clone(),
                end: end.clone(),
            });
        }
    }
}
