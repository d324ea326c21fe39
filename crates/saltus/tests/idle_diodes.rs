//! A diode across a closed switch has no voltage by the equations of the mode, whatever rounding leaves of the potentials from which
//! it is computed: a resonant tank behind a half-bridge, in all units and spellings, against small Runge–Kutta steps.

use std::fmt::Write;

use saltus::Session;
use saltus_testing::Random;

struct Tank {
    voltage: f64,
    capacitance: f64,
    /// In series, and parallel to the load.
    inductances: [f64; 2],
    resistance: f64,
    /// The upper switch is closed until then.
    stop: f64,
}

impl Tank {
    fn random(random: &mut Random) -> Self {
        let (time, ohm) = (random.power(-6.0, 2.0), random.power(-3.0, 5.0));
        Tank {
            voltage: random.power(-3.0, 4.0),
            capacitance: random.between(0.02, 0.3) * time / ohm,
            inductances: [random.between(0.05, 0.5), random.between(0.5, 3.0)].map(|size| size * time * ohm),
            resistance: random.between(1.0, 30.0) * ohm,
            stop: time,
        }
    }

    /// Rates of the voltage of the capacitor and of the currents of the inductors.
    fn rates(&self, [v, series, parallel]: [f64; 3]) -> [f64; 3] {
        let load = self.resistance * (series - parallel);
        let [l1, l2] = self.inductances;
        [series / self.capacitance, (self.voltage - v - load) / l1, load / l2]
    }

    fn state(&self, time: f64) -> [f64; 3] {
        let count = 20_000;
        let step = time / f64::from(count);
        let mut state = [0.0; 3];
        for _ in 0..count {
            let along = |slope: [f64; 3], by: f64| std::array::from_fn(|at| state[at] + by * slope[at]);
            let first = self.rates(state);
            let second = self.rates(along(first, step / 2.0));
            let third = self.rates(along(second, step / 2.0));
            let last = self.rates(along(third, step));
            let slope = std::array::from_fn(|at| (first[at] + 2.0 * (second[at] + third[at]) + last[at]) / 6.0);
            state = along(slope, step);
        }
        state
    }

    fn text(&self, random: &mut Random) -> String {
        let [l1, l2] = self.inductances;
        let mut lines = vec![
            format!("u_p = {:?};", self.voltage),
            "u_p - u_a = h_v;".to_owned(),
            "u_a = g_v;".to_owned(),
            "d_v = u_a - u_p;".to_owned(),
            "e_v = 0 - u_a;".to_owned(),
            format!("closed = time < {:?};", 2.0 * self.stop),
            [
                "if closed then h_v = 0; else h_i = 0; end if;",
                "0 = if closed then h_v else h_i;",
            ][random.below(2)]
            .to_owned(),
            [
                "if not closed then g_v = 0; else g_i = 0; end if;",
                "0 = if closed then g_i else g_v;",
            ][random.below(2)]
            .to_owned(),
            diode(random, "d"),
            diode(random, "e"),
            "u_a - u_b = v;".to_owned(),
            format!("{:?}*der(v) = series;", self.capacitance),
            format!("{l1:?}*der(series) = u_b - u_c;"),
            format!("{l2:?}*der(parallel) = u_c;"),
            format!("u_c = {:?}*load;", self.resistance),
            "series = parallel + load;".to_owned(),
            "h_i - g_i - d_i + e_i = series;".to_owned(),
        ];
        let mut text = "model M\n  Real v(start = 0, fixed = true), series(start = 0, fixed = true), parallel(start = 0, fixed = true);
  Real u_p, u_a, u_b, u_c, load, h_v, h_i, g_v, g_i, d_v, d_i, d_s, e_v, e_i, e_s;\n  Boolean closed, d_on, e_on;\nequation\n"
            .to_owned();
        while !lines.is_empty() {
            let _ = writeln!(text, "  {}", lines.swap_remove(random.below(lines.len())));
        }
        text + "end M;\n"
    }
}

fn diode(random: &mut Random, name: &str) -> String {
    let condition = ["NAME_s > 0", "not NAME_s <= 0"][random.below(2)];
    let forms = [
        "if NAME_on then NAME_v = 0; NAME_s = NAME_i; else NAME_i = 0; NAME_s = NAME_v; end if;",
        "NAME_s = if NAME_on then NAME_i else NAME_v; 0 = if NAME_on then NAME_v else NAME_i;",
        "NAME_v = if NAME_on then 0 else NAME_s; NAME_i = if NAME_on then NAME_s else 0;",
    ];
    format!("NAME_on = {condition}; {}", forms[random.below(3)]).replace("NAME", name)
}

#[test]
fn diodes_across_closed_switches_are_idle() {
    let mut random = Random(5);
    for number in 0..24 {
        let tank = Tank::random(&mut random);
        let text = tank.text(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}\n{text}"));
        let run = model.run().stop(tank.stop).tolerance(1e-8).simulate();
        let run = run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{text}", failed.diagnostic()));
        let expected = tank.state(tank.stop);
        let sizes = [
            tank.voltage,
            tank.voltage / tank.resistance,
            tank.voltage / tank.resistance,
        ];
        for ((name, expected), size) in ["v", "series", "parallel"].into_iter().zip(expected).zip(sizes) {
            let found = run.values(name).and_then(|values| values.last().copied());
            let found = found.unwrap_or_else(|| panic!("{number}: no {name}"));
            assert!(
                (found - expected).abs() < 1e-5 * size.max(expected.abs()),
                "{number}: {name} = {found} instead of {expected}\n{text}"
            );
        }
    }
}
