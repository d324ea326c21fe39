//! One instant: from a start state, through every valuation of the guards, to the next start states.

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::{EquationId, Idx, VarId};

use super::graph::Pending;
use super::symmetry::equation_colours;
use super::system::{EquationKind, Shifted, ShiftedEquation, System};
use crate::formula::PredicateId;

/// What a reaction does, step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A block is solved (Algorithm 5).
    Solve {
        /// The equations.
        equations: Vec<ShiftedEquation>,
        /// What they determine.
        unknowns: Vec<Shifted>,
    },
    /// Predicates get their values (Algorithm 6).
    Evaluate(Vec<(PredicateId, bool)>),
    /// All variables of an equation are known: its next shift takes its place (Algorithm 8).
    Shift {
        /// The equation as it was.
        equation: ShiftedEquation,
        /// Whether it was established at the previous instant; if not, a state jumps (an impulsive reset).
        is_fact: bool,
    },
    /// A latent equation is added (Algorithm 9).
    Latent(ShiftedEquation),
}

/// Why a reaction gets stuck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Equations have no unknown left although their arguments were determined at this very instant.
    NothingLeft {
        /// The equations.
        equations: Vec<ShiftedEquation>,
    },
    /// Equations would have to be shifted without end.
    ShiftBound {
        /// The equations.
        equations: Vec<EquationId>,
    },
    /// More equations than unknowns.
    Overdetermined {
        /// The equations.
        equations: Vec<ShiftedEquation>,
    },
    /// No latent equation closes the system.
    Underdetermined {
        /// What is not determined.
        unknowns: Vec<Shifted>,
        /// The equations between them.
        equations: Vec<ShiftedEquation>,
    },
    /// Guards depend on what they switch: a logico-numerical fixpoint.
    Blocked {
        /// The predicates that cannot be evaluated.
        predicates: Vec<PredicateId>,
    },
}

/// How a reaction ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is determined.
    Completed {
        /// The start state of the next instant.
        to: usize,
        /// Equations that are not active.
        dead_equations: Vec<EquationId>,
        /// Variables of no active equation.
        dead_variables: Vec<VarId>,
        /// Whether an event equation is active.
        event: bool,
    },
    /// The valuation contradicts an invariant.
    Excluded,
    /// It got stuck.
    Failed(Failure),
}

/// The reaction from one start state under one valuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// The start state.
    pub from: usize,
    /// The predicates that were evaluated.
    pub valuation: Vec<Option<bool>>,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// How it ends.
    pub outcome: Outcome,
}

impl Reaction {
    /// The solved blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = (&[ShiftedEquation], &[Shifted])> {
        self.steps.iter().filter_map(|step| match step {
            Step::Solve { equations, unknowns } => Some((&equations[..], &unknowns[..])),
            _ => None,
        })
    }
    /// The equations that make a state jump.
    pub fn resets(&self) -> Vec<ShiftedEquation> {
        let resets = self.steps.iter().filter_map(|step| match step {
            Step::Shift {
                equation,
                is_fact: false,
            } => Some(*equation),
            _ => None,
        });
        resets.collect()
    }
    /// Whether a state jumps.
    pub fn has_reset(&self) -> bool {
        !self.resets().is_empty()
    }
    /// The greatest number of shifts of any solved equation.
    pub fn max_shift(&self) -> u16 {
        let solved = self.blocks().flat_map(|(equations, _)| equations);
        solved.map(|&(_, shifts)| shifts).max().unwrap_or(0)
    }
}

/// What is known and what holds when an instant begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StartState {
    pub(super) known: BTreeSet<Shifted>,
    pub(super) facts: BTreeSet<ShiftedEquation>,
}

/// A finished reaction, with the next start state in place of its number.
pub(super) struct Finished {
    pub(super) valuation: Vec<Option<bool>>,
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

#[derive(Clone)]
pub(super) enum End {
    Completed {
        next: StartState,
        dead_equations: Vec<EquationId>,
        dead_variables: Vec<VarId>,
        event: bool,
    },
    Excluded,
    Failed(Failure),
}

/// A reaction under way.
#[derive(Clone)]
pub(super) struct Progress {
    pub(super) known: BTreeSet<Shifted>,
    pub(super) valuation: Vec<Option<bool>>,
    pub(super) shift: BTreeMap<EquationId, u16>,
    pub(super) latent: BTreeSet<ShiftedEquation>,
    pub(super) solved: BTreeSet<ShiftedEquation>,
    steps: Vec<Step>,
}

impl Progress {
    /// A reaction that has come this far.
    pub(super) fn at(
        known: BTreeSet<Shifted>,
        valuation: Vec<Option<bool>>,
        shift: BTreeMap<EquationId, u16>,
        latent: BTreeSet<ShiftedEquation>,
        solved: BTreeSet<ShiftedEquation>,
    ) -> Self {
        Progress {
            known,
            valuation,
            shift,
            latent,
            solved,
            steps: Vec::new(),
        }
    }
}

pub(super) struct Reactor<'a> {
    pub(super) system: &'a System,
    pub(super) start: &'a StartState,
    pub(super) max_shift: u16,
}

