//! Conservation across impulsive mode changes on random networks.
//!
//! Clutches between inertias, switches between capacitors and switches in series with inductors are one mathematics:
//! bodies with inertia M and velocities x, couplings that demand G x = g while they are active. Across a change the
//! impulses λ act along the couplings that are active afterwards,
//!
//! ```text
//! M (x⁺ − x⁻) = Gᵀ λ,   G x⁺ = g
//! ```
//!
//! so momentum, charge and flux linkage are conserved for all that the couplings leave free. This is the oracle; the left
//! limits are the run's own. Every network is run again with its equations permuted, and by the other restart method.

use saltus_mdae::{Builder, Ex, Mdae, Type};
use saltus_results::{RowKind, Trajectory};
use saltus_simulate::{Compiled, Options, Request, RestartMethod, RunReport, Unobserved, simulate};
use saltus_testing::Random;

/// Relative error of conservation.
const CONSERVATION: f64 = 1e-10;
const CASES: u64 = 30;

/// A coupling `Σ coefficient·x[body] = value` that holds during some of the phases.
struct Coupling {
    terms: Vec<(usize, f64)>,
    value: f64,
    active: Vec<bool>,
    /// The impulse of this variable is the multiplier, if it has a name.
    multiplier: Option<String>,
}

struct Network {
    inertia: Vec<f64>,
    /// Names of the velocities.
    names: Vec<String>,
    couplings: Vec<Coupling>,
    phases: usize,
}

const PHASES: usize = 5;

impl Network {
    /// x⁺ and the multipliers from x⁻ when a phase begins.
    fn project(&self, before: &[f64], phase: usize) -> (Vec<f64>, Vec<f64>) {
        let active: Vec<usize> = (0..self.couplings.len())
            .filter(|&c| self.couplings[c].active[phase])
            .collect();
        let n = active.len();
        let coefficient = |c: usize, body: usize| -> f64 {
            let terms = self.couplings[active[c]].terms.iter();
            terms.filter(|(b, _)| *b == body).map(|(_, g)| g).sum()
        };
        let mut matrix = vec![vec![0.0; n + 1]; n];
        for (row, entries) in matrix.iter_mut().enumerate() {
            for (column, entry) in entries.iter_mut().take(n).enumerate() {
                *entry = (0..before.len())
                    .map(|b| coefficient(row, b) * coefficient(column, b) / self.inertia[b])
                    .sum();
            }
            let now: f64 = (0..before.len()).map(|b| coefficient(row, b) * before[b]).sum();
            entries[n] = self.couplings[active[row]].value - now;
        }
        let solved = eliminate(matrix);
        let mut after = before.to_vec();
        for (body, x) in after.iter_mut().enumerate() {
            let push: f64 = (0..n).map(|c| coefficient(c, body) * solved[c]).sum();
            *x += push / self.inertia[body];
        }
        let mut multipliers = vec![0.0; self.couplings.len()];
        active.iter().zip(solved).for_each(|(&c, value)| multipliers[c] = value);
        (after, multipliers)
    }
}

/// Gauss elimination with row pivoting of an augmented matrix.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))
            .expect("a row is left");
        rows.swap(column, pivot);
        assert!(rows[column][column].abs() > 1e-12, "the couplings are independent");
        for row in 0..n {
            if row != column {
                let factor = rows[row][column] / rows[column][column];
                let above = rows[column].clone();
                for (entry, above) in rows[row].iter_mut().zip(above).skip(column) {
                    *entry -= factor * above;
                }
            }
        }
    }
    (0..n).map(|row| rows[row][n] / rows[row][row]).collect()
}

/// An equation still to be added, so that the order can be permuted.
type Pending = (Option<Ex>, String, Ex);

fn add(m: &Builder, mut equations: Vec<Pending>, order: &mut Random, permute: bool) {
    if permute {
        order.shuffle(&mut equations);
    }
    for (guard, name, residual) in equations {
        match guard {
            Some(guard) => m.equation_if(&guard, &name, residual),
            None => m.equation(&name, residual),
        }
    }
}

