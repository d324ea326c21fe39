//! What the change of one condition does, in all modes at once: whether what follows is determined, jumps, is impulsive.
//!
//! Sets of modes say what structure decides by itself ([`saltus_structure::all_modes::changes`]); the modes that are left are
//! gone through one by one, as far as a budget allows, and their sets are said together.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use saltus_mdae::{ConditionId, ExprId, Idx, Node, VarId};
use saltus_source::{SourceMap, Span};
use saltus_structure::all_modes::ModeSet;
use saltus_structure::all_modes::changes::{ChangedModes, ConditionChange, Dependents};
use saltus_structure::formula::PredicateId;
use saltus_structure::linear::is_affine_by;
use saltus_structure::mode::{ModeStructure, Valuation, analyze_mode};
use serde_json::{Value, json};

use crate::all_modes::{ModeWords, Reporter, modes_text, words_to_json};
use crate::discrete_state::DiscreteState;
use crate::explore::{Explorer, Step};
use crate::trigger::Trigger;

/// Combinations of conditions that are kept of one set.
const MOST_COMBINATIONS: usize = 24;
/// Single mode changes that are looked at.
const MOST_SINGLE: usize = 4000;
/// Equations in them, all together.
const MOST_EQUATIONS: usize = 400_000;
/// Conditions of models of which single modes are looked at.
const MOST_CONDITIONS: usize = 64;
/// Changes that are shown as text, and names of those of which the same is said.
const MOST_SHOWN: usize = 12;

/// What happens when one condition changes.
#[derive(Clone, Debug)]
pub struct ChangeFacts {
    /// The condition, as modes are described by it.
    pub condition: String,
    /// What changes, as users write it: often a relation behind the condition.
    pub trigger: String,
    /// Its value after the change.
    pub becomes: bool,
    /// Where it is written.
    pub span: Option<Span>,
    /// What it does in which modes. No mode is in two parts; in modes that are in none it does not happen, or changes nothing.
    pub parts: Vec<ChangePart>,
}

/// Modes in which a change does the same.
#[derive(Clone, Debug)]
pub struct ChangePart {
    /// What.
    pub kind: ChangeKind,
    /// The modes before the change, among those in which it happens.
    pub when: ModeWords,
    /// How many, if that was counted.
    pub count: Option<String>,
}

/// What a mode change does.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ChangeKind {
    /// What follows is determined.
    Determined {
        /// Whether states jump.
        jumps: bool,
        /// Whether something is impulsive.
        impulsive: bool,
    },
    /// What follows is not determined.
    Refused,
    /// The mode to enter is singular.
    Singular,
    /// That was not looked at.
    Unknown,
}

impl ChangeKind {
    const KEPT: ChangeKind = ChangeKind::Determined {
        jumps: false,
        impulsive: false,
    };
}

impl Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChangeKind::Determined {
                jumps: false,
                impulsive: false,
            } => "determined, nothing jumps",
            ChangeKind::Determined {
                jumps: true,
                impulsive: false,
            } => "determined, states jump",
            ChangeKind::Determined {
                jumps: true,
                impulsive: true,
            } => "determined, states jump, with impulses",
            ChangeKind::Determined {
                jumps: false,
                impulsive: true,
            } => "determined, with impulses",
            ChangeKind::Refused => "not determined",
            ChangeKind::Singular => "into a singular mode",
            ChangeKind::Unknown => "not looked at",
        })
    }
}

/// What every condition that can change does. `state` holds the values of parameters and starts.
pub(crate) fn all_changes(explorer: &mut Explorer, sets: Reporter, state: &DiscreteState) -> Vec<ChangeFacts> {
    let Some(dependents) = sets.all.dependents() else {
        return Vec::new();
    };
    Changes::new(explorer, sets, state, dependents).run()
}

/// Modes by what a change does in them.
type Kinds = BTreeMap<ChangeKind, ModeSet>;

