//! Random linear modes: a restart that is called good agrees with the consistency projector, which knows nothing of
//! structure (RR-9603, appendix F).

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

mod restart_support;

use restart_support::Equations;
use restart_support::case::{Built, Case, Disguise};
use saltus_graph::Row;
use saltus_instant::*;
use saltus_mdae::{Derivative, VarId};
use saltus_structure::restart::*;
use saltus_testing::Random;

fn equation(random: &mut Random, variables: usize) -> String {
    let mut chosen: Vec<usize> = (0..variables).collect();
    random.shuffle(&mut chosen);
    chosen.truncate(1 + random.below(variables.min(3)));
    let orders = [0, 0, 0, 1, 1, 1, 1, 2];
    let term = |random: &mut Random, x: usize| {
        let (factor, order) = (random.between(0.5, 2.0), orders[random.below(orders.len())]);
        let sign = if random.below(2) == 0 { "" } else { "-" };
        format!("{sign}{factor:.3}*z{x}{}", "'".repeat(order))
    };
    let terms: Vec<String> = chosen.into_iter().map(|x| term(random, x)).collect();
    terms.join(" + ")
}

fn random_case(random: &mut Random) -> Case {
    let n = 2 + random.below(3);
    let prev: Equations = (0..n).map(|i| (format!("f{i}"), equation(random, n))).collect();
    let mut new = prev.clone();
    for i in 0..n {
        if random.below(5) < 2 {
            new.remove(&format!("f{i}"));
            new.insert(format!("n{i}"), equation(random, n));
        }
    }
    let mut case = Case {
        prev: Some(prev),
        new,
        ..Case::default()
    };
    for x in 0..n {
        for order in 0..4 {
            let value = random.between(-3.0, 3.0);
            case.left.insert(format!("z{x}{}", "'".repeat(order)), value);
        }
    }
    case
}

fn rows(system: &ModeSystem) -> Vec<Row> {
    (0..system.equations().len()).map(Row::from_index).collect()
}

/// Left limits that the previous mode allows; what it does not compute is unknown.
fn settle(built: &mut Built) -> Option<()> {
    let previous = built.prev.as_ref()?;
    let settled = project_restart(
        &built.pool,
        &built.functions,
        previous,
        &rows(previous),
        &built.environment,
    );
    let settled = settled.ok()?.right_limits;
    built.environment.left.clear();
    for (var, order, value) in settled {
        built.environment.left.insert(Derivative { var, order }, value);
    }
    Some(())
}

/// Whether every state that the projector needs has a left limit.
fn has_all_left_limits(built: &Built) -> bool {
    let highest = |var: VarId| {
        let equations = built.new.equations().iter();
        let occurrences = equations.flat_map(|e| built.pool.occurrences(e.residual));
        occurrences
            .filter(|Derivative { var: x, .. }| *x == var)
            .map(|Derivative { order, .. }| order)
            .max()
            .unwrap_or(0)
    };
    built.new.unknowns().iter().all(|&var| {
        let past = built.prev.as_ref().and_then(|prev| prev.offset_of(var));
        highest(var) <= past.unwrap_or(0)
    })
}

#[derive(Default, Debug)]
struct Tally {
    compared: usize,
    refused: usize,
    /// Impulses compared, and those of order two and more among them.
    impulses: usize,
    higher: usize,
    /// Derivatives with an impulse that the restart system does not mention.
    left_out: usize,
}

fn compare(seed: u64, tally: &mut Tally) -> Option<()> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9) + 5);
    let case = random_case(&mut random);
    let mut built = Built::regular(&case, &mut Disguise::none())?;
    settle(&mut built)?;
    if !has_all_left_limits(&built) {
        return None;
    }
    let all = rows(&built.new);
    let projected = project_restart(&built.pool, &built.functions, &built.new, &all, &built.environment).ok()?;
    let analysis = built.analyze();
    let solution = match &analysis.plan {
        Some(plan) if analysis.is_good() => built.solve(plan).ok(),
        _ => None,
    };
    let Some(solution) = solution else {
        tally.refused += 1;
        println!("{seed}: {:?}\n  {:?}\n  {:?}", analysis.verdict, case.prev, case.new);
        return None;
    };
    for &(var, order, value) in &solution.right_limits {
        let Some(wanted) = projected
            .right_limits
            .iter()
            .find(|limit| (limit.0, limit.1) == (var, order))
        else {
            continue;
        };
        let name = format!("{}{}", built.variables[&var], "'".repeat(order.into()));
        assert!(
            (value - wanted.2).abs() <= 1e-6 * (1.0 + wanted.2.abs()),
            "seed {seed}: {name} = {value}, projector {}, {case:#?}",
            wanted.2
        );
    }
    tally.compared += 1;
    compare_impulses(seed, (&case, &built), &solution.impulses, &projected.impulses, tally);
    Some(())
}

/// Impulses whose weights do not vanish are the same, in order and weight.
fn compare_impulses(
    seed: u64,
    (case, built): (&Case, &Built),
    found: &[Impulse],
    projected: &[Impulse],
    tally: &mut Tally,
) {
    let size = projected.iter().map(|impulse| impulse.weight.abs()).fold(1.0, f64::max);
    let real = |impulses: &[Impulse]| -> Vec<Impulse> {
        let real = impulses.iter().filter(|impulse| impulse.weight.abs() > 1e-7 * size);
        real.copied().collect()
    };
    for impulse in real(projected) {
        let name = format!("{}{}", built.variables[&impulse.var], "'".repeat(impulse.order.into()));
        let same = |other: &&Impulse| (other.var, other.order) == (impulse.var, impulse.order);
        let Some(own) = found.iter().find(same) else {
            tally.left_out += 1;
            continue;
        };
        tally.impulses += 1;
        tally.higher += usize::from(impulse.mu > 1);
        let close = (own.weight - impulse.weight).abs() <= 1e-6 * size;
        assert!(
            own.mu == impulse.mu && close,
            "seed {seed}: impulse of {name}: {own:?}, projector {impulse:?}, {case:#?}"
        );
    }
}

#[test]
fn good_restarts_agree_with_the_projector() {
    let mut tally = Tally::default();
    for seed in 0..3000 {
        compare(seed, &mut tally);
    }
    // Refused are changes with impulses beyond the last instant (F.1 of RR-9603): there the projector takes over.
    assert!(
        tally.compared > 1000 && 20 * tally.refused < tally.compared,
        "{tally:?}"
    );
    assert!(
        tally.impulses > 400 && tally.higher > 5 && tally.left_out == 0,
        "{tally:?}"
    );
}
