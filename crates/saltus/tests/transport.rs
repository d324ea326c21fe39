//! `spatialDistribution` against the characteristics followed back in time: velocities that turn, steps of what enters,
//! broken lines at the start.

use saltus::{Method, Session, Simulation};
use saltus_testing::Random;

/// `x = drift·t + Σ aᵢ·sin(wᵢ·t + pᵢ)`, and a profile.
struct Case {
    drift: f64,
    waves: [[f64; 3]; 2],
    step: f64,
    points: Vec<f64>,
    values: Vec<f64>,
    integrated: bool,
}

impl Case {
    fn new(random: &mut Random, integrated: bool) -> Self {
        let drift = random.of(&[0.0, 0.3, 1.0, -0.7, 3.0]);
        let waves = [0, 1].map(|_| {
            [
                random.between(-1.0, 1.5),
                random.between(0.3, 3.0),
                random.between(0.0, 6.0),
            ]
        });
        let mut points: Vec<f64> = (0..random.below(4)).map(|_| random.unit()).collect();
        points.extend([0.0, 1.0]);
        points.sort_by(f64::total_cmp);
        let values = points.iter().map(|_| random.between(-2.0, 2.0)).collect();
        Case {
            drift,
            waves,
            step: random.between(0.5, 3.0),
            points,
            values,
            integrated,
        }
    }

    fn x(&self, t: f64) -> f64 {
        self.drift * t + self.waves.iter().map(|[a, w, p]| a * (w * t + p).sin()).sum::<f64>()
    }

    fn v(&self, t: f64) -> f64 {
        self.drift
            + self
                .waves
                .iter()
                .map(|[a, w, p]| a * w * (w * t + p).cos())
                .sum::<f64>()
    }

    fn enters(&self, end: usize, t: f64) -> f64 {
        match end {
            0 => t.sin() + if t >= self.step { 1.0 } else { 0.0 },
            _ => 5.0 + 0.3 * (2.0 * t).cos(),
        }
    }

    fn at_start(&self, y: f64) -> f64 {
        let after = self.points.partition_point(|&p| p < y).clamp(1, self.points.len() - 1);
        let (a, b) = (self.points[after - 1], self.points[after]);
        self.values[after - 1] + (self.values[after] - self.values[after - 1]) * (y - a) / (b - a)
    }

