//! Residuals and Jacobians of systems of 2000 equations against the same written by hand in Rust.
//!
//! Each pair is measured back to back; what carries over to other machines is the ratio.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use saltus_codegen::{KernelCache, KernelSpec, Leaf, System};
use saltus_mdae::expr::VarTraits;
use saltus_mdae::function::Functions;
use saltus_mdae::{ExprId, ExprPool, Type, UnaryFunction, VarId};

/// A system with its hand-written twin. Variable `k` has its value at slot `k`, its derivative at `variables + k`.
struct Case {
    name: &'static str,
    pool: ExprPool,
    variables: usize,
    equations: Vec<ExprId>,
    unknowns: Vec<Leaf>,
    residual: fn(&[f64], &mut [f64]),
    jacobian: fn(&[f64], &mut [f64]),
}

fn pool(states: usize, parameters: usize) -> ExprPool {
    let mut pool = ExprPool::new();
    for k in 0..states + parameters {
        pool.declare_variable(VarTraits {
            ty: Type::Real,
            continuous: k < states,
        });
    }
    pool
}

const N: usize = 2000;

/// C·v_k' = (v_{k−1} − v_k)/R − (v_k − v_{k+1})/R, with a source at one end.
fn ladder() -> Case {
    let mut pool = pool(N, 3);
    let v: Vec<ExprId> = (0..N).map(|k| pool.var(VarId(k as u32))).collect();
    let [r, c, source] = [N, N + 1, N + 2].map(|k| pool.var(VarId(k as u32)));
    let mut equations = Vec::new();
    for k in 0..N {
        let before = if k == 0 { source } else { v[k - 1] };
        let difference = pool.sub(before, v[k]);
        let mut current = pool.div(difference, r);
        if k + 1 < N {
            let difference = pool.sub(v[k], v[k + 1]);
            let out = pool.div(difference, r);
            current = pool.sub(current, out);
        }
        let rate = pool.der_var(VarId(k as u32), 1);
        let charge = pool.mul(c, rate);
        equations.push(pool.sub(charge, current));
    }
    Case {
        name: "RC ladder",
        pool,
        variables: N + 3,
        equations,
        unknowns: (0..N as u32).map(|k| Leaf::var(VarId(k), 0)).collect(),
        residual: |values, out| {
            let (v, rate) = (&values[..N], &values[N + 3..2 * N + 3]);
            let (r, c, source) = (values[N], values[N + 1], values[N + 2]);
            out[0] = c * rate[0] - ((source - v[0]) / r - (v[0] - v[1]) / r);
            for k in 1..N - 1 {
                out[k] = c * rate[k] - ((v[k - 1] - v[k]) / r - (v[k] - v[k + 1]) / r);
            }
            out[N - 1] = c * rate[N - 1] - (v[N - 2] - v[N - 1]) / r;
        },
        jacobian: |values, out| {
            // Compressed columns: (0,0) (1,0) | (0,1) (1,1) (2,1) | …
            let r = values[N];
            let mut place = 0;
            for column in 0..N {
                if column > 0 {
                    out[place] = -1.0 / r;
                    place += 1;
                }
                out[place] = if column + 1 < N { 1.0 / r + 1.0 / r } else { 1.0 / r };
                out[place + 1 - usize::from(column + 1 == N)] = if column + 1 < N { -1.0 / r } else { out[place] };
                place += 1 + usize::from(column + 1 < N);
            }
        },
    }
}

