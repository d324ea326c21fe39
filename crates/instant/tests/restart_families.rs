//! Families of mode changes with many variations, against the laws of impact solved directly:
//! M·(v⁺ − v⁻) = −Gᵀ·P and G·v⁺ = −e·G·v⁻, with P the impulses of what G's rows pull with.

// Bodies, axes and ropes go by number.
#![allow(clippy::needless_range_loop)]

mod restart_support;

use std::collections::BTreeMap;

use restart_support::Equations;
use restart_support::case::{Built, Case, Disguise};
use restart_support::report::Report;
use saltus_structure::restart::*;
use saltus_testing::Random;

/// Velocities (or voltages, currents) with what makes them inert, and constraints that act at the instant.
#[derive(Default)]
struct Law {
    /// Names of the velocities.
    names: Vec<String>,
    mass: Vec<Vec<f64>>,
    before: Vec<f64>,
    /// Rows of G with the name of what pulls and its restitution.
    rows: Vec<(Vec<f64>, String, f64)>,
}

impl Law {
    fn new(names: Vec<String>, masses: &[f64], before: Vec<f64>) -> Self {
        let n = names.len();
        let diagonal = |i: usize| (0..n).map(|j| if i == j { masses[i] } else { 0.0 }).collect();
        Law {
            names,
            mass: (0..n).map(diagonal).collect(),
            before,
            rows: Vec::new(),
        }
    }

    fn add(&mut self, row: &[(usize, f64)], pull: &str, restitution: f64) {
        let mut dense = vec![0.0; self.names.len()];
        row.iter().for_each(|&(i, value)| dense[i] += value);
        self.rows.push((dense, pull.to_string(), restitution));
    }

    /// Velocities after, and impulses.
    fn solve(&self) -> (Vec<f64>, Vec<f64>) {
        let (n, k) = (self.names.len(), self.rows.len());
        let mut matrix = vec![vec![0.0; n + k + 1]; n + k];
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] = self.mass[i][j];
                matrix[i][n + k] += self.mass[i][j] * self.before[j];
            }
        }
        for (r, (row, _, restitution)) in self.rows.iter().enumerate() {
            for i in 0..n {
                matrix[i][n + r] = row[i];
                matrix[n + r][i] = row[i];
                matrix[n + r][n + k] -= restitution * row[i] * self.before[i];
            }
        }
        let mut solution = gauss(matrix);
        let impulses = solution.split_off(n);
        (solution, impulses)
    }

    /// Makes the velocities before satisfy the constraints so far, which then stay in force.
    fn settle(&mut self) {
        self.before = self.solve().0;
    }
}

fn gauss(mut m: Vec<Vec<f64>>) -> Vec<f64> {
    let n = m.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&a, &b| m[a][column].abs().total_cmp(&m[b][column].abs()))
            .unwrap();
        m.swap(column, pivot);
        assert!(m[column][column].abs() > 1e-9, "independent constraints");
        for row in (0..n).filter(|&row| row != column) {
            let factor = m[row][column] / m[column][column];
            for at in column..=n {
                m[row][at] -= factor * m[column][at];
            }
        }
    }
    (0..n).map(|i| m[i][n] / m[i][i]).collect()
}

struct Variation {
    case: Case,
    law: Law,
}

fn insert(equations: &mut Equations, label: String, text: String) {
    assert!(equations.insert(label, text).is_none());
}

