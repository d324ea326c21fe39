//! Random circuits of ideal diodes, thyristors, switches, capacitors that may float and inductors that may come in series,
//! in all units, against backward Euler steps with small and large resistances in place of what is ideal.

use std::collections::HashMap;
use std::fmt::Write;

use saltus::Session;
use saltus_numerics::linalg::{DenseLu, DenseMatrix};
use saltus_testing::Random;

const STOP: f64 = 2.0;
const STEPS: usize = 2000;
const SAMPLES: usize = 10;

/// What lies between two nodes; 0 is ground.
#[derive(Clone, Debug)]
enum Part {
    Source {
        amplitude: f64,
        frequency: f64,
        phase: f64,
    },
    Resistor(f64),
    Capacitor {
        capacitance: f64,
        start: f64,
    },
    Inductor {
        inductance: f64,
        start: f64,
    },
    Diode,
    /// Fired from a time on.
    Thyristor(f64),
    /// Closed between two times.
    Switch(f64, f64),
}

#[derive(Clone, Debug)]
struct Branch {
    part: Part,
    from: usize,
    to: usize,
}

/// A circuit; its nodes are numbered from 1.
#[derive(Clone, Debug)]
struct Circuit {
    branches: Vec<Branch>,
    nodes: usize,
    /// `on = s > 0`, or `on = not s < 0`.
    strict: bool,
    order: Vec<usize>,
}

/// Two digits, so that texts are short and sums exact.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn part(random: &mut Random, kind: char) -> Part {
    let start = |random: &mut Random| match random.below(3) {
        0 => rounded(random.between(-2.0, 2.0)),
        _ => 0.0,
    };
    match kind {
        'R' => Part::Resistor(rounded(random.between(0.2, 3.0))),
        'C' => Part::Capacitor {
            capacitance: rounded(random.between(0.05, 2.0)),
            start: start(random),
        },
        'L' => Part::Inductor {
            inductance: rounded(random.between(0.05, 2.0)),
            start: start(random),
        },
        'D' => Part::Diode,
        'T' => Part::Thyristor(rounded(random.between(0.1, 1.5))),
        _ => {
            let (from, to) = [(0.3, 9.0), (0.5, 1.2), (0.0, 0.7), (0.9, 9.0)][random.below(4)];
            Part::Switch(from, to)
        }
    }
}

fn circuit(seed: u64) -> Circuit {
    let random = &mut Random(seed);
    let nodes = 3 + random.below(3);
    let source = Part::Source {
        amplitude: rounded(random.between(1.0, 5.0)),
        frequency: [0.0, 3.0, 7.0, 12.0][random.below(4)],
        phase: rounded(random.between(0.2, 6.0)),
    };
    let branch = |part, from, to| Branch { part, from, to };
    // The source is at node 1; node 2 is behind its resistance.
    let mut branches = vec![
        branch(source, 1, 0),
        branch(Part::Resistor(rounded(random.between(0.1, 1.0))), 1, 2),
    ];
    let any_of = |random: &mut Random, kinds: &str| kinds.as_bytes()[random.below(kinds.len())] as char;
    for node in 3..=nodes {
        let kind = any_of(random, "RCLDSDT");
        let other = [0, 2, 2.max(node - 1)][random.below(3)];
        branches.push(branch(part(random, kind), other, node));
    }
    let inner: Vec<usize> = std::iter::once(0).chain(2..=nodes).collect();
    for _ in 0..3 + random.below(5) {
        let from = random.below(inner.len());
        let to = (from + 1 + random.below(inner.len() - 1)) % inner.len();
        let kind = any_of(random, "CCCLLRDDDSST");
        branches.push(branch(part(random, kind), inner[from], inner[to]));
    }
    // Most are tied to ground by large resistances; in the others something may float.
    if random.below(5) < 3 {
        for node in 2..=nodes {
            branches.push(branch(Part::Resistor(rounded(random.between(5.0, 50.0))), node, 0));
        }
    }
    let mut order: Vec<usize> = (0..branches.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at + 1));
    }
    Circuit {
        branches,
        nodes,
        strict: random.below(2) == 0,
        order,
    }
}

/// The sizes of a second, a volt and an ohm.
#[derive(Copy, Clone, Debug)]
struct Units {
    time: f64,
    voltage: f64,
    resistance: f64,
}

