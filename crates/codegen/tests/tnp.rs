//! The derivative matrices D^(n,p) of `tests/reference/tnp_cases.json`, by both back ends.

mod common;

use std::sync::Arc;

use common::{Memory, native_kernel, pool};
use saltus_codegen::{KernelSpec, Leaf};
use saltus_mdae::function::Functions;
use saltus_mdae::{ExprId, ExprPool, UnaryFunction, VarId};
use serde_json::Value;

const NAMES: [&str; 4] = ["x", "y", "z", "F"];

fn variable(name: &str) -> VarId {
    VarId(NAMES.iter().position(|&known| known == name).expect("a known variable") as u32)
}

fn number(value: &Value) -> f64 {
    value.as_str().expect("numbers are strings").parse().expect("a number")
}

/// The expressions by the names they have in the file.
fn expression(pool: &mut ExprPool, name: &str) -> ExprId {
    let [x, y, z, force] = [0, 1, 2, 3].map(|k| pool.var(VarId(k)));
    let (dx, dy, dz) = (
        pool.der_var(VarId(0), 1),
        pool.der_var(VarId(1), 1),
        pool.der_var(VarId(2), 1),
    );
    let time = pool.time();
    let mut real = |value: f64| pool.real(value);
    let (half, one, two, three) = (real(0.5), real(1.0), real(2.0), real(3.0));
    let square = |pool: &mut ExprPool, e| pool.pow(e, two);
    let (xx, yy) = (square(pool, x), square(pool, y));
    match name {
        "pend_constraint" => {
            let (a, b) = (pool.mul(x, x), pool.mul(y, y));
            let sum = pool.add(a, b);
            pool.sub(sum, one)
        }
        "pend_ex" => {
            let (acceleration, product) = (pool.der_var(VarId(0), 2), pool.mul(x, force));
            pool.sub(acceleration, product)
        }
        "pend_ey" => {
            let (acceleration, product) = (pool.der_var(VarId(1), 2), pool.mul(y, force));
            let g = pool.real(9.81);
            let right = pool.sub(product, g);
            pool.sub(acceleration, right)
        }
        "product3" => {
            let xy = pool.mul(x, y);
            pool.mul(xy, z)
        }
        "exp_sin_prod" => {
            let xy = pool.mul(x, y);
            let sine = pool.unary(UnaryFunction::Sin, xy);
            pool.unary(UnaryFunction::Exp, sine)
        }
        "sin_cos" => {
            let sum = pool.add(y, dx);
            let (sine, cosine) = (pool.unary(UnaryFunction::Sin, x), pool.unary(UnaryFunction::Cos, sum));
            pool.mul(sine, cosine)
        }
        "division" => {
            let (above, below) = (pool.add(x, two), pool.add(yy, half));
            pool.div(above, below)
        }
        "pow_int" => {
            let sum = pool.add(x, y);
            pool.pow(sum, three)
        }
        "pow_neg_int" => {
            let exponent = pool.real(-2.0);
            pool.pow(z, exponent)
        }
        "pow_real" => {
            let sum = pool.add(xx, yy);
            let exponent = pool.real(-1.5);
            pool.pow(sum, exponent)
        }
        "pow_gen" => pool.pow(z, x),
        "sqrt" => {
            let dxx = square(pool, dx);
            let sum = pool.add(one, xx);
            let sum = pool.add(sum, dxx);
            pool.unary(UnaryFunction::Sqrt, sum)
        }
        "tanh" => {
            let product = pool.mul(three, x);
            let product = pool.mul(product, dy);
            pool.unary(UnaryFunction::Tanh, product)
        }
        "ln_atan" => {
            let sum = pool.add(one, xx);
            let ratio = pool.div(y, z);
            let (log, arc) = (
                pool.unary(UnaryFunction::Log, sum),
                pool.unary(UnaryFunction::Atan, ratio),
            );
            pool.mul(log, arc)
        }
        "friction" => {
            let (twenty, four) = (pool.real(20.0), pool.real(4.0));
            let scaled = pool.mul(twenty, dx);
            let tanh = pool.unary(UnaryFunction::Tanh, scaled);
            let dxx = square(pool, dx);
            let ratio = pool.div(dxx, four);
            let negated = pool.neg(ratio);
            let exp = pool.unary(UnaryFunction::Exp, negated);
            let factor = pool.add(one, exp);
            let product = pool.mul(tanh, factor);
            pool.add(dz, product)
        }
        "timedep" => {
            let scaled = pool.mul(three, time);
            let sine = pool.unary(UnaryFunction::Sin, scaled);
            let negated = pool.neg(time);
            let exp = pool.unary(UnaryFunction::Exp, negated);
            let (a, b) = (pool.mul(sine, x), pool.mul(exp, dy));
            pool.add(a, b)
        }
        "nested" => {
            let negated = pool.neg(x);
            let (exp, sine) = (
                pool.unary(UnaryFunction::Exp, negated),
                pool.unary(UnaryFunction::Sin, y),
            );
            let above = pool.mul(exp, sine);
            let tanh = pool.unary(UnaryFunction::Tanh, z);
            let tanh = square(pool, tanh);
            let below = pool.add(one, tanh);
            pool.div(above, below)
        }
        other => panic!("no expression for {other}"),
    }
}

