//! Mode-change analysis of clutch chains: one clutch engaging between open neighbours, and all at once.
//!
//! Prints microseconds per analysis and the log-log slope over the length of the chain.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::sync::Arc;
use std::time::Instant;

use saltus_graph::Row;
use saltus_instant::*;
use saltus_mdae::eval::Environment;
use saltus_mdae::expr::VarTraits;
use saltus_mdae::function::Functions;
use saltus_mdae::{ConditionId, ExprId, ExprPool, Idx, OriginId, Type, VarId};
use saltus_structure::restart::*;

struct Chain {
    pool: Arc<ExprPool>,
    inertias: Vec<ExprId>,
    open: Vec<ExprId>,
    engaged: Vec<ExprId>,
}

/// J·w_i' = t_{i−1} − t_i with open (t_i = 0) or engaged (w_i = w_{i+1}) clutches.
fn chain(n: usize) -> Chain {
    let mut pool = ExprPool::new();
    let traits = VarTraits {
        ty: Type::Real,
        continuous: true,
    };
    let speeds: Vec<VarId> = (0..=n).map(|_| pool.declare_variable(traits)).collect();
    let torques: Vec<VarId> = (0..n).map(|_| pool.declare_variable(traits)).collect();
    let mut inertias = Vec::new();
    for (i, &speed) in speeds.iter().enumerate() {
        let inertia = pool.real(1.0 + (i % 7) as f64);
        let rate = pool.der_var(speed, 1);
        let mut sum = pool.mul(inertia, rate);
        if i > 0 {
            let torque = pool.var(torques[i - 1]);
            sum = pool.sub(sum, torque);
        }
        if i < n {
            let torque = pool.var(torques[i]);
            sum = pool.add(sum, torque);
        }
        inertias.push(sum);
    }
    let open = torques.iter().map(|&torque| pool.var(torque)).collect();
    let engaged = (0..n)
        .map(|i| {
            let (a, b) = (pool.var(speeds[i]), pool.var(speeds[i + 1]));
            pool.sub(a, b)
        })
        .collect();
    Chain {
        pool: Arc::new(pool),
        inertias,
        open,
        engaged,
    }
}

fn mode(chain: &Chain, is_engaged: impl Fn(usize) -> bool) -> ModeSystem {
    let clutches = (0..chain.open.len()).map(|i| if is_engaged(i) { chain.engaged[i] } else { chain.open[i] });
    let residuals = chain.inertias.iter().copied().chain(clutches);
    let equations = residuals.map(|residual| ModeEquation {
        residual,
        origin: OriginId(0),
    });
    ModeSystem::new(&chain.pool, equations.collect(), |_| true).expect("a regular mode")
}

struct Speeds;

impl Environment for Speeds {
    fn variable(&self, _: VarId, _: u16) -> f64 {
        f64::NAN
    }
    fn left_limit(&self, var: VarId, _: u16) -> f64 {
        (var.index() % 11) as f64
    }
    fn time(&self) -> f64 {
        0.0
    }
    fn condition(&self, _: ConditionId) -> bool {
        false
    }
}

/// Seconds of one analysis with the solution of its restart system, and the number of unknowns.
fn measure(chain: &Chain, previous: &ModeSystem, new: &ModeSystem, examined: Option<&[Row]>) -> (f64, usize) {
    let functions = Functions::new();
    let fixed = FixedTable::default();
    let options = RestartOptions::default();
    let change = ModeChange {
        before: Before::Mode(previous),
        new,
        zero_crossings: &[],
        restart_equations: &[],
        transient: None,
        jumped: &[],
        switched: &[],
        is_unknown: &|_| true,
        examined,
        options: &options,
    };
    let mut pool = ExprPool::fork(&chain.pool);
    let (start, on_processor) = (Instant::now(), time_on_processor());
    let mut facts = StructuralFacts::new(&functions, &fixed);
    let analysis = analyze_restart(&mut pool, &functions, &fixed, change, &mut facts);
    let plan = analysis.plan.as_ref().expect("a plan");
    let solution = solve_restart(&pool, &functions, plan, &Speeds, &fixed).expect("a solution");
    let elapsed = start.elapsed().as_secs_f64();
    let spent = time_on_processor().zip(on_processor).map(|(end, start)| end - start);
    // Other programs only ever add to the time that passes; the processor's clock is too coarse for short runs.
    let seconds = spent.filter(|&spent| spent > 0.02).unwrap_or(elapsed);
    assert!(analysis.is_good() && solution.residual < 1e-9);
    (seconds, analysis.unknowns.len())
}

/// Seconds this program has had the processor, where the system tells.
fn time_on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

fn best(repeats: usize, run: impl Fn() -> (f64, usize)) -> (f64, usize) {
    let results: Vec<(f64, usize)> = (0..repeats).map(|_| run()).collect();
    results
        .into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("a repeat")
}

fn report(what: &str, results: &[(usize, f64, usize)]) {
    for &(n, seconds, unknowns) in results {
        println!("{what:34} n = {n:6}: {:12.1} µs, {unknowns} unknowns", seconds * 1e6);
    }
    let (first, last) = (results[0], results[results.len() - 1]);
    let slope = (last.1 / first.1).ln() / (last.0 as f64 / first.0 as f64).ln();
    println!("{what:34} slope {slope:.2}");
}

fn main() {
    let (mut hinted, mut unhinted, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for n in [100, 1_000, 10_000] {
        let chain = chain(n);
        let previous = mode(&chain, |_| false);
        let middle = n / 2;
        let new = mode(&chain, |i| i == middle);
        let row = new.find(chain.engaged[middle]).expect("the engaged clutch");
        let (seconds, unknowns) = best(20, || measure(&chain, &previous, &new, Some(&[row])));
        hinted.push((n, seconds, unknowns));
        let (seconds, unknowns) = best(5, || measure(&chain, &previous, &new, None));
        unhinted.push((n, seconds, unknowns));
        let new = mode(&chain, |_| true);
        let (seconds, unknowns) = best(1, || measure(&chain, &previous, &new, None));
        all.push((n, seconds, unknowns));
    }
    report("one clutch, changed equation known", &hinted);
    report("one clutch", &unhinted);
    report("all clutches", &all);
}