/// Rotors with gears and clutches between some of them: any engaged set before, any after.
fn shafts(random: &mut Random) -> Variation {
    let n = 2 + random.below(7);
    let (masses, links) = (positive(n, random), tree(n, random));
    let mut case = Case::default();
    let names: Vec<String> = (0..n).map(|i| format!("w{i}")).collect();
    let mut law = Law::new(names, &masses, anything(n, random));
    let mut torques = vec![String::new(); n];
    let mut ratios = Vec::new();
    for (k, &(i, j)) in links.iter().enumerate() {
        let ratio = random.between(0.4, 2.5);
        case.parameters.insert(format!("r{k}"), ratio);
        ratios.push(ratio);
        torques[i] += &format!(" + t{k}");
        torques[j] += &format!(" - r{k}*t{k}");
    }
    let mut common = Equations::new();
    for i in 0..n {
        case.parameters.insert(format!("J{i}"), masses[i]);
        let drag = ["", " + 0.3*w#", " + 0.2*w#**2", " + 0.1*sin(w#)"][random.below(4)];
        let drag = drag.replace('#', &i.to_string());
        insert(&mut common, format!("e{i}"), format!("J{i}*w{i}'{}{drag}", torques[i]));
    }
    let (mut prev, mut new) = (common.clone(), common);
    let constraint = |k: usize| -> (String, [(usize, f64); 2]) {
        let (i, j) = links[k];
        (format!("w{i} - r{k}*w{j}"), [(i, 1.0), (j, -ratios[k])])
    };
    let before: Vec<bool> = links.iter().map(|_| random.below(3) == 0).collect();
    let after: Vec<bool> = links.iter().map(|_| random.below(3) > 0).collect();
    for (modes, engaged) in [(&mut prev, &before), (&mut new, &after)] {
        for (k, &engaged) in engaged.iter().enumerate() {
            if engaged {
                insert(modes, format!("c{k}"), constraint(k).0)
            } else {
                insert(modes, format!("o{k}"), format!("t{k}"))
            }
        }
    }
    settle_then(&mut law, &before, &after, |k| {
        (constraint(k).1.to_vec(), format!("t{k}"))
    });
    case.prev = Some(prev);
    case.new = new;
    finish(case, law)
}

/// What was in force settles the velocities before; what is in force after acts.
fn settle_then(law: &mut Law, before: &[bool], after: &[bool], row: impl Fn(usize) -> (Vec<(usize, f64)>, String)) {
    for k in (0..before.len()).filter(|&k| before[k]) {
        let (row, pull) = row(k);
        law.add(&row, &pull, 0.0);
    }
    law.settle();
    law.rows.clear();
    for k in (0..after.len()).filter(|&k| after[k]) {
        let (row, pull) = row(k);
        law.add(&row, &pull, 0.0);
    }
}

fn finish(mut case: Case, law: Law) -> Variation {
    for (name, &value) in law.names.iter().zip(&law.before) {
        case.left.insert(name.clone(), value);
    }
    Variation { case, law }
}

fn positive(n: usize, random: &mut Random) -> Vec<f64> {
    (0..n).map(|_| random.between(0.3, 3.0)).collect()
}
fn anything(n: usize, random: &mut Random) -> Vec<f64> {
    (0..n).map(|_| random.between(-4.0, 4.0)).collect()
}
/// Edges of a random tree.
fn tree(n: usize, random: &mut Random) -> Vec<(usize, usize)> {
    (1..n).map(|i| (random.below(i), i)).collect()
}

