//! User functions that stay calls: loops over arrays, recursion, tables, errors; values and derivatives against the
//! reference evaluator.

mod common;

use std::sync::Arc;

use common::{Memory, native_kernel, pool};
use saltus_codegen::{Fault, KernelCache, KernelSpec, Leaf};
use saltus_mdae::eval::evaluate;
use saltus_mdae::function::{Body, CallError, Function, FunctionExpr, Functions, Local, LocalId, Place, Statement};
use saltus_mdae::table::{Extrapolation, Smoothness, Table};
use saltus_mdae::{BinaryFunction, ExprId, ExprPool, FunctionId, OriginId, Type, UnaryFunction, VarId};

fn local(name: &str, dims: &[u32]) -> Local {
    Local::new(name, Type::Real, dims.to_vec())
}
fn place(local: u32, indices: &[FunctionExpr]) -> Place {
    Place {
        local: LocalId(local),
        indices: indices.to_vec(),
    }
}
fn read(local: u32) -> FunctionExpr {
    FunctionExpr::Read(place(local, &[]))
}
fn number(value: f64) -> FunctionExpr {
    FunctionExpr::Constant(value)
}
fn binary(op: BinaryFunction, a: FunctionExpr, b: FunctionExpr) -> FunctionExpr {
    FunctionExpr::Binary(op, Box::new(a), Box::new(b))
}
fn function(name: &str, locals: Vec<Local>, inputs: &[u32], outputs: &[u32], body: Vec<Statement>) -> Function {
    Function {
        name: name.into(),
        locals,
        inputs: inputs.iter().map(|&k| LocalId(k)).collect(),
        outputs: outputs.iter().map(|&k| LocalId(k)).collect(),
        body: Body::Algorithm(body),
        derivatives: Vec::new(),
        inverses: Vec::new(),
        texts: Arc::default(),
        origin: OriginId(0),
        compiled: Default::default(),
    }
}
fn library(functions: Vec<Function>) -> Arc<Functions> {
    Arc::new(functions.into_iter().collect())
}

/// Newton's iteration for √(a² + b), stopped by a test on the data: the loop cannot be unrolled.
fn newton() -> Function {
    let square = binary(BinaryFunction::Mul, read(0), read(0));
    let radicand = binary(BinaryFunction::Add, square, read(1));
    let residual = binary(
        BinaryFunction::Sub,
        binary(BinaryFunction::Mul, read(2), read(2)),
        read(3),
    );
    let step = binary(
        BinaryFunction::Div,
        residual.clone(),
        binary(BinaryFunction::Mul, number(2.0), read(2)),
    );
    function(
        "newton",
        vec![
            local("a", &[]),
            local("b", &[]),
            local("y", &[]),
            local("c", &[]),
            local("n", &[]),
        ],
        &[0, 1],
        &[2],
        vec![
            Statement::Assign(place(3, &[]), radicand),
            Statement::Assign(place(2, &[]), read(3)),
            Statement::While(
                binary(
                    BinaryFunction::And,
                    binary(
                        BinaryFunction::Gt,
                        FunctionExpr::Unary(UnaryFunction::Abs, Box::new(residual)),
                        number(1e-14),
                    ),
                    binary(BinaryFunction::Lt, read(4), number(60.0)),
                ),
                vec![
                    Statement::Assign(place(2, &[]), binary(BinaryFunction::Sub, read(2), step)),
                    Statement::Assign(place(4, &[]), binary(BinaryFunction::Add, read(4), number(1.0))),
                ],
            ),
        ],
    )
}

/// A prefix sum of sines over a long array, and its last element squared: too long to unroll, two outputs.
fn sums() -> Function {
    let at = |index: FunctionExpr| FunctionExpr::Read(place(3, &[index]));
    let before = binary(BinaryFunction::Sub, read(4), number(1.0));
    let sine = FunctionExpr::Unary(
        UnaryFunction::Sin,
        Box::new(binary(BinaryFunction::Mul, read(0), read(4))),
    );
    function(
        "sums",
        vec![
            local("u", &[]),
            local("s", &[]),
            local("q", &[]),
            local("v", &[500]),
            local("i", &[]),
        ],
        &[0],
        &[1, 2],
        vec![
            Statement::Assign(place(3, &[number(1.0)]), read(0)),
            Statement::For {
                counter: LocalId(4),
                from: number(2.0),
                step: number(1.0),
                to: number(500.0),
                body: vec![Statement::Assign(
                    place(3, &[read(4)]),
                    binary(
                        BinaryFunction::Add,
                        at(before),
                        binary(BinaryFunction::Div, sine, read(4)),
                    ),
                )],
            },
            Statement::Assign(place(1, &[]), at(number(500.0))),
            Statement::Assign(place(2, &[]), binary(BinaryFunction::Mul, read(1), read(1))),
        ],
    )
}

