//! Residuals and sparse Jacobians of whole systems.

mod common;

use std::sync::Arc;

use common::{Memory, pool};
use saltus_codegen::{Fault, InstanceId, KernelCache, KernelSpec, Leaf, ProgramBuilder, System, SystemError};
use saltus_mdae::eval::evaluate;
use saltus_mdae::function::Functions;
use saltus_mdae::{ExprId, ExprPool, UnaryFunction, VarId};

/// A chain x_{k−1}·sin(x_k) + x_{k+1} − x_k' with ends.
fn chain(pool: &mut ExprPool, n: u32) -> Vec<ExprId> {
    let x: Vec<ExprId> = (0..n).map(|k| pool.var(VarId(k))).collect();
    let mut equations = Vec::new();
    for k in 0..n as usize {
        let sine = pool.unary(UnaryFunction::Sin, x[k]);
        let mut sum = match k.checked_sub(1) {
            Some(before) => pool.mul(x[before], sine),
            None => sine,
        };
        if k + 1 < n as usize {
            sum = pool.add(sum, x[k + 1]);
        }
        let velocity = pool.der_var(VarId(k as u32), 1);
        equations.push(pool.sub(sum, velocity));
    }
    equations
}

#[test]
fn residual_and_jacobian_of_differentiated_equations() {
    let n = 7;
    let mut pool = pool(n);
    let roots = chain(&mut pool, n);
    let functions = Arc::new(Functions::default());
    let mut memory = Memory::new(n);
    for k in 0..n {
        for order in 0..4 {
            memory.set(
                Leaf::var(VarId(k), order),
                0.3 + 0.1 * f64::from(k) - 0.2 * f64::from(order),
            );
        }
    }
    // Every second equation once differentiated; unknowns are the first derivatives.
    let equations: Vec<(ExprId, u16)> = roots
        .iter()
        .enumerate()
        .map(|(k, &root)| (root, k as u16 % 2))
        .collect();
    let unknowns: Vec<Leaf> = (0..n).rev().map(|k| Leaf::var(VarId(k), 1)).collect();
    let cache = KernelCache::new(functions.clone());
    let system = System::build(&cache, &pool, &equations, &unknowns, |leaf| Some(memory.slot(leaf))).expect("a system");
    let mut residual = vec![f64::NAN; n as usize];
    let mut jacobian = vec![f64::NAN; system.row_indices.len()];
    for native in [false, true] {
        if native {
            cache.compile_all().expect("machine code");
        }
        system
            .residual
            .evaluate(&memory.values, &mut residual)
            .expect("defined");
        system
            .jacobian
            .evaluate(&memory.values, &mut jacobian)
            .expect("defined");
        let mut nonzero = 0;
        for (row, &(root, order)) in equations.iter().enumerate() {
            let derivative = pool.nth_total_derivative(root, order);
            let value = evaluate(&pool, &functions, &[derivative], &memory).expect("defined")[0];
            assert!((value - residual[row]).abs() < 1e-14);
            for (column, &unknown) in unknowns.iter().enumerate() {
                let Leaf::Var { var, order } = unknown else { continue };
                let partial = pool.partial_derivative(derivative, var, order);
                let expected = evaluate(&pool, &functions, &[partial], &memory).expect("defined")[0];
                let range = system.column_starts[column]..system.column_starts[column + 1];
                assert!(system.row_indices[range.clone()].is_sorted());
                let place = range.clone().find(|&place| system.row_indices[place] == row);
                assert_eq!(place.is_none(), pool.is_zero(partial));
                let found = place.map_or(0.0, |place| jacobian[place]);
                assert!(
                    (found - expected).abs() < 1e-14,
                    "{row}, {column}: {found} instead of {expected}"
                );
                nonzero += usize::from(place.is_some());
            }
        }
        assert_eq!(nonzero, system.row_indices.len());
    }
    // Interior equations share their code.
    assert!(system.residual.shapes() < n as usize);
}

