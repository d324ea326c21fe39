//! A model in other units does the same: voltages, currents, times, lengths and masses multiplied by powers of ten between
//! 1e-9 and 1e9 give the same events, and values that are multiplied likewise.

use saltus::Session;

/// A model, its stop time, and a variable with the factor of its unit.
type Family = fn(u: f64, i: f64, t: f64) -> (String, f64, (&'static str, f64));

/// What happened, without units: event times, and the variable at the last row.
struct Outcome {
    events: u64,
    last: f64,
}

fn run(name: &str, family: Family, (u, i, t): (f64, f64, f64)) -> Outcome {
    let (text, stop, (variable, unit)) = family(u, i, t);
    let session = Session::new();
    session.add_text("M.mo", &text);
    let model = session.compile("M").value.unwrap_or_else(|| panic!("{name}: {text}"));
    let run = model.run().stop(stop).tolerance(1e-8).simulate();
    let simulation = run.unwrap_or_else(|failed| {
        let failure = failed.simulation.summary.failure;
        panic!(
            "{name} in units {u:e}, {i:e}, {t:e}: {}",
            failure.map_or_else(String::new, |f| f.message.clone())
        )
    });
    let signal = simulation.trajectory.signal(variable).expect("the variable is there");
    Outcome {
        events: simulation.summary.report.counters.events,
        last: signal.values.last().expect("a row") / unit,
    }
}

/// Powers of ten between 1e-9 and 1e9.
fn power(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    10f64.powi(((*state >> 33) % 19) as i32 - 9)
}

fn is_independent_of_units(name: &str, family: Family) {
    let plain = run(name, family, (1.0, 1.0, 1.0));
    let mut state = 14;
    for _ in 0..8 {
        let units = (power(&mut state), power(&mut state), power(&mut state));
        let found = run(name, family, units);
        assert_eq!(found.events, plain.events, "{name}: events in units {units:?}");
        assert!(
            (found.last - plain.last).abs() <= 1e-4 * plain.last.abs().max(1e-2),
            "{name}: {} instead of {} in units {units:?}",
            found.last,
            plain.last
        );
    }
}

#[test]
fn a_rectifier_with_an_inductive_load() {
    is_independent_of_units("rectifier", |u, i, t| {
        let text = format!(
            "model M Real v = {:e}*sin({:e}*time), i(start = 0, fixed = true), vd, s; Boolean on;
            equation {:e}*der(i) + {:e}*i = v - vd; on = s > 0; vd = if on then 0 else s; i = if on then s else 0; end M;",
            10.0 * u,
            std::f64::consts::TAU / t,
            0.5 * u * t / i,
            u / i
        );
        (text, 3.9 * t, ("i", i))
    });
}

#[test]
fn a_diode_across_a_closed_switch() {
    is_independent_of_units("parallel diode", |u, i, t| {
        let text = format!(
            "model M Real v(start = 0), i(start = 0), lv, is, id, s; Boolean low = mod(integer({:e}*time), 2) == 1, off;
            equation {:e}*der(v) = i - v*{:e}; {:e}*der(i) = lv; i = is + id;
            if low then lv + v = 0; else lv + v = {:e}; end if;
            off = not s > 0; s = if off then -(lv + v) else id; 0 = if off then id else lv + v; end M;",
            2.0 / t,
            i * t / u,
            i / u / 3.0,
            u * t / i,
            50.0 * u
        );
        (text, 9.9 * t, ("v", u))
    });
}

#[test]
fn a_synchronous_converter_with_dead_times() {
    is_independent_of_units("converter", |u, i, t| {
        let p = 1e-5 * t;
        let text = format!(
            "model M Real ux, is1, is2, s1, s2, d1, d2, il(start = 0, fixed = true), vc(start = 0, fixed = true);
            Boolean q1(start = false, fixed = true), q2(start = false, fixed = true), on1, on2;
            equation
            when sample(0, {p:e}) then q1 = true; elsewhen sample({:e}, {p:e}) then q1 = false; end when;
            when sample({:e}, {p:e}) then q2 = true; elsewhen sample({:e}, {p:e}) then q2 = false; end when;
            if q1 then ux = {v:e}; else is1 = 0; end if;
            if q2 then ux = 0; else is2 = 0; end if;
            on1 = s1 > 0; ux - {v:e} = if on1 then 0 else s1; d1 = if on1 then s1 else 0;
            on2 = s2 > 0; -ux = if on2 then 0 else s2; d2 = if on2 then s2 else 0;
            is1 - d1 + d2 - is2 = il; {:e}*der(il) = ux - vc; {:e}*der(vc) = il - vc*{:e}; end M;",
            0.3 * p,
            0.35 * p,
            0.95 * p,
            1e-5 * u * t / i,
            4.7e-5 * i * t / u,
            i / u,
            v = 12.0 * u,
        );
        (text, 1.997e-4 * t, ("vc", u))
    });
}

#[test]
fn a_joint_that_closes_and_opens() {
    is_independent_of_units("clutch", |u, i, t| {
        let inertia = u * t / i;
        let text = format!(
            "model M Real w1(start = {:e}, fixed = true), w2(start = 0, fixed = true), tau; Boolean e = sin({:e}*time) > 0.3;
            equation {:e}*der(w1) = {:e}*sin({:e}*time) - tau; {:e}*der(w2) = tau - {:e}*w2;
            if e then w1 = w2; else tau = 0; end if; end M;",
            10.0 * i,
            6.0 / t,
            inertia,
            2.0 * u,
            3.0 / t,
            2.0 * inertia,
            0.1 * u / i
        );
        (text, 4.9 * t, ("w2", i))
    });
}

#[test]
fn a_ball_that_bounces() {
    is_independent_of_units("ball", |u, _, t| {
        let text = format!(
            "model M Real h(start = {u:e}, fixed = true), v(start = 0, fixed = true);
            equation der(h) = v; der(v) = -{:e}; when h < 0 then reinit(v, -0.8*pre(v)); end when; end M;",
            9.81 * u / t / t
        );
        (text, 2.9 * t, ("h", u))
    });
}
