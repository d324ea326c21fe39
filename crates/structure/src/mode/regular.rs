//! The remedy for modes in which structure and numbers disagree, applied once per model.
//!
//! Where the leading derivatives of some equations cancel (RR-9603, F.2), a combination of them takes the place of one
//! of them, in all modes in which they hold together ([`Remedy::LinearCombination`]). Where it is made of the equations
//! themselves it is as good as they are at every instant, and mode changes see the constraint that they hide. Where it rests
//! on derivatives of constraints it is equivalent inside the mode only: they hold from the mode change on. Then
//! [`Mdae::combinations`] remembers what it stands for, and mode changes are analysed with that.

use rustc_hash::FxHashSet;
use saltus_mdae::{Combination, Equation, EquationId, Mdae};

use super::guards::{Modes, Valuation};
use super::parts::{Part, Truths, parts};
use super::rank::{RankDeficiency, Remedy, check_rank, combined_residual};
use super::structure::analyze_equations;

/// Modes of one part of a model looked at, times equations in them: a few per cent of the time that compiling takes.
const BUDGET: usize = 20_000;
/// The same of all parts together, to which every combination adds the equations of the model.
const WHOLE_BUDGET: usize = 1_000_000;
/// Combinations in one part.
const MOST_COMBINATIONS: usize = 16;
/// How often the modes of a part are gone through: a combination may concern modes that were looked at before.
const ROUNDS: usize = 2;

/// Puts combinations in place of equations whose leading derivatives cancel, in the modes that can be looked at cheaply.
/// Only combinations that hold for all values of the parameters are used.
pub fn regularise(model: &mut Mdae) {
    let mut modes = Modes::new(model);
    let mut left = WHOLE_BUDGET;
    for mut part in parts(model, &modes) {
        if part.equations.len() > BUDGET {
            continue;
        }
        let mut count = 0;
        for _ in 0..ROUNDS {
            let before = count;
            improve(model, &mut modes, &mut part, &mut left, &mut count);
            if count == before {
                break;
            }
        }
        if left == 0 {
            return;
        }
    }
}

/// Goes through the modes of a part and finds combinations.
fn improve(model: &mut Mdae, modes: &mut Modes, part: &mut Part, left: &mut usize, count: &mut usize) {
    let mut seen: FxHashSet<Valuation> = FxHashSet::default();
    for truths in part.truths(BUDGET.min(*left)) {
        while *count < MOST_COMBINATIONS {
            let Some(valuation) = truths.valuation(model, modes) else {
                break;
            };
            if !seen.insert(valuation.clone()) {
                break;
            }
            let active = part.active(modes, &valuation);
            *left = left.saturating_sub(active.len());
            let Ok(structure) = analyze_equations(model, modes, &valuation, active) else {
                break;
            };
            let found = check_rank(model, modes, &structure, None);
            let improved = found
                .iter()
                .find_map(|one| apply(model, part, &truths, one, found.len()));
            let Some(after) = improved else { break };
            *modes = after;
            *count += 1;
            *left = left.saturating_sub(model.equations.len());
            // Valuations are about the guards there are.
            seen.clear();
        }
    }
}

/// Applies a remedy if it makes the mode better.
fn apply(model: &mut Mdae, part: &mut Part, truths: &Truths, found: &RankDeficiency, count: usize) -> Option<Modes> {
    let Remedy::LinearCombination { replaced, terms } = &found.remedy else {
        return None;
    };
    let residual = combined_residual(model, found)?;
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
    part.equations.push(equation);
    let better = truths.valuation(model, &modes).is_some_and(|valuation| {
        let structure = analyze_equations(model, &modes, &valuation, part.active(&modes, &valuation));
        structure.is_ok_and(|structure| check_rank(model, &modes, &structure, None).len() < count)
    });
    if !better {
        model.equations = saved;
        model.combinations.truncate(known);
        part.equations.pop();
        return None;
    }
    Some(modes)
}