/// What one round of a reaction leads to.
enum Round {
    Continue,
    Branch(Vec<PredicateId>),
    End(End),
}

impl Reactor<'_> {
    /// All reactions from the start state.
    pub(super) fn run(&self) -> Vec<Finished> {
        let first = Progress {
            known: self.start.known.clone(),
            valuation: vec![None; self.system.predicates.len()],
            shift: BTreeMap::new(),
            latent: BTreeSet::new(),
            solved: BTreeSet::new(),
            steps: Vec::new(),
        };
        let mut finished = Vec::new();
        let mut under_way = vec![first];
        while let Some(mut progress) = under_way.pop() {
            match self.round(&mut progress) {
                Round::Continue => under_way.push(progress),
                Round::Branch(predicates) => under_way.extend(branches(&progress, &predicates)),
                Round::End(end) => finished.push(Finished {
                    valuation: progress.valuation,
                    steps: progress.steps,
                    end,
                }),
            }
        }
        finished
    }

    fn round(&self, progress: &mut Progress) -> Round {
        let active: Vec<Option<bool>> = self
            .system
            .equations
            .iter()
            .map(|equation| equation.guard.decided(&progress.valuation))
            .collect();
        let complete = progress.valuation.iter().all(Option::is_some);
        let invariants = &self.system.invariants;
        if complete && invariants.iter().any(|i| i.decided(&progress.valuation) == Some(false)) {
            return Round::End(End::Excluded);
        }
        let incidence = self.incidence(progress, &active);
        let (pending, stuck): (Vec<_>, Vec<_>) = incidence.into_iter().partition(|(_, unknowns)| !unknowns.is_empty());
        let graph = Pending::new(&pending);
        let mut enabled = graph.enabled();
        enabled.retain(|(equations, unknowns)| self.has_both_sides(equations, unknowns));
        if solve_lowest(progress, enabled) {
            return Round::Continue;
        }
        let evaluable = self.evaluable(progress);
        if !evaluable.is_empty() {
            return Round::Branch(evaluable);
        }
        if !stuck.is_empty() {
            return self.shift(progress, stuck.into_iter().map(|(equation, _)| equation).collect());
        }
        let undecided = active.iter().any(Option::is_none);
        match (pending.is_empty(), undecided) {
            (_, true) => Round::End(End::Failed(blocked(progress))),
            (true, false) => Round::End(self.complete(progress, &active)),
            (false, false) => self.add_latent(progress, &active, &pending, &graph),
        }
    }

    /// Active equations that are not solved yet, with what they do not know yet.
    fn incidence(&self, progress: &Progress, active: &[Option<bool>]) -> Vec<(ShiftedEquation, Vec<Shifted>)> {
        let is_active = |equation: EquationId| active[equation.index()] == Some(true);
        let shifts = |equation: EquationId| progress.shift.get(&equation).copied().unwrap_or(0);
        let own = (0..active.len()).map(EquationId::from_usize).map(|e| (e, shifts(e)));
        own.chain(progress.latent.iter().copied())
            .filter(|key| is_active(key.0) && !progress.solved.contains(key))
            .map(|key| (key, self.unknowns(progress, key)))
            .collect()
    }

    /// Whether a block has unknowns of both sides of every complementarity condition in it: with one side known, the other may
    /// be anything where that is zero.
    pub(super) fn has_both_sides(&self, equations: &[ShiftedEquation], unknowns: &[Shifted]) -> bool {
        equations.iter().all(|&(equation, shifts)| {
            let Some(sides) = &self.system.equations[equation.index()].sides else {
                return true;
            };
            let is_open = |side: &[Shifted]| {
                side.iter()
                    .any(|&(var, order)| unknowns.contains(&(var, order + shifts)))
            };
            is_open(&sides.first) && is_open(&sides.second)
        })
    }

    fn unknowns(&self, progress: &Progress, key: ShiftedEquation) -> Vec<Shifted> {
        self.unknowns_beyond(&progress.known, key)
    }

    /// The variables of a shifted equation that are not known.
    pub(super) fn unknowns_beyond(
        &self,
        known: &BTreeSet<Shifted>,
        (equation, shifts): ShiftedEquation,
    ) -> Vec<Shifted> {
        let all = self.system.equations[equation.index()].shifted(shifts);
        all.filter(|variable| !known.contains(variable)).collect()
    }

    fn evaluable(&self, progress: &Progress) -> Vec<PredicateId> {
        let predicates = self.system.predicates.iter().enumerate();
        predicates
            .filter(|(i, reads)| {
                progress.valuation[*i].is_none() && reads.iter().all(|variable| progress.known.contains(variable))
            })
            .map(|(i, _)| PredicateId::from_usize(i))
            .collect()
    }

    /// Algorithm 8. What already holds goes on holding before anything is reset, and the least shifted goes first; what
    /// is equal in that is shifted at once, because one after the other the first would take the unknowns of the next.
    pub(super) fn to_shift(&self, stuck: Vec<ShiftedEquation>) -> Result<Vec<ShiftedEquation>, Failure> {
        let (established, others): (Vec<_>, Vec<_>) = stuck.into_iter().partition(|&key| self.is_established(key));
        let rank = |key: &ShiftedEquation| (!self.start.facts.contains(key), key.1);
        let lowest = established.iter().map(rank).min();
        let shifted = established.into_iter().filter(|key| Some(rank(key)) == lowest);
        let shifted: Vec<ShiftedEquation> = shifted.collect();
        if shifted.is_empty() {
            return Err(Failure::NothingLeft { equations: others });
        }
        let endless: Vec<EquationId> = shifted
            .iter()
            .filter(|&&(_, shifts)| shifts >= self.max_shift)
            .map(|&(equation, _)| equation)
            .collect();
        if !endless.is_empty() {
            return Err(Failure::ShiftBound { equations: endless });
        }
        Ok(shifted)
    }

    fn shift(&self, progress: &mut Progress, stuck: Vec<ShiftedEquation>) -> Round {
        let shifted = match self.to_shift(stuck) {
            Ok(shifted) => shifted,
            Err(failure) => return Round::End(End::Failed(failure)),
        };
        for key in shifted {
            let (equation, shifts) = key;
            progress.steps.push(Step::Shift {
                equation: key,
                is_fact: self.start.facts.contains(&key),
            });
            if progress.latent.remove(&key) {
                progress.latent.insert((equation, shifts + 1));
            } else {
                progress.shift.insert(equation, shifts + 1);
            }
        }
        Round::Continue
    }

    /// Whether an equation was a fact, or its body known, when the instant began.
    fn is_established(&self, (equation, shifts): ShiftedEquation) -> bool {
        let facts = &self.start.facts;
        let mut body = self.system.equations[equation.index()].shifted(0);
        facts.contains(&(equation, shifts))
            || facts.contains(&(equation, 0))
            || body.all(|variable| self.start.known.contains(&variable))
    }

    /// Algorithm 9 with the strengthened test (83).
    fn add_latent(
        &self,
        progress: &mut Progress,
        active: &[Option<bool>],
        pending: &[(ShiftedEquation, Vec<Shifted>)],
        graph: &Pending,
    ) -> Round {
        let candidates: Vec<(u16, ShiftedEquation)> = (0..active.len())
            .filter(|&i| active[i] == Some(true))
            .map(EquationId::from_usize)
            .filter_map(|equation| {
                let key = (equation, self.highest_shift(progress, equation) + 1);
                let unknowns = self.unknowns(progress, key);
                let height = self.latent_height(key, unknowns, pending, graph)?;
                Some((height, key))
            })
            .collect();
        match self.lowest(progress, candidates) {
            Some(key) => {
                progress.steps.push(Step::Latent(key));
                progress.latent.insert(key);
                Round::Continue
            }
            None => Round::End(End::Failed(not_closed(pending, graph))),
        }
    }

    /// The height of a shift that has an unknown, adds none, and raises the maximum matching.
    pub(super) fn latent_height(
        &self,
        key: ShiftedEquation,
        unknowns: Vec<Shifted>,
        pending: &[(ShiftedEquation, Vec<Shifted>)],
        graph: &Pending,
    ) -> Option<u16> {
        let height = unknowns.iter().map(|&(_, order)| order).max()?;
        let inside = unknowns
            .iter()
            .all(|unknown| graph.unknowns().binary_search(unknown).is_ok());
        if !inside || key.1 > self.max_shift {
            return None;
        }
        let mut more = pending.to_vec();
        more.push((key, unknowns));
        (Pending::new(&more).rank() > graph.rank()).then_some(height)
    }

    /// The candidate of the lowest height; of several the one whose place in the system comes first.
    pub(super) fn lowest(
        &self,
        progress: &Progress,
        mut candidates: Vec<(u16, ShiftedEquation)>,
    ) -> Option<ShiftedEquation> {
        let lowest = candidates.iter().map(|&(height, _)| height).min()?;
        candidates.retain(|&(height, _)| height == lowest);
        if let [(_, only)] = candidates[..] {
            return Some(only);
        }
        let colours = equation_colours(self.system, self.start, progress);
        let keys = candidates.into_iter().map(|(_, key)| key);
        keys.min_by_key(|&(equation, shifts)| (shifts, colours[equation.index()]))
    }

    /// The greatest shift with which an equation is present.
    fn highest_shift(&self, progress: &Progress, equation: EquationId) -> u16 {
        let own = progress.shift.get(&equation).copied().unwrap_or(0);
        let of = |set: &BTreeSet<ShiftedEquation>| {
            let range = set.range((equation, 0)..=(equation, u16::MAX));
            range.map(|&(_, shifts)| shifts).max().unwrap_or(0)
        };
        own.max(of(&progress.latent)).max(of(&progress.solved))
    }

    fn complete(&self, progress: &Progress, active: &[Option<bool>]) -> End {
        let equations = &self.system.equations;
        let is_active = |i: &usize| active[*i] == Some(true);
        let mut missing = BTreeSet::new();
        for i in (0..equations.len()).filter(is_active) {
            let shifts = progress.shift.get(&EquationId::from_usize(i)).copied().unwrap_or(0);
            for shift in 0..=shifts {
                missing.extend(equations[i].shifted(shift).filter(|v| !progress.known.contains(v)));
            }
        }
        if !missing.is_empty() {
            return End::Failed(Failure::Underdetermined {
                unknowns: missing.into_iter().collect(),
                equations: Vec::new(),
            });
        }
        let live: BTreeSet<VarId> = (0..equations.len())
            .filter(is_active)
            .flat_map(|i| equations[i].variables.iter().map(|&(var, _)| var))
            .collect();
        End::Completed {
            next: self.next_start(progress),
            dead_equations: (0..equations.len())
                .filter(|i| !is_active(i))
                .map(EquationId::from_usize)
                .collect(),
            dead_variables: self.system.variables().difference(&live).copied().collect(),
            event: (0..equations.len()).any(|i| is_active(&i) && equations[i].kind == EquationKind::Event),
        }
    }

    /// One step later everything is shifted once less.
    pub(super) fn next_start(&self, progress: &Progress) -> StartState {
        let known: BTreeSet<Shifted> = progress
            .known
            .iter()
            .filter(|&&(_, order)| order > 0)
            .map(|&(var, order)| (var, order - 1))
            .collect();
        let established = progress.solved.iter().chain(&self.start.facts);
        let facts = established
            .filter(|&&(_, shifts)| shifts > 0)
            .map(|&(equation, shifts)| (equation, shifts - 1))
            .filter(|&(equation, shifts)| {
                let mut variables = self.system.equations[equation.index()].shifted(shifts);
                variables.all(|variable| known.contains(&variable))
            })
            .collect();
        StartState { known, facts }
    }
}