struct Changes<'a, 'm, 's> {
    explorer: &'a mut Explorer<'m>,
    sets: Reporter<'s>,
    state: &'a DiscreteState,
    dependents: Dependents,
    predicates: Predicates,
    rows: RowFacts,
    /// The modes that are regular and possible, once they were asked for.
    regular: Option<ModeSet>,
    structures: FxHashMap<Valuation, Option<Rc<ModeStructure>>>,
    single: usize,
    equations: usize,
}

/// The conditions of the modes by what they are about.
#[derive(Default)]
struct Predicates {
    of_condition: FxHashMap<ConditionId, PredicateId>,
    of_variable: FxHashMap<VarId, PredicateId>,
    /// Those that mention a variable.
    with_variable: FxHashMap<VarId, Vec<PredicateId>>,
}

impl Predicates {
    fn new(explorer: &Explorer, sets: &Reporter) -> Self {
        let pool = &explorer.model.pool;
        let mut found = Predicates::default();
        for (at, condition) in sets.system.conditions.iter().enumerate() {
            let id = PredicateId::from_usize(at);
            match pool.node(condition.formula) {
                Node::Condition(own) => {
                    found.of_condition.insert(own, id);
                    continue;
                }
                Node::Var { var, order: 0 } => {
                    found.of_variable.insert(var, id);
                }
                _ => {}
            }
            for read in pool.occurrences(condition.formula) {
                found.with_variable.entry(read.var).or_default().push(id);
            }
        }
        found
    }
}

/// What is known of each row.
#[derive(Default)]
struct RowFacts {
    is_linear: Vec<bool>,
    is_doubled: Vec<bool>,
    of_condition: FxHashMap<ConditionId, Vec<u32>>,
    of_variable: FxHashMap<VarId, Vec<u32>>,
}

impl<'a, 'm, 's> Changes<'a, 'm, 's> {
    fn new(
        explorer: &'a mut Explorer<'m>,
        sets: Reporter<'s>,
        state: &'a DiscreteState,
        dependents: Dependents,
    ) -> Self {
        Changes {
            predicates: Predicates::new(explorer, &sets),
            rows: row_facts(explorer, &sets),
            explorer,
            sets,
            state,
            dependents,
            regular: None,
            structures: FxHashMap::default(),
            single: 0,
            equations: 0,
        }
    }

    fn run(&mut self) -> Vec<ChangeFacts> {
        let mut found = Vec::new();
        for at in 0..self.sets.system.conditions.len() {
            let Some(trigger) = self.trigger_of(at) else { continue };
            for becomes in [true, false] {
                if self.explorer.options.cancel.is_cancelled() || self.sets.all.space.is_exhausted() {
                    return found;
                }
                found.extend(self.change(PredicateId::from_usize(at), trigger, becomes));
            }
        }
        found
    }

    /// What makes a condition change by itself; none for values of Integers, of which one comes as another goes.
    fn trigger_of(&self, at: usize) -> Option<Trigger> {
        match self.explorer.model.pool.node(self.sets.system.conditions[at].formula) {
            Node::Condition(id) => Some(Trigger::Condition(id)),
            Node::Var { var, order: 0 } => Some(Trigger::Input(var)),
            _ => None,
        }
    }

    fn change(&mut self, own: PredicateId, trigger: Trigger, becomes: bool) -> Option<ChangeFacts> {
        let model = self.explorer.model;
        let only = self.state.direction_in_time(model, trigger);
        if only.is_some_and(|only| only != Some(becomes)) {
            return None;
        }
        let (mut kinds, happens) = match self.by_itself(own, trigger, becomes) {
            Some(changed) => {
                let jumping = ChangeKind::Determined {
                    jumps: true,
                    impulsive: true,
                };
                let kinds = Kinds::from([
                    (ChangeKind::Singular, changed.singular),
                    (ChangeKind::KEPT, changed.kept),
                    (jumping, changed.impulsive),
                    (ChangeKind::Unknown, changed.open),
                ]);
                (kinds, Some(changed.happens))
            }
            None => (Kinds::from([(ChangeKind::Unknown, ModeSet::ALL)]), None),
        };
        self.one_by_one(own, trigger, becomes, &mut kinds);
        kinds.retain(|_, modes| !modes.is_empty());
        let happens = match happens {
            Some(happens) => happens,
            None => self.sets.all.space.union(kinds.values().copied()),
        };
        if kinds.is_empty() || self.sets.all.space.is_exhausted() {
            return None;
        }
        let (text, origin) = trigger.text(model);
        let parts = kinds.into_iter().map(|(kind, modes)| ChangePart {
            kind,
            when: self.sets.words_with(modes, happens, MOST_COMBINATIONS),
            count: self.count(modes, own, becomes),
        });
        Some(ChangeFacts {
            parts: parts.collect(),
            condition: self.sets.system.conditions[own.index()].text.clone(),
            trigger: text,
            becomes,
            span: model.origins.get(origin).and_then(|origin| origin.span),
        })
    }