impl Circuit {
    fn text(&self, units: Units) -> String {
        let Units {
            time,
            voltage,
            resistance,
        } = units;
        let current = voltage / resistance;
        let potential = |node: usize| match node {
            0 => "0".to_owned(),
            _ => format!("u[{node}]"),
        };
        let mut declared = format!("Real u[{}];\n", self.nodes);
        let mut equations = String::new();
        for &at in &self.order {
            let Branch { part, from, to } = &self.branches[at];
            let (mut v_start, mut i_start) = (String::new(), String::new());
            let law = match *part {
                Part::Source {
                    amplitude,
                    frequency,
                    phase,
                } => format!(
                    "v{at} = {:e}*sin({:e}*time + {phase});",
                    amplitude * voltage,
                    frequency / time
                ),
                Part::Resistor(ohms) => format!("v{at} = {:e}*i{at};", ohms * resistance),
                Part::Capacitor { capacitance, start } => {
                    v_start = format!("(start = {:e})", start * voltage);
                    format!("{:e}*der(v{at}) = i{at};", capacitance * time / resistance)
                }
                Part::Inductor { inductance, start } => {
                    i_start = format!("(start = {:e})", start * current);
                    format!("{:e}*der(i{at}) = v{at};", inductance * time * resistance)
                }
                Part::Diode | Part::Thyristor(_) => {
                    writeln!(declared, "Real s{at}; Boolean on{at};").expect("text");
                    let condition = match *part {
                        Part::Thyristor(fired) => {
                            writeln!(declared, "Boolean off{at}(start = true, fixed = true);").expect("text");
                            format!(
                                "off{at} = s{at} < 0 or pre(off{at}) and not time >= {:e}; on{at} = not off{at};",
                                fired * time
                            )
                        }
                        _ if self.strict => format!("on{at} = s{at} > 0;"),
                        _ => format!("on{at} = not s{at} < 0;"),
                    };
                    format!(
                        "{condition} v{at} = if on{at} then 0 else s{at}*{voltage:e}; \
                         i{at} = if on{at} then s{at}*{current:e} else 0;"
                    )
                }
                Part::Switch(closes, opens) => format!(
                    "if time >= {:e} and time < {:e} then v{at} = 0; else i{at} = 0; end if;",
                    closes * time,
                    opens * time
                ),
            };
            writeln!(declared, "Real v{at}{v_start}, i{at}{i_start};").expect("text");
            writeln!(equations, "v{at} = {} - {}; {law}", potential(*from), potential(*to)).expect("text");
        }
        for node in 1..=self.nodes {
            let sum = self.branches.iter().enumerate().filter_map(|(at, branch)| {
                let sign = match node {
                    _ if branch.from == node => '+',
                    _ if branch.to == node => '-',
                    _ => return None,
                };
                Some(format!(" {sign} i{at}"))
            });
            writeln!(equations, "0 ={};", sum.collect::<String>()).expect("text");
        }
        format!("model M\n{declared}equation\n{equations}end M;")
    }

    /// Which branches hold energy.
    fn stores(&self) -> impl Iterator<Item = usize> + '_ {
        let stores = |part: &Part| matches!(part, Part::Capacitor { .. } | Part::Inductor { .. });
        (0..self.branches.len()).filter(move |&at| stores(&self.branches[at].part))
    }
}

/// Backward Euler steps with resistances in place of ideal parts.
struct Steps<'a> {
    circuit: &'a Circuit,
    step: f64,
    closed: f64,
    /// Branches with a current of their own: unknowns after the potentials.
    own_current: HashMap<usize, usize>,
    factors: HashMap<Vec<bool>, DenseLu<f64>>,
    /// Voltages of capacitors and currents of inductors.
    state: Vec<f64>,
    on: Vec<bool>,
    was_on: Vec<bool>,
}

impl<'a> Steps<'a> {
    fn new(circuit: &'a Circuit, count: usize, closed: f64) -> Self {
        let has_current = |part: &Part| matches!(part, Part::Source { .. } | Part::Inductor { .. });
        let with_current = (0..circuit.branches.len()).filter(|&at| has_current(&circuit.branches[at].part));
        let start = |branch: &Branch| match branch.part {
            Part::Capacitor { start, .. } | Part::Inductor { start, .. } => start,
            _ => 0.0,
        };
        Steps {
            circuit,
            step: STOP / count as f64,
            closed,
            own_current: with_current.zip(circuit.nodes..).collect(),
            factors: HashMap::new(),
            state: circuit.branches.iter().map(start).collect(),
            on: vec![false; circuit.branches.len()],
            was_on: vec![false; circuit.branches.len()],
        }
    }

