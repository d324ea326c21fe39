//! Bridges of ideal switches with antiparallel diodes around an inductor: with all switches open the current goes on through two
//! diodes until it is zero, whatever the bridge was like before, in all units, orders and spellings.

use std::fmt::Write;

use saltus::Session;
use saltus_testing::Random;

/// The switches of one diagonal are closed during a part of the run.
#[derive(Clone, Copy, Debug)]
struct Pulse {
    from: f64,
    to: f64,
    /// Which diagonal: the sign of the voltage that it applies.
    sign: f64,
}

#[derive(Debug)]
struct Bridge {
    voltage: f64,
    resistance: f64,
    inductance: f64,
    pulses: Vec<Pulse>,
    stop: f64,
}

impl Bridge {
    fn random(random: &mut Random) -> Self {
        let stop = random.power(-6.0, 3.0);
        let resistance = random.power(-3.0, 5.0);
        let mut pulses = Vec::new();
        let mut time = match random.below(3) {
            0 => 0.0,
            _ => random.between(0.01, 0.1) * stop,
        };
        if random.below(2) == 0 {
            // Hardly a current at first: it is zero again soon.
            let width = stop * random.power(-9.0, -3.0);
            let sign = [1.0, -1.0][random.below(2)];
            pulses.push(Pulse {
                from: time,
                to: time + width,
                sign,
            });
            time += random.between(0.02, 0.1) * stop;
        }
        for _ in 0..1 + random.below(4) {
            let to = time + random.between(0.02, 0.3) * stop;
            let sign = [1.0, -1.0][random.below(2)];
            pulses.push(Pulse { from: time, to, sign });
            time = to + random.between(0.02, 0.3) * stop;
        }
        Bridge {
            voltage: random.power(-3.0, 4.0),
            resistance,
            inductance: resistance * stop * random.power(-1.5, 0.5),
            pulses,
            stop,
        }
    }

    /// The current at a time: an exponential in each pulse, and between them until it is zero.
    fn current(&self, time: f64) -> f64 {
        let (mut at, mut current) = (0.0, 0.0);
        for &Pulse { from, to, sign } in &self.pulses {
            current = self.freewheels(current, from.min(time) - at);
            if time <= from {
                return current;
            }
            current = self.driven(current, sign * self.voltage, to.min(time) - from);
            if time <= to {
                return current;
            }
            at = to;
        }
        self.freewheels(current, time - at)
    }

    fn driven(&self, current: f64, voltage: f64, span: f64) -> f64 {
        let end = voltage / self.resistance;
        end + (current - end) * (-span * self.resistance / self.inductance).exp()
    }

    /// The source takes the current back.
    fn freewheels(&self, current: f64, span: f64) -> f64 {
        let after = self.driven(current, -current.signum() * self.voltage, span);
        if after * current > 0.0 { after } else { 0.0 }
    }

