//! Work and accuracy of every integrator on standard problems, and the cost of restarts and factorisations.
//!
//! Times are printed relative to the first method of a problem: ratios carry over between machines.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use saltus_numerics::EvalError;
use saltus_numerics::linalg::{FactorKind, SparseLu, SparsityPattern};
use saltus_numerics::ode::{IntegratorOptions, JacobianSource, Method, OdeSystem, Start, new_integrator};
use std::time::Instant;

/// From a state to values: the right-hand side, or the Jacobian.
type Function = fn(&[f64], &mut [f64]);

struct Problem {
    name: &'static str,
    y: Vec<f64>,
    end: f64,
    atol: f64,
    pattern: Option<SparsityPattern>,
    f: Function,
    jacobian: Option<Function>,
    methods: &'static [Method],
}

impl OdeSystem for Problem {
    fn dim(&self) -> usize {
        self.y.len()
    }
    fn rhs(&mut self, _t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError> {
        (self.f)(y, dy);
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        self.pattern.as_ref()
    }
    fn jacobian_source(&self) -> JacobianSource {
        if self.jacobian.is_some() {
            JacobianSource::Values
        } else {
            JacobianSource::Differences
        }
    }
    fn jacobian(&mut self, _t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        if let Some(jacobian) = self.jacobian {
            jacobian(y, values);
        }
        Ok(())
    }
}

fn tridiagonal(n: usize) -> SparsityPattern {
    let entries = (0..n).flat_map(|c: usize| (c.saturating_sub(1)..(c + 2).min(n)).map(move |r| (r, c)));
    SparsityPattern::from_entries(n, n, entries)
}

const ALL: &[Method] = &[Method::Bdf, Method::Esdirk43, Method::Radau, Method::Auto];
const SMOOTH: &[Method] = &[
    Method::Tsit45,
    Method::Dop853,
    Method::Bdf,
    Method::Esdirk43,
    Method::Radau,
    Method::Auto,
];

fn problems() -> Vec<Problem> {
    let ladder = |n: usize| Problem {
        name: if n > 5000 { "RC ladder 10000" } else { "RC ladder 2000" },
        y: vec![0.0; n],
        end: 1e3,
        atol: 1e-6,
        pattern: Some(tridiagonal(n)),
        // A ladder of unit resistors and capacitors with diodes to ground, driven by one volt.
        f: |y, dy| {
            let n = y.len();
            for i in 0..n {
                let left = if i > 0 { y[i - 1] } else { 1.0 };
                let right = if i + 1 < n { y[i + 1] } else { y[i] };
                dy[i] = left - 2.0 * y[i] + right - 1e-3 * (y[i].exp() - 1.0);
            }
        },
        jacobian: Some(|y, values| {
            let n = y.len();
            let mut k = 0;
            for (c, y) in y.iter().enumerate() {
                if c > 0 {
                    values[k] = 1.0;
                    k += 1;
                }
                values[k] = if c + 1 < n { -2.0 } else { -1.0 } - 1e-3 * y.exp();
                k += 1;
                if c + 1 < n {
                    values[k] = 1.0;
                    k += 1;
                }
            }
        }),
        methods: ALL,
    };
    vec![
        Problem {
            name: "Robertson",
            y: vec![1.0, 0.0, 0.0],
            end: 4e4,
            atol: 1e-10,
            pattern: None,
            f: |y, dy| {
                dy[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
                dy[2] = 3e7 * y[1] * y[1];
                dy[1] = -dy[0] - dy[2];
            },
            jacobian: Some(|y, v| {
                let (a, b) = (1e4 * y[2], 1e4 * y[1]);
                let c = 6e7 * y[1];
                v.copy_from_slice(&[-0.04, 0.04, 0.0, a, -a - c, c, b, -b, 0.0]);
            }),
            methods: ALL,
        },
        Problem {
            name: "van der Pol 1000",
            y: vec![2.0, 0.0],
            end: 2000.0,
            atol: 1e-6,
            pattern: None,
            f: |y, dy| {
                dy[0] = y[1];
                dy[1] = 1000.0 * (1.0 - y[0] * y[0]) * y[1] - y[0];
            },
            jacobian: Some(|y, v| {
                v.copy_from_slice(&[0.0, -2000.0 * y[0] * y[1] - 1.0, 1.0, 1000.0 * (1.0 - y[0] * y[0])]);
            }),
            methods: ALL,
        },
        Problem {
            name: "pendulum, 20 periods",
            y: vec![1.0, 0.0],
            end: 43.0,
            atol: 1.0,
            pattern: None,
            f: |y, dy| {
                dy[0] = y[1];
                dy[1] = -9.81 * y[0].sin();
            },
            jacobian: Some(|y, v| v.copy_from_slice(&[0.0, -9.81 * y[0].cos(), 1.0, 0.0])),
            methods: SMOOTH,
        },
        ladder(2000),
        ladder(10_000),
    ]
}

struct Outcome {
    seconds: f64,
    state: Vec<f64>,
    counters: saltus_numerics::ode::Counters,
}

fn run(problem: &mut Problem, method: Method, rtol: f64) -> Option<Outcome> {
    let y = problem.y.clone();
    let end = problem.end;
    let begin = Instant::now();
    let mut integrator = new_integrator(method, IntegratorOptions::new(rtol, rtol * problem.atol)).ok()?;
    integrator.restart(problem, &Start::at(0.0, &y)).ok()?;
    while integrator.time() < end {
        integrator.step(problem, end).ok()?;
    }
    Some(Outcome {
        seconds: begin.elapsed().as_secs_f64(),
        state: integrator.state().to_vec(),
        counters: integrator.counters(),
    })
}

fn compare(problem: &mut Problem) {
    let reference_tolerance = if problem.dim() > 100 { 1e-9 } else { 1e-12 };
    let Some(reference) = run(problem, Method::Radau, reference_tolerance) else {
        println!("{}: no reference", problem.name);
        return;
    };
    println!("{}", problem.name);
    for rtol in [1e-4, 1e-6, 1e-8] {
        let mut base = None;
        for &method in problem.methods {
            let _ = run(problem, method, rtol);
            let Some(o) = run(problem, method, rtol) else {
                println!("  {method:9} rtol {rtol:e}: failed");
                continue;
            };
            let scaled = o.state.iter().zip(&reference.state);
            let error = scaled
                .map(|(a, b)| (a - b).abs() / (b.abs() + problem.atol))
                .fold(0.0, f64::max);
            let base = *base.get_or_insert(o.seconds);
            let c = o.counters;
            println!(
                "  {method:9} rtol {rtol:e}: ratio {:5.2}, error/rtol {:9.2e}, steps {:5} (-{}), f {:6}, J {:4}, LU {:4}, {:.3} ms",
                o.seconds / base,
                error / rtol,
                c.steps,
                c.rejected,
                c.rhs,
                c.jacobians,
                c.factorisations,
                o.seconds * 1e3
            );
        }
    }
}

/// A restart every few steps, as events cause it.
fn restarts(problem: &mut Problem) {
    println!("1000 restarts with one step each, {}", problem.name);
    let y = problem.y.clone();
    for &method in problem.methods {
        let Ok(mut integrator) = new_integrator(method, IntegratorOptions::new(1e-6, 1e-6 * problem.atol)) else {
            continue;
        };
        let mut once = |keep: bool| -> Option<()> {
            let mut start = Start::at(0.0, &y).with_step(1e-5);
            start.keep_jacobian = keep;
            integrator.restart(problem, &start).ok()?;
            integrator.step(problem, f64::INFINITY).ok()?;
            Some(())
        };
        let _ = once(false);
        let begin = Instant::now();
        for _ in 0..1000 {
            let _ = once(true);
        }
        println!("  {method:9} {:.2} µs each", begin.elapsed().as_secs_f64() * 1e3);
    }
}

/// First factorisation against refactorisation on a grid.
fn factorisations() {
    let side = 60;
    let n = side * side;
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i));
        if i % side + 1 < side {
            entries.extend([(i, i + 1), (i + 1, i)]);
        }
        if i + side < n {
            entries.extend([(i, i + side), (i + side, i)]);
        }
    }
    let pattern = SparsityPattern::from_entries(n, n, entries);
    let values = |d: f64| -> Vec<f64> { pattern.entries().map(|(r, c)| if r == c { d } else { -1.0 }).collect() };
    let begin = Instant::now();
    let mut lu = SparseLu::new(pattern.clone());
    let ordering = begin.elapsed();
    let begin = Instant::now();
    let _ = lu.factor(&values(4.1));
    let full = begin.elapsed();
    let begin = Instant::now();
    let kind = lu.factor(&values(5.0));
    let again = begin.elapsed();
    println!(
        "grid {side}×{side}: ordering {ordering:?}, factorisation {full:?}, refactorisation {again:?} (ratio {:.2}, {}), fill {}",
        again.as_secs_f64() / full.as_secs_f64(),
        if kind == Ok(FactorKind::Refactored) {
            "pivots kept"
        } else {
            "pivots changed"
        },
        lu.fill()
    );
}

fn main() {
    for mut problem in problems() {
        compare(&mut problem);
    }
    for mut problem in problems().into_iter().take(3) {
        restarts(&mut problem);
    }
    factorisations();
}
