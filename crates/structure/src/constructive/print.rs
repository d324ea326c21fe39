//! The verdict and the execution scheme in words.

use std::fmt::Write;

use saltus_mdae::{EquationId, Idx, VarId};

use super::analysis::{ConstructiveVerdict, Rejection, Report};
use super::reaction::{Failure, Outcome, Reaction, Step};
use super::system::{Shifted, ShiftedEquation};
use crate::formula::PredicateId;

/// Start states in the text.
const MOST_START_STATES: usize = 40;
/// Courses in the text, from all start states together.
const MOST_COURSES: usize = 200;
/// Bytes of text after which no further course is begun.
const MOST_TEXT: usize = 50_000;
/// Valuations reported of one course.
const MOST_VALUATIONS: usize = 4;
/// Singular modes, or steps of a course, in the text.
const MOST_LISTED: usize = 24;
/// Longer lines are cut in their middle.
const MOST_CHARACTERS: usize = 200;

/// How variables, equations and predicates are called.
pub trait Names {
    /// A variable.
    fn variable(&self, variable: VarId) -> String;
    /// An equation, by its position in the system.
    fn equation(&self, equation: EquationId) -> String;
    /// A predicate.
    fn predicate(&self, predicate: PredicateId) -> String;
}

/// Reactions that go the same way: from one start state, with the same steps to the same end, under several valuations.
#[derive(Clone, Debug)]
pub struct Course<'r> {
    /// Positions in [`Report::reactions`].
    pub reactions: Vec<usize>,
    /// One of them.
    pub example: &'r Reaction,
}

impl Report {
    /// The reactions from a start state, those that go the same way together; excluded valuations are left out.
    pub fn courses(&self, from: usize) -> Vec<Course<'_>> {
        let mut courses: Vec<Course<'_>> = Vec::new();
        let own = self.reactions.iter().enumerate().filter(|(_, r)| r.from == from);
        for (position, reaction) in own.filter(|(_, r)| r.outcome != Outcome::Excluded) {
            match courses
                .iter_mut()
                .find(|course| is_same_course(course.example, reaction))
            {
                Some(course) => course.reactions.push(position),
                None => courses.push(Course {
                    reactions: vec![position],
                    example: reaction,
                }),
            }
        }
        courses
    }

    /// The verdict and the execution scheme as text, one start state after the other, as much of it as one can read.
    pub fn to_text(&self, names: &dyn Names) -> String {
        let mut out = String::new();
        let verdict = match self.verdict() {
            ConstructiveVerdict::Accepted => "accepted",
            ConstructiveVerdict::Rejected => "rejected",
            ConstructiveVerdict::Undecided => "undecided",
        };
        let _ = writeln!(out, "constructive semantics: {verdict}");
        self.write_reasons(&mut out, names);
        let (mut shown, mut reported) = (0, 0);
        let is_full = |out: &String, reported: usize| reported >= MOST_COURSES || out.len() >= MOST_TEXT;
        for (number, instant) in self.instants.iter().enumerate().take(MOST_START_STATES) {
            if is_full(&out, reported) {
                break;
            }
            shown += 1;
            let known = shifted_names(&instant.known, |variable| names.variable(variable));
            let _ = writeln!(out, "\nstart state {number}: known {}", brief(&known));
            let mut courses = self.courses(number).into_iter();
            while !is_full(&out, reported)
                && let Some(course) = courses.next()
            {
                self.write_course(&mut out, &course, names);
                reported += 1;
            }
            write_more(&mut out, 2, courses.len(), "ways to go on");
        }
        if shown < self.instants.len() {
            out.push('\n');
            write_more(&mut out, 0, self.instants.len() - shown, "start states");
        }
        out
    }

    fn write_reasons(&self, out: &mut String, names: &dyn Names) {
        let (mut stuck, mut singular) = (0, 0_usize);
        for rejection in &self.rejections {
            let _ = match rejection {
                Rejection::Mode(_) if singular >= MOST_LISTED => {
                    singular += 1;
                    Ok(())
                }
                Rejection::Mode(position) => {
                    singular += 1;
                    let values = self.modes[*position].valuation.iter().copied().map(Some);
                    let text = valuation_text(&values.collect::<Vec<_>>(), names);
                    let which = if self.merged {
                        "a mode of several, for example"
                    } else {
                        "the mode"
                    };
                    writeln!(out, "  {which} [{}] is singular", brief(&text))
                }
                Rejection::Reaction(_) => {
                    stuck += 1;
                    Ok(())
                }
                Rejection::TooManyInstants => {
                    let (instants, reactions) = (self.instants.len(), self.reactions.len());
                    let found = format!("{reactions} reactions from {instants} start states");
                    writeln!(out, "  there are more than the {found} that were explored")
                }
            };
        }
        write_more(out, 2, singular.saturating_sub(MOST_LISTED), "singular modes");
        if stuck > 0 {
            let _ = writeln!(out, "  reactions that get stuck: {stuck} of {}", self.reactions.len());
        }
        if self.event_cycle.is_some() {
            let _ = writeln!(out, "  events may follow each other without end");
        }
    }

    fn write_course(&self, out: &mut String, course: &Course<'_>, names: &dyn Names) {
        let end = course.example.outcome.text(names);
        let _ = writeln!(out, "  {}: {}", self.circumstances(course, names), brief(&end));
        let lines = course.example.step_lines(names);
        for line in lines.iter().take(MOST_LISTED) {
            let _ = writeln!(out, "    {}", brief(line));
        }
        write_more(out, 4, lines.len().saturating_sub(MOST_LISTED), "steps");
    }
}

