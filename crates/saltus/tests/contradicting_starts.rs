//! Inertias on one shaft whose start values contradict each other: the speeds given are those just before the start, so their
//! momentum is conserved and the contradiction is told, however the shaft is written and whatever else the speeds are called.

use saltus::Session;
use saltus_testing::Random;

/// Inertias in a row, each tied to the one before.
struct Shaft {
    size: f64,
    inertias: Vec<f64>,
    begin: Vec<f64>,
    /// How an inertia is tied to the one before.
    ties: Vec<usize>,
    /// Which of its names the momentum of an inertia is written with.
    named: Vec<usize>,
    fixed: bool,
    backwards: bool,
}

impl Shaft {
    fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let (size, unit) = (random.power(-6.0, 6.0), random.power(-6.0, 6.0));
        let agreeing = random.below(4) == 0;
        // Where momenta and ties are written with names that have no start value, nothing tells a name from a tie.
        let renamed = random.below(2) == 0;
        Shaft {
            size,
            inertias: (0..count).map(|_| unit * random.power(-1.0, 1.0)).collect(),
            begin: (0..count)
                .map(|_| {
                    if agreeing {
                        size
                    } else {
                        size * random.between(-1.0, 1.0)
                    }
                })
                .collect(),
            ties: (1..count).map(|_| random.below(if renamed { 2 } else { 4 })).collect(),
            named: (0..count).map(|_| if renamed { random.below(3) } else { 0 }).collect(),
            fixed: random.below(3) > 0,
            backwards: random.below(2) == 0,
        }
    }

    fn text(&self) -> String {
        let last = self.begin.len() - 1;
        let mut declared = String::new();
        let mut equations = Vec::new();
        for (at, (inertia, begin)) in self.inertias.iter().zip(&self.begin).enumerate() {
            let fixed = if self.fixed { ", fixed = true" } else { "" };
            declared += &format!("Real w{at}(start = {begin:?}{fixed}), a{at}, b{at}, p{at};\n");
            let name = ["w", "a", "-b"][self.named[at]];
            equations.push(format!("a{at} = w{at};"));
            equations.push(format!("b{at} = -w{at};"));
            equations.push(format!("p{at} = der({name}{at});"));
            let before = if at > 0 { format!("t{at}") } else { "0".to_string() };
            let after = if at < last {
                format!("t{}", at + 1)
            } else {
                "0".to_string()
            };
            equations.push(format!("{inertia:?}*p{at} = {before} - {after};"));
        }
        for (at, tie) in self.ties.iter().enumerate().map(|(at, tie)| (at + 1, tie)) {
            let before = at - 1;
            declared += &format!("Real t{at}, r{at};\n");
            equations.push(match tie {
                0 => format!("w{before} = w{at}; r{at} = 0;"),
                1 => format!("r{at} = w{before} - w{at}; r{at} = 0;"),
                2 => format!("a{before} = -b{at}; r{at} = a{at};"),
                _ => format!("r{at} = w{at}; r{at} + b{before} = 0;"),
            });
        }
        if self.backwards {
            equations.reverse();
        }
        format!("model M\n{declared}equation\n{}\nend M;", equations.join("\n"))
    }

    /// The common speed.
    fn speed(&self) -> f64 {
        let momentum: f64 = self.inertias.iter().zip(&self.begin).map(|(j, w)| j * w).sum();
        momentum / self.inertias.iter().sum::<f64>()
    }

    fn is_contradictory(&self) -> bool {
        self.begin.iter().any(|begin| *begin != self.begin[0])
    }
}

#[test]
fn contradicting_starts_of_one_quantity_conserve_momentum() {
    let mut random = Random(11);
    for number in 0..60 {
        let shaft = Shaft::random(&mut random);
        let text = shaft.text();
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}\n{text}"));
        let run = model.run().stop(1.0).simulate();
        let run = run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{text}", failed.diagnostic()));
        for at in 0..shaft.begin.len() {
            let found = run.values(&format!("w{at}")).expect("the speed is shown")[0];
            let wanted = shaft.speed();
            assert!(
                (found - wanted).abs() <= 1e-9 * shaft.size,
                "{number}: w{at} is {found} instead of {wanted}\n{text}"
            );
        }
        let warnings = &run.summary.report.warnings;
        assert_eq!(
            warnings.iter().any(|warning| warning.contains("just before the start")),
            shaft.is_contradictory(),
            "{number}: {warnings:?}\n{text}"
        );
    }
}

#[test]
fn a_fixed_start_that_a_constant_contradicts_is_told() {
    let mut random = Random(12);
    for number in 0..20 {
        let (value, begin) = (random.power(-3.0, 3.0), random.between(-1.0, 1.0));
        let begin = if number % 4 == 0 { value } else { begin };
        let tie = ["x = y; y = {};", "y = {}; x = y;", "y = -{}; x + y = 0;"][number % 3]
            .replace("{}", &format!("{value:?}"));
        let text = format!("model M\nReal x(start = {begin:?}, fixed = true), y;\nequation\n{tie}\nend M;");
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result().expect("it is determined");
        let run = model
            .run()
            .stop(1.0)
            .simulate()
            .unwrap_or_else(|failed| panic!("{:?}\n{text}", failed.diagnostic()));
        assert_eq!(run.values("x").expect("it is shown")[0], value, "{text}");
        let warnings = &run.summary.report.warnings;
        let told = warnings
            .iter()
            .any(|warning| warning.contains("the fixed start value of x"));
        assert_eq!(told, begin != value, "{warnings:?}\n{text}");
    }
}
