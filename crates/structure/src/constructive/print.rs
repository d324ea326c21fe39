//! The verdict and the execution scheme in words.

use std::fmt::Write;

use saltus_mdae::{EquationId, Idx, VarId};

use super::analysis::{Rejection, Report, Verdict};
use super::reaction::{Failure, Outcome, Reaction, Step};
use super::system::{PredicateId, Shifted, ShiftedEquation};

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

    /// The verdict and the execution scheme as text, one start state after the other.
    pub fn to_text(&self, names: &dyn Names) -> String {
        let mut out = String::new();
        let verdict = match self.verdict() {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
            Verdict::Undecided => "undecided",
        };
        let _ = writeln!(out, "constructive semantics: {verdict}");
        self.write_reasons(&mut out, names);
        for (number, instant) in self.instants.iter().enumerate() {
            let known = shifted_names(&instant.known, |variable| names.variable(variable));
            let _ = writeln!(out, "\nstart state {number}: known {known}");
            for course in self.courses(number) {
                self.write_course(&mut out, &course, names);
            }
        }
        out
    }

    fn write_reasons(&self, out: &mut String, names: &dyn Names) {
        let mut stuck = 0;
        for rejection in &self.rejections {
            let _ = match rejection {
                Rejection::Mode(position) => {
                    let values = self.modes[*position].valuation.iter().copied().map(Some);
                    let text = valuation_text(&values.collect::<Vec<_>>(), names);
                    writeln!(out, "  the mode [{text}] is singular")
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
        if stuck > 0 {
            let _ = writeln!(out, "  reactions that get stuck: {stuck} of {}", self.reactions.len());
        }
        if self.event_cycle.is_some() {
            let _ = writeln!(out, "  events may follow each other without end");
        }
    }

    fn write_course(&self, out: &mut String, course: &Course<'_>, names: &dyn Names) {
        let valuations = course.reactions.iter().map(|&r| &self.reactions[r].valuation);
        let valuations: Vec<String> = valuations.map(|v| format!("[{}]", valuation_text(v, names))).collect();
        let end = course.example.outcome.text(names);
        let _ = writeln!(out, "  {}: {end}", valuations.join(" or "));
        for line in course.example.step_lines(names) {
            let _ = writeln!(out, "    {line}");
        }
    }
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