/// xⁿ by recursion on n.
fn recursive_power(id: FunctionId) -> Function {
    let rest = FunctionExpr::Call {
        function: id,
        output: 0,
        args: vec![read(0), binary(BinaryFunction::Sub, read(1), number(1.0))],
    };
    function(
        "power",
        vec![local("x", &[]), local("n", &[]), local("y", &[])],
        &[0, 1],
        &[2],
        vec![Statement::If(
            vec![(
                binary(BinaryFunction::Le, read(1), number(0.0)),
                vec![Statement::Assign(place(2, &[]), number(1.0))],
            )],
            vec![Statement::Assign(
                place(2, &[]),
                binary(BinaryFunction::Mul, read(0), rest),
            )],
        )],
    )
}

/// Values, total derivatives and partials of a call against symbolic derivatives in the reference evaluator.
fn compare(functions: &Arc<Functions>, build: impl Fn(&mut ExprPool) -> ExprId, points: &[(f64, f64)]) {
    let mut pool = pool(2);
    let root = build(&mut pool);
    let partials = [Leaf::var(VarId(0), 0), Leaf::var(VarId(1), 0), Leaf::var(VarId(0), 1)];
    let mut symbolic = Vec::new();
    for order in 0..=2 {
        let derivative = pool.nth_total_derivative(root, order);
        symbolic.push(derivative);
        for (var, order) in [(0, 0), (1, 0), (0, 1)] {
            symbolic.push(pool.partial_derivative(derivative, VarId(var), order));
        }
    }
    let kernel = native_kernel(&pool, functions, &KernelSpec::matrix(&[root], 0..=2, &partials));
    for &(x, y) in points {
        let mut memory = Memory::new(2);
        for (order, scale) in [(0, 1.0), (1, 0.7), (2, -0.4), (3, 0.2)] {
            memory.set(Leaf::var(VarId(0), order), x * scale);
            memory.set(Leaf::var(VarId(1), order), y * scale);
        }
        let expected = evaluate(&pool, functions, &symbolic, &memory).expect("a call that does not fail");
        let computed = memory.evaluate(&kernel);
        let scale = expected.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
        for (position, (computed, expected)) in computed.iter().zip(&expected).enumerate() {
            assert!(
                (computed - expected).abs() <= 1e-11 * scale,
                "output {position} at ({x}, {y}): {computed:e} instead of {expected:e}"
            );
        }
    }
}

const POINTS: [(f64, f64); 3] = [(0.8, 1.7), (-1.2, 0.4), (2.5, 3.5)];

#[test]
fn data_dependent_loops_are_executed_and_differentiated() {
    let call = |pool: &mut ExprPool| {
        let (x, y) = (pool.var(VarId(0)), pool.var(VarId(1)));
        pool.call(FunctionId(0), 0, &[x, y])
    };
    compare(&library(vec![newton()]), call, &POINTS);
}

#[test]
fn arrays_and_several_outputs() {
    let call = |pool: &mut ExprPool| {
        let (x, y) = (pool.var(VarId(0)), pool.var(VarId(1)));
        let argument = pool.mul(x, y);
        let (sum, square) = (
            pool.call(FunctionId(0), 0, &[argument]),
            pool.call(FunctionId(0), 1, &[argument]),
        );
        pool.add(sum, square)
    };
    // Near 0 the terms of the sum do not cancel.
    compare(&library(vec![sums()]), call, &[(0.01, 0.2), (-0.03, 0.1)]);
}

#[test]
fn recursion() {
    let call = |pool: &mut ExprPool| {
        let (x, n) = (pool.var(VarId(0)), pool.var(VarId(1)));
        let n = pool.unary(UnaryFunction::Floor, n);
        pool.call(FunctionId(0), 0, &[x, n])
    };
    compare(
        &library(vec![recursive_power(FunctionId(0))]),
        call,
        &[(0.8, 6.0), (-1.2, 3.0)],
    );
}

