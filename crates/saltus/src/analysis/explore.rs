//! Which modes are looked at, starting from the initial one.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use saltus_mdae::print::{Names, UserNames, expression};
use saltus_mdae::{ConditionId, ConditionKind, ExprPool, Idx, Mdae, VarId};
use saltus_results::Trajectory;
use saltus_simulate::{EventReport, Observer};
use saltus_source::Diagnostic;
use saltus_structure::mode::{ModeFailure, ModeStructure, Modes, Valuation, analyze_mode};
use saltus_structure::restart::ModeEquation;

use super::discrete::Discrete;
use super::exclusion::Exclusions;
use super::mode::{refusal, residual_text, shape};
use super::passage::Passage;
use super::situation::{Consequences, ModeValue, Reinit, Situation, Trigger};
use super::{Analysis, AnalysisOptions, ChangeOutcome, ChangeReport, ModeNumber, ModeReport, RestartReport};
use crate::Model;

/// Which modes to analyse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The initial mode only.
    Initial,
    /// The initial mode, those one condition away and those that time alone brings about, with the changes there and
    /// back.
    Neighbours,
    /// All that can be reached by changing conditions one after the other, whether a run can get there or not.
    All,
    /// Listed ones: conditions or discrete variables with their values, the others as in the initial mode; with the
    /// changes between the initial mode and them.
    Listed(Vec<Vec<(String, ModeValue)>>),
}

pub(super) struct Explorer<'m> {
    pub(super) model: &'m Mdae,
    pub(super) names: UserNames<'m>,
    pub(super) modes: &'m Modes,
    options: &'m AnalysisOptions,
    pub(super) discrete: Discrete<'m>,
    pub(super) exclusions: Exclusions,
    pub(super) pool: ExprPool,
    pub(super) found: Vec<Found>,
    pub(super) analysis: Analysis,
}

/// Situations looked at for each mode that may be analysed: several have the same mode.
const SITUATIONS_PER_MODE: usize = 16;
/// Modes that are left out are counted up to this number.
const MOST_COUNTED: usize = 100;
/// Triggers that are all tried from neighbouring modes.
const MOST_TRIGGERS_BACK: usize = 100;
/// Conditions tried together with one that changes.
const MOST_SIMULTANEOUS: usize = 12;
/// Changes of several conditions shown for one of them.
const MOST_FOUND_SIMULTANEOUS: usize = 3;

/// From one situation to another.
#[derive(Copy, Clone)]
pub(super) struct Step<'a> {
    pub old: &'a Situation,
    pub new: &'a Situation,
    pub consequences: &'a Consequences,
}

/// Where a change leads.
pub(super) struct Reached {
    /// The mode entered.
    pub mode: ModeNumber,
    /// The one that goes on, if that one lasts for the instant only.
    pub then: Option<ModeNumber>,
}

/// Time events that are followed at most.
const MOST_TIME_EVENTS: usize = 32;

/// A mode with a situation that selects it.
pub(super) struct Found {
    pub(super) valuation: Valuation,
    pub(super) situation: Situation,
    pub(super) structure: Result<Rc<ModeStructure>, ModeFailure>,
}

pub(super) fn explore(model: &Model, options: &AnalysisOptions) -> Analysis {
    let compiled = model.compiled();
    let discrete = Discrete::new(compiled.model());
    let (initial, failure) = initial_situation(model, &discrete);
    let mut explorer = Explorer {
        model: compiled.model(),
        names: UserNames::new(compiled.model()),
        modes: compiled.modes(),
        options,
        discrete,
        exclusions: Exclusions::new(compiled.model(), &initial),
        pool: compiled.fork_pool(),
        found: Vec::new(),
        analysis: Analysis {
            model: model.name().to_owned(),
            initial_failure: failure,
            ..Analysis::default()
        },
    };
    explorer.run(initial);
    explorer.analysis
}

