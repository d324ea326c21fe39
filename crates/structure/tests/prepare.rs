//! Aliases, order raising and constants.

use proptest::prelude::*;
use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{
    Action, Builder, ConditionId, ConditionKind, Derivative, Ex, ExprId, Mdae, StateSelect, Type, VarId,
};
use saltus_structure::attributes::Attributes;
use saltus_structure::mode::{Modes, Valuation, analyze_mode};
use saltus_structure::prepare::{Place, Prepared, prepare};

fn var(prepared: &Prepared, name: &str) -> VarId {
    prepared
        .model
        .variable_named(name)
        .unwrap_or_else(|| panic!("no variable {name}"))
}

fn alias(prepared: &Prepared, name: &str) -> (String, u16, bool) {
    let alias = prepared.model.aliases.iter().find(|a| &*a.variable.name == name);
    let alias = alias.unwrap_or_else(|| panic!("no alias {name}"));
    let target = prepared.model.variables[alias.target].name.to_string();
    (target, alias.order, alias.negated)
}

#[test]
fn velocities_become_derivatives_everywhere() {
    let m = Builder::new("BouncingBall");
    let (h, v) = (m.state("h", 1.0), m.state("v", 0.0));
    let low = h.le(&m.real(0.0));
    m.equation("kinematics", h.der() - &v);
    m.equation("newton", v.der() + 9.81);
    m.reinit_when(&low, &v, &(-0.7 * v.pre()));
    let rising = v.gt(&m.real(0.0));
    m.restart_when(&rising, "r", &v - v.pre());
    let prepared = prepare(m.finish().unwrap());
    let model = &prepared.model;
    assert_eq!((model.variables.len(), model.equations.len()), (1, 1));
    assert_eq!(alias(&prepared, "v"), ("h".into(), 1, false));
    let h = var(&prepared, "h");
    let Action::Reinit { var, order, value, .. } = model.whens.iter().next().unwrap().branches[0].actions[0] else {
        panic!("reinit");
    };
    assert_eq!((var, order), (h, 1));
    assert_eq!(
        model.pool.left_limit_occurrences(value),
        [Derivative { var: h, order: 1 }]
    );
    let ConditionKind::Relation { function, .. } = model.conditions[ConditionId(1)].kind else {
        panic!("relation");
    };
    assert_eq!(model.pool.occurrences(function), [Derivative { var: h, order: 1 }]);
    let modes = Modes::new(model);
    assert!(Attributes::new(model).of(h, 1).fixed);
    let structure = analyze_mode(model, &modes, &Valuation::all_false(&modes)).unwrap();
    assert_eq!((structure.index(), structure.degrees_of_freedom()), (0, 2));
}

/// The representative of flange.w = w = -v, where something else is said of each, by the places of the equations and with
/// other names.
fn representative(names: [&str; 3], turned: bool) -> usize {
    let m = Builder::new("Alias");
    let declare = |at: usize| m.unknown(names[at]);
    let (a, b, c) = if turned {
        let (c, b, a) = (declare(2), declare(1), declare(0));
        (a, b, c)
    } else {
        (declare(0), declare(1), declare(2))
    };
    let state = || m.equation("e3", a.der() + &b * &b - &c * &c * &c);
    if turned {
        state();
    }
    m.equation("e1", &a - &b);
    m.equation("e2", &b + &c);
    if !turned {
        state();
    }
    let prepared = prepare(m.finish().unwrap());
    assert_eq!((prepared.model.variables.len(), prepared.model.equations.len()), (1, 1));
    let kept = &*prepared.model.variables[VarId(0)].name;
    names.iter().position(|&name| name == kept).unwrap()
}

#[test]
fn neither_names_nor_order_decide_what_represents_an_alias_class() {
    let kept = representative(["flange.w", "w", "v"], false);
    assert_ne!(kept, 0, "of an inner component");
    for names in [["x.x", "long_name", "y"], ["a.long.name", "a", "longer"]] {
        assert_eq!(representative(names, false), kept);
        assert_eq!(representative(names, true), kept);
    }
}

