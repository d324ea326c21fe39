//! A function of the kind that media consist of (a sum of powers, as for water in IAPWS-IF97) with its first derivatives by
//! both arguments: as machine code, by the register machine, by nested duals, and written by hand in Rust.
//!
//! All are measured back to back; what carries over to other machines are the ratios.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use saltus_codegen::{KernelCache, KernelSpec, Leaf};
use saltus_mdae::expr::VarTraits;
use saltus_mdae::function::{Body, Function, FunctionExpr, Functions, Local, LocalId, Place, Statement};
use saltus_mdae::{BinaryFunction, ExprPool, FunctionId, OriginId, Type, VarId};

/// Terms of the sum.
const TERMS: usize = 34;

fn coefficients() -> Vec<[f64; 3]> {
    (0..TERMS)
        .map(|k| [1.0 / (k + 1) as f64, (k / 4) as f64, (k % 9) as f64 - 4.0])
        .collect()
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

/// `g := 0; for k in 1:34 loop g := g + n[k]*(7.1 - p)^i[k]*(t - 1.222)^j[k]; end for;` with the numbers of n, i and j
/// assigned first, as constants of functions are.
fn gibbs() -> Function {
    let (p, t, g, k, tables) = (0, 1, 2, 3, 4);
    let mut body = Vec::new();
    for (row, numbers) in coefficients().into_iter().enumerate() {
        for (table, number) in (tables..).zip(numbers) {
            let index = vec![FunctionExpr::Constant((row + 1) as f64)];
            body.push(Statement::Assign(place(table, index), FunctionExpr::Constant(number)));
        }
    }
    let at = |table: u32| FunctionExpr::Read(place(table, vec![read(k)]));
    let pressure = FunctionExpr::binary(BinaryFunction::Sub, FunctionExpr::Constant(7.1), read(p));
    let temperature = FunctionExpr::binary(BinaryFunction::Sub, read(t), FunctionExpr::Constant(1.222));
    let powers = FunctionExpr::binary(
        BinaryFunction::Mul,
        FunctionExpr::binary(BinaryFunction::Pow, pressure, at(tables + 1)),
        FunctionExpr::binary(BinaryFunction::Pow, temperature, at(tables + 2)),
    );
    let term = FunctionExpr::binary(BinaryFunction::Mul, at(tables), powers);
    body.push(Statement::For {
        counter: LocalId(k),
        from: FunctionExpr::Constant(1.0),
        step: FunctionExpr::Constant(1.0),
        to: FunctionExpr::Constant(TERMS as f64),
        body: vec![Statement::Assign(
            place(g, Vec::new()),
            FunctionExpr::binary(BinaryFunction::Add, read(g), term),
        )],
    });
    let real = |name: &str, dims: &[u32]| Local::new(name, Type::Real, dims.to_vec());
    let n = TERMS as u32;
    Function {
        name: "gibbs".into(),
        locals: vec![
            real("p", &[]),
            real("t", &[]),
            real("g", &[]),
            Local::new("k", Type::Integer, Vec::new()),
            real("n", &[n]),
            real("i", &[n]),
            real("j", &[n]),
        ],
        inputs: vec![LocalId(p), LocalId(t)],
        outputs: vec![LocalId(g)],
        body: Body::Algorithm(body),
        derivatives: Vec::new(),
        inverses: Vec::new(),
        texts: Arc::default(),
        origin: OriginId(0),
        compiled: Default::default(),
    }
}

/// The same by hand.
fn by_hand(p: f64, t: f64, table: &[[f64; 3]]) -> [f64; 3] {
    let (x, y) = (7.1 - p, t - 1.222);
    let mut sums = [0.0; 3];
    for &[n, i, j] in table {
        let (i, j) = (i as i32, j as i32);
        let (a, b) = (x.powi(i), y.powi(j));
        sums[0] += n * (a * b);
        if i != 0 {
            sums[1] -= n * (f64::from(i) * x.powi(i - 1) * b);
        }
        if j != 0 {
            sums[2] += n * (a * (f64::from(j) * y.powi(j - 1)));
        }
    }
    sums
}

/// Nanoseconds per call, the best of a few rounds.
fn measure(mut call: impl FnMut(f64, f64) -> f64) -> f64 {
    let calls = 2000;
    let mut best = f64::INFINITY;
    for round in 0..7 {
        let start = Instant::now();
        let mut sum = 0.0;
        for k in 0..calls {
            let part = f64::from(k + round * calls) * 1e-6;
            sum += call(2.0 + part, 1.4 + part);
        }
        black_box(sum);
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(calls));
    }
    best
}

fn main() {
    let functions: Arc<Functions> = Arc::new([gibbs()].into_iter().collect());
    let mut pool = ExprPool::new();
    for _ in 0..2 {
        pool.declare_variable(VarTraits {
            ty: Type::Real,
            continuous: true,
        });
    }
    let (p, t) = (pool.var(VarId(0)), pool.var(VarId(1)));
    let root = pool.call(FunctionId(0), 0, &[p, t]);
    let leaves = [Leaf::var(VarId(0), 0), Leaf::var(VarId(1), 0)];
    let spec = KernelSpec::matrix(&[root], 0..=0, &leaves);
    let cache = KernelCache::new(functions.clone());
    let kernel = cache.kernel(&pool, &spec).expect("a small kernel");
    cache.compile_all().expect("machine code");
    let slots = kernel
        .bind(|leaf| leaves.iter().position(|&known| known == leaf).map(|at| at as u32))
        .expect("two leaves");
    let table = coefficients();
    let mut out = [0.0; 3];
    kernel.evaluate_unchecked(&[2.0, 1.4], &slots, &mut out);
    let expected = by_hand(2.0, 1.4, &table);
    for (computed, expected) in out.iter().zip(expected) {
        assert!(
            (computed - expected).abs() <= 1e-12 * expected.abs(),
            "{computed} is not {expected}"
        );
    }
    let hand = measure(|p, t| by_hand(black_box(p), t, &table).iter().sum());
    let native = measure(|p, t| {
        kernel.evaluate_unchecked(&[p, t], &slots, &mut out);
        out.iter().sum()
    });
    let machine = measure(|p, t| {
        kernel.interpret(&[p, t], &slots, &mut out);
        out.iter().sum()
    });
    let duals = measure(|p, t| {
        let partial = |partials: &[u32]| functions.call(FunctionId(0), 0, partials, &[p, t]).unwrap_or(f64::NAN);
        partial(&[]) + partial(&[0]) + partial(&[1])
    });
    println!("a sum of {TERMS} powers with two derivatives: {native:.0} ns as machine code");
    println!("  {:.2} × by hand in Rust ({hand:.0} ns)", native / hand);
    println!("  {:.3} × by the register machine ({machine:.0} ns)", native / machine);
    println!(
        "  {:.3} × by nested duals, one call each ({duals:.0} ns)",
        native / duals
    );
}
