//! Which modes are looked at, starting from the initial one.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use saltus_instant::discrete::Reinit;
use saltus_mdae::print::{Names, UserNames, expression};
use saltus_mdae::{ConditionId, ConditionKind, Derivative, ExprPool, Idx, IndexVec, Mdae, VarId};
use saltus_source::{Cancel, Diagnostic};
use saltus_structure::all_modes::Budget;
use saltus_structure::mode::{ModeFailure, ModeStructure, Modes, Valuation, analyze_mode};
use saltus_structure::restart::ModeEquation;

use crate::all_changes::{all_changes, jumps_within};
use crate::all_modes::{look_at_all_modes, model_system};
use crate::discrete_equations::DiscreteEquations;
use crate::discrete_state::DiscreteState;
use crate::exclusion::Exclusions;
use crate::index_one::IndexOne;
use crate::mode_change::Passage;
use crate::mode_report::{refusal, residual_text, shape};
use crate::text::valuation_text;
use crate::trigger::{Consequences, ModeValue, Trigger};
use crate::{Analysis, ChangeOutcome, ChangeReport, ModeNumber, ModeReport, RestartReport};

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

/// What to look at.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// Which modes.
    pub coverage: Coverage,
    /// Modes beyond this number are counted, not analysed.
    pub most_modes: usize,
    /// Mode changes beyond this number are counted, not analysed.
    pub most_changes: usize,
    /// The height at which every mode change is analysed, in place of the smallest one that works.
    pub height: Option<u16>,
    /// Whether all modes at once are also asked what the change of one condition does.
    pub change_facts: bool,
    /// Whether each mode is also given as a model of index 1.
    pub index_one: bool,
    /// Asks to stop: what was found until then is not all.
    pub cancel: Cancel,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        AnalysisOptions {
            coverage: Coverage::Neighbours,
            most_modes: 64,
            most_changes: 256,
            height: None,
            change_facts: true,
            index_one: false,
            cancel: Cancel::new(),
        }
    }
}

pub(crate) struct Explorer<'m> {
    pub(crate) model: &'m Mdae,
    pub(crate) names: UserNames<'m>,
    pub(crate) modes: &'m Modes,
    pub(crate) options: &'m AnalysisOptions,
    pub(crate) discrete: DiscreteEquations<'m>,
    pub(crate) exclusions: Exclusions,
    pub(crate) pool: ExprPool,
    /// Values at the start by the names users know.
    pub(crate) starts: Vec<(String, f64)>,
    pub(crate) found: Vec<Found>,
    pub(crate) analysis: Analysis,
}

/// Discrete states looked at for each mode that may be analysed: several have the same mode.
const DISCRETE_STATES_PER_MODE: usize = 16;
/// Modes that are left out are counted up to this number.
const MOST_COUNTED: usize = 100;
/// Triggers that are all tried from neighbouring modes.
const MOST_TRIGGERS_BACK: usize = 100;
/// Conditions tried together with one that changes.
const MOST_SIMULTANEOUS: usize = 12;
/// Changes of several conditions shown for one of them.
const MOST_FOUND_SIMULTANEOUS: usize = 3;

/// From one discrete state to another.
#[derive(Copy, Clone)]
pub(crate) struct Step<'a> {
    pub old: &'a DiscreteState,
    pub new: &'a DiscreteState,
    pub consequences: &'a Consequences,
}

/// Where a change leads.
pub(crate) struct Reached {
    /// The mode entered.
    pub mode: ModeNumber,
    /// The one that goes on, if that one lasts for the instant only.
    pub then: Option<ModeNumber>,
}

/// Time events that are followed at most.
const MOST_TIME_EVENTS: usize = 32;

/// A mode with a discrete state that selects it.
pub(crate) struct Found {
    pub(crate) valuation: Valuation,
    pub(crate) discrete_state: DiscreteState,
    pub(crate) structure: Result<Rc<ModeStructure>, ModeFailure>,
}

