//! Modes without their aliases: every plan determines everything that the mode's own plan does.

use std::sync::Arc;

use proptest::prelude::*;
use rustc_hash::FxHashSet;
use saltus_mdae::{Builder, Derivative, Ex, ExprPool, Mdae, Type};
use saltus_structure::mode::{ModeAliases, ModeStructure, Modes, Plan, Valuation, analyze_mode};

/// How neighbours in a row are coupled.
#[derive(Copy, Clone, Debug)]
enum Coupling {
    /// Equal speeds while engaged.
    Clutch,
    /// Opposite speeds while engaged.
    Reversing,
    /// Equal speeds while engaged, in a form that is no alias.
    Ratio,
    /// A torque that depends on both speeds.
    Damper,
}

/// Inertias in a row.
fn row(couplings: &[Coupling]) -> Mdae {
    let m = Builder::new("Row");
    let w: Vec<Ex> = (0..=couplings.len())
        .map(|i| m.state(&format!("w{i}"), i as f64))
        .collect();
    let tau: Vec<Ex> = (0..couplings.len()).map(|i| m.unknown(&format!("tau{i}"))).collect();
    for (i, speed) in w.iter().enumerate() {
        let mut residual = speed.der() + speed;
        if i > 0 {
            residual = residual - &tau[i - 1];
        }
        if let Some(right) = tau.get(i) {
            residual = residual + right;
        }
        m.equation("n", residual);
    }
    for (i, coupling) in couplings.iter().enumerate() {
        let engaged = m.discrete(&format!("engaged{i}"), Type::Boolean, 0.0);
        let (left, right) = (&w[i], &w[i + 1]);
        let tied = match coupling {
            Coupling::Clutch => left - right,
            Coupling::Reversing => left + right,
            Coupling::Ratio => left - 2.0 * right,
            Coupling::Damper => &tau[i] - 0.5 * (left - right),
        };
        m.equation_if(&engaged, "tied", tied);
        m.equation_if(&!&engaged, "free", tau[i].clone());
    }
    m.finish().unwrap()
}

struct Found {
    model: Mdae,
    pool: ExprPool,
    structure: ModeStructure,
    full: Plan,
    aliases: Option<(ModeAliases, Plan)>,
}

fn analyse(couplings: &[Coupling], engaged: &[bool]) -> Found {
    let mut model = row(couplings);
    let modes = Modes::new(&model);
    let valuation = Valuation::from_fn(&modes, |guard| (guard.0 % 2 == 0) == engaged[guard.0 as usize / 2]);
    let structure = analyze_mode(&model, &modes, &valuation).unwrap();
    let full = structure.plan(&model, &modes, &structure.selection);
    let base = Arc::new(std::mem::take(&mut model.pool));
    let mut pool = ExprPool::fork(&base);
    model.pool = ExprPool::fork(&base);
    let aliases = structure.aliases(&model, &modes, &mut pool).map(|aliases| {
        let plan = aliases.plan(&model, &modes, &pool, &structure, &structure.selection);
        (aliases, plan.expect("a plan"))
    });
    Found {
        model,
        pool,
        structure,
        full,
        aliases,
    }
}

/// Everything is determined once, and from what was determined before.
fn check(found: &Found) {
    let Some((aliases, plan)) = &found.aliases else { return };
    assert_eq!(plan.states.len(), found.full.states.len());
    let mut known: FxHashSet<Derivative> = plan.states.iter().map(|state| state.state).collect();
    for block in plan.blocks() {
        known.extend(block.solve_for);
        for &(equation, order) in block.equations {
            let mut pool = found.pool.clone();
            let residual = pool.nth_total_derivative(aliases.residual(&found.model, equation), order);
            for need in pool.occurrences(residual) {
                assert!(!found.model.is_unknown(need.var) || known.contains(&need), "{need:?}");
            }
        }
    }
    for copy in &aliases.copies {
        for order in 0..=copy.highest {
            assert!(known.contains(&Derivative { var: copy.root, order }));
            assert!(known.insert(Derivative { var: copy.var, order }), "determined twice");
        }
    }
    let expected: usize = found.structure.sigma.d.iter().map(|&d| usize::from(d) + 1).sum();
    assert_eq!(known.len(), expected, "no variable is lost");
}

#[test]
fn engaged_clutches_leave_one_speed() {
    let found = analyse(&[Coupling::Clutch, Coupling::Reversing, Coupling::Clutch], &[true; 3]);
    check(&found);
    let (aliases, plan) = found.aliases.as_ref().expect("aliases");
    let signs: Vec<bool> = aliases.copies.iter().map(|copy| copy.negated).collect();
    assert_eq!(signs, [false, true, true]);
    let unknowns: usize = plan.blocks().map(|block| block.solve_for.len()).sum();
    // One rate and three torques; with the aliases three dummies and three rates more.
    assert_eq!((plan.states.len(), unknowns), (1, 4));
    assert_eq!(found.full.solved().len(), 10);
}

#[test]
fn modes_without_aliases_stay_as_they_are() {
    let found = analyse(&[Coupling::Clutch, Coupling::Damper], &[false, true]);
    assert!(found.aliases.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn nothing_is_lost(kinds in proptest::collection::vec((0..4u8, any::<bool>()), 1..9)) {
        let kind = |k: u8| [Coupling::Clutch, Coupling::Reversing, Coupling::Ratio, Coupling::Damper][usize::from(k)];
        let couplings: Vec<Coupling> = kinds.iter().map(|&(k, _)| kind(k)).collect();
        let engaged: Vec<bool> = kinds.iter().map(|&(_, engaged)| engaged).collect();
        check(&analyse(&couplings, &engaged));
    }
}
