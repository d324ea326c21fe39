//! Domain errors are located after the fact; what is not used does not count.

mod common;

use std::sync::Arc;

use common::{Memory, native_kernel, pool};
use saltus_codegen::{CompileError, Fault, HOT_EVALUATIONS, KernelCache, KernelSpec, Leaf};
use saltus_mdae::function::Functions;
use saltus_mdae::{BinaryFunction, UnaryFunction, VarId};

fn functions() -> Arc<Functions> {
    Arc::new(Functions::default())
}

fn memory(values: &[f64]) -> Memory {
    let mut memory = Memory::new(values.len() as u32);
    for (k, &value) in values.iter().enumerate() {
        memory.set(Leaf::var(VarId(k as u32), 0), value);
    }
    memory
}

#[test]
fn the_first_offending_operation_is_named() {
    let mut pool = pool(2);
    let (x, y) = (pool.var(VarId(0)), pool.var(VarId(1)));
    let root = pool.unary(UnaryFunction::Sqrt, x);
    let log = pool.unary(UnaryFunction::Log, y);
    let quotient = pool.div(root, log);
    let sum = pool.add(y, quotient);
    let kernel = native_kernel(&pool, &functions(), &KernelSpec::values(&[y, sum]));
    let check = |x: f64, y: f64, culprit, operation: &str, operands: &[f64]| {
        let memory = memory(&[x, y]);
        let error = kernel
            .evaluate(&memory.values, &memory.slots(&kernel), &mut [0.0; 2])
            .expect_err("outside the domain");
        assert_eq!((error.position, error.expression, error.culprit), (1, sum, culprit));
        let Fault::Operation {
            operation: found,
            operands: with,
            ..
        } = error.fault
        else {
            panic!("{error:?}")
        };
        assert_eq!((found, with.as_slice()), (operation, operands));
    };
    check(-2.0, 3.0, root, "sqrt", &[-2.0]);
    check(2.0, -3.0, log, "log", &[-3.0]);
    check(4.0, 1.0, quotient, "/", &[2.0, 0.0]);
    let memory = memory(&[f64::NAN, 3.0]);
    let error = kernel
        .evaluate(&memory.values, &memory.slots(&kernel), &mut [0.0; 2])
        .expect_err("an input is not a number");
    assert!(matches!(error.fault, Fault::Input { leaf, .. } if leaf == Leaf::var(VarId(0), 0)));
}

#[test]
fn the_branch_not_taken_may_be_undefined_in_value_and_derivatives() {
    let mut pool = pool(1);
    let x = pool.var(VarId(0));
    let zero = pool.real(0.0);
    let condition = pool.binary(BinaryFunction::Gt, x, zero);
    let root = pool.unary(UnaryFunction::Sqrt, x);
    let negated = pool.neg(x);
    let choice = pool.if_else(condition, root, negated);
    let kernel = native_kernel(
        &pool,
        &functions(),
        &KernelSpec::matrix(&[choice], 0..=2, &[Leaf::var(VarId(0), 0)]),
    );
    let mut memory = memory(&[-4.0]);
    memory.set(Leaf::var(VarId(0), 1), 3.0);
    let mut out = [0.0; 6];
    assert_eq!(
        kernel.evaluate(&memory.values, &memory.slots(&kernel), &mut out),
        Ok(())
    );
    assert_eq!(out, [4.0, -1.0, -3.0, 0.0, 0.0, 0.0]);
}

#[test]
fn powers_have_finite_derivatives_at_zero() {
    let mut pool = pool(2);
    let (x, n) = (pool.var(VarId(0)), pool.var(VarId(1)));
    let traits = saltus_mdae::expr::VarTraits {
        ty: saltus_mdae::Type::Integer,
        continuous: false,
    };
    pool.redeclare_variable(VarId(1), traits);
    let three = pool.real(3.0);
    for root in [pool.pow(x, three), pool.pow(x, n)] {
        let kernel = native_kernel(
            &pool,
            &functions(),
            &KernelSpec::matrix(&[root], 0..=4, &[Leaf::var(VarId(0), 0)]),
        );
        let mut memory = memory(&[0.0, 3.0]);
        for order in 1..6 {
            memory.set(Leaf::var(VarId(0), order), 1.0 + f64::from(order));
        }
        let mut out = [f64::NAN; 10];
        assert_eq!(
            kernel.evaluate(&memory.values, &memory.slots(&kernel), &mut out),
            Ok(())
        );
        // d³(x³)/dt³ = 6·x'³ at x = 0
        assert_eq!(out[6], 6.0 * 8.0);
        // ∂(d²(x³)/dt²)/∂x = 6·x'² at x = 0
        assert_eq!(out[..6], [0.0, 0.0, 0.0, 0.0, 0.0, 6.0 * 4.0]);
    }
}