#[test]
fn state_select_and_fixed_starts_win() {
    let m = Builder::new("Choice");
    let (a, b, c) = (m.unknown("a"), m.unknown("longer"), m.state("start", 3.0));
    m.equation("e1", &a - &b);
    m.equation("e2", &a + &c);
    m.equation("e3", a.der() + &a);
    let mut model = m.finish().unwrap();
    let b = model.variable_named("longer").unwrap();
    model.variables[b].state_select = StateSelect::Prefer;
    let prepared = prepare(model);
    let kept = &prepared.model.variables[VarId(0)];
    assert_eq!((&*kept.name, kept.fixed), ("longer", true));
    // start = −longer, and start(start) = 3.
    assert_eq!(prepared.model.pool.constant(kept.start.unwrap()), Some(-3.0));
}

#[test]
fn what_has_contradicting_fixed_starts_is_not_united() {
    let m = Builder::new("Conflict");
    let (a, b, c) = (m.state("a", 1.0), m.state("b", 1.0), m.state("c", 2.0));
    m.equation("e1", &a - &b);
    m.equation("e2", &a - &c);
    m.equation("e3", a.der() + &a);
    let prepared = prepare(m.finish().unwrap());
    // Of the two equations with a, one unites it and the other stays.
    let kept = prepared.model.variables.iter().map(|variable| &*variable.name);
    assert_eq!(kept.filter(|name| *name == "c").count(), 1);
    assert_eq!((prepared.model.variables.len(), prepared.model.equations.len()), (2, 2));
}

#[test]
fn constants_propagate() {
    let m = Builder::new("Ground");
    let (v, w, z, x) = (m.unknown("v"), m.unknown("w"), m.unknown("z"), m.unknown("x"));
    m.equation("ground", v.clone());
    m.equation("sum", &w - &z + &v);
    m.equation("two", 2.0 - &z);
    m.equation("ode", x.der() + &w * &x + v.der());
    let prepared = prepare(m.finish().unwrap());
    let model = &prepared.model;
    let values: Vec<_> = model.constants.iter().map(|c| (&*c.variable.name, c.value)).collect();
    assert_eq!(values, [("v", 0.0), ("w", 2.0), ("z", 2.0)]);
    assert_eq!((model.variables.len(), model.equations.len()), (1, 1));
}

#[test]
fn guarded_equations_eliminate_nothing() {
    let m = Builder::new("Guarded");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    let on = m.time().ge(&m.real(1.0));
    m.equation("e", x.der() + 2.0 * &y);
    m.equation_if(&on, "a", &y - &x);
    m.equation_if(&!&on, "b", y.clone());
    let prepared = prepare(m.finish().unwrap());
    assert!(prepared.model.aliases.is_empty() && prepared.model.constants.is_empty());
    assert_eq!(prepared.model.equations.len(), 3);
}

#[test]
fn a_contradiction_stays_in_the_model() {
    let m = Builder::new("Contradiction");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    m.equation("e1", &x - &y);
    m.equation("e2", &x + &y);
    m.equation("e3", &x - 1.0);
    let prepared = prepare(m.finish().unwrap());
    // x = y, x + y = 0 leave x = 0 or x = 1, and the other equation as a contradiction.
    assert_eq!(prepared.model.equations.len(), 1);
    let modes = Modes::new(&prepared.model);
    assert!(analyze_mode(&prepared.model, &modes, &Valuation::all_false(&modes)).is_err());
}

#[test]
fn equations_that_cannot_be_used_stay() {
    let m = Builder::new("Derivatives");
    let (x, y) = (m.unknown("x"), m.unknown("y"));
    m.equation("e1", x.der() - y.der());
    m.equation("e2", x.der() - 1.0);
    let prepared = prepare(m.finish().unwrap());
    assert_eq!(prepared.model.equations.len(), 2);
}

/// Values of variables given per (variable, order).
struct Values<'a>(&'a dyn Fn(VarId, u16) -> f64);

impl Environment for Values<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        (self.0)(var, order)
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        (self.0)(var, order)
    }
    fn time(&self) -> f64 {
        0.5
    }
    fn condition(&self, _: ConditionId) -> bool {
        true
    }
}

