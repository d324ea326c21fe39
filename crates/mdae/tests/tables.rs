//! Interpolation tables against the values of the C sources of the Modelica Standard Library.

use saltus_mdae::table::{Extrapolation, Outside, Smoothness, Table};

const ARGUMENTS: [f64; 9] = [-1.7, -0.4, 0.2, 0.5, 1.1, 1.7, 2.3, 3.9, 4.6];
const SECOND_ARGUMENTS: [f64; 6] = [-0.7, 0.4, 1.0, 2.1, 2.8, 3.6];

const SMOOTHNESS: [Smoothness; 6] = [
    Smoothness::Linear,
    Smoothness::Akima,
    Smoothness::Constant,
    Smoothness::FritschButland,
    Smoothness::Steffen,
    Smoothness::ModifiedAkima,
];
const EXTRAPOLATION: [Extrapolation; 3] = [Extrapolation::Hold, Extrapolation::Tangent, Extrapolation::Periodic];

fn one(smoothness: Smoothness, extrapolation: Extrapolation) -> Table {
    Table::of_one(
        vec![-1.0, 0.0, 0.5, 1.5, 2.0, 3.5, 4.0],
        vec![1.0, -0.5, 0.3, 2.0, 1.0, 1.2, 1.9],
        smoothness,
        extrapolation,
    )
}

fn two(number: usize, smoothness: Smoothness, extrapolation: Extrapolation) -> Table {
    if number == 3 {
        let values = vec![1.0, 0.0, 2.0, 0.5, 3.0, 1.0];
        return Table::new(vec![-1.0, 0.5], vec![0.0, 1.0, 2.5], values, smoothness, extrapolation);
    }
    let values = vec![
        1.0, 0.0, 2.0, -1.0, 0.5, 3.0, 1.0, 0.0, 2.0, 2.0, 0.0, 1.0, 1.0, -1.0, 4.0, 0.5,
    ];
    let (x, y) = (vec![-1.0, 0.0, 0.7, 2.0], vec![0.0, 1.0, 2.5, 3.0]);
    Table::new(x, y, values, smoothness, extrapolation)
}

#[test]
fn values_are_those_of_the_standard_library() {
    let text = saltus_testing::reference("tables.txt");
    let mut compared = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let mut number = || words.next().expect("three numbers").parse::<usize>().expect("a number");
        let (table, smoothness, extrapolation) = (number(), number(), number());
        let (smooth, beyond) = (SMOOTHNESS[smoothness - 1], EXTRAPOLATION[extrapolation - 1]);
        let expected: Vec<f64> = words.map(|word| word.parse().expect("a value")).collect();
        let computed: Vec<f64> = if table == 1 {
            let table = one(smooth, beyond);
            ARGUMENTS
                .iter()
                .map(|&u| table.interpolate(&[u]).expect("a value"))
                .collect()
        } else {
            let table = two(table, smooth, beyond);
            let pairs = ARGUMENTS[..7].iter().flat_map(|&u| SECOND_ARGUMENTS.map(|v| [u, v]));
            pairs.map(|pair| table.interpolate(&pair).expect("a value")).collect()
        };
        assert_eq!(expected.len(), computed.len());
        for (k, (a, b)) in expected.iter().zip(&computed).enumerate() {
            assert!(
                (a - b).abs() <= 1e-12 * a.abs().max(1.0),
                "table {table}, {smooth:?}, {beyond:?}, value {k}: {b} instead of {a}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 18 * 9 + 18 * 42);
}

#[test]
fn monotone_data_give_monotone_curves() {
    let x: Vec<f64> = vec![0.0, 1.0, 1.2, 3.0, 3.5, 6.0];
    let values = vec![0.0, 0.1, 2.0, 2.0, 7.0, 7.1];
    for smoothness in [Smoothness::FritschButland, Smoothness::Steffen] {
        let table = Table::of_one(x.clone(), values.clone(), smoothness, Extrapolation::Hold);
        let curve: Vec<f64> = (0..=600)
            .map(|k| table.interpolate(&[f64::from(k) / 100.0]).expect("inside"))
            .collect();
        assert!(curve.windows(2).all(|w| w[1] >= w[0] - 1e-12), "{smoothness:?}");
    }
}

#[test]
fn forbidden_extrapolation_says_where_the_table_ends() {
    let table = one(Smoothness::Linear, Extrapolation::Forbidden);
    assert_eq!(table.interpolate(&[4.0]), Ok(1.9));
    let outside = Outside {
        argument: 0,
        value: 4.5,
        limit: 4.0,
    };
    assert_eq!(table.interpolate(&[4.5]), Err(outside));
    let table = two(2, Smoothness::Akima, Extrapolation::Forbidden);
    let outside = table.interpolate(&[0.0, -0.1]).expect_err("outside");
    assert_eq!((outside.argument, outside.limit), (1, 0.0));
}
