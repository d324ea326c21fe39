//! Parts of a model that share no unknown: each has modes of its own, and what is wrong in one of them is wrong whatever
//! the others do. So modes are looked at part by part: many copies of a small circuit are as easy as one.

use rustc_hash::FxHashSet;
use saltus_graph::{BipartiteBuilder, Column, connected_components};
use saltus_mdae::{ConditionId, EquationId, ExprId, Idx, Mdae, Node, Type, VarId};

use super::guards::{Modes, Valuation};

/// Equations that share unknowns, directly or by way of others.
pub(super) struct Part {
    /// Active or not, in order.
    pub(super) equations: Vec<EquationId>,
    /// The conditions and Boolean variables that select among them, in order of their first use.
    atoms: Vec<ExprId>,
}

/// The conditions and Boolean variables that hold.
#[derive(Clone, Default)]
pub(super) struct Truths {
    conditions: FxHashSet<ConditionId>,
    booleans: FxHashSet<VarId>,
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
        let atoms = atoms(model, modes, &equations);
        if atoms.is_empty() {
            fixed.extend(equations);
        } else {
            parts.push(Part { equations, atoms });
        }
    }
    fixed.sort_unstable();
    let fixed = Part {
        equations: fixed,
        atoms: Vec::new(),
    };
    parts.insert(0, fixed);
    parts
}

fn atoms(model: &Mdae, modes: &Modes, equations: &[EquationId]) -> Vec<ExprId> {
    let guards: Vec<ExprId> = equations
        .iter()
        .filter_map(|&equation| Some(modes.formula(modes.guard_of(equation)?)))
        .collect();
    let is_atom = |id: &ExprId| match model.pool.node(*id) {
        Node::Condition(_) => true,
        Node::Var { var, .. } => model.variables[var].ty == Type::Boolean,
        _ => false,
    };
    model.pool.reachable(&guards).into_iter().filter(is_atom).collect()
}

impl Part {
    /// Whether guards select among its equations.
    pub(super) fn is_switched(&self) -> bool {
        !self.atoms.is_empty()
    }

    /// Its equations in a mode, in order.
    pub(super) fn active(&self, modes: &Modes, valuation: &Valuation) -> Vec<EquationId> {
        let equations = self.equations.iter().copied();
        equations.filter(|&id| modes.is_active(valuation, id)).collect()
    }

    /// As many combinations of what the guards are made of as the budget allows: all of them if they are few, else those
    /// with at most one that holds, then with two, and others as they come.
    pub(super) fn truths(&self, model: &Mdae, budget: usize) -> Vec<Truths> {
        let most = (budget / self.equations.len().max(1)).max(1);
        let pick = |chosen: &dyn Fn(usize) -> bool| {
            let mut truths = Truths::default();
            for (_, &atom) in self.atoms.iter().enumerate().filter(|(at, _)| chosen(*at)) {
                match model.pool.node(atom) {
                    Node::Condition(id) => {
                        truths.conditions.insert(id);
                    }
                    Node::Var { var, .. } => {
                        truths.booleans.insert(var);
                    }
                    _ => {}
                }
            }
            truths
        };
        let count = self.atoms.len();
        match 1_usize.checked_shl(count as u32).filter(|&all| all <= most) {
            Some(all) => (0..all).map(|row| pick(&|at| row >> at & 1 == 1)).collect(),
            None => {
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

    /// A formula that holds where the part is in one mode.
    pub(super) fn formula(&self, model: &mut Mdae, truths: &Truths) -> ExprId {
        let mut formula = model.pool.boolean(true);
        for &id in &self.atoms {
            let holds = match model.pool.node(id) {
                Node::Condition(condition) => truths.conditions.contains(&condition),
                Node::Var { var, .. } => truths.booleans.contains(&var),
                _ => continue,
            };
            let literal = if holds { id } else { model.pool.not(id) };
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
        let boolean = |var: VarId| f64::from(u8::from(self.booleans.contains(&var)));
        modes.valuation_where(model, condition, boolean).ok()
    }
}
