//! The remedy for modes in which structure and numbers disagree, applied once per model.
//!
//! Where the leading derivatives of some equations cancel (RR-9603, F.2), a combination of them takes the place of one
//! of them, in all modes in which they hold together ([`Remedy::LinearCombination`]). Where it is made of the equations
//! themselves it is as good as they are at every instant, and mode changes see the constraint that they hide. Where it rests
//! on derivatives of constraints it is equivalent inside the mode only: they hold from the mode change on. Then
//! [`Mdae::combinations`] remembers what it stands for, and mode changes are analysed with that.

use rustc_hash::FxHashSet;
use saltus_mdae::{Combination, ConditionId, Equation, EquationId, Mdae, Node, Type, VarId};

use super::guards::{Modes, Valuation};
use super::rank::{RankDeficiency, Remedy, check_rank, combined_residual};
use super::structure::analyze_mode;

/// Modes looked at times equations in them: a few per cent of the time that compiling a model takes.
const BUDGET: usize = 3000;
/// Combinations in one model.
const MOST_COMBINATIONS: usize = 16;

/// Puts combinations in place of equations whose leading derivatives cancel, in the modes that can be looked at cheaply.
/// Only combinations that hold for all values of the parameters are used.
pub fn regularise(model: &mut Mdae) {
    if model.equations.len() > BUDGET {
        return;
    }
    for _ in 0..MOST_COMBINATIONS {
        if !improve(model) {
            return;
        }
    }
}

/// Finds one combination; false if none helps.
fn improve(model: &mut Mdae) -> bool {
    let modes = Modes::new(model);
    let mut seen: FxHashSet<Valuation> = FxHashSet::default();
    for truths in truths(model, &modes, BUDGET) {
        let Some(valuation) = truths.valuation(model, &modes) else {
            continue;
        };
        if !seen.insert(valuation.clone()) {
            continue;
        }
        let Ok(structure) = analyze_mode(model, &modes, &valuation) else {
            continue;
        };
        let found = check_rank(model, &modes, &structure, None);
        if found.iter().any(|one| apply(model, &truths, one, found.len())) {
            return true;
        }
    }
    false
}

/// Applies a remedy if it makes the mode better.
fn apply(model: &mut Mdae, truths: &Truths, found: &RankDeficiency, count: usize) -> bool {
    let Remedy::LinearCombination { replaced, terms } = &found.remedy else {
        return false;
    };
    let Some(residual) = combined_residual(model, found) else {
        return false;
    };
    let saved = model.equations.clone();
    let own = model.equations[*replaced].guard;
    let mut together = model.pool.boolean(true);
    for (equation, ..) in terms {
        together = model.pool.and(together, model.equations[*equation].guard);
    }
    model.equations[*replaced].guard = if together == own {
        model.pool.boolean(false)
    } else {
        let apart = model.pool.not(together);
        model.pool.and(own, apart)
    };
    let equation = model.equations.push(Equation {
        guard: together,
        residual,
        simplified: None,
        origin: model.equations[*replaced].origin,
    });
    let known = model.combinations.len();
    let rests_on_derivatives =
        |&(equation, _, order): &(EquationId, f64, u16)| order > 0 || model.stands_for(equation) != equation;
    if terms.iter().any(rests_on_derivatives) {
        model.combinations.push(Combination {
            equation,
            stands_for: *replaced,
        });
    }
    let modes = Modes::new(model);
    let better = truths.valuation(model, &modes).is_some_and(|valuation| {
        let structure = analyze_mode(model, &modes, &valuation);
        structure.is_ok_and(|structure| check_rank(model, &modes, &structure, None).len() < count)
    });
    if !better {
        model.equations = saved;
        model.combinations.truncate(known);
    }
    better
}

/// The conditions and Boolean variables that hold.
#[derive(Clone, Default)]
pub(super) struct Truths {
    pub(super) conditions: FxHashSet<ConditionId>,
    pub(super) booleans: FxHashSet<VarId>,
}

impl Truths {
    pub(super) fn valuation(&self, model: &Mdae, modes: &Modes) -> Option<Valuation> {
        let condition = |id: ConditionId| self.conditions.contains(&id);
        let boolean = |var: VarId| f64::from(u8::from(self.booleans.contains(&var)));
        modes.valuation_where(model, condition, boolean).ok()
    }
}

/// As many combinations of what the guards are made of as the budget allows: all of them if they are few, else those
/// with at most one that holds, then with two.
pub(super) fn truths(model: &Mdae, modes: &Modes, budget: usize) -> Vec<Truths> {
    let most = budget / model.equations.len().max(1);
    let mut atoms = Vec::new();
    for id in model.pool.reachable(modes.formulas()) {
        match model.pool.node(id) {
            node @ Node::Condition(_) => atoms.push(node),
            node @ Node::Var { var, .. } if model.variables[var].ty == Type::Boolean => atoms.push(node),
            _ => {}
        }
    }
    let pick = |chosen: &dyn Fn(usize) -> bool| {
        let mut truths = Truths::default();
        for (_, atom) in atoms.iter().enumerate().filter(|(at, _)| chosen(*at)) {
            match *atom {
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
    let all = 1_usize.checked_shl(atoms.len() as u32).filter(|&all| all <= most);
    match all {
        Some(all) => (0..all).map(|row| pick(&|at| row >> at & 1 == 1)).collect(),
        None => {
            let single = (0..=atoms.len()).map(|one| (one, one));
            let pairs = (1..=atoms.len()).flat_map(|one| (one + 1..=atoms.len()).map(move |two| (one, two)));
            let chosen = single.chain(pairs).take(most);
            chosen
                .map(|(one, two)| pick(&|at| at + 1 == one || at + 1 == two))
                .collect()
        }
    }
}
