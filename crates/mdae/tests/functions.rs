//! The machine that executes functions, on random functions, against an interpreter of their statements: values and
//! partial derivatives bit by bit, and the same failures.

mod interpreter;

use std::sync::Arc;

use interpreter::interpret;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use saltus_mdae::function::{
    Body, CallError, Function, FunctionExpr, Functions, Local, LocalId, Place, Statement, Visit,
};
use saltus_mdae::{BinaryFunction, FunctionId, OriginId, Type, UnaryFunction};

/// Variables of every random function: two Reals, an Integer, an array, a result, a counter, an array of open size.
const X: u32 = 0;
const Y: u32 = 1;
const N: u32 = 2;
const A: u32 = 3;
const RESULT: u32 = 4;
const COUNTER: u32 = 5;
const OPEN: u32 = 6;

fn place(local: u32, indices: Vec<FunctionExpr>) -> Place {
    Place {
        local: LocalId(local),
        indices,
    }
}

fn read(local: u32) -> FunctionExpr {
    FunctionExpr::read(LocalId(local))
}

fn function(name: &str, body: Vec<Statement>) -> Function {
    let scalar = |name: &str, ty| Local::new(name, ty, Vec::new());
    Function {
        name: name.into(),
        locals: vec![
            scalar("x", Type::Real),
            scalar("y", Type::Real),
            scalar("n", Type::Integer),
            Local::new("a", Type::Real, vec![2, 2]),
            scalar("r", Type::Real),
            scalar("i", Type::Integer),
            Local {
                open: true,
                ..Local::new("o", Type::Real, vec![0])
            },
        ],
        inputs: vec![LocalId(X), LocalId(Y), LocalId(N)],
        outputs: vec![LocalId(RESULT), LocalId(A)],
        body: Body::Algorithm(body),
        derivatives: Vec::new(),
        inverses: Vec::new(),
        texts: Arc::default(),
        origin: OriginId(0),
        compiled: Default::default(),
    }
}

/// A whole number that is often a good index.
fn index() -> impl Strategy<Value = FunctionExpr> {
    prop_oneof![
        18 => (1..=2i32).prop_map(|k| FunctionExpr::Constant(f64::from(k))),
        2 => Just(read(COUNTER)),
        1 => Just(FunctionExpr::binary(BinaryFunction::Sub, read(N), read(COUNTER))),
        1 => Just(read(N)),
    ]
}

fn expr() -> impl Strategy<Value = FunctionExpr> {
    let leaf = prop_oneof![
        (-4..=4i32).prop_map(|k| FunctionExpr::Constant(0.5 * f64::from(k))),
        prop_oneof![Just(X), Just(Y), Just(N), Just(RESULT), Just(COUNTER)].prop_map(read),
        (index(), index()).prop_map(|(i, j)| FunctionExpr::Read(place(A, vec![i, j]))),
        index().prop_map(|i| FunctionExpr::Read(place(OPEN, vec![i]))),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let unary = prop_oneof![
            Just(UnaryFunction::Neg),
            Just(UnaryFunction::Sin),
            Just(UnaryFunction::Abs),
            Just(UnaryFunction::Sqrt),
            Just(UnaryFunction::Floor)
        ];
        let two = prop_oneof![
            Just(BinaryFunction::Add),
            Just(BinaryFunction::Sub),
            Just(BinaryFunction::Mul),
            Just(BinaryFunction::Div),
            Just(BinaryFunction::Min),
            Just(BinaryFunction::Mod),
            Just(BinaryFunction::Lt)
        ];
        prop_oneof![
            (unary, inner.clone()).prop_map(|(op, a)| FunctionExpr::Unary(op, Box::new(a))),
            (two, inner.clone(), inner.clone()).prop_map(|(op, a, b)| FunctionExpr::binary(op, a, b)),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, a, b)| FunctionExpr::If(
                Box::new(c),
                Box::new(a),
                Box::new(b)
            )),
            (0..5u32, inner.clone(), inner).prop_map(|(output, x, y)| FunctionExpr::Call {
                function: FunctionId(1),
                output,
                args: vec![x, y, FunctionExpr::Constant(2.0)],
            }),
        ]
    })
}