#[test]
fn tables_of_one_and_two_arguments() {
    for smoothness in [
        Smoothness::Linear,
        Smoothness::Constant,
        Smoothness::Akima,
        Smoothness::ModifiedAkima,
        Smoothness::FritschButland,
        Smoothness::Steffen,
    ] {
        for extrapolation in [Extrapolation::Hold, Extrapolation::Tangent, Extrapolation::Periodic] {
            let x = vec![-1.0, 0.0, 0.5, 1.5, 2.0];
            let one = Table::of_one(x.clone(), vec![1.0, -0.5, 0.3, 2.0, 1.0], smoothness, extrapolation);
            let values = (0..15).map(|k| f64::from(k * k % 7)).collect();
            let two = Table::new(x, vec![0.0, 1.0, 2.0], values, smoothness, extrapolation);
            let table = |inputs: &[u32], table: Table| Function {
                body: Body::Table(Arc::new(table)),
                ..function(
                    "table",
                    vec![local("u", &[]), local("v", &[]), local("y", &[])],
                    inputs,
                    &[2],
                    Vec::new(),
                )
            };
            let functions = library(vec![table(&[0], one), table(&[0, 1], two)]);
            let call = |pool: &mut ExprPool| {
                let (x, y) = (pool.var(VarId(0)), pool.var(VarId(1)));
                let first = pool.call(FunctionId(0), 0, &[x]);
                let second = pool.call(FunctionId(1), 0, &[x, y]);
                pool.add(first, second)
            };
            compare(&functions, call, &[(0.2, 0.3), (1.7, 1.4), (2.6, 2.2), (-1.7, -0.4)]);
        }
    }
}

#[test]
fn failures_are_typed() {
    let index = function(
        "index",
        vec![local("u", &[]), local("y", &[]), local("v", &[3])],
        &[0],
        &[1],
        vec![Statement::Assign(
            place(1, &[]),
            FunctionExpr::Read(place(2, &[read(0)])),
        )],
    );
    let assertion = function(
        "assertion",
        vec![local("u", &[]), local("y", &[])],
        &[0],
        &[1],
        vec![Statement::Assert(
            binary(BinaryFunction::Lt, read(0), number(3.0)),
            number(1.0),
        )],
    );
    assertion.texts.number("u is too large");
    let endless = recursive_power(FunctionId(2));
    let table = Function {
        body: Body::Table(Arc::new(Table::of_one(
            vec![0.0, 1.0, 3.0],
            vec![0.0, 1.0, 0.0],
            Smoothness::Linear,
            Extrapolation::Forbidden,
        ))),
        ..function("table", vec![local("u", &[]), local("y", &[])], &[0], &[1], Vec::new())
    };
    let functions = library(vec![index, assertion, endless, table]);
    let mut pool = pool(1);
    let x = pool.var(VarId(0));
    let n = pool.real(1e9);
    let roots = [
        pool.call(FunctionId(0), 0, &[x]),
        pool.call(FunctionId(1), 0, &[x]),
        pool.call(FunctionId(2), 0, &[x, n]),
        pool.call(FunctionId(3), 0, &[x]),
    ];
    let mut memory = Memory::new(1);
    memory.set(Leaf::var(VarId(0), 0), 4.0);
    let cache = KernelCache::new(functions.clone());
    for native in [false, true] {
        for root in roots {
            let kernel = cache.kernel(&pool, &KernelSpec::values(&[root])).expect("a kernel");
            if native {
                cache.compile_all().expect("machine code");
            }
            let error = kernel
                .evaluate(&memory.values, &memory.slots(&kernel), &mut [0.0])
                .expect_err("the call fails");
            let expected: CallError = evaluate(&pool, &functions, &[root], &memory).expect_err("here too");
            assert_eq!(error.fault, Fault::Call(expected));
            assert_eq!(error.culprit, root);
        }
    }
}