fn reference() -> Value {
    serde_json::from_str(&saltus_testing::reference("tnp_cases.json")).expect("valid JSON")
}

fn memory(reference: &Value) -> Memory {
    let mut memory = Memory::new(4);
    memory.set(Leaf::Time, number(&reference["point"]["v"]));
    for name in NAMES {
        let jet = reference["point"]["jets"][name].as_array().expect("a jet");
        for (order, value) in jet.iter().enumerate() {
            memory.set(Leaf::var(variable(name), order as u16), number(value));
        }
    }
    memory
}

#[test]
fn derivative_matrices_agree_with_the_reference() {
    let reference = reference();
    let memory = memory(&reference);
    let functions = Arc::new(Functions::default());
    let mut compared = 0;
    for (name, case) in reference["cases"].as_object().expect("cases") {
        let mut pool = pool(4);
        let root = expression(&mut pool, name);
        for (set, matrix) in case["D"].as_object().expect("matrices") {
            let partials: Vec<Leaf> = reference["param_sets"][set]
                .as_array()
                .expect("a list")
                .iter()
                .map(|p| {
                    Leaf::var(
                        variable(p[0].as_str().expect("a name")),
                        p[1].as_u64().expect("an order") as u16,
                    )
                })
                .collect();
            let rows = matrix.as_array().expect("rows");
            let expected: Vec<f64> = rows
                .iter()
                .flat_map(|row| row.as_array().expect("a row"))
                .map(number)
                .collect();
            let scale = expected.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
            let spec = KernelSpec::matrix(&[root], 0..=rows.len() as u16 - 1, &partials);
            let computed = memory.evaluate(&native_kernel(&pool, &functions, &spec));
            assert_eq!(computed.len(), expected.len());
            for (computed, expected) in computed.iter().zip(&expected) {
                // Relative to the number itself; sums that cancel, to the largest number of the matrix.
                let tolerance = 1e-12 * expected.abs().max(1e-3 * scale);
                assert!(
                    (computed - expected).abs() <= tolerance,
                    "{name}, {set}: {computed:e} instead of {expected:e}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 1000);
}

#[test]
fn single_rows_and_columns_equal_the_whole_matrix() {
    let reference = reference();
    let memory = memory(&reference);
    let functions = Arc::new(Functions::default());
    let mut pool = pool(4);
    let root = expression(&mut pool, "nested");
    let partials: Vec<Leaf> = (0..3)
        .flat_map(|v| (0..4).map(move |o| Leaf::var(VarId(v), o)))
        .collect();
    let whole = memory.evaluate(&native_kernel(
        &pool,
        &functions,
        &KernelSpec::matrix(&[root], 0..=3, &partials),
    ));
    let columns = partials.len() + 1;
    for order in 0..=3u16 {
        let row = native_kernel(&pool, &functions, &KernelSpec::partials(root, order, &partials));
        let value = native_kernel(&pool, &functions, &KernelSpec::total(root, order));
        let start = usize::from(order) * columns;
        assert_eq!(memory.evaluate(&value)[0], whole[start]);
        assert_eq!(memory.evaluate(&row), whole[start + 1..start + columns]);
    }
}

#[test]
fn leading_partial_of_a_derivative_needs_no_series() {
    // ∂(d²f/dt²)/∂x'' = ∂f/∂x: the kernel must be as small as that of ∂f/∂x.
    let functions = Arc::new(Functions::default());
    let mut pool = pool(4);
    let root = expression(&mut pool, "pow_real");
    let low = native_kernel(
        &pool,
        &functions,
        &KernelSpec::partials(root, 0, &[Leaf::var(VarId(0), 0)]),
    );
    let high = native_kernel(
        &pool,
        &functions,
        &KernelSpec::partials(root, 2, &[Leaf::var(VarId(0), 2)]),
    );
    assert_eq!(low.operations(), high.operations());
    assert_eq!(low.leaves(), high.leaves());
}
