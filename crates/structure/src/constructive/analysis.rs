//! The graph of instants and the verdict.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use saltus_mdae::{Derivative, EquationId, Idx, VarId};

use super::merged::Valuations;
use super::reaction::{End, Finished, Outcome, Reaction, Reactor, StartState};
use super::system::{Shifted, ShiftedEquation, System};
use crate::sigma::{Sigma, SigmaFailure, SigmaMatrix};

/// Bounds of the analysis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ConstructiveOptions {
    /// How often an equation may be shifted.
    pub max_shift: u16,
    /// How many start states are explored.
    pub max_instants: usize,
    /// How many reactions are explored.
    pub max_reactions: usize,
    /// With more predicates, valuations that go the same way are gone through together, and of the modes only singular ones are
    /// listed.
    pub most_listed: usize,
}

impl Default for ConstructiveOptions {
    fn default() -> Self {
        ConstructiveOptions {
            max_shift: 6,
            max_instants: 4096,
            max_reactions: 20_000,
            most_listed: 12,
        }
    }
}

/// A valuation of the predicates that the invariants admit, as a mode by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeVerdict {
    /// The predicates' values.
    pub valuation: Vec<bool>,
    /// Its active equations.
    pub equations: Vec<EquationId>,
    /// Its variables.
    pub variables: Vec<VarId>,
    /// Offsets by position in `equations` and `variables`.
    pub sigma: Result<Sigma, SigmaFailure>,
}

/// A start state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instant {
    /// What is known when it begins.
    pub known: Vec<Shifted>,
    /// Which equations already hold.
    pub facts: Vec<ShiftedEquation>,
}

/// Why a system is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// An admitted mode is not square and regular; its position in [`Report::modes`].
    Mode(usize),
    /// A reaction gets stuck; its position in [`Report::reactions`].
    Reaction(usize),
    /// More start states or reactions than [`ConstructiveOptions`] allows: the rest is not explored.
    TooManyInstants,
}

/// What becomes of a system.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ConstructiveVerdict {
    /// Every reaction can be carried out.
    Accepted,
    /// A mode is singular, or a reaction gets stuck.
    Rejected,
    /// Nothing is wrong as far as it was explored, but that was not everything.
    Undecided,
}

/// What the constructive semantics says about a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The admitted modes, all-true first; of many predicates some of each set of singular modes.
    pub modes: Vec<ModeVerdict>,
    /// Whether valuations that go the same way were gone through together: a reaction stands for all valuations that have what
    /// it lists, and its steps are those that all of them take.
    pub merged: bool,
    /// The start states, in order of discovery.
    pub instants: Vec<Instant>,
    /// The reactions, by start state.
    pub reactions: Vec<Reaction>,
    /// Why the system is rejected; empty: it is accepted.
    pub rejections: Vec<Rejection>,
    /// A cycle of start states through reactions with active event equations: the cascade has no bound of its own.
    pub event_cycle: Option<Vec<usize>>,
}

/// Analyses a system.
pub fn analyze(system: &System, options: ConstructiveOptions) -> Report {
    let merged = system.predicates.len() > options.most_listed;
    let mut valuations = if merged { Valuations::new(system) } else { None };
    let modes = match &valuations {
        Some(valuations) => {
            let singular = valuations.singular.iter().cloned();
            singular
                .filter_map(|valuation| mode_verdict(system, valuation))
                .collect()
        }
        None if merged => Vec::new(),
        None => admitted_modes(system),
    };
    let mut report = Report {
        merged,
        rejections: modes
            .iter()
            .enumerate()
            .filter(|(_, mode)| mode.sigma.is_err())
            .map(|(i, _)| Rejection::Mode(i))
            .collect(),
        modes,
        instants: Vec::new(),
        reactions: Vec::new(),
        event_cycle: None,
    };
    if merged && valuations.is_none() {
        report.rejections.push(Rejection::TooManyInstants);
        return report;
    }
    explore(system, options, valuations.as_mut(), &mut report);
    let stuck = report.reactions.iter().enumerate();
    let stuck = stuck.filter(|(_, reaction)| matches!(reaction.outcome, Outcome::Failed(_)));
    let stuck: Vec<Rejection> = stuck.map(|(i, _)| Rejection::Reaction(i)).collect();
    report.rejections.extend(stuck);
    report.event_cycle = event_cycle(&report.reactions);
    report
}

fn admitted_modes(system: &System) -> Vec<ModeVerdict> {
    let count = system.predicates.len();
    let valuations = (0u64..1 << count).rev();
    valuations
        .map(|bits| {
            (0..count)
                .map(|i| bits >> (count - 1 - i) & 1 == 1)
                .collect::<Vec<bool>>()
        })
        .filter_map(|valuation| mode_verdict(system, valuation))
        .collect()
}

