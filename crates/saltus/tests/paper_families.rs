//! What the papers' examples promise, on families of random members: impact laws with several solutions, unknowns that exist
//! for a while, complementarity conditions, components to blame.

use saltus::{Model, Session, Simulation};
use saltus_testing::Random;

fn compile(text: &str) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    let outcome = session.compile("M");
    match outcome.value {
        Some(model) => model,
        None => panic!("{:?}\n{text}", outcome.diagnostics),
    }
}

fn run(text: &str, stop: f64) -> Simulation {
    match compile(text).run().stop(stop).tolerance(1e-9).simulate() {
        Ok(simulation) => simulation,
        Err(failed) => panic!("{failed}\n{text}"),
    }
}

fn last(simulation: &Simulation, name: &str) -> f64 {
    let signal = simulation
        .trajectory
        .signal(name)
        .unwrap_or_else(|| panic!("no {name}"));
    *signal.values.last().expect("rows")
}

#[test]
fn an_energy_law_has_the_root_of_the_restitution_law() {
    let mut random = Random(17);
    for _ in 0..40 {
        let scale = random.power(-3.0, 3.0);
        let (m1, m2) = (random.between(0.1, 9.0), random.between(0.1, 9.0));
        let (v1, v2) = (scale * random.between(0.2, 3.0), -scale * random.between(0.0, 3.0));
        // What is left of the energy in the frame of the centre of mass is e².
        let e = if random.chance(50) {
            1.0
        } else {
            random.between(0.3, 0.99)
        };
        let gap = 0.5 * (v1 - v2);
        let text = format!(
            "model M
  Real x1(start = 0, fixed = true), x2(start = {gap}, fixed = true);
  Real v1(start = {v1}, fixed = true), v2(start = {v2}, fixed = true), f;
  Boolean contact = x1 >= x2;
equation
  der(x1) = v1; der(x2) = v2;
  {m1}*der(v1) = -f; {m2}*der(v2) = f;
  if not contact then f = 0; end if;
  when contact then
    {m1}*v1^2 + {m2}*v2^2 = {}*({m1}*pre(v1)^2 + {m2}*pre(v2)^2) + {}*({m1}*pre(v1) + {m2}*pre(v2))^2/({m1} + {m2});
  end when;
end M;",
            e * e,
            1.0 - e * e
        );
        let simulation = run(&text, 1.0);
        let centre = (m1 * v1 + m2 * v2) / (m1 + m2);
        let (w1, w2) = (centre - e * (v1 - centre), centre - e * (v2 - centre));
        for (name, wanted) in [("v1", w1), ("v2", w2)] {
            let found = last(&simulation, name);
            assert!((found - wanted).abs() < 1e-7 * scale, "{name} {found} {wanted}\n{text}");
        }
        let warnings = &simulation.summary.report.warnings;
        assert!(
            warnings.iter().any(|warning| warning.contains("several solutions")),
            "{text}"
        );
    }
}

#[test]
fn what_does_not_exist_makes_no_events() {
    let mut random = Random(5);
    for _ in 0..30 {
        let (window, rate) = (random.between(0.5, 3.0), random.between(5.0, 40.0));
        let threshold = random.between(0.2, 0.8);
        let text = format!(
            "model M
  Real x(start = 0, fixed = true), y, z;
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  if sin(x*{window}) > 0 then
    y = sin({rate}*time);
  else
    z = 2*x;
  end if;
  when y > {threshold} then
    n = pre(n) + 1;
  end when;
end M;"
        );
        let simulation = run(&text, 6.0);
        let (mut counted, mut held) = (0, false);
        for step in 0..=600_000 {
            let time = f64::from(step) * 1e-5;
            if (time * window).sin() > 0.0 {
                let above = (rate * time).sin() > threshold;
                counted += u32::from(above && !held);
                held = above;
            }
        }
        assert_eq!(last(&simulation, "n"), f64::from(counted), "{text}");
    }
}

/// (47) of RR-8933: where x > 0 nothing determines u, and a mode that moves the fixed start value is none to begin in.
#[test]
fn a_mode_that_moves_a_fixed_start_is_refused() {
    let mut random = Random(47);
    for _ in 0..20 {
        let scale = random.power(-3.0, 3.0);
        let (start, bound) = (scale * random.between(0.1, 3.0), scale * random.between(-1.0, 0.0));
        let text = |start: f64, law: &str| {
            format!(
                "model M
  Real x(start = {start}, fixed = true), u;
equation
  der(x) = u - x;
  if x <= {bound} then x = {bound}; {law} end if;
end M;"
            )
        };
        let failed = compile(&text(start, "")).run().stop(1.0).simulate();
        assert!(failed.is_err(), "{}", text(start, ""));
        // With a law for u it starts where it is told to.
        let simulation = run(&text(start, "else u = 0;"), 1.0);
        let first = simulation.trajectory.signal("x").expect("x").values[0];
        assert!((first - start).abs() < 1e-12 * start, "{first} {start}");
    }
}