/// True during the phases given; phase k is [k, k+1).
fn during(m: &Builder, active: &[bool]) -> Ex {
    let time = m.time();
    let mut any: Option<Ex> = None;
    for (phase, _) in active.iter().enumerate().filter(|(_, active)| **active) {
        let from = time.ge(&m.real(phase as f64));
        let inside = from.and(&time.lt(&m.real(phase as f64 + 1.0)));
        any = Some(match any {
            Some(any) => any.or(&inside),
            None => inside,
        });
    }
    any.unwrap_or_else(|| time.lt(&m.real(-1.0)))
}

fn random_activity(random: &mut Random) -> Vec<bool> {
    (0..PHASES).map(|_| random.below(2) == 1).collect()
}

/// Inertias joined to a random tree by clutches with a ratio, with angles and relative angles as component libraries
/// have them.
fn clutches(seed: u64, permute: bool) -> (Mdae, Network) {
    let mut random = Random(seed);
    let count = 2 + random.below(6);
    let m = Builder::new("Clutches");
    let mut equations: Vec<Pending> = Vec::new();
    let mut network = Network {
        inertia: (0..count).map(|_| random.between(0.05, 5.0)).collect(),
        names: (0..count).map(|k| format!("w{k}")).collect(),
        couplings: Vec::new(),
        phases: PHASES,
    };
    let phi: Vec<Ex> = (0..count)
        .map(|k| m.guess(&format!("phi{k}"), random.between(-1.0, 1.0)))
        .collect();
    let w: Vec<Ex> = (0..count)
        .map(|k| m.guess(&format!("w{k}"), random.between(-10.0, 10.0)))
        .collect();
    let mut torque: Vec<Ex> = (0..count).map(|_| m.real(random.between(-1.0, 1.0))).collect();
    for k in 1..count {
        let other = random.below(k);
        let ratio = if random.below(2) == 0 {
            1.0
        } else {
            random.between(0.5, 3.0)
        };
        let active = random_activity(&mut random);
        let engaged = during(&m, &active);
        let tau = m.unknown(&format!("tau{k}"));
        let rel = m.unknown(&format!("rel{k}"));
        let slip = m.unknown(&format!("slip{k}"));
        equations.push((None, format!("rel{k}"), &rel - (&phi[k] - ratio * &phi[other])));
        equations.push((None, format!("slip{k}"), &slip - rel.der()));
        equations.push((Some(engaged.clone()), format!("engaged{k}"), slip));
        equations.push((Some(!&engaged), format!("open{k}"), tau.clone()));
        torque[k] = &torque[k] + &tau;
        torque[other] = &torque[other] - ratio * &tau;
        network.couplings.push(Coupling {
            terms: vec![(k, 1.0), (other, -ratio)],
            value: 0.0,
            active,
            multiplier: Some(format!("tau{k}")),
        });
    }
    for k in 0..count {
        let friction = random.between(0.0, 0.2);
        equations.push((None, format!("angle{k}"), phi[k].der() - &w[k]));
        let balance = network.inertia[k] * w[k].der() - &torque[k] + friction * &w[k];
        equations.push((None, format!("inertia{k}"), balance));
    }
    add(&m, equations, &mut random, permute);
    (m.finish().expect("valid"), network)
}

/// Capacitors to ground joined to a random tree by ideal switches, one of them now and then by a source.
fn capacitors(seed: u64, permute: bool) -> (Mdae, Network) {
    let mut random = Random(seed ^ 0xC0FF_EE00);
    let count = 2 + random.below(6);
    let m = Builder::new("Capacitors");
    let mut equations: Vec<Pending> = Vec::new();
    let mut network = Network {
        inertia: (0..count).map(|_| 10f64.powf(random.between(-7.0, -4.0))).collect(),
        names: (0..count).map(|k| format!("v{k}")).collect(),
        couplings: Vec::new(),
        phases: PHASES,
    };
    let v: Vec<Ex> = (0..count)
        .map(|k| m.guess(&format!("v{k}"), random.between(-20.0, 20.0)))
        .collect();
    let mut current: Vec<Ex> = (0..count).map(|_| m.real(0.0)).collect();
    for k in 0..count {
        let active = random_activity(&mut random);
        let (terms, value, drop) = if k == 0 {
            let level = random.between(-12.0, 12.0);
            (vec![(0, 1.0)], level, &v[0] - level)
        } else {
            let other = random.below(k);
            (vec![(k, 1.0), (other, -1.0)], 0.0, &v[k] - &v[other])
        };
        let closed = during(&m, &active);
        let (u, i) = (m.unknown(&format!("u{k}")), m.unknown(&format!("i{k}")));
        equations.push((None, format!("drop{k}"), &u - drop));
        equations.push((Some(closed.clone()), format!("closed{k}"), u));
        equations.push((Some(!&closed), format!("open{k}"), i.clone()));
        for &(body, coefficient) in &terms {
            current[body] = &current[body] + coefficient * &i;
        }
        network.couplings.push(Coupling {
            terms,
            value,
            active,
            multiplier: Some(format!("i{k}")),
        });
    }
    for k in 0..count {
        let capacitance = network.inertia[k];
        let leak = capacitance * random.between(0.0, 0.5);
        let balance = capacitance * v[k].der() - &current[k] + leak * &v[k];
        equations.push((None, format!("capacitor{k}"), balance));
    }
    add(&m, equations, &mut random, permute);
    (m.finish().expect("valid"), network)
}

