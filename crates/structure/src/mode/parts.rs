//! Parts of a model that share no unknown: each has modes of its own, and what is wrong in one of them is wrong whatever
//! the others do. So modes are looked at part by part: many copies of a small circuit are as easy as one.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{BipartiteBuilder, Column, connected_components};
use saltus_mdae::{BinaryFunction, ConditionId, EquationId, ExprId, Idx, Mdae, Node, Role, Type, VarId};

use super::guards::{Modes, Valuation};

/// Equations that share unknowns, directly or by way of others.
pub(super) struct Part {
    /// Active or not, in order.
    pub(super) equations: Vec<EquationId>,
    atoms: Atoms,
}

/// What the guards of a part are made of.
struct Atoms {
    /// In order of their first use.
    atoms: Vec<Atom>,
    /// Whether the guards depend on nothing else.
    complete: bool,
}

/// What the guards of a part may depend on, with the values that make a difference to them.
enum Atom {
    Condition(ExprId, ConditionId),
    Boolean(ExprId, VarId),
    /// An Integer or an enumeration that guards compare with numbers: values that they tell apart, most often none of the
    /// numbers first.
    Number {
        var: VarId,
        comparisons: Vec<Comparison>,
        values: Vec<f64>,
    },
}

/// `formula` compares a variable with `bound`.
#[derive(Copy, Clone)]
struct Comparison {
    formula: ExprId,
    operator: BinaryFunction,
    bound: f64,
}

/// What the atoms of a part are in one of its modes.
#[derive(Clone, Default)]
pub(super) struct Truths {
    conditions: FxHashSet<ConditionId>,
    booleans: FxHashSet<VarId>,
    numbers: FxHashMap<VarId, f64>,
}

/// The parts of a model. What no guard selects from is one of them, the first.
pub(super) fn parts(model: &Mdae, modes: &Modes) -> Vec<Part> {
    let ever: Vec<EquationId> = model.equations.ids().filter(|&id| modes.is_ever_active(id)).collect();
    let mut builder = BipartiteBuilder::new(model.variables.len());
    for equation in &ever {
        let unknowns = modes.signatures().row(equation.index()).iter();
        builder.push_row(unknowns.map(|unknown| Column::from_index(unknown.var.index())));
    }
    let components = connected_components(&builder.finish());
    let mut fixed = Vec::new();
    let mut parts = Vec::new();
    for rows in components.rows() {
        let equations: Vec<EquationId> = rows.into_iter().map(|row| ever[row.index()]).collect();
        let atoms = Atoms::new(model, modes, &equations);
        if atoms.atoms.is_empty() {
            fixed.extend(equations);
        } else {
            parts.push(Part { equations, atoms });
        }
    }
    fixed.sort_unstable();
    let fixed = Part {
        equations: fixed,
        atoms: Atoms {
            atoms: Vec::new(),
            complete: true,
        },
    };
    parts.insert(0, fixed);
    parts
}

impl Atoms {
    fn new(model: &Mdae, modes: &Modes, equations: &[EquationId]) -> Self {
        let guards: Vec<ExprId> = equations
            .iter()
            .filter_map(|&equation| Some(modes.formula(modes.guard_of(equation)?)))
            .collect();
        let mut found = Atoms {
            atoms: Vec::new(),
            complete: true,
        };
        let mut numbers: FxHashMap<VarId, Vec<Comparison>> = FxHashMap::default();
        for id in model.pool.reachable(&guards) {
            match model.pool.node(id) {
                Node::Condition(condition) => found.atoms.push(Atom::Condition(id, condition)),
                Node::Var { var, .. } => match (model.variables[var].role, model.variables[var].ty) {
                    (_, Type::Boolean) => found.atoms.push(Atom::Boolean(id, var)),
                    (Role::Parameter, _) => {}
                    _ => found.atoms.push(Atom::Number {
                        var,
                        comparisons: Vec::new(),
                        values: Vec::new(),
                    }),
                },
                Node::Pre { .. } | Node::Time | Node::Call { .. } => found.complete = false,
                _ => {
                    if let Some((var, comparison)) = comparison(model, id) {
                        numbers.entry(var).or_default().push(comparison);
                    }
                }
            }
        }
        found.complete &= readers_of_numbers_are_comparisons(model, &guards, &numbers);
        for atom in &mut found.atoms {
            if let Atom::Number {
                var,
                comparisons,
                values,
            } = atom
            {
                *comparisons = numbers.remove(var).unwrap_or_default();
                *values = values_told_apart(model, *var, comparisons);
            }
        }
        found.atoms.retain(|atom| atom.choices() > 1);
        found
    }
}

