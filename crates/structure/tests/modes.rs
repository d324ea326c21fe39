//! Modes of the classic examples: offsets, states, blocks and plans.

use saltus_mdae::{Builder, Derivative, EquationId, Ex, Mdae, StateSelect, UnaryFunction, VarId};
use saltus_structure::mode::{
    BlockKind, Dependence, DerivativeRole, ModeFailure, ModeStructure, Modes, Plan, Valuation, analyze_mode,
    needs_reselection, select_states, selection_quality,
};

fn analyze(model: &mut Mdae, truth: impl Fn(usize) -> bool) -> Result<(ModeStructure, Plan), ModeFailure> {
    let modes = Modes::new(model);
    let valuation = modes.valuation_where(model, |c| truth(c.0 as usize), |_| 0.0).unwrap();
    let structure = analyze_mode(model, &modes, &valuation)?;
    let plan = structure.plan(model, &modes, &structure.selection);
    plan.validate(model, &structure).unwrap();
    assert_eq!(plan.states.len(), structure.degrees_of_freedom());
    Ok((structure, plan))
}

fn name(model: &Mdae, Derivative { var, order }: Derivative) -> String {
    format!("{}{}", model.variables[var].name, "'".repeat(order.into()))
}

fn states(model: &Mdae, plan: &Plan) -> Vec<String> {
    plan.states.iter().map(|s| name(model, s.state)).collect()
}

fn pendulum() -> Mdae {
    let m = Builder::new("Pendulum");
    let (x, y, lambda) = (m.guess("x", 0.6), m.guess("y", -0.8), m.unknown("lambda"));
    m.equation("e1", x.der().der() + &lambda * &x);
    m.equation("e2", y.der().der() + &lambda * &y + 9.81);
    m.equation("e3", &x * &x + &y * &y - 1.0);
    m.finish().unwrap()
}

#[test]
fn the_pendulum_has_two_states_chosen_by_the_numbers() {
    let mut model = pendulum();
    let (structure, plan) = analyze(&mut model, |_| true).unwrap();
    assert_eq!((structure.index(), structure.degrees_of_freedom()), (3, 2));
    let group = &structure.groups[0];
    assert_eq!(group.dependence, Dependence::Varying);
    // Stages 2, 1, 0: the constraint for a position, its derivative for a velocity, then the accelerations and λ.
    let sizes: Vec<_> = plan
        .blocks()
        .map(|block| (block.stage, block.equations.len(), block.kind))
        .collect();
    assert_eq!(
        sizes,
        [
            (2, 1, BlockKind::Nonlinear),
            (1, 1, BlockKind::Explicit),
            (0, 3, BlockKind::Linear)
        ]
    );
    // ∂e3/∂x = 2x, ∂e3/∂y = 2y: the larger coordinate is the dummy.
    let no_preference = |_, _| 0;
    let chosen = select_states(group, &[1.2, -1.6], no_preference).unwrap();
    assert_eq!((&chosen.depth[..], chosen.quality), (&[0, 2][..], Some(1.0)));
    assert!(!needs_reselection(selection_quality(group, &[1.9, 0.6], &chosen)));
    assert!(needs_reselection(selection_quality(group, &[2.0, 0.01], &chosen)));
    assert_eq!(select_states(group, &[2.0, 0.01], no_preference).unwrap().depth, [2, 0]);
    assert!(select_states(group, &[0.0, 0.0], no_preference).is_err());
}

#[test]
fn state_select_is_honoured() {
    for favoured in 0..2u32 {
        let mut model = pendulum();
        model.variables[VarId(favoured)].state_select = StateSelect::Prefer;
        let (structure, plan) = analyze(&mut model, |_| true).unwrap();
        let kept = ["x", "y"][favoured as usize];
        assert_eq!(states(&model, &plan), [kept.to_string(), format!("{kept}'")]);
        let modes = Modes::new(&model);
        let chosen = select_states(&structure.groups[0], &[1.0, 0.9], |v, o| modes.preference(v, o)).unwrap();
        assert_eq!(chosen.depth[favoured as usize], 0);
    }
}