/// A model to analyse.
#[derive(Debug)]
pub struct Subject<'m> {
    /// What users call it.
    pub name: &'m str,
    /// Its equations, prepared.
    pub model: &'m Mdae,
    /// Their guards.
    pub modes: &'m Modes,
    /// The expressions of the model, with room for those that the analysis makes.
    pub pool: ExprPool,
}

/// What is known about the initial mode from having initialised the model.
#[derive(Debug, Default)]
pub struct InitialState {
    /// When it starts.
    pub time: f64,
    /// Values of variables; the others have those that their start values suggest.
    pub values: Vec<(VarId, f64)>,
    /// Everything that was found, by the names users know.
    pub signals: Vec<(String, f64)>,
    /// The truth values of all conditions, if they are known.
    pub truths: Option<IndexVec<ConditionId, bool>>,
    /// Why nothing is known, if the initialisation failed.
    pub failure: Option<Diagnostic>,
}

impl InitialState {
    fn discrete_state(&self, discrete: &DiscreteEquations) -> DiscreteState {
        let mut found = DiscreteState::from_starts(discrete, self.time);
        if self.failure.is_some() || (self.values.is_empty() && self.truths.is_none()) {
            return found;
        }
        for &(var, value) in &self.values {
            found.values[var.index()] = value;
        }
        if let Some(truths) = self.truths.as_ref().filter(|truths| truths.len() == found.truths.len()) {
            found.truths.clone_from(truths);
        }
        found.settled = discrete.is_settled(&found);
        found
    }
}

/// Analyses modes and mode changes.
pub fn analyze(subject: Subject<'_>, initial: InitialState, options: &AnalysisOptions) -> Analysis {
    let discrete = DiscreteEquations::new(subject.model);
    let start = initial.discrete_state(&discrete);
    let mut explorer = Explorer {
        model: subject.model,
        names: UserNames::new(subject.model),
        modes: subject.modes,
        options,
        discrete,
        exclusions: Exclusions::new(subject.model, &start),
        pool: subject.pool,
        starts: initial.signals,
        found: Vec::new(),
        analysis: Analysis {
            model: subject.name.to_owned(),
            initial_failure: initial.failure,
            clocked: !subject.model.clocks.is_empty(),
            ..Analysis::default()
        },
    };
    explorer.run(start);
    explorer.analysis
}

