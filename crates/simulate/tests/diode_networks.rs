//! Networks of ideal diodes: the mode of all diodes at once.
//!
//! Conductances between nodes, ideal diodes between nodes, currents into nodes. With every node connected to ground by a
//! conductance the network has exactly one solution; up to ten diodes it is found here by trying all modes.

use saltus_mdae::{Builder, Ex, Mdae, UnaryFunction};
use saltus_results::Trajectory;
use saltus_simulate::{Compiled, Options, Request, RunReport, Unobserved, simulate};
use saltus_testing::Random;

struct Network {
    nodes: usize,
    /// (from, to, conductance); `nodes` is ground.
    conductances: Vec<(usize, usize, f64)>,
    /// (anode, cathode).
    diodes: Vec<(usize, usize)>,
    /// Amplitude and phase of the current into each node.
    currents: Vec<(f64, f64)>,
}

const FREQUENCY: f64 = 7.0;

impl Network {
    fn random(random: &mut Random, nodes: usize, diodes: usize) -> Self {
        let mut conductances: Vec<(usize, usize, f64)> = (0..nodes)
            .map(|node| (node, nodes, random.between(0.01, 1.0)))
            .collect();
        for _ in 0..nodes {
            let (a, b) = (random.below(nodes), random.below(nodes));
            if a != b {
                conductances.push((a, b, random.between(0.1, 5.0)));
            }
        }
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        while pairs.len() < diodes {
            let (a, b) = (random.below(nodes + 1), random.below(nodes + 1));
            // Neither twice nor back to back: then a current could run in a circle, or its share be open.
            if a != b && !closes_loop(&pairs, (a, b), nodes + 1) {
                pairs.push((a, b));
            }
        }
        let currents = (0..nodes)
            .map(|_| (random.between(-5.0, 5.0), random.between(0.0, 6.0)))
            .collect();
        Network {
            nodes,
            conductances,
            diodes: pairs,
            currents,
        }
    }

    fn current(&self, node: usize, time: f64) -> f64 {
        let (amplitude, phase) = self.currents[node];
        amplitude * (FREQUENCY * time + phase).sin()
    }

    fn model(&self) -> Mdae {
        let m = Builder::new("Network");
        let potentials: Vec<Ex> = (0..self.nodes).map(|node| m.unknown(&format!("v{node}"))).collect();
        let potential = |node: usize| potentials.get(node).cloned().unwrap_or_else(|| m.real(0.0));
        let mut balance: Vec<Ex> = (0..self.nodes)
            .map(|node| {
                let (amplitude, phase) = self.currents[node];
                (FREQUENCY * m.time() + phase).apply(UnaryFunction::Sin) * -amplitude
            })
            .collect();
        let mut flow = |from: usize, to: usize, current: &Ex| {
            if from < self.nodes {
                balance[from] = balance[from].clone() + current.clone();
            }
            if to < self.nodes {
                balance[to] = balance[to].clone() - current.clone();
            }
        };
        for &(a, b, g) in &self.conductances {
            flow(a, b, &(g * (potential(a) - potential(b))));
        }
        for (k, &(anode, cathode)) in self.diodes.iter().enumerate() {
            let (i, s) = (m.unknown(&format!("i{k}")), m.unknown(&format!("s{k}")));
            flow(anode, cathode, &i);
            let drop = potential(anode) - potential(cathode);
            let on = s.gt(&m.real(0.0));
            m.equation_if(&on, &format!("on_s{k}"), &s - &i);
            m.equation_if(&on, &format!("on_v{k}"), drop.clone());
            m.equation_if(&!&on, &format!("off_s{k}"), &s - drop);
            m.equation_if(&!&on, &format!("off_i{k}"), i.clone());
        }
        for (node, balance) in balance.into_iter().enumerate() {
            m.equation(&format!("n{node}"), balance);
        }
        m.finish().expect("valid")
    }

