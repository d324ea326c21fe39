//! A class by itself: what it determines of the variables of its connectors, in each of its modes, wherever it is used.

use std::fmt::Write;

use saltus_mdae::print::{Names as _, UserNames};
use saltus_mdae::{ExprId, Mdae, VarId};
use saltus_structure::all_modes::model::ModelSystem;
use saltus_structure::formula::Formula;
use saltus_structure::mode::Modes;
use saltus_structure::modular::context::{MOST_CONDITIONS, Says};
use saltus_structure::modular::{Class, Library};
use serde_json::{Value, json};

use crate::discrete_equations::DiscreteEquations;
use crate::discrete_state::DiscreteState;
use crate::mode_report::residual_text;

/// What a class says to every model that uses it.
#[derive(Clone, Debug)]
pub struct ClassReport {
    /// Its full name.
    pub name: String,
    /// The conditions that select its modes.
    pub conditions: Vec<String>,
    /// The variables of its connectors.
    pub boundary: Vec<String>,
    /// How many of them are flows: so many it should determine in every mode.
    pub flows: usize,
    /// What it says, modes with the same answer together; `None` if there are too many conditions or variables.
    pub contexts: Option<Vec<ClassContext>>,
}

/// What a class says in some of its modes.
#[derive(Clone, Debug)]
pub struct ClassContext {
    /// The modes: conditions with their values, one list for each alternative; an empty one is every mode.
    pub when: Vec<Vec<(String, bool)>>,
    /// Whether no context makes it sound.
    pub wrong: bool,
    /// How many variables of its connectors it determines.
    pub determines: usize,
    /// Those that it speaks of.
    pub of: Vec<String>,
    /// Those that do not exist in these modes as far as it knows.
    pub says_nothing: Vec<String>,
    /// Sets of that size that it can determine; empty if there are very many.
    pub choices: Vec<Vec<String>>,
    /// Sets of that size that it never determines together.
    pub never: Vec<Vec<String>>,
    /// Derivatives of variables of its connectors that it asks for.
    pub needs: Vec<String>,
    /// Where it is wrong: equations that are too many, or variables that too few equations determine.
    pub too_many: Vec<String>,
    /// See `too_many`.
    pub too_few: Vec<String>,
}

/// Alternatives of a set of modes that are listed.
const MOST_ALTERNATIVES: usize = 8;
/// Sets of variables that are listed.
const MOST_SETS: usize = 6;

/// Looks at a class with open connectors. `boundary` are the variables of these, `flows` how many of them are flows.
pub fn class_report(name: &str, model: &Mdae, boundary: &[VarId], flows: usize) -> ClassReport {
    let modes = Modes::new(model);
    let state = DiscreteState::from_starts(
        &DiscreteEquations::new(model),
        model.experiment.start_time.unwrap_or(0.0),
    );
    let fixed = |expr: ExprId| state.is_true(model, &state, expr);
    let system = ModelSystem::new(model, &modes, &fixed);
    let reader = Reader {
        names: UserNames::new(model),
        model,
        system: &system,
        conditions: system
            .conditions
            .iter()
            .map(|condition| condition.text.clone())
            .collect(),
        boundary: boundary.to_vec(),
    };
    ClassReport {
        name: name.to_owned(),
        conditions: reader.conditions.clone(),
        boundary: boundary.iter().map(|&var| reader.names.derivative(var, 0)).collect(),
        flows,
        contexts: reader.contexts(),
    }
}

struct Reader<'a> {
    names: UserNames<'a>,
    model: &'a Mdae,
    system: &'a ModelSystem,
    conditions: Vec<String>,
    boundary: Vec<VarId>,
}