#[test]
fn a_call_in_the_branch_not_taken_is_not_made() {
    let functions = library(vec![recursive_power(FunctionId(0))]);
    let mut pool = pool(2);
    let (x, y) = (pool.var(VarId(0)), pool.var(VarId(1)));
    let n = pool.real(1e9);
    let call = pool.call(FunctionId(0), 0, &[x, n]);
    let zero = pool.real(0.0);
    let condition = pool.binary(BinaryFunction::Gt, y, zero);
    let root = pool.if_else(condition, call, x);
    let kernel = native_kernel(
        &pool,
        &functions,
        &KernelSpec::matrix(&[root], 0..=1, &[Leaf::var(VarId(0), 0)]),
    );
    let mut memory = Memory::new(2);
    memory.set(Leaf::var(VarId(0), 0), 4.0);
    memory.set(Leaf::var(VarId(0), 1), 5.0);
    memory.set(Leaf::var(VarId(1), 0), -1.0);
    let slots = memory.slots(&kernel);
    let mut out = [0.0; 4];
    assert_eq!(kernel.evaluate(&memory.values, &slots, &mut out), Ok(()));
    assert_eq!(out, [4.0, 1.0, 5.0, 0.0]);
    memory.set(Leaf::var(VarId(1), 0), 1.0);
    assert!(kernel.evaluate(&memory.values, &slots, &mut out).is_err());
}

#[test]
fn a_failed_call_hidden_by_a_relation_is_still_an_error() {
    let functions = library(vec![recursive_power(FunctionId(0))]);
    let mut pool = pool(1);
    let x = pool.var(VarId(0));
    let (n, zero) = (pool.real(1e9), pool.real(0.0));
    let call = pool.call(FunctionId(0), 0, &[x, n]);
    let relation = pool.binary(BinaryFunction::Gt, call, zero);
    let root = pool.if_else(relation, x, zero);
    let kernel = native_kernel(&pool, &functions, &KernelSpec::values(&[root]));
    let mut memory = Memory::new(1);
    memory.set(Leaf::var(VarId(0), 0), 4.0);
    let slots = memory.slots(&kernel);
    let error = kernel
        .evaluate(&memory.values, &slots, &mut [0.0])
        .expect_err("the call fails");
    assert!(matches!(error.fault, Fault::Call(CallError::Fuel { .. })));
}

#[test]
fn assertions_inside_unrolled_functions_hold_where_they_are_reached() {
    // if b > 0 then assert(a < 3) and y = sin(a)/b else y = a
    let checked = function(
        "checked",
        vec![local("a", &[]), local("b", &[]), local("y", &[])],
        &[0, 1],
        &[2],
        vec![Statement::If(
            vec![(
                binary(BinaryFunction::Gt, read(1), number(0.0)),
                vec![
                    Statement::Assert(binary(BinaryFunction::Lt, read(0), number(3.0)), number(1.0)),
                    Statement::Assign(
                        place(2, &[]),
                        binary(
                            BinaryFunction::Div,
                            FunctionExpr::Unary(UnaryFunction::Sin, Box::new(read(0))),
                            read(1),
                        ),
                    ),
                ],
            )],
            vec![Statement::Assign(place(2, &[]), read(0))],
        )],
    );
    checked.texts.number("a is too large");
    let functions = library(vec![checked]);
    let call = |pool: &mut ExprPool| {
        let (x, y) = (pool.var(VarId(0)), pool.var(VarId(1)));
        pool.call(FunctionId(0), 0, &[x, y])
    };
    compare(&functions, call, &[(0.8, 1.7), (4.0, -1.0), (-1.2, 0.4)]);
    let mut pool = pool(2);
    let root = call(&mut pool);
    let kernel = native_kernel(
        &pool,
        &functions,
        &KernelSpec::partials(root, 0, &[Leaf::var(VarId(1), 0)]),
    );
    let mut memory = Memory::new(2);
    memory.set(Leaf::var(VarId(0), 0), 4.0);
    memory.set(Leaf::var(VarId(1), 0), 1.0);
    let slots = memory.slots(&kernel);
    let error = kernel
        .evaluate(&memory.values, &slots, &mut [0.0])
        .expect_err("the assertion fails");
    assert!(
        matches!(error.fault, Fault::Call(CallError::Assertion { ref message, .. }) if &**message == "a is too large")
    );
    memory.set(Leaf::var(VarId(1), 0), -1.0);
    assert_eq!(kernel.evaluate(&memory.values, &slots, &mut [0.0]), Ok(()));
}
