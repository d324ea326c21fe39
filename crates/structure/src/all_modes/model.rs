//! The equations of a model in all its modes.

use rustc_hash::FxHashMap;
use saltus_mdae::{
    AssertionLevel, BinaryFunction, ConditionId, ConditionKind, Derivative, EquationId, ExprId, Idx, Mdae, Node, Type,
    UnaryFunction, VarId,
};

use super::system::{GuardedEntry, GuardedRow, GuardedSystem};
use crate::constructive::exclusions;
use crate::formula::{Formula, PredicateId};
use crate::mode::{Modes, atom_text, varies};

/// A model as a system of guarded equations.
#[derive(Clone, Debug, Default)]
pub struct ModelSystem {
    /// The system.
    pub system: GuardedSystem,
    /// The conditions.
    pub conditions: Vec<ModeCondition>,
    /// The equations, by row.
    pub rows: Vec<EquationId>,
    /// The unknowns, by number.
    pub unknowns: Vec<VarId>,
}

/// Something that guards depend on.
#[derive(Clone, Debug)]
pub struct ModeCondition {
    /// As users write it: a condition, or the Boolean that stands for it.
    pub text: String,
    /// What it is.
    pub formula: ExprId,
}

/// Definitions of Boolean variables are followed this deep.
const DEFINITION_DEPTH: u32 = 32;
/// Relations that are compared with each other.
const MOST_RELATIONS: usize = 500;

impl ModelSystem {
    /// Reads a model. `fixed` says the value of what depends on parameters alone.
    pub fn new(model: &Mdae, modes: &Modes, fixed: &dyn Fn(ExprId) -> bool) -> Self {
        let mut reader = Reader {
            model,
            fixed,
            definitions: definitions(model),
            found: ModelSystem::default(),
            number: FxHashMap::default(),
            known: FxHashMap::default(),
        };
        reader.read(modes);
        reader.found
    }

    /// Adds what is known of conditions from elsewhere: pairs of them with values that they do not have together.
    pub fn exclude(&mut self, model: &Mdae, pairs: impl Iterator<Item = [(ConditionId, bool); 2]>) {
        let number_of = |at: usize| match model.pool.node(self.conditions[at].formula) {
            Node::Condition(id) => Some((id, PredicateId::from_usize(at))),
            _ => None,
        };
        let numbers: FxHashMap<ConditionId, PredicateId> = (0..self.conditions.len()).filter_map(number_of).collect();
        for pair in pairs {
            let literals = pair.map(|(id, value)| {
                let literal = Formula::Predicate(*numbers.get(&id)?);
                Some(if value { literal } else { not(literal) })
            });
            if let [Some(first), Some(second)] = literals {
                self.system.invariants.push(not(Formula::And(vec![first, second])));
            }
        }
    }
}

struct Reader<'a> {
    model: &'a Mdae,
    fixed: &'a dyn Fn(ExprId) -> bool,
    /// What discrete variables are at all times.
    definitions: FxHashMap<VarId, ExprId>,
    found: ModelSystem,
    number: FxHashMap<ExprId, PredicateId>,
    known: FxHashMap<ExprId, Formula>,
}

fn definitions(model: &Mdae) -> FxHashMap<VarId, ExprId> {
    let mut count: FxHashMap<VarId, usize> = FxHashMap::default();
    for equation in &model.discrete {
        *count.entry(equation.target).or_default() += 1;
    }
    let always = |guard: ExprId| model.pool.constant(guard) == Some(1.0);
    let only = model
        .discrete
        .iter()
        .filter(|e| count[&e.target] == 1 && always(e.guard));
    only.map(|equation| (equation.target, equation.value)).collect()
}