fn target() -> impl Strategy<Value = Place> {
    prop_oneof![
        4 => Just(place(RESULT, Vec::new())),
        2 => (index(), index()).prop_map(|(i, j)| place(A, vec![i, j])),
        2 => index().prop_map(|i| place(OPEN, vec![i])),
        1 => Just(place(X, Vec::new())),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let simple = prop_oneof![
        8 => (target(), expr()).prop_map(|(place, value)| Statement::Assign(place, value)),
        1 => index().prop_map(|size| Statement::Allocate { local: LocalId(OPEN), sizes: vec![size] }),
        2 => (target(), 0..5u32, expr(), expr()).prop_map(|(place, output, x, y)| Statement::CallAssign {
            function: FunctionId(1),
            args: vec![x, y, FunctionExpr::Constant(1.0)],
            targets: vec![(output, place)],
        }),
        1 => Just(Statement::Break),
        1 => Just(Statement::Return),
        1 => expr().prop_map(|c| Statement::Assert(c, FunctionExpr::Constant(0.0))),
    ];
    simple.prop_recursive(3, 16, 4, |inner| {
        let body = prop::collection::vec(inner, 1..4);
        prop_oneof![
            (expr(), body.clone(), expr(), body.clone(), body.clone())
                .prop_map(|(c, yes, d, second, no)| { Statement::If(vec![(c, yes), (d, second)], no) }),
            (index(), index(), body.clone()).prop_map(|(step, to, body)| Statement::For {
                counter: LocalId(COUNTER),
                from: FunctionExpr::Constant(1.0),
                step,
                to,
                body,
            }),
            body.prop_map(|mut body| {
                // Ends: n grows.
                let more = FunctionExpr::binary(BinaryFunction::Add, read(N), FunctionExpr::Constant(1.0));
                body.insert(0, Statement::Assign(place(N, Vec::new()), more));
                Statement::While(
                    FunctionExpr::binary(BinaryFunction::Lt, read(N), FunctionExpr::Constant(5.0)),
                    body,
                )
            }),
        ]
    })
}

/// Gives the array of open size and the counter values, so that not every use of them fails.
fn with_values(body: Vec<Statement>) -> Vec<Statement> {
    let number = |k: u32| FunctionExpr::Constant(f64::from(k));
    let mut all = vec![
        Statement::Allocate {
            local: LocalId(OPEN),
            sizes: vec![number(2)],
        },
        Statement::Assign(place(OPEN, vec![number(1)]), read(X)),
        Statement::Assign(place(OPEN, vec![number(2)]), read(Y)),
        Statement::Assign(place(COUNTER, Vec::new()), number(1)),
    ];
    all.extend(body);
    all
}

/// What both have to agree on: numbers bit by bit (all that are none are the same), or the failure.
fn outcome(result: Result<Vec<f64>, CallError>) -> Result<Vec<u64>, String> {
    let bits = |value: f64| {
        if value.is_nan() {
            f64::NAN.to_bits()
        } else {
            // Zeros are zeros, whatever their signs.
            (value + 0.0).to_bits()
        }
    };
    match result {
        Ok(values) => Ok(values.into_iter().map(bits).collect()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn the_machine_does_what_the_statements_say() {
    let body = || prop::collection::vec(statement(), 1..8);
    let callee = vec![
        Statement::Assign(
            place(RESULT, Vec::new()),
            FunctionExpr::binary(BinaryFunction::Mul, read(X), read(Y)),
        ),
        Statement::Assign(
            place(A, vec![FunctionExpr::Constant(1.0), read(N)]),
            FunctionExpr::Unary(UnaryFunction::Sin, Box::new(read(X))),
        ),
    ];
    let case = (body(), -2.0..2.0f64, -2.0..2.0f64, 0..4i32);
    let mut counts = [0; 2];
    let mut runner = TestRunner::new_with_rng(
        Config {
            cases: 1500,
            failure_persistence: None,
            ..Config::default()
        },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let counted = std::cell::RefCell::new(&mut counts);
    runner
        .run(&case, |(body, x, y, n)| {
            let functions: Functions = [function("f", with_values(body)), function("g", callee.clone())]
                .into_iter()
                .collect();
            for function in functions.iter() {
                function.validate(&functions).expect("a valid function");
            }
            let args = [x, y, f64::from(n)];
            for partials in [&[][..], &[0], &[1], &[0, 1], &[0, 0]] {
                let by_machine = functions.call_all(FunctionId(0), partials, &args);
                let by_statements = interpret(&functions, FunctionId(0), partials, &args);
                counted.borrow_mut()[usize::from(by_machine.is_err())] += 1;
                prop_assert_eq!(outcome(by_machine), outcome(by_statements));
            }
            Ok(())
        })
        .expect("both agree");
    assert!(counts[0] > 1000 && counts[1] > 500, "both kinds are tried: {counts:?}");
}

/// Random functions and arguments, with a function that they call.
fn cases() -> (impl Strategy<Value = (Vec<Statement>, f64, f64, i32)>, Function) {
    let callee = vec![Statement::Assign(
        place(RESULT, Vec::new()),
        FunctionExpr::binary(BinaryFunction::Mul, read(X), read(Y)),
    )];
    let body = prop::collection::vec(statement(), 1..8);
    ((body, -2.0..2.0f64, -2.0..2.0f64, 0..4i32), function("g", callee))
}

fn runner() -> TestRunner {
    let config = Config {
        cases: 1500,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn loops_that_are_written_out_do_the_same() {
    let (case, callee) = cases();
    let loops = |function: &Function| {
        let mut count = 0;
        if let Body::Algorithm(statements) = &function.body {
            statements
                .for_each_statement(&mut |statement| count += u32::from(matches!(statement, Statement::For { .. })));
        }
        count
    };
    let written = std::cell::Cell::new(0);
    runner()
        .run(&case, |(body, x, y, n)| {
            let plain = function("f", with_values(body));
            let mut unrolled = plain.clone();
            unrolled.unroll_loops();
            written.set(written.get() + loops(&plain) - loops(&unrolled));
            let all = |f: Function| [f, callee.clone()].into_iter().collect::<Functions>();
            let (plain, unrolled) = (all(plain), all(unrolled));
            unrolled[FunctionId(0)].validate(&unrolled).expect("a valid function");
            let args = [x, y, f64::from(n)];
            for partials in [&[][..], &[0], &[0, 1]] {
                let expected = interpret(&plain, FunctionId(0), partials, &args);
                prop_assert_eq!(
                    outcome(unrolled.call_all(FunctionId(0), partials, &args)),
                    outcome(expected)
                );
            }
            Ok(())
        })
        .expect("both do the same");
    assert!(written.get() > 300, "loops are written out: {}", written.get());
}

#[test]
fn what_is_settled_is_what_every_call_yields() {
    let (case, callee) = cases();
    let settled = std::cell::Cell::new(0);
    runner()
        .run(&case, |(body, x, y, n)| {
            let functions: Functions = [function("f", with_values(body)), callee.clone()].into_iter().collect();
            let n = f64::from(n);
            for known in [[Some(x), None, Some(n)], [Some(0.0), None, None], [None, None, Some(n)]] {
                let results = functions.settled_results(FunctionId(0), &known);
                for open in [y, -1.5, 0.25, 3.0] {
                    let args = known.map(|known| known.unwrap_or(if open == y { y } else { open.floor() }));
                    let Ok(values) = functions.call_all(FunctionId(0), &[], &args) else {
                        continue;
                    };
                    for (result, value) in results.iter().zip(values) {
                        // Zero times what is no number is zero here.
                        if let Some(result) = result.filter(|_| value.is_finite()) {
                            settled.set(settled.get() + 1);
                            prop_assert_eq!(result, value);
                        }
                    }
                }
            }
            Ok(())
        })
        .expect("what is known holds");
    assert!(settled.get() > 100, "something is known: {}", settled.get());
}

#[test]
fn arguments_without_influence_change_nothing() {
    let (case, callee) = cases();
    let idle = std::cell::Cell::new(0);
    runner()
        .run(&case, |(body, x, y, n)| {
            let functions: Functions = [function("f", with_values(body)), callee.clone()].into_iter().collect();
            let args = [x, y, f64::from(n)];
            let expected = functions.call_all(FunctionId(0), &[], &args);
            let mut influences = functions.influences();
            for output in 0..5u32 {
                for (position, matters) in influences.of(FunctionId(0), output).into_iter().enumerate() {
                    for other in [0.0, 1.0, -2.0, 3.0] {
                        let mut changed = args;
                        changed[position] = other;
                        if matters {
                            continue;
                        }
                        let result = |outcome: Result<Vec<f64>, CallError>| {
                            outcome
                                .map(|results| results[output as usize].to_bits())
                                .map_err(|_| ())
                        };
                        let found = functions.call_all(FunctionId(0), &[], &changed);
                        idle.set(idle.get() + 1);
                        prop_assert_eq!(result(found), result(expected.clone()));
                    }
                }
            }
            Ok(())
        })
        .expect("what does not matter changes nothing");
    assert!(idle.get() > 1000, "some arguments do not matter: {}", idle.get());
}

#[test]
fn integers_stay_exact_or_fail() {
    let double = FunctionExpr::binary(BinaryFunction::Mul, read(N), FunctionExpr::Constant(2.0));
    let body = |to: u32| {
        vec![Statement::For {
            counter: LocalId(COUNTER),
            from: FunctionExpr::Constant(1.0),
            step: FunctionExpr::Constant(1.0),
            to: FunctionExpr::Constant(f64::from(to)),
            body: vec![Statement::Assign(place(N, Vec::new()), double.clone())],
        }]
    };
    let functions: Functions = [function("fits", body(52)), function("grows", body(53))]
        .into_iter()
        .collect();
    assert!(functions.call_all(FunctionId(0), &[], &[0.0, 0.0, 1.0]).is_ok());
    let error = functions.call_all(FunctionId(1), &[], &[0.0, 0.0, 1.0]);
    assert!(matches!(error, Err(CallError::Integer { .. })), "{error:?}");
}

#[test]
fn arrays_that_do_not_fit_are_an_error() {
    let body = vec![Statement::Allocate {
        local: LocalId(OPEN),
        sizes: vec![read(N)],
    }];
    let functions: Functions = [function("f", body)].into_iter().collect();
    let call = |n: f64| functions.call_all(FunctionId(0), &[], &[0.0, 0.0, n]);
    assert!(call(1000.0).is_ok());
    assert!(matches!(call(6e7), Err(CallError::Memory { .. })));
    assert!(matches!(call(-1.0), Err(CallError::Size { .. })));
}
