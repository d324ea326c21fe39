//! All modes of a model at once, in the user's words: which are singular and why, how many have which index and states.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

use saltus_mdae::print::{Names, UserNames};
use saltus_mdae::{Action, Comparison, ConditionKind, ExprId, Idx, Mdae, Node, Role};
use saltus_source::{SourceMap, Span};
use saltus_structure::all_modes::figures::{Figures, States};
use saltus_structure::all_modes::model::ModelSystem;
use saltus_structure::all_modes::words::{Description, Literal, describe};
use saltus_structure::all_modes::{AllModes, Budget, ModeSet, SingularPlace, analyze_all_modes};
use saltus_structure::mode::Modes;
use serde_json::{Value, json};

use crate::all_changes::{ChangeFacts, print_changes};
use crate::discrete_equations::DiscreteEquations;
use crate::discrete_state::DiscreteState;
use crate::exclusion::Exclusions;
use crate::mode_report::{equation_text, span};

/// Combinations of conditions that are shown of one set.
const MOST_COMBINATIONS: usize = 6;
/// Equations and unknowns that are shown of one place.
const MOST_SHOWN: usize = 8;
/// Places with singular modes that are shown as text.
const MOST_PLACES: usize = 12;
/// Differentiated equations that are shown as text.
const MOST_DIFFERENTIATED: usize = 12;
/// Instants at which it is looked whether time alone selects a mode.
const INSTANTS: u32 = 2000;
/// Combinations of which that is looked at.
const MOST_LOOKED_AT: usize = 100;

/// What is known of all modes.
#[derive(Clone, Debug, Default)]
pub struct AllModesReport {
    /// What the guards of the model depend on.
    pub conditions: Vec<String>,
    /// Whether the model was looked at to the end; if not, its modes differ in too many ways.
    pub complete: bool,
    /// Numbers of modes, where they could be counted.
    pub figures: Option<ModeFigures>,
    /// Singular modes, place by place.
    pub singular: Vec<SingularModes>,
    /// Equations that are differentiated: how often, and when.
    pub differentiated: Vec<DifferentiatedEquation>,
    /// What the change of one condition does, where that was asked for.
    pub changes: Vec<ChangeFacts>,
}

/// Numbers of modes, as decimals: they may have many digits.
#[derive(Clone, Debug)]
pub struct ModeFigures {
    /// All that are possible.
    pub modes: String,
    /// The singular ones.
    pub singular: String,
    /// The others by index.
    pub index: Vec<(u16, String)>,
    /// And by number of states; empty if only the range is known.
    pub states: Vec<(i64, String)>,
    /// The least and the greatest number of states.
    pub range: Option<(i64, i64)>,
}

/// Modes that are singular at the same place.
#[derive(Clone, Debug)]
pub struct SingularModes {
    /// Which.
    pub when: ModeWords,
    /// How many, if that was counted.
    pub count: Option<String>,
    /// Whether a run gets there.
    pub reach: Reach,
    /// Whether all of them have more equations than unknowns: nothing is missing anywhere that could take the place of those
    /// that are too many.
    pub contradicts: bool,
    /// What is too many.
    pub too_many: Option<SingularPart>,
    /// What is too little.
    pub too_few: Option<SingularPart>,
}

/// Whether something keeps a run out of a mode.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Reach {
    /// Time alone selects it, for example at this one.
    ByTime(f64),
    /// It is selected by time and inputs alone: nothing in the model keeps it out.
    FromOutside,
    /// That depends on the values of variables.
    ByValues,
}

/// Equations and unknowns that do not fit.
#[derive(Clone, Debug, Default)]
pub struct SingularPart {
    /// The equations, with where they are written, and when they take part if that is not always.
    pub equations: Vec<(String, Option<Span>, Option<ModeWords>)>,
    /// The unknowns.
    pub unknowns: Vec<String>,
}

/// An equation that is differentiated.
#[derive(Clone, Debug)]
pub struct DifferentiatedEquation {
    /// The equation.
    pub text: String,
    /// Where it is written.
    pub span: Option<Span>,
    /// How often, and when.
    pub times: Vec<(u16, ModeWords)>,
}