/// Inductors between nodes, each with a resistor, a source and an ideal switch; every node keeps a path to ground.
fn inductors(seed: u64, permute: bool) -> (Mdae, Network) {
    let mut random = Random(seed ^ 0x1D_0C70);
    let nodes = 1 + random.below(3);
    let count = nodes + 1 + random.below(4);
    // Branch k runs from node k (for k < nodes: a tree rooted at ground) to an earlier one; the others anywhere.
    let ends: Vec<(usize, usize)> = (0..count)
        .map(|k| {
            if k < nodes {
                (k + 1, random.below(k + 1))
            } else {
                let a = 1 + random.below(nodes);
                let b = (a + 1 + random.below(nodes)) % (nodes + 1);
                (a, b)
            }
        })
        .collect();
    let mut active = vec![Vec::new(); count];
    for _ in 0..PHASES {
        let closed = loop {
            let closed: Vec<bool> = (0..count).map(|_| random.below(3) > 0).collect();
            if connected(&ends, &closed, nodes) {
                break closed;
            }
        };
        for (active, closed) in active.iter_mut().zip(closed) {
            active.push(!closed);
        }
    }
    let m = Builder::new("Inductors");
    let mut equations: Vec<Pending> = Vec::new();
    let mut network = Network {
        inertia: (0..count).map(|_| 10f64.powf(random.between(-3.0, 0.0))).collect(),
        names: (0..count).map(|k| format!("i{k}")).collect(),
        couplings: Vec::new(),
        phases: PHASES,
    };
    let i: Vec<Ex> = (0..count)
        .map(|k| m.guess(&format!("i{k}"), random.between(-5.0, 5.0)))
        .collect();
    let potential: Vec<Ex> = (0..=nodes)
        .map(|node| match node {
            0 => m.real(0.0),
            _ => m.unknown(&format!("p{node}")),
        })
        .collect();
    for k in 0..count {
        let open = during(&m, &active[k]);
        let u = m.unknown(&format!("u{k}"));
        let (resistance, source) = (random.between(0.1, 2.0), random.between(-5.0, 5.0));
        let (a, b) = ends[k];
        let balance =
            network.inertia[k] * i[k].der() + resistance * &i[k] + &u - source - (&potential[a] - &potential[b]);
        equations.push((None, format!("branch{k}"), balance));
        equations.push((Some(open.clone()), format!("open{k}"), i[k].clone()));
        equations.push((Some(!&open), format!("closed{k}"), u));
        network.couplings.push(Coupling {
            terms: vec![(k, 1.0)],
            value: 0.0,
            active: active[k].clone(),
            multiplier: None,
        });
    }
    for node in 1..=nodes {
        let mut sum = m.real(0.0);
        let mut terms = Vec::new();
        for (k, &(a, b)) in ends.iter().enumerate() {
            if a == node {
                sum = sum + &i[k];
                terms.push((k, 1.0));
            } else if b == node {
                sum = sum - &i[k];
                terms.push((k, -1.0));
            }
        }
        equations.push((None, format!("node{node}"), sum));
        network.couplings.push(Coupling {
            terms,
            value: 0.0,
            active: vec![true; PHASES],
            multiplier: Some(format!("p{node}")),
        });
    }
    add(&m, equations, &mut random, permute);
    (m.finish().expect("valid"), network)
}