    /// What a change does by structure alone, if nothing but one condition of the modes changes.
    fn by_itself(&mut self, condition: PredicateId, trigger: Trigger, becomes: bool) -> Option<ChangedModes> {
        if let Trigger::Condition(id) = trigger
            && self.explorer.exclusions.has_companions(id)
        {
            return None;
        }
        let followers = self.explorer.discrete.followers(trigger)?;
        let with = |var: &VarId| self.predicates.with_variable.get(var).into_iter().flatten();
        if followers.iter().flat_map(with).any(|&other| other != condition) {
            return None;
        }
        let mut switched = match trigger {
            Trigger::Condition(id) => self.rows.of_condition.get(&id).cloned().unwrap_or_default(),
            Trigger::Input(var) => self.rows.of_variable.get(&var).cloned().unwrap_or_default(),
        };
        for follower in &followers {
            switched.extend(self.rows.of_variable.get(follower).into_iter().flatten());
        }
        let change = ConditionChange {
            condition,
            becomes,
            from_outside: self.sets.is_from_outside(condition.index()),
            switched: &switched,
            is_linear: &self.rows.is_linear,
            is_doubled: &self.rows.is_doubled,
        };
        Some(self.sets.all.changed_modes(&self.dependents, change))
    }

    /// Looks at modes of which nothing is known yet, one after the other.
    fn one_by_one(&mut self, own: PredicateId, trigger: Trigger, becomes: bool, kinds: &mut Kinds) {
        let unknown = kinds.remove(&ChangeKind::Unknown).unwrap_or(ModeSet::NONE);
        let conditions = self.sets.all.space.conditions();
        if unknown.is_empty() {
            return;
        }
        if conditions > MOST_CONDITIONS {
            kinds.insert(ChangeKind::Unknown, unknown);
            return;
        }
        let regular = self.regular();
        let before = self.sets.all.space.given(regular, own, !becomes);
        let mut open = self.sets.all.space.and(unknown, before);
        while !open.is_empty() && !self.sets.all.space.is_exhausted() {
            if self.single >= MOST_SINGLE || self.equations >= MOST_EQUATIONS {
                kinds.insert(ChangeKind::Unknown, open);
                return;
            }
            self.single += 1;
            let mut mode = self.sets.all.space.first_mode(open);
            mode[own.index()] = !becomes;
            let others = (0..conditions).map(PredicateId::from_usize).filter(|&id| id != own);
            let literals: Vec<ModeSet> = others
                .map(|id| self.sets.all.space.holds(id, mode[id.index()]))
                .collect();
            let cube = self.sets.all.space.conjunction(literals);
            open = self.sets.all.space.and_not(open, cube);
            if let Some(kind) = self.in_mode(own, trigger, &mode) {
                let known = kinds.entry(kind).or_insert(ModeSet::NONE);
                *known = self.sets.all.space.or(*known, cube);
            }
        }
    }

    /// The modes that are possible and regular.
    fn regular(&mut self) -> ModeSet {
        if let Some(known) = self.regular {
            return known;
        }
        let parts = self.sets.all.decomposition.singular_parts();
        let regular = self
            .sets
            .all
            .space
            .conjunction(parts.iter().map(|part| part.complement()));
        let regular = self.sets.all.space.and(regular, self.sets.care);
        self.regular = Some(regular);
        regular
    }