/// A set of modes by the conditions that select it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModeWords {
    /// Any of these combinations; of more than are shown, the number of the others.
    Any(Vec<Vec<(String, bool)>>, usize),
    /// As many of these as one of the numbers says.
    Count(Vec<(String, bool)>, Vec<usize>),
    /// Too long to say; it is about so many conditions.
    Long(usize),
}

/// Looks at all modes of a model; `None` if it has one only. `span` is the time from start to stop.
pub fn all_modes_report(model: &Mdae, modes: &Modes, span: (f64, f64), budget: Budget) -> Option<AllModesReport> {
    let discrete = DiscreteEquations::new(model);
    let state = DiscreteState::from_starts(&discrete, span.0);
    let system = model_system(model, modes, &state);
    look_at_all_modes(model, &system, &state, span, budget).map(|(report, _)| report)
}

/// The equations of all modes with what is known of their conditions.
pub(crate) fn model_system(model: &Mdae, modes: &Modes, state: &DiscreteState) -> ModelSystem {
    let fixed = |expr: ExprId| state.is_true(model, state, expr);
    let mut system = ModelSystem::new(model, modes, &fixed);
    system.exclude(model, Exclusions::new(model, state).pairs());
    system
}

/// The report with what it was read from, if the model was looked at to the end.
pub(crate) fn look_at_all_modes<'a>(
    model: &'a Mdae,
    system: &'a ModelSystem,
    state: &'a DiscreteState,
    span: (f64, f64),
    budget: Budget,
) -> Option<(AllModesReport, Option<Reporter<'a>>)> {
    if system.conditions.is_empty() {
        return None;
    }
    let conditions = system
        .conditions
        .iter()
        .map(|condition| condition.text.clone())
        .collect();
    let report = AllModesReport {
        conditions,
        ..AllModesReport::default()
    };
    let Ok(all) = analyze_all_modes(&system.system, budget) else {
        return Some((report, None));
    };
    let mut reporter = Reporter {
        names: UserNames::new(model),
        system,
        care: ModeSet::ALL,
        all,
        state,
        span,
    };
    let report = reporter.report(report);
    let complete = report.complete;
    Some((report, complete.then_some(reporter)))
}

/// All modes of a model on the way into words.
pub(crate) struct Reporter<'a> {
    pub names: UserNames<'a>,
    pub system: &'a ModelSystem,
    pub all: AllModes,
    /// The modes that are possible.
    pub care: ModeSet,
    state: &'a DiscreteState,
    span: (f64, f64),
}