/// Whether the closed branches join every node to ground.
fn connected(ends: &[(usize, usize)], closed: &[bool], nodes: usize) -> bool {
    let mut reached = vec![false; nodes + 1];
    reached[0] = true;
    for _ in 0..nodes {
        for (&(a, b), _) in ends.iter().zip(closed).filter(|(_, closed)| **closed) {
            let either = reached[a] || reached[b];
            (reached[a], reached[b]) = (either, either);
        }
    }
    reached.into_iter().all(|r| r)
}

fn run(model: Mdae, restart: RestartMethod, verify: bool, stop: f64) -> (Trajectory, RunReport) {
    let compiled = Compiled::new(saltus_structure::prepare::prepare(model).model).expect("compiles");
    let options = Options {
        stop,
        interval: 0.25,
        tolerance: 1e-9,
        absolute_tolerance: 1e-12,
        restart,
        verify_restarts: verify,
        ..Options::default()
    };
    let mut trajectory = Trajectory::new();
    let report = simulate(
        &compiled,
        Request::default(),
        &options,
        &mut trajectory,
        &mut Unobserved,
    );
    (trajectory, report)
}

fn row(trajectory: &Trajectory, names: &[String], at: usize) -> Vec<f64> {
    names
        .iter()
        .map(|name| trajectory.signal(name).unwrap_or_else(|| panic!("no {name}")).values[at])
        .collect()
}

/// Agreement relative to the largest of the expected values and those before.
fn close(case: &str, what: &str, got: &[f64], expected: &[f64], before: &[f64], tolerance: f64) {
    let scale = expected.iter().chain(before).fold(1e-300, |s: f64, x| s.max(x.abs()));
    for (got, expected) in got.iter().zip(expected) {
        assert!(
            (got - expected).abs() <= tolerance * scale,
            "{case}: {what}: {got} instead of {expected}"
        );
    }
}

/// Rows right before and after each event time.
fn sides(trajectory: &Trajectory) -> Vec<(f64, usize, usize)> {
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for (at, kind) in trajectory.kinds().iter().enumerate() {
        let time = trajectory.time()[at];
        match kind {
            RowKind::EventLeft => found.push((time, at, at)),
            RowKind::EventRight => found.last_mut().expect("left comes first").2 = at,
            _ => {}
        }
    }
    found
}

fn conserves(case: &str, network: &Network, starts: &[f64], (trajectory, report): &(Trajectory, RunReport)) {
    if let Err(failure) = &report.outcome {
        panic!("{case}: {failure}");
    }
    let (first, _) = network.project(starts, 0);
    close(
        case,
        "start",
        &row(trajectory, &network.names, 0),
        &first,
        starts,
        CONSERVATION,
    );
    for (time, left, right) in sides(trajectory) {
        let phase = time.round() as usize;
        assert!((time - phase as f64).abs() < 1e-9, "{case}: event at {time}");
        if phase >= network.phases {
            continue;
        }
        let before = row(trajectory, &network.names, left);
        let after = row(trajectory, &network.names, right);
        let (expected, multipliers) = network.project(&before, phase);
        let what = format!("right limits at {time}");
        close(case, &what, &after, &expected, &before, CONSERVATION);
        // Momentum: what the impulses of the couplings account for is all that changed.
        let largest = multipliers.iter().fold(0.0, |s: f64, m| s.max(m.abs()));
        for (coupling, expected) in network.couplings.iter().zip(&multipliers) {
            let Some(name) = &coupling.multiplier else { continue };
            let events = trajectory.events().iter().filter(|event| event.time == time);
            let weight: f64 = events
                .flat_map(|event| &event.impulses)
                .filter(|impulse| &impulse.variable == name)
                .map(|impulse| impulse.weight)
                .sum();
            assert!(
                (weight - expected).abs() <= 1e-9 * largest + 1e-15,
                "{case}: impulse of {name} at {time}: {weight} instead of {expected}"
            );
        }
    }
}

fn start_values(model: &Mdae, names: &[String]) -> Vec<f64> {
    let start = |name: &String| {
        let found = model.variables.iter().find(|v| &*v.name == name.as_str());
        let start = found.and_then(|v| v.start).expect("has a start value");
        model.pool.constant(start).expect("is a number")
    };
    names.iter().map(start).collect()
}