    /// What arrives at an end: the parcel there is followed back until it entered, or to the start.
    fn arrives(&self, end: usize, t: f64) -> f64 {
        const STEPS: usize = 4000;
        let place = |s: f64| end as f64 - (self.x(t) - self.x(s));
        let inside = |s: f64| place(s) > 0.0 && place(s) < 1.0;
        let mut begun = false;
        let mut later = t;
        for k in 1..=STEPS {
            let earlier = t - t * k as f64 / STEPS as f64;
            if begun && !inside(earlier) {
                let from = usize::from(place(earlier) >= 1.0);
                let (mut low, mut high) = (earlier, later);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if inside(middle) {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                return self.enters(from, low);
            }
            begun |= inside(earlier);
            later = earlier;
        }
        self.at_start(place(0.0))
    }

    fn text(&self) -> String {
        let [[a, w, p], [b, u, q]] = self.waves;
        let drift = self.drift;
        let x = format!("{drift}*time + ({a})*sin({w}*time + {p}) + ({b})*sin({u}*time + {q})");
        let v = format!(
            "{drift} + ({})*cos({w}*time + {p}) + ({})*cos({u}*time + {q})",
            a * w,
            b * u
        );
        let (declared, motion) = if self.integrated {
            (
                format!("Real x(start = {}, fixed = true);", self.x(0.0)),
                "der(x) = v;".to_owned(),
            )
        } else {
            ("Real x;".to_owned(), format!("x = {x};"))
        };
        let list = |numbers: &[f64]| {
            let texts: Vec<String> = numbers.iter().map(|n| format!("{n}")).collect();
            format!("{{{}}}", texts.join(", "))
        };
        format!(
            "model Case {declared} Real v = {v}; Real y0, y1; equation {motion} (y0, y1) = spatialDistribution(\
             sin(time) + (if time >= {} then 1 else 0), 5 + 0.3*cos(2*time), x, v >= 0, {}, {}); end Case;",
            self.step,
            list(&self.points),
            list(&self.values)
        )
    }

    /// The largest error, apart from points at events and at reversals.
    fn worst(&self, simulation: &Simulation) -> f64 {
        let time = simulation.time();
        let ends = [simulation.values("y0").unwrap(), simulation.values("y1").unwrap()];
        let mut worst: f64 = 0.0;
        for (k, &t) in time.iter().enumerate() {
            let twice = time.iter().filter(|&&other| (other - t).abs() < 1e-9).count() > 1;
            if twice || t < 0.02 || self.v(t).abs() < 0.05 {
                continue;
            }
            let exit = usize::from(self.v(t) > 0.0);
            worst = worst.max((ends[exit][k] - self.arrives(exit, t)).abs());
            worst = worst.max((ends[1 - exit][k] - self.enters(1 - exit, t)).abs());
        }
        worst
    }
}

fn simulated(text: &str, stop: f64, tolerance: f64, method: Method) -> Simulation {
    let session = Session::new();
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().unwrap();
    let model = session.compile(&name).into_result().unwrap();
    let run = model
        .run()
        .stop(stop)
        .interval(0.05)
        .tolerance(tolerance)
        .solver(method);
    run.simulate().unwrap()
}

#[test]
fn what_arrives_is_what_entered() {
    let mut random = Random(7);
    for k in 0..8 {
        let case = Case::new(&mut random, k % 2 == 0);
        let text = case.text();
        let worst = case.worst(&simulated(&text, 5.0, 1e-9, Method::Auto));
        assert!(worst < 1e-7, "{worst:e}: {text}");
    }
}

#[test]
fn a_constant_velocity_is_a_delay() {
    let text = "model M Real x(start = 0, fixed = true); Real y0, y1, d, ring(start = 1, fixed = true), \
                other(start = 1, fixed = true), l0, l1; \
                equation der(x) = 2; (y0, y1) = spatialDistribution(sin(3*time), 7, x, true, {0, 1}, {0, 0}); \
                d = if time < 0.5 then 0 else delay(sin(3*time), 0.5); \
                (l0, l1) = spatialDistribution(ring, 0, x, true); der(ring) = -ring + l1; \
                der(other) = -other + (if time < 0.5 then 0 else delay(other, 0.5)); end M;";
    for method in [Method::Auto, Method::Bdf, Method::Radau] {
        let simulation = simulated(text, 3.0, 1e-8, method);
        let last = |name: &str| simulation.values(name).unwrap().last().copied().unwrap();
        assert!((last("y1") - last("d")).abs() < 1e-7, "{method}");
        assert!((last("y1") - (7.5f64).sin()).abs() < 1e-7, "{method}");
        assert!((last("ring") - last("other")).abs() < 1e-6, "{method}");
    }
}

#[test]
fn a_jump_leaves_as_an_event() {
    let text = "model M Real x(start = 0, fixed = true); Real y0, y1; Integer n(start = 0, fixed = true); \
                equation der(x) = 1 + 0.5*sin(time); \
                (y0, y1) = spatialDistribution(3.0, 0, x, true, {0, 0.5, 0.5, 1}, {1, 1, 2, 2}); \
                when y1 > 2.5 then n = pre(n) + 1; end when; end M;";
    let simulation = simulated(text, 2.0, 1e-9, Method::Auto);
    let (time, y) = (simulation.time(), simulation.values("y1").unwrap());
    // 1.5 − 0.5·cos t + t = 1 + … : x(t) = t + 0.5·(1 − cos t)
    let moved = |t: f64| t + 0.5 * (1.0 - t.cos());
    for (&t, &y) in time.iter().zip(&*y) {
        let expected = match moved(t) {
            x if x < 0.5 - 1e-9 => 2.0,
            x if x > 0.5 + 1e-9 && x < 1.0 - 1e-9 => 1.0,
            x if x > 1.0 + 1e-9 => 3.0,
            _ => continue,
        };
        assert!((y - expected).abs() < 1e-9, "at {t}: {y}, not {expected}");
    }
    assert_eq!(simulation.values("n").unwrap().last(), Some(&1.0));
}

#[test]
fn profiles_that_do_not_ascend_are_refused() {
    let text = "model M parameter Real p = 0.7; Real x = time; Real y0, y1; \
                equation (y0, y1) = spatialDistribution(1, 2, x, true, {0, p, 0.5, 1}, {1, 2, 3, 4}); end M;";
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().unwrap();
    let failed = model.run().stop(1.0).simulate().unwrap_err();
    let said = failed.diagnostic().unwrap();
    assert!(said.message.contains("must ascend from 0 to 1"), "{said:?}");
}