/// Nodes with capacitors to ground and to each other, switches, resistors and inductors; values in microfarad.
fn capacitors(random: &mut Random) -> Variation {
    let n = 2 + random.below(5);
    let unit = [1.0, 1e-6][random.below(2)];
    let ground: Vec<f64> = positive(n, random).iter().map(|c| c * unit).collect();
    let mut case = Case::default();
    let names: Vec<String> = (0..n).map(|i| format!("v{i}")).collect();
    let mut law = Law::new(names, &ground, anything(n, random));
    let mut currents = vec![String::new(); n];
    let mut common = Equations::new();
    for i in 0..n {
        case.parameters.insert(format!("C{i}"), ground[i]);
        for j in i + 1..n {
            match random.below(5) {
                0 => {
                    let coupling = unit * random.between(0.2, 1.0);
                    case.parameters.insert(format!("C{i}x{j}"), coupling);
                    for (a, b) in [(i, j), (j, i)] {
                        currents[a] += &format!(" + C{i}x{j}*(v{a}' - v{b}')");
                        law.mass[a][a] += coupling;
                        law.mass[a][b] -= coupling;
                    }
                }
                1 => {
                    currents[i] += &format!(" + (v{i} - v{j})/7");
                    currents[j] += &format!(" + (v{j} - v{i})/7");
                }
                2 => {
                    currents[i] += &format!(" + q{i}x{j}");
                    currents[j] += &format!(" - q{i}x{j}");
                    insert(&mut common, format!("l{i}x{j}"), format!("0.3*q{i}x{j}' - v{i} + v{j}"));
                    case.left.insert(format!("q{i}x{j}"), random.between(-1.0, 1.0));
                }
                _ => {}
            }
        }
    }
    let links = tree(n, random);
    for (k, &(i, j)) in links.iter().enumerate() {
        currents[i] += &format!(" + i{k}");
        currents[j] += &format!(" - i{k}");
    }
    for i in 0..n {
        insert(&mut common, format!("n{i}"), format!("C{i}*v{i}'{}", currents[i]));
    }
    let before: Vec<bool> = links.iter().map(|_| random.below(4) == 0).collect();
    let after: Vec<bool> = links.iter().map(|_| random.below(3) > 0).collect();
    let mode = |closed: &[bool]| {
        let mut mode = common.clone();
        for (k, &(i, j)) in links.iter().enumerate() {
            if closed[k] {
                insert(&mut mode, format!("s{k}"), format!("v{i} - v{j}"))
            } else {
                insert(&mut mode, format!("o{k}"), format!("i{k}"))
            }
        }
        mode
    };
    case.prev = Some(mode(&before));
    case.new = mode(&after);
    settle_then(&mut law, &before, &after, |k| {
        (vec![(links[k].0, 1.0), (links[k].1, -1.0)], format!("i{k}"))
    });
    finish(case, law)
}

/// Inductors that meet in a node whose connection to ground opens: the flux is shared, the node's voltage an impulse.
fn inductors(random: &mut Random) -> Variation {
    let n = 2 + random.below(5);
    let masses = positive(n, random);
    let mut case = Case::default();
    let names: Vec<String> = (0..n).map(|i| format!("i{i}")).collect();
    let mut law = Law::new(names, &masses, anything(n, random));
    let mut common = Equations::new();
    for i in 0..n {
        case.parameters.insert(format!("L{i}"), masses[i]);
        let loss = ["", " + 2*i#"][random.below(2)].replace('#', &i.to_string());
        insert(&mut common, format!("l{i}"), format!("L{i}*i{i}' - {i}/3 + v{loss}"));
    }
    let sum: Vec<String> = (0..n).map(|i| format!("i{i}")).collect();
    insert(&mut common, "node".into(), format!("{} - switch", sum.join(" + ")));
    let with = |label: &str, text: &str| {
        let mut mode = common.clone();
        insert(&mut mode, label.into(), text.into());
        mode
    };
    case.prev = Some(with("closed", "v"));
    case.new = with("open", "switch");
    let row: Vec<(usize, f64)> = (0..n).map(|i| (i, 1.0)).collect();
    law.add(&row, "v", 0.0);
    finish(case, law)
}