/// A random model whose trivial equations link variables; nonlinear equations observe all of them.
fn random_model(count: usize, links: &[(usize, usize, u8)]) -> Mdae {
    let m = Builder::new("Random");
    let v: Vec<Ex> = (0..count).map(|i| m.unknown(&format!("v{i}"))).collect();
    for (i, &(a, b, kind)) in links.iter().enumerate() {
        let (a, b) = (&v[a % count], &v[b % count]);
        let residual = match kind % 5 {
            0 => a - b,
            1 => a + b,
            2 => a.der() - b,
            3 => a + b - &v[0],
            _ => a - 2.0,
        };
        m.equation(&format!("t{i}"), residual);
    }
    for (i, x) in v.iter().enumerate() {
        m.equation(&format!("n{i}"), x.der() * x + x - (i + 1) as f64);
    }
    m.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// With values that satisfy the eliminated equations, every remaining residual keeps its value.
    #[test]
    fn residuals_keep_their_values(
        count in 1usize..6,
        links in prop::collection::vec((0usize..6, 0usize..6, 0u8..5), 0..6),
    ) {
        let before = random_model(count, &links);
        let residuals: Vec<ExprId> = before.equations.iter().map(|e| e.residual).collect();
        let again = random_model(count, &links);
        let mut prepared = prepare(again);
        let free_value = |var: VarId, order: u16| 0.3 + f64::from(var.0) + 0.7 * f64::from(order);
        // Replaced variables have the values of what replaced them.
        let mut replaced = std::collections::BTreeMap::new();
        for (var, value) in prepared.replaced.clone() {
            for order in 0..8 {
                let derivative = prepared.model.pool.nth_total_derivative(value, order);
                let number = evaluate(&prepared.model.pool, &prepared.model.functions, &[derivative], &Values(&free_value)).unwrap()[0];
                replaced.insert((var, order), number);
            }
        }
        let names = before.variables.len();
        let model = &prepared.model;
        prop_assert_eq!(model.variables.len() + model.aliases.len() + model.constants.len(), names);
        let new_value = |var, order| replaced.get(&(var, order)).copied().unwrap_or_else(|| free_value(var, order));
        let old_value = |var: VarId, order: u16| match prepared.places[var] {
            Place::Constant(value) => if order == 0 { value } else { 0.0 },
            Place::Derivative { var, order: raised, negated } => {
                let value = new_value(var, order + raised);
                if negated { -value } else { value }
            }
        };
        let old = evaluate(&before.pool, &before.functions, &residuals, &Values(&old_value)).unwrap();
        for (i, new) in prepared.equations.iter().enumerate() {
            match new {
                Some(new) => {
                    let residual = model.equations[*new].residual;
                    let value = evaluate(&model.pool, &model.functions, &[residual], &Values(&new_value)).unwrap()[0];
                    prop_assert!((value - old[i]).abs() <= 1e-12 * (1.0 + old[i].abs()));
                }
                None => prop_assert!(old[i].abs() < 1e-12, "equation {} was used up but does not hold", i),
            }
        }
    }
}

#[test]
fn relative_coordinates_are_replaced_where_derivatives_may_be_needed() {
    let m = Builder::new("Clutch");
    let (phi1, phi2) = (m.state("phi1", 0.0), m.state("phi2", 0.0));
    let (rel, tau) = (m.unknown("rel"), m.unknown("tau"));
    let engaged = m.time().ge(&m.real(1.0));
    m.equation("first", phi1.der().der() + &tau);
    m.equation("second", phi2.der().der() - &tau);
    m.equation("relative", &rel - &phi2 + &phi1);
    m.equation_if(&engaged, "engaged", rel.der());
    m.equation_if(&!&engaged, "open", tau.clone());
    let prepared = prepare(m.finish().unwrap());
    let (phi1, phi2, rel) = (var(&prepared, "phi1"), var(&prepared, "phi2"), var(&prepared, "rel"));
    let occurring: Vec<_> = prepared
        .model
        .equations
        .iter()
        .map(|equation| prepared.model.pool.occurrences(equation.residual))
        .collect();
    // The definition stays; the constraint is written with the angles.
    assert!(occurring.contains(&vec![
        Derivative::value_of(phi1),
        Derivative::value_of(phi2),
        Derivative::value_of(rel)
    ]));
    assert!(occurring.contains(&vec![
        Derivative { var: phi1, order: 1 },
        Derivative { var: phi2, order: 1 }
    ]));
    assert_eq!(
        occurring
            .iter()
            .flatten()
            .filter(|Derivative { var, .. }| *var == rel)
            .count(),
        1
    );
}