impl Reporter<'_> {
    fn report(&mut self, mut report: AllModesReport) -> AllModesReport {
        let figures = self.all.figures();
        let possible = self.all.possible.clone();
        self.care = self.all.space.conjunction(possible);
        report.singular = self.singular(figures.is_some());
        report.differentiated = self.differentiated();
        report.complete = !self.all.space.is_exhausted();
        report.figures = figures.as_ref().map(in_decimals);
        if !report.complete {
            report.singular.clear();
            report.differentiated.clear();
        }
        report
    }

    /// Places with the same modes are one.
    fn singular(&mut self, counted: bool) -> Vec<SingularModes> {
        let mut joined: BTreeMap<ModeSet, Vec<SingularPlace>> = BTreeMap::new();
        let mut order = Vec::new();
        for place in self.all.places.clone() {
            let modes = self.all.space.and(place.modes, self.care);
            if modes.is_empty() {
                continue;
            }
            if !joined.contains_key(&modes) {
                order.push(modes);
            }
            joined.entry(modes).or_default().push(place);
        }
        order
            .into_iter()
            .map(|modes| {
                let places = &joined[&modes];
                let mut part = |too_many: bool| -> Option<SingularPart> {
                    let mut of_kind = places.iter().filter(|place| place.too_many == too_many).peekable();
                    of_kind.peek()?;
                    let mut part = SingularPart::default();
                    for place in of_kind {
                        self.add(&mut part, place, modes);
                    }
                    Some(part)
                };
                let (too_many, too_few) = (part(true), part(false));
                let missing = self.all.decomposition.free_unknowns.clone();
                let contradicts = !missing
                    .into_iter()
                    .any(|missing| self.all.space.intersects(modes, missing));
                SingularModes {
                    when: self.words(modes, self.care),
                    count: counted.then(|| self.all.space.count(modes).to_string()),
                    reach: self.reach(modes),
                    contradicts,
                    too_many,
                    too_few,
                }
            })
            .collect()
    }

    fn add(&mut self, part: &mut SingularPart, place: &SingularPlace, modes: ModeSet) {
        let model = self.names.model();
        for &(row, when) in &place.rows {
            let id = self.system.rows[row];
            let text = equation_text(&self.names, id);
            // Within the modes of the place, and of the guard of the equation, which is said where it is written.
            let always = self.all.space.is_within(modes, when);
            let words = (!always).then(|| self.words(when, modes));
            part.equations.push((text, span(model, id), words));
        }
        let unknowns = place
            .unknowns
            .iter()
            .map(|&(at, _)| self.names.derivative(self.system.unknowns[at], 0));
        part.unknowns.extend(unknowns);
    }

    fn words(&mut self, set: ModeSet, care: ModeSet) -> ModeWords {
        self.words_with(set, care, MOST_COMBINATIONS)
    }

    /// A set within modes that matter, with at most `most` combinations.
    pub(crate) fn words_with(&mut self, set: ModeSet, care: ModeSet, most: usize) -> ModeWords {
        let text = |&(condition, value): &Literal| (self.system.conditions[condition.index()].text.clone(), value);
        match describe(&mut self.all.space, set, care, most) {
            Description::Any { cubes, others } => {
                let cubes = cubes.iter().map(|cube| cube.iter().map(text).collect());
                ModeWords::Any(cubes.collect(), others)
            }
            Description::Count { literals, numbers } => ModeWords::Count(literals.iter().map(text).collect(), numbers),
            Description::Long { conditions } => ModeWords::Long(conditions),
        }
    }

    fn differentiated(&mut self) -> Vec<DifferentiatedEquation> {
        let singular: Vec<ModeSet> = self.all.decomposition.singular_parts();
        let mut found = Vec::new();
        for row in 0..self.system.rows.len() {
            let parts = self.all.c[row].clone();
            if parts.keys().all(|&times| times == 0) {
                continue;
            }
            // Only what shares conditions with the offsets matters: the rest would make the words longer, not truer.
            let all = self.all.space.union(parts.values().copied());
            let about = self.all.space.support(all);
            let near = singular.iter().copied().filter(|&part| {
                self.all
                    .space
                    .support(part)
                    .iter()
                    .any(|condition| about.contains(condition))
            });
            let near: Vec<ModeSet> = near.collect();
            let near = self.all.space.union(near);
            let regular = self.all.space.and_not(self.care, near);
            let care = self.all.space.and(all, regular);
            let mut times = Vec::new();
            for (&value, &modes) in parts.iter().filter(|(value, _)| **value > 0) {
                if self.all.space.intersects(modes, regular) {
                    times.push((value, self.words(modes, care)));
                }
            }
            if !times.is_empty() {
                let id = self.system.rows[row];
                found.push(DifferentiatedEquation {
                    text: equation_text(&self.names, id),
                    span: span(self.names.model(), id),
                    times,
                });
            }
        }
        found
    }

    /// Whether something keeps a run out of singular modes. What lasts for an instant only may be singular.
    fn reach(&mut self, modes: ModeSet) -> Reach {
        let model = self.names.model();
        let mut actions = model
            .whens
            .iter()
            .flat_map(|when| &when.branches)
            .flat_map(|branch| &branch.actions);
        if actions.any(|action| matches!(action, Action::Restart { .. })) {
            return Reach::ByValues;
        }
        let Description::Any { cubes, .. } = describe(&mut self.all.space, modes, self.care, MOST_LOOKED_AT) else {
            return Reach::ByValues;
        };
        let mut found = Reach::ByValues;
        for cube in &cubes {
            let sources: Vec<Source> = cube
                .iter()
                .map(|&(condition, _)| self.source(condition.index()))
                .collect();
            if cube.is_empty() || sources.contains(&Source::Values) {
                continue;
            }
            if sources.contains(&Source::Inputs) {
                found = Reach::FromOutside;
            } else if let Some(time) = self.time_of(cube) {
                return Reach::ByTime(time);
            }
        }
        found
    }

    /// Whether the values of unknowns have no say in a condition.
    pub(crate) fn is_from_outside(&self, condition: usize) -> bool {
        self.source(condition) != Source::Values
    }

    fn source(&self, condition: usize) -> Source {
        let model = self.names.model();
        let formula = self.system.conditions[condition].formula;
        let roles = |expr: ExprId| -> Vec<Role> {
            let occurring = model.pool.occurrences(expr).into_iter();
            occurring.map(|leaf| model.variables[leaf.var].role).collect()
        };
        let (roles, plain) = match model.pool.node(formula) {
            Node::Condition(id) => match model.conditions[id].kind {
                ConditionKind::Relation { function, .. } => {
                    let plain = model.pool.conditions_in(function).is_empty()
                        && model.pool.left_limit_occurrences(function).is_empty();
                    (roles(function), plain)
                }
                ConditionKind::Sample { .. } | ConditionKind::Tick { .. } | ConditionKind::Timer { .. } => {
                    return Source::Values;
                }
            },
            _ => (roles(formula), model.pool.conditions_in(formula).is_empty()),
        };
        if !plain
            || roles
                .iter()
                .any(|role| matches!(role, Role::Continuous | Role::Discrete))
        {
            Source::Values
        } else if roles.contains(&Role::Input) {
            Source::Inputs
        } else {
            Source::Time
        }
    }

    /// A time at which conditions on time alone have given values, for more than an instant.
    fn time_of(&self, cube: &[Literal]) -> Option<f64> {
        let (start, stop) = self.span;
        let holds = |time: f64| {
            let mut all = cube.iter();
            all.all(|&(condition, value)| self.is_true_at(condition.index(), time) == Some(value))
        };
        let step = (stop - start) / f64::from(INSTANTS);
        let times = (0..=INSTANTS).map(|at| start + step * f64::from(at));
        if !(step > 0.0 && step.is_finite()) {
            return None;
        }
        let mut before = false;
        for time in times {
            let now = holds(time);
            if now && before {
                return Some(time - step);
            }
            before = now;
        }
        None
    }

    fn is_true_at(&self, condition: usize, time: f64) -> Option<bool> {
        let model = self.names.model();
        let Node::Condition(id) = model.pool.node(self.system.conditions[condition].formula) else {
            return None;
        };
        let ConditionKind::Relation { function, comparison } = model.conditions[id].kind else {
            return None;
        };
        let value = self.state.evaluate_at(model, time, function)?;
        Some(match comparison {
            Comparison::Greater => value > 0.0,
            Comparison::GreaterEqual => value >= 0.0,
        })
    }
}