/// Masses in two or three dimensions, ropes to a fixed point and between them. Some are tight; others become tight at
/// the same instant and stay so, or throw back.
fn ropes(random: &mut Random) -> Variation {
    let (dimensions, n) = (2 + random.below(2), 1 + random.below(3));
    let axes = &["x", "y", "z"][..dimensions];
    let masses = positive(n, random);
    let mut case = Case::default();
    let name = |i: usize, axis: usize| format!("{}{i}", axes[axis]);
    let velocities = (0..n).flat_map(|i| (0..dimensions).map(move |axis| (i, axis)));
    let names: Vec<String> = velocities
        .clone()
        .map(|(i, axis)| format!("{}'", name(i, axis)))
        .collect();
    let repeated: Vec<f64> = velocities.map(|(i, _)| masses[i]).collect();
    let mut law = Law::new(names, &repeated, anything(n * dimensions, random));
    let at: Vec<Vec<f64>> = (0..n).map(|_| anything(dimensions, random)).collect();
    // The other end: a body hung up before, or the origin.
    let ends: Vec<Option<usize>> = (0..n).map(|i| random.below(i + 1).checked_sub(1)).collect();
    let mut forces = vec![String::new(); n * dimensions];
    let relative = |k: usize, axis: usize, suffix: &str| match ends[k] {
        None => format!("{}{suffix}", name(k, axis)),
        Some(j) => format!("({}{suffix} - {}{suffix})", name(k, axis), name(j, axis)),
    };
    let offset = |k: usize, axis: usize| at[k][axis] - ends[k].map_or(0.0, |j| at[j][axis]);
    for k in 0..n {
        let square: f64 = (0..dimensions).map(|axis| offset(k, axis).powi(2)).sum();
        case.parameters.insert(format!("L{k}"), square.sqrt());
        case.parameters.insert(format!("m{k}"), masses[k]);
        for axis in 0..dimensions {
            case.left.insert(name(k, axis), at[k][axis]);
            forces[k * dimensions + axis] += &format!(" + l{k}*{}", relative(k, axis, ""));
            if let Some(j) = ends[k] {
                forces[j * dimensions + axis] += &format!(" - l{k}*{}", relative(k, axis, ""));
            }
        }
    }
    let mut common = Equations::new();
    for i in 0..n {
        for axis in 0..dimensions {
            let weight = if axis + 1 == dimensions {
                format!(" + m{i}*9.81")
            } else {
                String::new()
            };
            let text = format!("m{i}*{}''{}{weight}", name(i, axis), forces[i * dimensions + axis]);
            insert(&mut common, format!("e{}", name(i, axis)), text);
        }
    }
    let constraint = |k: usize| {
        let squares: Vec<String> = (0..dimensions)
            .map(|axis| format!("{}**2", relative(k, axis, "")))
            .collect();
        format!("{} - L{k}**2", squares.join(" + "))
    };
    let row = |k: usize| {
        let mut row = Vec::new();
        for axis in 0..dimensions {
            row.push((k * dimensions + axis, offset(k, axis)));
            row.extend(ends[k].map(|j| (j * dimensions + axis, -offset(k, axis))));
        }
        row
    };
    let before: Vec<bool> = (0..n).map(|_| random.below(3) == 0).collect();
    let fresh: Vec<usize> = (0..n).filter(|&k| !before[k]).collect();
    let struck: Vec<usize> = fresh.iter().copied().filter(|_| random.below(3) > 0).collect();
    let rebound = random.below(2) == 0 && !struck.is_empty();
    let after: Vec<bool> = (0..n).map(|k| before[k] || (!rebound && struck.contains(&k))).collect();
    let mode = |tight: &[bool], loose: &dyn Fn(usize) -> bool| {
        let mut mode = common.clone();
        for k in 0..n {
            match tight[k] {
                true => insert(&mut mode, format!("k{k}"), constraint(k)),
                false if loose(k) => insert(&mut mode, format!("f{k}"), format!("l{k}")),
                false => {}
            }
        }
        mode
    };
    case.prev = Some(mode(&before, &|_| true));
    case.new = mode(&after, &|_| true);
    case.zero_crossings = struck.iter().map(|&k| constraint(k)).collect();
    settle_then(&mut law, &before, &after, |k| (row(k), format!("l{k}")));
    if rebound {
        case.transient = Some(mode(&before, &|k| !struck.contains(&k)));
        for &k in &struck {
            let speed = |left: &str| {
                let parts = (0..dimensions)
                    .map(|axis| format!("{}*{}", relative(k, axis, left), relative(k, axis, &format!("'{left}"))));
                parts.collect::<Vec<_>>().join(" + ")
            };
            let restitution = random.between(0.1, 1.0);
            case.parameters.insert(format!("e{k}"), restitution);
            let text = format!("{} + e{k}*({})", speed(""), speed("^-"));
            case.restart.insert(format!("N{k}"), text);
            law.add(&row(k), &format!("l{k}"), restitution);
        }
    }
    finish(case, law)
}

