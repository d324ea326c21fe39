//! Random expression graphs: machine code against the register machine (bit by bit), against the reference evaluator,
//! and derivatives against symbolic ones.

mod common;

use std::sync::Arc;

use common::{BINARY, Memory, UNARY, native_kernel};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use saltus_codegen::{KernelSpec, Leaf};
use saltus_mdae::eval::evaluate;
use saltus_mdae::expr::VarTraits;
use saltus_mdae::function::{Body, Function, FunctionExpr, Functions, Local, LocalId, Place, Statement};
use saltus_mdae::{BinaryFunction, ConditionId, ExprId, ExprPool, FunctionId, OriginId, Type, UnaryFunction, VarId};

/// Operations whose derivatives stay moderate near moderate arguments.
const SMOOTH_UNARY: [UnaryFunction; 8] = [
    UnaryFunction::Neg,
    UnaryFunction::Sin,
    UnaryFunction::Cos,
    UnaryFunction::Atan,
    UnaryFunction::Tanh,
    UnaryFunction::Abs,
    UnaryFunction::Floor,
    UnaryFunction::Sign,
];
const SMOOTH_BINARY: [BinaryFunction; 7] = [
    BinaryFunction::Add,
    BinaryFunction::Sub,
    BinaryFunction::Mul,
    BinaryFunction::Min,
    BinaryFunction::Max,
    BinaryFunction::Mul,
    BinaryFunction::Add,
];

