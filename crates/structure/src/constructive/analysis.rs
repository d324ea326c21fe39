//! The graph of instants and the verdict.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use saltus_mdae::{EquationId, Idx, VarId};

use super::reaction::{End, Failure, Finished, Outcome, Reaction, Reactor, StartState, Step};
use super::system::{Shifted, ShiftedEquation, System, TooManyPredicates};
use crate::sigma::{Derivative, Sigma, SigmaFailure, SigmaMatrix};

/// Bounds of the analysis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How often an equation may be shifted.
    pub max_shift: u16,
    /// How many start states are explored.
    pub max_instants: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_shift: 6,
            max_instants: 60,
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
    /// More start states than [`Options::max_instants`].
    TooManyInstants,
}

/// What the constructive semantics says about a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The admitted modes, all-true first.
    pub modes: Vec<ModeVerdict>,
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
pub fn analyze(system: &System, options: Options) -> Result<Report, TooManyPredicates> {
    system.check_predicates()?;
    let modes = admitted_modes(system);
    let mut report = Report {
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
    explore(system, options, &mut report);
    let stuck = report.reactions.iter().enumerate();
    let stuck = stuck.filter(|(_, reaction)| matches!(reaction.outcome, Outcome::Failed(_)));
    let stuck: Vec<Rejection> = stuck.map(|(i, _)| Rejection::Reaction(i)).collect();
    report.rejections.extend(stuck);
    report.event_cycle = event_cycle(&report.reactions);
    Ok(report)
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
        rows.push(highest.into_iter().collect());
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
fn first_state(system: &System, options: Options) -> StartState {
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

fn explore(system: &System, options: Options, report: &mut Report) {
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
        if from >= options.max_instants {
            // The others that were discovered are named by reactions, but not explored.
            if from == options.max_instants {
                report.rejections.push(Rejection::TooManyInstants);
            }
            continue;
        }
        let reactor = Reactor {
            system,
            start: &state,
            max_shift: options.max_shift,
        };
        for finished in reactor.run() {
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
        self.rejections.is_empty()
    }

    /// The verdict and the execution scheme as text, one reaction after the other.
    pub fn to_text(
        &self,
        variable: impl Fn(VarId) -> String,
        equation: impl Fn(EquationId) -> String,
        predicate: impl Fn(usize) -> String,
    ) -> String {
        let mut out = String::new();
        let verdict = if self.is_accepted() { "accepted" } else { "rejected" };
        let _ = writeln!(out, "constructive semantics: {verdict}");
        for rejection in &self.rejections {
            let _ = match rejection {
                Rejection::Mode(position) => {
                    let valuation: Vec<Option<bool>> =
                        self.modes[*position].valuation.iter().copied().map(Some).collect();
                    writeln!(
                        out,
                        "  the mode [{}] is singular",
                        valuation_text(&valuation, &predicate)
                    )
                }
                Rejection::Reaction(position) => writeln!(out, "  reaction {position} gets stuck"),
                Rejection::TooManyInstants => writeln!(out, "  too many start states"),
            };
        }
        if self.event_cycle.is_some() {
            let _ = writeln!(out, "  events may follow each other without end");
        }
        for (i, instant) in self.instants.iter().enumerate() {
            let known: Vec<String> = instant.known.iter().map(|&(v, k)| shifted(&variable(v), k)).collect();
            let _ = writeln!(out, "\nstart state {i}: known {}", known.join(", "));
            let own = self
                .reactions
                .iter()
                .enumerate()
                .filter(|(_, reaction)| reaction.from == i);
            for (number, reaction) in own {
                let end = match &reaction.outcome {
                    Outcome::Completed { to, .. } => format!("goes on in start state {to}"),
                    Outcome::Failed(failure) => {
                        format!("stuck: {}", failure_text(failure, &variable, &equation, &predicate))
                    }
                    Outcome::Excluded => continue,
                };
                let mode = valuation_text(&reaction.valuation, &predicate);
                let _ = writeln!(out, "  reaction {number} [{mode}]: {end}");
                for line in steps_text(&reaction.steps, &variable, &equation).lines() {
                    let _ = writeln!(out, "    {line}");
                }
            }
        }
        out
    }

    /// The execution scheme as a graph in DOT: start states as nodes, reactions as edges, stuck ones in red.
    pub fn to_dot(
        &self,
        variable: impl Fn(VarId) -> String,
        equation: impl Fn(EquationId) -> String,
        predicate: impl Fn(usize) -> String,
    ) -> String {
        let mut out = String::from("digraph instants {\n  rankdir=LR;\n  node [shape=box];\n");
        for (i, instant) in self.instants.iter().enumerate() {
            let known: Vec<String> = instant.known.iter().map(|&(v, k)| shifted(&variable(v), k)).collect();
            let _ = writeln!(out, "  s{i} [label=\"{}\"];", escape(&known.join(", ")));
        }
        for (i, reaction) in self.reactions.iter().enumerate() {
            let mode = valuation_text(&reaction.valuation, &predicate);
            let label = escape(&format!(
                "{mode}\n{}",
                steps_text(&reaction.steps, &variable, &equation)
            ));
            let from = reaction.from;
            let _ = match &reaction.outcome {
                Outcome::Completed { to, .. } => writeln!(out, "  s{from} -> s{to} [label=\"{label}\"];"),
                Outcome::Failed(failure) => writeln!(
                    out,
                    "  f{i} [label=\"{}\" color=red];\n  s{from} -> f{i} [label=\"{label}\" color=red];",
                    escape(&failure_text(failure, &variable, &equation, &predicate))
                ),
                Outcome::Excluded => Ok(()),
            };
        }
        out.push_str("}\n");
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// `x`, `x•`, `x•2`: the number of forward shifts.
fn shifted(name: &str, shifts: u16) -> String {
    match shifts {
        0 => name.to_owned(),
        1 => format!("{name}•"),
        _ => format!("{name}•{shifts}"),
    }
}

fn valuation_text(valuation: &[Option<bool>], predicate: &impl Fn(usize) -> String) -> String {
    let known = valuation
        .iter()
        .enumerate()
        .filter_map(|(i, value)| Some((i, (*value)?)));
    let texts: Vec<String> = known.map(|(i, value)| format!("{}={value}", predicate(i))).collect();
    texts.join(", ")
}

fn steps_text(steps: &[Step], variable: &impl Fn(VarId) -> String, equation: &impl Fn(EquationId) -> String) -> String {
    let equations = |list: &[ShiftedEquation]| names(list, equation);
    let lines: Vec<String> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Solve {
                equations: solved,
                unknowns,
            } => Some(format!("{} → {}", equations(solved), names(unknowns, variable))),
            Step::Shift {
                equation: key,
                is_fact: false,
            } => Some(format!("reset by {}", equations(&[*key]))),
            Step::Latent(key) => Some(format!("latent {}", equations(&[*key]))),
            _ => None,
        })
        .collect();
    lines.join("\n")
}

fn names<I: Copy>(list: &[(I, u16)], name: impl Fn(I) -> String) -> String {
    let texts: Vec<String> = list.iter().map(|&(id, shifts)| shifted(&name(id), shifts)).collect();
    texts.join(", ")
}

fn failure_text(
    failure: &Failure,
    variable: &impl Fn(VarId) -> String,
    equation: &impl Fn(EquationId) -> String,
    predicate: &impl Fn(usize) -> String,
) -> String {
    match failure {
        Failure::NothingLeft { equation: key } => {
            format!("{} has nothing left to determine", names(&[*key], equation))
        }
        Failure::ShiftBound { equation: id } => format!("{} is shifted without end", equation(*id)),
        Failure::Overdetermined { equations } => format!("too many equations: {}", names(equations, equation)),
        Failure::Underdetermined { unknowns, .. } => format!("not determined: {}", names(unknowns, variable)),
        Failure::Blocked { predicates } => {
            let texts: Vec<String> = predicates.iter().map(|p| predicate(p.index())).collect();
            format!("guards depend on what they switch: {}", texts.join(", "))
        }
    }
}
