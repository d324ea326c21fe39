//! The abstract systems of the constructive semantics: incidence, guards, invariants.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use saltus_mdae::{
    Action, AssertionLevel, BinaryFunction, ConditionId, ConditionKind, Derivative, EquationId, ExprId, Idx, Mdae,
    Node, UnaryFunction, VarId,
};

use super::complementarity::Sides;
use super::thresholds::exclusions;
use crate::formula::{Formula, PredicateId};

/// A variable with its number of forward shifts.
pub type Shifted = (VarId, u16);
/// An equation (by its position in [`System::equations`]) with its number of forward shifts.
pub type ShiftedEquation = (EquationId, u16);

/// Whether an equation holds over time or at events.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EquationKind {
    /// Holds while its guard does.
    Continuous,
    /// Holds at the instants at which its guard does.
    Event,
}

/// An equation: which shifted variables it relates, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemEquation {
    /// Its variables with their shifts (derivative orders), sorted.
    pub variables: Vec<Shifted>,
    /// When it is active.
    pub guard: Formula,
    /// Over time or at events.
    pub kind: EquationKind,
    /// Of a complementarity condition.
    pub sides: Option<Sides>,
}

impl SystemEquation {
    /// The variables of the equation shifted `shifts` times.
    pub fn shifted(&self, shifts: u16) -> impl Iterator<Item = Shifted> + '_ {
        self.variables.iter().map(move |&(var, order)| (var, order + shifts))
    }
    /// Whether it is active whatever the predicates are.
    pub fn is_unguarded(&self) -> bool {
        self.guard == Formula::Constant(true)
    }
}

/// A multi-mode system as the constructive semantics sees it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct System {
    /// The equations.
    pub equations: Vec<SystemEquation>,
    /// For each predicate the shifted variables it reads; none for one that is given from outside.
    pub predicates: Vec<Vec<Shifted>>,
    /// Formulas that hold in every admitted valuation.
    pub invariants: Vec<Formula>,
    /// What is known at the first instant; `None`: everything below its degree.
    pub known_initially: Option<BTreeSet<Shifted>>,
}

impl System {
    /// The system of a model: conditions in guards are the predicates; a relation between left limits is given from
    /// outside, and so is a discrete variable that no equation defines. A restart equation relates the values before
    /// (`pre`) with those one shift later, while its condition holds. Assertions on conditions are invariants, and so is
    /// what relations of the same quantity say of each other.
    pub fn from_model(model: &Mdae) -> Self {
        let mut reader = Reader {
            model,
            system: System::default(),
            number: BTreeMap::new(),
            depth: 0,
        };
        reader.read();
        reader.exclude_thresholds();
        reader.system.take_complementarities();
        reader.system
    }

    /// What the predicates of a model's system stand for, as text.
    pub fn predicate_names(model: &Mdae) -> Vec<String> {
        let mut reader = Reader {
            model,
            system: System::default(),
            number: BTreeMap::new(),
            depth: 0,
        };
        reader.read();
        reader.exclude_thresholds();
        let mut names = vec![String::new(); reader.system.predicates.len()];
        for (atom, predicate) in &reader.number {
            names[predicate.index()] = match *atom {
                Atom::Condition(condition) => model.conditions[condition].text.to_string(),
                Atom::Expression(expr) => model.print(expr),
            };
        }
        let left = reader.system.take_complementarities();
        left.iter()
            .map(|predicate| std::mem::take(&mut names[predicate.index()]))
            .collect()
    }

    /// The greatest shift of each variable in any equation.
    pub fn degrees(&self) -> FxHashMap<VarId, u16> {
        let mut degrees: FxHashMap<VarId, u16> = FxHashMap::default();
        for &(var, order) in self.equations.iter().flat_map(|equation| &equation.variables) {
            let known = degrees.entry(var).or_insert(order);
            *known = order.max(*known);
        }
        degrees
    }

    /// All variables, in order.
    pub fn variables(&self) -> BTreeSet<VarId> {
        let all = self.equations.iter().flat_map(|equation| &equation.variables);
        all.map(|&(var, _)| var).collect()
    }
}

/// What a predicate stands for.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Condition(ConditionId),
    Expression(ExprId),
}

struct Reader<'a> {
    model: &'a Mdae,
    system: System,
    number: BTreeMap<Atom, PredicateId>,
    depth: u32,
}

/// Definitions of Boolean variables are followed this deep; deeper (or circular) ones are given from outside.
const DEFINITION_DEPTH: u32 = 32;