/// Carts in a row, or on springs: neighbours that meet stick together or rebound, all at once.
fn carts(random: &mut Random) -> Variation {
    let n = 2 + random.below(6);
    let masses = positive(n, random);
    let mut case = Case::default();
    let names: Vec<String> = (0..n).map(|i| format!("x{i}'")).collect();
    let mut law = Law::new(names, &masses, anything(n, random));
    let mut forces = vec![String::new(); n];
    for k in 0..n - 1 {
        forces[k] += &format!(" + f{k}");
        forces[k + 1] += &format!(" - f{k}");
    }
    let extra = ["", " + 3*x#", " + 2*x#'", " + x#'**3"][random.below(4)];
    let mut common = Equations::new();
    for i in 0..n {
        case.parameters.insert(format!("m{i}"), masses[i]);
        case.left.insert(format!("x{i}"), 0.7);
        let extra = extra.replace('#', &i.to_string());
        insert(&mut common, format!("n{i}"), format!("m{i}*x{i}''{}{extra}", forces[i]));
    }
    let mut meets: Vec<bool> = (0..n - 1).map(|_| random.below(2) == 0).collect();
    meets[0] = true;
    let rebound = random.below(2) == 0;
    let mode = |open: &dyn Fn(usize) -> bool, stuck: &dyn Fn(usize) -> bool| {
        let mut mode = common.clone();
        for k in 0..n - 1 {
            match stuck(k) {
                true => insert(&mut mode, format!("s{k}"), format!("x{k} - x{}", k + 1)),
                false if open(k) => insert(&mut mode, format!("o{k}"), format!("f{k}")),
                false => {}
            }
        }
        mode
    };
    case.prev = Some(mode(&|_| true, &|_| false));
    case.new = mode(&|_| true, &|k| meets[k] && !rebound);
    for k in (0..n - 1).filter(|&k| meets[k]) {
        case.zero_crossings.push(format!("x{} - x{k}", k + 1));
        let restitution = if rebound { random.between(0.0, 1.0) } else { 0.0 };
        law.add(&[(k, 1.0), (k + 1, -1.0)], &format!("f{k}"), restitution);
        if rebound {
            case.parameters.insert(format!("e{k}"), restitution);
            let next = k + 1;
            let text = format!("x{next}' - x{k}' + e{k}*(x{next}'^- - x{k}'^-)");
            case.restart.insert(format!("N{k}"), text);
        }
    }
    if rebound {
        case.transient = Some(mode(&|k| !meets[k], &|_| false));
    }
    finish(case, law)
}