    fn matrix(&self) -> DenseMatrix {
        let size = self.circuit.nodes + self.own_current.len();
        let mut a = DenseMatrix::zeros(size, size);
        for node in 0..self.circuit.nodes {
            a[(node, node)] += 1e-9;
        }
        for (at, Branch { part, from, to }) in self.circuit.branches.iter().enumerate() {
            let ends = [(*from, 1.0), (*to, -1.0)];
            let ends = || ends.into_iter().filter(|&(node, _)| node > 0);
            if let Some(&own) = self.own_current.get(&at) {
                for (node, sign) in ends() {
                    a[(node - 1, own)] += sign;
                    a[(own, node - 1)] += sign;
                }
                if let Part::Inductor { inductance, .. } = part {
                    a[(own, own)] -= inductance / self.step;
                }
                continue;
            }
            let conductance = match part {
                Part::Resistor(ohms) => 1.0 / ohms,
                Part::Capacitor { capacitance, .. } => capacitance / self.step,
                _ if self.on[at] => 1.0 / self.closed,
                _ => self.closed,
            };
            for (row, sign) in ends() {
                for (column, other) in ends() {
                    a[(row - 1, column - 1)] += sign * other * conductance;
                }
            }
        }
        a
    }

    fn right_side(&self, time: f64) -> Vec<f64> {
        let mut b = vec![0.0; self.circuit.nodes + self.own_current.len()];
        for (at, Branch { part, from, to }) in self.circuit.branches.iter().enumerate() {
            match *part {
                Part::Source {
                    amplitude,
                    frequency,
                    phase,
                } => b[self.own_current[&at]] = amplitude * (frequency * time + phase).sin(),
                Part::Inductor { inductance, .. } => {
                    b[self.own_current[&at]] = -inductance / self.step * self.state[at];
                }
                Part::Capacitor { capacitance, .. } => {
                    for (node, sign) in [(*from, 1.0), (*to, -1.0)] {
                        if node > 0 {
                            b[node - 1] += sign * capacitance / self.step * self.state[at];
                        }
                    }
                }
                _ => {}
            }
        }
        b
    }

    fn voltage(&self, solution: &[f64], at: usize) -> f64 {
        let potential = |node: usize| if node == 0 { 0.0 } else { solution[node - 1] };
        potential(self.circuit.branches[at].from) - potential(self.circuit.branches[at].to)
    }

    /// One step to a time; false if no state of the valves is consistent.
    fn advance(&mut self, time: f64) -> bool {
        let within = time - 0.5 * self.step;
        for (at, branch) in self.circuit.branches.iter().enumerate() {
            if let Part::Switch(closes, opens) = branch.part {
                self.on[at] = (closes..opens).contains(&within);
            }
        }
        let b = self.right_side(time);
        let mut random = Random(7);
        for attempt in 0..400 {
            if !self.factors.contains_key(&self.on) {
                let matrix = self.matrix();
                let mut lu = DenseLu::new(matrix.rows());
                if lu.factor(matrix.values()).is_err() {
                    return false;
                }
                self.factors.insert(self.on.clone(), lu);
            }
            let mut solution = b.clone();
            self.factors[&self.on].solve(&mut solution);
            let wrong: Vec<usize> = (0..self.on.len())
                .filter(|&at| {
                    let voltage = self.voltage(&solution, at);
                    let fired = match self.circuit.branches[at].part {
                        Part::Diode => true,
                        Part::Thyristor(fired) => within >= fired || self.was_on[at],
                        _ => return false,
                    };
                    voltage.abs() > 1e-11 && (voltage > 0.0 && fired) != self.on[at]
                })
                .collect();
            if wrong.is_empty() {
                self.accept(&solution);
                return true;
            }
            // All of them at first, then one by one, lest it goes to and fro.
            let chosen = if attempt < 4 {
                wrong
            } else {
                vec![wrong[random.below(wrong.len())]]
            };
            chosen.into_iter().for_each(|at| self.on[at] = !self.on[at]);
        }
        false
    }