/// A voltage source, resistor, inductor and capacitor in series.
fn rlc() -> Mdae {
    let m = Builder::new("Rlc");
    let (i, u_r, u_l, u_c) = (m.unknown("i"), m.unknown("uR"), m.unknown("uL"), m.unknown("uC"));
    let (r, l, c) = (m.parameter("R", 1.0), m.parameter("L", 0.1), m.parameter("C", 0.01));
    m.equation("resistor", &u_r - &r * &i);
    m.equation("inductor", &u_l - &l * i.der());
    m.equation("capacitor", &i - &c * u_c.der());
    m.equation("loop", &u_r + &u_l + &u_c - m.time().apply(UnaryFunction::Sin));
    m.finish().unwrap()
}

#[test]
fn a_series_circuit_is_solved_explicitly() {
    let mut model = rlc();
    let (structure, plan) = analyze(&mut model, |_| true).unwrap();
    assert_eq!(
        (structure.index(), states(&model, &plan)),
        (1, vec!["i".into(), "uC".into()])
    );
    assert!(plan.blocks().all(|block| block.kind == BlockKind::Explicit));
    assert!(plan.states.iter().all(|s| s.role == DerivativeRole::Leading));
    assert_eq!(plan.solved().len(), 4);
}

/// Two inertias; the clutch between them is engaged or open.
fn clutch() -> Mdae {
    let m = Builder::new("Clutch");
    let (w1, w2) = (m.state("w1", 0.0), m.state("w2", 10.0));
    let (f1, f2) = (m.unknown("tau1"), m.unknown("tau2"));
    let engaged = m.time().ge(&m.real(1.0));
    m.equation("e1", 0.1 * w1.der() - &f1);
    m.equation("e2", 0.4 * w2.der() - &f2);
    m.equation_if(&engaged, "e3", &w1 - &w2);
    m.equation_if(&engaged, "e4", &f1 + &f2);
    m.equation_if(&!&engaged, "e5", f1.clone());
    m.equation_if(&!&engaged, "e6", f2.clone());
    m.finish().unwrap()
}

#[test]
fn an_engaged_clutch_has_one_state_known_at_compile_time() {
    let mut model = clutch();
    let (open, plan) = analyze(&mut model, |_| false).unwrap();
    assert_eq!(
        (open.index(), states(&model, &plan)),
        (1, vec!["w1".into(), "w2".into()])
    );
    assert!(open.groups.is_empty());
    let (engaged, plan) = analyze(&mut model, |_| true).unwrap();
    assert_eq!((engaged.index(), plan.states.len()), (2, 1));
    assert_eq!(engaged.groups[0].dependence, Dependence::Constant);
    assert_eq!(engaged.selection.groups[0].quality, Some(1.0));
    assert_eq!(engaged.c_of(EquationId(2)), Some(1));
}

#[test]
fn a_mode_with_too_many_equations_names_them() {
    let m = Builder::new("Wrong");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    let on = m.time().ge(&m.real(1.0));
    m.equation("e1", x.der() + &y);
    m.equation_if(&on, "e2", &y - 1.0);
    m.equation_if(&!&on, "e3", &x - 1.0);
    m.equation_if(&!&on, "e4", &x - 2.0);
    let mut model = m.finish().unwrap();
    assert!(analyze(&mut model, |_| true).is_ok());
    let Err(ModeFailure::Singular { overdetermined, .. }) = analyze(&mut model, |_| false) else {
        panic!("three equations for two unknowns");
    };
    assert_eq!(overdetermined[0].equations, [EquationId(2), EquationId(3)]);
    assert_eq!(overdetermined[0].unknowns, [VarId(0)]);
}

#[test]
fn a_variable_without_equation_is_dead() {
    let m = Builder::new("Dead");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    let on = m.time().ge(&m.real(1.0));
    m.equation("e1", x.der() + &x);
    m.equation_if(&on, "e2", &y - &x);
    let mut model = m.finish().unwrap();
    let (structure, _) = analyze(&mut model, |_| false).unwrap();
    assert_eq!(structure.dead, [VarId(1)]);
}