fn check(kind: &str, build: fn(u64, bool) -> (Mdae, Network)) {
    for seed in 1..=CASES {
        let case = format!("{kind} {seed}");
        let (model, network) = build(seed, false);
        let starts = start_values(&model, &network.names);
        let plain = run(model, RestartMethod::Structural, true, PHASES as f64 - 0.5);
        conserves(&case, &network, &starts, &plain);
        // Speeds and voltages that are joined from the start have start values that contradict each other: that is told.
        let others: Vec<&String> = plain
            .1
            .warnings
            .iter()
            .filter(|w| !w.starts_with("start values contradict"))
            .collect();
        assert_eq!(others, Vec::<&String>::new(), "{case}");
        let (model, _) = build(seed, true);
        let permuted = run(model, RestartMethod::Structural, false, PHASES as f64 - 0.5);
        conserves(&format!("{case} permuted"), &network, &starts, &permuted);
        let (model, _) = build(seed, false);
        let euler = run(model, RestartMethod::Euler, false, PHASES as f64 - 0.5);
        assert_eq!(plain.0.time().len(), permuted.0.time().len(), "{case}");
        for (_, left, right) in sides(&plain.0) {
            for at in [left, right] {
                let values = row(&plain.0, &network.names, at);
                let what = format!("row at {}", plain.0.time()[at]);
                close(
                    &case,
                    &what,
                    &row(&permuted.0, &network.names, at),
                    &values,
                    &starts,
                    1e-7,
                );
                close(&case, &what, &row(&euler.0, &network.names, at), &values, &starts, 1e-6);
            }
        }
    }
}

#[test]
fn clutches_conserve_momentum() {
    check("clutches", clutches);
}

#[test]
fn capacitors_conserve_charge() {
    check("capacitors", capacitors);
}

#[test]
fn inductors_conserve_flux() {
    check("inductors", inductors);
}

/// Wagons in a row that couple when they touch: positions, velocities and masses at random.
struct Wagons {
    mass: Vec<f64>,
    position: Vec<f64>,
    velocity: Vec<f64>,
}