    /// What a change does in one mode; `None` if it does not happen there, changes nothing, or not this condition alone.
    fn in_mode(&mut self, own: PredicateId, trigger: Trigger, mode: &[bool]) -> Option<ChangeKind> {
        let explorer = &*self.explorer;
        let becomes = !mode[own.index()];
        let (old, new, consequences) = match self.settled_state(trigger, becomes, mode) {
            Some(old) => {
                let triggers = explorer.exclusions.companions(&old, trigger)?;
                let (new, consequences) = explorer.discrete.flipped(&old, &triggers);
                (old, new, consequences)
            }
            // Memory that no start value has: the conditions of the mode are given their values.
            None => {
                let old = self.given_state(trigger, becomes, mode)?;
                let (new, consequences) = explorer.discrete.flipped_alone(&old, trigger);
                (old, new, consequences)
            }
        };
        let mut after = mode.to_vec();
        after[own.index()] = becomes;
        if !self.selects(&new, &after) {
            return None;
        }
        let (entered, left) = (
            new.valuation(explorer.model, explorer.modes)?,
            old.valuation(explorer.model, explorer.modes)?,
        );
        let before = self.structure(&left)?;
        let quiet = consequences.restart_equations.is_empty() && consequences.reinits.is_empty();
        if entered == left && quiet && !jumps_within(&before, trigger, &old, &new) {
            return None;
        }
        let after = self.structure(&entered);
        if after.is_none() && quiet {
            return Some(ChangeKind::Singular);
        }
        let step = Step {
            old: &old,
            new: &new,
            consequences: &consequences,
        };
        let passage = self
            .explorer
            .passage_between(&before, (&entered, after.as_deref()), trigger, step);
        Some(match passage {
            None => ChangeKind::Singular,
            Some(passage) if !passage.report.accepted => ChangeKind::Refused,
            Some(passage) => ChangeKind::Determined {
                jumps: !passage.report.jumps.is_empty(),
                impulsive: !passage.report.impulses.is_empty(),
            },
        })
    }

    /// A discrete state that selects a mode, with a condition about to change, and in which all discrete equations hold.
    fn settled_state(&self, trigger: Trigger, becomes: bool, mode: &[bool]) -> Option<DiscreteState> {
        let mut state = self.prepared(trigger, becomes, mode);
        let before = state.clone();
        self.explorer.discrete.settle(&mut state, &before);
        let about_to = trigger.is_true(&state) != becomes && self.explorer.exclusions.allow(&state);
        (about_to && self.selects(&state, mode)).then_some(state)
    }

    /// One in which the conditions of the mode have been given their values.
    fn given_state(&self, trigger: Trigger, becomes: bool, mode: &[bool]) -> Option<DiscreteState> {
        let mut state = self.prepared(trigger, becomes, mode);
        let before = state.clone();
        self.explorer.discrete.settle(&mut state, &before);
        let given: Vec<VarId> = self
            .predicates
            .of_variable
            .values()
            .map(|id| self.variable(*id))
            .collect::<Option<_>>()?;
        self.set_mode(&mut state, mode);
        set(&mut state, trigger, !becomes);
        self.explorer.discrete.follow_values(&mut state, &given);
        self.set_mode(&mut state, mode);
        state.settled = true;
        self.selects(&state, mode).then_some(state)
    }

    fn variable(&self, id: PredicateId) -> Option<VarId> {
        match self
            .explorer
            .model
            .pool
            .node(self.sets.system.conditions[id.index()].formula)
        {
            Node::Var { var, .. } => Some(var),
            _ => None,
        }
    }

    fn prepared(&self, trigger: Trigger, becomes: bool, mode: &[bool]) -> DiscreteState {
        let mut state = self.state.clone();
        self.set_mode(&mut state, mode);
        set(&mut state, trigger, !becomes);
        if let Trigger::Condition(id) = trigger {
            let selects = |other: ConditionId| self.predicates.of_condition.contains_key(&other);
            let exclusions = &self.explorer.exclusions;
            exclusions.make_room(&mut state, (id, !becomes), false, |other| !selects(other));
            exclusions.make_room(&mut state, (id, becomes), true, |other| !selects(other));
        }
        state.settled = false;
        state
    }