/// Two modes fit at the start: which one is taken is told.
#[test]
fn a_choice_of_modes_is_told() {
    let mut random = Random(2);
    for _ in 0..20 {
        let (up, down) = (random.between(0.5, 3.0), random.between(0.5, 3.0));
        let text = |down: f64| {
            format!("model M\n  Real s;\nequation\n  if s > 0 then s = {up}; else s = {down}; end if;\nend M;")
        };
        let told = |text: &str| {
            let simulation = run(text, 0.1);
            simulation
                .summary
                .report
                .warnings
                .iter()
                .any(|warning| warning.contains("fit the equations"))
        };
        assert!(told(&text(-down)), "{}", text(-down));
        // One of the branches contradicts its condition.
        assert!(!told(&text(down)), "{}", text(down));
    }
}

/// z of 0 ≤ z ⊥ M z + q ≥ 0 by trying all branches.
fn by_branches(m: &[Vec<f64>], q: &[f64]) -> Vec<f64> {
    let n = q.len();
    for bits in 0u32..1 << n {
        let free: Vec<usize> = (0..n).filter(|i| bits >> i & 1 == 1).collect();
        let mut rows: Vec<Vec<f64>> = free
            .iter()
            .map(|&i| free.iter().map(|&j| m[i][j]).chain([-q[i]]).collect())
            .collect();
        for column in 0..free.len() {
            let pivot = (column..free.len()).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
            rows.swap(column, pivot.expect("a row"));
            let head = rows[column].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| *at != column) {
                let factor = row[column] / head[column];
                row.iter_mut()
                    .zip(&head)
                    .for_each(|(value, head)| *value -= factor * head);
            }
        }
        let mut z = vec![0.0; n];
        for (at, &i) in free.iter().enumerate() {
            z[i] = rows[at][free.len()] / rows[at][at];
        }
        let w = |i: usize| q[i] + (0..n).map(|j| m[i][j] * z[j]).sum::<f64>();
        if (0..n).all(|i| z[i] >= -1e-12 && w(i) >= -1e-12) {
            return z;
        }
    }
    panic!("no branch of {m:?} {q:?}");
}

#[test]
fn complementarity_conditions_are_met() {
    let mut random = Random(99);
    for case in 0..25 {
        let n = 1 + case % 4;
        // Diagonally dominant: one solution whatever q is.
        let mut m: Vec<Vec<f64>> = (0..n)
            .map(|_| (0..n).map(|_| random.between(-1.0, 1.0)).collect())
            .collect();
        for (i, row) in m.iter_mut().enumerate() {
            row[i] = 0.5 + row.iter().map(|entry| entry.abs()).sum::<f64>();
        }
        let shift: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let slope: Vec<f64> = (0..n).map(|_| random.between(-2.0, 2.0)).collect();
        let mut text = format!("model M\n  Real z[{n}], w[{n}];\nequation\n  complementarity(z, w);\n");
        for i in 0..n {
            let terms: Vec<String> = (0..n).map(|j| format!("({})*z[{}]", m[i][j], j + 1)).collect();
            text.push_str(&format!(
                "  w[{}] = {} + ({}) + ({})*time;\n",
                i + 1,
                terms.join(" + "),
                shift[i],
                slope[i]
            ));
        }
        text.push_str("end M;");
        for stop in [0.37, 1.0] {
            let simulation = run(&text, stop);
            let q: Vec<f64> = (0..n).map(|i| shift[i] + slope[i] * stop).collect();
            for (i, wanted) in by_branches(&m, &q).into_iter().enumerate() {
                let found = last(&simulation, &format!("z[{}]", i + 1));
                assert!(
                    (found - wanted).abs() < 1e-8,
                    "z[{}] at {stop}: {found}, {wanted}\n{text}",
                    i + 1
                );
            }
        }
    }
}

const PARTS: &str = "
package Parts
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Resistor
    Pin p, n;
    parameter Real R = 1;
  equation
    p.v - n.v = R*p.i;
    p.i + n.i = 0;
  end Resistor;
  model Source
    Pin p, n;
    parameter Real V = 1;
  equation
    p.v - n.v = V;
    p.i + n.i = 0;
  end Source;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  model BadBrake
    Pin p, n;
    Real s, q;
    input Boolean locked;
  equation
    p.i + n.i = 0;
    if locked then s = 0; s = 1; q = s; else p.i = 0; s = 2; q = 3*s; end if;
  end BadBrake;
  model Switch
    Pin p, n;
    input Boolean closed;
  equation
    p.i + n.i = 0;
    if closed then p.v = n.v; else p.i = 0; end if;
  end Switch;