    fn accept(&mut self, solution: &[f64]) {
        self.was_on.clone_from(&self.on);
        for (at, branch) in self.circuit.branches.iter().enumerate() {
            match branch.part {
                Part::Capacitor { .. } => self.state[at] = self.voltage(solution, at),
                Part::Inductor { .. } => self.state[at] = solution[self.own_current[&at]],
                _ => {}
            }
        }
    }

    /// What is stored at the sample times; none if some step had no solution.
    fn run(mut self, count: usize) -> Option<Vec<Vec<f64>>> {
        let mut samples = Vec::new();
        for number in 1..=count {
            if !self.advance(number as f64 * self.step) {
                return None;
            }
            if number % (count / SAMPLES) == 0 {
                samples.push(self.state.clone());
            }
        }
        Some(samples)
    }
}

/// What is expected at the sample times, and by how much it may be off: what halving steps and other resistances change.
fn expected(circuit: &Circuit) -> Option<Vec<Vec<(f64, f64)>>> {
    let fine = Steps::new(circuit, STEPS, 1e-7).run(STEPS)?;
    let coarse = Steps::new(circuit, STEPS / 2, 1e-7).run(STEPS / 2)?;
    let softer = Steps::new(circuit, STEPS, 1e-6).run(STEPS)?;
    let rows = fine.iter().zip(&coarse).zip(&softer);
    let row = |((fine, coarse), softer): ((&Vec<f64>, &Vec<f64>), &Vec<f64>)| {
        let entries = fine.iter().zip(coarse).zip(softer);
        entries
            .map(|((&a, &b), &c)| (a, 3.0 * (a - b).abs() + 3.0 * (a - c).abs()))
            .collect()
    };
    Some(rows.map(row).collect())
}

/// Whether there is something to compare with, or what is wrong with a run.
fn judge(circuit: &Circuit, units: Units) -> Result<bool, String> {
    let Some(expected) = expected(circuit) else {
        return Ok(false);
    };
    let session = Session::new();
    session.add_text("M.mo", &circuit.text(units));
    let model = session.compile("M").into_result().map_err(|d| format!("{d:?}"))?;
    let interval = STOP / SAMPLES as f64 * units.time;
    let run = model.run().stop(STOP * units.time).tolerance(1e-8).interval(interval);
    let simulation = run.simulate().map_err(|failed| failed.to_string())?;
    let times = simulation.time();
    for at in circuit.stores() {
        let (name, unit) = match circuit.branches[at].part {
            Part::Capacitor { .. } => (format!("v{at}"), units.voltage),
            _ => (format!("i{at}"), units.voltage / units.resistance),
        };
        let values = simulation.values(&name).ok_or("a variable is missing")?;
        let size = expected.iter().map(|row| row[at].0.abs()).fold(0.5, f64::max);
        // Where something switches at a sample time, steps of either side may be meant.
        for (number, row) in expected.iter().enumerate() {
            let time = (number + 1) as f64 * interval;
            let near = |row: &usize| (times[*row] - time).abs() <= 1e-9 * time;
            let (wanted, error) = row[at];
            let off = |row: usize| (values[row] / unit - wanted).abs() - error - 0.01 * size;
            let least = (0..times.len()).filter(near).map(off).fold(f64::INFINITY, f64::min);
            if least > 0.0 {
                let found: Vec<f64> = (0..times.len()).filter(near).map(|row| values[row] / unit).collect();
                return Err(format!("{name} at {time:e} is {found:?} instead of {wanted}"));
            }
        }
    }
    Ok(circuit.stores().next().is_some())
}

/// Circuits with these seeds, in random units, go the way of resistances that become small and large.
fn all_are_right(seeds: std::ops::Range<u64>) {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    let count = seeds.clone().count();
    for seed in seeds {
        let random = &mut Random(seed);
        let mut unit = || 10f64.powi(3 * (random.below(7) as i32 - 3));
        let units = match seed % 3 {
            0 => Units {
                time: 1.0,
                voltage: 1.0,
                resistance: 1.0,
            },
            _ => Units {
                time: unit(),
                voltage: unit(),
                resistance: unit(),
            },
        };
        let circuit = circuit(seed);
        match judge(&circuit, units) {
            Ok(judged) => compared += usize::from(judged),
            Err(reason) => wrong.push(format!("seed {seed}: {reason}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= count * 3 / 4, "{compared} of {count} circuits compared");
}

#[test]
fn ideal_circuits() {
    all_are_right(0..40);
}

#[test]
fn more_ideal_circuits() {
    all_are_right(40..80);
}
