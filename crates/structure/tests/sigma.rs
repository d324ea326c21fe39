//! The Σ-method against brute force and on the classic examples.

use proptest::prelude::*;
use saltus_mdae::{Builder, Derivative, Mdae, VarId};
use saltus_structure::sigma::{SigmaFailure, SigmaMatrix};
use saltus_testing::permutations;

fn matrix_of(model: &Mdae) -> SigmaMatrix {
    let residuals = model.equations.iter().map(|equation| equation.residual);
    SigmaMatrix::of_residuals(&model.pool, residuals, |var| model.is_unknown(var))
}

#[test]
fn the_pendulum_has_index_three() {
    let m = Builder::new("Pendulum");
    let (x, y, lambda) = (m.unknown("x"), m.unknown("y"), m.unknown("lambda"));
    m.equation("e1", x.der().der() + &lambda * &x);
    m.equation("e2", y.der().der() + &lambda * &y + 9.81);
    m.equation("e3", &x * &x + &y * &y - 1.0);
    let matrix = matrix_of(&m.finish().unwrap());
    let sigma = matrix.solve().unwrap();
    sigma.validate(&matrix).unwrap();
    assert_eq!((&sigma.c[..], &sigma.d[..]), (&[0, 0, 2][..], &[2, 2, 0][..]));
    assert_eq!((sigma.index(), sigma.degrees_of_freedom()), (3, 2));
    assert_eq!(sigma.blocks(&matrix).len(), 1);
}

#[test]
fn an_ordinary_differential_equation_has_index_zero() {
    let m = Builder::new("Ode");
    let x = m.unknown("x");
    m.equation("e", x.der() + &x);
    let sigma = matrix_of(&m.finish().unwrap()).solve().unwrap();
    assert_eq!((sigma.index(), sigma.degrees_of_freedom()), (0, 1));
}

#[test]
fn left_limits_and_parameters_are_no_unknowns() {
    let m = Builder::new("Left");
    let (x, p) = (m.unknown("x"), m.parameter("p", 2.0));
    m.equation("e", &x - &p * x.der().pre());
    let matrix = matrix_of(&m.finish().unwrap());
    assert_eq!(matrix.unknowns().len(), 1);
    assert_eq!(matrix.solve().unwrap().d, [0]);
}

#[test]
fn a_singular_system_is_explained() {
    let m = Builder::new("Singular");
    let (x, y, z) = (m.unknown("x"), m.unknown("y"), m.unknown("z"));
    m.equation("e1", &x - 1.0);
    m.equation("e2", &x - 2.0);
    m.equation("e3", &y + &z);
    let model = m.finish().unwrap();
    let Err(SigmaFailure::Singular(why)) = matrix_of(&model).solve() else {
        panic!("must be singular");
    };
    assert_eq!(why.structural_rank, 2);
    let over: Vec<u32> = why.overdetermined[0].rows.iter().map(|row| row.0).collect();
    assert_eq!(over, [0, 1]);
    assert_eq!(why.underdetermined[0].unknowns, [VarId(1), VarId(2)]);
}

#[test]
fn a_chain_of_derivatives_is_refused_when_too_long() {
    let m = Builder::new("Chain");
    let first = m.unknown("x0");
    m.equation("e0", &first - &m.time());
    let mut last = first;
    for i in 1..200 {
        let next = m.unknown(&format!("x{i}"));
        m.equation(&format!("e{i}"), &next - &last.der());
        last = next;
    }
    let failure = matrix_of(&m.finish().unwrap()).solve().unwrap_err();
    assert!(matches!(failure, SigmaFailure::TooManyDifferentiations { .. }));
}

/// Rows of a square system with up to five equations.
fn systems() -> impl Strategy<Value = Vec<Vec<Option<u16>>>> {
    (1usize..=5).prop_flat_map(|n| {
        let entry = prop_oneof![2 => Just(None), 3 => (0u16..4).prop_map(Some)];
        prop::collection::vec(prop::collection::vec(entry, n), n)
    })
}

fn rows_of(system: &[Vec<Option<u16>>]) -> Vec<Vec<Derivative>> {
    let row = |row: &Vec<Option<u16>>| {
        let entries = row.iter().enumerate();
        entries
            .filter_map(|(i, order)| order.map(|order| Derivative::new(VarId(i as u32), order)))
            .collect()
    };
    system.iter().map(row).collect()
}

/// The highest value by enumeration, and the least offsets by fixpoint iteration on that transversal.
fn brute_force(system: &[Vec<Option<u16>>]) -> Option<(Vec<u16>, Vec<u16>)> {
    let n = system.len();
    let value = |p: &Vec<usize>| (0..n).map(|i| system[i][p[i]].map(u32::from)).sum::<Option<u32>>();
    let best = permutations(n)
        .into_iter()
        .filter(|p| value(p).is_some())
        .max_by_key(value)?;
    let (mut c, mut d) = (vec![0u16; n], vec![0u16; n]);
    loop {
        let before = (c.clone(), d.clone());
        for i in 0..n {
            for j in 0..n {
                if let Some(order) = system[i][j] {
                    d[j] = d[j].max(c[i] + order);
                }
            }
        }
        for i in 0..n {
            c[i] = d[best[i]] - system[i][best[i]].unwrap();
        }
        if (&c, &d) == (&before.0, &before.1) {
            return Some((c, d));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn offsets_agree_with_brute_force(system in systems()) {
        let rows = rows_of(&system);
        let unknowns = (0..system.len() as u32).map(VarId).collect();
        let matrix = SigmaMatrix::with_unknowns(unknowns, rows.iter().map(Vec::as_slice));
        match (matrix.solve(), brute_force(&system)) {
            (Ok(sigma), Some((c, d))) => {
                prop_assert!(sigma.validate(&matrix).is_ok());
                prop_assert_eq!((sigma.c, sigma.d), (c, d));
            }
            (Err(_), None) => {}
            (found, expected) => prop_assert!(false, "{:?} against {:?}", found, expected),
        }
    }
}