#[test]
fn constraints_that_repeat_each_other_are_found_by_their_numbers() {
    let m = Builder::new("Loop");
    let names = ["a", "b", "c"];
    let w: Vec<Ex> = names.iter().map(|n| m.unknown(n)).collect();
    let f: Vec<Ex> = (0..3).map(|i| m.unknown(&format!("f{i}"))).collect();
    for i in 0..3 {
        m.equation(names[i], w[i].der() - &f[i] + &f[(i + 2) % 3]);
        m.equation(&format!("c{i}"), &w[i] - &w[(i + 1) % 3]);
    }
    let failure = analyze(&mut m.finish().unwrap(), |_| true).unwrap_err();
    assert!(matches!(failure, ModeFailure::DependentConstraints { dependent, .. } if dependent.len() == 1));
}

/// n point masses on massless rods, in Cartesian coordinates.
fn pendulum_chain(n: usize) -> Mdae {
    let m = Builder::new("Chain");
    let x: Vec<Ex> = (0..n).map(|i| m.unknown(&format!("x{i}"))).collect();
    let y: Vec<Ex> = (0..n).map(|i| m.unknown(&format!("y{i}"))).collect();
    let f: Vec<Ex> = (0..n).map(|i| m.unknown(&format!("f{i}"))).collect();
    let rod = |q: &[Ex], i: usize| if i == 0 { q[0].clone() } else { &q[i] - &q[i - 1] };
    for i in 0..n {
        let mut forces = (&f[i] * rod(&x, i), &f[i] * rod(&y, i));
        if i + 1 < n {
            forces = (
                forces.0 - &f[i + 1] * rod(&x, i + 1),
                forces.1 - &f[i + 1] * rod(&y, i + 1),
            );
        }
        m.equation(&format!("ex{i}"), x[i].der().der() + forces.0);
        m.equation(&format!("ey{i}"), y[i].der().der() + forces.1 + 9.81);
        m.equation(
            &format!("rod{i}"),
            rod(&x, i) * rod(&x, i) + rod(&y, i) * rod(&y, i) - 1.0,
        );
    }
    m.finish().unwrap()
}

#[test]
fn the_double_pendulum_has_four_states() {
    let mut model = pendulum_chain(2);
    let (structure, plan) = analyze(&mut model, |_| true).unwrap();
    assert_eq!((structure.index(), plan.states.len()), (3, 4));
    assert_eq!(structure.groups.len(), 1);
    let torn = plan
        .blocks()
        .find(|block| block.equations.len() == 6)
        .unwrap()
        .tearing
        .unwrap();
    assert_eq!(torn.tears.len(), torn.residuals.len());
    assert_eq!(torn.tears.len() + torn.causal.len(), 6);
}

#[test]
fn conditions_inside_differentiated_equations_are_listed() {
    let m = Builder::new("Gear");
    let (w1, w2, t1, t2) = (m.unknown("w1"), m.unknown("w2"), m.unknown("t1"), m.unknown("t2"));
    let (gear, u) = (m.discrete("g", saltus_mdae::Type::Real, 2.0), m.input("u"));
    m.equation("e1", w1.der() - &t1 - &u);
    m.equation("e2", w2.der() - &t2);
    m.equation("e3", &w1 - &gear * &w2);
    m.equation("e4", &t2 + &gear * &t1);
    let mut model = m.finish().unwrap();
    let (structure, _) = analyze(&mut model, |_| true).unwrap();
    assert_eq!(structure.jumps.len(), 1);
    assert_eq!(structure.jumps[0].discrete, [VarId(4)]);
    assert!(structure.jumps[0].inputs.is_empty());
}

#[test]
fn valuations_are_compared_by_their_guards() {
    let model = clutch();
    let modes = Modes::new(&model);
    assert_eq!(modes.guard_count(), 2);
    let open = Valuation::all_false(&modes);
    let mut other = open.clone();
    assert!(other.set(saltus_structure::mode::GuardId(1), true));
    assert_eq!(open.difference(&other).count(), 1);
    assert_ne!(open, other);
}

