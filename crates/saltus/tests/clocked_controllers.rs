//! Sampled controllers around a plant whose solution between ticks is known, against the recursion written by hand: random
//! gains, periods, rates and orders of the equations.

use saltus::Session;
use saltus_testing::Random;

/// A fast controller with `order` states, whose set point a slow one gives at every `factor`-th tick, shifted by `delay` ticks.
struct Case {
    counter: i64,
    resolution: i64,
    factor: i64,
    delay: i64,
    plant: f64,
    state: Vec<f64>,
    input: Vec<f64>,
    gain: f64,
    slow_gain: f64,
    ticks: i64,
}

impl Case {
    fn random(random: &mut Random) -> Self {
        let order = 1 + random.below(3);
        Case {
            counter: 1 + random.below(9) as i64,
            resolution: random.of(&[10, 30, 70, 100, 1000]),
            factor: 1 + random.below(5) as i64,
            delay: random.below(3) as i64,
            plant: random.between(0.2, 3.0),
            state: (0..order).map(|_| random.between(-0.8, 0.8)).collect(),
            input: (0..order).map(|_| random.between(-1.0, 1.0)).collect(),
            gain: random.between(-0.5, 0.5),
            slow_gain: random.between(-0.5, 0.5),
            ticks: 12 + random.below(40) as i64,
        }
    }

    fn period(&self) -> f64 {
        self.counter as f64 / self.resolution as f64
    }

    fn text(&self, random: &mut Random) -> String {
        let order = self.state.len();
        let mut equations = vec![
            format!("der(x) = -{:?}*x + hold(u);", self.plant),
            format!("y = sample(x, Clock({}, {}));", self.counter, self.resolution),
            // The slow part ticks `delay` slow intervals later: back to where the fast one starts, for its set point.
            format!(
                "u = ({:?})*(superSample(backSample(r, {}), {}) - y) + sum(s);",
                self.gain, self.delay, self.factor
            ),
            format!("r = 0.5*previous(r) + ({:?})*z + 1;", self.slow_gain),
            format!("z = shiftSample(subSample(y, {}), {});", self.factor, self.delay),
        ];
        for at in 0..order {
            equations.push(format!(
                "s[{0}] = ({1:?})*previous(s[{0}]) + ({2:?})*y;",
                at + 1,
                self.state[at],
                self.input[at]
            ));
        }
        random.shuffle(&mut equations);
        format!(
            "model M\n  Real x(start = 1, fixed = true), y, u(start = 0), s[{order}](each start = 0.1), r(start = 0.3), z;\n\
             equation\n  {}\nend M;",
            equations.join("\n  ")
        )
    }

    /// x, y, u, r after the last tick.
    fn recursion(&self) -> [f64; 4] {
        let (mut x, mut r) = (1.0, 0.3);
        let mut s = vec![0.1; self.state.len()];
        let (mut y, mut u) = (0.0, 0.0);
        for tick in 0..=self.ticks {
            if tick > 0 {
                let decay = (-self.plant * self.period()).exp();
                x = x * decay + u / self.plant * (1.0 - decay);
            }
            y = x;
            // The slow part ticks with every `factor`-th fast tick, from the tick `delay`·`factor` on.
            if tick % self.factor == 0 && tick / self.factor >= self.delay {
                r = 0.5 * r + self.slow_gain * y + 1.0;
            }
            for (at, own) in s.iter_mut().enumerate() {
                *own = self.state[at] * *own + self.input[at] * y;
            }
            u = self.gain * (r - y) + s.iter().sum::<f64>();
        }
        [x, y, u, r]
    }
}

#[test]
fn sampled_controllers_follow_their_recursion() {
    let mut random = Random(7);
    for number in 0..40 {
        let case = Case::random(&mut random);
        let text = case.text(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session
            .compile("M")
            .into_result()
            .unwrap_or_else(|d| panic!("{d:?}\n{text}"));
        // The time of the last tick, to the last bit.
        let stop = (case.ticks * case.counter) as f64 / case.resolution as f64;
        let simulation = model.run().stop(stop).tolerance(1e-10).simulate();
        let simulation = simulation.unwrap_or_else(|failed| panic!("{failed}\n{text}"));
        for (name, expected) in ["x", "y", "u", "r"].into_iter().zip(case.recursion()) {
            let found = simulation.values(name).unwrap().last().copied().unwrap();
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-7, "case {number}: {name} is {found}, not {expected}\n{text}");
        }
    }
}

/// Coupled equations at ticks: random well-conditioned linear and monotone systems against elimination by hand.
#[test]
fn coupled_equations_are_solved_at_ticks() {
    let mut random = Random(8);
    for number in 0..20 {
        let size = 2 + random.below(4);
        let matrix: Vec<Vec<f64>> = (0..size)
            .map(|row| {
                let entry = |column: usize, random: &mut Random| {
                    if row == column {
                        random.between(3.0, 6.0)
                    } else {
                        random.between(-0.6, 0.6)
                    }
                };
                (0..size).map(|column| entry(column, &mut random)).collect()
            })
            .collect();
        let cubic = random.below(2) as f64 * 0.3;
        let mut equations: Vec<String> = (0..size)
            .map(|row| {
                let terms: Vec<String> = (0..size)
                    .map(|column| format!("({:?})*v[{}]", matrix[row][column], column + 1))
                    .collect();
                format!(
                    "{} + {cubic:?}*v[{1}]^3 = previous(v[{1}]) + sample({2}.0 + time, c);",
                    terms.join(" + "),
                    row + 1,
                    row
                )
            })
            .collect();
        random.shuffle(&mut equations);
        let text = format!(
            "model M\n  Clock c = Clock(1, 10);\n  Real v[{size}](each start = 0);\nequation\n  {}\nend M;",
            equations.join("\n  ")
        );
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session
            .compile("M")
            .into_result()
            .unwrap_or_else(|d| panic!("{d:?}\n{text}"));
        let simulation = model
            .run()
            .stop(0.95)
            .simulate()
            .unwrap_or_else(|failed| panic!("{failed}\n{text}"));
        let mut v = vec![0.0_f64; size];
        for tick in 0..10 {
            let before = v.clone();
            // Gauss-Seidel with Newton in one variable: a contraction, as the diagonal dominates.
            for _ in 0..400 {
                for row in 0..size {
                    let others: f64 = (0..size).filter(|&c| c != row).map(|c| matrix[row][c] * v[c]).sum();
                    let right = before[row] + row as f64 + f64::from(tick) * 0.1 - others;
                    for _ in 0..30 {
                        let value = matrix[row][row] * v[row] + cubic * v[row].powi(3) - right;
                        v[row] -= value / (matrix[row][row] + 3.0 * cubic * v[row].powi(2));
                    }
                }
            }
        }
        for (at, expected) in v.iter().enumerate() {
            let found = simulation
                .values(&format!("v[{}]", at + 1))
                .unwrap()
                .last()
                .copied()
                .unwrap();
            assert!(
                (found - expected).abs() < 1e-9,
                "case {number}: {found} {expected}\n{text}"
            );
        }
    }
}