#[test]
fn the_derivative_of_an_algebraic_variable_has_an_equation() {
    let m = Builder::new("Speed");
    let (x, v, a) = (m.unknown("x"), m.unknown("v"), m.unknown("a"));
    m.equation("x", &x - m.time());
    m.equation("v", &v - x.der());
    m.equation("a", &a - v.der());
    let prepared = prepare(m.finish().unwrap());
    let modes = Modes::new(&prepared.model);
    let structure = analyze_mode(&prepared.model, &modes, &Valuation::all_false(&modes)).unwrap();
    assert_eq!((structure.index(), structure.degrees_of_freedom()), (3, 0));
    assert_eq!(alias(&prepared, "v"), ("x".into(), 1, false));
    assert!(prepared.model.variable_named("a").is_some());
}

/// What the conditions of a prepared model mention.
fn observed(prepared: &Prepared) -> Vec<(String, u16)> {
    let model = &prepared.model;
    let functions = model.conditions.iter().filter_map(|condition| match condition.kind {
        ConditionKind::Relation { function, .. } => Some(function),
        _ => None,
    });
    let mentioned = functions.flat_map(|function| {
        let left = model.pool.left_limit_occurrences(function);
        model.pool.occurrences(function).into_iter().chain(left)
    });
    mentioned
        .map(|Derivative { var, order }| (model.variables[var].name.to_string(), order))
        .collect()
}

#[test]
fn derivatives_in_conditions_have_values_in_every_mode() {
    let m = Builder::new("Observed");
    let (x, s) = (m.state("x", 1.0), m.unknown("s"));
    let (on, off) = (
        m.discrete("on", Type::Boolean, 1.0),
        m.discrete("off", Type::Boolean, 0.0),
    );
    let (falling, was, slow) = (
        m.discrete("falling", Type::Boolean, 0.0),
        m.discrete("was", Type::Boolean, 0.0),
        m.discrete("slow", Type::Boolean, 0.0),
    );
    m.equation("motion", x.der() + &x);
    m.equation_if(&on, "straight", &s - &x);
    m.equation_if(&off, "square", &s - &x * &x);
    m.define(&falling, &s.der().lt(&m.real(0.0)));
    m.define(&was, &s.der().pre().lt(&m.real(0.0)));
    // An equation that always holds contains it already.
    m.define(&slow, &x.der().lt(&m.real(1.0)));
    let prepared = prepare(m.finish().unwrap());
    let names = [
        ("$der(s)".to_string(), 0),
        ("$der(s)".to_string(), 0),
        ("x".to_string(), 1),
    ];
    assert_eq!(observed(&prepared), names);
    let model = &prepared.model;
    assert_eq!(model.equations.len(), 4);
    assert!(model.variables[var(&prepared, "$der(s)")].hidden);
    let (on, off) = (var(&prepared, "on"), var(&prepared, "off"));
    let modes = Modes::new(model);
    for (first, second, equations) in [(1.0, 0.0, 3), (0.0, 1.0, 3), (0.0, 0.0, 1)] {
        let boolean = |var: VarId| match var {
            var if var == on => first,
            var if var == off => second,
            _ => 0.0,
        };
        let valuation = modes.valuation_where(model, |_| false, boolean).unwrap();
        // Where s is dead, its derivative is too.
        let structure = analyze_mode(model, &modes, &valuation).unwrap();
        assert_eq!(structure.equations.len(), equations);
    }
}