/// A motor with a capacitor across it, a shaft with clutches, a hoist on the last rotor: three kinds of inertia.
fn drives(random: &mut Random) -> Variation {
    let n = 2 + random.below(4);
    let (capacity, factor, radius) = (
        random.between(0.5, 3.0),
        random.between(0.1, 1.0),
        random.between(0.2, 1.5),
    );
    let mut masses = positive(n, random);
    masses.extend([capacity, random.between(1.0, 5.0)]);
    let mut names: Vec<String> = (0..n).map(|i| format!("w{i}")).collect();
    names.extend(["u".to_string(), "v".to_string()]);
    let mut law = Law::new(names, &masses, anything(n + 2, random));
    let mut case = Case::default();
    let constants = [("C", capacity), ("k", factor), ("r", radius), ("m", masses[n + 1])];
    case.parameters
        .extend(constants.map(|(name, value)| (name.to_string(), value)));
    let mut common = Equations::new();
    // The motor passes on power: τ = k·i, u = k·w.
    insert(&mut common, "electric".into(), "C*u' + i - (12 - u)/4".into());
    insert(&mut common, "emf".into(), "k*w0 - u".into());
    insert(&mut common, "load".into(), "m*v' + m*9.81 - f".into());
    for i in 0..n {
        case.parameters.insert(format!("J{i}"), masses[i]);
        let mut torque = String::new();
        if i == 0 {
            torque += " - k*i";
        } else {
            torque += &format!(" - t{}", i - 1);
        }
        if i + 1 < n {
            torque += &format!(" + t{i}");
        } else {
            torque += " + r*f";
        }
        insert(&mut common, format!("j{i}"), format!("J{i}*w{i}'{torque} + 0.1*w{i}"));
    }
    // Links: clutches 0…n−2, and the rope of the hoist.
    let row = |k: usize| {
        if k == n - 1 {
            (vec![(n - 1, radius), (n + 1, -1.0)], "f".to_string())
        } else {
            (vec![(k, 1.0), (k + 1, -1.0)], format!("t{k}"))
        }
    };
    let text = |k: usize, closed: bool| match (k == n - 1, closed) {
        (true, true) => format!("r*w{k} - v"),
        (true, false) => "f".into(),
        (false, true) => format!("w{k} - w{}", k + 1),
        (false, false) => format!("t{k}"),
    };
    let before: Vec<bool> = (0..n).map(|_| random.below(4) == 0).collect();
    let after: Vec<bool> = (0..n).map(|_| random.below(4) > 0).collect();
    let mode = |closed: &[bool]| {
        let mut mode = common.clone();
        for (k, &closed) in closed.iter().enumerate() {
            insert(
                &mut mode,
                format!("{}{k}", if closed { "c" } else { "o" }),
                text(k, closed),
            );
        }
        mode
    };
    case.prev = Some(mode(&before));
    case.new = mode(&after);
    let emf = vec![(0, factor), (n, -1.0)];
    for closed in [&before, &after] {
        law.rows.clear();
        law.add(&emf, "i", 0.0);
        for k in (0..n).filter(|&k| closed[k]) {
            let (row, pull) = row(k);
            law.add(&row, &pull, 0.0);
        }
        if std::ptr::eq(closed, &before) {
            law.settle();
        }
    }
    // i feeds the rotor and drains the capacitor: −P of the row.
    law.rows[0].0.iter_mut().for_each(|entry| *entry = -*entry);
    finish(case, law)
}

/// Pendulums on rods whose bobs meet at the bottom, exactly at the same instant.
fn cradles(random: &mut Random) -> Variation {
    let n = 2 + random.below(3);
    let masses = positive(n, random);
    let mut case = Case::default();
    let names: Vec<String> = (0..n).flat_map(|i| [format!("x{i}'"), format!("y{i}'")]).collect();
    let repeated: Vec<f64> = masses.iter().flat_map(|&m| [m, m]).collect();
    let mut law = Law::new(names, &repeated, anything(2 * n, random));
    let mut common = Equations::new();
    let mut rods = Vec::new();
    for i in 0..n {
        let length = random.between(0.5, 2.0);
        let (x, y) = (0.1 * i as f64, -length);
        case.parameters.insert(format!("m{i}"), masses[i]);
        case.parameters.insert(format!("L{i}"), length);
        case.parameters.insert(format!("a{i}"), x);
        case.left.insert(format!("x{i}"), x);
        case.left.insert(format!("y{i}"), y);
        let push = if i > 0 { format!(" - f{}", i - 1) } else { String::new() };
        let pull = if i + 1 < n { format!(" + f{i}") } else { String::new() };
        insert(
            &mut common,
            format!("h{i}"),
            format!("m{i}*x{i}'' + l{i}*(x{i} - a{i}){push}{pull}"),
        );
        insert(
            &mut common,
            format!("v{i}"),
            format!("m{i}*y{i}'' + l{i}*y{i} + m{i}*9.81"),
        );
        insert(
            &mut common,
            format!("rod{i}"),
            format!("(x{i} - a{i})**2 + y{i}**2 - L{i}**2"),
        );
        rods.push((vec![(2 * i, 0.0), (2 * i + 1, y)], format!("l{i}")));
    }
    let meets: Vec<bool> = (0..n - 1).map(|k| k == 0 || random.below(2) == 0).collect();
    for (row, pull) in &rods {
        law.add(row, pull, 0.0);
    }
    law.settle();
    let with = |open: &dyn Fn(usize) -> bool| {
        let mut mode = common.clone();
        for k in (0..n - 1).filter(|&k| open(k)) {
            insert(&mut mode, format!("o{k}"), format!("f{k}"));
        }
        mode
    };
    case.prev = Some(with(&|_| true));
    case.new = with(&|_| true);
    case.transient = Some(with(&|k| !meets[k]));
    for k in (0..n - 1).filter(|&k| meets[k]) {
        let restitution = random.between(0.0, 1.0);
        case.parameters.insert(format!("e{k}"), restitution);
        case.parameters.insert(format!("gap{k}"), 0.1);
        let next = k + 1;
        case.zero_crossings.push(format!("x{next} - x{k} - gap{k}"));
        let text = format!("x{next}' - x{k}' + e{k}*(x{next}'^- - x{k}'^-)");
        case.restart.insert(format!("N{k}"), text);
        law.add(&[(2 * k, 1.0), (2 * next, -1.0)], &format!("f{k}"), restitution);
    }
    finish(case, law)
}