/// Two constraints on four unknowns with the given Jacobian.
fn group(coefficients: [f64; 8]) -> (saltus_structure::mode::ChoiceGroup, Vec<f64>) {
    let entry = |i: usize| saltus_structure::mode::ChoiceEntry {
        row: i as u32 / 4,
        column: i as u32 % 4,
        order: 0,
        coefficient: saltus_structure::linear::Coefficient::Varying,
    };
    let group = saltus_structure::mode::ChoiceGroup {
        equations: vec![(EquationId(0), 1), (EquationId(1), 1)],
        candidates: (0..4).map(|i| Derivative::new(VarId(i), 1)).collect(),
        entries: (0..8).map(entry).collect(),
        dependence: Dependence::Varying,
    };
    (group, coefficients.to_vec())
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None, ..proptest::prelude::ProptestConfig::with_cases(500)
    })]

    /// A fresh choice is never renewed at once, whatever the preferences, and its quality is that of its dummies.
    #[test]
    fn choices_do_not_alternate(
        coefficients in proptest::array::uniform8(-1.0f64..1.0),
        preferences in proptest::array::uniform4(-3i32..3),
    ) {
        let (group, values) = group(coefficients);
        let Ok(chosen) = select_states(&group, &values, |var, _| preferences[var.0 as usize]) else {
            return Ok(());
        };
        let quality = selection_quality(&group, &values, &chosen);
        proptest::prop_assert!(!needs_reselection(quality), "{quality}");
        proptest::prop_assert!((quality - chosen.quality.unwrap()).abs() <= 1e-6);
        // |J_D⁻¹ J_S| by Cramer's rule.
        let pick = |depth: u16| (0..4).filter(|&i| chosen.depth[i] == depth).collect::<Vec<_>>();
        let (d, s) = (pick(1), pick(0));
        let det = |a: usize, b: usize| values[a] * values[4 + b] - values[b] * values[4 + a];
        let reactions = s.iter().flat_map(|&k| [det(k, d[1]), det(d[0], k)]);
        let strongest = reactions.map(|r| (r / det(d[0], d[1])).abs()).fold(1.0, f64::max);
        proptest::prop_assert!((1.0 / strongest - quality).abs() <= 1e-6);
    }
}

#[test]
fn a_fixed_gear_ratio_does_not_override_a_preference() {
    let m = Builder::new("Gear");
    let (w1, w2, t) = (m.unknown("w1"), m.unknown("w2"), m.unknown("t"));
    m.equation("e1", w1.der() - &t);
    m.equation("e2", w2.der() + 100.0 * &t);
    m.equation("gear", &w1 - 100.0 * &w2);
    let mut model = m.finish().unwrap();
    model.variables[VarId(1)].state_select = StateSelect::Prefer;
    let (_, plan) = analyze(&mut model, |_| true).unwrap();
    assert_eq!(states(&model, &plan), ["w2"]);
}

#[test]
fn structure_that_changes_without_an_event_is_found() {
    let m = Builder::new("NoEvent");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    m.equation("e1", &x - 1.0);
    m.equation("e2", &y - 1.0);
    let mut model = m.finish().unwrap();
    let pool = &mut model.pool;
    let (x, dx, y, zero) = (
        pool.var(VarId(0)),
        pool.der_var(VarId(0), 1),
        pool.var(VarId(1)),
        pool.real(0.0),
    );
    let literal = pool.binary(saltus_mdae::BinaryFunction::Gt, y, zero);
    let root = pool.unary(UnaryFunction::Sqrt, y);
    // The highest derivative of x depends on the branch; in the second equation only an undifferentiated occurrence does.
    let structural = pool.if_else(literal, dx, x);
    let harmless = pool.if_else(literal, root, zero);
    model.equations[EquationId(0)].residual = structural;
    model.equations[EquationId(1)].residual = model.pool.add(harmless, dx);
    let found = Modes::new(&model).structural_no_events(&model);
    let found: Vec<_> = found.iter().map(|f| (f.equation, f.var)).collect();
    assert_eq!(found, [(EquationId(0), VarId(0))]);
}
