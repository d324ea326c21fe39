//! Many copies of a small model in one, declared in any order, go as one of them does: parts that share no unknown are looked
//! at one by one.

use saltus::Session;
use saltus_testing::Random;

/// Models with hidden or redundant constraints, in library components and in equations; each with its stop time.
const MODELS: [(&str, f64, &str); 6] = [
    (
        "Loop",
        2.0,
        "model Loop Real w1(start = 6, fixed = true), w2(start = -1, fixed = true), t, a, b; equation
        der(w1) = -t; 2*der(w2) = t; a = w1 + b; a + b = 3*t + sin(time);
        if time < 1 then t = 0; else a - b = w2; end if; end Loop;",
    ),
    (
        "Joined",
        1.5,
        "model Joined import Saltus.Electrical.*;
        Capacitor c1(C = 1, v(start = 6)), c2(C = 2, v(start = -1));
        IdealSwitch s1(close = time >= 1), s2(close = time >= 1);
        Resistor r[4](each R = 1e5); Ground g; equation
        connect(c1.p, s1.p); connect(s1.n, c2.p); connect(c1.n, s2.p); connect(s2.n, c2.n);
        connect(c1.p, r[1].p); connect(c1.n, r[2].p); connect(c2.p, r[3].p); connect(c2.n, r[4].p);
        for k in 1:4 loop connect(r[k].n, g.p); end for; end Joined;",
    ),
    (
        "Ring",
        3.0,
        "model Ring Real v[3](start = {5, 0, -1}, each fixed = true), i[3];
        Boolean s[3] = {time >= 1, time >= 1, time >= 2}; equation
        der(v[1]) = i[3] - i[1]; 2*der(v[2]) = i[1] - i[2]; 3*der(v[3]) = i[2] - i[3];
        for j in 1:3 loop if s[j] then v[j] = v[mod(j, 3) + 1]; else i[j] = 0; end if; end for; end Ring;",
    ),
    (
        "Braked",
        3.0,
        "model Braked import Saltus.Rotational.*;
        Inertia a(J = 2, w(start = 3)), b(J = 1, w(start = 1)); IdealGear g(ratio = 3);
        Clutch c(engaged = time >= 1); Brake br(locked = time >= 2); equation
        connect(a.flange_b, g.flange_a); connect(g.flange_b, b.flange_a); connect(a.flange_b, c.flange_a);
        connect(c.flange_b, b.flange_a); connect(b.flange_b, br.flange_a); end Braked;",
    ),
    (
        "Fired",
        3.0,
        "model Fired Real x, i(start = 3, fixed = true), ti, ts, di, ds;
        Boolean on, off(start = true, fixed = true), fire = time >= 1; equation
        der(i) = -0.5*i - x; i + ti = di; off = ts < 0 or pre(off) and not fire;
        -x = if off then ts else 0; ti = if off then 0 else ts; on = ds > 0;
        x = if on then 0 else ds; di = if on then ds else 0; end Fired;",
    ),
    (
        "Flying",
        2.0,
        "model Flying import Saltus.Electrical.*;
        Capacitor c(C = 0.5, v(start = 2)), d(C = 1, v(start = -1));
        IdealSwitch s[4](close = {time < 0.5, time < 0.5, time >= 1, time >= 1});
        ConstantVoltage v(V = 5); Resistor r(R = 2); Ground g; equation
        connect(v.n, g.p); connect(d.n, g.p); connect(v.p, r.p); connect(r.n, s[1].p); connect(s[1].n, c.p);
        connect(c.n, s[2].p); connect(s[2].n, g.p); connect(c.p, s[3].p); connect(s[3].n, d.p);
        connect(c.n, s[4].p); connect(s[4].n, g.p); end Flying;",
    ),
];

/// The last values of all variables, by name.
fn last_values(text: &str, stop: f64) -> Vec<(String, f64)> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().expect("a model");
    let simulation = model.run().stop(stop).tolerance(1e-8).simulate().expect("a run");
    let signals = simulation.trajectory.schema().signals().iter();
    let last = |name: &str| simulation.values(name).and_then(|values| values.last().copied());
    signals
        .filter_map(|signal| Some((signal.name.clone(), last(&signal.name)?)))
        .collect()
}

#[test]
fn copies_go_as_one() {
    let mut random = Random(5);
    for (name, stop, text) in MODELS {
        let one = last_values(&format!("{text} model M {name} q1; end M;"), stop);
        for count in [2, 7, 24] {
            let mut order: Vec<usize> = (1..=count).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at + 1));
            }
            let copies: String = order.iter().map(|at| format!("{name} q{at}; ")).collect();
            let many = last_values(&format!("{text} model M {copies} end M;"), stop);
            let mut compared = 0;
            for (variable, wanted) in one.iter().filter(|(variable, _)| variable.starts_with("q1.")) {
                for copy in 1..=count {
                    let other = variable.replacen("q1.", &format!("q{copy}."), 1);
                    // Which of variables that are the same stands for them may differ.
                    let Some((_, found)) = many.iter().find(|(known, _)| *known == other) else {
                        continue;
                    };
                    let same =
                        (found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0) || found.is_nan() && wanted.is_nan();
                    assert!(same, "{count} of {name}: {other} is {found}, not {wanted}");
                    compared += 1;
                }
            }
            assert!(compared >= 2 * count, "{count} of {name}: {compared} values compared");
        }
    }
}

/// A leg of a three-level inverter: where it switches, the guess of its next mode is singular, and more than one diode has to be
/// turned to find a regular one. Copies of it are looked at one by one.
#[test]
fn copies_whose_guess_is_singular() {
    let leg = "model Leg import Saltus.Electrical.*; ConstantVoltage p(V = 50), n(V = 50); Ground g; Inductor l(L = 5e-4); Resistor r(R = 5);
        IdealSwitch q[4](close = {mod(time, 1e-4) < 3e-5, mod(time, 1e-4) < 6e-5,
          time >= 3.1e-5 and mod(time - 3.1e-5, 1e-4) < 3.8e-5, time >= 6.2e-5 and mod(time - 6.2e-5, 1e-4) < 3.5e-5});
        IdealDiode d[2], a[4]; equation
        connect(p.n, g.p); connect(n.p, g.p); connect(p.p, q[1].p); connect(q[1].n, q[2].p); connect(q[2].n, q[3].p);
        connect(q[3].n, q[4].p); connect(q[4].n, n.n); connect(d[1].p, g.p); connect(d[1].n, q[1].n); connect(d[2].p, q[3].n);
        connect(d[2].n, g.p); for k in 1:4 loop connect(a[k].p, q[k].n); connect(a[k].n, q[k].p); end for;
        connect(q[2].n, l.p); connect(l.n, r.p); connect(r.n, g.p); end Leg;";
    let last = |count: usize| last_values(&format!("{leg} model M Leg q[{count}]; end M;"), 1.2e-4);
    let (one, three) = (last(1), last(3));
    let current =
        |values: &[(String, f64)], name: &str| values.iter().find(|(known, _)| known == name).map(|(_, i)| *i);
    let wanted = current(&one, "q[1].l.i").expect("a current");
    assert!(wanted > 1.0, "{wanted}");
    for copy in ["q[1].l.i", "q[2].l.i", "q[3].l.i"] {
        let found = current(&three, copy).expect("a current");
        assert!(
            (found - wanted).abs() <= 1e-6 * wanted,
            "{copy} is {found}, not {wanted}"
        );
    }
}
