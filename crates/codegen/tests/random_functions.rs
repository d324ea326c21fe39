//! Random functions as machine code: values and first derivatives bit by bit those of the register machine, derivatives
//! those of nested duals, and the same failures.

mod common;

use std::sync::Arc;

use common::{Memory, pool};
use saltus_codegen::{Fault, Kernel, KernelCache, KernelSpec, Leaf};
use saltus_mdae::function::{
    Body, DerivativeInput, Function, FunctionDerivative, FunctionExpr, Functions, Local, LocalId, Place, Statement,
};
use saltus_mdae::table::{Extrapolation, Smoothness, Table};
use saltus_mdae::{BinaryFunction, FunctionId, OriginId, Type, UnaryFunction, VarId};
use saltus_testing::Random;

/// Variables of every random function: two Reals, an Integer, an array, two results, a counter, a Real.
const X: u32 = 0;
const Y: u32 = 1;
const N: u32 = 2;
const A: u32 = 3;
const RESULT: u32 = 4;
const COUNTER: u32 = 5;
const Z: u32 = 6;

/// Functions that a random one calls.
const INNER: FunctionId = FunctionId(1);
const TABLE: FunctionId = FunctionId(2);
const ANNOTATED: FunctionId = FunctionId(3);
const SLOPE: FunctionId = FunctionId(4);

fn constant(value: f64) -> FunctionExpr {
    FunctionExpr::Constant(value)
}
fn place(local: u32, indices: Vec<FunctionExpr>) -> Place {
    Place {
        local: LocalId(local),
        indices,
    }
}
fn read(local: u32) -> FunctionExpr {
    FunctionExpr::read(LocalId(local))
}

/// A whole number that is often a good index.
fn index(random: &mut Random) -> FunctionExpr {
    match random.below(12) {
        0..=6 => constant(1.0 + random.below(2) as f64),
        7..=9 => read(COUNTER),
        10 => FunctionExpr::binary(BinaryFunction::Sub, read(N), constant(1.0)),
        _ => read(N),
    }
}

fn element(random: &mut Random) -> Place {
    let indices = vec![index(random), index(random)];
    place(A, indices)
}

fn expr(random: &mut Random, depth: u32, calls: bool) -> FunctionExpr {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(8) {
            0 | 1 => constant(0.5 * random.below(9) as f64 - 2.0),
            2 => FunctionExpr::Read(element(random)),
            _ => read(random.of(&[X, Y, Z, N, RESULT, COUNTER])),
        };
    }
    let inner = |random: &mut Random| Box::new(expr(random, depth - 1, calls));
    match random.below(12) {
        0..=2 => {
            use UnaryFunction::*;
            let op = random.of(&[
                Neg, Abs, Sqrt, Exp, Log, Sin, Cos, Tan, Atan, Tanh, Floor, Sign, Not, Cosh, Asin, Log10,
            ]);
            FunctionExpr::Unary(op, inner(random))
        }
        3..=7 => {
            use BinaryFunction::*;
            let op = random.of(&[
                Add, Sub, Mul, Mul, Div, Pow, Min, Max, Mod, Rem, Lt, Ge, And, Or, Eq, Atan2,
            ]);
            FunctionExpr::Binary(op, inner(random), inner(random))
        }
        8 => {
            let exponent = constant(random.below(7) as f64 - 2.0);
            FunctionExpr::Binary(BinaryFunction::Pow, inner(random), Box::new(exponent))
        }
        9 => FunctionExpr::If(inner(random), inner(random), inner(random)),
        _ if !calls => read(X),
        10 => FunctionExpr::Call {
            function: INNER,
            output: random.below(5) as u32,
            args: vec![*inner(random), *inner(random), constant(2.0)],
        },
        _ => FunctionExpr::Call {
            function: random.of(&[TABLE, ANNOTATED]),
            output: 0,
            args: vec![*inner(random)],
        },
    }
}

fn statements(random: &mut Random, depth: u32, calls: bool) -> Vec<Statement> {
    (0..1 + random.below(4))
        .map(|_| statement(random, depth, calls))
        .collect()
}

