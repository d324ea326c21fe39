//! Modes that make room for others are made again when they return: the run is the same to the last bit.

use std::sync::Arc;

use saltus_mdae::{Builder, Ex, Mdae, UnaryFunction};
use saltus_results::Trajectory;
use saltus_simulate::{Compiled, Options, Request, RunCounters, Unobserved, simulate};
use saltus_testing::Random;

/// Inertias in a row, clutches between neighbours that engage and open each in a rhythm of its own.
fn clutches(random: &mut Random, count: usize) -> Mdae {
    let m = Builder::new("Clutches");
    let w: Vec<Ex> = (0..count)
        .map(|k| m.state(&format!("w{k}"), random.between(-1.0, 1.0)))
        .collect();
    let tau: Vec<Ex> = (1..count).map(|k| m.unknown(&format!("tau{k}"))).collect();
    for k in 0..count {
        let mut torque = m.real(random.between(-1.0, 1.0)) - 0.2 * &w[k];
        if k > 0 {
            torque = torque + &tau[k - 1];
        }
        if k + 1 < count {
            torque = torque - &tau[k];
        }
        m.equation(&format!("inertia{k}"), random.between(0.5, 2.0) * w[k].der() - torque);
    }
    for k in 0..count - 1 {
        let wave = m.unknown(&format!("wave{k}"));
        let (rhythm, phase) = (random.between(20.0, 60.0), random.between(0.0, 6.0));
        m.equation(
            &format!("wave{k}"),
            &wave - (rhythm * m.time() + phase).apply(UnaryFunction::Sin),
        );
        let engaged = wave.gt(&m.real(0.0));
        m.equation_if(&engaged, &format!("engaged{k}"), &w[k] - &w[k + 1]);
        m.equation_if(&!&engaged, &format!("open{k}"), tau[k].clone());
    }
    m.finish().expect("valid")
}

/// Capacitors in a row, ideal diodes between them, a current of its own frequency into each: thousands of modes. With
/// loads that are no straight lines there are iterations.
fn diodes(random: &mut Random, count: usize, linear: bool) -> Mdae {
    let m = Builder::new("Diodes");
    let u: Vec<Ex> = (0..count).map(|k| m.state(&format!("u{k}"), 0.0)).collect();
    let i: Vec<Ex> = (0..count).map(|k| m.unknown(&format!("i{k}"))).collect();
    for k in 0..count {
        let from = if k == 0 { m.real(0.0) } else { u[k - 1].clone() };
        let drop = if linear {
            from - 0.5 * &i[k] - &u[k]
        } else {
            from - 0.5 * &i[k] - 0.05 * (&i[k] * &i[k] * &i[k]) - &u[k]
        };
        let s = m.unknown(&format!("s{k}"));
        let on = s.gt(&m.real(0.0));
        m.equation_if(&on, &format!("on_s{k}"), &s - &i[k]);
        m.equation_if(&on, &format!("on_v{k}"), drop.clone());
        m.equation_if(&!&on, &format!("off_s{k}"), &s - &drop);
        m.equation_if(&!&on, &format!("off_i{k}"), i[k].clone());
        let (rhythm, phase) = (random.between(100.0, 400.0), random.between(0.0, 6.0));
        let mut flow = i[k].clone() + (rhythm * m.time() + phase).apply(UnaryFunction::Sin) * 2.0 - 0.1 * &u[k];
        if k + 1 < count {
            flow = flow - &i[k + 1];
        }
        m.equation(&format!("c{k}"), 1e-3 * u[k].der() - flow);
    }
    m.finish().expect("valid")
}

/// A pendulum in Cartesian coordinates that turns over, whose states are chosen again and again, with a brake that comes
/// and goes.
fn pendulum(random: &mut Random) -> Mdae {
    let m = Builder::new("Pendulum");
    let (x, y) = (m.state("x", 1.0), m.unknown("y"));
    let (vx, vy) = (m.unknown("vx"), m.state("vy", random.between(5.0, 7.0)));
    let (force, brake, wave) = (m.unknown("force"), m.unknown("brake"), m.unknown("wave"));
    m.equation("x", x.der() - &vx);
    m.equation("y", y.der() - &vy);
    m.equation("vx", vx.der() + &force * &x + &brake * &vx);
    m.equation("vy", vy.der() + &force * &y + &brake * &vy + 9.81);
    m.equation("rod", &x * &x + &y * &y - 1.0);
    m.equation(
        "wave",
        &wave - (random.between(4.0, 9.0) * m.time()).apply(UnaryFunction::Sin),
    );
    let braking = wave.gt(&m.real(0.3));
    m.equation_if(&braking, "braking", &brake - 0.05);
    m.equation_if(&!&braking, "free", brake.clone());
    m.finish().expect("valid")
}

/// Times and values as bits, numbers of modes, and what it took.
fn run(model: &Arc<Compiled>, stop: f64, mode_bytes: usize) -> (Vec<Vec<u64>>, Vec<u32>, RunCounters) {
    let options = Options {
        stop,
        interval: stop / 20.0,
        mode_bytes,
        ..Options::default()
    };
    let mut trajectory = Trajectory::new();
    let report = simulate(model, Request::default(), &options, &mut trajectory, &mut Unobserved);
    assert!(report.outcome.is_ok(), "{:?}", report.outcome);
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
    let mut columns = vec![bits(trajectory.time())];
    columns.extend(trajectory.schema().ids().map(|id| bits(&trajectory.values(id))));
    (columns, trajectory.modes().to_vec(), report.counters)
}

fn assert_same(name: &str, model: Mdae, stop: f64) {
    let compiled = Compiled::new(saltus_structure::prepare::prepare(model).model).expect("compiles");
    let (columns, modes, counters) = run(&compiled, stop, usize::MAX);
    assert!(
        counters.modes > 1 && counters.mode_changes > counters.modes,
        "{name}: modes return: {counters:?}"
    );
    // Nothing but the mode in force, and a few modes.
    for mode_bytes in [0, 50_000] {
        let (other_columns, other_modes, other_counters) = run(&compiled, stop, mode_bytes);
        // Restart systems that made room for others are analysed again.
        assert!(other_counters.restart_analyses >= counters.restart_analyses);
        let other_counters = RunCounters {
            restart_analyses: counters.restart_analyses,
            ..other_counters
        };
        assert_eq!(other_counters, counters, "{name} with {mode_bytes} bytes");
        assert_eq!(other_modes, modes, "{name} with {mode_bytes} bytes");
        assert!(other_columns == columns, "{name} with {mode_bytes} bytes");
    }
}

#[test]
fn clutches_that_engage_in_any_order() {
    for seed in 1..4 {
        assert_same("clutches", clutches(&mut Random(seed), 4 + seed as usize), 4.0);
    }
}

#[test]
fn diodes_in_a_row() {
    assert_same("diodes", diodes(&mut Random(5), 6, true), 0.6);
    assert_same("curved diodes", diodes(&mut Random(6), 5, false), 0.6);
}

#[test]
fn choices_of_states_return_with_their_mode() {
    assert_same("pendulum", pendulum(&mut Random(7)), 8.0);
}