/// What a condition depends on.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Source {
    Time,
    Inputs,
    Values,
}

fn in_decimals(figures: &Figures) -> ModeFigures {
    let (states, range) = match &figures.states {
        States::Distribution(counts) => {
            let ends = counts.keys().next().copied().zip(counts.keys().next_back().copied());
            (
                counts
                    .iter()
                    .map(|(states, count)| (*states, count.to_string()))
                    .collect(),
                ends,
            )
        }
        States::Range(least, most) => (Vec::new(), Some((*least, *most))),
        States::Unknown => (Vec::new(), None),
    };
    ModeFigures {
        modes: figures.modes.to_string(),
        singular: figures.singular.to_string(),
        index: figures
            .index
            .iter()
            .map(|(index, count)| (*index, count.to_string()))
            .collect(),
        states,
        range,
    }
}

/// `x > 0`, `not (x > 0)`
fn literal_text((text, value): &(String, bool)) -> String {
    if *value {
        text.clone()
    } else if text.contains(' ') {
        format!("not ({text})")
    } else {
        format!("not {text}")
    }
}

impl Display for ModeWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |literals: &[(String, bool)], with: &str| -> String {
            literals.iter().map(literal_text).collect::<Vec<_>>().join(with)
        };
        match self {
            ModeWords::Any(cubes, _) if cubes.iter().any(Vec::is_empty) => f.write_str("in every mode"),
            ModeWords::Any(cubes, others) => {
                let shown = &cubes[..cubes.len().min(MOST_COMBINATIONS)];
                let others = others + cubes.len() - shown.len();
                let cubes: Vec<String> = shown.iter().map(|cube| joined(cube, " and ")).collect();
                f.write_str(&cubes.join(", or "))?;
                match others {
                    0 => Ok(()),
                    1 => f.write_str(", or one combination more"),
                    _ => write!(f, ", or {others} combinations more"),
                }
            }
            ModeWords::Count(literals, numbers) => {
                f.write_str(&counted(numbers, literals.len()))?;
                let shown = &literals[..literals.len().min(MOST_COMBINATIONS)];
                write!(f, ": {}", joined(shown, ", "))?;
                if literals.len() > shown.len() {
                    f.write_str(", …")
                } else {
                    Ok(())
                }
            }
            ModeWords::Long(conditions) => write!(f, "combinations of {conditions} conditions"),
        }
    }
}