    fn text(&self, random: &mut Random) -> String {
        let closed = |sign: f64| {
            let pulses = self.pulses.iter().filter(|pulse| pulse.sign == sign);
            let windows: Vec<String> = pulses
                .map(|Pulse { from, to, .. }| format!("time >= {from:?} and time < {to:?}"))
                .collect();
            if windows.is_empty() {
                "false".to_owned()
            } else {
                windows.join(" or ")
            }
        };
        let mut lines = Vec::new();
        for (name, from, to, sign) in [
            ("ha", "p", "a", 1.0),
            ("lb", "b", "0", 1.0),
            ("la", "a", "0", -1.0),
            ("hb", "p", "b", -1.0),
        ] {
            let [of_switch, of_diode] = [switch(random, name), diode(random, name)];
            let from = if from == "0" {
                "0".to_owned()
            } else {
                format!("u_{from}")
            };
            let to = if to == "0" { "0".to_owned() } else { format!("u_{to}") };
            lines.push(format!("closed_{name} = {};", closed(sign)));
            lines.push(format!("vs_{name} = {from} - {to};"));
            lines.push(format!("vd_{name} = {to} - {from};"));
            lines.extend([of_switch, of_diode]);
        }
        lines.extend([
            format!("u_p = {:?};", self.voltage),
            format!("{:?}*der(i) = u_a - u_m;", self.inductance),
            format!("u_m - u_b = {:?}*i;", self.resistance),
            "i = is_ha - id_ha - is_la + id_la;".to_owned(),
            "i + is_hb - id_hb - is_lb + id_lb = 0;".to_owned(),
            "supplied = is_ha - id_ha + is_hb - id_hb;".to_owned(),
        ]);
        let mut text = "model M\n  Real i(start = 0, fixed = true), u_p, u_a, u_b, u_m, supplied;\n".to_owned();
        for name in ["ha", "lb", "la", "hb"] {
            let _ = writeln!(text, "  Real vs_{name}, is_{name}, vd_{name}, id_{name}, s_{name};");
            let _ = writeln!(text, "  Boolean closed_{name}, on_{name};");
        }
        text += "equation\n";
        while !lines.is_empty() {
            let _ = writeln!(text, "  {}", lines.swap_remove(random.below(lines.len())));
        }
        text + "end M;\n"
    }
}

fn switch(random: &mut Random, name: &str) -> String {
    match random.below(2) {
        0 => format!("if closed_{name} then vs_{name} = 0; else is_{name} = 0; end if;"),
        _ => format!("0 = if closed_{name} then vs_{name} else is_{name};"),
    }
}

fn diode(random: &mut Random, name: &str) -> String {
    let condition = ["s > 0", "not s <= 0"][random.below(2)].replace('s', &format!("s_{name}"));
    match random.below(3) {
        0 => format!(
            "on_{name} = {condition}; if on_{name} then vd_{name} = 0; s_{name} = id_{name}; else id_{name} = 0; s_{name} = vd_{name}; end if;"
        ),
        1 => format!(
            "on_{name} = {condition}; s_{name} = if on_{name} then id_{name} else vd_{name}; 0 = if on_{name} then vd_{name} else id_{name};"
        ),
        _ => format!(
            "on_{name} = {condition}; vd_{name} = if on_{name} then 0 else s_{name}; id_{name} = if on_{name} then s_{name} else 0;"
        ),
    }
}

/// What is wrong with a draw, if anything is.
fn fault(seed: u64) -> Option<String> {
    let random = &mut Random(seed);
    let bridge = Bridge::random(random);
    let text = bridge.text(random);
    let session = Session::new();
    session.add_text("M.mo", &text);
    let model = match session.compile("M").into_result() {
        Ok(model) => model,
        Err(diagnostics) => return Some(format!("{diagnostics:?}\n{text}")),
    };
    let run = model
        .run()
        .stop(bridge.stop)
        .interval(bridge.stop / 50.0)
        .tolerance(1e-7);
    let result = match run.simulate() {
        Ok(result) => result,
        Err(failure) => return Some(format!("{failure}\n{text}")),
    };
    let largest = bridge.voltage / bridge.resistance;
    let times = result.time();
    let found = result.values("i").expect("the current is a variable");
    found.iter().zip(times).find_map(|(&value, &time)| {
        let expected = bridge.current(time);
        let wrong = (value - expected).abs() > 1e-4 * largest;
        wrong.then(|| format!("seed {seed}: i({time}) = {value} instead of {expected}\n{bridge:?}\n{text}"))
    })
}

#[test]
fn currents_go_on_through_diodes() {
    let faults: Vec<String> = (0..draws()).filter_map(fault).collect();
    assert!(faults.is_empty(), "{} wrong, the first: {}", faults.len(), faults[0]);
}

/// More where that is asked for.
fn draws() -> u64 {
    std::env::var("SALTUS_INTERRUPTED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(24)
}
