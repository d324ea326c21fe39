//! A switch shorts a capacitor: the impulse runs through these two alone. What conducts beside them has none, whatever rounding
//! leaves of the sums in which theirs cancel: ideal diodes there keep their state, in all units, values and orders of equations.

use saltus::Session;
use saltus_testing::Random;

struct Circuit {
    source: f64,
    /// From the source, of the nodes to ground (the first carries the inductor), and beside the second diode.
    resistances: [f64; 6],
    capacitance: f64,
    charged: f64,
    inductance: f64,
    /// Through the inductor, in parts of what flows from its node to ground.
    freewheeling: f64,
    closes: f64,
}

impl Circuit {
    fn random(random: &mut Random) -> Self {
        let (volt, ohm, time) = (
            random.power(-3.0, 4.0),
            random.power(-3.0, 5.0),
            random.power(-6.0, 2.0),
        );
        let loads = [(); 5].map(|()| ohm * random.power(-1.0, 2.0));
        let inner = 1e-2 * ohm * random.between(0.1, 1.0);
        Circuit {
            source: volt,
            resistances: [inner, loads[0], loads[1], loads[2], loads[3], loads[4]],
            capacitance: random.power(-1.0, 1.0) * time / ohm,
            charged: random.between(0.05, 0.5) * volt,
            inductance: 1e3 * time * ohm,
            freewheeling: random.between(1.2, 5.0),
            closes: 1e-3 * time,
        }
    }

    /// The voltage of all nodes once the switch is closed, and the current of the diode that feeds two of them.
    fn closed(&self) -> (f64, f64) {
        let [inner, u1, u2, u3, u5, _] = self.resistances;
        let to_ground: f64 = [u1, u2, u3, u5].iter().map(|resistance| 1.0 / resistance).sum();
        let voltage = self.source / inner / (1.0 / inner + to_ground);
        (voltage, voltage * (1.0 / u1 + 1.0 / u2))
    }

    fn text(&self, random: &mut Random) -> String {
        let [inner, u1, u2, u3, u5, beside] = self.resistances;
        let mut lines = vec![
            format!("u6 = {:?};", self.source),
            format!("u3 - u6 = {inner:?}*r_i;"),
            format!("s_on = time >= {:?};", self.closes),
            "if s_on then u3 - u5 = 0; else s_i = 0; end if;".to_owned(),
            "f_off = f_s < 0;".to_owned(),
            "u3 - u2 = if f_off then f_s else 0;".to_owned(),
            "f_i = if f_off then 0 else f_s;".to_owned(),
            "c_v = u3 - u5;".to_owned(),
            format!("c_i = {:?}*der(c_v);", self.capacitance),
            format!("u2 - u5 = {beside:?}*b_i;"),
            "w_off = w_s < 0;".to_owned(),
            "u1 - u2 = if w_off then w_s else 0;".to_owned(),
            "w_i = if w_off then 0 else w_s;".to_owned(),
            format!("u1 - u2 = {:?}*der(l_i);", self.inductance),
            format!("w_i + l_i + u1/{u1:?} = 0;"),
            format!("b_i + u2/{u2:?} = w_i + l_i + f_i;"),
            format!("r_i + s_i + f_i + c_i + u3/{u3:?} = 0;"),
            format!("s_i + c_i + b_i = u5/{u5:?};"),
        ];
        random.shuffle(&mut lines);
        let (voltage, _) = self.closed();
        format!(
            "model M\nReal u1, u2, u3, u5, u6, r_i, s_i, f_s, f_i, w_s, w_i, c_i, b_i;\n\
             Real c_v(start = {:?}, fixed = true), l_i(start = {:?}, fixed = true);\n\
             Boolean s_on, f_off, w_off;\nequation\n{}\nend M;\n",
            self.charged,
            -self.freewheeling * voltage / u1,
            lines.join("\n")
        )
    }
}

#[test]
fn diodes_beside_a_shorted_capacitor_go_on_conducting() {
    let mut random = Random(3);
    for turn in 0..120 {
        let circuit = Circuit::random(&mut random);
        let text = circuit.text(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result().expect("it compiles");
        let run = model.run().stop(2.0 * circuit.closes).simulate();
        let run = run.unwrap_or_else(|failure| panic!("{turn}: {failure:?}\n{text}"));
        let (voltage, current) = circuit.closed();
        for (name, wanted) in [("u1", voltage), ("u5", voltage), ("f_i", current), ("b_i", 0.0)] {
            let found = *run.values(name).expect("it is shown").last().expect("it has rows");
            let size = if name.ends_with("_i") { current } else { voltage };
            assert!(
                (found - wanted).abs() <= 1e-6 * size,
                "{turn}: {name} = {found}, not {wanted}\n{text}"
            );
        }
    }
}