impl Explorer<'_> {
    fn run(&mut self, initial: Situation) {
        let atoms = initial.atoms(self.model, self.modes);
        self.analysis.conditions = atoms.into_iter().map(|(text, _)| text).collect();
        let Some(start) = self.mode_of(initial) else { return };
        match &self.options.coverage {
            Coverage::Initial => {}
            Coverage::Neighbours => self.neighbours(start),
            Coverage::All => self.everything(start),
            Coverage::Listed(modes) => self.listed(start, modes),
        }
    }

    /// The number of the mode a situation selects; analysed if it is new, `None` if there are too many.
    pub(super) fn mode_of(&mut self, situation: Situation) -> Option<ModeNumber> {
        let valuation = situation.valuation(self.model, self.modes)?;
        if let Some(known) = self.found.iter().position(|found| found.valuation == valuation) {
            return Some(known);
        }
        if self.found.len() >= self.options.most_modes {
            self.analysis.omitted_modes += 1;
            return None;
        }
        let structure = analyze_mode(self.model, self.modes, &valuation).map(Rc::new);
        let active = || self.modes.active(&valuation).collect::<Vec<_>>();
        self.analysis.modes.push(ModeReport {
            valuation: situation.atoms(self.model, self.modes),
            structure: match &structure {
                Ok(structure) => Ok(shape(&self.names, self.modes, structure)),
                Err(failure) => Err(refusal(&self.names, self.modes, &active(), failure)),
            },
        });
        self.found.push(Found {
            valuation,
            situation,
            structure,
        });
        Some(self.found.len() - 1)
    }

    fn neighbours(&mut self, start: ModeNumber) {
        let triggers = Trigger::all(self.model);
        for &trigger in &triggers {
            if self.analysis.omitted_modes > MOST_COUNTED {
                break;
            }
            let told = self.analysis.changes.len();
            self.follow(start, trigger, true);
            if self.analysis.changes.len() > told {
                self.simultaneous(start, trigger, told);
            }
        }
        self.course_of_time(start, &triggers);
        // Of many conditions those that led somewhere lead back.
        let led = |trigger: &&Trigger| {
            let text = trigger.text(self.model).0;
            self.analysis.changes.iter().any(|change| change.trigger.0 == text)
        };
        let back: Vec<Trigger> = match triggers.len() <= MOST_TRIGGERS_BACK {
            true => triggers.clone(),
            false => triggers.iter().filter(led).copied().collect(),
        };
        for neighbour in (0..self.found.len()).filter(|&mode| mode != start) {
            for &trigger in &back {
                self.follow(neighbour, trigger, false);
            }
        }
    }

    /// The modes that time events bring about one after the other, if nothing else happens.
    fn course_of_time(&mut self, start: ModeNumber, triggers: &[Trigger]) {
        let (mut mode, mut situation) = (start, self.found[start].situation.clone());
        for _ in 0..MOST_TIME_EVENTS {
            let moments = triggers
                .iter()
                .filter_map(|&trigger| Some((situation.time_of_flip(self.model, trigger)?, trigger)));
            let moments: Vec<(f64, Trigger)> = moments.collect();
            let next = moments.iter().map(|(moment, _)| *moment).fold(f64::INFINITY, f64::min);
            if !next.is_finite() {
                return;
            }
            let due = moments.iter().filter(|(moment, _)| *moment <= next + 1e-9 * next.abs());
            let due: Vec<Trigger> = due.map(|(_, trigger)| *trigger).collect();
            let (mut new, consequences) = self.discrete.flipped(&situation, &due);
            new.time = next;
            let Some(reached) = self.analysed(
                mode,
                &due[..1],
                Step {
                    old: &situation,
                    new: &new,
                    consequences: &consequences,
                },
                true,
            ) else {
                return;
            };
            (mode, situation) = match reached.then {
                Some(then) => {
                    let after = self.found[then].situation.clone();
                    (then, Situation { time: next, ..after })
                }
                None => (reached.mode, new),
            };
        }
    }

    fn everything(&mut self, start: ModeNumber) {
        let triggers = Trigger::all(self.model);
        let first = self.found[start].situation.clone();
        let mut visited = BTreeSet::new();
        visited.insert(first.key(self.model));
        let mut pending = VecDeque::from([(start, first)]);
        let most = self.options.most_modes.saturating_mul(SITUATIONS_PER_MODE);
        while let Some((mode, situation)) = pending.pop_front() {
            if self.analysis.omitted_modes > 0 && self.analysis.omitted_changes > 0 {
                return;
            }
            for &trigger in &triggers {
                let Some((reached, new)) = self.step(mode, &situation, trigger, true) else {
                    continue;
                };
                let after = reached.then.map(|then| (then, self.found[then].situation.clone()));
                for (next, new) in std::iter::once((reached.mode, new)).chain(after) {
                    if visited.len() < most && visited.insert(new.key(self.model)) {
                        pending.push_back((next, new));
                    }
                }
            }
        }
    }

    /// Changes a condition or input in a mode and analyses what happens. A mode that was not met before counts only if
    /// `new_modes` says so.
    pub(super) fn follow(&mut self, from: ModeNumber, trigger: Trigger, new_modes: bool) {
        let old = self.found[from].situation.clone();
        self.step(from, &old, trigger, new_modes);
    }

    fn step(
        &mut self,
        from: ModeNumber,
        old: &Situation,
        trigger: Trigger,
        new_modes: bool,
    ) -> Option<(Reached, Situation)> {
        if !old.can_flip(self.model, trigger) {
            return None;
        }
        let triggers = self.exclusions.companions(old, trigger)?;
        let (new, consequences) = self.discrete.flipped(old, &triggers);
        let to = self.analysed(
            from,
            &[trigger],
            Step {
                old,
                new: &new,
                consequences: &consequences,
            },
            new_modes,
        )?;
        Some((to, new))
    }

    /// Conditions that may change at the same instant as another: those that an impulse decides, and, if the mode to
    /// enter is singular or the change is refused, those with which it can be carried out.
    fn simultaneous(&mut self, from: ModeNumber, trigger: Trigger, change: usize) {
        let old = self.found[from].situation.clone();
        let Some(together) = self.exclusions.companions(&old, trigger) else {
            return;
        };
        let change = &self.analysis.changes[change];
        let (impulses, refused): (Vec<String>, bool) = match &change.outcome {
            ChangeOutcome::Analysed(report) if report.accepted => {
                (report.impulses.iter().map(|(name, _)| name.clone()).collect(), false)
            }
            _ => (Vec::new(), true),
        };
        if change.from == change.to || (impulses.is_empty() && !refused) {
            return;
        }
        let others = self.model.conditions.ids().filter(|&id| {
            let impulsive = |name: String| impulses.contains(&name);
            let mut mentioned = self.continuous_in(id).into_iter();
            match refused {
                true => mentioned.next().is_some(),
                false => mentioned.any(impulsive),
            }
        });
        let others = others.map(Trigger::Condition).filter(|other| !together.contains(other));
        let others: Vec<Trigger> = others.take(MOST_SIMULTANEOUS).collect();
        let single = others.iter().map(|&other| vec![other]);
        let pairs = others
            .iter()
            .enumerate()
            .flat_map(|(position, &first)| others[position + 1..].iter().map(move |&second| vec![first, second]));
        let candidates: Vec<Vec<Trigger>> = single.chain(pairs.filter(|_| refused)).collect();
        let mut possible = Vec::new();
        for more in candidates {
            let triggers: Vec<Trigger> = together.iter().chain(&more).copied().collect();
            let (new, consequences) = self.discrete.flipped(&old, &triggers);
            if let Some(report) = self.tried(
                from,
                trigger,
                Step {
                    old: &old,
                    new: &new,
                    consequences: &consequences,
                },
            ) && self.exclusions.allow(&new)
                && report.accepted
            {
                let told: Vec<Trigger> = std::iter::once(trigger).chain(more).collect();
                possible.push((!report.impulses.is_empty(), told, new, consequences));
            }
        }
        // Where nothing is impulsive, conditions agree with the values most easily.
        possible.sort_by_key(|(impulsive, ..)| *impulsive);
        let smooth = possible.iter().filter(|(impulsive, ..)| !impulsive).count();
        let most = if smooth > 0 {
            smooth.min(MOST_FOUND_SIMULTANEOUS)
        } else {
            MOST_FOUND_SIMULTANEOUS
        };
        for (_, told, new, consequences) in possible.into_iter().take(most) {
            self.analysed(
                from,
                &told,
                Step {
                    old: &old,
                    new: &new,
                    consequences: &consequences,
                },
                true,
            );
        }
    }

    /// What a change would do; its mode does not become one of those shown.
    fn tried(&mut self, from: ModeNumber, trigger: Trigger, step: Step) -> Option<RestartReport> {
        let valuation = step.new.valuation(self.model, self.modes)?;
        let structure = Rc::new(analyze_mode(self.model, self.modes, &valuation).ok()?);
        let from = &self.found[from];
        let before = Rc::clone(from.structure.as_ref().ok()?);
        let within = from.valuation == valuation;
        self.restart(&before, &structure, within, trigger, step)
    }

    /// Conditions that did not change, but hold a variable with an impulse.
    fn decided_by_impulses(&self, report: &RestartReport, old: &Situation, new: &Situation) -> Option<String> {
        if !report.accepted || report.impulses.is_empty() {
            return None;
        }
        let impulsive = |name: String| report.impulses.iter().any(|(known, _)| *known == name);
        let conditions = self.model.conditions.ids().filter(|&id| {
            let same = old.truths[id.index()] == new.truths[id.index()];
            same && self.continuous_in(id).into_iter().any(impulsive)
        });
        let texts: Vec<String> = conditions
            .map(|id| format!("`{}`", self.model.conditions[id].text))
            .collect();
        (!texts.is_empty()).then(|| {
            format!(
                "the impulses decide {} at this instant: where they change it, a run enters another mode instead",
                texts.join(", ")
            )
        })
    }

    /// The names of the continuous variables in a relation.
    pub(super) fn continuous_in(&self, condition: ConditionId) -> Vec<String> {
        let ConditionKind::Relation { function, .. } = self.model.conditions[condition].kind else {
            return Vec::new();
        };
        let mentioned = self.model.pool.occurrences(function).into_iter();
        mentioned
            .filter(|&(var, _)| self.model.is_unknown(var))
            .map(|(var, order)| self.names.derivative(var, order))
            .collect()
    }

    /// Analyses the change from one situation to another; what is reached.
    pub(super) fn analysed(
        &mut self,
        from: ModeNumber,
        triggers: &[Trigger],
        step: Step,
        new_modes: bool,
    ) -> Option<Reached> {
        let Step { old, new, consequences } = step;
        let trigger = triggers[0];
        let valuation = new.valuation(self.model, self.modes)?;
        let quiet = consequences.restart_equations.is_empty() && consequences.reinits.is_empty();
        if valuation == self.found[from].valuation && quiet && !self.jumps(from, trigger, old, new) {
            return Some(Reached { mode: from, then: None });
        }
        let known = self.found.iter().find(|found| found.valuation == valuation);
        if !new_modes && known.is_none_or(|known| known.structure.is_err() && quiet) {
            return None;
        }
        let to = self.mode_of(new.clone())?;
        let mut told = triggers.iter().map(|trigger| trigger.told(self.model, old, new));
        let (first, together) = (told.next()?, told.collect::<Vec<_>>());
        let same = |known: &ChangeReport| {
            (known.from, known.to, &known.trigger, &known.together) == (from, to, &first, &together)
        };
        let then = match self.analysis.changes.iter().find(|&known| same(known)) {
            Some(known) => known.then,
            None => self.change(from, to, triggers, step, new_modes),
        };
        Some(Reached { mode: to, then })
    }

    /// Whether something that changes sits in a differentiated equation of a mode, so that it acts like a mode change.
    fn jumps(&self, mode: ModeNumber, trigger: Trigger, old: &Situation, new: &Situation) -> bool {
        let structure = self.found[mode].structure.as_ref();
        let differs = |var: &VarId| old.values[var.index()].to_bits() != new.values[var.index()].to_bits();
        structure.is_ok_and(|structure| {
            structure.jumps.iter().any(|jump| {
                let triggered = match trigger {
                    Trigger::Condition(condition) => jump.conditions.contains(&condition),
                    Trigger::Input(var) => jump.inputs.contains(&var),
                };
                triggered || jump.discrete.iter().any(differs)
            })
        })
    }

    /// Tells a change; the mode that goes on if the one entered lasts for the instant only.
    fn change(
        &mut self,
        from: ModeNumber,
        to: ModeNumber,
        triggers: &[Trigger],
        step: Step,
        new_modes: bool,
    ) -> Option<ModeNumber> {
        let Step { old, new, consequences } = step;
        let trigger = triggers[0];
        let mut told = triggers.iter().map(|trigger| trigger.told(self.model, old, new));
        let (Some(first), together) = (told.next(), told.collect()) else {
            return None;
        };
        // From a mode that cannot be entered nothing can be said.
        if self.found[from].structure.is_err() {
            return None;
        }
        if self.analysis.changes.len() >= self.options.most_changes {
            self.analysis.omitted_changes += 1;
            return None;
        }
        let (outcome, long) = match self.passage(from, to, trigger, step) {
            Some(Passage { mut report, long }) => {
                let right = long.as_ref().unwrap_or(new);
                report.details.extend(self.decided_by_impulses(&report, old, right));
                (ChangeOutcome::Analysed(Box::new(report)), long)
            }
            None => (ChangeOutcome::SingularMode, None),
        };
        let then = match long {
            Some(long) if new_modes || self.is_found(&long) => Some(self.mode_of(long)?),
            Some(_) => return None,
            None => None,
        };
        let equation = |e: &ModeEquation| residual_text(&self.names, &self.model.pool, e.residual);
        let reinit = |reinit: &Reinit| {
            let value = expression(&self.model.pool, &self.names, reinit.value);
            format!("reinit({}, {value})", self.names.derivative(reinit.var, reinit.order))
        };
        let equations = consequences.restart_equations.iter().map(equation);
        let (_, origin) = trigger.text(self.model);
        self.analysis.changes.push(ChangeReport {
            from,
            to,
            trigger: first,
            together,
            span: self.model.origins.get(origin).and_then(|origin| origin.span),
            restart_equations: equations.chain(consequences.reinits.iter().map(reinit)).collect(),
            then,
            outcome,
        });
        then
    }

    /// Whether a situation selects a mode that was met before.
    fn is_found(&self, situation: &Situation) -> bool {
        let valuation = situation.valuation(self.model, self.modes);
        valuation.is_some_and(|valuation| self.found.iter().any(|found| found.valuation == valuation))
    }
}