impl Reader<'_> {
    fn contexts(&self) -> Option<Vec<ClassContext>> {
        let count = self.conditions.len();
        if count > MOST_CONDITIONS {
            return None;
        }
        let number = |var: &VarId| {
            self.system
                .unknowns
                .iter()
                .position(|known| known == var)
                .map(|at| at as u32)
        };
        let class = Class {
            boundary: self.boundary.iter().filter_map(number).collect(),
            rows: self.system.system.rows.clone(),
            parts: Vec::new(),
        };
        let possible = |own: &[bool]| {
            let valuation: Vec<Option<bool>> = own.iter().copied().map(Some).collect();
            let holds = |invariant: &Formula| invariant.decided(&valuation) != Some(false);
            self.system.system.invariants.iter().all(holds)
        };
        let mut library = Library::new(vec![class]);
        let found = library.contexts(0, count, &possible).ok()??;
        let all: Vec<Vec<bool>> = found.iter().flat_map(|context| context.modes.clone()).collect();
        let context = |context: &saltus_structure::modular::context::Context| {
            self.context(&context.says, self.alternatives(&context.modes, &all))
        };
        Some(found.iter().map(context).collect())
    }

    fn context(&self, says: &Says, when: Vec<Vec<(String, bool)>>) -> ClassContext {
        let name = |unknown: &u32| self.names.derivative(self.system.unknowns[*unknown as usize], 0);
        let names = |unknowns: &[u32]| unknowns.iter().map(name).collect::<Vec<String>>();
        match says {
            Says::Wrong { too_many, too_few } => ClassContext {
                when,
                wrong: true,
                determines: 0,
                of: Vec::new(),
                says_nothing: Vec::new(),
                choices: Vec::new(),
                never: Vec::new(),
                needs: Vec::new(),
                too_many: too_many.iter().map(|&row| self.equation(row)).collect(),
                too_few: names(too_few),
            },
            Says::Determines {
                count,
                of,
                never,
                choices,
                needs,
            } => {
                let of = names(of);
                let all = self.boundary.iter().map(|&var| self.names.derivative(var, 0));
                ClassContext {
                    when,
                    wrong: false,
                    determines: *count,
                    says_nothing: all.filter(|name| !of.contains(name)).collect(),
                    of,
                    choices: choices.iter().map(|(set, _)| names(set)).collect(),
                    never: never.iter().map(|set| names(set)).collect(),
                    needs: needs
                        .iter()
                        .map(|&(unknown, order)| self.names.derivative(self.system.unknowns[unknown as usize], order))
                        .collect(),
                    too_many: Vec::new(),
                    too_few: Vec::new(),
                }
            }
        }
    }

    /// Modes by what they have in common, if that tells them apart from the others; else one by one.
    fn alternatives(&self, modes: &[Vec<bool>], all: &[Vec<bool>]) -> Vec<Vec<(String, bool)>> {
        let literal = |at: usize, value: bool| (self.conditions[at].clone(), value);
        let common: Vec<usize> = (0..self.conditions.len())
            .filter(|&at| modes.iter().all(|mode| mode[at] == modes[0][at]))
            .collect();
        let fits = |mode: &&Vec<bool>| common.iter().all(|&at| mode[at] == modes[0][at]);
        if all.iter().filter(fits).count() == modes.len() {
            return vec![common.iter().map(|&at| literal(at, modes[0][at])).collect()];
        }
        let one = |mode: &Vec<bool>| mode.iter().enumerate().map(|(at, &value)| literal(at, value)).collect();
        modes.iter().map(one).collect()
    }

    fn equation(&self, row: usize) -> String {
        let residual = self.model.equations[self.system.rows[row]].residual;
        residual_text(&self.names, &self.model.pool, residual)
    }
}

impl ClassReport {
    /// Whether some mode is wrong wherever the class is used.
    pub fn is_wrong(&self) -> bool {
        self.contexts.iter().flatten().any(|context| context.wrong)
    }