/// Solves the enabled blocks of the lowest order; says whether there are any.
fn solve_lowest(progress: &mut Progress, enabled: Vec<super::graph::SolvedBlock>) -> bool {
    let height = |unknowns: &[Shifted]| unknowns.iter().map(|&(_, order)| order).max().unwrap_or(0);
    let Some(lowest) = enabled.iter().map(|(_, unknowns)| height(unknowns)).min() else {
        return false;
    };
    for (equations, unknowns) in enabled {
        if height(&unknowns) == lowest {
            progress.solved.extend(&equations);
            progress.known.extend(&unknowns);
            progress.steps.push(Step::Solve { equations, unknowns });
        }
    }
    true
}

/// The reaction continued under every valuation of the predicates; the last one is taken up first.
fn branches(progress: &Progress, predicates: &[PredicateId]) -> Vec<Progress> {
    let valuations = 0u64..1 << predicates.len();
    valuations
        .map(|bits| {
            let count = predicates.len();
            let values: Vec<(PredicateId, bool)> = predicates
                .iter()
                .enumerate()
                .map(|(i, &predicate)| (predicate, bits >> (count - 1 - i) & 1 == 1))
                .collect();
            let mut branch = progress.clone();
            for &(predicate, value) in &values {
                branch.valuation[predicate.index()] = Some(value);
            }
            branch.steps.push(Step::Evaluate(values));
            branch
        })
        .collect()
}

fn blocked(progress: &Progress) -> Failure {
    let open = progress
        .valuation
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_none());
    blocked_by(open.map(|(i, _)| PredicateId::from_usize(i)).collect())
}

/// Guards wait for these.
pub(super) fn blocked_by(predicates: Vec<PredicateId>) -> Failure {
    Failure::Blocked { predicates }
}

pub(super) fn not_closed(pending: &[(ShiftedEquation, Vec<Shifted>)], graph: &Pending) -> Failure {
    let overdetermined = graph.overdetermined();
    if !overdetermined.is_empty() {
        return Failure::Overdetermined {
            equations: overdetermined,
        };
    }
    Failure::Underdetermined {
        unknowns: graph.unknowns().to_vec(),
        equations: pending.iter().map(|&(equation, _)| equation).collect(),
    }
}
