//! Inferred clocks against lists of ticks: every conversion is applied to the list itself, as the specification words it, in
//! whole numbers of a unit so fine that nothing is ever rounded.

use saltus_lower::clocks::inference::{Because, Conflict, Conversion, Relation, Ticks, infer};
use saltus_mdae::Rational;
use saltus_testing::Random;

/// Divisible by all products of factors that occur in a tree.
const UNIT: i128 = 2_i128.pow(16) * 3_i128.pow(8) * 5_i128.pow(8) * 7_i128.pow(8);
const TICKS: usize = 4_000;

fn factor(random: &mut Random) -> i64 {
    random.of(&[1, 2, 3, 4, 5, 7])
}

/// Ticks in units.
type List = Vec<i128>;

/// What a conversion makes of a list.
type Apply = Box<dyn Fn(&List) -> List>;

fn sub(list: &List, factor: i64) -> List {
    list.iter().copied().step_by(factor as usize).collect()
}

fn super_sampled(list: &List, factor: i64) -> List {
    let between = |pair: &[i128]| {
        let (first, step) = (pair[0], (pair[1] - pair[0]) / i128::from(factor));
        (0..i128::from(factor)).map(move |n| first + n * step).collect::<List>()
    };
    list.windows(2).flat_map(between).take(TICKS).collect()
}

/// `shiftSample(u, k, r) = subSample(shiftSample(superSample(u, r), k), r)`, where the shift by whole ticks leaves out the
/// first of them.
fn shifted(list: &List, count: i64, resolution: i64) -> List {
    let fine = super_sampled(list, resolution);
    sub(&fine.into_iter().skip(count as usize).collect(), resolution)
}

fn random_conversion(random: &mut Random) -> (Conversion, Apply) {
    let (a, b) = (factor(random), factor(random));
    match random.below(4) {
        0 => (Conversion::Same, Box::new(|list| list.clone())),
        1 => (Conversion::Sub(a), Box::new(move |list| sub(list, a))),
        2 => (Conversion::Super(a), Box::new(move |list| super_sampled(list, a))),
        _ => (
            Conversion::Shift(Rational::new(a, b).unwrap()),
            Box::new(move |list| shifted(list, a, b)),
        ),
    }
}

/// A tree of conversions with the ticks of every part; the depth is bounded so that the unit can be divided.
fn random_tree(random: &mut Random, size: usize) -> (Vec<Relation>, Vec<List>) {
    let mut lists: Vec<List> = vec![(0..TICKS as i128).map(|n| n * UNIT).collect()];
    let mut depth = vec![0];
    let mut relations = Vec::new();
    for part in 1..size {
        let mut from = random.below(part);
        while depth[from] >= 4 || lists[from].len() < 200 {
            from = random.below(part);
        }
        let (conversion, apply) = random_conversion(random);
        let to = part;
        lists.push(apply(&lists[from]));
        depth.push(depth[from] + 1);
        relations.push(Relation { from, to, conversion });
    }
    (relations, lists)
}

fn assert_ticks(found: Ticks, list: &List, scale: Rational) {
    for (n, &tick) in list.iter().enumerate().take(50) {
        let inferred = found
            .interval
            .times(Rational::whole(n as i64))
            .and_then(|since| found.shift.plus(since))
            .unwrap();
        // tick/UNIT seconds times the scale.
        let left = i128::from(inferred.numerator()) * UNIT * i128::from(scale.denominator());
        let right = tick * i128::from(scale.numerator()) * i128::from(inferred.denominator());
        assert_eq!(left, right, "tick {n}");
    }
}

