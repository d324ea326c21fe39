//! Moving between modes against analysing each of them from scratch; and: order and names never matter.

use std::collections::BTreeSet;

use proptest::prelude::*;
use saltus_mdae::{EquationId, Mdae, OriginId, Role, Type, VarId, Variable};
use saltus_structure::mode::{GuardId, ModeCursor, ModeStructure, Modes, Valuation, analyze_mode};

/// Per position two alternatives, each a list of (unknown, derivative).
type Alternatives = Vec<[Vec<(usize, u16)>; 2]>;

fn alternatives() -> impl Strategy<Value = Alternatives> {
    (2usize..9).prop_flat_map(|n| {
        let entry = (0..n, prop_oneof![4 => Just(0u16), 2 => Just(1), 1 => Just(2)]);
        let row = prop::collection::vec(entry, 1..4);
        prop::collection::vec((row.clone(), row).prop_map(|(a, b)| [a, b]), n)
    })
}

/// The model with its variables and equations in the order that `permute` gives.
fn model(positions: &Alternatives, permute: &dyn Fn(usize) -> usize) -> Mdae {
    let n = positions.len();
    let mut model = Mdae::new("Random");
    let mut unknowns = vec![VarId(0); n];
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| permute(i));
    for &i in &order {
        unknowns[i] = model.add_variable(Variable::new(&format!("v{}", permute(i)), Role::Continuous, Type::Real));
    }
    let switches: Vec<VarId> = (0..n)
        .map(|i| model.add_variable(Variable::new(&format!("b{i}"), Role::Discrete, Type::Boolean)))
        .collect();
    for &i in &order {
        for (which, row) in positions[i].iter().enumerate() {
            let pool = &mut model.pool;
            let mut residual = pool.real(1.0);
            for &(var, derivative) in row {
                let leaf = pool.der_var(unknowns[var], derivative);
                // Squares keep the structure free of cancellations.
                let square = pool.mul(leaf, leaf);
                residual = pool.add(residual, square);
            }
            let switch = pool.var(switches[i]);
            let guard = if which == 0 { switch } else { pool.not(switch) };
            model.add_guarded_equation(guard, residual, OriginId(0));
        }
    }
    model
}

/// Two guards per position: the first alternative while its switch is on.
fn valuation(modes: &Modes, model: &Mdae, on: impl Fn(VarId) -> bool) -> Valuation {
    modes
        .valuation_where(model, |_| false, |var| f64::from(u8::from(on(var))))
        .unwrap()
}

fn blocks_of(structure: &ModeStructure) -> BTreeSet<Vec<EquationId>> {
    let block = |rows: &[saltus_graph::Row]| rows.iter().map(|row| structure.equations[row.index()]).collect();
    structure.blocks.iter().map(block).collect()
}

fn check(cursor: &ModeCursor, model: &Mdae, modes: &Modes) -> Result<(), TestCaseError> {
    if let Err(why) = cursor.validate() {
        return Err(TestCaseError::fail(why));
    }
    match analyze_mode(model, modes, cursor.valuation()) {
        Err(_) => prop_assert!(!cursor.is_regular()),
        Ok(structure) => {
            prop_assert!(cursor.is_regular());
            prop_assert_eq!(cursor.index(), structure.index());
            prop_assert_eq!(cursor.degrees_of_freedom(), structure.degrees_of_freedom());
            for (i, &equation) in structure.equations.iter().enumerate() {
                prop_assert_eq!(cursor.c_of(equation), Some(structure.sigma.c[i]));
            }
            for (i, &var) in structure.unknowns.iter().enumerate() {
                prop_assert_eq!(cursor.d_of(var), Some(structure.sigma.d[i]));
            }
            let slots: BTreeSet<_> = structure
                .equations
                .iter()
                .map(|&e| cursor.block_of(e).unwrap())
                .collect();
            let blocks: BTreeSet<Vec<EquationId>> = slots.iter().map(|&s| cursor.equations(s).to_vec()).collect();
            prop_assert_eq!(blocks, blocks_of(&structure));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn moving_agrees_with_analysing(
        positions in alternatives(),
        toggles in prop::collection::vec((0usize..9, 0usize..9), 1..25),
    ) {
        let model = model(&positions, &|i| i);
        let modes = Modes::new(&model);
        // Start from the first regular mode among the single-switch valuations.
        let n = positions.len();
        let starts = (0..(1u32 << n)).map(|bits| valuation(&modes, &model, |var| bits >> (var.0 as usize - n) & 1 == 1));
        let Some(start) = starts.filter_map(|v| analyze_mode(&model, &modes, &v).ok()).next() else {
            return Ok(());
        };
        let mut cursor = ModeCursor::new(&model, &modes, &start);
        check(&cursor, &model, &modes)?;
        for (a, b) in toggles {
            // One or two positions at once.
            let mut target = cursor.valuation().clone();
            for position in BTreeSet::from([a % n, b % n]) {
                for guard in [2 * position as u32, 2 * position as u32 + 1].map(GuardId) {
                    target.set(guard, !cursor.valuation().get(guard));
                }
            }
            let moved = cursor.move_to(&target);
            prop_assert_eq!(moved.is_regular, cursor.is_regular());
            check(&cursor, &model, &modes)?;
        }
    }

    /// Renaming and permuting equations and variables changes neither verdict nor offsets nor the number of states.
    #[test]
    fn order_and_names_do_not_matter(positions in alternatives(), seed in 1usize..1000, bits in 0u32..512) {
        let n = positions.len();
        let scramble = |i: usize| (i * 7919 + seed * 104_729) % 1009;
        let plain = model(&positions, &|i| i);
        let permuted = model(&positions, &scramble);
        let analyze = |model: &Mdae| {
            let modes = Modes::new(model);
            let valuation = valuation(&modes, model, |var| bits >> (var.0 as usize - n) & 1 == 1);
            let structure = analyze_mode(model, &modes, &valuation).ok()?;
            let plan = structure.plan(model, &modes, &structure.selection);
            let mut sizes: Vec<usize> = structure.blocks.iter().map(<[_]>::len).collect();
            sizes.sort_unstable();
            Some((structure, plan.states.len(), sizes))
        };
        let (first, second) = (analyze(&plain), analyze(&permuted));
        prop_assert_eq!(first.is_some(), second.is_some());
        let (Some((a, a_states, a_sizes)), Some((b, b_states, b_sizes))) = (first, second) else {
            return Ok(());
        };
        prop_assert_eq!((a_states, a_sizes), (b_states, b_sizes));
        for var in a.unknowns.iter() {
            let other = permuted.variable_named(&format!("v{}", scramble(var.0 as usize))).unwrap();
            prop_assert_eq!(a.d_of(*var), b.d_of(other));
        }
        let sorted = |structure: &ModeStructure| {
            let mut c = structure.sigma.c.clone();
            c.sort_unstable();
            c
        };
        prop_assert_eq!(sorted(&a), sorted(&b));
    }
}