fn statement(random: &mut Random, depth: u32, calls: bool) -> Statement {
    let target = |random: &mut Random| match random.below(3) {
        0 => element(random),
        _ => place(random.of(&[RESULT, Z, RESULT, X]), Vec::new()),
    };
    match random.below(if depth == 0 { 6 } else { 11 }) {
        0..=4 => Statement::Assign(target(random), expr(random, 3, calls)),
        5 if calls => Statement::CallAssign {
            function: INNER,
            args: vec![expr(random, 2, calls), expr(random, 2, calls), constant(2.0)],
            targets: vec![(0, target(random)), (3, target(random))],
        },
        5 => Statement::Assert(expr(random, 2, calls), constant(1.0)),
        6 | 7 => {
            let branches = vec![(expr(random, 2, calls), statements(random, depth - 1, calls))];
            Statement::If(branches, statements(random, depth - 1, calls))
        }
        8 => Statement::For {
            counter: LocalId(COUNTER),
            from: constant(1.0),
            step: constant(1.0),
            to: constant(random.of(&[1.0, 2.0, 2.0, 3.0])),
            body: statements(random, depth - 1, calls),
        },
        9 => {
            // Ends, unless the counter is set back by a loop inside: then it runs out of fuel.
            let mut body = statements(random, depth - 1, calls);
            let more = FunctionExpr::binary(BinaryFunction::Add, read(COUNTER), constant(1.0));
            body.push(Statement::Assign(place(COUNTER, Vec::new()), more));
            Statement::While(
                FunctionExpr::binary(BinaryFunction::Lt, read(COUNTER), constant(3.0)),
                body,
            )
        }
        _ if random.below(2) == 0 => Statement::Break,
        _ => Statement::Return,
    }
}

fn function(name: &str, body: Vec<Statement>) -> Function {
    let scalar = |name: &str, ty| Local::new(name, ty, Vec::new());
    let function = Function {
        name: name.into(),
        locals: vec![
            scalar("x", Type::Real),
            scalar("y", Type::Real),
            scalar("n", Type::Integer),
            Local::new("a", Type::Real, vec![2, 2]),
            scalar("r", Type::Real),
            scalar("i", Type::Integer),
            scalar("z", Type::Real),
        ],
        inputs: vec![LocalId(X), LocalId(Y), LocalId(N)],
        outputs: vec![LocalId(RESULT), LocalId(A)],
        body: Body::Algorithm(body),
        derivatives: Vec::new(),
        inverses: Vec::new(),
        texts: Arc::default(),
        origin: OriginId(0),
        compiled: Default::default(),
    };
    function.texts.number("a text");
    function
}

/// A function of so many Reals to one.
fn formula(name: &str, inputs: u32, body: Body) -> Function {
    let locals = (0..=inputs).map(|k| Local::new(format!("v{k}"), Type::Real, Vec::new()));
    Function {
        locals: locals.collect(),
        inputs: (0..inputs).map(LocalId).collect(),
        outputs: vec![LocalId(inputs)],
        body,
        ..function(name, Vec::new())
    }
}

/// Random functions, a table, and a function whose derivative is a function: u³ with 3·u²·u̇.
fn functions(random: &mut Random) -> Arc<Functions> {
    let table = Table::of_one(
        vec![-2.0, -0.5, 0.0, 1.5, 2.0],
        vec![1.0, -0.5, 0.3, 2.0, 1.0],
        Smoothness::Akima,
        Extrapolation::Tangent,
    );
    let assign = |to: u32, value: FunctionExpr| Body::Algorithm(vec![Statement::Assign(place(to, Vec::new()), value)]);
    let cube = FunctionExpr::binary(BinaryFunction::Pow, read(0), constant(3.0));
    let square = FunctionExpr::binary(
        BinaryFunction::Mul,
        FunctionExpr::binary(BinaryFunction::Mul, constant(3.0), read(0)),
        read(0),
    );
    let mut annotated = formula("annotated", 1, assign(1, cube));
    annotated.derivatives.push(FunctionDerivative {
        function: SLOPE,
        inputs: vec![DerivativeInput::Value(0), DerivativeInput::Derivative(0)],
        outputs: vec![Some(0)],
        constant: Vec::new(),
        linked: Vec::new(),
    });
    let slope = assign(2, FunctionExpr::binary(BinaryFunction::Mul, square, read(1)));
    let all = [
        function("outer", statements(random, 3, true)),
        function("inner", statements(random, 2, false)),
        formula("table", 1, Body::Table(Arc::new(table))),
        annotated,
        formula("slope", 2, slope),
    ];
    Arc::new(all.into_iter().collect())
}