/// Pendula coupled by springs: θ_k' = ω_k, m·ω_k' = −g·sin θ_k + K·sin(θ_{k+1} − θ_k) − K·sin(θ_k − θ_{k−1}).
fn pendula() -> Case {
    const M: usize = N / 2;
    let mut pool = pool(N, 3);
    let x: Vec<ExprId> = (0..N).map(|k| pool.var(VarId(k as u32))).collect();
    let [mass, g, stiffness] = [N, N + 1, N + 2].map(|k| pool.var(VarId(k as u32)));
    let mut equations = Vec::new();
    let coupling = |pool: &mut ExprPool, a: ExprId, b: ExprId| {
        let difference = pool.sub(a, b);
        let sine = pool.unary(UnaryFunction::Sin, difference);
        pool.mul(stiffness, sine)
    };
    for k in 0..M {
        let rate = pool.der_var(VarId(k as u32), 1);
        equations.push(pool.sub(rate, x[M + k]));
        let rate = pool.der_var(VarId((M + k) as u32), 1);
        let inertia = pool.mul(mass, rate);
        let sine = pool.unary(UnaryFunction::Sin, x[k]);
        let weight = pool.mul(g, sine);
        let mut sum = pool.add(inertia, weight);
        if k + 1 < M {
            let force = coupling(&mut pool, x[k + 1], x[k]);
            sum = pool.sub(sum, force);
        }
        if k > 0 {
            let force = coupling(&mut pool, x[k], x[k - 1]);
            sum = pool.add(sum, force);
        }
        equations.push(sum);
    }
    Case {
        name: "pendulum chain",
        pool,
        variables: N + 3,
        equations,
        unknowns: (0..N as u32).map(|k| Leaf::var(VarId(k), 0)).collect(),
        residual: |values, out| {
            let (x, rate) = (&values[..N], &values[N + 3..2 * N + 3]);
            let (mass, g, stiffness) = (values[N], values[N + 1], values[N + 2]);
            for k in 0..M {
                out[2 * k] = rate[k] - x[M + k];
                let mut sum = mass * rate[M + k] + g * x[k].sin();
                if k + 1 < M {
                    sum -= stiffness * (x[k + 1] - x[k]).sin();
                }
                if k > 0 {
                    sum += stiffness * (x[k] - x[k - 1]).sin();
                }
                out[2 * k + 1] = sum;
            }
        },
        jacobian: |values, out| {
            // Columns of θ: neighbours before, own, after; columns of ω: −1.
            let x = &values[..N];
            let (g, stiffness) = (values[N + 1], values[N + 2]);
            let mut place = 0;
            for k in 0..M {
                let before = if k > 0 {
                    stiffness * (x[k] - x[k - 1]).cos()
                } else {
                    0.0
                };
                let after = if k + 1 < M {
                    stiffness * (x[k + 1] - x[k]).cos()
                } else {
                    0.0
                };
                if k > 0 {
                    out[place] = -before;
                    place += 1;
                }
                out[place] = g * x[k].cos() + before + after;
                place += 1;
                if k + 1 < M {
                    out[place] = -after;
                    place += 1;
                }
            }
            for _ in 0..M {
                out[place] = -1.0;
                place += 1;
            }
        },
    }
}

/// Best time of several rounds, in nanoseconds per call.
fn time(mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..60 {
        let start = Instant::now();
        for _ in 0..20 {
            f();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / 20.0);
    }
    best
}