/// Right limits by name, and first-order impulses of variables by name.
type Outcome = (BTreeMap<String, f64>, BTreeMap<String, f64>);

fn outcome(case: &Case, disguise: &mut Disguise, scope: Scope) -> Result<Outcome, String> {
    let mut built = Built::new(case, disguise);
    built.options.scope = scope;
    let analysis = built.analyze();
    if !analysis.is_good() {
        return Err(format!("{:?}", analysis.verdict));
    }
    let solution = built.solve(analysis.plan.as_ref().unwrap());
    let solution = solution.map_err(|failure| format!("{failure:?}"))?;
    let report = Report {
        built: &built,
        analysis: &analysis,
    };
    let impulses = solution.impulses.iter().filter(|impulse| impulse.order == 0);
    let impulses = impulses.map(|impulse| {
        assert_eq!(impulse.mu, 1);
        (built.variables[&impulse.var].clone(), impulse.weight)
    });
    Ok((report.right_limits(&solution), impulses.collect()))
}

fn check(family: &str, make: fn(&mut Random) -> Variation, seeds: u64) {
    let mut jumps = 0;
    for seed in 0..seeds {
        let Variation { case, law } = make(&mut Random(seed * 7919 + 17));
        let (expected, impulses) = law.solve();
        let size = 1.0 + expected.iter().chain(&law.before).fold(0.0_f64, |s, v| s.max(v.abs()));
        for (scope, disguise) in [
            (Scope::All, &mut Disguise::none()),
            (Scope::Touched, &mut Disguise::seeded(seed + 1)),
        ] {
            let found = outcome(&case, disguise, scope);
            let (after, found) = found.unwrap_or_else(|e| panic!("{family} {seed}: {e}: {case:#?}"));
            for (name, value) in law.names.iter().zip(&expected) {
                // What is not touched keeps its left limit.
                let got = after.get(name).copied().unwrap_or(case.left[name]);
                assert!(
                    (got - value).abs() <= 1e-9 * size,
                    "{family} {seed}: {name} = {got}, not {value}"
                );
                jumps += usize::from((value - case.left[name]).abs() > 1e-3);
            }
            let heaviest = law.mass.iter().flatten().fold(0.0_f64, |s, m| s.max(m.abs()));
            for ((_, name, _), weight) in law.rows.iter().zip(&impulses) {
                let got = found.get(name).copied().unwrap_or(0.0);
                let close = (got - weight).abs() <= 1e-9 * size * heaviest.max(1e-6) * 10.0;
                assert!(close, "{family} {seed}: impulse of {name} = {got}, not {weight}");
            }
        }
    }
    assert!(jumps as u64 > seeds, "{family}: {jumps} jumps");
}

#[test]
fn shafts_with_gears_and_clutches() {
    check("shafts", shafts, 60);
}
#[test]
fn networks_of_capacitors() {
    check("capacitors", capacitors, 60);
}
#[test]
fn inductors_in_a_node() {
    check("inductors", inductors, 20);
}
#[test]
fn ropes_in_two_and_three_dimensions() {
    check("ropes", ropes, 60);
}
#[test]
fn carts_in_a_row() {
    check("carts", carts, 60);
}
#[test]
fn drives_of_mixed_kinds() {
    check("drives", drives, 60);
}
#[test]
fn pendulums_that_meet() {
    check("cradles", cradles, 40);
}