impl Report {
    /// The valuations of a course; of many what they have in common.
    fn circumstances(&self, course: &Course<'_>, names: &dyn Names) -> String {
        let valuations = course.reactions.iter().map(|&r| &self.reactions[r].valuation);
        if course.reactions.len() <= MOST_VALUATIONS {
            let texts = valuations.map(|v| format!("[{}]", valuation_text(v, names)));
            return texts.collect::<Vec<_>>().join(" or ");
        }
        let mut common = course.example.valuation.clone();
        for valuation in valuations {
            for (kept, value) in common.iter_mut().zip(valuation) {
                *kept = kept.filter(|kept| Some(*kept) == *value);
            }
        }
        let count = course.reactions.len();
        let noun = if self.merged { "combinations" } else { "valuations" };
        format!("{count} {noun}, all with [{}]", valuation_text(&common, names))
    }
}

/// Says how much is left out, if anything is.
fn write_more(out: &mut String, indent: usize, more: usize, noun: &str) {
    if more > 0 {
        let _ = writeln!(out, "{:indent$}… and {more} more {noun}; `--json` has all", "");
    }
}

/// The beginning and the end of a long line.
fn brief(line: &str) -> String {
    let count = line.chars().count();
    if count <= MOST_CHARACTERS {
        return line.to_owned();
    }
    let tail = MOST_CHARACTERS / 4;
    let head: String = line.chars().take(MOST_CHARACTERS - tail).collect();
    let tail: String = line.chars().skip(count - tail).collect();
    format!("{} … {}", head.trim_end(), tail.trim_start())
}

fn is_same_course(a: &Reaction, b: &Reaction) -> bool {
    let steps = |reaction: &Reaction| {
        let steps = reaction.steps.iter();
        steps
            .filter(|step| !matches!(step, Step::Evaluate(_)))
            .cloned()
            .collect::<Vec<_>>()
    };
    a.outcome == b.outcome && steps(a) == steps(b)
}

impl Outcome {
    /// In words.
    pub fn text(&self, names: &dyn Names) -> String {
        match self {
            Outcome::Completed { to, .. } => format!("goes on in start state {to}"),
            Outcome::Failed(failure) => format!("stuck: {}", failure.text(names)),
            Outcome::Excluded => "excluded".to_owned(),
        }
    }
}

impl Failure {
    /// In words.
    pub fn text(&self, names: &dyn Names) -> String {
        let equations = |list: &[ShiftedEquation]| shifted_names(list, |equation| names.equation(equation));
        match self {
            Failure::NothingLeft { equations: list } => format!("nothing left to determine for {}", equations(list)),
            Failure::ShiftBound { equations } => {
                let texts: Vec<String> = equations.iter().map(|&id| names.equation(id)).collect();
                format!("shifted without end: {}", texts.join(", "))
            }
            Failure::Overdetermined { equations: list } => format!("too many equations: {}", equations(list)),
            Failure::Underdetermined { unknowns, .. } => {
                let texts = shifted_names(unknowns, |variable| names.variable(variable));
                format!("not determined: {texts}")
            }
            Failure::Blocked { predicates } => {
                let texts: Vec<String> = predicates.iter().map(|&p| names.predicate(p)).collect();
                format!("guards depend on what they switch: {}", texts.join(", "))
            }
        }
    }
}

impl Reaction {
    /// What happens, a line for each step that solves, resets or adds something.
    pub fn step_lines(&self, names: &dyn Names) -> Vec<String> {
        let equations = |list: &[ShiftedEquation]| shifted_names(list, |equation| names.equation(equation));
        let variables = |list: &[Shifted]| shifted_names(list, |variable| names.variable(variable));
        let line = |step: &Step| match step {
            Step::Solve {
                equations: solved,
                unknowns,
            } => Some(format!("{} → {}", equations(solved), variables(unknowns))),
            Step::Shift {
                equation,
                is_fact: false,
            } => Some(format!("reset by {}", equations(&[*equation]))),
            Step::Latent(equation) => Some(format!("latent {}", equations(&[*equation]))),
            Step::Shift { .. } | Step::Evaluate(_) => None,
        };
        self.steps.iter().filter_map(line).collect()
    }
}

/// The predicates with their values.
pub fn valuation_text(valuation: &[Option<bool>], names: &dyn Names) -> String {
    let known = valuation
        .iter()
        .enumerate()
        .filter_map(|(i, value)| Some((i, (*value)?)));
    let text = |(position, value): (usize, bool)| {
        let predicate = names.predicate(PredicateId::from_usize(position));
        format!("{predicate}={value}")
    };
    known.map(text).collect::<Vec<_>>().join(", ")
}

/// `x`, `x•`, `x•2`: names with the number of forward shifts.
pub fn shifted_names<I: Copy>(list: &[(I, u16)], name: impl Fn(I) -> String) -> String {
    let texts = list.iter().map(|&(id, shifts)| match shifts {
        0 => name(id),
        1 => format!("{}•", name(id)),
        _ => format!("{}•{shifts}", name(id)),
    });
    texts.collect::<Vec<_>>().join(", ")
}