/// One step of building a graph; operands are picked among what was built before.
#[derive(Clone, Debug)]
enum Step {
    Leaf(u8),
    Constant(f64),
    Unary(u8, usize),
    Binary(u8, usize, usize),
    If(usize, usize, usize),
    Call(u8, usize, usize),
    /// Positive and away from zero: 1.5 + sin, as argument of roots, logarithms, quotients.
    Guarded(u8, usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let pick = any::<usize>;
    prop_oneof![
        2 => any::<u8>().prop_map(Step::Leaf),
        1 => prop_oneof![-3.0..3.0f64, Just(2.0), Just(0.5), Just(3.0), Just(-1.0)].prop_map(Step::Constant),
        4 => (any::<u8>(), pick()).prop_map(|(op, a)| Step::Unary(op, a)),
        6 => (any::<u8>(), pick(), pick()).prop_map(|(op, a, b)| Step::Binary(op, a, b)),
        1 => (pick(), pick(), pick()).prop_map(|(c, a, b)| Step::If(c, a, b)),
        1 => (any::<u8>(), pick(), pick()).prop_map(|(f, a, b)| Step::Call(f, a, b)),
        2 => (any::<u8>(), pick(), pick()).prop_map(|(f, a, b)| Step::Guarded(f, a, b)),
    ]
}

/// Four variables: two continuous, a discrete one, a parameter-like integer.
fn pool() -> ExprPool {
    let mut pool = ExprPool::new();
    for (ty, continuous) in [
        (Type::Real, true),
        (Type::Real, true),
        (Type::Real, false),
        (Type::Integer, false),
    ] {
        pool.declare_variable(VarTraits { ty, continuous });
    }
    pool
}

struct Vocabulary {
    unary: &'static [UnaryFunction],
    binary: &'static [BinaryFunction],
}

fn build(pool: &mut ExprPool, steps: &[Step], words: &Vocabulary) -> ExprId {
    let mut built = vec![pool.var(VarId(0)), pool.var(VarId(1))];
    for step in steps {
        let at = |pick: &usize| built[built.len() - 1 - pick % built.len().min(8)];
        let id = match step {
            Step::Leaf(k) => match k % 9 {
                0 => pool.var(VarId(0)),
                1 => pool.var(VarId(1)),
                2 => pool.var(VarId(2)),
                3 => pool.var(VarId(3)),
                4 => pool.der_var(VarId(0), 1),
                5 => pool.pre_var(VarId(1), 0),
                6 => pool.time(),
                7 => pool.condition(ConditionId(0)),
                _ => pool.der_var(VarId(1), 2),
            },
            Step::Constant(value) => pool.real(*value),
            Step::Unary(op, a) => pool.unary(words.unary[*op as usize % words.unary.len()], at(a)),
            Step::Binary(op, a, b) => pool.binary(words.binary[*op as usize % words.binary.len()], at(a), at(b)),
            Step::If(c, a, b) => {
                let zero = pool.real(0.1);
                let c = pool.binary(BinaryFunction::Gt, at(c), zero);
                pool.if_else(c, at(a), at(b))
            }
            Step::Call(function, a, b) => pool.call(FunctionId(u32::from(function % 2)), 0, &[at(a), at(b)]),
            Step::Guarded(kind, a, b) => {
                let (sine, offset) = (pool.unary(UnaryFunction::Sin, at(a)), pool.real(1.5));
                let positive = pool.add(sine, offset);
                match kind % 9 {
                    0 => pool.unary(UnaryFunction::Sqrt, positive),
                    1 => pool.unary(UnaryFunction::Log, positive),
                    2 => pool.unary(UnaryFunction::Log10, positive),
                    3 => pool.div(at(b), positive),
                    4 => pool.pow(positive, at(b)),
                    5 => pool.binary(BinaryFunction::Atan2, at(b), positive),
                    6 => {
                        let two = pool.real(2.6);
                        let small = pool.div(positive, two);
                        pool.unary(
                            if kind % 2 == 0 {
                                UnaryFunction::Asin
                            } else {
                                UnaryFunction::Acos
                            },
                            small,
                        )
                    }
                    7 => {
                        let exponent = pool.var(VarId(3));
                        pool.pow(positive, exponent)
                    }
                    _ => {
                        let exponent = pool.real(-1.3);
                        pool.pow(positive, exponent)
                    }
                }
            }
        };
        built.push(id);
    }
    // Everything matters a little.
    let mut sum = *built.last().expect("not empty");
    for &id in built.iter().rev().skip(1).take(3) {
        sum = pool.add(sum, id);
    }
    sum
}

fn read(local: u32) -> FunctionExpr {
    FunctionExpr::Read(place(local))
}
fn place(local: u32) -> Place {
    Place {
        local: LocalId(local),
        indices: Vec::new(),
    }
}
fn binary(op: BinaryFunction, a: FunctionExpr, b: FunctionExpr) -> FunctionExpr {
    FunctionExpr::Binary(op, Box::new(a), Box::new(b))
}

/// One function that becomes part of the tape (an `if` and a short loop) and one that stays a call (its loop depends
/// on an argument).
fn functions() -> Arc<Functions> {
    let local = |name: &str| Local::new(name, Type::Real, Vec::new());
    let function = |name: &str, to: FunctionExpr, condition: FunctionExpr| Function {
        name: name.into(),
        locals: ["a", "b", "y", "k"].iter().map(|name| local(name)).collect(),
        inputs: vec![LocalId(0), LocalId(1)],
        outputs: vec![LocalId(2)],
        body: Body::Algorithm(vec![
            Statement::Assign(place(2), read(0)),
            Statement::For {
                counter: LocalId(3),
                from: FunctionExpr::Constant(1.0),
                step: FunctionExpr::Constant(1.0),
                to,
                body: vec![Statement::If(
                    vec![(
                        condition,
                        vec![Statement::Assign(
                            place(2),
                            binary(
                                BinaryFunction::Add,
                                FunctionExpr::Unary(
                                    UnaryFunction::Sin,
                                    Box::new(binary(BinaryFunction::Mul, read(2), read(1))),
                                ),
                                read(3),
                            ),
                        )],
                    )],
                    vec![Statement::Assign(
                        place(2),
                        binary(BinaryFunction::Sub, read(2), read(0)),
                    )],
                )],
            },
        ]),
        derivatives: Vec::new(),
        inverses: Vec::new(),
        texts: Arc::default(),
        origin: OriginId(0),
        compiled: Default::default(),
    };
    let positive = binary(BinaryFunction::Gt, read(1), FunctionExpr::Constant(0.3));
    let odd = binary(BinaryFunction::Lt, read(3), FunctionExpr::Constant(2.5));
    let bound = binary(
        BinaryFunction::Add,
        FunctionExpr::Unary(UnaryFunction::Sign, Box::new(read(0))),
        FunctionExpr::Constant(3.0),
    );
    let functions = [
        function("inlined", FunctionExpr::Constant(3.0), positive),
        function("called", bound, odd),
    ];
    Arc::new(functions.into_iter().collect())
}

fn memory(numbers: &[f64]) -> Memory {
    let mut memory = Memory::new(4);
    let mut numbers = numbers.iter().copied().cycle();
    let mut next = || numbers.next().expect("cyclic");
    for order in 0..8 {
        memory.set(Leaf::var(VarId(0), order), next());
        memory.set(Leaf::var(VarId(1), order), next());
    }
    memory.set(Leaf::var(VarId(2), 0), next());
    memory.set(Leaf::var(VarId(3), 0), next().round());
    memory.set(Leaf::pre(VarId(1), 0), next());
    memory.set(Leaf::Time, next());
    memory.set(Leaf::Condition(ConditionId(0)), f64::from(u8::from(next() > 0.0)));
    memory
}

fn case() -> impl Strategy<Value = (Vec<Step>, Vec<f64>)> {
    (
        prop::collection::vec(step(), 1..30),
        prop::collection::vec(prop_oneof![-1.6..1.6f64, -1.6..1.6f64, Just(0.0), Just(1.0)], 23),
    )
}

/// The same cases in every run.
fn check(cases: u32, test: impl Fn((Vec<Step>, Vec<f64>)) -> Result<(), TestCaseError>) {
    let config = Config {
        cases,
        failure_persistence: None,
        max_global_rejects: 100_000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    if let Err(error) = TestRunner::new_with_rng(config, rng).run(&case(), test) {
        panic!("{error}");
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn all_operators_agree_between_back_ends_and_with_the_reference() {
    let functions = functions();
    let words = Vocabulary {
        unary: &UNARY,
        binary: &BINARY,
    };
    let compared = std::cell::Cell::new(0);
    check(300, |(steps, numbers)| {
        let mut pool = pool();
        let root = build(&mut pool, &steps, &words);
        let memory = memory(&numbers);
        // Bit-identity of the whole jet is asserted inside, whatever is undefined in it.
        let partials = [
            Leaf::var(VarId(0), 0),
            Leaf::var(VarId(1), 1),
            Leaf::var(VarId(3), 0),
            Leaf::Time,
        ];
        let computed = memory.evaluate(&native_kernel(
            &pool,
            &functions,
            &KernelSpec::matrix(&[root], 0..=2, &partials),
        ));
        let expected = evaluate(&pool, &functions, &[root], &memory).expect("functions that do not fail")[0];
        if expected.is_finite() && computed[0].is_finite() && expected.abs() < 1e6 {
            prop_assert!(close(computed[0], expected, 1e-9), "{} {}", computed[0], expected);
            compared.set(compared.get() + 1);
        }
        Ok(())
    });
    assert!(compared.get() > 100);
}

#[test]
fn values_and_derivatives_agree_with_symbolic_ones() {
    let functions = functions();
    let words = Vocabulary {
        unary: &SMOOTH_UNARY,
        binary: &SMOOTH_BINARY,
    };
    let compared = std::cell::Cell::new(0);
    check(150, |(steps, numbers)| {
        let mut pool = pool();
        let root = build(&mut pool, &steps, &words);
        let memory = memory(&numbers);
        let partials = [
            Leaf::var(VarId(0), 0),
            Leaf::var(VarId(1), 0),
            Leaf::var(VarId(0), 2),
            Leaf::var(VarId(2), 0),
        ];
        let mut expected = Vec::new();
        for order in 0..=2 {
            let derivative = pool.nth_total_derivative(root, order);
            expected.push(derivative);
            for leaf in partials {
                let Leaf::Var { var, order } = leaf else { continue };
                expected.push(pool.partial_derivative(derivative, var, order));
            }
        }
        let expected = evaluate(&pool, &functions, &expected, &memory).expect("functions that do not fail");
        let computed = memory.evaluate(&native_kernel(
            &pool,
            &functions,
            &KernelSpec::matrix(&[root], 0..=2, &partials),
        ));
        let moderate = |value: &f64| value.is_finite() && value.abs() < 1e8;
        prop_assume!(expected.iter().all(moderate));
        let scale = expected.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
        for (position, (computed, expected)) in computed.iter().zip(&expected).enumerate() {
            prop_assert!(
                (computed - expected).abs() <= 1e-9 * scale,
                "output {position}: {computed:e} instead of {expected:e}"
            );
            compared.set(compared.get() + 1);
        }
        Ok(())
    });
    assert!(compared.get() > 1000);
}