/// A call of the first function with x, y and 2, and its partial derivatives; kernels with and without machine code.
struct Case {
    functions: Arc<Functions>,
    kernels: [Kernel; 2],
    memory: Memory,
}

const OUTPUTS: u32 = 5;

impl Case {
    fn new(random: &mut Random) -> Self {
        let functions = functions(random);
        let mut pool = pool(2);
        let (x, y, n) = (pool.var(VarId(0)), pool.var(VarId(1)), pool.integer(2));
        let roots: Vec<_> = (0..OUTPUTS).map(|k| pool.call(FunctionId(0), k, &[x, y, n])).collect();
        let partials = [Leaf::var(VarId(0), 0), Leaf::var(VarId(1), 0)];
        let spec = KernelSpec::matrix(&roots, 0..=0, &partials);
        let kernels = [false, true].map(|native| {
            let cache = KernelCache::new(functions.clone());
            let kernel = cache.kernel(&pool, &spec).expect("a small kernel");
            if native {
                cache.compile_all().expect("machine code");
            }
            kernel
        });
        Case {
            functions,
            kernels,
            memory: Memory::new(2),
        }
    }

    /// Whether the call succeeded, and how many derivatives were compared.
    fn compare(&mut self, x: f64, y: f64, case: u64) -> (bool, usize) {
        self.memory.set(Leaf::var(VarId(0), 0), x);
        self.memory.set(Leaf::var(VarId(1), 0), y);
        let [plain, native] = &self.kernels;
        let slots = self.memory.slots(plain);
        let mut outcomes = [plain, native].map(|kernel| {
            let mut out = vec![0.0; kernel.output_count()];
            let outcome = kernel.evaluate(&self.memory.values, &slots, &mut out);
            (outcome.err().map(|error| error.fault), out)
        });
        let mut interpreted = vec![0.0; plain.output_count()];
        plain.interpret(&self.memory.values, &slots, &mut interpreted);
        outcomes[0].1 = interpreted;
        let [(fault, interpreted), (native_fault, native)] = outcomes;
        assert_eq!(fault.is_some(), native_fault.is_some(), "case {case}");
        if let (Some(Fault::Call(error)), Some(Fault::Call(native_error))) = (&fault, &native_fault) {
            assert_eq!(format!("{error:?}"), format!("{native_error:?}"), "case {case}");
            return (false, 0);
        }
        for (position, (a, b)) in interpreted.iter().zip(&native).enumerate() {
            let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(
                same,
                "case {case}, output {position}: {a:e} by the machine, {b:e} by machine code"
            );
        }
        (true, self.compare_with_duals(&[x, y, 2.0], &native, case))
    }

    fn compare_with_duals(&self, args: &[f64], computed: &[f64], case: u64) -> usize {
        let mut compared = 0;
        for output in 0..OUTPUTS {
            for (column, partials) in [&[][..], &[0], &[1]].into_iter().enumerate() {
                let expected = self.functions.call(FunctionId(0), output, partials, args);
                let Ok(expected) = expected.map(|value| value + 0.0) else {
                    continue;
                };
                let value = computed[output as usize * 3 + column];
                // Where duals meet infinities they may differ: zero times infinity is skipped by one of them only.
                if expected.is_finite() && value.is_finite() {
                    let close = (expected - value).abs() <= 1e-9 * expected.abs().max(1e-3);
                    assert!(
                        close,
                        "case {case}, output {output}, {partials:?}: {value:e} is not {expected:e}"
                    );
                    compared += 1;
                }
            }
        }
        compared
    }
}

#[test]
fn machine_code_of_random_functions_is_that_of_the_machine() {
    let (mut succeeded, mut failed, mut compared) = (0, 0, 0);
    for case in 0..160 {
        let mut random = Random(case);
        let mut family = Case::new(&mut random);
        for _ in 0..6 {
            let (x, y) = (random.between(-2.5, 2.5), random.between(-2.5, 2.5));
            let (success, derivatives) = family.compare(x, y, case);
            succeeded += usize::from(success);
            failed += usize::from(!success);
            compared += derivatives;
        }
    }
    // The random functions are worth comparing.
    assert!(
        succeeded > 300 && failed > 50 && compared > 3000,
        "{succeeded} {failed} {compared}"
    );
}