impl Reader<'_> {
    fn read(&mut self, modes: &Modes) {
        let model = self.model;
        let mut unknown_of: FxHashMap<VarId, u32> = FxHashMap::default();
        for (id, equation) in model.equations.iter_enumerated() {
            let guard = self.formula(equation.guard);
            // What says nothing is left out, as it is where one mode is looked at.
            if guard == Formula::Constant(false) || model.pool.constant(equation.residual) == Some(0.0) {
                continue;
            }
            let row = modes.signatures().row(id.index());
            let entries = row.iter().map(|&Derivative { var, order }| GuardedEntry {
                unknown: *unknown_of.entry(var).or_insert_with(|| {
                    self.found.unknowns.push(var);
                    self.found.unknowns.len() as u32 - 1
                }),
                order,
                when: Formula::Constant(true),
            });
            let entries = entries.collect();
            self.found.system.rows.push(GuardedRow { guard, entries });
            self.found.rows.push(id);
        }
        self.found.system.unknowns = self.found.unknowns.len();
        self.read_definitions();
        self.read_assertions();
        self.read_comparisons();
        self.found.system.conditions = self.found.conditions.len();
    }

    fn formula(&mut self, expr: ExprId) -> Formula {
        if let Some(known) = self.known.get(&expr) {
            return known.clone();
        }
        let formula = self.formula_of(expr);
        self.known.insert(expr, formula.clone());
        formula
    }

    fn formula_of(&mut self, expr: ExprId) -> Formula {
        match self.model.pool.node(expr) {
            Node::Boolean(value) => Formula::Constant(value),
            Node::Initial | Node::Terminal => Formula::Constant(false),
            Node::Unary(UnaryFunction::Not, a) => not(self.formula(a)),
            Node::Binary(BinaryFunction::And, a, b) => Formula::And(vec![self.formula(a), self.formula(b)]),
            Node::Binary(BinaryFunction::Or, a, b) => Formula::Or(vec![self.formula(a), self.formula(b)]),
            Node::If(c, a, b) => {
                let (c, a, b) = (self.formula(c), self.formula(a), self.formula(b));
                let otherwise = Formula::And(vec![not(c.clone()), b]);
                Formula::Or(vec![Formula::And(vec![c, a]), otherwise])
            }
            _ if !varies(self.model, expr) => Formula::Constant((self.fixed)(expr)),
            Node::Var { var, .. } => match self.condition_behind(var, DEFINITION_DEPTH) {
                Some((condition, value)) => {
                    let text = value.then(|| self.model.variables[var].name.to_string());
                    let literal = self.predicate(condition, text);
                    if value { literal } else { not(literal) }
                }
                None => self.predicate(expr, None),
            },
            _ => self.predicate(expr, None),
        }
    }

    /// The condition whose value, or whose opposite, a Boolean variable is at all times.
    fn condition_behind(&self, var: VarId, depth: u32) -> Option<(ExprId, bool)> {
        let mut expr = *self.definitions.get(&var)?;
        let mut value = true;
        loop {
            match self.model.pool.node(expr) {
                Node::Unary(UnaryFunction::Not, a) => (expr, value) = (a, !value),
                Node::Condition(_) => return Some((expr, value)),
                Node::Var { var, order: 0 } if depth > 0 => {
                    let (condition, behind) = self.condition_behind(var, depth - 1)?;
                    return Some((condition, behind == value));
                }
                _ => return None,
            }
        }
    }

    fn predicate(&mut self, expr: ExprId, text: Option<String>) -> Formula {
        if let Some(&known) = self.number.get(&expr) {
            return Formula::Predicate(known);
        }
        let id = PredicateId::from_usize(self.found.conditions.len());
        self.found.conditions.push(ModeCondition {
            text: text.unwrap_or_else(|| atom_text(self.model, expr)),
            formula: expr,
        });
        self.number.insert(expr, id);
        Formula::Predicate(id)
    }

    /// A formula of conditions that guards depend on; `None` if it is about others.
    fn of_known(&mut self, expr: ExprId) -> Option<Formula> {
        let count = self.found.conditions.len();
        let formula = self.formula(expr);
        if self.found.conditions.len() == count {
            return Some(formula);
        }
        // What was met on the way is no condition of modes.
        self.found.conditions.truncate(count);
        self.number.retain(|_, id| id.index() < count);
        self.known
            .retain(|_, formula| formula.predicates().iter().all(|id| id.index() < count));
        None
    }

    /// Booleans that follow from others.
    fn read_definitions(&mut self) {
        for at in 0..self.found.conditions.len() {
            let Node::Var { var, .. } = self.model.pool.node(self.found.conditions[at].formula) else {
                continue;
            };
            let Some(&value) = self.definitions.get(&var) else {
                continue;
            };
            let own = Formula::Predicate(PredicateId::from_usize(at));
            if let Some(formula) = self.of_known(value)
                && formula != own
            {
                let both = Formula::And(vec![own.clone(), formula.clone()]);
                let neither = Formula::And(vec![not(own), not(formula)]);
                self.found.system.invariants.push(Formula::Or(vec![both, neither]));
            }
        }
    }

    fn read_assertions(&mut self) {
        let model = self.model;
        for assertion in &model.assertions {
            if assertion.level != AssertionLevel::Error {
                continue;
            }
            if let (Some(guard), Some(condition)) = (self.of_known(assertion.guard), self.of_known(assertion.condition))
            {
                self.found
                    .system
                    .invariants
                    .push(Formula::Or(vec![not(guard), condition]));
            }
        }
    }

    /// Relations of one quantity, and comparisons of one discrete variable with numbers.
    fn read_comparisons(&mut self) {
        let model = self.model;
        let mut relations = Vec::new();
        let mut values: FxHashMap<VarId, Vec<PredicateId>> = FxHashMap::default();
        let mut compared = Vec::new();
        for (at, condition) in self.found.conditions.iter().enumerate() {
            let predicate = PredicateId::from_usize(at);
            match model.pool.node(condition.formula) {
                Node::Condition(id) => {
                    relations.extend(relation(model, id).map(|(f, comparison)| (predicate, f, comparison)))
                }
                Node::Binary(BinaryFunction::Eq, a, b) => {
                    if let (Node::Var { var, order: 0 }, Some(_)) = (model.pool.node(a), model.pool.constant(b)) {
                        if !values.contains_key(&var) {
                            compared.push(var);
                        }
                        values.entry(var).or_default().push(predicate);
                    }
                }
                _ => {}
            }
        }
        relations.truncate(MOST_RELATIONS);
        self.found.system.invariants.extend(exclusions(&model.pool, &relations));
        for var in compared {
            let of = &values[&var];
            for (at, &first) in of.iter().enumerate() {
                for &second in &of[at + 1..] {
                    let both = Formula::And(vec![Formula::Predicate(first), Formula::Predicate(second)]);
                    self.found.system.invariants.push(not(both));
                }
            }
            let literals = model.variables[var].literals.as_ref().map(|literals| literals.len());
            if literals == Some(of.len()) || (model.variables[var].ty == Type::Boolean && of.len() == 2) {
                let any = of.iter().map(|&one| Formula::Predicate(one)).collect();
                self.found.system.invariants.push(Formula::Or(any));
            }
        }
    }
}

fn relation(model: &Mdae, id: ConditionId) -> Option<(ExprId, saltus_mdae::Comparison)> {
    match model.conditions[id].kind {
        ConditionKind::Relation { function, comparison } => Some((function, comparison)),
        ConditionKind::Sample { .. } | ConditionKind::Tick { .. } | ConditionKind::Timer { .. } => None,
    }
}

fn not(formula: Formula) -> Formula {
    match formula {
        Formula::Constant(value) => Formula::Constant(!value),
        Formula::Not(inner) => *inner,
        other => Formula::Not(Box::new(other)),
    }
}