#[test]
fn failures_name_the_equation() {
    let mut pool = pool(3);
    let roots: Vec<(ExprId, u16)> = (0..3)
        .map(|k| {
            let x = pool.var(VarId(k));
            (pool.unary(UnaryFunction::Log, x), 0)
        })
        .collect();
    let cache = KernelCache::new(Arc::new(Functions::default()));
    let unknowns = [Leaf::var(VarId(0), 0)];
    let slot = |leaf| match leaf {
        Leaf::Var { var, order: 0 } => Some(var.0),
        _ => None,
    };
    let system = System::build(&cache, &pool, &roots, &unknowns, slot).expect("a system");
    let mut out = [0.0; 3];
    let error = system
        .residual
        .evaluate(&[1.0, -2.0, -3.0], &mut out)
        .expect_err("log of a negative number");
    assert_eq!(error.instance, InstanceId(1));
    assert!(
        matches!(error.error.fault, Fault::Operation { operation: "log", ref operands, .. } if operands == &[-2.0])
    );
    assert!(error.to_string().contains("log(-2)"));
    let unbound = System::build(&cache, &pool, &[(roots[0].0, 1)], &unknowns, slot).expect_err("x' has no slot");
    assert_eq!(unbound, SystemError::Unbound(Leaf::var(VarId(0), 1)));
}

#[test]
fn instances_with_constant_strides_are_bit_identical_to_single_ones() {
    // Strides 1, 2, −1 and 0, an odd number of instances, several outputs.
    let n = 131;
    let mut pool = pool(2 * n + 2);
    let cache = KernelCache::new(Arc::new(Functions::default()));
    let parameter = pool.var(VarId(2 * n + 1));
    let mut builder = ProgramBuilder::new();
    let mut kernels = Vec::new();
    for k in 0..n {
        let [a, b, c] = [k, 2 * k, 2 * n - k].map(|v| pool.var(VarId(v)));
        let size = pool.unary(UnaryFunction::Abs, a);
        let root = pool.unary(UnaryFunction::Sqrt, size);
        let product = pool.mul(root, parameter);
        let ratio = pool.div(b, c);
        let negated = pool.neg(a);
        let difference = pool.sub(product, ratio);
        let sum = pool.mul(difference, negated);
        let third = pool.real(1.0 / 3.0);
        let expression = pool.add(sum, third);
        let partials = [Leaf::var(VarId(k), 0), Leaf::var(VarId(2 * n - k), 0)];
        // At k = 0 the three variables are not all different.
        let kernel = cache
            .kernel(&pool, &KernelSpec::matrix(&[expression], 0..=0, &partials))
            .expect("a kernel");
        let slots = kernel.bind(|leaf| match leaf {
            Leaf::Var { var, order: 0 } => Some(var.0),
            _ => None,
        });
        let slots = slots.expect("all bound");
        builder.push(&kernel, &slots, &[k, n + 2 * k, n + 2 * k + 1]);
        kernels.push((kernel, slots));
    }
    let program = builder.finish();
    assert!(program.shapes() < 5);
    let values: Vec<f64> = (0..2 * n + 2).map(|k| (f64::from(k) * 0.7).sin() + 0.01).collect();
    let mut expected = vec![0.0; 3 * n as usize];
    for (k, (kernel, slots)) in kernels.iter().enumerate() {
        let mut out = [0.0; 3];
        kernel.interpret(&values, slots, &mut out);
        expected[k] = out[0];
        expected[n as usize + 2 * k..n as usize + 2 * k + 2].copy_from_slice(&out[1..]);
    }
    for native in [false, true] {
        if native {
            cache.compile_all().expect("machine code");
        }
        let mut out = vec![f64::NAN; 3 * n as usize];
        program.evaluate(&values, &mut out).expect("defined");
        for (found, expected) in out.iter().zip(&expected) {
            assert_eq!(found.to_bits(), expected.to_bits());
        }
    }
}