/// `at least 2 of the 30`
fn counted(numbers: &[usize], all: usize) -> String {
    let [Some(&least), Some(&most)] = [numbers.first(), numbers.last()] else {
        return format!("none of the {all}");
    };
    if most - least + 1 != numbers.len() {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        return format!("{} of the {all}", numbers.join(" or "));
    }
    match (least, most) {
        (0, most) => format!("at most {most} of the {all}"),
        (least, most) if most == all => format!("at least {least} of the {all}"),
        (least, most) if least == most => format!("exactly {least} of the {all}"),
        (least, most) => format!("{least} to {most} of the {all}"),
    }
}

/// Numbers with many digits as powers of two.
fn readable(number: &str) -> String {
    if number.len() <= 7 {
        return number.to_owned();
    }
    // The leading digits give the power as exactly as it can be said.
    let leading = number.len().min(17);
    let mantissa: f64 = number[..leading].parse().unwrap_or(1.0);
    let power = mantissa.log2() + (number.len() - leading) as f64 * std::f64::consts::LOG2_10;
    let exact = is_power_of_two(number, power.round() as u64);
    format!("{}2^{}", if exact { "" } else { "about " }, power.round())
}

/// Whether a decimal near a power of two is that power: told by what is left after division by two large primes.
fn is_power_of_two(number: &str, power: u64) -> bool {
    const PRIMES: [u128; 2] = [(1 << 61) - 1, 999_999_999_999_999_989];
    PRIMES.into_iter().all(|prime| {
        let digit = |left: u128, byte: u8| (left * 10 + u128::from(byte - b'0')) % prime;
        let left = number.bytes().fold(0, digit);
        let wanted = (0..power).fold(1, |left: u128, _| left * 2 % prime);
        left == wanted
    })
}