#[test]
fn kernels_become_native_at_a_fixed_count_and_results_stay() {
    let mut pool = pool(1);
    let x = pool.var(VarId(0));
    let sine = pool.unary(UnaryFunction::Sin, x);
    let root = pool.mul(sine, x);
    let cache = KernelCache::new(functions());
    let kernel = cache.kernel(&pool, &KernelSpec::values(&[root])).expect("a kernel");
    let memory = memory(&[0.7]);
    let slots = memory.slots(&kernel);
    let mut out = [0.0];
    for evaluation in 1..=HOT_EVALUATIONS + 1 {
        kernel.evaluate(&memory.values, &slots, &mut out).expect("defined");
        assert_eq!(kernel.is_native(), evaluation >= HOT_EVALUATIONS);
        assert_eq!(out[0], 0.7f64.sin() * 0.7);
    }
}

#[test]
fn equations_of_the_same_shape_share_their_code_and_specifications_their_kernel() {
    let mut pool = pool(6);
    let cache = KernelCache::new(functions());
    let mut roots = Vec::new();
    for k in [0, 3] {
        let [a, b, c] = [k, k + 1, k + 2].map(|v| pool.var(VarId(v)));
        let product = pool.mul(a, b);
        roots.push(pool.add(product, c));
    }
    let mut builder = saltus_codegen::ProgramBuilder::new();
    for (row, &root) in roots.iter().enumerate() {
        let kernel = cache.kernel(&pool, &KernelSpec::values(&[root])).expect("a kernel");
        let slots = kernel.bind(|leaf| match leaf {
            Leaf::Var { var, .. } => Some(var.0),
            _ => None,
        });
        builder.push(&kernel, &slots.expect("all bound"), &[row as u32]);
    }
    let program = builder.finish();
    assert_eq!(program.shapes(), 1);
    let mut out = [0.0; 2];
    program
        .evaluate(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut out)
        .expect("defined");
    assert_eq!(out, [5.0, 26.0]);
}

#[test]
fn too_much_is_refused() {
    let mut pool = pool(1);
    let x = pool.var(VarId(0));
    let root = pool.unary(UnaryFunction::Sin, x);
    let cache = KernelCache::new(functions());
    let error = cache
        .kernel(&pool, &KernelSpec::total(root, 5000))
        .expect_err("too high an order");
    assert!(matches!(error, CompileError::TooLarge { order: 5000, .. }));
}

#[test]
fn kernels_can_be_shared_between_threads() {
    fn assert_shared<T: Send + Sync + Clone>() {}
    assert_shared::<saltus_codegen::Kernel>();
    assert_shared::<saltus_codegen::Program>();
}

#[test]
fn long_tapes_are_cut_into_segments() {
    // Every term is used again at the end, so values cross all cuts.
    let mut pool = pool(3);
    let (x, y) = (pool.var(VarId(0)), pool.var(VarId(1)));
    let mut sum = x;
    let mut sines = Vec::new();
    for k in 0..1500 {
        let factor = pool.real(1.0 + f64::from(k) * 1e-3);
        let scaled = pool.mul(factor, y);
        let (sine, cosine) = (
            pool.unary(UnaryFunction::Sin, scaled),
            pool.unary(UnaryFunction::Cos, scaled),
        );
        let product = pool.mul(sine, cosine);
        sum = pool.add(sum, product);
        sines.push(sine);
    }
    for sine in sines {
        let product = pool.mul(sine, x);
        sum = pool.sub(product, sum);
    }
    let kernel = native_kernel(
        &pool,
        &functions(),
        &KernelSpec::matrix(&[sum, x], 0..=1, &[Leaf::var(VarId(1), 0)]),
    );
    assert!(kernel.operations() > 10_000);
    let mut memory = memory(&[0.3, 1.1, 0.0]);
    memory.set(Leaf::var(VarId(0), 1), -0.5);
    memory.set(Leaf::var(VarId(1), 1), 0.8);
    let computed = memory.evaluate(&kernel);
    let derivative = {
        let derivative = pool.total_derivative(sum);
        saltus_mdae::eval::evaluate(&pool, &functions(), &[sum, derivative], &memory).expect("defined")
    };
    assert!((computed[0] - derivative[0]).abs() < 1e-9);
    assert!((computed[2] - derivative[1]).abs() < 1e-9 * derivative[1].abs().max(1.0));
}

#[test]
fn long_sums_are_translated_in_linear_time() {
    // Quadratic behaviour would take minutes.
    let n = 30_000;
    let mut pool = pool(n);
    let mut sum = pool.real(0.0);
    for k in 0..n {
        let x = pool.var(VarId(k));
        sum = pool.add(sum, x);
    }
    let cache = KernelCache::new(functions());
    let partials: Vec<Leaf> = (0..n).map(|k| Leaf::var(VarId(k), 1)).collect();
    let kernel = cache
        .kernel(&pool, &KernelSpec::matrix(&[sum], 1..=1, &partials))
        .expect("a kernel");
    assert_eq!(kernel.leaves().len(), n as usize);
    assert!((1..=n as usize).all(|k| kernel.constant_output(k) == Some(1.0)));
    let slots: Vec<u32> = (0..n).collect();
    let mut out = vec![0.0; n as usize + 1];
    kernel
        .evaluate(&vec![0.5; n as usize], &slots, &mut out)
        .expect("defined");
    assert_eq!(out[0], f64::from(n) * 0.5);
}