    fn set_mode(&self, state: &mut DiscreteState, mode: &[bool]) {
        let pool = &self.explorer.model.pool;
        for (condition, &value) in self.sets.system.conditions.iter().zip(mode) {
            match pool.node(condition.formula) {
                Node::Condition(id) => state.truths[id] = value,
                Node::Var { var, order: 0 } => state.values[var.index()] = f64::from(u8::from(value)),
                Node::Binary(_, variable, literal) if value => {
                    if let (Node::Var { var, order: 0 }, Some(literal)) = (pool.node(variable), pool.constant(literal))
                    {
                        state.values[var.index()] = literal;
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a discrete state has the conditions of a mode.
    fn selects(&self, state: &DiscreteState, mode: &[bool]) -> bool {
        let model = self.explorer.model;
        let conditions = self.sets.system.conditions.iter().zip(mode);
        let mut has = conditions.map(|(condition, &value)| state.is_true(model, state, condition.formula) == value);
        has.all(|has| has)
    }

    fn structure(&mut self, valuation: &Valuation) -> Option<Rc<ModeStructure>> {
        if let Some(known) = self.structures.get(valuation) {
            self.equations += known.as_ref().map_or(0, |known| known.equations.len());
            return known.clone();
        }
        let explorer = &*self.explorer;
        let structure = analyze_mode(explorer.model, explorer.modes, valuation)
            .ok()
            .map(Rc::new);
        self.equations += structure.as_ref().map_or(1, |structure| structure.equations.len());
        self.structures.insert(valuation.clone(), structure.clone());
        structure
    }

    fn count(&mut self, modes: ModeSet, own: PredicateId, becomes: bool) -> Option<String> {
        if self.sets.all.space.conditions() > MOST_CONDITIONS {
            return None;
        }
        let regular = self.regular();
        let modes = self.sets.all.space.and(modes, regular);
        let before = self.sets.all.space.holds(own, !becomes);
        let modes = self.sets.all.space.and(modes, before);
        Some(self.sets.all.space.count(modes).to_string())
    }
}

fn set(state: &mut DiscreteState, trigger: Trigger, value: bool) {
    match trigger {
        Trigger::Condition(id) => state.truths[id] = value,
        Trigger::Input(var) => state.values[var.index()] = f64::from(u8::from(value)),
    }
}

/// Whether something that changes sits in a differentiated equation of a mode, so that it acts like a mode change.
pub(crate) fn jumps_within(mode: &ModeStructure, trigger: Trigger, old: &DiscreteState, new: &DiscreteState) -> bool {
    let differs = |var: &VarId| old.values[var.index()].to_bits() != new.values[var.index()].to_bits();
    mode.jumps.iter().any(|jump| {
        let triggered = match trigger {
            Trigger::Condition(condition) => jump.conditions.contains(&condition),
            Trigger::Input(var) => jump.inputs.contains(&var),
        };
        triggered || jump.discrete.iter().any(differs)
    })
}

fn row_facts(explorer: &Explorer, sets: &Reporter) -> RowFacts {
    let model = explorer.model;
    let rows = &sets.system.rows;
    let mut facts = RowFacts::default();
    let mut known: FxHashMap<ExprId, u32> = FxHashMap::default();
    for &equation in rows {
        *known.entry(model.equations[equation].residual).or_default() += 1;
    }
    // What may be impulsive is the highest derivative of an unknown in any mode, or one that is not there in all.
    let mut connected = Connected((0..rows.len()).collect());
    let mut first_of: FxHashMap<VarId, usize> = FxHashMap::default();
    for (at, &equation) in rows.iter().enumerate() {
        let residual = model.equations[equation].residual;
        facts.is_doubled.push(known[&residual] > 1);
        for derivative in explorer.modes.signatures().row(equation.index()) {
            let first = *first_of.entry(derivative.var).or_insert(at);
            connected.join(first, at);
        }
        for condition in model.pool.conditions_in(residual) {
            facts.of_condition.entry(condition).or_default().push(at as u32);
        }
        for read in explorer.modes.occurrences(model, equation) {
            if !model.is_unknown(read.var) {
                facts.of_variable.entry(read.var).or_default().push(at as u32);
            }
        }
    }
    let mut bent = vec![false; rows.len()];
    for (at, &equation) in rows.iter().enumerate() {
        let partials = explorer.modes.partials(model, equation);
        if is_affine_by(partials, |derivative| model.is_unknown(derivative.var)) != Some(true) {
            let root = connected.find(at);
            bent[root] = true;
        }
    }
    facts.is_linear = (0..rows.len()).map(|at| !bent[connected.find(at)]).collect();
    facts
}

/// Rows that share unknowns.
struct Connected(Vec<usize>);

impl Connected {
    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

impl ChangeFacts {
    /// What the change does in a mode, by its conditions and their values; `None` if the words do not say, or it does not
    /// happen there.
    pub fn kind_in(&self, mode: &[(String, bool)]) -> Option<ChangeKind> {
        let part = self.parts.iter().find(|part| part.when.include(mode) == Some(true));
        part.map(|part| part.kind)
    }

    fn outcome(&self) -> String {
        let single = self.parts.len() == 1;
        let parts = self.parts.iter().map(|part| match &part.count {
            _ if single => part.kind.to_string(),
            Some(count) => format!("{} if {} ({})", part.kind, part.when, modes_text(count)),
            None => format!("{} if {}", part.kind, part.when),
        });
        parts.collect::<Vec<_>>().join("; ")
    }

    pub(crate) fn to_json(&self, sources: &SourceMap) -> Value {
        let parts = self.parts.iter().map(|part| {
            let (determined, jumps, impulsive) = match part.kind {
                ChangeKind::Determined { jumps, impulsive } => (json!(true), json!(jumps), json!(impulsive)),
                ChangeKind::Refused => (json!(false), Value::Null, Value::Null),
                ChangeKind::Singular | ChangeKind::Unknown => (Value::Null, Value::Null, Value::Null),
            };
            json!({
                "when": words_to_json(&part.when),
                "modes": part.count,
                "determined": determined,
                "jumps": jumps,
                "impulsive": impulsive,
                "singular": part.kind == ChangeKind::Singular,
            })
        });
        json!({
            "condition": self.condition,
            "trigger": self.trigger,
            "becomes": self.becomes,
            "span": crate::json::place(self.span, sources),
            "parts": parts.collect::<Vec<_>>(),
        })
    }
}

/// For people; those of which the same is said together.
pub(crate) fn print_changes(changes: &[ChangeFacts], out: &mut String) {
    let mut same: BTreeMap<(bool, String), Vec<usize>> = BTreeMap::new();
    let mut order = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let key = (change.becomes, change.outcome());
        let members = same.entry(key.clone()).or_default();
        if members.is_empty() {
            order.push(key);
        }
        members.push(at);
    }
    if !order.is_empty() {
        let _ = writeln!(out, "  when one condition changes:");
    }
    for key in order.iter().take(MOST_SHOWN) {
        let members = &same[key];
        let shown = members
            .iter()
            .take(MOST_SHOWN)
            .map(|&at| format!("`{}`", changes[at].condition));
        let mut names = shown.collect::<Vec<_>>().join(", ");
        if members.len() > MOST_SHOWN {
            let _ = write!(names, " and {} more", members.len() - MOST_SHOWN);
        }
        let (becomes, outcome) = key;
        let verb = if members.len() == 1 { "becomes" } else { "become" };
        let each = if members.len() == 1 { "" } else { "each " };
        let _ = writeln!(out, "    {names} {verb} {becomes}: {each}{outcome}");
    }
    if order.len() > MOST_SHOWN {
        let _ = writeln!(out, "    and {} kinds of changes more", order.len() - MOST_SHOWN);
    }
}