#[test]
fn inferred_clocks_tick_where_the_lists_do() {
    let mut random = Random(1);
    for _ in 0..300 {
        let size = 2 + random.below(12);
        let (relations, lists) = random_tree(&mut random, size);
        let scale = Rational::new(1 + random.below(9) as i64, 1 + random.below(1000) as i64).unwrap();
        // The clock is given at any part whose first tick is that of the base clock; all others follow, both ways.
        let starts: Vec<usize> = (0..size).filter(|&part| lists[part][0] == 0).collect();
        let given = starts[random.below(starts.len())];
        let interval = ratio(lists[given][1], UNIT).times(scale).unwrap();
        let source = Ticks {
            interval,
            shift: Rational::ZERO,
        };
        let clocks = infer(size, &relations, &[(given, source)]).unwrap();
        for (clock, list) in clocks.iter().zip(&lists) {
            assert_ticks(*clock, list, scale);
        }
    }
}

fn ratio(a: i128, b: i128) -> Rational {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    Rational::new((a / divisor) as i64, (b / divisor) as i64).unwrap()
}

#[test]
fn a_second_way_must_lead_to_the_same_ticks() {
    let mut random = Random(2);
    let (mut agreed, mut refused) = (0, 0);
    for _ in 0..400 {
        let size = 3 + random.below(8);
        let (mut relations, lists) = random_tree(&mut random, size);
        let (from, to) = (random.below(size), random.below(size));
        if lists[from].len() < 200 || lists[to].len() < 50 || from == to {
            continue;
        }
        let (conversion, apply) = random_conversion(&mut random);
        let expected: List = apply(&lists[from]);
        relations.push(Relation { from, to, conversion });
        let source = Ticks {
            interval: Rational::ONE,
            shift: Rational::ZERO,
        };
        let outcome = infer(size, &relations, &[(0, source)]);
        if expected.iter().take(30).eq(lists[to].iter().take(30)) {
            agreed += 1;
            assert!(outcome.is_ok());
        } else {
            refused += 1;
            // Both places are named, and what they say differs.
            let Err(Conflict::Two { first, second, .. }) = outcome else {
                panic!("{outcome:?}");
            };
            assert_ne!(first.0, second.0);
            assert_ne!(first.1, second.1);
        }
    }
    assert!(agreed > 5 && refused > 50, "{agreed} {refused}");
}

#[test]
fn factors_are_inferred_between_known_clocks_only() {
    let seconds = |numerator, denominator| Ticks {
        interval: Rational::new(numerator, denominator).unwrap(),
        shift: Rational::ZERO,
    };
    let slower = [Relation {
        from: 0,
        to: 1,
        conversion: Conversion::Slower,
    }];
    let mut random = Random(3);
    for _ in 0..200 {
        let (a, b) = (1 + random.below(30) as i64, 1 + random.below(30) as i64);
        let outcome = infer(2, &slower, &[(0, seconds(a, 100)), (1, seconds(b, 100))]);
        assert_eq!(outcome.is_ok(), b % a == 0, "{a} {b}");
    }
    assert_eq!(infer(2, &slower, &[(0, seconds(1, 10))]), Err(Conflict::Unknown(1)));
}

#[test]
fn without_a_clock_the_fastest_part_ticks_every_second() {
    let relations = [
        Relation {
            from: 0,
            to: 1,
            conversion: Conversion::Super(6),
        },
        Relation {
            from: 1,
            to: 2,
            conversion: Conversion::Sub(4),
        },
    ];
    let clocks = infer(3, &relations, &[]).unwrap();
    let intervals: Vec<Rational> = clocks.iter().map(|ticks| ticks.interval).collect();
    assert_eq!(intervals, [6, 1, 4].map(Rational::whole));
}

#[test]
fn ratios_beyond_64_bits_are_refused() {
    let relations: Vec<Relation> = (0..70)
        .map(|from| Relation {
            from,
            to: from + 1,
            conversion: Conversion::Super(2),
        })
        .collect();
    let source = Ticks {
        interval: Rational::ONE,
        shift: Rational::ZERO,
    };
    let outcome = infer(71, &relations, &[(0, source)]);
    assert!(
        matches!(outcome, Err(Conflict::TooLarge(Because::Relation(_)))),
        "{outcome:?}"
    );
}