/// The variable and the comparison, if an expression compares a discrete number with a constant.
fn comparison(model: &Mdae, formula: ExprId) -> Option<(VarId, Comparison)> {
    let Node::Binary(operator, a, b) = model.pool.node(formula) else {
        return None;
    };
    let mirrored = match operator {
        BinaryFunction::Eq | BinaryFunction::Ne => operator,
        BinaryFunction::Lt => BinaryFunction::Gt,
        BinaryFunction::Le => BinaryFunction::Ge,
        BinaryFunction::Gt => BinaryFunction::Lt,
        BinaryFunction::Ge => BinaryFunction::Le,
        _ => return None,
    };
    let constant = |id: ExprId| model.pool.constant(id);
    let (variable, operator, bound) = match (constant(a), constant(b)) {
        (None, Some(bound)) => (a, operator, bound),
        (Some(bound), None) => (b, mirrored, bound),
        _ => return None,
    };
    let Node::Var { var, .. } = model.pool.node(variable) else {
        return None;
    };
    let found = Comparison {
        formula,
        operator,
        bound,
    };
    (model.variables[var].ty == Type::Integer).then_some((var, found))
}

impl Comparison {
    fn holds(self, value: f64) -> bool {
        match self.operator {
            BinaryFunction::Eq => value == self.bound,
            BinaryFunction::Ne => value != self.bound,
            BinaryFunction::Lt => value < self.bound,
            BinaryFunction::Le => value <= self.bound,
            BinaryFunction::Gt => value > self.bound,
            _ => value >= self.bound,
        }
    }
}

/// Whether numbers that vary are compared with constants and not read in any other way.
fn readers_of_numbers_are_comparisons(
    model: &Mdae,
    guards: &[ExprId],
    numbers: &FxHashMap<VarId, Vec<Comparison>>,
) -> bool {
    let compared = |id: ExprId| numbers.values().flatten().any(|one| one.formula == id);
    let is_number = |id: &ExprId| match model.pool.node(*id) {
        Node::Var { var, .. } => {
            let variable = &model.variables[var];
            variable.role != Role::Parameter && variable.ty != Type::Boolean
        }
        _ => false,
    };
    let mut all = true;
    for id in model.pool.reachable(guards) {
        model
            .pool
            .for_each_child(model.pool.node(id), |child| all &= !is_number(&child) || compared(id));
    }
    all
}

/// A value for each way in which comparisons can come out.
fn values_told_apart(model: &Mdae, var: VarId, comparisons: &[Comparison]) -> Vec<f64> {
    let mut candidates: Vec<f64> = match &model.variables[var].literals {
        Some(literals) => (1..=literals.len()).map(|literal| literal as f64).collect(),
        None => {
            let bounds = comparisons.iter().map(|comparison| comparison.bound);
            bounds
                .flat_map(|bound| [bound.floor() - 1.0, bound.floor(), bound.floor() + 1.0])
                .collect()
        }
    };
    candidates.sort_by(f64::total_cmp);
    let outcome = |value: f64| -> Vec<bool> { comparisons.iter().map(|one| one.holds(value)).collect() };
    let mut seen: FxHashSet<Vec<bool>> = FxHashSet::default();
    candidates.retain(|&value| seen.insert(outcome(value)));
    candidates.sort_by_key(|&value| outcome(value).into_iter().filter(|&holds| holds).count());
    candidates
}

impl Atom {
    fn choices(&self) -> usize {
        match self {
            Atom::Condition(..) | Atom::Boolean(..) => 2,
            Atom::Number { values, .. } => values.len(),
        }
    }

    /// Makes a choice; the first says that it does not hold.
    fn choose(&self, choice: usize, truths: &mut Truths) {
        match self {
            Atom::Condition(_, id) if choice > 0 => drop(truths.conditions.insert(*id)),
            Atom::Boolean(_, var) if choice > 0 => drop(truths.booleans.insert(*var)),
            Atom::Number { var, values, .. } => drop(truths.numbers.insert(*var, values[choice])),
            _ => {}
        }
    }
}

impl Part {
    /// Whether guards select among its equations.
    pub(super) fn is_switched(&self) -> bool {
        !self.atoms.atoms.is_empty()
    }

