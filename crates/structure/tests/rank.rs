//! Structure against numbers: ranks, and the reference derivatives they rest on.

use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::jacobian::{JacobianReader, SamplePoint};
use saltus_mdae::{BinaryFunction, Builder, Derivative, EquationId, Ex, Mdae, Type, UnaryFunction, VarId};
use saltus_structure::mode::{
    ModeStructure, Modes, Remedy, Valuation, analyze_mode, check_rank, combined_residual, remedies,
};
use saltus_structure::prepare::prepare;

fn analyze(model: &Mdae) -> (Modes, ModeStructure) {
    let modes = Modes::new(model);
    let structure = analyze_mode(model, &modes, &Valuation::all_false(&modes)).unwrap();
    (modes, structure)
}

/// The engaged clutch in the coordinates w = ω − τ, σ = ω + τ of RR-9603, F.2, with coefficients p.
fn recombined_clutch(p: f64) -> Mdae {
    let m = Builder::new("F2");
    let (w1, w2) = (m.unknown("w1"), m.unknown("w2"));
    let (s1, s2) = (m.unknown("s1"), m.unknown("s2"));
    let torque = |w: &Ex, s: &Ex| s - w - 0.1 * (s + w);
    m.equation("f1", w1.der() + p * s1.der() - torque(&w1, &s1));
    m.equation("f2", w2.der() + s2.der() - torque(&w2, &s2));
    m.equation("f3", (&w1 + p * &s1) - (&w2 + &s2));
    m.equation("f4", (&s1 + &s2) - (&w1 + &w2));
    m.finish().unwrap()
}

#[test]
fn a_mode_that_is_singular_in_numbers_gets_a_combination() {
    for p in [1.0, 2.0] {
        let mut model = recombined_clutch(p);
        let (modes, structure) = analyze(&model);
        assert_eq!(structure.index(), 1 + u16::from(structure.sigma.d.contains(&0)));
        let found = check_rank(&model, &modes, &structure, None);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rank, found[0].unknowns.len()), (3, 4));
        let Remedy::LinearCombination { replaced, terms } = &found[0].remedy else {
            panic!("the combination is constant: {:?}", found[0].remedy);
        };
        // f1 − f2 − f3' is free of derivatives.
        let orders: Vec<(EquationId, u16)> = terms.iter().map(|&(e, _, order)| (e, order)).collect();
        assert_eq!(orders, [(EquationId(0), 0), (EquationId(1), 0), (EquationId(2), 1)]);
        // With the combination in place, structure and numbers agree: one degree of freedom is left.
        let replaced = *replaced;
        model.equations[replaced].residual = combined_residual(&mut model, &found[0]).unwrap();
        let (modes, structure) = analyze(&model);
        assert_eq!(check_rank(&model, &modes, &structure, None), []);
        assert_eq!(structure.degrees_of_freedom(), 1);
    }
}

#[test]
fn regular_models_pass_and_accidents_are_told_from_identities() {
    let m = Builder::new("Pendulum");
    let (x, y, lambda) = (m.guess("x", 0.6), m.guess("y", -0.8), m.unknown("lambda"));
    m.equation("e1", x.der().der() + &lambda * &x);
    m.equation("e2", y.der().der() + &lambda * &y + 9.81);
    m.equation("e3", &x * &x + &y * &y - 1.0);
    let model = m.finish().unwrap();
    let (modes, structure) = analyze(&model);
    assert!(check_rank(&model, &modes, &structure, None).is_empty());
    struct Origin;
    impl Environment for Origin {
        fn variable(&self, _: VarId, _: u16) -> f64 {
            0.0
        }
        fn left_limit(&self, _: VarId, _: u16) -> f64 {
            0.0
        }
        fn time(&self) -> f64 {
            0.0
        }
        fn condition(&self, _: saltus_mdae::ConditionId) -> bool {
            false
        }
    }
    let found = check_rank(&model, &modes, &structure, Some(&Origin));
    assert_eq!(found[0].remedy, Remedy::AnotherPoint);
}

#[test]
fn a_large_singular_block_is_found_too() {
    // A ring of resistors: the node equations of all nodes add up to zero.
    let m = Builder::new("Ring");
    let n = 300;
    let v: Vec<Ex> = (0..n).map(|i| m.unknown(&format!("v{i}"))).collect();
    for i in 0..n {
        let neighbours = &v[(i + n - 1) % n] + &v[(i + 1) % n];
        m.equation(
            &format!("node{i}"),
            2.0 * &v[i] - neighbours - if i == 0 { 1.0 } else { 0.0 },
        );
    }
    let model = m.finish().unwrap();
    let (modes, structure) = analyze(&model);
    let found = check_rank(&model, &modes, &structure, None);
    assert_eq!((found.len(), found[0].equations.len()), (1, n));
}