end Parts;
";

fn class_text(class: &str) -> String {
    let session = Session::new();
    session.add_text("Parts.mo", PARTS);
    let outcome = session.analyze_class(class);
    match outcome.value {
        Some(report) => report.to_text(),
        None => panic!("{:?}", outcome.diagnostics),
    }
}

#[test]
fn a_class_says_what_it_determines() {
    let switch = class_text("Parts.Switch");
    assert!(switch.contains("sound in some contexts in every mode"), "{switch}");
    assert!(
        switch.contains("  closed: determines 2 of p.i, n.i, p.v, n.v; never {p.i, n.i}, {p.v, n.v}"),
        "{switch}"
    );
    assert!(
        switch.contains("  not closed: determines p.i, n.i; says nothing about p.v, n.v"),
        "{switch}"
    );
    let resistor = class_text("Parts.Resistor");
    assert!(
        resistor.contains("in every mode: determines 2 of p.v, p.i, n.v, n.i; never {p.v, n.v}"),
        "{resistor}"
    );
    let brake = class_text("Parts.BadBrake");
    assert!(brake.contains("wrong in every context"), "{brake}");
}

#[test]
fn singular_modes_name_the_component_to_blame() {
    let mut random = Random(3);
    for _ in 0..12 {
        let n = 2 + random.below(6);
        let bad = random.below(n);
        let mut text = format!("{PARTS}model M\n  Parts.Source source;\n  Parts.Ground ground;\n");
        for at in 0..n {
            if at == bad {
                text.push_str(&format!("  Parts.BadBrake part{at}(locked = true);\n"));
            } else {
                text.push_str(&format!(
                    "  Parts.Resistor part{at}(R = {});\n",
                    random.between(0.5, 3.0)
                ));
            }
        }
        text.push_str("equation\n  connect(source.n, ground.p);\n  connect(source.p, part0.p);\n");
        for at in 1..n {
            text.push_str(&format!("  connect(part{}.n, part{at}.p);\n", at - 1));
        }
        text.push_str(&format!("  connect(part{}.n, ground.p);\nend M;", n - 1));
        let session = Session::new();
        session.add_text("M.mo", &text);
        let diagnostics = session.check("M", false);
        let told = diagnostics.iter().any(|diagnostic| {
            let mut help = diagnostic.help.iter();
            help.any(|line| line.contains(&format!("the component `part{bad}` is wrong in this mode")))
        });
        assert!(told, "{diagnostics:?}\n{text}");
    }
}

/// A loss that observes an impulse takes no part in it: everything else is as without it.
#[test]
fn what_observes_an_impulse_does_not_stop_the_run() {
    let mut random = Random(51);
    for draw in 0..30 {
        let (j1, j2) = (random.power(-2.0, 2.0), random.power(-2.0, 2.0));
        let (w1, w2) = (random.between(-5.0, 5.0), random.between(5.5, 9.0));
        let observed = match draw % 3 {
            0 => "p = tau^2; q = p + w1;",
            1 => "p = abs(tau)*w1; q = sqrt(1 + tau^2) - 1;",
            _ => "p = tau*(w1 - w2)*tau; q = exp(-tau^2) - 1;",
        };
        let text = format!(
            "model M
  Real w1(start = {w1}, fixed = true), w2(start = {w2}, fixed = true), tau, p, q;
  Boolean engaged = time >= 0.5;
equation
  {j1}*der(w1) = tau; {j2}*der(w2) = -tau;
  if engaged then w1 = w2; else tau = 0; end if;
  {observed}
end M;"
        );
        let simulation = run(&text, 1.0);
        let common = (j1 * w1 + j2 * w2) / (j1 + j2);
        for name in ["w1", "w2"] {
            let found = last(&simulation, name);
            assert!(
                (found - common).abs() < 1e-6 * (1.0 + common.abs()),
                "{found} and {common}\n{text}"
            );
        }
        assert!(last(&simulation, "tau").abs() < 1e-6, "{text}");
    }
}

/// What takes part in it nonlinearly is refused as before.
#[test]
fn what_takes_part_in_an_impulse_nonlinearly_is_refused() {
    let text = "model M
  Real w1(start = 1, fixed = true), w2(start = 10, fixed = true), tau, s;
  Boolean engaged = time >= 0.5;
equation
  der(w1) = s; der(w2) = -tau; s = tau^2;
  if engaged then w1 = w2; else tau = 0; end if;
end M;";
    assert!(compile(text).run().stop(1.0).simulate().is_err());
}