    /// In words.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let conditions = match self.conditions.len() {
            0 => "one mode".to_owned(),
            1 => "1 condition".to_owned(),
            count => format!("{count} conditions"),
        };
        let Some(contexts) = &self.contexts else {
            let _ = writeln!(
                out,
                "{}: {conditions}; too many conditions or variables to be looked at by itself",
                self.name
            );
            return out;
        };
        let verdict = if self.is_wrong() {
            "wrong in some modes, wherever it is used"
        } else if contexts.iter().all(|context| context.never.is_empty()) {
            "sound in every context that is sound itself"
        } else if self.conditions.is_empty() {
            "sound in some contexts"
        } else {
            "sound in some contexts in every mode"
        };
        let _ = writeln!(out, "{}: {conditions}; {verdict}", self.name);
        for context in contexts {
            let _ = writeln!(
                out,
                "  {}: {}",
                alternatives_text(&context.when),
                self.context_text(context)
            );
        }
        out
    }

    fn context_text(&self, context: &ClassContext) -> String {
        if context.wrong {
            return if context.too_many.is_empty() {
                format!(
                    "wrong in every context: too few equations for {}",
                    quoted(&context.too_few)
                )
            } else {
                format!(
                    "wrong in every context: too many equations: {}",
                    quoted(&context.too_many)
                )
            };
        }
        let mut text = determined_text(context);
        if !context.says_nothing.is_empty() {
            let _ = write!(text, "; says nothing about {}", context.says_nothing.join(", "));
        }
        if !context.needs.is_empty() {
            let _ = write!(text, "; needs {}", context.needs.join(", "));
        }
        if context.determines != self.flows {
            let _ = write!(
                text,
                "; note: its connectors have {} flows, and a model determines as many variables in every mode",
                self.flows
            );
        }
        text
    }

    /// For machines. The schema is documented in the guide, page "Analysis as JSON".
    pub fn to_json(&self) -> Value {
        let context = |context: &ClassContext| {
            let literal = |(condition, value): &(String, bool)| json!({ "condition": condition, "value": value });
            let when: Vec<Vec<Value>> = context
                .when
                .iter()
                .map(|all| all.iter().map(literal).collect())
                .collect();
            json!({
                "when": when,
                "wrong": context.wrong,
                "determines": context.determines,
                "of": context.of,
                "says_nothing": context.says_nothing,
                "choices": context.choices,
                "never": context.never,
                "needs": context.needs,
                "too_many": context.too_many,
                "too_few": context.too_few,
            })
        };
        json!({
            "class": self.name,
            "conditions": self.conditions,
            "boundary": self.boundary,
            "flows": self.flows,
            "contexts": self.contexts.as_ref().map(|all| all.iter().map(context).collect::<Vec<_>>()),
        })
    }
}

/// What is determined: the sets themselves where they are few, else those that are not.
fn determined_text(context: &ClassContext) -> String {
    let sets = |sets: &[Vec<String>], word: &str| {
        let shown = sets.iter().take(MOST_SETS).map(|set| format!("{{{}}}", set.join(", ")));
        let shown = shown.collect::<Vec<_>>().join(word);
        match sets.len().saturating_sub(MOST_SETS) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    };
    let some = format!("determines {} of {}", context.determines, context.of.join(", "));
    match (&context.choices[..], context.never.len()) {
        _ if context.determines == 0 => "determines nothing outside".to_owned(),
        ([only], _) => format!("determines {}", only.join(", ")),
        (_, 0) => format!("{some}, any of them"),
        (choices, never) if !choices.is_empty() && choices.len() < never => {
            format!("determines {}", sets(choices, " or "))
        }
        _ => format!("{some}; never {}", sets(&context.never, ", ")),
    }
}

fn quoted(items: &[String]) -> String {
    items
        .iter()
        .map(|item| format!("`{item}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn alternatives_text(when: &[Vec<(String, bool)>]) -> String {
    let literal = |(text, value): &(String, bool)| match (*value, text.contains(' ')) {
        (true, _) => text.clone(),
        (false, false) => format!("not {text}"),
        (false, true) => format!("not ({text})"),
    };
    let all = |literals: &Vec<(String, bool)>| {
        if literals.is_empty() {
            "in every mode".to_owned()
        } else {
            literals.iter().map(literal).collect::<Vec<_>>().join(", ")
        }
    };
    let shown: Vec<String> = when.iter().take(MOST_ALTERNATIVES).map(all).collect();
    match when.len().saturating_sub(MOST_ALTERNATIVES) {
        0 => shown.join("; or "),
        more => format!("{}; or {more} other modes", shown.join("; or ")),
    }
}