#[test]
fn partial_derivatives_agree_with_symbolic_ones() {
    let m = Builder::new("Expressions");
    let (x, y) = (m.guess("x", 0.7), m.guess("y", 1.3));
    use UnaryFunction::*;
    let functions = [
        Neg, Abs, Sqrt, Exp, Log, Log10, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Floor,
    ];
    for (i, op) in functions.into_iter().enumerate() {
        m.equation(&format!("u{i}"), (&x * 0.5).apply(op) * &y + x.der());
    }
    m.equation("ratio", &x / (&y + 2.0) - (&x * &y).pow(3.0));
    let mut model = m.finish().unwrap();
    let (x, y) = (VarId(0), VarId(1));
    for op in [
        BinaryFunction::Pow,
        BinaryFunction::Atan2,
        BinaryFunction::Min,
        BinaryFunction::Max,
        BinaryFunction::Mod,
        BinaryFunction::Rem,
    ] {
        let (a, b) = (model.pool.var(x), model.pool.var(y));
        let residual = model.pool.binary(op, a, b);
        model.add_equation(residual, saltus_mdae::OriginId(0));
    }
    let mut reader = JacobianReader::new();
    for seed in 0..3 {
        let point = SamplePoint::new(&model, seed);
        if point.variable(x, 0) <= 0.05 || point.variable(y, 0) <= 0.05 {
            continue;
        }
        for equation in model.equations.ids().collect::<Vec<_>>() {
            let residual = model.equations[equation].residual;
            let mut found = Vec::new();
            reader.read(&model, residual, &point, &mut found).unwrap();
            for (Derivative { var, order }, value) in found {
                let partial = model.pool.partial_derivative(residual, var, order);
                let expected = evaluate(&model.pool, &model.functions, &[partial], &point).unwrap()[0];
                assert!(
                    (value - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                    "{}",
                    model.print(residual)
                );
            }
        }
    }
}

#[test]
fn failures_are_explained_with_a_proposal() {
    let m = Builder::new("Wrong");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    let on = m.time().ge(&m.real(1.0));
    m.equation("motion", x.der() + &y);
    m.equation_if(&on, "force", &y - 1.0);
    let model = m.finish().unwrap();
    let modes = Modes::new(&model);
    let valuation = Valuation::all_false(&modes);
    let failure = analyze_mode(&model, &modes, &valuation).unwrap_err();
    let active: Vec<EquationId> = modes.active(&valuation).collect();
    let text = remedies(&model, &modes, &|id| active.contains(&id), &failure).join("; ");
    assert!(
        text.contains("`y = 1` holds in other modes only"),
        "proposes the counterpart of an inactive equation: {text}"
    );
}

#[test]
fn parameters_are_evaluated_through_their_bindings() {
    let m = Builder::new("Parameters");
    let x = m.unknown("x");
    let a = m.parameter("a", 2.0);
    let b = m.parameter("b", 0.0);
    m.equation("e", &x - &a * &b);
    let mut model = m.finish().unwrap();
    let a = model.variable_named("a").unwrap();
    let b = model.variable_named("b").unwrap();
    let leaf = model.pool.var(a);
    let double = model.pool.add(leaf, leaf);
    model.variables[b].binding = Some(double);
    let point = SamplePoint::new(&model, 0);
    assert_eq!((point.variable(a, 0), point.variable(b, 0)), (2.0, 4.0));
}

/// The same clutch, open or engaged: inside the engaged mode a combination takes the place of a law of motion; mode
/// changes keep the law.
#[test]
fn preparation_applies_the_combination_inside_modes() {
    let m = Builder::new("F2");
    let (w1, w2) = (m.unknown("w1"), m.unknown("w2"));
    let (s1, s2) = (m.unknown("s1"), m.unknown("s2"));
    let a = m.parameter("a", 0.1);
    let (on, off) = (
        m.discrete("on", Type::Boolean, 0.0),
        m.discrete("off", Type::Boolean, 1.0),
    );
    let torque = |w: &Ex, s: &Ex| s - w - &a * (s + w);
    m.equation("f1", w1.der() + s1.der() - torque(&w1, &s1));
    m.equation("f2", w2.der() + s2.der() - torque(&w2, &s2));
    m.equation_if(&on, "f3", (&w1 + &s1) - (&w2 + &s2));
    m.equation_if(&on, "f4", (&s1 + &s2) - (&w1 + &w2));
    m.equation_if(&off, "f5", &w1 - &s1);
    m.equation_if(&off, "f6", &w2 - &s2);
    let model = prepare(m.finish().unwrap()).model;
    let [combination] = model.combinations[..] else {
        panic!("one combination: {:?}", model.combinations);
    };
    let label = |equation| model.origins[model.equations[equation].origin].label.to_string();
    assert!(["f1", "f2"].contains(&label(combination.stands_for).as_str()));
    assert_eq!(model.stands_for(combination.equation), combination.stands_for);
    let modes = Modes::new(&model);
    let on = model.variable_named("on").unwrap();
    for (engaged, freedom) in [(true, 1), (false, 2)] {
        let boolean = |var: VarId| f64::from(u8::from((var == on) == engaged));
        let valuation = modes.valuation_where(&model, |_| false, boolean).unwrap();
        let structure = analyze_mode(&model, &modes, &valuation).unwrap();
        assert_eq!(check_rank(&model, &modes, &structure, None), []);
        assert_eq!(structure.degrees_of_freedom(), freedom);
        let combined = structure.equations.contains(&combination.equation);
        assert_eq!(
            (combined, structure.equations.contains(&combination.stands_for)),
            (engaged, !engaged)
        );
    }
}

/// A combination that depends on parameters is none for good: they can be changed between runs.
#[test]
fn combinations_of_parameters_are_not_applied() {
    let m = Builder::new("F2");
    let (w1, w2) = (m.unknown("w1"), m.unknown("w2"));
    let (s1, s2) = (m.unknown("s1"), m.unknown("s2"));
    let inertia = m.parameter("J", 3.0);
    m.equation("f1", w1.der() + s1.der() - (&s1 - &w1));
    m.equation("f2", &inertia * (w2.der() + s2.der()) - (&s2 - &w2));
    m.equation("f3", (&w1 + &s1) - (&w2 + &s2));
    m.equation("f4", (&s1 + &s2) - (&w1 + &w2));
    let model = prepare(m.finish().unwrap()).model;
    assert!(model.combinations.is_empty());
    let (modes, structure) = analyze(&model);
    let found = check_rank(&model, &modes, &structure, None);
    assert_eq!((found.len(), &found[0].remedy), (1, &Remedy::None));
}