impl Reader<'_> {
    fn read(&mut self) {
        let model = self.model;
        for equation in &model.equations {
            let guard = self.formula(equation.guard);
            // An equation that no mode has keeps its number, and determines nothing.
            let variables = match model.pool.node(equation.guard) {
                Node::Boolean(false) => Vec::new(),
                _ => self.current(equation.residual, 0),
            };
            self.push(variables, guard, EquationKind::Continuous);
        }
        for branch in model.whens.iter().flat_map(|when| &when.branches) {
            let guard = Formula::Or(branch.conditions.iter().map(|&c| self.formula(c)).collect());
            for action in &branch.actions {
                if let Action::Restart { residual, .. } = action {
                    let mut variables = self.current(*residual, 1);
                    let before = model.pool.left_limit_occurrences(*residual);
                    variables.extend(before.into_iter().map(|past| (past.var, past.order)));
                    variables.retain(|&(var, _)| model.is_unknown(var));
                    variables.sort_unstable();
                    variables.dedup();
                    self.push(variables, guard.clone(), EquationKind::Event);
                }
            }
        }
        for assertion in &model.assertions {
            let propositional = |expr| {
                let unknowns = model.pool.occurrences(expr);
                unknowns.iter().all(|&Derivative { var, .. }| !model.is_unknown(var))
            };
            let decides = propositional(assertion.condition) && propositional(assertion.guard);
            if assertion.level == AssertionLevel::Error && decides {
                let elsewhere = Formula::Not(Box::new(self.formula(assertion.guard)));
                let formula = self.formula(assertion.condition);
                self.system.invariants.push(Formula::Or(vec![elsewhere, formula]));
            }
        }
    }

    /// Relations of the same quantity exclude each other.
    fn exclude_thresholds(&mut self) {
        let mut relations = Vec::new();
        for (atom, &predicate) in &self.number {
            if let Atom::Condition(condition) = atom
                && let ConditionKind::Relation { function, comparison } = self.model.conditions[*condition].kind
            {
                relations.push((predicate, function, comparison));
            }
        }
        relations.sort_unstable_by_key(|&(predicate, ..)| predicate);
        self.system.invariants.extend(exclusions(&self.model.pool, &relations));
    }

    fn push(&mut self, variables: Vec<Shifted>, guard: Formula, kind: EquationKind) {
        self.system.equations.push(SystemEquation {
            variables,
            guard,
            kind,
            sides: None,
        });
    }

    fn current(&self, expr: ExprId, shifts: u16) -> Vec<Shifted> {
        let all = self.model.pool.occurrences(expr).into_iter();
        let unknowns = all.filter(|&Derivative { var, .. }| self.model.is_unknown(var));
        unknowns
            .map(|Derivative { var, order }| (var, order + shifts))
            .collect()
    }

    fn formula(&mut self, expr: ExprId) -> Formula {
        self.depth += 1;
        let formula = self.formula_of(expr);
        self.depth -= 1;
        formula
    }

    fn formula_of(&mut self, expr: ExprId) -> Formula {
        if self.depth > DEFINITION_DEPTH {
            return self.predicate(Atom::Expression(expr));
        }
        match self.model.pool.node(expr) {
            Node::Boolean(value) => Formula::Constant(value),
            Node::Initial | Node::Terminal => Formula::Constant(false),
            Node::Unary(UnaryFunction::Not, a) => Formula::Not(Box::new(self.formula(a))),
            Node::Binary(BinaryFunction::And, a, b) => Formula::And(vec![self.formula(a), self.formula(b)]),
            Node::Binary(BinaryFunction::Or, a, b) => Formula::Or(vec![self.formula(a), self.formula(b)]),
            Node::Condition(condition) => self.predicate(Atom::Condition(condition)),
            Node::Var { var, .. } => match self.definition(var) {
                Some(value) => self.formula(value),
                None => self.predicate(Atom::Expression(expr)),
            },
            _ => self.predicate(Atom::Expression(expr)),
        }
    }

    /// What a discrete variable is at all times.
    fn definition(&self, var: VarId) -> Option<ExprId> {
        let pool = &self.model.pool;
        let mut definitions = self.model.discrete.iter().filter(|equation| equation.target == var);
        let definition = definitions.next()?;
        let only = definitions.next().is_none() && pool.constant(definition.guard) == Some(1.0);
        only.then_some(definition.value)
    }

    fn predicate(&mut self, atom: Atom) -> Formula {
        if let Some(&known) = self.number.get(&atom) {
            return Formula::Predicate(known);
        }
        let reads = match atom {
            Atom::Condition(condition) => match self.model.conditions[condition].kind {
                ConditionKind::Relation { function, .. } => self.current(function, 0),
                ConditionKind::Sample { .. } | ConditionKind::Tick { .. } | ConditionKind::Timer { .. } => Vec::new(),
            },
            Atom::Expression(expr) => self.current(expr, 0),
        };
        let id = PredicateId::from_usize(self.system.predicates.len());
        self.system.predicates.push(reads);
        self.number.insert(atom, id);
        Formula::Predicate(id)
    }
}
