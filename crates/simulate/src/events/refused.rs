//! Why no candidate was accepted, in the words in which modes are reported everywhere: the conditions and Booleans that guards
//! consist of, first those in which the candidates differ.

use saltus_mdae::ConditionId;

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::events::iteration::Truths;
use crate::events::search::Search;

/// Differences between two modes that are named.
const MOST_DIFFERENCES: usize = 12;

/// What guards consist of, with truth values.
type Label = Vec<(String, bool)>;

impl Engine {
    pub(crate) fn no_mode(&mut self, search: &Search) -> Failure {
        if let Some(failure) = self.failure_of_only_mode(search) {
            return failure;
        }
        if let Some(conditions) = self.opposed_conditions(search) {
            return Failure::new(FailureKind::Chattering {
                origins: conditions.iter().map(|&id| self.model.conditions[id].origin).collect(),
                conditions: conditions
                    .iter()
                    .map(|&id| self.model.conditions[id].text.clone())
                    .collect(),
                count: 0,
                obstacle: None,
            });
        }
        let labels: Vec<Label> = search.tried.iter().map(|c| self.label_of(&c.truths)).collect();
        let present = self.present_label();
        let first = labels.first().cloned().unwrap_or_default();
        let candidates = search.tried.iter().zip(&labels).enumerate();
        let candidates = candidates.map(|(number, (candidate, label))| {
            let reported = match &present {
                Some(present) => differences(label, present, "else as before", "the mode before"),
                None if number == 0 => quoted(label),
                None => differences(label, &first, "else as the first", "the first"),
            };
            (reported, candidate.refused.clone().unwrap_or_default())
        });
        Failure::new(FailureKind::NoConsistentMode {
            candidates: candidates.collect(),
            gave_up: search.gave_up,
        })
    }

    /// All candidates select one mode: why that one cannot be entered.
    fn failure_of_only_mode(&mut self, search: &Search) -> Option<Failure> {
        let first = search.tried.first()?;
        if first.truths.is_empty() {
            return None;
        }
        let valuation = self.guards_of(&first.truths);
        if search.tried.iter().any(|c| self.guards_of(&c.truths) != valuation) {
            return None;
        }
        if !self.is_singular(&valuation) {
            return self.event.last_refusal.take();
        }
        let refusal = first.refused.clone().unwrap_or_default();
        Some(Failure::new(FailureKind::SingularMode {
            mode: in_words(&self.label_of(&first.truths)),
            reason: refusal.reason,
            origins: refusal.origins,
        }))
    }

    /// Both sides of a switching surface point at it: every candidate has right limits, and each indicates another one. The
    /// conditions that spoke against all of them, or where there is none, against any.
    fn opposed_conditions(&self, search: &Search) -> Option<Vec<ConditionId>> {
        if search.off_surface || search.tried.is_empty() {
            return self.opposed_pair(search);
        }
        let most = search.contested.iter().copied().max().unwrap_or(0);
        let least = if most as usize >= search.tried.len() { most } else { 1 };
        let contested = |id: &ConditionId| search.contested[*id] >= least;
        Some(self.model.conditions.ids().filter(contested).collect())
    }

    /// Whatever else was tried: two candidates that differ in one condition at its zero only, which speaks against both.
    fn opposed_pair(&self, search: &Search) -> Option<Vec<ConditionId>> {
        let mut opposed = self.model.conditions.ids().filter(|&id| {
            let against: Vec<&Truths> = search
                .opposed
                .iter()
                .filter(|(_, of)| *of == id)
                .map(|(t, _)| t)
                .collect();
            let is_pair = |a: &Truths, b: &Truths| a.ids().all(|other| (a[other] != b[other]) == (other == id));
            let mut pairs = against.iter().enumerate();
            pairs.any(|(n, a)| against[n + 1..].iter().any(|b| is_pair(a, b)))
        });
        let first = opposed.next()?;
        Some(std::iter::once(first).chain(opposed).collect())
    }

    /// A candidate by what it has other than the mode in force.
    pub(crate) fn label_beside_present(&mut self, truths: &Truths) -> String {
        let label = self.label_of(truths);
        match self.present_label() {
            Some(present) => differences(&label, &present, "else as before", "the mode before"),
            None => quoted(&label),
        }
    }

    /// What the mode in force is called; `None` at the start.
    fn present_label(&mut self) -> Option<Label> {
        self.mode?;
        let saved = self.save_discrete();
        let truths = self.truths.clone();
        self.set_truths(&truths);
        for at in 0..self.discrete.variables.len() {
            let var = self.discrete.variables[at];
            let before = self.memory.left(var, 0);
            self.memory.set(var, 0, before);
        }
        let label = self.label_here();
        self.restore_discrete(&saved);
        Some(label)
    }

    /// What a candidate is called.
    fn label_of(&mut self, truths: &Truths) -> Label {
        let saved = self.save_discrete();
        self.set_truths(truths);
        let before = std::mem::take(&mut self.when_before);
        self.discrete.compute(&self.model, &mut self.memory, &before);
        self.when_before = before;
        let label = self.label_here();
        self.restore_discrete(&saved);
        label
    }

    /// What guards consist of, and conditions within equations that guards do not say, as they are in memory.
    fn label_here(&self) -> Label {
        let mut label = self.compiled.guard_atoms(&self.memory);
        for &id in self.compiled.conditions_within_equations() {
            let text = &*self.model.conditions[id].text;
            if !label.iter().any(|(known, _)| known == text) {
                label.push((text.to_owned(), self.memory.condition(id)));
            }
        }
        if label.is_empty() {
            // Conditions that only start something.
            let all = self.model.conditions.iter_enumerated();
            label.extend(all.map(|(id, condition)| (condition.text.to_string(), self.memory.condition(id))));
        }
        label
    }
}

/// One part of a label.
fn part((text, truth): &(String, bool)) -> String {
    match (*truth, text.contains(' ')) {
        (true, _) => text.clone(),
        (false, false) => format!("not {text}"),
        (false, true) => format!("not ({text})"),
    }
}

/// A label in words.
pub(crate) fn in_words(label: &[(String, bool)]) -> String {
    label.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn quoted(label: &Label) -> String {
    if label.is_empty() {
        String::new()
    } else {
        format!("`{}`", in_words(label))
    }
}

/// What a label has other than a known one.
fn differences(label: &Label, known: &Label, rest: &str, same: &str) -> String {
    let differing = label.iter().zip(known).filter(|(new, old)| new.1 != old.1);
    let mut parts: Vec<String> = differing.map(|(new, _)| part(new)).collect();
    match (parts.is_empty(), label.is_empty()) {
        (_, true) => return String::new(),
        (true, false) => return same.to_owned(),
        _ => {}
    }
    let more = parts.len().saturating_sub(MOST_DIFFERENCES);
    parts.truncate(MOST_DIFFERENCES);
    let all = parts.len() + more == label.len();
    let mut reported = format!("`{}`", parts.join(", "));
    if more > 0 {
        reported.push_str(&format!(" and {more} more changes"));
    }
    if !all {
        reported.push_str(&format!(", {rest}"));
    }
    reported
}