    /// Potentials and diode currents with given diodes conducting; `None` if that is no state of the network.
    fn solve(&self, conducting: &[bool], time: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let (n, d) = (self.nodes, self.diodes.len());
        let size = n + d;
        let mut matrix = vec![vec![0.0; size + 1]; size];
        for (node, row) in matrix.iter_mut().enumerate().take(n) {
            row[size] = self.current(node, time);
        }
        for &(a, b, g) in &self.conductances {
            for (x, y) in [(a, b), (b, a)] {
                if x < n {
                    matrix[x][x] += g;
                    if y < n {
                        matrix[x][y] -= g;
                    }
                }
            }
        }
        for (k, &(anode, cathode)) in self.diodes.iter().enumerate() {
            for (node, sign) in [(anode, 1.0), (cathode, -1.0)] {
                if node < n {
                    matrix[node][n + k] += sign;
                    if conducting[k] {
                        matrix[n + k][node] += sign;
                    }
                }
            }
            if !conducting[k] {
                matrix[n + k][n + k] = 1.0;
            }
        }
        let x = eliminate(matrix)?;
        Some((x[..n].to_vec(), x[n..].to_vec()))
    }

    /// How much a state violates the diodes' laws.
    fn violation(&self, potentials: &[f64], currents: &[f64]) -> f64 {
        let potential = |node: usize| potentials.get(node).copied().unwrap_or(0.0);
        let diodes = self.diodes.iter().zip(currents);
        diodes
            .map(|(&(anode, cathode), &i)| {
                let drop = potential(anode) - potential(cathode);
                (-i).max(drop).max(i.abs().min(drop.abs()))
            })
            .fold(0.0, f64::max)
    }

    fn by_enumeration(&self, time: f64) -> Vec<f64> {
        let count = self.diodes.len();
        let states = (0u32..1 << count).filter_map(|mask| {
            let conducting: Vec<bool> = (0..count).map(|k| mask >> k & 1 == 1).collect();
            self.solve(&conducting, time)
        });
        let violation = |state: &(Vec<f64>, Vec<f64>)| self.violation(&state.0, &state.1);
        let best = states
            .min_by(|a, b| violation(a).total_cmp(&violation(b)))
            .expect("a regular mode");
        assert!(violation(&best) < 1e-9, "no mode is consistent");
        best.0
    }
}

/// Whether a diode closes a circle of diodes.
fn closes_loop(pairs: &[(usize, usize)], new: (usize, usize), nodes: usize) -> bool {
    let mut root: Vec<usize> = (0..nodes).collect();
    fn find(root: &[usize], mut node: usize) -> usize {
        while root[node] != node {
            node = root[node];
        }
        node
    }
    for &(a, b) in pairs {
        let (a, b) = (find(&root, a), find(&root, b));
        root[a] = b;
    }
    find(&root, new.0) == find(&root, new.1)
}

fn eliminate(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = matrix.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-11 {
            return None;
        }
        matrix.swap(column, pivot);
        let pivot = matrix[column].clone();
        for (row, entries) in matrix.iter_mut().enumerate() {
            let factor = entries[column] / pivot[column];
            if row != column && factor != 0.0 {
                entries
                    .iter_mut()
                    .zip(&pivot)
                    .skip(column)
                    .for_each(|(entry, p)| *entry -= factor * p);
            }
        }
    }
    Some((0..n).map(|row| matrix[row][n] / matrix[row][row]).collect())
}