impl Explorer<'_> {
    fn run(&mut self, initial: DiscreteState) {
        let atoms = initial.atoms(self.model, self.modes);
        self.analysis.conditions = atoms.into_iter().map(|(text, _)| text).collect();
        let Some(start) = self.mode_of(initial) else { return };
        match &self.options.coverage {
            Coverage::Initial => {}
            Coverage::Neighbours => self.neighbours(start),
            Coverage::All => {
                let modes = self.everything_at_once();
                if modes.is_none_or(|modes| modes <= self.options.most_modes as f64) {
                    self.everything(start);
                }
            }
            Coverage::Listed(modes) => self.listed(start, modes),
        }
    }

    /// The number of the mode a discrete state selects; analysed if it is new, `None` if there are too many.
    pub(crate) fn mode_of(&mut self, discrete_state: DiscreteState) -> Option<ModeNumber> {
        let valuation = discrete_state.valuation(self.model, self.modes)?;
        if let Some(known) = self.found.iter().position(|found| found.valuation == valuation) {
            return Some(known);
        }
        if self.found.len() >= self.options.most_modes || self.options.cancel.is_cancelled() {
            self.analysis.omitted_modes += 1;
            return None;
        }
        let structure = analyze_mode(self.model, self.modes, &valuation).map(Rc::new);
        let active = || self.modes.active(&valuation).collect::<Vec<_>>();
        let index_one = structure.as_ref().ok().filter(|_| self.options.index_one);
        let index_one = index_one.map(|structure| {
            let number = self.found.len();
            let selected = valuation_text(&discrete_state.atoms(self.model, self.modes));
            let form = IndexOne {
                model: self.model,
                structure,
                state: &discrete_state,
                starts: &self.starts,
                name: &format!("{}_mode{number}", self.analysis.model),
                description: &format!("mode {number} of {}: {selected}", self.analysis.model),
            };
            form.text(&mut self.pool)
        });
        self.analysis.modes.push(ModeReport {
            index_one,
            valuation: discrete_state.atoms(self.model, self.modes),
            structure: match &structure {
                Ok(structure) => Ok(shape(&self.names, self.modes, structure)),
                Err(failure) => Err(refusal(&self.names, self.modes, &active(), failure)),
            },
        });
        self.found.push(Found {
            valuation,
            discrete_state,
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
            let known = self.analysis.changes.len();
            self.follow(start, trigger, true);
            if self.analysis.changes.len() > known {
                self.simultaneous(start, trigger, known);
            }
        }
        self.course_of_time(start, &triggers);
        // Of many conditions those that led somewhere lead back.
        let led = |trigger: &&Trigger| {
            let text = trigger.text(self.model).0;
            self.analysis.changes.iter().any(|change| change.trigger.0 == text)
        };
        let back: Vec<Trigger> = if triggers.len() <= MOST_TRIGGERS_BACK {
            triggers.clone()
        } else {
            triggers.iter().filter(led).copied().collect()
        };
        for neighbour in (0..self.found.len()).filter(|&mode| mode != start) {
            for &trigger in &back {
                self.follow(neighbour, trigger, false);
            }
        }
    }

    /// The modes that time events bring about one after the other, if nothing else happens.
    fn course_of_time(&mut self, start: ModeNumber, triggers: &[Trigger]) {
        let (mut mode, mut discrete_state) = (start, self.found[start].discrete_state.clone());
        for _ in 0..MOST_TIME_EVENTS {
            let moments = triggers
                .iter()
                .filter_map(|&trigger| Some((discrete_state.time_of_flip(self.model, trigger)?, trigger)));
            let moments: Vec<(f64, Trigger)> = moments.collect();
            let next = moments.iter().map(|(moment, _)| *moment).fold(f64::INFINITY, f64::min);
            if !next.is_finite() {
                return;
            }
            let due = moments.iter().filter(|(moment, _)| *moment <= next + 1e-9 * next.abs());
            let due: Vec<Trigger> = due.map(|(_, trigger)| *trigger).collect();
            let (mut new, consequences) = self.discrete.flipped(&discrete_state, &due);
            new.time = next;
            let Some(reached) = self.analysed(
                mode,
                &due[..1],
                Step {
                    old: &discrete_state,
                    new: &new,
                    consequences: &consequences,
                },
                true,
            ) else {
                return;
            };
            (mode, discrete_state) = match reached.then {
                Some(then) => {
                    let after = self.found[then].discrete_state.clone();
                    (then, DiscreteState { time: next, ..after })
                }
                None => (reached.mode, new),
            };
        }
    }

    /// All modes at once; how many there are.
    fn everything_at_once(&mut self) -> Option<f64> {
        let experiment = &self.model.experiment;
        let start = experiment.start_time.unwrap_or(0.0);
        let span = (start, experiment.stop_time.unwrap_or(start + 1.0));
        let state = DiscreteState::from_starts(&self.discrete, span.0);
        let system = model_system(self.model, self.modes, &state);
        let (mut report, sets) = look_at_all_modes(self.model, &system, &state, span, Budget::default())?;
        if let Some(sets) = sets.filter(|_| self.options.change_facts) {
            report.changes = all_changes(self, sets, &state);
        }
        let modes = report.figures.as_ref().and_then(|figures| figures.modes.parse().ok());
        self.analysis.all_modes = Some(report);
        modes
    }

    fn everything(&mut self, start: ModeNumber) {
        let triggers = Trigger::all(self.model);
        let first = self.found[start].discrete_state.clone();
        let mut visited = BTreeSet::new();
        visited.insert(first.key(self.model));
        let mut pending = VecDeque::from([(start, first)]);
        let most = self.options.most_modes.saturating_mul(DISCRETE_STATES_PER_MODE);
        while let Some((mode, discrete_state)) = pending.pop_front() {
            if self.analysis.omitted_modes > 0 && self.analysis.omitted_changes > 0 {
                return;
            }
            for &trigger in &triggers {
                let Some((reached, new)) = self.step(mode, &discrete_state, trigger, true) else {
                    continue;
                };
                let after = reached.then.map(|then| (then, self.found[then].discrete_state.clone()));
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
    pub(crate) fn follow(&mut self, from: ModeNumber, trigger: Trigger, new_modes: bool) {
        let old = self.found[from].discrete_state.clone();
        self.step(from, &old, trigger, new_modes);
    }

    fn step(
        &mut self,
        from: ModeNumber,
        old: &DiscreteState,
        trigger: Trigger,
        new_modes: bool,
    ) -> Option<(Reached, DiscreteState)> {
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
        let old = self.found[from].discrete_state.clone();
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
            if refused {
                mentioned.next().is_some()
            } else {
                mentioned.any(impulsive)
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
                let shown: Vec<Trigger> = std::iter::once(trigger).chain(more).collect();
                possible.push((!report.impulses.is_empty(), shown, new, consequences));
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
        for (_, shown, new, consequences) in possible.into_iter().take(most) {
            self.analysed(
                from,
                &shown,
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
    fn decided_by_impulses(&self, report: &RestartReport, old: &DiscreteState, new: &DiscreteState) -> Option<String> {
        if !report.accepted || report.impulses.is_empty() {
            return None;
        }
        let impulsive = |name: String| report.impulses.iter().any(|(known, _)| *known == name);
        let conditions = self.model.conditions.ids().filter(|&id| {
            let same = old.truths[id] == new.truths[id];
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
    pub(crate) fn continuous_in(&self, condition: ConditionId) -> Vec<String> {
        let ConditionKind::Relation { function, .. } = self.model.conditions[condition].kind else {
            return Vec::new();
        };
        let mentioned = self.model.pool.occurrences(function).into_iter();
        mentioned
            .filter(|&Derivative { var, .. }| self.model.is_unknown(var))
            .map(|Derivative { var, order }| self.names.derivative(var, order))
            .collect()
    }

    /// Analyses the change from one discrete state to another; what is reached.
    pub(crate) fn analysed(
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
        let mut described = triggers.iter().map(|trigger| trigger.described(self.model, old, new));
        let (first, together) = (described.next()?, described.collect::<Vec<_>>());
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
    fn jumps(&self, mode: ModeNumber, trigger: Trigger, old: &DiscreteState, new: &DiscreteState) -> bool {
        let structure = self.found[mode].structure.as_ref();
        structure.is_ok_and(|structure| jumps_within(structure, trigger, old, new))
    }

    /// Reports a change; the mode that goes on if the one entered lasts for the instant only.
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
        let mut described = triggers.iter().map(|trigger| trigger.described(self.model, old, new));
        let (Some(first), together) = (described.next(), described.collect()) else {
            return None;
        };
        // From a mode that cannot be entered nothing can be said.
        if self.found[from].structure.is_err() {
            return None;
        }
        if self.analysis.changes.len() >= self.options.most_changes || self.options.cancel.is_cancelled() {
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

    /// Whether a discrete state selects a mode that was met before.
    fn is_found(&self, discrete_state: &DiscreteState) -> bool {
        let valuation = discrete_state.valuation(self.model, self.modes);
        valuation.is_some_and(|valuation| self.found.iter().any(|found| found.valuation == valuation))
    }
}