fn compare(case: &Case) {
    let functions = Arc::new(Functions::default());
    let start = Instant::now();
    let cache = KernelCache::new(functions);
    let variables = case.variables as u32;
    let slot = |leaf| match leaf {
        Leaf::Var { var, order } => Some(var.0 + u32::from(order) * variables),
        _ => None,
    };
    let equations: Vec<(ExprId, u16)> = case.equations.iter().map(|&e| (e, 0)).collect();
    let system = System::build(&cache, &case.pool, &equations, &case.unknowns, slot).expect("a system");
    let built = start.elapsed();
    let values: Vec<f64> = (0..2 * case.variables).map(|k| 1.0 + (k as f64 * 0.37).sin()).collect();
    let mut out = vec![0.0; N];
    let mut by_hand = vec![0.0; N];
    let mut interpreted = 0.0;
    // One evaluation by the register machine, before anything is hot.
    let start = Instant::now();
    system.residual.evaluate_unchecked(&values, &mut out);
    interpreted += start.elapsed().as_nanos() as f64;
    let start = Instant::now();
    cache.compile_all().expect("machine code");
    let compiled = start.elapsed();
    let entries = system.row_indices.len();
    let (mut numbers, mut numbers_by_hand) = (vec![0.0; entries], vec![0.0; entries]);
    system.residual.evaluate(&values, &mut out).expect("defined");
    system.jacobian.evaluate(&values, &mut numbers).expect("defined");
    (case.residual)(&values, &mut by_hand);
    (case.jacobian)(&values, &mut numbers_by_hand);
    assert!(out.iter().zip(&by_hand).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(numbers.iter().zip(&numbers_by_hand).all(|(a, b)| (a - b).abs() < 1e-12));
    let hand = time(|| (case.residual)(black_box(&values), black_box(&mut by_hand)));
    let ours = time(|| {
        system
            .residual
            .evaluate_unchecked(black_box(&values), black_box(&mut out))
    });
    let checked = time(|| {
        system
            .residual
            .evaluate(black_box(&values), black_box(&mut out))
            .expect("defined")
    });
    println!(
        "{:15} residual: {:.2} × hand-written ({:.2} with checks); {:.0} ns against {:.0} ns",
        case.name,
        ours / hand,
        checked / hand,
        ours,
        hand
    );
    let hand = time(|| (case.jacobian)(black_box(&values), black_box(&mut numbers_by_hand)));
    let ours = time(|| {
        system
            .jacobian
            .evaluate_unchecked(black_box(&values), black_box(&mut numbers))
    });
    println!(
        "{:15} Jacobian: {:.2} × hand-written; {:.0} ns against {:.0} ns",
        case.name,
        ours / hand,
        ours,
        hand
    );
    println!(
        "{:15} {} + {} shapes; built in {:.2} ms, compiled in {:.2} ms; first evaluation {:.0} ns",
        case.name,
        system.residual.shapes(),
        system.jacobian.shapes(),
        built.as_secs_f64() * 1e3,
        compiled.as_secs_f64() * 1e3,
        interpreted
    );
}

/// Many kernels of different shapes: what compiling and calling one by one costs.
fn single_kernels() {
    let mut pool = pool(4, 0);
    let x: Vec<ExprId> = (0..4).map(|k| pool.var(VarId(k))).collect();
    let mut roots = Vec::new();
    for k in 0..500 {
        let factor = pool.real(f64::from(k) + 0.5);
        let product = pool.mul(factor, x[k as usize % 4]);
        let sum = pool.add(product, x[(k as usize + 1) % 4]);
        let square = pool.mul(sum, x[(k as usize + 2) % 4]);
        roots.push(pool.sub(square, x[(k as usize + 3) % 4]));
    }
    let cache = KernelCache::new(Arc::new(Functions::default()));
    let partials: Vec<Leaf> = (0..4).map(|k| Leaf::var(VarId(k), 0)).collect();
    let start = Instant::now();
    let kernels: Vec<_> = roots
        .iter()
        .map(|&root| {
            cache
                .kernel(&pool, &KernelSpec::matrix(&[root], 0..=1, &partials))
                .expect("a kernel")
        })
        .collect();
    let built = start.elapsed().as_secs_f64() * 1e6 / kernels.len() as f64;
    let values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
    let slots = kernels[0]
        .bind(|leaf| match leaf {
            Leaf::Var { var, order } => Some(var.0 + 4 * u32::from(order)),
            _ => None,
        })
        .expect("bound");
    let mut out = [0.0; 10];
    let interpreted = time(|| kernels[0].interpret(black_box(&values), &slots, black_box(&mut out)));
    let start = Instant::now();
    cache.compile_all().expect("machine code");
    let compiled = start.elapsed().as_secs_f64() * 1e6 / kernels.len() as f64;
    let native = time(|| {
        kernels[0]
            .evaluate(black_box(&values), &slots, black_box(&mut out))
            .expect("defined")
    });
    println!(
        "kernels of {} operations: translated in {built:.1} µs, compiled in {compiled:.1} µs each; a call {native:.1} ns (register machine {interpreted:.0} ns)",
        kernels[0].operations()
    );
}

/// What a process pays before its first results: ten kernels by the register machine, then machine code for them.
fn start_up() {
    let start = Instant::now();
    let mut pool = pool(10, 0);
    let cache = KernelCache::new(Arc::new(Functions::default()));
    let mut kernels = Vec::new();
    for k in 0..10 {
        let (x, y) = (pool.var(VarId(k)), pool.var(VarId((k + 1) % 10)));
        let mut sum = pool.mul(x, y);
        for _ in 0..k {
            let sine = pool.unary(UnaryFunction::Sin, sum);
            sum = pool.add(sine, x);
        }
        let partials = [Leaf::var(VarId(k), 0), Leaf::var(VarId((k + 1) % 10), 0)];
        let spec = KernelSpec::matrix(&[sum], 0..=1, &partials);
        kernels.push(cache.kernel(&pool, &spec).expect("a kernel"));
    }
    let mut out = [0.0; 6];
    let slot = |leaf| match leaf {
        Leaf::Var { var, order } => Some(var.0 + 10 * u32::from(order)),
        _ => None,
    };
    let slots: Vec<Vec<u32>> = kernels.iter().map(|kernel| kernel.bind(slot).expect("bound")).collect();
    for (kernel, slots) in kernels.iter().zip(&slots) {
        kernel.evaluate(&[0.3; 20], slots, &mut out).expect("defined");
    }
    let first = start.elapsed().as_secs_f64() * 1e3;
    cache.compile_all().expect("machine code");
    let native = start.elapsed().as_secs_f64() * 1e3;
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = memory
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or("VmHWM: unknown");
    println!("start-up: ten kernels evaluated after {first:.2} ms, native after {native:.2} ms; {peak}");
}

fn main() {
    start_up();
    compare(&ladder());
    compare(&pendula());
    single_kernels();
}