fn run(network: &Network, stop: f64) -> (RunReport, Trajectory) {
    let compiled = Compiled::new(network.model()).expect("compiles");
    let options = Options {
        stop,
        interval: stop / 20.0,
        tolerance: 1e-9,
        absolute_tolerance: 1e-12,
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
    assert!(report.outcome.is_ok(), "{:?}", report.outcome);
    (report, trajectory)
}

fn values(trajectory: &Trajectory, name: &str) -> Vec<f64> {
    let signal = trajectory.schema().find(name).expect("a signal");
    trajectory.values(signal).to_vec()
}

#[test]
fn random_networks_agree_with_all_modes_tried() {
    let mut pivoted = 0;
    for case in 0..40 {
        let mut random = Random(case + 1);
        let nodes = 4 + random.below(8);
        let diodes = (3 + random.below(8)).min(nodes);
        let network = Network::random(&mut random, nodes, diodes);
        let (report, trajectory) = run(&network, 1.0);
        pivoted += report.counters.pivoted;
        let potentials: Vec<Vec<f64>> = (0..nodes).map(|n| values(&trajectory, &format!("v{n}"))).collect();
        for row in (0..trajectory.rows()).step_by(5) {
            let time = trajectory.time()[row];
            let expected = network.by_enumeration(time);
            for (node, expected) in expected.iter().enumerate() {
                let found = potentials[node][row];
                assert!(
                    (found - expected).abs() < 1e-6,
                    "case {case}, t = {time}: v{node} is {found}, not {expected}"
                );
            }
        }
    }
    assert!(pivoted >= 5, "{pivoted}");
}

/// Thirty diodes have a billion modes.
#[test]
fn thirty_diodes_need_few_candidates() {
    let (mut worst, mut pivoted) = (0, 0);
    for case in 0..12 {
        let mut random = Random(1000 + case);
        let network = Network::random(&mut random, 40, 30);
        let (report, trajectory) = run(&network, 0.2);
        let last = trajectory.rows() - 1;
        let column = |stem: &str, count: usize| -> Vec<f64> {
            (0..count)
                .map(|k| values(&trajectory, &format!("{stem}{k}"))[last])
                .collect()
        };
        let (potentials, currents) = (column("v", 40), column("i", 30));
        assert!(network.violation(&potentials, &currents) < 1e-6);
        let events = report.counters.events + 1;
        worst = worst.max(report.counters.candidates / events);
        pivoted += report.counters.pivoted;
    }
    assert!(worst <= 4, "{worst} candidates per event");
    assert!(pivoted >= 3, "{pivoted}");
}

/// Bridges with m phases and 2m diodes. The load is not connected to ground: with all diodes blocking its potential is
/// open, so that mode is singular.
#[test]
fn polyphase_bridges() {
    for phases in [2, 3, 5, 9, 15] {
        let (plus, minus, ground) = (phases, phases + 1, phases + 2);
        let mut conductances: Vec<(usize, usize, f64)> = (0..phases).map(|p| (p, ground, 10.0)).collect();
        conductances.push((plus, minus, 0.5));
        let mut diodes: Vec<(usize, usize)> = (0..phases).map(|p| (p, plus)).collect();
        diodes.extend((0..phases).map(|p| (minus, p)));
        let angle = |p: usize| std::f64::consts::TAU * p as f64 / phases as f64;
        let mut currents: Vec<(f64, f64)> = (0..phases).map(|p| (100.0, 0.1 - angle(p))).collect();
        currents.extend([(0.0, 0.0); 2]);
        let network = Network {
            nodes: phases + 2,
            conductances,
            diodes,
            currents,
        };
        let (report, trajectory) = run(&network, 1.0);
        let column = |stem: &str, k: usize| values(&trajectory, &format!("{stem}{k}"));
        let potentials: Vec<Vec<f64>> = (0..phases + 2).map(|k| column("v", k)).collect();
        let flows: Vec<Vec<f64>> = (0..2 * phases).map(|k| column("i", k)).collect();
        for row in 0..trajectory.rows() {
            let at = |columns: &[Vec<f64>]| -> Vec<f64> { columns.iter().map(|values| values[row]).collect() };
            let off = network.violation(&at(&potentials), &at(&flows));
            assert!(off < 1e-6, "{phases} phases, t = {}: {off:e}", trajectory.time()[row]);
        }
        let per_event = report.counters.candidates / (report.counters.events + 1);
        assert!(per_event <= 4, "{phases} phases: {per_event} candidates per event");
    }
}