/// Keeps the truth values of the candidate that was accepted last.
#[derive(Default)]
struct Witness {
    truths: std::rc::Rc<std::cell::RefCell<Option<Vec<bool>>>>,
}

impl Observer for Witness {
    fn event(&mut self, event: &EventReport) {
        for instant in &event.instants {
            let accepted = instant
                .candidates
                .iter()
                .rev()
                .find(|candidate| candidate.refused.is_none());
            if let Some(accepted) = accepted {
                *self.truths.borrow_mut() = Some(accepted.truths.clone());
            }
        }
    }
}

/// The situation right after initialisation; if that fails, the one the start values suggest, with the failure.
fn initial_situation(model: &Model, discrete: &Discrete) -> (Situation, Option<Diagnostic>) {
    let mdae = model.equations();
    let run = model.run();
    let (start, _) = run.span();
    let guess = Situation::from_starts(discrete, start);
    let witness = Witness::default();
    let truths = std::rc::Rc::clone(&witness.truths);
    let mut trajectory = Trajectory::new();
    let summary = run.stop(start).observe(witness).simulate_into(&mut trajectory);
    if summary.failure.is_some() || trajectory.rows() == 0 {
        return (guess, summary.failure);
    }
    let mut situation = guess;
    let last = trajectory.rows() - 1;
    for (var, variable) in mdae.variables.iter_enumerated() {
        if let Some(signal) = trajectory.signal(&variable.name) {
            situation.values[var.index()] = signal.values[last];
        }
    }
    if let Some(truths) = truths
        .borrow()
        .as_ref()
        .filter(|truths| truths.len() == situation.truths.len())
    {
        situation.truths.clone_from(truths);
    }
    situation.settled = discrete.is_settled(&situation);
    (situation, None)
}