#[test]
fn newton_steps_by_code_solve_the_linearised_equations() {
    let mut with_code = 0;
    for n in 1..=9u32 {
        let mut pool = pool(n + 1);
        let x: Vec<ExprId> = (0..n).map(|k| pool.var(VarId(k))).collect();
        let parameter = pool.var(VarId(n));
        // A ring of equations with a constant entry each, and one that is nonlinear in two unknowns.
        let mut equations = Vec::new();
        for k in 0..n as usize {
            let next = x[(k + 1) % n as usize];
            let product = pool.mul(parameter, next);
            let sine = pool.unary(UnaryFunction::Sin, x[k]);
            let residual = match k {
                0 => {
                    let both = pool.mul(sine, next);
                    pool.add(both, product)
                }
                _ => pool.sub(x[k], product),
            };
            equations.push((residual, 0));
        }
        let unknowns: Vec<Leaf> = (0..n).rev().map(|k| Leaf::var(VarId(k), 0)).collect();
        let mut memory = Memory::new(n + 1);
        for k in 0..=n {
            memory.set(Leaf::var(VarId(k), 0), 0.7 + 0.3 * f64::from(k * k % 5));
        }
        let cache = KernelCache::new(Arc::new(Functions::default()));
        let system =
            System::build(&cache, &pool, &equations, &unknowns, |leaf| Some(memory.slot(leaf))).expect("a system");
        let size = n as usize;
        let mut together = vec![f64::NAN; size + system.row_indices.len()];
        let program = system.together.as_ref().expect("a small system");
        program.evaluate(&memory.values, &mut together).expect("defined");
        let (residual, jacobian) = together.split_at(size);
        let mut apart = vec![f64::NAN; size];
        system.residual.evaluate(&memory.values, &mut apart).expect("defined");
        assert_eq!(apart, residual);
        let Some(steps) = &system.steps else { continue };
        with_code += 1;
        let mut found = vec![f64::NAN; size + 1];
        steps.evaluate(&memory.values, &mut found).expect("defined");
        assert!(found[size] > 1e-6 && found[size] <= 1.0, "{found:?}");
        let mut sum = residual.to_vec();
        for (column, step) in found[..size].iter().enumerate() {
            for place in system.column_starts[column]..system.column_starts[column + 1] {
                sum[system.row_indices[place]] += jacobian[place] * step;
            }
        }
        assert!(sum.iter().all(|left| left.abs() < 1e-12), "{n}: {sum:?}");
        cache.compile_all().expect("machine code");
        let mut native = vec![f64::NAN; size + 1];
        steps.evaluate(&memory.values, &mut native).expect("defined");
        assert_eq!(native, found);
    }
    assert_eq!(with_code, 9);
}

#[test]
fn singular_systems_have_newton_steps_of_no_quality() {
    // x + y = 1 and p·x + p·y = 2: the elimination of x leaves p − p.
    let mut pool = pool(3);
    let (x, y, p) = (pool.var(VarId(0)), pool.var(VarId(1)), pool.var(VarId(2)));
    let sum = pool.add(x, y);
    let (one, two) = (pool.real(1.0), pool.real(2.0));
    let first = pool.sub(sum, one);
    let (left, right) = (pool.mul(p, x), pool.mul(p, y));
    let scaled = pool.add(left, right);
    let second = pool.sub(scaled, two);
    let unknowns = [Leaf::var(VarId(0), 0), Leaf::var(VarId(1), 0)];
    let slot = |leaf| match leaf {
        Leaf::Var { var, order: 0 } => Some(var.0),
        _ => None,
    };
    let cache = KernelCache::new(Arc::new(Functions::default()));
    let system = System::build(&cache, &pool, &[(first, 0), (second, 0)], &unknowns, slot).expect("a system");
    if let Some(steps) = &system.steps {
        let mut found = [0.0; 3];
        steps.evaluate_unchecked(&[0.5, 0.5, 3.0], &mut found);
        assert!(
            found[2] <= 1e-9 || found.iter().any(|number| !number.is_finite()),
            "{found:?}"
        );
    }
}