impl Wagons {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed ^ 0xA6_0115);
        let count = 2 + random.below(5);
        let mut at = 0.0;
        let mut wagons = Wagons {
            mass: Vec::new(),
            position: Vec::new(),
            velocity: Vec::new(),
        };
        for _ in 0..count {
            at += random.between(0.2, 1.0);
            wagons.mass.push(random.between(0.1, 10.0));
            wagons.position.push(at);
            wagons.velocity.push(random.between(-1.0, 1.0));
        }
        wagons
    }

    /// Velocities after each impact up to a time, by going from impact to impact. `restitution`: 0 couples.
    fn impacts(&self, restitution: f64, until: f64) -> Vec<(f64, Vec<f64>)> {
        let n = self.mass.len();
        let (mut x, mut v) = (self.position.clone(), self.velocity.clone());
        let mut coupled = vec![false; n - 1];
        let (mut now, mut found) = (0.0, Vec::new());
        loop {
            let meeting = |k: usize| (x[k + 1] - x[k]) / (v[k] - v[k + 1]);
            let next = (0..n - 1)
                .filter(|&k| !coupled[k] && v[k] - v[k + 1] > 1e-12)
                .map(|k| (meeting(k).max(0.0), k))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((wait, k)) = next.filter(|(wait, _)| now + wait < until) else {
                return found;
            };
            now += wait;
            x.iter_mut().zip(&v).for_each(|(x, v)| *x += wait * v);
            if restitution == 0.0 {
                coupled[k] = true;
                let first = (0..=k).rev().take_while(|&j| j == k || coupled[j]).last().expect("k");
                let last = (k + 1..n)
                    .take_while(|&j| j == k + 1 || coupled[j - 1])
                    .last()
                    .expect("k");
                let momentum: f64 = (first..=last).map(|j| self.mass[j] * v[j]).sum();
                let common = momentum / (first..=last).map(|j| self.mass[j]).sum::<f64>();
                v[first..=last].fill(common);
            } else {
                let (a, b) = (self.mass[k], self.mass[k + 1]);
                let common = (a * v[k] + b * v[k + 1]) / (a + b);
                let rebound = restitution * (v[k] - v[k + 1]) / (a + b);
                v[k] = common - b * rebound;
                v[k + 1] = common + a * rebound;
            }
            found.push((now, v.clone()));
        }
    }

    fn model(&self, restitution: f64, order: Option<u64>) -> Mdae {
        let m = Builder::new("Wagons");
        let n = self.mass.len();
        let x: Vec<Ex> = (0..n).map(|k| m.state(&format!("x{k}"), self.position[k])).collect();
        let v: Vec<Ex> = (0..n).map(|k| m.state(&format!("v{k}"), self.velocity[k])).collect();
        let f: Vec<Ex> = (0..n - 1).map(|k| m.unknown(&format!("f{k}"))).collect();
        let mut equations: Vec<Pending> = Vec::new();
        for k in 0..n {
            equations.push((None, format!("x{k}"), x[k].der() - &v[k]));
            let mut balance = self.mass[k] * v[k].der();
            if k + 1 < n {
                balance = balance + &f[k];
            }
            if k > 0 {
                balance = balance - &f[k - 1];
            }
            equations.push((None, format!("v{k}"), balance));
        }
        for k in 0..n - 1 {
            let touch = x[k].ge(&x[k + 1]);
            if restitution == 0.0 {
                let coupled = m.discrete(&format!("c{k}"), Type::Boolean, 0.0);
                m.assign_when(&touch, &coupled, &m.real(1.0).gt(&m.real(0.0)));
                equations.push((Some(coupled.clone()), format!("joined{k}"), &v[k] - &v[k + 1]));
                equations.push((Some(!&coupled), format!("apart{k}"), f[k].clone()));
            } else {
                equations.push((Some(!&touch), format!("apart{k}"), f[k].clone()));
                let law = (&v[k + 1] - &v[k]) + restitution * (v[k + 1].pre() - v[k].pre());
                m.restart_when(&touch, &format!("law{k}"), law);
            }
        }
        add(&m, equations, &mut Random(order.unwrap_or(1)), order.is_some());
        m.finish().expect("valid")
    }
}

fn impacts_agree(restitution: f64) {
    const STOP: f64 = 6.0;
    for seed in 1..=CASES {
        let wagons = Wagons::new(seed);
        let expected = wagons.impacts(restitution, STOP);
        for order in [None, Some(seed)] {
            let case = format!("wagons {seed}, restitution {restitution}, order {order:?}");
            let (trajectory, report) = run(wagons.model(restitution, order), RestartMethod::Structural, true, STOP);
            assert_eq!(report.warnings, Vec::<String>::new(), "{case}");
            if let Err(failure) = &report.outcome {
                panic!("{case}: {failure}");
            }
            let names: Vec<String> = (0..wagons.mass.len()).map(|k| format!("v{k}")).collect();
            let sides = sides(&trajectory);
            assert!(
                sides.len() >= expected.len(),
                "{case}: {} of {} impacts",
                sides.len(),
                expected.len()
            );
            for (time, velocities) in &expected {
                let nearest = sides
                    .iter()
                    .min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs()));
                let &(at, left, right) = nearest.expect("an event");
                assert!((at - time).abs() < 1e-7, "{case}: impact at {at} instead of {time}");
                let after = row(&trajectory, &names, right);
                close(
                    &case,
                    &format!("after the impact at {time}"),
                    &after,
                    velocities,
                    &[],
                    1e-7,
                );
                let momentum = |at: usize| -> f64 {
                    let v = row(&trajectory, &names, at);
                    v.iter().zip(&wagons.mass).map(|(v, m)| v * m).sum()
                };
                let scale: f64 = wagons
                    .mass
                    .iter()
                    .zip(&wagons.velocity)
                    .map(|(m, v)| (m * v).abs())
                    .sum();
                let lost = momentum(right) - momentum(left);
                assert!(lost.abs() <= CONSERVATION * scale, "{case}: {lost:e} lost at {time}");
            }
        }
    }
}

#[test]
fn plastic_impacts_conserve_momentum() {
    impacts_agree(0.0);
}

#[test]
fn elastic_impacts_conserve_momentum() {
    impacts_agree(1.0);
    impacts_agree(0.7);
}
