//! Modes that were asked for by the values of conditions and variables.

use saltus_mdae::ConditionId;
use saltus_source::{Diagnostic, Severity, codes};

use crate::ModeNumber;
use crate::discrete_state::DiscreteState;
use crate::explore::{Explorer, Step};
use crate::trigger::{Consequences, ModeValue, Named, Trigger};

/// Conditions that are tried to bring about the values of variables.
const MOST_SEARCHED: usize = 60;

/// A discrete state that was asked for, and what leads there.
struct Choice {
    discrete_state: DiscreteState,
    consequences: Consequences,
    triggers: Vec<Trigger>,
}

fn no_such_mode(message: String, help: Option<String>) -> Box<Diagnostic> {
    let mut diagnostic = Diagnostic::without_place(codes::E0510, Severity::Error, message);
    diagnostic.help.extend(help);
    Box::new(diagnostic)
}

impl Explorer<'_> {
    pub(crate) fn listed(&mut self, start: ModeNumber, modes: &[Vec<(String, ModeValue)>]) {
        let origin = self.found[start].discrete_state.clone();
        for wanted in modes {
            let choice = match self.choose(&origin, wanted) {
                Ok(choice) => choice,
                Err(diagnostic) => {
                    self.analysis.mode_errors.push(*diagnostic);
                    continue;
                }
            };
            if choice.triggers.is_empty() {
                continue;
            }
            let step = Step {
                old: &origin,
                new: &choice.discrete_state,
                consequences: &choice.consequences,
            };
            let Some(reached) = self.analysed(start, &choice.triggers, step, true) else {
                continue;
            };
            let mode = reached.then.unwrap_or(reached.mode);
            for back in Trigger::all(self.model) {
                self.follow(mode, back, false);
            }
        }
    }

    /// The discrete state that a list of values asks for: the conditions in it are changed, and as few others as bring about
    /// the values of the variables in it; variables that no change of conditions gives their value are set.
    fn choose(&self, origin: &DiscreteState, wanted: &[(String, ModeValue)]) -> Result<Choice, Box<Diagnostic>> {
        let mut values: Vec<(Named, &str, &ModeValue)> = Vec::new();
        for (name, value) in wanted {
            let Some(named) = Named::find(self.model, self.modes, name) else {
                return Err(self.no_such_condition(name));
            };
            if named.number(self.model, value).is_none() {
                return Err(self.no_such_value(name, named, value));
            }
            if values
                .iter()
                .any(|(known, _, other)| *known == named && *other != value)
            {
                return Err(no_such_mode(
                    format!("`{name}` is to have two values at once"),
                    Some("give each condition one value; further modes take a further `--mode`".to_owned()),
                ));
            }
            values.push((named, name, value));
        }
        let all = |discrete_state: &DiscreteState| {
            values
                .iter()
                .all(|(named, _, v)| discrete_state.has(self.model, *named, v))
        };
        let asked = values.iter().filter_map(|(named, _, value)| match named {
            Named::Condition(id) if !origin.has(self.model, *named, value) => Some(Trigger::Condition(*id)),
            _ => None,
        });
        let asked: Vec<Trigger> = asked.collect();
        let given = |trigger: &Trigger| {
            values
                .iter()
                .any(|(named, ..)| matches!((named, trigger), (Named::Condition(a), Trigger::Condition(b)) if a == b))
        };
        let others: Vec<Trigger> = Trigger::all(self.model).into_iter().filter(|t| !given(t)).collect();
        let others = &others[..others.len().min(MOST_SEARCHED)];
        let none = std::iter::once(Vec::new());
        let single = others.iter().map(|&other| vec![other]);
        let pairs = others
            .iter()
            .enumerate()
            .flat_map(|(position, &first)| others[position + 1..].iter().map(move |&second| vec![first, second]));
        let contradictory_from_the_start = self.exclusions.contradiction(origin).is_some();
        let mut contradiction = None;
        for more in none.chain(single).chain(pairs) {
            let triggers: Vec<Trigger> = asked.iter().copied().chain(more).collect();
            let (discrete_state, consequences) = self.discrete.flipped(origin, &triggers);
            if !all(&discrete_state) {
                continue;
            }
            let excluded = self.exclusions.contradiction(&discrete_state);
            if excluded.is_some() && !contradictory_from_the_start {
                contradiction = contradiction.or(excluded);
                continue;
            }
            return Ok(Choice {
                discrete_state,
                consequences,
                triggers,
            });
        }
        if let Some((a, b)) = contradiction {
            let text = |id: ConditionId| &self.model.conditions[id].text;
            return Err(no_such_mode(
                format!(
                    "`{}` and `{}` cannot have these values at the same time",
                    text(a),
                    text(b)
                ),
                Some("one of them follows from the other: leave it out, or give it the other value".to_owned()),
            ));
        }
        let (mut discrete_state, consequences) = self.discrete.flipped(origin, &asked);
        let mut triggers = asked;
        for (named, _, value) in &values {
            if let Named::Variable(var, _) = named
                && !discrete_state.has(self.model, *named, value)
            {
                discrete_state.set(self.model, *named, value);
                triggers.push(Trigger::Input(*var));
            }
        }
        match values
            .iter()
            .find(|(named, _, value)| !discrete_state.has(self.model, *named, value))
        {
            Some((_, name, _)) => Err(no_such_mode(
                format!("`{name}` does not have this value together with the others"),
                Some("it follows from other conditions: give values to those".to_owned()),
            )),
            None => Ok(Choice {
                discrete_state,
                consequences,
                triggers,
            }),
        }
    }

    fn no_such_condition(&self, name: &str) -> Box<Diagnostic> {
        let known: Vec<String> = self
            .analysis
            .conditions
            .iter()
            .map(|text| format!("`{text}`"))
            .collect();
        let help = match known.len() {
            0 => "no condition changes the structure of this model: it has one mode".to_owned(),
            1..=12 => format!("modes are selected by {}", known.join(", ")),
            many => format!(
                "modes are selected by {} and {} more",
                known[..12].join(", "),
                many - 12
            ),
        };
        no_such_mode(
            format!("the model has no condition and no discrete variable `{name}`"),
            Some(help),
        )
    }

    fn no_such_value(&self, name: &str, named: Named, value: &ModeValue) -> Box<Diagnostic> {
        let value = match value {
            ModeValue::Boolean(truth) => truth.to_string(),
            ModeValue::Discrete(text) => text.clone(),
        };
        let possible = match named {
            Named::Variable(var, _) => match (&self.model.variables[var].literals, self.model.variables[var].ty) {
                (Some(literals), _) => literals.iter().map(|l| format!("`{l}`")).collect::<Vec<_>>().join(", "),
                (None, saltus_mdae::Type::Integer) => "whole numbers".to_owned(),
                _ => "`true` and `false`".to_owned(),
            },
            _ => "`true` and `false`".to_owned(),
        };
        no_such_mode(
            format!("`{value}` is no value of `{name}`"),
            Some(format!("its values are {possible}")),
        )
    }
}
