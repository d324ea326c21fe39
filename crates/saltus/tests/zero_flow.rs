//! Pipes in which nothing flows for a while, and then in one direction or the other: enthalpies that only products with zero
//! determine keep their values, and temperatures are those of the closed formula afterwards.

use saltus::{Session, Simulation};
use saltus_testing::Random;

/// A source, `count` pumps without content in a row (names and signs of flows differ), a branch and two tanks.
struct Network {
    pumps: usize,
    flow: f64,
    heat: f64,
    share: f64,
    begin: [f64; 3],
    rest: f64,
}

impl Network {
    fn random(random: &mut Random) -> Self {
        let scale = random.power(-4.0, 4.0);
        Network {
            pumps: random.below(4),
            flow: random.power(-2.0, 2.0),
            heat: scale,
            share: random.between(0.1, 0.9),
            begin: [
                scale * random.between(1.0, 2.0),
                scale * random.between(3.0, 4.0),
                scale * random.between(5.0, 6.0),
            ],
            rest: random.between(0.2, 1.2),
        }
    }

    fn text(&self) -> String {
        let Network {
            flow,
            heat,
            share,
            begin: [t1, t2, source],
            rest,
            ..
        } = self;
        let mut declared = String::new();
        let mut equations = String::new();
        let mut before = format!("{source}");
        for k in 0..self.pumps {
            declared.push_str(&format!("  Real h{k}, p{k}, in{k}, out{k}, E{k}, F{k}, q{k};\n"));
            // What leaves one part enters the next with the other sign; nothing is stored and no heat is added.
            equations.push_str(&format!(
                "  in{k} = m;\n  in{k} + out{k} = 0;\n  E{k} = semiLinear(m, {before}, p{k});\n  E{k} = semiLinear(in{k}, p{k}, h{k});\n"
            ));
            if k > 0 {
                equations.push_str(&format!("  E{k} + F{} = 0;\n", k - 1));
            }
            let next = if k + 1 == self.pumps {
                "hp".to_string()
            } else {
                format!("b{k}")
            };
            if next != "hp" {
                declared.push_str(&format!("  Real b{k};\n"));
            }
            equations.push_str(&format!(
                "  F{k} = semiLinear(out{k}, {next}, h{k});\n  E{k} + F{k} + q{k} = 0;\n  q{k} = 0;\n"
            ));
            before = format!("h{k}");
            if next != "hp" {
                before = next;
            }
        }
        let last = match self.pumps {
            0 => format!("H = semiLinear(m, {source}, hp)"),
            pumps => format!("H + F{} = 0", pumps - 1),
        };
        format!(
            "model M\n  Real m, m1, m2, H, H1, H2;\n  Real hp(start = {heat}, nominal = {heat});\n{declared}  Real T1(start = {t1}, fixed = true, nominal = {heat});\n  Real T2(start = {t2}, fixed = true, nominal = {heat});\nequation\n  m = if time < {rest} then 0 else {flow}*(time - {rest});\n  m1 = {share}*m;\n  m2 = (1 - {share})*m;\n{equations}  {last};\n  H1 = semiLinear(m1, hp, T1);\n  H2 = semiLinear(m2, hp, T2);\n  H = H1 + H2;\n  der(T1) = H1 - m1*T1;\n  der(T2) = H2 - m2*T2;\nend M;\n"
        )
    }

    fn expected(&self, time: f64) -> [f64; 2] {
        let passed = self.flow * (time - self.rest).powi(2) / 2.0;
        let [t1, t2, source] = self.begin;
        let tank = |begin: f64, share: f64| source + (begin - source) * (-share * passed).exp();
        [tank(t1, self.share), tank(t2, 1.0 - self.share)]
    }
}

fn simulated(text: &str, stop: f64) -> Simulation {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session
        .compile("M")
        .into_result()
        .unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    let run = model.run().stop(stop).interval(stop / 20.0).tolerance(1e-9);
    run.simulate().unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

#[test]
fn nothing_flows_at_first() {
    let mut random = Random(7);
    for _ in 0..24 {
        let network = Network::random(&mut random);
        let (text, stop) = (network.text(), 2.0);
        let run = simulated(&text, stop);
        for (name, expected) in ["T1", "T2"].into_iter().zip(network.expected(stop)) {
            let value = *run.values(name).unwrap().last().unwrap();
            assert!(
                (value - expected).abs() < 1e-5 * expected.abs(),
                "{name}: {value} instead of {expected}\n{text}"
            );
        }
    }
}