pub(crate) fn modes_text(number: &str) -> String {
    if number == "1" {
        "1 mode".to_owned()
    } else {
        format!("{} modes", readable(number))
    }
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(MOST_SHOWN);
    let mut text = items.take(MOST_SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

impl SingularModes {
    /// Whether a mode is known to be one of them by what is said.
    pub fn includes(&self, valuation: &[(String, bool)]) -> bool {
        self.when.include(valuation) == Some(true)
    }

    /// What does not fit, in one line for each part.
    pub fn reasons(&self) -> Vec<String> {
        let part = |part: &SingularPart, kind: &str| {
            let equations = part.equations.iter().map(|(text, _, when)| match when {
                Some(when) => format!("{text} [if {when}]"),
                None => text.clone(),
            });
            let unknowns = listed(part.unknowns.iter().cloned());
            let equations = listed(equations.collect::<Vec<_>>().into_iter());
            match (unknowns.is_empty(), equations.is_empty()) {
                (true, _) => format!("{kind} equations: {equations}"),
                (_, true) => format!("{kind} equations for {unknowns}"),
                _ => format!("{kind} equations for {unknowns}: {equations}"),
            }
        };
        let many = self.too_many.iter().map(|found| part(found, "too many"));
        let few = self.too_few.iter().map(|found| part(found, "too few"));
        many.chain(few).collect()
    }

    /// Where the equations that take part are written.
    pub fn places(&self) -> Vec<Span> {
        let parts = self.too_many.iter().chain(&self.too_few);
        let mut places: Vec<Span> = Vec::new();
        for span in parts.flat_map(|part| &part.equations).filter_map(|(_, span, _)| *span) {
            if !places.contains(&span) {
                places.push(span);
            }
        }
        places
    }
}

impl ModeWords {
    /// Whether a mode is among those said; `None` if the words do not say.
    pub(crate) fn include(&self, valuation: &[(String, bool)]) -> Option<bool> {
        let value = |text: &str| {
            valuation
                .iter()
                .find(|(known, _)| known == text)
                .map(|(_, value)| *value)
        };
        let holds = |(text, wanted): &(String, bool)| Some(value(text)? == *wanted);
        let all = |cube: &Vec<(String, bool)>| -> Option<bool> {
            cube.iter().try_fold(true, |all, literal| Some(all && holds(literal)?))
        };
        match self {
            ModeWords::Any(cubes, others) => {
                let any = cubes.iter().try_fold(false, |any, cube| Some(any || all(cube)?))?;
                (any || *others == 0).then_some(any)
            }
            ModeWords::Count(literals, numbers) => {
                let held: Option<Vec<bool>> = literals.iter().map(holds).collect();
                Some(numbers.contains(&held?.into_iter().filter(|held| *held).count()))
            }
            ModeWords::Long(_) => None,
        }
    }
}

impl AllModesReport {
    /// For people.
    pub(crate) fn print(&self, out: &mut String) {
        let conditions = self.conditions.len();
        let plural = if conditions == 1 { "" } else { "s" };
        let Some(figures) = &self.figures else {
            let _ = writeln!(
                out,
                "  {conditions} condition{plural}; the modes differ in too many ways to look at all of them together"
            );
            return;
        };
        let _ = writeln!(out, "  {conditions} condition{plural}, {}", modes_text(&figures.modes));
        if self.singular.is_empty() {
            let _ = writeln!(out, "  every mode is structurally regular");
        } else {
            let verb = if figures.singular == "1" { "is" } else { "are" };
            let _ = writeln!(out, "  {} {verb} singular:", modes_text(&figures.singular));
        }
        for place in self.singular.iter().take(MOST_PLACES) {
            let count = place
                .count
                .as_ref()
                .map_or(String::new(), |count| format!("   ({})", modes_text(count)));
            let _ = writeln!(out, "    {}{count}", place.when);
            for reason in place.reasons() {
                let _ = writeln!(out, "      {reason}");
            }
            let _ = match place.reach {
                Reach::ByTime(time) => writeln!(out, "      time alone selects it, for example at t = {time}"),
                Reach::FromOutside => writeln!(out, "      time and inputs alone select it"),
                Reach::ByValues => Ok(()),
            };
        }
        if self.singular.len() > MOST_PLACES {
            let _ = writeln!(out, "    and {} places more", self.singular.len() - MOST_PLACES);
        }
        let distribution = |counts: &[(String, String)]| {
            let parts: Vec<String> = counts
                .iter()
                .map(|(value, count)| format!("{value} in {}", modes_text(count)))
                .collect();
            parts.join(", ")
        };
        let index: Vec<(String, String)> = figures.index.iter().map(|(k, n)| (k.to_string(), n.clone())).collect();
        if !index.is_empty() {
            let _ = writeln!(out, "  index: {}", distribution(&index));
        }
        let states: Vec<(String, String)> = figures.states.iter().map(|(k, n)| (k.to_string(), n.clone())).collect();
        match (states.len(), figures.range) {
            (1..=6, _) => {
                let _ = writeln!(out, "  states: {}", distribution(&states));
            }
            (0, Some((least, most))) => {
                let _ = writeln!(out, "  states: {least} to {most}");
            }
            (_, Some((least, most))) => {
                let often = figures
                    .states
                    .iter()
                    .max_by_key(|(_, count)| (count.len(), count.clone()));
                let often = often.map_or(least, |(states, _)| *states);
                let _ = writeln!(out, "  states: {least} to {most}, most often {often}");
            }
            (_, None) => {}
        }
        for equation in self.differentiated.iter().take(MOST_DIFFERENTIATED) {
            let times: Vec<String> = equation
                .times
                .iter()
                .map(|(times, when)| times_text(*times, when))
                .collect();
            let _ = writeln!(out, "  differentiated: {}: {}", equation.text, times.join("; "));
        }
        if self.differentiated.len() > MOST_DIFFERENTIATED {
            let more = self.differentiated.len() - MOST_DIFFERENTIATED;
            let _ = writeln!(out, "  differentiated: {more} equations more");
        }
        print_changes(&self.changes, out);
    }

    /// For machines.
    pub(crate) fn to_json(&self, sources: &SourceMap) -> Value {
        let place = |span: Option<Span>| crate::json::place(span, sources);
        let part = |part: &SingularPart| {
            json!({
                "equations": part.equations.iter().map(|(text, span, when)| json!({
                    "text": text, "span": place(*span), "when": when.as_ref().map(words_to_json),
                })).collect::<Vec<_>>(),
                "unknowns": part.unknowns,
            })
        };
        let singular = self.singular.iter().map(|modes| {
            json!({
                "when": words_to_json(&modes.when),
                "modes": modes.count,
                "reach": match modes.reach {
                    Reach::ByTime(_) => "time",
                    Reach::FromOutside => "outside",
                    Reach::ByValues => "values",
                },
                "time": match modes.reach { Reach::ByTime(time) => json!(time), _ => Value::Null },
                "too_many": modes.too_many.as_ref().map(part),
                "too_few": modes.too_few.as_ref().map(part),
            })
        });
        let differentiated = self.differentiated.iter().map(|equation| {
            let times = equation.times.iter();
            json!({
                "text": equation.text,
                "span": place(equation.span),
                "c": times.map(|(value, when)| json!({"value": value, "when": words_to_json(when)})).collect::<Vec<_>>(),
            })
        });
        let figures = self.figures.as_ref();
        json!({
            "conditions": self.conditions,
            "complete": self.complete,
            "modes": figures.map(|figures| &figures.modes),
            "singular_modes": figures.map(|figures| &figures.singular),
            "singular": singular.collect::<Vec<_>>(),
            "index": figures.map(|figures| -> Value {
                figures.index.iter().map(|(index, count)| (index.to_string(), json!(count))).collect()
            }),
            "states": figures.map(|figures| -> Value {
                figures.states.iter().map(|(states, count)| (states.to_string(), json!(count))).collect()
            }),
            "states_range": figures.and_then(|figures| figures.range).map(|(least, most)| json!([least, most])),
            "differentiated": differentiated.collect::<Vec<_>>(),
            "changes": self.changes.iter().map(|change| change.to_json(sources)).collect::<Vec<_>>(),
        })
    }
}

fn times_text(times: u16, when: &ModeWords) -> String {
    let often = match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{times} times"),
    };
    match when {
        ModeWords::Any(cubes, _) if cubes.iter().any(Vec::is_empty) => often,
        when => format!("{often} if {when}"),
    }
}

pub(crate) fn words_to_json(words: &ModeWords) -> Value {
    let literals = |literals: &[(String, bool)]| -> Vec<Value> {
        literals
            .iter()
            .map(|(condition, value)| json!({"condition": condition, "value": value}))
            .collect()
    };
    let mut value = json!({"any": null, "others": null, "numbers": null, "of": null, "about": null});
    match words {
        ModeWords::Any(cubes, others) => {
            value["any"] = cubes.iter().map(|cube| literals(cube)).collect();
            value["others"] = json!(others);
        }
        ModeWords::Count(counted, numbers) => {
            value["numbers"] = json!(numbers);
            value["of"] = json!(literals(counted));
        }
        ModeWords::Long(conditions) => value["about"] = json!(conditions),
    }
    value
}

#[cfg(test)]
mod tests {
    use super::readable;

    /// 2^power as a decimal.
    fn decimal(power: u32) -> String {
        let mut digits = vec![1u8];
        for _ in 0..power {
            let mut carry = 0;
            for digit in &mut digits {
                let doubled = *digit * 2 + carry;
                (*digit, carry) = (doubled % 10, doubled / 10);
            }
            digits.extend((carry > 0).then_some(carry));
        }
        digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
    }

    #[test]
    fn powers_of_two_are_told_exactly() {
        for power in [24, 40, 64, 300, 1000, 3003, 10_000] {
            let number = decimal(power);
            assert_eq!(readable(&number), format!("2^{power}"));
            let last = number.len() - 1;
            let other = format!("{}{}", &number[..last], if number.ends_with('5') { '7' } else { '5' });
            assert_eq!(readable(&other), format!("about 2^{power}"));
        }
        assert_eq!(readable("1048576"), "1048576");
    }
}