fn mode_verdict(system: &System, valuation: Vec<bool>) -> Option<ModeVerdict> {
    let complete: Vec<Option<bool>> = valuation.iter().copied().map(Some).collect();
    if system.invariants.iter().any(|i| i.decided(&complete) == Some(false)) {
        return None;
    }
    let active = system.equations.iter().enumerate();
    let active = active.filter(|(_, equation)| equation.guard.decided(&complete) == Some(true));
    let mut equations = Vec::new();
    let mut rows: Vec<Vec<Derivative>> = Vec::new();
    for (i, equation) in active {
        equations.push(EquationId::from_usize(i));
        let highest: BTreeMap<VarId, u16> = equation.variables.iter().copied().collect();
        rows.push(
            highest
                .into_iter()
                .map(|(var, order)| Derivative { var, order })
                .collect(),
        );
    }
    let matrix = SigmaMatrix::of_rows(rows.iter().map(Vec::as_slice));
    Some(ModeVerdict {
        valuation,
        equations,
        variables: matrix.unknowns().to_vec(),
        sigma: matrix.solve(),
    })
}

/// Everything below its degree is known, and the unguarded equations over it hold.
fn first_state(system: &System, options: ConstructiveOptions) -> StartState {
    let known: BTreeSet<Shifted> = system.known_initially.clone().unwrap_or_else(|| {
        let degrees = system.degrees();
        let below = |(&var, &degree): (&VarId, &u16)| (0..degree).map(move |order| (var, order));
        degrees.iter().flat_map(below).collect()
    });
    let mut facts = BTreeSet::new();
    for (i, equation) in system.equations.iter().enumerate() {
        for shifts in 0..=options.max_shift {
            if equation.is_unguarded() && equation.shifted(shifts).all(|v| known.contains(&v)) {
                facts.insert((EquationId::from_usize(i), shifts));
            }
        }
    }
    StartState { known, facts }
}

fn explore(
    system: &System,
    options: ConstructiveOptions,
    mut valuations: Option<&mut Valuations>,
    report: &mut Report,
) {
    let mut numbers: BTreeMap<StartState, usize> = BTreeMap::new();
    let mut queue = VecDeque::new();
    let first = first_state(system, options);
    numbers.insert(first.clone(), 0);
    queue.push_back(first);
    while let Some(state) = queue.pop_front() {
        let from = report.instants.len();
        report.instants.push(Instant {
            known: state.known.iter().copied().collect(),
            facts: state.facts.iter().copied().collect(),
        });
        if from >= options.max_instants || report.reactions.len() >= options.max_reactions {
            // The others that were discovered are named by reactions, but not explored.
            if !report.rejections.contains(&Rejection::TooManyInstants) {
                report.rejections.push(Rejection::TooManyInstants);
            }
            continue;
        }
        let reactor = Reactor {
            system,
            start: &state,
            max_shift: options.max_shift,
        };
        let finished = match &mut valuations {
            Some(valuations) => reactor.run_merged(valuations),
            None => Some(reactor.run()),
        };
        let Some(finished) = finished else {
            if !report.rejections.contains(&Rejection::TooManyInstants) {
                report.rejections.push(Rejection::TooManyInstants);
            }
            continue;
        };
        for finished in finished {
            let Finished { valuation, steps, end } = finished;
            let outcome = match end {
                End::Excluded => Outcome::Excluded,
                End::Failed(failure) => Outcome::Failed(failure),
                End::Completed {
                    next,
                    dead_equations,
                    dead_variables,
                    event,
                } => {
                    let discovered = numbers.len();
                    let to = *numbers.entry(next.clone()).or_insert_with(|| {
                        queue.push_back(next);
                        discovered
                    });
                    Outcome::Completed {
                        to,
                        dead_equations,
                        dead_variables,
                        event,
                    }
                }
            };
            report.reactions.push(Reaction {
                from,
                valuation,
                steps,
                outcome,
            });
        }
    }
}

/// A cycle in the graph of event reactions, by depth-first search.
fn event_cycle(reactions: &[Reaction]) -> Option<Vec<usize>> {
    let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for reaction in reactions {
        if let Outcome::Completed { to, event: true, .. } = reaction.outcome {
            next.entry(reaction.from).or_default().insert(to);
        }
    }
    let mut finished = BTreeSet::new();
    for &start in next.keys() {
        let mut path: Vec<(usize, Vec<usize>)> = vec![(start, successors(&next, start))];
        while let Some((node, open)) = path.last_mut() {
            let node = *node;
            match open.pop() {
                Some(to) if path.iter().any(|(on_path, _)| *on_path == to) => {
                    let nodes = path.iter().map(|(node, _)| *node);
                    let mut cycle: Vec<usize> = nodes.skip_while(|&n| n != to).collect();
                    cycle.push(to);
                    return Some(cycle);
                }
                Some(to) if !finished.contains(&to) => path.push((to, successors(&next, to))),
                Some(_) => {}
                None => {
                    finished.insert(node);
                    path.pop();
                }
            }
        }
    }
    None
}

fn successors(next: &BTreeMap<usize, BTreeSet<usize>>, node: usize) -> Vec<usize> {
    next.get(&node).into_iter().flatten().copied().collect()
}

impl Report {
    /// Whether the system is accepted.
    pub fn is_accepted(&self) -> bool {
        self.verdict() == ConstructiveVerdict::Accepted
    }

    /// Accepted, rejected, or not known.
    pub fn verdict(&self) -> ConstructiveVerdict {
        match self.rejections.as_slice() {
            [] => ConstructiveVerdict::Accepted,
            [Rejection::TooManyInstants] => ConstructiveVerdict::Undecided,
            _ => ConstructiveVerdict::Rejected,
        }
    }
}
