//! What is singular, redundant or contradictory is so in all units: models whose inertias, capacitances, speeds, voltages
//! and times are multiplied by powers of ten between 1e-12 and 1e12 go the same way.

use saltus::Session;
use saltus_testing::Random;

/// What a run gives: the last value of a variable, or the message of its failure.
fn last(text: &str, stop: f64, variable: &str) -> Result<f64, String> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").value.expect("a model");
    let run = model.run().stop(stop).tolerance(1e-8).simulate();
    match run {
        Ok(simulation) => {
            let signal = simulation.trajectory.signal(variable).expect("the variable is there");
            Ok(*signal.values.last().expect("a row"))
        }
        Err(failed) => Err(failed
            .simulation
            .summary
            .failure
            .map_or_else(String::new, |failure| failure.message.clone())),
    }
}

/// Powers of ten between 1e-12 and 1e12.
fn scales(random: &mut Random) -> (f64, f64, f64) {
    let mut scale = || random.power_of_ten(-12, 12);
    (scale(), scale(), scale())
}

/// A model, its stop time, and a variable with what it must be last, for three units.
type Family = fn(a: f64, t: f64, b: f64) -> (String, f64, (&'static str, f64));

fn is_right_in_all_units(name: &str, family: Family) {
    let mut random = Random(14);
    let others = (0..10).map(|_| scales(&mut random));
    for (a, t, b) in [(1.0, 1.0, 1.0)].into_iter().chain(others) {
        let (text, stop, (variable, wanted)) = family(a, t, b);
        let found = last(&text, stop, variable).unwrap_or_else(|message| panic!("{name} {a:e} {t:e} {b:e}: {message}"));
        let size = wanted.abs().max(b);
        assert!(
            (found - wanted).abs() <= 1e-6 * size,
            "{name} {a:e} {t:e} {b:e}: {found} instead of {wanted}"
        );
    }
}

/// The coefficients of the derivatives are as small as aF, in a block with coefficients of one.
#[test]
fn parallel_capacitors_in_a_linear_block() {
    is_right_in_all_units("block", |c, t, v| {
        let c = 1e-6 * c;
        let text = format!(
            "model M Real u(start = 0), v(start = {v:e}), i, j; equation
            u = -v; {c:e}*der(u) = i; {:e}*der(v) = j; i = j + {:e}*v; end M;",
            6.0 * c,
            c / t
        );
        (text, 3.0 * t, ("v", 6.0 / 7.0 * (-3.0f64 / 7.0).exp() * v))
    });
}

/// The third closed switch of a ring says nothing new.
#[test]
fn a_ring_of_capacitors() {
    is_right_in_all_units("ring", |c, t, v| {
        let text = format!(
            "model M Real v[3](start = {{{:e}, 0, {:e}}}, each fixed = true), i[3];
            Boolean s[3] = {{time >= {t:e}, time >= {t:e}, time >= {:e}}};
            equation {c:e}*der(v[1]) = i[3] - i[1]; {:e}*der(v[2]) = i[1] - i[2]; {:e}*der(v[3]) = i[2] - i[3];
            for j in 1:3 loop if s[j] then v[j] = v[mod(j, 3) + 1]; else i[j] = 0; end if; end for; end M;",
            5.0 * v,
            -v,
            2.0 * t,
            2.0 * c,
            3.0 * c
        );
        (text, 3.0 * t, ("v[1]", v / 3.0))
    });
}

/// The same with clutches of the library.
#[test]
fn a_ring_of_clutches() {
    is_right_in_all_units("clutches", |j, t, w| {
        let text = format!(
            "model M import Saltus.Rotational.*;
            Inertia a(J = {j:e}, w(start = {:e}, fixed = true)), b(J = {:e}, w(start = 0, fixed = true)), c(J = {:e}, w(start = 0, fixed = true));
            Clutch x(engaged = time >= {t:e}), y(engaged = time >= {t:e}), z(engaged = time >= {:e});
            equation connect(a.flange_b, x.flange_a); connect(x.flange_b, b.flange_a); connect(b.flange_b, y.flange_a);
            connect(y.flange_b, c.flange_a); connect(c.flange_b, z.flange_a); connect(z.flange_b, a.flange_a); end M;",
            3.0 * w,
            2.0 * j,
            3.0 * j,
            2.0 * t
        );
        (text, 3.0 * t, ("a.w", 0.5 * w))
    });
}

/// Where structure does not decide, the consistency projector does.
#[test]
fn a_brake_behind_a_free_wheel() {
    is_right_in_all_units("brake", |j, t, w| {
        let text = format!(
            "model M import Saltus.Rotational.*; Inertia a(J = {:e}, w(start = {:e})); OneWayClutch o;
            Brake b(locked = time >= {t:e}); TorqueSource k(tau = {:e}*sin(time/{t:e}));
            equation connect(a.flange_b, o.flange_a); connect(o.flange_b, b.flange_a); connect(a.flange_a, k.flange); end M;",
            2.0 * j,
            3.0 * w,
            1e-6 * j * w / t
        );
        (text, 2.0 * t, ("a.w", 0.0))
    });
}

/// Gear and clutch between the same shafts bring them to rest, every time.
#[test]
fn a_gear_beside_a_clutch_that_engages_again_and_again() {
    is_right_in_all_units("gear", |j, t, w| {
        let text = format!(
            "model M import Saltus.Rotational.*; IdealGear g(ratio = 3); Spring s(c = {:e});
            Inertia a(J = {:e}, w(start = {:e})), c(J = {j:e}, w(start = {w:e})), k(J = {:e}, w(start = {w:e}));
            Clutch o(engaged = mod(time, {t:e}) >= {:e} and mod(time, {t:e}) < {:e});
            equation connect(a.flange_b, g.flange_a); connect(g.flange_b, c.flange_a); connect(a.flange_a, o.flange_a);
            connect(o.flange_b, c.flange_b); connect(s.flange_a, a.flange_a); connect(s.flange_b, k.flange_a); end M;",
            j / t / t,
            2.0 * j,
            3.0 * w,
            4.0 * j,
            0.3 * t,
            0.6 * t
        );
        (text, 30.45 * t, ("a.w", 0.0))
    });
}

/// Friction of pN beside velocities of m/s, and the other way round: half a swing takes twice the friction over the stiffness
/// from the amplitude, until the mass sticks.
#[test]
fn a_mass_that_friction_brings_to_rest() {
    is_right_in_all_units("friction", |m, t, x| {
        let (c, part) = (10.0 * m / t / t, 0.06);
        let text = format!(
            "model M import Saltus.Translational.*; Mass m(m = {:e}, s(start = {x:e}), v(start = 0)); Spring k(c = {c:e});
            Friction f(f0 = {:e}); Fixed a, b; equation connect(a.flange, k.flange_a); connect(k.flange_b, m.flange_a);
            connect(b.flange, f.flange_a); connect(f.flange_b, m.flange_b); end M;",
            2.0 * m,
            part * c * x
        );
        // 1, -0.88, 0.76, … -0.16, 0.04: that sticks.
        (text, 14.0 * t, ("m.s", 0.04 * x))
    });
}

/// A switch opens beside two diodes: the current of nA goes on through the other one.
#[test]
fn a_current_that_a_diode_takes_over() {
    is_right_in_all_units("diode", |r, t, i| {
        let text = format!(
            "model M import Saltus.Electrical.*; ConstantVoltage s(V = {:e}); IdealSwitch q(close = time < {t:e}); IdealDiode dq, d;
            Inductor l(L = {:e}); Resistor r(R = {r:e}); Ground g;
            equation connect(s.n, d.p); connect(d.p, r.n); connect(r.n, g.p); connect(s.p, q.p); connect(q.p, dq.n);
            connect(q.n, dq.p); connect(dq.p, d.n); connect(d.n, l.p); connect(l.n, r.p); end M;",
            i * r,
            r * t
        );
        (text, 2.0 * t, ("l.i", i * (1.0 - (-1f64).exp()) * (-1f64).exp()))
    });
}

/// The values to which shafts are braked shrink from time to time until they are less than numbers can be.
#[test]
fn a_gear_beside_a_clutch_for_a_long_time() {
    let text = "model M import Saltus.Rotational.*; IdealGear g(ratio = 3); Spring s(c = 1);
        Inertia a(J = 2, w(start = 3)), c(J = 1, w(start = 1)), k(J = 4, w(start = 1));
        Clutch o(engaged = mod(time, 1) >= 0.3 and mod(time, 1) < 0.6);
        equation connect(a.flange_b, g.flange_a); connect(g.flange_b, c.flange_a); connect(a.flange_a, o.flange_a);
        connect(o.flange_b, c.flange_b); connect(s.flange_a, a.flange_a); connect(s.flange_b, k.flange_a); end M;";
    assert_eq!(last(text, 120.45, "a.w").map(|w| w.abs() < 1e-12), Ok(true));
}

/// What contradicts itself by so little as its numbers are small does so all the same.
#[test]
fn contradictions_are_refused_in_all_units() {
    let mut random = Random(3);
    for _ in 0..12 {
        let (c, t, v) = scales(&mut random);
        let text = format!(
            "model M Real v(start = 0, fixed = true), a, b; Boolean s = time >= {t:e}; equation {c:e}*der(v) = a + b;
            if s then v = {:e}; else a = 0; end if; if s then v = {:e}; else b = 0; end if; end M;",
            5.0 * v,
            6.0 * v
        );
        let found = last(&text, 2.0 * t, "v");
        let message = found.expect_err(&format!("two voltages at once, in units {c:e} {t:e} {v:e}"));
        assert!(message.contains("singular"), "{message}");
    }
}

/// Bodies that touch at the start, and are left touching by every impact: the message names the contact.
#[test]
fn contact_without_a_mode_in_which_it_lasts_is_named() {
    let text = "model M import Saltus.Translational.*; Mass m[3](each m = 1, v(start = {2, 0, 0}), s(start = {-1, 0, 0}));
        ElasticImpact e[2](each e = 1);
        equation for j in 1:2 loop connect(m[j].flange_b, e[j].flange_a); connect(e[j].flange_b, m[j + 1].flange_a); end for; end M;";
    let message = last(text, 1.0, "m[1].s").expect_err("no mode for a contact that lasts");
    assert!(message.contains("e[2].s_rel <= e[2].gap0"), "{message}");
}

/// A body that slides at the start slides, however slow it is in its units: its fixed velocity is not taken for zero.
#[test]
fn sliding_at_the_start() {
    is_right_in_all_units("sliding", |m, t, v| {
        let friction = 3.0 * m * v / t;
        let text = format!(
            "model M
               Real v(start = {v:e}, fixed = true), f, s;
               Boolean forward, backward;
             equation
               {m:e}*der(v) = f;
               forward = s > 1;
               backward = s < -1;
               if forward then
                 f = -{friction:e};
                 v = (s - 1)*{v:e};
               elseif backward then
                 f = {friction:e};
                 v = (s + 1)*{v:e};
               else
                 v = 0;
                 f = -s*{friction:e};
               end if;
             end M;"
        );
        (text, 0.1 * t, ("v", 0.7 * v))
    });
}

/// The same with three bodies and friction between them, of which one slides.
#[test]
fn sliding_among_others_at_the_start() {
    is_right_in_all_units("sliding among others", |m, t, v| {
        let element = |k: usize, w: &str, limit: f64| {
            format!(
                "  forward{k} = s{k} > 1; backward{k} = s{k} < -1;
                   w{k} = {w};
                   f{k} = {limit:e}*(if forward{k} then -1 elseif backward{k} then 1 else -s{k});
                   w{k} = {v:e}*(if forward{k} then s{k} - 1 elseif backward{k} then s{k} + 1 else 0);
                "
            )
        };
        let unit = m * v / t;
        let elements = [
            element(0, "v2 - v1", 1.0 * unit),
            element(1, "v1", 2.0 * unit),
            element(2, "v2", 3.0 * unit),
        ];
        let text = format!(
            "model M
               Real v1(start = 0, fixed = true), v2(start = {v:e}, fixed = true);
               Real s0, s1, s2, f0, f1, f2, w0, w1, w2;
               Boolean forward0, forward1, forward2, backward0, backward1, backward2;
             equation
               {m:e}*der(v1) = f1 - f0;
               {m:e}*der(v2) = f0 + f2;
             {}
             end M;",
            elements.concat()
        );
        (text, 0.1 * t, ("v2", 0.6 * v))
    });
}