    /// Whether its mode can be written as a formula.
    pub(super) fn has_formulas(&self) -> bool {
        self.atoms.complete
    }

    /// Its equations in a mode, in order.
    pub(super) fn active(&self, modes: &Modes, valuation: &Valuation) -> Vec<EquationId> {
        let equations = self.equations.iter().copied();
        equations.filter(|&id| modes.is_active(valuation, id)).collect()
    }

    /// As many combinations of what the guards are made of as the budget allows: all of them if they are few, else those
    /// with at most one that holds, then with two, and others as they come.
    pub(super) fn truths(&self, budget: usize) -> Vec<Truths> {
        let most = (budget / self.equations.len().max(1)).max(1);
        let atoms = &self.atoms.atoms;
        // Of each atom what differs from its first choice.
        let options: Vec<(usize, usize)> = atoms
            .iter()
            .enumerate()
            .flat_map(|(at, atom)| (1..atom.choices()).map(move |choice| (at, choice)))
            .collect();
        let pick = |chosen: &dyn Fn(usize) -> bool| {
            let mut truths = Truths::default();
            atoms.iter().for_each(|atom| atom.choose(0, &mut truths));
            let chosen = options.iter().enumerate().filter(|(at, _)| chosen(*at));
            chosen.for_each(|(_, &(at, choice))| atoms[at].choose(choice, &mut truths));
            truths
        };
        let mut choices = atoms.iter().map(Atom::choices);
        let all = choices.try_fold(1_usize, usize::checked_mul);
        match all.filter(|&all| all <= most) {
            Some(all) => (0..all).map(|row| self.combination(row)).collect(),
            None => {
                let count = options.len();
                let single = (0..=count).map(|one| (one, one));
                let pairs = (1..=count).flat_map(|one| (one + 1..=count).map(move |two| (one, two)));
                let chosen = single.chain(pairs).take(most.div_ceil(2));
                let few: Vec<Truths> = chosen
                    .map(|(one, two)| pick(&|at| at + 1 == one || at + 1 == two))
                    .collect();
                let others = most - few.len();
                let any = (0..others as u64).map(|number| pick(&|at| is_chosen(number, at as u64)));
                few.into_iter().chain(any).collect()
            }
        }
    }

    /// One of all combinations, by its number.
    fn combination(&self, number: usize) -> Truths {
        let mut truths = Truths::default();
        let mut rest = number;
        for atom in &self.atoms.atoms {
            atom.choose(rest % atom.choices(), &mut truths);
            rest /= atom.choices();
        }
        truths
    }

    /// A formula that holds where the part is in one mode.
    pub(super) fn formula(&self, model: &mut Mdae, truths: &Truths) -> ExprId {
        let mut literals: Vec<(ExprId, bool)> = Vec::new();
        for atom in &self.atoms.atoms {
            match atom {
                Atom::Condition(formula, id) => literals.push((*formula, truths.conditions.contains(id))),
                Atom::Boolean(formula, var) => literals.push((*formula, truths.booleans.contains(var))),
                Atom::Number { var, comparisons, .. } => {
                    let value = truths.number(*var);
                    literals.extend(comparisons.iter().map(|one| (one.formula, one.holds(value))));
                }
            }
        }
        let mut formula = model.pool.boolean(true);
        for (literal, holds) in literals {
            let literal = if holds { literal } else { model.pool.not(literal) };
            formula = model.pool.and(formula, literal);
        }
        formula
    }
}

/// Whether one of many is chosen in the combination of a number: as likely as not, and the same in every run.
fn is_chosen(number: u64, at: u64) -> bool {
    let mut hash = (number << 32 | at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb_u64] {
        hash = (hash ^ (hash >> 30)).wrapping_mul(factor);
    }
    hash >> 63 == 1
}

impl Truths {
    pub(super) fn valuation(&self, model: &Mdae, modes: &Modes) -> Option<Valuation> {
        let condition = |id: ConditionId| self.conditions.contains(&id);
        let value = |var: VarId| match model.variables[var].ty {
            Type::Boolean => f64::from(u8::from(self.booleans.contains(&var))),
            _ => self.number(var),
        };
        modes.valuation_where(model, condition, value).ok()
    }

    fn number(&self, var: VarId) -> f64 {
        self.numbers.get(&var).copied().unwrap_or(0.0)
    }
}
