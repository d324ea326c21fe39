//! Capacitors with charges that are no multiples of their voltages, and switches that tie them from the start on: the voltages
//! that are given are those just before, so the charges of these are conserved, in all units and orders of the text.

use saltus::Session;
use saltus_testing::Random;

/// A row of capacitors `q = c*v + a*v^3`, neighbours tied by switches.
struct Row {
    size: f64,
    capacities: Vec<[f64; 2]>,
    begin: Vec<f64>,
    /// Whether the switch after a capacitor is closed at the start; else it closes at 0.5.
    closed: Vec<bool>,
    backwards: bool,
}

impl Row {
    fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let (size, unit) = (random.power(-6.0, 6.0), random.power(-6.0, 6.0));
        let mut capacity = || {
            let c = unit * random.power(-1.0, 1.0);
            [c, [0.0, 1.0, 0.3][random.below(3)] * c / (size * size)]
        };
        let capacities = (0..count).map(|_| capacity()).collect();
        let mut begin: Vec<f64> = (0..count).map(|_| size * random.between(-1.0, 1.0)).collect();
        begin[0] = size;
        Row {
            size,
            capacities,
            begin,
            closed: (1..count).map(|at| at == 1 || random.below(2) == 0).collect(),
            backwards: random.below(2) == 0,
        }
    }

    fn text(&self) -> String {
        let last = self.begin.len() - 1;
        let mut declared = String::new();
        let mut equations = Vec::new();
        for (at, (&[c, a], begin)) in self.capacities.iter().zip(&self.begin).enumerate() {
            declared += &format!("Real v{at}(start = {begin:?}, fixed = true), q{at};\n");
            equations.push(format!("q{at} = {c:?}*v{at} + {a:?}*v{at}^3;"));
            let before = if at > 0 {
                format!("i{}", at - 1)
            } else {
                "0".to_string()
            };
            let after = if at < last { format!("i{at}") } else { "0".to_string() };
            equations.push(format!("der(q{at}) = {before} - {after};"));
        }
        for (at, closed) in self.closed.iter().enumerate() {
            declared += &format!("Real i{at}, u{at};\n");
            equations.push(format!("u{at} = v{at} - v{};", at + 1));
            let from = if *closed { 0.0 } else { 0.5 };
            equations.push(format!("if time >= {from:?} then u{at} = 0; else i{at} = 0; end if;"));
        }
        if self.backwards {
            equations.reverse();
        }
        format!("model M\n{declared}equation\n{}\nend M;", equations.join("\n"))
    }

    fn charge(&self, at: usize, voltage: f64) -> f64 {
        let [c, a] = self.capacities[at];
        c * voltage + a * voltage.powi(3)
    }

    /// The voltages once some switches have been closed, by bisection.
    fn voltages(&self, all: bool) -> Vec<f64> {
        let mut voltages = Vec::new();
        let mut first = 0;
        for at in 0..self.begin.len() {
            if at < self.closed.len() && (all || self.closed[at]) {
                continue;
            }
            let charge: f64 = (first..=at).map(|k| self.charge(k, self.begin[k])).sum();
            let (mut low, mut high) = (-2.0 * self.size, 2.0 * self.size);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                let less = (first..=at).map(|k| self.charge(k, middle)).sum::<f64>() < charge;
                *(if less { &mut low } else { &mut high }) = middle;
            }
            voltages.resize(at + 1, low);
            first = at + 1;
        }
        voltages
    }
}

#[test]
fn charges_that_are_tied_at_the_start_are_conserved() {
    let mut random = Random(5);
    for number in 0..30 {
        let row = Row::random(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &row.text());
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}"));
        let run = model.run().stop(1.0).simulate();
        let run = run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{}", failed.diagnostic(), row.text()));
        let rows = run.time().len();
        for (at, all) in [(0, false), (rows - 1, true)] {
            for (k, wanted) in row.voltages(all).into_iter().enumerate() {
                let found = run
                    .values(&format!("v{k}"))
                    .unwrap_or_else(|| panic!("{number}: no v{k}"))[at];
                assert!(
                    (found - wanted).abs() <= 1e-5 * row.size,
                    "{number}: v{k} is {found} instead of {wanted}\n{}",
                    row.text()
                );
            }
        }
    }
}
